"""What ran on the threads, and the gaps between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...lookup import sums
from ...timeline import Attempts, Lanes, Read
from .parts import PARTS, Pieces
from .shares import Shares, shares


class Work(NamedTuple):
    """Stretches in the order of lane and start, with when each held its thread; they do not overlap."""

    lane: np.ndarray
    row: np.ndarray
    taken: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    freed: np.ndarray
    #: Whether the attempt had begun before.
    resumed: np.ndarray


class Gaps(NamedTuple):
    """Times in which nothing ran on a lane."""

    lane: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    #: Row of the attempt that began when it ended; -1 if none did.
    row: np.ndarray

    def take(self, rows: np.ndarray) -> Gaps:
        """Some of them."""
        return Gaps(*(values[rows] for values in self))


def work(lanes: Lanes) -> Work:
    """Lay the attempts out on their lanes."""
    order, ran = lanes.order, lanes.stretches
    lane = lanes.of[order]
    new = np.ones(len(order), bool)
    new[1:] = lane[1:] != lane[:-1]
    start, stop = ran.start[order], ran.stop[order]
    free = _before(stop, new)
    if (free > start).any():
        stop = _greatest_so_far(stop, new)
        free = _before(stop, new)
        start = np.maximum(start, free)
    taken = np.minimum(np.maximum(ran.executing[order], free), start)
    following = np.full(len(order), np.inf)
    following[:-1] = np.where(new[1:], np.inf, taken[1:])
    freed = np.maximum(np.minimum(ran.ended[order], following), stop)
    return Work(lane, ran.attempt[order], taken, start, stop, freed, ran.resumed[order])


def _before(values: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The value before each, -inf where something new begins."""
    return np.where(new, -np.inf, np.concatenate(([-np.inf], values[:-1]))) if len(values) else values


def _greatest_so_far(values: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The greatest of each value and those before it, back to where something new begins."""
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(order), "i8")
    rank[order] = np.arange(len(order))
    rank += np.cumsum(new) * len(order)
    greatest: np.ndarray = values[order[np.maximum.accumulate(rank) % len(order)]] if len(order) else values
    return greatest


def gaps(found: Work, lanes: Lanes) -> Gaps:
    """The times between, before and after."""
    count = len(lanes.worker)
    first = np.searchsorted(found.lane, np.arange(count))
    last = np.searchsorted(found.lane, np.arange(count), side="right")
    start = np.empty(len(found.lane))
    start[1:] = found.freed[:-1]
    used = np.flatnonzero(last > first)
    start[first[used]] = lanes.start[used]
    after = lanes.start.copy()
    after[used] = np.maximum(found.freed[last[used] - 1], lanes.start[used])
    every = Gaps(
        np.concatenate((found.lane, np.arange(count, dtype="i4"))),
        np.concatenate((start, after)),
        np.concatenate((found.taken, lanes.stop)),
        np.concatenate((np.where(found.resumed, -1, found.row), np.full(count, -1, "i4"))),
    )
    lasting = every.stop > every.start
    return Gaps(*(values[lasting] for values in every))


def pieces(read: Read, attempts: Attempts, found: Work) -> tuple[list[Pieces], list[str]]:
    """Everything that ran, by part; and the names of the parts by code."""
    count = len(attempts.run)
    before = sums(found.row, found.start - found.taken, count)
    after = sums(found.row, found.freed - found.stop, count)
    told = shares(read, attempts, before, after)
    names = [*PARTS, *told.custom]
    made = list(_around(found, told)) + list(_inside(attempts, found, told, names))
    return made, names


def _around(found: Work, told: Shares) -> Iterator[Pieces]:
    """Before the functions began and after they had ended."""
    row = found.row
    for start, stop, parts in (
        (found.taken, found.start, {"disk": told.read, "deserialize": told.deserialize}),
        (found.stop, found.freed, {"disk": told.write, "serialize": told.serialize}),
    ):
        length = stop - start
        left = np.broadcast_to(1.0, len(row))
        for part, seconds in parts.items():
            mine = seconds[row]
            if mine.any():
                share = np.divide(mine, length, out=np.zeros(len(row)), where=length > 0)
                share = np.minimum(share, left)
                left = left - share
                yield Pieces.sharing(found.lane, start, stop, part, row=row, threads=share)
        yield Pieces.sharing(found.lane, start, stop, "overhead", row=row, threads=left)


def _inside(attempts: Attempts, found: Work, told: Shares, names: list[str]) -> Iterator[Pieces]:
    """While the functions ran."""
    lane, row, start, stop = found.lane, found.row, found.start, found.stop
    left = np.broadcast_to(1.0, len(row))
    failed = attempts.failed[row]
    if failed.any():
        bad = np.flatnonzero(failed)
        yield Pieces.of(lane[bad], start[bad], stop[bad], "failed", row=row[bad])
        left = np.where(failed, 0.0, 1.0)
    for name, shares_of in told.custom.items():
        share = np.minimum(shares_of[row], left)
        left = left - share
        yield Pieces.sharing(lane, start, stop, names.index(name), row=row, threads=share)
    length = sums(row, stop - start, len(attempts.run))[row]
    cpu = np.divide(attempts.cpu[row], length, out=np.zeros(len(row)), where=length > 0)
    cpu = np.where(np.isnan(cpu), told.cpu[row], cpu)
    known = np.isfinite(cpu)
    share = np.minimum(np.maximum(np.where(known, cpu, 0.0), 0.0), left)
    yield Pieces.sharing(lane, start, stop, "cpu", row=row, threads=share)
    left = left - share
    yield Pieces.sharing(lane, start, stop, "off-cpu", row=row, threads=np.where(known, left, 0.0))
    if not known.all():
        yield Pieces.of(lane, start, stop, "compute", row=row, threads=np.where(known, 0.0, left))
