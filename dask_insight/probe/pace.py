"""How often a sampler looks: as its budget allows, and less where there is little to see."""

from __future__ import annotations

#: Seconds over which the cost of a round is averaged before the rate follows it.
_SETTLE = 0.5
#: Share of rounds with something to sample below which the interval grows, to so many times as long where
#: there is nothing, and the weight of the last round in that share.
_BUSY, _DOZE, _LAST = 0.5, 8, 0.1
#: Intervals at most until what stands still is looked at again; each look that finds no change adds one.
_NAP = 4
#: Seconds that a round counts beside the CPU of the sampling thread, for what it costs the others: where the
#: GIL was free, and where a thread that held it had to be stopped and started again. On two virtual cores,
#: sampled minus not, up to 0.3 ms and 0.3 to 0.9 ms; a busy process must not be slowed.
_FREE, _FORCED = 3e-4, 8e-4
#: Seconds late from which a thread is taken to have waited for the GIL.
_LATE = 1e-3


class Pace:
    """Gives the time until the next look.

    Parameters
    ----------
    aim
        Seconds aimed at between two looks.
    budget
        Share of a core that looking may cost, what it costs the threads looked at included.
    dozes
        Whether to look less often while there is little to sample.

    Attributes
    ----------
    interval
        Seconds between two looks that the budget allows; never below `aim`.
    """

    def __init__(self, aim: float, budget: float, dozes: bool) -> None:
        self.aim = aim
        self.budget = budget
        self.interval = max(aim, _FORCED / budget)
        self._dozes = dozes
        self._busy = 1.0
        self._still = 0
        self._settled = 0.0
        self._rounds = 0
        self._cost = 0.0

    def looked(self, found: bool, changed: bool, lasts: bool) -> None:
        """Take what a look showed.

        Parameters
        ----------
        found
            Whether there was anything to sample.
        changed
            Whether any stack, or the threads themselves, are others than at the look before.
        lasts
            Whether something goes on since the look before.
        """
        self._busy += _LAST * (found - self._busy)
        if lasts:
            self._busy = max(self._busy, _BUSY)
        self._still = 0 if changed else self._still + 1

    def spent(self, cpu: float, late: float, now: float) -> float:
        """Follow the budget: the interval at which a round's average cost is just within it.

        Parameters
        ----------
        cpu
            CPU seconds of the sampling thread for this round.
        late
            Seconds by which it came to run too late.
        now
            Seconds on any steady clock.

        Returns
        -------
        float
            Seconds that the round is taken to have cost altogether.
        """
        cost = cpu + (_FORCED if late > _LATE else _FREE)
        self._cost += cost
        self._rounds += 1
        if now - self._settled >= _SETTLE:
            self.interval = max(self.aim, self._cost / self._rounds / self.budget)
            self._settled, self._cost, self._rounds = now, 0.0, 0
        return cost

    def wait(self) -> float:
        """Seconds until the next look."""
        if self._dozes and self._busy < _BUSY:
            # What is missed by that is made up for when runs end.
            return self.interval * (_DOZE - (_DOZE - 1) * self._busy / _BUSY)
        return self.interval * min(1 + self._still, _NAP)
