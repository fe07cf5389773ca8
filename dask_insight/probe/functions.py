"""Which functions a task runs, and where they stand, found out without running anything of the user's.

Attributes are asked for only of types whose attributes are known to run no code.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Iterator
from itertools import islice
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

#: Most functions that are told of one task, things looked at for them, and items of a container.
_MOST, _LOOKED, _ITEMS = 8, 100, 16
#: Modules whose functions only call others, or are given them.
_PLUMBING = frozenset(
    (
        "dask",
        "distributed",
        "toolz",
        "tlz",
        "cytoolz",
        "joblib",
        "functools",
        "operator",
        "_operator",
        "builtins",
    )
)
#: Functions of those that say nothing at all.
_NOTHING = frozenset(("_execute_subgraph", "NestedContainer.to_container", "apply", "identity"))
_NATIVE = (BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType)
_COMPILED = ("cython_function_or_method", "fused_cython_function", "_ArrayFunctionDispatcher", "ufunc")
_TEXT = 500


class Place(NamedTuple):
    """A function and where it stands; '' and 0 where that cannot be known."""

    function: str
    module: str
    file: str
    line: int


def functions_of(task: Any) -> list[Place]:
    """The functions that a task of a graph runs: a person's own before the machinery around them.

    Parameters
    ----------
    task
        A node of Dask's, or a task as a tuple; of another kind it has none.
    """
    found: dict[Place, None] = {}
    for place in _looked_through(task):
        found[place] = None
    own = [place for place in found if place.module.partition(".")[0] not in _PLUMBING]
    useful = [place for place in found if place.function not in _NOTHING]
    return (own or useful or list(found))[: _MOST if own else 1]


def is_fused(node: Any) -> bool:
    """Whether a node of Dask's runs several tasks that were fused: a dict of them, the last, and keys."""
    function, args = node.func, node.args
    mine = type(function) is FunctionType and function.__name__ == "_execute_subgraph"
    return mine and function.__module__ == "dask._task_spec" and len(args) > 2 and type(args[0]) is dict


def handed_in(fused: Any) -> tuple[Any, ...]:
    """What a fused task of Dask's is handed in, the first of it: data, keys, or functions that it calls."""
    given: tuple[Any, ...] = fused.args[3 : 3 + _ITEMS]
    return given


def _looked_through(task: Any) -> Iterator[Place]:
    queue: deque[Any] = deque([task])
    for _ in range(_LOOKED):
        if not queue:
            return
        thing = queue.popleft()
        kind = type(thing)
        if kind is tuple and thing:
            if _calls(thing[0]):
                yield from _called(thing[0], thing[1:], {}, queue)
            else:
                queue.extend(thing[:_ITEMS])
        elif kind is list:
            queue.extend(thing[:_ITEMS])
        elif kind is dict:
            queue.extend(islice(thing.values(), _ITEMS))
        elif _of_graph(kind):
            yield from _node(thing, queue)
        elif _calls(thing) and not issubclass(kind, type):
            yield from _called(thing, (), {}, queue)


def _node(node: Any, queue: deque[Any]) -> Iterator[Place]:
    """A node of a graph of Dask's."""
    function = getattr(node, "func", None)
    if function is None:
        queue.append(getattr(node, "value", None))
        return
    if is_fused(node):
        inner, last = node.args[0], node.args[1]
        queue.append(inner.get(last))
        queue.extend(islice(reversed(inner.values()), _ITEMS))
        # Functions are handed in where `map_blocks` and others call them.
        queue.extend(each for each in handed_in(node) if _may_hold(each))
        return
    yield from _called(function, node.args, node.kwargs, queue)


def _called(function: Any, args: Any, keywords: Any, queue: deque[Any]) -> Iterator[Place]:
    """A function that is called with these arguments; those of machinery may be functions themselves."""
    for _ in range(10):
        kind = type(function)
        if issubclass(kind, functools.partial):
            given, more = _PARTIAL_ARGS(function), _PARTIAL_KEYWORDS(function)
            args, keywords = (*given[:_ITEMS], *args[:_ITEMS]), {**more, **keywords}
            function = _PARTIAL_FUNC(function)
        elif kind is MethodType:
            function = function.__func__
        elif kind is FunctionType and "__wrapped__" in function.__dict__:
            function = function.__dict__["__wrapped__"]
        elif kind is _CACHED:
            function = function.__wrapped__
        elif _is(kind, "curry", "toolz", "cytoolz"):
            args, function = (*function.args[:_ITEMS], *args[:_ITEMS]), function.func
        elif _is(kind, "Compose", "toolz", "cytoolz"):
            queue.extend((each,) for each in (function.first, *function.funcs[:_ITEMS]))
            return
        elif (inner := _wrapped_by(function)) is not None:
            function = inner
        else:
            break
    place = _place(function)
    yield place
    if place.module.partition(".")[0] in _PLUMBING:
        given = (*args[:_ITEMS], *islice(keywords.values(), _ITEMS))
        queue.extend(each for each in given if _may_hold(each))


def _wrapped_by(thing: Any) -> Any:
    """The function that an object has been put around, as a task of Prefect's; None if none."""
    own = _in_type(type(thing), "__dict__")
    attributes = own.__get__(thing) if type(own) is GetSetDescriptorType else None
    # Another kind of dict may run code.
    wrapped = attributes.get("__wrapped__") if type(attributes) is dict else None
    return wrapped if type(wrapped) is FunctionType else None


def _may_hold(thing: Any) -> bool:
    """Whether there may be functions in an argument; a class is most often a type that is asked for."""
    kind = type(thing)
    return kind in (tuple, list, dict) or _of_graph(kind) or (_calls(thing) and not issubclass(kind, type))


def _calls(thing: Any) -> bool:
    """Whether it can be called."""
    return _in_type(type(thing), "__call__") is not None


def _place(function: Any) -> Place:
    kind = type(function)
    if kind is FunctionType:
        code = function.__code__
        return _told(function.__qualname__, function.__module__, code.co_filename, code.co_firstlineno)
    if _is(kind, "_ArrayFunctionDispatcher", "numpy") and type(function._implementation) is FunctionType:
        code = function._implementation.__code__
        return _told(function.__name__, function.__module__, code.co_filename, code.co_firstlineno)
    if kind in _NATIVE or _attribute(kind, "__name__") in _COMPILED:
        name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "")
        module = getattr(function, "__module__", None)
        return _told(name, module or _module_of(getattr(function, "__objclass__", None)), "", 0)
    if _is(kind, "methodcaller", "dask"):
        return _told(function.method, "", "", 0)
    made = function if issubclass(kind, type) else kind
    own = _in_type(made, "__init__" if made is function else "__call__")
    module = _module_of(made)
    if type(own) is FunctionType and own.__module__ == module and own.__code__.co_filename != "<string>":
        name = _attribute(made, "__qualname__") if made is function else own.__qualname__
        return _told(name, module, own.__code__.co_filename, own.__code__.co_firstlineno)
    return _told(_attribute(made, "__qualname__"), module, _file_of(module), 0)


def _told(name: Any, module: Any, file: Any, line: int) -> Place:
    return Place(_text(name), _text(module), _text(file), line)


def _text(value: Any) -> str:
    if type(value) is not str:
        return ""
    return value[:_TEXT].encode("utf-8", "backslashreplace").decode()


def _attribute(kind: Any, name: str) -> Any:
    """An attribute of a class, whatever its metaclass makes of that."""
    try:
        return type.__getattribute__(kind, name)
    except (AttributeError, TypeError):
        return None


def _in_type(kind: type, name: str) -> Any:
    """What a class or one above it has under a name; None if nothing."""
    for base in _attribute(kind, "__mro__") or ():
        own = _attribute(base, "__dict__") or {}
        if name in own:
            return own[name]
    return None


def _module_of(kind: Any) -> str:
    return _text(_attribute(kind, "__module__")) if kind is not None else ""


def _file_of(module: str) -> str:
    found = vars(sys.modules[module]).get("__file__") if module in sys.modules else None
    return found if type(found) is str and found.endswith(".py") else ""


def _of_graph(kind: type) -> bool:
    return any(_attribute(base, "__module__") == "dask._task_spec" for base in _attribute(kind, "__mro__"))


def _is(kind: type, name: str, *packages: str) -> bool:
    return _attribute(kind, "__name__") == name and _module_of(kind).partition(".")[0] in packages


_PARTIAL_FUNC = functools.partial.__dict__["func"].__get__
_PARTIAL_ARGS = functools.partial.__dict__["args"].__get__
_PARTIAL_KEYWORDS = functools.partial.__dict__["keywords"].__get__
_CACHED = type(functools.lru_cache(_text))
