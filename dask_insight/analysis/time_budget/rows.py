"""The time budget as rows of the table `budget`, which whoever shows it only sums."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols, intern
from ...timeline import Read
from .budget import budget
from .parts import Pieces, joined, kind_of
from .subjects import Subjects, by_line, subjects

#: Pieces up to which each is a row of its own.
_PIECES = 6_000
#: Rows aimed at in larger recordings, for time in which functions ran and for all other.
_COMPUTING, _OTHER = 12_000, 24_000
#: Numbers of bins tried.
_BINS = (1_000, 500, 250, 120, 60, 30, 15, 8)
#: Parts of which a bin holds a little of many tasks. Their sums name the line that started the computation,
#: by the first of the computations that it started, and the task name only if that has a good share.
_SCATTERED = ("overhead", "deserialize", "serialize", "disk", "scheduler", "placement")
_NAMED = 0.1
#: The part of the range in which rows are counted to choose the bins.
_TRIAL = 0.02


class _Shared(NamedTuple):
    """What rows are made of; all else that is known of the attempts is let go of before.

    Moments in seconds since the epoch.
    """

    pieces: list[Pieces]
    #: Names of the parts, by code.
    parts: list[str]
    #: Row in ``graph`` of each attempt.
    described: np.ndarray
    #: Names of the workers; by lane the code of its worker, and its thread.
    workers: list[str]
    worker: np.ndarray
    thread: list[str]
    start: float
    stop: float

    @classmethod
    def of(cls, read: Read) -> _Shared:
        """What a recording tells."""
        found = budget(read)
        lanes, described = found.lanes, found.attempts.described
        names = lanes.workers, lanes.worker, lanes.thread
        return cls(found.pieces, found.parts, described, *names, found.start, found.stop)


def rows(read: Read) -> dict[str, Any]:
    """The columns of the table `budget`.

    In small recordings each piece of time is a row. In larger ones those that
    last as long as a bin are; shorter ones are summed by bin, worker, part and
    what they were for, with time that functions ran in fewer bins than other. So
    all sums over the whole run are right, and those over a part of it to a bin.
    """
    found = _Shared.of(read)
    about = subjects(read, found.described, found.pieces)
    if sum(len(each.lane) for each in found.pieces) > _PIECES and _lasting(found.pieces) > _PIECES:
        made, about = _short(read, found, about)
    else:
        made = [each._replace(row=about.of(each)) for each in (some.lasting() for some in found.pieces)]
    found.pieces.clear()
    lane, start, stop, threads, row = joined(made, 0)[:5]
    part = np.repeat(np.array([each.part for each in made], "u4"), [len(each.lane) for each in made])
    many = lane < 0
    worker = np.append(found.worker, 0)[np.where(many, -1, lane)]
    worker = np.where(many, -1 - lane, worker)
    order = np.lexsort((start, part, worker))
    lane, row = lane[order], row[order]
    named = intern([*found.thread, ""])
    return {
        "worker": Symbols(worker[order].astype("u4"), found.workers),
        "thread": Symbols(named.codes[np.where(lane < 0, -1, lane)], named.names),
        "start": start[order],
        "stop": stop[order],
        "threads": threads[order],
        "part": Symbols(part[order], found.parts),
        "name": _named(about.function, row),
        "span": _named(about.span, row),
        "submission": about.submission[row],
    }


def _lasting(pieces: list[Pieces]) -> int:
    """Number of pieces that take time."""
    return sum(int(((each.stop > each.start) & (each.threads > 0)).sum()) for each in pieces)


def _short(read: Read, found: _Shared, about: Subjects) -> tuple[list[Pieces], Subjects]:
    """Long pieces, and sums of short ones; and what they are for."""
    much = _much(found, about)
    told, bare, named = by_line(read, about)
    by_part: dict[int, list[_Told]] = {}
    for each in found.pieces:
        # What a piece of its part is told to be for, by its subject.
        alias = np.arange(len(about.function), dtype="i4")
        if found.parts[each.part] in _SCATTERED:
            alias = np.where(much[each.part], named, bare)
        by_part.setdefault(each.part, []).append(_Told(each, about, alias))
    made: list[Pieces] = []
    for computing, most in ((True, _COMPUTING), (False, _OTHER)):
        mine = {
            part: some
            for part, some in by_part.items()
            if (kind_of(found.parts[part]) == "computing") == computing
        }
        every = _bin(mine, found, most)
        for some in mine.values():
            made += _sums(some, found, every)
    return made, told


class _Told(NamedTuple):
    """Pieces and what they are told to be for."""

    pieces: Pieces
    about: Subjects
    #: By the subject of a piece, its row of the table.
    alias: np.ndarray

    def take(self, rows: np.ndarray) -> _Told:
        """Some of them."""
        return self._replace(pieces=self.pieces.take(rows))

    def between(self, begin: float, end: float) -> _Told:
        """Those that start between two moments."""
        start = self.pieces.start
        return self.take(np.flatnonzero((start >= begin) & (start < end)))

    @property
    def subject(self) -> np.ndarray:
        """What each is told to be for."""
        found: np.ndarray = self.alias[self.about.of(self.pieces)]
        return found


def _much(found: _Shared, about: Subjects) -> np.ndarray:
    """Whether the task name of each subject, a column, has a good share of a part, a row."""
    name = intern(about.function).codes
    sums, whole = np.zeros((len(found.parts), len(name))), np.zeros(len(found.parts))
    for each in found.pieces:
        seconds = each.seconds
        sums[each.part] += np.bincount(name[about.of(each)], seconds, len(name))
        whole[each.part] += seconds.sum()
    much: np.ndarray = (sums >= _NAMED * whole[:, None])[:, name]
    return much


def _named(names: list[str], of: np.ndarray) -> Symbols:
    known = intern(names)
    return Symbols(known.codes[of], known.names)


def _bin(told: dict[int, list[_Told]], found: _Shared, most: int) -> float:
    """Seconds of a bin, so that there are about so many rows."""
    length = found.stop - found.start
    begin = found.start + length / 3
    end = begin + length * _TRIAL
    some = [[each.between(begin, end) for each in alike] for alike in told.values()]
    every = length / _BINS[-1]
    for bins in _BINS:
        every = length / bins
        rows = sum(len(made.lane) for alike in some for made in _sums(alike, found, every))
        if rows <= most * _TRIAL:
            break
    return every


def _sums(told: list[_Told], found: _Shared, every: float) -> list[Pieces]:
    """The same, of one part, with all that are shorter than `every` summed by bin.

    `row` tells what for, `lane` of a sum is -1 - its worker.
    """
    bins = int(np.ceil((found.stop - found.start) / every)) + 1
    what = max(int(each.alias.max(initial=0)) for each in told) + 1
    size = max(1, len(found.workers)) * what * bins
    part = told[0].pieces.part
    long_ = []
    for each in told:
        some = each.take(np.flatnonzero(_is_long(each, every)))
        long_.append(some.pieces._replace(row=some.subject))
    coded = (_coded(each, found, every, bins, what) for each in told)
    count = sum(len(each.pieces.lane) for each in told)
    if size <= max(1 << 18, 4 * count):
        sums: np.ndarray = np.zeros(size)
        for code, weight in coded:
            sums += np.bincount(code, weight, size)
        known = np.flatnonzero(sums)
        sums = sums[known]
    else:
        code, weight = map(np.concatenate, zip(*coded, strict=True))
        there = np.flatnonzero(weight)
        known, place = np.unique(code[there], return_inverse=True)
        sums = np.bincount(place.reshape(-1), weight[there], len(known))
    rest, number = np.divmod(known, bins)
    worker, row = np.divmod(rest, what)
    start, stop = (np.rint((found.start + edge * every) * 1e6) / 1e6 for edge in (number, number + 1))
    summed = Pieces((-1 - worker).astype("i4"), start, stop, sums / (stop - start), row.astype("i4"), part)
    return [*long_, summed]


def _is_long(told: _Told, every: float) -> np.ndarray:
    """Which pieces last as long as a bin."""
    pieces = told.pieces
    mask: np.ndarray = (pieces.stop - pieces.start >= every) & (pieces.threads > 0)
    return mask


def _coded(told: _Told, found: _Shared, every: float, bins: int, what: int) -> tuple[np.ndarray, np.ndarray]:
    """Worker, subject and bin of each piece as one code, and its thread-seconds, of long ones none.

    A short piece reaches at most into the next bin: what lies there comes behind.
    """
    pieces, short = told.pieces, ~_is_long(told, every)
    number = ((pieces.start - found.start) / every).astype("i4")
    beyond = pieces.stop - (found.start + (number + 1.0) * every)
    crossing = np.flatnonzero((beyond > 0) & short)
    over = beyond[crossing] * pieces.threads[crossing]
    del beyond
    code = (found.worker * (what * bins))[pieces.lane]
    code += told.subject * np.int64(bins)
    code += number
    weight = pieces.seconds * short
    weight[crossing] -= over
    return np.append(code, code[crossing] + 1), np.append(weight, over)
