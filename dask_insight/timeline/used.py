"""How many of their hosts' cores the processes of workers used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..tables.processes import process_of


class Used(NamedTuple):
    """Cores that workers used on average, and those that their hosts have; NaN unless all are known."""

    cores: float = float("nan")
    of: float = float("nan")


def used(columns: Callable[[str], Mapping[str, Any]], start: float, stop: float) -> Used:
    """What the workers used between two moments, seconds since the epoch.

    All threads of their processes count: those of tasks, of libraries (OpenMP, BLAS) and Dask's own.
    """
    workers, samples = columns("workers"), columns("resources")
    if not {"host", "cores", "pid"} <= workers.keys() or not {"cpu", "time"} <= samples.keys():
        return Used()
    spent_by = _spent(samples, start, stop)
    cores: dict[str, float] = {}
    spent: dict[tuple[str, Any], float] = {}
    told = zip(*(workers[name].tolist() for name in ("worker", "host", "pid", "cores")), strict=True)
    for worker, host, pid, there in {worker: (worker, *rest) for worker, *rest in told}.values():
        if not host or not there > 0 or worker not in spent_by:
            return Used()
        cores[host] = max(there, cores.get(host, 0.0))
        # Workers that share a process tell of the same.
        process = process_of(worker, host, pid)
        spent[process] = max(spent_by[worker], spent.get(process, 0.0))
    if not spent or not stop > start:
        return Used()
    return Used(sum(spent.values()) / (stop - start), sum(cores.values()))


def _spent(samples: Mapping[str, Any], start: float, stop: float) -> dict[str, float]:
    """CPU seconds of each process between two moments, by name."""
    known = np.flatnonzero(np.isfinite(samples["cpu"]))
    rows = known[np.lexsort((samples["time"][known], samples["process"].codes[known]))]
    code, time = samples["process"].codes[rows], samples["time"][rows]
    # A sample stands for the time since the one before it; the first of a process for as long as the second.
    passed = np.diff(time, prepend=time[:1])
    first = np.diff(code, prepend=-1) != 0
    follows = np.append(~first[1:], False)[first]
    passed[first] = np.where(follows, np.append(passed, 0.0)[np.flatnonzero(first) + 1], 0.0)
    inside = np.minimum(time, stop) - np.maximum(time - passed, start)
    seconds = samples["cpu"][rows] / 100 * np.clip(inside, 0.0, None)
    sums = np.bincount(code, seconds, len(samples["process"].names))
    return {samples["process"].names[each]: float(sums[each]) for each in np.unique(code).tolist()}
