"""What is found where results cannot be pickled, and where all threads wait for locks."""

from __future__ import annotations

from typing import Any

import pytest
from test_findings_cure import codes, findings, the
from test_time_budget import START, Run

from dask_insight.schema import NOTHING

LOCK = "<unlocked _thread.lock object at 0x7f>."
CANNOT = "TypeError: cannot pickle '_thread.lock' object"


def logged(
    thing: str, *, last: str = CANNOT, at: float = 1.0, source: str = "a", level: str = "error"
) -> dict[str, Any]:
    """What a process says that could not pickle something."""
    told = f"Failed to serialize {thing}\nTraceback (most recent call last):\n{last}"
    message = f"distributed.protocol.pickle: {told}"
    return {"time": START + at, "source": source, "kind": "log", "level": level, "message": message}


def returning(typename: str, *events: dict[str, Any], needed: str = "") -> Any:
    """A task `guard` that returns something, beside ten seconds of work; a task that needs it, if any."""
    run = Run()
    guard = run.task("guard", "a", 0.0, 0.5)
    run.task("work", "b", 0.0, 10.0)
    if needed == "runs":
        run.task("use", "a", 8.0, 9.0, guard, ready=8.0)
    if needed == "waits":
        run.task("use", "", float("nan"), float("nan"), guard, ended=10.0, status="cancelled")
    run.events = [*events]
    types = [typename, *["int"] * (len(run.attempts) - 1)]
    return findings(run, attempts={"typename": types})


@pytest.mark.parametrize(
    ("typename", "thing"),
    [
        ("_thread.lock", LOCK),
        ("builtins.generator", "<generator object gen at 0x7f>."),
        ("model.Guard", "<model.Guard object at 0x7f>."),
        ("model.Guard", "Guard(lock=<unlocked _thread.lock object at 0x7f>)."),
        ("dict", "{'lock': <unlocked _thread.lock object at 0x7f>}."),
        ("_thread.lock", "something of its own."),
    ],
)
def test_results_that_cannot_be_pickled_are_told_by_their_type(typename: str, thing: str) -> None:
    found = the(returning(typename, logged(thing)), "unsent-results")
    assert found.title == f"Results of `guard` cannot be sent: {CANNOT}" and found.severity == "warning"
    assert found.tasks == ("guard",) and found.workers == ("a",)


@pytest.mark.parametrize(
    "event",
    [
        logged("LLGExpr(dsk={'f': <unlocked _thread.lock object>})."),  # A graph, of which its sender hears.
        logged("Bad('x')."),  # An exception, which is sent without what it holds.
        logged(LOCK, source="scheduler"),
        logged(LOCK, level="info"),
    ],
)
def test_what_else_cannot_be_pickled_is_no_result(event: dict[str, Any]) -> None:
    assert "unsent-results" not in codes(returning("_thread.lock", event))


@pytest.mark.parametrize(
    ("needed", "at", "severity"), [("waits", 1, "critical"), ("waits", 8, "warning"), ("runs", 1, "warning")]
)
def test_tasks_that_wait_for_them_to_the_end_are_told(needed: str, at: float, severity: str) -> None:
    found = the(returning("_thread.lock", logged(LOCK, at=at), needed=needed), "unsent-results")
    assert found.severity == severity
    assert ("1 task of `use` waited for them to the end" in found.why) == (severity == "critical")


@pytest.mark.parametrize("last", ["when serializing dict item 'l'", "  "])
def test_its_reason_is_the_error(last: str) -> None:
    found = the(returning("_thread.lock", logged(LOCK, last=f"{CANNOT}\n{last}")), "unsent-results")
    assert found.title.endswith(CANNOT)
    bare = the(returning("_thread.lock", logged(LOCK, last=last)), "unsent-results")
    assert bare.title == "Results of `guard` cannot be sent"


@pytest.mark.parametrize(("holder", "told"), [("distributed/lock.py", True), ("/home/me/own.py", False)])
def test_threads_that_all_wait_for_locks_are_told_unless_one_works(holder: str, told: bool) -> None:
    run = Run()
    for worker in "ab":
        run.task("tidy", worker, 0.0, 1.0)
        run.task("write", worker, 1.0, 30.0, ready=1.0, ended=30.0, status="cancelled")
    stacks = {"stack": [0, 1], "parent": [NOTHING] * 2, "function": ["Lock.acquire", "write"], "line": [1, 1]}
    stacks |= {"file": ["/lib/site-packages/distributed/lock.py", holder], "first_line": [1, 1]}
    samples = {
        "process": ["a", "b"],
        "thread": ["1", "1"],
        "time": [START + 30.0] * 2,
        "duration": [28.0] * 2,
    }
    found = findings(run, stacks=stacks, samples=samples | {"stack": [0, 1], "run": [1, 3]})
    assert ("held-up" in codes(found)) == told
    if told:
        held = the(found, "held-up")
        assert held.severity == "critical" and held.cost_seconds == pytest.approx(29.0)
        assert held.title == "All threads are held by `write`, waiting for locks"
