"""How often a limit on CPU time, as containers and batch jobs have, kept this process from running."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

_NAN = float("nan")
#: What Linux tells of this process: where control groups are mounted, and in which ones it is.
_MOUNTS, _GROUPS = "/proc/self/mountinfo", "/proc/self/cgroup"


class _Group(NamedTuple):
    """A control group with a limit."""

    #: Where its ``cpu.stat`` is.
    folder: str
    #: Cores that its processes may use together.
    cores: float


class _Periods(NamedTuple):
    """Of the periods for which Linux enforces a limit, 0.1 s each by default, since the group began."""

    ran: int
    #: Those in which the CPU time was used up before their end.
    used_up: int


class CpuLimit:
    """Follows the tightest limit of all control groups that this process is in.

    Attributes
    ----------
    cores
        Cores that the limit allows; NaN where there is none, or nothing tells of it.
    """

    def __init__(self, mounts: str = _MOUNTS, groups: str = _GROUPS) -> None:
        self.cores = _NAN
        self._file: int | None = None
        self._before = _Periods(0, 0)
        with contextlib.suppress(OSError, ValueError, LookupError):
            found = min(_limits(mounts, groups), key=lambda group: group.cores)
            # To open a file takes longer than to read it.
            self._file = os.open(os.path.join(found.folder, "cpu.stat"), os.O_RDONLY)
            self._before = _told(self._file)
            self.cores = found.cores

    def sample(self) -> dict[str, float]:
        """Columns of `resources`; none where there is no limit."""
        if not self.cores > 0:
            return {}
        share = _NAN
        with contextlib.suppress(OSError, ValueError, LookupError):
            share = self._share()
        return {"cpu_limit": self.cores, "throttled": share}

    def close(self) -> None:
        """Let go of what was opened."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _share(self) -> float:
        if self._file is None:
            return _NAN
        before, self._before = self._before, _told(self._file)
        ran = self._before.ran - before.ran
        return min(1.0, (self._before.used_up - before.used_up) / ran) if ran > 0 else 0.0


def _told(file: int) -> _Periods:
    told = dict(line.split()[:2] for line in os.pread(file, 4096, 0).decode().splitlines())
    return _Periods(int(told["nr_periods"]), int(told["nr_throttled"]))


def _limits(mounts: str, groups: str) -> Iterator[_Group]:
    """The limits that hold for this process: its group's, and those of all groups around that."""
    paths = _paths(groups)
    with open(mounts) as file:
        for line in file:
            before, after = (part.split() for part in line.split(" - ", 1))
            root, mounted, kind = before[3], before[4], after[0]
            path = paths.get("" if kind == "cgroup2" else "cpu")
            limits = kind == "cgroup2" or (kind == "cgroup" and "cpu" in after[-1].split(","))
            if path is None or not limits:
                continue
            # A container may see of the tree of groups no more than its own.
            inside = root != "/" and (path == root or path.startswith(f"{root}/"))
            rest = path[len(root) :] if inside else path
            yield from _upwards(mounted, rest.strip("/"), kind == "cgroup2")


def _paths(groups: str) -> dict[str, str]:
    """This process's group by controller; that of the unified tree as ''."""
    paths: dict[str, str] = {}
    with open(groups) as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            paths |= dict.fromkeys(controllers.split(","), path)
    return paths


def _upwards(mounted: str, path: str, unified: bool) -> Iterator[_Group]:
    parts = path.split("/") if path and ".." not in path else []
    for depth in range(len(parts), -1, -1):
        folder = os.path.join(mounted, *parts[:depth])
        with contextlib.suppress(OSError, ValueError):
            cores = _unified(folder) if unified else _legacy(folder)
            if cores > 0:
                yield _Group(folder, cores)


def _unified(folder: str) -> float:
    quota, period = _read(folder, "cpu.max").split()
    return _NAN if quota == "max" else int(quota) / int(period)


def _legacy(folder: str) -> float:
    # A quota of -1 is none.
    return int(_read(folder, "cpu.cfs_quota_us")) / int(_read(folder, "cpu.cfs_period_us"))


def _read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name)) as file:
        return file.read()
