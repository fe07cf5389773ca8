"""What is in the memory of workers at a moment."""

from __future__ import annotations

import numpy as np

from ...lookup import Lookup
from ...schema import NOTHING
from .facts import Facts
from .losses import running_of
from .names import most, of_workers, split


def needed_until(facts: Facts) -> np.ndarray:
    """When the last task that needs each attempt's result had ended; infinity where none does."""
    edges, known = facts.read("edges"), facts.attempts
    makers = Lookup(np.where(known.ok, known.task, NOTHING).astype("u4")).rows(edges["dependency"])
    users = Lookup(known.task).rows(edges["task"])
    both = (makers >= 0) & (users >= 0)
    until = np.full(len(known.run), -np.inf)
    np.maximum.at(until, makers[both], known.done[users[both]])
    return np.where(np.isfinite(until), np.maximum(until, known.done), np.inf)


def names_in_memory(facts: Facts, peaks: dict[str, tuple[float, float]]) -> tuple[str, ...]:
    """Names of what filled the memory of workers, most first.

    Those of the results that were there, if these explain half of it; else of
    the functions that ran.

    Parameters
    ----------
    peaks
        For each worker a moment, and the bytes to be explained.
    """
    known, until = facts.attempts, needed_until(facts)
    size = np.nan_to_num(known.nbytes)
    weight = np.zeros(len(known.run))
    attempts = split(known.worker, np.flatnonzero(of_workers(facts, peaks)))
    for worker, (when, nbytes) in peaks.items():
        mine = attempts.get(worker, np.zeros(0, "i8"))
        held = mine[known.ok[mine] & (known.done[mine] <= when) & (until[mine] > when)]
        together = float(size[held].sum())
        if together > 0 and together >= 0.5 * nbytes:
            weight[held] += size[held] / together
            continue
        mine = mine[known.ran[mine] | known.killed[mine]]
        rows = mine[known.ran[mine] & (known.start[mine] <= when) & (known.ended[mine] >= when)]
        if not len(rows):
            rows = running_of(facts, worker, mine[known.killed[mine]])
        if not len(rows):
            rows = mine[known.stop[mine] <= when]
            rows = rows[np.argsort(known.stop[rows])][-1:]
        weight[rows] += 1.0 / max(len(rows), 1)
    rows = np.flatnonzero(weight)
    return most(facts, rows, weight[rows])
