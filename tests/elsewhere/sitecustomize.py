"""Takes from every Python that starts with this folder on its path what Linux alone has.

Files of /proc and /sys are hidden from dask_insight only: Dask and psutil need theirs, since this is Linux.
With ELSEWHERE_TICK, clocks go in steps of so many seconds.
"""

from __future__ import annotations

import asyncio  # noqa: F401  wants what is taken away
import builtins
import os
import signal
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import psutil

for module in (psutil, psutil._pslinux, psutil._psposix):
    vars(module)["os"] = SimpleNamespace(**vars(os))


def ours() -> bool:
    """Whether dask_insight calls, here or as it was sent to a cluster."""
    name = sys._getframe(2).f_code.co_filename
    return f"{os.sep}dask_insight{os.sep}" in name or name.startswith("<dask_insight_")


def hidden(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function that finds no file of Linux's."""

    def found(path: Any, *arguments: Any, **options: Any) -> Any:
        if not isinstance(path, str) or not path.startswith(("/proc", "/sys")) or not ours():
            return call(path, *arguments, **options)
        if call is exists:
            return False
        raise FileNotFoundError(2, "not on this system", path)

    return found


def refused(call: Callable[..., Any]) -> Callable[..., Any]:
    """A method of psutil's that is denied to us."""

    def denied(process: psutil.Process) -> Any:
        if ours():
            raise psutil.AccessDenied(process.pid)
        return call(process)

    return denied


def nowhere(*_: Any, **__: Any) -> Any:
    """A function of psutil's that this system does not have."""
    raise RuntimeError("not on this system")


def coarse(call: Callable[[], float], step: float) -> Callable[[], float]:
    """A clock that goes in steps."""
    return lambda: call() // step * step


exists = os.path.exists
for where, name in ((builtins, "open"), (os, "open"), (os, "listdir"), (os, "stat"), (os.path, "exists")):
    setattr(where, name, hidden(getattr(where, name)))
for name in ("fork", "forkpty", "pread", "preadv", "register_at_fork", "sysconf"):
    delattr(os, name)
del signal.SIGHUP
for name in ("num_fds", "memory_full_info"):
    setattr(psutil.Process, name, refused(getattr(psutil.Process, name)))
psutil.net_io_counters = nowhere
psutil.disk_io_counters = lambda *_, **__: None
del psutil.Process.io_counters
if step := float(os.environ.get("ELSEWHERE_TICK", "0")):
    for name in ("time", "monotonic", "thread_time", "process_time"):
        setattr(time, name, coarse(getattr(time, name), step))
