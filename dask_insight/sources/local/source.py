"""The local schedulers of this process as a source of batches."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from math import inf, nan
from time import perf_counter
from typing import Any

from ...identity import Identity
from ...options import Emit, Options
from ...probe.garbage import Collections
from ...probe.measured import BASE
from ...probe.messages import losses
from ...probe.resources import ResourceSampler
from ...probe.sampler import Sampler, started
from ...probe.waits import Waits
from ...schema import NOTHING
from ...threads import begun
from .activity import runs
from .computation import Computation
from .hook import listen
from .ledger import Ledger
from .origin import Origin
from .pools import Place
from .processes import Children

#: Longest time that rows wait, seconds.
_FLUSH = 0.5
#: Time between two drains of the sampler, seconds.
_DRAIN = 1.0
#: Time between two looks at whether all ends before it has begun, seconds.
_LOOK = 0.05
#: Of pools that nobody can look into.
_UNKNOWN = "when tasks of this pool ran, only when they were handed over and came back"


class LocalSource:
    """Records every computation that this process runs on a local scheduler.

    A thread of its own encodes and emits, and samples resources from the
    first computation on.

    Parameters
    ----------
    options
        Rates and bounds.
    identity
        The recording's ids.
    """

    def __init__(self, options: Options, identity: Identity) -> None:
        self._options = options
        self._ledger = Ledger(identity, options.cache_metric, options.source)
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._stopped = inf
        #: `stop` may be called wherever Python looks for garbage, also where the first is held.
        self._lock, self._flushing = threading.RLock(), threading.Lock()
        #: Ident of the thread that emits rows at the moment; 0 if none does.
        self._flusher = 0
        #: Whether our thread was told to stop by itself, and has the end to do.
        self._ends_itself = False
        self._collections = Collections(self._run_on, perf_counter)
        self._unlisten: Callable[[], None] | None = None
        self._emit: Emit = _nowhere
        self._pid = os.getpid()
        self._ran: set[int] = set()
        #: Rows of `resources` until they are emitted, several samples at once.
        self._sampled: deque[dict[str, Any]] = deque()

    @property
    def profile(self) -> tuple[float, float] | None:
        """Interval (s) and share of a core for sampling stacks, or None."""
        options = self._options
        return (options.profile_interval, options.profile_budget) if options.profile else None

    def start(self, emit: Emit) -> None:
        """Record from now on; batches go to `emit`, from any thread."""
        self._emit = emit
        self._unlisten = listen(self)

    def stop(self) -> None:
        """Record no more and emit what is left; never raises."""
        if self._unlisten is None:
            return
        self._unlisten()
        self._unlisten = None
        with self._lock:
            # A computation that begins at this moment starts nothing after that.
            self._stopping.set()
            self._stopped = perf_counter()
        if self._thread is threading.current_thread():
            # It may be within what the end would wait for.
            self._ends_itself = True
            return
        with ExitStack() as rest:
            rest.callback(self._end)
            if self._thread is not None:
                self._thread.join(self._options.stop_timeout)

    def _end(self) -> None:
        """An interrupt leaves out no step but its own."""
        with ExitStack() as rest:
            rest.callback(self._flush)
            rest.callback(self._close)
            rest.callback(self._leave)
            rest.callback(self._drain)
            if self._ledger.sampler is not None:
                rest.callback(self._ledger.sampler.stop)
            self._collections.stop()

    def _leave(self) -> None:
        # Our thread's end takes a tenth of a second where gilknocker is there, which is nobody's time.
        now = perf_counter()
        self._ledger.workers.end(now if self._ledger.activity else min(self._stopped, now))

    def _close(self) -> None:
        self._ledger.ended, self._ledger.sampler = True, None

    def catch_up(self) -> None:
        """Emit what has happened by now; from any thread."""
        if self._unlisten is not None:
            self._flush()

    def adjust(self, options: Options) -> None:
        """Sample as often as `options` say; stacks that were not taken, from the next computation on."""
        self._options = options
        with self._lock:
            sampler, wanted = self._ledger.sampler, self.profile
            if sampler is not None and wanted is not None:
                sampler.pace.aim, sampler.pace.budget = wanted
            elif sampler is not None:
                self._ledger.sampler = None
                sampler.stop()
                self._ledger.profile(sampler.drain())

    def begin(
        self, scheduler: str, place: Place, threads: int, origin: Origin, *, shared: bool = False
    ) -> Computation | None:
        """A computation begins; None in a process that was forked off, which cannot reach the recording."""
        if os.getpid() != self._pid:
            self._collections.stop()
            return None
        try:
            self._work(place)
            self._ledger.look()
            if place == "unknown":
                self._ledger.gaps.add(_UNKNOWN)
            if not self._options.source:
                origin = origin._replace(code="")
            return Computation(self._ledger, scheduler, place, threads, origin, shared=shared)
        except Exception as error:
            self._ledger.failed("begin", error)
            return None

    def _work(self, place: Place) -> None:
        with self._lock:
            if self._stopping.is_set():
                return
            if self._thread is None:
                self._collections.start()
                self._thread = self._started()
            if self._ledger.sampler is None and place == "here" and self.profile is not None:
                threads = partial(runs, self._ledger.activity)
                made = partial(Sampler, threads, str, *self.profile, base=BASE, ends=True, clock=perf_counter)
                # Where it does not run the next computation tries again.
                self._ledger.sampler = started(self._ledger.gaps, made)

    def _started(self) -> threading.Thread | None:
        """Our thread; None where it cannot be started just now: rows wait for the end then."""
        try:
            return begun(self._run, "dask-insight-local")
        except RuntimeError as error:
            self._ledger.gaps.add(f"what this process uses, until a thread can be started for it: {error}")
            return None

    def _is_known(self) -> bool:
        """Whether this thread has work: an interrupt as it began can keep it from being known.

        The next computation begins another one then.
        """
        while not self._lock.acquire(timeout=_LOOK):
            if self._stopping.is_set():
                # Whoever began it may have found garbage just then, whose end waits for this thread.
                return False
        try:
            return self._thread is threading.current_thread()
        finally:
            self._lock.release()

    def _run(self) -> None:
        if not self._is_known():
            return
        resources, children = ResourceSampler(clock=perf_counter), Children()
        waits = Waits(self._threads)
        self._ledger.gaps.add(*resources.gaps)
        next_flush = next_drain = perf_counter()
        sampled = -inf
        while not self._stopping.wait(min(self._options.resources, _FLUSH)):
            now = perf_counter()
            try:
                if now - sampled >= self._options.resources * 0.9:
                    sampled = now
                    self._sample(resources, children, waits)
                    self._ledger.look()
                if now >= next_drain:
                    next_drain = now + _DRAIN
                    self._drain()
            except Exception as error:
                self._ledger.failed("resources", error)
            if now >= next_flush:
                next_flush = now + _FLUSH * 0.9
                self._flush()
        resources.close()
        waits.close()
        if self._ends_itself:
            self._end()

    def _sample(self, resources: ResourceSampler, children: Children, waits: Waits) -> None:
        row, gpus = resources.sample()
        process, waited = self._ledger.home(), waits.take()
        own = {
            **row,
            "process": process,
            "executing": self._ledger.executing(),
            "starved": waited.core,
            "gil_wait": waited.gil,
        }
        self._sampled += (own, *children.sample())
        if gpus:
            self._ledger.put("gpus", **_columns([{**gpu, "process": process} for gpu in gpus]))

    def _run_on(self, ident: int) -> int:
        running = self._ledger.activity.get(ident)
        return NOTHING if running is None else running[0]

    def _threads(self) -> list[int]:
        """Those that run tasks now, or have run some and are still there."""
        self._ran |= set(self._ledger.activity.copy())
        there = {one.ident: one.native_id for one in threading.enumerate()}
        self._ran &= set(there)
        return [native for ident in self._ran if (native := there[ident]) is not None]

    def _drain(self) -> None:
        sampler = self._ledger.sampler
        self._ledger.absent()
        self._ledger.collected(self._ledger.home(), self._collections.take())
        if sampler is not None:
            self._ledger.profile(sampler.drain())
        self._ledger.lost(losses(samples=sampler))

    def _flush(self) -> None:
        if self._flusher == threading.get_ident():
            # A follower asks the recording about the very rows that it is being told of.
            return
        with self._flushing:
            self._flusher = threading.get_ident()
            try:
                self._put_sampled()
                self._ledger.flush(self._emit)
            except Exception as error:
                self._ledger.failed("flush", error)
            finally:
                self._flusher = 0

    def _put_sampled(self) -> None:
        if rows := [self._sampled.popleft() for _ in range(len(self._sampled))]:
            self._ledger.put("resources", **_columns(rows))


def _columns(rows: list[dict[str, Any]]) -> Mapping[str, Any]:
    """Rows by column; what one of them does not tell is missing."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, nan) for row in rows] for name in names}


def _nowhere(batch: bytes) -> None:
    """Before the start."""
