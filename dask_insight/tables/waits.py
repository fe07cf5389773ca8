"""Call stacks in which tasks wait: for a lock, for other tasks, an actor, a queue or an event."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..lookup import by_name
from .stacks import below

_Read = Callable[[str], Mapping[str, Any]]

#: Files all of whose frames wait for a lock that all workers share, and those of which some functions wait
#: for one of their process.
_SHARED, _SOME = (
    ("distributed/lock.py", "distributed/semaphore.py", "distributed/multi_lock.py"),
    ("dask/utils.py", "/threading.py", "xarray/backends/locks.py"),
)
_FUNCTIONS = ("acquire", "__enter__")
#: A lock of the interpreter has no frame: the innermost line tells, by the lock's name or by having no call.
_NAMED = re.compile(
    r"\bwith\s+(?:[\w.]*[._])?locks?\b|(?:\b|_)locks?\.(?:acquire|__enter__)\(", re.IGNORECASE
)
#: What is left so may commit or flush, which takes time as well.
_OTHER = r"(?![\w.]*(?:conn?|connection|cursor|db|file|transaction)\s*[,:])"
_NAME = rf"{_OTHER}[\w.]+(?:\[[^]()]*\])?"
_BARE = re.compile(rf"^\s*with\s+{_NAME}(?:\s*,\s*{_NAME})*\s*:\s*$", re.IGNORECASE)


class Kind(NamedTuple):
    """What a task waits for that others do, and in which functions it does."""

    what: str
    file: re.Pattern[str]
    function: re.Pattern[str]


def _in(module: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\\/])distributed[\\/]{module}\.py$")


_ANY = re.compile("")
RESULTS = Kind(
    "results of other tasks",
    _in("client"),
    re.compile(
        r"(?:^|\.)(?:Future\.(?:result|exception|traceback)|Client\.gather|wait|as_completed\.__next__)$"
    ),
)
CALLS = Kind("calls of an actor", _in("actor"), _ANY)
KINDS = (
    RESULTS,
    CALLS,
    Kind("a `Queue`", _in("queues"), _ANY),
    Kind("an `Event`", _in("event"), _ANY),
    Kind("the value of a `Variable`", _in("variable"), _ANY),
    Kind("a message (`Pub`, `Sub`)", _in("pubsub"), _ANY),
)


def in_kind(read: _Read, kind: Kind) -> np.ndarray:
    """Which rows of ``stacks`` wait for such a thing."""
    stacks = read("stacks")
    file, function = stacks["file"], stacks["function"]
    there = by_name(file, lambda name: kind.file.search(name) is not None, False)
    if not there.any():
        return there
    called = by_name(function, lambda name: kind.function.search(name) is not None, False)
    return below(stacks, there & called)


def in_shared_locks(read: _Read) -> np.ndarray:
    """Which rows of ``stacks`` wait for a lock that all workers share: one of `distributed`."""
    stacks = read("stacks")
    return below(stacks, _in_files(stacks, _SHARED))


def in_locks(read: _Read) -> np.ndarray:
    """Which rows of ``stacks`` wait for a lock: of `distributed`, `dask`, `xarray`, or their own module."""
    stacks, lines = read("stacks"), read("lines")
    function = stacks["function"]
    gets = by_name(function, lambda name: name.rpartition(".")[2] in _FUNCTIONS, False)
    waits = _in_files(stacks, _SHARED) | (_in_files(stacks, _SOME) & gets)
    told = zip(lines["file"].tolist(), lines["line"].tolist(), lines["text"].tolist(), strict=True)
    places = {(file, line) for file, line, text in told if _takes_lock(text.partition("#")[0])}
    inside = below(stacks, waits)
    if not places:
        return inside
    here = zip(stacks["file"].tolist(), stacks["line"].tolist(), strict=True)
    # Whatever waits in `threading` waits for a lock there: for a thread to end, or a condition.
    return np.asarray(
        inside | (np.array([each in places for each in here]) & ~_in_files(stacks, ("/threading.py",)))
    )


def _takes_lock(line: str) -> bool:
    return _NAMED.search(line) is not None or _BARE.match(line) is not None


def _in_files(stacks: Mapping[str, Any], files: tuple[str, ...]) -> np.ndarray:
    """Which rows of ``stacks`` are in one of some files."""
    return by_name(stacks["file"], lambda name: name.replace("\\", "/").endswith(files), False)
