"""Keys of tasks as text, and the names that Dask makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask.utils import key_split

from ...batch import Symbols, Texts, intern
from ..task_names import task_name
from .layouts import LONGEST_TEXT, Records, Slices

#: Keys within keys that are told apart.
_DEPTH = 8


def text_of(key: Any) -> str:
    """A task's key as text, whatever kind Dask had: lists stand for tuples, as files have none."""
    if isinstance(key, bytes):
        return key.decode("utf-8", "replace")
    return key if isinstance(key, str) else str(_tuples(key, _DEPTH))


def group_of(key: str) -> str:
    """A key without its numbers: of ``('sum-1a2b', 0, 1)``, ``sum-1a2b``."""
    end = key.find("'", 2) if key.startswith("('") else -1
    return key if end < 0 else key[2:end]


def groups_of(keys: Texts) -> Symbols:
    """`group_of` of each key, without making a `str` of any."""
    start, end = keys.offsets[:-1], keys.offsets[1:]
    raw = np.frombuffer(bytes(keys.data) + bytes(2), "u1")
    quotes = np.append(np.flatnonzero(raw == ord("'")), len(raw))
    closed = quotes[np.searchsorted(quotes, start + 2)]
    inside = (raw[start] == ord("(")) & (raw[start + 1] == ord("'")) & (closed < end)
    group = Slices(np.where(inside, start + 2, start), np.where(inside, closed - 2, end) - start)
    if group.length.max(initial=0) > LONGEST_TEXT:
        return intern(list(map(group_of, keys.tolist())))
    codes, (names,) = Records(raw.tobytes(), start, end).interned(group)
    return Symbols(codes.astype("u4"), [name.decode("utf-8", "replace") for name in names])


def name_of(group: str) -> str:
    """Dask's prefix: of ``sum-1a2b``, ``sum``."""
    return task_name(key_split(group))


def _tuples(key: Any, depth: int) -> Any:
    if isinstance(key, list | tuple):
        return tuple(_tuples(each, depth - 1) for each in key) if depth else "…"
    return key
