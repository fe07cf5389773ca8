"""Findings about data on the move: tasks of shuffles, and tasks that were stolen in vain."""

from __future__ import annotations

import pytest
from test_findings_time import one, told
from test_time_budget import Run


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
