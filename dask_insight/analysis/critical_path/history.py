"""When each attempt went through what, and who came before it: what the walk asks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...columns import forget
from ...dag import links
from ...heap import give_back_between
from ...intake import intake_seconds
from ...lookup import Lookup, fill, is_any
from ...schema import DISK, SECEDED
from ...timeline import is_pooled, sizing_of, submitted_by_tasks

Read = Callable[[str], Mapping[str, Any]]

#: Seconds up to which times away go on: parts may have come with different estimates of a clock.
_TOUCH = 0.001


class _ByTask(NamedTuple):
    """Attempts by task and moment."""

    rows: Sequence[int]
    #: Each task once, in their order, and where its rows begin.
    tasks: np.ndarray
    begins: np.ndarray


class History:
    """The attempts that ended, by row of the table ``tasks``. Moments in seconds since the epoch.

    Attributes
    ----------
    submitted, ready, assigned, received, inputs, executing, start, stop, done
        Moments of each attempt, none later than the next; NaN where unknown.
    begin, end
        Of the run: the first submission or start, the last end.
    last
        The attempt that ended last.
    ran
        Whether the function of each attempt was called.
    """

    def __init__(self, read: Read, columns: dict[str, Any], ended: np.ndarray) -> None:
        known = (columns[name][ended] for name in ("submitted", "start", "stop", "done"))
        self.begin = float(np.fmin.reduce([np.fmin.reduce(each) for each in known]))
        began = np.isfinite(columns["start"])
        self.ran, ran = began.data, ended[began[ended]]
        done: np.ndarray = np.fmax(columns.pop("done"), columns["stop"])
        attempts = _by_task(columns["task"], ended, done)
        stop = self._moments(columns, done, attempts)
        give_back_between()
        self.last = int(ended[np.argmax(done[ended])])
        self.end = float(done[ended].max())
        self._worker = columns["worker"].codes.data
        self._is_pooled = [is_pooled(name) for name in columns["worker"].names]
        self._submission = columns["submission"].data
        self._relations(read, columns["task"], attempts)
        self._stops = self._by_worker(columns["worker"].codes, ran, stop)
        self._dones = self._by_worker(columns["worker"].codes, ran, done)
        self._all = _sorted(ended, done)
        sizes = sizing_of(read, columns["run"], columns["worker"])
        self._disk = _Phases(read, columns["run"], DISK, without=sizes)
        self._away = _Phases(read, columns["run"], (SECEDED,))
        self._nested = _sorted(ran[submitted_by_tasks(read, columns["submission"][ran])], done)
        self._intake = _intake(read("submissions"))
        workers = read("workers")
        joined = dict(zip(workers["worker"].tolist(), workers["joined"].tolist(), strict=True))
        self._joined = [joined.get(name, np.nan) for name in columns["worker"].names]

    def _moments(self, columns: dict[str, Any], done: np.ndarray, attempts: _ByTask) -> np.ndarray:
        """Put the moments in order, and fill in what is missing about the end; gives `stop`.

        They are taken out of the columns, so that they need not be there twice.
        """
        take = columns.pop
        stop: np.ndarray = np.fmin(fill(take("stop"), done), done)
        start = np.fmin(fill(take("start"), stop), stop)
        executing = np.fmin(fill(take("executing"), start), start)
        # The clock of a worker may be off by milliseconds; what its scheduler saw first, was first.
        assigned = np.minimum(take("assigned"), executing)
        inputs = np.minimum(fill(take("inputs"), assigned), executing)
        received = np.minimum(fill(take("received"), assigned), inputs)
        received = np.fmax(received, assigned)
        submitted = np.minimum(take("submitted"), fill(columns["ready"], start))
        ready = np.fmin(_after_others(take("ready"), attempts, done), assigned)
        # One moment at a time is read, of few attempts: a list would make a float of every one of all.
        self.done, self.stop, self.start = done.data, stop.data, start.data
        self.executing, self.inputs, self.received = executing.data, inputs.data, received.data
        self.assigned, self.ready, self.submitted = assigned.data, ready.data, submitted.data
        return stop

    def _relations(self, read: Read, task: np.ndarray, attempts: _ByTask) -> None:
        """Which task needs which, and the attempts at each in the order of their ends."""
        self._rows, tasks, begins = attempts
        self._begins = begins.data
        places = Lookup(tasks)
        self._place = places.rows(task).data
        self._inputs = links(*_among(places, read("edges")), len(tasks))

    @staticmethod
    def _by_worker(codes: np.ndarray, rows: np.ndarray, moments: np.ndarray) -> dict[int, Sequence[int]]:
        order = rows[np.argsort(codes[rows], kind="stable")]
        cuts = np.flatnonzero(np.diff(codes[order])) + 1
        return {int(codes[part[0]]): _sorted(part, moments) for part in np.split(order, cuts) if len(part)}

    def disk(self, row: int) -> Iterable[tuple[float, float]]:
        """When an attempt used its worker's disk, last first."""
        return reversed(self._disk.of(row))

    def away(self, row: int) -> Iterable[tuple[float, float, float]]:
        """When an attempt had given its thread back, last first: had it since, left it, and had one again."""
        found: list[tuple[float, float, float]] = []
        for left, back in self._away.of(row):
            left, back = max(left, self.start[row]), min(back, self.stop[row])
            if found and left <= found[-1][2] + _TOUCH:
                found[-1] = (*found[-1][:2], max(back, found[-1][2]))
            elif left < back:
                found.append((found[-1][2] if found else self.start[row], left, back))
        return reversed(found)

    def within(self, moment: float, since: float, without: Container[int]) -> int:
        """The attempt that a task asked for after `since` and that was done last, not after a moment."""
        rows, done = self._nested, self.done
        at = bisect_right(rows, moment, key=done.__getitem__) - 1
        while at >= 0 and done[rows[at]] > since:
            if self.submitted[rows[at]] >= since and rows[at] not in without:
                return rows[at]
            at -= 1
        return -1

    def pooled(self, row: int) -> bool:
        """Whether an attempt was at a process of a local scheduler's pool."""
        mine: bool = self._is_pooled[self._worker[row]]
        return mine

    def joined(self, row: int) -> float:
        """When the worker of an attempt was there; NaN if unknown."""
        moment: float = self._joined[self._worker[row]]
        return moment

    def intake(self, row: int) -> float:
        """Seconds that the scheduler took for the graph that brought a task."""
        return self._intake.get(self._submission[row], 0.0)

    def input_before(self, row: int, moment: float, without: Container[int]) -> int:
        """The attempt that gave an input and was done last, not after a moment; -1 if there is none."""
        best, end = -1, -np.inf
        if (place := self._place[row]) >= 0:
            begin, stop = self._inputs.begins[place : place + 2].tolist()
            for needed in self._inputs.rows[begin:stop].tolist():
                found = self._at_before(needed, moment, without)
                if found >= 0 and self.done[found] > end:
                    best, end = found, self.done[found]
        return best

    def attempt_before(self, row: int, moment: float, without: Container[int]) -> int:
        """The attempt at the same task that was done last, not after a moment."""
        place = self._place[row]
        return self._at_before(place, moment, without) if place >= 0 else -1

    def _at_before(self, place: int, moment: float, without: Container[int]) -> int:
        return _before(self.done, self._rows, moment, without, self._begins[place], self._begins[place + 1])

    def stopped_before(self, row: int, moment: float, without: Container[int]) -> int:
        """The attempt on the same worker whose function returned last, not after a moment."""
        return _before(self.stop, self._stops.get(self._worker[row], ()), moment, without)

    def done_before(self, row: int, moment: float, without: Container[int]) -> int:
        """The attempt on the same worker that was done last, not after a moment."""
        return _before(self.done, self._dones.get(self._worker[row], ()), moment, without)

    def any_before(self, moment: float, without: Container[int]) -> int:
        """The attempt that was done last, not after a moment."""
        return _before(self.done, self._all, moment, without)


def _sorted(rows: np.ndarray, moments: np.ndarray) -> Sequence[int]:
    """Rows by their moments, which are not copied in that order: few of them are looked at."""
    found: Sequence[int] = rows[np.argsort(moments[rows], kind="stable")].data
    return found


def _after_others(ready: np.ndarray, attempts: _ByTask, done: np.ndarray) -> np.ndarray:
    """When attempts were ready: not before another one at the same task had ended, which was stolen."""
    follows = np.ones(len(attempts.rows), bool)
    follows[attempts.begins[:-1]] = False
    place = np.flatnonzero(follows)
    if not len(place):
        return ready
    later, before = (np.asarray(attempts.rows)[each] for each in (place, place - 1))
    after = ready.copy()
    after[later] = np.fmax(ready[later], done[before])
    return after


def _by_task(task: np.ndarray, rows: np.ndarray, done: np.ndarray) -> _ByTask:
    of_rows = task[rows]
    if (of_rows[1:] > of_rows[:-1]).all():
        return _ByTask(rows.data, of_rows, np.arange(len(rows) + 1, dtype="i4"))
    order = np.lexsort((done[rows], of_rows))
    tasks, count = np.unique(of_rows, return_counts=True)
    return _ByTask(rows[order].data, tasks, np.append(0, np.cumsum(count)).astype("i4"))


def _among(places: Lookup, edges: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Which of some tasks needs which of them, by their places."""
    left, right = places.rows(edges["task"]), places.rows(edges["dependency"])
    forget(edges)
    known = (left >= 0) & (right >= 0)
    return (left, right) if known.all() else (left[known], right[known])


def _before(
    moments: Sequence[float],
    rows: Sequence[int],
    moment: float,
    without: Container[int],
    begin: int = 0,
    end: int | None = None,
) -> int:
    """Of the rows from `begin` to `end`, by their moments, the last one not after one; -1 if none is."""
    at = bisect_right(rows, moment, begin, end, key=moments.__getitem__) - 1
    while at >= begin and rows[at] in without:
        at -= 1
    return rows[at] if at >= begin else -1


class _Phases:
    """When attempts went through phases of some actions, in their order."""

    def __init__(
        self, read: Read, runs: np.ndarray, actions: tuple[str, ...], without: np.ndarray | None = None
    ) -> None:
        phases = read("phases")
        mine = is_any(phases["action"], actions)
        some = np.flatnonzero(mine if without is None else mine & ~without)
        rows, begin, end = Lookup(runs).rows(phases["run"][some]), phases["start"][some], phases["stop"][some]
        order = np.lexsort((end, begin, rows))
        # An object for each, most of which nobody looks at, would leave gaps in what Python has of memory.
        self._rows, self._begin, self._end = rows[order].data, begin[order], end[order]

    def of(self, row: int) -> list[tuple[float, float]]:
        """Those of one attempt."""
        some = slice(bisect_left(self._rows, row), bisect_right(self._rows, row))
        return list(zip(self._begin[some].tolist(), self._end[some].tolist(), strict=True))


def _intake(submissions: Mapping[str, Any]) -> dict[int, float]:
    """Seconds that the scheduler took to take in each submission."""
    seconds = intake_seconds(submissions)
    return dict(zip(submissions["submission"].tolist(), seconds.tolist(), strict=True))
