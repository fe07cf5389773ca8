"""The recording file: a header, then frames of compressed batches, append-only.

::

    header   8 bytes magic, u16 major, u16 minor, u32 zero
    frame    4 bytes marker, u32 size, u32 raw size, u32 checksum, payload of `size` bytes

All integers are little-endian. A payload is zlib over whole batches, one after
the other (see `batch`), `raw size` bytes of them. The checksum is CRC-32 of
the two sizes and the payload. A reader that meets something else looks for
the next frame that holds, and tells what it skipped. Nothing but bytes and
numbers is ever built from a file.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import BinaryIO, NamedTuple

from .batch import BatchError, split
from .schema import FORMAT

MAGIC = b"\x89DINSGT\n"
_MARKER = b"\xf5DI\n"
_HEADER = struct.Struct("<8sHHI")
_FRAME = struct.Struct("<4sIII")

#: Bytes gathered before they become a frame, and the seconds they may wait for that.
FRAME_BYTES = 256 * 1024
FRAME_SECONDS = 1.0

#: A file may unpack to this many times its size and this much more. The writer keeps to it too.
_EXPANSION = 64
_ALLOWANCE = 16 * 2**20


class RecordingError(ValueError):
    """This file cannot be opened as a recording; the message says what to do."""


class Gap(NamedTuple):
    """A part of a file that could not be read."""

    #: Where it begins in the file, bytes.
    offset: int
    #: How long it is, bytes.
    size: int
    #: What is wrong with it, in words.
    reason: str


class Writer:
    """Writes batches to a file as they come.

    The file can be opened at any moment; what a crash costs is what has not
    been flushed, about a second. Not thread-safe: `Recording.append` locks.
    """

    def __init__(self, file: BinaryIO, level: int = 1) -> None:
        self._file = file
        self._level = level
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._raw = 0
        self._packed = 0
        self._due = monotonic() + FRAME_SECONDS
        file.write(_HEADER.pack(MAGIC, *FORMAT, 0))
        file.flush()

    def write(self, batch: bytes) -> None:
        """Take one batch; write a frame when enough has come together."""
        self._waiting.append(batch)
        self._bytes += len(batch)
        if self._bytes >= FRAME_BYTES or monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Hand what waits to the operating system."""
        raw, self._waiting, self._bytes = b"".join(self._waiting), [], 0
        self._due = monotonic() + FRAME_SECONDS
        if not raw:
            return
        payload = zlib.compress(raw, self._level)
        if self._raw + len(raw) > _allowed(self._packed + len(payload)):
            payload = zlib.compress(raw, 0)
        self._raw, self._packed = self._raw + len(raw), self._packed + len(payload)
        checksum = _checksum(len(payload), len(raw), payload)
        self._file.write(_FRAME.pack(_MARKER, len(payload), len(raw), checksum) + payload)
        self._file.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self.flush()
        self._file.close()


def create(path: str | os.PathLike[str]) -> Writer:
    """Begin a recording file; one that is there is replaced."""
    return Writer(open(path, "wb", buffering=0))


def save(path: str | os.PathLike[str], batches: Iterable[bytes]) -> None:
    """Write a whole recording at once: a temporary file beside `path`, then renamed."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            writer = Writer(file, level=6)
            for batch in batches:
                writer.write(batch)
            writer.close()
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> Iterator[bytes | Gap]:
    """The batches of a recording file, in order, and the gaps between them.

    Raises
    ------
    RecordingError
        If it is no recording, or of a newer major format.
    FileNotFoundError
        If there is no such file.
    """
    with open(path, "rb") as file:
        _check_header(file.read(_HEADER.size), Path(path))
        size = file.seek(0, io.SEEK_END)
        yield from _frames(file, _HEADER.size, size)


def _check_header(header: bytes, path: Path) -> None:
    if len(header) < _HEADER.size or not header.startswith(MAGIC):
        raise RecordingError(
            f"{path} is not a dask_insight recording; recordings are made by dask_insight.record()"
        )
    _, major, minor, _ = _HEADER.unpack(header)
    if major > FORMAT[0]:
        raise RecordingError(
            f"{path} has format {major}.{minor}, newer than this version of dask_insight reads "
            f"({FORMAT[0]}.x): update it with `pip install --upgrade dask-insight`"
        )


def _frames(file: BinaryIO, offset: int, end: int) -> Iterator[bytes | Gap]:
    raw_total, packed_total = 0, 0
    while offset < end:
        frame = _frame(file, offset, end)
        if isinstance(frame, str):
            found = _next_frame(file, offset + 1, end)
            yield Gap(offset, found - offset, frame)
            offset = found
            continue
        payload, raw_size = frame
        packed_total += len(payload)
        allowed = _allowed(packed_total) - raw_total
        try:
            raw = _expand(payload, min(raw_size, allowed))
            raw_total += len(raw)
            yield from split(raw)
        except (BatchError, zlib.error) as error:
            yield Gap(offset, _FRAME.size + len(payload), str(error))
        offset += _FRAME.size + len(payload)


def _frame(file: BinaryIO, offset: int, end: int) -> tuple[bytes, int] | str:
    """Payload and raw size of the frame at `offset`, or what is wrong with it."""
    file.seek(offset)
    head = file.read(_FRAME.size)
    if len(head) < _FRAME.size:
        return "the file ends within a frame"
    marker, size, raw_size, checksum = _FRAME.unpack(head)
    if marker != _MARKER:
        return "no frame where one should begin"
    if offset + _FRAME.size + size > end:
        return "the file ends within a frame"
    payload = file.read(size)
    return (payload, raw_size) if _checksum(size, raw_size, payload) == checksum else "wrong checksum"


def _next_frame(file: BinaryIO, offset: int, end: int) -> int:
    """Where the next frame that holds begins, or the end of the file."""
    step = 2**20
    tries = 0
    while offset < end:
        file.seek(offset)
        window = file.read(step + len(_MARKER))
        at = window.find(_MARKER)
        while 0 <= at < step:
            tries += 1
            if not isinstance(_frame(file, offset + at, end), str):
                return offset + at
            if tries >= 10_000:
                return end
            at = window.find(_MARKER, at + 1)
        offset += step
    return end


def _expand(payload: bytes, size: int) -> bytes:
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(payload, max(size, 0) + 1)
    if len(raw) > size or not unpacker.eof:
        raise BatchError("a frame does not unpack to the size it announces")
    return raw


def _allowed(packed: int) -> int:
    return _EXPANSION * packed + _ALLOWANCE


def _checksum(size: int, raw_size: int, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(struct.pack("<II", size, raw_size)))
