"""What a process logs, from a level on."""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

#: The levels from which on one may ask for records, the least first.
LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
#: Characters of a text, and calls of a traceback: the last ones, where it was raised.
_TEXT, _CALLS = 4000, 30
#: The line that stands for the middle of a longer text.
CUT = "…"

#: Those of a cluster in this process that are open: of the process's records only the first notes anything.
_open: list[Logs] = []


class Logs(logging.Handler):
    """Keeps log records of a level and above until they are taken; bounded, the oldest go first.

    In a cluster inside one process records cannot be told apart by who logged them, so they come once.

    Parameters
    ----------
    name
        Name of the handler.
    level
        The least level, one of `LEVELS`; `ask` sets another one.
    among
        Those that are open of whom only the first notes anything, by default all others.

    Attributes
    ----------
    latest, before
        When what had come was last taken, and the time before that; at first when it was made.
    """

    def __init__(self, name: str, level: str = "warning", among: list[Logs] | None = None) -> None:
        super().__init__(LEVELS[level])
        self.set_name(name)
        self._open = _open if among is None else among
        self._kept: deque[tuple[float, str, str]] = deque(maxlen=1000)
        #: The last record of each thread, which may hold what it was logged about.
        self._seen = threading.local()
        self._last: _Last | None = None
        self.before = self.latest = time.time()
        self.dropped = 0

    def open(self) -> None:
        """Begin to listen."""
        self._pid = os.getpid()
        for one in [one for one in self._open if one._pid != self._pid]:
            # This process was forked off from its own.
            one.shut()
        self._open.append(self)
        self._listen()

    def ask(self, level: str) -> None:
        """Keep records of this level and above from now on."""
        self.setLevel(LEVELS[level])

    def _listen(self) -> None:
        """Listen wherever others do, as Dask's configuration has loggers hand nothing on.

        A logger without handlers stays so, or it would be silent because of us.
        """
        for logger in _loggers():
            if any(not isinstance(one, Logs) for one in logger.handlers):
                logger.addHandler(self)
            elif self in logger.handlers:
                logger.removeHandler(self)
        if self._last is None and logging.lastResort is not None:
            self._last = _Last(self, logging.lastResort)
            logging.lastResort = self._last

    def shut(self) -> None:
        """Stop listening."""
        if self in self._open:
            self._open.remove(self)
        for logger in _loggers():
            if self in logger.handlers:
                logger.removeHandler(self)
        if self._last is not None:
            self._last.leave()
            self._last = None
        self.close()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record; it may come twice where loggers propagate."""
        seen = getattr(self._seen, "record", None)
        if (seen and seen() is record) or self not in self._open[:1]:
            return
        self._seen.record = weakref.ref(record)
        told = self.told(record)
        self.dropped += len(self._kept) == self._kept.maxlen
        self._kept.append(told)

    @staticmethod
    def told(record: logging.LogRecord) -> tuple[float, str, str]:
        """Time, level and text of a record."""
        try:
            text = f"{record.name}: {record.getMessage()}"
            if record.exc_info and record.exc_info[1] is not None:
                text += "\n" + "".join(traceback.format_exception(*record.exc_info, limit=-_CALLS)).rstrip()
        except Exception:
            text = f"{record.name}: {_described(record.msg)}"
        return record.created, _named(record.levelno), _cut(text)

    @property
    def is_first(self) -> bool:
        """Whether none of the same name began to listen before it in this process."""
        return next((one for one in self._open if one.get_name() == self.get_name()), None) is self

    @property
    def stretch(self) -> tuple[float, float] | None:
        """From when until when the records are that were taken last; None where another one notes them."""
        return (self.before, self.latest) if self in self._open[:1] else None

    def take(self) -> list[tuple[float, str, str]]:
        """Time, level and text of the records since the last call."""
        if self in self._open:
            # The program may have set up its logging meanwhile.
            self._listen()
        self.before, self.latest = self.latest, time.time()
        found = []
        while self._kept:
            found.append(self._kept.popleft())
        return found


def below(level: str) -> list[str]:
    """The levels less than one of `LEVELS`."""
    return [each for each in LEVELS if LEVELS[each] < LEVELS[level]]


def _named(number: int) -> str:
    """The highest level that a number reaches, whatever it is called there."""
    return next((each for each in reversed(LEVELS) if number >= LEVELS[each]), "debug")


def _loggers() -> Iterator[logging.Logger]:
    """All that there are by now."""
    yield logging.root
    for one in list(logging.root.manager.loggerDict.values()):
        if isinstance(one, logging.Logger):
            yield one


def _described(message: object) -> str:
    """What was logged and cannot be formatted; never raises."""
    try:
        return repr(message)
    except Exception:
        return f"{type(message).__name__} (its repr failed)"


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
        if self._logs is not None and record.levelno >= self._logs.level:
            self._logs.handle(record)
        self._before.handle(record)

    def leave(self) -> None:
        """Note nothing any more, and give the place back, unless somebody else stands before us."""
        self._logs = None
        # Another copy of this module may have put its own there.
        last: Any
        while getattr(last := logging.lastResort, "_logs", self) is None:
            logging.lastResort = last._before
