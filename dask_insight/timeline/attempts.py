"""Scheduler's and worker's times of every attempt, in one order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..batch import Symbols
from ..columns import forget, gather, take, taken_out
from ..heap import give_back_between
from ..lookup import Lookup, all_or, distinct, fill, fill_symbols, least, narrowed, pick
from ..schema import NOTHING, WAITING
from ..tables.facts import lacks, recorded
from .counts import Counts
from .fields import Count, Fields, Moment, alike
from .micros import Kept, Micros, own_seconds, seconds
from .ticks import evened

Read = Callable[[str], Mapping[str, Any]]

#: Columns of ``attempts`` and of ``executions`` that are looked at.
_OF_SCHEDULER = (
    *("run", "task", "worker", "thread", "status", "nbytes"),
    *(_BY_SCHEDULER := ("submitted", "ready", "assigned", "start", "stop", "done")),
)
_OF_WORKER = (
    *("run", "worker", "thread", "cpu"),
    *("received", "ready", "executing", "start", "stop", "ended"),
)
#: The moments of attempts, in their order.
_MOMENTS = (
    *("wanted", "ready", "assigned", "received", "inputs"),
    *("executing", "start", "stop", "ended", "done"),
)
#: Names of the processes of a pool, which come and go with a computation of a local scheduler, begin so.
POOLED = "process "
#: Names of the workers that a local scheduler's tasks run on begin so.
_LOCAL = ("threads", "sync", "local", POOLED)


@dataclass(frozen=True, eq=False, kw_only=True)
class Attempts(Fields):
    """Every attempt, ended or running, one row each.

    The moments, seconds since the epoch, never go back from `wanted` to `done`. Arrays may be
    those of the recording, and are not to be changed.
    Those that a recording does not tell are the next ones that it does.
    """

    run: np.ndarray
    #: The task's id, and its row in `graph` (-1 if it has none).
    task: np.ndarray
    described: np.ndarray
    worker: Symbols
    #: Worker and thread as one code, in the order of the workers; -1 if the attempt never ran, nor is to.
    place: np.ndarray
    #: Worker and thread (text) of each code of `place`.
    places: list[tuple[str, str]]
    #: How it ended; '' if it runs.
    status: Symbols
    #: Whether it only waits, up to the end of a part of a run: all that is to come is then.
    waiting: np.ndarray
    #: Whether it ended with a result; whether without one: failed, cancelled or sent elsewhere.
    #: A running one did neither.
    ok: np.ndarray
    failed: np.ndarray
    #: Whether its worker died of it, or while it ran.
    killed: np.ndarray
    #: When it was first wanted; for an attempt after others, when they had ended or it was wanted again.
    wanted: Moment = Moment()
    #: When it might have run: its last input was in memory.
    ready: Moment = Moment()
    assigned: Moment = Moment()
    received: Moment = Moment()
    #: When its inputs had arrived at the worker.
    inputs: Moment = Moment()
    #: When it was given a thread, and when the thread was free again.
    executing: Moment = Moment()
    start: Moment = Moment()
    stop: Moment = Moment()
    ended: Moment = Moment()
    done: Moment = Moment()
    #: CPU seconds; NaN if unknown.
    cpu: np.ndarray
    nbytes: Count = Count()
    local: np.ndarray
    #: Whether the recording tells when tasks were wanted, of all that ran; other tools' files may not.
    asked: bool

    @property
    def ran(self) -> np.ndarray:
        """Whether its function was called."""
        mask: np.ndarray = (self.place >= 0) & ~self.waiting
        return mask


def tells_when_asked(read: Read, moments: Callable[[str], np.ndarray]) -> bool:
    """`Attempts.asked`, from `moments` of the scheduler by their name."""
    told = (np.isfinite(moments(name)).any() for name in ("submitted", "ready", "assigned"))
    return any(told) and "attempts" not in lacks(read)


def attempts(read: Read) -> Attempts:
    """The attempts of a recording.

    Parameters
    ----------
    read
        Gives the columns of a table of the schema, times in seconds since the epoch.
    """
    ended, executions, running = read("attempts"), read("executions"), read("running")
    gather(ended, _OF_SCHEDULER)
    _, until = recorded(read)
    # One table's moments are kept in half the memory before the next one is read.
    told = {name: Micros.of(np.asarray(taken_out(ended, name), "f8")) for name in _BY_SCHEDULER}
    give_back_between()
    asked = tells_when_asked(read, lambda name: seconds(told[name]))
    gather(executions, _OF_WORKER)
    more = np.flatnonzero(Lookup(ended["run"]).rows(running["run"]) < 0)
    count = len(ended["run"])
    run, task = (
        np.concatenate((ended[name], running[name][more])) if len(more) else ended[name]
        for name in ("run", "task")
    )
    there = Lookup(executions["run"]).rows(run)
    at_worker = all_or(there, len(executions["run"]))

    def scheduler(name: str) -> np.ndarray:
        values = seconds(told.pop(name)) if name in told else np.asarray(taken_out(ended, name), "f8")
        return np.concatenate((values, np.full(len(more), np.nan))) if len(more) else values

    def worker(name: str) -> np.ndarray:
        return np.asarray(pick(taken_out(executions, name), at_worker))

    padded = np.append(np.arange(count, dtype="i4"), np.full(len(more), -1, "i4")) if len(more) else None
    status = pick(ended["status"], padded)
    now = np.arange(len(run)) >= count
    start = fill(worker("start"), scheduler("start"))
    begun = np.full(len(run), -1, "i4")
    if len(running["run"]):
        begun = np.where(np.isnan(start), Lookup(running["run"]).rows(run), -1)
        start = np.where(begun >= 0, pick(running["start"], begun), start)
    waiting = _mask(status, WAITING)
    if waiting.any():
        start = np.where(waiting, until, start)
    ran = np.isfinite(start)
    stop, done = fill(worker("stop"), scheduler("stop")), scheduler("done")
    if not (known := np.isfinite(stop)).all():
        stop = np.where(known, stop, np.where(now, until, fill(done, start)))
    stop = _latest(stop, start)
    taken = _latest(worker("ended"), stop)
    # Each is kept in half the memory before the next one is read.
    times = [Micros.of(fill(_latest(done, stop), taken))]
    del done
    times.insert(0, Micros.of(taken))
    del taken
    times.insert(0, Micros.of(stop))
    del stop
    times.insert(0, Micros.of(start))
    first = _earliest(fill(worker("executing"), start), start)
    del start
    times.insert(0, Micros.of(first))
    give_back_between()
    for name, tell in (
        ("ready", worker),
        ("received", worker),
        ("assigned", scheduler),
        ("ready", scheduler),
        ("submitted", scheduler),
    ):
        first = _earliest(tell(name), first)
        times.insert(0, Micros.of(first))
    del first
    give_back_between()
    moments = dict(zip(_MOMENTS, _filled_up(times, np.flatnonzero(~ran)), strict=True))
    ok = _mask(status, "ok")
    moments |= _taken_away(moments, np.flatnonzero(~ran & _mask(status, "stolen")))
    moments |= _again(read, task, moments, ok)
    worker_names, place, places = _places(ended, executions, running, padded, there, begun)
    graph = read("graph")
    gather(graph, ("task", "prefix"))
    described = Lookup(np.asarray(taken_out(graph, "task"))).rows(task)
    prefix = pick(graph["prefix"], described)
    cpu, nbytes = worker("cpu"), Counts.of(scheduler("nbytes"))
    for columns in (ended, executions):
        forget(columns)
    status, worker_names = narrowed(status), narrowed(worker_names)
    if waiting.any():
        # The next one on each thread explains what that is idle for; the others have none yet.
        ran &= ~waiting | np.array([bool(thread) for _, thread in places])[place]
    lasted = seconds(moments["stop"]) - seconds(moments["start"])
    alike = worker_names.codes.astype("i8") * (len(prefix.names) or 1) + prefix.codes
    return Attempts(
        run=run,
        task=task,
        described=described,
        worker=worker_names,
        place=np.where(ran & (lasted >= 0), place, place.dtype.type(-1)),
        places=places,
        status=status,
        waiting=waiting,
        ok=ok,
        failed=_mask(status, "erred", "retried", "killed", "cancelled", "rescheduled", "stolen"),
        killed=_mask(status, "killed"),
        **moments,
        cpu=_in_half(evened(np.asarray(cpu, "f8"), np.where(there < 0, np.nan, lasted), alike), cpu),
        nbytes=nbytes,
        local=_marked(worker_names, [is_local(name) for name in worker_names.names]),
        asked=asked,
    )


def is_local(worker: str) -> bool:
    """Whether a worker of this name is a local scheduler's."""
    return worker.startswith(_LOCAL)


def is_pooled(worker: str) -> bool:
    """Whether a worker of this name is a process of a local scheduler's pool."""
    return worker.startswith(POOLED)


def pool_of(worker: str) -> str:
    """The pool that a worker of this name is of, where it is a local scheduler's; '' else."""
    if not is_local(worker):
        return ""
    return POOLED if is_pooled(worker) else worker.partition("#")[0]


def concerns(all_of: Attempts, rows: np.ndarray) -> Attempts:
    """Some of the attempts: those where a mask is true."""
    if rows.all():
        return all_of
    picked: dict[str, Any] = {}
    for name in vars(all_of):
        values = getattr(all_of, name)
        if isinstance(values, np.ndarray | Symbols):
            picked[name] = alike(all_of.kept(name), take(values, rows))
    return all_of.but(**picked)


def _in_half(seconds: np.ndarray, told: np.ndarray) -> np.ndarray:
    """As it was told, in four bytes, where nothing of it has changed."""
    return told if told.dtype == "f4" and np.array_equal(seconds, told, equal_nan=True) else seconds


def _earliest(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The smaller of each two that are not missing; `first` itself where that is what it has."""
    return first if (first <= second).all() else np.fmin(first, second)


def _latest(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The larger of each two that are not missing; `first` itself where that is what it has."""
    return first if (first >= second).all() else np.fmax(first, second)


def _mask(status: Symbols, *names: str) -> np.ndarray:
    return _marked(status, [name in names for name in status.names])


def _marked(symbols: Symbols, marks: list[bool]) -> np.ndarray:
    """By row, the mark of its name; in no memory where all names have the same."""
    if len(set(marks)) < 2:
        return np.broadcast_to(any(marks), len(symbols.codes))
    return np.asarray(np.array(marks)[symbols.codes])


def _places(
    ended: Mapping[str, Any],
    executions: Mapping[str, Any],
    running: Mapping[str, Any],
    padded: np.ndarray | None,
    there: np.ndarray,
    begun: np.ndarray,
) -> tuple[Symbols, np.ndarray, list[tuple[str, str]]]:
    """Worker of each attempt, and worker and thread as one code."""
    columns = []
    for name in ("worker", "thread"):
        symbols = fill_symbols(pick(ended[name], padded), executions[name], there)
        columns.append(fill_symbols(symbols, running[name], begun))
    worker, thread = columns
    width = max(1, len(thread.names))
    code = worker.codes.astype("i8") * width + thread.codes
    known, place = distinct(code, max(1, len(worker.names)) * width)
    places = [(worker.names[each // width], thread.names[each % width]) for each in known.tolist()]
    return worker, place.astype(least(len(places))), places


def _filled_up(times: list[Kept], unrun: np.ndarray) -> list[Kept]:
    """For attempts that never ran, the last moment known stands for what did not come."""
    if len(unrun):
        for number in range(1, len(times)):
            after = own_seconds(times[number])
            after[unrun] = fill(after[unrun], seconds(times[number - 1])[unrun])
            times[number] = Micros.of(after)
    return times


def _taken_away(moments: Mapping[str, Kept], stolen: np.ndarray) -> dict[str, Kept]:
    """What was stolen waited on its worker for a thread until then."""
    found: dict[str, Kept] = {}
    for name in ("executing", "start", "stop", "ended") if len(stolen) else ():
        values = own_seconds(moments[name])
        values[stolen] = seconds(moments["done"])[stolen]
        found[name] = Micros.of(values)
    return found


def _again(read: Read, task: np.ndarray, moments: Mapping[str, Kept], ok: np.ndarray) -> dict[str, Kept]:
    """When attempts were wanted and ready that followed another one at the same task.

    One after a failure is wanted from then on; one after a success when a
    graph came that asked for it again, or when the result was lost. None is
    ready before the other has ended: Dask tells of a stolen task when it was
    ready first.
    """
    largest = int(task[task != NOTHING].max(initial=0))
    if largest < 8 * len(task) + 1024:
        counts = np.bincount(np.minimum(task, largest + 1), minlength=largest + 2)
        repeated = (counts > 1)[np.minimum(task, largest + 1)] & (task != NOTHING)
    else:
        _, inverse, many = np.unique(task, return_inverse=True, return_counts=True)
        repeated = (many > 1)[inverse] & (task != NOTHING)
    if not repeated.any():
        return {}
    wanted, ready = (own_seconds(moments[name]) for name in ("wanted", "ready"))
    assigned, done = (seconds(moments[name]) for name in ("assigned", "done"))
    rows = np.flatnonzero(repeated)
    rows = rows[np.lexsort((done[rows], task[rows]))]
    later = rows[1:][task[rows[1:]] == task[rows[:-1]]]
    before = rows[:-1][task[rows[1:]] == task[rows[:-1]]]
    ready[later] = np.fmax(ready[later], np.fmin(done[before], assigned[later]))
    asked = np.sort(read("submissions")["time"])
    asked = np.concatenate(([-np.inf], asked[np.isfinite(asked)]))
    told = asked[np.searchsorted(asked, ready[later], side="right") - 1]
    new = np.where(told > done[before], told, ready[later])
    wanted[later] = np.fmin(np.where(ok[before], new, done[before]), ready[later])
    return {"wanted": wanted, "ready": Micros.of(ready)}
