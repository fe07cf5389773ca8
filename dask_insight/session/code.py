"""Writes the source code that a recording points to into it, as far as this process can read it."""

from __future__ import annotations

import linecache
import os
import platform
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import SOURCE_SUFFIXES
from threading import RLock
from typing import Any

from ..analysis.code import Line, functions_seen, lines
from ..batch import encode
from ..columns import Columns
from ..recording import Recording
from ..sources.cells import file_of

#: Most lines kept, and the longest.
LINES = 10_000
_LONGEST = 240
#: What is read of a recording, which may be of days.
_NEEDED = {
    "functions": ("prefix", "file", "line"),
    "submissions": ("file", "line"),
    "samples": ("run", "stack", "duration"),
    "stacks": ("stack", "parent", "function", "file", "line", "first_line"),
    "attempts": ("run", "task"),
    "running": ("run", "task"),
    "graph": ("task", "prefix"),
}
#: What is there and what is added is one step; several read for one recording.
_turn = RLock()
#: Seconds for which a turn is waited for.
_PATIENCE = 5.0
_DEFINES = re.compile(r"^(?:async\s+)?def\s+(\w+)")
_BEGINS = re.compile(r"^(?:@|class\b|(?:async\s+)?def\b)|\blambda\b|\bfor\b")


class Code:
    """The code of a recording that is made in this process.

    Parameters
    ----------
    recording
        What points to it, and takes it.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._told = 0

    def keep(self) -> None:
        """Add what is new: rows of ``functions`` for tasks that were seen at work only, and of ``lines``."""
        recording = self._recording
        if columns := functions_seen(self._needed):
            recording.append(encode("functions", columns))
        left = self.read(lines(self._needed), LINES)
        if left and left >= 2 * self._told:
            self._told = left
            why = f"{left:,} lines of source code or more were left out: {LINES:,} are kept"
            told = {"time": time.time(), "source": "recorder", "kind": "lost", "level": "info"}
            told["message"] = why
            recording.append(encode("events", {name: [value] for name, value in told.items()}))

    def _needed(self, table: str) -> Columns:
        return self._recording.picked(table, _NEEDED[table])

    def read(self, wanted: Iterable[Line], most: int) -> int:
        """Add those of these lines that are new, up to so many in all; how many were left out."""
        with in_turn(_turn):
            known: Any = self._recording.columns("lines")
            have = set(zip(known["file"].tolist(), known["line"].tolist(), strict=True))
            new = list(_read(wanted, have))
            room = max(0, most - len(have))
            if rows := new[:room]:
                file, line, text = zip(*rows, strict=True)
                self._recording.append(encode("lines", {"file": file, "line": line, "text": text}))
        return len(new) - len(new[:room])


@contextmanager
def in_turn(lock: RLock) -> Iterator[None]:
    """Hold a lock; who has it may wait for this very thread, where a signal or garbage ends a recording."""
    held = lock.acquire(timeout=_PATIENCE)
    try:
        yield
    finally:
        if held:
            lock.release()


def may_be_kept(recording: Recording) -> bool:
    """Whether a recording is being made here, by somebody who wants source code in it."""
    about = recording.about
    here = about.get("pid") == os.getpid() and about.get("host") == platform.node()
    options = about.get("options")
    return here and "stopped" not in about and isinstance(options, dict) and bool(options.get("source"))


def _read(wanted: Iterable[Line], have: set[tuple[str, int]]) -> Iterator[tuple[str, int, str]]:
    """The lines that are not there yet, of files that are the same here as where they ran."""
    by_file: dict[str, list[Line]] = {}
    for each in wanted:
        by_file.setdefault(each.file, []).append(each)
    for file, found in by_file.items():
        new = [each for each in found if (file, each.line) not in have]
        source = _source(file_of(file)) if new else []
        if not source or not all(_fits(each, source) for each in found):
            continue
        for each in new:
            if each.line <= len(source) and (text := source[each.line - 1].strip()):
                yield file, each.line, text[:_LONGEST]


def _source(file: str) -> list[str]:
    """The lines of a file of Python code; none of any other, for workers may name whatever they like."""
    linecache.checkcache(file)
    return linecache.getlines(file) if _is_code(file) else []


def _is_code(file: str) -> bool:
    if os.path.isfile(file):
        program = getattr(sys.modules.get("__main__"), "__file__", None)
        return file == program or file.endswith(tuple(SOURCE_SUFFIXES))
    # Cells, and modules of archives.
    return file in linecache.cache


def _fits(line: Line, source: list[str]) -> bool:
    """Whether a function can begin on this line: a worker may have had another version of the file."""
    if not line.function or line.function == "<module>":
        return True
    if line.line > len(source):
        return False
    text = source[line.line - 1].strip()
    defined = _DEFINES.match(text)
    name = line.function.rpartition(".")[2]
    if defined is not None:
        return defined[1] == name or name.startswith("<") or name.endswith(defined[1])
    return name.startswith("<") or _BEGINS.search(text) is not None
