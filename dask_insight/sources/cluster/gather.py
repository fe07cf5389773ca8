"""Puts the rows of many small messages together, so that each table makes one batch and not dozens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...batch import encode
from ...options import Emit
from ...schema import TABLES


class Gather:
    """Keeps columns by table until they are flushed.

    A column that some messages have and others do not is missing in the rows
    of the others.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._kept: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}

    def add(self, table: str, columns: Mapping[str, Any]) -> None:
        """Keep rows; text columns as sequences of str."""
        rows = len(next(iter(columns.values())))
        if rows:
            self._kept.setdefault(table, []).append((rows, columns))

    def batch(self, batch: bytes) -> None:
        """Emit a batch that is one already."""
        self._emit(batch)

    def flush(self, *tables: str) -> None:
        """Emit everything, or all of some tables, one batch a table."""
        for table in tables or list(self._kept):
            parts = self._kept.pop(table, [])
            if not parts:
                continue
            kinds = {column.name: column.kind for column in TABLES[table].columns}
            present = [name for name in kinds if any(name in columns for _, columns in parts)]
            joined = {
                name: _joined(kinds[name], [(n, part.get(name)) for n, part in parts]) for name in present
            }
            self._emit(encode(table, joined))


def _joined(kind: str, parts: list[tuple[int, Any]]) -> Any:
    if kind in ("sym", "str"):
        return [text for rows, part in parts for text in (part if part is not None else [""] * rows)]
    missing = 0 if kind in ("u8", "u32") else np.nan
    return np.concatenate([part if part is not None else np.full(rows, missing) for rows, part in parts])
