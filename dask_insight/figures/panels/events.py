"""What happened besides tasks: workers that come and go, logs, what users note."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...words import short
from ..chart import Axis, Boxes, Chart, Group, Plot, Rows, Sign
from ..request import Request
from .severities import severity_colors

#: Kinds that have a row of their own.
_KINDS = 25
#: By the level of an event, the severity whose colour it has.
_SEVERITIES = {"error": "critical", "warning": "warning"}


def chart(request: Request) -> Chart:
    """A row for each kind of event, a mark for each that has a time."""
    table: Any = request.columns("events")
    low, high = request.between
    time = table["time"] - request.zero
    rows = np.flatnonzero((time >= low) & (time <= high) & request.wants(table["source"], request.workers))
    if not len(rows):
        return Chart("Events", empty="Nothing happened besides tasks.")
    kind = table["kind"]
    code, first, count = np.unique(kind.codes[rows], return_index=True, return_counts=True)
    shown = code[np.argsort(time[rows[first]], kind="stable")[:_KINDS]]
    place = np.full(len(kind.names), -1)
    place[shown] = np.arange(len(shown))
    # The gravest are drawn last, on top of others that happened with them.
    colors = dict(reversed(severity_colors(request.theme).items()))
    severity = [_SEVERITIES.get(level, "info") for level in table["level"].names]
    grave = np.array([list(colors).index(each) for each in severity] or [0])[table["level"].codes]
    rows = rows[place[kind.codes[rows]] >= 0]
    rows = rows[np.argsort(grave[rows], kind="stable")][-request.limit :]

    def tell() -> dict[str, list[str]]:
        return {
            "Time": [words.duration(each) for each in time[rows].tolist()],
            "Kind": [kind.names[each] for each in kind.codes[rows].tolist()],
            "From": [request.title_of(table["source"].names[each]) for each in table["source"].codes[rows]],
            "What": [short(table["message"][each], 200) for each in rows.tolist()],
        }

    top = place[kind.codes[rows]].astype("f8")
    boxes = Boxes(
        time[rows], time[rows], top + 0.16, top + 0.84, grave[rows], list(colors.values()), tell, least=3.0
    )
    groups = [Group(row, row + 1, kind.names[each]) for row, each in enumerate(shown.tolist())]
    plot = Plot([boxes], Axis("time", low, high), Rows(len(shown), groups), 22.0 * len(shown), room=0.2)
    seen = set(grave[rows].tolist())
    levels = {severity: level for level, severity in _SEVERITIES.items()}
    signs = [
        Sign(levels.get(name, name), color)
        for place, (name, color) in enumerate(colors.items())
        if place in seen
    ]
    left = int(count.sum()) - len(rows)
    note = (
        f"{words.count(left, 'event')} of other kinds {'is' if left == 1 else 'are'} not drawn."
        if left
        else ""
    )
    return Chart("Events", [plot], signs[::-1], note=note)
