"""Findings about data on the move: tasks of shuffles, tasks that were stolen in vain, pools of processes."""

from __future__ import annotations

import pytest
from test_findings_time import one, told
from test_time_budget import NAN, Run

from dask_insight import words


def shuffled(pieces: int, others: int) -> Run:
    """A rechunk of so many pieces of 4 ms each, beside tasks of the same length."""
    run = Run()
    for number in range(pieces + others):
        name = "mean" if number >= pieces else "rechunk-split" if number % 2 else "rechunk-merge"
        start = number // 2 * 0.02
        run.task(name, "ab"[number % 2], start, start + 0.019)
    return run


def test_a_rechunk_made_of_tasks() -> None:
    found = one(shuffled(1200, 200), "task-shuffle")
    assert set(found.tasks) == {"rechunk-split", "rechunk-merge"}
    assert found.cost_thread_seconds == pytest.approx(1200 * 0.02, rel=0.01), "and around them"
    assert found.cost_seconds == pytest.approx(found.cost_thread_seconds / 4, rel=0.05)


@pytest.mark.parametrize("pieces, others", [(400, 10), (1200, 1400)])
def test_few_pieces_are_no_finding(pieces: int, others: int) -> None:
    assert told(shuffled(pieces, others), "task-shuffle") == []


def stolen(count: int, waits: float) -> Run:
    """Tasks that are moved from one worker to another, where their data come so many seconds later."""
    run = Run()
    for number in range(20):
        run.task("busy", "a", number, number + 1.0)
    for number in range(count):
        task = run.task("join", "a", number, number, status="stolen", submitted=number, assigned=number)
        run.attempts[-1] |= {"start": float("nan"), "stop": float("nan"), "executing": float("nan")}
        run.task(
            "join",
            "b",
            number + waits,
            number + waits + 0.1,
            task=task,
            submitted=number,
            assigned=number,
            inputs=number + waits,
        )
    return run


def test_tasks_that_were_moved_in_vain() -> None:
    found = one(stolen(20, 0.7), "stealing")
    assert found.tasks == ("join",) and found.workers == ("b",)
    assert found.cost_thread_seconds == pytest.approx(20 * 0.6, rel=0.01)


@pytest.mark.parametrize("run", [stolen(5, 0.7), stolen(20, 0.05)], ids=["few", "soon"])
def test_tasks_that_were_moved_and_ran_soon(run: Run) -> None:
    assert told(run, "stealing") == []


def pooled(computing: float, starting: float = 3.0) -> Run:
    """Two processes that start for some seconds, compute, and send a result for one."""
    there = {"threads": 1, "joined": starting, "left": NAN}
    run = Run(**{f"process {number}": there for number in (1, 2)})
    for name in run.workers:
        run.task("load", name, starting, starting + computing, assigned=0, inputs=starting)
        run.attempts[-1]["done"] = starting + computing + 1
    return run


def test_processes_that_start_and_wait_for_data_are_told_apart_from_a_scheduler() -> None:
    recording = pooled(1).recording()
    table = recording.time_budget()
    assert dict(zip(table.part, table.seconds, strict=True)) == pytest.approx({"processes": 8, "compute": 2})
    verdict = recording.summary().verdict().replace(words.SPACE, " ")
    assert "80 % starting processes and moving data between them" in verdict
    path = recording.critical_path("kind").seconds
    assert dict(path[path > 0]) == pytest.approx({"transfer": 4, "compute": 1})
    (found,) = (each for each in recording.findings() if each.code == "process-pool")
    assert (found.tasks, found.cost_seconds) == (("load",), pytest.approx(4))
    assert "process-pool" not in [each.code for each in pooled(8).recording().findings()]
