"""Files that other tools wrote: real ones of distributed, with what it says of the same run itself."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import msgpack
import numpy as np
import pandas as pd
import pytest
from conftest import wait_for
from distributed import Client, Event, LocalCluster, get_task_stream, performance_report

import dask_insight
from dask_insight.errors import ExitCode
from dask_insight.frames import RecordingError
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording
from dask_insight.sources.files import FORMATS, load


def spin(number: int) -> bytes:
    total = 0
    for value in range(300_000):
        total += value * number
    return bytes(total % 7 + 100_000)


def join(*parts: bytes) -> int:
    return sum(map(len, parts))


def fail(_: Any) -> None:
    raise ValueError("planted <b>in</b> a task")


def hold(name: str) -> int:
    Event(name).wait(60)
    return 1


class Run(NamedTuple):
    """Files of one run, and what distributed's task stream told of it."""

    folder: Path
    stream: list[dict[str, Any]]
    #: When the dumps were made.
    moment: float


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("files")
    with (
        # A worker that had most of the tasks would have forgotten the first ones.
        dask.config.set({"distributed.admin.low-level-log-length": 10_000}),
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        samples = cluster.scheduler.monitor.count
        with (
            performance_report(filename=str(folder / "report.html")),
            get_task_stream(client, plot="save", filename=str(folder / "stream.html")) as stream,
        ):
            dask.delayed(join)(*[dask.delayed(spin)(number) for number in range(24)]).compute()
            ones = da.ones((400, 400), chunks=(100, 100))
            ones.dot(ones).sum().compute()
            failing = client.submit(fail, 1)
            with pytest.raises(ValueError, match="planted"):
                failing.result()
            wait_for(
                lambda: cluster.scheduler.monitor.count > samples + 1, "the scheduler has measured itself"
            )
        with performance_report(filename=str(folder / "inline.html"), mode="inline"):
            client.submit(spin, 77).result()
        (folder / "stream.json").write_text(json.dumps(stream.data, default=str), "utf-8")
        held = client.map(spin, range(50, 60))
        client.gather(held)
        waiting = client.submit(hold, "go", pure=False)
        after = client.submit(str, waiting)
        wait_for(lambda: after.key in cluster.scheduler.tasks, "the last task is known")
        running = partial(client.run, lambda dask_worker: len(dask_worker.state.executing))
        wait_for(lambda: any(running().values()), "a task runs")
        client.dump_cluster_state(str(folder / "dump"))
        moment = time.time()
        client.dump_cluster_state(str(folder / "dump"), format="yaml")
        Event("go").set()
        after.result()
        del held
        yield Run(folder, stream.data, moment)


def unpacked(path: Path) -> Any:
    """A dump as it is."""
    return msgpack.unpackb(gzip.decompress(path.read_bytes()), strict_map_key=False)


def told(stream: list[dict[str, Any]]) -> pd.DataFrame:
    """Every attempt that a task stream tells: key, worker, thread, status, start and stop since the epoch."""
    rows = []
    for message in stream:
        (computed,) = [each for each in message["startstops"] if each["action"] == "compute"]
        key = message["key"]
        rows.append(
            {
                "key": key if isinstance(key, str) else str(tuple(key)),
                "worker": message["worker"],
                "thread": str(message["thread"]),
                "status": "ok" if message["status"] == "OK" else "erred",
                "start": computed["start"],
                "stop": computed["stop"],
            }
        )
    return pd.DataFrame(rows).sort_values(["key", "start"]).reset_index(drop=True)


def attempts(recording: Recording) -> pd.DataFrame:
    """The same as a recording has it."""
    tasks = recording.tasks[["key", "worker", "thread", "status", "start", "stop"]].copy()
    tasks[["start", "stop"]] += recording.started
    for column in ("worker", "thread", "status"):
        tasks[column] = tasks[column].astype("str")
    return tasks.sort_values(["key", "start"]).reset_index(drop=True)


def same_attempts(found: pd.DataFrame, expected: pd.DataFrame, seconds: float) -> None:
    texts = ["key", "worker", "thread", "status"]
    pd.testing.assert_frame_equal(found[texts].astype("object"), expected[texts].astype("object"))
    np.testing.assert_allclose(found["start"], expected["start"], rtol=0, atol=seconds)
    np.testing.assert_allclose(found["stop"], expected["stop"], rtol=0, atol=seconds)


@pytest.mark.parametrize("name", ["report.html", "stream.html", "stream.json"])
def test_every_task_of_a_task_stream_is_there(run: Run, name: str) -> None:
    recording = load(run.folder / name)
    same_attempts(attempts(recording), told(run.stream), 2e-6)
    around = Counter(
        each["action"] for one in run.stream for each in one["startstops"] if each["action"] != "compute"
    )
    assert around["transfer"] > 0
    assert Counter(recording.phases["action"].astype("str")) == around
    seconds = sum(
        each["stop"] - each["start"]
        for one in run.stream
        for each in one["startstops"]
        if each["action"] == "transfer"
    )
    transfers = recording.phases[recording.phases["action"] == "transfer"]
    assert transfers["duration"].sum() == pytest.approx(seconds, abs=1e-4)


def test_a_task_stream_begins_with_what_came_before_its_first_task() -> None:
    moments = [
        {"action": "transfer", "start": 0.0, "stop": 3.0},
        {"action": "compute", "start": 3.0, "stop": 5.0},
    ]
    startstops = [{**each, "start": 1e9 + each["start"], "stop": 1e9 + each["stop"]} for each in moments]
    recording = load([{"key": "x", "worker": "w", "thread": 1, "status": "OK", "startstops": startstops}])
    assert recording.started == recording.about["started"] == 1e9
    assert recording.phases["start"].tolist() == [0.0] and recording.tasks["start"].tolist() == [3.0]
    assert recording.workers["joined"].tolist() == [0.0]


def test_the_data_of_a_task_stream_need_no_file(run: Run) -> None:
    recording = dask_insight.load(run.stream)
    same_attempts(attempts(recording), told(run.stream), 2e-6)
    assert recording.errors["exception"].tolist() == ["ValueError('planted <b>in</b> a task')"]
    assert recording.tasks["nbytes"].max() == max(each.get("nbytes") or 0 for each in run.stream)
    with pytest.raises(RecordingError, match="no entries of a task stream"):
        load([{"key": "x"}, 5])
    with pytest.raises(ValueError, match="a list"):
        load({"key": "x"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"load\(\*files\)"):
        load(sorted(run.folder.glob("*.html")))  # type: ignore[arg-type]
    assert load([]).events["message"].tolist() == ["no entry of a task stream was given"]


def test_a_performance_report_gives_what_its_figures_show(run: Run) -> None:
    recording = load(run.folder / "report.html")
    summary = recording.about["summary"]
    assert int(summary["number of tasks"]) == len(run.stream)
    assert recording.workers["threads"].tolist() == [2, 2]
    assert "performance_report" in recording.submissions["code"].tolist()[0]
    assert set(recording.resources["process"].astype("str")) == {"scheduler"}
    assert recording.resources["memory"].min() > 1e6
    assert recording.about["lacks"].keys() >= {"memory", "metrics", "edges"}
    assert "lost" not in set(recording.events["kind"].astype("str"))
    assert recording.summary().erred == 1


def test_a_report_in_one_piece_is_read_past_its_scripts(run: Run) -> None:
    assert (run.folder / "inline.html").stat().st_size > 10**6
    recording = load(run.folder / "inline.html")
    assert recording.tasks["prefix"].tolist() == ["spin"]


def test_profiles_of_a_report_are_stacks() -> None:
    """The layout of distributed's `profile.plot_data`: callers first, leaves with what is their own."""
    from distributed.profile import create, merge, plot_data

    from dask_insight.sources.files.performance_report import _Report

    def frame(name: str, count: int, *children: Any) -> dict[str, Any]:
        identifier = f"{name};file.py;1"
        about = {"filename": "file.py", "name": name, "line_number": 3, "line": "pass"}
        below = {child["identifier"]: child for child in children}
        return {"count": count, "children": below, "identifier": identifier, "description": about}

    root = create() | {"count": 100, "children": {}}
    for child in (frame("outer", 70, frame("inner", 50), frame("other", 10)), frame("alone", 30)):
        root["children"][child["identifier"]] = child
    columns = plot_data(merge(root), 0.01)
    report = _Report()
    report._take_profile(
        ("all workers", "task threads"), {name: list(each) for name, each in columns.items()}
    )
    recording = report.recording("profile")
    flame = recording.flame(worker="all workers")
    assert flame.set_index("function")["total"].to_dict() == pytest.approx(
        {"outer": 0.7, "inner": 0.5, "other": 0.1, "alone": 0.3}, rel=1e-3
    )
    assert flame.set_index("function")["self"].to_dict() == pytest.approx(
        {"outer": 0.1, "inner": 0.5, "other": 0.1, "alone": 0.3}, rel=1e-3
    )


@pytest.mark.parametrize("name", ["dump.msgpack.gz", "dump.yaml"])
def test_a_dump_tells_states_attempts_and_what_waits(run: Run, name: str) -> None:
    recording = load(run.folder / name)
    graph = recording.graph.set_index("key")
    states = Counter(state for state in graph["state"].astype("str") if state)
    assert states == recording.about["states"] == {"memory": 10, "erred": 1, "processing": 1, "waiting": 1}
    (waiting,) = graph.index[graph["state"] == "waiting"]
    (processing,) = graph.index[graph["state"] == "processing"]
    assert recording.edges[["key", "dependency_key"]].to_numpy().tolist() == [[waiting, processing]]
    assert recording.errors["exception"].tolist() == ["ValueError('planted <b>in</b> a task')"]
    assert recording.workers["threads"].tolist() == [2, 2]
    assert (recording.workers["memory_limit"] > 0).all()
    assert recording.memory["process"].min() > 1e6
    assert recording.resources["memory"].min() > 1e6
    assert set(recording.transfers["direction"].astype("str")) == {"in", "out"}
    assert "distributed" in str(recording.about["versions"])
    assert {"log", "transition"} <= set(recording.events["kind"].astype("str"))
    running = recording.tasks[recording.tasks["status"] == "running"]
    assert running["prefix"].astype("str").tolist() == ["hold"]
    assert "lost" not in set(recording.events["kind"].astype("str"))


def test_attempts_of_a_dump_are_those_that_ran(run: Run) -> None:
    """The worker's log knows when a thread had a task: no less than its function took, and little more."""
    found = attempts(load(run.folder / "dump.msgpack.gz"))
    expected = told(run.stream)
    found = found[found["key"].isin(expected["key"])].reset_index(drop=True)
    texts = ["key", "worker", "status"]
    pd.testing.assert_frame_equal(found[texts].astype("object"), expected[texts].astype("object"))
    # Dask's own times carry its correction of the worker's clock, which a busy machine makes wrong.
    assert (found["start"] - expected["start"]).abs().median() < 2.0
    more = (found["stop"] - found["start"]) - (expected["stop"] - expected["start"])
    assert more.min() > -0.05
    assert more.median() < 0.5
    assert set(found["thread"]) <= {"1", "2"}, "no more threads than the worker has"


def test_a_dump_says_that_attempts_of_forgotten_tasks_are_missing(run: Run, tmp_path: Path) -> None:
    """Logs hold the last transitions only; what happened when no task is known to have run, nobody knows."""
    assert "attempts" not in load(run.folder / "dump.msgpack.gz").about["lacks"]
    state = unpacked(run.folder / "dump.msgpack.gz")
    log = state["scheduler"]["transition_log"]
    (begun, *_) = (place for place, entry in enumerate(log) if entry[1] != "released")
    state["scheduler"]["transition_log"] = log[begun:]
    path = tmp_path / "late.msgpack.gz"
    path.write_bytes(gzip.compress(msgpack.packb(state)))
    assert "attempts of forgotten ones are missing" in load(path).about["lacks"]["attempts"]


def test_held_results_have_the_moments_of_their_functions(run: Run) -> None:
    state = unpacked(run.folder / "dump.msgpack.gz")
    expected = {
        told["key"]: (each["start"], each["stop"])
        for worker in state["workers"].values()
        for told in worker["tasks"].values()
        if told["state"] == "memory"
        for each in told.get("startstops", ())
    }
    assert len(expected) == 10
    recording = load(run.folder / "dump.msgpack.gz")
    found = attempts(recording).set_index("key")
    for key, (start, stop) in expected.items():
        assert found.loc[key, "start"] == pytest.approx(start, abs=2e-6)
        assert found.loc[key, "stop"] == pytest.approx(stop, abs=2e-6)
    tasks = recording.tasks[recording.tasks["key"].isin(expected)]
    assert (tasks["submitted"] <= tasks["assigned"]).all()
    assert (tasks["assigned"] <= tasks["done"]).all()
    assert (tasks["assigned"] <= tasks["start"] + 2.0).all()
    assert (tasks["nbytes"] >= 100_000).all()


def test_both_forms_of_a_dump_say_the_same(run: Run) -> None:
    packed, text = (load(run.folder / name) for name in ("dump.msgpack.gz", "dump.yaml"))
    one, other = (
        attempts(each).query("status != 'running'").reset_index(drop=True) for each in (packed, text)
    )
    texts = ["key", "worker", "status"]
    pd.testing.assert_frame_equal(one[texts], other[texts])
    np.testing.assert_allclose(one[["start", "stop"]], other[["start", "stop"]], rtol=0, atol=2e-6)
    assert len(packed.transfers) == len(text.transfers)


def test_dumps_of_several_moments_are_one_recording(run: Run) -> None:
    both = load(run.folder / "dump.msgpack.gz", run.folder / "dump.yaml", format="cluster_dump")
    assert both.tasks["run"].is_unique


def test_two_dumps_share_their_tasks(run: Run, tmp_path: Path) -> None:
    again = tmp_path / "again.msgpack.gz"
    shutil.copy(run.folder / "dump.msgpack.gz", again)
    once, twice = load(again), load(run.folder / "dump.msgpack.gz", again)
    assert len(once.graph) == len(twice.graph)
    assert len(once.tasks.query("status != 'running'")) == len(twice.tasks.query("status != 'running'"))
    assert (twice.events["kind"] == "transition").sum() == (once.events["kind"] == "transition").sum()


def test_what_each_dump_tells_again_counts_once(run: Run, tmp_path: Path) -> None:
    first = unpacked(run.folder / "dump.msgpack.gz")
    address, worker = next(
        (name, told) for name, told in first["workers"].items() if told["transfer_incoming_log"]
    )
    worker["logs"] = [["INFO", "twice"], ["INFO", "twice"]]
    second = deepcopy(first)
    second["workers"][address]["logs"] += [["INFO", "twice"], ["WARNING", "new"]]
    new = dict(worker["transfer_incoming_log"][-1])
    new["start"], new["stop"] = new["start"] + 60, new["stop"] + 60
    second["workers"][address]["transfer_incoming_log"] += [new]
    for name, state in (("1", first), ("2", second)):
        (tmp_path / f"{name}.msgpack.gz").write_bytes(gzip.compress(msgpack.packb(state)))
    once, both = load(tmp_path / "1.msgpack.gz"), load(tmp_path / "1.msgpack.gz", tmp_path / "2.msgpack.gz")
    assert len(both.transfers) == len(once.transfers) + 1
    assert both.transfers["transfer"].is_unique
    logs = both.events[(both.events["kind"] == "log") & (both.events["source"] == address)]
    assert logs["message"].tolist() == ["twice", "twice", "twice", "new"]


def test_what_ran_in_one_dump_has_ended_in_the_next(run: Run, tmp_path: Path) -> None:
    first = unpacked(run.folder / "dump.msgpack.gz")
    running = load(run.folder / "dump.msgpack.gz").tasks.query("status == 'running'")
    (key,), (address,) = running["key"].tolist(), running["worker"].astype("str").tolist()
    second = deepcopy(first)
    log = second["workers"][address]["log"]
    begun = [entry for entry in log if len(entry) == 7 and entry[0] == key][-1]
    end = max(entry[-1] for entry in log if isinstance(entry[-1], float)) + 5
    log.append([key, "executing", "memory", "memory", {}, "task-finished", end])
    for name, state in (("1", first), ("2", second)):
        (tmp_path / f"{name}.msgpack.gz").write_bytes(gzip.compress(msgpack.packb(state)))
    both = load(tmp_path / "1.msgpack.gz", tmp_path / "2.msgpack.gz")
    (ended,) = both.tasks[both.tasks["key"] == key].to_dict("records")
    assert str(ended["status"]) == "ok"
    assert ended["duration"] == pytest.approx(end - begun[-1], abs=0.5)


def test_a_worker_that_did_not_answer_is_named(run: Run, tmp_path: Path) -> None:
    state = unpacked(run.folder / "dump.msgpack.gz")
    address = next(iter(state["workers"]))
    state["workers"][address] = "OSError('Timed out')"
    (tmp_path / "dump.msgpack.gz").write_bytes(gzip.compress(msgpack.packb(state)))
    recording = load(tmp_path / "dump.msgpack.gz")
    lost = recording.events.loc[recording.events["kind"] == "lost", "message"].tolist()
    assert lost == [f"{address} did not tell its state: OSError('Timed out')"]
    assert set(recording.workers["worker"].astype("str")) > {address}


def test_a_torn_dump_gives_what_came_before(run: Run, tmp_path: Path) -> None:
    data = (run.folder / "dump.msgpack.gz").read_bytes()
    path = tmp_path / "torn.msgpack.gz"
    path.write_bytes(data[: len(data) * 9 // 10])
    recording = load(path)
    (gap,) = recording.gaps
    assert gap.offset > 0
    assert "end early" in gap.reason
    assert len(recording.graph) >= 10


def test_damaged_yaml_is_told_by_its_line(run: Run, tmp_path: Path) -> None:
    lines = (run.folder / "dump.yaml").read_text("utf-8").splitlines()
    line = len(lines) * 9 // 10
    lines[line] = "  damaged: [}"
    path = tmp_path / "damaged.yaml"
    path.write_text("\n".join(lines), "utf-8")
    recording = load(path)
    (gap,) = recording.gaps
    assert f"(line {line + 1:,})" in gap.reason
    assert len(recording.graph) >= 10


SPEEDSCOPE = {
    "$schema": "https://www.speedscope.app/file-format-schema.json",
    "profiles": [
        {
            "type": "sampled",
            "name": "MainThread",
            "unit": "milliseconds",
            "startValue": 0,
            "endValue": 60,
            "samples": [[0, 1], [0, 1, 2], [0], [0, 9]],
            "weights": [10, 20, 30, 5],
        },
        {
            "type": "evented",
            "name": "Worker",
            "unit": "microseconds",
            "startValue": 1_000_000,
            "endValue": 5_000_000,
            "events": [
                {"type": "O", "frame": 0, "at": 1_000_000},
                {"type": "O", "frame": 2, "at": 2_000_000},
                {"type": "C", "frame": 2, "at": 4_000_000},
                {"type": "C", "frame": 0, "at": 5_000_000},
            ],
        },
        {
            "type": "sampled",
            "name": "Allocations",
            "unit": "bytes",
            "startValue": 0,
            "endValue": 5,
            "samples": [[0]],
            "weights": [5],
        },
    ],
    "shared": {
        "frames": [
            {"name": "main", "file": "app.py", "line": 3},
            {"name": "work", "file": "app.py", "line": 30},
            {"name": "leaf"},
        ]
    },
    "name": "a program",
    "exporter": "py-spy@0.4",
}


def seconds(recording: Recording, process: str) -> dict[str, tuple[float, float]]:
    flame = recording.flame(worker=process)
    return {
        str(row["function"]): (round(row["self"], 6), round(row["total"], 6)) for _, row in flame.iterrows()
    }


def test_sampled_and_evented_profiles_are_samples(tmp_path: Path) -> None:
    path = tmp_path / "profile.json.gz"
    path.write_bytes(gzip.compress(json.dumps(SPEEDSCOPE).encode()))
    recording = load(path)
    assert recording.about["name"] == "a program"
    # A frame that is not there counts for its caller.
    assert seconds(recording, "MainThread") == {
        "main": (0.035, 0.065),
        "work": (0.01, 0.03),
        "leaf": (0.02, 0.02),
    }
    assert seconds(recording, "Worker") == {"main": (2.0, 4.0), "leaf": (2.0, 2.0)}
    notes = recording.events.loc[recording.events["kind"] == "lost", "message"].tolist()
    assert notes == ["Allocations counts bytes, not time: it was left out"]
    assert recording.flame()["total"].max() == pytest.approx(4.065), "without tasks, all there is"


def test_our_own_profiles_come_back(tmp_path: Path) -> None:
    golden = dask_insight.open(Path(__file__).parent / "golden" / "run.dinsight")
    back = load(golden.export(tmp_path / "run.speedscope.json"))

    def sums(recording: Recording) -> dict[tuple[str, ...], float]:
        from dask_insight.exports.stacks import Stacks

        stacks = Stacks(recording)
        found: Counter[tuple[str, ...]] = Counter()
        for each in stacks.weights:
            frames = [stacks.frames[frame].function for frame in each.stack]
            found[each.process, each.thread, *([each.prefix] if each.prefix else []), *frames] += each.seconds
        return dict(found)

    assert sums(back) == pytest.approx(sums(golden), rel=1e-5)
    assert len(sums(back)) > 0


def test_a_list_of_events_need_not_be_closed(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = {"ph": "X", "pid": 1, "tid": 2, "name": "work", "dur": 500}
    path.write_text("[" + "".join(json.dumps(event | {"ts": 1_000 * n}) + ",\n" for n in range(3)), "utf-8")
    recording = load(path)
    assert len(recording.tasks) == 3
    assert recording.gaps == []


def test_slices_within_slices_are_call_stacks(tmp_path: Path) -> None:
    """As function profilers write them: the outermost is the task, what it called is in the flame graph."""
    path = tmp_path / "trace.json"
    rows = [("outer", 0, 100), ("inner", 10, 50), ("leaf", 20, 10), ("inner", 70, 20), ("alone", 200, 30)]
    events: list[Any] = [
        {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": start, "dur": length}
        for name, start, length in rows
    ]
    events += [{"ph": "B", "pid": 1, "tid": 2, "name": "never ends", "ts": 5}]
    path.write_text(json.dumps(events), "utf-8")
    recording = load(path)
    tasks = recording.tasks.set_index("prefix")
    assert sorted(tasks.index.astype("str")) == ["alone", "never ends", "outer"]
    assert tasks.loc["outer", "duration"] == pytest.approx(100e-6)
    flame = recording.flame()
    total = {str(row["function"]): round(row["total"] * 1e6, 3) for _, row in flame.iterrows()}
    own = {str(row["function"]): round(row["self"] * 1e6, 3) for _, row in flame.iterrows()}
    assert total == {"outer": 100, "inner": 70, "leaf": 10, "alone": 30}
    assert own == {"outer": 30, "inner": 60, "leaf": 10, "alone": 30}
    assert recording.flame(prefix="alone")["function"].astype("str").tolist() == ["alone"]


def test_processes_and_threads_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """As of several interpreters, each of which calls itself python and its thread MainThread."""
    path = tmp_path / "trace.json"
    places = [(pid, tid) for pid in (1, 2) for tid in (3, 4)]
    names: list[Any] = [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": "python"}} for pid in (1, 2)
    ]
    names += [
        {
            "ph": "M",
            "name": "thread_name",
            "pid": pid,
            "tid": tid,
            "args": {"name": "main" if pid == 1 else f"T{tid}"},
        }
        for pid, tid in places
    ]
    slices = [{"ph": "X", "name": "work", "pid": pid, "tid": tid, "ts": 0, "dur": 9} for pid, tid in places]
    path.write_text(json.dumps(slices + names), "utf-8")
    recording = load(path)
    assert attempts(recording)[["worker", "thread"]].to_numpy().tolist() == [
        ["python (1)", "main (3)"],
        ["python (1)", "main (4)"],
        ["python (2)", "T3"],
        ["python (2)", "T4"],
    ]
    assert recording.workers["threads"].tolist() == [2, 2]


def test_a_torn_trace_says_from_where_on(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = {"ph": "X", "pid": 1, "tid": 2, "name": "wörk", "dur": 500}
    events = ",".join(json.dumps(event | {"ts": 1_000 * n}, ensure_ascii=False) for n in range(50))
    text = '{"displayTimeUnit":"ms","traceEvents":[' + events + ',{"ph":"X","na'
    path.write_text(text, "utf-8")
    recording = load(path)
    assert len(recording.tasks) == 50
    (gap,) = recording.gaps
    assert gap.offset + gap.size == len(text.encode())
    assert text.encode()[gap.offset :].startswith(b'"na')
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    recording = load(packed)
    assert [(each.offset, each.size) for each in recording.gaps] == [(gap.offset, 0)]
    (said,) = recording.events.query("kind == 'lost'")["message"]
    assert said.startswith(f"what stands at byte {gap.offset:,} could not be read")


@pytest.mark.parametrize(
    "name", ["report.html", "stream.html", "stream.json", "dump.msgpack.gz", "dump.yaml"]
)
def test_the_command_line_recognises_them(
    run: Run, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    shutil.copy(run.folder / name, path)
    assert main(["import", str(path)]) == ExitCode.OK
    target = tmp_path / f"{name.split('.')[0]}.dinsight"
    out, err = capsys.readouterr()
    assert out.strip() == str(target)
    assert "holds no" in err
    recording = dask_insight.open(target)
    assert recording.about["lacks"]
    recording.report(tmp_path / "report.of.it.html")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        [name, target.name, "report.of.it.html"]
    )


def test_wildcards_stand_for_files_where_the_shell_leaves_them(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dask_insight.hosts.cli.files._WILD", True)
    monkeypatch.chdir(tmp_path)
    for name in ("one-1.json", "one-2.json"):
        shutil.copy(run.folder / "stream.json", name)
    assert main(["import", "one-*.json"]) == ExitCode.OK
    assert capsys.readouterr().out == "one-1.dinsight\n"


def test_nothing_is_lost_by_an_import(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work", "utf-8")
    source = str(run.folder / "stream.json")
    assert main(["import", source, "-o", str(precious)]) == ExitCode.UNWRITABLE
    assert "--force" in capsys.readouterr().err
    assert precious.read_text("utf-8") == "years of work"
    bad = tmp_path / "bad.json"
    bad.write_text('[{"startstops": [}]', "utf-8")
    assert main(["import", str(bad), "-o", str(precious), "--force"]) == ExitCode.UNREADABLE
    assert "at byte" in capsys.readouterr().err
    assert precious.read_text("utf-8") == "years of work"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.json", "thesis.txt"]


def test_what_comes_back_from_another_tool_leaves_the_recording_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "run.dinsight"
    shutil.copy(Path(__file__).parent / "golden" / "run.dinsight", whole)
    before = whole.read_bytes()
    assert main(["export", str(whole), "--to", "chrome"]) == ExitCode.OK
    back = str(tmp_path / "run.trace.json")
    assert main(["import", back]) == ExitCode.OK
    assert capsys.readouterr().out.split()[-1] == str(tmp_path / "run-2.dinsight")
    assert main(["import", back, "-o", str(whole)]) == ExitCode.UNWRITABLE
    assert "--force" in capsys.readouterr().err
    assert whole.read_bytes() == before
    assert main(["import", back, "-o", str(whole), "--force"]) == ExitCode.OK
    assert whole.read_bytes() != before


def test_every_format_has_a_module_with_its_two_functions() -> None:
    from importlib import import_module

    for name in FORMATS:
        module = import_module(f"dask_insight.sources.files.{name}")
        assert module.matches(b"") is False
        assert callable(module.read)
