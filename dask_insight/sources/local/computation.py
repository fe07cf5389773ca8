"""One computation of a local scheduler: from what dask calls to rows.

Everything here runs within the user's computation, so nothing may raise, and
what runs for each task is kept short.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from math import inf, nan
from threading import get_ident
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

from dask._task_spec import DataNode, GraphNode

from ...probe.measured import Arguments, Report, Run, describe
from ..cells import running_cell
from ..dynamic import shown_traceback
from .cache import Cache
from .graph import graph_columns, ranks
from .names import type_name
from .origin import Origin
from .pools import Place
from .sizes import size_of

if TYPE_CHECKING:
    from .ledger import Ledger

#: Worker, thread, start, stop, CPU seconds and memory change of a task.
_Ended = tuple[str, int, float, float, float, float]
_NOWHERE: _Ended = "", 0, nan, nan, nan, nan


class Computation:
    """Follows one call of a local scheduler.

    Parameters
    ----------
    ledger
        Where rows go.
    scheduler
        threads, sync, processes or local.
    place
        Where its tasks run.
    threads
        How many of them run at a time.
    origin
        The line that asked for it.
    shared
        Whether the thread that asked for it is one of those.
    """

    def __init__(
        self,
        ledger: Ledger,
        scheduler: str,
        place: Place,
        threads: int,
        origin: Origin,
        *,
        shared: bool = False,
    ) -> None:
        self._ledger = ledger
        self._scheduler = scheduler
        self._origin = origin
        self._place, self._threads, self._shared = place, threads, shared
        self._worker = ""
        self._submission = next(ledger.submissions)
        self._begun, self._submitted = perf_counter(), nan
        #: Run of the task that asked for it, if one did.
        self._outer: int | None = None
        self._finished = False
        self._tasks: dict[Any, int] = {}
        #: Id of the first task, and the names of all.
        self._first = 0
        self._prefixes: Sequence[str] = ()
        self._dependencies: Mapping[Any, Any] = {}
        #: Moment at which each result was there.
        self._done: dict[Any, float] = {}
        #: Run and moment of each task that was handed to the pool and has not been written.
        self._given: dict[Any, tuple[int, float]] = {}
        #: Of each that has ended since.
        self._ended: dict[Any, _Ended] = {}
        self._failed: set[Any] = set()
        self._cache: Cache | None = None

    @property
    def callbacks(self) -> tuple[Callable[..., None] | None, ...]:
        """The five functions that dask calls."""
        return (None, self.start_state, self.pretask, self.posttask, self.finish)

    def start_state(self, dsk: Mapping[Any, Any], state: Mapping[str, Any]) -> None:
        """The graph is known and nothing has run."""
        try:
            self._submitted = perf_counter()
            if (running := self._ledger.activity.get(get_ident())) is not None:
                self._outer = running[0]
            if self._place != "processes":
                apart = self._place == "here" and self._outer is not None and not self._shared
                began = self._ledger.workers.begin
                self._worker = began(self._scheduler, self._threads, self._begun, apart=apart)
            self._know(dsk, state)
        except Exception as error:
            self._ledger.failed("start_state", error)

    def _know(self, dsk: Mapping[Any, Any], state: Mapping[str, Any]) -> None:
        ledger, cache = self._ledger, state["cache"]
        self._dependencies = dependencies = state["dependencies"]
        keys = [key for key in dependencies if _runs(dsk.get(key))]
        first = self._first = ledger.reserve_tasks(len(keys))
        tasks = self._tasks = dict(zip(keys, range(first, first + len(keys)), strict=True))
        graph, edges = graph_columns(tasks, dsk, dependencies)
        self._prefixes = graph["prefix"]
        for key, prefix, group in zip(keys, graph["prefix"], graph["group"], strict=True):
            if prefix not in ledger.defined:
                ledger.define(prefix, dsk[key])
            if group not in ledger.looked_into:
                ledger.look_into(group, dsk[key])
        ledger.put("graph", **graph, submission=[self._submission] * len(keys), **ranks(keys))
        ledger.put("edges", **edges)
        ledger.submitted.add(
            (self._submission, self._submitted, len(keys), self._scheduler, *self._origin, *running_cell())
        )
        self._cache = Cache(ledger.totals, self._scheduler, cache, self._submitted)

    def pretask(self, key: Any, dsk: Any, state: Any) -> None:
        """A task is handed to the pool."""
        if self._ledger.ended:
            return
        self._given[key] = next(self._ledger.runs), perf_counter()

    def run(self, run: Run, batch: Sequence[Arguments]) -> list[Any]:
        """Run tasks in this thread of this process, through dask's own function for it."""
        if self._ledger.ended:
            return run(batch)
        return [self._run(run, arguments) for arguments in batch]

    def _run(self, run: Run, arguments: Arguments) -> Any:
        thread, key = get_ident(), arguments[0]
        activity = self._ledger.activity
        outer = activity.get(thread)
        error: tuple[str, str] | None = None
        cpu, start = nan, perf_counter()
        try:
            self._begins(key, thread, outer)
            cpu, start = thread_time(), perf_counter()
            result = run((arguments,))[0]
            stop, cpu = perf_counter(), thread_time() - cpu
            if result[2]:
                error = _reason(result[1])
            return result
        except BaseException as raised:
            stop, cpu = perf_counter(), thread_time() - cpu
            error = describe(raised, below=1)
            raise
        finally:
            if outer is None:
                activity.pop(thread, None)
            else:
                activity[thread] = outer
            self._ran(key, thread, start, stop, cpu, error)

    def _begins(self, key: Any, thread: int, outer: Any) -> None:
        """A thread of this process begins a task."""
        try:
            given, task = self._given.get(key), self._tasks.get(key)
            if given is not None and task is not None:
                self._ledger.activity[thread] = (given[0], task, self._worker, perf_counter(), outer)
                self._ledger.threads[thread] = self._worker
                if outer is None:
                    self._ledger.busy(self._worker)
        except Exception as trouble:
            self._ledger.failed("begins", trouble)

    def _ran(
        self, key: Any, thread: int, start: float, stop: float, cpu: float, error: tuple[str, str] | None
    ) -> None:
        """A thread of this process has ended a task."""
        try:
            if self._ledger.sampler is not None:
                name = self._prefixes[self._tasks[key] - self._first]
                self._ledger.run_ended(self._given[key][0], start, stop, name, thread)
            if error is not None:
                self._raised(key, *error)
            # From here on `finish` may write it.
            self._ended[key] = self._worker, thread, start, stop, cpu, nan
            if self._finished:
                self._unused(key)
        except Exception as trouble:
            self._ledger.failed("ran", trouble)

    def reported(self, batch: Sequence[Arguments], report: Report) -> None:
        """Another process has ended a batch of tasks."""
        if self._ledger.ended:
            return
        try:
            worker, keys = f"process {report.pid}", [arguments[0] for arguments in batch]
            began = min((task.loading for task in report.tasks), default=inf)
            self._ledger.workers.add(worker, 1, pid=report.pid, since=began)
            runs = [self._given[key][0] for key in keys]
            if report.profile is not None:
                self._ledger.profile_of(report.pid, report.profile, dict(enumerate(runs, report.first)))
                self._ledger.lost({"lost_samples": report.lost})
            self._ledger.gaps.add(report.gap)
            self._ledger.collected(worker, [one._replace(run=runs[one.run]) for one in report.collections])
            for key, run, task in zip(keys, runs, report.tasks, strict=True):
                self._ledger.phases(run, task)
                if task.failed:
                    self._raised(key, task.exception, task.traceback)
                # From here on `finish` may write it.
                self._ended[key] = worker, task.thread, task.start, task.stop, task.cpu, task.rss
                if self._finished:
                    self._unused(key)
        except Exception as error:
            self._ledger.failed("reported", error)

    def lost(self, batch: Sequence[Arguments], error: BaseException) -> None:
        """Another process did not end a batch of tasks."""
        if self._ledger.ended:
            return
        try:
            now = perf_counter()
            killed, cancelled = isinstance(error, BrokenExecutor), isinstance(error, CancelledError)
            status = "killed" if killed else "cancelled" if cancelled else "erred"
            for key in (arguments[0] for arguments in batch):
                if not cancelled:
                    self._raised(key, *describe(error))
                self._write(key, status, now, nan, "", _NOWHERE)
        except Exception as trouble:
            self._ledger.failed("lost", trouble)

    def _raised(self, key: Any, exception: str, traceback: str) -> None:
        self._failed.add(key)
        if (given := self._given.get(key)) is not None:
            shown = shown_traceback(traceback, self._ledger.source)
            self._ledger.errors.add((given[0], self._tasks[key], exception, shown))

    def posttask(self, key: Any, result: Any, dsk: Any, state: Mapping[str, Any], worker: Any) -> None:
        """The scheduler has a task's result."""
        if self._ledger.ended:
            return
        try:
            now = self._done[key] = perf_counter()
            self._write(key, "ok", now, size_of(result), type_name(result))
            self._let_go(self._dependencies[key], state["cache"], now)
            if self._cache is not None:
                self._cache.came(key, result, self._dependencies[key], state["cache"], self._tasks[key], now)
        except Exception as error:
            self._ledger.failed("posttask", error)

    def _let_go(self, keys: Iterable[Any], results: Container[Any], now: float) -> None:
        """Note which of these tasks' results are held no more."""
        for key in keys:
            if key in self._done and key not in results:
                self._ledger.releases.add((self._tasks[key], now))

    def finish(self, dsk: Any, state: Any, failed: bool) -> None:
        """The computation has ended, or is given up; threads may still work on its tasks."""
        if self._ledger.ended:
            return
        try:
            self._finished = True
            if self._outer is not None:
                # While others computed for it, the task that asked only waited.
                self._ledger.waited(self._outer, self._submitted, perf_counter())
            for key in list(self._ended):
                self._unused(key)
            self._let_go(state.get("cache", ()), (), perf_counter())
            if self._cache is not None:
                self._cache.cleared(perf_counter())
            if self._worker:
                self._ledger.workers.finish(self._scheduler, self._worker)
            elif self._place == "processes" and not failed:
                self._ledger.workers.unused(self._threads, self._begun)
        except Exception as error:
            self._ledger.failed("finish", error)

    def _unused(self, key: Any) -> None:
        """A task has failed, or has ended when nobody wanted it any more."""
        self._write(key, "erred" if key in self._failed else "cancelled", nan, nan, "")

    def _write(
        self, key: Any, status: str, done: float, nbytes: float, typename: str, ended: _Ended | None = None
    ) -> None:
        """Only the first that takes it from `_given` writes a task: `finish` and threads may come at once."""
        if (given := self._given.pop(key, None)) is None:
            return
        run, assigned = given
        ended = self._ended.pop(key, ended) or (self._worker, 0, assigned, done, nan, nan)
        worker, thread, start, stop, cpu, rss = ended
        ready = submitted = self._submitted
        used = self._dependencies[key]
        if used:
            done_of = self._done.get
            ready = max([done_of(other, submitted) for other in used])
        if done != done:
            done = stop
        self._ledger.attempt(
            (
                *(run, self._tasks[key], worker, thread, status, done, stop, start),
                *(assigned, ready, submitted, nbytes, typename, cpu, rss),
            )
        )


def _runs(node: Any) -> bool:
    """Whether dask runs it, as it does where `cache` has its result; data it takes as it is."""
    return isinstance(node, GraphNode) and not isinstance(node, DataNode)


def _reason(packed: Any) -> tuple[str, str]:
    """Exception and traceback, as text, that dask's function gave back for a task that raised."""
    error = packed[0] if isinstance(packed, tuple) and packed else None
    return describe(error) if isinstance(error, BaseException) else ("", "")
