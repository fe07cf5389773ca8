"""Some rows of one table, by column, as bytes. The only format there is.

A batch is one msgpack map::

    {"table": str, "rows": int, "columns": [{"name": str, "kind": str, "data": bin, …}]}

It stands alone: it carries its own symbols, so batches can be dropped,
replayed and concatenated. Integers are little-endian. Numbers wider than a
byte are stored as byte planes (all first bytes, then all second bytes, …),
which costs nothing to read and lets a general compressor see their structure.

=======  ====================================================================
kind     data
=======  ====================================================================
u8       one byte a row
f32 f64  IEEE floats, as planes
u32      difference from the row before (from 0 at first), zigzag, as planes
time     microseconds relative to a reference, zigzag u32, as planes; the
         reference is ``base`` at first and then the last finite value above,
         or, with ``since``, the same row's value of that column (``base``
         where that is missing). 0xFFFFFFFF is missing. With ``wide``, a
         difference does not fit 32 bits and data are f64 planes of it, NaN
         where missing. ``base`` is whole microseconds since the epoch. With
         ``unit``, differences are in units of that many microseconds.
sym      index into ``symbols`` (list of str); ``width`` bytes a row, planes
str      byte length of each row as u32 planes, then all texts, UTF-8
=======  ====================================================================

Zigzag maps a signed difference d to ``2 d`` if d ≥ 0, else ``-2 d - 1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgpack
import numpy as np
import numpy.typing as npt

from .schema import TABLES, Column

_NUMBERS: dict[str, np.dtype[Any]] = {
    "f64": np.dtype("<f8"),
    "f32": np.dtype("<f4"),
    "u32": np.dtype("<u4"),
    "u8": np.dtype("u1"),
}
_MISSING = 0xFFFF_FFFF
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
        return [self.names[code] for code in self.codes]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """A column of unique text: row i is ``data[offsets[i]:offsets[i + 1]]``, UTF-8."""

    offsets: npt.NDArray[np.int64]
    data: bytes | memoryview

    def __getitem__(self, row: Any) -> str:
        return str(self.data[self.offsets[row] : self.offsets[row + 1]], "utf-8", "replace")

    def tolist(self) -> list[str]:
        """The texts, row by row."""
        return [self[row] for row in range(len(self.offsets) - 1)]


Values = Array | Symbols | Texts


class Batch(NamedTuple):
    """A decoded batch; columns that this version does not know are left out."""

    table: str
    rows: int
    columns: dict[str, Values]


def encode(table: str, columns: Mapping[str, Any], *, units: Mapping[str, int] | None = None) -> bytes:
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
        head | _encode_time(column, columns[name], micros, (units or {}).get(name, 1))
        if column.kind == "time"
        else head | _encode_other(column, columns[name])
        for name, column in known.items()
        if name in columns and (head := {"name": name, "kind": column.kind})
    ]
    packed: bytes = msgpack.packb({"table": table, "rows": rows, "columns": encoded})
    return packed


def _length(values: Any) -> int:
    if isinstance(values, Texts):
        return len(values.offsets) - 1
    return len(values.codes if isinstance(values, Symbols) else values)


def _encode_other(column: Column, values: Any) -> dict[str, Any]:
    if column.kind == "sym":
        symbols = values if isinstance(values, Symbols) else intern(values)
        width = 1 if len(symbols.names) <= 0x100 else 2 if len(symbols.names) <= 0x1_0000 else 4
        data = _planes(symbols.codes.astype(f"<u{width}"))
        return {"data": data, "width": width, "symbols": [_clean(name) for name in symbols.names]}
    if column.kind == "str":
        texts = values if isinstance(values, Texts) else _texts(values)
        start, end = int(texts.offsets[0]), int(texts.offsets[-1])
        return {"data": b"".join((_planes(np.diff(texts.offsets).astype("<u4")), texts.data[start:end]))}
    array = np.asarray(values).astype(_NUMBERS[column.kind], copy=False)
    if column.kind == "u32":
        array = _zigzag(np.diff(array, prepend=np.uint32(0)))
    return {"data": _planes(array)}


def _texts(texts: Iterable[str]) -> Texts:
    raw = [text.encode("utf-8", "backslashreplace") for text in texts]
    offsets = np.zeros(len(raw) + 1, "i8")
    np.cumsum(np.fromiter(map(len, raw), "i8", len(raw)), out=offsets[1:])
    return Texts(offsets, b"".join(raw))


def intern(texts: Iterable[str]) -> Symbols:
    """Codes and names for a sequence of repeated texts."""
    rows = texts if isinstance(texts, list | tuple) else list(texts)
    names = {text: code for code, text in enumerate(dict.fromkeys(rows))}
    return Symbols(np.fromiter(map(names.__getitem__, rows), "<u4", len(rows)), list(names))


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _encode_time(column: Column, values: Any, micros: dict[str, Array], unit: int) -> dict[str, Any]:
    exact = np.rint(np.asarray(values, "f8") * 1e6)
    finite = np.abs(exact) < 2**53
    exact[~finite] = np.nan
    base = float(exact[finite][0]) if finite.any() else 0.0
    ticks = np.rint((exact - base) / unit)
    chosen = ticks - _carried(ticks, finite)
    kept = base + ticks * unit
    since = micros.get(column.since)
    head: dict[str, Any] = {"base": int(base)} | ({"unit": unit} if unit != 1 else {})
    if since is not None:
        reference = np.where(np.isfinite(since), since, base)
        steps = np.rint((exact - reference) / unit)
        if _spread(steps[finite]) < _spread(chosen[finite]):
            chosen, kept = steps, reference + steps * unit
            head["since"] = column.since
    micros[column.name] = kept
    if finite.any() and np.abs(chosen[finite]).max() >= 2**31 - 1:
        return head | {"wide": True, "data": _planes(chosen.astype("<f8"))}
    codes = _zigzag(np.where(finite, chosen, 0).astype("<i4").view("<u4"))
    codes[~finite] = _MISSING
    return head | {"data": _planes(codes)}


def _spread(steps: Array) -> float:
    return float(np.log2(1 + np.abs(steps)).sum())


def _carried(ticks: Array, finite: Array) -> Array:
    """For each row, the last finite value above it, 0 where there is none."""
    last = np.maximum.accumulate(np.where(finite, np.arange(len(ticks)), -1))
    above = np.concatenate(([-1], last[:-1])) if len(ticks) else last
    return np.asarray(np.where(above >= 0, ticks[above], 0.0))


def _zigzag(steps: Array) -> Array:
    signed = steps.view("<i4")
    return np.asarray((signed << 1) ^ (signed >> 31)).view("<u4")


def _unzigzag(codes: Array) -> Array:
    return np.asarray((codes >> 1) ^ (0 - (codes & 1)).astype("<u4")).astype("<u4")


def _planes(array: Array) -> bytes:
    width = array.dtype.itemsize
    raw = np.ascontiguousarray(array).view("u1")
    return raw.reshape(-1, width).T.tobytes() if width > 1 else raw.tobytes()


def _unplanes(data: bytes | memoryview, dtype: Any, rows: int) -> Array:
    kind = np.dtype(dtype)
    if len(data) != rows * kind.itemsize:
        raise BatchError(f"{len(data)} bytes where {rows} rows of {kind.itemsize} were announced")
    planes = np.frombuffer(data, "u1").reshape(kind.itemsize, rows)
    return np.asarray(np.ascontiguousarray(planes.T).view(kind).reshape(rows))


def decode(data: bytes | memoryview) -> Batch:
    """Read one batch.

    Raises
    ------
    BatchError
        If the bytes are not a batch.
    """
    try:
        return read(msgpack.unpackb(data))
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"not a batch: {error}") from error


def read(packed: Any) -> Batch:
    """Read one batch whose msgpack map has already been unpacked."""
    try:
        table, rows = str(packed["table"]), int(packed["rows"])
        if rows and not packed["columns"]:
            raise BatchError(f"{rows} rows without a column")
        known = {column.name: column.kind for column in TABLES[table].columns} if table in TABLES else {}
        columns: dict[str, Values] = {}
        micros: dict[str, Array] = {}
        for column in packed["columns"]:
            if known.get(column["name"]) == column["kind"]:
                columns[column["name"]] = _decode_column(column, rows, micros)
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"not a batch: {type(error).__name__}: {error}") from error
    return Batch(table, rows, columns)


def _decode_column(column: Mapping[str, Any], rows: int, micros: dict[str, Array]) -> Values:
    kind, data = column["kind"], column["data"]
    if kind == "time":
        micros[column["name"]] = exact = _decode_time(column, rows, micros)
        return exact / 1e6
    if kind == "sym":
        names = [str(name) for name in column["symbols"]]
        codes = _unplanes(data, f"<u{int(column['width'])}", rows).astype("<u4")
        if rows and int(codes.max()) >= len(names):
            raise BatchError(f"column {column['name']}: a code without a symbol")
        return Symbols(codes, names)
    if kind == "str":
        lengths = _unplanes(data[: 4 * rows], "<u4", rows)
        offsets = np.concatenate((np.zeros(1, "i8"), np.cumsum(lengths, dtype="i8")))
        if int(offsets[-1]) != len(data) - 4 * rows:
            raise BatchError(f"column {column['name']}: texts do not fill their bytes")
        return Texts(offsets, memoryview(data)[4 * rows :])
    array = _unplanes(data, _NUMBERS[kind], rows)
    return np.cumsum(_unzigzag(array), dtype="<u4") if kind == "u32" else array


def _decode_time(column: Mapping[str, Any], rows: int, micros: dict[str, Array]) -> Array:
    base, unit = float(column["base"]), int(column.get("unit", 1))
    if column.get("wide"):
        steps = _unplanes(column["data"], "<f8", rows)
    else:
        codes = _unplanes(column["data"], "<u4", rows)
        steps = _unzigzag(codes).view("<i4").astype("f8")
        steps[codes == _MISSING] = np.nan
    if unit != 1:
        steps *= unit
    if name := column.get("since"):
        since = micros[name]
        return steps + np.where(np.isfinite(since), since, base)
    if np.isfinite(steps).all():
        return base + np.cumsum(steps)
    total = base + np.cumsum(np.where(np.isfinite(steps), steps, 0.0))
    return np.where(np.isfinite(steps), total, np.nan)


def table_of(data: bytes) -> str:
    """Name of the table whose rows a batch holds, without decoding it."""
    return announced(data)[0]


def announced(data: bytes) -> tuple[str, int]:
    """Table and number of rows of a batch, without decoding it.

    Raises
    ------
    BatchError
        If the bytes are not a batch, or too few for that many rows.
    """
    unpacker = msgpack.Unpacker()
    unpacker.feed(data[:256])
    try:
        unpacker.read_map_header()
        names = unpacker.unpack(), str(unpacker.unpack()), unpacker.unpack()
        if names[::2] == ("table", "rows"):
            table, rows = names[1], int(unpacker.unpack())
        else:
            packed = msgpack.unpackb(data)
            table, rows = str(packed["table"]), int(packed["rows"])
    except Exception as error:
        raise BatchError(f"not a batch: {type(error).__name__}: {error}") from error
    if not 0 <= rows <= len(data):
        raise BatchError(f"{len(data)} bytes cannot hold {rows} rows")
    return table, rows


def split(data: bytes) -> Iterator[bytes]:
    """The batches in bytes that are several batches, one after the other.

    Raises
    ------
    BatchError
        Where they cease to be; those before have been given.
    """
    unpacker = msgpack.Unpacker(max_buffer_size=max(len(data), 1))
    unpacker.feed(data)
    start = 0
    while start < len(data):
        try:
            unpacker.skip()
        except Exception as error:
            raise BatchError(f"not a batch: {type(error).__name__}: {error}") from error
        yield data[start : (end := unpacker.tell())]
        start = end


def default(column: Column, rows: int) -> Sequence[Any] | Array:
    """What a column reads as where a recording does not have it."""
    if column.kind in ("sym", "str"):
        return [""] * rows
    dtype = np.dtype("f8") if column.kind == "time" else _NUMBERS[column.kind]
    return np.full(rows, _DEFAULTS[column.kind], dtype)
