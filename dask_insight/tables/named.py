"""Tables whose ids are given the names behind them: phases, errors, edges, samples, collections, releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..batch import Symbols, intern
from ..lookup import Lookup, fill_symbols, pick, to_micros
from ..schema import NOTHING, TABLES
from . import plain
from .errors import kind_of
from .field import Field

_PREFIX = Field("prefix", "", "Task name of the attempt; '' if none.")
_KEY = Field("key", "", "Key of the task.")
_WORKER = Field("worker", "", "Worker of the attempt.")
_THREAD = Field("thread", "", "Thread of the attempt, within the worker.")

PHASES = (
    *plain.fields(TABLES["phases"]),
    Field("duration", "s", "stop - start."),
    _KEY,
    _PREFIX,
    _WORKER,
    _THREAD,
)
ERRORS = (
    *plain.fields(TABLES["errors"]),
    _KEY,
    _PREFIX,
    _WORKER,
    Field("kind", "", "Name of the exception's type, as far as its text tells it."),
    Field("time", "time", "When the scheduler knew that the attempt had ended."),
)
EDGES = (
    *plain.fields(TABLES["edges"]),
    Field("key", "", "Key of the task that needs the result."),
    Field("dependency_key", "", "Key of the task whose result is needed."),
)
SAMPLES = (*plain.fields(TABLES["samples"]), _PREFIX)
COLLECTIONS = (*plain.fields(TABLES["collections"]), _PREFIX)
RELEASES = (*plain.fields(TABLES["releases"]), _KEY, Field("prefix", "", "Task name."))

Read = Callable[[str], Mapping[str, Any]]


def names_of(graph: Mapping[str, Any], task: np.ndarray) -> Symbols:
    """Task name of each task; '' where the graph lacks it."""
    found: Symbols = pick(graph["prefix"], Lookup(graph["task"]).rows(task))
    return found


def phases(read: Read) -> Mapping[str, Any]:
    """Phases with the attempt they belong to."""
    columns = read("phases")
    return {
        **columns,
        "duration": to_micros(columns["stop"] - columns["start"]),
        **_of_run(read, columns["run"], "key", "prefix", "worker", "thread"),
    }


def errors(read: Read) -> Mapping[str, Any]:
    """Errors with the attempt that raised them, as they came."""
    rows = errors_in_time(read)
    told = read("errors")
    columns = {name: pick(values, rows) for name, values in told.items()}
    kinds = intern(map(kind_of, told["exception"].tolist(), told["traceback"].tolist()))
    attempts = read("attempts")
    return {
        **columns,
        **_of_task(read, columns["task"], "key", "prefix"),
        **_of_run(read, columns["run"], "worker"),
        "kind": pick(kinds, rows),
        "time": pick(attempts["done"], Lookup(attempts["run"]).rows(columns["run"])),
    }


def errors_in_time(read: Read) -> np.ndarray:
    """Rows of `errors` in the order in which schedulers knew of them; workers tell of them in any order."""
    attempts = read("attempts")
    rows = Lookup(attempts["run"]).rows(read("errors")["run"])
    return np.argsort(pick(attempts["done"], rows), kind="stable")


def edges(read: Read) -> Mapping[str, Any]:
    """Edges with the keys at both ends."""
    columns = read("edges")
    return {
        **columns,
        **_of_task(read, columns["task"], "key"),
        "dependency_key": _of_task(read, columns["dependency"], "key")["key"],
    }


def samples(read: Read) -> Mapping[str, Any]:
    """Samples with the name of the task that ran."""
    columns = read("samples")
    return {**columns, **_of_run(read, columns["run"], "prefix")}


def collections(read: Read) -> Mapping[str, Any]:
    """Garbage collections with the name of the task that ran."""
    columns = read("collections")
    return {**columns, **_of_run(read, columns["run"], "prefix")}


def releases(read: Read) -> Mapping[str, Any]:
    """Releases with the task whose result it was."""
    columns = read("releases")
    return {**columns, **_of_task(read, columns["task"], "key", "prefix")}


def _of_task(read: Read, task: np.ndarray, *names: str) -> Mapping[str, Any]:
    graph = read("graph")
    rows = Lookup(graph["task"]).rows(task)
    return {name: pick(graph[name], rows) for name in names}


def _of_run(read: Read, run: np.ndarray, *names: str) -> dict[str, Any]:
    """Facts about the attempts with these ids, ended or still running."""
    attempts = read("attempts")
    running = read("running")
    rows, begun = Lookup(attempts["run"]).rows(run), Lookup(running["run"]).rows(run)
    task = np.where(rows >= 0, pick(attempts["task"], rows), pick(running["task"], begun)).astype("u4")
    task[(rows < 0) & (begun < 0)] = NOTHING
    own = [name for name in names if name in ("worker", "thread")]
    told = _of_task(read, task, *(name for name in names if name not in own))
    return {
        **told,
        **{name: fill_symbols(pick(attempts[name], rows), pick(running[name], begun)) for name in own},
    }
