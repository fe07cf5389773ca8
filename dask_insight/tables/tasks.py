"""Every attempt to run a task: scheduler's and worker's views joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..batch import Symbols
from ..columns import Columns
from ..schema import NOTHING
from .field import Field
from .lookup import Lookup, fill, fill_symbols, pick

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
    Field("cpu", "s", "CPU time its thread used."),
    Field("nbytes", "bytes", "Size of the result; NaN if there is none."),
    Field("typename", "", "Type of the result."),
    Field("span", "", "Id of the innermost span; see `spans`."),
    Field("submission", "", "The submission that brought the task; see `submissions`."),
    Field("priority", "", "Priority given by the user; larger runs first."),
    Field("order", "", "Rank given by dask.order within the submission."),
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

_STATUS = {"memory": "ok", "error": "erred", "released": "cancelled"}


def make(read: Callable[[str], Columns]) -> Mapping[str, Any]:
    """Join the attempts with their tasks and with what their workers saw.

    Attempts that ended are there once; those that only a worker has told of,
    and those that still run, come after them.
    """
    attempts, executions, running, graph = map(read, ("attempts", "executions", "running", "graph"))
    seen, rows = _all_runs(attempts, executions, running)
    at_worker = Lookup(executions["run"]).rows(seen)
    at_start = Lookup(running["run"]).rows(seen) if len(running["run"]) else np.full(len(seen), -1)

    def column(name: str) -> Any:
        return pick(attempts[name], rows)

    def worker(name: str) -> Any:
        return pick(executions[name], at_worker)

    task = _tasks(attempts["task"], running["task"], rows, at_start)
    in_graph = Lookup(graph["task"]).rows(task)
    start = fill(fill(column("start"), worker("start")), pick(running["start"], at_start))
    stop = fill(column("stop"), worker("stop"))
    status = _status(column("status"), worker("status"), rows, at_worker)
    described = {
        name: pick(graph[name], in_graph)
        for name in ("key", "prefix", "group", "span", "submission", "priority", "order")
    }
    ready, assigned, done = column("ready"), column("assigned"), column("done")
    received, inputs, executing = worker("received"), worker("ready"), worker("executing")
    ok = status.codes == status.names.index("ok") if "ok" in status.names else np.zeros(len(seen), bool)
    return {
        **described,
        "worker": _first(column("worker"), worker("worker"), pick(running["worker"], at_start)),
        "thread": _first(column("thread"), worker("thread"), pick(running["thread"], at_start)),
        "status": status,
        "attempt": attempt_numbers(task, seen),
        "start": start,
        "stop": stop,
        "duration": np.round(stop - start, 6),
        "cpu": worker("cpu"),
        "nbytes": column("nbytes"),
        "typename": column("typename"),
        "submitted": column("submitted"),
        "ready": ready,
        "queued": np.where(column("queued") > 0, ready, np.nan),
        "assigned": assigned,
        "received": received,
        "inputs": inputs,
        "executing": executing,
        "in_memory": np.where(ok, done, np.nan),
        "done": done,
        "queue_wait": np.round(assigned - ready, 6),
        "data_wait": np.round(inputs - received, 6),
        "thread_wait": np.round(executing - inputs, 6),
        "memory_change": worker("rss"),
        "task": task,
        "run": seen,
    }


def attempt_numbers(task: np.ndarray, run: np.ndarray) -> np.ndarray:
    """1 for the first run of each task, 2 for the second …"""
    ordered = np.sort(task)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.ones(len(task), "u4")
    order = np.lexsort((run, task))
    sorted_tasks = task[order]
    first = np.concatenate(([True], sorted_tasks[1:] != sorted_tasks[:-1]))
    begins = np.maximum.accumulate(np.where(first, np.arange(len(task)), 0))
    numbers = np.empty(len(task), "u4")
    numbers[order] = np.arange(len(task)) - begins + 1
    return numbers


def _all_runs(attempts: Columns, executions: Columns, running: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Every run, once, and its row in `attempts` (-1 if it has none)."""
    runs: Any = attempts["run"]
    rows = np.arange(len(runs))
    for more in (executions["run"], running["run"]):
        if len(more) and (unknown := more[Lookup(runs).rows(more) < 0]).size:
            unknown = np.unique(unknown)
            runs = np.concatenate((runs, unknown))
            rows = np.concatenate((rows, np.full(len(unknown), -1)))
    return runs, rows


def _tasks(ended: Any, begun: Any, rows: np.ndarray, at_start: np.ndarray) -> np.ndarray:
    if not len(rows) or rows[-1] >= 0:
        return pick(ended, rows)
    known = np.where(at_start >= 0, pick(begun, at_start), NOTHING)
    return np.where(rows >= 0, pick(ended, rows), known).astype("u4")


def _status(ended: Symbols, worker: Symbols, rows: np.ndarray, at_worker: np.ndarray) -> Symbols:
    if not len(rows) or rows[-1] >= 0:
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
