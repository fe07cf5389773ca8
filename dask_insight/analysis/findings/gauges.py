"""Numbers that workers tell of themselves; each stands until there is another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...lookup import is_any
from ...timeline import Moments
from .names import split

if TYPE_CHECKING:
    from .facts import Facts


class Gauge(NamedTuple):
    """One number of a worker while tasks ran: from when to when it was what."""

    start: np.ndarray
    stop: np.ndarray
    value: np.ndarray

    @property
    def most(self) -> float:
        """The most that it was."""
        return float(self.value.max())

    def moments(self, high: np.ndarray) -> Moments:
        """When those of its values were that are chosen."""
        return Moments.of(self.start[high], self.stop[high])


def gauges(facts: Facts, name: str) -> dict[str, Gauge]:
    """A number by the workers that told it."""
    table = facts.read("gauges")
    told = is_any(table["name"], (name,)) & is_any(table["worker"], facts.workers)
    rows = np.flatnonzero(told & np.isfinite(table["time"]) & np.isfinite(table["value"]))
    found = {}
    for worker, some in split(table["worker"], rows).items():
        mine = some[np.argsort(table["time"][some], kind="stable")]
        start = table["time"][mine]
        stop = np.append(start[1:], np.inf)
        here = (start < facts.stop) & (stop > facts.start)
        if here.any():
            start, stop = (np.clip(each[here], facts.start, facts.stop) for each in (start, stop))
            found[worker] = Gauge(start, stop, table["value"][mine[here]])
    return found
