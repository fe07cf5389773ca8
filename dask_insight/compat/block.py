"""Recordings of blocks of code that something else watches too."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from ..recording import Recording
from ..session import Session, record
from ..session.feed import Turn

if TYPE_CHECKING:
    from ..session.bounded import BoundedRecording

Metric = Callable[[Any], float]


class _Shared:
    """A recording of the local schedulers that several watchers share."""

    def __init__(self, metric: Metric | None, endless: bool) -> None:
        self.metric, self.endless = metric, endless
        self.watchers = 1
        session = record(clusters=False, profile=not endless, cache_metric=metric)
        with ExitStack() as begun:
            if endless:
                begun.callback(_bounded(session))
            self.recording = session.start()
            begun.callback(session.stop)
            self.stop = begun.pop_all().close


class _Tidied(NamedTuple):
    """A bounded recording that takes its turns."""

    recording: BoundedRecording

    def tick(self) -> Turn:
        """Keep it within its bounds."""
        self.recording.tidy()
        return Turn(False, None)


def _bounded(session: Session) -> Callable[[], None]:
    """Have a session that may never end keep its latest attempts alone; the result ends its turns."""
    from ..session.bounded import BoundedRecording
    from ..session.driver import DRIVER
    from ..session.live import HISTORY

    session.recording = recording = BoundedRecording(HISTORY, DRIVER.wake)
    return DRIVER.drive(_Tidied(recording))


#: Held again by who holds it: garbage may be collected meanwhile, in which a block ends.
_lock = threading.RLock()
_running: list[_Shared] = []
if hasattr(os, "register_at_fork"):
    # They are the other process'.
    os.register_at_fork(after_in_child=_running.clear)


class RecordedBlock:
    """Adds a recording to one of dask's callbacks, from `__enter__` or `register` to its counterpart.

    Blocks that overlap share one recording, so that nesting several costs no more than one of them; it
    is complete when the outermost has ended. Those that are registered, mostly for as long as the program
    runs, share another one, of the latest attempts and without call stacks. A recording that cannot be made
    is a warning: the block and what dask's own class does go on.

    Attributes
    ----------
    recording
        What the schedulers of this process did in the latest block; None before the first.
    """

    recording: Recording | None = None
    #: What a result counts for in the recording's table ``cache``; None: one.
    _cache_metric: Metric | None = None
    _joined: _Shared | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles have: all but a share in a recording that is still made."""
        return {**vars(self), "_joined": None}

    def __enter__(self) -> Any:
        self._begin()
        try:
            return super().__enter__()  # type: ignore[misc]
        except BaseException:
            self._end()
            raise

    def __exit__(self, *error: Any) -> Any:
        try:
            return super().__exit__(*error)  # type: ignore[misc]
        finally:
            self._end()

    def register(self) -> None:
        """Watch every computation from now on."""
        super().register()  # type: ignore[misc]
        self._begin(endless=True)

    def unregister(self) -> None:
        """Watch no more."""
        try:
            super().unregister()  # type: ignore[misc]
        finally:
            self._end()

    def _begin(self, endless: bool = False) -> None:
        if self._joined is not None:
            return
        try:
            self._joined = _join(self._cache_metric, endless)
        except Exception as error:
            not_recorded(error)
        else:
            self.recording = self._joined.recording

    def _end(self) -> None:
        shared, self._joined = self._joined, None
        if shared is not None:
            _leave(shared)


def not_recorded(error: Exception) -> None:
    """Warn that a block goes on without a recording."""
    message = f"the block is not recorded: {type(error).__name__}: {error}"
    warnings.warn(message, RuntimeWarning, stacklevel=4)


def _join(metric: Metric | None, endless: bool) -> _Shared:
    with _lock:
        for shared in _running:
            if shared.endless == endless and (metric is None or metric is shared.metric):
                shared.watchers += 1
                return shared
        shared = _Shared(metric, endless)
        _running.append(shared)
        return shared


def _leave(shared: _Shared) -> None:
    with _lock:
        shared.watchers -= 1
        if shared.watchers:
            return
        if shared in _running:
            _running.remove(shared)
    shared.stop()
