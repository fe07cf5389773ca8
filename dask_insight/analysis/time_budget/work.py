"""What ran on the threads, and the gaps between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...heap import give_back_between
from ...lookup import all_or, ratio, sums
from ...timeline import (
    Ascending,
    Attempts,
    Fields,
    Kept,
    Lanes,
    Micros,
    Moment,
    Moments,
    Number,
    Numbers,
    Read,
    own_seconds,
    seconds,
)
from .parts import PARTS, Pieces, mostly_one
from .shares import Shares

#: Stretches that are worked on together, about: those of whole lanes.
_TOGETHER = 1 << 15


@dataclass(frozen=True, eq=False, kw_only=True)
class Work(Fields):
    """All stretches, with when each held its thread; they do not overlap.

    Arrays may be those of the attempts, and are not to be changed.
    """

    #: -1 if the attempt never ran.
    lane: np.ndarray
    row: Number = Number()
    taken: Moment = Moment()
    start: Moment = Moment()
    stop: Moment = Moment()
    freed: Moment = Moment()
    #: Whether the attempt had begun before.
    resumed: np.ndarray

    @property
    def ran(self) -> Work:
        """Those of attempts that ran."""
        ran = self.lane >= 0
        return self if ran.all() else Work(**self.some(ran))


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


def _together(lanes: Lanes) -> Iterator[tuple[slice, np.ndarray]]:
    """Lanes that are worked on together, and their stretches in the order of lane and start."""
    count, order = len(lanes.worker), lanes.order
    begins = np.searchsorted(lanes.of[order], np.arange(count + 1))
    first = 0
    while first < count:
        most = np.searchsorted(begins, begins[first] + _TOGETHER, side="right") - 1
        last = min(max(int(most), first + 1), count)
        yield slice(first, last), order[begins[first] : begins[last]]
        first = last


def work(lanes: Lanes) -> Work:
    """Lay the attempts out on their lanes."""
    ran = lanes.stretches
    names = {"taken": "executing", "start": "start", "stop": "stop", "freed": "ended"}
    moments = {name: own_seconds(ran.kept(told)) for name, told in names.items()}
    same = set(names)
    for _, rows in _together(lanes):
        lane = lanes.of[rows]
        new = np.ones(len(rows), bool)
        new[1:] = lane[1:] != lane[:-1]
        for name, ordered in _laid({name: each[rows] for name, each in moments.items()}, new):
            if name not in same or (moments[name][rows] != ordered).any():
                moments[name][rows] = ordered
                same.discard(name)
    told = {name: ran.kept(names[name]) if name in same else Micros.of(moments.pop(name)) for name in names}
    return Work(lane=lanes.of, row=ran.kept("attempt"), resumed=ran.resumed, **told)


def _laid(told: dict[str, np.ndarray], new: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The same without overlaps; `new` is where a lane begins."""
    start, stop = told["start"], told["stop"]
    free = _before(stop, new)
    if (free > start).any():
        stop = _greatest_so_far(stop, new)
        free = _before(stop, new)
        start = np.maximum(start, free)
    taken = np.minimum(np.maximum(told["taken"], free), start)
    following = np.full(len(new), np.inf)
    following[:-1] = np.where(new[1:], np.inf, taken[1:])
    yield "taken", taken
    yield "start", start
    yield "stop", stop
    yield "freed", np.maximum(np.minimum(told["freed"], following), stop)


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


def gaps(found: Work, lanes: Lanes) -> Iterator[Gaps]:
    """The times between, before and after; those of some lanes at a time."""
    for some, order in _together(lanes):
        begin, end = lanes.start[some], lanes.stop[some]
        number = np.arange(some.start, some.stop, dtype=found.lane.dtype)
        lane, freed = found.lane[order], found.at("freed", order)
        first, last = (np.searchsorted(lane, number, side) for side in ("left", "right"))
        start = np.empty(len(order))
        start[1:] = freed[:-1]
        used = np.flatnonzero(last > first)
        start[first[used]] = begin[used]
        after = begin.copy()
        after[used] = np.maximum(freed[last[used] - 1], begin[used])
        stop = np.concatenate((found.at("taken", order), end))
        start = np.concatenate((start, after))
        lasting = np.flatnonzero(stop > start)
        next_ = np.where(found.resumed[order], np.int32(-1), found.at("row", order))
        next_ = np.append(next_, np.full(len(end), -1, "i4"))
        yield Gaps(np.append(lane, number)[lasting], start[lasting], stop[lasting], next_[lasting])


def pieces(read: Read, attempts: Attempts, found: Work, still: Moments) -> tuple[list[Pieces], list[str]]:
    """Everything that ran, by part; and the names of the parts by code.

    Parts share the time in which not everything stood still.
    """
    told = Shares(read, attempts, still)
    give_back_between()
    names = [*PARTS, *told.custom]
    of = _Rows(found.kept("row"), len(attempts.run))
    around, inside = _around(found, of, told, still), _inside(attempts, found, of, told, names, still)
    return [*around, *inside], names


class _Rows:
    """The attempts of stretches; where each attempt has one, in their order, nothing is copied."""

    def __init__(self, row: Numbers, count: int) -> None:
        self._row = None if isinstance(row, Ascending) else all_or(row, count)
        self._count = count

    def pick(self, values: np.ndarray) -> np.ndarray:
        """By stretch, of values by attempt."""
        return values if self._row is None else values[self._row]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """By attempt, of values by stretch."""
        return values if self._row is None else sums(self._row, values, self._count)


def _around(found: Work, of: _Rows, told: Shares, still: Moments) -> Iterator[Pieces]:
    """Before the functions began and after they had ended."""
    lane, row = found.lane, found.kept("row")
    for begin, end, parts in (
        ("taken", "start", {"read": "disk", "deserialize": "deserialize"}),
        ("stop", "freed", {"write": "disk", "serialize": "serialize"}),
    ):
        start, stop = found.kept(begin), found.kept(end)
        length = _length(start, stop, still)
        left = np.broadcast_to(1.0, len(length))
        spent = told.seconds(of.sums(length), parts)
        for name in list(spent):
            if (took := spent.pop(name)).any():
                share = np.minimum(ratio(of.pick(took), length), left)
                left = left - share
                yield Pieces.sharing(lane, start, stop, parts[name], row=row, threads=share, length=length)
        yield Pieces.sharing(lane, start, stop, "overhead", row=row, threads=left, length=length)


def _inside(
    attempts: Attempts, found: Work, of: _Rows, told: Shares, names: list[str], still: Moments
) -> Iterator[Pieces]:
    """While the functions ran."""
    lane, row, start, stop = (found.kept(name) for name in ("lane", "row", "start", "stop"))
    length = _length(start, stop, still)
    left = np.broadcast_to(1.0, len(lane))
    failed = of.pick(attempts.failed)
    if failed.any():
        bad = np.flatnonzero(failed)
        begin, end, whose = (found.at(name, bad) for name in ("start", "stop", "row"))
        yield Pieces.of(lane[bad], begin, end, "failed", row=whose)
        left = np.where(failed, 0.0, 1.0)
    for name in told.custom:
        share = np.minimum(of.pick(told.within(name)), left)
        left = left - share
        yield Pieces.sharing(lane, start, stop, names.index(name), row=row, threads=share, length=length)
    share = ratio(of.pick(attempts.cpu), of.pick(of.sums(length)))
    missing = np.flatnonzero(np.isnan(share))
    share[missing] = told.cpu(found.at("row", missing))
    known = np.isfinite(share)
    share[~known] = 0.0
    np.maximum(share, 0.0, out=share)
    np.minimum(share, left, out=share)
    # CPU time is told in four bytes, too.
    share = share.astype("f4")
    yield Pieces.sharing(lane, start, stop, "cpu", row=row, threads=share, length=length)
    yield Pieces.sharing(
        lane, start, stop, "off-cpu", row=row, threads=_rest(left, share, known), length=length
    )
    if not known.all():
        threads = np.where(known, 0.0, left)
        yield Pieces.of(lane, seconds(start), seconds(stop), "compute", row=found.row, threads=threads)


def _length(start: Kept, stop: Kept, still: Moments) -> np.ndarray:
    """Seconds from one moment to the next, without standstills."""
    length = own_seconds(stop)
    length -= seconds(start)
    if len(still.start):
        length -= still.within(seconds(start), seconds(stop))
    return length


def _rest(left: np.ndarray, share: np.ndarray, known: np.ndarray) -> Callable[[], np.ndarray]:
    """Works out what a share leaves where it is known, when it is asked for: it would take as much memory."""
    kept = mostly_one(left)
    unknown = np.flatnonzero(~known)

    def rest() -> np.ndarray:
        threads: np.ndarray = kept() if callable(kept) else np.array(kept)
        threads -= share
        # In four bytes a share may be a little more than there is.
        np.maximum(threads, 0.0, out=threads)
        threads[unknown] = 0.0
        return threads

    return rest
