"""The recording file: a header, then frames of compressed batches, append-only.

::

    header   8 bytes magic, u16 major, u16 minor, u32 zero
    frame    4 bytes marker, u32 size, u32 batches, u32 checksum, payload of `size` bytes
    payload  u32 length of each batch, then zlib over the batches, one after the other

All integers are little-endian. Batches are those of `batch`. The checksum is
CRC-32 of size, number of batches and payload. A reader that meets something else looks for
the next frame that holds, and tells what it skipped. Nothing but bytes and
numbers is ever built from a file.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import BinaryIO, NamedTuple

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
#: Compressed bytes unpacked at a time.
_PIECE = 64 * 1024
#: Threads that unpack a file.
_THREADS = min(4, os.cpu_count() or 1)


class RecordingError(ValueError):
    """This file cannot be opened as a recording; the message says what to do."""


class FrameError(ValueError):
    """A frame is whole but says something impossible."""


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
        lengths = [len(batch) for batch in self._waiting]
        raw, self._waiting, self._bytes = b"".join(self._waiting), [], 0
        self._due = monotonic() + FRAME_SECONDS
        if not raw:
            return
        packed = zlib.compress(raw, self._level)
        if self._raw + len(raw) > _allowed(self._packed + len(packed)):
            packed = zlib.compress(raw, 0)
        self._raw, self._packed = self._raw + len(raw), self._packed + len(packed)
        payload = _lengths(len(lengths)).pack(*lengths) + packed
        checksum = _checksum(len(payload), len(lengths), payload)
        self._file.write(_FRAME.pack(_MARKER, len(payload), len(lengths), checksum) + payload)
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
    """Frames are unpacked by a few threads while the next ones are read; they come in their order."""
    with ThreadPoolExecutor(_THREADS) as threads:
        waiting: deque[Future[list[bytes] | Gap]] = deque()
        for frame in _whole_frames(file, offset, end):
            waiting.append(threads.submit(_batches, frame))
            if len(waiting) > 2 * _THREADS:
                yield from _result(waiting.popleft())
        while waiting:
            yield from _result(waiting.popleft())


def _result(unpacked: Future[list[bytes] | Gap]) -> list[bytes] | list[Gap]:
    result = unpacked.result()
    return [result] if isinstance(result, Gap) else result


class _Frame(NamedTuple):
    """A frame whose checksum is right, and the bytes it may unpack to."""

    offset: int
    payload: bytes
    lengths: tuple[int, ...]


def _whole_frames(file: BinaryIO, offset: int, end: int) -> Iterator[_Frame | Gap]:
    raw, packed = 0, 0
    while offset < end:
        frame = _frame(file, offset, end)
        if isinstance(frame, str):
            found = _next_frame(file, offset + 1, end)
            yield Gap(offset, found - offset, frame)
            offset = found
            continue
        payload, batches = frame
        lengths = _lengths(batches).unpack_from(payload) if 4 * batches <= len(payload) else None
        packed += len(payload)
        if lengths is None:
            yield Gap(offset, _FRAME.size + len(payload), "a frame is too short for its batches")
        elif raw + sum(lengths) > _allowed(packed):
            yield Gap(offset, _FRAME.size + len(payload), "a frame would take far more memory than the file")
        else:
            raw += sum(lengths)
            yield _Frame(offset, payload, lengths)
        offset += _FRAME.size + len(payload)


def _batches(frame: _Frame | Gap) -> list[bytes] | Gap:
    if isinstance(frame, Gap):
        return frame
    try:
        raw = _unpack(memoryview(frame.payload)[4 * len(frame.lengths) :], sum(frame.lengths))
    except (FrameError, zlib.error) as error:
        return Gap(frame.offset, _FRAME.size + len(frame.payload), str(error))
    return list(_cut(raw, frame.lengths))


def _cut(raw: bytes, lengths: tuple[int, ...]) -> Iterator[bytes]:
    start = 0
    for length in lengths:
        yield raw[start : start + length]
        start += length


def _frame(file: BinaryIO, offset: int, end: int) -> tuple[bytes, int] | str:
    """Payload and number of batches of the frame at `offset`, or what is wrong with it."""
    file.seek(offset)
    head = file.read(_FRAME.size)
    if len(head) < _FRAME.size:
        return "the file ends within a frame"
    marker, size, batches, checksum = _FRAME.unpack(head)
    if marker != _MARKER:
        return "no frame where one should begin"
    if offset + _FRAME.size + size > end:
        return "the file ends within a frame"
    payload = file.read(size)
    return (payload, batches) if _checksum(size, batches, payload) == checksum else "wrong checksum"


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


def _unpack(packed: memoryview, size: int) -> bytes:
    """Exactly `size` bytes out of a zlib stream; never holds more."""
    unpacker, raw = zlib.decompressobj(), io.BytesIO()
    for start in range(0, len(packed), _PIECE):
        raw.write(unpacker.decompress(packed[start : start + _PIECE], size - raw.tell() + 1))
        if raw.tell() > size:
            break
    if raw.tell() != size or not unpacker.eof:
        raise FrameError("a frame does not unpack to the size it announces")
    return raw.getvalue()


def _lengths(batches: int) -> struct.Struct:
    return struct.Struct(f"<{batches}I")


def _allowed(packed: int) -> int:
    return _EXPANSION * packed + _ALLOWANCE


def _checksum(size: int, batches: int, payload: bytes) -> int:
    return zlib.crc32(payload, zlib.crc32(struct.pack("<II", size, batches)))
