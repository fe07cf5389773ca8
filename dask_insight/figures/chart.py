"""What a panel shows, in marks: worked out once, drawn by Bokeh or as a picture.

Positions along a time axis are seconds since the recording's start. Along an
axis of rows, row 0 is the uppermost and takes 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from .colors import Rgb

#: How high a sign of the legend stands, as what it stands for: whole, lower part, a line, dashes.
Shape = Literal["box", "half", "low", "line", "dashes", "outlined"]


class Sign(NamedTuple):
    """An entry of a legend."""

    label: str
    color: Rgb
    shape: Shape = "box"


@dataclass(frozen=True)
class Axis:
    """An axis of moments (unit ``'time'``) or of amounts: s, bytes, bytes/s, %, count or one's own."""

    unit: str
    low: float
    high: float
    #: What is measured, for a figure that stands alone.
    label: str = ""


class Group(NamedTuple):
    """Rows that belong together: from, to (exclusive), and their name."""

    first: float
    last: float
    label: str


@dataclass(frozen=True)
class Rows:
    """An axis of rows."""

    count: int
    groups: Sequence[Group]
    #: Names of single rows within groups, shown where there is room.
    within: Sequence[str] = ()
    #: Whether lines part the groups.
    parted: bool = False


@dataclass(frozen=True)
class Boxes:
    """Rectangles; all arrays have one entry for each."""

    left: np.ndarray
    right: np.ndarray
    top: np.ndarray
    bottom: np.ndarray
    #: Index into `colors`.
    color: np.ndarray
    colors: Sequence[Rgb]
    #: Gives what is told of each, by the words that name it.
    facts: Callable[[], Mapping[str, Sequence[str]]] = dict
    #: Texts that stand inside where they fit.
    inside: Sequence[str] = ()
    #: Texts that stand right of them.
    beside: Sequence[str] = ()
    #: Least width in pixels: more than a hair for what must be seen.
    least: float = 0.4
    outline: Rgb | None = None


@dataclass(frozen=True)
class Line:
    """Points joined in order; NaN parts them."""

    x: np.ndarray
    y: np.ndarray
    color: Rgb
    name: str = ""
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Area:
    """What lies between two amounts in each of the stretches that `edges` part; NaN where nothing does."""

    edges: np.ndarray
    low: np.ndarray
    high: np.ndarray
    color: Rgb
    name: str = ""


Mark = Boxes | Line | Area


@dataclass(frozen=True)
class Plot:
    """One drawing with its axes."""

    marks: Sequence[Mark]
    x: Axis
    y: Axis | Rows
    #: Height that suits it, pixels.
    height: float
    title: str = ""
    #: What its parts are, besides the legend of the whole.
    signs: Sequence[Sign] = ()
    #: What is above zero, and what below, where both are.
    above: str = ""
    below: str = ""
    #: Share of the width that names of rows may take, where they are long.
    room: float = 0.0


@dataclass(frozen=True)
class Chart:
    """What a panel shows: plots under one another."""

    title: str
    plots: Sequence[Plot] = ()
    signs: Sequence[Sign] = ()
    #: Names that the legend leaves out.
    more: int = 0
    #: What was put together so that it can be drawn, in words; '' if nothing was.
    note: str = ""
    #: Why there is nothing to show; '' if there is.
    empty: str = ""
