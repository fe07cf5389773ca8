"""Collapsed stacks: a line for each stack, frames parted by semicolons, then microseconds.

What `flamegraph.pl` (https://github.com/brendangregg/FlameGraph) and many others read. The outermost
frames are the process and the task name.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..legible import harmless
from .files import replaced
from .progress import Steps, Told, silent
from .stacks import Stacks, seconds_to_micros

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write the stacks."""
    stacks = Stacks(recording)
    names = [_plain(f"{frame.function} ({frame.file}:{frame.line})") for frame in stacks.frames]
    steps = Steps(told, len(stacks))
    with replaced(path) as file:
        for process, _, prefix, stack, seconds in stacks.weights:
            line = ";".join((_plain(process), _plain(prefix) or "-", *(names[frame] for frame in stack)))
            file.write(f"{line} {seconds_to_micros(seconds)}\n".encode("utf-8", "replace"))
            steps.add(1)


def _plain(text: str) -> str:
    """Text that does not part frames or lines, and that may stand in the XML that is made of it."""
    return harmless(" ".join(text.replace(";", ":").split()))
