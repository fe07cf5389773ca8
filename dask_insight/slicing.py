"""What happened between two moments, table by table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np

from .batch import Symbols, Values
from .columns import Columns, length, take
from .intake import taken_in
from .lookup import Lookup, coded, fill, fill_symbols, is_any, pick, ratio, sorted_set
from .schema import EDITIONED, NOTHING, TABLES, WAITING

#: Tables whose rows last: columns of their beginning, the earliest of the first that are known, and of their
#: end. A task that was ready and waited is there already.
_SPANS = {
    "attempts": ((("ready", "assigned", "start"), ("submitted",)), ("stop", "done")),
    "executions": ((("received", "executing", "start"),), ("stop", "ended")),
    "phases": ((("start",),), ("stop",)),
    "transfers": ((("start",),), ("stop",)),
}
#: How attempts stand, by column, that only wait.
_YET = {"status": WAITING, "typename": "", "thread": ""}
#: Tables whose rows stand for some time up to a moment: the column that has its share of it.
_SHARED = {"metrics": "value", "samples": "duration", "collections": "duration"}
#: Tables whose rows are moments.
_MOMENTS = tuple(
    name
    for name, table in TABLES.items()
    if any((column.name, column.kind) == ("time", "time") for column in table.columns)
)

Read = Callable[[str], Columns]
Mask = np.ndarray


def between(read: Read, start: float, stop: float) -> Iterator[tuple[str, Mapping[str, Values]]]:
    """The columns of every table that has rows between two moments (seconds since the epoch).

    Rows that overlap that time are kept whole, but for attempts that only waited then and ran later: they
    are `WAITING`, up to the end. Of `metrics`, `samples` and `collections` their share within it is kept.
    With an attempt come its worker's view, phases, errors and edges, and its task with those that it needs
    and the graph that brought it.
    """
    masks: dict[str, Mask] = {name: _overlap(read(name), *ends, start, stop) for name, ends in _SPANS.items()}
    masks |= {name: _within(read(name), start, stop) for name in _MOMENTS}
    # What was lost, nobody knows when, may have been then.
    masks["events"] |= np.isnan(_column(read, "events", "time"))
    kinds: Any = read("events")["kind"]
    masks["events"] |= _last_before(read("events"), start, is_any(kinds, ("worker-status",)), "source")
    masks["gauges"] |= _last_before(read("gauges"), start, True, "worker", "name")
    shares = {
        "metrics": metric_shares(read("metrics"), read("clocks"), start, stop),
        **{name: _shares_of(read(name), start, stop) for name in ("samples", "collections")},
    }
    masks |= {name: share > 0 for name, share in shares.items()}
    masks["clocks"] |= _last_before(read("clocks"), start, True, "worker")
    masks["running"] = _column(read, "running", "start") <= stop
    ended = _column(read, "attempts", "run")
    masks["running"] &= np.isin(_column(read, "running", "run"), ended[~masks["attempts"]], invert=True)
    begun = _column(read, "running", "run")[masks["running"]]
    runs = sorted_set(np.concatenate((ended[masks["attempts"]], begun)))
    waiting, later = (masks["attempts"] & those for those in _wait(read, stop))
    to_run = np.setdiff1d(ended[waiting], begun)
    masks["executions"] |= np.isin(_column(read, "executions", "run"), runs)
    masks["phases"] |= np.isin(_column(read, "phases", "run"), runs)
    to_come = np.isin(_column(read, "phases", "run"), to_run) & (_column(read, "phases", "start") > stop)
    masks["phases"] &= ~to_come
    masks["errors"] = np.isin(_column(read, "errors", "run"), np.setdiff1d(runs, to_run))
    carried = _column(read, "transfers", "transfer")[masks["transfers"]]
    masks["transferred"] = np.isin(_column(read, "transferred", "transfer"), carried)
    tasks = np.concatenate(
        (
            _column(read, "attempts", "task")[masks["attempts"]],
            _column(read, "running", "task")[masks["running"]],
        )
    )
    masks["edges"] = np.isin(_column(read, "edges", "task"), tasks)
    needed = _column(read, "edges", "dependency")[masks["edges"]]
    told = (_column(read, name, "task")[masks[name]] for name in ("transferred", "releases", "cache"))
    named = np.concatenate((tasks, needed, *told))
    masks["graph"] = np.isin(_column(read, "graph", "task"), named)
    masks["submissions"] = taken_in(read("submissions"), start, stop)
    masks["submissions"] |= np.isin(
        _column(read, "submissions", "submission"),
        _column(read, "graph", "submission")[np.isin(_column(read, "graph", "task"), tasks)],
    )
    # Worked out anew from what is kept.
    masks |= {name: np.zeros(length(read(name)), bool) for name in EDITIONED}
    masks["stacks"] = _stacks(read("stacks"), _column(read, "samples", "stack")[masks["samples"]])
    for name in TABLES:
        columns = read(name)
        mask = masks.get(name, np.ones(length(columns), bool))
        if mask.any():
            kept = {column: take(values, mask) for column, values in columns.items()}
            if name == "graph":
                kept = _only_named(kept, tasks)
            elif name in ("attempts", "executions") and len(to_run):
                waits, unplaced = (np.isin(_values(kept, "run"), those) for those in (to_run, ended[later]))
                kept = _so_far(name, kept, waits, waits & unplaced, stop)
            elif name in _SHARED:
                kept[_SHARED[name]] = _values(kept, _SHARED[name]) * shares[name][mask]
            if name in (*_SHARED, "clocks"):
                # So that periods end and begin with this time.
                kept["time"] = np.clip(_values(kept, "time"), start, stop)
            yield name, kept


def metric_shares(metrics: Columns, clocks: Columns, start: float, stop: float) -> np.ndarray:
    """Which share of each row of `metrics` lies between two moments.

    A row stands for the time since the `clocks` row of its worker before, for its moment where there is none.
    """
    end, told = _values(metrics, "time"), _values(clocks, "time")
    known: Any = clocks["worker"]
    of: Any = metrics["worker"]
    time = np.concatenate((end, told))
    worker = np.concatenate((coded(of, known.names), known.codes))
    is_told = np.arange(len(time)) >= len(end)
    order = np.lexsort((is_told, time, worker))
    last = order[np.maximum.accumulate(np.where(is_told[order], np.arange(len(order)), 0))]
    begin = np.empty(len(time))
    begin[order] = np.where(is_told[last] & (worker[last] == worker[order]), time[last], time[order])
    return _shares(begin[: len(end)], end, start, stop)


def _shares_of(columns: Columns, start: float, stop: float) -> np.ndarray:
    """The same of rows that tell how long they are."""
    time = _values(columns, "time")
    return _shares(time - _values(columns, "duration"), time, start, stop)


def _shares(begin: np.ndarray, end: np.ndarray, start: float, stop: float) -> np.ndarray:
    """Which share of each span lies between two moments; all of a moment that does."""
    within = np.minimum(end, stop) - np.maximum(begin, start)
    moments = (end >= start) & (end <= stop)
    return ratio(np.maximum(within, 0.0), end - begin, moments.astype("f8"))


def _last_before(columns: Columns, start: float, changes: Mask | bool, *of: str) -> Mask:
    """Of rows that tell of changes the last of each kind before a moment: so it is then."""
    time, told = _values(columns, "time"), [_codes(columns, name) for name in of]
    mask: Mask = changes & (time < start)
    rows = np.flatnonzero(mask)
    rows = rows[np.lexsort((time[rows], *(codes[rows] for codes in told)))]
    followed = np.all([codes[rows[1:]] == codes[rows[:-1]] for codes in told], axis=0)
    mask[rows[:-1][followed]] = False
    return mask


def _only_named(graph: Mapping[str, Values], tasks: np.ndarray) -> dict[str, Values]:
    """Tasks that others needed, and that ran at another time, are none to come: as data that were there."""
    elsewhere = np.isin(_values(graph, "task"), tasks, invert=True)
    unknown = {name: np.where(elsewhere, NOTHING, _values(graph, name)) for name in ("submission", "order")}
    return {**graph, **{name: values.astype("u4") for name, values in unknown.items()}}


def _wait(read: Read, stop: float) -> tuple[Mask, Mask]:
    """Which attempts have no thread yet at a moment, and before which of them another one gets the same."""
    attempts: Any = read("attempts")
    executions: Any = read("executions")
    seen = Lookup(executions["run"]).rows(attempts["run"])
    given, began = (pick(executions[name], seen) for name in ("executing", "start"))
    begun = np.fmin(given, fill(began, attempts["start"]))
    waiting: Mask = (begun > stop) | is_any(attempts["status"], (WAITING,))
    rows = np.flatnonzero(waiting)
    places = [
        fill_symbols(attempts[name], executions[name], seen).codes[rows] for name in ("worker", "thread")
    ]
    order = np.lexsort((begun[rows], *places))
    later = np.zeros(len(waiting), bool)
    follows = np.all([codes[order[1:]] == codes[order[:-1]] for codes in places], axis=0)
    later[rows[order[1:][follows]]] = True
    return waiting, later


def _so_far(
    table: str, columns: Mapping[str, Values], waiting: Mask, unplaced: Mask, stop: float
) -> dict[str, Values]:
    """Attempts as they stand at a moment: some wait until then, of which some have no place yet."""
    told = dict(columns)
    for column in TABLES[table].columns:
        values: Any = columns[column.name]
        if column.name in _YET:
            rows = unplaced if column.name == "thread" else waiting
            codes = np.where(rows, len(values.names), values.codes)
            told[column.name] = Symbols(codes.astype("u4"), [*values.names, _YET[column.name]])
        elif column.kind == "time":
            so_far = stop if column.name == "done" else np.nan
            told[column.name] = np.where(waiting & (values > stop), so_far, values)
        elif column.kind in ("f32", "f64"):
            told[column.name] = np.where(waiting, np.nan, values).astype(values.dtype)
    return told


def _column(read: Read, table: str, name: str) -> np.ndarray:
    return _values(read(table), name)


def _codes(columns: Columns, name: str) -> np.ndarray:
    symbols: Any = columns[name]
    return np.asarray(symbols.codes)


def _values(columns: Mapping[str, Values], name: str) -> np.ndarray:
    values: Any = columns[name]
    return np.asarray(values)


def _overlap(
    columns: Columns, begins: tuple[tuple[str, ...], ...], ends: tuple[str, ...], start: float, stop: float
) -> Mask:
    earliest = (reduce(np.fmin, (_values(columns, name) for name in names)) for names in begins)
    begin = reduce(fill, earliest)
    end = reduce(fill, (_values(columns, name) for name in ends))
    mask: Mask = (fill(begin, end) <= stop) & (fill(end, begin) >= start)
    return mask


def _within(columns: Columns, start: float, stop: float) -> Mask:
    time: Any = columns["time"]
    mask: Mask = (time >= start) & (time <= stop)
    return mask


def _stacks(columns: Columns, used: np.ndarray) -> Mask:
    """The stacks that are used, and all below them."""
    stack: Any = columns["stack"]
    parent: Any = columns["parent"]
    parents: list[int] = Lookup(stack).rows(parent).tolist()
    wanted = np.isin(stack, used).tolist()
    for row in np.flatnonzero(wanted).tolist():
        while (row := parents[row]) >= 0 and not wanted[row]:
            wanted[row] = True
    return np.array(wanted, bool)
