"""Runs tasks for dask's multiprocessing scheduler, in its processes, and measures them.

The scheduler's own callbacks cannot know when a task ran in another process.
So its batches are run through `run_batch`, which leaves the running to dask's
own function and only looks at the clock around it. It is imported in every
process of the pool, so it needs nothing but what is there anyway.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from inspect import signature
from time import perf_counter, thread_time
from typing import Any, NamedTuple

import dask.local
from dask.utils import key_split

from .garbage import Collected, Collections
from .sampler import Sampler

#: Seconds without a batch after which sampling ends.
_IDLE = 1.0
#: Where the stack of a task begins: below are dask's and our own.
BASE = "dask/local.py"

#: One task as dask's `execute_task` takes it.
_TAKEN = ("key", "task_info", "dumps", "loads", "get_id", "pack_exception")
Arguments = tuple[Any, Any, Any, Any, Any, Any]
Run = Callable[[Sequence[Arguments]], list[Any]]


class Measured(NamedTuple):
    """What is known of one task that ran; times in seconds of `perf_counter`."""

    start: float
    stop: float
    #: CPU seconds of the thread; NaN if unknown.
    cpu: float
    thread: int
    failed: bool = False
    exception: str = ""
    traceback: str = ""
    #: When reading the task and its inputs began, and when writing its result ended.
    loading: float = float("nan")
    dumped: float = float("nan")
    #: Change of the process's memory, bytes; NaN if unknown.
    rss: float = float("nan")


class Report(NamedTuple):
    """What one batch of tasks was like."""

    pid: int
    tasks: list[Measured]
    #: What `Sampler.drain` gave; `run` counts tasks of the process, times are as in `Measured`. None without
    #: a profile.
    profile: dict[str, Any] | None
    #: Number of the first task among those of the process.
    first: int = 0
    #: Times that stacks could not be looked at, and samples dropped.
    lost: int = 0
    #: Garbage collections; their `run` is the number of the task in the batch, times are as in `Measured`.
    collections: Sequence[Collected] = ()
    #: Why stacks could not be taken; '' if they were, or nobody wanted them.
    gap: str = ""


def measurable() -> bool:
    """Whether this Dask's tasks are what `run_batch` takes."""
    try:
        return tuple(signature(dask.local.execute_task).parameters) == _TAKEN
    except (AttributeError, ValueError):
        return False


def run_batch(
    run: Run, profile: tuple[float, float] | None, batch: Sequence[Arguments]
) -> tuple[list[Any], Report]:
    """Run a batch of tasks.

    Parameters
    ----------
    run
        dask's own function for it.
    profile
        Interval in seconds and share of one core for sampling stacks; None to take none.
    batch
        The tasks.

    Returns
    -------
    results
        What `run` would have returned.
    report
        What was measured.
    """
    profiler = _profiler(profile)
    first = profiler.expect(len(batch)) if profiler is not None else 0
    results: list[Any] = []
    tasks: list[Measured] = []
    collections = Collections(lambda ident: len(tasks), perf_counter)
    collections.start()
    try:
        for arguments in batch:
            watch = _Watch(arguments, profiler, first + len(tasks))
            results.extend(run([watch.arguments()]))
            tasks.append(watch.measured())
    finally:
        collections.stop()
    profile_of_batch, lost = (profiler.drain(), profiler.lost()) if profiler is not None else (None, 0)
    gap = profiler.gap if profiler is not None else ""
    return results, Report(os.getpid(), tasks, profile_of_batch, first, lost, collections.take(), gap)


class _Profiler:
    """Samples stacks of this process's tasks from batch to batch, and ends when there are none for long."""

    def __init__(self, profile: tuple[float, float]) -> None:
        self.profile = profile
        self.stopped = False
        self._current: dict[int, int] = {}
        self._expected = 0
        self._idle_since = math.inf
        self._sampler = Sampler(self._threads, str, *profile, base=BASE, ends=True, clock=perf_counter)
        self._sampler.start()

    @property
    def gap(self) -> str:
        """Why nothing is sampled; '' if it is."""
        return self._sampler.reason

    def expect(self, tasks: int) -> int:
        """A batch of so many tasks comes; gives the number of its first."""
        first = self._expected
        self._expected += tasks
        self._idle_since = math.inf
        return first

    def began(self, thread: int, number: int) -> None:
        """A task begins."""
        self._current[thread] = number

    def ended(self, thread: int, start: float, stop: float, name: str) -> None:
        """It has ended."""
        number = self._current.pop(thread)
        self._sampler.ended(number, start, stop, name, thread)

    def drain(self) -> dict[str, Any]:
        """A batch has ended; what was sampled in it."""
        self._idle_since = perf_counter()
        return self._sampler.drain()

    def lost(self) -> int:
        """How often sampling failed since the last call."""
        lost, self._sampler.dropped = self._sampler.dropped, 0
        return lost

    def stop(self) -> None:
        """End."""
        self.stopped = True
        self._sampler.stop()

    def _threads(self) -> dict[int, int]:
        if perf_counter() - self._idle_since > _IDLE:
            self.stop()
        return self._current.copy()


_current_profiler: _Profiler | None = None


def _profiler(profile: tuple[float, float] | None) -> _Profiler | None:
    global _current_profiler
    if profile is None:
        return None
    last = _current_profiler
    # Where it could not begin it is tried again.
    if last is None or last.stopped or last.gap or last.profile != profile:
        if last is not None:
            last.stop()
        _current_profiler = _Profiler(profile)
    return _current_profiler


class _Watch:
    """Looks at the clock where dask reads a task, has its result, and writes it."""

    def __init__(self, arguments: Arguments, profiler: _Profiler | None, number: int) -> None:
        self._key, self._task, self._dumps, self._loads, self._get_id, self._pack = arguments
        self._profiler = profiler
        self._number = number
        self._thread = threading.get_ident()
        self._running = False
        self._loading = self._start = self._stop = self._dumped = perf_counter()
        self._cpu = self._cpu_start = thread_time()
        self._rss = 0.0
        self._failed, self._exception, self._traceback = False, "", ""

    def arguments(self) -> Arguments:
        """What dask is given to run."""
        return self._key, self._task, self.dumps, self.loads, self.get_id, self.pack_exception

    def loads(self, packed: Any) -> Any:
        task = self._loads(packed)
        self._rss = resident()
        self._running = True
        if self._profiler is not None:
            self._profiler.began(self._thread, self._number)
        self._cpu_start, self._start = thread_time(), perf_counter()
        return task

    def get_id(self) -> Any:
        self._ended()
        return self._get_id()

    def dumps(self, result: Any) -> Any:
        packed = self._dumps(result)
        self._dumped = perf_counter()
        return packed

    def pack_exception(self, error: BaseException, dumps: Any) -> Any:
        self._ended()
        self._failed = True
        _leave_out(error, sys._getframe().f_code.co_filename)
        self._exception, self._traceback = describe(error)
        packed = self._pack(error, self._dumps)
        self._dumped = perf_counter()
        return packed

    def _ended(self) -> None:
        """The task has returned or raised; called again where writing its result raises."""
        if self._running:
            self._running = False
            self._stop, self._cpu = perf_counter(), thread_time()
            self._rss = resident() - self._rss
            if self._profiler is not None:
                self._profiler.ended(self._thread, self._start, self._stop, key_split(self._key))

    def measured(self) -> Measured:
        return Measured(
            start=self._start,
            stop=max(self._stop, self._start),
            cpu=max(self._cpu - self._cpu_start, 0.0),
            thread=self._thread,
            failed=self._failed,
            exception=self._exception,
            traceback=self._traceback,
            loading=self._loading,
            dumped=self._dumped,
            rss=self._rss,
        )


def describe(error: BaseException, below: int = 0) -> tuple[str, str]:
    """An exception and its traceback as text, without the outermost `below` frames; never raises."""
    entry = error.__traceback__
    for _ in range(below):
        entry = entry.tb_next if entry is not None else None
    try:
        text = repr(error)
    except Exception:
        text = f"{type(error).__name__} (its repr failed)"
    try:
        return text, "".join(traceback.format_exception(type(error), error, entry))
    except Exception:
        return text, ""


def _leave_out(error: BaseException, file: str) -> None:
    """Take the frames of one file out of a traceback, all but the outermost frame."""
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        if entry.tb_next.tb_frame.f_code.co_filename == file:
            entry.tb_next = entry.tb_next.tb_next
        else:
            entry = entry.tb_next


def resident() -> float:
    """Resident memory of this process in bytes; NaN where that is not cheap to know."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            return float(int(file.read().split()[1]) * _PAGE)
    except (OSError, IndexError, ValueError):
        return float("nan")


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
