"""Dask's fine performance metrics: what was added since the last look."""

from __future__ import annotations

from typing import Any

#: Contexts whose metrics name a span; of these, `execute` names a task prefix too.
_SPANNED = ("execute", "p2p")

Row = "tuple[str, str, str, str, str, float]"


class Metrics:
    """Compares a worker's running totals with what they were."""

    def __init__(self, worker: Any) -> None:
        self._totals = worker.digests_total
        self._known: dict[Any, float] = dict(self._totals)

    def take(self) -> list[tuple[str, str, str, str, str, float]]:
        """Rows of context, span, prefix, activity, unit and what was added, in that unit."""
        known = self._known
        found = []
        for name, value in list(self._totals.items()):
            if isinstance(name, tuple) and len(name) > 2:
                before = known.get(name, 0)
                if value != before:
                    known[name] = value
                    found.append((*parts(name), float(value - before)))
        return found


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
