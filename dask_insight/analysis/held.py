"""Results in memory or on disk: how much of which names, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..batch import Symbols
from ..lookup import pick, sums
from ..tables.facts import part_of_run
from ..tables.field import Field
from ..timeline import Attempts, Read, attempts, held_until

if TYPE_CHECKING:
    import pandas as pd

#: What it can be summed by, and the column of ``graph`` that tells it.
BY = {
    "function": ("prefix", Field("function", "", "Task name of the results.")),
    "group": ("group", Field("group", "", "Dask's task group.")),
}
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

    def named(self, read: Read, column: str = "prefix") -> Symbols:
        """A column of ``graph`` for each."""
        found: Symbols = pick(read("graph")[column], self.attempts.described[self.rows])
        return found


def held(read: Read, zero: float, by: str) -> pd.DataFrame:
    """The table of `Recording.held`."""
    from ..tables.frame import frame

    if by not in (*BY,):
        raise ValueError(f"by={by!r} is none of {', '.join(BY)}")
    column, field = BY[by]
    every = Held.of(read)
    named = every.named(read, column)
    known, group = np.unique(named.codes, return_inverse=True)
    group, count = group.reshape(-1), len(known)
    since, until = part_of_run(read)
    first = max(since, float(np.nanmin(every.attempts.wanted, initial=np.inf)))
    last = min(until, float(np.nanmax(every.attempts.done, initial=-np.inf)))
    lasted = np.maximum(np.minimum(every.end, last) - every.begin, 0.0)
    peak, peaked = _peaks(every, group, count)
    columns: dict[str, Any] = {
        "results": np.bincount(group, minlength=count),
        "nbytes": sums(group, every.nbytes, count),
        "mean": sums(group, every.nbytes * lasted, count) / max(last - first, 1e-9),
        "peak": peak,
        "peaked": peaked - zero,
        "left": sums(group, np.where(np.isinf(every.end), every.nbytes, 0.0), count),
    }
    order = np.argsort(-columns["mean"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    columns[by] = Symbols(known[order].astype("u4"), named.names)
    return frame((field, *FIELDS), columns, zero, timestamps=False, own=False)


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
