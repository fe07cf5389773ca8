"""The databases that DASF's profiler writes: traces of its Dask plugin, and its resource monitor.

A file is records of an 8-byte big-endian length and a msgpack map with ``name``, ``timestamp``,
``phase``, ``process_id``, ``thread_id``, ``args`` and, where something lasted, ``duration``; seconds of
`time.monotonic`. The timestamp of "Compute" is when the task *ended*.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice, repeat
from operator import eq, itemgetter
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgpack
import numpy as np

from ...batch import Symbols, encode, intern
from ...frames import Gap, RecordingError
from ...recording import Recording
from .garbage import no_collection
from .keys import group_of, name_of, text_of
from .opened import Told, silent
from .system_monitor import MEASURES
from .told import facts

COMPUTE, MEMORY, RESOURCES = "Compute", "Managed Memory", "Resource Usage"
#: Name of the measure under which table ``cache`` has DASF's count of results held by each worker.
HELD = "results held"
_SIZE = 8
#: Largest record taken for one, bytes.
_MOST = 64 * 2**20
_NAN = math.nan
_NAMES = {"name", "timestamp", "phase"}
#: Events taken at a time: few enough to stay in the processor's cache. What one that is damaged raises.
_BLOCK = 256
_NAME, _ARGS, _TIME, _DURATION = map(itemgetter, ("name", "args", "timestamp", "duration"))
_KEY, _TASKS, _WORKER, _PLACE = (
    *map(itemgetter, ("key", "tasks", "thread_id")),
    itemgetter("thread_id", "process_id"),
)
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError)
_CLASS = re.compile(r"<class '(.*)'>")
_LACKS = {
    "attempts": "These databases hold no task that ended: DASF's trace is in files named TracePlugin.",
    "samples": "DASF's databases hold no call stacks.",
    "metrics": "DASF's databases hold no fine performance metrics.",
    "memory": "DASF's databases hold no memory measures of the workers.",
    "spans": "DASF's databases do not tell spans.",
    "edges": "These databases do not tell which task needs which.",
    "resources": "DASF's resource monitor has files of its own: read them together with the trace.",
}


def matches(head: bytes) -> bool:
    """Whether a file that begins so is a database of DASF's."""
    size = int.from_bytes(head[:_SIZE], "big")
    if not 0 < size <= len(head) - _SIZE:
        return False
    try:
        first = msgpack.unpackb(head[_SIZE : _SIZE + size], strict_map_key=False)
    except Exception:
        return False
    return isinstance(first, dict) and first.keys() >= _NAMES


def events(data: bytes, gaps: list[Gap]) -> Iterator[dict[str, Any]]:
    """The records of a database, in their order; what cannot be read is added to `gaps` and left out."""
    at, end, number = 0, len(data), int.from_bytes
    while at < end:
        first = at + _SIZE
        size = number(data[at:first], "big")
        if not 0 < size <= _MOST or first + size > end:
            gaps.append(Gap(at, end - at, "the last record is incomplete, or its length is damaged"))
            return
        begin, at = at, first + size
        why = ""
        try:
            event = msgpack.unpackb(data[first:at], strict_map_key=False)
        except Exception as error:
            event, why = None, f": {type(error).__name__}"
        if isinstance(event, dict) and event.keys() >= _NAMES:
            yield event
        else:
            gaps.append(Gap(begin, at - begin, f"a record that is no event{why}"))


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """Databases as one recording.

    Times are moved by what the resource monitor tells of the clock; without its
    file they have no date, and an event says so.
    """
    gaps: list[Gap] = []
    tables = _Tables()
    with no_collection():
        for place, path in enumerate(paths):
            data = path.read_bytes()
            if data and not matches(data):
                raise RecordingError(f"{path} is no database of DASF's profiler: at byte 0 stands no event")
            tables.take(events(data, gaps))
            told((place + 1) / len(paths))
    recording = tables.recording(paths[0].stem)
    for gap in gaps:
        recording.lost(gap)
    return recording


def from_events(found: Iterator[Mapping[str, Any]], name: str) -> Recording:
    """The same from events that are already there."""
    tables = _Tables()
    tables.take(found)
    return tables.recording(name)


class _Done(NamedTuple):
    """Some tasks that ended: ids, numbers of places and kinds, ends and durations [s], sizes [bytes]."""

    task: np.ndarray
    place: np.ndarray
    kind: np.ndarray
    stop: np.ndarray
    duration: np.ndarray
    size: np.ndarray


class _Tables:
    """Columns in the making."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._done: list[_Done] = []
        #: Pairs of worker and host, and of type and state, and their numbers.
        self._places: dict[tuple[Any, Any], int] = {}
        self._kinds: dict[tuple[Any, Any], int] = {}
        #: Tasks, and for each of their dependencies one of them.
        self._needing: list[np.ndarray] = []
        self._needed: list[int] = []
        self._held: list[tuple[float, str, float, int]] = []
        self._resources: list[tuple[str, float, Mapping[str, Any]]] = []
        self._others: list[tuple[float, str, str, str]] = []
        self._offsets: list[float] = []

    def take(self, found: Iterator[Mapping[str, Any]]) -> None:
        """Take events."""
        while block := list(islice(found, _BLOCK)):
            names = list(map(_NAME, block))
            done = list(compress(block, map(eq, names, repeat(COMPUTE))))
            held = list(compress(block, map(eq, names, repeat(MEMORY))))
            if len(done) + len(held) < len(block):
                others = [event for event in block if event["name"] not in (COMPUTE, MEMORY)]
                self._each(others, RESOURCES, self._sampled)
            if done:
                self._all(done, COMPUTE, self._computed)
            if held:
                self._all(held, MEMORY, self._hold)

    def _all(
        self, events: list[Mapping[str, Any]], name: str, take: Callable[[list[Mapping[str, Any]]], None]
    ) -> None:
        """All at once, or, where one of them is damaged, each by itself."""
        try:
            take(events)
        except _DAMAGED:
            self._each(events, name, lambda event: take([event]))

    def _each(
        self, events: list[Mapping[str, Any]], name: str, take: Callable[[Mapping[str, Any]], None]
    ) -> None:
        for event in events:
            try:
                if event["name"] != name:
                    raise KeyError(name)
                take(event)
            except _DAMAGED:
                self._other(event, event.get("args"))

    def _computed(self, events: list[Mapping[str, Any]]) -> None:
        args = list(map(_ARGS, events))
        stop = np.array(list(map(_TIME, events)), "f8")
        duration = np.array(list(map(_DURATION, events)), "f8")
        size = np.array([each.get("size") for each in args], "f8")
        if not stop.shape == duration.shape == size.shape == (len(events),):
            raise ValueError("a number that is a list")
        if np.isnan(stop).any() or np.isnan(duration).any():
            raise ValueError("a time that is none")
        keys = list(map(_KEY, args))
        needs = [each.get("dependencies") or () for each in args]
        counts = list(map(len, needs))
        place = _numbers(self._places, list(map(_PLACE, events)))
        kind = _numbers(self._kinds, [(each.get("type"), each.get("state")) for each in args])
        needed = self._numbered(list(chain.from_iterable(needs)))
        task = np.array(self._numbered(keys), "u4")
        self._done.append(_Done(task, np.array(place, "u4"), np.array(kind, "u4"), stop, duration, size))
        self._needing.append(np.repeat(task, counts))
        self._needed += needed

    def _numbered(self, keys: list[Any]) -> list[int]:
        """Ids of tasks."""
        if not set(map(type, keys)) <= {str}:
            keys = [text_of(key) for key in keys]
        return _numbers(self._ids, keys)

    def _hold(self, events: list[Mapping[str, Any]]) -> None:
        args = list(map(_ARGS, events))
        times = map(float, map(_TIME, events))
        counts = list(map(float, map(_TASKS, args)))
        tasks = self._numbered([each.get("key") for each in args])
        workers = list(map(_WORKER, events))
        if not set(map(type, workers)) <= {str}:
            workers = list(map(str, workers))
        self._held += zip(times, workers, counts, tasks, strict=True)

    def _sampled(self, event: Mapping[str, Any]) -> None:
        args = event.get("args") or {}
        if not isinstance(args, dict):
            raise TypeError("figures without names")
        moment = float(event["timestamp"])
        self._resources.append((str(event["process_id"]), moment, args))
        if isinstance(args.get("time"), int | float):
            self._offsets.append(args["time"] - moment)

    def _other(self, event: Mapping[str, Any], args: Any) -> None:
        moment = event.get("timestamp")
        told = json.dumps(args, default=str, skipkeys=True)[:2_000] if args else ""
        place = str(event.get("thread_id") or event.get("process_id") or "")
        when = float(moment) if isinstance(moment, int | float) else _NAN
        self._others.append((when, place, f"{event['name']} ({event['phase']})", told))

    def recording(self, name: str) -> Recording:
        """The recording."""
        recording = Recording()
        offset = median(self._offsets) if self._offsets else 0.0
        begins = [float((some.stop - some.duration).min()) for some in self._done]
        ends = [float(some.stop.max()) for some in self._done]
        moments = begins + [moment for _, moment, _ in self._resources] + [held[0] for held in self._held]
        about = {
            "name": name,
            "source": "DASF",
            #: Seconds since the epoch at which the traced machine's clock stood at 0.
            "offset": offset,
            "started": offset + min(moments, default=0.0),
            "stopped": offset + max(ends + moments, default=0.0),
        }
        there = {"resources": self._resources, "attempts": self._done, "edges": self._needed}
        recording.append(facts(about, {table: why for table, why in _LACKS.items() if not there.get(table)}))
        self._add_tasks(recording, offset)
        self._add_resources(recording, offset)
        if self._held:
            time, worker, tasks, task = zip(*self._held, strict=True)
            names, which = _codes(worker)
            cache = {"time": np.array(time) + offset, "source": Symbols(which, [str(name) for name in names])}
            cache |= {"size": np.array(tasks, "f8"), "task": np.array(task, "u4")}
            recording.append(encode("cache", cache | {"metric": Symbols(np.zeros(len(task), "u4"), [HELD])}))
        if self._others:
            when, place, message, detail = map(list, zip(*self._others, strict=True))
            told = {"time": np.array(when) + offset, "source": place, "kind": ["user"] * len(when)}
            recording.append(encode("events", told | {"message": message, "detail": detail}))
        if not self._offsets:
            recording.note(
                "clock",
                "DASF's traces have no date: seconds count from the machine's start. "
                "Its resource monitor's file, read together with them, tells the date.",
            )
        return recording

    def _add_tasks(self, recording: Recording, offset: float) -> None:
        if not self._ids:
            return
        keys = list(self._ids)
        groups = intern([group_of(key) for key in keys])
        names = intern([name_of(group) for group in groups.names])
        prefixes = Symbols(names.codes[groups.codes], names.names)
        graph = {"task": np.arange(len(keys), dtype="u4"), "key": keys, "prefix": prefixes, "group": groups}
        recording.append(encode("graph", graph))
        if self._needed:
            edges = {"task": np.concatenate(self._needing), "dependency": np.array(self._needed, "u4")}
            recording.append(encode("edges", edges))
        if not self._done:
            return
        task, worker, what, stop, duration, size = map(np.concatenate, zip(*self._done, strict=True))
        ends = stop + offset
        places, kinds = list(self._places), list(self._kinds)
        attempts = {
            "run": np.arange(len(task), dtype="u4"),
            "task": task,
            "worker": Symbols(worker, [str(name) for name, _ in places]),
            "thread": Symbols(np.zeros(len(task), "u4"), ["0"]),
            "status": Symbols(what, ["erred" if state == "error" else "ok" for _, state in kinds]),
            "start": ends - duration,
            "stop": ends,
            "done": ends,
            "nbytes": size,
            "typename": Symbols(what, [_CLASS.sub(r"\1", str(one or "")) for one, _ in kinds]),
        }
        recording.append(encode("attempts", attempts))
        hosts: dict[str, str] = {str(name): str(host) for name, host in places}
        begin = float((ends - duration).min())
        workers: dict[str, Any] = {"worker": list(hosts), "name": list(hosts), "host": list(hosts.values())}
        workers |= {"threads": [1] * len(hosts), "joined": [begin] * len(hosts)}
        recording.append(encode("workers", workers))

    def _add_resources(self, recording: Recording, offset: float) -> None:
        if not self._resources:
            return
        process = [host for host, _, _ in self._resources]
        time = np.array([moment for _, moment, _ in self._resources]) + offset
        columns: dict[str, Any] = {"process": process, "time": time}
        for column, name in MEASURES.items():
            columns[column] = [_figure(args.get(name)) for _, _, args in self._resources]
        recording.append(encode("resources", columns))
        gpu = [row for row, (_, _, args) in enumerate(self._resources) if "gpu_utilization" in args]
        if gpu:
            of = [self._resources[row][2] for row in gpu]
            gpus = {"process": [process[row] for row in gpu], "time": time[gpu]}
            gpus["utilization"] = [_figure(args.get("gpu_utilization")) for args in of]
            gpus["memory"] = [_figure(args.get("gpu_memory_used")) for args in of]
            recording.append(encode("gpus", gpus))


def _codes(values: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """Different values, and which of them each is."""
    known = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return list(known), np.fromiter((known[value] for value in values), "u4", len(values))


def _numbers(known: dict[Any, int], values: Sequence[Any]) -> list[int]:
    """The number of each value; new ones get the next."""
    return [known.setdefault(value, len(known)) for value in values]


def _figure(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else _NAN
