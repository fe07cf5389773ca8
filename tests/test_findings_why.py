"""What is nobody's is told, and what is told names who it was: each planted on paper."""

from __future__ import annotations

import heapq
import json
from typing import Any

import numpy as np
import pytest
from test_findings_risks import MB, using
from test_findings_time import one, told
from test_time_budget import CLUSTER, NAN, START, Run

from dask_insight import words


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


# Time without tasks


def computed_in_a_loop(client: float, scheduler: float, tasks: int = 200) -> Run:
    """A hundred computations of a tenth of a second, each after seconds of the client and the scheduler."""
    run, each = Run(), client + scheduler + 0.1
    ends = each * np.arange(1, 101) - 0.1
    for end in ends.tolist():
        for worker in "ab":
            run.task("sum", worker, end, end + 0.1, submitted=end)
    run.tables["submissions"] = {
        "submission": range(100),
        "time": START + ends,
        "tasks": np.full(100, tasks),
        "materialize": np.full(100, scheduler),
    }
    return run


def test_graphs_that_the_scheduler_makes_in_a_loop_are_gaps_for_which_it_is_named() -> None:
    found = one(computed_in_a_loop(0.05, 0.3), "client-gap")
    assert found.severity == "critical" and found.cost_seconds == pytest.approx(99 * 0.35, rel=0.01)
    assert "For 29.7 s of it the scheduler made 99 graphs." in plain(found.why)
    assert "dask.compute(*parts)" in found.advice
    (made,) = [each.value for each in found.evidence if each.name == "of it, the scheduler making graphs"]
    assert made == pytest.approx(99 * 0.3, rel=0.01)


def test_graphs_of_which_others_tell_are_no_gaps() -> None:
    run = computed_in_a_loop(0.05, 0.3, tasks=2_000)
    assert told(run, "large-graph") and told(run, "client-gap")[0].cost_seconds == pytest.approx(5, rel=0.01)
    run = computed_in_a_loop(0.3, 1.5)
    assert told(run, "slow-graph") and told(run, "client-gap")[0].cost_seconds == pytest.approx(30, rel=0.02)


def asked_for_in_turn(pause: float, **submissions: Any) -> Run:
    """Six computations of five seconds, so many seconds apart."""
    run = Run()
    begins = (5.0 + pause) * np.arange(6)
    for begin in begins.tolist():
        for worker in "ab":
            run.task("fit", worker, begin, begin + 5, submitted=begin)
    told = {"submission": range(6), "time": START + begins, "tasks": [2] * 6, "client": ["Client-1"] * 6}
    run.tables["submissions"] = told | submissions
    return run


def test_what_passed_before_somebody_elsewhere_submitted_costs_nothing() -> None:
    found = one(asked_for_in_turn(60.0), "client-gap")
    assert (found.severity, found.cost_seconds) == ("info", 0.0)
    assert found.advice.startswith("Nothing, if somebody thought.")
    assert plain(found.title) == (
        "No tasks for 5 min 00 s of 5 min 30 s, in 5 gaps: nobody had submitted anything"
    )


@pytest.mark.parametrize(
    ("pause", "submissions"),
    [
        (60.0, {"file": ["train.py"] * 6}),
        (60.0, {"nbytes": [2e3] * 6}),
        (60.0, {"client": [""] * 6}),
        (60.0, {"client": ["threads"] * 6}),
        (2.0, {}),
    ],
    ids=["seen", "of a library", "cluster dump", "local", "too short for thoughts"],
)
def test_what_a_program_took_before_it_submitted_is_a_gap(pause: float, submissions: dict[str, Any]) -> None:
    found = one(asked_for_in_turn(pause, **submissions), "client-gap")
    assert found.cost_seconds == pytest.approx(5 * pause)


# Resources


def trained_on(having: int, threads: int) -> Run:
    """A hundred tasks of ten seconds on workers that have a GPU, one at a time, of ten workers."""
    run = Run(**{f"w{number}": {"threads": threads, "joined": -1.0, "left": NAN} for number in range(10)})
    for number in range(100):
        for worker in range(having):
            run.task("train", f"w{worker}", 10 * number, 10 * number + 10, inputs=0.0)
    detail = [json.dumps({"resources": {"GPU": 1}} if number < having else {}) for number in range(10)]
    run.tables["workers"] = run._columns()["workers"] | {"detail": detail}
    return run


@pytest.mark.parametrize(
    ("having", "threads", "which"), [(1, 4, "1 of 10 workers has"), (2, 16, "2 of 10 workers have")]
)
def test_workers_without_the_resources_are_idle_for_these(having: int, threads: int, which: str) -> None:
    found = one(trained_on(having, threads), "resource-limit")
    assert found.severity == "critical" and found.cost_seconds > 900
    others = 10 - having
    assert found.title == (
        f"`train` waited for `GPU=1`, which {which}, while threads of {others} others were idle"
    )
    assert "--resources GPU=1" in found.advice and "without resources=" in found.advice


def test_threads_of_workers_that_all_have_the_resources_are_meant_to_be_idle() -> None:
    assert one(trained_on(10, 4), "resource-limit").severity == "info"


# Hosts


def on_hosts(workers: int, threads: int = 1) -> Run:
    """Ten hosts of so many workers."""
    names = [f"h{host}w{number}" for host in range(10) for number in range(workers)]
    run = Run(**{name: {"threads": threads, "joined": -1.0, "left": NAN} for name in names})
    run.tables["workers"] = run._columns()["workers"] | {"host": [name[:2] for name in names]}
    return run


def bound_to_workers(run: Run, threads: str = "1") -> Run:
    """Sixty tasks for each thread, of two seconds on a host, of one on all others."""
    for name in run.workers:
        seconds = 2 if name.startswith("h3") else 1
        for number in range(60):
            for thread in threads:
                start = seconds * number
                times = {"ready": 0.0, "assigned": 0.0, "inputs": 0.0}
                run.task("load", name, start, start + seconds, thread=thread, cpu=0.98, **times)
    return run


def test_a_slow_host_is_told_once_for_all_its_workers() -> None:
    run = on_hosts(8)
    free = [(0.0, name) for name in run.workers]
    for _ in range(80 * 100):
        start, name = heapq.heappop(free)
        stop = start + (2 if name.startswith("h3") else 1)
        run.task("load", name, start, stop, assigned=start)
        heapq.heappush(free, (stop, name))
    found = one(run, "worker-skew")
    assert found.title == "Host h3 (8 workers) takes 2 times as long as others for the same tasks"
    assert len(found.workers) == 8 and found.cost_seconds > 4
    assert "told[each]['host'] == 'h3'" in found.advice


def test_what_a_slow_host_keeps_waiting_is_not_what_binds_tasks() -> None:
    run = bound_to_workers(on_hosts(8))
    found = one(run, "worker-skew")
    assert found.severity == "critical" and found.cost_seconds == pytest.approx(60, abs=2)
    assert told(run, "imbalanced-threads") == []


def test_a_host_that_others_use_is_a_slow_host() -> None:
    run = bound_to_workers(on_hosts(2, threads=4), threads="1234")
    times, names = np.arange(0.5, 121, 0.5), [*run.workers]
    shared = [1.0 if name.startswith("h3") else 0.0 for name in names for _ in times]
    run.tables["resources"] = {
        "process": [name for name in names for _ in times],
        "time": START + np.tile(times, len(names)),
        "cpu": 392.0 - 196.0 * np.array(shared),
        "starved": shared,
    }
    run.tables["workers"] |= {"cores": [8] * 20, "core_set": [1] * 20, "pid": range(20)}
    found = one(run, "worker-skew")
    assert found.severity == "critical" and found.title.startswith("Host h3 (2 workers) takes 2 times")


def test_tasks_bound_to_a_host_that_is_not_slow_are_bound() -> None:
    run = on_hosts(2)
    for name in ("h3w0", "h3w1"):
        for number in range(60):
            run.task("load", name, number, number + 1.0, ready=0.0, assigned=0.0, inputs=0.0)
    assert [each.code for each in run.recording().findings()] == ["imbalanced-threads"]


# Memory


def leaking(written: float, since: float) -> Run:
    """A worker that comes to 85 % of its limit, and spills so many bytes from a share of the run on."""
    process = np.linspace(800 * MB, 3_400 * MB, 100)
    run = using(process, limit=4_000 * MB)
    run.tables["memory"]["spilled"] = np.where(np.arange(100) >= 100 * since, 100.0 * MB, 0.0)
    run.tables["metrics"] = {
        "worker": ["a"],
        "context": ["memory-monitor"],
        "activity": ["disk-write"],
        "unit": ["bytes"],
        "value": [written],
        "time": [START + 15],
    }
    return run


def test_a_leak_that_makes_a_worker_spill_is_still_a_leak() -> None:
    findings = {each.code: each for each in leaking(100 * MB, since=0.77).recording().findings()}
    assert findings["unmanaged-growth"].workers == ("a",)
    assert findings["memory-pressure"].advice.startswith("Find what keeps memory first")


@pytest.mark.parametrize(("written", "since"), [(2_000 * MB, 0.77), (100 * MB, 0.3)])
def test_what_spilling_leaves_behind_is_no_leak(written: float, since: float) -> None:
    assert told(leaking(written, since), "unmanaged-growth") == []


# Workers that join


def joined_at(when: float) -> Run:
    """Tasks for 200 s of twenty workers of four threads; all but one of these join at a moment."""
    workers = {f"w{number}": {"threads": 4, "joined": when, "left": NAN} for number in range(1, 20)}
    run = Run(w0=CLUSTER | {"threads": 4}, **workers)
    free = [(0.0 if name == "w0" else when, name, thread) for name in run.workers for thread in "1234"]
    heapq.heapify(free)
    for _ in range(1_500):
        start, name, thread = heapq.heappop(free)
        run.task("load", name, start, start + 10, assigned=start, thread=thread)
        heapq.heappush(free, (start + 10, name, thread))
    return run


@pytest.mark.parametrize("when", [45.0, 90.0, 200.0])
def test_most_of_a_cluster_that_comes_while_tasks_wait_is_late_however_late(when: float) -> None:
    found = one(joined_at(when), "cold-start")
    assert len(found.workers) == 19 and found.cost_seconds == pytest.approx(0.95 * when, rel=0.02)
    assert found.severity in ("warning", "critical") and "wait-count" in found.advice


def test_workers_that_come_back_within_a_busy_stretch_are_late() -> None:
    run = Run(watch=CLUSTER, a=CLUSTER, b=CLUSTER | {"left": 40.0}, c=CLUSTER | {"joined": 80.0})
    run.task("watch", "watch", 0, 120)
    for number in range(30):
        for worker in "ab":
            run.task("load", worker, number, number + 1.0)
    for number in range(60):
        for worker, since in (("a", 50.0), ("c", 80.0)):
            if since + number < 120:
                start = since + number
                run.task("fit", worker, start, start + 1.0, submitted=50.0, assigned=start)
    (found,) = told(run, "cold-start")
    assert found.workers == ("c",) and plain(found.title).endswith("up to 30 s after tasks were there")
