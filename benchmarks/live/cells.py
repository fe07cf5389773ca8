"""What the notebook cells of the measurements call; each prints JSON."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import dask
import psutil
from distributed import Client, LocalCluster, Scheduler, wait

from ..overhead_run import WORKLOADS, until_freed

#: Seconds after a run that are counted too: what was put off until then is part of its cost.
_SETTLE = 3.0


class Cost:
    """What a workload of `benchmarks.overhead` costs, on a cluster in processes of its own.

    So that what the kernel does beside being a client, recording and feeding
    pages, is told apart from what scheduler and workers do.
    """

    def __init__(self, workload: str) -> None:
        self._workload = WORKLOADS[workload]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.live.cluster"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._client = Client(self._process.stdout.readline().strip())
        self._workload.run(self._client, self._workload.warm_up)

    def prepare(self) -> None:
        """Let the cluster come to rest after what was loaded or unloaded, and after the last turn."""
        self._workload.run(self._client, self._workload.warm_up)
        until_freed(self._client)
        time.sleep(1)

    def run(self) -> None:
        """Compute it; print seconds of CPU of the cluster and of this kernel, and of wall time."""
        recorded = self._client.run_on_scheduler(_is_recorded)
        cluster, kernel, began = self._cluster(), _cpu(psutil.Process()), time.perf_counter()
        done = self._workload.run(self._client, self._workload.size)
        wall = time.perf_counter() - began
        time.sleep(_SETTLE)
        spent = {"cluster": self._cluster() - cluster, "kernel": _cpu(psutil.Process()) - kernel}
        print(json.dumps({**spent, "wall": wall, "tasks": done.tasks, "recorded": recorded}))

    def _cluster(self) -> float:
        process = psutil.Process(self._process.pid)
        return sum(_cpu(each) for each in (process, *process.children(recursive=True)))

    def close(self) -> None:
        """End the cluster."""
        self._client.close()
        self._process.communicate()


def _is_recorded(dask_scheduler: Scheduler) -> bool:
    return any(name.startswith("dask_insight") for name in dask_scheduler.plugins)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    spent: float = times.user + times.system
    return spent


#: Tasks handed in at once.
_PIECE = 1_000
#: Seconds from when the worker has all tasks until the first is due.
_LEAD = 1.0
#: In the worker, by round: the moments at which tasks are due, those left of them.
_due: dict[str, Future[Iterator[float]]] = {}


def one_worker() -> Client:
    """A local cluster with one worker process, whose scheduler does not keep tasks back.

    Where it does, as by default, each task that ends waits for a round trip before the next
    begins, and those take longer than a thousandth of a second.
    """
    with dask.config.set({"distributed.scheduler.worker-saturation": float("inf")}):
        return Client(LocalCluster(n_workers=1, threads_per_worker=8, dashboard_address=None))


def ends_when_due(round_: str) -> None:
    """A task that ends at the next moment at which one is due, or at once if that has passed.

    Whichever task it is: those handed in within 100 ms run in an order of their own (`fifo_timeout`),
    and one that waited for a later moment would keep its thread from those that are due before.
    """
    moment = next(_due.setdefault(round_, Future()).result())
    time.sleep(max(0.0, moment - time.time()))


def _begin(round_: str, moments: list[float]) -> None:
    # Threads share the iterator of a list: each moment goes to one of them.
    _due.setdefault(round_, Future()).set_result(iter(moments))


def busy(client: Client, rate: int, seconds: int) -> None:
    """Have a task end every 1/`rate` seconds while this kernel can do nothing else.

    The worker has them all before the first is due: what is measured is how they end. Prints how
    many there were; at which rate they really ended, their rectangles tell.
    """
    tasks, round_, futures = rate * seconds, uuid.uuid4().hex, []
    for first in range(0, tasks, _PIECE):
        piece = min(tasks - first, _PIECE)
        futures += client.map(ends_when_due, [round_] * piece, pure=False)
    cluster: Any = client.cluster
    workers = cluster.scheduler.workers
    while sum(len(worker.processing) for worker in workers.values()) < tasks:
        time.sleep(0.1)
    began = time.time() + _LEAD
    client.run(_begin, round_, [began + number / rate for number in range(tasks)])
    wait(futures)
    print(json.dumps({"tasks": tasks}))


def memory() -> None:
    """Print the resident bytes of this kernel's process."""
    gc.collect()
    print(json.dumps({"rss": psutil.Process(os.getpid()).memory_info().rss}))
