"""What each attempt waited for last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..columns import forget, gather, taken_out
from ..lookup import Lookup, most_pairs, spread
from ..schema import NOTHING
from .attempts import Attempts, Read
from .fields import Fields, Moment
from .micros import Micros, own_seconds

#: Inputs looked at together, which bounds the memory that their sizes take.
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False, kw_only=True)
class Inputs(Fields):
    """For each attempt, rows of other attempts; -1 where there is none."""

    #: The input that was there last, or the failed attempt at the same task before it if that came later.
    last: np.ndarray
    #: The largest input that was made on another worker.
    moved: np.ndarray
    #: When nothing but the scheduler kept it back any more: it was wanted and its inputs were there.
    since: Moment = Moment()


def inputs(read: Read, attempts: Attempts) -> Inputs:
    """Find what every attempt waited for."""
    needs, made = _pairs(read, attempts)
    count = len(attempts.run)
    last = _greatest(needs, made, lambda _, made: attempts.at("done", made), count)
    moved = _greatest(needs, made, lambda needs, made: _from_elsewhere(attempts, needs, made), count)
    del needs, made
    later, before = _retried(attempts)
    at = np.maximum(last[later], 0)
    newer = (last[later] < 0) | (attempts.at("done", before) >= attempts.at("done", at))
    last[later[newer]] = before[newer]
    came = np.where(last >= 0, attempts.at("done", np.maximum(last, 0)), -np.inf) if count else np.zeros(0)
    since = own_seconds(attempts.kept("wanted"))
    np.fmax(came, since, out=since)
    del came
    np.fmin(since, attempts.ready, out=since)
    return Inputs(last=last, moved=moved, since=Micros.of(since))


def _pairs(read: Read, attempts: Attempts) -> tuple[np.ndarray, np.ndarray]:
    """Rows of attempts, and of those that made what they needed."""
    table = edges = read("edges")
    gather(table, ("task", "dependency"))
    newest = Lookup(attempts.task)
    older = np.flatnonzero(newest.rows(attempts.task) != np.arange(len(attempts.run), dtype="i4"))
    older = older[attempts.task[older] != NOTHING]
    if len(older):
        # Both are looked at once more.
        edges = {name: taken_out(table, name) for name in ("task", "dependency")}
    needs = newest.rows(np.asarray(taken_out(edges, "task")))
    makers = Lookup(np.where(attempts.ok, attempts.task, NOTHING).astype("u4"))
    made = makers.rows(np.asarray(taken_out(edges, "dependency")))
    forget(table)
    both = (needs >= 0) & (made >= 0)
    if not both.all():
        needs, made = needs[both], made[both]
    if not len(older):
        return needs, made
    order = np.argsort(edges["task"], kind="stable")
    tasks = edges["task"][order]
    wanted = attempts.task[older]
    left, right = np.searchsorted(tasks, wanted), np.searchsorted(tasks, wanted, side="right")
    rows, at = spread(left, right, most_pairs(older, tasks))
    more = makers.rows(edges["dependency"][order[at]])
    needs = np.concatenate((needs, older[rows[more >= 0]]))
    return needs, _in_time(attempts, needs, np.concatenate((made, more[more >= 0])))


def _in_time(attempts: Attempts, needs: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Of results made several times, the one that was there when it was needed."""
    late = np.flatnonzero(attempts.at("done", made) > attempts.at("ready", needs) + 0.001)
    good = np.flatnonzero(attempts.ok)
    good = good[np.lexsort((attempts.at("done", good), attempts.task[good]))]
    place = np.full(len(attempts.run), -1)
    place[good] = np.arange(len(good))
    # By task and moment, together with the moments until which a result is wanted.
    tasks = np.concatenate((attempts.task[good], attempts.task[made[late]]))
    moments = np.concatenate((attempts.at("done", good), attempts.at("ready", needs[late]) + 0.001))
    order = np.lexsort((np.arange(len(tasks)) >= len(good), moments, tasks))
    done = order < len(good)
    until = np.empty(len(tasks), "i8")
    until[order] = np.cumsum(done) - 1
    # Where none was done in time, the first stands for it.
    first = np.searchsorted(attempts.task[good], attempts.task[made[late]])
    made = made.copy()
    made[late] = good[np.clip(until[len(good) :], first, place[made[late]])]
    return made


def _greatest(
    needs: np.ndarray, made: np.ndarray, size: Callable[[np.ndarray, np.ndarray], np.ndarray], count: int
) -> np.ndarray:
    """For each row in `needs`, that of `made` with the greatest size; what has -inf is left out."""
    most = np.full(count, -np.inf)
    blocks = [slice(at, at + _BLOCK) for at in range(0, len(needs), _BLOCK)]
    for some in blocks:
        np.maximum.at(most, needs[some], size(needs[some], made[some]))
    found = np.full(count, -1, "i4")
    for some in blocks:
        sizes = size(needs[some], made[some])
        is_most = np.flatnonzero((sizes == most[needs[some]]) & (sizes > -np.inf))
        found[needs[some][is_most]] = made[some][is_most]
    return found


def _from_elsewhere(attempts: Attempts, needs: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Size of each input; -inf of those that were made on the worker that needed them."""
    worker = attempts.worker.codes
    return np.where(worker[needs] == worker[made], -np.inf, np.nan_to_num(attempts.at("nbytes", made)))


def _retried(attempts: Attempts) -> tuple[np.ndarray, np.ndarray]:
    """Attempts that followed a failed one at the same task, and that one."""
    failed = np.flatnonzero(attempts.failed)
    if not len(failed):
        return failed, failed
    rows = np.flatnonzero(np.isin(attempts.task, attempts.task[failed]) & (attempts.task != NOTHING))
    rows = rows[np.lexsort((attempts.at("done", rows), attempts.task[rows]))]
    follows = (attempts.task[rows[1:]] == attempts.task[rows[:-1]]) & attempts.failed[rows[:-1]]
    return rows[1:][follows], rows[:-1][follows]
