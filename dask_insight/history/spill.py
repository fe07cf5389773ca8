"""Bytes that the disk keeps, for memory is too small for them."""

from __future__ import annotations

import os
import threading
import weakref
from tempfile import TemporaryFile
from typing import NamedTuple

from ..descriptors import OwnFile


class Spill:
    """A temporary file without a name, which goes with the process that made it.

    Any thread may read while one adds. A process that was forked off may read.

    Parameters
    ----------
    folder
        Where it is; by default that of the system, `tempfile.gettempdir`.

    Raises
    ------
    OSError
        If there can be none.
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder
        # Unbuffered: of what the disk does not take nothing waits for another try.
        with TemporaryFile(prefix="dask-insight-", dir=folder, buffering=0) as file:
            # It is there as long as one descriptor of it is open.
            self._file = OwnFile(os.dup(file.fileno()), "r+")
        self._process = os.getpid()
        self._end = 0
        self._lock = threading.Lock()
        # As the process ends a recording may still be completed.
        weakref.finalize(self, self._file.close).atexit = False
        # Some drives take what they do not give back.
        self.add(b"1").read()

    def add(self, data: bytes) -> Spilled:
        """Write bytes.

        Raises
        ------
        OSError
            If the disk does not take them, or the file is another process's.
        """
        if os.getpid() != self._process:
            raise OSError("the temporary file is another process's")
        with self._lock:
            self._file.seek(self._end)
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
            start, self._end = self._end, self._end + len(data)
        return Spilled(self, start, len(data))

    def read(self, start: int, length: int) -> bytes:
        """Read bytes that were added.

        Raises
        ------
        OSError
            If the disk does not give them.
        """
        if hasattr(os, "pread"):
            # Not where the file stands: processes that were forked off share that.
            data = os.pread(self._file.fileno(), length, start)
        else:
            with self._lock:
                self._file.seek(start)
                data = self._file.read(length)
        if len(data) != length:
            raise OSError(f"the temporary file gave {len(data)} of {length} bytes of the recording")
        return data


class Spilled(NamedTuple):
    """Where bytes stand that the disk keeps."""

    spill: Spill
    start: int
    length: int

    def read(self) -> bytes:
        """The bytes."""
        return self.spill.read(self.start, self.length)
