"""Fields that are kept in less memory read as what they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.synthetic import Size, synthetic
from dask_insight.analysis.time_budget.parts import Pieces, joined
from dask_insight.timeline import attempts, inputs
from dask_insight.timeline.ascending import Ascending
from dask_insight.timeline.counts import Counts
from dask_insight.timeline.fields import Count, Fields, Moment, Number
from dask_insight.timeline.micros import BLOCK, Micros

_FITS = st.one_of(st.integers(0, 2**32 - 2).map(float), st.just(float("nan")))


@given(st.lists(_FITS, max_size=50))
def test_whole_numbers_take_four_bytes(some: list[float]) -> None:
    told = np.array(some, "f8")
    kept = Counts.of(told)
    assert isinstance(kept, Counts)
    assert kept.numbers.dtype == "u4"
    np.testing.assert_array_equal(kept.array, told)
    np.testing.assert_array_equal(kept.block(0), told)
    np.testing.assert_array_equal(kept.at(np.isnan(told)), told[np.isnan(told)])


@pytest.mark.parametrize("other", [-1.0, 0.5, 2.0**32 - 1, 2.0**32, np.inf])
def test_what_four_bytes_cannot_tell_stays_as_it_is(other: float) -> None:
    told = np.array([1.0, np.nan] * BLOCK + [other])
    assert Counts.of(told) is told


@given(st.integers(0, 3 * BLOCK))
def test_all_rows_in_their_order_are_numbers_like_others(count: int) -> None:
    kept, told = Ascending(count), np.arange(count)
    np.testing.assert_array_equal(kept.array, told)
    blocks = [kept.block(begin) for begin in range(0, count, BLOCK)]
    np.testing.assert_array_equal(np.concatenate([told[:0], *blocks]), told)
    np.testing.assert_array_equal(kept.at(told % 2 == 0), told[::2])
    np.testing.assert_array_equal(kept.at(told[::-3]), told[::-3])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Rows(Fields):
    number: Number = Number()
    moment: Moment = Moment()
    size: Count = Count()


def test_some_rows_are_kept_as_all_were() -> None:
    count = 2 * BLOCK
    moments, sizes = 1e9 + np.arange(count) / 1e3, np.arange(count, dtype="f8")
    rows = _Rows(number=Ascending(count), moment=Micros.of(moments), size=Counts.of(sizes))
    mask = np.arange(count) % 3 == 0
    some = _Rows(**rows.some(mask))
    assert isinstance(some.kept("moment"), Micros)
    assert isinstance(some.kept("size"), Counts)
    np.testing.assert_array_equal(some.number, np.flatnonzero(mask))
    np.testing.assert_array_equal(some.moment, moments[mask])
    np.testing.assert_array_equal(some.size, sizes[mask])
    np.testing.assert_array_equal(some.block("number", 0), some.number[:BLOCK])


def _pieces(start: np.ndarray, threads: np.ndarray | None = None) -> Pieces:
    lane = np.arange(len(start), dtype="i4") % 4
    return Pieces.of(lane, start, start + 0.25, "inputs", row=lane, threads=threads)


@pytest.mark.parametrize("threads", [(1.0, 1.0), (1.0, 3.0), (2.0, 3.0)])
def test_pieces_that_are_put_together_take_little_memory(threads: tuple[float, float]) -> None:
    start = 1e9 + np.arange(3_000) / 1e3
    some = [
        _pieces(start, None if threads[0] == 1.0 else np.full(len(start), threads[0])),
        _pieces(start[:500] + 9.0, np.full(500, threads[1])),
    ]
    whole = joined(some, some[0].part)
    assert whole.count == 3_500
    for name in ("lane", "start", "stop", "threads", "row"):
        np.testing.assert_array_equal(
            getattr(whole, name), np.concatenate([getattr(each, name) for each in some])
        )
    assert isinstance(whole.kept("start"), Micros) and isinstance(whole.kept("stop"), Micros)
    assert whole.packed().kept("start") is whole.kept("start")
    assert (whole.threads.strides == (0,)) is (threads == (1.0, 1.0))
    assert callable(whole.kept("threads")) is (threads == (1.0, 3.0))


def test_no_pieces_are_put_together_to_none() -> None:
    assert joined([], 0).count == 0


def test_sizes_of_inputs_are_not_worked_out_for_all_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = synthetic(Size(tasks=3_000, samples=1))
    known = attempts(recording.columns)
    assert isinstance(known.kept("nbytes"), Counts)
    whole = inputs(recording.columns, known)
    moved = np.flatnonzero(whole.moved >= 0)
    assert len(moved)

    def refused(_: Counts) -> np.ndarray:
        raise AssertionError("all of them")

    monkeypatch.setattr(Counts, "array", property(refused))
    np.testing.assert_array_equal(inputs(recording.columns, known).moved, whole.moved)
