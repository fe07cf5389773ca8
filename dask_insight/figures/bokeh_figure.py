"""Charts as Bokeh figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .bokeh_marks import LEFT, LONG, NAMES, Marks, bokeh, plain
from .chart import Axis, Chart, Plot, Rows, Sign
from .colors import css
from .texts import fitted, width
from .theme import Theme
from .ticks import upright_ticks

#: Width for which texts and legends are cut where a figure stretches, pixels.
_USUAL = 900
#: Most rows of a legend, and widest label in it.
_LEGEND, _LABEL = 4, 200.0
#: Heights of what stands around a plot: marks of an axis, a line of text, the title.
_AXIS, _LINE, _TITLE = 32, 18, 26
#: Least height of a figure, pixels.
_LEAST = 60


def figure_of(
    chart: Chart, theme: Theme, *, x_range: Any = None, width: int | None = None, height: int | None = None
) -> Any:
    """A Bokeh figure, or a column of several that share what axis they can.

    Raises
    ------
    ImportError
        If Bokeh is not installed.
    """
    try:
        layouts = bokeh("layouts")
    except ImportError as error:
        raise ImportError("figures need Bokeh: `pip install bokeh`") from error
    if chart.empty:
        return _empty(chart, theme, width, height)
    plots = list(chart.plots)
    ranges: dict[Axis, Any] = {
        plot.x: x_range for plot in plots if x_range is not None and _moves(plots, plot)
    }
    made = []
    for number, plot in enumerate(plots):
        drawn = _Drawing(plot, theme, ranges.get(plot.x), width, last=_is_last(plots, number))
        ranges.setdefault(plot.x, drawn.figure.x_range)
        made.append(drawn)
    # What is added last stands uppermost.
    made[0].legend([*chart.signs, *plots[0].signs], chart.more)
    made[0].head(chart.title, chart.note)
    for drawn, plot in zip(made[1:], plots[1:], strict=True):
        drawn.legend(plot.signs, 0)
        if isinstance(plot.y, Rows):
            drawn.head(plot.title, "")
    figures = [drawn.figure for drawn in made]
    if height is not None:
        # Titles and legends keep their height, plots share the rest.
        free = height - sum(each.height for each in figures)
        whole = sum(plot.height for plot in plots)
        for each, plot in zip(figures, plots, strict=True):
            each.height = max(_LEAST, each.height + round(free * plot.height / whole))
    if len(figures) == 1:
        return figures[0]
    return layouts.column(*figures, sizing_mode="fixed" if width else "stretch_width")


def _moves(plots: Sequence[Plot], plot: Plot) -> bool:
    """Whether a range that is given is for this plot: those over time first."""
    timed = any(each.x.unit == "time" for each in plots)
    return plot.x.unit == "time" if timed else plot.x == plots[0].x


def _is_last(plots: Sequence[Plot], number: int) -> bool:
    """Whether its axis is shown: the next one has another."""
    return number + 1 == len(plots) or plots[number + 1].x != plots[number].x


class _Drawing:
    """One plot as a figure."""

    def __init__(self, plot: Plot, theme: Theme, x_range: Any, wide: int | None, *, last: bool) -> None:
        self._models = bokeh("models")
        self._plot, self._theme, self._wide = plot, theme, wide or _USUAL
        y = plot.y
        limits = (y.count, 0) if isinstance(y, Rows) else (y.low, y.high)
        own = self._models.Range1d(plot.x.low, plot.x.high, bounds=None)
        self.figure: Any = bokeh("plotting").figure(
            x_range=own if x_range is None else x_range,
            y_range=self._models.Range1d(*limits),
            height=round(plot.height) + (_AXIS if last else 8),
            **({"width": wide} if wide else {"sizing_mode": "stretch_width"}),
            tools="xpan,xwheel_zoom,xbox_zoom,reset,save",
            active_drag="xpan",
            toolbar_location="right",
            min_border_right=10,
            min_border_left=LEFT if plot.x.unit == "time" else 10,
        )
        self._dress(last)
        Marks(self.figure, plot, theme, self._wide).draw()

    # Around the plot

    def head(self, title: str, note: str) -> None:
        """Title, and what was put together."""
        if note:
            told = self._models.Title(text=plain(note), text_font_style="normal", text_font_size="11px")
            told.text_color = css(self._theme.muted)
            self.figure.add_layout(told, "above")
            self.figure.height += _LINE
        if title:
            self.figure.title.text = plain(title)
            self.figure.height += _TITLE

    def legend(self, signs: Sequence[Sign], more: int) -> None:
        """What the colours mean, above the plot, in columns."""
        if not signs:
            return
        labels = [plain(fitted(sign.label, _LABEL, 11)) for sign in signs]
        room = max(width(label, 11) for label in labels) + 36
        columns = max(1, int((self._wide - 100) / room))
        most = columns * _LEGEND
        if more or len(signs) > most:
            # What has a shape of its own is kept before names.
            names = [number for number, sign in enumerate(signs) if sign.shape == "box"]
            dropped = (
                set(names[max(0, len(names) - (len(signs) - most) - 1) :]) if len(signs) >= most else set()
            )
            more += len(dropped)
        else:
            dropped = set()
        shown = [(sign, labels[number]) for number, sign in enumerate(signs) if number not in dropped]
        items = []
        for sign, label in shown:
            mark = self.figure.scatter(
                [np.nan], [np.nan], marker="square" if sign.shape in ("box", "outlined") else "dash", size=10,
                fill_color=css(sign.color), line_color=css(self._edge(sign)), line_width=_thick(sign),
            )  # fmt: skip
            items.append(
                self._models.LegendItem(label=bokeh("core.properties").value(label), renderers=[mark])
            )
        if more:
            none = self.figure.scatter([np.nan], [np.nan], fill_alpha=0, line_alpha=0)
            items.append(
                self._models.LegendItem(
                    label=bokeh("core.properties").value(f"{more:,} more"), renderers=[none]
                )
            )
        drawn = self._models.Legend(
            items=items, orientation="horizontal", location="top_left", ncols=min(columns, len(items))
        )
        drawn.update(
            border_line_width=0, background_fill_alpha=0, label_text_color=css(self._theme.muted),
            label_text_font_size="11px", glyph_width=12, glyph_height=12, padding=2, margin=2, spacing=6,
            label_standoff=4,
        )  # fmt: skip
        self.figure.add_layout(drawn, "above")
        rows = -(-len(items) // min(columns, len(items)))
        self.figure.height += 19 * rows + 6

    def _edge(self, sign: Sign) -> tuple[int, int, int]:
        return (235, 235, 235) if sign.shape == "outlined" and self._theme.dark else sign.color

    def _dress(self, last: bool) -> None:
        made, theme, plot = self.figure, self._theme, self._plot
        made.background_fill_color = made.border_fill_color = css(theme.background)
        made.outline_line_color = None
        made.toolbar.logo = None
        made.toolbar.autohide = True
        made.title.text_color = css(theme.text)
        made.title.text_font_size = "13px"
        for axis in (made.xaxis, made.yaxis):
            axis.axis_line_color = axis.minor_tick_line_color = None
            axis.major_tick_line_color = css(theme.faint)
            axis.major_label_text_color = axis.axis_label_text_color = css(theme.muted)
            axis.major_label_text_font_size = axis.axis_label_text_font_size = "11px"
            axis.axis_label_text_font_style = "normal"
        for grid in (made.xgrid, made.ygrid):
            grid.grid_line_color = css(theme.grid)
        _scale(made.xaxis, plot.x)
        made.xaxis.visible = last
        if last and plot.x.unit != "time" and plot.x.label:
            made.xaxis.axis_label = plain(plot.x.label)
            made.height += _LINE
        if isinstance(plot.y, Rows):
            self._rows(plot.y)
        else:
            # Along amounts nobody zooms, so that marks can be what they are in pictures.
            ticks = upright_ticks(plot.y.low, plot.y.high, plot.height, plot.y.unit)
            made.yaxis.ticker = self._models.FixedTicker(ticks=[tick.value for tick in ticks])
            shown = {tick.value: tick.label.removeprefix("\N{MINUS SIGN}") for tick in ticks}
            made.yaxis.major_label_overrides = shown
            made.yaxis.axis_label = plain(plot.title or plot.y.label)

    def _rows(self, rows: Rows) -> None:
        made = self.figure
        high = self._plot.height / max(1, rows.count)
        room = (
            min(NAMES, (self._plot.room or 1.0) * self._wide) if self._plot.x.unit != "time" else LEFT - 10.0
        )
        places, names = [], {}
        free = -np.inf
        for group in rows.groups if self._plot.room <= LONG else ():
            middle = (group.first + group.last) / 2
            if (middle - free) * high >= 11:
                places.append(middle)
                names[middle] = plain(fitted(group.label, room, 11))
                free = middle
            if rows.parted and group.first:
                made.add_layout(
                    self._models.Span(
                        location=group.first, dimension="width", line_color=css(self._theme.grid)
                    )
                )
        made.yaxis.ticker = self._models.FixedTicker(ticks=places)
        made.yaxis.major_label_overrides = names
        made.yaxis.major_tick_line_color = None
        made.ygrid.grid_line_color = None


def _thick(sign: Sign) -> float:
    return {"half": 4.0, "low": 2.0, "line": 2.0, "dashes": 1.0}.get(sign.shape, 1.0)


def _scale(axis: Any, of: Axis) -> None:
    """Marks that are round in their unit, at every zoom."""
    models = bokeh("models")
    unit = of.unit
    if unit in ("bytes", "bytes/s"):
        axis.ticker = models.AdaptiveTicker(base=1024, mantissas=[1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
        axis.formatter = models.NumeralTickFormatter(format="0.[0] ib")
    elif unit == "time" and of.high - of.low > 3600:
        axis.ticker = models.AdaptiveTicker(base=60, mantissas=[1, 2, 5, 10, 15, 30])
        axis.formatter = models.NumeralTickFormatter(format="00:00:00")
    elif unit in ("s", "time"):
        axis.formatter = models.PrintfTickFormatter(format="%.9g s")
    elif unit == "%":
        axis.formatter = models.PrintfTickFormatter(format="%.4g %%")
    elif unit == "count":
        axis.formatter = models.NumeralTickFormatter(format="0,0.[0]")


def _empty(chart: Chart, theme: Theme, wide: int | None, high: int | None) -> Any:
    """A figure that says why there is nothing."""
    models = bokeh("models")
    made: Any = bokeh("plotting").figure(
        x_range=models.Range1d(0, 1), y_range=models.Range1d(0, 1), height=high or 90,
        tools="", toolbar_location=None,
        **({"width": wide} if wide else {"sizing_mode": "stretch_width"}),
    )  # fmt: skip
    made.axis.visible = made.grid.visible = False
    made.outline_line_color = None
    made.background_fill_color = made.border_fill_color = css(theme.background)
    made.title.text = plain(chart.title)
    made.title.text_color = css(theme.text)
    text = plain(chart.empty)
    said = models.Label(x=8, y=20, x_units="screen", y_units="screen", text=text, text_color=css(theme.muted))
    said.text_font_size = "12px"
    made.add_layout(said)
    return made
