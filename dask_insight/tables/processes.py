"""Which workers share a process, as those of `LocalCluster(processes=False)` do."""

from __future__ import annotations

from collections.abc import Mapping
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
