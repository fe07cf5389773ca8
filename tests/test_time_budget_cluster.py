"""The time budget of real runs in which one cause was planted."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
import pytest
from conftest import wait_for

import dask_insight

dask = pytest.importorskip("dask")


def straggler(number: int) -> int:
    time.sleep(1.5 if number == 3 else 0.02)
    return number


def combine(numbers: list[int]) -> int:
    time.sleep(0.02)
    return sum(numbers)


def nap(number: int) -> int:
    time.sleep(0.05)
    return number


def big(number: int) -> Any:
    import numpy as np

    return np.full(6_000_000, number, "f8")


def first(array: Any) -> float:
    return float(array[0])


@pytest.fixture
def warm(client: Any) -> Any:
    """A client whose workers have imported this module, which takes them longer than what is planted."""
    for worker in client.scheduler_info()["workers"]:
        client.gather(client.map(combine, [[0]] * 2, workers=[worker], pure=False))
    return client


def checked(run: Any) -> pd.DataFrame:
    """Seconds by part and function, of a recording whose parts add up to its threads' time."""
    table = run.time_budget(by="function")
    whole = table.attrs["stop"] - table.attrs["start"]
    assert table.seconds.sum() == pytest.approx(4 * whole, abs=1e-6 * whole)
    assert run.time_budget(by=["worker", "time"]).seconds.sum() == pytest.approx(4 * whole, abs=1e-6 * whole)
    rows = run.budget
    assert ((rows.stop - rows.start) * rows.threads).sum() == pytest.approx(4 * whole, abs=1e-4 * whole)
    return table


def most(table: pd.DataFrame) -> tuple[str, str]:
    """Cause and name of most of the idle time."""
    idle = table[table.kind == "idle"].iloc[0]
    return str(idle.part), str(idle.function)


def test_a_straggler_whose_output_all_wait_for(warm: Any) -> None:
    numbers = [dask.delayed(straggler, pure=False)(number) for number in range(8)]
    last = [dask.delayed(nap, pure=False)(dask.delayed(combine)(numbers)) for _ in range(4)]
    with dask_insight.record(client=warm, profile=False) as run:
        dask.compute(*last)
    table = checked(run)
    assert most(table) == ("inputs", "straggler")
    assert "waiting for `straggler`" in run.summary().verdict()


def test_a_client_that_sleeps_between(warm: Any) -> None:
    with dask_insight.record(client=warm, profile=False) as run:
        for _ in range(3):
            dask.compute(*(dask.delayed(nap, pure=False)(number) for number in range(4)))
            time.sleep(0.4)
    table = checked(run)
    assert most(table)[0] == "client"
    assert table[table.part == "client"].seconds.sum() >= 4 * 2 * 0.35


def test_large_results_that_move(warm: Any) -> None:
    from distributed import wait

    here, there = list(warm.scheduler_info()["workers"])
    made = warm.map(big, range(6), workers=[here], pure=False)
    wait(made)
    with dask_insight.record(client=warm, profile=False) as run:
        wait(warm.map(first, made, workers=[there], pure=False))
    table = run.time_budget(by=["function", "worker"])
    idle = table[(table.kind == "idle") & (table.worker == there)]
    assert idle.iloc[0].part == "data"
    del made


def test_a_paused_worker(warm: Any) -> None:
    from distributed.core import Status

    def pause_above(share: float, dask_worker: Any) -> None:
        dask_worker.memory_manager.memory_pause_fraction = share

    def is_paused(dask_scheduler: Any) -> bool:
        return bool(dask_scheduler.workers[paused].status == Status.paused)

    paused = next(iter(warm.scheduler_info()["workers"]))
    with dask_insight.record(client=warm, profile=False) as run:
        try:
            warm.run(pause_above, 1e-6, workers=[paused])
            wait_for(lambda: warm.run_on_scheduler(is_paused), "the worker is paused")
            warm.gather(warm.map(nap, range(20), pure=False))
        finally:
            warm.run(pause_above, 0.8, workers=[paused])
            wait_for(lambda: not warm.run_on_scheduler(is_paused), "the worker runs again")
    table = run.time_budget(by="worker")
    mine = table[table.worker == paused]
    assert mine.iloc[0].part == "paused"
    # Beside the last task none waits for a thread any more.
    assert mine.iloc[0].seconds > 0.8 * mine.seconds.sum()


def test_a_thread_that_resources_keep_idle() -> None:
    from distributed import Client, LocalCluster

    one: dict[str, Any] = {"resources": {"GPU": 1}}
    options: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with LocalCluster(**options, processes=False, **one) as cluster, Client(cluster) as client:
        with dask_insight.record(client=client, profile=False) as run:
            client.gather(client.map(nap, range(40), pure=False, **one))
        tasks, idle = run.tasks, run.time_budget()
    assert (idle.kind[idle.part == "resources"] == "idle").all()
    assert idle.seconds[idle.part == "resources"].sum() > 0.5 * tasks.duration.sum()
    assert "resource-limit" in [each.code for each in run.findings()]


def test_the_local_scheduler() -> None:
    numbers = [dask.delayed(straggler, pure=False)(number) for number in range(8)]
    with dask_insight.record(profile=False) as run:
        dask.delayed(combine)(numbers).compute(scheduler="threads", num_workers=4)
    assert most(checked(run)) == ("inputs", "straggler")


def test_local_processes_are_there_from_when_their_first_task_was_wanted() -> None:
    numbers = [dask.delayed(nap, pure=False)(number) for number in range(4)]
    with dask_insight.record(profile=False) as run:
        dask.compute(*numbers, scheduler="processes", num_workers=1)
    table = run.time_budget()
    whole = table.attrs["stop"] - table.attrs["start"]
    assert table.seconds.sum() == pytest.approx(whole, rel=1e-6)
    # What is not computing is the start of the process.
    assert table[table.kind == "computing"].seconds.sum() == pytest.approx(4 * 0.05, rel=0.5)


def test_two_clusters_are_told_apart(client: Any) -> None:
    """While one computes, the other has no tasks: that is its client's doing."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as other,
        dask_insight.record() as run,
    ):
        client.gather(client.map(nap, range(20), pure=False))
        other.gather(other.map(nap, range(4), pure=False))
        theirs = other.scheduler.address
    addresses = {client.scheduler.address, theirs}
    assert set(run.workers["cluster"]) == addresses
    table = run.time_budget(by="cluster")
    mine = table[table.cluster == theirs].set_index("part").seconds
    assert set(table.cluster) == addresses
    assert mine["client"] >= 20 * 0.05 / 4, "as long as the first cluster worked"
    assert "inputs" not in mine or mine["inputs"] < 0.1
    path = run.critical_path(cluster=theirs)
    assert set(path["cluster"]) == {theirs} and path["seconds"].sum() == pytest.approx(4 * 0.05, abs=0.15)
    assert set(path["worker"]) - {""} == set(run.workers["worker"][run.workers["cluster"] == theirs])
    assert set(run.critical_path()["cluster"]) == addresses
    ours = run.what_if(workers=1)
    assert ours.cluster == client.scheduler.address and ours.workers_before == 2
    assert run.what_if(cluster=theirs).recorded == pytest.approx(path["seconds"].sum(), abs=1e-6)
