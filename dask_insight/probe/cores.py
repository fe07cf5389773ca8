"""Which CPU cores this process may use."""

from __future__ import annotations

import os
import zlib

from dask.system import CPU_COUNT

from .clock import process


def cores() -> tuple[int, int]:
    """How many CPU cores this thread may use, and a number that all of its host tell who share them.

    The number is 0 where nothing tells, as on macOS and Windows.
    """
    try:
        mine = sorted(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return CPU_COUNT, 0
    if len(mine) > CPU_COUNT:
        # A limit on CPU time, which the processes of a container or a control group share.
        return CPU_COUNT, zlib.crc32(f"{process() >> 32} {_group()}".encode())
    return len(mine), zlib.crc32(repr(mine).encode())


def _group() -> str:
    try:
        with open("/proc/self/cgroup") as file:
            return file.read()
    except OSError:
        return ""
