"""Turns what the scheduler's probe answers into batches of the recording."""

from __future__ import annotations

import json
import socket
from operator import itemgetter
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from ...batch import encode
from ...identity import Identity
from ...options import Emit
from ...probe.clock import process
from ...probe.graph import STATES
from ...schema import NOTHING
from ..dynamic import shown_files
from ..sourceless import detail_without_source
from ..task_names import task_name
from .attempts import Attempts
from .clocks import Clocks
from .gather import Gather
from .layouts import pick, rows, texts
from .messages import Messages
from .spans import Spans
from .submissions import Submissions
from .submitted import Submitted
from .unended import Unended

_NAMES = ("worker_names", "type_names", "action_names", "gauge_names")
#: Stands for the exception of an attempt whose end nobody saw.
_UNSEEN = "Unseen: its cluster closed, could not be reached or was recorded no longer while it ran"


class Tables:
    """One scheduler's share of a recording.

    Ids and codes are that scheduler's own, so a scheduler that was restarted
    gets new `Tables`. Those that stand in for others tell no states of tasks
    that had ended before: the others may have told of them.
    """

    def __init__(
        self,
        identity: Identity,
        emit: Emit,
        gather: Gather,
        submissions: Submissions,
        cluster: str,
        *,
        first: bool = True,
    ) -> None:
        self._emit = emit
        self._cluster = cluster
        self._first = first
        self._submissions = submissions
        self._clocks = Clocks()
        self.tasks = identity.namespace("task")
        self.runs = identity.namespace("run")
        self._gather = gather
        self.spans = Spans(emit)
        self.attempts = Attempts(emit, gather, self._clocks, tasks=self.tasks, runs=self.runs)
        self._unended = Unended()
        shared = (self._clocks, self.attempts, self.spans, self._unended)
        self.messages = Messages(identity, emit, gather, *shared, self._told)
        self._ids = identity.namespace("submission")
        self._names: dict[str, list[Any]] = {name: [] for name in _NAMES}
        #: What the scheduler told of each worker not long gone, and what the worker told of its own.
        self._workers: dict[str, dict[str, Any]] = {}
        self._of_itself: dict[str, dict[str, Any]] = {}
        #: Workers that have told more of themselves since the last answer: many greet at once.
        self._greeted: dict[str, None] = {}
        self._process = process()
        self._submitted = Submitted()

    def take(self, packed: bytes) -> dict[str, int]:
        """Emit everything in an answer; returns the rows lost before it, by table."""
        told = msgpack.unpackb(packed, use_list=False, strict_map_key=False)
        self._tell_greeted()
        for name in _NAMES:
            self._names[name].extend(told.get(name, ()))
        if "submissions" in told:
            self._made(told["submissions"])
        if "keys" in told:
            self._graph(rows("graph", told["graph"]), told["keys"], told.get("group_names", ()))
        if "again" in told:
            keys, graph, edges = told["again"]
            self._graph(rows("graph", graph), keys, told.get("group_names", ()))
            self._edges(rows("edges", edges))
        if "edges" in told:
            self._edges(rows("edges", told["edges"]))
        if "attempts" in told:
            found = rows("attempts", told["attempts"])
            self._unended.ended(found)
            self.attempts.take(
                found,
                workers=self._names["worker_names"],
                types=self._names["type_names"],
                submitted=self._submitted.times(found["task"]),
            )
        if "functions" in told:
            self._functions(told["functions"])
        if "fused" in told:
            self._fused(told["fused"])
        if "phases" in told:
            self._phases(rows("phases", told["phases"]))
        if "releases" in told:
            released = rows("releases", told["releases"])
            columns = {"task": self.tasks.map(released["task"]), "time": released["time"]}
            self._emit(encode("releases", columns))
        if "errors" in told:
            self.messages.errors(told["errors"])
            self._unended.have_ended(np.array([task for _, task, *_ in told["errors"]], "u4"))
        if "events" in told:
            self._events(told["events"])
        if "workers" in told:
            self.workers(told["workers"])
        if "memory" in told:
            self._memory(rows("memory", told["memory"]))
        if "gauges" in told:
            self._gauges(rows("gauges", told["gauges"]))
        lost: dict[str, int] = told.get("lost", {})
        return lost

    def _events(self, found: list[tuple[float, str, str, str, str, str]]) -> None:
        time, source, kind, level, message, detail = zip(*found, strict=True)
        if not self.messages.source:
            detail = tuple(
                detail_without_source(each) if of == "dask" else each
                for of, each in zip(kind, detail, strict=True)
            )
        columns = {"time": time, "source": source, "kind": kind, "level": level}
        self._gather.add("events", columns | {"message": message, "detail": detail})

    def _made(self, found: list[dict[str, Any]]) -> None:
        numbers = np.array([each["submission"] for each in found], "u4")
        self._submitted.made(numbers, np.array([each["time"] for each in found], "f8"))
        for submission, facts in zip(self._ids.map(numbers).tolist(), found, strict=True):
            self._submissions.add(submission, facts)

    def _graph(
        self, found: npt.NDArray[Any], packed_keys: bytes, named: tuple[tuple[int, str, str, str], ...]
    ) -> None:
        """Emit tasks; `named` are the groups of an answer: code, group, task name, span, by code."""
        keys = texts(msgpack.unpackb(packed_keys, use_list=False))
        group = np.searchsorted([code for code, *_ in named], found["group"])
        self._submitted.brought(found["task"], found["submission"])
        self._unended.wanted(found["task"][(found["order"] != NOTHING) & (found["state"] == 0)])
        submission = self._ids.map(found["submission"])
        self._submissions.seen(keys, submission)
        spans = pick(group, named, itemgetter(3))
        self.spans.used(spans.names)
        columns = {
            "task": self.tasks.map(found["task"]),
            "key": keys,
            "prefix": pick(group, named, lambda each: task_name(each[2])),
            "group": pick(group, named, itemgetter(1)),
            "span": spans,
            "submission": submission,
            "priority": found["priority"],
            "order": found["order"],
        }
        if self._first and found["state"].any():
            columns["state"] = pick(found["state"], STATES)
        self._emit(encode("graph", columns))

    def _functions(self, found: list[tuple[str, str, str, str, int]]) -> None:
        # The first one that a scheduler tells stands for nothing.
        told = dict.fromkeys((task_name(each[0]), *each[1:]) for each in found if each[0])
        if not told:
            return
        prefix, function, module, file, line = zip(*told, strict=True)
        columns = {"prefix": prefix, "function": function, "module": module, "line": line}
        names = {"file": shown_files(file, function, line), "source": ["definition"] * len(file)}
        self._gather.add("functions", columns | names)

    def _fused(self, found: list[tuple[str, str, str, str, int]]) -> None:
        if not (told := [each for each in found if each[0]]):
            return
        group, part, function, file, line = zip(*told, strict=True)
        columns = {"group": group, "part": part, "function": function, "line": line}
        self._gather.add("fused", columns | {"file": shown_files(file, function, line)})

    def _edges(self, found: npt.NDArray[Any]) -> None:
        columns = {"task": self.tasks.map(found["task"]), "dependency": self.tasks.map(found["dependency"])}
        self._emit(encode("edges", columns))

    def _phases(self, found: npt.NDArray[Any]) -> None:
        actions, workers = self._names["action_names"], self._names["worker_names"]
        # Dask shifts the times of transfers, not those of the disk.
        disk = [code for code, action in enumerate(actions) if action.startswith("disk-")]
        used, at = np.unique(found["worker"], return_inverse=True)
        offsets = np.array([self._clocks.of(workers[code]).offset for code in used.tolist()])[at]
        shifts = self._clocks.shifts(workers, found["worker"], found["stop"])
        shift = np.where(np.isin(found["action"], disk), offsets, shifts)
        columns = {
            "run": self.runs.map(found["run"]),
            "action": pick(found["action"], actions),
            "start": found["start"] - shift,
            "stop": found["stop"] - shift,
        }
        self._emit(encode("phases", columns))

    def workers(self, found: list[dict[str, Any]]) -> None:
        """Emit workers that joined or left; of one that left, the scheduler tells only when."""
        found = [self._whole(row) for row in found]
        for row in found:
            self.messages.peers.joined(row["worker"], _number(row.get("joined"), np.nan))
            if (left := row.get("left")) is not None:
                for gone in self._clocks.left(row["worker"], left):
                    self._workers.pop(gone, None)
                    self._of_itself.pop(gone, None)
        numbers = dict.fromkeys(("pid", "namespace", "threads", "cores", "core_set", "own"), 0.0)
        numbers |= dict.fromkeys(("memory_limit", "joined", "left"), np.nan)
        columns = {
            name: [_number(row.get(name), missing) for row in found] for name, missing in numbers.items()
        }
        texts = {name: [row.get(name, "") for row in found] for name in ("worker", "name", "host")}
        detail = [json.dumps(row["detail"], default=str) if "detail" in row else "" for row in found]
        texts["cluster"] = [self._cluster] * len(found)
        self._emit(encode("workers", columns | texts | {"detail": detail}))

    def _whole(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of a worker with what was told of it before, by an earlier row of the same answer too."""
        worker = row["worker"]
        self._workers[worker] = self._workers.get(worker, {}) | row | self._of_itself.get(worker, {})
        return self._workers[worker]

    @property
    def there(self) -> list[dict[str, Any]]:
        """The workers that have not left."""
        return [row for row in self._workers.values() if row.get("left") is None]

    def gone(self, moment: float) -> None:
        """Emit that all workers that are there are out of sight, and what has not ended."""
        self.lose_sight(moment)
        if there := self.there:
            self.workers([row | {"left": moment} for row in there])

    def lose_sight(self, moment: float) -> None:
        """Emit that nobody will tell how the tasks end that run or wait."""
        runs, waiting = self._unended.take()
        if runs:
            run, task, worker, thread, start = zip(*runs, strict=True)
            times = {"start": start, "stop": [moment] * len(runs)}
            columns = {"run": self.runs.map(run), "worker": worker, "thread": thread} | times
            self._let_go(np.array(task, "u4"), moment, columns)
            self.messages.errors([(each.run, each.task, _UNSEEN, "") for each in runs])
        if len(waiting):
            self._let_go(waiting, moment, {"run": np.full(len(waiting), NOTHING, "u4")})

    def _let_go(self, tasks: npt.NDArray[Any], moment: float, columns: dict[str, Any]) -> None:
        ends = {
            "task": self.tasks.map(tasks),
            "status": pick(np.zeros(len(tasks), "u1"), ["cancelled"]),
            "done": np.full(len(tasks), moment),
            "submitted": self._submitted.times(tasks),
        }
        self._emit(encode("attempts", columns | ends))

    def _told(self, worker: str, cores: int, core_set: int, process: int) -> None:
        """A worker tells of its host and process; that comes before or after what the scheduler tells."""
        told: dict[str, Any] = {"cores": cores, "core_set": core_set, "namespace": process >> 32}
        told["own"] = int(process == self._process)
        if process >> 32 == self._process >> 32:
            # The scheduler has an address of it, which says of no two clusters whether they share it.
            told["host"] = socket.gethostname()
        if self._of_itself.get(worker) != told:
            self._of_itself[worker] = told
            self._greeted[worker] = None

    def _tell_greeted(self) -> None:
        """Emit again those of which the scheduler has told before; of the others it is yet to tell."""
        greeted, self._greeted = self._greeted, {}
        if known := [self._workers[worker] for worker in greeted if worker in self._workers]:
            self.workers(known)

    def _memory(self, found: npt.NDArray[Any]) -> None:
        measures = (
            "time",
            "process",
            "managed",
            "unmanaged_old",
            "unmanaged_recent",
            "spilled",
            "optimistic",
        )
        workers = self._names["worker_names"]
        worker = [workers[code] for code in found["worker"].tolist()]
        self._gather.add("memory", {"worker": worker} | {name: found[name] for name in measures})
        columns = {"process": worker, "time": found["time"], "occupancy": found["occupancy"]}
        self._gather.add("resources", columns)

    def _gauges(self, found: npt.NDArray[Any]) -> None:
        workers, names = self._names["worker_names"], self._names["gauge_names"]
        columns = {
            "worker": [workers[code] for code in found["worker"].tolist()],
            "time": found["time"],
            "name": [names[code] for code in found["name"].tolist()],
            "value": found["value"],
        }
        self._gather.add("gauges", columns)


def _number(value: Any, missing: float) -> Any:
    return missing if value is None else value
