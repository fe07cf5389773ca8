"""One large, sorted batch a table: the smallest form of a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .batch import Symbols, Texts, Values, encode
from .columns import Columns, length, take

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
    "samples": ("process", "thread", "time"),
    "sampling": ("process", "time"),
    "metrics": ("worker", "context", "span", "prefix", "activity", "unit", "time"),
    "clocks": ("worker", "time"),
}


def pack(table: str, columns: Columns) -> bytes:
    """Encode a whole table as one batch, rows in the order that compresses best."""
    return encode(table, _sorted(columns, _ORDER.get(table, ())))


def _sorted(columns: Columns, by: tuple[str, ...]) -> Mapping[str, Values]:
    keys = [_key(columns[name]) for name in reversed(by)]
    if not keys or length(columns) < 2:
        return columns
    order = np.lexsort(keys)
    if (order[1:] > order[:-1]).all():
        return columns
    return {name: take(values, order) for name, values in columns.items()}


def _key(values: Values) -> np.ndarray:
    if isinstance(values, Texts):
        raise TypeError("a column of unique text cannot be sorted by")
    return values.codes if isinstance(values, Symbols) else values
