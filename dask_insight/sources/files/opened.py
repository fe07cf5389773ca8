"""Files of others, unpacked as they are read, and never to more than they are worth."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ...frames import RecordingError

#: Is told how much of a file has been read, 0 to 1.
Told = Callable[[float], None]

_GZIP = b"\x1f\x8b"
#: Bytes read at a time.
_PIECE = 2**20
#: Bytes by which a format is recognised.
_HEAD = 64 * 1024
#: A compressed file may unpack to this many times its size and this much more.
_EXPANSION = 100
_ALLOWANCE = 64 * 2**20


def part(told: Told, place: int, places: int, share: float = 1.0) -> Told:
    """What tells of one file among several; by `share` less, where reading is only the beginning."""

    def tell(done: float) -> None:
        told((place + share * done) / places)

    return tell


def silent(_share: float) -> None:
    """Tells nobody."""


class Source:
    """The bytes of a file, piece by piece; those of a gzip file unpacked.

    Attributes
    ----------
    path
        The file.
    packed
        Whether it is compressed.
    torn
        What is wrong with the end of its compressed data, in words; '' if nothing is known to be.
    """

    def __init__(self, path: Path, file: BinaryIO, told: Told = silent) -> None:
        self.path = path
        self.torn = ""
        self._file = file
        self._told = told
        self._size = path.stat().st_size
        self._given = 0
        self._waiting = file.read(_PIECE)
        self.packed = self._waiting.startswith(_GZIP)
        self._unpacker = zlib.decompressobj(wbits=31) if self.packed else None

    def read(self) -> bytes:
        """The next piece, `_PIECE` bytes at most; empty at the end.

        Raises
        ------
        RecordingError
            If it unpacks to far more than its size.
        """
        piece = self._plain() if self._unpacker is None else self._unpacked(self._unpacker)
        self._given += len(piece)
        if self._unpacker is not None and self._given > _EXPANSION * self._size + _ALLOWANCE:
            raise RecordingError(
                f"{self.path} unpacks to more than {_EXPANSION} times its size, to byte {self._given:,} and "
                "beyond: if you trust it, unpack it with gunzip first"
            )
        self._told(min(1.0, self._file.tell() / max(self._size, 1)))
        return piece

    def _plain(self) -> bytes:
        piece, self._waiting = self._waiting, self._file.read(_PIECE)
        return piece

    def _unpacked(self, unpacker: zlib._Decompress) -> bytes:
        while not self.torn:
            data = self._waiting or self._file.read(_PIECE)
            ends = not data
            try:
                if unpacker.eof:
                    # Another member may follow; some tools fill up with zeros.
                    data = data.lstrip(b"\0")
                    if ends or not data:
                        self._waiting = b""
                        if ends:
                            return b""
                        continue
                    unpacker = self._unpacker = zlib.decompressobj(wbits=31)
                piece = unpacker.decompress(data, _PIECE)
            except zlib.error as error:
                self.torn = f"its compressed data are damaged before byte {self._file.tell():,} ({error})"
                break
            self._waiting = unpacker.unconsumed_tail or unpacker.unused_data
            if piece:
                return piece
            if ends:
                self.torn = "its compressed data end early"
        return b""


@contextmanager
def opened(path: Path, told: Told = silent) -> Iterator[Source]:
    """A file as a `Source`.

    Raises
    ------
    RecordingError
        If it is a folder.
    """
    if path.is_dir():
        raise RecordingError(f"{path} is a folder: name a file in it")
    with path.open("rb") as file:
        yield Source(path, file, told)


def head(path: Path) -> bytes:
    """The bytes by which a file is recognised, unpacked."""
    with opened(path) as source:
        return source.read()[:_HEAD]


def whole(path: Path, told: Told = silent, *, most: int) -> tuple[bytes, str]:
    """All bytes of a file, unpacked, and what is wrong with their end.

    Raises
    ------
    RecordingError
        If there are more than `most`, or far more than the file's size is worth.
    """
    pieces, size = [], 0
    with opened(path, told) as source:
        while piece := source.read():
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise RecordingError(f"{path} holds more than {most >> 20:,} MiB, the most that can be read")
        return b"".join(pieces), source.torn
