"""Moments in half the memory: as the whole microseconds that recordings tell, from a moment near them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: Rows that count from one moment, as a power of two.
_BITS = 14
BLOCK = 1 << _BITS
#: Fewer rows are left as they are.
_FEWEST = 1 << 11
_MISSING = 0xFFFF_FFFF

#: Numbers of rows, a mask, or the number of one.
Rows = np.ndarray | int | np.integer[Any]


class Micros(NamedTuple):
    """Moments as microseconds from the first of their block, in four bytes: each block within 71 minutes."""

    steps: np.ndarray
    #: Whole microseconds since the epoch, one a block.
    first: np.ndarray
    #: Whether some are missing.
    gaps: bool

    @classmethod
    def of(cls, moments: np.ndarray) -> Kept:
        """The same in less memory; the moments themselves where it cannot tell them exactly, or they are few.

        Parameters
        ----------
        moments
            Seconds since the epoch; NaN where unknown.
        """
        if len(moments) < _FEWEST or moments.strides == (0,):
            return moments
        steps, first, gaps = np.empty(len(moments), "u4"), np.empty(-(-len(moments) >> _BITS)), False
        for number, begin in enumerate(range(0, len(moments), BLOCK)):
            told = moments[begin : begin + BLOCK]
            with np.errstate(over="ignore"):
                micros = told * 1e6
            np.rint(micros, out=micros)
            other = micros / 1e6 != told
            least = np.fmin.reduce(micros)
            if np.isinf(least) or not np.isnan(told[other]).all():
                return moments
            first[number] = 0.0 if np.isnan(least) else least
            micros -= first[number]
            micros[other] = 0.0
            if not micros.max() < _MISSING:
                return moments
            if other.any():
                gaps = True
                micros[other] = _MISSING
            steps[begin : begin + BLOCK] = micros
        return cls(steps, first, gaps)

    def _block(self, begin: int, seconds: np.ndarray) -> np.ndarray:
        """Fill in the moments of one block, seconds since the epoch."""
        steps = self.steps[begin : begin + BLOCK]
        np.add(steps, self.first[begin >> _BITS], out=seconds)
        seconds /= 1e6
        if self.gaps:
            seconds[steps == _MISSING] = np.nan
        return seconds

    def at(self, rows: Rows) -> Any:
        """Those of some rows, by their numbers or a mask, or that of one; seconds since the epoch."""
        if isinstance(rows, np.ndarray) and rows.dtype == bool:
            rows = np.flatnonzero(rows)
        steps = self.steps[rows]
        seconds = self.first[rows >> _BITS]
        seconds += steps
        seconds /= 1e6
        return np.where(steps == _MISSING, np.nan, seconds) if self.gaps else seconds

    def block(self, begin: int) -> np.ndarray:
        """Those of one block."""
        return self._block(begin, np.empty(len(self.steps[begin : begin + BLOCK])))

    @property
    def array(self) -> np.ndarray:
        """The moments, seconds since the epoch."""
        seconds = np.empty(len(self.steps))
        for begin in range(0, len(seconds), BLOCK):
            self._block(begin, seconds[begin : begin + BLOCK])
        return seconds


#: Moments, in either way.
Kept = Micros | np.ndarray


def seconds(moments: Kept) -> np.ndarray:
    """Moments as an array, which may be that of others."""
    return moments.array if isinstance(moments, Micros) else moments


def own_seconds(moments: Kept) -> np.ndarray:
    """The same as an array that nobody else has."""
    return moments.array if isinstance(moments, Micros) else moments.copy()
