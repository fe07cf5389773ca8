"""From when until when each worker was there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..lookup import is_any
from .attempts import Read, is_local

#: Share of the computing from which a local scheduler counts beside a cluster.
_LEAST = 0.02


class Lives(NamedTuple):
    """The workers of a recording, one each; moments in seconds since the epoch, NaN if unknown."""

    #: Row of each in the table ``workers``: the newest.
    row: np.ndarray
    joined: np.ndarray
    left: np.ndarray


def lives(read: Read) -> Lives:
    """When workers were there. Beside a cluster local schedulers were while they were used.

    And not at all if they had next to nothing to do, as where a library asks one in passing.
    """
    table = read("workers")
    newest = {name: row for row, name in enumerate(table["worker"].tolist())}
    rows = np.array([*newest.values()], "i8")
    joined, left = table["joined"][rows], table["left"][rows]
    for place, life in _used_beside(read, newest).items():
        joined[place], left[place] = life
    return Lives(rows, joined, left)


def _used_beside(read: Read, workers: Iterable[str]) -> Mapping[int, tuple[float, float]]:
    """By its place among the workers, from when until when each local scheduler beside a cluster was used."""
    local = {name: place for place, name in enumerate(workers) if is_local(name)}
    if not local or all(map(is_local, workers)):
        return {}
    columns: Mapping[str, Any] = read("attempts")
    start, stop = columns["start"], columns["stop"]
    seconds = np.nan_to_num(np.maximum(stop - start, 0.0))
    found = dict.fromkeys(local.values(), (np.inf, -np.inf))
    for name, place in local.items():
        mine = is_any(columns["worker"], (name,))
        if mine.any() and seconds[mine].sum() >= _LEAST * seconds.sum():
            found[place] = float(np.fmin.reduce(start[mine])), float(np.fmax.reduce(stop[mine]))
    return found
