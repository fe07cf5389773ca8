"""What has not ended on a scheduler, for the moment from which nobody tells of it any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...probe.tasks import QUEUED, STATUSES
from .recent import Recent

#: Attempts that are remembered.
_MOST = 1_000_000
#: How a task stands that is to run: an end is still to come, it has come, or the task was let go of. Then its
#: function may run on, and its worker tell of that later.
_OPEN, _ENDED, _LET_GO = 1, 2, 3
_ENDS = {"ok": _ENDED, "erred": _ENDED, "cancelled": _LET_GO}
_BY_CODE = np.array([_ENDS.get(status, 0) for status in STATUSES], "u1")


class UnderWay(NamedTuple):
    """An attempt that runs."""

    run: int
    task: int
    worker: str
    thread: str
    #: Seconds since the epoch.
    start: float


class Unended:
    """One scheduler's tasks that have had no end, a byte each, and attempts that run, as workers say.

    All ids are the scheduler's own.
    """

    def __init__(self) -> None:
        #: How each stands.
        self._tasks = Recent(np.uint8(0))
        self._runs: dict[int, UnderWay] = {}

    def wanted(self, tasks: npt.NDArray[np.uint32]) -> None:
        """These tasks are to run, unless their end was told before."""
        at, _ = self._tasks.places(tasks)
        self._tasks.numbers[at] = np.maximum(self._tasks.numbers[at], _OPEN)

    def ended(self, attempts: npt.NDArray[Any]) -> None:
        """The scheduler tells of attempts, in its packed rows; after some of them another one follows."""
        self.over(attempts["run"])
        ends = _BY_CODE[attempts["status"] & ~np.uint8(QUEUED)]
        final = ends > 0
        at, known = self._tasks.places(attempts["task"][final])
        self._tasks.numbers[at] = ends[final][known]

    def have_ended(self, tasks: npt.NDArray[np.uint32]) -> None:
        """Of these tasks no other attempt follows."""
        at, _ = self._tasks.places(tasks)
        self._tasks.numbers[at] = _ENDED

    def are_new(self, runs: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
        """Which of these attempts are not known to run: workers tell again when another recorder joins."""
        return np.array([run not in self._runs for run in runs.tolist()], bool)

    def begun(
        self,
        worker: str,
        runs: npt.NDArray[np.uint32],
        tasks: npt.NDArray[np.uint32],
        threads: Iterable[str],
        starts: npt.NDArray[np.float64],
    ) -> None:
        """A worker tells that these attempts run."""
        if len(self._runs) > _MOST:
            self._runs.clear()
        for run, task, thread, start in zip(
            runs.tolist(), tasks.tolist(), threads, starts.tolist(), strict=True
        ):
            self._runs[run] = UnderWay(run, task, worker, thread, start)

    def over(self, runs: npt.NDArray[np.uint32]) -> None:
        """These attempts have ended."""
        if self._runs:
            for run in runs.tolist():
                self._runs.pop(run, None)

    def take(self) -> tuple[list[UnderWay], npt.NDArray[np.uint32]]:
        """Attempts that run, and the other tasks that have had no end; from now on all have had one."""
        under_way = list(self._runs.values())
        stand = self._tasks.of(np.array([each.task for each in under_way], "u4"))
        runs = [each for each, how in zip(under_way, stand, strict=True) if how != _LET_GO]
        self._runs = {}
        self.have_ended(np.array([each.task for each in runs], "u4"))
        waiting = np.flatnonzero(self._tasks.numbers == _OPEN).astype("u4")
        self._tasks.numbers[waiting] = _ENDED
        return runs, waiting + np.uint32(self._tasks.first)
