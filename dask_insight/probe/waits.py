"""For how long some threads waited: for a free core, and at most for the interpreter's lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any, NamedTuple

from .opened import Opened

_NAN = float("nan")
#: Executors of a worker whose threads run no tasks.
_OTHERS = ("offload", "actor")
#: Descriptors kept at most: a worker may have hundreds of threads, and few descriptors to spare.
_KEPT = 32


class Waited(NamedTuple):
    """Thread-seconds of all threads together; NaN where the system does not tell."""

    #: In a run queue: they could have run, but found no free core.
    core: float
    #: For the GIL, at most.
    gil: float


class _Told(NamedTuple):
    """What Linux tells of a thread, since it began."""

    #: Nanoseconds on a core, and in a run queue; how often it was put on a core.
    ran: int
    queued: int
    turns: int


class Waits:
    """Adds up what Linux tells of each thread.

    The time in run queues has no part in it of waits for a lock, for data or for a device, so it tells a
    machine that is short of cores from tasks that wait. A thread that waits for the GIL is neither on a core
    nor in a queue, as one that reads or sleeps; but it is woken each `sys.getswitchinterval`, to ask for the
    GIL. So a thread that was put on a core `n` times waited for it for no more than `n` intervals.

    Parameters
    ----------
    threads
        Gives the system's ids of the threads; each counts from where it is first seen.
    """

    def __init__(self, threads: Callable[[], Iterable[int]]) -> None:
        self._threads = threads
        self._when = monotonic()
        self._seen: dict[int, _Told] = {}
        #: What Linux tells, by thread.
        self._files: dict[int, Opened] = {}
        # Python without a GIL says so.
        shared = getattr(sys, "_is_gil_enabled", lambda: True)()
        self._interval = sys.getswitchinterval() if shared else 0.0
        self.take()

    def take(self) -> Waited:
        """What the threads waited since the last call."""
        since, self._when = self._when, monotonic()
        try:
            seen = {one: told for one in self._threads() if (told := self._told(one)) is not None}
            if not seen:
                _must_tell()
        except OSError:
            return Waited(_NAN, _NAN)
        core = gil = 0.0
        for one, told in seen.items():
            before = self._seen.get(one, told)
            queued = (told.queued - before.queued) / 1e9
            away = self._when - since - (told.ran - before.ran) / 1e9 - queued
            core += queued
            gil += max(0.0, min(away, (told.turns - before.turns) * self._interval))
        self._seen = seen
        self._close(self._files.keys() - seen.keys())
        return Waited(core, gil)

    def close(self) -> None:
        """Let go of what was opened."""
        self._close(list(self._files))

    def _close(self, threads: Iterable[int]) -> None:
        for thread in threads:
            self._files.pop(thread).close()

    def _told(self, thread: int) -> _Told | None:
        """What is told of a thread; None of one that has ended."""
        try:
            file = self._files.get(thread)
            if file is not None and file.is_ours:
                return _read(file)
            self._files.pop(thread, None)
            file = Opened(f"/proc/self/task/{thread}/schedstat")
            if len(self._files) < _KEPT:
                self._files[thread] = file
                return _read(file)
            try:
                return _read(file)
            finally:
                file.close()
        except (FileNotFoundError, ProcessLookupError):
            # Of this thread alone, or of every thread of this system.
            _must_tell()
            return None


def _must_tell() -> None:
    """Raise an OSError where the system tells of no thread."""
    with open("/proc/thread-self/schedstat", "rb"):
        return


def _read(file: Opened) -> _Told:
    return _Told(*map(int, os.pread(file.number, 64, 0).split()))


def task_threads(worker: Any) -> Iterable[int]:
    """The threads of a worker that run tasks."""
    for _, executor in task_executors(worker):
        for thread in tuple(getattr(executor, "_threads", ())):
            if thread.native_id is not None:
                yield thread.native_id


def task_executors(worker: Any) -> list[tuple[str, Any]]:
    """Names and executors of a worker in which tasks run."""
    return [(name, each) for name, each in list(worker.executors.items()) if name not in _OTHERS]
