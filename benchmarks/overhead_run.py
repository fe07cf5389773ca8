"""One run of one workload on a fresh two-worker cluster; prints what it cost as JSON.

    python -m benchmarks.overhead_run trivial-20000 recorded

A process of its own for every run, so that nothing an earlier run left on a scheduler (Dask's own task
stream plugin stays there for good) is paid by a later one.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import psutil
from distributed import Client, LocalCluster, performance_report, wait

MODES = ("bare", "recorded", "performance_report")


def increment(number: int) -> int:
    """A task that does next to nothing, so that all its cost is Dask's and ours."""
    return number + 1


class Done(NamedTuple):
    """How many tasks ran, and what keeps their results: Dask's freeing of them is no part of a run."""

    tasks: int
    results: object


def run_trivial(client: Client, tasks: int) -> Done:
    futures = client.map(increment, range(tasks), pure=False)
    wait(futures)
    return Done(tasks, futures)


def run_array(client: Client, side: int) -> Done:
    """Products of random blocks of 1000 × 1000: each task computes for tens of milliseconds."""
    import dask.array as da

    array = da.random.default_rng(1).random((side, side), chunks=1000)
    product = (array @ array.T - array).std(axis=0).sum()
    graph = product.__dask_graph__()
    result = client.compute(product, optimize_graph=False)
    wait(result)
    return Done(len(graph), result)


class Workload(NamedTuple):
    run: Callable[[Client, int], Done]
    size: int
    warm_up: int


WORKLOADS = {
    "trivial-2000": Workload(run_trivial, 2_000, 500),
    "trivial-20000": Workload(run_trivial, 20_000, 500),
    "trivial-100000": Workload(run_trivial, 100_000, 500),
    "array-3000": Workload(run_array, 3_000, 1_000),
    "array-4000": Workload(run_array, 4_000, 1_000),
    "array-8000": Workload(run_array, 8_000, 1_000),
}


class Spent(NamedTuple):
    """Seconds of CPU, of all processes of the cluster and the client, and of wall time."""

    cpu: float
    wall: float

    def since(self, earlier: Spent) -> Spent:
        return Spent(self.cpu - earlier.cpu, self.wall - earlier.wall)


def spent_so_far() -> Spent:
    """Scheduler and client live in this process, every worker in a child of it."""
    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return Spent(sum(each.user + each.system for each in times), time.perf_counter())


@contextmanager
def recorded(folder: Path) -> Iterator[None]:
    import dask_insight

    with dask_insight.record(str(folder / "run.dinsight")):
        yield


def observer(mode: str, folder: Path) -> AbstractContextManager[object]:
    if mode == "recorded":
        return recorded(folder)
    if mode == "performance_report":
        report: AbstractContextManager[object] = performance_report(filename=str(folder / "report.html"))
        return report
    return nullcontext()


def measure(workload: str, mode: str, folder: Path) -> dict[str, float]:
    """Run `workload` as `mode` says: what the computation cost, and what with the recording's ends."""
    run, size, warm_up = WORKLOADS[workload]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        run(client, warm_up)
        began = spent_so_far()
        with observer(mode, folder):
            entered = spent_so_far()
            done = run(client, size)
            computed = spent_so_far()
        ended = spent_so_far()
    during, whole = computed.since(entered), ended.since(began)
    files = sum(path.stat().st_size for path in folder.iterdir())
    return {
        "cpu_during": during.cpu,
        "wall_during": during.wall,
        "cpu_whole": whole.cpu,
        "wall_whole": whole.wall,
        "tasks": done.tasks,
        "file_bytes": files,
        "recorded_tasks": recorded_tasks(folder / "run.dinsight") if mode == "recorded" else 0,
    }


def until_freed(client: Client, held: int = 0) -> None:
    """Until all have forgotten the results of a turn, which is no part of the next; `held` stay.

    Workers go on with it after the scheduler has, each for tens of microseconds a result.
    """
    gc.collect()
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) > held:
        time.sleep(0.01)
    while sum(client.run(lambda dask_worker: len(dask_worker.state.tasks)).values()) > held:
        time.sleep(0.01)


def recorded_tasks(path: Path) -> int:
    """Tasks that the recording holds as done: a cheap run that records nothing would prove nothing."""
    import dask_insight

    tasks = dask_insight.open(path).tasks
    return int(tasks["key"].nunique())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("mode", choices=MODES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(options.workload, options.mode, Path(folder))))


if __name__ == "__main__":
    main()
