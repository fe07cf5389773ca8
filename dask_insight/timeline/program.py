"""Where the program that asked for computations was, as its call stacks tell."""

from __future__ import annotations

import numpy as np

from ..lookup import Lookup, is_any
from .attempts import Read
from .moments import Moments
from .whereabouts import CallStacks

#: The process of whoever asks, and the thread of it that does.
_CLIENT, _MAIN = ("client",), ("main",)
#: Share of some moments that must have been sampled.
_SAMPLED = 0.5


def program_at(read: Read, within: Moments) -> str:
    """Where the program was for most of some moments: '`load.py:9`, calling `concat`'; '' if none."""
    samples = read("samples")
    rows = np.flatnonzero(is_any(samples["process"], _CLIENT) & is_any(samples["thread"], _MAIN))
    stop = samples["time"][rows]
    seconds = np.nan_to_num(within.within(stop - samples["duration"][rows], stop))
    if seconds.sum() < max(_SAMPLED * within.seconds, 1e-9):
        return ""
    seen = CallStacks(read)
    return seen.own_line(Lookup(seen.stacks["stack"]).rows(samples["stack"][rows]), seconds)
