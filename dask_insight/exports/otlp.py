"""OpenTelemetry spans as OTLP JSON, which its collector's file receiver and many back ends take.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/

Each line is a whole request of some hundred spans; a small recording is one. One trace: a root span for the
recording, one for each submission, and one for each attempt, which links to the attempts whose results it
used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..batch import Symbols
from ..lookup import fill, is_any, spread
from ..tables import joined
from ..tables.facts import part_of_run
from .files import replaced
from .inputs import Inputs, most_arrows
from .lines import Fixed, Hex, Json, Part, Where, Whole, Words, json_words, lines, rows_of, whole
from .progress import Steps, Told, silent

if TYPE_CHECKING:
    from ..recording import Recording

_ROOT, _SUBMISSION, _ATTEMPT = 1 << 62, 1 << 61, 1 << 60
_INTERNAL, _OK, _ERROR = 1, 1, 2
#: Ends of attempts that are no error: Dask, or whoever asked for them, took the task back.
_TAKEN_BACK = ("cancelled", "stolen", "rescheduled")
#: Most microseconds since the epoch whose nanoseconds are a number of 64 bits.
_LAST = 9 * 10**15
#: Bytes of spans on a line, of which the collector's receiver takes 1 MiB; and most links of a span.
_LINE, _LINKS = 1 << 19, 4_096


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write the spans."""
    about = recording.about
    name = str(about.get("name") or "Dask computation")
    service = [_attribute("service.name", "dask"), _attribute("dask.recording", name)]
    head = json.dumps({"attributes": service})
    scope = json.dumps({"name": "dask_insight"})
    trace = hashlib.sha256(f"{name} {recording.started!r}".encode("utf-8", "replace")).hexdigest()[:32]
    ran = _Ran(recording)
    before = f'{{"resourceSpans":[{{"resource":{head},"scopeSpans":[{{"scope":{scope},"spans":['.encode()
    frame = (json.dumps(span).encode() for span in _frame(recording, ran, name, trace))
    steps = Steps(told, len(ran.run))
    with replaced(path) as file:
        for spans in _by_line(chain(frame, _attempts(ran, trace, steps))):
            file.writelines((before, spans, b"]}]}]}\n"))


def _by_line(spans: Iterable[bytes]) -> Iterator[bytes]:
    """The spans of each line, with commas between them."""
    some: list[bytes] = []
    size = 0
    for span in spans:
        if some and size + len(span) > _LINE:
            yield b",".join(some)
            some, size = [], 0
        some.append(span)
        size += len(span) + 1
    yield b",".join(some)


class _Ran:
    """The attempts that ran and ended; begin and end in nanoseconds since the epoch."""

    def __init__(self, recording: Recording) -> None:
        tasks: Any = joined(recording.answer, "tasks")
        # One that was killed with its worker has only the moment when that was known.
        ended = fill(tasks["stop"], tasks["done"])
        rows = np.flatnonzero(np.isfinite(tasks["start"]) & np.isfinite(ended))
        self.run, self.task = tasks["run"][rows].astype("i8"), tasks["task"][rows]
        self.start = _nanos(tasks["start"][rows])
        self.stop = np.maximum(self.start, _nanos(ended[rows]))
        self.key = rows_of(tasks["key"], rows)
        self.nbytes, self.cpu = tasks["nbytes"][rows], tasks["cpu"][rows]
        self.names = {
            name: Symbols(tasks[name].codes[rows], tasks[name].names)
            for name in ("prefix", "group", "worker", "thread", "status", "typename")
        }
        self.submission = tasks["submission"][rows]
        self.known = recording.table("submissions")
        submitted = np.isin(self.submission, self.known["submission"].to_numpy())
        self.parent = np.where(submitted, _SUBMISSION | self.submission.astype("i8"), _ROOT)
        self._link(recording)

    def _link(self, recording: Recording) -> None:
        """Runs that made what each attempt used: `inputs` from `first` to `last`, without those `dropped`."""
        edges: Any = recording.columns("edges")
        inputs = Inputs(self.task, is_any(self.names["status"], ("ok",)), self.start, self.stop)
        task, dependency = edges["task"], edges["dependency"]
        made, used = inputs.of(task, dependency, most_arrows(task, self.task))
        order = np.argsort(used, kind="stable")
        self.inputs = self.run[made[order]]
        rows = np.arange(len(self.run))
        self.first = np.searchsorted(used[order], rows)
        last = np.searchsorted(used[order], rows, "right")
        self.last = np.minimum(last, self.first + _LINKS)
        self.dropped = inputs.counts(task, dependency) - (self.last - self.first)


def _nanos(seconds: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(whole(seconds, 1e-6), 0, _LAST) * 1_000)


def _frame(recording: Recording, ran: _Ran, name: str, trace: str) -> Iterator[dict[str, Any]]:
    """The spans of the recording and of its submissions."""

    def span(identity: int, parent: int, title: str, start: int, stop: int) -> dict[str, Any]:
        told: dict[str, Any] = {
            "traceId": trace,
            "spanId": f"{identity:016x}",
            "name": title,
            "kind": _INTERNAL,
            "startTimeUnixNano": str(start),
            "endTimeUnixNano": str(max(start, stop)),
        }
        return told | ({"parentSpanId": f"{parent:016x}"} if parent else {})

    zero = recording.started
    # What reaches into a part from before it is within its span, as what goes on after it is.
    starts = [max(zero, part_of_run(recording.columns)[0]), *(zero + ran.known["time"])]
    began = int(min(_nanos(np.array(starts)).min(), ran.start.min(initial=_LAST * 1_000)))
    yield span(_ROOT, 0, name, began, int(ran.stop.max(initial=began)))
    numbers, which = np.unique(ran.submission, return_inverse=True)
    last = np.zeros(len(numbers), "i8")
    np.maximum.at(last, which, ran.stop)
    ends = dict(zip(numbers.tolist(), last.tolist(), strict=True))
    for row in ran.known.to_dict("records"):
        number = int(row["submission"])
        where = f"{row['file']}:{row['line']}" if row["file"] else f"submission {number}"
        start = int(_nanos(np.array([zero + row["time"]]))[0])
        told = span(_SUBMISSION | number, _ROOT, where, start, ends.get(number, start))
        yield told | {"attributes": [*_place(row), _attribute("dask.tasks", int(row["tasks"]))]}


def _place(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Where a submission stands; its code may hold what is to go to no tracing back end."""
    if not row["file"]:
        return []
    place = [
        _attribute("code.file.path", str(row["file"])),
        _attribute("code.line.number", int(row["line"])),
    ]
    return place + ([_attribute("code.function.name", str(row["function"]))] if row["function"] else [])


def _attempts(ran: _Ran, trace: str, steps: Steps) -> Iterator[bytes]:
    """The spans of the attempts."""
    status = ran.names["status"]
    codes = [json.dumps(_status(name)).encode() for name in status.names]
    for rows, text in lines(
        len(ran.run),
        f'{{"traceId":"{trace}","spanId":"'.encode(),
        Hex(ran.run | _ATTEMPT),
        b'","name":"',
        Words(ran.names["prefix"].codes, json_words(ran.names["prefix"].names)),
        f'","kind":{_INTERNAL},"startTimeUnixNano":"'.encode(),
        Whole(ran.start),
        b'","endTimeUnixNano":"',
        Whole(ran.stop),
        b'","parentSpanId":"',
        Hex(ran.parent),
        b'","attributes":[{"key":"dask.key","value":{"stringValue":"',
        Json(ran.key),
        b'"}}',
        *(_named(name, ran.names[name]) for name in ("group", "worker", "thread", "status", "typename")),
        _figure("nbytes", "intValue", ran.nbytes, b'"', Whole(whole(ran.nbytes)), b'"'),
        _figure("cpu", "doubleValue", ran.cpu, Fixed(ran.cpu, 6)),
        b'],"status":',
        Words(status.codes, codes),
        Where(ran.last > ran.first, b',"links":[', _Links(ran.first, ran.last, ran.inputs, trace), b"]"),
        Where(ran.dropped > 0, b',"droppedLinksCount":', Whole(ran.dropped)),
        b"}\n",
    ):
        yield from text.splitlines()
        steps.add(rows)


def _named(name: str, symbols: Symbols) -> Words:
    """An attribute of few values; none where there is none."""
    told = [
        b"," + json.dumps(_attribute(f"dask.{name}", text)).encode() if text else b""
        for text in symbols.names
    ]
    return Words(symbols.codes, told)


def _figure(name: str, kind: str, values: np.ndarray, *parts: bytes | Part) -> Where:
    """An attribute that is a number, where there is one."""
    return Where(np.isfinite(values), f',{{"key":"dask.{name}","value":{{"{kind}":'.encode(), *parts, b"}}")


class _Links:
    """Links to the attempts whose results each used."""

    def __init__(self, first: np.ndarray, last: np.ndarray, inputs: np.ndarray, trace: str) -> None:
        self._first, self._last, self._inputs, self._trace = first, last, inputs, trace
        self._before = f',{{"traceId":"{trace}","spanId":"'.encode()
        self._size = len(self._before) + Hex.width + 2

    def __getitem__(self, rows: slice) -> _Links:
        return _Links(self._first[rows], self._last[rows], self._inputs, self._trace)

    @property
    def width(self) -> int:
        return self._size * int((self._last - self._first).max(initial=0))

    def fill(self, out: np.ndarray) -> None:
        row, link = spread(self._first, self._last)
        text = np.empty((len(link), self._size), "u1")
        begin = len(self._before)
        text[:, :begin] = np.frombuffer(self._before, "u1")
        Hex(self._inputs[link] | _ATTEMPT).fill(text[:, begin : begin + Hex.width])
        text[:, begin + Hex.width :] = np.frombuffer(b'"}', "u1")
        # No comma before the first of a row.
        text[link == self._first[row], 0] = 0
        inside = np.arange(out.shape[1]) < (self._size * (self._last - self._first))[:, None]
        out[inside] = text.reshape(-1)


def _attribute(name: str, value: str | int) -> dict[str, Any]:
    if isinstance(value, int):
        return {"key": name, "value": {"intValue": str(value)}}
    return {"key": name, "value": {"stringValue": value}}


def _status(end: str) -> dict[str, Any]:
    """How an attempt ended, as OpenTelemetry has it: a message goes with an error alone."""
    if end == "ok":
        return {"code": _OK}
    return {} if end in _TAKEN_BACK else {"code": _ERROR, "message": end}
