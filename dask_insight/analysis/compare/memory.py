"""Memory of all workers together over the time of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...tables.processes import processes
from ...timeline import Read, process_memory

#: Moments of a run that are told.
_POINTS = 240


class Series(NamedTuple):
    """Sums over the workers at some moments. Sizes in bytes; NaN where nothing is known."""

    #: Seconds since the run's start.
    time: np.ndarray
    #: Each is the most since the moment before.
    process: np.ndarray
    managed: np.ndarray
    spilled: np.ndarray
    #: Most memory that the processes took together while the run lasted; NaN if unknown.
    most: float


def memory_of(read: Read, zero: float, end: float = np.inf) -> Series:
    """Sum the last samples of all workers up to each of some moments, of those that were there then.

    Parameters
    ----------
    read
        Gives the columns of a table.
    zero
        The run's start, seconds since the epoch.
    end
        The run's end, likewise.
    """
    workers, told = read("workers"), read("memory")
    (worker, names), time, nbytes = process_memory(read)
    moments = time[np.isfinite(time)] - zero
    if not len(moments) or not np.isfinite(zero):
        none = np.zeros(0)
        return Series(none, none, none, none, np.nan)
    first, last = max(0.0, float(moments.min())), float(moments.max())
    grid = np.linspace(first, max(last, first), _POINTS if last > first else 1)
    # Workers that share a process tell of the same memory.
    process, left = _processes(workers, names), _left(workers, names) - zero
    ended = np.full(len(left), -np.inf)
    np.maximum.at(ended, process, left)
    of_processes = _summed(process[worker], time - zero, nbytes, ended)
    worker, moment = told["worker"].codes, told["time"] - zero
    left = _left(workers, told["worker"].names) - zero
    managed, spilled = (_summed(worker, moment, told[name], left) for name in ("managed", "spilled"))
    # Of a run that was over before anyone looked, what there was then.
    until = max(first, end - zero)
    return Series(
        grid,
        *(_most(of_processes, grid), _most(managed, grid), _most(spilled, grid)),
        most=float(_most(of_processes, np.array([0.0, until]))[-1]),
    )


def _processes(workers: Mapping[str, Any], names: Sequence[str]) -> np.ndarray:
    """A number for each worker, the same for those that share a process."""
    known, numbers = processes(workers), dict[Any, int]()
    told = [numbers.setdefault(known.get(name, name), len(numbers)) for name in names]
    return np.array(told or [0], "i8")


def _left(workers: Mapping[str, Any], names: Sequence[str]) -> np.ndarray:
    """When each worker left, seconds since the epoch; infinite if it did not."""
    known = dict(zip(workers["worker"].tolist(), workers["left"].tolist(), strict=True))
    told = np.array([known.get(name, np.inf) for name in names or [""]], "f8")
    return np.where(np.isnan(told), np.inf, told)


class _Sums(NamedTuple):
    """A sum, and from when on it holds; in the order of time."""

    since: np.ndarray
    value: np.ndarray


def _summed(worker: np.ndarray, moment: np.ndarray, values: np.ndarray, left: np.ndarray) -> _Sums:
    """The sum of what each worker, or process, last told; nothing once it had left.

    `left` is by worker, or process.
    """
    known = np.isfinite(values) & np.isfinite(moment)
    worker, moment, values = worker[known], moment[known], values[known]
    last = np.full(len(left), -np.inf)
    np.maximum.at(last, worker, moment)
    gone = np.flatnonzero(np.isfinite(left) & np.isfinite(last))
    worker = np.concatenate((worker, gone))
    moment = np.concatenate((moment, np.maximum(left, last)[gone]))
    values = np.concatenate((values, np.zeros(len(gone))))
    order = np.lexsort((moment, worker))
    worker, moment, values = worker[order], moment[order], values[order]
    # What a sample adds to the sum is its change since the worker's last one.
    same = np.append(False, worker[1:] == worker[:-1])[: len(worker)]
    change = values - np.where(same, np.roll(values, 1), 0.0)
    by_time = np.argsort(moment, kind="stable")
    since, value = moment[by_time], np.cumsum(change[by_time])
    # Of what changes at one moment the sum is known once all has.
    last = np.append(since[1:] != since[:-1], True)[: len(since)]
    return _Sums(since[last], value[last])


def _most(sums: _Sums, grid: np.ndarray) -> np.ndarray:
    """The most of a sum since the moment before each of `grid`; at the first what it is then. Else NaN."""
    at = np.searchsorted(sums.since, grid, side="right")
    # A sum goes on until the next one: what held at the moment before counts too.
    first = np.maximum(np.append(at[:1], at[:-1]) - 1, 0)
    found = [float(sums.value[a:b].max()) if b > a else np.nan for a, b in zip(first, at, strict=True)]
    return np.array(found, "f8")
