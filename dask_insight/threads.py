"""Threads of ours: one, or a few at once; this one where the interpreter is ending and starts no more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

_T = TypeVar("_T")
_R = TypeVar("_R")


def begun(run: Callable[[], object], name: str) -> Thread:
    """A daemon thread that runs something.

    Raises
    ------
    RuntimeError
        If there can be none now: the interpreter is ending, or the system has no more.
    """
    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def at_once(work: Callable[[_T], _R], items: Iterable[_T], threads: int) -> Iterator[_R]:
    """What `work` makes of each item, in their order.

    Items are taken, here, while others are worked on, twice as many ahead as there are `threads`.
    """
    pool = _pool(threads)
    waiting: deque[Callable[[], _R]] = deque()
    try:
        for item in items:
            waiting.append(_begun(pool, work, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft()()
        while waiting:
            yield waiting.popleft()()
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def _pool(threads: int) -> ThreadPoolExecutor | None:
    """None where the interpreter is ending: what has not been imported by then cannot be any more."""
    try:
        from concurrent.futures import ThreadPoolExecutor
    except RuntimeError:
        return None
    return ThreadPoolExecutor(threads, "dask-insight")


def _begun(pool: ThreadPoolExecutor | None, work: Callable[[_T], _R], item: _T) -> Callable[[], _R]:
    """Begin some work on a thread; what is given back waits for its result, or works it out."""
    if pool is not None:
        try:
            return pool.submit(work, item).result
        except RuntimeError:
            # The interpreter is ending, or has no threads.
            pass
    return partial(work, item)
