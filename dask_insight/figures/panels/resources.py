"""What the processes used over time, a plot a measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ... import words
from ...arguments import listed
from ...batch import Symbols
from ...lookup import is_any
from ..chart import Area, Axis, Chart, Line, Mark, Plot, Sign
from ..colors import Rgb, mixed, slot_color
from ..request import BINS, Request
from .series import Series, series, sharing_processes

#: From how many processes on their lines become a band, with the middle one.
_LINES = 8
#: Gauges of these names are bytes; most that are named to whoever asks for one that is not there.
_BYTES, _GAUGES = ("rmm.", "cudf.", "p2p."), 20
_NOTHING = "Nothing was sampled of these processes in what is shown."
#: A run may be shorter than the time from one sample to the next.
_SHORT = 'A short run is sampled more often with `resources="50ms"`, `--resources 50ms`.'


class Measure(NamedTuple):
    """A figure that is sampled of every process, or of every GPU."""

    title: str
    unit: str
    table: Literal["resources", "gpus", "gauges"]
    #: A line a process, which may go in steps; one up and one down; or layers over one another, summed.
    style: Literal["line", "steps", "mirror", "stack"]
    #: Columns with what they are called.
    columns: tuple[tuple[str, str], ...]
    #: Shown unless a person says otherwise.
    usual: bool = True
    scale: float = 1.0
    #: Whether the columns hold seconds since the sample before: divided by that time, they are threads.
    since: bool = False
    #: How far its axis reaches at least: an amount, or the column that tells it.
    whole: float | str = 0.0


MEASURES: dict[str, Measure] = {
    "cpu": Measure("CPU", "%", "resources", "line", (("cpu", "CPU"),)),
    "total-cpu": Measure("Total CPU", "%", "resources", "stack", (("cpu", "total"),), False),
    "tasks": Measure(
        "Tasks",
        "count",
        "resources",
        "stack",
        (("executing", "executing"), ("ready", "ready"), ("waiting", "waiting")),
    ),
    "network": Measure(
        "Network", "bytes/s", "resources", "mirror", (("net_read", "received"), ("net_write", "sent"))
    ),
    "disk": Measure(
        "Disk", "bytes/s", "resources", "mirror", (("disk_read", "read"), ("disk_write", "written"))
    ),
    "gpu": Measure("GPU", "%", "gpus", "line", (("utilization", "GPU"),), whole=100.0),
    "gpu-memory": Measure(
        "GPU memory", "bytes", "gpus", "line", (("memory", "GPU memory"),), whole="memory_total"
    ),
    "lag": Measure("Loop lag", "s", "resources", "line", (("lag", "event loop lag"),)),
    "gil": Measure("GIL", "%", "resources", "line", (("gil", "waiting for the GIL"),), False, 100.0),
    "gil-wait": Measure(
        "GIL wait",
        "",
        "resources",
        "line",
        (("gil_wait", "threads that wait for the GIL, at most"),),
        usual=False,
        since=True,
    ),
    "core-wait": Measure(
        "Core wait",
        "",
        "resources",
        "line",
        (("starved", "threads that wait for a free core"),),
        usual=False,
        since=True,
    ),
    "cpu-limit": Measure(
        "CPU limit", "%", "resources", "line", (("throttled", "periods that reached it"),), False, 100.0
    ),
    "memory": Measure("Memory", "bytes", "resources", "line", (("memory", "process memory"),), False),
    "host-cpu": Measure("Host CPU", "%", "resources", "line", (("host_cpu", "all programs"),), False),
    "host-memory": Measure(
        "Host memory left", "bytes", "resources", "line", (("host_free", "memory left"),), False
    ),
    "fds": Measure("Open files", "count", "resources", "line", (("fds", "file descriptors"),), False),
    "occupancy": Measure("Occupancy", "s", "resources", "line", (("occupancy", "expected work"),), False),
    "transfers": Measure(
        "Transfers",
        "count",
        "resources",
        "mirror",
        (("transfers_in", "incoming"), ("transfers_out", "outgoing")),
        False,
    ),
}


def chart(request: Request, measures: str | Sequence[str] = ()) -> Chart:
    """CPU, tasks, network, disk, GPUs and event loops of the workers."""
    asked = [_asked(name, request) for name in listed(measures)]
    wanted = asked or [measure for measure in MEASURES.values() if measure.usual]
    plots = [plot for measure in wanted if (plot := _plot(measure, request)) is not None]
    if not plots:
        return Chart("Resources", empty=_without(asked, request))
    return Chart("Resources", plots)


def _without(asked: list[Measure], request: Request) -> str:
    """Why there is nothing to draw."""
    if not _mine(request.columns("resources")["process"], request).any():
        return f"{_NOTHING} {_SHORT}"
    titles = words.listing(f"`{measure.title}`" for measure in asked)
    were = "was" if len(asked) == 1 else "were"
    return f"Of these processes {titles} {were} not sampled in what is shown." if asked else _NOTHING


def _asked(name: str, request: Request) -> Measure:
    """The measure, or else the gauge, of a name."""
    gauges: list[str] = request.columns("gauges")["name"].names
    if name in MEASURES:
        return MEASURES[name]
    if name in gauges:
        unit = "bytes" if name.startswith(_BYTES) else ""
        return Measure(name, unit, "gauges", "steps", (("value", name),))
    named = sorted(filter(None, gauges))
    more = ["…"] if len(named) > _GAUGES else []
    also = f", and of `run.gauges` {', '.join(named[:_GAUGES] + more)}" if named else "; it has no gauges"
    raise ValueError(f"no measure {name!r} in this recording; there are {', '.join(MEASURES)}{also}")


def _plot(measure: Measure, request: Request) -> Plot | None:
    found = [_read(column, measure, request) for column, _ in measure.columns]
    if not any(np.isfinite(each.values).any() for each in found):
        return None
    if measure.style == "stack":
        marks, signs, most = _layers(measure, found, request)
        low, high = 0.0, most
    else:
        marks, signs = _lines(measure, found, request), []
        high = max(_whole(measure, request), *(float(np.nanmax(each.values, initial=0.0)) for each in found))
        least = min(float(np.nanmin(each.values, initial=0.0)) for each in found)
        low = -high if measure.style == "mirror" else least
    above, below = (label for _, label in measure.columns) if measure.style == "mirror" else ("", "")
    high = (high or 1.0) * 1.04
    y = Axis(measure.unit, low * 1.04, high, measure.title)
    return Plot(marks, Axis("time", *request.between), y, 64, measure.title, signs, above, below)


def _processes(table: Any, measure: Measure, request: Request) -> Symbols:
    """Who each sample is of; a GPU is named with its index."""
    process: Symbols = table["process"]
    if measure.table != "gpus":
        return process
    index = table["index"].astype("i8")
    codes = process.codes.astype("i8") * 256 + index
    known, place = np.unique(codes, return_inverse=True)
    names = [f"{request.title_of(process.names[each >> 8])}, GPU {each & 255}" for each in known.tolist()]
    return Symbols(place.reshape(-1).astype("u4"), names)


def _whole(measure: Measure, request: Request) -> float:
    """How far its axis reaches at least."""
    if isinstance(measure.whole, str):
        return float(np.nanmax(_read(measure.whole, measure, request).values, initial=0.0))
    return measure.whole


def _told(name: str, request: Request) -> Series:
    """What each worker told of a gauge last, at the end of each stretch, while it was there."""
    table: Any = request.columns("gauges")
    worker, time = table["worker"], table["time"]
    rows = np.flatnonzero(is_any(table["name"], (name,)) & request.wants(worker, request.workers))
    rows = rows[np.lexsort((time[rows], worker.codes[rows]))]
    known, first = np.unique(worker.codes[rows], return_index=True)
    names = [worker.names[code] for code in known.tolist()]
    workers = request.columns("workers")
    left = dict(zip(workers["worker"].tolist(), workers["left"].tolist(), strict=True))
    edges = np.linspace(*request.between, BINS + 1)
    values = np.full((len(names), BINS), np.nan)
    for each, mine in enumerate(np.split(rows, first[1:])[: len(names)]):
        last = np.searchsorted(time[mine] - request.zero, edges[1:], "right")
        values[each] = np.append(np.nan, table["value"][mine])[last]
        values[each, edges[1:] > left.get(names[each], np.inf) - request.zero] = np.nan
    return Series(names, edges, values)


def _read(column: str, measure: Measure, request: Request) -> Series:
    if measure.table == "gauges":
        return _told(measure.title, request)
    table: Any = request.columns(measure.table)
    process = _processes(table, measure, request)
    who: Symbols = table["process"]
    rows = _mine(who, request)
    values = table[column].astype("f8") * measure.scale
    if measure.since:
        values /= _lengths(who, table["time"])
    return series(process, table["time"] - request.zero, values, rows, request.between, BINS)


def _mine(who: Symbols, request: Request) -> np.ndarray:
    """Which samples are of processes that are shown."""
    rows = request.wants(who, request.workers)
    if request.workers is None:
        workers = ~is_any(who, ("scheduler", "client"))
        # Without a cluster there is this process alone.
        rows &= workers if workers.any() else ~workers
    return rows


def _lengths(who: Symbols, time: np.ndarray) -> np.ndarray:
    """Seconds from the sample of the same process before to each; NaN where there is none."""
    order = np.lexsort((time, who.codes))
    lengths = np.full(len(time), np.nan)
    same = who.codes[order][1:] == who.codes[order][:-1]
    lengths[order[1:][same]] = np.diff(time[order])[same]
    return np.where(lengths > 0, lengths, np.nan)


def _lines(measure: Measure, found: list[Series], request: Request) -> list[Mark]:
    theme = request.theme
    marks: list[Mark] = []
    for number, each in enumerate(found):
        sign = -1.0 if measure.style == "mirror" and number == 1 else 1.0
        middle = (each.edges[1:] + each.edges[:-1]) / 2
        what = measure.columns[number][1]
        if len(each.names) > _LINES:
            known = np.isfinite(each.values).any(axis=0)
            filled = np.where(known, each.values, 0.0)
            least, most = np.nanmin(filled, axis=0), np.nanmax(filled, axis=0)
            median = np.where(known, np.nanmedian(filled, axis=0), np.nan)
            low, high = (np.where(known, sign * side, np.nan) for side in (least, most))
            if sign < 0:
                low, high = high, low
            told = words.count(len(each.names), "process", "processes")
            marks.append(Area(each.edges, low, high, theme.grey(0.2, 0.06), f"{what}, {told}, least to most"))
            marks.append(Line(middle, sign * median, theme.muted, f"{what}, the middle of {told}"))
            continue
        x, points = (np.repeat(each.edges, 2)[1:-1], 2) if measure.style == "steps" else (middle, 1)
        for name, values in zip(each.names, each.values, strict=True):
            title = request.title_of(name) if name in request.titles else name
            marks.append(Line(x, sign * np.repeat(values, points), theme.muted, f"{what}, {title}"))
    if measure.style == "mirror":
        low_edge, high_edge = request.between
        marks.append(Line(np.array([low_edge, high_edge]), np.zeros(2), theme.faint))
    return marks


def _layers(measure: Measure, found: list[Series], request: Request) -> tuple[list[Mark], list[Sign], float]:
    colors = layer_colors(request)[: len(found)]
    marks: list[Mark] = []
    signs = []
    below = np.zeros(len(found[0].edges) - 1)
    for each, (column, label), color in zip(found, measure.columns, colors, strict=True):
        # Tasks are a worker's own; what it tells of its process others may tell, too.
        values = (_of_processes(each, request) if column == "cpu" else each).summed()
        top = below + np.nan_to_num(values)
        marks.append(Area(each.edges, np.where(np.isfinite(values), below, np.nan), top, color, label))
        signs.append(Sign(label, color))
        below = top
    return marks, signs, float(below.max(initial=0.0))


def _of_processes(told: Series, request: Request) -> Series:
    """One line a process, where several workers that share it tell of it."""
    sharing = sharing_processes(request, told.names)
    values = [np.fmax.reduce(told.values[rows]) for rows in sharing]
    return told._replace(names=[told.names[rows[0]] for rows in sharing], values=np.array(values))


def layer_colors(request: Request) -> list[Rgb]:
    """Colours of stacked layers, from the bottom."""
    theme = request.theme
    first, second, third = (slot_color(slot, dark=theme.dark) for slot in (31, 19, 7))
    return [first, mixed(theme.background, second, 0.45), mixed(theme.background, third, 0.2)]
