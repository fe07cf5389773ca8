"""Warnings and errors that a process logs."""

from __future__ import annotations

import logging
from collections import deque

_LOGGERS = ("", "distributed", "dask")
_TEXT = 4000


class Logs(logging.Handler):
    """Keeps log records of level WARNING and above until they are taken; bounded, the oldest go first.

    Parameters
    ----------
    name
        Name of the handler. A process has one of each name: in a cluster
        inside one process, records cannot be told apart by who logged them.
    """

    def __init__(self, name: str) -> None:
        super().__init__(logging.WARNING)
        self.set_name(name)
        self._kept: deque[tuple[float, str, str]] = deque(maxlen=1000)
        self._seen: logging.LogRecord | None = None
        self._on: list[logging.Logger] = []
        self.dropped = 0

    def open(self) -> None:
        """Begin to listen, unless a handler of this name does already."""
        for logger in map(logging.getLogger, _LOGGERS):
            if not any(handler.get_name() == self.get_name() for handler in logger.handlers):
                logger.addHandler(self)
                self._on.append(logger)

    def shut(self) -> None:
        """Stop listening."""
        for logger in self._on:
            logger.removeHandler(self)
        self._on.clear()
        self.close()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record; it may come twice where loggers propagate."""
        if record is self._seen:
            return
        self._seen = record
        try:
            text = f"{record.name}: {record.getMessage()}"
            if record.exc_info and record.exc_info[1] is not None:
                text += f"\n{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        except Exception:
            text = f"{record.name}: {record.msg!r}"
        self.dropped += len(self._kept) == self._kept.maxlen
        self._kept.append((record.created, record.levelname.lower(), text[:_TEXT]))

    def take(self) -> list[tuple[float, str, str]]:
        """Time, level and text of the records since the last call."""
        found = []
        while self._kept:
            found.append(self._kept.popleft())
        return found
