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
    #: Lines of code that started computations, as ``file:line``.
    lines: Collection[str] | None = None


def selected_tasks(recording: Recording, choice: Choice) -> pd.DataFrame:
    """The rows of ``tasks`` that a choice leaves; those that overlap its time are kept whole."""
    tasks = recording.tasks
    kept = tasks["start"].notna() | (choice.time_range is None)
    if choice.time_range is not None:
        start, stop = choice.time_range
        # Of what was killed or runs on nobody tells when its function ended.
        ended = tasks["stop"].fillna(tasks["done"])
        kept &= (tasks["start"] < stop) & ~(ended < start)
    for column, values in (
        ("prefix", choice.names),
        ("worker", choice.workers),
        ("span", choice.spans),
        ("run", choice.runs),
        ("submission", _submissions(recording, choice)),
    ):
        if values is not None:
            kept &= tasks[column].isin(list(values))
    left: pd.DataFrame = tasks[kept]
    return left


def _submissions(recording: Recording, choice: Choice) -> list[object] | None:
    """The submissions that cells and lines of code made."""
    if choice.cells is None and choice.lines is None:
        return None
    made = recording.submissions
    if choice.cells is not None:
        made = made[made["execution"].isin(list(choice.cells))]
    if choice.lines is not None:
        lines = made["file"].astype(str) + ":" + made["line"].astype(str)
        made = made[lines.isin(list(choice.lines))]
    found: list[object] = made["submission"].tolist()
    return found
