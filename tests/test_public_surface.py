"""What people may rely on: the names, their signatures, and a description of each."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import tomllib
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

import dask
import pytest

import dask_insight
from dask_insight import figures
from dask_insight.options import Options

PUBLIC = {
    "CacheProfiler",
    "Callback",
    "Comparison",
    "MemorySampler",
    "Profiler",
    "ProgressBar",
    "Recording",
    "RecordingError",
    "ResourceProfiler",
    "Session",
    "compare",
    "context_meter",
    "get_task_stream",
    "load",
    "open",
    "performance_report",
    "record",
    "runs",
    "visualize",
    "watch",
}

TABLES = (
    "tasks",
    "phases",
    "edges",
    "transfers",
    "resources",
    "memory",
    "stacks",
    "samples",
    "metrics",
    "events",
    "workers",
    "spans",
    "submissions",
)

METHODS = (
    "balance",
    "bottlenecks",
    "call_stacks",
    "dependencies",
    "explain",
    "time_budget",
    "append",
    "bounds",
    "columns",
    "critical_path",
    "describe",
    "flame",
    "held",
    "moved",
    "report",
    "save",
    "shape",
    "slice",
    "summary",
    "table",
    "what_if",
    "widget",
)

TASK_COLUMNS = {
    "key",
    "prefix",
    "group",
    "worker",
    "thread",
    "start",
    "stop",
    "duration",
    "nbytes",
    "typename",
    "status",
    "attempt",
    "span",
}


def test_names() -> None:
    assert set(dask_insight.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(dask_insight, name).__doc__, name
        assert name in dir(dask_insight)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'recrod'"):
        dask_insight.recrod  # noqa: B018


def test_version_is_the_installed_one() -> None:
    assert dask_insight.__version__ == version("dask_insight")


def test_command_is_installed() -> None:
    [command] = entry_points(group="console_scripts", name="dask-insight")
    assert callable(command.load())


def test_record_takes_path_and_client_and_then_keywords() -> None:
    parameters = inspect.signature(dask_insight.record).parameters
    kinds = {name: parameter.kind for name, parameter in parameters.items()}
    assert list(parameters)[:3] == ["path", "client", "name"]
    assert kinds["profile"] is kinds["resources"] is inspect.Parameter.KEYWORD_ONLY
    assert parameters["path"].default is parameters["client"].default is None
    assert parameters["profile"].default is True


def test_every_option_of_a_recording_is_described() -> None:
    described = str(dask_insight.record.__doc__)
    assert [each.name for each in fields(Options) if each.name not in described] == []


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_there_and_described(table: str) -> None:
    described = getattr(dask_insight.Recording, table).__doc__
    columns = re.findall(r"^    (\w+)(?: \[.+\])?: \S", described, re.MULTILINE)
    assert columns
    recording = dask_insight.Recording()
    assert list(getattr(recording, table).columns) == columns


def test_tasks_have_the_columns_that_people_know() -> None:
    assert set(dask_insight.Recording().tasks.columns) >= TASK_COLUMNS


@pytest.mark.parametrize("method", METHODS)
def test_methods_are_described(method: str) -> None:
    assert inspect.getdoc(getattr(dask_insight.Recording, method))


@pytest.mark.parametrize(
    "function",
    [
        dask_insight.compare,
        dask_insight.record,
        dask_insight.watch,
        dask_insight.Recording.balance,
        dask_insight.Recording.bottlenecks,
        dask_insight.Recording.call_stacks,
        dask_insight.Recording.critical_path,
        dask_insight.Recording.dependencies,
        dask_insight.Recording.flame,
        dask_insight.Recording.held,
        dask_insight.Recording.moved,
        dask_insight.Recording.shape,
        dask_insight.Recording.slice,
        dask_insight.Recording.time_budget,
        dask_insight.Recording.what_if,
        dask_insight.Recording.widget,
    ],
)
def test_parameters_are_described(function: Callable[..., Any]) -> None:
    """The numpydoc section `Parameters` names every parameter, and no other."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+$|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"{function.__name__} has no section Parameters"
    named = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", section[1], re.MULTILINE)
    described = {name.strip() for names in named for name in names.split(",")}
    assert described == set(inspect.signature(function).parameters) - {"self", "options"}


@pytest.mark.parametrize(
    ("method", "asked"),
    [("flame", "sleep"), ("time_budget", "worker"), ("balance", "1s"), ("bottlenecks", "task")],
)
def test_what_is_asked_first_needs_no_name(method: str, asked: str) -> None:
    (_, first, *_) = inspect.signature(question := getattr(dask_insight.Recording, method)).parameters
    recording = dask_insight.open(Path(__file__).parent / "golden" / "run.dinsight")
    value = recording.tasks["prefix"].iloc[0] if method == "flame" else asked
    assert question(recording, value).equals(question(recording, **{first: value}))


@pytest.mark.parametrize("method", ["what_if", "summary", "bounds"])
def test_who_asks_wrongly_is_told_of_the_class_that_people_know(method: str) -> None:
    with pytest.raises(TypeError, match=rf"^Recording\.{method}\(\) takes 1 positional argument"):
        getattr(dask_insight.Recording(), method)(8)
    question = getattr(dask_insight.Recording, method)
    assert pickle.loads(pickle.dumps(question)) is question


def test_the_extension_asks_for_the_jupyterlab_that_the_package_does() -> None:
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    (wanted,) = (each for each in project["optional-dependencies"]["lab"] if each.startswith("jupyterlab"))
    ranges = json.loads((root / "labextension" / "package.json").read_text("utf-8"))["dependencies"]
    # A newer one would be refused by `jupyter labextension list`.
    for package in ("application", "notebook", "settingregistry"):
        assert f">={ranges[f'@jupyterlab/{package}'].strip('^').rsplit('.', 1)[0]}," in wanted


def test_it_records_where_it_is_not_installed_but_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", unknown)
    monkeypatch.setattr("dask_insight.session.facts.version", unknown)
    assert not hasattr(dask_insight, "__version__")
    with dask_insight.record(clusters=False) as run:
        dask.delayed(abs)(-1).compute(scheduler="sync")
    assert "dask_insight" not in run.about["packages"]
    assert "dask_insight</text>" in figures.svg(run)
