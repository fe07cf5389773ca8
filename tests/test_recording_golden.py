"""A recording that was made once and must stay readable; TypeScript reads the same files."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import dask_insight
from dask_insight import codegen
from dask_insight.batch import split, table_of
from dask_insight.recording import Recording
from dask_insight.schema import TABLES

HERE = Path(__file__).parent / "golden"


def _make() -> Any:
    spec = importlib.util.spec_from_file_location("golden_make", HERE / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def expected() -> Any:
    return json.loads((HERE / "expected.json").read_text(encoding="utf-8"))


def test_the_golden_recording_reads_as_it_did(expected: Any) -> None:
    recording = dask_insight.open(HERE / "run.dinsight")
    got = _make().digest(recording)
    assert recording.gaps == []
    assert got["name"] == expected["name"]
    for name, table in expected["tables"].items():
        for column, wanted in table["columns"].items():
            has = got["tables"][name]["columns"][column]
            means = [digest.pop("mean", None) or 0.0 for digest in (has, wanted)]
            assert means[0] == pytest.approx(means[1], rel=1e-12), (name, column)
            assert has == wanted, (name, column)


def test_its_batches_alone_read_the_same(expected: Any) -> None:
    recording = Recording()
    for batch in split((HERE / "run.batches").read_bytes()):
        recording.append(batch)
    got = _make().digest(recording)
    # Tables that came later are empty in it.
    assert {name: table["rows"] for name, table in got["tables"].items() if table["rows"]} == {
        name: table["rows"] for name, table in expected["tables"].items() if table["rows"]
    }


def test_the_golden_recording_tells_what_happened() -> None:
    recording = dask_insight.open(HERE / "run.dinsight")
    tasks = recording.tasks
    assert {"ok", "erred", "retried"} <= set(tasks["status"])
    flaky = tasks[(tasks["prefix"] == "flaky") & (tasks["status"] == "ok")]
    assert flaky["attempt"].tolist() == [2, 2]
    spinning = tasks[tasks["prefix"] == "spin"]
    assert spinning["duration"].max() == pytest.approx(0.5, abs=0.2)
    flame = recording.flame(prefix="spin")
    assert flame.loc[flame["self"].idxmax(), "function"] == "spin"
    assert "cannot do 3" in " ".join(recording.errors["exception"])
    batches = [table_of(batch) for batch in recording.batches()]
    assert len(batches) == len(set(batches)), "a finished recording has one batch a table"


def test_the_typescript_twin_is_up_to_date() -> None:
    if not codegen.TARGET.exists():
        pytest.skip("the sources of the page are not here")
    assert codegen.TARGET.read_text(encoding="utf-8") == codegen.typescript()
    assert codegen.main(["--check"]) == 0


def test_what_the_twin_leaves_out_is_in_the_schema() -> None:
    for table, unseen in codegen.UNSEEN.items():
        assert set(unseen) < {column.name for column in TABLES[table].columns}
