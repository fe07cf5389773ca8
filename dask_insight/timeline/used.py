"""How many of the cores that workers may use their processes used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..tables.cores import Place, places
from ..tables.processes import of_processes, processes
from .moments import most_at_once


class Used(NamedTuple):
    """Cores that workers used on average, and those that they may use; NaN unless all are known."""

    cores: float = float("nan")
    of: float = float("nan")


def used(columns: Callable[[str], Mapping[str, Any]], start: float, stop: float) -> Used:
    """What the workers used between two moments, seconds since the epoch.

    All threads of their processes count: those of tasks, of libraries (OpenMP, BLAS) and Dask's own.
    """
    workers, samples = columns("workers"), columns("resources")
    there, spent_by, found = cores_at_once(workers), _spent(samples, start, stop), processes(workers)
    if np.isnan(there) or not stop > start or not found.keys() <= spent_by.keys():
        return Used()
    spent = of_processes((process, spent_by[worker]) for worker, process in found.items())
    return Used(spent / (stop - start), there)


def cores_at_once(workers: Mapping[str, Any]) -> float:
    """The most cores that workers of the table ``workers`` had together; NaN unless all are known."""
    place_of = places(workers)
    row_of = {worker: row for row, worker in enumerate(workers["worker"].tolist())}
    if not row_of or not row_of.keys() <= place_of.keys():
        return float("nan")
    joined, left = np.nan_to_num(workers["joined"], nan=-np.inf), np.nan_to_num(workers["left"], nan=np.inf)
    lives: dict[Place, tuple[float, float]] = {}
    for worker, row in row_of.items():
        first, last = lives.get(place_of[worker], (np.inf, -np.inf))
        lives[place_of[worker]] = min(first, joined[row]), max(last, left[row])
    begin, end = np.array([*lives.values()]).T
    return most_at_once(begin, end, np.array([place.cores for place in lives], "f8"))


def whole_cores(workers: Mapping[str, Any]) -> int:
    """The same as a number; 0 unless all are known."""
    return round(float(np.nan_to_num(cores_at_once(workers))))


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
