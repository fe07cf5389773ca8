"""Dask's memory measures of all workers together, over time; or the results that were held, by task name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ..chart import Area, Axis, Chart, Line, Mark, Plot, Sign
from ..colors import Rgb, mixed, reserved, slot_color
from ..request import BINS, Request
from .results_held import by_name
from .series import series

#: From the bottom.
MEASURES = {
    "managed": "managed",
    "unmanaged_old": "unmanaged, old",
    "unmanaged_recent": "unmanaged, recent",
    "spilled": "spilled to disk",
}


def chart(request: Request, by: str | None = None) -> Chart:
    """Measures over one another, with the limit; or results by task name.

    Raises
    ------
    ValueError
        If `by` is neither ``'measure'`` nor ``'name'``.
    """
    if by not in (None, "measure", "name"):
        raise ValueError(f"by={by!r}: memory can be shown by 'measure' or by 'name'")
    return by_name(request) if by == "name" else by_measure(request)


def by_measure(request: Request) -> Chart:
    """Measures over one another, with the limit."""
    table: Any = request.columns("memory")
    rows = request.wants(table["worker"], request.workers)
    if not rows.any():
        told = "Dask's memory measures come from a cluster's scheduler; this recording has none"
        return Chart("Memory", empty=told + (" of these workers." if request.workers is not None else "."))
    time = table["time"] - request.zero
    found = {
        name: series(table["worker"], time, table[name].astype("f8"), rows, request.between, BINS)
        for name in MEASURES
    }
    sums = {name: each.summed() for name, each in found.items()}
    if not any(np.isfinite(each).any() for each in sums.values()):
        return Chart("Memory", empty="Nothing was sampled in what is shown.")
    edges = found["managed"].edges
    marks: list[Mark] = []
    below = np.zeros(len(edges) - 1)
    for name, label in MEASURES.items():
        top = below + np.nan_to_num(sums[name])
        marks.append(
            Area(edges, np.where(np.isfinite(sums[name]), below, np.nan), top, color_of(name, request), label)
        )
        below = top
    signs = [Sign(label, color_of(name, request)) for name, label in MEASURES.items()]
    workers = found["managed"].names
    most = float(below.max(initial=0.0)) * 1.04
    limit = _limit(request, workers)
    if limit < 2.5 * most:
        most = max(most, limit * 1.04)
        ends = np.array(request.between)
        marks.append(Line(ends, np.full(2, limit), request.theme.text, "limit", dashed=True))
    if np.isfinite(limit):
        signs.append(Sign(f"limit {words.size(limit)}", request.theme.text, "dashes"))
    title = request.title_of(workers[0]) if len(workers) == 1 else words.count(len(workers), "worker")
    plot = Plot(marks, Axis("time", *request.between), Axis("bytes", 0.0, most or 1.0, "memory"), 120, title)
    return Chart("Memory", [plot], signs)


def color_of(measure: str, request: Request) -> Rgb:
    """One hue from strong to weak for what is in memory; disk has Dask's orange, paler."""
    theme = request.theme
    if measure == "spilled":
        return mixed(theme.background, reserved("disk", dark=theme.dark), 0.3)
    slot = {"managed": 19, "unmanaged_old": 7, "unmanaged_recent": 31}[measure]
    return slot_color(slot, dark=theme.dark)


def _limit(request: Request, workers: list[str]) -> float:
    """Limit of the workers together; NaN where one has none."""
    table: Any = request.columns("workers")
    limits = dict(zip(table["worker"].tolist(), table["memory_limit"].tolist(), strict=True))
    return float(sum(limits.get(worker, np.nan) for worker in workers)) if workers else float("nan")
