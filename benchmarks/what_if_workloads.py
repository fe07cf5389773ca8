"""Five workloads that `benchmarks.what_if` records on clusters of different sizes.

Each is what people run: an array that is loaded and reduced, a dataframe that
is shuffled, a tree of delayed calls, futures that answer to futures, reads of
uneven length. Their functions wait as if for storage, a service or an
accelerator, and use the CPU for a small part, so that four workers can be
faster than one on a machine that has but two cores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, as_completed

#: Seconds that the client does something else between two computations.
THINK = 0.3


def read_block(block: np.ndarray, block_info: Any = None) -> np.ndarray:
    """Load a block as from a store."""
    time.sleep(0.5)
    return block + 1.0


def correct(block: np.ndarray) -> np.ndarray:
    """Wait for a service that corrects a block."""
    time.sleep(0.15)
    return block * 2.0


def array(client: Client, size: int) -> None:
    """Load blocks, correct them, add the transposed, reduce twice with a pause between."""
    side = max(2, round((3 * size) ** 0.5))
    blocks = da.ones((200 * side, 200 * side), chunks=200).map_blocks(read_block, dtype=float)
    image = blocks.map_blocks(correct, dtype=float).persist()
    (image + image.T).sum(axis=0).compute()
    time.sleep(THINK)
    image.map_blocks(correct, dtype=float).std().compute()


def read_part(number: int, rows: int) -> pd.DataFrame:
    """Read a partition as from a store."""
    time.sleep(0.7)
    rng = np.random.default_rng(number)
    return pd.DataFrame({"key": rng.integers(0, 1000, rows), "value": rng.random(rows)})


def enrich(part: pd.DataFrame) -> pd.DataFrame:
    """Ask a service about a partition."""
    time.sleep(0.4)
    return part.assign(more=part["value"] * 2.0)


def frame(client: Client, size: int) -> None:
    """Read partitions, shuffle them by key, enrich and sum them."""
    meta = pd.DataFrame({"key": np.zeros(0, int), "value": np.zeros(0)})
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):
        parts = dd.from_map(read_part, range(round(1.7 * size)), rows=20_000, meta=meta)
        shuffled = parts.shuffle("key").map_partitions(enrich, meta=meta.assign(more=0.0))
        shuffled.groupby("key").sum().compute()


def leaf(number: int) -> float:
    """A simulation whose length differs from one to the next."""
    time.sleep(0.15 + 0.03 * (number * 7 % 11))
    return float(number)


def join(*results: float) -> float:
    """Two results made one; the last may be alone."""
    time.sleep(0.1)
    return sum(results)


def tree(client: Client, size: int) -> None:
    """A tree of delayed calls, joined in pairs."""
    level = [dask.delayed(leaf)(number) for number in range(5 * size)]
    while len(level) > 1:
        level = [dask.delayed(join)(*level[at : at + 2]) for at in range(0, len(level), 2)]
    level[0].compute()


def fetch(number: int) -> int:
    """One answer of a service."""
    time.sleep(0.2 + 0.02 * (number % 5))
    return number


def digest(number: int) -> int:
    """What follows from one answer."""
    time.sleep(0.1)
    return number


def futures(client: Client, size: int) -> None:
    """Rounds of futures, each answered by another as it comes, with a pause between the rounds."""
    for turn in range(3):
        numbers = range(100 * turn, 100 * turn + 2 * size)
        second = [client.submit(digest, done) for done in as_completed(client.map(fetch, numbers))]
        client.gather(second)
        time.sleep(THINK)


def download(number: int) -> bytes:
    """A file that comes now fast, now slowly, and is unpacked."""
    time.sleep(float(np.random.default_rng(number).lognormal(-1.4, 0.5)))
    until = time.thread_time() + 0.01
    while time.thread_time() < until:
        pass
    return bytes(200_000)


def check(parts: Sequence[bytes]) -> int:
    """What needs a handful of files."""
    time.sleep(0.2)
    return sum(map(len, parts))


def reads(client: Client, size: int) -> None:
    """Reads of uneven length, checked by the handful."""
    files = [dask.delayed(download)(number) for number in range(6 * size)]
    checks = [dask.delayed(check)(files[at : at + 6]) for at in range(0, len(files), 6)]
    dask.compute(*checks)


WORKLOADS: dict[str, Callable[[Client, int], None]] = {
    "array": array,
    "dataframe shuffle": frame,
    "delayed tree": tree,
    "futures": futures,
    "reads": reads,
}
