"""How evenly the workers were used: results held, tasks running and bytes, over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import words
from ..batch import Symbols
from ..lookup import coded
from ..tables.facts import part_of_run
from ..tables.field import Field
from ..timeline import Attempts, Read, attempts, stays

if TYPE_CHECKING:
    import pandas as pd

FIELDS = (
    Field("time", "s", "Start of the bin, seconds since `started`."),
    Field("worker", "", "The worker."),
    Field("running", "", "Tasks running, mean over the bin."),
    Field("tasks", "", "Results held at the end of the bin."),
    Field("nbytes", "bytes", "Their size."),
    Field("managed", "bytes", "Results held as Dask's scheduler counts them: last sample; NaN before any."),
    Field("process", "bytes", "Resident memory of the process: last sample; NaN before any."),
)
#: Most rows that are made.
_MOST = 5_000_000


def balance(read: Read, zero: float, every: float | None) -> pd.DataFrame:
    """The table of `Recording.balance`."""
    from ..tables.frame import frame

    if every is not None and not every > 0:
        raise ValueError(f"every={every:g} is no length of time")
    known = attempts(read)
    names = known.worker.names
    used = np.zeros(len(names) + 1, bool)
    used[known.worker.codes[known.ran]] = True
    workers = [code for code in np.flatnonzero(used[:-1]).tolist() if names[code]]
    place = np.full(len(names) + 1, -1)
    place[workers] = np.arange(len(workers))
    part = part_of_run(read)
    begin = max(part[0], float(np.min(known.at("executing", known.ran), initial=np.inf)))
    end = min(part[1], float(np.max(known.at("done", known.ran), initial=-np.inf)))
    if not workers or end <= begin:
        numbers = {field.name: np.zeros(0) for field in FIELDS}
        empty = numbers | {"worker": Symbols(np.zeros(0, "u4"), []), "tasks": np.zeros(0, "i8")}
        return frame(FIELDS, empty, zero, timestamps=False, own=False)
    if every is None:
        every = max(words.round_up((end - begin) / 100), 1e-3)
    first = np.floor((begin - zero) / every)
    bins = int(np.ceil((end - zero) / every) - first) or 1
    if bins * len(workers) > _MOST:
        raise ValueError(f"every={every:g} s makes {bins * len(workers):,} rows, more than {_MOST:,}")
    grid = _Grid(zero + first * every, every, bins, len(workers))
    ran = np.flatnonzero(known.ran)
    at = place[known.worker.codes[ran]]
    columns: dict[str, Any] = {
        "time": np.tile(first * every + np.arange(bins) * every, len(workers)),
        "worker": Symbols(
            np.repeat(np.arange(len(workers), dtype="u4"), bins), [names[code] for code in workers]
        ),
        "running": grid.mean(at, *(np.clip(known.at(name, ran), *part) for name in ("start", "stop"))),
        **_held(read, known, place, grid),
        **_sampled(read, [names[code] for code in workers], grid),
    }
    order = np.lexsort((columns["worker"].codes, columns["time"]))
    sorted_ = {
        name: Symbols(values.codes[order], values.names) if isinstance(values, Symbols) else values[order]
        for name, values in columns.items()
    }
    return frame(FIELDS, sorted_, zero, timestamps=False, own=False)


class _Grid:
    """Bins of time for each of several workers."""

    def __init__(self, start: float, every: float, bins: int, workers: int) -> None:
        self._start, self._every, self._bins, self._workers = start, every, bins, workers

    def _cells(self, worker: np.ndarray, moment: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Sums of what begins in each bin, by worker."""
        number = np.clip(np.floor((moment - self._start) / self._every), 0, self._bins).astype("i8")
        width = self._bins + 1
        sums = np.bincount(worker * width + number, weight, self._workers * width)
        return np.asarray(sums.reshape(self._workers, width), "f8")

    def held(
        self, worker: np.ndarray, start: np.ndarray, stop: np.ndarray, weight: np.ndarray | None = None
    ) -> np.ndarray:
        """Sum, at the end of each bin, over the intervals that go on then."""
        change = self._cells(worker, start, weight) - self._cells(worker, stop, weight)
        return np.cumsum(change, axis=1)[:, :-1].reshape(-1)

    def mean(self, worker: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Number of intervals that go on, mean over each bin."""
        ends = self._start + self._every * np.arange(1, self._bins + 1)
        area = np.zeros((self._workers, self._bins))
        for moment, sign in ((start, 1.0), (stop, -1.0)):
            count = np.cumsum(self._cells(worker, moment, None), axis=1)[:, :-1]
            since = np.cumsum(self._cells(worker, moment, moment - self._start), axis=1)[:, :-1]
            area += sign * (count * (ends - self._start) - since)
        mean = np.diff(area, axis=1, prepend=0.0) / self._every
        return np.maximum(np.round(mean, 9), 0.0).reshape(-1)

    def last(self, worker: np.ndarray, moment: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The last value up to the end of each bin; NaN before any."""
        order = np.argsort(moment, kind="stable")
        number = np.clip(np.floor((moment[order] - self._start) / self._every), 0, self._bins).astype("i8")
        # In the order of time, so that the last of a bin stays.
        newest = np.full((self._workers, self._bins + 1), -1)
        newest[worker[order], number] = order
        filled = np.maximum.accumulate(np.where(newest >= 0, np.arange(self._bins + 1), 0), axis=1)
        row = np.take_along_axis(newest, filled, axis=1)[:, :-1].reshape(-1)
        return np.where(row >= 0, np.append(values, np.nan)[row], np.nan)


def _held(read: Read, known: Attempts, place: np.ndarray, grid: _Grid) -> dict[str, np.ndarray]:
    """Results held by each worker: from when they were made, or came, to when nothing needed them."""
    every = stays(read, known)
    worker = place[every.worker]
    there = worker >= 0
    worker, start, stop = worker[there], every.since[there], every.until[there]
    size = np.nan_to_num(known.nbytes[every.row[there]])
    return {
        "tasks": grid.held(worker, start, stop).astype("i8"),
        "nbytes": grid.held(worker, start, stop, size),
    }


def _sampled(read: Read, workers: list[str], grid: _Grid) -> dict[str, np.ndarray]:
    memory: Mapping[str, Any] = read("memory")
    worker = coded(memory["worker"], workers)
    rows = np.flatnonzero((worker >= 0) & np.isfinite(memory["time"]))
    return {
        name: grid.last(worker[rows], memory["time"][rows], memory[name][rows])
        for name in ("managed", "process")
    }
