"""The time budget as rows of the table `budget`, which whoever shows it only sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...batch import Symbols, intern
from ...timeline import Read
from .budget import Budget, budget
from .parts import Pieces, kind_of, together
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


def rows(read: Read) -> dict[str, Any]:
    """The columns of the table `budget`.

    In small recordings each piece of time is a row. In larger ones those that
    last as long as a bin are; shorter ones are summed by bin, worker, part and
    what they were for, with time that functions ran in fewer bins than other. So
    all sums over the whole run are right, and those over a part of it to a bin.
    """
    found = budget(read)
    about = subjects(read, found)
    made, subject = found.pieces, about.of
    if len(subject) > _PIECES:
        computing = np.array([kind_of(name) == "computing" for name in found.parts])[made.part]
        scattered = np.array([name in _SCATTERED for name in found.parts])[made.part]
        much = _much(found, about, subject)
        about, bare, named = by_line(read, about)
        subject = np.where(scattered, np.where(much, named[subject], bare[subject]), subject)
        made = together(
            [
                _summed(made, subject, computing, found, _COMPUTING),
                _summed(made, subject, ~computing, found, _OTHER),
            ]
        )
    else:
        made = made._replace(row=subject)
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


def _much(found: Budget, about: Subjects, subject: np.ndarray) -> np.ndarray:
    """Whether the task name of each piece has a good share of the piece's part."""
    name = intern(about.function).codes.astype("i8")[subject]
    part, count = found.pieces.part.astype("i8"), len(about.function)
    sums = np.bincount(part * count + name, found.pieces.seconds, len(found.parts) * count)
    whole = np.bincount(part, found.pieces.seconds, len(found.parts))
    much: np.ndarray = (sums >= _NAMED * np.repeat(whole, count))[part * count + name]
    return much


def _named(names: list[str], of: np.ndarray) -> Symbols:
    known = intern(names)
    return Symbols(known.codes[of], known.names)


def _summed(made: Pieces, subject: np.ndarray, mine: np.ndarray, found: Budget, most: int) -> Pieces:
    """Long pieces, and sums of short ones; `row` tells what for, `lane` of a sum is -1 - its worker."""
    length = found.stop - found.start
    begin = found.start + length / 3
    trial = np.flatnonzero(mine & (made.start >= begin) & (made.start < begin + length * _TRIAL))
    some, what = made.take(trial), subject[trial]
    bins = _BINS[-1]
    for bins in _BINS:
        tried = _sums(some, what, np.ones(len(trial), bool), found, length / bins)
        if len(tried.row) <= most * _TRIAL:
            break
    return _sums(made, subject, mine, found, length / bins)


def _sums(made: Pieces, subject: np.ndarray, mine: np.ndarray, found: Budget, every: float) -> Pieces:
    """The same with all pieces that are shorter than `every` summed by bin."""
    is_long = made.stop - made.start >= every
    long_, short = np.flatnonzero(mine & is_long), np.flatnonzero(mine & ~is_long)
    start, stop, threads = made.start[short], made.stop[short], made.threads[short]
    bins = int(np.ceil((found.stop - found.start) / every)) + 1
    number = ((start - found.start) / every).astype("i4")
    weight = (stop - start) * threads
    # A short piece reaches at most into the next bin.
    beyond = stop - (found.start + (number + 1.0) * every)
    crossing = np.flatnonzero(beyond > 0)
    over = beyond[crossing] * threads[crossing]
    weight[crossing] -= over
    del start, stop, threads, beyond
    what, parts = int(subject.max(initial=0)) + 1, len(found.parts)
    size = max(1, len(found.lanes.workers)) * parts * what * bins
    code = (found.lanes.worker * (parts * what * bins))[made.lane[short]]
    code += made.part[short] * np.int64(what * bins)
    code += subject[short] * np.int64(bins)
    code += number
    code, weight = np.append(code, code[crossing] + 1), np.append(weight, over)
    if size <= max(1 << 20, 4 * len(code)):
        sums = np.bincount(code, weight, size)
        known = np.flatnonzero(sums)
        sums = sums[known]
    else:
        there = np.flatnonzero(weight)
        known, place = np.unique(code[there], return_inverse=True)
        sums = np.bincount(place.reshape(-1), weight[there], len(known))
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
    return together([made.take(long_)._replace(row=subject[long_]), summed])
