"""Which tasks a scheduler knows, by whom they were submitted and what they need, as packed rows.

Keys stay objects until somebody fetches them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from time import monotonic
from typing import Any

from distributed.metrics import time

from .functions import functions_of
from .fused import parts_of
from .gaps import Gaps
from .layouts import LAYOUTS
from .rows import Items, Names, Rows

NOTHING = 0xFFFF_FFFF
#: Groups of a task name whose tasks are looked at for the functions that they run; functions told of, and as
#: many parts of fused tasks.
_DEFINED = 8
FUNCTIONS = 20_000
#: Groups that are known from which on they are met anew: what is known of those before goes with their rows.
_GROUPS = 10_000
#: Tasks by whose priorities it is known that a task handed their graph over.
_OF_A_TASK = 1000
#: Keys up to which all are looked at for the first.
_SAMPLED = 10_000
#: Ids from which on a dict takes no more: all of it moves as it grows, 10 ms at 43,691, then twice that.
_CROWDED = 87_000
#: Likewise of tasks that are forgotten.
_FULL = 43_000
#: States of tasks that nobody waits for any more: done, failed, or let go of though others still name them.
_AT_REST = ("memory", "erred", "released")
#: How a task had ended before we looked, by the code that stands in a packed row.
STATES = ("", "memory", "erred")
_UNENDED, _MEMORY, _ERRED = range(len(STATES))

#: A note of a task that is to be computed: kind, key, Dask's state of it, and the states of what it needs.
Wanted = tuple[int, Hashable, Any, Sequence[Any]]


def sample(keys: Collection[Hashable], most: int) -> list[str]:
    """The first keys of a graph by their text: whoever asks for more has what another asks for."""
    some = keys if len(keys) <= _SAMPLED else islice(keys, most)
    return nsmallest(most, map(str, some))


class Graph:
    """Numbers the tasks of one scheduler.

    Parameters
    ----------
    scheduler
        The `distributed.Scheduler`.
    bound
        Most rows of each table that are kept until they are fetched.
    failed
        Told where it failed, and how.
    """

    def __init__(self, scheduler: Any, bound: int, failed: Callable[[str, Exception], None]) -> None:
        self._scheduler = scheduler
        self._failed = failed
        self.rows = Rows(LAYOUTS["graph"], bound)
        self.keys = Items(bound)
        self.edges = Rows(LAYOUTS["edges"], 4 * bound)
        self.submissions = Items(bound)
        #: Group, task name and span by their code, of which each is given once.
        self.groups = Items(bound + 2 * _GROUPS)
        self._met: dict[tuple[str, str, str], int] = {}
        #: Where rows ended, and groups, whenever groups began to be met anew.
        self._ends: deque[tuple[int, int]] = deque()
        #: Functions that tasks run: task name, function, module, file, line.
        self.functions = Names(("", "", "", "", 0), FUNCTIONS)
        #: What is left out because so much of it is told of already.
        self.leaves_out = Gaps()
        #: What tasks were fused from: group, part, function, file, line.
        self.fused = Names(("", "", "", "", 0), FUNCTIONS)
        self._defined: dict[str, int] = {}
        #: Codes of groups by the group itself, for a while: it is far quicker than by their names.
        self._codes: dict[Any, int] = {}
        #: Ids of the tasks that the scheduler has. A negative one marks a task whose edges are not written
        #: yet: it was first seen as a dependency. Many stand in several dicts, of which one takes new ones.
        self._ids: dict[Hashable, int] = {}
        self._crowded: list[dict[Hashable, int]] = []
        #: Ids of tasks that it has forgotten since notes were settled, which may name them, since `_turned`,
        #: and before: workers may still name these.
        self.parted: dict[Hashable, int] = {}
        self._late: list[dict[Hashable, int]] = []
        self._older: list[dict[Hashable, int]] = []
        self._turned = monotonic()
        self._next = 0
        #: Tasks with an id below this may have to be told again, and what was to be told of those forgotten.
        self._untold = 0
        self._parting: dict[Hashable, tuple[bytes, bytes]] = {}
        self._submission = NOTHING
        self._submissions = 0
        self._pending: dict[str, Any] | None = None

    def wanted(self, notes: Iterable[Wanted]) -> None:
        """Tasks are to be computed, some for the first time: write what they are and what they need.

        What one of them needs and no graph has brought was there before, unless it is still to be wanted. It
        had its result before, too, if it has it by now.
        """
        self._relieve()
        ids, crowded, parted, submission = self._ids, self._crowded, self.parted, self._submission
        rows: list[bytes] = []
        keys: list[Hashable] = []
        new: list[tuple[int, Sequence[Any]]] = []
        try:
            for _, key, state, dependencies in notes:
                known = parted if parted and key in parted else ids
                task = known.get(key, -1)
                if task == -1 and crowded:
                    known = self._holder(key)
                    task = known.get(key, -1)
                if task >= 0:
                    continue
                if task == -1:
                    rows.append(self._row(self._next, state, submission))
                    keys.append(key)
                    task = self._next
                    self._next = task + 1
                else:
                    task = -2 - task
                known[key] = task
                if dependencies:
                    new.append((task, dependencies))
        finally:
            self.rows.extend(rows)
            self.keys.extend(keys)
        add = self.edges.add
        for task, dependencies in new:
            for dependency in dependencies:
                other = ids.get(dependency.key)
                if other is None and parted:
                    other = parted.get(dependency.key)
                if other is None and crowded:
                    other = self._holder(dependency.key).get(dependency.key)
                if other is None:
                    stands = dependency.state
                    brought = submission if stands == "released" else NOTHING
                    other = self._new(dependency.key, dependency, brought, stands == "memory")
                    self._ids[dependency.key] = -2 - other
                    self._relieve()
                elif other < 0:
                    other = -2 - other
                add(task, other)

    def there(self) -> Iterator[None]:
        """Number the tasks that the scheduler has, those that are still to run first, and what they need.

        Yields after each step, between which the scheduler may go on.
        """
        tasks = self._scheduler.tasks
        keys = list(tasks)
        yield
        for at_rest in (False, True):
            for key in keys:
                state = tasks.get(key)
                if state is not None and (state.state in _AT_REST) == at_rest:
                    ids = self._holder(key)
                    if key not in ids:
                        ids[key] = -2 - self._new(key, state, done=at_rest)
                        self._relieve()
                yield
        keys.reverse()
        while keys:
            # One at a time: to free a million at once takes as long as to list them.
            key = keys.pop()
            state, ids = tasks.get(key), self._holder(key)
            known = ids.get(key, 0)
            if state is not None and known < 0:
                task = ids[key] = -2 - known
                for dependency in tuple(state.dependencies):
                    self.edges.add(task, self.id(dependency.key, dependency))
                    yield
            yield

    def _holder(self, key: Hashable) -> dict[Hashable, int]:
        """The dict that has the id of a task, or is to have it."""
        for ids in self._crowded:
            if key in ids:
                return ids
        return self._ids

    def _relieve(self) -> None:
        """Go on with an empty dict where the last one has grown crowded."""
        if len(self._ids) >= _CROWDED:
            self._crowded.append(self._ids)
            self._ids = {}

    def _new(self, key: Hashable, state: Any, submission: int = NOTHING, done: bool = False) -> int:
        """Give a task its id; no submission that we know brought one that was there before, or is `done`."""
        task = self._next
        self.rows.extend([self._row(task, state, submission, done)])
        self.keys.add(key)
        self._next = task + 1
        return task

    def _row(self, task: int, state: Any, submission: int, done: bool = False) -> bytes:
        code = self._codes.get(state.group)
        if code is None:
            code = self._group(state)
        priority = state.priority
        if priority and not done:
            return self.rows.pack(task, code, submission, -priority[0], int(priority[-1]) & NOTHING, _UNENDED)
        return self.rows.pack(task, code, submission, 0.0, NOTHING, _ended(state))

    def _group(self, state: Any) -> int:
        group, prefix = state.group, state.prefix.name
        told = (group.name, prefix, group.span_id or "")
        code = self._met.get(told)
        if code is None:
            code = self._met[told] = self.groups.end
            self.groups.add(told)
            self._define(prefix, told[0], state.run_spec)
        self._codes[group] = code
        return code

    def _forget_groups(self) -> None:
        """Have groups met anew where many are known; those before go with the last row that may name them."""
        if len(self._met) >= _GROUPS:
            self._ends.append((self.rows.end, self.groups.end))
            self._met = {}
        while self._ends and self._ends[0][0] <= self.rows.first and not self._parting:
            self.groups.release(self._ends.popleft()[1])

    def _define(self, prefix: str, group: str, task: Any) -> None:
        """A task name is seen with a new group: tell which functions it runs, the first few times."""
        if task is None:
            return
        looked = self._defined.get(prefix, 0)
        try:
            if self._has_room(self.fused):
                for name, place in parts_of(task):
                    self.fused.code((group, name, place.function, place.file, place.line))
            if looked < _DEFINED and self._has_room(self.functions):
                self._defined[prefix] = looked + 1
                for place in functions_of(task):
                    self.functions.code((prefix, *place))
        except Exception as error:
            self._failed("functions", error)

    def _has_room(self, told: Names) -> bool:
        """Whether a task is to be looked at for more of these."""
        has_room = len(told.codes) < FUNCTIONS
        if not has_room:
            what = "functions of tasks and parts of fused ones"
            self.leaves_out.add(f"{what} may be missing, no more than {FUNCTIONS:,} of each are kept")
        return has_room

    def find(self, key: Hashable) -> int:
        """The id of a task that has one, else NOTHING."""
        task = self._ids.get(key)
        if task is None:
            # The latest first: a key may have had several tasks, one after the other.
            for before in (*self._crowded, self.parted, *reversed(self._late), *reversed(self._older)):
                if (task := before.get(key)) is not None:
                    break
            else:
                return NOTHING
        return task if task >= 0 else -2 - task

    def id(self, key: Hashable, state: Any = None) -> int:
        """The id of a task, NOTHING where neither we nor the scheduler know it and no state is given."""
        task = self._ids.get(key)
        if task is not None:
            return task if task >= 0 else -2 - task
        task = self.find(key)
        state = state or (self._scheduler.tasks.get(key) if task == NOTHING else None)
        if task == NOTHING and state is not None:
            task = self._new(key, state)
            self._ids[key] = -2 - task
        return task

    def submitted(self, client: str, keys: Any, tasks: int, priorities: Mapping[Hashable, Any]) -> None:
        """A graph has come; `measured` follows."""
        self.flush()
        self._submission = self._submissions
        self._submissions += 1
        self._pending = {
            "submission": self._submission,
            "time": time(),
            "tasks": tasks,
            "client": client,
            "key": next(iter(sample(keys, 1)), ""),
            "by_task": _of_a_task(priorities),
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

    def forgotten(self, key: Hashable) -> bool:
        """The scheduler has forgotten a task, or does so now; whether the task had an id."""
        ids = self._holder(key) if self._crowded else self._ids
        task = ids.pop(key, None)
        if task is None:
            return False
        if self._untold:
            self._part(key, task)
        self.parted[key] = task
        return True

    def _part(self, key: Hashable, task: int) -> None:
        """Keep what is to be told again of a task."""
        state = self._scheduler.tasks.get(key)
        task = task if task >= 0 else -2 - task
        if state is not None and task < self._untold:
            self._parting[key] = self._described(state, task)

    def all_forgotten(self) -> None:
        """The scheduler has no task any more."""
        for ids in (*self._crowded, self._ids):
            for key in list(ids):
                self.forgotten(key)

    def settled(self) -> None:
        """No note names what was forgotten until now."""
        if self.parted:
            if not self._late or len(self._late[-1]) >= _FULL:
                self._late.append({})
            self._late[-1].update(self.parted)
            self.parted.clear()

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
        self._forget_groups()
        self._put_together()
        if monotonic() - self._turned < patience:
            return
        older = self._older
        while older and most > 0:
            for _ in range(min(most, len(older[0]))):
                older[0].popitem()
                most -= 1
            if not older[0]:
                del older[0]
        if not older:
            self._older, self._late, self._turned = self._late, [], monotonic()

    def _put_together(self) -> None:
        """Have few dicts where many hold little: each keeps the room of the most that it ever held."""
        crowded = [ids for ids in self._crowded if ids]
        sparse = [at for at, ids in enumerate(crowded) if len(ids) < _CROWDED // 8]
        if len(sparse) > 1:
            first, second = sparse[:2]
            crowded[first] = crowded[first] | crowded.pop(second)
        self._crowded = crowded

    def again(self) -> tuple[list[Hashable], int]:
        """Every key that has an id, the latest first, and the bound of these ids.

        Each can be described until `all_told`, also when it has been forgotten.
        """
        keys = list(reversed(self._ids))
        for ids in reversed(self._crowded):
            keys += reversed(ids)
        if keys:
            self._untold = self._next
        return keys, self._next

    def all_told(self) -> None:
        """Nobody is to be told again of what was there before."""
        self._untold = 0
        self._parting.clear()

    def describe(self, key: Hashable, below: int) -> tuple[bytes, bytes] | None:
        """A task again, if its id is `below` that, for a reader that came later: its row and its edges."""
        if key in self._parting:
            return self._parting[key]
        state, task = self._scheduler.tasks.get(key), self.find(key)
        return self._described(state, task) if state is not None and task < below else None

    def _described(self, state: Any, task: int) -> tuple[bytes, bytes]:
        code = self._group(state)
        priority = state.priority or (0,)
        ranked = state.priority and state.state not in _AT_REST
        order = int(priority[-1]) & NOTHING if ranked else NOTHING
        row = self.rows.pack(task, code, NOTHING, -priority[0], order, _ended(state))
        return row, b"".join(self.edges.pack(task, self.id(other.key)) for other in state.dependencies)


def _of_a_task(priorities: Mapping[Hashable, Any]) -> bool:
    """Whether a task handed a graph over: Dask counts graphs, and theirs come between two."""
    some = [each[1] for each in islice(priorities.values(), _OF_A_TASK) if each and len(each) > 1]
    return bool(some) and all(type(generation) is float for generation in some)


def _ended(state: Any) -> int:
    """Code of how a task ended before; data that a client brought have no function that ran."""
    if state.run_spec is None:
        return _UNENDED
    if state.state == "memory" or (state.state == "released" and state.nbytes >= 0):
        return _MEMORY
    return _ERRED if state.state == "erred" else _UNENDED
