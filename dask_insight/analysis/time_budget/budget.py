"""All the time of all threads, in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...heap import give_back, give_back_between
from ...lookup import ratio
from ...tables.facts import part_of_run, recorded
from ...timeline import (
    LOCAL,
    Attempts,
    Lanes,
    Moments,
    Read,
    attempts,
    concerns,
    inputs,
    is_pooled,
    lanes,
    standstills,
    states,
)
from .clusters import clusters
from .idle import idle, queues_for_threads
from .parts import CODE, PARTS, Pieces, joined, together
from .work import Work, gaps, pieces, work

#: Most pieces that the threads' time is cut into.
_MOST = 10_000_000


class Budget(NamedTuple):
    """The time of all threads between two moments, in pieces that do not overlap.

    They leave nothing out but moments in which everything stood still.
    """

    #: Those of one part may be several.
    pieces: list[Pieces]
    #: Names of the parts by code.
    parts: list[str]
    attempts: Attempts
    lanes: Lanes
    #: Seconds since the epoch.
    start: float
    stop: float

    @property
    def served(self) -> Moments:
        """When there was any worker."""
        there = self.lanes.start, self.lanes.stop
        return Moments.of(np.maximum(there[0], self.start), np.minimum(there[1], self.stop))

    def part(self, name: str) -> Pieces:
        """All pieces of one part."""
        code = self.parts.index(name)
        return joined([each for each in self.pieces if each.part == code], code)


class _Times(NamedTuple):
    """What of the time is asked for, seconds since the epoch, and at multiples of which seconds it is cut."""

    start: float
    stop: float
    every: float
    #: When everything stood still.
    still: Moments

    def of(self, made: list[Pieces]) -> list[Pieces]:
        """What of pieces lies in it, cut."""
        made = [each.between(self.start, self.stop) for each in made]
        return split(made, self.start, self.every) if np.isfinite(self.every) else made


class _Waiting(NamedTuple):
    """Moments with tasks, with tasks that had no worker yet, and with others that waited for a thread.

    Without those in which everything stood still.
    """

    inside: Moments
    queued: Moments
    placed: Moments
    still: Moments

    @classmethod
    def of(cls, tasks: Attempts, still: Moments) -> _Waiting:
        """Those of some attempts."""
        queued = Moments.together([] if queues_for_threads(tasks) else tasks.in_blocks("ready", "assigned"))
        placed = Moments.together(tasks.in_blocks("inputs", "executing")).without(queued)
        inside = Moments.together(tasks.in_blocks("wanted", "done"))
        return cls(inside.without(still), queued.without(still), placed.without(still), still)


def budget(read: Read, start: float = -np.inf, stop: float = np.inf, every: float = np.inf) -> Budget:
    """Share out the time of all threads between two moments, seconds since the epoch.

    Parameters
    ----------
    read
        Gives the columns of a table of the schema, times in seconds since the epoch.
    start, stop
        The range; by default from when the first task was wanted to when the last was done. No more of it
        than was recorded, and than the recording was cut out as.
    every
        Cut the pieces at the multiples of these seconds after `start`.
    """
    known = attempts(read)
    # Much of what it took is free now, and would stay beside what is worked out next.
    give_back()
    everything = lanes(read, known)
    times = _Times(*_between(read, known, start, stop), every, standstills(read))
    parts = list(PARTS)
    ran: list[Pieces] = []
    idled: list[Pieces] = []
    told = clusters(read, known, everything)
    for code, name in enumerate(told.names):
        mine = told.worker[everything.worker] == code
        if not mine.any():
            continue
        rows = told.attempt == code if len(told.names) > 1 else None
        if rows is not None and name == LOCAL:
            everything = _while_used(everything, mine, concerns(known, rows), times)
        held, free, parts = _of_scheduler(read, known, everything, mine, times, rows)
        ran += held
        idled += free
    everything = everything.without_order()
    return Budget(_awake(ran + idled, times.still), parts, known, everything, *times[:2])


def _awake(made: list[Pieces], still: Moments) -> list[Pieces]:
    """The pieces without what of them lies in moments in which everything stood still."""
    for asleep, awake in zip(*still, strict=True):
        sides = ((-np.inf, asleep), (awake, np.inf))
        made = [some for each in made for side in sides if (some := each.between(*side)).count]
    return made


def _between(read: Read, known: Attempts, start: float, stop: float) -> tuple[float, float]:
    """The range that is asked for; without a task, no more than the one moment of it that is."""
    begin, end = float(np.nanmin(known.wanted, initial=np.inf)), float(np.nanmax(known.done, initial=-np.inf))
    if begin > end:
        begin = end = next((each for each in (start, stop) if np.isfinite(each)), 0.0)
    first, last = recorded(read)
    since, until = part_of_run(read)
    start = max(since, max(start, min(first, begin)) if np.isfinite(start) else min(begin, stop))
    return start, max(start, min(until, min(stop, max(last, end)) if np.isfinite(stop) else end))


def _while_used(everything: Lanes, mine: np.ndarray, tasks: Attempts, times: _Times) -> Lanes:
    """The threads with those of a pool of this process, which counts while it is used beside others."""
    first, last = np.nanmin(tasks.wanted, initial=np.inf), np.nanmax(tasks.done, initial=-np.inf)
    begin = min(max(times.start, float(first)), times.stop)
    end = max(begin, min(times.stop, float(last)))
    return everything._replace(
        start=np.where(mine, np.clip(everything.start, begin, end), everything.start),
        stop=np.where(mine, np.clip(everything.stop, begin, end), everything.stop),
    )


def _of_scheduler(
    read: Read,
    known: Attempts,
    everything: Lanes,
    mine: np.ndarray,
    times: _Times,
    rows: np.ndarray | None,
) -> tuple[list[Pieces], list[Pieces], list[str]]:
    """What ran on the threads of a cluster, or of the local schedulers, and when nothing did; names of parts.

    `rows` are its attempts, None if all are.
    """
    tasks = known if rows is None else concerns(known, rows)
    life = everything._replace(
        start=np.where(mine, np.maximum(everything.start, times.start), times.stop),
        stop=np.where(mine, np.minimum(everything.stop, times.stop), times.stop),
    )
    if rows is not None:
        life = life.holding(rows)
    done = work(life)
    # First what is worked out in many steps, while there is nothing else yet.
    idled = _idled(read, tasks, life, done, times)
    if all(is_pooled(life.workers[code]) for code in np.unique(life.worker[mine]).tolist()):
        idled = [_to_processes(each) for each in idled]
    give_back()
    ran, parts = pieces(read, tasks, done.ran, times.still)
    give_back_between()
    ran = times.of(ran)
    if rows is not None:
        back = np.append(np.flatnonzero(rows), -1).astype("i4")
        ran, idled = ([each.but(row=back[each.row]) for each in some] for some in (ran, idled))
    return ran, idled, parts


def _to_processes(made: Pieces) -> Pieces:
    """What of a pool's processes waits for no scheduler: they start, or data are on their way."""
    return made.but(part=CODE["processes"]) if made.part in (CODE["data"], CODE["scheduler"]) else made


def _idled(read: Read, tasks: Attempts, life: Lanes, done: Work, times: _Times) -> list[Pieces]:
    """When nothing ran."""
    give_back()
    waiting = _Waiting.of(tasks, times.still)
    give_back()
    idled = _causes(read, tasks, life, done, times)
    give_back()
    return list(_left(idled, waiting))


def _causes(read: Read, tasks: Attempts, life: Lanes, done: Work, times: _Times) -> list[Pieces]:
    """When nothing ran, before other causes take precedence."""
    waited = inputs(read, tasks)
    give_back_between()
    idled: list[Pieces] = []
    for made in idle(tasks, waited, life, gaps(done, life), states(read, tasks, life)):
        some = list(together(made))
        if (life.threads > 1).any():
            # Unused threads are one lane together.
            some = [each.but(threads=each.threads * life.threads[each.lane]) for each in some]
        idled += [each.packed() for each in times.of(some)]
        give_back_between()
    return idled


def split(made: list[Pieces], zero: float, every: float) -> list[Pieces]:
    """The same pieces, cut at the multiples of some seconds after a moment.

    Raises
    ------
    ValueError
        If there would be more than memory is good for.
    """
    whole = sum(float((each.stop - each.start).sum()) for each in made) / every
    if whole > _MOST:
        raise ValueError(
            f"every={every:g} s cuts the threads' time into {whole:,.0f} pieces, more than {_MOST:,}"
        )
    return [_cut(each, zero, every) for each in made]


def _cut(made: Pieces, zero: float, every: float) -> Pieces:
    first = np.floor((made.start - zero) / every).astype("i8")
    last = np.floor((made.stop - zero) / every).astype("i8")
    if not (last > first).any():
        return made
    rows = np.repeat(np.arange(len(first)), last - first + 1)
    begins = np.cumsum(last - first + 1) - (last - first + 1)
    number = first[rows] + np.arange(len(rows)) - begins[rows]
    cut = made.take(rows)
    # Both sides of a cut are computed alike, so that nothing is lost between.
    start = np.where(number == first[rows], cut.start, np.maximum(cut.start, zero + number * every))
    stop = np.where(number == last[rows], cut.stop, np.maximum(cut.start, zero + (number + 1) * every))
    stop = np.minimum(stop, cut.stop)
    start = np.minimum(start, cut.stop)
    lasting = stop > start
    return cut.but(start=start, stop=stop).take(np.flatnonzero(lasting))


def _left(idled: list[Pieces], waiting: _Waiting) -> Iterator[Pieces]:
    """What is left to each cause, and what goes to those that take precedence; the list is emptied."""
    for each in together(idled):
        give_back_between()
        left = [each]
        if each.yields:
            left = [part.packed() for some in each.blocks() for part in _yielded(some, waiting)]
        # Only what is left stays while it is put together.
        del each
        for made in together(left):
            yield made.packed()


def _yielded(made: Pieces, waiting: _Waiting) -> list[Pieces]:
    lane, start, stop, threads, row = made.lane, made.start, made.stop, made.threads, made.row
    length = stop - start - waiting.still.within(start, stop)
    left = np.ones(len(lane))
    more = []
    for part, moments, least in (
        ("client", waiting.inside, 1),
        ("scheduler", waiting.queued, 2),
        ("placement", waiting.placed, 2),
    ):
        if made.yields < least or made.part == CODE[part]:
            continue
        seconds = moments.within(start, stop)
        if part == "client":
            seconds = length - seconds
        share = np.minimum(ratio(seconds, length), left)
        left -= share
        whose = row if part == "client" else None
        more.append(Pieces.of(lane, start, stop, part, row=whose, threads=share * threads))
    if (left == 1.0).all():
        return [made.but(yields=0)]
    return [Pieces.of(lane, start, stop, made.part, row=row, threads=threads * left), *more]
