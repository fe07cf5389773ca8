"""Runs code for ``%dprofile``, and for ``%%dprofile`` where a program calls it."""

from __future__ import annotations

import ast
from typing import Any

from IPython.core.error import UsageError

from ..runs import runs
from .arguments import client_of, parse
from .cell import awaits
from .run import Run


def run_line(shell: Any, text: str) -> Any:
    """Run what stands behind ``%dprofile``; gives its value."""
    __tracebackhide__ = True
    arguments = parse(text, line=True)
    if not arguments.code:
        last = shell.user_ns.get("_dprofile") or next(reversed(list(runs.values())), None)
        if last is None:
            raise UsageError("%dprofile: nothing has been recorded; write code behind it")
        return last
    client = client_of(arguments.client, shell.user_ns)
    name = arguments.name or arguments.code
    run = Run(shell, arguments, client, name, origin="" if arguments.name else f"line {arguments.code}")
    return _recorded(shell, run, arguments.code)


def run_body(shell: Any, text: str, body: str) -> Any:
    """Run a cell's body for a program that calls the cell magic; gives its value."""
    __tracebackhide__ = True
    arguments = parse(text)
    client = client_of(arguments.client, shell.user_ns)
    name = arguments.name or "Cell"
    run = Run(shell, arguments, client, name, origin="" if arguments.name else f"cell {body}")
    return _recorded(shell, run, body)


def _recorded(shell: Any, run: Run, code: str) -> Any:
    __tracebackhide__ = True
    source = shell.transform_cell(code)
    if awaits(source):
        raise UsageError("%dprofile: to await, write `%%dprofile` at the top of a cell")
    filename = shell.compile.cache(source)
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=filename))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    statements = shell.compile(tree, filename, "exec")
    value = None if last is None else shell.compile(ast.Expression(last.value), filename, "eval")
    run.start()
    try:
        exec(statements, shell.user_global_ns, shell.user_ns)
        return None if value is None else eval(value, shell.user_global_ns, shell.user_ns)
    finally:
        run.stop()
