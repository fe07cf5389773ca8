"""What a worker's transitions tell about attempts, as packed rows; times are the worker's own clock."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable
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
#: run, thread, status, ended, stop, start, executing, ready, received, rss, Dask's correction, cpu
LAYOUT = "IQBddddddfdf"
#: run, thread, start
RUNNING = "IQd"
#: Seconds after which a task that runs is worth telling of.
_LONG = 0.3
#: Seconds below which a function changes the resident memory by less than noise, and for which the last
#: reading stands when an attempt begins.
_SHORT, _FRESH = 0.005, 0.1
#: Events that are kept before they are worked off.
_MANY = 128
#: Kinds of events.
_WAITS, _IS_READY, _EXECUTES, _IS_TOLD, _ENDS, _LEAVES = range(6)
#: States of a task whose function runs, though it may have been told to stop or to let others run.
_RUNS = ("executing", "long-running", "cancelled", "resumed")
#: States from which an attempt can be given up.
_PENDS = ("waiting", "ready", "constrained", *_RUNS)


class _Attempt:
    """An attempt that has not ended; these hold until something else is known."""

    ready = executing = rss = _NAN
    delay = 0.0
    cancelled = told = False

    def __init__(self, run: int, received: float) -> None:
        self.run = run
        self.received = received


#: Of an attempt that ends: resident bytes, text and traceback of its exception, name of the total of CPU
#: seconds and that total before, when the function was called, its start and stop with Dask's correction.
_Known = tuple[float, "tuple[str, str] | None", "tuple[Any, ...] | None", float, "float | None", float, float]
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
        #: The rows of attempts that ended last, and the total of CPU seconds before, by the total's name.
        self._open: dict[tuple[Any, ...], tuple[tuple[float, ...], float]] = {}
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
            events = self._events
            if finish == "ready" or finish == "constrained":
                events.append((_IS_READY, key, dasks.time()))
            elif finish == "waiting":
                if start != "cancelled":
                    events.append((_WAITS, key, dasks.time(), self._tasks[key].run_id))
                    if len(events) >= _MANY:
                        self._work_off()
            elif finish == "executing":
                if self._worker.scheduler_delay != self._delay:
                    self._corrected()
                now, resident = dasks.time(), self._resident
                rss = resident.last if 0 <= now - resident.when < _FRESH else resident.read(now)
                events.append((_EXECUTES, key, now, self._tasks[key].run_id, self._delay, rss))
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
        """Note the end of an attempt, with what will be gone or far from the caches when it is worked off."""
        worker, resident = self._worker, self._resident
        if worker.scheduler_delay != self._delay:
            self._corrected()
        now = dasks.time()
        thread = worker.state.threads.get(key) or self._threads.forgotten(key)
        if state is None:
            known: _Known = resident.read(now), None, None, 0.0, None, _NAN, _NAN
        else:
            began = stopped = _NAN
            for phase in reversed(state.startstops):
                if phase["action"] == "compute":
                    began, stopped = phase["start"], phase["stop"]
                    break
            rss = resident.last if stopped - began < _SHORT else resident.read(now)
            error = None if status != _ERROR else (state.exception_text or "", state.traceback_text or "")
            where = ("execute", state.span_id, state.prefix, "thread-cpu", "seconds")
            known = rss, error, where, worker.digests_total.get(where, 0.0), state.start_time, began, stopped
        self._events.append((_ENDS, key, now, status, thread, self._delay, *known))
        if len(self._events) >= _MANY:
            self._work_off()

    def _work_off(self) -> None:
        """Take in what was noted; what cannot be taken in does not keep the rest from it."""
        events, self._events = self._events, []
        attempts = self._attempts
        for event in events:
            try:
                kind, key, when = event[:3]
                if kind == _WAITS:
                    attempts[key] = _Attempt(event[3] & NOTHING, when)
                elif kind == _ENDS:
                    if (attempt := attempts.pop(key, None)) is not None:
                        self._ended(attempt, *event[1:])
                elif kind == _EXECUTES:
                    attempt = attempts.get(key)
                    if attempt is None:
                        attempt = attempts[key] = _Attempt(0, _NAN)
                    # The request may have come again with another number while the task waited.
                    _, _, attempt.executing, run, attempt.delay, attempt.rss = event
                    attempt.run = run & NOTHING
                elif (attempt := attempts.get(key)) is None:
                    continue
                elif kind == _IS_READY:
                    attempt.ready = when
                elif kind == _IS_TOLD:
                    attempt.cancelled = event[3]
                else:
                    del attempts[key]
                    run, ready, received, delay = attempt.run, attempt.ready, attempt.received, attempt.delay
                    self.rows.add(
                        run, 0, _RELEASED, when, _NAN, _NAN, _NAN, ready, received, _NAN, delay, _NAN
                    )
            except Exception as error:
                self._failed("attempt", error)

    def _ended(
        self,
        attempt: _Attempt,
        key: Hashable,
        when: float,
        status: int,
        thread: int,
        delay: float,
        rss: float,
        error: tuple[str, str] | None,
        where: tuple[Any, ...] | None,
        before: float,
        called: float | None,
        began: float,
        stopped: float,
    ) -> None:
        if status == _RESCHEDULED:
            # Dask notes no phases of it, only the call; the worker has just heard that it ended.
            began = stopped = _NAN
            if called is not None and called >= attempt.executing:
                began, stopped = called, when
        else:
            if delay != attempt.delay:
                self._shifted_by(attempt, called, began, when)
            began -= attempt.delay
            stopped -= attempt.delay
        self._seceded.ended(attempt.run, when if stopped != stopped else stopped)
        if began == began and self.ended is not None and where is not None:
            self.ended((attempt.run, began, stopped, where[2], thread))
        if attempt.cancelled:
            status = _CANCELLED
        if status == _MEMORY:
            # The scheduler has the times, and its message does not wait for ours.
            began = stopped = _NAN
            thread = 0
        elif status == _ERROR and error is not None:
            self._raised(attempt.run, key, *error)
        row = (
            *(attempt.run, thread, status, when, stopped, began, attempt.executing, attempt.ready),
            *(attempt.received, (rss - attempt.rss) / 2**20, attempt.delay),
        )
        if where is None or status == _ERROR:
            self.rows.add(*row, _NAN)
        else:
            self._settle(where, before)
            self._open[where] = row, before

    def _raised(self, run: int, key: Hashable, text: str, trace: str) -> None:
        if len(self.errors) < _ERRORS:
            self.errors.append((run, key, text[:_TEXT], trace[-_TEXT:]))
        else:
            self.dropped += 1

    def _settle(self, where: tuple[Any, ...], total: float) -> None:
        """Finish the row of the attempt that ended last: Dask had added its CPU time to the total by now."""
        if (ended := self._open.pop(where, None)) is not None:
            row, before = ended
            self.rows.add(*row, total - before)

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
