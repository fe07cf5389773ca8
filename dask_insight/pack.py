"""Large, sorted batches: the smallest form of a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .batch import Symbols, Texts, Values, encode
from .columns import Columns, length, take
from .schema import NOTHING, TABLES

#: Columns that bring rows into an order in which neighbours are alike.
_ORDER: Mapping[str, tuple[str, ...]] = {
    "graph": ("task",),
    "edges": ("task", "dependency"),
    "attempts": ("worker", "thread", "start"),
    "executions": ("worker", "ended"),
    "phases": ("action", "run"),
    "transfers": ("worker", "direction", "start"),
    "transferred": ("transfer",),
    "resources": ("process", "time"),
    "gpus": ("process", "index", "time"),
    "memory": ("worker", "time"),
    "stacks": ("stack",),
    "samples": ("process", "thread", "time"),
    "sampling": ("process", "time"),
    "metrics": ("worker", "context", "span", "prefix", "activity", "unit", "time"),
    "clocks": ("worker", "time"),
}
#: Tables that name attempts by `run`.
_RUNS = ("attempts", "executions", "running", "phases", "errors", "samples")
#: Moments that a picture shows to the microsecond; all others are rounded in coarse form.
_EXACT = {("attempts", "start"), ("attempts", "stop"), ("phases", "start"), ("phases", "stop")}
#: Microseconds.
_COARSE_UNIT = 100
#: Bits of the fraction that a coarse 32-bit float keeps: two significant figures and a half.
_COARSE_BITS = 8
#: Most rows in one batch: what a damaged frame can cost.
BATCH_ROWS = 131_072

Read = Callable[[str], Columns]


def packed(read: Read, *, coarse: bool = False) -> list[bytes]:
    """Every table that has rows in as few batches as can be; see `Recording.packed`."""
    whole = {name: _sorted(columns, _ORDER.get(name, ())) for name in TABLES if length(columns := read(name))}
    if coarse:
        _renumber(whole)
    batches = []
    for name, columns in whole.items():
        units = _units(name) if coarse else None
        for first in range(0, length(columns), BATCH_ROWS):
            part = {each: take(values, slice(first, first + BATCH_ROWS)) for each, values in columns.items()}
            part = {each: _compact(_coarse(values) if coarse else values) for each, values in part.items()}
            batches.append(encode(name, part, units=units))
    return batches


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


def _compact(values: Values) -> Values:
    """Symbols without the names that no row has."""
    if not isinstance(values, Symbols):
        return values
    used = np.zeros(len(values.names), bool)
    used[values.codes] = True
    if used.all():
        return values
    codes = (np.cumsum(used) - 1).astype("u4")
    return Symbols(codes[values.codes], [name for name, kept in zip(values.names, used, strict=True) if kept])


def _renumber(whole: dict[str, dict[str, Values]]) -> None:
    """Number the runs in the order of the attempts, and bring what their workers saw into the same order."""
    if "attempts" not in whole:
        return
    first = [whole[name]["run"] for name in _RUNS if name in whole]
    old, place = np.unique(np.concatenate([np.asarray(run) for run in first]), return_index=True)
    number = np.empty(len(old), "u4")
    number[np.argsort(place, kind="stable")] = np.arange(len(old), dtype="u4")
    for name in _RUNS:
        if name not in whole:
            continue
        run: Any = whole[name]["run"]
        new = np.where(run == NOTHING, NOTHING, number[np.searchsorted(old, run)]).astype("u4")
        whole[name] = {**whole[name], "run": new}
    if "executions" in whole:
        whole["executions"] = _without_ends(whole["executions"], whole["attempts"])
    for name in ("executions", "phases", "errors"):
        if name in whole:
            whole[name] = _sorted(whole[name], ("action", "run") if name == "phases" else ("run",))


def _without_ends(executions: Mapping[str, Any], attempts: Mapping[str, Any]) -> dict[str, Values]:
    """Without the moment at which the worker took the result, where the attempt's own end is known."""
    known = attempts["run"][np.isfinite(attempts["stop"])]
    ended = np.where(np.isin(executions["run"], known), np.nan, executions["ended"])
    return {**executions, "ended": ended}


def _coarse(values: Values) -> Values:
    """Single-precision floats rounded to `_COARSE_BITS` bits of fraction; all else as it is."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float32:
        return values
    dropped = 23 - _COARSE_BITS
    bits = values.view("u4").astype("u8")
    rounded = ((bits + (1 << (dropped - 1))) >> dropped << dropped).astype("u4").view("f4")
    return np.where(np.isfinite(values), rounded, values).astype("f4")


def _units(table: str) -> dict[str, int]:
    times = [column.name for column in TABLES[table].columns if column.kind == "time"]
    return {name: _COARSE_UNIT for name in times if (table, name) not in _EXACT}
