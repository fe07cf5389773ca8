"""What columns look like once they are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..schema import Column

NUMBERS: dict[str, np.dtype[Any]] = {
    "f64": np.dtype("<f8"),
    "f32": np.dtype("<f4"),
    "u32": np.dtype("<u4"),
    "u8": np.dtype("u1"),
}
_DEFAULTS: dict[str, Any] = {"f64": np.nan, "f32": np.nan, "time": np.nan, "u32": 0, "u8": 0}

Array = npt.NDArray[Any]


class BatchError(ValueError):
    """These bytes are not a batch; the message says where they cease to be one."""


class Symbols(NamedTuple):
    """A column of repeated text: ``names[codes[i]]`` is the text of row i."""

    codes: npt.NDArray[np.uint32]
    names: list[str]

    def tolist(self) -> list[str]:
        """The texts, row by row."""
        return list(map(self.names.__getitem__, self.codes.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """A column of unique text: row i is ``data[offsets[i]:offsets[i + 1]]``, UTF-8."""

    offsets: npt.NDArray[np.int64]
    data: bytes | memoryview

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """A column of these texts."""
        return cls.joined([text.encode("utf-8", "backslashreplace") for text in texts])

    @classmethod
    def joined(cls, raw: Sequence[bytes]) -> Texts:
        """A column of texts that are UTF-8 already."""
        offsets = np.zeros(len(raw) + 1, "i8")
        np.cumsum(np.fromiter(map(len, raw), "i8", len(raw)), out=offsets[1:])
        return cls(offsets, b"".join(raw))

    def __getitem__(self, row: Any) -> str:
        return str(self.data[self.offsets[row] : self.offsets[row + 1]], "utf-8", "replace")

    def rows_of(self, text: str) -> npt.NDArray[np.intp]:
        """The rows that are this text, without making a `str` of each."""
        data = text.encode("utf-8", "backslashreplace")
        alike = np.flatnonzero(np.diff(self.offsets) == len(data))
        begins = self.offsets[alike].tolist()
        return alike[[self.data[start : start + len(data)] == data for start in begins]]

    def tolist(self) -> list[str]:
        """The texts, row by row."""
        ends = self.offsets.tolist()
        data = bytes(self.data)
        if data.isascii():
            text = data.decode()
            return [text[start:end] for start, end in pairwise(ends)]
        return [data[start:end].decode("utf-8", "replace") for start, end in pairwise(ends)]


Values = Array | Symbols | Texts


class Batch(NamedTuple):
    """A decoded batch; columns that this version does not know are left out."""

    table: str
    rows: int
    columns: dict[str, Values]


def intern(texts: Iterable[str]) -> Symbols:
    """Codes and names for a sequence of repeated texts."""
    rows = texts if isinstance(texts, list | tuple) else list(texts)
    names = {text: code for code, text in enumerate(dict.fromkeys(rows))}
    return Symbols(np.fromiter(map(names.__getitem__, rows), "<u4", len(rows)), list(names))


def default(column: Column, rows: int) -> Sequence[Any] | Array:
    """What a column reads as where a recording does not have it."""
    if column.kind in ("sym", "str"):
        return [""] * rows
    dtype = np.dtype("f8") if column.kind == "time" else NUMBERS[column.kind]
    return np.full(rows, _DEFAULTS[column.kind], dtype)
