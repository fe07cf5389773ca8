"""Puts every process's times on the scheduler's clock."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.float64]
#: Corrections remembered of each worker; a worker makes one every heartbeat.
_MOST = 10_000
#: Seconds by which a correction may shift times; older ones than that are not looked at.
_LARGEST = 60.0


class Clock:
    """One worker's clock: how far it is ahead, and by how much Dask shifted its times when."""

    def __init__(self) -> None:
        self.offset = self.uncertainty = 0.0
        self._since: list[float] = []
        self._delays: list[float] = []

    def corrected(self, since: float, delay: float) -> None:
        """Dask shifts times by `delay` from this time of the worker's on."""
        if not self._delays or self._delays[-1] != delay:
            self._since.append(since)
            self._delays.append(delay)
            del self._since[:-_MOST], self._delays[:-_MOST]

    def here(self, times: Any) -> Times:
        """The worker's own times on the scheduler's clock."""
        return np.asarray(times, "f8") - self.offset

    def delay_at(self, shifted: Times) -> Times:
        """The correction in each of these times, which Dask has shifted."""
        if not self._delays or not len(shifted):
            return np.zeros(len(shifted))
        low = max(0, bisect_left(self._since, float(np.nanmin(shifted)) - _LARGEST) - 1)
        since, delays = np.array(self._since[low:]), np.array(self._delays[low:])
        # Each time has the last correction that was there before it, on the worker's clock: the last
        # whose shifted beginning, or that of any after it, is not later.
        begins = np.minimum.accumulate((since + delays)[::-1])[::-1]
        return np.asarray(delays[np.maximum(np.searchsorted(begins, shifted, "right") - 1, 0)])


class Clocks:
    """The clocks of all workers, by label."""

    def __init__(self) -> None:
        self._clocks: dict[str, Clock] = {}

    def of(self, worker: str) -> Clock:
        """One worker's clock."""
        return self._clocks.setdefault(worker, Clock())

    def shifts(self, workers: Sequence[str], codes: npt.NDArray[Any], times: Times) -> Times:
        """What stands between times that Dask has shifted and the scheduler's clock; 0 for NaN.

        Parameters
        ----------
        workers
            Label of each code.
        codes
            The worker of each row.
        times
            Times that Dask shifted, by which its correction is found.
        """
        shift = np.zeros(len(times))
        for code in np.unique(codes).tolist():
            clock = self.of(workers[code])
            rows = np.flatnonzero((codes == code) & np.isfinite(times))
            if len(rows):
                shift[rows] = clock.delay_at(times[rows]) + clock.offset
        return shift
