"""What a worker's transitions tell about attempts, as packed rows; times are the worker's own clock."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from distributed import worker as dasks

from .resources import Resident
from .rows import Rows
from .secede import Seceded
from .threads import follow, unfollow

NOTHING = 0xFFFF_FFFF
#: End states by the code that stands in a packed row.
STATUSES = ("memory", "error", "rescheduled", "cancelled", "released")
_MEMORY, _ERROR, _RESCHEDULED, _CANCELLED, _RELEASED = range(len(STATUSES))
_CODES = {"memory": _MEMORY, "error": _ERROR, "rescheduled": _RESCHEDULED}
_NAN = math.nan
_TEXT = 20_000
_BOUND = 200_000
_ERRORS = 10_000
#: run, thread, status, ended, stop, start, executing, ready, received, cpu, rss, Dask's correction
LAYOUT = "IQBddddddffd"
#: run, thread, start
RUNNING = "IQd"
#: Seconds after which a task that runs is worth telling of.
_LONG = 0.3
#: Seconds below which a function changes the resident memory by less than noise, and for which the last
#: reading stands when an attempt begins.
_SHORT, _FRESH = 0.005, 0.02
#: Events that are kept before they are worked off.
_MANY = 128
#: Kinds of events.
_WAITS, _IS_READY, _EXECUTES, _IS_TOLD, _ENDS, _LEAVES = range(6)
#: States of a task whose function runs, though it may have been told to stop or to let others run.
_RUNS = ("executing", "long-running", "cancelled", "resumed")
#: States from which an attempt can be given up.
_PENDS = ("waiting", "ready", "constrained", *_RUNS)


class _Attempt:
    """An attempt that has not ended."""

    __slots__ = ("cancelled", "delay", "executing", "ready", "received", "rss", "run", "told")

    def __init__(self, run: int, received: float) -> None:
        self.run = run
        self.received = received
        self.ready = self.executing = self.rss = _NAN
        self.delay = 0.0
        self.cancelled = self.told = False


#: Attempt, thread, status, ended, stop, start, and the total of CPU seconds before.
_Ended = tuple[_Attempt, int, int, float, float, float, float]
#: Dask's notes of the phases and how many of them there were, when the function was called, the name of the
#: total of CPU seconds, and that total before.
_Ran = tuple[Sequence[dict[str, Any]], int, "float | None", "tuple[Any, ...] | None", float]
#: Run, start, stop, prefix and thread of what has ended.
End = tuple[int, float, float, str, int]


class Executions:
    """Follows the attempts on one worker.

    A transition comes several times for every task, each time on caches that other code has filled: what
    counts is how little is touched. So it only notes what cannot be read later, and many are worked off at a
    time.

    Parameters
    ----------
    worker
        The `distributed.Worker`.
    fetched
        Called when data have come from another worker.
    failed
        Told of an error in `transition`.

    Attributes
    ----------
    ended
        Told of each run that has ended, where somebody wants to know; at `take` at the latest.
    """

    def __init__(
        self,
        worker: Any,
        fetched: Callable[[], None],
        failed: Callable[[str, Exception], None],
    ) -> None:
        self._worker = worker
        self._tasks = worker.state.tasks
        self.ended: Callable[[End], None] | None = None
        self._fetched = fetched
        self._failed = failed
        self.rows = Rows(LAYOUT, _BOUND)
        #: Kind, key, time, and what belongs to the kind.
        self._events: list[tuple[Any, ...]] = []
        self.errors: list[tuple[int, Hashable, str, str]] = []
        self.dropped = 0
        self.running = Rows(RUNNING, _BOUND)
        #: Corrections of Dask's, with the time from which each was seen to hold.
        self.delays: list[tuple[float, float]] = [(dasks.time(), worker.scheduler_delay)]
        self._delay = worker.scheduler_delay
        self._changes: deque[tuple[float, float]] = deque(maxlen=100)
        self._attempts: dict[Hashable, _Attempt] = {}
        #: The attempts that ended last, whose CPU time is not known yet, by the name of its total.
        self._open: dict[tuple[Any, ...], _Ended] = {}
        self._resident = Resident()
        self._threads = follow(worker)
        self._seceded = Seceded(worker, self.run_of, failed)

    @property
    def gaps(self) -> list[str]:
        """What cannot be known here."""
        return [self._seceded.reason] if self._seceded.reason else []

    def transition(self, key: Hashable, start: str, finish: str, **facts: Any) -> None:
        """Note one transition; stands in for `WorkerPlugin.transition` itself, to spare a call."""
        if start == "memory" or finish == "forgotten":
            return
        try:
            if finish == "ready" or finish == "constrained":
                self._events.append((_IS_READY, key, dasks.time()))
            elif finish == "waiting":
                if start != "cancelled":
                    self._events.append((_WAITS, key, dasks.time(), self._tasks[key].run_id))
                    if len(self._events) >= _MANY:
                        self._work_off()
            elif finish == "executing":
                if self._worker.scheduler_delay != self._delay:
                    self._corrected()
                now, resident = dasks.time(), self._resident
                rss = resident.last if 0 <= now - resident.when < _FRESH else resident.read(now)
                self._events.append((_EXECUTES, key, now, self._tasks[key].run_id, self._delay, rss))
            elif finish == "memory" and start == "executing":
                self._ends(key, self._tasks[key], _MEMORY)
            elif start == "flight" and finish == "memory":
                self._fetched()
            elif start in _PENDS:
                self._left(key, start, finish)
        except Exception as error:
            self._failed("transition", error)

    def run_of(self, key: Hashable) -> int:
        """The run that works on a task now."""
        state = self._tasks.get(key)
        return NOTHING if state is None else state.run_id & NOTHING

    def _corrected(self) -> None:
        """Dask's correction of this worker's clock is another one."""
        self._delay = self._worker.scheduler_delay
        self.delays.append((dasks.time(), self._delay))
        self._changes.append(self.delays[-1])

    def _left(self, key: Hashable, start: str, finish: str) -> None:
        """An attempt has ended, or been told to, in another way than the usual one."""
        if start in _RUNS:
            state = self._tasks.get(key)
            if state is not None and state.state in _RUNS:
                # It was told to stop, or to go on, but its function still runs.
                self._events.append((_IS_TOLD, key, dasks.time(), state.state == "cancelled"))
            else:
                self._ends(key, state, _CODES.get(finish, _CANCELLED))
        elif finish == "released":
            self._events.append((_LEAVES, key, dasks.time()))

    def _ends(self, key: Hashable, state: Any, status: int) -> None:
        """Note the end of an attempt, with what will be gone or be another one when it is worked off."""
        worker, resident = self._worker, self._resident
        if worker.scheduler_delay != self._delay:
            self._corrected()
        now = dasks.time()
        if state is None:
            rss = resident.read(now)
            ran: _Ran = (), 0, None, None, 0.0
            error = None
        else:
            called, phases = state.start_time, state.startstops
            brief = phases and phases[-1]["stop"] - phases[-1]["start"] < _SHORT
            rss = resident.last if brief else resident.read(now)
            where = ("execute", state.span_id, state.prefix, "thread-cpu", "seconds")
            ran = phases, len(phases), called, where, worker.digests_total.get(where, 0.0)
            error = None if status != _ERROR else (state.exception_text or "", state.traceback_text or "")
        thread = worker.state.threads.get(key) or self._threads.forgotten(key)
        self._events.append((_ENDS, key, now, status, thread, self._delay, rss, ran, error))
        if len(self._events) >= _MANY:
            self._work_off()

    def _work_off(self) -> None:
        """Take in what was noted; what cannot be taken in does not keep the rest from it."""
        events, self._events = self._events, []
        for event in events:
            try:
                self._take_in(*event)
            except Exception as error:
                self._failed("attempt", error)

    def _take_in(self, kind: int, key: Hashable, when: float, *facts: Any) -> None:
        attempts = self._attempts
        if kind == _WAITS:
            attempts[key] = _Attempt(facts[0] & NOTHING, when)
            return
        attempt = attempts.get(key)
        if kind == _EXECUTES:
            if attempt is None:
                attempt = attempts[key] = _Attempt(0, _NAN)
            # The request may have come again with another number while the task waited.
            run, attempt.delay, attempt.rss = facts
            attempt.run, attempt.executing = run & NOTHING, when
        elif attempt is None:
            return
        elif kind == _IS_READY:
            attempt.ready = when
        elif kind == _IS_TOLD:
            (attempt.cancelled,) = facts
        else:
            del attempts[key]
            if kind == _ENDS:
                self._ended(attempt, key, when, *facts)
            else:
                attempt.executing = attempt.rss = _NAN
                self._add(attempt, 0, _RELEASED, when, _NAN, _NAN, _NAN)

    def _ended(
        self,
        attempt: _Attempt,
        key: Hashable,
        when: float,
        status: int,
        thread: int,
        delay: float,
        rss: float,
        ran: _Ran,
        error: tuple[str, str] | None,
    ) -> None:
        _, _, _, where, before = ran
        began, stopped = self._times(attempt, when, status, delay, ran)
        self._seceded.ended(attempt.run, when if stopped != stopped else stopped)
        if began == began and self.ended is not None and where is not None:
            self.ended((attempt.run, began, stopped, where[2], thread))
        attempt.rss = (rss - attempt.rss) / 2**20
        if attempt.cancelled:
            status = _CANCELLED
        if status == _MEMORY:
            # The scheduler has the times, and its message does not wait for ours.
            began = stopped = _NAN
            thread = 0
        elif status == _ERROR and error is not None:
            self._raised(attempt.run, key, *error)
        if where is None or status == _ERROR:
            self._add(attempt, thread, status, when, stopped, began, _NAN)
        else:
            self._settle(where, before)
            self._open[where] = attempt, thread, status, when, stopped, began, before

    def _times(
        self, attempt: _Attempt, when: float, status: int, delay: float, ran: _Ran
    ) -> tuple[float, float]:
        """When an attempt's function was called, and when it ended; NaN where nobody tells."""
        phases, count, called, _, _ = ran
        if status == _RESCHEDULED:
            # Dask notes no phases of it, only the call; the worker has just heard that it ended.
            return (called, when) if called is not None and called >= attempt.executing else (_NAN, _NAN)
        for phase in reversed(phases[:count]):
            if phase["action"] == "compute":
                if delay != attempt.delay:
                    self._shifted_by(attempt, called, phase["start"], when)
                return phase["start"] - attempt.delay, phase["stop"] - attempt.delay
        return _NAN, _NAN

    def _raised(self, run: int, key: Hashable, text: str, trace: str) -> None:
        if len(self.errors) < _ERRORS:
            self.errors.append((run, key, text[:_TEXT], trace[-_TEXT:]))
        else:
            self.dropped += 1

    def _settle(self, where: tuple[Any, ...], total: float) -> None:
        """Finish the row of the attempt that ended last: Dask had added its CPU time to the total by now."""
        ended = self._open.pop(where, None)
        if ended is not None:
            attempt, thread, status, when, stopped, began, before = ended
            self._add(attempt, thread, status, when, stopped, began, total - before)

    def _add(
        self,
        attempt: _Attempt,
        thread: int,
        status: int,
        ended: float,
        stopped: float,
        began: float,
        cpu: float,
    ) -> None:
        self.rows.add(
            attempt.run,
            thread,
            status,
            ended,
            stopped,
            began,
            attempt.executing,
            attempt.ready,
            attempt.received,
            cpu,
            attempt.rss,
            attempt.delay,
        )

    def _shifted_by(self, attempt: _Attempt, called: float | None, start: float, ended: float) -> None:
        """Find which correction Dask has put on an attempt that was under way when there came another.

        Just before the function starts, Dask notes the time without correction.
        """
        if called is None:
            return
        since = [delay for when, delay in self._changes if attempt.executing <= when <= ended]
        fitting = [delay for delay in (attempt.delay, *since) if start - delay >= called - 1e-5]
        if fitting:
            attempt.delay = min(fitting, key=lambda delay: start - delay - called)

    def take(self, most: int) -> tuple[dict[str, Any], list[Hashable]]:
        """What is new, packed by table, and the keys it names: first of ``running``, then of ``errors``."""
        self._work_off()
        for where in list(self._open):
            self._settle(where, self._worker.digests_total.get(where, 0.0))
        now = dasks.time()
        keys: list[Hashable] = []
        threads = {key: ident for ident, key in list(self._worker.active_threads.items())}
        for key, attempt in self._attempts.items():
            if not attempt.told and now - attempt.executing > _LONG and len(keys) < most:
                attempt.told = True
                self.running.add(attempt.run, threads.get(key, 0), attempt.executing)
                keys.append(key)
        told: dict[str, Any] = {}
        lost, self.dropped = self.dropped, 0
        self._seceded.write()
        tables = {"executions": self.rows, "running": self.running, "seceded": self._seceded.rows}
        for name, rows in tables.items():
            missed, found = rows.drain()
            lost += missed
            if found:
                told[name] = bytes(found)
        some = self.errors[: most - len(keys)]
        del self.errors[: len(some)]
        if some:
            told["errors"] = [(run, text, trace) for run, _, text, trace in some]
            keys.extend(key for _, key, _, _ in some)
        if lost:
            told["lost"] = lost
        delays, self.delays = self.delays, []
        if delays:
            told["delays"] = delays
        return told, keys

    def close(self) -> None:
        """Let go of what was opened."""
        self._resident.close()
        unfollow(self._worker, self._threads)
        self._seceded.close()
