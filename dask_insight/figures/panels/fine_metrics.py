"""Dask's fine performance metrics: by activity, by task name, and what was sent and received."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import words
from ...slicing import metric_shares
from ..chart import Chart, Plot, Sign
from ..request import Request
from . import bars
from .activities import activity_color, activity_words

_DIRECTIONS = {"execute": "execute", "gather-dep": "receive", "get-data": "send"}
#: Bars in each group, and activities in the legend.
_BARS, _SIGNS = 10, 12


def chart(request: Request, unit: str = "seconds") -> Chart:
    """Amounts in one unit as bars, divided by activity."""
    title = "Fine metrics"
    table: Any = request.columns("metrics")
    units = [name for name in table["unit"].names if name]
    if not len(table["time"]):
        return Chart(title, empty="Fine metrics come from a cluster's workers; this recording has none.")
    if unit not in units:
        raise ValueError(f"no unit {unit!r} in the fine metrics; there are {', '.join(sorted(units))}")
    amounts = _amounts(request, table, unit)
    if not amounts:
        return Chart(title, empty="No fine metrics came in what is shown.")
    say = _say(unit)
    plots: list[Plot] = []
    for name, wanted, by in (
        ("Execution by activity", ("execute",), "activity"),
        ("Execution by function", ("execute",), "name"),
        ("Send and receive", ("send", "receive"), "direction"),
        ("Elsewhere", ("other",), "context"),
    ):
        made = _bars(amounts, wanted, by, request, say)
        if made:
            axis = {"seconds": "s", "bytes": "bytes", "count": "count"}.get(unit, unit)
            shown = bars.fewer(made, _BARS, request.theme.grey(0.3, 0.2), say)
            plots.append(bars.plot(shown, axis, say, title=name, label=unit))
    sums: dict[str, float] = {}
    for (_, _, _, activity), value in amounts.items():
        sums[activity] = sums.get(activity, 0.0) + value
    order = sorted(sums, key=lambda each: -sums[each])
    signs = [
        Sign(activity_words(each) or "(none)", activity_color(each, request.theme)) for each in order[:_SIGNS]
    ]
    return Chart(title, plots, signs, len(order) - len(signs))


_Amounts = dict[tuple[str, str, str, str], float]


def _amounts(request: Request, table: Any, unit: str) -> _Amounts:
    """Sums by direction, context, task name and activity."""
    rows = request.wants(table["unit"], frozenset({unit})) & request.wants(table["worker"], request.workers)
    rows &= request.wants(table["prefix"], request.prefixes)
    values = table["value"]
    if request.bounded:
        low, high = (request.zero + moment for moment in request.wanted)
        values = values * metric_shares(table, request.columns("clocks"), low, high)
    context, prefix, activity = (table[name] for name in ("context", "prefix", "activity"))
    names, activities = max(1, len(prefix.names)), max(1, len(activity.names))
    code = (context.codes.astype("i8") * names + prefix.codes) * activities + activity.codes
    known, place = np.unique(code[rows], return_inverse=True)
    sums = np.bincount(place.reshape(-1), values[rows], len(known))
    found: _Amounts = {}
    for each, value in zip(known.tolist(), sums.tolist(), strict=True):
        where = context.names[each // activities // names]
        key = (_DIRECTIONS.get(where, "other"), where, prefix.names[each // activities % names])
        if value:
            found[(*key, activity.names[each % activities])] = value
    return found


def _bars(
    amounts: _Amounts, wanted: tuple[str, ...], by: str, request: Request, say: Callable[[float], str]
) -> list[bars.Bar]:
    sums: dict[str, dict[str, float]] = {}
    for (direction, context, name, activity), value in amounts.items():
        if direction in wanted:
            elsewhere = f"{context} {name}".strip()
            label = {"activity": activity, "name": name, "direction": direction, "context": elsewhere}[by]
            parts = sums.setdefault(label, {})
            parts[activity] = parts.get(activity, 0.0) + value
    made = []
    for label, parts in sorted(sums.items(), key=lambda item: -sum(item[1].values())):
        order = sorted(parts.items(), key=lambda item: -item[1])
        told = [
            bars.Part(_told(activity), value, activity_color(activity, request.theme))
            for activity, value in order
        ]
        title = activity_words(label) if by == "activity" else label
        made.append(bars.Bar(title or "(no name)", told, say(sum(parts.values()))))
    return made


def _told(activity: str) -> str:
    """Words, and what Dask calls it where that is not the same."""
    said = activity_words(activity)
    return said if said == activity else f"{said} ({activity})"


def _say(unit: str) -> Callable[[float], str]:
    if unit == "seconds":
        return words.duration
    if unit == "bytes":
        return words.size
    if unit == "count":
        return lambda value: f"{value:,.0f}"
    return lambda value: (
        (f"{value:,.0f}" if value == round(value) else words.about(value, digits=3)) + f"{words.SPACE}{unit}"
    )
