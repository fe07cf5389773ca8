"""Warnings and errors that a process logs."""

from __future__ import annotations

import logging
import os
import traceback
from collections import deque

#: Those that Dask or a person may have taken off the others, or given handlers of their own.
_LOGGERS = ("", "distributed", "dask")
#: Characters of a text, and calls of a traceback: the last ones, where it was raised.
_TEXT, _CALLS = 4000, 30
#: The line that stands for the middle of a longer text.
CUT = "…"

#: Those of this process that are open: of one process's records only the first notes anything.
_open: list[Logs] = []


class Logs(logging.Handler):
    """Keeps log records of level WARNING and above until they are taken; bounded, the oldest go first.

    In a cluster inside one process records cannot be told apart by who logged them, so they come once.

    Parameters
    ----------
    name
        Name of the handler.
    """

    def __init__(self, name: str) -> None:
        super().__init__(logging.WARNING)
        self.set_name(name)
        self._kept: deque[tuple[float, str, str]] = deque(maxlen=1000)
        self._seen: logging.LogRecord | None = None
        self._last: _Last | None = None
        self.dropped = 0

    def open(self) -> None:
        """Begin to listen."""
        self._pid = os.getpid()
        for one in [one for one in _open if one._pid != self._pid]:
            # This process was forked off from its own.
            one.shut()
        _open.append(self)
        self._listen()

    def _listen(self) -> None:
        """Listen where others do; a logger without handlers stays so, or it would be silent because of us."""
        for logger in map(logging.getLogger, _LOGGERS):
            if any(not isinstance(one, Logs) for one in logger.handlers):
                logger.addHandler(self)
            else:
                logger.removeHandler(self)
        if self._last is None and logging.lastResort is not None:
            self._last = _Last(self, logging.lastResort)
            logging.lastResort = self._last

    def shut(self) -> None:
        """Stop listening."""
        if self in _open:
            _open.remove(self)
        for logger in map(logging.getLogger, _LOGGERS):
            logger.removeHandler(self)
        if self._last is not None:
            self._last.leave()
            self._last = None
        self.close()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record; it may come twice where loggers propagate."""
        if record is self._seen or self not in _open[:1]:
            return
        self._seen = record
        try:
            text = f"{record.name}: {record.getMessage()}"
            if record.exc_info and record.exc_info[1] is not None:
                text += "\n" + "".join(traceback.format_exception(*record.exc_info, limit=-_CALLS)).rstrip()
        except Exception:
            text = f"{record.name}: {record.msg!r}"
        self.dropped += len(self._kept) == self._kept.maxlen
        self._kept.append((record.created, record.levelname.lower(), _cut(text)))

    def take(self) -> list[tuple[float, str, str]]:
        """Time, level and text of the records since the last call."""
        if self in _open:
            # The program may have set up its logging meanwhile.
            self._listen()
        found = []
        while self._kept:
            found.append(self._kept.popleft())
        return found


def _cut(text: str) -> str:
    """Of a long text the beginning and the end: the last line names the error."""
    half = _TEXT // 2
    return text if len(text) <= _TEXT else f"{text[: half - 2]}\n{CUT}\n{text[1 - half :]}"


class _Last(logging.Handler):
    """Stands before the handler of those records for which there is no other.

    Parameters
    ----------
    logs
        Notes them as well.
    before
        The handler that goes on to show them.
    """

    def __init__(self, logs: Logs, before: logging.Handler) -> None:
        super().__init__(before.level)
        self._logs: Logs | None = logs
        self._before = before

    def emit(self, record: logging.LogRecord) -> None:
        if self._logs is not None:
            self._logs.handle(record)
        self._before.handle(record)

    def leave(self) -> None:
        """Note nothing any more, and give the place back, unless somebody else stands before us."""
        self._logs = None
        while isinstance(logging.lastResort, _Last) and logging.lastResort._logs is None:
            logging.lastResort = logging.lastResort._before
