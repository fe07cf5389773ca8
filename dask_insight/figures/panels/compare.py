"""What differs between runs: time budgets on one scale, task names, memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...analysis.overview import short
from ..chart import Axis, Boxes, Chart, Group, Line, Plot, Rows, Sign
from ..colors import Rgb, oklch, slot_color
from ..request import Request
from . import bars
from .time_budget import part_color, part_words

#: Places of the palette for sides beyond the baseline, which is grey.
_SLOTS = (19, 4, 22, 1)
_KINDS = ("computing", "overhead", "idle")
_NAMES = 14


def chart(request: Request) -> Chart:
    """Sides as bars divided by their time budgets, task names by what their change costs, and memory."""
    recording = request.recording
    sides = recording.table("compared_sides")
    if not len(sides):
        return Chart("Compare", empty="This is no comparison: make one with `dask_insight.compare`.")
    names = [str(name) or f"side {number}" for number, name in zip(sides["side"], sides["name"], strict=True)]
    budget, signs = _budget(request, recording.table("compared_budget"), names, sides["seconds"].tolist())
    plots = [budget]
    changes = _changes(request, recording.table("compared_names"), names)
    if changes is not None:
        plots.append(changes)
    memory = _memory(request, recording.table("compared_memory"), names)
    if memory is not None:
        plots.append(memory)
    return Chart("Compare", plots, signs)


def side_color(side: int, request: Request) -> Rgb:
    """The baseline is grey."""
    if side == 0:
        return request.theme.grey(0.62, 0.24)
    return slot_color(_SLOTS[(side - 1) % len(_SLOTS)], dark=request.theme.dark)


def _budget(request: Request, table: Any, names: list[str], seconds: list[float]) -> tuple[Plot, list[Sign]]:
    kinds = dict(zip(table["part"].astype(str), table["kind"].astype(str), strict=True))
    order = sorted(kinds, key=lambda part: _KINDS.index(kinds[part]) if kinds[part] in _KINDS else 1)
    longest = max(seconds, default=0.0)
    made: list[bars.Bar] = []
    seen: set[str] = set()
    for side, name in enumerate(names):
        mine = table[table["side"] == side]
        wall = dict(zip(mine["part"].astype(str), mine["wall"].tolist(), strict=True))
        parts = [
            bars.Part(part_words(part, ""), wall[part], part_color(part, "", request))
            for part in order
            if wall.get(part, 0) > 0
        ]
        seen.update(part for part in order if wall.get(part, 0) > 0.003 * longest)
        change = "" if side == 0 else f" ({_signed(seconds[side] - seconds[0])})"
        made.append(bars.Bar(name, parts, words.duration(seconds[side]) + change))
    signs = [Sign(part_words(part, ""), part_color(part, "", request)) for part in order if part in seen]
    return bars.plot(made, "s", words.duration, title="Wall time by time budget", label="wall time"), signs


def _changes(request: Request, table: Any, names: list[str]) -> Plot | None:
    """What the change of each task name costs, or saves, on the threads of the side."""
    rows = table[(table["side"] > 0) & ~table["verdict"].astype(str).isin(("same", "none", "baseline"))]
    rows = rows[np.isfinite(rows["impact"].to_numpy("f8"))].head(_NAMES)
    if not len(rows):
        return None
    impact = rows["impact"].to_numpy("f8")
    dark = request.theme.dark
    more, less = oklch(0.6 if dark else 0.64, 0.2, 27), oklch(0.48 if dark else 0.7, 0.13, 255)
    top = np.arange(len(rows), dtype="f8")
    several = len(names) > 2
    labels = [
        f"{short(str(name), 40)}{f' ({names[side]})' if several else ''}" or "(no name)"
        for name, side in zip(rows["name"].astype(str), rows["side"], strict=True)
    ]
    verdicts = rows["verdict"].astype(str).tolist()
    said = [f"{_signed(value)} · {verdict}" for value, verdict in zip(impact.tolist(), verdicts, strict=True)]
    boxes = Boxes(
        np.minimum(impact, 0.0),
        np.maximum(impact, 0.0),
        top + 0.16,
        top + 0.84,
        (impact < 0).astype("i8"),
        [more, less],
        lambda: {
            "Task": labels,
            "Change": said,
            "Mean now": [words.duration(each) for each in rows["mean"].tolist()],
        },
        beside=said,
        least=1.0,
    )
    groups = [Group(number, number + 1, label) for number, label in enumerate(labels)]
    axis = Axis(
        "s", min(0.0, float(impact.min())), max(0.0, float(impact.max())), "wall time that the change costs"
    )
    rows_axis = Rows(len(rows), groups)
    return Plot(
        [boxes], axis, rows_axis, float(bars.ROW * len(rows)), "Task names that changed", room=bars.ROOM
    )


def _memory(request: Request, table: Any, names: list[str]) -> Plot | None:
    if not len(table) or not np.isfinite(table["process"].to_numpy("f8")).any():
        return None
    lines = []
    for (side, _), rows in table.groupby(["side", "run"]):
        color = side_color(int(side), request)
        lines.append(
            Line(rows["time"].to_numpy("f8"), rows["process"].to_numpy("f8"), color, names[int(side)], 1.5)
        )
    end = float(np.nanmax(table["time"]))
    most = float(np.nanmax(table["process"])) * 1.04
    signs = [Sign(name, side_color(side, request), "line") for side, name in enumerate(names)]
    x = Axis("time", 0.0, end or 1.0, "since the start of each run")
    return Plot(lines, x, Axis("bytes", 0.0, most, "memory of the workers' processes"), 120, "Memory", signs)


def _signed(value: float) -> str:
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return sign + words.duration(abs(value))
