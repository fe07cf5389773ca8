"""What ran where and when, a row a thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ... import words
from ...lookup import Lookup
from ...timeline import sizing_of
from ...words import short
from ..chart import Axis, Boxes, Chart, Group, Plot, Rows, Shape, Sign
from ..colors import FAILED, Rgb, mixed, reserved
from ..ran import STATUS, Pieces, Ran
from ..request import Request

NONE = "No task ran in what is shown."
#: What is told of workers that wrote nothing to disk.
_SIZING = "finding out sizes"
#: Dask's kind of each action, and the part of the row's height that it takes: a shape beside the colour.
_ACTIONS: dict[str, tuple[str, float]] = {
    "transfer": ("transfer", 0.45),
    "disk-read": ("disk", 0.3),
    "disk-write": ("disk", 0.3),
    "deserialize": ("deserialize", 0.16),
    "serialize": ("deserialize", 0.16),
    "compress": ("compress", 0.16),
    _SIZING: ("overhead", 0.16),
}
_SHAPES: dict[str, Shape] = {
    "transfer": "half",
    "disk": "half",
    "deserialize": "low",
    "compress": "low",
    "overhead": "low",
}
#: What kinds are called where that says more.
_WORDS = {"overhead": _SIZING}
#: Names in the legend.
_NAMES = 14
#: What there is at all is at least this much of its colour; steps up to the whole of it.
_LEAST, _SHADES = 0.18, 8


def chart(request: Request) -> Chart:
    """Attempts as boxes in the rows of their threads, with transfers, disk and failures over them."""
    ran = Ran(request)
    if not len(ran):
        return Chart("Task stream", empty=NONE)
    pieces = Pieces(ran.lane, ran.start, ran.stop, ran.name, ran.status, request.limit)
    failed = ran.status[pieces.first] > 0
    tasks = _boxes(request, ran, pieces, np.flatnonzero(~failed))
    around, kinds = _around(request, ran)
    failures = _failures(request, ran, pieces, np.flatnonzero(failed))
    marks = [each for each in (tasks, *around, failures) if each is not None and len(each.left)]
    height = float(np.clip(18 * len(ran.lanes), 60, 440))
    plot = Plot(marks, Axis("time", *request.between), rows_of(request, ran.lanes), height)
    signs, more = name_signs(request, ran)
    seen = [STATUS[code] for code in range(1, len(STATUS)) if (ran.status == code).any()]
    signs += [
        Sign(_WORDS.get(each, each), reserved(each, dark=request.theme.dark), _SHAPES[each]) for each in kinds
    ]
    signs += [Sign(each, failure_color(each, request), "outlined") for each in seen]
    return Chart("Task stream", [plot], signs, more, merging(pieces))


def merging(pieces: Pieces) -> str:
    """What was put together, in words."""
    if not (pieces.count > 1).any():
        return ""
    together = int(pieces.count[pieces.count > 1].sum())
    return (
        f"{words.count(together, 'task')} shorter than {words.duration(pieces.width)} are drawn together "
        "with their neighbours, in the colour of the name that took most; none is left out"
    )


def rows_of(request: Request, lanes: list[tuple[str, str]]) -> Rows:
    """A row a thread, grouped by worker."""
    groups: list[Group] = []
    for number, (worker, _) in enumerate(lanes):
        if not groups or lanes[number - 1][0] != worker:
            groups.append(Group(number, number + 1, request.title_of(worker)))
        else:
            groups[-1] = groups[-1]._replace(last=number + 1)
    within = thread_numbers(lanes) if len(groups) < len(lanes) else []
    return Rows(len(lanes), groups, within, parted=True)


def thread_numbers(lanes: list[tuple[str, str]]) -> list[str]:
    """How the threads of each worker are counted; those that are not known are ``?``."""
    made: list[str] = []
    number = 0
    for lane, (worker, thread) in enumerate(lanes):
        number = number + 1 if lane and lanes[lane - 1][0] == worker else 1
        made.append(str(number) if thread else "?")
    return made


def name_signs(request: Request, ran: Ran, most: int = _NAMES) -> tuple[list[Sign], int]:
    """The names that took most time, and how many more there are."""
    seconds = np.bincount(ran.name, ran.seconds, len(ran.names))
    there = np.bincount(ran.name, minlength=len(ran.names)) > 0
    order = [code for code in np.argsort(-seconds, kind="stable").tolist() if there[code]]
    signs = [Sign(ran.names[code] or "(no name)", request.colors[ran.names[code]]) for code in order[:most]]
    return signs, len(order) - len(signs)


def failure_color(status: str, request: Request) -> Rgb:
    """Failures are black, on dark too, where they are outlined."""
    dark: dict[str, Rgb] = {"erred": (0, 0, 0), "killed": (70, 20, 20), "retried": (60, 60, 66)}
    return dark[status] if request.theme.dark else FAILED[status]


def _boxes(request: Request, ran: Ran, pieces: Pieces, rows: np.ndarray) -> Boxes:
    first = pieces.first[rows]
    lane = ran.lane[first].astype("f8")
    # The less of its time a piece fills, the paler it is.
    shade = np.ceil(np.maximum(pieces.full[rows], _LEAST) * _SHADES).astype("i8")
    cell, place = np.unique(ran.name[first] * (_SHADES + 1) + shade, return_inverse=True)
    theme = request.theme
    colors = [
        mixed(
            theme.background, request.colors[ran.names[code // (_SHADES + 1)]], code % (_SHADES + 1) / _SHADES
        )
        for code in cell.tolist()
    ]
    alone = (pieces.count[rows] == 1).tolist()
    names = [name or "(no name)" for name in ran.names]
    return Boxes(
        pieces.left[rows],
        pieces.right[rows],
        lane + 0.04,
        lane + 0.96,
        place.reshape(-1),
        colors,
        told(request, ran, pieces, rows),
        [names[code] if one else "" for code, one in zip(ran.name[first].tolist(), alone, strict=True)],
    )


def told(
    request: Request, ran: Ran, pieces: Pieces, rows: np.ndarray
) -> Callable[[], Mapping[str, list[str]]]:
    """What is told of each piece, when somebody wants it."""

    def tell() -> dict[str, list[str]]:
        numbers = thread_numbers(ran.lanes)
        facts: dict[str, list[str]] = {
            name: [] for name in ("Task", "Key", "Took", "When", "Worker", "Ended")
        }
        for row in rows.tolist():
            entry, count = int(pieces.first[row]), int(pieces.count[row])
            worker, thread = ran.lanes[int(ran.lane[entry])][0], numbers[int(ran.lane[entry])]
            name = short(ran.names[int(ran.name[entry])]) or "(no name)"
            share = float(pieces.own[row]) / (float(pieces.seconds[row]) or 1.0)
            many = f"{words.count(count, 'task')}, {words.share(share)} of their time {name}"
            facts["Task"].append(name if count == 1 else many)
            facts["Key"].append(short(ran.key(entry), 80) if count == 1 else "(drawn together)")
            facts["Took"].append(
                words.duration(float(pieces.seconds[row])) + (" together" if count > 1 else "")
            )
            facts["When"].append(_when(float(pieces.left[row]), float(pieces.right[row])))
            facts["Worker"].append(f"{request.title_of(worker)}, thread {thread}")
            ended = STATUS[int(ran.status[entry])] or ("running" if ran.running[entry] else "ok")
            facts["Ended"].append(ended)
        return facts

    return tell


def _when(start: float, stop: float) -> str:
    return f"{start:.6g} to {stop:.6g}{words.SPACE}s"


def _failures(request: Request, ran: Ran, pieces: Pieces, rows: np.ndarray) -> Boxes:
    first = pieces.first[rows]
    lane = ran.lane[first].astype("f8")
    outline: Rgb | None = (235, 235, 235) if request.theme.dark else None
    return Boxes(
        pieces.left[rows],
        pieces.right[rows],
        lane + 0.04,
        lane + 0.96,
        ran.status[first] - 1,
        [failure_color(status, request) for status in STATUS[1:]],
        told(request, ran, pieces, rows),
        least=2.0,
        outline=outline,
    )


def _around(request: Request, ran: Ran) -> tuple[list[Boxes], list[str]]:
    """What happened around the computing, as boxes of less height; and its kinds."""
    phases: Any = request.columns("phases")
    entry = Lookup(ran.run).rows(phases["run"])
    # One more name stands for what Dask calls otherwise.
    names = [*phases["action"].names, _SIZING]
    sizes = sizing_of(request.columns, ran.run, ran.worker)
    codes = np.where(sizes, len(names) - 1, phases["action"].codes)
    known = np.array([name in _ACTIONS for name in names])[codes]
    low, high = request.between
    start, stop = phases["start"] - request.zero, phases["stop"] - request.zero
    rows = np.flatnonzero((entry >= 0) & known & (stop > start) & (stop > low) & (start < high))
    if not len(rows):
        return [], []
    action = codes[rows].astype("i8")
    lane, start, stop = ran.lane[entry[rows]], start[rows], stop[rows]
    pieces = Pieces(lane, start, stop, action, action, max(1000, request.limit // 2))
    kinds = [_ACTIONS.get(name, ("transfer", 0.45)) for name in names]
    what = action[pieces.first]
    # What is put together stands as high as it fills its time, or it would hide the tasks.
    part = np.array([share for _, share in kinds])[what] * np.maximum(pieces.full, 0.25)
    row = lane[pieces.first].astype("f8")

    def tell() -> dict[str, list[str]]:
        numbers = range(len(pieces))
        return {
            "What": [
                names[code] if count == 1 else f"{words.count(count)} × {names[code]}"
                for code, count in zip(what.tolist(), pieces.count.tolist(), strict=True)
            ],
            "Took": [words.duration(seconds) for seconds in pieces.seconds.tolist()],
            "When": [_when(float(pieces.left[each]), float(pieces.right[each])) for each in numbers],
            "Before": [
                short(ran.names[int(code)]) or "(no name)"
                for code in ran.name[entry[rows[pieces.first]]].tolist()
            ],
        }

    boxes = Boxes(
        pieces.left,
        pieces.right,
        row + 0.96 - part,
        row + 0.96,
        what,
        [reserved(kind, dark=request.theme.dark) for kind, _ in kinds],
        tell,
    )
    seen = {kinds[code][0] for code in np.unique(what).tolist()}
    return [boxes], [kind for kind in _SHAPES if kind in seen]
