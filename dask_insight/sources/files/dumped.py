"""A cluster dump as tables: its tasks, the attempts that its logs tell of, and what its scheduler did."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...batch import encode
from ...frames import Gap
from ...recording import Recording
from .dumped_workers import DumpedWorkers
from .keys import text_of
from .stories import Held, Moments, Seen, Span, Transition, after, before, lanes, spans
from .tasks import Attempt, Tasks
from .told import facts, listed, mapping, number

_NAN = math.nan
_LACKS = {
    "samples": "A cluster dump holds no call stacks.",
    "metrics": "A cluster dump holds no fine performance metrics.",
    "spans": "A cluster dump does not tell the names of spans.",
    "attempts": "The logs in this cluster dump tell of no task that ran: see the states of tasks in `graph`.",
    "resources": "This cluster dump holds no samples of CPU or memory.",
    "memory": "This cluster dump holds no memory measures of the workers.",
}
_FORGOTTEN = (
    "The logs in this cluster dump do not reach back to all tasks: attempts of forgotten ones are missing."
)
#: How dumps name a task within others.
_TASK = re.compile(r"<TaskState (.*) [\w-]+>", re.DOTALL)


class Dump:
    """Dumps as tables in the making."""

    def __init__(self) -> None:
        self._tasks = Tasks()
        self._workers = DumpedWorkers(self._tasks)
        #: Task by how other tasks name it.
        self._named: dict[str, int] = {}
        #: By task and worker.
        self._spans: defaultdict[tuple[int, str], list[Span]] = defaultdict(list)
        self._threads: dict[tuple[str, Span], str] = {}
        #: Keys of the tasks that ran.
        self._ran_keys: set[str] = set()
        self._states: Counter[str] = Counter()
        self._transitions: dict[Transition, None] = {}
        #: When the workers' stories tell of something.
        self._when: list[float] = []
        self._about: dict[str, Any] = {}
        #: Number, moment and tasks of each graph that came.
        self._graphs: dict[str, tuple[int, float, int]] = {}

    def take(self, state: Mapping[str, Any]) -> None:
        """Take a dump."""
        scheduler = state["scheduler"]
        workers = {str(name): told for name, told in mapping(state.get("workers")).items()}
        known = {str(name): mapping(told) for name, told in mapping(scheduler.get("workers")).items()}
        self._take_tasks(mapping(scheduler.get("tasks")))
        self._workers.take(known, workers)
        transitions = [each for each in listed(scheduler.get("transition_log")) if each]
        self._transitions.update(dict.fromkeys(transitions))
        self._take_attempts(
            {name: told for name, told in workers.items() if isinstance(told, dict)},
            transitions,
            mapping(scheduler.get("tasks")),
        )
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
            for each in listed(told.get("dependencies")):
                name = _TASK.fullmatch(str(each))
                if name and (other := self._named.get(name[1])) is not None:
                    self._tasks.needs(task, other)

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
        known = {place: Seen(each) for place, each in self._spans.items()}
        for worker, told in workers.items():
            log = [entry for entry in listed(told.get("log")) if entry]
            self._when += [moment for _, _, moment in log]
            held = {
                (key := text_of(each["key"])): Held.of(key, each)
                for each in mapping(told.get("tasks")).values()
                if isinstance(each, dict) and each.get("key") is not None
            }
            around = {each.functions[-1]: each.around for each in held.values() if each.functions}
            found = spans(held, log, moments)
            threads = lanes(found)
            self._ran_keys.update(span.key for span in found)
            for span in found:
                task = self._tasks.id(span.key)
                if (seen := known.get((task, worker))) and seen.has(span):
                    continue
                self._spans[task, worker].append(span)
                self._threads[worker, span] = threads[span]
                if span.ended:
                    self._ran(task, worker, threads[span], span, moments, sizes, failed)
                    for phase in around.pop(span, ()):
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

    def recording(self, name: str, gaps: Sequence[Gap]) -> Recording:
        """The recording."""
        recording = Recording()
        begin, end = self._tasks.span()
        moments = [*(moment for *_, moment in self._transitions), *self._when, *self._workers.measured]
        moments += [each for each in (begin, end) if math.isfinite(each)]
        about = {
            "name": name,
            "source": "Dask's cluster dump",
            "started": min(moments, default=0.0),
            "stopped": max(moments, default=0.0),
            "states": dict(self._states),
            **self._about,
        }
        measured = self._workers.measured
        there = {"attempts": self._tasks.attempts, "resources": measured, "memory": measured}
        lacks = {table: why for table, why in _LACKS.items() if not there.get(table)}
        recording.append(facts(about, lacks if self._is_whole() else {"attempts": _FORGOTTEN, **lacks}))
        for each in self._tasks.workers.values():
            each["joined"] = about["started"]
        for batch in (*self._tasks.batches(), *self._workers.batches):
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
        for note in self._workers.silent:
            recording.tell("lost", note)
        return recording

    def _is_whole(self) -> bool:
        """Whether the scheduler's log begins with every task, and an attempt is known of each that ended."""
        begins: dict[str, str] = {}
        for each in sorted(self._transitions, key=lambda each: each.when):
            begins.setdefault(each.key, each.start)
        ended = {
            each.key
            for each in self._transitions
            if each.start == "processing" and each.finish in ("memory", "erred")
        }
        return set(begins.values()) <= {"released"} and ended <= self._ran_keys

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


def _versions(told: Any) -> dict[str, Any]:
    packages = mapping(mapping(mapping(told).get("scheduler")).get("packages"))
    return {str(name): str(version) for name, version in packages.items() if version}
