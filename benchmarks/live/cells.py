"""What the notebook cells of the measurements call; each prints JSON."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from typing import Any

import dask
import psutil
from distributed import Client, LocalCluster, wait

from ..overhead_run import WORKLOADS

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
        time.sleep(1)

    def run(self) -> None:
        """Compute it; print seconds of CPU of the cluster and of this kernel, and of wall time."""
        cluster, kernel, began = self._cluster(), _cpu(psutil.Process()), time.perf_counter()
        done = self._workload.run(self._client, self._workload.size)
        wall = time.perf_counter() - began
        time.sleep(_SETTLE)
        spent = {"cluster": self._cluster() - cluster, "kernel": _cpu(psutil.Process()) - kernel}
        print(json.dumps({**spent, "wall": wall, "tasks": done.tasks}))

    def _cluster(self) -> float:
        process = psutil.Process(self._process.pid)
        return sum(_cpu(each) for each in (process, *process.children(recursive=True)))

    def close(self) -> None:
        """End the cluster."""
        self._client.close()
        self._process.communicate()


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    spent: float = times.user + times.system
    return spent


#: Seconds by which tasks are handed in before they are due.
_AHEAD = 3


def one_worker() -> Client:
    """A local cluster with one worker process, whose scheduler does not keep tasks back.

    Where it does, as by default, each task that ends waits for a round trip before the next
    begins, and those take longer than a thousandth of a second.
    """
    with dask.config.set({"distributed.scheduler.worker-saturation": float("inf")}):
        return Client(LocalCluster(n_workers=1, threads_per_worker=8, dashboard_address=None))


def ends_at(moment: float) -> None:
    """A task that waits until a moment and ends then, or at once if that has passed."""
    time.sleep(max(0.0, moment - time.time()))


def busy(client: Client, rate: int, seconds: int) -> None:
    """Have a task end every 1/`rate` seconds while this kernel can do nothing else.

    They are handed in a second's worth at a time, well before they are due. Prints how many there
    were; at which rate they really ended, their rectangles tell.
    """
    began = time.time() + _AHEAD
    waiting: list[list[Any]] = []
    for second in range(seconds):
        due = [began + second + number / rate for number in range(rate)]
        waiting.append(client.map(ends_at, due, pure=False))
        time.sleep(max(0.0, began + second + 1 - _AHEAD - time.time()))
        if len(waiting) > _AHEAD:
            wait(waiting.pop(0))
    wait([future for futures in waiting for future in futures])
    print(json.dumps({"tasks": rate * seconds}))


def memory() -> None:
    """Print the resident bytes of this kernel's process."""
    gc.collect()
    print(json.dumps({"rss": psutil.Process(os.getpid()).memory_info().rss}))
