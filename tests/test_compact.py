"""Fields that are kept in less memory read as what they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
