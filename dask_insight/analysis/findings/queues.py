"""Threads that were idle beside tasks that waited behind others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...timeline import Moments
from .names import by_code

if TYPE_CHECKING:
    from .facts import Facts

#: Share of all thread time idle beside waiting tasks below which nobody asks what they waited behind.
_LITTLE = 0.02


class Queues:
    """Threads that were idle beside tasks that waited for another one, and on which workers these waited."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        #: Pieces of idle time, none where it is little.
        self._idle = facts.budget.part("placement")
        if facts.spent("placement") < _LITTLE * facts.offered:
            self._idle = self._idle.take(np.zeros(0, "i8"))

    def behind(self, mine: np.ndarray, beyond: np.ndarray) -> np.ndarray:
        """Seconds of each piece in which tasks waited only on the workers of some attempts, beyond a median.

        Of no piece where little time was idle.

        Parameters
        ----------
        mine
            Rows of the attempts.
        beyond
            Share of the time of every attempt that is beyond the median.
        """
        known, worker = self._facts.attempts, self._facts.attempts.worker.codes
        idle = self._idle
        if not len(idle.lane):
            return np.zeros(0)
        behind = []
        for code, those in by_code(worker[mine]).items():
            rows = mine[those]
            stop = known.at("stop", rows)
            late = Moments.of(stop - beyond[rows] * self._facts.length[rows], stop)
            if code in self.by_worker:
                behind.append(late.both(self.by_worker[code]))
        # No two workers are the only one at a time.
        seconds: np.ndarray = Moments.together(behind).within(idle.start, idle.stop) * idle.threads
        return seconds

    @cached_property
    def by_worker(self) -> dict[int, Moments]:
        """When tasks waited for a thread on a worker (by code) and on no other."""
        return self.only_at(self._facts.attempts.worker.codes)

    def only_at(self, place: np.ndarray) -> dict[int, Moments]:
        """When tasks waited for a thread at a place and at no other.

        `place` is the code of that of each attempt.
        """
        known = self._facts.attempts
        waited = by_code(place, known.ran & (known.executing > known.inputs))
        unions = {
            code: Moments.of(known.at("inputs", rows), known.at("executing", rows))
            for code, rows in waited.items()
        }
        if not unions:
            return {}
        many = [len(each.start) for each in unions.values()]
        at = np.repeat(np.fromiter(unions, "i8"), many)
        edge = np.concatenate([each[end] for end in (0, 1) for each in unions.values()])
        order = np.argsort(edge)
        edge = edge[order]
        there = np.cumsum(np.repeat([1, -1], len(at))[order])
        # While one is there, the sum of all codes is its own.
        codes = np.cumsum(np.concatenate((at, -at))[order])
        alone = np.flatnonzero((there[:-1] == 1) & (edge[1:] > edge[:-1]))
        return {
            code: Moments.of(edge[alone[those]], edge[alone[those] + 1])
            for code, those in by_code(codes[alone]).items()
        }
