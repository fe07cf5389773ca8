"""What a recording tells about its graph: how long tasks take, what they need, when the client asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...dag import Links, links, needs, turned
from ...lookup import Lookup, is_any, pick, sorted_set
from ...schema import DISK, NOTHING
from ...timeline import Read, WholeRun, needed_attempts, sizing_of

#: Dask's bounds of what it calls root-like: groups that are needed, and tasks in them.
_ROOTISH = 5
#: Seconds between submissions up to which Dask ranks the later one no lower: of futures, of collections.
_SAME_TURN = (0.1, 60.0)
#: Seconds between the end of a task and a submission up to which one is taken for the answer to the other.
_ANSWER = 0.05
#: Names that Dask never steals, since they take no time.
_NOT_STOLEN = ("split-shuffle", "split-taskshuffle", "split-stage", "rechunk-split", "rechunk-merge")


class Release(NamedTuple):
    """When the client hands over a submission: so many seconds after something."""

    gap: float
    #: After this task; -1 for none.
    task: int = -1
    #: After all that it had submitted before.
    barrier: bool = False


class Model(NamedTuple):
    """A graph with its costs. Tasks are numbered by rank: of those that could run the least runs first."""

    #: Ids of the tasks in the recording.
    task: np.ndarray
    #: Seconds in the function; on the thread before it; of those, seconds with the disk.
    compute: np.ndarray
    around: np.ndarray
    disk: np.ndarray
    nbytes: np.ndarray
    #: Code of each task's name and of its group, and how many tasks each group has.
    prefix: np.ndarray
    prefixes: list[str]
    group: np.ndarray
    group_size: np.ndarray
    #: Whether a group needs few others, so that it is root-like on a cluster that is small beside it.
    rootish: np.ndarray
    needs: Links
    members: list[list[int]]
    releases: list[Release]
    run: WholeRun
    #: Seconds from the last of these ends to that of the run: what was there then was cancelled, or lost.
    tail: float
    needed: list[list[int]]
    users: list[list[int]]

    @property
    def hold(self) -> np.ndarray:
        """Seconds for which each task holds its thread."""
        hold: np.ndarray = self.compute + self.around
        return hold

    @property
    def missing(self) -> np.ndarray:
        """What each task waits for: its inputs and being submitted."""
        missing: np.ndarray = np.diff(self.needs.begins) + 1
        return missing

    @property
    def expected(self) -> np.ndarray:
        """Seconds that Dask expects of each task: the mean of its name."""
        count = np.bincount(self.prefix, minlength=len(self.prefixes))
        total = np.bincount(self.prefix, self.compute, minlength=len(self.prefixes))
        mean: np.ndarray = (total / np.maximum(count, 1))[self.prefix]
        return mean

    @property
    def stealable(self) -> np.ndarray:
        """Whether Dask would move a task to another worker."""
        allowed = np.array([not name.startswith(_NOT_STOLEN) for name in self.prefixes] or [True])
        stealable: np.ndarray = allowed[self.prefix]
        return stealable

    def with_needs(self, **changes: Any) -> Model:
        """With other needs or other tasks; what follows from them is made anew."""
        made = self._replace(**changes)
        return made._replace(needed=made.needs.lists(), users=turned(made.needs).lists())


def model(read: Read, columns: Mapping[str, Any]) -> Model | None:
    """The model of a recording; None where no task ended. `columns` are those of the table ``tasks``."""
    ran = needed_attempts(columns)
    if not len(ran):
        return None
    spent = _spent(columns, ran)
    last = ran[_last_of_each(columns["task"][ran])]
    task, known = np.unique(columns["task"][last], return_index=True)
    last = last[known]
    # Where nobody tells when a task was asked for, that was before any of them began.
    moment = columns["submitted"][last]
    if not np.isfinite(moment).any():
        moment = np.full(len(last), np.nanmin(columns["start"][ran]))
    submission, times = _submissions(read, columns["submission"][last], moment)
    inner = needs(read, task)
    turn = _turns(times, _with_edges(submission, inner, len(times)))
    order = np.where(columns["order"][last] == NOTHING, 0, columns["order"][last])
    rank = np.lexsort((task, order, turn[submission], -np.nan_to_num(columns["priority"][last])))
    rows, place = last[rank], np.argsort(rank)
    pairs = np.repeat(place, np.diff(inner.begins)), place[inner.rows]
    needed = links(*pairs, len(task))
    group, group_size, rootish = _groups(columns["group"].codes[rows], needed)
    run = WholeRun.of(read, columns)
    done = run.clock(np.fmax(columns["done"], columns["stop"])[rows])
    made = Model(
        task=columns["task"][rows],
        compute=_of_task(spent[0], columns["task"][ran], columns["task"][rows]),
        around=_of_task(spent[1], columns["task"][ran], columns["task"][rows]),
        disk=_disk(read, columns, rows),
        nbytes=np.maximum(np.nan_to_num(columns["nbytes"][rows]), 0.0),
        prefix=columns["prefix"].codes[rows].astype("i8"),
        prefixes=columns["prefix"].names,
        group=group,
        group_size=group_size,
        rootish=rootish,
        needs=needed,
        members=links(submission[rank], np.arange(len(rank)), len(times)).lists(),
        releases=_releases(np.maximum(run.clock(times), 0.0), submission[rank], done),
        run=run,
        tail=run.seconds - float(done.max()),
        needed=needed.lists(),
        users=turned(needed).lists(),
    )
    return made._replace(disk=np.minimum(made.disk, made.around))


def _spent(columns: Mapping[str, Any], ran: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Seconds in the function and before it, of each attempt that ran."""
    start, stop = columns["start"][ran], columns["stop"][ran]
    compute = np.maximum(stop - start - columns["seceded"][ran], 0.0)
    return compute, np.maximum(np.nan_to_num(start - columns["executing"][ran]), 0.0)


def _last_of_each(task: np.ndarray) -> np.ndarray:
    """Rows of the last attempt at each task."""
    _, last = np.unique(task[::-1], return_index=True)
    return len(task) - 1 - last


def _of_task(seconds: np.ndarray, task: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Sums over all attempts at each wanted task: what was tried again takes its time again."""
    rows = Lookup(wanted).rows(task)
    return np.bincount(rows[rows >= 0], seconds[rows >= 0], minlength=len(wanted))


def _disk(read: Read, columns: Mapping[str, Any], rows: np.ndarray) -> np.ndarray:
    phases = read("phases")
    some = is_any(phases["action"], DISK) & ~sizing_of(read, columns["run"], columns["worker"])
    at = Lookup(columns["run"][rows]).rows(phases["run"][some])
    length = np.nan_to_num(phases["stop"] - phases["start"])[some]
    return np.bincount(at[at >= 0], length[at >= 0], minlength=len(rows))


def _submissions(read: Read, submission: np.ndarray, moment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of each task's submission in order of time, and the moments of these."""
    table = read("submissions")
    rows = Lookup(table["submission"]).rows(submission)
    told = np.fmax(pick(table["time"], rows), -np.inf)
    told[rows < 0] = np.nan
    ids, compact = np.unique(submission, return_inverse=True)
    earliest = np.full(len(ids), np.inf)
    np.fmin.at(earliest, compact, moment)
    np.fmin.at(earliest, compact, told)
    known = earliest[np.isfinite(earliest)]
    earliest[~np.isfinite(earliest)] = known.min() if len(known) else 0.0
    order = np.argsort(earliest, kind="stable")
    return np.argsort(order)[compact], earliest[order]


def _with_edges(submission: np.ndarray, inner: Links, count: int) -> np.ndarray:
    """Which submissions have dependencies among their own tasks, as collections do and futures do not."""
    left = np.repeat(submission, np.diff(inner.begins))
    own = left[left == submission[inner.rows]]
    return np.bincount(own, minlength=count) > 0


def _turns(times: np.ndarray, collections: np.ndarray) -> np.ndarray:
    """Dask's generation of each submission: the older goes first."""
    turn, last = 0, -np.inf
    turns = []
    for moment, collection in zip(times.tolist(), collections.tolist(), strict=True):
        if last + _SAME_TURN[collection] < moment:
            turn, last = turn + 1, moment
        turns.append(turn)
    return np.array(turns)


def _groups(codes: np.ndarray, needed: Links) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of each task's group; size of each group; whether it needs few others."""
    _, group = np.unique(codes, return_inverse=True)
    count = int(group.max()) + 1
    size = np.bincount(group, minlength=count)
    left = np.repeat(group, np.diff(needed.begins))
    pairs = sorted_set(left.astype("i8") * count + group[needed.rows])
    pairs = pairs[pairs // count != pairs % count]
    others = np.bincount(pairs // count, minlength=count)
    tasks = np.bincount(pairs // count, size[pairs % count], minlength=count)
    return group, size, (others < _ROOTISH) & (tasks < _ROOTISH)


def _releases(times: np.ndarray, submission: np.ndarray, done: np.ndarray) -> list[Release]:
    """What each submission waited for, read off what had ended when it came."""
    order = np.argsort(done, kind="stable")
    ends, at = done[order], 0
    came = np.cumsum(np.bincount(submission, minlength=len(times)))
    found = [Release(float(times[0]))]
    late = np.maximum.accumulate(_latest(done, submission, len(times)))
    for number in range(1, len(times)):
        moment = float(times[number])
        at = int(np.searchsorted(ends, moment, "right"))
        before = float(times[number - 1])
        if came[number - 1] and late[number - 1] <= moment:
            found.append(Release(moment - float(late[number - 1]), barrier=True))
        elif at and before < ends[at - 1] and moment - ends[at - 1] < _ANSWER:
            found.append(Release(moment - float(ends[at - 1]), task=int(order[at - 1])))
        else:
            found.append(Release(moment - before))
    return found


def _latest(done: np.ndarray, submission: np.ndarray, count: int) -> np.ndarray:
    latest = np.full(count, -np.inf)
    np.maximum.at(latest, submission, done)
    return latest
