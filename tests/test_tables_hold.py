"""What stands in the DataFrames can be reckoned with, and what is not known is not made up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING, TABLES


def recorded(**tables: dict[str, Any]) -> Recording:
    """A recording of these tables."""
    recording = Recording()
    for name, columns in tables.items():
        recording.append(encode(name, columns))
    return recording


@pytest.mark.parametrize("table", TABLES)
def test_numbers_of_tables_can_be_less_than_nothing(table: str) -> None:
    whole = [column.name for column in TABLES[table].columns if column.kind in ("u32", "u8")]
    kinds = recorded(**{table: {name: [3] for name in whole}}).table(table).dtypes if whole else {}
    assert all(kinds[name] == np.int64 for name in whole if name in kinds)


def test_counts_are_reckoned_with() -> None:
    run = recorded(workers={"worker": ["a"], "threads": [2]}, samples={"stack": [0], "run": [NOTHING]})
    assert (run.workers["threads"] - 4).tolist() == [-2]
    assert run.samples["run"].tolist() == [NOTHING], "as it is documented"
    assert run.tasks["attempt"].dtype == np.int64


def test_what_another_tool_does_not_tell_of_tasks_is_unknown() -> None:
    tables: dict[str, Any] = {
        "graph": {"task": [0, 1], "key": ["x", "y"]},
        "attempts": {"run": [0, 1], "task": [0, 1], "start": [1.0, 2.0], "stop": [2.0, 3.0]},
    }
    ours, theirs = ({"name": ["name", fact], "value": ['"x"'] * 2} for fact in ("about", "source"))
    one = {"submission": [0], "time": [1.0]}
    for about, more, brought, rank in (
        (ours, {}, 0, 0),
        (theirs, {}, NOTHING, NOTHING),
        (theirs, {"submissions": one}, 0, NOTHING),
    ):
        tasks = recorded(about=about, **tables, **more).tasks
        assert tasks["submission"].tolist() == [brought] * 2 and tasks["order"].tolist() == [rank] * 2
