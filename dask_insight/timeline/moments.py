"""Sets of moments, and how much of them lies before a moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..lookup import spread
from .micros import BLOCK

#: Intervals looked at together, which bounds the memory that what is in between takes.
_BLOCK = 1 << 16


class Moments(NamedTuple):
    """A set of moments: intervals that do not touch, in their order."""

    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def of(cls, start: np.ndarray, stop: np.ndarray) -> Moments:
        """The union of intervals; those that do not last are left out."""
        lasting = stop > start
        if not lasting.all():
            start, stop = start[lasting], stop[lasting]
        if (start[1:] < start[:-1]).any():
            order = np.argsort(start)
            start, stop = start[order], stop[order]
        if not len(start):
            return cls(start, stop)
        stop = np.maximum.accumulate(stop)
        begins = np.ones(len(start), bool)
        begins[1:] = start[1:] > stop[:-1]
        ends = np.append(np.flatnonzero(begins)[1:], len(start)) - 1
        return cls(start[begins], stop[ends])

    @classmethod
    def together(cls, parts: Iterable[tuple[np.ndarray, ...]]) -> Moments:
        """The same of many, some starts and stops at a time, which takes less memory."""
        some = [cls.of(*each) for each in parts]
        return cls.of(*(np.concatenate([np.zeros(0), *(each[end] for each in some)]) for end in (0, 1)))

    @property
    def seconds(self) -> float:
        """How long they are together."""
        return float((self.stop - self.start).sum())

    def before(self, moment: np.ndarray) -> np.ndarray:
        """Seconds of the set that lie before each moment."""
        return self._before(moment, np.cumsum(self.stop - self.start))

    def _before(self, moment: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        if not len(self.start):
            return np.zeros(len(moment))
        at = np.searchsorted(self.start, moment, side="right") - 1
        last = np.maximum(at, 0)
        return np.where(at < 0, 0.0, lengths[last] - np.maximum(self.stop[last] - moment, 0.0))

    def within(self, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Seconds of the set in each interval."""
        seconds, lengths = np.empty(len(start)), np.cumsum(self.stop - self.start)
        for first in range(0, len(start), _BLOCK):
            some = slice(first, first + _BLOCK)
            begin, end = start[some], stop[some]
            seconds[some] = np.clip(
                self._before(end, lengths) - self._before(begin, lengths), 0.0, end - begin
            )
        return seconds

    def outside(self) -> Moments:
        """All other moments."""
        return Moments(np.append(-np.inf, self.stop), np.append(self.start, np.inf))

    def without(self, other: Moments) -> Moments:
        """The moments that are not in another set."""
        return self.both(other.outside())

    def both(self, other: Moments) -> Moments:
        """The moments that are in another set too."""
        return Moments.together(self._overlaps(other))

    def _overlaps(self, other: Moments) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """What each two intervals of both have in common."""
        for first in range(0, len(self.start), BLOCK):
            start, stop = (each[first : first + BLOCK] for each in self)
            begins, ends = np.searchsorted(other.stop, start, "right"), np.searchsorted(other.start, stop)
            mine, others = spread(begins, ends)
            yield np.maximum(start[mine], other.start[others]), np.minimum(stop[mine], other.stop[others])

    def has(self, moment: np.ndarray) -> np.ndarray:
        """Whether each moment is in the set; an interval's start is, its stop is not."""
        inside = np.zeros(len(moment), bool)
        for first in range(0, len(moment) if len(self.start) else 0, _BLOCK):
            some = slice(first, first + _BLOCK)
            at = np.searchsorted(self.start, moment[some], side="right") - 1
            inside[some] = (at >= 0) & (moment[some] < self.stop[np.maximum(at, 0)])
        return inside


def most_at_once(start: np.ndarray, stop: np.ndarray, amount: np.ndarray) -> float:
    """The largest sum of amounts over intervals that share a moment; those that only touch share none."""
    moments = np.concatenate([start, stop])
    change = np.concatenate([amount, -amount])
    return float(np.cumsum(change[np.lexsort((change, moments))]).max(initial=0.0))
