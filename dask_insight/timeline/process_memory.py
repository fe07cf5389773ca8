"""How much memory the processes of workers had, by all who tell of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..batch import Symbols
from ..lookup import coded
from .attempts import Read
from .standstills import HEADS


class ProcessMemory(NamedTuple):
    """One row a sample."""

    worker: Symbols
    #: Seconds since the epoch.
    time: np.ndarray
    #: Bytes; NaN where it is not known.
    nbytes: np.ndarray

    def between(self, start: float, stop: float) -> ProcessMemory:
        """The samples between two moments that tell it."""
        rows = np.flatnonzero((self.time >= start) & (self.time <= stop) & np.isfinite(self.nbytes))
        worker = Symbols(self.worker.codes[rows], self.worker.names)
        return ProcessMemory(worker, self.time[rows], self.nbytes[rows])


def process_memory(read: Read) -> ProcessMemory:
    """What workers tell with their heartbeats, and what is sampled between these, of which peaks are seen."""
    told, sampled = read("memory"), read("resources")
    names = list(dict.fromkeys((*told["worker"].names, *sampled["process"].names)))
    names = [name for name in names if name not in HEADS]
    worker = np.concatenate((coded(told["worker"], names), coded(sampled["process"], names)))
    known = np.flatnonzero(worker >= 0)
    return ProcessMemory(
        Symbols(worker[known].astype("u4"), names),
        np.concatenate((told["time"], sampled["time"]))[known],
        np.concatenate((told["process"], sampled["memory"]))[known],
    )
