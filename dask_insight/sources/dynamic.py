"""Where functions stand that came to workers without their file.

From 3.1.3 on cloudpickle names the file of every function that it sends by value, as those of scripts and
notebooks are, `<dynamic-code>`. Their name and first line tell which one it was, in this process; of
tracebacks, their name and a line within them do.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, ModuleType

from .cells import looked_at, shown_file, typed_files
from .installed import is_installed
from .sourceless import without_source

DYNAMIC = "<dynamic-code>"
#: Lines of decorators before the definition that they are of.
_DECORATORS = 20
_LIBRARY = sysconfig.get_path("stdlib")
#: Frames without a name of their own, and what their code has.
_NAMELESS = {
    "<lambda>": "lambda",
    "<genexpr>": "for",
    "<listcomp>": "for",
    "<setcomp>": "for",
    "<dictcomp>": "for",
}
#: An entry of a traceback: its beginning, file, line and function.
_ENTRY = re.compile(r'^([ \t]*File )"(.+)", line (\d+), in (.+)$', re.MULTILINE)

#: Whether a function stands in a file: its name, one of its lines, and the file.
_Fits = Callable[[str, int, str], bool]
#: Where functions were found, or not, and among how many cells; and how many cells and modules there were.
_found: dict[tuple[_Fits, str, int], tuple[str, int]] = {}
_among = (0, 0)


def shown_files(files: Iterable[str], functions: Iterable[str], lines: Iterable[int]) -> list[str]:
    """Files as `shown_file` has them, of functions that have these names and first lines."""
    cells = _cells()
    return [
        shown_file(_file_of(function, line, _begins, cells) if file == DYNAMIC else file)
        for file, function, line in zip(files, functions, lines, strict=True)
    ]


def shown_traceback(text: str, source: bool = True) -> str:
    """A traceback with files as `shown_file` has them, and the source of hidden ones; or with no source."""
    cells = _cells()
    shown = _ENTRY.sub(lambda entry: _shown_entry(entry, cells), text)
    return shown if source else without_source(shown)


def _shown_entry(entry: re.Match[str], cells: Sequence[str]) -> str:
    begin, file, line, function = entry.groups()
    source = ""
    if file == DYNAMIC:
        file = _file_of(function, int(line), _holds, cells)
        source = linecache.getline(file, int(line)).strip()
    return f'{begin}"{shown_file(file)}", line {line}, in {function}' + (source and f"\n    {source}")


def _cells() -> Sequence[str]:
    """Files of cells, the newest first; with other modules, or fewer cells, all is looked for anew."""
    global _among
    cells, before = typed_files(), _among
    _among = len(cells), len(sys.modules)
    if _among[0] < before[0] or _among[1] != before[1]:
        _found.clear()
    return cells


def _file_of(function: str, line: int, fits: _Fits, cells: Sequence[str]) -> str:
    """The file in which a function of this name fits to this line; `DYNAMIC` where there is none."""
    key = fits, function, line
    file, looked = _found.get(key, (DYNAMIC, -1))
    if looked < len(cells):
        among = _candidates(cells) if looked < 0 else cells[: len(cells) - looked]
        file = next((each for each in among if fits(function, line, each)), file)
        _found[key] = file, len(cells)
    return file


def _candidates(cells: Sequence[str]) -> Iterator[str]:
    """Files that functions sent by value come from: cells, the program, its modules."""
    yield from cells
    for module in [sys.modules.get("__main__"), *list(sys.modules.values())]:
        # Asking a module itself could have it import something.
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if isinstance(file, str) and not is_installed(file) and not file.startswith((_LIBRARY, "<")):
            yield file


def _begins(function: str, line: int, file: str) -> bool:
    lines = linecache.getlines(file)
    if not 0 < line <= len(lines):
        return False
    name = function.rpartition(".")[2]
    if name in _NAMELESS:
        return re.search(rf"\b{_NAMELESS[name]}\b", lines[line - 1]) is not None
    defines = re.compile(rf"\s*(async\s+def|def|class)\s+{re.escape(name)}\b")
    first = lines[line - 1]
    if not first.lstrip().startswith("@"):
        return defines.match(first) is not None
    return any(defines.match(each) for each in lines[line : line + _DECORATORS])


def _holds(function: str, line: int, file: str) -> bool:
    """Whether a line is one of a function of this name, and not of another one inside it."""
    lines = linecache.getlines(file)
    name = function.rpartition(".")[2]
    begin = _NAMELESS.get(name, name)
    if line > len(lines) or not any(begin in each for each in lines[:line]):
        return False
    try:
        # Not a syntax tree: in Python 3.11 two threads that make one at a time can fail for it.
        code = looked_at("".join(lines), ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(
        each.co_name == name and line in (at for _, _, at in each.co_lines()) for each in _within(code)
    )


def _within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _within(each)
