"""Frames of call stacks: how they stand on one another, and which are a person's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..lookup import Lookup, by_name, is_any

#: Folders of the standard library, those of Fedora and RHEL too.
STANDARD = r"lib(?:64)?[\\/]python\d\.\d+t?[\\/]"
#: Frames of a stack that are kept, from its bottom: its readers take time and memory with the square of them.
DEEPEST = 2_000
#: Files of what calls a person's functions: Dask, what it is made of, the standard library; and our own.
_PLUMBING = re.compile(
    r"[\\/](?:site|dist)-packages[\\/](?:dask|distributed|toolz|tlz|cytoolz|cloudpickle|msgpack|tornado|zict|partd|locket)[\\/]"
    r"|[\\/]dask_insight[\\/](?!hosts[\\/]demo)(?:hosts|probe|session|sources)[\\/]"
    r"|[\\/](?:dask|distributed)[\w.-]*[\\/](?:dask|distributed)[\\/]"
    rf"|[\\/]{STANDARD}(?!(?:site|dist)-packages)"
    r"|[\\/]Lib[\\/](?!site-packages)"
    r"|^<(?:frozen|dask_insight)|^$"
)
#: Files of what others wrote, or no one, as what decorators make up.
_NOT_OWN = re.compile(r"[\\/](?:site|dist)-packages[\\/]|^<(?!stdin>|ipython-input|python-input)")
#: Files below which an event loop's callbacks stand.
_LOOP = re.compile(r"[\\/]asyncio[\\/]\w+\.py$|[\\/]tornado[\\/]platform[\\/]asyncio\.py$")

_IMPORT = re.compile(r"^<frozen importlib")


def parents(stacks: Mapping[str, Any]) -> list[int]:
    """Row of the caller of each row of ``stacks``; -1 at the bottom."""
    rows: list[int] = Lookup(stacks["stack"]).rows(stacks["parent"]).tolist()
    return rows


def below(stacks: Mapping[str, Any], mine: np.ndarray) -> np.ndarray:
    """Which rows of ``stacks`` are these, or stand on them."""
    # The row of no parent is never marked. Each round looks twice as far down as the one before.
    callers = np.append(Lookup(stacks["stack"]).rows(stacks["parent"]), -1)
    found = np.append(mine, False)
    while True:
        more = found | found[callers]
        if (more == found).all():
            return np.asarray(more[:-1])
        found, callers = more, callers[callers]


def outermost(stacks: Mapping[str, Any], *, on_loop: bool = False) -> np.ndarray:
    """For each row of ``stacks`` the row of the outermost frame that is no plumbing; -1 if there is none.

    `on_loop` passes over what started an event loop, too: a program, or Dask's commands.
    """
    plumbing, loop = (_of_file(stacks, pattern) for pattern in (_PLUMBING, _LOOP))
    found: list[int] = []
    begun: list[bool] = []
    for row, parent in enumerate(parents(stacks)):
        known = 0 <= parent < row
        above, running = (found[parent], begun[parent]) if known else (-1, False)
        begins = on_loop and loop[row] and not running
        found.append(-1 if begins else above if above >= 0 else -1 if plumbing[row] else row)
        begun.append(running or begins)
    return np.array(found, "i8")


def innermost_own(stacks: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """For each row of ``stacks`` the row of the innermost frame of a person's own, and of what that called.

    Own code is neither plumbing, nor of an installed package, nor made up; -1 if there is none, or it called
    nothing. Of what is called the first counts that wraps nothing, if there is one.
    """
    others = zip(_of_file(stacks, _PLUMBING), _of_file(stacks, _NOT_OWN), strict=True)
    wraps = wrappers(stacks).tolist()
    own: list[int] = []
    called: list[int] = []
    for row, (parent, other) in enumerate(zip(parents(stacks), map(any, others), strict=True)):
        below = own[parent] if 0 <= parent < row else -1
        own.append(below if other else row)
        called.append(-1 if not other or below < 0 else _called(row, parent, below, called[parent], wraps))
    return np.array(own, "i8"), np.array(called, "i8")


def _called(row: int, parent: int, own: int, before: int, wraps: list[bool]) -> int:
    """What own code called: this frame, or one before it; what a wrapper calls takes its place."""
    return row if own == parent or (before >= 0 and wraps[before] and not wraps[row]) else before


def wrappers(stacks: Mapping[str, Any]) -> np.ndarray:
    """Which rows of ``stacks`` are functions made within others, as what decorators put around a function."""
    return np.asarray(by_name(stacks["function"], lambda name: "<locals>" in name, False))


def plumbing(stacks: Mapping[str, Any]) -> np.ndarray:
    """Which rows of ``stacks`` are frames of Dask, of what it is made of, or of the standard library."""
    return np.array(_of_file(stacks, _PLUMBING), bool)


def imported(stacks: Mapping[str, Any]) -> np.ndarray:
    """For each row of ``stacks`` the row of the outermost module that an event loop imports; -1 if none."""
    imports, loop = (_of_file(stacks, pattern) for pattern in (_IMPORT, _LOOP))
    modules: list[bool] = is_any(stacks["function"], ("<module>",)).tolist()
    found: list[int] = []
    inside: list[bool] = []
    for row, parent in enumerate(parents(stacks)):
        known = 0 <= parent < row
        above, importing = (found[parent], inside[parent]) if known else (-1, False)
        # A program may be imported, and start an event loop.
        begins = loop[row] and not modules[row]
        inside.append(not begins and (importing or imports[row]))
        found.append(-1 if begins else above if above >= 0 else row if importing and modules[row] else -1)
    return np.array(found, "i8")


def _of_file(stacks: Mapping[str, Any], pattern: re.Pattern[str]) -> list[bool]:
    """Whether the file of each row is such a one."""
    mask: list[bool] = by_name(stacks["file"], lambda file: pattern.search(file) is not None, False).tolist()
    return mask
