"""GPUs that several processes of a host see: each is told of by all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from ..batch import Symbols
from ..lookup import is_any, sorted_set
from .attempts import Read, is_local
from .clusters import LOCAL


class Gpus(NamedTuple):
    """The GPUs of a recording, by number."""

    #: Number of that which each row of ``gpus`` is about.
    of: np.ndarray
    #: Workers, or other processes, that see each.
    seen_by: list[list[str]]
    #: Process that each row is from, and by its code the workers for which it speaks.
    process: Symbols
    speaks_for: list[list[str]]

    def seen(self, workers: Collection[str]) -> np.ndarray:
        """Which rows of ``gpus`` speak for some of these workers."""
        wanted, pairs = set(workers), zip(self.process.names, self.speaks_for, strict=True)
        return is_any(self.process, {name for name, those in pairs if not wanted.isdisjoint(those)})


def gpus(read: Read) -> Gpus:
    """Tell GPUs apart: by host, or process where that is not known, index and name, which holds its UUID.

    A process that is no worker speaks for those of its host that do not speak for themselves: DASF's monitor
    has the host's name, and what asked local schedulers is called so.
    """
    table, workers = read("gpus"), read("workers")
    hosts = dict(zip(workers["worker"].tolist(), workers["host"].tolist(), strict=True))
    process, name = table["process"], table["name"]
    speaks_for = [_speaks_for(each, hosts, process.names) for each in process.names]
    host = [hosts.get(those[0]) or those[0] for those in speaks_for]
    places: dict[str, int] = {}
    place = [places.setdefault(each, len(places)) for each in host]
    here = np.array(place or [0], "i8")[process.codes]
    told = (here << 8 | table["index"].astype("i8")) * max(1, len(name.names)) + name.codes
    known, of = np.unique(told, return_inverse=True)
    of = of.reshape(-1)
    seen_by: list[dict[str, None]] = [{} for _ in known]
    many = max(1, len(process.names))
    for pair in sorted_set(of * many + process.codes).tolist():
        seen_by[pair // many].update(dict.fromkeys(speaks_for[pair % many]))
    return Gpus(of, [list(each) for each in seen_by], process, speaks_for)


def _speaks_for(process: str, hosts: Mapping[str, str], others: Collection[str]) -> list[str]:
    """Workers whose GPUs a process tells of; itself where it is one, or where there are none."""
    if process in hosts:
        return [process]
    there = [
        name for name, host in hosts.items() if (is_local(name) if process == LOCAL else host == process)
    ]
    return [name for name in there if name not in others] or [process]
