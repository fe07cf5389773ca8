"""What hosts read over their network, or from their disks, while tasks ran; whether that was all they can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...lookup import is_any
from ...timeline import Moments
from .facts import Facts
from .finding import Fact
from .names import split
from .samples import Samples
from .thresholds import Limits

#: Columns of `resources`, and what they tell of.
_LINES = (("net_read", "network"), ("disk_read", "disks"))
#: Samples below which nothing is said of a host.
_SAMPLES = 5
#: Share of the hosts from which it is told for all.
_MOST = 0.5


class Line(NamedTuple):
    """What hosts read over one of their lines while some tasks ran."""

    #: `'network'` or `'disks'`.
    of: str
    #: Median of what a host read, bytes a second.
    rate: float
    #: Whether that was all the time as much as at most, and less while no task ran.
    full: bool

    @property
    def said(self) -> str:
        """What it is, in words."""
        return f"the {self.of}"

    def fact(self, limits: Limits) -> Fact:
        """What came over it."""
        return Fact(
            f"median of what a host read from {self.said}", self.rate, "bytes/s", limits["io-wait.line"]
        )


def busiest(facts: Facts, limits: Limits, names: Iterable[str]) -> Line | None:
    """The line that was full while tasks of some names ran, or else the one over which most came.

    None if no host tells.
    """
    lines = [line for column, of in _LINES if (line := _line(facts, limits, tuple(names), column, of))]
    return max(lines, key=lambda line: (line.full, line.rate), default=None)


def _line(facts: Facts, limits: Limits, names: tuple[str, ...], column: str, of: str) -> Line | None:
    hosts = list(_by_host(facts, names, column))
    if not hosts:
        return None
    full = [_is_full(limits, reading, idle) for reading, idle in hosts]
    return Line(of, float(np.median([np.median(each) for each, _ in hosts])), float(np.mean(full)) >= _MOST)


def _is_full(limits: Limits, reading: np.ndarray, idle: np.ndarray) -> bool:
    rate, top = np.percentile(reading, (50, 95))
    flat = limits["io-wait.flat"] * top
    there = len(idle) < _SAMPLES or np.median(idle) < flat
    return bool(rate >= max(flat, limits["io-wait.line"]) and there)


def _by_host(facts: Facts, names: tuple[str, ...], column: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What each host read, bytes a second: samples while such tasks ran there, and while none ran at all."""
    known, table = facts.attempts, facts.read("resources")
    samples = Samples({name: table[name] for name in ("process", "time", column)})
    ran = split(known.worker, np.flatnonzero(known.ran))
    wanted = is_any(facts.prefix, names)
    hosts: dict[str, list[str]] = {}
    for worker in ran:
        hosts.setdefault(str(facts.workers.get(worker, {}).get("host") or worker), []).append(worker)
    for workers in hosts.values():
        # Each worker of a host tells of all of it.
        told = max(map(samples.of, workers), key=lambda each: len(each["time"]))
        rate = told[column].astype("f8")
        time, rate = told["time"][np.isfinite(rate)], rate[np.isfinite(rate)]
        every = np.concatenate([ran[worker] for worker in workers])
        busy, some = (_while(facts, rows) for rows in (every, every[wanted[every]]))
        during = some.has(time)
        if during.sum() >= _SAMPLES:
            yield rate[during], rate[~busy.has(time)]


def _while(facts: Facts, rows: np.ndarray) -> Moments:
    return Moments.of(facts.attempts.at("start", rows), facts.attempts.at("stop", rows))
