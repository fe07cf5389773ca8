"""Where a local scheduler runs its tasks, and how they are measured there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import partial, update_wrapper
from multiprocessing.pool import Pool, ThreadPool
from threading import current_thread
from typing import Any, Literal, Protocol

from dask.local import MultiprocessingPoolExecutor, SynchronousExecutor

from ...probe.measured import Arguments, Report, Run, measurable, run_batch

#: In this process, in others, or somewhere that cannot be told.
Place = Literal["here", "processes", "unknown"]
Submit = Callable[..., "Future[Any]"]


class Watcher(Protocol):
    """Is told what becomes of each task; see `Computation`."""

    def run(self, run: Run, batch: Sequence[Arguments]) -> list[Any]:
        """Run a batch of tasks in this thread, with dask's function `run`."""

    def reported(self, batch: Sequence[Arguments], report: Report) -> None:
        """Another process has ended a batch of tasks."""

    def lost(self, batch: Sequence[Arguments], error: BaseException) -> None:
        """Another process did not end a batch of tasks, because of its own end or as it never began."""


def place_of(submit: Submit) -> Place:
    """Where tasks will run that are handed to an executor's `submit`."""
    pool = getattr(submit, "__self__", None)
    if isinstance(pool, MultiprocessingPoolExecutor):
        pool = pool.pool
    kinds = {base.__name__ for base in type(pool).__mro__}
    if "InterpreterPoolExecutor" in kinds:
        # One of threads, whose tasks are pickled all the same.
        return "unknown"
    if isinstance(pool, ThreadPoolExecutor | SynchronousExecutor | ThreadPool):
        return "here"
    # By name, as loky has one of its own, which no standard class is the base of.
    elsewhere = "ProcessPoolExecutor" in kinds or isinstance(pool, Pool)
    return "processes" if elsewhere and measurable() else "unknown"


def is_shared(submit: Submit) -> bool:
    """Whether a computation runs on the thread that asks an executor for it, or on others beside that one."""
    pool = getattr(submit, "__self__", None)
    own = isinstance(pool, ThreadPoolExecutor) and current_thread() in pool._threads
    return own or isinstance(pool, SynchronousExecutor)


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
        return partial(_run_here, submit, watchers)
    if place == "processes":
        return partial(_run_there, submit, watchers, profile)
    return submit


def _run_here(
    submit: Submit, watchers: Sequence[Watcher], run: Run, batch: Sequence[Arguments]
) -> Future[Any]:
    watched = run
    for watcher in watchers:
        watched = partial(watcher.run, watched)
    # A pool of somebody's own may look at what it is given.
    return submit(update_wrapper(watched, run), batch)


def _run_there(
    submit: Submit,
    watchers: Sequence[Watcher],
    profile: tuple[float, float] | None,
    run: Run,
    batch: Sequence[Arguments],
) -> Future[Any]:
    outer: Future[Any] = Future()

    def relay(inner: Future[Any]) -> None:
        error = CancelledError() if inner.cancelled() else inner.exception()
        if error is not None:
            for watcher in watchers:
                watcher.lost(batch, error)
            if inner.cancelled():
                outer.cancel()
            else:
                outer.set_exception(error)
            return
        results, report = inner.result()
        for watcher in watchers:
            watcher.reported(batch, report)
        outer.set_result(results)

    submit(run_batch, run, profile, batch).add_done_callback(relay)
    return outer
