"""Progress on standard error: a line that renews itself on a terminal, a few lines elsewhere.

Not every terminal of Windows knows the codes that would clear a line, so spaces do.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from typing import TextIO

from ...legible import harmless

_BLOCKS = " ▏▎▍▌▋▊▉█"
_WIDTH = 24


class Progress:
    """One line that says how far something is."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = _is_terminal(self._stream)
        #: Columns that the renewed line takes.
        self._taken = 0

    @property
    def live(self) -> bool:
        """Whether a person watches."""
        return self._live

    def show(self, text: str) -> None:
        """Renew the line; nothing where no person watches."""
        if self._live:
            text = _cut(harmless(text), shutil.get_terminal_size().columns - 1)
            taken, self._taken = self._taken, _columns(text)
            self._put("\r" + text + " " * (taken - self._taken))

    def line(self, text: str) -> None:
        """Write a line that stays."""
        self.clear()
        self._put(f"{harmless(text)}\n")

    def clear(self) -> None:
        """Take the renewed line away."""
        if self._taken:
            self._put("\r" + " " * self._taken + "\r")
            self._taken = 0

    def _put(self, text: str) -> None:
        # A terminal may go while a recording lasts, and a program close its streams.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


@contextlib.contextmanager
def saying(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Tell a person who watches what is done within; others, or if `quiet`, are told nothing."""
    progress = Progress()
    if not quiet:
        progress.show(text)
    try:
        yield
    finally:
        progress.clear()


def _is_terminal(stream: TextIO) -> bool:
    """Whether a person watches a stream, which a program may have closed or replaced by another thing."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _cut(text: str, columns: int) -> str:
    """As much of a text as there is room for."""
    while _columns(text) > max(columns, 0):
        text = text[:-1]
    return text


def bar(share: float, width: int = _WIDTH) -> str:
    """A bar for a share of 1."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if rest else "")).ljust(width)
