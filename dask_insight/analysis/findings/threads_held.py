"""What held the threads of a worker while tasks ran: the interpreter's lock, others, a limit, a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...batch import Symbols
from ...dag import links
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
    #: Threads of it that waited for the interpreter's lock at most, on average; NaN if unknown.
    waited: float
    #: Threads that it has for tasks.
    threads: float
    #: Use of its GPUs, per cent; 0 if there are none.
    gpu: float
    #: Cores that its tasks' own threads used, on average; NaN if unknown.
    own: float
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
        """Share of the cores in use that the tasks' own threads did not use; 0 if unknown."""
        known = self.cores > 0 and self.own >= 0
        return max(0.0, 1 - self.own / self.cores) if known else 0.0

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
        processes.setdefault(process_of(facts, name), []).append(name)
    at_once = {process: _at_once(facts, _rows(rows_of, names)) for process, names in processes.items()}
    resources, sampling, gpus = (Samples(facts.read(table)) for table in ("resources", "sampling", "gpus"))
    found = []
    for code, name in enumerate(facts.lanes.workers):
        rows = rows_of.get(name, ran[:0])
        if not len(rows):
            continue
        busy = Moments.of(known.at("start", rows), known.at("stop", rows))
        seconds = float((busy.stop - busy.start).sum())
        cpu = np.asarray(known.cpu[rows], "f8")
        used, rounds = resources.of(name), sampling.of(name)
        found.append(
            Held(
                name=name,
                code=code,
                at_once=_at_once(facts, rows),
                # Workers of one process share its lock.
                in_process=at_once[process_of(facts, name)],
                seconds=seconds,
                late=_late(rounds, used, busy, _mean(used, busy, "lag")),
                lock=_mean(used, busy, "gil"),
                sure=bool(np.isfinite(rounds["starved"]).any()),
                cores=_mean(used, busy, "cpu") / 100,
                starved=_sum(facts, used, "starved") / max(seconds, 1e-9),
                waited=_sum(facts, used, "gil_wait") / max(seconds, 1e-9),
                threads=_told(facts, name),
                gpu=_gpu(gpus.of(name)),
                own=float(cpu[cpu > 0].sum()) / max(seconds, 1e-9) if (cpu > 0).any() else np.nan,
                limit=_mean(used, busy, "cpu_limit"),
                throttled=_mean(used, busy, "throttled"),
                stopped=_sum(facts, used, "starved", "throttled"),
                children=_sum(facts, used, "children"),
            )
        )
    return found


class Samples:
    """The samples of each process in a table, without a look at all rows for each."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        symbols: Symbols = table["process"]
        self._numbers = {name: values for name, values in table.items() if isinstance(values, np.ndarray)}
        codes: dict[str, int] = {}
        same = np.array([codes.setdefault(name, len(codes)) for name in symbols.names] or [0])
        self._codes = codes
        self._rows = links(same[symbols.codes], np.arange(len(symbols.codes)), len(same))

    def of(self, process: str) -> dict[str, np.ndarray]:
        """The columns of numbers of one process."""
        code = self._codes.get(process)
        begin, end = (0, 0) if code is None else self._rows.begins[code : code + 2].tolist()
        rows = self._rows.rows[begin:end]
        return {name: values[rows] for name, values in self._numbers.items()}


def _rows(rows_of: Mapping[str, np.ndarray], names: list[str]) -> np.ndarray:
    return np.concatenate([rows_of[name] for name in names])


def process_of(facts: Facts, name: str) -> Any:
    """What tells the process of a worker; its name where it does not say."""
    worker = facts.workers.get(name, {})
    pid = worker.get("pid", np.nan)
    # Only NaN is no equal of itself.
    return (worker.get("host"), pid) if pid == pid else name


def _at_once(facts: Facts, rows: np.ndarray) -> float:
    """Attempts that ran at once, on average while any did."""
    known = facts.attempts
    busy = Moments.of(known.at("start", rows), known.at("stop", rows))
    seconds = float((busy.stop - busy.start).sum())
    return float(facts.length[rows].sum()) / seconds if seconds > 0 else 0.0


def _told(facts: Facts, name: str) -> float:
    """Threads that a worker says it has; inf where it does not."""
    threads = float(facts.workers.get(name, {}).get("threads", np.nan))
    return threads if threads > 0 else np.inf


def _late(
    table: Mapping[str, np.ndarray], used: Mapping[str, np.ndarray], busy: Moments, lag: float
) -> float:
    """Mean delay of the sampler's rounds while tasks ran; where nothing was sampled, of the event loop.

    Periods count by how much threads may have waited for the lock, where that is known: what a run does
    beside a few seconds of contention must not hide them. What the sampler's own thread waited for a CPU is
    no wait for the lock.
    """
    stop, period = table["time"], table["period"].astype("f8")
    full = (table["samples"] > 0) & (busy.within(stop - period, stop) >= _BUSY * period)
    if float(table["samples"][full].sum()) < _ROUNDS:
        return lag / _LONGEST
    waits = table["interval"] * table["samples"]
    aimed = np.where(np.isfinite(table["asked"]), table["asked"], waits)
    late = (period - aimed - np.nan_to_num(table["starved"]))[full]
    weight = _between(used, "gil_wait", (stop - period)[full], stop[full])
    if weight.sum() <= 0:
        weight = np.ones(len(late))
    return max(0.0, float((weight * late).sum() / (weight * table["samples"][full]).sum()))


def _between(table: Mapping[str, np.ndarray], column: str, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """What a column that counts up from sample to sample tells of each interval; 0 where it tells nothing."""
    known = np.flatnonzero(np.isfinite(table[column])) if column in table else np.zeros(0, "i8")
    if not len(known):
        return np.zeros(len(start))
    known = known[np.argsort(table["time"][known])]
    total = np.cumsum(table[column][known].astype("f8"))
    time = table["time"][known]
    # The first row tells of some time before it.
    time, total = np.append(2 * time[0] - time[min(1, len(time) - 1)], time), np.append(0.0, total)
    return np.asarray(np.interp(stop, time, total) - np.interp(start, time, total))


def _mean(table: Mapping[str, np.ndarray], busy: Moments, column: str) -> float:
    """Mean of a resource's samples that were taken while tasks ran."""
    if column not in table:
        return float("nan")
    values = table[column]
    mine = np.isfinite(values) & busy.has(table["time"] - 1e-3)
    return float(values[mine].mean()) if mine.any() else float("nan")


def _sum(facts: Facts, table: Mapping[str, np.ndarray], *columns: str) -> float:
    """Thread-seconds that a column tells of the run, multiplied with others row by row; NaN if unknown."""
    if any(column not in table for column in columns):
        return float("nan")
    inside = (table["time"] > facts.start) & (table["time"] <= facts.stop + 1)
    values = np.prod([table[column] for column in columns], axis=0)[inside]
    known = np.isfinite(values)
    return float(values[known].sum()) if known.any() else float("nan")


def _gpu(table: Mapping[str, np.ndarray]) -> float:
    use = table["utilization"]
    known = np.isfinite(use)
    return float(use[known].mean()) if known.any() else 0.0
