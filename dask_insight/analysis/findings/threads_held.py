"""What held the threads of a worker while tasks ran: the interpreter's lock, others, a limit, a GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...timeline import Moments
from .samples import Samples, between
from .thresholds import Limits

if TYPE_CHECKING:
    from .facts import Facts

#: Share of a sampler's period in which tasks must have run for it to count.
_BUSY = 0.8
#: How many more tasks than threads run at once where some have given their thread back.
_MORE = 0.25
#: Threads that run or could run, from which the lock is in use; and up to which, where only running is known.
_RUNS, _RUNS_ALONE = 0.6, 1.3
#: Rounds of samples from which they tell something; how many times the mean the longest delay of a sample is.
_ROUNDS, _LONGEST = 5, 2.5


class Process(NamedTuple):
    """What is known of the tasks of all workers that share a process, on average while any ran."""

    #: Tasks running at once.
    at_once: float
    #: Their threads that waited for a CPU; NaN if unknown.
    starved: float
    #: Cores that their own threads used; NaN if unknown.
    own: float


class Held(NamedTuple):
    """What is known of the threads of one worker while tasks ran."""

    #: Name and code (of `lanes`).
    name: str
    code: int
    #: Tasks running at once, on average while any did.
    at_once: float
    process: Process
    #: Seconds in which it ran any.
    seconds: float
    #: How late the sampler's thread was, which needs the lock for each round, seconds; NaN if unknown.
    late: float
    #: Share of time in which a thread waited for the lock, 0 to 1; NaN if unknown.
    lock: float
    #: Whether `late` is known apart from waits for a CPU.
    sure: bool
    #: Cores that its process used, and threads with its tasks that waited for a CPU, on average; NaN if
    #: unknown.
    cores: float
    starved: float
    #: Thread-seconds for which its threads waited for a CPU in the whole run, with a task or between two; NaN
    #: if unknown.
    queued: float
    #: Threads of it that waited for the interpreter's lock at most, on average; NaN if unknown.
    waited: float
    #: Threads that it has for tasks.
    threads: float
    #: Use of its GPUs while tasks ran, per cent; 0 if there are none.
    gpu: float
    #: Cores that a limit on its CPU time allows, share of time in which that was used up, and thread-seconds
    #: of waits for a CPU in it; NaN if there is none, or it is unknown.
    limit: float = np.nan
    throttled: float = np.nan
    stopped: float = np.nan
    #: CPU seconds of processes that its tasks started and that ended meanwhile; NaN if unknown.
    children: float = np.nan

    @property
    def waits(self) -> float:
        """Thread-seconds a second in which its tasks waited for a CPU; 0 if unknown."""
        return self.starved if np.isfinite(self.starved) else 0.0

    @property
    def beside(self) -> float:
        """Share of its process's cores that the tasks' own threads did not use; 0 if unknown."""
        known = self.cores > 0 and self.process.own >= 0
        return max(0.0, 1 - self.process.own / self.cores) if known else 0.0

    @property
    def seceded(self) -> bool:
        """Whether more tasks ran at once than it has threads: some gave theirs back and wait for others."""
        return self.at_once > self.threads + _MORE

    def contended(self, limits: Limits) -> bool:
        """Whether tasks waited for the lock."""
        if self.process.at_once < limits["gil-contention.at-once"] or self.seceded:
            return False
        if np.isfinite(self.lock):
            return self.lock >= limits["gil-contention.waiting"]
        # One thread at a time holds the lock, and runs or waits for a CPU.
        known = np.isfinite(self.process.starved)
        runnable = self.cores + (self.process.starved if known else 0.0)
        if runnable < _RUNS or (not known and runnable > _RUNS_ALONE):
            return False
        return self.late >= limits["gil-contention.late"]


def held(facts: Facts) -> list[Held]:
    """What is known of every worker that ran tasks."""
    known = facts.attempts
    ran = np.flatnonzero(known.ran)
    ran = ran[np.argsort(known.worker.codes[ran], kind="stable")]
    edges = np.searchsorted(known.worker.codes[ran], np.arange(len(known.worker.names) + 1))
    parts = zip(known.worker.names, edges.tolist(), edges[1:].tolist(), strict=False)
    rows_of = {name: ran[first:last] for name, first, last in parts if first < last}
    resources, sampling, gpus = (Samples(facts.read(table)) for table in ("resources", "sampling", "gpus"))
    busy_of = {name: _busy(facts, rows) for name, rows in rows_of.items()}
    used_of = {name: _Used(facts, resources.of(name), busy) for name, busy in busy_of.items()}
    starved = {name: _starved(facts, rows, used_of[name]) for name, rows in rows_of.items()}
    processes = _processes(facts, rows_of, busy_of, starved)
    found = []
    for code, name in enumerate(facts.lanes.workers):
        if name not in rows_of:
            continue
        busy, used = busy_of[name], used_of[name]
        rounds, on_gpus = sampling.of(name), _Used(facts, gpus.of(name), busy)
        seconds = max(busy.seconds, 1e-9)
        found.append(
            Held(
                name=name,
                code=code,
                at_once=_at_once(facts, rows_of[name], busy),
                # Workers of one process share its lock and its cores.
                process=processes[process_of(facts, name)],
                seconds=busy.seconds,
                late=_late(rounds, used, used.mean("lag")),
                lock=used.mean("gil"),
                sure=bool(np.isfinite(rounds["starved"]).any()),
                cores=used.mean("cpu") / 100,
                starved=starved[name] / seconds,
                queued=used.sum("starved"),
                waited=used.during("gil_wait") / seconds,
                threads=_told(facts, name),
                gpu=float(np.nan_to_num(on_gpus.mean("utilization"))),
                limit=used.mean("cpu_limit"),
                throttled=used.mean("throttled"),
                stopped=used.during("starved", "throttled"),
                children=used.sum("children"),
            )
        )
    return found


class _Used:
    """What one worker sampled, each moment looked up once."""

    def __init__(self, facts: Facts, table: Mapping[str, np.ndarray], busy: Moments) -> None:
        self.table, self.busy = table, busy
        time = table["time"]
        #: Which samples tell of the run, and which were taken while tasks ran.
        self._inside = (time > facts.start) & (time <= facts.stop + 1)
        self._while_busy = busy.has(time - 1e-3)

    def mean(self, column: str) -> float:
        """Mean of a resource's samples that were taken while tasks ran; NaN if unknown."""
        if column not in self.table:
            return float("nan")
        values = self.table[column]
        mine = np.isfinite(values) & self._while_busy
        return float(values[mine].mean()) if mine.any() else float("nan")

    def during(self, *columns: str) -> float:
        """Thread-seconds that a column tells of the time in which tasks ran, multiplied with others by row.

        NaN if unknown. Of a sample counts the share of its time in which tasks ran.
        """
        if any(column not in self.table for column in columns):
            return float("nan")
        values = np.prod([self.table[column] for column in columns], axis=0)
        if not np.isfinite(values[self._inside]).any():
            return float("nan")
        return float(between(self.table["time"], values, self.busy.start, self.busy.stop).sum())

    def sum(self, column: str) -> float:
        """Seconds that a column tells of the whole run; NaN if unknown."""
        if column not in self.table:
            return float("nan")
        values = self.table[column][self._inside]
        known = np.isfinite(values)
        return float(values[known].sum()) if known.any() else float("nan")


def cores_of(facts: Facts, held: Iterable[Held]) -> float:
    """Cores that the processes of some workers used: the most of those there at once; NaN if unknown."""
    return _by_process(facts, {each.name: each.cores for each in held})


def own_cores_of(facts: Facts, held: Iterable[Held]) -> float:
    """The same of the threads with their tasks alone."""
    return _by_process(facts, {each.name: each.process.own for each in held})


def _by_process(facts: Facts, cores: Mapping[str, float]) -> float:
    """The most at once of what each worker tells of its process, each process counted once."""
    sharing = Counter(process_of(facts, name) for name in cores)
    return facts.most_at_once(
        {name: amount / sharing[process_of(facts, name)] for name, amount in cores.items()}
    )


def _processes(
    facts: Facts,
    rows_of: Mapping[str, np.ndarray],
    busy_of: Mapping[str, Moments],
    starved: Mapping[str, float],
) -> dict[Any, Process]:
    """Every process, of the rows, the busy time and the thread-seconds without a free core of each worker."""
    names_of: dict[Any, list[str]] = {}
    for name in rows_of:
        names_of.setdefault(process_of(facts, name), []).append(name)
    found = {}
    for process, names in names_of.items():
        rows = np.concatenate([rows_of[name] for name in names])
        busy = busy_of[names[0]] if len(names) == 1 else _busy(facts, rows)
        cpu = np.asarray(facts.attempts.cpu[rows], "f8")
        seconds, told = max(busy.seconds, 1e-9), cpu[cpu > 0]
        found[process] = Process(
            at_once=_at_once(facts, rows, busy),
            starved=sum(starved[name] for name in names) / seconds,
            own=float(told.sum()) / seconds if len(told) else np.nan,
        )
    return found


def process_of(facts: Facts, name: str) -> Any:
    """What tells the process of a worker; its name where it does not say."""
    return facts.processes.get(name, name)


def _busy(facts: Facts, rows: np.ndarray) -> Moments:
    """When any of some attempts ran."""
    return Moments.of(facts.attempts.at("start", rows), facts.attempts.at("stop", rows))


def _at_once(facts: Facts, rows: np.ndarray, busy: Moments) -> float:
    """Attempts that ran at once, on average while any did."""
    return float(facts.length[rows].sum()) / busy.seconds if busy.seconds > 0 else 0.0


def _starved(facts: Facts, rows: np.ndarray, used: _Used) -> float:
    """Thread-seconds for which attempts waited for a CPU: no more than they had none; NaN if unknown."""
    without = facts.length[rows] - np.nan_to_num(facts.attempts.cpu[rows])
    return float(np.minimum(used.during("starved"), np.maximum(without, 0.0).sum()))


def _told(facts: Facts, name: str) -> float:
    """Threads that a worker says it has; inf where it does not."""
    threads = float(facts.workers.get(name, {}).get("threads", np.nan))
    return threads if threads > 0 else np.inf


def _late(table: Mapping[str, np.ndarray], used: _Used, lag: float) -> float:
    """Mean delay of the sampler's rounds while tasks ran; where nothing was sampled, of the event loop.

    Periods count by how much threads may have waited for the lock, where that is known: what a run does
    beside a few seconds of contention must not hide them. What the sampler's own thread waited for a CPU is
    no wait for the lock.
    """
    stop, period = table["time"], table["period"].astype("f8")
    full = (table["samples"] > 0) & (used.busy.within(stop - period, stop) >= _BUSY * period)
    if float(table["samples"][full].sum()) < _ROUNDS:
        return lag / _LONGEST
    waits = table["interval"] * table["samples"]
    aimed = np.where(np.isfinite(table["asked"]), table["asked"], waits)
    late = (period - aimed - np.nan_to_num(table["starved"]))[full]
    weight = np.ones(len(late))
    if "gil_wait" in used.table:
        waited = between(used.table["time"], used.table["gil_wait"], (stop - period)[full], stop[full])
        weight = waited if waited.sum() > 0 else weight
    return max(0.0, float((weight * late).sum() / (weight * table["samples"][full]).sum()))
