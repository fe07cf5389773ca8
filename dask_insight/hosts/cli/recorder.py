"""Records the process in which ``dask-insight run`` runs a program."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from .imports import Imported

if TYPE_CHECKING:
    from ...recording import Recording
    from ...session import Session

#: Threads that are told by name.
_NAMED = 3


class Recorder:
    """Records from when the program has imported Dask; its seconds count from when this was made.

    Dask and NumPy read environment variables when they are imported, which a program may set first, and
    recording imports both.

    Parameters
    ----------
    make
        Makes the session.
    reserved
        Keeps other processes from its file until the session does so itself.
    spares
        Whether its file holds something, which a program that never imports Dask is to leave there.
    """

    def __init__(self, make: Callable[[], Session], reserved: ExitStack, *, spares: bool = False) -> None:
        self._make = make
        self._reserved = reserved
        self._spares = spares
        self._session: Session | None = None
        self._made = time.time()
        self._process = os.getpid()
        #: Why the program is not recorded.
        self.refused: Exception | None = None
        #: What is missing as the recording ended before the program did, in words.
        self.lost = ""

    @property
    def ours(self) -> bool:
        """Whether this is the process that records, and none that was forked off it."""
        return os.getpid() == self._process

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within, it begins when Dask has been imported."""
        with Imported("dask", self._begin):
            yield

    def stop(self, left: Sequence[str] = (), why: str = "") -> None:
        """Record no more; a program that never imported Dask has a recording that says so, in a new file.

        Parameters
        ----------
        left
            Names of threads of the program that may work on.
        why
            Why they were not waited for.
        """
        if self._session is None and self.refused is None and not self._spares:
            self._begin()
        if self._session is not None:
            if left and self.ours:
                self.lost = _unwaited(left, why)
                self._session.recording.tell("lost", self.lost)
            self._session.stop()

    @property
    def recording(self) -> Recording | None:
        """What was recorded; None if that has not begun."""
        return self._session.recording if self._session is not None else None

    def _begin(self) -> None:
        if not self.ours:
            return
        try:
            with self._reserved:
                session = self._make()
            session.since = self._made
            session.start()
        except Exception as error:
            # It is the program that imports Dask: that must not fail.
            self.refused = error
        else:
            self._session = session


def _unwaited(left: Sequence[str], why: str) -> str:
    from ...words import count, listing

    more = ["others"] if len(left) > _NAMED else []
    named = listing([*left[:_NAMED], *more])
    return (
        f"{count(len(left), 'thread')} ({named}) went on when the recording ended, as {why}: what they "
        "computed then is missing. Let the program join them"
    )


def idle(recording: Recording) -> bool:
    """Whether a process had nothing to do with Dask, or was itself a scheduler or a worker."""
    workers: Any = recording.columns("workers")["pid"]
    tasks: Any = recording.columns("graph")["task"]
    return not len(workers) and not len(tasks)
