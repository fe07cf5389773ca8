"""Puts every process's times on the scheduler's clock."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .layouts import by_code

Times = npt.NDArray[np.float64]
#: Corrections remembered of each worker, which makes one every heartbeat; and seconds for which they are. Who
#: began earlier than that has the oldest until its worker tells the right one.
_MOST, _LONGEST = 10_000, 3600.0
#: Seconds for which what a worker did may be told later than that it left.
_LATE = 60.0
#: Workers that left longer ago, of which the last correction is remembered: what is told may be far behind.
_GONE = 1_000
#: Seconds by which a correction may shift times; older ones than that are not looked at.
_LARGEST = 60.0


class Clock:
    """One worker's clock: how far it is ahead, and by how much Dask shifted its times when."""

    def __init__(self) -> None:
        self.offset = self.uncertainty = 0.0
        self._since, self._delays = array("d"), array("d")

    def corrected(self, since: float, delay: float) -> None:
        """Dask shifts times by `delay` from this time of the worker's on."""
        if not self._delays or self._delays[-1] != delay:
            self._since.append(since)
            self._delays.append(delay)
            self._forget(max(bisect_left(self._since, since - _LONGEST) - 1, len(self._since) - _MOST))

    def rest(self) -> None:
        """Of a worker that has left, remember the last correction only."""
        self._forget(len(self._since) - 1)

    def _forget(self, oldest: int) -> None:
        if oldest > 0:
            del self._since[:oldest], self._delays[:oldest]

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
        #: Workers that have left, and when.
        self._left: dict[str, float] = {}
        #: Those that left some time ago.
        self._gone: deque[str] = deque()

    def left(self, worker: str, when: float) -> list[str]:
        """A worker has left; gives those that left some time before, of which little is remembered now."""
        self._left[worker] = when
        gone = [one for one, moment in self._left.items() if when - moment > _LATE]
        for one in gone:
            del self._left[one]
            self.of(one).rest()
        self._gone += gone
        while len(self._gone) > _GONE:
            self._clocks.pop(self._gone.popleft(), None)
        return gone

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
        for code, rows in by_code(codes, np.flatnonzero(np.isfinite(times))):
            clock = self.of(workers[code])
            shift[rows] = clock.delay_at(times[rows]) + clock.offset
        return shift
