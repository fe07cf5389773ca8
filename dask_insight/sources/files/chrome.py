"""Chrome traces (Trace Event Format, JSON) as recordings: our own exports, and those of other tools.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

Slices (X, and pairs of B and E) become attempts at tasks of their name on the thread of their process;
instants become events; flow arrows become edges; counters CPU and memory become resources. Times are
microseconds.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...batch import encode, intern
from ...frames import RecordingError
from ...recording import Recording

_NAN = math.nan
_GZIP = b"\x1f\x8b"
#: Most bytes that a compressed trace may unpack to.
_MOST = 4 * 2**30


def matches(head: bytes) -> bool:
    """Whether a file that begins so is a Chrome trace."""
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, 64 * 1024)
        except zlib.error:
            return False
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return (text.startswith(b"{") and b'"traceEvents"' in text) or (text.startswith(b"[") and b'"ph"' in text)


def read(paths: Sequence[Path]) -> Recording:
    """Traces as one recording; names that end in ``.gz`` or not, compressed ones are unpacked.

    Raises
    ------
    RecordingError
        If a file is no such trace; the message says where it stops being one.
    """
    trace = _Trace()
    for path in paths:
        told = _parsed(path)
        trace.take(told)
    return trace.recording(paths[0].name.split(".")[0])


def _parsed(path: Path) -> Any:
    data = path.read_bytes()
    if data.startswith(_GZIP):
        try:
            with gzip.open(path) as file:
                data = file.read(_MOST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise RecordingError(f"{path} cannot be unpacked: {error}") from None
        if len(data) > _MOST:
            raise RecordingError(
                f"{path} unpacks to more than {_MOST >> 30} GiB: unpack it yourself and cut it"
            )
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path} is no Chrome trace: {error}") from None


class _Trace:
    """Columns in the making."""

    def __init__(self) -> None:
        self._processes: dict[Any, str] = {}
        self._threads: dict[tuple[Any, Any], str] = {}
        #: pid, tid, name, start and length in microseconds, arguments.
        self._slices: list[tuple[Any, Any, str, float, float, dict[str, Any]]] = []
        self._open: dict[tuple[Any, Any], list[tuple[str, float, dict[str, Any]]]] = defaultdict(list)
        self._instants: list[tuple[float, str, str]] = []
        self._arrows: dict[str, dict[Any, tuple[Any, Any, float]]] = {"s": {}, "f": {}}
        self._counters: list[tuple[Any, float, str, dict[str, Any]]] = []
        self._started = 0.0
        self._unread = 0

    def take(self, told: Any) -> None:
        """Take a trace as JSON gives it."""
        events = told.get("traceEvents") if isinstance(told, dict) else told
        if not isinstance(events, list):
            raise RecordingError("a Chrome trace has a list of events in traceEvents")
        if isinstance(told, dict) and isinstance(told.get("otherData"), dict):
            started = told["otherData"].get("started")
            try:
                self._started = float(started) if started is not None else 0.0
            except (TypeError, ValueError):
                self._started = 0.0
        for event in events:
            try:
                self._event(event)
            except (AttributeError, KeyError, TypeError, ValueError):
                self._unread += 1

    def _event(self, event: dict[str, Any]) -> None:
        phase, pid, tid = event["ph"], event.get("pid", 0), event.get("tid", 0)
        given = event.get("args")
        args: dict[str, Any] = given if isinstance(given, dict) else {}
        if phase == "M":
            name = str(args.get("name", ""))
            if event["name"] == "process_name":
                self._processes[pid] = name
            elif event["name"] == "thread_name":
                self._threads[pid, tid] = name
            return
        moment = float(event["ts"])
        if not math.isfinite(moment):
            raise ValueError("a time that is no number")
        if phase == "X":
            length = max(0.0, float(event.get("dur", 0.0)))
            # Our own exports have the status as the second category.
            _, _, status = str(event.get("cat", "")).partition("task,")
            args = args | {"status": status} if status else args
            self._slices.append((pid, tid, str(event["name"]), moment, length, args))
        elif phase == "B":
            self._open[pid, tid].append((str(event.get("name", "")), moment, args))
        elif phase == "E":
            name, began, first = self._open[pid, tid].pop()
            self._slices.append((pid, tid, name, began, max(0.0, moment - began), {**first, **args}))
        elif phase in ("i", "I", "R"):
            self._instants.append((moment, str(pid), str(event.get("name", ""))))
        elif phase in ("s", "f"):
            self._arrows[phase][str(event["id"])] = (pid, tid, moment)
        elif phase == "C":
            self._counters.append((pid, moment, str(event["name"]), args))

    def recording(self, name: str) -> Recording:
        """The recording."""
        recording = Recording()
        for (pid, tid), left in self._open.items():
            self._slices += [(pid, tid, title, began, _NAN, args) for title, began, args in left]
        ends = [start + (0.0 if math.isnan(length) else length) for *_, start, length, _ in self._slices]
        facts = {"name": name, "source": "Chrome trace", "started": self._started}
        facts["stopped"] = self._started + max(ends, default=0.0) / 1e6
        values = [json.dumps(value) for value in facts.values()]
        recording.append(encode("about", {"name": list(facts), "value": values}))
        if self._slices:
            self._add_slices(recording)
        if self._instants:
            time, source, message = map(list, zip(*self._instants, strict=True))
            told = {"time": self._moments(time), "source": source, "kind": ["user"] * len(time)}
            recording.append(encode("events", told | {"message": message}))
        self._add_counters(recording)
        if self._unread:
            recording.note("lost", f"{self._unread:,} events of the trace could not be read")
        return recording

    def _moments(self, micros: Sequence[float]) -> np.ndarray:
        return self._started + np.asarray(micros, "f8") / 1e6

    def _worker(self, pid: Any) -> str:
        told = self._processes.get(pid, "")
        # Our own exports name a process "name address host".
        return next((part for part in told.split() if "://" in part), told) or f"process {pid}"

    def _add_slices(self, recording: Recording) -> None:
        slices = self._slices
        keys: dict[str, int] = {}
        task = []
        for number, (_, _, title, _, _, args) in enumerate(slices):
            key = str(args.get("key") or f"{title}-{number}")
            task.append(keys.setdefault(key, len(keys)))
        names = [""] * len(keys)
        for number, (_, _, title, _, _, _) in zip(task, slices, strict=True):
            names[number] = title
        graph = {"task": np.arange(len(keys), dtype="u4"), "key": list(keys), "prefix": intern(names)}
        recording.append(encode("graph", graph | {"group": intern(names)}))
        start = self._moments([each[3] for each in slices])
        stop = start + np.array([each[4] for each in slices]) / 1e6
        workers = [self._worker(each[0]) for each in slices]
        threads = [self._threads.get((each[0], each[1])) or str(each[1]) for each in slices]
        recording.append(
            encode(
                "attempts",
                {
                    "run": np.arange(len(slices), dtype="u4"),
                    "task": np.array(task, "u4"),
                    "worker": intern(workers),
                    "thread": intern(threads),
                    "status": intern([str(each[5].get("status") or "ok") for each in slices]),
                    "start": start,
                    "stop": stop,
                    "done": stop,
                    "nbytes": np.array([_number(each[5].get("bytes")) for each in slices]),
                    "typename": intern([str(each[5].get("type") or "") for each in slices]),
                },
            )
        )
        lanes: dict[str, set[str]] = defaultdict(set)
        for worker, thread in zip(workers, threads, strict=True):
            lanes[worker].add(thread)
        told: dict[str, Any] = {"worker": list(lanes), "name": list(lanes)}
        told |= {
            "threads": [len(each) for each in lanes.values()],
            "joined": [float(start.min())] * len(lanes),
        }
        recording.append(encode("workers", told))
        self._add_edges(recording, task, start, stop)

    def _add_edges(self, recording: Recording, task: list[int], start: np.ndarray, stop: np.ndarray) -> None:
        """Arrows from the slice that is open where they leave to the one where they arrive."""
        rows: dict[tuple[Any, Any], list[int]] = defaultdict(list)
        for row, (pid, tid, *_) in enumerate(self._slices):
            rows[pid, tid].append(row)
        sorted_rows = {
            lane: np.array(each)[np.argsort(start[each], kind="stable")] for lane, each in rows.items()
        }

        def slice_at(pid: Any, tid: Any, moment: float) -> int | None:
            lane = sorted_rows.get((pid, tid))
            if lane is None:
                return None
            at = self._started + moment / 1e6
            place = int(np.searchsorted(start[lane], at + 5e-7, "right")) - 1
            return int(lane[place]) if place >= 0 and at <= stop[lane[place]] + 1e-6 else None

        found = []
        for arrow, end in self._arrows["f"].items():
            begin = self._arrows["s"].get(arrow)
            source, target = (slice_at(*begin) if begin else None), slice_at(*end)
            if source is not None and target is not None:
                found.append((task[target], task[source]))
        if found:
            needing, needed = np.array(sorted(set(found)), "u4").T
            recording.append(encode("edges", {"task": needing, "dependency": needed}))

    def _add_counters(self, recording: Recording) -> None:
        rows: dict[tuple[str, float], dict[str, float]] = defaultdict(dict)
        for pid, moment, name, args in self._counters:
            row = rows[self._worker(pid), moment]
            if name.startswith("CPU"):
                row["cpu"] = next(map(_number, args.values()), _NAN)
            elif name == "memory (MB)":
                row["memory"] = 1e6 * sum(map(_number, args.values()))
        rows = {place: row for place, row in rows.items() if row}
        if rows:
            process, time = zip(*rows, strict=True)
            told: dict[str, Any] = {"process": list(process), "time": self._moments(time)}
            for column in ("cpu", "memory"):
                told[column] = [row.get(column, _NAN) for row in rows.values()]
            recording.append(encode("resources", told))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else _NAN
