from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_insight import words
from dask_insight.analysis.findings.finding import amount


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00085, "850 µs"),
        (0.0124, "12.4 ms"),
        (3.42, "3.42 s"),
        (0.9999, "1 s"),
        (99.94, "99.9 s"),
        (125, "2 min 05 s"),
        (3599.9, "1 h 00 min"),
        (7260, "2 h 01 min"),
        (0, "0 s"),
        (-0.5, "−500 ms"),
        (float("nan"), "–"),
        (3599.4, "59 min 59 s"),
        (143.1 * 3600, "5 d 23 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert plain(words.duration(seconds)) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0 B"), (999, "999 B"), (1024, "1 KiB"), (1.21 * 2**30, "1.21 GiB"), (1023.9 * 2**20, "1 GiB")],
)
def test_sizes(amount: float, text: str) -> None:
    assert plain(words.size(amount)) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.613, "61 %"), (0.0096, "1 %"), (0.0042, "0.4 %"), (0, "0 %"), (1e-5, "< 0.1 %"), (1, "100 %")],
)
def test_shares(part: float, text: str) -> None:
    assert plain(words.share(part)) == text


def test_counts_and_lists() -> None:
    assert words.count(1, "task") == "1 task"
    assert words.count(12400, "task") == "12,400 tasks"
    assert words.count(2, "recorded process", "recorded processes") == "2 recorded processes"
    assert words.listing(["a", "b", "c"]) == "a, b and c"
    assert words.listing(["a"]) == "a"
    assert [words.about(each, "core") for each in (488.0, 0.996, 2.54)] == [
        "490 cores",
        "1 core",
        "2.5 cores",
    ]
    assert words.about(12_345.0) == "12,000"
    assert words.about(12_345.0, digits=3) == "12,300"


def test_code_in_a_sentence_is_marked_and_nothing_in_it_runs() -> None:
    # Names may be written from right to left.
    code = '<code dir="auto">'
    assert words.marked("`<b>` kept 2 & `x`") == f"{code}&lt;b&gt;</code> kept 2 &amp; {code}x</code>"


@given(st.floats(0.01, 1e6), st.integers(1, 6))
def test_no_number_is_told_with_an_exponent(number: float, digits: int) -> None:
    told = words.about(number, digits=digits)
    assert "e" not in told + amount(number, "") + amount(number, "times").removesuffix("times")
    assert float(told.replace(",", "")) == pytest.approx(number, rel=0.51 * 10.0 ** (1 - digits))


@pytest.mark.parametrize(("number", "told"), [(0.19, 0.2), (0.2, 0.2), (0.21, 0.5), (30.0, 50.0), (6, 10)])
def test_round_numbers(number: float, told: float) -> None:
    assert words.round_up(number) == pytest.approx(told)
