"""Tables that show the schema's own columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..batch import Symbols, Values
from ..columns import length, take
from ..schema import REPLACED, Table
from .field import Field


def fields(table: Table) -> tuple[Field, ...]:
    """The schema's columns as fields."""
    return tuple(
        Field(column.name, "time" if column.kind == "time" else column.unit, column.doc)
        for column in table.columns
    )


def make(read: Callable[[str], Mapping[str, Any]], name: str) -> Mapping[str, Values]:
    """A table as it is, without rows that later ones have replaced."""
    columns = read(name)
    return _valid(columns, REPLACED[name]) if name in REPLACED else columns


def _valid(columns: Mapping[str, Values], about: str) -> Mapping[str, Values]:
    """The last row of each, in the order of the first ones."""
    told = columns[about]
    codes = np.asarray(told.codes if isinstance(told, Symbols) else told)
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    last = np.zeros(len(first), np.intp)
    last[which.reshape(-1)] = np.arange(length(columns))
    rows = last[np.argsort(first)]
    return {name: take(values, rows) for name, values in columns.items()}
