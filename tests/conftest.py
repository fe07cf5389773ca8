"""Clusters that tests share, and a recorder that keeps what it is given."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings

from dask_insight.batch import decode, default
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.recording import Recording
from dask_insight.schema import TABLES

# How long an example takes says more of the machine than of us.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

#: Seconds after which a condition that tests wait for will not come any more.
PATIENCE = 60.0


def wait_for(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Look until `condition` is true, and give what it gave."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not in {patience} s: {what}"
        time.sleep(0.02)
    return found


@pytest.fixture
def program_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is run within this process takes the place of the main one, and leaves it to nobody.

    Else each process that is spawned later would run it first.
    """
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(sys, "path", [*sys.path])


class Batches:
    """What a source emitted, as tables of lists."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: list[bytes] = []

    def __call__(self, batch: bytes) -> None:
        with self._lock:
            self._given.append(batch)

    def table(self, name: str) -> list[dict[str, Any]]:
        """Rows of a table as dictionaries."""
        found: list[dict[str, Any]] = []
        with self._lock:
            given = list(self._given)
        for packed in given:
            batch = decode(packed)
            if batch.table == name:
                missing = {one.name: default(one, batch.rows) for one in TABLES[name].columns}
                columns = {
                    one: values.tolist() if hasattr(values, "tolist") else values
                    for one, values in (missing | batch.columns).items()
                }
                found += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return found

    def keys(self) -> dict[int, str]:
        """Key of each task."""
        return {row["task"]: row["key"] for row in self.table("graph")}

    def attempts(self, start: str = "") -> list[dict[str, Any]]:
        """Attempts of tasks whose key begins so, with their key, and times as their worker mended them."""
        keys = self.keys()
        better = {
            row["run"]: {name: row[name] for name in ("start", "stop") if math.isfinite(row[name])}
            for row in self.table("executions")
        }
        rows = [
            row | better.get(row["run"], {}) | {"key": keys[row["task"]]} for row in self.table("attempts")
        ]
        return [row for row in rows if row["key"].startswith(start)]

    def recording(self) -> Recording:
        """All of it."""
        made = Recording()
        with self._lock:
            for batch in self._given:
                made.append(batch)
        return made

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Events of a kind."""
        return [row for row in self.table("events") if row["kind"] == kind]


def chromium() -> str:
    """The browser that `make test` found or installed."""
    names = (
        os.environ.get("CHROMIUM_PATH"),
        "chromium",
        "chromium-browser",
        "google-chrome-stable",
        "google-chrome",
    )
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        pytest.fail("Chromium was not found: install it, or name it in CHROMIUM_PATH")
    return found


@contextlib.contextmanager
def recorded(client: Any, **options: Any) -> Iterator[Batches]:
    """Record a synchronous client's cluster."""
    from dask_insight.sources.cluster import ClusterSource

    batches = Batches()
    source = ClusterSource(client, Options(**{"poll": 0.1} | options), Identity())
    client.sync(source.start, batches)
    try:
        yield batches
    finally:
        client.sync(source.stop)


def left_on(client: Any) -> dict[str, list[str]]:
    """What of ours is on scheduler and workers."""

    def scheduler(dask_scheduler: Any) -> list[str]:
        import gc
        import threading

        found = [*dask_scheduler.plugins, *dask_scheduler.handlers, *dask_scheduler.worker_plugins]
        found += [getattr(callback, "__module__", "") for callback in gc.callbacks]
        return [name for name in [*found, *(one.name for one in threading.enumerate())] if "insight" in name]

    def worker(dask_worker: Any) -> list[str]:
        import gc
        import logging
        import sys
        import threading

        found = [*dask_worker.plugins, *dask_worker.handlers, *sys.modules]
        found += [type(table).__module__ for table in (dask_worker.threads, dask_worker.state.threads)]
        pools = [getattr(executor, "_threads", None) for executor in dask_worker.executors.values()]
        found += [type(pool).__module__ for pool in pools]
        found += [one.name for one in threading.enumerate()]
        found += [getattr(callback, "__module__", "") for callback in gc.callbacks]
        for logger in (logging.root, *list(logging.root.manager.loggerDict.values())):
            found += [handler.get_name() or "" for handler in getattr(logger, "handlers", ())]
        return [name for name in found if name.startswith(("dask_insight_", "dask_insight-"))]

    return {"scheduler": client.run_on_scheduler(scheduler)} | client.run(worker)


@pytest.fixture(autouse=True)
def watches_end() -> Iterator[None]:
    """Who watches for clients in a test has ended when it ends: others would find that one beside theirs."""
    from dask_insight.sources import clients

    before = list(clients._watches)
    yield
    assert [each for each in clients._watches if each not in before] == []


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two workers of two threads, each a process with a nanny that starts it again however long that takes.

    Dask takes a nanny away for good when its new worker is not there in 15 s.
    """
    import dask
    from distributed import LocalCluster

    with (
        # One that stands still, as Python 3.11 may have it (see DECISIONS), is begun anew while a test waits.
        dask.config.set(
            {"distributed.deploy.lost-worker-timeout": "1 hour", "distributed.scheduler.worker-ttl": "60s"}
        ),
        LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, memory_limit="2GiB"
        ) as running,
    ):
        yield running


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """A synchronous client of the shared cluster, whose workers are all there."""
    from distributed import Client

    with Client(cluster) as connected:
        wait_for(lambda: _answers(connected) == 2, "both workers answer", 4 * PATIENCE)
        yield connected


def _answers(client: Any) -> int:
    """How many workers of a client's cluster answer; one that is gone may still be listed."""
    return sum(answer == 0 for answer in client.run(int, on_error="return").values())


@pytest.fixture
def run_async() -> Callable[[Any], Any]:
    """Run a coroutine with a bound on its time."""

    def run(coroutine: Any, patience: float = 2 * PATIENCE) -> Any:
        async def bounded() -> Any:
            return await asyncio.wait_for(coroutine, patience)

        return asyncio.run(bounded())

    return run
