"""How long a worker's task threads could have run but found no free core."""

from __future__ import annotations

from typing import Any

_NAN = float("nan")
#: Executors whose threads run no tasks.
_OTHERS = ("offload", "actor")


class Starved:
    """Adds up what Linux tells of each task thread: the time that it stood in a run queue.

    Waiting for a lock (the GIL too), for data or for a device is no part of it, so it tells a machine that is
    short of cores from tasks that wait. NaN on other systems.
    """

    def __init__(self, worker: Any) -> None:
        self._worker = worker
        self._seen: dict[int, int] = {}
        self.take()

    def take(self) -> float:
        """Thread-seconds since the last call."""
        executors = self._worker.executors
        threads = [
            thread.native_id
            for name in executors
            if name not in _OTHERS
            for thread in tuple(getattr(executors[name], "_threads", ()))
        ]
        try:
            seen = {ident: waited for ident in threads if (waited := _waited(ident)) is not None}
        except OSError:
            return _NAN
        passed = sum(waited - self._seen.get(ident, 0) for ident, waited in seen.items())
        self._seen = seen
        return passed / 1e9


def _waited(ident: int) -> int | None:
    """Nanoseconds in a run queue; None of a thread that has ended."""
    try:
        with open(f"/proc/self/task/{ident}/schedstat", "rb") as file:
            return int(file.read().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        # Of this thread alone, or of every thread of this system.
        with open("/proc/thread-self/schedstat", "rb"):
            return None
