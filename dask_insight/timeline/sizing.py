"""Time in which workers found out how large results are, which Dask calls writing to disk."""

from __future__ import annotations

import numpy as np

from ..batch import Symbols
from ..lookup import Lookup, sorted_set
from .attempts import Attempts, Read

#: What Dask calls it.
WRITE = "disk-write"


def sizing(read: Read, attempts: Attempts) -> np.ndarray:
    """Which rows of ``phases`` tell of writing to disk, of workers whose metrics tell of none.

    Keeping a result takes as long as to find out its size and to write others to disk for it.
    """
    return sizing_of(read, attempts.run, attempts.worker)


def sizing_of(read: Read, run: np.ndarray, worker: Symbols) -> np.ndarray:
    """The same, of attempts by their ids and workers."""
    phases = read("phases")
    action = phases["action"]
    writes: np.ndarray = np.array([name == WRITE for name in action.names] or [False])[action.codes]
    if not writes.any():
        return writes
    sizers = sizers_of(read)
    rows = Lookup(run).rows(phases["run"])
    nothing = np.array([name in sizers for name in worker.names] or [False])
    found = np.zeros(len(rows), bool)
    mine = np.flatnonzero(writes & (rows >= 0))
    found[mine] = nothing[worker.codes[rows[mine]]]
    return found


def sizers_of(read: Read) -> set[str]:
    """Workers that kept results as if on disk, and whose metrics tell of no writing."""
    if WRITE not in read("phases")["action"].names:
        return set()
    metrics = read("metrics")
    activity, workers = metrics["activity"], metrics["worker"]
    wrote = np.array([name == WRITE for name in activity.names] or [False])[activity.codes]
    measured = {workers.names[code] for code in sorted_set(workers.codes).tolist()}
    return measured - {workers.names[code] for code in sorted_set(workers.codes[wrote]).tolist()}
