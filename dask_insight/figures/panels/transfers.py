"""Who sent what to whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...analysis.moved import Carried, Sent
from ...lookup import ratio
from ...tables.named import names_of
from ..chart import Chart
from ..colors import slot_color
from ..request import Request
from . import bars

#: Bars of pairs, and of task names.
_PAIRS, _NAMES = 20, 12
#: The place of the colour of amounts.
_AMOUNT = 7


def chart(request: Request) -> Chart:
    """A bar a pair of workers, and a bar for what was carried of each task name: bytes."""
    table: Any = request.columns("transfers")
    if not len(table["start"]):
        return Chart("Transfers", empty="No worker sent a result to another one.")
    sent = Sent.of(request.columns)
    rows = sent.rows[_wanted(request, table, sent.rows)]
    if not len(rows):
        return Chart("Transfers", empty="Nothing was sent in what is shown.")
    size = np.nan_to_num(table["nbytes"][rows])
    took = np.maximum(np.nan_to_num(table["stop"][rows] - table["start"][rows]), 0.0)
    share, carried = _carried(request, table["transfer"][rows])
    sums: dict[tuple[str, str], list[float]] = {}
    for at in np.flatnonzero(share > 0).tolist():
        pair = sums.setdefault(sent.pair(rows[at]), [0.0, 0.0, 0.0])
        for place, value in enumerate((share[at] * size[at], 1.0, share[at] * took[at])):
            pair[place] += value
    color = slot_color(_AMOUNT + 12, dark=request.theme.dark)
    pairs = [
        bars.Bar(
            f"{_title(request, start, 'unknown')} → {_title(request, end, 'clients')}",
            [bars.Part("sent", nbytes, color)],
            " · ".join(
                (
                    words.size(nbytes),
                    words.count(int(count), "transfer"),
                    f"{words.size(nbytes / seconds)}/s" if seconds > 0 else "",
                )
            ).rstrip(" ·"),
        )
        for (start, end), (nbytes, count, seconds) in sorted(sums.items(), key=lambda each: -each[1][0])
    ]
    names = [
        bars.Bar(
            name or "(no name)",
            [bars.Part("sent", nbytes, request.colors.get(name, color))],
            f"{words.size(nbytes)} · {words.count(count, 'result')}",
        )
        for name, (nbytes, count) in sorted(carried.items(), key=lambda each: -each[1][0])
    ]
    rest = request.theme.grey(0.3, 0.2)
    plots = [
        bars.plot(bars.fewer(made, most, rest, words.size), "bytes", words.size, title=title, label="bytes")
        for title, made, most in (("From one to another", pairs, _PAIRS), ("What was sent", names, _NAMES))
        if made
    ]
    return Chart("Transfers", plots)


def _wanted(request: Request, table: Any, rows: np.ndarray) -> np.ndarray:
    """Which rows are within what is asked for."""
    low, high = request.between
    wanted = np.ones(len(rows), bool)
    if request.bounded:
        wanted &= (table["stop"][rows] - request.zero >= low) & (table["start"][rows] - request.zero <= high)
    if request.workers is not None:
        ends = (request.wants(table[name], request.workers)[rows] for name in ("worker", "peer"))
        wanted &= np.logical_or(*ends)
    return wanted


def _carried(request: Request, ids: np.ndarray) -> tuple[np.ndarray, dict[str, tuple[float, int]]]:
    """Which share of each transfer is wanted, and bytes and results by task name."""
    carried = Carried.by(request.columns, ids)
    names = names_of(request.columns("graph"), carried.task)
    wanted = request.wants(names, request.prefixes)
    share = np.ones(len(ids))
    if request.prefixes is not None:
        whole = np.bincount(carried.at, carried.nbytes, len(ids))
        part = np.bincount(carried.at[wanted], carried.nbytes[wanted], len(ids))
        share = ratio(part, whole)
    nbytes = np.bincount(names.codes[wanted], carried.nbytes[wanted], len(names.names))
    count = np.bincount(names.codes[wanted], minlength=len(names.names))
    return share, {
        names.names[each]: (float(nbytes[each]), int(count[each])) for each in np.flatnonzero(count).tolist()
    }


def _title(request: Request, worker: str, otherwise: str) -> str:
    return request.title_of(worker) if worker else otherwise
