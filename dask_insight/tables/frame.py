"""Columns to a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from ..batch import Symbols, Texts
from ..lookup import TextRows, least, to_micros
from .field import Field

try:
    arrow: Any = import_module("pyarrow")
    # pandas refuses one that is older than it wants.
    pd.StringDtype("pyarrow")
except ImportError:
    arrow = None

#: pandas has text columns of its own from version 3 on.
_NEW = int(pd.__version__.partition(".")[0]) >= 3
#: Types of numbers by their kind: what is less than 0 has to fit, and single precision is lost in sums.
_KINDS = {"u": "i8", "i": "i8", "f": "f8", "b": "?"}


def frame(
    fields: Sequence[Field], columns: Mapping[str, Any], started: float, *, timestamps: bool, own: bool
) -> pd.DataFrame:
    """A DataFrame of `fields`; see `tables.make`. With `own` it may have the arrays, else it has copies."""
    data = {
        field.name: _moments(columns[field.name], started, timestamps, own)
        if field.unit == "time"
        else _column(columns[field.name], own)
        for field in fields
    }
    table = pd.DataFrame(data, copy=False)
    table.attrs["started"] = started
    return table


def _moments(values: np.ndarray, started: float, timestamps: bool, own: bool) -> Any:
    if not timestamps:
        return to_micros(np.subtract(values, started, out=values if own else None))
    micros = np.rint(values * 1e6)
    there = np.abs(micros) < 2**62
    stamps = np.where(there, micros, 0).astype("i8").view("M8[us]")
    stamps[~there] = np.datetime64("NaT")
    return pd.DatetimeIndex(stamps, copy=False).tz_localize("UTC")


def _column(values: Any, own: bool) -> Any:
    if isinstance(values, Symbols):
        return pd.Categorical.from_codes(values.codes.astype(least(len(values.names))), values.names)
    if isinstance(values, Texts):
        return text_column(values, None)
    if isinstance(values, TextRows):
        return text_column(*values)
    return values.astype(_KINDS[values.dtype.kind], copy=not own)


def text_column(texts: Texts, rows: np.ndarray | None) -> Any:
    """Texts, or rows of them with '' for -1, as a DataFrame has them."""
    if arrow is None:
        names = [*texts.tolist(), ""]
        named = names[:-1] if rows is None else [names[row] for row in rows]
        return pd.array(named, dtype="str") if _NEW else np.array(named, object)
    array = _arrow(texts, 0 if rows is None else 1)
    if rows is not None:
        array = array.take(arrow.array(np.where(rows < 0, len(array) - 1, rows)))
    dtype = pd.StringDtype("pyarrow", na_value=np.nan) if _NEW else pd.StringDtype("pyarrow")
    return dtype.construct_array_type()._from_sequence(array, dtype=dtype)


def _arrow(texts: Texts, empty: int) -> Any:
    """Texts as an Arrow array without copying them, with so many empty ones at the end."""
    offsets = np.concatenate((texts.offsets, np.repeat(texts.offsets[-1:], empty)))
    buffers = arrow.py_buffer(offsets), arrow.py_buffer(texts.data)
    array = arrow.LargeStringArray.from_buffers(len(offsets) - 1, *buffers)
    try:
        array.validate(full=True)
    except arrow.ArrowInvalid:
        return arrow.array(texts.tolist() + [""] * empty, arrow.large_string())
    return array
