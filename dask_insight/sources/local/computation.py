"""One computation of a local scheduler, from what dask calls back to rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import nan
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

from dask.sizeof import sizeof

from ...probe.measured import Arguments, Measured, Report
from .cache import Cache
from .names import group_of, key_text, prefix_of
from .origin import Origin
from .pools import Place

if TYPE_CHECKING:
    from .ledger import Ledger

P = ParamSpec("P")


def _guarded(
    method: Callable[Concatenate[Computation, P], None],
) -> Callable[Concatenate[Computation, P], None]:
    """Never let an error of ours reach the computation; nothing after the source has stopped."""

    @wraps(method)
    def guarded(self: Computation, *args: P.args, **kwargs: P.kwargs) -> None:
        if self._ledger.closed:
            return
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            self._ledger.failed(method.__name__, error)

    return cast("Callable[Concatenate[Computation, P], None]", guarded)


class Computation:
    """Follows one call of a local scheduler."""

    def __init__(self, ledger: Ledger, scheduler: str, place: Place, threads: int, origin: Origin) -> None:
        self._ledger = ledger
        self._scheduler = scheduler
        self._place = place
        self._origin = origin
        self._submission = next(ledger.submissions)
        self._worker = scheduler if place != "processes" else ""
        self._began = perf_counter()
        self._submitted = nan
        self._finished = False
        self._tasks: dict[Any, int] = {}
        self._dependencies: Mapping[Any, Any] = {}
        self._done: dict[Any, float] = {}
        self._runs: dict[Any, int] = {}
        self._assigned: dict[Any, float] = {}
        self._measured: dict[Any, tuple[str, Measured]] = {}
        self._cache: Cache | None = None
        if place != "processes":
            ledger.worker(self._worker, threads)

    @property
    def callbacks(self) -> tuple[Callable[..., None], ...]:
        """The five functions that dask calls."""
        return (self.start, self.start_state, self.pretask, self.posttask, self.finish)

    @_guarded
    def start(self, dsk: Any) -> None:
        self._began = perf_counter()

    @_guarded
    def start_state(self, dsk: Mapping[Any, Any], state: Mapping[str, Any]) -> None:
        ledger = self._ledger
        self._submitted = now = perf_counter()
        self._dependencies = dependencies = state["dependencies"]
        cache = state["cache"]
        keys = [key for key in dependencies if key not in cache and key in dsk]
        first = ledger.reserve_tasks(len(keys))
        tasks = self._tasks = dict(zip(keys, range(first, first + len(keys)), strict=True))
        prefixes = [prefix_of(key, dsk[key]) for key in keys]
        ledger.put(
            "graph",
            task=list(tasks.values()),
            key=[key_text(key) for key in keys],
            prefix=prefixes,
            group=[group_of(key, prefix) for key, prefix in zip(keys, prefixes, strict=True)],
            submission=[self._submission] * len(keys),
        )
        edges = [(tasks[key], tasks[other]) for key in keys for other in dependencies[key] if other in tasks]
        if edges:
            task, dependency = zip(*edges, strict=True)
            ledger.put("edges", task=task, dependency=dependency)
        origin = self._origin
        ledger.submitted.add(
            (
                self._submission,
                ledger.epoch(now),
                len(keys),
                self._scheduler,
                origin.file,
                origin.line,
                origin.function,
                origin.code,
            )
        )
        self._cache = Cache(ledger.held, self._scheduler, cache, ledger.epoch(now))

    @_guarded
    def pretask(self, key: Any, dsk: Any, state: Any) -> None:
        self._runs[key] = next(self._ledger.runs)
        self._assigned[key] = perf_counter()

    @_guarded
    def began(self, key: Any, thread: int) -> None:
        self._ledger.activity.began(thread, self._runs[key], self._tasks[key], self._worker, perf_counter())

    @_guarded
    def ended(self, key: Any, measured: Measured) -> None:
        self._ledger.activity.ended(measured.thread)
        self._take(key, self._worker, measured)

    @_guarded
    def reported(self, batch: Sequence[Arguments], report: Report) -> None:
        worker = f"process {report.pid}"
        self._ledger.worker(worker, 1, pid=report.pid)
        keys = [arguments[0] for arguments in batch]
        if report.profile is not None:
            self._ledger.profile(worker, report.profile, [self._runs[key] for key in keys])
        for key, measured in zip(keys, report.tasks, strict=True):
            self._take(key, worker, measured)

    def _take(self, key: Any, worker: str, measured: Measured) -> None:
        self._measured[key] = worker, measured
        if measured.failed:
            self._ledger.errors.add(
                (self._runs[key], self._tasks[key], measured.exception, measured.traceback)
            )
        if self._finished:
            self._write(key, "erred" if measured.failed else "cancelled")

    @_guarded
    def posttask(self, key: Any, result: Any, dsk: Any, state: Mapping[str, Any], worker: Any) -> None:
        now = self._done[key] = perf_counter()
        self._write(key, "ok", now, _size(result), self._ledger.type_name(result))
        if self._cache is not None:
            time = self._ledger.epoch(now)
            self._cache.came(key, result, self._tasks[key], time)
            self._cache.went(self._dependencies[key], state["cache"], self._tasks, time)

    @_guarded
    def finish(self, dsk: Any, state: Any, failed: bool) -> None:
        self._finished = True
        for key, (_, measured) in list(self._measured.items()):
            self._write(key, "erred" if measured.failed else "cancelled")
        if self._cache is not None:
            self._cache.cleared(self._ledger.epoch(perf_counter()))

    def _write(
        self, key: Any, status: str, done: float = nan, nbytes: float = nan, typename: str = ""
    ) -> None:
        ledger = self._ledger
        assigned = self._assigned.pop(key)
        found = self._measured.pop(key, None)
        worker, measured = found or (self._worker, Measured(assigned, done, nan, 0))
        run, task, epoch = self._runs.pop(key), self._tasks[key], ledger.anchor
        done_of = self._done
        ready = max(
            [done_of.get(other, self._submitted) for other in self._dependencies[key]],
            default=self._submitted,
        )
        ledger.attempts.add(
            (
                run,
                task,
                worker,
                str(measured.thread) if found else "",
                status,
                epoch + (measured.stop if done != done else done),
                epoch + measured.stop,
                epoch + measured.start,
                epoch + assigned,
                epoch + ready,
                epoch + self._submitted,
                nbytes,
                typename,
            )
        )
        if found:
            ledger.execution(run, worker, measured)


def _size(result: Any) -> float:
    try:
        return float(sizeof(result))
    except Exception:
        return nan
