"""What is in the memory of workers at a moment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ...batch import Symbols
from ...lookup import Lookup, by_name
from ...timeline import stays, tells_releases
from .facts import Facts, is_any
from .losses import running_of
from .names import most, of_workers, own_workers, quoted, split
from .samples import Samples
from .suspects import needed

#: Share of a worker's memory from which results explain it, and of these from which known ones do.
EXPLAINED = 0.5

#: Libraries whose results are in the memory of a GPU.
_GPU = frozenset(("cudf", "cupy", "cupyx", "dask_cudf", "rmm"))
_BEFORE = "data that were there before or that clients sent"


class Filling(NamedTuple):
    """What filled the memory of workers: task names, most first, and in words."""

    names: tuple[str, ...]
    said: str
    #: Whether it was results on every worker.
    is_results: bool


class Results:
    """The results that workers had, in memory or on disk, made there or fetched from others."""

    def __init__(self, facts: Facts) -> None:
        known = facts.attempts
        self._stays = stays(facts.read, known)
        self._by_worker = split(
            Symbols(self._stays.worker.astype("u4"), known.worker.names), np.arange(len(self._stays.row))
        )
        self._managed, self._spilled = _sampled(facts, "managed"), _sampled(facts, "spilled")
        self._gpus = Samples(facts.read("gpus"))
        #: Bytes of the result of each attempt.
        self.size: np.ndarray = np.nan_to_num(known.nbytes)
        #: The same of those in the memory of hosts; 0 of those on a GPU.
        self.in_hosts: np.ndarray = np.where(_on_gpu(facts), 0.0, self.size)

    def held(self, worker: str, when: float) -> np.ndarray:
        """Rows of the attempts whose results a worker had at a moment."""
        mine = self._of((worker,))
        return np.unique(
            self._stays.row[mine[(self._stays.since[mine] <= when) & (self._stays.until[mine] > when)]]
        )

    def had(self, worker: str, when: float) -> np.ndarray:
        """The same with those that it had had before."""
        mine = self._of((worker,))
        return np.unique(self._stays.row[mine[self._stays.since[mine] <= when]])

    def in_host(self, worker: str, when: float) -> tuple[np.ndarray, np.ndarray]:
        """The same rows, and how much of each is in the host's memory or on its disk, bytes.

        Of results on a GPU that is what its devices did not hold: Dask-CUDA moves them to the host.
        """
        rows = self.held(worker, when)
        on_gpu = self.size[rows] - self.in_hosts[rows]
        total, devices = float(on_gpu.sum()), self._devices(worker, when)
        moved = max(total - devices, 0.0) / total if total and math.isfinite(devices) else 0.0
        return rows, self.in_hosts[rows] + moved * on_gpu

    def in_memory(self, worker: str, when: float) -> float:
        """Bytes of those in a host's memory: as Dask measured them, or else all held less those on disk.

        Dask counts those on a GPU as well.
        """
        (rows, there), managed = self.in_host(worker, when), self._managed(worker, when)
        held = float(there.sum())
        if math.isfinite(managed):
            return max(managed - (float(self.size[rows].sum()) - held), 0.0)
        return max(held - float(np.nan_to_num(self._spilled(worker, when))), 0.0)

    def _devices(self, worker: str, when: float) -> float:
        """Bytes in use on the GPUs that a worker saw, by the last sample of each; NaN where nobody knows."""
        told = self._gpus.of(worker)
        rows = np.flatnonzero(told["time"] <= when)
        rows = rows[np.argsort(told["time"][rows], kind="stable")]
        last = dict(zip(told["index"][rows].tolist(), told["memory"][rows].tolist(), strict=True))
        return float(sum(last.values())) if last else math.nan

    def lasting(self, workers: Iterable[str], until: float) -> tuple[np.ndarray, np.ndarray]:
        """Rows of what workers had, and for each its bytes × the seconds for which it was there."""
        mine = self._of(workers)
        lasted = np.minimum(self._stays.until[mine], until) - self._stays.since[mine]
        rows = self._stays.row[mine]
        return rows, self.size[rows] * np.maximum(lasted, 0.0)

    def _of(self, workers: Iterable[str]) -> np.ndarray:
        parts = [self._by_worker[worker] for worker in workers if worker in self._by_worker]
        return np.concatenate([np.zeros(0, "i8"), *parts])


def filling(facts: Facts, results: Results, peaks: Mapping[str, tuple[float, float]]) -> Filling:
    """What filled the memory of workers.

    The results that were there, if they explain half of it; else the functions
    that ran, by the memory that they are known to need. In the client's own
    process nobody can tell.

    Parameters
    ----------
    peaks
        For each worker a moment, and the bytes to be explained.
    """
    size, is_told, own = results.in_hosts, tells_releases(facts.read), own_workers(facts)
    weight = np.zeros(len(size))
    attempts = split(facts.attempts.worker, np.flatnonzero(of_workers(facts, peaks)))
    running = {}
    for worker, (when, nbytes) in peaks.items():
        there = results.in_memory(worker, when)
        if not (there > 0 and there >= EXPLAINED * nbytes):
            running[worker] = _running(facts, worker, attempts.get(worker, np.zeros(0, "i8")), when)
            continue
        rows, held = results.in_host(worker, when)
        if held.sum() < EXPLAINED * there:
            # Where nobody tells, what nothing needs any more is there as long as a client holds it.
            rows = rows[:0] if is_told else results.had(worker, when)
            held = size[rows]
        weight[rows] += held / max(float(held.sum()), 1.0)
    others = [rows for worker, rows in running.items() if worker not in own and len(rows)]
    if others:
        needs = needed(facts, np.unique(facts.prefix.codes[np.concatenate(others)])) + 1.0
        for rows in others:
            weight[rows] += needs[rows] / max(float(needs[rows].sum()), 1.0)
    rows = np.flatnonzero(weight)
    names = most(facts, rows, weight[rows])
    if names:
        return Filling(names, quoted(names, 1), not running)
    if len(running) < len(peaks):
        return from_before(facts, min(when for when, _ in peaks.values()))
    is_own = bool(running) and running.keys() <= own
    return Filling((), "what else your process holds" if is_own else quoted(()), False)


def from_before(facts: Facts, when: float) -> Filling:
    """Results of which no attempt tells, and that were there at a moment."""
    graph, known, releases = facts.read("graph"), facts.attempts, facts.read("releases")
    others = np.concatenate((known.task[known.ok], releases["task"][releases["time"] < when]))
    rows = np.flatnonzero(is_any(graph["state"], ("memory",)))
    rows = rows[~np.isin(graph["task"][rows], others)]
    prefix = facts.prefix_of(rows)
    count = np.bincount(prefix.codes, minlength=len(prefix.names)).astype("f8")
    names = facts.worst(count, prefix.names)
    said = f"results of {quoted(names, 1)} that were there before" if names else _BEFORE
    return Filling(names, said, True)


def _on_gpu(facts: Facts) -> np.ndarray:
    """Which attempts have results in the memory of a GPU, by the library of their type."""
    table, known = facts.read("attempts"), facts.attempts
    mine = by_name(table["typename"], lambda name: name.partition(".")[0] in _GPU, False)
    on_gpu: np.ndarray = np.append(mine, False)[Lookup(table["run"]).rows(known.run)]
    return on_gpu


def _sampled(facts: Facts, column: str) -> Callable[[str, float], float]:
    """Tells one of Dask's own measures of a worker's memory at a moment, bytes; NaN where unknown."""
    memory = facts.read("memory")
    rows_of = split(memory["worker"], np.flatnonzero(np.isfinite(memory[column])))

    def at(worker: str, when: float) -> float:
        rows = rows_of.get(worker)
        if rows is None:
            return math.nan
        order = rows[np.argsort(memory["time"][rows], kind="stable")]
        return float(np.interp(when, memory["time"][order], memory[column][order]))

    return at


def _running(facts: Facts, worker: str, mine: np.ndarray, when: float) -> np.ndarray:
    """Of a worker's attempts, those that ran at a moment, or else the last before."""
    known = facts.attempts
    ran = mine[known.ran[mine]]
    rows: np.ndarray = ran[(known.at("start", ran) <= when) & (known.at("ended", ran) >= when)]
    if not len(rows):
        rows = running_of(facts, worker, mine[known.killed[mine]])
    if not len(rows):
        before = ran[known.at("stop", ran) <= when]
        rows = before[np.argsort(known.at("stop", before))][-1:]
    return rows
