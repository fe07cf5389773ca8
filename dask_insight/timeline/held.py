"""Until when results were held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..columns import forget
from ..lookup import Lookup
from ..schema import NOTHING
from ..tables.facts import facts
from .attempts import Attempts, Read


def held_until(read: Read, known: Attempts) -> np.ndarray:
    """When each attempt's result was let go of.

    Where nobody tells of any (other tools' files), a result is taken to be held until the last task that
    needs it has ended.

    Returns
    -------
    numpy.ndarray
        Seconds since the epoch, one an attempt; infinity where the result was held to the end, and for
        attempts without one.
    """
    return _told(read("releases"), known) if tells_releases(read) else _needed_until(read, known)


def tells_releases(read: Read) -> bool:
    """Whether a recording tells until when results were held; other tools' files do not."""
    return len(read("releases")["task"]) > 0 or "source" not in facts(read("about"))


def _told(releases: Mapping[str, Any], known: Attempts) -> np.ndarray:
    until = np.full(len(known.run), np.inf)
    made = np.flatnonzero(known.ok)
    made = made[np.lexsort((known.at("done", made), known.task[made]))]
    order = np.lexsort((releases["time"], releases["task"]))
    task, time = releases["task"][order], releases["time"][order]
    # Whose result that was: the last one of the task that was there.
    first, last = (np.searchsorted(known.task[made], task, side) for side in ("left", "right"))
    several = np.flatnonzero(last - first > 1)
    at = last - 1
    for row in several.tolist():
        there = np.searchsorted(known.at("done", made[first[row] : last[row]]), time[row], "right")
        at[row] = first[row] + there - 1
    known_here = (at >= first) & (last > first)
    np.minimum.at(until, made[at[known_here]], time[known_here])
    return np.asarray(np.maximum(until, known.done))


def _needed_until(read: Read, known: Attempts) -> np.ndarray:
    edges: Mapping[str, Any] = read("edges")
    makers = Lookup(np.where(known.ok, known.task, NOTHING).astype("u4")).rows(edges["dependency"])
    users = Lookup(known.task).rows(edges["task"])
    forget(edges)
    both = (makers >= 0) & (users >= 0)
    until = np.full(len(known.run), -np.inf)
    np.maximum.at(until, makers[both], known.at("done", users[both]))
    return np.asarray(np.where(np.isfinite(until), np.maximum(until, known.done), np.inf))
