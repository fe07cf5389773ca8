"""Call stacks and their samples for `benchmarks.synthetic`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from dask_insight.batch import Symbols
from dask_insight.schema import NOTHING

_FILES = (
    "numpy/linalg/linalg.py",
    "pandas/core/frame.py",
    "dask/array/core.py",
    "model.py",
    "pyarrow/parquet.py",
)
_FUNCTIONS = 2_000


class Size(Protocol):
    """What is asked for."""

    @property
    def lanes(self) -> int: ...

    @property
    def stacks(self) -> int: ...

    @property
    def samples(self) -> int: ...


class Tasks(Protocol):
    """What samples need to know of the tasks."""

    @property
    def name(self) -> np.ndarray: ...

    @property
    def lane(self) -> np.ndarray: ...

    @property
    def start(self) -> np.ndarray: ...

    @property
    def stop(self) -> np.ndarray: ...


def stacks_and_samples(
    size: Size,
    run: Tasks,
    workers: list[str],
    lane_worker: np.ndarray,
    start: float,
    random: np.random.Generator,
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables `stacks` and `samples`."""
    tree, leaves = _tree(size.stacks, random)
    yield "stacks", tree
    interval = max(0.01, float((run.stop - run.start).sum()) / max(size.samples, 1))
    for lane in range(size.lanes):
        mine = np.flatnonzero(run.lane == lane)
        if not len(mine):
            continue
        time = np.arange(1, max(2, int(run.stop[mine[-1]] / interval) + 1)) * interval
        at = mine[np.clip(np.searchsorted(run.start[mine], time) - 1, 0, None)]
        inside = (run.start[at] <= time) & (time <= run.stop[at])
        time, at = time[inside], at[inside]
        near = (run.name[at] * 7919 + random.integers(0, 1 + len(leaves) // 40, len(at))) % len(leaves)
        yield (
            "samples",
            {
                "process": Symbols(np.full(len(at), lane_worker[lane], "u4"), workers),
                "thread": Symbols(np.zeros(len(at), "u4"), [str(140_000_000_000_000 + 4_096 * lane)]),
                "time": start + time,
                "duration": np.full(len(at), interval),
                "stack": leaves[near],
                "run": at,
            },
        )


def _tree(count: int, random: np.random.Generator) -> tuple[Mapping[str, Any], np.ndarray]:
    """A tree of `count` nodes, parents first, about 20 deep, and its leaves."""
    index = np.arange(count)
    parent = np.maximum(index - random.geometric(0.35, count), 0)
    jump = random.random(count) < 0.08
    parent[jump] = (index[jump] * random.random(int(jump.sum())) ** 2).astype(int)
    parent[:1] = NOTHING
    function = random.zipf(1.3, count) % _FUNCTIONS
    first = 10 + function * 3 % 900
    columns = {
        "stack": index,
        "parent": parent,
        "function": Symbols(function.astype("u4"), [f"function_{i}" for i in range(_FUNCTIONS)]),
        "file": Symbols((function % len(_FILES)).astype("u4"), [f"/site-packages/{name}" for name in _FILES]),
        "line": first + random.integers(1, 40, count),
        "first_line": first,
    }
    leaves = np.setdiff1d(index, parent) if count > 1 else index
    return columns, leaves
