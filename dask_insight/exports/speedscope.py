"""speedscope's file format: sampled profiles, one for each thread.

https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..sources.files.speedscope import APART, EXPORTER
from .files import replaced
from .progress import Steps, Told, silent
from .stacks import Stacks

if TYPE_CHECKING:
    from ..recording import Recording

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write the profiles; the outermost frame of each stack is the name of the task that ran."""
    stacks = Stacks(recording)
    frames: list[dict[str, Any]] = [
        {"name": frame.function, "file": frame.file, "line": frame.line} for frame in stacks.frames
    ]
    names: dict[str, int] = {}
    for name in stacks.prefixes:
        names[name] = len(frames)
        frames.append({"name": name})
    about = {
        "$schema": _SCHEMA,
        "name": str(recording.about.get("name") or "Dask computation"),
        "exporter": EXPORTER,
        "shared": {"frames": frames},
    }
    steps = Steps(told, len(stacks))
    shown, most = 0, 0.0
    with replaced(path) as file:
        file.write(json.dumps(about)[:-1].encode() + b', "profiles": [\n')
        for number, (process, thread, weights) in enumerate(stacks.threads()):
            file.write(_begin(f"{process}{APART}{thread}" if thread else process, number))
            seconds, in_tasks = array("d"), 0.0
            for each in weights:
                sample = [*([names[each.prefix]] if each.prefix else []), *each.stack]
                file.write((b", " if seconds else b"") + json.dumps(sample).encode())
                seconds.append(each.seconds)
                in_tasks += each.seconds if each.prefix else 0.0
                steps.add(1)
            shown, most = (number, in_tasks) if in_tasks > most else (shown, most)
            file.write(_end(seconds.tolist()))
        # What it shows first: the thread that was busy with tasks for longest.
        file.write(f'\n], "activeProfileIndex": {shown}}}\n'.encode())


def _begin(name: str, number: int) -> bytes:
    """A profile up to its samples, which go on for as long as there are any."""
    about = {"type": "sampled", "name": name, "unit": "seconds", "startValue": 0}
    comma = ",\n" if number else ""
    return f'{comma}{json.dumps(about)[:-1]}, "samples": ['.encode()


def _end(seconds: list[float]) -> bytes:
    return f'], "weights": {json.dumps(seconds)}, "endValue": {json.dumps(sum(seconds))}}}'.encode()
