"""Why memory ran out, and whose it was: each planted on paper."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from test_time_budget import NAN, START, Run

from dask_insight import words
from dask_insight.analysis.findings import Finding
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

MB, GB = 1e6, 1e9


class Planted:
    """A run whose tasks have results of known sizes, on workers of some memory."""

    def __init__(self, workers: int = 1, threads: int = 1, limit: float = 4 * GB, own: int = 0) -> None:
        told = {"threads": threads, "joined": -1.0, "left": NAN}
        self.run = Run(**{f"w{number}": told for number in range(workers)})
        self.more: dict[str, dict[str, Any]] = {
            "workers": {"memory_limit": [limit] * workers, "own": [own] * workers}
        }
        self._sizes: list[float] = []
        self._grown: list[float] = []

    def task(
        self,
        name: str,
        start: float,
        stop: float,
        *needs: int,
        nbytes: float = 8.0,
        rss: float = NAN,
        **more: Any,
    ) -> int:
        """A task on the first worker, or another, that makes its process larger by `rss` bytes."""
        self._sizes.append(nbytes)
        self._grown.append(rss / 2**20)
        return self.run.task(name, more.pop("worker", "w0"), start, stop, *needs, **more)

    def memory(self, time: float, worker: str = "w0", **sizes: float) -> None:
        """A sample of Dask's measures of a worker's memory."""
        row = {"process": NAN, "managed": NAN, "spilled": NAN} | sizes
        self._row("memory", worker=worker, time=START + time, **row)

    def metric(self, activity: str, unit: str, value: float) -> None:
        """What the first worker did for want of memory."""
        told = {"worker": "w0", "context": "execute", "span": "", "prefix": "", "time": START + 5}
        self._row("metrics", activity=activity, unit=unit, value=value, **told)

    def killed(self, time: float, nbytes: float, running: int, worker: str = "w0") -> None:
        """The nanny ends the first worker, or another."""
        lost = {"processing": running, "lost": 0, "expected": False}
        for kind, message, detail in (
            ("worker-lost", "", lost),
            ("dask", "worker-restart-memory", {"worker": worker, "rss": nbytes}),
        ):
            row = {"time": START + time, "source": worker, "kind": kind, "level": "warning"}
            self.run.events.append(row | {"message": message, "detail": json.dumps(detail)})

    def _row(self, table: str, **row: Any) -> None:
        columns = self.more.setdefault(table, {})
        for name, value in row.items():
            columns.setdefault(name, []).append(value)

    def recording(self, **more: Mapping[str, Any]) -> Recording:
        """What was planted, with further columns of some tables."""
        recording, tables = Recording(), self.run._columns()
        columns = {"attempts": {"nbytes": self._sizes}, "executions": {"rss": self._grown}}
        for every in (columns, self.more, more):
            for table, added in every.items():
                tables[table] = {**tables.get(table, {}), **added}
        for table, added in tables.items():
            if added and len(next(iter(added.values()))):
                recording.append(encode(table, added))
        return recording

    def the(self, code: str, **more: Mapping[str, Any]) -> Finding:
        """The only finding of a code."""
        found = self.recording(**more).findings()
        assert found.failed == ()
        (one,) = [each for each in found if each.code == code]
        return one


def fact(found: Finding, name: str) -> float:
    return next(each.value for each in found.evidence if each.name.startswith(name))


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


# Results from before the recording


def spilled_from_before(written: float = 6 * GB, seconds: float = 20.0) -> Planted:
    plan = Planted()
    for number in range(20):
        plan.task("sum", 5 * number, 5 * number + 4)
    plan.memory(50, process=3 * GB, managed=2.4 * GB, spilled=4 * GB)
    plan.metric("disk-write", "bytes", written)
    plan.metric("disk-write", "seconds", seconds)
    return plan


def test_what_was_spilled_from_before_is_not_blamed_on_what_is_small_within() -> None:
    found = spilled_from_before().the("spill")
    assert found.tasks == () and "`sum`" not in found.title
    assert "mostly of data that were there before or that clients sent" in found.title
    assert fact(found, "written, of the bytes of all results") == pytest.approx(6 / 6.4)


def test_what_was_spilled_from_before_has_the_names_that_the_graph_tells() -> None:
    graph = {"task": range(25), "prefix": ["sum"] * 20 + ["read"] * 4 + ["len"]}
    state = {"state": [""] * 20 + ["memory"] * 4 + [""]}
    found = spilled_from_before().the("spill", graph=graph | state)
    assert found.tasks == ("read",)
    assert "mostly of results of `read` that were there before;" in found.title


def test_what_was_there_before_and_let_go_of_is_not_named() -> None:
    graph = {"task": range(22), "prefix": ["sum"] * 20 + ["read", "gone"]}
    state = {"state": [""] * 20 + ["memory"] * 2}
    releases = {"task": [20, 21], "time": [START + 60, START + 40]}
    assert spilled_from_before().the("spill", graph=graph | state, releases=releases).tasks == ("read",)


def test_little_of_much_that_was_there_before_is_no_warning() -> None:
    found = spilled_from_before(60 * MB, 0.05).recording().findings()
    assert [each for each in found if each.code == "spill"] == []


def test_memory_that_was_full_before_is_told_so() -> None:
    plan = Planted()
    plan.task("sum", 0, 10)
    plan.memory(1, process=0.2 * GB, managed=0.1 * GB)
    plan.memory(9, process=3.7 * GB, managed=3.4 * GB)
    found = plan.the("memory-pressure")
    assert found.tasks == () and "with data that were there before" in found.title


# What ran


def test_what_needs_most_is_named_of_what_a_killed_worker_ran() -> None:
    plan = Planted(workers=2, threads=4, limit=GB)
    for number in range(4):
        plan.task("prep", number, number + 1, worker="w1", rss=MB)
        plan.task("hog", 4 + number, 5 + number, worker="w1", rss=600 * MB)
        plan.task("hog" if number == 3 else "prep", 8, 10, thread=str(number), status="killed")
    plan.killed(10, 0.96 * GB, running=4)
    found = plan.the("memory-pressure")
    assert found.tasks[0] == "hog" and "with `hog`" in found.title


def test_what_is_suspected_of_a_death_is_named_before_results() -> None:
    plan = Planted(workers=2, threads=2, limit=GB)
    for number in range(6):
        plan.task("load", number, number + 1, nbytes=100 * MB)
    plan.task("hog", 0, 1, worker="w1", rss=400 * MB)
    plan.task("prep", 1, 2, worker="w1", rss=MB)
    plan.task("hog", 6, 10, status="killed")
    plan.task("prep", 6, 10, thread="2", status="killed")
    plan.memory(9, process=0.9 * GB, managed=0.6 * GB)
    plan.killed(10, 0.96 * GB, running=2)
    found = plan.the("memory-pressure")
    assert found.tasks[:2] == ("hog", "load") and "with `hog` and others" in found.title
    assert "`hog` need" in found.why


def dying_of_its_inputs(nbytes: float) -> Finding:
    """A task that puts six blocks together dies with two workers of two threads each."""
    plan = Planted(workers=2, threads=2, limit=GB)
    blocks = [plan.task("block", number, number + 1, nbytes=nbytes) for number in range(6)]
    merged = plan.task("rechunk-merge-rechunk-transfer", 6, 10, *blocks, status="killed")
    plan.task("rechunk-merge-rechunk-transfer", 10, 12, *blocks, worker="w1", status="killed", task=merged)
    plan.killed(10, 0.96 * GB, running=1)
    plan.killed(12, 0.96 * GB, running=1, worker="w1")
    return plan.the("memory-pressure")


def test_inputs_that_fill_what_a_thread_has_are_why_workers_died() -> None:
    found = dying_of_its_inputs(50 * MB)
    assert f"The inputs of one are {words.size(300 * MB)}" in found.why and words.size(500 * MB) in found.why
    assert "array.chunk-size" in found.advice
    few = dying_of_its_inputs(5 * MB)
    assert "died with 2 workers" in few.why and "The inputs of one" not in few.why


def test_data_that_tasks_carry_fill_memory_as_well() -> None:
    plan = Planted(limit=GB)
    for number in range(20):
        plan.task("look", number, number + 1, rss=MB)
    plan.memory(1, process=0.2 * GB, managed=0)
    plan.memory(19, process=0.9 * GB, managed=0)
    tasks = list(range(20))
    graph = {"task": tasks, "prefix": ["look"] * 20, "submission": [0] * 20}
    submission = {"submission": [0], "time": [START], "tasks": [20]}
    for nbytes, carries in ((30 * MB, True), (30e3, False)):
        found = plan.the("memory-pressure", graph=graph, submissions=submission | {"nbytes": [nbytes]})
        assert ("carry data in their graph" in found.why) == ("client.scatter" in found.advice) == carries
    # That came before this part.
    graphs = {"submission": [0], "time": [START], "tasks": [20], "nbytes": [30 * MB]}
    part = plan.recording(graph=graph, submissions=graphs).slice(10, 20).findings()
    assert part.failed == () and all("carry data" not in each.why for each in part)


@pytest.mark.parametrize(
    ("last", "told"),
    [
        pytest.param("waits", True, id="nothing-runs"),
        pytest.param("given-up", True, id="given-up-at-the-end"),
        pytest.param("runs", False, id="something-runs"),
        pytest.param("cancelled", False, id="nothing-left"),
    ],
)
def test_workers_that_are_all_paused_and_run_nothing_are_stuck(last: str, told: bool) -> None:
    plan = Planted(limit=GB)
    for number in range(5):
        plan.task("load", number, number + 1, nbytes=150 * MB)
    if last == "runs":
        plan.task("fit", 5, 60)
    if last != "waits":
        plan.task("fit", NAN, NAN, ready=5.0, status="cancelled")
        plan.run.attempts[-1]["done"] = 6.0 if last == "cancelled" else 60.0
    plan.run.state(5, "w0", "running", "paused")
    for second in range(61):
        plan.memory(second, process=0.9 * GB, managed=0.75 * GB)
    names = [*plan.run.names, "fit"]
    if last == "cancelled":
        names.pop()
    graph = {"task": range(len(names) + 1), "prefix": [*names, "scattered"]}
    # What a client scatters is not to run.
    graph |= {"submission": [*[0] * len(names), NOTHING], "order": [*range(len(names)), NOTHING]}
    samples = {"process": ["w0"] * 2, "time": [START, START + 60], "cpu": [1.0, 1.0]}
    found = plan.the("memory-pressure", graph=graph, resources=samples)
    assert ("all workers were paused" in found.why) == ("client.restart()" in found.advice) == told


def test_what_needs_most_is_named_of_what_ran_at_a_peak() -> None:
    plan = Planted(threads=4, limit=GB)
    for number in range(4):
        name, rss = ("hog", 600 * MB) if number == 3 else ("prep", MB)
        plan.task(name, 0, 10, thread=str(number), rss=rss)
    plan.memory(1, process=0.1 * GB, managed=0)
    plan.memory(9, process=0.9 * GB, managed=0)
    assert plan.the("memory-pressure").tasks == ("hog",)


def test_results_on_disk_take_no_memory() -> None:
    plan = Planted()
    for number in range(10):
        plan.task("load", number, number + 1, nbytes=600 * MB)
    plan.task("merge", 10, 20, rss=3 * GB)
    plan.memory(1, process=0.3 * GB, managed=0.1 * GB, spilled=0)
    plan.memory(15, process=3.7 * GB, managed=0.5 * GB, spilled=5 * GB)
    found = plan.the("memory-pressure")
    assert found.tasks == ("merge",)


@pytest.mark.parametrize("measured", [True, False])
def test_results_on_a_gpu_take_no_memory_of_its_host(measured: bool) -> None:
    plan = Planted()
    types = ["cudf.core.dataframe.DataFrame", "cupy.ndarray", "pandas.core.frame.DataFrame"] * 3
    for number, typename in enumerate(types):
        plan.task(
            f"load-{typename[:4]}", number, number + 1, nbytes=600 * MB if typename[0] == "c" else 50 * MB
        )
    plan.task("merge", 10, 20, rss=3 * GB)
    plan.memory(1, process=0.3 * GB, managed=0.6 * GB if measured else NAN)
    plan.memory(15, process=3.7 * GB, managed=3.75 * GB if measured else NAN)
    attempts = {"typename": [*types, "int"]}
    found = plan.the("memory-pressure", attempts=attempts)
    assert found.tasks == ("merge",) and "results" not in found.title
    # Of what is in the host's memory they are no part, either.
    plan.task("prep", 9, 9.5, nbytes=3 * GB)
    plan.memory(16, process=3.8 * GB, managed=6.75 * GB if measured else NAN)
    attempts["typename"].append("numpy.ndarray")
    assert plan.the("memory-pressure", attempts=attempts).tasks == ("prep",)


@pytest.mark.parametrize(("devices", "tasks"), [(3.6, ("merge",)), (0.2, ("load",))])
def test_results_that_a_gpu_no_longer_holds_take_memory_of_its_host(devices: float, tasks: Any) -> None:
    plan = Planted()
    for number in range(6):
        plan.task("load", number, number + 1, nbytes=600 * MB)
    plan.task("merge", 10, 20)
    plan.memory(15, process=3.7 * GB, managed=3.6 * GB)
    gpus = {"process": ["w0"] * 3, "time": [START + 1, START + 14, START + 16], "index": [0] * 3}
    gpus |= {"memory": [0.0, devices * GB, 0.0]}
    attempts = {"typename": [*["cudf.core.dataframe.DataFrame"] * 6, "int"]}
    assert plan.the("memory-pressure", attempts=attempts, gpus=gpus).tasks == tasks


@pytest.mark.parametrize(("own", "tasks"), [(0, ("piece",)), (1, ())])
def test_in_your_own_process_nobody_tells_whose_memory_it_is(own: int, tasks: Sequence[str]) -> None:
    plan = Planted(limit=GB, own=own)
    for number in range(10):
        plan.task("piece", number, number + 1)
    plan.memory(1, process=0.2 * GB, managed=0)
    plan.memory(9, process=0.87 * GB, managed=0)
    found = plan.the("memory-pressure")
    assert found.tasks == tasks
    assert ("with what else your process holds" in found.title) == bool(own)
    assert ("your own process" in found.why) == ("processes=True" in found.advice) == bool(own)


# Where it was


@pytest.mark.parametrize(("others", "unevenly"), [(0.15, True), (0.7, False)])
def test_one_full_worker_among_empty_ones(others: float, unevenly: bool) -> None:
    plan = Planted(workers=8, limit=GB)
    for number in range(8):
        for start in range(9 if number == 0 else 1):
            plan.task("load", start, start + 1, worker=f"w{number}", nbytes=90 * MB)
        share = 0.9 if number == 0 else others
        plan.memory(0.1, f"w{number}", process=0.05 * GB, managed=0)
        plan.memory(9, f"w{number}", process=share * GB, managed=(share - 0.05) * GB)
    found = plan.the("memory-pressure")
    assert found.workers == ("w0",)
    assert fact(found, "usual peak of the others") == pytest.approx(others)
    assert ("data lie unevenly" in found.why) == ("client.rebalance" in found.advice) == unevenly


@pytest.mark.parametrize(("joined", "unevenly"), [(-1.0, True), (9.5, False)])
def test_a_worker_that_came_once_another_was_full_had_no_room_before(joined: float, unevenly: bool) -> None:
    plan = Planted(workers=2, limit=GB)
    plan.run.workers["w1"] = {**plan.run.workers["w1"], "joined": joined}
    for number in range(9):
        plan.task("load", number, number + 1, nbytes=90 * MB)
    plan.memory(0.1, process=0.05 * GB, managed=0)
    plan.memory(9.2, process=0.9 * GB, managed=0.8 * GB)
    plan.memory(9.8, "w1", process=0.05 * GB, managed=0)
    plan.task("other", 9.6, 10, worker="w1")
    found = plan.the("memory-pressure")
    assert ("data lie unevenly" in found.why) == unevenly


def test_copies_that_were_fetched_fill_memory() -> None:
    plan = Planted(workers=2, limit=GB)
    made = [plan.task("right", number, number + 1, worker="w1", nbytes=200 * MB) for number in range(4)]
    plan.task("join", 5, 10)
    plan.memory(1, process=0.1 * GB, managed=0)
    plan.memory(9, process=0.95 * GB, managed=0.8 * GB)
    transfers = {
        "transfers": {
            "transfer": range(4),
            "worker": ["w0"] * 4,
            "peer": ["w1"] * 4,
            "direction": ["in"] * 4,
            "start": [START + 4] * 4,
            "stop": [START + 4.5] * 4,
            "nbytes": [200 * MB] * 4,
        },
        "transferred": {"transfer": range(4), "task": made, "nbytes": [200 * MB] * 4},
    }
    assert plan.the("memory-pressure", **transfers).tasks == ("right",)
    late = {"stop": [START + 9.5] * 4}
    assert plan.the("memory-pressure", **transfers | {"transfers": transfers["transfers"] | late}).tasks == ()


# Results that were there longer, or sooner, than they had to be


def used(before: bool, spilling: bool = False) -> Planted:
    """Eight results, each used before memory is full, or after that."""
    plan = Planted(limit=GB)
    made = [plan.task("load", number, number + 1, nbytes=100 * MB) for number in range(8)]
    for number, each in enumerate(made):
        at = (8 if before else 40) + number
        plan.task("use", at, at + 1, each)
    plan.task("other", 48, 50)
    plan.memory(0.5, process=0.1 * GB, managed=0, spilled=0)
    if spilling:
        plan.memory(30, process=0.7 * GB, managed=0.5 * GB, spilled=0.3 * GB)
        plan.metric("disk-write", "bytes", 300 * MB)
        plan.metric("disk-write", "seconds", 1.0)
    else:
        plan.memory(30, process=0.95 * GB, managed=0.8 * GB, spilled=0)
    plan.more["graph"] = {"submission": [0] * 17}
    plan.more["submissions"] = {"submission": [0], "time": [START], "file": ["/here/work.py"], "line": [7]}
    return plan


@pytest.mark.parametrize("code", ["memory-pressure", "spill"])
def test_results_that_nothing_needs_any_more_are_told(code: str) -> None:
    spilling = code == "spill"
    forgotten, needed = (used(before, spilling).the(code) for before in (True, False))
    assert "763 MiB of `load` (`work.py:7`) had been used for the last time by 16 s" in plain(forgotten.why)
    assert forgotten.advice.startswith("Let go of what you have used") and "del x" in forgotten.advice
    assert "for the last time" not in needed.why and "del x" not in needed.advice


@pytest.mark.parametrize(
    ("on_gpu", "devices", "said"),
    [
        pytest.param(8, 0.8, "", id="on the GPU"),
        pytest.param(
            8, 0.2, "572 MiB of `load` (`work.py:7`) had been used for the last time by 16 s", id="moved"
        ),
        pytest.param(
            4, 0.8, "381 MiB of `load` (`work.py:7`) had been used for the last time by 12 s", id="some"
        ),
    ],
)
def test_results_of_a_gpu_count_as_far_as_they_are_in_the_hosts_memory(
    on_gpu: int, devices: float, said: str
) -> None:
    plan = used(before=True)
    gpus = {"process": ["w0"], "time": [START + 20], "index": [0], "memory": [devices * GB]}
    types = [*["numpy.ndarray"] * (8 - on_gpu), *["cupy.ndarray"] * on_gpu, *["int"] * 9]
    why = plain(plan.the("memory-pressure", attempts={"typename": types}, gpus=gpus).why)
    assert said in why and ("for the last time" in why) == bool(said)


def test_results_that_a_task_is_still_to_use_are_needed() -> None:
    plan = used(before=True)
    waiting = {"task": [*range(8, 16), *[99] * 8], "dependency": [*range(8), *range(8)]}
    assert "for the last time" not in plan.the("memory-pressure", edges=waiting).why


def test_what_uses_results_after_a_part_of_a_run_is_not_known() -> None:
    plan = used(before=True)
    later = [plan.task("again", 51 + number, 52 + number, number, submitted=50) for number in range(8)]
    plan.more["graph"]["submission"] += [0] * len(later)
    recording = plan.recording()
    for part in ({}, {"stop": 35}):
        (found,) = [each for each in recording.findings(**part) if each.code == "memory-pressure"]
        assert "`load`" in found.title and "for the last time" not in found.why


def test_names_that_read_alike_are_told_apart() -> None:
    told = {
        "graph": {"prefix": ["load\t"] + ["load\n"] * 7 + ["use"] * 8 + ["other"]},
        "edges": {"task": [*range(8, 16), 99], "dependency": [*range(8), 0]},
    }
    assert "of `load ` (`work.py:7`) had been used" in used(before=True).the("memory-pressure", **told).why


def loaded(each: int, nbytes: float = 8.0, apart: float = 0.0) -> Planted:
    """Ten results, so many seconds apart, and tasks that make less of so many of them each."""
    plan = Planted(limit=GB)
    made = [
        plan.task("load", number, number + 1, nbytes=80 * MB, submitted=apart * number)
        for number in range(10)
    ]
    for first in range(0, 10, each):
        plan.task("total", 10 + first, 11 + first, *made[first : first + each], nbytes=nbytes)
    plan.memory(0.5, process=0.1 * GB, managed=0)
    plan.memory(10, process=0.95 * GB, managed=0.8 * GB)
    return plan


def saturated(worker_saturation: Any) -> dict[str, Any]:
    scheduler = {} if worker_saturation is None else {"worker-saturation": worker_saturation}
    config = {"distributed.scheduler": scheduler}
    return {"name": ["started", "config"], "value": [str(START), json.dumps(config)]}


@pytest.mark.parametrize(
    ("saturation", "queued", "advice"),
    [
        pytest.param("inf", 0, "'distributed.scheduler.worker-saturation': 1.1", id="off"),
        pytest.param(1.1, 0, "Leave out `workers=`", id="bound"),
        pytest.param(1.1, 1, "", id="queued"),
        pytest.param(10, 0, "", id="a long queue"),
        pytest.param(None, 0, "", id="knows no queue"),
    ],
)
def test_tasks_that_were_handed_out_at_once_are_told(saturation: Any, queued: int, advice: str) -> None:
    plan = loaded(2)
    found = plan.the("memory-pressure", about=saturated(saturation), attempts={"queued": [queued] * 15})
    assert ("10 `load` were handed out at once" in found.why) == bool(advice) and advice in found.advice
    assert ("worker-saturation" in found.advice) == (saturation == "inf")


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(loaded(2, apart=1.0), id="one after the other"),
        pytest.param(loaded(10), id="all needed at once"),
        pytest.param(loaded(2, nbytes=160 * MB), id="no less afterwards"),
        pytest.param(loaded(2, nbytes=NAN), id="nobody knows how much afterwards"),
    ],
)
def test_tasks_that_a_queue_would_not_have_helped(plan: Planted) -> None:
    assert "handed out" not in plan.the("memory-pressure", about=saturated("inf")).why


# Disks


@pytest.mark.parametrize(("seconds", "slow"), [(200.0, True), (10.0, False), (NAN, False)])
def test_a_slow_disk_is_told(seconds: float, slow: bool) -> None:
    found = spilled_from_before(6 * GB, np.nan_to_num(seconds)).the("spill")
    if seconds == seconds:
        assert fact(found, "written a second") == pytest.approx(6 * GB / seconds)
    assert ("28.6 MiB a second" in plain(found.why)) == ("temporary-directory" in found.advice) == slow


@pytest.mark.parametrize(("writes", "slow"), [(60_000, False), (60, True)])
def test_a_disk_is_not_slow_where_results_are_small(writes: int, slow: bool) -> None:
    plan = spilled_from_before(6 * GB, 200.0)
    plan.metric("disk-write", "count", writes)
    assert ("the disk is slow" in plan.the("spill").why) == slow


# The table of what was held


def test_what_was_held_is_told_by_worker_and_by_task() -> None:
    plan = Planted(workers=2)
    for number in range(6):
        plan.task("load", number, number + 1, worker=f"w{number % 2}", nbytes=(1 + number) * MB)
    graph = {"key": [f"load-{number}" for number in range(6)]}
    run = plan.recording(graph=graph, releases={"task": [5], "time": [START + 6]})
    told = {by: run.held(by) for by in ("function", "worker", "task")}
    assert {by: table.left.sum() for by, table in told.items()} == dict.fromkeys(told, 15 * MB)
    assert told["worker"].set_index("worker").left.to_dict() == {"w0": 9 * MB, "w1": 6 * MB}
    assert told["task"].task.tolist()[0] == "load-2" and len(told["task"]) == 6


def test_of_many_tasks_those_that_took_most_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_insight.analysis.held._TASKS", 2)
    plan = Planted()
    for number in range(4):
        plan.task("load", number, number + 1, nbytes=10.0**number)
    table = plan.recording(graph={"key": list("abcd")}).held("task")
    assert table.task.tolist() == ["c", "b"]
