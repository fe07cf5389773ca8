"""Tasks of a process pool, measured where they run: here in this process."""

from __future__ import annotations

import gc
import os
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest
from dask.local import batch_execute_tasks
from dask.multiprocessing import pack_exception

from dask_insight.probe import measured
from dask_insight.probe.measured import Report, run_batch

PROFILE = (0.01, 0.5)


def spin(seconds: float) -> float:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return seconds


def same(value: Any) -> Any:
    return value


def arguments(key: str, task: Any, loads: Any = same, dumps: Any = same) -> Any:
    return key, (task, None), dumps, loads, os.getpid, pack_exception


def run(batch: list[Any], profile: tuple[float, float] | None = None) -> tuple[list[Any], Report]:
    return run_batch(batch_execute_tasks, profile, batch)


@pytest.fixture(autouse=True)
def fresh() -> Any:
    yield
    if measured._current_profiler is not None:
        measured._current_profiler.stop()
        measured._current_profiler = None


def seconds_by_task(report: Report) -> dict[int, float]:
    assert report.profile is not None
    samples, found = report.profile["samples"], dict[int, float]()
    for task, duration in zip(samples["run"], samples["duration"], strict=True):
        found[task] = found.get(task, 0.0) + duration
    return found


def test_results_are_dasks_own() -> None:
    batch = [arguments("a", lambda _: 1), arguments("b", lambda _: 1 / 0)]
    results, report = run(batch)
    assert results[0] == ("a", (1, os.getpid()), False)
    key, (error, _), failed = results[1]
    assert (key, type(error), failed) == ("b", ZeroDivisionError, True)
    assert [task.failed for task in report.tasks] == [False, True]
    assert report.tasks[1].exception == "ZeroDivisionError('division by zero')"
    assert report.pid == os.getpid()
    assert report.profile is None


def test_reading_and_writing_are_not_computing() -> None:
    moments: list[float] = []

    def noted(value: Any) -> Any:
        moments.append(time.perf_counter())
        return value

    _, report = run([arguments("a", noted, noted, noted)])
    (task,) = report.tasks
    read, computed, written = moments
    in_order = [task.loading, read, task.start, computed, task.stop, written, task.dumped]
    assert in_order == sorted(in_order)


def test_errors_of_reading_a_task_have_no_frames_of_ours() -> None:
    def broken(value: Any) -> Any:
        raise TypeError("cannot be read")

    results, report = run([arguments("a", same, loads=broken)])
    assert "cannot be read" in str(results[0][1][0])
    assert report.tasks[0].failed
    assert "cannot be read" in report.tasks[0].traceback
    assert "probe/measured.py" not in report.tasks[0].traceback


def test_errors_of_writing_a_result_have_no_frames_of_ours() -> None:
    def broken(value: Any) -> Any:
        if isinstance(value[0], Exception):
            return value
        raise TypeError("cannot be written")

    results, report = run([arguments("a", lambda _: 1, dumps=broken)])
    assert "cannot be written" in str(results[0][1][0])
    assert report.tasks[0].failed
    assert "probe/measured.py" not in report.tasks[0].traceback


def test_stacks_go_on_after_a_long_wait_for_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that imports for long before its first task is not idle."""
    monkeypatch.setattr(measured, "_IDLE", 0.02)

    def slow(value: Any) -> Any:
        time.sleep(0.2)
        return value

    _, report = run([arguments("spin-a", lambda _: spin(0.2), slow)], PROFILE)
    (task,) = report.tasks
    assert seconds_by_task(report)[report.first] == pytest.approx(task.stop - task.start, abs=0.02)


def test_stacks_of_many_batches_are_counted_through() -> None:
    firsts = []
    for _ in range(3):
        batch = [arguments(f"spin-{number}", lambda _: spin(0.05)) for number in range(2)]
        _, report = run(batch, PROFILE)
        firsts.append(report.first)
        assert set(seconds_by_task(report)) <= set(range(report.first + 2))
        lengths = sum(task.stop - task.start for task in report.tasks)
        assert sum(seconds_by_task(report).values()) == pytest.approx(lengths, abs=0.02)
    assert firsts == [0, 2, 4]


def test_a_clock_that_is_set_moves_no_stack_and_no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_insight.probe.garbage._WORTH", 0.0)
    ahead = 0.0
    clock = SimpleNamespace(time=lambda: time.time() + ahead)
    monkeypatch.setitem(sys.modules, "distributed.worker", clock)

    def sleeps(_: Any) -> float:
        nonlocal ahead
        spin(0.2)
        ahead = 3600.0
        gc.collect()
        return spin(0.2)

    _, report = run([arguments("spin-a", sleeps), arguments("spin-b", lambda _: spin(0.2))], PROFILE)
    found = seconds_by_task(report)
    for number, task in enumerate(report.tasks):
        assert found[number] == pytest.approx(task.stop - task.start, rel=0.3)
    assert report.profile is not None
    times = [*report.profile["samples"]["time"], *(one.time for one in report.collections)]
    # A round may come between the last task's end and that this is told.
    assert report.collections and max(times) <= report.tasks[-1].stop + 1


def test_sampling_ends_when_no_batch_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "_IDLE", 0.02)
    run([arguments("a", lambda _: 1)], PROFILE)
    profiler = measured._current_profiler
    assert profiler is not None
    deadline = time.monotonic() + 20
    while not profiler.stopped:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    _, report = run([arguments("a", lambda _: 1)], PROFILE)
    assert report.first == 0
