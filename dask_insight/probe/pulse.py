"""Samples a process's resources and looks after its event loop's lag."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from .resources import ResourceSampler
from .sampler import Sampler

#: Seconds between two questions to the event loop, and by which things may come early.
_STEP, _SLACK = 0.2, 0.02
#: Seconds for which a question is not answered from which the event loop stands still.
_STILL = 0.05
#: Rows kept until they are taken.
_MOST = 20_000


class Lag:
    """How long callbacks wait for an event loop, found out from another thread."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._asked = 0.0
        self._waiting = False
        self._longest = 0.0

    def ask(self) -> None:
        """Send a callback, unless one is still on its way."""
        if not self._waiting:
            self._waiting, self._asked = True, perf_counter()
            try:
                self._loop.call_soon_threadsafe(self._answer)
            except RuntimeError:
                self._waiting = False

    def _answer(self) -> None:
        self._longest = max(self._longest, perf_counter() - self._asked)
        self._waiting = False

    def late(self, seconds: float) -> None:
        """The thread that asks came to run so much too late: something held the GIL, or the machine was busy.

        Meanwhile the event loop could not run either, and no question was on its way.
        """
        self._longest = max(self._longest, seconds)

    def still(self) -> bool:
        """Whether the event loop has not come to run for a while, as far as it was asked."""
        return self._waiting and perf_counter() - self._asked > _STILL

    def take(self) -> float:
        """The longest wait since the last call, seconds; one that is not over counts as far as it came."""
        longest = max(self._longest, perf_counter() - self._asked if self._waiting else 0.0)
        self._longest = 0.0
        return longest


class Pulse:
    """Samples at an interval until it is stopped.

    Parameters
    ----------
    interval
        Seconds between two samples; may be set anew at any time.
    loop
        The asyncio event loop to watch.
    extra
        Further columns of a row of `resources`.
    gil, one_gpu
        See `ResourceSampler`.
    """

    def __init__(
        self,
        interval: float,
        loop: Any,
        extra: Callable[[], dict[str, float]] = dict,
        gil: Callable[[], float] | None = None,
        one_gpu: bool = False,
    ) -> None:
        self.interval = interval
        self._resources = ResourceSampler(gil, one_gpu)
        self._loop = loop
        self._lag = Lag(loop)
        self._extra = extra
        self._lock = threading.Lock()
        self._rows: list[dict[str, float]] = []
        self._gpus: list[dict[str, Any]] = []
        self._next = self._due = 0.0
        #: Ends what calls us; None while nothing does.
        self._leave: Callable[[], None] | None = None
        #: What calls us: a sampler, the event loop, or None for a thread of our own.
        self._by: Any = None
        self.gaps = self._resources.gaps
        #: Samples that failed or lack something, and those that nobody took in time.
        self.dropped = 0

    def start(self, sampler: Sampler | None = None) -> str:
        """Begin, or go on: on the thread of a sampler that has been started, by default on one of our own.

        A thread that wakes up makes the others of its process wait, so one does the work of two. Gives what
        is missing where no thread can be started now, and why, else ''; another call tries again.
        """
        if not self._begins(sampler):
            return ""
        if sampler is not None:
            sampler.beside = self._tick
            self._leave = partial(setattr, sampler, "beside", None)
            return ""
        stopped = threading.Event()
        thread = threading.Thread(
            target=self._work, args=(stopped,), name="dask_insight-resources", daemon=True
        )

        def leave() -> None:
            stopped.set()
            thread.join(2.0)

        try:
            thread.start()
        except RuntimeError as error:
            # It has nothing to leave.
            return f"what this process uses, until a thread can be started for it: {error}"
        self._leave = leave
        return ""

    def start_on_loop(self) -> None:
        """Begin, or go on, on the event loop, from its thread; `stop` and `start` are to be called there too.

        No thread wakes up for it. While the loop is blocked there are no samples, so this is for a process
        that another pulse samples as well.
        """
        if self._begins(self._loop):
            self._call_later(_STEP)

    def still(self) -> bool:
        """Whether the event loop stands still; see `Lag.still`."""
        return self._lag.still()

    def stop(self) -> None:
        """End; the sampler on whose thread it was has been stopped."""
        self._end()
        self._resources.close()

    def take(self) -> tuple[list[dict[str, float]], list[dict[str, Any]]]:
        """Rows of `resources` and of `gpus` since the last call."""
        with self._lock:
            rows, self._rows = self._rows, []
            gpus, self._gpus = self._gpus, []
        return rows, gpus

    def _begins(self, by: Any) -> bool:
        """Whether something else is to call us from now on; what did so until now has been ended then."""
        if self._leave is not None and by is self._by:
            return False
        self._end()
        self._by = by
        self._due = perf_counter() + self.interval
        return True

    def _end(self) -> None:
        if self._leave is not None:
            self._leave()
            self._leave = None

    def _work(self, stopped: threading.Event) -> None:
        wait, due = min(_STEP, self.interval), perf_counter()
        due += wait
        while not stopped.wait(wait):
            due = self._tick(perf_counter() - due)
            wait = max(_SLACK, due - perf_counter())

    def _call_later(self, wait: float) -> None:
        timer = self._loop.call_later(wait, self._called, perf_counter() + wait)
        self._leave = timer.cancel

    def _called(self, due: float) -> None:
        """The event loop has come to us, late by as much as every other callback."""
        self._call_later(max(_SLACK, self._tick(perf_counter() - due) - perf_counter()))

    def _tick(self, late: float) -> float:
        """Do what is due, the caller being so many seconds late; gives when to come again, monotonic."""
        now = perf_counter()
        self._lag.late(late)
        if now < self._next - _SLACK:
            return self._next - _SLACK
        if self._by is not self._loop:
            self._lag.ask()
        if now >= self._due - _SLACK:
            self._due = max(self._due + self.interval, now)
            try:
                self._sample()
            except Exception:
                self.dropped += 1
        # To wake up for the question alone costs more than it does.
        self._next = self._due if self._due - now < 1.5 * _STEP else now + _STEP
        return self._next - _SLACK

    def _sample(self) -> None:
        row, gpus = self._resources.sample()
        row["lag"] = self._lag.take()
        try:
            row |= self._extra()
        except Exception:
            # What the row has by now was measured once and for all.
            self.dropped += 1
        with self._lock:
            if len(self._rows) < _MOST:
                self._rows.append(row)
                self._gpus.extend(gpus)
            else:
                self.dropped += 1
