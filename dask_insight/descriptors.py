"""Files whose descriptors may be taken from them.

Standard library only.
"""

from __future__ import annotations

import errno
import io
import os
from contextlib import suppress
from typing import Any


class OwnFile(io.FileIO):
    """An open file, unbuffered, that leaves its descriptor alone when that is no longer its own.

    A program may close all descriptors, as daemons do, and open files of its own, which get their numbers:
    what we write would go into those, and what we close would be theirs.

    Parameters
    ----------
    number
        The descriptor, which this closes from now on.
    mode
        As of `io.FileIO`; nothing is cut off.

    Raises
    ------
    OSError
        Whatever it is asked, once its descriptor leads elsewhere, or nowhere.
    """

    def __init__(self, number: int, mode: str) -> None:
        super().__init__(number, mode, closefd=False)
        self._first = os.fstat(number)

    def fileno(self) -> int:
        number = super().fileno()
        try:
            if os.path.samestat(os.fstat(number), self._first):
                return number
        except OSError:
            pass
        raise OSError(errno.EBADF, "the program has closed its descriptor")

    def read(self, size: int | None = -1, /) -> bytes:
        self.fileno()
        return super().read(size)

    def write(self, data: Any, /) -> int:
        self.fileno()
        return super().write(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self.fileno()
        return super().seek(offset, whence)

    def truncate(self, size: int | None = None, /) -> int:
        self.fileno()
        return super().truncate(size)

    def close(self) -> None:
        if not self.closed:
            with suppress(OSError):
                os.close(self.fileno())
            super().close()
