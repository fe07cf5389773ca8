"""Which task each thread of this process runs now."""

from __future__ import annotations

from typing import NamedTuple

from .rows import Rows


class Running(NamedTuple):
    """A task that a thread runs."""

    run: int
    task: int
    worker: str
    thread: int
    start: float


class Activity:
    """Threads of this process and the tasks they run; a task may run another computation."""

    def __init__(self) -> None:
        self._threads: dict[int, list[Running]] = {}
        self._workers: dict[int, str] = {}

    def began(self, thread: int, run: int, task: int, worker: str, start: float) -> None:
        """A thread begins with a task."""
        self._workers[thread] = worker
        running = Running(run, task, worker, thread, start)
        stack = self._threads.get(thread)
        if stack is None:
            self._threads[thread] = [running]
        else:
            stack.append(running)

    def ended(self, thread: int) -> None:
        """It has ended the task it began last."""
        stack = self._threads[thread]
        stack.pop()
        if not stack:
            del self._threads[thread]

    def runs(self) -> dict[int, int]:
        """Thread to the run that it is in now, for the sampler."""
        return {thread: stack[-1].run for thread, stack in list(self._threads.items()) if stack}

    def worker_of(self, thread: int) -> str:
        """The worker that a thread ran for last; '' if none."""
        return self._workers.get(thread, "")

    def running(self) -> list[Running]:
        """All tasks that run now."""
        return [running for stack in list(self._threads.values()) for running in list(stack)]


class Reporter:
    """Tells once of each task that runs for longer than a flush."""

    def __init__(self, activity: Activity, rows: Rows) -> None:
        self._activity = activity
        self._rows = rows
        self._told: set[int] = set()

    def tell(self) -> None:
        """Add those that run now and have not been told of."""
        running = self._activity.running()
        for run, task, worker, thread, start in running:
            if run not in self._told:
                self._rows.add((run, task, worker, str(thread), start))
        self._told = {one.run for one in running}
