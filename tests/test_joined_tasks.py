"""The table of attempts: whatever its ids are like, and in little time."""

from __future__ import annotations

from threading import get_ident
from typing import Any

import numpy as np
import pytest

from dask_insight.batch import encode
from dask_insight.lookup import Lookup
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.tables.tasks import make

_IDS = {
    "in order": [0, 1, 2, 3],
    "shuffled": [3, 0, 2, 1],
    "some left out": [40, 7, 19],
    "repeated": [2, 0, 2, 1],
    "few of many": [4_000_000_000, 7, 90_000],
    "one unknown": [1, NOTHING, 0],
    "none": [],
}


@pytest.mark.parametrize("kind", _IDS)
def test_ids_that_are_tabled_need_no_sorting(kind: str) -> None:
    ids = np.array(_IDS[kind], "u4")
    order = Lookup(ids).order
    if kind in ("repeated", "few of many", "one unknown"):
        assert order is None
    else:
        np.testing.assert_array_equal(order, np.argsort(ids))


def _tables(task: list[int], **more: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Attempts that began one second after another, and other columns."""
    count = len(task)
    attempts = {"run": range(count), "task": task, "worker": ["a"] * count, "thread": ["1"] * count}
    times = {"start": np.arange(count) + 1.0, "stop": np.arange(count) + 1.5, "done": np.arange(count) + 1.5}
    tables = {"attempts": {**attempts, **times, "status": ["ok"] * count}}
    return {name: tables.get(name, {}) | more.get(name, {}) for name in {*tables, *more}}


def _recording(task: list[int], **more: dict[str, Any]) -> Recording:
    recording = Recording()
    for name, columns in _tables(task, **more).items():
        recording.append(encode(name, columns))
    return recording


@pytest.mark.parametrize("kind", _IDS)
def test_attempts_stand_in_the_order_of_tasks_then_of_runs(kind: str) -> None:
    task = _IDS[kind]
    made = make(_recording(task).columns)
    order = np.lexsort((np.arange(len(task)), np.array(task, "u4")))
    np.testing.assert_array_equal(made["run"], order)
    np.testing.assert_array_equal(made["task"], np.array(task, "u4")[order])
    np.testing.assert_array_equal(made["start"], order + 1.0)
    np.testing.assert_array_equal(made["seceded"], np.zeros(len(task)))


def test_what_runs_is_told_where_it_began_and_what_is_known_of_neither_has_no_task() -> None:
    running = {"run": [1, 9, NOTHING], "task": [8, 0, 5], "worker": ["b"] * 3, "start": [7.0, 8.0, 9.0]}
    made = make(_recording([3, 2], running=running).columns)
    assert made["run"].tolist() == [9, 1, 0, NOTHING]
    assert made["task"].tolist() == [0, 2, 3, NOTHING]
    assert made["worker"].tolist() == ["b", "a", "a", ""]
    assert made["thread"].tolist() == ["", "1", "1", ""]
    assert made["status"].tolist() == ["running", "ok", "ok", "running"]
    np.testing.assert_array_equal(made["start"], [8.0, 2.0, 1.0, np.nan])


def test_what_a_scheduler_does_not_tell_a_worker_does() -> None:
    attempts = {"worker": ["", "a"], "start": [np.nan, 2.0], "stop": [1.5, np.nan]}
    executions = {"run": [1, 0], "worker": ["c", "d"], "start": [2.25, 1.25], "stop": [2.75, np.nan]}
    made = make(_recording([0, 1], attempts=attempts, executions=executions).columns)
    assert made["worker"].tolist() == ["d", "a"]
    assert made["start"].tolist() == [1.25, 2.25]
    assert made["stop"].tolist() == [1.5, 2.75]


def test_tables_are_read_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, int] = {}
    columns = Recording.columns

    def noting(self: Recording, table: str) -> Any:
        threads.setdefault(table, get_ident())
        return columns(self, table)

    monkeypatch.setattr(Recording, "columns", noting)
    recording = _recording([0, 1])
    assert len(recording.tasks) == 2
    # Nobody asks for the moment from which seconds count, which takes reading them, before.
    assert get_ident() not in {threads[table] for table in ("attempts", "executions", "running", "graph")}
    assert recording.tasks["start"].tolist() == [0.0, 1.0]
