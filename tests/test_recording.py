"""Recordings: batches in, columns and pandas tables out."""

from __future__ import annotations

import copy
import io
import pickle
import runpy
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import wait_for

import dask_insight
from dask_insight import columns
from dask_insight.batch import Texts, decode, encode
from dask_insight.frames import Gap, Writer, create
from dask_insight.frames import writer as writing
from dask_insight.recording import Recording
from dask_insight.schema import EXTENT, NOTHING, TABLES
from dask_insight.slicing import between
from dask_insight.tables import FIELDS, reference

ZERO = 1_750_000_000.0
A, B = "tcp://10.0.0.1:1", "tcp://10.0.0.2:2"


def _recording() -> Recording:
    """Two workers: b needs a, which moves; c fails, is retried, and runs still."""
    recording = Recording()

    def add(table: str, **columns: Any) -> None:
        recording.append(encode(table, columns))

    add("about", name=["name", "started"], value=['"two workers"', str(ZERO)])
    add("graph", task=[0, 1], key=["a", "('b', 0)"], prefix=["a", "b"], group=["a", "b"], span=["s", "s"])
    add("graph", task=[2], key=["c-1"], prefix=["c"], group=["c"], submission=[1], priority=[2.0], order=[5])
    add("edges", task=[1, 2], dependency=[0, 0])
    add(
        "attempts",
        run=[0, 1],
        task=[0, 1],
        worker=[A, B],
        thread=["7", "8"],
        status=["ok", "ok"],
        submitted=[ZERO, ZERO],
        ready=[ZERO + 0.1, ZERO + 1.0],
        queued=[1, 0],
        assigned=[ZERO + 0.2, ZERO + 1.0],
        start=[ZERO + 0.3, ZERO + 1.5],
        stop=[ZERO + 0.9, ZERO + 2.0],
        done=[ZERO + 1.0, ZERO + 2.1],
        nbytes=[100.0, 8.0],
        typename=["numpy.ndarray", "builtins.float"],
    )
    add("attempts", run=[2], task=[2], worker=[A], status=["retried"], done=[ZERO + 1.4])
    add(
        "executions",
        run=[1, 2, 9],
        worker=[B, A, B],
        thread=["", "7", "8"],
        status=["memory", "error", "memory"],
        received=[ZERO + 1.1, ZERO + 1.05, np.nan],
        ready=[ZERO + 1.3, ZERO + 1.1, np.nan],
        executing=[ZERO + 1.4, ZERO + 1.15, np.nan],
        start=[np.nan, ZERO + 1.2, ZERO + 2.5],
        stop=[np.nan, ZERO + 1.3, ZERO + 2.6],
        cpu=[0.25, np.nan, np.nan],
        rss=[1.5, np.nan, np.nan],
    )
    add("running", run=[1, 3], task=[1, 2], worker=[B, A], thread=["8", "7"], start=[ZERO + 1.5, ZERO + 3.0])
    add("phases", run=[1], action=["transfer"], start=[ZERO + 1.15], stop=[ZERO + 1.3])
    add("errors", run=[2], task=[2], exception=["ValueError()"], traceback=["…"])
    add(
        "transfers",
        transfer=[0, 1],
        worker=[B, A],
        peer=[A, B],
        direction=["in", "out"],
        start=[ZERO + 1.15, ZERO + 1.15],
        stop=[ZERO + 1.3, ZERO + 1.3],
        nbytes=[100.0, 100.0],
    )
    add("transferred", transfer=[0, 1], task=[0, 0], nbytes=[100.0, 100.0])
    add(
        "memory",
        worker=[A],
        time=[ZERO + 1],
        process=[10.0],
        managed=[4.0],
        unmanaged_old=[5.0],
        unmanaged_recent=[1.0],
    )
    add(
        "stacks",
        stack=[0, 1, 2],
        parent=[NOTHING, 0, 0],
        function=["f", "g", "g"],
        file=["m.py"] * 3,
        line=[1, 5, 6],
    )
    add(
        "samples",
        process=[B, B, A, "scheduler"],
        thread=["8", "8", "7", "0"],
        time=[ZERO + 1.6, ZERO + 1.7, ZERO + 3.5, ZERO + 1.0],
        duration=[0.1, 0.1, 0.5, 3.0],
        stack=[1, 2, 0, 2],
        run=[1, 1, 3, NOTHING],
    )
    return recording


def _by_key(recording: Recording) -> dict[str, pd.DataFrame]:
    return dict(list(recording.tasks.groupby(recording.tasks["key"].astype(object))))


def test_tasks_join_what_scheduler_and_worker_saw() -> None:
    tasks = _by_key(_recording())
    b = tasks["('b', 0)"].iloc[0]
    assert (b.prefix, b.group, b.worker, b.thread, b.status) == ("b", "b", B, "8", "ok")
    assert (b.start, b.stop, b.duration, b.cpu, b["nbytes"]) == (1.5, 2.0, 0.5, 0.25, 8.0)
    assert (b.received, b.inputs, b.executing, b.in_memory) == (1.1, 1.3, 1.4, 2.1)
    assert (b.data_wait, b.thread_wait, b.memory_change) == (0.2, 0.1, 1.5)
    assert (b.typename, b.span, b.attempt) == ("builtins.float", "s", 1)
    a = tasks["a"].iloc[0]
    assert (a.queued, a.queue_wait) == (0.1, 0.1)
    assert np.isnan(a.received) and np.isnan(b.queued)


def test_attempts_that_failed_or_still_run_are_tasks_too() -> None:
    tasks = _by_key(_recording())
    c = tasks["c-1"]
    assert c["status"].tolist() == ["retried", "running"]
    assert c["attempt"].tolist() == [1, 2]
    assert c["start"].tolist() == [1.2, 3.0]
    assert c["thread"].tolist() == ["7", "7"]
    assert (c["submission"].iloc[0], c["priority"].iloc[0], c["order"].iloc[0]) == (1, 2.0, 5)
    assert np.isnan(c["in_memory"]).all() and np.isnan(c["stop"].iloc[1])
    assert "" not in tasks, "an attempt that ended before the recording began"


def test_each_attempt_stands_once() -> None:
    assert sorted(_recording().tasks["run"]) == [0, 1, 2, 3]


def test_times_as_timestamps() -> None:
    recording = _recording()
    stamps = recording.table("tasks", timestamps=True)
    seconds = recording.tasks
    expected = pd.to_datetime(ZERO, unit="s", utc=True) + pd.to_timedelta(seconds["start"], unit="s")
    assert (stamps["start"].dt.round("us") == expected.dt.round("us")).all()
    assert stamps["stop"].isna().sum() == seconds["stop"].isna().sum() == 1
    assert recording.started == ZERO == seconds.attrs["started"]


@pytest.mark.parametrize("table", EXTENT)
def test_seconds_begin_where_those_of_pages_do(table: str) -> None:
    recording = Recording()
    recording.append(encode("about", {"name": ["started"], "value": [str(ZERO + 9)]}))
    moments = {name: [ZERO + at] for at, name in enumerate(EXTENT[table])}
    recording.append(encode(table, moments))
    assert recording.started == ZERO


def test_transfers_name_what_they_carried_and_who_waited() -> None:
    transfers = _recording().transfers.set_index("direction")
    arrived = transfers.loc["in"]
    assert (arrived.key, arrived.results, arrived.waiting) == ("a", 1, 1)
    assert arrived.waited == pytest.approx(0.15) and arrived.duration == pytest.approx(0.15)
    assert arrived.bandwidth == pytest.approx(100 / 0.15, rel=1e-3)
    assert transfers.loc["out"].waiting == 0
    carried = _recording().transferred.set_index("direction")
    assert carried.loc["in", "waiting_key"] == "('b', 0)" and carried.loc["in", "run"] == 1
    assert carried.loc["out", "waiting_key"] == "" and carried.loc["out", "run"] == NOTHING


def test_who_needs_several_results_of_a_transfer_waits_for_it_once() -> None:
    recording = Recording()
    tables: dict[str, dict[str, Any]] = {
        "edges": {"task": [2, 2, 2, 4], "dependency": [0, 1, 3, 1]},
        "attempts": {
            **{"run": [0, 1], "task": [2, 4], "worker": [B, B]},
            **{"assigned": [ZERO, ZERO], "start": [ZERO + 3, ZERO + 3]},
        },
        "transfers": {
            **{"transfer": [0, 1], "worker": [B, B], "peer": [A, "tcp://c:1"], "direction": ["in", "in"]},
            **{"start": [ZERO + 1, ZERO + 1], "stop": [ZERO + 2, ZERO + 3], "nbytes": [8, 4]},
        },
        "transferred": {"transfer": [0, 0, 1], "task": [0, 1, 3], "nbytes": [4, 4, 4]},
    }
    for table, told in tables.items():
        recording.append(encode(table, told))
    table = recording.transfers
    assert table["results"].tolist() == [2, 1]
    assert table["waiting"].tolist() == [2, 1]
    assert table["waited"].tolist() == pytest.approx([2, 2])


def test_other_tables_name_what_their_ids_stand_for() -> None:
    recording = _recording()
    assert recording.edges[["key", "dependency_key"]].values.tolist() == [["('b', 0)", "a"], ["c-1", "a"]]
    phase = recording.phases.iloc[0]
    assert (phase.key, phase.prefix, phase.worker, phase.thread) == ("('b', 0)", "b", B, "8")
    assert phase.duration == pytest.approx(0.15)
    error = recording.errors.iloc[0]
    assert (error.key, error.prefix, error.worker, error.exception) == ("c-1", "c", A, "ValueError()")
    assert recording.samples["prefix"].tolist() == ["b", "b", "c", ""]
    assert recording.memory["unmanaged"].tolist() == [6.0]


def test_a_span_has_what_ran_inside_of_it_and_of_those_within() -> None:
    recording = _recording()
    outer, inner, other = ("s", "", "model"), ("t", "s", "model / fit"), ("u", "", "rest")
    for span, parent, path in (inner, outer, other):
        name = path.rpartition(" / ")[2]
        recording.append(
            encode("spans", {"span": [span], "parent": [parent], "name": [name], "path": [path]})
        )
    recording.append(encode("graph", {"task": [3], "key": ["d"], "prefix": ["d"], "span": ["t"]}))
    moments = {"start": [ZERO + 5], "stop": [ZERO + 7], "done": [ZERO + 7]}
    recording.append(encode("attempts", {"run": [5], "task": [3], "status": ["erred"]} | moments))
    recording.append(
        encode("running", {"run": [6], "task": [3], "worker": [A], "thread": ["7"], "start": [ZERO + 6.5]})
    )
    away = {"run": [6], "action": ["seceded"], "start": [ZERO + 7], "stop": [ZERO + 7.5]}
    recording.append(encode("phases", away))
    recording.append(encode("resources", {"process": [A], "time": [ZERO + 8]}))
    spans = recording.spans.set_index("path")
    told = ["start", "stop", "seconds", "tasks", "computing", "cpu", "nbytes", "failed"]
    assert spans.loc["model / fit", told].tolist() == pytest.approx(
        [5, 8, 3, 2, 3, np.nan, 0, 1], nan_ok=True
    )
    assert spans.loc["model", told].tolist() == pytest.approx([0.3, 8, 7.7, 4, 4.1, 0.25, 108, 1])
    nothing = [np.nan, np.nan, np.nan, 0, 0, np.nan, 0, 0]
    assert spans.loc["rest", told].tolist() == pytest.approx(nothing, nan_ok=True)
    assert spans["span"].tolist() == ["t", "s", "u"]
    recording.append(encode("about", {"name": ["stopped"], "value": [str(ZERO + 600)]}))
    part = recording.slice(5, 7.5).spans.set_index("path")
    assert part.loc["model / fit", ["stop", "computing"]].tolist() == pytest.approx([7.5, 2.5])


def test_spans_that_a_damaged_file_puts_inside_of_themselves_are_read() -> None:
    recording = Recording()
    recording.append(encode("spans", {"span": ["a", "b", "c", "d"], "parent": ["b", "a", "a", "d"]}))
    assert recording.spans["tasks"].tolist() == [0, 0, 0, 0]


def test_a_worker_is_known_by_its_name_too() -> None:
    recording = _recording()
    recording.append(encode("workers", {"worker": [A, B], "name": ["0", "1"]}))
    assert recording.flame(worker="1").equals(recording.flame(worker=B))
    assert recording.flame(worker="1")["self"].sum() == pytest.approx(0.2)


def test_errors_stand_in_the_order_in_which_they_came() -> None:
    recording = _recording()
    recording.append(encode("attempts", {"run": [4], "task": [2], "done": [ZERO + 1.2]}))
    told = {"run": [7, 4], "task": [2, 2], "exception": ["of no attempt", "before"]}
    recording.append(encode("errors", told))
    assert recording.errors["exception"].tolist() == ["before", "ValueError()", "of no attempt"]


def test_a_row_that_was_replaced_is_in_no_table() -> None:
    recording = Recording()
    for worker, left, detail in (("b", np.nan, "{}"), ("a", np.nan, "1"), ("b", ZERO, "2")):
        recording.append(encode("workers", {"worker": [worker], "left": [left], "detail": [detail]}))
    for status in ("running", "ok"):
        recording.append(encode("cells", {"execution": [3], "status": [status], "code": [status]}))
        recording.append(encode("about", {"name": ["name"], "value": [f'"{status}"']}))
    told = recording.table("workers")
    assert told[["worker", "detail"]].values.tolist() == [["b", "2"], ["a", "1"]]
    assert told["left"].notna().tolist() == [True, False]
    assert recording.cells[["execution", "status", "code"]].values.tolist() == [[3, "ok", "ok"]]
    assert recording.table("about").values.tolist() == [["name", '"ok"']]


def test_every_table_is_there_and_described() -> None:
    recording = Recording()
    for name, fields in FIELDS.items():
        table = recording.table(name)
        assert list(table.columns) == [field.name for field in fields] and len(table) == 0
        assert all(field.doc for field in fields)
    assert {"table", "column", "unit", "meaning"} == set(recording.describe().columns)
    assert len(recording.describe("tasks")) == len(FIELDS["tasks"])
    assert "duration [s]" in str(Recording.tasks.__doc__)
    with pytest.raises(KeyError, match="no table 'tsaks'; there are tasks"):
        recording.describe("tsaks")
    with pytest.raises(KeyError, match="there are tasks"):
        recording.table("nonsense")
    with pytest.raises(AttributeError):
        recording.nonsense  # noqa: B018


def test_who_changes_a_table_changes_no_recording() -> None:
    recording = _recording()
    for name in FIELDS:
        before, changed = recording.table(name), recording.table(name)
        for column in changed.select_dtypes("number"):
            changed.loc[:, column] = 0
            changed[column] += 1
        pd.testing.assert_frame_equal(recording.table(name), before)


def test_an_empty_recording_has_a_repr() -> None:
    recording = Recording()
    assert "No task ended" in repr(recording)
    assert len(recording.flame()) == 0
    assert "two workers" in repr(_recording())


def test_summaries_for_terminal_and_notebook() -> None:
    recording = _recording()
    lines = str(recording.summary()).splitlines()
    assert lines[0] == "two workers" and any(line.split() == ["Tasks", "2"] for line in lines)
    assert any(line.startswith("Retried") for line in lines)
    assert repr(recording.summary()).splitlines() == lines, "where no HTML is shown"
    recording.append(encode("about", {"name": ["name"], "value": ['"<script>alert(1)</script>"']}))
    html = recording._repr_html_()
    assert "<table>" in html and "&lt;script&gt;" in html and "<script>" not in html


def test_columns_grow_with_the_recording() -> None:
    recording = Recording()
    recording.append(encode("spans", {"span": ["1", "2"], "name": ["a", "b"]}))
    assert recording.spans["name"].tolist() == ["a", "b"]
    recording.append(encode("spans", {"span": ["3"], "path": ["x / y"]}))
    recording.append(encode("spans", {"span": ["4"], "name": ["a"]}))
    spans = recording.spans
    assert spans["name"].tolist() == ["a", "b", "", "a"]
    assert spans["path"].tolist() == ["", "", "x / y", ""]
    assert list(spans["name"].cat.categories) == ["a", "b", ""]


def test_many_threads_append() -> None:
    recording = Recording()
    heard: list[bytes] = []
    stop = recording.on_append(heard.append)

    def add(first: int) -> None:
        for i in range(100):
            recording.append(encode("edges", {"task": [first + i], "dependency": [0]}))

    threads = [threading.Thread(target=add, args=(first,)) for first in range(0, 800, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop()
    recording.append(encode("edges", {"task": [800], "dependency": [0]}))
    assert sorted(recording.edges["task"]) == list(range(801))
    assert len(heard) == 800 and len(recording.batches()) == 801


def test_a_failing_follower_stops_no_other() -> None:
    recording = Recording()
    heard: list[bytes] = []

    def failing(batch: bytes) -> None:
        raise RuntimeError("page is gone")

    recording.on_append(failing)
    recording.on_append(heard.append)
    for i in range(3):
        recording.append(encode("edges", {"task": [i], "dependency": [0]}))
    assert len(heard) == 3 == len(recording.edges)
    events = recording.events
    assert events["kind"].tolist() == ["lost"] and "page is gone" in events["message"][0]


def test_a_file_has_what_came_also_if_nothing_comes_any_more(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    recording = Recording()
    recording.write_to(create(path))
    recording.append(encode("edges", {"task": [1], "dependency": [2]}))
    wait_for(lambda: len(dask_insight.open(path).edges), "the batch is in the file")
    recording.append(encode("edges", {"task": [2], "dependency": [3]}))
    wait_for(lambda: len(dask_insight.open(path).edges) == 2, "so is the next one")
    recording.close()


class Full(io.BytesIO):
    """A file on a disk that is full after some bytes."""

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > 1_000:
            raise OSError(28, "No space left on device")
        return super().write(data)


def test_a_disk_that_is_full_is_told_also_if_nothing_comes_any_more() -> None:
    recording = Recording()
    recording.write_to(Writer(Full()))
    task = np.random.default_rng(0).integers(0, 2**32, 1_000)
    recording.append(encode("edges", {"task": task, "dependency": task}))
    wait_for(lambda: len(recording.events), "the file took no more")
    assert "No space left" in recording.events["message"][0]
    with pytest.raises(OSError, match="No space left"):
        recording.close()


def test_a_full_disk_stops_the_file_and_not_the_recording() -> None:
    recording = Recording()
    recording.write_to(Writer(Full()))
    for i in range(6):
        task = np.random.default_rng(i).integers(0, 2**32, 40_000)
        recording.append(encode("edges", {"task": task, "dependency": task}))
    with pytest.raises(OSError, match="No space left"):
        recording.close()
    recording.close()
    assert len(recording.edges) == 240_000
    assert "No space left" in recording.events["message"][0]


@pytest.mark.parametrize("place", ["before it is written", "as it is written"])
def test_an_interrupt_as_a_file_is_written_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    class Interrupted(io.FileIO):
        def write(self, data: Any) -> int:
            if interrupts and place == "as it is written":
                super().write(data[:10])
                raise interrupts.pop()
            return super().write(data)

    def pack(*args: Any) -> Any:
        if interrupts and place == "before it is written":
            raise interrupts.pop()
        return packed(*args)

    interrupts: list[BaseException] = []
    packed = writing._pack
    monkeypatch.setattr(writing, "_pack", pack)
    path = tmp_path / "run.dinsight"
    writer = Writer(Interrupted(path, "w"))
    writer.write(encode("edges", {"task": [1], "dependency": [2]}))
    interrupts.append(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        writer.flush()
    writer.write(encode("edges", {"task": [2], "dependency": [3]}))
    writer.close()
    opened = dask_insight.open(path)
    assert opened.edges["task"].tolist() == [1, 2] and not len(opened.events)


@pytest.mark.parametrize("last", [False, True])
def test_what_there_was_no_memory_to_write_is_told_and_what_comes_later_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: bool
) -> None:
    def pack(*args: Any) -> Any:
        if small:
            small.pop()
            raise MemoryError
        return packed(*args)

    small, packed = [True], writing._pack
    path = tmp_path / "run.dinsight"
    recording = Recording()
    recording.write_to(create(path))
    monkeypatch.setattr(writing, "_pack", pack)
    if last:
        recording.append(encode("edges", {"task": [1], "dependency": [2]}))
    else:
        recording.append(encode("edges", {"task": [1] * 200_000, "dependency": range(200_000)}))
        recording.append(encode("edges", {"task": [2], "dependency": [3]}))
        with pytest.raises(OSError, match="too little memory"):
            recording.checkpoint(path)
    with pytest.raises(OSError, match="too little memory"):
        recording.close()
    recording.close()
    opened = dask_insight.open(path)
    assert opened.edges["task"].tolist() == [2] * (not last)
    assert any("no memory to write it" in each for each in opened.events["message"]) is not last
    assert not len(recording.events), "here nothing is missing"


def test_flame_merges_lines_of_a_function_and_splits_time() -> None:
    recording = _recording()
    flame = recording.flame()
    assert flame["function"].tolist() == ["f", "g"]
    assert flame["parent"].tolist() == [-1, 0] and flame["depth"].tolist() == [0, 1]
    np.testing.assert_allclose(flame["total"], [0.7, 0.2], atol=1e-6)
    np.testing.assert_allclose(flame["self"], [0.5, 0.2], atol=1e-6)
    np.testing.assert_allclose(flame["share"], [1, 2 / 7], atol=1e-5)
    assert recording.flame(lines=True)["line"].tolist() == [1, 5, 6]


@pytest.mark.parametrize(
    ("chosen", "seconds"),
    [
        ({"prefix": "b"}, 0.2),
        ({"prefix": "c"}, 0.5),
        ({"prefix": ["b", "c"]}, 0.7),
        ({"worker": B}, 0.2),
        ({"worker": [A, B], "stop": None}, 0.7),
        ({"worker": "scheduler"}, 3.0),
        ({"worker": "scheduler", "prefix": "b"}, 0.0),
        ({"task": "('b', 0)"}, 0.2),
        ({"task": ("b", 0), "worker": "scheduler"}, 0.0),
        ({"run": 3}, 0.5),
        ({"start": 1.65}, 0.55),
        ({"start": 1.55, "stop": 1.6, "worker": B}, 0.05),
        ({"stop": 3.1}, 0.3),
    ],
)
def test_flame_of_a_part(chosen: dict[str, Any], seconds: float) -> None:
    flame = _recording().flame(**chosen)
    assert flame.loc[flame["depth"] == 0, "total"].sum() == pytest.approx(seconds, abs=1e-5)
    assert flame["self"].sum() == pytest.approx(seconds, abs=1e-5)


def test_a_function_of_a_flame_graph_has_the_line_that_took_most() -> None:
    recording = Recording()
    calls = {"stack": [0, 1, 2, 3], "parent": [NOTHING, NOTHING, 1, 0], "function": ["f", "f", "g", "g"]}
    recording.append(encode("stacks", calls | {"line": [5, 8, 30, 30], "first_line": [1, 1, 20, 20]}))
    recording.append(
        encode(
            "samples",
            {"process": ["a"] * 3, "time": [ZERO + 10] * 3, "duration": [1.0, 4.0, 5.0], "stack": [0, 1, 2]},
        )
    )
    flame = recording.flame(worker="a")
    assert flame["line"].tolist() == [8, 30] and flame["first_line"].tolist() == [1, 20]
    assert flame["total"].tolist() == pytest.approx([10, 5])
    apart = recording.flame(worker="a", lines=True)
    assert dict(zip(apart["line"], apart["total"], strict=True)) == pytest.approx({8: 9, 30: 5, 5: 1})


def test_a_slice_is_of_one_moment_though_the_recording_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = _recording()
    batch = encode("attempts", {"run": [9], "task": [0], "start": [ZERO + 1], "stop": [ZERO + 2]})

    def growing(self: Recording, table: str) -> Any:
        columns = read(self, table)
        if table == "attempts":
            recording.append(batch)
        return columns

    read = Recording.columns
    monkeypatch.setattr(Recording, "columns", growing)
    part = recording.slice(0, 10)
    monkeypatch.undo()
    assert len(part.attempts) < len(recording.attempts)


def test_slices_keep_what_overlaps() -> None:
    recording = _recording()
    part = recording.slice(1.55, 2.05)
    tasks = part.tasks
    assert tasks["key"].tolist() == ["('b', 0)"] and tasks["start"].tolist() == [1.5]
    assert sorted(part.graph["key"]) == ["('b', 0)", "a"]
    known = dict(zip(part.graph["key"], part.graph["order"] < NOTHING, strict=True))
    assert known == {"('b', 0)": True, "a": False}, "what ran at another time is no task to come"
    assert part.edges[["key", "dependency_key"]].values.tolist() == [["('b', 0)", "a"]]
    assert len(part.phases) == 1 and len(part.errors) == 0
    assert part.samples["time"].round(6).tolist() == [1.6, 1.7]
    assert part.stacks["stack"].tolist() == [0, 1, 2]
    assert part.about["name"] == "two workers"
    assert sorted(recording.slice().tasks["run"]) == [0, 1, 2, 3]
    assert recording.slice(100, 200).tasks["status"].tolist() == ["running"]


def test_a_slice_has_its_share_of_fine_metrics() -> None:
    recording = _recording()
    rows = {"worker": [A, B, A, A], "activity": ["x"] * 4, "value": [1.0, 8.0, 2.0, 4.0]}
    recording.append(encode("metrics", {"time": ZERO + np.array([2.0, 3, 4, 6]), **rows}))
    recording.append(encode("clocks", {"time": ZERO + np.array([2.0, 4, 3, 6]), "worker": [A, A, B, A]}))

    def told(part: Recording) -> list[tuple[float, float]]:
        found = part.metrics
        return list(zip(found["time"].round(6), found["value"].round(6), strict=True))

    part = recording.slice(2.5, 3.5)
    assert told(part) == [(3, 8), (3.5, 1)], "of a worker's first row nobody knows when its period began"
    assert told(part.slice(3, 3.25)) == [(3, 8), (3.25, 0.25)]
    assert told(recording.slice(2.5, 5)) == [(3, 8), (4, 1.5), (5, 2)]
    assert told(recording.slice()) == told(recording)


def test_a_slice_knows_what_stood_when_it_began() -> None:
    recording = _recording()
    rows = {"worker": [A, A, A, B, A], "name": ["x", "x", "y", "x", "x"], "value": [1, 2, 3, 4, 5]}
    moments = [ZERO + each for each in (0.3, 1.0, 0.2, 0.1, 1.8)]
    recording.append(encode("gauges", rows | {"time": moments}))
    assert recording.slice(1.55, 2.05).gauges["value"].tolist() == [2, 3, 4, 5]


def test_moments_before_a_slice_are_none_of_it() -> None:
    recording = Recording()
    told = {table.name for table in TABLES.values() if "time" in {column.name for column in table.columns}}
    told -= {"compared_memory"}
    for table in told:
        recording.append(encode(table, {"time": [1.0]}))
    before, after = (dict(between(recording.columns, *at)) for at in ((0.0, 2.0), (2.0, 3.0)))
    assert before.keys() == told
    assert after.keys() == {"gauges", "clocks"}, "as they stood when it began"


def test_a_slice_has_the_graphs_that_brought_its_tasks_or_were_taken_in_then() -> None:
    recording = _recording()
    graphs = {"submission": [0, 1, 2, 3], "time": [ZERO, ZERO + 100, ZERO + 30, np.nan]}
    recording.append(encode("submissions", {**graphs, "materialize": np.array([1, 1, 28.5, 1], "f4")}))
    assert recording.slice(1.55, 2.05).submissions["submission"].tolist() == [0, 2, 3]


def test_a_slice_of_what_is_damaged_says_so() -> None:
    recording = _recording()
    recording.lost(Gap(7, 9, "wrong checksum"))
    part = recording.slice(1.55, 2.05)
    assert part.gaps == recording.gaps and part.gaps is not recording.gaps
    assert part.events["kind"].tolist() == ["lost"]


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    table = table.astype({name: object for name in table.columns if table[name].dtype == "category"})
    return table.sort_values(list(table.columns)).reset_index(drop=True)


@pytest.mark.parametrize("packed", [False, True])
def test_saved_and_opened_again(tmp_path: Path, packed: bool) -> None:
    recording = _recording()
    path = tmp_path / "run.dinsight"
    recording.save(path)
    again = dask_insight.open(path)
    if packed:
        whole, again = again, Recording()
        for batch in whole.packed():
            again.append(batch)
    for name in TABLES:
        pd.testing.assert_frame_equal(_sorted(recording.table(name)), _sorted(again.table(name)))
    pd.testing.assert_frame_equal(_sorted(recording.tasks), _sorted(again.tasks))
    assert again.about == recording.about and again.gaps == []
    assert [each.name for each in tmp_path.iterdir()] == ["run.dinsight"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_and_pickles_tell_the_same(copied: Any) -> None:
    recording = _recording()
    recording.on_append(lambda batch: None)
    again = copied(recording)
    pd.testing.assert_frame_equal(again.tasks, recording.tasks)
    assert again.about == recording.about
    again.append(encode("about", {"name": ["name"], "value": ['"another"']}))
    assert recording.about["name"] == "two workers"


def test_a_copy_of_what_is_recorded_has_what_happened_by_now() -> None:
    with dask_insight.record(clusters=False) as recording:
        dask.delayed(sum)([1, 2]).compute(scheduler="sync")
        assert len(copy.copy(recording).tasks) == 1


def test_a_note_is_a_row_of_a_persons_own() -> None:
    recording = Recording()
    came: list[bytes] = []
    recording.on_append(came.append)
    before = time.time()
    recording.note("checkpoint", "weights saved")
    recording.note("checkpoint", "late", when=before + 5, level="warning")
    times: Any = recording.columns("events")["time"]
    assert before - 0.01 <= times[0] <= time.time() + 0.01 and times[1] == pytest.approx(before + 5, abs=0.01)
    events = recording.events
    assert events["source"].tolist() == ["program"] * 2 and events["kind"].tolist() == ["checkpoint"] * 2
    assert events["level"].tolist() == ["info", "warning"] and len(came) == 2


def test_coarse_form_keeps_every_task_and_its_joins() -> None:
    recording, coarse = _recording(), Recording()
    for batch in recording.packed(coarse=True):
        coarse.append(batch)
    unread = {"tasks": ("priority",), "samples": ("thread",), "errors": ("task", "key", "prefix")}
    for table in ("tasks", "phases", "errors", "samples"):
        left_out = ("run", "order", *unread.get(table, ()))
        columns = [name for name in recording.table(table).columns if name not in left_out]
        exact, rounded = (_sorted(each.table(table)[columns]) for each in (recording, coarse))
        for name in columns:
            if exact[name].dtype == float:
                np.testing.assert_allclose(rounded[name], exact[name], atol=1.1e-4, rtol=2.0**-9)
            else:
                assert rounded[name].tolist() == exact[name].tolist()


def test_without_pyarrow_texts_are_text_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.tables import frame

    recording = _recording()
    with_arrow = recording.tasks["key"].tolist(), recording.graph["key"].tolist()
    monkeypatch.setattr(frame, "arrow", None)
    assert (recording.tasks["key"].tolist(), recording.graph["key"].tolist()) == with_arrow


def test_a_pyarrow_that_pandas_refuses_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.tables import frame

    def refuse(*kind: Any, **more: Any) -> None:
        raise ImportError("pyarrow>=13.0.0 is required for PyArrow backed StringArray.")

    monkeypatch.setattr(pd, "StringDtype", refuse)
    assert runpy.run_path(frame.__file__, run_name=frame.__name__)["arrow"] is None


def test_ids_far_apart_are_found() -> None:
    recording = Recording()
    task = [5, 2**31, NOTHING - 1]
    recording.append(encode("graph", {"task": task[::-1], "key": ["z", "y", "x"]}))
    recording.append(encode("attempts", {"run": [1, 2, 3], "task": task, "status": ["ok"] * 3}))
    assert recording.tasks["key"].tolist() == ["x", "y", "z"]


def test_broken_utf8_is_replaced() -> None:
    recording = Recording()
    good = encode("graph", {"task": [0, 1], "key": ["abc", "de"]})
    recording.append(good.replace(b"abcde", b"ab\xe2\x82e"))
    assert recording.graph["key"].tolist() == ["ab\N{REPLACEMENT CHARACTER}", "\N{REPLACEMENT CHARACTER}e"]


def test_importing_the_package_is_light() -> None:
    import subprocess

    code = (
        "import sys, dask_insight; dir(dask_insight);"
        "print([m for m in ('numpy', 'pandas', 'bokeh', 'IPython', 'distributed', 'dask')"
        "       if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reference_of_tables_is_up_to_date() -> None:
    if not reference.TARGET.exists():
        pytest.skip("the documentation is not here")
    assert reference.TARGET.read_text(encoding="utf-8") == reference.markdown()


@pytest.mark.parametrize("gathered", [1, 3, 50_000])
def test_rows_of_texts_in_any_order(gathered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_GATHER", gathered)
    texts = ["", "one", "ü" * 3, "two words" * 20, "", "x"]
    column: Any = decode(encode("graph", {"key": texts})).columns["key"]
    for rows in ([5, 0, 3, 3, 1], [], [1, 2, 3], [4], [0, 0], list(range(6))[::-1]):
        taken: Any = columns.take(column, np.array(rows, "i8"))
        assert taken.tolist() == [texts[row] for row in rows]
    mask: Any = columns.take(column, np.array([True, False] * 3))
    assert mask.tolist() == texts[::2]
    part: Any = columns.take(column, slice(2, 4))
    assert part.tolist() == texts[2:4]


def test_long_texts_are_taken_without_a_number_for_each_of_their_bytes() -> None:
    texts = Texts.of([f"{row:04}" * 500 for row in range(10_000)])
    tracemalloc.start()
    try:
        taken = columns.take_texts(texts, np.arange(0, 10_000, 2))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken[0] == texts[0] and taken[4_999] == texts[9_998]
    assert most < 2 * len(taken.data)
