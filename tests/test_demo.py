"""The demo leaves a recording in which there is something to see."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dask_insight.recording import Recording, open_recording

#: Seconds it may take on the machines that test it; on two idle cores it takes about fifteen.
LIMIT = 120


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str], float]:
    folder = tmp_path_factory.mktemp("demo")
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "dask_insight", "demo", "--no-open"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return folder, ended, time.monotonic() - began


@pytest.fixture(scope="module")
def recording(demo: Any) -> Recording:
    return open_recording(demo[0] / "demo.dinsight")


def test_it_ends_well_and_says_where_things_are(demo: Any) -> None:
    folder, ended, _ = demo
    assert ended.returncode == 0, ended.stderr
    assert str(folder / "demo.dinsight") in ended.stdout
    assert str(folder / "demo.html") in ended.stdout
    assert "% computing" in ended.stdout.replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert (folder / "demo.html").stat().st_size > 100_000


def test_nothing_else_is_printed(demo: Any) -> None:
    """No log lines or warnings of the cluster, in spite of its failing tasks."""
    lines = demo[1].stderr.splitlines()
    assert lines[0].startswith("Starting a cluster")
    assert all(re.match(r"\[\d/\d\] \w+ +[\d.]+ s  ", line) for line in lines[1:]), demo[1].stderr


def test_a_slow_function_and_a_straggler(recording: Recording) -> None:
    tasks: Any = recording.tasks  # type: ignore[attr-defined]
    total = tasks.groupby("prefix").duration.sum()
    assert "score" in total.nlargest(3).index
    scores = tasks[tasks.prefix == "score"].duration
    assert scores.max() > 2 * scores.nlargest(2).iloc[1]


def test_retries_spilling_and_transfers(recording: Recording) -> None:
    tasks: Any = recording.tasks  # type: ignore[attr-defined]
    retried = tasks[tasks.status == "retried"]
    assert set(retried.prefix) == {"unreliable"}
    assert len(retried) >= 4
    transfers: Any = recording.transfers  # type: ignore[attr-defined]
    assert transfers.nbytes.sum() > 1e6
    memory: Any = recording.memory  # type: ignore[attr-defined]
    phases: Any = recording.phases  # type: ignore[attr-defined]
    assert memory.spilled.max() > 0 or "disk-write" in set(phases.action)


def test_spans_of_every_step(recording: Recording) -> None:
    spans: Any = recording.spans  # type: ignore[attr-defined]
    assert {"statistics", "spectrum", "orders", "models", "retries"} <= set(spans.name)


def test_what_was_submitted_stands_in_its_own_lines(recording: Recording) -> None:
    submissions: Any = recording.submissions  # type: ignore[attr-defined]
    assert {Path(file).name for file in submissions.file} == {"steps.py"}
    assert all(code.startswith("def _") for code in submissions.code)
    lines: Any = recording.lines  # type: ignore[attr-defined]
    there = set(zip(lines.file, lines.line, strict=True))
    assert there >= set(zip(submissions.file, submissions.line, strict=True))
