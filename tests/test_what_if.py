"""What-if: the simulated cluster on graphs whose answer is known, and on random ones."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import dask
import numpy as np
import pytest
from conftest import PATIENCE
from graphs import START, Task, graphs, ran, seen
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_time_budget import CLUSTER, NAN, Run

import dask_insight
from dask_insight import words
from dask_insight.analysis.what_if import Replay, WhatIf
from dask_insight.analysis.what_if.chunks import with_chunks
from dask_insight.analysis.what_if.model import Model, model
from dask_insight.analysis.what_if.question import _at_once, _Worker
from dask_insight.analysis.what_if.setting import Costs, Setting
from dask_insight.analysis.what_if.simulation import Outcome, TooLong, simulate
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import TABLES
from dask_insight.sources.files import task_stream
from dask_insight.tables.tasks import make

FREE = Costs(up=0, down=0, handoff=0, scheduler=0, latency=0, bandwidth=math.inf, saturation=1.1)
#: What the scheduler is taken to cost where nothing tells.
NEAR = 2e-3
READS = [Task("read", 1.0)] * 12
TREE = [
    *[Task("leaf", 1.0)] * 4,
    Task("join", 0.5, [0, 1]),
    Task("join", 0.5, [2, 3]),
    Task("top", 0.25, [4, 5]),
]


def modelled(recording: Recording) -> Model:
    found = model(recording.columns, make(recording.columns))
    assert found is not None
    return found


def simulated(tasks: list[Task], threads: list[int], costs: Costs = FREE, **more: Any) -> Outcome:
    """These tasks on workers of so many threads."""
    return simulate(modelled(ran(tasks, **more)), Setting(tuple(threads), (0.0,) * len(threads), costs))


def attempts_of(recording: Recording) -> dict[str, list[Any]]:
    return {name: values.tolist() for name, values in recording.columns("attempts").items()}


# Graphs whose answer is known.


@pytest.mark.parametrize(("threads", "seconds"), [([1], 12), ([4], 3), ([1] * 4, 3), ([5], 3), ([12], 1)])
def test_independent_tasks_fill_the_threads(threads: list[int], seconds: float) -> None:
    assert simulated(READS, threads).seconds == pytest.approx(seconds)


@pytest.mark.parametrize(("threads", "seconds"), [([1], 5.25), ([2], 2.75), ([4], 1.75), ([100], 1.75)])
def test_a_tree_ends_in_its_top(threads: list[int], seconds: float) -> None:
    assert simulated(TREE, threads).seconds == pytest.approx(seconds)


def test_a_chain_gains_nothing() -> None:
    chain = [Task("step", 1.0, [number - 1] if number else ()) for number in range(5)]
    assert simulated(chain, [1] * 8).seconds == pytest.approx(5)


def test_the_rank_decides_who_goes_first() -> None:
    """Of two that could run the one of lower rank goes first, so that the long chain begins at once."""
    tasks = [Task("a", 1), Task("b", 3, [0]), Task("c", 1), Task("d", 1)]
    assert simulated(tasks, [2]).seconds == pytest.approx(4)
    late = [Task("c", 1), Task("d", 1), Task("a", 1), Task("b", 3, [2])]
    assert simulated(late, [2]).seconds == pytest.approx(5)


def test_messages_are_waited_for() -> None:
    chain = [Task("step", 1.0, [number - 1] if number else ()) for number in range(4)]
    found = simulated(chain, [1], FREE._replace(up=0.1, down=0.2))
    assert found.seconds == pytest.approx(4 + 4 * 0.3)


def test_the_scheduler_takes_one_task_after_the_other() -> None:
    found = simulated([Task("tiny", 0.001)] * 1000, [100], FREE._replace(scheduler=0.01))
    assert found.seconds == pytest.approx(10, rel=0.05)


def test_the_worker_needs_its_time_for_each_task() -> None:
    assert simulated(READS, [1], FREE._replace(handoff=0.5)).seconds == pytest.approx(18)


def test_data_are_moved_at_the_bandwidth() -> None:
    """Two that ran at once, on two workers: one of them is moved to the other."""
    tasks = [Task("one", 1, nbytes=1e6), Task("two", 1, nbytes=1e6), Task("both", 1, [0, 1])]
    found = simulated(tasks, [1, 1], FREE._replace(bandwidth=1e6, latency=0.25))
    assert found.seconds == pytest.approx(1 + 1.25 + 1)
    assert found.moved == 1e6
    assert simulated(tasks, [2], FREE._replace(bandwidth=1e6)).seconds == pytest.approx(2)


def test_tasks_go_where_their_data_are() -> None:
    tasks = [
        *[Task("load", 1, nbytes=1e9)] * 4,
        *[Task("use", 1, [number], nbytes=1) for number in range(4)],
    ]
    found = simulated(tasks, [1] * 4, FREE._replace(bandwidth=1e6))
    assert (found.seconds, found.moved) == pytest.approx((2, 0))


def test_idle_workers_steal() -> None:
    """All that follows one task lies where that ran, until others take their share."""
    tasks = [Task("seed", 1, nbytes=8), *[Task("grow", 1.0, [0])] * 8]
    found = simulated(tasks, [1] * 4)
    assert found.stolen >= 4
    assert 3 <= found.seconds <= 5


def test_nothing_is_looked_at_for_thieves_that_there_are_not() -> None:
    """Of twenty workers that have too much one is robbed, and by the only one that has nothing to do."""
    seeds = [Task("seed", 1, nbytes=8)] * 20
    grown = [Task("grow", 1.0, [number % 20]) for number in range(200)]
    short = [Task("seed", 1, nbytes=8), Task("grow", 1.0, [220])]
    found = simulated([*seeds, *grown, *short], [1] * 21)
    assert found.stolen >= 8
    assert found.looks < 5_000, "each task of each of them, at each round, were ten times as many"


def test_a_simulation_takes_no_more_looks_than_it_may() -> None:
    made = modelled(ran([Task("seed", 1, nbytes=8), *[Task("grow", 1.0, [0])] * 8]))
    setting = Setting((1,) * 4, (0.0,) * 4, FREE)
    looks = simulate(made, setting).looks
    assert simulate(made, setting, looks).looks == looks
    with pytest.raises(TooLong):
        simulate(made, setting, looks - 1)


def test_workers_that_come_when_others_have_left_take_the_first_place_that_is_empty() -> None:
    came = [(0, 4), (1, 2), (1, 9), (2, 3), (5, 9), (5, 6), (9, 10)]
    workers = [_Worker(str(number), 1 + number, *map(float, each)) for number, each in enumerate(came)]
    places = _at_once(workers)
    assert [(each.name, each.threads, each.joined, each.left) for each in places] == [
        ("0", 7, 0.0, 10.0),
        ("1", 6, 1.0, 6.0),
        ("2", 3, 1.0, 9.0),
    ]


def test_many_that_need_one_are_handed_out_from_the_queue() -> None:
    """A group much larger than the cluster is root-like for Dask, also where its tasks need something."""
    found = simulated([Task("seed", 1), *[Task("grow", 1.0, [0])] * 12], [1] * 4)
    assert (found.seconds, found.stolen) == (pytest.approx(4), 0)


def test_a_worker_that_comes_later_helps_from_then_on() -> None:
    made = modelled(ran(READS))
    found = simulate(made, Setting((1, 1), (0.0, 6.0), FREE))
    assert found.seconds == pytest.approx(9)


def test_the_client_pauses_as_it_did() -> None:
    tasks = [*READS, *[task._replace(submission=1) for task in READS]]
    assert simulated(tasks, [4], pauses=[5]).seconds == pytest.approx(3 + 5 + 3)
    assert simulated(tasks, [12], pauses=[5]).seconds == pytest.approx(1 + 5 + 1)


def test_without_queueing_neighbours_stay_together() -> None:
    """Sums of neighbours then need no transfer."""
    leaves = [Task("leaf", 1.0, nbytes=1e6)] * 16
    sums = [Task("sum", 0.1, [first, first + 1]) for first in range(0, 16, 2)]
    together = simulated([*leaves, *sums], [1, 1], FREE._replace(saturation=math.inf))
    assert together.moved == 0


# Questions.


def test_the_recorded_setting_is_its_own_calibration() -> None:
    found = ran(READS, [2]).what_if()
    assert (found.seconds, found.recorded, found.calibration) == pytest.approx((6, 6, 6), rel=NEAR)
    assert found.trusted and found.low == found.high == found.seconds
    assert "As it was recorded" in str(found)


def test_more_workers_and_threads() -> None:
    recording = ran(READS, [1])
    assert recording.what_if(workers=3).seconds == pytest.approx(4, rel=0.01)
    assert recording.what_if(threads=6).seconds == pytest.approx(2, rel=0.01)
    both = recording.what_if(workers=2, threads=2)
    assert (both.workers, both.threads, both.workers_before, both.threads_before) == (2, 4, 1, 1)
    assert both.speedup == pytest.approx(4, rel=0.01)
    assert "2 workers instead of 1" in both.verdict() and "2 threads a worker instead of 1" in both.verdict()


def test_a_change_of_threads_is_told_only_where_there_is_one() -> None:
    run = ran([Task("work", 1.0) for _ in range(18)], (1, 4, 4))
    assert "thread" not in run.what_if(faster={"work": 2}).change
    assert run.what_if(threads=4).change == "With 4 threads a worker instead of 1 to 4"
    assert run.what_if(workers=1, threads=1).change == (
        "With 1 worker instead of 3 and with 1 thread a worker instead of 1 to 4"
    )


def test_a_faster_function() -> None:
    found = ran(TREE, [4]).what_if(faster={"leaf": 2})
    assert found.seconds == pytest.approx(1.25, rel=NEAR)
    assert "With `leaf` 2 times faster" in str(found)
    assert ran(TREE, [4]).what_if(faster={"leaf": 0.5}).verdict().endswith("times slower.")


def test_no_transfers_and_no_spilling() -> None:
    phases = {
        "run": [0, 1, 5],
        "action": ["disk-read", "transfer", "disk-write"],
        "start": [START + 0.0] * 3,
        "stop": [START + 0.5] * 3,
    }
    recording = ran(TREE, [4], phases=phases)
    assert recording.what_if(spilling=False).seconds == pytest.approx(1.75)
    columns = make(recording.columns)
    assert modelled(recording).disk.sum() == 0, "no more than the time before the function"
    assert recording.what_if(transfers=False).seconds <= 1.75 + 1e-9
    assert len(columns["run"]) == 7


def test_spilling_is_taken_off_where_it_was_waited_for() -> None:
    phase = {"run": [0], "action": ["disk-read"], "start": [START], "stop": [START + 0.5]}
    executions = {
        "run": [0],
        "worker": ["w0"],
        "received": [START - 1.0],
        "ready": [START - 1.0],
        "executing": [START - 1.0],
        "ended": [START + 1.0],
    }
    recording = ran([Task("read", 1)], phases=phase, executions=executions)
    assert modelled(recording).around == pytest.approx([1.0])
    assert modelled(recording).disk == pytest.approx([0.5])
    assert recording.what_if(spilling=False).simulated == pytest.approx(1.5)


CHAIN = [
    *[Task("load", 1.0, nbytes=10)] * 4,
    *[Task("clean", 0.5, [number]) for number in range(4)],
    Task("sum", 0.25, [4, 5, 6, 7]),
]


def test_bigger_chunks_merge_neighbours() -> None:
    made = with_chunks(modelled(ran(CHAIN)), 2)
    assert sorted(made.compute.tolist()) == pytest.approx([0.25, 1, 1, 2, 2])
    assert sorted(len(each) for each in made.needed) == [0, 0, 1, 1, 2]
    assert ran(CHAIN, [4]).what_if(chunks=2).seconds == pytest.approx(3.25, rel=NEAR)
    assert ran(CHAIN, [4]).what_if(chunks=4).seconds == pytest.approx(6.25, rel=NEAR)
    # Delayed calls have no chunks, but may be put together in batches.
    assert ran(CHAIN, [4]).what_if(chunks=2).change == "With chunks or batches 2 times as large"


def test_smaller_chunks_cut_tasks() -> None:
    made = with_chunks(modelled(ran(CHAIN)), 0.5)
    assert made.compute.sum() == pytest.approx(6.25)
    assert sorted(len(each) for each in made.needed) == [0] * 8 + [1] * 8 + [8]
    assert ran(CHAIN, [8]).what_if(chunks=0.5).seconds == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(("disk", "seconds"), [(False, {2: 12, 0.5: 24}), (True, {2: 16, 0.5: 16})])
def test_of_the_time_before_functions_that_with_the_disk_grows_with_chunks(
    disk: bool, seconds: dict[float, float]
) -> None:
    run = Run(a=CLUSTER)
    for number in range(8):
        run.task("load", "a", 2 * number + 1, 2 * number + 2, executing=2 * number)
    if disk:
        run.phases = [
            {
                "run": number,
                "action": "disk-read",
                "start": START + 2 * number,
                "stop": START + 2 * number + 1,
            }
            for number in range(8)
        ]
    recording = run.recording()
    for factor, expected in seconds.items():
        assert recording.what_if(chunks=factor).seconds == pytest.approx(expected, rel=NEAR)


def test_bigger_chunks_need_several() -> None:
    with pytest.raises(ValueError, match="blockwise chain"):
        ran([Task("a", 1), Task("b", 1, [0])]).what_if(chunks=2)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"chunks": 1.5}, "2, 3"),
        ({"chunks": 0}, "2, 3"),
        ({"chunks": -1}, "2, 3"),
        ({"workers": 0}, "one at least"),
        ({"threads": -2}, "one at least"),
        ({"faster": {"nothing": 2}}, "no task name 'nothing' .*'join', 'leaf', 'top'"),
        ({"faster": {"leaf": 0}}, "how many times faster"),
    ],
)
def test_senseless_questions_are_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ran(TREE).what_if(**asked)


def test_of_many_task_names_those_are_told_that_are_near() -> None:
    names = ["load", *(f"transform {number}" for number in range(99))]
    with pytest.raises(ValueError, match=r"no task name 'lod' .*'load'") as told:
        ran([Task(name, 1.0) for name in names]).what_if(faster={"lod": 2})
    assert str(told.value).count("transform") < 9


def test_nothing_ran() -> None:
    with pytest.raises(ValueError, match="no task ended"):
        Recording().what_if(workers=2)


def test_an_answer_that_cannot_be_trusted_is_a_range() -> None:
    """Two threads that never ran at once: the model knows no reason why, and says so."""
    columns = ran([Task("one", 5), Task("two", 5)], [2]).columns("attempts")
    late = np.array([0.0, 20.0])
    recording = ran(
        [Task("one", 5), Task("two", 5)],
        [2],
        attempts={
            name: values.tolist() if name not in ("start", "stop", "done") else (values + late).tolist()
            for name, values in columns.items()
        },
        executions={"run": [0], "worker": ["w0"]},
    )
    found = recording.what_if(workers=2, threads=2)
    assert not found.trusted
    assert found.low < found.high and found.low <= found.seconds <= found.high
    assert "between" in found.verdict() and "no more than a hint" in found.trust()


def test_no_answer_is_below_what_the_tasks_take_on_those_threads() -> None:
    """Also where the simulation is far too long, as of transfers that cost nothing here."""
    tasks = [*[Task("part", 1.0, nbytes=100e6)] * 4, Task("all", 1.0, [0, 1, 2, 3])]
    found = ran(tasks, [1] * 4).what_if(transfers=False)
    assert found.calibration > 2 * found.recorded and not found.trusted
    assert (found.low, found.seconds, found.high) == pytest.approx((2, 2, 2), rel=NEAR)
    assert found.low >= ran(tasks, [1] * 4).bounds().least


@pytest.mark.parametrize(
    ("stacks", "asked", "ranges"),
    [
        (seen(12, "with LK:"), {"threads": 4}, True),
        # Each process has a lock of its own.
        (seen(12, "with LK:"), {"workers": 2}, False),
        (seen(12, "", file="/a/distributed/lock.py", function="Lock.acquire"), {"workers": 2}, True),
        (seen(12, "", file="/a/distributed/actor.py", function="ActorFuture.result"), {"workers": 2}, True),
        (seen(12, "", file="/a/distributed/client.py", function="wait"), {"workers": 2}, False),
        (seen(12, "read()"), {"workers": 2}, False),
    ],
)
def test_threads_that_wait_as_well_may_save_nothing(
    stacks: dict[str, Any], asked: dict[str, Any], ranges: bool
) -> None:
    found = ran(READS, [2], **stacks).what_if(**asked)
    assert found.trusted and found.seconds == pytest.approx(3, rel=0.01)
    assert (found.low, found.high) == (found.seconds, found.recorded if ranges else found.seconds)
    assert ("between" in found.verdict()) == ranges
    waits = "read()" not in stacks["lines"]["text"]
    assert any("is waiting, mostly of `read`" in note for note in found.notes) == waits


@pytest.mark.parametrize("resources", [{"resources": {"DISK": 1}}, {}], ids=["with resources", "without"])
def test_more_threads_bring_no_more_resources(resources: dict[str, Any]) -> None:
    """Three of four threads are idle beside tasks that wait: nobody but who has resources has a reason."""
    told = {"worker": ["w0"], "threads": [4], "joined": [START - 1], "detail": [json.dumps(resources)]}
    run = ran(READS, [1], workers=told)
    found, faster = run.what_if(threads=8), run.what_if(faster={"read": 2})
    assert (found.high == found.recorded) == bool(resources) and faster.high < faster.recorded
    assert any("resources of their workers" in note for note in found.notes) == bool(resources)
    busy = ran(READS, [4], workers=told).what_if(threads=8)
    assert busy.high < busy.recorded and not any("resources" in note for note in busy.notes)


def test_a_scheduler_that_was_idle_before_and_after_the_run_costs_as_much() -> None:
    def cost(before: int, after: int) -> float:
        use = [0.0] * before + [0.05] * 100 + [0.0] * after
        time = START + 0.5 + np.arange(-before, 100 + after)
        samples = {"process": ["scheduler"] * len(use), "time": time, "cpu": use}
        recording = ran([Task("read", 1.0)] * 100, resources=samples)
        return Replay(recording.columns, {}).setting.costs.scheduler

    assert cost(0, 0) == pytest.approx(5e-4)
    assert cost(300, 300) == pytest.approx(5e-4, rel=0.02)


def test_an_answer_reads_as_text_and_as_html() -> None:
    found = ran([Task("<b>", 1.0)] * 4, [1]).what_if(workers=2, faster={"<b>": 2})
    assert isinstance(found, WhatIf)
    assert "`<b>` 2 times faster" in repr(found)
    assert "<b>` 2" not in found._repr_html_() and "<table>" in found._repr_html_()
    assert found.to_dict()["error"] == pytest.approx(0, abs=NEAR)


def test_repeated_attempts_keep_their_time() -> None:
    first = attempts_of(ran([Task("fragile", 2.0)]))
    second = {
        name: [value + 3 if name in ("start", "stop", "done") else value for value in values]
        for name, values in first.items()
    }
    merged = {name: [*first[name], *second[name]] for name in first}
    merged |= {"run": [0, 1], "status": ["retried", "ok"]}
    found = ran([Task("fragile", 2.0)], attempts=merged).what_if()
    assert found.calibration == pytest.approx(4, rel=NEAR)
    assert any("tried before" in note for note in found.notes)


@pytest.mark.parametrize("stop", [START + 8.0, math.nan])
def test_cancelled_work_is_part_of_the_run_but_needed_by_nobody(stop: float) -> None:
    """Also where nothing tells when the function went on to its end."""
    tasks = [*[Task("read", 1.0)] * 2, Task("unwanted", 6.0, submission=1)]
    attempts = attempts_of(ran(tasks, [1], pauses=[0])) | {
        "status": ["ok", "ok", "cancelled"],
        "stop": [START + 1.0, START + 2.0, stop],
        "done": [START + 1.0, START + 2.0, START + 8.0],
    }
    recording = ran(tasks, [1], pauses=[0], attempts=attempts, executions={"run": [0]})
    bounds, found = recording.bounds(), recording.what_if(workers=2)
    assert (bounds.seconds, bounds.work, bounds.longest) == pytest.approx((8, 2, 1))
    assert recording.summary().duration == pytest.approx(8)
    assert (found.recorded, found.calibration, found.seconds) == pytest.approx((8, 8, 7), rel=NEAR)
    assert "1 task cancelled, or lost sight of, while running: left out" in found.notes
    assert not any("had not ended" in note for note in found.notes)


def test_a_worker_that_came_when_another_had_left_is_no_worker_more() -> None:
    tasks = [Task("read", 1.0)] * 6
    attempts = attempts_of(ran(tasks, [1, 1]))
    ran_on = ["w0", "w1", "w0", "w1", "w2", "w1"]
    workers = {
        "worker": ["w0", "w1", "w2"],
        "threads": [1, 1, 1],
        "joined": [START - 1, START - 1, START + 2],
        "left": [START + 2, math.nan, math.nan],
    }
    attempts |= {"worker": ran_on, "assigned": attempts["start"]}
    executions = {"run": list(range(6)), "worker": ran_on}
    recording = ran(tasks, [1, 1], attempts=attempts, executions=executions, workers=workers)
    found = recording.what_if(workers=4)
    assert (found.workers_before, found.threads_before) == (2, 2)
    assert found.verdict().startswith("With 4 workers instead of 2")
    assert found.calibration == pytest.approx(3, rel=NEAR)
    assert "1 worker left before the end: simulated as if it had stayed" in found.notes


def test_tasks_that_run_at_the_end_of_the_recording_are_told() -> None:
    running = {"run": [9], "task": [9], "worker": ["w0"], "thread": ["0"], "start": [START + 1.0]}
    [note] = ran([Task("read", 1.0)], running=running).what_if().notes
    assert note == "1 task had not ended when the recording did: left out"


def test_tasks_that_killed_their_workers_are_told() -> None:
    tasks = [Task("read", 1.0)] * 3
    ended = attempts_of(ran(tasks)) | {"status": ["ok", "killed", "killed"]}
    notes = ran(tasks, attempts=ended, errors={"run": [2], "task": [2]}).what_if().notes
    assert "1 task failed: what needed it never ran and is not in this" in notes


def test_too_few_cores_are_told() -> None:
    tasks = [Task("work", 1.0)] * 8
    executions = {"run": list(range(8)), "worker": ["w0"] * 8, "cpu": [1.0] * 8}
    workers = {"worker": ["w0"], "host": ["a"], "threads": [2], "cores": [2], "joined": [START]}
    found = ran(tasks, [2], executions=executions, workers=workers).what_if(threads=4)
    [note] = found.notes
    assert "4 cores on average" in note and "may use 2" in note and words.duration(4.0) in note
    assert not ran(tasks, [2], executions=executions, workers=workers).what_if(faster={"work": 2}).notes
    # Before a worker tells of its host and its cores, its scheduler does of an address.
    twice = {"worker": ["w0"] * 2, "host": ["127.0.0.1", "a"], "threads": [2] * 2, "cores": [0, 2]}
    [note] = ran(tasks, [2], executions=executions, workers=twice).what_if(threads=4).notes
    assert "may use 2" in note
    apart = {
        "worker": ["w0", "w1"],
        "host": ["a"] * 2,
        "threads": [2, 2],
        "cores": [2, 2],
        "core_set": [1, 2],
    }
    [note] = ran(tasks, [2, 2], executions=executions, workers=apart).what_if(threads=4).notes
    assert "may use 4" in note
    # Where the cores of a host are not known, nothing is said of them.
    unknown = ran(tasks, [2], executions=executions, workers=workers | {"cores": [0]}).what_if(threads=4)
    assert "with fewer" in unknown.notes[0]


# Random graphs.


@given(
    tasks=graphs(),
    threads=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    costs=st.sampled_from(
        [FREE, Costs(0.01, 0.01, 0.01, 0.01, 0.1, 1e7, 1.1), FREE._replace(saturation=math.inf)]
    ),
)
@settings(max_examples=40, deadline=None)
def test_no_simulated_run_breaks_its_bounds(tasks: list[Task], threads: list[int], costs: Costs) -> None:
    pauses = [0.5] * len(tasks)
    recording = ran(tasks, pauses=pauses)
    made = modelled(recording)
    found = simulate(made, Setting(tuple(threads), (0.0,) * len(threads), costs))
    bounds = recording.bounds()
    assert found.seconds >= max(bounds.longest, bounds.work / sum(threads)) - 1e-5
    edges = sum(len(task.needs) for task in tasks)
    moving = edges * (costs.latency + 1e7 / costs.bandwidth)
    each = costs.up + costs.down + costs.handoff + costs.scheduler
    # Stealing begins up to 0.1 s late and may move a task more than once.
    most = sum(task.seconds for task in tasks) + len(tasks) * (3 * each + 0.1) + 3 * moving
    assert found.seconds <= most + sum(pauses[: tasks[-1].submission]) + 1e-5
    assert found.busy >= bounds.work - 1e-5


@given(tasks=graphs(), workers=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_more_workers_are_never_absurd(tasks: list[Task], workers: int) -> None:
    """A worse order can cost something (Graham's anomalies), but not more than twice the bound."""
    assume(sum(task.seconds for task in tasks) > 0)
    one = [task._replace(submission=0) for task in tasks]
    recording = ran(one, [1] * workers)
    found = recording.what_if(workers=2 * workers)
    alone = recording.what_if(workers=1)
    assert found.simulated <= alone.simulated * 1.5 + 0.5
    assert alone.simulated == pytest.approx(sum(task.seconds for task in tasks), abs=0.03)


# A real cluster.


def nap(number: int, *_: Any) -> int:
    time.sleep(0.1)
    return number


def test_a_real_run_is_foretold(client: Any) -> None:
    """Recorded on two workers of two threads each: the model fits, and four threads are faster than one."""
    # The workers import this module now, and not while they are watched.
    client.run(nap, 0)
    with dask_insight.record(client=client) as recording:
        naps = client.map(nap, range(24), pure=False)
        last = client.submit(nap, 0, *naps, pure=False)
        assert last.result(PATIENCE) == 0
    path = recording.critical_path()
    assert path["seconds"].sum() == pytest.approx(recording.summary().duration, abs=1e-6)
    assert path["seconds"][path["kind"] == "compute"].sum() >= 0.65
    assert path["prefix"].iloc[-1] == "nap"
    found = recording.what_if()
    assert found.workers == 2 and found.threads == 4
    bounds = recording.bounds()
    assert bounds.longest >= 0.2 and bounds.work >= 2.5
    assert bounds.least <= found.calibration <= 1.25 * found.recorded
    assert found.trusted == (abs(found.error) <= 0.15)
    serial = recording.what_if(workers=1, threads=1)
    assert bounds.work <= serial.simulated <= 1.5 * bounds.work + 0.5


def test_the_threaded_scheduler_is_one_worker() -> None:
    naps = [dask.delayed(nap)(number, pure=False) for number in range(8)]
    with dask_insight.record() as recording:
        dask.delayed(nap)(0, *naps).compute(scheduler="threads", num_workers=2)
    found = recording.what_if(threads=8)
    assert (found.workers, found.threads_before, found.threads) == (1, 2, 8)
    bounds = recording.bounds()
    assert bounds.threads == 2 and bounds.work >= 0.9
    assert bounds.longest <= found.simulated < found.calibration
    assert recording.critical_path()["seconds"].sum() == pytest.approx(bounds.seconds, abs=1e-6)


def test_bounds_of_what_does_not_tell_which_task_needs_which_speak_of_no_chain() -> None:
    stream = [
        {
            **{"key": f"step-{number}", "worker": "a", "thread": number % 2, "status": "OK", "nbytes": 8},
            "startstops": [{"action": "compute", "start": START + number, "stop": START + number + 1}],
        }
        for number in range(8)
    ]
    recording = task_stream.from_data(stream)
    bounds = recording.bounds()
    assert bounds.verdict().endswith(f"({words.duration(4)}). Which task needs which is not recorded.")
    assert "hain" not in str(bounds) and math.isnan(bounds.most) and math.isnan(bounds.parallelism)
    questions = recording.table("what_if")["question"].tolist()
    assert questions == ["recorded", "spread", "gap"]


def test_tasks_that_took_no_time_have_ended() -> None:
    assert ran([Task("quick", 0.0)] * 3).bounds().verdict().startswith("Tasks ended, but took no time")
    assert ran([]).bounds().verdict() == "No task ended while this was recorded."


def test_workers_join_as_late_as_those_that_were_recorded() -> None:
    run = Run(**{name: {"threads": 2, "joined": 600.0, "left": NAN} for name in "ab"})
    for number in range(40):
        start = 600 + number // 4 * 5
        run.task("work", "ab"[number % 2], start, start + 5, assigned=600, thread=str(number // 2 % 2))
    recording = run.recording()
    found = [recording.what_if(workers=count) for count in (1, 2, 4)]
    assert [each.seconds for each in found] == pytest.approx([700, 650, 625], rel=0.01)
    assert found[0].recorded == pytest.approx(650)
    said = "workers join as late as they did: up to 10 min 00 s after the first task"
    # Also where there are as many as there were.
    assert all(said in [note.replace(words.SPACE, " ") for note in each.notes] for each in found)
    assert not any("join" in note for note in recording.what_if(faster={"work": 2}).notes)


def replay_of(recording: Recording) -> Replay:
    return Replay(recording.columns, recording.about)


def cpu_of(recording: Recording, cpu: float) -> Recording:
    """The same, with so many seconds of CPU for each attempt."""
    made = Recording()
    for table in TABLES:
        columns = dict(recording.columns(table))
        if table == "executions":
            columns["cpu"] = np.full(len(columns["run"]), cpu, "f4")
        made.append(encode(table, columns))
    return made


def test_cores_in_use_are_those_of_the_part() -> None:
    part = cpu_of(ran([Task("work", 100.0)] * 4, [2]), 100.0).slice(50, 60)
    assert part.what_if(workers=2).cores == pytest.approx(2, rel=0.01)
    assert part.bounds().work == pytest.approx(20)


def test_cores_in_use_are_as_many_with_other_chunks() -> None:
    replay = replay_of(cpu_of(ran([Task("load", 1.0)] * 8, [2]), 1.0))
    faster = {"load": 2.0}
    assert replay.ask(chunks=2, faster=faster).cores == pytest.approx(replay.ask(faster=faster).cores)


@pytest.mark.parametrize("threads", [(1, 8), (16, 4, 4)])
def test_workers_that_are_asked_for_are_as_those_recorded(threads: tuple[int, ...]) -> None:
    workers = {"worker": [f"w{each}" for each in range(len(threads))], "threads": threads}
    joined = {"joined": [START] * len(threads)}
    replay = replay_of(ran([Task("work", 1.0)] * 120, threads, workers={**workers, **joined}))
    as_it_was = replay.ask(workers=len(threads))
    assert as_it_was.verdict().startswith("As it was recorded")
    twice = replay.ask(workers=2 * len(threads))
    assert twice.threads == 2 * sum(threads) and twice.seconds < as_it_was.seconds
    assert "thread" not in twice.verdict()


@pytest.mark.parametrize("threads", [(8, 8, 1, 1), (1, 1, 8, 8), (8, 1, 8, 1)])
def test_half_the_workers_are_as_uneven_as_all(threads: tuple[int, ...]) -> None:
    workers = {"worker": [f"w{each}" for each in range(4)], "threads": threads, "joined": [START] * 4}
    replay = replay_of(ran([Task("work", 1.0)] * 120, threads, workers=workers))
    assert replay.ask(workers=2).threads == 9


def test_a_range_without_width_is_no_range() -> None:
    answer = replay_of(ran(TREE, [2])).ask(workers=2)
    told = answer._replace(recorded=10.0, seconds=5.0, low=5.0, high=5.001, calibration=8.0).verdict()
    assert f": about {words.duration(5)} instead of {words.duration(10)}." in told
