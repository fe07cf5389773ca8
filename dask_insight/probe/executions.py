"""What a worker's transitions tell about attempts, as packed rows; times are the worker's own clock."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

from distributed import worker as dasks

from .resources import Resident
from .rows import Rows

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
#: Seconds below which an attempt changes the resident memory by less than noise, and for which the last
#: reading stands when one begins.
_SHORT, _FRESH = 0.005, 0.02
#: Numbers that wait to be packed: packing many rows at a time finds everything in the caches.
_LOOSE = 4096 * len(LAYOUT)


class _Attempt:
    """An attempt that has not ended."""

    __slots__ = ("cancelled", "delay", "executing", "ready", "received", "rss", "run", "told")

    def __init__(self, run: int, received: float) -> None:
        self.run = run
        self.received = received
        self.ready = self.executing = self.rss = _NAN
        self.delay = 0.0
        self.cancelled = self.told = False


#: Attempt, thread, status, ended, stop, start; name of the total of CPU seconds, and that total before.
_Ended = tuple[_Attempt, int, int, float, float, float, tuple[Any, ...], float]
#: Run, start, stop, prefix and thread of what has ended.
End = tuple[int, float, float, str, int]


class Executions:
    """Follows the attempts on one worker.

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
        Told of each run that ends, where somebody wants to know.
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
        #: Rows yet to be packed, one after another.
        self._loose: list[float] = []
        self.errors: list[tuple[int, Hashable, str, str]] = []
        self.dropped = 0
        self.running = Rows(RUNNING, _BOUND)
        #: Corrections of Dask's, with the time from which each was seen to hold.
        self.delays: list[tuple[float, float]] = [(dasks.time(), worker.scheduler_delay)]
        self._delay = worker.scheduler_delay
        self._changes: deque[tuple[float, float]] = deque(maxlen=100)
        self._attempts: dict[Hashable, _Attempt] = {}
        #: The attempt that ended last, whose CPU time is not known yet.
        self._open: _Ended | None = None
        self._resident = Resident()

    def transition(self, key: Hashable, start: str, finish: str, **facts: Any) -> None:
        """Take one transition; stands in for `WorkerPlugin.transition` itself, to spare a call.

        Runs several times for every task, each time on caches that other code has filled: what counts is
        how little is touched, so the usual way of a task is written out here.
        """
        if start == "memory" or finish == "forgotten":
            return
        try:
            if finish == "ready" or finish == "constrained":
                attempt = self._attempts.get(key)
                if attempt is not None:
                    attempt.ready = dasks.time()
            elif finish == "waiting":
                if start != "cancelled":
                    self._attempts[key] = _Attempt(self._tasks[key].run_id & NOTHING, dasks.time())
            elif finish == "executing":
                worker = self._worker
                if worker.scheduler_delay != self._delay:
                    self._corrected()
                run = self._tasks[key].run_id & NOTHING
                attempt = self._attempts.get(key)
                if attempt is None:
                    attempt = self._attempts[key] = _Attempt(run, _NAN)
                # The request may have come again with another number while the task waited.
                attempt.run = run
                attempt.delay = self._delay
                attempt.executing = now = dasks.time()
                resident = self._resident
                attempt.rss = resident.last if 0 <= now - resident.when < _FRESH else resident.read(now)
            elif finish == "memory" and start == "executing":
                attempt = self._attempts.pop(key, None)
                if attempt is not None:
                    self._done(key, attempt, self._tasks[key], _MEMORY)
            elif start == "flight" and finish == "memory":
                self._fetched()
            elif key in self._attempts:
                self._left(key, start, finish)
        except Exception as error:
            self._failed("transition", error)

    def run_of(self, key: Hashable) -> int:
        """The run that works on a task now."""
        attempt = self._attempts.get(key)
        return NOTHING if attempt is None else attempt.run

    def _corrected(self) -> None:
        """Dask's correction of this worker's clock is another one."""
        self._delay = self._worker.scheduler_delay
        self.delays.append((dasks.time(), self._delay))
        self._changes.append(self.delays[-1])

    def _left(self, key: Hashable, start: str, finish: str) -> None:
        """An attempt has ended, or been told to, in another way than the usual one."""
        if start in ("executing", "long-running", "cancelled", "resumed"):
            state = self._tasks.get(key)
            if state is not None and state.state in ("executing", "long-running", "cancelled", "resumed"):
                # It was told to stop, or to go on, but its function still runs.
                self._attempts[key].cancelled = state.state == "cancelled"
                return
            self._done(key, self._attempts.pop(key), state, _CODES.get(finish, _CANCELLED))
        elif finish == "released":
            attempt = self._attempts.pop(key)
            if self._open is not None:
                self._close(self._open)
            attempt.executing = attempt.rss = _NAN
            self._add(attempt, 0, _RELEASED, dasks.time(), _NAN, _NAN, _NAN)

    def _done(self, key: Hashable, attempt: _Attempt, state: Any, status: int) -> None:
        now = dasks.time()
        worker = self._worker
        if worker.scheduler_delay != self._delay:
            self._corrected()
        if self._open is not None:
            self._close(self._open)
        began = stopped = _NAN
        thread = worker.state.threads.get(key) or 0
        for phase in reversed(state.startstops if state is not None else ()):
            if phase["action"] == "compute":
                if self._delay != attempt.delay:
                    self._shifted_by(attempt, state.start_time, phase["start"])
                began, stopped = phase["start"] - attempt.delay, phase["stop"] - attempt.delay
                if self.ended is not None:
                    self.ended((attempt.run, began, stopped, state.prefix, thread))
                break
        resident = self._resident
        rss = resident.read(now) if now - attempt.executing > _SHORT else resident.last
        attempt.rss = (rss - attempt.rss) / 2**20
        if attempt.cancelled:
            status = _CANCELLED
        if status == _MEMORY:
            # The scheduler has the times, and its message does not wait for ours.
            began = stopped = _NAN
            thread = 0
        elif status == _ERROR and state is not None:
            self._raised(key, attempt, state)
        if state is None or status == _ERROR:
            self._add(attempt, thread, status, now, stopped, began, _NAN)
        else:
            where = ("execute", state.span_id, state.prefix, "thread-cpu", "seconds")
            before = worker.digests_total.get(where, 0.0)
            self._open = attempt, thread, status, now, stopped, began, where, before

    def _raised(self, key: Hashable, attempt: _Attempt, state: Any) -> None:
        text, trace = state.exception_text or "", state.traceback_text or ""
        if len(self.errors) < _ERRORS:
            self.errors.append((attempt.run, key, text[:_TEXT], trace[-_TEXT:]))
        else:
            self.dropped += 1

    def _close(self, ended: _Ended) -> None:
        """Finish the row of the attempt that ended last: Dask has added its CPU time to the total by now."""
        self._open = None
        attempt, thread, status, now, stopped, began, where, before = ended
        cpu = self._worker.digests_total.get(where, 0.0) - before
        self._add(attempt, thread, status, now, stopped, began, cpu)

    def _add(
        self,
        attempt: _Attempt,
        thread: int,
        status: int,
        now: float,
        stopped: float,
        began: float,
        cpu: float,
    ) -> None:
        self._loose += (
            attempt.run,
            thread,
            status,
            now,
            stopped,
            began,
            attempt.executing,
            attempt.ready,
            attempt.received,
            cpu,
            attempt.rss,
            attempt.delay,
        )
        if len(self._loose) >= _LOOSE:
            self._pack()

    def _pack(self) -> None:
        loose, self._loose = self._loose, []
        width = len(LAYOUT)
        for at in range(0, len(loose), width):
            self.rows.add(*loose[at : at + width])

    def _shifted_by(self, attempt: _Attempt, called: float | None, start: float) -> None:
        """Find which correction Dask has put on an attempt that was under way when there came another.

        Just before the function starts, Dask notes the time without correction.
        """
        if called is None:
            return
        since = [delay for when, delay in self._changes if when >= attempt.executing]
        fitting = [delay for delay in (attempt.delay, *since) if start - delay >= called - 1e-5]
        if fitting:
            attempt.delay = min(fitting, key=lambda delay: start - delay - called)

    def take(self, most: int) -> tuple[dict[str, Any], list[Hashable]]:
        """What is new, packed by table, and the keys it names: first of ``running``, then of ``errors``."""
        if self._open is not None:
            self._close(self._open)
        self._pack()
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
        for name, rows in (("executions", self.rows), ("running", self.running)):
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
