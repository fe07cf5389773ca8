"""Who sent what to whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import words
from ...lookup import Lookup
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
    ends, sender, receiver = _ends(table)
    rows = _once(request, table, sender * len(ends) + receiver)
    if not len(rows):
        return Chart("Transfers", empty="Nothing was sent in what is shown.")
    size = np.nan_to_num(table["nbytes"][rows])
    took = np.maximum(np.nan_to_num(table["stop"][rows] - table["start"][rows]), 0.0)
    share, carried = _carried(request, table["transfer"][rows])
    sums: dict[tuple[str, str], list[float]] = {}
    for at in np.flatnonzero(share > 0).tolist():
        pair = sums.setdefault((ends[sender[rows[at]]], ends[receiver[rows[at]]]), [0.0, 0.0, 0.0])
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


def _ends(table: Any) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Addresses, '' for who is no worker; of each transfer that of its sender, and of its receiver."""
    addresses = list(dict.fromkeys((*table["worker"].names, *table["peer"].names)))
    code = {address: place for place, address in enumerate(addresses)}
    worker, peer = (
        np.array([code[name] for name in table[column].names] or [0])[table[column].codes]
        for column in ("worker", "peer")
    )
    incoming = _incoming(table)
    return addresses, np.where(incoming, peer, worker), np.where(incoming, worker, peer)


def _once(request: Request, table: Any, pair: np.ndarray) -> np.ndarray:
    """Rows within what is asked for: the receiver's word, the sender's where there is none."""
    incoming = _incoming(table)
    low, high = request.between
    rows = incoming | ~np.isin(pair, pair[incoming])
    if request.bounded:
        rows &= (table["stop"] - request.zero >= low) & (table["start"] - request.zero <= high)
    if request.workers is not None:
        rows &= request.wants(table["worker"], request.workers) | request.wants(
            table["peer"], request.workers
        )
    return np.flatnonzero(rows)


def _incoming(table: Any) -> np.ndarray:
    incoming = np.array([name == "in" for name in table["direction"].names] or [False])
    return np.asarray(incoming[table["direction"].codes])


def _carried(request: Request, ids: np.ndarray) -> tuple[np.ndarray, dict[str, tuple[float, int]]]:
    """Which share of each transfer is wanted, and bytes and results by task name."""
    table: Any = request.columns("transferred")
    graph: Any = request.columns("graph")
    at = Lookup(ids).rows(table["transfer"])
    size = np.nan_to_num(table["nbytes"])
    row = Lookup(graph["task"]).rows(table["task"])
    names = [*graph["prefix"].names, ""]
    code = np.where(row >= 0, graph["prefix"].codes[row] if len(graph["task"]) else 0, len(names) - 1)
    wanted = at >= 0
    whole = np.bincount(at[wanted], size[wanted], len(ids))
    if request.prefixes is not None:
        wanted &= np.array([name in request.prefixes for name in names])[code]
    part = np.bincount(at[wanted], size[wanted], len(ids))
    share = np.ones(len(ids))
    if request.prefixes is not None:
        share = np.divide(part, whole, out=np.zeros(len(ids)), where=whole > 0)
    nbytes = np.bincount(code[wanted], size[wanted], len(names))
    count = np.bincount(code[wanted], minlength=len(names))
    return share, {
        names[each]: (float(nbytes[each]), int(count[each])) for each in np.flatnonzero(count).tolist()
    }


def _title(request: Request, worker: str, otherwise: str) -> str:
    return request.title_of(worker) if worker else otherwise
