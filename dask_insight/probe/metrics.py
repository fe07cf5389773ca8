"""Dask's fine performance metrics: what was added since the last look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

#: Contexts whose metrics name a span; of these, `execute` names a task prefix too.
_SPANNED = ("execute", "p2p")

#: Totals that are looked at together, and how many such blocks a look takes at most: of those where something
#: changed last, and of all of them in turn.
_BLOCK = 64
_RECENT, _IN_TURN = 32, 32
#: Times that a look tries to take up new totals.
_TRIES = 3

Row = tuple[str, str, str, str, str, float]


class Metrics:
    """Compares a worker's running totals with what they were.

    Dask adds some for each computation and takes none away, so most do not change any more. Threads of tasks
    add some, too, at any moment: those that are not taken up yet wait for the next look.
    """

    def __init__(self, worker: Any) -> None:
        self._totals = worker.digests_total
        self._looks_at_all = False
        self._turn = 0
        self._names = list(self._totals)
        self._before = self._values()
        #: Numbers of the blocks where something changed, the last at the end; at first, of the newest.
        self._recent = dict.fromkeys(range(self._blocks)[-_RECENT:])

    def look_at_all(self) -> None:
        """Have the next look miss nothing, however long it takes."""
        self._looks_at_all = True

    def take(self) -> list[Row]:
        """Rows of context, span, prefix, activity, unit and what was added, in that unit."""
        self._meet()
        found: list[Row] = []
        for block, values in self._looked_at():
            some = slice(block * _BLOCK, (block + 1) * _BLOCK)
            before = self._before[some]
            # Those that did not change are the same objects: no step of Python for each.
            if values != before:
                found += self._added(self._names[some], values, before)
                self._before[some] = values
                self._note(block)
        for block in list(self._recent)[:-_RECENT]:
            del self._recent[block]
        return found

    def _added(self, *totals: Iterable[Any]) -> Iterator[Row]:
        for name, value, before in zip(*totals, strict=False):
            if value != before and isinstance(name, tuple) and len(name) > 2:
                yield *parts(name), float(value - before)

    def _meet(self) -> None:
        """Take up totals that are new: they come last."""
        known, new = len(self._names), self._new()
        self._names += reversed(new)
        self._before += [0] * len(new)
        for block in range(known // _BLOCK, self._blocks if new else 0):
            self._note(block)

    def _new(self) -> list[Any]:
        """The names of totals that are new, the last first."""
        for _ in range(_TRIES):
            # Where one is added between two of these steps, the walk fails and gives nothing.
            with suppress(RuntimeError):
                return list(islice(reversed(self._totals), max(0, len(self._totals) - len(self._names))))
        return []

    def _values(self) -> list[float]:
        """The totals that are taken up; in their order they are found ten times as fast as by their names."""
        return list(self._totals.values())[: len(self._names)]

    def _looked_at(self) -> Iterator[tuple[int, list[float]]]:
        """The blocks to look at now, and their totals."""
        blocks = self._blocks
        if self._looks_at_all or blocks <= _RECENT + _IN_TURN:
            self._looks_at_all = False
            values = self._values()
            yield from ((block, values[block * _BLOCK : (block + 1) * _BLOCK]) for block in range(blocks))
            return
        first, self._turn = self._turn, (self._turn + _IN_TURN) % blocks
        for block in sorted({(first + each) % blocks for each in range(_IN_TURN)} | self._recent.keys()):
            names = self._names[block * _BLOCK : (block + 1) * _BLOCK]
            yield block, list(map(self._totals.__getitem__, names))

    def _note(self, block: int) -> None:
        self._recent.pop(block, None)
        self._recent[block] = None

    @property
    def _blocks(self) -> int:
        return -(-len(self._names) // _BLOCK)


def parts(name: tuple[Any, ...]) -> tuple[str, str, str, str, str]:
    """Context, span, prefix, activity and unit of a metric, whatever types its labels have."""
    context, *rest, unit = name
    span = prefix = ""
    if context in _SPANNED and len(rest) > 1:
        span, rest = str(rest[0] or ""), rest[1:]
    if context == "execute" and len(rest) > 1:
        prefix, rest = str(rest[0]), rest[1:]
    words = [word for part in rest for word in (part if isinstance(part, tuple) else (part,))]
    return str(context), span, prefix, " ".join(map(str, words)), str(unit)
