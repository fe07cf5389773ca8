"""The spans that a person put around computations: when their tasks ran, and how long."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...tables.spans import outward
from ...words import short
from ..chart import Axis, Boxes, Chart, Group, Plot, Rows
from ..colors import slot_color
from ..ran import Ran
from ..request import Request

_SPANS = 40
_NO_SPAN = "in no span"


def chart(request: Request) -> Chart:
    """A row a span with all that ran inside it, from its first task's start to its last one's end."""
    table: Any = request.columns("spans")
    ids = table["span"].tolist()
    paths, parents = (dict(zip(ids, table[name].tolist(), strict=True)) for name in ("path", "parent"))
    ran = Ran(request)
    graph: Any = request.columns("graph")["span"]
    if not paths or not len(ran):
        told = 'No computation has a span. Put `with distributed.span("name"):` around a part of the work.'
        return Chart("Spans", empty=told)
    names = [*graph.names, ""]
    rows = {span: row for row, span in enumerate(dict.fromkeys([*paths, *names]))}
    code = np.append(graph.codes.astype("i8"), len(graph.names))[ran.described]
    of = np.array([rows[name] for name in names])[code]
    first, last = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
    np.minimum.at(first, of, ran.start)
    np.maximum.at(last, of, ran.stop)
    whole = np.stack([np.bincount(of, each, len(rows)) for each in (ran.seconds, np.ones(len(ran)))])
    outer = (parents.get(span, "") for span in rows)
    outward([rows[span] if span in paths else -1 for span in outer], whole, first, last)
    label = [paths.get(span) or _NO_SPAN for span in rows]
    held, count = whole.tolist()
    there = np.flatnonzero(count).tolist()
    # Of those that begin together, the outer before the inner ones.
    shown = sorted(there, key=lambda row: (first[row], label[row]))[:_SPANS]

    def tell() -> dict[str, list[str]]:
        return {
            "Span": [short(label[row], 80) for row in shown],
            "Thread time": [words.duration(held[row]) for row in shown],
            "Tasks": [words.count(int(count[row])) for row in shown],
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
        [words.duration(held[row]) for row in shown],
        least=2.0,
    )
    groups = [Group(number, number + 1, label[row]) for number, row in enumerate(shown)]
    plot = Plot(
        [boxes], Axis("time", *request.between), Rows(len(shown), groups), 22.0 * len(shown), room=0.3
    )
    return Chart(
        "Spans", [plot], note=f"the first {_SPANS} of {len(there):,}" if len(there) > len(shown) else ""
    )
