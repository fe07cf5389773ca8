"""What took the time, and how evenly the workers were used."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from graphs import Task, ran
from hypothesis import given, settings
from hypothesis import strategies as st
from test_probe_parts import nvml
from test_time_budget import CLUSTER, Run

from dask_insight.batch import encode
from dask_insight.probe.gpu import Gpus
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


def test_what_still_runs_counts_as_far_as_it_came() -> None:
    more = {"run": [8, 9], "task": [3, 1], "worker": ["b", "b"], "thread": ["2", "3"]}
    running = more | {"start": [START + 3, START + 8]}
    resources = {"process": ["b"], "time": [START + 10]}
    run = recording({**TABLES, "running": running, "resources": resources})
    table = run.bottlenecks().set_index("function")
    assert table.duration.to_dict() == pytest.approx({"sum": 4 + 7, "load": 6 + 2})
    assert table["count"].to_dict() == {"sum": 3, "load": 3}
    assert table["mean"].to_dict() == pytest.approx({"sum": 2, "load": 3})
    assert table["median"].to_dict() == pytest.approx({"sum": 2, "load": 3})
    assert table["max"].to_dict() == pytest.approx({"sum": 3, "load": 4})
    assert table.share.sum() == pytest.approx(1)
    one = run.bottlenecks("worker").set_index("worker").loc["b"]
    assert (one.duration, one["count"], one["max"]) == pytest.approx((2 + 7 + 2, 3, 2))
    run.append(encode("about", {"name": ["stopped"], "value": [str(START + 10)]}))
    part = run.slice(0, 5).bottlenecks().set_index("function")
    assert part.duration.to_dict() == pytest.approx({"load": 6, "sum": 1 + 2})


@pytest.mark.parametrize("by", ["function", "task"])
def test_of_one_that_only_runs_no_length_is_known(by: str) -> None:
    told = {"run": [0], "task": [0], "worker": ["a"], "thread": ["1"], "start": [START]}
    graph = {"task": [0], "key": ["hang-0"], "prefix": ["hang"]}
    resources = {"process": ["a"], "time": [START + 60]}
    (row,) = recording({"graph": graph, "running": told, "resources": resources}).bottlenecks(by).itertuples()
    assert (row.duration, row.share, row.count, row.failed) == (60, 1, 1, 0)
    assert np.isnan([row.mean, row.median, row.p95, row.max, row.throughput, row.size_out]).all()


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


@pytest.mark.parametrize(
    ("memory", "mean"),
    [([1e10, NAN, NAN, NAN], 1e10), ([NAN, 1e9, 3e9, 3e9], 3.5e9), ([NAN] * 4, NAN)],
)
def test_memory_of_gpus_that_is_not_known_is_not_none(memory: list[float], mean: float) -> None:
    table = recording(TABLES | {"gpus": TABLES["gpus"] | {"memory": memory}}).bottlenecks(
        ["worker", "function"]
    )
    load = table.set_index(["worker", "function"]).loc[("a", "load")]
    assert load.gpu == pytest.approx(75) and load.gpu_memory == pytest.approx(mean, nan_ok=True)


def test_workers_of_dask_cuda_have_a_gpu_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of their host are visible to each of them, its own first."""
    busy = nvml(nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=100 - 100 * handle))
    monkeypatch.setitem(sys.modules, "pynvml", busy)
    run = Run()
    rows = []
    for worker, visible in (("a", "0,1"), ("b", "1,0")):
        run.task("f", worker, 0, 10)
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        rows += [row | {"process": worker} for at in range(10) for row in Gpus(one=True).sample(START + at)]
    run.tables["gpus"] = {name: [row[name] for row in rows] for name in rows[0]}
    table = run.recording().bottlenecks("worker").set_index("worker")
    assert table.gpu.to_dict() == pytest.approx({"a": 100, "b": 0})
    assert table.gpu_memory.to_dict() == pytest.approx({"a": 100, "b": 101})


def test_by_task_group_span_worker_and_thread() -> None:
    run = recording()
    by_task = run.bottlenecks("task").set_index("task")
    assert by_task.duration.to_dict() == {"('load', 0)": 4, "sum-1": 4, "('load', 1)": 2}
    assert run.bottlenecks("group").set_index("group").duration.to_dict() == {"load": 6, "sum-1": 4}
    assert run.bottlenecks("span").duration.tolist() == [10]
    run.append(encode("spans", {"span": ["x"], "name": ["fit"], "path": ["model / fit"]}))
    by_span = run.bottlenecks(["span", "worker"])
    assert list(by_span)[:3] == ["span", "path", "worker"] and set(by_span.path) == {"model / fit"}
    assert run.bottlenecks("worker").set_index("worker").duration.to_dict() == {"a": 8, "b": 2}
    by_thread = run.bottlenecks(["worker", "thread"])
    assert sorted(by_thread.duration) == [2, 3, 5]


def test_a_slice_tells_of_the_time_within_it() -> None:
    whole = ran([Task("long", 100.0), *[Task("work", 1.0)] * 99], [2])
    part = whole.slice(50, 60)
    by_name = part.bottlenecks().set_index("function")
    assert by_name["duration"].to_dict() == pytest.approx({"long": 10, "work": 10})
    assert by_name["share"].tolist() == pytest.approx([0.5, 0.5])
    assert by_name.loc["long", "mean"] == pytest.approx(100)
    for every in (1.0, 10.0, None):
        balance = part.balance(every=every)
        assert balance["time"].between(50, 59.999).all()
        assert balance["running"].to_numpy() == pytest.approx(2, abs=1e-4)


def test_nothing_ran() -> None:
    for by in ("function", "task", "group", "span", "worker", "thread"):
        table = Recording().bottlenecks(by)
        assert not len(table)
        named = [by, "path"] if by == "span" else [by]
        assert list(table)[: len(named) + 2] == [*named, "duration", "share"]
    nothing = Recording()
    assert not len(nothing.balance())
    for empty in (nothing.moved(), nothing.moved("type"), nothing.held(), nothing.dependencies()):
        assert not len(empty) and len(empty.columns) > 5


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="colour"):
        recording().bottlenecks("colour")
    for ask in (Recording.moved, Recording.held, Recording.dependencies):
        with pytest.raises(ValueError, match="by='colour' is none of"):
            ask(recording(), "colour")
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


def test_a_worker_that_has_left_holds_nothing() -> None:
    """What it had made is where it came to before."""
    workers = {"worker": ["a", "b"], "threads": [2, 1], "joined": [START] * 2, "left": [NAN, START + 5]}
    table = recording(TABLES | {"workers": workers}).balance(every=1.0).set_index(["worker", "time"])
    assert table.loc["b", "nbytes"].tolist()[:7] == [0, 0, 300, 300, 300, 0, 0]
    assert table.loc["a", "nbytes"].tolist()[:7] == [0, 0, 0, 300, 400, 400, 400]


SENT: dict[str, dict[str, Any]] = TABLES | {
    "attempts": ATTEMPTS | {"typename": ["array", "array", "", "float", ""]},
    # Both sides tell of the first one.
    "transfers": {
        "transfer": [0, 1, 2, 3],
        "worker": ["b", "a", "b", "c"],
        "peer": ["a", "b", "a", ""],
        "direction": ["in", "out", "in", "out"],
        "start": [START, START, START + 2, START + 3],
        "stop": [START + 2, START + 2, START + 3, START + 3],
        "nbytes": [400.0, 400.0, 100.0, 8.0],
    },
    "transferred": {
        "transfer": [0, 0, 1, 1, 2, 3],
        "task": [0, 2, 0, 2, 1, 3],
        "nbytes": [300.0, 100.0, 300.0, 100.0, 100.0, 8.0],
    },
}


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("pair", [("a", "b", 500, 2, 3, 3, 500 / 3), ("c", "", 8, 1, 1, 0, NAN)]),
        ("function", [("load", 400, 2, 2, 2.5, 160), ("sum", 108, 2, 2, 0.5, 216)]),
        ("type", [("array", 400, 2, 2, 2.5, 160), ("float", 100, 1, 1, 0.5, 200), ("", 8, 1, 1, 0, NAN)]),
    ],
)
def test_what_was_moved(by: str, rows: list[tuple[Any, ...]]) -> None:
    table = recording(SENT).moved(by)
    for found, told in zip(table.itertuples(index=False), rows, strict=True):
        texts = sum(isinstance(each, str) for each in told)
        assert tuple(found)[:texts] == told[:texts]
        assert tuple(found)[texts:] == pytest.approx(told[texts:], nan_ok=True)


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("function", [("load", 300, 1, 1, 1.5), ("", 108, 2, 0, 1), ("sum", 100, 1, 1, 0.5)]),
        ("type", [("array", 300, 1, 1, 1.5), ("", 108, 2, 0, 1), ("float", 100, 1, 1, 0.5)]),
    ],
)
def test_of_some_transfers_nobody_tells_what_they_carried(by: str, rows: list[tuple[Any, ...]]) -> None:
    carried = {name: values[:4] for name, values in SENT["transferred"].items()}
    table = recording(SENT | {"transferred": carried}).moved(by).drop(columns="bandwidth")
    assert [tuple(row) for row in table.itertuples(index=False)] == rows


def test_what_was_held() -> None:
    other_tools = {"about": {"name": ["source"], "value": ['"Chrome trace"']}}
    told = recording(TABLES | other_tools).held().set_index("function")
    assert told.loc["load"].to_dict() == pytest.approx(
        {"results": 2, "nbytes": 400, "mean": (100 * 5 + 300 * 7) / 9, "unused": NAN}
        | {"peak": 400, "peaked": 4, "left": 0},
        nan_ok=True,
    )
    assert told.loc["sum", ["results", "peak", "peaked", "left"]].tolist() == pytest.approx([1, 8, 9, 8])
    assert set(recording().held("group")["group"]) == {"load", "sum-1"}


#: One goes as the other one of its name comes.
RELEASED = TABLES | {"releases": {"task": [1, 0], "time": [START + 4, START + 7]}}


def test_what_goes_as_something_comes_is_not_held_beside_it() -> None:
    told = recording(RELEASED).held().set_index("function").loc["load"]
    assert told.to_dict() == pytest.approx(
        {"results": 2, "nbytes": 400, "mean": (300 * 2 + 100 * 3) / 9, "unused": 0}
        | {"peak": 300, "peaked": 2, "left": 0}
    )


def test_a_part_of_a_run_held_what_it_held_in_that_time() -> None:
    (row,) = recording(RELEASED).slice(3, 6).held().to_dict("records")
    known = {"results": 1, "nbytes": 100, "mean": 100 * 2 / 3, "unused": NAN}
    known |= {"peak": 100, "peaked": 4, "left": 100}
    assert row.pop("function") == "load"
    assert row == pytest.approx(known, nan_ok=True), "what used it later is not in the part"


def test_what_is_held_after_its_last_use_is_told_apart() -> None:
    graph = [Task("load", 1.0), Task("load", 1.0), Task("sum", 1.0, (0, 1)), Task("wait", 3.0, (2,))]
    released = {"task": [0, 1], "time": [START + 4.5, START + 3.5]}
    told = ran(graph, releases=released).held().set_index("function")
    assert told.unused.to_dict() == pytest.approx({"load": 8 * (1.5 + 0.5) / 6, "sum": 0, "wait": 0})
    assert (told.unused <= told["mean"]).all()


#: What b made comes to a twice, and the worker that had it first leaves.
COPIED = TABLES | {
    "transfers": {
        **{"transfer": [0, 1], "worker": ["a", "a"], "peer": ["b", "b"], "direction": ["in", "in"]},
        **{"start": [START + 2.5, START + 5], "stop": [START + 3, START + 6]},
    },
    "transferred": {"transfer": [0, 1], "task": [1, 1]},
    "workers": {"worker": ["a", "b"], "joined": [START] * 2, "left": [NAN, START + 5]},
}


def test_what_was_held_where_it_lay() -> None:
    told = recording(COPIED).held("place").set_index("place")
    assert told.loc["b"].to_dict() == pytest.approx(
        {"results": 1, "nbytes": 300, "mean": 300 * 3 / 9, "unused": 0, "peak": 300, "peaked": 2, "left": 0}
    )
    assert told.loc["a", ["results", "nbytes", "mean", "left"]].tolist() == pytest.approx(
        [3, 408, (100 * 5 + 300 * 6) / 9, 408]
    )
    both = recording(COPIED).held(["place", "function"])
    assert [*zip(both.place, both.function, both.results, strict=True)] == [
        ("a", "load", 2),
        ("b", "load", 1),
        ("a", "sum", 1),
    ]
    assert recording(COPIED).held("worker").set_index("worker").results.to_dict() == {"a": 2, "b": 1}


def test_dependencies_are_the_shape_of_a_computation() -> None:
    (row,) = recording().dependencies().to_dict("records")
    ends = {"source": "load", "target": "sum", "sources": 2, "targets": 1}
    assert row == ends | {"edges": 2, "nbytes": 400, "seconds": 4}
    (row,) = recording().dependencies("group").to_dict("records")
    assert (row["source"], row["target"]) == ("load", "sum-1")


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
