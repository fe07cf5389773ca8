"""What tasks, or a program, were at for most of their time, as call stacks tell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .. import words
from ..lookup import Lookup, by_name
from ..schema import NOTHING
from ..tables.modules import imported_modules
from ..tables.stacks import imported, innermost_own, parents, plumbing, wrappers
from .attempts import Read

_AT = "at "
#: Share of a line's time from which what it called is told.
_CALLED = 0.5
#: Folders and the file up to which all of a library's path is told.
_DEEP = 4


class Whereabouts(NamedTuple):
    """What took more than half of some time; nothing is told where no one thing did."""

    #: Modules that were imported, the longest first.
    modules: tuple[str, ...] = ()
    #: Else a line of a person's own and what it called, a function of theirs, or the innermost line of all.
    place: str = ""
    #: Share of the time that it took, 0 to 1.
    share: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.modules or self.place)

    def __str__(self) -> str:
        if self.modules:
            return f"importing {words.listing(f'`{name}`' for name in self.modules)}"
        return self.place

    def said(self, whose: str) -> str:
        """That in a sentence that follows others; '' if it is not known.

        Parameters
        ----------
        whose
            Of what it was most: ``'its time'``.
        """
        return f" Most of {whose} passed {self}." if self else ""


class _Seen(NamedTuple):
    """Rows of ``stacks`` that were seen, the seconds of each, and half of all."""

    row: np.ndarray
    seconds: np.ndarray
    half: float


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
            Seconds that they took together; what was seen counts if that is more.
        within
            Which rows of ``stacks`` count; all if it is None.
        """
        samples = self._read("samples")
        mine = np.flatnonzero(np.isin(samples["run"], runs[runs != NOTHING]))
        row = Lookup(self.stacks["stack"]).rows(samples["stack"][mine])
        seconds = np.nan_to_num(samples["duration"][mine].astype("f8"))
        if within is not None:
            seconds[~np.append(within, False)[row]] = 0.0
        seen = _seen(row, seconds, took)
        for find in (self._importing, self._own_line, self._own_function, self._innermost):
            found = find(seen)
            if found.share > seen.half:
                return found._replace(share=found.share / (2 * seen.half))
        return Whereabouts()

    def own_line(self, row: np.ndarray, seconds: np.ndarray) -> str:
        """The own line that some samples had for more than half of their time: '`load.py:9`'; '' if none.

        Parameters
        ----------
        row
            The row of ``stacks`` of each; -1 if it is not known.
        seconds
            What each stands for.
        """
        seen = _seen(row, seconds, 0.0)
        found = self._own_line(seen)
        return found.place.removeprefix(_AT) if found.share > seen.half else ""

    def _importing(self, seen: _Seen) -> Whereabouts:
        module = self._imported[seen.row]
        some = module >= 0
        modules = imported_modules(self.stacks, module[some], seen.seconds[some])
        return Whereabouts(tuple(modules), share=sum(modules.values()))

    def _own_line(self, seen: _Seen) -> Whereabouts:
        """The innermost line of a person's own, and what it called."""
        own, called = (each[seen.row] for each in self._innermost_own)
        stacks, most, there = self.stacks, *self._longest(own, seen, "line")
        if most < 0:
            return Whereabouts()
        spent, called = seen.seconds[there], called[there]
        callee = stacks["function"].codes[called[called >= 0]]
        by_callee = np.bincount(callee, spent[called >= 0], len(stacks["function"].names))
        place = f"{_AT}{_code(words.place(self._name('file', most), int(stacks['line'][most])))}"
        if by_callee.max(initial=0.0) >= _CALLED * spent.sum():
            place += f", calling {_code(stacks['function'].names[int(by_callee.argmax())])}"
        return Whereabouts(place=place, share=float(spent.sum()))

    def _own_function(self, seen: _Seen) -> Whereabouts:
        """The innermost function of a person's own."""
        stacks = self.stacks
        most, there = self._longest(self._innermost_own[0][seen.row], seen, "first_line")
        if most < 0:
            return Whereabouts()
        place = words.place(self._name("file", most), int(stacks["first_line"][most]))
        name = _code(self._name("function", most))
        return Whereabouts(place=f"in {name} ({_code(place)})", share=float(seen.seconds[there].sum()))

    def _longest(self, row: np.ndarray, seen: _Seen, line: str) -> tuple[int, np.ndarray]:
        """Of some rows the one at whose line most time passed, -1 if there is none; and which are there."""
        known = np.flatnonzero(row >= 0)
        if not len(known):
            return -1, known
        file, number = self.stacks["file"].codes[row[known]], self.stacks[line][row[known]]
        places = file.astype("i8") << 32 | number
        _, first, which = np.unique(places, return_index=True, return_inverse=True)
        most = int(np.bincount(which, seen.seconds[known]).argmax())
        return int(row[known[first[most]]]), known[which == most]

    def _innermost(self, seen: _Seen) -> Whereabouts:
        """The innermost line, of whosever, below which more than half of the time passed.

        Without what Dask, the standard library and wrappers add.
        """
        frame_of, callers, rows = self._frames
        spent = np.bincount(frame_of[seen.row] + 1, seen.seconds, len(callers) + 1)[1:]
        for frame in range(len(callers) - 1, -1, -1):
            if callers[frame] >= 0:
                spent[callers[frame]] += spent[frame]
        # More than half of the time passed below each of these: they stand on one another.
        held = np.flatnonzero((spent > seen.half) & self._told[rows])
        if not len(held):
            return Whereabouts()
        last, stacks = int(held[-1]), self.stacks
        row = int(rows[last])
        place = _code(_in_package(self._name("file", row), int(stacks["line"][row])))
        name = _code(self._name("function", row))
        return Whereabouts(place=f"{_AT}{place}, in {name}", share=float(spent[last]))

    def _name(self, column: str, row: int) -> str:
        names = self.stacks[column]
        return str(names.names[names.codes[row]])

    @cached_property
    def _imported(self) -> np.ndarray:
        return imported(self.stacks)

    @cached_property
    def _innermost_own(self) -> tuple[np.ndarray, np.ndarray]:
        return innermost_own(self.stacks)

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
            The frame of each row of ``stacks``; -1 if there is none yet.
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
        return np.array(found, "i8"), [caller for caller, *_ in numbers], np.array(rows, "i8")


def _seen(row: np.ndarray, seconds: np.ndarray, took: float) -> _Seen:
    """Samples by their rows of ``stacks``, of which -1 stands for one that is not known."""
    seconds = np.maximum(seconds, 0.0)
    spent = np.bincount(row + 1, seconds)[1:]
    rows = np.flatnonzero(spent)
    return _Seen(rows, spent[rows], max(float(seconds.sum()), took, 1e-9) / 2)


def _code(name: str) -> str:
    return f"`{words.short(words.in_a_line(name)).replace('`', '')}`"


def _in_package(file: str, line: int) -> str:
    """A file with its folders from its package on, and the line: ``numba/core/compiler.py:395``."""
    _, package, path = words.in_a_line(file).replace("\\", "/").rpartition("-packages/")
    if not package:
        return words.place(file, line)
    parts = path.split("/")
    if len(parts) > _DEEP:
        parts[1:-1] = ["…"]
    return f"{'/'.join(parts)}:{line}"
