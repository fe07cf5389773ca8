"""How far the tasks of each name are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...lookup import Lookup, by_name, fill, is_any
from ...schema import NOTHING
from ..chart import Chart, Sign
from ..colors import mixed
from ..request import Request
from . import bars
from .activities import activity_color

#: Task names that have a bar of their own.
_NAMES = 25
#: Where a task stands; of several attempts, the furthest counts.
_WAITING, _GIVEN_UP, _FAILED, _RUNNING, _DONE = range(5)
_ENDS = {"ok": _DONE, "erred": _FAILED, "cancelled": _GIVEN_UP}
#: By the scheduler's state of it, which cluster dumps hold.
_STATES = {"memory": _DONE, "erred": _FAILED, "processing": _RUNNING}
#: How strong the colour of what runs is, of that of what is done.
_FAINT = 0.45


def chart(request: Request) -> Chart:
    """A bar a task name, filled as far as its tasks are at the end of what is shown."""
    graph: Any = request.columns("graph")
    standing, begun = _standings(request)
    known = (standing > _WAITING) | (graph["order"] != NOTHING)
    known &= request.wants(graph["prefix"], request.prefixes) & _submitted(request)
    if not known.any():
        return Chart("Progress", empty="No task is there yet. Run a Dask computation while this is recorded.")
    code = graph["prefix"].codes[known]
    names = graph["prefix"].names
    counts = np.bincount(5 * code + standing[known], minlength=5 * len(names)).reshape(-1, 5)
    first = np.full(len(names), np.inf)
    np.minimum.at(first, code, begun[known])
    idle = request.theme.grey(0.08, 0.06)
    made = []
    for each in np.argsort(first, kind="stable").tolist():
        total = int(counts[each].sum())
        if not total:
            continue
        color = request.colors[names[each]]
        waiting, given_up, failed, running, done = (100 * counts[each] / total).tolist()
        parts = [
            bars.Part("done", done, color),
            bars.Part("running", running, mixed(request.theme.background, color, _FAINT)),
            bars.Part("failed", failed, activity_color("failed", request.theme)),
            bars.Part("waiting or given up", waiting + given_up, idle),
        ]
        told = f"{counts[each, _DONE]:,} of {total:,}"
        if failed:
            told += f", {counts[each, _FAILED]:,} failed"
        made.append(bars.Bar(names[each] or "(no name)", [part for part in parts if part.value > 0], told))
    rest = len(made) - _NAMES
    note = f"{words.count(rest, 'more name')} {'has' if rest == 1 else 'have'} no bar." if rest > 0 else ""
    signs = [Sign("failed", activity_color("failed", request.theme))] if counts[:, _FAILED].any() else []
    plot = bars.plot(made[:_NAMES], "%", lambda value: words.share(value / 100), label="share of its tasks")
    return Chart("Progress", [plot], signs, note=note)


def _standings(request: Request) -> tuple[np.ndarray, np.ndarray]:
    """How each row of `graph` stood at the end of what is shown, and when it was first begun."""
    graph: Any = request.columns("graph")
    attempts: Any = request.columns("attempts")
    moment = _moment(request)
    rows = Lookup(graph["task"])
    standing = np.zeros(len(graph["task"]), "u1")
    if not request.bounded:
        standing = by_name(graph["state"], lambda name: _STATES.get(name, _WAITING), 0, "u1")
    begun = np.full(len(standing), np.inf)

    at = rows.rows(attempts["task"])
    status = attempts["status"]
    ends = by_name(status, lambda name: _ENDS.get(name, _WAITING), 0, "u1")
    # Dask tries no more what was killed too often, and says so by an exception.
    given_up = np.isin(attempts["run"], request.columns("errors")["run"])
    ends[is_any(status, ("killed",)) & given_up] = _FAILED
    start, stop = attempts["start"], attempts["stop"]
    late = fill(stop, attempts["done"]) > moment
    stands = np.where(late, np.where(start <= moment, _RUNNING, _WAITING), ends)
    np.maximum.at(standing, at[at >= 0], stands[at >= 0].astype("u1"))
    np.fmin.at(begun, at[at >= 0], start[at >= 0])

    running: Any = request.columns("running")
    open_ = (Lookup(attempts["run"]).rows(running["run"]) < 0) & (running["start"] <= moment)
    at = rows.rows(running["task"])
    at = at[open_ & (at >= 0)]
    np.maximum.at(standing, at, np.uint8(_RUNNING))
    return standing, begun


def _submitted(request: Request) -> np.ndarray:
    """Which rows of `graph` had been handed over by then."""
    submissions: Any = request.columns("submissions")
    later = submissions["submission"][submissions["time"] > _moment(request)]
    return ~np.isin(request.columns("graph")["submission"], later)


def _moment(request: Request) -> float:
    """As of when progress is told, seconds since the epoch."""
    return request.between[1] + request.zero if request.bounded else np.inf
