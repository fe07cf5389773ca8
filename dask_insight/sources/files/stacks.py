"""Call stacks of another tool's file, as tables in the making."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...batch import Symbols, encode, intern
from ...schema import NOTHING
from ...tables.stacks import DEEPEST


class Frame(NamedTuple):
    """A function, and the line of it that ran; 0 if unknown."""

    function: str
    file: str = ""
    line: int = 0


class Stacks:
    """Columns of `stacks` and `samples`. Frames go by numbers, which are resolved at the end."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], int] = {}
        self._depth = array("H")
        self._process: list[tuple[str, str, int]] = []
        self._time, self._duration = array("d"), array("d")
        self._stack, self._run = array("L"), array("L")

    def __len__(self) -> int:
        return len(self._time)

    def above(self, parent: int, frame: int) -> int:
        """The stack of a frame above another stack, `NOTHING` at the bottom; that one, if it is too deep."""
        depth = 0 if parent == NOTHING else self._depth[parent]
        if depth >= DEEPEST:
            return parent
        stack = self._known.setdefault((parent, frame), len(self._known))
        if stack == len(self._depth):
            self._depth.append(depth + 1)
        return stack

    def of(self, frames: Sequence[int]) -> int:
        """The stack of these frames, the outermost first."""
        stack = NOTHING
        for frame in frames[:DEEPEST]:
            stack = self.above(stack, frame)
        return stack

    def sample(self, stack: int, time: float, duration: float, run: int = NOTHING) -> None:
        """Add what was seen for some seconds, up to a moment, in an attempt."""
        self._time.append(time)
        self._duration.append(duration)
        self._stack.append(stack)
        self._run.append(run)

    def of_thread(self, process: str, thread: str) -> None:
        """Say whose samples those were that have come since this was last called."""
        self._process.append((process, thread, len(self._time)))

    def end(self) -> float:
        """The last moment; 0 if there is none."""
        return max(self._time, default=0.0)

    def batches(self, frames: Sequence[Frame]) -> Iterator[bytes]:
        """The tables; `frames` by their numbers, what is seen in a missing one counts for its caller."""
        if not self._time:
            return
        parent, frame = np.array(list(self._known) or [(NOTHING, 0)], "i8").T
        there = (frame >= 0) & (frame < len(frames)) if len(frames) else np.zeros(len(frame), bool)
        kept = np.full(len(frame) + 1, NOTHING, "i8")
        number = 0
        for stack in range(len(frame)):
            above = kept[-1] if parent[stack] == NOTHING else kept[parent[stack]]
            kept[stack] = above
            if there[stack]:
                kept[stack] = number
                parent[stack] = above
                number += 1
        rows = np.flatnonzero(there)
        if len(rows):
            shown = [frames[each] for each in frame[rows].tolist()]
            yield encode(
                "stacks",
                {
                    "stack": np.arange(len(rows), dtype="u4"),
                    "parent": parent[rows].astype("u4"),
                    "function": intern([each.function for each in shown]),
                    "file": intern([each.file for each in shown]),
                    "line": np.array([each.line for each in shown], "u4"),
                },
            )
        seen = np.frombuffer(self._stack, f"u{self._stack.itemsize}")
        places = list(dict.fromkeys(self._process))
        codes = np.repeat(np.arange(len(places), dtype="u4"), np.diff([0, *(end for *_, end in places)]))
        yield encode(
            "samples",
            {
                "process": Symbols(codes, [process for process, _, _ in places]),
                "thread": Symbols(codes, [thread for _, thread, _ in places]),
                "time": np.array(self._time),
                "duration": np.array(self._duration),
                "stack": kept[np.minimum(seen, len(frame)).astype("i8")].astype("u4"),
                "run": np.frombuffer(self._run, f"u{self._run.itemsize}").astype("u4"),
            },
        )
