"""Garbage collections within the run, and whom they kept waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...batch import Symbols
from ...lookup import Lookup, is_any
from ...timeline import Moments

if TYPE_CHECKING:
    from .facts import Facts


class Garbage(NamedTuple):
    """Collections, one row each; times in seconds since the epoch."""

    process: Symbols
    start: np.ndarray
    stop: np.ndarray
    freed: np.ndarray
    #: Rows of the attempts on whose threads they took place; -1 where that ran none.
    row: np.ndarray

    @property
    def seconds(self) -> np.ndarray:
        """How long each was."""
        length: np.ndarray = self.stop - self.start
        return length

    def when(self, *processes: str) -> Moments:
        """When one of these processes looked for garbage."""
        mine = is_any(self.process, processes)
        return Moments.of(self.start[mine], self.stop[mine])


def garbage(facts: Facts) -> Garbage:
    """All of them; what reaches beyond the run is cut off."""
    table = facts.read("collections")
    stop = np.minimum(table["time"], facts.stop)
    start = np.maximum(table["time"] - table["duration"], facts.start)
    row = Lookup(facts.attempts.run).rows(table["run"])
    return Garbage(table["process"], start, np.maximum(start, stop), table["freed"], row)
