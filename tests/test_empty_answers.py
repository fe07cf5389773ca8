"""Answers about a part of a run in which nothing happened: columns of the same kinds as of all of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from dask_insight.analysis.critical_path.walk import KINDS
from dask_insight.analysis.time_budget.sums import BY
from dask_insight.errors import ExitCode
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording, open_recording

GOLDEN = str(Path(__file__).parent / "golden" / "run.dinsight")
ANSWERS: dict[str, Callable[[Recording], pd.DataFrame]] = {
    "balance": lambda run: run.balance(),
    "bottlenecks": lambda run: run.bottlenecks(),
    "bounds": lambda run: run.bounds().frame(),
    "critical_path": lambda run: run.critical_path(),
    "critical_path by prefix": lambda run: run.critical_path("prefix"),
    "critical_path by kind": lambda run: run.critical_path("kind"),
    "dependencies": lambda run: run.dependencies(),
    "findings": lambda run: run.findings().frame(),
    "flame": lambda run: run.flame(),
    "held": lambda run: run.held(),
    "moved": lambda run: run.moved(),
    "tasks": lambda run: run.tasks,
    "time_budget": lambda run: run.time_budget(),
    **{f"time_budget by {name}": partial(Recording.time_budget, by=name) for name in BY},
    "transferred": lambda run: run.transferred,
    "transfers": lambda run: run.transfers,
}


@pytest.fixture(scope="module")
def golden() -> Recording:
    return open_recording(GOLDEN)


@pytest.mark.parametrize("answer", ANSWERS)
def test_columns_are_of_the_same_kinds_where_nothing_happened(golden: Recording, answer: str) -> None:
    whole, empty = (ANSWERS[answer](run) for run in (golden, golden.slice(100, 200)))
    assert len(whole) and not len(empty)
    assert all(dtype.kind != "u" for dtype in whole.dtypes), "differences may be negative"
    assert empty.dtypes.astype(str).to_dict() == whole.dtypes.astype(str).to_dict()
    assert empty.index.dtype == whole.index.dtype


@pytest.mark.parametrize(
    "command",
    [
        ["what-if"],
        ["what-if", "--workers", "2"],
        ["findings", "--fail-on", "info"],
        ["compare", "--fail-if-slower", "5%", GOLDEN],
    ],
)
def test_a_command_fails_where_no_task_ran_and_blames_no_file(
    golden: Recording, tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    golden.slice(100, 200).save(tmp_path / "empty.dinsight")
    assert main([*command, str(tmp_path / "empty.dinsight")]) == ExitCode.FAILED
    assert re.search("no task (ran|ended)", capsys.readouterr().err)


def test_seconds_of_what_was_held_count_from_the_recordings_start(golden: Recording) -> None:
    assert golden.held().attrs["started"] == golden.started


def test_a_path_without_steps_joins_the_tasks(golden: Recording) -> None:
    part = golden.slice(100, 200)
    assert not len(part.critical_path().merge(part.tasks, on="key"))


def test_sums_of_a_path_have_a_column_for_each_kind(golden: Recording) -> None:
    sums = golden.critical_path("prefix")
    assert list(sums.columns) == ["seconds", "share", "steps", *KINDS]
    assert (sums["disk"] == 0).all(), "nothing was read from a disk"
    assert sums[list(KINDS)].sum(axis=1).tolist() == pytest.approx(sums["seconds"].tolist())
