"""What recording costs the local schedulers, beside dask's own diagnostics.

    python -m benchmarks.local_overhead [--tasks 20000] [--rounds 9]

Runs trivial tasks on the threaded scheduler, bare, recorded with everything
on, and under dask.diagnostics (Profiler, CacheProfiler and ResourceProfiler
together, which keep objects in memory and write nothing), in turn. Prints CPU
seconds of the process: medians, ratios to bare, and microseconds a task. An
array workload follows, with tasks of the length that people have.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import dask.array as da
import dask.threaded
from dask.diagnostics import CacheProfiler, Profiler, ResourceProfiler

import dask_insight

from .markdown import table

_ROUNDS_OF_ARRAY = 5

Way = Callable[[], AbstractContextManager[Any]]


def increment(value: int) -> int:
    """The task."""
    return value + 1


def trivial(tasks: int) -> Callable[[], object]:
    """Tasks that do nothing, and one that needs them all."""
    graph: dict[Any, Any] = {("increment-0a1b2c3d", number): (increment, number) for number in range(tasks)}
    graph["sum"] = (sum, list(graph))
    return lambda: dask.threaded.get(graph, "sum")


def array() -> object:
    """A product of matrices: 128 blocks, some milliseconds each."""
    x = da.random.default_rng(0).random((3000, 3000), chunks=750)
    return (x @ x.T).mean().compute(scheduler="threads")


def dasks_own() -> ExitStack:
    """All of dask.diagnostics at once."""
    stack = ExitStack()
    for each in (Profiler(), CacheProfiler(), ResourceProfiler(0.2)):
        stack.enter_context(each)
    return stack


def measure(
    work: Callable[[], object], ways: Mapping[str, Way], rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """CPU and wall seconds of each way, the ways in turn."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    work()
    for _ in range(rounds):
        for name, way in ways.items():
            gc.collect()
            began, cpu = perf_counter(), process_time()
            with way():
                work()
            found[name].append((process_time() - cpu, perf_counter() - began))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.dinsight"
        ways: dict[str, Way] = {
            "bare": nullcontext,
            "recorded": lambda: dask_insight.record(path),
            "dask.diagnostics": dasks_own,
        }
        for title, work, tasks, rounds in (
            (f"{options.tasks:,} trivial tasks", trivial(options.tasks), options.tasks, options.rounds),
            ("matrix product", array, 0, min(options.rounds, _ROUNDS_OF_ARRAY)),
        ):
            found = measure(work, ways, rounds)
            bare = [median(each) for each in zip(*found["bare"], strict=True)]
            for name, seconds in found.items():
                cpu, wall = (median(each) for each in zip(*seconds, strict=True))
                extra = f"{1e6 * (cpu - bare[0]) / tasks:.1f}" if tasks else "–"
                rows.append(
                    [title, name, f"{cpu:.2f}", f"{cpu / bare[0]:.2f}", f"{wall / bare[1]:.2f}", extra]
                )
    print(table(["workload", "", "CPU s", "CPU ratio", "wall ratio", "µs of CPU a task"], rows))


if __name__ == "__main__":
    main()
