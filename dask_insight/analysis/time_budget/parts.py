"""What the time of a thread can go into."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Every part but custom activities, in the order in which they are shown: name and meaning.
PARTS = {
    "cpu": "Task functions that ended well, on a CPU.",
    "off-cpu": "Task functions that ended well, while their thread used no CPU: I/O, locks, the GIL, a GPU.",
    "compute": "Task functions that ended well, where the recording does not tell CPU time.",
    "failed": "Task functions of attempts that did not end well.",
    "deserialize": "Deserializing tasks, and results that had been spilled.",
    "serialize": "Serializing results.",
    "disk": "Reading results from disk and writing them there.",
    "overhead": "The executor: from being given a thread to the function's start, and back to a free thread.",
    "inputs": "Idle: nothing was ready, for inputs were still being computed (by which task name).",
    "data": "Idle: waiting for data to arrive from another worker (made by which task name).",
    "placement": "Idle: tasks were ready on other workers, and waited there for a thread.",
    "scheduler": "Idle: tasks were ready and not yet with a worker: queued or on their way.",
    "paused": "Idle: Dask had paused the worker, for it was short of memory.",
    "resources": "Idle: tasks were ready on this worker, for resources that others had there.",
    "client": "Idle: no tasks were in the cluster; the client was building a graph, gathering or else.",
    "joining": "Idle: the worker had joined and not been given a first task yet, while there were tasks.",
    "leaving": "Idle: the worker was closing, or died of tasks of which nothing else is known.",
}
#: A user's own activity within tasks stands under its label, with this before it.
CUSTOM = "custom: "
IDLE = ("inputs", "data", "placement", "scheduler", "paused", "resources", "client", "joining", "leaving")
_WORK = ("cpu", "off-cpu", "compute", "failed")
CODE = {name: code for code, name in enumerate(PARTS)}


def kind_of(part: str) -> str:
    """computing, overhead or idle."""
    if part in _WORK or part.startswith(CUSTOM):
        return "computing"
    return "idle" if part in IDLE else "overhead"


class Pieces(NamedTuple):
    """Stretches of the time of threads that went into one part; times in seconds since the epoch.

    Arrays may be those of other pieces, or one number again and again, and are not to be changed; some
    pieces may take no time.
    """

    lane: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    #: How many threads it took, on average between start and stop.
    threads: np.ndarray
    #: Row of the attempt that it was for, or that it waited for; -1 if none.
    row: np.ndarray
    #: Code of the part: of `PARTS`, then of the custom activities.
    part: int
    #: What other causes take precedence: 0 none, 1 that there are no tasks, 2 what is ready elsewhere too.
    yields: int = 0

    @classmethod
    def of(
        cls,
        lane: np.ndarray,
        start: np.ndarray,
        stop: np.ndarray,
        part: str | int,
        *,
        row: np.ndarray | None = None,
        threads: np.ndarray | None = None,
        yields: int = 0,
    ) -> Pieces:
        """Such stretches; those that do not last, and those without threads, are left out."""
        lasts = stop > start
        if threads is not None:
            lasts &= threads > 0
        if lasts.all():
            rows: slice | np.ndarray = slice(None)
            count = len(start)
        else:
            rows = np.flatnonzero(lasts)
            count = len(rows)
        code = CODE[part] if isinstance(part, str) else part
        return cls(
            lane[rows].astype("i4", copy=False),
            start[rows],
            stop[rows],
            np.broadcast_to(1.0, count) if threads is None else threads[rows],
            np.broadcast_to(np.int32(-1), count) if row is None else row[rows].astype("i4", copy=False),
            code,
            yields,
        )

    @classmethod
    def sharing(
        cls,
        lane: np.ndarray,
        start: np.ndarray,
        stop: np.ndarray,
        part: str | int,
        *,
        row: np.ndarray,
        threads: np.ndarray,
    ) -> Pieces:
        """The same, where most are left out; else all, in these very arrays."""
        lasts = (stop > start) & (threads > 0)
        if 2 * np.count_nonzero(lasts) < len(lasts):
            return cls.of(lane, start, stop, part, row=row, threads=threads)
        code = CODE[part] if isinstance(part, str) else part
        return cls(lane.astype("i4", copy=False), start, stop, threads, row.astype("i4", copy=False), code)

    def lasting(self) -> Pieces:
        """Those that take time."""
        lasts = (self.stop > self.start) & (self.threads > 0)
        return self if lasts.all() else self.take(np.flatnonzero(lasts))

    def take(self, rows: np.ndarray) -> Pieces:
        """Some of them."""
        lane, start, stop, threads, row = (values[rows] for values in self[:5])
        return Pieces(lane, start, stop, threads, row, self.part, self.yields)

    def between(self, start: float, stop: float) -> Pieces:
        """What of them lies between two moments."""
        if (self.start >= start).all() and (self.stop <= stop).all():
            return self
        rows = (self.stop > start) & (self.start < stop)
        part = self if rows.all() else self.take(rows)
        return part._replace(start=np.maximum(part.start, start), stop=np.minimum(part.stop, stop))

    @property
    def seconds(self) -> np.ndarray:
        """Thread-seconds of each."""
        product: np.ndarray = (self.stop - self.start) * self.threads
        return product


def together(pieces: list[Pieces]) -> list[Pieces]:
    """Those of one part as one, in the order of the parts; the list is emptied, so that they are not kept."""
    alike: dict[tuple[int, int], list[Pieces]] = {}
    for each in pieces:
        alike.setdefault((each.part, each.yields), []).append(each)
    pieces.clear()
    return [joined(alike.pop(key), *key) for key in sorted(alike)]


def joined(pieces: list[Pieces], part: int, yields: int = 0) -> Pieces:
    """Several of one part as one."""
    if len(pieces) == 1:
        return pieces[0]
    none = [np.zeros(0, kind) for kind in ("i4", "f8", "f8", "f8", "i4")]
    columns = zip(none, *(each[:5] for each in pieces), strict=True)
    lane, start, stop, threads, row = map(np.concatenate, columns)
    return Pieces(lane, start, stop, threads, row, part, yields)
