"""The Trace Event Format of Chrome's tracing, which Perfetto and chrome://tracing open.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

A process for each worker, a thread for each of its threads, a slice for each
attempt; what happened around attempts, and transfers, as nestable async
slices; resources and memory as counters; flow arrows from a task to those
that needed its result. Times are microseconds since the recording's start.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..batch import Symbols
from ..lookup import is_any
from ..tables import joined
from ..tables.facts import recorded
from .files import replaced
from .inputs import Inputs, most_arrows
from .lines import Fixed, Json, Part, Where, Whole, Words, json_words, lines, rows_of, whole
from .places import Places, Ran
from .progress import Steps, Told, silent

if TYPE_CHECKING:
    from ..recording import Recording

#: Most characters of a fact, as readers look for the events within the first bytes of a file.
_LONGEST = 4_000
#: Arrows looked up at a time.
_ARROWS = 200_000
#: Counters by table: name of the track, '{}' for the device, columns and what they are divided by.
_COUNTERS = {
    "resources": (
        ("CPU (%)", ("cpu",), 1.0),
        ("process memory (MB)", ("memory",), 1e6),
        ("network (MB/s)", ("net_read", "net_write"), 1e6),
        ("disk (MB/s)", ("disk_read", "disk_write"), 1e6),
        ("tasks", ("executing", "ready", "waiting"), 1.0),
        ("event loop lag (ms)", ("lag",), 1e-3),
    ),
    "memory": (("memory (MB)", ("managed", "unmanaged_old", "unmanaged_recent", "spilled"), 1e6),),
    "gpus": (("GPU {} (%)", ("utilization",), 1.0), ("GPU {} memory (MB)", ("memory",), 1e6)),
}

Block = tuple[int, bytes]


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write the trace.

    Parameters
    ----------
    recording
        What to write.
    path
        The file; compressed if its name ends in ``.gz``.
    told
        Is told how far it is.
    """
    with replaced(path) as file:
        file.write(b'{"displayTimeUnit":"ms","otherData":')
        places = Places(recording)
        ran = Ran(recording, places)
        # First, so that a part of a file has them.
        lives = _lives(recording, places)
        names = ",\n".join((*_processes(places, lives), *_threads(places)))
        file.write(json.dumps(_facts(recording)).encode() + b',"traceEvents":[\n' + _utf8(names))
        named = places.count
        steps = Steps(told, _rows(recording, ran))
        for rows, text in _events(recording, places, ran):
            file.write(text)
            steps.add(rows)
        for name in _processes(places, lives, named):
            file.write(_utf8(",\n" + name))
        file.write(b"\n]}\n")


def _facts(recording: Recording) -> dict[str, str]:
    # Some tasks may have begun before the recording, which is where moments count from.
    facts = {**recording.about, "started": recording.started}
    last = recorded(recording.columns)[1]
    if np.isfinite(last):
        facts["stopped"] = last
    texts = {name: str(value) for name, value in facts.items()}
    return {name: text for name, text in texts.items() if len(text) <= _LONGEST}


def _utf8(text: str) -> bytes:
    # Perfetto shows escapes as they are.
    return text.encode("utf-8", "replace")


def _rows(recording: Recording, ran: Ran) -> int:
    columns: Any = recording.columns
    rows = len(ran.ts) + len(columns("edges")["task"]) + len(columns("phases")["start"])
    rows += len(columns("transfers")["start"])
    return rows + sum(len(columns(table)["time"]) * len(tracks) for table, tracks in _COUNTERS.items())


def _events(recording: Recording, places: Places, ran: Ran) -> Iterator[Block]:
    """Each begins with the comma that parts it from the one before."""
    yield from _slices(ran)
    yield from _flows(recording, ran)
    yield from _around(recording, places)
    yield from _transfers(recording, places)
    for table, counters in _COUNTERS.items():
        columns: Any = joined(recording.answer, table)
        pid = places.pids(columns["worker" if table == "memory" else "process"])
        ts = whole(columns["time"] - recording.started, 1e-6)
        for (name, of, unit), (device, rows) in product(counters, _devices(columns)):
            values = {each: columns[each][rows] / unit for each in of}
            yield from _counter(name.format(device), values, pid[rows], ts[rows])


def _devices(columns: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Number and rows of each device; all rows of what is no device's."""
    if "index" not in columns:
        return [("", slice(None))]
    return [(device, columns["index"] == device) for device in np.unique(columns["index"]).tolist()]


def _processes(places: Places, lives: Mapping[int, dict[str, Any]], named: int = 0) -> Iterator[str]:
    """Events that name processes but for the first ones, and tell the threads of workers."""
    for pid, process, name in islice(places.processes(), named, None):
        yield _meta("process_name", pid, 0, {"name": name, "process": process, **lives.get(pid, {})})
        yield _meta("process_sort_index", pid, 0, {"sort_index": pid})


def _threads(places: Places) -> Iterator[str]:
    for (pid, thread, number), tid in places.tracks():
        name = thread or "thread unknown"
        told = {"name": f"{name} ({number + 1})", "thread": name} if number else {"name": name}
        yield _meta("thread_name", pid, tid, told)


def _lives(recording: Recording, places: Places) -> dict[int, dict[str, Any]]:
    """Threads of each process that is a worker, and when it joined and left, where that is known."""
    told: Any = recording.columns("workers")
    joined_left = {name: told[name] - recording.started for name in ("joined", "left")}
    workers = zip(told["worker"].tolist(), told["threads"].tolist(), strict=True)
    lives: dict[int, dict[str, Any]] = {}
    for row, (worker, threads) in enumerate(workers):
        moments = {name: round(of[row] * 1e6) for name, of in joined_left.items() if np.isfinite(of[row])}
        lives[places.pid(worker)] = {"threads": threads, **moments}
    return lives


def _meta(kind: str, pid: int, tid: int, told: dict[str, Any]) -> str:
    return (
        f'{{"ph":"M","name":"{kind}","pid":{pid},"tid":{tid},"args":{json.dumps(told, ensure_ascii=False)}}}'
    )


def _slices(ran: Ran) -> Iterator[Block]:
    with_result, with_cpu = np.isfinite(ran.nbytes) & (ran.nbytes >= 0), np.isfinite(ran.cpu)
    yield from lines(
        len(ran.ts),
        b',\n{"ph":"X","name":"',
        _words(ran.prefix),
        b'","cat":"task,',
        _words(ran.status),
        b'","pid":',
        Whole(ran.pid),
        b',"tid":',
        Whole(ran.tid),
        b',"ts":',
        Whole(ran.ts),
        b',"dur":',
        Whole(ran.end - ran.ts),
        b',"args":{"key":"',
        Json(ran.key),
        b'","attempt":',
        Whole(ran.attempt),
        Where(with_result, b',"type":"', _words(ran.type), b'","bytes":', Whole(whole(ran.nbytes))),
        Where(with_cpu, b',"cpu_us":', Whole(whole(ran.cpu, 1e-6))),
        b"}}",
    )


def _words(symbols: Symbols) -> Words:
    return Words(symbols.codes, json_words(symbols.names))


def _flows(recording: Recording, ran: Ran) -> Iterator[Block]:
    """An arrow from the attempt that made a result to each that used it."""
    edges: Any = recording.columns("edges")
    task, dependency = edges["task"], edges["dependency"]
    inputs = Inputs(ran.task, is_any(ran.status, ("ok",)), ran.ts, ran.end)
    drawn, most = 0, most_arrows(task, ran.task)
    for first in range(0, len(task), _ARROWS):
        part = slice(first, first + _ARROWS)
        before, after = inputs.of(task[part], dependency[part], max(0, most - drawn))
        number = drawn + np.arange(len(before))
        drawn += len(before)
        yield from lines(
            len(before),
            *_arrow_end(b',\n{"ph":"s",', number, ran.pid[before], ran.tid[before]),
            # An arrow belongs to the slice that is open at its moment.
            Whole(np.maximum(ran.ts[before], ran.end[before] - 1)),
            b"}",
            *_arrow_end(b',\n{"ph":"f","bp":"e",', number, ran.pid[after], ran.tid[after]),
            Whole(ran.ts[after]),
            b"}",
        )
        yield max(0, len(task[part]) - len(before)), b""


def _arrow_end(head: bytes, number: np.ndarray, pid: np.ndarray, tid: np.ndarray) -> tuple[bytes | Part, ...]:
    named = head + b'"cat":"dependency","name":"input","id":'
    return named, Whole(number), b',"pid":', Whole(pid), b',"tid":', Whole(tid), b',"ts":'


class _Span(NamedTuple):
    """Something of a process that lasted, each with a name; what else is told of it is JSON."""

    category: str
    name: Words
    pid: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    told: tuple[bytes | Part, ...]


def _around(recording: Recording, places: Places) -> Iterator[Block]:
    phases: Any = joined(recording.answer, "phases")
    rows = np.flatnonzero(phases["start"] <= phases["stop"])
    name = _pairs(phases["action"], phases["prefix"], rows, "{} {}")
    zero = recording.started
    yield from _asynchronous(
        _Span(
            "phase",
            name,
            places.pids(Symbols(phases["worker"].codes[rows], phases["worker"].names)),
            phases["start"][rows] - zero,
            phases["stop"][rows] - zero,
            (b'"key":"', Json(rows_of(phases["key"], rows)), b'"'),
        )
    )


def _transfers(recording: Recording, places: Places) -> Iterator[Block]:
    transfers: Any = joined(recording.answer, "transfers")
    rows = np.flatnonzero(transfers["start"] <= transfers["stop"])
    ways = Symbols(
        transfers["direction"].codes,
        ["from" if each == "in" else "to" for each in transfers["direction"].names],
    )
    peers = Symbols(transfers["peer"].codes, [each or "unknown" for each in transfers["peer"].names])
    nbytes = transfers["nbytes"][rows]
    zero = recording.started
    yield from _asynchronous(
        _Span(
            "transfer",
            _pairs(ways, peers, rows, "{} {}"),
            places.pids(Symbols(transfers["worker"].codes[rows], transfers["worker"].names)),
            transfers["start"][rows] - zero,
            transfers["stop"][rows] - zero,
            (
                b'"results":',
                Whole(transfers["results"][rows]),
                Where(np.isfinite(nbytes), b',"bytes":', Whole(whole(nbytes))),
            ),
        )
    )


def _pairs(first: Symbols, second: Symbols, rows: np.ndarray, text: str) -> Words:
    """Two columns of names as one."""
    width = len(second.names) + 1
    known, which = np.unique(first.codes[rows].astype("i8") * width + second.codes[rows], return_inverse=True)
    names = [text.format(first.names[code // width], second.names[code % width]) for code in known.tolist()]
    return Words(which, json_words(names))


def _asynchronous(span: _Span) -> Iterator[Block]:
    category = span.category.encode()
    count = len(span.start)
    head = (
        b'"cat":"' + category + b'","name":"',
        span.name,
        b'","id":"' + category[:1],
        Whole(np.arange(count)),
        b'","pid":',
        Whole(span.pid),
        b',"tid":0,"ts":',
    )
    begin, end = Whole(whole(span.start, 1e-6)), Whole(whole(span.stop, 1e-6))
    yield from lines(
        count,
        b',\n{"ph":"b",',
        *head,
        begin,
        b',"args":{',
        *span.told,
        b'}},\n{"ph":"e",',
        *head,
        end,
        b"}",
    )


def _counter(name: str, values: Mapping[str, np.ndarray], pid: np.ndarray, ts: np.ndarray) -> Iterator[Block]:
    known = {column: np.isfinite(of) for column, of in values.items()}
    some = np.any(list(known.values()), axis=0)
    parts: list[bytes | Part] = []
    before = np.zeros(len(ts), bool)
    for column, of in values.items():
        there = known[column]
        told: Iterable[bytes | Part] = (f'"{column}":'.encode(), Fixed(of[some], 3))
        parts += (Where((before & there)[some], b","), Where(there[some], *told))
        before = before | there
    head = f',\n{{"ph":"C","name":"{name}","pid":'.encode()
    yield from lines(
        int(some.sum()),
        head,
        Whole(pid[some]),
        b',"tid":0,"ts":',
        Whole(ts[some]),
        b',"args":{',
        *parts,
        b"}}",
    )
    yield int((~some).sum()), b""
