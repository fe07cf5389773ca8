"""Source code that is kept while a recording goes on, for the file of a process that is killed."""

from __future__ import annotations

import logging
from collections import deque
from threading import RLock
from time import monotonic

from ..analysis.code import Line, lines
from ..batch import announced
from ..recording import Recording
from ..store import Store
from .code import LINES, Code, in_turn
from .driver import DRIVER
from .feed import Turn

#: Tables whose rows point to lines.
_POINTING = ("functions", "submissions", "stacks")
#: Part of the lines that may be kept early: at its end a recording knows which ones count.
_SHARE = 0.5
#: Seconds between two readings: most polls bring rows, and each reading takes some milliseconds.
_PAUSE = 5.0

logger = logging.getLogger(__name__)


class EarlyCode:
    """Reads the lines that new rows point to, within seconds after they came, until `stop`.

    Parameters
    ----------
    recording
        What points to them, and takes them.
    """

    def __init__(self, recording: Recording) -> None:
        self._code = Code(recording)
        self._came: deque[bytes] = deque()
        #: All lines that were pointed to so far: by them a file is known to be another one here.
        self._wanted: dict[str, dict[int, Line]] = {}
        #: From when on they are read again, by the monotonic clock.
        self._due = 0.0
        self._reading, self._ended = RLock(), False
        # First: where no thread can be started nothing is to follow.
        self._undrive = DRIVER.drive(self)
        self._unfollow = recording.on_append(self._appended)

    def stop(self) -> None:
        """Read no more; waits a while for what is being read."""
        self._unfollow()
        self._undrive()
        with in_turn(self._reading):
            self._ended = True

    def tick(self) -> Turn:
        """Read what the rows point to that have come, if it is time for that."""
        if (left := self._due - monotonic()) > 0:
            return Turn(False, left)
        if not self._came:
            return Turn(False, None)
        came = Store()
        for _ in range(len(self._came)):
            came.append(self._came.popleft())
        try:
            with self._reading:
                if not self._ended:
                    self._read(came)
        except Exception:
            # The end of the recording reads them once more, and tells what fails.
            logger.debug("source code could not be read early", exc_info=True)
        self._due = monotonic() + _PAUSE
        return Turn(False, _PAUSE)

    def _read(self, came: Store) -> None:
        found = lines(came.columns)
        for each in found:
            self._wanted.setdefault(each.file, {}).setdefault(each.line, each)
        files = {each.file for each in found}
        self._code.read([each for file in files for each in self._wanted[file].values()], int(_SHARE * LINES))

    def _appended(self, batch: bytes) -> None:
        if announced(batch)[0] in _POINTING:
            self._came.append(batch)
            if monotonic() >= self._due:
                DRIVER.wake()
