"""The scheduler's packed rows, seen by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...batch import Symbols
from ...probe.layouts import LAYOUTS

_KINDS = {"Q": "<u8", "I": "<u4", "H": "<u2", "B": "u1", "f": "<f4", "d": "<f8"}


def packed_dtype(layout: str) -> np.dtype[Any]:
    """The type of rows packed by a layout of the probe's."""
    fields = (field.split(":") for field in layout.split())
    return np.dtype([(name, _KINDS[kind]) for name, kind in fields])


DTYPES = {table: packed_dtype(layout) for table, layout in LAYOUTS.items()}


def rows(table: str, packed: bytes) -> npt.NDArray[Any]:
    """The packed rows of a table as a structured array."""
    return np.frombuffer(packed, DTYPES[table])


def pick(codes: npt.NDArray[Any], things: Sequence[Any], text: Callable[[Any], str] = str) -> Symbols:
    """A column of text from codes and what they stand for, as text; a code beyond them reads as ''."""
    used, inverse = np.unique(codes, return_inverse=True)
    names: dict[str, int] = {}
    known = (text(things[code]) if code < len(things) else "" for code in used.tolist())
    new = np.array([names.setdefault(each, len(names)) for each in known], "u4")
    return Symbols(new[inverse] if len(new) else np.zeros(0, "u4"), list(names))


def idents(threads: npt.NDArray[np.uint64]) -> Symbols:
    """Idents of threads as text, '' where there is none; few of them are different."""
    used, codes = np.unique(threads, return_inverse=True)
    return Symbols(codes.astype("u4"), [str(ident) if ident else "" for ident in used.tolist()])


def by_code(
    codes: npt.NDArray[Any], rows: npt.NDArray[np.intp]
) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Some rows of a column of codes, those of each code together; one sort serves all."""
    ordered = rows[np.argsort(codes[rows], kind="stable")]
    for some in np.split(ordered, np.flatnonzero(np.diff(codes[ordered])) + 1):
        if len(some):
            yield int(codes[some[0]]), some


def text(key: Any) -> str:
    """A task's key as Dask writes it."""
    return key if isinstance(key, str) else str(key)


def texts(keys: Iterable[Any]) -> list[str]:
    """Keys as Dask writes them."""
    return [text(key) for key in keys]
