"""A plausible recording of any size, made without running anything.

    python -m benchmarks.synthetic --tasks 100000 --lanes 64 --names 40 -o run.dinsight

The same arguments give the same recording. Tasks fill the lanes one after the
other; every dependency ended before its dependent started; a few tasks erred
or were retried; every table that a panel reads has rows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dask_insight.batch import Symbols, encode, intern
from dask_insight.recording import Recording
from dask_insight.schema import FORMAT

from . import synthetic_processes as processes
from . import synthetic_stacks as stacks

START = 1_750_000_000.0
_WORDS = (
    "read_parquet",
    "rechunk-merge",
    "sum",
    "mean_chunk",
    "getitem",
    "inc",
    "store",
    "matmul",
    "fft",
    "groupby",
)
_TYPES = ("numpy.ndarray", "pandas.DataFrame", "builtins.tuple", "builtins.int")


class Size(NamedTuple):
    """What to make."""

    tasks: int = 100_000
    lanes: int = 64
    names: int = 40
    stacks: int = 2_000
    samples: int = 500_000
    seed: int = 0


class Run(NamedTuple):
    """The tasks, by column, in order of start; times in seconds since `START`."""

    name: np.ndarray
    lane: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    nbytes: np.ndarray
    status: np.ndarray
    edges: tuple[np.ndarray, np.ndarray]


def synthetic(size: Size) -> Recording:
    """Make the recording."""
    recording = Recording()
    for table, columns in tables(size):
        recording.append(encode(table, columns))
    return recording


def tables(size: Size) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All tables of the recording, as they go into `encode`."""
    random = np.random.default_rng(size.seed)
    run = _run(size, random)
    workers, lane_worker = processes.workers_of(size.lanes)
    end = float(run.stop.max())
    yield "about", _about(size, end)
    yield "workers", processes.workers(workers, size.lanes, START)
    yield (
        "spans",
        {
            "span": ["span-load", "span-compute", "span-inner"],
            "name": ["load", "compute", "inner"],
            "parent": ["", "", "span-compute"],
            "path": ["load", "compute", "compute / inner"],
        },
    )
    yield "submissions", _submissions(size, end)
    for first in range(0, size.tasks, 50_000):
        yield from _tasks(size, run, slice(first, first + 50_000), workers, lane_worker, random)
    yield "edges", {"task": run.edges[0], "dependency": run.edges[1]}
    yield from processes.transfers(run, workers, lane_worker, START, random)
    yield from processes.samples_of_processes(workers, end, START, size.names, names(size.names), random)
    yield from stacks.stacks_and_samples(size, run, workers, lane_worker, START, random)


def names(count: int) -> list[str]:
    """Names of tasks, some of them fused ones as Dask makes them."""
    base = [_WORDS[i % len(_WORDS)] for i in range(count)]
    fused = [
        f"{word}-{_WORDS[(i * 7 + i // 10) % len(_WORDS)]}" if i >= 10 else word
        for i, word in enumerate(base)
    ]
    return [f"{word}-{i // 100}" if i >= 100 else word for i, word in enumerate(fused)]


def threads(lanes: int) -> Symbols:
    """Thread of each lane."""
    return Symbols(
        np.arange(lanes, dtype="u4"), [str(140_000_000_000_000 + 4_096 * lane) for lane in range(lanes)]
    )


def _run(size: Size, random: np.random.Generator) -> Run:
    count, lanes = size.tasks, size.lanes
    share = random.dirichlet(np.full(size.names, 0.5)) + 0.2 / size.names
    phase = np.arange(count) * 6 // max(count, 1)
    shift = random.integers(0, size.names, 6)
    name = (random.choice(size.names, count, p=share / share.sum()) + shift[phase]) % size.names
    mean = np.exp(random.normal(-4.2, 1.0, size.names))
    duration = np.clip(mean[name] * np.exp(random.normal(0, 0.35, count)), 20e-6, 20.0)
    duration[random.integers(0, count, max(1, count // 20_000))] *= 40
    gap = np.where(
        random.random(count) < 0.03, random.exponential(0.05, count), random.exponential(0.0008, count)
    )
    lane = np.arange(count) % lanes
    start, stop = np.empty(count), np.empty(count)
    for each in range(lanes):
        mine = slice(each, count, lanes)
        ends = np.cumsum(gap[mine] + duration[mine]) + each * 0.0003
        start[mine], stop[mine] = ends - duration[mine], ends
    order = np.argsort(start, kind="stable")
    start, stop = np.rint(start[order] * 1e6) / 1e6, np.rint(stop[order] * 1e6) / 1e6
    status = np.zeros(count, "u4")
    status[random.integers(0, count, max(1, count // 2_000))] = 1
    status[random.integers(0, count, count // 5_000)] = 2
    nbytes = np.where(status == 0, np.exp2(10 + name[order] % 14) + 16 * (name[order] % 3), np.nan)
    return Run(
        name[order], lane[order], start, stop, nbytes, status, _edges(start, stop, status, lanes, random)
    )


def _edges(
    start: np.ndarray, stop: np.ndarray, status: np.ndarray, lanes: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    count = len(start)
    task = np.sort(np.concatenate((np.arange(count), random.integers(0, count, count // 2))))
    before = task - lanes - random.integers(1, 4 * lanes + 2, len(task))
    usable = (
        (before >= 0) & (stop[np.maximum(before, 0)] <= start[task]) & (status[np.maximum(before, 0)] == 0)
    )
    return task[usable], before[usable]


def _tasks(
    size: Size,
    run: Run,
    part: slice,
    workers: list[str],
    lane_worker: np.ndarray,
    random: np.random.Generator,
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    task = np.arange(size.tasks)[part]
    name, lane, start, stop = run.name[part], run.lane[part], START + run.start[part], START + run.stop[part]
    labels = names(size.names)
    groups = [
        f"{label}-{(i + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128:032x}"
        for i, label in enumerate(labels)
    ]
    yield (
        "graph",
        {
            "task": task,
            "key": [
                f"('{groups[n]}', {t // 1000}, {t % 1000})"
                for n, t in zip(name.tolist(), task.tolist(), strict=True)
            ],
            "prefix": Symbols(name.astype("u4"), labels),
            "group": Symbols(name.astype("u4"), groups),
            "span": Symbols((name % 3).astype("u4"), ["span-load", "span-compute", "span-inner"]),
            "submission": task // 100_000,
            "priority": np.zeros(len(task)),
            "order": task % 100_000,
        },
    )
    waits = random.exponential(0.0004, (6, len(task)))
    executing = start - 0.00005
    worker = Symbols(lane_worker[lane].astype("u4"), workers)
    status = run.status[part]
    yield (
        "attempts",
        {
            "run": task,
            "task": task,
            "worker": worker,
            "thread": Symbols(lane.astype("u4"), threads(size.lanes).names),
            "status": Symbols(status, ["ok", "erred", "retried"]),
            "done": stop + waits[0],
            "stop": stop,
            "start": start,
            "assigned": start - waits[1] - waits[2] - waits[3] - 0.0002,
            "ready": start - waits[1] - waits[2] - waits[3] - waits[4] - 0.0003,
            "submitted": np.minimum(START + task // 100_000, start - waits.sum(axis=0) - 0.001),
            "queued": random.random(len(task)) < 0.3,
            "nbytes": run.nbytes[part],
            "typename": Symbols((name % len(_TYPES)).astype("u4"), list(_TYPES)),
        },
    )
    yield (
        "executions",
        {
            "run": task,
            "worker": worker,
            "status": Symbols((status > 0).astype("u4"), ["memory", "error"]),
            "ended": stop + waits[0] / 2,
            "executing": executing,
            "ready": executing - waits[1],
            "received": executing - waits[1] - waits[2],
            "cpu": (stop - start) * random.uniform(0.2, 1.0, len(task)),
            "rss": random.normal(0, 4, len(task)).round(2),
        },
    )
    kinds = random.choice(5, len(task), p=[0.84, 0.1, 0.02, 0.02, 0.02])
    with_phase = kinds > 0
    yield (
        "phases",
        {
            "run": task[with_phase],
            "action": Symbols(
                kinds[with_phase].astype("u4"), ["", "transfer", "disk-read", "disk-write", "deserialize"]
            ),
            "start": (executing - waits[5] * 4)[with_phase],
            "stop": executing[with_phase],
        },
    )
    failed = task[status > 0]
    text = 'Traceback (most recent call last):\n  File "model.py", line 12, in fit\nValueError: cannot invert'
    yield (
        "errors",
        {
            "run": failed,
            "task": failed,
            "exception": ["ValueError('cannot invert')"] * len(failed),
            "traceback": [text] * len(failed),
        },
    )


def _about(size: Size, end: float) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "format": list(FORMAT),
        "name": f"synthetic, {size.tasks:,} tasks",
        "started": START,
        "stopped": START + end,
        "versions": {"dask": "2026.8.0", "distributed": "2026.8.0", "python": "3.11.2"},
    }
    return {"name": list(facts), "value": [json.dumps(value) for value in facts.values()]}


def _submissions(size: Size, end: float) -> dict[str, Any]:
    count = (size.tasks - 1) // 100_000 + 1
    return {
        "submission": np.arange(count),
        "time": START + np.arange(count, dtype="f8"),
        "tasks": np.diff(np.append(np.arange(count) * 100_000, size.tasks)),
        "client": intern(["Client-synthetic"] * count),
        "file": intern(["analysis.py"] * count),
        "line": 10 + np.arange(count),
        "function": intern(["main"] * count),
        "code": [f"result_{i} = graph_{i}.compute()" for i in range(count)],
        "materialize": np.full(count, 0.02),
        "ordering": np.full(count, 0.15),
        "states": np.full(count, 0.4),
    }


def main() -> None:
    """Write a recording as the command line says."""
    parser = argparse.ArgumentParser(description="Write a plausible recording without running anything.")
    for name, value in Size()._asdict().items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"default {value:,}")
    parser.add_argument("-o", "--output", default="synthetic.dinsight", help="file to write")
    arguments = vars(parser.parse_args())
    output = arguments.pop("output")
    synthetic(Size(**arguments)).save(output)
    print(output)


if __name__ == "__main__":
    main()
