"""When tasks were submitted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...schema import NOTHING

#: Tasks that are remembered: of more, the older half is forgotten.
_MOST = 1 << 22


class Submitted:
    """When each of one scheduler's tasks was submitted; of those that are long past nothing is remembered.

    All ids are the scheduler's own, which count up.
    """

    def __init__(self) -> None:
        #: The first task that is remembered, and the submission of each from there on.
        self._first = 0
        self._submission = np.full(1 << 12, NOTHING, "u4")
        self._times: dict[int, float] = {NOTHING: np.nan}

    def made(self, submission: int, time: float) -> None:
        """A submission was made, seconds since the epoch."""
        self._times[submission] = time

    def brought(self, tasks: npt.NDArray[np.uint32], submissions: npt.NDArray[np.uint32]) -> None:
        """These tasks came with these submissions."""
        known = tasks >= self._first
        at = tasks[known] - self._first
        need = int(at.max(initial=0)) + 1
        if need > len(self._submission):
            grown = np.full(max(need, 2 * len(self._submission)), NOTHING, "u4")
            grown[: len(self._submission)] = self._submission
            self._submission = grown
        self._submission[at] = submissions[known]
        if need > _MOST:
            self._forget(need - _MOST // 2)

    def times(self, tasks: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """When each of some tasks was submitted; NaN where it is not known."""
        known = (tasks >= self._first) & (tasks < self._first + len(self._submission))
        submission = np.where(known, self._submission[np.where(known, tasks - self._first, 0)], NOTHING)
        used, inverse = np.unique(submission, return_inverse=True)
        return np.array([self._times.get(int(one), np.nan) for one in used], "f8")[inverse]

    def _forget(self, tasks: int) -> None:
        """Forget so many of the oldest tasks, and submissions that brought no other."""
        self._first += tasks
        self._submission = self._submission[tasks:].copy()
        oldest = int(self._submission.min())
        if oldest != NOTHING:
            self._times = {one: time for one, time in self._times.items() if one >= oldest}
