"""What the scheduler's transitions tell about tasks, as packed rows.

The hooks run for every transition of every task, so they do the least there
is: look up an id, pack a row. Keys stay objects until somebody fetches them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any

from distributed.metrics import time

from .functions import functions_of
from .fused import parts_of
from .rows import Items, Names, Rows

NOTHING = 0xFFFF_FFFF
#: Statuses by the code that stands in a packed row; 128 is added for a task that was queued.
STATUSES = ("ok", "erred", "retried", "killed", "cancelled", "stolen", "rescheduled")
QUEUED = 128
_OK, _ERRED, _RETRIED, _KILLED, _CANCELLED, _STOLEN, _RESCHEDULED = range(len(STATUSES))
_TEXT = 20_000
#: Groups of a task name whose tasks are looked at for the functions that they run, and functions told of.
_DEFINED = 8
_FUNCTIONS = 20_000
#: Parts of fused tasks that are told of.
_PARTS = 20_000

#: Layouts of the packed rows, by table; the reader's side has the same names in the same order.
LAYOUTS = {
    "graph": "IIIfI",  # task, group, submission, priority, order
    "edges": "II",  # task, dependency
    "attempts": "IIIBHdddddd",  # run, task, thread, status, type, done, stop, start, assigned, ready, nbytes
    "phases": "IIBdd",  # run, worker, action, start, stop
    "memory": "IdddddddId",  # worker, time, Dask's six measures, tasks processing, occupancy
}


class Tasks:
    """Follows the tasks of one scheduler.

    Parameters
    ----------
    scheduler
        The `distributed.Scheduler`.
    bound
        Most rows of each table that are kept until they are fetched.
    failed
        Told where a hook failed, and how.
    """

    def __init__(self, scheduler: Any, bound: int, failed: Callable[[str, Exception], None]) -> None:
        self._scheduler = scheduler
        self._failed = failed
        self.graph = Rows(LAYOUTS["graph"], bound)
        self.keys = Items(bound)
        self.edges = Rows(LAYOUTS["edges"], 4 * bound)
        self.attempts = Rows(LAYOUTS["attempts"], bound)
        self.phases = Rows(LAYOUTS["phases"], bound)
        self.errors = Items(min(bound, 20_000))
        self.submissions = Items(bound)
        self.groups = Names(("", "", ""))
        self.workers = Names("")
        self.threads = Names((0, 0))
        self.types = Names("", 0xFFFF)
        self.actions = Names("", 0xFF)
        #: Functions that tasks run: task name, function, module, file, line.
        self.functions = Names(("", "", "", "", 0), _FUNCTIONS)
        #: What tasks were fused from: group, part, function, file, line.
        self.fused = Names(("", "", "", "", 0), _PARTS)
        self._defined: dict[str, int] = {}
        #: Code of the worker that is, or was last, at each address; and back.
        self.codes: dict[str, int] = {}
        self.addresses: dict[int, str] = {}
        #: Codes of groups by the group itself, for a while: it is far quicker than by their names.
        self._codes: dict[Any, int] = {}
        self._ids: dict[Hashable, int] = {}
        self._next = 0
        self._submission = NOTHING
        self._submissions = 0
        self._pending: dict[str, Any] | None = None
        self._ready: dict[Hashable, float] = {}
        # Of attempts that have not ended: assigned, ready, worker, queued, run.
        self._assigned: dict[Hashable, tuple[float, float, int, int, int]] = {}
        #: Tasks that the scheduler has forgotten since `_turned`, and before.
        self._forgotten: list[Hashable] = []
        self._older: list[Hashable] = []
        self._turned = monotonic()

    def transition(
        self, key: Hashable, start: str, finish: str, *args: Any, stimulus_id: str = "", **facts: Any
    ) -> None:
        """Take one transition; stands in for `SchedulerPlugin.transition` itself, to spare a call."""
        try:
            if start == finish:
                return
            if start == "processing":
                if finish == "memory":
                    self._finished(key, facts)
                else:
                    self._ended(key, finish, stimulus_id, facts)
            elif finish == "processing":
                self._given(key)
            elif finish == "waiting":
                if start == "released":
                    self._wanted(key)
            elif finish == "queued" or finish == "no-worker":
                self._ready[key] = time()
            elif finish == "forgotten":
                self._ready.pop(key, None)
                self._forgotten.append(key)
            elif self._ready and finish == "released":
                self._ready.pop(key, None)
        except Exception as error:
            self._failed("transition", error)

    def _wanted(self, key: Hashable) -> None:
        task = self._ids.get(key, -1)
        # A negative id marks a task whose edges are not written yet: it was first seen as a dependency.
        if task >= 0:
            return
        state = self._scheduler.tasks[key]
        task = self._new(key, state) if task == -1 else -2 - task
        self._ids[key] = task
        ids, add = self._ids, self.edges.add
        for dependency in state.dependencies:
            other = ids.get(dependency.key)
            if other is None:
                other = self._new(dependency.key, dependency, dependency.state == "memory")
                ids[dependency.key] = -2 - other
            elif other < 0:
                other = -2 - other
            add(task, other)

    def _new(self, key: Hashable, state: Any, there: bool = False) -> int:
        """Give a task its id; `there` if it had its result before: then no graph that we know brought it."""
        task = self._next
        self._next = task + 1
        code = self._codes.get(state.group)
        if code is None:
            code = self._group(state)
        priority = state.priority
        if there:
            self.graph.add(task, code, NOTHING, 0.0, NOTHING)
        elif priority:
            self.graph.add(task, code, self._submission, -priority[0], int(priority[-1]) & NOTHING)
        else:
            self.graph.add(task, code, self._submission, 0.0, NOTHING)
        self.keys.add(key)
        return task

    def _group(self, state: Any) -> int:
        group = state.group
        known = len(self.groups.codes)
        code = self._codes[group] = self.groups.code((group.name, state.prefix.name, group.span_id or ""))
        if len(self.groups.codes) > known:
            self._define(state.prefix.name, group.name, state.run_spec)
        return code

    def _define(self, prefix: str, group: str, task: Any) -> None:
        """A task name is seen with a new group: tell which functions it runs, the first few times."""
        if task is None:
            return
        looked = self._defined[prefix] = self._defined.get(prefix, 0) + 1
        try:
            for name, place in parts_of(task) if len(self.fused.codes) < _PARTS else ():
                self.fused.code((group, name, place.function, place.file, place.line))
            for place in functions_of(task) if looked <= _DEFINED else ():
                self.functions.code((prefix, *place))
        except Exception as error:
            self._failed("functions", error)

    def id(self, key: Hashable) -> int:
        """The id of a task, NOTHING where neither we nor the scheduler know it."""
        task = self._ids.get(key)
        if task is None:
            state = self._scheduler.tasks.get(key)
            if state is None:
                return NOTHING
            task = self._new(key, state)
            self._ids[key] = -2 - task
            return task
        return task if task >= 0 else -2 - task

    def _given(self, key: Hashable) -> None:
        state = self._scheduler.tasks[key]
        now = time()
        ready = self._ready.pop(key, None) if self._ready else None
        worker = self.codes.get(state.processing_on.address, 0)
        queued = 0 if ready is None else QUEUED
        self._assigned[key] = (now, now if ready is None else ready, worker, queued, state.run_id & NOTHING)

    def stolen(self, key: Hashable, thief: str) -> None:
        """A task was moved to another worker before it ran; there is no transition for this."""
        known, state = self._assigned.get(key), self._scheduler.tasks.get(key)
        if known is None or state is None:
            return
        now = time()
        assigned, ready, worker, queued, run = known
        self._assigned[key] = (now, ready, self.codes.get(thief, 0), queued, state.run_id & NOTHING)
        thread = self.threads.code((worker, 0))
        nan = math.nan
        self.attempts.add(run, self.id(key), thread, _STOLEN | queued, 0, now, nan, nan, assigned, ready, nan)

    def _finished(self, key: Hashable, facts: dict[str, Any]) -> None:
        now = time()
        task = self._ids.get(key, -1)
        if task < 0:
            task = self.id(key)
        known = self._assigned.pop(key, None)
        if known is None:
            run = self._scheduler.tasks[key].run_id & NOTHING
            known = (math.nan, math.nan, self.codes.get(facts["worker"], 0), 0, run)
        assigned, ready, worker, queued, run = known
        began = ended = math.nan
        for phase in facts["startstops"]:
            if phase["action"] == "compute":
                began, ended = phase["start"], phase["stop"]
            else:
                self.phases.add(
                    run, worker, self.actions.code(phase["action"]), phase["start"], phase["stop"]
                )
        thread = self.threads.code((worker, facts.get("thread") or 0))
        kind = self.types.code(facts["typename"])
        self.attempts.add(
            run, task, thread, queued, kind, now, ended, began, assigned, ready, facts["nbytes"]
        )

    def _ended(self, key: Hashable, finish: str, stimulus: str, facts: dict[str, Any]) -> None:
        now = time()
        state = self._scheduler.tasks[key]
        known = self._assigned.pop(key, None)
        if known is None:
            run = NOTHING if state.run_id is None else state.run_id & NOTHING
            known = (math.nan, math.nan, self.codes.get(facts.get("worker") or "", 0), 0, run)
        assigned, ready, worker, queued, run = known
        task = self.id(key)
        began = ended = math.nan
        for phase in facts.get("startstops") or ():
            if phase["action"] == "compute":
                began, ended = phase["start"], phase["stop"]
            else:
                self.phases.add(
                    run, worker, self.actions.code(phase["action"]), phase["start"], phase["stop"]
                )
        # Transitions come before the hook that tells of a worker's removal, but after it has left the table.
        gone = self.addresses.get(worker, "") not in self._scheduler.workers
        status = _CANCELLED
        if finish == "erred":
            status = _KILLED if gone else _ERRED
            text = facts.get("exception_text") or state.exception_text or ""
            if not text and gone:
                text = "KilledWorker: the worker died while it ran this task, too often to try again"
            trace = facts.get("traceback_text") or state.traceback_text or ""
            self.errors.add((run, task, text[:_TEXT], trace[-_TEXT:]))
        elif gone:
            status = _KILLED
        elif stimulus.startswith(("task-erred", "execute-unknown-error")) and (
            # A failure lets go of other tasks too, which nobody wants any more.
            state.waiters or state.who_wants
        ):
            status = _RETRIED
        elif stimulus.startswith("steal-"):
            status = _STOLEN
        elif stimulus.startswith(
            ("reschedule", "task-finished", "cancelled-by-worker-close", "worker-closing")
        ):
            status = _RESCHEDULED
        thread = self.threads.code((worker, facts.get("thread") or 0))
        self.attempts.add(run, task, thread, status | queued, 0, now, ended, began, assigned, ready, math.nan)

    def worker(self, address: str, label: str) -> None:
        """A worker is there; `label` names it in the recording."""
        code = self.codes[address] = self.workers.code(label)
        self.addresses[code] = address

    def submitted(self, client: str, keys: Any, tasks: int) -> None:
        """A graph has come; `measured` follows."""
        self.flush()
        self._submission = self._submissions
        self._submissions += 1
        sample = next(iter(keys), "")
        self._pending = {
            "submission": self._submission,
            "time": time(),
            "tasks": tasks,
            "client": client,
            "key": sample if isinstance(sample, str) else str(sample),
        }

    def measured(self, metrics: dict[str, Any]) -> None:
        """What Dask says about the graph that came last."""
        if self._pending is not None:
            self._pending["metrics"] = metrics
            self.flush()

    def flush(self) -> None:
        """Give out the submission whose figures may still come."""
        if self._pending is not None:
            self.submissions.add(self._pending)
            self._pending = None

    def forget(self, most: int, patience: float) -> None:
        """Drop ids of tasks that the scheduler forgot, some at a time.

        Parameters
        ----------
        most
            Ids dropped at a time.
        patience
            Seconds for which they stay at least, since what workers tell later still names them.
        """
        self._codes.clear()
        if not self._assigned:
            self._assigned = {}  # A dict keeps the room of the most that it ever held.
        if monotonic() - self._turned < patience:
            return
        tasks, ids = self._scheduler.tasks, self._ids
        for key in self._older[-most:]:
            if key not in tasks:
                ids.pop(key, None)
        del self._older[-most:]
        if not self._older:
            self._older, self._forgotten, self._turned = self._forgotten, [], monotonic()

    def clear(self) -> None:
        """The scheduler has restarted and knows no task any more."""
        for key in self._assigned:
            self._forgotten.append(key)
        self._ready.clear()
        self._assigned.clear()

    def known(self) -> list[Hashable]:
        """Every key that has an id."""
        return list(self._ids)

    def describe(self, key: Hashable) -> tuple[bytes, bytes] | None:
        """A task again, for a reader that came after it was seen: its `graph` row and its `edges`."""
        state, task = self._scheduler.tasks.get(key), self._ids.get(key)
        if state is None or task is None:
            return None
        task = task if task >= 0 else -2 - task
        code = self._group(state)
        priority = state.priority or (0,)
        ranked = state.priority and state.state != "memory"
        order = int(priority[-1]) & NOTHING if ranked else NOTHING
        row = self.graph.pack(task, code, NOTHING, -priority[0], order)
        return row, b"".join(self.edges.pack(task, self.id(other.key)) for other in state.dependencies)
