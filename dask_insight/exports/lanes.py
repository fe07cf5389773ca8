"""Tracks on which what overlaps stands side by side, as viewers of nested slices need it."""

from __future__ import annotations

import heapq

import numpy as np


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
