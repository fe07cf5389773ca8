"""The spans that a person put around computations: when their tasks ran, and how long."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...analysis.overview import short
from ..chart import Axis, Boxes, Chart, Group, Plot, Rows
from ..colors import slot_color
from ..ran import Ran
from ..request import Request

_SPANS = 40
_NO_SPAN = "in no span"


def chart(request: Request) -> Chart:
    """A row a span, from its first task's start to its last one's end."""
    table: Any = request.columns("spans")
    paths = dict(zip(table["span"].tolist(), table["path"].tolist(), strict=True))
    ran = Ran(request)
    graph: Any = request.columns("graph")["span"]
    if not paths or not len(ran):
        told = 'No computation has a span. Put `with distributed.span("name"):` around a part of the work.'
        return Chart("Spans", empty=told)
    code = np.append(graph.codes.astype("i8"), len(graph.names))[ran.described]
    rows = []
    for each in np.unique(code).tolist():
        mine = code == each
        name = graph.names[each] if each < len(graph.names) else ""
        ends = (float(ran.start[mine].min()), float(ran.stop[mine].max()))
        rows.append((paths.get(name) or _NO_SPAN, *ends, float(ran.seconds[mine].sum()), int(mine.sum())))
    rows.sort(key=lambda row: row[1])
    rows = rows[:_SPANS]
    label, start, stop, seconds, tasks = zip(*rows, strict=True)

    def tell() -> dict[str, list[str]]:
        return {
            "Span": [short(each, 80) for each in label],
            "Thread time": [words.duration(each) for each in seconds],
            "Tasks": [words.count(each) for each in tasks],
        }

    top = np.arange(len(rows), dtype="f8")
    boxes = Boxes(
        np.array(start),
        np.array(stop),
        top + 0.16,
        top + 0.84,
        np.zeros(len(rows), "i8"),
        [slot_color(31, dark=request.theme.dark)],
        tell,
        [words.duration(each) for each in seconds],
        least=2.0,
    )
    groups = [Group(number, number + 1, each) for number, each in enumerate(label)]
    plot = Plot([boxes], Axis("time", *request.between), Rows(len(rows), groups), 22.0 * len(rows), room=0.3)
    return Chart("Spans", [plot], note=f"the first {_SPANS}" if len(paths) > _SPANS else "")
