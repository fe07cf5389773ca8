"""Which task each thread of this process runs now."""

from __future__ import annotations

from typing import Any

from .rows import Rows

#: Thread to what it runs: run, task, worker, moment of its start, and the same of the task around it.
Activity = dict[int, tuple[int, int, str, float, Any]]


def runs(activity: Activity) -> dict[int, int]:
    """Thread to the run that it is in now, for a sampler."""
    return {thread: running[0] for thread, running in activity.copy().items()}


class Reporter:
    """Tells once of each task that is still running when rows are flushed."""

    def __init__(self, activity: Activity, rows: Rows) -> None:
        self._activity = activity
        self._rows = rows
        self._told: set[int] = set()

    def tell(self) -> None:
        """Add those that run now and have not been told of."""
        told: set[int] = set()
        for thread, running in self._activity.copy().items():
            one: Any = running
            while one is not None:
                run, task, worker, start, one = one
                told.add(run)
                if run not in self._told:
                    self._rows.add((run, task, worker, str(thread), start))
        self._told = told
