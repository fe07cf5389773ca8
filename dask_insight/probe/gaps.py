"""What cannot be recorded in a process, and why: told once, however often it is tried again."""

from __future__ import annotations

from collections import deque


class Gaps:
    """Takes reasons from any thread, until they are taken in turn."""

    def __init__(self, *reasons: str) -> None:
        self._known: set[str] = set()
        self._new: deque[str] = deque()
        self.add(*reasons)

    def add(self, *reasons: str) -> None:
        """Note reasons; '' is none."""
        for reason in reasons:
            if reason and reason not in self._known:
                self._known.add(reason)
                self._new.append(reason)

    def take(self) -> list[str]:
        """What is new."""
        return [self._new.popleft() for _ in range(len(self._new))]
