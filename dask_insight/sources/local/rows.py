"""Rows that wait to be encoded."""

from __future__ import annotations

from collections import deque
from typing import Any


class Rows:
    """Rows of one table; any thread may add, one takes.

    Kept flat: a tuple for each row would keep the garbage collector busy.
    """

    def __init__(self, table: str, *columns: str) -> None:
        self.table = table
        self._columns = columns
        self._values: deque[Any] = deque()
        #: Add one row: a tuple of its values in the order of the columns.
        self.add = self._values.extend

    def take(self) -> dict[str, Any] | None:
        """The rows there are, by column, or None; they are gone from here afterwards."""
        width = len(self._columns)
        values = [self._values.popleft() for _ in range(len(self._values) // width * width)]
        return {name: values[at::width] for at, name in enumerate(self._columns)} if values else None
