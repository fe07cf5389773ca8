"""Resources of this process and of the processes it has started."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from multiprocessing import resource_tracker
from time import perf_counter, time
from typing import Any

import psutil

#: Seconds between two looks for new processes, which costs more than a sample.
_LOOK = 1.0


class Children:
    """Samples the processes that this one has started, but not a cluster's: those report for themselves."""

    def __init__(self) -> None:
        self._known: dict[int, psutil.Process] = {}
        self._look_at = 0.0

    def sample(self) -> list[dict[str, Any]]:
        """Rows of `resources`, one a process."""
        if perf_counter() >= self._look_at:
            self._look()
            self._look_at = perf_counter() + _LOOK
        return list(self._rows())

    def _look(self) -> None:
        found = {}
        for process in _descendants(psutil.Process(os.getpid()), _not_ours()):
            found[process.pid] = self._known.get(process.pid, process)
            if process.pid not in self._known:
                _started(process)
        self._known = found

    def _rows(self) -> Iterator[dict[str, Any]]:
        for pid, process in list(self._known.items()):
            try:
                with process.oneshot():
                    yield {
                        "process": f"process {pid}",
                        "time": time(),
                        "cpu": process.cpu_percent(),
                        "memory": float(process.memory_info().rss),
                        "fds": float(process.num_fds()) if hasattr(process, "num_fds") else float("nan"),
                    }
            except psutil.Error:
                del self._known[pid]


def _not_ours() -> set[int | None]:
    """Processes that report for themselves, and Python's own helper."""
    children = multiprocessing.active_children()
    workers = {child.pid for child in children if child.name.startswith("Dask Worker process")}
    tracker = getattr(resource_tracker, "_resource_tracker", None)
    return {*workers, getattr(tracker, "_pid", None)}


def _descendants(parent: psutil.Process, without: set[int | None]) -> Iterator[psutil.Process]:
    """All processes under one, except those given and what is under them."""
    children: dict[int, list[psutil.Process]] = {}
    for process in parent.children(recursive=True):
        try:
            children.setdefault(process.ppid(), []).append(process)
        except psutil.Error:
            continue
    waiting = [parent.pid]
    while waiting:
        for process in children.get(waiting.pop(), ()):
            if process.pid not in without:
                waiting.append(process.pid)
                yield process


def _started(process: psutil.Process) -> None:
    """The first call of `cpu_percent` has nothing to compare with."""
    try:
        process.cpu_percent()
    except psutil.Error:
        return
