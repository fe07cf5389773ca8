"""Other tools' files: a DASF database read and analysed, a million tasks written in each format.

python -m benchmarks.foreign [--quick] [--rounds 3] [--dasf FOLDER]

DASF is not to be had from PyPI. Given a folder with its sources (in which ``import dasf`` works), its own
reading and its own three reports of the same file are measured beside ours. Else ours is compared with the
27.5 s of CPU that it took elsewhere for a database of as many events, of the same kinds and sizes; that
machine was slower: where both were measured, DASF took 11.1 s.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil

from dask_insight.compat.dasf import MultiEventDatabase, TraceAnalyser
from dask_insight.compat.dasf.database import packed
from dask_insight.exports import FORMATS

from .markdown import table
from .synthetic import Size, synthetic

#: CPU seconds that DASF took elsewhere.
_DASF = 27.5
#: Formats that are pictures, not data.
_PICTURES = ("svg", "png")
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


def analyse_as_dasf(path: Path) -> int:
    """The same by DASF itself."""
    from dasf.profile.analysis import TraceAnalyser as Theirs  # type: ignore[import-not-found]
    from dasf.profile.profiler import FileDatabase as TheirDatabase  # type: ignore[import-not-found]

    analyser = Theirs(TheirDatabase(str(path), commit_on_close=False).get_traces())
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


class Peak:
    """Most memory of the process above what it had, MiB, while the block ran."""

    def __enter__(self) -> Peak:
        self._process = psutil.Process()
        self._before = self._most = self._process.memory_info().rss
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._ended.wait(0.005):
            self._most = max(self._most, self._process.memory_info().rss)

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        self.mib = (self._most - self._before) / 2**20


def databases(folder: Path, rounds: int, quick: bool, dasf: str | None) -> tuple[list[str], bool]:
    """The row of DASF's database, and whether it misses its bar."""
    path = folder / "trace.msgpack"
    path.write_bytes(packed(events(2_000 if quick else 60_188)))
    analyse(path)
    cpu, wall = seconds(lambda: analyse(path), rounds)
    theirs, beside = _DASF, "on another machine"
    if dasf:
        sys.path.insert(0, dasf)
        theirs, beside = seconds(lambda: analyse_as_dasf(path), 1)[0], "beside"
        cpu = min(cpu, seconds(lambda: analyse(path), rounds)[0])
    told = ["DASF database, three reports", f"{cpu:.2f}", f"{wall:.2f}", "", ""]
    return [*told, f"{theirs / cpu:.0f}× DASF {beside}", f"≥ {_FASTER}×"], theirs / cpu < _FASTER


def written(folder: Path, rounds: int, quick: bool) -> Iterator[tuple[list[str], bool]]:
    """A row for each format, and whether it misses its bar."""
    size = Size(tasks=20_000, samples=20_000) if quick else Size(tasks=1_000_000, samples=1_000_000)
    run = synthetic(size)
    for known in ("attempts", "executions", "graph", "edges", "phases", "transfers", "samples", "stacks"):
        run.columns(known)
    for name, each in FORMATS.items():
        if name in _PICTURES:
            continue
        target = folder / f"run{each.suffix or '-' + name}"
        with Peak() as peak:
            cpu, wall = seconds(lambda: run.export(target, name, force=True), rounds)  # noqa: B023
        bytes_ = (
            target.stat().st_size if target.is_file() else sum(f.stat().st_size for f in target.iterdir())
        )
        late = name == "chrome" and wall > _TRACE
        told = [f"{size.tasks:,} tasks as {name}", f"{cpu:.2f}", f"{wall:.2f}", f"{bytes_ / 2**20:.0f} MiB"]
        yield [*told, f"{peak.mib:.0f} MiB", "", f"≤ {_TRACE:.0f} s" if name == "chrome" else ""], late
        shutil.rmtree(target) if target.is_dir() else target.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes and one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dasf", help="a folder in which `import dasf` works")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [
            databases(folder, rounds, options.quick, options.dasf),
            *written(folder, rounds, options.quick),
        ]
    print(table(["", "CPU s", "wall s", "file", "memory more", "against", "bar"], [row for row, _ in found]))
    return int(not options.quick and any(missed for _, missed in found))


if __name__ == "__main__":
    raise SystemExit(main())
