"""Samples of several processes, read out in equal stretches of time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...lookup import ratio
from ...tables.processes import processes
from ..request import Request


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

    A value stands until the next one, for at most four usual intervals.

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
    time, values = time[rows], values[rows]
    gap = _interval(who, time)
    low, high = between
    bins = int(np.clip((high - low) / gap, 8, bins)) if gap > 0 else bins
    edges = np.linspace(low, high, bins + 1)
    there = np.isfinite(values) & (time >= low) & (time <= high)
    place = np.minimum(((time[there] - low) / (high - low) * bins).astype("i8"), bins - 1)
    cell = who[there] * bins + place
    count = np.bincount(cell, minlength=len(known) * bins)
    total = np.bincount(cell, values[there], len(known) * bins)
    mean = ratio(total, count, np.nan).reshape(len(known), bins)
    hold = max(4 * gap, 1.5)
    return Series(
        [process.names[code] for code in known.tolist()], edges, _held(mean, hold / (high - low) * bins)
    )


def _held(mean: np.ndarray, most: float) -> np.ndarray:
    """The value before in each stretch that has none, if it is not older than so many stretches."""
    number = np.arange(mean.shape[1])
    last = np.maximum.accumulate(np.where(np.isfinite(mean), number, -1), axis=1)
    near = (last >= 0) & (number - last <= most)
    return np.where(near, np.take_along_axis(mean, np.maximum(last, 0), axis=1), np.nan)


def _interval(who: np.ndarray, time: np.ndarray) -> float:
    order = np.lexsort((time, who))
    gaps = np.diff(time[order])[who[order][1:] == who[order][:-1]]
    return float(np.median(gaps)) if len(gaps) else 0.0


def sharing_processes(request: Request, workers: list[str]) -> list[list[int]]:
    """Places of workers, those that share a process together."""
    known = processes(request.columns("workers"))
    found: dict[Any, list[int]] = {}
    for place, worker in enumerate(workers):
        found.setdefault(known.get(worker, worker), []).append(place)
    return list(found.values())
