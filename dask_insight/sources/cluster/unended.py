"""What has not ended on a scheduler, for the moment from which nobody tells of it any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...probe.tasks import QUEUED, STATUSES
from ...schema import NOTHING

#: Attempts and tasks that are remembered: of more tasks, the older half is forgotten.
_MOST, _TASKS = 1_000_000, 1 << 22
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

    All ids are the scheduler's own. Those of tasks count up: of what is long past nothing is remembered.
    """

    def __init__(self) -> None:
        #: The first task that is remembered, and how each from there on stands.
        self._first = 0
        self._tasks = np.zeros(1 << 12, "u1")
        self._runs: dict[int, UnderWay] = {}

    def wanted(self, tasks: npt.NDArray[np.uint32]) -> None:
        """These tasks are to run, unless their end was told before."""
        at, _ = self._places(tasks)
        self._tasks[at] = np.maximum(self._tasks[at], _OPEN)

    def ended(self, attempts: npt.NDArray[Any]) -> None:
        """The scheduler tells of attempts, in its packed rows; after some of them another one follows."""
        self.over(attempts["run"])
        ends = _BY_CODE[attempts["status"] & ~np.uint8(QUEUED)]
        final = ends > 0
        at, known = self._places(attempts["task"][final])
        self._tasks[at] = ends[final][known]

    def have_ended(self, tasks: npt.NDArray[np.uint32]) -> None:
        """Of these tasks no other attempt follows."""
        at, _ = self._places(tasks)
        self._tasks[at] = _ENDED

    def _places(self, tasks: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
        """Where those of some tasks stand that are remembered, and which these are."""
        told = tasks != NOTHING
        need = int(tasks[told].max(initial=0)) + 1 - self._first
        if need > _TASKS:
            gone = need - _TASKS // 2
            self._first, self._tasks, need = self._first + gone, self._tasks[gone:].copy(), need - gone
        if need > len(self._tasks):
            grown = np.zeros(max(need, 2 * len(self._tasks)), "u1")
            grown[: len(self._tasks)] = self._tasks
            self._tasks = grown
        known = told & (tasks >= self._first)
        return tasks[known] - self._first, known

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
        runs = [each for each in self._runs.values() if self._stands(each.task) != _LET_GO]
        self._runs = {}
        self.have_ended(np.array([each.task for each in runs], "u4"))
        waiting = np.flatnonzero(self._tasks == _OPEN).astype("u4")
        self._tasks[waiting] = _ENDED
        return runs, waiting + np.uint32(self._first)

    def _stands(self, task: int) -> int:
        at = task - self._first
        return int(self._tasks[at]) if 0 <= at < len(self._tasks) else 0
