"""What a worker's transitions tell about attempts, as packed rows; times are the worker's own clock."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable
from threading import get_ident
from typing import Any

from distributed import worker as dasks

from .errors import Errors
from .resources import Resident
from .rows import Items, Names, Rows
from .secede import Seceded
from .threads import follow, unfollow

NOTHING = 0xFFFF_FFFF
#: End states by the code that stands in a packed row.
STATUSES = ("memory", "error", "rescheduled", "cancelled", "released")
_MEMORY, _ERROR, _RESCHEDULED, _CANCELLED, _RELEASED = range(len(STATUSES))
_CODES = {"memory": _MEMORY, "error": _ERROR, "rescheduled": _RESCHEDULED}
_NAN = math.nan
_BOUND = 200_000
#: The last three: Dask's correction, the code of the total to which Dask adds its CPU seconds, and that total
#: when it had ended, before they were added.
LAYOUT = (
    "run:I thread:Q status:B ended:d stop:d start:d executing:d ready:d received:d rss:f"
    " delay:d total:H before:d"
)
RUNNING = "run:I thread:Q start:d"
#: Seconds after which a task that runs is worth telling of.
_LONG = 0.3
#: Seconds below which a function changes the resident memory by less than noise, and for which the last
#: reading stands when an attempt begins.
_SHORT, _FRESH = 0.005, 0.1
#: Phases whose times Dask leaves as they are; to all others it adds its correction.
UNSHIFTED = ("disk-read", "disk-write")
_COROUTINES = "stacks and CPU time of tasks that are coroutines: they share the event loop's thread"
#: States of a task whose function runs, though it may have been told to stop or to let others run.
_RUNS = ("executing", "long-running", "cancelled", "resumed")
#: States from which an attempt can be given up.
_PENDS = ("waiting", "ready", "constrained", *_RUNS)


#: What is known of an attempt that has not ended: a list, which of all is made and changed the quickest.
_Attempt = list[Any]
_RUN, _RECEIVED, _READY, _EXECUTING, _RSS, _DELAY, _WAS_CANCELLED, _WAS_TOLD = range(8)


def _attempt(run: int, received: float) -> _Attempt:
    """An attempt of which nothing else is known yet."""
    return [run & NOTHING, received, _NAN, _NAN, _NAN, 0.0, False, False]


#: Run, start, stop, prefix and thread of what has ended.
End = tuple[int, float, float, str, int]


class Executions:
    """Follows the attempts on one worker.

    A transition comes several times for every task, each time on caches that other code has filled: what
    counts is how little is touched. So it only fills in what is known of an attempt, packs that at its end,
    and leaves to the recorder what can be worked out there.

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
        Told of each run that has ended, where somebody wants to know.
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
        self.errors = Errors()
        self.phases = Items(_BOUND)
        self.running = Rows(RUNNING, _BOUND)
        #: Corrections of Dask's, with the time from which each was seen to hold.
        self.delays: list[tuple[float, float]] = [(dasks.time(), worker.scheduler_delay)]
        self._delay = worker.scheduler_delay
        self._changes: deque[tuple[float, float]] = deque(maxlen=100)
        self._attempts: dict[Hashable, _Attempt] = {}
        #: Those of them that wait for data; all others are ready as they come.
        self._lacking: dict[Hashable, _Attempt] = {}
        self._resident = Resident()
        self._threads = follow(worker)
        self._thread_of = worker.state.threads
        self._totals = worker.digests_total
        #: Names of the totals that rows name by codes since the last `take`; 0 stands for none.
        self._used = Names(None, 0xFFFF)
        self._seceded = Seceded(worker, self.run_of, failed)
        self._loop_thread = get_ident()
        self._unsampled = ""
        self._begun_before()

    def _begun_before(self) -> None:
        """Take up the attempts that are under way; what they waited for before nobody knows."""
        try:
            for state in self._worker.state.all_running_tasks:
                attempt = self._attempts[state.key] = _attempt(state.run_id, _NAN)
                attempt[_EXECUTING], attempt[_DELAY] = state.start_time or dasks.time(), self._delay
                attempt[_WAS_CANCELLED] = state.state == "cancelled"
            self._seceded.look()
        except Exception as error:
            self._failed("attempt", error)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What cannot be known here, as far as it has shown; '' for nothing."""
        return self._seceded.reason, self._unsampled

    def transition(self, key: Hashable, start: str, finish: str, **facts: Any) -> None:
        """Note one transition; stands in for `WorkerPlugin.transition` itself, to spare a call."""
        if start == "memory" or finish == "forgotten":
            return
        try:
            if finish == "ready" or finish == "constrained":
                if self._lacking and (attempt := self._lacking.pop(key, None)) is not None:
                    attempt[_READY] = dasks.time()
            elif finish == "waiting":
                if start != "cancelled":
                    state, now = self._tasks[key], dasks.time()
                    attempt = self._attempts[key] = _attempt(state.run_id, now)
                    if state.waiting_for_data:
                        self._lacking[key] = attempt
                    else:
                        attempt[_READY] = now
            elif finish == "executing":
                if self._worker.scheduler_delay != self._delay:
                    self._corrected()
                now, resident = dasks.time(), self._resident
                rss = resident.last if 0 <= now - resident.when < _FRESH else resident.read(now)
                attempt = self._attempts.get(key)
                if attempt is None:
                    attempt = self._attempts[key] = _attempt(0, _NAN)
                # The request may have come again with another number while the task waited.
                attempt[_RUN] = self._tasks[key].run_id & NOTHING
                attempt[_EXECUTING], attempt[_RSS], attempt[_DELAY] = now, rss, self._delay
            elif (
                finish == "memory"
                and start == "executing"
                # What cannot be stored fails, and Dask tells of that only then.
                and (state := self._tasks[key]).state == "memory"
            ):
                self._ends(key, state, _MEMORY)
            elif start == "flight" and finish == "memory":
                self._fetched()
            elif start in _PENDS:
                self._left(key, start, finish)
        except Exception as error:
            self._failed("transition", error)

    def run_of(self, key: Hashable) -> int:
        """The run that works on a task now."""
        if (attempt := self._attempts.get(key)) is not None:
            # While its function runs the task may have been cancelled, and asked for with another number.
            return int(attempt[_RUN])
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
            if state is None or state.state not in _RUNS:
                # Of one that was resumed to be fetched the scheduler takes no result.
                unwanted = start == "resumed" and finish == "memory"
                self._ends(key, state, _CANCELLED if unwanted else _CODES.get(finish, _CANCELLED))
            elif (attempt := self._attempts.get(key)) is not None:
                # It was told to stop, or to go on, but its function still runs.
                attempt[_WAS_CANCELLED] = state.state == "cancelled"
        elif finish == "released" and (attempt := self._attempts.pop(key, None)) is not None:
            self._lacking.pop(key, None)
            run, received, ready, _, _, delay, *_ = attempt
            times = dasks.time(), _NAN, _NAN, _NAN, ready, received
            self.rows.add(run, 0, _RELEASED, *times, _NAN, delay, 0, _NAN)

    def _ends(self, key: Hashable, state: Any, status: int) -> None:
        """Write down an attempt that has ended."""
        attempt = self._attempts.pop(key, None)
        if attempt is None:
            return
        if self._worker.scheduler_delay != self._delay:
            self._corrected()
        run, received, ready, executing, rss_before, delay, was_cancelled, _ = attempt
        now, resident = dasks.time(), self._resident
        thread = self._thread_of.get(key) or self._threads.forgotten(key)
        # The main thread of a process that was forked here has the same number.
        if thread == self._loop_thread and state is not None and getattr(state.run_spec, "is_coro", False):
            self._unsampled = _COROUTINES
        began = stopped = _NAN
        if state is not None:
            for phase in state.startstops[::-1]:
                if phase["action"] == "compute":
                    began, stopped = phase["start"], phase["stop"]
                    break
        rss = resident.last if stopped - began < _SHORT else resident.read(now)
        if status == _RESCHEDULED:
            # Dask notes no phases of it, only the call; the worker has just heard that it ended.
            called = None if state is None else state.start_time
            began, stopped = (_NAN, _NAN) if called is None or called < executing else (called, now)
        else:
            if self._delay != delay and state is not None:
                delay = self._delay_of(executing, delay, state.start_time, began, now)
            began -= delay
            stopped -= delay
        if self._seceded.away:
            self._seceded.ended(run, now if stopped != stopped else stopped)
        if began == began and self.ended is not None:
            self.ended((run, began, stopped, state.prefix, thread))
        if was_cancelled:
            status = _CANCELLED
        if status != _MEMORY and state is not None:
            self._tell_phases(run, state.startstops, received)
        code, total = 0, _NAN
        if status == _ERROR:
            if state is not None:
                self.errors.add(run, key, state.exception_text or "", state.traceback_text or "")
        elif state is not None:
            name = ("execute", state.span_id, state.prefix, "thread-cpu", "seconds")
            # Dask adds to it after this, and before the next attempt ends.
            code, total = self._used.code(name), self._totals.get(name, 0.0)
        if status == _MEMORY:
            # The scheduler has the times, and its message does not wait for ours.
            began = stopped = _NAN
            thread = 0
        grown = (rss - rss_before) / 2**20
        self.rows.add(
            run, thread, status, now, stopped, began, executing, ready, received, grown, delay, code, total
        )

    def _tell_phases(self, run: int, startstops: list[dict[str, Any]], received: float) -> None:
        """Note what an attempt without a result did but compute: of most, Dask's scheduler hears nothing."""
        for phase in reversed(startstops):
            stop = phase["stop"] - (0.0 if phase["action"] in UNSHIFTED else self._delay)
            if stop < received:
                break  # It belongs to an attempt before.
            if phase["action"] != "compute":
                self.phases.add((run, phase["action"], phase["start"], phase["stop"]))

    def _delay_of(
        self, executing: float, delay: float, called: float | None, start: float, ended: float
    ) -> float:
        """Which correction Dask has put on an attempt that was under way when there came another.

        Just before the function starts, Dask notes the time without correction.
        """
        if called is None:
            return delay
        since = [later for when, later in self._changes if executing <= when <= ended]
        fitting = [each for each in (delay, *since) if start - each >= called - 1e-5]
        return min(fitting, key=lambda each: start - each - called, default=delay)

    def take(self, most: int) -> tuple[dict[str, Any], list[Hashable]]:
        """What is new, packed by table, and the keys it names: first of ``running``, then of ``errors``."""
        self._seceded.look()
        now = dasks.time()
        keys: list[Hashable] = []
        threads = {key: ident for ident, key in list(self._worker.active_threads.items())}
        for state in self._worker.state.all_running_tasks:
            attempt = self._attempts.get(state.key)
            if attempt is None or attempt[_WAS_TOLD] or len(keys) >= most:
                continue
            if now - attempt[_EXECUTING] > _LONG:
                attempt[_WAS_TOLD] = True
                self.running.add(attempt[_RUN], threads.get(state.key, 0), attempt[_EXECUTING])
                keys.append(state.key)
        told: dict[str, Any] = {}
        lost, self.errors.dropped = self.errors.dropped, 0
        self._seceded.write()
        tables = {"executions": self.rows, "running": self.running, "seceded": self._seceded.rows}
        for name, rows in tables.items():
            missed, found = rows.drain()
            lost += missed
            if found:
                told[name] = bytes(found)
        if len(self._used.codes) > 1:
            told["totals"] = [self._totals.get(name, 0.0) for name in self._used.codes]
            self._used = Names(None, 0xFFFF)
        missed, phases = self.phases.drain()
        lost += missed
        if phases:
            told["phases"] = phases
        if some := self.errors.take(most - len(keys)):
            told["errors"] = [(run, text, trace) for run, _, text, trace in some]
            keys.extend(key for _, key, _, _ in some)
        if lost:
            told["lost"] = lost
        delays, self.delays = self.delays, []
        if delays:
            told["delays"] = delays
        return told, keys

    def tell_away(self) -> None:
        """Have the next `take` tell of all tasks that are away, for however short a time."""
        self._seceded.tell_all()

    def tell_again(self) -> None:
        """Tell once more of what runs: a recorder has come that does not know of it."""
        for attempt in self._attempts.values():
            attempt[_WAS_TOLD] = False

    def close(self) -> None:
        """Let go of what was opened."""
        self._resident.close()
        unfollow(self._worker, self._threads)
        self._seceded.close()
