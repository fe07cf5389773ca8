"""Functions that came to workers without their file are found by name and first line."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import recorded
from distributed import wait

from dask_insight.sources import dynamic
from dask_insight.sources.dynamic import DYNAMIC, shown_files, shown_traceback

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


def entry(file: str, line: int, function: str) -> str:
    return f'  File "{file}", line {line}, in {function}\n'


@pytest.mark.parametrize(
    ("line", "function", "source"),
    [
        (3, "outer", "return function"),
        (9, "wrapped", "return [each for each in (lambda: value)()]"),
        (9, "<lambda>", "return [each for each in (lambda: value)()]"),
        (14, "step", "return lambda: 1"),
    ],
)
def test_a_traceback_tells_file_and_source_of_what_was_hidden(
    module: str, line: int, function: str, source: str
) -> None:
    around = entry("/lib/pool.py", 3, "outer") + "    return outer(1)\n", "ValueError: no\n"
    hidden, told = entry(DYNAMIC, line, function), entry(module, line, function) + f"    {source}\n"
    assert shown_traceback(hidden.join(around)) == told.join(around)


@pytest.mark.parametrize(("line", "function"), [(9, "outer"), (13, "wrapped"), (90_000, "outer"), (3, "no")])
def test_a_traceback_of_other_functions_is_left_as_it_is(module: str, line: int, function: str) -> None:
    hidden = entry(DYNAMIC, line, function)
    assert shown_traceback(hidden) == hidden


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


def test_cells_are_listed_once_for_many_rows(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[list[str]] = []

    def typed_files() -> list[str]:
        listed.append([])
        return listed[-1]

    monkeypatch.setattr(dynamic, "typed_files", typed_files)
    assert shown_files([DYNAMIC] * 1000, ["outer"] * 1000, [2] * 1000) == [module] * 1000
    shown_traceback(entry(DYNAMIC, 3, "outer") * 1000)
    assert len(listed) == 2


def test_of_more_cells_only_the_new_ones_are_looked_into(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def looking(function: str, line: int, file: str) -> bool:
        looked.append(file)
        return begins(function, line, file)

    def typed(name: str, text: str) -> None:
        cells.insert(0, str(tmp_path / name))
        (tmp_path / name).write_text(text)

    begins, cells = dynamic._begins, list[str]()
    monkeypatch.setattr(dynamic, "_begins", looking)
    monkeypatch.setattr(dynamic, "typed_files", lambda: list(cells))
    typed("first.py", "def later():\n    pass\n")
    for name, found in {"outer": module, "later": cells[0], "never": DYNAMIC}.items():
        assert shown_files([DYNAMIC], [name], [1 + (name == "outer")]) == [found]
    typed("second.py", "def later():\n    return 1\n")
    looked.clear()
    for name, found in {"outer": module, "later": cells[0], "never": DYNAMIC}.items():
        assert shown_files([DYNAMIC] * 2, [name] * 2, [1 + (name == "outer")] * 2) == [found] * 2
    assert looked == [cells[0]] * 3


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


def failing(value: int) -> int:
    raise ValueError(f"no {value}")


def test_a_cluster_tells_where_they_failed(client: Any) -> None:
    with recorded(client) as batches:
        wait(client.submit(sent_by_value(failing), 1, key="failing"))
    (failed,) = batches.table("errors")
    assert f'File "{__file__}", line {failing.__code__.co_firstlineno + 1}, in failing' in failed["traceback"]
    assert 'raise ValueError(f"no {value}")' in failed["traceback"]
