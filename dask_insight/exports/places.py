"""Which process and thread each attempt ran on, in numbers, as formats of traces want them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..batch import Symbols
from ..lookup import fill
from ..tables import joined
from ..tables.facts import recorded
from ..timeline import tracks
from .lines import rows_of, whole

if TYPE_CHECKING:
    from ..recording import Recording

#: Number from which the tracks of attempts that overlap on a thread are counted.
_APART = 1_000_000


class Track(NamedTuple):
    """Where attempts of a thread stand that do not overlap: the first is 0."""

    pid: int
    thread: str
    number: int


class Places:
    """Numbers of processes and threads."""

    def __init__(self, recording: Recording) -> None:
        self._pids: dict[str, int] = {}
        self._tids: dict[Track, int] = {}
        self._tracks: Counter[int] = Counter()
        workers = recording.table("workers")
        self._told = dict(
            zip(workers["worker"], zip(workers["name"], workers["host"], strict=True), strict=True)
        )
        for name in ("scheduler", "client", *workers["worker"].drop_duplicates()):
            self.pid(name)

    def pid(self, process: str) -> int:
        """The number of a process."""
        return self._pids.setdefault(process, len(self._pids) + 1)

    def tid(self, track: Track) -> int:
        """The number of a track within its process."""
        known = self._tids.get(track)
        if known is None:
            self._tracks[track.pid] += 1
            known = self._tids[track] = self._tracks[track.pid]
        return known

    def pids(self, names: Symbols) -> np.ndarray:
        """The same for a column of names."""
        numbers = np.zeros(len(names.names) + 1, "i8")
        for code in np.unique(names.codes).tolist():
            numbers[code] = self.pid(names.names[code])
        return np.asarray(numbers[names.codes])

    @property
    def count(self) -> int:
        """How many processes have a number; the last has this one."""
        return len(self._pids)

    def processes(self) -> Iterator[tuple[int, str, str]]:
        """Each number, its process, and how that is called: name, address and host."""
        for process, pid in self._pids.items():
            name, host = self._told.get(process, ("", ""))
            label = " ".join(dict.fromkeys(filter(None, (str(name), process, str(host)))))
            yield pid, process, label

    def tracks(self) -> Iterator[tuple[Track, int]]:
        """Each track, and its number."""
        yield from self._tids.items()


class Ran:
    """The attempts that ran: process, thread, and begin and end in microseconds."""

    def __init__(self, recording: Recording, places: Places) -> None:
        tasks: Mapping[str, Any] = joined(recording.answer, "tasks")
        rows = np.flatnonzero(np.isfinite(tasks["start"]))
        start, stop = tasks["start"][rows], fill(tasks["stop"][rows], tasks["done"][rows])
        ended = np.isfinite(stop)
        # Those that still run end with the recording.
        last = max(recorded(recording.columns)[1], float(np.max(stop[ended], initial=-np.inf)))
        stop = np.fmax(np.where(ended, stop, last), start)
        zero = recording.started
        self.ts = whole(start - zero, 1e-6)
        self.end = np.maximum(self.ts, whole(stop - zero, 1e-6))
        worker, thread = (
            Symbols(tasks[name].codes[rows], tasks[name].names) for name in ("worker", "thread")
        )
        self.pid = places.pids(worker)
        self.tid = _tids(places, self.pid, thread, start, stop)
        self.task = tasks["task"][rows]
        self.attempt = tasks["attempt"][rows]
        self.key = rows_of(tasks["key"], rows)
        self.prefix, self.status, self.type = (
            Symbols(tasks[name].codes[rows], tasks[name].names) for name in ("prefix", "status", "typename")
        )
        self.nbytes, self.cpu = tasks["nbytes"][rows], tasks["cpu"][rows]


def _tids(
    places: Places, pid: np.ndarray, thread: Symbols, start: np.ndarray, stop: np.ndarray
) -> np.ndarray:
    """Numbers of the threads; attempts that overlap on one get more of them."""
    lane = pid * (len(thread.names) + 1) + thread.codes
    track = tracks(lane, start, stop)
    known, first, which = np.unique(lane * _APART + track, return_index=True, return_inverse=True)
    if not len(known):
        return np.zeros(0, "i8")
    tids = [
        places.tid(Track(int(pid[row]), thread.names[thread.codes[row]], int(track[row])))
        for row in first.tolist()
    ]
    return np.array(tids, "i8")[which]
