"""Spans with what ran inside of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..columns import length
from ..lookup import coded, fill, is_any, sums, to_micros
from ..schema import TABLES
from . import plain, tasks
from .facts import recorded
from .field import Field

FIELDS = (
    *plain.fields(TABLES["spans"]),
    Field(
        "start",
        "time",
        "When the first function inside of it was called, or inside of a span within, as all that follows.",
    ),
    Field("stop", "time", "When the last one ended; while one runs, the last moment recorded."),
    Field("seconds", "s", "stop - start."),
    Field("tasks", "", "Attempts that ran or still run."),
    Field("computing", "s", "Time for which their functions held a thread, standstills included, summed."),
    Field("cpu", "s", "CPU time that their threads used, summed; NaN where that of none is known."),
    Field("nbytes", "bytes", "Size of their results together."),
    Field("failed", "", "Those of them that raised, were tried again or were lost with their worker."),
)
#: What stands beside the ids of spans that something was summed by.
PATH = Field("path", "", "Whole name of the span, parts joined by ' / '; '' without one.")
_USED = ("start", "stop", "done", "seceded", "cpu", "nbytes", "status", "span")


def make(read: Callable[[str], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Spans, each with the sums over it and all spans within."""
    columns: Mapping[str, Any] = plain.make(read, "spans")
    names = columns["span"].tolist()
    _, until = recorded(read)
    ran: Mapping[str, Any] = tasks.make(read, _USED)
    of = coded(ran["span"], names)
    mine = np.flatnonzero((of >= 0) & np.isfinite(ran["start"]))
    of, start, stop = of[mine], ran["start"][mine], fill(ran["stop"], ran["done"])[mine]
    stop = np.fmax(fill(stop, np.full(len(stop), until)), start)
    cpu, nbytes = ran["cpu"][mine], ran["nbytes"][mine]
    told = {
        "tasks": np.ones(len(mine)),
        "computing": np.maximum(stop - start - ran["seceded"][mine], 0.0),
        "cpu": np.nan_to_num(cpu),
        "with cpu": np.isfinite(cpu),
        "nbytes": np.nan_to_num(nbytes),
        "failed": is_any(ran["status"], tasks.FAILED)[mine],
    }
    whole = np.stack([sums(of, values, length(columns)) for values in told.values()])
    first, last = np.full((2, length(columns)), np.nan)
    np.fmin.at(first, of, start)
    np.fmax.at(last, of, stop)
    outward(coded(columns["parent"], names).tolist(), whole, first, last)
    summed = dict(zip(told, whole, strict=True))
    known = summed.pop("with cpu") > 0
    return {
        **columns,
        "start": first,
        "stop": last,
        "seconds": to_micros(last - first),
        **summed,
        "tasks": summed["tasks"].astype("i8"),
        "cpu": np.where(known, summed["cpu"], np.nan),
        "failed": summed["failed"].astype("i8"),
    }


def paths_of(read: Callable[[str], Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    """Whole names of the spans with these ids; '' for one that nobody tells of."""
    table = read("spans")
    known = dict(zip(table["span"].tolist(), table["path"].tolist(), strict=True))
    return [known.get(name, "") for name in names]


def outward(around: list[int], whole: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
    """Give spans what those inside of them have.

    Parameters
    ----------
    around
        By span the one that it is inside of; -1 for none.
    whole, first, last
        Columns of what is summed, and the first and the last moment, by span; changed in place.
    """
    for row in _innermost_first(around):
        if (outer := around[row]) >= 0:
            whole[:, outer] += whole[:, row]
            first[outer] = np.fmin(first[outer], first[row])
            last[outer] = np.fmax(last[outer], last[row])


def _innermost_first(around: list[int]) -> list[int]:
    """Rows, each after those inside of it; without those that a damaged file has inside of themselves."""
    within = Counter(around)
    order = [row for row in range(len(around)) if not within[row]]
    for row in order:
        within[outer := around[row]] -= 1
        if outer >= 0 and not within[outer]:
            order.append(outer)
    return order
