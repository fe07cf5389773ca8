"""What the notebook cells of the measurements call; each prints JSON."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time

import psutil
from distributed import Client

from ..overhead_run import WORKLOADS
from .cluster import steady


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
    return times.user + times.system


def busy(client: Client, rate: int, seconds: float) -> None:
    """Compute tasks at an even rate while this kernel can do nothing else."""
    began = time.time()
    tasks = steady(client, rate, seconds)
    print(json.dumps({"tasks": tasks, "seconds": time.time() - began}))


def memory() -> None:
    """Print the resident bytes of this kernel's process."""
    gc.collect()
    print(json.dumps({"rss": psutil.Process(os.getpid()).memory_info().rss}))
