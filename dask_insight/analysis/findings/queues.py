"""Threads that were idle beside tasks that waited behind others."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...timeline import Moments

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
        self._of: dict[int, Moments] = {}

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
        seconds = np.zeros(len(idle.lane))
        for code in np.unique(worker[mine]).tolist() if len(seconds) else ():
            rows = mine[worker[mine] == code]
            late = Moments.of(
                known.at("stop", rows) - beyond[rows] * self._facts.length[rows], known.at("stop", rows)
            )
            seconds += late.both(self._only(code)).within(idle.start, idle.stop) * idle.threads
        return seconds

    @cached_property
    def _waited(self) -> np.ndarray:
        """Rows of the attempts that waited for a thread."""
        known = self._facts.attempts
        rows: np.ndarray = np.flatnonzero(known.ran & (known.executing > known.inputs)).astype("i4")
        return rows

    def _only(self, code: int) -> Moments:
        """When tasks waited on this worker and on no other."""
        if code not in self._of:
            known, waited = self._facts.attempts, self._waited
            mine = known.worker.codes[waited] == code
            here, elsewhere = (
                Moments.of(known.at("inputs", rows), known.at("executing", rows))
                for rows in (waited[mine], waited[~mine])
            )
            self._of[code] = here.without(elsewhere)
        return self._of[code]
