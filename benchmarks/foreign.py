"""Other tools' files: a DASF database read and analysed, a million tasks written in each format.

python -m benchmarks.foreign [--quick] [--rounds 3] [--dasf FOLDER]

DASF is not to be had from PyPI. Given a folder with its sources (in which ``import dasf`` works), its own
reading and its own three reports of the same file are measured beside ours, in turns, and judged. Else the
ratio to the 27.5 s of CPU that it took elsewhere is told, for a database of as many events, of the same kinds
and sizes; that machine was slower, so it is not judged: beside ours DASF's method took 11.1 s.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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

#: CPU seconds that DASF took for as many events on another, slower machine.
_ELSEWHERE = 27.5
#: Formats that are pictures, not data.
_PICTURES = ("svg", "png")
#: How many times faster this is to be than DASF beside it; most CPU seconds for the trace of a million tasks.
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


def dasfs_own() -> Callable[[Path], int]:
    """The same by DASF itself."""
    from dasf.profile.analysis import TraceAnalyser as Theirs  # type: ignore[import-not-found]
    from dasf.profile.profiler import FileDatabase as TheirDatabase  # type: ignore[import-not-found]

    def analyse_as_dasf(path: Path) -> int:
        analyser = Theirs(TheirDatabase(str(path), commit_on_close=False).get_traces())
        reports = (
            analyser.per_function_bottleneck,
            analyser.per_task_bottleneck,
            analyser.per_worker_task_balance,
        )
        return sum(len(report()) for report in reports)

    return analyse_as_dasf


def in_turns(works: Sequence[Callable[[], object]], rounds: int) -> list[tuple[float, float]]:
    """Medians of CPU and wall seconds of each."""
    taken: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(rounds):
        for work, times in zip(works, taken, strict=True):
            began, clock = time.process_time(), time.perf_counter()
            work()
            times.append((time.process_time() - began, time.perf_counter() - clock))
    return [(median(cpu for cpu, _ in times), median(wall for _, wall in times)) for times in taken]


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


def databases(folder: Path, rounds: int, quick: bool, dasf: str | None) -> Iterator[tuple[list[str], bool]]:
    """Rows of DASF's database, and whether they miss their bar."""
    path = folder / "trace.msgpack"
    path.write_bytes(packed(events(2_000 if quick else 60_188)))
    works: list[Callable[[], int]] = [lambda: analyse(path)]
    if dasf:
        sys.path.insert(0, dasf)
        theirs = dasfs_own()
        works.append(lambda: theirs(path))
    for work in works:
        work()
    (cpu, wall), *others = in_turns(works, rounds)
    told = ["DASF database, three reports", f"{cpu:.2f}", f"{wall:.2f}", "", ""]
    if quick:
        yield [*told, "", ""], False
    elif not others:
        yield [*told, f"{_ELSEWHERE / cpu:.0f}× DASF on a slower machine", ""], False
    else:
        ratio = others[0][0] / cpu
        yield [*told, f"{ratio:.0f}× DASF beside", f"≥ {_FASTER}×"], ratio < _FASTER
    for spent, took in others:
        yield ["the same by DASF", f"{spent:.2f}", f"{took:.2f}", "", "", "", ""], False


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
            [(cpu, wall)] = in_turns([lambda: run.export(target, name, force=True)], rounds)  # noqa: B023
        bytes_ = (
            target.stat().st_size if target.is_file() else sum(f.stat().st_size for f in target.iterdir())
        )
        late = name == "chrome" and cpu > _TRACE
        told = [f"{size.tasks:,} tasks as {name}", f"{cpu:.2f}", f"{wall:.2f}", f"{bytes_ / 2**20:.0f} MiB"]
        yield [*told, f"{peak.mib:.0f} MiB", "", f"≤ {_TRACE:.0f} s of CPU" if name == "chrome" else ""], late
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
            *databases(folder, rounds, options.quick, options.dasf),
            *written(folder, rounds, options.quick),
        ]
    print(table(["", "CPU s", "wall s", "file", "memory more", "against", "bar"], [row for row, _ in found]))
    return int(not options.quick and any(missed for _, missed in found))


if __name__ == "__main__":
    raise SystemExit(main())
