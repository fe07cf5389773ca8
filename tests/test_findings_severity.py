"""From what amount on a finding is critical: both sides of each threshold."""

from __future__ import annotations

import numpy as np
import pytest
from test_findings_risks import GB, MB, START, failing, lagging, moving, the, using, with_rows
from test_time_budget import Run


@pytest.mark.parametrize(("share", "severity"), [(0.78, "warning"), (0.82, "critical")])
@pytest.mark.parametrize("process", ["scheduler", "a"])
def test_event_loops_that_are_late_for_most_of_the_run(process: str, share: float, severity: str) -> None:
    recording = lagging(process, [0.2 * share] * 100)
    assert the(recording, "event-loop-lag").severity == severity


@pytest.mark.parametrize(("seconds", "severity"), [(6.0, "warning"), (12.0, "critical")])
def test_an_event_loop_that_kept_threads_idle(seconds: float, severity: str) -> None:
    """Of twenty seconds and these, which is less than what is critical by itself."""
    run = Run()
    for start in (*range(10), *(10 + seconds + more for more in range(10))):
        for worker in "ab":
            run.task("piece", worker, start, start + 1, submitted=start)
    row = {"process": "scheduler", "time": START + 10 + seconds, "lag": seconds}
    quiet = {"process": "scheduler", "time": START + 0.2, "lag": 0.0}
    recording = with_rows(run.recording(), "resources", [quiet, row])
    assert the(recording, "event-loop-lag").severity == severity


@pytest.mark.parametrize(("seconds", "severity"), [(1.5, "warning"), (2.0, "critical")])
def test_threads_that_wait_for_data(seconds: float, severity: str) -> None:
    assert the(moving(seconds, 200 * MB), "transfer-bound").severity == severity


@pytest.mark.parametrize(("end", "severity"), [(800, "warning"), (950, "critical")])
def test_memory_that_is_not_given_back(end: float, severity: str) -> None:
    """Of a limit of 1 GB."""
    run = using(np.linspace(150 * MB, end * MB, 100), limit=GB)
    assert the(run.recording(), "unmanaged-growth").severity == severity


@pytest.mark.parametrize(("tasks", "severity"), [(101, "warning"), (100, "critical")])
def test_one_task_of_so_many_that_failed(tasks: int, severity: str) -> None:
    assert the(failing("erred", tasks).recording(), "failed-tasks").severity == severity
