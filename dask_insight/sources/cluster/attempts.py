"""Ended attempts: emitted as soon as the scheduler tells of them, put right when their worker does.

The start and stop that the scheduler has of an attempt carry Dask's clock
correction of that moment. Which one that was only the worker knows for
certain, and it says so up to a second later. Until then the last correction
known is taken back; where that was another one, the right times come in
`executions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...batch import encode
from ...identity import Namespace
from ...options import Emit
from ...probe.tasks import QUEUED, STATUSES
from .clocks import Clocks, Times
from .gather import Gather
from .layouts import by_code, idents, pick

#: Seconds for which an attempt and the word of its worker wait for each other.
_PATIENCE = 30.0
#: Most of either that wait.
_MOST = 200_000
#: Seconds by which effects may come before their causes without a word.
_SLACK = 0.01
#: Seconds by which times may be wrong without being put right: half of what is kept of a time.
_EXACT = 5e-7

_Rows = npt.NDArray[Any]
_GUESSED = np.dtype([("run", "u4"), *((name, "f8") for name in ("shift", "start", "stop", "ready", "done"))])
_TOLD = np.dtype([("run", "u4"), ("shift", "f8"), ("when", "f8")])


class Attempts:
    """One scheduler's ended attempts.

    Parameters
    ----------
    emit, gather
        Where batches and single rows go.
    clocks
        The workers' clocks.
    tasks, runs
        Ids of the recording.
    """

    def __init__(
        self, emit: Emit, gather: Gather, clocks: Clocks, *, tasks: Namespace, runs: Namespace
    ) -> None:
        self._emit = emit
        self._gather = gather
        self._clocks = clocks
        self.tasks = tasks
        self.runs = runs
        self._guessed = np.zeros(0, _GUESSED)
        self._told = np.zeros(0, _TOLD)
        self._contradictions: dict[str, int] = {}

    def take(
        self,
        found: _Rows,
        *,
        workers: Sequence[str],
        types: Sequence[str],
        submitted: Times,
    ) -> None:
        """Emit attempts.

        Parameters
        ----------
        found
            The scheduler's packed rows.
        workers, types
            Labels by code.
        submitted
            When each row's task was submitted.
        """
        if not len(found):
            return
        codes = found["worker"]
        shift, told = self._shifts(found, workers, codes)
        start, stop = found["start"] - shift, found["stop"] - shift
        columns = {
            "run": self.runs.map(found["run"]),
            "task": self.tasks.map(found["task"]),
            "worker": pick(codes, workers),
            "thread": idents(found["thread"]),
            "status": pick(found["status"] & ~np.uint8(QUEUED), STATUSES),
            "done": found["done"],
            "stop": stop,
            "start": start,
            "assigned": found["assigned"],
            "ready": found["ready"],
            "submitted": submitted,
            "queued": (found["status"] & QUEUED) // QUEUED,
            "nbytes": found["nbytes"],
            "typename": pick(found["type"], types),
        }
        self._emit(encode("attempts", columns))
        early = np.where(told, found["ready"] - start, 0.0)
        self._doubt(workers, codes, early, found["done"])
        self._remember(found, shift, start, stop, ~told & np.isfinite(start))

    def told(
        self, workers: Sequence[str], codes: _Rows, runs: _Rows, delays: Times, now: float
    ) -> Mapping[str, Times]:
        """By how much Dask shifted these runs, of workers by their codes.

        Returns
        -------
        Mapping
            ``start`` and ``stop`` of those that were emitted with another
            shift, seconds on the scheduler's clock; NaN for all others.
        """
        shift = delays + np.array([self._clocks.of(worker).offset for worker in workers])[codes]
        start, stop = np.full((2, len(runs)), np.nan)
        at, mine = _matches(self._guessed["run"], runs)
        before = self._guessed[at]
        moved = before["shift"] - shift[mine]
        wrong = np.abs(moved) > _EXACT
        start[mine[wrong]] = (before["start"] + moved)[wrong]
        stop[mine[wrong]] = (before["stop"] + moved)[wrong]
        self._doubt(workers, codes[mine], before["ready"] - before["start"] - moved, before["done"])
        self._guessed = np.delete(self._guessed, at)
        early = np.ones(len(runs), bool)
        early[mine] = False
        new = np.zeros(int(early.sum()), _TOLD)
        new["run"], new["shift"], new["when"] = runs[early], shift[early], now
        waiting = self._told[self._told["when"] > now - _PATIENCE]
        self._told = np.concatenate((waiting, new))[-_MOST:]
        return {"start": start, "stop": stop}

    def _shifts(
        self, found: _Rows, workers: Sequence[str], codes: _Rows
    ) -> tuple[Times, npt.NDArray[np.bool_]]:
        """What to take from each row's times, and whether its worker has said so."""
        shift = self._clocks.shifts(workers, codes, found["start"])
        at, mine = _matches(self._told["run"], found["run"])
        shift[mine] = self._told["shift"][at]
        told = np.zeros(len(found), bool)
        told[mine] = True
        self._told = np.delete(self._told, at)
        return shift, told

    def _remember(
        self, found: _Rows, shift: Times, start: Times, stop: Times, guessed: npt.NDArray[np.bool_]
    ) -> None:
        new = np.zeros(int(guessed.sum()), _GUESSED)
        for name, values in (("shift", shift), ("start", start), ("stop", stop)):
            new[name] = values[guessed]
        for name in ("run", "ready", "done"):
            new[name] = found[name][guessed]
        waiting = self._guessed[self._guessed["done"] > found["done"].max() - _PATIENCE]
        self._guessed = np.concatenate((waiting, new))[-_MOST:]

    def _doubt(self, workers: Sequence[str], codes: _Rows, early: Times, done: Times) -> None:
        """Say so where tasks seem to start before their inputs were there, which clocks alone can do."""
        for code, rows in by_code(codes, np.flatnonzero(early > _SLACK)):
            self._tell_doubt(workers[code], early[rows], float(done[rows].max()))

    def _tell_doubt(self, worker: str, early: Times, now: float) -> None:
        seconds = early[early > _SLACK + self._clocks.of(worker).uncertainty]
        if not len(seconds):
            return
        known = self._contradictions.get(worker, 0)
        count = self._contradictions[worker] = known + len(seconds)
        if count.bit_length() > known.bit_length():
            text = f"{count} attempts so far seem to start before their inputs were there, now by up to"
            row = {"time": now, "source": worker, "kind": "clock", "level": "warning"}
            row |= {"message": f"{text} {1e3 * float(seconds.max()):.0f} ms"}
            self._gather.add("events", {name: [value] for name, value in row.items()})


def _matches(ours: _Rows, theirs: _Rows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows of both that have the same run."""
    if not len(ours) or not len(theirs):
        none = np.zeros(0, np.intp)
        return none, none
    _, at, mine = np.intersect1d(ours, theirs, return_indices=True)
    return at, mine
