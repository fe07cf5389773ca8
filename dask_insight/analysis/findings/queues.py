"""Threads that were idle beside tasks that waited behind others."""

from __future__ import annotations

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
        known, pieces = facts.attempts, facts.pieces
        #: Rows of the pieces of idle time.
        self.idle = np.flatnonzero(facts.is_part("placement"))
        if float(facts.seconds[self.idle].sum()) < _LITTLE * facts.offered:
            self.idle = self.idle[:0]
        self._facts = facts
        self._start, self._stop = pieces.start[self.idle], pieces.stop[self.idle]
        self._threads = pieces.threads[self.idle]
        #: Rows of the attempts that waited for a thread; nobody asks for them where no time is idle.
        self._waited: np.ndarray = np.flatnonzero(known.ran & (known.executing > known.inputs))
        self._of: dict[int, Moments] = {}

    def behind(self, mine: np.ndarray, beyond: np.ndarray) -> np.ndarray:
        """Seconds of each piece in which tasks waited only on the workers of some attempts, beyond a median.

        Parameters
        ----------
        mine
            Rows of the attempts.
        beyond
            Share of the time of every attempt that is beyond the median.
        """
        known, worker = self._facts.attempts, self._facts.attempts.worker.codes
        seconds = np.zeros(len(self.idle))
        for code in np.unique(worker[mine]).tolist() if len(self.idle) else ():
            rows = mine[worker[mine] == code]
            late = Moments.of(known.stop[rows] - beyond[rows] * self._facts.length[rows], known.stop[rows])
            seconds += late.both(self._only(code)).within(self._start, self._stop) * self._threads
        return seconds

    def _only(self, code: int) -> Moments:
        """When tasks waited on this worker and on no other."""
        if code not in self._of:
            known, waited = self._facts.attempts, self._waited
            mine = known.worker.codes[waited] == code
            here, elsewhere = (
                Moments.of(known.inputs[rows], known.executing[rows])
                for rows in (waited[mine], waited[~mine])
            )
            self._of[code] = here.without(elsewhere)
        return self._of[code]
