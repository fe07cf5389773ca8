"""The times for which attempts held a thread of their worker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..lookup import Lookup, all_or, is_any, sums
from ..schema import SECEDED
from .ascending import Ascending
from .attempts import Attempts, Read
from .fields import Fields, Moment, Number
from .micros import Micros
from .moments import Moments

#: Seconds up to which what follows goes on: parts may have come with different estimates of a clock.
_TOUCH = 0.001


@dataclass(frozen=True, eq=False, kw_only=True)
class Stretches(Fields):
    """One row each; an attempt that gave its thread back meanwhile (seceded) has several, or ends earlier.

    Those that never ran have a row, too. Times in seconds since the epoch, as of `Attempts`.
    """

    #: Row of the attempt.
    attempt: Number = Number()
    place: np.ndarray
    #: When it was given the thread, its function ran on it from and to, and when the thread was free again.
    executing: Moment = Moment()
    start: Moment = Moment()
    stop: Moment = Moment()
    ended: Moment = Moment()
    #: Whether the attempt had begun before, on a thread that it gave back.
    resumed: np.ndarray

    def of(self, attempts: np.ndarray) -> Stretches:
        """Those of some attempts, a mask; rows count only these from then on."""
        number = np.cumsum(attempts) - 1
        picked = self.some(attempts[self.attempt])
        return Stretches(**{**picked, "attempt": number[picked["attempt"]]})

    def held(
        self, count: int, still: Moments | None = None, part: tuple[float, float] | None = None
    ) -> np.ndarray:
        """Seconds for which the function of each of `count` attempts held a thread, without some moments.

        Of a part of the time if one is given, its begin and end.
        """
        start, stop = self.start, self.stop
        if part:
            start, stop = np.clip(start, *part), np.clip(stop, *part)
        seconds = stop - start
        if still is not None and len(still.start):
            seconds -= still.within(start, stop)
        seconds = np.where(self.place >= 0, seconds, 0.0)
        return seconds if self.whole(count) else sums(self.attempt, seconds, count)

    def whole(self, count: int) -> bool:
        """Whether each of `count` attempts has one, in their order."""
        kept = self.kept("attempt")
        return kept == Ascending(count) if isinstance(kept, Ascending) else all_or(kept, count) is None


def stretches(read: Read, attempts: Attempts) -> Stretches:
    """Cut out of each attempt when its thread was not one of its worker's."""
    count = len(attempts.run)
    whole = Stretches(
        attempt=Ascending(count),
        place=attempts.place,
        executing=attempts.kept("executing"),
        start=attempts.kept("start"),
        stop=attempts.kept("stop"),
        ended=attempts.kept("ended"),
        resumed=np.broadcast_to(False, count),
    )
    row, left, back = _away(read, attempts)
    if not len(row):
        return whole
    # From the start, and from each return, to the next time that it left or its end.
    cut = np.unique(row)
    row, begin = np.concatenate((row, cut)), np.concatenate((back, attempts.at("start", cut)))
    order = np.lexsort((begin, row))
    row, begin = row[order], begin[order]
    first, last = np.ones((2, len(row)), bool)
    first[1:] = last[:-1] = row[1:] != row[:-1]
    end = np.empty(len(row))
    end[~last] = left
    end[last] = attempts.at("stop", row[last])
    lasts = first | (end > begin)
    row, begin, end = row[lasts], begin[lasts], end[lasts]
    first, last = first[lasts], last[lasts]
    pieces = {
        "attempt": row,
        "place": attempts.place[row],
        "executing": np.where(first, attempts.at("executing", row), begin),
        "start": begin,
        "stop": end,
        "ended": np.where(last & (end > begin), attempts.at("ended", row), end),
        "resumed": ~first,
    }
    rest = np.ones(count, bool)
    rest[cut] = False
    both = {name: np.concatenate((whole.at(name, rest), more)) for name, more in pieces.items()}
    return Stretches(
        attempt=both["attempt"],
        place=both["place"],
        executing=Micros.of(both["executing"]),
        start=Micros.of(both["start"]),
        stop=Micros.of(both["stop"]),
        ended=Micros.of(both["ended"]),
        resumed=both["resumed"],
    )


def _away(read: Read, attempts: Attempts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attempts by row, when each gave its thread back and when it had one again, or ended; in their order."""
    phases = read("phases")
    mine = np.flatnonzero(is_any(phases["action"], (SECEDED,)))
    row = Lookup(attempts.run).rows(phases["run"][mine])
    kept = (row >= 0) & (np.append(attempts.place, -1)[row] >= 0)
    row, mine = row[kept], mine[kept]
    left = np.clip(phases["start"][mine], attempts.at("start", row), attempts.at("stop", row))
    back = np.clip(phases["stop"][mine], left, attempts.at("stop", row))
    known = np.isfinite(left) & np.isfinite(back)
    row, left, back = row[known], left[known], back[known]
    order = np.lexsort((left, row))
    row, left, back = row[order], left[order], back[order]
    if not len(row):
        return row, left, back
    # What is told in parts is one.
    new = np.ones(len(row), bool)
    new[1:] = (row[1:] != row[:-1]) | (left[1:] > back[:-1] + _TOUCH)
    return row[new], left[new], back[np.append(new[1:], True)]
