"""speedscope's file format: sampled profiles, one for each thread.

https://www.speedscope.app/file-format-schema.json
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .files import replaced
from .stacks import Stacks, Weight

if TYPE_CHECKING:
    from ..recording import Recording

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(recording: Recording, path: Path) -> None:
    """Write the profiles; the outermost frame of each stack is the name of the task that ran."""
    stacks = Stacks(recording)
    frames: list[dict[str, Any]] = [
        {"name": frame.function, "file": frame.file, "line": frame.line} for frame in stacks.frames
    ]
    names: dict[str, int] = {}
    for weight in stacks.weights:
        if weight.prefix and weight.prefix not in names:
            names[weight.prefix] = len(frames)
            frames.append({"name": weight.prefix})
    profiles = [
        _profile(f"{process} {thread}".strip(), list(weights), names)
        for (process, thread), weights in groupby(stacks.weights, lambda each: (each.process, each.thread))
    ]
    told = {
        "$schema": _SCHEMA,
        "name": str(recording.about.get("name") or "Dask computation"),
        "exporter": "dask_insight",
        "shared": {"frames": frames},
        "profiles": profiles,
    }
    with replaced(path) as file:
        file.write(json.dumps(told).encode())


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
