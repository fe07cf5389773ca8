"""Where a local scheduler runs its tasks, and how they are measured there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing.pool import Pool, ThreadPool
from time import perf_counter, thread_time
from typing import Any, Literal, Protocol

from dask.local import MultiprocessingPoolExecutor, SynchronousExecutor

from ...probe.measured import Arguments, Measured, Report, Run, describe, run_batch

#: In this process, in others, or somewhere that cannot be told.
Place = Literal["here", "processes", "unknown"]
Submit = Callable[..., "Future[Any]"]


class Watcher(Protocol):
    """Is told what became of each task; see `Computation`."""

    def began(self, key: Any, thread: int) -> None:
        """A thread of this process begins with a task."""

    def ended(self, key: Any, measured: Measured) -> None:
        """It has ended."""

    def reported(self, batch: Sequence[Arguments], report: Report) -> None:
        """Another process has ended a batch of tasks."""


def place_of(submit: Submit) -> Place:
    """Where tasks will run that are handed to an executor's `submit`."""
    pool = getattr(submit, "__self__", None)
    if isinstance(pool, MultiprocessingPoolExecutor):
        pool = pool.pool
    if isinstance(pool, ThreadPoolExecutor | SynchronousExecutor | ThreadPool):
        return "here"
    return "processes" if isinstance(pool, ProcessPoolExecutor | Pool) else "unknown"


def scheduler_of(submit: Submit, place: Place) -> str:
    """Name of the scheduler for the recording: threads, sync, processes or local."""
    if place == "here":
        return "sync" if isinstance(getattr(submit, "__self__", None), SynchronousExecutor) else "threads"
    return "processes" if place == "processes" else "local"


def measuring(
    submit: Submit, place: Place, watchers: Sequence[Watcher], profile: tuple[float, float] | None
) -> Submit:
    """A `submit` that does the same and tells the watchers."""
    if place == "here":
        return lambda run, batch: submit(partial(_run_here, run, watchers), batch)
    if place == "processes":
        return partial(_run_there, submit, watchers, profile)
    return submit


def _run_here(run: Run, watchers: Sequence[Watcher], batch: Sequence[Arguments]) -> list[Any]:
    results: list[Any] = []
    thread = threading.get_ident()
    for arguments in batch:
        key = arguments[0]
        for watcher in watchers:
            watcher.began(key, thread)
        failed, exception, traceback = True, "", ""
        cpu, start = thread_time(), perf_counter()
        try:
            result = run([arguments])
            stop, cpu = perf_counter(), thread_time() - cpu
            if failed := result[0][2]:
                exception, traceback = _reason(result[0][1])
            results += result
        except BaseException as error:
            stop, cpu = perf_counter(), thread_time() - cpu
            exception, traceback = describe(error, below=1)
            raise
        finally:
            measured = Measured(start, stop, cpu, thread, failed, exception, traceback)
            for watcher in watchers:
                watcher.ended(key, measured)
    return results


def _reason(packed: Any) -> tuple[str, str]:
    error = packed[0] if isinstance(packed, tuple) and packed else None
    return describe(error) if isinstance(error, BaseException) else ("", "")


def _run_there(
    submit: Submit,
    watchers: Sequence[Watcher],
    profile: tuple[float, float] | None,
    run: Run,
    batch: Sequence[Arguments],
) -> Future[Any]:
    outer: Future[Any] = Future()

    def relay(inner: Future[Any]) -> None:
        error = inner.exception()
        if error is not None:
            outer.set_exception(error)
            return
        results, report = inner.result()
        for watcher in watchers:
            watcher.reported(batch, report)
        outer.set_result(results)

    submit(run_batch, run, profile, batch).add_done_callback(relay)
    return outer
