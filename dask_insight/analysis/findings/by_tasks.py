"""Collections that are computed inside of tasks."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, by_name, sums
from ...tables.stacks import below
from ...timeline import submitted_by_tasks
from .facts import Facts
from .names import quoted

LAUNCHING = "https://distributed.dask.org/en/stable/task-launch.html"
#: What asks for a collection; who submits functions from within tasks knows what they do.
_FILE = re.compile(r"[\\/](?:dask[\\/]base|distributed[\\/]client)\.py$")
_FUNCTION = re.compile(r"(?:^|\.)(?:compute|persist)$")


class ByTasks(NamedTuple):
    """The tasks that compute collections."""

    #: Their names, longest first.
    names: tuple[str, ...]
    #: Graphs that came from inside of tasks, theirs or not.
    graphs: int
    #: Where they do, as `Whereabouts` has it; '' if it is not known.
    place: str

    def said(self) -> str:
        """That in a sentence."""
        graphs, where = words.count(self.graphs, "graph"), f", {self.place}" if self.place else ""
        who = f"Tasks of {quoted(self.names)}"
        return f"{who} computed a collection themselves{where}: {graphs} came from inside of tasks."


def by_tasks(facts: Facts, submission: np.ndarray, weight: np.ndarray) -> ByTasks | None:
    """The tasks that compute collections, if most of what something cost is of graphs from inside of tasks.

    Parameters
    ----------
    submission
        Ids of graphs.
    weight
        What each counts for.
    """
    theirs = submitted_by_tasks(facts.read, submission)
    if not weight[theirs].sum() > 0.5 * weight.sum():
        return None
    stacks = facts.call_stacks.stacks
    asks = by_name(stacks["file"], lambda file: bool(_FILE.search(file)), False)
    asks &= by_name(stacks["function"], lambda name: bool(_FUNCTION.search(name)), False)
    mine = below(stacks, asks)
    samples = facts.read("samples")
    row = Lookup(facts.attempts.run).rows(samples["run"])
    there = (row >= 0) & np.append(mine, False)[Lookup(stacks["stack"]).rows(samples["stack"])]
    seconds = np.nan_to_num(samples["duration"][there].astype("f8"))
    names = facts.worst(sums(facts.prefix.codes[row[there]], seconds, len(facts.names)), facts.names, 0.5)
    if not names:
        return None
    rows = np.flatnonzero(np.isin(facts.prefix.codes, [facts.names.index(name) for name in names]))
    graphs = submitted_by_tasks(facts.read, facts.submissions["submission"])
    place = facts.call_stacks.at(facts.attempts.run[rows], 0.0, mine).place
    return ByTasks(names, int(graphs.sum()), place)


ONCE_BEFORE = (
    "Leave `.compute()` out of tasks: hand the collection over, and Dask computes it once, or build one "
    "graph of all steps.\n\n"
    "    results = [dask.delayed(function)(collection, item) for item in items]   # an argument\n"
    "    results = [step(collection, item) for item in items]   # or steps of the collection itself\n"
    "    dask.compute(*results)"
)
