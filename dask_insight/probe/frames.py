"""Taking the frames of other threads without harm."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

Frames = Callable[[], "dict[int, FrameType]"]

#: One for the process: with a cluster inside it, a second copy of this module takes frames too.
_PAUSE: threading.Lock = vars(sys).setdefault("_dask_insight_pause", threading.Lock())
#: What stood at `sys` before, what stands there now, and whom it serves: these too are one for all copies.
_GUARD: dict[str, Any] = vars(sys).setdefault("_dask_insight_guard", {"served": []})
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
            return _taken()
        finally:
            if enabled:
                gc.enable()
    finally:
        _PAUSE.release()


def _taken() -> dict[int, FrameType]:
    take: Frames = _GUARD.get("before") or sys._current_frames
    return take()


def _for_all() -> dict[int, FrameType]:
    """What stands in the place of `sys._current_frames` while `guard` is asked for."""
    return paused() or _taken()


def guard(served: object, version: tuple[int, ...] = sys.version_info[:2]) -> None:
    """Have whoever takes frames in this process take them `paused`, as Dask's own profiler does all the time.

    Before Python 3.12, that is. Whoever has Python call him in each collection makes a standstill
    likelier, and asks for this.
    """
    if version >= (3, 12) or not hasattr(sys, "_current_frames") or not _PAUSE.acquire(timeout=_PATIENCE):
        return
    try:
        if "before" not in _GUARD:
            _GUARD["before"], _GUARD["now"] = sys._current_frames, _for_all
            sys._current_frames = _for_all
        _GUARD["served"].append(served)
    finally:
        _PAUSE.release()


def unguard(served: object) -> None:
    """Who asked for `guard` needs it no more; the stand-in goes with the last, unless others build on it."""
    if not _PAUSE.acquire(timeout=_PATIENCE):
        return
    try:
        left = [other for other in _GUARD["served"] if other is not served]
        if not left and sys.__dict__.get("_current_frames") is _GUARD.get("now"):
            sys._current_frames = _GUARD.pop("before")
            del _GUARD["now"]
        _GUARD["served"] = left
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
