"""What fine performance metrics tell of the time in and around tasks, by worker and task name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ...batch import Symbols
from ...columns import forget
from ...lookup import Lookup, coded, distinct, is_any, narrowed, pick, ratio
from ...timeline import Attempts, Moments, Read, sizing
from .parts import CUSTOM

#: Activities of Dask's own within `execute`; all others are users'.
_DASKS = {
    "thread-cpu": "cpu",
    "thread-noncpu": "off-cpu",
    "executor": "",
    "other": "",
    "offload": "",
    "memory-read": "",
    "memory-write": "",
    "failed": "",
    "cancelled": "",
    "disk-read": "read",
    "decompress": "read",
    "deserialize": "deserialize",
    "disk-write": "write",
    "compress": "write",
    "serialize": "serialize",
}
#: Phases of tasks that tell of an activity.
_ACTIONS = {
    "read": "disk-read",
    "write": "disk-write",
    "deserialize": "deserialize",
    "serialize": "serialize",
}


class Shares:
    """What of the time in and around tasks went into what.

    Phases tell of single attempts, but only of what took 5 ms or more. What
    the metrics add to them is spread evenly over the attempts of one task name
    on one worker.

    Attributes
    ----------
    custom
        The custom activities.
    """

    def __init__(self, read: Read, attempts: Attempts, still: Moments) -> None:
        self._phases = _Phases(read, attempts, still)
        self._metrics = _Metrics(read, attempts)
        self.custom = self._metrics.custom

    def seconds(self, room: np.ndarray, names: Iterable[str]) -> dict[str, np.ndarray]:
        """Seconds in some activities of each attempt within its room; none of what there was not.

        Between being given a thread and the start these are ``read``, from disk, and ``deserialize``; between
        the end and the free thread ``write`` and ``serialize``.
        """
        told: dict[str, np.ndarray] = {}
        left = room
        for name in names:
            if (known := self._phases.seconds(name, len(room))) is not None:
                told[name] = np.minimum(known, left)
                left = left - told[name]
        for name in names:
            if name in self._metrics:
                before = told.get(name, np.broadcast_to(0.0, len(room)))
                more = self._metrics.rest(name, before, left)
                told[name] = before + more
                left = left - more
        return told

    def cpu(self, rows: np.ndarray) -> np.ndarray:
        """Share of the function's time on a CPU, by the metrics, of some attempts; NaN if unknown."""
        return self._metrics.cpu(rows)

    def within(self, name: str) -> np.ndarray:
        """Share of each attempt's function in a custom activity."""
        return self._metrics.within(name)


class _Metrics:
    """Sums of the seconds in each activity, by worker and task name."""

    def __init__(self, read: Read, attempts: Attempts) -> None:
        columns = read("metrics")
        graph = read("graph")
        self._prefix = narrowed(pick(graph["prefix"], attempts.described))
        forget(graph)
        self._worker = attempts.worker
        self._sums: dict[str, np.ndarray] = {}
        mine = is_any(columns["context"], ("execute",)) & is_any(columns["unit"], ("seconds",))
        rows = np.flatnonzero(mine)
        if not len(rows):
            return
        known, self._group = self._groups()
        self._count = len(known)
        worker = coded(columns["worker"], self._worker.names)[rows]
        name = coded(columns["prefix"], self._prefix.names)[rows]
        pair = worker * len(self._prefix.names) + name
        there = (worker >= 0) & (name >= 0) & np.isin(pair, known)
        rows, group = rows[there], np.searchsorted(known, pair[there])
        activity: Symbols = columns["activity"]
        codes = activity.codes[rows]
        for code, label in enumerate(activity.names):
            at = codes == code
            into = _DASKS.get(label, CUSTOM + label)
            if into and at.any():
                added = np.bincount(group[at], columns["value"][rows[at]], self._count)
                self._sums[into] = self._sums.get(into, 0.0) + np.maximum(added, 0.0)

    def __contains__(self, name: str) -> bool:
        return name in self._sums

    @property
    def custom(self) -> list[str]:
        """The custom activities."""
        return [name for name in self._sums if name.startswith(CUSTOM)]

    def _groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a worker and a task name that attempts have, as codes, and the place of each in them."""
        width = len(self._prefix.names)
        size = len(self._worker.names) * width
        code: np.ndarray = self._worker.codes.astype("i4" if size < 1 << 31 else "i8")
        code *= width
        code += self._prefix.codes.astype(code.dtype, copy=False)
        return distinct(code, size)

    @cached_property
    def _all(self) -> np.ndarray:
        """Seconds in task functions."""
        inside = [self._sums[name] for name in self._sums if name in ("cpu", "off-cpu", *self.custom)]
        return np.asarray(sum(inside, np.zeros(self._count)))

    def cpu(self, rows: np.ndarray) -> np.ndarray:
        """Share on a CPU of the function of some attempts."""
        if "cpu" not in self._sums:
            return np.broadcast_to(np.nan, len(rows))
        return np.asarray(ratio(self._sums["cpu"], self._all, np.nan)[self._group[rows]])

    def within(self, name: str) -> np.ndarray:
        """Share in a custom activity of each attempt's function."""
        return np.asarray(ratio(self._sums[name], self._all)[self._group])

    def rest(self, name: str, told: np.ndarray, room: np.ndarray) -> np.ndarray:
        """Seconds in an activity that the phases do not tell, for each attempt within its room."""
        left = np.maximum(self._sums[name] - np.bincount(self._group, told, self._count), 0.0)
        there = np.bincount(self._group, room, self._count)
        return np.asarray(room * np.minimum(ratio(left, there), 1.0)[self._group])


class _Phases:
    """Seconds of each attempt's phases, without standstills."""

    def __init__(self, read: Read, attempts: Attempts, still: Moments) -> None:
        columns: Any = read("phases")
        self._action = columns["action"]
        self._rows = Lookup(attempts.run).rows(columns["run"])
        start, stop = columns["start"], columns["stop"]
        length = stop - start - still.within(start, stop)
        self._length = np.where(sizing(read, attempts), 0.0, length)

    def seconds(self, name: str, count: int) -> np.ndarray | None:
        """What `count` attempts took for an activity; None if there was none."""
        mine = is_any(self._action, (_ACTIONS[name],)) & (self._rows >= 0) & (self._length > 0)
        return np.bincount(self._rows[mine], self._length[mine], count) if mine.any() else None
