"""Tasks of another tool's file and the attempts at them, as tables in the making."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...batch import Symbols, encode, intern
from ...schema import NOTHING
from .keys import group_of, name_of

_NAN = math.nan


class Attempt(NamedTuple):
    """One attempt at a task; moments in seconds since the epoch."""

    task: int
    worker: str
    thread: str
    status: str
    start: float
    stop: float
    done: float = _NAN
    assigned: float = _NAN
    ready: float = _NAN
    submitted: float = _NAN
    nbytes: float = _NAN
    typename: str = ""


class Tasks:
    """Columns of `graph`, `edges`, `attempts`, `phases`, `errors` and `workers`."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._groups: dict[int, str] = {}
        self._states: dict[int, str] = {}
        self._submissions: dict[int, int] = {}
        self._attempts: list[Attempt] = []
        self._phases: list[tuple[int, str, float, float]] = []
        self._errors: list[tuple[int, int, str, str]] = []
        self._edges: set[tuple[int, int]] = set()
        #: More columns of `workers`, by address.
        self.workers: dict[str, dict[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts so far; their place is their id."""
        return self._attempts

    def id(self, key: str, group: str = "", state: str = "") -> int:
        """The task of a key."""
        task = self._ids.setdefault(key, len(self._ids))
        if group:
            self._groups[task] = group
        if state:
            self._states[task] = state
        return task

    def of_submission(self, task: int, submission: int) -> None:
        """Say which submission brought a task."""
        self._submissions[task] = submission

    def add(self, attempt: Attempt) -> int:
        """Add an attempt; returns its id."""
        self._attempts.append(attempt)
        return len(self._attempts) - 1

    def phase(self, run: int, action: str, start: float, stop: float) -> None:
        """Add what happened around an attempt."""
        self._phases.append((run, action, start, stop))

    def error(self, run: int, task: int, exception: str, traceback: str) -> None:
        """Add what an attempt raised."""
        self._errors.append((run, task, exception, traceback))

    def needs(self, task: int, dependency: int) -> None:
        """Add that a task needs the result of another."""
        self._edges.add((task, dependency))

    def span(self) -> tuple[float, float]:
        """The first and the last moment of attempts and what was around them; NaN if there is none."""
        begins, ends = self._moments()
        if not begins:
            return _NAN, _NAN
        return min(begins), max(ends)

    def batches(self) -> Iterator[bytes]:
        """The tables."""
        if self._ids:
            yield self._graph()
        if self._edges:
            task, dependency = np.array(sorted(self._edges), "u4").T
            yield encode("edges", {"task": task, "dependency": dependency})
        if self._attempts:
            yield self._ended()
        if self._phases:
            run, action, start, stop = zip(*self._phases, strict=True)
            phases = {"run": np.array(run, "u4"), "action": intern(action), "start": start, "stop": stop}
            yield encode("phases", phases)
        if self._errors:
            run, failed, exception, traceback = zip(*self._errors, strict=True)
            errors = {"run": np.array(run, "u4"), "task": np.array(failed, "u4")}
            yield encode("errors", errors | {"exception": exception, "traceback": traceback})
        if table := self._workers():
            yield encode("workers", table)

    def _moments(self) -> tuple[list[float], list[float]]:
        begins, ends = [], []
        for moments in (*(each[4:10] for each in self._attempts), *(each[2:] for each in self._phases)):
            if known := [moment for moment in moments if math.isfinite(moment)]:
                begins.append(min(known))
                ends.append(max(known))
        return begins, ends

    def _graph(self) -> bytes:
        keys = list(self._ids)
        groups = intern([self._groups.get(task) or group_of(key) for key, task in self._ids.items()])
        names = intern([name_of(group) for group in groups.names])
        columns: dict[str, Any] = {
            "task": np.arange(len(keys), dtype="u4"),
            "key": keys,
            "prefix": Symbols(names.codes[groups.codes], names.names),
            "group": groups,
        }
        if self._states:
            columns["state"] = intern([self._states.get(task, "") for task in range(len(keys))])
        if self._submissions:
            of = (self._submissions.get(task, NOTHING) for task in range(len(keys)))
            columns["submission"] = np.fromiter(of, "u4", len(keys))
        return encode("graph", columns)

    def _ended(self) -> bytes:
        columns: Mapping[str, Any] = dict(
            zip(Attempt._fields, map(list, zip(*self._attempts, strict=True)), strict=True)
        )
        done = np.where(np.isnan(columns["done"]), columns["stop"], columns["done"])
        return encode(
            "attempts",
            {
                **columns,
                "run": np.arange(len(self._attempts), dtype="u4"),
                "task": np.array(columns["task"], "u4"),
                "done": done,
            },
        )

    def _workers(self) -> dict[str, list[Any]]:
        """Every worker that is told of, or that ran something; threads as told, or as seen."""
        threads: defaultdict[str, set[str]] = defaultdict(set)
        for each in self._attempts:
            if each.worker:
                threads[each.worker].add(each.thread)
        begin, _ = self.span()
        rows = [
            {
                "worker": worker,
                "name": worker,
                "threads": len(threads[worker]),
                "joined": begin,
                **self.workers.get(worker, {}),
            }
            for worker in dict.fromkeys((*self.workers, *threads))
        ]
        names = dict.fromkeys(name for row in rows for name in row)
        missing = {"name": "", "host": "", "detail": "", "pid": 0, "cores": 0, "own": 0}
        return {name: [row.get(name, missing.get(name, _NAN)) for row in rows] for name in names}
