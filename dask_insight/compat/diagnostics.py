"""`dask.diagnostics` with a recording beside: the same classes, arguments, results and figures."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dask import diagnostics
from dask.callbacks import Callback
from dask.diagnostics import visualize as _visualize
from dask.diagnostics.profile import CacheData
from dask.utils import funcname, key_split

from .block import Metric, RecordedBlock

#: Dask's own, which has no types.
visualize: Callable[..., Any] = _visualize

__all__ = ["CacheProfiler", "Callback", "Profiler", "ProgressBar", "ResourceProfiler", "visualize"]


class Profiler(RecordedBlock, diagnostics.Profiler):
    """`dask.diagnostics.Profiler`, and the block as a recording.

    ``results`` are dask's named tuples ``key``, ``task``, ``start_time``,
    ``end_time`` (seconds of `timeit.default_timer`), ``worker_id``. They hold what
    the scheduler's callbacks saw: with processes, that is when a task was sent
    and fetched. `recording` has when it ran, and where. Its figure has a colour and a label for each
    function, where today's dask has one for each task.
    """

    def _plot(self, **kwargs: Any) -> Any:
        from dask.diagnostics.profile_visualize import plot_tasks

        named = [each._replace(task=_Function(each.key, each.task)) for each in self.results]
        return plot_tasks(named, self._dsk, self.start_time, self.end_time, **kwargs)


class ResourceProfiler(RecordedBlock, diagnostics.ResourceProfiler):
    """`dask.diagnostics.ResourceProfiler`, and the block as a recording.

    ``results`` are dask's named tuples ``time`` (seconds), ``mem`` (MB) and
    ``cpu`` (%), of this process and its children, every `dt` seconds.

    Parameters
    ----------
    dt
        Seconds between two samples of ``results``; the recording has its own rate.
    """


class CacheProfiler(RecordedBlock, diagnostics.CacheProfiler):
    """`dask.diagnostics.CacheProfiler`, and the block as a recording.

    Parameters
    ----------
    metric
        Function of a task's result that gives its size; counts results by default.
    metric_name
        Its name in figures, which have a line for each function, where today's dask has one for each result.
    """

    def __init__(self, metric: Metric | None = None, metric_name: str | None = None) -> None:
        super().__init__(metric, metric_name)  # type: ignore[no-untyped-call]
        if metric is not None:
            self._metric = _Kept(metric, self._metric_name)
            self._cache_metric = _Taken(self._metric)

    def _plot(self, **kwargs: Any) -> Any:
        from dask.diagnostics.profile_visualize import plot_cache

        named = [_Cached(*each) for each in self.results]
        return plot_cache(named, self._dsk, self.start_time, self.end_time, self._metric_name, **kwargs)


class _Function:
    """A task whose text, which dask's figures show and group by, is its function's name."""

    def __init__(self, key: Any, task: Any) -> None:
        function = getattr(task, "func", None)
        if function is None and isinstance(task, tuple) and task and callable(task[0]):
            function = task[0]
        # Fused tasks have a function of dask's that runs them: their keys tell more.
        fused = getattr(function, "__module__", "") == "dask._task_spec"
        self._name = key_split(key) if function is None or fused else funcname(function)

    def __repr__(self) -> str:
        return str(self._name)


class _Cached(CacheData):
    """A result that was kept, whose text is the name of the function that made it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(_Function(self.key, self.task))


class _Kept:
    """Calls a metric for dask's profiler, and keeps the size for the recording, which asks next."""

    def __init__(self, metric: Metric, name: str) -> None:
        self.__name__ = name
        self.metric = metric
        self._last = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, (self.metric, self.__name__)

    def __call__(self, result: Any) -> float:
        size = self.metric(result)
        self._last.of = result, size
        return size

    def take(self, result: Any) -> float:
        """The size of a result: the one that was kept in this thread, or what the metric says of another."""
        last = vars(self._last).pop("of", None)
        return last[1] if last is not None and last[0] is result else self.metric(result)


class _Taken:
    """The same metric for the recording, which alone asks about computations within others."""

    def __init__(self, kept: _Kept) -> None:
        self.__name__ = kept.__name__
        self._kept = kept

    def __call__(self, result: Any) -> float:
        return self._kept.take(result)


class ProgressBar(RecordedBlock, diagnostics.ProgressBar):
    """`dask.diagnostics.ProgressBar`, and the block as a recording.

    Parameters
    ----------
    minimum
        Seconds that a computation must take before a bar is shown.
    width
        Characters of the bar.
    dt
        Seconds between two looks.
    out
        Where to write; standard output by default.
    """

    def __init__(self, minimum: float = 0, width: int = 40, dt: float = 0.1, out: Any = None) -> None:
        super().__init__(minimum, width, dt, out)  # type: ignore[no-untyped-call]
