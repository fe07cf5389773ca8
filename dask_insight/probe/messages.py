"""Numbers packed for a message from one process to the recorder."""

from __future__ import annotations

from array import array
from typing import Any

_NAN = float("nan")


def packed_rows(rows: list[dict[str, float]]) -> dict[str, bytes]:
    """Rows of numbers as columns of doubles, NaN where a row lacks one."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: array("d", [row.get(name, _NAN) for row in rows]).tobytes() for name in names}


def losses(**collectors: Any) -> dict[str, int]:
    """What collectors dropped since the last call, by ``lost_`` and a collector's name; counts begin anew."""
    told = {}
    for name, collector in collectors.items():
        if collector is not None and collector.dropped:
            told[f"lost_{name}"], collector.dropped = collector.dropped, 0
    return told


def packed_profile(drained: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What a sampler gave, with the samples' numbers packed."""
    samples = drained["samples"]
    numbers = {name: samples[name].tobytes() for name in ("time", "duration", "stack", "run")}
    return {
        "frames": drained["frames"],
        "samples": numbers | {"thread": samples["thread"]},
        "sampling": drained["sampling"],
    }
