"""Notebook cells: the one that runs, and the names of those in which code stands."""

from __future__ import annotations

import re
import sys
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


#: Names of files that IPython gives to what is typed into it.
_TYPED = re.compile(r"[\\/]ipykernel_|^<ipython-input")
_files: dict[str, str] = {}


def shown_file(name: str) -> str:
    """A file of code as a person knows it: ``In [5]`` for a notebook cell of this process, else as it is."""
    if not _TYPED.search(name):
        return name
    cells = _cells()
    if name not in cells:
        return name
    shown = f"In [{cells[name]}]"
    _files[shown] = name
    return shown


def typed_files() -> list[str]:
    """Files of the cells of this process, the newest first."""
    return list(reversed(_cells()))


def _cells() -> dict[str, int]:
    """Files of the cells of this process, with their execution counts."""
    instance = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    found: dict[str, int] = getattr(getattr(instance, "compile", None), "_filename_map", {})
    return found


def file_of(shown: str) -> str:
    """The name under which Python knows what `shown_file` has named."""
    return _files.get(shown, shown)
