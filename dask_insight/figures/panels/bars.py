"""Bars with names left and amounts right, divided into parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ... import words
from ..chart import Axis, Boxes, Group, Plot, Rows
from ..colors import Rgb

ROW = 22
#: Share of the width that names may take.
ROOM = 0.3


class Part(NamedTuple):
    """A part of a bar."""

    label: str
    value: float
    color: Rgb


class Bar(NamedTuple):
    """A bar; its parts stand one after the other, in their order."""

    label: str
    parts: Sequence[Part]
    #: What stands right of it.
    words: str


def plot(
    bars: Sequence[Bar],
    unit: str,
    say: Callable[[float], str],
    *,
    title: str = "",
    label: str = "",
    room: float = ROOM,
) -> Plot:
    """Bars under one another, from zero."""
    left: list[float] = []
    right: list[float] = []
    rows: list[int] = []
    colors: list[Rgb] = []
    told: dict[str, list[str]] = {"Name": [], "Part": [], "Amount": []}
    beside: list[str] = []
    for number, bar in enumerate(bars):
        at = 0.0
        whole = sum(max(0.0, part.value) for part in bar.parts)
        for place, part in enumerate(bar.parts):
            value = max(0.0, part.value)
            left.append(at)
            right.append(at + value)
            at += value
            rows.append(number)
            colors.append(part.color)
            told["Name"].append(bar.label)
            told["Part"].append(part.label)
            share = f" ({words.share(value / whole)})" if whole > 0 and len(bar.parts) > 1 else ""
            told["Amount"].append(say(value) + share)
            beside.append(bar.words if place == len(bar.parts) - 1 else "")
    palette = list(dict.fromkeys(colors))
    place_of = {color: place for place, color in enumerate(palette)}
    row = np.array(rows, "f8")
    facts: Mapping[str, Sequence[str]] = told
    boxes = Boxes(
        np.array(left, "f8"),
        np.array(right, "f8"),
        row + 0.16,
        row + 0.84,
        np.array([place_of[color] for color in colors], "i8"),
        palette,
        lambda: facts,
        beside=beside,
        least=1.0,
    )
    groups = [Group(number, number + 1, bar.label) for number, bar in enumerate(bars)]
    most = max((value for value in right), default=0.0) or 1.0
    return Plot(
        [boxes],
        Axis(unit, 0.0, most, label),
        Rows(len(bars), groups),
        float(ROW * len(bars)),
        title,
        room=room,
    )


def fewer(bars: Sequence[Bar], most: int, rest: Rgb, say: Callable[[float], str]) -> list[Bar]:
    """The first bars, and one for all others together."""
    if len(bars) <= most:
        return list(bars)
    others = bars[most - 1 :]
    value = sum(part.value for bar in others for part in bar.parts)
    return [*bars[: most - 1], Bar(f"{words.count(len(others))} more", [Part("", value, rest)], say(value))]
