"""GPUs that several processes of a host see: each is told of by all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lookup import sorted_set
from .attempts import Read


class Gpus(NamedTuple):
    """The GPUs of a recording, by number."""

    #: Number of that which each row of ``gpus`` is about.
    of: np.ndarray
    #: Processes that see each.
    seen_by: list[list[str]]


def gpus(read: Read) -> Gpus:
    """Tell GPUs apart: by host, or process where that is not known, index and name, which holds its UUID."""
    table, workers = read("gpus"), read("workers")
    hosts = dict(zip(workers["worker"].tolist(), workers["host"].tolist(), strict=True))
    process, name = table["process"], table["name"]
    places: dict[str, int] = {}
    place = [places.setdefault(hosts.get(each) or each, len(places)) for each in process.names]
    here = np.array(place or [0], "i8")[process.codes]
    told = (here << 8 | table["index"].astype("i8")) * max(1, len(name.names)) + name.codes
    known, of = np.unique(told, return_inverse=True)
    of = of.reshape(-1)
    seen_by: list[list[str]] = [[] for _ in known]
    many = max(1, len(process.names))
    for pair in sorted_set(of * many + process.codes).tolist():
        seen_by[pair // many].append(process.names[pair % many])
    return Gpus(of, seen_by)
