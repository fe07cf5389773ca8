"""Findings whose cure depends on the cause: the same symptom planted with one and with the other."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from test_time_budget import NAN, START, Run

from dask_insight import words
from dask_insight.analysis.findings import Finding, Findings
from dask_insight.analysis.findings.fitting import fitting
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

GB = 1e9


def workers(number: int, threads: int = 1) -> dict[str, dict[str, float]]:
    return {f"w{n}": {"threads": threads, "joined": -1.0, "left": NAN} for n in range(number)}


def findings(run: Run, **more: dict[str, Any]) -> Findings:
    """All findings, with further columns of some tables."""
    recording, tables = Recording(), run._columns()
    for table, columns in more.items():
        tables[table] = {**tables.get(table, {}), **columns}
    for table, columns in tables.items():
        if columns and len(next(iter(columns.values()))):
            recording.append(encode(table, columns))
    found = recording.findings()
    assert found.failed == ()
    return found


def the(found: Findings, code: str) -> Finding:
    (one,) = [each for each in found if each.code == code]
    assert one.why and one.advice and one.evidence
    return one


def codes(found: Findings) -> list[str]:
    return [each.code for each in found]


def reading(rate: float, idle: float = 0.0, keys: str = "") -> Findings:
    """Hosts of four threads that read, with what their network carried then, and later without tasks."""
    there = workers(3, 4)
    run = Run(**there)
    for name in there:
        for second in range(20):
            for thread in "1234":
                run.task("read", name, second, second + 0.99, cpu=0.05, thread=thread)
    time = np.arange(0.5, 30, 0.5)
    rates = np.where(time < 20, rate, idle)
    sampled = {
        "process": [name for name in there for _ in time],
        "time": START + np.tile(time, 3),
        "cpu": np.full(3 * len(time), 20.0),
        "starved": np.zeros(3 * len(time)),
        "net_read": np.tile(rates, 3),
    }
    graph = {"key": [keys.format(n) for n in range(len(run.names))]} if keys else {}
    hosts = {"host": [*there], "cores": [4] * 3, "core_set": [1] * 3, "pid": [5, 6, 7]}
    return findings(run, resources=sampled, workers=hosts, graph=graph)


def test_a_line_that_is_full_carries_no_more_with_more_threads() -> None:
    full, slow = the(reading(118e6), "io-wait"), the(reading(2e6), "io-wait")
    assert full.severity == "info" and full.cost_seconds == 0
    title = full.title.replace(words.SPACE, " ")
    assert title.startswith("`read` read 113 MiB/s a host from the network") and "columns=" in full.advice
    assert slow.severity == "critical" and "more threads a worker" in slow.advice
    # So much may be what each thread gets by itself.
    assert the(reading(60e6), "io-wait").severity == "critical"
    rates = [fact.value for each in (full, slow) for fact in each.evidence if fact.unit == "bytes/s"]
    assert rates == pytest.approx([118e6, 2e6])
    # What comes without any task is none of theirs.
    assert the(reading(118e6, idle=118e6), "io-wait").severity == "critical"


def test_chunks_are_read_by_no_function_to_call() -> None:
    partitions = the(reading(2e6, keys="('read-0', {})"), "io-wait").advice
    assert "to_thread" not in partitions and "threads_per_worker=" in partitions and "row_group" in partitions
    assert "to_thread" in the(reading(2e6, keys="read-{}"), "io-wait").advice


@pytest.mark.parametrize("name", ["agg", "finalize-bag"])
def test_one_task_that_puts_all_results_together_is_not_helped_by_more_of_them(name: str) -> None:
    run = Run(**workers(16))
    parts = [run.task("chunk", f"w{n % 16}", n // 16, n // 16 + 1) for n in range(96)]
    run.task(name, "w0", 6, 36, *parts)
    found = the(findings(run), "too-few-tasks")
    assert found.title == f"One `{name}` puts 96 results together while 16 threads wait"
    assert "split_every=8" in found.advice and "rechunk" not in found.advice


def test_a_result_of_few_parts_is_put_together_by_one_task() -> None:
    run = Run(**workers(16))
    parts = [run.task("chunk", f"w{n}", 0, 6) for n in range(12)]
    run.task("finalize-bag", "w0", 6, 36, *parts)
    assert "finalize-bag" not in [name for each in findings(run) for name in each.tasks]


def test_a_last_step_of_a_reduction_is_in_steps_already() -> None:
    run = Run(**workers(6))
    parts = [run.task("chunk", f"w{n % 6}", n // 6, n // 6 + 1) for n in range(48)]
    some = [run.task("aggregate", f"w{n}", 8, 9, *parts[8 * n : 8 * n + 8]) for n in range(6)]
    run.task("combine", "w0", 9, 24, *some, *parts[:2])
    assert the(findings(run), "too-few-tasks").title == "Only 1 `combine` at a time for 6 threads"


def each_submitted(run: Run) -> Run:
    number = len(run.names)
    came = START + np.array([row["submitted"] for row in run.attempts])
    run.tables["graph"] = {"task": range(number), "prefix": run.names, "submission": range(number)}
    run.tables["submissions"] = {"submission": range(number), "time": came, "tasks": [1] * number}
    return run


def one_by_one(work: float, in_flight: int = 8) -> Run:
    """Tasks of two seconds; a client that works on each result before it submits another."""
    run = Run(**workers(8))
    ends = [(2.0, n) for n in range(in_flight)]
    for _, n in ends:
        run.task("simulate", f"w{n}", 0.0, 2.0)
    now = 0.0
    for _ in range(80):
        end, worker = ends.pop(0)
        now = max(now, end) + work
        run.task("simulate", f"w{worker}", now, now + 2, submitted=now)
        ends.append((now + 2, worker))
    return each_submitted(run)


def test_a_client_that_hands_over_tasks_too_slowly() -> None:
    found = the(findings(one_by_one(1.0)), "too-few-tasks")
    assert found.title.replace(words.SPACE, " ") == (
        "The client hands over one `simulate` every 1 s: that keeps 2.1 of 8 threads busy"
    )
    assert "16 or more" in found.advice and "as_completed" in found.advice
    # Who waits for each result before he asks for the next has handed over none too slowly.
    assert "followed one another" in the(findings(one_by_one(0.0, in_flight=1)), "too-few-tasks").title


def test_few_tasks_that_are_submitted_at_once_are_few() -> None:
    run = Run(**workers(32))
    for n in range(8):
        run.task("f", f"w{n}", 0.001 * n + 0.005, 2, submitted=0.001 * n)
    found = the(findings(each_submitted(run)), "too-few-tasks")
    assert found.title == "Only 8 `f` at a time for 32 threads" and "into more tasks" in found.advice


@pytest.mark.parametrize(("resources", "told"), [({"T": 1}, False), ({}, True)])
def test_more_tasks_run_no_more_at_once_where_resources_cap_them(
    resources: dict[str, int], told: bool
) -> None:
    run = Run(**workers(8, 4))
    for n in range(16):
        at = 600.0 * (n // 8)
        run.task("train", f"w{n % 8}", at, at + 600, inputs=0.0 if resources else at)
    # A worker with resources of its own that ran nothing takes no rule down.
    run.workers["idle"] = {"threads": 1, "joined": -1.0, "left": NAN}
    detail = {"detail": [json.dumps({"resources": resources})] * 8 + ['{"resources": {"other": 1}}']}
    assert ("too-few-tasks" in codes(findings(run, workers=detail))) == told


def killed_by_a_part(size: float, usual: float = 1e8) -> Findings:
    """Parts of 100 MB, one of them larger: the task that needs it takes four workers along."""
    there = workers(8)
    for n in range(4):
        there[f"w{n}"]["left"] = 40.0 + 10 * n
    run, sizes = Run(**there), []
    for n in range(32):
        run.task("shuffle", f"w{n % 8}", n // 8, n // 8 + 1)
        sizes.append(size if n == 5 else usual)
    for n in [*range(5), *range(6, 32)]:
        run.task("groupby", f"w{4 + n % 4}", 8 + n // 4, 9 + n // 4, n)
        sizes.append(1e6)
    task = run.task("groupby", "w0", 30, 40, 5, status="killed")
    for n in range(1, 4):
        run.task("groupby", f"w{n}", 30 + 10 * n, 40 + 10 * n, 5, status="killed", task=task)
    lost = {"processing": 1, "lost": 0, "expected": False}
    for n in range(4):
        for kind, detail in (
            ("worker-lost", lost),
            ("dask", {"worker": f"w{n}", "rss": 7.7e9}),
        ):
            event = {"time": START + 40 + 10 * n, "source": f"w{n}", "kind": kind, "level": "warning"}
            message = "worker-restart-memory" if kind == "dask" else ""
            run.events.append(event | {"message": message, "detail": json.dumps(detail)})
    errors = {
        "run": [len(run.attempts) - 1],
        "task": [task],
        "exception": ["KilledWorker('groupby', w3)"],
        "traceback": [""],
    }
    nbytes = {"nbytes": np.array([*sizes, 0, 0, 0, 0], "f8")}
    return findings(run, attempts=nbytes, workers={"memory_limit": [8 * GB] * 8}, errors=errors)


@pytest.mark.parametrize("code", ["memory-pressure", "failed-tasks"])
def test_a_part_that_is_far_larger_than_others_is_why_workers_died(code: str) -> None:
    found = the(killed_by_a_part(4.8e9), code)
    assert "4.47 GiB, 48 times the usual 95.4 MiB of `groupby`" in found.why.replace(words.SPACE, " ")
    assert found.advice.startswith("Make the parts equally large") and "['key', 'part']" in found.advice
    # Nobody died of some kilobytes, however much less others had.
    for usual in (killed_by_a_part(2e8), killed_by_a_part(8e3, usual=1e3)):
        assert (
            "times the usual" not in the(usual, code).why and "equally large" not in the(usual, code).advice
        )


def passes(number: int, seconds: float = 50.0, **more: Any) -> Findings:
    """Passes over 10 GB on a worker of 8 GB, each of which writes and reads all of them."""
    run, sizes = Run(**workers(1)), [1e8] * 100
    for n in range(100):
        run.task("persisted", "w0", n, n + 0.9)
    for n in range(100 * number):
        at = 100.0 + n
        run.task("pass", "w0", at + 0.5, at + 0.9, n % 100, submitted=100.0, executing=at + 0.05)
        sizes.append(8.0)
    metrics = {
        "worker": ["w0"] * 3,
        "context": ["execute"] * 3,
        "activity": ["disk-write", "disk-write", "disk-read"],
        "unit": ["seconds", "bytes", "bytes"],
        "value": [seconds, number * 10 * GB, number * 10 * GB],
        "prefix": ["pass"] * 3,
        "time": [START + 150] * 3,
    }
    limit = {"memory_limit": [8 * GB]}
    return findings(run, attempts={"nbytes": sizes}, metrics=metrics, workers=limit, **more)


def test_results_that_are_spilled_by_each_pass_are_counted_once() -> None:
    found = the(passes(5), "spill")
    assert found.severity == "critical"
    assert found.title.replace(words.SPACE, " ").startswith("9.31 GiB of results did not fit in memory")
    assert "written 5 times over" in found.title and "dask.compute(" in found.advice
    once = the(passes(1, seconds=8.0), "spill")
    assert "times over" not in once.title and "dask.compute(" not in once.advice
    assert once.severity == "warning"


def test_results_of_which_no_attempt_tells_are_counted() -> None:
    # 40 GB came with `scatter`, or were there before.
    before = {"worker": ["w0"], "time": [START + 1], "process": [7 * GB], "managed": [4 * GB]}
    found = the(passes(5, memory=before | {"spilled": [36 * GB]}), "spill")
    assert "times over" not in found.title and "dask.compute(" not in found.advice


def with_a_gpu(cpu: float, used: int = 1) -> Finding:
    """Tasks that use their worker's GPU for some fifths of their time, and a CPU for a share of it."""
    run = Run(**workers(1))
    for n in range(50):
        run.task("train", "w0", n, n + 0.98, cpu=0.98 * cpu)
    time = np.arange(0.1, 50, 0.2)
    device = {
        "process": ["w0"] * len(time),
        "time": START + time,
        "utilization": np.where(np.arange(len(time)) % 5 < used, 98.0, 1.0),
        "memory": np.full(len(time), 8 * GB),
        "memory_total": np.full(len(time), 16 * GB),
    }
    stacks = {
        "stack": [0, 1],
        "parent": [NOTHING] * 2,
        "function": ["decode", "launch"],
        "file": ["/here/images.py"] * 2,
        "line": [12, 31],
        "first_line": [10, 30],
    }
    samples = {
        "process": ["w0"] * 100,
        "time": START + np.arange(100) / 2,
        "duration": [0.4, 0.1] * 50,
        "stack": [0, 1] * 50,
        "run": np.repeat(np.arange(50), 2),
    }
    return the(findings(run, gpus=device, stacks=stacks, samples=samples), "gpu-idle")


def test_what_tasks_do_while_their_gpu_has_little_to_do_is_told() -> None:
    computing, reading, neither = with_a_gpu(0.97), with_a_gpu(0.1), with_a_gpu(NAN)
    assert "on a CPU for 97" in computing.why and "mostly in `decode` (`images.py:10`)" in computing.why
    assert "prepared" in computing.advice and "KvikIO" not in computing.advice
    assert "without a CPU for 90" in reading.why and "KvikIO" in reading.advice
    # Who waits for kernels does so with a CPU, or without one.
    for why in (neither.why, with_a_gpu(0.97, used=2).why, with_a_gpu(0.3, used=2).why):
        assert "or their arrays are so small" in why
    assert "larger chunks" in neither.advice


@pytest.mark.parametrize(("cpu", "waiting", "severity"), [(0.12, 6.8, "warning"), (0.4, 4.0, "info")])
def test_threads_of_libraries_that_have_most_cores_are_more_than_a_note(
    cpu: float, waiting: float, severity: str
) -> None:
    run = Run(**workers(1, 8))
    for n in range(20):
        for thread in range(8):
            run.task("matmul", "w0", n, n + 0.99, cpu=cpu, thread=str(thread))
    time = np.arange(0.5, 20.5, 0.5)
    used = {"process": ["w0"] * 40, "time": START + time, "cpu": [790.0] * 40, "starved": [waiting / 2] * 40}
    where = {"host": ["h"], "cores": [8], "core_set": [1], "pid": [5]}
    found = the(findings(run, resources=used, workers=where), "oversubscribed")
    assert (found.severity, found.cost_seconds) == (severity, 0.0) and "OMP_NUM_THREADS=1" in found.advice


def using(
    nbytes: float, *, seconds: int = 90, limit: float = 64 * GB, host: str = "node1", **more: Any
) -> Findings:
    """A run on two workers that take so much memory at most."""
    run = Run(**workers(2))
    for n in range(seconds):
        for name in ("w0", "w1"):
            run.task("step", name, n, n + 0.99)
    times = START + np.arange(seconds) + 0.5
    memory = {
        "process": ["w0"] * seconds + ["w1"] * seconds,
        "time": np.tile(times, 2),
        "memory": np.concatenate((np.linspace(0.3 * GB, nbytes, seconds), np.full(seconds, 0.3 * GB))),
        "cpu": np.full(2 * seconds, 99.0),
    }
    given = {"memory_limit": [limit] * 2, "host": [host] * 2}
    return findings(run, resources=memory, workers=given, **more)


def test_memory_that_no_worker_used_is_told_last() -> None:
    found = using(14 * GB)
    last = the(found, "memory-headroom")
    assert found[-1] is last and (last.severity, last.cost_seconds) == ("info", 0.0)
    assert (
        last.title.replace(words.SPACE, " ") == "At most 22 % of the 59.6 GiB that a worker may have was used"
    )
    assert "--memory-limit 21GB" in last.advice and "3 times as large" in last.advice


@pytest.mark.parametrize(
    ("nbytes", "more"),
    [
        pytest.param(30 * GB, {}, id="used"),
        pytest.param(0.4 * GB, {"limit": 1.5 * GB}, id="a small limit"),
        pytest.param(14 * GB, {"seconds": 50}, id="a short run"),
        pytest.param(14 * GB, {"host": "127.0.0.1"}, id="a computer by its address"),
        pytest.param(14 * GB, {"about": {"name": ["host"], "value": ['"node1"']}}, id="by its name"),
        pytest.param(
            14 * GB, {"about": {"name": ["since"], "value": [str(START + 1)]}}, id="a part of a run"
        ),
    ],
)
def test_memory_that_was_used_or_that_nobody_asked_for_is_not_told(
    nbytes: float, more: dict[str, Any]
) -> None:
    assert "memory-headroom" not in codes(using(nbytes, **more))


@pytest.mark.parametrize(
    ("file", "typename", "kept"),
    [
        ("/lib/site-packages/dask/array/core.py", "", {"x"}),
        ("C:\\lib\\dask\\bag\\core.py", "list", {"bag"}),
        ("/home/me/own.py", "pandas.DataFrame", {"df"}),
        ("/lib/dask/bag/core.py", "numpy.ndarray", {"x", "bag"}),
        ("/home/me/own.py", "int", {"x", "df", "bag"}),
    ],
)
def test_advice_is_on_the_collections_that_ran(file: str, typename: str, kept: set[str]) -> None:
    run = Run()
    for number in range(2000):
        start = number // 2 * 0.005
        run.task("short", "ab"[number % 2], start, start + 0.001, submitted=0, assigned=start)
    functions = {"prefix": ["short"], "function": ["f"], "file": [file], "line": [1]}
    more = {"graph": {"key": [f"('short-1', {number})" for number in range(2000)]}, "functions": functions}
    found = the(findings(run, attempts={"typename": [typename] * 2000}, **more), "tiny-tasks")
    told = {name for name in ("x", "df", "bag") if f"    {name} = {name}." in found.advice}
    assert told == kept and "npartitions" in found.advice


def test_advice_keeps_what_else_a_line_says_and_never_a_comment_alone() -> None:
    both = "    x = x.rechunk('64MB'); df = df.repartition(2)   # smaller"
    code = f"Have less.\n\n    # else\n{both}\n    df = bag.to_dataframe()"
    assert fitting(code, frozenset(["df"])).splitlines()[3] == "    df = df.repartition(2)   # smaller"
    assert fitting(code, frozenset()) == code
    alone = "    # else\n    x = x.rechunk('64MB')"
    assert fitting(alone, frozenset(["df"])) == alone
