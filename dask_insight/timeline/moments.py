"""Sets of moments, and how much of them lies before a moment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
        order = np.argsort(start)
        order = order if lasting.all() else order[lasting[order]]
        start, stop = start[order], stop[order]
        if not len(start):
            return cls(start, stop)
        np.maximum.accumulate(stop, out=stop)
        begins = np.ones(len(start), bool)
        begins[1:] = start[1:] > stop[:-1]
        ends = np.append(np.flatnonzero(begins)[1:], len(start)) - 1
        return cls(start[begins], stop[ends])

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
        edges = np.concatenate(([-np.inf], np.stack((self.start, self.stop), 1).ravel(), [np.inf]))
        return Moments(edges[::2], edges[1::2])

    def without(self, other: Moments) -> Moments:
        """The moments that are not in another set."""
        return self.both(other.outside())

    def both(self, other: Moments) -> Moments:
        """The moments that are in another set too."""
        edges = np.unique(np.concatenate((*self, *other)))
        if len(edges) < 2:
            return Moments(edges[:0], edges[:0])
        start, stop = edges[:-1], edges[1:]
        inside = self.has(start) & other.has(start)
        return Moments.of(start[inside], stop[inside])

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
