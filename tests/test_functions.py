"""Which functions tasks run, and where they stand; source lines. None of a user's code is run for it."""

from __future__ import annotations

import functools
import linecache
import operator
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
import pytest
import toolz
from dask._task_spec import Task
from dask.base import tokenize
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster

import dask_insight
from dask_insight import store
from dask_insight.batch import encode
from dask_insight.history import history
from dask_insight.probe.functions import functions_of
from dask_insight.probe.fused import parts_of
from dask_insight.recording import Recording
from dask_insight.session import code
from dask_insight.session.bounded import BoundedRecording
from dask_insight.session.code import Code, may_be_kept

HERE = str(Path(__file__))


def _plain(number: int) -> int:
    return number + 1


def _other(number: int) -> int:
    return number - 1


def _told_of_its_block(block: Any, block_info: Any = None) -> Any:
    return block


def _decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def around(*args: Any) -> Any:
        return function(*args)

    return around


@_decorated
def _within(number: int) -> int:
    return number


class Wrapping:
    """As a task of Prefect's, or what joblib and scikit-learn put around a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        raise AssertionError("it was called")


class Simple:
    """With a method."""

    def __init__(self, number: int = 0) -> None:
        self.number = number

    def method(self, number: int) -> int:
        return number


def _first_line(function: Any) -> int:
    line: int = function.__code__.co_firstlineno
    return line


@pytest.mark.parametrize(
    ("function", "name", "of"),
    [
        (_plain, "_plain", _plain),
        (functools.partial(functools.partial(_plain), 3), "_plain", _plain),
        (toolz.curry(_plain), "_plain", _plain),
        (_within, "_within", _within.__wrapped__),  # type: ignore[attr-defined]
        (functools.lru_cache(_plain), "_plain", _plain),
        (Wrapping(_plain), "_plain", _plain),
        (_decorated(Wrapping(_plain)), "_plain", _plain),
        (Simple().method, "Simple.method", Simple.method),
        (Simple, "Simple", Simple.__init__),
        (functools.partial(dask.utils.apply, _plain), "_plain", _plain),
    ],
)
def test_a_function_is_found_behind_what_wraps_it(function: Any, name: str, of: Any) -> None:
    assert functions_of(Task("key", function, 1)) == [(name, __name__, HERE, _first_line(of))]
    assert functions_of((function, 1))[0].function == name


def test_a_batch_of_joblibs_tells_the_function_that_it_calls() -> None:
    wrapper = type(
        "_TracebackCapturingWrapper", (), {"__module__": "joblib._utils", "__call__": lambda *_: 0}
    )
    calls = [(_plain, (number,), {}) for number in range(3)]
    places = functions_of(Task("batch_of_plain_3_calls-1", wrapper(), tasks=calls))
    assert places == [("_plain", __name__, HERE, _first_line(_plain))]


def test_a_lambda_stands_on_its_line() -> None:
    function = lambda number: number  # noqa: E731
    [place] = functions_of(Task("key", function, 1))
    assert place.function.endswith("<lambda>") and place.line == _first_line(function)


def test_compiled_functions_have_names_but_no_lines() -> None:
    assert functions_of(Task("key", operator.add, 1, 2)) == [("add", "_operator", "", 0)]
    assert functions_of(Task("key", np.add, 1, 2)) == [("add", "numpy", "", 0)]
    assert functions_of(Task("key", np.sum, 1))[0].file.endswith("fromnumeric.py")
    assert functions_of(Task("key", dask.utils.methodcaller("upper"), "a")) == [("upper", "", "", 0)]


def test_nothing_of_a_user_is_run() -> None:
    class _Hostile(type):
        def __getattribute__(cls, name: str) -> Any:
            raise AssertionError(f"the class was asked for {name}")

    class Thing(metaclass=_Hostile):
        """Whoever asks it for anything runs its code."""

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(f"it was asked for {name}")

        def __repr__(self) -> str:
            raise AssertionError("it was written")

        def __call__(self, number: int) -> int:
            return number

        def __eq__(self, other: object) -> bool:
            raise AssertionError("it was compared")

        __hash__ = None  # type: ignore[assignment]

    thing = object.__new__(Thing)
    task = Task("key", _plain, 1)
    task.func = thing
    own = type.__dict__["__dict__"].__get__(Thing)["__call__"]  # type: ignore[attr-defined]
    assert functions_of(task) == [
        (
            f"{test_nothing_of_a_user_is_run.__name__}.<locals>.Thing.__call__",
            __name__,
            HERE,
            _first_line(own),
        )
    ]
    task.func, task.args, task.kwargs = dask.utils.apply, (thing, [thing]), {"a": thing}
    assert functions_of(task)[0].function.endswith("Thing.__call__")
    task.func = functools.partial(dask.utils.apply, thing)
    functions_of(task)
    functions_of((thing, thing, [thing]))


def test_what_is_no_function_is_not_taken_for_what_something_wraps() -> None:
    class Asked(dict[str, Any]):
        """A place for attributes that runs a user's code."""

        def __getitem__(self, name: str) -> Any:
            raise AssertionError(f"it was asked for {name}")

        get = __contains__ = __getitem__

    for attributes in (Asked(__wrapped__=_plain), {"__wrapped__": "text"}, {"__wrapped__": None}):
        thing = object.__new__(Wrapping)
        object.__setattr__(thing, "__dict__", attributes)
        assert functions_of(Task("key", thing, 1))[0].function == "Wrapping.__call__"


def test_what_is_composed_or_fused_tells_all_its_functions() -> None:
    composed = functions_of(Task("key", toolz.compose(_plain, _other), 1))
    assert {place.function for place in composed} == {"_plain", "_other"}
    first, second = Task("a", _plain, 1), Task("b", _other, Task("a", _plain, 1).ref())
    fused = Task.fuse(first, second)
    assert [place.function for place in functions_of(fused)] == ["_other", "_plain"]


def test_a_fused_task_tells_its_parts_by_the_keys_that_they_had() -> None:
    array = da.ones((20, 20), chunks=10).map_blocks(_plain, dtype="f8")
    sums = [dask.optimize(array.map_blocks(_other, dtype="f8") + number)[0] for number in (1, 2)]
    found = [[part for node in each.dask.values() for part in parts_of(node)] for each in sums]
    for parts in found:
        mine = {part.place.function: part.name for part in parts}
        assert mine["_plain"] == array.name
        assert {part.name for part in parts if part.place.function == "_plain"} == {array.name}
    assert parts_of(Task("key", _plain, 1)) == [] == parts_of(None)
    first, second = Task("a", _plain, 1), Task("b", _other, Task("a", _plain, 1).ref())
    assert parts_of(Task.fuse(first, second)) == []  # Keys without tokens do not tell what is computed.


def test_functions_given_to_machinery_are_found(tmp_path: Path) -> None:
    array = da.ones((20, 20), chunks=10).map_blocks(_plain, dtype="f8").sum()
    told = da.ones((20, 20), chunks=10).map_blocks(_told_of_its_block, dtype="f8").sum()
    for graph, function in ((array, _plain), (told, _told_of_its_block)):
        (graph,) = dask.optimize(graph)
        found = {place for node in graph.dask.values() for place in functions_of(node)}
        here = (function.__name__, __name__, HERE, _first_line(function))
        assert here in found
        (part,) = {part.name for node in graph.dask.values() for part in parts_of(node) if part.place == here}
        assert part.startswith(f"{function.__name__}-")


@pytest.mark.parametrize("task", [None, 5, "key", (), [], {}, [None, (None,)], object()])
def test_what_is_no_task_has_none(task: Any) -> None:
    assert functions_of(task) == []


def test_large_arguments_are_not_searched() -> None:
    deep: Any = _plain
    for _ in range(500):
        deep = [deep]
    assert functions_of(Task("key", dask.utils.apply, deep, list(range(1_000_000))))[0].function == "apply"


def test_a_cluster_tells_where_functions_stand(client: Any) -> None:
    with dask_insight.record() as run:
        client.gather(client.map(_plain, range(3)))
        client.submit(functools.partial(_other), 3).result()
        for function in (_plain, _other):
            client.submit(function, 1, key=(f"shared-{tokenize(function(0))}", 0)).result()
        dask.delayed(_within)(1).compute(scheduler="threads")
    found = run.functions
    assert set(found["source"]) == {"definition"} and set(found["file"]) == {HERE}
    of = {prefix: set(rows["function"]) for prefix, rows in found.groupby("prefix", observed=True)}
    assert of == {
        "plain": {"_plain"},
        "other": {"_other"},
        "shared": {"_plain", "_other"},
        "within": {"_within"},
    }
    lines = run.lines.query("file == @HERE").set_index("line")["text"]
    assert lines[_first_line(_plain)] == "def _plain(number: int) -> int:"
    submitted = run.submissions
    assert submitted["file"].eq(HERE).all()
    assert any("client.map(_plain, range(3))" in lines[line] for line in submitted["line"])
    assert not run.events.query("kind != 'log-before'")["message"].str.contains("failed").any()


@pytest.mark.parametrize("local", [False, True])
def test_what_ran_inside_of_fused_tasks_is_recorded(client: Any, local: bool) -> None:
    array = da.ones((20, 20), chunks=10).map_blocks(_plain, dtype="f8")
    with dask_insight.record() as run:
        (array + 1).sum().compute(scheduler="threads" if local else client)
    mine = run.fused.query("function == '_plain'")
    assert set(mine["part"]) == {array.name} and set(mine["file"]) == {HERE}
    assert set(mine["line"]) == {_first_line(_plain)}
    assert set(mine["group"]) <= set(run.graph["group"])


def test_batches_of_joblib_are_of_one_name_whatever_number_of_calls_they_make(client: Any) -> None:
    with dask_insight.record() as run:
        keys = [f"batch_of_plain_{calls}_calls-{uuid4().hex}" for calls in (1, 2, 16)]
        client.gather([client.submit(_plain, 1, key=key) for key in keys])
    metrics = run.table("metrics")
    named = (run.table("graph"), run.table("functions"), metrics[metrics["context"] == "execute"])
    assert [set(table["prefix"]) for table in named] == [{"batch_of_plain_n_calls"}] * 3
    assert {*run.table("graph")["key"]} == {*keys}
    assert len({*run.table("graph")["group"]}) == 3, "groups keep the number"


def test_a_recorder_that_comes_later_is_told_too(client: Any) -> None:
    with dask_insight.record():
        client.submit(_plain, 1, pure=False).result()
        with dask_insight.record() as later:
            client.submit(_plain, 1, pure=False).result()
        assert set(later.functions["function"]) == {"_plain"}


def test_no_source_is_kept_where_it_is_not_wanted(client: Any) -> None:
    with dask_insight.record(source=False) as run:
        client.submit(_plain, 1).result()
        dask.delayed(_plain)(1).compute(scheduler="threads")
        assert not may_be_kept(run)
    assert run.lines.empty and set(run.submissions["code"]) == {""}
    assert run.submissions["line"].gt(0).all() and not run.functions.empty
    assert run.about["options"]["source"] is False


def _stacks(*frames: tuple[str, str, int, int], prefix: str = "name") -> Recording:
    """One task, sampled for a second with these frames (function, file, first line, line), callers first."""
    recording = Recording()
    recording.append(encode("graph", {"task": [1], "key": ["name-1"], "prefix": [prefix]}))
    recording.append(
        encode("attempts", {"run": [7], "task": [1], "worker": ["w"], "start": [1.0], "stop": [2.0]})
    )
    function, file, first, line = zip(*frames, strict=True)
    rows = range(len(frames))
    columns = {"stack": list(rows), "parent": [0xFFFF_FFFF, *rows][: len(frames)], "function": function}
    recording.append(encode("stacks", columns | {"file": file, "first_line": first, "line": line}))
    sample = {"process": ["w"], "thread": ["1"], "time": [2.0], "duration": [1.0], "run": [7]}
    recording.append(encode("samples", sample | {"stack": [len(frames) - 1]}))
    return recording


_LIB = "/usr/lib/python3.11"
_BELOW = (
    ("run", f"{_LIB}/threading.py", 1, 2),
    ("execute", f"{_LIB}/site-packages/dask/_task_spec.py", 1, 2),
    ("apply", f"{_LIB}/dist-packages/toolz/functoolz.py", 1, 2),
)


def test_the_first_frame_that_is_no_machinery_stands_for_the_task() -> None:
    recording = _stacks(
        *_BELOW[:2],
        ("work", "/home/me/python3/lib.py", 5, 9),
        ("sum", f"{_LIB}/site-packages/numpy/x.py", 1, 1),
    )
    Code(recording).keep()
    [row] = recording.functions.to_dict("records")
    assert row == {
        "prefix": "name",
        "function": "work",
        "module": "",
        "file": "/home/me/python3/lib.py",
        "line": 5,
        "source": "sampled",
    }
    Code(recording).keep()
    assert len(recording.functions) == 1


def test_a_folder_of_ones_own_may_be_called_dask() -> None:
    recording = _stacks(*_BELOW, ("work", "/home/me/dask/train.py", 5, 9))
    Code(recording).keep()
    assert recording.functions["function"].tolist() == ["work"]


def test_nothing_is_made_up_where_only_machinery_was_seen() -> None:
    source = ("transition", "/home/me/dask-main/dask/base.py", 1, 2)
    recording = _stacks(*_BELOW, source)
    Code(recording).keep()
    assert recording.functions.empty


def test_lines_of_a_file_that_is_another_one_here_are_left_out(tmp_path: Path) -> None:
    same, other = tmp_path / "same.py", tmp_path / "other.py"
    same.write_text("import math\n\ndef work(x):\n    return math.sqrt(x)\n")
    other.write_text("# moved\n\n\n\ndef work(x):\n    return math.sqrt(x)\n")
    for file, expected in ((same, ["def work(x):", "return math.sqrt(x)"]), (other, [])):
        recording = _stacks(("work", str(file), 3, 4))
        Code(recording).keep()
        assert recording.lines["text"].tolist() == expected


def test_workers_have_no_other_files_read_than_those_of_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They name what they like; a pipe would be waited for, too."""
    secret, program, pipe = (tmp_path / name for name in ("secret.txt", "program", "pipe.py"))
    for file in (secret, program):
        file.write_text("work = 'hunter2'\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(program), raising=False)
    recording = _stacks(*(("<module>", str(file), 1, 1) for file in (secret, pipe, program)))
    Code(recording).keep()
    assert recording.lines["file"].tolist() == [str(program)]


def test_lines_are_bounded_and_those_left_out_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "LINES", 3)
    file = tmp_path / "many.py"
    file.write_text("def work(x):\n" + "".join(f"    x += {number}\n" for number in range(9)))
    recording = _stacks(*[("work", str(file), 1, line) for line in range(2, 10)])
    keeping = Code(recording)
    keeping.keep()
    keeping.keep()
    assert len(recording.lines) == 3
    [event] = recording.events["message"]
    assert "6 lines of source code" in event


def test_lines_of_what_a_kernel_did_long_ago_leave_room_for_those_of_later_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "LINES", 3)
    monkeypatch.setattr(history, "_BATCHES", 20)
    monkeypatch.setattr(history, "_LEFT", 5)
    path = tmp_path / "cells.py"
    path.write_text("".join(f"result_{each} = slow()\n" for each in range(12)))
    recording = BoundedRecording(50)
    keeper = Code(recording)
    for cell in range(12):
        place = {"submission": [cell], "file": [str(path)], "line": [cell + 1]}
        recording.append(encode("submissions", place))
        recording.append(encode("graph", {"task": [500 * cell], "submission": [cell]}))
        keeper.keep()
        lines: Any = recording.columns("lines")
        assert f"result_{cell} = slow()" in lines["text"].tolist()
        for first in range(500 * cell, 500 * cell + 500, 10):
            tasks = list(range(first, first + 10))
            recording.append(encode("attempts", {"run": tasks, "task": tasks, "status": ["ok"] * 10}))
            recording.tidy()
    assert not len(recording.events)


def test_keeping_code_leaves_the_tables_of_a_long_recording_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_FRESH", 0)
    monkeypatch.setattr(history, "_PIECE", 400)
    path = tmp_path / "mine.py"
    path.write_text("def work(x):\n    x += 1\n    x += 2\n")
    recording = _stacks(("work", str(path), 1, 2), ("work", str(path), 1, 3))
    for task in range(20):
        recording.append(encode("graph", {"task": [task], "prefix": ["work"]}))
        recording.append(encode("attempts", {"run": [task], "task": [task], "status": ["ok"]}))
        recording.append(encode("samples", {"run": [task], "stack": [task % 2], "duration": [0.01]}))
    recording.append(encode("samples", {"run": [0]})[:-1])
    recording.history.tidy()
    assert recording.history.merged
    Code(recording).keep()
    assert not recording._merged.keys() - {"lines"}
    assert set(recording.lines["text"]) == {"def work(x):", "x += 1", "x += 2"}
    assert recording.functions["prefix"].tolist() == ["work"]


def test_source_that_is_left_out_is_told_again_when_it_is_twice_as_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "LINES", 3)
    path = tmp_path / "mine.py"
    path.write_text("a = 1\n" * 20)
    recording = Recording()
    keeper = Code(recording)
    for line in range(1, 15):
        recording.append(encode("functions", {"prefix": [f"f{line}"], "file": [str(path)], "line": [line]}))
        keeper.keep()
    assert [message.split()[0] for message in recording.events["message"]] == ["1", "2", "4", "8"]


def test_a_notebook_cell_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.sources import cells

    name = "/tmp/ipykernel_12/345.py"
    compiler = type("Compiler", (), {"_filename_map": {name: 5}})()
    shell = type("Shell", (), {"compile": compiler})()
    fake = type("IPython", (), {"get_ipython": staticmethod(lambda: shell)})
    monkeypatch.setitem(cells.sys.modules, "IPython", fake)  # type: ignore[arg-type]
    monkeypatch.setitem(linecache.cache, name, (3, None, ["x = 1\n", "def f():\n", "    return x\n"], name))
    assert cells.shown_file(name) == "In [5]" and cells.file_of("In [5]") == name
    assert cells.shown_file("/tmp/ipykernel_12/6.py") == "/tmp/ipykernel_12/6.py"
    recording = _stacks(("f", "In [5]", 2, 3))
    Code(recording).keep()
    assert recording.lines["text"].tolist() == ["def f():", "return x"]


@pytest.mark.parametrize("name", ["<ipython-input-5-8a1b>", "<python-input-5>"])
def test_what_is_typed_has_its_source(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(linecache.cache, name, (3, None, ["x = 1\n", "def f():\n", "    return x\n"], name))
    recording = _stacks(("f", name, 2, 3))
    Code(recording).keep()
    assert recording.lines["text"].tolist() == ["def f():", "return x"]


def test_workers_tell_how_many_cores_they_may_use(client: Any) -> None:
    with dask_insight.record() as run:
        client.submit(_plain, 1, pure=False).result()
        dask.delayed(_plain)(1).compute(scheduler="threads")
    workers = run.workers.groupby("worker", observed=True).last()
    assert len(workers) == 3 and workers["cores"].eq(CPU_COUNT).all()
    assert workers["threads"].gt(0).all() and workers["host"].ne("").all()


@pytest.mark.skipif(
    CPU_COUNT < 2 or not hasattr(os, "sched_setaffinity"), reason="needs two cores, and a system that binds"
)
def test_workers_that_are_bound_to_cores_of_their_own_tell_so() -> None:
    """As those of batch jobs that share a machine."""

    def bind(dask_worker: Any) -> None:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[dask_worker.name]})

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.run(bind)
        with dask_insight.record() as run:
            client.submit(_plain, 1, pure=False).result()
    workers = run.workers.groupby("worker", observed=True).last()
    assert workers["cores"].tolist() == [1, 1]
    assert workers["core_set"].nunique() == 2 and workers["namespace"].nunique() == 1
