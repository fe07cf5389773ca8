"""``%%dprofile`` and ``%dprofile``: run code as if nothing watched, and show what Dask did."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import no_var_expand

from ..runs import Runs, runs
from .arguments import parser
from .cell import CellRewriter, CellTransform
from .line import run_body, run_line
from .profiler import profiler_of

__all__ = ["Runs", "register", "runs", "unregister"]


def _magic(shell: Any) -> Any:
    """The magic as a program or `%dprofile?` finds it; cells take the way of `cell.CellTransform`."""

    @no_var_expand
    def dprofile(line: str, cell: str | None = None) -> Any:
        __tracebackhide__ = True
        return run_line(shell, line) if cell is None else run_body(shell, line, cell)

    dprofile.__doc__ = f"{parser(line=False).format_help()}\nOn a line:\n\n{parser(line=True).format_help()}"
    return dprofile


def register(shell: Any) -> None:
    """Give a shell the magics; a second time changes nothing."""
    if any(isinstance(each, CellTransform) for each in shell.input_transformers_cleanup):
        return
    profiler = profiler_of(shell)
    shell.register_magic_function(_magic(shell), "line_cell", "dprofile")
    shell.input_transformers_cleanup.append(CellTransform(shell))
    shell.ast_transformers.append(CellRewriter(shell))
    shell.events.register("pre_run_cell", profiler.pre_run_cell)
    shell.events.register("post_run_cell", profiler.post_run_cell)


def unregister(shell: Any) -> None:
    """Take them away again; what is being recorded ends."""
    if not any(isinstance(each, CellTransform) for each in shell.input_transformers_cleanup):
        return
    profiler = profiler_of(shell)
    shell.events.unregister("pre_run_cell", profiler.pre_run_cell)
    shell.events.unregister("post_run_cell", profiler.post_run_cell)
    for transformers, kind in (
        (shell.input_transformers_cleanup, CellTransform),
        (shell.ast_transformers, CellRewriter),
    ):
        transformers[:] = [each for each in transformers if not isinstance(each, kind)]
    for kind_of_magic in ("line", "cell"):
        shell.magics_manager.magics[kind_of_magic].pop("dprofile", None)
    profiler.close()
