"""A recording that fits into a notebook, and what had to be left out for that, in words."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import words
from ...batch import encode
from ...columns import Columns, length, take
from ...recording import Recording
from ...schema import TABLES

Tables = dict[str, Columns]

#: Tables of moments, of which every eighth is kept where they are too many.
_MOMENTS = ("resources", "gpus", "memory")
#: Shares of the time that a gap between two tasks of one name may have for them to be drawn as one.
_GAPS = (1 / 8000, 1 / 4000, 1 / 2000, 1 / 1000, 1 / 500, 1 / 200)
#: What no picture of merged tasks can show.
_NOT_MERGED = ("done", "assigned", "ready", "submitted", "queued", "nbytes", "typename")


def thinned(recording: Recording, budget: int) -> tuple[Recording, list[str]]:
    """A recording whose compressed data take at most `budget` bytes as base64, as far as that can be.

    Returns
    -------
    Recording, list of str
        The recording itself, or a thinner one; what is left out, in words.
    """
    if _size(recording) <= budget:
        return recording, []
    left_out: list[str] = []
    tables: Tables = {name: columns for name in TABLES if length(columns := recording.columns(name))}
    for said, change in _STEPS:
        tables = change(tables)
        left_out.append(said)
        if _size(made := _recording(tables)) <= budget:
            return made, left_out
    whole = length(tables["attempts"])
    for share in _GAPS:
        tables = _merged(tables, share)
        if _size(made := _recording(tables)) <= budget:
            break
    fewer = words.count(whole - length(tables["attempts"]), "short task")
    return made, [*left_out, f"{fewer}, each drawn as one with its neighbour"]


def _without(tables: Tables, *names: str) -> Tables:
    return {name: columns for name, columns in tables.items() if name not in names}


def _without_details(tables: Tables) -> Tables:
    kept = _without(tables, "executions", "clocks", "cache")
    return kept | {"graph": {name: values for name, values in kept["graph"].items() if name != "key"}}


def _sparse(tables: Tables) -> Tables:
    def thin(columns: Columns) -> Columns:
        return {name: take(values, slice(None, None, 8)) for name, values in columns.items()}

    return {name: thin(columns) if name in _MOMENTS else columns for name, columns in tables.items()}


#: What is left out, one after another, until the rest fits: first what says least about where the time went.
_STEPS: tuple[tuple[str, Callable[[Tables], Tables]], ...] = (
    (
        "which task needed which and what was sent where",
        lambda now: _without(now, "edges", "transfers", "transferred"),
    ),
    ("the keys of the tasks and what workers noted of each", _without_details),
    ("most samples of CPU and memory", _sparse),
    ("call stacks", lambda now: _without(now, "stacks", "samples", "sampling")),
)


def _merged(tables: Tables, share: float) -> Tables:
    """With one attempt for several that ended well, follow each other closely and have one name.

    The one lasts as long as its parts together computed.
    """
    attempts: Any = tables["attempts"]
    start, stop = attempts["start"], attempts["stop"]
    gap = share * float(np.nanmax(stop) - np.nanmin(start))
    lane = attempts["worker"].codes.astype("i8") << 24 | attempts["thread"].codes.astype("i8")
    order = np.lexsort((start, lane))
    name, lane, begin, end = _names(tables, attempts["task"])[order], lane[order], start[order], stop[order]
    well = [code for code, status in enumerate(attempts["status"].names) if status == "ok"]
    good = np.isin(attempts["status"].codes, well)[order] & np.isfinite(begin) & np.isfinite(end)
    joins = (lane[1:] == lane[:-1]) & (name[1:] == name[:-1]) & good[1:] & good[:-1]
    joins &= (begin[1:] - end[:-1] <= gap) & (end[1:] - begin[1:] <= gap)
    first = np.flatnonzero(np.concatenate(([True], ~joins)))
    computed = np.add.reduceat(np.where(good, end - begin, 0.0), first)
    kept: dict[str, Any] = {
        column: take(values, order[first]) for column, values in attempts.items() if column not in _NOT_MERGED
    }
    several = np.diff(first, append=len(order)) > 1
    kept["stop"] = np.where(several, kept["start"] + computed, kept["stop"])
    return tables | {"attempts": kept} | _of_attempts(tables, kept)


def _names(tables: Tables, task: np.ndarray) -> np.ndarray:
    graph: Any = tables["graph"]
    order = np.argsort(graph["task"], kind="stable")
    place = np.minimum(np.searchsorted(graph["task"][order], task), len(order) - 1)
    return np.asarray(graph["prefix"].codes[order[place]])


def _of_attempts(tables: Tables, attempts: Columns) -> Tables:
    """The rows of other tables that belong to these attempts."""
    by: dict[str, str] = {"graph": "task", "phases": "run", "errors": "run", "running": "run"}
    found: Tables = {}
    for table, column in by.items():
        if table in tables:
            wanted: Any = attempts[column]
            rows: Any = tables[table][column]
            mask = np.isin(rows, wanted)
            found[table] = {name: take(values, mask) for name, values in tables[table].items()}
    return found


def _recording(tables: Tables) -> Recording:
    made = Recording()
    for name, columns in tables.items():
        if length(columns):
            made.append(encode(name, columns))
    return made


def _size(recording: Recording) -> int:
    """Bytes as base64, nearly: deflated quickly."""
    return sum(len(zlib.compress(batch, 1)) for batch in recording.packed(coarse=True)) * 4 // 3
