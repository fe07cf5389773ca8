"""Where the time of the threads went: planted situations, random ones, and real clusters."""

from __future__ import annotations

import json
import math
import tracemalloc
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_insight.analysis.time_budget import PARTS, budget, rows
from dask_insight.analysis.time_budget.clusters import clusters
from dask_insight.analysis.time_budget.shares import Shares
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.timeline import LOCAL, attempts, standstills

START = 1_750_000_000.0
NAN = math.nan
CLUSTER = {"threads": 1, "joined": -1.0, "left": NAN}


class Run:
    """A recording made by hand; times in seconds since `START`."""

    def __init__(self, **workers: dict[str, float]) -> None:
        self.workers = workers or {"a": CLUSTER, "b": CLUSTER}
        self.attempts: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.edges: list[tuple[int, int]] = []
        self.events: list[dict[str, Any]] = []
        self.phases: list[dict[str, Any]] = []
        self.tables: dict[str, dict[str, Any]] = {}

    def task(
        self,
        name: str,
        worker: str,
        start: float,
        stop: float,
        *needs: int,
        submitted: float = 0.0,
        ready: float | None = None,
        assigned: float | None = None,
        inputs: float | None = None,
        executing: float | None = None,
        ended: float | None = None,
        status: str = "ok",
        cpu: float = NAN,
        thread: str = "1",
        task: int | None = None,
    ) -> int:
        """Add an attempt that was ready when its inputs were there, and ran as soon as it could."""
        number = len(self.names) if task is None else task
        if task is None:
            self.names.append(name)
            self.edges += [(number, other) for other in needs]
        came = max([submitted, *(self.attempts[other]["done"] for other in needs)])
        ready = came if ready is None else ready
        assigned = ready if assigned is None else assigned
        arrived = assigned if inputs is None else inputs
        self.attempts.append(
            {
                "run": len(self.attempts),
                "task": number,
                "worker": worker,
                "thread": thread,
                "status": status,
                "submitted": submitted,
                "ready": ready,
                "assigned": assigned,
                "received": assigned,
                "inputs": arrived,
                "executing": start if executing is None else executing,
                "start": start,
                "stop": stop,
                "ended": stop if ended is None else ended,
                "done": stop if ended is None else ended,
                "cpu": cpu,
            }
        )
        return number

    def state(self, when: float, worker: str, before: str, after: str) -> None:
        """Have a worker change its state."""
        row = {"time": START + when, "source": worker, "kind": "worker-status", "level": "info"}
        self.events.append(row | {"message": f"{before} → {after}"})

    def seceded(self, task: int, left: float, back: float) -> None:
        """Have the last attempt at a task run without its thread for a while."""
        row = {"run": [row["run"] for row in self.attempts if row["task"] == task][-1], "action": "seceded"}
        self.phases.append(row | {"start": START + left, "stop": START + back})

    def recording(self) -> Recording:
        """What was planted."""
        recording = Recording()
        for table, columns in self._columns().items():
            if columns and len(next(iter(columns.values()))):
                recording.append(encode(table, columns))
        return recording

    def budget(self, **options: Any) -> pd.DataFrame:
        """Its time budget."""
        return self.recording().time_budget(**options)

    def _columns(self) -> dict[str, dict[str, Any]]:
        workers = [{"worker": name} | facts for name, facts in self.workers.items()]
        of = {name: [row[name] for row in self.attempts] for name in (self.attempts or [{}])[0]}
        times = {name: START + np.array(of.get(name, [])) for name in TIMES}
        seen = {"executing": "executing", "inputs": "ready", "received": "received", "ended": "ended"}
        return {
            "about": {"name": ["started"], "value": [str(START)]},
            "workers": {
                "worker": [row["worker"] for row in workers],
                "threads": [row["threads"] for row in workers],
                "joined": [START + row["joined"] for row in workers],
                "left": [START + row["left"] for row in workers],
            },
            "graph": {"task": range(len(self.names)), "prefix": self.names},
            "edges": {
                "task": [task for task, _ in self.edges],
                "dependency": [other for _, other in self.edges],
            },
            "attempts": {name: of[name] for name in ("run", "task", "worker", "thread", "status")}
            | {name: times[name] for name in ("submitted", "ready", "assigned", "start", "stop", "done")}
            if of
            else {},
            "executions": {"run": of["run"], "worker": of["worker"], "cpu": of["cpu"]}
            | {name: times[ours] for ours, name in seen.items()}
            if of
            else {},
            "events": {name: [row[name] for row in self.events] for name in (self.events or [{}])[0]},
            "phases": {name: [row[name] for row in self.phases] for name in (self.phases or [{}])[0]},
            **self.tables,
        }


TIMES = (
    "submitted",
    "ready",
    "assigned",
    "received",
    "inputs",
    "executing",
    "start",
    "stop",
    "ended",
    "done",
)


def parts(table: pd.DataFrame) -> dict[str, float]:
    """Seconds by part, without those that have none to speak of."""
    sums = table.groupby("part", observed=True).seconds.sum()
    return {str(part): round(float(seconds), 5) for part, seconds in sums.items() if seconds > 1e-5}


def causes(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Idle seconds by part and function."""
    idle = table[table.kind == "idle"]
    found = zip(idle.part, idle.function, idle.seconds, strict=True)
    return {(part, name): round(seconds, 5) for part, name, seconds in found if seconds > 1e-5}


def test_waiting_for_an_input_names_the_task_that_is_computed() -> None:
    run = Run()
    slow, quick = run.task("slow", "a", 0, 10), run.task("quick", "b", 0, 1)
    run.task("combine", "b", 10, 11, slow, quick)
    table = run.budget(by="function")
    assert parts(table) == {"compute": 12, "inputs": 10}
    # The other thread has nothing more to do while the last task runs.
    assert causes(table) == {("inputs", "slow"): 9, ("inputs", "combine"): 1}


def test_a_chain_is_followed_back_to_the_beginning_of_the_gap() -> None:
    run = Run()
    first = run.task("first", "a", 0, 4)
    second = run.task("second", "a", 5, 7, first, executing=5, assigned=4.5, inputs=5)
    run.task("quick", "b", 0, 1)
    run.task("last", "b", 9, 10, second, inputs=9)
    table = run.budget(by=["worker", "function"])
    assert causes(table[table.worker == "b"]) == {
        ("inputs", "first"): 3,
        ("scheduler", "second"): 0.5,
        # Its only input was made on the same worker, so it is named itself.
        ("data", "first"): 0.5,
        ("inputs", "second"): 2,
        ("data", "second"): 2,
    }


def test_waiting_for_data_names_what_was_moved() -> None:
    run = Run()
    made, small = run.task("made", "a", 0, 1), run.task("small", "b", 0, 1)
    run.tables["attempts"] = {}
    run.task("use", "b", 3, 4, made, small, inputs=3)
    run.tables = {}
    assert causes(run.budget(by="function"))[("data", "made")] == 4
    assert causes(run.budget(by=["function", "worker"]).query("worker == 'b'")) == {("data", "made"): 2}


def test_tasks_ready_on_another_worker_are_a_matter_of_placement() -> None:
    run = Run()
    for start in range(5):
        run.task("piece", "a", start, start + 1, assigned=0, inputs=0)
    table = run.budget(by="worker")
    assert parts(table[table.worker == "b"]) == {"placement": 4, "inputs": 1}


def test_tasks_without_a_worker_are_a_matter_of_the_scheduler() -> None:
    run = Run()
    run.task("one", "a", 0, 4)
    run.task("two", "b", 3, 4, ready=0, assigned=2.5, inputs=3)
    assert parts(run.budget()) == {"compute": 5, "scheduler": 2.5, "data": 0.5}


def test_queued_tasks_take_precedence_over_inputs() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER)
    slow = run.task("slow", "a", 0, 10)
    run.task("combine", "b", 10, 11, slow)
    run.task("queued", "c", 5, 11, ready=0, assigned=5)
    table = run.budget(by="worker")
    assert parts(table[table.worker == "b"]) == {"compute": 1, "scheduler": 5, "inputs": 5}


def test_a_task_of_no_length_is_nothing_to_wait_for() -> None:
    """As clocks tell that tick every 16 ms."""
    run = Run()
    run.task("slow", "a", 0, 10)
    run.task("tiny", "b", 10, 10, submitted=10)
    assert causes(run.budget(by="function")) == {("inputs", "slow"): 10}


def test_a_cluster_without_tasks_waits_for_the_client() -> None:
    run = Run()
    run.task("first", "a", 0, 1)
    run.task("first", "b", 0, 1)
    run.task("second", "a", 5, 6, submitted=5)
    run.task("second", "b", 5, 6, submitted=5)
    assert parts(run.budget()) == {"compute": 4, "client": 8}
    assert parts(run.budget(start=2, stop=6)) == {"compute": 2, "client": 6}


def test_time_that_was_not_recorded_is_nobodys() -> None:
    run = Run()
    run.task("first", "a", 0, 1)
    run.task("second", "a", 4, 6, submitted=4)
    assert run.budget(start=-1, stop=7).attrs["thread_seconds"] == pytest.approx(12)
    assert parts(run.budget(start=-1, stop=7)) == parts(run.budget())
    assert run.budget(start=100, stop=200).attrs["thread_seconds"] == 0


def test_the_same_task_computed_again_is_not_wanted_between() -> None:
    run = Run(a=CLUSTER)
    again = run.task("same", "a", 0, 1)
    run.task("same", "a", 5, 6, submitted=0, ready=5, task=again)
    run.tables["submissions"] = {"submission": [0, 1], "time": [START, START + 5]}
    assert parts(run.budget()) == {"compute": 2, "client": 4}


def test_a_retried_task_is_wanted_between_its_attempts() -> None:
    run = Run(a=CLUSTER)
    again = run.task("flaky", "a", 0, 1, status="retried")
    run.task("flaky", "a", 3, 4, ready=3, task=again)
    assert parts(run.budget()) == {"failed": 1, "compute": 1, "scheduler": 2}


def test_a_task_that_was_stolen_waited_on_a_busy_worker_before() -> None:
    run = Run()
    run.task("work", "a", 0, 4)
    late = run.task("work", "a", NAN, NAN, status="stolen")
    run.attempts[-1]["done"] = 3
    # Dask tells of it again when it was ready first.
    run.task("work", "b", 3.5, 4, ready=0, assigned=3.25, inputs=3.5, task=late)
    assert parts(run.budget()) == {"compute": 4.5, "placement": 3, "scheduler": 0.25, "data": 0.25}


def test_a_task_that_gave_its_thread_back_holds_none() -> None:
    run = Run(a=CLUSTER)
    parent = run.task("parent", "a", 0, 10)
    run.task("child", "a", 1, 5, thread="2", submitted=1)
    run.task("child", "a", 6, 8, thread="2", submitted=6)
    # Told in two parts, as of a task that is away for long; then away once more, and back for a second.
    for left, back in ((1, 3), (3, 5), (6, 9)):
        run.seceded(parent, left, back)
    table = run.budget(by="function")
    computing = table[table.kind == "computing"].set_index("function").seconds
    assert dict(computing) == pytest.approx({"child": 6, "parent": 3})
    # While nothing of its own was ready, the thread waited for the task that would start more.
    assert causes(table) == {("inputs", "parent"): 1}
    tasks = run.recording().tasks.set_index("prefix")
    assert tasks.seceded["parent"] == pytest.approx(7) and not tasks.seceded["child"].any()
    bounds = run.recording().bounds()
    assert bounds.work == pytest.approx(9) and bounds.least <= bounds.seconds


@pytest.mark.parametrize(("start", "stop", "work"), [(0, 20, 10), (5, 15, 5), (20, 80, 0), (50, 95, 5)])
def test_a_part_of_a_task_that_gave_its_thread_back(start: float, stop: float, work: float) -> None:
    run = Run(a=CLUSTER)
    run.seceded(run.task("parent", "a", 0, 100), 10, 90)
    assert run.recording().slice(start, stop).bounds().work == pytest.approx(work)


def test_a_task_that_never_takes_its_thread_again() -> None:
    run = Run(a=CLUSTER)
    run.seceded(run.task("parent", "a", 0, 10, executing=-1, ended=11, cpu=1), 2, 10)
    run.task("other", "a", 2, 10, thread="2", cpu=4)
    assert parts(run.budget(start=-1)) == {"overhead": 1, "cpu": 5, "off-cpu": 5, "scheduler": 1}


def test_a_paused_worker() -> None:
    run = Run()
    run.task("one", "a", 0, 10)
    run.task("two", "b", 0, 2)
    run.task("two", "b", 8, 10, ready=2, assigned=2, inputs=2)
    run.state(2, "b", "running", "paused")
    run.state(7, "b", "paused", "running")
    assert parts(run.budget()) == {"compute": 14, "paused": 5, "overhead": 1}


def test_workers_that_join_and_leave() -> None:
    run = Run(a=CLUSTER, late={"threads": 2, "joined": 4.0, "left": NAN}, early=CLUSTER | {"left": 3.0})
    run.task("long", "a", 0, 10)
    run.task("long", "late", 6, 10, assigned=6)
    run.task("long", "early", 0, 1)
    run.state(1.5, "early", "running", "closing_gracefully")
    table = run.budget(by="worker")
    assert parts(table[table.worker == "late"]) == {"compute": 4, "joining": 4, "inputs": 4}
    assert parts(table[table.worker == "early"]) == {"compute": 1, "scheduler": 0.5, "leaving": 1.5}
    assert table.attrs["thread_seconds"] == pytest.approx(10 + 12 + 3)


def test_work_that_died_with_its_worker_is_not_idleness_of_unknown_cause() -> None:
    run = Run(a=CLUSTER, b=CLUSTER | {"left": 6.0})
    killed = run.task("grow", "b", NAN, NAN, status="killed", ended=6.0, assigned=1, thread="")
    run.task("grow", "a", 6, 8, ready=6, task=killed)
    table = run.budget(by="worker")
    assert parts(table[table.worker == "b"])["leaving"] == 5


def test_time_around_a_function() -> None:
    run = Run(a=CLUSTER)
    run.task("load", "a", 2, 5, executing=0, ended=6, cpu=1.0)
    run.tables["phases"] = {
        "run": [0, 0],
        "action": ["disk-read", "disk-write"],
        "start": [START, START + 5],
        "stop": [START + 0.5, START + 5.25],
    }
    assert parts(run.budget()) == {"cpu": 1, "off-cpu": 2, "disk": 0.75, "overhead": 2.25}


@pytest.mark.parametrize(("resources", "part"), [({"GPU": 1}, "resources"), ({}, "overhead")])
def test_a_thread_that_is_idle_for_want_of_resources(resources: dict[str, int], part: str) -> None:
    run = Run(a=CLUSTER | {"threads": 2})
    run.task("train", "a", 0, 4, thread="1")
    run.task("train", "a", 4, 8, thread="2", assigned=0, inputs=0)
    run.task("train", "a", 8, 12, thread="1", assigned=0, inputs=0)
    run.tables["workers"] = run._columns()["workers"] | {"detail": [json.dumps({"resources": resources})]}
    assert parts(run.budget())[part] == 8


def test_fine_metrics_share_out_what_attempts_do_not_tell() -> None:
    run = Run(a=CLUSTER)
    run.task("load", "a", 2, 12, executing=0, ended=12)
    rows_ = [("thread-cpu", 2.0), ("thread-noncpu", 4.0), ("download", 4.0), ("deserialize", 0.5)]
    run.tables["metrics"] = {
        "time": [START + 12] * 4,
        "worker": ["a"] * 4,
        "context": ["execute"] * 4,
        "prefix": ["load"] * 4,
        "activity": [activity for activity, _ in rows_],
        "unit": ["seconds"] * 4,
        "value": [value for _, value in rows_],
    }
    assert parts(run.budget()) == {
        "cpu": 2,
        "off-cpu": 4,
        "custom: download": 4,
        "deserialize": 0.5,
        "overhead": 1.5,
    }


def test_fine_metrics_take_memory_by_what_ran_not_by_workers_times_names() -> None:
    workers, names = [f"w{n}" for n in range(2_000)], [f"name{n}" for n in range(5_000)]
    run = Run(**dict.fromkeys(workers, CLUSTER))
    for number, name in enumerate(names):
        run.task(name, workers[number % len(workers)], 0.001 * number, 0.001 * number + 0.0005)
    run.tables["metrics"] = {
        "time": [START] * 2 * len(names),
        # Half of them are of a worker that ran no task of that name.
        "worker": [
            workers[(number + shift) % len(workers)] for shift in (0, 1) for number in range(len(names))
        ],
        "context": ["execute"] * 2 * len(names),
        "prefix": names * 2,
        "activity": ["thread-cpu", "thread-noncpu"] * len(names),
        "unit": ["seconds"] * 2 * len(names),
        "value": [1e-4] * len(names) + [1.0] * len(names),
    }
    read = run.recording().columns
    ran = attempts(read)
    tracemalloc.start()
    try:
        cpu = Shares(read, ran, standstills(read)).cpu(np.arange(len(names)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    assert cpu.tolist() == [1.0, 0.0] * (len(names) // 2)


def test_a_worker_with_more_tasks_at_once_than_threads_has_more_threads() -> None:
    run = Run(a=CLUSTER)
    run.task("outer", "a", 0, 10, thread="1")
    run.task("inner", "a", 2, 8, thread="2")
    table = run.budget()
    assert parts(table) == {"compute": 16}
    run = Run(a=CLUSTER)
    run.task("coroutine", "a", 0, 10)
    run.task("coroutine", "a", 2, 8)
    assert parts(run.budget()) == {"compute": 16}


@pytest.mark.parametrize("more", ["1", "2"])
def test_a_thread_runs_no_two_tasks_where_clocks_disagree(more: str) -> None:
    """The next task begins before the last one's end; another thread of the pool may have come instead."""
    run = Run(a=CLUSTER)
    run.task("slow", "a", 0, 8.03)
    run.task("slow", "a", 8, 16, thread=more, inputs=8)
    run.task("slow", "a", 16, 24, thread=more, inputs=16)
    table = run.budget()
    assert parts(table) == {"compute": 24}
    assert table.attrs["thread_seconds"] == pytest.approx(24)
    # Told to lie within one that took long, as a task stream's or a dump's may be.
    run = Run(a=CLUSTER)
    run.task("slow", "a", 0, 8)
    run.task("quick", "a", 4, 4.2, thread=more, inputs=4)
    run.task("quick", "a", 8, 8.2, thread=more, inputs=8)
    assert parts(run.budget()) == {"compute": 8.2}


def test_by_time_and_any_range() -> None:
    run = Run()
    slow, quick = run.task("slow", "a", 0, 10), run.task("quick", "b", 0, 1)
    run.task("combine", "b", 10, 11, slow, quick)
    table = run.budget(by="time", every=1.0)
    assert table.groupby("time").seconds.sum().tolist() == pytest.approx([2.0] * 11)
    assert parts(table[table.time == 0.0]) == {"compute": 2}
    part = run.budget(start=0.5, stop=2.0, by="function")
    assert parts(part) == {"compute": 2, "inputs": 1}
    assert causes(part) == {("inputs", "slow"): 1}


def test_about_a_hundred_bins_where_nobody_tells_when_tasks_were_wanted() -> None:
    run = Run(a=CLUSTER)
    for number in range(20):
        run.task("read", "a", number, number + 1)
        run.attempts[-1]["submitted"] = run.attempts[-1]["done"] = NAN
    assert 80 <= len(run.budget(by="time").time.unique()) <= 110


def test_about_a_hundred_bins_while_a_task_runs() -> None:
    run = Run(a=CLUSTER)
    run.task("quick", "a", 0, 0.1)
    run.names.append("slow")
    run.tables["running"] = {
        "run": [1],
        "task": [1],
        "worker": ["a"],
        "thread": ["1"],
        "start": [START + 0.1],
    }
    run.tables["resources"] = {"process": ["a"], "time": [START + 200]}
    assert 80 <= len(run.budget(by="time").time.unique()) <= 110
    assert 80 <= len(run.recording().slice(180, 200).time_budget(by="time").time.unique()) <= 110


def test_cells_lines_and_submissions() -> None:
    run = Run(a=CLUSTER)
    run.task("one", "a", 0, 1)
    run.task("two", "a", 2, 4, submitted=2)
    columns = run._columns()["graph"] | {"submission": [0, 1], "span": ["x", "y"]}
    run.tables = {
        "graph": columns,
        "submissions": {
            "submission": [0, 1],
            "time": [START, START + 2],
            "execution": [3, 4],
            "file": ["a.py", "a.py"],
            "line": [10, 20],
        },
    }
    assert run.budget(by="cell").groupby("cell").seconds.sum().to_dict() == pytest.approx({3: 1, 4: 3})
    by_line = run.budget(by="line").groupby("line", observed=True).seconds.sum().to_dict()
    assert by_line == pytest.approx({"a.py:10": 1, "a.py:20": 3})
    by_span = run.budget(by=["span", "submission"])
    assert by_span.groupby("span", observed=True).seconds.sum().to_dict() == pytest.approx({"x": 1, "y": 3})
    run.tables["spans"] = {"span": ["x", "y"], "path": ["model", "model / fit"]}
    assert run.budget(by="span").groupby("path", observed=True).seconds.sum().to_dict() == pytest.approx(
        {"model": 1, "model / fit": 3}
    )


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_attempt_of_which_no_moment_is_known_takes_no_time() -> None:
    run = Run(a={"threads": 1, "joined": 3.0, "left": NAN}, b=CLUSTER)
    run.task("known", "b", 0, 9)
    run.task("unknown", "a", NAN, NAN, submitted=NAN, status="killed", ended=NAN)
    table = run.budget(by="function")
    assert parts(table[table.kind == "computing"]) == {"compute": 9}
    assert table.seconds.sum() == pytest.approx(9 + 6)
    assert run.recording().findings().failed == ()


def two_clusters(**more: dict[str, Any]) -> Run:
    """One works while the other has nothing to do, and later waits for an input of its own."""
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER, d=CLUSTER)
    run.task("long", "a", 0, 10)
    first = run.task("first", "c", 4, 8, submitted=4)
    run.task("second", "d", 8, 10, first, submitted=4)
    columns = run._columns()["workers"]
    run.tables = {"workers": columns | {"cluster": ["one", "one", "two", "two"]}, **more}
    return run


def test_what_waits_for_one_cluster_is_no_matter_of_another() -> None:
    table = two_clusters().budget(by=["worker", "function"])
    of = {name: table[table.worker == name] for name in "abcd"}
    assert parts(of["b"]) == {"inputs": 10}
    # Without a task of its own, the second cluster waits for its client, whatever the first one does.
    assert parts(of["c"]) == {"client": 4, "compute": 4, "inputs": 2}
    assert parts(of["d"]) == {"client": 4, "inputs": 4, "compute": 2}
    assert causes(of["c"])[("inputs", "second")] == 2
    by_cluster = two_clusters().budget(by="cluster")
    assert parts(by_cluster[by_cluster.cluster == "one"]) == {"compute": 10, "inputs": 10}
    assert parts(by_cluster[by_cluster.cluster == "two"]) == {"client": 8, "compute": 6, "inputs": 6}


def clusters_in_turn(*more: tuple[str, float, float]) -> Run:
    """Two clusters of two threads, 50 s each, and 50 s between them; tasks of a local scheduler too."""
    run = Run(
        a={"threads": 2, "joined": 0.0, "left": 50.0},
        b={"threads": 2, "joined": 100.0, "left": NAN},
        threads={"threads": 4, "joined": 0.0, "left": NAN},
    )
    run.task("first", "a", 0, 50)
    run.task("second", "b", 100, 150, submitted=100)
    for name, start, stop in more:
        run.task(name, "threads", start, stop, submitted=start)
    run.tables = {"workers": run._columns()["workers"] | {"cluster": ["one", "two", ""]}}
    return run


def test_a_local_scheduler_beside_clusters_serves_while_it_is_used() -> None:
    told = clusters_in_turn(("here", 10, 14)).budget().attrs
    assert (told["served"], told["thread_seconds"]) == pytest.approx((100, 216))
    assert clusters_in_turn().budget().attrs["served"] == pytest.approx(100), "it was not used at all"
    assert clusters_in_turn(("here", 60, 64)).budget().attrs["served"] == pytest.approx(104)


def test_attempts_without_a_worker_wait_in_the_cluster_of_their_submission() -> None:
    run = two_clusters()
    # It was wanted from the beginning, in the second cluster, and never got a worker.
    lost = run.task("lost", "", NAN, NAN, status="cancelled", ready=0, assigned=NAN, ended=10, thread="")
    graph = run._columns()["graph"] | {"submission": [0, 1, 1, 1]}
    run.tables["graph"] = graph
    assert lost == 3
    table = run.budget(by="worker")
    assert parts(table[table.worker == "b"]) == {"inputs": 10}
    assert parts(table[table.worker == "c"]) == {"scheduler": 4, "compute": 4, "inputs": 2}


def test_bins_that_would_fill_the_memory_are_refused() -> None:
    run = Run()
    run.task("long", "a", 0, 10_000)
    with pytest.raises(ValueError, match=r"every=0\.0001 s cuts .* into 100,000,000 pieces"):
        run.budget(by="time", every=1e-4)


@pytest.mark.parametrize(
    ("start", "stop"), [(-20.0, -10.0), (-math.inf, -5.0), (50.0, 60.0), (50.0, math.inf)]
)
def test_a_range_outside_the_run(start: float, stop: float) -> None:
    run = Run(a=CLUSTER | {"left": 12.0})
    run.task("one", "a", 0, 10)
    table = run.budget(start=start, stop=stop, by="worker")
    assert len(table) == 0 and table.attrs["thread_seconds"] == 0
    assert table.attrs["start"] <= table.attrs["stop"]


def test_nothing_recorded() -> None:
    table = Recording().time_budget(by=["function", "worker", "span", "cell", "line", "submission", "time"])
    assert not len(table)
    assert Recording().time_budget().attrs["thread_seconds"] == 0


def test_a_range_of_which_one_end_is_told_where_no_task_ran() -> None:
    for asked in ({"stop": 30.0}, {"start": 30.0}):
        table = Run().budget(by="time", **asked)
        assert not len(table) and table.attrs["start"] == table.attrs["stop"] == 30.0


def test_a_range_that_begins_long_before_the_run() -> None:
    run = Run(a=CLUSTER)
    run.task("one", "a", 0, 10)
    table = run.budget(start=-1e9, by="time", every=1.0)
    assert len(table) and table.time.min() >= -2


@pytest.mark.parametrize("wrong", [{"by": "colour"}, {"start": 2, "stop": 1}, {"by": "time", "every": 0}])
def test_what_cannot_be_asked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Run().budget(**wrong)


moments = st.floats(0, 20, allow_nan=False)


@st.composite
def any_run(draw: st.DrawFn) -> Run:
    """Anything, also what contradicts itself, as clocks make it."""
    lives = st.fixed_dictionaries(
        {
            "threads": st.integers(1, 3),
            "joined": st.floats(-1, 10),
            "left": st.one_of(st.just(NAN), st.floats(5, 25)),
        }
    )
    run = Run(**{name: draw(lives) for name in "abc"[: draw(st.integers(1, 3))]})
    maybe = st.one_of(st.none(), moments)
    for _ in range(draw(st.integers(0, 12))):
        known = len(run.attempts)
        task = draw(st.one_of(st.none(), st.integers(0, known - 1))) if known else None
        needs = draw(st.lists(st.integers(0, known - 1), max_size=3)) if known else []
        start = draw(st.one_of(st.just(NAN), moments))
        run.task(
            draw(st.sampled_from(["x", "y", ""])),
            draw(st.sampled_from([*run.workers, "unknown"])),
            start,
            start + draw(st.floats(0, 8)),
            *(need for need in needs if task is None),
            submitted=draw(st.floats(0, 5)),
            ready=draw(moments),
            assigned=draw(maybe),
            inputs=draw(maybe),
            executing=draw(maybe),
            ended=draw(moments),
            status=draw(st.sampled_from(["ok", "ok", "erred", "retried", "killed", "stolen"])),
            cpu=draw(st.one_of(st.just(NAN), st.floats(0, 10))),
            thread=draw(st.sampled_from(["1", "2", ""])),
            task=None if task is None else run.attempts[task]["task"],
        )
        for left in draw(st.lists(moments, max_size=2)):
            run.seceded(run.attempts[-1]["task"], left, left + draw(st.floats(-1, 8)))
    for _ in range(draw(st.integers(0, 4))):
        states = st.sampled_from(["running", "paused", "closing_gracefully"])
        run.state(draw(moments), draw(st.sampled_from([*run.workers])), draw(states), draw(states))
    return run


@st.composite
def odd_run(draw: st.DrawFn) -> Run:
    """Any run, whose workers may be of several clusters or local ones, cut off while tasks ran."""
    run = draw(any_run())
    names = {"a": draw(st.sampled_from(["a", "threads"])), "b": draw(st.sampled_from(["b", "process 1"]))}
    run.workers = {names.get(name, name): life for name, life in run.workers.items()}
    for row in run.attempts:
        row["worker"] = draw(st.sampled_from([names.get(row["worker"], row["worker"])] * 5 + [""]))
    for row in run.events:
        row["source"] = names.get(row["source"], row["source"])
    clusters = st.sampled_from(["", "one", "two"])
    workers = run._columns()["workers"]
    run.tables["workers"] = workers | {"cluster": [draw(clusters) for _ in run.workers]}
    run.tables["graph"] = run._columns()["graph"] | {"submission": [NOTHING] * len(run.names)}
    begun = draw(st.lists(moments, max_size=3))
    if begun:
        run.tables["running"] = {
            "run": range(100, 100 + len(begun)),
            "task": [draw(st.integers(0, max(0, len(run.names) - 1))) for _ in begun],
            "worker": [draw(st.sampled_from([*run.workers, "new"])) for _ in begun],
            "thread": [draw(st.sampled_from(["1", "2"])) for _ in begun],
            "start": [START + moment for moment in begun],
        }
    return run


def test_a_pool_without_a_computation_waits_for_no_other_pool() -> None:
    """The threaded scheduler, the synchronous one while its threads had nothing, the threaded one again."""
    run = Run(threads=CLUSTER, sync=CLUSTER)
    run.task("first", "threads", 0, 1)
    before = run.task("a", "sync", 1, 4, submitted=1)
    run.task("b", "sync", 4, 6, before, submitted=1)
    run.task("last", "threads", 8, 9, submitted=8)
    table = run.recording().time_budget(by="worker").set_index(["worker", "part"]).seconds
    assert table.to_dict() == pytest.approx(
        {("threads", "compute"): 2, ("threads", "client"): 7, ("sync", "compute"): 5}
    )
    whole = run.recording().time_budget(by="cluster")
    assert set(whole.cluster) == {"local"} and not whole.duplicated(["cluster", "part"]).any()


@settings(max_examples=40, deadline=None)
@given(odd_run(), st.tuples(*[st.one_of(st.just(None), st.floats(-9, 40))] * 2))
def test_the_parts_sum_to_the_lives_of_all_threads(
    run: Run, between: tuple[float | None, float | None]
) -> None:
    recording = run.recording()
    given = {
        name: START + moment
        for name, moment in zip(("start", "stop"), between, strict=True)
        if moment is not None
    }
    if len(given) == 2 and given["start"] > given["stop"]:
        given = {"start": given["stop"], "stop": given["start"]}
    found = budget(recording.columns, **given)
    lives = found.lanes
    begin, end = np.full(len(lives.worker), found.start), np.full(len(lives.worker), found.stop)
    told = clusters(recording.columns, found.attempts, lives)
    # Beside another scheduler, a local pool counts while it is used: its tasks alone tell its life.
    for code in np.flatnonzero(np.array(told.names) == LOCAL) if len(told.names) > 1 else ():
        pool, mine = told.worker[lives.worker] == code, told.attempt == code
        begin[pool] = max(found.start, found.attempts.wanted[mine].min(initial=np.inf))
        end[pool] = min(found.stop, found.attempts.done[mine].max(initial=-np.inf))
    seconds = np.minimum(lives.stop, end) - np.maximum(lives.start, begin)
    whole = float((np.maximum(seconds, 0.0) * lives.threads).sum())
    assert sum(each.seconds.sum() for each in found.pieces) == pytest.approx(whole, abs=1e-6)
    assert all((each.seconds >= 0).all() for each in found.pieces)
    assert found.start <= found.stop
    for by in ("cluster", "worker", "time", "span"):
        options = {name: moment - recording.started for name, moment in given.items()}
        table = recording.time_budget(by=by, **options)
        assert table.seconds.sum() == pytest.approx(whole, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(any_run(), st.lists(st.floats(-2, 30), min_size=2, max_size=2).map(sorted))
def test_the_parts_are_the_whole_and_do_not_overlap(run: Run, between: list[float]) -> None:
    recording = run.recording()
    for options in ({}, {"start": between[0], "stop": between[1]}):
        table = recording.time_budget(by=["worker", "time"], every=3.7, **options)
        # Seconds begin with the first sample of memory, which may be before those of `run`.
        later = recording.started - START
        whole, start, stop = (table.attrs[name] for name in ("thread_seconds", "start", "stop"))
        start, stop = start + later, stop + later
        assert (table.seconds >= 0).all()
        assert table.seconds.sum() == pytest.approx(whole, abs=1e-6)
        assert recording.time_budget(**options).seconds.sum() == pytest.approx(whole, abs=1e-6)
        by_function = recording.time_budget(by="function", **options)
        assert by_function.seconds.sum() == pytest.approx(whole, abs=1e-6)
        for worker, life in run.workers.items():
            ran = [row for row in run.attempts if row["worker"] == worker and row["start"] == row["start"]]
            # A thread that was given back does not show for how long its worker was there.
            away = {row["run"] for row in run.phases} & {row["run"] for row in ran}
            if away or len(ran) > life["threads"] or not len(table):
                continue
            begin = max(start, min([life["joined"], *(min(row["executing"], row["start"]) for row in ran)]))
            left = max([life["left"], *(max(row["ended"], row["stop"]) for row in ran)])
            end = min(stop, left if left == left else stop)
            mine = table[table.worker == worker].seconds.sum()
            expected = life["threads"] * max(0.0, end - begin)
            if len({row["thread"] for row in ran}) == len(ran):
                assert mine == pytest.approx(expected, abs=1e-5)
    made = rows(recording.columns)
    seconds = (made["stop"] - made["start"]) * made["threads"]
    assert seconds.sum() == pytest.approx(recording.time_budget().seconds.sum(), abs=1e-5)


def test_rows_of_a_large_recording_are_few_and_add_up() -> None:
    random = np.random.default_rng(0)
    run = Run(**dict.fromkeys("abcd", CLUSTER))
    free = dict.fromkeys(run.workers, 0.0)
    for _ in range(4_000):
        worker = min(free, key=free.__getitem__)
        start = free[worker] + random.exponential(0.001)
        free[worker] = start + random.exponential(0.01) + (5 if random.random() < 0.001 else 0)
        run.task(str(random.choice(["x", "y"])), worker, start, free[worker])
    recording = run.recording()
    made = rows(recording.columns)
    exact = recording.time_budget(by=["worker"])
    table = pd.DataFrame(
        {
            "worker": made["worker"].tolist(),
            "part": made["part"].tolist(),
            "seconds": (made["stop"] - made["start"]) * made["threads"],
        }
    )
    sums = table.groupby(["worker", "part"]).seconds.sum()
    for worker, part, seconds in zip(exact.worker, exact.part, exact.seconds, strict=True):
        assert sums[worker, part] == pytest.approx(seconds, abs=1e-6)
    assert len(table) < 9_000
    assert set(table.part) <= set(PARTS)


def test_rows_of_a_large_recording_name_what_has_a_good_share_of_a_part() -> None:
    random = np.random.default_rng(2)
    run = Run(**dict.fromkeys("ab", CLUSTER))
    free = dict.fromkeys(run.workers, 0.0)
    for number in range(4_000):
        worker = min(free, key=free.__getitem__)
        start = free[worker] + random.exponential(0.001)
        free[worker] = start + random.exponential(0.01)
        # Half of the tasks have one name, the others are of a hundred.
        name = "often" if number % 2 else f"seldom-{number % 100}"
        run.task(name, worker, start, free[worker], executing=start - 0.0005)
    recording = run.recording()
    made = rows(recording.columns)
    part, name = np.array(made["part"].tolist()), np.array(made["name"].tolist())
    seconds = (made["stop"] - made["start"]) * made["threads"]
    exact = recording.time_budget(by="function").query("part == 'overhead'").set_index("function").seconds
    overhead = part == "overhead"
    assert seconds[overhead & (name == "often")].sum() == pytest.approx(exact["often"], abs=1e-6)
    assert seconds[overhead & (name == "")].sum() == pytest.approx(exact.sum() - exact["often"], abs=1e-6)
    assert set(name[overhead & (seconds > 0)]) == {"often", ""}
    # Whose that is, rows of no length tell.
    shares = overhead & (made["start"] == made["stop"])
    told = dict(zip(name[shares], made["threads"][shares].tolist(), strict=True))
    assert told == pytest.approx(exact.drop("often").to_dict(), abs=1e-6)


def test_rows_of_a_large_recording_name_those_with_most_time(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("dask_insight.analysis.time_budget.rows")
    monkeypatch.setattr(module, "_SHARES", 3)
    run = Run(**dict.fromkeys("ab", CLUSTER))
    for number in range(4_000):
        start, worker = float(number), "ab"[number % 2]
        before = start - 0.01 * (1 + number % 20)
        run.task(f"name-{number % 20}", worker, start, start + 0.5, submitted=before, executing=before)
    made = rows(run.recording().columns)
    shares = made["start"] == made["stop"]
    part, name = (np.array(made[column].tolist())[shares].tolist() for column in ("part", "name"))
    assert sorted(zip(part, name, strict=True)) == [("overhead", f"name-{number}") for number in (17, 18, 19)]


@pytest.mark.parametrize("often", [False, True])
def test_rows_of_a_large_cluster_grow_with_its_workers_only(
    often: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither times names nor times threads: what is told then is what all of a name, or a worker, took."""
    module = import_module("dask_insight.analysis.time_budget.rows")
    for aim in ("_PIECES", "_COMPUTING", "_OTHER"):
        monkeypatch.setattr(module, aim, 100)
    random = np.random.default_rng(3)
    run = Run(**dict.fromkeys("abcd", CLUSTER | {"threads": 8}))
    free = dict.fromkeys(((worker, str(thread)) for worker in run.workers for thread in range(8)), 0.0)
    for number in range(1_600):
        worker, thread = lane = min(free, key=free.__getitem__)
        start = free[lane] + random.exponential(0.1)
        free[lane] = start + random.exponential(1.0) + (30 if number % 20 == 0 else 0)
        name = "often" if often and number % 4 else f"name-{number // 20 % 50}"
        run.task(name, worker, start, free[lane], thread=thread, executing=start - 0.01)
    recording = run.recording()
    made = rows(recording.columns)
    lasting = made["stop"] > made["start"]
    assert lasting.sum() <= 2 * 3 * 100, "of functions and of all other three times what is aimed at"
    ran = lasting & (np.array(made["part"].tolist()) == "compute")
    assert set(np.array(made["name"].tolist())[ran]) == ({"", "often"} if often else {""})
    table = pd.DataFrame({name: made[name].tolist() for name in ("worker", "part")})
    table["seconds"] = (made["stop"] - made["start"]) * made["threads"]
    sums = table.groupby(["worker", "part"]).seconds.sum()
    for row in recording.time_budget(by="worker").itertuples():
        assert sums[row.worker, row.part] == pytest.approx(row.seconds, abs=1e-6)
    exact = recording.time_budget(by="function")
    told = {(part, name): seconds for part, name, seconds in recording.summary().budget}
    assert told == pytest.approx(
        {(row.part, row.function): row.seconds for row in exact.itertuples() if row.seconds > 0}, rel=1e-5
    )
    for part in set(table.part):
        mine = lasting & (table.part == part).to_numpy()
        edges = np.unique(made["stop"][mine])
        middle = edges[len(edges) // 2]
        before = recording.time_budget(stop=middle - START).set_index("part").seconds[part]
        assert table.seconds[mine & (made["stop"] <= middle)].sum() == pytest.approx(before, abs=1e-2), part


def test_what_was_waited_for_longest_keeps_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows there would be: the page makes layers of their own of these four names."""
    module = import_module("dask_insight.analysis.time_budget.rows")
    run = Run(**dict.fromkeys("abcdef", CLUSTER))
    for number, seconds in enumerate((0.8, 6.0, 3.0, 0.5, 5.0)):
        begin = 20.0 * number
        end = begin + seconds
        first = run.task(f"first-{number}", "a", begin, end, submitted=begin)
        for worker in "bcdef":
            run.task("next", worker, end, end + 1.0, first, submitted=begin)
    whole = rows(run.recording().columns)
    for aim in ("_PIECES", "_COMPUTING", "_OTHER"):
        monkeypatch.setattr(module, aim, 1)
    few = rows(run.recording().columns)

    def waited(made: dict[str, Any]) -> dict[str, float]:
        table = pd.DataFrame({name: made[name].tolist() for name in ("part", "name")})
        table["seconds"] = (made["stop"] - made["start"]) * made["threads"]
        return dict(table[(table.part == "inputs") & (table.seconds > 0)].groupby("name").seconds.sum())

    exact = waited(whole)
    longest = sorted((name for name in exact if name), key=exact.__getitem__)[-4:]
    told = waited(few)
    assert len(exact) > 4
    assert {name: told[name] for name in longest} == pytest.approx({name: exact[name] for name in longest})
    assert set(told) == {*longest, ""}


def test_rows_of_a_large_recording_keep_the_line_that_started_them() -> None:
    random = np.random.default_rng(1)
    run = Run(**dict.fromkeys("ab", CLUSTER))
    free = dict.fromkeys(run.workers, 0.0)
    for number in range(4_000):
        worker = min(free, key=free.__getitem__)
        start = free[worker] + random.exponential(0.001)
        free[worker] = start + random.exponential(0.01)
        run.task(f"name-{number % 30}", worker, start, free[worker], executing=start - 0.0001)
    # The first 1,000 tasks come from a loop over one line, the others from another line at once.
    submission = [min(number, 1_000) for number in range(4_000)]
    run.tables["graph"] = {"task": range(4_000), "prefix": run.names, "submission": submission}
    run.tables["submissions"] = {
        "submission": range(1_001),
        "file": ["a.py"] * 1_001,
        "line": [3] * 1_000 + [4],
        "execution": [1] * 1_001,
    }
    recording = run.recording()
    made = rows(recording.columns)
    assert len(made["start"]) < 20_000
    line = np.where(made["submission"] == 1_000, 4, np.where(made["submission"] < 1_000, 3, 0))
    seconds = (made["stop"] - made["start"]) * made["threads"]
    exact = recording.time_budget(by="line").groupby("line", observed=True).seconds.sum()
    for number in (3, 4):
        assert seconds[line == number].sum() == pytest.approx(exact[f"a.py:{number}"], abs=1e-5)
    overhead = np.array(made["part"].tolist()) == "overhead"
    # Without their names, all of a loop is its first computation.
    assert set(made["submission"][overhead & (seconds < 0.001) & (line == 3)].tolist()) >= {0}
    assert "" in np.array(made["name"].tolist())[overhead]
