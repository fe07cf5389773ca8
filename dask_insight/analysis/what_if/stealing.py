"""Work stealing: idle workers take tasks that wait on others, where the move pays by Dask's reckoning."""

from __future__ import annotations

import math
from heapq import heapify
from itertools import islice

from .cluster import MANY, Cluster

#: Seconds that Dask adds to the transfers of a task that it thinks of moving.
_LATENCY = 0.1
#: Victims, and tasks of one victim, that are looked at in a round.
_VICTIMS, _TASKS = 20, 1000


def steal(cluster: Cluster, now: float) -> int:
    """One round; gives the number of tasks moved."""
    cluster.balancing = False
    processing, threads, occupancy = cluster.processing, cluster.threads, cluster.occupancy
    victims = [
        worker for worker in cluster.there if processing[worker] > threads[worker] and occupancy[worker] > 0.2
    ]
    if not victims:
        return 0
    work = sum(occupancy)
    thieves = {worker for worker in cluster.there if cluster.idle(worker, work)}
    if not thieves or len(thieves) == len(cluster.there):
        return 0
    victims = [worker for worker in victims if worker not in thieves]
    victims.sort(key=lambda worker: (-occupancy[worker], worker))
    return sum(_rob(cluster, victim, thieves, work, now) for victim in victims[:_VICTIMS])


def _rob(cluster: Cluster, victim: int, thieves: set[int], work: float, now: float) -> int:
    """Move tasks of one worker to idle ones."""
    coming = [task for _, task in cluster.incoming[victim][-_TASKS:]]
    ready = cluster.ready[victim]
    waiting = [*ready[max(0, len(ready) + len(coming) - _TASKS) :], *coming]
    waiting = [task for task in waiting if cluster.stealable[task]]
    taken = set()
    for task in sorted(waiting, key=lambda task: _level(cluster, task)):
        if not thieves:
            break
        thief = cluster.soonest(task, islice(thieves, MANY))
        if not _pays(cluster, task, victim, thief):
            continue
        taken.add(task)
        cluster.take_back(task, victim)
        cluster.waiting -= 1
        # The victim is asked first, and answers.
        cluster.give(task, thief, now + cluster.costs.up + cluster.costs.down)
        if not cluster.idle(thief, work):
            thieves.discard(thief)
    if taken:
        cluster.ready[victim] = [task for task in cluster.ready[victim] if task not in taken]
        cluster.incoming[victim] = [each for each in cluster.incoming[victim] if each[1] not in taken]
        heapify(cluster.ready[victim])
        heapify(cluster.incoming[victim])
    return len(taken)


def _pays(cluster: Cluster, task: int, victim: int, thief: int) -> bool:
    compute = cluster.expected[task]
    there: float = cluster.occupancy[thief] + _moving(cluster, task, thief) + compute
    return there <= cluster.occupancy[victim] - (_moving(cluster, task, victim) + compute) / 2


def _moving(cluster: Cluster, task: int, worker: int) -> float:
    """Seconds to bring what a task lacks to a worker."""
    return cluster.wait(task, worker) - cluster.occupancy[worker] / cluster.threads[worker]


def _level(cluster: Cluster, task: int) -> int:
    """How dear it is to move a task beside its computing: 0 for free."""
    if not cluster.needs[task]:
        return 0
    size = sum(cluster.nbytes[each] for each in cluster.needs[task])
    ratio = (size / cluster.costs.bandwidth + _LATENCY) / max(cluster.expected[task], 1e-6)
    return max(1, round(math.log2(ratio) + 6))
