"""Time for which tasks waited for a lock: of `distributed`, `dask`, `xarray`, or of their own module."""

from __future__ import annotations

import numpy as np

from ...tables.waits import in_locks, in_shared_locks
from .facts import Facts
from .seen_in import share_in


def locked(facts: Facts) -> np.ndarray:
    """Share of the samples' time of each task name, by code, in which it waited for a lock; 0 to 1."""
    return share_in(facts, in_locks(facts.read))


def locked_by_cluster(facts: Facts) -> np.ndarray:
    """The same of locks that all workers share: `Lock`, `MultiLock` and `Semaphore` of `distributed`."""
    return share_in(facts, in_shared_locks(facts.read))
