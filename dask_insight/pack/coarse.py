"""Rounds what no picture shows, and leaves out what no page does, for reports; see `Recording.packed`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..batch import Texts, Values
from ..schema import NOTHING, TABLES, UNSEEN
from .failures import without_arguments

#: Tables that name attempts by `run`.
_RUNS = ("attempts", "executions", "running", "phases", "errors", "samples", "collections", "critical")
#: Moments that a picture shows to the microsecond; all others are rounded.
_EXACT = {(table, end) for table in ("attempts", "phases", "critical", "budget") for end in ("start", "stop")}
#: Columns whose sums are to be right.
_SUMMED = {("budget", "threads")}
#: Microseconds to which moments are rounded.
_UNIT = 100
#: Bits of fraction that are kept of single-precision floats, and of doubles that are no whole numbers.
_SINGLE, _DOUBLE = 8, 16

Columns = dict[str, Values]


def coarse(whole: Mapping[str, Columns]) -> dict[str, Columns]:
    """All tables, given in their packed order, with figures rounded and attempts numbered anew.

    The runs count in the order of the attempts; what their workers saw takes
    the same order.
    """
    seen = {name: columns for name, columns in whole.items() if UNSEEN.get(name) != ()}
    tables = {name: _rounded(name, columns) for name, columns in seen.items()}
    if "attempts" in tables:
        _renumber(tables)
        if "executions" in tables:
            tables["executions"] = _without_ends(tables["executions"], tables["attempts"])
    return tables


def units_of(table: str) -> dict[str, int]:
    """The microseconds to which each time of a table is rounded."""
    times = [column.name for column in TABLES[table].columns if column.kind == "time"]
    return {name: _UNIT for name in times if (table, name) not in _EXACT}


def _rounded(table: str, columns: Columns) -> Columns:
    times = {column.name for column in TABLES[table].columns if column.kind == "time"}
    unread = _unread(table)
    kept = {name: values for name, values in columns.items() if name not in unread}
    if table == "graph":
        kept.pop("order", None)
        kept |= _to_come(columns)
    if table == "cells":
        kept["code"] = Texts.of([_titles(code) for code in columns["code"].tolist()])
    if table == "events" and "message" in kept:
        kept["message"] = without_arguments(kept["message"])
    whole = times | {name for name in kept if (table, name) in _SUMMED}
    return {name: values if name in whole else _round(values) for name, values in kept.items()}


def _unread(table: str) -> set[str]:
    """Columns that no page reads, but for those that make others short."""
    return {*UNSEEN.get(table, ())} - {column.since for column in TABLES[table].columns}


def _to_come(graph: Columns) -> Columns:
    """Whether tasks are to run, as their ranks tell, where that of some is not told by their submission."""
    submission, order = (np.asarray(graph.get(name, ())) for name in ("submission", "order"))
    if len(order) == len(submission) and ((submission == NOTHING) & (order != NOTHING)).any():
        return {"order": np.where(order == NOTHING, order, 0).astype("u4")}
    return {}


def _titles(code: str) -> str:
    """Of a cell's code what pages call it by: its first line, and its first beyond comments and magics."""
    lines = [line for each in code.split("\n") if (line := each.strip())]
    told = [line for line in lines if not line.startswith(("#", "%%"))]
    return "\n".join(dict.fromkeys(lines[:1] + told[:1]))


def _round(values: Values) -> Values:
    if not isinstance(values, np.ndarray):
        return values
    if values.dtype == np.float32:
        return np.where(np.isfinite(values), _cut(values, "u4", 23 - _SINGLE), values)
    if values.dtype == np.float64:
        whole = ~np.isfinite(values) | (values == np.rint(values))
        return np.where(whole, values, _cut(values, "u8", 52 - _DOUBLE))
    return values


def _cut(values: np.ndarray, integer: str, bits: int) -> np.ndarray:
    """Floats rounded to so many bits of fraction less."""
    half, count = np.array(1 << (bits - 1), integer), np.array(bits, integer)
    return np.asarray(((values.view(integer) + half) >> count << count).view(values.dtype))


def _renumber(tables: dict[str, Columns]) -> None:
    there = [name for name in _RUNS if name in tables]
    runs = np.concatenate([np.asarray(tables[name]["run"]) for name in there])
    old, place = np.unique(runs, return_index=True)
    number = np.empty(len(old), "u4")
    number[np.argsort(place, kind="stable")] = np.arange(len(old), dtype="u4")
    for name in there:
        run: Any = tables[name]["run"]
        new = np.where(run == NOTHING, NOTHING, number[np.searchsorted(old, run)]).astype("u4")
        tables[name] = {**tables[name], "run": new}


def _without_ends(executions: Mapping[str, Any], attempts: Mapping[str, Any]) -> Columns:
    """Without the moment at which the worker took the result, where the attempt's own end is known."""
    known = attempts["run"][np.isfinite(attempts["stop"])]
    ended = np.where(np.isin(executions["run"], known), np.nan, executions["ended"])
    return {**executions, "ended": ended}
