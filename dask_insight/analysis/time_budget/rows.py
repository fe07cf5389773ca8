"""The time budget as rows of the table `budget`, which whoever shows it only sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...batch import Symbols, intern
from ...timeline import Read
from .budget import Budget, budget, split
from .parts import CODE, Pieces, kind_of, together
from .subjects import subjects

#: Pieces up to which each is a row of its own.
_PIECES = 6_000
#: Rows aimed at in larger recordings, for time in which functions ran and for all other.
_COMPUTING, _OTHER = 12_000, 24_000
#: Numbers of bins tried.
_BINS = (1_000, 500, 250, 120, 60, 30)
#: Parts whose sums do not name tasks: there are too many, and the cause lies with none of them.
_NAMELESS = ("overhead", "scheduler", "placement")
#: The part of the range in which rows are counted to choose the bins.
_TRIAL = 0.05


def rows(read: Read) -> dict[str, Any]:
    """The columns of the table `budget`.

    In small recordings each piece of time is a row. In larger ones those that
    last as long as a bin are; shorter ones are summed by bin, worker, part and
    what they were for, with time that functions ran in fewer bins than other. So
    all sums over the whole run are right, and those over a part of it to a bin.
    """
    found = budget(read)
    about = subjects(read, found)
    # `row` carries what a piece was for; `lane` of a sum is -1 - its worker.
    made = found.pieces._replace(row=about.of.astype("i4"))
    if len(made.row) > _PIECES:
        computing = np.array([kind_of(name) == "computing" for name in found.parts])[made.part]
        nothing = _nothing(about.function, about.span, about.submission)
        nameless = np.isin(made.part, [CODE[name] for name in _NAMELESS])
        subject = np.where(nameless & (nothing >= 0), nothing, made.row).astype("i4")
        inside, outside = np.flatnonzero(computing), np.flatnonzero(~computing)
        made = together(
            [
                _summed(made.take(inside), made.row[inside], found, _COMPUTING),
                _summed(made.take(outside), subject[outside], found, _OTHER),
            ]
        )
    many = made.lane < 0
    worker = np.append(found.lanes.worker, 0)[np.where(many, -1, made.lane)]
    worker = np.where(many, -1 - made.lane, worker)
    order = np.lexsort((made.start, made.part, worker))
    made, worker = made.take(order), worker[order]
    threads = intern([*found.lanes.thread, ""])
    return {
        "worker": Symbols(worker.astype("u4"), found.lanes.workers),
        "thread": Symbols(threads.codes[np.where(made.lane < 0, -1, made.lane)], threads.names),
        "start": made.start,
        "stop": made.stop,
        "threads": made.threads,
        "part": Symbols(made.part.astype("u4"), found.parts),
        "name": _named(about.function, made.row),
        "span": _named(about.span, made.row),
        "submission": about.submission[made.row],
    }


def _nothing(function: list[str], span: list[str], submission: np.ndarray) -> int:
    """What stands for nothing; -1 if it is not there."""
    told = zip(function, span, (submission == 0xFFFF_FFFF).tolist(), strict=True)
    return next((row for row, (name, where, none) in enumerate(told) if not name and not where and none), -1)


def _named(names: list[str], of: np.ndarray) -> Symbols:
    known = intern(names)
    return Symbols(known.codes[of], known.names)


def _summed(made: Pieces, subject: np.ndarray, found: Budget, most: int) -> Pieces:
    """Long pieces, and sums of short ones."""
    length = found.stop - found.start
    trial = (made.start >= found.start + length / 3) & (made.start < found.start + length * (1 / 3 + _TRIAL))
    some, what = made.take(np.flatnonzero(trial)), subject[trial]
    bins = _BINS[-1]
    for bins in _BINS:
        if len(_sums(some, what, found, length / bins).row) <= most * _TRIAL:
            break
    return _sums(made, subject, found, length / bins)


def _sums(made: Pieces, subject: np.ndarray, found: Budget, every: float) -> Pieces:
    """The same with all pieces that are shorter than `every` summed by bin."""
    short = made.stop - made.start < every
    small = split(made.take(short)._replace(row=subject[short]), found.start, every)
    number = np.floor(((small.start + small.stop) / 2 - found.start) / every).astype("i8")
    bins = max(int(number.max(initial=0)), 0) + 1
    what, parts = int(subject.max(initial=0)) + 1, len(found.parts)
    code = ((found.lanes.worker[small.lane] * parts + small.part) * what + small.row) * bins + number
    size = max(1, len(found.lanes.workers)) * parts * what * bins
    if size <= 1 << 25:
        sums = np.bincount(code, small.seconds, size)
        known = np.flatnonzero(sums)
        sums = sums[known]
    else:
        known, place = np.unique(code, return_inverse=True)
        sums = np.bincount(place.reshape(-1), small.seconds, len(known))
    rest, number = np.divmod(known, bins)
    rest, row = np.divmod(rest, what)
    worker, part = np.divmod(rest, parts)
    start, stop = (np.rint((found.start + edge * every) * 1e6) / 1e6 for edge in (number, number + 1))
    summed = Pieces(
        (-1 - worker).astype("i4"),
        start,
        stop,
        sums / (stop - start),
        part.astype("i2"),
        row.astype("i4"),
        np.zeros(len(known), "i1"),
    )
    return together([made.take(np.flatnonzero(~short)), summed])
