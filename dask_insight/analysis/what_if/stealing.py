"""Work stealing: idle workers take tasks that wait on others, where the move pays by Dask's reckoning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify, nlargest
from itertools import islice

from .cluster import MANY, Cluster

#: Seconds of expected work up to which a worker is left what it has.
_WORK = 0.2
#: Victims, and tasks of one victim, that are looked at in a round.
_VICTIMS, _TASKS = 20, 1000


def steal(cluster: Cluster, now: float) -> int:
    """One round; gives the number of tasks moved."""
    cluster.balancing = False
    if not cluster.waiting:
        return 0
    work = sum(cluster.occupancy)
    bounds = cluster.idle_below(work)
    cluster.looks += len(cluster.crowded)
    victims = _victims(cluster, bounds)
    if not victims:
        return 0
    cluster.looks += len(cluster.there)
    thieves, stolen = _idle(cluster, cluster.there, bounds), 0
    for victim in victims:
        if not thieves:
            break
        stolen += _rob(cluster, victim, thieves, bounds, now)
    return stolen


def _victims(cluster: Cluster, bounds: Mapping[int, float]) -> list[int]:
    """The workers with most expected work of those that have more tasks than threads and are not idle."""
    processing, threads, occupancy = cluster.processing, cluster.threads, cluster.occupancy
    crowded = cluster.crowded = {each for each in cluster.crowded if processing[each] > threads[each]}
    much = [each for each in crowded if occupancy[each] > _WORK and occupancy[each] >= bounds[threads[each]]]
    # In the order of their numbers, which decides between equals.
    return nlargest(_VICTIMS, sorted(much), key=occupancy.__getitem__)


def _idle(cluster: Cluster, workers: Iterable[int], bounds: Mapping[int, float]) -> set[int]:
    """Those of some workers that Dask would call unoccupied."""
    processing, threads, occupancy = cluster.processing, cluster.threads, cluster.occupancy
    return {
        each
        for each in workers
        if processing[each] < threads[each] or occupancy[each] < bounds[threads[each]]
    }


def _rob(cluster: Cluster, victim: int, thieves: set[int], bounds: Mapping[int, float], now: float) -> int:
    """Move tasks of one worker to idle ones."""
    coming = [task for _, task in cluster.incoming[victim][-_TASKS:]]
    ready = cluster.ready[victim]
    waiting = [*ready[max(0, len(ready) + len(coming) - _TASKS) :], *coming]
    waiting = [task for task in waiting if cluster.stealable[task]]
    cluster.looks += len(waiting)
    taken = set()
    for task in sorted(waiting, key=cluster.levels.__getitem__):
        if not thieves:
            break
        cluster.looks += MANY
        thief = cluster.soonest(task, islice(thieves, MANY))
        if not _pays(cluster, task, victim, thief):
            continue
        taken.add(task)
        cluster.take_back(task, victim)
        cluster.waiting -= 1
        # The victim is asked first, and answers.
        cluster.give(task, thief, now + cluster.costs.up + cluster.costs.down)
        if not _idle(cluster, (thief,), bounds):
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
