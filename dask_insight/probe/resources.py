"""What a process and its host use."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import psutil

from .clock import time
from .cpu_limit import CpuLimit
from .gpu import Gpus
from .memory_limit import MemoryLimit
from .opened import Opened

_NAN = float("nan")
#: Seconds until the first look at what costs most or seldom changes, and at most between two, twice as long
#: each: the host's network and disks, the list of open files, whom the system killed for memory; what was
#: seen stands until the next.
_FIRST, _SELDOM = 0.25, 2.0
#: In what a host's CPUs spend their time, besides idling, waiting for disks, and letting other hosts run.
_BUSY = ("user", "nice", "system", "irq", "softirq")
#: What counters of the host's tell of.
_COUNTED = {"net_read": "network", "disk_read": "disks", "host_cpu": "CPUs"}


class ResourceSampler:
    """Samples this process, its host, and its GPUs.

    Parameters
    ----------
    gil
        Gives the share of time in which a thread waited for the GIL, where
        something measures it already; otherwise gilknocker is used if it is there.
    one_gpu
        See `Gpus`.
    clock
        Gives the times of rows, by default of the day. Rates are by another, which nobody sets.
    """

    def __init__(
        self,
        gil: Callable[[], float] | None = None,
        one_gpu: bool = False,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._clock = clock or time
        self._process = psutil.Process()
        self._gpus = Gpus(one_gpu)
        self._knocker: Any = None
        self._no_gil = ""
        self._gil = gil or self._knock()
        self._resident = Resident()
        self._cpu_limit, self._memory_limit = CpuLimit(), MemoryLimit()
        self._sampled, self._cpu, self._children = perf_counter(), process_time(), _children()
        self._looked, self._rest = self._sampled, _FIRST
        self._host = _host_counters()
        self._unread = [what for name, what in _COUNTED.items() if name not in self._host]
        self._of_host = dict.fromkeys(self._host, _NAN) | _host_memory()
        self._files = self._descriptors()
        self._allowed = self._memory_limit.sample()

    @property
    def gaps(self) -> list[str]:
        """In words, what cannot be sampled here."""
        unread = [f"the host's {what}: the system gives no counters of them" for what in self._unread]
        return [reason for reason in (self._gpus.reason, self._no_gil, *unread) if reason]

    def sample(self) -> tuple[dict[str, float], list[dict[str, Any]]]:
        """A row of `resources` without its process, and rows of `gpus`; rates are since the last call."""
        now, moment, cpu, children = self._clock(), perf_counter(), process_time(), _children()
        passed = moment - self._sampled
        row = {
            "time": now,
            "cpu": 100 * (cpu - self._cpu) / passed if passed > 0 else _NAN,
            "memory": self._memory(now),
            "fds": self._files,
            "gil": self._gil(),
            "children": children - self._children,
        }
        self._sampled, self._cpu, self._children = moment, cpu, children
        if moment - self._looked >= self._rest:
            self._rest = min(2 * self._rest, _SELDOM)
            self._look_at_host(moment)
            self._files = self._descriptors()
            self._allowed = self._memory_limit.sample()
        return row | self._of_host | self._cpu_limit.sample() | self._allowed, self._gpus.sample(now)

    def close(self) -> None:
        """Let go of what was opened."""
        self._gpus.close()
        self._resident.close()
        self._cpu_limit.close()
        if self._knocker is not None:
            self._knocker.stop()
            self._knocker = None

    def _look_at_host(self, moment: float) -> None:
        counters, passed = _host_counters(), moment - self._looked
        self._of_host = {
            # A counter that fell has wrapped or begun anew: nobody knows by how much it grew.
            name: (counters[name] - before) / passed if counters[name] >= before else _NAN
            for name, before in self._host.items()
            if name in counters
        } | _host_memory()
        self._host, self._looked = counters, moment

    def _memory(self, now: float) -> float:
        resident = self._resident.read(now)
        return _told(lambda: self._process.memory_info().rss) if math.isnan(resident) else resident

    def _descriptors(self) -> float:
        try:
            return float(len(os.listdir("/proc/self/fd")))
        except OSError:
            return _told(
                getattr(self._process, "num_fds", None) or getattr(self._process, "num_handles", None)
            )

    def _knock(self) -> Callable[[], float]:
        try:
            from gilknocker import KnockKnock

            self._knocker = KnockKnock(polling_interval_micros=1000)
            self._knocker.start()
        except ImportError:
            # It is optional: nobody need be told.
            return lambda: _NAN
        except Exception as error:
            self._knocker = None
            self._no_gil = f"contention for the GIL: gilknocker does not start: {error}"
            return lambda: _NAN

        def contention() -> float:
            if self._knocker is None:
                return _NAN
            share = float(self._knocker.contention_metric)
            self._knocker.reset_contention_metric()
            return share

        return contention


class Resident:
    """This process's resident memory, read cheaply enough for every task.

    Attributes
    ----------
    last, when
        What was read last, bytes, and when; NaN where it cannot be had so.
    """

    def __init__(self) -> None:
        self._file: Opened | None = None
        if sys.platform.startswith("linux"):
            with contextlib.suppress(OSError):
                self._file = Opened("/proc/self/statm")
                self._page = os.sysconf("SC_PAGE_SIZE")
        self.when = 0.0
        self.last = _NAN

    def read(self, now: float) -> float:
        """Bytes, now."""
        if self._file is not None:
            self.when = now
            try:
                told = os.pread(self._file.number, 64, 0)
                self.last = float(int(told.split(None, 2)[1]) * self._page)
            except (OSError, LookupError, ValueError):
                # The program has closed it; to ask before each task would take as long as to read it.
                self.close()
                self.last = _NAN
        return self.last

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _children() -> float:
    """CPU seconds of processes that were started here and have ended; NaN on Windows, which does not tell."""
    if sys.platform == "win32":
        return _NAN
    told = os.times()
    return told.children_user + told.children_system


def _told(figure: Any) -> float:
    """What psutil gives; NaN where the system has no such figure, or keeps it to itself."""
    try:
        return float(figure())
    except Exception:
        return _NAN


def _host_counters() -> dict[str, float]:
    """The host's counters as they are.

    psutil's correction of wrapped counters keeps one memory for the process: with Dask's monitor reading on
    another thread, a reading that comes late looks like a wrap there and adds the whole counter, for both.
    """
    found: dict[str, float] = {}
    try:
        net = psutil.net_io_counters(nowrap=False)
        if net is not None:
            found |= {"net_read": float(net.bytes_recv), "net_write": float(net.bytes_sent)}
    except Exception:
        pass
    try:
        disk = psutil.disk_io_counters(nowrap=False)
        if disk is not None:
            found |= {"disk_read": float(disk.read_bytes), "disk_write": float(disk.write_bytes)}
    except Exception:
        pass
    try:
        times, cores = psutil.cpu_times(), psutil.cpu_count()
        if cores:
            found["host_cpu"] = 100 * sum(getattr(times, name, 0.0) for name in _BUSY) / cores
    except Exception:
        pass
    return found


def _host_memory() -> dict[str, float]:
    """What could be had of the host's memory, and how much it has."""
    try:
        memory = psutil.virtual_memory()
        return {"host_free": float(memory.available), "host_memory": float(memory.total)}
    except Exception:
        return {}
