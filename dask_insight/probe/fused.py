"""What tasks were fused from: optimizing puts several into one, whose key tells the last of them only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from .functions import Place, functions_of, handed_in, is_fused

#: Most parts that are told of one task.
_MOST = 32
#: What stands before the numbers of a key, with the token that tells what is computed.
_NAME = re.compile(r".+-[0-9a-f]{32}", re.DOTALL)


class Part(NamedTuple):
    """A task inside of another: its key without numbers, and its function."""

    name: str
    place: Place


def parts_of(task: Any) -> list[Part]:
    """The tasks inside of a fused task that have a token and a function with lines; none of another task."""
    return list(dict.fromkeys(islice(_inside(task), _MOST)))


def _inside(task: Any) -> Iterator[Part]:
    inner = _graph(task)
    # A part knows by name what the task is handed in, as the function that `map_blocks` calls.
    names = task.args[2] if inner and type(task.args[2]) in (tuple, list) else ()
    given = dict(zip(names, handed_in(task), strict=False)) if inner else {}
    for key, node in islice(inner.items(), _MOST):
        yield from _inside(node)
        name = _NAME.match(text) if type(text := key[0] if type(key) is tuple else key) is str else None
        own = _graph(node)
        last = own.get(node.args[1]) if own else node
        named = [thing for each, thing in given.items() if each in getattr(last, "dependencies", ())]
        for place in functions_of([last, *named])[:1] if name else ():
            if place.line:
                yield Part(name[0], place)  # type: ignore[index]


def _graph(task: Any) -> dict[Any, Any]:
    """The tasks inside of a fused one."""
    graph: dict[Any, Any] = task.args[0] if _is_task(task) and is_fused(task) else {}
    return graph


def _is_task(task: Any) -> bool:
    return type(task).__module__ == "dask._task_spec" and hasattr(task, "func")
