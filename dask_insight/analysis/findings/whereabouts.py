"""What tasks were at for most of their time, as their call stacks tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, by_name, is_any
from ...schema import NOTHING
from ...tables.stacks import imported, parents, plumbing
from ...timeline import at_line, own_line
from .facts import Facts
from .imports_on_loop import longest_import

#: Share of their time that must have been sampled, and of that what one thing must have taken, to be told.
_SAMPLED, _MOST = 0.5, 0.5


class Whereabouts(NamedTuple):
    """What took most of the time of some tasks; nothing is told where no one thing did."""

    #: The module that they imported.
    module: str = ""
    #: Else the line: a person's own, and what it called, or the innermost of a library.
    place: str = ""

    def said(self, whose: str) -> str:
        """That in a sentence that follows others; '' if it is not known. `whose`: of ``their time``."""
        what = f"importing `{self.module}`" if self.module else f"at {self.place}" if self.place else ""
        return f" Most of {whose} passed {what}." if what else ""


def whereabouts(facts: Facts, rows: np.ndarray) -> Whereabouts:
    """What some attempts were at for most of the time that they took together."""
    known, samples = facts.attempts, facts.read("samples")
    runs = known.run[rows]
    mine = np.flatnonzero(np.isin(samples["run"], runs[runs != NOTHING]))
    seconds = samples["duration"][mine].astype("f8")
    whole = float(seconds.sum())
    if whole < max(_SAMPLED * float(np.nansum(facts.length[rows])), 1e-9):
        return Whereabouts()
    stacks = facts.read("stacks")
    row = Lookup(stacks["stack"]).rows(samples["stack"][mine])
    module = np.append(imported(stacks), -1)[row]
    if seconds[module >= 0].sum() >= _MOST * whole:
        return Whereabouts(module=longest_import(stacks, module[module >= 0], seconds[module >= 0]))
    return Whereabouts(place=own_line(stacks, row, seconds) or _innermost(stacks, row, seconds))


def whereabouts_of(facts: Facts, name: str) -> Whereabouts:
    """What the tasks of a name that ended well were at."""
    return whereabouts(facts, np.flatnonzero(facts.good & is_any(facts.prefix, (name,))))


def _innermost(stacks: Mapping[str, Any], row: np.ndarray, seconds: np.ndarray) -> str:
    """The innermost line of a library below which most of the time passed."""
    spent = np.bincount(row[row >= 0], seconds[row >= 0], len(stacks["stack"]))
    callers = parents(stacks)
    for each in range(len(callers) - 1, -1, -1):
        if 0 <= callers[each] < each:
            spent[callers[each]] += spent[each]
    # More than half of the time passed below each of these: they stand on one another.
    readable = by_name(stacks["file"], lambda file: not file.startswith("<"), False)
    held = np.flatnonzero((spent > _MOST * seconds.sum()) & readable & ~plumbing(stacks))
    if not len(held):
        return ""
    last = int(held[-1])
    file, function = (stacks[name].names[stacks[name].codes[last]] for name in ("file", "function"))
    return at_line(_in_package(file, int(stacks["line"][last])), function)


def _in_package(file: str, line: int) -> str:
    """A file with its folders from its package on, and the line: ``numba/core/compiler.py:395``."""
    _, package, path = words.in_a_line(file).replace("\\", "/").rpartition("-packages/")
    return f"{path}:{line}" if package else words.place(file, line)
