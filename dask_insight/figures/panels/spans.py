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
    known, of = np.unique(code, return_inverse=True)
    first, last = np.full(len(known), np.inf), np.full(len(known), -np.inf)
    np.minimum.at(first, of, ran.start)
    np.maximum.at(last, of, ran.stop)
    shown = np.argsort(first, kind="stable")[:_SPANS]
    names = [*graph.names, ""]
    label = [paths.get(names[each]) or _NO_SPAN for each in known[shown].tolist()]
    seconds = np.bincount(of, ran.seconds)[shown].tolist()
    tasks = np.bincount(of)[shown].tolist()

    def tell() -> dict[str, list[str]]:
        return {
            "Span": [short(each, 80) for each in label],
            "Thread time": [words.duration(each) for each in seconds],
            "Tasks": [words.count(each) for each in tasks],
        }

    top = np.arange(len(shown), dtype="f8")
    boxes = Boxes(
        first[shown],
        last[shown],
        top + 0.16,
        top + 0.84,
        np.zeros(len(shown), "i8"),
        [slot_color(31, dark=request.theme.dark)],
        tell,
        [words.duration(each) for each in seconds],
        least=2.0,
    )
    groups = [Group(number, number + 1, each) for number, each in enumerate(label)]
    plot = Plot(
        [boxes], Axis("time", *request.between), Rows(len(shown), groups), 22.0 * len(shown), room=0.3
    )
    return Chart(
        "Spans", [plot], note=f"the first {_SPANS} of {len(known):,}" if len(known) > len(shown) else ""
    )
