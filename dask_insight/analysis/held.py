"""Results in memory or on disk: how much of which names, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..batch import Symbols
from ..lookup import TextRows, pick, sums
from ..tables.facts import part_of_run
from ..tables.field import Field
from ..timeline import Attempts, Read, attempts, held_until

if TYPE_CHECKING:
    import pandas as pd

#: What it can be summed by.
BY = {
    "function": Field("function", "", "Task name of the results."),
    "group": Field("group", "", "Dask's task group."),
    "worker": Field("worker", "", "The worker that made them."),
    "task": Field("task", "", "Dask's key."),
}
#: The column of ``graph`` that tells it.
_COLUMN = {"function": "prefix", "group": "group"}
#: The most tasks that are told: those that took most for longest.
_TASKS = 10_000
FIELDS = (
    Field("results", "", "Results of a known size."),
    Field("nbytes", "bytes", "Their size, whenever they were held."),
    Field("mean", "bytes", "Size of those held at a time, mean over the time in which tasks were wanted."),
    Field("peak", "bytes", "Size of those held at once, at most."),
    Field("peaked", "s", "When that was first, seconds since `started`."),
    Field("left", "bytes", "Size of those that were held to the end."),
)


class Held(NamedTuple):
    """Results of a known size; copies on other workers are not told apart."""

    attempts: Attempts
    #: Rows of the attempts that made them, bytes, and from when to when they were held, since the epoch;
    #: infinity is the end.
    rows: np.ndarray
    nbytes: np.ndarray
    begin: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, read: Read) -> Held:
        """Those of a recording, while it tells of them."""
        known = attempts(read)
        _, until = part_of_run(read)
        rows = np.flatnonzero(known.ok & (known.nbytes > 0) & ~(known.done >= until))
        end = held_until(read, known)[rows]
        return cls(known, rows, known.nbytes[rows], known.done[rows], np.where(end >= until, np.inf, end))

    def only(self, some: np.ndarray) -> Held:
        """Those for which `some` is true."""
        return Held(self.attempts, self.rows[some], self.nbytes[some], self.begin[some], self.end[some])

    def named(self, read: Read, column: str = "prefix") -> Symbols:
        """A column of ``graph`` for each."""
        found: Symbols = pick(read("graph")[column], self.attempts.described[self.rows])
        return found


def held(read: Read, zero: float, by: str) -> pd.DataFrame:
    """The table of `Recording.held`."""
    from ..tables.frame import frame

    if by not in (*BY,):
        raise ValueError(f"by={by!r} is none of {', '.join(BY)}")
    every = Held.of(read)
    codes, label = _groups(read, every, by)
    known, first, group = np.unique(codes, return_index=True, return_inverse=True)
    since, until = part_of_run(read)
    begin = max(since, float(np.nanmin(every.attempts.wanted, initial=np.inf)))
    end = min(until, float(np.nanmax(every.attempts.done, initial=-np.inf)))
    lasted = np.maximum(np.minimum(every.end, end) - every.begin, 0.0)
    mean = sums(group, every.nbytes * lasted, len(known)) / max(end - begin, 1e-9)
    order = np.argsort(-mean, kind="stable")[: _TASKS if by == "task" else None]
    place = np.full(len(known), -1)
    place[order] = np.arange(len(order))
    every, group = every.only(place[group] >= 0), place[group][place[group] >= 0]
    count = len(order)
    peak, peaked = _peaks(every, group, count)
    columns: dict[str, Any] = {
        by: label(first[order]),
        "results": np.bincount(group, minlength=count),
        "nbytes": sums(group, every.nbytes, count),
        "mean": mean[order],
        "peak": peak,
        "peaked": peaked - zero,
        "left": sums(group, np.where(np.isinf(every.end), every.nbytes, 0.0), count),
    }
    return frame((BY[by], *FIELDS), columns, zero, timestamps=False, own=False)


def _groups(read: Read, every: Held, by: str) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """A number for each result, alike for those that are summed; what gives the texts for some of them."""
    known, rows = every.attempts, every.rows
    if by == "task":
        keys = read("graph")["key"]
        return known.task[rows], lambda some: TextRows(keys, known.described[rows[some]])
    named = pick(known.worker, rows) if by == "worker" else every.named(read, _COLUMN[by])
    return named.codes, lambda some: Symbols(named.codes[some], named.names)


def _peaks(every: Held, group: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Most bytes that each group held at once, and since when."""
    peak, peaked = np.zeros(count), np.full(count, np.nan)
    whose = np.concatenate((group, group))
    moment = np.concatenate((every.begin, every.end))
    change = np.concatenate((every.nbytes, -every.nbytes))
    # What goes as something comes is no longer there.
    order = np.lexsort((change, moment, whose))
    begins = np.searchsorted(whose[order], np.arange(count + 1)).tolist()
    for each in range(count):
        rows = order[begins[each] : begins[each + 1]]
        there = np.cumsum(change[rows])
        at = int(np.argmax(there))
        peak[each], peaked[each] = there[at], moment[rows[at]]
    return peak, peaked
