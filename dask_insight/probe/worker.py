"""The worker's side of the probe."""

from __future__ import annotations

from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin


class Probe(WorkerPlugin):
    """Collects on a worker and pushes to the scheduler's probe."""

    idempotent = True

    def __init__(self, package: str, name: str) -> None:
        self.package = package
        self.name = name

    def setup(self, worker: Any) -> None:
        self.worker = worker
