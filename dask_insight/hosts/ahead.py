"""What a report tells of its rows ahead of them, so that the first picture need not read them all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_insight.batch import Batch, decode, encode, table_of
from dask_insight.lookup import distinct
from dask_insight.schema import EXTENT, SECEDED
from dask_insight.tables.facts import part_of_run
from dask_insight.timeline import sizers_of

if TYPE_CHECKING:
    from dask_insight.recording import Recording

#: Task names that were waited for longest, of which a sum is told; the page shows fewer.
_WAITED = 16
_NEEDED = frozenset(("start", "stop", "threads", "part", "name"))


def ahead(recording: Recording, first_and_last: list[float], budget: Iterable[Batch]) -> bytes:
    """A batch of facts: first and last moment, the time budget's sums, and signs of the task stream's legend.

    Parameters
    ----------
    recording
        What the report is of.
    first_and_last
        The `extent` of the report's rows; of a part of a run no more than that is shown.
    budget
        Its table ``budget`` as it stands in the report.
    """
    shown = np.clip(first_and_last, *part_of_run(recording.columns)).tolist()
    facts = {"extent": shown, "budget": budget_sums(list(budget))}
    told = {name: json.dumps(value) for name, value in facts.items() if value}
    told["signs"] = json.dumps(_signs(recording))
    return encode("about", {"name": list(told), "value": list(told.values())})


def _signs(recording: Recording) -> list[str]:
    """Those that stand in the legend only where something has them: the rows that show it come late."""
    signs = ["sizing"] if sizers_of(recording.columns) else []
    action: Any = recording.columns("phases")["action"]
    if SECEDED in action.names:
        signs.append(SECEDED)
    return signs


def extent(batches: Iterable[bytes]) -> list[float]:
    """First and last moment of a report's rows, so that its page need not look at each; empty without any."""
    moments = [
        np.asarray(values)
        for batch in batches
        if (names := EXTENT.get(table_of(batch)))
        for values in decode(batch, names).columns.values()
    ]
    times = np.array([(each.min(), each.max()) for all_ in moments if len(each := all_[np.isfinite(all_)])])
    return [float(times.min()), float(times.max())] if len(times) else []


def budget_sums(budget: list[Batch]) -> dict[str, Any]:
    """Rows, first and last moment of the time budget, and the thread-seconds of its parts."""
    rows = sum(batch.rows for batch in budget)
    if not rows or not all(batch.columns.keys() >= _NEEDED for batch in budget):
        return {}
    starts, stops = (
        np.concatenate([np.asarray(batch.columns[name]) for batch in budget]) for name in ("start", "stop")
    )
    if not (np.isfinite(starts).any() and np.isfinite(stops).any()):
        return {}
    sums: dict[tuple[str, str], float] = {}
    for batch in budget:
        for part, name, seconds in _by_name(batch):
            sums[part, name] = sums.get((part, name), 0.0) + seconds
    return {
        "rows": rows,
        "start": float(np.nanmin(starts)),
        "stop": float(np.nanmax(stops)),
        "sums": [[part, name, seconds] for (part, name), seconds in _shortened(sums).items()],
    }


def _by_name(batch: Batch) -> Iterator[tuple[str, str, float]]:
    """Thread-seconds of each part, and of each task name that was waited for, in the order of the symbols."""
    columns: Mapping[str, Any] = batch.columns
    part, name = columns["part"], columns["name"]
    lasted = np.nan_to_num(columns["stop"] - columns["start"])
    seconds = np.maximum(lasted, 0) * columns["threads"].astype("f8")
    wide = len(name.names)
    known, place = distinct(part.codes.astype("i8") * wide + name.codes, len(part.names) * wide)
    sums = np.bincount(place, seconds, len(known))
    ends = np.searchsorted(known, wide * np.arange(len(part.names) + 1))
    for code, label in enumerate(part.names):
        of_part = sums[ends[code] : ends[code + 1]]
        if label != "inputs":
            yield label, "", float(of_part.sum())
            continue
        yield label, "", 0.0
        for waited in np.flatnonzero(of_part):
            yield label, name.names[known[ends[code] + waited] % wide], float(of_part[waited])


def _shortened(sums: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """The names that were waited for longest; all others are summed as that of no name."""
    named = sorted((key for key in sums if key[1]), key=lambda key: -sums[key])
    rest = named[_WAITED:]
    for key in rest:
        sums[key[0], ""] += sums.pop(key)
    return sums
