"""Rows found by id."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..batch import Symbols, Texts, Values


class TextRows(NamedTuple):
    """Rows of a column of texts that nobody has looked up yet; -1 stands for ''."""

    texts: Texts
    rows: np.ndarray


class Lookup:
    """Finds the last row that has an id, for many ids at once."""

    def __init__(self, ids: np.ndarray) -> None:
        self._order: np.ndarray | None = None
        if len(ids) > 1 and not (ids[1:] > ids[:-1]).all():
            self._order = np.argsort(ids, kind="stable")
            ids = ids[self._order]
        self._ids = ids

    def rows(self, wanted: np.ndarray) -> np.ndarray:
        """Row of each wanted id; -1 where there is none."""
        if not len(self._ids):
            return np.full(len(wanted), -1)
        if len(wanted) == len(self._ids) and self._order is None and np.array_equal(wanted, self._ids):
            return np.arange(len(wanted))
        at = np.searchsorted(self._ids, wanted, side="right") - 1
        found = self._ids[np.maximum(at, 0)] == wanted
        rows = at if self._order is None else self._order[np.maximum(at, 0)]
        return np.where(found & (at >= 0), rows, -1)


def pick(values: Values, rows: np.ndarray) -> Any:
    """The given rows; missing where the row is -1: NaN, 0 or ''."""
    if _everything(values, rows):
        return values
    if isinstance(values, Texts):
        return TextRows(values, rows)
    missing = rows < 0
    gaps = bool(missing.any())
    if isinstance(values, Symbols):
        return _pick_symbols(values, rows, missing) if gaps else Symbols(values.codes[rows], values.names)
    if not gaps:
        return values[rows]
    nothing = np.nan if values.dtype.kind == "f" else 0
    return np.concatenate((values, np.array([nothing], values.dtype)))[rows]


def fill(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Values of `first`, of `second` where `first` is missing."""
    return np.where(np.isnan(first), second, first)


def fill_symbols(first: Symbols, second: Symbols) -> Symbols:
    """Texts of `first`, of `second` where `first` is ''."""
    empty = np.array([name == "" for name in first.names] or [False])[first.codes]
    if not empty.any():
        return first
    names = {name: code for code, name in enumerate(dict.fromkeys((*first.names, *second.names)))}
    of_first = np.array([names[name] for name in first.names] or [0], "u4")
    of_second = np.array([names[name] for name in second.names] or [0], "u4")
    return Symbols(np.where(empty, of_second[second.codes], of_first[first.codes]), list(names))


def spread(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs (i, j) with left[i] <= j < right[i], as two arrays."""
    counts = np.maximum(right - left, 0)
    rows = np.repeat(np.arange(len(counts)), counts)
    begins = np.repeat(np.cumsum(counts) - counts, counts)
    return rows, np.arange(len(rows)) - begins + np.repeat(left, counts)


def _everything(values: Values, rows: np.ndarray) -> bool:
    count = len(values.offsets) - 1 if isinstance(values, Texts) else len(_numbers(values))
    return len(rows) == count and bool((rows == np.arange(count)).all())


def _numbers(values: Symbols | np.ndarray) -> np.ndarray:
    return values.codes if isinstance(values, Symbols) else values


def _pick_symbols(symbols: Symbols, rows: np.ndarray, missing: np.ndarray) -> Symbols:
    names = symbols.names if "" in symbols.names else [*symbols.names, ""]
    codes = symbols.codes[np.maximum(rows, 0)] if len(symbols.codes) else np.zeros(len(rows), "u4")
    return Symbols(np.where(missing, names.index(""), codes).astype("u4"), names)
