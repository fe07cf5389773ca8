"""Time in which workers found out how large results are, which Dask calls writing to disk."""

from __future__ import annotations

import numpy as np

from ..batch import Symbols
from ..lookup import Lookup, is_any, pick, sorted_set
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
    writes = is_any(phases["action"], (WRITE,))
    if not writes.any():
        return writes
    sizers = sizers_of(read)
    rows = Lookup(run).rows(phases["run"])
    found = np.zeros(len(rows), bool)
    mine = np.flatnonzero(writes & (rows >= 0))
    found[mine] = is_any(pick(worker, rows[mine]), sizers)
    return found


def sizers_of(read: Read) -> set[str]:
    """Workers that kept results as if on disk, and whose metrics tell of no writing."""
    if WRITE not in read("phases")["action"].names:
        return set()
    metrics = read("metrics")
    workers, wrote = metrics["worker"], is_any(metrics["activity"], (WRITE,))
    measured = {workers.names[code] for code in sorted_set(workers.codes).tolist()}
    return measured - {workers.names[code] for code in sorted_set(workers.codes[wrote]).tolist()}
