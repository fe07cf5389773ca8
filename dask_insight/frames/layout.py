"""What reader and writer of recording files agree on."""

from __future__ import annotations

import os
import struct
import zlib
from typing import NamedTuple

MAGIC = b"\x89DINSGT\n"
MARKER = b"\xf5DI\n"
HEADER = struct.Struct("<8sHHI")
FRAME = struct.Struct("<4sIII")

#: Threads that pack or unpack a file.
THREADS = min(4, os.cpu_count() or 1)

#: A file may unpack to this many times its size and this much more. The writer keeps to it too.
_EXPANSION = 16
_ALLOWANCE = 16 * 2**20


class RecordingError(ValueError):
    """This file cannot be opened as a recording; the message says what to do."""


class Gap(NamedTuple):
    """A part of a recording that could not be read."""

    #: Where it begins in the file, bytes; -1 for a batch within a frame.
    offset: int
    #: How long it is, bytes; 0 where nobody knows.
    size: int
    #: What is wrong with it, in words.
    reason: str

    def __str__(self) -> str:
        what = f"{self.size:,} bytes" if self.size else "what stands"
        where = f"at byte {self.offset:,}" if self.offset >= 0 else "within a frame"
        return f"{what} {where} could not be read: {self.reason}"


def allowed(packed: int) -> int:
    """Most bytes to which so many bytes of frames may unpack."""
    return _EXPANSION * packed + _ALLOWANCE


def checksum(size: int, batches: int, payload: bytes) -> int:
    """The checksum of a frame."""
    return zlib.crc32(payload, zlib.crc32(struct.pack("<II", size, batches)))


def lengths_of(batches: int) -> struct.Struct:
    """The index before a payload: the length of each batch."""
    return struct.Struct(f"<{batches}I")
