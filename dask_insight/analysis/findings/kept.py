"""When tasks waited for resources of a worker, beside threads of it that were idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...timeline import Moments, beside_idle, worker_resources
from .names import of_workers, split

if TYPE_CHECKING:
    from .facts import Facts


def kept_by_resources(facts: Facts) -> dict[int, Moments]:
    """When tasks waited for resources, by the codes of workers whose idle threads could not take them.

    Those are of the worker where they waited, and of all that have no such resources.
    """
    given, known = worker_resources(facts.read), facts.attempts
    ran = split(known.worker, np.flatnonzero(of_workers(facts, given) & known.ran))
    waited = {worker: _beside_idle(facts, worker, rows) for worker, rows in ran.items()}
    found, elsewhere = {}, dict[frozenset[str], Moments]()
    for code, name in enumerate(facts.lanes.workers):
        mine = frozenset(given.get(name, ()))
        if mine not in elsewhere:
            elsewhere[mine] = Moments.together(
                each for worker, each in waited.items() if not given[worker].keys() <= mine
            )
        if name in waited:
            found[code] = Moments.together((waited[name], elsewhere[mine]))
        elif len(elsewhere[mine].start):
            found[code] = elsewhere[mine]
    return found


def _beside_idle(facts: Facts, worker: str, ran: np.ndarray) -> Moments:
    """When tasks waited on a worker while one of its threads was idle; with the rows of what ran there."""
    known = facts.attempts
    inputs, begun, ended = (known.at(name, ran) for name in ("inputs", "executing", "ended"))
    return beside_idle(inputs, begun, ended, facts.threads_of(worker))
