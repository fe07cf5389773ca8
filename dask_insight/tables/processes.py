"""Which workers share a process, as those of `LocalCluster(processes=False)` do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def processes(workers: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """What tells the process of each worker of the table ``workers``."""
    told = zip(*(workers[name].tolist() for name in ("worker", "host", "namespace", "pid")), strict=True)
    return {worker: process_of(worker, *process) for worker, *process in told}


def process_of(worker: str, host: str, namespace: float, pid: float) -> tuple[str, Any]:
    """What tells the process of a worker: its host, and its process id there or in its container.

    Its own name stands for an id that is not known.
    """
    return host, (namespace, pid) if pid > 0 else worker


def of_processes(told: Iterable[tuple[Any, float]]) -> float:
    """The sum of what workers tell of their processes; those that share one tell of the same."""
    most: dict[Any, float] = {}
    for process, amount in told:
        most[process] = max(most.get(process, 0.0), amount)
    return sum(most.values())
