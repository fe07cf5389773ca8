"""What one cluster does says nothing of another, and several slow workers are told as one."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pytest
from test_findings import facts
from test_findings_memory_who import filling
from test_findings_risks import limits_of
from test_findings_time import one, told
from test_time_budget import CLUSTER, Run

from dask_insight import words
from dask_insight.batch import encode
from dask_insight.recording import Recording


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


def with_workers(run: Run, **columns: list[Any]) -> Run:
    """With more that is told of the workers, each of which has its host for itself if nothing else is."""
    run.tables["workers"] = run._columns()["workers"] | {"host": [*run.workers]} | columns
    return run


def clusters(*names: str) -> list[str]:
    """The cluster of each worker: its first letter, none of a local scheduler's."""
    return ["" if name == "threads" else f"tcp://{name[0]}:1" for name in names]


def worked(run: Run, worker: str, seconds: float, since: float = 0.0, count: int = 30) -> None:
    for number in range(count):
        start = since + number * seconds
        run.task("piece", worker, start, start + seconds, submitted=since)


# Workers of other schedulers


def test_a_cluster_that_is_slower_than_another_has_no_slow_workers() -> None:
    later = CLUSTER | {"joined": 30.0}
    run = Run(a0=CLUSTER | {"left": 30.0}, a1=CLUSTER | {"left": 30.0}, b0=later, b1=later)
    for worker in run.workers:
        worked(run, worker, *((1.0, 0.0) if worker[0] == "a" else (2.0, 30.0)))
    assert told(with_workers(run, cluster=clusters(*run.workers)), "worker-skew") == []


def test_a_local_scheduler_is_no_slow_worker_of_a_cluster() -> None:
    run = Run(threads=CLUSTER, a0=CLUSTER | {"joined": 60.0}, a1=CLUSTER | {"joined": 60.0})
    worked(run, "threads", 2.0)
    for worker in ("a0", "a1"):
        worked(run, worker, 1.0, since=60.0)
    assert told(with_workers(run, cluster=clusters(*run.workers)), "worker-skew") == []


def test_a_slow_worker_is_held_against_those_of_its_cluster() -> None:
    """Which take as long on another cluster."""
    run = Run(a0=CLUSTER, a1=CLUSTER, a2=CLUSTER, b0=CLUSTER, b1=CLUSTER, b2=CLUSTER)
    for worker, seconds in zip(run.workers, (1.0, 1.0, 2.0, 2.0, 2.0, 2.0), strict=True):
        worked(run, worker, seconds, count=round(60 / seconds))
    found = one(with_workers(run, cluster=clusters(*run.workers)), "worker-skew")
    assert found.workers == ("a2",) and found.cost_thread_seconds == pytest.approx(30)


@pytest.mark.parametrize("second", [5.5, 4.5])
def test_the_workers_of_a_second_cluster_are_not_late_for_the_tasks_of_the_first(second: float) -> None:
    run = Run(a0=CLUSTER, a1=CLUSTER, **{f"b{each}": CLUSTER | {"joined": second} for each in range(4)})
    for worker in run.workers:
        worked(run, worker, 0.5, since=0.0 if worker[0] == "a" else second, count=20)
    assert told(with_workers(run, cluster=clusters(*run.workers)), "cold-start") == []


def test_the_workers_of_a_second_cluster_are_late_for_its_own_tasks() -> None:
    run = Run(a0=CLUSTER, a1=CLUSTER, a2=CLUSTER, b0=CLUSTER | {"joined": 8.0}, b1=CLUSTER | {"joined": 8.0})
    for worker in run.workers:
        since = 0.0 if worker[0] == "a" else 8.0
        worked(run, worker, 0.5, since=since, count=20)
        for row in run.attempts[-20:]:
            row["submitted"] = row["ready"] = 0.0
            row["assigned"] = row["received"] = row["inputs"] = max(since, 0.0)
    found = one(with_workers(run, cluster=clusters(*run.workers)), "cold-start")
    assert set(found.workers) == {"b0", "b1"} and "wait_for_workers(2," in found.advice
    assert found.cost_seconds == pytest.approx(8)


def test_who_takes_the_place_of_others_on_a_host_has_it_alone() -> None:
    run = Run(
        first=CLUSTER | {"left": 10.0},
        second=CLUSTER | {"joined": 10.0, "left": 20.0},
        third=CLUSTER | {"joined": 20.0},
        one=CLUSTER,
        other=CLUSTER,
        before=CLUSTER | {"joined": -9.0, "left": -5.0},
    )
    for worker, since in {"first": 0.0, "second": 10.0, "third": 20.0, "one": 0.0, "other": 0.0}.items():
        worked(run, worker, 1.0, since, count=10)
    seen = facts(with_workers(run, host=["h", "h", "h", "shared", "shared", "h"]))
    alone = [name for name in run.workers if seen.has_host_alone(name)]
    assert alone == ["first", "second", "third", "before"]


# Several slow workers


def with_a_quarter_slow(workers: int, per_host: int = 0) -> Run:
    """Workers that take tasks of a second for a minute; a quarter of them, or of the hosts, take two."""
    names = [f"w{number}" for number in range(workers)]
    hosts = [number // max(per_host, 1) for number in range(workers)]
    run = Run(**dict.fromkeys(names, CLUSTER))
    slow = {name for name, host in zip(names, hosts, strict=True) if host % 4 == 1}
    free = [(0.0, name) for name in names]
    heapq.heapify(free)
    while free:
        start, name = heapq.heappop(free)
        stop = start + (2 if name in slow else 1)
        run.task("load", name, start, stop, assigned=start)
        if stop < 60:
            heapq.heappush(free, (stop, name))
    return with_workers(run, host=[f"h{host}" for host in hosts])


@pytest.mark.parametrize("times", [1, 6])
def test_of_workers_whose_tasks_take_any_time_none_is_slow_by_chance(times: int) -> None:
    """Tasks of all scatter alike, so that of twenty workers a few have much the larger medians."""
    random = np.random.default_rng(7)
    run = Run(**{f"w{number}": CLUSTER for number in range(20)})
    for worker in run.workers:
        now = 0.0
        for took in random.lognormal(0, 1, 16).tolist():
            spent = took * (times if worker == "w7" else 1)
            run.task("piece", worker, now, now + spent)
            now += spent
    slow = [each for each in told(with_workers(run), "worker-skew") if "times as long" in each.title]
    assert [each.workers for each in slow] == ([] if times == 1 else [("w7",)])


@pytest.mark.parametrize("workers", [8, 20, 60])
def test_slow_workers_are_told_at_once_however_many_there_are(workers: int) -> None:
    found = one(with_a_quarter_slow(workers), "worker-skew")
    slow = workers // 4
    assert (
        plain(found.title) == f"{slow} of {workers} workers take 2 times as long as others for the same tasks"
    )
    assert found.severity == "warning" and len(found.workers) == slow
    assert found.cost_seconds == pytest.approx(0.125 * 60, rel=0.05)
    assert sum(each.name.startswith("of it, worker w") for each in found.evidence) == min(slow, 5)
    assert f"retire_workers({[*found.workers[:5]]!r})" in found.advice


def test_the_worst_of_slow_workers_stands_first() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER, d=CLUSTER, e=CLUSTER)
    for worker, seconds in zip(run.workers, (1.0, 2.0, 1.0, 3.0, 1.0), strict=True):
        worked(run, worker, seconds, count=round(60 / seconds))
    found = one(with_workers(run), "worker-skew")
    assert found.workers == ("d", "b") and found.cost_thread_seconds == pytest.approx(70)
    assert [each.value for each in found.evidence if each.name.startswith("of it")] == pytest.approx([40, 30])


def test_a_worker_is_held_against_the_middle_of_all_others() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER)
    for worker, seconds in {"a": 1.5, "b": 1.0, "c": 1.99}.items():
        worked(run, worker, seconds, count=8)
    found = one(with_workers(run), "worker-skew")
    assert plain(found.title) == "Worker c takes 1.6 times as long as others for the same tasks"


def test_slow_hosts_are_told_at_once() -> None:
    found = one(with_a_quarter_slow(32, per_host=4), "worker-skew")
    assert plain(found.title) == "2 of 8 hosts take 2 times as long as others for the same tasks"
    assert len(found.workers) == 8
    assert any(f"told[each]['host'] in {hosts}" in found.advice for hosts in (["h1", "h5"], ["h5", "h1"]))


# Limits of memory


@pytest.mark.parametrize(("allowed", "is_told"), [(4e9, False), (8e9, True)])
def test_a_group_of_another_host_may_have_the_number_of_one_with_workers(
    allowed: float, is_told: bool
) -> None:
    recording = filling("scheduler", group=7)
    table = dict(recording.columns("resources"))
    of_workers = [name != "scheduler" for name in table["process"].tolist()]
    made = Recording()
    for name in ("about", "workers", "graph", "executions", "attempts", "submissions"):
        made.append(encode(name, dict(recording.columns(name))))
    table["memory_allowed"] = [
        allowed if of_worker else nbytes
        for of_worker, nbytes in zip(of_workers, table["memory_allowed"].tolist(), strict=True)
    ]
    made.append(encode("resources", table))
    assert bool(limits_of(made)) == is_told
