"""The attempts that ran, in lanes, and those too short to be seen put together."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..batch import Symbols
from ..timeline import attempts as all_attempts
from .colors import FAILED
from .request import Request

#: How an attempt ended, by code; 0 is every end that is no failure.
STATUS = ("", *FAILED)


class Ran:
    """Attempts that ran within what is asked for; one entry each, times in seconds since the start."""

    def __init__(self, request: Request) -> None:
        self._request = request
        known = all_attempts(request.columns)
        ended: Symbols = request.columns("attempts")["status"]
        graph: Any = request.columns("graph")
        low, high = request.between
        there = known.ran & (known.stop - request.zero >= low) & (known.start - request.zero <= high)
        if request.workers is not None:
            there &= np.array([name in request.workers for name, _ in known.places] or [False])[known.place]
        name = _named(graph["prefix"], known.described, request)
        if request.prefixes is not None:
            there &= np.isin(name, [code for code, each in enumerate(self.names) if each in request.prefixes])
        rows = np.flatnonzero(there)
        self.start = known.start[rows] - request.zero
        self.stop = known.stop[rows] - request.zero
        self.name = name[rows]
        status = np.array([STATUS.index(each) if each in STATUS else 0 for each in ended.names] or [0])
        self.status = np.zeros(len(rows), "i8")
        old = rows < len(ended.codes)
        self.status[old] = status[ended.codes[rows[old]]]
        self.running = ~old
        self.described = known.described[rows]
        self.run = known.run[rows]
        self.nbytes = known.nbytes[rows]
        self.lane, self.lanes = self._in_lanes(known.place[rows], known.places)

    @property
    def names(self) -> list[str]:
        """Task names by code; the last one is that of tasks whose name is not known."""
        return [*self._request.names, ""]

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def seconds(self) -> np.ndarray:
        """How long each ran within the time that is shown."""
        low, high = self._request.between
        seconds: np.ndarray = np.maximum(np.minimum(self.stop, high) - np.maximum(self.start, low), 0.0)
        return seconds

    def key(self, entry: int) -> str:
        """Dask's key of an entry's task."""
        row = int(self.described[entry])
        return str(self._request.columns("graph")["key"][row]) if row >= 0 else ""

    def _in_lanes(
        self, place: np.ndarray, places: list[tuple[str, str]]
    ) -> tuple[np.ndarray, list[tuple[str, str]]]:
        """The lane of each: a thread, in the order of the workers' names; worker and thread of each lane."""
        used = np.unique(place).tolist()
        title = self._request.titles
        keys = {
            code: [_natural(title.get(places[code][0], places[code][0])), _natural(places[code][1])]
            for code in used
        }
        order = sorted(used, key=lambda code: keys[code])
        rank = np.zeros(len(places) + 1, "i8")
        rank[order] = np.arange(len(order))
        return rank[place], [places[code] for code in order]


class Pieces:
    """Entries in lanes, where shorter ones than a width that follow closely are put together.

    Attributes
    ----------
    first
        An entry that each piece stands for: its only one, or its first.
    count, seconds
        How many entries it stands for, and how long they took together.
    left, right
        Where it is drawn. Of those put together in one stretch, names stand
        side by side, each as wide as its entries took, from when the first
        began: so what is idle stays idle.
    begin, end
        When the first began and the last ended.
    width
        Seconds below which entries were put together; 0 if none were.
    """

    def __init__(
        self, lane: np.ndarray, start: np.ndarray, stop: np.ndarray, kind: np.ndarray, limit: int
    ) -> None:
        long = stop - start
        self.width = _width(lane, start, stop, kind, limit)
        short = np.flatnonzero(long < self.width)
        whole = np.flatnonzero(long >= self.width)
        stretch = _stretch(lane, start, short, self.width)
        order = np.lexsort((start[short], kind[short], stretch))
        rows, stretch, kinds = short[order], stretch[order], kind[short][order]
        fresh = np.ones(len(rows), bool)
        fresh[1:] = (stretch[1:] != stretch[:-1]) | (kinds[1:] != kinds[:-1])
        begins = np.flatnonzero(fresh)
        some = len(begins) > 0
        count = np.diff(begins, append=len(rows))
        seconds = np.add.reduceat(long[rows], begins) if some else np.zeros(0)
        begin, first = start[rows][begins], rows[begins]
        end = np.maximum.reduceat(stop[rows], begins) if some else np.zeros(0)
        left = _side_by_side(stretch[begins], begin, seconds)
        # What stands alone in its stretch stays where it was.
        self.first = np.concatenate((whole, first))
        self.count = np.concatenate((np.ones(len(whole), "i8"), count))
        self.seconds = np.concatenate((long[whole], seconds))
        self.left = np.concatenate((start[whole], left))
        self.right = np.concatenate((stop[whole], left + seconds))
        self.begin = np.concatenate((start[whole], begin))
        self.end = np.concatenate((stop[whole], end))

    def __len__(self) -> int:
        return len(self.first)


def _stretch(lane: np.ndarray, start: np.ndarray, rows: np.ndarray, width: float) -> np.ndarray:
    """The stretch of time, of all lanes, in which each of these rows starts."""
    if not len(rows):
        return np.zeros(0, "i8")
    zero = float(start.min())
    many = int((float(start.max()) - zero) / width) + 2
    number: np.ndarray = lane[rows].astype("i8") * many + ((start[rows] - zero) / width).astype("i8")
    return number


def _width(lane: np.ndarray, start: np.ndarray, stop: np.ndarray, kind: np.ndarray, limit: int) -> float:
    """A width that leaves no more pieces than the limit, found from a narrow one on by steps of a half."""
    if len(start) <= limit:
        return 0.0
    kinds = int(kind.max()) + 1
    lanes = int(lane.max()) + 1
    # Wider than everything, there is a piece for each lane and kind: fewer are not to be had.
    limit = max(limit, lanes * kinds)
    span = float(stop.max() - start.min()) or 1.0
    width = span * lanes / (4 * limit)
    long = stop - start
    while True:
        short = np.flatnonzero(long < width)
        pieces = len(np.unique(_stretch(lane, start, short, width) * kinds + kind[short]))
        if pieces + len(start) - len(short) <= limit or width > 2 * span:
            return width
        width *= 1.5


def _side_by_side(stretch: np.ndarray, begin: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Where each piece begins: at the begin of the first in its stretch, after those that began before it."""
    order = np.lexsort((begin, stretch))
    fresh = np.ones(len(order), bool)
    fresh[1:] = stretch[order][1:] != stretch[order][:-1]
    heads = np.flatnonzero(fresh)
    of = np.cumsum(fresh) - 1
    before = np.cumsum(seconds[order]) - seconds[order]
    left = np.empty(len(order))
    left[order] = begin[order][heads][of] + before - before[heads][of] if len(order) else 0.0
    return left


def _named(prefix: Symbols, described: np.ndarray, request: Request) -> np.ndarray:
    """Code of each attempt's name; one more than there are where its task is not known."""
    codes = np.append(prefix.codes.astype("i8"), len(prefix.names))
    named: np.ndarray = codes[described]
    return named


def _natural(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if text.isdecimal() else (1, 0, text)
