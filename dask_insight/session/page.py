"""Where one page that follows a feed stands."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from ..answers import MADE
from ..store import Piece
from .explainer import CODE, Edition

#: Bytes and messages that a page may leave unacknowledged before it is sent no more.
CREDIT = 16 * 2**20
CREDIT_MESSAGES = 600
#: Bytes with which one begins that acknowledges promptly: what is on its way has everybody else wait.
FIRST_CREDIT = 2 * 2**20
#: Seconds within which what it acknowledges adds to its credit; if it takes longer, it begins anew.
QUICK = 1.0
#: Least seconds between messages to a page that has used it up: in many hosts its answers wait for the cell.
TRICKLE = 5.0
#: Seconds without any sign of a page that was sent something, after which it is forgotten.
LEASE = 600.0
#: The same for one that acknowledges promptly and has used up its credit.
PROMPT_LEASE = 60.0


class Page:
    """Where one page stands."""

    def __init__(self, at: int, upto: int, visible: bool, turnover: float) -> None:
        self.at = at
        #: Where the recording ended when the page began.
        self.upto = upto
        #: Worked-out tables that it shows, and the number of the edition that it has of each.
        self.needs: frozenset[str] = frozenset()
        self.has: dict[str, int] = {}
        self.visible = visible
        #: It speaks another protocol.
        self.foreign = False
        #: It can read compressed batches.
        self.unpacks = False
        #: Its acknowledgements wait for no cell.
        self.prompt = False
        self.turnover = turnover
        self.served = 0.0
        self.seen = time.monotonic()
        self.unanswered = True
        #: Position, bytes and time of what it has not acknowledged.
        self._sent: deque[tuple[int, int, float]] = deque()
        self._bytes = 0
        self._credit = FIRST_CREDIT

    def ready(self, end: int) -> bool:
        """Whether it lacks batches and may be sent some."""
        return self.rest(end) == 0

    def rest(self, end: int) -> float | None:
        """Seconds until it may be sent the batches that it lacks; None if it lacks none or is to get none."""
        if not self.visible or self.foreign or self.unanswered or self.at >= end:
            return None
        return self._owed()

    @property
    def listening(self) -> bool:
        """Whether somebody looks at it and it has taken in what it was sent, or has had time for it."""
        return self.visible and not self.foreign and self._owed() == 0

    def _owed(self) -> float | None:
        """Seconds until its credit counts no more; None if only what it acknowledges helps."""
        if not self._used_up:
            return 0.0
        return None if self.prompt else max(0.0, self.served + TRICKLE - time.monotonic())

    @property
    def _used_up(self) -> bool:
        credit = self._credit if self.prompt else CREDIT
        return self._bytes >= credit or len(self._sent) >= CREDIT_MESSAGES

    @property
    def caught_up(self) -> bool:
        """Whether it has what there was when it began: answers to that make sense only then."""
        return not self.unanswered and self.at >= self.upto

    def anew(self, end: int) -> None:
        """It has to begin from the beginning."""
        self.at, self.upto = 0, end

    def gone(self, now: float, lease: float) -> bool:
        """Whether it was silent for so long, more than `lease` seconds, that it must have been closed."""
        if self.prompt and self._used_up:
            return now - max(self.seen, self.served) > PROMPT_LEASE
        return (bool(self._sent) or self.foreign) and now - self.seen > lease

    def took(self, piece: Piece, turnover: float) -> None:
        """It has been sent batches."""
        if piece.start == 0:
            self._sent.clear()
            self._bytes = 0
            self.has.clear()
            self.turnover = turnover
        self.at = piece.stop
        self._owes(piece.size)

    def learned(self, editions: Mapping[str, Edition], size: int) -> None:
        """It has been sent tables that were worked out."""
        self.has |= {table: edition.number for table, edition in editions.items()}
        self._owes(size)

    def _owes(self, size: int) -> None:
        self.served = time.monotonic()
        self._sent.append((self.at, size, self.served))
        self._bytes += size

    def acknowledged(self, at: int) -> None:
        """It says that it has taken in the batches before `at`."""
        before, sent = self._bytes, time.monotonic()
        while self._sent and self._sent[0][0] <= at:
            _, size, sent = self._sent.popleft()
            self._bytes -= size
        if time.monotonic() - sent > QUICK:
            self._credit = FIRST_CREDIT
        elif 2 * before >= self._credit:
            self._credit = min(self._credit + before - self._bytes, CREDIT)


def count(value: Any) -> int:
    """A number in a page's message; 0 if it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def tables(value: Any) -> frozenset[str]:
    """The tables that an explainer can give, in a page's list of names."""
    known = {*MADE, *CODE}
    return frozenset(value) & known if isinstance(value, list) and _all_text(value) else frozenset()


def _all_text(values: list[Any]) -> bool:
    return all(isinstance(each, str) for each in values)
