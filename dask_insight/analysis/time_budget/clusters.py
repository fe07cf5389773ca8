"""Which worker and which attempt belongs to which scheduler: what waits for one is no matter of another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...lookup import by_name
from ...timeline import LOCAL, Attempts, Lanes, Read, beside, cluster_of, pool_of


class Clusters(NamedTuple):
    """The schedulers of a recording, by code."""

    #: Address of each; '' if unknown, `LOCAL` of each local one.
    names: list[str]
    #: Code of each worker of the lanes, and of each attempt.
    worker: np.ndarray
    attempt: np.ndarray


def clusters(read: Read, known: Attempts, everything: Lanes) -> Clusters:
    """Tell the schedulers apart, the pools of local ones too: none waits for another."""
    cluster = cluster_of(read)

    def of(worker: str) -> tuple[str, str]:
        return cluster(worker), pool_of(worker)

    workers = [of(name) for name in everything.workers]
    schedulers = sorted(set(workers), key=lambda each: (each[0] == LOCAL, each))
    names = [name for name, _ in schedulers]
    code = {scheduler: number for number, scheduler in enumerate(schedulers)}
    worker = np.array([code[scheduler] for scheduler in workers], "i8")
    if len(names) < 2:
        return Clusters(names, worker, np.broadcast_to(np.int32(0), len(known.run)))
    attempt = by_name(known.worker, lambda name: code.get(of(name), -1) if name else -1, -1, "i4")
    ran = everything.of >= 0
    attempt[everything.stretches.attempt[ran]] = worker[everything.worker[everything.of[ran]]]
    if (attempt < 0).any():
        beside(read, [known.described], [attempt])
    return Clusters(names, worker, attempt)
