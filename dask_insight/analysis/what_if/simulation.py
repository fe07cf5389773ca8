"""A cluster that runs a recorded graph, with Dask's order and placement as far as they matter.

What is kept: a task runs on a thread of the worker that was chosen when its
last input was in memory; the worker takes the task of least rank whose inputs
are there; root-like tasks wait in the scheduler's queue for an open place (or
are spread in runs of neighbours where queueing is off); others go where they
would start soonest by the expected work and the bytes to be moved; idle
workers steal ten times a second; the scheduler handles one ended task after
the other; the client waits between submissions as it did.

What is left out: memory, contention for cores, network and the interpreter's
lock, restrictions, failures.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .model import Model
from .setting import Setting

#: Seconds between two rounds of work stealing, Dask's default.
_ROUND = 0.1
#: Seconds that Dask adds to the transfers of a task it thinks of moving.
_LATENCY = 0.1
#: Tasks of one victim that are looked at in a round of stealing.
_LOOKED_AT = 1000


class Outcome(NamedTuple):
    """What a simulated run came to. Seconds, bytes."""

    seconds: float
    #: Thread-seconds in which tasks held a thread.
    busy: float
    threads: int
    moved: float
    stolen: int


def simulate(model: Model, setting: Setting) -> Outcome:
    """Run the graph of a model on a cluster."""
    run = _Run(model, setting)
    return run.outcome()


class _Run:
    """One run. Tasks are numbered by rank, so that the least number goes first."""

    def __init__(self, model: Model, setting: Setting) -> None:
        costs, count = setting.costs, len(model.hold)
        self.costs, self.threads = costs, setting.threads
        self.hold = (model.hold + costs.handoff).tolist()
        self.users, self.needs = model.users, model.needed
        self.missing = model.missing.tolist()
        self.nbytes = model.nbytes.tolist()
        self.expected = model.expected.tolist()
        self.stealable = model.stealable.tolist()
        self.members = model.members
        total = sum(setting.threads)
        rootish = model.rootish & (model.group_size > 2 * total)
        self.rootish = rootish[model.group].tolist()
        self.group, self.group_size = model.group.tolist(), model.group_size.tolist()
        self.total = total
        self.events: list[tuple[float, int]] = []
        # Events by number: a task ends, a worker joins, a submission, stealing; below 0 a worker looks.
        self.first_join, self.first_submission = count, count + len(setting.threads)
        self.balance = self.first_submission + len(model.members)
        self.releases = model.releases
        self.after_task: dict[int, list[int]] = {}
        self.scheduled = [False] * len(model.members)
        self.submitted = [False] * len(model.members)
        self.pending = self.following = 0
        workers = len(setting.threads)
        self.home = [-1] * count
        self.copies: list[dict[int, float]] = [{} for _ in range(workers)]
        self.replicas: dict[int, list[int]] = {}
        self.incoming: list[list[tuple[float, int]]] = [[] for _ in range(workers)]
        self.ready: list[list[int]] = [[] for _ in range(workers)]
        self.free, self.alive = [0] * workers, [False] * workers
        self.wake = [math.inf] * workers
        self.processing, self.occupancy = [0] * workers, [0.0] * workers
        self.link = [0.0] * workers
        self.slots = [
            math.inf if math.isinf(costs.saturation) else max(1, math.ceil(costs.saturation * each))
            for each in setting.threads
        ]
        self.queue: list[int] = []
        self.homeless: list[int] = []
        self.last: dict[int, tuple[int, int]] = {}
        self.scheduler = self.end = self.moved = 0.0
        self.stolen = self.waiting = self.turn = self.unfilled = 0
        self.balancing = False
        for worker, joined in enumerate(setting.joined):
            heappush(self.events, (joined, self.first_join + worker))
        self._release_first()

    def outcome(self) -> Outcome:
        events, count, home, threads = self.events, self.first_join, self.home, self.threads
        free, processing, occupancy, expected = self.free, self.processing, self.occupancy, self.expected
        users, missing, waiters = self.users, self.missing, self.after_task
        up, each = self.costs.up, self.costs.scheduler
        while events or self._left_over():
            now, what = heappop(events)
            if 0 <= what < count:
                worker = home[what]
                free[worker] += 1
                known = now + up
                if known < self.scheduler:
                    known = self.scheduler
                self.scheduler = self.end = known = known + each
                processing[worker] -= 1
                if processing[worker] == threads[worker] - 1:
                    self.unfilled += 1
                occupancy[worker] -= expected[what]
                for user in users[what]:
                    missing[user] -= 1
                    if not missing[user]:
                        self._place(user, known)
                self.pending -= 1
                if not self.pending or what in waiters:
                    self._ended(what, known)
                if self.queue:
                    self._unqueue(known)
                self._start(worker, now)
            elif what < 0:
                self.wake[-1 - what] = math.inf
                self._start(-1 - what, now)
            elif what < self.first_submission:
                self._join(what - self.first_join, now)
            elif what < self.balance:
                self._submit(what - self.first_submission, now)
            else:
                self._steal(now)
        return Outcome(self.end, sum(self.hold), self.total, self.moved, self.stolen)

    # The client.

    def _release_first(self) -> None:
        """Remember who waits for which task; the first submission comes by itself."""
        for number, release in enumerate(self.releases):
            if release.task >= 0:
                self.after_task.setdefault(release.task, []).append(number)
            elif not number:
                self._schedule(0, release.gap)

    def _schedule(self, number: int, moment: float) -> None:
        if not self.scheduled[number]:
            self.scheduled[number] = True
            heappush(self.events, (moment, self.first_submission + number))

    def _submit(self, number: int, now: float) -> None:
        self.scheduler = max(self.scheduler, now)
        self.submitted[number] = True
        self.pending += len(self.members[number])
        missing = self.missing
        for task in self.members[number]:
            missing[task] -= 1
            if not missing[task]:
                self._place(task, now)
        self._unqueue(now)
        following = number + 1
        if following < len(self.releases):
            release = self.releases[following]
            if release.task < 0 and not release.barrier:
                self._schedule(following, now + release.gap)

    def _ended(self, task: int, now: float) -> None:
        """A task has ended that the client waited for, or the last of all that it had submitted."""
        for number in self.after_task.pop(task, ()):
            self._schedule(number, now + self.releases[number].gap)
        if self.pending:
            return
        while self.following < len(self.submitted) and self.submitted[self.following]:
            self.following += 1
        if self.following < len(self.releases) and self.releases[self.following].barrier:
            self._schedule(self.following, now + self.releases[self.following].gap)

    def _left_over(self) -> bool:
        """Submit what would never come because tasks ended in another order than they were recorded in."""
        for number, scheduled in enumerate(self.scheduled):
            if not scheduled:
                self._schedule(number, self.end)
                return True
        return False

    # The scheduler.

    def _join(self, worker: int, now: float) -> None:
        self.alive[worker] = True
        self.unfilled += 1
        self.free[worker] = self.threads[worker]
        waiting, self.homeless = self.homeless, []
        for task in waiting:
            self._place(task, now)
        self._unqueue(now)
        self._start(worker, now)

    def _place(self, task: int, now: float) -> None:
        """Choose a worker for a task whose inputs are in memory."""
        if self.rootish[task]:
            heappush(self.queue, task)
            return
        home, replicas = self.home, self.replicas
        candidates = {home[each] for each in self.needs[task]}
        for each in self.needs[task]:
            if each in replicas:
                candidates.update(replicas[each])
        if len(candidates) == 1:
            worker = candidates.pop()
        elif candidates:
            worker = min(candidates, key=lambda worker: self._wait(task, worker))
        else:
            worker = self._least()
        if worker < 0:
            self.homeless.append(task)
        else:
            self._give(task, worker, now)

    def _wait(self, task: int, worker: int) -> float:
        """Seconds until a task might start on a worker, as Dask expects."""
        copies, home = self.copies[worker], self.home
        lacking = (each for each in self.needs[task] if home[each] != worker and each not in copies)
        size: float = sum(self.nbytes[each] for each in lacking)
        return self.occupancy[worker] / self.threads[worker] + size / self.costs.bandwidth

    def _least(self) -> int:
        """The worker with least expected work, each in turn where there is none; -1 if none is there."""
        best, work = -1, math.inf
        count = len(self.threads)
        for step in range(count):
            worker = (self.turn + step) % count
            if self.alive[worker] and self.occupancy[worker] < work - 1e-12:
                best, work = worker, self.occupancy[worker]
                if work <= 1e-12:
                    break
        self.turn += 1
        return best

    def _unqueue(self, now: float) -> None:
        """Send root-like tasks to workers with an open place; all of them where queueing is off."""
        queue = self.queue
        if not queue:
            return
        processing, threads, slots = self.processing, self.threads, self.slots
        if math.isinf(self.costs.saturation):
            while queue and any(self.alive):
                self._give_with_neighbours(heappop(queue), now)
            return
        open_places = [
            (processing[worker] / threads[worker], worker)
            for worker in range(len(threads))
            if self.alive[worker] and processing[worker] < slots[worker]
        ]
        heapify(open_places)
        while queue and open_places:
            _, worker = heappop(open_places)
            self._give(heappop(queue), worker, now)
            if processing[worker] < slots[worker]:
                heappush(open_places, (processing[worker] / threads[worker], worker))

    def _give_with_neighbours(self, task: int, now: float) -> None:
        """A run of neighbours of a group goes to one worker."""
        group = self.group[task]
        worker, left = self.last.get(group, (-1, 0))
        if not left:
            worker = min(
                (each for each in range(len(self.threads)) if self.alive[each]),
                key=lambda each: self._wait(task, each),
            )
            left = max(1, math.floor(self.group_size[group] / self.total * self.threads[worker]))
        self.last[group] = worker, left - 1
        self._give(task, worker, now)

    def _give(self, task: int, worker: int, now: float) -> None:
        """Send a task to a worker, which fetches what it lacks."""
        costs, home = self.costs, self.home
        home[task] = worker
        self.processing[worker] += 1
        self.occupancy[worker] += self.expected[task]
        self.waiting += 1
        surplus = self.processing[worker] - self.threads[worker]
        if not surplus:
            self.unfilled -= 1
        elif surplus > 0 and self.unfilled and not self.balancing:
            self._plan_balance(now)
        arrival = now + costs.down
        if len(self.threads) > 1 and self.needs[task]:
            arrival = self._fetch(task, worker, arrival)
        heappush(self.incoming[worker], (arrival, task))
        if self.free[worker] and arrival < self.wake[worker]:
            self.wake[worker] = arrival
            heappush(self.events, (arrival, -1 - worker))

    def _fetch(self, task: int, worker: int, now: float) -> float:
        """When all inputs of a task are on a worker."""
        copies, home, costs = self.copies[worker], self.home, self.costs
        there, size, sources = now, 0.0, False
        fetched = []
        for each in self.needs[task]:
            if home[each] == worker:
                continue
            copy = copies.get(each)
            if copy is None:
                size += self.nbytes[each]
                sources = True
                fetched.append(each)
            elif copy > there:
                there = copy
        if sources:
            begin = max(now, self.link[worker])
            self.link[worker] = begin + size / costs.bandwidth
            there = max(there, self.link[worker] + costs.latency)
            self.moved += size
            for each in fetched:
                copies[each] = there
                self.replicas.setdefault(each, []).append(worker)
        return there

    # The workers.

    def _start(self, worker: int, now: float) -> None:
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
        elif self.waiting and not self.balancing and len(self.threads) > 1 and not self.queue:
            self._plan_balance(now)

    def _plan_balance(self, now: float) -> None:
        self.balancing = True
        heappush(self.events, ((math.floor(now / _ROUND) + 1) * _ROUND, self.balance))

    def _steal(self, now: float) -> None:
        """Idle workers take tasks that wait on others, where the move pays by Dask's reckoning."""
        self.balancing = False
        workers = [worker for worker, alive in enumerate(self.alive) if alive]
        thieves = {worker for worker in workers if self._idle(worker)}
        if not thieves or len(thieves) == len(workers):
            return
        victims = [
            worker
            for worker in workers
            if worker not in thieves
            and self.occupancy[worker] > 0.2
            and self.processing[worker] > self.threads[worker]
        ]
        for victim in sorted(victims, key=lambda worker: -self.occupancy[worker])[:20]:
            waiting = [*self.ready[victim], *(task for _, task in self.incoming[victim])][-_LOOKED_AT:]
            taken = set()
            for task in sorted((task for task in waiting if self.stealable[task]), key=self._level):
                if not thieves:
                    break
                thief = min(thieves, key=lambda worker: self._wait(task, worker))
                compute = self.expected[task]
                there = (
                    self.occupancy[thief]
                    + self._wait(task, thief)
                    - self.occupancy[thief] / self.threads[thief]
                )
                here = self._wait(task, victim) - self.occupancy[victim] / self.threads[victim]
                if there + compute > self.occupancy[victim] - (here + compute) / 2:
                    continue
                taken.add(task)
                self.processing[victim] -= 1
                if self.processing[victim] == self.threads[victim] - 1:
                    self.unfilled += 1
                self.occupancy[victim] -= compute
                self.waiting -= 1
                self._give(task, thief, now + self.costs.up + self.costs.down)
                if not self._idle(thief):
                    thieves.discard(thief)
            if taken:
                self.stolen += len(taken)
                self.ready[victim] = [task for task in self.ready[victim] if task not in taken]
                self.incoming[victim] = [each for each in self.incoming[victim] if each[1] not in taken]
                heapify(self.ready[victim])
                heapify(self.incoming[victim])
        self._unqueue(now)

    def _idle(self, worker: int) -> bool:
        """Whether Dask would call a worker unoccupied."""
        threads = self.threads[worker]
        return (
            self.processing[worker] < threads
            or self.occupancy[worker] < threads * sum(self.occupancy) / self.total / 2
        )

    def _level(self, task: int) -> int:
        """How dear it is to move a task: 0 for free."""
        if not self.needs[task]:
            return 0
        size = sum(self.nbytes[each] for each in self.needs[task])
        ratio = (size / self.costs.bandwidth + _LATENCY) / max(self.expected[task], 1e-6)
        return max(1, round(math.log2(ratio) + 6))
