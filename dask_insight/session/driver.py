"""One thread that gives every feed of this process its turn."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

from ..threads import begun
from .feed import Turn

#: Least seconds between two messages, whichever feed sends them.
INTERVAL = 0.1
#: Seconds for which who has something to do is given time to have more: what one answer of a scheduler brings
#: comes as several batches, and each message has a page draw everything anew.
TOGETHER = 0.03
#: Longest that it can be set to.
_LONGEST = 5.0
#: Seconds that the end of the last one waits for the thread, and between two looks at whether it will end.
_PATIENCE, _LOOK = 5.0, 0.05

logger = logging.getLogger(__name__)


class Driven(Protocol):
    """Has something to do now and then."""

    def tick(self) -> Turn:
        """Do some of it; send at most one message, and one about the state."""


class Driver:
    """Calls the `tick` of those it drives, at most one message in `INTERVAL` for all of them.

    Its thread lives while there is somebody to drive, and sleeps until `wake`.

    Attributes
    ----------
    interval
        Seconds between two messages; never less than `INTERVAL`.
    """

    def __init__(self, name: str = "dask-insight-feed") -> None:
        self.interval = INTERVAL
        self._name = name
        self.forget()

    def forget(self) -> None:
        """Drive nobody, as in a process that was forked off: its threads and locks are the other's."""
        self._lock = threading.RLock()
        self._driven: list[Driven] = []
        self._awake = threading.Event()
        self._idle = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Somebody has something to do; from any thread."""
        # To set what is set costs a lock that its thread may be waiting for.
        if not self._awake.is_set():
            self._awake.set()

    def drive(self, one: Driven) -> Callable[[], None]:
        """Give `one` its turns until the result is called."""
        with self._lock:
            if self._thread is None:
                self._begin()
            self._driven.append(one)
            self._idle.clear()
        self.wake()

        def stop() -> None:
            with self._lock:
                if one in self._driven:
                    self._driven.remove(one)
                thread = None if self._driven else self._thread
                if thread is not None:
                    self._idle.set()
            self.wake()
            if thread is not None and thread is not threading.current_thread():
                self._see_end(thread)

        return stop

    def _begin(self) -> None:
        self._thread = begun(self._run, self._name)
        atexit.register(self._end)

    def _see_end(self, thread: threading.Thread) -> None:
        """Wait until a thread with nobody to drive has ended, unless somebody comes meanwhile."""
        deadline = time.monotonic() + _PATIENCE
        while thread.is_alive() and time.monotonic() < deadline:
            if thread is self._thread and self._driven:
                return
            thread.join(_LOOK)

    def _end(self) -> None:
        with self._lock:
            self._driven.clear()
            self._idle.set()
            thread = self._thread
        self.wake()
        if thread is not None:
            self._see_end(thread)

    def _run(self) -> None:
        wait: float | None = None
        while True:
            if self._awake.wait(wait):
                self._idle.wait(TOGETHER)
            self._awake.clear()
            began = time.monotonic()
            with self._lock:
                driven = list(self._driven)
                if not driven:
                    self._thread = None
                    atexit.unregister(self._end)
                    return
            wait = self._round(driven)
            rest = min(max(self.interval, INTERVAL), _LONGEST) - (time.monotonic() - began)
            if rest > 0:
                self._idle.wait(rest)

    def _round(self, driven: list[Driven]) -> float | None:
        """Turns until one has sent something, who then is the last of the next round."""
        again: float | None = None
        for place, one in enumerate(driven):
            try:
                turn = one.tick()
            except Exception:
                logger.exception("a feed of dask_insight failed")
                turn = Turn(False, 1.0)
            if turn.again is not None:
                again = turn.again if again is None else min(again, turn.again)
            if turn.sent and place + 1 < len(driven):
                self._later(one)
                return 0.0
        return again

    def _later(self, one: Driven) -> None:
        with self._lock:
            if one in self._driven:
                self._driven.remove(one)
                self._driven.append(one)


#: Drives all feeds of this process.
DRIVER = Driver()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=DRIVER.forget)
