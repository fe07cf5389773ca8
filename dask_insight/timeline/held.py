"""Until when results were held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..columns import forget
from ..lookup import Lookup, coded, is_any, most_pairs, pick, spread
from ..schema import NOTHING
from ..tables.facts import facts
from .attempts import Attempts, Read


class Stays(NamedTuple):
    """Results on workers that made them, and on those to which they came; one row each."""

    #: Row of the attempt that made it, and code of the worker (of `Attempts.worker`).
    row: np.ndarray
    worker: np.ndarray
    #: From when to when it was there, seconds since the epoch; infinity is the end.
    since: np.ndarray
    until: np.ndarray


def stays(read: Read, known: Attempts) -> Stays:
    """Where results were, each once; copies that a worker dropped before the result went count on."""
    made = np.flatnonzero(known.ok)
    row, worker, moment = _came(read, known)
    rows, since = np.concatenate((made, row)), np.concatenate((known.at("done", made), moment))
    worker = np.concatenate((known.worker.codes[made], worker))
    workers = read("workers")
    left = dict(zip(workers["worker"].tolist(), workers["left"].tolist(), strict=True))
    # Unknown of a worker that has not left.
    gone = np.array([left.get(name, np.nan) for name in known.worker.names] or [np.nan])[worker]
    until = np.maximum(np.fmin(held_until(read, known)[rows], gone), since)
    return Stays(rows, worker, since, until)


def held_until(read: Read, known: Attempts) -> np.ndarray:
    """When each attempt's result was let go of.

    Where nobody tells of any (other tools' files), a result is taken to be held until the last task that
    needs it has ended; of a task with several those before the next one are looked at, and if there are
    none it is held until that one is there.

    Returns
    -------
    numpy.ndarray
        Seconds since the epoch, one an attempt; infinity where the result was held to the end, and for
        attempts without one.
    """
    return _told(read("releases"), known) if tells_releases(read) else _needed_until(read, known)


def tells_releases(read: Read) -> bool:
    """Whether a recording tells until when results were held; other tools' files do not."""
    return len(read("releases")["task"]) > 0 or "source" not in facts(read("about"))


def _told(releases: Mapping[str, Any], known: Attempts) -> np.ndarray:
    until = np.full(len(known.run), np.inf)
    made = np.flatnonzero(known.ok)
    made = made[np.lexsort((known.at("done", made), known.task[made]))]
    order = np.lexsort((releases["time"], releases["task"]))
    task, time = releases["task"][order], releases["time"][order]
    # Whose result that was: the last one of the task that was there.
    first, last = (np.searchsorted(known.task[made], task, side) for side in ("left", "right"))
    several = np.flatnonzero(last - first > 1)
    at = last - 1
    for row in several.tolist():
        there = np.searchsorted(known.at("done", made[first[row] : last[row]]), time[row], "right")
        at[row] = first[row] + there - 1
    known_here = (at >= first) & (last > first)
    np.minimum.at(until, made[at[known_here]], time[known_here])
    return np.asarray(np.maximum(until, known.done))


def used_until(read: Read, known: Attempts) -> np.ndarray:
    """When the last task that needs each attempt's result had ended.

    Returns
    -------
    numpy.ndarray
        Seconds since the epoch; infinity where no task needs it, or one that does has not begun.
    """
    makers, users = _both_ends(read, known)
    until = _last_use(known, makers, users)
    until[makers[(makers >= 0) & (users < 0)]] = np.inf
    return until


def _needed_until(read: Read, known: Attempts) -> np.ndarray:
    until = _last_use(known, *_both_ends(read, known))
    made = np.flatnonzero(known.ok & np.isfinite(known.done))
    newest = _makers(known).rows(known.task[made])
    again = Lookup(known.task[made[newest != made]])
    several = again.rows(known.task[made]) >= 0
    if several.any():
        made, last = made[several], until[newest[several]]
        until[made] = _one_after_another(known, made, last, *_users_of(read, known, again))
    return until


def _one_after_another(
    known: Attempts, made: np.ndarray, last: np.ndarray, needed: np.ndarray, user: np.ndarray
) -> np.ndarray:
    """Until when each of several results of a task was needed: none when the next one was there.

    Parameters
    ----------
    made
        Rows of the attempts.
    last
        For each until when its task's last result was needed.
    needed, user
        Tasks, and rows of the attempts that needed them.
    """
    task = np.concatenate((known.task[made], needed))
    moment = np.concatenate((known.at("done", made), known.at("done", user)))
    # Of each task its results and the ends of what needed them, by time.
    result = np.arange(len(task)) < len(made)
    order = np.lexsort((result, moment, task))
    at = np.flatnonzero(result[order])
    ends = np.searchsorted(task[order], task[order[at]], "right")
    following = np.append(at[1:], len(order))
    place = order[at]
    until = np.where(following < ends, moment[order[np.minimum(following, len(order) - 1)]], last[place])
    before = np.minimum(following, ends) - 1
    until = np.where(before > at, moment[order[before]], until)
    found = np.empty(len(made))
    found[place] = np.maximum(until, moment[place])
    return found


def _users_of(read: Read, known: Attempts, wanted: Lookup) -> tuple[np.ndarray, np.ndarray]:
    """Wanted tasks that others need, and the rows of all attempts at those that ended, as pairs."""
    edges: Mapping[str, Any] = read("edges")
    needed = np.flatnonzero(wanted.rows(edges["dependency"]) >= 0)
    ended = np.flatnonzero(np.isfinite(known.done))
    ended = ended[np.argsort(known.task[ended], kind="stable")]
    left, right = (
        np.searchsorted(known.task[ended], edges["task"][needed], side) for side in ("left", "right")
    )
    edge, at = spread(left, right, most_pairs(needed, ended))
    dependency = edges["dependency"][needed][edge]
    forget(edges)
    return dependency, ended[at]


def _last_use(known: Attempts, makers: np.ndarray, users: np.ndarray) -> np.ndarray:
    both = (makers >= 0) & (users >= 0)
    until = np.full(len(known.run), -np.inf)
    np.maximum.at(until, makers[both], known.at("done", users[both]))
    return np.asarray(np.where(np.isfinite(until), np.maximum(until, known.done), np.inf))


def _both_ends(read: Read, known: Attempts) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the attempts at both ends of each edge: who made the result, and who needs it; -1 if none."""
    edges: Mapping[str, Any] = read("edges")
    makers, users = _makers(known).rows(edges["dependency"]), Lookup(known.task).rows(edges["task"])
    forget(edges)
    return makers, users


def _makers(known: Attempts) -> Lookup:
    """Finds the attempt that made the result of a task."""
    return Lookup(np.where(known.ok, known.task, NOTHING).astype("u4"))


def _came(read: Read, known: Attempts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Results that came from others, each the first time: row of the attempt, code of the worker, moment."""
    transfers: Mapping[str, Any] = read("transfers")
    carried: Mapping[str, Any] = read("transferred")
    at, made = Lookup(transfers["transfer"]).rows(carried["transfer"]), _makers(known).rows(carried["task"])
    incoming = is_any(transfers["direction"], ("in",))
    kept = np.flatnonzero((at >= 0) & (made >= 0))
    kept = kept[incoming[at[kept]]]
    worker = coded(pick(transfers["worker"], at[kept]), known.worker.names)
    row, moment = made[kept], transfers["stop"][at[kept]]
    there = np.flatnonzero((worker >= 0) & (worker != known.worker.codes[row]) & np.isfinite(moment))
    there = there[np.argsort(moment[there], kind="stable")]
    pair = row[there].astype("i8") * len(known.worker.names) + worker[there]
    _, first = np.unique(pair, return_index=True)
    there = there[first]
    return row[there], worker[there], moment[there]
