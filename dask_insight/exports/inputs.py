"""Whose results each attempt used, as arrows and links tell it."""

from __future__ import annotations

import numpy as np

from ..lookup import Lookup, spread


class Inputs:
    """Finds the attempts that made what others used.

    Parameters
    ----------
    task, ok, start, stop
        Of each attempt, all at one task side by side; moments in any unit.
    """

    def __init__(self, task: np.ndarray, ok: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        made = np.flatnonzero(ok)
        self._made = made[np.lexsort((stop[made], task[made]))]
        self._makers, self._done = _Groups(task[self._made]), stop[self._made]
        self._users, self._start = _Groups(task), start

    def of(
        self, task: np.ndarray, dependency: np.ndarray, most: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """For tasks and what each needed: rows of attempts that made it, and of all attempts that used it.

        Of results that were made several times it is the last one that was there when the other began, or
        else the first. Of more than `most` pairs there are only those of each task's newest attempts.
        """
        edge, user = spread(*self._users.of(task), most)
        first, end = self._makers.of(dependency[edge])
        there = first < end
        first, last, user = first[there], end[there] - 1, user[there]
        while (first < last).any():
            middle = (first + last + 1) // 2
            in_time = self._done[middle] <= self._start[user]
            last = np.where(in_time, last, np.maximum(first, middle - 1))
            first = np.where(in_time, middle, first)
        return self._made[first], user

    def counts(self, task: np.ndarray, dependency: np.ndarray) -> np.ndarray:
        """How many of these results each attempt used."""
        first, end = self._makers.of(dependency)
        begin, past = self._users.of(task[first < end])
        there = begin < past
        marks = len(self._start) + 1
        begun, over = (np.bincount(at[there], minlength=marks) for at in (begin, past))
        return np.asarray(np.cumsum(begun - over)[:-1])


def most_arrows(task: np.ndarray, attempts: np.ndarray) -> int:
    """More arrows than an honest recording has of these edges and attempts."""
    return 8 * (len(task) + len(attempts)) + (1 << 18)


class _Groups:
    """Where those of one id stand, which are side by side."""

    def __init__(self, ids: np.ndarray) -> None:
        self._last, self._from_behind, self._count = Lookup(ids), Lookup(ids[::-1]), len(ids)

    def of(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First row of each id, and the one after its last; nothing is between them where there is none."""
        return self._count - 1 - self._from_behind.rows(ids), self._last.rows(ids) + 1
