"""Those on which tasks run: this process, and processes of pools for as long as they are there."""

from __future__ import annotations

import json
import os
import platform
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
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
#: Workers for pools of one kind: those whose sizes change for ever, or of many computations within tasks,
#: have no more.
_MOST_POOLS = 100


@dataclass
class _Pool:
    """Pools of one kind: how many there were, and of the one that stays from computation to computation its
    worker and size, and the computations that run on it.
    """

    number: int = 0
    #: How many sizes the one that stays has had, and computations apart.
    sizes: int = 0
    aparts: int = 0
    worker: str = ""
    threads: int = 0
    running: int = 0
    #: The worker of the computation apart that began last: of very many the one that all further ones share.
    apart: str = ""

    def added(self, kind: str) -> str:
        """The worker of one more."""
        self.number += 1
        return kind if self.number == 1 else f"{kind}#{self.number}"


class Workers:
    """Takes from any thread who is there; those that have left are to be told of after their tasks."""

    def __init__(self) -> None:
        self.joined, self.left = Rows("workers", *_COLUMNS), Rows("workers", *_COLUMNS)
        self._here: dict[str, tuple[Any, ...]] = {}
        self._pools: dict[str, _Pool] = {}
        self._unused = 0
        #: Computations of several threads begin at once: who had more threads is told of last.
        self._lock = threading.Lock()

    def begin(self, pool: str, threads: int, since: float, *, apart: bool = False) -> str:
        """A computation began on a pool of this process; gives its worker, a new one where its size is new.

        While others run on such a pool, theirs and its threads are there at once: see `Ledger.busy`. One that
        is `apart`, as it has threads only for as long as it goes on, has a worker of its own; of very many
        the last ones share one.
        """
        with self._lock:
            known = self._pools.setdefault(pool, _Pool())
            few = (known.aparts if apart else known.sizes) < _MOST_POOLS
            if apart and few:
                known.aparts += 1
                known.apart = known.added(pool)
            elif not apart and (not known.worker or (threads != known.threads and not known.running and few)):
                self._leave(known.worker, since)
                known.sizes += 1
                known.threads, known.worker = threads, known.added(pool)
            worker = known.apart if apart else known.worker
            known.running += worker == known.worker
        self.add(worker, threads, since=since)
        return worker

    def finish(self, pool: str, worker: str) -> None:
        """A computation has ended that began on a pool of this process."""
        with self._lock:
            known = self._pools[pool]
            if worker == known.worker:
                known.running -= 1
            elif worker != known.apart or known.aparts < _MOST_POOLS:
                self._leave(worker, perf_counter())

    def unused(self, threads: int, since: float) -> None:
        """A pool of so many processes ends, there since a moment: those not heard of were not used."""
        with self._lock:
            threads -= sum(not row[_OWN] for row in list(self._here.values()))
            if threads > 0:
                self._unused += 1
                label = "process unused" if self._unused == 1 else f"process unused#{self._unused}"
                self._tell_left(self._row(label, threads, 0, since, own=False), perf_counter())

    def add(self, name: str, threads: int, pid: int = 0, since: float = inf) -> None:
        """A worker is there, `since` a moment if not from now on, or has more threads than was known."""
        with self._lock:
            known = self._here.get(name)
            if known is not None and known[_THREADS] >= threads:
                return
            joined = known[_JOINED] if known is not None else min(since, perf_counter())
            row = self._row(name, threads, pid or os.getpid(), joined, own=pid in (0, os.getpid()))
            self._here[name] = row
            self.joined.add(row)

    def _row(self, name: str, threads: int, pid: int, joined: float, own: bool) -> tuple[Any, ...]:
        detail = json.dumps({"python": platform.python_version(), "dask": dask.__version__})
        of_process = (name, name, socket.gethostname(), process() >> 32, pid)
        return (*of_process, threads, nan, joined, nan, detail, *cores(), own)

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

    def end(self, moment: float) -> None:
        """The recording ends at that moment, and with it those that are still there."""
        for name in list(self._here):
            self._leave(name, moment)

    def _leave(self, name: str, moment: float) -> None:
        if (row := self._here.pop(name, None)) is not None:
            self._tell_left(row, moment)

    def _tell_left(self, row: tuple[Any, ...], moment: float) -> None:
        # One that came while the recording ended was there for no time.
        self.left.add((*row[:_LEFT], max(moment, row[_JOINED]), *row[_LEFT + 1 :]))
