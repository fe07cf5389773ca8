"""Which line of the client's code handed which graph to the scheduler."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from ...batch import encode
from ...options import Emit
from ...schema import OF_TASKS
from .callers import NEWER, Caller
from .calls import Calls

#: Seconds for which a submission waits for its line.
_PATIENCE = 2.0
#: Seconds for which a line waits for its submission, and keys of lines that wait at most, half a kilobyte
#: each: a graph may be long in the making, a loop far ahead of the scheduler, and of one that it cannot
#: unpack the scheduler never tells.
_FORGOTTEN, _MOST = 3600.0, 1_000_000
#: Seconds after which a graph that the scheduler is still making is told.
LONG = 10.0
_NOBODY = Caller("", 0, "", "")


class Submissions:
    """Joins what the scheduler knows of a graph to where in the code it came from.

    The scheduler is not told which call brought a graph, but client and
    scheduler both know its keys.

    Parameters
    ----------
    emit
        Where batches go.
    code
        Whether the text of the code goes with its place.
    lost
        Told in words how many places are not known, again whenever that has doubled; once that sizes are not.
    """

    def __init__(
        self, emit: Emit, code: bool = True, lost: Callable[[str], None] = lambda words: None
    ) -> None:
        self._emit = emit
        self._code = code
        self._tell_lost = lost
        self._lost = self._told_lost = 0
        self._told_sizes = False
        self._calls = Calls()
        self._waiting: dict[int, tuple[float, dict[str, Any]]] = {}
        self._found: dict[int, Caller] = {}
        self._making: float | None = None

    def called(self, keys: list[str], caller: Caller) -> None:
        """The client's code submits a graph that has these keys among others; from any thread."""
        self._calls.add(keys, caller, monotonic())

    def making(self, graphs: int, now: float) -> None:
        """The scheduler is making so many graphs; told in an event once it has been for `LONG` seconds.

        Parameters
        ----------
        now
            The scheduler's time.
        """
        if not graphs:
            self._making = None
        elif self._making is None:
            self._making = now
        elif now - self._making >= LONG:
            self._tell_making(self._making, now)
            # Once.
            self._making = math.inf

    def _tell_making(self, since: float, now: float) -> None:
        caller = self._calls.latest() or _NOBODY
        place = f", which {caller.file}:{caller.line} asked for" if caller.file else ""
        row = {
            "time": now,
            "source": "scheduler",
            "kind": "graph",
            "level": "warning",
            "message": f"it has been making a graph for {now - since:.0f} s{place}",
            "detail": json.dumps({"since": since, "file": caller.file, "line": caller.line}),
        }
        self._emit(encode("events", {name: [value] for name, value in row.items()}))

    def add(self, submission: int, facts: dict[str, Any]) -> None:
        """The scheduler has taken in a graph."""
        self._waiting[submission] = (monotonic(), facts)
        self._find(submission, facts["key"])

    def seen(self, keys: list[str], submissions: npt.NDArray[np.uint32]) -> None:
        """These new tasks came with these submissions, or with none if they were there before."""
        if not self._calls:
            return
        for key, submission in zip(keys, submissions.tolist(), strict=True):
            # It may be written already, found by another of its keys.
            if submission in self._waiting and submission not in self._found:
                self._find(submission, key)

    def _find(self, submission: int, key: str) -> None:
        if (caller := self._calls.take(key)) is not None:
            self._found[submission] = caller

    def settle(self, final: bool = False) -> None:
        """Emit the submissions whose line is known, or that have waited long enough."""
        now = monotonic()
        ripe = [
            submission
            for submission, (since, _) in self._waiting.items()
            if final or submission in self._found or now - since > _PATIENCE
        ]
        if ripe:
            self._write(ripe)
        self._lose(self._calls.forget(now - _FORGOTTEN, _MOST))

    def _lose(self, lines: int) -> None:
        self._lost += lines
        if lines and self._lost >= 2 * self._told_lost:
            self._told_lost = self._lost
            self._tell_lost(
                f"the lines of code of {self._lost:,} submissions so far are not known, too many waited for "
                "the scheduler: make fewer, of more tasks each, or wait for results in between"
            )

    def _look_at_sizes(self, callers: list[Caller]) -> None:
        sized = (not math.isnan(caller.nbytes) for caller in callers if caller is not _NOBODY)
        if not self._told_sizes and not all(sized):
            self._told_sizes = True
            self._tell_lost(f"how large graphs are is not seen: {NEWER}")

    def _write(self, ripe: list[int]) -> None:
        facts = [self._waiting.pop(submission)[1] for submission in ripe]
        callers = [self._found.pop(submission, _NOBODY) for submission in ripe]
        self._look_at_sizes(callers)
        metrics = [fact.get("metrics") or {} for fact in facts]
        columns: dict[str, Any] = {
            "submission": ripe,
            "time": [fact["time"] for fact in facts],
            "tasks": [
                metric.get("new_tasks", fact["tasks"]) for metric, fact in zip(metrics, facts, strict=True)
            ],
            "client": [
                _of_task(fact["client"]) if caller.by_task or fact.get("by_task") else fact["client"]
                for fact, caller in zip(facts, callers, strict=True)
            ],
            "file": [caller.file for caller in callers],
            "line": [caller.line for caller in callers],
            "function": [caller.function for caller in callers],
            "code": [caller.code if self._code else "" for caller in callers],
            "cell": [caller.cell.id for caller in callers],
            "execution": [caller.cell.execution for caller in callers],
            "nbytes": [caller.nbytes for caller in callers],
        }
        # The signs of the last two are wrong in some versions of distributed.
        for name, theirs in (
            ("materialize", "materialization_duration_seconds"),
            ("ordering", "ordering_duration_seconds"),
            ("states", "state_initialization_duration_seconds"),
        ):
            columns[name] = [abs(metric.get(theirs, np.nan)) for metric in metrics]
        self._emit(encode("submissions", columns))


def _of_task(client: str) -> str:
    """How a client is called where a task used it."""
    return OF_TASKS + client.removeprefix("Client-")
