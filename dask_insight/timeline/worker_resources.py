"""The resources that workers have, as `dask worker --resources` gives them."""

from __future__ import annotations

import numpy as np

from ..tables.facts import from_json
from .attempts import Read
from .moments import Moments

#: Seconds that a task waits on such a worker, with all its inputs and a free thread, from which it waits
#: for resources.
WAITS = 0.02


def worker_resources(read: Read) -> dict[str, dict[str, float]]:
    """Name and amount of the resources of each worker that has any."""
    table = read("workers")
    found: dict[str, dict[str, float]] = {}
    for row, worker in enumerate(table["worker"].tolist()):
        try:
            told = from_json(table["detail"][row] or "{}").get("resources") or {}
            resources = {str(name): float(amount) for name, amount in told.items()}
        except (TypeError, ValueError, AttributeError, OverflowError):
            continue
        if resources:
            found[worker] = resources
    return found


def beside_idle(inputs: np.ndarray, begun: np.ndarray, ended: np.ndarray, threads: float) -> Moments:
    """When attempts waited on a worker, with all their inputs, while one of its threads was idle.

    Parameters
    ----------
    inputs, begun, ended
        Moments of the attempts that ran there: when their inputs were there, when they were given a thread,
        and when that was free again.
    threads
        Threads of the worker.
    """
    kept = begun - inputs > WAITS
    waiting = Moments.of(inputs[kept], begun[kept])
    moments = np.concatenate([begun, ended])
    order = np.argsort(moments)
    running = np.cumsum(np.repeat([1, -1], len(begun))[order])[:-1]
    full = running >= threads
    return waiting.without(Moments.of(moments[order][:-1][full], moments[order][1:][full]))
