"""Bytes to columns; nothing is believed that they say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from typing import Any

import msgpack
import numpy as np

from ..schema import TABLES
from .forms import texts_of
from .planes import MISSING, unplanes, unplanes32, unzigzag
from .unpacked import unpacked
from .values import NUMBERS, Array, Batch, BatchError, Symbols, Texts, Values, intern


def decode(data: bytes | memoryview, only: Collection[str] | None = None) -> Batch:
    """Read one batch; of its columns `only` these.

    Raises
    ------
    BatchError
        If the bytes are not a batch.
    """
    try:
        return read(unpacked(data), only)
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"not a batch: {error}") from error


def read(packed: Any, only: Collection[str] | None = None) -> Batch:
    """Read one batch whose msgpack map has already been unpacked; see `decode`."""
    try:
        table, rows = str(packed["table"]), int(packed["rows"])
        if rows and not packed["columns"]:
            raise BatchError(f"{rows} rows without a column")
        known = {column.name: column.kind for column in TABLES[table].columns} if table in TABLES else {}
        columns: dict[str, Values] = {}
        micros: dict[str, Array] = {}
        own = {
            column["name"]
            for column in packed["columns"]
            if (only is None or column["name"] in only)
            and (known.get(column["name"]) == column["kind"] or _repeats(column, known))
        }
        wanted = _with_referred(own, packed["columns"])
        # Texts may refer to symbols that stand behind them.
        for column in sorted(packed["columns"], key=lambda each: "forms" in each):
            name, kind = column["name"], column["kind"]
            if name not in wanted:
                continue
            group = columns.get(str(column.get("since"))) if "forms" in column else None
            values = (
                texts_of(column, rows, group if isinstance(group, Symbols) else None)
                if "forms" in column and kind == "str"
                else _decode_column(column, rows, micros)
            )
            # What is known to repeat was once kept as if it did not.
            columns[name] = intern(values.tolist()) if _repeats(column, known) else values
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"not a batch: {type(error).__name__}: {error}") from error
    return Batch(table, rows, {name: values for name, values in columns.items() if name in own})


def _repeats(column: Mapping[str, Any], known: Mapping[str, str]) -> bool:
    """Whether texts stand there that this version keeps as symbols."""
    return known.get(column["name"]) == "sym" and column["kind"] == "str"


def _with_referred(names: Set[str], packed: Collection[Any]) -> Set[str]:
    """Names of columns, and of those that they are told relative to, known or not."""
    since = {column["name"]: column.get("since") for column in packed}
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in since and name not in found:
            found.add(name)
            todo.append(since[name])
    return found


def _decode_column(column: Mapping[str, Any], rows: int, micros: dict[str, Array]) -> Values:
    kind, data = column["kind"], column["data"]
    if kind == "time":
        micros[column["name"]] = exact = _decode_time(column, rows, micros)
        return exact / 1e6
    if kind == "sym":
        names = list(column["symbols"])
        if not all(type(name) is str for name in names):
            raise BatchError(f"column {column['name']}: a symbol that is no text")
        codes = unplanes(data, f"<u{int(column['width'])}", rows).astype("<u4")
        if rows and int(codes.max()) >= len(names):
            raise BatchError(f"column {column['name']}: a code without a symbol")
        return Symbols(codes, names)
    if kind == "str":
        lengths = unplanes(data[: 4 * rows], "<u4", rows)
        offsets = np.concatenate((np.zeros(1, "i8"), np.cumsum(lengths, dtype="i8")))
        if int(offsets[-1]) != len(data) - 4 * rows:
            raise BatchError(f"column {column['name']}: texts do not fill their bytes")
        return Texts(offsets, memoryview(data)[4 * rows :])
    if kind == "u32":
        return np.cumsum(unzigzag(unplanes32(data, column.get("planes", 4), rows)), dtype="<u4")
    if (few := column.get("few")) is not None and kind in ("f64", "f32"):
        values, codes = np.frombuffer(few, NUMBERS[kind]), unplanes(data, "u1", rows)
        if rows and int(codes.max()) >= len(values):
            raise BatchError(f"column {column['name']}: a code without a number")
        return np.asarray(values[codes])
    return unplanes(data, NUMBERS[kind], rows)


def _decode_time(column: Mapping[str, Any], rows: int, micros: dict[str, Array]) -> Array:
    base, unit = float(column["base"]), int(column.get("unit", 1))
    if column.get("wide"):
        steps = unplanes(column["data"], "<f8", rows)
    else:
        codes = unplanes32(column["data"], column.get("planes", 4), rows)
        steps = unzigzag(codes).view("<i4").astype("f8")
        steps[codes == MISSING] = np.nan
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
            packed = unpacked(data)
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
