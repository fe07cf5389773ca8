"""Sizes of results."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from math import nan
from typing import Any

from dask.sizeof import sizeof

_PLAIN = frozenset({int, float, bool, complex, str, type(None)})
_COLLECTIONS = (list, tuple, set, frozenset, dict)
_SAMPLES = 10
_DEPTH = 3


def size_of(result: Any, depth: int = _DEPTH) -> float:
    """Bytes of a result, as Dask counts them; NaN if that fails.

    Of large collections some elements stand for all. Dask draws those at
    random, from the generators that a program may have seeded and that a
    recording must leave alone; here they are the first ones.
    """
    kind = type(result)
    if kind in _PLAIN:
        return float(sys.getsizeof(result))
    try:
        if kind in _COLLECTIONS:
            return _collection(result, depth)
        if kind.__module__.partition(".")[0] == "pandas":
            return _frame(result)
        return float(sizeof(result))
    except Exception:
        return nan


def _collection(result: Any, depth: int) -> float:
    own = float(sys.getsizeof(result))
    if not result or not depth:
        return own
    elements = _estimate(result, len(result), depth)
    return own + elements + (_estimate(result.values(), len(result), depth) if type(result) is dict else 0.0)


def _estimate(elements: Iterable[Any], number: int, depth: int) -> float:
    sizes = [size_of(element, depth - 1) for element in islice(elements, _SAMPLES)]
    return number * sum(sizes) / len(sizes)


def _frame(result: Any) -> float:
    usage = getattr(result, "memory_usage", None)
    if usage is None:
        return float(sys.getsizeof(result))
    shallow = usage(deep=False)
    size = float(shallow if isinstance(shallow, int | float) else shallow.sum())
    columns = [result[name] for name in result.columns] if hasattr(result, "columns") else [result]
    return size + sum(_objects(column) for column in columns)


def _objects(column: Any) -> float:
    """What the Python objects take that a column of them points to."""
    if str(getattr(column, "dtype", "")) != "object" or not len(column):
        return 0.0
    return _estimate(column[:_SAMPLES], len(column), 1)
