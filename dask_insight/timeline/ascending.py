"""Numbers of rows, which take no memory where they are all rows in their order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .micros import BLOCK, Rows


class Ascending(NamedTuple):
    """The numbers of so many rows in their order."""

    size: int

    def at(self, rows: Rows) -> Any:
        """Those of some rows, by their numbers or a mask, or that of one."""
        if not isinstance(rows, np.ndarray):
            return rows
        return (np.flatnonzero(rows) if rows.dtype == bool else rows).astype("i4", copy=False)

    def block(self, begin: int) -> np.ndarray:
        """Those of one block."""
        return np.arange(begin, min(begin + BLOCK, self.size), dtype="i4")

    @property
    def array(self) -> np.ndarray:
        """All of them."""
        return np.arange(self.size, dtype="i4")


#: Numbers of rows, in either way.
Numbers = Ascending | np.ndarray
