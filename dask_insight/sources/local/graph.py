"""A local scheduler's graph as columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from .names import group_of, key_text, prefix_of

Columns = dict[str, Sequence[Any]]


def graph_columns(
    tasks: Mapping[Any, int], dsk: Mapping[Any, Any], dependencies: Mapping[Any, Any]
) -> tuple[Columns, Columns]:
    """Columns of `graph` and `edges`.

    Parameters
    ----------
    tasks
        The keys that will run, with their ids.
    dsk
        Key to node.
    dependencies
        Key to the keys that it needs.
    """
    keys = list(tasks)
    prefixes = _prefixes(keys, dsk)
    graph: Columns = {
        "task": list(tasks.values()),
        "key": [key_text(key) for key in keys],
        "prefix": prefixes,
        "group": [group_of(key, prefix) for key, prefix in zip(keys, prefixes, strict=True)],
    }
    edges = [(tasks[key], tasks[other]) for key in keys for other in dependencies[key] if other in tasks]
    return graph, {"task": [task for task, _ in edges], "dependency": [other for _, other in edges]}


def _prefixes(keys: Sequence[Any], dsk: Mapping[Any, Any]) -> list[str]:
    known: dict[Any, str] = {}
    prefixes: list[str] = []
    for key in keys:
        stem = key[0] if type(key) is tuple and key and type(key[0]) is str else None
        prefix = known.get(stem) if stem is not None else None
        if prefix is None:
            prefix = prefix_of(key, dsk[key])
            if stem is not None:
                known[stem] = prefix
        prefixes.append(prefix)
    return prefixes


def ranks(keys: Sequence[Any]) -> Columns:
    """Column `order`: the rank that dask.order gave each key; empty where it cannot be had.

    Only a local variable of the scheduler that calls back has it; working it
    out again would cost as much as it cost dask.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "get_async":
        frame = frame.f_back
    order = None if frame is None else frame.f_locals.get("keyorder")
    if not isinstance(order, dict):
        return {}
    found = [order.get(key, 0) for key in keys]
    return {"order": [rank if isinstance(rank, int) else 0 for rank in found]}
