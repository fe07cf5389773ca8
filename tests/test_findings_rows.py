"""What is found where tasks call Python for each row, value or line."""

from __future__ import annotations

import pytest
from test_findings_cure import codes, the
from test_findings_whereabouts import CALL, LIB, OWN, Frame, sampled
from test_time_budget import Run

from dask_insight.analysis.findings import Findings

SITE = f"{LIB}site-packages/"
PANDAS, NUMPY = f"{SITE}pandas/core/", f"{SITE}numpy/lib/"
STANDARD = ("FrameApply.apply_standard", f"{PANDAS}apply.py", 1334)
APPLY = ("FrameApply.apply_series_generator", f"{PANDAS}apply.py", 1350)
APPLIES = (CALL, STANDARD, APPLY)
NEXT = ("FrameApply.apply_series_generator", f"{PANDAS}apply.py", 1349)
ROW = ("FrameColumnApply.series_generator", f"{PANDAS}apply.py", 1500)
RAW = ("FrameApply.apply_raw", f"{PANDAS}apply.py", 1290)
ITERROWS = ("DataFrame.iterrows", f"{PANDAS}frame.py", 1500)
MAP = ("map_array", f"{PANDAS}algorithms.py", 1740)
OLD_MAP = ("IndexOpsMixin._map_values", f"{PANDAS}base.py", 920)
CURRIED = ("SeriesApply.apply_standard.<locals>.curried", f"{PANDAS}apply.py", 1801)
TAKE = ("take_nd", f"{PANDAS}array_algos/take.py", 100)
GETITEM = ("Series.__getitem__", f"{PANDAS}series.py", 1102)
INTERPOLATE = ("interpolate_2d_inplace", f"{PANDAS}missing.py", 433)
VECTORIZE = ("vectorize._vectorize_call", f"{NUMPY}_function_base_impl.py", 2599)
CALLED = ("vectorize.__call__", f"{NUMPY}_function_base_impl.py", 2500)
ALONG = ("apply_along_axis", f"{NUMPY}shape_base.py", 379)
NANMEDIAN = ("_nanmedian", f"{NUMPY}_nanfunctions_impl.py", 1094)
SCIPY = ("rv_generic.cdf", f"{SITE}scipy/stats/_distn_infrastructure.py", 10)
XARRAY = ("apply_variable_ufunc", f"{SITE}xarray/computation/apply_ufunc.py", 10)
SEND = ("HTTPAdapter.send", f"{SITE}requests/adapters.py", 10)
STRPTIME = ("_strptime", f"{LIB}_strptime.py", 10)
RECV = ("SSLSocket.recv", f"{LIB}ssl.py", 10)
LAMBDA = ("<lambda>", OWN[1], 30)
INNER = ("solve", OWN[1], 40)
NAMESAKE = ("map_array", "/home/me/algorithms.py", 3)

Seen = list[tuple[float, tuple[Frame, ...]]]


def found_in(*tasks: tuple[str, Seen]) -> Findings:
    """Findings of six tasks of each name on two workers, each 4 s long."""
    run, seen = Run(), []
    for name, samples in tasks:
        for number in range(6):
            begin = len(run.attempts) // 2 * 4
            task = run.task(name, "ab"[number % 2], begin, begin + 4)
            seen += [(task, *one) for one in samples]
    return sampled(run, *seen)


@pytest.mark.parametrize(
    ("seen", "each", "share"),
    [
        ([(3.0, (CALL, STANDARD, APPLY, OWN, GETITEM)), (1.0, (CALL, STANDARD, NEXT, ROW))], "each row", 1.0),
        ([(2.0, (CALL, OWN)), (2.0, (CALL, OWN, ITERROWS, TAKE))], "each row", 0.5),
        ([(4.0, (CALL, MAP, OWN))], "each value", 1.0),
        ([(4.0, (CALL, OLD_MAP, OWN, STRPTIME))], "each value", 1.0),
        ([(4.0, (CALL, OWN, MAP, LAMBDA, OWN))], "each value", 1.0),
        ([(4.0, (CALL, MAP, CURRIED, OWN))], "each value", 1.0),
        # A function of C has no frame.
        ([(4.0, (CALL, MAP))], "each value", 1.0),
        ([(3.0, (CALL, CALLED, VECTORIZE, OWN)), (1.0, (CALL, OWN))], "each element", 0.75),
        ([(4.0, (CALL, XARRAY, CALLED, VECTORIZE, OWN))], "each element", 1.0),
        ([(4.0, (CALL, ALONG, OWN))], "each element", 1.0),
        ([(4.0, (CALL, RAW, ALONG, OWN))], "each element", 1.0),
        # One within another is told once, and counts once.
        (
            [(3.0, (CALL, STANDARD, APPLY, OWN, MAP, OWN)), (1.0, (CALL, STANDARD, NEXT, ROW))],
            "each row",
            1.0,
        ),
        ([(4.0, (CALL, OWN, ITERROWS, ITERROWS))], "each row", 1.0),
    ],
)
def test_calls_for_each_row_value_or_line(seen: Seen, each: str, share: float) -> None:
    told = the(found_in(("step", seen)), "row-by-row")
    assert told.title.startswith(f"`step` calls Python for {each}") and told.tasks == ("step",)
    assert told.evidence[0].value == share and told.cost_thread_seconds == pytest.approx(share * 24 / 2)


@pytest.mark.parametrize(
    "seen",
    [
        # Whole columns; values that are looked up; too little; a function of that name elsewhere.
        [(4.0, (CALL, STANDARD, APPLY, OWN))],
        [(4.0, (CALL, MAP, TAKE))],
        [(3.0, (CALL, OWN)), (1.0, (CALL, MAP, OWN))],
        [(4.0, (CALL, NAMESAKE, OWN))],
        # Calls that do more than a loop costs.
        [(4.0, (CALL, MAP, OWN, SEND, RECV))],
        [(4.0, (CALL, MAP, OWN, RECV))],
        [(4.0, (CALL, MAP, LAMBDA, OWN, INNER))],
        # Loops of libraries, in whole-column and whole-array code.
        [(4.0, (CALL, INTERPOLATE, ALONG, TAKE))],
        [(4.0, (CALL, NANMEDIAN, ALONG, NANMEDIAN))],
        [(4.0, (CALL, OWN, SCIPY, CALLED, VECTORIZE, SCIPY))],
        [(4.0, (CALL, OWN, SCIPY, MAP, SCIPY))],
    ],
)
def test_what_is_no_loop_of_a_person_s_or_does_much_in_each_call(seen: Seen) -> None:
    assert "row-by-row" not in codes(found_in(("step", seen)))


def test_one_name_says_nothing_of_another() -> None:
    columns = [(4.0, (CALL, STANDARD, APPLY, OWN))]
    other = ("sum by column", f"{PANDAS}frame.py", 1)
    rows = [(3.0, (CALL, other, STANDARD, APPLY, OWN)), (1.0, (CALL, other, STANDARD, NEXT, ROW))]
    told = the(found_in(("columns", columns), ("rows", rows)), "row-by-row")
    assert told.tasks == ("rows",) and told.cost_thread_seconds == pytest.approx(12)
