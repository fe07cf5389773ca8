"""Attempts that follow each other closely, drawn as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...columns import Columns, take
from ...lookup import is_any
from ...tables.named import names_of

#: What merged attempts do not have as one.
_NOT_MERGED = ("done", "assigned", "ready", "submitted", "queued", "nbytes", "typename")


class Lanes:
    """Attempts in the order of their threads and times, to be merged more or less."""

    def __init__(self, attempts: Any, graph: Any) -> None:
        self._attempts = attempts
        start, stop = self._attempts["start"], self._attempts["stop"]
        self._span = float(np.nanmax(stop, initial=0.0) - np.nanmin(start, initial=np.inf))
        worker, thread = self._attempts["worker"].codes, self._attempts["thread"].codes
        lane = worker.astype("i8") << 24 | thread.astype("i8")
        order = self._order = np.lexsort((start, lane))
        self._begin, self._end = start[order], stop[order]
        name, lane = names_of(graph, self._attempts["task"]).codes[order], lane[order]
        self._good = is_any(self._attempts["status"], ("ok",))[order]
        self._good &= np.isfinite(self._begin) & np.isfinite(self._end)
        self._alike = (lane[1:] == lane[:-1]) & (name[1:] == name[:-1]) & self._good[1:] & self._good[:-1]

    def count(self, share: float) -> int:
        """How many would be left; see `merged`."""
        return len(self._order) - int(self._joins(share).sum())

    def merged(self, share: float) -> Columns:
        """With one attempt for several that ended well and have one name.

        Each is at most this share of the whole time long and away from the
        one before. The one lasts as long as they together computed.
        """
        first = np.flatnonzero(np.concatenate(([True], ~self._joins(share))))
        computed = np.add.reduceat(np.where(self._good, self._end - self._begin, 0.0), first)
        columns = {name: values for name, values in self._attempts.items() if name not in _NOT_MERGED}
        kept: dict[str, Any] = {name: take(values, self._order[first]) for name, values in columns.items()}
        several = np.diff(first, append=len(self._order)) > 1
        kept["stop"] = np.where(several, kept["start"] + computed, kept["stop"])
        return kept

    def _joins(self, share: float) -> np.ndarray:
        gap = share * self._span
        near = self._begin[1:] - self._end[:-1] <= gap
        return np.asarray(self._alike & near & (self._end[1:] - self._begin[1:] <= gap))
