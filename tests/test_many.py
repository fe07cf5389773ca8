"""Recordings of very many workers, pauses, frames, attempts and submissions are answered like any other.

What takes the square of their number would not end within the time of a test.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

import numpy as np
import pytest

from dask_insight.analysis.findings import Facts
from dask_insight.analysis.findings.growth import UNMANAGED_GROWTH
from dask_insight.analysis.findings.loops import EVENT_LOOP_LAG
from dask_insight.analysis.findings.skew import WORKER_SKEW, _medians_of_others
from dask_insight.analysis.findings.thresholds import Limits
from dask_insight.analysis.time_budget import budget
from dask_insight.batch import encode
from dask_insight.lookup import sorted_set
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

START = 1_750_000_000.0


def recorded(**tables: dict[str, Any]) -> Recording:
    recording = Recording()
    for name, columns in tables.items():
        recording.append(encode(name, columns))
    return recording


def attempts(start: np.ndarray, worker: list[str], **more: Any) -> dict[str, Any]:
    """Attempts of half a second that were ready when they started; start in seconds since `START`."""
    count = np.arange(len(start))
    moments = dict.fromkeys(("submitted", "ready", "assigned", "start"), START + start)
    told = {
        "run": count,
        "task": count,
        "worker": worker,
        "thread": ["1"] * len(start),
        "status": ["ok"] * len(start),
        "stop": START + start + 0.5,
        "done": START + start + 0.5,
        **moments,
    }
    return told | more


def graph(count: int, prefix: list[str]) -> dict[str, Any]:
    return {
        "task": np.arange(count),
        "key": [f"{name}-{row}" for row, name in enumerate(prefix)],
        "prefix": prefix,
        "group": prefix,
    }


def test_twenty_thousand_workers_that_join_late() -> None:
    count = 20_000
    names = [f"tcp://w{row}:1" for row in range(count)]
    joined = np.arange(count) * 1e-4
    run = recorded(
        workers={"worker": names, "threads": np.ones(count), "joined": START + joined},
        graph=graph(2 * count, ["load", "score"] * count),
        edges={"task": np.arange(1, 2 * count, 2), "dependency": np.arange(0, 2 * count, 2)},
        attempts=attempts(
            np.repeat(joined + 0.25, 2) + np.tile([0.0, 0.75], count),
            [name for name in names for _ in range(2)],
            # All wait from the beginning, the first of each worker for a thread.
            submitted=np.full(2 * count, START),
        ),
    )
    table = run.time_budget()
    seconds = dict(zip(table["part"], table["seconds"], strict=True))
    assert seconds["compute"] == pytest.approx(count)
    # Those that were there when the first task was wanted had joined.
    assert seconds["joining"] == pytest.approx(0.25 * (joined > 0).sum(), abs=1)
    answer = run.what_if(workers=count // 2)
    assert answer.workers_before == count and answer.workers == count // 2
    assert answer.simulated >= 2.0


def test_a_worker_that_is_paused_again_and_again() -> None:
    times = 20_000
    moments = np.arange(2 * times, dtype="f8")
    run = recorded(
        workers={"worker": ["w"], "threads": np.ones(1), "joined": np.array([START])},
        graph=graph(2, ["first", "last"]),
        attempts=attempts(np.array([0.0, 2.0 * times]), ["w", "w"], submitted=np.full(2, START)),
        events={
            "time": START + 0.75 + moments,
            "source": ["w"] * 2 * times,
            "kind": ["worker-status"] * 2 * times,
            "message": ["running to paused", "paused to running"] * times,
        },
    )
    table = run.time_budget()
    assert dict(zip(table["part"], table["seconds"], strict=True))["paused"] == pytest.approx(times)


def test_a_stack_twenty_thousand_frames_deep() -> None:
    depth = 20_000
    rows = np.arange(depth)
    run = recorded(
        stacks={
            "stack": rows,
            "parent": np.where(rows == 0, NOTHING, rows - 1),
            "function": ["again"] * depth,
            "file": ["code.py"] * depth,
        },
        samples={
            "process": ["w"],
            "time": np.array([START + 1]),
            "duration": np.ones(1),
            "stack": rows[-1:],
            "run": np.array([NOTHING]),
        },
    )
    tree = run.flame()
    assert tree["depth"].tolist() == rows.tolist()
    assert (tree["total"] == 1).all() and tree["self"].iloc[-1] == 1
    assert len(run.slice().columns("stacks")["function"].tolist()) == depth


def test_a_task_computed_again_and_again() -> None:
    """Each time one that needs it is computed, too."""
    times = 20_000
    start = np.arange(2 * times) * 0.75
    run = recorded(
        workers={"worker": ["w"], "threads": np.ones(1), "joined": np.array([START])},
        graph=graph(2, ["load", "score"]),
        edges={"task": np.array([1]), "dependency": np.array([0])},
        submissions={"submission": np.arange(times), "time": START + start[::2], "tasks": np.full(times, 2)},
        attempts=attempts(start, ["w"] * 2 * times, task=np.tile([0, 1], times)),
    )
    path = run.critical_path()
    assert path["seconds"].sum() == pytest.approx(start[-1] + 0.5)
    assert path.loc[path["kind"] == "compute", "prefix"].tolist() == ["load", "score"] * times


def test_attempts_that_overlap_by_no_more_than_clocks_may_be_off() -> None:
    """A long one whose end lies after the starts of many short ones on its thread."""
    count = 20_000
    start = np.append(0.0, 0.49 + np.arange(count) * 4e-7)
    stop = np.append(0.5, start[1:] + 1e-7)
    run = recorded(
        workers={"worker": ["w"], "threads": np.ones(1), "joined": np.array([START])},
        graph=graph(count + 1, ["step"] * (count + 1)),
        attempts=attempts(start, ["w"] * (count + 1), stop=START + stop, done=START + stop),
    )
    table = run.time_budget()
    assert table["seconds"].sum() == pytest.approx(0.5)


def test_fifty_thousand_tasks_one_after_another_that_need_no_other() -> None:
    count = 50_000
    start = np.arange(count) * 0.75
    run = recorded(
        workers={"worker": ["w"], "threads": np.ones(1), "joined": np.array([START])},
        graph=graph(count, ["step"] * count),
        attempts=attempts(start, ["w"] * count),
    )
    assert not run.findings().failed


def test_tasks_of_fifty_thousand_names() -> None:
    count = 50_000
    run = recorded(
        workers={"worker": ["w"], "threads": np.array([8]), "joined": np.array([START])},
        graph=graph(count, [f"step-{row}" for row in range(count)]),
        attempts=attempts(
            np.arange(count) // 8 * 0.75, ["w"] * count, thread=[str(row % 8) for row in range(count)]
        ),
    )
    assert not run.findings().failed


def test_a_straggler_in_each_of_many_names() -> None:
    """Each is looked at beside the tasks of its own name, not beside all: four times the names, the time."""

    def seconds(names: int, each: int = 5) -> float:
        count = names * each
        start = np.arange(count, dtype="f8")
        stop = START + start + np.where(np.arange(count) % each == 3, 0.9, 0.05)
        run = recorded(
            workers={"worker": ["w"], "threads": np.array([1]), "joined": np.array([START])},
            graph=graph(count, [f"step-{row // each}" for row in range(count)]),
            attempts=attempts(start, ["w"] * count, stop=stop, done=stop),
        )
        facts = Facts(run.columns, START, budget(run.columns))
        began = thread_time()
        found = facts.outliers(3.0, each)
        took = thread_time() - began
        assert [(one.rows.tolist(), one.why) for one in found] == [
            ([row], "itself") for row in range(3, count, each)
        ]
        return took

    assert seconds(12_000) < 8 * seconds(3_000)


def hosts(count: int, each: int = 30) -> Recording:
    """Workers of one thread on hosts of their own whose loops are late; half have queues, half gaps."""
    names = [f"tcp://w{row}:1" for row in range(count)]
    waits = np.repeat(np.arange(count) % 2 == 0, each)
    start = np.tile(np.arange(each), count) * np.where(waits, 0.5, 1.0)
    number, ready = np.arange(count * each), START + start - 0.4 * waits
    worker = [name for name in names for _ in range(each)]
    moments = np.arange(8) * each / 8
    samples = {"time": START + np.tile(moments, count)}
    process = [name for name in names for _ in moments]
    return recorded(
        workers={
            "worker": names,
            "host": names,
            "cores": np.ones(count),
            "threads": np.ones(count),
            "joined": np.full(count, START),
        },
        graph=graph(len(start), [f"step-{row % 5}" for row in range(len(start))]),
        edges={"task": number[~waits], "dependency": number[waits] + each - 1 - number[waits] % each},
        attempts=attempts(start, worker, submitted=np.full(len(start), START), ready=ready, assigned=ready),
        executions={
            "run": number,
            "worker": worker,
            "status": ["memory"] * len(number),
            "ended": START + start + 0.5,
            "executing": START + start,
            "ready": ready,
            "received": ready,
        },
        resources=samples
        | {
            "process": process,
            "cpu": np.full(len(process), 50.0),
            "memory": 1e9 + 1e8 * np.tile(moments, count),
            "lag": np.full(len(process), 3.0),
        },
        memory=samples | {"worker": process, "managed": np.zeros(len(process))},
    )


def test_many_hosts() -> None:
    """What is asked of each looks at its own attempts, not at all: four times the hosts, the time."""
    limits = Limits()
    asked: dict[str, Callable[[Facts], object]] = {
        "cores": lambda facts: facts.cores,
        "skew": lambda facts: list(WORKER_SKEW.find(facts, limits)),
        "growth": lambda facts: list(UNMANAGED_GROWTH.find(facts, limits)),
        "loops": lambda facts: list(EVENT_LOOP_LAG.find(facts, limits)),
        "queues": lambda facts: facts.queues.behind(
            np.flatnonzero(facts.good), np.full(len(facts.good), 0.5)
        ),
    }

    def seconds(count: int) -> dict[str, float]:
        run = hosts(count)
        facts = Facts(run.columns, START, budget(run.columns))
        assert len(facts.held) == count and facts.misplaced > 0 and facts.spent("inputs") > 0
        took = {}
        for name, ask in asked.items():
            began = thread_time()
            ask(facts)
            took[name] = thread_time() - began
        return took

    few, many = seconds(500), seconds(2000)
    assert {name: many[name] / few[name] for name in asked if many[name] > 8 * few[name]} == {}


def test_the_median_of_all_others_is_that_of_them_without_this_one() -> None:
    random = np.random.default_rng(3)
    for count in (2, 3, 8, 30):
        values, often = random.integers(0, 9, count).astype("f8"), random.integers(0, 5, count) + (count < 4)
        for row, found in enumerate(_medians_of_others(values, often)):
            others = np.sort(np.repeat(np.delete(values, row), np.delete(often, row)))
            assert found == np.median(others) if often[row] else np.isnan(found)


@pytest.mark.parametrize("kind", ["u4", "i8"])
def test_the_different_ones_of_many_integers(kind: str) -> None:
    for values in ([], [7], [3, 3, 3], np.random.default_rng(0).integers(0, 1_000, 5_000)):
        some = np.array(values, kind)
        found = sorted_set(some)
        assert found.dtype == some.dtype and found.tolist() == sorted(set(some.tolist()))
