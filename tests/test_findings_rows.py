"""What is found where tasks call Python for each row, value or element."""

from __future__ import annotations

import pytest
from test_findings_cure import codes, the
from test_findings_whereabouts import CALL, LIB, OWN, Frame, sampled
from test_time_budget import Run

PANDAS, NUMPY = f"{LIB}site-packages/pandas/core/", f"{LIB}site-packages/numpy/lib/"
APPLY = ("FrameApply.apply_series_generator", f"{PANDAS}apply.py", 1350)
ROW = ("FrameColumnApply.series_generator", f"{PANDAS}apply.py", 1500)
ITERROWS = ("DataFrame.iterrows", f"{PANDAS}frame.py", 1500)
MAP = ("map_array", f"{PANDAS}algorithms.py", 1740)
OLD_MAP = ("IndexOpsMixin._map_values", f"{PANDAS}base.py", 920)
TAKE = ("take_nd", f"{PANDAS}array_algos/take.py", 100)
VECTORIZE = ("vectorize._vectorize_call", f"{NUMPY}_function_base_impl.py", 2599)
ALONG = ("apply_along_axis", f"{NUMPY}shape_base.py", 379)
NAMESAKE = ("map_array", "/home/me/algorithms.py", 3)


@pytest.mark.parametrize(
    ("seen", "each"),
    [
        ([(3.0, (CALL, APPLY, OWN)), (1.0, (CALL, APPLY, ROW))], "each row"),
        ([(2.0, (CALL, OWN)), (2.0, (CALL, OWN, ITERROWS, TAKE))], "each row"),
        ([(4.0, (CALL, MAP, OWN))], "each value"),
        ([(4.0, (CALL, OLD_MAP, OWN))], "each value"),
        # A function of C, as `json.loads`, is seen now and then only by what it calls.
        ([(3.0, (CALL, MAP)), (1.0, (CALL, MAP, OWN))], "each value"),
        ([(4.0, (CALL, VECTORIZE, OWN))], "each element"),
        ([(4.0, (CALL, ALONG, OWN))], "each element"),
        # Whole columns; values that are looked up; too little; a function of that name elsewhere.
        ([(4.0, (CALL, APPLY, OWN))], ""),
        ([(4.0, (CALL, MAP, TAKE))], ""),
        ([(3.0, (CALL, OWN)), (1.0, (CALL, MAP, OWN))], ""),
        ([(4.0, (CALL, NAMESAKE, OWN))], ""),
    ],
)
def test_calls_for_each_row_value_or_element(seen: list[tuple[float, tuple[Frame, ...]]], each: str) -> None:
    run = Run()
    tasks = [run.task("step", "ab"[number % 2], number // 2 * 4, number // 2 * 4 + 4) for number in range(6)]
    found = sampled(run, *((task, *one) for task in tasks for one in seen))
    assert ("row-by-row" in codes(found)) == bool(each)
    if each:
        told = the(found, "row-by-row")
        assert told.title.startswith(f"`step` calls Python for {each} in ") and told.tasks == ("step",)
        share = told.evidence[0].value
        assert share in (0.5, 1.0) and told.cost_thread_seconds == pytest.approx(share * 24 / 2)
