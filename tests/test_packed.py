"""The large batches of which files and reports are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.synthetic import Size, synthetic
from dask_insight.batch import Symbols, Texts, decode, encode
from dask_insight.columns import is_missing
from dask_insight.recording import Recording
from dask_insight.schema import TABLES


def _again(recording: Recording) -> Recording:
    """What who reads its batches has."""
    read = Recording()
    for batch in recording.packed():
        read.append(batch)
    return read


def _plain(values: Any) -> Any:
    return np.array(values.tolist(), object) if isinstance(values, Symbols | Texts) else np.asarray(values)


def test_columns_in_which_nothing_stands_are_left_out_and_read_the_same() -> None:
    recording = synthetic(Size(tasks=300, samples=100, stacks=20))
    told = {(batch.table, name) for batch in map(decode, recording.packed()) for name in batch.columns}
    # A worker's times stand with the scheduler's where both tell them.
    assert {("executions", "start"), ("executions", "stop"), ("graph", "state")}.isdisjoint(told)
    assert {("executions", "run"), ("executions", "ended"), ("graph", "key")} <= told
    again = _again(_again(recording))
    for table in TABLES:
        columns = again.columns(table)
        for name, values in _again(recording).columns(table).items():
            np.testing.assert_array_equal(_plain(columns[name]), _plain(values), f"{table}.{name}")


def test_a_table_in_which_nothing_stands_keeps_its_rows() -> None:
    recording = Recording()
    recording.append(encode("clocks", {"worker": [""] * 3, "time": [np.nan] * 3}))
    assert len(_again(recording).columns("clocks")["time"]) == 3


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (np.full(2, np.nan), True),
        (np.array([np.nan, 0.0]), False),
        (np.array([np.nan, np.inf]), False),
        (np.zeros(2, "u4"), False),
        (Symbols(np.zeros(2, "u4"), [""]), True),
        (Symbols(np.zeros(2, "u4"), ["", "a"]), False),
        (Texts.of(["", ""]), False),
    ],
)
def test_only_floats_and_names_tell_that_they_are_missing(values: Any, missing: bool) -> None:
    assert is_missing(values) is missing
