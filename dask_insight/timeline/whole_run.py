"""What bounds and simulations take for the run: from when to when it was, and which attempts it needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..lookup import Lookup, is_any, ratio, sums
from ..schema import SECEDED
from ..tables.facts import part_of_run
from ..tables.tasks import FIELDS
from .attempts import Read
from .moments import Moments
from .pauses import pauses
from .standstills import standstills

_MOMENTS = {field.name for field in FIELDS if field.unit == "time"}


class WholeRun(NamedTuple):
    """From the first submission to the last end of an attempt, seconds since the epoch."""

    begin: float
    end: float
    #: When a person thought in between, or everything stood still: that counts as no time.
    away: Moments
    #: Seconds of it in which everything stood still.
    still: float

    @classmethod
    def of(cls, read: Read, columns: Mapping[str, Any]) -> WholeRun:
        """That of a recording with an attempt that ended; `columns` are those of the table ``tasks``."""
        wanted = np.fmin(columns["submitted"], columns["start"])
        done = np.fmax(columns["done"], columns["stop"])
        begin, end = float(np.nanmin(wanted)), float(np.nanmax(done))
        whole = Moments(np.array([begin]), np.array([end]))
        still = standstills(read).both(whole)
        # What runs still is waited for.
        busy = wanted, np.where(np.isfinite(columns["start"]) & np.isnan(done), end, done)
        away = Moments.together([pauses(read, [busy], begin, end), still])
        return cls(begin, end, away, still.seconds)

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.begin - self.away.seconds

    def clock(self, moments: np.ndarray) -> np.ndarray:
        """Seconds from the beginning to each moment, without those that count as none."""
        seconds: np.ndarray = moments - self.begin - self.away.before(moments)
        return seconds


def attempts_in_part(read: Read, columns: dict[str, Any]) -> dict[str, Any]:
    """Columns of the table ``tasks``, with no more of each attempt than lies in what was cut out of a run.

    CPU time is taken to be spread evenly over the time of an attempt.

    Where everything stood still, it counts as having given its thread back.
    """
    part, still = part_of_run(read), standstills(read)
    is_cut = bool(np.isfinite(part).any())
    if is_cut:
        clipped = {name: np.clip(columns[name], *part) for name in _MOMENTS & columns.keys()}
        whole, here = (each["stop"] - each["start"] for each in (columns, clipped))
        columns = columns | clipped | {"cpu": columns["cpu"] * ratio(here, whole, 1.0)}
    if is_cut or len(still.start):
        columns = columns | {"seceded": _without_thread(read, columns, still)}
    return columns


def _without_thread(read: Read, columns: Mapping[str, Any], still: Moments) -> np.ndarray:
    """Seconds for which each attempt, while it ran, was without a thread or everything stood still."""
    start, stop = np.nan_to_num(columns["start"]), np.nan_to_num(np.fmax(columns["start"], columns["stop"]))
    phases = read("phases")
    mine = np.flatnonzero(is_any(phases["action"], (SECEDED,)))
    row = Lookup(columns["run"]).rows(phases["run"][mine])
    row, mine = row[row >= 0], mine[row >= 0]
    left, back = (np.clip(phases[name][mine], start[row], stop[row]) for name in ("start", "stop"))
    away = np.nan_to_num(np.maximum(back - left, 0.0) - still.within(left, back))
    # Parts of one time away may overlap.
    here = np.maximum(stop - start - still.within(start, stop), 0.0)
    return np.asarray(np.minimum(sums(row, away, len(start)), here) + still.within(start, stop))


def is_cancelled(columns: Mapping[str, Any]) -> np.ndarray:
    """Whether each attempt was cancelled."""
    return is_any(columns["status"], ("cancelled",))


def unended_attempts(columns: Mapping[str, Any]) -> np.ndarray:
    """Rows of the attempts that had begun and not ended when the recording did."""
    ended = np.isfinite(columns["stop"]) | np.isfinite(columns["done"])
    return np.flatnonzero(np.isfinite(columns["start"]) & ~ended)


def needed_attempts(columns: Mapping[str, Any]) -> np.ndarray:
    """Rows of the attempts whose functions ended, but for those that were cancelled: nobody needed these."""
    ended = np.isfinite(columns["start"]) & np.isfinite(columns["stop"])
    return np.flatnonzero(ended & ~is_cancelled(columns))
