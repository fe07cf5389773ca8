"""Charts as Bokeh figures."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .chart import Area, Axis, Boxes, Chart, Line, Plot, Rows, Sign
from .colors import css, luminance
from .texts import clean, cut, fitted, width
from .theme import Theme

#: Width for which texts and legends are cut where a figure stretches, pixels.
_USUAL = 900
#: Most rows of a legend, and widest label in it.
_LEGEND, _LABEL = 3, 200.0
_AXIS = 30


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
        layouts = _bokeh("layouts")
    except ImportError as error:
        raise ImportError("figures need Bokeh: `pip install 'dask_insight[figures]'`") from error
    if chart.empty:
        return _empty(chart, theme, width, height)
    plots = list(chart.plots)
    stretch = 1.0
    if height is not None:
        stretch = max(0.2, height / sum(plot.height + _AXIS for plot in plots))
    ranges: dict[Axis, Any] = {
        plot.x: x_range for plot in plots if x_range is not None and _moves(plots, plot)
    }
    made = []
    for number, plot in enumerate(plots):
        drawn = _Drawing(plot, theme, ranges.get(plot.x), width, stretch, last=_is_last(plots, number))
        ranges.setdefault(plot.x, drawn.figure.x_range)
        made.append(drawn)
    made[0].head(chart)
    made[0].legend([*chart.signs, *plots[0].signs], chart.more)
    for drawn, plot in zip(made[1:], plots[1:], strict=True):
        drawn.legend(plot.signs, 0)
    figures = [drawn.figure for drawn in made]
    if len(figures) == 1:
        return figures[0]
    return layouts.column(*figures, sizing_mode="fixed" if width else "stretch_width")


def _bokeh(module: str) -> Any:
    """A part of Bokeh, imported when it is used."""
    return import_module(f"bokeh.{module}")


def _moves(plots: Sequence[Plot], plot: Plot) -> bool:
    """Whether a range that is given is for this plot: those over time first."""
    timed = any(each.x.unit == "time" for each in plots)
    return plot.x.unit == "time" if timed else plot.x == plots[0].x


def _is_last(plots: Sequence[Plot], number: int) -> bool:
    """Whether its axis is shown: the next one has another."""
    return number + 1 == len(plots) or plots[number + 1].x != plots[number].x


def _plain(text: str) -> str:
    """Text that Bokeh does not take for mathematics."""
    gap = "\N{WORD JOINER}"
    return clean(text).replace("$$", f"${gap}$").replace("\\(", f"\\{gap}(").replace("\\[", f"\\{gap}[")


class _Drawing:
    """One plot as a figure."""

    def __init__(
        self, plot: Plot, theme: Theme, x_range: Any, wide: int | None, stretch: float, *, last: bool
    ) -> None:

        self._models = _bokeh("models")
        self._plot, self._theme, self._wide = plot, theme, wide or _USUAL
        y = plot.y
        limits = (y.count, 0) if isinstance(y, Rows) else (y.low, y.high)
        own = self._models.Range1d(plot.x.low, plot.x.high, bounds=None)
        self.figure: Any = _bokeh("plotting").figure(
            x_range=own if x_range is None else x_range,
            y_range=self._models.Range1d(*limits),
            height=round((plot.height + (_AXIS if last else 8)) * stretch),
            **({"width": wide} if wide else {"sizing_mode": "stretch_width"}),
            tools="xpan,xwheel_zoom,xbox_zoom,reset,save",
            active_drag="xpan",
            toolbar_location="right",
            min_border_right=10,
        )
        self._dress(last)
        for mark in plot.marks:
            if isinstance(mark, Boxes):
                self._boxes(mark)
            elif isinstance(mark, Area):
                self._area(mark)
            else:
                self._line(mark)
        self._hover_lines()

    # Around the plot

    def head(self, chart: Chart) -> None:
        """Title, and what was put together."""

        if chart.note:
            note = self._models.Title(
                text=_plain(chart.note), text_font_style="normal", text_font_size="11px"
            )
            note.text_color = css(self._theme.muted)
            self.figure.add_layout(note, "above")
            self.figure.height += 18
        self.figure.title.text = _plain(chart.title)
        self.figure.height += 26

    def legend(self, signs: Sequence[Sign], more: int) -> None:
        """What the colours mean, above the plot, in columns."""

        if not signs:
            return
        labels = [_plain(fitted(sign.label, _LABEL, 11)) for sign in signs]
        room = max(width(label, 11) for label in labels) + 36
        columns = max(1, int((self._wide - 100) / room))
        shown = list(zip(signs, labels, strict=True))[: columns * _LEGEND]
        more += len(signs) - len(shown)
        if more and len(shown) == columns * _LEGEND:
            shown, more = shown[:-1], more + 1
        items = []
        for sign, label in shown:
            mark = self.figure.scatter(
                [], [], marker="square" if sign.shape in ("box", "outlined") else "dash", size=10,
                fill_color=css(sign.color), line_color=css(self._edge(sign)), line_width=_thick(sign),
            )  # fmt: skip
            items.append(
                self._models.LegendItem(label=_bokeh("core.properties").value(label), renderers=[mark])
            )
        if more:
            none = self.figure.scatter([], [], fill_alpha=0, line_alpha=0)
            items.append(
                self._models.LegendItem(
                    label=_bokeh("core.properties").value(f"{more:,} more"), renderers=[none]
                )
            )
        drawn = self._models.Legend(items=items, orientation="horizontal", ncols=min(columns, len(items)))
        drawn.update(
            border_line_width=0, background_fill_alpha=0, label_text_color=css(self._theme.muted),
            label_text_font_size="11px", glyph_width=12, glyph_height=12, padding=2, margin=2, spacing=2,
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
        made.xaxis.axis_label = None if plot.x.unit == "time" else _plain(plot.x.label)
        made.xaxis.visible = last
        if isinstance(plot.y, Rows):
            self._rows(plot.y)
        else:
            _scale(made.yaxis, plot.y)
            made.yaxis.ticker.desired_num_ticks = max(2, round(plot.height / 30))
            two = f": {plot.above} up, {plot.below} down" if plot.above else ""
            made.yaxis.axis_label = _plain(plot.y.label + two)
        made.yaxis.fixed_location = None

    def _rows(self, rows: Rows) -> None:

        made = self.figure
        high = self._plot.height / max(1, rows.count)
        room = (self._plot.room or 0.16) * self._wide
        places, names = [], {}
        free = -np.inf
        for group in rows.groups:
            middle = (group.first + group.last) / 2
            if (middle - free) * high >= 11:
                places.append(middle)
                names[middle] = _plain(fitted(group.label, room, 11))
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

    # Marks

    def _boxes(self, mark: Boxes) -> None:

        if not len(mark.left):
            return
        palette = [css(color) for color in mark.colors]
        facts = {name: [_fact(each) for each in values] for name, values in mark.facts().items()}
        columns: dict[str, Any] = {
            "left": mark.left,
            "right": mark.right,
            "top": mark.top,
            "bottom": mark.bottom,
            "color": [palette[code] for code in mark.color.tolist()],
            **{f"fact{number}": values for number, values in enumerate(facts.values())},
        }
        edge = css(mark.outline) if mark.outline else "color"
        drawn = self.figure.quad(
            "left", "right", "top", "bottom", source=self._models.ColumnDataSource(columns),
            fill_color="color", line_color=edge, line_width=1 if mark.least >= 2 else self._thin(mark),
        )  # fmt: skip
        self._hover([drawn], [(name, f"@fact{number}") for number, name in enumerate(facts)])
        self._texts(mark)

    def _thin(self, mark: Boxes) -> float:
        """A line around boxes, where there are so few that it does not hide what is between them."""
        return 0.5 if len(mark.left) <= 2_000 else 0.15

    def _texts(self, mark: Boxes) -> None:
        """Names inside boxes where they fit at first, and amounts beside bars."""
        x = self._plot.x
        pixels = (self._wide - 120 - (self._plot.room * self._wide)) / ((x.high - x.low) or 1.0)
        rows, texts = [], []
        if mark.inside:
            room = (np.minimum(mark.right, x.high) - np.maximum(mark.left, x.low)) * pixels
            for row in np.flatnonzero(room > 34).tolist():
                if text := cut(mark.inside[row], float(room[row]) - 10, 11):
                    rows.append(row)
                    texts.append(_plain(text))
            ink = [
                "#000000" if luminance(mark.colors[int(mark.color[row])]) > 0.2 else "#ffffff" for row in rows
            ]
            self._write(np.maximum(mark.left, x.low), mark, rows, texts, ink)
        if mark.beside:
            rows = [row for row, text in enumerate(mark.beside) if text]
            told = [_plain(mark.beside[row]) for row in rows]
            self._write(
                np.maximum(mark.left, mark.right), mark, rows, told, [css(self._theme.muted)] * len(rows)
            )
            widest = max((width(text, 11) for text in told), default=0.0)
            self.figure.x_range.end = x.high + (widest + 14) / max(pixels, 1e-300) * 1.15

    def _write(self, x: np.ndarray, mark: Boxes, rows: list[int], texts: list[str], ink: list[str]) -> None:

        if not rows:
            return
        middle = (mark.top[rows] + mark.bottom[rows]) / 2
        source = self._models.ColumnDataSource({"x": x[rows], "y": middle, "text": texts, "ink": ink})
        self.figure.text(
            "x", "y", text="text", source=source, text_color="ink", text_font_size="11px", x_offset=4,
            text_baseline="middle",
        )  # fmt: skip

    def _area(self, mark: Area) -> None:

        x = np.repeat(mark.edges, 2)[1:-1]
        low, high = np.repeat(mark.low, 2), np.repeat(mark.high, 2)
        source = self._models.ColumnDataSource({"x": x, "low": low, "high": high})
        self.figure.varea("x", "low", "high", source=source, fill_color=css(mark.color))

    def _line(self, mark: Line) -> None:
        self.figure.line(
            mark.x, mark.y, line_color=css(mark.color), line_width=mark.width,
            line_dash="dashed" if mark.dashed else "solid", name=_plain(mark.name) or None,
        )  # fmt: skip

    def _hover_lines(self) -> None:
        """All amounts at a moment, told by one row of invisible points for areas and lines together."""

        axis = self._plot.y
        if isinstance(axis, Rows):
            return
        for moments, named in _alike(self._plot.marks):
            there = np.flatnonzero(np.isfinite(np.column_stack([values for _, values in named])).any(axis=1))
            told = {
                f"fact{number}": [_amount(abs(value), axis.unit) for value in values[there].tolist()]
                for number, (_, values) in enumerate(named[:_MOST])
            }
            when = [_amount(at, "s") for at in moments[there].tolist()]
            middle = np.full(len(there), (axis.low + axis.high) / 2)
            source = self._models.ColumnDataSource({"x": moments[there], "y": middle, "when": when, **told})
            points = self.figure.scatter("x", "y", source=source, size=4, fill_alpha=0, line_alpha=0)
            facts = [
                ("At", "@when"),
                *((_plain(name), f"@fact{n}") for n, (name, _) in enumerate(named[:_MOST])),
            ]
            if len(named) > _MOST:
                facts.append((f"and {len(named) - _MOST} more", ""))
            self._hover([points], facts, along=True)

    def _hover(self, drawn: list[Any], facts: Sequence[tuple[str, str]], *, along: bool = False) -> None:

        more = {"mode": "vline"} if along else {"point_policy": "follow_mouse"}
        tool = self._models.HoverTool(renderers=drawn, tooltips=list(facts), visible=not along, **more)
        self.figure.add_tools(tool)


#: Most amounts that are told of one moment.
_MOST = 12


def _alike(marks: Sequence[Area | Line | Boxes]) -> list[tuple[np.ndarray, list[tuple[str, np.ndarray]]]]:
    """Areas and lines that have a name, with their amounts, put together by the moments that they are of."""
    found: list[tuple[np.ndarray, list[tuple[str, np.ndarray]]]] = []
    for mark in marks:
        if isinstance(mark, Boxes) or not mark.name:
            continue
        if isinstance(mark, Area):
            at, values = (mark.edges[1:] + mark.edges[:-1]) / 2, mark.high - mark.low
        else:
            at, values = mark.x, mark.y
        for moments, named in found:
            if np.array_equal(moments, at):
                named.append((mark.name, values))
                break
        else:
            found.append((at, [(mark.name, values)]))
    return found


def _fact(text: str) -> str:
    return clean(text)


def _thick(sign: Sign) -> float:
    return {"half": 4.0, "low": 2.0, "line": 2.0, "dashes": 1.0}.get(sign.shape, 1.0)


def _amount(value: float, unit: str) -> str:
    from .. import words

    if unit in ("s", "time"):
        return words.duration(value)
    if unit in ("bytes", "bytes/s"):
        return words.size(value) + unit.removeprefix("bytes")
    return f"{value:,.3g}" + (f"{words.SPACE}{unit}" if unit not in ("", "count") else "")


def _scale(axis: Any, of: Axis) -> None:
    """Marks that are round in their unit, at every zoom."""

    models = _bokeh("models")
    unit = of.unit
    if unit in ("bytes", "bytes/s"):
        axis.ticker = models.AdaptiveTicker(base=1024, mantissas=[1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
        axis.formatter = models.NumeralTickFormatter(format="0.[0] ib" + ("/s" if unit == "bytes/s" else ""))
    elif unit == "time" and of.high - of.low > 3600:
        axis.ticker = models.AdaptiveTicker(base=60, mantissas=[1, 2, 5, 10, 15, 30])
        axis.formatter = models.NumeralTickFormatter(format="00:00:00")
    elif unit in ("s", "time"):
        axis.formatter = models.PrintfTickFormatter(format="%g s")
    elif unit == "%":
        axis.formatter = models.PrintfTickFormatter(format="%g %%")
    elif unit == "count":
        axis.formatter = models.NumeralTickFormatter(format="0,0.[0]")


def _empty(chart: Chart, theme: Theme, wide: int | None, high: int | None) -> Any:
    """A figure that says why there is nothing."""

    models = _bokeh("models")
    made: Any = _bokeh("plotting").figure(
        x_range=models.Range1d(0, 1), y_range=models.Range1d(0, 1), height=high or 90,
        tools="", toolbar_location=None,
        **({"width": wide} if wide else {"sizing_mode": "stretch_width"}),
    )  # fmt: skip
    made.axis.visible = made.grid.visible = False
    made.outline_line_color = None
    made.background_fill_color = made.border_fill_color = css(theme.background)
    made.title.text = _plain(chart.title)
    made.title.text_color = css(theme.text)
    text = _plain(chart.empty)
    said = models.Label(x=8, y=20, x_units="screen", y_units="screen", text=text, text_color=css(theme.muted))
    said.text_font_size = "12px"
    made.add_layout(said)
    return made
