"""Facts about the cluster that are read from the scheduler's state now and then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
from distributed.metrics import time
from distributed.versions import get_versions

#: Parts of Dask's configuration that change how a computation runs.
_CONFIG = (
    "distributed.scheduler",
    "distributed.worker",
    "distributed.comm.compression",
    "distributed.adaptive",
    "distributed.p2p",
    "array",
    "dataframe",
    "optimization",
    "temporary-directory",
)
#: Environment variables of workers, which may be secrets; the values are told of those that begin or end so.
_ENVIRONMENT = ("distributed.nanny.environ", "distributed.nanny.pre-spawn-environ")
_BEGIN, _END, _WITHHELD = "MALLOC_", "_THREADS", "(set)"
#: Workers looked at in one turn.
_WORKERS = 300
#: Parts of these that may hold secrets or are long.
_LEFT_OUT = ("preload", "preload-argv", "http", "dashboard", "tls", "plugins", "environ")


def about(scheduler: Any) -> dict[str, Any]:
    """What the cluster is, by name of the fact."""
    versions = get_versions()
    workers = list(scheduler.workers.values())
    return {
        "scheduler": {"id": scheduler.id, "address": scheduler.address},
        "versions": {"host": dict(versions["host"]), "packages": dict(versions["packages"])},
        "config": {name: _without(dask.config.get(name, None)) for name in _CONFIG}
        | {name: _variables(dask.config.get(name, None)) for name in _ENVIRONMENT},
        "cluster": {
            "workers": len(workers),
            "threads": sum(state.nthreads for state in workers),
            "memory_limit": sum(state.memory_limit or 0 for state in workers),
            "hosts": len({state.host for state in workers}),
        },
    }


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        # Dask has each name with whichever of `-` and `_` it met first.
        parts = ((str(name), part) for name, part in value.items())
        return {name: _without(part) for name, part in parts if name.replace("_", "-") not in _LEFT_OUT}
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _variables(values: Any) -> dict[str, Any]:
    given = values if isinstance(values, dict) else {}
    return {
        name: _without(value) if name.startswith(_BEGIN) or name.endswith(_END) else _WITHHELD
        for name, value in zip(map(str, given), given.values(), strict=True)
    }


def worker_facts(scheduler: Any, state: Any) -> dict[str, Any]:
    """Columns of `workers` for a worker that is there, but for its label."""
    joined = time()
    for when, message in reversed(scheduler.get_events(state.address)):
        if isinstance(message, dict) and message.get("action") == "add-worker":
            joined = when
            break
    return {
        "name": str(state.name),
        "host": state.host,
        "pid": state.pid,
        "threads": state.nthreads,
        "memory_limit": state.memory_limit or None,
        "joined": joined,
        "detail": {
            "versions": state.versions,
            "nanny": state.nanny,
            "directory": state.local_directory,
            "resources": dict(state.resources),
            "server": state.server_id,
        },
    }


def in_turn(scheduler: Any, turn: int) -> list[tuple[str, Any]]:
    """The workers by address; of many some each turn, which holds the event loop for milliseconds at most."""
    workers = list(scheduler.workers.items())
    parts = -(-len(workers) // _WORKERS) or 1
    return workers[turn % parts :: parts]


def memory_rows(workers: list[tuple[str, Any]], codes: dict[str, int]) -> Iterator[tuple[float, ...]]:
    """Dask's memory measures of some workers, and what the scheduler expects them to do."""
    now = time()
    for address, state in workers:
        memory = state.memory
        yield (
            codes.get(address, 0),
            now,
            memory.process,
            memory.managed,
            memory.unmanaged_old,
            memory.unmanaged_recent,
            memory.spilled,
            memory.optimistic,
            len(state.processing),
            float(state.occupancy),
        )
