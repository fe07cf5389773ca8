"""What the time of a thread can go into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ... import words
from ...timeline import BLOCK, Ascending, Fields, Kept, Micros, Moment, Number, Numbers

#: Every part but custom activities, in the order of their codes: name and meaning.
PARTS = {
    "cpu": "Task functions that ended well or still run, on a CPU.",
    "off-cpu": "The same, while their thread used no CPU: I/O, locks, the GIL, a GPU.",
    "compute": "The same, where the recording does not tell CPU time.",
    "failed": "Task functions of attempts without a result: failed, cancelled, stolen or rescheduled.",
    "deserialize": "Deserializing tasks, and results that had been spilled.",
    "serialize": "Serializing results.",
    "disk": "Reading results from disk and writing them there.",
    "overhead": "The executor: from being given a thread to the function's start, and back to a free thread.",
    "inputs": "Idle: nothing was ready, for inputs were still being computed (by which task name).",
    "data": "Idle: waiting for data to arrive from another worker (made by which task name).",
    "processes": "Idle: a local scheduler's processes started, or arguments and results were on their way.",
    "placement": "Idle: tasks were ready on other workers, and waited there for a thread.",
    "scheduler": "Idle: tasks were ready and not yet with a worker: queued or on their way.",
    "paused": "Idle: Dask had paused the worker, short of memory, while tasks waited for a thread.",
    "resources": "Idle: tasks were ready on this worker, for resources that others had there.",
    "client": "Idle: nobody had submitted a task.",
    "joining": "Idle: the worker had joined and had no first task yet, while tasks waited for a thread.",
    "leaving": "Idle: the worker was closing, or died of tasks of which nothing else is known.",
}
#: A user's own activity within tasks stands under its label, with this before it.
CUSTOM = "custom: "
_WORK = ("cpu", "off-cpu", "compute", "failed")
#: Of numbers of threads that many times as many are one if they are kept by what is not.
_MOSTLY = 3
CODE = {name: code for code, name in enumerate(PARTS)}


def kind_of(part: str) -> str:
    """computing, overhead or idle."""
    if part in _WORK or part.startswith(CUSTOM):
        return "computing"
    return "idle" if part in words.IDLE else "overhead"


#: Numbers of threads, or what works them out.
Threads = np.ndarray | Callable[[], np.ndarray]


class _Threads:
    """A field of numbers of threads, an array to who reads it."""

    def __get__(self, owner: object | None, kind: type | None = None) -> np.ndarray:
        if owner is None:
            # So that a dataclass sees no default.
            raise AttributeError("threads")
        threads = vars(owner)["threads"]
        return np.asarray(threads() if callable(threads) else threads)

    def __set__(self, owner: object, threads: Threads) -> None:
        vars(owner)["threads"] = threads


def mostly_one(threads: np.ndarray) -> Threads:
    """The same in less memory where most are one."""
    if threads.strides == (0,):
        return threads
    others = np.flatnonzero(threads != 1.0).astype("i4")
    if not len(others):
        return np.broadcast_to(1.0, len(threads))
    if _MOSTLY * len(others) > len(threads):
        return threads
    return partial(_mostly_one, len(threads), others, threads[others])


def _mostly_one(count: int, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Ones but for some rows."""
    threads = np.ones(count)
    threads[rows] = others
    return threads


@dataclass(frozen=True, eq=False, kw_only=True)
class Pieces(Fields):
    """Stretches of the time of threads that went into one part; times in seconds since the epoch.

    Arrays may be those of other pieces, or one number again and again, and are not to be changed; some
    pieces may take no time.
    """

    lane: np.ndarray
    start: Moment = Moment()
    stop: Moment = Moment()
    #: How many threads it took, on average between start and stop.
    threads: _Threads = _Threads()
    #: Row of the attempt that it was for, or that it waited for; -1 if none.
    row: Number = Number()
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
        return cls(
            lane=lane[rows],
            start=start[rows],
            stop=stop[rows],
            threads=np.broadcast_to(1.0, count) if threads is None else threads[rows],
            row=np.broadcast_to(np.int32(-1), count) if row is None else row[rows].astype("i4", copy=False),
            part=CODE[part] if isinstance(part, str) else part,
            yields=yields,
        )

    @classmethod
    def sharing(
        cls,
        lane: np.ndarray,
        start: Kept,
        stop: Kept,
        part: str | int,
        *,
        row: Numbers,
        threads: Threads,
        length: np.ndarray,
    ) -> Pieces:
        """The same, where most are left out; else all, in these very arrays; they take `length` seconds."""
        shares = threads() if callable(threads) else threads
        lasts = (length > 0) & (shares > 0)
        whole = cls(
            lane=lane,
            start=start,
            stop=stop,
            threads=threads,
            row=row if isinstance(row, Ascending) else row.astype("i4", copy=False),
            part=CODE[part] if isinstance(part, str) else part,
        )
        if 2 * np.count_nonzero(lasts) < len(length):
            return whole.but(threads=shares).take(np.flatnonzero(lasts))
        return whole if callable(threads) else whole.but(threads=mostly_one(threads))

    @property
    def count(self) -> int:
        """Number of pieces."""
        return len(self.lane)

    def lasting(self) -> Pieces:
        """Those that take time."""
        lasts = (self.stop > self.start) & (self.threads > 0)
        return self if lasts.all() else self.take(np.flatnonzero(lasts))

    def take(self, rows: np.ndarray) -> Pieces:
        """Some of them, given by their numbers."""
        return self.but(
            lane=self.lane[rows],
            start=self.at("start", rows),
            stop=self.at("stop", rows),
            threads=self.threads[rows],
            row=self.at("row", rows),
        )

    def between(self, start: float, stop: float) -> Pieces:
        """What of them lies between two moments."""
        begins, ends = self.start, self.stop
        if (begins >= start).all() and (ends <= stop).all():
            return self
        rows = (ends > start) & (begins < stop)
        part = self if rows.all() else self.take(np.flatnonzero(rows))
        return part.but(start=np.maximum(part.start, start), stop=np.minimum(part.stop, stop))

    def blocks(self) -> Iterator[Pieces]:
        """The same, so many at a time that what is worked out of them takes little memory."""
        if self.count <= BLOCK:
            yield self
            return
        threads = self.threads
        for begin in range(0, self.count, BLOCK):
            rows = slice(begin, begin + BLOCK)
            yield self.but(
                lane=self.lane[rows],
                start=self.block("start", begin),
                stop=self.block("stop", begin),
                threads=threads[rows],
                row=self.block("row", begin),
            )

    def packed(self) -> Pieces:
        """The same in less memory."""
        return self.but(
            start=_in_half(self.kept("start")),
            stop=_in_half(self.kept("stop")),
            threads=self.kept("threads") if callable(self.kept("threads")) else mostly_one(self.threads),
        )

    @property
    def seconds(self) -> np.ndarray:
        """Thread-seconds of each."""
        product = self.stop - self.start
        product *= self.threads
        return np.asarray(product)


def together(pieces: list[Pieces]) -> Iterator[Pieces]:
    """Those of one part as one, in the order of the parts; the list is emptied, so that they are not kept."""
    alike: dict[tuple[int, int], list[Pieces]] = {}
    for each in pieces:
        alike.setdefault((each.part, each.yields), []).append(each)
    pieces.clear()
    for key in sorted(alike):
        yield joined(alike.pop(key), *key)


def joined(pieces: list[Pieces], part: int, yields: int = 0) -> Pieces:
    """Several of one part as one, in little memory."""
    if len(pieces) == 1:
        return pieces[0]
    return Pieces(
        lane=np.concatenate([each.lane for each in pieces] or [np.zeros(0, "i4")]),
        # Each is kept in half the memory before the next one is put together.
        start=Micros.of(_column(pieces, "start", "f8")),
        stop=Micros.of(_column(pieces, "stop", "f8")),
        threads=mostly_one(_column(pieces, "threads", "f8")),
        row=_column(pieces, "row", "i4"),
        part=part,
        yields=yields,
    )


def _column(pieces: list[Pieces], name: str, kind: str) -> np.ndarray:
    """A column of several, one after another."""
    column, end = np.empty(sum(each.count for each in pieces), kind), 0
    for each in pieces:
        column[end : end + each.count] = getattr(each, name)
        end += each.count
    return column


def _in_half(moments: Kept) -> Kept:
    return moments if isinstance(moments, Micros) else Micros.of(moments)
