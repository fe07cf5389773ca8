"""Dask's memory measures of all workers together, over time; or the results that were held, by task name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import words
from ...arguments import summed_by_one
from ...timeline import most_at_once
from ..chart import Area, Axis, Chart, Line, Mark, Plot, Sign
from ..colors import Rgb, reserved, slot_color, veiled
from ..request import BINS, Request
from .results_held import by_name
from .series import series, sharing_processes

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
        If `by` is neither ``'measure'`` nor a word for the task name.
    """
    wanted = summed_by_one(by or "measure", ("measure", "name"))
    return by_name(request) if wanted == "name" else by_measure(request)


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
        for name in (*MEASURES, "process")
    }
    workers = found["managed"].names
    sharing = sharing_processes(request, workers)
    sums = _sums({name: each.values for name, each in found.items()}, sharing)
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
    most = float(below.max(initial=0.0)) * 1.04
    limit = _limit(request, workers, sharing)
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
        return veiled(theme.background, reserved("disk", dark=theme.dark), 0.3)
    slot = {"managed": 19, "unmanaged_old": 7, "unmanaged_recent": 31}[measure]
    return slot_color(slot, dark=theme.dark)


def _sums(values: Mapping[str, np.ndarray], sharing: list[list[int]]) -> dict[str, np.ndarray]:
    """Each measure of all processes together, bin by bin; NaN where nothing is known.

    `values` are of shape (workers, bins), in bytes.
    """
    made = [_of_process({name: each[rows] for name, each in values.items()}) for rows in sharing]
    return {name: _total(np.array([each[name] for each in made])) for name in MEASURES}


def _of_process(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Measures of the workers of one process: of shape (workers, bins), made one of shape (bins,).

    Each tells all memory of the process, but of results only its own: to it, those of the others are no
    results.
    """
    if len(values["managed"]) == 1:
        return {name: each[0] for name, each in values.items()}
    whole = _most(values["process"])
    # Workers may hold the same data.
    managed = np.minimum(_total(values["managed"]), whole)
    not_recent = _most(values["managed"] + values["unmanaged_old"])
    settled = np.maximum(managed, np.minimum(not_recent, whole))
    return {
        "managed": managed,
        "unmanaged_old": settled - managed,
        "unmanaged_recent": whole - settled,
        "spilled": _total(values["spilled"]),
    }


def _total(values: np.ndarray) -> np.ndarray:
    """Sum over the rows; NaN where all are."""
    return np.where(np.isfinite(values).any(axis=0), np.nansum(values, axis=0), np.nan)


def _most(values: np.ndarray) -> np.ndarray:
    """The largest of the rows; NaN where all are."""
    return np.asarray(np.fmax.reduce(values, axis=0))


def _limit(request: Request, workers: list[str], sharing: list[list[int]]) -> float:
    """Limit of the processes that were there at once, each the first that it reaches; NaN if one has none."""
    table: Any = request.columns("workers")
    names = ("joined", "left", "memory_limit")
    rows = zip(*(table[name].tolist() for name in names), strict=True)
    known = dict(zip(table["worker"].tolist(), rows, strict=True))
    told = np.array([known.get(worker, (np.nan,) * 3) for worker in workers])
    joined, left, limit = np.array(
        [[np.fmin.reduce(told[rows, 0]), told[rows, 1].max(), told[rows, 2].min()] for rows in sharing]
    ).T
    if np.isnan(limit).any():
        return float("nan")
    return most_at_once(np.nan_to_num(joined, nan=-np.inf), np.nan_to_num(left, nan=np.inf), limit)
