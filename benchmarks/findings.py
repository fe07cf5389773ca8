"""How long it takes to find out what held a run back, and how much memory.

python -m benchmarks.findings [--quick] [--rounds 3]

Columns are read and packages imported before the clock runs; what findings are made from (the time budget,
the critical path, the simulation) is worked out anew in every round, as when a recording was just opened.
"""

from __future__ import annotations

import argparse
import gc
import resource
import time
from statistics import median

from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import TABLES

from .markdown import table
from .synthetic import Size, tables

#: The size of the trace in DASF's own tutorial, and one that is large for Dask.
SIZES = (122_391, 1_000_000)


def batches(tasks: int) -> list[bytes]:
    """A recording of that many tasks."""
    return [encode(name, columns) for name, columns in tables(Size(tasks=tasks, samples=100_000))]


def fresh(packed: list[bytes]) -> Recording:
    """The recording as it is when it has been opened and its columns were read."""
    recording = Recording()
    for each in packed:
        recording.append(each)
    for name in TABLES:
        recording.columns(name)
    return recording


def measure(tasks: int, rounds: int) -> tuple[list[float], int]:
    """Seconds of each round, and the number of findings."""
    packed = batches(tasks)
    found: list[float] = []
    count = 0
    for _ in range(rounds + 1):
        recording = fresh(packed)
        gc.collect()
        began = time.perf_counter()
        count = len(recording.findings())
        found.append(time.perf_counter() - began)
    return found[1:], count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20,000 tasks and one round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sizes, rounds = ((20_000,), 1) if options.quick else (SIZES, options.rounds)
    lines = []
    for tasks in sizes:
        seconds, count = measure(tasks, rounds)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lines.append(
            (f"{tasks:,}", f"{median(seconds):.2f}", f"{min(seconds):.2f}", str(count), f"{peak:,.0f} MiB")
        )
    print(f"`run.findings()`, {rounds} rounds after one that does not count.\n")
    print(table(["tasks", "median s", "least s", "findings", "peak memory, recording included"], lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
