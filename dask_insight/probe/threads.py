"""On which threads a worker ran its tasks, also those that it has forgotten already."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class Threads(dict[Hashable, int]):
    """A worker's own table of threads by task, which remembers what was taken out last.

    An attempt that was told to stop, or that asked to be run elsewhere, is forgotten before plugins hear of
    its end.
    """

    def __init__(self, known: dict[Hashable, int]) -> None:
        super().__init__(known)
        self._last: tuple[Hashable, int] = (None, 0)

    def pop(self, key: Hashable, *default: Any) -> Any:
        """Take a task out."""
        thread = super().pop(key, *default)
        self._last = key, thread or 0
        return thread

    def forgotten(self, key: Hashable) -> int:
        """The thread of a task that was taken out just now; 0 if that was another, or never ran."""
        last, thread = self._last
        return thread if key == last else 0


def follow(worker: Any) -> Threads:
    """Stand in for a worker's table; where Dask keeps it otherwise, nothing is remembered."""
    kept = worker.state.threads
    threads = Threads(kept)
    if getattr(worker, "threads", None) is kept:
        worker.threads = worker.state.threads = threads
    return threads


def unfollow(worker: Any, threads: Threads) -> None:
    """Give a worker a plain table again, unless somebody has put another one in the place of ours."""
    if worker.state.threads is threads:
        worker.threads = worker.state.threads = dict(threads)
