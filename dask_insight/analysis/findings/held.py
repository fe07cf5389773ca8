"""What is in the memory of workers at a moment."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...timeline import held_until, tells_releases
from .facts import Facts
from .losses import running_of
from .names import most, of_workers, split


def names_in_memory(facts: Facts, peaks: dict[str, tuple[float, float]]) -> tuple[str, ...]:
    """Names of what filled the memory of workers, most first.

    Those of the results that were there, if these explain half of it; else of
    the functions that ran. Results from before the recording have no name.

    Parameters
    ----------
    peaks
        For each worker a moment, and the bytes to be explained.
    """
    known, until, managed = facts.attempts, held_until(facts.read, facts.attempts), _managed(facts)
    size = np.nan_to_num(known.nbytes)
    weight = np.zeros(len(known.run))
    is_told = tells_releases(facts.read)
    attempts = split(known.worker, np.flatnonzero(of_workers(facts, peaks)))
    for worker, (when, nbytes) in peaks.items():
        mine = attempts.get(worker, np.zeros(0, "i8"))
        made = mine[known.ok[mine] & (known.at("done", mine) <= when)]
        held = made[until[made] > when]
        results = max(managed(worker, when), float(size[held].sum()))
        if results > 0 and results >= 0.5 * nbytes:
            rows = held
            if size[held].sum() < 0.5 * results:
                # Where nobody tells, what nothing needs any more is there as long as a client holds it.
                rows = held[:0] if is_told else made
            weight[rows] += size[rows] / max(float(size[rows].sum()), 1.0)
        else:
            rows = _running(facts, worker, mine, when)
            weight[rows] += 1.0 / max(len(rows), 1)
    rows = np.flatnonzero(weight)
    return most(facts, rows, weight[rows])


def _managed(facts: Facts) -> Callable[[str, float], float]:
    """Tells Dask's own measure of the results on a worker at a moment, bytes; 0 where unknown."""
    memory = facts.read("memory")
    rows_of = split(memory["worker"], np.flatnonzero(np.isfinite(memory["managed"])))

    def at(worker: str, when: float) -> float:
        rows = rows_of.get(worker)
        if rows is None:
            return 0.0
        order = rows[np.argsort(memory["time"][rows], kind="stable")]
        return float(np.interp(when, memory["time"][order], memory["managed"][order]))

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
