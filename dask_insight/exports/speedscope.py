"""speedscope's file format: sampled profiles, one for each thread.

https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..sources.files.speedscope import APART, EXPORTER
from .files import replaced
from .progress import Steps, Told, silent
from .stacks import Stacks, Weight

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
            profile = _profile(f"{process}{APART}{thread}" if thread else process, weights, names)
            in_tasks = sum(each.seconds for each in weights if each.prefix)
            shown, most = (number, in_tasks) if in_tasks > most else (shown, most)
            file.write((b",\n" if number else b"") + json.dumps(profile).encode())
            steps.add(len(weights))
        # What it shows first: the thread that was busy with tasks for longest.
        file.write(f'\n], "activeProfileIndex": {shown}}}\n'.encode())


def _profile(name: str, weights: list[Weight], names: dict[str, int]) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": name,
        "unit": "seconds",
        "startValue": 0,
        "endValue": sum(each.seconds for each in weights),
        "samples": [[*([names[each.prefix]] if each.prefix else []), *each.stack] for each in weights],
        "weights": [each.seconds for each in weights],
    }
