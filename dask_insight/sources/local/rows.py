"""Rows that wait to be encoded."""

from __future__ import annotations

from collections import deque
from typing import Any

from ...batch import encode
from ...options import Emit


class Rows:
    """Rows of one table; any thread may add, one takes."""

    def __init__(self, table: str, *columns: str) -> None:
        self.table = table
        self.columns = columns
        self._rows: deque[tuple[Any, ...]] = deque()
        #: Add one row, its values in the order of `columns`.
        self.add = self._rows.append

    def __len__(self) -> int:
        return len(self._rows)

    def take(self) -> dict[str, tuple[Any, ...]] | None:
        """The rows there are, by column, or None; they are gone from here afterwards."""
        rows = [self._rows.popleft() for _ in range(len(self._rows))]
        return dict(zip(self.columns, zip(*rows, strict=True), strict=True)) if rows else None

    def flush(self, emit: Emit) -> None:
        """Encode and emit the rows there are."""
        if columns := self.take():
            emit(encode(self.table, columns))
