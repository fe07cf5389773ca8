"""Several clusters in one recording: what one waited for is no matter of another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_findings_time import limited, scheduler, unassigned
from test_time_budget import NAN, START, Run

import dask_insight
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording
from dask_insight.timeline import by_cluster, one_cluster

ONE, TWO = "tcp://one:1", "tcp://two:1"


def two(**more: dict[str, Any]) -> Recording:
    """A chain of 2 s on a worker of the first cluster; beside it one of 5 s on another, begun earlier."""
    run = Run(a={"threads": 1, "joined": -1.0, "left": NAN}, b={"threads": 2, "joined": -1.0, "left": NAN})
    first = run.task("fit", "b", 0, 2)
    run.task("fit", "b", 2, 5, first)
    first = run.task("load", "a", 1, 2, submitted=1)
    run.task("load", "a", 2, 3, first, submitted=1)
    workers = {
        "worker": ["a", "b"],
        "threads": [1, 2],
        "joined": [START - 1.0] * 2,
        "left": [NAN] * 2,
        "cluster": [ONE, TWO],
    }
    run.tables = {"workers": workers, **more}
    return run.recording()


def test_the_cluster_with_most_work_is_the_first() -> None:
    found = by_cluster(two().columns)
    assert list(found) == [TWO, ONE]
    assert found[ONE]("workers")["worker"].tolist() == ["a"]
    assert found[ONE]("attempts")["task"].tolist() == [2, 3]
    assert one_cluster(two().columns, None)[0] == TWO


def test_a_recording_of_one_cluster_is_read_as_it_is() -> None:
    run = Run()
    run.task("load", "a", 0, 1)
    read = run.recording().columns
    assert one_cluster(read, None) == ("", read) == one_cluster(read, "")


def test_the_path_of_the_only_cluster_names_it() -> None:
    run = Run()
    run.task("load", "a", 0, 1)
    run.tables = {"workers": {"worker": ["a"], "threads": [1], "joined": [START - 1.0], "cluster": [ONE]}}
    recording = run.recording()
    assert recording.critical_path(cluster=ONE).equals(recording.critical_path())
    assert set(recording.critical_path()["cluster"]) == {ONE}


def test_attempts_that_had_no_worker_belong_to_their_submission() -> None:
    run = Run(a={"threads": 1, "joined": -1.0, "left": NAN}, b={"threads": 1, "joined": -1.0, "left": NAN})
    run.task("fit", "b", 0, 2)
    run.task("load", "a", 1, 2)
    run.task("load", "", NAN, NAN, submitted=1, status="cancelled", ended=3.0)
    run.tables = {
        "workers": {"worker": ["a", "b"], "cluster": [ONE, TWO]},
        "graph": {"task": range(3), "prefix": ["fit", "load", "load"], "submission": [0, 1, 1]},
    }
    assert by_cluster(run.recording().columns)[ONE]("attempts")["task"].tolist() == [1, 2]


def test_a_cluster_without_tasks_has_no_part_in_what_others_wrote() -> None:
    run = Run(a={"threads": 1, "joined": -1.0, "left": NAN}, b={"threads": 1, "joined": -1.0, "left": NAN})
    run.task("fit", "b", 0, 2)
    run.tables = {
        "workers": {"worker": ["a", "b"], "threads": [1, 1], "cluster": [ONE, TWO]},
        "phases": {"run": [0], "action": ["disk-write"], "start": [START + 1.9], "stop": [START + 2.0]},
    }
    assert set(run.recording().time_budget(by="cluster")["cluster"]) == {ONE, TWO}


def test_each_has_its_critical_path() -> None:
    recording = two()
    path = recording.critical_path()
    assert path["cluster"].tolist() == [TWO, TWO, ONE, ONE]
    assert path.groupby("cluster")["seconds"].sum().to_dict() == pytest.approx({ONE: 2, TWO: 5})
    assert recording.critical_path(cluster=ONE)["worker"].tolist() == ["a", "a"]
    assert recording.critical_path(by="cluster")["seconds"].to_dict() == pytest.approx({TWO: 5, ONE: 2})
    assert recording.table("critical")["cluster"].tolist() == [TWO, TWO, ONE, ONE]
    with pytest.raises(ValueError, match=f"'tcp://three': no tasks .* there are '{TWO}', '{ONE}'"):
        recording.critical_path(cluster="tcp://three")


def test_each_has_its_bounds_and_is_simulated_alone() -> None:
    recording = two()
    bounds = recording.bounds()
    assert (bounds.cluster, bounds.threads, bounds.seconds, bounds.longest) == (TWO, 2, 5, 5)
    assert bounds.verdict().startswith(f"{TWO}: 5")
    other = recording.bounds(cluster=ONE)
    assert (other.cluster, other.threads, other.seconds, other.longest) == (ONE, 1, 2, 2)
    answer = recording.what_if(faster={"load": 2}, cluster=ONE)
    assert (answer.cluster, answer.recorded, answer.workers_before) == (ONE, 2, 1)
    assert answer.seconds == pytest.approx(1, rel=0.05)
    assert answer.verdict().startswith(f"{ONE}: With `load` 2 times faster")
    with pytest.raises(ValueError, match=r"no task name 'load' .* 'fit'"):
        recording.what_if(faster={"load": 2})


@pytest.mark.parametrize("at_once", [True, False])
def test_of_schedulers_that_were_there_at_once_no_load_is_told(at_once: bool) -> None:
    """Samples do not say which of them they are of."""
    run = scheduler(unassigned(0.4), cpu=95, lag=0.3)
    run.task("last", "c", 20, 21, submitted=20)
    workers = {"worker": ["a", "b", "c"], "threads": [1] * 3, "cluster": [ONE, ONE, TWO]}
    lives = {
        "joined": START + np.array([-1, -1, 0 if at_once else 15]),
        "left": START + np.array([14, 14, NAN]),
    }
    run.tables["workers"] = {**workers, **lives}
    limited(run, 1.0, 0.9)
    recording = run.recording()
    told = {"scheduler-bound", "cpu-limit"} & {each.code for each in recording.findings()}
    assert told == (set() if at_once else {"scheduler-bound", "cpu-limit"})
    _, read = one_cluster(recording.columns, ONE)
    assert len(read("resources")["time"]) == (0 if at_once else 12)


def test_the_page_is_told_of_each() -> None:
    rows = two().table("what_if")
    recorded = rows[rows.question == "recorded"]
    assert recorded[["cluster", "seconds"]].values.tolist() == [[TWO, 5], [ONE, 2]]
    assert (rows[rows.question == "calibration"].cluster == [TWO, ONE]).all()


def test_the_command_tells_of_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "two.dinsight")
    two().save(path)
    assert main(["what-if", path]) == 0
    said = capsys.readouterr().out
    assert 0 <= said.index(f"{TWO}: 5") < said.index(f"{ONE}: 2")
    assert main(["what-if", path, "--workers", "4", "--cluster", ONE]) == 0
    assert capsys.readouterr().out.startswith(f"{ONE}: With 4 workers instead of 1")
    assert main(["what-if", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [told["bounds"]["cluster"], *(each["bounds"]["cluster"] for each in told["others"])] == [TWO, ONE]
    assert main(["what-if", path, "--cluster", "tcp://three"]) == 2
    assert "no tasks of this recording ran there" in capsys.readouterr().err


def test_the_command_tells_of_one_where_another_ended_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(a={"threads": 1, "joined": -1.0, "left": NAN}, b={"threads": 2, "joined": -1.0, "left": NAN})
    run.task("fit", "b", 0, 2)
    run.task("load", "a", 1, NAN, status="cancelled", ended=3.0)
    run.tables = {"workers": {"worker": ["a", "b"], "threads": [1, 2], "cluster": [ONE, TWO]}}
    path = str(tmp_path / "two.dinsight")
    run.recording().save(path)
    assert main(["what-if", path]) == 0
    said = capsys.readouterr().out
    assert 0 <= said.index(f"{TWO}: 2") < said.index(f"{ONE}: no task ended")
    assert main(["what-if", path, "--json"]) == 0
    [other] = json.loads(capsys.readouterr().out)["others"]
    assert other["cluster"] == ONE and "no task ended" in other["why"]
    assert main(["what-if", path, "--cluster", ONE]) == 1


def test_a_chain_on_one_of_them_is_found() -> None:
    """Their paths are not put together: that of the longest is looked at."""
    run = Run(a={"threads": 2, "joined": -1.0, "left": NAN}, b={"threads": 2, "joined": -1.0, "left": NAN})
    for worker, name, at, span in (("b", "fit", 0, 3), ("a", "load", 1, 2)):
        before: tuple[int, ...] = ()
        for step in range(3):
            before = (run.task(name, worker, at + span * step, at + span * (step + 1), *before),)
    workers = {"worker": ["a", "b"], "threads": [2, 2], "joined": [START - 1.0] * 2, "left": [NAN] * 2}
    run.tables = {"workers": workers | {"cluster": [ONE, TWO]}}
    found = [each for each in run.recording().findings() if each.code == "critical-path"]
    assert [each.tasks for each in found] == [("fit",)]


def test_figures_name_the_one_that_they_show() -> None:
    from dask_insight.figures.panels import critical_path, what_if
    from dask_insight.figures.request import Request

    request = Request(two())
    assert critical_path.chart(request).title == f"Critical path, {TWO}"
    assert critical_path.chart(Request(two(), worker="a")).title == f"Critical path, {ONE}"
    assert what_if.chart(request).title == f"What if, {TWO}"


@pytest.mark.parametrize("first", ["client", "cluster"])
def test_one_cluster_after_the_other(first: str) -> None:
    from distributed import Client, LocalCluster

    with dask_insight.record() as run:
        for _ in range(2):
            cluster = LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None)
            client = Client(cluster)
            client.gather(client.map(abs, range(10), pure=False))
            for each in (client, cluster) if first == "client" else (cluster, client):
                each.close()
    summary = run.summary()
    assert summary.tasks == 20
    assert summary.place().split(", ") == ["1 worker", "2 threads", "2 clusters"], "not two at once"
    last = run.workers.drop_duplicates("worker", keep="last")
    assert last["left"].iloc[0] < last["joined"].iloc[1]
    found = {each.code: each for each in run.findings({"new-cluster.seconds": 0.01, "all.seconds": 0.01})}
    away = last["joined"].iloc[1] - last["left"].iloc[0]
    assert found["new-cluster"].cost_seconds == pytest.approx(away, abs=0.1)
    assert "client-gap" not in found or found["client-gap"].cost_seconds < away
