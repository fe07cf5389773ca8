"""Findings about memory, data, failures, clocks, event loops and GPUs: planted on paper, and near misses."""

from __future__ import annotations

import ast
import json
import math
import re
import shlex
from collections.abc import Sequence
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from graphs import START, Task, ran
from test_time_budget import NAN, Run

from dask_insight import words
from dask_insight.analysis.findings import Finding, kept, losses, resource_limits, retired
from dask_insight.analysis.findings.facts import Facts
from dask_insight.analysis.findings.names import of_workers
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.tables.errors import kind_of
from dask_insight.timeline import Attempts

MB = 1e6
GB = 1e9


def found(recording: Recording, code: str) -> list[Finding]:
    """Findings of a code, without those that are only told for completeness."""
    every = recording.findings()
    assert every.failed == ()
    return [each for each in every if each.code == code and each.severity != "info"]


def the(recording: Recording, code: str) -> Finding:
    """The one finding of a code; it must be whole."""
    (one,) = found(recording, code)
    assert one.title and one.why and one.advice and one.evidence and one.url.startswith("https://")
    assert 0 <= one.cost_seconds <= recording.findings().seconds
    assert one.start <= one.stop
    return one


def event(when: float, source: str, kind: str, message: str = "", **detail: Any) -> dict[str, Any]:
    row = {"time": START + when, "source": source, "kind": kind, "level": "warning", "message": message}
    return row | {"detail": json.dumps(detail)}


def with_rows(recording: Recording, table: str, rows: Sequence[dict[str, Any]]) -> Recording:
    recording.append(encode(table, {name: [row[name] for row in rows] for name in rows[0]}))
    return recording


def busy(seconds: int = 20, workers: Sequence[str] = ("a", "b")) -> Run:
    """Tasks of a second each, one after the other on each worker."""
    run = Run(**{worker: {"threads": 1, "joined": -1.0, "left": math.nan} for worker in workers})
    for start in range(seconds):
        for worker in workers:
            run.task("piece", worker, start, start + 1)
    return run


# Failures


def failing(last: str, number: int = 20) -> Run:
    run = Run()
    for start in range(number):
        task = run.task("parse", "a", start, start + 0.9)
        if start == 3:
            run.attempts[-1]["status"] = last
    run.task("tidy", "b", 0, 1)
    run.tables["errors"] = {
        "run": [3],
        "task": [3],
        "exception": ["ValueError('no date')"],
        "traceback": ["Traceback …"],
    }
    assert task == number - 1
    return run


def test_failed_tasks_are_named_with_their_exception() -> None:
    one = the(failing("erred").recording(), "failed-tasks")
    assert (one.severity, one.tasks, one.workers) == ("critical", ("parse",), ("a",))
    assert "no date" in one.why
    assert (one.is_risk, one.cost_seconds) == (True, pytest.approx(0.45))


def failing_by_kind() -> Run:
    """With exceptions of seven kinds."""
    run = failing("erred")
    raised = (
        ["TypeError('<b> `x`\n\n    y')"] * 3 + ["OSError(5)"] * 2 + [f"Odd{each}()" for each in range(5)]
    )
    for attempt in run.attempts[: len(raised)]:
        attempt["status"] = "erred"
    inside = '\n  File "/home/me/etl.py", line 40, in load\n    x\n'
    library = '  File "/env/lib/python3.12/site-packages/io.py", line 7, in read\n    y\nTypeError: z\n'
    run.tables["errors"] = {
        "run": range(len(raised)),
        "task": range(len(raised)),
        "exception": raised,
        "traceback": [f"Traceback …{inside}{library}"] * 3 + [""] * (len(raised) - 3),
    }
    return run


def test_failures_are_told_by_kind_with_where_the_first_was_raised() -> None:
    run = failing_by_kind()
    one = the(run.recording(), "failed-tasks")
    _, *kinds = one.why.split("\n\n")
    assert kinds[:2] == ["3 × TypeError('<b> `x`, in `load`, etl.py:40", "2 × OSError(5)"]
    assert kinds[2] == "1 × Odd0()" and kinds[5] == "2 more kinds; `run.errors` has all." and len(kinds) == 6
    assert "&lt;b&gt;" in one.html() and "<b> " not in one.html()
    errors = run.recording().errors
    assert errors["kind"].tolist() == ["TypeError"] * 3 + ["OSError"] * 2 + [
        f"Odd{each}" for each in range(5)
    ]
    assert errors["time"].tolist() == pytest.approx(run.recording().tasks["done"][:10].tolist())


def test_exceptions_of_which_nobody_tells_the_kind_are_told_apart_by_their_texts() -> None:
    run = failing("erred")
    raised = ["<busy>\nat 5"] * 3 + ["<gone>"] * 2
    for attempt in run.attempts[: len(raised)]:
        attempt["status"] = "erred"
    run.tables["errors"] = {
        "run": range(len(raised)),
        "task": range(len(raised)),
        "exception": raised,
        "traceback": ['  File "/home/me/etl.py", line 40, in load\n    x\n'] * len(raised),
    }
    _, *kinds = the(run.recording(), "failed-tasks").why.split("\n\n")
    assert kinds == ["3 × <busy>, in `load`, etl.py:40", "2 × <gone>, in `load`, etl.py:40"]


@pytest.mark.parametrize(
    ("exception", "traceback", "kind"),
    [
        ("ValueError()", "", "ValueError"),
        ("Own (its repr failed)", "", "Own"),
        ("KilledWorker: the worker died", "", "KilledWorker"),
        ("<no name>", 'T\n  File "C:\\a.py", line 1, in f\n    x\nown.errors.Odd: 1\n  a: b\n', "Odd"),
        ("no name", 'T\n  File "a.py", line 1, in f\nOdd\n', "Odd"),
        ("no name: (", "", ""),
        ("Unseen: its cluster closed while it ran", "", ""),
        ("Ärger('x')", "", "Ärger"),
        ("<no name>", 'T\n  File "a.py", line 1, in f\nÄrger: 1\n', "Ärger"),
        # As Dask sends it.
        ("<no name>", '  File "a.py", line 1, in f\n    raise Odd\n', ""),
        ("", "", ""),
    ],
)
def test_the_kind_of_an_exception_is_its_types_name(exception: str, traceback: str, kind: str) -> None:
    assert kind_of(exception, traceback) == kind


def test_a_task_that_worked_later_has_not_failed() -> None:
    run = failing("erred")
    run.task("parse", "a", 19, 20, task=3)
    assert not found(run.recording(), "failed-tasks")


@pytest.mark.parametrize("status", ["cancelled", "stolen", "rescheduled", "ok"])
def test_what_was_called_off_has_not_failed(status: str) -> None:
    assert not found(failing(status).recording(), "failed-tasks")
    assert not found(failing(status).recording(), "retried-work")


@pytest.mark.parametrize(
    ("stop", "left", "said"),
    [
        pytest.param(5.0, NAN, f"for {words.duration(2)} after that they still held threads", id="told"),
        pytest.param(NAN, NAN, f"held threads for {words.duration(6)} at least, until the rec", id="goes on"),
        pytest.param(NAN, 4.0, f"held threads for {words.duration(1)} at least, until the rec", id="left"),
    ],
)
def test_cancelled_tasks_hold_threads_until_their_functions_end(stop: float, left: float, said: str) -> None:
    run = Run(a={"threads": 1, "joined": -1.0, "left": left}, b={"threads": 1, "joined": -1.0, "left": NAN})
    run.task("fit", "a", 0, stop, status="cancelled")
    run.attempts[-1]["done"] = 3
    run.task("tidy", "b", 0, 8)
    rows = [{"process": "b", "time": START + each, "cpu": 100.0} for each in range(10)]
    one = the(with_rows(run.recording(), "resources", rows), "cancelled-work")
    assert said in one.why
    assert one.cost_thread_seconds == pytest.approx(3 if math.isnan(stop) else stop)


def test_what_the_recording_lost_sight_of_was_not_cancelled() -> None:
    run = Run()
    run.task("fit", "a", 0, 5, status="cancelled")
    run.task("tidy", "b", 0, 8)
    assert found(run.recording(), "cancelled-work")
    run.tables["errors"] = {"run": [0], "task": [0], "exception": ["Unseen: its cluster closed"]}
    assert not found(run.recording(), "cancelled-work")


def test_tasks_that_workers_died_of_have_failed() -> None:
    run = failing("killed")
    run.tables["errors"]["exception"] = ["KilledWorker('parse-3', …)"]
    assert the(run.recording(), "failed-tasks").tasks == ("parse",)


def test_inputs_that_no_worker_has_room_for_are_no_error_of_a_function() -> None:
    run = Run()
    parts = [run.task("part", "a", number, number + 1) for number in range(4)]
    run.task("finalize", "a", NAN, NAN, *parts, status="erred")
    run.attempts[-1] |= {"ready": 4.0, "done": 4.1}
    text = "MemoryError: what it needs is larger than the memory limit of the worker that it was to run on"
    run.tables["errors"] = {"run": [4], "task": [4], "exception": [text]}
    for attempt in run.attempts:
        attempt["nbytes"] = 400 * MB
    run.tables["attempts"] = attempts_with_sizes(run)
    one = the(run.recording(), "failed-tasks")
    assert one.why.startswith("Dask did not run them") and f"It needs {words.size(1600 * MB)}" in one.why
    assert "to_parquet" in one.advice and "debugger" not in one.advice


def retried(times: int, of: int) -> Recording:
    run, runs = Run(), []
    for number in range(of):
        task = run.task("upload", "a", number, number + 0.5)
        if number < times:
            run.attempts[-1]["status"] = "retried"
            runs.append(run.attempts[-1]["run"])
            run.task("upload", "a", number + 0.5, number + 1, task=task)
    text = [f"OSError('busy {number}')" for number in range(times)]
    errors = {"run": runs, "task": list(range(times)), "exception": text, "traceback": text}
    run.tables["errors"] = {name: values[::-1] for name, values in errors.items()}
    return run.recording()


def test_work_that_was_tried_again_costs_its_time() -> None:
    one = the(retried(6, 20), "retried-work")
    assert one.tasks == ("upload",)
    assert one.cost_thread_seconds == pytest.approx(3)


def test_the_error_that_came_first_is_told_in_whatever_order_workers_tell_of_them() -> None:
    assert the(retried(6, 20), "retried-work").why.endswith("The first of them: OSError('busy 0')")


def test_one_attempt_of_many_that_was_tried_again_is_no_finding() -> None:
    assert not found(retried(1, 40), "retried-work")


def test_what_is_let_go_of_because_another_task_failed_was_not_tried_again() -> None:
    run = failing("erred")
    for attempt in run.attempts[5:9]:
        attempt["status"] = "retried"
    assert not found(run.recording(), "retried-work")


def rescheduled(of_p2p: bool = False) -> Run:
    """A third of the attempts ask to be run elsewhere."""
    run = Run()
    load = run.task("load", "a", 0, 0.1)
    barrier = run.task("shuffle-barrier" if of_p2p else "sum", "a", 0.1, 0.2, load)
    for number in range(1, 11):
        task = run.task("part", "a", number, number + 0.5, barrier, status="rescheduled")
        run.task("part", "b", number + 0.5, number + 1.5, barrier, task=task)
    return run


def test_attempts_that_were_rescheduled_gave_nothing() -> None:
    run = rescheduled().recording()
    one = the(run, "retried-work")
    assert (one.severity, one.title) == ("critical", "10 attempts at `part` were rescheduled")
    assert one.cost_thread_seconds == pytest.approx(5) and "`Reschedule`" in one.why
    assert run.summary().verdict().endswith("10 attempts were rescheduled.")


def test_attempts_that_lost_their_inputs_before_they_ran_have_cost_nothing() -> None:
    run = rescheduled()
    for attempt in run.attempts:
        if attempt["status"] == "rescheduled":
            attempt["start"] = attempt["stop"] = NAN
    assert not found(run.recording(), "retried-work")


def test_attempts_that_did_not_ask_to_run_again_were_taken_back() -> None:
    run = rescheduled()
    ends = ["released" if attempt["status"] == "rescheduled" else "memory" for attempt in run.attempts]
    (one,) = [each for each in with_executions(run, ends).findings() if each.code == "retried-work"]
    assert (one.severity, one.cost_thread_seconds) == ("info", pytest.approx(5))
    assert "taken back" in one.title and "`Reschedule`" not in one.why and "Reschedule" not in one.advice
    untold = with_rows(run.recording(), "executions", [{"run": 0, "worker": "a", "status": "memory"}])
    assert the(untold, "retried-work").advice.startswith("Raise `Reschedule`"), "nobody says otherwise"
    asked = ["rescheduled" if end == "released" else end for end in ends]
    assert the(with_executions(run, asked), "retried-work").advice.startswith("Raise `Reschedule`")


def test_what_sends_for_p2p_is_taken_back_also_where_it_was_fused() -> None:
    run = Run()
    sends = [run.task("rechunk-merge-rechunk-transfer", "a", each, each + 1) for each in range(4)]
    for attempt in run.attempts[:2]:
        attempt["status"] = "rescheduled"
        run.task("", "b", 4 + attempt["run"], 5 + attempt["run"], task=attempt["task"])
    # Under this name the barrier waits for it.
    names = [run.task("rechunk-transfer", "a", 7 + each, 7.1 + each, send) for each, send in enumerate(sends)]
    run.task("rechunk", "a", 12, 13, run.task("shuffle-barrier", "a", 11, 12, *names))
    (one,) = [each for each in run.recording().findings() if each.code == "retried-work"]
    assert (one.severity, one.tasks) == ("info", ("rechunk-merge-rechunk-transfer",))
    assert "taken back" in one.title


def with_executions(run: Run, ends: list[str]) -> Recording:
    """A run whose workers tell how attempts ended there."""
    recording = run.recording()
    rows = [{"run": number, "worker": "a", "status": end} for number, end in enumerate(ends)]
    return with_rows(recording, "executions", rows)


def test_one_attempt_that_was_rescheduled() -> None:
    run = busy(4)
    task = run.task("part", "a", 4, 6, status="rescheduled")
    run.task("part", "b", 6, 8, task=task)
    assert the(run.recording(), "retried-work").title == "1 attempt at `part` was rescheduled"


def test_outputs_of_p2p_that_are_placed_are_told_by_what_that_costs() -> None:
    one = the(rescheduled(of_p2p=True).recording(), "retried-work")
    assert (one.severity, one.cost_thread_seconds) == ("warning", pytest.approx(5))
    assert one.title.endswith("to place the outputs of P2P") and "`Reschedule`" not in one.why
    for output in ("p2pshuffle", "rechunk", "getitem-rechunk-mul"):
        placing = rescheduled(of_p2p=True)
        placing.names = [output if name == "part" else name for name in placing.names]
        summary = placing.recording().summary()
        assert "rescheduled" not in summary.verdict() and summary.rescheduled == summary.placed == 10
    cheap = rescheduled(of_p2p=True)
    for attempt in cheap.attempts:
        if attempt["status"] == "rescheduled":
            attempt["stop"] = attempt["ended"] = attempt["done"] = attempt["start"] + 0.01
    assert "retried-work" not in [each.code for each in cheap.recording().findings()]


# Lost workers


def losing(expected: bool = False, later: bool = True) -> Recording:
    run = Run(
        **{name: {"threads": 1, "joined": -1.0, "left": 6.0 if name == "b" else math.nan} for name in "ab"}
    )
    first, second = run.task("load", "a", 0, 3), run.task("load", "b", 0, 3)
    run.task("analyse", "b", 3, 6, second, status="killed")
    run.attempts[-1]["done"] = 6
    if later:
        run.task("load", "a", 6, 9, task=second)
        run.task("analyse", "a", 9, 12, task=2)
        run.task("rest", "a", 12, 14, first)
    recording = run.recording()
    rows = [event(6, "b", "worker-lost", "gone", processing=1, lost=1, expected=expected)]
    return with_rows(recording, "events", rows)


def test_a_lost_worker_is_named_with_what_was_done_again() -> None:
    one = the(losing(), "worker-lost")
    assert (one.severity, set(one.tasks)) == ("critical", {"load", "analyse"})
    # Three seconds of analysing were lost, and three of loading done again.
    assert one.cost_thread_seconds == pytest.approx(6, abs=0.1)
    # Its workers and its time show both: the three seconds before it died, and the six after.
    assert one.workers == ("b", "a")
    assert (one.start, one.stop) == (pytest.approx(3), pytest.approx(12))


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("worker-lifetime-reached", ("end of their lifetime", "--lifetime-stagger")),
        ("nanny-close", ("closed at once", "cluster.adapt(minimum=2, maximum=2)")),
        ("signal-15", ("got a signal to end", "--lifetime 55m")),
        ("client-restart-workers-1795.7", ("started anew on request", "restart_workers=True")),
        ("nanny-plugin-pip-restart", ("started anew on request", "before you compute")),
        ("check-worker-ttl-1795.7", ("fell silent", "worker-ttl")),
        ("worker-ttl-timed-out", ("fell silent", "release the lock")),
    ],
)
def test_a_worker_that_ends_with_what_it_has_did_not_die(reason: str, said: tuple[str, str]) -> None:
    closing = event(5.9, "b", "worker-closing", reason)
    one = the(with_rows(losing(), "events", [closing]), "worker-lost")
    assert said[0] in one.title and said[1] in one.advice and "crashed" not in one.why
    # A nanny says the same whoever had it close its worker.
    assert ("a nanny that gives up" in one.why) == (reason == "nanny-close")
    assert one.why.count("began anew elsewhere") == 1
    assert one.cost_thread_seconds == pytest.approx(6, abs=0.1)


def test_why_a_worker_closed_after_it_was_lost_is_no_cause() -> None:
    closing = event(5.9, "b", "worker-closing", "worker-handle-scheduler-connection-broken")
    one = the(with_rows(losing(), "events", [closing]), "worker-lost")
    assert (one.severity, one.title[:13]) == ("critical", "1 worker died")


@pytest.mark.parametrize(("seconds", "told"), [(2, False), (30, True)])
def test_work_that_waits_for_workers_that_do_not_come_back(seconds: int, told: bool) -> None:
    rows = [{"process": "scheduler", "time": START + 6 + each, "cpu": 5.0} for each in range(seconds)]
    recording = with_rows(losing(later=False), "resources", rows)
    lost = found(recording, "worker-lost")
    assert [(each.workers, each.start, each.stop) for each in lost] == [(("b",), 3.0, 6.0)] * told
    assert all("Nothing ran after that" in each.why and "anew" not in each.why for each in lost)
    assert "anew elsewhere" in the(losing(), "worker-lost").why


def test_a_worker_that_was_asked_to_leave_is_not_lost() -> None:
    assert not found(losing(expected=True), "worker-lost")


def retiring(waiting: bool, back: bool = False) -> Recording:
    """A worker that is asked to leave at 3 s and has left at 6 s, with or without a task that waits there."""
    run = Run(
        **{name: {"threads": 1, "joined": -1.0, "left": 6.0 if name == "b" else math.nan} for name in "ab"}
    )
    first, second = run.task("load", "a", 0, 3), run.task("load", "b", 0, 3)
    run.task("rest", "a", 3, 12, first)
    if waiting:
        run.task("analyse", "b", math.nan, math.nan, second, status="killed", thread="")
        run.attempts[-1] |= {"ready": 3.0, "assigned": 3.0, "done": 6.0}
        run.task("analyse", "a", 12, 14, task=3)
    rows = [event(3, "b", "worker-status", "running → closing_gracefully")]
    if back:
        rows.append(event(4, "b", "worker-status", "closing_gracefully → running"))
    if waiting:
        rows.append(event(6, "b", "worker-lost", "gone", processing=1, lost=0, expected=True))
    return with_rows(run.recording(), "events", rows)


def test_a_worker_that_is_retired_beside_tasks_that_wait_there_costs_its_idle_time() -> None:
    one = the(retiring(waiting=True), "worker-lost")
    assert (one.tasks, one.workers) == (("analyse",), ("b",))
    assert one.title.startswith(f"1 worker took {words.duration(3)} to be retired")
    assert one.cost_thread_seconds == pytest.approx(3, abs=0.1)
    assert "1 task that they had been given, " in one.why and "anew" not in one.why


def test_workers_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes time for each attempt is done once, however many of them left, or have resources."""

    def looks(count: int) -> int:
        names = [f"w{number}" for number in range(count)]
        run = Run(**{name: {"threads": 1, "joined": -1.0, "left": 6.0} for name in names})
        rows = []
        for name in names:
            run.task("load", name, 0, 3)
            rows.append(event(3, name, "worker-status", "running → closing_gracefully"))
            rows.append(event(6, name, "worker-lost", "gone", processing=1, lost=1, expected=False))
        asked: list[str] = []

        def counted(self: Attempts, *fields: str) -> Any:
            asked.extend(fields)
            return in_blocks(self, *fields)

        def of(known: Facts, workers: Any) -> Any:
            asked.append("worker")
            return of_workers(known, workers)

        with monkeypatch.context() as patch:
            patch.setattr(Attempts, "in_blocks", counted)
            for module in (losses, retired, resource_limits, kept):
                patch.setattr(module, "of_workers", of)
            recording = with_rows(run.recording(), "events", rows)
            told = [{"worker": name, "threads": 1, "detail": '{"resources": {"x": 1}}'} for name in names]
            assert with_rows(recording, "workers", told).findings().failed == ()
        return len(asked)

    in_blocks = Attempts.in_blocks
    assert looks(2) == looks(12)


def test_a_worker_that_is_retired_when_nothing_waits_costs_nothing() -> None:
    assert "worker-lost" not in [each.code for each in retiring(waiting=False).findings()]


@pytest.mark.parametrize("retired", [True, False])
def test_a_gap_in_which_a_worker_was_retired_says_so(retired: bool) -> None:
    run = Run(
        **{name: {"threads": 1, "joined": -1.0, "left": 8.0 if name == "b" else math.nan} for name in "ab"}
    )
    run.task("load", "a", 0, 5)
    run.task("load", "b", 0, 5)
    run.task("sum", "a", 8, 12, submitted=8)
    recording = run.recording()
    if retired:
        with_rows(recording, "events", [event(5, "b", "worker-status", "running → closing_gracefully")])
    assert ("Client.retire_workers" in the(recording, "client-gap").why) == retired


def test_a_worker_that_could_not_be_retired_went_on() -> None:
    assert not found(retiring(waiting=True, back=True), "worker-lost")


def test_a_cluster_that_is_closed_loses_nothing() -> None:
    assert not found(losing(later=False), "worker-lost")


# Tasks that no worker may run, and resources


def stranded(told: Sequence[dict[str, Any]], when: Sequence[float] = (4.0, 8.0)) -> Recording:
    rows = [event(at, "scheduler", "no-worker", **each) for at, each in zip(when, told, strict=False)]
    return with_rows(busy().recording(), "events", rows)


ASKED = {"tasks": 4, "names": ["train"], "resources": {"GPU": 1.0}, "bound": [], "workers": 2, "seconds": 2.0}


def test_tasks_that_no_worker_may_run_are_told_while_they_wait() -> None:
    one = the(stranded([ASKED, ASKED | {"tasks": 6, "seconds": 6.0}]), "no-worker")
    assert (one.severity, one.tasks) == ("critical", ("train",))
    assert one.title.startswith("6 `train` wait for a worker that has `GPU=1`")
    assert one.start == pytest.approx(2) and "resources=" in one.advice


def test_tasks_that_waited_for_a_worker_that_came() -> None:
    one = the(stranded([ASKED, {"tasks": 0}]), "no-worker")
    assert one.cost_seconds == pytest.approx(6) and one.title.startswith("4 `train` waited")
    # What waits for the first workers of all is told of these.
    assert not found(stranded([ASKED | {"workers": 0}, {"tasks": 0}]), "no-worker")


def test_tasks_that_no_worker_may_run_are_told_where_no_task_ran() -> None:
    row = event(4, "scheduler", "no-worker", **ASKED)
    run = with_rows(Recording(), "about", [{"name": "started", "value": str(START)}])
    some = with_rows(run, "events", [row]).findings()
    assert some.failed == () and some.between == (0.0, 0.0)
    (one,) = some
    assert (one.severity, one.start, one.stop) == ("critical", pytest.approx(2), pytest.approx(4))


@pytest.mark.parametrize(("names", "said"), [(["train"], "1 `train` waits for"), ([], "1 task waits for")])
def test_one_task_that_no_worker_may_run(names: list[str], said: str) -> None:
    asked = ASKED | {"tasks": 1, "names": names, "resources": {"memory": 5e9}}
    one = the(stranded([asked]), "no-worker")
    assert one.title.startswith(f"{said} a worker that has `memory=5000000000`")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"resources": {}, "bound": ["tcp://1.2.3.4:5"]}, "`tcp://1.2.3.4:5`"),
        ({"resources": {}, "workers": 0}, "any worker"),
        ({"resources": {}}, "a worker that may run them"),
    ],
)
def test_what_tasks_wait_for_that_no_worker_may_run(asked: dict[str, Any], said: str) -> None:
    one = the(stranded([ASKED | asked]), "no-worker")
    assert f"wait for {said}, for" in one.title
    assert one.severity == ("warning" if said == "any worker" else "critical")


def test_events_that_make_no_sense_are_passed_over() -> None:
    recording = with_rows(busy().recording(), "events", [event(1, "s", "no-worker", tasks="x")])
    assert not found(recording, "no-worker") and recording.findings().failed == ()


def with_resources(at_once: int, resources: dict[str, float]) -> Recording:
    """Twelve tasks on a worker of four threads, of which so many run at a time."""
    run = Run(a={"threads": 4, "joined": -1.0, "left": math.nan})
    for number in range(12):
        start = number // at_once
        run.task("train", "a", start, start + 1, assigned=0, thread=str(number % at_once))
    run.tables["workers"] = run._columns()["workers"] | {"detail": [json.dumps({"resources": resources})]}
    return run.recording()


@pytest.mark.parametrize(
    ("at_once", "severity", "less"), [(1, "info", 0.5), (2, "critical", 0.25)], ids=["one", "two"]
)
def test_threads_that_resources_keep_idle(at_once: int, severity: str, less: float) -> None:
    recording = with_resources(at_once, {"GPU": 1})
    (one,) = [each for each in recording.findings() if each.code == "resource-limit"]
    assert (one.severity, one.tasks) == (severity, ("train",))
    rounds = 12 // at_once
    assert one.cost_thread_seconds == pytest.approx((4 - at_once) * (rounds - 1), abs=0.2)
    assert f"--nthreads {at_once} " in one.advice and f"{{'GPU': {less}}}" in one.advice


def test_the_worker_that_ran_most_at_a_time_tells_which_resources_that_took() -> None:
    run = Run(**{name: {"threads": 4, "joined": -1.0, "left": math.nan} for name in "ab"})
    for number in range(6):
        run.task("train", "a", number, number + 1, assigned=0)
        for thread in "12":
            run.task("train", "b", number, number + 1, assigned=0, thread=thread)
    detail = [json.dumps({"resources": {"GPU": amount}}) for amount in (1, 4)]
    run.tables["workers"] = run._columns()["workers"] | {"detail": detail}
    assert "--nthreads 2 --resources GPU=4\n" in the(run.recording(), "resource-limit").advice


def _code(advice: str) -> tuple[list[str], list[ast.stmt]]:
    """What stands in an advice to be copied: words of its line for a shell, statements of its Python."""
    (code,) = [dedent(part) for part in advice.split("\n\n") if part.startswith("    ")]
    (shell,) = [line for line in code.splitlines() if line.startswith("#")]
    return shlex.split(shell.removeprefix("#")), ast.parse(code).body


@pytest.mark.parametrize("name", ["G'PU; evil #", "$(evil)", "a\nevil()", "a\n\n    evil()", "a` `b", '"'])
def test_names_of_resources_stay_words_in_code_that_is_to_be_copied(name: str) -> None:
    plain, odd = (
        [
            *(each for each in with_resources(2, {named: 1}).findings() if each.code == "resource-limit"),
            the(stranded([ASKED | {"resources": {named: 1.0}}]), "no-worker"),
        ]
        for named in ("GPU", name)
    )
    assert len(odd) == len(plain) == 2
    for one, other in zip(plain, odd, strict=True):
        (shell, code), (expected, body) = _code(other.advice), _code(one.advice)
        assert len(shell) == len(expected)
        swapped = ast.dump(ast.Module(code, [])).replace(repr(name), "'GPU'")
        assert swapped == ast.dump(ast.Module(body, []))
        assert "\n" not in other.title and "\n" not in other.why


def test_threads_that_are_idle_on_a_worker_without_resources() -> None:
    assert "resource-limit" not in [each.code for each in with_resources(1, {}).findings()]


@pytest.mark.parametrize(
    ("has", "needs", "codes"),
    [
        ({}, {"GPU": 1}, ["resource-limit"]),
        ({"GPU": 1}, {"GPU": 1}, ["worker-skew", "resource-limit"]),
        ({}, {}, ["worker-skew"]),
    ],
    ids=["none", "its own", "no matter"],
)
def test_a_worker_without_the_resources_could_not_have_taken_the_tasks(
    has: dict[str, float], needs: dict[str, float], codes: list[str]
) -> None:
    run = Run(
        a={"threads": 1, "joined": -1.0, "left": math.nan}, b={"threads": 4, "joined": -1.0, "left": math.nan}
    )
    for number in range(10):
        run.task("train", "b", number, number + 1, assigned=0, inputs=0, submitted=0)
    columns = run._columns()["workers"]
    detail = [json.dumps({"resources": resources}) for resources in (has, needs)]
    run.tables["workers"] = columns | {"detail": detail}
    known = {"resource-limit", "worker-skew", "imbalanced-threads"}
    some = [each.code for each in run.recording().findings() if each.code in known]
    assert sorted(some) == sorted(codes)


# Clocks


def clocked(offset: float, uncertainty: float) -> Recording:
    rows = [
        {"worker": "b", "time": START + when, "offset": offset, "uncertainty": uncertainty, "applied": 0.2}
        for when in range(5)
    ]
    rows[0] |= {"offset": 0.0, "uncertainty": math.inf}
    return with_rows(busy().recording(), "clocks", rows)


@pytest.mark.parametrize("offset", [-3.0, 0.5])
def test_a_wrong_clock_is_named(offset: float) -> None:
    one = the(clocked(offset, 0.01), "clock-skew")
    assert (one.workers, one.tasks) == (("b",), ())
    assert ("ahead" if offset > 0 else "behind") in one.title


def test_a_clock_that_may_be_right_is_no_finding() -> None:
    assert not found(clocked(0.6, 0.55), "clock-skew")
    assert not found(clocked(0.02, 0.0), "clock-skew")


# Event loops


def lagging(process: str, lags: Sequence[float], every: float = 0.2) -> Recording:
    rows = [
        {"process": process, "time": START + (number + 1) * every, "lag": lag}
        for number, lag in enumerate(lags)
    ]
    return with_rows(busy().recording(), "resources", rows)


def test_an_event_loop_that_seldom_runs_is_named_with_the_task() -> None:
    one = the(lagging("a", [0.18] * 80), "event-loop-lag")
    assert (one.tasks, one.workers) == (("piece",), ("a",))


@pytest.mark.parametrize(
    ("function", "file", "tasks", "said"),
    [
        ("Meter.count", "/home/me/meter.py", (), "`Meter.count` (`meter.py:9`) kept"),
        # A task that is a coroutine runs there.
        ("piece", "/home/me/work.py", ("piece",), "`piece` kept"),
        ("dumps", "/x/site-packages/distributed/core.py", ("piece",), "`piece` kept"),
    ],
)
def test_what_keeps_a_workers_event_loop_is_named_and_not_what_ran_beside(
    function: str, file: str, tasks: tuple[str, ...], said: str
) -> None:
    run = lagging("a", [0.18] * 80)
    stack = {"stack": 0, "parent": NOTHING, "function": function, "file": file, "line": 9, "first_line": 7}
    sample = {"process": "a", "thread": "event loop", "time": START + 16.0, "duration": 15.0, "stack": 0}
    with_rows(with_rows(run, "stacks", [stack]), "samples", [sample | {"run": NOTHING}])
    one = the(run, "event-loop-lag")
    assert one.tasks == tasks and one.title.startswith(said)
    assert (file.rpartition("/")[2] in one.why) == ("core" not in file)


def test_an_event_loop_that_a_limit_on_cpu_time_stops_is_told_of_that_limit() -> None:
    times = START + 0.2 * (1 + np.arange(80))
    told = {"process": ["a"] * 80, "time": times, "lag": np.full(80, 0.18, "f4")}
    for share, codes in ((0.1, ["event-loop-lag"]), (0.6, [])):
        run = busy()
        run.tables["resources"] = told | {
            "cpu_limit": np.full(80, 1.0, "f4"),
            "throttled": np.full(80, share, "f4"),
        }
        assert [each.code for each in found(run.recording(), "event-loop-lag")] == codes


def test_one_delay_as_long_as_dask_warns_of_is_enough_if_threads_waited() -> None:
    lags = [0.0] * 68 + [3.5] + [0.0] * 30
    assert not found(lagging("scheduler", lags), "event-loop-lag")
    run = Run()
    for start in (*range(10), *range(14, 20)):
        for worker in "ab":
            run.task("piece", worker, start, start + 1, submitted=float(start))
    rows = [{"process": "scheduler", "time": START + 0.2 * at, "lag": lag} for at, lag in enumerate(lags, 1)]
    one = the(with_rows(run.recording(), "resources", rows), "event-loop-lag")
    assert one.cost_seconds == pytest.approx(3.5)


@pytest.mark.parametrize(("tasks", "codes"), [(20, ["slow-graph"]), (20_000, ["event-loop-lag"])])
def test_what_a_slow_graph_holds_up_is_told_of_the_graph(tasks: int, codes: list[str]) -> None:
    run = Run()
    for start in (*range(10), *range(14, 20)):
        for worker in "ab":
            run.task("piece", worker, start, start + 1, submitted=float(start))
    lags = [0.0] * 68 + [3.5] + [0.0] * 30
    rows = [{"process": "scheduler", "time": START + 0.2 * at, "lag": lag} for at, lag in enumerate(lags, 1)]
    told = with_rows(run.recording(), "resources", rows)
    made = {"submission": 1, "time": START + 14.0, "tasks": tasks, "materialize": 3.8, "nbytes": 100.0}
    with_rows(told, "submissions", [made])
    assert [each.code for each in found(told, "slow-graph") + found(told, "event-loop-lag")] == codes


def test_the_schedulers_event_loop_is_nobodys_task() -> None:
    one = the(lagging("scheduler", [0.2] * 80), "event-loop-lag")
    assert "scheduler" in one.title and one.tasks == ()


@pytest.mark.parametrize("quiet", [0, 3])
def test_event_loops_that_are_all_late_are_those_of_a_busy_machine(quiet: int) -> None:
    """A worker that is there for a moment tells nothing of the rest."""
    run = busy(workers=("a", "b", "c"))
    late = [(name, at, 0.18 * (at % 2)) for name in ("a", "b", "scheduler") for at in range(100)]
    rows = [*late, *(("c", at, 0.0) for at in range(quiet))]
    run.tables["resources"] = {
        "process": [name for name, _, _ in rows],
        "time": [START + 0.2 * (at + 1) for _, at, _ in rows],
        "lag": [lag for _, _, lag in rows],
    }
    assert not found(run.recording(), "event-loop-lag")


@pytest.mark.parametrize("lags", [[0.05] * 100, [0.4] + [0.01] * 99, [0.15, 0.02, 0.02, 0.02, 0.02] * 20])
def test_an_event_loop_of_a_busy_machine_is_no_finding(lags: list[float]) -> None:
    assert not found(lagging("a", lags), "event-loop-lag")


def test_the_clients_event_loop_holds_up_no_worker() -> None:
    assert not found(lagging("client", [0.5] * 100), "event-loop-lag")


def test_local_schedulers_have_no_event_loop() -> None:
    run = Run(threads={"threads": 1, "joined": -1.0, "left": math.nan})
    for start in range(20):
        run.task("piece", "threads", start, start + 1)
    rows = [{"process": "scheduler", "time": START + 0.2 * at, "lag": 0.2} for at in range(100)]
    assert not found(with_rows(run.recording(), "resources", rows), "event-loop-lag")


# Memory


def limited(run: Run, limit: float) -> Run:
    """With a memory limit for each worker."""
    names = list(run.workers)
    run.tables["workers"] = {
        "worker": names,
        "threads": [int(run.workers[name]["threads"]) for name in names],
        "joined": [START - 1] * len(names),
        "left": [math.nan] * len(names),
        "memory_limit": [limit] * len(names),
    }
    return run


def using(
    process: Sequence[float], managed: Sequence[float] = (), limit: float = GB, every: float = 0.2
) -> Run:
    """Two workers of which one uses so much memory, bytes, at these intervals; results among it."""
    run = limited(busy(int(len(process) * every)), limit)
    times = [START + (number + 0.5) * every for number in range(len(process))]
    run.tables["resources"] = {"process": ["a"] * len(times), "time": times, "memory": list(process)}
    results = list(managed) or [0.0] * len(times)
    run.tables["memory"] = {
        "worker": ["a"] * len(times),
        "time": times,
        "process": list(process),
        "managed": results,
    }
    return run


def test_a_paused_worker_costs_what_it_was_idle() -> None:
    run = limited(Run(), GB)
    run.task("pivot", "a", 0, 10)
    run.task("pivot", "b", 0, 4)
    run.task("pivot", "b", 8, 10)
    run.state(4, "b", "running", "paused")
    run.state(8, "b", "paused", "running")
    one = the(run.recording(), "memory-pressure")
    assert (one.severity, one.workers, one.tasks) == ("critical", ("b",), ())
    assert one.cost_thread_seconds == pytest.approx(4)


def test_memory_near_the_limit_is_told_with_what_ran() -> None:
    one = the(using([200 * MB] * 50 + [870 * MB] + [200 * MB] * 49).recording(), "memory-pressure")
    assert (one.severity, one.workers, one.tasks) == ("warning", ("a",), ("piece",))


def test_memory_that_only_heartbeats_tell_is_told() -> None:
    run = using([200 * MB] * 50 + [870 * MB] + [200 * MB] * 49)
    del run.tables["resources"]
    assert the(run.recording(), "memory-pressure").workers == ("a",)


def test_memory_that_results_fill_is_told_with_what_made_them() -> None:
    tasks = [Task("load", 0.5, nbytes=100 * MB) for _ in range(16)]
    tasks += [Task("total", 0.5, [each], nbytes=8) for each in range(16)]
    times = [START + 0.2 * number for number in range(80)]
    use = [1e8 + min(time - START, 3.9) * 200 * MB for time in times]
    one = the(
        ran(
            tasks,
            (1, 1),
            resources={"process": ["w0"] * 80, "time": times, "memory": use},
            workers={"worker": ["w0", "w1"], "threads": [1, 1], "memory_limit": [GB, GB]},
        ),
        "memory-pressure",
    )
    assert one.tasks[0] == "load"


def test_results_that_a_client_holds_fill_memory_after_their_use() -> None:
    run = using([150 * MB] * 50 + [950 * MB] * 50, [1 * MB] * 45 + [700 * MB] * 55)
    for attempt in run.attempts[:8]:
        attempt["nbytes"] = 100 * MB
    for attempt in run.attempts[8:]:
        attempt["nbytes"] = 8.0
    run.names[:8] = ["grid"] * 8
    run.tables["attempts"] = attempts_with_sizes(run)
    assert the(run.recording(), "memory-pressure").tasks == ("grid",)


def test_results_that_were_let_go_of_do_not_fill_memory() -> None:
    run = using([150 * MB] * 50 + [950 * MB] * 50, [1 * MB] * 45 + [700 * MB] * 55)
    for attempt in run.attempts:
        attempt["nbytes"] = 100 * MB if attempt["done"] < 5 else 8.0
        run.names[attempt["task"]] = "grid" if attempt["done"] < 5 else "piece"
    run.tables["attempts"] = attempts_with_sizes(run)
    run.tables["releases"] = {
        "task": [row["task"] for row in run.attempts],
        "time": [START + row["done"] + 0.01 for row in run.attempts],
    }
    assert the(run.recording(), "memory-pressure").tasks == ()


def attempts_with_sizes(run: Run) -> dict[str, Any]:
    """The table, with what `Run` leaves out."""
    plain = {
        name: [row[name] for row in run.attempts] for name in ("run", "task", "worker", "thread", "status")
    }
    moments = ("submitted", "ready", "assigned", "start", "stop", "done")
    times = {name: [START + row[name] for row in run.attempts] for name in moments}
    return plain | times | {"nbytes": [row["nbytes"] for row in run.attempts]}


def test_a_nannys_kill_is_critical() -> None:
    run = limited(busy(), GB)
    recording = with_rows(
        run.recording(),
        "events",
        [event(5, "scheduler", "dask", "worker-restart-memory", worker="a", rss=1e9)],
    )
    one = the(recording, "memory-pressure")
    assert (one.severity, one.workers, one.tasks) == ("critical", ("a",), ("piece",))
    assert one.is_risk


def test_what_workers_died_with_again_and_again_is_named_first() -> None:
    run = Run(**{name: {"threads": 1, "joined": -1.0, "left": math.nan} for name in "abcd"})
    hog, lost = run.task("hog", "a", 0, 2, status="killed"), []
    for number, worker in enumerate("abc"):
        when = 2.0 * number
        run.task("light", worker, when, when + 2, status="killed")
        if number:
            run.task("hog", worker, when, when + 2, status="killed", task=hog)
        lost.append(event(when + 2, worker, "worker-lost", "gone", processing=2, lost=0, expected=False))
    for start in range(8):
        run.task("light", "d", start, start + 1)
    one = the(with_rows(run.recording(), "events", lost), "worker-lost")
    assert (one.tasks[0], one.workers) == ("hog", ("a", "b", "c"))
    assert "`hog` died with 3 workers" in one.why


def dying(*beside: str, limit: float = math.nan, grown: dict[str, float] | None = None) -> Finding:
    """Workers with two threads that die with `hog` and another task, and a last one where all is done again.

    Parameters
    ----------
    grown
        MiB by which tasks make the process larger where they end well, by name.
    """
    workers = [f"w{number}" for number in range(len(beside))]
    run = Run(**{name: {"threads": 2, "joined": -1.0, "left": math.nan} for name in (*workers, "last")})
    lost = []
    for number, (worker, name) in enumerate(zip(workers, beside, strict=True)):
        first = run.task(name, worker, number, number + 2, status="killed")
        hog = run.task("hog", worker, number + 0.5, number + 2, status="killed", thread="2")
        run.task(name, "last", 10 + number, 11 + number, task=first)
        run.task("hog", "last", 10 + number, 11 + number, task=hog, thread="2")
        lost.append(event(number + 2, worker, "worker-lost", processing=2, lost=0, expected=False))
    columns = run._columns()
    grew = [(grown or {}).get(run.names[row["task"]], 0.0) for row in run.attempts]
    limits = [limit] * len(columns["workers"]["worker"])
    run.tables = {
        "executions": columns["executions"] | {"rss": grew},
        "workers": columns["workers"] | {"memory_limit": limits},
    }
    return the(with_rows(run.recording(), "events", lost), "worker-lost")


def test_what_ran_on_each_worker_that_died_is_named_first() -> None:
    one = dying("tidy", "scale")
    assert one.tasks[0] == "hog"
    assert "`hog` ran on both of them, and nothing else did" in one.why


def test_what_needs_most_of_the_memory_is_named_first() -> None:
    one = dying("tidy", limit=GB, grown={"hog": 400.0, "tidy": 1.0})
    assert one.tasks[0] == "hog" and "`hog` need 400" in one.why


@pytest.mark.parametrize(
    "known",
    [
        pytest.param({}, id="nothing known"),
        pytest.param({"limit": GB, "grown": {"hog": 100.0}}, id="small"),
        pytest.param({"limit": GB, "grown": {"hog": 400.0, "tidy": 300.0}}, id="alike"),
    ],
)
def test_where_nothing_tells_what_killed_a_worker_that_is_said(known: dict[str, Any]) -> None:
    one = dying("tidy", **known)
    assert set(one.tasks) == {"hog", "tidy"}
    assert "any of them may be the cause, or none; nothing tells" in one.why


def test_memory_well_below_the_limit_is_no_finding() -> None:
    assert not found(using([700 * MB] * 100).recording(), "memory-pressure")
    assert not found(using([5 * GB] * 100, limit=math.nan).recording(), "memory-pressure")


def sharing(
    limit: float,
    allowed: float,
    *,
    memory: float | np.ndarray = 0.1 * GB,
    kills: int = 0,
    groups: Sequence[float] = (7, 7),
    left: float = math.nan,
    pids: Sequence[int] = (1, 2),
) -> Recording:
    """Two workers with a limit each that Dask knows, in one container that may have so much memory.

    The second may come when the first has left.
    """
    run = limited(busy(), limit)
    run.tables["workers"] |= {
        "cluster": ["tcp://s:1"] * 2,
        "host": ["h"] * 2,
        "pid": pids,
        "joined": [START - 1, START - 1 if math.isnan(left) else left + 1],
        "left": [left, math.nan],
    }
    run.tables["resources"] = {
        "process": ["a", "b"] * 10,
        "time": START + np.repeat(np.arange(10) + 0.5, 2),
        "memory": np.full(20, memory),
        "memory_allowed": np.full(20, allowed),
        "memory_group": np.tile(np.array(groups, "f8"), 10),
        "oom_kills": np.where(np.arange(20) < 10, 2, 2 + kills).astype("f4"),
    }
    return run.recording()


def limits_of(recording: Recording) -> list[Finding]:
    return [each for each in recording.findings() if each.code == "memory-limit"]


def test_a_limit_of_dasks_above_that_of_the_system_is_told() -> None:
    (one,) = limits_of(sharing(GB, 1.5 * GB))
    assert (one.severity, one.is_risk, set(one.workers)) == ("info", True, {"a", "b"})
    assert "1.86" in one.title and "1.4" in one.title
    # 95 % of it, for two.
    assert "--memory-limit 679MiB" in one.advice
    assert the(sharing(GB, 1.5 * GB, memory=0.5 * GB), "memory-limit").severity == "warning"


def test_what_a_process_that_workers_share_uses_of_a_limit_counts_once() -> None:
    for pids, used in (((1, 2), 2 / 3), ((1, 1), 1 / 3)):
        (one,) = limits_of(sharing(GB, 1.5 * GB, memory=0.5 * GB, pids=pids))
        assert {each.name: each.value for each in one.evidence}["most in use, as sampled"] == pytest.approx(
            used
        )


def test_a_worker_without_a_limit_in_a_container_that_has_one() -> None:
    (one,) = limits_of(sharing(math.nan, GB))
    assert "of which Dask does not know" in one.title and "KubeCluster" not in one.advice


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(sharing(GB, 2 * GB), id="all of it"),
        pytest.param(sharing(GB, 1.5 * GB, groups=(7, 8)), id="each in a container of its own"),
        pytest.param(sharing(GB, 1.5 * GB, left=START + 5), id="one after the other"),
        pytest.param(sharing(GB, math.nan), id="no limit of the system"),
    ],
)
def test_limits_that_fit_are_not_told(recording: Recording) -> None:
    assert limits_of(recording) == []


def test_processes_that_the_system_killed_for_memory_are_critical() -> None:
    one = the(sharing(GB, 2 * GB, kills=3), "memory-limit")
    assert one.severity == "critical" and "3 times" in one.title


def on_full_host(left: float, memory: float, pids: Sequence[int] = (1, 2)) -> Run:
    """Two workers on a host that has so much of 16 GB left for a moment, while each of them uses so much."""
    run = limited(busy(), 8 * GB)
    run.tables["workers"] |= {"host": ["vm"] * 2, "pid": pids}
    run.tables["resources"] = {
        "process": ["a", "b"] * 10,
        "time": START + np.repeat(np.arange(10) + 0.5, 2),
        "memory": np.full(20, memory),
        "host_free": np.where(np.arange(20) == 11, left, 6 * GB),
        "host_memory": np.full(20, 16 * GB),
    }
    return run


def test_a_host_without_memory_is_told_with_who_took_it() -> None:
    ours = the(on_full_host(0.3 * GB, 7 * GB).recording(), "host-memory")
    assert (ours.severity, ours.is_risk, set(ours.workers)) == ("warning", True, {"a", "b"})
    assert re.sub(r"\s", " ", ours.title) == "Host vm had 286 MiB of its 14.9 GiB of memory left"
    assert (ours.start, ours.stop) == (5.5, 5.5)
    assert "fewer of them" in ours.advice
    others = the(on_full_host(0.3 * GB, 7 * GB, pids=(1, 1)).recording(), "host-memory")
    assert "what else takes 8.1" in others.advice, "workers of one process count once"
    assert not found(on_full_host(2 * GB, 7 * GB).recording(), "host-memory")


def test_workers_that_had_left_a_full_host_are_not_counted() -> None:
    run = on_full_host(0.3 * GB, 7 * GB)
    gone: dict[str, Any] = {"worker": "c", "threads": 1, "joined": START - 1, "left": START + 2}
    gone |= {"memory_limit": 8 * GB, "host": "vm", "pid": 3}
    seen = {
        "process": "c",
        "time": START + 0.5,
        "memory": 7 * GB,
        "host_free": 6 * GB,
        "host_memory": 16 * GB,
    }
    for table, row in (("workers", gone), ("resources", seen)):
        run.tables[table] = {name: [*values, row[name]] for name, values in run.tables[table].items()}
    assert "n_workers=2," in the(run.recording(), "host-memory").advice


def test_a_host_that_was_full_before_or_after_the_run_is_not_told() -> None:
    run = on_full_host(0.3 * GB, 7 * GB)
    for shift in (-100, 200):
        run.tables["resources"]["time"] = run.tables["resources"]["time"] + shift
        assert not found(run.recording(), "host-memory")


def test_hosts_may_be_containers_of_one_machine() -> None:
    run = on_full_host(0.3 * GB, 3 * GB)
    run.tables["workers"]["host"] = ["pod-1", "pod-2"]
    run.tables["resources"]["host_free"][10] = 0.3 * GB
    several = the(run.recording(), "host-memory")
    assert several.title.endswith("1 other had as little")
    assert "other containers of that machine" in several.advice and "End it" not in several.advice
    alone = the(on_full_host(0.3 * GB, 3 * GB).recording(), "host-memory").advice
    assert "End it" in alone and "containers" not in alone


@pytest.mark.parametrize("used", [3 * GB, 14 * GB])
def test_a_host_on_which_a_local_scheduler_computes_needs_no_other_workers(used: float) -> None:
    run = busy(workers=["threads"])
    run.tables["workers"] = run._columns()["workers"] | {"host": ["vm"], "pid": [1]}
    seen = {"process": ["threads"], "time": [START + 5], "memory": [used]}
    run.tables["resources"] = seen | {"host_free": [0.3 * GB], "host_memory": [16 * GB]}
    one = the(run.recording(), "host-memory")
    assert "num_workers=" in one.advice and "LocalCluster" not in one.advice
    assert "Workers" not in one.why and ("what else takes" in one.advice) == (used == 3 * GB)


def test_a_host_that_processes_of_a_pool_fill_is_told() -> None:
    """They tell their own memory, the process that began them what the host has left."""
    run = busy(workers=["process 7", "process 8"])
    run.tables["workers"] = run._columns()["workers"] | {
        "host": ["vm"] * 2,
        "pid": [7, 8],
        "cluster": [""] * 2,
    }
    run.tables["resources"] = {
        "process": ["process 7", "process 8", "local"],
        "time": [START + 5, START + 5, START + 5.1],
        "memory": [7 * GB, 7 * GB, 0.1 * GB],
        "host_free": [math.nan, math.nan, 0.3 * GB],
        "host_memory": [math.nan, math.nan, 16 * GB],
    }
    one = the(run.recording(), "host-memory")
    assert set(one.workers) == {"process 7", "process 8"} and "what else takes" not in one.advice


@pytest.mark.parametrize(("when", "told"), [(5, True), (-3600, False)])
def test_a_host_that_was_full_as_a_worker_died_may_be_why(when: float, told: bool) -> None:
    seen = {"process": "b", "time": START + when, "memory": 14 * GB}
    rows = [seen | {"host_free": 0.3 * GB, "host_memory": 16 * GB}]
    one = the(with_rows(losing(), "resources", rows), "worker-lost")
    assert ("memory left, which is when systems kill" in one.why) == told


@pytest.mark.parametrize("late", [[], [24, 25, 26]], ids=["measured well", "results of which some had gone"])
def test_memory_that_grows_beside_the_results_is_a_leak(late: list[int]) -> None:
    grows = np.linspace(150 * MB, 600 * MB, 100)
    results = np.full(100, 1 * MB)
    results[late] = 1.1 * grows[late]
    run = using(grows, results)
    one = the(run.recording(), "unmanaged-growth")
    assert (one.workers, one.tasks) == (("a",), ("piece",))
    assert one.evidence[0].value == pytest.approx(340 * MB, rel=0.1)
    assert "again and again while tasks ran" in one.why


def test_a_leak_beside_results_that_count_for_more_than_the_process_is_told() -> None:
    """Files that are mapped, or one array that is many results, take next to nothing of it."""
    results = np.full(100, 2 * GB)
    one = the(using(np.linspace(150 * MB, 600 * MB, 100), results).recording(), "unmanaged-growth")
    assert one.evidence[0].value == pytest.approx(340 * MB, rel=0.1)
    piling = np.linspace(200 * MB, 800 * MB, 100)
    assert not found(using(0.9 * piling, piling).recording(), "unmanaged-growth")


def test_memory_that_a_leak_fills_is_told_with_the_leak() -> None:
    leak = using(np.linspace(150 * MB, 950 * MB, 100))
    leak.tables["memory"]["managed"] = [1 * MB] * 100
    one = the(leak.recording(), "memory-pressure")
    assert "never given back" in one.why and one.advice.startswith("Find what keeps memory first")
    results = np.linspace(0, 650 * MB, 100)
    other = the(using(150 * MB + 1.2 * results, results).recording(), "memory-pressure")
    assert "never given back" not in other.why and other.advice.startswith("Have less in memory")


@pytest.mark.parametrize(("mb", "leaks"), [(10, True), (25, False)])
def test_what_tasks_bring_along_is_no_leak(mb: float, leaks: bool) -> None:
    run = using(np.linspace(150 * MB, 700 * MB, 100), limit=2 * GB)
    tasks = len(run.names)
    run.tables["graph"] = {
        "task": range(tasks),
        "prefix": run.names,
        "submission": np.zeros(tasks, "u4"),
    }
    run.tables["submissions"] = {"submission": [0], "time": [START], "tasks": [tasks], "nbytes": [mb * MB]}
    assert bool(found(run.recording(), "unmanaged-growth")) == leaks


def test_a_leak_that_ends_before_the_run_is_one() -> None:
    grows = np.concatenate((np.linspace(150 * MB, 450 * MB, 75), np.full(25, 450 * MB)))
    assert the(using(grows, limit=2 * GB).recording(), "unmanaged-growth").tasks == ("piece",)


@pytest.mark.parametrize(
    "course",
    [
        np.full(100, 300 * MB),
        # What modules and buffers need at first.
        np.concatenate((np.linspace(100 * MB, 400 * MB, 20), np.full(80, 400 * MB))),
        # What one part of the work needs at first.
        np.concatenate((np.linspace(150 * MB, 450 * MB, 55), np.full(45, 450 * MB))),
        # What functions need while they run, and give back.
        200 * MB + 300 * MB * (np.arange(100) % 10 < 5),
        # One thing that stays.
        np.concatenate((np.full(60, 150 * MB), np.full(40, 450 * MB))),
        # Little in all.
        np.linspace(150 * MB, 220 * MB, 100),
    ],
    ids=["flat", "beginning", "part", "temporary", "step", "little"],
)
def test_memory_that_does_not_grow_all_the_time_is_no_leak(course: np.ndarray) -> None:
    assert not found(using(course, limit=2 * GB).recording(), "unmanaged-growth")


def test_results_that_pile_up_are_no_leak() -> None:
    results = np.linspace(0, 500 * MB, 100)
    assert not found(using(150 * MB + 1.2 * results, results).recording(), "unmanaged-growth")


# Spilling


def spilling(context: str, seconds: float, nbytes: float) -> Recording:
    tasks = [Task("load", 0.5, nbytes=20 * MB) for _ in range(40)] + [
        Task("total", 0.1, [each]) for each in range(40)
    ]
    rows = [
        {"worker": "w0", "context": context, "activity": activity, "unit": unit, "value": value}
        for activity, unit, value in (
            ("disk-write", "seconds", seconds),
            ("disk-write", "bytes", nbytes),
            ("disk-read", "bytes", nbytes / 2),
            ("serialize", "seconds", 50.0),
        )
    ]
    if context == "execute":
        rows = [row | {"prefix": "total", "span": ""} for row in rows]
    return with_rows(ran(tasks, (1, 1)), "metrics", [row | {"time": START + 5} for row in rows])


def test_spilling_is_told_with_the_results_that_were_too_many() -> None:
    one = the(spilling("execute", 4.0, 600 * MB), "spill")
    assert (one.tasks, one.workers, one.severity) == (("load",), ("w0",), "warning")
    assert one.cost_seconds == pytest.approx(4.0 / 2, rel=0.05)


@pytest.mark.parametrize(("own", "results"), [(1, 0.2), (0, 0.2), (0, 0.9)])
def test_spilling_for_what_is_no_result_says_so(own: int, results: float) -> None:
    run = spilling("execute", 4.0, 600 * MB)
    memory = {"worker": "w0", "process": 1000 * MB, "managed": results * 1000 * MB, "spilled": 300 * MB}
    # Before anything was on disk, and on workers that did not spill: neither counts.
    rows = [memory | {"time": START + at} for at in (5, 6)]
    rows += [memory | {"time": START + 1, "managed": 0, "spilled": 0}]
    rows += [memory | {"time": START + 5, "worker": "w1", "managed": 0}]
    with_rows(run, "memory", rows)
    with_rows(run, "workers", [{"worker": "w0", "threads": 1, "own": own, "joined": START, "left": math.nan}])
    one = the(run, "spill")
    fact = next(each for each in one.evidence if each.name.startswith("memory that was no results"))
    assert fact.value == pytest.approx(1 - results)
    assert (f"{words.share(0.8)} of the processes' memory" in one.why) == (results < 0.5)
    assert ("your own process" in one.why) == ("processes=True" in one.advice) == bool(own)


@pytest.mark.parametrize(("pids", "beside"), [((7, 7), 0.2), ((7, 8), 0.6)])
def test_results_of_all_workers_of_a_process_are_results(pids: Sequence[int], beside: float) -> None:
    run = spilling("execute", 4.0, 600 * MB)
    written = {"context": "execute", "activity": "disk-write", "unit": "bytes", "value": 600 * MB, "span": ""}
    with_rows(run, "metrics", [written | {"worker": "w1", "prefix": "total", "time": START + 5}])
    memory = {"time": START + 5, "process": 1000 * MB, "managed": 400 * MB, "spilled": 300 * MB}
    with_rows(run, "memory", [memory | {"worker": worker} for worker in ("w0", "w1")])
    told = {"host": "h", "threads": 1, "joined": START, "left": math.nan}
    with_rows(run, "workers", [told | {"worker": f"w{at}", "pid": pid} for at, pid in enumerate(pids)])
    fact = next(each for each in the(run, "spill").evidence if each.name.startswith("memory that was no"))
    assert fact.value == pytest.approx(beside)


@pytest.mark.parametrize(("context", "nbytes"), [("p2p", 900 * MB), ("get-data", 10 * MB)])
def test_shuffles_and_a_few_bytes_are_no_spilling(context: str, nbytes: float) -> None:
    assert not found(spilling(context, 1.0, nbytes), "spill")


# Transfers


def moving(seconds: float, nbytes: float, wait: bool = True, lag: float = 0.0) -> Recording:
    """Ten times: made on one worker, carried to the other, used there while nothing else could run."""
    run = Run()
    moves = []
    for number in range(10):
        start = number * (1 + seconds)
        made = run.task("produce", "a", start, start + 0.5)
        begins = start + 0.5 + seconds
        run.task("align", "b", begins, begins + 0.5, made, assigned=start + 0.5, inputs=begins)
        if not wait:
            run.task("other", "b", start + 0.5, begins)
        moves.append((start + 0.5, begins))
    for direction, worker, peer in (("in", "b", "a"), ("out", "a", "b")):
        rows = run.tables.setdefault("transfers", {})
        for name, values in {
            "transfer": range(10),
            "worker": [worker] * 10,
            "peer": [peer] * 10,
            "direction": [direction] * 10,
            "start": [START + begin for begin, _ in moves],
            "stop": [START + end for _, end in moves],
            "nbytes": [nbytes] * 10,
        }.items():
            rows.setdefault(name, []).extend(values)
    if lag:
        times = [START + 0.5 + 0.2 * number for number in range(int(5 * moves[-1][1]))]
        run.tables["resources"] = {"process": ["a"] * len(times), "time": times, "lag": [lag] * len(times)}
    return run.recording()


def test_threads_that_wait_for_data_are_told_with_who_made_and_who_needs_them() -> None:
    recording = moving(0.5, 100 * MB)
    one = the(recording, "transfer-bound")
    assert one.tasks == ("produce", "align")
    # Half a second of one of two threads, ten times, and of both at the end.
    assert one.cost_seconds == pytest.approx(2.75)
    assert not found(recording, "slow-transfer")


def test_waiting_without_bytes_is_not_for_the_network() -> None:
    assert not found(moving(0.5, 1000), "transfer-bound")


def test_data_that_come_while_threads_are_busy_cost_nothing() -> None:
    run = Run()
    for start in range(20):
        run.task("piece", "a", start, start + 1)
        run.task("piece", "b", start, start + 1)
    run.tables["transfers"] = {
        "transfer": range(20),
        "worker": ["b"] * 20,
        "peer": ["a"] * 20,
        "direction": ["in"] * 20,
        "start": [START + each for each in range(20)],
        "stop": [START + each + 0.9 for each in range(20)],
        "nbytes": [10 * MB] * 20,
    }
    recording = run.recording()
    assert not found(recording, "transfer-bound") and not found(recording, "slow-transfer")


def test_a_slow_line_is_named_by_its_worker() -> None:
    one = the(moving(1.0, 10 * MB), "slow-transfer")
    assert one.workers[0] in ("a", "b") and one.tasks[:2] == ("produce", "align")
    assert one.evidence[0].value == pytest.approx(10 * MB)


def test_messages_of_few_bytes_that_take_long_are_slow() -> None:
    """The size of objects of one's own is not known to Dask, and pickling them takes place in between."""
    assert the(moving(0.5, 56), "slow-transfer").tasks == ("produce", "align")
    assert not found(moving(0.1, 56), "slow-transfer")


def test_one_message_of_few_bytes_that_takes_long() -> None:
    run = Run()
    made = [run.task("produce", "a", number / 8, (number + 1) / 8) for number in range(4)]
    run.task("align", "b", 5.5, 6, *made, assigned=0.5, inputs=5.5)
    moved = {"worker": ["b"], "peer": ["a"], "direction": ["in"], "nbytes": [56.0]}
    run.tables["transfers"] = moved | {"transfer": [0], "start": [START + 0.5], "stop": [START + 5.5]}
    run.tables["transferred"] = {"transfer": [0] * 4, "task": made, "nbytes": [14.0] * 4}
    assert the(run.recording(), "slow-transfer").title.startswith(
        f"1 message of few bytes took {words.duration(5)} from a, mostly of `produce`"
    )


def test_a_line_is_not_slow_where_an_event_loop_was_late() -> None:
    assert not found(moving(1.0, 10 * MB, lag=0.9), "slow-transfer")


# Sizes


def large(nbytes: float, limit: float, count: int = 8) -> Recording:
    return ran(
        [Task("load", 1.0, nbytes=nbytes) for _ in range(count)],
        (2, 2),
        workers={"worker": ["w0", "w1"], "threads": [2, 2], "memory_limit": [limit] * 2},
    )


def test_results_of_which_few_fit_in_memory_are_too_large() -> None:
    one = the(large(300 * MB, 2 * GB), "oversized-results")
    assert (one.tasks, one.severity) == (("load",), "warning")
    assert the(large(600 * MB, 2 * GB), "oversized-results").severity == "critical"


@pytest.mark.parametrize(
    ("nbytes", "limit"), [(100 * MB, 2 * GB), (50 * MB, 300 * MB), (600 * MB, math.nan), (600 * MB, 32 * GB)]
)
def test_results_that_fit_are_not_too_large(nbytes: float, limit: float) -> None:
    assert not found(large(nbytes, limit), "oversized-results")


@pytest.mark.parametrize(("each", "told"), [(60 * MB, True), (5 * MB, False)])
def test_what_is_brought_to_the_client_is_told_if_it_is_much(each: float, told: bool) -> None:
    recording = large(each, 16 * GB)
    moves = [
        {"transfer": number, "worker": "w0", "peer": "", "direction": "out", "nbytes": each}
        | {"start": START + 2 + 0.1 * number, "stop": START + 2.1 + 0.1 * number}
        for number in range(8)
    ]
    with_rows(recording, "transfers", moves)
    carried = [{"transfer": number, "task": number, "nbytes": each} for number in range(8)]
    with_rows(recording, "transferred", carried)
    assert [one.tasks for one in found(recording, "oversized-results")] == ([("load",)] if told else [])


# GPUs


def gpus(utilization: Any, memory: Any, names: Sequence[str] = ("w0", "w1")) -> Recording:
    tasks = [Task("convolve", 0.5) for _ in range(40)]
    rows = [
        {"process": name, "time": START + 0.1 * number, "index": 0, "name": "GPU"}
        | {"utilization": utilization(number), "memory": memory(number) * 80 * GB, "memory_total": 80 * GB}
        for name in names
        for number in range(100)
    ]
    return with_rows(ran(tasks, (1, 1)), "gpus", rows)


def test_a_gpu_with_little_to_do_is_told() -> None:
    one = the(gpus(lambda at: 8.0 + at % 5, lambda at: 0.3), "gpu-idle")
    assert (one.tasks, set(one.workers)) == (("convolve",), {"w0", "w1"})


def test_gpus_that_all_workers_of_a_host_see_count_once() -> None:
    """As in older recordings of Dask-CUDA: each worker sees all GPUs."""
    times = 0.1 * np.arange(100)
    rows = [
        {"process": worker, "time": START + at, "index": device, "name": f"GPU-{device}"}
        | {"utilization": 10.0 + 80 * device, "memory": 30 * GB, "memory_total": 80 * GB}
        for worker in ("w0", "w1")
        for device in (0, 1)
        for at in times
    ]
    run = ran([Task("convolve", 0.5) for _ in range(40)], (1, 1))
    with_rows(run, "workers", [{"worker": name, "threads": 1, "host": "here"} for name in ("w0", "w1")])
    one = the(with_rows(run, "gpus", rows), "gpu-idle")
    assert one.title.startswith("1 GPU was used to 10") and set(one.workers) == {"w0", "w1"}
    # Half of all tasks had it, nine tenths of which it was idle.
    assert one.cost_thread_seconds == pytest.approx(20 / 2 * 0.9)
    assert run.bottlenecks()["gpu_memory"].tolist() == pytest.approx([30 * GB])


def test_a_gpu_that_nobody_uses_is_no_finding() -> None:
    """Many machines have one that the computation does not want."""
    assert not found(gpus(lambda at: 0.0, lambda at: 0.01), "gpu-idle")
    assert not found(gpus(lambda at: 30.0 * (at == 50), lambda at: 0.01 + 0.0001 * at / 100), "gpu-idle")


def test_a_busy_gpu_is_no_finding() -> None:
    recording = gpus(lambda at: 90.0, lambda at: 0.3 + 0.4 * (at % 10) / 10)
    assert not found(recording, "gpu-idle") and not found(recording, "gpu-memory")


def test_a_gpu_whose_memory_is_nearly_full_is_told() -> None:
    assert the(gpus(lambda at: 90.0, lambda at: 0.5 + 0.46 * at / 100), "gpu-memory").tasks == ("convolve",)


def test_a_pool_fills_a_gpu_without_a_finding() -> None:
    assert not found(gpus(lambda at: 90.0, lambda at: 0.95), "gpu-memory")
    assert not found(gpus(lambda at: 90.0, lambda at: 0.02 if at < 20 else 0.92), "gpu-memory")


def gauged(recording: Recording, worker: str, **values: float) -> Recording:
    """What a worker tells of its memory, from the fifth second on."""
    names = {name.replace("_", ".", 1).replace("_", "-"): value for name, value in values.items()}
    rows = [
        {"worker": worker, "time": START + at, "name": name, "value": value if at == 5 else 0.0}
        for name, value in names.items()
        for at in (0, 5)
    ]
    return with_rows(recording, "gauges", rows)


@pytest.mark.parametrize("used", [0.95, 0.5])
def test_a_pool_that_is_nearly_full_is_told(used: float) -> None:
    recording = gpus(lambda at: 90.0, lambda at: 0.95)
    gauged(recording, "w1", rmm_rmm_used=used * 76 * GB)
    if used < 0.9:
        assert not found(recording, "gpu-memory")
        return
    one = the(recording, "gpu-memory")
    assert (one.workers, one.tasks) == (("w1",), ("convolve",))
    assert one.title.startswith(words.share(0.95)) and one.evidence[0].value == pytest.approx(0.95)


def test_a_pool_is_as_large_as_what_it_takes_of_the_gpu() -> None:
    """RMM tells of what is used as the total where the pool is CUDA's, rmm_async."""
    recording = gpus(lambda at: 90.0, lambda at: 0.95)
    assert not found(gauged(recording, "w1", rmm_rmm_total=1 * GB, rmm_rmm_used=1 * GB), "gpu-memory")
    recording = gpus(lambda at: 90.0, lambda at: 0.5)
    assert not found(gauged(recording, "w1", rmm_rmm_total=40 * GB, rmm_rmm_used=38 * GB), "gpu-memory")


def test_what_cudf_moves_out_of_a_gpu_is_told() -> None:
    recording = gpus(lambda at: 90.0, lambda at: 0.95)
    assert not found(gauged(recording, "w0", cudf_cudf_spilled=0.1 * GB), "gpu-memory")
    every = recording.findings(thresholds={"gpu-memory.moved": 0.1 * GB})
    assert "gpu-memory" in [each.code for each in every]
    one = the(gauged(recording, "w0", cudf_cudf_spilled=3 * GB), "gpu-memory")
    assert (one.severity, one.workers, one.tasks) == ("warning", ("w0",), ("convolve",))
    assert one.title.startswith(f"cuDF moved {words.size(3 * GB)}") and one.evidence[-1].value == 3 * GB


def test_a_task_that_finds_no_memory_on_the_gpu_is_critical() -> None:
    recording = gpus(lambda at: 90.0, lambda at: 0.5)
    row = {"run": 7, "task": 7, "exception": "OutOfMemoryError('CUDA out of memory')", "traceback": ""}
    one = the(with_rows(recording, "errors", [row]), "gpu-memory")
    assert (one.severity, one.tasks) == ("critical", ("convolve",))
