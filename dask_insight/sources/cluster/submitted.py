"""When tasks were submitted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...schema import NOTHING
from .recent import Recent


class Submitted:
    """When each of one scheduler's tasks was submitted; all ids are the scheduler's own."""

    def __init__(self) -> None:
        #: The submission that brought each task.
        self._submission = Recent(np.uint32(NOTHING))
        self._times: dict[int, float] = {NOTHING: np.nan}

    def made(self, submission: int, time: float) -> None:
        """A submission was made, seconds since the epoch."""
        self._times[submission] = time

    def brought(self, tasks: npt.NDArray[np.uint32], submissions: npt.NDArray[np.uint32]) -> None:
        """These tasks came with these submissions."""
        first = self._submission.first
        at, known = self._submission.places(tasks)
        self._submission.numbers[at] = submissions[known]
        if self._submission.first > first:
            self._forget()

    def times(self, tasks: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """When each of some tasks was submitted; NaN where it is not known."""
        used, inverse = np.unique(self._submission.of(tasks), return_inverse=True)
        return np.array([self._times.get(int(one), np.nan) for one in used], "f8")[inverse]

    def _forget(self) -> None:
        """Forget submissions that brought no task that is remembered."""
        oldest = int(self._submission.numbers.min())
        if oldest != NOTHING:
            self._times = {one: time for one, time in self._times.items() if one >= oldest}
