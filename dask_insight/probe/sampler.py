"""A statistical profiler: what threads are doing, weighted by the time that passes."""

from __future__ import annotations

import sys
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import ceil
from time import perf_counter, thread_time
from typing import Any

from .clock import time
from .frames import policy
from .gaps import Gaps
from .pace import Pace
from .stacks import NOTHING, Stacks
from .waits import Waits

#: Seconds below which runs that could not be sampled are put together.
_SHORT = 0.002
#: Seconds for which the end of a run is waited for.
_PATIENCE = 2.0
#: Part of a wait by which the last of several may be cut short together.
_EARLY = 0.25
#: Seconds between the moments at which Windows ends waits, 0 elsewhere. A little less is asked for, as a wait
#: ends at the first of them after it is over, and rounds take some time.
_TICK, _SOONER = (1 / 64, 0.002) if sys.platform == "win32" else (0.0, 0.0)
#: Rows kept until they are drained.
_MOST = 200_000
#: Names of runs of which something is kept from drain to drain.
_NAMES = 10_000
#: Seconds that a drain waits for its turn: what ends a recording runs wherever garbage is found, also where
#: the turn is taken.
_TURN = 0.5


class _Thread:
    """What is known of one thread since its run was first seen."""

    __slots__ = ("first", "first_path", "gap", "held", "ident", "last", "path", "run")

    def __init__(self, ident: int, run: int, now: float, gap: float, path: tuple[int, ...]) -> None:
        self.ident = ident
        self.run = run
        self.first = self.last = now
        self.gap = gap
        self.path = path
        #: The stack of the first sample while its weight is open: it depends on when the run started.
        self.first_path: tuple[int, ...] | None = path
        self.held = 0.0


def started(gaps: Gaps, made: Callable[[], Sampler]) -> Sampler | None:
    """A sampler that has begun; None where there can be none now, and the gaps say why."""
    frames, why = policy()
    if frames is None:
        gaps.add(why)
        return None
    sampler = made()
    try:
        sampler.start()
    except BaseException:
        # An interrupt comes here while the thread begins; nobody else knows it.
        sampler.stop()
        raise
    gaps.add(sampler.reason)
    return None if sampler.reason else sampler


class Sampler:
    """Samples threads from a thread of its own.

    Parameters
    ----------
    threads
        Gives the threads to sample now: ident to the run it works on, `NOTHING` if none.
    name_of
        The name under which a thread stands in the recording.
    interval
        Seconds aimed at between two rounds.
    budget
        Share of a core that sampling may cost, what it costs the sampled threads
        included; the rate is lowered to stay inside.
    base
        See `Stacks`.
    ends
        True if `ended` will be called for every run.
    clock
        Seconds by which the bounds of runs are told, by default of the day; samples have times of it.

    Notes
    -----
    A sample stands for the time since the round before it. Where the bounds of
    runs are known (`ended`), a run's samples add up to the time that it took.
    A run that was over before it could be sampled is given the stack that was
    last seen in a run of its name; short ones of a name are put together in one
    row a drain. So shares between names follow the clock, whenever rounds were
    possible: a thread often gets the GIL just when another begins to wait.
    A change of the stack is taken to have come midway between two rounds.
    """

    def __init__(
        self,
        threads: Callable[[], dict[int, int]],
        name_of: Callable[[int], str],
        interval: float,
        budget: float,
        *,
        base: str = "",
        ends: bool = False,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._clock = clock or time
        self._targets = threads
        self._name_of = name_of
        self.pace = Pace(interval, budget, dozes=ends)
        self._base = base
        self._ends_known = ends
        self._take_frames, why = policy()
        #: Why nothing can be sampled; '' if it can.
        self.reason = "" if self._take_frames else why
        self._lock = threading.Lock()
        #: Held until our thread is to end: of all ways to wait, the one that runs least code.
        self._halt = threading.Lock()
        self._halt.acquire()
        self._thread: threading.Thread | None = None
        #: Called by our thread when it is time, with how late it came since, seconds; gives the next time on
        #: the monotonic clock.
        self.beside: Callable[[float], float] | None = None
        self._waits = Waits(self._own_thread)
        self._asked = 0.0
        self._stacks = Stacks(base)
        self._seen: dict[int, _Thread] = {}
        #: What `ended` was told and is not taken in yet; whoever must spare a call appends here.
        self.ends: deque[tuple[int, float, float, str, int]] = deque()
        #: Runs whose thread does something else already, and whose end nobody has told yet.
        self._left: dict[int, _Thread] = {}
        self._like: dict[str, tuple[int, ...]] = {}
        self._owed: dict[str, tuple[float, int, int, float]] = {}
        self._before = 0.0
        #: By our clock, when the newest of the threads came; somebody else may have sampled them until then.
        self.since = 0.0
        self._cost = 0.0
        self._rounds = 0
        self._drained = self._clock()
        self.dropped = 0
        self._clear()

    def start(self) -> None:
        """Begin; does nothing where frames cannot be taken or no thread be started, `reason` says why."""
        if self._take_frames is not None and self._thread is None:
            self._before = self._drained = self._clock()
            self._thread = threading.Thread(target=self._work, name="dask_insight-sampler", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:
                self._thread = None
                self.reason = f"call stacks, until a thread can be started for them: {error}"

    def stop(self) -> None:
        """End, and wait for the thread, unless it has yet to begin: then it ends at once."""
        if self._halt.locked():
            self._halt.release()
        if self._thread is not None and self._thread is not threading.current_thread():
            with suppress(RuntimeError):
                self._thread.join(2.0)

    def ended(self, run: int, start: float, stop: float, name: str = "", ident: int = 0) -> None:
        """A run has ended; from any thread.

        Parameters
        ----------
        run
            The run.
        start, stop
            When, by `clock`.
        name
            What runs of its kind are called.
        ident
            Its thread.
        """
        if self._thread is not None:
            self.ends.append((run, start, stop, name, ident))

    def drain(self) -> dict[str, dict[str, Any]]:
        """What was sampled since the last call.

        Returns
        -------
        dict
            ``frames``: parent, function, file, line, first_line. ``samples``:
            thread, time, duration, stack (a row of ``frames``), run.
            ``sampling``: time, period, samples, interval, cost, asked, starved. By column.
            No rows within a round or another drain, and where one does not end: they wait for the next call.
        """
        if not self._lock.acquire(timeout=_TURN):
            return _nothing()
        try:
            return self._taken(self._clock())
        finally:
            self._lock.release()

    def _taken(self, now: float) -> dict[str, dict[str, Any]]:
        """What there is; the lock is held."""
        self._settle_ends()
        self._settle_short()
        for state in self._seen.values():
            self._write(state)
        for state in [state for state in self._left.values() if now - state.last > _PATIENCE]:
            del self._left[state.run]
            self._finish(state, state.gap)
        samples = {
            "thread": [self._name_of(ident) for ident in self._idents],
            "time": self._times,
            "duration": self._durations,
            "stack": self._nodes,
            "run": self._run_ids,
        }
        self._clear()
        frames = self._stacks.take()
        sampling = {
            "time": [now],
            "period": [now - self._drained],
            "samples": [self._rounds],
            "interval": [self.pace.interval],
            "cost": [self._cost],
            "asked": [self._asked],
            "starved": [self._waits.take().core],
        }
        self._drained, self._rounds, self._cost, self._asked = now, 0, 0.0, 0.0
        if self._stacks.full():
            self._stacks = Stacks(self._base)
            self.dropped += len(self._owed)
            for kept in (self._seen, self._left, self._like, self._owed):
                kept.clear()
        return {"frames": frames, "samples": samples, "sampling": sampling}

    def _clear(self) -> None:
        self._idents: list[int] = []
        self._times, self._durations = array("d"), array("f")
        self._nodes, self._run_ids = array("I"), array("I")

    def _own_thread(self) -> Iterable[int]:
        native = None if self._thread is None else self._thread.native_id
        return () if native is None else (native,)

    def _work(self) -> None:
        self._waits.take()
        pace = self.pace
        wait, before = _in_ticks(pace.interval, _TICK), thread_time()
        due = perf_counter() + wait
        calling, latest = 0.0, 0.0
        while not self._halt.acquire(timeout=wait - _SOONER):
            late = perf_counter() - due
            self._asked += wait
            try:
                with self._lock:
                    self._round(self._clock())
            except Exception:
                self.dropped += 1
            now, cpu = perf_counter(), thread_time()
            self._cost += pace.spent(cpu - before, late, now)
            wait, latest = pace.wait(), max(latest, late)
            if (beside := self.beside) is not None:
                if now >= calling:
                    calling, latest = beside(latest), 0.0
                    now, cpu = perf_counter(), thread_time()
                wait = max(pace.interval, _evenly(wait, calling - now))
            wait = _in_ticks(wait, _TICK)
            due, before = now + wait, cpu
        with self._lock:
            try:
                # What was done since the last one.
                self._round(self._clock())
            except Exception:
                self.dropped += 1
            self._waits.close()

    def _round(self, now: float) -> None:
        gap = max(0.0, now - self._before)
        self._before = now
        self._rounds += 1
        if self.ends:
            self._settle_ends()
        targets = self._targets()
        seen = self._seen
        if not targets and not seen:
            self.pace.looked(found=False, changed=False, lasts=False)
            return
        frames = self._take_frames() if targets and self._take_frames is not None else {}
        changed = lasts = False
        for ident, run in targets.items():
            frame = frames.get(ident)
            if frame is None:
                continue
            path = self._stacks.path(frame)
            state = seen.get(ident)
            if state is None or state.run != run:
                if state is not None:
                    self._leave(state)
                self._enter(ident, run, now, gap, path)
                changed = True
                continue
            lasts = True
            if path != state.path:
                changed = True
                half = max(0.0, now - state.last) / 2
                state.held += half
                state.last += half
                self._write(state)
                state.path = path
            state.held += max(0.0, now - state.last)
            state.last = now
        del frames
        for ident in seen.keys() - targets.keys():
            self._leave(seen[ident])
            changed = True
        self.pace.looked(True, changed, lasts)

    def _enter(self, ident: int, run: int, now: float, gap: float, path: tuple[int, ...]) -> None:
        gap = min(gap, max(0.0, now - self.since))
        state = self._seen[ident] = _Thread(ident, run, now, gap, path)
        if run == NOTHING or not self._ends_known:
            state.held, state.first_path = gap, None

    def _leave(self, state: _Thread) -> None:
        """The thread does something else."""
        del self._seen[state.ident]
        self._write(state)
        if state.first_path is not None:
            self._left[state.run] = state

    def _finish(self, state: _Thread, first: float) -> None:
        """Give out what is left of a run; its first sample stands for so many seconds."""
        self._write(state)
        if state.first_path is not None:
            self._row(state.ident, state.first, first, state.first_path, state.run)
            state.first_path = None

    def _settle_ends(self) -> None:
        ends, left, seen = self.ends, self._left, self._seen
        while ends:
            run, start, stop, name, ident = ends.popleft()
            state = left.pop(run, None)
            if state is None:
                state = seen.get(ident)
                if state is None or state.run != run:
                    self._unseen(run, start, stop, name, ident)
                    continue
                del seen[ident]
            state.held += max(0.0, stop - state.last)
            state.last = max(state.last, stop)
            # The last of those that are kept.
            self._like.pop(name, None)
            self._like[name] = state.path
            self._finish(state, max(0.0, min(state.first, stop) - start))

    def _unseen(self, run: int, start: float, stop: float, name: str, ident: int) -> None:
        """A run that was over before it could be sampled."""
        seconds = stop - start
        if seconds >= _SHORT and (path := self._like.get(name)) is not None:
            self._row(ident, stop, seconds, path, run)
        else:
            owed = self._owed.get(name, (0.0, 0, 0, 0.0))[0]
            self._owed[name] = (owed + seconds if seconds > 0 else owed, run, ident, stop)

    def _settle_short(self) -> None:
        for name in list(self._owed):
            path = self._like.get(name)
            if path is not None:
                owed, run, ident, stop = self._owed.pop(name)
                self._row(ident, stop, owed, path, run)
        # Names that come without end are mostly met once.
        _keep_newest(self._like)
        self.dropped += _keep_newest(self._owed)

    def _write(self, state: _Thread) -> None:
        """Give out what was held of the present stack."""
        if state.held > 0:
            self._row(state.ident, state.last, state.held, state.path, state.run)
            state.held = 0.0

    def _row(self, ident: int, end: float, duration: float, path: tuple[int, ...], run: int) -> None:
        if duration <= 0:
            return
        if len(self._idents) >= _MOST:
            self.dropped += 1
            return
        self._idents.append(ident)
        self._times.append(end)
        self._durations.append(duration)
        self._nodes.append(self._stacks.node(path))
        self._run_ids.append(run)


def _keep_newest(kept: dict[str, Any]) -> int:
    """Of too many names forget the oldest; gives how many these were."""
    old = list(kept)[: -_NAMES // 2] if len(kept) > _NAMES else []
    for name in old:
        del kept[name]
    return len(old)


def _nothing() -> dict[str, dict[str, Any]]:
    """What a drain gives that has no turn."""
    numbers = {"time": array("d"), "duration": array("f"), "stack": array("I"), "run": array("I")}
    sampling = ("time", "period", "samples", "interval", "cost", "asked", "starved")
    return {
        "frames": Stacks().take(),
        "samples": {"thread": [], **numbers},
        "sampling": {name: [] for name in sampling},
    }


def _evenly(wait: float, until: float) -> float:
    """About as long, so that whole waits lead to what is due then: it takes no wake-up of its own."""
    return until / max(1, int(until / wait + _EARLY))


def _in_ticks(wait: float, tick: float) -> float:
    """As long, or longer, in whole ticks: what the system adds to a wait is no wait for the GIL."""
    return ceil(wait / tick) * tick if tick else wait
