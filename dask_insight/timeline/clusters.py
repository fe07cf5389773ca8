"""The schedulers of a recording, and what of it belongs to one of them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..columns import take
from ..lookup import Lookup, by_name, fill, fill_symbols, is_any, pick, sorted_set
from ..schema import NOTHING
from .attempts import Read, is_local
from .moments import most_at_once

#: What the local schedulers are called together.
LOCAL = "local"
#: What a cluster whose address is not known is called where there are others.
UNNAMED = "cluster"
#: Tables whose rows name a worker, besides those of attempts.
_OF_WORKERS = ("workers", "transfers", "memory")


def cluster_of(read: Read) -> Callable[[str], str]:
    """Tells the scheduler's address of a worker by its name; '' if unknown, `LOCAL` of local schedulers."""
    table = read("workers")
    told = dict(zip(table["worker"].tolist(), table["cluster"].tolist(), strict=True))
    addresses = {name for name in told.values() if name}
    # What a recording does not say of a worker is clear where there is but one cluster.
    missing = next(iter(addresses)) if len(addresses) == 1 else ""
    return lambda worker: LOCAL if is_local(worker) else told.get(worker) or missing


def schedulers_mixed(read: Read) -> bool:
    """Whether several clusters were there at once, so that nobody knows whose scheduler a sample is of."""
    table = read("workers")
    told = zip(*(table[name].tolist() for name in ("cluster", "joined", "left")), strict=True)
    lives: dict[str, list[tuple[float, float]]] = {}
    for cluster, *life in dict(zip(table["worker"].tolist(), told, strict=True)).values():
        lives.setdefault(cluster, []).append((life[0], life[1]))
    lives.pop("", None)
    # Those that are not known make these missing.
    joined = np.array([np.min(each, axis=0)[0] for each in lives.values()], "f8")
    left = np.array([np.max(each, axis=0)[1] for each in lives.values()], "f8")
    since, until = np.nan_to_num(joined, nan=-np.inf), np.nan_to_num(left, nan=np.inf)
    return most_at_once(since, until, np.ones(len(lives))) > 1


def by_cluster(read: Read) -> dict[str, Read]:
    """What of a recording belongs to each scheduler that ran tasks; that with most seconds of them first."""
    tables = {name: read(name) for name in ("attempts", "running")}
    codes, names = _codes(read, tables)
    if len(names) < 2:
        return dict.fromkeys(names or [""], read)
    seconds = np.bincount(codes["attempts"], _seconds(read), len(names))
    begun = np.bincount(codes["running"], minlength=len(names))
    order = sorted(range(len(names)), key=lambda code: (-seconds[code], -begun[code], names[code]))
    of = cluster_of(read)
    return {names[code]: _Part(read, names[code], of, codes, code) for code in order}


def one_cluster(read: Read, wanted: str | None) -> tuple[str, Read]:
    """One scheduler of a recording, its name only where there are several; by default that with most work.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    found = by_cluster(read)
    if wanted is not None and wanted not in list(found):
        there = ", ".join(map(repr, found))
        raise ValueError(f"cluster={wanted!r}: no tasks of this recording ran there; there are {there}")
    name = next(iter(found)) if wanted is None else wanted
    return (name or UNNAMED) if len(found) > 1 else "", found[name]


class _Part:
    """Reads those rows of tables that are of one scheduler."""

    def __init__(
        self, read: Read, cluster: str, of: Callable[[str], str], codes: Mapping[str, np.ndarray], code: int
    ) -> None:
        self._read, self._cluster, self._of = read, cluster, of
        self._codes, self._code = codes, code
        self._known: dict[str, Mapping[str, Any]] = {}

    def __call__(self, table: str) -> Mapping[str, Any]:
        if table not in self._known:
            columns = self._read(table)
            mask = self._mask(table, columns)
            self._known[table] = (
                columns if mask is None else {name: take(each, mask) for name, each in columns.items()}
            )
        return self._known[table]

    def _mask(self, table: str, columns: Mapping[str, Any]) -> np.ndarray | None:
        if table in _OF_WORKERS:
            return by_name(columns["worker"], lambda name: self._of(name) == self._cluster, False)
        if table == "resources" and schedulers_mixed(self._read):
            return ~is_any(columns["process"], ("scheduler",))
        if table == "submissions":
            graph = self._read("graph")
            tasks = np.concatenate([self(name)["task"] for name in ("attempts", "running")])
            rows = Lookup(graph["task"]).rows(tasks)
            return np.isin(columns["submission"], graph["submission"][rows[rows >= 0]])
        return self._codes[table] == self._code if table in self._codes else None


def _seconds(read: Read) -> np.ndarray:
    """Seconds in the function of each row of ``attempts``; 0 if it never ran."""
    attempts, executions = read("attempts"), read("executions")
    rows = Lookup(executions["run"]).rows(attempts["run"])
    start, stop = (fill(attempts[name], pick(executions[name], rows)) for name in ("start", "stop"))
    seconds: np.ndarray = np.maximum(np.nan_to_num(stop - start), 0.0)
    return seconds


def _codes(read: Read, tables: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, np.ndarray], list[str]]:
    """For each row of these tables the code of its scheduler, and their names."""
    of = cluster_of(read)
    codes: dict[str, int] = {}
    found = {}
    for table, columns in tables.items():
        found[table] = by_name(
            _worker(read, columns),
            lambda name: codes.setdefault(of(name), len(codes)) if name else -1,
            -1,
        )
    # Names that stand in no row do not count.
    used = sorted({int(code) for each in found.values() for code in sorted_set(each).tolist() if code >= 0})
    names = list(codes)
    place = np.full(len(codes) + 1, -1)
    place[used] = np.arange(len(used))
    found = {table: place[each] for table, each in found.items()}
    if len(used) > 1:
        graph = Lookup(read("graph")["task"])
        beside(read, [graph.rows(columns["task"]) for columns in tables.values()], [*found.values()])
    return {table: np.maximum(each, 0) for table, each in found.items()}, [names[code] for code in used]


def _worker(read: Read, columns: Mapping[str, Any]) -> Any:
    """Worker of each row, by what the workers say where the scheduler says nothing."""
    executions = read("executions")
    rows = Lookup(executions["run"]).rows(columns["run"])
    return fill_symbols(columns["worker"], pick(executions["worker"], rows))


def beside(read: Read, described: Sequence[np.ndarray], codes: Sequence[np.ndarray]) -> None:
    """Attempts of no known scheduler, whose code is below 0, belong where others of their submission do.

    Parameters
    ----------
    described
        Row in ``graph`` of each attempt, of several tables; -1 where there is none.
    codes
        Code of the scheduler of each; changed in place.
    """
    graph = read("graph")["submission"]
    submissions = [np.where(rows >= 0, pick(graph, rows).astype("i8"), NOTHING) for rows in described]
    where: dict[int, int] = {}
    for submission, code in zip(submissions, codes, strict=True):
        told = (code >= 0) & (submission != NOTHING)
        where |= dict(zip(submission[told].tolist(), code[told].tolist(), strict=True))
    for submission, code in zip(submissions, codes, strict=True):
        lost = code < 0
        code[lost] = [where.get(number, 0) for number in submission[lost].tolist()]
