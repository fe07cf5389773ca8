"""What tasks and results are called in a recording."""

from __future__ import annotations

from typing import Any

from dask.utils import funcname, key_split

#: What `key_split` answers where a key says nothing about its task.
_POOR = frozenset({"", "Other", "data"})


def key_text(key: Any) -> str:
    """A key as text, as the distributed scheduler would show it."""
    return key if type(key) is str else str(key)


def prefix_of(key: Any, node: Any) -> str:
    """Name of a task: the key's, or its function's where the key has none.

    Parameters
    ----------
    key
        Dask's key, of any type.
    node
        The task in the graph.
    """
    prefix: str = key_split(key)
    if prefix not in _POOR and not prefix.isdigit():
        return prefix
    function = getattr(node, "func", None)
    return funcname(function) if function is not None else type(node).__name__.lower()


def group_of(key: Any, prefix: str) -> str:
    """Dask's task group: what a key has before its indices."""
    first = key[0] if type(key) is tuple and key else None
    return first if type(first) is str else prefix


def type_name(value: Any) -> str:
    """Full name of the type of a value, with its module unless it is built in."""
    kind = type(value)
    module = getattr(kind, "__module__", "builtins")
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
