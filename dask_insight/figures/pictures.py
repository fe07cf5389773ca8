"""Panels of a recording as files: SVG and PNG."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import words
from ..arguments import number, text
from .chart import Chart
from .defaults import OVERVIEW, SCALE, WIDTH
from .panels import OPTIONS, PANELS, PART, Panel, panel_id
from .picture import Page, PngPen, SvgPen, Words
from .request import Request, recording_of

if TYPE_CHECKING:
    from ..recording import Recording

#: Panels of an overview.
_OVERVIEW = ("time-budget", "task-stream", "critical-path", "resources", "memory")
#: Most rectangles in a picture: with 64 threads, one in every one and a half pixels.
_LIMIT = 50_000
#: Most pixels a side, and in a PNG.
MOST, _PIXELS = 20_000, 100_000_000


def svg(
    run: Recording,
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
    run
        A `Recording`; for ``'compare'``, what `dask_insight.compare` gives.
    panel
        ``'task-stream'``, ``'memory'`` … as in `PANELS`, or ``'overview'``.
    width, height
        Size, pixels; by default as high as suits what is shown.
    scheme
        ``'light'`` or ``'dark'``.
    asked
        Only this: ``start``, ``stop`` (seconds since `Recording.started`),
        ``prefix`` (task names), ``worker`` (names or addresses); and ``unit``
        of fine metrics, ``measures`` of resources, ``by`` of memory.

    Returns
    -------
    str
        The document.

    Raises
    ------
    TypeError, ValueError
        If there is no such panel, task name, worker or scheme, the panel takes no such thing or cannot show
        such a part alone, or the size makes no sense.
    """
    return Picture(run, panel, width=width, height=height, scheme=scheme, **asked).svg()


def png(
    run: Recording,
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
    ValueError
        As `svg`, and if it would have more than 100 million pixels.
    """
    return Picture(run, panel, width=width, height=height, scheme=scheme, **asked).png(scale)


class Picture:
    """A panel laid out, to be drawn as SVG or PNG; takes what `svg` takes.

    Attributes
    ----------
    is_empty
        Whether the recording has nothing for this panel; the picture says why.
    """

    def __init__(
        self,
        run: Any,
        panel: str = OVERVIEW,
        *,
        width: float = WIDTH,
        height: float | None = None,
        scheme: str = "light",
        **asked: Any,
    ) -> None:
        panel = panel_id(text("panel", panel, f"one of {', '.join((OVERVIEW, *PANELS))}"))
        if panel != OVERVIEW and panel not in PANELS:
            raise ValueError(f"no panel {panel!r}; there are {', '.join((OVERVIEW, *PANELS))}")
        if not 320 <= number("width", width, "pixels") <= MOST:
            raise ValueError(f"width={width:g} is none of 320 to {MOST:,} pixels")
        if height is not None and not 60 <= number("height", height, "pixels") <= MOST:
            raise ValueError(f"height={height:g} is none of 60 to {MOST:,} pixels")
        own = {name: given for name in OPTIONS if (given := asked.pop(name, None)) is not None}
        for name in own:
            if OPTIONS[name] != panel:
                raise ValueError(f"{name}= is for the panel {OPTIONS[name]!r}, not for {panel!r}")
        if unknown := asked.keys() - {*PART}:
            there = ", ".join(("width", "height", "scheme", *PART, *OPTIONS))
            raise TypeError(f"a picture has no option {min(unknown)}; there are {there}")
        if panel != OVERVIEW:
            PANELS[panel].check(asked, own)
        recording = recording_of(run, "a picture")
        request = Request(recording, theme=scheme, limit=_LIMIT, **asked)
        charts = _charts(request, panel, own)
        self.is_empty = all(chart.empty for chart in charts)
        title = charts[0].title if panel != OVERVIEW else _said(recording)
        self._title = " · ".join(part for part in (title, request.caption()) if part)
        self._background = request.theme.background
        self._page = Page(
            charts, Words(title, request.caption(), _source(request)), request.theme, width, height
        )

    def svg(self) -> str:
        """The SVG document."""

        def pen(width: float, height: float) -> SvgPen:
            return SvgPen(width, height, self._background, self._title)

        return self._page.draw(pen).document()

    def png(self, scale: float = SCALE) -> bytes:
        """The bytes of a PNG."""
        if (
            not number("scale", scale, "pixels") > 0
            or not self._page.width * self._page.height * scale**2 <= _PIXELS
        ):
            raise ValueError(f"scale={scale:g} gives no picture of at most {_PIXELS:,} pixels")

        def pen(width: float, height: float) -> PngPen:
            return PngPen(width, height, self._background, self._title, scale)

        return self._page.draw(pen).encoded()


def _said(recording: Recording) -> str:
    said: str = recording.summary(findings=False).verdict()
    return said.replace("`", "")


def _charts(request: Request, panel: str, own: dict[str, Any]) -> list[Chart]:
    if panel != OVERVIEW:
        return [PANELS[panel].chart(request, **own)]
    if len(request.columns("compared_sides")["side"]) and not len(request.columns("attempts")["run"]):
        # Its note is the picture's title.
        return [replace(PANELS["compare"].chart(request), note="")]
    charts = [_over_time(_said_whole(PANELS[name], request)) for name in _OVERVIEW]
    return [chart for chart in charts if not chart.empty] or charts[1:2]


def _said_whole(panel: Panel, request: Request) -> Chart:
    """A panel's chart, which says so where it has all task names though some are asked for."""
    chart = panel.chart(request)
    if request.prefixes is None or "prefix" in panel.part:
        return chart
    return replace(chart, note=" · ".join(part for part in ("of all task names", chart.note) if part))


def _over_time(chart: Chart) -> Chart:
    """A chart without what has an axis of its own, but for shares."""
    return replace(chart, plots=[plot for plot in chart.plots if plot.x.unit in ("time", "%")])


def _source(request: Request) -> str:
    """When it was recorded, and by what it was drawn."""
    version = getattr(import_module("dask_insight"), "__version__", "")
    began = words.dated(request.zero)
    recorded = f"recorded {began.astimezone(UTC):%Y-%m-%d %H:%M} UTC · " if began else ""
    return f"{recorded}dask_insight {version}".rstrip()
