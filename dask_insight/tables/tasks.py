"""Every attempt to run a task: scheduler's and worker's views joined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from operator import getitem
from typing import Any

import numpy as np

from ..batch import Symbols
from ..columns import forget, gather, taken_out
from ..lookup import Lookup, all_or, fill, fill_symbols, is_any, own, pick, sorted_set, sums, to_micros
from ..schema import NOTHING, SECEDED
from ..threads import at_once
from .facts import is_foreign
from .field import Field

FIELDS = (
    Field("key", "", "Dask's key, as text."),
    Field("prefix", "", "Task name: Dask's prefix of the key."),
    Field("group", "", "Dask's task group."),
    Field("worker", "", "Worker it was given to; see `workers`. '' if none was chosen."),
    Field("thread", "", "Thread it ran on, within the worker."),
    Field("status", "", "ok, erred, retried, killed, cancelled, stolen, rescheduled, waiting or running."),
    Field("attempt", "", "1 for the first attempt at the task, 2 for the next …"),
    Field("start", "time", "When its function was called."),
    Field("stop", "time", "When its function returned or raised."),
    Field("duration", "s", "stop - start."),
    Field(
        "seceded",
        "s",
        "For how long of it its thread was given back: by secede, worker_client, or computing within.",
    ),
    Field("cpu", "s", "CPU time its thread used."),
    Field("nbytes", "bytes", "Size of the result; NaN if there is none."),
    Field("typename", "", "Type of the result."),
    Field("span", "", "Id of the innermost span; see `spans`."),
    Field(
        "submission",
        "",
        "The submission that brought the task; see `submissions`. 4294967295 if it was there before the "
        "recording began, or that is unknown.",
    ),
    Field("priority", "", "Priority given by the user; larger runs first."),
    Field("order", "", "Rank given by dask.order within the submission; 4294967295 if unknown."),
    Field("submitted", "time", "When the scheduler first wanted it."),
    Field("ready", "time", "When its last input was in memory somewhere."),
    Field("queued", "time", "When it went into the scheduler's queue; NaN if it did not."),
    Field("assigned", "time", "When the scheduler sent it to the worker."),
    Field("received", "time", "When the worker had the request."),
    Field("inputs", "time", "When the worker had all its inputs."),
    Field("executing", "time", "When it was given a thread."),
    Field("in_memory", "time", "When the scheduler knew its result to be in memory; NaN if it has none."),
    Field("done", "time", "When the scheduler knew that the attempt had ended."),
    Field("queue_wait", "s", "From ready to assigned."),
    Field("data_wait", "s", "From received to inputs."),
    Field("thread_wait", "s", "From inputs to executing."),
    Field(
        "memory_change", "MiB", "Change of the worker process's memory while it ran; `bottlenecks` has bytes."
    ),
    Field("task", "", "Id of the task within the recording."),
    Field("run", "", "Id of the attempt within the recording."),
)

_DESCRIBED = ("key", "prefix", "group", "span", "submission", "priority", "order")
#: Columns that are called otherwise in ``executions``.
_AT_WORKER = {"inputs": "ready"}
#: How attempts end that failed; others without a result were not wanted any more, or sent elsewhere.
FAILED = ("erred", "retried", "killed")
_STATUS = {"memory": "ok", "error": "erred", "released": "cancelled"}


def make(read: Callable[[str], Mapping[str, Any]], only: Collection[str] | None = None) -> dict[str, Any]:
    """Join the attempts with their tasks and with what their workers saw.

    In the order of the tasks' ids, which is that of their graphs, and of the
    attempts at each. Those that still run are there too. What a worker tells
    of attempts that ended before the recording began is left out.

    Parameters
    ----------
    read
        Gives the columns of a table of the schema, times in seconds since the epoch.
    only
        Columns that are wanted; by default all, and their arrays are the caller's to change.
    """
    tables = ("attempts", "executions", "running", "graph")
    if only is None:
        attempts, executions, running, graph = at_once(read, tables, 2)
    else:
        attempts, executions, running, graph = map(read, tables)
    gather_for(attempts, executions, only)
    if only is not None:
        gather(graph, {"task", *only} & {"task", *_DESCRIBED})
    some = own if only is None else pick
    take: Callable[[Mapping[str, Any], str], Any] = getitem if only is None else taken_out
    seen, of_attempts, task = _in_order(take(attempts, "run"), take(attempts, "task"), running)
    of_executions = _rows(take(executions, "run"), seen)
    of_graph = _rows(take(graph, "task"), task)
    begun = Lookup(running["run"]).rows(seen) if len(running["run"]) else None

    def of_scheduler(name: str) -> Callable[[], Any]:
        return partial(some, take(attempts, name), of_attempts)

    def of_worker(name: str) -> Callable[[], Any]:
        return partial(some, take(executions, name), of_executions)

    def at_start(name: str) -> tuple[Callable[[], Any], ...]:
        return () if begun is None else (partial(pick, running[name], begun),)

    def column(name: str) -> Any:
        return of_scheduler(name)()

    def worker(name: str) -> Any:
        return of_worker(name)()

    def described(name: str) -> Any:
        return some(graph[name], of_graph)

    def where(name: str) -> Symbols:
        return _first(column(name), of_worker(name), *at_start(name))

    @cache
    def start() -> Any:
        return _filled(worker("start"), of_scheduler("start"), *at_start("start"))

    @cache
    def stop() -> Any:
        return _filled(worker("stop"), of_scheduler("stop"))

    @cache
    def status() -> Symbols:
        return _status(column("status"), of_worker("status"), of_attempts, of_executions)

    ready, assigned, done = (cache(partial(column, name)) for name in ("ready", "assigned", "done"))
    received, inputs, executing = (
        cache(partial(worker, name)) for name in ("received", "ready", "executing")
    )
    columns: dict[str, Callable[[], Any]] = {
        **{name: partial(described, name) for name in _DESCRIBED},
        "submission": lambda: _submissions(read, described("submission")),
        "order": lambda: _ranks(read, described("order")),
        "worker": lambda: where("worker"),
        "thread": lambda: where("thread"),
        "status": status,
        "attempt": lambda: attempt_numbers(task),
        "start": start,
        "stop": stop,
        "duration": lambda: to_micros(stop() - start()),
        "seceded": lambda: _seceded(read("phases"), seen, lambda: stop() - start()),
        "cpu": lambda: worker("cpu"),
        "nbytes": lambda: column("nbytes"),
        "typename": lambda: column("typename"),
        "submitted": lambda: column("submitted"),
        "ready": ready,
        "queued": lambda: np.where(column("queued") > 0, ready(), np.nan),
        "assigned": assigned,
        "received": received,
        "inputs": inputs,
        "executing": executing,
        "in_memory": lambda: np.where(is_any(status(), ("ok",)), done(), np.nan),
        "done": done,
        "queue_wait": lambda: to_micros(assigned() - ready()),
        "data_wait": lambda: to_micros(inputs() - received()),
        "thread_wait": lambda: to_micros(executing() - inputs()),
        "memory_change": lambda: worker("rss"),
        "task": lambda: task,
        "run": lambda: seen,
    }
    made = {name: make() for name, make in columns.items() if only is None or name in only}
    if only is not None:
        forget(attempts)
        forget(executions)
    return made


def gather_for(
    attempts: Mapping[str, Any], executions: Mapping[str, Any], only: Collection[str] | None
) -> None:
    """Put the columns of these tables together that `make` needs."""
    wanted = attempts.keys() if only is None else {"run", "task", *only}
    gather(attempts, wanted & attempts.keys())
    told = executions.keys() if only is None else {"run", *(_AT_WORKER.get(name, name) for name in only)}
    gather(executions, told & executions.keys())


def _submissions(read: Callable[[str], Mapping[str, Any]], told: np.ndarray) -> np.ndarray:
    """What brought each task; files of other tools need not tell."""
    if not is_foreign(read("about")):
        return told
    known = Lookup(read("submissions")["submission"]).rows(told) >= 0
    return np.where(known, told, np.uint32(NOTHING))


def _ranks(read: Callable[[str], Mapping[str, Any]], told: np.ndarray) -> np.ndarray:
    """Ranks by dask.order, of which files of other tools tell none."""
    return np.full_like(told, NOTHING) if is_foreign(read("about")) else told


def attempt_numbers(task: np.ndarray) -> np.ndarray:
    """1 for the first row of each task, 2 for the second …; `task` is sorted."""
    first = np.ones(len(task), bool)
    first[1:] = task[1:] != task[:-1]
    if first.all():
        return np.ones(len(task), "u4")
    begins = np.maximum.accumulate(np.where(first, np.arange(len(task)), 0))
    return (np.arange(len(task)) - begins + 1).astype("u4")


def _in_order(
    run: np.ndarray, task: np.ndarray, running: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Every run, once, its row in `attempts`, as `_rows` gives it, and its task; by task, then by run."""
    count = len(run)
    more = running["run"]
    if len(more):
        more = sorted_set(more[Lookup(run).rows(more) < 0])
    if len(more):
        run = np.concatenate((run, more))
        begun = Lookup(running["run"]).rows(more)
        told = np.where(begun >= 0, pick(running["task"], begun), NOTHING)
        task = np.concatenate((task, told.astype("u4")))
    order = Lookup(task).order
    if order is None:
        order = np.lexsort((run, task)).astype("i4")
    run, task = run[order], task[order]
    order[order >= count] = -1
    return run, all_or(order, count), task


def _rows(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """Row of each wanted id, -1 where there is none; None if these are all rows in their order."""
    return all_or(Lookup(ids).rows(wanted), len(ids))


def _seceded(phases: Mapping[str, Any], seen: np.ndarray, duration: Callable[[], np.ndarray]) -> np.ndarray:
    """Seconds for which each run was without a thread of its worker."""
    action: Symbols = phases["action"]
    mine = np.flatnonzero(is_any(action, (SECEDED,)))
    if not len(mine):
        return np.zeros(len(seen))
    row = Lookup(seen).rows(phases["run"][mine])
    length = np.nan_to_num(phases["stop"][mine] - phases["start"][mine])
    seconds = sums(row[row >= 0], np.maximum(length, 0.0)[row >= 0], len(seen))
    # Of one that has not ended nobody knows how long it takes.
    given: np.ndarray = np.fmin(to_micros(seconds), np.maximum(duration(), 0.0))
    return given


def _status(
    ended: Symbols, of_worker: Callable[[], Symbols], rows: np.ndarray | None, at_worker: np.ndarray | None
) -> Symbols:
    if rows is None or (rows >= 0).all():
        return ended
    worker = of_worker()
    names = [_STATUS.get(name, name) for name in worker.names]
    there = np.ones(len(rows), "u4") if at_worker is None else (at_worker >= 0).astype("u4")
    return fill_symbols(ended, fill_symbols(Symbols(there, ["running", ""]), Symbols(worker.codes, names)))


def _first(texts: Symbols, *others: Callable[[], Symbols]) -> Symbols:
    """Texts, those that others tell where they are ''."""
    for other in others:
        if "" in texts.names:
            texts = fill_symbols(texts, other())
    return texts


def _filled(values: np.ndarray, *others: Callable[[], np.ndarray]) -> np.ndarray:
    """Values, those that others tell where they are missing."""
    for other in others:
        if np.isnan(values).any():
            values = fill(values, other())
    return values
