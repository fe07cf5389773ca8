"""Where the demo runs, and how."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .quiet import mute_worker, quiet
from .steps import Step

#: So little memory, and so early on disk, that some results go there.
_MEMORY = "512MiB"
_CONFIG = {
    "distributed.worker.memory.target": 0.2,
    "distributed.worker.memory.spill": 0.8,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.diagnostics.computations.nframes": 1,
}


@contextlib.contextmanager
def cluster() -> Iterator[Any]:
    """A client of a cluster with two worker processes of two threads each."""
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set(_CONFIG):
        workers = LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, memory_limit=_MEMORY, dashboard_address=":0"
        )
        # Its start sets the levels of the logs, its end may tell of workers that a busy machine had killed.
        with quiet(), workers, Client(workers) as client:
            client.run(mute_worker)
            yield client


def perform(step: Step) -> None:
    """Compute one step on the default client."""
    from distributed import span

    with span(step.name):
        step.compute()
