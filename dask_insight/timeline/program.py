"""Where the program that asked for computations was, as its call stacks tell."""

from __future__ import annotations

import numpy as np

from ..lookup import Lookup, is_any
from .attempts import Read
from .moments import Moments
from .whereabouts import own_line

#: The process of whoever asks, and the thread of it that does.
_CLIENT, _MAIN = ("client",), ("main",)
#: Share of some moments that must have been sampled.
_SAMPLED = 0.5


def program_at(read: Read, within: Moments) -> str:
    """The own line at which the program was for most of some moments: '`load.py:9`, in `concat`'; '' if none.

    A line has what it called: the innermost frame of code that is of no installed package counts.
    """
    samples = read("samples")
    rows = np.flatnonzero(is_any(samples["process"], _CLIENT) & is_any(samples["thread"], _MAIN))
    stop = samples["time"][rows]
    seconds = np.nan_to_num(within.within(stop - samples["duration"][rows], stop))
    if seconds.sum() < max(_SAMPLED * within.seconds, 1e-9):
        return ""
    stacks = read("stacks")
    return own_line(stacks, Lookup(stacks["stack"]).rows(samples["stack"][rows]), seconds)
