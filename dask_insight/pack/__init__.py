"""Large, sorted batches: the smallest form of a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..batch import Symbols, Texts, Values, encode
from ..columns import Columns, compact, is_missing, length, take
from ..lookup import Lookup, pick
from ..schema import TABLES
from .coarse import coarse, units_of

#: Columns that bring rows into an order in which neighbours are alike.
_ORDER: Mapping[str, tuple[str, ...]] = {
    "graph": ("task",),
    "edges": ("task", "dependency"),
    "attempts": ("worker", "thread", "start"),
    "executions": ("worker", "ended"),
    "phases": ("action", "run"),
    "transfers": ("worker", "direction", "start"),
    "releases": ("time",),
    "transferred": ("transfer",),
    "resources": ("process", "time"),
    "collections": ("process", "time"),
    "gpus": ("process", "index", "time"),
    "memory": ("worker", "time"),
    "gauges": ("worker", "name", "time"),
    "stacks": ("stack",),
    "samples": ("process", "thread", "time"),
    "sampling": ("process", "time"),
    "metrics": ("worker", "context", "span", "prefix", "activity", "unit", "time"),
    "clocks": ("worker", "time"),
    "budget": ("worker", "part", "start"),
}
#: The same for tables whose attempts have been numbered anew.
_BY_RUN: Mapping[str, tuple[str, ...]] = {
    "executions": ("run",),
    "phases": ("action", "run"),
    "errors": ("run",),
}
#: Tables that others refer to: what comes meanwhile to a recording that grows leaves no row without a name.
_NAMING = ("edges", "graph", "stacks", "spans", "submissions", "cells", "workers")
#: Most rows in one batch of a report.
_REPORT_ROWS = 131_072
#: Fewest rows for which a table of a file is cut, and most batches of one: what damage can cost.
_FILE_ROWS, _FILE_BATCHES = 4_096, 32

Read = Callable[[str], Columns]


def packed(read: Read, *, rounded: bool = False) -> list[bytes]:
    """Every table that has rows in few batches; see `Recording.packed`."""
    whole = _read_all(read)
    if "attempts" in whole and "executions" in whole:
        _put_right(whole["attempts"], whole["executions"])
    whole = {name: _sorted(columns, _ORDER.get(name, ())) for name, columns in whole.items()}
    if rounded:
        whole = coarse(whole)
        whole = {name: _sorted(columns, _BY_RUN.get(name, ())) for name, columns in whole.items()}
    batches = []
    for name, columns in whole.items():
        units = units_of(name) if rounded else None
        most = _REPORT_ROWS if rounded else max(_FILE_ROWS, -(-length(columns) // _FILE_BATCHES))
        for first in range(0, length(columns), most):
            rows = slice(first, first + most)
            part = {each: compact(take(values, rows)) for each, values in columns.items()}
            # What is left out reads as missing.
            told = {each: values for each, values in part.items() if not is_missing(values)}
            batches.append(encode(name, told or part, units=units, short=rounded))
    return batches


def _read_all(read: Read) -> dict[str, dict[str, Values]]:
    """The tables that have rows; those that others refer to are read after these."""
    order = sorted(TABLES, key=lambda name: _NAMING.index(name) if name in _NAMING else -1)
    found = {name: dict(columns) for name in order if length(columns := read(name))}
    return {name: found[name] for name in TABLES if name in found}


def _put_right(attempts: dict[str, Values], executions: dict[str, Values]) -> None:
    """Move the times that a worker knows better to where they belong; both tables are changed in place."""
    runs: Any = attempts["run"]
    at = Lookup(np.asarray(executions["run"])).rows(runs)
    for name in ("start", "stop"):
        told: Any = executions[name]
        times: Any = attempts[name]
        better = pick(told, at)
        moved = np.isfinite(better) & np.isfinite(times)
        attempts[name] = np.where(moved, better, times)
        left = told.copy()
        left[at[moved]] = np.nan
        executions[name] = left


def _sorted(columns: Columns, by: tuple[str, ...]) -> dict[str, Values]:
    keys = [_key(columns[name]) for name in reversed(by)]
    if not keys or length(columns) < 2:
        return dict(columns)
    order = np.lexsort(keys)
    if (order[1:] > order[:-1]).all():
        return dict(columns)
    return {name: take(values, order) for name, values in columns.items()}


def _key(values: Values) -> np.ndarray:
    if isinstance(values, Texts):
        raise TypeError("a column of unique text cannot be sorted by")
    return values.codes if isinstance(values, Symbols) else values
