"""What tasks were at for most of their time, as their call stacks tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import words
from ..lookup import Lookup, by_name
from ..schema import NOTHING
from ..tables.modules import longest_import
from ..tables.stacks import imported, innermost_own, parents, plumbing, wrappers
from .attempts import Read

#: Share of their time that must have been sampled, and of that what one thing must have taken, to be told.
_SAMPLED, _MOST = 0.5, 0.5
#: Share of a line's time from which what it called is told.
_CALLED = 0.5
#: Folders and the file up to which all of a library's path is told.
_DEEP = 4


class Whereabouts(NamedTuple):
    """What took most of the time of some tasks; nothing is told where no one thing did."""

    #: The module that they imported.
    module: str = ""
    #: Else the line: a person's own, and what it called, or the innermost of a library.
    place: str = ""

    def said(self, whose: str) -> str:
        """That in a sentence that follows others; '' if it is not known. `whose`: of ``their time``."""
        return f" Most of {whose} passed {self}." if str(self) else ""

    def __str__(self) -> str:
        return f"importing `{self.module}`" if self.module else f"at {self.place}" if self.place else ""


def whereabouts(read: Read, runs: np.ndarray, took: float) -> Whereabouts:
    """What some runs, by their ids, were at for most of the seconds that they took together."""
    samples = read("samples")
    mine = np.flatnonzero(np.isin(samples["run"], runs[runs != NOTHING]))
    seconds = samples["duration"][mine].astype("f8")
    whole = float(seconds.sum())
    if whole < max(_SAMPLED * took, 1e-9):
        return Whereabouts()
    stacks = read("stacks")
    row = Lookup(stacks["stack"]).rows(samples["stack"][mine])
    module = np.append(imported(stacks), -1)[row]
    if seconds[module >= 0].sum() >= _MOST * whole:
        return Whereabouts(module=longest_import(stacks, module[module >= 0], seconds[module >= 0]))
    return Whereabouts(place=own_line(stacks, row, seconds) or _innermost(stacks, row, seconds))


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


def _innermost(stacks: Mapping[str, Any], row: np.ndarray, seconds: np.ndarray) -> str:
    """The innermost line of a library below which most of the time passed."""
    spent = np.bincount(row[row >= 0], seconds[row >= 0], len(stacks["stack"]))
    callers = parents(stacks)
    for each in range(len(callers) - 1, -1, -1):
        if 0 <= callers[each] < each:
            spent[callers[each]] += spent[each]
    # More than half of the time passed below each of these: they stand on one another.
    readable = by_name(stacks["file"], lambda file: not file.startswith("<"), False)
    told = readable & ~plumbing(stacks) & ~wrappers(stacks)
    held = np.flatnonzero((spent > _MOST * seconds.sum()) & told)
    if not len(held):
        return ""
    last = int(held[-1])
    file, function = (stacks[name].names[stacks[name].codes[last]] for name in ("file", "function"))
    return at_line(_in_package(file, int(stacks["line"][last])), function)


def _in_package(file: str, line: int) -> str:
    """A file with its folders from its package on, and the line: ``numba/core/compiler.py:395``."""
    _, package, path = words.in_a_line(file).replace("\\", "/").rpartition("-packages/")
    if not package:
        return words.place(file, line)
    parts = path.split("/")
    if len(parts) > _DEEP:
        parts[1:-1] = ["…"]
    return f"{'/'.join(parts)}:{line}"
