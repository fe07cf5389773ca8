"""Notebook cells: the one that runs, and the names of those in which code stands."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


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


def request_of(ask: Callable[[], Mapping[str, Any] | None]) -> Mapping[str, Any]:
    """The message that a kernel answers; {} if there is none, or none that this thread knows of."""
    try:
        return ask() or {}
    except LookupError:
        # ipykernel 7.0.0 and 7.0.1 tell it to the main thread alone.
        return {}


def id_of(request: Mapping[str, Any]) -> str:
    """What tells a request to run a cell from others; '' of messages that a cell itself may answer."""
    header = request.get("header", {})
    return str(header.get("msg_id", "")) if header.get("msg_type") == "execute_request" else ""


#: What stands for the file of code that is looked at, not run.
_LOOKED_AT = "<dask_insight>"
_SILENT = ("ignore", None, Warning, re.compile(_LOOKED_AT), 0)


def looked_at(source: str | ast.Module, flags: int) -> Any:
    """What `compile` gives of somebody's code, whose warnings whoever runs it shows.

    Raises
    ------
    SyntaxError, ValueError, RecursionError
        As `compile` does.
    """
    # Where warnings are a context's own, from Python 3.14 on, so are the filters.
    filters: Any = getattr(warnings, "_get_filters", lambda: warnings.filters)()
    # It is not set again for nothing: whenever one is, Python shows again what it shows once.
    if filters[:1] != [_SILENT]:
        warnings.filterwarnings("ignore", module=_LOOKED_AT)
    return compile(source, _LOOKED_AT, "exec", flags, dont_inherit=True)


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
