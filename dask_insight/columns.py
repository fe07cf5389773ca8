"""Columns of a table, merged over its batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .batch import Batch, Symbols, Texts, Values, default
from .schema import TABLES, Column

#: Every column of one table, each of the same length.
Columns = Mapping[str, Values]


def merge(table: str, parts: Sequence[Batch]) -> dict[str, Values]:
    """One set of columns out of several batches of a table, in their order.

    Columns that a batch lacks read as missing in its rows; see `schema`.
    """
    return {column.name: _merge_column(column, parts) for column in TABLES[table].columns}


def length(columns: Columns) -> int:
    """Number of rows."""
    for values in columns.values():
        return len(values.offsets) - 1 if isinstance(values, Texts) else len(_array(values))
    return 0


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


def take_texts(texts: Texts, rows: np.ndarray) -> Texts:
    """Rows of a column of texts, without making a `str` of any."""
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    starts, lengths = texts.offsets[:-1][rows], np.diff(texts.offsets)[rows]
    offsets = np.concatenate((np.zeros(1, "i8"), np.cumsum(lengths, dtype="i8")))
    if len(rows) and (rows[1:] == rows[:-1] + 1).all():
        return Texts(offsets, texts.data[int(starts[0]) : int(starts[0]) + int(offsets[-1])])
    source = np.arange(int(offsets[-1])) + np.repeat(starts - offsets[:-1], lengths)
    return Texts(offsets, np.frombuffer(texts.data, "u1")[source].tobytes())


def _array(values: Symbols | np.ndarray) -> np.ndarray:
    return values.codes if isinstance(values, Symbols) else values


def _merge_column(column: Column, parts: Sequence[Batch]) -> Values:
    given = [part.columns.get(column.name) for part in parts]
    if column.kind == "sym":
        return _merge_symbols([(part.rows, values) for part, values in zip(parts, given, strict=True)])
    if column.kind == "str":
        return _merge_texts([(part.rows, values) for part, values in zip(parts, given, strict=True)])
    if len(parts) == 1 and given[0] is not None:
        return given[0]
    arrays = [
        default(column, part.rows) if values is None else values
        for part, values in zip(parts, given, strict=True)
    ]
    return np.concatenate(arrays) if arrays else np.asarray(default(column, 0))


def _merge_symbols(parts: Iterable[tuple[int, Values | None]]) -> Symbols:
    names: dict[str, int] = {}
    codes = [np.empty(0, "u4")]
    for rows, values in parts:
        if isinstance(values, Symbols):
            here = np.array([names.setdefault(name, len(names)) for name in values.names] or [0], "u4")
            codes.append(here[values.codes])
        else:
            codes.append(np.full(rows, names.setdefault("", len(names)), "u4"))
    return Symbols(np.concatenate(codes), list(names))


def _merge_texts(parts: Sequence[tuple[int, Values | None]]) -> Texts:
    if len(parts) == 1 and isinstance(parts[0][1], Texts):
        return parts[0][1]
    offsets, data, end = [np.zeros(1, "i8")], [], 0
    for rows, values in parts:
        if isinstance(values, Texts):
            offsets.append(values.offsets[1:] + end)
            data.append(values.data)
            end += len(values.data)
        else:
            offsets.append(np.full(rows, end))
    return Texts(np.concatenate(offsets), b"".join(data))
