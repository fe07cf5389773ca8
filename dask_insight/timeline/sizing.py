"""Time in which workers found out how large results are, which Dask calls writing to disk."""

from __future__ import annotations

import numpy as np

from ..lookup import Lookup
from .attempts import Attempts, Read


def sizing(read: Read, attempts: Attempts) -> np.ndarray:
    """Which rows of ``phases`` tell of writing to disk, of workers whose metrics tell of none.

    Keeping a result takes as long as to find out its size and to write others to disk for it.
    """
    phases, metrics = read("phases"), read("metrics")
    action, activity, workers = phases["action"], metrics["activity"], metrics["worker"]
    named = np.array([name == "disk-write" for name in action.names] or [False])
    writes: np.ndarray = named[action.codes]
    if not writes.any():
        return writes
    measured = {workers.names[code] for code in np.unique(workers.codes).tolist()}
    wrote = np.array([name == "disk-write" for name in activity.names] or [False])[activity.codes]
    measured -= {workers.names[code] for code in np.unique(workers.codes[wrote]).tolist()}
    rows = Lookup(attempts.run).rows(phases["run"])
    nothing = np.array([name in measured for name in attempts.worker.names] or [False])
    found = np.zeros(len(rows), bool)
    mine = np.flatnonzero(writes & (rows >= 0))
    found[mine] = nothing[attempts.worker.codes[rows[mine]]]
    return found
