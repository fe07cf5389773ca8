"""What distributed's task stream tells: the list that `get_task_stream` has as ``data``, or it as JSON.

A message for each attempt: key, worker, thread, status, nbytes, typename, and ``startstops``: what was done
when, in seconds since the epoch. JSON files hold what ``json.dump(stream.data, file, default=str)`` writes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...frames import Gap, RecordingError
from ...recording import Recording
from .json_reader import JsonError, JsonReader
from .keys import text_of
from .opened import Told, opened, part, silent
from .tasks import Attempt, Tasks
from .told import facts, number

_NAN = math.nan
_LACKS = {
    "resources": "A task stream holds no samples of CPU, memory or network.",
    "memory": "A task stream holds no memory measures of the workers.",
    "samples": "A task stream holds no call stacks.",
    "metrics": "A task stream holds no fine performance metrics.",
    "spans": "A task stream does not tell spans.",
    "edges": "A task stream does not tell which task needs which.",
    "transfers": "A task stream does not tell which worker sent what to which.",
}


def matches(head: bytes) -> bool:
    """Whether a file that begins so is a task stream."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return text.startswith(b"[") and b'"startstops"' in text


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """JSON files as one recording.

    Raises
    ------
    RecordingError
        If one is no list of such messages; the message says where it ceases to be one.
    """
    stream = _Stream()
    gaps = []
    for place, path in enumerate(paths):
        with opened(path, part(told, place, len(paths))) as source:
            reader = JsonReader(source)
            before = stream.read
            try:
                stream.take(reader.values())
            except JsonError as error:
                if stream.read == before:
                    raise
                gaps.append(error.gap(source))
        if stream.read == before and stream.strange:
            raise RecordingError(f"{path} is no task stream: none of its entries tells a task")
    return stream.recording(paths[0].name.split(".")[0], gaps)


def from_data(data: Iterable[Any]) -> Recording:
    """The same from the list itself.

    Raises
    ------
    RecordingError
        If none of its entries tells a task.
    """
    stream = _Stream()
    stream.take(data)
    if stream.strange and not stream.read:
        raise RecordingError(
            "these are no entries of a task stream: each has key, worker, thread and startstops"
        )
    return stream.recording("task stream", [])


class _Stream:
    """Messages as tasks."""

    def __init__(self) -> None:
        self._tasks = Tasks()
        #: Messages that were taken, and that could not be.
        self.read = 0
        self.strange = 0

    def take(self, messages: Iterable[Any]) -> None:
        """Take messages."""
        for message in messages:
            try:
                self._message(message)
                self.read += 1
            except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError):
                self.strange += 1

    def _message(self, message: Mapping[str, Any]) -> None:
        phases: list[tuple[str, float, float]] = []
        start = stop = _NAN
        for each in message["startstops"] or ():
            action, begin, end = str(each["action"]), number(each["start"]), number(each["stop"])
            if not begin <= end:
                raise ValueError("a time that is no number, or ends before it begins")
            if action == "compute":
                start, stop = begin, end
            else:
                phases.append((action, begin, end))
        task = self._tasks.id(text_of(message["key"]))
        status = str(message.get("status", "OK"))
        run = self._tasks.add(
            Attempt(
                task,
                worker=str(message["worker"]),
                thread=str(message.get("thread") or ""),
                status="ok" if status == "OK" else "erred",
                start=start,
                stop=stop,
                nbytes=number(message.get("nbytes")),
                typename=str(message.get("typename") or ""),
            )
        )
        for phase in phases:
            self._tasks.phase(run, *phase)
        if message.get("exception_text") or message.get("traceback_text"):
            texts = (str(message.get(name) or "") for name in ("exception_text", "traceback_text"))
            self._tasks.error(run, task, *texts)

    def recording(self, name: str, gaps: Iterable[Gap]) -> Recording:
        """The recording."""
        recording = Recording()
        begin, end = self._tasks.span()
        about = {"name": name, "source": "Dask's task stream", "started": begin, "stopped": end}
        recording.append(facts(about, _LACKS))
        for batch in self._tasks.batches():
            recording.append(batch)
        for gap in gaps:
            recording.lost(gap)
        if self.strange:
            recording.tell("lost", f"{self.strange:,} entries of the task stream could not be read")
        if not self.read and not self.strange:
            recording.tell("lost", "no entry of a task stream was given")
        return recording
