"""Other tools' files: a DASF database read and analysed, a Chrome trace written.

python -m benchmarks.foreign [--quick] [--rounds 3]

DASF's own analyser took 27.5 s of CPU for the same three reports of a database of 120,765 events with 389
samples of a GPU (reading 2.5, functions 13.2, tasks 11.7, balance 0.1; measured on a machine like this one,
for it is not to be had from PyPI). The database here has as many events, of the same kinds and sizes.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from dask_insight.compat.dasf import MultiEventDatabase, TraceAnalyser
from dask_insight.compat.dasf.database import packed

from .markdown import table
from .synthetic import Size, synthetic

#: CPU seconds that DASF took.
_DASF = 27.5
#: How many times faster this is to be; most seconds for the trace of a million tasks.
_FASTER, _TRACE = 50, 10.0


def events(tasks: int, workers: int = 4, samples: int = 389) -> Iterator[dict[str, Any]]:
    """Events as DASF's plugins write them: two for most tasks, and samples of a GPU."""
    random = np.random.default_rng(1)
    duration = random.exponential(0.004, tasks)
    for worker in range(workers):
        name, clock = f"worker-vm-{worker}", 1_000.0
        for task in range(worker, tasks, workers):
            clock += 0.001 + duration[task]
            key = f"('layer-{task // 500:04d}-6af1c2c2d2bd4ff38e7c4c60e9bb5f9c', {task % 500}, 0)"
            needs = [
                f"('layer-{task // 500 - 1:04d}-6af1c2c2d2bd4ff38e7c4c60e9bb5f9c', {other % 500}, 0)"
                for other in (task, task + 1)
                if task >= 500
            ]
            args: dict[str, Any] = {"key": key, "name": key[2:-1], "state": "memory", "size": 40_000}
            args |= {"shape": [5000, 2], "dtype": "float32", "type": "<class 'numpy.ndarray'>"}
            args |= {"dependencies": needs, "dependents": []}
            place = {"process_id": "vm", "thread_id": name}
            yield {
                "name": "Compute",
                "timestamp": clock,
                "duration": duration[task],
                "phase": "X",
                **place,
                "args": args,
            }
            held = {"key": key, "state": "memory", "size": 40_000, "tasks": task % 97}
            yield {
                "name": "Managed Memory",
                "timestamp": clock,
                "phase": "I",
                "scope": "g",
                **place,
                "args": held,
            }
    for sample in range(samples):
        figures = {
            "cpu": 50.0,
            "memory": 1e8,
            "time": 2e9 + sample,
            "gpu_utilization": 30,
            "gpu_memory_used": 3e9,
        }
        host: dict[str, Any] = {"process_id": "vm", "thread_id": None}
        yield {
            "name": "Resource Usage",
            "timestamp": 1_000.0 + sample,
            "phase": "I",
            "scope": "g",
            **host,
            "args": figures,
        }


def analyse(path: Path) -> int:
    """Read it and make the three reports; gives their rows."""
    analyser = TraceAnalyser(MultiEventDatabase([path]))
    reports = (
        analyser.per_function_bottleneck,
        analyser.per_task_bottleneck,
        analyser.per_worker_task_balance,
    )
    return sum(len(report()) for report in reports)


def seconds(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Medians of CPU and wall seconds."""
    cpu, wall = [], []
    for _ in range(rounds):
        began, clock = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - clock)
    return median(cpu), median(wall)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes and one round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.msgpack"
        path.write_bytes(packed(events(2_000 if options.quick else 60_188)))
        analyse(path)
        cpu, wall = seconds(lambda: analyse(path), rounds)
        failed |= not options.quick and _DASF / cpu < _FASTER
        found = [
            (
                "DASF database, three reports",
                f"{cpu:.2f}",
                f"{wall:.2f}",
                f"{_DASF / cpu:.0f}×",
                f"≥ {_FASTER}×",
            )
        ]
        run = synthetic(Size(tasks=20_000 if options.quick else 1_000_000, samples=1_000))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        target = Path(folder) / "run.trace.json"
        cpu, wall = seconds(lambda: run.export(target, force=True), rounds)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (
            2**20 if sys.platform == "darwin" else 2**10
        )
        failed |= not options.quick and wall > _TRACE
        size = target.stat().st_size / 2**20
        found.append(
            (
                f"Chrome trace, {size:.0f} MiB (+ {grown:.0f} MiB of memory)",
                f"{cpu:.2f}",
                f"{wall:.2f}",
                "",
                f"≤ {_TRACE:.0f} s",
            )
        )
    print(table(["", "CPU s", "wall s", "of DASF", "bar"], found))
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
