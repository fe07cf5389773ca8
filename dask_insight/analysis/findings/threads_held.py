"""What held the threads of a worker while tasks ran: the interpreter's lock, other threads, a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...timeline import Moments
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


class Held(NamedTuple):
    """What is known of the threads of one worker while tasks ran."""

    #: Name and code (of `lanes`).
    name: str
    code: int
    #: Tasks running at once, on average while any did: of it, and of all workers of its process.
    at_once: float
    in_process: float
    #: Seconds in which it ran any.
    seconds: float
    #: How late the sampler's thread was, which needs the lock for each round, seconds; NaN if unknown.
    late: float
    #: Share of time in which a thread waited for the lock, 0 to 1; NaN if unknown.
    lock: float
    #: Whether `late` is known apart from waits for a CPU.
    sure: bool
    #: Cores that its process used, and threads of it that waited for a CPU, on average; NaN if unknown.
    cores: float
    starved: float
    #: Threads that it has for tasks.
    threads: float
    #: Use of its GPUs, per cent; 0 if there are none.
    gpu: float

    @property
    def waits(self) -> float:
        """Thread-seconds a second in which its tasks waited for a CPU; 0 if unknown."""
        return self.starved if np.isfinite(self.starved) else 0.0

    @property
    def seceded(self) -> bool:
        """Whether more tasks ran at once than it has threads: some gave theirs back and wait for others."""
        return self.at_once > self.threads + _MORE

    def contended(self, limits: Limits) -> bool:
        """Whether tasks waited for the lock."""
        if self.in_process < limits["gil-contention.at-once"] or self.seceded:
            return False
        if np.isfinite(self.lock):
            return self.lock >= limits["gil-contention.waiting"]
        # One thread at a time holds the lock, and runs or waits for a CPU.
        known = np.isfinite(self.starved)
        runnable = self.cores + (self.starved if known else 0.0)
        if runnable < _RUNS or (not known and runnable > _RUNS_ALONE):
            return False
        return self.late >= limits["gil-contention.late"]


def held(facts: Facts) -> list[Held]:
    """What is known of every worker that ran tasks."""
    known = facts.attempts
    ran = np.flatnonzero(known.ran)
    ran = ran[np.argsort(known.worker.codes[ran], kind="stable")]
    edges = np.searchsorted(known.worker.codes[ran], np.arange(len(known.worker.names) + 1))
    rows_of = {name: ran[edges[at] : edges[at + 1]] for at, name in enumerate(known.worker.names)}
    processes: dict[Any, list[str]] = {}
    for name in rows_of:
        processes.setdefault(_process(facts, name), []).append(name)
    found = []
    for code, name in enumerate(facts.lanes.workers):
        rows = rows_of.get(name, ran[:0])
        if not len(rows):
            continue
        busy = Moments.of(known.start[rows], known.stop[rows])
        seconds = float((busy.stop - busy.start).sum())
        # Workers of one process share its lock.
        beside = processes[_process(facts, name)]
        found.append(
            Held(
                name=name,
                code=code,
                at_once=_at_once(facts, rows),
                in_process=_at_once(facts, np.concatenate([rows_of[each] for each in beside])),
                seconds=seconds,
                late=_late(facts, name, busy, _mean(facts, name, busy, "lag")),
                lock=_mean(facts, name, busy, "gil"),
                sure=_sure(facts, name),
                cores=_mean(facts, name, busy, "cpu") / 100,
                starved=_starved(facts, name) / max(seconds, 1e-9),
                threads=_told(facts, name),
                gpu=_gpu(facts, name),
            )
        )
    return found


def _process(facts: Facts, name: str) -> Any:
    """What tells the process of a worker; its name where it does not say."""
    worker = facts.workers.get(name, {})
    pid = worker.get("pid", np.nan)
    # Only NaN is no equal of itself.
    return (worker.get("host"), pid) if pid == pid else name


def _at_once(facts: Facts, rows: np.ndarray) -> float:
    """Attempts that ran at once, on average while any did."""
    known = facts.attempts
    busy = Moments.of(known.start[rows], known.stop[rows])
    seconds = float((busy.stop - busy.start).sum())
    return float(facts.length[rows].sum()) / seconds if seconds > 0 else 0.0


def _told(facts: Facts, name: str) -> float:
    """Threads that a worker says it has; inf where it does not."""
    threads = float(facts.workers.get(name, {}).get("threads", np.nan))
    return threads if threads > 0 else np.inf


def _late(facts: Facts, name: str, busy: Moments, lag: float) -> float:
    """Mean delay of the sampler's rounds while tasks ran; where nothing was sampled, of the event loop.

    What the sampler's own thread waited for a CPU is no wait for the lock.
    """
    table = facts.read("sampling")
    mine = np.flatnonzero(_is(table["process"], name) & (table["samples"] > 0))
    stop, period = table["time"][mine], table["period"][mine].astype("f8")
    full = busy.within(stop - period, stop) >= _BUSY * period
    rounds = float(table["samples"][mine][full].sum())
    if rounds < _ROUNDS:
        return lag / _LONGEST
    waits = table["interval"][mine][full] * table["samples"][mine][full]
    asked = table["asked"][mine][full]
    aimed = float(np.where(np.isfinite(asked), asked, waits).sum())
    starved = float(np.nan_to_num(table["starved"][mine][full]).sum())
    return max(0.0, (float(period[full].sum()) - aimed - starved) / rounds)


def _sure(facts: Facts, name: str) -> bool:
    table = facts.read("sampling")
    return bool(np.isfinite(table["starved"][_is(table["process"], name)]).any())


def _mean(facts: Facts, name: str, busy: Moments, column: str) -> float:
    """Mean of a resource's samples that were taken while tasks ran."""
    table = facts.read("resources")
    if column not in table:
        return float("nan")
    values = table[column]
    mine = _is(table["process"], name) & np.isfinite(values)
    mine[mine] = busy.has(table["time"][mine] - 1e-3)
    return float(values[mine].mean()) if mine.any() else float("nan")


def _starved(facts: Facts, name: str) -> float:
    """Thread-seconds in which its tasks' threads waited for a CPU; NaN if unknown."""
    table = facts.read("resources")
    mine = _is(table["process"], name) & np.isfinite(table["starved"])
    mine[mine] = (table["time"][mine] > facts.start) & (table["time"][mine] <= facts.stop + 1)
    return float(table["starved"][mine].sum()) if mine.any() else float("nan")


def _gpu(facts: Facts, name: str) -> float:
    table = facts.read("gpus")
    mine = _is(table["process"], name) & np.isfinite(table["utilization"])
    return float(table["utilization"][mine].mean()) if mine.any() else 0.0


def _is(symbols: Symbols, name: str) -> np.ndarray:
    mask: np.ndarray = np.array([each == name for each in symbols.names] or [False])[symbols.codes]
    return mask
