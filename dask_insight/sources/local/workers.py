"""Those on which tasks run: this process, and processes of pools for as long as they are there."""

from __future__ import annotations

import json
import os
import platform
import socket
import threading
from collections.abc import Iterator
from math import inf, nan
from time import perf_counter
from typing import Any

import dask
import psutil

from ...probe.clock import process
from ...probe.cores import cores
from .rows import Rows

_COLUMNS = (
    *("worker", "name", "host", "namespace", "pid", "threads", "memory_limit", "joined", "left", "detail"),
    *("cores", "core_set", "own"),
)
_PID, _THREADS, _JOINED, _LEFT, _OWN = (
    _COLUMNS.index(name) for name in ("pid", "threads", "joined", "left", "own")
)


class Workers:
    """Takes from any thread who is there; those that have left are to be told of after their tasks."""

    def __init__(self) -> None:
        self.joined, self.left = Rows("workers", *_COLUMNS), Rows("workers", *_COLUMNS)
        self._here: dict[str, tuple[Any, ...]] = {}
        #: Computations of several threads begin at once: who had more threads is told of last.
        self._lock = threading.Lock()

    def add(self, name: str, threads: int, pid: int = 0, since: float = inf) -> None:
        """A worker is there, `since` a moment if not from now on, or has more threads than was known."""
        with self._lock:
            known = self._here.get(name)
            if known is not None and known[_THREADS] >= threads:
                return
            joined = known[_JOINED] if known is not None else min(since, perf_counter())
            detail = json.dumps({"python": platform.python_version(), "dask": dask.__version__})
            of_process = (name, name, socket.gethostname(), process() >> 32, pid or os.getpid())
            row = (*of_process, threads, nan, joined, nan, detail, *cores(), pid in (0, os.getpid()))
            self._here[name] = row
            self.joined.add(row)

    def threads(self, name: str) -> int:
        """How many threads a worker is known to have."""
        known = self._here.get(name)
        return known[_THREADS] if known is not None else 0

    def own(self) -> Iterator[str]:
        """Names of those in this process."""
        return (name for name, row in list(self._here.items()) if row[_OWN])

    def look(self) -> Iterator[int]:
        """Look which processes have ended: their workers have left. Gives their ids."""
        now = perf_counter()
        for name, row in list(self._here.items()):
            if not row[_OWN] and not psutil.pid_exists(row[_PID]):
                self._leave(name, now)
                yield row[_PID]

    def end(self) -> None:
        """The recording ends, and with it those that are still there."""
        for name in list(self._here):
            self._leave(name, perf_counter())

    def _leave(self, name: str, moment: float) -> None:
        if (row := self._here.pop(name, None)) is not None:
            self.left.add((*row[:_LEFT], moment, *row[_LEFT + 1 :]))
