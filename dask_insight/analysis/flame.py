"""Where the time went inside the tasks: sampled call stacks merged into a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..batch import Symbols
from ..columns import Columns
from ..lookup import Lookup, is_any
from ..schema import NOTHING

if TYPE_CHECKING:
    import pandas as pd

Read = Callable[[str], Columns]


def flame(
    read: Read,
    between: tuple[float, float],
    *,
    prefix: str | Sequence[str] | None = None,
    process: str | Sequence[str] | None = None,
    key: str | None = None,
    run: int | None = None,
    lines: bool = False,
    inside: bool | None = None,
) -> pd.DataFrame:
    """The tree of `Recording.flame`; `between` are two moments, seconds since the epoch.

    `prefix` and `process` may be several. `inside` says whether samples count that were taken in tasks, or
    outside them; by default those in tasks if no process is named, else both.
    """
    import pandas as pd

    samples: Mapping[str, Any] = read("samples")
    weight = _weights(samples, between)
    ran = samples["run"] != NOTHING
    if inside is None and process is None:
        # Profiles of other tools know nothing of tasks: then all threads are meant.
        weight[~ran] *= not ran.any()
    elif inside is not None:
        weight[ran != inside] = 0
    if process is not None:
        weight[~is_any(samples["process"], _several(process))] = 0
    if prefix is not None or key is not None:
        weight[~np.isin(samples["run"], _runs(read, prefix, key))] = 0
    if run is not None:
        weight[samples["run"] != run] = 0
    stacks: Mapping[str, Any] = read("stacks")
    own, depth, parent = _tree(stacks, samples["stack"], weight)
    node, frames = _merge(stacks, own, depth, parent, lines=lines)
    frames["line"] = _busiest(stacks["line"], node, _totals(own, depth, parent))
    return pd.DataFrame(_in_order(pd, stacks, node, frames, own))


def _weights(samples: Mapping[str, Any], between: tuple[float, float]) -> np.ndarray:
    """Seconds of each sample's interval that lie between two moments."""
    stop: np.ndarray = samples["time"]
    start = stop - samples["duration"]
    inside = np.minimum(stop, between[1]) - np.maximum(start, between[0])
    return np.where(np.isfinite(inside), np.clip(inside, 0, samples["duration"]), 0.0)


def _several(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _runs(read: Read, prefix: str | Sequence[str] | None, key: str | None) -> np.ndarray:
    """The attempts, ended or running, at the tasks of this name or with this key."""
    graph: Mapping[str, Any] = read("graph")
    wanted = np.ones(len(graph["task"]), bool)
    if prefix is not None:
        wanted &= is_any(graph["prefix"], _several(prefix))
    if key is not None:
        wanted &= np.isin(np.arange(len(wanted)), graph["key"].rows_of(key))
    tasks = graph["task"][wanted]
    found = []
    for table in ("attempts", "running"):
        columns: Mapping[str, Any] = read(table)
        found.append(columns["run"][np.isin(columns["task"], tasks)])
    return np.concatenate(found)


def _tree(
    stacks: Mapping[str, Any], stack: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Own seconds, depth and parent row of every row of `stacks`; depth -1 for one that hangs nowhere."""
    lookup = Lookup(stacks["stack"])
    rows = lookup.rows(stack)
    known = rows >= 0
    own = np.bincount(rows[known], weight[known], minlength=len(stacks["stack"]))
    parent = np.where(stacks["parent"] == NOTHING, -1, lookup.rows(stacks["parent"]))
    return own, _depth(stacks["parent"] == NOTHING, parent), parent


def _depth(outermost: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """How many callers each row has; -1 for one that hangs nowhere."""
    count = len(parent)
    bottom, nowhere = count, count + 1
    # Each row leaps over as many callers as it knows, so that few rounds reach the bottom from any depth.
    above = np.append(np.where(outermost, bottom, np.where(parent < 0, nowhere, parent)), (bottom, nowhere))
    depth = np.append(np.where(outermost, 0, 1), (0, 0))
    for _ in range(count.bit_length()):
        depth += depth[above]
        above = above[above]
        if (above >= count).all():
            break
    return np.where(above == bottom, depth, -1)[:count]


def _merge(
    stacks: Mapping[str, Any], own: np.ndarray, depth: np.ndarray, parent: np.ndarray, *, lines: bool
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Give rows of one function under one caller the same node; returns each row's node, and the nodes.

    Callers come before what they call.
    """
    rows = np.argsort(depth, kind="stable")
    rows = rows[np.searchsorted(depth[rows], 0) :]
    line = stacks["line"] if lines else stacks["first_line"]
    what = zip(
        rows.tolist(),
        parent[rows].tolist(),
        stacks["function"].codes[rows].tolist(),
        stacks["file"].codes[rows].tolist(),
        line[rows].tolist(),
        strict=True,
    )
    known: dict[tuple[int, ...], int] = {}
    nodes = [-1] * (len(own) + 1)
    for row, caller, *frame in what:
        nodes[row] = known.setdefault((nodes[caller], *frame), len(known))
    node = np.array(nodes[:-1], "i8")
    first = rows[np.unique(node[rows], return_index=True)[1]]
    above = np.append(node, -1)[parent[first]]
    return node, {"row": first, "parent": above, "depth": depth[first]}


def _totals(own: np.ndarray, depth: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Seconds of each row with what it called."""
    total = own.copy()
    order = np.argsort(depth, kind="stable")
    deepest = int(depth.max(initial=0))
    levels = np.split(order, np.searchsorted(depth[order], np.arange(1, deepest + 1)))
    for level in levels[:0:-1]:
        np.add.at(total, parent[level], total[level])
    return total


def _busiest(line: np.ndarray, node: np.ndarray, total: np.ndarray) -> np.ndarray:
    """By node, the line that was running for most of its time; `node` and `total` are by row of `stacks`."""
    rows = np.flatnonzero(node >= 0)
    rows = rows[np.lexsort((line[rows], node[rows]))]
    other = np.ones(len(rows), bool)
    other[1:] = (np.diff(node[rows]) != 0) | (line[rows[1:]] != line[rows[:-1]])
    seconds = np.bincount(np.cumsum(other) - 1, total[rows])
    rows = rows[other]
    most = rows[np.lexsort((-seconds, node[rows]))]
    return np.asarray(line[most[np.unique(node[most], return_index=True)[1]]])


def _in_order(
    pd: Any, stacks: Mapping[str, Any], node: np.ndarray, frames: dict[str, np.ndarray], own: np.ndarray
) -> dict[str, Any]:
    """The nodes as columns, callers before what they call."""
    count = len(frames["row"])
    placed = node >= 0
    mine = np.bincount(node[placed], own[placed], minlength=count).astype("f8")
    total = _totals(mine, frames["depth"], frames["parent"])
    order = _callers_first(frames["parent"], total)
    order = order[total[order] > 0]
    position = np.full(count + 1, -1)
    position[order] = np.arange(len(order))
    row = frames["row"][order]
    whole = total[frames["depth"] == 0].sum()
    return {
        "parent": position[frames["parent"][order]],
        "depth": frames["depth"][order],
        "function": _names(pd, stacks["function"], row),
        "file": _names(pd, stacks["file"], row),
        "line": frames["line"][order].astype("i8"),
        "first_line": stacks["first_line"][row].astype("i8"),
        "self": mine[order],
        "total": total[order],
        "share": total[order] / whole if whole > 0 else total[order],
    }


def _names(pd: Any, symbols: Symbols, rows: np.ndarray) -> Any:
    return pd.Categorical.from_codes(symbols.codes[rows].astype("i4"), symbols.names)


def _callers_first(parent: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Nodes in depth-first order, the longest call first."""
    order = np.argsort(-total, kind="stable")
    children: dict[int, list[int]] = {}
    for each, above in zip(order.tolist(), parent[order].tolist(), strict=True):
        children.setdefault(above, []).append(each)
    walk, waiting = [], children.get(-1, [])[::-1]
    while waiting:
        walk.append(each := waiting.pop())
        waiting.extend(children.get(each, ())[::-1])
    return np.array(walk, "i8")
