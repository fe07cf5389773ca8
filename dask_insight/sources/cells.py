"""Notebook cells: the one that runs, and the names of those in which code stands."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Mapping
from types import FrameType
from typing import Any, NamedTuple


class Cell(NamedTuple):
    """One run of a notebook cell."""

    #: Its id in the notebook; '' if there is none.
    id: str
    #: Execution count; 0 if none.
    execution: int


NO_CELL = Cell("", 0)
#: By what IPython runs every cell.
_RUNS = "run_cell_async"
_running = NO_CELL


def running_cell() -> Cell:
    """The cell that runs now, `NO_CELL` if none does."""
    return _running


def cell_runs(cell: Cell) -> None:
    """From now on this cell runs, or none."""
    global _running
    _running = cell


def request_of(shell: Any) -> Mapping[str, Any]:
    """The message that a shell's kernel answers; {} if there is none, or none that this thread knows of."""
    try:
        told: Any = getattr(shell, "get_parent", dict)()
    except LookupError:
        # ipykernel 7.0.0 and 7.0.1 tell it to the main thread alone.
        return {}
    # Kernels differ in what they tell.
    return told if isinstance(told, Mapping) else {}


def part_of(request: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The header of a message, its content or its metadata; {} where it has none."""
    part = request.get(name)
    return part if isinstance(part, Mapping) else {}


def asks_for_cell(request: Mapping[str, Any]) -> bool:
    """Whether a message asks to run a cell; other messages a cell itself may answer."""
    return part_of(request, "header").get("msg_type") == "execute_request"


def id_of(request: Mapping[str, Any]) -> str:
    """What tells a request to run a cell from others; '' of other messages."""
    return str(part_of(request, "header").get("msg_id") or "") if asks_for_cell(request) else ""


def under_way() -> list[Any]:
    """What IPython has told of the cells that this thread is in the middle of, the innermost first.

    One that answers requests itself, as with ``kernel.do_one_iteration()``, has others run within it.
    """
    found = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == _RUNS and (info := frame.f_locals.get("info")) is not None:
            found.append(info)
        frame = frame.f_back
    return found


#: What stands for the file of code that is looked at, not run.
_LOOKED_AT = "<dask_insight>"
#: Whom the warnings are told to be of; Python 3.13 takes the module that asks for the code.
_OURS = f"{_LOOKED_AT}|{re.escape(__name__)}$"
_SILENT = ("ignore", None, Warning, re.compile(_OURS), 0)


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
        warnings.filterwarnings("ignore", module=_OURS)
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
