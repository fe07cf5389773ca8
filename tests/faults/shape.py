"""Faults in the shape of the work: what there is to do, in which pieces, and in which order."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
import pandas as pd
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import SchedulerPlugin, wait

from .planting import QUAD, Cluster, Work, addresses, compute, plant


def parse_line(number: int) -> dict[str, Any]:
    """One line of a log, a task of its own."""
    return {"number": number, "words": f"GET /items/{number} 200".split()}


@plant("tiny-tasks", "parse_line", variant="futures")
def a_task_for_every_line(client: Any) -> Work:
    yield
    client.gather(client.map(parse_line, range(3_000), pure=False))
    yield


@plant("tiny-tasks", "random", "mean_chunk", "mean_combine-partial", variant="array")
def chunks_of_a_few_kilobytes(client: Any) -> Work:
    import dask.array as da

    yield
    image = da.random.default_rng(0).random((1_600, 1_600), chunks=(40, 40))
    ((image + 1.0) ** 2).mean().compute()
    yield


def parse_log(number: int) -> list[dict[str, Any]]:
    """The lines of a file as dictionaries, all of which are kept."""
    return [parse_line(each) for each in range(100_000)]


@plant("garbage-collection", "parse_log")
def records_that_are_dictionaries(client: Any) -> Work:
    yield
    logs = client.map(parse_log, range(14), pure=False)
    client.gather(client.map(len, logs))
    yield


class Audit(SchedulerPlugin):
    """Keeps a journal of every transition, on the scheduler's own event loop."""

    name = "audit"

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        until = time.perf_counter() + 0.004
        while time.perf_counter() < until:
            json.dumps({"key": str(key), "from": start, "to": finish})


def enhance(number: int) -> float:
    return compute(0.02) + number


@plant("scheduler-bound", "enhance", cluster=QUAD, says="`Audit.transition` (`shape.py:")
def a_scheduler_that_keeps_a_journal(client: Any) -> Work:
    client.register_plugin(Audit())
    yield
    client.gather(client.map(enhance, range(200), pure=False))
    yield
    client.unregister_scheduler_plugin(Audit.name)


def fit(number: int) -> float:
    return compute(3.0 if number == 13 else 0.15)


def best(fits: list[float]) -> float:
    return max(fits)


@plant("straggler", "fit")
def one_of_the_last_fits_takes_long(client: Any) -> Work:
    yield
    fits = [client.submit(fit, number, pure=False) for number in range(16)]
    client.submit(best, fits).result()
    yield


def solve(frame: pd.DataFrame) -> pd.DataFrame:
    compute(6.0 if frame.index[0] == 0 else 0.2)
    return frame


@plant("straggler", "solve", variant="queue")
def tasks_that_stand_behind_a_slow_one(client: Any) -> Work:
    """The next steps of what its worker has done wait there for its thread."""
    import dask.dataframe as dd

    frame = pd.DataFrame({"value": np.arange(16_000.0)})
    yield
    dd.from_pandas(frame, npartitions=16).map_partitions(solve, meta=frame.head(0)).value.sum().compute()
    yield


def step(state: float, number: int) -> float:
    return state + compute(0.2)


def diagnose(state: float) -> float:
    return compute(0.05)


@plant("critical-path", "step", cluster=QUAD)
def each_step_needs_the_one_before(client: Any) -> Work:
    state, looks = 0.0, []
    for number in range(18):
        state = dask.delayed(step, pure=False)(state, number)
        looks.append(dask.delayed(diagnose, pure=False)(state))
    yield
    dask.compute(state, looks)
    yield


def load_all(path: str) -> pd.DataFrame:
    compute(1.3)
    return pd.DataFrame({"value": np.arange(100_000.0)})


def denoise(frame: pd.DataFrame) -> pd.DataFrame:
    compute(1.5)
    return frame * 2


def classify(frame: pd.DataFrame) -> pd.DataFrame:
    compute(1.2)
    return frame > 1


@plant("too-few-tasks", "denoise", "load_all", "classify", cluster=QUAD)
def a_table_in_one_partition(client: Any) -> Work:
    import dask.dataframe as dd

    yield
    meta = pd.DataFrame({"value": np.zeros(0)})
    table = dd.from_map(load_all, ["all.csv"], meta=meta).persist()
    wait(table)
    clear = table.map_partitions(denoise, meta=meta).persist()
    wait(clear)
    clear.map_partitions(classify, meta=meta > 1).compute()
    yield


def impute(frame: pd.DataFrame) -> pd.DataFrame:
    compute(1.0)
    return frame


@plant("too-few-tasks", "impute", variant="partition", cluster=QUAD)
def steps_on_a_single_partition(client: Any) -> Work:
    """They follow one another, but what is missing are partitions."""
    import dask.dataframe as dd

    frame = pd.DataFrame({"value": np.arange(100_000.0)})
    yield
    table = dd.from_pandas(frame, npartitions=1)
    table.map_partitions(impute, meta=frame.head(0)).map_partitions(impute, meta=frame.head(0)).compute()
    yield


def score(model: np.ndarray, number: int) -> float:
    return float(model[number]) + compute(0.05)


class _Index(MaterializedLayer):
    """Steps that the scheduler, when it makes them, has to look up from afar."""

    def __iter__(self) -> Iterator[Any]:
        if "Offload" in threading.current_thread().name and not vars(self).get("known"):
            self.known = True
            time.sleep(2.0)
        return super().__iter__()


@plant("slow-graph", "lookup")
def a_graph_that_the_scheduler_is_long_at(client: Any) -> Work:
    from dask.delayed import Delayed

    yield
    steps: dict[str, Any] = {f"lookup-{number}": (compute, 0.3) for number in range(8)}
    steps |= {"total": (sum, list(steps))}
    graph = HighLevelGraph({"steps": _Index(steps)}, {"steps": set()})
    # Some versions of Dask, to optimize it, would make a layer of another class of it.
    client.compute(Delayed("total", graph, layer="steps"), optimize_graph=False).result()
    yield


@plant("large-graph", "score")
def a_model_inside_of_every_task(client: Any) -> Work:
    model = np.random.default_rng(0).random(6_000_000)
    yield
    dask.compute(*(dask.delayed(score, pure=False)(model, number) for number in range(16)))
    yield


@plant("large-graph", "array", variant="array")
def an_array_of_the_client_in_the_graph(client: Any) -> Work:
    import dask.array as da

    image = np.random.default_rng(0).random((3_000, 3_000))
    yield
    chunks = da.from_array(image, chunks=500)
    (chunks - chunks.mean(axis=0)).std().compute()
    yield


def simulate(seed: int) -> float:
    return compute(0.1)


@plant("client-gap", variant="loop", says="the program was at `shape.py:")
def a_client_that_thinks_between(client: Any) -> Work:
    yield
    for number in range(7):
        client.gather(client.map(simulate, range(number, number + 4), pure=False))
        time.sleep(0.45)
    yield


@plant("client-gap", variant="own-work")
def a_client_that_works_alone(client: Any) -> Work:
    yield
    for _ in range(4):
        results = dask.compute(*(dask.delayed(simulate, pure=False)(number) for number in range(4)))
        compute(0.7 + min(results))
    yield


@plant("restart", cluster=Cluster(spoilt=True))
def a_cluster_that_is_restarted(client: Any) -> Work:
    yield
    for _ in range(3):
        client.gather(client.map(simulate, range(10), pure=False))
        client.restart()
    client.gather(client.map(simulate, range(10), pure=False))
    yield


def predict(number: int) -> float:
    from . import heavy

    return heavy.predict(number) + compute(0.06)


@plant("cold-start", "predict", variant="import", cluster=Cluster(spoilt=True))
def a_library_that_takes_long_to_import(client: Any) -> Work:
    yield
    client.gather(client.map(predict, range(30), pure=False))
    yield


@plant("cold-start", variant="workers", cluster=Cluster(workers=0, spoilt=True))
def workers_that_are_asked_for_late(client: Any) -> Work:
    # They load their models before they join.
    client.cluster.new_spec["options"]["preload"] = [f"{__package__}.heavy"]
    yield
    client.cluster.scale(2)
    client.gather(client.map(simulate, range(30), pure=False))
    yield


def load(number: int) -> np.ndarray:
    compute(0.35)
    return np.full(10_000, float(number))


def mean_of(blocks: list[np.ndarray]) -> float:
    return float(np.mean(blocks))


def spread_of(blocks: list[np.ndarray]) -> float:
    return float(np.std(blocks))


@plant("recompute", "load")
def loaded_again_for_every_question(client: Any) -> Work:
    blocks = [dask.delayed(load, pure=True)(number) for number in range(6)]
    yield
    for question in (mean_of, spread_of, mean_of):
        dask.delayed(question)(blocks).compute()
    yield


def calibrate(block: np.ndarray) -> np.ndarray:
    compute(0.2)
    return block


@plant("recompute", variant="fused")
def an_array_that_is_asked_twice(client: Any) -> Work:
    """What is computed again has no key of its own: Dask fuses it into what follows."""
    import dask.array as da

    image = da.zeros((3_000, 3_000), chunks=750).map_blocks(calibrate)
    yield
    image.mean().compute()
    image.std().compute()
    yield


def relax(number: int) -> float:
    return _on_this_host(0.16)


def project(number: float) -> float:
    return _on_this_host(0.1)


def smooth(number: float) -> float:
    return _on_this_host(0.12)


def _on_this_host(seconds: float) -> float:
    from distributed import get_worker

    return compute(seconds * (3.0 if get_worker().name == 1 else 1.0))


@plant("worker-skew")
def a_worker_on_a_slow_host(client: Any) -> Work:
    slow = addresses(client)[1]
    yield
    chains = [
        dask.delayed(smooth)(dask.delayed(project)(dask.delayed(relax, pure=False)(number)))
        for number in range(14)
    ]
    dask.compute(*chains)
    yield [slow]


def resample(number: int) -> float:
    return compute(0.25)


def plot(number: int) -> float:
    return compute(0.1)


@plant("worker-skew", "resample", variant="pinned")
def all_work_pinned_to_one_worker(client: Any) -> Work:
    first, second = addresses(client)
    yield
    pinned = client.map(resample, range(14), workers=[first], pure=False)
    client.gather([*pinned, *client.map(plot, range(2), workers=[second], pure=False)])
    yield [first, second]


def load_region(number: int) -> pd.DataFrame:
    """Most people live in one region."""
    rows = 1_400_000 if number == 9 else 40_000 + 2_000 * number
    random = np.random.default_rng(number)
    return pd.DataFrame({"age": random.integers(0, 100, rows), "income": random.random(rows)})


def rank(frame: pd.DataFrame) -> pd.Series:
    compute(2.5e-6 * len(frame))
    return frame.income.head(10)


@plant("data-skew", "rank", "load_region")
def one_region_with_most_rows(client: Any) -> Work:
    yield
    regions = client.map(load_region, range(14), pure=False)
    client.gather(client.map(rank, regions, pure=False))
    yield


@plant("task-shuffle", "split-taskshuffle", "split-stage", "shuffle-split")
def a_shuffle_made_of_tasks(client: Any) -> Work:
    import dask.dataframe as dd

    table = pd.DataFrame({"key": np.arange(200_000) % 997, "value": 1.0})
    parts = dd.from_pandas(table, npartitions=200)
    yield
    parts.shuffle("key", shuffle_method="tasks").value.sum().compute()
    yield


def train(number: int) -> float:
    return compute(0.25)


@plant("no-worker", "train", cluster=Cluster(spoilt=True), says="`GPU=1`")
def tasks_that_ask_for_what_no_worker_has(client: Any) -> Work:
    yield
    futures = client.map(train, range(4), pure=False, resources={"GPU": 1})
    client.gather(client.map(train, range(20), pure=False))
    client.cancel(futures)
    yield
