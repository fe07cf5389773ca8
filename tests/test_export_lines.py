"""Lines of text made column by column: the same as when each is formatted by itself."""

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_insight.batch import Texts
from dask_insight.exports import lines as made
from dask_insight.lookup import TextRows

numbers = st.integers(-(2**63), 2**63 - 1)


def text(rows: int, *parts: bytes | made.Part) -> str:
    blocks = list(made.lines(rows, *parts))
    assert sum(count for count, _ in blocks) == rows
    return b"".join(data for _, data in blocks).decode("utf-8")


@given(st.lists(st.tuples(numbers, numbers, st.booleans()), max_size=40))
def test_whole_numbers_where_there_are_some(rows: list[tuple[int, int, bool]]) -> None:
    first, second = (np.array([row[place] for row in rows], "i8") for place in (0, 1))
    there = np.array([row[2] for row in rows], bool)
    parts = (b"<", made.Whole(first), made.Where(there, b",", made.Whole(second)), b">\n")
    least = -(2**63)
    expected = [
        f"<{max(a, least + 1)}" + (f",{max(b, least + 1)}" if with_second else "") + ">\n"
        for a, b, with_second in rows
    ]
    assert text(len(rows), *parts) == "".join(expected)


@given(st.lists(st.floats(), max_size=40))
def test_numbers_with_decimals(values: list[float]) -> None:
    got = text(len(values), made.Fixed(np.array(values, "f8"), 3), b"\n").split()
    for value, told in zip(values, got, strict=True):
        if not np.isfinite(value):
            assert float(told) == 0.0
        elif abs(value) < 1e12:
            assert float(told) == pytest.approx(value, abs=0.0005001, rel=1e-12)
        json.loads(told)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_hexadecimal_digits(values: list[int]) -> None:
    assert text(len(values), made.Hex(np.array(values, "u8"))) == "".join(f"{each:016x}" for each in values)


@given(st.lists(st.text(max_size=12), min_size=1, max_size=20), st.data())
def test_texts_are_what_json_reads(texts: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(-1, len(texts) - 1), max_size=30))
    found = TextRows(Texts.of(texts), np.array(rows, "i8"))
    codes = np.array([row % len(texts) for row in rows], "i8")
    parts = (b'["', made.Json(found), b'","', made.Words(codes, made.json_words(texts)), b'"]\n')
    for row, line in zip(rows, text(len(rows), *parts).split("\n"), strict=False):
        one, other = json.loads(line)
        assert one == ("" if row < 0 else plain(texts[row]))
        assert other == texts[row % len(texts)].encode("utf-8", "replace").decode("utf-8")


def plain(value: str) -> str:
    """What a recording keeps of a text that is no Unicode."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def test_bytes_that_are_no_text_are_replaced() -> None:
    for data, expected in (
        (b"ok\xff\xfe", "\ufffd\ufffd"),
        ("oké".encode(), "é"),
        (b"o" + "éa".encode(), "\ufffda"),
    ):
        broken = Texts(np.array([0, 2, 4]), data)
        assert json.loads("[" + text(2, b'"', made.Json(broken), b'",')[:-1] + "]")[1] == expected


def test_one_very_long_text_does_not_widen_all_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []
    whole = made._block

    def seen(count: int, width: int, parts: list[bytes | made.Part]) -> bytes:
        widths.append(count * width)
        return whole(count, width, parts)

    monkeypatch.setattr(made, "_block", seen)
    texts = ["short"] * 60_000 + ["x" * 20_000_000] + ["short"] * 60_000
    assert len(text(len(texts), made.Json(Texts.of(texts)), b"\n")) == 120_000 * 6 + 20_000_001
    assert max(widths) <= made._BYTES
    assert len(widths) < 60


def test_one_very_long_name_makes_no_table_of_all_names() -> None:
    names = [b"%d" % number for number in range(60_000)]
    names[7] = b"x" * 1_000_000
    tracemalloc.start()
    got = text(len(names), b"<", made.Words(np.arange(len(names)), names), b">\n").split("\n")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert got == [*(f"<{name.decode()}>" for name in names), ""]
    assert most < 10 * made._BYTES


def test_blocks_follow_one_another() -> None:
    rows = np.arange(120_001)
    got = [int(line) for line in text(len(rows), made.Whole(rows), b"\n").split()]
    assert all(after == before + 1 for before, after in pairwise(got)) and len(got) == len(rows)
