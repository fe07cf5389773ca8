"""Marks of a plot, drawn with a pen: boxes with their texts, areas, lines."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..chart import Area, Axis, Boxes, Line, Plot, Rows
from ..colors import DARK, Rgb, luminance
from ..texts import cut, fitted
from .pen import Pen

#: Size of the texts in and beside boxes, pixels.
SMALL = 11


class Box(NamedTuple):
    """A place on a page, pixels."""

    x: float
    y: float
    width: float
    height: float


def draw_marks(pen: Pen, plot: Plot, box: Box, ink: Rgb, end: float) -> None:
    """Draw a plot's marks in its place; texts beside boxes in a colour, and up to a place from the left.

    Names within boxes come last: what is drawn over a box must not cover half of its name.
    """
    placed = []
    for mark in plot.marks:
        if isinstance(mark, Boxes):
            placed.append((mark, _boxes(pen, plot, mark, box, ink, end)))
        elif isinstance(mark, Area):
            _area(pen, plot, mark, box)
        else:
            _line(pen, plot, mark, box)
    for mark, place in placed:
        _inside(pen, mark, *place)


def fill(pen: Pen, box: Box, color: tuple[int, int, int]) -> None:
    """Fill a place with a colour."""
    x, y, wide, high = (np.array([each], "f8") for each in box)
    pen.boxes(x, y, wide, high, color)


def x_of(axis: Axis, box: Box, value: Any) -> Any:
    """Where a value, or an array of them, stands from the left."""
    return box.x + (value - axis.low) / ((axis.high - axis.low) or 1.0) * box.width


def y_of(axis: Axis, box: Box, value: Any) -> Any:
    """Where a value, or an array of them, stands from above."""
    return box.y + box.height - (value - axis.low) / ((axis.high - axis.low) or 1.0) * box.height


def _boxes(
    pen: Pen, plot: Plot, mark: Boxes, box: Box, ink: Rgb, end: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw boxes and what stands beside them; returns where they are: left, right, top, height."""
    assert isinstance(plot.y, Rows)
    high = box.height / max(1, plot.y.count)
    left = np.clip(x_of(plot.x, box, mark.left), box.x, box.x + box.width)
    right = np.clip(x_of(plot.x, box, mark.right), box.x, box.x + box.width)
    top, tall = box.y + mark.top * high, (mark.bottom - mark.top) * high
    wide = _wide_enough(left, right, mark)
    for color in np.unique(mark.color).tolist():
        rows = np.flatnonzero(mark.color == color)
        if mark.outline is not None:
            pen.boxes(left[rows] - 1, top[rows] - 1, wide[rows] + 2, tall[rows] + 2, mark.outline)
        pen.boxes(left[rows], top[rows], wide[rows], tall[rows], mark.colors[color])
    for number, text in enumerate(mark.beside):
        if text:
            room = end - float(right[number]) - 6
            y = float(top[number] + tall[number] / 2)
            x = float(left[number] + wide[number]) + 6
            pen.text(x, y, fitted(text, room, SMALL), ink, size=SMALL)
    return left, right, top, tall


def _inside(
    pen: Pen, mark: Boxes, left: np.ndarray, right: np.ndarray, top: np.ndarray, tall: np.ndarray
) -> None:
    """Names where they fit."""
    if not mark.inside:
        return
    for row in np.flatnonzero((right - left > 30) & (tall >= 11)).tolist():
        text = cut(mark.inside[row], float(right[row] - left[row]) - 8, SMALL)
        if text:
            light = luminance(mark.colors[int(mark.color[row])]) > DARK
            ink = (0, 0, 0) if light else (255, 255, 255)
            pen.text(float(left[row]) + 3, float(top[row] + tall[row] / 2), text, ink, size=SMALL)


def _wide_enough(left: np.ndarray, right: np.ndarray, mark: Boxes) -> np.ndarray:
    """Widths; of narrow ones as much as can be seen, as far as there is room before the next one."""
    wide: np.ndarray = right - left
    if mark.beside:
        wide[wide > 0] = np.maximum(wide[wide > 0], mark.least)
        return wide
    if mark.least >= 1:
        return np.asarray(np.maximum(wide, mark.least))
    order = np.lexsort((left, mark.top))
    room = np.full(len(left), np.inf)
    same = mark.top[order][1:] == mark.top[order][:-1]
    room[order[:-1]] = np.where(same, left[order][1:] - left[order][:-1], np.inf)
    return np.asarray(np.maximum(wide, np.minimum(mark.least, np.maximum(room, 0.0))))


def _area(pen: Pen, plot: Plot, mark: Area, box: Box) -> None:
    assert isinstance(plot.y, Axis)
    x = np.clip(x_of(plot.x, box, mark.edges), box.x, box.x + box.width)
    # What is thinner than a hundredth of a pixel is nothing; NaN is no more than that either.
    there = (mark.high - mark.low) * box.height > 0.01 * (plot.y.high - plot.y.low)
    ends = np.flatnonzero(np.diff(np.concatenate(([False], there, [False])).astype("i1")))
    for first, last in ends.reshape(-1, 2).tolist():
        along = np.repeat(x[first : last + 1], 2)[1:-1]
        top, low = (np.repeat(y_of(plot.y, box, side[first:last]), 2) for side in (mark.high, mark.low))
        upper, lower = _corners(along, top), _corners(along, low)
        points = np.vstack((upper, lower[::-1]))
        pen.polygon(points[:, 0], points[:, 1], mark.color)


def _corners(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Points of a line without those between two others on one straight stretch."""
    level = np.abs(np.diff(y)) < 0.005
    kept = np.ones(len(x), bool)
    kept[1:-1] = ~(level[:-1] & level[1:])
    return np.column_stack((x, y))[kept]


def _line(pen: Pen, plot: Plot, mark: Line, box: Box) -> None:
    assert isinstance(plot.y, Axis)
    x, y = x_of(plot.x, box, mark.x), y_of(plot.y, box, mark.y)
    known = np.isfinite(x) & np.isfinite(y)
    ends = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype("i1")))
    for first, last in ends.reshape(-1, 2).tolist():
        if last - first > 1:
            pen.line(x[first:last], y[first:last], mark.color, width=mark.width, dashed=mark.dashed)
