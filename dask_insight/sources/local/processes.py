"""Resources of this process and of the processes it has started."""

from __future__ import annotations

import contextlib
import glob
import multiprocessing.process
import os
import sys
from collections.abc import Iterator
from multiprocessing import resource_tracker
from time import perf_counter
from typing import Any

import psutil

#: Seconds between two looks for new processes, which costs more than a sample.
_LOOK = 1.0
_PROC = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class Children:
    """Samples the processes that this one has started, but not a cluster's: those report for themselves."""

    def __init__(self) -> None:
        self._known: dict[int, psutil.Process] = {}
        self._look_at = 0.0

    def sample(self) -> list[dict[str, Any]]:
        """Rows of `resources`, one a process; times are moments of `perf_counter`."""
        if perf_counter() >= self._look_at:
            self._look()
            self._look_at = perf_counter() + _LOOK
        return list(self._rows())

    def _look(self) -> None:
        found = {}
        server = _fork_server()
        for process in _descendants(os.getpid(), _not_ours()):
            if process.pid == server:
                continue
            found[process.pid] = self._known.get(process.pid, process)
            if process.pid not in self._known:
                _started(process)
        self._known = found

    def _rows(self) -> Iterator[dict[str, Any]]:
        for pid, process in list(self._known.items()):
            try:
                row = _row(process)
            except psutil.Error:
                del self._known[pid]
                continue
            if row["memory"]:
                yield row


def _row(process: psutil.Process) -> dict[str, Any]:
    """A row of `resources`; without memory if the process has ended and nobody has asked how."""
    with process.oneshot():
        return {
            "process": f"process {process.pid}",
            "time": perf_counter(),
            "cpu": process.cpu_percent(),
            "memory": float(process.memory_info().rss),
            "fds": float(process.num_fds()) if hasattr(process, "num_fds") else float("nan"),
        }


def _not_ours() -> set[int | None]:
    """Processes that report for themselves, and Python's own helper.

    Python's `active_children` would take the exit codes of those that have ended.
    """
    children = list(getattr(multiprocessing.process, "_children", ()))
    workers = {child.pid for child in children if child.name.startswith("Dask Worker process")}
    tracker = getattr(resource_tracker, "_resource_tracker", None)
    return {*workers, getattr(tracker, "_pid", None)}


def _fork_server() -> int | None:
    """Python's process that starts others, which are a person's own; it computes nothing itself."""
    server = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    return getattr(server, "_forkserver_pid", None)


def _descendants(parent: int, without: set[int | None]) -> Iterator[psutil.Process]:
    """All processes under one, except those given and what is under them."""
    if not _PROC:
        yield from _listed(parent, without)
        return
    waiting = [parent]
    while waiting:
        for pid in _children(waiting.pop()):
            if pid not in without:
                waiting.append(pid)
                with contextlib.suppress(psutil.Error):
                    yield psutil.Process(pid)


def _listed(parent: int, without: set[int | None]) -> list[psutil.Process]:
    """The same where whoever asks for what is under one lists all on the host: few are asked for."""
    found = _under(parent)
    mine = [process for process in found if process.pid not in without]
    others = {process.pid for process in found} & without if mine else set()
    theirs = {process.pid for pid in others for process in _under(pid)}
    return [process for process in mine if process.pid not in theirs]


def _under(pid: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        found = psutil.Process(pid).children(recursive=True)
    return found


def _children(pid: int) -> list[int]:
    """Processes that a process has started, at a cost that does not grow with all those on the host."""
    found: list[int] = []
    for path in glob.iglob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError), open(path) as file:
            found += map(int, file.read().split())
    return found


def _started(process: psutil.Process) -> None:
    """The first call of `cpu_percent` has nothing to compare with."""
    try:
        process.cpu_percent()
    except psutil.Error:
        return
