"""What a person has selected, as a part of a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

    from dask_insight.recording import Recording


class Choice(NamedTuple):
    """What is narrowed, and to what; None: not narrowed."""

    #: Seconds since the recording's `started`.
    time_range: tuple[float, float] | None = None
    names: Collection[str] | None = None
    workers: Collection[str] | None = None
    spans: Collection[str] | None = None
    #: Ids of attempts, as column ``run`` has them.
    runs: Collection[int] | None = None
    #: Execution counts of notebook cells.
    cells: Collection[int] | None = None


def selected_tasks(recording: Recording, choice: Choice) -> pd.DataFrame:
    """The rows of ``tasks`` that a choice leaves; those that overlap its time are kept whole."""
    tasks = recording.tasks
    kept = tasks["start"].notna() | (choice.time_range is None)
    if choice.time_range is not None:
        start, stop = choice.time_range
        kept &= (tasks["start"] < stop) & ~(tasks["stop"] < start)
    for column, values in (
        ("prefix", choice.names),
        ("worker", choice.workers),
        ("span", choice.spans),
        ("run", choice.runs),
        ("submission", _submissions(recording, choice.cells)),
    ):
        if values is not None:
            kept &= tasks[column].isin(list(values))
    left: pd.DataFrame = tasks[kept]
    return left


def _submissions(recording: Recording, cells: Collection[int] | None) -> list[object] | None:
    """The submissions that cells made."""
    if cells is None:
        return None
    made = recording.submissions
    found: list[object] = made.loc[made["execution"].isin(list(cells)), "submission"].tolist()
    return found
