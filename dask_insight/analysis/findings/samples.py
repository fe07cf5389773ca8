"""What processes sampled, and the time that their samples tell of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...batch import Symbols
from ...dag import links


class Samples:
    """The samples of each process in a table, without a look at all rows for each."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        symbols: Symbols = table["process"]
        self._numbers = {name: values for name, values in table.items() if isinstance(values, np.ndarray)}
        codes: dict[str, int] = {}
        same = np.array([codes.setdefault(name, len(codes)) for name in symbols.names] or [0])
        self._codes = codes
        self._rows = links(same[symbols.codes], np.arange(len(symbols.codes)), len(same))

    def of(self, process: str) -> dict[str, np.ndarray]:
        """The columns of numbers of one process."""
        code = self._codes.get(process)
        begin, end = (0, 0) if code is None else self._rows.begins[code : code + 2].tolist()
        rows = self._rows.rows[begin:end]
        return {name: values[rows] for name, values in self._numbers.items()}


def in_order(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values that are known in their order, after the moments, one more, between which each was so.

    A sample stands for the time since the one before it, and the first for as long as the second.
    """
    known = np.flatnonzero(np.isfinite(values))
    known = known[np.argsort(time[known])]
    time = time[known]
    first = 2 * time[:1] - time[1:2] if len(time) > 1 else time[:1]
    return np.concatenate((first, time)), values[known].astype("f8")


def between(time: np.ndarray, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """What amounts that were sampled come to in each interval; 0 where none tells."""
    moments, known = in_order(time, values)
    if not len(known):
        return np.zeros(len(start))
    total = np.append(0.0, np.cumsum(known))
    return np.asarray(np.interp(stop, moments, total) - np.interp(start, moments, total))
