"""Results that were made more than once, and whether somebody had asked for them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...batch import Texts
from ...columns import taken_out
from ...lookup import pick, sorted_set
from ...schema import NOTHING
from ...timeline import cluster_of

if TYPE_CHECKING:
    from .facts import Facts


#: Seconds by which the word of a worker's end may come after its tasks are wanted again.
_SLACK = 1.0


class MadeAgain(NamedTuple):
    """Attempts that ended well and made what others had made before on the same cluster."""

    #: Those of which somebody had asked for the result since, and the last ones before.
    asked: np.ndarray
    before: np.ndarray
    #: Those that Dask itself wanted, by the worker that had left last: a result was lost with it, or it took
    #: part in P2P, which begins anew then.
    left: Mapping[str, np.ndarray]

    @property
    def unasked(self) -> np.ndarray:
        """Those that Dask wanted as workers left."""
        return np.concatenate([*self.left.values(), self.asked[:0]])


def made_again(facts: Facts) -> MadeAgain:
    known = facts.attempts
    rows = np.flatnonzero(facts.good & (known.task != NOTHING))
    tasks = by_key(facts, rows)
    if not len(tasks) or (int(tasks.max()) < 8 * len(tasks) and int(np.bincount(tasks).max()) < 2):
        return MadeAgain(rows[:0], rows[:0], {})
    names = [*map(cluster_of(facts.read), known.worker.names)]
    cluster = np.unique(names, return_inverse=True)[1][known.worker.codes[rows]]
    order = np.lexsort((known.at("done", rows), cluster, tasks))
    rows, tasks, cluster = rows[order], tasks[order], cluster[order]
    same = (tasks[1:] == tasks[:-1]) & (cluster[1:] == cluster[:-1])
    again, before = rows[1:][same], rows[:-1][same]
    wanted, done = known.at("wanted", again), known.at("done", before)
    # What was made twice beside each other had not been let go of.
    later = wanted >= done
    asked = later & _submitted_between(facts, done, wanted)
    return MadeAgain(again[asked], before[asked], _by_departure(facts, again[later & ~asked]))


def _by_departure(facts: Facts, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Attempts by the worker of their cluster that had left last when they were wanted."""
    known, of = facts.attempts, cluster_of(facts.read)
    cluster = np.array([*map(of, known.worker.names)])[known.worker.codes[rows]]
    wanted, found = known.at("wanted", rows) + _SLACK, {}
    gone = [(facts.left(name), name) for name in facts.workers if facts.left(name) < np.inf]
    for left, name in sorted(gone, reverse=True):
        mine = (cluster == of(name)) & (wanted >= left)
        if mine.any():
            found[name] = rows[mine]
            rows, cluster, wanted = rows[~mine], cluster[~mine], wanted[~mine]
    return found


def _submitted_between(facts: Facts, since: np.ndarray, until: np.ndarray) -> np.ndarray:
    """Whether something was submitted after one moment and up to another, for each of some pairs."""
    moments = np.sort(facts.read("submissions")["time"])
    moments = moments[np.isfinite(moments)]
    count = np.searchsorted(moments, until, "right") - np.searchsorted(moments, since, "right")
    # Where other tools' files do not tell, it is taken that somebody asked.
    return np.asarray((count > 0) | (not len(moments) or not facts.attempts.asked))


def by_key(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """The task of some attempts; where Dask had forgotten one, and was given its key again, the first."""
    graph, known = facts.read("graph"), facts.attempts
    tasks: np.ndarray = known.task[rows]
    described = known.described[rows]
    submission = pick(graph["submission"], described)
    if (submission == submission[:1]).all():
        return tasks
    group = graph["group"].codes[described].astype("i8")
    pairs = sorted_set(group << 32 | submission) >> 32
    several = np.zeros(len(graph["group"].names), bool)
    several[pairs[1:][pairs[1:] == pairs[:-1]]] = True
    mine = np.flatnonzero(several[group] & (described >= 0))
    keys = taken_out(graph, "key")
    assert isinstance(keys, Texts)
    begin, end = keys.offsets[described[mine]], keys.offsets[described[mine] + 1]
    mine, begin, end = (each[end > begin] for each in (mine, begin, end))
    ends = zip(begin.tolist(), end.tolist(), strict=True)
    marks = np.fromiter((hash(bytes(keys.data[first:last])) for first, last in ends), "i8", len(mine))
    _, first, number = np.unique(marks, return_index=True, return_inverse=True)
    tasks = tasks.copy()
    tasks[mine] = tasks[mine[first]][number]
    return tasks
