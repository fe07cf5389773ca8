"""What of the CPU of a recorded computation is our own, by where it goes; beside Dask's own report.

python -m benchmarks.own_cost [--quick] [--rounds 3] [--workloads trivial-20000 …]

Ratios of runs (`benchmarks.overhead`) hide a few per cent in what the machine does to every run. Here each
call from Dask into us is timed within one run, by the CPU clock of its thread, and our own threads as the
system tells them; joining and leaving a cluster are in beginning and end. Messages that Dask carries for us,
the few lines that hand them over and wait, log records, caches, and threads that change places are not in it.
`idle` are plugins whose hooks do nothing: so much of the others' is Dask's call and the timing itself.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median

from distributed import Client, LocalCluster

from dask_insight.session.live import Live

from .markdown import table
from .overhead_run import WORKLOADS, observer, recorded_tasks, spent_so_far, until_freed
from .own_cost_meter import (
    IDLE,
    IdleScheduler,
    IdleWorker,
    Spent,
    begin_on_client,
    begin_on_scheduler,
    begin_on_worker,
    end_on_scheduler,
    end_on_worker,
)

USUAL = ("trivial-20000", "array-8000")
QUICK = ("trivial-2000",)
MODES = ("recorded", "live", "performance_report", IDLE)


@contextmanager
def live() -> Iterator[Live]:
    """What a notebook has after `%load_ext dask_insight`, with a page in sight, but without the page."""
    session = Live()
    session.start()
    session.recording.audience.add(lambda: True)
    while not session.state()["clusters"]:
        time.sleep(0.01)
    yield session
    session.stop()


@contextmanager
def idle(client: Client) -> Iterator[None]:
    """Plugins that do nothing, on the scheduler and its workers."""
    client.register_plugin(IdleScheduler())
    client.register_plugin(IdleWorker())
    yield
    client.unregister_worker_plugin(IDLE)
    client.unregister_scheduler_plugin(IDLE)


def until_told(session: Live, tasks: int) -> None:
    """Until a live session has heard of all tasks."""
    while session.state()["clusters"][0]["tasks"]["done"] < tasks:
        time.sleep(0.01)


def observed(mode: str, client: Client, folder: Path) -> AbstractContextManager[object]:
    if mode == IDLE:
        return idle(client)
    return live() if mode == "live" else observer(mode, folder)


def measure(workload: str, mode: str, client: Client) -> tuple[Spent, float, int]:
    """Run a workload observed: what of it was the observer's, CPU seconds of all, and tasks."""
    run, size, _ = WORKLOADS[workload]
    with tempfile.TemporaryDirectory() as folder:
        before = spent_so_far()
        with observed(mode, client, Path(folder)) as session:
            entered = spent_so_far()
            meter = begin_on_client()
            if mode != "performance_report":
                client.run(begin_on_worker)
            client.run_on_scheduler(begin_on_scheduler)
            began = spent_so_far()
            done = run(client, size)
            whole = spent_so_far().since(began).cpu
            if isinstance(session, Live):
                until_told(session, done.tasks)
            told = [client.run_on_scheduler(end_on_scheduler)]
            if mode != "performance_report":
                told += client.run(end_on_worker).values()
            # Its threads are those of the scheduler's process, and counted there.
            told.append(
                {place: each for place, each in meter.stop().items() if not place.startswith("thread")}
            )
            computed = spent_so_far()
        told.append({"beginning and end": entered.since(before).cpu + spent_so_far().since(computed).cpu})
        if mode == "recorded" and recorded_tasks(Path(folder) / "run.dinsight") < done.tasks:
            raise SystemExit(f"{workload}: not all of {done.tasks} tasks were recorded")
    tasks = done.tasks
    del done
    until_freed(client)
    spent: Spent = {}
    for each in told:
        for place, seconds in each.items():
            spent[place] = spent.get(place, 0.0) + seconds
    return spent, whole, tasks


def rows(workload: str, mode: str, rounds: int) -> list[tuple[str, ...]]:
    """Medians of a workload, by where the time went."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        WORKLOADS[workload].run(client, WORKLOADS[workload].warm_up)
        until_freed(client)
        measured = [measure(workload, mode, client) for _ in range(rounds)]
    whole, tasks = median(each for _, each, _ in measured), measured[0][2]
    places = sorted({place for spent, _, _ in measured for place in spent})
    found = {place: median(spent.get(place, 0.0) for spent, _, _ in measured) for place in places}
    found["together"] = median(sum(spent.values()) for spent, _, _ in measured)
    return [
        (
            workload,
            mode,
            place,
            f"{seconds:.3f}",
            f"{1e6 * seconds / tasks:.1f}",
            f"{100 * seconds / whole:.2f} %",
        )
        for place, seconds in found.items()
        if seconds
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small workload, one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=None)
    options = parser.parse_args(arguments)
    workloads = options.workloads or (QUICK if options.quick else USUAL)
    rounds = 1 if options.quick else options.rounds
    found = [row for name in workloads for mode in MODES for row in rows(name, mode, rounds)]
    print("Two workers of one thread; scheduler and client in one process. The share is that of all CPU.\n")
    print(table(["workload", "observer", "its own", "CPU s", "µs a task", "share"], found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
