"""Chrome traces (Trace Event Format, JSON) as recordings: our own exports, and those of other tools.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

Slices (X, and pairs of B and E) become attempts at tasks of their name on the thread of their process, those
that do not end running ones; those within others become call stacks of the outermost; instants become events;
flow arrows become edges; counters of CPU shares and memory become resources. Times are microseconds since
the start that a file tells; files that tell none have one axis, wherever that begins.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...batch import encode, intern
from ...columns import take
from ...frames import Gap, RecordingError
from ...recording import Recording
from ...schema import WAITING
from .chrome_workers import Process, names
from .json_reader import JsonError, JsonReader
from .nested import Fold
from .opened import Told, opened, part, silent
from .told import facts, mapping, number, whole

_NAN = math.nan
#: A process: the number of its file, and its own therein.
_Pid = tuple[int, Any]
#: Counters of memory: of any tool, as Dask knows it; and of our own exports, what the system says.
_MEMORY, _OF_PROCESS = "memory (MB)", "process memory (MB)"
#: Counters of CPU that are percents: others are frequencies, temperatures or times.
_CPU_SHARE = re.compile(r"CPU.*(%|percent|usage|utili[sz]ation|share(?!s))", re.IGNORECASE)
#: How the categories of slices begin that our own exports write; the second says how the attempt ended.
_OURS = "task,"
_RUNNING = "running"
_STATUSES = (
    *("ok", "erred", "retried", "killed", "cancelled", "stolen", "rescheduled"),
    *(_RUNNING, WAITING),
)
#: Most slices that are open within one another.
_MOST_OPEN = 10_000
_LACKS = {
    "samples": "This Chrome trace has no slices within slices, which would be call stacks.",
    "metrics": "A Chrome trace holds no fine performance metrics.",
    "memory": "A Chrome trace holds no memory measures by kind.",
    "spans": "A Chrome trace does not tell spans.",
    "resources": "This Chrome trace has no counters of CPU or memory.",
    "edges": "This Chrome trace has no flow arrows: it does not tell which task needs which.",
    "transfers": "A Chrome trace does not tell which worker sent what to which.",
}


def matches(head: bytes) -> bool:
    """Whether a file that begins so, unpacked, is a Chrome trace."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return (text.startswith(b"{") and b'"traceEvents"' in text) or (text.startswith(b"[") and b'"ph"' in text)


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """Traces as one recording; compressed ones are unpacked.

    Raises
    ------
    RecordingError
        If a file is no such trace; the message says where it ceases to be one.
    """
    trace = _Trace()
    gaps: list[Gap] = []
    for place, path in enumerate(paths):
        with opened(path, part(told, place, len(paths))) as source:
            reader = JsonReader(source)
            before = trace.read
            try:
                trace.take(reader)
            except JsonError as error:
                if trace.read == before:
                    raise
                # A list of events need not be closed.
                if not (error.at_end and trace.is_list):
                    gaps.append(error.gap(source))
    recording = trace.recording(paths[0].name.split(".")[0])
    for gap in gaps:
        recording.lost(gap)
    return recording


class _Slice(NamedTuple):
    """What ran on a thread of a process; start and length in microseconds."""

    pid: _Pid
    tid: Any
    name: str
    start: float
    length: float
    key: str
    status: str
    nbytes: float
    typename: str
    #: Which one at its task this is; 0 if it is not told.
    attempt: int = 0
    #: Seconds.
    cpu: float = _NAN


class _Trace:
    """Columns in the making."""

    def __init__(self) -> None:
        #: The processes of each file.
        self._files: list[dict[Any, _Pid]] = []
        self._processes: dict[_Pid, str] = {}
        self._threads: dict[tuple[Any, ...], str] = {}
        #: What our own exports tell: whose further tracks there are, and threads and life of a process.
        self._tracks: dict[tuple[Any, ...], str] = {}
        self._lives: dict[_Pid, dict[str, Any]] = {}
        self._slices: list[_Slice] = []
        self._open: dict[tuple[_Pid, Any], list[_Slice]] = defaultdict(list)
        self._instants: list[tuple[_Pid, float, str]] = []
        self._arrows: dict[str, dict[tuple[int, str], tuple[_Pid, Any, float]]] = {"s": {}, "f": {}}
        self._counters: list[tuple[_Pid, float, str, float]] = []
        #: When files began and stopped that say so, seconds since the epoch.
        self._dates: dict[int, float] = {}
        self._stops: dict[int, float] = {}
        self._unread = 0
        #: Events that have come.
        self.read = 0
        #: Whether the file is a list of events, with nothing around it.
        self.is_list = False

    def take(self, reader: JsonReader) -> None:
        """Take a trace, event by event; numbers of processes and arrows are those of its file."""
        self._files.append({})
        self.is_list = reader.peek() == "["
        if self.is_list:
            return self._take_events(reader)
        has_events = False
        for name in reader.fields():
            if name == "traceEvents":
                has_events = True
                self._take_events(reader)
            elif name == "otherData":
                self._take_facts(reader.value())
            else:
                reader.skip()
        if not has_events:
            raise RecordingError(f"{reader.path} is no Chrome trace: it has no list of events in traceEvents")
        return None

    @property
    def _file(self) -> int:
        return len(self._files) - 1

    def _take_facts(self, told: Any) -> None:
        for name, moments in (("started", self._dates), ("stopped", self._stops)):
            moment = mapping(told).get(name)
            with suppress(OverflowError, TypeError, ValueError):
                if moment is not None and (date := number(float(moment), 0.0)):
                    moments[self._file] = date

    def _take_events(self, reader: JsonReader) -> None:
        for event in reader.values():
            self.read += 1
            try:
                self._event(event)
            except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
                self._unread += 1

    def _event(self, event: dict[str, Any]) -> None:
        phase, own, tid = event["ph"], _identifier(event.get("pid", 0)), _identifier(event.get("tid", 0))
        pid = self._files[-1].setdefault(own, (self._file, own))
        given = event.get("args")
        args: dict[str, Any] = given if isinstance(given, dict) else {}
        if phase == "M":
            name = str(args.get("name", ""))
            if event["name"] == "process_name":
                # Our own exports name a process "name address host", and tell which of it is its own.
                self._processes[pid] = str(args.get("process") or name)
                if "threads" in args:
                    self._lives[pid] = args
            elif event["name"] == "thread_name":
                if "thread" in args:
                    self._tracks[pid, tid] = str(args["thread"])
                else:
                    self._threads[pid, tid] = name
            return
        moment = _micros(event["ts"])
        if phase == "X":
            hash(tid)
            told = _of_dask(event, args)
            # Our own exports draw what still ran until the end.
            length = _NAN if told.get("status") == _RUNNING else max(0.0, _micros(event.get("dur", 0.0)))
            self._slices.append(_slice(pid, tid, str(event["name"]), moment, length, told))
        elif phase == "B":
            begun = self._open[pid, tid]
            if len(begun) >= _MOST_OPEN:
                raise ValueError("more slices within one another than any program has")
            told = _of_dask(event, args)
            begun.append(_slice(pid, tid, str(event.get("name", "")), moment, _NAN, told))
        elif phase == "E":
            first = self._open[pid, tid].pop()
            length = max(0.0, moment - first.start)
            last = _slice(pid, tid, first.name, first.start, length, _of_dask(event, args))
            self._slices.append(
                last._replace(
                    key=last.key or first.key,
                    status=last.status or first.status,
                    nbytes=first.nbytes if math.isnan(last.nbytes) else last.nbytes,
                    typename=last.typename or first.typename,
                    cpu=first.cpu if math.isnan(last.cpu) else last.cpu,
                )
            )
        elif phase in ("i", "I", "R"):
            self._instants.append((pid, moment, str(event.get("name", ""))))
        elif phase in ("s", "f"):
            hash(tid)
            self._arrows[phase][self._file, str(event["id"])] = (pid, tid, moment)
        elif phase == "C":
            self._count(pid, moment, str(event["name"]), args)

    def _count(self, pid: _Pid, moment: float, name: str, args: dict[str, Any]) -> None:
        if args and _CPU_SHARE.match(name):
            self._counters.append((pid, moment, "cpu", next(map(number, args.values()))))
        elif name in (_MEMORY, _OF_PROCESS):
            # Our own exports show beside it what lies on disk.
            there = (number(each, 0.0) for part, each in args.items() if part != "spilled")
            self._counters.append((pid, moment, name, 1e6 * sum(there)))

    def recording(self, name: str) -> Recording:
        """The recording."""
        recording = Recording()
        for left in self._open.values():
            self._slices += left
        started = self._started
        stopped = max((last for _, last in self._extents.values()), default=started)
        about = {"name": name, "source": "Chrome trace", "started": started, "stopped": stopped}
        fold = self._folded()
        lacks = dict(_LACKS)
        if fold and fold.within:
            del lacks["samples"]
        if self._counters:
            del lacks["resources"]
        if self._arrows["f"]:
            del lacks["edges"]
        recording.append(facts(about, lacks))
        if fold:
            slices, self._slices = self._slices, [self._slices[row] for row in fold.outer]
            self._add_slices(recording)
            self._add_stacks(recording, slices, fold)
        if self._instants:
            pids, time, message = map(list, zip(*self._instants, strict=True))
            source, kind = [str(own) for _, own in pids], ["user"] * len(time)
            told = {"time": self._moments(pids, time), "source": source, "kind": kind}
            recording.append(encode("events", told | {"message": message}))
        self._add_counters(recording)
        if self._unread:
            recording.tell("lost", f"{self._unread:,} events of the trace could not be read")
        return recording

    @cached_property
    def _zeros(self) -> list[float]:
        """Where times of each file count from; of those that do not say it, with the first of the others."""
        default = min(self._dates.values(), default=0.0)
        return [self._dates.get(file, default) for file in range(len(self._files))]

    @property
    def _started(self) -> float:
        """Where the first file counts from that says it.

        Where none does, times may count from 1970 or since the machine was started: then the first moment of
        what ran or was measured, or else of what is only noted.
        """
        if self._dates:
            return min(self._zeros)
        begins = [begin for begin, _ in self._spans.values()]
        begins += self._moments_of(self._counters)
        return min(begins or self._moments_of(self._instants), default=0.0)

    def _moments_of(self, rows: Iterable[tuple[Any, ...]]) -> list[float]:
        """Moments of rows that begin with their process and their time."""
        pids_times = [row[:2] for row in rows]
        moments: list[float] = self._moments(*zip(*pids_times, strict=True)).tolist() if pids_times else []
        return moments

    def _moments(self, pids: Iterable[_Pid], micros: Iterable[float]) -> np.ndarray:
        zeros = self._zeros
        return np.array([zeros[file] for file, _ in pids]) + np.array(list(micros), "f8") / 1e6

    @cached_property
    def _spans(self) -> dict[_Pid, tuple[float, float]]:
        """First and last moment of each process that has slices."""
        known: dict[_Pid, int] = {}
        which = [known.setdefault(each.pid, len(known)) for each in self._slices]
        start = self._moments((each.pid for each in self._slices), (each.start for each in self._slices))
        stop = np.fmax(start, start + np.array([each.length for each in self._slices]) / 1e6)
        begin, end = np.full(len(known), np.inf), np.full(len(known), -np.inf)
        np.minimum.at(begin, which, start)
        np.maximum.at(end, which, stop)
        return dict(zip(known, zip(begin.tolist(), end.tolist(), strict=True), strict=True))

    @cached_property
    def _worker_names(self) -> dict[_Pid, str]:
        return names(
            [
                Process(*pid, self._called(pid), pid[0] in self._dates, self._life(pid))
                for pids in self._files
                for pid in pids.values()
            ]
        )

    def _called(self, pid: _Pid) -> str:
        name = self._processes.get(pid, "")
        # Older ones of ours do not tell the address apart.
        return next((part for part in name.split() if "://" in part), name) or f"process {pid[1]}"

    def _life(self, pid: _Pid) -> tuple[float, float] | None:
        if pid[0] not in self._dates:
            return self._spans.get(pid)
        if pid not in self._lives:
            return None
        joined, left = self._told_life(pid)
        first, last = self._extent(pid)
        begin = first if math.isnan(joined) else joined
        return begin, max(begin, last) if math.isnan(left) else left

    def _told_life(self, pid: _Pid) -> tuple[float, float]:
        told = self._lives[pid]
        joined, left = self._moments([pid] * 2, [number(told.get(name)) for name in ("joined", "left")])
        return float(joined), float(left)

    def _extent(self, pid: _Pid) -> tuple[float, float]:
        """First and last moment of what is on the axis of a process."""
        return self._extents.get(self._zeros[pid[0]], (_NAN, _NAN))

    @cached_property
    def _extents(self) -> dict[float, tuple[float, float]]:
        found: dict[float, tuple[float, float]] = {}
        for (file, _), (begin, end) in self._spans.items():
            first, last = found.get(self._zeros[file], (begin, end))
            found[self._zeros[file]] = min(first, begin), max(last, end)
        for file in self._dates.keys() & self._stops.keys():
            zero, stop = self._zeros[file], self._stops[file]
            first, last = found.get(zero, (zero, stop))
            found[zero] = first, max(last, stop)
        return found

    @cached_property
    def _thread_names(self) -> dict[tuple[Any, ...], str]:
        return _told_apart(self._threads) | self._tracks

    def _worker(self, pid: _Pid) -> str:
        return self._worker_names[pid]

    def _folded(self) -> Fold | None:
        """Functions that called one another are stacks, tasks are the outermost."""
        if not self._slices:
            return None
        lanes: dict[tuple[Any, Any], int] = {}
        lane = [lanes.setdefault((each.pid, each.tid), len(lanes)) for each in self._slices]
        start = np.array([each.start for each in self._slices])
        stop = start + np.array([each.length for each in self._slices])
        return Fold(np.array(lane), start, stop, [each.name for each in self._slices])

    def _add_stacks(self, recording: Recording, slices: Sequence[_Slice], fold: Fold) -> None:
        stacks, run_of = fold.stacks, {row: run for run, row in enumerate(fold.outer.tolist())}
        by_lane: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row in fold.within:
            by_lane[self._worker(slices[row].pid), self._thread(slices[row])].append(row)
        for place, rows in by_lane.items():
            for row in rows:
                zero = self._zeros[slices[row].pid[0]]
                for stack, begin, end in fold.within[row]:
                    stacks.sample(stack, zero + end / 1e6, (end - begin) / 1e6, run_of[row])
            stacks.of_thread(*place)
        for batch in stacks.batches(fold.frames):
            recording.append(batch)

    def _thread(self, one: _Slice) -> str:
        return self._thread_names.get((one.pid, one.tid)) or str(one.tid)

    def _add_slices(self, recording: Recording) -> None:
        slices = self._slices
        keys, task = self._tasks()
        prefixes = [""] * len(keys)
        for place, each in zip(task, slices, strict=True):
            prefixes[place] = each.name
        graph = {"task": np.arange(len(keys), dtype="u4"), "key": keys, "prefix": intern(prefixes)}
        recording.append(encode("graph", graph | {"group": intern(prefixes)}))
        start = self._moments([each.pid for each in slices], [each.start for each in slices])
        stop = start + np.array([each.length for each in slices]) / 1e6
        workers = [self._worker(each.pid) for each in slices]
        threads = [self._thread(each) for each in slices]
        begun: dict[str, Any] = {
            "run": np.arange(len(slices), dtype="u4"),
            "task": np.array(task, "u4"),
            "worker": intern(workers),
            "thread": intern(threads),
            "start": start,
        }
        ends: dict[str, Any] = {
            "status": intern([each.status or "ok" for each in slices]),
            "stop": stop,
            "done": stop,
            "nbytes": np.array([each.nbytes for each in slices]),
            "typename": intern([each.typename for each in slices]),
        }
        # What never ended ran when the trace was cut off.
        is_open = np.isnan(stop)
        for table, columns, rows in (("running", begun, is_open), ("attempts", begun | ends, ~is_open)):
            if rows.any():
                some = {name: take(values, rows) for name, values in columns.items()}
                recording.append(encode(table, some))
        cpu = np.array([each.cpu for each in slices])
        if (known := np.isfinite(cpu)).any():
            some = {name: take(begun[name], known) for name in ("run", "worker")}
            recording.append(encode("executions", some | {"cpu": cpu[known]}))
        self._add_workers(recording, zip(workers, threads, strict=True))
        self._add_edges(recording, task, start, stop)

    def _tasks(self) -> tuple[list[str], list[int]]:
        """The key of each task, and the task of each slice.

        Several computations may have one of the same key, each with attempts of its own.
        """
        keys: list[str] = []
        task: list[int] = []
        newest: dict[tuple[int, str], int] = {}
        attempts: dict[tuple[int, str], int] = {}
        for place, each in enumerate(self._slices):
            file, key = each.pid[0], each.key or f"{each.name}-{place}"
            of = (file if file in self._dates else -1, key)
            if of not in newest or 0 < each.attempt <= attempts[of]:
                newest[of] = len(keys)
                keys.append(key)
            attempts[of] = each.attempt
            task.append(newest[of])
        return keys, task

    def _add_workers(self, recording: Recording, ran: Iterable[tuple[str, str]]) -> None:
        """Threads as told, or as seen; who does not tell was there from the first slice on."""
        seen: dict[str, set[str]] = {self._worker(pid): set() for pid in self._lives}
        for worker, thread in ran:
            seen.setdefault(worker, set()).add(thread)
        threads, joined, left = {}, dict.fromkeys(seen, _NAN), dict.fromkeys(seen, _NAN)
        stopped = max(last for _, last in self._extents.values())
        # The last of several runs says whether a worker has left.
        for pid in sorted(self._lives, key=lambda pid: self._zeros[pid[0]]):
            worker, (begin, end) = self._worker(pid), self._told_life(pid)
            threads[worker] = whole(self._lives[pid].get("threads"))
            joined[worker] = float(np.fmin(joined[worker], begin))
            # Between runs it was not recorded.
            last = self._extent(pid)[1]
            left[worker] = last if math.isnan(end) and last < stopped else end
        first = dict.fromkeys(seen, _NAN)
        for pid in (*self._lives, *self._spans):
            worker = self._worker(pid)
            first[worker] = float(np.fmin(first[worker], self._extent(pid)[0]))
        told = {
            "threads": [threads.get(worker) or len(each) for worker, each in seen.items()],
            "joined": [first[worker] if math.isnan(moment) else moment for worker, moment in joined.items()],
            "left": list(left.values()),
        }
        recording.append(encode("workers", {"worker": list(seen), "name": list(seen), **told}))

    def _add_edges(self, recording: Recording, task: list[int], start: np.ndarray, stop: np.ndarray) -> None:
        """Arrows from the slice that is open where they leave to the one where they arrive."""
        rows: dict[tuple[Any, Any], list[int]] = defaultdict(list)
        for row, (pid, tid, *_) in enumerate(self._slices):
            rows[pid, tid].append(row)
        sorted_rows = {
            lane: np.array(each)[np.argsort(start[each], kind="stable")] for lane, each in rows.items()
        }

        def slice_at(pid: _Pid, tid: Any, moment: float) -> int | None:
            lane = sorted_rows.get((pid, tid))
            if lane is None:
                return None
            at = self._zeros[pid[0]] + moment / 1e6
            place = int(np.searchsorted(start[lane], at + 5e-7, "right")) - 1
            # One that still runs has no stop.
            return int(lane[place]) if place >= 0 and not at > stop[lane[place]] + 1e-6 else None

        found = []
        starts, ends = self._arrows["s"], self._arrows["f"]
        # Between processes that write a file each.
        lone = {arrow: begin for (file, arrow), begin in starts.items() if (file, arrow) not in ends}
        for (file, arrow), end in ends.items():
            begin = starts.get((file, arrow)) or lone.get(arrow)
            source, target = (slice_at(*begin) if begin else None), slice_at(*end)
            if source is not None and target is not None:
                found.append((task[target], task[source]))
        if found:
            needing, needed = np.array(sorted(set(found)), "u4").T
            recording.append(encode("edges", {"task": needing, "dependency": needed}))

    def _add_counters(self, recording: Recording) -> None:
        rows: dict[tuple[_Pid, float], dict[str, float]] = defaultdict(dict)
        exact = {pid for pid, _, name, _ in self._counters if name == _OF_PROCESS}
        for pid, moment, name, value in self._counters:
            if name != _MEMORY or pid not in exact:
                rows[pid, moment]["cpu" if name == "cpu" else "memory"] = value
        if rows:
            pids, time = zip(*rows, strict=True)
            told: dict[str, Any] = {
                "process": list(map(self._worker, pids)),
                "time": self._moments(pids, time),
            }
            for column in ("cpu", "memory"):
                told[column] = [row.get(column, _NAN) for row in rows.values()]
            recording.append(encode("resources", told))


def _told_apart(names: Mapping[tuple[Any, ...], str]) -> dict[tuple[Any, ...], str]:
    """Names by place; where others beside it have the same, with its number, which the place ends with."""
    often = Counter((place[:-1], name) for place, name in names.items())
    return {
        place: f"{name} ({place[-1]})" if name and often[place[:-1], name] > 1 else name
        for place, name in names.items()
    }


def _identifier(told: Any) -> Any:
    """The number of a process or thread; a huge one as text, as anyone can find many of one hash."""
    return str(told) if isinstance(told, int) and abs(told) >= 2**53 else told


def _micros(told: Any) -> float:
    """A time, which may stand as text."""
    micros = float(told)
    if not abs(micros) < 2**53:
        raise ValueError("a time that is no number, or none of this age")
    return micros


def _of_dask(event: Mapping[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    """What a slice of our own exports tells of an attempt; by the same names other tools tell anything."""
    category = str(event.get("cat", ""))
    if not category.startswith(_OURS):
        return {}
    status = category.removeprefix(_OURS)
    return args | {"status": status if status in _STATUSES else "ok"}


def _slice(pid: Any, tid: Any, name: str, start: float, length: float, args: dict[str, Any]) -> _Slice:
    key, status, typename = (str(args.get(one) or "") for one in ("key", "status", "type"))
    nbytes, attempt = number(args.get("bytes")), whole(args.get("attempt"))
    cpu = number(args.get("cpu_us")) / 1e6
    return _Slice(pid, tid, name, start, length, key, status, nbytes, typename, attempt, cpu)
