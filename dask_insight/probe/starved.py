"""How long the threads that run tasks could have run but found no free core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

_NAN = float("nan")
#: Executors of a worker whose threads run no tasks.
_OTHERS = ("offload", "actor")
#: Descriptors kept at most: a worker may have hundreds of threads, and few descriptors to spare.
_KEPT = 32


class Starved:
    """Adds up what Linux tells of each thread: the time that it stood in a run queue.

    Waiting for a lock (the GIL too), for data or for a device is no part of it, so it tells a machine that is
    short of cores from tasks that wait. NaN on other systems.

    Parameters
    ----------
    threads
        Gives the system's ids of the threads that run tasks; each counts from where it is first seen.
    """

    def __init__(self, threads: Callable[[], Iterable[int]]) -> None:
        self._threads = threads
        self._seen: dict[int, int] = {}
        #: Descriptors of what Linux tells, by thread: to open a file takes longer than to read it.
        self._files: dict[int, int] = {}
        self.take()

    def take(self) -> float:
        """Thread-seconds since the last call."""
        try:
            seen = {one: waited for one in self._threads() if (waited := self._waited(one)) is not None}
        except OSError:
            return _NAN
        passed = sum(waited - self._seen.get(one, waited) for one, waited in seen.items())
        self._seen = seen
        self._close(self._files.keys() - seen.keys())
        return passed / 1e9

    def close(self) -> None:
        """Let go of what was opened."""
        self._close(list(self._files))

    def _close(self, threads: Iterable[int]) -> None:
        for thread in threads:
            os.close(self._files.pop(thread))

    def _waited(self, thread: int) -> int | None:
        """Nanoseconds in a run queue; None of a thread that has ended."""
        try:
            file = self._files.get(thread)
            if file is not None:
                return _read(file)
            file = os.open(f"/proc/self/task/{thread}/schedstat", os.O_RDONLY)
            if len(self._files) < _KEPT:
                self._files[thread] = file
                return _read(file)
            try:
                return _read(file)
            finally:
                os.close(file)
        except (FileNotFoundError, ProcessLookupError):
            # Of this thread alone, or of every thread of this system.
            with open("/proc/thread-self/schedstat", "rb"):
                return None


def _read(file: int) -> int:
    return int(os.pread(file, 64, 0).split()[1])


def task_threads(worker: Any) -> Iterable[int]:
    """The threads of a worker that run tasks."""
    executors = worker.executors
    for name in list(executors):
        if name not in _OTHERS:
            for thread in tuple(getattr(executors[name], "_threads", ())):
                if thread.native_id is not None:
                    yield thread.native_id
