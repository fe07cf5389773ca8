"""How far a computation is, counted batch by batch."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ...batch import BatchError, Symbols, decode, table_of
from ...schema import NOTHING
from ...session.ends import READ, Ends

#: The columns by which tasks are counted.
_COUNTED = {"graph": ("task", "prefix", "order"), **READ}


class GroupCount(NamedTuple):
    """A task name and how far its tasks are."""

    name: str
    total: int
    done: int
    erred: int


class Counts:
    """Counts tasks by name as batches arrive; not safe for several threads at once."""

    def __init__(self) -> None:
        self.total = 0
        self._ends = Ends()
        self._names: list[str] = []
        self._code: dict[str, int] = {}
        self._name_of = np.zeros(0, "i4")
        self._totals: Counter[int] = Counter()
        self._dones: Counter[int] = Counter()
        self._errors: Counter[int] = Counter()

    @property
    def done(self) -> int:
        """Different tasks that ended well."""
        return self._ends.done

    @property
    def erred(self) -> int:
        """Attempts that failed."""
        return self._ends.failed

    def take(self, batch: bytes) -> None:
        """Count a batch of any table; one that cannot be read counts nothing."""
        try:
            if (table := table_of(batch)) not in _COUNTED:
                return
            columns: Any = decode(batch, _COUNTED[table]).columns
            if table == "graph":
                self._graph(columns["task"], columns.get("prefix"), columns.get("order"))
            else:
                self._ended(*self._ends.take(table, columns))
        except (BatchError, KeyError):
            return

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
        early = kinds[self._ends.has_result(fresh)]
        self._dones.update(_counted(early))

    def _ended(self, done: np.ndarray, failed: np.ndarray) -> None:
        for tasks, counts in ((done, self._dones), (failed[failed != NOTHING], self._errors)):
            self._grow(int(tasks.max(initial=0)))
            counts.update(_counted(self._name_of[tasks]))

    def _code_of(self, name: str) -> int:
        if name not in self._code:
            self._code[name] = len(self._names)
            self._names.append(name)
        return self._code[name]

    def _grow(self, task: int) -> None:
        if task >= len(self._name_of):
            more = max(1024, 2 * (task + 1)) - len(self._name_of)
            self._name_of = np.concatenate((self._name_of, np.full(more, -1, "i4")))


def _counted(codes: np.ndarray) -> Counter[int]:
    values, counts = np.unique(codes[codes >= 0], return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
