"""Records of msgpack that are laid out alike, read by column.

Most records of a file are laid out as another one: the same keys in the same order, values of the same
types, only other texts and numbers. That layout is worked out from one of them, byte by byte, and all are
compared with it at once. What varies in size (texts of 32 bytes and more, whole numbers) parts a record into
runs of bytes, in which each value has its place. Records that are unusual (texts that are not ASCII or
longer than 255 bytes, lists and maps of more than 15, types that JSON does not have) and those with a
layout after the first 64 are left to a general reader. What first bytes mean: msgpack's ``spec.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
#: Keys and places in lists that lead to a value.
Path = tuple[str | int, ...]

#: Bytes of the longest text that is read by column.
LONGEST_TEXT = 255

_MAP, _LIST, _TEXT, _TEXT_END = 0x80, 0x90, 0xA0, 0xC0
_FLOAT, _LONG_TEXT = 0xCB, 0xD9
_CONSTANTS = (0xC0, 0xC2, 0xC3)
_SIGNED = 0xD0
#: Bytes of a whole number after its first byte, by that; -1 where it is of something else.
_WIDTH = np.array([*[0] * 128, *[-1] * 76, *(1, 2, 4, 8) * 2, *[-1] * 12, *[0] * 32])
#: Which bits of a byte are the same in all records: all, none, or that it is ASCII.
_SAME, _ANY, _ASCII = 0xFF, 0, 0x80
_NOT_ASCII = np.uint64(0x8080_8080_8080_8080)
#: Of words that begin with a text, by its length: the bits that are its.
_OWN = np.where(np.arange(256) < np.arange(256)[:, None], _SAME, 0).astype("u1").view("<u8")
#: Most layouts looked for, values that vary in size, bytes of a run, and lists and maps within one another.
_LAYOUTS, _VARYING, _LONGEST, _DEPTH = 64, 64, 1_024, 8
#: Bytes that may be read behind a record.
_MARGIN = 2 * _LONGEST
_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)


class Slices(NamedTuple):
    """Where texts begin, and their lengths."""

    at: Array
    length: Array

    @classmethod
    def joined(cls, parts: Sequence[Slices]) -> Slices:
        """Several as one."""
        none = np.zeros(0, "i8")
        return (
            cls(*(np.concatenate((none, *column)) for column in zip(*parts, strict=True)))
            if parts
            else cls(none, none)
        )


class Records:
    """Some records of a file, one after another.

    Parameters
    ----------
    data
        The file's bytes.
    starts, ends
        Where each record begins and ends.
    """

    def __init__(self, data: bytes, starts: Array, ends: Array) -> None:
        first, last = int(starts[0]), int(ends[-1])
        if last + _MARGIN > len(data):
            data = data[first:last] + bytes(_MARGIN)
            starts, ends = starts - first, ends - first
        self._starts, self._ends, self.data = starts, ends, data
        self.bytes = np.frombuffer(data, "u1")

    def __len__(self) -> int:
        return len(self._starts)

    def alike(self, by: Collection[Path]) -> tuple[list[Alike], Array]:
        """Those laid out alike, and the places of the others, in their order.

        Parameters
        ----------
        by
            Where short texts stand that are to be the same too.
        """
        found, odd = [], []
        left = np.arange(len(self._starts))
        taken = np.zeros(len(left), bool)
        for _ in range(_LAYOUTS):
            if not len(left):
                break
            some = self._like(left, by)
            if some is None:
                odd.append(left[:1])
                left = left[1:]
            else:
                found.append(some)
                taken[some.rows] = True
                left = left[~taken[left]]
        return found, np.sort(np.concatenate((*odd, left)))

    def _like(self, rows: Array, by: Collection[Path]) -> Alike | None:
        """Those of some records that are laid out as the first of them, if it is not unusual."""
        at, end = self._starts[rows], self._ends[rows]
        try:
            layout = _Layout(self.data, int(at[0]), int(end[0]), by)
        except _UnusualError:
            return None
        begins: list[Array] = []
        for number, part in enumerate(layout.parts):
            fits, after = part.over(self, at)
            fits &= after == end if number == len(layout.parts) - 1 else after <= end
            begins.append(at)
            if not fits.all():
                rows, after, end = rows[fits], after[fits], end[fits]
                begins = [begin[fits] for begin in begins]
            at = after
        return Alike(self, rows, layout, begins) if len(rows) else None

    def words(self, at: Array, count: int) -> Array:
        """So many words of eight bytes from there on, a row each."""
        size = 8 * count
        window: Any = np.ndarray(len(self.data) - size + 1, f"V{size}", self.data, strides=(1,))
        return np.asarray(window[at].view("<u8").reshape(len(at), count))

    def texts(self, texts: Slices) -> Array:
        """Their words, with zeros after the end, a column each."""
        count = int(texts.length.max(initial=0)) // 8 + 1
        return np.ascontiguousarray((self.words(texts.at, count) & _OWN[texts.length, :count]).T)

    def interned(self, *columns: Slices) -> tuple[Array, list[list[bytes]]]:
        """Numbers of rows of texts, and columns of the different ones, as they stand in the file."""
        parts = [part for each in columns for part in (each.length.astype("u8"), *self.texts(each))]
        codes, first = _different(parts, columns[0].at)
        each = [
            [
                self.data[at : at + size]
                for at, size in zip(at[first].tolist(), length[first].tolist(), strict=True)
            ]
            for at, length in columns
        ]
        return codes, each


class Alike:
    """Records that are laid out alike.

    Attributes
    ----------
    rows
        Their places among the records.
    same
        The texts that are the same in all, of those asked for.
    """

    def __init__(self, records: Records, rows: Array, layout: _Layout, begins: list[Array]) -> None:
        self.rows, self.same = rows, layout.same
        self._records, self._layout, self._begins = records, layout, begins

    def has(self, *path: str | int) -> bool:
        """Whether any value stands there."""
        return path in self._layout.paths

    def numbers(self, path: Path) -> Array:
        """Numbers.

        Raises
        ------
        KeyError
            If other values stand there.
        """
        part, offset = self._layout.numbers[path]
        at = self._begins[part] + offset
        if isinstance(self._layout.parts[part], _Run):
            return self._records.words(at, 1)[:, 0].view(">f8").astype("f8")
        first = self._records.bytes[at]
        unused = (64 - 8 * _WIDTH[first]).astype("u8")
        after = self._records.words(at + 1, 1)[:, 0].byteswap()
        signed = after.view("i8") >> np.minimum(unused, 63).view("i8")
        wide = np.where(first >= _SIGNED, signed.astype("f8"), (after >> unused).astype("f8"))
        return np.asarray(np.where(unused == 64, first.view("i1"), wide))

    def texts(self, path: Path) -> Slices:
        """Slices.

        Raises
        ------
        KeyError
            If other values stand there.
        """
        part, offset, size = self._layout.texts[path]
        at = self._begins[part] + offset
        return Slices(
            at, self._records.bytes[at - 1].astype("i8") if size is None else np.full(len(at), size)
        )

    def lists(self, path: Path) -> tuple[int, Slices]:
        """How many texts stand in each list, and these, list by list.

        Raises
        ------
        KeyError
            If other values stand there.
        """
        count = self._layout.lists[path]
        columns = [self.texts((*path, place)) for place in range(count)]
        none = np.zeros((0, len(self.rows)), "i8")
        at, length = (
            (np.vstack((none, *each)) for each in zip(*columns, strict=True)) if columns else (none, none)
        )
        return count, Slices(at.T.ravel(), length.T.ravel())


class _Part(Protocol):
    """A part of a layout."""

    def over(self, records: Records, at: Array) -> tuple[Array, Array]:
        """Whether such a part begins there, and where it ends."""


class _Run:
    """Bytes that have their places."""

    def __init__(self, values: bytes, same: bytes) -> None:
        filled = -len(values) % 8
        self._size = len(values)
        self._values = np.frombuffer(values + bytes(filled), "<u8")
        self._same = np.frombuffer(same + bytes(filled), "<u8")

    def over(self, records: Records, at: Array) -> tuple[Array, Array]:
        words = records.words(at, len(self._values))
        other = np.zeros(len(at), "u8")
        for place in np.flatnonzero(self._same):
            other |= (words[:, place] ^ self._values[place]) & self._same[place]
        return other == 0, at + self._size


class _Text:
    """A text after its length."""

    def over(self, records: Records, at: Array) -> tuple[Array, Array]:
        length = records.bytes[at].astype("i8")
        bits = np.bitwise_or.reduce(records.texts(Slices(at + 1, length)))
        return bits & _NOT_ASCII == 0, at + 1 + length


class _Whole:
    """A whole number."""

    def over(self, records: Records, at: Array) -> tuple[Array, Array]:
        width = _WIDTH[records.bytes[at]]
        return width >= 0, at + 1 + width


class _UnusualError(Exception):
    """Such a record is left to the general reader."""


class _Layout:
    """The layout of one record: its parts, and in which, and how far from its begin, each value stands."""

    def __init__(self, data: bytes, at: int, end: int, by: Collection[Path]) -> None:
        self.parts: list[_Part] = []
        self.paths: set[Path] = set()
        self.same: dict[Path, bytes] = {}
        self.numbers: dict[Path, tuple[int, int]] = {}
        #: Length of texts too, where it is the same in all.
        self.texts: dict[Path, tuple[int, int, int | None]] = {}
        self.lists: dict[Path, int] = {}
        self._data, self._at, self._end, self._by = data, at, end, by
        self._run, self._care = bytearray(), bytearray()
        self._value(())
        self._close()

    def _value(self, path: Path) -> None:
        if self._at >= self._end or len(path) > _DEPTH or path in self.paths:
            raise _UnusualError
        self.paths.add(path)
        first = self._data[self._at]
        if _MAP <= first < _LIST:
            self._fixed(1, _SAME)
            for _ in range(first - _MAP):
                self._value((*path, self._key()))
        elif _LIST <= first < _TEXT:
            self._fixed(1, _SAME)
            self.lists[path] = first - _LIST
            for place in range(first - _LIST):
                self._value((*path, place))
        elif _TEXT <= first < _TEXT_END:
            self._fixed(1, _SAME)
            self.texts[path] = len(self.parts), len(self._run), first - _TEXT
            told = self._text(first - _TEXT, _SAME if path in self._by else _ASCII)
            if path in self._by:
                self.same[path] = told
        elif first == _FLOAT:
            self._fixed(1, _SAME)
            self.numbers[path] = len(self.parts), len(self._run)
            self._fixed(8, _ANY)
        elif first == _LONG_TEXT:
            self._fixed(1, _SAME)
            self._close()
            self.texts[path] = len(self.parts), 1, None
            self._varying(_Text(), 1 + self._data[self._at])
        elif _WIDTH[first] >= 0:
            self._close()
            self.numbers[path] = len(self.parts), 0
            self._varying(_Whole(), 1 + int(_WIDTH[first]))
        elif first in _CONSTANTS:
            self._fixed(1, _SAME)
        else:
            raise _UnusualError

    def _key(self) -> str:
        """A key of a map."""
        first = self._data[self._at]
        if not _TEXT <= first < _TEXT_END:
            raise _UnusualError
        self._fixed(1, _SAME)
        return str(self._text(first - _TEXT, _SAME), "ascii")

    def _text(self, size: int, care: int) -> bytes:
        """Add the bytes of a text to the run."""
        told = self._data[self._at : self._at + size]
        if not told.isascii():
            raise _UnusualError
        self._fixed(size, care)
        return told

    def _fixed(self, size: int, care: int) -> None:
        """Add bytes to the run."""
        if len(self._run) + size > _LONGEST:
            raise _UnusualError
        self._run += self._data[self._at : self._at + size]
        self._care += bytes([care]) * size
        self._at += size

    def _varying(self, part: _Part, size: int) -> None:
        if len(self.parts) > _VARYING:
            raise _UnusualError
        self.parts.append(part)
        self._at += size

    def _close(self) -> None:
        """End the run."""
        if self._run:
            self.parts.append(_Run(bytes(self._run), bytes(self._care)))
        self._run, self._care = bytearray(), bytearray()


def _different(columns: Sequence[Array], place: Array) -> tuple[Array, Array]:
    """Numbers of rows of words, by the first place of such a row, and a row of each number."""
    mixed = np.zeros(len(place), "u8")
    for column in columns:
        mixed = (mixed ^ column) * _FACTOR
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed)
    begins = np.flatnonzero(np.diff(mixed[order], prepend=~mixed[order[:1]]))
    rows = order[begins]
    codes = np.empty(len(place), "i8")
    codes[order] = np.repeat(np.arange(len(rows)), np.diff(begins, append=len(place)))
    if any((column != column[rows][codes]).any() for column in columns):
        _, rows, codes = np.unique(np.stack(columns, 1), axis=0, return_index=True, return_inverse=True)
        codes = codes.reshape(-1)
        order = np.argsort(codes)
        begins = np.searchsorted(codes[order], np.arange(len(rows)))
    by_place = np.argsort(np.minimum.reduceat(place[order], begins)) if len(rows) else rows
    rank = np.empty(len(rows), "i8")
    rank[by_place] = np.arange(len(rows))
    return rank[codes], rows[by_place]
