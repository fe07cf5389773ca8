"""Time for which tasks waited for a lock of their own: of `distributed`, of `dask`, or of their module."""

from __future__ import annotations

import re

import numpy as np

from .facts import Facts
from .seen_in import below, share_in

#: Modules all of whose frames wait for a lock, and those of which some functions do.
_FILES, _SOME = (
    ("distributed/lock.py", "distributed/semaphore.py", "distributed/multi_lock.py"),
    ("dask/utils.py",),
)
_FUNCTIONS = ("acquire", "__enter__")
#: A lock of the standard library has no frame: the innermost line tells.
_LINE = re.compile(r"\bwith\s+(?:[\w.]*[._])?locks?\b|(?:\b|_)locks?\.acquire\(", re.IGNORECASE)


def locked(facts: Facts) -> np.ndarray:
    """Share of the samples' time of each task name, by code, in which it waited for a lock; 0 to 1."""
    return share_in(facts, _waits(facts))


def locked_by_cluster(facts: Facts) -> np.ndarray:
    """The same of locks that all workers share: `Lock`, `MultiLock` and `Semaphore` of `distributed`."""
    stacks = facts.read("stacks")
    names = [name.replace("\\", "/") for name in stacks["file"].names] or [""]
    mine = np.array([name.endswith(_FILES) for name in names])[stacks["file"].codes]
    return share_in(facts, below(stacks, mine))


def _waits(facts: Facts) -> np.ndarray:
    """Which stacks wait for a lock."""
    stacks, lines = facts.read("stacks"), facts.read("lines")
    file, function = stacks["file"], stacks["function"]
    names = [name.replace("\\", "/") for name in file.names] or [""]
    of_lock, some = (np.array([name.endswith(ends) for name in names]) for ends in (_FILES, _SOME))
    gets = np.array([name.rpartition(".")[2] in _FUNCTIONS for name in function.names] or [False])
    inside = below(stacks, of_lock[file.codes] | (some[file.codes] & gets[function.codes]))
    told = zip(lines["file"].tolist(), lines["line"].tolist(), lines["text"].tolist(), strict=True)
    places = {(file, line) for file, line, text in told if _LINE.search(text.partition("#")[0])}
    if not places:
        return inside
    here = zip(stacks["file"].tolist(), stacks["line"].tolist(), strict=True)
    return np.asarray(inside | np.array([each in places for each in here]))
