"""A local scheduler's graph as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
