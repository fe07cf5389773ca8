"""Sizes of results."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from itertools import islice
from math import nan
from typing import Any

from dask.sizeof import sizeof

_PLAIN = frozenset({int, float, bool, complex, str, type(None)})
_COLLECTIONS: tuple[type[Collection[Any]], ...] = (list, tuple, set, frozenset, dict)
#: How Dask counts these, and what is derived from them.
_DRAWING = frozenset(map(sizeof.dispatch, _COLLECTIONS))
_SAMPLES = 10
_DEPTH = 3


def size_of(result: Any, depth: int = _DEPTH) -> float:
    """Bytes of a result, as Dask counts them; NaN if that fails.

    Of large collections some elements stand for all. Dask draws those at
    random, from the generators that a program may have seeded and that a
    recording must leave alone; here they are the first ones. That holds for
    what is derived from such a collection, or from those of pandas, too,
    unless Dask has been told of a way to count it.
    """
    kind = type(result)
    if kind in _PLAIN:
        return float(sys.getsizeof(result))
    try:
        if sizeof.dispatch(kind) in _DRAWING:
            return _collection(result, depth)
        if _counts_as_of_pandas(kind):
            return _frame(result)
        return float(sizeof(result))
    except Exception:
        return nan


def _counts_as_of_pandas(kind: type) -> bool:
    """Whether Dask counts these as it does what pandas has."""
    bases = [base for base in kind.__mro__ if base.__module__.partition(".")[0] == "pandas"]
    return any(sizeof.dispatch(base) is sizeof.dispatch(kind) for base in bases)


def _collection(result: Any, depth: int) -> float:
    # What a derived class does when it is looked at is not for a recording to have done.
    base = next(base for base in _COLLECTIONS if isinstance(result, base))
    own, number = float(sys.getsizeof(result)), base.__len__(result)
    if not number or not depth:
        return own
    values = _estimate(dict.values(result), number, depth) if base is dict else 0.0
    return own + _estimate(base.__iter__(result), number, depth) + values


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
    kind = getattr(column, "dtype", "")
    # Without pyarrow text is one, too.
    if not (str(kind) == "object" or getattr(kind, "storage", "") == "python") or not len(column):
        return 0.0
    return _estimate(column[:_SAMPLES], len(column), 1)
