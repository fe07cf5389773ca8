"""Makes a cell that begins with ``%%dprofile`` run as the cell that it would be without that line.

The line becomes a string, so that the cell keeps its lines, its names, its
traceback and its value; where the cell is compiled, that string becomes a call
that begins the recording. IPython says when the cell has ended. A cell that
awaits is wrapped in ``try`` and ``finally`` instead, since only there an
asynchronous client can be waited for.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import sys
from typing import Any

from ...sources.cells import looked_at

MAGIC = "%%dprofile"
_CALL = "__import__('dask_insight.hosts.magic.profiler', fromlist=['profiler']).{call}"


class CellTransform:
    """An input transformer, lines to lines. It has no side effect: IPython calls it more than once a cell.

    It says that it has one all the same: whoever asks while a person types, as
    terminals do, whether the cell is complete, then finds the magic, which
    goes on until an empty line.
    """

    has_side_effects = True

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        """What IPython is to run instead of these lines."""
        if not lines or not _is_ours(lines[0]):
            return lines
        body = "".join(lines[1:])
        if not body.strip():
            return lines
        rest = self._shell.input_transformer_manager.transform_cell(body).splitlines(keepends=True)
        blank = next(number for number, line in enumerate(lines[1:]) if line.strip())
        mark = repr(lines[0].rstrip())
        source = "".join(rest)
        # Only a string may stand before an import of __future__.
        if not awaits(source) and "__future__" not in source and _has_asynchronous_client():
            mark = f"await {mark}"
        return [mark + "\n", *(["\n"] * blank), *rest]


class CellRewriter(ast.NodeTransformer):
    """An AST transformer: the string becomes the call that begins the recording."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Rewrite a cell."""
        if not node.body or (line := _mark(node.body[0])) is None:
            return node
        first, rest = node.body[0], node.body[1:]
        if awaits(node):
            node.body = self._awaited(line, first, rest)
        else:
            node.body = [_at(first, ast.Expr(_call(f"begin(get_ipython(), {line!r})"))), *rest]
        return node

    def _awaited(self, line: str, first: ast.stmt, rest: list[ast.stmt]) -> list[ast.stmt]:
        futures = [each for each in rest if isinstance(each, ast.ImportFrom) and each.module == "__future__"]
        body = [each for each in rest if each not in futures] or [_at(first, ast.Pass())]
        begin = _at(first, ast.Expr(ast.Await(_call(f"begin_async(get_ipython(), {line!r})"))))
        end = _at(first, ast.Expr(ast.Await(_call("end_async(get_ipython())"))))
        interactivity = str(self._shell.ast_node_interactivity)
        shown = _displayed(body, interactivity)
        # IPython would display everything in a last statement of this kind.
        after = [_at(first, ast.Pass())] if interactivity == "last" else []
        return [*futures, begin, _at(first, ast.Try(shown, [], [], [end])), *after]


def _displayed(body: list[ast.stmt], interactivity: str) -> list[ast.stmt]:
    """The statements, with those that IPython would display handed to its display hook."""
    last = body[-1]
    if interactivity == "last_expr_or_assign":
        targets = last.targets if isinstance(last, ast.Assign) else [getattr(last, "target", None)]
        if isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign) and isinstance(targets[0], ast.Name):
            body = [*body, _at(last, ast.Expr(ast.Name(targets[0].id, ast.Load())))]
        interactivity = "last_expr"
    if interactivity == "none":
        return body
    shown = body if interactivity == "all" else body[-1:]
    return [
        _at(each, ast.Expr(ast.Call(_call("sys.displayhook"), [each.value], [])))
        if isinstance(each, ast.Expr) and each in shown
        else each
        for each in body
    ]


def _mark(node: ast.stmt) -> str | None:
    """The line behind ``%%dprofile``, where a statement is what `CellTransform` put for it."""
    value: ast.AST = node.value if isinstance(node, ast.Expr) else node
    value = value.value if isinstance(value, ast.Await) else value
    if node.lineno == 1 and isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value[len(MAGIC) :].strip() if _is_ours(value.value) else None
    return None


def _is_ours(line: str) -> bool:
    return line.split(None, 1)[:1] == [MAGIC] and line.startswith(MAGIC)


def _call(text: str) -> ast.expr:
    source = "__import__('sys').displayhook" if text == "sys.displayhook" else _CALL.format(call=text)
    return ast.parse(source, mode="eval").body


def _at(place: ast.stmt, node: ast.stmt) -> ast.stmt:
    """A made statement, said to stand where another one does."""
    for each in ast.walk(node):
        if not hasattr(each, "lineno") or each is node:
            ast.copy_location(each, place)
    return ast.fix_missing_locations(node)


def awaits(source: str | ast.Module) -> bool:
    """Whether a cell awaits outside of its functions."""
    try:
        code = looked_at(source, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)


def _has_asynchronous_client() -> bool:
    """Whether a client of this process lives on the event loop of this very thread."""
    if "distributed" not in sys.modules:
        return False
    from ...sources.clients import existing_clients

    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    return any(getattr(client.loop, "asyncio_loop", None) is loop for client in existing_clients())
