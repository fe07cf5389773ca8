"""Which workers share a process, as those of `LocalCluster(processes=False)` do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def processes(workers: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """What tells the process of each worker of the table ``workers``."""
    told = zip(*(workers[name].tolist() for name in ("worker", "host", "pid")), strict=True)
    return {worker: process_of(worker, host, pid) for worker, host, pid in told}


def process_of(worker: str, host: str, pid: float) -> tuple[str, Any]:
    """What tells the process of a worker: its host and process id, or its own name if that is not known."""
    return host, pid if pid > 0 else worker
