"""How often a limit on CPU time, as containers and batch jobs have, kept this process from running."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from typing import NamedTuple

from .control_groups import Group, groups
from .opened import Opened

_NAN = float("nan")


class _Periods(NamedTuple):
    """Of the periods for which Linux enforces a limit, 0.1 s each by default, since the group began."""

    ran: int
    #: Those in which the CPU time was used up before their end.
    used_up: int


class CpuLimit:
    """Follows the tightest limit of all control groups that this process is in.

    Parameters
    ----------
    among
        The groups.

    Attributes
    ----------
    cores
        Cores that the limit allows; NaN where there is none, or nothing tells of it.
    """

    def __init__(self, among: Iterable[Group] | None = None) -> None:
        self.cores = _NAN
        self._file: Opened | None = None
        self._before = _Periods(0, 0)
        with contextlib.suppress(OSError, ValueError, LookupError):
            mine = groups("cpu") if among is None else among
            cores, group = min((cores, at) for at in mine if (cores := _cores(at)) > 0)
            self._file = Opened(os.path.join(group.folder, "cpu.stat"))
            self._before = _told(self._file)
            self.cores = cores

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
            self._file.close()
            self._file = None

    def _share(self) -> float:
        if self._file is None or not self._file.is_ours:
            return _NAN
        before, self._before = self._before, _told(self._file)
        ran = self._before.ran - before.ran
        return min(1.0, (self._before.used_up - before.used_up) / ran) if ran > 0 else 0.0


def _cores(group: Group) -> float:
    """What a group allows; NaN or less than 0 where it has no limit."""
    try:
        if group.unified:
            quota, period = group.read("cpu.max").split()
            return _NAN if quota == "max" else int(quota) / int(period)
        return int(group.read("cpu.cfs_quota_us")) / int(group.read("cpu.cfs_period_us"))
    except (OSError, ValueError):
        return _NAN


def _told(file: Opened) -> _Periods:
    told = dict(line.split()[:2] for line in os.pread(file.number, 4096, 0).decode().splitlines())
    return _Periods(int(told["nr_periods"]), int(told["nr_throttled"]))
