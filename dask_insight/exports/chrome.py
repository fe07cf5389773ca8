"""The Trace Event Format of Chrome's tracing, which Perfetto and chrome://tracing open.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU

A process for each worker, a thread for each of its threads, a slice for each
attempt; what happened around attempts, and transfers, as nestable async
slices; resources and memory as counters; flow arrows from a task to those
that needed its result. Times are microseconds since the recording's start.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .files import replaced
from .lanes import tracks

if TYPE_CHECKING:
    import pandas as pd

    from ..recording import Recording

#: Rows turned into text at a time.
_CHUNK = 50_000
#: Number from which the tracks of attempts that overlap on a thread are counted.
_APART = 1_000_000
#: Counters by table: name of the track, columns and what they are divided by.
_COUNTERS = {
    "resources": (
        ("CPU (%)", ("cpu",), 1.0),
        ("network (MB/s)", ("net_read", "net_write"), 1e6),
        ("disk (MB/s)", ("disk_read", "disk_write"), 1e6),
        ("tasks", ("executing", "ready", "waiting"), 1.0),
        ("event loop lag (ms)", ("lag",), 1e-3),
    ),
    "memory": (("memory (MB)", ("managed", "unmanaged_old", "unmanaged_recent", "spilled"), 1e6),),
}


def write(recording: Recording, path: Path) -> None:
    """Write the trace.

    Parameters
    ----------
    recording
        What to write.
    path
        The file; compressed if its name ends in ``.gz``.
    """
    with replaced(path) as file:
        file.write(b'{"displayTimeUnit":"ms","otherData":')
        about = {name: str(value) for name, value in recording.about.items() if name != "configuration"}
        file.write(json.dumps(about).encode() + b',"traceEvents":[\n')
        first = True
        for text in _events(recording):
            if text:
                file.write(text.encode() if first else b",\n" + text.encode())
                first = False
        file.write(b"\n]}\n")


def _events(recording: Recording) -> Iterator[str]:
    places = _Places(recording)
    tasks = _attempts(recording, places)
    yield ",\n".join(places.names())
    yield from _slices(tasks)
    yield from _flows(recording, tasks)
    yield from _around(recording, places)
    yield from _transfers(recording, places)
    for table, counters in _COUNTERS.items():
        yield from _counters(recording.table(table), counters, places)


class _Places:
    """Numbers of processes and threads."""

    def __init__(self, recording: Recording) -> None:
        self._pids: dict[str, int] = {}
        self._tids: dict[tuple[int, str], int] = {}
        workers = recording.table("workers")
        self._told = dict(
            zip(workers["worker"], zip(workers["name"], workers["host"], strict=True), strict=True)
        )
        for name in ("scheduler", "client", *workers["worker"].drop_duplicates()):
            self.pid(name)

    def pid(self, process: str) -> int:
        """The number of a process."""
        return self._pids.setdefault(process, len(self._pids) + 1)

    def tid(self, pid: int, thread: str) -> int:
        """The number of a thread within its process."""
        known = self._tids.get((pid, thread))
        if known is None:
            known = self._tids[pid, thread] = sum(1 for other, _ in self._tids if other == pid) + 1
        return known

    def pids(self, names: pd.Series) -> np.ndarray:
        """The same for a column of names."""
        found = names.astype("category")
        numbers = np.array([self.pid(str(name)) for name in found.cat.categories] or [0])
        return np.where(found.cat.codes < 0, 0, numbers[found.cat.codes])

    def names(self) -> Iterator[str]:
        """Events that name all that have a number."""
        for process, pid in self._pids.items():
            name, host = self._told.get(process, ("", ""))
            label = " ".join(dict.fromkeys(filter(None, (str(name), process, str(host)))))
            yield _meta("process_name", pid, 0, {"name": label or process})
            yield _meta("process_sort_index", pid, 0, {"sort_index": pid})
        for (pid, thread), tid in self._tids.items():
            yield _meta("thread_name", pid, tid, {"name": thread or "thread unknown"})


def _meta(kind: str, pid: int, tid: int, told: dict[str, Any]) -> str:
    return f'{{"ph":"M","name":"{kind}","pid":{pid},"tid":{tid},"args":{json.dumps(told)}}}'


def _attempts(recording: Recording, places: _Places) -> pd.DataFrame:
    """The attempts that ran, with their process, thread and times in microseconds."""
    tasks = recording.table("tasks")
    tasks = tasks[np.isfinite(tasks["start"])].reset_index(drop=True)
    end = float(np.nanmax([*tasks["stop"].to_numpy(), *tasks["start"].to_numpy(), 0.0]))
    stop = tasks["stop"].fillna(end).to_numpy()
    pid = places.pids(tasks["worker"])
    thread = tasks["thread"].astype("category")
    lane = pid * (len(thread.cat.categories) + 1) + thread.cat.codes.to_numpy()
    track = tracks(lane, tasks["start"].to_numpy(), stop)
    known, which = np.unique(lane * _APART + track, return_inverse=True)
    first = np.zeros(len(known), "i8")
    first[which] = np.arange(len(which))
    names = thread.astype("str")
    tids = [
        places.tid(int(pid[row]), str(names.iloc[row]) + (f" ({track[row] + 1})" if track[row] else ""))
        for row in first.tolist()
    ]
    ran: pd.DataFrame = tasks.assign(
        pid=pid,
        tid=np.array(tids or [0])[which] if len(which) else 0,
        ts=_micros(tasks["start"]),
        end=_micros(stop),
    )
    return ran


def _micros(seconds: Any) -> np.ndarray:
    """Whole microseconds: what ended before another began still does."""
    return np.rint(np.asarray(seconds) * 1e6).astype("i8")


def _chunks(length: int) -> Iterator[slice]:
    for begin in range(0, length, _CHUNK):
        yield slice(begin, begin + _CHUNK)


def _slices(tasks: pd.DataFrame) -> Iterator[str]:
    head, which = _heads(tasks)
    types = tasks["typename"].astype("category")
    kinds = [quoted(str(name)) for name in types.cat.categories]
    columns = (
        which,
        tasks["ts"],
        np.maximum(tasks["end"] - tasks["ts"], 0),
        tasks["key"],
        tasks["attempt"],
        np.where(np.isfinite(tasks["nbytes"]), tasks["nbytes"], -1).astype("i8"),
        np.where(np.isfinite(tasks["cpu"]), _micros(tasks["cpu"].fillna(0.0)), -1),
        types.cat.codes,
    )
    for part in _chunks(len(tasks)):
        yield ",\n".join(
            [
                f'{head[place]}{ts},"dur":{length},"args":{{"key":{quoted(key)},"attempt":{attempt}'
                + (f',"type":{kinds[kind]},"bytes":{nbytes}' if nbytes >= 0 else "")
                + (f',"cpu_us":{cpu}}}}}' if cpu >= 0 else "}}")
                for place, ts, length, key, attempt, nbytes, cpu, kind in zip(
                    *(np.asarray(column)[part].tolist() for column in columns), strict=True
                )
            ]
        )


def _heads(tasks: pd.DataFrame) -> tuple[list[str], np.ndarray]:
    """What many slices begin with, up to their time, and which of them each begins with."""
    name, status = tasks["prefix"].astype("category"), tasks["status"].astype("category")
    parts = (name.cat.codes, status.cat.codes, tasks["pid"], tasks["tid"])
    code = np.zeros(len(tasks), "i8")
    for part in parts:
        code = code * (int(part.max()) + 1 if len(part) else 1) + part.to_numpy("i8")
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    heads = [
        f'{{"ph":"X","name":{quoted(str(name.iloc[row]))},"cat":"task,{status.iloc[row]}",'
        f'"pid":{tasks["pid"].iloc[row]},"tid":{tasks["tid"].iloc[row]},"ts":'
        for row in first.tolist()
    ]
    return heads, which


def _flows(recording: Recording, tasks: pd.DataFrame) -> Iterator[str]:
    """An arrow from the attempt that made a result to each that used it."""
    edges = recording.columns("edges")
    task: Any = edges["task"]
    dependency: Any = edges["dependency"]
    if not len(task) or not len(tasks):
        return
    size = int(max(task.max(), dependency.max(), tasks["task"].max())) + 1
    last = np.full(size, -1, "i8")
    ok = np.flatnonzero((tasks["status"] == "ok").to_numpy())
    last[tasks["task"].to_numpy()[ok]] = ok
    made, used = last[dependency], last[task]
    there = np.flatnonzero((made >= 0) & (used >= 0))
    pid, tid = tasks["pid"].to_numpy(), tasks["tid"].to_numpy()
    ts, end = tasks["ts"].to_numpy(), tasks["end"].to_numpy()
    for part in _chunks(len(there)):
        rows = there[part]
        before, after = made[rows], used[rows]
        # An arrow belongs to the slice that is open at its moment.
        leaves = np.maximum(ts[before], end[before] - 1)
        columns = (rows, pid[before], tid[before], leaves, pid[after], tid[after], ts[after])
        yield ",\n".join(
            [
                f'{{"ph":"s","cat":"dependency","name":"input","id":{row},"pid":{p},"tid":{t},"ts":{at}}},\n'
                f'{{"ph":"f","bp":"e","cat":"dependency","name":"input","id":{row},"pid":{q},"tid":{u},"ts":{to}}}'
                for row, p, t, at, q, u, to in zip(*(column.tolist() for column in columns), strict=True)
            ]
        )


def _around(recording: Recording, places: _Places) -> Iterator[str]:
    phases = recording.table("phases")
    pid = places.pids(phases["worker"])
    names = [f"{action} {prefix}" for action, prefix in zip(phases["action"], phases["prefix"], strict=True)]
    yield from _asynchronous("phase", phases, pid, names, ({"key": key} for key in phases["key"]))


def _transfers(recording: Recording, places: _Places) -> Iterator[str]:
    transfers = recording.table("transfers")
    pid = places.pids(transfers["worker"])
    names = [
        f"{'from' if direction == 'in' else 'to'} {peer or 'unknown'}"
        for direction, peer in zip(transfers["direction"], transfers["peer"], strict=True)
    ]
    told = (
        {"bytes": nbytes, "results": results}
        for nbytes, results in zip(transfers["nbytes"].tolist(), transfers["results"].tolist(), strict=True)
    )
    yield from _asynchronous("transfer", transfers, pid, names, told)


def _asynchronous(
    category: str, table: pd.DataFrame, pid: np.ndarray, names: list[str], told: Iterable[dict[str, Any]]
) -> Iterator[str]:
    lines: list[str] = []
    rows = zip(names, pid.tolist(), table["start"].tolist(), table["stop"].tolist(), told, strict=True)
    for number, (name, process, start, stop, facts) in enumerate(rows):
        if not start <= stop:
            continue
        head = (
            f'"cat":"{category}","name":{quoted(name)},"id":"{category[0]}{number}","pid":{process},"tid":0'
        )
        lines.append(f'{{"ph":"b",{head},"ts":{round(start * 1e6)},"args":{json.dumps(facts)}}}')
        lines.append(f'{{"ph":"e",{head},"ts":{round(stop * 1e6)}}}')
        if len(lines) >= _CHUNK:
            yield ",\n".join(lines)
            lines = []
    yield ",\n".join(lines)


def _counters(
    table: pd.DataFrame, counters: Iterable[tuple[str, tuple[str, ...], float]], places: _Places
) -> Iterator[str]:
    if table.empty:
        return
    pid = places.pids(table["process" if "lag" in table else "worker"])
    ts = _micros(table["time"])
    for name, columns, unit in counters:
        values = np.stack([table[column].to_numpy("f8") / unit for column in columns], axis=1)
        known = np.isfinite(values)
        for part in _chunks(len(table)):
            lines = []
            for process, moment, row, there in zip(
                pid[part].tolist(),
                ts[part].tolist(),
                values[part].round(3).tolist(),
                known[part].tolist(),
                strict=True,
            ):
                told = ",".join(
                    f'"{column}":{value}'
                    for column, value, is_ in zip(columns, row, there, strict=True)
                    if is_
                )
                if told:
                    lines.append(
                        f'{{"ph":"C","name":"{name}","pid":{process},"tid":0,"ts":{moment},"args":{{{told}}}}}'
                    )
            yield ",\n".join(lines)
