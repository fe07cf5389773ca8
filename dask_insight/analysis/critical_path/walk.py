"""The walk from the end of a run back to its beginning.

It begins with the attempt that ended last. Its own time is laid down as tiles:
the function, what the worker did around it, the way of messages. Where it
waited, the walk goes on with what it waited for last:

``input``
    the task whose result came last,
``thread``
    the task that ended on the thread, or freed the place in the worker, that it got,
``submission``
    the task that ended last before the client asked for it,
``retry``
    the attempt at the same task that failed or was lost before.

A task that has given its thread back (`SECEDED`) waits for tasks that it has
started itself: the walk goes through the one that ended last before it went
on, back to when it left, and then on with the task's own time.

So the tiles follow one another without a gap and their seconds add up to the
length of the run. An attempt stands on the path at most once.
"""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

import numpy as np

from ...tables.facts import part_of_run
from .history import History, Read

#: Columns of ``tasks`` that are looked at.
USED = (
    *("submitted", "ready", "assigned", "received", "inputs", "executing", "start", "stop", "done"),
    *("worker", "thread", "task", "run", "submission"),
)
#: What a tile's seconds went into.
KINDS = ("compute", "disk", "worker", "transfer", "thread", "scheduler", "client")
#: Why the path goes through a task: what waited for it.
REASONS = ("end", "input", "thread", "submission", "retry")
_KIND, _REASON = ({name: code for code, name in enumerate(names)} for names in (KINDS, REASONS))
#: Kinds of time that go into moving data where the worker is a process of a local scheduler's pool.
_ON_THE_WAY = ("thread", "scheduler")
#: How deep tasks are followed that wait for tasks of their own.
_DEEP = 50


class Tiles(NamedTuple):
    """Stretches of the run, first to last, and what each went into; moments in seconds since the epoch."""

    start: np.ndarray
    stop: np.ndarray
    #: Codes of `KINDS` and of `REASONS`.
    kind: np.ndarray
    because: np.ndarray
    #: Row of the attempt, -1 where there is none.
    row: np.ndarray


class _Cause(NamedTuple):
    """What an attempt waited for last."""

    row: int
    because: str
    #: Whether somebody waited for its result; else only for its thread.
    result: bool = True


def path(read: Read, columns: dict[str, Any]) -> Tiles:
    """The tiles of the path; `columns` are those of the table ``tasks``, of which moments are taken out."""
    ended = np.flatnonzero(np.isfinite(columns["done"]) | np.isfinite(columns["stop"])).astype("i4")
    tiles = _Walk(History(read, columns, ended)).tiles() if len(ended) else _Laid().tiles()
    return _between(tiles, *part_of_run(read))


def _between(tiles: Tiles, since: float, until: float) -> Tiles:
    """What of them lies in the part of the run that was asked for."""
    start, stop = np.maximum(tiles.start, since), np.minimum(tiles.stop, until)
    inside = start < stop
    return Tiles(start[inside], stop[inside], *(column[inside] for column in tiles[2:]))


class _Laid:
    """Tiles as they are laid, last to first: columns, as there may be several for each task."""

    def __init__(self) -> None:
        self._start, self._stop = array("d"), array("d")
        self._kind, self._because, self._row = array("b"), array("b"), array("q")

    def lay(self, start: float, stop: float, kind: str, because: str, row: int) -> None:
        """One more before all others, or a longer one where that is the same."""
        if self._row and self._row[-1] == row and self._kind[-1] == _KIND[kind]:
            self._start[-1] = start
            return
        self._start.append(start)
        self._stop.append(stop)
        self._kind.append(_KIND[kind])
        self._because.append(_REASON[because])
        self._row.append(row)

    def tiles(self) -> Tiles:
        """All of them."""
        columns = (self._start, self._stop, self._kind, self._because, self._row)
        return Tiles(*(np.asarray(column)[::-1] for column in columns))


class _Walk:
    """Goes back through one history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._now = history.end
        #: The moment at which the walk, or the part of it within a task, ends.
        self._floor = history.begin
        self._depth = 0
        self._visited: set[int] = set()
        self._laid = _Laid()

    def tiles(self) -> Tiles:
        """Walk back until the beginning."""
        self._walk(_Cause(self._history.last, "end"))
        self._lay(self._history.begin, "client", "submission", -1)
        return self._laid.tiles()

    def _walk(self, cause: _Cause) -> None:
        while cause.row >= 0 and self._now > self._floor:
            self._visited.add(cause.row)
            self._ran(*cause)
            cause = self._cause(cause.row, cause.because)

    def _lay(self, start: float, kind: str, because: str, row: int) -> None:
        """A tile from `start` to where the walk is; none if it is there already."""
        start = max(start, self._floor)
        if kind in _ON_THE_WAY and self._history.pooled(row):
            kind = "transfer"
        if start < self._now:
            self._laid.lay(start, self._now, kind, because, row)
            self._now = start

    def _ran(self, row: int, because: str, result: bool) -> None:
        """The time from when an attempt had its thread."""
        history = self._history
        if result:
            self._lay(history.done[row], "scheduler", because, row)
            self._around(history.stop[row], "scheduler", because, row)
        else:
            self._lay(history.stop[row], "worker", because, row)
        self._computed(row, because)
        self._around(history.executing[row], "worker", because, row)

    def _computed(self, row: int, because: str) -> None:
        """The time of its function, and of what it waited for without a thread."""
        history = self._history
        for since, left, back in history.away(row):
            if left < self._now and back > self._floor:
                self._lay(back, "compute", because, row)
                self._waited(row, because, since, left)
        self._lay(history.start[row], "compute", because, row)

    def _waited(self, row: int, because: str, since: float, left: float) -> None:
        """Back to when an attempt gave its thread back, through what it had started since a moment."""
        history = self._history
        child = history.within(self._now, since, self._visited) if self._depth < _DEEP else -1
        if child < 0:
            return
        outer, self._floor = self._floor, max(self._floor, left)
        self._depth += 1
        self._lay(history.done[child], "thread", because, row)
        self._walk(_Cause(child, "input"))
        self._depth -= 1
        self._floor = outer

    def _around(self, start: float, kind: str, because: str, row: int) -> None:
        """A stretch in which the disk may have been used."""
        for begin, end in self._history.disk(row):
            if start < end and begin < self._now:
                self._lay(end, kind, because, row)
                self._lay(max(begin, start), "disk", because, row)
        self._lay(start, kind, because, row)

    def _cause(self, row: int, because: str) -> _Cause:
        """What an attempt waited for last before it had its thread."""
        history, visited = self._history, self._visited
        ready, assigned = history.ready[row], history.assigned[row]
        if assigned != assigned:
            # Nothing is known but when it ran and what it needed.
            needed = history.input_before(row, self._now, visited)
            ready = assigned = history.done[needed] if needed >= 0 else self._now
        inputs, received = history.inputs[row], history.received[row]
        since = inputs if inputs == inputs else assigned
        holder = history.stopped_before(row, self._now, visited)
        if holder >= 0 and history.stop[holder] > since:
            if not history.ran[row]:
                # It was stolen before it had a thread.
                self._lay(history.stop[holder], "thread", because, row)
            return _Cause(holder, "thread", False)
        self._lay(since, "thread", because, row)
        self._lay(received if received == received else assigned, "transfer", because, row)
        self._lay(assigned, "scheduler", because, row)
        if ready < assigned:
            holder = history.done_before(row, assigned, visited)
            if holder >= 0 and history.done[holder] > ready:
                return _Cause(holder, "thread")
            if ready < history.joined(row) <= assigned:
                self._lay(history.joined(row), "scheduler", because, row)
                self._lay(ready, "thread", because, row)
            self._lay(ready, "scheduler", because, row)
        return self._wanted(row, because)

    def _wanted(self, row: int, because: str) -> _Cause:
        """Why a task was not ready sooner."""
        history, visited = self._history, self._visited
        submitted, done = history.submitted[row], history.done
        needed = history.input_before(row, self._now, visited)
        earlier = history.attempt_before(row, self._now, visited)
        last = max(needed, earlier, key=lambda each: done[each] if each >= 0 else -np.inf)
        if last >= 0 and not submitted > done[last]:
            return _Cause(last, "input" if last == needed else "retry")
        if submitted != submitted:
            submitted = self._now
        self._lay(submitted, "scheduler", because, row)
        before = history.any_before(submitted, visited)
        begin = done[before] if before >= 0 else history.begin
        self._lay(max(submitted - history.intake(row), begin), "scheduler", because, row)
        self._lay(begin, "client", because, row)
        return _Cause(before, "submission")
