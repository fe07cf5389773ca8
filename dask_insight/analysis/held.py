"""Results in memory or on disk: how much of which names, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import summed_by
from ..batch import Symbols
from ..lookup import TextRows, pick, sums
from ..tables.facts import part_of_run
from ..tables.field import Field
from ..timeline import Attempts, Read, attempts, held_until, stays, tells_releases, used_until

if TYPE_CHECKING:
    import pandas as pd

#: What it can be summed by.
BY = {
    "function": Field("function", "", "Task name of the results."),
    "group": Field("group", "", "Dask's task group."),
    "worker": Field("worker", "", "The worker that made them."),
    "place": Field("place", "", "The worker where they lie; with this copies on other workers count, too."),
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
    Field(
        "unused",
        "bytes",
        "Part of `mean`: those held after the last task that needs them; none of what no task needs; "
        "NaN in a part of the run, and where nobody tells of releases.",
    ),
    Field("peak", "bytes", "Size of those held at once, at most."),
    Field("peaked", "s", "When that was first, seconds since `started`."),
    Field("left", "bytes", "Size of those that were held to the end."),
)


class Held(NamedTuple):
    """Results of a known size."""

    attempts: Attempts
    #: Rows of the attempts that made them, bytes, and from when to when they were held, since the epoch;
    #: infinity is the end.
    rows: np.ndarray
    nbytes: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    #: Code of the worker where each lies (of `Attempts.worker`).
    place: np.ndarray

    @classmethod
    def of(cls, read: Read) -> Held:
        """Those of a recording, while it tells of them, each where it was made; copies are not told apart."""
        known = attempts(read)
        rows = np.flatnonzero(known.ok)
        end = held_until(read, known)[rows]
        made = cls(known, rows, known.nbytes[rows], known.done[rows], end, known.worker.codes[rows])
        return made._told(read)

    @classmethod
    def everywhere(cls, read: Read) -> Held:
        """The same, and copies of them, each while it was on a worker."""
        known = attempts(read)
        there = stays(read, known)
        nbytes = known.nbytes[there.row]
        return cls(known, there.row, nbytes, there.since, there.until, there.worker)._told(read)

    def _told(self, read: Read) -> Held:
        """Those of a known size that came by the end of a part of a run; what went later was held to it."""
        _, until = part_of_run(read)
        every = self._replace(end=np.where(self.end >= until, np.inf, self.end))
        return every.only((self.nbytes > 0) & ~(self.begin >= until))

    def only(self, some: np.ndarray) -> Held:
        """Those for which `some` is true."""
        known, *columns = self
        return Held(known, *(column[some] for column in columns))

    def named(self, read: Read, column: str = "prefix") -> Symbols:
        """A column of ``graph`` for each."""
        found: Symbols = pick(read("graph")[column], self.attempts.described[self.rows])
        return found


def held(read: Read, zero: float, by: str | Sequence[str]) -> pd.DataFrame:
    """The table of `Recording.held`."""
    from ..tables.frame import frame

    wanted = summed_by(by, BY)
    every = Held.everywhere(read) if "place" in wanted else Held.of(read)
    group, first, labels = _groups(read, every, wanted)
    since, until = part_of_run(read)
    begin = max(since, float(np.nanmin(every.attempts.wanted, initial=np.inf)))
    end = min(until, float(np.nanmax(every.attempts.done, initial=-np.inf)))
    shown = max(end - begin, 1e-9)

    def mean(held_since: np.ndarray) -> np.ndarray:
        """Bytes held since then, mean over the time shown."""
        lasted = np.maximum(np.minimum(every.end, end) - held_since, 0.0)
        return sums(group, every.nbytes * lasted, len(first)) / shown

    held_at_a_time, unused = mean(every.begin), np.full(len(first), np.nan)
    # Of a part of a run nobody knows what used them later.
    if tells_releases(read) and not np.isfinite(until):
        used = used_until(read, every.attempts)[every.rows]
        unused = mean(np.maximum(every.begin, used))
    order = np.argsort(-held_at_a_time, kind="stable")[: _TASKS if "task" in wanted else None]
    place = np.full(len(first), -1)
    place[order] = np.arange(len(order))
    every, group = every.only(place[group] >= 0), place[group][place[group] >= 0]
    count = len(order)
    peak, peaked = _peaks(every, group, count)
    columns: dict[str, Any] = {
        **{name: label(first[order]) for name, label in zip(wanted, labels, strict=True)},
        "results": np.bincount(group, minlength=count),
        "nbytes": sums(group, every.nbytes, count),
        "mean": held_at_a_time[order],
        "unused": unused[order],
        "peak": peak,
        "peaked": peaked - zero,
        "left": sums(group, np.where(np.isinf(every.end), every.nbytes, 0.0), count),
    }
    return frame((*(BY[name] for name in wanted), *FIELDS), columns, zero, timestamps=False, own=False)


#: Gives the texts for some of the results.
_Label = Callable[[np.ndarray], Any]


def _groups(read: Read, every: Held, wanted: Sequence[str]) -> tuple[np.ndarray, np.ndarray, list[_Label]]:
    """The group of each result, the first result of each group, and what tells the groups' names."""
    group, labels = np.zeros(len(every.rows), "i8"), []
    first = group[:1]
    for name in wanted:
        codes, label = _told_apart(read, every, name)
        _, codes = np.unique(codes, return_inverse=True)
        both = group * (int(codes.max(initial=0)) + 1) + codes.reshape(-1)
        _, first, group = np.unique(both, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        labels.append(label)
    return group, first, labels


def _told_apart(read: Read, every: Held, by: str) -> tuple[np.ndarray, _Label]:
    """A number for each result, alike for those that are summed; what gives the texts for some of them."""
    known, rows = every.attempts, every.rows
    if by == "task":
        keys = read("graph")["key"]
        return known.task[rows], lambda some: TextRows(keys, known.described[rows[some]])
    if by == "place":
        named = Symbols(every.place, known.worker.names)
    else:
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
