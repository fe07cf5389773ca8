"""Results in memory or on disk, by task name."""

from __future__ import annotations

import numpy as np

from ...analysis.held import Held
from ..chart import Area, Axis, Chart, Mark, Plot, Sign
from ..request import BINS, Request

#: Names that have a layer of their own.
_LAYERS = 8


def by_name(request: Request) -> Chart:
    """Bytes of results over time: those names at the bottom that held most for longest."""
    held = Held.of(request.columns)
    prefix, worker = held.named(request.columns), held.attempts.worker
    rows = np.flatnonzero(
        request.wants(prefix, request.prefixes) & request.wants(worker, request.workers)[held.rows]
    )
    if not len(rows):
        return Chart("Memory", empty="No result of a known size was held.")
    low, high = request.between
    begin, end = held.begin[rows] - request.zero, held.end[rows] - request.zero
    size, code = held.nbytes[rows], prefix.codes[rows]
    weight = np.bincount(code, size * np.maximum(np.minimum(end, high) - np.maximum(begin, low), 0.0))
    ranked = [each for each in np.argsort(-weight, kind="stable").tolist() if weight[each] > 0]
    edges = np.linspace(low, high, BINS + 1)
    shown, rest = ranked[:_LAYERS], ranked[_LAYERS:]
    layers = [(prefix.names[each], request.colors[prefix.names[each]], code == each) for each in shown]
    if rest:
        layers.append(("other names", request.theme.faint, np.isin(code, rest)))
    marks: list[Mark] = []
    below = np.zeros(BINS)
    for label, color, mine in layers:
        top = below + _mean(begin[mine], end[mine], size[mine], edges)
        marks.append(Area(edges, below, top, color, label))
        below = top
    signs = [Sign(label, color) for label, color, _ in layers]
    most = float(below.max(initial=0.0)) * 1.04 or 1.0
    plot = Plot(marks, Axis("time", low, high), Axis("bytes", 0.0, most, "results held"), 120, "Results held")
    return Chart("Memory", [plot], signs)


def _mean(begin: np.ndarray, end: np.ndarray, size: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Mean bytes in each stretch between two edges."""
    area = np.zeros(len(edges))
    for moments, sign in ((begin, 1.0), (end, -1.0)):
        order = np.argsort(moments, kind="stable")
        there = np.searchsorted(moments[order], edges, "right")
        first = np.where(np.isfinite(moments[order]), moments[order], 0.0) * size[order]
        total, since = (np.concatenate(([0.0], np.cumsum(each))) for each in (size[order], first))
        area += sign * (total[there] * edges - since[there])
    found: np.ndarray = np.maximum(np.diff(area) / np.diff(edges), 0.0)
    return found
