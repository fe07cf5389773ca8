"""What a workload is, on which cluster it runs, and how it is recorded."""

from __future__ import annotations

import contextlib
import gc
import inspect
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from distributed import Client, LocalCluster

if TYPE_CHECKING:
    from dask_insight.recording import Recording

#: Gives what is to be recorded between its two yields, and the workers to be named with the second.
Work = Generator[Sequence[str] | None, None, None]

#: Makes the steps of a workload from a client, or the recording itself where it is made by hand.
Plan = Callable[[Any], Any]


class Cluster(NamedTuple):
    """A cluster of worker processes."""

    workers: int = 2
    threads: int = 1
    #: Of each worker process; workers of this process have what Dask gives them, as it holds all tests too.
    memory: str = "2GiB"
    #: Workers in processes of their own, or as threads of this one.
    processes: bool = True
    #: Of no use to others after this workload.
    spoilt: bool = False


PAIR = Cluster()
QUAD = Cluster(threads=2)


class Workload(NamedTuple):
    """A workload and what is to be found in it."""

    name: str
    work: Plan
    #: The code to be found; "" if nothing is.
    code: str = ""
    #: Task names of which the finding names one first; empty where no task is to blame.
    tasks: tuple[str, ...] = ()
    #: None for what needs no cluster.
    cluster: Cluster | None = PAIR
    #: What the finding's title or reason names beside.
    says: str = ""


#: Every workload by its name.
FAULTS: dict[str, Workload] = {}


def plant(
    code: str, *tasks: str, variant: str = "", cluster: Cluster | None = PAIR, says: str = ""
) -> Callable[[Plan], Plan]:
    """Keep a workload in which this is to be found, by these task names."""

    def keep(work: Plan) -> Plan:
        name = f"{code}-{variant}" if variant else code
        FAULTS[name] = Workload(name, work, code, tasks, cluster, says)
        return work

    return keep


def clean(variant: str, cluster: Cluster | None = PAIR) -> Callable[[Plan], Plan]:
    """Keep a workload in which there is nothing to be found."""

    def keep(work: Plan) -> Plan:
        name = f"clean-{variant}"
        FAULTS[name] = Workload(name, work, cluster=cluster)
        return work

    return keep


@contextlib.contextmanager
def started(cluster: Cluster | None) -> Iterator[Client | None]:
    """A client of a new cluster whose workers are all there."""
    if cluster is None:
        yield None
        return
    with (
        LocalCluster(
            n_workers=cluster.workers,
            threads_per_worker=cluster.threads,
            processes=cluster.processes,
            dashboard_address=":0",
            memory_limit=cluster.memory if cluster.processes else "auto",
        ) as running,
        Client(running, set_as_default=False) as client,
    ):
        if cluster.workers:
            client.wait_for_workers(cluster.workers, timeout=60)
            warm(client)
        yield client


def record(workload: Workload, client: Client | None) -> tuple[Recording, list[str]]:
    """Run a workload; its recording, and the workers that a finding has to point at."""
    with contextlib.nullcontext() if client is None else client.as_current():
        steps = workload.work(client)
        if not inspect.isgenerator(steps):
            return steps, []
        # Workers import this module, and need not have what is tested.
        import dask_insight

        next(steps)
        # What a test run has made so far is no part of a user's process, whose scheduler would stand still
        # for as long as it is looked through.
        gc.freeze()
        try:
            with dask_insight.record(client=client, name=workload.name) as run:
                workers = next(steps, None)
        finally:
            for _ in steps:
                pass
        return run, list(workers or ())


def addresses(client: Client) -> list[str]:
    """The workers, in the order of their names."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return sorted(workers, key=lambda each: str(workers[each]["name"]))


def warm(client: Client) -> None:
    """Let every worker import what workloads need, and fetch something from every other one."""
    from . import imports

    there = addresses(client)
    mine = [client.submit(imports.all_of_them, each, workers=[each], pure=False) for each in there]
    client.gather(mine)
    client.gather([client.submit(len, mine, workers=[each], pure=False) for each in there])


def compute(seconds: float) -> float:
    """Use the CPU for that long, without holding the GIL; other work on the machine makes it no less work."""
    data = np.random.default_rng(0).random(30_000)
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        data[:] = np.sort(data)[::-1]
    return float(data[0])
