"""What the facts are made of: pieces of time, sums by name, the critical path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ...batch import Symbols
from ...lookup import is_any
from ...timeline import Attempts, Lanes, Moments


class Pieces(Protocol):
    """Stretches of the time of threads that went into one part; see `dask_insight.analysis.time_budget`.

    Seconds since the epoch.
    """

    @property
    def lane(self) -> np.ndarray: ...
    @property
    def start(self) -> np.ndarray: ...
    @property
    def stop(self) -> np.ndarray: ...
    @property
    def threads(self) -> np.ndarray: ...
    @property
    def row(self) -> np.ndarray: ...
    @property
    def part(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def seconds(self) -> np.ndarray: ...
    def take(self, rows: np.ndarray) -> Pieces:
        """Some of them."""

    def blocks(self) -> Iterator[Pieces]:
        """The same, some of them at a time."""


class Budget(Protocol):
    """The time of all threads, in pieces."""

    @property
    def pieces(self) -> Sequence[Pieces]: ...
    @property
    def parts(self) -> list[str]: ...
    @property
    def attempts(self) -> Attempts: ...
    @property
    def lanes(self) -> Lanes: ...
    @property
    def start(self) -> float: ...
    @property
    def stop(self) -> float: ...
    @property
    def served(self) -> Moments: ...
    def part(self, name: str) -> Pieces:
        """All pieces of one part."""


class Names(NamedTuple):
    """Attempts that ended well, by task name: one row a name, in the order of `Facts.names`. Seconds."""

    number: np.ndarray
    total: np.ndarray
    mean: np.ndarray
    median: np.ndarray


class Path(NamedTuple):
    """The critical path, a row a step; moments in seconds since the epoch."""

    start: np.ndarray
    stop: np.ndarray
    kind: Symbols
    because: Symbols
    #: Row of the attempt; -1 if none.
    row: np.ndarray
    #: Length of each step, without standstills.
    seconds: np.ndarray

    def of(self, *kinds: str) -> np.ndarray:
        """Which steps are of these kinds."""
        return is_any(self.kind, kinds)


def in_blocks(pieces: Iterable[Pieces]) -> Iterator[Pieces]:
    """The same, so many at a time that what is worked out of them takes little memory."""
    return (some for each in pieces for some in each.blocks())


def median(values: np.ndarray) -> float:
    """Median of some values, none of them missing; of few, `np.median` takes five times as long."""
    ordered, count = np.sort(values), len(values)
    return float((ordered[(count - 1) // 2] + ordered[count // 2]) / 2)


def medians(code: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Median of the values of each code; NaN where there are none."""
    number = np.bincount(code, minlength=size)
    order = np.argsort(values).astype("i4")
    # Sixteen bits are sorted in linear time.
    small = code[order].astype("i2" if size < 1 << 15 else "i8")
    order = order[np.argsort(small, kind="stable")]
    ordered = np.full(len(order) + 1, np.nan)
    np.take(values, order, out=ordered[:-1], mode="clip")
    begin = np.cumsum(number) - number
    low, high = begin + np.maximum(number - 1, 0) // 2, begin + number // 2
    last = len(ordered) - 1
    middle = (ordered[np.minimum(low, last)] + ordered[np.minimum(high, last)]) / 2
    return np.where(number > 0, middle, np.nan)
