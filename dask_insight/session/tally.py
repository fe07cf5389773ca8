"""Counts what a source has emitted, for those who want to see at a glance how far it is."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from math import nan
from typing import Any, NamedTuple

from ..batch import BatchError, announced, decode
from ..options import Emit
from ..tables.processes import of_processes, process_of
from .ends import READ, Ends

#: The columns by which rows are counted.
_COUNTED: dict[str, tuple[str, ...]] = {
    **READ,
    "workers": ("worker", "host", "namespace", "pid", "threads", "memory_limit", "joined", "left"),
    "memory": ("worker", "process"),
    "events": ("source", "kind", "message"),
}
#: Losses that are kept in words.
_LOSSES = 5


class _Worker(NamedTuple):
    threads: int
    limit: float
    #: What tells its process.
    process: tuple[str, Any]


class Tally:
    """Passes batches on and counts tasks, workers and memory.

    Tasks are counted since there were none to wait for: a graph that comes when all before it are over
    begins a new count.

    Parameters
    ----------
    emit
        Where the batches go.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._lock = threading.Lock()
        self._ends = Ends()
        self._workers: dict[str, _Worker] = {}
        self._paused: set[str] = set()
        self._memory: dict[str, float] = {}
        self._losses: deque[str] = deque(maxlen=_LOSSES)

    @property
    def losses(self) -> list[str]:
        """What the source could not record, in words; the latest few."""
        with self._lock:
            return list(self._losses)

    def __call__(self, batch: bytes) -> None:
        """Take a batch; from any thread."""
        self._emit(batch)
        table, _ = announced(batch)
        if table not in _COUNTED:
            return
        with self._lock:
            try:
                columns: Any = decode(batch, _COUNTED[table]).columns
            except BatchError:
                return
            if table in READ:
                self._count(table, columns)
            elif table == "workers":
                self._joined(columns)
            elif table == "events":
                self._happened(columns)
            else:
                told = zip(columns["worker"].tolist(), columns["process"].tolist(), strict=True)
                # The last word on a worker may come after it was told that the worker has left.
                self._memory.update(each for each in told if each[0] in self._workers)

    def _count(self, table: str, columns: Any) -> None:
        was_open = self._ends.open
        new = self._ends.take(table, columns).new
        if table == "graph" and len(new) and not was_open:
            self._ends = Ends()
            self._ends.take("graph", {"task": new})

    def _happened(self, columns: Any) -> None:
        kinds, messages = columns["kind"].tolist(), columns["message"].tolist()
        sources = columns["source"].tolist() if "source" in columns else [""] * len(kinds)
        for source, kind, message in zip(sources, kinds, messages, strict=True):
            if kind == "lost":
                self._losses.append(message)
            elif kind == "worker-status" and message.endswith("paused") and source in self._workers:
                self._paused.add(source)
            elif kind == "worker-status":
                self._paused.discard(source)

    def _joined(self, columns: Any) -> None:
        rows = zip(
            *(
                columns[name].tolist()
                for name in ("worker", "threads", "memory_limit", "left", "host", "namespace", "pid")
            ),
            strict=True,
        )
        for worker, threads, limit, left, *process in rows:
            if left == left:
                self._workers.pop(worker, None)
                self._memory.pop(worker, None)
                self._paused.discard(worker)
            else:
                self._workers[worker] = _Worker(threads, limit, process_of(worker, *process))

    def state(self) -> dict[str, Any]:
        """Workers, those of them paused, threads, memory in bytes (None if unknown), tasks of this count."""
        with self._lock:
            here = self._workers.values()
            used, limit = self._used() if self._memory else nan, _limit(here)
            return {
                "workers": len(here),
                "threads": sum(worker.threads for worker in here),
                "paused": len(self._paused),
                "memory": _known(used),
                "memory_limit": _known(limit),
                "tasks": {
                    "total": self._ends.total,
                    "done": self._ends.done,
                    "erred": self._ends.failed,
                },
            }

    def _used(self) -> float:
        """Memory of the workers' processes."""
        return of_processes(
            (worker.process, self._memory.get(name, 0.0)) for name, worker in self._workers.items()
        )


def _limit(workers: Iterable[_Worker]) -> float:
    """Memory that workers may have together: a process no more than the least that one of it may."""
    limits: dict[Any, float] = {}
    for worker in workers:
        limits[worker.process] = min(worker.limit, limits.get(worker.process, worker.limit))
    return sum(limits.values()) if limits else nan


def _known(number: float) -> float | None:
    return number if number == number else None
