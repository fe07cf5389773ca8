"""Messages that marimo shows, whichever thread has them."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

#: The first version that takes widgets' messages from every thread; older ones drop them without a word.
_TAKES_ALL = (0, 23, 14)

#: How often the thread looks whether its cell is still there, seconds.
_LOOK = 1.0


class Messenger:
    """Sends for other threads, from one that marimo knows.

    Parameters
    ----------
    thread_class
        ``marimo.Thread``: it belongs to the cell that is running, and says when that cell has gone.
    """

    def __init__(self, thread_class: Any) -> None:
        self._home = threading.get_ident()
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._ended = False
        self._thread = thread_class(target=self._work, name="dask-insight-marimo", daemon=True)
        self._thread.start()

    def say(self, send: Callable[[], None]) -> None:
        """Have something sent, at once if it is asked for where cells run."""
        if self._ended or threading.get_ident() == self._home:
            send()
        else:
            self._waiting.put(send)

    def end(self) -> None:
        """Send nothing any more."""
        self._ended = True

    def _work(self) -> None:
        while not (self._ended or self._thread.should_exit):
            try:
                send = self._waiting.get(timeout=_LOOK)
            except Empty:
                continue
            # What cannot be sent, as of a widget that has been closed, must not cost what comes after it.
            with suppress(Exception):
                send()
        self._ended = True


def messenger() -> Messenger | None:
    """One for the cell that is running; None wherever messages need none."""
    marimo: Any = sys.modules.get("marimo")
    if not hasattr(marimo, "Thread") or not marimo.running_in_notebook() or _version(marimo) >= _TAKES_ALL:
        return None
    return Messenger(marimo.Thread)


def _version(module: Any) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", module.__version__)[:3]))
