"""Dask's own HTML files, `performance_report` and the plot of `get_task_stream`, as far as they hold data.

A report holds what its Bokeh figures show: every task as rectangles (key, name, worker, thread, middle and
length in milliseconds, colour), the scheduler's own resources, its log, profiles merged over all workers, and
a summary in words. Nothing of the page is run.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...batch import encode
from ...frames import RecordingError
from ...recording import Recording
from ...schema import NOTHING
from .bokeh import Arrays, Columns, documents, found
from .keys import text_of
from .opened import Told, part, silent, whole
from .stacks import Frame, Stacks
from .system_monitor import MEASURES
from .tasks import Attempt, Tasks
from .told import facts, number
from .told import whole as count

_NAN = math.nan
#: Most bytes of a page.
_MOST = 1024 * 2**20
_TITLES = (b"<title>Dask Performance Report", b"<title>Dask Task Stream")
_STREAM = {"start", "duration", "key", "name", "worker", "worker_thread", "color", "alpha"}
_PROFILE = {"left", "right", "bottom", "name", "filename", "line_number", "time"}
_MONITOR = {"time", "cpu", "memory"}
#: What a rectangle's name begins with if it shows no computing.
_AROUND = ("transfer", "disk-write", "disk-read", "deserialize")
#: Process and thread of a profile by the title of its tab.
_PROCESSES = {
    "Worker Profile (compute)": ("all workers", "task threads"),
    "Worker Profile (administrative)": ("all workers", "event loop"),
    "Scheduler Profile (administrative)": ("scheduler", "event loop"),
}
_LACKS = {
    "memory": "Dask's report holds no memory measures of the workers.",
    "metrics": "Dask's report holds no fine performance metrics.",
    "spans": "Dask's report does not tell spans.",
    "edges": "Dask's report does not tell which task needs which.",
    "samples": "This report holds no profile: no task ran long enough for one.",
    "resources": "This file holds no samples of CPU, memory or network.",
    "transfers": "Dask's report does not tell which worker sent what to which: only which tasks waited.",
}
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "hr": 3600.0, "d": 86400.0}
_PART = re.compile(r"([\d.]+)\s*(us|ms|hr|s|m|d)\b")
# A group that could begin with a blank would be tried at each of many.
_FIGURE = re.compile(r"<li>\s*([A-Za-z.-][A-Za-z. -]{0,39}):\s*([^\s<][^<]{0,199})?</li>")
_DURATION = re.compile(r"Duration:\s*([^\s<][^<]{0,59})<")
_LINE = re.compile(r"(?:^|>)([^<>\n]+)")
_LOG_LINES = 10_000


def matches(head: bytes) -> bool:
    """Whether a file that begins so is such a page."""
    return any(title in head for title in _TITLES)


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """Pages as one recording.

    Raises
    ------
    RecordingError
        If one is no such page, or its data are damaged; the message says where.
    """
    report = _Report()
    for place, path in enumerate(paths):
        page, torn = whole(path, part(told, place, len(paths), 0.5), most=_MOST)
        if torn:
            raise RecordingError(f"{path}: {torn}")
        before = report.sources
        for document in documents(page, path):
            report.take(document, path)
        if report.sources == before:
            raise RecordingError(f"{path} holds no task stream, profile or resource monitor of Dask's")
        told((place + 1) / len(paths))
    return report.recording(paths[0].stem)


class _Report:
    """A page's data as tables in the making."""

    def __init__(self) -> None:
        self._arrays = Arrays()
        self._tasks = Tasks()
        self._stacks = Stacks()
        self._frames: list[Frame] = []
        self._frame_ids: dict[Frame, int] = {}
        self._profiles: list[tuple[tuple[str, str], list[tuple[int, float]]]] = []
        self._resources: list[Columns] = []
        self._log: list[str] = []
        self._summary: dict[str, str] = {}
        self._duration = self._code = ""
        self._bandwidth: dict[str, Any] = {}
        self._strange = 0
        #: Data sources that were known.
        self.sources = 0

    def take(self, document: Any, path: Path) -> None:
        """Take a document of a page."""
        for each in found(document, path, self._arrays):
            names = each.columns.keys()
            if names >= _STREAM:
                self._take_stream(each.columns)
            elif names >= _PROFILE:
                self._take_profile(_PROCESSES.get(each.tab, (each.tab or "profile", "")), each.columns)
            elif names >= _MONITOR:
                self._resources.append(each.columns)
            elif names >= {"bandwidth", "type"} or names >= {"bandwidth", "source", "destination"}:
                self._take_bandwidth(each.columns)
                continue
            else:
                self._take_text(each.tab, each.text)
                continue
            self.sources += 1

    def _take_stream(self, columns: Columns) -> None:
        known = ("key", "name", "worker", "worker_thread", "start", "duration", "color", "alpha")
        last: tuple[Any, Any] = (None, None)
        around: list[tuple[str, float, float]] = []
        computed: tuple[float, float] | None = None
        status = "ok"

        def close() -> None:
            if last[1] is None:
                return
            key, (worker, thread) = last
            begin, end = computed or (_NAN, _NAN)
            task = self._tasks.id(key)
            run = self._tasks.add(Attempt(task, worker, thread, status if computed else "ok", begin, end))
            for phase in around:
                self._tasks.phase(run, *phase)

        for key, name, worker, lane, middle, length, color, alpha in zip(
            *(columns[one] for one in known), strict=True
        ):
            center, width = number(middle) / 1e3, number(length) / 1e3
            if not width >= 0 or math.isnan(center) or alpha == 0:
                self._strange += alpha != 0
                continue
            worker, lane = str(worker), str(lane)
            text = text_of(key)
            place = (text, (worker, lane.removeprefix(worker).removeprefix("-")))
            action = "compute" if alpha == 1 else _action(str(name))
            if place != last or (action == "compute" and computed):
                close()
                last, around, computed, status = place, [], None, "ok"
            if action == "compute":
                computed = (center - width / 2, center + width / 2)
                status = "erred" if color == "black" else "ok"
            else:
                around.append((action, center - width / 2, center + width / 2))
        close()

    def _take_profile(self, place: tuple[str, str], columns: Columns) -> None:
        """Rectangles of a flame graph, callers before what they call, as stacks with their own seconds."""
        rows = zip(
            *(columns[one] for one in ("left", "right", "bottom", "name", "filename", "line_number", "time")),
            strict=True,
        )
        path: list[tuple[int, float, int]] = []
        own: list[list[Any]] = []
        whole_time = 0.0
        for left, right, bottom, name, file, line, time in rows:
            depth, share = count(bottom), number(right) - number(left)
            if not share >= 0 or depth > len(path):
                self._strange += 1
                continue
            if depth == 0:
                whole_time = seconds_of(str(time)) / share if share > 0 else 0.0
            del path[depth:]
            stack = NOTHING
            if depth:
                parent, _, above = path[-1]
                stack = self._stacks.above(parent, self._frame(Frame(str(name), str(file), count(line))))
                if above >= 0:
                    own[above][1] -= share
            path.append((stack, share, len(own)))
            own.append([stack, share])
        seconds = [(stack, share * whole_time) for stack, share in own if stack != NOTHING and share > 1e-9]
        self._profiles.append((place, seconds))

    def _frame(self, frame: Frame) -> int:
        known = self._frame_ids.setdefault(frame, len(self._frames))
        if known == len(self._frames):
            self._frames.append(frame)
        return known

    def _take_bandwidth(self, columns: Columns) -> None:
        if "type" in columns:
            rates = map(number, columns["bandwidth"])
            pairs = list(zip(map(str, columns["type"]), rates, strict=True))[:1_000]
            # These two stand there until a bandwidth is known.
            if [name for name, _ in pairs] != ["a", "b"]:
                self._bandwidth["types"] = dict(pairs)
            return
        rows = zip(columns["source"], columns["destination"], map(number, columns["bandwidth"]), strict=True)
        links = [[str(source), str(target), rate] for source, target, rate in rows][:10_000]
        if [link[:2] for link in links] != [["a", "a"], ["b", "b"]]:
            self._bandwidth["workers"] = links

    def _take_text(self, tab: str, text: str) -> None:
        if tab == "Scheduler Logs":
            if "No logs to report" not in text:
                lines = (html.unescape(line).strip() for line in _LINE.findall(text[: 2**24]))
                self._log += [line for line in lines if line][:_LOG_LINES]
            return
        if "Dask Performance Report" not in text:
            return
        head = text[: 2**20]
        for name, figure in _FIGURE.findall(head):
            self._summary[name.strip()] = html.unescape(figure).strip()
        if duration := _DURATION.search(head):
            self._duration = duration[1].strip()
        _, _, code = text.partition("<pre>")
        code, closed, _ = code.partition("</pre>")
        if closed:
            self._code = html.unescape(code).strip("\n ")[:100_000]

    def recording(self, name: str) -> Recording:
        """The recording."""
        recording = Recording()
        samples = [
            (moment / 1e3, columns, row)
            for columns in self._resources
            for row, moment in enumerate(map(number, columns["time"]))
            if math.isfinite(moment)
        ]
        begin, end = self._tasks.span()
        if math.isnan(begin):
            begin = min((moment for moment, *_ in samples), default=0.0)
            end = max((moment for moment, *_ in samples), default=begin)
        about = {
            "name": name,
            "source": "Dask's performance report",
            "started": begin,
            "stopped": end,
            "summary": self._summary | ({"Duration": self._duration} if self._duration else {}),
        }
        if self._bandwidth:
            about["bandwidth"] = self._bandwidth
        self._tell_workers(begin)
        stacks = list(self._profile_batches(end))
        there = {"resources": samples, "samples": stacks}
        lacks = {table: why for table, why in _LACKS.items() if not there.get(table)}
        recording.append(facts(about, lacks))
        if self._code:
            code = {"submission": [0], "time": [begin], "tasks": [len(self._tasks)], "code": [self._code]}
            recording.append(encode("submissions", code))
        for batch in (*self._tasks.batches(), *stacks):
            recording.append(batch)
        if samples:
            recording.append(_resources(samples))
        if self._log:
            log = {"time": [_NAN] * len(self._log), "source": ["scheduler"] * len(self._log)}
            log |= {"kind": ["log"] * len(self._log), "level": ["info"] * len(self._log)}
            recording.append(encode("events", log | {"message": self._log}))
        if self._strange:
            recording.tell("lost", f"{self._strange:,} entries of the report could not be read")
        if wanted := count(_first_number(self._summary.get("number of tasks", ""))):
            there_are = len(self._tasks.attempts)
            if wanted > there_are:
                recording.tell("lost", f"the report counts {wanted:,} tasks and holds {there_are:,} of them")
        return recording

    def _tell_workers(self, begin: float) -> None:
        """Threads of each worker, where the summary's numbers say that all have the same."""
        told = (self._summary.get(name, "") for name in ("Workers", "Threads"))
        workers, threads = (count(_first_number(text)) for text in told)
        seen: dict[str, set[str]] = {}
        for each in self._tasks.attempts:
            seen.setdefault(each.worker, set()).add(each.thread)
        each_has = threads // workers if workers and threads % workers == 0 else 0
        for worker, lanes in seen.items():
            self._tasks.workers[worker] = {"threads": max(each_has, len(lanes)), "joined": begin}

    def _profile_batches(self, end: float) -> Iterator[bytes]:
        for (process, thread), own in self._profiles:
            for stack, seconds in own:
                if seconds > 0:
                    self._stacks.sample(stack, end, seconds)
            self._stacks.of_thread(process, thread)
        yield from self._stacks.batches(self._frames)


def _resources(samples: Iterable[tuple[float, Columns, int]]) -> bytes:
    rows = list(samples)
    columns: dict[str, Any] = {"process": ["scheduler"] * len(rows), "time": [moment for moment, *_ in rows]}
    for column, name in MEASURES.items():
        columns[column] = [number(told[name][row]) if name in told else _NAN for _, told, row in rows]
    return encode("resources", columns)


def _action(name: str) -> str:
    return next((one for one in _AROUND if name.startswith(one + "-")), "compute")


def seconds_of(text: str) -> float:
    """Seconds of a time that Dask has written for people: ``12.34 s``, ``3m 20s``, ``1hr 5m``."""
    parts = [(number(_float(figure), 0.0), _TIMES[unit]) for figure, unit in _PART.findall(text[:100])]
    return sum(figure * unit for figure, unit in parts)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _first_number(text: str) -> float:
    digits = re.match(r"\s*(\d{1,12})", text)
    return float(digits[1]) if digits else 0.0
