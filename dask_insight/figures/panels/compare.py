"""What differs between runs: time budgets on one scale, task names, memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ... import words
from ...lookup import ratio
from ...words import short
from ..chart import Axis, Boxes, Chart, Group, Line, Plot, Rows, Sign
from ..colors import Rgb, oklch, slot_color
from ..request import Request
from . import bars
from .flame_graph import ROW, side_by_side
from .time_budget import part_color, part_words

#: Places of the palette for sides beyond the baseline, which is grey.
_SLOTS = (19, 4, 22, 1)
_KINDS = ("computing", "overhead", "idle")
_NAMES = 14
#: Steps from no change to the strongest; rows of the call stacks.
_STEPS, _DEEPEST = 8, 24


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
    stacks = _stacks(request, recording.table("compared_stacks"), names)
    if stacks is not None:
        plots.append(stacks)
    told = [str(text) for text in sides["text"] if text]
    # The sentence that answers; what follows it explains.
    note = re.split(r"\. (?=[A-Z])", told[0])[0].rstrip(".") if told else ""
    return Chart("Compare", plots, signs, note=note)


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
        change = "" if side == 0 else f" ({words.signed(seconds[side] - seconds[0])})"
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
    both = zip(impact.tolist(), verdicts, strict=True)
    said = [f"{words.signed(value)} · {verdict}" for value, verdict in both]
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


def _stacks(request: Request, table: Any, names: list[str]) -> Plot | None:
    """Call stacks of the baseline and the first other side as one tree, coloured by what has changed."""
    nodes = table[table["side"] == 0].sort_values("node")
    after = table[table["side"] == 1].set_index("node")["total"].reindex(nodes["node"]).to_numpy("f8")
    if not len(nodes):
        return None
    before, after = nodes["total"].to_numpy("f8"), np.nan_to_num(after)
    place = {node: row for row, node in enumerate(nodes["node"].tolist())}
    parent = np.array([place.get(node, -1) for node in nodes["parent"].tolist()])
    wide, depth = _wide_as_either(parent, before, after)
    whole = float(wide[parent < 0].sum())
    kept = np.flatnonzero((wide >= whole / 2000) & (depth < _DEEPEST))
    if not whole > 0:
        return None
    left = side_by_side(parent, wide, kept)
    steps = _steps(
        before[kept], after[kept], max(float(before[parent < 0].sum()), float(after[parent < 0].sum()))
    )
    functions = nodes["function"].astype(str).to_numpy()[kept].tolist()

    def tell() -> dict[str, list[str]]:
        return {
            "Function": [short(name, 80) for name in functions],
            short(names[0], 30): [words.duration(each) for each in before[kept].tolist()],
            short(names[1], 30): [words.duration(each) for each in after[kept].tolist()],
            "Change": [words.signed(each) for each in (after - before)[kept].tolist()],
        }

    boxes = Boxes(
        left[kept],
        left[kept] + wide[kept],
        depth[kept] + 0.03,
        depth[kept] + 0.97,
        steps + _STEPS,
        [_change_color(step, request) for step in range(-_STEPS, _STEPS + 1)],
        tell,
        functions,
    )
    deepest = int(depth[kept].max()) + 1
    axis = Axis("s", 0.0, whole, "thread time in tasks, on the side that had more of it")
    title = f"Call stacks: red took more in {short(names[1], 30)}, blue less"
    return Plot([boxes], axis, Rows(deepest, []), float(ROW * deepest), title)


def _wide_as_either(
    parent: np.ndarray, before: np.ndarray, after: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Width of each node, as much as either side has of it and of what it called; and how deep it stands."""
    depth = np.zeros(len(parent), "i8")
    for row in range(len(parent)):
        # Callers come before what they call.
        depth[row] = depth[parent[row]] + 1 if parent[row] >= 0 else 0
    wide = np.maximum(before, after)
    inside = np.zeros(len(parent))
    for row in range(len(parent) - 1, -1, -1):
        wide[row] = max(wide[row], inside[row])
        if parent[row] >= 0:
            inside[parent[row]] += wide[row]
    return wide, depth


def _steps(before: np.ndarray, after: np.ndarray, whole: float) -> np.ndarray:
    """How strong each change is, from -8 (less) to 8 (more); of what hardly is there, none is."""
    change, most = after - before, np.maximum(before, after)
    matters = np.minimum(1.0, np.abs(change) / (0.02 * whole))
    part = ratio(2 * np.abs(change), most)
    return np.asarray(np.sign(change) * np.rint(_STEPS * np.minimum(1.0, part) * matters)).astype("i8")


def _change_color(step: int, request: Request) -> Rgb:
    """More is red and darkest on a light page, less is blue: told apart by lightness where hues are not."""
    dark = request.theme.dark
    neutral = 0.36 if dark else 0.91
    if step == 0:
        return oklch(neutral, 0.005, 250)
    end, chroma, hue = (0.52 if dark else 0.64, 0.2, 27) if step > 0 else (0.45 if dark else 0.76, 0.13, 255)
    size = abs(step) / _STEPS
    return oklch(neutral + size * (end - neutral), 0.02 + size * (chroma - 0.02), hue)
