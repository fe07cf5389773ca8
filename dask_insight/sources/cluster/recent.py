"""What is known of tasks, or submissions, for as long as they are recent."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...schema import NOTHING

#: Tasks that are remembered: of more, the older half is forgotten.
_MOST = 1 << 22


class Recent:
    """A number for each task of a scheduler, whose ids count up; of what is long past nothing is remembered.

    Parameters
    ----------
    nothing
        Stands for a task of which nothing is known; its type is that of all numbers.

    Attributes
    ----------
    first
        The first task that is remembered.
    numbers
        Those of the tasks from there on.
    """

    def __init__(self, nothing: np.generic) -> None:
        self._nothing = nothing
        self.first = 0
        self.numbers: npt.NDArray[Any] = np.full(1 << 12, nothing)

    def places(self, tasks: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
        """Where the numbers of some tasks stand, of those that are remembered, and which these are."""
        told = tasks != NOTHING
        need = int(tasks[told].max(initial=0)) + 1 - self.first
        if need > _MOST:
            gone = need - _MOST // 2
            self.first, self.numbers, need = self.first + gone, self.numbers[gone:].copy(), need - gone
        if need > len(self.numbers):
            grown = np.full(max(need, 2 * len(self.numbers)), self._nothing)
            grown[: len(self.numbers)] = self.numbers
            self.numbers = grown
        known = told & (tasks >= self.first)
        return tasks[known] - self.first, known

    def of(self, tasks: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
        """The numbers of some tasks."""
        known = (tasks >= self.first) & (tasks < self.first + len(self.numbers))
        return np.where(known, self.numbers[np.where(known, tasks - self.first, 0)], self._nothing)
