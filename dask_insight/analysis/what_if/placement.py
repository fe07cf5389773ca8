"""Which worker a task is sent to, and when: Dask's rules."""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush

from .cluster import MANY, Cluster
from .model import Model


class Placement:
    """Places tasks on the workers of a cluster.

    Root-like tasks wait in a queue until a worker has an open place, or go out
    at once in runs of neighbours where queueing is off. Others go where they
    would start soonest among the workers that hold an input.
    """

    def __init__(self, model: Model, cluster: Cluster) -> None:
        self._cluster = cluster
        rootish = model.rootish & (model.group_size > 2 * cluster.total)
        self._rootish = rootish[model.group].tolist()
        self._group, self._group_size = model.group.tolist(), model.group_size.tolist()
        saturation = cluster.costs.saturation
        self._queueing = not math.isinf(saturation)
        self._slots = [
            max(1, math.ceil(saturation * each)) if self._queueing else 0 for each in cluster.threads
        ]
        self.queue: list[int] = []
        self._homeless: list[int] = []
        #: Worker and number of tasks left of the run of neighbours that each group is at.
        self._runs: dict[int, tuple[int, int]] = {}
        self._turn = 0

    def join(self, worker: int, now: float) -> None:
        """A worker is there."""
        cluster = self._cluster
        cluster.alive[worker] = True
        cluster.there.append(worker)
        cluster.has_place(worker)
        cluster.free[worker] = cluster.threads[worker]
        waiting, self._homeless = self._homeless, []
        for task in waiting:
            self.place(task, now)
        self.unqueue(now, worker)
        cluster.start(worker, now)

    def place(self, task: int, now: float) -> None:
        """A task's inputs are in memory: send it to a worker, or let it wait in the queue."""
        if self._rootish[task]:
            heappush(self.queue, task)
            return
        cluster = self._cluster
        home, replicas, needs = cluster.home, cluster.replicas, cluster.needs[task]
        if len(needs) == 1 and needs[0] not in replicas:
            cluster.give(task, home[needs[0]], now)
            return
        candidates = {home[each] for each in needs}
        for each in needs:
            if each in replicas:
                candidates.update(self._some(replicas[each]))
        if len(candidates) == 1:
            worker = candidates.pop()
        elif len(candidates) > MANY:
            worker = cluster.soonest_of_many(task, candidates)
        elif candidates:
            worker = cluster.soonest(task, candidates)
        else:
            worker = self._least()
            if worker < 0:
                self._homeless.append(task)
                return
        cluster.give(task, worker, now)

    def _some(self, workers: list[int]) -> list[int]:
        """Of many workers a few, others each time."""
        if len(workers) <= MANY:
            return workers
        self._turn += 1
        first = self._turn * MANY % len(workers)
        return workers[first : first + MANY]

    def _least(self) -> int:
        """A worker for a task that needs nothing, -1 if none is there.

        Of few workers that with least expected work, each in turn where there is none; of many, as in
        Dask, each in turn, those with an open place first.
        """
        cluster, best, work = self._cluster, -1, math.inf
        if len(cluster.there) >= MANY:
            worker = cluster.next_place()
            if worker < 0:
                self._turn += 1
                worker = cluster.there[self._turn % len(cluster.there)]
            return worker
        count = len(cluster.threads)
        for step in range(count):
            worker = (self._turn + step) % count
            if cluster.alive[worker] and cluster.occupancy[worker] < work - 1e-12:
                best, work = worker, cluster.occupancy[worker]
                if work <= 1e-12:
                    break
        self._turn += 1
        return best

    def unqueue(self, now: float, only: int = -1) -> None:
        """Send queued tasks to workers with an open place; all of them where queueing is off.

        `only` is a worker that joined, or where a task has ended, while tasks were queued: no other has an
        open place then.
        """
        queue, cluster = self.queue, self._cluster
        if not queue:
            return
        processing, threads, slots = cluster.processing, cluster.threads, self._slots
        if not self._queueing:
            while queue and cluster.there:
                self._with_neighbours(heappop(queue), now)
            return
        places = [
            (processing[worker] / threads[worker], worker)
            for worker in (range(len(threads)) if only < 0 else (only,))
            if cluster.alive[worker] and processing[worker] < slots[worker]
        ]
        heapify(places)
        while queue and places:
            _, worker = heappop(places)
            cluster.give(heappop(queue), worker, now)
            if processing[worker] < slots[worker]:
                heappush(places, (processing[worker] / threads[worker], worker))

    def _with_neighbours(self, task: int, now: float) -> None:
        """Send a task where the one before it in its group went, until that worker has its share."""
        cluster, group = self._cluster, self._group[task]
        worker, left = self._runs.get(group, (-1, 0))
        if not left:
            many = len(cluster.there) >= MANY
            worker = self._least() if many else cluster.soonest(task, sorted(cluster.there))
            left = max(1, math.floor(self._group_size[group] / cluster.total * cluster.threads[worker]))
        self._runs[group] = worker, left - 1
        cluster.give(task, worker, now)
