"""Dask's fine performance metrics: what was added since the last look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: Contexts whose metrics name a span; of these, `execute` names a task prefix too.
_SPANNED = ("execute", "p2p")

#: Totals that are compared at once.
_BLOCK = 64

Row = tuple[str, str, str, str, str, float]


class Metrics:
    """Compares a worker's running totals with what they were.

    Dask adds some for each computation and takes none away, so most do not change any more. Those that did
    not are the same objects in the same place, which lists find out without a step of Python for each.
    """

    def __init__(self, worker: Any) -> None:
        self._totals = worker.digests_total
        self._known: dict[Any, float] = dict(self._totals)
        self._names, self._before = list(self._known), list(self._known.values())

    def take(self) -> list[Row]:
        """Rows of context, span, prefix, activity, unit and what was added, in that unit."""
        values, before = list(self._totals.values()), self._before
        if len(self._names) != len(values):
            self._names = list(self._totals)
        found: list[Row] = []
        for at in range(0, len(values), _BLOCK):
            block = values[at : at + _BLOCK]
            if block != before[at : at + _BLOCK]:
                found += self._added(self._names[at : at + _BLOCK], block)
        self._before = values
        return found

    def _added(self, names: list[Any], values: list[float]) -> Iterator[Row]:
        for name, value in zip(names, values, strict=False):
            if isinstance(name, tuple) and len(name) > 2:
                before = self._known.get(name, 0)
                if value != before:
                    self._known[name] = value
                    yield *parts(name), float(value - before)


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
