"""Many lines of text made at once, column by column.

A block of lines is a table of bytes as wide as its longest line. Each part of the line fills its columns of
it in a few operations on arrays, NUL where it is shorter, and all NULs go away at the end. No object is made
for a line, so a million of them take seconds and no more memory than one block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from json.encoder import encode_basestring as quoted
from typing import Any, Protocol

import numpy as np

from ..batch import Texts
from ..columns import take, take_texts
from ..lookup import TextRows

#: Lines of a block, and the most bytes that its table may have.
_ROWS, _BYTES = 50_000, 1 << 25
#: The four digits of every number below 10,000, as one word each.
_QUADS = np.array([b"%04d" % number for number in range(10_000)], "S4").view("u4")
_POWERS = 10 ** np.arange(1, 19, dtype="i8")
_LARGEST = 2**63 - 1
#: Bytes that JSON wants escaped.
_ESCAPED = bytes(range(32)) + b'"\\'


class Part(Protocol):
    """What differs from line to line."""

    def __getitem__(self, rows: slice) -> Part:
        """The same for some of the lines."""

    @property
    def width(self) -> int:
        """Bytes that the longest of its texts takes."""

    def fill(self, out: np.ndarray) -> None:
        """Write the texts, a row each, into zeroed bytes of its width."""


def lines(rows: int, *parts: bytes | Part) -> Iterator[tuple[int, bytes]]:
    """The parts side by side, on so many lines; gives blocks: number of lines, and bytes."""
    begin, most = 0, _ROWS
    while begin < rows:
        count = min(most, rows - begin)
        while True:
            some = [part if isinstance(part, bytes) else part[begin : begin + count] for part in parts]
            width = _width(some)
            if count == 1 or count * width <= _BYTES:
                break
            # One very long text makes the whole table as wide: fewer lines then.
            count //= 2
        yield count, _block(count, width, some)
        begin, most = begin + count, min(_ROWS, 2 * count)


def _width(parts: Sequence[bytes | Part]) -> int:
    return sum(len(part) if isinstance(part, bytes) else part.width for part in parts)


def _block(count: int, width: int, parts: Sequence[bytes | Part]) -> bytes:
    table = np.zeros((count, width), "u1")
    _fill(table, parts)
    return table.tobytes().translate(None, b"\0")


def _fill(table: np.ndarray, parts: Sequence[bytes | Part]) -> None:
    at = 0
    for part in parts:
        if isinstance(part, bytes):
            table[:, at : at + len(part)] = np.frombuffer(part, "u1")
            at += len(part)
        else:
            part.fill(table[:, at : at + part.width])
            at += part.width


class Whole:
    """Whole numbers, decimal."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def __getitem__(self, rows: slice) -> Whole:
        return Whole(np.asarray(self._values[rows], "i8"))

    @cached_property
    def width(self) -> int:
        negative = bool((self._values < 0).any())
        return len(str(int(_magnitude(self._values).max(initial=0)))) + negative

    def fill(self, out: np.ndarray) -> None:
        values = _magnitude(self._values)
        width = out.shape[1]
        quads = -(-width // 4)
        words = np.empty((len(values), quads), "u4")
        rest = values
        for place in range(quads - 1, -1, -1):
            higher = rest // 10_000
            words[:, place] = _QUADS[rest - higher * 10_000]
            rest = higher
        written = words.view("u1")[:, 4 * quads - width :]
        # Zeros at the beginning are none; the last digit always is one.
        first = width - 1 - np.searchsorted(_POWERS, values, "right")
        np.multiply(written, np.arange(width) >= first[:, None], out=out)
        negative = np.flatnonzero(self._values < 0)
        out[negative, first[negative] - 1] = ord("-")


def _magnitude(values: np.ndarray) -> np.ndarray:
    # The least of all 64-bit numbers has no counterpart.
    return np.asarray(np.abs(np.maximum(values, -_LARGEST)))


def whole(values: np.ndarray, unit: float = 1.0) -> np.ndarray:
    """Numbers in this unit, rounded to whole ones of 64 bits; 0 where there is none."""
    some = np.asarray(values, "f8")
    with np.errstate(over="ignore"):
        scaled = np.rint(np.where(np.isfinite(some), some, 0.0) / unit)
    return np.asarray(np.clip(scaled, -9e18, 9e18).astype("i8"))


class Fixed:
    """Numbers with so many digits after the point; 0 for those that are not finite."""

    def __init__(self, values: np.ndarray, decimals: int) -> None:
        self._values, self._decimals = values, decimals

    def __getitem__(self, rows: slice) -> Fixed:
        return Fixed(self._values[rows], self._decimals)

    @cached_property
    def _scaled(self) -> np.ndarray:
        return whole(self._values, 10.0**-self._decimals)

    @cached_property
    def _before(self) -> Whole:
        return Whole(_magnitude(self._scaled) // 10**self._decimals)

    @property
    def width(self) -> int:
        return 1 + self._before.width + 1 + self._decimals

    def fill(self, out: np.ndarray) -> None:
        out[self._scaled < 0, 0] = ord("-")
        point = out.shape[1] - 1 - self._decimals
        self._before.fill(out[:, 1:point])
        out[:, point] = ord(".")
        rest = _magnitude(self._scaled) % 10**self._decimals
        for place in range(out.shape[1] - 1, point, -1):
            rest, digit = np.divmod(rest, 10)
            out[:, place] = digit + ord("0")


class Hex:
    """Numbers of 64 bits as sixteen hexadecimal digits."""

    width = 16

    def __init__(self, values: np.ndarray) -> None:
        self._values = np.ascontiguousarray(values, ">u8")

    def __getitem__(self, rows: slice) -> Hex:
        return Hex(self._values[rows])

    def fill(self, out: np.ndarray) -> None:
        octets = self._values.view("u1").reshape(-1, 8)
        out[:, 0::2] = _HEX[octets >> 4]
        out[:, 1::2] = _HEX[octets & 15]


_HEX = np.frombuffer(b"0123456789abcdef", "u1")


class Words:
    """Few texts, each on many lines."""

    def __init__(self, codes: np.ndarray, texts: Sequence[bytes]) -> None:
        self._codes = np.asarray(codes)
        self._texts = texts

    @cached_property
    def _table(self) -> np.ndarray:
        known = np.array([*self._texts, b""], "S")
        return known.view("u1").reshape(len(known), -1)

    @cached_property
    def _unique(self) -> Unique | None:
        """The same texts by themselves, where one is so long that a table of all would be huge."""
        if max(map(len, self._texts), default=0) * len(self._texts) <= _BYTES:
            return None
        return Unique(TextRows(Texts(*_joined(self._texts)), self._codes))

    def __getitem__(self, rows: slice) -> Part:
        if self._unique is not None:
            return self._unique[rows]
        part = Words(self._codes[rows], self._texts)
        part._unique, part._table = None, self._table
        return part

    @property
    def width(self) -> int:
        return int(self._table.shape[1])

    def fill(self, out: np.ndarray) -> None:
        out[:] = self._table[self._codes]


class Unique:
    """A text of its own on each line, as it is; '' where there is none."""

    def __init__(self, texts: Texts | TextRows) -> None:
        self._texts = texts

    def __getitem__(self, rows: slice) -> Unique:
        return Unique(gathered(self._texts, rows))

    @cached_property
    def width(self) -> int:
        return int(np.diff(self._known.offsets).max(initial=0))

    @cached_property
    def _known(self) -> Texts:
        return gathered(self._texts, slice(None))

    def fill(self, out: np.ndarray) -> None:
        offsets = self._known.offsets
        inside = np.arange(out.shape[1]) < np.diff(offsets)[:, None]
        out[inside] = np.frombuffer(self._known.data, "u1")[int(offsets[0]) : int(offsets[-1])]


class Json(Unique):
    """A text of its own on each line, as what stands between the quotes of a JSON string."""

    def __getitem__(self, rows: slice) -> Unique:
        return Unique(_escaped(gathered(self._texts, rows)))


def gathered(texts: Texts | TextRows, rows: slice) -> Texts:
    """Some rows of a column of texts, '' where there is none."""
    if isinstance(texts, Texts):
        some = take(texts, rows)
        assert isinstance(some, Texts)
        return some
    wanted = texts.rows[rows]
    missing = wanted < 0
    if not missing.any():
        return take_texts(texts.texts, wanted)
    offsets = texts.texts.offsets
    with_none = Texts(np.append(offsets, offsets[-1]), texts.texts.data)
    return take_texts(with_none, np.where(missing, len(offsets) - 1, wanted))


def _escaped(texts: Texts) -> Texts:
    begin, end = int(texts.offsets[0]), int(texts.offsets[-1])
    data = bytes(texts.data[begin:end])
    if len(data.translate(None, _ESCAPED)) == len(data) and _is_text(data, texts.offsets - begin):
        return texts
    return Texts(*_joined([quoted(text)[1:-1].encode("utf-8", "replace") for text in texts.tolist()]))


def _is_text(data: bytes, offsets: np.ndarray) -> bool:
    """Whether the bytes are UTF-8 and no row parts a character; a damaged file may hold anything."""
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    starts = np.frombuffer(data, "u1")[offsets[:-1][offsets[:-1] < len(data)]]
    return not bool(((starts & 0xC0) == 0x80).any())


def _joined(raw: Sequence[bytes]) -> tuple[np.ndarray, bytes]:
    offsets = np.zeros(len(raw) + 1, "i8")
    np.cumsum(np.fromiter(map(len, raw), "i8", len(raw)), out=offsets[1:])
    return offsets, b"".join(raw)


def plain_text(texts: Texts) -> Texts:
    """The same, with what is no UTF-8 replaced."""
    begin, end = int(texts.offsets[0]), int(texts.offsets[-1])
    if _is_text(bytes(texts.data[begin:end]), texts.offsets - begin):
        return texts
    return Texts.of(texts.tolist())


def rows_of(texts: Texts | TextRows, rows: np.ndarray) -> TextRows:
    """The rows with these numbers, looked up when they are wanted."""
    return TextRows(texts, rows) if isinstance(texts, Texts) else TextRows(texts.texts, texts.rows[rows])


class Where:
    """Parts that stand on some lines only."""

    def __init__(self, there: np.ndarray, *parts: bytes | Part) -> None:
        self._there, self._parts = there, parts

    def __getitem__(self, rows: slice) -> Where:
        return Where(
            self._there[rows], *(part if isinstance(part, bytes) else part[rows] for part in self._parts)
        )

    @property
    def width(self) -> int:
        return _width(self._parts)

    def fill(self, out: np.ndarray) -> None:
        _fill(out, self._parts)
        out[~self._there] = 0


def json_words(names: Sequence[Any]) -> list[bytes]:
    """Texts as what stands between the quotes of a JSON string; in UTF-8, for Perfetto shows ``\\u…`` so."""
    return [quoted(str(name))[1:-1].encode("utf-8", "replace") for name in names]
