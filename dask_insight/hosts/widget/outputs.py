"""Which widgets stand in the output of which notebook cell."""

from __future__ import annotations

import sys
import threading
from typing import Any, Protocol

from ...sources.cells import part_of, request_of


class Shown(Protocol):
    """Can be in the output of a cell."""

    def rest(self) -> None:
        """No output shows it any more."""


class Outputs:
    """Puts widgets to rest whose outputs have gone.

    A cell that runs again loses its outputs. A widget that stood in no other
    output, and is not shown anew by the time the cell has ended, would keep its
    comm in the kernel and its model in the page for as long as both live. Cells
    without an id tell nothing: their widgets stay.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._cells: dict[Shown, set[str]] = {}
        self._shell: Any = None

    def show(self, widget: Shown) -> None:
        """The cell that is running shows a widget."""
        shell = _shell()
        cell = requested_cell(shell)
        if not cell:
            return
        with self._lock:
            self._cells.setdefault(widget, set()).add(cell)
            if self._shell is None:
                self._shell = shell
                shell.events.register("pre_run_cell", self._begins)
                shell.events.register("post_run_cell", self._ends)

    def forget(self, widget: Shown) -> None:
        """A widget has been closed."""
        with self._lock:
            self._cells.pop(widget, None)
            if self._cells or self._shell is None:
                return
            shell, self._shell = self._shell, None
        shell.events.unregister("pre_run_cell", self._begins)
        shell.events.unregister("post_run_cell", self._ends)

    def _begins(self, info: Any) -> None:
        with self._lock:
            for cells in self._cells.values():
                cells.discard(getattr(info, "cell_id", None) or "")

    def _ends(self, _result: Any) -> None:
        with self._lock:
            gone = [widget for widget, cells in self._cells.items() if not cells]
        for widget in gone:
            widget.rest()


def _shell() -> Any:
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def requested_cell(shell: Any) -> str:
    """Id of the cell that this thread was asked to run; '' if the front end has named none."""
    found = part_of(request_of(shell), "metadata").get("cellId")
    return found if isinstance(found, str) else ""


#: The outputs of this kernel's notebook.
OUTPUTS = Outputs()
