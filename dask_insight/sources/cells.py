"""The notebook cell that runs, for those who note what started a computation."""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """One run of a notebook cell."""

    #: Its id in the notebook; '' if there is none.
    id: str
    #: Execution count; 0 if none.
    execution: int


NO_CELL = Cell("", 0)
_running = NO_CELL


def running_cell() -> Cell:
    """The cell that runs now, `NO_CELL` if none does."""
    return _running


def cell_runs(cell: Cell) -> None:
    """From now on this cell runs, or none."""
    global _running
    _running = cell
