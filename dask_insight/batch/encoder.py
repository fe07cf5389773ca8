"""Columns to bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgpack
import numpy as np

from ..schema import TABLES, Column
from .forms import numbered
from .planes import MISSING, low_planes, planes, spread, width_of, zigzag
from .values import NUMBERS, Array, Symbols, Texts, default, intern

#: Fewest rows for which different values are looked for.
_MANY = 1_024
#: Rows by which the shorter form of a time column is found, about, unless every byte counts.
_SOME = 256


def encode(
    table: str, columns: Mapping[str, Any], *, units: Mapping[str, int] | None = None, short: bool = False
) -> bytes:
    """Turn columns of one table into one batch.

    Parameters
    ----------
    table
        A name of `schema.TABLES`.
    columns
        Column name to values, all of one length: numbers and times (float
        seconds since the epoch) as a sequence or array; text as a sequence
        of str, as `Symbols` or as `Texts`. A column left out is missing in every row.
    units
        Name of a time column to the microseconds to which its differences
        are rounded; 1 for those not named, which keeps them as they are.
    short
        The shortest form, which is slower to make and to read as a whole: texts that
        are alike but for their numbers as these, few different floats as codes, and no
        planes of integers and times in which nothing stands.

    Raises
    ------
    KeyError
        If the table or a column is not in the schema.
    ValueError
        If the columns differ in length.
    """
    known = {column.name: column for column in TABLES[table].columns}
    if unknown := columns.keys() - known.keys():
        raise KeyError(f"{table} has no column {', '.join(sorted(unknown))}")
    lengths = {_length(values) for values in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns of {table} differ in length: {sorted(lengths)}")
    rows = lengths.pop() if lengths else 0
    micros: dict[str, Array] = {}
    encoded = [
        head | _encode_time(column, columns[name], micros, (units or {}).get(name, 1), short)
        if column.kind == "time"
        else head | ((short and _numbered(column, columns)) or _encode_other(column, columns[name], short))
        for name, column in known.items()
        if name in columns and (head := {"name": name, "kind": column.kind})
    ]
    packed: bytes = msgpack.packb({"table": table, "rows": rows, "columns": encoded})
    return packed


def _length(values: Any) -> int:
    if isinstance(values, Texts):
        return len(values.offsets) - 1
    return len(values.codes if isinstance(values, Symbols) else values)


def _numbered(column: Column, columns: Mapping[str, Any]) -> dict[str, Any] | None:
    """A column of texts as their forms and numbers, if it is one and that is shorter."""
    if column.kind != "str":
        return None
    values, group = columns[column.name], columns.get(column.since)
    texts = values if isinstance(values, Texts) else Texts.of(values)
    told = numbered(texts, group if group is None or isinstance(group, Symbols) else intern(group))
    return told if told is None or group is None else told | {"since": column.since}


def _encode_other(column: Column, values: Any, short: bool) -> dict[str, Any]:
    if column.kind == "sym":
        symbols = values if isinstance(values, Symbols) else intern(values)
        width = width_of(len(symbols.names) - 1)
        data = planes(symbols.codes.astype(f"<u{width}"))
        return {"data": data, "width": width, "symbols": [_clean(name) for name in symbols.names]}
    if column.kind == "str":
        texts = values if isinstance(values, Texts) else Texts.of(values)
        start, end = int(texts.offsets[0]), int(texts.offsets[-1])
        return {"data": b"".join((planes(np.diff(texts.offsets).astype("<u4")), texts.data[start:end]))}
    array = _as_kept(np.asarray(values), column)
    if column.kind == "u32":
        return _codes(zigzag(np.diff(array, prepend=np.uint32(0))), short)
    return (short and _few(array)) or {"data": planes(array)}


def _as_kept(array: Array, column: Column) -> Array:
    """Numbers in the type of their column; what that cannot hold is missing."""
    kept = np.dtype(NUMBERS[column.kind])
    if array.dtype.kind == "f" and array.dtype != kept and array.dtype.itemsize >= kept.itemsize:
        if kept.kind == "u":
            fits = (array >= 0) & (array <= np.iinfo(kept).max)
        else:
            fits = ~(np.abs(array) > np.finfo(kept).max) | np.isinf(array)
        if not fits.all():
            array = np.where(fits, array, default(column, 1)[0])
    return array.astype(kept, copy=False)


def _few(array: Array) -> dict[str, Any] | None:
    """Floats of which there are few different ones, as these and codes."""
    if array.dtype.kind != "f" or len(array) < _MANY:
        return None
    bits = array.view(f"<u{array.dtype.itemsize}")
    different, codes = np.unique(bits, return_inverse=True)
    if len(different) > 0x100:
        return None
    return {"few": different.tobytes(), "data": codes.astype("u1").tobytes()}


def _codes(codes: Array, short: bool) -> dict[str, Any]:
    """Numbers of four bytes, as planes."""
    kept, data = low_planes(codes) if short and len(codes) else (4, planes(codes))
    return {"data": data} | ({"planes": kept} if kept < 4 else {})


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _encode_time(
    column: Column, values: Any, micros: dict[str, Array], unit: int, short: bool
) -> dict[str, Any]:
    with np.errstate(over="ignore"):
        # What becomes infinite is no time, and missing as all that is not finite.
        exact = np.rint(np.asarray(values, "f8") * 1e6)
    finite = np.abs(exact) < 2**53
    exact[~finite] = np.nan
    base = float(exact[finite][0]) if finite.any() else 0.0
    ticks = np.rint((exact - base) / unit)
    chosen = ticks - (_above(ticks) if finite.all() else _carried(ticks, finite))
    kept = base + ticks * unit
    since = micros.get(column.since)
    head: dict[str, Any] = {"base": int(base)} | ({"unit": unit} if unit != 1 else {})
    if since is not None:
        reference = np.where(np.isfinite(since), since, base)
        steps = np.rint((exact - reference) / unit)
        # An odd step: else what alternates would always be met at the same turn.
        some = slice(None, None, 1 if short else len(steps) // _SOME | 1)
        known = finite[some]
        if spread(steps[some][known]) < spread(chosen[some][known]):
            chosen, kept = steps, reference + steps * unit
            head["since"] = column.since
    micros[column.name] = kept
    if finite.any() and np.abs(chosen[finite]).max() >= 2**31 - 1:
        return head | {"wide": True, "data": planes(chosen.astype("<f8"))}
    codes = zigzag(np.where(finite, chosen, 0).astype("<i4").view("<u4"))
    codes[~finite] = MISSING
    return head | _codes(codes, short)


def _above(ticks: Array) -> Array:
    """For each row the value above it, 0 in the first."""
    return np.concatenate(([0.0], ticks[:-1])) if len(ticks) else ticks


def _carried(ticks: Array, finite: Array) -> Array:
    """For each row, the last finite value above it, 0 where there is none."""
    last = np.maximum.accumulate(np.where(finite, np.arange(len(ticks)), -1))
    above = np.concatenate(([-1], last[:-1])) if len(ticks) else last
    return np.asarray(np.where(above >= 0, ticks[above], 0.0))
