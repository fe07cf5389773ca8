"""What `Client.dump_cluster_state` writes: the state of a cluster at one moment, and its last transitions.

Files are msgpack in gzip, or YAML: ``scheduler``, ``workers`` by address, ``versions``. A dump tells every
task that the scheduler had just then, with its state and dependencies. What ran before is told by logs of
bounded length: the scheduler's transitions (when a task was wanted, sent to a worker, done), each worker's
story (when it was given a thread there, and when it ended) and, for results that workers still hold, when the
function was called and returned. Attempts are put together from these.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...batch import encode
from ...frames import Gap, RecordingError
from ...recording import Recording
from .keys import text_of
from .opened import Told, part, silent, whole
from .stories import Moments, Span, Transition, after, around, before, lanes, spans, story, transition
from .tasks import Attempt, Tasks
from .told import facts, number
from .told import whole as count
from .trees import ANY, Torn, Wanted, from_msgpack, from_yaml

_NAN = math.nan
#: Most bytes of a dump, unpacked.
_MOST = 2**31
_LACKS = {
    "samples": "A cluster dump holds no call stacks.",
    "metrics": "A cluster dump holds no fine performance metrics.",
    "spans": "A cluster dump does not tell the names of spans.",
    "attempts": "The logs in this cluster dump tell of no task that ran: see the states of tasks in `graph`.",
    "resources": "This cluster dump holds no samples of CPU or memory.",
    "memory": "This cluster dump holds no memory measures of the workers.",
}
#: How dumps name a task within others.
_TASK = re.compile(r"<TaskState (.*) [\w-]+>", re.DOTALL)
_MEMORY = ("process", "managed", "unmanaged_old", "unmanaged_recent", "spilled", "optimistic")


def matches(head: bytes) -> bool:
    """Whether a file that begins so, unpacked, is a dump."""
    packed = head[:1] and 0x81 <= head[0] <= 0x8F and b"\xa9scheduler" in head[:32]
    return bool(packed) or re.match(rb"(---\s+)?scheduler:\s*\n\s+\w+:", head) is not None


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """Dumps, of one cluster at several moments, as one recording.

    Raises
    ------
    RecordingError
        If a file is no dump; the message says where it ceases to be one.
    """
    dump = _Dump()
    gaps: list[Gap] = []
    for place, path in enumerate(paths):
        data, torn = whole(path, part(told, place, len(paths), 0.5), most=_MOST)
        tree = from_msgpack if data[:1] and data[0] >= 0x80 else from_yaml
        state, end = tree(data, _WANTED)
        if torn and end is None:
            end = Torn(len(data), torn)
        if not (isinstance(state, dict) and isinstance(state.get("scheduler"), dict) and state["scheduler"]):
            why = f" at byte {end.offset:,}: {torn or end.reason}" if end else ""
            raise RecordingError(f"{path} is no cluster dump{why}: it tells of no scheduler")
        if end:
            gaps.append(Gap(end.offset, len(data) - end.offset, torn or end.reason))
        dump.take(state)
        told((place + 1) / len(paths))
    return dump.recording(paths[0].name.split(".")[0], gaps)


def _same(value: Any) -> Any:
    return value


_OF_WORKER = ("name", "host", "pid", "nthreads", "memory_limit", "status", "time_delay", "last_seen")
_LOG_OF_TRANSFERS: Wanted = [_same]
_WANTED: Wanted = {
    "scheduler": {
        "id": _same,
        "address": _same,
        "started": _same,
        "transition_log": [transition],
        "tasks": {
            ANY: dict.fromkeys(
                (
                    "key",
                    "state",
                    "nbytes",
                    "type",
                    "group_key",
                    "dependencies",
                    "processing_on",
                    "who_has",
                    "erred_on",
                    "exception_text",
                    "traceback_text",
                ),
                _same,
            )
        },
        "workers": {
            ANY: dict.fromkeys(_OF_WORKER, _same)
            | {
                "memory": _same,
                "metrics": dict.fromkeys(
                    ("cpu", "memory", "time", "num_fds", "host_net_io", "host_disk_io"), _same
                )
                | {"task_counts": _same},
            }
        },
    },
    "workers": {
        ANY: {
            "name": _same,
            "nthreads": _same,
            "memory_limit": _same,
            "logs": [_same],
            "log": [story],
            "transfer_incoming_log": _LOG_OF_TRANSFERS,
            "transfer_outgoing_log": _LOG_OF_TRANSFERS,
            "tasks": {ANY: dict.fromkeys(("key", "state", "startstops"), _same)},
        }
    },
    "versions": _same,
}


class _Dump:
    """Dumps as tables in the making."""

    def __init__(self) -> None:
        self._tasks = Tasks()
        #: Task by how other tasks name it.
        self._named: dict[str, int] = {}
        #: By task and worker.
        self._spans: defaultdict[tuple[int, str], list[Span]] = defaultdict(list)
        self._threads: dict[tuple[str, Span], str] = {}
        self._states: Counter[str] = Counter()
        self._batches: list[bytes] = []
        self._transitions: dict[Transition, None] = {}
        self._when: list[float] = []
        self._notes: list[str] = []
        self._about: dict[str, Any] = {}
        #: What each dump tells again, as long as its logs hold it: transfers, and lines of the workers' logs.
        self._transfers: set[tuple[Any, ...]] = set()
        self._lines: Counter[tuple[str, str, str]] = Counter()
        #: Number, moment and tasks of each graph that came.
        self._graphs: dict[str, tuple[int, float, int]] = {}

    def take(self, state: Mapping[str, Any]) -> None:
        """Take a dump."""
        scheduler = state["scheduler"]
        workers = {str(name): told for name, told in _mapping(state.get("workers")).items()}
        known = {str(name): _mapping(told) for name, told in _mapping(scheduler.get("workers")).items()}
        self._take_tasks(_mapping(scheduler.get("tasks")))
        self._take_workers(known, workers, number(scheduler.get("started")))
        transitions = [each for each in _items(scheduler.get("transition_log")) if each]
        self._transitions.update(dict.fromkeys(transitions))
        self._take_attempts(
            {name: told for name, told in workers.items() if isinstance(told, dict)},
            transitions,
            _mapping(scheduler.get("tasks")),
        )
        for name, told in workers.items():
            if isinstance(told, dict):
                self._take_transfers(name, told)
                self._take_logs(name, told)
        self._about |= {
            "scheduler": scheduler.get("address"),
            "versions": {"packages": _versions(state.get("versions"))},
        }

    def _take_tasks(self, tasks: Mapping[str, Any]) -> None:
        for told in tasks.values():
            if not isinstance(told, dict) or told.get("key") is None:
                continue
            key = told["key"]
            text, state = text_of(key), str(told.get("state") or "")
            task = self._tasks.id(text, str(told.get("group_key") or ""), state)
            self._named[repr(key) if isinstance(key, str) else text] = task
            self._states[state] += 1
        for told in tasks.values():
            if not isinstance(told, dict) or told.get("key") is None:
                continue
            task = self._tasks.id(text_of(told["key"]))
            for each in _items(told.get("dependencies")):
                name = _TASK.fullmatch(str(each))
                if name and (other := self._named.get(name[1])) is not None:
                    self._tasks.needs(task, other)

    def _take_workers(
        self, known: Mapping[str, Mapping[str, Any]], workers: Mapping[str, Any], started: float
    ) -> None:
        memory: dict[str, list[Any]] = defaultdict(list)
        resources: dict[str, list[Any]] = defaultdict(list)
        for address in dict.fromkeys((*known, *workers)):
            told = known.get(address, {})
            own = workers.get(address)
            if not isinstance(own, dict):
                why = f": {str(own)[:200]}" if own else ""
                self._notes.append(f"{address} did not tell its state{why}")
                own = {}
            limit = number(told.get("memory_limit", own.get("memory_limit")))
            self._tasks.workers[address] = {
                "name": str(told.get("name", own.get("name", address))),
                "host": str(told.get("host") or ""),
                "pid": count(told.get("pid")),
                "threads": count(told.get("nthreads", own.get("nthreads"))),
                "memory_limit": limit if limit > 0 else _NAN,
                "joined": _NAN,
                "detail": json.dumps({"status": str(told.get("status"))}),
            }
            metrics, measured = _mapping(told.get("metrics")), _mapping(told.get("memory"))
            moment = number(metrics.get("time"), number(told.get("last_seen")))
            if math.isnan(moment):
                continue
            self._when.append(moment)
            if measured:
                memory["worker"].append(address)
                memory["time"].append(moment)
                for name in _MEMORY:
                    memory[name].append(number(measured.get(name)))
            if metrics:
                for name, value in _sample(address, moment, metrics).items():
                    resources[name].append(value)
        # Sums over workers need one moment, and it lasts until the dump is made.
        if memory:
            memory["time"] = [min(memory["time"])] * len(memory["time"])
        for table, columns in (("memory", memory), ("resources", resources)):
            if columns:
                self._batches.append(encode(table, columns))

    def _take_attempts(
        self,
        workers: Mapping[str, Mapping[str, Any]],
        transitions: Sequence[Transition],
        tasks: Mapping[str, Any],
    ) -> None:
        moments = Moments(transitions)
        for stimulus, (when, keys) in moments.graphs.items():
            number_ = self._graphs.setdefault(stimulus, (len(self._graphs), when, len(keys)))[0]
            for key in keys:
                self._tasks.of_submission(self._tasks.id(key), number_)
        sizes = {}
        failed = {}
        for told in tasks.values():
            if isinstance(told, dict) and told.get("key") is not None:
                key = text_of(told["key"])
                nbytes = number(told.get("nbytes"))
                sizes[key] = (nbytes if nbytes >= 0 else _NAN, str(told.get("type") or ""))
                if told.get("exception_text") or told.get("traceback_text"):
                    failed[key] = told
        known = {place: list(each) for place, each in self._spans.items()}
        for worker, told in workers.items():
            log = [entry for entry in _items(told.get("log")) if entry]
            self._when += [moment for _, _, moment in log]
            held = {
                text_of(each["key"]): each
                for each in _mapping(told.get("tasks")).values()
                if isinstance(each, dict) and each.get("key") is not None
            }
            found = spans(held, log, moments)
            threads = lanes(found)
            for span in found:
                task = self._tasks.id(span.key)
                # What ran when one dump was made may have ended by the next.
                if any(
                    span.is_of(other) and (other.ended or not span.ended)
                    for other in known.get((task, worker), ())
                ):
                    continue
                self._spans[task, worker].append(span)
                self._threads[worker, span] = threads[span]
                if span.ended:
                    self._ran(task, worker, threads[span], span, moments, sizes, failed)
                    for phase in around(held.get(span.key, {}), span):
                        self._tasks.phase(len(self._tasks.attempts) - 1, *phase)

    def _ran(
        self,
        task: int,
        worker: str,
        thread: str,
        span: Span,
        moments: Moments,
        sizes: Mapping[str, tuple[float, str]],
        failed: dict[str, Any],
    ) -> None:
        nbytes, typename = sizes.get(span.key, (_NAN, "")) if span.status == "ok" else (_NAN, "")
        run = self._tasks.add(
            Attempt(
                task,
                worker,
                thread,
                span.status,
                span.start,
                span.stop,
                done=after(moments.ended[span.key], span.stop),
                assigned=before(moments.sent[span.key], span.start),
                ready=before(moments.ready[span.key], span.start),
                submitted=before(moments.wanted[span.key], span.start),
                nbytes=nbytes,
                typename=typename,
            )
        )
        if span.status == "erred" and (raised := failed.pop(span.key, None)):
            texts = (str(raised.get(name) or "") for name in ("exception_text", "traceback_text"))
            self._tasks.error(run, task, *texts)

    def _take_transfers(self, worker: str, told: Mapping[str, Any]) -> None:
        rows: dict[str, list[Any]] = defaultdict(list)
        for direction, log in (("in", "transfer_incoming_log"), ("out", "transfer_outgoing_log")):
            for each in _items(told.get(log)):
                if not isinstance(each, dict) or not number(each.get("start")) <= number(each.get("stop")):
                    continue
                place = (worker, direction, str(each.get("who")), each["start"], each["stop"])
                if place in self._transfers:
                    continue
                row = {
                    "transfer": len(self._transfers),
                    "worker": worker,
                    "peer": str(each.get("who") or ""),
                    "direction": direction,
                    "start": number(each["start"]),
                    "stop": number(each["stop"]),
                    "nbytes": number(each.get("total")),
                    "compressed": number(each.get("compressed")),
                }
                self._transfers.add(place)
                for name, value in row.items():
                    rows[name].append(value)
        if rows:
            self._batches.append(encode("transfers", rows))

    def _take_logs(self, worker: str, told: Mapping[str, Any]) -> None:
        here: Counter[tuple[str, str, str]] = Counter()
        lines = []
        for each in _items(told.get("logs")):
            if isinstance(each, list) and len(each) >= 2:
                line = (worker, str(each[0]).lower(), str(each[-1]))
                here[line] += 1
                if here[line] > self._lines[line]:
                    lines.append(line)
        self._lines |= here
        if lines:
            _, level, message = map(list, zip(*lines, strict=True))
            columns = {"level": level, "message": message, "source": [worker] * len(lines)}
            columns |= {"kind": ["log"] * len(lines), "time": [_NAN] * len(lines)}
            self._batches.append(encode("events", columns))

    def recording(self, name: str, gaps: Sequence[Gap]) -> Recording:
        """The recording."""
        recording = Recording()
        begin, end = self._tasks.span()
        moments = [moment for *_, moment in self._transitions] + self._when
        moments += [each for each in (begin, end) if math.isfinite(each)]
        about = {
            "name": name,
            "source": "Dask's cluster dump",
            "started": min(moments, default=0.0),
            "stopped": max(moments, default=0.0),
            "states": dict(self._states),
            **self._about,
        }
        there = {"attempts": self._tasks.attempts, "resources": self._when, "memory": self._when}
        recording.append(facts(about, {table: why for table, why in _LACKS.items() if not there.get(table)}))
        for each in self._tasks.workers.values():
            each["joined"] = about["started"]
        for batch in (*self._tasks.batches(), *self._batches):
            recording.append(batch)
        if self._graphs:
            number_, when, tasks = map(list, zip(*self._graphs.values(), strict=True))
            recording.append(encode("submissions", {"submission": number_, "time": when, "tasks": tasks}))
        if running := list(self._running()):
            first = len(self._tasks.attempts)
            task, worker, thread, start = map(list, zip(*running, strict=True))
            columns = {"run": list(range(first, first + len(task))), "task": task, "worker": worker}
            recording.append(encode("running", columns | {"thread": thread, "start": start}))
        if self._transitions:
            recording.append(self._log_of_transitions())
        for gap in gaps:
            recording.lost(gap)
        for note in self._notes:
            recording.note("lost", note)
        return recording

    def _running(self) -> Iterator[tuple[int, str, str, float]]:
        """What ran when the last dump was made."""
        for (task, worker), found in self._spans.items():
            for span in found:
                if not span.ended and not any(other.ended and span.is_of(other) for other in found):
                    yield task, worker, self._threads[worker, span], span.start

    def _log_of_transitions(self) -> bytes:
        rows = sorted(self._transitions, key=lambda each: each[-1])
        return encode(
            "events",
            {
                "time": [when for *_, when in rows],
                "source": ["scheduler"] * len(rows),
                "kind": ["transition"] * len(rows),
                "level": ["debug"] * len(rows),
                "message": [f"{key}: {start} → {finish}" for key, start, finish, _, _ in rows],
                "detail": [json.dumps({"stimulus": stimulus}) for *_, stimulus, _ in rows],
            },
        )


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _versions(told: Any) -> dict[str, Any]:
    packages = _mapping(_mapping(_mapping(told).get("scheduler")).get("packages"))
    return {str(name): str(version) for name, version in packages.items() if version}


def _sample(worker: str, moment: float, metrics: Mapping[str, Any]) -> dict[str, Any]:
    network, disk = _mapping(metrics.get("host_net_io")), _mapping(metrics.get("host_disk_io"))
    counts: Counter[str] = Counter()
    for state, tasks in _mapping(metrics.get("task_counts")).items():
        # By state, or by the text of ['name', 'state'].
        counts[str(state).rpartition("', '")[2].rstrip("']")] += count(tasks)
    return {
        "process": worker,
        "time": moment,
        "cpu": number(metrics.get("cpu")),
        "memory": number(metrics.get("memory")),
        "net_read": number(network.get("read_bps")),
        "net_write": number(network.get("write_bps")),
        "disk_read": number(disk.get("read_bps")),
        "disk_write": number(disk.get("write_bps")),
        "fds": number(metrics.get("num_fds")),
        "executing": float(counts["executing"]),
        "ready": float(counts["ready"] + counts["constrained"]),
        "waiting": float(counts["waiting"]),
    }
