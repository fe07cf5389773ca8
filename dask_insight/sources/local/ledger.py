"""What all computations of one recording share: ids, clock, and rows on their way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import count, islice
from math import nan
from threading import Lock
from time import perf_counter
from typing import Any

from ...identity import Identity
from ...options import Emit
from ...probe.functions import functions_of
from ...probe.fused import parts_of
from ...probe.gaps import Gaps
from ...probe.garbage import Collected
from ...probe.measured import Measured
from ...probe.sampler import Sampler
from ...schema import NOTHING, SECEDED
from ..cells import shown_file
from ..garbage import collected
from ..losses import detail, gap_words, losses_sent
from .activity import Activity, Reporter
from .cache import Metric, Totals
from .epoch import Epoch
from .outlet import Outlet
from .rows import Rows
from .workers import Workers

#: Phases that are shorter than this many seconds are left out.
_SHORTEST_PHASE = 0.001
#: Runs of a process, besides those just ended, of which its sampler may still tell.
_LATE_RUNS = 1_000
#: Task names whose functions are told, and groups of tasks that are looked into: in a recording without an
#: end, new ones never cease to come.
_GROUPS = 20_000


class Ledger:
    """Takes rows from any thread; one thread has them encoded and emitted.

    All times in it are moments of `perf_counter`; they become seconds since
    the epoch when they are encoded.
    """

    def __init__(self, identity: Identity, cache_metric: Metric | None, source: bool = True) -> None:
        #: Whether tracebacks keep their lines of source code.
        self.source = source
        self.runs = count()
        self.submissions = count()
        self.activity: Activity = {}
        #: Worker for which each thread of this process ran a task last.
        self.threads: dict[int, str] = {}
        #: Told of the end of each task of this process, where stacks are taken.
        self.sampler: Sampler | None = None
        #: Whether nobody takes rows any more; a computation may go on.
        self.ended = False
        self.submitted = Rows(
            "submissions",
            *("submission", "time", "tasks", "client", "file", "line", "function", "code"),
            *("cell", "execution"),
        )
        self.errors = Rows("errors", "run", "task", "exception", "traceback")
        self._attempts = Rows(
            "attempts",
            *("run", "task", "worker", "thread", "status", "done", "stop", "start", "assigned"),
            *("ready", "submitted", "nbytes", "typename", "cpu", "rss"),
        )
        #: Add one ended attempt.
        self.attempt = self._attempts.add
        self._phases = Rows("phases", "run", "action", "start", "stop")
        self.workers = Workers()
        self._running = Rows("running", "run", "task", "worker", "thread", "start")
        self.releases = Rows("releases", "task", "time")
        self._cache = Rows("cache", "time", "source", "size", "metric", "task")
        self._events = Rows("events", "time", "source", "kind", "level", "message", "detail")
        self._functions = Rows("functions", "prefix", "function", "module", "file", "line", "source")
        self._fused = Rows("fused", "group", "part", "function", "file", "line")
        #: Task names whose functions are known, and groups whose parts are.
        self.defined: set[str] = set()
        self.looked_into: set[str] = set()
        self.totals = Totals(self._cache, cache_metric)
        self._epoch = Epoch()
        self._outlet = Outlet(identity, self._epoch)
        self._reporter = Reporter(self.activity, self._running)
        self._columns: deque[tuple[str, dict[str, Sequence[Any]]]] = deque()
        self._profiles: deque[tuple[Callable[[str], str], dict[str, Any]]] = deque()
        #: Of each process, its numbers of the newest runs.
        self._numbered: dict[int, dict[int, int]] = {}
        self._told: set[str] = set()
        #: What cannot be sampled, until it is told.
        self.gaps = Gaps()
        self._next_task = 0
        self._lock = Lock()

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
            message = f"part of a local computation is not recorded: {where}: {type(error).__name__}: {error}"
            self._events.add((perf_counter(), "recorder", "lost", "error", message, ""))

    def absent(self) -> None:
        """What cannot be recorded of this process and its pools', and why."""
        for message in gap_words(self.gaps.take()):
            self._events.add((perf_counter(), self.home(), "gap", "info", message, ""))

    def lost(self, counts: Mapping[str, int]) -> None:
        """Something was lost, so many times; see `losses_sent`."""
        for loss in losses_sent(counts):
            self._events.add((perf_counter(), "recorder", "lost", "warning", str(loss), detail(loss)))

    def busy(self, worker: str) -> None:
        """One more thread of a worker runs a task: several threads that compute have a pool each."""
        # One that has left runs what nobody wants any more.
        if 0 < self.workers.threads(worker) < len(self.activity):
            self.workers.add(worker, sum(running[2] == worker for running in self.activity.copy().values()))

    def define(self, prefix: str, task: Any) -> None:
        """A task name is met for the first time, with this task."""
        if not self._has_room(self.defined, "which function a task runs", "names"):
            return
        self.defined.add(prefix)
        try:
            for function, module, file, line in functions_of(task):
                self._functions.add((prefix, function, module, shown_file(file), line, "definition"))
        except Exception as error:
            self.failed("functions", error)

    def look_into(self, group: str, task: Any) -> None:
        """A group of tasks is met for the first time, with this one of it."""
        if not self._has_room(self.looked_into, "what stands inside of fused tasks", "groups"):
            return
        self.looked_into.add(group)
        try:
            for part, place in parts_of(task):
                self._fused.add((group, part, place.function, shown_file(place.file), place.line))
        except Exception as error:
            self.failed("fused", error)

    def _has_room(self, known: set[str], what: str, names: str) -> bool:
        """Whether one more may be looked at; that no more are is told once."""
        has_room = len(known) < _GROUPS
        if not has_room and names not in self._told:
            self._told.add(names)
            message = f"{what} is not told of more than {_GROUPS:,} {names}"
            self._events.add((perf_counter(), "recorder", "lost", "info", message, ""))
        return has_room

    def home(self) -> str:
        """Name of this process: its scheduler's, where tasks run in it."""
        return next(self.workers.own(), "local")

    def executing(self) -> float:
        """Tasks that run in this process; NaN where none was seen to run in it."""
        return float(len(self.activity)) if any(self.workers.own()) else nan

    def run_ended(self, run: int, start: float, stop: float, name: str, thread: int) -> None:
        """A run in this process has ended, and was sampled."""
        if (sampler := self.sampler) is not None:
            sampler.ended(run, start, stop, name, thread)

    def phases(self, run: int, measured: Measured) -> None:
        """What was around the computing of an attempt in another process."""
        if measured.start - measured.loading > _SHORTEST_PHASE:
            self._phases.add((run, "deserialize", measured.loading, measured.start))
        if measured.dumped - measured.stop > _SHORTEST_PHASE:
            self._phases.add((run, "serialize", measured.stop, measured.dumped))

    def waited(self, run: int, start: float, stop: float) -> None:
        """An attempt asked for a computation, and waited for it."""
        if stop - start > _SHORTEST_PHASE:
            self._phases.add((run, SECEDED, start, stop))

    def collected(self, worker: str, rows: list[Collected]) -> None:
        """What a process noted of its garbage collections; nothing of those before the first computation."""
        if rows:
            self.put("collections", **collected(worker, rows, 0.0, None))

    def profile(self, drained: dict[str, Any]) -> None:
        """Take what this process's sampler has drained."""
        self._profiles.append((self._worker_of, drained))

    def profile_of(self, pid: int, drained: dict[str, Any], numbered: dict[int, int]) -> None:
        """Take what another process's sampler has drained.

        Parameters
        ----------
        pid
            The process.
        drained
            From its `Sampler.drain`; its runs are numbers of its own.
        numbered
            Run of each number that has come since the last time.
        """
        runs = self._numbered.setdefault(pid, {})
        runs.update(numbered)
        samples = drained["samples"]
        ours = [runs.get(number, NOTHING) for number in samples["run"]]
        self._profiles.append((lambda _: f"process {pid}", {**drained, "samples": {**samples, "run": ours}}))
        for old in list(islice(runs, max(len(runs) - len(numbered) - _LATE_RUNS, 0))):
            del runs[old]

    def _worker_of(self, thread: str) -> str:
        return self.threads.get(int(thread or 0)) or self.home()

    def look(self) -> None:
        """Pools may have ended, and their processes with them."""
        for pid in self.workers.look():
            self._numbered.pop(pid, None)

    def flush(self, emit: Emit) -> None:
        """Encode and emit all there is."""
        outlet = self._outlet
        self._epoch.look()
        self._reporter.tell()
        # Before those that joined: one that does both meanwhile is told of in that order the next time.
        left = self.workers.left.take()
        for rows in (self.workers.joined, self.submitted):
            outlet.rows(emit, rows)
        while self._columns:
            outlet.columns(emit, *self._columns.popleft())
        others = (self._running, self.errors, self._phases, self.releases, self._cache, self._events)
        for rows in (self._functions, self._fused, *others):
            outlet.rows(emit, rows)
        outlet.attempts(emit, self._attempts)
        while self._profiles:
            outlet.profile(emit, *self._profiles.popleft())
        if left is not None:
            outlet.columns(emit, "workers", left)
