"""Size of the results that a local scheduler holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import nan
from threading import RLock
from typing import Any

from ...schema import NOTHING
from .rows import Rows

Metric = Callable[[Any], float]


class Totals:
    """Sum over the results held by all computations of each scheduler."""

    def __init__(self, rows: Rows, metric: Metric | None) -> None:
        self._add = rows.add
        self._metric = metric
        self._name = "count" if metric is None else getattr(metric, "__name__", type(metric).__name__)
        self._totals: dict[str, float] = {}
        #: Each thread that computes tells of its own results.
        self._lock = RLock()

    @property
    def counting(self) -> bool:
        """Whether every result counts for one."""
        return self._metric is None

    def size(self, result: Any) -> float:
        """What one result counts for; NaN if the metric fails."""
        if self._metric is None:
            return 1.0
        try:
            return float(self._metric(result))
        except Exception:
            return nan

    def change(self, source: str, moment: float, change: float, task: int) -> None:
        """What a computation holds has changed, most recently by a task's result."""
        with self._lock:
            total = self._totals.get(source, 0.0) + (change if change == change else 0.0)
            self._totals[source] = total
            self._add((moment, source, total, self._name, task))


class Cache:
    """The results of one computation."""

    def __init__(self, totals: Totals, source: str, results: Mapping[Any, Any], moment: float) -> None:
        self._totals = totals
        self._source = source
        self._counting = totals.counting
        self._sizes: dict[Any, float] = {}
        self._count = 0
        # A metric is asked about results of tasks only, as dask's CacheProfiler does.
        if results and self._counting:
            self._count = len(results)
            totals.change(source, moment, float(self._count), NOTHING)

    def _held(self) -> float:
        return (
            float(self._count)
            if self._counting
            else sum(size for size in self._sizes.values() if size == size)
        )

    def came(
        self, key: Any, result: Any, used: Iterable[Any], results: Mapping[Any, Any], task: int, moment: float
    ) -> None:
        """A result has come, and of those that it used some may be gone."""
        if self._counting:
            count = len(results)
            self._totals.change(self._source, moment, count - self._count, task)
            self._count = count
            return
        size = self._sizes[key] = self._totals.size(result)
        self._totals.change(self._source, moment, size, task)
        gone = [other for other in used if other not in results and other in self._sizes]
        if gone:
            freed = sum(size for other in gone if (size := self._sizes.pop(other)) == size)
            self._totals.change(self._source, moment, -freed, task)

    def cleared(self, moment: float) -> None:
        """The computation has ended and its cache with it."""
        if held := self._held():
            self._totals.change(self._source, moment, -held, NOTHING)
        self._sizes, self._count = {}, 0
