"""Exceptions of attempts, until they are told."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Hashable

#: Characters of an exception and of a traceback.
_TEXT = 20_000
#: Exceptions that are kept, their characters, and those in one message.
_MOST, _KEPT, _MESSAGE = 10_000, 16_000_000, 1_000_000
#: Where a call begins in a traceback, behind bars in one of a group.
_CALL = re.compile(r'\n(?=[ |]*File ")')


def last_calls(trace: str) -> str:
    """Of a long traceback the last calls, each of them whole; of a message that is longer its last lines."""
    if len(trace) <= _TEXT:
        return trace
    end = trace[-_TEXT:]
    if (call := _CALL.search(end)) is not None:
        return end[call.end() :]
    return end.partition("\n")[2] or end


class Errors:
    """What attempts raised: run, key, text and traceback.

    Attributes
    ----------
    dropped
        How many there was no room for; who tells it sets it back.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._kept: deque[tuple[int, Hashable, str, str]] = deque()
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, run: int, key: Hashable, text: str, trace: str) -> None:
        """Keep one, or count it where there is no room."""
        if len(self._kept) >= _MOST or self._size >= _KEPT:
            self.dropped += 1
            return
        text, trace = text[:_TEXT], last_calls(trace)
        self._size += len(text) + len(trace)
        self._kept.append((run, key, text, trace))

    def take(self, most: int) -> list[tuple[int, Hashable, str, str]]:
        """The oldest, so many at most and no more than a message should carry; call again for the rest."""
        found: list[tuple[int, Hashable, str, str]] = []
        size = 0
        while self._kept and len(found) < most and size < _MESSAGE:
            found.append(self._kept.popleft())
            size += sum(map(len, found[-1][2:]))
        self._size -= size
        return found
