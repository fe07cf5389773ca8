"""Workers, transfers and the samples of every process for `benchmarks.synthetic`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from dask_insight.batch import Symbols

_GIB = 2.0**30


class Tasks(Protocol):
    """What transfers need to know of the tasks."""

    @property
    def lane(self) -> np.ndarray: ...

    @property
    def start(self) -> np.ndarray: ...

    @property
    def nbytes(self) -> np.ndarray: ...

    @property
    def edges(self) -> tuple[np.ndarray, np.ndarray]: ...


def workers_of(lanes: int) -> tuple[list[str], np.ndarray]:
    """Addresses of the workers, four threads each, and the worker of each lane."""
    lane_worker = np.arange(lanes) // 4
    return [
        f"tcp://10.0.{i // 16}.{i % 16 + 1}:{40_001 + i}" for i in range(int(lane_worker[-1]) + 1)
    ], lane_worker


def workers(addresses: list[str], lanes: int, start: float) -> Mapping[str, Any]:
    """The table `workers`; the last of several has left."""
    count = len(addresses)
    left = np.full(count, np.nan)
    return {
        "worker": addresses,
        "name": [str(i) for i in range(count)],
        "host": [address[6:].split(":")[0] for address in addresses],
        "pid": 1_000 + np.arange(count),
        "threads": np.minimum(4, lanes - 4 * np.arange(count)),
        "memory_limit": np.full(count, 8 * _GIB),
        "joined": np.full(count, start - 2.0) + np.arange(count) * 0.01,
        "left": left,
        "detail": ['{"python": "3.11.2"}'] * count,
    }


def transfers(
    run: Tasks, addresses: list[str], lane_worker: np.ndarray, start: float, random: np.random.Generator
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Transfers for a tenth of the edges between workers, seen by both sides."""
    task, dependency = run.edges
    to, source = lane_worker[run.lane[task]], lane_worker[run.lane[dependency]]
    chosen = np.flatnonzero((to != source) & (random.random(len(task)) < 0.1))
    task, dependency, to, source = task[chosen], dependency[chosen], to[chosen], source[chosen]
    count = len(task)
    stop = start + run.start[task] - 0.0001
    begin = stop - random.exponential(0.002, count)
    nbytes = run.nbytes[dependency]
    for direction, mine, peer, first in (("in", to, source, 0), ("out", source, to, count)):
        yield (
            "transfers",
            {
                "transfer": first + np.arange(count),
                "worker": Symbols(mine.astype("u4"), addresses),
                "peer": Symbols(peer.astype("u4"), addresses),
                "direction": Symbols(np.zeros(count, "u4"), [direction]),
                "start": begin,
                "stop": stop,
                "nbytes": nbytes,
                "compressed": np.full(count, np.nan) if direction == "in" else np.rint(nbytes * 0.6),
            },
        )
        yield (
            "transferred",
            {"transfer": first + np.arange(count), "task": dependency, "nbytes": nbytes},
        )


def samples_of_processes(
    addresses: list[str], end: float, start: float, count: int, labels: list[str], random: np.random.Generator
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Resources, GPUs, memory, metrics, events, clocks and sampling; at most 400,000 rows each."""
    processes = [*addresses, "scheduler", "client"]
    which, time = _grid(len(processes), end, 0.2)
    wave = 0.5 + 0.5 * np.sin(time / 7 + which)
    rows = len(time)
    yield (
        "resources",
        {
            "process": Symbols(which, processes),
            "time": start + time,
            "cpu": (400 * wave * random.uniform(0.8, 1, rows)).round(1),
            "memory": np.rint((1 + 3 * wave) * _GIB),
            "net_read": (5e7 * wave).round(),
            "net_write": (4e7 * wave).round(),
            "disk_read": np.where(random.random(rows) < 0.1, 2e7, 0.0),
            "disk_write": np.where(random.random(rows) < 0.05, 6e7, 0.0),
            "fds": 40 + 10 * np.rint(wave),
            "lag": random.exponential(0.002, rows),
            "gil": random.beta(1, 9, rows),
            "executing": np.rint(4 * wave),
            "ready": np.rint(20 * wave),
            "waiting": np.rint(8 * (1 - wave)),
            "occupancy": 3 * wave,
            "transfers_in": np.rint(2 * wave),
            "transfers_out": np.rint(3 * wave),
        },
    )
    which, time = _grid(len(addresses), end, 0.5)
    wave = 0.5 + 0.5 * np.sin(time / 9 + which)
    managed = np.rint(2 * wave * _GIB)
    yield (
        "memory",
        {
            "worker": Symbols(which, addresses),
            "time": start + time,
            "process": managed + 0.6 * _GIB,
            "managed": managed,
            "unmanaged_old": np.full(len(time), 0.4 * _GIB),
            "unmanaged_recent": np.full(len(time), 0.2 * _GIB),
            "spilled": np.where(wave > 0.9, _GIB / 4, 0.0),
            "optimistic": managed + 0.4 * _GIB,
        },
    )
    gpu_workers = max(1, len(addresses) // 4)
    which, time = _grid(gpu_workers, end, 0.2)
    yield (
        "gpus",
        {
            "process": Symbols(which, addresses),
            "time": start + time,
            "index": which % 4,
            "name": Symbols(which % 4, [f"NVIDIA H200 GPU-{i:08x}" for i in range(4)]),
            "utilization": (100 * (0.5 + 0.5 * np.sin(time / 3))).round(),
            "memory": np.rint((40 + 20 * np.sin(time / 5)) * _GIB),
            "memory_total": np.full(len(time), 139.0 * _GIB),
        },
    )
    yield "metrics", _metrics(addresses, end, start, count, labels, random)
    yield "events", _events(addresses, end, start)
    which, time = _grid(len(addresses), end, 5.0)
    rows = len(time)
    yield (
        "clocks",
        {
            "worker": Symbols(which, addresses),
            "time": start + time,
            "offset": random.normal(0, 2e-4, rows),
            "uncertainty": np.full(rows, 3e-4),
            "applied": random.normal(0, 4e-3, rows),
        },
    )
    which, time = _grid(len(processes), end, 1.0)
    rows = len(time)
    yield (
        "sampling",
        {
            "process": Symbols(which, processes),
            "time": start + time,
            "period": np.full(rows, 1.0),
            "samples": random.integers(90, 100, rows),
            "interval": np.full(rows, 0.01),
            "cost": random.uniform(0.004, 0.012, rows),
        },
    )


def _grid(processes: int, end: float, interval: float) -> tuple[np.ndarray, np.ndarray]:
    """Process codes and times of regular samples, in the order in which they come."""
    interval = max(interval, processes * end / 400_000)
    steps = max(2, int(end / interval) + 1)
    which = np.tile(np.arange(processes, dtype="u4"), steps)
    time = np.repeat(np.arange(steps) * interval, processes) + which * 1e-4
    return which, np.rint(time * 1e6) / 1e6


def _metrics(
    addresses: list[str], end: float, start: float, count: int, labels: list[str], random: np.random.Generator
) -> Mapping[str, Any]:
    kinds = [
        ("execute", "thread-cpu", "seconds"),
        ("execute", "thread-noncpu", "seconds"),
        ("execute", "disk-read", "bytes"),
        ("execute", "deserialize", "seconds"),
        ("execute", "rows parsed", "rows"),
        ("gather-dep", "network", "seconds"),
        ("gather-dep", "network", "bytes"),
        ("get-data", "serialize", "seconds"),
        ("get-data", "compress", "count"),
    ]
    which, time = _grid(len(addresses) * len(kinds), end, 1.0)
    worker, kind = which // len(kinds), which % len(kinds)
    rows = len(which)
    inside = kind < 5
    prefix = np.where(inside, 1 + random.integers(0, count, rows), 0).astype("u4")
    scale = np.where(np.isin(kind, (2, 6)), 1e7, 0.4)
    return {
        "time": start + time,
        "worker": Symbols(worker, addresses),
        "context": [kinds[k][0] for k in kind],
        "span": Symbols(
            np.where(inside, 1 + prefix % 3, 0).astype("u4"), ["", "span-load", "span-compute", "span-inner"]
        ),
        "prefix": Symbols(prefix, ["", *labels]),
        "activity": [kinds[k][1] for k in kind],
        "unit": [kinds[k][2] for k in kind],
        "value": random.exponential(1, rows) * scale,
    }


def _events(addresses: list[str], end: float, start: float) -> Mapping[str, Any]:
    rows = [
        *((-2.0, "scheduler", "worker-added", "info", f"{address} joined") for address in addresses),
        (end * 0.3, "scheduler", "steal", "info", "12 tasks moved"),
        (end * 0.5, addresses[0], "log", "warning", "Unmanaged memory use is high"),
        (end * 0.6, "client", "user", "info", "half of the epochs done"),
        (end * 0.8, addresses[-1], "log", "error", "Compute failed: ValueError('cannot invert')"),
    ]
    time, source, kind, level, message = zip(*rows, strict=True)
    return {
        "time": start + np.array(time),
        "source": source,
        "kind": kind,
        "level": level,
        "message": message,
        "detail": [""] * len(rows),
    }
