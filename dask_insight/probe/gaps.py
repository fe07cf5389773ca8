"""What cannot be recorded in a process, and why: told once, however often it is tried again."""

from __future__ import annotations

from collections import deque


class Gaps:
    """Takes reasons from any thread, until they are taken in turn."""

    def __init__(self, *reasons: str) -> None:
        self._known: dict[str, None] = {}
        self._new: deque[str] = deque()
        self.add(*reasons)

    def add(self, *reasons: str) -> None:
        """Note reasons; '' is none."""
        for reason in reasons:
            if reason and reason not in self._known:
                self._known[reason] = None
                self._new.append(reason)

    def tell_again(self) -> None:
        """All of it is new to somebody."""
        self._new = deque(self._known)

    def take(self) -> list[str]:
        """What is new."""
        return [self._new.popleft() for _ in range(len(self._new))]
