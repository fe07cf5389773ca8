"""Every attempt to run a task: scheduler's and worker's views joined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from operator import getitem
from typing import Any

import numpy as np

from ..batch import Symbols
from ..columns import forget, gather, taken_out
from ..lookup import Lookup, all_or, fill, fill_symbols, own, pick, sorted_set, sums, to_micros
from ..schema import NOTHING, SECEDED
from .field import Field

FIELDS = (
    Field("key", "", "Dask's key, as text."),
    Field("prefix", "", "Task name: Dask's prefix of the key."),
    Field("group", "", "Dask's task group."),
    Field("worker", "", "Worker it was given to; see `workers`. '' if none was chosen."),
    Field("thread", "", "Thread it ran on, within the worker."),
    Field("status", "", "ok, erred, retried, killed, cancelled, stolen, rescheduled or running."),
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
    Field("memory_change", "MiB", "Change of the worker process's memory while it ran."),
    Field("task", "", "Id of the task within the recording."),
    Field("run", "", "Id of the attempt within the recording."),
)

_DESCRIBED = ("key", "prefix", "group", "span", "submission", "priority", "order")
#: Columns that are called otherwise in ``executions``.
_AT_WORKER = {"inputs": "ready"}
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
        with ThreadPoolExecutor(2) as threads:
            attempts, executions, running, graph = threads.map(read, tables)
    else:
        attempts, executions, running, graph = map(read, tables)
    gather_for(attempts, executions, only)
    seen, rows = _all_runs(attempts, running)
    task = _tasks(attempts["task"], running, seen, rows)
    order = (np.lexsort((seen, task)) if _repeated(task) else np.argsort(task)).astype("i4")
    seen, rows, task = seen[order], rows[order], task[order]
    at_worker = Lookup(executions["run"]).rows(seen)
    at_start = Lookup(running["run"]).rows(seen)

    in_graph = Lookup(graph["task"]).rows(task)
    of_attempts = all_or(rows, len(attempts["run"]))
    of_executions = all_or(at_worker, len(executions["run"]))
    of_graph = all_or(in_graph, len(graph["task"]))

    some, take = (own, getitem) if only is None else (pick, taken_out)

    def column(name: str) -> Any:
        return some(take(attempts, name), of_attempts)

    def worker(name: str) -> Any:
        return some(take(executions, name), of_executions)

    def described(name: str) -> Any:
        return some(graph[name], of_graph)

    def where(name: str) -> Symbols:
        return _first(column(name), worker(name), pick(running[name], at_start))

    @cache
    def start() -> Any:
        return fill(fill(worker("start"), column("start")), pick(running["start"], at_start))

    @cache
    def stop() -> Any:
        return fill(worker("stop"), column("stop"))

    @cache
    def status() -> Symbols:
        return _status(column("status"), worker("status"), rows, at_worker)

    ready, assigned, done = (cache(partial(column, name)) for name in ("ready", "assigned", "done"))
    received, inputs, executing = (
        cache(partial(worker, name)) for name in ("received", "ready", "executing")
    )
    columns: dict[str, Callable[[], Any]] = {
        **{name: partial(described, name) for name in _DESCRIBED},
        "worker": lambda: where("worker"),
        "thread": lambda: where("thread"),
        "status": status,
        "attempt": lambda: attempt_numbers(task),
        "start": start,
        "stop": stop,
        "duration": lambda: to_micros(stop() - start()),
        "seceded": lambda: _seceded(read("phases"), seen, stop() - start()),
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
        "in_memory": lambda: np.where(_is_ok(status()), done(), np.nan),
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


def attempt_numbers(task: np.ndarray) -> np.ndarray:
    """1 for the first row of each task, 2 for the second …; `task` is sorted."""
    first = np.ones(len(task), bool)
    first[1:] = task[1:] != task[:-1]
    if first.all():
        return np.ones(len(task), "u4")
    begins = np.maximum.accumulate(np.where(first, np.arange(len(task)), 0))
    return (np.arange(len(task)) - begins + 1).astype("u4")


def _is_ok(status: Symbols) -> np.ndarray:
    return (
        status.codes == status.names.index("ok")
        if "ok" in status.names
        else np.zeros(len(status.codes), bool)
    )


def _repeated(task: np.ndarray) -> bool:
    ordered = np.sort(task)
    return bool((ordered[1:] == ordered[:-1]).any())


def _all_runs(attempts: Mapping[str, Any], running: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Every run whose task is known, once, and its row in `attempts` (-1 if it has none)."""
    ended, begun = attempts["run"], running["run"]
    more = sorted_set(begun[Lookup(ended).rows(begun) < 0])
    rows = np.arange(len(ended), dtype="i4")
    return np.concatenate((ended, more)), np.concatenate((rows, np.full(len(more), -1, "i4")))


def _tasks(ended: Any, running: Mapping[str, Any], seen: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The task of each run, `NOTHING` where no table tells."""
    begun = Lookup(running["run"]).rows(seen)
    told = np.where(begun >= 0, pick(running["task"], begun), NOTHING)
    return np.where(rows >= 0, pick(ended, rows), told).astype("u4")


def _seceded(phases: Mapping[str, Any], seen: np.ndarray, duration: np.ndarray) -> np.ndarray:
    """Seconds for which each run was without a thread of its worker."""
    action: Symbols = phases["action"]
    mine = np.flatnonzero(np.array([name == SECEDED for name in action.names] or [False])[action.codes])
    row = Lookup(seen).rows(phases["run"][mine])
    length = np.nan_to_num(phases["stop"][mine] - phases["start"][mine])
    seconds = sums(row[row >= 0], np.maximum(length, 0.0)[row >= 0], len(seen))
    given: np.ndarray = np.fmin(to_micros(seconds), np.fmax(duration, 0.0))
    return given


def _status(ended: Symbols, worker: Symbols, rows: np.ndarray, at_worker: np.ndarray) -> Symbols:
    if (rows >= 0).all():
        return ended
    names = [_STATUS.get(name, name) for name in worker.names]
    told = fill_symbols(
        Symbols(np.where(at_worker >= 0, 1, 0).astype("u4"), ["running", ""]), Symbols(worker.codes, names)
    )
    return fill_symbols(ended, told)


def _first(*columns: Symbols) -> Symbols:
    result = columns[0]
    for column in columns[1:]:
        result = fill_symbols(result, column)
    return result
