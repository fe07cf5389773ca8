"""Findings about lost time: each planted on paper, and near misses that must not be told."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from test_findings import facts
from test_time_budget import CLUSTER, NAN, START, Run

from dask_insight import words
from dask_insight.analysis.findings import Finding, inside
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.tables.stacks import below

TWO = {"threads": 2, "joined": -1.0, "left": NAN}


def told(run: Run, code: str, **options: Any) -> list[Finding]:
    """The findings of a code."""
    found = run.recording().findings(**options)
    assert found.failed == ()
    return [each for each in found if each.code == code]


def one(run: Run, code: str) -> Finding:
    """The only finding of a code, which must be the first or second of all."""
    found = run.recording().findings()
    assert found.failed == ()
    assert code in [each.code for each in found[:2]], [each.code for each in found]
    (mine,) = [each for each in found if each.code == code]
    assert 0 <= mine.cost_seconds <= found.seconds
    assert mine.why and mine.advice and mine.url.startswith("https://") and mine.evidence
    return mine


def short_tasks(count: int, length: float, every: float) -> Run:
    run = Run()
    for number in range(count):
        start = number // 2 * every
        run.task("short", "ab"[number % 2], start, start + length, submitted=0, assigned=start)
    return run


def test_tiny_tasks() -> None:
    found = one(short_tasks(2000, 0.001, 0.005), "tiny-tasks")
    assert found.tasks == ("short",) and found.severity == "critical"
    assert found.cost_thread_seconds == pytest.approx(8, rel=0.01)
    # What one costs in wall time is bounded: beyond that the machine is busy.
    assert found.cost_seconds == pytest.approx(3)
    assert told(short_tasks(2000, 0.001, 0.002), "tiny-tasks")[0].cost_seconds == pytest.approx(1, rel=0.05)
    assert "short_batch" in found.advice


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(short_tasks(100, 0.001, 0.005), id="few"),
        pytest.param(short_tasks(400, 0.1, 0.105), id="long enough"),
        pytest.param(short_tasks(1000, 0.008, 0.0085), id="little lost"),
    ],
)
def test_no_tiny_tasks(run: Run) -> None:
    assert told(run, "tiny-tasks") == []


def test_what_tiny_tasks_cost_on_a_busy_machine_is_less_than_they_lost() -> None:
    run = short_tasks(2000, 0.001, 0.005)
    for row in run.attempts:
        row["cpu"] = 0.001
    run.tables["resources"] = {
        "process": ["a", "b"] * 5,
        "time": START + np.repeat(np.arange(5) + 1.0, 2),
        "starved": np.full(10, 3.0, "f4"),
    }
    (found,) = told(run, "tiny-tasks")
    assert found.cost_thread_seconds == pytest.approx(8, rel=0.01)
    assert found.cost_seconds == pytest.approx(2000 * 0.00075)


def even(run: Run, name: str = "piece", length: float = 0.5, count: int = 10) -> float:
    """Work that keeps all workers busy; gives when it ends."""
    for number in range(count):
        for worker in run.workers:
            run.task(name, worker, number * length, (number + 1) * length)
    return count * length


def test_a_straggler_names_its_worker_and_time() -> None:
    run = Run()
    end = even(run)
    run.task("piece", "b", end, end + 4)
    found = one(run, "straggler")
    assert found.tasks == ("piece",) and found.workers == ("b",)
    assert (found.start, found.stop) == (pytest.approx(5), pytest.approx(9))
    assert found.cost_seconds == pytest.approx(3.5)
    assert "begin first" in found.advice and "priority=10" in found.advice


def test_a_long_task_that_nothing_waits_for_costs_what_it_takes() -> None:
    run = Run()
    run.task("piece", "a", 0, 4)
    for number in range(8):
        run.task("piece", "b", number / 2, number / 2 + 0.5)
    run.task("piece", "a", 4, 4.5)
    run.task("piece", "b", 4, 4.5)
    found = one(run, "straggler")
    assert found.cost_seconds == pytest.approx(1.75)
    # It was the first.
    assert "begin first" not in found.advice and "priority=" not in found.advice
    assert "kept others waiting" not in found.why
    assert "3.5 s longer, on the critical path" in found.why.replace("\u202f", " ")


def test_a_task_that_waited_for_a_cpu_is_no_straggler() -> None:
    run = Run()
    end = even(run)
    run.task("piece", "b", end, end + 4, cpu=0.5)
    run.tables["resources"] = {
        "process": ["b"] * 20,
        "time": START + np.arange(20) * 0.5,
        "starved": np.where(np.arange(20) * 0.5 > end, 0.45, 0.0).astype("f4"),
    }
    assert told(run, "straggler") == []


def test_different_names_take_different_times() -> None:
    run = Run()
    end = even(run)
    run.task("train", "b", end, end + 4)
    assert told(run, "straggler") == []


@pytest.mark.parametrize("took", [6.0, 60.0], ids=["in proportion", "far more than that"])
def test_data_skew_names_the_task_and_what_made_its_data(took: float) -> None:
    run = Run()
    sizes = [1e6] * 9 + [2e7]
    for number in range(10):
        run.task("load", "ab"[number % 2], number // 2 * 0.1, number // 2 * 0.1 + 0.1)
    end = 0.5
    for number in range(9):
        start = end + number // 2 * 0.5
        run.task("use", "ab"[number % 2], start, start + 0.5, number)
    run.task("use", "b", end + 2, end + 2 + took, 9)
    recording = run.recording()
    batch = dict(recording.columns("attempts"))
    run_sizes = np.array([*sizes, *([10.0] * 10)])
    made = Recording()
    for table in ("about", "workers", "graph", "edges", "executions"):
        made.append(encode(table, dict(recording.columns(table))))
    made.append(encode("attempts", batch | {"nbytes": run_sizes}))
    found = made.findings()
    assert found[0].code == "data-skew"
    assert found[0].tasks == ("use", "load")
    assert "straggler" not in [each.code for each in found]


def test_a_slow_worker() -> None:
    run = Run()
    for number in range(15):
        run.task("piece", "a", number * 0.5, number * 0.5 + 0.5)
    for number in range(5):
        run.task("piece", "b", number * 1.5, number * 1.5 + 1.5)
    found = one(run, "worker-skew")
    assert found.workers == ("b",) and found.tasks == ("piece",)
    assert found.cost_thread_seconds == pytest.approx(5)
    assert found.cost_seconds == pytest.approx(2.5)


def test_a_worker_that_is_a_little_slower_is_not_told() -> None:
    run = Run()
    for number in range(13):
        run.task("piece", "a", number * 0.5, number * 0.5 + 0.5)
    for number in range(10):
        run.task("piece", "b", number * 0.65, number * 0.65 + 0.65)
    assert told(run, "worker-skew") == []


def test_one_name_for_different_tasks_makes_no_worker_slow() -> None:
    """Half of them are views of a millisecond, most of which ran on one worker."""
    run = Run()
    for number in range(20):
        run.task("part", "a", number * 0.5, number * 0.5 + 0.5)
        run.task("part", "b", number * 0.5, number * 0.5 + 0.5)
    for number in range(30):
        run.task("part", "b", 10 + number * 0.001, 10 + number * 0.001 + 0.001)
    assert told(run, "worker-skew")
    run.tables["graph"] = {
        "task": range(len(run.names)),
        "prefix": run.names,
        "group": ["part-1"] * 40 + ["part-2"] * 30,
    }
    assert told(run, "worker-skew") == []


def test_tasks_bound_to_one_worker() -> None:
    run = Run()
    for number in range(10):
        run.task("bound", "a", number, number + 1.0, assigned=0, inputs=0, submitted=0)
    found = one(run, "worker-skew")
    assert (found.tasks, found.workers) == (("bound",), ("a",))
    assert found.cost_thread_seconds == pytest.approx(9)
    # The same time is told once.
    assert told(run, "imbalanced-threads") == []
    assert all(np.isfinite(each.value) for each in found.evidence)


def test_tasks_bound_to_several_workers() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER)
    for number in range(10):
        for worker in "ab":
            run.task("bound", worker, number, number + 1.0, assigned=0, inputs=0, submitted=0)
    assert one(run, "imbalanced-threads").cost_thread_seconds == pytest.approx(9)
    assert told(run, "worker-skew") == []


def test_a_worker_that_runs_one_task_more_is_not_told() -> None:
    run = Run()
    end = even(run)
    run.task("piece", "a", end, end + 0.5, assigned=0, inputs=0, submitted=0)
    assert told(run, "imbalanced-threads") == [] == told(run, "worker-skew")


def beside(cpu: float, late: float, starved: float, use: float = 100.0, sampler: float = NAN) -> Run:
    """Two tasks at a time in one process, for 10 s, with so much CPU each, and what was sampled.

    Of `late`, seconds a round, the sampler's thread waited `sampler` for a CPU.
    """
    run = Run(a=TWO)
    for number in range(10):
        for thread in ("1", "2"):
            run.task("loop", "a", number, number + 1.0, submitted=0, cpu=cpu, thread=thread)
    times = START + 1.0 + np.arange(10)
    run.tables["resources"] = {
        "process": ["a"] * 10,
        "time": times,
        "cpu": np.full(10, use, "f4"),
        "starved": np.full(10, starved, "f4"),
    }
    run.tables["sampling"] = {
        "process": ["a"] * 10,
        "time": times,
        "period": np.ones(10, "f4"),
        "samples": np.full(10, round(1 / (0.01 + late)), "u4"),
        "interval": np.full(10, 0.01, "f4"),
        "starved": np.full(10, sampler * round(1 / (0.01 + late)), "f4"),
    }
    return run


def test_gil_contention() -> None:
    found = one(beside(0.5, late=0.01, starved=0.02), "gil-contention")
    assert found.tasks == ("loop",) and found.workers == ("a",)
    assert found.cost_seconds == pytest.approx(4.9, rel=0.02)
    assert told(beside(0.5, late=0.01, starved=0.02), "io-wait") == []


def test_who_waited_for_the_lock_together_is_told_so() -> None:
    run = beside(0.5, late=0.01, starved=0.02)
    run.names[:] = ["loop" if number % 3 else "count" for number in range(len(run.names))]
    title = one(run, "gil-contention").title
    assert title.startswith("`loop` and `count` waited for") and title.endswith("of their time")


def test_waits_for_the_lock_make_no_worker_of_more_threads_slow() -> None:
    """The same half second of computing takes the threads of one process twice as long."""
    run = beside(0.5, late=0.01, starved=0.02)
    run.workers["b"] = CLUSTER
    for number in range(20):
        run.task("loop", "b", number * 0.5, number * 0.5 + 0.5, submitted=0, cpu=0.5)
    assert told(run, "gil-contention") and told(run, "worker-skew") == []
    for row in run.attempts[20:]:
        row["stop"] = row["ended"] = row["done"] = row["start"] + 0.2
        row["cpu"] = 0.2
    assert "takes 2.5 times as long" in one(run, "worker-skew").title


@pytest.mark.parametrize(("pids", "shared"), [([7, 7], True), ([7, 8], False), ([0, 0], False)])
def test_workers_of_one_process_share_its_lock(pids: list[int], shared: bool) -> None:
    run = Run()
    for number in range(10):
        for worker in "ab":
            run.task("loop", worker, number, number + 1.0, submitted=0, cpu=0.5)
    times = np.tile(START + 1.0 + np.arange(10), 2)
    process = ["a"] * 10 + ["b"] * 10
    run.tables["resources"] = {
        "process": process,
        "time": times,
        "cpu": np.full(20, 100.0, "f4"),
        "starved": np.zeros(20, "f4"),
    }
    run.tables["sampling"] = {
        "process": process,
        "time": times,
        "period": np.ones(20, "f4"),
        "samples": np.full(20, 50, "u4"),
        "interval": np.full(20, 0.01, "f4"),
    }
    run.tables["workers"] = {
        "worker": ["a", "b"],
        "host": ["here", "here"],
        "pid": pids,
        "threads": [1, 1],
        "joined": np.array([START - 1.0] * 2),
    }
    found = told(run, "gil-contention")
    assert bool(found) == shared
    assert not shared or "n_workers=2, threads_per_worker=1, processes=True)" in found[0].advice


def together(cores: int, *, cpu: float, starved: float, use: float) -> Run:
    """Two workers of one thread in one process, a task each for 10 s; each tells of the whole process."""
    run = Run()
    for number in range(10):
        for worker in "ab":
            run.task("loop", worker, number, number + 1.0, submitted=0, cpu=cpu)
    times = np.tile(START + 1.0 + np.arange(10), 2)
    process = ["a"] * 10 + ["b"] * 10
    run.tables["resources"] = {
        "process": process,
        "time": times,
        "cpu": np.full(20, use, "f4"),
        "starved": np.full(20, starved, "f4"),
    }
    run.tables["sampling"] = {
        "process": process,
        "time": times,
        "period": np.ones(20, "f4"),
        "samples": np.full(20, 20, "u4"),
        "interval": np.full(20, 0.01, "f4"),
        "starved": np.full(20, 0.1, "f4"),
    }
    run.tables["workers"] = {
        "worker": ["a", "b"],
        "host": ["here"] * 2,
        "pid": [7, 7],
        "threads": [1, 1],
        "cores": [cores] * 2,
        "joined": np.array([START - 1.0] * 2),
    }
    return run


def test_a_process_that_workers_share_is_counted_once() -> None:
    (found,) = told(together(1, cpu=0.45, starved=0.5, use=95), "oversubscribed")
    assert found.title.startswith("2 threads share 1 core: tasks waited for one in 50")
    assert {each.name: each.value for each in found.evidence}["cores in use by workers"] == pytest.approx(
        0.95
    )


def test_who_has_the_lock_waits_for_a_core_once_a_process() -> None:
    """Half a second each second: the process used half a core."""
    (found,) = told(together(4, cpu=0.2, starved=0.5, use=50), "gil-contention")
    assert found.cost_thread_seconds == pytest.approx(16 - 5, rel=0.02)


def test_gil_contention_on_a_busy_machine() -> None:
    """The tasks' threads wait for a CPU too, but for the lock anyway."""
    found = one(beside(0.2, late=0.03, starved=1.0, use=40, sampler=0.005), "gil-contention")
    assert found.cost_seconds == pytest.approx(5.0, rel=0.05)


def mixed(*names: str, gil: float = NAN) -> Run:
    """On a thread each, tasks that compute as much as the lock lets them, and tasks that sleep."""
    run = Run(a=TWO | {"threads": len(names)})
    loops = names.count("loop")
    for number in range(10):
        for thread, name in enumerate(names):
            cpu = 1 / loops if name == "loop" else 0.001
            run.task(name, "a", number, number + 1.0, submitted=0, cpu=cpu, thread=str(thread))
    rest = beside(0.5, late=0.007, starved=0.0)
    run.tables["resources"] = rest.tables["resources"] | {"gil_wait": np.full(10, gil, "f4")}
    run.tables["sampling"] = rest.tables["sampling"]
    return run


def test_who_sleeps_beside_a_loop_does_not_wait_for_the_lock() -> None:
    run = mixed("loop", "pause", "pause", "pause")
    assert told(run, "gil-contention") == []
    found = one(run, "io-wait")
    assert found.tasks == ("pause",) and found.cost_thread_seconds == pytest.approx(30, rel=0.02)
    found = one(mixed("loop", "loop", "pause", "pause"), "gil-contention")
    assert found.tasks == ("loop",) and found.cost_thread_seconds == pytest.approx(10, rel=0.02)


def test_the_lock_is_waited_for_no_longer_than_threads_asked_for_it() -> None:
    asked = one(mixed("loop", "loop", gil=0.6), "gil-contention")
    assert asked.cost_thread_seconds == pytest.approx(6, rel=0.02)
    assert told(mixed("loop", "loop", gil=0.1), "gil-contention") == []
    waits = mixed("loop", "loop", "loop", "loop", gil=0.1)
    assert told(waits, "gil-contention") == [] and one(waits, "io-wait").tasks == ("loop",)


def test_seconds_of_contention_are_not_hidden_by_what_else_ran() -> None:
    run = Run(a=TWO)
    for number in range(20):
        name, cpu = ("loop", 0.5) if number >= 15 else ("compiled", 0.97)
        for thread in ("1", "2"):
            run.task(name, "a", number, number + 1.0, submitted=0, cpu=cpu, thread=thread)
    quiet, loud = beside(0.97, late=0.0002, starved=0.0), beside(0.5, late=0.007, starved=0.0)
    for table in ("resources", "sampling"):
        run.tables[table] = {"process": ["a"] * 20, "time": START + 1.0 + np.arange(20)} | {
            name: np.append(np.repeat(values[:5], 3), loud.tables[table][name][:5])
            for name, values in quiet.tables[table].items()
            if name not in ("process", "time")
        }
    assert told(run, "gil-contention") == []
    run.tables["resources"]["gil_wait"] = np.append(np.full(15, 0.01, "f4"), np.full(5, 0.9, "f4"))
    found = one(run, "gil-contention")
    assert found.tasks == ("loop",) and found.cost_thread_seconds == pytest.approx(4.6, rel=0.05)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(beside(0.2, late=0.03, starved=1.6, use=40, sampler=0.028), id="short of cores, told"),
        pytest.param(beside(0.95, late=0.01, starved=0.0, use=190), id="on the CPU"),
        pytest.param(beside(0.5, late=0.0002, starved=1.0), id="short of cores"),
        pytest.param(beside(0.5, late=0.02, starved=1.0), id="short of cores and busy"),
        pytest.param(beside(0.02, late=0.0001, starved=0.0, use=4), id="asleep"),
    ],
)
def test_no_gil_contention(run: Run) -> None:
    assert told(run, "gil-contention") == []


def on_cores(run: Run, cores: int) -> Run:
    run.tables["workers"] = {
        "worker": ["a"],
        "host": ["here"],
        "threads": [2],
        "joined": [START - 1.0],
        "cores": [cores],
    }
    return run


def test_libraries_that_compute_on_threads_of_their_own() -> None:
    """Two tasks at a time with half a core each, in a process that uses four."""
    (found,) = told(on_cores(beside(0.5, late=0.0002, starved=1.0, use=400), 4), "oversubscribed")
    assert (found.severity, found.workers) == ("info", ("a",)) and found.is_risk
    assert "took 75" in found.title and "4 cores" in found.title


def test_more_threads_for_tasks_than_cores() -> None:
    (found,) = told(on_cores(beside(0.45, late=0.0002, starved=1.1, use=95), 1), "oversubscribed")
    assert (found.severity, found.workers) == ("info", ("a",)) and found.is_risk
    assert found.title.startswith("2 threads share 1 core: tasks waited for one in 5")
    assert "n_workers=1, threads_per_worker=1" in found.advice


@pytest.mark.parametrize(
    ("hosts", "cores", "advised", "processes"),
    [
        pytest.param(["h", "h"], [8, 8], "more processes with", (4, "4"), id="enough"),
        pytest.param(["h", "h"], [2, 2], "processes of one thread each", (2, "2"), id="as many as cores"),
        pytest.param(["g", "h"], [4, 4], "more processes with", (4, "2"), id="hosts"),
        pytest.param(["g", "h"], [1, 1], "processes of one thread each", (2, "1"), id="hosts of one core"),
        pytest.param(["g", "h"], [1, 8], "more processes with", (3, "2"), id="hosts of other kinds"),
        pytest.param(["g", "h"], [0, 1], "more processes with", (3, "2"), id="of one nobody knows"),
        pytest.param(["h", "h"], [1, 1], "functions that release the lock", None, id="a core"),
    ],
)
def test_no_more_processes_than_cores_are_advised_against_the_lock(
    hosts: list[str], cores: list[int], advised: str, processes: tuple[int, str] | None
) -> None:
    """Another finding of the same run says not to have more threads on a host than cores."""
    run = beside(0.5, late=0.01, starved=0.02)
    run.workers["b"] = TWO
    for number in range(10):
        for thread in "12":
            run.task("loop", "b", number, number + 1.0, submitted=0, cpu=0.5, thread=thread)
    for name in ("resources", "sampling"):
        table = run.tables[name]
        run.tables[name] = {each: np.tile(values, 2) for each, values in table.items()}
        run.tables[name]["process"] = ["a"] * 10 + ["b"] * 10
    run.tables["workers"] = {
        "worker": ["a", "b"],
        "host": hosts,
        "threads": [2, 2],
        "joined": [START - 1.0] * 2,
        "cores": cores,
    }
    advice = one(run, "gil-contention").advice
    assert advice.startswith(f"Use {advised}") and ("LocalCluster" in advice) == (processes is not None)
    if processes is not None:
        all_of, on_host = processes
        assert f"n_workers={all_of}, threads_per_worker=1" in advice
        assert f"--nworkers {on_host} --nthreads 1" in advice
    assert ("# on each host" in advice) == (len(set(hosts)) > 1)
    assert ("no more than it has cores" in advice) == (cores[0] != cores[1])


def one_after_the_other(cores: int, use: float) -> Run:
    """A worker of two threads for 5 s, and after it another one; tasks wait for a core half of their time."""
    run = Run()
    for number in range(10):
        for thread in "12":
            run.task("loop", "ab"[number // 5], number, number + 1.0, submitted=0, cpu=0.45, thread=thread)
    run.tables["resources"] = {
        "process": ["a"] * 5 + ["b"] * 5,
        "time": START + 1.0 + np.arange(10),
        "cpu": np.full(10, use, "f4"),
        "starved": np.full(10, 1.1, "f4"),
    }
    run.tables["workers"] = {
        "worker": ["a", "b"],
        "host": ["here"] * 2,
        "threads": [2, 2],
        "joined": START + np.array([-1.0, 5.0]),
        "left": START + np.array([5.0, NAN]),
        "cores": [cores] * 2,
    }
    return run


def test_workers_that_followed_one_another_share_no_cores() -> None:
    """As after a restart: what each used and had is not added up."""
    (found,) = told(one_after_the_other(1, use=90), "oversubscribed")
    assert found.title.startswith("2 threads share 1 core")
    assert {each.name: each.value for each in found.evidence}["cores in use by workers"] == pytest.approx(0.9)
    two = one_after_the_other(2, use=90)
    assert told(two, "oversubscribed") == []
    assert "the workers used 0.9 of 2 cores" in one(two, "busy-host").title
    assert facts(two).cores.threads == pytest.approx(2)


def test_hosts_that_followed_one_another_did_not_lack_cores_together() -> None:
    run = one_after_the_other(1, use=90)
    run.tables["workers"]["host"] = ["here", "there"]
    assert facts(run).cores.threads == pytest.approx(1)


def side_by_side(cores: int, core_set: list[int], *, cpu: float, starved: float, use: float) -> Run:
    """Two workers of two threads on cores of one host, of which these tell how they are shared."""
    run = Run(a=TWO, b=TWO)
    for number in range(10):
        for worker in "ab":
            for thread in "12":
                run.task("loop", worker, number, number + 1.0, submitted=0, cpu=cpu, thread=thread)
    run.tables["resources"] = {
        "process": ["a"] * 10 + ["b"] * 10,
        "time": np.tile(START + 1.0 + np.arange(10), 2),
        "cpu": np.full(20, use, "f4"),
        "starved": np.full(20, starved, "f4"),
    }
    run.tables["workers"] = {
        "worker": ["a", "b"],
        "host": ["here"] * 2,
        "pid": [7, 8],
        "threads": [2, 2],
        "cores": [cores] * 2,
        "core_set": core_set,
        "joined": [START - 1.0] * 2,
    }
    return run


def test_workers_that_are_bound_to_cores_of_their_own_do_not_crowd_one_another() -> None:
    enough = {"cpu": 0.65, "starved": 0.7, "use": 130}
    assert told(side_by_side(2, [5, 5], **enough), "oversubscribed")[0].title.startswith("4 threads share 2")
    assert told(side_by_side(2, [5, 6], **enough), "oversubscribed") == []
    (found,) = told(side_by_side(1, [5, 6], cpu=0.45, starved=1.1, use=95), "oversubscribed")
    assert found.title.startswith("2 threads share 1 core") and "which may use 1 core." in found.why


def test_waits_for_a_core_between_tasks_are_none_of_theirs() -> None:
    """Threads that look for work while none is there stand in queues, too."""
    run = on_cores(beside(0.9, late=0.0002, starved=0.1, use=95), 1)
    for thread in "12":
        run.task("loop", "a", 60.0, 61.0, submitted=59.0, cpu=0.9, thread=thread)
    pause = {"time": START + 11.0 + np.arange(51), "starved": np.full(51, 0.4, "f4")}
    table = run.tables["resources"]
    run.tables["resources"] = {
        "process": ["a"] * 61,
        "time": np.append(table["time"], pause["time"]),
        "cpu": np.full(61, 95, "f4"),
        "starved": np.append(table["starved"], pause["starved"]),
    }
    assert told(run, "oversubscribed") == told(run, "busy-host") == []


def test_no_task_waits_for_a_core_while_it_has_one() -> None:
    """What its thread waited before and after it, in a sample's time, is more than it was without one."""
    (found,) = told(on_cores(beside(0.6, late=0.0002, starved=1.9, use=95), 1), "oversubscribed")
    assert "waited for one in 40" in found.title


def test_cores_that_others_have() -> None:
    run = on_cores(beside(0.5, late=0.0002, starved=1.0, use=100), 8)
    (found,) = told(run, "busy-host")
    assert found.severity == "info" and "used 1.0 of 8 cores" in found.title
    assert told(run, "oversubscribed") == []


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(on_cores(beside(0.5, late=0.0002, starved=1.0, use=400), 8), id="cores enough"),
        pytest.param(on_cores(beside(0.9, late=0.0002, starved=0.7, use=180), 2), id="tasks alone"),
        pytest.param(on_cores(beside(0.9, late=0.0002, starved=0.1, use=400), 4), id="no waits"),
        pytest.param(beside(0.5, late=0.0002, starved=1.0, use=400), id="cores not known"),
    ],
)
def test_no_oversubscription(run: Run) -> None:
    assert told(run, "oversubscribed") == told(run, "busy-host") == []


def test_io_wait() -> None:
    found = one(beside(0.02, late=0.0001, starved=0.0, use=4), "io-wait")
    assert found.tasks == ("loop",)
    assert found.cost_thread_seconds == pytest.approx(19.6)
    # Twice the threads; the last two tasks leave none waiting.
    assert found.cost_seconds == pytest.approx(4.4, rel=0.03)


def test_io_wait_where_waits_for_a_core_are_not_known() -> None:
    unknown = on_cores(beside(0.02, late=0.0001, starved=np.nan, use=4), 2)
    found = one(unknown, "io-wait")
    assert found.tasks == ("loop",) and "waits for a core are known on Linux alone" in found.why
    assert "Linux" not in one(on_cores(beside(0.02, late=0.0001, starved=0.0, use=4), 2), "io-wait").why
    # Another worker has all cores: nothing tells whether these tasks wanted one.
    assert told(beside_who_computes(np.nan), "io-wait") == []
    # Unless those are other cores.
    bound = beside_who_computes(np.nan)
    bound.tables["workers"]["core_set"] = [1, 2]
    assert one(bound, "io-wait").tasks == ("loop",)
    (found,) = told(beside_who_computes(0.0), "io-wait")
    assert found.tasks == ("loop",) and found.cost_thread_seconds == pytest.approx(19.6)


def beside_who_computes(starved: float) -> Run:
    """Tasks that wait, on a host of two cores that another worker's tasks use."""
    run = on_cores(beside(0.02, late=0.0001, starved=starved, use=4), 2)
    run.workers["b"] = TWO
    for number in range(10):
        for thread in "12":
            run.task("compute", "b", number, number + 1.0, submitted=0, cpu=0.97, thread=thread)
    run.tables["workers"] = {name: [values[0]] * 2 for name, values in run.tables["workers"].items()}
    run.tables["workers"]["worker"] = ["a", "b"]
    table = run.tables["resources"]
    run.tables["resources"] = {
        "process": ["a"] * 10 + ["b"] * 10,
        "time": np.tile(table["time"], 2),
        "cpu": np.repeat(np.array([4, 194], "f4"), 10),
        "starved": np.full(20, starved, "f4"),
    }
    return run


@pytest.mark.parametrize("starved", [0.0, np.nan], ids=["waits for a core known", "unknown"])
@pytest.mark.parametrize("cpu", [0.02, 0.0])
def test_who_waits_for_threads_of_its_own_process_that_compute_waits_for_no_data(
    cpu: float, starved: float
) -> None:
    """As a task of Polars does, or one that has a pool of threads."""
    for cores in (2, 8):
        assert told(on_cores(beside(cpu, late=0.0001, starved=starved, use=198), cores), "io-wait") == []
    (found,) = told(on_cores(beside(cpu, late=0.0001, starved=starved, use=200 * cpu + 10), 8), "io-wait")
    assert found.cost_thread_seconds == pytest.approx(20 * (1 - cpu) - 1.0)


def test_threads_that_compute_for_a_worker_may_share_its_process_with_another() -> None:
    """Each of two workers tells of both: 1.9 cores beside the tasks' threads are as much as these waited."""
    assert told(together(8, cpu=0.05, starved=0.0, use=200), "io-wait") == []
    (found,) = told(together(8, cpu=0.05, starved=0.0, use=60), "io-wait")
    assert found.cost_thread_seconds == pytest.approx(19 - 5, rel=0.02)


@pytest.mark.parametrize("ended", [False, True])
def test_who_waits_beside_a_task_of_unknown_cpu_time_waits_for_data_all_the_same(ended: bool) -> None:
    """As beside one that still runs or failed: all that its process computed may be that task's."""
    run = beside(0.02, late=0.0001, starved=0.0, use=104)
    train = run.task("train", "a", 0, 10, status="erred", thread="2")
    if not ended:
        run.attempts.pop()
        columns = {"run": [99], "task": [train], "worker": ["a"], "thread": ["2"], "start": [START]}
        run.tables["running"] = columns
    run.attempts[:] = [row for row in run.attempts if row["thread"] == "1" or row["task"] == train]
    found = one(run, "io-wait")
    assert found.tasks == ("loop",) and found.cost_thread_seconds == pytest.approx(9.6, rel=0.01)


@pytest.mark.parametrize(("busy", "codes"), [(90.0, []), (0.0, ["io-wait"])])
def test_who_keeps_a_gpu_busy_while_it_runs_reads_nothing(busy: float, codes: list[str]) -> None:
    run = beside(0.02, late=0.0001, starved=0.0, use=4)
    run.tables["gpus"] = {
        "process": ["a"] * 100,
        "time": START + 0.5 + np.arange(100),
        "utilization": np.repeat([busy, 0.0], [10, 90]).astype("f4"),
    }
    assert [each.code for each in told(run, "io-wait")] == codes


def sampled_in(run: Run, *texts: str, file: str = "/here/work.py") -> Run:
    """With samples of all attempts, shared among functions whose running line has these texts."""
    count, runs = len(texts), np.array([attempt["run"] for attempt in run.attempts])
    run.tables["stacks"] = {
        "stack": np.arange(count),
        "parent": np.full(count, NOTHING),
        "function": ["loop"] * count,
        "file": [file] * count,
        "line": 10 + np.arange(count),
        "first_line": np.full(count, 9),
    }
    run.tables["samples"] = {
        "process": ["a"] * (len(runs) * count),
        "thread": ["1"] * (len(runs) * count),
        "time": np.full(len(runs) * count, START + 5.0),
        "duration": np.full(len(runs) * count, 1 / count, "f4"),
        "stack": np.tile(np.arange(count), len(runs)),
        "run": np.repeat(runs, count),
    }
    run.tables["lines"] = {
        "file": [file] * count,
        "line": 10 + np.arange(count),
        "text": list(texts),
    }
    return run


def test_who_sleeps_waits_for_no_data() -> None:
    run = sampled_in(beside(0.02, late=0.0001, starved=0.0, use=4), "time.sleep(1)", "x = 1")
    found = one(run, "sleeping")
    assert found.tasks == ("loop",) and found.severity == "info"
    assert "slept for 50" in found.title and "work.py:10: `time.sleep(1)`" in found.why
    assert found.cost_thread_seconds == pytest.approx(19.6)
    assert told(run, "io-wait") == []


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        pytest.param([("sleep", "time")], "as their function is `time.sleep`", id="time"),
        pytest.param([("sleep", "asyncio.tasks")], "as their function is `asyncio.sleep`", id="asyncio"),
        pytest.param([("sleep", "polite")], "", id="of somebody else"),
        pytest.param([("sleep", "time"), ("read", "polite")], "", id="one of two functions"),
    ],
)
def test_a_sleep_that_is_the_function_of_tasks_stands_in_no_line(
    functions: list[tuple[str, str]], said: str
) -> None:
    """Their innermost line is one of Dask's, which calls whatever the task is."""
    run = waiting_in("/lib/python3.12/site-packages/dask/_task_spec.py", functions)
    sleeping = told(run, "sleeping")
    assert [said in each.why for each in sleeping] == [True] * bool(said)
    assert len(told(run, "io-wait")) == 1 - bool(said)


def test_a_function_that_sleeps_tells_nothing_of_others_that_share_its_name() -> None:
    """Of a group of tasks the first one's function is known alone."""
    run = waiting_in("/here/work.py", [("sleep", "time")])
    assert told(run, "sleeping") == [] and one(run, "io-wait").severity == "critical"


def waiting_in(file: str, functions: list[tuple[str, str]]) -> Run:
    """Tasks that wait in a line of a file, with the functions and modules that are known of their name."""
    run = beside(0.02, late=0.0001, starved=0.0, use=4)
    run = sampled_in(run, "return self.func(*new_argspec)", file=file)
    run.tables["functions"] = {
        "prefix": ["loop"] * len(functions),
        "function": [function for function, _ in functions],
        "module": [module for _, module in functions],
    }
    return run


def test_any_sleep_may_count() -> None:
    waits, any_of_it = beside(0.02, late=0.0001, starved=0.0, use=4), {"sleeping.share": 0.0}
    assert told(waits, "io-wait", thresholds=any_of_it)
    sleeps = sampled_in(waits, "time.sleep(1)", "read()", "read()")
    assert told(sleeps, "sleeping", thresholds=any_of_it)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("read()  # or sleep()",), id="a remark"),
        pytest.param(("oversleep()",), id="another name"),
        pytest.param(("time.sleep(1)", "read()", "read()"), id="less than half"),
    ],
)
def test_who_sleeps_a_little_waits_for_data(lines: tuple[str, ...]) -> None:
    run = sampled_in(beside(0.02, late=0.0001, starved=0.0, use=4), *lines)
    assert one(run, "io-wait").severity == "critical"
    assert told(run, "sleeping") == []


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(beside(0.5, late=0.0002, starved=1.0), id="short of cores"),
        pytest.param(beside(0.7, late=0.0002, starved=0.0, use=140), id="some waiting"),
    ],
)
def test_no_io_wait(run: Run) -> None:
    assert told(run, "io-wait") == []


def test_tasks_that_gave_their_thread_back_are_not_told() -> None:
    run = beside(0.5, late=0.01, starved=0.02)
    for thread in ("3", "4", "5"):
        run.task("outer", "a", 0, 10, cpu=0.0, thread=thread)
    assert told(run, "gil-contention") == [] == told(run, "io-wait")


def test_waiting_tasks_that_nothing_waits_behind_are_not_told() -> None:
    run = Run(a=TWO)
    run.task("sleep", "a", 0, 10, cpu=0.0, thread="1")
    run.task("sleep", "a", 0, 10, cpu=0.0, thread="2")
    assert told(run, "io-wait") == []


def chain(links: int, length: float) -> Run:
    run = Run(a=TWO, b=TWO)
    last: tuple[int, ...] = ()
    for number in range(links):
        last = (run.task("step", "a", number * length, (number + 1) * length, *last),)
    return run


def test_a_chain_of_tasks() -> None:
    found = one(chain(10, 1.0), "critical-path")
    assert found.tasks == ("step",)
    assert found.cost_thread_seconds == pytest.approx(30)
    assert found.cost_seconds == pytest.approx(7.5)
    assert told(chain(10, 1.0), "too-few-tasks") == []


def test_where_most_of_the_time_of_a_chain_is_spent_is_told_not_in_how_many_of_its_tasks() -> None:
    run = chain(9, 1.0)
    run.task("fit", "a", 9, 24, 8)
    title = one(run, "critical-path").title.replace(words.SPACE, " ")
    assert title == "A chain of 10 tasks, most of the time in `fit`, takes 24 s of 24 s"


def test_chains_one_after_the_other_are_not_told_as_one() -> None:
    run = chain(10, 1.0)
    last: tuple[int, ...] = ()
    for number in range(5):
        start = 10 + 2.0 * number
        last = (run.task("walk", "b", start, start + 2, *last, submitted=10.0),)
    found = one(run, "critical-path")
    assert found.title.startswith("2 chains of 15 tasks in all, most of the time in `step`, take 20")
    assert "before in its chain" in found.why and found.evidence[0][:2] == ("chains", 2)


def test_a_chain_beside_other_work_is_not_told() -> None:
    run = chain(10, 1.0)
    for thread in ("2", "3", "4"):
        for number in range(10):
            run.task("other", "b", number, number + 1.0, thread=thread)
    assert told(run, "critical-path") == []


def test_a_tree_of_tasks_is_no_chain() -> None:
    run = Run()
    level = [
        run.task("leaf", "ab"[number % 2], number // 2 * 0.5, number // 2 * 0.5 + 0.5) for number in range(16)
    ]
    at = 4.0
    while len(level) > 1:
        level = [
            run.task("add", "ab"[place % 2], at + place // 2 * 0.1, at + place // 2 * 0.1 + 0.1, *pair)
            for place, pair in enumerate(zip(level[::2], level[1::2], strict=True))
        ]
        at += 0.1 * ((len(level) + 1) // 2)
    assert list(run.recording().findings()) == []


def test_too_few_tasks() -> None:
    run = Run(a=TWO, b=TWO)
    run.task("half", "a", 0, 5, thread="1")
    run.task("half", "b", 0, 5, thread="1")
    found = one(run, "too-few-tasks")
    assert found.tasks == ("half",)
    assert found.cost_seconds == pytest.approx(2.5)
    assert "8" in found.advice


def test_nobody_knows_whether_more_tasks_could_run_where_no_one_tells_when_they_were_wanted() -> None:
    run = Run(a=TWO)
    run.task("train", "a", 0, 20)
    assert told(run, "too-few-tasks")
    for moment in ("submitted", "ready", "assigned", "received", "inputs"):
        run.attempts[0][moment] = NAN
    run.tables["executions"] = {}
    assert told(run, "too-few-tasks") == []


def test_too_few_tasks_of_each_of_many_names() -> None:
    run = Run(a=TWO, b=TWO)
    for at in range(100):
        run.task(f"fit-{at}", "a", at, at + 1, thread="1", submitted=at)
    found = one(run, "too-few-tasks")
    assert found.title == "Only 1 `fit-0` at a time for 4 threads, and too few of 99 other names"
    assert "While `fit-0`, `fit-1`, `fit-2` and tasks of 97 other names ran" in found.why


def on_a_host(run: Run, cores: int, used: float, waiting: float = 0.0) -> Run:
    """Two workers share these cores for five seconds, and use and wait for so many."""
    times = np.arange(1, 26) / 5
    run.tables["workers"] = {
        "worker": ["a", "b"],
        "host": ["here", "here"],
        "pid": [7, 8],
        "cores": [cores, cores],
        "threads": [2, 2],
        "joined": np.array([START - 1.0] * 2),
    }
    run.tables["resources"] = {
        "process": ["a"] * 25 + ["b"] * 25,
        "time": START + np.tile(times, 2),
        "cpu": np.full(50, 100 * used / 2, "f4"),
        "starved": np.full(50, 0.2 * waiting / 2, "f4"),
    }
    return run


@pytest.mark.parametrize(
    ("cores", "used", "cpu", "waiting", "thread_seconds", "seconds"),
    [
        pytest.param(0, 2.0, 1.0, 0.0, 10.0, 2.5, id="nobody knows of how many"),
        pytest.param(8, 2.0, 1.0, 0.0, 10.0, 2.5, id="more than threads"),
        pytest.param(4, 3.0, 1.0, 0.0, 5.0, 1.25, id="threads of libraries have one of those that are free"),
        pytest.param(4, 4.0, 1.0, 0.0, 0.0, 0.0, id="threads of libraries have all"),
        pytest.param(2, 1.0, 0.2, 1.0, 0.0, 0.0, id="threads of libraries and other programs have them"),
        pytest.param(4, 1.6, 0.4, 1.2, 0.0, 0.0, id="threads of libraries wait for one, too"),
        pytest.param(2, 1.0, 0.5, 0.0, 5.0, 2.5, id="fewer than threads"),
        pytest.param(2, 1.0, 0.5, 1.0, 5.0, 2.5, id="on a busy machine"),
    ],
)
def test_too_few_tasks_cost_what_cores_are_free_for(
    cores: int, used: float, cpu: float, waiting: float, thread_seconds: float, seconds: float
) -> None:
    run = Run(a=TWO, b=TWO)
    run.task("half", "a", 0, 5, thread="1", cpu=5 * cpu)
    run.task("half", "b", 0, 5, thread="1", cpu=5 * cpu)
    costs = [
        (each.cost_thread_seconds, each.cost_seconds)
        for each in told(on_a_host(run, cores, used, waiting), "too-few-tasks")
    ]
    assert costs == ([pytest.approx((thread_seconds, seconds), rel=0.02)] if seconds else [])


@pytest.mark.parametrize(
    ("cores", "used", "is_told"), [(0, 4, True), (2, 1, True), (4, 3, False), (4, 4, False)]
)
def test_a_chain_costs_what_cores_are_free_for(cores: int, used: float, is_told: bool) -> None:
    # From 30 % of the threads that have a core on.
    assert bool(told(on_a_host(chain(10, 0.5), cores, used), "critical-path")) == is_told


def test_a_chain_tells_who_waited_and_for_how_many_a_core_was_free() -> None:
    (all_free,) = told(chain(10, 0.5), "critical-path")
    assert "Meanwhile 3 of 4 threads waited for them; more" in all_free.why
    (some,) = told(on_a_host(chain(10, 0.5), 2, 1), "critical-path")
    assert "Meanwhile 3 of 4 threads waited for them, 1 of them beside a free core; more" in some.why


def test_too_few_tasks_for_workers_that_have_cores_of_their_own() -> None:
    run = Run(a=TWO, b=TWO)
    for worker in "ab":
        run.task("half", worker, 0, 5, thread="1", cpu=5.0)
    on_a_host(run, 2, 2.0)
    assert told(run, "too-few-tasks") == []
    run.tables["workers"]["core_set"] = [1, 2]
    assert told(run, "too-few-tasks")[0].cost_thread_seconds == pytest.approx(10, rel=0.02)


def test_workers_of_one_process_use_its_cores_once() -> None:
    run = Run(a=TWO, b=TWO)
    run.task("half", "a", 0, 5, thread="1")
    run.task("half", "b", 0, 5, thread="1")
    on_a_host(run, 4, 4.0)
    assert told(run, "too-few-tasks") == []
    run.tables["workers"]["pid"] = [7, 7]
    assert told(run, "too-few-tasks")[0].cost_thread_seconds == pytest.approx(10, rel=0.02)


def test_a_last_wave_that_is_not_full_is_not_told() -> None:
    run = Run(a=TWO, b=TWO)
    for number in range(10):
        for worker, thread in (("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")):
            run.task("piece", worker, number * 0.5, number * 0.5 + 0.5, thread=thread, submitted=0)
    run.task("piece", "a", 5, 5.5, submitted=0)
    assert list(run.recording().findings()) == []


def test_gaps_between_computations() -> None:
    run = Run()
    for number in range(6):
        for worker in "ab":
            run.task("piece", worker, 2 * number, 2 * number + 1, submitted=2 * number)
    found = one(run, "client-gap")
    assert found.cost_seconds == pytest.approx(5)
    assert found.cost_thread_seconds == pytest.approx(10)
    assert "dask.compute(*parts)" in found.advice


@pytest.mark.parametrize(("nbytes", "gap", "fetching"), [(60e6, 7.5, 7.5), (6e6, 15, 0)])
def test_gaps_in_which_the_client_fetched_much_are_told_as_that(
    nbytes: float, gap: float, fetching: float
) -> None:
    """Half a second to send, and one until it is there, of gaps of three."""
    run = Run()
    for number in range(6):
        for worker in "ab":
            run.task("piece", worker, 4 * number, 4 * number + 1, submitted=4 * number)
    sent = START + 4.0 * np.arange(5) + 1
    run.tables["transfers"] = {
        "transfer": range(5),
        "worker": ["a"] * 5,
        "direction": ["out"] * 5,
        "nbytes": np.full(5, nbytes),
        "start": sent,
        "stop": sent + 0.5,
    }
    run.tables["transferred"] = {"transfer": range(5), "task": range(0, 10, 2), "nbytes": np.full(5, nbytes)}
    assert one(run, "client-gap").cost_seconds == pytest.approx(gap)
    assert sum(each.cost_seconds for each in told(run, "oversized-results")) == pytest.approx(fetching)


def test_a_restart_is_no_gap_of_the_client() -> None:
    run = Run(
        a=CLUSTER | {"left": 2.1},
        b=CLUSTER | {"left": 2.1},
        c=CLUSTER | {"joined": 5.0},
        d=CLUSTER | {"joined": 5.5},
    )
    for number in range(2):
        for worker in "ab":
            run.task("piece", worker, number, number + 1)
        for worker in "cd":
            run.task("piece", worker, 6 + number, 7 + number, submitted=6)
    row = {"time": START + 2.0, "source": "scheduler", "kind": "restart", "level": "warning", "message": ""}
    run.events.append(row)
    found = one(run, "restart")
    assert (found.start, found.stop) == (pytest.approx(2), pytest.approx(5))
    assert found.cost_seconds == pytest.approx(3)
    # What is left of the gap is the client's.
    assert told(run, "client-gap")[0].cost_seconds == pytest.approx(1)
    run.events.clear()
    assert told(run, "client-gap")[0].cost_seconds == pytest.approx(4)


def test_what_another_cluster_took_to_start_is_no_gap_of_the_client() -> None:
    run = Run(a=CLUSTER | {"left": 2.0}, b=CLUSTER | {"joined": 5.0}, c=CLUSTER | {"joined": 6.0})
    for number in range(2):
        run.task("piece", "a", number, number + 1)
        run.task("piece", "b", 6 + number, 7 + number, submitted=6)
    workers = {
        "worker": ["a", "b", "c"],
        "threads": [1, 1, 1],
        "joined": [START - 10, START + 5, START + 6],
        "left": [START + 2, np.nan, np.nan],
    }
    run.tables = {"workers": workers | {"cluster": ["one", "two", "two"]}}
    found = one(run, "new-cluster")
    assert (found.start, found.stop) == (pytest.approx(2), pytest.approx(5))
    assert found.cost_seconds == pytest.approx(3)
    assert told(run, "client-gap")[0].cost_seconds == pytest.approx(1)
    # One that had no workers for a while is the same cluster.
    run.tables = {"workers": workers | {"cluster": ["one", "one", "one"]}}
    assert not told(run, "new-cluster")
    assert told(run, "client-gap")[0].cost_seconds == pytest.approx(4)


def test_short_gaps_are_not_told() -> None:
    run = Run()
    for number in range(6):
        for worker in "ab":
            run.task("piece", worker, 1.05 * number, 1.05 * number + 1, submitted=1.05 * number)
    assert told(run, "client-gap") == []


def scheduler(run: Run, cpu: float, lag: float, seconds: int = 12) -> Run:
    run.tables["resources"] = {
        "process": ["scheduler"] * seconds,
        "time": START + 1.0 + np.arange(seconds),
        "cpu": np.full(seconds, cpu, "f4"),
        "lag": np.full(seconds, lag, "f4"),
    }
    return run


def unassigned(wait: float) -> Run:
    """Tasks that each stay unassigned for a while."""
    run = Run()
    for number in range(20):
        start = number // 2 + wait
        run.task("work", "ab"[number % 2], start, number // 2 + 1.0, submitted=0, assigned=start)
    return run


def limited(run: Run, cores: float, share: float) -> Run:
    """What is sampled had used up a limit on its CPU time in so many of its periods."""
    table = run.tables["resources"]
    rows = len(table["process"])
    table |= {"cpu_limit": np.full(rows, cores, "f4"), "throttled": np.full(rows, share, "f4")}
    return run


def test_a_limit_on_cpu_time_costs_what_tasks_waited_for_it() -> None:
    run = limited(on_cores(beside(0.5, late=0.0002, starved=1.0, use=100), 16), 1.0, 0.9)
    found = one(run, "cpu-limit")
    assert found.workers == ("a",) and found.severity == "critical"
    # Ten samples of a second's wait, nine tenths of which were at the limit, over two threads.
    assert found.cost_thread_seconds == pytest.approx(9) and found.cost_seconds == pytest.approx(4.5)
    assert "1 core stopped workers in 90 %" in found.title.replace("\u202f", " ")
    assert "'cpu': '2'" in found.advice and "--nthreads 1" in found.advice
    assert told(run, "busy-host") == told(run, "oversubscribed") == []


def test_workers_that_followed_one_another_have_no_more_threads() -> None:
    lock, limit = beside(0.5, late=0.01, starved=0.02), beside(0.5, late=0.0002, starved=1.0, use=100)
    for run in (lock, limit):
        later = {"threads": 2, "joined": 10.0, "left": NAN}
        run.workers = {"a": TWO | {"left": 10.0}, "b": later}
        for number in range(20):
            run.task("loop", "b", 10 + number // 2, 11 + number // 2, cpu=0.5, thread=str(1 + number % 2))
        for name in ("resources", "sampling"):
            table = run.tables[name]
            run.tables[name] = {each: [*values, *values] for each, values in table.items()}
            run.tables[name]["process"][10:] = ["b"] * 10
            run.tables[name]["time"][10:] = START + 11.0 + np.arange(10)
    run.tables["workers"] = run._columns()["workers"] | {"host": ["here"] * 2, "cores": [16] * 2}
    assert "n_workers=2, threads" in one(lock, "gil-contention").advice
    assert "'cpu': '2'" in told(limited(limit, 1.0, 0.9), "cpu-limit")[0].advice


@pytest.mark.parametrize(("core_set", "cpus"), [([5, 5], 4), ([5, 6], 2)])
def test_a_limit_is_for_the_threads_of_its_container(core_set: list[int], cpus: int) -> None:
    run = limited(side_by_side(1, core_set, cpu=0.45, starved=1.1, use=90), 1.0, 0.9)
    assert f"'cpu': '{cpus}'" in one(run, "cpu-limit").advice


def test_a_limit_that_is_seldom_reached_is_not_told() -> None:
    run = limited(on_cores(beside(0.5, late=0.0002, starved=1.0, use=100), 16), 1.0, 0.2)
    assert told(run, "cpu-limit") == []
    assert [each.workers for each in told(run, "busy-host")] == [("a",)]


def test_a_limit_costs_no_more_than_tasks_were_without_a_cpu() -> None:
    (found,) = told(limited(beside(0.95, late=0.0002, starved=1.0), 1.0, 1.0), "cpu-limit")
    assert found.cost_thread_seconds == pytest.approx(1)


def test_a_limit_is_a_risk_where_nothing_tells_how_long_tasks_waited() -> None:
    run = limited(beside(0.5, late=0.0002, starved=NAN), 1.0, 0.9)
    (found,) = told(run, "cpu-limit")
    assert found.is_risk and found.cost_seconds == 0 and found.severity == "info"


def test_a_limit_of_the_scheduler_is_a_risk() -> None:
    run = limited(scheduler(unassigned(0.4), cpu=95, lag=0.3), 0.5, 0.6)
    assert "have that raised first" in one(run, "scheduler-bound").why
    (found,) = told(run, "cpu-limit")
    assert found.is_risk and not found.workers and "0.5 cores stopped the scheduler" in found.title
    assert told(limited(scheduler(unassigned(0.4), cpu=95, lag=0.3), 0.5, 0.1), "cpu-limit") == []


def test_a_scheduler_that_cannot_keep_up() -> None:
    found = one(scheduler(unassigned(0.4), cpu=95, lag=0.3), "scheduler-bound")
    assert found.tasks == ("work",)
    assert found.cost_seconds == pytest.approx(4, rel=0.15)


def test_a_scheduler_that_had_to_wait_for_a_core_is_told_from_one_that_has_too_much_to_do() -> None:
    run = scheduler(unassigned(0.4), cpu=40, lag=0.002)
    assert told(run, "scheduler-bound") == []
    run.tables["resources"]["starved"] = np.full(12, 0.5, "f4")
    found = one(run, "scheduler-bound")
    assert "had to wait for a core" in found.title and "57\u202f%" in found.why
    assert "a core of its own" in found.advice and found.cost_seconds == pytest.approx(4, rel=0.15)
    # A limit on its CPU time makes it wait as well, however many cores are free.
    found = one(limited(run, 0.5, 0.6), "scheduler-bound")
    assert "had to wait for a core" not in found.title and "have that raised first" in found.why
    run = scheduler(unassigned(0.4), cpu=95, lag=0.3)
    run.tables["resources"]["starved"] = np.full(12, 0.05, "f4")
    assert "could not keep up" in one(run, "scheduler-bound").title


def test_many_tasks_that_wait_for_their_worker_are_a_matter_of_the_scheduler() -> None:
    run = Run()
    for number in range(2000):
        start = number // 2 * 0.006
        run.task("work", "ab"[number % 2], start + 0.004, start + 0.006, submitted=0, assigned=start + 0.004)
    (found,) = told(scheduler(run, cpu=40, lag=0.002), "scheduler-bound")
    # Bounded by what a task costs a scheduler that has a core for itself.
    assert found.cost_seconds == pytest.approx(3, rel=0.05)


def test_waiting_for_an_idle_scheduler_is_not_its_fault() -> None:
    assert told(scheduler(unassigned(0.4), cpu=10, lag=0.002), "scheduler-bound") == []
    assert told(scheduler(unassigned(0.04), cpu=95, lag=0.3), "scheduler-bound") == []


def on_its_loop(run: Run, *files: str, busy: float = 0.9) -> Run:
    """The scheduler's event loop was in a function of each file, callers first, that share of each second."""
    loop = ("/usr/lib/python3.11/asyncio/events.py", "/x/site-packages/distributed/scheduler.py")
    depth = 2 + len(files)
    run.tables["stacks"] = {
        "stack": np.arange(depth, dtype="u4"),
        "parent": np.append(np.uint32(NOTHING), np.arange(depth - 1, dtype="u4")),
        "function": ["Handle._run", "transition", *(f"f{at}" for at in range(len(files)))],
        "file": [*loop, *files],
        "line": np.full(depth, 9, "u4"),
        "first_line": np.full(depth, 7, "u4"),
    }
    # The rest of each second it waits for what comes.
    run.tables["samples"] = {
        "process": ["scheduler"] * 20,
        "thread": ["event loop"] * 20,
        "time": START + np.arange(20) // 2 + np.tile([busy, 1.0], 10),
        "duration": np.tile(np.array([busy, 1 - busy], "f4"), 10),
        "stack": np.tile(np.array([depth - 1, 0], "u4"), 10),
        "run": np.full(20, NOTHING, "u4"),
    }
    return run


def test_what_no_part_of_dask_does_on_the_schedulers_event_loop_is_named() -> None:
    # Neither its process nor its event loop tells of some milliseconds at a time.
    run = on_its_loop(scheduler(unassigned(0.4), cpu=10, lag=0.002), "/home/me/dask/audit.py", "/x/json.py")
    found = one(run, "scheduler-bound")
    assert "held up by `f0` (`audit.py:9`)" in found.title and "f1" not in found.why
    assert found.cost_thread_seconds == pytest.approx(8, rel=0.05)
    assert "for 90 % of" not in found.why and "for 100 % of" in found.why.replace("\u202f", " ")
    # It is told once.
    run = on_its_loop(scheduler(unassigned(0.4), cpu=95, lag=0.9), "/home/me/dask/audit.py")
    assert "audit.py" in one(run, "scheduler-bound").title and told(run, "event-loop-lag") == []


def test_what_dask_does_on_its_own_event_loop_is_not_named() -> None:
    run = on_its_loop(scheduler(unassigned(0.4), cpu=95, lag=0.3), "/x/site-packages/distributed/spans.py")
    assert "could not keep up" in one(run, "scheduler-bound").title
    run = on_its_loop(scheduler(unassigned(0.4), cpu=95, lag=0.3), "/home/me/audit.py", busy=0.1)
    assert "could not keep up" in one(run, "scheduler-bound").title


def test_what_stops_the_schedulers_event_loop_is_named() -> None:
    run = on_its_loop(scheduler(unassigned(0.02), cpu=95, lag=0.9), "/home/me/audit.py")
    assert told(run, "scheduler-bound") == []
    found = one(run, "event-loop-lag")
    assert found.title.startswith("`f0` (`audit.py:9`) kept the scheduler's event loop from running")
    assert "queue.SimpleQueue" in found.advice


def collected(run: Run, process: str, *seconds: float, run_of: int = NOTHING, every: float = 1.0) -> Run:
    """A process looked for garbage for so long at the end of each second."""
    run.tables["collections"] = {
        "process": [process] * len(seconds),
        "time": START + every * (1 + np.arange(len(seconds))),
        "duration": np.array(seconds, "f4"),
        "freed": np.full(len(seconds), 3, "u4"),
        "run": np.full(len(seconds), run_of, "u4"),
    }
    return run


def two_names() -> Run:
    """Ten seconds of `parse` on one worker, and of `plain` on the other."""
    run = Run()
    run.task("parse", "a", 0, 10)
    run.task("plain", "b", 0, 10)
    return run


def test_a_task_that_makes_many_objects_spends_its_time_collecting_garbage() -> None:
    found = one(collected(two_names(), "a", *[0.4] * 10, run_of=0), "garbage-collection")
    assert found.tasks == ("parse",) and found.workers == ("a",) and found.severity == "warning"
    assert found.cost_thread_seconds == pytest.approx(4) and found.cost_seconds == pytest.approx(2)
    assert "40 %" in found.title.replace("\u202f", " ") and "freed 30 objects" in found.why
    assert "client.run(gc.set_threshold" in found.advice
    assert told(collected(two_names(), "a", *[0.08] * 10, run_of=0), "garbage-collection") == []


def test_who_happened_to_collect_garbage_is_no_straggler() -> None:
    run = Run()
    end = even(run)
    last = run.task("piece", "b", end, end + 4)
    assert [each.tasks for each in told(run, "straggler")] == [("piece",)]
    collected(run, "b", 3.5, run_of=last, every=end + 4)
    assert told(run, "straggler") == []
    assert one(run, "garbage-collection").cost_thread_seconds == pytest.approx(3.5)


def test_collections_that_began_before_the_run_count_from_its_start() -> None:
    (found,) = told(collected(two_names(), "a", 90.0, run_of=0, every=2), "garbage-collection")
    assert found.cost_thread_seconds == pytest.approx(2)


def test_a_scheduler_that_collects_garbage_has_not_too_much_to_do() -> None:
    run = scheduler(unassigned(0.4), cpu=95, lag=0.3)
    collected(run, "scheduler", *[0.4] * 10)
    run.tables["collections"]["time"] = run.tables["collections"]["time"] - 0.6
    found = one(run, "garbage-collection")
    assert found.cost_seconds == pytest.approx(4, rel=0.05) and not found.tasks
    assert "gc.freeze()" in found.advice
    assert "the scheduler's process" in found.title
    assert told(run, "scheduler-bound") == []
    run.tables["collections"]["process"] = ["client"] * 10
    assert "the client's process" in one(run, "garbage-collection").title
    # While all threads are busy, nothing waits for it.
    assert told(collected(two_names(), "scheduler", *[0.4] * 10), "garbage-collection") == []


def submitted(run: Run, tasks: int, materialize: float) -> Run:
    run.tables["submissions"] = {
        "submission": [0],
        "time": np.array([START]),
        "tasks": np.array([tasks]),
        "materialize": np.array([materialize], "f4"),
        "ordering": np.array([materialize / 2], "f4"),
        "states": np.array([materialize / 2], "f4"),
    }
    return run


def test_a_large_graph() -> None:
    run = Run()
    even(run)
    found = one(submitted(run, 200_000, 2.0), "large-graph")
    assert found.cost_seconds == pytest.approx(4)
    assert found.tasks == ("piece",)


@pytest.mark.parametrize(("start", "cost"), [(5, None), (-1, 1)])
def test_a_part_of_a_run_pays_for_what_it_has_of_graphs(start: float, cost: float | None) -> None:
    run = Run()
    even(run, count=40)
    part = submitted(run, 200_000, 2.0).recording().slice(start, 15)
    found = [each for each in part.findings() if each.code == "large-graph"]
    assert [each.cost_seconds for each in found] == ([] if cost is None else [pytest.approx(cost)])


def test_many_graphs_are_not_told_as_one() -> None:
    run = Run()
    even(run)
    few = {"submission": range(3), "time": START - np.arange(3), "tasks": [3000, 5000, 4000]}
    run.tables["submissions"] = {**few, "states": np.full(3, 1.0, "f4")}
    assert one(run, "large-graph").title.startswith("3 graphs of up to 5,000 tasks took the scheduler 3")


def test_a_graph_of_many_bytes_and_few_tasks_is_told_by_its_bytes() -> None:
    run = Run()
    even(run)
    both = {"submission": range(2), "time": [START] * 2, "tasks": [800, 990], "nbytes": [12e6, 1e3]}
    run.tables["submissions"] = {**both, "states": np.full(2, 0.01, "f4")}
    (found,) = told(run, "large-graph")
    assert found.severity == "warning"
    assert found.title == f"{words.size(12e6)} of graph for 800 tasks were sent to the scheduler"


def test_a_graph_of_few_tasks_that_was_long_in_the_making() -> None:
    run = Run()
    even(run)
    run.tables["graph"] = {
        "task": range(len(run.names)),
        "prefix": run.names,
        "submission": np.zeros(len(run.names), "u4"),
    }
    submitted(run, 1500, 2.0)
    found = one(run, "slow-graph")
    assert found.cost_seconds == pytest.approx(4)
    assert found.tasks == ("piece",) and "4 s" in found.title.replace("\u202f", " ")
    assert told(run, "large-graph") == []
    # A graph that carries data is told of that; one of many tasks of these; a short time is of no matter.
    run.tables["submissions"]["nbytes"] = np.array([20e6])
    assert told(run, "slow-graph") == [] and told(run, "large-graph")
    assert told(submitted(run, 5000, 2.0), "slow-graph") == []
    assert told(submitted(run, 10, 0.4), "slow-graph") == []
    # It may take longer than all that is done with it.
    (found,) = told(submitted(run, 10, 40.0), "slow-graph")
    assert found.severity == "critical" and "80 s" in found.title.replace("\u202f", " ")


@pytest.mark.parametrize("ran", [True, False])
@pytest.mark.parametrize("made", [False, True])
def test_a_graph_that_was_still_being_made(made: bool, ran: bool) -> None:
    run = Run()
    if ran:
        even(run)
    detail = json.dumps({"since": START + 3, "file": "/home/ada/train.py", "line": 7})
    run.events.append(
        {"time": START + 13, "source": "scheduler", "kind": "graph", "message": "", "detail": detail}
    )
    run.tables["resources"] = {"process": ["scheduler"] * 2, "time": START + np.array([1.0, 33.0])}
    # One that came before says nothing of it.
    submitted(run, 10, 0.1)
    if made:
        run.tables["submissions"]["time"] = np.array([START + 14.0])
    found = told(run, "slow-graph")
    assert len(found) == (not made)
    for each in found:
        assert each.severity == "critical" and each.is_risk
        assert "30 s" in each.title.replace("\u202f", " ") and "`train.py:7`" in each.why
        assert (each.start, each.stop) == ((3, 5) if ran else (3, 33))


def test_graphs_that_are_quickly_taken_in_are_not_told() -> None:
    run = Run()
    even(run)
    assert told(submitted(run, 5_000, 0.1), "large-graph") == []


def test_data_inside_of_tasks() -> None:
    run = Run()
    for number in range(10):
        for worker in "ab":
            run.task("score", worker, number + 0.4, number + 1.0, assigned=float(number))
    of = run.attempts
    for row in of:
        row["received"] = row["inputs"] = row["start"]
    found = one(run, "large-graph")
    assert found.tasks == ("score",) and "client.scatter" in found.advice
    assert found.cost_seconds == pytest.approx(4, rel=0.01)


def carrying(run: Run, nbytes: float) -> Run:
    """Each task with its data in a graph of its own, on its way to a worker for 0.2 s."""
    for row in run.attempts:
        row["received"] = row["inputs"] = row["assigned"] + 0.2
    numbers = range(len(run.names))
    run.tables["graph"] = {"task": numbers, "prefix": run.names, "submission": numbers}
    run.tables["submissions"] = {
        "submission": numbers,
        "time": START + np.array([row["submitted"] for row in run.attempts]),
        "tasks": np.ones(len(run.names), "u4"),
        "nbytes": np.full(len(run.names), nbytes),
    }
    return run


def one_by_one(nbytes: float, every: float) -> Run:
    run = Run(a=CLUSTER)
    for number in range(10):
        start = every * number
        run.task("score", "a", start + 0.2, start + 0.5, submitted=start)
    return carrying(run, nbytes)


def test_data_inside_of_tasks_that_are_submitted_one_by_one() -> None:
    found = one(one_by_one(15e6, every=0.5), "large-graph")
    assert "200" in found.title and found.severity == "critical"
    # The first task of a worker may wait for imports.
    assert found.cost_thread_seconds == pytest.approx(2, abs=0.2)
    assert told(one_by_one(500.0, every=0.5), "large-graph") == []


def test_packing_data_is_no_gap_of_the_client_for_as_long_as_that_takes() -> None:
    """Before each task that is 0.2 s on its way the client packed it for as long, and slept for the rest."""
    run = one_by_one(15e6, every=1.5)
    assert told(run, "client-gap")[0].cost_seconds == pytest.approx(9 * 0.8)
    assert told(run, "large-graph")[0].cost_thread_seconds == pytest.approx(10 * 0.2 + 9 * 0.2)
    for row in run.attempts[1:]:
        # Tasks that come together were packed together.
        row["submitted"] = row["ready"] = row["assigned"] = 2.5
        row["received"] = row["inputs"] = 2.7
    for number, row in enumerate(run.attempts[1:]):
        row["executing"] = row["start"] = 2.7 + 0.3 * number
        row["stop"] = row["ended"] = row["done"] = row["start"] + 0.3
    assert told(run, "client-gap") == []


@pytest.mark.parametrize(("nbytes", "severity"), [(20e6, "info"), (200e6, "warning")])
def test_data_that_one_task_brings_for_others(nbytes: float, severity: str) -> None:
    """As `dask.delayed(data)` does; where each brings its own, none is needed by others."""
    run = Run()
    data = run.task("ndarray", "a", 0, 0.01)
    for number in range(10):
        for worker in "ab":
            run.task("score", worker, 0.5 * number + 0.01, 0.5 * number + 0.51, data)
    run.tables["graph"] = {
        "task": range(len(run.names)),
        "prefix": run.names,
        "submission": np.zeros(len(run.names), "u4"),
    }
    submitted(run, len(run.names), 0.0)
    run.tables["submissions"]["nbytes"] = np.array([nbytes])
    columns = run._columns()["attempts"]
    run.tables["attempts"] = columns | {"nbytes": np.array([nbytes] + [8.0] * 20)}
    (found,) = told(run, "large-graph")
    assert found.severity == severity and found.tasks == ("ndarray",)
    assert "once for all that need it" in found.title and "every single task" not in found.why
    assert "dask.delayed(load)(path)" in found.advice
    run.tables["attempts"] = columns | {"nbytes": np.full(21, 8.0)}
    (found,) = told(run, "large-graph")
    assert found.severity == ("critical" if severity == "warning" else "warning")
    assert "every single task" in found.why


def test_what_is_sent_first_of_large_graphs_carries_no_data() -> None:
    """It is on its way for as long as the scheduler is busy with the rest of its graph."""
    run = Run()
    for graph in range(4):
        for worker in "ab":
            run.task("open", worker, 3 * graph + 0.5, 3 * graph + 0.6, assigned=3 * graph + 0.01)
            run.attempts[-1]["received"] = run.attempts[-1]["inputs"] = run.attempts[-1]["start"]
            run.task("work", worker, 3 * graph + 0.6, 3 * graph + 3, assigned=3 * graph + 0.6)
    submission = [number // 4 for number in range(len(run.names))]
    run.tables["graph"] = {"task": range(len(run.names)), "prefix": run.names, "submission": submission}
    run.tables["submissions"] = {"submission": range(4), "time": START + 3.0 * np.arange(4), "tasks": [4] * 4}
    assert told(run, "large-graph") == []


def test_a_cold_start() -> None:
    run = Run()
    for worker in "ab":
        run.task("predict", worker, 0, 3)
        for number in range(10):
            run.task("predict", worker, 3 + number * 0.5, 3.5 + number * 0.5, submitted=0)
    found = one(run, "cold-start")
    assert found.tasks == ("predict",) and set(found.workers) == {"a", "b"}
    assert found.cost_seconds == pytest.approx(2.5)
    assert "on each worker took 2.5" in found.title, "and not as much on all together"
    assert told(run, "straggler") == []


def test_the_first_task_of_one_worker_alone_is_no_cold_start() -> None:
    run = Run()
    run.task("predict", "a", 0, 3)
    for number in range(10):
        run.task("predict", "a", 3 + number * 0.5, 3.5 + number * 0.5, submitted=0)
    for number in range(16):
        run.task("predict", "b", number * 0.5, 0.5 + number * 0.5, submitted=0)
    assert told(run, "cold-start") == []


def test_workers_that_join_late_while_tasks_wait() -> None:
    run = Run(a={"threads": 1, "joined": -1.0, "left": NAN}, b={"threads": 1, "joined": 4.0, "left": NAN})
    for number in range(20):
        run.task("work", "a", number * 0.5, number * 0.5 + 0.5, submitted=0)
    for number in range(10):
        run.task("work", "b", 5 + number * 0.5, 5.5 + number * 0.5, submitted=0)
    found = one(run, "cold-start")
    assert found.workers == ("b",)
    assert "wait_for_workers" in found.advice
    # For four seconds two threads would have done what one did.
    assert found.cost_seconds == pytest.approx(2)


def came_late(*rounds: tuple[float, float, float]) -> Run:
    """Ten tasks of half a second a round: when they were wanted, when two workers joined, and left."""
    run = Run()
    run.workers = {}
    for number, (wanted, joined, left) in enumerate(rounds):
        for place in range(2):
            name = f"{number}-{place}"
            run.workers[name] = {"threads": 1, "joined": joined, "left": left}
            for task in range(5):
                start = joined + task * 0.5
                run.task("work", name, start, start + 0.5, submitted=wanted, assigned=joined)
    return run


def test_workers_that_join_when_none_is_there_cost_no_more_than_they_were_late() -> None:
    found = one(came_late((0.0, 8.0, NAN)), "cold-start")
    assert found.severity == "critical" and found.title.startswith("2 workers joined up to 8")
    assert found.cost_seconds == pytest.approx(8)


def test_time_without_any_worker_is_not_shared_among_threads() -> None:
    run = came_late((0.0, 300.0, NAN))
    run.attempts, run.names = [], []
    run.task("train", "0-0", 300, 360)
    run.task("ping", "0-1", 300, 300)
    (found,) = told(run, "too-few-tasks")
    assert found.title == "Only 1 `train` at a time for 2 threads"
    assert found.cost_seconds == pytest.approx(30)
    assert facts(run).threads == pytest.approx(2) and facts(run).spread(1e3) == pytest.approx(60)


@pytest.mark.parametrize("second", [80.0, 81.0])
def test_who_waits_long_for_the_first_workers_is_told(second: float) -> None:
    run = came_late((0.0, 80.0, NAN))
    run.workers["0-1"]["joined"] = second
    found = one(run, "cold-start")
    assert found.cost_seconds == pytest.approx(80, abs=0.5) and len(found.workers) == 2
    # Where most are there, it is a cluster that grows.
    run.workers["early"] = CLUSTER | {"threads": 3}
    run.task("work", "early", 0, 80)
    assert told(run, "cold-start") == []


def test_workers_that_an_adaptive_cluster_starts_twice_are_late_twice() -> None:
    found = one(came_late((0.0, 4.0, 7.0), (12.0, 18.0, NAN)), "cold-start")
    assert found.severity == "critical" and len(found.workers) == 4
    assert found.title.startswith("4 workers joined up to 6")
    assert found.cost_seconds == pytest.approx(10)
    assert "wait_for_workers(2," in found.advice and "minimum=2" in found.advice


def test_who_takes_the_place_of_a_lost_worker_is_not_late() -> None:
    run = Run(
        a={"threads": 1, "joined": -1.0, "left": 2.0},
        b={"threads": 1, "joined": 6.0, "left": NAN},
        c={"threads": 1, "joined": -1.0, "left": NAN},
    )
    for number in range(20):
        run.task("work", "c", number * 0.5, number * 0.5 + 0.5, submitted=0)
    for worker, first in (("a", 0.0), ("b", 6.0)):
        for number in range(4):
            run.task("work", worker, first + number * 0.5, first + number * 0.5 + 0.5, submitted=0)
    assert told(run, "cold-start") == []


def test_results_that_are_made_again() -> None:
    run = Run()
    made = [run.task("load", worker, number, number + 1) for number in range(2) for worker in "ab"]
    run.task("first", "a", 2, 2.1, *made)
    for place, task in enumerate(made):
        start = 2.2 + place // 2
        run.task("load", "ab"[place % 2], start, start + 1, task=task, submitted=2.2)
    run.task("second", "a", 4.2, 4.3, *made, submitted=2.2)
    found = one(run, "recompute")
    assert found.tasks == ("load",)
    assert found.cost_thread_seconds == pytest.approx(4)
    assert found.cost_seconds == pytest.approx(2, rel=0.1)


def test_one_result_that_is_made_again() -> None:
    run = Run(a=CLUSTER)
    task = run.task("load", "a", 0, 2)
    run.task("load", "a", 3, 5, task=task, submitted=3)
    (found,) = told(run, "recompute")
    assert found.title == f"1 task `load` was computed again: {words.duration(2)}"


def test_results_lost_with_their_worker_are_told_elsewhere() -> None:
    run = Run(a={"threads": 1, "joined": -1.0, "left": NAN}, b={"threads": 1, "joined": -1.0, "left": 2.0})
    made = [run.task("load", "b", number, number + 1.0) for number in range(2)]
    for task in made:
        run.task("load", "a", 2.1 + task, 3.1 + task, task=task, submitted=2.05)
    assert told(run, "recompute") == []


def fused(run: Run, groups: dict[str, tuple[int, ...]], parts: dict[str, tuple[str, ...]]) -> Run:
    """Tasks of these groups, each group a submission of its own, with what was fused into them.

    Every attempt spends its first half in the function of the part ``load``.
    """
    group_of = {task: name for name, tasks in groups.items() for task in tasks}
    run.tables["graph"] = {
        "task": range(len(run.names)),
        "prefix": run.names,
        "group": [group_of[task] for task in range(len(run.names))],
        "submission": [list(groups).index(group_of[task]) for task in range(len(run.names))],
    }
    rows = [(group, part) for group, inside in parts.items() for part in inside]
    run.tables["fused"] = {
        "group": [group for group, _ in rows],
        "part": [part for _, part in rows],
        "function": [part.partition("-")[0] for _, part in rows],
        "file": ["mine.py"] * len(rows),
        "line": [len(part) for _, part in rows],
    }
    run.tables["stacks"] = {
        "stack": [1, 2, 3],
        "parent": [NOTHING, 1, NOTHING],
        "function": ["load", "read", "reduce"],
        "file": ["mine.py"] * 3,
        "line": [12, 20, 30],
        "first_line": [len("load-1"), 19, 29],
    }
    of = [(row["run"], stack, half) for row in run.attempts for stack, half in ((2, 0), (3, 1))]
    half = [(run.attempts[number]["stop"] - run.attempts[number]["start"]) / 2 for number, _, _ in of]
    run.tables["samples"] = {
        "process": [run.attempts[number]["worker"] for number, _, _ in of],
        "thread": ["1"] * len(of),
        "time": [
            START + run.attempts[number]["start"] + (which + 1) * length
            for (number, _, which), length in zip(of, half, strict=True)
        ],
        "duration": np.array(half, "f4"),
        "stack": [stack for _, stack, _ in of],
        "run": [number for number, _, _ in of],
    }
    return run


def two_questions(run: Run) -> dict[str, tuple[int, ...]]:
    mean = [run.task("mean", worker, 0, 2) for worker in "ab"]
    spread = [run.task("std", worker, 2, 4, submitted=2) for worker in "ab"]
    return {"mean-9": tuple(mean), "std-9": tuple(spread)}


def test_what_was_fused_into_two_computations_is_made_again() -> None:
    run = Run()
    found = one(
        fused(run, two_questions(run), {"mean-9": ("load-1", "mean-9"), "std-9": ("load-1", "std-9")}),
        "recompute",
    )
    assert found.tasks == ("std",) and "`load`" in found.title
    assert found.cost_thread_seconds == pytest.approx(2) and found.cost_seconds == pytest.approx(1)
    assert (found.start, found.stop) == (2, 4)


def test_a_function_of_several_groups_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run, looked = Run(), []
    groups = two_questions(run) | {"max-9": (run.task("max", "a", 4, 6, submitted=4),)}
    fused(run, groups, {name: ("load-1", name) for name in groups})
    monkeypatch.setattr(inside, "below", lambda *each: looked.append(each) or below(*each))
    (found,) = told(run, "recompute")
    assert found.cost_thread_seconds == pytest.approx(3) and len(looked) == 1


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({"mean-9": ("load-1",), "std-9": ("load-2",)}, id="other data"),
        pytest.param({"mean-9": ("load-1",), "std-9": ("std-9",)}, id="kept"),
        pytest.param({"std-9": ("load-1",)}, id="once"),
    ],
)
def test_what_is_not_the_same_is_not_made_again(parts: dict[str, tuple[str, ...]]) -> None:
    run = Run()
    assert told(fused(run, two_questions(run), parts), "recompute") == []


def test_two_results_of_one_computation_are_not_made_again() -> None:
    run = Run()
    groups = two_questions(run)
    fused(run, groups, {"mean-9": ("load-1",), "std-9": ("load-1",)})
    run.tables["graph"]["submission"] = [0] * 4
    assert told(run, "recompute") == []
