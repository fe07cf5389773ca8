"""Batches: bytes to columns and back."""

from __future__ import annotations

import contextlib
import hashlib
import math
import zlib
from time import process_time
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_insight.batch import (
    BatchError,
    Symbols,
    Texts,
    announced,
    decode,
    default,
    encode,
    encoder,
    split,
    table_of,
)
from dask_insight.schema import TABLES, Column

_TEXT = st.text(st.characters(codec=None), max_size=30)
_SECONDS = st.floats(-2.0, 4e9) | st.floats(1.7e9, 1.7e9 + 100) | st.just(math.nan)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "f64": st.floats(),
    "f32": st.floats(width=32),
    "u32": st.integers(0, 2**32 - 1),
    "u8": st.integers(0, 255),
    "time": _SECONDS | st.sampled_from([math.inf, -math.inf, 1e300]),
    "sym": _TEXT | st.sampled_from(["", "a", "tcp://127.0.0.1:1"]),
    "str": _TEXT,
}


@st.composite
def _tables(draw: st.DrawFn) -> tuple[str, int, dict[str, list[Any]]]:
    table = TABLES[draw(st.sampled_from(sorted(TABLES)))]
    rows = draw(st.integers(0, 40))
    columns = draw(st.lists(st.sampled_from(table.columns), min_size=1, unique=True))
    return (
        table.name,
        rows,
        {
            column.name: draw(st.lists(_VALUES[column.kind], min_size=rows, max_size=rows))
            for column in columns
        },
    )


@settings(deadline=None)
@given(_tables(), st.booleans())
def test_round_trip(given_table: tuple[str, int, dict[str, list[Any]]], short: bool) -> None:
    table, rows, columns = given_table
    data = encode(table, columns, short=short)
    batch = decode(data)
    assert (batch.table, batch.rows) == (table, rows) == announced(data)
    kinds = {column.name: column.kind for column in TABLES[table].columns}
    assert batch.columns.keys() == columns.keys()
    for name, values in columns.items():
        _assert_same(kinds[name], values, batch.columns[name])


def _assert_same(kind: str, wanted: list[Any], got: Any) -> None:
    if kind in ("sym", "str"):
        clean = [text.encode("utf-8", "backslashreplace").decode() for text in wanted]
        assert got.tolist() == clean
    elif kind == "time":
        micros = np.rint(np.array(wanted, "f8") * 1e6)
        micros[~(np.abs(micros) < 2**53)] = np.nan
        np.testing.assert_array_equal(np.rint(got * 1e6), micros)
    else:
        np.testing.assert_array_equal(got, np.array(wanted, got.dtype))


@settings(deadline=None)
@given(
    st.lists(st.floats(1.7e9, 1.7e9 + 3), min_size=1, max_size=30),
    st.lists(st.floats(0, 0.5), min_size=30, max_size=30),
    st.sampled_from([1, 10, 100, 1000]),
)
def test_coarse_times_are_off_by_half_a_unit_at_most(done: list[float], took: list[float], unit: int) -> None:
    stop = np.array(done) - took[: len(done)]
    columns = {"done": done, "stop": stop}
    batch = decode(encode("attempts", columns, units={"done": unit, "stop": unit}))
    for name, wanted in columns.items():
        got: Any = batch.columns[name]
        assert np.abs(got - wanted).max() <= unit * 0.5e-6 + 2e-6


def test_a_time_that_follows_another_is_stored_as_their_difference() -> None:
    start = 1.75e9 + np.cumsum(np.random.default_rng(1).integers(1, 2**20, 5_000)) / 2**20
    near = encode("phases", {"start": start, "stop": start + 2.0**-10})
    packed = {column["name"]: column for column in msgpack.unpackb(near)["columns"]}
    assert packed["stop"]["since"] == "start"
    assert len(set(packed["stop"]["data"][:5_000])) <= 3


@pytest.mark.parametrize("short", [True, False])
def test_the_shorter_form_of_times_is_found_by_some_rows_while_it_is_recorded(
    monkeypatch: pytest.MonkeyPatch, short: bool
) -> None:
    looked: list[int] = []

    def spread(steps: Any) -> float:
        looked.append(len(steps))
        return 0.0

    monkeypatch.setattr(encoder, "spread", spread)
    start = np.arange(2_000.0)
    start[::2] = np.nan
    encode("phases", {"start": start, "stop": start}, short=short)
    assert looked[0] == looked[1]
    assert looked[0] == 1_000 if short else 100 < looked[0] < 256, "each takes a logarithm"


def test_times_far_apart_keep_their_microseconds() -> None:
    times = [0.0, 1.75e9 + 0.123_456, math.nan, 12.5, 4e9]
    got: Any = decode(encode("memory", {"time": times})).columns["time"]
    np.testing.assert_array_equal(np.rint(got * 1e6), np.rint(np.array(times) * 1e6))


def test_of_a_batch_only_some_columns_can_be_read() -> None:
    attempts = {"run": [1, 2], "status": ["ok", "erred"], "stop": [2.0, 3.0], "start": [1.0, 2.0]}
    found = decode(encode("attempts", attempts), only=("status", "nbytes"))
    assert found.rows == 2 and list(found.columns) == ["status"]
    assert list(found.columns["status"].tolist()) == ["ok", "erred"]
    assert decode(encode("attempts", attempts), only=()).rows == 2


def test_symbols_beyond_one_and_two_bytes() -> None:
    for count in (256, 257, 65_536, 65_537):
        names = [f"n{i}" for i in range(count)]
        column: Any = decode(encode("spans", {"span": names})).columns["span"]
        assert column.tolist() == names


def test_encoded_texts_and_symbols_can_be_encoded_again() -> None:
    columns = {"key": ["", "ж", "x" * 10_000], "prefix": ["a", "b", "a"]}
    once = decode(encode("graph", columns))
    assert isinstance(once.columns["key"], Texts) and isinstance(once.columns["prefix"], Symbols)
    assert encode("graph", once.columns) == encode("graph", columns)


def test_a_part_of_a_column_of_texts() -> None:
    texts: Any = decode(encode("graph", {"key": ["one", "two", "three"]})).columns["key"]
    part = Texts(texts.offsets[1:], texts.data)
    again: Any = decode(encode("graph", {"key": part})).columns["key"]
    assert again.tolist() == ["two", "three"]


def test_wrong_columns_are_refused() -> None:
    with pytest.raises(KeyError, match="no column colour"):
        encode("graph", {"colour": ["red"]})
    with pytest.raises(ValueError, match="differ in length"):
        encode("graph", {"task": [1, 2], "key": ["a"]})
    with pytest.raises(KeyError):
        encode("nothing", {})


def test_unknown_tables_columns_and_kinds_are_left_out() -> None:
    packed = msgpack.unpackb(encode("edges", {"task": [1, 2], "dependency": [3, 4]}))
    packed["columns"].append({"name": "colour", "kind": "rgb", "data": b"\0" * 8})
    packed["columns"].append({"name": "shade", "kind": "rgb", "since": "colour", "data": b"\0" * 8})
    packed["columns"][1]["kind"] = "u64"
    batch = decode(msgpack.packb(packed))
    assert list(batch.columns) == ["task"] and batch.rows == 2
    packed["table"] = "from the future"
    assert decode(msgpack.packb(packed)).columns == {}


def test_known_columns_may_refer_to_unknown_ones() -> None:
    count = 300
    ended = 1e9 + np.random.default_rng(1).permutation(count)
    keys = [f"key-{each % 7}-{each}" for each in range(count)]
    times = msgpack.unpackb(encode("attempts", {"stop": ended, "start": ended - 1}))
    group = [f"group {each % 7}" for each in range(count)]
    texts = msgpack.unpackb(encode("graph", {"group": group, "key": keys}, short=True))
    for packed, known, unknown in ((times, "start", "stop"), (texts, "key", "group")):
        columns = {column["name"]: column for column in packed["columns"]}
        assert columns[known]["since"] == unknown
        columns[known]["since"] = columns[unknown]["name"] = "new"
        batch = decode(msgpack.packb(packed))
        assert list(batch.columns) == [known]
        assert decode(msgpack.packb(packed), only=[known]).columns.keys() == {known}
        assert decode(msgpack.packb(packed), only=[]).columns == {}
        wanted = keys if known == "key" else (ended - 1).tolist()
        assert batch.columns[known].tolist() == wanted


def test_columns_that_refer_one_to_the_next_without_end_are_read_in_time() -> None:
    chain = [{"name": f"c{at}", "kind": "u8", "data": b"", "since": f"c{at + 1}"} for at in range(20_000)]
    known = {"name": "name", "kind": "sym", "width": 1, "data": b"", "symbols": [], "since": "c0"}
    began = process_time()
    batch = decode(msgpack.packb({"table": "about", "rows": 0, "columns": [known, *chain]}))
    assert list(batch.columns) == ["name"] and process_time() - began < 5


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_batch_or_a_batch_error(data: bytes) -> None:
    for read in (decode, announced, table_of, lambda raw: list(split(raw))):
        with contextlib.suppress(BatchError):
            read(data)


@settings(deadline=None)
@given(_tables(), st.data())
def test_damaged_batches_raise_nothing_but_batch_errors(
    given_table: tuple[str, int, dict[str, list[Any]]], data: st.DataObject
) -> None:
    raw = bytearray(encode(given_table[0], given_table[2]))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)))]
    with contextlib.suppress(BatchError):
        decode(bytes(raw))


@pytest.mark.parametrize(
    "packed",
    [
        {"table": "graph", "rows": 4_000_000_000, "columns": []},
        {"table": "graph", "rows": -1, "columns": []},
        {"table": "graph", "rows": 4_000_000_000, "columns": [{"name": "task", "kind": "u32", "data": b""}]},
        {"table": "graph", "rows": 2, "columns": [{"name": "task", "kind": "u32", "data": b"123"}]},
        {
            "table": "graph",
            "rows": 1,
            "columns": [{"name": "prefix", "kind": "sym", "width": 1, "data": b"\1"}],
        },
        {"table": "graph", "rows": 1, "columns": [{"name": "key", "kind": "str", "data": b"\xff\0\0\0ab"}]},
        {"table": "graph", "rows": 1, "columns": [{"name": "key", "kind": "str", "data": 7}]},
        {"table": "memory", "rows": 1, "columns": [{"name": "time", "kind": "time", "data": b"\0" * 4}]},
        {"table": "graph", "columns": [], "rows": "many"},
        [],
    ],
)
def test_batches_that_lie_are_refused(packed: Any) -> None:
    with pytest.raises(BatchError):
        decode(msgpack.packb(packed))


def test_rows_are_bounded_by_the_bytes_that_hold_them() -> None:
    with pytest.raises(BatchError, match="cannot hold"):
        announced(msgpack.packb({"table": "graph", "rows": 10**9, "columns": []}))


def test_split_gives_batches_back() -> None:
    batches = [encode("edges", {"task": [i], "dependency": [i + 1]}) for i in range(5)]
    assert list(split(b"".join(batches))) == batches
    assert [table_of(batch) for batch in batches] == ["edges"] * 5


def test_missing_columns_have_defaults() -> None:
    for table in TABLES.values():
        for column in table.columns:
            values = default(column, 3)
            assert len(values) == 3
            assert all(_is_missing(column, value) for value in values)


def _is_missing(column: Column, value: Any) -> bool:
    if column.kind in ("sym", "str"):
        return bool(value == "")
    return math.isnan(value) if column.kind in ("f32", "f64", "time") else bool(value == 0)


def test_every_time_follows_a_column_that_stands_above_it_and_texts_follow_symbols() -> None:
    for table in TABLES.values():
        above: list[str] = []
        symbols = {column.name for column in table.columns if column.kind == "sym"}
        for column in table.columns:
            followed = {"time": above, "str": symbols}.get(column.kind, ())
            assert not column.since or column.since in followed, (table.name, column)
            above.append(column.name)


_PIECES = st.sampled_from(["('sum-ab12cd', ", ", ", ")", "-", "é", "x", " ", "0", "007", "1.5", "a1"])
_KEYS = st.lists(_PIECES | st.integers(0, 10**10).map(str), max_size=9).map("".join)


@given(st.lists(_KEYS, min_size=1, max_size=12), st.data())
def test_texts_that_are_alike_but_for_their_numbers(keys: list[str], data: st.DataObject) -> None:
    picks = data.draw(st.lists(st.integers(0, len(keys) - 1), min_size=64, max_size=90))
    rows = [keys[pick] for pick in picks]
    groups = [f"g{pick % 3}" for pick in picks]
    assert decode(encode("graph", {"key": rows}, short=True)).columns["key"].tolist() == rows
    both = decode(encode("graph", {"key": rows, "group": groups}, short=True)).columns
    assert (both["key"].tolist(), both["group"].tolist()) == (rows, groups)


def test_code_and_tracebacks_that_repeat_stand_once() -> None:
    code = "x = 1\n" * 3_000
    packed = encode("submissions", {"submission": range(20_000), "code": [code] * 20_000})
    assert len(packed) < 2**20
    assert decode(packed).columns["code"].tolist() == [code] * 20_000


def test_what_is_known_to_repeat_was_once_kept_as_if_it_did_not() -> None:
    packed = msgpack.unpackb(encode("errors", {"exception": ["a", "b", "a"]}))
    packed["columns"][0]["name"] = "traceback"
    column = decode(msgpack.packb(packed)).columns["traceback"]
    assert isinstance(column, Symbols) and column.tolist() == ["a", "b", "a"]


@pytest.mark.filterwarnings("error")
def test_what_a_column_cannot_hold_is_missing() -> None:
    runs = decode(encode("attempts", {"run": [1.0, math.nan, -3.0, 1e20, 7.0]})).columns["run"]
    assert np.asarray(runs).tolist() == [1, 0, 0, 0, 7]
    cpu = np.asarray(decode(encode("resources", {"cpu": [math.inf, math.nan, 1e300, 5.0]})).columns["cpu"])
    assert cpu.tolist() == pytest.approx([math.inf, math.nan, math.nan, 5], nan_ok=True)
    start = np.asarray(decode(encode("attempts", {"start": [1e305, 1.0]})).columns["start"])
    assert start.tolist() == pytest.approx([math.nan, 1], nan_ok=True)


@given(st.lists(st.floats(width=32), min_size=1, max_size=300))
def test_few_different_floats(values: list[float]) -> None:
    rows = (values * 1_024)[: 1_024 + len(values)]
    columns = decode(encode("resources", {"cpu": rows, "memory": rows}, short=True)).columns
    np.testing.assert_array_equal(columns["cpu"], np.array(rows, "f4"))
    np.testing.assert_array_equal(columns["memory"], np.array(rows, "f8"))


def test_keys_of_a_graph_take_few_bytes() -> None:
    keys = [
        f"('add-0123456789abcdef{word}', {i}, {j})" for word in "ab" for i in range(40) for j in range(50)
    ]
    columns = {"task": range(4_000), "key": keys, "group": [key[2:24] for key in keys]}
    packed = encode("graph", columns, short=True)
    assert decode(packed).columns["key"].tolist() == keys
    assert len(zlib.compress(packed)) < 400
    unique = [hashlib.sha1(key.encode()).hexdigest() for key in keys]
    assert "forms" not in msgpack.unpackb(encode("graph", {"key": unique}, short=True))["columns"][0]


def test_few_bytes_do_not_become_texts_without_end() -> None:
    packed = msgpack.unpackb(encode("graph", {"key": [f"a-{i}" for i in range(20_000)]}, short=True))
    (column,) = packed["columns"]
    assert sum(map(len, (column["data"], *(each["data"] for each in column["numbers"])))) == 40_000
    column["forms"] = [["x" * 127, ""]]
    assert decode(msgpack.packb(packed)).rows == 20_000
    column["forms"] = [["x" * 140, ""]]
    with pytest.raises(BatchError, match="too long"):
        decode(msgpack.packb(packed))


@pytest.mark.parametrize("size", [20, 150, 999])
def test_long_keys_come_back(size: int) -> None:
    keys = [f"('{'x' * size}', {i % 7})" for i in range(3_000)]
    assert decode(encode("graph", {"key": keys}, short=True)).columns["key"].tolist() == keys


@pytest.mark.parametrize(
    "changes",
    [
        {"forms": []},
        {"forms": [["a", "b", "c", "d"]]},
        {"forms": [["x" * 10**6, "b"]]},
        {"within": [[]]},
        {"since": "span"},
        {"numbers": []},
        {"numbers": [{"planes": 1, "data": b"1"}]},
        {"numbers": [{"planes": 1, "data": b"1" * 80}] * 2},
        {"data": b"1"},
        {"width": 3},
    ],
)
def test_forms_that_lie_are_refused(changes: dict[str, Any]) -> None:
    columns = {"key": [f"a-{i}" for i in range(80)], "group": ["a"] * 80}
    packed = msgpack.unpackb(encode("graph", columns, short=True))
    decode(msgpack.packb(packed))
    packed["columns"][0].update(changes)
    with pytest.raises(BatchError):
        decode(msgpack.packb(packed))
