"""Findings as a list and as a table: what pandas and people do with them."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from test_findings import facts, finding, rule, ten_seconds

from dask_insight.analysis.findings import Fact, Facts, Finding, Findings, Limits, apply
from dask_insight.analysis.findings.rule import Rule


def found() -> Findings:
    """Two findings, and a rule that fails."""

    def broken(facts: Facts, limits: Limits) -> list[Finding]:
        raise ZeroDivisionError

    evidence = (Fact("tasks", 3, "count", 2.5), Fact("time", math.nan, "s"))
    costs = rule(finding("cost", 2.0, evidence=evidence), finding("more", 3.0, workers=("a",)))
    return apply(facts(ten_seconds()), Limits(), [costs, Rule("broken", "", "", "", "", broken)])


def test_a_part_of_the_findings_is_of_the_same_run() -> None:
    whole = found()
    assert len(whole) == 2 and whole.failed
    for part in (whole[:1], whole[2:], whole.copy()):
        told = part.failed, part.seconds, part.between, part.judged
        assert told == (whole.failed, whole.seconds, whole.between, whole.judged)
    assert whole[:1].frame()["code"].tolist() == [whole[0].code] == ["more"]
    whole.copy().clear()
    assert len(whole) == 2


def test_figures_are_dictionaries_that_other_formats_take(tmp_path: Path) -> None:
    table = found().frame()
    figures = [
        {"name": "tasks", "value": 3, "unit": "count", "threshold": 2.5},
        {"name": "time", "value": None, "unit": "s", "threshold": None},
    ]
    assert table["evidence"].tolist() == [[], figures]
    assert table["workers"].tolist() == [["a"], []]
    pytest.importorskip("pyarrow")
    table.to_parquet(tmp_path / "findings.parquet")
    back = pd.read_parquet(tmp_path / "findings.parquet")
    assert list(back["evidence"].iloc[1]) == figures
    assert back["cost_seconds"].tolist() == table["cost_seconds"].tolist()


def test_when_was_looked_is_told_where_no_task_ran() -> None:
    recording = ten_seconds().recording()
    part = recording.findings(start=10.25, stop=10.5)
    assert not part.judged
    assert part.between == pytest.approx((10.25, 10.5))
    assert recording.slice(10.25, 10.5).findings().between == pytest.approx((10.25, 10.5))
    assert recording.findings(start=10.25).between == (0.0, 0.0), "nothing tells the end"
