"""What the notebook cells of the measurements call; each prints JSON."""

from __future__ import annotations

import gc
import json
import os
import time

import psutil
from distributed import Client, LocalCluster

from ..overhead_run import WORKLOADS, spent_so_far
from .cluster import steady


def cost(workload: str) -> None:
    """Print what a workload of `benchmarks.overhead` costs in this kernel; the cluster is fresh."""
    run, size, warm_up = WORKLOADS[workload]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        run(client, warm_up)
        time.sleep(1)
        began = spent_so_far()
        run(client, size)
        spent = spent_so_far().since(began)
    print(json.dumps({"cpu": spent.cpu, "wall": spent.wall}))


def busy(client: Client, rate: int, seconds: float) -> None:
    """Compute tasks at an even rate while this kernel can do nothing else."""
    began = time.time()
    tasks = steady(client, rate, seconds)
    print(json.dumps({"tasks": tasks, "seconds": time.time() - began}))


def memory() -> None:
    """Print the resident bytes of this kernel's process."""
    gc.collect()
    print(json.dumps({"rss": psutil.Process(os.getpid()).memory_info().rss}))
