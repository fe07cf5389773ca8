"""Recordings of graphs that were run on paper: on given workers, at no cost but what is asked for."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

START = 1_750_000_000.0


class Task(NamedTuple):
    """A task: its name, its seconds, numbers of those that it needs, and more that may matter."""

    prefix: str
    seconds: float
    needs: Sequence[int] = ()
    nbytes: float = 8.0
    submission: int = 0


def ran(
    tasks: Sequence[Task],
    threads: Sequence[int] = (1,),
    *,
    pauses: Sequence[float] = (),
    message: float = 0.0,
    **tables: Mapping[str, Any],
) -> Recording:
    """Run tasks in their order, each on the thread that is free first, and record it.

    Parameters
    ----------
    threads
        Threads of each worker.
    pauses
        Seconds from the end of all that was submitted until the next submission.
    message
        Seconds of each message between scheduler and worker.
    tables
        More rows by table.
    """
    lanes = [(0.0, worker, thread) for worker, count in enumerate(threads) for thread in range(count)]
    heapq.heapify(lanes)
    rows: list[dict[str, Any]] = []
    submitted = {0: 0.0}
    for number, task in enumerate(tasks):
        if task.submission not in submitted:
            ended = max(row["done"] for row in rows)
            submitted[task.submission] = ended + pauses[task.submission - 1]
        came = submitted[task.submission]
        ready = max([came, *(rows[each]["done"] for each in task.needs)])
        free, worker, thread = heapq.heappop(lanes)
        start = max(ready + message, free)
        stop = start + task.seconds
        heapq.heappush(lanes, (stop, worker, thread))
        rows.append(
            {
                "run": number,
                "task": number,
                "worker": f"w{worker}",
                "thread": str(thread),
                "status": "ok",
                "submitted": came,
                "ready": ready,
                "assigned": ready,
                "received": ready + message,
                "executing": start,
                "start": start,
                "stop": stop,
                "done": stop + message,
                "nbytes": task.nbytes,
            }
        )
    return _recording(tasks, threads, rows, submitted, tables)


def seen(count: int, *lines: str, file: str = "/here/work.py", function: str = "work") -> dict[str, Any]:
    """Tables of call stacks of so many attempts, a second each in each of these lines."""
    shape = count * len(lines)
    number = list(range(len(lines)))
    at = {"file": [file] * len(lines), "line": [10 + each for each in number]}
    return {
        "stacks": {
            **at,
            "stack": number,
            "parent": [NOTHING] * len(lines),
            "function": [function] * len(lines),
        },
        "samples": {
            **{"process": ["w0"] * shape, "thread": ["0"] * shape, "time": [START] * shape},
            **{"duration": [1.0] * shape, "stack": number * count},
            "run": [each for each in range(count) for _ in lines],
        },
        "lines": {**at, "text": list(lines)},
    }


def _recording(
    tasks: Sequence[Task],
    threads: Sequence[int],
    rows: Sequence[Mapping[str, Any]],
    submitted: Mapping[int, float],
    more: Mapping[str, Mapping[str, Any]],
) -> Recording:
    moments = ("submitted", "ready", "assigned", "start", "stop", "done")
    plain = ("run", "task", "worker", "thread", "status", "nbytes")
    names = [f"w{worker}" for worker in range(len(threads))]
    tables: dict[str, Any] = {
        "graph": {
            "task": range(len(tasks)),
            "key": [f"{task.prefix}-{number}" for number, task in enumerate(tasks)],
            "prefix": [task.prefix for task in tasks],
            "group": [f"{task.prefix}-{task.submission}" for task in tasks],
            "submission": [task.submission for task in tasks],
            "priority": [0.0] * len(tasks),
            "order": range(len(tasks)),
        },
        "edges": {
            "task": [number for number, task in enumerate(tasks) for _ in task.needs],
            "dependency": [each for task in tasks for each in task.needs],
        },
        "attempts": {name: [row[name] for row in rows] for name in plain}
        | {name: [START + row[name] for row in rows] for name in moments},
        "executions": {
            "run": [row["run"] for row in rows],
            "worker": [row["worker"] for row in rows],
            "status": ["memory"] * len(rows),
            "ended": [START + row["stop"] for row in rows],
            "executing": [START + row["executing"] for row in rows],
            "ready": [START + row["received"] for row in rows],
            "received": [START + row["received"] for row in rows],
        },
        "workers": {
            "worker": names,
            "threads": list(threads),
            "joined": [START - 1] * len(names),
            "left": [np.nan] * len(names),
        },
        "submissions": {
            "submission": list(submitted),
            "time": [START + moment for moment in submitted.values()],
        },
        **more,
    }
    recording = Recording()
    for name, columns in tables.items():
        if len(next(iter(columns.values()))):
            recording.append(encode(name, {each: list(values) for each, values in columns.items()}))
    return recording


@st.composite
def graphs(draw: st.DrawFn, most: int = 25) -> list[Task]:
    """Tasks that need earlier ones, some of them submitted later."""
    tasks: list[Task] = []
    submission = 0
    for number in range(draw(st.integers(1, most))):
        submission += draw(st.integers(0, 9)) == 0 and number > 0
        tasks.append(
            Task(
                prefix=draw(st.sampled_from("abc")),
                seconds=draw(st.integers(0, 50)) / 10,
                needs=draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else (),
                nbytes=draw(st.sampled_from([0.0, 100.0, 1e7])),
                submission=submission,
            )
        )
    return [task._replace(needs=sorted(task.needs)) for task in tasks]
