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
#: By the level of an event, the severity whose colour it has; levels of old files, as critical, are errors.
_SEVERITIES = {"": "info", "debug": "info", "info": "info", "warning": "warning", "error": "critical"}


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
    severity = [_SEVERITIES.get(level, "critical") for level in table["level"].names]
    grave = np.array([list(colors).index(each) for each in severity] or [0])[table["level"].codes]
    rows = rows[place[kind.codes[rows]] >= 0]
    other = int(count.sum()) - len(rows)
    rows, crowded = _thinned(rows[np.argsort(grave[rows], kind="stable")], grave, request.limit)

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
    note = " ".join(_undrawn(*each) for each in ((other, "of other kinds "), (crowded, "")) if each[0])
    return Chart("Events", [plot], signs[::-1], note=note)


def _thinned(rows: np.ndarray, grave: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """Of rows that are too many, the gravest last, the gravest and some of the others from all of their time.

    Returns
    -------
    rows, left
        Those that are kept, and the number of the others.
    """
    if len(rows) <= most:
        return rows, 0
    level = grave[rows[-most]]
    graver, some = rows[grave[rows] > level], rows[grave[rows] == level]
    kept = some[np.linspace(0, len(some) - 1, most - len(graver)).astype("i8")]
    return np.concatenate((kept, graver)), len(rows) - most


def _undrawn(many: int, which: str) -> str:
    return f"{words.count(many, 'event')} {which}{'is' if many == 1 else 'are'} not drawn."
