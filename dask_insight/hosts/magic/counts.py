"""How far a computation is, counted batch by batch."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ...batch import BatchError, Symbols, decode, table_of
from ...session.ends import READ, Change, Ends

#: The columns by which tasks are counted.
_COUNTED = {**READ, "graph": (*READ["graph"], "prefix")}


class GroupCount(NamedTuple):
    """A task name and how far its tasks are."""

    name: str
    total: int
    done: int
    erred: int


class Counts:
    """Counts tasks by name as batches arrive; not safe for several threads at once."""

    def __init__(self) -> None:
        self._ends = Ends()
        self._names: list[str] = []
        self._code: dict[str, int] = {}
        self._name_of = np.zeros(0, "i4")
        self._totals: Counter[int] = Counter()
        self._dones: Counter[int] = Counter()
        self._errors: Counter[int] = Counter()

    @property
    def total(self) -> int:
        """Different tasks that are to run, or ran."""
        return self._ends.total

    @property
    def done(self) -> int:
        """Those of them that ended well."""
        return self._ends.done

    @property
    def erred(self) -> int:
        """Different tasks that failed, and have no result."""
        return self._ends.failed

    def take(self, batch: bytes) -> None:
        """Count a batch of any table; one that cannot be read counts nothing."""
        try:
            if (table := table_of(batch)) not in _COUNTED:
                return
            columns: Any = decode(batch, _COUNTED[table]).columns
            if table == "graph":
                self._name(columns["task"], columns.get("prefix"))
            self._count(self._ends.take(table, columns))
        except (BatchError, KeyError):
            return

    def _count(self, change: Change) -> None:
        self._totals.update(self._by_name(change.new))
        self._dones.update(self._by_name(change.done))
        self._errors.update(self._by_name(change.failed))
        self._errors.subtract(self._by_name(change.mended))

    def groups(self) -> list[GroupCount]:
        """Task names in the order in which their first tasks ended; names of which none has come last."""
        begun = [code for code in self._dones if code in self._totals]
        codes = begun + [code for code in reversed(self._totals) if code not in self._dones]
        return [
            GroupCount(self._names[code] or "?", self._totals[code], self._dones[code], self._errors[code])
            for code in codes
        ]

    def _name(self, tasks: np.ndarray, prefix: Symbols | None) -> None:
        if prefix is None or not len(tasks):
            return
        codes = np.array([self._code_of(name) for name in prefix.names], "i4")[prefix.codes]
        self._grow(int(tasks.max()))
        unnamed = self._name_of[tasks] < 0
        new, first = np.unique(tasks[unnamed], return_index=True)
        self._name_of[new] = codes[unnamed][first]
        # A task may end before the graph that brought it has been told of.
        self._count(self._ends.known(new))

    def _by_name(self, tasks: np.ndarray) -> Counter[int]:
        """Tasks whose name is known, counted by its code."""
        self._grow(int(tasks.max(initial=0)))
        codes = self._name_of[tasks]
        values, counts = np.unique(codes[codes >= 0], return_counts=True)
        return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))

    def _code_of(self, name: str) -> int:
        if name not in self._code:
            self._code[name] = len(self._names)
            self._names.append(name)
        return self._code[name]

    def _grow(self, task: int) -> None:
        if task >= len(self._name_of):
            more = max(1024, 2 * (task + 1)) - len(self._name_of)
            self._name_of = np.concatenate((self._name_of, np.full(more, -1, "i4")))
