"""Tables that are worked out from others when somebody asks for them.

Rows of them that a file has count only where it has nothing to work them out from: they may be of an older
version, or say what somebody wants to be believed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from .batch import default
from .columns import Columns, length
from .schema import TABLES

#: Table to the module and the function that work it out from the others.
MADE = {
    "budget": ("analysis.time_budget", "rows"),
    "critical": ("analysis.critical_path", "critical_rows"),
    "findings": ("analysis", "findings_rows"),
    "what_if": ("analysis", "what_if_rows"),
}
#: Tables that take long, and say little of a run that goes on: pages get them while no task runs.
AT_REST = frozenset(("what_if",))
#: Tables one of which must have rows before there is anything to work out.
_SOURCES = ("attempts", "executions", "running")
#: Tables of which that is no condition: where no task ran, events may tell why.
_ALSO = {"findings": ("events",)}


class Answers:
    """The worked-out tables of a recording.

    Parameters
    ----------
    read
        Gives the columns of a table of the recording.
    stamp
        Gives what changes whenever the recording does.
    """

    def __init__(self, read: Callable[[str], Columns], stamp: Callable[[], Any]) -> None:
        self._read = read
        self._stamp = stamp
        self._made: dict[str, tuple[Any, Columns]] = {}

    def columns(self, table: str) -> Columns:
        """Columns of any table; one that can be worked out is."""
        return self.look()(table)

    def look(self) -> Callable[[str], Columns]:
        """Reads any table as `columns` does, each once."""
        return _Look(self._read, self._made, self._stamp())

    def forget(self) -> None:
        """Let go of what was worked out."""
        self._made = {}


class _Look:
    """Reads each table once: what is worked out of a recording that grows must not see it change.

    What is worked out may read other tables that are.
    """

    def __init__(
        self, read: Callable[[str], Columns], made: dict[str, tuple[Any, Columns]], stamp: Any
    ) -> None:
        self._read = read
        self._made = made
        self._stamp = stamp
        self._known: dict[str, Columns] = {}

    def __call__(self, table: str) -> Columns:
        if table not in self._known:
            self._known[table] = self._read(table)
            if table in MADE:
                self._known[table] = self._worked_out(table)
        return self._known[table]

    def _worked_out(self, table: str) -> Columns:
        if (made := self._made.get(table)) is not None and made[0] == self._stamp:
            return made[1]
        if not any(length(self(source)) for source in (*_SOURCES, *_ALSO.get(table, ()))):
            return self._known[table]
        module, name = MADE[table]
        # Of what is nowhere in time no number comes, as of what is not known.
        with np.errstate(invalid="ignore", over="ignore"):
            told: Mapping[str, Any] = getattr(import_module(f"{__package__}.{module}"), name)(self)
        rows = length(told)
        missing = {column.name: column for column in TABLES[table].columns if column.name not in told}
        filled = {name: np.asarray(default(column, rows)) for name, column in missing.items()}
        self._made[table] = (self._stamp, {**told, **filled})
        return self._made[table][1]
