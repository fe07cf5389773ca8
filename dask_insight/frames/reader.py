"""Reads recording files, whatever happened to them."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..schema import FORMAT
from ..threads import at_once
from .layout import FRAME, HEADER, MAGIC, MARKER, THREADS, Gap, RecordingError, allowed, checksum, lengths_of

#: Places looked at in search of the next frame after damage.
_TRIES = 1_000
#: How many times over a file may be read for what looks like frames and is none.
_READINGS = 4


class _Frame(NamedTuple):
    """A frame whose checksum is right and whose size is bearable."""

    offset: int
    payload: bytes
    lengths: tuple[int, ...]


def read(path: str | os.PathLike[str]) -> Iterator[bytes | Gap]:
    """The batches of a recording file, in order, and the gaps between them.

    Raises
    ------
    RecordingError
        If it is no recording, a folder or a pipe, or of a newer major format.
    FileNotFoundError
        If there is no such file.
    """
    if os.path.isdir(path):
        raise RecordingError(f"{path} is a folder: name a recording in it")
    with open(path, "rb") as file:
        _check_header(file.read(HEADER.size), Path(path))
        if not file.seekable():
            raise RecordingError(f"{path} is a pipe, which cannot be searched: write it to a file")
        size = file.seek(0, io.SEEK_END)
        yield from _frames(file, HEADER.size, size)


def newer(path: str | os.PathLike[str]) -> str:
    """The format of a recording file, where that is newer than this version's; '' else, or if it has gone."""
    try:
        with open(path, "rb") as file:
            _, *format, _ = HEADER.unpack(file.read(HEADER.size))
    except (OSError, struct.error):
        return ""
    return "{}.{}".format(*format) if tuple(format) > FORMAT else ""


def _check_header(header: bytes, path: Path) -> None:
    if len(header) < HEADER.size or not header.startswith(MAGIC):
        raise RecordingError(
            f"{path} is not a dask_insight recording; recordings are made by dask_insight.record(), "
            "and of other tools' files by dask_insight.load() or `dask-insight import`"
        )
    _, major, minor, _ = HEADER.unpack(header)
    if major > FORMAT[0]:
        raise RecordingError(
            f"{path} has format {major}.{minor}, newer than this version of dask_insight reads "
            f"({FORMAT[0]}.x): install a newer one"
        )


def _frames(file: BinaryIO, offset: int, end: int) -> Iterator[bytes | Gap]:
    """Frames are unpacked by a few threads while the next ones are read; they come in their order."""
    for batches in at_once(_batches, _whole_frames(file, offset, end), THREADS):
        yield from batches


def _whole_frames(file: BinaryIO, offset: int, end: int) -> Iterator[_Frame | Gap]:
    raw, packed = 0, 0
    finder = _Finder(file, end)
    while offset < end:
        frame = finder.at(offset)
        if isinstance(frame, str):
            found = finder.after(offset)
            yield Gap(offset, found - offset, frame)
            # What stood there counted for those who wrote what follows.
            packed += found - offset
            offset = found
            continue
        payload, batches = frame
        lengths = lengths_of(batches).unpack_from(payload) if 4 * batches <= len(payload) else None
        packed += len(payload)
        if lengths is None:
            yield Gap(offset, FRAME.size + len(payload), "a frame is too short for its batches")
        elif raw + sum(lengths) > allowed(packed):
            yield Gap(offset, FRAME.size + len(payload), "a frame would take far more memory than the file")
        else:
            raw += sum(lengths)
            yield _Frame(offset, payload, lengths)
        offset += FRAME.size + len(payload)


def _batches(frame: _Frame | Gap) -> list[bytes | Gap]:
    """The batches of a frame, and one gap for all in it that are none."""
    # Not at the top: it imports NumPy, which who only writes files has no need of.
    from ..batch import BatchError, announced

    if isinstance(frame, Gap):
        return [frame]
    size = FRAME.size + len(frame.payload)
    try:
        raw = _unpack(memoryview(frame.payload)[4 * len(frame.lengths) :], sum(frame.lengths))
    except zlib.error as error:
        return [Gap(frame.offset, size, str(error))]
    batches: list[bytes | Gap] = []
    wrong = ""
    start = 0
    for length in frame.lengths:
        batch = raw[start : start + length]
        start += length
        try:
            announced(batch)
            batches.append(batch)
        except BatchError as error:
            wrong = str(error)
    return (
        [*batches, Gap(frame.offset, size, f"not all in a frame are batches: {wrong}")] if wrong else batches
    )


class _Finder:
    """Finds frames in a file."""

    def __init__(self, file: BinaryIO, end: int) -> None:
        self._file, self._end = file, end
        #: Bytes that may yet be read in vain.
        self._left = _READINGS * end

    def at(self, offset: int) -> tuple[bytes, int] | str:
        """Payload and number of batches of the frame at `offset`, or what is wrong with it."""
        self._file.seek(offset)
        head = self._file.read(FRAME.size)
        if len(head) < FRAME.size:
            return "the file ends within a frame"
        marker, size, batches, expected = FRAME.unpack(head)
        if marker != MARKER:
            return "no frame where one should begin"
        if offset + FRAME.size + size > self._end:
            return "the file ends within a frame"
        if size > self._left:
            return "too much looks like frames and is none"
        payload = self._file.read(size)
        if checksum(size, batches, payload) == expected:
            return payload, batches
        self._left -= size
        return "wrong checksum"

    def after(self, offset: int) -> int:
        """Where the next frame that holds begins, or the end of the file."""
        offset += 1
        step = 2**20
        tries = 0
        while offset < self._end:
            self._file.seek(offset)
            window = self._file.read(step + len(MARKER))
            at = window.find(MARKER)
            while 0 <= at < step:
                tries += 1
                if not isinstance(self.at(offset + at), str):
                    return offset + at
                if tries >= _TRIES:
                    return self._end
                at = window.find(MARKER, at + 1)
            offset += step
        return self._end


def _unpack(packed: memoryview, size: int) -> bytes:
    """Exactly `size` bytes out of a zlib stream; never holds more."""
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(packed, size + 1)
    if len(raw) != size or not unpacker.eof:
        raise zlib.error("a frame does not unpack to the size it announces")
    return raw
