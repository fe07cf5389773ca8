"""Tracks on which what overlaps stands side by side, as viewers of nested slices need it."""

from __future__ import annotations

import heapq

import numpy as np

from ..lookup import distinct

#: Seconds by which attempts on one thread may overlap for the clocks' sake alone.
SLACK = 0.02
#: Share of the time up to which overlaps are those of clocks, and attempts run one after the other.
SMALL = 0.1


def tracks(lane: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """The track of each slice within its lane: 0, and 1, 2 … where slices of a lane overlap.

    Threads run one task at a time, but coroutines and tasks that have seceded share a thread.
    """
    track = np.zeros(len(lane), "i4")
    order = np.lexsort((start, lane))
    sorted_lane, begin, end = lane[order], start[order], np.where(np.isfinite(stop), stop, start)[order]
    # Where none begins before the one before it has ended, none overlaps another either.
    same = sorted_lane[1:] == sorted_lane[:-1]
    mixed = np.unique(sorted_lane[1:][same & (begin[1:] < end[:-1])])
    for first, last in zip(
        np.searchsorted(sorted_lane, mixed), np.searchsorted(sorted_lane, mixed, "right"), strict=True
    ):
        rows = order[first:last]
        free: list[int] = []
        busy: list[tuple[float, int]] = []
        for row in rows.tolist():
            while busy and busy[0][0] <= start[row]:
                heapq.heappush(free, heapq.heappop(busy)[1])
            track[row] = heapq.heappop(free) if free else len(busy)
            heapq.heappush(busy, (float(stop[row]), int(track[row])))
    return track


def seen_threads(worker: np.ndarray, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Threads of workers by what overlaps, where nothing else tells them.

    Parameters
    ----------
    worker
        Number of each attempt's worker.
    start, stop
        When it ran, seconds.

    Returns
    -------
    thread
        Number of each attempt's thread among those of its worker.
    threads
        How many each worker has; those that would be held for little of the time are none.
    """
    held = stop - start
    track = tracks(worker, start, stop - np.minimum(SLACK, SMALL * held))
    workers, width = int(worker.max(initial=-1)) + 1, int(track.max(initial=0)) + 1
    known, place = distinct(worker.astype("i8") * width + track, workers * width)
    by_track = np.bincount(place, held, len(known))
    ends = np.searchsorted(known, width * np.arange(workers + 1))
    threads = np.ones(workers, "i8")
    for each in np.flatnonzero(np.diff(ends) > 1).tolist():
        from_here_on = by_track[ends[each] : ends[each + 1]][::-1].cumsum()
        threads[each] = max(1, int((from_here_on > SMALL * from_here_on[-1]).sum()))
    return track % threads[worker], threads
