"""What the rules look at, each thing worked out once and only if a rule asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ... import words
from ...batch import Symbols
from ...columns import forget, take, text
from ...intake import taken_in
from ...lookup import Lookup, is_any, least, narrowed, pick, ratio, sorted_set, sums
from ...schema import NOTHING
from ...tables.cores import Place, places
from ...tables.facts import part_of_run
from ...tables.processes import processes
from ...timeline import (
    BLOCK,
    Attempts,
    CallStacks,
    Inputs,
    Lanes,
    Moments,
    Read,
    States,
    inputs,
    is_local,
    lives,
    most_at_once,
    pauses,
    schedulers_mixed,
    standstills,
    states,
)
from .allowed import Allowed, allowed
from .cores import Cores, cores
from .fitting import collections
from .for_client import for_client
from .garbage import Garbage, garbage
from .hosts import Host, hosts
from .kept import kept_by_resources
from .made_again import MadeAgain, made_again
from .outliers import LEAST, Outliers, outliers
from .queues import Queues
from .samples import Samples
from .schedulers import Schedulers, schedulers
from .shapes import Budget, Names, Path, Pieces, in_blocks, medians
from .starved import starved
from .threads_held import Held, held
from .waits_for_others import WaitsForOthers, waits_for_others

__all__ = ["Facts", "is_any", "medians"]

#: Seconds from which a task that is ready waits for a thread.
MOMENT = 0.01

#: What stands for the name of a task of which only the attempts were kept.
NAMELESS = "(unnamed)"

#: Bytes of a graph for each task from which its tasks carry data.
CARRIES = 20_000


class Facts:
    """A recording as the rules see it.

    Parameters
    ----------
    read
        Gives the columns of a table, times in seconds since the epoch.
    zero
        The moment from which a finding's seconds count, seconds since the epoch.
    budget
        The time of all threads, shared out.
    """

    def __init__(self, read: Read, zero: float, budget: Budget) -> None:
        self.read = read
        self.zero = zero
        self.budget = budget
        self._outliers: dict[tuple[float, int, float], list[Outliers]] = {}

    def forget(self) -> None:
        """Let go of all: some of it refers to the facts, and would stay until garbage is looked for."""
        vars(self).clear()

    @property
    def start(self) -> float:
        """When the first task was wanted, seconds since the epoch."""
        return self.budget.start

    @property
    def stop(self) -> float:
        """When the last was done."""
        return self.budget.stop

    @property
    def whole(self) -> Moments:
        """All the time in between."""
        return Moments(np.array([self.start]), np.array([self.stop]))

    @cached_property
    def part(self) -> tuple[float, float]:
        """From when to when it was cut out of a run; infinite if it was not."""
        return part_of_run(self.read)

    @cached_property
    def submissions(self) -> dict[str, Any]:
        """The graphs that were taken in, for some of the time at least, in that part of the run."""
        table = self.read("submissions")
        here = taken_in(table, *self.part)
        return {name: take(values, here) for name, values in table.items()}

    @property
    def attempts(self) -> Attempts:
        """Every attempt, one row each."""
        return self.budget.attempts

    @property
    def lanes(self) -> Lanes:
        """Every thread."""
        return self.budget.lanes

    def pieces(self, *parts: str) -> list[Pieces]:
        """Thread time of these parts of the budget in pieces: where, when, for which attempt."""
        return [each for each in self.budget.pieces if each.count and self.budget.parts[each.part] in parts]

    def pieces_without(self, *parts: str) -> list[Pieces]:
        """The same of all other parts."""
        others = {*self.budget.parts}.difference(parts)
        return self.pieces(*others)

    def seconds(self, pieces: Pieces) -> np.ndarray:
        """Thread-seconds of each; those outside the cells of a notebook count nothing."""
        seconds = pieces.seconds
        if len(self.pause.start) and self.budget.parts[pieces.part] == "client":
            seconds -= self.pause.within(pieces.start, pieces.stop) * pieces.threads
        return seconds

    @cached_property
    def still(self) -> Moments:
        """When everything stood still: the computer slept."""
        return standstills(self.read).both(self.whole)

    @cached_property
    def pause(self) -> Moments:
        """When no cell ran and no task was there, or, without cells, none for minutes: a person thought.

        Without the moments in which everything stood still.
        """
        tasks = self.attempts.in_blocks("wanted", "done")
        return pauses(self.read, tasks, self.start, self.stop).without(self.still)

    @cached_property
    def away(self) -> Moments:
        """Pauses and standstills: what counts as no time of the run."""
        return Moments.together((self.pause, self.still))

    @cached_property
    def wall(self) -> float:
        """Seconds that the run took, without those between the cells of a notebook and standstills."""
        return self.stop - self.start - self.pause.seconds - self.still.seconds

    @cached_property
    def offered(self) -> float:
        """Thread-seconds that there were in it."""
        return sum(float(self.seconds(each).sum()) for each in in_blocks(self.budget.pieces))

    @cached_property
    def served(self) -> float:
        """Seconds of it in which there was any worker."""
        return self.budget.served.without(self.pause).without(self.still).seconds

    @property
    def threads(self) -> float:
        """Threads that there were, on average while there was any."""
        return self.offered / self.served if self.served > 0 else 0.0

    def spent(self, *parts: str) -> float:
        """Thread-seconds in these parts of the budget."""
        return sum(float(self.seconds(each).sum()) for each in in_blocks(self.pieces(*parts)))

    def spread(self, thread_seconds: float) -> float:
        """Seconds by which the run would be shorter if all threads shared what these thread-seconds took."""
        return min(self.served, thread_seconds / self.threads) if self.threads > 0 else 0.0

    def spread_over(self, seconds: np.ndarray, start: np.ndarray, stop: np.ndarray) -> float:
        """The same of thread-seconds that each were spent between two moments, by the threads there then."""
        some = np.flatnonzero(seconds > 0)
        begin, end = (np.clip(each[some], self.start, self.stop) for each in (start, stop))
        lasted = end - begin - self.away.within(begin, end)
        share = ratio(self._shared(end) - self._shared(begin), lasted)
        return min(self.served, float((seconds[some] * share).sum()))

    def spread_attempts(self, rows: np.ndarray, seconds: np.ndarray | None = None) -> float:
        """The same of so many seconds of some attempts, or of all that they held threads."""
        known, held = self.attempts, self.inside[rows] if seconds is None else seconds
        return self.spread_over(held, known.at("start", rows), known.at("stop", rows))

    def spread_pieces(self, pieces: Iterable[Pieces], moments: Moments | None = None) -> float:
        """The same of pieces of time, or of what of them lies within some moments."""
        inside = Moments.of(*map(self._shared, self.whole if moments is None else moments))
        some = in_blocks(pieces)
        lost = (inside.within(*map(self._shared, (each.start, each.stop))) * each.threads for each in some)
        return min(self.served, sum(float(each.sum()) for each in lost))

    def _shared(self, moment: np.ndarray) -> np.ndarray:
        """Seconds that a thread's time up to each moment would take all the threads there, together."""
        return np.asarray(np.interp(moment, *self._sharing))

    @cached_property
    def _sharing(self) -> tuple[np.ndarray, np.ndarray]:
        """Moments at which threads came, left, or were away, and these seconds up to each."""
        start, stop = (np.clip(each, self.start, self.stop) for each in (self.lanes.start, self.lanes.stop))
        at = np.unique(np.concatenate((start, stop, *self.whole, *self.away)))
        came = np.zeros(len(at))
        lasting = stop > start
        for moments, threads in ((start, self.lanes.threads), (stop, -self.lanes.threads)):
            np.add.at(came, np.searchsorted(at, moments[lasting]), threads[lasting])
        seconds = np.where(self.away.has(at[:-1]), 0.0, np.diff(at))
        return at, np.append(0.0, np.cumsum(ratio(seconds, np.cumsum(came)[:-1])))

    @cached_property
    def prefix(self) -> Symbols:
        """Task name of each attempt."""
        return self.prefix_of(self.attempts.described)

    def prefix_of(self, described: np.ndarray) -> Symbols:
        """Task names of some rows of ``graph``, fit to stand in sentences and in code that people copy."""
        symbols: Symbols = pick(self.read("graph")["prefix"], described)
        return narrowed(Symbols(symbols.codes, [words.in_a_line(name) or NAMELESS for name in symbols.names]))

    def submission_of(self, rows: np.ndarray) -> np.ndarray:
        """The graph that brought the task of each of some attempts, by id; NOTHING if it is not known."""
        place = self.attempts.described[rows]
        found: np.ndarray = np.where(place >= 0, pick(self.read("graph")["submission"], place), NOTHING)
        return found

    def key(self, row: int) -> str:
        """Dask's key of an attempt's task; '' if it is not known."""
        place = int(self.attempts.described[row])
        return text(self.read("graph"), "key", place) if place >= 0 else ""

    def line_after(self, moment: float) -> str:
        """File and line that began the first computation after a moment; '' if it is not known."""
        table = self.submissions
        later = np.flatnonzero(table["time"] >= moment - 0.05)
        if not len(later):
            return ""
        return self.line_of(int(later[np.argmin(table["time"][later])]))

    def line_of(self, row: int) -> str:
        """File and line that began a computation, a row of `submissions`; '' if they are not known."""
        table = self.submissions
        return words.place(table["file"].names[table["file"].codes[row]], int(table["line"][row]))

    @cached_property
    def all_local(self) -> bool:
        """Whether all of it ran on schedulers of one machine that have no workers of their own."""
        return bool(self.attempts.local.all())

    @property
    def names(self) -> list[str]:
        """Task names by code."""
        return self.prefix.names

    @cached_property
    def _codes(self) -> np.ndarray:
        """Code of the task name of each attempt, and of none."""
        return np.append(self.prefix.codes, -1).astype(least(len(self.names)))

    def name_of(self, pieces: Pieces) -> np.ndarray:
        """Code of the task name of each; -1 if it is for none."""
        found: np.ndarray = self._codes[pieces.row]
        return found

    def by_name(self, pieces: Iterable[Pieces]) -> np.ndarray:
        """Thread-seconds by code of the task name."""
        some = in_blocks(pieces)
        return sum((self.summed(each, self.seconds(each)) for each in some), np.zeros(len(self.names)))

    def summed(self, pieces: Pieces, values: np.ndarray) -> np.ndarray:
        """What pieces have, summed by code of the task name."""
        # What is for none stands before the others.
        return sums(self.name_of(pieces) + np.int32(1), values, len(self.names) + 1)[1:]

    def by_worker(self, pieces: Iterable[Pieces]) -> np.ndarray:
        """Thread-seconds by code of the worker (of `lanes`)."""
        return np.bincount(self.lanes.worker, self._by_lane(pieces), len(self.lanes.workers))

    def _by_lane(self, pieces: Iterable[Pieces]) -> np.ndarray:
        count = len(self.lanes.worker)
        some = in_blocks(pieces)
        return sum((sums(each.lane, self.seconds(each), count) for each in some), np.zeros(count))

    def within(self, pieces: Iterable[Pieces], moments: Moments) -> float:
        """Thread-seconds of pieces that lie within some moments."""
        some = in_blocks(pieces)
        return sum(float((moments.within(each.start, each.stop) * each.threads).sum()) for each in some)

    def share_within(self, moments: Moments, pieces: Pieces) -> np.ndarray:
        """Share of each piece that lies within some moments; 0 to 1."""
        return ratio(moments.within(pieces.start, pieces.stop), pieces.stop - pieces.start)

    def worst(self, by_code: np.ndarray, names: list[str], share: float = 0.1) -> tuple[str, ...]:
        """Names by what they have most of; those with less than a share of the first are left out."""
        order = np.argsort(-by_code, kind="stable")
        most = float(by_code.max(initial=0.0))
        found = [names[code] for code in order.tolist() if by_code[code] >= max(share * most, 1e-12)]
        return tuple(name for name in found if name)[:10]

    @cached_property
    def length(self) -> np.ndarray:
        """Seconds for which the function of each attempt held a thread; 0 if it never ran.

        Without those in which everything stood still.
        """
        return self.lanes.stretches.held(len(self.attempts.run), self.still)

    @cached_property
    def inside(self) -> np.ndarray:
        """The same without what lies outside of the part of the run that was cut out: what it cost here."""
        if not np.isfinite(self.part).any():
            return self.length
        return self.lanes.stretches.held(len(self.attempts.run), self.still, self.part)

    @cached_property
    def call_stacks(self) -> CallStacks:
        """What tasks were at."""
        return CallStacks(self.read)

    @cached_property
    def garbage(self) -> Garbage:
        """The garbage collections of all processes."""
        return garbage(self)

    @cached_property
    def collected(self) -> np.ndarray:
        """Seconds for which each attempt's thread looked for garbage."""
        some = self.garbage.row >= 0
        if not some.any():
            return np.broadcast_to(0.0, len(self.length))
        seconds = np.bincount(self.garbage.row[some], self.garbage.seconds[some], len(self.length))
        return np.asarray(np.minimum(seconds, self.length))

    @cached_property
    def own(self) -> np.ndarray:
        """The same without the time for which the attempt's thread waited for a CPU, or looked for garbage.

        Where that is known. Neither is the task's doing: garbage is looked for by who makes one object too
        many.
        """
        others = [each for each in (starved(self), self.collected) if each.any()]
        return np.asarray(np.maximum(self.length - sum(others), 0.0)) if others else self.length

    @cached_property
    def good(self) -> np.ndarray:
        """Which attempts ran and ended well."""
        mask: np.ndarray = self.attempts.ran & self.attempts.ok
        return mask

    @cached_property
    def running(self) -> np.ndarray:
        """Which attempts ran when the recording ended, and may run still."""
        mask: np.ndarray = self.attempts.ran & is_any(self.attempts.status, ("",))
        return mask

    @cached_property
    def several(self) -> np.ndarray:
        """Rows of the attempts at tasks of which there is more than one."""
        task = self.attempts.task
        ordered = np.sort(task)
        again = sorted_set(ordered[1:][ordered[1:] == ordered[:-1]])
        return np.flatnonzero(np.isin(task, again[again != NOTHING]))

    @cached_property
    def made_again(self) -> MadeAgain:
        """Results that were made more than once."""
        return made_again(self)

    @cached_property
    def by_names(self) -> Names:
        """Count, total, mean and median of the attempts by name."""
        code, length = self.prefix.codes[self.good], self.length[self.good]
        size = len(self.names)
        count = np.bincount(code, minlength=size)
        total = np.bincount(code, length, size)
        median = medians(code, length, size)
        return Names(count, total, total / np.maximum(count, 1), median)

    @cached_property
    def for_client(self) -> np.ndarray:
        """By code, which task names put a whole collection together for the client."""
        return for_client(self)

    @cached_property
    def usual(self) -> np.ndarray:
        """Median of `own` by name, seconds; NaN where none ended well."""
        if self.own is self.length:
            return self.by_names.median
        return medians(self.prefix.codes[self.good], self.own[self.good], len(self.names))

    @cached_property
    def inputs(self) -> Inputs:
        """What each attempt waited for last."""
        return inputs(self.read, self.attempts)

    def input_bytes(self) -> np.ndarray:
        """Bytes of the inputs of each attempt together; NaN where it has none."""
        edges, known = self.read("edges"), self.attempts
        users = Lookup(known.task)
        makers = Lookup(np.where(known.ok, known.task, NOTHING).astype("u4"))
        nbytes = np.full(len(known.run), np.nan)
        for begin in range(0, len(edges["task"]), BLOCK):
            some = slice(begin, begin + BLOCK)
            needs, made = users.rows(edges["task"][some]), makers.rows(edges["dependency"][some])
            both = (needs >= 0) & (made >= 0)
            needs, made = needs[both], made[both]
            nbytes[needs[np.isnan(nbytes[needs])]] = 0.0
            np.add.at(nbytes, needs, np.nan_to_num(known.at("nbytes", made), copy=False))
        forget(edges)
        return nbytes

    def outliers(self, times: float, least: int, seconds: float = LEAST) -> list[Outliers]:
        """Attempts that took so many times the median of their name, and so many seconds more than it.

        Of names with so many tasks at least.
        """
        key = (times, least, seconds)
        if key not in self._outliers:
            self._outliers[key] = list(outliers(self, *key))
        return self._outliers[key]

    @cached_property
    def waiting(self) -> Pieces:
        """Pieces in which a thread had nothing to run, for inputs were being computed."""
        return self.budget.part("inputs")

    @cached_property
    def off_cpu(self) -> Pieces:
        """Pieces in which a function ran without a CPU."""
        return self.budget.part("off-cpu")

    @cached_property
    def waiting_for_outliers(self) -> np.ndarray:
        """Thread-seconds of these that are due to what outliers took beyond the median of their name."""
        share = np.zeros(len(self.attempts.run) + 1)
        for found in self.outliers(3, 4):
            share[found.rows] = found.beyond
        excess: np.ndarray = self.seconds(self.waiting) * share[self.waiting.row]
        return excess

    @cached_property
    def cores(self) -> Cores:
        """For which idle threads a core was free."""
        return cores(self)

    @cached_property
    def queues(self) -> Queues:
        """Where tasks waited for a thread while others were idle."""
        return Queues(self)

    @cached_property
    def backlog(self) -> Moments:
        """When tasks waited for a thread, those that did so for more than a moment."""
        some = self.attempts.in_blocks("ready", "executing")
        return Moments.together((ready, np.where(given - ready > MOMENT, given, 0)) for ready, given in some)

    @cached_property
    def for_others(self) -> WaitsForOthers:
        """How long tasks waited for others, and held threads."""
        return waits_for_others(self)

    @cached_property
    def misplaced(self) -> float:
        """Thread-seconds in which a thread was idle beside tasks that waited for another one.

        Without those in which they stood behind an outlier, see `straggler` and `data-skew`, or waited for
        resources that its worker has not; see `resource-limit`.
        """
        idle = self.seconds(self.budget.part("placement")) - self._kept
        for found in self.outliers(3, 4):
            if found.why in ("itself", "data") and len(found.stuck):
                idle = np.maximum(idle - found.stuck, 0.0)
        return float(idle.sum())

    @cached_property
    def kept_by_worker(self) -> np.ndarray:
        """The thread-seconds, by code of the worker, in which tasks waited for resources that it has not.

        Or had, and others used.
        """
        lane = self.budget.part("placement").lane
        return np.bincount(self.lanes.worker[lane], self._kept, len(self.lanes.workers))

    @cached_property
    def _kept(self) -> np.ndarray:
        pieces = self.budget.part("placement")
        seconds, kept = self.seconds(pieces), np.zeros(len(pieces.lane))
        for code, moments in kept_by_resources(self).items():
            mine = np.flatnonzero(self.lanes.worker[pieces.lane] == code)
            kept[mine] = seconds[mine] * self.share_within(moments, pieces.take(mine))
        return kept

    @cached_property
    def speed(self) -> float:
        """Share of the time for which threads with tasks could run in which they did; 1 if unknown.

        What short things cost on a busy machine, times this, is what they cost on a quiet one.
        """
        waited = float(np.nansum([each.queued for each in self.held]))
        computed = self.spent("cpu")
        return computed / (computed + waited) if computed > 0 else 1.0

    @cached_property
    def held(self) -> list[Held]:
        """What is known of the threads of every worker while tasks ran."""
        return held(self)

    @cached_property
    def held_at(self) -> dict[Place, list[Held]]:
        """The same by where the workers have their cores, as far as that is known."""
        found: dict[Place, list[Held]] = {}
        for each in self.held:
            if (at := self.places.get(each.name)) is not None:
                found.setdefault(at, []).append(each)
        return found

    @cached_property
    def busy_by_lane(self) -> np.ndarray:
        """Thread-seconds in which attempts held a thread, by lane."""
        return self._by_lane(self.pieces_without(*words.IDLE))

    @cached_property
    def busy_by_worker(self) -> np.ndarray:
        """The same by code of the worker."""
        return np.bincount(self.lanes.worker, self.busy_by_lane, len(self.lanes.workers))

    @cached_property
    def working_by_lane(self) -> np.ndarray:
        """The same as `busy_by_lane` without outliers, and what workers of one host waited for a CPU."""
        waited = np.zeros(len(self.lanes.workers))
        for each in self.held:
            waited[each.code] = 0.0 if self.has_host_alone(each.name) else each.waits * each.seconds
        known = self.attempts
        for found in self.outliers(3, 4):
            if found.why in ("itself", "data"):
                for row, beyond in zip(found.rows.tolist(), found.beyond.tolist(), strict=True):
                    worker = known.worker.names[known.worker.codes[row]]
                    waited[self.code_of[worker]] += beyond * float(self.length[row])
        share = np.minimum(waited / np.maximum(self.busy_by_worker, 1e-12), 1.0)
        return np.asarray(self.busy_by_lane * (1 - share)[self.lanes.worker])

    @cached_property
    def working_by_worker(self) -> np.ndarray:
        """The same by code of the worker."""
        return np.bincount(self.lanes.worker, self.working_by_lane, len(self.lanes.workers))

    def has_host_alone(self, worker: str) -> bool:
        """Whether a worker has its host for itself."""
        return self._on_host.get(self.workers.get(worker, {}).get("host"), 0.0) < 2

    @cached_property
    def _on_host(self) -> dict[Any, float]:
        """Workers of each host at once within the run, at most; of those without a host NaN stands for all.

        Those that come when others have left, as after a restart, are no more.
        """
        together: dict[Any, list[tuple[float, float]]] = {}
        for name, each in self.workers.items():
            life = self._life_within_run(name)
            together.setdefault(each.get("host"), []).extend([life] if life[0] < life[1] else [])
        return {host: _number_at_once(found) for host, found in together.items()}

    def _life_within_run(self, worker: str) -> tuple[float, float]:
        joined, left = self._lives.get(worker, (np.inf, -np.inf))
        return float(np.fmax(joined, self.start)), float(np.fmin(left, self.stop))

    @cached_property
    def threads_by_worker(self) -> np.ndarray:
        """Threads of each worker, by code."""
        return np.bincount(self.lanes.worker, self.lanes.threads, len(self.lanes.workers))

    @cached_property
    def life_by_lane(self) -> np.ndarray:
        """Thread-seconds for which each lane was there, as far as they are `offered`."""
        return self._by_lane(self.budget.pieces)

    @cached_property
    def life_by_worker(self) -> np.ndarray:
        """The same by code of the worker."""
        return np.bincount(self.lanes.worker, self.life_by_lane, len(self.lanes.workers))

    def threads_of(self, worker: str) -> float:
        """Threads of a worker; 0 if there is none of that name."""
        code = self.code_of.get(worker)
        return 0.0 if code is None else float(self.threads_by_worker[code])

    @cached_property
    def code_of(self) -> dict[str, int]:
        """Code of each worker of the lanes."""
        return {name: code for code, name in enumerate(self.lanes.workers)}

    def called(self, worker: str) -> str:
        """A worker's name, with its cluster's number where others have one of that name; else its address."""
        told = self.workers.get(worker, {})
        name, cluster = told.get("name"), told.get("cluster")
        if not (isinstance(name, str) and name):
            return words.in_a_line(worker)
        alike = self._clusters_by_name[name]
        return words.in_a_line(
            f"{name} {words.DOT} cluster {self._clusters[cluster]}" if len(alike) > 1 and cluster else name
        )

    @cached_property
    def _clusters(self) -> dict[str, int]:
        """Number of each cluster, from 1 on, in the order in which they came."""
        known = dict.fromkeys(told["cluster"] for told in self.workers.values() if told["cluster"])
        return {cluster: number for number, cluster in enumerate(known, 1)}

    @cached_property
    def _clusters_by_name(self) -> dict[str, set[str]]:
        """The clusters that have workers of a name."""
        found: dict[str, set[str]] = {}
        for told in self.workers.values():
            found.setdefault(told["name"], set()).update({told["cluster"]} - {""})
        return found

    def left(self, worker: str) -> float:
        """When a worker left; inf if it did not."""
        moment = float(self.workers.get(worker, {}).get("left", np.nan))
        return moment if np.isfinite(moment) else np.inf

    def most_at_once(self, amounts: Mapping[str, float]) -> float:
        """The most that workers which were there at the same time have together, of an amount of each.

        Beside a cluster local schedulers are there while they are used; see `lives`.
        """
        told = [self._lives.get(name, (np.nan, np.nan)) for name in amounts]
        joined, left = np.array(told, "f8").reshape(-1, 2).T
        since, until = np.nan_to_num(joined, nan=-np.inf), np.nan_to_num(left, nan=np.inf)
        return most_at_once(since, until, np.array([*amounts.values()], "f8"))

    def most_threads(self, workers: Iterable[str]) -> float:
        """The most threads that some workers had at once."""
        return self.most_at_once({worker: self.threads_of(worker) for worker in workers})

    @cached_property
    def collections(self) -> frozenset[str]:
        """What advice calls the collections that ran; see `fitting`."""
        return collections(self)

    @cached_property
    def carried(self) -> float:
        """Bytes of the largest graph that carries data in its tasks; 0 if none does."""
        table = self.read("submissions")
        nbytes = np.nan_to_num(table["nbytes"])
        return float(
            np.where(nbytes >= CARRIES * np.maximum(table["tasks"], 1), nbytes, 0.0).max(initial=0.0)
        )

    @cached_property
    def states(self) -> States:
        """When workers were paused, joining or leaving."""
        return states(self.read, self.attempts, self.lanes)

    @cached_property
    def path(self) -> Path:
        """The critical path; where there are several clusters, the longest of theirs."""
        told = self.read("critical")
        cluster: Symbols = told["cluster"]
        seconds = np.bincount(cluster.codes, told["stop"] - told["start"], max(1, len(cluster.names)))
        mine = cluster.codes == int(seconds.argmax())
        here: dict[str, Any] = {name: take(values, mine) for name, values in told.items()}
        rows = Lookup(self.attempts.run).rows(here["run"])
        start, stop = here["start"], here["stop"]
        length = stop - start - self.still.within(start, stop)
        return Path(start, stop, here["kind"], here["because"], rows, length)

    @cached_property
    def throttled(self) -> dict[str, float]:
        """Share of time in which the limit on CPU time of each process that has one was used up."""
        table = self.read("resources")
        if "throttled" not in table:
            return {}
        samples = Samples({name: table[name] for name in ("process", "time", "throttled")})
        found = {}
        for name in table["process"].names:
            if name == "scheduler" and schedulers_mixed(self.read):
                continue
            mine = samples.of(name)
            time, share = mine["time"], mine["throttled"]
            inside = (time > self.start) & (time <= self.stop + 1) & np.isfinite(share)
            if inside.any():
                found[name] = float(share[inside].mean())
        return found

    @cached_property
    def allowed(self) -> list[Allowed]:
        """What the system allows workers of memory, where that is less than the machine has."""
        return allowed(self)

    @cached_property
    def hosts(self) -> list[Host]:
        """What workers sampled of the memory of their hosts."""
        return hosts(self)

    @cached_property
    def places(self) -> dict[str, Place]:
        """Where each worker has its cores, as far as that is known."""
        return places(self.read("workers"))

    @cached_property
    def processes(self) -> dict[str, tuple[str, Any]]:
        """What tells the process of each worker."""
        return processes(self.read("workers"))

    @cached_property
    def workers(self) -> dict[str, dict[str, Any]]:
        """What `workers` tells of each: name, threads, memory_limit, joined, left …"""
        table = self.read("workers")
        names = (
            "name",
            "host",
            "pid",
            "threads",
            "memory_limit",
            "joined",
            "left",
            "cluster",
            "own",
        )
        columns = [table[name].tolist() for name in names]
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        return dict(zip(table["worker"].tolist(), rows, strict=True))

    @cached_property
    def _lives(self) -> dict[str, tuple[float, float]]:
        """From when until when each worker was there."""
        row, joined, left = lives(self.read)
        names = self.read("workers")["worker"].tolist()
        told = zip(joined.tolist(), left.tolist(), strict=True)
        return dict(zip((names[each] for each in row.tolist()), told, strict=True))

    @cached_property
    def schedulers(self) -> Schedulers:
        """Which worker, and which attempt, is of which scheduler."""
        return schedulers(self)

    @cached_property
    def serving(self) -> list[str]:
        """The workers of clusters; the local schedulers where there are no others."""
        return [name for name in self.lanes.workers if self.all_local or not is_local(name)]

    def since(self, moment: float) -> float:
        """A moment in seconds since the recording's start."""
        return float(moment) - self.zero


def _number_at_once(lives: list[tuple[float, float]]) -> float:
    since, until = np.array(lives, "f8").reshape(-1, 2).T
    return most_at_once(since, until, np.ones(len(lives)))


def function_at(name: str, file: str, line: int) -> str:
    """What a function is called and where it stands, in words."""
    return f"`{words.in_a_line(name)}` (`{words.place(file, line)}`)"
