"""Sampled call stacks as formats of profiles want them: frames once, stacks as lists of frames."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..lookup import coded
from ..schema import NOTHING
from ..tables import joined
from ..tables.stacks import DEEPEST

if TYPE_CHECKING:
    from ..recording import Recording


#: Frames that every stack has, if it is as deep: the innermost.
_INNERMOST = 64
#: More that all have together, for each that is known and besides.
_USUAL, _BESIDES = 64, 4_000_000


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
    """

    def __init__(self, recording: Recording) -> None:
        table: Any = recording.columns("stacks")
        known: dict[Frame, int] = {}
        rows = zip(
            table["stack"].tolist(),
            table["parent"].tolist(),
            table["function"].tolist(),
            table["file"].tolist(),
            table["line"].tolist(),
            table["first_line"].tolist(),
            strict=True,
        )
        #: Caller, frame and depth of each stack; one that is too deep is as the last that is not.
        self._callers: dict[int, tuple[int, int, int]] = {}
        for stack, parent, function, file, line, first in rows:
            frame = known.setdefault(Frame(function, file, line, first), len(known))
            caller = self._callers.get(parent, (NOTHING, 0, 0))
            deep = caller[2] >= DEEPEST
            self._callers[stack] = caller if deep else (parent, frame, caller[2] + 1)
        self.frames = list(known)
        self._sum(joined(recording.answer, "samples"))

    def _sum(self, samples: Any) -> None:
        """Seconds by process, thread, task name and stack, in the order of their names."""
        self._names = {name: sorted(set(samples[name].names)) for name in ("process", "thread", "prefix")}
        process, thread, prefix = (coded(samples[name], names) for name, names in self._names.items())
        # Two pairs and their pair, so that no product of four counts need fit 64 bits.
        places, place = np.unique(process * len(self._names["thread"]) + thread, return_inverse=True)
        whats, what = np.unique((prefix << 32) | samples["stack"], return_inverse=True)
        found, which = np.unique(place * max(1, len(whats)) + what, return_inverse=True)
        seconds = np.bincount(which, np.nan_to_num(samples["duration"]), len(found))
        found, self._seconds = found[seconds > 0], seconds[seconds > 0]
        at, of = np.divmod(found, max(1, len(whats)))
        self._place = np.divmod(places[at], max(1, len(self._names["thread"])))
        self._what = whats[of]

    def __len__(self) -> int:
        return len(self._seconds)

    @property
    def weights(self) -> Iterator[Weight]:
        """Sums, process by process, thread by thread."""
        processes, threads, prefixes = self._names.values()
        room = _USUAL * len(self._callers) + _BESIDES
        rows = zip(
            *(each.tolist() for each in self._place), self._what.tolist(), self._seconds.tolist(), strict=True
        )
        for process, thread, what, seconds in rows:
            stack = self._path(what & NOTHING, DEEPEST if room > 0 else _INNERMOST)
            room -= max(0, len(stack) - _INNERMOST)
            yield Weight(processes[process], threads[thread], prefixes[what >> 32], stack, seconds)

    @property
    def prefixes(self) -> list[str]:
        """Names of the tasks that ran in them."""
        ran = np.unique(self._what >> 32).tolist()
        return [name for rank in ran if (name := self._names["prefix"][rank])]

    def threads(self) -> Iterator[tuple[str, str, Iterator[Weight]]]:
        """The same for one thread of a process after another."""
        for (process, thread), weights in groupby(self.weights, lambda each: (each.process, each.thread)):
            yield process, thread, weights

    def _path(self, stack: int, most: int) -> tuple[int, ...]:
        frames: list[int] = []
        # A damaged table may name a stack that is not there, or go round in circles.
        while stack in self._callers and len(frames) < most:
            stack, frame, _ = self._callers[stack]
            frames.append(frame)
        return tuple(reversed(frames))


def seconds_to_micros(seconds: float) -> int:
    """Whole microseconds, at least one: a sample that was seen does not vanish."""
    return max(1, int(np.rint(seconds * 1e6)))
