"""The task stream as a raster: what fills most of each column of time, lane by lane."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arguments import titles_of
from ...batch import Symbols
from ...columns import Columns
from ...figures.colors import FAILED, Rgb, colors_of
from ...figures.ran import lane_order
from ...lookup import Lookup, coded, fill_symbols, pick
from ...tables.named import names_of
from ...timeline import unused_lanes

#: A pixel with anything in it is at least this much of its colour.
_LEAST = 0.18


#: Most lanes of a picture; more threads share them.
_ROWS = 800


class HasColumns(Protocol):
    """What a picture needs of a recording."""

    def columns(self, table: str) -> Columns:
        """The columns of a table."""
        ...


class Picture(NamedTuple):
    """Lanes by columns of time, and what the colours mean."""

    #: Red, green, blue of each lane and column; shape (lanes, columns, 3), bytes.
    pixels: np.ndarray
    #: Name of each lane's worker.
    workers: list[str]
    #: Length of the time that is shown, seconds.
    span: float
    #: Task names with their colour and computing seconds, most first.
    names: list[tuple[str, Rgb, float]]
    #: Kinds of failure that are in it.
    failures: list[str]


def task_stream(recording: HasColumns, width: int = 900) -> Picture | None:
    """Draw the attempts that ran; None where there are none."""
    attempts: Any = recording.columns("attempts")
    start, stop = attempts["start"], attempts["stop"]
    ran = np.flatnonzero(np.isfinite(start) & np.isfinite(stop) & (stop >= start))
    if not len(ran):
        return None
    start, stop = start[ran], stop[ran]
    task = names_of(recording.columns("graph"), attempts["task"][ran])
    names, code = task.names, task.codes.astype("i8")
    lane, workers = _lanes(recording, attempts, ran)
    together = -(-len(workers) // _ROWS)
    lane, workers = lane // together, workers[::together]
    zero = float(start.min())
    span = max(float(stop.max()) - zero, 1e-6)
    # 0 where it did not fail.
    failed = coded(pick(attempts["status"], ran), FAILED) + 1
    left, right = (start - zero) / span * width, (stop - zero) / span * width
    name, full = _fill(lane, code, left, right, (len(workers), width), together)
    colors = colors_of(names)
    palette = np.array([colors[name] for name in names], "f8")
    pixels = _painted(name, full, palette)
    _mark(pixels, lane, failed, left, right)
    seconds = np.bincount(code, stop - start, len(names))
    order = np.argsort(-seconds, kind="stable")
    legend = [(names[each], colors[names[each]], float(seconds[each])) for each in order if seconds[each] > 0]
    seen = [name for number, name in enumerate(FAILED, 1) if (failed == number).any()]
    return Picture(pixels, workers, span, legend, seen)


def _lanes(recording: HasColumns, attempts: Any, ran: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The lane of each attempt, one a thread, and every lane's worker."""
    worker, thread = attempts["worker"], _threads(recording, attempts)
    pairs, lane = np.unique(
        worker.codes[ran].astype("i8") << 32 | thread.codes[ran].astype("i8"), return_inverse=True
    )
    lanes = [(worker.names[pair >> 32], thread.names[pair & 0xFFFF_FFFF]) for pair in pairs.tolist()]
    used = [name for name, _ in lanes]
    since, until = attempts["start"][ran].min(), attempts["stop"][ran].max()
    lanes += unused_lanes(recording.columns("workers"), used, since, until)
    titles, order = titles_of(recording.columns), lane_order(recording.columns, lanes, len(used))
    rank, workers = np.argsort(order), [lanes[each][0] for each in order]
    return rank[lane.reshape(-1)], [titles.get(name, name) for name in workers]


def _threads(recording: HasColumns, attempts: Any) -> Symbols:
    """Thread of each attempt; from its worker where the scheduler does not know it."""
    thread: Symbols = attempts["thread"]
    seen: Any = recording.columns("executions")
    return fill_symbols(thread, seen["thread"], Lookup(seen["run"]).rows(attempts["run"]))


def _fill(
    lane: np.ndarray,
    code: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    size: tuple[int, int],
    together: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The name with the most time in each pixel (-1 for none), and how full it is, 0 to 1.

    `together` is the number of threads in each lane.
    """
    lanes, width = size
    first = np.clip(left.astype("i8"), 0, width - 1)
    last = np.clip(np.ceil(right).astype("i8") - 1, first, width - 1)
    name = np.full((lanes, width), -1, "i8")
    full = np.zeros((lanes, width))
    wide = np.flatnonzero(last - first > 1)
    for each in wide.tolist():
        inside = slice(first[each] + 1, last[each])
        name[lane[each], inside] = code[each]
        full[lane[each], inside] += 1.0 / together
    one = first == last
    pixel = np.concatenate((lane * width + first, (lane * width + last)[~one]))
    part = np.concatenate((np.where(one, right - left, first + 1 - left), (right - last)[~one]))
    kind = np.concatenate((code, code[~one]))
    names = int(code.max()) + 1
    keys, place = np.unique(pixel * names + kind, return_inverse=True)
    sums = np.bincount(place.reshape(-1), np.maximum(part, 1e-9) / together, len(keys))
    cells = keys // names
    order = np.lexsort((sums, cells))
    final = np.flatnonzero(np.diff(cells[order], append=-1))
    best = order[final]
    at = cells[best]
    flat_name, flat_full = name.reshape(-1), full.reshape(-1)
    free = flat_name[at] < 0
    flat_name[at[free]] = (keys % names)[best][free]
    total = np.bincount(cells, sums, lanes * width)
    flat_full[:] = np.minimum(1.0, flat_full + total)
    return name, full


def _painted(name: np.ndarray, full: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Colours blended with white in linear light."""
    # So many shades that a picture's colours fit into a palette.
    shades = np.clip(250 // max(1, len(np.unique(name))), 3, 12)
    full = np.ceil(full * shades) / shades
    share = np.where(name >= 0, _LEAST + (1 - _LEAST) * full, 0.0)[..., None]
    channel = palette / 255
    linear = np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)
    linear = linear[np.maximum(name, 0)]
    mixed = (1 - share) + share * linear
    encoded = np.where(mixed <= 0.0031308, 12.92 * mixed, 1.055 * mixed ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(255 * encoded).astype("u1"))


def _mark(
    pixels: np.ndarray, lane: np.ndarray, failed: np.ndarray, left: np.ndarray, right: np.ndarray
) -> None:
    """Failures override whatever else is there, the strongest last."""
    width = pixels.shape[1]
    rows = np.flatnonzero(failed)
    for each in rows[np.argsort(-failed[rows], kind="stable")].tolist():
        first = min(int(left[each]), width - 1)
        last = max(first + 1, int(np.ceil(right[each])))
        pixels[lane[each], first:last] = list(FAILED.values())[failed[each] - 1]
