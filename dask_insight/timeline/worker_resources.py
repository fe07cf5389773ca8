"""The resources that workers have, as `dask worker --resources` gives them."""

from __future__ import annotations

from ..tables.facts import from_json
from .attempts import Read

#: Seconds that a task waits on such a worker, with all its inputs and a free thread, from which it waits
#: for resources.
WAITS = 0.02


def worker_resources(read: Read) -> dict[str, dict[str, float]]:
    """Name and amount of the resources of each worker that has any."""
    table = read("workers")
    found: dict[str, dict[str, float]] = {}
    for row, worker in enumerate(table["worker"].tolist()):
        try:
            told = from_json(table["detail"][row] or "{}").get("resources") or {}
            resources = {str(name): float(amount) for name, amount in told.items()}
        except (TypeError, ValueError, AttributeError, OverflowError):
            continue
        if resources:
            found[worker] = resources
    return found
