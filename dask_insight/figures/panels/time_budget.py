"""Where the time of all threads went: as one bar, and over time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import words
from ...analysis.time_budget.parts import CUSTOM
from ...lookup import distinct
from ...words import short
from ..chart import Area, Axis, Boxes, Chart, Group, Plot, Rows, Sign
from ..colors import Rgb, mixed, oklch, reserved, slot_color
from ..request import BINS, Request
from ..theme import Theme
from .activities import activity_color, activity_words

#: Parts in the order in which they are shown; users' activities come after `off-cpu`.
_ORDER = (
    *("cpu", "compute", "off-cpu", CUSTOM, "failed", "deserialize", "serialize", "disk", "overhead"),
    *("data", "processes", "inputs", "placement", "scheduler"),
    *("paused", "resources", "client", "joining", "leaving"),
)
#: Stretches of time are multiples of this, seconds: moments since the epoch are told apart so finely.
_GRAIN = 2.0**-20
#: A name that was waited for is a layer of its own from this share of all on; and at most so many are.
_LEAST, _MOST = 0.02, 4
#: Parts below this share are counted in the legend, and not named.
_NAMED = 0.005


class Layer(NamedTuple):
    """A part of the thread time as it is shown."""

    part: str
    #: The task name that was waited for; '' for all others together, and for other parts.
    name: str
    seconds: float
    #: Thread-seconds in each stretch of time.
    over_time: np.ndarray


def chart(request: Request) -> Chart:
    """All thread-seconds by what threads did or why they were idle."""
    title = "Time budget"
    low, high = request.between
    if not len(request.columns("attempts")["run"]) and not len(request.columns("running")["run"]):
        return Chart(title, empty="No task ran while this was recorded, so no thread had work.")
    layers, edges = _layers(request)
    whole = sum(layer.seconds for layer in layers)
    if not whole > 0:
        return Chart(title, empty="No worker's thread was there in what is shown.")
    others = any(layer.part == "inputs" and layer.name for layer in layers)
    labels = [part_words(layer.part, layer.name, others=others) for layer in layers]
    colors = [part_color(layer.part, layer.name, request) for layer in layers]
    signs = [
        Sign(f"{label} {words.share(layer.seconds / whole)}", color)
        for layer, label, color in zip(layers, labels, colors, strict=True)
        if layer.seconds >= _NAMED * whole
    ]
    bar = _bar(layers, labels, colors, whole)
    areas = []
    floor = np.zeros(len(edges) - 1)
    length = np.diff(edges)
    for layer, label, color in zip(layers, labels, colors, strict=True):
        top = floor + layer.over_time / length
        areas.append(Area(edges, floor, top, color, label))
        floor = top
    most = float(floor.max()) * 1.02
    over = Plot(areas, Axis("time", low, high), Axis("count", 0.0, most, "threads"), 90, "Threads")
    return Chart(title, [bar, over], signs, len(layers) - len(signs))


def _layers(request: Request) -> tuple[list[Layer], np.ndarray]:
    low, high = request.between
    every = max(1.0, np.ceil(request.span / BINS / _GRAIN)) * _GRAIN
    by = ["time", "function"] + (["worker"] if request.workers is not None else [])
    start, stop = (low, high) if request.bounded else (-np.inf, np.inf)
    table = request.recording.time_budget(start=start, stop=stop, by=by, every=every)
    begin, end = table.attrs["start"], table.attrs["stop"]
    keep = np.ones(len(table), bool)
    if request.workers is not None:
        keep &= table["worker"].isin(request.workers).to_numpy()
    if request.prefixes is not None:
        keep &= table["function"].isin(request.prefixes).to_numpy()
    part: Any = table["part"].cat
    name: Any = table["function"].cat
    wide = max(1, len(name.categories))
    seconds = np.where(keep, table["seconds"].to_numpy(), 0.0)
    place = np.rint((table["time"].to_numpy() - begin) / every).astype("i8")
    bins = max(1, int(place.max(initial=0)) + 1)
    code = part.codes.to_numpy().astype("i8") * wide + name.codes.to_numpy()
    known, cell = distinct(code, len(part.categories) * wide)
    sums = np.bincount(cell, seconds, len(known))
    ends = np.searchsorted(known, wide * np.arange(len(part.categories) + 1)).tolist()
    whole = float(seconds.sum())
    layers = []
    for number in sorted(range(len(part.categories)), key=lambda each: _place(part.categories[each])):
        first, last = ends[number : number + 2]
        mine = sums[first:last]
        rest = np.ones(len(mine), bool)
        if part.categories[number] == "inputs":
            order = np.argsort(-mine, kind="stable")[:_MOST].tolist()
            for each in order:
                waited = name.categories[known[first + each] % wide]
                if mine[each] >= _LEAST * whole and mine[each] > 0 and waited:
                    rows = cell == first + each
                    over = np.bincount(place[rows], seconds[rows], bins)
                    layers.append(Layer("inputs", waited, float(mine[each]), over))
                    rest[each] = False
        left = float(mine[rest].sum())
        if left > 0:
            rows = np.flatnonzero((cell >= first) & (cell < last))
            rows = rows[rest[cell[rows] - first]]
            over = np.bincount(place[rows], seconds[rows], bins)
            layers.append(Layer(part.categories[number], "", left, over))
    edges = begin + every * np.arange(bins + 1)
    edges[-1] = max(min(edges[-1], end), edges[-2] + 1e-9)
    return layers, edges


def _bar(layers: list[Layer], labels: list[str], colors: list[Rgb], whole: float) -> Plot:
    ends = np.cumsum([0.0, *(100 * layer.seconds / whole for layer in layers)])
    count = len(layers)

    def tell() -> dict[str, list[str]]:
        return {
            "What": labels,
            "Thread time": [
                f"{words.duration(layer.seconds)} ({words.share(layer.seconds / whole)})" for layer in layers
            ],
        }

    row = np.zeros(count)
    boxes = Boxes(ends[:-1], ends[1:], row + 0.05, row + 0.95, np.arange(count), colors, tell)
    rows = Rows(1, [Group(0, 1, words.duration(whole) + " of threads")])
    return Plot([boxes], Axis("%", 0.0, 100.0, "share of all thread time"), rows, 22)


def _place(part: str) -> int:
    known = CUSTOM if part.startswith(CUSTOM) else part
    # A part that a later version has added comes before idle time, as work that is not known.
    return _ORDER.index(known if known in _ORDER else "overhead")


def part_words(part: str, name: str, *, others: bool = False) -> str:
    """A part in the words of the sentence at the top of a report."""
    if part == "inputs":
        return f"waiting for {short(name, 40) or ('other tasks' if others else 'tasks')}"
    return words.PARTS.get(part) or short(activity_words(part.removeprefix(CUSTOM)), 40) or "(no name)"


def part_color(part: str, name: str, request: Request) -> Rgb:
    """Work has strong colours, Dask's own where it has one; idle time is pale."""
    theme = request.theme
    dark = theme.dark
    off = activity_color("thread-noncpu", theme)
    fixed: dict[str, Rgb] = {
        "cpu": slot_color(19, dark=dark),
        # On a CPU or off it: nobody knows.
        "compute": mixed(slot_color(19, dark=dark), off, 0.5),
        "off-cpu": off,
        "failed": activity_color("failed", theme),
        "deserialize": reserved("deserialize", dark=dark),
        "serialize": reserved("compress", dark=dark),
        "overhead": reserved("overhead", dark=dark),
        "disk": reserved("disk", dark=dark),
        "data": reserved("transfer", dark=dark),
        "processes": reserved("transfer", dark=dark),
        "placement": theme.wash(oklch(0.8 if dark else 0.66, 0.13, 62)),
        "scheduler": theme.wash(oklch(0.72 if dark else 0.58, 0.15, 8)),
        "paused": oklch(0.62 if dark else 0.72, 0.16, 40),
        "resources": theme.wash(oklch(0.76 if dark else 0.62, 0.14, 34)),
        "client": _grey(theme, 0),
        "joining": _grey(theme, 1),
        "leaving": _grey(theme, 3),
    }
    if part == "inputs":
        return theme.wash(request.colors[name]) if name in request.colors and name else _grey(theme, 2)
    activity = part.removeprefix(CUSTOM) if part.startswith(CUSTOM) else "executor"
    return fixed.get(part) or activity_color(activity, theme)


def _grey(theme: Theme, step: int) -> Rgb:
    return theme.grey((0.17, 0.27, 0.37, 0.6)[step], (0.03, 0.06, 0.1, 0.2)[step])
