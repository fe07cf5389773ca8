"""Which worker and which attempt is of which scheduler: what one does says nothing of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lookup import by_name
from ...timeline import beside, cluster_of, pool_of

if TYPE_CHECKING:
    from .facts import Facts


class Schedulers(NamedTuple):
    """The schedulers that had workers, local ones too, by code."""

    #: Address of each; '' if unknown, `LOCAL` of each local one.
    names: list[str]
    #: Code of each worker of the lanes, and of each attempt.
    worker: np.ndarray
    attempt: np.ndarray


def schedulers(facts: Facts) -> Schedulers:
    """Tell them apart."""
    cluster, known = cluster_of(facts.read), facts.attempts
    workers = [(cluster(name), pool_of(name)) for name in facts.lanes.workers]
    code = {each: number for number, each in enumerate(dict.fromkeys(workers))}
    names, worker = [name for name, _ in code], np.array([code[each] for each in workers], "i8")
    if len(names) < 2:
        return Schedulers(names, worker, np.broadcast_to(np.int32(0), len(known.run)))

    def of(name: str) -> int:
        return code.get((cluster(name), pool_of(name)), -1) if name else -1

    attempt = by_name(known.worker, of, -1, "i4")
    if (attempt < 0).any():
        beside(facts.read, [known.described], [attempt])
    return Schedulers(names, worker, attempt)
