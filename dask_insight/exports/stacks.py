"""Sampled call stacks as formats of profiles want them: frames once, stacks as lists of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..recording import Recording

_NOTHING = 0xFFFF_FFFF


class Frame(NamedTuple):
    """A function at the line that was running."""

    function: str
    file: str
    line: int
    first_line: int


class Weight(NamedTuple):
    """Seconds for which a thread of a process was seen in one stack while tasks of one name ran."""

    process: str
    thread: str
    #: '' outside tasks.
    prefix: str
    #: Frames by their numbers, the outermost first.
    stack: tuple[int, ...]
    seconds: float


class Stacks:
    """The stacks of a recording, summed by process, thread and task name.

    Attributes
    ----------
    frames
        Every frame.
    weights
        Sums, process by process, thread by thread.
    """

    def __init__(self, recording: Recording) -> None:
        table = recording.table("stacks")
        known: dict[Frame, int] = {}
        rows = zip(
            table["stack"].tolist(),
            table["parent"].tolist(),
            table["function"].astype("str").tolist(),
            table["file"].astype("str").tolist(),
            table["line"].tolist(),
            table["first_line"].tolist(),
            strict=True,
        )
        self._parent: dict[int, tuple[int, int]] = {}
        for stack, parent, function, file, line, first in rows:
            frame = known.setdefault(Frame(function, file, line, first), len(known))
            self._parent[stack] = (parent, frame)
        self.frames = list(known)
        self._paths: dict[int, tuple[int, ...]] = {_NOTHING: ()}
        self.weights = self._summed(recording)

    def _summed(self, recording: Recording) -> list[Weight]:
        samples = recording.table("samples")
        if samples.empty:
            return []
        by = ["process", "thread", "prefix", "stack"]
        named = samples[by].astype({"process": "str", "thread": "str", "prefix": "str"}).fillna("")
        sums = samples["duration"].groupby([named[name] for name in by], sort=True).sum()
        return [
            Weight(process, thread, prefix, self._path(int(stack)), float(seconds))
            for (process, thread, prefix, stack), seconds in sums.items()
            if seconds > 0
        ]

    def _path(self, stack: int) -> tuple[int, ...]:
        todo: list[int] = []
        at = stack
        # A damaged table may name a stack that is not there, or go round in circles.
        while at not in self._paths and at in self._parent and len(todo) <= len(self._parent):
            todo.append(at)
            at = self._parent[at][0]
        path = self._paths.get(at, ())
        for at in reversed(todo):
            path = self._paths[at] = (*path, self._parent[at][1])
        return path


def seconds_to_micros(seconds: float) -> int:
    """Whole microseconds, at least one: a sample that was seen does not vanish."""
    return max(1, int(np.rint(seconds * 1e6)))
