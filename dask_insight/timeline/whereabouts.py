"""What tasks, or a program, were at for most of their time, as call stacks tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import words
from ..lookup import Lookup, by_name
from ..schema import NOTHING
from ..tables.modules import imported_modules
from ..tables.stacks import imported, innermost_own, parents, plumbing, wrappers
from .attempts import Read

#: Share of some time from which one thing is told that took more.
_MOST = 0.5
#: Share of a line's time from which what it called is told.
_CALLED = 0.5
#: Folders and the file up to which all of a library's path is told.
_DEEP = 4


class Whereabouts(NamedTuple):
    """What took more than half of some time; nothing is told where no one thing did."""

    #: Modules that were imported, the longest first.
    modules: tuple[str, ...] = ()
    #: Else a line: a person's own, and what it called, or the innermost of a library, and its function.
    line: str = ""
    #: Share of the time that it took, 0 to 1.
    share: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.modules or self.line)

    def __str__(self) -> str:
        if self.modules:
            return f"importing {words.listing(f'`{name}`' for name in self.modules)}"
        return f"at {self.line}" if self.line else ""

    def said(self, whose: str) -> str:
        """That in a sentence that follows others; '' if it is not known.

        Parameters
        ----------
        whose
            Of what it was most: ``'its time'``.
        """
        return f" Most of {whose} passed {self}." if self else ""


#: Tells what most of some samples saw, by their rows of ``stacks`` and seconds; `share` in seconds.
_Find = Callable[[np.ndarray, np.ndarray], Whereabouts]


class CallStacks:
    """The call stacks of a recording, and what tasks were at in them.

    Parameters
    ----------
    read
        Gives the columns of a table.
    """

    def __init__(self, read: Read) -> None:
        self._read = read

    @property
    def stacks(self) -> Mapping[str, Any]:
        """Columns of the table."""
        return self._read("stacks")

    def at(self, runs: np.ndarray, took: float, within: np.ndarray | None = None) -> Whereabouts:
        """What some attempts were at.

        Parameters
        ----------
        runs
            Their ids.
        took
            Seconds that they took together.
        within
            Which rows of ``stacks`` count; all if it is None.
        """
        samples = self._read("samples")
        mine = np.flatnonzero(np.isin(samples["run"], runs[runs != NOTHING]))
        row = Lookup(self.stacks["stack"]).rows(samples["stack"][mine])
        seconds = np.maximum(np.nan_to_num(samples["duration"][mine].astype("f8")), 0.0)
        if within is not None:
            seconds[~np.append(within, False)[row]] = 0.0
        return self.most(row, seconds, took)

    def own_line(self, row: np.ndarray, seconds: np.ndarray) -> str:
        """The own line that was seen for more than half of some time, see `most`; '' if none was."""
        return self._most((self._own,), row, seconds, 0.0).line

    def most(self, row: np.ndarray, seconds: np.ndarray, took: float) -> Whereabouts:
        """What was seen for more than half of some time.

        Parameters
        ----------
        row
            The row of ``stacks`` of each sample; -1 if it is not known.
        seconds
            What each stands for.
        took
            The time; what was seen if that is more.
        """
        return self._most((self._importing, self._own, self._innermost), row, seconds, took)

    def _most(self, kinds: Iterable[_Find], row: np.ndarray, seconds: np.ndarray, took: float) -> Whereabouts:
        whole = max(float(seconds.sum()), took, 1e-9)
        some = seconds > 0
        row, seconds = row[some], seconds[some]
        for find in kinds:
            found = find(row, seconds)
            if found.share > _MOST * whole:
                return found._replace(share=found.share / whole)
        return Whereabouts()

    def _importing(self, row: np.ndarray, seconds: np.ndarray) -> Whereabouts:
        module = self._imported[row]
        some = module >= 0
        modules = imported_modules(self.stacks, module[some], seconds[some])
        return Whereabouts(tuple(modules), share=sum(modules.values()))

    def _own(self, row: np.ndarray, seconds: np.ndarray) -> Whereabouts:
        """The innermost line of a person's own."""
        own, called = (each[row] for each in self._innermost_own)
        known, stacks = own >= 0, self.stacks
        if not known.any():
            return Whereabouts()
        file, line, callee = stacks["file"].codes[own], stacks["line"][own], stacks["function"].codes[called]
        lines, which = np.unique(np.stack((file, line))[:, known], axis=1, return_inverse=True)
        spent = np.bincount(which.ravel(), seconds[known])
        most = int(spent.argmax())
        there = known & (file == lines[0, most]) & (line == lines[1, most]) & (called >= 0)
        by_callee = np.bincount(callee[there], seconds[there], len(stacks["function"].names))
        told = by_callee.max(initial=0.0) >= _CALLED * spent[most]
        name = stacks["function"].names[int(by_callee.argmax())] if told else ""
        place = _code(words.place(stacks["file"].names[lines[0, most]], int(lines[1, most])))
        return Whereabouts(
            line=f"{place}, calling {_code(name)}" if name else place, share=float(spent[most])
        )

    def _innermost(self, row: np.ndarray, seconds: np.ndarray) -> Whereabouts:
        """The innermost line below which more than half of the time passed, but for wrappers."""
        frame_of, callers, rows = self._frames
        spent = np.bincount(frame_of[row] + 1, seconds, len(callers) + 1)[1:]
        for frame in range(len(callers) - 1, -1, -1):
            if callers[frame] >= 0:
                spent[callers[frame]] += spent[frame]
        # More than half of the time passed below each of these: they stand on one another.
        held = np.flatnonzero((spent > _MOST * seconds.sum()) & self._told[rows])
        if not len(held):
            return Whereabouts()
        last, stacks = int(held[-1]), self.stacks
        file, function = (stacks[name].names[stacks[name].codes[rows[last]]] for name in ("file", "function"))
        place = _code(_in_package(file, int(stacks["line"][rows[last]])))
        return Whereabouts(line=f"{place}, in {_code(function)}", share=float(spent[last]))

    @cached_property
    def _imported(self) -> np.ndarray:
        return np.append(imported(self.stacks), -1)

    @cached_property
    def _innermost_own(self) -> tuple[np.ndarray, np.ndarray]:
        own, called = innermost_own(self.stacks)
        return np.append(own, -1), np.append(called, -1)

    @cached_property
    def _told(self) -> np.ndarray:
        """Which rows of ``stacks`` tell a person something."""
        readable = by_name(self.stacks["file"], lambda file: not file.startswith("<"), False)
        return np.asarray(readable & ~wrappers(self.stacks))

    @cached_property
    def _frames(self) -> tuple[np.ndarray, list[int], np.ndarray]:
        """The frames without Dask's and the standard library's, one whatever these were.

        Returns
        -------
        array
            The frame of each row of ``stacks``, -1 if there is none yet; and once more -1, for no row.
        list
            The caller of each frame; -1 at the bottom.
        array
            A row of ``stacks`` that each frame stands for.
        """
        stacks, numbers = self.stacks, dict[tuple[int, int, int, int], int]()
        names = zip(*(stacks[name].codes.tolist() for name in ("file", "function")), strict=True)
        places = zip(names, stacks["line"].tolist(), plumbing(stacks).tolist(), strict=True)
        found: list[int] = []
        rows: list[int] = []
        for row, (parent, ((file, function), line, passed)) in enumerate(
            zip(parents(stacks), places, strict=True)
        ):
            caller = found[parent] if 0 <= parent < row else -1
            if passed:
                found.append(caller)
                continue
            number = numbers.setdefault((caller, file, function, line), len(numbers))
            if number == len(rows):
                rows.append(row)
            found.append(number)
        return np.array([*found, -1], "i8"), [caller for caller, *_ in numbers], np.array(rows, "i8")


def _code(text: str) -> str:
    text = words.short(words.in_a_line(text)).replace("`", "")
    return f"`{text}`"


def _in_package(file: str, line: int) -> str:
    """A file with its folders from its package on, and the line: ``numba/core/compiler.py:395``."""
    _, package, path = words.in_a_line(file).replace("\\", "/").rpartition("-packages/")
    if not package:
        return words.place(file, line)
    parts = path.split("/")
    if len(parts) > _DEEP:
        parts[1:-1] = ["…"]
    return f"{'/'.join(parts)}:{line}"
