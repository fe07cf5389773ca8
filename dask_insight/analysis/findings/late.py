"""When event loops did not come to run."""

from __future__ import annotations

import numpy as np

from ...timeline import Moments
from .facts import Facts
from .names import split


def blocked(facts: Facts, least: float) -> dict[str, Moments]:
    """When the event loop of each process was late by so many seconds or more."""
    columns = facts.read("resources")
    lag, time = columns["lag"], columns["time"]
    late = np.flatnonzero((lag >= least) & (time - lag < facts.stop) & (time > facts.start))
    found = {}
    for name, rows in split(columns["process"], late).items():
        begin, end = np.maximum(time[rows] - lag[rows], facts.start), np.minimum(time[rows], facts.stop)
        moments = Moments.of(begin, end)
        if len(moments.start):
            found[name] = moments
    return found
