"""How much memory the system allowed the workers, beside the limit that Dask knows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...tables.processes import of_processes
from .samples import Samples

if TYPE_CHECKING:
    from .facts import Facts


class Allowed(NamedTuple):
    """A limit that workers of one container or job share."""

    #: Those of them that were recorded, in the order in which they came.
    workers: tuple[str, ...]
    #: Bytes that the system allows them together.
    bytes: float
    #: Workers at once, at most, and bytes that Dask lets these use together; infinity if one has no limit.
    at_once: int
    dask: float
    #: Bytes that the processes of all used at once, at most, as far as sampled.
    used: float
    #: Processes that the system killed for memory meanwhile.
    kills: int


def allowed(facts: Facts) -> list[Allowed]:
    """All limits that are known, below what the machines have."""
    table = facts.read("resources")
    if "memory_allowed" not in table or not np.isfinite(table["memory_allowed"]).any():
        return []
    names = ("process", "time", "memory", "memory_allowed", "memory_group", "oom_kills")
    samples = Samples({name: table[name] for name in names})
    shared: dict[Any, dict[str, dict[str, np.ndarray]]] = {}
    for name, worker in facts.workers.items():
        mine = samples.of(name)
        mine = {column: values[mine["memory_allowed"] > 0] for column, values in mine.items()}
        # Local schedulers' processes are no workers that Dask limits.
        if worker["cluster"] and len(mine["time"]):
            group = worker["host"], float(mine["memory_group"][0])
            shared.setdefault(group, {})[name] = mine
    return [_of_group(facts, workers) for workers in shared.values()]


def _of_group(facts: Facts, workers: dict[str, dict[str, np.ndarray]]) -> Allowed:
    at_once = [
        [other for other in workers if _joined(facts, other) <= _joined(facts, name) < facts.left(other)]
        for name in workers
    ]
    most = max(at_once, key=lambda names: (sum(_limit(facts, name) for name in names), len(names)))
    counts = np.concatenate([mine["oom_kills"] for mine in workers.values()])
    counts = counts[np.isfinite(counts)]
    last = list(workers.values())[-1]
    peaks = ((facts.processes[name], float(workers[name]["memory"].max(initial=0.0))) for name in most)
    return Allowed(
        workers=tuple(sorted(workers, key=lambda name: _joined(facts, name))),
        bytes=float(last["memory_allowed"][-1]),
        at_once=len(most),
        dask=sum(_limit(facts, name) for name in most),
        used=of_processes(peaks),
        kills=int(np.ptp(counts)) if len(counts) else 0,
    )


def _joined(facts: Facts, name: str) -> float:
    joined = float(facts.workers[name]["joined"])
    return joined if np.isfinite(joined) else -np.inf


def _limit(facts: Facts, name: str) -> float:
    limit = float(facts.workers[name]["memory_limit"])
    return limit if limit > 0 else np.inf
