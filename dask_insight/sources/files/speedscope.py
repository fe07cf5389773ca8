"""speedscope's files as recordings: sampled and evented profiles, ours and other tools'.

https://www.speedscope.app/file-format-schema.json

Each profile becomes the samples of a thread, one after another from second 0 on: such files have no date.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...frames import Gap, RecordingError
from ...recording import Recording
from ...schema import NOTHING
from .json_reader import JsonError, JsonReader
from .opened import Source, Told, opened, part, silent
from .stacks import Frame, Stacks
from .told import facts, number, whole

#: Who writes our own exports, and what stands between process and thread there; names of either have spaces.
EXPORTER, APART = "dask_insight@2", " · "
#: The same for each form that they have had.
_APART = {EXPORTER: APART, "dask_insight": " "}
_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9, "none": 1.0}
_LACKS = {
    "attempts": "A speedscope file holds call stacks only: no tasks.",
    "workers": "A speedscope file tells no workers; its threads stand in the flame graph.",
    "resources": "A speedscope file holds no samples of CPU, memory or network.",
    "memory": "A speedscope file holds no memory measures.",
    "metrics": "A speedscope file holds no fine performance metrics.",
    "spans": "A speedscope file tells no spans.",
    "edges": "A speedscope file tells no tasks that need one another.",
    "transfers": "A speedscope profile knows of no workers that send each other data.",
}


def matches(head: bytes) -> bool:
    """Whether a file that begins so is speedscope's."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return text.startswith(b"{") and (b"speedscope.app/file-format-schema" in text or _looks(text))


def _looks(text: bytes) -> bool:
    return b'"shared"' in text and b'"frames"' in text and b'"traceEvents"' not in text


def read(paths: Sequence[Path], told: Told = silent) -> Recording:
    """Profiles as one recording.

    Raises
    ------
    RecordingError
        If a file is none of speedscope's; the message says where it ceases to be one.
    """
    profiles = _Profiles()
    for place, path in enumerate(paths):
        with opened(path, part(told, place, len(paths))) as source:
            profiles.take(source)
    return profiles.recording(paths[0].name.split(".")[0])


class _Profiles:
    """Profiles as samples."""

    def __init__(self) -> None:
        self._stacks = Stacks()
        self._frames: list[Frame] = []
        self._name = ""
        self._gaps: list[Gap] = []
        self._notes: list[str] = []

    def take(self, source: Source) -> None:
        """Take a file."""
        reader = JsonReader(source)
        first = len(self._frames)
        state = _File(self._stacks, first)
        try:
            for key in reader.fields():
                if key == "shared":
                    for name in reader.fields():
                        if name == "frames":
                            self._frames += map(_frame, reader.values())
                        else:
                            reader.skip()
                elif key == "profiles":
                    for place in reader.items():
                        state.profile(reader, place)
                elif key == "name":
                    self._name = self._name or str(reader.value() or "")
                elif key == "exporter":
                    state.exporter = str(reader.value())
                else:
                    reader.skip()
        except JsonError as error:
            if not len(self._stacks):
                raise
            self._gaps.append(error.gap(source))
            state.close("the last profile")
        if not state.profiles:
            raise RecordingError(f"{source.path} is no speedscope file: it has no profiles")
        self._notes += state.notes

    def recording(self, name: str) -> Recording:
        """The recording."""
        recording = Recording()
        about = {
            "name": self._name or name,
            "source": "speedscope",
            "started": 0.0,
            "stopped": self._stacks.end(),
        }
        recording.append(facts(about, _LACKS))
        for batch in self._stacks.batches(self._frames):
            recording.append(batch)
        for gap in self._gaps:
            recording.lost(gap)
        for note in self._notes:
            recording.tell("lost", note)
        recording.tell("clock", "speedscope's files have no date: seconds count from the beginning.")
        return recording


def _frame(told: Any) -> Frame:
    if not isinstance(told, dict):
        return Frame("?")
    return Frame(str(told.get("name", "?")), str(told.get("file") or ""), whole(told.get("line")))


class _File:
    """The profiles of one file."""

    def __init__(self, stacks: Stacks, first: int) -> None:
        self._stacks = stacks
        #: Number of the file's first frame among those of all files.
        self._first = first
        self.exporter = ""
        self.notes: list[str] = []
        self.profiles = 0
        self._begin()

    def _begin(self) -> None:
        self._about: dict[str, Any] = {}
        self._seen = array("q")
        self._weights = array("d")
        #: Stack that is open from a value on, as events tell.
        self._events: list[tuple[float, int]] = []
        self._strange = 0

    def profile(self, reader: JsonReader, place: int) -> None:
        """Take a profile."""
        self._begin()
        self.profiles += 1
        for key in reader.fields():
            if key == "samples":
                for stack in reader.values():
                    self._seen.append(self._stack(stack))
            elif key == "weights":
                self._weights.extend(number(weight, 0.0) for weight in reader.values())
            elif key == "events":
                self._take_events(reader)
            elif key in ("type", "name", "unit", "startValue"):
                self._about[key] = reader.value()
            else:
                reader.skip()
        self.close(f"profile {place + 1}")

    def _stack(self, frames: Any) -> int:
        if not isinstance(frames, list) or not all(type(frame) is int for frame in frames):
            self._strange += 1
            return NOTHING
        return self._stacks.of([self._first + frame for frame in frames if 0 <= frame < 2**32])

    def _take_events(self, reader: JsonReader) -> None:
        open_: list[tuple[int, int]] = []
        top = NOTHING
        for event in reader.values():
            try:
                kind, frame, at = event["type"], event["frame"], number(event["at"])
                if type(frame) is not int or not 0 <= frame < 2**32 or math.isnan(at):
                    raise ValueError("no frame, or no time")
            except (KeyError, TypeError, ValueError):
                self._strange += 1
                continue
            if kind == "O":
                open_.append((frame, top))
                top = self._stacks.above(top, self._first + frame)
            elif open_ and open_[-1][0] == frame:
                _, top = open_.pop()
            else:
                self._strange += 1
                continue
            self._events.append((at, top))

    def close(self, place: str) -> None:
        """End a profile: its samples are added, so far as they have come."""
        title = str(self._about.get("name") or place)
        unit = str(self._about.get("unit", "none"))
        scale = _SECONDS.get(unit)
        if scale is None:
            self.notes.append(f"{title} counts {unit[:40]}, not time: it was left out")
            return self._begin()
        before = len(self._stacks)
        self._sampled(scale)
        self._evented(scale)
        if len(self._stacks) > before:
            if unit == "none":
                self.notes.append(f"{title} has no unit: 1 stands for 1 s")
            process, thread = title, ""
            if apart := _APART.get(self.exporter):
                process, _, thread = title.partition(apart)
            self._stacks.of_thread(process, thread)
        if self._strange:
            self.notes.append(f"{self._strange:,} entries of {title} could not be read")
        return self._begin()

    def _sampled(self, scale: float) -> None:
        time = 0.0
        missing = len(self._seen) - len(self._weights)
        if missing > 0:
            self._strange += missing
        for stack, weight in zip(self._seen, self._weights, strict=False):
            duration = max(0.0, weight * scale)
            time += duration
            if duration > 0:
                self._stacks.sample(stack, time, duration)

    def _evented(self, scale: float) -> None:
        if not self._events:
            return
        first, top = self._events[0]
        last = first
        for at, stack in self._events[1:]:
            if at > last:
                if top != NOTHING:
                    self._stacks.sample(top, (at - first) * scale, (at - last) * scale)
                last = at
            top = stack
