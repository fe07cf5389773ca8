"""Keeps a page's word on whether the kernel is busy true."""

from __future__ import annotations

import threading
import time
from typing import Any

from ...session.feed import Turn
from ...sources.cells import request_of

#: Seconds after a message came in by which the kernel has said 'idle' for having handled it.
_AFTER = 0.05


class Status:
    """Says 'busy' again when the kernel has said 'idle' although a cell runs.

    A kernel says 'busy' and 'idle' around every message, those that come in
    beside a running cell included, and pages believe the last word.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._kernel = shell.kernel
        self._lock = threading.Lock()
        self._parent: Any = None
        self._disturbed = 0.0

    def began(self) -> None:
        """A cell begins; on the thread that runs it."""
        parent = request_of(self._shell)
        with self._lock:
            # Of one that answers nothing the kernel would not say 'idle'.
            self._parent, self._disturbed = parent or None, 0.0

    def ended(self) -> None:
        """The cell ends; the kernel says so later."""
        with self._lock:
            self._parent = None

    def cell(self, *_: object) -> None:
        """Which one it is says nothing about that."""

    def disturbed(self) -> None:
        """A message has come in; from any thread."""
        with self._lock:
            if self._parent is not None:
                self._disturbed = time.monotonic()

    def tick(self) -> Turn:
        """Correct it if it is time."""
        with self._lock:
            if self._parent is None or not self._disturbed:
                return Turn(False, None)
            if (rest := self._disturbed + _AFTER - time.monotonic()) > 0:
                return Turn(False, rest)
            self._disturbed = 0.0
            # Within the lock: after `ended` this must not come any more.
            self._kernel.session.send(
                self._kernel.iopub_socket,
                "status",
                {"execution_state": "busy"},
                parent=self._parent,
                ident=self._kernel._topic("status"),
            )
        return Turn(False, None)
