"""What fine performance metrics tell of the time in and around tasks, by worker and task name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...lookup import Lookup, pick
from ...timeline import Attempts, Read, sizing
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


class Shares(NamedTuple):
    """For each attempt, seconds or shares (0 to 1)."""

    #: Seconds between being given a thread and the start: reading from disk, and deserializing.
    read: np.ndarray
    deserialize: np.ndarray
    #: Seconds between the end and the free thread: writing to disk, and serializing.
    write: np.ndarray
    serialize: np.ndarray
    #: Share of the function's time on a CPU, for those whose CPU time is not told; NaN if unknown.
    cpu: np.ndarray
    #: Share of the function's time in each custom activity.
    custom: dict[str, np.ndarray]


def shares(read: Read, attempts: Attempts, before: np.ndarray, after: np.ndarray) -> Shares:
    """Share the time around the tasks out.

    Phases tell of single attempts, but only of what took 5 ms or more. What
    the metrics add to them is spread evenly over the attempts of one task name
    on one worker.

    Parameters
    ----------
    before, after
        Seconds of each attempt before its start and after its end in which it held a thread.
    """
    metrics = _Metrics(read, attempts)
    known = _phases(read, attempts)
    seconds: dict[str, np.ndarray] = {}
    for room, names in ((before, ("read", "deserialize")), (after, ("write", "serialize"))):
        left = room
        for name in names:
            told = np.minimum(known[name], left) if name in known else np.zeros(len(room))
            seconds[name] = told
            left = left - told
        for name in names:
            more = metrics.rest(name, seconds[name], left)
            seconds[name] = seconds[name] + more
            left = left - more
    return Shares(cpu=metrics.cpu(), custom=metrics.custom(), **seconds)


class _Metrics:
    """Sums of the seconds in each activity, by worker and task name."""

    def __init__(self, read: Read, attempts: Attempts) -> None:
        columns = read("metrics")
        prefix = pick(read("graph")["prefix"], attempts.described)
        workers, prefixes = attempts.worker, prefix
        self._shape = (len(workers.names) or 1) * (len(prefixes.names) or 1)
        self._group = workers.codes.astype("i8") * (len(prefixes.names) or 1) + prefixes.codes
        mine = _is(columns["context"], "execute") & _is(columns["unit"], "seconds")
        rows = np.flatnonzero(mine)
        worker = _codes(columns["worker"], workers.names)[rows]
        name = _codes(columns["prefix"], prefixes.names)[rows]
        there = (worker >= 0) & (name >= 0)
        rows, group = rows[there], (worker * (len(prefixes.names) or 1) + name)[there]
        self._sums: dict[str, np.ndarray] = {}
        activity: Symbols = columns["activity"]
        codes = activity.codes[rows]
        for code, label in enumerate(activity.names):
            at = codes == code
            into = _DASKS.get(label, CUSTOM + label)
            if into and at.any():
                added = np.bincount(group[at], columns["value"][rows[at]], self._shape)
                self._sums[into] = self._sums.get(into, 0.0) + np.maximum(added, 0.0)

    def _all(self) -> np.ndarray:
        """Seconds in task functions."""
        inside = [self._sums[name] for name in self._sums if name in ("cpu", "off-cpu") or _own(name)]
        return np.asarray(sum(inside, np.zeros(self._shape)))

    def cpu(self) -> np.ndarray:
        """Share on a CPU of each attempt's function."""
        if "cpu" not in self._sums:
            return np.full(len(self._group), np.nan)
        whole = self._all()
        return np.asarray(_over(self._sums["cpu"], whole, np.nan)[self._group])

    def custom(self) -> dict[str, np.ndarray]:
        """Share in each custom activity of each attempt's function."""
        whole = self._all()
        return {name: _over(sums, whole, 0.0)[self._group] for name, sums in self._sums.items() if _own(name)}

    def rest(self, name: str, told: np.ndarray, room: np.ndarray) -> np.ndarray:
        """Seconds in an activity that the phases do not tell, for each attempt within its room."""
        if name not in self._sums:
            return np.zeros(len(room))
        left = np.maximum(self._sums[name] - np.bincount(self._group, told, self._shape), 0.0)
        there = np.bincount(self._group, room, self._shape)
        return np.asarray(room * np.minimum(_over(left, there, 0.0), 1.0)[self._group])


def _own(name: str) -> bool:
    return name.startswith(CUSTOM)


def _over(part: np.ndarray, whole: np.ndarray, missing: float) -> np.ndarray:
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), missing), where=whole > 0))


def _is(symbols: Symbols, name: str) -> np.ndarray:
    return np.array([each == name for each in symbols.names] or [False])[symbols.codes]


def _codes(symbols: Symbols, names: list[str]) -> np.ndarray:
    """The same in the codes of other names; -1 where they lack it."""
    known = {name: code for code, name in enumerate(names)}
    return np.array([known.get(name, -1) for name in symbols.names] or [-1])[symbols.codes]


def _phases(read: Read, attempts: Attempts) -> dict[str, np.ndarray]:
    """Seconds of each attempt's phases, by what they are."""
    columns: Any = read("phases")
    rows = Lookup(attempts.run).rows(columns["run"])
    length = np.where(sizing(read, attempts), 0.0, columns["stop"] - columns["start"])
    found = {}
    for action, name in (
        ("disk-read", "read"),
        ("disk-write", "write"),
        ("deserialize", "deserialize"),
        ("serialize", "serialize"),
    ):
        mine = _is(columns["action"], action) & (rows >= 0) & (length > 0)
        if mine.any():
            found[name] = np.bincount(rows[mine], length[mine], len(attempts.run))
    return found
