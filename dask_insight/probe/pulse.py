"""A thread that samples a process's resources and looks after its event loop's lag."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from .resources import ResourceSampler

#: Seconds between two questions to the event loop.
_STEP = 0.2
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
            self._waiting, self._asked = True, monotonic()
            try:
                self._loop.call_soon_threadsafe(self._answer)
            except RuntimeError:
                self._waiting = False

    def _answer(self) -> None:
        self._longest = max(self._longest, monotonic() - self._asked)
        self._waiting = False

    def late(self, seconds: float) -> None:
        """The thread that asks came to run so much too late: something held the GIL, or the machine was busy.

        Meanwhile the event loop could not run either, and no question was on its way.
        """
        self._longest = max(self._longest, seconds)

    def take(self) -> float:
        """The longest wait since the last call, seconds; one that is not over counts as far as it came."""
        longest = max(self._longest, monotonic() - self._asked if self._waiting else 0.0)
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
    gil
        See `ResourceSampler`.
    """

    def __init__(
        self,
        interval: float,
        loop: Any,
        extra: Callable[[], dict[str, float]] = dict,
        gil: Callable[[], float] | None = None,
    ) -> None:
        self.interval = interval
        self._sampler = ResourceSampler(gil)
        self._lag = Lag(loop)
        self._extra = extra
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._rows: list[dict[str, float]] = []
        self._gpus: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._work, name="dask_insight-resources", daemon=True)
        self.gaps = self._sampler.gaps
        self.failed = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the thread."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(2.0)

    def take(self) -> tuple[list[dict[str, float]], list[dict[str, Any]]]:
        """Rows of `resources` and of `gpus` since the last call."""
        with self._lock:
            rows, self._rows = self._rows, []
            gpus, self._gpus = self._gpus, []
        return rows, gpus

    def _slept(self, seconds: float) -> bool:
        """Sleep; whether the end has come."""
        asleep = monotonic()
        stopped = self._stopped.wait(seconds)
        if not stopped:
            self._lag.late(monotonic() - asleep - seconds)
        return stopped

    def _work(self) -> None:
        due = monotonic() + self.interval
        while not self._slept(min(_STEP, self.interval)):
            self._lag.ask()
            if monotonic() < due - _STEP / 2:
                continue
            due = max(due + self.interval, monotonic())
            try:
                row, gpus = self._sampler.sample()
                row["lag"] = self._lag.take()
                row |= self._extra()
            except Exception:
                self.failed += 1
                continue
            with self._lock:
                if len(self._rows) < _MOST:
                    self._rows.append(row)
                    self._gpus.extend(gpus)
        self._sampler.close()
