"""Progress on standard error: a line that renews itself on a terminal, a few lines elsewhere."""

from __future__ import annotations

import shutil
import sys
from typing import TextIO

_BLOCKS = " ▏▎▍▌▋▊▉█"
_WIDTH = 24


class Progress:
    """One line that says how far something is."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty()
        self._open = False

    @property
    def live(self) -> bool:
        """Whether a person watches."""
        return self._live

    def show(self, text: str) -> None:
        """Renew the line; nothing where no person watches."""
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write("\r\x1b[2K" + text[:width])
            self._stream.flush()
            self._open = True

    def line(self, text: str) -> None:
        """Write a line that stays."""
        self.clear()
        print(text, file=self._stream, flush=True)

    def clear(self) -> None:
        """Take the renewed line away."""
        if self._open:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._open = False


def bar(share: float, width: int = _WIDTH) -> str:
    """A bar for a share of 1."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if rest else "")).ljust(width)
