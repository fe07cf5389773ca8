"""When a person thought, and nobody waited for a result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..tables import plain
from .attempts import Read
from .moments import Moments

#: Seconds without tasks from which a client that runs no cells is not waited for.
_MINUTES = 300.0


def pauses(read: Read, tasks: Iterable[tuple[np.ndarray, ...]], start: float, stop: float) -> Moments:
    """Moments in which no cell ran and no task was there, or, without cells, no task for minutes.

    Parameters
    ----------
    tasks
        When attempts were asked for, and when they had ended, some of them at a time; seconds since the
        epoch, as all moments.
    start, stop
        Only moments between these.
    """
    cells: Any = plain.make(read, "cells")
    began, ended = cells["start"], cells["stop"]
    busy = Moments.together([(began, np.where(np.isnan(ended), np.inf, ended)), *tasks])
    empty = Moments.of(np.array([start]), np.array([stop])).without(busy)
    if len(ended):
        return empty
    long_ = empty.stop - empty.start > _MINUTES
    return Moments(empty.start[long_], empty.stop[long_])
