"""Why nothing ran: the cause of every moment of every gap.

A gap ends with the attempt that runs next on its thread. From when that was
ready, the gap is the scheduler's and the data's doing. Before, nothing on this
thread could run, and the cause is what its last input was doing at that
moment; before that was ready, what *its* last input did, and so on, back to
the beginning of the gap. A gap that nothing ended is followed back from what
ended last in the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...dag import links
from ...lookup import spread
from ...timeline import WAITS, Attempts, Inputs, Lanes, Moments, States, is_pooled
from .parts import Pieces
from .work import Gaps

#: Most steps back from one gap; what is before them is given to the last one.
_STEPS = 2_000
#: Moments between the steps of an attempt.
_STEP = ("received", "inputs", "executing", "stop")
#: Most pieces that all gaps together may give before the same is done.
_MOST = 4_000_000
#: So many of the times in which tasks waited for a thread explain what states cost: the longest.
_LONGEST = 1_000


def idle(
    attempts: Attempts, inputs: Inputs, lanes: Lanes, found: Iterable[Gaps], states: States
) -> Iterator[list[Pieces]]:
    """Share the gaps out among causes, some of them at a time."""
    latest, states = _Latest.of(attempts, inputs), _felt(attempts, inputs, states)
    limited = np.isin(lanes.worker, list(states.limited)) if states.limited else None
    room = cuts = _MOST
    for some in found:
        some, made = _away(lanes, some, states, cuts)
        cuts -= sum(each.count for each in made)
        if not len(attempts.run):
            yield [*made, Pieces.of(some.lane, some.start, some.stop, "client")]
            continue
        walked = _walk(attempts, inputs, latest, some, room)
        room -= sum(each.count for each in walked)
        yield [*made, *_own(attempts, inputs, some, limited), *walked]


def queues_for_threads(attempts: Attempts) -> bool:
    """Whether tasks are queued only while all threads of their own computation are taken.

    So local schedulers do; each computation within a task has threads of its own.
    """
    if not attempts.local.all():
        return False
    used = np.unique(attempts.worker.codes).tolist()
    return not any(is_pooled(attempts.worker.names[code]) for code in used)


def _felt(attempts: Attempts, inputs: Inputs, states: States) -> States:
    """With no more of the states that keep tasks from threads than when tasks waited for one."""
    if not states.paused and not states.joining:
        return states
    waited = Moments.together(_waits(attempts, inputs))
    waited = _longest(waited, _LONGEST)
    paused, joining = (
        {worker: each.both(waited) for worker, each in where.items()}
        for where in (states.paused, states.joining)
    )
    return states._replace(paused=paused, joining=joining)


def _longest(of: Moments, most: int) -> Moments:
    """At most so many of the intervals."""
    if len(of.start) <= most:
        return of
    longest = np.sort(np.argsort(of.start - of.stop, kind="stable")[:most])
    return Moments(of.start[longest], of.stop[longest])


def _waits(attempts: Attempts, inputs: Inputs) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """From when on and until when each attempt waited for a thread; one that got none waited to its end."""
    begin = 0
    both = zip(inputs.in_blocks("since"), attempts.in_blocks("executing", "done"), strict=True)
    for (since,), (given, done) in both:
        ran = attempts.ran[begin : begin + len(since)]
        begin += len(since)
        yield since, np.where(ran, given, done)


def _away(lanes: Lanes, found: Gaps, states: States, room: int) -> tuple[Gaps, list[Pieces]]:
    """What their workers' states explain is cut out of the gaps, in about `room` pieces of each state."""
    made: list[Pieces] = []
    for part, where in (
        ("paused", states.paused),
        ("leaving", states.leaving),
        ("joining", states.joining),
    ):
        found, cut = _cut(found, lanes.worker[found.lane], where, room)
        made.append(Pieces.of(cut.lane, cut.start, cut.stop, part, yields=1))
    return found, made


def _cut(found: Gaps, worker: np.ndarray, where: dict[int, Moments], room: int) -> tuple[Gaps, Gaps]:
    """The gaps without some moments of their workers, and what of them lay in these.

    Where that is more than `room` pieces, only the longest of these moments count.
    """
    begins, ends = (np.concatenate([np.zeros(0), *(each[end] for each in where.values())]) for end in (0, 1))
    if not len(begins):
        return found, found.take(np.zeros(0, "i8"))
    gaps_of = links(worker, np.arange(len(worker)), max(*where, int(worker.max(initial=0))) + 1)
    # The intervals that touch each gap.
    left, right = np.zeros((2, len(worker)), "i8")
    before = 0
    for code, moments in where.items():
        mine = gaps_of.rows[gaps_of.begins[code] : gaps_of.begins[code + 1]]
        left[mine] = before + np.searchsorted(moments.stop, found.start[mine], side="right")
        right[mine] = before + np.searchsorted(moments.start, found.stop[mine])
        before += len(moments.start)
    if int((right - left).sum()) > max(room, len(worker)):
        most = max(1, room // len(worker))
        return _cut(found, worker, {code: _longest(each, most) for code, each in where.items()}, room)
    rows, at = spread(left, right)
    hit = found.take(rows)
    inside = hit._replace(start=np.maximum(hit.start, begins[at]), stop=np.minimum(hit.stop, ends[at]))
    # Between one interval and the next, the gap's own ends at both sides.
    rows, at = spread(left, right + 1)
    first, last = at == left[rows], at >= right[rows]
    rest = found.take(rows)
    rest = rest._replace(
        start=np.where(first, rest.start, ends[np.maximum(at - 1, 0)]),
        stop=np.where(last, rest.stop, begins[np.minimum(at, len(begins) - 1)]),
    )
    return rest.take(np.flatnonzero(rest.stop > rest.start)), inside


def _moved(inputs: Inputs, row: np.ndarray) -> np.ndarray:
    """Whose data an attempt waited for: those from elsewhere, else those that came last, else its own."""
    moved = np.where(inputs.moved[row] >= 0, inputs.moved[row], inputs.last[row])
    return np.where(moved >= 0, moved, row)


def _own(attempts: Attempts, inputs: Inputs, found: Gaps, limited: np.ndarray | None) -> list[Pieces]:
    """From when the next attempt was ready to when it was given the thread."""
    ended = found.row >= 0
    lane, start, stop, row = (values[ended] for values in found)
    made = []
    for begin, end, part, what in (
        ("ready", "received", "scheduler", row),
        ("received", "inputs", "data", _moved(inputs, row)),
    ):
        from_, to = np.maximum(start, attempts.at(begin, row)), np.minimum(stop, attempts.at(end, row))
        made.append(Pieces.of(lane, from_, to, part, row=what))
    from_ = np.maximum(start, attempts.at("inputs", row))
    if limited is not None:
        waits = limited[lane] & (stop - from_ > WAITS)
        made.append(Pieces.of(lane[waits], from_[waits], stop[waits], "resources", row=row[waits]))
        lane, from_, stop, row = (values[~waits] for values in (lane, from_, stop, row))
    made.append(Pieces.of(lane, from_, stop, "overhead", row=row))
    return made


class _Latest(NamedTuple):
    """For any moment, what ran then and lasts longest; if nothing ran, what ended last."""

    started: np.ndarray
    longest: np.ndarray
    ended: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, attempts: Attempts, inputs: Inputs) -> _Latest:
        ran = np.flatnonzero(attempts.ran).astype("i4")
        # What took no time, as clocks tell that tick every 16 ms, leads from its moment back to itself.
        ran = ran[attempts.at("done", ran) > inputs.at("since", ran)]
        by_start = ran[np.argsort(attempts.at("executing", ran), kind="stable")]
        done = attempts.at("done", by_start)
        # One that ends before another that began earlier never lasts longest.
        longest = by_start[done == np.maximum.accumulate(done)]
        del done, by_start
        by_end = ran[np.argsort(attempts.at("done", ran), kind="stable")]
        return cls(attempts.at("executing", longest), longest, attempts.at("done", by_end), by_end)

    def at(self, attempts: Attempts, moment: np.ndarray) -> np.ndarray:
        """Rows of attempts; -1 where nothing has run."""
        if not len(self.last):
            return np.full(len(moment), -1)
        begun = np.searchsorted(self.started, moment) - 1
        longest = self.longest[np.maximum(begun, 0)]
        running = (begun >= 0) & (attempts.at("done", longest) > moment)
        over = np.searchsorted(self.ended, moment, side="right") - 1
        return np.where(running, longest, np.where(over >= 0, self.last[np.maximum(over, 0)], -1))


def _walk(attempts: Attempts, inputs: Inputs, latest: _Latest, found: Gaps, room: int) -> list[Pieces]:
    """Before the next attempt was ready, and in gaps that nothing ended; about `room` pieces at most."""
    ended = found.row >= 0
    until = np.where(ended, np.minimum(attempts.at("ready", found.row), found.stop), found.stop)
    open_ = until > found.start
    lane, low, until, row = found.lane[open_], found.start[open_], until[open_], found.row[open_]
    made: list[Pieces] = []
    # The next attempt was wanted, and its inputs were there, before the scheduler called it ready.
    has = row >= 0
    since = np.where(has, inputs.at("since", row), until)
    made.append(
        Pieces.of(lane, np.maximum(low, since), until, "scheduler", row=np.where(has, row, -1), yields=2)
    )
    until = np.minimum(until, since)
    step = _before(attempts, inputs, latest, row, until)
    queue = "inputs" if queues_for_threads(attempts) else "scheduler"
    total = 0
    for _ in range(_STEPS):
        going = until > low
        lane, low, until, row, step = (values[going] for values in (lane, low, until, row, step))
        if not len(lane) or total > room:
            break
        more, until = _step(attempts, inputs, lane, low, until, row, step, queue)
        total += sum(piece.count for piece in more)
        made += more
        row = np.where(step >= 0, step, row)
        step = np.where(step >= 0, _before(attempts, inputs, latest, step, until), -1)
    made.append(Pieces.of(lane, low, until, "inputs", row=row, yields=2))
    return made


def _before(
    attempts: Attempts, inputs: Inputs, latest: _Latest, row: np.ndarray, moment: np.ndarray
) -> np.ndarray:
    """What was waited for up to a moment, by attempts that could not be ready earlier."""
    last = np.where(row >= 0, inputs.last[row], -1)
    held = (last >= 0) & (
        attempts.at("done", np.maximum(last, 0)) >= np.where(row >= 0, attempts.at("wanted", row), 0)
    )
    return np.where(held, last, latest.at(attempts, moment))


def _step(
    attempts: Attempts,
    inputs: Inputs,
    lane: np.ndarray,
    low: np.ndarray,
    until: np.ndarray,
    row: np.ndarray,
    step: np.ndarray,
    queue: str,
) -> tuple[list[Pieces], np.ndarray]:
    """One step back: what `step` did up to a moment; and the moment before which it could do nothing.

    `queue` is the part of the time for which it was ready and had no thread.
    """
    none = step < 0
    at = np.maximum(step, 0)
    # Before anything ran, or between the end of one thing and the wish for the next.
    free = np.where(none, low, np.clip(attempts.at("done", at), low, until))
    moments = (inputs.at("since", at), *(attempts.at(name, at) for name in _STEP))
    since, received, arrived, executing, stop = (
        np.where(none, low, np.clip(moment, low, free)) for moment in moments
    )
    made = [
        Pieces.of(lane, free, until, "scheduler", row=row, yields=2),
        Pieces.of(lane, stop, free, "scheduler", row=at, yields=2),
        Pieces.of(lane, executing, stop, "inputs", row=at, yields=2),
        Pieces.of(lane, arrived, executing, "placement", row=at, yields=2),
        Pieces.of(lane, received, arrived, "data", row=_moved(inputs, at), yields=2),
        Pieces.of(lane, since, received, queue, row=at, yields=2),
    ]
    return [piece for piece in made if piece.count], since
