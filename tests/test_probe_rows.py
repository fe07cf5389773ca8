"""The bounded stores: positions, losses, release."""

from __future__ import annotations

import sys
from struct import unpack

from hypothesis import given
from hypothesis import strategies as st

from dask_insight.probe.rows import CHUNK, Blobs, Items, Names, Rows


def test_rows_are_read_by_position() -> None:
    rows = Rows("number:I", 1_000_000)
    for number in range(3 * CHUNK + 5):
        rows.add(number)
    missed, stop, found = rows.take(CHUNK - 2, 4)
    assert (missed, stop) == (0, CHUNK + 2)
    assert unpack("<4I", found) == (CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1)


@given(st.integers(0, 4 * CHUNK), st.lists(st.integers(1, 3 * CHUNK), max_size=8))
def test_reading_in_slices_gives_everything_once(count: int, limits: list[int]) -> None:
    items = Items(10_000_000)
    for number in range(count):
        items.add(number)
    at, seen = 0, []
    for limit in [*limits, count]:
        missed, at, found = items.take(at, limit)
        assert missed == 0
        seen += found
        items.release(at)
    assert seen == list(range(count))


def test_what_does_not_fit_is_lost_and_counted() -> None:
    items = Items(2 * CHUNK)
    for number in range(5 * CHUNK):
        items.add(number)
    missed, stop, found = items.take(7, 10 * CHUNK)
    assert missed + 7 + len(found) == stop == 5 * CHUNK
    assert found == list(range(5 * CHUNK - len(found), 5 * CHUNK))
    assert len(found) <= 3 * CHUNK


def test_objects_that_are_put_in_together_stand_as_one_by_one() -> None:
    items, count = Items(10_000_000), 0
    for many in (0, 1, CHUNK - 1, 2 * CHUNK + 5, CHUNK - 6, 3):
        items.extend(list(range(count, count + many)))
        items.add(count + many)
        count += many + 1
    assert items.take(0, count) == (0, count, list(range(count)))
    items.release(CHUNK)
    assert items.take(0, count) == (CHUNK, count, list(range(CHUNK, count)))


def test_draining_keeps_no_row_and_loses_none() -> None:
    rows = Rows("number:I", 1_000_000)
    seen: list[int] = []
    for number in range(2 * CHUNK + 100):
        rows.add(number)
        if number % 1000 == 0:
            lost, found = rows.drain()
            assert lost == 0
            seen += unpack(f"<{len(found) // 4}I", found)
    seen += unpack(f"<{len(rows.tail) // 4}I", rows.drain()[1])
    assert seen == list(range(2 * CHUNK + 100))


def test_messages_are_bounded_by_bytes() -> None:
    blobs = Blobs(100)
    for number in range(10):
        blobs.add(number, 30)
    assert blobs.bytes <= 100
    missed, stop, found = blobs.take(0, 60)
    assert (missed, stop, found) == (7, 9, [7, 8])
    assert blobs.take(stop, 60) == (0, 10, [9])
    blobs.release(10)
    assert blobs.bytes == 0


def test_one_message_larger_than_the_bound_still_goes_through() -> None:
    blobs = Blobs(100)
    blobs.add("large", 1000)
    assert blobs.take(0, 10) == (0, 1, ["large"])


def test_names_beyond_the_bound_share_a_code() -> None:
    names = Names("", bound=3)
    assert [names.code(text) for text in ("", "a", "b", "c", "a")] == [0, 1, 2, 0, 1]
    assert names.since(1) == ["a", "b"]
    assert names.since(3) == []
    assert names.since(0, 2) == ["", "a"] and names.since(2, 9) == ["b"]


def test_full_chunks_hold_no_room_to_grow() -> None:
    rows, items = Rows("task:Q", 2 * CHUNK), Items(2 * CHUNK)
    for number in range(CHUNK):
        rows.add(number)
        items.add(None)
    for part in (rows._parts[0], items._parts[0]):
        assert sys.getsizeof(part) < 8 * CHUNK + 100
