"""What ran on the threads, and the gaps between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...lookup import all_or, sums
from ...timeline import Attempts, Lanes, Read
from .parts import PARTS, Pieces
from .shares import Shares


class Work(NamedTuple):
    """All stretches, with when each held its thread; they do not overlap.

    Arrays may be those of the attempts, and are not to be changed.
    """

    #: -1 if the attempt never ran.
    lane: np.ndarray
    row: np.ndarray
    taken: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    freed: np.ndarray
    #: Whether the attempt had begun before.
    resumed: np.ndarray

    @property
    def ran(self) -> Work:
        """Those of attempts that ran."""
        ran = self.lane >= 0
        return self if ran.all() else Work(*(values[ran] for values in self))


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
    return Work(
        lanes.of,
        ran.attempt,
        _told(ran.executing, order, taken),
        _told(ran.start, order, start),
        _told(ran.stop, order, stop),
        _told(ran.ended, order, freed),
        ran.resumed,
    )


def _told(values: np.ndarray, order: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """What is to stand in some rows, given in their order; the values themselves where it does."""
    if (values[order] == ordered).all():
        return values
    told = values.copy()
    told[order] = ordered
    return told


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
    count, order = len(lanes.worker), lanes.order
    lane, freed = found.lane[order], found.freed[order]
    first = np.searchsorted(lane, np.arange(count))
    last = np.searchsorted(lane, np.arange(count), side="right")
    start = np.empty(len(order))
    start[1:] = freed[:-1]
    used = np.flatnonzero(last > first)
    start[first[used]] = lanes.start[used]
    after = lanes.start.copy()
    after[used] = np.maximum(freed[last[used] - 1], lanes.start[used])
    stop = np.concatenate((found.taken[order], lanes.stop))
    start = np.concatenate((start, after))
    lasting = np.flatnonzero(stop > start)
    next_ = np.append(np.where(found.resumed, -1, found.row)[order], np.full(count, -1, "i4"))
    lane = np.append(lane, np.arange(count, dtype="i4"))
    return Gaps(lane[lasting], start[lasting], stop[lasting], next_[lasting])


def pieces(read: Read, attempts: Attempts, found: Work) -> tuple[list[Pieces], list[str]]:
    """Everything that ran, by part; and the names of the parts by code."""
    told = Shares(read, attempts)
    names = [*PARTS, *told.custom]
    of = _Rows(found.row, len(attempts.run))
    return [*_around(found, of, told), *_inside(attempts, found, of, told, names)], names


class _Rows:
    """The attempts of stretches; where each attempt has one, in their order, nothing is copied."""

    def __init__(self, row: np.ndarray, count: int) -> None:
        self._row, self._count = all_or(row, count), count

    def pick(self, values: np.ndarray) -> np.ndarray:
        """By stretch, of values by attempt."""
        return values if self._row is None else values[self._row]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """By attempt, of values by stretch."""
        return values if self._row is None else sums(self._row, values, self._count)


def _around(found: Work, of: _Rows, told: Shares) -> Iterator[Pieces]:
    """Before the functions began and after they had ended."""
    for start, stop, parts in (
        (found.taken, found.start, {"read": "disk", "deserialize": "deserialize"}),
        (found.stop, found.freed, {"write": "disk", "serialize": "serialize"}),
    ):
        length = stop - start
        left = np.broadcast_to(1.0, len(length))
        for name, seconds in told.seconds(of.sums(length), parts).items():
            if seconds.any():
                share = np.minimum(_over(of.pick(seconds), length), left)
                left = left - share
                yield Pieces.sharing(found.lane, start, stop, parts[name], row=found.row, threads=share)
        yield Pieces.sharing(found.lane, start, stop, "overhead", row=found.row, threads=left)


def _inside(attempts: Attempts, found: Work, of: _Rows, told: Shares, names: list[str]) -> Iterator[Pieces]:
    """While the functions ran."""
    lane, row, start, stop = found.lane, found.row, found.start, found.stop
    left = np.broadcast_to(1.0, len(row))
    failed = of.pick(attempts.failed)
    if failed.any():
        bad = np.flatnonzero(failed)
        yield Pieces.of(lane[bad], start[bad], stop[bad], "failed", row=row[bad])
        left = np.where(failed, 0.0, 1.0)
    for name in told.custom:
        share = np.minimum(of.pick(told.within(name)), left)
        left = left - share
        yield Pieces.sharing(lane, start, stop, names.index(name), row=row, threads=share)
    share = _over(of.pick(attempts.cpu), of.pick(of.sums(stop - start)))
    missing = np.flatnonzero(np.isnan(share))
    share[missing] = told.cpu(row[missing])
    known = np.isfinite(share)
    share = np.minimum(np.maximum(np.where(known, share, 0.0), 0.0), left)
    yield Pieces.sharing(lane, start, stop, "cpu", row=row, threads=share)
    left = left - share
    yield Pieces.sharing(lane, start, stop, "off-cpu", row=row, threads=np.where(known, left, 0.0))
    if not known.all():
        yield Pieces.of(lane, start, stop, "compute", row=row, threads=np.where(known, 0.0, left))


def _over(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The share that a part is of a whole; 0 where that is nothing."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0))
