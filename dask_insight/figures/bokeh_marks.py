"""Marks of a chart in Bokeh: boxes and their texts, areas, lines; and what the mouse tells of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .. import words
from .chart import Area, Boxes, Line, Plot, Rows
from .colors import DARK, css, luminance
from .texts import clean, cut, fitted, width
from .theme import Theme

#: Room left of plots over time, so that figures line up, and most room for names left of bars, pixels.
LEFT, NAMES = 100, 170.0
#: Names that would take more of the width than this stand beside their bars.
LONG = 0.4
#: Most amounts that are told of one moment.
_MOST = 12


def bokeh(module: str) -> Any:
    """A part of Bokeh, imported when it is used."""
    return import_module(f"bokeh.{module}")


def plain(text: str) -> str:
    """Text that Bokeh does not take for mathematics."""
    gap = "\N{WORD JOINER}"
    return re.sub(r"\$(?=\$)|\\(?=[(\[])", rf"\g<0>{gap}", clean(text))


class Marks:
    """Draws the marks of a plot in a figure, which is about so many pixels wide."""

    def __init__(self, figure: Any, plot: Plot, theme: Theme, wide: int) -> None:
        self._figure, self._plot, self._theme, self._wide = figure, plot, theme, wide
        self._models = bokeh("models")

    def draw(self) -> None:
        """Draw them all."""
        for mark in self._plot.marks:
            if isinstance(mark, Boxes):
                self._boxes(mark)
            elif isinstance(mark, Area):
                self._area(mark)
            else:
                self._line(mark)
        self._hover_lines()

    def _boxes(self, mark: Boxes) -> None:

        if not len(mark.left):
            return
        palette = [css(color) for color in mark.colors]
        facts = {name: [clean(each) for each in values] for name, values in mark.facts().items()}
        columns: dict[str, Any] = {
            "left": mark.left,
            "right": mark.right,
            "top": mark.top,
            "bottom": mark.bottom,
            "color": [palette[code] for code in mark.color.tolist()],
            **{f"fact{number}": values for number, values in enumerate(facts.values())},
        }
        edge = css(mark.outline) if mark.outline else "color"
        drawn = self._figure.quad(
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
        taken = 0.0 if self._plot.room > LONG else NAMES if self._plot.room else LEFT
        pixels = (self._wide - 60 - taken) / ((x.high - x.low) or 1.0)
        rows, texts = [], []
        if mark.inside:
            room = (np.minimum(mark.right, x.high) - np.maximum(mark.left, x.low)) * pixels
            for row in np.flatnonzero(room > 34).tolist():
                if text := cut(mark.inside[row], float(room[row]) - 10, 11):
                    rows.append(row)
                    texts.append(plain(text))
            ink = [
                "#000000" if luminance(mark.colors[int(mark.color[row])]) > DARK else "#ffffff"
                for row in rows
            ]
            self._write(np.maximum(mark.left, x.low), mark, rows, texts, ink)
        if mark.beside:
            rows = [row for row, text in enumerate(mark.beside) if text]
            told = [plain(f"{mark.beside[row]}{self._name_beside(mark, row)}") for row in rows]
            self._write(
                np.maximum(mark.left, mark.right), mark, rows, told, [css(self._theme.muted)] * len(rows)
            )
            widest = max((width(text, 11) for text in told), default=0.0)
            # The longest text may stand beside the longest bar.
            share = min(0.7, (widest + 14) / (pixels * ((x.high - x.low) or 1.0)))
            self._figure.x_range.end = x.low + (x.high - x.low) / (1 - share)

    def _name_beside(self, mark: Boxes, row: int) -> str:
        """The name of a bar, where it is too long to stand left of it."""
        rows = self._plot.y
        if not isinstance(rows, Rows) or self._plot.room <= LONG:
            return ""
        return "   " + fitted(rows.groups[int(mark.top[row])].label, 0.6 * self._wide, 11)

    def _write(self, x: np.ndarray, mark: Boxes, rows: list[int], texts: list[str], ink: list[str]) -> None:

        if not rows:
            return
        middle = (mark.top[rows] + mark.bottom[rows]) / 2
        source = self._models.ColumnDataSource({"x": x[rows], "y": middle, "text": texts, "ink": ink})
        self._figure.text(
            "x", "y", text="text", source=source, text_color="ink", text_font_size="11px", x_offset=4,
            text_baseline="middle",
        )  # fmt: skip

    def _area(self, mark: Area) -> None:
        """Each stretch without a gap by itself: Bokeh would join them."""
        known = np.isfinite(mark.low) & np.isfinite(mark.high)
        ends = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype("i1")))
        for first, last in ends.reshape(-1, 2).tolist():
            x = np.repeat(mark.edges[first : last + 1], 2)[1:-1]
            low, high = (np.repeat(side[first:last], 2) for side in (mark.low, mark.high))
            source = self._models.ColumnDataSource({"x": x, "low": low, "high": high})
            self._figure.varea("x", "low", "high", source=source, fill_color=css(mark.color))

    def _line(self, mark: Line) -> None:
        self._figure.line(
            mark.x, mark.y, line_color=css(mark.color), line_width=mark.width,
            line_dash="dashed" if mark.dashed else "solid", name=plain(mark.name) or None,
        )  # fmt: skip

    def _hover_lines(self) -> None:
        """All amounts at a moment, told by one row of invisible points for areas and lines together."""

        axis = self._plot.y
        if isinstance(axis, Rows):
            return
        for moments, every in _alike(self._plot.marks):
            # Those that matter most, in the order in which they are drawn.
            most = sorted(range(len(every)), key=lambda each: -float(np.nansum(np.abs(every[each][1]))))[
                :_MOST
            ]
            named = [every[each] for each in sorted(most)]
            there = np.flatnonzero(np.isfinite(np.column_stack([values for _, values in named])).any(axis=1))
            told = {
                f"fact{number}": [_amount(abs(value), axis.unit) for value in values[there].tolist()]
                for number, (_, values) in enumerate(named)
            }
            when = [_amount(at, "s") for at in moments[there].tolist()]
            middle = np.full(len(there), (axis.low + axis.high) / 2)
            source = self._models.ColumnDataSource({"x": moments[there], "y": middle, "when": when, **told})
            points = self._figure.scatter("x", "y", source=source, size=4, fill_alpha=0, line_alpha=0)
            facts = [
                ("At", "@when"),
                *((plain(name), f"@fact{n}") for n, (name, _) in enumerate(named)),
            ]
            if len(every) > len(named):
                facts.append((f"and {len(every) - len(named)} more", ""))
            self._hover([points], facts, along=True)

    def _hover(self, drawn: list[Any], facts: Sequence[tuple[str, str]], *, along: bool = False) -> None:

        hover = self._models.HoverTool
        # Of so many tools, the toolbar shows those for boxes. Bokeh has another name for it since 3.4.
        more: dict[str, Any] = {"visible" if "visible" in hover.properties() else "toggleable": not along}
        more |= {"mode": "vline"} if along else {"point_policy": "follow_mouse"}
        tool = hover(renderers=drawn, tooltips=list(facts), **more)
        self._figure.add_tools(tool)


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


def _amount(value: float, unit: str) -> str:
    if unit in ("s", "time"):
        return words.duration(value)
    if unit in ("bytes", "bytes/s"):
        return words.size(value) + unit.removeprefix("bytes")
    return words.about(value, digits=3) + (f"{words.SPACE}{unit}" if unit not in ("", "count") else "")
