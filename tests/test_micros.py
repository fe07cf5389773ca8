"""Moments in half the memory are the very same moments, or are left as they are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dask_insight
from dask_insight.analysis.time_budget import parts, work
from dask_insight.timeline import ascending, counts, fields, micros
from dask_insight.timeline.micros import Micros, seconds

START = 1_750_000_000.0
MANY = 40_000


def moments(length: float) -> np.ndarray:
    """Whole microseconds within so many seconds, in no order."""
    random = np.random.default_rng(1)
    return np.rint((START + random.uniform(0.0, length, MANY)) * 1e6) / 1e6


@pytest.mark.parametrize("missing", [0, 7, MANY - 1, MANY])
def test_they_are_the_same_bit_by_bit(missing: int) -> None:
    told = moments(4_000.0)
    told[:missing] = np.nan
    kept = Micros.of(told)
    assert isinstance(kept, Micros)
    assert kept.steps.nbytes == told.nbytes / 2
    np.testing.assert_array_equal(kept.array, told)
    rows = np.arange(0, MANY, 3)
    np.testing.assert_array_equal(kept.at(rows), told[rows])
    np.testing.assert_array_equal(kept.at(np.isnan(told)), told[np.isnan(told)])
    np.testing.assert_array_equal(kept.at(-1), told[-1])
    np.testing.assert_array_equal(kept.block(micros.BLOCK), told[micros.BLOCK : 2 * micros.BLOCK])


def test_a_run_of_days_is_kept_so_too_where_neighbours_are_near() -> None:
    told = np.sort(moments(48 * 3600.0 * MANY / micros.BLOCK / 48))
    assert isinstance(Micros.of(told), Micros)


@pytest.mark.parametrize(
    "odd", [START + 4_500.0, np.nextafter(START, np.inf), np.inf, -np.inf, 1e308, -1e308]
)
def test_what_cannot_be_told_exactly_is_left_as_it_is(odd: float) -> None:
    told = moments(1.0)
    told[MANY // 2] = odd
    assert Micros.of(told) is told


@given(st.lists(st.floats() | st.integers(0, 10**10).map(lambda each: START + each / 1e6), min_size=1))
@settings(deadline=None)
def test_any_numbers_come_back(some: list[float]) -> None:
    told = np.resize(np.array(some), 2 * micros._FEWEST)
    np.testing.assert_array_equal(seconds(Micros.of(told)), told)


def test_what_is_worked_out_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(__file__).parent / "golden" / "run.dinsight"
    whole = dask_insight.open(path)
    findings, budget = str(whole.findings()), whole.time_budget(by=["function", "worker"])
    for module, name, value in (
        (micros, "_FEWEST", 1),
        (micros, "_BITS", 2),
        *((module, "BLOCK", 4) for module in (micros, fields, ascending, counts)),
        (parts, "BLOCK", 4),
        (work, "_TOGETHER", 4),
        (import_module("dask_insight.timeline.inputs"), "_BLOCK", 4),
    ):
        monkeypatch.setattr(module, name, value)
    again = dask_insight.open(path)
    assert str(again.findings()) == findings
    found = again.time_budget(by=["function", "worker"])
    keys = ["function", "worker", "part"]
    np.testing.assert_allclose(
        found.sort_values(keys)["seconds"], budget.sort_values(keys)["seconds"], rtol=1e-12
    )
