"""Which tasks need which, by name: the shape of a computation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import summed_by_one
from ..batch import Symbols
from ..lookup import Lookup, sums
from ..schema import NOTHING
from ..tables.field import Field
from ..timeline import Read, attempts, stretches

if TYPE_CHECKING:
    import pandas as pd

#: What it can be summed by: the column of ``graph`` that tells it.
BY = {"function": "prefix", "group": "group"}
FIELDS = (
    Field("source", "", "Whose results are needed."),
    Field("target", "", "Who needs them."),
    Field("edges", "", "Dependencies of one task on another."),
    Field("sources", "", "Tasks whose results these are."),
    Field("targets", "", "Tasks that need them."),
    Field("nbytes", "bytes", "Size of the results, each counted for every task that needs it."),
    Field("seconds", "s", "Time for which the functions of the tasks that need them held a thread."),
)


def dependencies(read: Read, by: str) -> pd.DataFrame:
    """The table of `Recording.dependencies`."""
    from ..tables.frame import frame

    by = summed_by_one(by, BY)
    graph, edges, known = read("graph"), read("edges"), attempts(read)
    names: Symbols = graph[BY[by]]
    task = Lookup(graph["task"])
    source, target = task.rows(edges["dependency"]), task.rows(edges["task"])
    both = (source >= 0) & (target >= 0)
    source, target = source[both], target[both]
    width = max(1, len(names.names))
    code = names.codes[source].astype("i8") * width + names.codes[target]
    pairs, pair = np.unique(code, return_inverse=True)
    pair, count = pair.reshape(-1), len(pairs)
    made = Lookup(np.where(known.ok, known.task, NOTHING).astype("u4")).rows(edges["dependency"][both])
    size = np.append(np.nan_to_num(known.nbytes), 0.0)[made]
    ran = np.flatnonzero(known.ran & (known.described >= 0))
    tasks = max(1, len(graph["task"]))
    seconds = sums(known.described[ran], stretches(read, known).held(len(known.run))[ran], tasks)
    sources, targets = (np.divmod(np.unique(pair * tasks + rows), tasks) for rows in (source, target))
    columns: dict[str, Any] = {
        "source": Symbols((pairs // width).astype("u4"), names.names),
        "target": Symbols((pairs % width).astype("u4"), names.names),
        "edges": np.bincount(pair, minlength=count),
        "sources": np.bincount(sources[0], minlength=count),
        "targets": np.bincount(targets[0], minlength=count),
        "nbytes": sums(pair, size, count),
        "seconds": sums(targets[0], seconds[targets[1]], count),
    }
    table = frame(FIELDS, columns, 0.0, timestamps=False, own=False)
    return table.sort_values(["seconds", "edges"], ascending=False, kind="stable", ignore_index=True)
