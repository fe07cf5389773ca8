"""Size of the results that a local scheduler holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

from ...schema import NOTHING
from .rows import Rows

Metric = Callable[[Any], float]


class Held:
    """Sum of a metric over all results held by the computations of each scheduler."""

    def __init__(self, rows: Rows, metric: Metric | None) -> None:
        self._rows = rows
        self._metric = metric
        self._name = "count" if metric is None else getattr(metric, "__name__", type(metric).__name__)
        self._sums: dict[str, float] = {}
        self._lock = Lock()

    def size(self, result: Any) -> float:
        """What one result counts for."""
        return 1.0 if self._metric is None else float(self._metric(result))

    def change(self, source: str, time: float, change: float, task: int) -> None:
        """A result has come (or, with a negative change, gone)."""
        with self._lock:
            total = self._sums[source] = self._sums.get(source, 0.0) + change
        self._rows.add((time, source, total, self._name, task))


class Cache:
    """The results of one computation."""

    def __init__(self, held: Held, source: str, results: Mapping[Any, Any], time: float) -> None:
        self._held = held
        self._source = source
        self._sizes: dict[Any, float] = {key: held.size(value) for key, value in results.items()}
        if self._sizes:
            held.change(source, time, sum(self._sizes.values()), NOTHING)

    def came(self, key: Any, result: Any, task: int, time: float) -> None:
        """A result has come."""
        size = self._sizes[key] = self._held.size(result)
        self._held.change(self._source, time, size, task)

    def went(
        self, keys: Iterable[Any], results: Mapping[Any, Any], tasks: Mapping[Any, int], time: float
    ) -> None:
        """Of these results, some may be gone."""
        for key in keys:
            if key not in results and key in self._sizes:
                self._held.change(self._source, time, -self._sizes.pop(key), tasks.get(key, NOTHING))

    def cleared(self, time: float) -> None:
        """The computation has ended and its cache with it."""
        if self._sizes:
            self._held.change(self._source, time, -sum(self._sizes.values()), NOTHING)
            self._sizes.clear()
