"""What took the time, and how evenly the workers were used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_time_budget import CLUSTER, Run

from dask_insight.batch import encode
from dask_insight.recording import Recording

START = 1_750_000_000.0
NAN = float("nan")
MIB = 2.0**20

GRAPH = {
    "task": [0, 1, 2, 3],
    "key": ["('load', 0)", "('load', 1)", "sum-1", "sum-2"],
    "prefix": ["load", "load", "sum", "sum"],
    "group": ["load", "load", "sum-1", "sum-2"],
    "span": ["x", "x", "x", "y"],
}
ATTEMPTS = {
    "run": [0, 1, 2, 3, 4],
    "task": [0, 1, 2, 2, 3],
    "worker": ["a", "b", "a", "a", "b"],
    "thread": ["1", "1", "1", "2", "1"],
    "status": ["ok", "ok", "retried", "ok", "stolen"],
    "submitted": [START] * 5,
    "start": [START, START, START + 4, START + 6, NAN],
    "stop": [START + 4, START + 2, START + 5, START + 9, NAN],
    "done": [START + 4, START + 2, START + 5, START + 9, START + 1],
    "nbytes": [100.0, 300.0, NAN, 8.0, NAN],
}
TABLES: dict[str, dict[str, Any]] = {
    "graph": GRAPH,
    "attempts": ATTEMPTS,
    "edges": {"task": [2, 2], "dependency": [0, 1]},
    "executions": {
        "run": [0, 1, 2, 3],
        "worker": ["a"] * 4,
        "cpu": [2.0, 1.0, NAN, 3.0],
        "rss": [8, 4, 0, NAN],
    },
    "gpus": {
        "process": ["a", "a", "a", "a"],
        "time": [START, START, START + 4, START + 4],
        "index": [0, 1, 0, 1],
        "utilization": [0.0, 100.0, 100.0, 100.0],
        "memory": [1e9, 1e9, 3e9, 3e9],
    },
    "transfers": {
        "transfer": [0],
        "worker": ["a"],
        "peer": ["b"],
        "direction": ["in"],
        "start": [START + 2.5],
        "stop": [START + 3],
    },
    "transferred": {"transfer": [0], "task": [1]},
    "memory": {
        "worker": ["a", "a"],
        "time": [START + 0.5, START + 5.5],
        "managed": [1.0, 2.0],
        "process": [5.0, 6.0],
    },
}


def recording(tables: dict[str, dict[str, Any]] = TABLES) -> Recording:
    made = Recording()
    for name, columns in tables.items():
        made.append(encode(name, columns))
    return made


def test_by_function() -> None:
    table = recording().bottlenecks().set_index("function")
    assert list(table.index) == ["load", "sum"]
    load, total = table.loc["load"], table.loc["sum"]
    assert (load.duration, load["count"], load.failed) == (6, 2, 0)
    assert (load["mean"], load["median"], load.p95, load["max"]) == pytest.approx((3, 3, 3.9, 4))
    assert (load.size_out, load.size_in, load.cpu) == pytest.approx((200, 0, 50))
    assert np.isnan(load.throughput)
    assert load.memory_added == pytest.approx(6 * MIB)
    assert (total.duration, total["count"], total.failed) == (4, 2, 1)
    assert (total.size_in, total.size_out, total.throughput) == pytest.approx((400, 8, 800 / 4))
    assert total.cpu == pytest.approx(100)
    assert table.share.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("status", "failed"),
    [("erred", 1), ("retried", 1), ("killed", 1), ("cancelled", 0), ("rescheduled", 0), ("stolen", 0)],
)
def test_attempts_that_were_cancelled_or_sent_elsewhere_did_not_fail(status: str, failed: int) -> None:
    attempts = {**ATTEMPTS, "status": ["ok", "ok", status, "ok", "ok"]}
    total = recording({**TABLES, "attempts": attempts}).bottlenecks().set_index("function").loc["sum"]
    assert (total["count"], total.failed) == (2, failed)


def test_time_without_a_thread_is_none_of_a_task() -> None:
    run = Run(a=CLUSTER)
    parent = run.task("parent", "a", 0, 10, cpu=1.0)
    run.seceded(parent, 1, 9)
    run.task("child", "a", 1, 9, thread="2", submitted=1, cpu=8.0)
    # It computes without a thread.
    run.seceded(run.task("apart", "a", 10, 14, cpu=4.0), 10, 14)
    table = run.recording().bottlenecks().set_index("function")
    assert table.duration.to_dict() == pytest.approx({"child": 8, "parent": 2, "apart": 0})
    assert table["max"].to_dict() == pytest.approx({"child": 8, "parent": 2, "apart": 0})
    assert table.cpu.to_dict() == pytest.approx({"child": 100, "parent": 50, "apart": 100})


def test_gpus_of_the_worker_while_it_ran() -> None:
    table = recording().bottlenecks(["worker", "function"]).set_index(["worker", "function"])
    # From a mean of 50 % to 100 % on a line, over two devices whose memory adds up.
    assert table.loc[("a", "load")].gpu == pytest.approx(75)
    assert table.loc[("a", "load")].gpu_memory == pytest.approx(4e9)
    assert table.loc[("a", "sum")].gpu == pytest.approx(100)
    assert np.isnan(table.loc[("b", "load")].gpu)


def test_by_task_group_span_worker_and_thread() -> None:
    run = recording()
    by_task = run.bottlenecks("task").set_index("task")
    assert by_task.duration.to_dict() == {"('load', 0)": 4, "sum-1": 4, "('load', 1)": 2}
    assert run.bottlenecks("group").set_index("group").duration.to_dict() == {"load": 6, "sum-1": 4}
    assert run.bottlenecks("span").duration.tolist() == [10]
    assert run.bottlenecks("worker").set_index("worker").duration.to_dict() == {"a": 8, "b": 2}
    by_thread = run.bottlenecks(["worker", "thread"])
    assert sorted(by_thread.duration) == [2, 3, 5]


def test_nothing_ran() -> None:
    for by in ("function", "task", "group", "span", "worker", "thread"):
        table = Recording().bottlenecks(by)
        assert not len(table)
        assert list(table)[:3] == [by, "duration", "share"]
    assert not len(Recording().balance())


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="colour"):
        recording().bottlenecks("colour")
    with pytest.raises(ValueError):
        recording().balance(every=0)
    with pytest.raises(ValueError, match="rows"):
        recording().balance(every=1e-9)


def test_balance() -> None:
    table = recording().balance(every=1.0)
    a = table[table.worker == "a"].set_index("time")
    b = table[table.worker == "b"].set_index("time")
    assert a.running.tolist() == pytest.approx([1, 1, 1, 1, 1, 0, 1, 1, 1])
    assert b.running.tolist() == pytest.approx([1, 1, 0, 0, 0, 0, 0, 0, 0])
    # `load` of a is there from second 4 on, that of b from second 3 (it came from there), both until 9.
    assert a.tasks.tolist()[:8] == [0, 0, 0, 1, 2, 2, 2, 2]
    assert a.nbytes.tolist()[:8] == [0, 0, 0, 300, 400, 400, 400, 400]
    assert b.tasks.tolist()[:8] == [0, 0, 1, 1, 1, 1, 1, 1]
    assert a.managed.tolist()[:7] == [1, 1, 1, 1, 1, 2, 2]
    assert b.managed.isna().all()


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("xyz"),
            st.sampled_from("ab"),
            st.floats(0, 50),
            st.floats(0, 5),
            st.floats(0, 1e9),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_the_same_as_pandas_says(tasks: list[tuple[str, str, float, float, float]]) -> None:
    name, worker, start, length, nbytes = (list(column) for column in zip(*tasks, strict=True))
    stop = [begin + took for begin, took in zip(start, length, strict=True)]
    times = {"start": START + np.array(start), "stop": START + np.array(stop)}
    run = recording(
        {
            "graph": {"task": range(len(tasks)), "prefix": name},
            "attempts": {
                "run": range(len(tasks)),
                "task": range(len(tasks)),
                "worker": worker,
                "thread": worker,
                "status": ["ok"] * len(tasks),
                "nbytes": nbytes,
                "done": times["stop"],
                **times,
            },
        }
    )
    frame = run.tasks
    frame["duration"] = frame.stop - frame.start
    expected = frame.groupby("prefix", observed=True).duration.agg(["sum", "mean", "median", "max", "count"])
    expected["p95"] = frame.groupby("prefix", observed=True).duration.quantile(0.95)
    expected["size_out"] = frame.groupby("prefix", observed=True).nbytes.mean()
    found = run.bottlenecks().set_index("function").loc[expected.index]
    same = {column: column for column in expected if column != "sum"}
    for ours, theirs in ({"duration": "sum"} | same).items():
        np.testing.assert_allclose(
            found[ours].to_numpy("f8"), expected[theirs].to_numpy("f8"), rtol=1e-6, atol=2e-6
        )
    balance = run.balance(every=1.0)
    assert (balance.running.sum()) == pytest.approx(expected["sum"].sum(), abs=1e-4)


def test_units_are_told() -> None:
    assert isinstance(recording().bottlenecks(), pd.DataFrame)
    doc = str(Recording.bottlenecks.__doc__)
    for column in recording().bottlenecks():
        assert column in doc or column == "function"
