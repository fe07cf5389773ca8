"""Samples of several processes, read out in equal stretches of time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...lookup import ratio
from ...tables.processes import processes
from ..request import Request

#: A sample stands for what comes after it for so many intervals of its process.
_HELD = 4

#: The shortest and, unless the usual interval is longer, the longest time for which one stands, seconds.
_LEAST_HELD, _MOST_HELD = 1.5, 300.0


class Series(NamedTuple):
    """Means of each process in each stretch; NaN where nothing is known."""

    #: Processes, as they are named in the table.
    names: list[str]
    edges: np.ndarray
    #: Shape (processes, stretches).
    values: np.ndarray

    def summed(self) -> np.ndarray:
        """Over the processes; NaN where none is known."""
        known = np.isfinite(self.values)
        return np.where(known.any(axis=0), np.nansum(self.values, axis=0), np.nan)


def series(
    process: Symbols,
    time: np.ndarray,
    values: np.ndarray,
    rows: np.ndarray,
    between: tuple[float, float],
    bins: int,
) -> Series:
    """Read samples out.

    A value stands until the next one, for at most four intervals: the usual one, or that of its process then.

    Parameters
    ----------
    process, time, values
        A row a sample; times as `between`.
    rows
        Mask of the samples that count.
    between
        The time that is shown.
    bins
        Stretches of it, at most: no more than there are samples of a process.
    """
    codes = process.codes[rows]
    known, who = np.unique(codes, return_inverse=True)
    who = who.reshape(-1)
    order = np.lexsort((time[rows], who))
    who, time, values = who[order], time[rows][order], values[rows][order]
    usual = _interval(who, time)
    low, high = between
    bins = int(np.clip((high - low) / usual, 8, bins)) if usual > 0 else bins
    edges = np.linspace(low, high, bins + 1)
    # Rows of one process come from several observers, and each knows a part of the columns.
    tells = np.isfinite(values)
    who, time, values = who[tells], time[tells], values[tells]
    until = time + _holds(who, time, usual)
    there = (until >= low) & (time <= high)
    who, time, values, until = who[there], time[there], values[there], until[there]
    # What stands from before has a stretch of its own in front, in which the last one counts.
    place = np.clip(((time - low) / (high - low) * bins).astype("i8"), 0, bins - 1) + 1
    place[time < low] = 0
    cell = who * (bins + 1) + place
    shape = len(known), bins + 1
    count = np.bincount(cell, minlength=shape[0] * shape[1])
    total = np.bincount(cell, values, shape[0] * shape[1])
    mean = ratio(total, count, np.nan)
    ends = np.full(mean.shape, -np.inf)
    ends[cell] = until
    before = cell[place == 0]
    mean[before] = values[place == 0]
    held = _held(mean.reshape(shape), ends.reshape(shape), edges[:-1])
    return Series([process.names[code] for code in known.tolist()], edges, held)


def _held(mean: np.ndarray, until: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The value before in each stretch that has none, if it stands then; not of the one in front."""
    number = np.arange(mean.shape[1])
    last = np.maximum.accumulate(np.where(np.isfinite(mean), number, 0), axis=1)
    near = (last == number) | (np.append(-np.inf, starts) <= np.take_along_axis(until, last, axis=1))
    return np.where(near, np.take_along_axis(mean, last, axis=1), np.nan)[:, 1:]


def _interval(who: np.ndarray, time: np.ndarray) -> float:
    gaps = np.diff(time)[who[1:] == who[:-1]]
    return float(np.median(gaps)) if len(gaps) else 0.0


def _holds(who: np.ndarray, time: np.ndarray, usual: float) -> np.ndarray:
    """How long each sample stands for what comes after it, seconds; samples by process and time.

    Intervals change within a recording, and those of one process are told by its samples before and after. A
    gap alone is none, so that silence is not bridged.
    """
    gaps = np.diff(time)
    is_same = who[2:] == who[:-2]
    # The smaller of the gaps before and after each sample but the first and last.
    pace = np.where(is_same, np.minimum(gaps[:-1], gaps[1:]), 0.0)
    own = np.zeros(len(time))
    own[2:] = pace
    own[:-3] = np.maximum(own[:-3], np.where(is_same[:-1], pace[1:], 0.0))
    return np.maximum(max(_HELD * usual, _LEAST_HELD), np.minimum(_HELD * own, _MOST_HELD))


def sharing_processes(request: Request, workers: list[str]) -> list[list[int]]:
    """Places of workers, those that share a process together."""
    known = processes(request.columns("workers"))
    found: dict[Any, list[int]] = {}
    for place, worker in enumerate(workers):
        found.setdefault(known.get(worker, worker), []).append(place)
    return list(found.values())
