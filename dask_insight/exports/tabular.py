"""Every table that a recording holds, some rows at a time.

What can be worked out of them (``budget``, ``findings`` …) is among them where the recording holds it, as
after `Recording.explain`: to work it out takes more time and memory than to write the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..batch import Texts
from ..columns import length, take
from ..lookup import TextRows
from ..schema import TABLES
from ..tables import FIELDS, frame_of, joined
from .lines import gathered

if TYPE_CHECKING:
    import pandas as pd

    from ..recording import Recording

#: Rows that become a DataFrame at a time.
_ROWS = 50_000


class Rows:
    """A table; its moments are seconds since the recording's start, named in ``about``.

    Attributes
    ----------
    name
        Its name.
    columns
        Names of its columns.
    """

    def __init__(self, recording: Recording, name: str) -> None:
        self.name, self.columns = name, [field.name for field in FIELDS[name]]
        self._values: Mapping[str, Any] = joined(recording.columns, name)
        self._started = recording.started
        if name == "about":
            self._values = _counted_from(self._started, self._values)

    def __len__(self) -> int:
        # The first column may be one of texts that nobody has looked up yet.
        first = self._values[self.columns[0]]
        return len(first.rows) if isinstance(first, TextRows) else length({"": first})

    def values(self) -> dict[str, tuple[Any, bool]]:
        """Each column as it is, and whether it holds moments, which are seconds since the epoch here."""
        return {field.name: (self._values[field.name], field.unit == "time") for field in FIELDS[self.name]}

    def blocks(self, *columns: str) -> Iterator[pd.DataFrame]:
        """Some rows after others, with these columns or with all."""
        wanted = columns or tuple(self.columns)
        for begin in range(0, len(self), _ROWS):
            rows = slice(begin, begin + _ROWS)
            some = {name: _some(self._values[name], rows) for name in wanted}
            yield frame_of(self.name, some, self._started)


def _counted_from(started: float, about: Mapping[str, Any]) -> Mapping[str, Any]:
    """The latest of each fact; ``started`` is where moments count from, as some tasks began before."""
    told = dict(zip(about["name"].tolist(), about["value"].tolist(), strict=True))
    told["started"] = json.dumps(started)
    return {"name": Texts.of(told), "value": Texts.of(told.values())}


def _some(values: Any, rows: slice) -> Any:
    return gathered(values, rows) if isinstance(values, Texts | TextRows) else take(values, rows)


def filled(recording: Recording) -> Iterator[Rows]:
    """The tables that have rows."""
    for name in FIELDS:
        rows = Rows(recording, name)
        if len(rows):
            yield rows


def files(suffix: str) -> set[str]:
    """Names of the files that the tables may become, and of the one that tells what their columns mean."""
    return {f"{name}{suffix}" for name in (*FIELDS, "describe")}


def expected(recording: Recording) -> int:
    """About as many rows as all of them have."""
    return sum(length(recording.columns(name)) for name in TABLES)
