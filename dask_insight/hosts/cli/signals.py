"""Signals that end a program, so that its recording is complete first."""

from __future__ import annotations

import contextlib
import math
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

#: A request to end, that the terminal has gone, on Windows Ctrl-Break; what batch systems send some time
#: before they kill, and that a limit of CPU time is reached.
_NAMES = ("SIGTERM", "SIGHUP", "SIGBREAK", "SIGUSR1", "SIGUSR2", "SIGXCPU")
ENDING = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
#: What `faulthandler` may have been told to answer, which the module `signal` does not tell of.
_DUMPS = [number for number in ENDING if number.name.startswith("SIGUSR")]
#: Sent again for each further second of CPU time: that is no other request.
_REPEATED = [signal.SIGXCPU] if hasattr(signal, "SIGXCPU") else []
#: Seconds within which signals are one request: `timeout` sends it to its child, then to the child's group.
_ONE_REQUEST = 2.0
#: Seconds for which what has ended may be completed, whatever comes: with memory exhausted it may never be.
_COMPLETION = 30.0


class Terminated(SystemExit):
    """Raised where the main thread stands when a signal asks the process to end.

    Event loops keep to themselves what their callbacks raise, but for `SystemExit` and `KeyboardInterrupt`.
    """


class Termination:
    """Turns signals that end a process into an orderly end, then lets them do what they do.

    A program that handles them itself is left to do so. Processes that are forked off are ended as ever.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._received: int | None = None
        self._first = 0.0
        self._raising = False
        self._runs = False
        self._over = math.inf
        self._handled: list[int] = []

    def __enter__(self) -> Termination:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._on_signal)
                    self._handled.append(number)
            if hasattr(os, "register_at_fork"):
                # A handler in Python would wait until the child's code returns to Python.
                os.register_at_fork(after_in_child=self._let_go_in_child)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._let_go()
        if self._received is not None and self._ours and isinstance(error, Terminated | None):
            os.kill(os.getpid(), self._received)
            # The first process of a container is not ended by that.
            raise Terminated(128 + self._received)

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """Within, a signal ends what runs, and if it stays, another the process.

        Outside, it waits; `_COMPLETION` after the end, another ends the process there, too.
        """
        self._raising = self._runs = True
        try:
            yield
        finally:
            self._raising = self._runs = False
            self._over = time.monotonic()

    @property
    def received(self) -> bool:
        """Whether a signal has come."""
        return self._received is not None

    @property
    def _is_stuck(self) -> bool:
        """Whether a request has come, not just now, and what runs, or what completes it, does not end."""
        now = time.monotonic()
        asked = self._received is not None and now - self._first > _ONE_REQUEST
        return asked and (self._runs or now - self._over > _COMPLETION)

    @property
    def _ours(self) -> bool:
        return os.getpid() == self._process

    def _let_go_in_child(self) -> None:
        self._handled = [number for number in self._handled if number not in _DUMPS]
        self._let_go()

    def _let_go(self) -> None:
        for number in self._handled:
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, signal.SIG_DFL)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._ours:
            # Something other than Python has forked, or it came at that moment; or it is one for dumps, and
            # the program has no use of its own for it, as this is called.
            self._let_go()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        if number in _REPEATED and self._received == number:
            return
        if self._is_stuck:
            # What has been written stays.
            self._let_go()
            os.kill(os.getpid(), number)
            return
        if self._received is None:
            self._first = time.monotonic()
        self._received = number
        if self._raising:
            self._raising = False
            raise Terminated(128 + number)


class Interrupt:
    """Within, Ctrl-C and what ends a process mean "finish"; a second Ctrl-C means what it always does."""

    def __init__(self) -> None:
        self._come = False
        # A handler runs amid a wait of the same thread: what takes no lock that the wait holds.
        self._awake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, *ENDING):
                # Whoever wants it to outlive its terminal has it ignore that.
                if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, seconds: float) -> bool:
        """Wait for a signal, at most so long; True if one has come."""
        with contextlib.suppress(queue.Empty):
            if not self._come:
                self._awake.get(timeout=seconds)
        return self._come

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._come and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._come = True
        self._awake.put(None)
