"""Tables that are worked out from others when somebody asks for them, unless the recording has them."""

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
}
#: Tables whose rows tell whether there is something new.
_SOURCES = ("attempts", "executions", "running", "phases", "metrics", "workers", "events")


class Answers:
    """The worked-out tables of a recording.

    Parameters
    ----------
    read
        Gives the columns of a table of the recording.
    """

    def __init__(self, read: Callable[[str], Columns]) -> None:
        self._read = read
        self._made: dict[str, tuple[tuple[int, ...], Columns]] = {}

    def columns(self, table: str) -> Columns:
        """Columns of any table; one that can be worked out is, where the recording has no rows of it."""
        stored = self._read(table)
        if table not in MADE or length(stored):
            return stored
        state = tuple(length(self._read(source)) for source in _SOURCES)
        if not any(state[:3]):
            return stored
        if self._made.get(table, ((), None))[0] != state:
            module, name = MADE[table]
            told: Mapping[str, Any] = getattr(import_module(f"{__package__}.{module}"), name)(self._read)
            rows = length(told)
            missing = {column.name: column for column in TABLES[table].columns if column.name not in told}
            filled = {name: np.asarray(default(column, rows)) for name, column in missing.items()}
            self._made[table] = (state, {**told, **filled})
        return self._made[table][1]
