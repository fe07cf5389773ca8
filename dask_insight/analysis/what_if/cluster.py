"""The workers of a simulated cluster, and what its scheduler knows of them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush

from .model import Model
from .setting import Setting

#: Seconds between two rounds of work stealing, Dask's default.
ROUND = 0.1
#: Workers from which not all are compared for each task; from as many Dask takes each in turn.
MANY = 20
#: Seconds that Dask adds to the transfers of a task that it thinks of moving.
_LATENCY = 0.1


class Cluster:
    """Workers with threads, queues and one incoming link each.

    Tasks are numbered by rank, so that of those that could run the least runs
    first. Events are numbers in a heap of (moment, number): from 0 a task that
    ends, from `first_join` a worker that joins, from `first_submission` a
    submission, `balance` a round of stealing; -1 - w is worker w that looks
    for something to run.
    """

    def __init__(self, model: Model, setting: Setting) -> None:
        count, workers = len(model.hold), len(setting.threads)
        self.costs, self.threads, self.total = setting.costs, setting.threads, sum(setting.threads)
        self.hold = (model.hold + setting.costs.handoff).tolist()
        self.needs, self.nbytes = model.needed, model.nbytes.tolist()
        self.expected: list[float] = model.expected.tolist()
        self.stealable: list[bool] = model.stealable.tolist()
        self.events: list[tuple[float, int]] = []
        self.first_join, self.first_submission = count, count + workers
        self.balance = self.first_submission + len(model.members)
        #: Worker of each task, -1 before it has one; moments at which copies came, by worker and task.
        self.home = [-1] * count
        self.copies: list[dict[int, float]] = [{} for _ in range(workers)]
        self.replicas: dict[int, list[int]] = {}
        #: What is on its way to each worker, with its moment; what could run there.
        self.incoming: list[list[tuple[float, int]]] = [[] for _ in range(workers)]
        self.ready: list[list[int]] = [[] for _ in range(workers)]
        self.levels = _Levels(self)
        self.free, self.alive = [0] * workers, [False] * workers
        #: Those that joined; those that had fewer tasks than threads since, the first of them first.
        self.there: list[int] = []
        self._places: deque[int] = deque()
        #: When each worker looks again; when its link is free.
        self.wake, self.link = [math.inf] * workers, [0.0] * workers
        #: Tasks sent to each worker that have not ended, and the seconds that Dask expects of them.
        self.processing, self.occupancy = [0] * workers, [0.0] * workers
        #: Workers with more tasks than threads, and some that had.
        self.crowded: set[int] = set()
        #: Tasks that wait on workers; workers with fewer tasks than threads.
        self.waiting = self.unfilled = 0
        self.balancing = False
        #: Workers and tasks that were looked at in rounds of stealing.
        self.looks = 0
        self.moved = 0.0
        self._down, self._several = setting.costs.down, workers > 1
        self._sizes = set(setting.threads)

    def wait(self, task: int, worker: int) -> float:
        """Seconds until a task might start on a worker, as Dask expects."""
        copies, home, size = self.copies[worker], self.home, 0.0
        for each in self.needs[task]:
            if home[each] != worker and each not in copies:
                size += self.nbytes[each]
        return self.occupancy[worker] / self.threads[worker] + size / self.costs.bandwidth

    def soonest(self, task: int, workers: Iterable[int]) -> int:
        """The worker of some on which a task might start first: of least `wait`."""
        needs, home, nbytes, bandwidth = self.needs[task], self.home, self.nbytes, self.costs.bandwidth
        best, least = -1, math.inf
        # As `wait` does, without a call for each: most of a simulation's time is spent here.
        for worker in workers:
            copies, size = self.copies[worker], 0.0
            for each in needs:
                if home[each] != worker and each not in copies:
                    size += nbytes[each]
            seconds = self.occupancy[worker] / self.threads[worker] + size / bandwidth
            if seconds < least:
                best, least = worker, seconds
        return best

    def soonest_of_many(self, task: int, workers: Iterable[int]) -> int:
        """The same, in time that grows with the workers and the inputs, not with one times the other."""
        held, whole = dict.fromkeys(workers, 0.0), 0.0
        for each in self.needs[task]:
            size = self.nbytes[each]
            whole += size
            for worker in {self.home[each], *self.replicas.get(each, ())}:
                if worker in held:
                    held[worker] += size
        bandwidth, occupancy, threads = self.costs.bandwidth, self.occupancy, self.threads
        return min(held, key=lambda each: occupancy[each] / threads[each] + (whole - held[each]) / bandwidth)

    def has_place(self, worker: int) -> None:
        """A worker has fewer tasks than threads now."""
        self.unfilled += 1
        self._places.append(worker)

    def next_place(self) -> int:
        """The worker that has had fewer tasks than threads for longest, or since its turn; -1 for none."""
        places = self._places
        while places:
            worker = places.popleft()
            if self.processing[worker] < self.threads[worker]:
                places.append(worker)
                return worker
        return -1

    def idle_below(self, work: float) -> dict[int, float]:
        """Expected work below which Dask calls a worker unoccupied, by its threads.

        `work` is the sum of all `occupancy`. One with fewer tasks than threads is unoccupied anyway.
        """
        return {threads: threads * work / self.total / 2 for threads in self._sizes}

    def give(self, task: int, worker: int, now: float) -> None:
        """Send a task to a worker, which fetches what it lacks."""
        self.home[task] = worker
        processing = self.processing[worker] = self.processing[worker] + 1
        self.occupancy[worker] += self.expected[task]
        self.waiting += 1
        threads = self.threads[worker]
        if processing == threads:
            self.unfilled -= 1
        elif processing > threads:
            self.crowded.add(worker)
            if self.unfilled and not self.balancing:
                self.plan_balance(now)
        arrival = now + self._down
        if self._several and self.needs[task]:
            arrival = self._fetch(task, worker, arrival)
        heappush(self.incoming[worker], (arrival, task))
        if self.free[worker] and arrival < self.wake[worker]:
            self.wake[worker] = arrival
            heappush(self.events, (arrival, -1 - worker))

    def take_back(self, task: int, worker: int) -> None:
        """Forget that a task was sent to a worker, or that it is there still."""
        processing = self.processing[worker] = self.processing[worker] - 1
        if processing == self.threads[worker] - 1:
            self.has_place(worker)
        self.occupancy[worker] -= self.expected[task]

    def _fetch(self, task: int, worker: int, now: float) -> float:
        """When all inputs of a task are on a worker."""
        home, nbytes, copies = self.home, self.nbytes, self.copies[worker]
        there, size, missing = now, 0.0, []
        for each in self.needs[task]:
            if home[each] != worker:
                copy = copies.get(each)
                if copy is None:
                    missing.append(each)
                    size += nbytes[each]
                elif copy > there:
                    there = copy
        if not missing:
            return there
        self.moved += size
        self.link[worker] = max(now, self.link[worker]) + size / self.costs.bandwidth
        there = max(there, self.link[worker] + self.costs.latency)
        for each in missing:
            copies[each] = there
            if each in self.replicas:
                self.replicas[each].append(worker)
            else:
                self.replicas[each] = [worker]
        return there

    def start(self, worker: int, now: float) -> None:
        """Give free threads to tasks whose inputs have come."""
        incoming, ready = self.incoming[worker], self.ready[worker]
        while incoming and incoming[0][0] <= now:
            heappush(ready, heappop(incoming)[1])
        free = self.free[worker]
        while free and ready:
            task = heappop(ready)
            free -= 1
            self.waiting -= 1
            heappush(self.events, (now + self.hold[task], task))
        self.free[worker] = free
        if not free:
            return
        if incoming:
            if incoming[0][0] < self.wake[worker]:
                self.wake[worker] = incoming[0][0]
                heappush(self.events, (incoming[0][0], -1 - worker))
        elif self.waiting and not self.balancing:
            self.plan_balance(now)

    def plan_balance(self, now: float) -> None:
        """Let the next round of stealing come, if there are several workers."""
        if self._several:
            self.balancing = True
            heappush(self.events, ((math.floor(now / ROUND) + 1) * ROUND, self.balance))


class _Levels(dict[int, int]):
    """How dear it is to move each task beside its computing: 0 for free. Worked out where it is asked for."""

    def __init__(self, cluster: Cluster) -> None:
        # Not the cluster, which would outlive its simulation by a cycle.
        self._needs, self._nbytes = cluster.needs, cluster.nbytes
        self._expected, self._bandwidth = cluster.expected, cluster.costs.bandwidth

    def __missing__(self, task: int) -> int:
        needs = self._needs[task]
        level = 0
        if needs:
            size = sum(self._nbytes[each] for each in needs)
            ratio = (size / self._bandwidth + _LATENCY) / max(self._expected[task], 1e-6)
            level = max(1, round(math.log2(ratio) + 6))
        self[task] = level
        return level
