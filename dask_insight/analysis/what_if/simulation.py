"""A cluster that runs a recorded graph, with Dask's order and placement as far as they matter.

What is kept: a task runs on a thread of the worker that was chosen when its
last input was in memory; the worker takes the task of least rank whose inputs
are there; root-like tasks wait in the scheduler's queue for an open place (or
are spread in runs of neighbours where queueing is off); others go where they
would start soonest by the expected work and the bytes to be moved; idle
workers steal ten times a second; the scheduler handles one ended task after
the other; the client waits between submissions as it did, and at the end for
what it then cancelled.

What is left out: memory, contention for cores, network and the interpreter's
lock, restrictions, failures, threads that cancelled functions held.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import NamedTuple

from .client import Client
from .cluster import Cluster
from .model import Model
from .placement import Placement
from .setting import Setting
from .stealing import steal


class Outcome(NamedTuple):
    """What a simulated run came to. Seconds, bytes."""

    seconds: float
    #: Thread-seconds in which tasks held a thread.
    busy: float
    threads: int
    moved: float
    stolen: int
    #: Workers and tasks that were looked at in rounds of stealing.
    looks: int


class TooLong(Exception):
    """A simulation would take more looks at workers and tasks, in rounds of stealing, than it may."""


def simulate(model: Model, setting: Setting, looks: float = math.inf) -> Outcome:
    """Run the graph of a model on a cluster.

    Raises
    ------
    TooLong
        If idle workers would look for tasks of others more than `looks` times.
    """
    cluster = Cluster(model, setting)
    placement, client = Placement(model, cluster), Client(model, cluster)
    for number, joined in enumerate(setting.joined):
        heappush(cluster.events, (joined, cluster.first_join + number))
    events, home, free, wake = cluster.events, cluster.home, cluster.free, cluster.wake
    users, missing, answers, queue = model.users, model.missing.tolist(), client.answers, placement.queue
    processing, threads = cluster.processing, cluster.threads
    occupancy, expected = cluster.occupancy, cluster.expected
    start, place = cluster.start, placement.place
    count, up, each = cluster.first_join, setting.costs.up, setting.costs.scheduler
    #: Until when the scheduler is busy; the last that happened; tasks that were moved.
    busy, end, stolen = 0.0, 0.0, 0
    while events or client.left_over(end):
        now, what = heappop(events)
        if 0 <= what < count:
            worker = home[what]
            free[worker] += 1
            known = now + up
            if known < busy:
                known = busy
            busy = end = known = known + each
            processing[worker] -= 1
            if processing[worker] == threads[worker] - 1:
                cluster.has_place(worker)
            occupancy[worker] -= expected[what]
            held = bool(queue)
            for user in users[what]:
                missing[user] -= 1
                if not missing[user]:
                    place(user, known)
            client.pending -= 1
            if not client.pending or what in answers:
                client.ended(what, known)
            if queue:
                placement.unqueue(known, worker if held else -1)
            start(worker, now)
        elif what < 0:
            wake[-1 - what] = math.inf
            start(-1 - what, now)
        elif what < cluster.first_submission:
            placement.join(what - count, now)
        elif what < cluster.balance:
            end = max(end, now)
            for task in client.submit(what - cluster.first_submission, now):
                missing[task] -= 1
                if not missing[task]:
                    place(task, now)
            placement.unqueue(now)
        else:
            stolen += steal(cluster, now)
            if cluster.looks > looks:
                raise TooLong
            placement.unqueue(now)
    return Outcome(end + model.tail, sum(cluster.hold), cluster.total, cluster.moved, stolen, cluster.looks)
