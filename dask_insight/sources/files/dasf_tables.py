"""What DASF's databases tell, as tables of a recording."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from operator import itemgetter
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from ... import words
from ...batch import Symbols, Texts, encode, intern
from ...recording import Recording
from ...timeline import seen_threads
from .dasf_clocks import Ran, laid
from .keys import groups_of, name_of, text_of
from .layouts import Alike, Records, Slices
from .system_monitor import MEASURES
from .told import facts, number

_NAMED = ("name",)
COMPUTE, MEMORY, RESOURCES = "Compute", "Managed Memory", "Resource Usage"
_COMPUTE, _MEMORY = COMPUTE.encode(), MEMORY.encode()
#: Name of the measure under which table ``cache`` has DASF's count of results held by each worker.
HELD = "results held"
_NAN = math.nan
#: Hosts that are named of those whose clocks are unknown.
_NAMES = 5
#: Events taken at a time: few enough to stay in the processor's cache. What one that is damaged raises.
_BLOCK = 256
_ARGS, _TIME, _DURATION = map(itemgetter, ("args", "timestamp", "duration"))
_KEY, _TASKS, _WORKER, _PLACE = (
    *map(itemgetter, ("key", "tasks", "thread_id")),
    itemgetter("thread_id", "process_id"),
)
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
_CLASS = re.compile(r"<class '([^']*)'>")
_LACKS = {
    "attempts": "These databases hold no task that ended: DASF's trace is in files named TracePlugin.",
    "samples": "DASF's databases hold no call stacks.",
    "metrics": "DASF's databases hold no fine performance metrics.",
    "memory": "DASF's databases hold no memory measures of the workers.",
    "spans": "DASF's databases do not tell spans.",
    "edges": "These databases do not tell which task needs which.",
    "resources": "DASF's resource monitor has files of its own: read them together with the trace.",
    "transfers": "DASF's databases do not tell which worker sent what to which.",
}


#: An event and its number among those of its block.
_Event = tuple[int, Mapping[str, Any]]


class _Done(NamedTuple):
    """Tasks that ended: numbers of events, tasks, places and kinds, ends and durations [s], sizes [bytes]."""

    event: np.ndarray
    task: np.ndarray
    place: np.ndarray
    kind: np.ndarray
    stop: np.ndarray
    duration: np.ndarray
    size: np.ndarray


class _Needs(NamedTuple):
    """Numbers of events, of tasks and, for each of their dependencies one, of it."""

    event: np.ndarray
    task: np.ndarray
    dependency: np.ndarray


class _Held(NamedTuple):
    """Results counted: numbers of events, moments [s], numbers of workers, counts, tasks that ended last."""

    event: np.ndarray
    time: np.ndarray
    worker: np.ndarray
    results: np.ndarray
    task: np.ndarray


def _timed(*times: Any) -> None:
    """Refuse what is no moment and no length of time."""
    if not all(np.isfinite(each).all() for each in times):
        raise ValueError("a time that is none")


class _Ended(NamedTuple):
    """Events of tasks that ended, laid out alike."""

    event: np.ndarray
    stop: np.ndarray
    duration: np.ndarray
    size: np.ndarray
    thread: Slices
    process: Slices
    type: Slices
    state: Slices
    key: Slices
    needs: np.ndarray
    needed: Slices

    @classmethod
    def of(cls, some: Alike) -> _Ended:
        stop, duration = some.numbers(("timestamp",)), some.numbers(("duration",))
        _timed(stop, duration)
        count, needed = some.lists(("args", "dependencies"))
        return cls(
            some.rows,
            stop,
            duration,
            some.numbers(("args", "size")),
            some.texts(("thread_id",)),
            some.texts(("process_id",)),
            some.texts(("args", "type")),
            some.texts(("args", "state")),
            some.texts(("args", "key")),
            np.full(len(some.rows), count),
            needed,
        )

    @property
    def keys(self) -> Slices:
        """All keys of tasks."""
        return Slices.joined((self.key, self.needed))


class _Counted(NamedTuple):
    """Events of counted results, laid out alike."""

    event: np.ndarray
    time: np.ndarray
    results: np.ndarray
    worker: Slices
    key: Slices

    @classmethod
    def of(cls, some: Alike) -> _Counted:
        time = some.numbers(("timestamp",))
        _timed(time)
        return cls(
            some.rows,
            time,
            some.numbers(("args", "tasks")),
            some.texts(("thread_id",)),
            some.texts(("args", "key")),
        )

    @property
    def keys(self) -> Slices:
        """All keys of tasks."""
        return self.key


class Tables:
    """Columns in the making."""

    def __init__(self) -> None:
        #: Keys of tasks in UTF-8, and their numbers.
        self._ids: dict[bytes, int] = {}
        self._done: list[_Done] = []
        #: Pairs of worker and host, and of type and state, and their numbers.
        self._places: dict[tuple[Any, Any], int] = {}
        self._kinds: dict[tuple[Any, Any], int] = {}
        self._needs: list[_Needs] = []
        self._held: list[_Held] = []
        self._holders: dict[tuple[str], int] = {}
        self._resources: list[tuple[str, float, Mapping[str, Any]]] = []
        #: Numbers of events, moments, lengths [s], hosts, and what is told of them in words.
        self._others: list[tuple[int, float, float, str, str, str, str]] = []
        #: When the clock of a host stood at 0, seconds since the epoch, by each of its samples.
        self._offsets: dict[str, list[float]] = {}
        #: Number of the first event of the block.
        self._first = 0

    def take_records(self, records: Records, each: Callable[[np.ndarray], Iterable[_Event]]) -> None:
        """Take a block of records: by column as far as they are laid out alike, the others one by one.

        Parameters
        ----------
        records
            The block.
        each
            Gives the events of the records with these numbers.
        """
        found, others = records.alike((_NAMED,))
        ended, counted = list[_Ended](), list[_Counted]()
        for some in found:
            try:
                if some.same[_NAMED] == _COMPUTE and some.has("phase"):
                    ended.append(_Ended.of(some))
                elif some.same[_NAMED] == _MEMORY and some.has("phase"):
                    counted.append(_Counted.of(some))
                else:
                    others = np.append(others, some.rows)
            except (KeyError, ValueError):
                others = np.append(others, some.rows)
        self._take_alike(records, [_joined(some) for some in (ended, counted) if some])
        self.take(each(np.sort(others)))
        self._first += len(records)

    def _take_alike(self, records: Records, found: Sequence[_Ended | _Counted]) -> None:
        codes, (texts,) = records.interned(Slices.joined([some.keys for some in found]))
        ids = np.array(_numbers(self._ids, texts), "u4")[codes]
        for some in found:
            task, ids = np.split(ids, [len(some.keys.at)])
            event = self._first + some.event
            if isinstance(some, _Counted):
                worker = _codes(self._holders, records, some.worker)
                self._held.append(_Held(event, some.time, worker, some.results, task))
                continue
            task, needed = np.split(task, [len(event)])
            place = _codes(self._places, records, some.thread, some.process)
            kind = _codes(self._kinds, records, some.type, some.state)
            self._done.append(_Done(event, task, place, kind, some.stop, some.duration, some.size))
            self._needs.append(_Needs(np.repeat(event, some.needs), np.repeat(task, some.needs), needed))

    def take(self, found: Iterable[_Event]) -> None:
        """Take events one by one."""
        events = iter(found)
        while block := list(islice(events, _BLOCK)):
            ended = [each for each in block if each[1]["name"] == COMPUTE]
            held = [each for each in block if each[1]["name"] == MEMORY]
            for each in block if len(ended) + len(held) < len(block) else ():
                if each[1]["name"] not in (COMPUTE, MEMORY):
                    self._one(each, self._sampled)
            self._all(ended, self._computed)
            self._all(held, self._hold)

    def _all(self, events: list[_Event], take: Callable[[list[_Event]], None]) -> None:
        """All at once, or, where one of them is damaged, each by itself."""
        try:
            if events:
                take(events)
        except _DAMAGED:
            for event in events:
                self._one(event, lambda each: take([each]))

    def _one(self, event: _Event, take: Callable[[_Event], None]) -> None:
        try:
            take(event)
        except _DAMAGED:
            self._other(event)

    def _computed(self, events: list[_Event]) -> None:
        event, those = np.array([number for number, _ in events]), [each for _, each in events]
        args = list(map(_ARGS, those))
        stop = np.array(list(map(_TIME, those)), "f8")
        duration = np.array(list(map(_DURATION, those)), "f8")
        size = np.array([each.get("size") for each in args], "f8")
        if not stop.shape == duration.shape == size.shape == (len(those),):
            raise ValueError("a number that is a list")
        _timed(stop, duration)
        keys = list(map(_KEY, args))
        needs = [each.get("dependencies") or () for each in args]
        counts = list(map(len, needs))
        place = np.array(_numbers(self._places, list(map(_PLACE, those))), "u4")
        kind = _numbers(self._kinds, [(each.get("type"), each.get("state")) for each in args])
        needed = self._tasks(list(chain.from_iterable(needs)))
        event, task = self._first + event, self._tasks(keys)
        self._done.append(_Done(event, task, place, np.array(kind, "u4"), stop, duration, size))
        self._needs.append(_Needs(np.repeat(event, counts), np.repeat(task, counts), needed))

    def _hold(self, events: list[_Event]) -> None:
        event, those = np.array([number for number, _ in events]), [each for _, each in events]
        args = list(map(_ARGS, those))
        time = np.array([float(moment) for moment in map(_TIME, those)])
        _timed(time)
        count = np.array([float(tasks) for tasks in map(_TASKS, args)])
        task = self._tasks([each.get("key") for each in args])
        worker = np.array(_numbers(self._holders, [(str(name),) for name in map(_WORKER, those)]), "u4")
        self._held.append(_Held(self._first + event, time, worker, count, task))

    def _tasks(self, keys: list[Any]) -> np.ndarray:
        """Numbers of tasks."""
        texts = (key if type(key) is str else text_of(key) for key in keys)
        return np.array(
            _numbers(self._ids, [text.encode("utf-8", "backslashreplace") for text in texts]), "u4"
        )

    def _sampled(self, numbered: _Event) -> None:
        _, event = numbered
        if event["name"] != RESOURCES:
            raise KeyError(RESOURCES)
        args = event.get("args") or {}
        if not isinstance(args, dict):
            raise TypeError("figures without names")
        moment = float(event["timestamp"])
        _timed(moment)
        host = str(event["process_id"])
        self._resources.append((host, moment, args))
        if not math.isnan(date := number(args.get("time"))):
            self._offsets.setdefault(host, []).append(date - moment)

    def _other(self, numbered: _Event) -> None:
        at, event = numbered
        when, length = number(event.get("timestamp")), number(event.get("duration"), 0.0)
        try:
            told = _in_words(event)
        except RecursionError:
            told = "", "", "an event whose values are nested too deeply", ""
        self._others.append((self._first + at, when, length, *told))

    def recording(self, name: str) -> Recording:
        """The recording."""
        recording = Recording()
        clocks = self._clocks()
        offset = next(iter(clocks.values()), 0.0)
        at_place = np.array([clocks[str(host)] for _, host in self._places])
        of_holders = (self._hosts.get(name, "") for (name,) in self._holders)
        at_holder = np.array([clocks.get(host, offset) for host in of_holders])
        ends = [some.stop + at_place[some.place] for some in self._done]
        begins = [end - some.duration for end, some in zip(ends, self._done, strict=True)]
        others = [held.time + at_holder[held.worker] for held in self._held]
        others.append(np.array([moment + clocks[host] for host, moment, _ in self._resources]))
        if not any(map(len, begins + others)):
            # Of a damaged event the moment may be anything: it counts where nothing else does.
            others = [
                np.array([(when, when + length) for _, when, length, *_ in self._others]).ravel() + offset
            ]
        about = {
            "name": name,
            "source": "DASF",
            #: When the clock of the first host stood at 0, seconds since the epoch.
            "offset": offset,
            "started": _most(np.fmin, begins + others),
            "stopped": _most(np.fmax, ends + others),
        }
        there = {
            "resources": self._resources,
            "attempts": self._done,
            "edges": any(len(some.task) for some in self._needs),
        }
        recording.append(facts(about, {table: why for table, why in _LACKS.items() if not there.get(table)}))
        self._add_tasks(recording, at_place)
        self._add_resources(recording, clocks)
        if self._held:
            held = _Held(*_in_order(self._held))
            cache = {
                "time": held.time + at_holder[held.worker],
                "source": Symbols(held.worker, [name for (name,) in self._holders]),
                "metric": Symbols(np.zeros(len(held.task), "u4"), [HELD]),
                "size": held.results,
                "task": held.task,
            }
            recording.append(encode("cache", cache))
        if self._others:
            _, when, _, of, place, message, detail = map(
                list, zip(*sorted(self._others, key=itemgetter(0)), strict=True)
            )
            time = np.array(when) + [clocks.get(host, offset) for host in of]
            told = {"time": time, "source": place, "kind": ["user"] * len(when)}
            recording.append(encode("events", told | {"message": message, "detail": detail}))
        self._tell_clocks(recording, clocks)
        return recording

    @cached_property
    def _ran(self) -> _Done:
        return _Done(*_in_order(self._done))

    @cached_property
    def _hosts(self) -> dict[str, str]:
        """The first host of each worker, in the order of their first tasks."""
        hosts: dict[str, str] = {}
        if self._done:
            places, place = list(self._places), self._ran.place
            for each in place[np.sort(np.unique(place, return_index=True)[1])].tolist():
                name, host = places[each]
                hosts.setdefault(str(name), str(host))
        return hosts

    def _clocks(self) -> dict[str, float]:
        """When the clock of each host stood at 0, seconds since the epoch."""
        known = {host: median(each) for host, each in self._offsets.items()}
        others = sorted({str(host) for _, host in self._places})
        monitored = (host for host, _, _ in self._resources)
        hosts = list(dict.fromkeys([*self._hosts.values(), *others, *monitored]))
        if not self._done or len(hosts) < 2 or known.keys() >= set(hosts):
            usual = next(iter(known.values()), 0.0)
            return {host: known.get(host, usual) for host in hosts}
        number_of = {host: at for at, host in enumerate(hosts)}
        host = np.array([number_of[str(each)] for _, each in self._places])[self._ran.place]
        ran = Ran(self._ran.task, host, self._ran.stop - self._ran.duration, self._ran.stop)
        needs = _Needs(*_in_order(self._needs))
        return laid(hosts, known, ran, needs.task, needs.dependency)

    def _tell_clocks(self, recording: Recording, clocks: Mapping[str, float]) -> None:
        if not self._offsets:
            recording.tell(
                "clock",
                "DASF's traces have no date: seconds count from the machine's start. "
                "Its resource monitor's file, read together with them, tells the date.",
            )
        # Without any date all count by the clock of the first.
        unknown = [host for host in clocks if host not in self._offsets]
        if unknown := unknown if self._offsets else unknown[1:]:
            more = [words.count(len(unknown) - _NAMES, "more host")] if len(unknown) > _NAMES else []
            recording.tell(
                "clock",
                "Nothing tells how the clocks of these hosts stand to those of the others: "
                f"{words.listing([*unknown[:_NAMES], *more])}. They are set so that no task starts before "
                "its inputs from other hosts have ended. The files of all resource monitors, read together "
                "with the traces, tell it.",
            )

    def _add_tasks(self, recording: Recording, at_place: np.ndarray) -> None:
        if not self._ids:
            return
        keys = Texts.joined(list(self._ids))
        groups = groups_of(keys)
        names = intern([name_of(group) for group in groups.names])
        prefixes = Symbols(names.codes[groups.codes], names.names)
        graph = {
            "task": np.arange(len(self._ids), dtype="u4"),
            "key": keys,
            "prefix": prefixes,
            "group": groups,
        }
        recording.append(encode("graph", graph))
        if not self._done:
            return
        needs = _Needs(*_in_order(self._needs))
        if len(needs.task):
            recording.append(encode("edges", {"task": needs.task, "dependency": needs.dependency}))
        _, task, worker, what, stop, duration, size = self._ran
        ends = stop + at_place[worker]
        places, kinds = list(self._places), list(self._kinds)
        numbers = {name: at for at, name in enumerate(self._hosts)}
        # Its databases name workers alone: what overlaps there ran on several threads.
        thread, threads = seen_threads(
            np.array([numbers.get(str(name), 0) for name, _ in places])[worker], ends - duration, ends
        )
        attempts = {
            "run": np.arange(len(task), dtype="u4"),
            "task": task,
            "worker": Symbols(worker, [str(name) for name, _ in places]),
            "thread": Symbols(thread.astype("u4"), list(map(str, range(max(threads))))),
            "status": Symbols(what, ["erred" if state == "error" else "ok" for _, state in kinds]),
            "start": ends - duration,
            "stop": ends,
            "done": ends,
            "nbytes": size,
            "typename": Symbols(what, [_CLASS.sub(r"\1", str(one or "")) for one, _ in kinds]),
        }
        recording.append(encode("attempts", attempts))
        hosts = self._hosts
        begin = float((ends - duration).min())
        workers: dict[str, Any] = {"worker": list(hosts), "name": list(hosts), "host": list(hosts.values())}
        workers |= {"threads": threads, "joined": [begin] * len(hosts)}
        recording.append(encode("workers", workers))

    def _add_resources(self, recording: Recording, clocks: Mapping[str, float]) -> None:
        if not self._resources:
            return
        process = [host for host, _, _ in self._resources]
        time = np.array([moment + clocks[host] for host, moment, _ in self._resources])
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


def _in_words(event: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Process, place, name and phase, and arguments of an event that is no task's."""
    process, args = event.get("process_id"), event.get("args")
    place = str(event.get("thread_id") or process or "")
    if "duration" in event:
        others = args if isinstance(args, dict) else {"args": args} if args else {}
        args = {"duration": event["duration"], **others}
    told = json.dumps(args, default=str, skipkeys=True)[:2_000] if args else ""
    return str(process), place, f"{event['name']} ({event['phase']})", told


def _in_order(parts: Sequence[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Columns of several parts by the first of them, the number of an event."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return [column[order] for column in columns]


def _most(of: np.ufunc, parts: Sequence[np.ndarray]) -> float:
    """The least or the greatest moment that is known, 0 where none is."""
    return float(np.nan_to_num(of.reduce([of.reduce(part) for part in parts if len(part)] or [0.0])))


def _joined(parts: list[_Ended] | list[_Counted]) -> _Ended | _Counted:
    """Several as one."""
    columns: list[Any] = [
        Slices.joined(column) if isinstance(column[0], Slices) else np.concatenate(column)
        for column in zip(*parts, strict=True)
    ]
    return type(parts[0])(*columns)


def _codes(known: dict[Any, int], records: Records, *columns: Slices) -> np.ndarray:
    """The number of each row of texts."""
    codes, texts = records.interned(*columns)
    rows = zip(*([text.decode() for text in column] for column in texts), strict=True)
    return np.array(_numbers(known, rows), "u4")[codes]


def _numbers(known: dict[Any, int], values: Iterable[Any]) -> list[int]:
    """The number of each value; new ones get the next."""
    return [known.setdefault(value, len(known)) for value in values]


def _figure(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else _NAN
