"""Local schedulers and a cluster in one recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dask import delayed
from distributed import Client, worker_client

import dask_insight
from dask_insight.tables.cores import places
from dask_insight.tables.processes import processes


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as client:
        yield client


def double(value: int) -> int:
    return 2 * value


def compute(name: str, **options: Any) -> int:
    parts = [delayed(double)(number, dask_key_name=f"double-{name}-{number}") for number in range(5)]
    total: int = delayed(sum)(parts, dask_key_name=f"sum-{name}").compute(**options)
    return total


def test_each_task_once_where_it_ran(client: Client) -> None:
    with dask_insight.record() as recording:
        assert compute("cluster") == 20
        assert compute("threads", scheduler="threads") == 20
        assert compute("processes", scheduler="processes", num_workers=1) == 20
    tasks: Any = recording.tasks  # type: ignore[attr-defined]
    where = tasks.assign(name=tasks.key.str.split("-").str[1]).groupby("name").worker.agg(set)
    assert where["threads"] == {"threads"}
    (address,) = client.scheduler_info()["workers"]
    assert where["cluster"] == {address}
    # Which of them share this process.
    (other,) = where["processes"]
    workers = recording.columns("workers")
    own = dict(zip(workers["worker"].tolist(), workers["own"].tolist(), strict=True))
    assert own == {address: 1, "threads": 1, other: 0}
    hosts = dict(zip(workers["worker"].tolist(), workers["host"].tolist(), strict=True))
    assert len(set(hosts.values())) == 1
    # One machine numbers their processes, and has their cores.
    assert len(places(workers)) == 3 and len({*places(workers).values()}) == 1
    assert len({namespace for _, (namespace, _) in processes(workers).values()}) == 1
    assert "host" not in str(recording.summary())
    assert all(worker.startswith("process ") for worker in where["processes"])
    assert tasks.groupby(tasks.key.str.split("-").str[1]).size().to_dict() == {
        "cluster": 6,
        "threads": 6,
        "processes": 6,
    }
    assert tasks.key.is_unique


def test_a_local_computation_within_a_clusters_task(client: Client) -> None:
    def outer() -> int:
        return compute("inner", scheduler="sync")

    with dask_insight.record() as recording:
        assert client.submit(outer, pure=False).result(60) == 20
    tasks: Any = recording.tasks  # type: ignore[attr-defined]
    assert sorted(tasks.prefix.astype(str).unique()) == ["double-inner", "outer", "sum-inner"]
    assert set(tasks[tasks.key.str.contains("inner")].worker) == {"sync"}


def test_a_cluster_alone_has_no_rows_of_ours(client: Client) -> None:
    with dask_insight.record(resources="50ms") as recording:
        assert compute("cluster-alone") == 20
    workers: Any = recording.workers  # type: ignore[attr-defined]
    assert "threads" not in set(workers.worker)
    resources: Any = recording.resources  # type: ignore[attr-defined]
    assert not {"local", "threads", "sync"} & set(resources.process)


def test_a_task_may_compute_with_the_client_of_its_program(client: Client) -> None:
    """In the process of the client a worker makes none of its own for its tasks."""

    def outer() -> int:
        with worker_client():
            return compute("inner")

    with dask_insight.record() as recording:
        assert client.submit(outer, key="outer").result() == 20
    clients = recording.columns("submissions")["client"].tolist()
    assert sorted(name.startswith("Client-worker-") for name in clients) == [False, True]
    assert all(client.id.endswith(name.removeprefix("Client-worker-")) for name in clients)
    path = recording.critical_path()
    assert "sum-inner" in set(path[path["kind"] == "compute"]["key"]), (
        "the path goes through what it waited for"
    )
