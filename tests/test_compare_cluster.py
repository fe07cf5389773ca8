"""Runs of a real cluster, compared: what was made slower is named first, what was not changed is the same."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording

PARTS = 24


def _busy(seconds: float) -> int:
    """So much CPU time, however long that takes on a busy machine."""
    until, rounds = time.thread_time() + seconds, 0
    while time.thread_time() < until:
        rounds += sum(range(1000))
    return rounds


def load(number: int) -> int:
    return _busy(0.02) * 0 + number


def model(number: int, seconds: float) -> int:
    return _busy(seconds) * 0 + number


def merge(numbers: list[int]) -> int:
    return sum(numbers)


def _run(client: Any, seconds: float, name: str, **options: Any) -> Recording:
    loaded = [dask.delayed(load, pure=False)(number) for number in range(PARTS)]
    modelled = [dask.delayed(model, pure=False)(part, seconds) for part in loaded]
    with dask_insight.record(None, client, name) as recording:
        assert dask.delayed(merge)(modelled).compute(**options) == sum(range(PARTS))
    return recording


@pytest.fixture(scope="module")
def cluster_of() -> Iterator[Callable[[int], Any]]:
    """Clients of clusters with so many workers of one thread."""
    made: dict[int, tuple[Any, Any]] = {}

    def client(workers: int) -> Any:
        if workers not in made:
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
            made[workers] = (cluster, Client(cluster))
        return made[workers][1]

    yield client
    for cluster, each in made.values():
        each.close()
        cluster.close()


@pytest.fixture(scope="module")
def local() -> Recording:
    """The same on two threads of this process, recorded before there are clusters."""
    with dask_insight.record(None, None, "local") as recording:
        tasks = [dask.delayed(model)(dask.delayed(load)(number), 0.05) for number in range(PARTS)]
        dask.delayed(merge)(tasks).compute(scheduler="threads", num_workers=2)
    return recording


@pytest.fixture(scope="module")
def runs(local: Recording, cluster_of: Callable[[int], Any]) -> dict[str, list[Recording]]:
    """Two runs, and two in which `model` takes twice the CPU time, one after the other in turn."""
    client = cluster_of(2)
    _run(client, 0.01, "warm")
    found: dict[str, list[Recording]] = {"before": [], "after": []}
    for _ in range(2):
        found["before"].append(_run(client, 0.05, "before"))
        found["after"].append(_run(client, 0.1, "after"))
    return found


def test_what_was_made_twice_slower_is_named_first(runs: dict[str, list[Recording]]) -> None:
    found = dask_insight.compare(runs["before"], runs["after"])
    first = found.names.iloc[1]
    assert first["name"] == "model" and first["verdict"] in ("slower", "costlier"), str(found)
    assert first["cpu"] == pytest.approx(0.1, rel=0.15)
    assert first["cpu_change"] == pytest.approx(0.05, rel=0.3)
    assert found.sides["name"].tolist() == ["before", "after"]
    assert "`model` takes " in found.verdict()
    others = found.names[(found.names["side"] == 1) & (found.names["name"] != "model")]
    assert dict(zip(others["name"], others["count"], strict=True)) == {"load": PARTS, "merge": 1}
    shares = found.budget.groupby("side")["wall"].sum()
    assert shares.tolist() == pytest.approx(found.sides["seconds"].tolist())
    assert found.memory.groupby(["side", "run"]).size().gt(1).all() and found.sides["memory"].gt(1e7).all()
    frames = found.stacks.groupby(["function", "side"], observed=True)["total"].sum()
    assert frames["model", 1] > 1.2 * frames["model", 0] > 0
    assert len(found.settings) == 0, str(found.settings)


def test_one_run_of_each_side_is_enough_to_name_it(runs: dict[str, list[Recording]]) -> None:
    found = dask_insight.compare(runs["before"][0], runs["after"][1])
    assert found.names.iloc[1]["name"] == "model", str(found)
    assert found.names.iloc[1]["verdict"] in ("slower", "costlier")


def test_runs_of_the_same_are_the_same(runs: dict[str, list[Recording]]) -> None:
    for side in runs.values():
        found = dask_insight.compare(*side)
        model_row = found.names[(found.names["side"] == 1) & (found.names["name"] == "model")].iloc[0]
        assert model_row["verdict"] not in ("costlier", "cheaper", "more", "fewer"), str(found)
        assert abs(model_row["cpu_change"]) <= model_row["cpu_noise"]


def test_a_cluster_with_one_worker_and_a_local_scheduler(
    runs: dict[str, list[Recording]],
    local: Recording,
    cluster_of: Callable[[int], Any],
    tmp_path: Path,
) -> None:
    one = _run(cluster_of(1), 0.05, "one worker")
    found = dask_insight.compare(runs["before"], one, local, names=["two", "one", "local"])
    assert found.sides["threads"].round().tolist() == [2, 1, 2]
    assert "one took" in found.verdict() and "on 1 thread instead of 2" in found.verdict()
    models = found.names[found.names["name"] == "model"]
    assert models["count"].tolist() == [PARTS] * 3
    assert models["cpu"].iloc[1] == pytest.approx(models["cpu"].iloc[0], rel=0.2)
    assert ("cluster", "workers") in set(zip(found.settings["kind"], found.settings["name"], strict=True))
    found.save(tmp_path / "compared.dinsight")
    assert dask_insight.open(tmp_path / "compared.dinsight").summary().verdict() == found.verdict()


def test_the_commands_exit_code_agrees_with_what_it_tells(
    runs: dict[str, list[Recording]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths: dict[str, list[str]] = {}
    for side, recordings in runs.items():
        paths[side] = [str(tmp_path / f"{side}-{number}.dinsight") for number in range(2)]
        for path, recording in zip(paths[side], recordings, strict=True):
            recording.save(path)
    code = main(
        ["compare", ",".join(paths["before"]), ",".join(paths["after"]), "--json", "--fail-if-slower", "10%"]
    )
    told = json.loads(capsys.readouterr().out)
    assert code == (6 if told["slower"] else 0)
    assert told["names"][1]["name"] == "model"
