"""Rows found by id, and what the texts of a column tell of its rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

import numpy as np

from .batch import Symbols, Texts, Values
from .schema import NOTHING

#: Ids up to this many times the number of rows are looked up in a table, larger ones by search.
_DENSE = 8


class TextRows(NamedTuple):
    """Rows of a column of texts that nobody has looked up yet; -1 stands for ''."""

    texts: Texts
    rows: np.ndarray


class Lookup:
    """Finds the last row that has an id, for many ids at once."""

    def __init__(self, ids: np.ndarray) -> None:
        self._ids = ids
        self._order: np.ndarray | None = None
        self._table: np.ndarray | None = None
        largest = int(np.max(ids, initial=0, where=ids != NOTHING))
        if largest < _DENSE * len(ids) + 1024:
            self._table = np.full(largest + 2, -1, "i4")
            self._table[np.minimum(ids, len(self._table) - 1)] = np.arange(len(ids), dtype="i4")
            self._table[-1] = -1
        else:
            self._order = np.argsort(ids, kind="stable")
            self._ids = ids[self._order]

    def rows(self, wanted: np.ndarray) -> np.ndarray:
        """Row of each wanted id; -1 where there is none, and for `NOTHING`."""
        if self._table is not None:
            return np.asarray(self._table[np.minimum(wanted, len(self._table) - 1)])
        at = np.searchsorted(self._ids, wanted, side="right") - 1
        found = (at >= 0) & (self._ids[np.maximum(at, 0)] == wanted) & (wanted != NOTHING)
        assert self._order is not None
        return np.where(found, self._order[np.maximum(at, 0)], -1)

    @property
    def order(self) -> np.ndarray | None:
        """The rows in the order of their ids; None where some are alike, or too few for a table."""
        if self._table is None:
            return None
        order = self._table[self._table >= 0]
        return order if len(order) == len(self._ids) else None


def most_pairs(*rows: np.ndarray) -> int:
    """More pairs than an honest recording gives of tables of these rows, for `spread`."""
    return 4 * sum(map(len, rows)) + (1 << 22)


def sums(codes: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """The sum of the values of each code below `count`, float; of none too, which `bincount` gives as int."""
    return np.asarray(np.bincount(codes, values, count), "f8")


def ratio(part: np.ndarray, whole: np.ndarray, missing: Any = 0.0) -> np.ndarray:
    """A part over its whole, element by element; something else where that is nothing."""
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), missing), where=whole > 0))


def pick(values: Values, rows: np.ndarray | None) -> Any:
    """The given rows; missing where the row is -1: NaN, 0 or ''. None stands for all rows as they are."""
    if rows is None:
        return values
    if isinstance(values, Texts):
        return TextRows(values, rows)
    if isinstance(values, Symbols):
        return _pick_symbols(values, rows)
    if not len(values):
        return np.full(len(rows), np.nan if values.dtype.kind == "f" else 0, values.dtype)
    picked = values[rows]
    missing = rows < 0
    if missing.any():
        picked[missing] = np.nan if values.dtype.kind == "f" else 0
    return picked


def own(values: Values, rows: np.ndarray | None) -> Any:
    """Like `pick`, but an array that nobody else has."""
    picked = pick(values, rows)
    return picked.copy() if picked is values and isinstance(picked, np.ndarray) else picked


def all_or(rows: np.ndarray, count: int) -> np.ndarray | None:
    """None if these are all of `count` rows in their order, which spares copying them."""
    return None if len(rows) == count and bool((rows == np.arange(count)).all()) else rows


def by_name(symbols: Symbols, of: Callable[[str], Any], none: Any, kind: str | None = None) -> np.ndarray:
    """What a function gives of each row's text; it is asked once a text.

    Parameters
    ----------
    none
        Something of the type that `of` gives, for a column without any text.
    kind
        The type of the values; by default that of what `of` gives.
    """
    return np.asarray(np.array([of(name) for name in symbols.names] or [none], kind)[symbols.codes])


def is_any(symbols: Symbols, names: Collection[str]) -> np.ndarray:
    """Which rows hold one of some texts."""
    return by_name(symbols, names.__contains__, False)


def coded(symbols: Symbols, names: Iterable[str]) -> np.ndarray:
    """For each row the place of its text among others, int64; -1 where it is none of them."""
    place = {name: code for code, name in enumerate(names)}
    return by_name(symbols, lambda name: place.get(name, -1), -1, "i8")


def distinct(codes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The different codes in their order, and the place of each in them; all are below `size`."""
    if size > 8 * len(codes) + 1024:
        # So few of so many are sorted faster than all are counted.
        known, place = np.unique(codes, return_inverse=True)
        return known, place.reshape(-1)
    used = np.zeros(size, bool)
    used[codes] = True
    return np.flatnonzero(used), (np.cumsum(used, dtype="i4") - 1)[codes]


def sorted_set(values: np.ndarray) -> np.ndarray:
    """The different integers, in their order; of many, `np.unique` takes 50 times as long, by hashes."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return np.asarray(ordered[first])


def least(size: int) -> str:
    """The type of the least integers that hold codes below `size`, and -1."""
    return "i1" if size < 1 << 7 else "i2" if size < 1 << 15 else "i4"


def narrowed(symbols: Symbols) -> Symbols:
    """The same, with codes that take less memory: what is worked out of them may need larger ones."""
    size = len(symbols.names)
    kind = "u1" if size <= 1 << 8 else "u2" if size <= 1 << 16 else "u4"
    return Symbols(symbols.codes.astype(kind, copy=False), symbols.names)


def to_micros(seconds: np.ndarray) -> np.ndarray:
    """Seconds rounded to whole microseconds, in place; infinite where they are beyond all bounds."""
    with np.errstate(over="ignore"):
        seconds *= 1e6
    np.rint(seconds, out=seconds)
    seconds /= 1e6
    return seconds


def fill(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Values of `first`, of `second` where `first` is missing."""
    missing = np.isnan(first)
    if missing.all():
        return second
    return np.where(missing, second, first) if missing.any() else first


def fill_symbols(first: Symbols, second: Symbols, rows: np.ndarray | None = None) -> Symbols:
    """Texts of `first`, of `second` where `first` is ''.

    Of `second` these are the given rows, none where the row is -1; without them all as they are.
    """
    empty = is_any(first, ("",))
    if rows is not None:
        empty &= rows >= 0
    if not empty.any():
        return first
    others = Symbols(second.codes[empty if rows is None else rows[empty]], second.names)
    place = {name: code for code, name in enumerate(dict.fromkeys((*first.names, *second.names)))}
    codes = by_name(first, place.__getitem__, 0, "u4")
    codes[empty] = by_name(others, place.__getitem__, 0, "u4")
    return Symbols(codes, list(place))


def spread(left: np.ndarray, right: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All pairs (i, j) with left[i] <= j < right[i], as two arrays.

    Of more than `most` pairs, each i has only its last ones: about `most` together, and at least one.
    """
    counts = np.maximum(right - left, 0)
    if most is not None and int(counts.sum()) > most:
        counts = np.minimum(counts, max(1, most // len(counts)))
        left = right - counts
    rows = np.repeat(np.arange(len(counts)), counts)
    begins = np.repeat(np.cumsum(counts) - counts, counts)
    return rows, np.arange(len(rows)) - begins + np.repeat(left, counts)


def _pick_symbols(symbols: Symbols, rows: np.ndarray) -> Symbols:
    missing = rows < 0
    if not missing.any():
        return Symbols(symbols.codes[rows], symbols.names)
    names = symbols.names if "" in symbols.names else [*symbols.names, ""]
    codes = symbols.codes[np.maximum(rows, 0)] if len(symbols.codes) else np.zeros(len(rows), "u4")
    # Narrow ones may have no code left for one more name.
    codes = codes.astype("u4", copy=False)
    codes[missing] = names.index("")
    return Symbols(codes, names)
