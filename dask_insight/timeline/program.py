"""At what line a program was, as its call stacks tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import words
from ..lookup import Lookup, is_any
from ..tables.stacks import innermost_own
from .attempts import Read
from .moments import Moments

#: The process of whoever asks, and the thread of it that does.
_CLIENT, _MAIN = ("client",), ("main",)
#: Share of some moments that must have been sampled, and of that what one line must have taken, to be told.
_SAMPLED, _MOST = 0.5, 0.5
#: Share of a line's time from which what it called is told.
_CALLED = 0.5


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


def own_line(stacks: Mapping[str, Any], row: np.ndarray, seconds: np.ndarray) -> str:
    """The own line that most of some time passed at, and what it called; '' if none had most of it.

    Parameters
    ----------
    stacks
        Columns of the table.
    row
        The row of ``stacks`` of each sample; -1 if it is not known.
    seconds
        What each stands for.
    """
    own, called = (np.append(each, -1)[row] for each in innermost_own(stacks))
    known = own >= 0
    if not known.any():
        return ""
    file, line, callee = stacks["file"].codes[own], stacks["line"][own], stacks["function"].codes[called]
    lines, which = np.unique(np.stack((file, line))[:, known], axis=1, return_inverse=True)
    spent = np.bincount(which.ravel(), seconds[known])
    most = int(spent.argmax())
    if spent[most] < _MOST * seconds.sum():
        return ""
    there = known & (file == lines[0, most]) & (line == lines[1, most]) & (called >= 0)
    by_callee = np.bincount(callee[there], seconds[there], len(stacks["function"].names))
    told = by_callee.max(initial=0.0) >= _CALLED * spent[most]
    name = stacks["function"].names[int(by_callee.argmax())] if told else ""
    return at_line(words.place(stacks["file"].names[lines[0, most]], int(lines[1, most])), name)


def at_line(place: str, function: str) -> str:
    """A line, and the function there if one is given: '`load.py:9`, in `concat`'."""
    name = words.short(words.in_a_line(function)).replace("`", "")
    return f"`{place.replace('`', '')}`" + (f", in `{name}`" if name else "")
