"""A bounded history: merging, compressing and dropping change neither order nor positions."""

from __future__ import annotations

import errno
import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from conftest import wait_for

import dask_insight
from dask_insight import frames, store
from dask_insight.batch import decode, encode, split
from dask_insight.columns import forget, gather, length, merge, taken_out, text
from dask_insight.history import Chunk, History, history, needed, part, spill
from dask_insight.identity import Stacks
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.session.bounded import BoundedRecording
from dask_insight.session.feed import PROTOCOL, Feed


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merges after few batches."""
    monkeypatch.setattr(history, "_BATCHES", 20)
    monkeypatch.setattr(history, "_LEFT", 5)


def _graph(first: int, count: int) -> bytes:
    tasks = list(range(first, first + count))
    keys = [f"key-{task}" for task in tasks]
    return encode("graph", {"task": tasks, "key": keys, "prefix": ["key"] * count})


def _attempts(first: int, count: int) -> bytes:
    tasks = np.arange(first, first + count)
    columns: dict[str, Any] = {"run": tasks, "task": tasks, "status": ["ok"] * count}
    return encode("attempts", columns | {"stop": 1e9 + tasks * 0.001234, "start": 1e9 + tasks * 0.001})


def _fill(recording: Recording, tasks: int, step: int = 3, first: int = 0) -> None:
    """Tasks, their attempts some steps later, and samples beside them."""
    for at in range(first, first + tasks, step):
        recording.append(_graph(at, step))
        recording.append(_attempts(at, step))
        recording.append(encode("resources", {"process": ["w"], "time": [1e9 + at], "cpu": [at % 7]}))


def _rows(data: bytes) -> dict[str, list[Any]]:
    """The first column of each table."""
    found: dict[str, list[Any]] = {}
    for packed in split(data):
        batch = decode(packed)
        columns: Any = batch.columns
        name = {"resources": "time"}.get(batch.table, "task")
        found.setdefault(batch.table, []).extend(columns[name].tolist())
    return found


def _all(recording: Any, at: int = 0, size: int = 5_000) -> tuple[dict[str, list[Any]], list[int]]:
    """Everything from a position on, and where the pieces started."""
    found: dict[str, list[Any]] = {}
    starts = []
    while (piece := recording.since(at, size)) is not None:
        starts.append(piece.start)
        assert piece.stop > piece.start
        at = piece.stop
        for table, rows in _rows(piece.data).items():
            found.setdefault(table, []).extend(rows)
    assert at == recording.end
    return found, starts


def test_what_is_merged_reads_as_before_from_any_position() -> None:
    plain, bounded = Recording(), BoundedRecording(10**6)
    for recording in (plain, bounded):
        _fill(recording, 150)
    bounded.tidy()
    assert len(list(bounded.history.batches())) < 40 < plain.end == bounded.end == 150
    for at in range(plain.end + 1):
        assert _all(bounded, at)[0] == _all(plain, at)[0]
    for table in ("attempts", "resources"):
        expected: Any = plain.columns(table)
        columns: Any = bounded.columns(table)
        for name, values in expected.items():
            assert columns[name].tolist() == pytest.approx(values.tolist(), nan_ok=True), name
    assert bounded.table("graph").equals(plain.table("graph"))
    assert bounded.history.dropped.total() == 0 and bounded.turnover == 0


def test_compressed_pieces_hold_the_same_from_any_position() -> None:
    bounded = BoundedRecording(10**6)
    _fill(bounded, 150)
    bounded.tidy()
    _fill(bounded, 30, first=150)
    for start in range(0, bounded.end + 1, 7):
        at, data = start, b""
        while (piece := bounded.since(at, 400, packed=True)) is not None:
            assert piece.start == at < piece.stop
            at = piece.stop
            data += b"".join(map(zlib.decompress, piece.packed)) + piece.data
        assert _rows(data) == _all(bounded, start)[0]
    first = bounded.since(0, 10**9, packed=True)
    assert first is not None and first.packed and first.size < len(b"".join(bounded.batches()))


def test_merging_while_more_comes_loses_nothing() -> None:
    bounded = BoundedRecording(10**6)
    at, seen = 0, list[int]()
    chance = random.Random(1)
    for first in range(0, 900, 30):
        _fill(bounded, 30, first=first)
        if chance.random() < 0.7:
            bounded.tidy()
        for _ in range(chance.randrange(4)):
            if (piece := bounded.since(at, chance.choice([1, 500, 50_000]))) is not None:
                assert piece.start == at
                at = piece.stop
                seen += _rows(piece.data).get("attempts", [])
    seen += _all(bounded, at)[0].get("attempts", [])
    assert sorted(seen) == list(range(900))


def test_the_oldest_attempts_are_dropped_and_counted_and_their_names_forgotten() -> None:
    bounded = BoundedRecording(300)
    for first in range(0, 3000, 30):
        _fill(bounded, 30, first=first)
        bounded.tidy()
    kept = bounded.history.attempts
    assert 300 <= kept <= 345
    found, starts = _all(bounded)
    assert starts[0] == 0
    assert found["attempts"] == list(range(3000 - kept, 3000))
    assert set(found["attempts"]) <= set(found["graph"]) and len(found["graph"]) < 600
    dropped = bounded.history.dropped
    assert dropped["attempts"] == 3000 - kept
    assert dropped["graph"] == 3000 - len(found["graph"])
    assert dropped["resources"] == 1000 - len(found["resources"])
    assert bounded.turnover > 5
    assert len(bounded.tasks) >= kept


def test_names_of_tasks_that_have_yet_to_run_are_kept() -> None:
    bounded = BoundedRecording(100)
    bounded.append(_graph(0, 500))
    for first in range(0, 500, 5):
        bounded.append(_attempts(first, 5))
        bounded.append(encode("resources", {"process": ["w"], "time": [float(first)]}))
        bounded.tidy()
    found, _ = _all(bounded)
    assert set(found["attempts"]) <= set(found["graph"])
    assert bounded.history.dropped["graph"] > 0


def test_no_task_waits_whose_result_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is there until the next sweep."""
    monkeypatch.setattr(history, "_SWEEP", np.inf)
    bounded = BoundedRecording(100)
    tasks = np.arange(300, dtype="u4")
    bounded.append(encode("graph", {"task": tasks, "key": [f"key-{task}" for task in tasks], "order": tasks}))
    for first in range(0, 200, 5):
        status = ["killed" if first == 10 else "ok"] * 5
        bounded.append(encode("attempts", decode(_attempts(first, 5)).columns | {"status": status}))
        _fill(bounded, 3, first=1000 + first)
        bounded.tidy()
    graph: Any = bounded.columns("graph")
    known = graph["task"].tolist()
    ended = set(known) - set(bounded.columns("attempts")["task"].tolist()) - set(range(200, 300))
    assert len(ended) > 50 and set(tasks.tolist()) <= set(known)
    waiting = {task for task, order in zip(known, graph["order"].tolist(), strict=True) if order != NOTHING}
    assert waiting & ended == set(range(10, 15)) and set(range(200, 300)) <= waiting
    orders = dict(zip(known, graph["order"].tolist(), strict=True))
    assert all(orders[task] == task for task in waiting if task < 300)
    assert graph["key"].tolist()[:300] == [f"key-{task}" for task in tasks]


def test_to_drop_a_part_reads_no_other_whose_tasks_do_not_wait_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    columns = Chunk.columns

    def counted(chunk: Chunk, only: Any = None) -> Any:
        if only == {"task", "order"}:
            read[-1] += 1
        return columns(chunk, only)

    drop = History._drop

    def dropped(kept: History) -> None:
        read.append(0)
        drop(kept)

    # Never swept: nothing joins them.
    monkeypatch.setattr(history, "_SWEEP", np.inf)
    monkeypatch.setattr(Chunk, "columns", counted)
    monkeypatch.setattr(History, "_drop", dropped)
    bounded = BoundedRecording(60)
    # Beside the others one task that ends at last.
    bounded.append(encode("graph", {"task": [5000], "order": [0]}))
    for first in range(0, 900, 30):
        _fill(bounded, 30, first=first)
        bounded.tidy()
    assert len(read) > 10 and max(read) < 6
    bounded.append(_attempts(5000, 1))
    for first in range(900, 1200, 30):
        _fill(bounded, 30, first=first)
        bounded.tidy()
    graph: Any = bounded.columns("graph")
    told = dict(zip(graph["task"].tolist(), graph["order"].tolist(), strict=True))
    there = set(np.asarray(bounded.columns("attempts")["task"]).tolist())
    assert 5000 not in there and told[5000] == NOTHING
    assert {task for task, order in told.items() if order != NOTHING} <= there


def test_names_that_nobody_will_need_do_not_add_up() -> None:
    bounded = BoundedRecording(100)
    for first in range(0, 5000, 50):
        bounded.append(_graph(10_000 + first, 50))
        _fill(bounded, 9, first=first)
        bounded.tidy()
    found, _ = _all(bounded)
    # Those that came since the last sweep, or with attempts that are kept, come on top.
    assert len(found["graph"]) < 100 * history._NAMES + 900


def _brought(first: int, count: int, submission: int, span: str = "", state: str = "") -> bytes:
    """Tasks that a submission brought."""
    columns: dict[str, Any] = {"task": list(range(first, first + count)), "submission": [submission] * count}
    return encode("graph", columns | {"span": [span] * count, "state": [state] * count})


def test_of_names_that_are_too_many_those_of_the_graph_that_runs_are_kept() -> None:
    bounded = BoundedRecording(100)
    bounded.append(_brought(0, 450, 1))
    bounded.append(_brought(1000, 300, 0))
    bounded.append(_brought(2000, 100, 1, state="memory"))
    for task in range(450):
        bounded.append(_attempts(task, 1))
        bounded.append(encode("resources", {"process": ["w"], "time": [float(task)]}))
        bounded.tidy()
        graph: Any = bounded.columns("graph")
        attempts: Any = bounded.columns("attempts")
        assert set(attempts["task"].tolist()) <= set(graph["task"].tolist())
    dropped = set(range(1000, 1300)) - set(graph["task"].tolist())
    assert dropped and max(dropped) == 999 + len(dropped), "the oldest of the graph that does not run"
    assert not set(range(2000, 2100)) & set(graph["task"].tolist()), "they had ended before"


def test_a_task_that_runs_again_keeps_its_name() -> None:
    bounded = BoundedRecording(60)
    bounded.append(_brought(5000, 1, 0))
    bounded.append(_attempts(5000, 1))
    for first in range(0, 900, 30):
        _fill(bounded, 30, first=first)
        bounded.append(encode("running", {"run": [first], "task": [5000], "start": [1e9 + first]}))
        bounded.tidy()
    assert 5000 in np.asarray(bounded.columns("graph")["task"])
    assert 5000 not in np.asarray(bounded.columns("attempts")["task"])


def test_submissions_and_spans_go_with_the_last_of_their_tasks() -> None:
    bounded = BoundedRecording(100)
    names = {"span": ["outer", "unused"], "name": ["outer", "unused"], "parent": ["", ""]}
    bounded.append(encode("spans", names | {"path": names["name"]}))
    # A graph without a task, and one whose task has yet to run.
    bounded.append(encode("submissions", {"submission": [9000, 9001], "code": ["known()", "slow()"]}))
    bounded.append(_brought(9001, 1, 9001, "slow"))
    for number in range(600):
        bounded.append(encode("submissions", {"submission": [number], "code": [f"x{number}.compute()"]}))
        span = {"span": [f"s{number}"], "name": ["inner"], "parent": ["outer"], "path": ["outer / inner"]}
        bounded.append(encode("spans", span))
        bounded.append(_brought(3 * number, 3, number, f"s{number}"))
        bounded.append(_attempts(3 * number, 3))
        bounded.tidy()
    graph: Any = bounded.columns("graph")
    submissions: Any = bounded.columns("submissions")
    spans: Any = bounded.columns("spans")
    numbers = submissions["submission"].tolist()
    assert set(graph["submission"].tolist()) <= set(numbers) and len(numbers) < 150
    assert 9001 in numbers and 9000 not in numbers
    assert submissions["code"].tolist()[1:] == [f"x{number}.compute()" for number in numbers[1:]]
    assert {f"s{number}" for number in numbers[1:]} | {"outer"} >= set(spans["span"].tolist())
    assert {*graph["span"].tolist(), "outer"} - {"slow"} <= set(spans["span"].tolist())
    dropped = bounded.history.dropped
    assert dropped["submissions"] == 602 - len(numbers) and dropped["spans"] == 602 - len(spans["span"].codes)
    # Nor are names of what has gone kept beside what is left.
    assert all(
        len(chunk.columns({"span"})["span"].names) <= chunk.rows
        for table in ("graph", "spans")
        for chunk in bounded.history.rows(table).chunks
    )


def test_functions_and_parts_go_with_the_last_task_of_their_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the newest, whose names may come again."""
    monkeypatch.setattr(needed, "_RETURNING", 20)
    bounded = BoundedRecording(100)
    # A task that has yet to run.
    waits = {"task": [9000], "prefix": ["waits"], "group": ["waits-1"]}
    for number in range(600):
        name, group = f"n{number}", f"n{number}-{number}"
        tasks = list(range(3 * number, 3 * number + 3))
        graph = {"task": tasks, "prefix": [name] * 3, "group": [group] * 3}
        names, groups = [name], [group]
        if not number:
            graph = {each: values + waits[each] for each, values in graph.items()}
            names, groups = [name, "waits"], [group, "waits-1"]
        bounded.append(encode("graph", graph))
        bounded.append(encode("functions", {"prefix": names, "function": names}))
        bounded.append(encode("fused", {"group": groups, "part": names}))
        bounded.append(_attempts(3 * number, 3))
        bounded.tidy()
    graph = bounded.columns("graph")
    for table, column, told in (("functions", "prefix", "function"), ("fused", "group", "part")):
        kept: Any = bounded.columns(table)
        names, used = kept[column].tolist(), set(graph[column].tolist())
        assert used <= set(names) and len(used) < len(names) < 150
        assert [name.partition("-")[0] for name in names] == kept[told].tolist()
        others = [int(name.partition("-")[0][1:]) for name in names if name not in used]
        first = min(int(name.partition("-")[0][1:]) for name in used if name[0] == "n")
        assert others[-20:] == list(range(first - 20, first)), "the newest of those without a task"
        assert bounded.history.dropped[table] == 601 - len(names)


def test_rows_that_later_ones_have_replaced_go_and_are_no_loss() -> None:
    bounded = BoundedRecording(60)
    for first in range(0, 900, 30):
        _fill(bounded, 30, first=first)
        told = {"worker": ["a", f"b{first}"], "threads": [first, 1]}
        bounded.append(encode("workers", told))
        bounded.append(encode("cells", {"execution": [first], "status": ["running"]}))
        bounded.append(encode("cells", {"execution": [first], "status": ["ok"]}))
        bounded.tidy()
    workers: Any = bounded.columns("workers")
    last = dict(zip(workers["worker"].tolist(), workers["threads"].tolist(), strict=True))
    assert last == {"a": 870} | {f"b{first}": 1 for first in range(0, 900, 30)}
    assert workers["worker"].tolist().count("a") < 10
    cells: Any = bounded.columns("cells")
    final = dict(zip(cells["execution"].tolist(), cells["status"].tolist(), strict=True))
    assert set(final.values()) == {"ok"} and len(final) == 30 and len(cells["execution"]) < 40
    assert not bounded.history.dropped["workers"] and not bounded.history.dropped["cells"]


def test_of_what_workers_tell_of_themselves_the_last_is_kept() -> None:
    """A number that does not change is told once, however long ago."""
    bounded = BoundedRecording(60)
    for worker in ("a", "gone"):
        told = {"worker": [worker] * 2, "name": ["size", "queue"], "time": [0.0] * 2, "value": [7.0, 0.0]}
        bounded.append(encode("gauges", told))
    bounded.append(encode("workers", {"worker": ["gone"], "left": [1.0]}))
    for first in range(0, 900, 30):
        _fill(bounded, 30, first=first)
        told = {"worker": ["a"], "name": ["queue"], "time": [float(first)], "value": [float(first)]}
        bounded.append(encode("gauges", told))
        bounded.tidy()
    gauges: Any = bounded.columns("gauges")
    rows = list(zip(*(gauges[name].tolist() for name in ("worker", "name", "value")), strict=True))
    assert rows[0] == ("a", "size", 7.0) and {worker for worker, _, _ in rows} == {"a"}
    values = [value for _, name, value in rows if name == "queue"]
    assert values == sorted(values) and values[-1] == 870 and 1 < len(values) < 12


def test_workers_that_have_left_go_with_the_last_that_names_them() -> None:
    bounded = BoundedRecording(100)
    for number in range(500):
        name = f"w{number}"
        bounded.append(encode("workers", {"worker": [name], "threads": [1], "left": [np.nan]}))
        ran = decode(_attempts(5 * number, 5)).columns
        bounded.append(encode("attempts", ran | {"worker": [name] * 5}))
        bounded.append(encode("workers", {"worker": [name], "threads": [1], "left": [1e9 + number]}))
        bounded.append(encode("workers", {"worker": ["stays"], "threads": [1], "left": [np.nan]}))
        bounded.tidy()
    kept, attempts = (set(bounded.columns(table)["worker"].tolist()) for table in ("workers", "attempts"))
    assert attempts | {"stays"} <= kept
    # Those that left since the sweep before the last come on top.
    assert len(kept) < 3 * len(attempts) < 500
    assert bounded.history.dropped["workers"] >= 500 - len(kept)


def test_what_has_no_attempts_is_bounded_too() -> None:
    bounded = BoundedRecording(50)
    for second in range(2000):
        times = 1e9 + second + np.random.default_rng(second).random(20)
        bounded.append(encode("resources", {"process": [f"w{n}" for n in range(20)], "time": times}))
        bounded.tidy()
    assert bounded.history.size < 50 * history._BYTES_OF_ATTEMPT + 30_000
    assert bounded.history.dropped["resources"] > 10_000


def test_who_stands_in_what_was_dropped_begins_anew() -> None:
    bounded = BoundedRecording(60)
    _fill(bounded, 30)
    for first in range(30, 900, 30):
        _fill(bounded, 30, first=first)
        bounded.tidy()
    piece = bounded.since(7, 10**9)
    assert piece is not None and piece.start == 0 and piece.stop == bounded.end


def test_a_page_that_keeps_too_much_begins_anew() -> None:
    bounded = BoundedRecording(150)
    sent: list[dict[str, Any]] = []
    feed = Feed(bounded, lambda message, buffers: sent.append(message))
    feed.handle({"type": "hello", "page": "a", "protocol": PROTOCOL, "visible": True})
    for first in range(0, 1500, 30):
        _fill(bounded, 30, first=first)
        bounded.tidy()
        while feed.tick().sent:
            feed.handle({"type": "ack", "page": "a", "at": sent[-1].get("to")})
    data = [message for message in sent if message["type"] == "data"]
    anew = [message for message in data if message["from"] == 0]
    assert 2 <= len(anew) < len(data) / 2
    at = 0
    for message in data:
        assert message["from"] in (0, at)
        at = message["to"]


def test_the_newest_batches_are_left_as_they_are_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_LEFT", 32)
    kept = History(1000)
    for first in range(60):
        kept.add("events", encode("events", {"message": [f"{first}".zfill(60_000)]}))
    assert kept.size > 60 * 60_000
    kept.tidy()
    assert (kept.merged, kept.end, len(kept._parts)) == (28, 60, 1)


def test_a_batch_that_cannot_be_read_is_counted() -> None:
    kept = History(100)
    good = _attempts(0, 2)
    kept.add("attempts", good[: len(good) // 2] + b"\x00" * 40)
    for first in range(30):
        kept.add("attempts", _attempts(first, 1))
    kept.tidy()
    assert kept.dropped["attempts"] == 2


def test_stacks_that_no_sample_has_any_more_are_forgotten_and_none_that_is_needed() -> None:
    recording = BoundedRecording(120)
    recording.identity.stacks = Stacks(most=100)
    chains: dict[int, tuple[str, ...]] = {}
    for at in range(1500):
        chain = ("main", f"common-{at % 3}", f"once-{at}", f"leaf-{at}")
        frames = {"parent": [NOTHING, 0, 1, 2], "function": chain, "file": ["a.py"] * 4}
        ids, new = recording.identity.stacks.absorb({**frames, "line": [1] * 4, "first_line": [1] * 4})
        assert new is not None
        recording.append(new)
        chains[int(ids[-1])] = chain
        times = {"time": [1e9 + at], "duration": [0.01], "stack": ids[-1:], "run": [at]}
        recording.append(encode("samples", times))
        recording.append(_graph(at, 1))
        recording.append(_attempts(at, 1))
        recording.tidy()
    stacks: Any = recording.columns("stacks")
    functions = dict(zip(stacks["stack"].tolist(), stacks["function"].tolist(), strict=True))
    parents = dict(zip(stacks["stack"].tolist(), stacks["parent"].tolist(), strict=True))
    samples: Any = recording.columns("samples")
    assert 100 < len(samples["stack"]) < 1000
    for stack in samples["stack"].tolist():
        chain, here = (), stack
        while here != NOTHING:
            chain, here = (functions[here], *chain), parents[here]
        assert chain == chains[stack]
    assert len(functions) < 2.5 * len(samples["stack"]) + 300, "of 3,000 that there were"


def test_texts_are_those_of_the_rows_beside_them_however_late_they_are_looked_at() -> None:
    recording = BoundedRecording(30)
    _fill(recording, 60)
    recording.tidy()
    graph: Any = recording.columns("graph")
    before = graph["task"].tolist()
    _fill(recording, 200, first=60)
    recording.tidy()
    assert recording.history.dropped["attempts"] > 0
    assert [f"key-{task}" for task in before] == graph["key"].tolist()
    assert graph["task"].tolist() == before and set(graph) == {*graph} == set(dict(graph))
    with pytest.raises(KeyError):
        graph["no such column"]


def test_columns_read_the_same_whichever_are_put_together_and_whatever_was_forgotten() -> None:
    recording, plain = BoundedRecording(1_000), Recording()
    for each in (recording, plain):
        _fill(each, 90)
        each.append(encode("graph", {"task": [90]}))
    recording.tidy()
    assert recording.history.rows("attempts").chunks and recording.history.rows("attempts").tail
    columns, expected = recording.columns("attempts"), plain.columns("attempts")
    for ask in (
        lambda: gather(columns, ("start", "done")),
        lambda: forget(columns),
        lambda: [taken_out(columns, name) for name in ("run", "stop")],
        lambda: None,
    ):
        ask()
        for name in ("stop", "run", "done", "start"):
            np.testing.assert_array_equal(columns[name], expected[name])
    graph = recording.columns("graph")
    for known in (False, True):
        told = [text(graph, "key", row) for row in (0, 40, 89, 90)]
        assert told == [text(plain.columns("graph"), "key", row) for row in (0, 40, 89, 90)]
        assert told == ["key-0", "key-40", "key-89", ""]
        assert known or graph["key"].tolist()[89:] == ["key-89", ""]


def test_columns_that_no_batch_has_take_no_memory_and_read_as_missing() -> None:
    parts = [decode(encode("attempts", {"run": [1, 2]})), decode(encode("attempts", {"run": [3]}))]
    columns: Any = merge("attempts", parts, 3)
    assert columns["run"].tolist() == [1, 2, 3] and columns["worker"].tolist() == ["", "", ""]
    assert np.isnan(columns["start"]).all() and len(columns["start"]) == 3
    assert columns["start"].strides == columns["worker"].codes.strides == (0,)
    # One that comes later is missing in the rows before.
    parts.append(decode(encode("attempts", {"run": [4], "worker": ["a"], "start": [5.0]})))
    columns = merge("attempts", parts, 4)
    assert columns["worker"].tolist() == ["", "", "", "a"]
    np.testing.assert_array_equal(columns["start"], [np.nan, np.nan, np.nan, 5.0])


def test_to_ask_what_columns_there_are_and_how_many_rows_reads_none() -> None:
    recording = BoundedRecording(1_000)
    _fill(recording, 60)
    recording.tidy()
    columns: Any = recording.columns("attempts")
    assert "start" in columns and "no such column" not in columns and {"run", "stop"} <= columns.keys()
    assert length(columns) == 60 and not columns._known
    taken_out(columns, "start")
    assert "start" not in columns._known


def test_of_a_table_that_grows_those_columns_are_read_that_somebody_looks_at() -> None:
    recording = BoundedRecording(1_000)
    _fill(recording, 60)
    recording.tidy()
    read: list[set[str]] = []

    def noted(data: Any, only: Any = None) -> Any:
        read.append(set(only))
        return decode(data, only)

    assert recording.columns("attempts")["start"][0] == 1e9
    _fill(recording, 30, first=60)
    recording.tidy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part, "decode", noted)
        columns = recording.columns("attempts")
        assert len(np.asarray(columns["start"])) == 90
        # A moment is kept as what is between it and another.
        assert read and all(names == {"start", "stop"} for names in read)
        read.clear()
        assert len(np.asarray(columns["task"])) == 90
        assert read and all(names == {"task"} for names in read)


def test_what_a_recording_in_the_making_merges_reads_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_FRESH", 8_000)
    monkeypatch.setattr(history, "_PIECE", 4_000)
    made, left = Recording(), Recording()
    made.on_ask(lambda: None)
    chance = random.Random(5)
    for at in range(0, 900, 3):
        for recording in (made, left):
            _fill(recording, 3, first=at)
        if chance.random() < 0.1:
            made.columns(chance.choice(["graph", "attempts", "resources"]))
    wait_for(lambda: not made.history.due and made._merging is None, "the merging of what is old")
    assert left.history.merged == 0 and left.history.size == made.size == left.size
    assert made.history.merged > 0 and made.history.size < 12_000 + made.size / 4
    for table in ("graph", "attempts", "resources", "events"):
        told, wanted = made.columns(table), left.columns(table)
        for name, values in wanted.items():
            np.testing.assert_array_equal(told[name].tolist(), values.tolist(), f"{table}.{name}")
    for at in (0, 1, 100, made.history.merged - 1, made.end - 3):
        assert _all(made, at)[0] == _all(left, at)[0]
    assert made.end == left.end and len(made.batches()) < len(left.batches())


def _long(monkeypatch: pytest.MonkeyPatch, path: Path | None = None) -> tuple[Recording, int]:
    """A recording in the making that memory is too small for, and how many transfers it has, of 26 MB."""
    monkeypatch.setattr(store, "_FRESH", 2**20)
    monkeypatch.setattr(history, "_IN_MEMORY", 2**21)
    made = Recording()
    made.on_ask(lambda: None)
    if path is not None:
        made.write_to(frames.create(path))
    rows, step = 80 * 2**14, 2**14
    for first in range(0, rows, step):
        sizes = np.random.default_rng(first).random((2, step))
        columns = {"transfer": np.arange(first, first + step), "nbytes": sizes[0], "compressed": sizes[1]}
        made.append(encode("transfers", columns))
        if (merging := made._merging) is not None:
            merging.join()
    return made, rows


def test_what_is_too_much_for_memory_goes_to_the_disk_and_reads_as_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made, rows = _long(monkeypatch)
    assert made.size > 20 * 2**20
    assert made.history.size < 2**21 + 2**20 + 2 * history._PIECE
    assert made.history._spilled > 1 and made.history.merged
    made.save(tmp_path / "run.dinsight")
    for recording in (made, dask_insight.open(tmp_path / "run.dinsight")):
        columns: Any = recording.columns("transfers")
        np.testing.assert_array_equal(columns["transfer"], np.arange(rows))
    at, found = 0, 0
    while (piece := made.since(at, 10**6, packed=True)) is not None:
        batches = b"".join((*map(zlib.decompress, piece.packed), piece.data))
        found += sum(decode(batch).rows for batch in split(batches))
        at = piece.stop
    assert found == rows


def test_what_the_disk_does_not_take_stays_in_memory_and_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Full(spill.OwnFile):
        """On a file system with room for a megabyte."""

        def write(self, data: Any, /) -> int:
            if self.tell() > 2**20:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data[: 2**16])

    monkeypatch.setattr(spill, "OwnFile", Full)
    monkeypatch.delattr(os, "pread", raising=False)
    made, rows = _long(monkeypatch)
    events: Any = made.columns("events")
    assert events["message"].tolist() == [
        "no temporary folder takes more, the recording goes on in memory: [Errno 28] No space left on device"
    ]
    np.testing.assert_array_equal(made.columns("transfers")["transfer"], np.arange(rows))


def test_what_is_too_much_for_memory_goes_to_a_disk_that_somebody_chose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To the next where one takes no more: Dask's, the variable's, that of the file, the system's."""
    asked: list[str] = []
    temporary = spill.TemporaryFile

    def begun(**options: Any) -> Any:
        name = Path(options["dir"]).name if options["dir"] else "the system's"
        asked.append(name)
        if name == "gone":
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return temporary(**options | {"dir": tmp_path})

    class Small(spill.OwnFile):
        """On a disk that may have room for a megabyte."""

        def __init__(self, number: int, mode: str) -> None:
            super().__init__(number, mode)
            self._room = 2**20 if asked[-1] == "run" else 2**40

        def write(self, data: Any, /) -> int:
            self._room -= len(data)
            if self._room < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(data)

    (tmp_path / "run").mkdir()
    monkeypatch.setattr(spill, "TemporaryFile", begun)
    monkeypatch.setattr(spill, "OwnFile", Small)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "variable"))
    for others in ("TEMP", "TMP"):
        monkeypatch.delenv(others, raising=False)
    with dask.config.set({"temporary-directory": str(tmp_path / "dask")}):
        _long(monkeypatch)
    assert asked == ["dask"]
    asked.clear()
    with dask.config.set({"temporary-directory": None}):
        _long(monkeypatch)
        assert asked == ["variable"]
        asked.clear()
        monkeypatch.delenv("TMPDIR")
        monkeypatch.setenv("TEMP", str(tmp_path / "of Windows"))
        _long(monkeypatch, tmp_path / "elsewhere.dinsight")[0].close()
        assert asked == ["of Windows"]
        asked.clear()
        monkeypatch.delenv("TEMP")
        monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
        made, rows = _long(monkeypatch, tmp_path / "run" / "run.dinsight")
    assert asked == ["gone", "run", "the system's"]
    assert made.columns("events")["message"].tolist() == []
    np.testing.assert_array_equal(made.columns("transfers")["transfer"], np.arange(rows))
    made.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_was_forked_off_reads_and_writes_nothing_to_the_disk() -> None:
    kept = spill.Spill()
    first = kept.add(b"first")
    if (child := os.fork()) == 0:
        try:
            with pytest.raises(OSError, match="another process"):
                kept.add(b"child")
            os._exit(0 if first.read() == b"first" else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert kept.add(b"second").read() == b"second" and first.read() == b"first"


def test_what_is_put_away_takes_little_and_reads_as_before() -> None:
    made, opened = Recording(), Recording()
    end = made.on_ask(lambda: None)
    for recording in (made, opened):
        _fill(recording, 3_000)
    damaged = _graph(3_000, 3)
    made.append(damaged[: len(damaged) // 2] + b"\x00" * 40)
    # Told once, here.
    made.columns("graph")
    frame = {"parent": [NOTHING], "function": ["f"], "file": ["f.py"], "line": [1], "first_line": [1]}
    made.identity.stacks.absorb(frame)
    tables = ("graph", "attempts", "resources", "tasks", "events")
    told = {table: made.table(table) for table in tables}
    summary, findings = repr(made.summary()), repr(made.findings())
    made.put_away()
    assert not made.history.merged, "it is still recorded"
    end()
    for recording in (made, opened):
        recording.put_away()
    wait_for(lambda: made._merging is None, "the merging of all")
    assert opened.history.merged == 0, "merging would lose what a later version has written"
    assert made.history.merged == made.end and made.history.size < made.size / 4
    assert not made._merged and not made._answers._made and not made.identity.stacks._ids
    for table in tables:
        pd.testing.assert_frame_equal(made.table(table), told[table])
    assert (repr(made.summary()), repr(made.findings())) == (summary, findings)
    made.note("later", "a row that comes when it has been put away")
    assert made.events["kind"].tolist()[-1] == "later"


@pytest.mark.parametrize("read_before", [False, True])
def test_what_cannot_be_read_is_told_once_when_it_is_merged(read_before: bool) -> None:
    made = Recording()
    end = made.on_ask(lambda: None)
    good = _attempts(0, 2)
    made.append(good[: len(good) // 2] + b"\x00" * 40)
    made.append(_attempts(2, 1))
    if read_before:
        made.columns("attempts")
    end()
    made.put_away()
    wait_for(lambda: made._merging is None, "the merging of all")
    assert len(made.columns("attempts")["task"]) == 1
    assert made.columns("events")["kind"].tolist() == ["lost"] and len(made.gaps) == 1


def test_a_recording_that_ends_before_much_has_come_merges_nothing() -> None:
    made = Recording()
    made.on_ask(lambda: None)
    _fill(made, 3_000)
    assert made.history.merged == 0 and made.end == len(made.batches())


def test_merging_that_fails_is_told_once_and_tried_again_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[History] = []

    def fail(history: History) -> None:
        tries.append(history)
        raise MemoryError("no room")

    uncaught: list[Any] = []
    monkeypatch.setattr("threading.excepthook", uncaught.append)
    monkeypatch.setattr(History, "tidy", fail)
    monkeypatch.setattr(store, "_FRESH", 0)
    monkeypatch.setattr(history, "_PIECE", 1)
    made = Recording()
    made.on_ask(lambda: None)
    for at in range(100):
        made.append(_graph(at, 1))
        if (merging := made._merging) is not None:
            merging.join()
    events: Any = made.columns("events")
    assert not uncaught and events["kind"].tolist() == ["lost"]
    assert events["message"].tolist() == [
        "merging what is old failed, it stays as it came: MemoryError: no room"
    ]
    assert made.columns("graph")["task"].tolist() == list(range(100))
    assert len(tries) == 1
    later = store.monotonic() + store._REST
    monkeypatch.setattr(store, "monotonic", lambda: later)
    monkeypatch.setattr(History, "tidy", lambda history: tries.append(history))
    made.append(_graph(100, 1))
    wait_for(lambda: made._merging is None, "the merging that goes on")
    assert len(tries) == 2 and made.columns("events")["kind"].tolist() == ["lost"]


def test_the_end_of_the_process_waits_for_merging_that_goes_on_and_no_other_end_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, gate = Event(), Event()
    at_exit: list[Callable[[], None]] = []

    def slow(_: History) -> None:
        begun.set()
        gate.wait(60)

    def joined(timeout: float) -> None:
        gate.set()
        join(timeout)

    monkeypatch.setattr(store, "atexit", SimpleNamespace(register=at_exit.append, unregister=at_exit.remove))
    monkeypatch.setattr(History, "tidy", slow)
    monkeypatch.setattr(store, "_FRESH", 0)
    monkeypatch.setattr(history, "_PIECE", 1)
    made = Recording()
    made.on_ask(lambda: None)
    _fill(made, 3)
    assert begun.wait(60) and made._merging is not None
    join = made._merging.join
    monkeypatch.setattr(made._merging, "join", joined)
    made.close()
    assert not gate.is_set()
    (end,) = at_exit
    end()
    assert made._merging is None and not at_exit


def test_merging_goes_on_where_its_thread_could_not_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Thread.start

    def refuse(_: Thread) -> None:
        monkeypatch.setattr(Thread, "start", start)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    monkeypatch.setattr(store, "_FRESH", 2_000)
    monkeypatch.setattr(history, "_PIECE", 1_000)
    made = Recording()
    made.on_ask(lambda: None)
    _fill(made, 300)
    assert Thread.start is start
    wait_for(lambda: made.history.merged, "the merging of what is old")
