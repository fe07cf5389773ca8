"""Whole numbers in half the memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .micros import BLOCK, Rows

_MISSING = 0xFFFF_FFFF


class Counts(NamedTuple):
    """Whole numbers, or none, in four bytes."""

    numbers: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray) -> Counts | np.ndarray:
        """The same in less memory; the values themselves where it cannot tell them exactly.

        Parameters
        ----------
        values
            Float; NaN where there is none.
        """
        numbers = np.empty(len(values), "u4")
        for begin in range(0, len(values), BLOCK):
            some = values[begin : begin + BLOCK]
            missing = np.isnan(some)
            fits = (some >= 0) & (some < _MISSING)
            told = np.where(fits, some, 0.0).astype("u4")
            if not (missing | (fits & (told == some))).all():
                return values
            told[missing] = _MISSING
            numbers[begin : begin + BLOCK] = told
        return cls(numbers)

    def at(self, rows: Rows) -> Any:
        """Those of some rows, by their numbers or a mask, or that of one; float, NaN where there is none."""
        return self._told(self.numbers[rows])

    @staticmethod
    def _told(numbers: Any) -> Any:
        return np.where(numbers == _MISSING, np.nan, numbers)

    def block(self, begin: int) -> np.ndarray:
        """Those of one block."""
        return np.asarray(self._told(self.numbers[begin : begin + BLOCK]))

    @property
    def array(self) -> np.ndarray:
        """All of them."""
        return np.asarray(self._told(self.numbers))
