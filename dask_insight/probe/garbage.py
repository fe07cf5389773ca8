"""When this process looked for garbage, and which task had to wait for that."""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from .clock import time
from .stacks import NOTHING

#: Seconds of collecting that make a row: short collections are put together.
_WORTH = 0.005
#: Whom Python calls; interpreters without such a list call nobody.
_CALLBACKS: list[Callable[[str, dict[str, Any]], None]] = getattr(gc, "callbacks", [])
#: Rows kept until they are taken; what comes then is put together, too.
_MOST = 20_000


class Collected(NamedTuple):
    """One collection, or several short ones together."""

    #: End of the last of them.
    time: float
    #: Seconds that they took together.
    duration: float
    #: Objects that they freed.
    freed: int
    #: What its thread ran, `NOTHING` if no task.
    run: int


class Collections:
    """Notes the collections of Python's cyclic garbage collector.

    A collection takes place on the thread that happened to make one object too many, and looks at all objects
    there are; where there is a GIL, no other thread runs Python code meanwhile.

    A process that is forked off inherits it, and notes nothing: nobody would take it.

    Parameters
    ----------
    run_of
        Gives the run on which a thread works, `NOTHING` if on none. It is called within a collection, so it
        must not wait for a lock.
    clock
        Seconds that collections are told by, by default of the day.
    """

    def __init__(
        self,
        run_of: Callable[[int], int] = lambda ident: NOTHING,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._run_of = run_of
        self._clock = clock or time
        self._began = self._seconds = 0.0
        self._freed = 0
        self._rows: deque[Collected] = deque()
        self._process = 0
        # What is compared when it is taken out again must be this very object.
        self._callback = self._called

    def start(self) -> None:
        """Begin."""
        self._process = os.getpid()
        if self._callback not in _CALLBACKS:
            _CALLBACKS.append(self._callback)

    def stop(self) -> None:
        """End; what was noted can still be taken."""
        if self._callback in _CALLBACKS:
            _CALLBACKS.remove(self._callback)

    def take(self) -> list[Collected]:
        """What is new."""
        return [self._rows.popleft() for _ in range(len(self._rows))]

    def _called(self, phase: str, about: dict[str, Any]) -> None:
        if self._process != os.getpid():
            return
        if phase == "start":
            self._began = perf_counter()
        elif self._began:
            self._seconds += perf_counter() - self._began
            self._freed += about.get("collected", 0)
            self._began = 0.0
            if self._seconds >= _WORTH and len(self._rows) < _MOST:
                run = self._run_of(threading.get_ident())
                self._rows.append(Collected(self._clock(), self._seconds, self._freed, run))
                self._seconds, self._freed = 0.0, 0
