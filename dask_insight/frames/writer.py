"""Writes recording files: as the batches come, or whole."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..descriptors import OwnFile
from ..schema import FORMAT
from ..threads import at_once
from .layout import FRAME, HEADER, MAGIC, MARKER, THREADS, allowed, checksum, lengths_of
from .lock import must_be_free, unclaimed
from .place import place_of, replacing

#: How a recording file is opened; only Windows has the last, and would change ends of lines without it.
_OPENED = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
#: Bytes gathered before they become a frame.
FRAME_BYTES = 256 * 1024
#: The same for what is saved whole, larger batches are frames of their own: what a damaged byte can cost.
_SAVED_BYTES = 16 * 1024


class _Compression(NamedTuple):
    """zlib's levels."""

    level: int
    #: Makes blocks long; in short ones each column of some thousand rows gets codes of its own.
    memory: int


#: Compression while the computation runs, at first and when there is much, and for what is saved whole.
_PLAIN, _FAST, _SMALL = _Compression(0, 8), _Compression(1, 8), _Compression(5, 5)
#: Bytes of batches that are much. Most files have fewer: they are written anew when they end, and to compress
#: them before that would only take from those who compute.
_MUCH = 32 * 2**20


class _Packed(NamedTuple):
    """Batches that make one frame."""

    lengths: list[int]
    raw: bytes
    packed: bytes


class Writer:
    """Writes batches to a file as they come.

    The file can be opened at any moment; what a crash costs is what has not
    been flushed: `Store` does so a quarter of a second after a batch. Not
    thread-safe: `Store` locks.

    Parameters
    ----------
    file
        Where to write.
    place
        Where that file is, if it is to be told from others that take its place.

    Attributes
    ----------
    folder
        Where it is; None where nobody said.
    waiting
        Whether there is anything to flush.
    """

    def __init__(self, file: BinaryIO, place: Path | None = None) -> None:
        self._file = file
        self.folder = None if place is None else place.parent
        # Asked as `is_at` asks: on Windows what is told of an open file need not be the same.
        self._known = None if place is None else place.stat()
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._raw = 0
        self._packed = 0
        #: Where the last frame ended.
        self._end = 0
        self._append(HEADER.pack(MAGIC, *FORMAT, 0))

    def write(self, batch: bytes) -> None:
        """Take one batch; write a frame when enough has come together."""
        self._waiting.append(batch)
        self._bytes += len(batch)
        if self._bytes >= FRAME_BYTES:
            self.flush()

    @property
    def waiting(self) -> bool:
        return bool(self._waiting)

    def flush(self) -> None:
        """Hand what waits to the operating system; an interrupt leaves it to the next time.

        What is refused, or too much for memory, is given up: with what comes next it would be more.
        """
        if not self._waiting:
            return
        before, refused = self._end, False
        try:
            self.put(_pack(self._waiting, _PLAIN if self._raw < _MUCH else _FAST))
        except (OSError, MemoryError):
            refused = True
            raise
        finally:
            if refused or self._end != before:
                self._waiting, self._bytes = [], 0

    def put(self, frame: _Packed) -> None:
        """Write one frame."""
        lengths, raw, packed = frame
        if self._raw + len(raw) > allowed(self._packed + len(packed)):
            packed = zlib.compress(raw, 0)
        payload = lengths_of(len(lengths)).pack(*lengths) + packed
        self._raw, self._packed = self._raw + len(raw), self._packed + len(payload)
        head = FRAME.pack(MARKER, len(payload), len(lengths), checksum(len(payload), len(lengths), payload))
        self._append(head + payload)

    def _append(self, data: bytes) -> None:
        """Write it all, or nothing: what a full disk, or an interrupt, has left of it is given back."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            self._file.flush()
        except BaseException:
            with suppress(OSError):
                self._file.seek(self._end)
                self._file.truncate()
            raise
        self._end += len(data)

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Whether the file at a path is the one it writes, or wrote until it was closed."""
        try:
            return self._known is not None and os.path.samestat(self._known, os.stat(path))
        except OSError:
            return False

    def close(self) -> None:
        """Flush and close the file."""
        try:
            self.flush()
        finally:
            self._file.close()


def create(path: str | os.PathLike[str]) -> Writer:
    """Begin a recording file; one that is there is replaced."""
    place = place_of(path)
    # A buffer would keep what a full disk does not take, and write it later, where it does not belong.
    file = OwnFile(os.open(place, _OPENED, 0o666), "w")
    try:
        return Writer(file, place)
    except OSError:
        # Windows takes no file away that is open.
        with suppress(OSError):
            file.close()
        raise


def save(path: str | os.PathLike[str], batches: Iterable[bytes]) -> None:
    """Write a whole recording at once; it appears whole or not at all.

    Raises
    ------
    OSError
        If it cannot be written, or another process records to it.
    """
    must_be_free(place_of(path))
    with replacing(path, unclaimed) as file:
        writer = Writer(file)
        for frame in at_once(partial(_pack, compression=_SMALL), _groups(batches), THREADS):
            writer.put(frame)


def _groups(batches: Iterable[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    for batch in batches:
        if group and sum(map(len, group)) + len(batch) > _SAVED_BYTES:
            yield group
            group = []
        group.append(batch)
    if group:
        yield group


def _pack(batches: list[bytes], compression: _Compression) -> _Packed:
    raw = b"".join(batches)
    level, memory = compression
    packer = zlib.compressobj(level, memLevel=memory, strategy=zlib.Z_FILTERED)
    return _Packed([len(batch) for batch in batches], raw, packer.compress(raw) + packer.flush())
