"""Runs code for ``%dprofile``, and for ``%%dprofile`` where a program calls it."""

from __future__ import annotations

import ast
from io import StringIO
from tokenize import COMMENT, ENDMARKER, NEWLINE, NL, generate_tokens
from typing import Any

from IPython.core.error import UsageError

from ..runs import runs
from .arguments import before_code, client_of, parse
from .cell import awaits
from .profiler import profiler_of
from .run import Run

#: Frames from here to the person's own, whose variables options may name: ours and IPython's.
_DEPTH = 3
#: What may follow the end of a statement.
_BLANK = (ENDMARKER, NL, NEWLINE, COMMENT)


def run_line(shell: Any, text: str) -> Any:
    """Run what stands behind ``%dprofile``; gives its value."""
    __tracebackhide__ = True
    options, code = before_code(text)
    arguments = parse(shell.var_expand(options, depth=_DEPTH), code)
    if not arguments.code:
        last = shell.user_ns.get("_dprofile") or next(reversed(list(runs.values())), None)
        if last is None:
            raise UsageError("%dprofile: nothing has been recorded; write code behind it")
        return last
    client = client_of(arguments.client, shell.user_ns)
    name = arguments.name or (arguments.code if arguments.source else "Line")
    run = Run(shell, arguments, client, name, origin="" if arguments.name else f"line {arguments.code}")
    return _recorded(shell, run, arguments.code)


def run_body(shell: Any, text: str, body: str) -> Any:
    """Run a cell's body for a program that calls the cell magic; gives its value."""
    __tracebackhide__ = True
    arguments = parse(shell.var_expand(text, depth=_DEPTH))
    client = client_of(arguments.client, shell.user_ns)
    name = arguments.name or "Cell"
    run = Run(shell, arguments, client, name, origin="" if arguments.name else f"cell {body}")
    return _recorded(shell, run, body)


def _recorded(shell: Any, run: Run, code: str) -> Any:
    __tracebackhide__ = True
    source = shell.transform_cell(code)
    if awaits(source):
        raise UsageError("%dprofile: to await, write `%%dprofile` at the top of a cell")
    filename = shell.compile.cache(source, profiler_of(shell).number)
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=filename))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    statements = shell.compile(tree, filename, "exec")
    value = None if last is None else shell.compile(ast.Expression(last.value), filename, "eval")
    run.start()
    try:
        exec(statements, shell.user_global_ns, shell.user_ns)
        given = None if value is None else eval(value, shell.user_global_ns, shell.user_ns)
        return None if _is_silenced(source) else given
    finally:
        run.stop()


def _is_silenced(source: str) -> bool:
    """Whether a semicolon at the end says to show no value."""
    # IPython asks this of the line, options and all, which need not be Python.
    tokens = [each for each in generate_tokens(StringIO(source).readline) if each.type not in _BLANK]
    return bool(tokens) and tokens[-1].string == ";"
