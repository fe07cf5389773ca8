"""From a question to a model and a cluster, and from two simulations to an answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np

from ... import arguments, words
from ...dag import longest_chain
from ...lookup import Lookup, fill, is_any, sorted_set
from ...tables.tasks import make
from ...timeline import (
    Moments,
    Read,
    attempts_in_part,
    beside_idle,
    is_cancelled,
    is_pooled,
    needed_attempts,
    one_cluster,
    unended_attempts,
    waiting,
    whole_cores,
    worker_resources,
)
from .answer import TRUSTED, WhatIf
from .chunks import with_chunks
from .costs import recorded_costs
from .model import Model, model
from .setting import Setting
from .simulation import Outcome, simulate

#: Most workers, and threads of each, that are simulated.
_MOST = 100_000
#: Share of the time up to which workers that join late are not spoken of.
_LATE = 0.02
#: Share of the time from which waits for resources of workers are spoken of.
_WANTING = 0.1


class Replay:
    """A recording made ready for questions, of which each then takes one simulation.

    Where it has several schedulers, it is about one of them, by default that with most work. `looks` is how
    often all simulations together may look for tasks to steal.

    Raises
    ------
    ValueError
        If no task ended, it does not tell which task needs which, or no task ran on that cluster.
    TooLong
        If the simulation of the recorded setting takes more `looks`; so may `ask`.
    """

    def __init__(
        self,
        read: Read,
        about: Mapping[str, Any],
        cluster: str | None = None,
        looks: float = math.inf,
    ) -> None:
        #: Address of the scheduler; '' where there is but one.
        self.cluster, read = one_cluster(read, cluster)
        if isinstance(source := about.get("source"), str) and not len(read("edges")["task"]):
            raise ValueError(f"this recording ({source}) does not tell which task needs which")
        self._columns = attempts_in_part(read, make(read))
        recorded = model(read, self._columns)
        if recorded is None:
            raise ValueError("no task ended in this recording, so that there is nothing to simulate")
        self._recorded = recorded
        workers = list(_workers(read("workers"), self._columns, recorded))
        # Processes of a local scheduler's pool go with it, when its computation is over.
        cut = [each for each in workers if each.left < 0.99 * recorded.run.seconds]
        self._left = sum(not is_pooled(each.name) for each in cut)
        at_once = _at_once(workers)
        #: Names of the workers, in the order of those of the setting.
        self.workers = [worker.name for worker in at_once]
        costs = recorded_costs(read, self._columns, about, recorded.run)
        self._before = Setting(
            tuple(worker.threads for worker in at_once), tuple(worker.joined for worker in at_once), costs
        )
        self._looks = looks
        self._known = self._simulated(recorded, self._before)
        #: Not where its threads are more than is known, or its clocks wrong.
        self._keeps_bounds = _least(recorded, self._before) <= recorded.run.seconds
        self._cores = whole_cores(read("workers"))
        self._waiting = waiting(read, self._columns, needed_attempts(self._columns))
        self._failed = _failed(self._columns, read("errors")["run"])
        wanting = _wanting(read, self._columns, workers)
        #: Seconds in which tasks waited for resources of their workers; 0 if they are few.
        self._wanting = wanting if wanting >= _WANTING * recorded.run.seconds else 0.0

    @property
    def model(self) -> Model:
        """The recorded graph."""
        return self._recorded

    @property
    def setting(self) -> Setting:
        """The recorded cluster."""
        return self._before

    @property
    def tasks(self) -> int:
        """Tasks that a simulation runs."""
        return len(self._recorded.task)

    @property
    def moved(self) -> float:
        """Bytes that move between workers where the recorded setting is simulated."""
        return self._known.moved

    def ask(
        self,
        *,
        workers: int | None = None,
        threads: int | None = None,
        faster: Mapping[str, float] | None = None,
        transfers: bool = True,
        spilling: bool = True,
        chunks: float = 1,
    ) -> WhatIf:
        """The answer of `Recording.what_if`."""
        for name, count in (("workers", workers), ("threads", threads)):
            if count is not None and count < 1:
                raise ValueError(f"{name}={count}: it takes one at least")
            if count is not None and count > _MOST:
                raise ValueError(f"{name}={count:,}: more than {_MOST:,} are not simulated")
        recorded, before, known = self._recorded, self._before, self._known
        after = _setting(before, workers, threads, transfers=transfers)
        quicker = _quicker(recorded, faster or {}, spilling=spilling)
        changed = quicker if chunks == 1 else with_chunks(quicker, chunks)
        same = changed is recorded and after == before
        asked = known if same else self._simulated(changed, after)
        scaled = recorded.run.seconds * (asked.seconds / known.seconds if known.seconds > 0 else 1.0)
        seconds = max(scaled, _least(changed, after)) if self._keeps_bounds else scaled
        off = abs(known.seconds / recorded.run.seconds - 1) if recorded.run.seconds > 0 else 0.0
        ends = [seconds, *([asked.seconds] if off > TRUSTED else [])]
        ends += [recorded.run.seconds] if self._may_be_the_same(before, after) else []
        # Other chunks divide the work differently, and do not change it.
        cores = _cpu(self._columns, recorded, quicker) / seconds if seconds > 0 else math.nan
        return WhatIf(
            change=_change(
                before, after, threads, faster or {}, transfers=transfers, spilling=spilling, chunks=chunks
            ),
            recorded=recorded.run.seconds,
            seconds=seconds,
            low=min(ends),
            high=max(ends),
            calibration=known.seconds,
            simulated=asked.seconds,
            workers_before=len(before.threads),
            threads_before=sum(before.threads),
            workers=len(after.threads),
            threads=sum(after.threads),
            busy=min(1.0, asked.busy / (asked.seconds * asked.threads)) if asked.seconds > 0 else 0.0,
            moved=asked.moved,
            cores=cores,
            notes=(
                *self._about_all(),
                *_notes(
                    self._columns, before, after, (cores, self._cores, seconds), self._left, self._failed
                ),
                *(_late(after, seconds) if workers else ()),
            ),
            cluster=self.cluster,
        )

    def _simulated(self, model: Model, setting: Setting) -> Outcome:
        outcome = simulate(model, setting, self._looks)
        self._looks -= outcome.looks
        return outcome

    def _about_all(self) -> Iterator[str]:
        """What one must know of any answer."""
        run = self._recorded.run
        if (away := run.away.seconds - run.still) > 0:
            yield f"{words.duration(away)} in which nobody waited for a result are left out"
        if run.still > 0:
            yield f"{words.duration(run.still)} in which everything stood still are left out"
        if self._waiting:
            yield f"{self._waiting.said()}; it is simulated as if it were work"
        if self._wanting:
            yield (
                f"tasks waited {words.duration(self._wanting)} for resources of their workers, beside idle "
                "threads: more threads bring no more of these, and they are not simulated"
            )

    def _may_be_the_same(self, before: Setting, after: Setting) -> bool:
        """Whether other threads may change nothing: all wait for one lock, or bring no more resources."""
        found = self._waiting
        workers, threads = (each(before.threads) != each(after.threads) for each in (len, max))
        if threads and self._wanting:
            return True
        return bool(found) and ((workers and found.workers_wait) or (threads and found.threads_wait))


def what_if(read: Read, about: Mapping[str, Any], cluster: str | None = None, **asked: Any) -> WhatIf:
    """One question to a recording; see `Replay.ask`."""
    return Replay(read, about, cluster).ask(**asked)


class _Worker(NamedTuple):
    """A worker, and when it was there: seconds of the model's clock."""

    name: str
    threads: int
    joined: float
    left: float


def _at_once(workers: Iterable[_Worker]) -> list[_Worker]:
    """As many as there were at once: one that came when another had left takes the place of that."""
    places: list[_Worker] = []
    taken: list[tuple[float, int]] = []
    empty: list[int] = []
    for worker in sorted(workers, key=lambda each: each.joined):
        while taken and taken[0][0] <= worker.joined:
            heappush(empty, heappop(taken)[1])
        place = heappop(empty) if empty else len(places)
        heappush(taken, (worker.left, place))
        if place == len(places):
            places.append(worker)
        else:
            before = places[place]
            threads = max(before.threads, worker.threads)
            places[place] = before._replace(threads=threads, left=worker.left)
    return places


def _workers(table: Mapping[str, Any], columns: Mapping[str, Any], recorded: Model) -> Iterator[_Worker]:
    """Workers that ran a task, and those that could have."""
    rows = {name: row for row, name in enumerate(table["worker"].tolist())}
    joined, left = (recorded.run.clock(table[name]) for name in ("joined", "left"))
    seen = _seen(columns, recorded)
    for name in _names_of_workers(table, columns, recorded):
        row = rows.get(name)
        threads, first = seen.get(name, (1, math.nan))
        if row is None:
            yield _Worker(name, threads, max(0.0, _known(first, 0.0)), math.inf)
            continue
        came, gone = _known(np.fmin(joined[row], first), 0.0), _known(left[row], math.inf)
        yield _Worker(name, int(table["threads"][row]) or threads, max(0.0, came), gone)


def _wanting(read: Read, columns: Mapping[str, Any], workers: Iterable[_Worker]) -> float:
    """Seconds in which tasks waited on workers that have resources, beside idle threads."""
    given = worker_resources(read)
    parts = []
    for worker in (each for each in workers if each.name in given):
        rows = np.flatnonzero(is_any(columns["worker"], (worker.name,)) & np.isfinite(columns["start"]))
        start, stop = columns["start"][rows], columns["stop"][rows]
        begun = fill(columns["executing"][rows], start)
        parts.append(beside_idle(columns["inputs"][rows], begun, fill(stop, start), worker.threads))
    return Moments.together(parts).seconds


def _known(moment: float, otherwise: float) -> float:
    return float(moment) if math.isfinite(moment) else otherwise


def _names_of_workers(table: Mapping[str, Any], columns: Mapping[str, Any], recorded: Model) -> list[str]:
    ran = columns["worker"].codes[np.isfinite(columns["start"])]
    names = [columns["worker"].names[code] for code in sorted_set(ran)]
    worked = set(names)
    rows = {name: row for row, name in enumerate(table["worker"].tolist())}
    idle = [
        name
        for name, row in rows.items()
        if name not in worked
        and table["joined"][row] < recorded.run.end
        and not table["left"][row] < recorded.run.begin
    ]
    return [*names, *idle]


def _seen(columns: Mapping[str, Any], recorded: Model) -> dict[str, tuple[int, float]]:
    """Threads of each worker that ran tasks, and when it was first given one, by the model's clock."""
    ran = np.flatnonzero(np.isfinite(columns["start"]))
    worker, names = columns["worker"].codes[ran], columns["worker"].names
    lanes = sorted_set(worker.astype("i8") << 32 | columns["thread"].codes[ran])
    threads = np.bincount(lanes >> 32, minlength=len(names))
    first = np.full(len(names), np.inf)
    np.fmin.at(first, worker, np.fmin(columns["assigned"][ran], columns["start"][ran]))
    told = zip(names, threads.tolist(), recorded.run.clock(first).tolist(), strict=True)
    return {name: (count, moment) for name, count, moment in told if count}


def _setting(before: Setting, workers: int | None, threads: int | None, *, transfers: bool) -> Setting:
    costs = before.costs
    if not transfers:
        costs = costs._replace(latency=0.0, bandwidth=math.inf)
    # Other workers are as those of the recorded cluster, and come as late.
    count = workers or len(before.threads)
    alike, joined = _as_large(before.threads, count), tuple(islice(cycle(before.joined), count))
    return Setting(alike if threads is None else (threads,) * count, joined, costs)


def _as_large(threads: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Threads of so many workers: of all as often as they fit, then of large and small ones evenly."""
    times, rest = divmod(count, len(threads))
    ordered = sorted(threads)
    return threads * times + tuple(ordered[(2 * k + 1) * len(threads) // (2 * rest)] for k in range(rest))


def _quicker(recorded: Model, faster: Mapping[str, float], *, spilling: bool) -> Model:
    changed = recorded
    names = _names(recorded) if faster else set()
    for name, times in faster.items():
        arguments.known(name, names, "task name")
        if not times > 0:
            raise ValueError(f"faster={{{name!r}: {times}}}: give how many times faster, 2 for half the time")
        mine = changed.prefix == changed.prefixes.index(name)
        changed = changed._replace(compute=np.where(mine, changed.compute / times, changed.compute))
    if not spilling:
        changed = changed._replace(around=changed.around - changed.disk, disk=np.zeros_like(changed.disk))
    return changed


def _least(model: Model, setting: Setting) -> float:
    """Seconds that no schedule of these tasks on these threads can beat."""
    chain = longest_chain(model.needs, model.compute, np.arange(len(model.task)))
    return max(float(model.compute.sum()) / sum(setting.threads), float(model.compute[chain].sum()))


def _names(recorded: Model) -> set[str]:
    return {recorded.prefixes[code] for code in sorted_set(recorded.prefix)}


def _cpu(columns: Mapping[str, Any], recorded: Model, changed: Model) -> float:
    """CPU seconds of the tasks; NaN if they were not recorded."""
    cpu = columns["cpu"]
    known = np.isfinite(cpu)
    if not known.any():
        return math.nan
    at = Lookup(recorded.task).rows(columns["task"][known])
    share = np.bincount(at[at >= 0], cpu[known][at >= 0].astype("f8"), minlength=len(recorded.task))
    return float((share * changed.compute / np.maximum(recorded.compute, 1e-12)).sum())


def _change(
    before: Setting,
    after: Setting,
    threads: int | None,
    faster: Mapping[str, float],
    *,
    transfers: bool,
    spilling: bool,
    chunks: float,
) -> str:
    parts = []
    if len(after.threads) != len(before.threads):
        parts.append(f"with {words.count(len(after.threads), 'worker')} instead of {len(before.threads)}")
    if threads and {*before.threads} != {threads}:
        least, most = min(before.threads), max(before.threads)
        there = f"{least}" if least == most else f"{least} to {most}"
        parts.append(f"with {words.count(threads, 'thread')} a worker instead of {there}")
    parts += [f"with `{name}` {words.about(times, digits=6)} times faster" for name, times in faster.items()]
    parts += [] if transfers else ["without transfers"]
    parts += [] if spilling else ["without spilling"]
    if chunks != 1:
        parts.append(
            f"with chunks or batches {words.about(chunks, digits=6)} times as large"
            if chunks > 1
            else f"with chunks or batches 1/{words.about(1 / chunks, digits=6)} as large"
        )
    said = words.listing(parts)
    return said[:1].upper() + said[1:]


def _notes(
    columns: Mapping[str, Any],
    before: Setting,
    after: Setting,
    need: tuple[float, int, float],
    left: int,
    failed: int,
) -> list[str]:
    """What one must know beside the answer; `need`: cores used on average, cores there are, seconds."""
    notes = []
    cores, there, seconds = need
    if 0 < there < cores:
        notes.append(
            f"it takes {words.about(cores, 'core')} on average: the workers that were recorded may use "
            f"{there}, on which it takes {words.duration(seconds * cores / there)} at least"
        )
    elif sum(after.threads) > sum(before.threads) and cores > 1:
        notes.append(
            f"it takes {words.about(cores, 'core')} on average; with fewer, or where tasks hold the "
            "interpreter's lock, it takes longer than this"
        )
    if len(after.threads) > 1 and len(before.threads) == 1:
        notes.append("one worker moves nothing, so that the network is a guess: 100 MB/s")
    if left:
        who = "it" if left == 1 else "they"
        notes.append(f"{words.count(left, 'worker')} left before the end: simulated as if {who} had stayed")
    if failed:
        them = "it" if failed == 1 else "them"
        notes.append(f"{words.count(failed, 'task')} failed: what needed {them} never ran and is not in this")
    began = np.isfinite(columns["start"])
    unended = len(unended_attempts(columns))
    if unended:
        notes.append(f"{words.count(unended, 'task')} had not ended when the recording did: left out")
    cancelled = int((began & is_cancelled(columns)).sum())
    if cancelled:
        notes.append(f"{words.count(cancelled, 'task')} cancelled, or lost sight of, while running: left out")
    ran = columns["task"][began & ~is_cancelled(columns)]
    repeated = len(ran) - len(sorted_set(ran))
    if repeated:
        took = "it" if repeated == 1 else "they"
        again = f"{words.count(repeated, 'attempt')} at tasks that had been tried before"
        notes.append(f"{again}: kept, with the time that {took} took")
    return notes


def _late(after: Setting, seconds: float) -> Iterator[str]:
    late = max(after.joined)
    if late > _LATE * seconds:
        yield f"workers join as late as they did: up to {words.duration(late)} after the first task"


def _failed(columns: Mapping[str, Any], given_up: np.ndarray) -> int:
    """Tasks of which the last attempt raised, or was killed and given up; rows stand in the order of tasks.

    `given_up`: runs that have an error.
    """
    task, status = columns["task"], columns["status"]
    last = np.append(task[1:] != task[:-1], True)[: len(task)]
    killed = is_any(status, ("killed",)) & np.isin(columns["run"], given_up)
    return int(np.count_nonzero(last & (is_any(status, ("erred",)) | killed)))
