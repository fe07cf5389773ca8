"""Taking the frames of other threads without harm."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import FrameType

Frames = Callable[[], "dict[int, FrameType]"]

#: One for the process: with a cluster inside it, a second copy of this module takes frames too.
_PAUSE: threading.Lock = vars(sys).setdefault("_dask_insight_pause", threading.Lock())
#: Seconds after which nothing is taken: a process forked in a pause has a lock that nobody gives back.
_PATIENCE = 1.0


def paused() -> dict[int, FrameType]:
    """`sys._current_frames` with automatic garbage collection off meanwhile.

    Before Python 3.12 it allocates while it holds a lock of the interpreter;
    a collection that starts then may run code that lets another thread take
    the GIL and wait for that lock, and the process stands still
    (https://github.com/python/cpython/issues/116969). The collector looks at
    its switch before it starts, and the call itself does not yield. Nobody else
    of ours may switch it on again before the call.
    """
    if not _PAUSE.acquire(timeout=_PATIENCE):
        return {}
    try:
        enabled = gc.isenabled()
        gc.disable()
        try:
            return sys._current_frames()
        finally:
            if enabled:
                gc.enable()
    finally:
        _PAUSE.release()


def policy(version: tuple[int, int] | None = None) -> tuple[Frames | None, str]:
    """How this interpreter's frames can be taken, or None and why they cannot."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None, "without the GIL, reading another thread's frames can crash Python"
    if not hasattr(sys, "_current_frames"):
        return None, "this Python does not show other threads' frames"
    if (version or sys.version_info[:2]) < (3, 12):
        return paused, "automatic garbage collection pauses while frames are taken"
    return sys._current_frames, ""
