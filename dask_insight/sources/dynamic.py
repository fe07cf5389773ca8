"""Where functions stand that came to workers without their file.

From 3.1.3 on cloudpickle names the file of every function that it sends by value, as those of scripts and
notebooks are, `<dynamic-code>`. Their name and first line tell which one it was, in this process.
"""

from __future__ import annotations

import linecache
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from types import ModuleType

from .cells import shown_file, typed_files

DYNAMIC = "<dynamic-code>"
#: Lines of decorators before the definition that they are of.
_DECORATORS = 20
_INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]|^<")
_LIBRARY = sysconfig.get_path("stdlib")
#: What a frame without a name of its own begins with, by how Python calls it.
_NAMELESS = {
    "<lambda>": "lambda",
    "<genexpr>": "for",
    "<listcomp>": "for",
    "<setcomp>": "for",
    "<dictcomp>": "for",
}

#: Where functions were found, or not, among so many cells and modules.
_found: dict[tuple[str, int], str] = {}
_among = (0, 0)


def shown_files(files: Iterable[str], functions: Iterable[str], lines: Iterable[int]) -> list[str]:
    """Files as `shown_file` has them, of functions that have these names and first lines."""
    return [
        shown_file(_file_of(function, line) if file == DYNAMIC else file)
        for file, function, line in zip(files, functions, lines, strict=True)
    ]


def _file_of(function: str, line: int) -> str:
    """The file in which a function of this name begins at this line; `DYNAMIC` where there is none."""
    global _among
    if (among := (len(typed_files()), len(sys.modules))) != _among:
        _among = among
        _found.clear()
    key = function, line
    if key not in _found:
        _found[key] = next((file for file in _candidates() if _begins(function, line, file)), DYNAMIC)
    return _found[key]


def _candidates() -> Iterator[str]:
    """Files that functions sent by value come from: cells, the newest first, the program, its modules."""
    yield from typed_files()
    for module in [sys.modules.get("__main__"), *list(sys.modules.values())]:
        # Asking a module itself could have it import something.
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if isinstance(file, str) and not _INSTALLED.search(file) and not file.startswith(_LIBRARY):
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
