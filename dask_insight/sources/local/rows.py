"""Rows that wait to be encoded."""

from __future__ import annotations

from collections import deque
from itertools import repeat, starmap
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
        number = len(self._values) // width * width
        # Without code of Python's own between two values: an interrupt there would shift the columns.
        values = list(starmap(self._values.popleft, repeat((), number)))
        return {name: values[at::width] for at, name in enumerate(self._columns)} if values else None
