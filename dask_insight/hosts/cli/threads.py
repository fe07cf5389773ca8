"""Waits for the threads that a program leaves behind, as Python does before it ends."""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import thread as pools
from contextlib import contextmanager
from itertools import dropwhile
from types import FrameType

from ...probe.frames import Frames, policy

#: Seconds between two looks at threads that may rest.
_LOOK = 0.05
#: Modules of executors have a function of this name, by which their threads end when Python does.
_ENDS_ITS_THREADS = "_python_exit"


def wait_for_threads(others: Collection[threading.Thread]) -> list[str]:
    """Wait until no thread of the program has anything to do, but for daemons.

    Threads of an executor stay until Python ends: they are waited for while they work. Those that wait
    for the main thread to end are not; none is where an interpreter does not show what threads run.

    Parameters
    ----------
    others
        Threads that are none of the program's.

    Returns
    -------
    list of str
        Names of threads that were not waited for, and may work on; but for those of executors.
    """
    frames, _ = policy()
    if frames is None:
        return at_work(others)
    with _main_thread_ended():
        while working := [each for each in _stay(others) if _works(each, frames)]:
            working[0].join(_LOOK)
    return []


def at_work(others: Collection[threading.Thread]) -> list[str]:
    """Names of threads of the program that may work on; but for those of executors.

    An executor's thread that works may look like one that rests, as that of Dask's local scheduler does.
    """
    return [each.name for each in _stay(others) if not _of_executor(each)]


def _stay(others: Collection[threading.Thread]) -> list[threading.Thread]:
    """Threads of the program that Python waits for before it ends."""
    ours = {*others, threading.current_thread()}
    return [each for each in threading.enumerate() if each not in ours and not each.daemon]


def _of_executor(thread: threading.Thread) -> bool:
    module = sys.modules.get(type(thread).__module__)
    return thread in pools._threads_queues or hasattr(module, _ENDS_ITS_THREADS)


@contextmanager
def _main_thread_ended() -> Iterator[None]:
    """Within, the main thread says that it has ended, as it does while Python waits for the others."""
    main = threading.main_thread()
    main.is_alive = lambda: False  # type: ignore[method-assign]
    main.join = lambda timeout=None: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        del main.is_alive, main.join


def _works(thread: threading.Thread, frames: Frames) -> bool:
    if not thread.is_alive():
        return False
    stack = _stack(frames().get(thread.ident or 0))
    if any(_joins_the_main_thread(frame) for frame in stack):
        return False
    own = list(dropwhile(lambda frame: frame.f_globals is vars(threading), stack))
    if not own or _ENDS_ITS_THREADS not in own[0].f_globals:
        return True
    return own[0].f_globals is vars(pools) and (len(own) > 1 or not _queue_is_empty(thread))


def _stack(frame: FrameType | None) -> list[FrameType]:
    """What a thread runs, the outermost first."""
    stack: list[FrameType] = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    return stack[::-1]


def _joins_the_main_thread(frame: FrameType) -> bool:
    joining = frame.f_code is threading.Thread.join.__code__
    return joining and frame.f_locals["self"] is threading.main_thread()


def _queue_is_empty(thread: threading.Thread) -> bool:
    queue = pools._threads_queues.get(thread)
    return queue is None or queue.empty()
