"""What the page's tests compare its sums with is what Python says of the golden recording."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from test_findings_moved import pooled

from dask_insight.recording import Recording

HERE = Path(__file__).parent / "golden"


def _make() -> Any:
    spec = importlib.util.spec_from_file_location("golden_make_budget", HERE / "make_budget.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _flat(told: Any, path: str = "") -> dict[str, float]:
    if not isinstance(told, dict):
        return {path: float(told)}
    return {
        place: value for key, each in told.items() for place, value in _flat(each, f"{path}/{key}").items()
    }


def test_the_golden_time_budget_is_that_of_now() -> None:
    make = _make()
    kept = json.loads((HERE / "budget.json").read_text(encoding="utf-8"))
    assert _flat(make.expected(make.golden())) == pytest.approx(_flat(kept), rel=1e-9, abs=1e-9)


def test_what_is_told_ahead_is_that_of_now() -> None:
    make = _make()
    kept = json.loads((HERE / "budget-ahead.json").read_text(encoding="utf-8"))
    told = make.ahead(make.golden())
    assert [each[:2] for each in told["sums"]] == [each[:2] for each in kept["sums"]]
    assert [each[2] for each in told["sums"]] == pytest.approx([each[2] for each in kept["sums"]])
    assert (told["rows"], told["start"], told["stop"]) == (kept["rows"], kept["start"], kept["stop"])


def test_processes_of_a_local_scheduler_are_told_apart_ahead_as_well() -> None:
    sums = _make().ahead(pooled(1).recording())["sums"]
    told = {part: seconds for part, _, seconds in sums if seconds}
    assert told == pytest.approx({"processes": 8, "compute": 2})


def test_its_rows_add_up_to_it() -> None:
    recording = Recording()
    recording.append((HERE / "budget.batches").read_bytes())
    rows = recording.budget
    seconds = ((rows["stop"] - rows["start"]) * rows["threads"]).groupby(rows["part"], observed=True).sum()
    kept = json.loads((HERE / "budget.json").read_text(encoding="utf-8"))
    assert seconds[seconds > 0].to_dict() == pytest.approx(kept["parts"], rel=1e-6)
