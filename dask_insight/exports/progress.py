"""How far an export is."""

from __future__ import annotations

from collections.abc import Callable

#: Is told the share that is done, 0 to 1.
Told = Callable[[float], None]


def silent(share: float) -> None:
    """Tells nobody."""


class Steps:
    """Counts rows that are written, and tells which share of all they are.

    Parameters
    ----------
    told
        Who is told.
    rows
        Number of all.
    """

    def __init__(self, told: Told, rows: int) -> None:
        self._told, self._rows, self._done = told, max(1, rows), 0

    def add(self, rows: int) -> None:
        """So many more are written."""
        self._done += rows
        self._told(min(1.0, self._done / self._rows))
