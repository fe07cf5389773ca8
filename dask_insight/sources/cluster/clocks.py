"""Puts every process's times on the scheduler's clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.float64]
#: Corrections remembered of each worker; a worker makes one every heartbeat.
_MOST = 10_000
#: Runs remembered of which a worker has told and the scheduler has not.
_RUNS = 1_000_000


class Clock:
    """One worker's clock: how far it is ahead, and by how much Dask shifted its times when."""

    def __init__(self) -> None:
        self.offset = self.uncertainty = 0.0
        #: Scheduler's time up to which the worker has told everything.
        self.through = -np.inf
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
        found = np.zeros(len(shifted))
        if self._delays:
            since, delays = np.array(self._since), np.array(self._delays)
            # Each time has the last correction that was there before it, on the worker's clock.
            found[:] = delays[0]
            low = max(0, int(np.searchsorted(since, np.nanmin(shifted) - 60.0)) - 1) if len(shifted) else 0
            for start, delay in zip(since[low:], delays[low:], strict=True):
                found[shifted - delay >= start] = delay
        return found


class Clocks:
    """The clocks of all workers, by label."""

    def __init__(self) -> None:
        self._clocks: dict[str, Clock] = {}
        self._shifts: dict[int, float] = {}

    def of(self, worker: str) -> Clock:
        """One worker's clock."""
        return self._clocks.setdefault(worker, Clock())

    def tell(self, runs: list[int], delays: list[float]) -> None:
        """By how much Dask shifted each run, as its worker says."""
        if len(self._shifts) > _RUNS:
            self._shifts.clear()
        self._shifts.update(zip(runs, delays, strict=True))

    def told(self, runs: list[int]) -> Times:
        """What workers have said of these runs, NaN where they have not; it is told once."""
        return np.array([self._shifts.pop(run, np.nan) for run in runs], "f8")

    def undo(
        self,
        workers: list[str],
        codes: npt.NDArray[Any],
        leading: Times,
        *others: Times,
        told: Times | None = None,
    ) -> list[Times]:
        """Times as the scheduler's clock would have shown them.

        Parameters
        ----------
        workers
            Label of each code.
        codes
            The worker of each row.
        leading
            Times that Dask shifted, and by which its correction is found.
        *others
            More times of the same rows, shifted by the same.
        told
            What workers have said of single rows; NaN elsewhere.
        """
        times = [np.array(column, "f8") for column in (leading, *others)]
        for code in np.unique(codes).tolist():
            clock = self.of(workers[code])
            rows = np.flatnonzero((codes == code) & np.isfinite(leading))
            if len(rows):
                shift = clock.delay_at(times[0][rows])
                if told is not None:
                    shift = np.where(np.isfinite(told[rows]), told[rows], shift)
                shift += clock.offset
                for column in times:
                    column[rows] -= shift
        return times
