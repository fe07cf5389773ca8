"""The runs of one shell: those that are open, and when each has to end."""

from __future__ import annotations

from contextlib import ExitStack
from threading import get_ident
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError

from ...session.cells import begun
from ...sources.cells import id_of, request_of, under_way
from .arguments import client_of, parse
from .run import Run

_PROFILERS: WeakKeyDictionary[Any, Profiler] = WeakKeyDictionary()


def profiler_of(shell: Any) -> Profiler:
    """The profiler of a shell, made when it is first asked for."""
    if shell not in _PROFILERS:
        _PROFILERS[shell] = Profiler(shell)
    return _PROFILERS[shell]


def begin(shell: Any, line: str) -> None:
    """Begin to record the cell that is running; the first thing that such a cell does."""
    profiler = profiler_of(shell)
    run = profiler.open(shell.var_expand(line, depth=1))
    try:
        run.start()
    except BaseException:
        profiler.forget(run)
        raise


async def begin_async(shell: Any, line: str) -> None:
    """Like `begin`, in a cell that awaits."""
    profiler = profiler_of(shell)
    run = profiler.open(shell.var_expand(line, depth=1), awaited=True)
    try:
        await run.start_async()
    except BaseException:
        profiler.forget(run)
        raise


async def end_async(shell: Any) -> None:
    """End what `begin_async` began; the last thing that such a cell does."""
    profiler = profiler_of(shell)
    if (run := profiler.awaited()) is not None:
        profiler.forget(run)
        await run.stop_async()


class _Cell(NamedTuple):
    """A cell that runs."""

    info: Any
    thread: int
    #: The message that asked for it; '' if none did.
    request: str


class _Open(NamedTuple):
    """A run that has not ended."""

    run: Run
    #: What IPython told of its cell; None if nothing.
    owner: Any
    awaited: bool
    thread: int


class Profiler:
    """Follows a shell's cells, and ends each run with its cell.

    Cells may run beside each other, each on a thread of its own.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: list[_Cell] = []
        self._open: list[_Open] = []

    def pre_run_cell(self, info: Any) -> None:
        """IPython begins a cell."""
        cell = _Cell(info, get_ident(), id_of(request_of(self._shell)))
        for each in self._untold(cell):
            self._over(each.info)
        self._cells.append(cell)

    def post_run_cell(self, result: Any) -> None:
        """IPython has ended a cell, well or not; without a result if the cell was cancelled."""
        # An empty cell ends without having begun, and one of a console beside may end first.
        self._over(getattr(result, "info", None) or self._running())

    def _untold(self, cell: _Cell) -> list[_Cell]:
        """Cells that have ended as another one begins; an interrupt can keep IPython from telling so."""
        if not cell.request:
            return []
        mine = [each for each in self._cells if each.thread == cell.thread]
        others = [each for each in mine if each.request not in ("", cell.request)]
        around = under_way() if others else []
        return [each for each in others if not any(each.info is info for info in around)]

    def _over(self, cell: Any) -> None:
        self._cells = [each for each in self._cells if each.info is not cell]
        for each in list(self._open):
            if each.owner is cell and not each.awaited:
                self.forget(each.run)
                each.run.stop()

    def _running(self) -> Any:
        """The innermost cell of this thread, as IPython told of it; None if it told of none."""
        here = get_ident()
        return next((each.info for each in reversed(self._cells) if each.thread == here), None)

    def open(self, text: str, *, awaited: bool = False) -> Run:
        """A run for the cell that is running, not yet begun.

        Raises
        ------
        UsageError
            If the arguments are not understood, or the cell is being recorded already.
        """
        arguments = parse(text)
        client = client_of(arguments.client, self._shell.user_ns)
        cell = self._running()
        if cell is None and not awaited:
            raise UsageError("%%dprofile: this cell runs without events, so nothing says when it ends")
        if not awaited and any(each.owner is cell for each in self._open):
            raise UsageError(
                "%%dprofile: this cell is being recorded already, as where %%timeit repeats it; "
                "write %%dprofile above %%timeit"
            )
        identity = getattr(cell, "cell_id", None) or getattr(cell, "raw_cell", "")
        name = arguments.name or f"Cell {self.number}"
        origin = "" if arguments.name else f"cell {identity}"
        run = Run(self._shell, arguments, client, name, origin=origin, opens_cell=True)
        self._open.append(_Open(run, cell, awaited, get_ident()))
        return run

    @property
    def number(self) -> int:
        """The number of the cell that is running; that of the next one where none has a number."""
        return begun(self._shell) + (not any(each.info.store_history for each in self._cells))

    def forget(self, run: Run) -> None:
        """A run has ended, or not begun."""
        self._open = [each for each in self._open if each.run is not run]

    def awaited(self) -> Run | None:
        """The run of the innermost cell of this thread that awaits."""
        here = get_ident()
        return next((each.run for each in reversed(self._open) if each.awaited and each.thread == here), None)

    def close(self) -> None:
        """End what is open; the extension is being unloaded."""
        with ExitStack() as rest:
            for each in reversed(self._open):
                if not each.awaited:
                    rest.callback(each.run.stop)
                    rest.callback(self.forget, each.run)
