"""Which notebook cell runs, as IPython tells it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from math import isnan, nan
from typing import Any, ClassVar, NamedTuple, Protocol

from ..batch import encode
from ..options import Emit
from ..probe.clock import time
from ..sources.cells import (
    NO_CELL,
    Cell,
    asks_for_cell,
    cell_runs,
    id_of,
    part_of,
    request_of,
    under_way,
)

#: So many cells are under way on one thread where one runs within another.
_NESTED = 2


class Running(NamedTuple):
    """A cell that has begun."""

    execution: int
    cell: str
    code: str
    start: float


class Listener(Protocol):
    """Is told of cells."""

    def cell(self, execution: int, cell: str, code: str, start: float, stop: float, status: str) -> None:
        """A cell has begun, or with a `stop` that is not NaN has ended."""


class Cells:
    """Tells of each cell when it begins and when it ends.

    Code that a front end runs silently, or does not number, is no cell; nor is
    what a cell itself has IPython run. Of cells that run beside each other, as
    that of a console on a thread of its own, the first is told of.

    Parameters
    ----------
    ip
        The shell.
    listener
        Is told.
    began, ended
        Called when the shell begins and ends to run anything, numbered or not.
    """

    def __init__(
        self,
        ip: Any,
        listener: Listener,
        began: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        self._ip = ip
        self._listener = listener
        self._began = began
        self._ended = ended
        self._depth = 0
        #: The thread of the cell that runs; None if it may be any.
        self._thread: threading.Thread | None = None
        self._answering = ""
        self._running: Running | None = None
        self._within(request_of(ip))
        ip.events.register("pre_run_cell", self._before)
        ip.events.register("post_run_cell", self._after)

    def _within(self, request: Mapping[str, Any]) -> None:
        """The cell that loads the extension runs already."""
        if not asks_for_cell(request):
            return
        self._depth, self._answering = 1, id_of(request)
        # Elsewhere this may be a thread of the person's own, beside the cell's.
        here = threading.current_thread()
        self._thread = here if here is threading.main_thread() else None
        self._began()
        content = part_of(request, "content")
        if content.get("store_history", True) and not content.get("silent", False):
            cell = str(part_of(request, "metadata").get("cellId") or "")
            self._begin(begun(self._ip), cell, str(content.get("code", "")))

    def close(self) -> None:
        """Listen no more."""
        for name, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if callback in self._ip.events.callbacks[name]:
                self._ip.events.unregister(name, callback)
        self._tell("ok")

    def _beside(self) -> bool:
        """Whether another thread than this one runs a cell."""
        thread = self._thread
        others = thread is not None and thread is not threading.current_thread() and thread.is_alive()
        return others and self._depth > 0

    def _before(self, info: Any) -> None:
        if self._beside():
            return
        request = id_of(request_of(self._ip))
        if request and request != self._answering and len(under_way()) < _NESTED:
            # An interrupt can keep IPython from telling that a cell has ended.
            self._depth = 0
            self._tell("error")
        self._answering, self._thread = request or self._answering, threading.current_thread()
        self._depth += 1
        if self._depth > 1:
            return
        self._began()
        if info.store_history:
            self._begin(begun(self._ip) + 1, str(getattr(info, "cell_id", None) or ""), str(info.raw_cell))

    def _begin(self, execution: int, cell: str, code: str) -> None:
        self._running = Running(execution, cell, code, time())
        self._listener.cell(*self._running, nan, "running")

    def _after(self, result: Any) -> None:
        if self._beside():
            return
        code = getattr(getattr(result, "info", None), "raw_cell", None)
        if code is not None and not code.strip():
            # An empty cell ends without having begun.
            return
        self._depth = max(0, self._depth - 1)
        if not self._depth:
            self._tell("ok" if getattr(result, "success", False) else "error")
            self._ended()

    def _tell(self, status: str) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            self._listener.cell(*running, time(), status)


def cell_rows(execution: int, cell: str, code: str, start: float, stop: float, status: str) -> bytes:
    """A row of the table ``cells``."""
    row = {"execution": execution, "cell": cell, "code": code, "start": start, "stop": stop, "status": status}
    return encode("cells", {name: [value] for name, value in row.items()})


class _Noted:
    """Writes cells into a recording; of all that do, the first whose cell runs tells of it."""

    #: The cells that run, by who writes them.
    _running: ClassVar[dict[_Noted, Cell]] = {}

    def __init__(self, emit: Emit, source: bool, ahead: Callable[[], float]) -> None:
        self._emit = emit
        self._source = source
        self._ahead = ahead

    def cell(self, execution: int, cell: str, code: str, start: float, stop: float, status: str) -> None:
        if isnan(stop):
            self._running[self] = Cell(cell, execution)
        else:
            self._running.pop(self, None)
        cell_runs([*self._running.values(), NO_CELL][0])
        ahead = self._ahead()
        code = code if self._source else ""
        self._emit(cell_rows(execution, cell, code, start - ahead, stop - ahead, status))


def telling_shell() -> Any:
    """The shell of this process that tells of its cells; None if none does, as in marimo."""
    # Whoever is a kernel has imported it.
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    # That of xeus-python's raw mode tells of none.
    return shell if hasattr(shell, "events") else None


def cells_noted(emit: Emit, source: bool, ahead: Callable[[], float]) -> Cells | None:
    """Note the cells that IPython runs in this process, until it is closed; None if nothing tells of any.

    Parameters
    ----------
    emit
        Takes rows of the table ``cells``.
    source
        Whether they have the cells' source.
    ahead
        Gives the seconds by which this process's clock is ahead of that of the recording.
    """
    if (shell := telling_shell()) is None:
        return None
    return Cells(shell, _Noted(emit, source, ahead), _nothing, _nothing)


def _nothing() -> None:
    """Nobody is told."""


def begun(ip: Any) -> int:
    """Cells that have begun, that which runs among them; versions of IPython differ in when they count it."""
    known = getattr(ip.history_manager, "input_hist_parsed", None)
    return (len(known) if known else int(ip.execution_count)) - 1
