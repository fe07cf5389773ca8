"""Time for which tasks waited for other processes that they had started, and what these computed."""

from __future__ import annotations

import re

import numpy as np

from ...tables.stacks import below
from .facts import Facts
from .seen_in import share_in

#: Files whose functions wait for other processes.
_WAITS = re.compile(
    r"[\\/](?:subprocess\.py|multiprocessing[\\/]\w+\.py|concurrent[\\/]futures[\\/]process\.py)$"
    r"|[\\/](?:joblib|loky)[\\/]"
)


def in_programs(facts: Facts) -> np.ndarray:
    """Share of the samples' time of each task name, by code, in waits for other processes; 0 to 1."""
    stacks = facts.read("stacks")
    waits = np.array([_WAITS.search(file) is not None for file in stacks["file"].names] or [False])
    return share_in(facts, below(stacks, waits[stacks["file"].codes]))


def computed(facts: Facts) -> float:
    """CPU seconds of processes that tasks had started and that ended; NaN if no worker tells."""
    told = [each.children for each in facts.held if np.isfinite(each.children)]
    return float(sum(told)) if told else float("nan")
