"""On which threads a worker ran its tasks, also those that it has forgotten already."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class Threads(dict[Hashable, int]):
    """A worker's own table of threads by task, which remembers what was taken out last.

    An attempt that was told to stop, or that asked to be run elsewhere, is forgotten before plugins hear of
    its end.

    Attributes
    ----------
    followers
        How many probes look at it: those of other recorders may be of another version of this package.
    """

    def __init__(self, known: dict[Hashable, int]) -> None:
        super().__init__(known)
        self._last: tuple[Hashable, int] = (None, 0)
        self.followers = 0

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
    """The one that stands in for a worker's table; where Dask keeps it otherwise, it remembers nothing."""
    kept = worker.state.threads
    threads: Threads = kept if hasattr(kept, "followers") else Threads(kept)
    threads.followers += 1
    if threads is not kept and getattr(worker, "threads", None) is kept:
        worker.threads = worker.state.threads = threads
    return threads


def unfollow(worker: Any, threads: Threads) -> None:
    """Give a worker a plain table again when the last one leaves, unless somebody has put in another."""
    threads.followers -= 1
    if not threads.followers and worker.state.threads is threads:
        worker.threads = worker.state.threads = dict(threads)
