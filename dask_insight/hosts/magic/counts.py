"""How far a computation is, counted batch by batch."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ...batch import BatchError, Symbols, decode, table_of
from ...schema import NOTHING

_TABLES = ("graph", "attempts", "running")


class GroupCount(NamedTuple):
    """A task name and how far its tasks are."""

    name: str
    total: int
    done: int
    erred: int


class Counts:
    """Counts tasks by name as batches arrive; not safe for several threads at once."""

    def __init__(self) -> None:
        self.total = self.done = self.erred = 0
        self._names: list[str] = []
        self._code: dict[str, int] = {}
        self._name_of = np.zeros(0, "i4")
        self._ended = np.zeros(0, "u1")
        self._totals: Counter[int] = Counter()
        self._dones: Counter[int] = Counter()
        self._errors: Counter[int] = Counter()

    def take(self, batch: bytes) -> None:
        """Count a batch of any table; one that cannot be read counts nothing."""
        try:
            if (table := table_of(batch)) not in _TABLES:
                return
            columns: Any = decode(batch).columns
        except BatchError:
            return
        if table == "graph":
            self._graph(columns["task"], columns.get("prefix"), columns.get("order"))
        elif table == "attempts":
            self._attempts(columns["task"], columns.get("status"))

    def groups(self) -> list[GroupCount]:
        """Task names in the order in which their first tasks ended; names of which none has come last."""
        begun = [code for code in self._dones if code in self._totals]
        codes = begun + [code for code in reversed(self._totals) if code not in self._dones]
        return [
            GroupCount(self._names[code] or "?", self._totals[code], self._dones[code], self._errors[code])
            for code in codes
        ]

    def _graph(self, tasks: np.ndarray, prefix: Symbols | None, order: np.ndarray | None) -> None:
        if prefix is None or not len(tasks):
            return
        codes = np.array([self._code_of(name) for name in prefix.names], "i4")[prefix.codes]
        if order is not None:
            # Data that a client brought never run: they have no rank.
            tasks, codes = tasks[order != NOTHING], codes[order != NOTHING]
        self._grow(int(tasks[tasks != NOTHING].max(initial=0)))
        new = np.unique(tasks[self._name_of[tasks] < 0], return_index=True)[1]
        fresh = tasks[self._name_of[tasks] < 0][new]
        kinds = codes[self._name_of[tasks] < 0][new]
        self._name_of[fresh] = kinds
        self.total += len(fresh)
        self._totals.update(_counted(kinds))
        early = kinds[self._ended[fresh] > 0]
        self._dones.update(_counted(early))

    def _attempts(self, tasks: np.ndarray, status: Symbols | None) -> None:
        if status is None or not len(tasks):
            return
        self._grow(int(tasks[tasks != NOTHING].max(initial=0)))
        ok = _among(status, "ok")
        done = np.unique(tasks[ok & (tasks != NOTHING)])
        done = done[self._ended[done] == 0]
        self._ended[done] = 1
        self.done += len(done)
        self._dones.update(_counted(self._name_of[done]))
        erred = tasks[_among(status, "erred") & (tasks != NOTHING)]
        self.erred += len(erred)
        self._errors.update(_counted(self._name_of[erred]))

    def _code_of(self, name: str) -> int:
        if name not in self._code:
            self._code[name] = len(self._names)
            self._names.append(name)
        return self._code[name]

    def _grow(self, task: int) -> None:
        if task >= len(self._name_of):
            more = max(1024, 2 * (task + 1)) - len(self._name_of)
            self._name_of = np.concatenate((self._name_of, np.full(more, -1, "i4")))
            self._ended = np.concatenate((self._ended, np.zeros(more, "u1")))


def _among(symbols: Symbols, name: str) -> np.ndarray:
    return np.asarray(np.isin(symbols.codes, [code for code, one in enumerate(symbols.names) if one == name]))


def _counted(codes: np.ndarray) -> Counter[int]:
    values, counts = np.unique(codes[codes >= 0], return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
