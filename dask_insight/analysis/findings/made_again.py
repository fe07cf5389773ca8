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
from .departures import departures
from .names import by_code
from .p2p_ends import ends_of_p2p

if TYPE_CHECKING:
    from .facts import Facts


#: Seconds by which the word of a worker's end may come before or after its tasks are wanted again.
SLACK = 1.0


class MadeAgain(NamedTuple):
    """Attempts that ended well and made what others had made before on the same cluster."""

    #: Those of which somebody had asked for the result since, and the last ones before.
    asked: np.ndarray
    before: np.ndarray
    #: Those that Dask itself wanted, by the worker that had left: a result was lost with it, or it took part
    #: in P2P, which begins anew then.
    left: Mapping[str, np.ndarray]


def made_again(facts: Facts) -> MadeAgain:
    """What was made again, by who wanted it."""
    known = facts.attempts
    rows = np.flatnonzero(facts.good & (known.task != NOTHING))
    tasks = by_key(facts, rows)
    if not len(tasks) or (int(tasks.max()) < 8 * len(tasks) and int(np.bincount(tasks).max()) < 2):
        return MadeAgain(rows[:0], rows[:0], {})
    of = cluster_of(facts.read)
    clusters, codes = np.unique([*map(of, known.worker.names)], return_inverse=True)
    cluster = codes[known.worker.codes[rows]]
    order = np.lexsort((known.at("done", rows), cluster, tasks))
    rows, tasks, cluster = rows[order], tasks[order], cluster[order]
    same = (tasks[1:] == tasks[:-1]) & (cluster[1:] == cluster[:-1])
    pairs = _Pairs(facts, rows[1:][same], rows[:-1][same])
    # What was made twice beside each other had not been let go of.
    pairs = pairs.take(pairs.wanted >= pairs.done)
    asked = _submitted_between(facts, pairs.done, pairs.wanted)
    left: dict[str, np.ndarray] = {}
    took = {each.worker for each in departures(facts) if each.results > 0}
    inputs = tasks[:0] if asked.all() else ends_of_p2p(facts).inputs
    cluster = codes[known.worker.codes[pairs.again]]
    for number, name in enumerate(clusters.tolist()):
        mine = np.flatnonzero(~asked & (cluster == number))
        gone = sorted((facts.left(each), each) for each in facts.workers if of(each) == name)
        gone = [each for each in gone if each[0] < np.inf]
        for which, at in by_code(_last_departures(pairs.take(mine), gone, took)).items():
            again, worker = pairs.again[mine[at]], gone[which][1] if which >= 0 else ""
            # One that handed over what it had has nothing made again, but for P2P.
            if worker in took or (worker and np.isin(known.task[again], inputs).any()):
                left[worker] = again
            else:
                # Nobody's leaving explains it: somebody asked, as by `Client.retry`, which submits nothing.
                asked[mine[at]] = True
    return MadeAgain(pairs.again[asked], pairs.before[asked], left)


class _Pairs:
    """Attempts, and those before that had made the same."""

    def __init__(self, facts: Facts, again: np.ndarray, before: np.ndarray) -> None:
        self.facts, self.again, self.before = facts, again, before
        self.wanted, self.done = facts.attempts.at("wanted", again), facts.attempts.at("done", before)

    def take(self, some: np.ndarray) -> _Pairs:
        return _Pairs(self.facts, self.again[some], self.before[some])


def _last_departures(pairs: _Pairs, gone: list[tuple[float, str]], took: set[str]) -> np.ndarray:
    """Whose leaving had results made again, by its place in `gone`: when workers left, in order; or -1.

    The worker that had made one, if it `took` results; else that which left last before it was wanted.
    """
    if not gone or not len(pairs.again):
        return np.full(len(pairs.again), -1)
    moments = np.array([when for when, _ in gone])
    last = np.searchsorted(moments, pairs.wanted, "right") - 1
    # The word of one may come later than what it does.
    following = np.minimum(last + 1, len(gone) - 1)
    early = (last < 0) | (moments[last] < pairs.done - SLACK)
    last = np.where(early & (moments[following] <= pairs.wanted + SLACK), following, last)
    last[(last < 0) | (moments[last] < pairs.done - SLACK)] = -1
    number = {name: which for which, (_, name) in enumerate(gone) if name in took}
    worker = pairs.facts.attempts.worker
    own = np.array([number.get(name, -1) for name in worker.names])[worker.codes[pairs.before]]
    return np.asarray(np.where((own >= 0) & (moments[own] <= pairs.wanted + SLACK), own, last))


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
