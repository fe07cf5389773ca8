"""What explains a recording, worked out again and again while pages show it and it grows."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..answers import AT_REST, MADE
from ..batch import announced, encode
from ..columns import Columns, length
from ..heap import give_back
from ..recording import Recording
from ..threads import begun
from .code import Code, may_be_kept

#: Least seconds between two editions of a table.
INTERVAL = 2.0
#: Share of one core that working out may take, by the CPU time of its thread.
SHARE = 0.05
#: The same for source code: of a run that goes on there is seldom new code to read.
SHARE_OF_CODE = 0.01
#: How much more the next edition may cost than the last, as the run has grown.
_GROWTH = 1.5
#: The largest edition that a file may have; this leaves room for more.
_MOST = 2**31
#: Seconds that a process which ends waits for what is being worked out.
_PATIENCE = 5.0
#: Tables that are not worked out, but read from the source code that rows point to.
CODE = ("functions", "lines")
#: Tables whose rows change what can be said; others do too while a task is running.
_NEWS = frozenset(
    (
        "about",
        "graph",
        "attempts",
        "executions",
        "running",
        "phases",
        "errors",
        "events",
        "workers",
        "submissions",
    )
)

#: Gives the tables that somebody needs; is told of new editions.
Serving = tuple[Callable[[], Collection[str]], Callable[[], None]]


class Edition(NamedTuple):
    """A table as it was worked out last."""

    #: Larger than that of every edition before it, of any table.
    number: int
    batch: bytes


class Explainer:
    """Works out tables of one recording on a thread of its own, as far as pages need them.

    Those of `CODE` it adds to the recording; the others are only for pages.

    A table is worked out when something new has come, at most every `INTERVAL`
    seconds and seldom enough to stay within `SHARE` of a core; those in
    `AT_REST` once no task runs. What fails is
    told once in ``events``. The thread lives while something is needed.

    Parameters
    ----------
    recording
        What is explained.

    Attributes
    ----------
    cost
        CPU seconds that the last edition of each table took.
    """

    def __init__(self, recording: Recording) -> None:
        self.cost: dict[str, float] = {}
        self._recording = recording
        self._lock = threading.RLock()
        self._serving: dict[object, Serving] = {}
        self._awake = threading.Event()
        self._thread: threading.Thread | None = None
        #: Where the recording ended when the thread did.
        self._at = -1
        self._code = Code(recording)
        self._editions: dict[str, Edition] = {}
        self._number = 0
        self._counted = count(1)
        self._news = 0
        #: The news there were when a table was worked out last, and when it may be again.
        self._seen: dict[str, int] = {}
        self._due: dict[str, float] = {}
        self._open = False
        #: Whether news are to wake the thread.
        self._asleep = False
        self._failed: set[tuple[str, type]] = set()

    def serve(self, needs: Callable[[], Collection[str]], told: Callable[[], None]) -> Callable[[], None]:
        """Work for somebody until the result is called; begins with the next `wake`.

        Parameters
        ----------
        needs
            Gives the tables that are needed now; asked on any thread.
        told
            Called when there is a new edition.
        """
        key = object()
        with self._lock:
            self._serving[key] = (needs, told)

        def stop() -> None:
            with self._lock:
                self._serving.pop(key, None)
                last = None if self._serving else self._thread
            self._awake.set()
            if last is not None and last is not threading.current_thread():
                last.join(1.0)

        return stop

    def wake(self) -> None:
        """What is needed may have changed; from any thread."""
        with self._lock:
            if self._thread is None and _needed(self._serving.values()):
                self._begin()
        self._awake.set()

    def _begin(self) -> None:
        self._thread = begun(self._run, "dask-insight-explain")
        atexit.register(self._end)

    def newest(self, table: str) -> Edition | None:
        """The last edition of a table, None if there is none."""
        return self._editions.get(table)

    def _appended(self, batch: bytes) -> None:
        if self._open or announced(batch)[0] in _NEWS:
            self._news = next(self._counted)
            if self._asleep:
                self._awake.set()

    def _end(self) -> None:
        with self._lock:
            self._serving.clear()
            thread = self._thread
        self._awake.set()
        if thread is not None:
            thread.join(_PATIENCE)

    def _run(self) -> None:
        unfollow = self._recording.on_append(self._appended)
        if self._recording.end != self._at:
            # It came while nobody looked on.
            self._news = next(self._counted)
        while serving := self._wanted():
            self._awake.wait(self._round(serving))
            self._asleep = False
            self._awake.clear()
        unfollow()

    def _wanted(self) -> list[Serving]:
        """Those who need something; if nobody does, the thread ends."""
        with self._lock:
            if _needed(self._serving.values()):
                return list(self._serving.values())
            self._thread = None
            self._at = self._recording.end
            atexit.unregister(self._end)
            return []

    def _round(self, serving: list[Serving]) -> float | None:
        """Work out what is due; seconds until something else is, None if that depends on news."""
        needed = _needed(serving)
        now = time.monotonic()
        worked = False
        for table in self._waiting(needed):
            if self._due.get(table, 0.0) <= now:
                self._work(table, len(needed))
                # What it has freed lies in pieces that the next table's arrays do not fit in.
                give_back()
                worked = True
                for _, told in serving:
                    told()
        if worked:
            # Of 200,000 tasks 40 MB, which would wait here for the next news, and be put together anew then.
            self._recording.forget()
            give_back()
        # Before looking: what comes from now on wakes us, as long as a table has nothing to wait for.
        self._asleep = bool(needed)
        waiting = self._waiting(needed)
        self._asleep = len(waiting) < len(needed)
        due = min((self._due.get(table, 0.0) for table in waiting), default=None)
        return None if due is None else max(0.0, due - time.monotonic())

    def _waiting(self, needed: list[str]) -> list[str]:
        return [table for table in needed if self._seen.get(table) != self._news]

    def _work(self, table: str, sharing: int) -> None:
        """Make an edition, and see when the next may be: those who share the core have equal parts."""
        began, cost = time.monotonic(), time.thread_time()
        self._seen[table] = self._news
        try:
            self._make(table)
        except Exception as error:
            self._tell(table, error)
        self.cost[table] = time.thread_time() - cost
        share = SHARE_OF_CODE if table in CODE else SHARE / sharing
        self._due[table] = began + max(INTERVAL, _GROWTH * self.cost[table] / share)

    def _make(self, table: str) -> None:
        recording = self._recording
        if table in CODE:
            if may_be_kept(recording):
                self._code.keep()
            return
        if table in AT_REST and runs(recording.columns):
            # It is looked at again when it is due, as if it were new.
            self._seen.pop(table, None)
            return
        columns = recording.answer(table)
        self._open = runs(recording.columns)
        rows = length(columns)
        # What a file had of it, pages have: this takes its place.
        had: Any = recording.columns(table)["edition"]
        if not rows and table not in self._editions and not len(had):
            return
        number = max(self._number, min(int(had.max(initial=0)), _MOST)) + 1
        edition = {"edition": np.full(rows, number, "u4")}
        batch = encode(table, {**columns, **edition})
        self._number = number
        self._editions[table] = Edition(number, batch)

    def _tell(self, table: str, error: Exception) -> None:
        if (table, type(error)) in self._failed:
            return
        self._failed.add((table, type(error)))
        why = f"{table} could not be worked out: {type(error).__name__}: {error}"
        row = {"time": time.time(), "source": "recorder", "kind": "lost", "level": "warning", "message": why}
        self._recording.append(encode("events", {name: [value] for name, value in row.items()}))


def _needed(serving: Iterable[Serving]) -> list[str]:
    asked = {table for needs, _ in serving for table in needs()}
    return [table for table in MADE if table in asked] + [table for table in CODE[:1] if asked & set(CODE)]


def runs(read: Callable[[str], Columns]) -> bool:
    """Whether a task is running, by the columns of tables."""
    running: Any = read("running")["run"]
    ended: Any = read("attempts")["run"]
    return bool(np.isin(running, ended, invert=True).any())


def explainer_of(recording: Recording) -> Explainer:
    """The one explainer of a recording, which all who show it share; it lives as long as the recording."""
    made: Explainer = vars(recording).setdefault("_explainer", Explainer(recording))
    return made
