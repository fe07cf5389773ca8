"""The user's line of code that started a computation."""

from __future__ import annotations

import linecache
import sysconfig
from types import FrameType
from typing import NamedTuple

from ..cells import shown_file
from ..installed import is_installed

#: Packages whose frames never are the line that asked for a computation.
_OURS = frozenset(
    {"dask", "distributed", "dask_expr", "dask_insight", "tlz", "toolz", "concurrent", "threading"}
)
_STANDARD = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
_LINES = 20


class Origin(NamedTuple):
    """A place in source code."""

    file: str
    line: int
    function: str
    code: str


NOWHERE = Origin("", 0, "", "")


def find_origin(frame: FrameType | None) -> Origin:
    """The innermost frame of the user's own code, counted from `frame` outwards; never raises.

    Code of installed packages counts only where there is no other.
    """
    try:
        return _find_origin(frame)
    except Exception:
        return NOWHERE


def _find_origin(frame: FrameType | None) -> Origin:
    fallback: FrameType | None = None
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _OURS:
            file = frame.f_code.co_filename
            if not (is_installed(file) or file.startswith((*_STANDARD, "<frozen"))):
                return _describe(frame)
            fallback = fallback or frame
        frame = frame.f_back
    return NOWHERE if fallback is None else _describe(fallback)


def _describe(frame: FrameType) -> Origin:
    code = frame.f_code
    first, last = _statement(frame)
    lines = [linecache.getline(code.co_filename, line, frame.f_globals) for line in range(first, last + 1)]
    name = code.co_qualname
    return Origin(shown_file(code.co_filename), frame.f_lineno, name, _dedent(lines))


def _statement(frame: FrameType) -> tuple[int, int]:
    """First and last line of the expression that runs in a frame."""
    here = frame.f_lineno
    for index, (first, last, _, _) in enumerate(frame.f_code.co_positions()):
        if index == frame.f_lasti // 2:
            if first is not None and last is not None:
                return first, min(last, first + _LINES - 1)
            break
    return here, here


def _dedent(lines: list[str]) -> str:
    """Lines without the indentation of the first."""
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return "\n".join(line[:indent].lstrip() + line[indent:].rstrip() for line in lines)
