"""Faults in where data is kept and how it moves."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import numpy as np
from distributed import wait

from .planting import QUAD, Cluster, Work, addresses, compute, plant

_MB = 1_000_000


def array_of(megabytes: float, seed: int = 0) -> np.ndarray:
    """Numbers that cannot be compressed."""
    return np.random.default_rng(seed).random(int(megabytes * _MB / 8))


def render(number: int) -> np.ndarray:
    return array_of(110, number)


@plant("oversized-results", "render", cluster=QUAD)
def whole_pictures_brought_to_the_client(client: Any) -> Work:
    yield
    client.gather(client.map(render, range(8), pure=False))
    yield


def load_chunk(number: int) -> np.ndarray:
    compute(0.02)
    return array_of(20, number)


def total(chunk: np.ndarray) -> float:
    return float(chunk.sum()) + compute(0.02)


@plant("spill", "load_chunk", "total", cluster=Cluster(memory="420MB", spoilt=True))
def more_data_than_memory(client: Any) -> Work:
    workers = addresses(client)
    yield
    chunks = client.map(load_chunk, range(34), pure=False)
    wait(chunks)
    for _ in range(4):
        client.gather(client.map(total, chunks, pure=False))
    yield workers


_LOCK = threading.Lock()


def pivot(number: int) -> float:
    """Some need most of the worker's memory for a while, and give it back."""
    import psutil
    from distributed import get_worker

    if number % 3:
        return compute(0.1)
    with _LOCK:
        used = psutil.Process().memory_info().rss
        wide = np.ones(max(0, int(0.87 * get_worker().memory_manager.memory_limit - used)) // 8)
    return compute(0.5) + len(wide)


@plant("memory-pressure", "pivot", cluster=Cluster(threads=2, memory="700MB", spoilt=True))
def tasks_that_fill_the_memory(client: Any) -> Work:
    workers = addresses(client)
    yield
    client.gather(client.map(pivot, range(30), pure=False))
    yield workers


_SEEN: list[np.ndarray] = []


def annotate(number: int) -> float:
    """Remembers what it has seen, for good."""
    _SEEN.append(array_of(10, number))
    return compute(0.06)


def publish(number: float) -> float:
    return compute(0.03)


@plant("unmanaged-growth", "annotate", cluster=Cluster(memory="1GiB", spoilt=True))
def a_module_that_remembers_all_it_has_seen(client: Any) -> Work:
    workers = addresses(client)
    yield
    client.gather(client.map(publish, client.map(annotate, range(70), pure=False), pure=False))
    yield workers


def produce(number: int) -> np.ndarray:
    return array_of(40, number)


def align(block: np.ndarray) -> float:
    return float(block[0])


@plant("transfer-bound", "align", "produce")
def blocks_that_are_needed_elsewhere(client: Any) -> Work:
    first, second = addresses(client)
    yield
    for number in range(14):
        here, there = (first, second) if number % 2 else (second, first)
        blocks = client.map(produce, range(8 * number, 8 * number + 8), workers=[here], pure=False)
        client.gather(client.map(align, blocks, workers=[there], pure=False))
    yield


def decode(number: int) -> np.ndarray:
    return array_of(48, number)


def first_of(block: np.ndarray) -> float:
    return float(block[0])


@plant("transfer-bound", "decode", variant="before")
def blocks_that_were_made_elsewhere_before(client: Any) -> Work:
    here, there = addresses(client)
    blocks = client.map(decode, range(30), workers=[here], pure=False)
    wait(blocks)
    yield
    client.gather(client.map(first_of, blocks, workers=[there], pure=False))
    yield


class Legacy:
    """An object that takes long to pickle, on the event loop of the worker that sends it."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        time.sleep(0.25)
        return Legacy, (self.number,)


def wrap(number: int) -> Legacy:
    return Legacy(number)


def unwrap(wrapped: Legacy) -> float:
    return wrapped.number + compute(0.05)


@plant("slow-transfer", "wrap", variant="pickle")
def objects_that_take_long_to_pickle(client: Any) -> Work:
    here, there = addresses(client)
    wrapped = client.map(wrap, range(10), workers=[here], pure=False)
    wait(wrapped)
    yield
    client.gather(client.map(unwrap, wrapped, workers=[there], pure=False))
    yield [here]


def throttle(rate: float | None, dask_worker: Any) -> None:
    """Let a worker send no more bytes a second than this, as over a slow line."""
    if rate is None:
        dask_worker.handlers["get_data"] = dask_worker.get_data
        return
    send = dask_worker.get_data

    async def slowly(comm: Any, keys: Any, who: Any = None, serializers: Any = None) -> Any:
        write = comm.write

        async def wait_and_write(message: Any, *args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(sum(dask_worker.state.tasks[key].nbytes for key in keys) / rate)
            return await write(message, *args, **kwargs)

        comm.write = wait_and_write
        try:
            return await send(comm, keys, who=who, serializers=serializers)
        finally:
            comm.write = write

    dask_worker.handlers["get_data"] = slowly


def fetch(number: int) -> np.ndarray:
    return array_of(4, number)


def merge(block: np.ndarray) -> float:
    return float(block.sum()) + compute(0.04)


@plant("slow-transfer", "merge", "fetch")
def a_worker_behind_a_slow_line(client: Any) -> Work:
    first, slow = addresses(client)
    client.run(throttle, 20 * _MB, workers=[slow])
    yield
    for number in range(5):
        blocks = client.map(fetch, range(4 * number, 4 * number + 4), workers=[slow], pure=False)
        client.gather(client.map(merge, blocks, workers=[first], pure=False))
    yield [slow]
    client.run(throttle, None, workers=[slow])
