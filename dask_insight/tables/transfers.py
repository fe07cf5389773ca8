"""Transfers, what they carried, and the attempts that waited for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..lookup import Lookup, coded, fill, is_any, most_pairs, pick, spread, to_micros
from ..schema import NOTHING, TABLES, WAITING
from . import plain
from .field import Field

TRANSFERS = (
    *plain.fields(TABLES["transfers"]),
    Field("duration", "s", "stop - start."),
    Field("bandwidth", "bytes/s", "nbytes / duration; NaN if the duration is 0."),
    Field("results", "", "Number of task results carried."),
    Field("key", "", "Key of the largest of them."),
    Field("waiting", "", "Number of attempts that waited for it; incoming transfers only."),
    Field("waited", "s", "Their waiting for it, summed."),
)
TRANSFERRED = (
    *plain.fields(TABLES["transferred"]),
    Field("key", "", "Key of that task."),
    Field("worker", "", "The worker that reports the transfer."),
    Field("direction", "", "in or out."),
    Field("run", "", "An attempt that waited for it, one row each; 4294967295 if none did."),
    Field("waiting_key", "", "Key of that attempt's task; '' if none waited."),
    Field("waited", "s", "How long that attempt waited while the transfer ran; NaN if none waited."),
)
#: Clocks of two processes are compared: what ends this much too late still counts as in time.
_TOLERANCE = 0.002

Read = Callable[[str], Mapping[str, Any]]


class _Waits(NamedTuple):
    """Which attempt waited for which carried result."""

    #: Row in `transferred`.
    carried: np.ndarray
    run: np.ndarray
    task: np.ndarray
    seconds: np.ndarray


def transfers(read: Read) -> Mapping[str, Any]:
    """One row a transfer."""
    columns = read("transfers")
    carried = read("transferred")
    graph = read("graph")
    count = len(columns["transfer"])
    at = Lookup(columns["transfer"]).rows(carried["transfer"])
    known = at >= 0
    waits = _waits(read)
    # Who needs several of its results waits for it once.
    waiting = at[waits.carried]
    _, once = np.unique(waiting.astype("i8") << 32 | waits.run, return_index=True)
    waiting, waited = waiting[once], waits.seconds[once]
    largest = np.full(count, -1)
    by_size = np.argsort(carried["nbytes"], kind="stable")
    by_size = by_size[known[by_size]]
    largest[at[by_size]] = by_size
    task = np.where(largest >= 0, pick(carried["task"], largest), NOTHING).astype("u4")
    duration = columns["stop"] - columns["start"]
    with np.errstate(divide="ignore", invalid="ignore"):
        bandwidth = np.where(duration > 0, columns["nbytes"] / duration, np.nan)
    return {
        **columns,
        "duration": to_micros(duration),
        "bandwidth": bandwidth,
        "results": np.bincount(at[known], minlength=count),
        "key": pick(graph["key"], Lookup(graph["task"]).rows(task)),
        "waiting": np.bincount(waiting, minlength=count),
        "waited": np.bincount(waiting, waited, minlength=count).astype("f8"),
    }


def transferred(read: Read) -> Mapping[str, Any]:
    """One row for each result carried and each attempt that waited for it."""
    columns = read("transfers")
    carried = read("transferred")
    graph = read("graph")
    waits = _waits(read)
    idle = np.ones(len(carried["task"]), bool)
    idle[waits.carried] = False
    idle = np.flatnonzero(idle)
    rows = np.concatenate((waits.carried, idle))
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    nobody = np.full(len(idle), NOTHING)
    waiter = np.concatenate((waits.task, nobody))[order].astype("u4")
    names = Lookup(graph["task"])
    at = Lookup(columns["transfer"]).rows(carried["transfer"][rows])
    return {
        **{name: values[rows] for name, values in carried.items()},
        "key": pick(graph["key"], names.rows(carried["task"][rows])),
        "worker": pick(columns["worker"], at),
        "direction": pick(columns["direction"], at),
        "run": np.concatenate((waits.run, nobody))[order].astype("u4"),
        "waiting_key": pick(graph["key"], names.rows(waiter)),
        "waited": np.concatenate((waits.seconds, np.full(len(idle), np.nan)))[order],
    }


def _waits(read: Read) -> _Waits:
    """Attempts on the receiving worker that need a carried result and start after it has come."""
    columns = read("transfers")
    carried = read("transferred")
    attempts = read("attempts")
    executions = read("executions")
    at = Lookup(columns["transfer"]).rows(carried["transfer"])
    came = np.flatnonzero((at >= 0) & pick(is_any(columns["direction"], ("in",)), at))
    if not len(came):
        none = np.zeros(0, "u4")
        return _Waits(came, none, none, np.zeros(0))
    attempt, dependency = _needs(attempts, read("edges"))
    workers = columns["worker"].names
    worker = coded(pick(attempts["worker"], attempt), workers)
    wanted = dependency.astype("i8") * (len(workers) + 1) + worker
    wanted[worker < 0] = -1
    order = np.argsort(wanted, kind="stable")
    wanted = wanted[order]

    have = carried["task"][came].astype("i8") * (len(workers) + 1) + columns["worker"].codes[at[came]]
    left, right = np.searchsorted(wanted, have), np.searchsorted(wanted, have, side="right")
    pair, found = spread(left, right, most_pairs(have, wanted))
    result, row = came[pair], attempt[order[found]]

    seen = Lookup(executions["run"]).rows(attempts["run"][row])
    begin = fill(pick(executions["received"], seen), attempts["assigned"][row])
    start = fill(pick(executions["start"], seen), attempts["start"][row])
    waiting = is_any(attempts["status"], (WAITING,))[row]
    begin, start = (np.where(waiting, np.nan_to_num(each, nan=np.inf), each) for each in (begin, start))
    transfer_start, transfer_stop = columns["start"][at[result]], columns["stop"][at[result]]
    seconds = transfer_stop - np.fmax(transfer_start, begin)
    waited = (seconds > 0) & (start >= transfer_stop - _TOLERANCE)
    row = row[waited]
    return _Waits(result[waited], attempts["run"][row], attempts["task"][row], to_micros(seconds[waited]))


def _needs(attempts: Mapping[str, Any], edges: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """For every attempt (its row) every task it needs."""
    order = np.argsort(edges["task"], kind="stable")
    task = edges["task"][order]
    left, right = (
        np.searchsorted(task, attempts["task"]),
        np.searchsorted(task, attempts["task"], side="right"),
    )
    row, edge = spread(left, right, most_pairs(attempts["task"], task))
    return row, edges["dependency"][order][edge]
