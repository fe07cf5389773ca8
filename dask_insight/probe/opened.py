"""Files that stay open, for to open one takes longer than to read it."""

from __future__ import annotations

import contextlib
import os


class Opened:
    """A file of the system's that is read again and again.

    A program may close all descriptors, as daemons do, and open files of its own, which get their numbers:
    those are not ours to read or to close.

    Raises
    ------
    OSError
        If it cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self.number = os.open(path, os.O_RDONLY)
        self._first = os.fstat(self.number)

    @property
    def is_ours(self) -> bool:
        """Whether its descriptor still leads to it."""
        try:
            return os.path.samestat(os.fstat(self.number), self._first)
        except OSError:
            return False

    def close(self) -> None:
        """Close it."""
        if self.is_ours:
            with contextlib.suppress(OSError):
                os.close(self.number)
        self.number = -1
