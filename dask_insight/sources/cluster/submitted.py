"""When tasks were submitted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...schema import NOTHING
from .recent import Recent


class Submitted:
    """When each of one scheduler's tasks was submitted; all ids are the scheduler's own."""

    def __init__(self) -> None:
        #: The submission that brought each task, and when each submission was made.
        self._submission, self._time = Recent(np.uint32(NOTHING)), Recent(np.float64(np.nan))

    def made(self, submissions: npt.NDArray[np.uint32], times: npt.NDArray[np.float64]) -> None:
        """These submissions were made at these times, seconds since the epoch."""
        at, known = self._time.places(submissions)
        self._time.numbers[at] = times[known]

    def brought(self, tasks: npt.NDArray[np.uint32], submissions: npt.NDArray[np.uint32]) -> None:
        """These tasks came with these submissions."""
        at, known = self._submission.places(tasks)
        self._submission.numbers[at] = submissions[known]

    def times(self, tasks: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """When each of some tasks was submitted; NaN where it is not known."""
        return self._time.of(self._submission.of(tasks))
