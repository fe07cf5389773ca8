"""Tables that show the schema's own columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..batch import Values
from ..schema import Table
from .field import Field


def fields(table: Table) -> tuple[Field, ...]:
    """The schema's columns as fields."""
    return tuple(
        Field(column.name, "time" if column.kind == "time" else column.unit, column.doc)
        for column in table.columns
    )


def make(read: Callable[[str], Mapping[str, Any]], name: str) -> Mapping[str, Values]:
    """A table as it is."""
    return read(name)
