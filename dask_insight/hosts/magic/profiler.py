"""The runs of one shell: those that are open, and when each has to end."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError

from ...session.cells import begun
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


class Profiler:
    """Follows a shell's cells, and ends each run with its cell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells: list[Any] = []
        self._open: list[tuple[Run, Any, bool]] = []

    def pre_run_cell(self, info: Any) -> None:
        """IPython begins a cell."""
        self._cells.append(info)

    def post_run_cell(self, result: Any) -> None:
        """IPython has ended a cell, well or not; without a result if the cell was cancelled."""
        cell = getattr(result, "info", None) or (self._cells[-1] if self._cells else None)
        # An empty cell ends without having begun, and one of a console beside may end first.
        self._cells = [each for each in self._cells if each is not cell]
        for run, owner, awaited in list(self._open):
            if owner is cell and not awaited:
                self.forget(run)
                run.stop()

    def open(self, text: str, *, awaited: bool = False) -> Run:
        """A run for the cell that is running, not yet begun.

        Raises
        ------
        UsageError
            If the arguments are not understood.
        """
        arguments = parse(text)
        client = client_of(arguments.client, self._shell.user_ns)
        cell = self._cells[-1] if self._cells else None
        if cell is None and not awaited:
            raise UsageError("%%dprofile: this cell runs without events, so nothing says when it ends")
        identity = getattr(cell, "cell_id", None) or getattr(cell, "raw_cell", "")
        name = arguments.name or f"Cell {self.number}"
        run = Run(self._shell, arguments, client, name, origin="" if arguments.name else f"cell {identity}")
        self._open.append((run, cell, awaited))
        return run

    @property
    def number(self) -> int:
        """The number of the cell that is running; that of the next one where none has a number."""
        return begun(self._shell) + (not any(each.store_history for each in self._cells))

    def forget(self, run: Run) -> None:
        """A run has ended, or not begun."""
        self._open = [each for each in self._open if each[0] is not run]

    def awaited(self) -> Run | None:
        """The run of the innermost cell that awaits."""
        return next((run for run, _, awaited in reversed(self._open) if awaited), None)

    def close(self) -> None:
        """End what is open; the extension is being unloaded."""
        for run, _, awaited in list(self._open):
            if not awaited:
                self.forget(run)
                run.stop()
