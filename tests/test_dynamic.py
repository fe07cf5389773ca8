"""Functions that came to workers without their file are found by name and first line."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import recorded

from dask_insight.sources import dynamic
from dask_insight.sources.dynamic import DYNAMIC, shown_files

SOURCE = """
def outer(function):
    return function


@outer
@outer
def wrapped(value):
    return [each for each in (lambda: value)()]


class Steps:
    def step(self):
        return lambda: 1
"""


def busy(seconds: float) -> float:
    import time

    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return seconds


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "my_steps.py"
    path.write_text(SOURCE)
    made = types.ModuleType("my_steps")
    made.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "my_steps", made)
    monkeypatch.setattr(dynamic, "_found", {})
    return str(path)


@pytest.mark.parametrize(
    ("function", "line"),
    [("outer", 2), ("wrapped", 6), ("wrapped.<locals>.<lambda>", 9), ("Steps.step", 13), ("Steps", 12)],
)
def test_a_function_is_found_by_its_name_and_first_line(module: str, function: str, line: int) -> None:
    assert shown_files([DYNAMIC], [function], [line]) == [module]


@pytest.mark.parametrize(
    ("function", "line"), [("outer", 3), ("wrapper", 6), ("outer", 900), ("<lambda>", 3)]
)
def test_what_does_not_fit_stays_unknown(module: str, function: str, line: int) -> None:
    assert shown_files([DYNAMIC], [function], [line]) == [DYNAMIC]


def test_a_module_that_comes_later_is_looked_into(module: str, tmp_path: Path) -> None:
    assert shown_files([DYNAMIC], ["later"], [1]) == [DYNAMIC]
    path = tmp_path / "later_steps.py"
    path.write_text("def later():\n    pass\n")
    made = types.ModuleType("later_steps")
    made.__file__ = str(path)
    sys.modules["later_steps"] = made
    try:
        assert shown_files([DYNAMIC], ["later"], [1]) == [str(path)]
    finally:
        del sys.modules["later_steps"]


def test_files_that_are_told_are_left_as_they_are(module: str) -> None:
    assert shown_files(["other.py"], ["outer"], [2]) == ["other.py"]


def sent_by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """As cloudpickle sends functions of a script, from 3.1.3 on."""
    code = function.__code__.replace(co_filename=DYNAMIC)
    made = types.FunctionType(code, {"__builtins__": __builtins__}, function.__name__)
    made.__module__ = "__main__"
    return made


def test_a_cluster_tells_where_such_functions_stand(client: Any) -> None:
    with recorded(client) as batches:
        client.gather(client.map(sent_by_value(busy), [0.3] * 4, key="busy", pure=False))
    (defined,) = [row for row in batches.table("functions") if row["prefix"] == "busy"]
    assert (defined["file"], defined["line"]) == (__file__, busy.__code__.co_firstlineno)
    assert {row["file"] for row in batches.table("stacks") if row["function"] == "busy"} == {__file__}
