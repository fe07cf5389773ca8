"""A recording that fits into a notebook, and what had to be left out for that, in words."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import words
from ...batch import encode
from ...columns import Columns, length, take
from ...pack import packed
from ...recording import Recording
from ...schema import TABLES
from .merging import Lanes

Tables = dict[str, Columns]

#: Tables of moments, of which every eighth is kept where they are too many.
_MOMENTS = ("resources", "gpus", "memory")
#: Share of the call stacks that is kept at first: one of so many.
_STACKS = 6
#: Shares of the time that a gap between two tasks of one name may have for them to be drawn as one.
_GAPS = tuple(2.0**-power for power in range(17, 6, -1))
#: Bytes that an attempt and its row of the graph take at least, as text: more need not be tried.
_ROW = 3


def thinned(recording: Recording, budget: int) -> tuple[Recording, list[str]]:
    """A recording whose compressed data take at most `budget` bytes as text, as far as that can be.

    Returns
    -------
    Recording, list of str
        The recording itself, or a thinner one; what is left out, in words.
    """
    tables: Tables = {name: columns for name in TABLES if length(columns := recording.columns(name))}
    every, sizes = frozenset(tables), _Sizes()
    if _rows(tables) * _ROW <= budget and sizes.of(tables) <= budget:
        return recording, []
    left_out: list[str] = []
    for said, change in _STEPS:
        thinner = change(tables)
        if thinner.keys() == tables.keys() and all(thinner[name] is tables[name] for name in tables):
            continue
        tables = thinner
        left_out = [*(each for each in left_out if (each, said) != (_FEWER_STACKS, _NO_STACKS)), said]
        if _rows(tables) * _ROW <= budget and sizes.of(tables) <= budget:
            return _recording(tables, every), left_out
    if "attempts" not in tables or "graph" not in tables:
        return _recording(tables, every), left_out
    whole = _rows(tables)
    tables = _merged(tables, budget, sizes)
    fewer = words.count(whole - _rows(tables), "short task")
    return _recording(tables, every), [*left_out, f"{fewer}, each drawn as one with its neighbour"]


def _without(tables: Tables, *names: str) -> Tables:
    return {name: columns for name, columns in tables.items() if name not in names}


def _without_details(tables: Tables) -> Tables:
    kept = _without(tables, "executions", "clocks", "cache", "collections", "gauges", "releases")
    if "graph" not in kept:
        return kept
    return kept | {"graph": {name: values for name, values in kept["graph"].items() if name != "key"}}


def _sparse(tables: Tables) -> Tables:
    kept = {name: _every(tables[name], 8) for name in _MOMENTS if name in tables}
    return tables | kept


def _fewer_stacks(tables: Tables) -> Tables:
    """A part of the samples, each standing for so much more time."""
    if "samples" not in tables:
        return tables
    kept: dict[str, Any] = dict(_every(tables["samples"], _STACKS))
    return tables | {"samples": kept | {"duration": kept["duration"] * _STACKS}}


def _every(columns: Columns, count: int) -> Columns:
    return {name: take(values, slice(None, None, count)) for name, values in columns.items()}


_LEFT_OUT = "Left out, so that the notebook stays small. The whole report has it."
_FEWER_STACKS = f"{_STACKS - 1} of {_STACKS} call stacks"
_NO_STACKS = "call stacks and lines of source code"
#: What is left out, one after another, until the rest fits: first what says least about where the time went.
_STEPS: tuple[tuple[str, Callable[[Tables], Tables]], ...] = (
    (
        "which task needed which and what was sent where",
        lambda now: _without(now, "edges", "transfers", "transferred"),
    ),
    ("the keys of the tasks and what workers noted of each", _without_details),
    ("most samples of CPU and memory", _sparse),
    (_FEWER_STACKS, _fewer_stacks),
    (_NO_STACKS, lambda now: _without(now, "stacks", "samples", "sampling", "lines", "compared_stacks")),
)


def _merged(tables: Tables, budget: int, sizes: _Sizes) -> Tables:
    """With one attempt for several, as many as have to be."""
    lanes = Lanes(tables["attempts"], tables["graph"])
    others = sizes.of(_without(tables, "attempts", "graph", "phases"))
    made = tables
    for share in _GAPS:
        if share != _GAPS[-1] and lanes.count(share) * _ROW > budget - others:
            continue
        made = tables | _of_attempts(tables, lanes.merged(share))
        if sizes.of(made) <= budget:
            break
    return made


def _of_attempts(tables: Tables, attempts: Columns) -> Tables:
    """These attempts, with the rows of other tables that belong to them."""
    found: Tables = {"attempts": attempts}
    for table, column in (("graph", "task"), ("phases", "run"), ("errors", "run"), ("running", "run")):
        if table in tables:
            rows: Any = tables[table][column]
            wanted: Any = attempts[column]
            mask = np.isin(rows, wanted)
            found[table] = {name: take(values, mask) for name, values in tables[table].items()}
    return found


def _rows(tables: Tables) -> int:
    return length(tables.get("attempts", {}))


def _recording(tables: Tables, every: frozenset[str]) -> Recording:
    """A recording of some of all tables; those that are missing tell why."""
    made = Recording()
    for name, columns in tables.items():
        if length(columns):
            made.append(encode(name, columns))
    if gone := sorted(every - tables.keys()):
        lacks = made.about.get("lacks") or {}
        value = json.dumps(lacks | dict.fromkeys(gone, _LEFT_OUT))
        made.append(encode("about", {"name": ["lacks"], "value": [value]}))
    return made


class _Sizes:
    """How many bytes tables take as text, nearly; each is packed once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Columns, int]] = {}

    def of(self, tables: Tables) -> int:
        """All of them together."""
        return sum(self._one(name, columns) for name, columns in tables.items())

    def _one(self, name: str, columns: Columns) -> int:
        before, size = self._known.get(name, (None, 0))
        if before is not columns:
            empty: Columns = {}
            batches = packed(lambda table: columns if table == name else empty, rounded=True)
            size = sum(len(zlib.compress(batch, 1)) for batch in batches) * 5 // 4
            self._known[name] = (columns, size)
        return size
