"""What a recording says of itself holds: while it grows, cut out of a run, and to those who check types."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest

import dask_insight
from dask_insight.batch import encode
from dask_insight.hosts.widget.widget import _grows
from dask_insight.recording import Recording
from dask_insight.session.facts import facts
from dask_insight.tables import FIELDS

PACKAGE = Path(dask_insight.__file__).parent


def compute(name: str) -> None:
    dask.delayed(abs, name=name)(-1, dask_key_name=f"{name}-1").compute(scheduler="sync")


def lost(run: Recording) -> list[str]:
    events = run.events
    return [str(message) for message in events.loc[events["kind"] == "lost", "message"]]


def test_what_is_explained_is_the_whole_run(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    with dask_insight.record(path, clusters=False) as run:
        compute("first")
        assert len(run.tasks) == 1
        with pytest.raises(RuntimeError, match="when it has ended"):
            run.explain()
        compute("second")
    run.explain()
    run.save(path)
    for told in (run, dask_insight.open(path)):
        assert {"first", "second"} <= {*told.budget["name"]} and {*told.critical["run"]} >= {0, 1}


@pytest.mark.parametrize("between", [(0, 60), (0, None)])
def test_a_part_that_is_cut_out_of_a_run_that_goes_on_was_not_killed(
    tmp_path: Path, between: tuple[float, float | None]
) -> None:
    path = tmp_path / "part.dinsight"
    with dask_insight.record(clusters=False) as run:
        compute("first")
        part = run.slice(*between)
        part.save(path)
        run.save(tmp_path / "so far.dinsight")
        assert (_grows(run.about), _grows(part.about)) == (True, False)
    opened = dask_insight.open(path)
    assert "pid" in opened.about and "stopped" not in opened.about
    assert lost(opened) == []
    (told,) = lost(dask_insight.open(tmp_path / "so far.dinsight"))
    assert "had not ended" in told


@pytest.mark.parametrize("about", [{"pid": 1}, {"pid": 1, "cut": "No space left"}, {}])
def test_that_it_did_not_end_is_told_once(tmp_path: Path, about: dict[str, Any]) -> None:
    path = tmp_path / "run.dinsight"
    run = Recording()
    if about:
        run.append(facts(about))
    for _ in range(3):
        run.save(path)
        run = dask_insight.open(path)
        assert len(lost(run)) == 1


@pytest.mark.parametrize("module", ["__init__.py", "figures/__init__.py"])
def test_misspelt_names_are_found_by_those_who_check_types(module: str) -> None:
    body = ast.parse((PACKAGE / module).read_text("utf-8")).body
    (unseen,) = (
        each for each in body if isinstance(each, ast.If) and ast.unparse(each.test) != "TYPE_CHECKING"
    )
    assert ast.unparse(unseen.test) == "not TYPE_CHECKING"
    assert [each.name for each in unseen.body if isinstance(each, ast.FunctionDef)] == ["__getattr__"]


@pytest.mark.parametrize("question", ["bounds", "findings", "static", "summary", "what_if", "widget"])
def test_what_questions_give_has_a_type(question: str) -> None:
    given = inspect.signature(getattr(Recording, question)).return_annotation
    assert given not in ("Any", inspect.Signature.empty)


def test_every_table_has_a_type() -> None:
    tables = {name for name in FIELDS if isinstance(getattr(Recording, name), property)} - {"about"}
    assert "compared_names" in tables
    assert Recording.__annotations__.keys() == tables


def test_parts_of_the_package_are_there_when_they_are_named() -> None:
    program = """
import sys, dask_insight
parts = ("batch", "exports", "figures")
assert not [name for name in parts if f"dask_insight.{name}" in sys.modules]
assert {*parts} <= {*dir(dask_insight)}
dask_insight.batch.encode, dask_insight.exports.FORMATS, dask_insight.figures.PANELS
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_tables_say_that_each_access_makes_them() -> None:
    assert "made anew" in str(Recording.tasks.__doc__)
    run = Recording()
    assert run.tasks is not run.tasks


def test_timestamps_are_refused_with_what_to_give() -> None:
    run = Recording()
    run.append(encode("about", {"name": ["started"], "value": [json.dumps(1_750_000_000.0)]}))
    when = datetime.fromtimestamp(1_750_000_002.5)
    with pytest.raises(TypeError, match=r"when\.timestamp\(\) - run\.started"):
        run.slice(when)  # type: ignore[arg-type]
    assert run.slice(when.timestamp() - run.started).about["since"] == 1_750_000_002.5


def test_a_folder_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"make it first: '.*nowhere'$"):
        dask_insight.record(tmp_path / "nowhere" / "run.dinsight").start()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_recording_began_nobody_knows_when_and_nowhere() -> None:
    found = Recording().summary()
    assert np.isnan(found.started)
    assert (found.duration, found.still, found.workers, found.hosts, found.threads) == (0, 0, 0, 0, 0)
    assert str(found) and found.verdict()
