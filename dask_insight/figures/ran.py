"""The attempts that ran, in lanes, and those too short to be seen put together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..arguments import Read, titles_of
from ..batch import Symbols
from ..lookup import ratio
from ..tables import plain
from ..tables.facts import part_of_run
from ..timeline import Attempts, standstills, stretches, unused_lanes
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
        graph: Any = request.columns("graph")
        low, high = request.between
        there = known.ran & (known.stop - request.zero >= low) & (known.start - request.zero <= high)
        if request.workers is not None:
            there &= np.array([name in request.workers for name, _ in known.places] or [False])[known.place]
        name = _named(graph["prefix"], known.described)
        if request.prefixes is not None:
            there &= np.isin(name, [code for code, each in enumerate(self.names) if each in request.prefixes])
        rows = np.flatnonzero(there)
        self.start = known.start[rows] - request.zero
        self.stop = known.stop[rows] - request.zero
        self.name = name[rows]
        ended, how = known.status.names, known.status.codes[rows]
        status = np.array([STATUS.index(each) if each in STATUS else 0 for each in ended] or [0])
        self.status = status[how]
        self.running = np.array([each == "" for each in ended] or [False])[how]
        self.described = known.described[rows]
        self.run = known.run[rows]
        self.nbytes = known.nbytes[rows]
        self._held = stretches(request.columns, known).of(there)
        self.still = standstills(request.columns)
        #: What is shown of the time from when the first of all tasks was wanted to when the last was done.
        self.active = _active(known, request)
        self.lane, self.lanes = self._in_lanes(known.place[rows], known.places)

    @property
    def names(self) -> list[str]:
        """Task names by code; the last one is that of tasks whose name is not known."""
        return [*self._request.names, ""]

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def seconds(self) -> np.ndarray:
        """How long each held a thread within the time that is shown, without standstills."""
        low, high = (moment + self._request.zero for moment in self.active)
        return self._held.held(len(self), self.still, (low, max(low, high)))

    @cached_property
    def lasted(self) -> np.ndarray:
        """The same, shown or not."""
        return self._held.held(len(self), self.still)

    @property
    def worker(self) -> Symbols:
        """The worker of each."""
        return Symbols(self.lane, [worker for worker, _ in self.lanes])

    def key(self, entry: int) -> str:
        """Dask's key of an entry's task."""
        row = int(self.described[entry])
        return str(self._request.columns("graph")["key"][row]) if row >= 0 else ""

    def _in_lanes(
        self, place: np.ndarray, places: list[tuple[str, str]]
    ) -> tuple[np.ndarray, list[tuple[str, str]]]:
        """The lane of each, threads by cluster and by the workers' names; worker and thread of every lane."""
        used = np.unique(place).tolist()
        lanes = [places[code] for code in used]
        lanes += self._unused([worker for worker, _ in lanes])
        order = lane_order(self._request.columns, lanes, len(used))
        rank = np.zeros(len(places) + 1, "i8")
        rank[used] = np.argsort(order)[: len(used)]
        return rank[place], [lanes[lane] for lane in order]

    def _unused(self, used: list[str]) -> list[tuple[str, str]]:
        """Lanes of threads on which nothing ran, where all task names are shown and there are any tasks."""
        request = self._request
        if request.prefixes is not None or not used:
            return []
        low, high = request.between
        unused = unused_lanes(request.columns("workers"), used, request.zero + low, request.zero + high)
        return [lane for lane in unused if request.workers is None or lane[0] in request.workers]


class Pieces:
    """Entries in lanes, where shorter ones than a width are put together with their neighbours.

    Entries of one lane that begin in the same stretch of time, as long as the
    width, are one piece, unless they are to be kept `apart`. So what is drawn
    is true but for that width, and nothing is left out.

    Attributes
    ----------
    first
        An entry that each piece stands for: its only one, or one of the name that took most.
    count, seconds
        How many entries it stands for, and how long they took together.
    own
        Seconds of those that have the name of `first`.
    left, right
        When the first began and the last ended.
    full
        How much of that time they fill, 0 to 1.
    width
        Seconds below which entries were put together; 0 if none were.

    Parameters
    ----------
    lane, start, stop, kind, apart
        A row an entry: `kind` is what the piece is coloured by, and entries
        of different `apart` never stand in one piece.
    limit
        Most pieces, unless lanes and what is kept apart are more.
    """

    def __init__(
        self,
        lane: np.ndarray,
        start: np.ndarray,
        stop: np.ndarray,
        kind: np.ndarray,
        apart: np.ndarray,
        limit: int,
    ) -> None:
        long = stop - start
        lane = lane.astype("i8") * (int(apart.max(initial=0)) + 1) + apart
        self.width = _width(lane, start, stop, limit)
        short = np.flatnonzero(long < self.width)
        whole = np.flatnonzero(long >= self.width)
        kinds = int(kind.max(initial=0)) + 1
        cell = _stretch(lane, start, short, self.width) * kinds + kind[short]
        order = np.argsort(cell, kind="stable")
        rows, cell = short[order], cell[order]
        begins = np.flatnonzero(np.diff(cell, prepend=-1))
        own = _sums(long[rows], begins)
        # Of the kinds in a stretch, the one that took most stands last.
        stretch = cell[begins] // kinds
        ranked = np.lexsort((own, stretch))
        last = np.flatnonzero(np.diff(stretch[ranked], append=-1))
        best = ranked[last]
        heads = begins[np.flatnonzero(np.diff(stretch, prepend=-1))]
        some = len(heads) > 0
        self.first = np.concatenate((whole, rows[begins[best]]))
        self.count = np.concatenate(
            (np.ones(len(whole), "i8"), np.diff(heads, append=len(rows))[: len(heads)])
        )
        self.seconds = np.concatenate((long[whole], _sums(long[rows], heads)))
        self.own = np.concatenate((long[whole], own[best]))
        left = np.minimum.reduceat(start[rows], heads) if some else np.zeros(0)
        right = np.maximum.reduceat(stop[rows], heads) if some else np.zeros(0)
        self.left = np.concatenate((start[whole], left))
        self.right = np.concatenate((stop[whole], right))
        length = self.right - self.left
        self.full = np.minimum(ratio(self.seconds, length, 1.0), 1.0)

    def __len__(self) -> int:
        return len(self.first)


def _sums(values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    return np.add.reduceat(values, begins) if len(begins) else np.zeros(0)


def _stretch(lane: np.ndarray, start: np.ndarray, rows: np.ndarray, width: float) -> np.ndarray:
    """The stretch of time, of all lanes, in which each of these rows starts."""
    if not len(rows):
        return np.zeros(0, "i8")
    zero = float(start.min())
    many = int((float(start.max()) - zero) / width) + 2
    number: np.ndarray = lane[rows] * many + ((start[rows] - zero) / width).astype("i8")
    return number


def _width(lane: np.ndarray, start: np.ndarray, stop: np.ndarray, limit: int) -> float:
    """A width that leaves no more pieces than the limit, found from a narrow one on by steps of a quarter."""
    if len(start) <= limit:
        return 0.0
    lanes = len(np.unique(lane))
    span = float(stop.max() - start.min()) or 1.0
    width = span * lanes / max(limit, lanes) / 2
    long = stop - start
    while True:
        short = np.flatnonzero(long < width)
        pieces = len(np.unique(_stretch(lane, start, short, width)))
        if pieces + len(start) - len(short) <= max(limit, lanes) or width > 2 * span:
            return width
        width *= 1.25


def _active(known: Attempts, request: Request) -> tuple[float, float]:
    """The time that is shown in which there were tasks, no more than the recording was cut out as."""
    since, until = part_of_run(request.columns)
    first, last = np.nanmin(known.wanted, initial=np.inf), np.nanmax(known.done, initial=-np.inf)
    low, high = request.between
    begin, end = max(since, float(first)) - request.zero, min(until, float(last)) - request.zero
    return max(low, begin), min(high, end)


def _named(prefix: Symbols, described: np.ndarray) -> np.ndarray:
    """Code of each attempt's name; one more than there are where its task is not known."""
    codes = np.append(prefix.codes.astype("i8"), len(prefix.names))
    named: np.ndarray = codes[described]
    return named


def lane_order(read: Read, lanes: Sequence[tuple[str, str]], used: int) -> list[int]:
    """Places of lanes, each a worker and a thread, by cluster and by the workers' names, as pages have them.

    Of each worker those from place `used` on come last: nothing ran there. So do those that nobody names.
    """
    table, title = plain.make(read, "workers"), titles_of(read)
    told = zip(*(table[name].tolist() for name in ("worker", "cluster", "joined")), strict=True)
    known = {worker: (cluster, joined if joined == joined else 0.0) for worker, cluster, joined in told}

    def key(lane: int) -> tuple[Any, ...]:
        worker, thread = lanes[lane]
        cluster, joined = known.get(worker, ("", 0.0))
        place = natural(f"{cluster} {title.get(worker, worker)}"), joined, natural(worker)
        return not worker, *place, not thread, lane >= used, natural(thread)

    return sorted(range(len(lanes)), key=key)


def natural(name: str) -> tuple[list[tuple[int, str]], str]:
    """By what names are sorted: `worker-2` before `worker-10`, capitals beside small letters."""
    parts = re.split("([0-9]+)", name.lower())
    # Letters and numbers in turns; a number of more digits is larger.
    digits = (part.lstrip("0") if at % 2 else part for at, part in enumerate(parts))
    return [(len(part) if at % 2 else 0, part) for at, part in enumerate(digits)], name
