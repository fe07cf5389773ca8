"""Several Chrome traces as one recording: parts of one run, and several runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.sources.files import load

MONDAY = 1.7e9
TUESDAY = MONDAY + 86_400


def exported(path: Path, zero: float, tasks: list[str], worker: str, joined: float, left: float) -> Path:
    """Our own trace of tasks that take a second each, one after another, each needing the one before."""
    run, many = Recording(), len(tasks)
    run.append(encode("about", {"name": ["started"], "value": [json.dumps(zero)]}))
    run.append(encode("workers", {"worker": [worker], "threads": [2], "joined": [joined], "left": [left]}))
    start, stop = zero + np.arange(many), zero + 1 + np.arange(many)
    run.append(encode("graph", {"task": list(range(many)), "key": tasks, "prefix": tasks}))
    place = {"worker": [worker] * many, "thread": ["7"] * many, "status": ["ok"] * many}
    moments = {"start": start, "stop": stop, "done": stop}
    run.append(encode("attempts", {"run": list(range(many)), "task": list(range(many)), **place, **moments}))
    run.append(encode("edges", {"task": list(range(1, many)), "dependency": list(range(many - 1))}))
    run.append(encode("resources", {"process": ["scheduler"], "time": [zero], "cpu": [50.0]}))
    return run.export(path, "chrome")


def of_tasks(recording: Recording, column: str) -> dict[str, Any]:
    tasks = recording.tasks
    return dict(zip(tasks["key"].astype("str"), tasks[column].astype("str").tolist(), strict=True))


def dates(recording: Recording) -> dict[str, float]:
    tasks = recording.tasks
    return {
        key: round(recording.started + start, 3)
        for key, start in zip(tasks["key"].astype("str"), tasks["start"], strict=True)
    }


def needs(recording: Recording) -> list[tuple[str, str]]:
    keys = recording.columns("graph")["key"].tolist()
    edges: Any = recording.columns("edges")
    return sorted((keys[a], keys[b]) for a, b in zip(edges["task"], edges["dependency"], strict=True))


def test_tasks_of_one_key_are_told_apart(tmp_path: Path) -> None:
    """As several computations have them; an attempt after a failed one is at the same task."""
    run, many = Recording(), 5
    run.append(encode("about", {"name": ["started"], "value": [json.dumps(MONDAY)]}))
    run.append(encode("graph", {"task": range(4), "key": ["x", "y"] * 2, "prefix": ["x", "y"] * 2}))
    run.append(encode("edges", {"task": [1, 3], "dependency": [0, 2]}))
    start = MONDAY + np.arange(many)
    place = {"worker": ["a"] * many, "thread": ["7"] * many, "status": ["ok", "ok", "erred", "ok", "ok"]}
    moments = {"start": start, "stop": start + 1, "done": start + 1}
    run.append(encode("attempts", {"run": range(many), "task": [0, 1, 2, 2, 3], **place, **moments}))
    file = run.export(tmp_path / "run.trace.json")
    again = load(file)
    columns = ["key", "attempt", "status", "task"]
    assert again.tasks[columns].to_numpy().tolist() == run.tasks[columns].to_numpy().tolist()
    assert needs(again) == [("y", "x")] * 2
    edges: Any = again.columns("edges")
    assert sorted(zip(edges["task"], edges["dependency"], strict=True)) == [(1, 0), (3, 2)]


def test_tasks_of_one_key_in_several_runs_are_several(tmp_path: Path) -> None:
    mon = exported(tmp_path / "mon.trace.json", MONDAY, ["a", "b"], "tcp://a:1", MONDAY, np.nan)
    tue = exported(tmp_path / "tue.trace.json", TUESDAY, ["a", "b"], "tcp://a:1", TUESDAY, np.nan)
    tasks = load(mon, tue).tasks
    assert tasks["key"].tolist() == ["a", "b"] * 2
    assert tasks["attempt"].tolist() == [1] * 4


@pytest.mark.parametrize("worker", ["tcp://a:1", "threads"])
@pytest.mark.parametrize("first", ["mon", "tue"])
def test_runs_stand_at_their_own_dates_with_workers_of_their_own(
    tmp_path: Path, worker: str, first: str
) -> None:
    made = {
        "mon": exported(tmp_path / "mon.trace.json", MONDAY, ["a", "b"], worker, MONDAY, np.nan),
        "tue": exported(tmp_path / "tue.trace.json", TUESDAY, ["c", "d"], worker, TUESDAY - 1, np.nan),
    }
    recording = load(made.pop(first), *made.values())
    assert dates(recording) == {"a": MONDAY, "b": MONDAY + 1, "c": TUESDAY, "d": TUESDAY + 1}
    assert of_tasks(recording, "worker") == {"a": worker, "b": worker, "c": f"{worker}#2", "d": f"{worker}#2"}
    assert needs(recording) == [("b", "a"), ("d", "c")]
    joined = dict(zip(recording.workers["worker"], recording.workers["joined"], strict=True))
    assert joined == pytest.approx({worker: 0.0, f"{worker}#2": TUESDAY - 1 - MONDAY})
    left = dict(zip(recording.workers["worker"], recording.workers["left"], strict=True))
    assert left == pytest.approx({worker: 2.0, f"{worker}#2": np.nan}, nan_ok=True)
    assert recording.resources["process"].tolist() == ["scheduler"] * 2
    assert np.ptp(recording.resources["time"]) == pytest.approx(TUESDAY - MONDAY)
    assert (recording.about["started"], recording.about["stopped"]) == (MONDAY, TUESDAY + 2)


def test_a_worker_that_was_there_in_both_runs_is_one(tmp_path: Path) -> None:
    """As of a cluster that is recorded twice."""
    recording = load(
        exported(tmp_path / "tue.trace.json", TUESDAY, ["b"], "tcp://a:1", MONDAY - 9, TUESDAY + 5),
        exported(tmp_path / "mon.trace.json", MONDAY, ["a"], "tcp://a:1", MONDAY - 9, TUESDAY + 3),
    )
    (worker,) = recording.workers.itertuples()
    assert (worker.worker, worker.threads) == ("tcp://a:1", 2)
    assert (worker.joined, worker.left) == pytest.approx((-9, TUESDAY - MONDAY + 5))


def test_local_processes_at_the_same_time_are_several(tmp_path: Path) -> None:
    """As of a program under mpirun: each has a scheduler of threads of its own."""
    one = exported(tmp_path / "1.trace.json", MONDAY, ["a"], "threads", MONDAY, MONDAY + 2)
    two = exported(tmp_path / "2.trace.json", MONDAY, ["b"], "threads", MONDAY + 0.1, MONDAY + 2)
    assert load(one, two).workers["worker"].tolist() == ["threads", "threads#2"]


def part(path: Path, pid: int, *events: dict[str, Any]) -> Path:
    """A file without a date, of one process of a program."""
    named = {"ph": "M", "name": "process_name", "args": {"name": "python"}}
    path.write_text(json.dumps([{"pid": pid, "tid": 1, **each} for each in (named, *events)]), "utf-8")
    return path


def slice_of(name: str, start: float) -> dict[str, Any]:
    told = {"cat": "task,ok", "args": {"key": name}}
    return {"ph": "X", "name": name, "ts": start * 1e6, "dur": 1e6, **told}


@pytest.mark.parametrize(
    ("pids", "starts", "workers"),
    [
        pytest.param((11, 12), (0, 0.5), ["python (11)", "python (12)"], id="processes"),
        pytest.param((1, 1), (0, 0.5), ["python", "python#2"], id="containers"),
        pytest.param((11, 11), (0, 5), ["python", "python"], id="one after the other"),
    ],
)
def test_parts_of_one_run_share_their_time_axis(
    tmp_path: Path, pids: tuple[int, int], starts: tuple[float, float], workers: list[str]
) -> None:
    recording = load(
        part(tmp_path / "0.json", pids[0], slice_of("a", starts[0])),
        part(tmp_path / "1.json", pids[1], slice_of("b", starts[1])),
    )
    assert dates(recording) == {"a": starts[0], "b": starts[1]}
    assert list(of_tasks(recording, "worker").values()) == workers
    assert recording.workers["worker"].tolist() == list(dict.fromkeys(workers))


def test_arrows_are_those_of_their_file_or_lead_to_another(tmp_path: Path) -> None:
    def arrow(phase: str, moment: float, number: int) -> dict[str, Any]:
        return {"ph": phase, "id": number, "name": "input", "ts": moment * 1e6}

    own = [arrow("s", 0.5, 0), arrow("f", 2, 0)]
    recording = load(
        part(tmp_path / "0.json", 11, slice_of("a", 0), slice_of("b", 2), *own, arrow("s", 2.5, 1)),
        part(
            tmp_path / "1.json",
            12,
            slice_of("c", 0),
            slice_of("d", 2),
            *own,
            slice_of("e", 4),
            arrow("f", 4, 1),
        ),
    )
    assert needs(recording) == [("b", "a"), ("d", "c"), ("e", "b")]


def test_what_never_ended_ran_when_the_trace_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "crash.json"
    begins = {"ph": "B", "pid": 1, "tid": 1}
    done = {"ph": "X", "pid": 1, "tid": 2, "dur": 5e6}
    events = [begins | {"name": "hang", "ts": 6e6}, *({"name": "f", "ts": at} | done for at in (0, 16e6))]
    file.write_text(json.dumps(events))
    run = load(file)
    assert of_tasks(run, "status") == {"f-0": "ok", "f-1": "ok", "hang-2": "running"}
    assert dict(zip(run.tasks["prefix"], run.tasks["start"], strict=True))["hang"] == 6


def test_tasks_that_began_before_the_recording_keep_their_dates(tmp_path: Path) -> None:
    run = Recording()
    run.append(encode("about", {"name": ["started"], "value": [json.dumps(MONDAY)]}))
    run.append(encode("graph", {"task": [0, 1], "key": ["early", "late"], "prefix": ["early", "late"]}))
    start = np.array([MONDAY - 60, MONDAY + 1])
    place = {"worker": ["tcp://a:1"] * 2, "thread": ["7"] * 2, "status": ["ok"] * 2}
    moments = {"start": start, "stop": start + 1, "done": start + 1}
    run.append(encode("attempts", {"run": [0, 1], "task": [0, 1], **place, **moments}))
    again = load(run.export(tmp_path / "run.trace.json"))
    assert dates(again) == dates(run) == {"early": MONDAY - 60, "late": MONDAY + 1}
    tables = json.loads(run.export(tmp_path / "run.json").read_bytes())
    assert "1699999940" in json.dumps(tables["about"])
    assert "1699999940" in (run.export(tmp_path / "tables", "csv") / "about.csv").read_text()


def foreign(path: Path, *events: dict[str, Any]) -> Recording:
    """What another tool has written, slices of 90 ms, ten in a second, unless they are anything else."""
    slices = [
        {"ph": "X", "pid": 1, "tid": 1, "name": "GET", "ts": row * 1e5, "dur": 9e4, **event}
        for row, event in enumerate(events)
    ]
    path.write_text(json.dumps(slices), "utf-8")
    return load(path)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param({"args": {"status": 200}}, id="of HTTP"),
        pytest.param({"args": {"status": "cached"}}, id="cached"),
        pytest.param({"args": {"status": "running"}}, id="like one of ours"),
        pytest.param({"cat": "subtask,io"}, id="category that ends like ours"),
        pytest.param({"cat": "io,task,running"}, id="category that holds ours"),
        pytest.param({"cat": "task,io"}, id="category that begins like ours"),
    ],
)
def test_slices_of_other_tools_have_ended_well(tmp_path: Path, told: dict[str, Any]) -> None:
    run = foreign(tmp_path / "http.json", *[told] * 4)
    assert run.tasks["status"].tolist() == ["ok"] * 4
    assert run.tasks["duration"].tolist() == pytest.approx([0.09] * 4)
    assert not any("No task ended" in each.title for each in run.findings())


@pytest.mark.parametrize("pair", [False, True])
def test_what_other_tools_tell_by_the_names_of_dask_is_theirs(tmp_path: Path, pair: bool) -> None:
    args = {"key": "user:1", "bytes": 512, "type": "json", "attempt": 1, "cpu_us": 5}
    told: list[dict[str, Any]] = [{"name": name, "args": args} for name in ("GET", "GET", "GET", "PUT")]
    if pair:
        ends = [{"ph": "E", "ts": row * 1e5 + 9e4, "args": args} for row in range(4)]
        begins = [each | {"ph": "B", "ts": row * 1e5} for row, each in enumerate(told)]
        told = [each for both in zip(begins, ends, strict=True) for each in both]
    tasks = foreign(tmp_path / "rpc.json", *told).tasks
    assert tasks["prefix"].tolist() == ["GET", "GET", "GET", "PUT"]
    assert tasks["key"].nunique() == 4
    assert tasks["attempt"].tolist() == [1] * 4
    assert tasks[["nbytes", "cpu"]].isna().all(axis=None)
    assert tasks["typename"].tolist() == [""] * 4


@pytest.mark.parametrize("status", ["erred", "retried", "killed", "cancelled", "stolen", "rescheduled"])
def test_our_own_slices_tell_how_they_ended(tmp_path: Path, status: str) -> None:
    told = {
        "cat": f"task,{status}",
        "args": {"key": "x", "attempt": 1, "bytes": 8, "type": "int", "cpu_us": 5},
    }
    tasks = foreign(tmp_path / "ours.json", told).tasks
    columns = ["key", "attempt", "status", "nbytes", "typename"]
    assert tasks[columns].to_numpy().tolist() == [["x", 1, status, 8, "int"]]
    assert tasks["cpu"].tolist() == pytest.approx([5e-6])


@pytest.mark.parametrize("zero", [MONDAY, 86_400 * 3.5], ids=["since 1970", "since the machine was started"])
def test_seconds_of_undated_files_count_from_what_comes_first(tmp_path: Path, zero: float) -> None:
    micros = zero * 1e6
    slices = [{"ts": micros + row * 1e5} for row in range(4)]
    run = foreign(tmp_path / "late.json", *slices)
    assert run.about["started"] == run.started == pytest.approx(zero)
    assert run.tasks["start"].tolist() == pytest.approx([0, 0.1, 0.2, 0.3], abs=1e-5)
    assert len(run.slice(0, 0.15).tasks) == 2
    stamps = run.table("tasks", timestamps=True)["start"]
    assert stamps.iloc[0].timestamp() == pytest.approx(zero)
    share = {"ph": "C", "name": "CPU (%)", "ts": micros - 1e6, "args": {"cpu": 50}}
    run = foreign(tmp_path / "measured.json", *slices, share)
    assert run.about["started"] == pytest.approx(zero - 1)
    assert run.tasks["start"].min() == pytest.approx(1, abs=1e-5)
    note = {"ph": "i", "ts": micros, "name": "here"}
    run = foreign(tmp_path / "noted.json", note)
    assert run.started == pytest.approx(zero)
    assert run.events["time"].tolist() == [0]


def test_files_of_which_one_has_a_date_count_from_that(tmp_path: Path) -> None:
    dated = exported(tmp_path / "mon.trace.json", MONDAY, ["a"], "tcp://a:1", MONDAY, np.nan)
    recording = load(dated, part(tmp_path / "more.json", 1, slice_of("b", 5)))
    assert recording.about["started"] == MONDAY
    assert dates(recording) == {"a": MONDAY, "b": MONDAY + 5}


@pytest.mark.parametrize(
    ("name", "is_share"),
    [
        ("CPU (%)", True),
        ("CPU usage", True),
        ("CPU 1 Utilization", True),
        ("CPU share", True),
        ("CPU percent", True),
        ("CPU 0 Frequency (kHz)", False),
        ("CPU temperature", False),
        ("CPU shares", False),
        ("CPU", False),
    ],
)
def test_counters_of_cpu_are_those_of_shares(tmp_path: Path, name: str, is_share: bool) -> None:
    run = foreign(tmp_path / "counters.json", {}, {"ph": "C", "name": name, "args": {"value": 50}})
    assert run.resources["cpu"].tolist() == ([50.0] if is_share else [])
    assert ("resources" in run.about["lacks"]) is not is_share


def test_lengths_may_stand_as_text_and_others_are_told(tmp_path: Path) -> None:
    run = foreign(tmp_path / "text.json", {"dur": "90000"}, {"dur": 90000}, {"dur": "-1"})
    assert run.tasks["duration"].tolist() == pytest.approx([0.09, 0.09, 0])
    assert not len(run.events)
    odd = [{"dur": each} for each in ("long", None, [], "nan", 1e300)]
    run = foreign(tmp_path / "odd.json", {"dur": "90000"}, *odd)
    assert run.tasks["duration"].tolist() == pytest.approx([0.09])
    assert run.events["message"].tolist() == ["5 events of the trace could not be read"]
