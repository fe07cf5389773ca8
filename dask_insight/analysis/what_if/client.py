"""The client of a simulated run: it hands over what it did, when what it had waited for is there."""

from __future__ import annotations

from heapq import heappush

from .cluster import Cluster
from .model import Model


class Client:
    """Knows which submission follows what."""

    def __init__(self, model: Model, cluster: Cluster) -> None:
        self._cluster, self._releases, self._members = cluster, model.releases, model.members
        self._scheduled = [False] * len(model.members)
        self._submitted = [False] * len(model.members)
        #: The first submission that has not come; the first that was not scheduled.
        self._following = self._left = 0
        #: Tasks that were submitted and have not ended.
        self.pending = 0
        #: Submissions that wait for a task.
        self.answers: dict[int, list[int]] = {}
        for number, release in enumerate(self._releases):
            if release.task >= 0:
                self.answers.setdefault(release.task, []).append(number)
            elif not number:
                self._schedule(0, release.gap)

    def _schedule(self, number: int, moment: float) -> None:
        if not self._scheduled[number]:
            self._scheduled[number] = True
            heappush(self._cluster.events, (moment, self._cluster.first_submission + number))

    def submit(self, number: int, now: float) -> list[int]:
        """Hand over a submission: its tasks."""
        self._submitted[number] = True
        self.pending += len(self._members[number])
        following = number + 1
        if following < len(self._releases):
            release = self._releases[following]
            if release.task < 0 and not release.barrier:
                self._schedule(following, now + release.gap)
        return self._members[number]

    def ended(self, task: int, now: float) -> None:
        """A task has ended that something follows, or the last of all that was submitted."""
        for number in self.answers.pop(task, ()):
            self._schedule(number, now + self._releases[number].gap)
        if self.pending:
            return
        while self._following < len(self._submitted) and self._submitted[self._following]:
            self._following += 1
        if self._following < len(self._releases) and self._releases[self._following].barrier:
            self._schedule(self._following, now + self._releases[self._following].gap)

    def left_over(self, now: float) -> bool:
        """Schedule what would never come, since tasks ended in another order than they were recorded in."""
        while self._left < len(self._scheduled) and self._scheduled[self._left]:
            self._left += 1
        if self._left == len(self._scheduled):
            return False
        self._schedule(self._left, now)
        return True
