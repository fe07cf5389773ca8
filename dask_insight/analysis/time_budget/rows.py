"""The time budget as rows of the table `budget`, which whoever shows it only sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols, intern
from ...heap import give_back
from ...timeline import Read
from .budget import budget, split
from .parts import Pieces, joined, kind_of
from .subjects import Subjects, by_line, subjects

#: Pieces up to which each is a row of its own.
_PIECES = 6_000
#: Rows aimed at in larger recordings, for time in which functions ran and for all other.
_COMPUTING, _OTHER = 12_000, 24_000
#: Numbers of bins tried.
_BINS = (1_000, 500, 250, 120, 60, 30, 15, 8)
#: Parts of which a bin holds a little of many tasks. Their sums name the line that started the computation,
#: by the first of the computations that it started, and the task name only if that has a good share. Of the
#: others so many are told in sum, those with most time.
_SCATTERED = ("overhead", "deserialize", "serialize", "disk", "scheduler", "placement")
_NAMED = 0.1
_SHARES = 2_000
#: Times as many rows as are aimed at, from which all parts are told like those, and more of their sums: with
#: the names of a good share first, then without any, at last in fewer bins yet. So rows grow with the workers
#: of a large cluster, and not with these times the names or the threads.
_CROWDED = 3
_MORE_SHARES = 12_000
_FEWER = (4, 2)
#: The part of which so many names, those waited for longest, have rows in any case: the page's own layers.
_LAYERED, _LAYERS = "inputs", 4
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
    What of sums without a name is whose, rows of no length tell; see `_shares`.
    Where workers times names are very many, all sums are without a name, so
    that what one name took on one worker, or in one bin, is not told.
    """
    found = _Shared.of(read)
    give_back()
    about = subjects(read, found.described, found.pieces)
    if sum(len(each.lane) for each in found.pieces) > _PIECES and _many(found.pieces):
        made, about = _short(read, found, about)
    else:
        made = [each.but(row=about.of(each)) for each in (some.lasting() for some in found.pieces)]
    found.pieces.clear()
    whole = joined(made, 0)
    lane, start, stop, threads, row = whole.lane, whole.start, whole.stop, whole.threads, whole.row
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


def _many(pieces: list[Pieces]) -> bool:
    """Whether more of them take time than can be rows of their own."""
    count = 0
    for each in (some for part in pieces for some in part.blocks()):
        count += int(np.count_nonzero((each.stop > each.start) & (each.threads > 0)))
        if count > _PIECES:
            return True
    return False


def _short(read: Read, found: _Shared, about: Subjects) -> tuple[list[Pieces], Subjects]:
    """Long pieces, and sums of short ones; and what they are for."""
    spent = _spent(found, about)
    much = _much(spent, about)
    told, bare, named = by_line(read, about)
    plain = np.arange(len(about.function), dtype="i4")
    # What pieces of each part are told to be for, by their subject: in ever fewer words.
    usual = [
        np.where(much[code], named, bare) if part in _SCATTERED else plain
        for code, part in enumerate(found.parts)
    ]
    ways = [usual, [np.where(each, named, bare) for each in much], [bare] * len(found.parts)]
    if _LAYERED in found.parts:
        code = found.parts.index(_LAYERED)
        for way in ways[1:]:
            way[code] = np.where(_most(spent[code], about, _LAYERS), named, bare)
    made: list[Pieces] = []
    shares = _SHARES
    for computing, most in ((True, _COMPUTING), (False, _OTHER)):
        mine = [
            each for each in found.pieces if (kind_of(found.parts[each.part]) == "computing") == computing
        ]
        sums, way = _summed(mine, about, ways, found, most)
        made += sums
        for code in {each.part for each in mine}:
            spent[code, way[code] != bare] = 0.0
        if way is not usual:
            shares = _MORE_SHARES
    return [*made, *_shares(found, spent, told, named, shares)], told


def _summed(
    pieces: list[Pieces], about: Subjects, ways: list[list[np.ndarray]], found: _Shared, most: int
) -> tuple[list[Pieces], list[np.ndarray]]:
    """About so many rows of some pieces, and in which of some ways it is told what they are for.

    In all but the first way long pieces are cut, and summed too: a worker may have many threads.
    """
    length = found.stop - found.start
    made: list[Pieces] = []
    for way in ways:
        alike = _by_part(pieces, about, way)
        cut = way is not ways[0]
        bins = _BINS[-1] if cut else _bins(alike, found, most)
        made = [each for some in alike for each in _sums(some, found, length / bins, cut=cut)]
        count = _count(made)
        if count > _CROWDED * most:
            continue
        # Without names there may be room for more bins.
        more = next(each for each in _BINS if each <= bins or count * each <= most * bins) if cut else bins
        if more > bins:
            made = [each for some in alike for each in _sums(some, found, length / more, cut=True)]
        return made, way
    for bins in _FEWER:
        made = [each for some in alike for each in _sums(some, found, length / bins, cut=True)]
        if _count(made) <= _CROWDED * most:
            break
    return made, way


def _count(made: list[Pieces]) -> int:
    return sum(len(each.lane) for each in made)


def _by_part(pieces: list[Pieces], about: Subjects, way: list[np.ndarray]) -> list[list[_Told]]:
    by_part: dict[int, list[_Told]] = {}
    for each in pieces:
        by_part.setdefault(each.part, []).append(_Told(each, about, way[each.part]))
    return list(by_part.values())


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


def _spent(found: _Shared, about: Subjects) -> np.ndarray:
    """Thread-seconds of each part, a row, that went into each subject, a column."""
    spent = np.zeros((len(found.parts), len(about.function)))
    for each in (some for pieces in found.pieces for some in pieces.blocks()):
        spent[each.part] += np.bincount(about.of(each), each.seconds, len(about.function))
    return spent


def _much(spent: np.ndarray, about: Subjects) -> np.ndarray:
    """Whether the task name of each subject, a column, has a good share of a part, a row."""
    name = intern(about.function).codes
    sums = np.array([np.bincount(name, each, len(name)) for each in spent])
    much: np.ndarray = (sums >= _NAMED * spent.sum(1)[:, None])[:, name]
    return much


def _most(spent: np.ndarray, about: Subjects, names: int) -> np.ndarray:
    """Whether the task name of each subject is one of so many with most time."""
    name = intern(about.function)
    sums = np.bincount(name.codes, spent, len(name.names))
    sums[[not each for each in name.names]] = 0.0
    largest = np.argsort(sums, kind="stable")[-names:]
    most: np.ndarray = np.isin(name.codes, largest[sums[largest] > 0])
    return most


def _shares(
    found: _Shared, spent: np.ndarray, told: Subjects, named: np.ndarray, most: int
) -> Iterator[Pieces]:
    """How many thread-seconds of the sums without a name belong to a name, as threads of rows of no length.

    Parameters
    ----------
    spent
        Those of each part, a row, that went into each given subject, a column, and are told without a name.
    named
        The row of `told` for each given subject: with its name, and the line of the sums.
    most
        How many are told, those with most time.
    """
    scattered = np.flatnonzero(spent.any(axis=1))
    if not len(scattered):
        return
    seconds = np.array([np.bincount(named, spent[code], len(told.function)) for code in scattered])
    seconds[:, [not name for name in told.function]] = 0.0
    largest = np.argsort(seconds, axis=None, kind="stable")[-most:]
    part, row = np.divmod(largest, len(told.function))
    for place, code in enumerate(scattered.tolist()):
        mine = row[(part == place) & (seconds[part, row] > 0)].astype("i4")
        yield Pieces(
            lane=np.full(len(mine), -1, "i4"),
            start=np.full(len(mine), found.start),
            stop=np.full(len(mine), found.start),
            threads=seconds[place, mine],
            row=mine,
            part=code,
        )


def _named(names: list[str], of: np.ndarray) -> Symbols:
    known = intern(names)
    return Symbols(known.codes[of], known.names)


def _bins(told: list[list[_Told]], found: _Shared, most: int) -> int:
    """So many bins that there are about so many rows."""
    length = found.stop - found.start
    begin = found.start + length / 3
    end = begin + length * _TRIAL
    some = [[each.between(begin, end) for each in alike] for alike in told]
    for bins in _BINS:
        rows = sum(_count(_sums(alike, found, length / bins)) for alike in some)
        if rows <= most * _TRIAL:
            break
    return bins


def _sums(told: list[_Told], found: _Shared, every: float, *, cut: bool = False) -> list[Pieces]:
    """The same, of one part, with all that are shorter than `every` summed by bin; `cut`: longer ones too.

    `row` tells what for, `lane` of a sum is -1 - its worker.
    """
    bins = int(np.ceil((found.stop - found.start) / every)) + 1
    what = max(int(each.alias.max(initial=0)) for each in told) + 1
    size = max(1, len(found.workers)) * what * bins
    part = told[0].pieces.part
    long_: list[Pieces] = []
    coded = _each_coded(told, found, every, bins, what, None if cut else long_)
    count = sum(each.pieces.count for each in told)
    if size <= max(1 << 18, 4 * count):
        sums: np.ndarray = np.zeros(size)
        for code, weight in coded:
            np.add.at(sums, code, weight)
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
    summed = Pieces(
        lane=(-1 - worker).astype("i4"),
        start=start,
        stop=stop,
        threads=sums / (stop - start),
        row=row.astype("i4"),
        part=part,
    )
    return [*long_, summed]


def _each_coded(
    told: list[_Told], found: _Shared, every: float, bins: int, what: int, long_: list[Pieces] | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """See `_coded`, for some pieces at a time; those that last as long as a bin go to `long_`, or are cut."""
    for each in told:
        for pieces in each.pieces.blocks():
            some = each._replace(pieces=pieces)
            lasts = pieces.stop - pieces.start >= every
            if lasts.any():
                more = some.take(np.flatnonzero(lasts & (pieces.threads > 0)))
                some = some.take(np.flatnonzero(~lasts))
                if long_ is None:
                    [parts] = split([more.pieces], found.start, every)
                    yield _coded(more._replace(pieces=parts), found, every, bins, what)
                else:
                    long_.append(more.pieces.but(row=more.subject))
            yield _coded(some, found, every, bins, what)


def _coded(told: _Told, found: _Shared, every: float, bins: int, what: int) -> tuple[np.ndarray, np.ndarray]:
    """Worker, subject and bin of each of some short pieces as one code, and its thread-seconds.

    A short piece reaches at most into the next bin: what lies there comes behind.
    """
    pieces = told.pieces
    number = ((pieces.start - found.start) / every).astype("i4")
    beyond = pieces.stop - (found.start + (number + 1.0) * every)
    crossing = np.flatnonzero(beyond > 0)
    over = beyond[crossing] * pieces.threads[crossing]
    code = (found.worker * (what * bins))[pieces.lane]
    code += told.subject * np.int64(bins)
    code += number
    weight = pieces.seconds
    weight[crossing] -= over
    return np.append(code, code[crossing] + 1), np.append(weight, over)
