"""Moments of `perf_counter` as seconds since the epoch, also after the computer has slept."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from ...probe.clock import time

#: Seconds by which the two clocks have come apart if the computer slept.
_SLEPT = 1.0


class Epoch:
    """Adds to each moment what the clock was ahead of `perf_counter` then.

    `perf_counter` stands still while a computer sleeps, on most systems, and
    the time of day goes on. Somebody has to `look` now and then. A time of
    day that is set back is not followed: tasks would end before they began.
    """

    def __init__(self) -> None:
        self._looked = perf_counter()
        self._since, self._ahead = [-inf], [time() - self._looked]

    def look(self) -> None:
        """See whether the computer has slept since the last look."""
        now = perf_counter()
        if (ahead := time() - now) - self._ahead[-1] > _SLEPT:
            self._ahead.append(ahead)
            self._since.append(self._looked)
        self._looked = now

    def of(self, moments: Any) -> npt.NDArray[np.float64]:
        """Seconds since the epoch."""
        given = np.asarray(moments, "f8")
        places = np.searchsorted(self._since, given, side="right") - 1
        # What is unknown stays so; it comes after all others.
        return np.asarray(given + np.asarray(self._ahead)[places])
