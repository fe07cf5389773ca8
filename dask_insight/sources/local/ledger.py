"""What all computations of one recording share: ids, clock, and rows on their way."""

from __future__ import annotations

import json
import os
import platform
import socket
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from math import nan
from threading import Lock
from time import perf_counter, time
from typing import Any

import dask
import numpy as np

from ...batch import encode
from ...identity import Identity
from ...options import Emit
from ...probe.measured import Measured
from ...schema import NOTHING
from .activity import Activity, Reporter
from .cache import Held, Metric
from .names import TypeNames
from .rows import Rows

#: Phases of other processes that are shorter than this many seconds are left out.
_SHORTEST_PHASE = 0.001
_IDS = {"task": "task", "dependency": "task", "run": "run", "submission": "submission"}


class Ledger:
    """Takes rows from any thread; one thread maps their ids, encodes and emits them."""

    def __init__(self, identity: Identity, cache_metric: Metric | None) -> None:
        #: Added to `perf_counter` gives seconds since the epoch.
        self.anchor = time() - perf_counter()
        #: True from when nothing more is taken.
        self.closed = False
        self.runs = count()
        self.submissions = count()
        self.type_name = TypeNames()
        self.activity = Activity()
        self.submitted = Rows(
            "submissions", "submission", "time", "tasks", "client", "file", "line", "function", "code"
        )
        self.attempts = Rows(
            "attempts",
            *("run", "task", "worker", "thread", "status", "done", "stop", "start"),
            *("assigned", "ready", "submitted", "nbytes", "typename"),
        )
        self.errors = Rows("errors", "run", "task", "exception", "traceback")
        self.events = Rows("events", "time", "source", "kind", "level", "message")
        self._executions = Rows("executions", "run", "worker", "status", "ended", "executing", "cpu", "rss")
        self._phases = Rows("phases", "run", "action", "start", "stop")
        self._workers = Rows(
            "workers", "worker", "name", "host", "pid", "threads", "memory_limit", "joined", "left", "detail"
        )
        self._running = Rows("running", "run", "task", "worker", "thread", "start")
        self._cache = Rows("cache", "time", "source", "size", "metric", "task")
        self.held = Held(self._cache, cache_metric)
        self._reporter = Reporter(self.activity, self._running)
        self._identity = identity
        self._namespaces = {kind: identity.namespace(kind) for kind in set(_IDS.values())}
        self._columns: deque[tuple[str, dict[str, Sequence[Any]]]] = deque()
        self._profiles: deque[tuple[Callable[[str], str], dict[str, Any], Sequence[int] | None]] = deque()
        self._known_workers: dict[str, tuple[Any, ...]] = {}
        self._told: set[str] = set()
        self._next_task = 0
        self._lock = Lock()

    def epoch(self, moment: float) -> float:
        """Seconds since the epoch for a moment of `perf_counter`."""
        return self.anchor + moment

    def reserve_tasks(self, number: int) -> int:
        """First of that many task ids in a row."""
        with self._lock:
            first = self._next_task
            self._next_task += number
        return first

    def put(self, table: str, **columns: Sequence[Any]) -> None:
        """Add many rows of one table at once."""
        self._columns.append((table, columns))

    def failed(self, where: str, error: Exception) -> None:
        """Something of ours failed; told once for each place."""
        if where not in self._told:
            self._told.add(where)
            message = f"Part of a local computation is not recorded: {where}: {type(error).__name__}: {error}"
            self.events.add((time(), "recorder", "lost", "error", message))

    def worker(self, name: str, threads: int, pid: int = 0) -> None:
        """A worker is there, or has more threads than was known."""
        known = self._known_workers.get(name)
        if known is not None and known[4] >= threads:
            return
        joined = known[6] if known is not None else time()
        detail = json.dumps({"python": platform.python_version(), "dask": dask.__version__})
        row = (name, name, socket.gethostname(), pid or os.getpid(), threads, nan, joined, nan, detail)
        self._known_workers[name] = row
        self._workers.add(row)

    def workers(self) -> list[str]:
        """Names of the workers there are or were, in the order they came."""
        return list(self._known_workers)

    def execution(self, run: int, worker: str, measured: Measured) -> None:
        """How an attempt went, as seen where it ran."""
        epoch, status = self.anchor, "error" if measured.failed else "memory"
        start, stop = epoch + measured.start, epoch + measured.stop
        self._executions.add((run, worker, status, stop, start, measured.cpu, measured.rss / 2**20))
        if measured.start - measured.loading > _SHORTEST_PHASE:
            self._phases.add((run, "deserialize", epoch + measured.loading, start))
        if measured.dumped - measured.stop > _SHORTEST_PHASE:
            self._phases.add((run, "serialize", stop, epoch + measured.dumped))

    def profile(
        self,
        worker_of: str | Callable[[str], str],
        drained: dict[str, Any],
        runs: Sequence[int] | None = None,
    ) -> None:
        """Take what a sampler has drained.

        Parameters
        ----------
        worker_of
            The worker, or a function from a row's thread, as text, to it.
        drained
            From `Sampler.drain`.
        runs
            Where the sampler counted for itself: number to run.
        """
        self._profiles.append((worker_of if callable(worker_of) else _always(worker_of), drained, runs))

    def close(self) -> None:
        """Take nothing more; the workers have left."""
        self.closed = True
        for row in self._known_workers.values():
            self._workers.add((*row[:7], time(), row[8]))

    def flush(self, emit: Emit) -> None:
        """Encode and emit all there is."""
        self._reporter.tell()
        while self._columns:
            table, columns = self._columns.popleft()
            emit(encode(table, self._mapped(columns)))
        for rows in (
            self._workers,
            self.submitted,
            self._running,
            self.attempts,
            self._executions,
            self._phases,
            self.errors,
            self._cache,
            self.events,
        ):
            if columns_ := rows.take():
                emit(encode(rows.table, self._mapped(columns_)))
        while self._profiles:
            self._emit_profile(emit, *self._profiles.popleft())

    def _mapped(self, columns: dict[str, Any]) -> dict[str, Any]:
        return {
            name: self._namespaces[_IDS[name]].map(values) if name in _IDS else values
            for name, values in columns.items()
        }

    def _emit_profile(
        self, emit: Emit, worker_of: Callable[[str], str], drained: dict[str, Any], runs: Sequence[int] | None
    ) -> None:
        stacks, new = self._identity.stacks.absorb(drained["frames"])
        if new is not None:
            emit(new)
        samples = drained["samples"]
        if len(samples["run"]):
            local = [NOTHING if run == NOTHING or runs is None else runs[run] for run in samples["run"]]
            columns = {
                "process": [worker_of(thread) for thread in samples["thread"]],
                "thread": samples["thread"],
                "time": samples["time"],
                "duration": samples["duration"],
                "stack": stacks[np.asarray(samples["stack"], "i8")],
                "run": self._namespaces["run"].map(samples["run"] if runs is None else local),
            }
            emit(encode("samples", columns))
        sampling = drained["sampling"]
        if len(sampling["time"]):
            process = worker_of(samples["thread"][0] if len(samples["thread"]) else "")
            emit(encode("sampling", {"process": [process] * len(sampling["time"]), **sampling}))


def _always(name: str) -> Callable[[str], str]:
    return lambda _: name
