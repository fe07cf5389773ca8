"""Panels of a recording as files: SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .chart import Chart
from .panels import PANELS
from .picture import Page, PngPen, SvgPen, Words
from .request import Request

if TYPE_CHECKING:
    from ..recording import Recording

#: Several panels on one time axis, as the first window of a report shows them.
OVERVIEW = "overview"
_OVERVIEW = ("time-budget", "task-stream", "critical-path", "resources", "memory")
#: Most rectangles in a picture: about three in a pixel where there are as many rows as pixels allow.
_LIMIT = 40_000
#: Pixels of a PNG in one of the picture's.
SCALE = 2.0
WIDTH = 1200.0


def svg(
    recording: Recording,
    panel: str = OVERVIEW,
    *,
    width: float = WIDTH,
    height: float | None = None,
    scheme: str = "light",
    **asked: Any,
) -> str:
    """A panel as SVG: paths and text, no script and nothing from elsewhere.

    Parameters
    ----------
    recording
        What is shown; for ``'compare'``, `Comparison.recording`.
    panel
        ``'task-stream'``, ``'memory'`` … as in `PANELS`, or ``'overview'``.
    width, height
        Size, pixels; by default as high as suits what is shown.
    scheme
        ``'light'`` or ``'dark'``.
    asked
        Only this: ``start``, ``stop`` (seconds since `Recording.started`),
        ``prefix`` (task names), ``worker`` (names or addresses); and ``unit``
        of fine metrics, ``measures`` of resources.

    Returns
    -------
    str
        The document.

    Raises
    ------
    ValueError
        If there is no such panel, task name, worker or scheme, or the width is below 320 pixels.
    """
    page, title = _page(recording, panel, width, height, scheme, asked)
    background = Request(recording, theme=scheme).theme.background
    return page.draw(lambda wide, high: SvgPen(wide, high, background, title)).document()


def png(
    recording: Recording,
    panel: str = OVERVIEW,
    *,
    width: float = WIDTH,
    height: float | None = None,
    scheme: str = "light",
    scale: float = SCALE,
    **asked: Any,
) -> bytes:
    """The same as `svg`, as the bytes of a PNG.

    Parameters
    ----------
    scale
        Pixels of the PNG in one of `width` and `height`.

    Raises
    ------
    ImportError
        If matplotlib, which paints it, is not installed.
    """
    page, title = _page(recording, panel, width, height, scheme, asked)
    background = Request(recording, theme=scheme).theme.background
    return page.draw(lambda wide, high: PngPen(wide, high, background, title, scale)).encoded()


def shown(recording: Recording) -> list[str]:
    """Panels that have something to show of a recording."""
    request = Request(recording)
    return [name for name, panel in PANELS.items() if not panel.chart(request).empty]


def _page(
    recording: Recording, panel: str, width: float, height: float | None, scheme: str, asked: dict[str, Any]
) -> tuple[Page, str]:
    if panel != OVERVIEW and panel not in PANELS:
        raise ValueError(f"no panel {panel!r}; there are {', '.join((OVERVIEW, *PANELS))}")
    if not width >= 320:
        raise ValueError(f"width={width} is too narrow: 320 pixels at least")
    own = {name: asked.pop(name) for name in ("unit", "measures") if asked.get(name) is not None}
    request = Request(recording, theme=scheme, limit=_LIMIT, **asked)
    source = _source(request)
    if panel == OVERVIEW:
        charts: Sequence[Chart] = [_over_time(PANELS[name].chart(request)) for name in _OVERVIEW]
        charts = [chart for chart in charts if not chart.empty] or charts[1:2]
        title = recording.summary(findings=False).verdict()
        return Page(charts, Words(title, request.caption(), source), request.theme, width, height), title
    chart = PANELS[panel].chart(request, **own)
    title = chart.title
    page = Page([chart], Words(title, request.caption(), source), request.theme, width, height)
    return page, f"{title}: {request.caption()}"


def _over_time(chart: Chart) -> Chart:
    """A chart without what has an axis of its own, but for shares."""
    return replace(chart, plots=[plot for plot in chart.plots if plot.x.unit in ("time", "%")])


def _source(request: Request) -> str:
    """When it was recorded, and by what it was drawn."""
    import datetime

    version = import_module("dask_insight").__version__
    if not request.zero:
        return f"dask_insight {version}"
    began = datetime.datetime.fromtimestamp(request.zero, datetime.UTC)
    return f"recorded {began:%Y-%m-%d %H:%M} UTC · dask_insight {version}"
