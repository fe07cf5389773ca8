"""Columns of a table, merged over its batches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TypeVar

import numpy as np

from .batch import Batch, Symbols, Texts, Values, default
from .schema import EDITIONED, TABLES, Column

#: Every column of one table, each of the same length.
Columns = Mapping[str, Values]

_T = TypeVar("_T")

#: Texts gathered at a time, and most bytes of one, on average, that are gathered one by one: both bound the
#: memory that their byte numbers take. Longer ones are taken whole.
_GATHER, _LONG = 50_000, 64


class Gathered(Mapping[str, Values]):
    """Columns that are put together when somebody looks at them."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def gather(self, names: Collection[str]) -> None:
        """Put some together at once, which takes less than one after another."""

    @abstractmethod
    def forget(self, names: Collection[str] | None = None) -> None:
        """Let go of some, or of all; who looks at one again has that one put together anew."""

    @abstractmethod
    def text(self, name: str, row: int) -> str:
        """The text of one row, without those of others."""


def steady(read: Callable[[str], _T]) -> Callable[[str], _T]:
    """Reads each table once: what comes to a recording that grows is not seen half.

    It has what `read` gave and no copy; what `forget` lets go of is let go of.
    """
    return cache(read)


def gather(columns: Columns, names: Collection[str]) -> None:
    """Say that these will be looked at."""
    if isinstance(columns, Gathered):
        columns.gather(names)


def forget(columns: Columns) -> None:
    """Say that who looked at these is done."""
    if isinstance(columns, Gathered):
        columns.forget()


def taken_out(columns: Columns, name: str) -> Values:
    """A column that who asks will not look at again."""
    values = columns[name]
    if isinstance(columns, Gathered):
        columns.forget({name})
    return values


def text(columns: Columns, name: str, row: int) -> str:
    """The text of one row of a column of texts."""
    if isinstance(columns, Gathered):
        return columns.text(name, row)
    texts = columns[name]
    assert isinstance(texts, Texts)
    return texts[row]


def merge(
    table: str, parts: Iterable[Batch], rows: int, only: Collection[str] | None = None
) -> dict[str, Values]:
    """One set of columns, or `only` some, out of several batches of a table, in their order.

    Columns that a batch lacks read as missing in its rows; see `schema`. No
    more than `rows` rows are taken, and fewer if the parts have fewer.
    """
    wanted = [column for column in TABLES[table].columns if only is None or column.name in only]
    fillers = {column.name: _filler(column, rows) for column in wanted}
    done = 0
    for part in parts:
        if part.rows > rows - done:
            break
        if not part.rows:
            continue
        for name, filler in fillers.items():
            filler.add(part.columns.get(name), done, part.rows)
        done += part.rows
    return {name: filler.values(done) for name, filler in fillers.items()}


def length(columns: Columns) -> int:
    """Number of rows."""
    if isinstance(columns, Gathered):
        return columns.rows
    for values in columns.values():
        return len(values.offsets) - 1 if isinstance(values, Texts) else len(_array(values))
    return 0


def newest(table: str, columns: Columns) -> Columns:
    """The rows that are valid: of a table that was worked out several times, those of the last edition."""
    if table not in EDITIONED:
        return columns
    edition = _array(columns["edition"])  # type: ignore[arg-type]
    if not len(edition) or edition.min() == (last := edition.max()):
        return columns
    return {name: take(values, edition == last) for name, values in columns.items()}


def is_missing(values: Values) -> bool:
    """Whether each of some numbers is NaN, or each of some repeated texts ''."""
    if isinstance(values, Symbols):
        return not any(values.names)
    return isinstance(values, np.ndarray) and values.dtype.kind == "f" and bool(np.isnan(values).all())


def take(values: Values, rows: np.ndarray | slice) -> Values:
    """The rows with these numbers, or in this range, or those where a mask is true."""
    if isinstance(values, Symbols):
        return Symbols(values.codes[rows], values.names)
    if not isinstance(values, Texts):
        return values[rows]
    if isinstance(rows, slice):
        first, last, _ = rows.indices(len(values.offsets) - 1)
        return Texts(values.offsets[first : last + 1], values.data)
    return take_texts(values, rows)


def compact(values: Values) -> Values:
    """Symbols without the names that no row has."""
    if not isinstance(values, Symbols):
        return values
    used = np.zeros(len(values.names), bool)
    used[values.codes] = True
    if used.all():
        return values
    codes = (np.cumsum(used) - 1).astype("u4")
    return Symbols(codes[values.codes], [name for name, kept in zip(values.names, used, strict=True) if kept])


def take_texts(texts: Texts, rows: np.ndarray) -> Texts:
    """Rows of a column of texts, without making a `str` of any."""
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    starts, lengths = texts.offsets[:-1][rows], np.diff(texts.offsets)[rows]
    offsets = np.concatenate((np.zeros(1, "i8"), np.cumsum(lengths, dtype="i8")))
    if len(rows) and (rows[1:] == rows[:-1] + 1).all():
        return Texts(offsets, texts.data[int(starts[0]) : int(starts[0]) + int(offsets[-1])])
    source = memoryview(texts.data)
    parts: list[bytes | memoryview] = []
    for first in range(0, len(rows), _GATHER):
        some = slice(first, first + _GATHER)
        begin, size = offsets[:-1][some], int(lengths[some].sum())
        if size > _LONG * len(begin):
            ends = starts[some] + lengths[some]
            parts += map(source.__getitem__, map(slice, starts[some].tolist(), ends.tolist()))
            continue
        within = np.arange(size) + int(begin[0])
        places = within + np.repeat(starts[some] - begin, lengths[some])
        parts.append(np.frombuffer(source, "u1")[places].tobytes())
    return Texts(offsets, b"".join(parts))


def _array(values: Symbols | np.ndarray) -> np.ndarray:
    return values.codes if isinstance(values, Symbols) else values


class _Numbers:
    """Gathers a column of numbers in one array; one of which nothing is known takes no memory."""

    def __init__(self, column: Column, rows: int) -> None:
        self._missing = np.asarray(default(column, 1))
        self._rows = rows
        self._array: np.ndarray | None = None

    def add(self, values: Values | None, at: int, rows: int) -> None:
        if self._array is None:
            if values is None or is_missing(values):
                return
            self._array = np.empty(self._rows, self._missing.dtype)
            self._array[:at] = self._missing
        self._array[at : at + rows] = self._missing if values is None else values

    def values(self, rows: int) -> Values:
        return np.broadcast_to(self._missing, rows) if self._array is None else self._array[:rows]


class _Names:
    """Gathers a column of repeated text; one that no batch has takes no memory."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._codes: np.ndarray | None = None
        self._names: dict[str, int] = {}

    def add(self, values: Values | None, at: int, rows: int) -> None:
        if self._codes is None:
            if not isinstance(values, Symbols):
                self._names[""] = 0
                return
            self._codes = np.empty(self._rows, "u4")
            self._codes[:at] = 0
        if isinstance(values, Symbols):
            codes = [self._names.setdefault(name, len(self._names)) for name in values.names]
            self._codes[at : at + rows] = np.array(codes or [0], "u4")[values.codes]
        else:
            self._codes[at : at + rows] = self._names.setdefault("", len(self._names))

    def values(self, rows: int) -> Values:
        codes = np.broadcast_to(np.zeros(1, "u4"), rows) if self._codes is None else self._codes[:rows]
        return Symbols(codes, list(self._names))


class _Texts:
    """Gathers a column of unique text."""

    def __init__(self, rows: int) -> None:
        self._offsets = np.zeros(rows + 1, "i8")
        self._data: list[bytes | memoryview] = []
        self._end = 0

    def add(self, values: Values | None, at: int, rows: int) -> None:
        if isinstance(values, Texts):
            self._offsets[at + 1 : at + rows + 1] = values.offsets[1:] + self._end
            self._data.append(values.data)
            self._end += len(values.data)
        else:
            self._offsets[at + 1 : at + rows + 1] = self._end

    def values(self, rows: int) -> Values:
        if len(self._data) == 1:
            return Texts(self._offsets[: rows + 1], self._data[0])
        data = np.empty(self._end, "u1")
        end = 0
        while self._data:
            # Those that are copied are let go of.
            part = self._data.pop(0)
            data[end : end + len(part)] = np.frombuffer(part, "u1")
            end += len(part)
        return Texts(self._offsets[: rows + 1], data.data)


def _filler(column: Column, rows: int) -> _Numbers | _Names | _Texts:
    if column.kind == "sym":
        return _Names(rows)
    return _Texts(rows) if column.kind == "str" else _Numbers(column, rows)
