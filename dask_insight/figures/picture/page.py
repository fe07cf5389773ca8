"""Charts laid out on a page: headings, legends, plots, axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from ..chart import Axis, Boxes, Chart, Plot, Rows, Sign
from ..texts import fitted, lines, width
from ..theme import Theme
from ..ticks import Tick, amount_ticks, time_ticks, upright_ticks
from .marks import SMALL, Box, draw_marks, fill, x_of, y_of
from .pen import Pen

#: Free space around everything, and right of plots.
_SIDE, _MARGIN = 16, 10
#: Room left of plots over time, so that all of them line up; less in narrow pictures.
_GUTTER, _NARROW, _NARROW_GUTTER = 128, 560, 72
_HEAD, _LINE, _AXIS, _GAP, _FOOT, _SECTION = 34, 18, 24, 12, 22, 20
#: Most lines of a legend.
_LINES = 3
_TITLE, _TEXT = 14, 12

_Pen = TypeVar("_Pen", bound=Pen)


class Words(NamedTuple):
    """What stands around the charts."""

    title: str
    caption: str
    source: str


class Page:
    """One or more charts under one another.

    Parameters
    ----------
    charts
        What is shown; of several, each has its own heading.
    words
        Title, caption and source.
    theme
        Colours.
    wide, high
        Size in pixels; without a height, what suits the charts.
    """

    def __init__(
        self, charts: Sequence[Chart], words: Words, theme: Theme, wide: float, high: float | None = None
    ) -> None:
        self._charts, self._words, self._theme = charts, words, theme
        self.width = float(wide)
        self._inner = self.width - 2 * _SIDE
        # Then names of rows stand over their plots.
        self._narrow = wide < _NARROW
        self._gutter = _NARROW_GUTTER if self._narrow else _GUTTER
        self._stretch = 1.0
        natural = self._measure()
        if high is not None:
            plots = sum(plot.height for chart in charts for plot in chart.plots)
            self._stretch = max(0.3, (high - natural + plots) / plots) if plots else 1.0
        self.height = float(high) if high is not None and self._measure() <= high + 1 else self._measure()

    def draw(self, make: Callable[[float, float], _Pen]) -> _Pen:
        """Draw everything with a pen of this width and height."""
        pen = make(self.width, self.height)
        y = self._heading(pen)
        for chart in self._charts:
            y = self._chart(pen, chart, y)
        foot = " · ".join(part for part in (pen.note(), *self._notes(), self._words.source) if part)
        text = fitted(foot, self._inner, SMALL)
        pen.text(_SIDE, self.height - _FOOT / 2 - 2, text, self._theme.muted, size=SMALL)
        return pen

    def _notes(self) -> list[str]:
        return [chart.note for chart in self._charts if chart.note and len(self._charts) == 1]

    def _measure(self) -> float:
        y = self._head()
        for chart in self._charts:
            y += self._tall(chart)
        return y + _FOOT + 6

    def _tall(self, chart: Chart) -> float:
        y = float(_SECTION + 4 if len(self._charts) > 1 else 0)
        if chart.empty:
            return y + 2 * _LINE
        y += len(self._legend(chart)) * _LINE + (8 if chart.signs else 6)
        for number, plot in enumerate(chart.plots):
            y += plot.height * self._stretch + self._above(plot) + self._below(chart, number)
        return y + _GAP

    def _title(self) -> list[str]:
        # Bold text is wider.
        return lines(self._words.title, self._inner / 1.12, _TITLE, 4 if self._narrow else 2)

    def _head(self) -> float:
        return float(_HEAD + 20 * (len(self._title()) - 1) + (_LINE if self._words.caption else 0))

    def _heading(self, pen: Pen) -> float:
        y = _HEAD / 2 + 3
        for line in self._title():
            pen.text(_SIDE, y, line, self._theme.text, size=_TITLE, bold=True)
            y += 20
        if self._words.caption:
            text = fitted(self._words.caption, self._inner, _TEXT)
            pen.text(_SIDE, y, text, self._theme.muted, size=_TEXT)
        return self._head()

    def _chart(self, pen: Pen, chart: Chart, y: float) -> float:
        end = y + self._tall(chart)
        theme = self._theme
        if len(self._charts) > 1:
            fill(pen, Box(_SIDE, y, self._inner, 1), theme.grid)
            pen.text(_SIDE, y + 14, chart.title, theme.text, size=13, bold=True)
            if chart.note:
                room = self._inner - width(chart.title, 15) - 12
                text = fitted(chart.note, room, SMALL)
                pen.text(self.width - _SIDE, y + 14, text, theme.muted, size=SMALL, anchor="end")
            y += _SECTION + 4
        if chart.empty:
            pen.text(_SIDE, y + _LINE, fitted(chart.empty, self._inner, _TEXT), theme.muted, size=_TEXT)
            return end
        for line in self._legend(chart):
            for x, sign in line:
                self._sign(pen, sign, _SIDE + x, y + _LINE / 2)
            y += _LINE
        y += 8 if chart.signs else 6
        for number, plot in enumerate(chart.plots):
            y += self._above(plot)
            box = self._box(chart, plot, y)
            self._plot(pen, plot, box)
            y += box.height
            below = self._below(chart, number)
            if below > _GAP:
                self._marks(pen, plot, box)
            y += below
        return end

    # Legends

    def _legend(self, chart: Chart) -> list[list[tuple[float, Sign]]]:
        """Signs in lines, each with its place from the left; of too many, names are left out first."""
        signs = list(chart.signs)
        if not signs:
            return []
        while True:
            more = chart.more + len(chart.signs) - len(signs)
            rest = [Sign(f"{more:,} more", self._theme.background)] if more else []
            made = self._placed([*signs, *rest])
            if len(made) <= _LINES or len(signs) == 1:
                if rest:
                    # Nothing stands before these words.
                    x, sign = made[-1][-1]
                    made[-1][-1] = (x - 14, sign)
                return made
            names = [place for place, sign in enumerate(signs) if sign.shape == "box"]
            signs.pop(names[-1] if names else -1)

    def _placed(self, signs: Sequence[Sign]) -> list[list[tuple[float, Sign]]]:
        made: list[list[tuple[float, Sign]]] = [[]]
        x = 0.0
        for sign in signs:
            label = fitted(sign.label, min(260.0, self._inner - 20), _TEXT)
            room = 14 + width(label, _TEXT)
            if x > 0 and x + room > self._inner:
                made.append([])
                x = 0.0
            made[-1].append((x, sign._replace(label=label)))
            x += room + 16
        return made

    def _sign(self, pen: Pen, sign: Sign, x: float, y: float) -> None:
        shape = sign.shape
        if shape == "outlined" and self._theme.dark:
            fill(pen, Box(x - 1, y - 6, 11, 11), (235, 235, 235))
        if shape == "dashes":
            for at in (0, 5):
                fill(pen, Box(x + at, y - 1, 4, 1), sign.color)
        else:
            top, high = {"half": (0, 4), "low": (2, 2), "line": (-1, 2)}.get(shape, (-5, 9))
            fill(pen, Box(x, y + top, 9, high), sign.color)
        pen.text(x + 14, y, sign.label, self._theme.muted, size=_TEXT)

    # Plots

    def _above(self, plot: Plot) -> float:
        """Room for a title that stands over its plot."""
        over = isinstance(plot.y, Rows) or self._narrow
        return float(_LINE) if plot.title and over else 0.0

    def _below(self, chart: Chart, number: int) -> float:
        """Room under a plot: for its axis where the next one has another, and to the next one."""
        plot = chart.plots[number]
        if plot.room and plot.x.unit != "time":
            return float(_GAP)
        following = chart.plots[number + 1].x if number + 1 < len(chart.plots) else None
        if following == plot.x:
            return float(_GAP)
        if isinstance(plot.y, Rows) and plot.x.unit == "%":
            return float(_GAP)
        return float(_AXIS + (_GAP if following is not None else 0))

    def _box(self, chart: Chart, plot: Plot, y: float) -> Box:
        left, right = float(self._gutter), float(_MARGIN)
        if plot.room:
            # Those under one another line up.
            alike = [each for each in chart.plots if each.room and isinstance(each.y, Rows)]
            groups = [group for each in alike if isinstance(each.y, Rows) for group in each.y.groups]
            widest = max((width(group.label, _TEXT) for group in groups), default=0.0)
            least = left if plot.x.unit == "time" else 60.0
            left = float(np.clip(widest + 12, least, max(least, plot.room * self._inner)))
            beside = [
                text
                for each in alike
                for mark in each.marks
                if isinstance(mark, Boxes)
                for text in mark.beside
            ]
            told = max((width(text, SMALL) for text in beside), default=0.0)
            right = min(told + 14, self._inner - left - 60) if told else right
        elif isinstance(plot.y, Rows) and not plot.y.groups:
            left, right = 0.0, 0.0
        return Box(_SIDE + left, y, self._inner - left - right, plot.height * self._stretch)

    def _plot(self, pen: Pen, plot: Plot, box: Box) -> None:
        theme = self._theme
        if plot.x.unit == "time":
            for tick in self._ticks(plot.x, box.width):
                fill(pen, Box(x_of(plot.x, box, tick.value), box.y, 1, box.height), theme.grid)
        if isinstance(plot.y, Rows):
            self._rows(pen, plot, plot.y, box)
        else:
            self._amounts(pen, plot, plot.y, box)
        draw_marks(pen, plot, box, theme.muted, self.width - _SIDE)

    def _ticks(self, axis: Axis, room: float) -> list[Tick]:
        most = int(room / 90)
        if axis.unit == "time":
            # Fewer do not tell how time runs, however narrow the picture is.
            return time_ticks(axis.low, axis.high, max(4, most))
        most = max(2, most)
        return amount_ticks(axis.low, axis.high, most, axis.unit)

    def _marks(self, pen: Pen, plot: Plot, box: Box) -> None:
        """The axis under a plot, with what it counts at its end."""
        free = -np.inf
        bottom = box.y + box.height
        for tick in self._ticks(plot.x, box.width):
            x = x_of(plot.x, box, tick.value)
            fill(pen, Box(x, bottom, 1, 4), self._theme.faint)
            wide = width(tick.label, SMALL)
            left = float(np.clip(x - wide / 2, _SIDE, self.width - _SIDE - wide))
            if left > free:
                pen.text(left, bottom + 13, tick.label, self._theme.muted, size=SMALL)
                free = left + wide + 8

    def _rows(self, pen: Pen, plot: Plot, rows: Rows, box: Box) -> None:
        theme = self._theme
        high = box.height / max(1, rows.count)
        if plot.title:
            pen.text(_SIDE, box.y - _LINE / 2, plot.title, theme.muted, size=_TEXT)
        with_threads = high >= 13 and box.x - _SIDE > 90 and bool(rows.within)
        free = -np.inf
        for group in rows.groups:
            top, bottom = box.y + group.first * high, box.y + group.last * high
            many = group.last - group.first > 1
            if rows.parted and group.first > 0 and (bottom - top >= 4 or len(rows.groups) < 60):
                fill(pen, Box(_SIDE, top, box.x + box.width - _SIDE, 1), theme.grid)
            y = top + max(8.0, high / 2) if many and bottom - top > 36 else (top + bottom) / 2
            room = box.x - _SIDE - 10 - (26 if with_threads and many else 0)
            size = _TEXT if plot.room else SMALL
            if y - 6 >= free:
                color = theme.text if plot.room else theme.muted
                pen.text(_SIDE, y, fitted(group.label, room, size), color, size=size)
                free = y + 6
        if with_threads:
            for number, name in enumerate(rows.within):
                y = box.y + (number + 0.5) * high
                pen.text(box.x - 8, y, name, theme.muted, size=SMALL, anchor="end")

    def _amounts(self, pen: Pen, plot: Plot, axis: Axis, box: Box) -> None:
        theme = self._theme
        ticks = upright_ticks(axis.low, axis.high, box.height, axis.unit)
        free = np.inf
        for tick in ticks:
            y = y_of(axis, box, tick.value)
            fill(pen, Box(box.x, y, box.width, 1), theme.grid)
            shown = tick.label.removeprefix("\N{MINUS SIGN}")
            beside = width(plot.title, _TEXT) + width(shown, SMALL) + 14 < box.x - _SIDE
            if self._narrow or beside or y - box.y > 18:
                hidden = tick.value < 0 or (axis.low < 0 and tick.value == 0)
                if not hidden and y <= free:
                    free = y - 13
                    pen.text(box.x - 8, y, shown, theme.muted, size=SMALL, anchor="end")
        if self._narrow:
            self._title_over(pen, plot, box)
            return
        room = box.x - _SIDE - 6
        pen.text(_SIDE, box.y + 6, fitted(plot.title, room, _TEXT), theme.text, size=_TEXT)
        if plot.above:
            pen.text(_SIDE, box.y + 21, plot.above, theme.muted, size=SMALL)
            pen.text(_SIDE, box.y + box.height - 7, plot.below, theme.muted, size=SMALL)
        for number, sign in enumerate(plot.signs):
            y = box.y + 22 + 13 * number
            if y < box.y + box.height + 2:
                fill(pen, Box(_SIDE, y - 4, 7, 7), sign.color)
                text = fitted(sign.label, room - 40, SMALL)
                pen.text(_SIDE + 11, y, text, theme.muted, size=SMALL)

    def _title_over(self, pen: Pen, plot: Plot, box: Box) -> None:
        """Name of a row and its parts in one line over it."""
        y = box.y - _LINE / 2
        title = f"{plot.title}: {plot.above} up, {plot.below} down" if plot.above else plot.title
        pen.text(_SIDE, y, title, self._theme.text, size=_TEXT)
        x = _SIDE + width(title, _TEXT) + 14
        for sign in plot.signs:
            text = fitted(sign.label, self.width - _SIDE - x - 11, SMALL)
            if text:
                fill(pen, Box(x, y - 4, 7, 7), sign.color)
                pen.text(x + 11, y, text, self._theme.muted, size=SMALL)
                x += width(text, SMALL) + 25
