"""pandas tables over the columns of a recording.

One file makes one table out of several (`tasks`, `transfers`); the others show
the schema's own columns. `FIELDS` says what stands in each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..columns import steady
from ..schema import TABLES
from . import memory, named, plain, spans, tasks, transfers
from .field import Field

if TYPE_CHECKING:
    import pandas as pd

Read = Callable[[str], Mapping[str, Any]]
_Make = Callable[[Read], Mapping[str, Any]]

#: Tables that are made of several; all others are as in the schema.
_MADE: dict[str, tuple[tuple[Field, ...], _Make]] = {
    "tasks": (tasks.FIELDS, tasks.make),
    "transfers": (transfers.TRANSFERS, transfers.transfers),
    "transferred": (transfers.TRANSFERRED, transfers.transferred),
    "memory": (memory.FIELDS, memory.make),
    "samples": (named.SAMPLES, named.samples),
    "collections": (named.COLLECTIONS, named.collections),
    "releases": (named.RELEASES, named.releases),
    "phases": (named.PHASES, named.phases),
    "errors": (named.ERRORS, named.errors),
    "edges": (named.EDGES, named.edges),
    "spans": (spans.FIELDS, spans.make),
}

#: Name of every table to its columns.
FIELDS: dict[str, tuple[Field, ...]] = {
    "tasks": tasks.FIELDS,
    **{name: plain.fields(table) for name, table in TABLES.items()},
    **{name: fields for name, (fields, _) in _MADE.items()},
}


def make(read: Read, name: str, started: Callable[[], float], *, timestamps: bool) -> pd.DataFrame:
    """One table as a DataFrame.

    Parameters
    ----------
    read
        Gives the columns of a table of the schema, times in seconds since the epoch.
    name
        A name in `FIELDS`.
    started
        Tells the moment from which seconds count, seconds since the epoch. That reads tables, of which those
        that are joined are read first: several at once.
    timestamps
        Times as UTC timestamps instead of seconds since the start.

    Raises
    ------
    KeyError
        If there is no such table.
    """
    from .frame import frame

    columns = joined(read, name)
    return frame(FIELDS[name], columns, started(), timestamps=timestamps, own=name == "tasks")


def joined(read: Read, name: str) -> Mapping[str, Any]:
    """The columns of one table, out of those of the schema, times in seconds since the epoch; see `make`.

    Raises
    ------
    KeyError
        If there is no such table.
    """
    if not _is_table(name):
        raise KeyError(_unknown(name))
    return _MADE[name][1](steady(read)) if name in _MADE else plain.make(read, name)


def frame_of(name: str, columns: Mapping[str, Any], started: float) -> pd.DataFrame:
    """A DataFrame of some columns of a table, as `joined` gives them; moments in seconds since `started`."""
    from .frame import frame

    fields = [field for field in FIELDS[name] if field.name in columns]
    return frame(fields, columns, started, timestamps=False, own=False)


#: Tables with the answers of methods that are called otherwise.
_ANSWERS = {"time_budget": "budget", "critical_path": "critical"}


def _is_table(name: Any) -> bool:
    return isinstance(name, str) and name in FIELDS


def _unknown(name: str) -> str:
    return f"no table {name!r}; there are {', '.join(FIELDS)}"


def describe(name: str | None = None) -> pd.DataFrame:
    """Columns of a table, or of all: table, column, unit and meaning.

    A table may be called as the method that gives the same.
    """
    import pandas as pd

    name = _ANSWERS.get(name, name) if isinstance(name, str) else name
    if name is not None and not _is_table(name):
        raise KeyError(_unknown(name))
    names = FIELDS if name is None else (name,)
    rows = [(table, *field) for table in names for field in FIELDS[table]]
    return pd.DataFrame(rows, columns=["table", "column", "unit", "meaning"])
