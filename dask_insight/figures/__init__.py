"""Panels as Bokeh figures, for dashboards and documents of your own; and as SVG and PNG.

    from bokeh.io import show
    from bokeh.layouts import column
    from dask_insight import figures

    stream = figures.task_stream(run, prefix="score", theme="dark")
    used = figures.resources(run, x_range=stream.x_range)
    show(column(stream, used, sizing_mode="stretch_width"))

    figures.svg(run, "task-stream", start=10, stop=20)

A figure has the panel's colours and tells its facts under the mouse. Its size
is bounded: what is too small to be seen is put together, by name, and the
figure says so. Figures need Bokeh, PNG needs matplotlib; both are imported
when they are used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .panels import PANELS, PART

if TYPE_CHECKING:
    from ..recording import Recording
    from .pictures import png, svg

__all__ = [
    "PANELS",
    "compare",
    "critical_path",
    "events",
    "findings",
    "fine_metrics",
    "flame_graph",
    "functions",
    "memory",
    "png",
    "progress",
    "resources",
    "spans",
    "svg",
    "task_stream",
    "time_budget",
    "transfers",
    "what_if",
    "workers",
]

_PARAMETERS = """

    Parameters
    ----------
    run
        A `Recording`.
{own}    theme
        ``'light'`` or ``'dark'``.
    x_range
        The range of another figure, to move with it: ``figure.x_range``.
    width, height
        Pixels; by default as wide as there is room, and as high as suits it.
    limit
        Most rectangles; what is shorter than a pixel is put together from there on.

    Returns
    -------
    {gives}

    Raises
    ------
    TypeError, ValueError
        If a task name, worker, theme or option is unknown, the panel cannot show such a part alone, `stop`
        is not after `start`, or what should be a number is none.
    ImportError
        If Bokeh is not installed.
    """
_PARTS = {
    "stop": ("start, stop", "Only this time, seconds since `Recording.started`."),
    "prefix": ("prefix", "Only this task name, or these."),
    "worker": ("worker", "Only this worker, or these, by name or address."),
}


def _figure(
    panel: str, doc: str, gives: str = "figure", own: dict[str, str] | None = None
) -> Callable[..., Any]:
    """The function that makes a panel's figure: all take the same, and some a little more."""
    options = own or {}
    part = PANELS[panel].takes({"by": "name" if "by" in options else None})

    def make(
        run: Recording,
        *,
        start: float | None = None,
        stop: float | None = None,
        prefix: Any = None,
        worker: Any = None,
        theme: str = "light",
        x_range: Any = None,
        width: int | None = None,
        height: int | None = None,
        limit: int = 20_000,
        **given: Any,
    ) -> Any:
        if unknown := given.keys() - options.keys():
            raise TypeError(f"{make.__name__}() got an unexpected keyword argument {min(unknown)!r}")
        from .request import Request, recording_of

        wanted = "what dask_insight.compare gives" if panel == "compare" else "a Recording"
        run = recording_of(run, f"{make.__name__}()", wanted)
        from ..arguments import whole
        from .bokeh_figure import figure_of

        width = None if width is None else whole("width", width, least=1)
        height = None if height is None else whole("height", height, least=1)
        asked = {"start": start, "stop": stop, "prefix": prefix, "worker": worker}
        PANELS[panel].check(asked, given)
        request = Request(run, start=start, stop=stop, prefix=prefix, worker=worker, theme=theme, limit=limit)
        chart = PANELS[panel].chart(request, **{name: one for name, one in given.items() if one is not None})
        return figure_of(chart, request.theme, x_range=x_range, width=width, height=height)

    make.__name__ = make.__qualname__ = panel.replace("-", "_")
    made = inspect.signature(make)
    never = {"given", *PART} - {*part}
    kept = [one for name, one in made.parameters.items() if name not in never]
    kept += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        for name in options
    ]
    make.__signature__ = made.replace(parameters=kept)  # type: ignore[attr-defined]
    meanings = [*options.items(), *(meaning for name, meaning in _PARTS.items() if name in part)]
    told = "".join(f"    {name}\n        {meaning}\n" for name, meaning in meanings)
    make.__doc__ = doc + _PARAMETERS.format(own=told, gives=gives)
    return make


findings = _figure(
    "findings", "What cost time or puts the run at risk: a bar for the seconds that each finding costs."
)
time_budget = _figure(
    "time-budget",
    "Where the time of all threads went: as one bar, and over time.",
    "Column of two figures; the second one is over time",
)
task_stream = _figure(
    "task-stream", "What ran where and when: a row a thread, with transfers, disk and failures."
)
critical_path = _figure(
    "critical-path",
    "What kept the run from ending sooner: over time, and by task name.",
    "Column of two figures; the first one is over time",
)
what_if = _figure(
    "what-if", "How much faster the run could be: the recorded time, its bounds, and what would change it."
)
resources = _figure(
    "resources",
    "CPU, tasks, network, disk, GPUs and event loops of the workers over time.",
    "Column of figures on one time axis; a figure if there is one measure",
    {
        "measures": "Some of ``'cpu'``, ``'total-cpu'``, ``'tasks'``, ``'network'``, ``'disk'``, ``'gpu'``,\n"
        "        ``'gpu-memory'``, ``'lag'``, ``'gil'``, ``'gil-wait'``, ``'core-wait'`` (threads that wait\n"
        "        for Python's interpreter lock, or a free core; on Linux), ``'cpu-limit'``, ``'memory'``,\n"
        "        ``'host-cpu'``, ``'host-memory'`` (what all programs use, and what is left), ``'fds'``,\n"
        "        ``'occupancy'``, ``'transfers'``; and names of the table ``gauges``, as ``'rmm.rmm-used'``.",
    },
)
memory = _figure(
    "memory",
    "Dask's memory measures of the workers over time, with their limit; or the results that were held.",
    own={
        "by": "``'measure'`` (default), or ``'name'``, also as ``'function'`` or ``'prefix'``: results in\n"
        "        memory or on disk by task name, each once however many workers had a copy; `prefix` is for\n"
        "        these.",
    },
)
flame_graph = _figure(
    "flame-graph", "Sampled call stacks in tasks: callers over what they call, as wide as their seconds."
)
fine_metrics = _figure(
    "fine-metrics",
    "Fine performance metrics by activity, by task name, and what was sent and received.",
    "Column of figures",
    {"unit": "``'seconds'`` (default), ``'bytes'``, ``'count'`` or one of your own."},
)
progress = _figure(
    "progress",
    "How far the tasks of each name are, now or at `stop`: a bar for each, filled as far as they are.",
)
functions = _figure("functions", "Task names by the time that they took.")
transfers = _figure(
    "transfers",
    "Which worker sent how much to which, and results of which task names.",
    "Column of two figures",
)
workers = _figure("workers", "What each worker did.")
spans = _figure("spans", "When the tasks of each `distributed.span` ran.")
events = _figure("events", "What happened besides tasks, by kind: workers, logs, what users note.")
compare = _figure(
    "compare",
    "What differs between runs; takes what `dask_insight.compare` gives.",
    "Column of figures: time budgets, task names, memory",
)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in ("png", "svg"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(".pictures", __name__), name)
