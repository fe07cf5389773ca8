"""What kept the run from ending sooner, over time and by task name."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...timeline import UNNAMED
from ...words import short
from ..chart import Axis, Boxes, Chart, Group, Plot, Rows, Shape, Sign
from ..colors import Rgb, reserved
from ..request import Request
from . import bars

#: What steps go into, in words, and how high each stands: a shape beside the colour.
KINDS: dict[str, tuple[str, float]] = {
    "compute": ("computing", 1.0),
    "disk": ("disk", 0.55),
    "worker": ("worker around tasks", 0.3),
    "transfer": ("waiting for data", 0.55),
    "thread": ("waiting for a thread", 0.3),
    "scheduler": ("scheduler", 0.3),
    "client": ("client", 0.12),
}
_BECAUSE = {
    "input": "a task needed its result",
    "thread": "a task needed its thread",
    "submission": "the client asked for more after it",
    "retry": "another attempt followed",
    "end": "the end of the run",
}
#: Task names that have a bar of their own.
_NAMES = 12
_NO_TASK = "before the first task"


def chart(request: Request) -> Chart:
    """The path as a strip over time, and what it is made of by task name.

    Of several clusters, that with most work, or that of the first worker asked for.
    """
    title = "Critical path"
    path = request.recording.critical_path()
    clusters = path["cluster"].astype(str)
    if clusters.nunique() > 1:
        mine = clusters if request.workers is None else clusters[path["worker"].isin(request.workers)]
        path = path[clusters == next(iter(mine), clusters.iloc[0])]
        title += f", {path['cluster'].iloc[0] or UNNAMED}"
    low, high = request.between
    keep = (path["stop"] > low) & (path["start"] < high)
    if request.prefixes is not None:
        keep &= path["prefix"].isin(request.prefixes)
    if request.workers is not None:
        keep &= path["worker"].isin(request.workers)
    path = path[keep]
    path = path.assign(start=path["start"].clip(lower=low), stop=path["stop"].clip(upper=high))
    path["seconds"] = path["stop"] - path["start"]
    if not len(path):
        return Chart(title, empty="No task ended in what is shown, so there is no path.")
    seconds = path["seconds"].to_numpy("f8")
    whole = float(seconds.sum())
    sums = path.groupby(path["kind"].astype(str))["seconds"].sum().sort_values(ascending=False)
    signs = [
        Sign(f"{KINDS[kind][0]} {words.share(value / whole)}", kind_color(kind, request), _shape(kind))
        for kind, value in sums.items()
        if kind in KINDS and value > 0
    ]
    note = ""
    if len(path) > request.limit:
        longest = np.sort(np.argsort(-seconds, kind="stable")[: request.limit])
        note = f"the {words.count(request.limit)} longest of {words.count(len(path), 'stretch', 'stretches')}"
        strip = path.iloc[longest]
    else:
        strip = path
    return Chart(title, [_strip(strip, request, whole), _names(path, request)], signs, note=note)


def _strip(path: Any, request: Request, whole: float) -> Plot:
    kinds = path["kind"].astype(str).tolist()
    names = path["prefix"].astype(str).tolist()
    colors = [
        request.colors.get(name, kind_color(kind, request))
        if kind == "compute" and name
        else kind_color(kind, request)
        for kind, name in zip(kinds, names, strict=True)
    ]
    palette = list(dict.fromkeys(colors))
    place = {color: number for number, color in enumerate(palette)}
    high = np.array([KINDS.get(kind, ("", 0.3))[1] for kind in kinds])

    def tell() -> dict[str, list[str]]:
        return {
            "What": [KINDS.get(kind, (kind, 0))[0] for kind in kinds],
            "Task": [short(name) or _NO_TASK for name in names],
            "Key": [short(key, 80) for key in path["key"].astype(str).tolist()],
            "Took": [words.duration(each) for each in path["seconds"].tolist()],
            "Worker": [
                request.title_of(each) if each else "" for each in path["worker"].astype(str).tolist()
            ],
            "Then": [_BECAUSE.get(each, each) for each in path["because"].astype(str).tolist()],
        }

    boxes = Boxes(
        path["start"].to_numpy("f8"),
        path["stop"].to_numpy("f8"),
        1.0 - high,
        np.ones(len(high)),
        np.array([place[color] for color in colors], "i8"),
        palette,
        tell,
        [name if kind == "compute" else "" for kind, name in zip(kinds, names, strict=True)],
    )
    rows = Rows(1, [Group(0, 1, words.duration(whole))])
    return Plot([boxes], Axis("time", *request.between), rows, 30)


def _names(path: Any, request: Request) -> Plot:
    sums = path.assign(prefix=path["prefix"].astype(str), kind=path["kind"].astype(str)).pivot_table(
        index="prefix", columns="kind", values="seconds", aggfunc="sum", fill_value=0.0
    )
    totals = sums.sum(axis=1).sort_values(ascending=False)
    whole = float(totals.sum())
    made = []
    for name, total in totals.items():
        parts = [
            bars.Part(
                KINDS[kind][0],
                float(sums.loc[name, kind]),
                request.colors.get(str(name), kind_color(kind, request))
                if kind == "compute"
                else kind_color(kind, request),
            )
            for kind in KINDS
            if kind in sums.columns and sums.loc[name, kind] > 0
        ]
        told = f"{words.duration(total)} · {words.share(total / whole)}"
        made.append(bars.Bar(str(name) or _NO_TASK, parts, told))
    shown = bars.fewer(made, _NAMES, request.theme.grey(0.3, 0.2), words.duration)
    return bars.plot(shown, "s", words.duration, title="By task name", label="seconds on the path")


def _shape(kind: str) -> Shape:
    share = KINDS[kind][1]
    return "box" if share == 1 else "half" if share > 0.5 else "low"


def kind_color(kind: str, request: Request) -> Rgb:
    """Colour of a kind; computing has those of its tasks, and this one where it stands for all of them."""
    theme = request.theme
    if kind in ("transfer", "disk"):
        return reserved(kind, dark=theme.dark)
    greys = {"compute": (0.9, 0.4), "scheduler": (0.86, 0.42), "thread": (0.42, 0.1)}
    return theme.grey(*greys.get(kind, (0.66, 0.22)))
