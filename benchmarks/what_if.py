"""How well what-if foretells other numbers of workers.

    python -m benchmarks.what_if [--quick] [--size 6] [--rounds 3] [--keep FOLDER]

Five workloads (see `what_if_workloads`) are recorded on 1, 2 and 4 workers of
one thread each; of several rounds the shortest counts, since other work on the
machine makes a run only longer. Then each recording is asked for the two other
numbers, and its answer compared with what those took. The aim: at most 20 %
off, for all six questions, in at least four of the five workloads.

The tasks wait most of their time, as for storage or a service. Tasks that
compute would not run faster on four workers than on two where there are but
two cores, which the simulation does not know: it says how many cores an answer
needs instead. The three clusters stand side by side and take turns, so that
other work on the machine meets them alike; each runs every workload once before
it is recorded, so that imports and first connections are no part of it.

Then it measures how long a simulation of 50,000 tasks takes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import process_time

from distributed import Client, LocalCluster

import dask_insight
from dask_insight.analysis.what_if import Replay, WhatIf
from dask_insight.recording import Recording

from .markdown import table
from .synthetic import Size, synthetic
from .what_if_workloads import WORKLOADS

WORKERS = (1, 2, 4)
#: Most that an answer may be off, and workloads in which it must hold.
AIM, ENOUGH = 0.2, 4
#: Most seconds of CPU for a simulation, and the workers and threads of each that are asked about.
FAST, SIMULATED = 0.1, ((1, 16), (2, 8), (16, 1), (64, 1))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.what_if", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="least sizes, one round, no judgement")
    parser.add_argument("--size", type=int, default=6, help="how much each workload does")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, of which the shortest counts")
    parser.add_argument("--keep", type=Path, help="folder for the recordings")
    parser.add_argument(
        "--read", type=Path, help="take the recordings from that folder instead of making them"
    )
    options = parser.parse_args()
    size, rounds = (1, 1) if options.quick else (options.size, options.rounds)
    runs = read(options.read) if options.read else record(size, rounds)
    if options.keep:
        keep(runs, options.keep)
    answers = {key: ask(run) for key, run in runs.items()}
    print(accuracy(answers))
    good = sum(worst(answers, name) <= AIM for name in WORKLOADS)
    print(f"\n{good} of {len(WORKLOADS)} workloads within {AIM:.0%} in all six answers (aim: {ENOUGH}).\n")
    rows, slowest = speed()
    print(rows)
    print(f"\nBar for a simulation: {FAST:g} s.")
    return int((good < ENOUGH or slowest > FAST) and not options.quick)


Key = tuple[str, int]


def record(size: int, rounds: int) -> dict[Key, Recording]:
    """Run every workload on every number of workers, in turn; the shortest recording of each."""
    best: dict[Key, Recording] = {}
    with ExitStack() as stack:
        clients = {workers: stack.enter_context(connected(workers)) for workers in WORKERS}
        for client in clients.values():
            with client.as_current():
                for work in WORKLOADS.values():
                    work(client, 1)
        for _ in range(rounds):
            for name, work in WORKLOADS.items():
                for workers, client in clients.items():
                    with client.as_current(), dask_insight.record(client=client) as run:
                        work(client, size)
                    known = best.get((name, workers))
                    if known is None or seconds(run) < seconds(known):
                        best[name, workers] = run
    return best


@contextmanager
def connected(workers: int) -> Iterator[Client]:
    """A client of a cluster of its own, whose workers are all there."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(workers)
        yield client


def seconds(run: Recording) -> float:
    """How long a run took."""
    return float(Replay(run.columns, run.about).ask().recorded)


def keep(runs: Mapping[Key, Recording], folder: Path) -> None:
    """Save the recordings, to be read again with ``--read``."""
    folder.mkdir(parents=True, exist_ok=True)
    for (name, workers), run in runs.items():
        run.save(folder / f"{name.replace(' ', '-')}-{workers}.dinsight")


def read(folder: Path) -> dict[Key, Recording]:
    """What `keep` saved."""
    return {
        (name, workers): dask_insight.open(folder / f"{name.replace(' ', '-')}-{workers}.dinsight")
        for name in WORKLOADS
        for workers in WORKERS
    }


def ask(run: Recording) -> dict[int, WhatIf]:
    """What a recording says of every number of workers."""
    replay = Replay(run.columns, run.about)
    return {workers: replay.ask(workers=workers) for workers in WORKERS}


def errors(answers: Mapping[Key, Mapping[int, WhatIf]], name: str) -> dict[tuple[int, int], float]:
    """How far off each answer is, by number of workers recorded and asked about."""
    took = {workers: answers[name, workers][workers].recorded for workers in WORKERS}
    return {
        (known, asked): answers[name, known][asked].seconds / took[asked] - 1
        for known in WORKERS
        for asked in WORKERS
        if known != asked
    }


def worst(answers: Mapping[Key, Mapping[int, WhatIf]], name: str) -> float:
    """The largest error of a workload."""
    return max(map(abs, errors(answers, name).values()))


def accuracy(answers: Mapping[Key, Mapping[int, WhatIf]]) -> str:
    """A table of what was measured and how far off the answers are."""
    pairs = list(errors(answers, next(iter(WORKLOADS))))
    header = ["workload", *(f"took on {workers}" for workers in WORKERS), "calibration"]
    header += [f"{known} → {asked}" for known, asked in pairs]
    rows = []
    for name in WORKLOADS:
        mine = {workers: answers[name, workers][workers] for workers in WORKERS}
        row = [name, *(f"{each.recorded:.2f} s" for each in mine.values())]
        row.append(", ".join(f"{each.error:+.0%}" for each in mine.values()))
        rows.append([*row, *(f"{error:+.0%}" for error in errors(answers, name).values())])
    return table(header, rows)


def speed() -> tuple[str, float]:
    """CPU seconds of simulations of 50,000 tasks: a table, and those of the slowest."""
    run = synthetic(Size(tasks=50_000, lanes=16, stacks=200, samples=1_000))
    begin = process_time()
    replay = Replay(run.columns, run.about)
    ready = process_time() - begin
    rows = [["made ready, with the calibration", f"{ready:.2f} s"]]
    slowest = 0.0
    for workers, threads in SIMULATED:
        took = []
        for _ in range(3):
            begin = process_time()
            replay.ask(workers=workers, threads=threads)
            took.append(process_time() - begin)
        slowest = max(slowest, median(took))
        rows.append([f"{workers} × {threads} threads", f"{median(took):.2f} s"])
    return table(["50,000 tasks", "CPU"], rows), slowest


if __name__ == "__main__":
    sys.exit(main())
