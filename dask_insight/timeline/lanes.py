"""The threads of the workers: how long each was there, and what ran on it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..dag import Links
from ..lookup import least
from .attempts import POOLED, Attempts, Read
from .stretches import Stretches, stretches
from .tracks import SLACK, SMALL


class Lanes(NamedTuple):
    """Threads, one row each; times in seconds since the epoch.

    A worker has as many as it says, and more where more were seen at once.
    """

    #: Name of each worker by code.
    workers: list[str]
    #: When it joined; -inf if unknown.
    joined: np.ndarray
    worker: np.ndarray
    #: The thread's name; '' if nothing ran on it.
    thread: list[str]
    #: How many threads a row stands for: those of a worker on which nothing ran are one row.
    threads: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    #: What held them.
    stretches: Stretches
    #: Lane of each stretch; -1 if its attempt never ran.
    of: np.ndarray
    #: Stretches of attempts that ran, in the order of lane and start; none once that is not needed any more.
    order: np.ndarray

    def holding(self, attempts: np.ndarray) -> Lanes:
        """The same threads, with what some attempts, a mask, held of them; see `Stretches.of`."""
        kept = attempts[self.stretches.attempt]
        place = np.where(kept, np.cumsum(kept) - 1, -1)[self.order]
        return self._replace(stretches=self.stretches.of(attempts), of=self.of[kept], order=place[place >= 0])

    def without_order(self) -> Lanes:
        """The same in less memory."""
        return self._replace(order=self.order[:0].copy())


class _Found(NamedTuple):
    """What attempts tell of the threads."""

    #: Codes of `Attempts.places` by worker.
    places: dict[str, list[int]]
    #: Stretches of each code.
    runs: Links
    first: np.ndarray
    last: np.ndarray
    #: Whether attempts overlap by more than clocks can explain.
    beside: np.ndarray

    def runs_of(self, places: list[int]) -> np.ndarray:
        """Stretches of some codes, in their order."""
        begins, rows = self.runs
        some = [rows[begins[place] : begins[place + 1]] for place in places]
        return np.sort(np.concatenate([rows[:0], *some]))


def lanes(read: Read, attempts: Attempts) -> Lanes:
    """The threads that attempts ran on, and those of the workers that they did not use."""
    told = _workers(read("workers"))
    ran = stretches(read, attempts)
    order = _by_start(ran.place, ran.start)
    found = _find(attempts.places, ran, order)
    # In the order of the places, so that `order` goes by lane.
    names = list(dict.fromkeys((*found.places, *told)))
    rows: list[tuple[int, str, int, float, float]] = []
    lane = np.full(len(attempts.places) + 1, -1, "i4")
    moved: list[tuple[np.ndarray, np.ndarray]] = []
    for code, worker in enumerate(names):
        mine = found.places.get(worker, [])
        threads, start, stop = _life(told.get(worker), mine, found)
        if mine and worker.startswith(POOLED):
            start, stop = _wanted(attempts, ran.attempt[found.runs_of(mine)])
        if len(mine) > threads or found.beside[mine].any():
            runs, places = _spread(ran, found.runs_of(mine), threads)
            places = _no_more_than(threads, places, ran.stop[runs] - ran.start[runs])
            used = int(places.max(initial=-1)) + 1
            moved.append((runs, places + len(rows)))
            first, last = _ends(ran, runs, places, used)
            for place in range(used):
                life = (start, stop) if place < threads else (float(first[place]), float(last[place]))
                rows.append((code, str(place), 1, *life))
        else:
            used = len(mine)
            for place in mine:
                lane[place] = len(rows)
                rows.append((code, attempts.places[place][1], 1, start, stop))
        if threads > used:
            rows.append((code, "", threads - used, start, stop))
    of = lane[ran.place].astype(least(len(rows)))
    for runs, places in moved:
        of[runs] = places
    if moved:
        order = _by_start(of, ran.start)
    columns = list(zip(*rows, strict=True)) or [()] * 5
    return Lanes(
        workers=names,
        joined=np.array([told[name][1] if name in told else np.nan for name in names], "f8"),
        worker=np.array(columns[0], "i8"),
        thread=list(columns[1]),
        threads=np.array(columns[2], "f8"),
        start=np.array(columns[3], "f8"),
        stop=np.array(columns[4], "f8"),
        stretches=ran,
        of=of,
        order=order,
    )


def _workers(columns: Mapping[str, Any]) -> dict[str, tuple[int, float, float]]:
    """Threads, joining and leaving of every worker."""
    names = ("threads", "joined", "left")
    rows = zip(*(columns[name].tolist() for name in names), strict=True)
    return dict(zip(columns["worker"].tolist(), rows, strict=True))


def _by_start(lane: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Rows that have a lane, by lane and start."""
    order = np.argsort(start).astype("i4")
    # Sixteen bits are sorted in linear time.
    small = lane[order].astype("i2" if int(lane.max(initial=0)) < 1 << 15 else "i4")
    order = order[np.argsort(small, kind="stable")]
    return order[int((lane < 0).sum()) :]


def _find(known: list[tuple[str, str]], ran: Stretches, order: np.ndarray) -> _Found:
    count = len(known)
    place = ran.place[order]
    first, last = _ends(ran, order, place, count)
    beside = _twice(ran, order, place, count) > SMALL
    places: dict[str, list[int]] = {}
    for code, (worker, _) in enumerate(known):
        if np.isfinite(first[code]):
            places.setdefault(worker, []).append(code)
    return _Found(places, Links(np.searchsorted(place, np.arange(count + 1)), order), first, last, beside)


def _twice(ran: Stretches, order: np.ndarray, place: np.ndarray, count: int) -> np.ndarray:
    """Share of the time at each place in which attempts overlap by more than the slack."""
    start, stop = ran.start[order], ran.stop[order]
    overlaps = np.flatnonzero((place[1:] == place[:-1]) & (stop[:-1] - start[1:] > SLACK))
    if not len(overlaps):
        return np.zeros(count)
    both = np.minimum(stop[overlaps], stop[overlaps + 1]) - start[overlaps + 1]
    held = np.bincount(place, stop - start, count)
    return np.bincount(place[overlaps], both, count) / np.where(held > 0, held, 1.0)


def _ends(ran: Stretches, rows: np.ndarray, place: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """When the first stretch at each place took its thread, and when the last gave it back."""
    first, last = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(first, place, ran.executing[rows])
    np.maximum.at(last, place, ran.ended[rows])
    return first, last


def _life(
    told: tuple[int, float, float] | None, places: list[int], found: _Found
) -> tuple[int, float, float]:
    """Threads of a worker, and from when to when it was there."""
    if told is None:
        return len(places), -np.inf, np.inf
    threads, joined, left = told
    start = np.fmin(joined, found.first[places].min(initial=np.inf))
    stop = np.inf if np.isnan(left) else max(left, float(found.last[places].max(initial=-np.inf)))
    return threads, float(-np.inf if np.isnan(joined) else start), float(stop)


def _wanted(attempts: Attempts, mine: np.ndarray) -> tuple[float, float]:
    """From when the first task of a worker was wanted to when its last was done."""
    return float(attempts.at("wanted", mine).min(initial=np.inf)), float(
        attempts.at("done", mine).max(initial=-np.inf)
    )


def _spread(ran: Stretches, rows: np.ndarray, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """A worker's stretches by start, and for each the number of a thread such that none overlap.

    Where all its threads are taken, one that overlaps little is put after the first that ends.
    """
    rows = rows[np.argsort(ran.start[rows], kind="stable")]
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    chosen = []
    used = 0
    for start, stop in zip(ran.start[rows].tolist(), ran.stop[rows].tolist(), strict=True):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if busy and not free and used >= threads and busy[0][0] - start <= SMALL * (stop - start):
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            heapq.heappush(free, used)
            used += 1
        chosen.append(heapq.heappop(free))
        heapq.heappush(busy, (stop, chosen[-1]))
    return rows, np.array(chosen, "i8")


def _no_more_than(threads: int, places: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Numbers of threads as told, where further ones would be held for little of the time."""
    further = places >= threads
    if not threads or held[further].sum() > SMALL * held.sum():
        return places
    return np.where(further, places % threads, places)
