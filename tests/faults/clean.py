"""What people run every day, with nothing wrong in it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
from distributed import as_completed, wait, worker_client

from .planting import QUAD, Cluster, Work, addresses, clean, compute


@clean("array")
def an_array_that_is_reduced(client: Any) -> Work:
    import dask.array as da

    yield
    random = da.random.default_rng(0)
    cube = random.normal(size=(14_000, 14_000), chunks=2_000)
    ((cube - cube.mean(axis=0)) ** 2).sum(axis=1).compute()
    yield


def _read_day(number: int) -> pd.DataFrame:
    random = np.random.default_rng(number)
    rows = 400_000
    return pd.DataFrame({"shop": random.integers(0, 200, rows), "price": random.random(rows)})


def _per_shop(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["shop", "price"]).groupby("shop").price.describe()


@clean("frame")
def a_table_that_is_grouped_and_shuffled(client: Any) -> Work:
    import dask.dataframe as dd

    yield
    days = dd.from_map(_read_day, range(12), meta=_read_day(0).head(0))
    days.groupby("shop").price.agg(["mean", "max"]).compute()
    days.shuffle("shop").map_partitions(_per_shop).compute()
    yield


def leaf(number: int) -> float:
    return compute(0.25)


def join(first: float, second: float) -> float:
    return compute(0.06) + first + second


@clean("tree")
def a_tree_of_delayed_calls(client: Any) -> Work:
    yield
    level = [dask.delayed(leaf, pure=False)(number) for number in range(16)]
    while len(level) > 1:
        level = [dask.delayed(join)(*pair) for pair in zip(level[::2], level[1::2], strict=True)]
    level[0].compute()
    yield


def simulate(number: int) -> float:
    return compute(0.15 + 0.01 * (number % 5))


@clean("futures")
def futures_of_much_the_same_length(client: Any) -> Work:
    yield
    client.gather(client.map(simulate, range(36), pure=False))
    yield


def write_part(number: int, folder: str) -> str:
    path = f"{folder}/{number}.npy"
    compute(0.12)
    np.save(path, np.random.default_rng(number).random(1_500_000))
    return path


def read_part(path: str) -> float:
    part = np.load(path)
    return float(np.sort(part)[len(part) // 2]) + compute(0.08)


@clean("files")
def files_that_are_written_and_read(client: Any) -> Work:
    with tempfile.TemporaryDirectory() as folder:
        yield
        paths = client.map(write_part, range(20), folder=folder, pure=False)
        client.gather(client.map(read_part, paths, pure=False))
        assert len(list(Path(folder).iterdir())) == 20
        yield


def words(line: str) -> list[str]:
    return [word.strip(".,").lower() for word in line.split()]


@clean("bag")
def words_that_are_counted(client: Any) -> Work:
    import dask.bag as db

    text = "It was the best of times, it was the worst of times, it was the age of wisdom."
    yield
    lines = db.from_sequence(range(500_000), npartitions=8).map(lambda number: f"{text} {number % 97}")
    lines.map(words).flatten().frequencies().topk(20, key=lambda pair: pair[1]).compute()
    yield


@clean("local", cluster=None)
def the_threaded_scheduler(_: Any) -> Work:
    import dask.array as da

    yield
    with dask.config.set(scheduler="threads", num_workers=2):
        image = da.random.default_rng(0).normal(size=(9_000, 9_000), chunks=1_500)
        (image - image.mean()).std(axis=0).compute()
    yield


@clean("short")
def a_question_that_is_answered_at_once(client: Any) -> Work:
    yield
    client.gather(client.map(abs, range(-8, 0), pure=False))
    yield


@clean("one-task")
def a_single_task(client: Any) -> Work:
    yield
    client.submit(simulate, 1, pure=False).result()
    yield


@clean("threads", cluster=QUAD)
def two_threads_a_worker(client: Any) -> Work:
    """Four threads, whose work waits half of its time for a device, on however many cores there are."""
    import dask.array as da

    yield
    image = da.random.default_rng(0).normal(size=(12_000, 12_000), chunks=2_000)
    (image.T @ da.ones((12_000, 200), chunks=2_000)).sum().compute()
    yield


@clean("longer")
def half_a_minute_of_work_on_two_threads(client: Any) -> Work:
    yield
    for turn in range(2):
        numbers = range(100 * turn, 100 * turn + 40)
        made = [dask.delayed(simulate, pure=False)(number) for number in numbers]
        dask.delayed(sum)(made).compute()
    yield


@clean("growth", cluster=Cluster(workers=1, spoilt=True))
def a_cluster_that_grows_while_it_works(client: Any) -> Work:
    yield
    futures = client.map(simulate, range(24), pure=False)
    wait(futures[:4])
    client.cluster.scale(2)
    client.gather(futures)
    yield


@clean("shrinking", cluster=Cluster(spoilt=True))
def a_cluster_that_lets_a_worker_go_between_two_computations(client: Any) -> Work:
    yield
    client.gather(client.map(simulate, range(8), pure=False))
    client.retire_workers(addresses(client)[1:])
    client.gather(client.map(simulate, range(4), pure=False))
    yield


@clean("search")
def a_search_that_goes_where_results_lead(client: Any) -> Work:
    yield
    found = as_completed(client.map(simulate, range(6), pure=False))
    for number, _ in enumerate(found, 6):
        if number < 30:
            found.add(client.submit(simulate, number, pure=False))
    yield


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.asarray(((points[:, None, :] - centres[None]) ** 2).sum(-1).argmin(1))


@clean("iterations")
def iterations_over_data_that_are_kept(client: Any) -> Work:
    import dask.array as da

    yield
    points = da.random.default_rng(0).random((600_000, 8), chunks=(60_000, 8)).persist()
    centres = np.random.default_rng(0).random((24, 8))
    for _ in range(3):
        labels = points.map_blocks(nearest, centres, dtype=int, drop_axis=1)
        moved = dask.compute(*(points[labels == each].mean(axis=0) for each in range(3)))
        centres[:3] = moved
    yield


@clean("one-process", cluster=Cluster(workers=1, threads=2, processes=False, spoilt=True))
def a_cluster_inside_of_this_process(client: Any) -> Work:
    import dask.array as da

    yield
    image = da.random.default_rng(0).normal(size=(9_000, 9_000), chunks=1_500)
    (image @ image[:, :300]).sum().compute()
    yield


def spread(number: int) -> float:
    with worker_client() as client:
        return float(sum(client.gather(client.map(simulate, range(4), pure=False))))


@clean("nested")
def tasks_that_start_others_and_give_their_threads_back(client: Any) -> Work:
    yield
    client.gather(client.map(spread, range(6), pure=False))
    yield
