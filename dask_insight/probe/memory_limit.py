"""How much memory the system lets this process's container or batch job have, and whom it killed for more."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

import psutil

from .control_groups import Group, groups

_NAN = float("nan")


class MemoryLimit:
    """The tightest limit of all control groups that this process is in.

    Parameters
    ----------
    among
        The groups, this process's own first.

    Attributes
    ----------
    allowed
        Bytes that the processes of the group may have together; NaN where there is no limit below what the
        machine has, or nothing tells of it.
    """

    def __init__(self, among: Iterable[Group] | None = None) -> None:
        self.allowed = self._number = _NAN
        self._counts: Group | None = None
        with contextlib.suppress(OSError, ValueError, LookupError):
            mine = list(groups("memory") if among is None else among)
            most = psutil.virtual_memory().total
            self.allowed, group = min((allowed, at) for at in mine if (allowed := _allowed(at)) < most)
            self._number = float(os.stat(group.folder).st_ino)
            # The older trees count where the process was, the unified one also in all groups around.
            self._counts = group if group.unified else next(each for each in mine if not each.unified)

    def sample(self) -> dict[str, float]:
        """Columns of `resources`; none where there is no limit."""
        if not self.allowed > 0:
            return {}
        return {"memory_allowed": self.allowed, "memory_group": self._number, "oom_kills": self._kills()}

    def _kills(self) -> float:
        if self._counts is not None:
            with contextlib.suppress(OSError, ValueError, LookupError):
                told = self._counts.read("memory.events" if self._counts.unified else "memory.oom_control")
                return float(dict(line.split()[:2] for line in told.splitlines())["oom_kill"])
        return _NAN


def _allowed(group: Group) -> float:
    """Bytes; NaN where a group has no limit."""
    try:
        told = group.read("memory.max" if group.unified else "memory.limit_in_bytes").strip()
        return _NAN if told == "max" else float(told)
    except (OSError, ValueError):
        return _NAN
