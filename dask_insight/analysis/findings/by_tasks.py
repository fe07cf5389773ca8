"""Graphs that tasks handed over: collections that are computed inside of tasks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import is_any
from ...schema import SECEDED
from ...timeline import submitted_by_tasks
from .facts import Facts
from .names import most, quoted
from .whereabouts import whereabouts_of

LAUNCHING = "https://distributed.dask.org/en/stable/task-launch.html"
#: Share of a weight from which it is of tasks.
_MOST = 0.5


class ByTasks(NamedTuple):
    """Who handed such graphs over."""

    #: Names of the tasks, most graphs first; none if it is not known.
    names: tuple[str, ...]
    graphs: int
    #: Where they did, as `Whereabouts` has it; '' if it is not known.
    place: str

    def said(self) -> str:
        """Who did, in a sentence."""
        who = f"Tasks of {quoted(self.names)}" if self.names else "Tasks"
        where = f", at {self.place}" if self.place else ""
        graphs = words.count(self.graphs, "graph")
        return f"{who} computed a collection themselves{where}: {graphs} came from inside of tasks."


def by_tasks(facts: Facts, weight: np.ndarray) -> ByTasks | None:
    """Who handed graphs over, if most of some weight is of those that tasks did.

    Parameters
    ----------
    weight
        What each of `Facts.submissions` counts for; 0 for those that are not meant.
    """
    table = facts.submissions
    theirs = submitted_by_tasks(facts.read, table["submission"])
    if weight[theirs].sum() < max(_MOST * weight.sum(), 1e-9):
        return None
    times = np.sort(table["time"][theirs])
    known, phases = facts.attempts, facts.read("phases")
    rows = np.flatnonzero(np.isin(known.run, phases["run"][is_any(phases["action"], (SECEDED,))]))
    start, stop = (known.at(name, rows) for name in ("start", "stop"))
    graphs = np.searchsorted(times, stop, "right") - np.searchsorted(times, start)
    rows, graphs = rows[graphs > 0], graphs[graphs > 0]
    names = most(facts, rows, graphs.astype("f8")) if len(rows) else ()
    return ByTasks(names, int(theirs.sum()), whereabouts_of(facts, rows).place)


ONCE_BEFORE = (
    "Compute once what tasks share, and hand over the result; or build one graph of all of it, and leave "
    "`.compute()` to whoever asks for that.\n\n"
    "    data = client.compute(collection)   # not the collection itself\n"
    "    futures = client.map(function, items, data=data)\n"
    "    # or: dask.compute(*[step(collection, item) for item in items])"
)
