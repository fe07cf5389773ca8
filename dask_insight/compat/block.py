"""Recordings of blocks of code that something else watches too."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

from ..recording import Recording
from ..session import Session, record

Metric = Callable[[Any], float]


class _Shared:
    """A recording of the local schedulers that several watchers share."""

    def __init__(self, session: Session, recording: Recording, metric: Metric | None) -> None:
        self.session = session
        self.recording = recording
        self.metric = metric
        self.watchers = 1


#: Held again by who holds it: garbage may be collected meanwhile, in which a block ends.
_lock = threading.RLock()
_running: list[_Shared] = []


class RecordedBlock:
    """Adds a recording to one of dask's callbacks, from `__enter__` or `register` to its counterpart.

    Blocks that overlap share one recording, so that nesting several costs no more than one of them; it
    is complete when the outermost has ended. A recording that cannot be made is a warning: the block
    and what dask's own class does go on.

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
        self._begin()

    def unregister(self) -> None:
        """Watch no more."""
        try:
            super().unregister()  # type: ignore[misc]
        finally:
            self._end()

    def _begin(self) -> None:
        if self._joined is not None:
            return
        try:
            self._joined = _join(self._cache_metric)
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


def _join(metric: Metric | None) -> _Shared:
    with _lock:
        for shared in _running:
            if metric is None or metric is shared.metric:
                shared.watchers += 1
                return shared
        session = record(clusters=False, cache_metric=metric)
        shared = _Shared(session, session.start(), metric)
        _running.append(shared)
        return shared


def _leave(shared: _Shared) -> None:
    with _lock:
        shared.watchers -= 1
        if shared.watchers:
            return
        _running.remove(shared)
    shared.session.stop()
