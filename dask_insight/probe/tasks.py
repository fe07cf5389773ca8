"""What the scheduler's transitions tell about attempts to run tasks, as packed rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from distributed.metrics import time

from .errors import last_calls
from .graph import NOTHING, Graph
from .layouts import LAYOUTS
from .rows import Items, Names, Rows

#: Statuses by the code that stands in a packed row; 128 is added for a task that was queued.
STATUSES = ("ok", "erred", "retried", "killed", "cancelled", "stolen", "rescheduled")
QUEUED = 128
_OK, _ERRED, _RETRIED, _KILLED, _CANCELLED, _STOLEN, _RESCHEDULED = range(len(STATUSES))
_TEXT = 20_000
#: Notes that are kept before they are settled.
_MANY = 256
#: Kinds of notes.
_WANTED, _READY, _LET_GO, _GIVEN, _FINISHED, _GIVEN_UP, _FREED = range(7)
#: States of a task that waits for a place on a worker, and of any that waits.
_WAITS_FOR_A_WORKER = ("queued", "no-worker")
_WAITS = ("waiting", *_WAITS_FOR_A_WORKER)

#: Dask pickles its own errors, and we unpickle nothing.
_KILLED_TOO_OFTEN = "KilledWorker: the worker died while it ran this task, too often to try again"
_TOO_LARGE = "MemoryError: what it needs is larger than the memory limit of the worker that it was to run on"
_NO_WORKER_CAME = (
    "NoWorkerError: no worker that may run this task came within `distributed.scheduler.no-workers-timeout`"
)
#: As Dask has it.
_ACTOR_LOST = "RuntimeError: Worker holding Actor was lost"

#: What stands for a phase that nobody tells.
_NO_PHASE: dict[str, Any] = {"action": "", "start": math.nan, "stop": math.nan}

#: Of an attempt that has not ended: assigned, ready, worker, QUEUED or 0, run.
_Assigned = tuple[float, float, int, int, int]


class Tasks:
    """Follows the attempts on one scheduler.

    The hook is called for every transition of every task, each time on caches that the scheduler's own code
    has filled, so what counts is how little of our code and memory it touches. It only notes what has
    happened, in numbers and names that are there anyway, and some hundred notes are settled at a time.

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
        self._states = scheduler.tasks
        self._failed = failed
        self.graph = Graph(scheduler, bound, failed)
        self.attempts = Rows(LAYOUTS["attempts"], bound)
        self.phases = Rows(LAYOUTS["phases"], bound)
        self.releases = Rows(LAYOUTS["releases"], bound)
        self.errors = Items(min(bound, 20_000))
        self.workers = Names("")
        self.types = Names("", 0xFFFF)
        self.actions = Names("", 0xFF)
        #: Code of the worker that is, or was last, at each address; and back.
        self.codes: dict[str, int] = {}
        self.addresses: dict[int, str] = {}
        #: Kind, key, and what belongs to the kind.
        self._notes: list[tuple[Any, ...]] = []
        self._ready: dict[Hashable, float] = {}
        self._assigned: dict[Hashable, _Assigned] = {}
        #: When waiting tasks were let go of: some are wanted again, the others are given up for good.
        self._let_go: dict[Hashable, float] = {}
        self._parted = self.graph.parted

    def there(self) -> Iterator[None]:
        """Take up the attempts that run and number the tasks that are there; see `Graph.there`."""
        for worker in list(self._scheduler.workers.values()):
            code = self.codes.get(worker.address, 0)
            for state in list(worker.processing):
                if state.processing_on is worker:
                    begun = (math.nan, math.nan, code, 0, state.run_id & NOTHING)
                    self._assigned.setdefault(state.key, begun)
                yield
        yield from self.graph.there()

    def transition(
        self, key: Hashable, start: str, finish: str, *args: Any, stimulus_id: str = "", **facts: Any
    ) -> None:
        """Note one transition; stands in for `SchedulerPlugin.transition` itself, to spare a call."""
        try:
            if start == finish:
                return
            notes = self._notes
            if start == "processing":
                if finish == "memory":
                    # Looked up later, what Dask has at hand now would have to come from memory.
                    phases = facts["startstops"] or ()
                    last = phases[-1] if phases else _NO_PHASE
                    notes.append(
                        (
                            _FINISHED,
                            key,
                            time(),
                            facts["worker"],
                            facts.get("thread") or 0,
                            facts["typename"],
                            facts["nbytes"],
                            last["start"],
                            last["stop"],
                            None if len(phases) == 1 and last["action"] == "compute" else phases,
                        )
                    )
                else:
                    self._ended(key, finish, stimulus_id, facts)
            elif finish == "processing":
                state = self._states[key]
                notes.append((_GIVEN, key, time(), state.processing_on, state.run_id))
            elif finish == "waiting":
                if start == "released":
                    if self._parted and key in self._parted:
                        # What is noted of the task that had this key before is that one's.
                        self.settle()
                    state = self._states[key]
                    notes = self._notes
                    # The scheduler empties its set when it forgets the task.
                    notes.append((_WANTED, key, state, tuple(state.dependencies)))
                    if self._let_go:
                        self._let_go.pop(key, None)
            elif start == "memory":
                notes.append((_FREED, key, time()))
                if finish == "erred":
                    self._fails(key, _ACTOR_LOST)
            elif finish == "erred" and start in _WAITS_FOR_A_WORKER:
                if facts.get("cause") == key:
                    self._fails(key, facts.get("exception_text") or _NO_WORKER_CAME)
                elif (blame := self._states[key].exception_blame) and blame.key != key:
                    notes += ((_LET_GO, key), (_GIVEN_UP, key, time(), self._states[key]))
            elif finish in _WAITS_FOR_A_WORKER:
                notes.append((_READY, key, time()))
            elif finish == "released" and start in _WAITS:
                # What was done before, and lost with its worker, had its end.
                if self._states[key].nbytes < 0:
                    self._let_go[key] = time()
                notes.append((_LET_GO, key))
            if self._let_go and finish in ("forgotten", "erred") and key in self._let_go:
                notes.append((_GIVEN_UP, key, self._let_go.pop(key), self._states[key]))
            if finish == "forgotten" and not self.graph.forgotten(key):
                # What a note of it leaves open nobody knows any more when this hook has ended.
                self.settle()
                self.graph.forgotten(key)
            if len(notes) >= _MANY:
                self.settle()
        except Exception as error:
            self._failed("transition", error)

    def settle(self) -> None:
        """Make rows of the notes; what cannot be made one of does not keep the rest from it."""
        notes, self._notes = self._notes, []
        try:
            self.graph.wanted([note for note in notes if note[0] == _WANTED])
        except Exception as error:
            self._failed("graph", error)
        ready, assigned, codes = self._ready, self._assigned, self.codes
        ended: list[bytes] = []
        for note in notes:
            try:
                kind = note[0]
                if kind == _FINISHED:
                    ended.append(self._finished(note))
                elif kind == _GIVEN:
                    _, key, now, worker, run = note
                    since = ready.pop(key, None)
                    code = codes.get(worker.address, 0)
                    if since is None:
                        assigned[key] = (now, now, code, 0, run & NOTHING)
                    else:
                        assigned[key] = (now, since, code, QUEUED, run & NOTHING)
                elif kind == _WANTED:
                    pass  # Written above, all together.
                elif kind == _FREED:
                    if (task := self.graph.find(note[1])) != NOTHING:
                        self.releases.add(task, note[2])
                elif kind == _READY:
                    ready[note[1]] = note[2]
                elif kind == _LET_GO:
                    ready.pop(note[1], None)
                elif kind == _GIVEN_UP:
                    ended.append(self._given_up(*note[1:]))
            except Exception as error:
                self._failed("transition", error)
        self.attempts.extend(ended)
        self.graph.settled()

    def _given_up(self, key: Hashable, now: float, state: Any) -> bytes:
        """A task ends that was never given to a worker: nobody wants it, or what it needs has failed."""
        nan, task = math.nan, self.graph.id(key, state)
        return self.attempts.pack(NOTHING, task, 0, 0, _CANCELLED, 0, now, nan, nan, nan, nan, nan)

    def _finished(self, note: tuple[Any, ...]) -> bytes:
        """A task has its result; its phases are told where it was not all computing."""
        _, key, now, address, ident, typename, nbytes, began, ended, phases = note
        known = self._assigned.pop(key, None)
        if known is None:
            state = self._states.get(key)
            run = NOTHING if state is None else state.run_id & NOTHING
            known = (math.nan, math.nan, self.codes.get(address, 0), 0, run)
        assigned, ready, worker, queued, run = known
        if phases is not None:
            began, ended = self._computed(run, worker, phases)
        task, kind = self.graph.id(key), self.types.code(typename)
        return self.attempts.pack(
            run, task, worker, ident, queued, kind, now, ended, began, assigned, ready, nbytes
        )

    def _computed(self, run: int, worker: int, startstops: Sequence[dict[str, Any]]) -> tuple[float, float]:
        """When an attempt computed; its other phases become rows."""
        began = ended = math.nan
        for phase in startstops:
            if phase["action"] == "compute":
                began, ended = phase["start"], phase["stop"]
            else:
                action = self.actions.code(phase["action"])
                self.phases.add(run, worker, action, phase["start"], phase["stop"])
        return began, ended

    def _ended(self, key: Hashable, finish: str, stimulus: str, facts: dict[str, Any]) -> None:
        self.settle()
        now = time()
        state = self._states[key]
        known = self._assigned.pop(key, None)
        if known is None:
            run = NOTHING if state.run_id is None else state.run_id & NOTHING
            code, ready = self.codes.get(facts.get("worker") or "", 0), self._ready.pop(key, math.nan)
            known = (math.nan, ready, code, QUEUED if ready == ready else 0, run)
        assigned, ready, worker, queued, run = known
        task = self.graph.id(key)
        # Its other phases its worker tells: of an attempt that is retried Dask gives none here.
        phases = facts.get("startstops") or ()
        computed = next((each for each in reversed(phases) if each["action"] == "compute"), _NO_PHASE)
        began, ended = computed["start"], computed["stop"]
        # Transitions come before the hook that tells of a worker's removal, but after it has left the table.
        gone = worker in self.addresses and self.addresses[worker] not in self._scheduler.workers
        status = _CANCELLED
        if finish == "erred":
            status = _KILLED if gone else _ERRED
            text = facts.get("exception_text") or state.exception_text or ""
            if not text:
                text = _KILLED_TOO_OFTEN if gone else _TOO_LARGE if "exception" in facts else ""
            trace = facts.get("traceback_text") or state.traceback_text or ""
            self.errors.add((run, task, text[:_TEXT], last_calls(trace)))
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
        ) or (state.waiters or state.who_wants):
            # It will run again; mostly, what it needs went with another worker.
            status = _RESCHEDULED
        ident, how = facts.get("thread") or 0, status | queued
        self.attempts.add(run, task, worker, ident, how, 0, now, ended, began, assigned, ready, math.nan)

    def _fails(self, key: Hashable, text: str) -> None:
        """A task fails that no worker runs: none was there in time, or that of an actor is there no more."""
        self.settle()
        nan, task = math.nan, self.graph.id(key)
        self.errors.add((NOTHING, task, text, ""))
        ready = self._ready.pop(key, nan)
        self.attempts.add(NOTHING, task, 0, 0, _ERRED, 0, time(), nan, nan, nan, ready, nan)

    def stolen(self, key: Hashable, thief: str) -> None:
        """A task was moved to another worker before it ran; there is no transition for this."""
        self.settle()
        known, state = self._assigned.get(key), self._states.get(key)
        if known is None or state is None:
            return
        now = time()
        assigned, ready, worker, queued, run = known
        self._assigned[key] = (now, ready, self.codes.get(thief, 0), queued, state.run_id & NOTHING)
        nan = math.nan
        task = self.graph.id(key)
        self.attempts.add(run, task, worker, 0, _STOLEN | queued, 0, now, nan, nan, assigned, ready, nan)

    def worker(self, address: str, label: str) -> None:
        """A worker is there; `label` names it in the recording."""
        self.settle()
        code = self.codes[address] = self.workers.code(label)
        self.addresses[code] = address

    def submitted(self, client: str, keys: Any, tasks: int, priorities: Mapping[Any, Any]) -> None:
        """A graph has come, whose tasks are wanted from now on."""
        self.settle()
        self.graph.submitted(client, keys, tasks, priorities)

    def forget(self, most: int, patience: float) -> None:
        """Drop what is held of tasks that the scheduler forgot; see `Graph.forget`."""
        self.settle()
        if not self._assigned:
            self._assigned = {}  # A dict keeps the room of the most that it ever held.
        self.graph.forget(most, patience)

    def clear(self) -> None:
        """The scheduler has restarted and knows no task any more."""
        self.settle()
        self.graph.all_forgotten()
        for known in (self._ready, self._assigned, self._let_go):
            known.clear()
