"""Exports, read back by readers that are not ours."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.batch import encode
from dask_insight.errors import ExitCode
from dask_insight.exports import FORMATS, export, format_of
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording, open_recording
from dask_insight.sources.files import load


def spin(number: int) -> bytes:
    total = 0
    for value in range(2_000_000):
        total += value * number
    return bytes(total % 7 + 1_000)


def join(*parts: bytes) -> int:
    return sum(map(len, parts))


def fail(_: Any) -> None:
    raise ValueError("planted")


@pytest.fixture(scope="module")
def recording() -> Recording:
    """A real run: spinning tasks on two workers, results joined, one failure."""
    spins = [dask.delayed(spin)(number) for number in range(16)]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        dask_insight.record() as run,
    ):
        dask.delayed(join)(*spins).compute()
        with pytest.raises(ValueError, match="planted"):
            client.submit(fail, 1).result()
    return run


def exported(recording: Recording, folder: Path, format: str) -> Path:
    return recording.export(folder / f"run{FORMATS[format].suffix or '-' + format}", format)


def spans_of(recording: Recording, folder: Path) -> list[dict[str, Any]]:
    told = json.loads(exported(recording, folder, "otlp").read_text("utf-8"))
    return list(told["resourceSpans"][0]["scopeSpans"][0]["spans"])


def test_a_trace_tells_facts_but_for_long_ones(tmp_path: Path) -> None:
    """By its first bytes a file is recognised, of which long facts would leave none for the events."""
    recording = Recording()
    facts = {
        "name": "a run",
        "settings": {"array.chunk-size": "128MiB"},
        "config": {"distributed.worker": {"a setting": "x" * 9_000}},
        "bandwidth": {f"tcp://10.0.0.{worker}:1": 1e8 / 3 for worker in range(3_000)},
    }
    told = [json.dumps(value) for value in facts.values()]
    recording.append(encode("about", {"name": list(facts), "value": told}))
    moments = {"start": [1.7e9], "stop": [1.7e9], "done": [1.7e9]}
    recording.append(encode("attempts", {"run": [0], "task": [0], **moments}))
    file = exported(recording, tmp_path, "chrome")
    assert set(json.loads(file.read_text("utf-8"))["otherData"]) == {"name", "settings", "started", "stopped"}
    assert load(file).started == 1.7e9


def test_a_trace_nests_as_perfetto_needs_it(recording: Recording, tmp_path: Path) -> None:
    trace = json.loads(exported(recording, tmp_path, "chrome").read_text("utf-8"))
    events = trace["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    ran = recording.tasks[np.isfinite(recording.tasks["start"])]
    assert sorted(event["args"]["key"] for event in slices) == sorted(ran["key"])
    total = sum(event["dur"] for event in slices) / 1e6
    assert total == pytest.approx(ran["duration"].sum(), abs=1e-5 * len(ran))
    lanes: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for event in slices:
        lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for lane in lanes.values():
        lane.sort()
        assert all(stop <= start for (_, stop), (start, _) in pairwise(lane))
    named = {(event["pid"], event["tid"]) for event in events if event.get("name") == "thread_name"}
    assert set(lanes) <= named


def test_arrows_leave_and_reach_the_slices_they_join(recording: Recording, tmp_path: Path) -> None:
    events = json.loads(exported(recording, tmp_path, "chrome").read_text("utf-8"))["traceEvents"]

    def slice_at(event: dict[str, Any]) -> str:
        (found,) = [
            each["name"]
            for each in events
            if each["ph"] == "X"
            and (each["pid"], each["tid"]) == (event["pid"], event["tid"])
            and each["ts"] <= event["ts"] <= each["ts"] + each["dur"]
        ]
        return str(found)

    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert len(starts) == len(ends) == 16
    for arrow, start in starts.items():
        assert (slice_at(start), slice_at(ends[arrow])) == ("spin", "join")


@pytest.fixture
def made_twice() -> Recording:
    """`a` was made at 0-1 and again at 5-6 s; `b`, which needs it, failed at 2-3 and came about at 7-8 s."""
    run = Recording()
    run.append(encode("graph", {"task": [0, 1], "key": ["a", "b"], "prefix": ["a", "b"]}))
    run.append(encode("edges", {"task": [1], "dependency": [0]}))
    start = 1.7e9 + np.array([0, 2, 5, 7])
    place = {"worker": ["w"] * 4, "thread": ["1"] * 4, "status": ["ok", "erred", "ok", "ok"]}
    moments = {"start": start, "stop": start + 1, "done": start + 1}
    run.append(encode("attempts", {"run": range(4), "task": [0, 1, 0, 1], **place, **moments}))
    return run


def test_arrows_lead_to_every_attempt_from_the_result_that_was_there(
    made_twice: Recording, tmp_path: Path
) -> None:
    events = json.loads(exported(made_twice, tmp_path, "chrome").read_text("utf-8"))["traceEvents"]
    left, came = ({each["id"]: each["ts"] for each in events if each["ph"] == phase} for phase in "sf")
    assert [(left[arrow], came[arrow]) for arrow in left] == [(1e6 - 1, 2e6), (6e6 - 1, 7e6)]
    assert len(left) == len(came)


def test_links_lead_to_the_result_that_was_there(made_twice: Recording, tmp_path: Path) -> None:
    spans = spans_of(made_twice, tmp_path)
    began = {each["spanId"]: int(each["startTimeUnixNano"]) / 1e9 - 1.7e9 for each in spans}
    links = {
        began[each["spanId"]]: [began[link["spanId"]] for link in each.get("links", [])] for each in spans[1:]
    }
    assert links == {0: [], 2: [0], 5: [], 7: [5]}


@pytest.mark.parametrize(("begins", "made"), [(0.5, 0), (1.5, 0), (9.5, 8), (10, 9), (99, 9)])
def test_of_many_results_the_last_in_time_was_used(begins: float, made: int) -> None:
    """Or else the first, which clocks that differ put later."""
    from dask_insight.exports.inputs import Inputs

    task, start = np.array([3] * 10 + [7], "u4"), np.array([*range(10), begins])
    inputs = Inputs(task, np.arange(11) < 10, start, start + 1)
    found = inputs.of(np.array([7, 8, 7], "u4"), np.array([3, 3, 8], "u4"))
    assert [rows.tolist() for rows in found] == [[made], [10]]


def test_of_too_many_links_the_newest_attempts_have_theirs_and_the_others_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask_insight.exports import otlp

    run = Recording()
    start = 1.7e9 + np.arange(5.0)
    columns = {"run": np.arange(5), "task": [0, 1, 1, 1, 1], "worker": ["w"] * 5, "status": ["ok"] * 5}
    run.append(encode("attempts", columns | {"start": start, "stop": start + 1, "done": start + 1}))
    # At task 9 there is no attempt.
    run.append(encode("edges", {"task": [1, 9, 1], "dependency": [0, 0, 9]}))
    monkeypatch.setattr(otlp, "most_arrows", lambda *_: 6)
    spans = spans_of(run, tmp_path)[-5:]
    assert [len(each.get("links", [])) for each in spans] == [0, 0, 0, 1, 1]
    assert [each.get("droppedLinksCount", 0) for each in spans] == [0, 1, 1, 0, 0]


def test_async_slices_are_pairs_and_counters_numbers(recording: Recording, tmp_path: Path) -> None:
    events = json.loads(exported(recording, tmp_path, "chrome").read_text("utf-8"))["traceEvents"]
    began = [(event["cat"], event["id"]) for event in events if event["ph"] == "b"]
    ended = [(event["cat"], event["id"]) for event in events if event["ph"] == "e"]
    assert sorted(began) == sorted(ended)
    assert len(set(began)) == len(began)
    counters = [event for event in events if event["ph"] == "C"]
    assert {"CPU (%)", "memory (MB)"} <= {event["name"] for event in counters}
    assert all(isinstance(value, int | float) for event in counters for value in event["args"].values())


def test_overlapping_attempts_stand_on_tracks_of_their_own(tmp_path: Path) -> None:
    from dask_insight.timeline import tracks

    lane = np.array([1, 1, 1, 1, 2])
    start, stop = np.array([0.0, 1.0, 2.0, 5.0, 0.0]), np.array([4.0, 2.0, 3.0, 6.0, 9.0])
    assert tracks(lane, start, stop).tolist() == [0, 1, 1, 0, 0]


@pytest.fixture
def broken_off() -> Recording:
    """One task is done, one was killed with its worker, one that needs the first still runs."""
    run, zero = Recording(), 1.7e9
    facts = {"started": zero, "stopped": zero + 9}
    run.append(encode("about", {"name": [*facts], "value": [*map(json.dumps, facts.values())]}))
    names = ["done", "killed", "runs"]
    run.append(encode("graph", {"task": [0, 1, 2], "key": names, "prefix": names}))
    place = {"worker": ["a"] * 2, "thread": ["1", "2"]}
    ended = {"run": [0, 1], "task": [0, 1], **place, "status": ["ok", "killed"]}
    moments = {"start": [zero, zero + 1], "stop": [zero + 3, np.nan], "done": [zero + 3, zero + 2]}
    run.append(encode("attempts", ended | moments))
    running = {"run": [2], "task": [2], "worker": ["a"], "thread": ["3"], "start": [zero + 4]}
    run.append(encode("running", running))
    run.append(encode("edges", {"task": [2], "dependency": [0]}))
    return run


def test_what_still_runs_ends_in_a_trace_with_the_recording(broken_off: Recording, tmp_path: Path) -> None:
    """What was killed ends when that was known."""
    run = broken_off
    events = json.loads(exported(run, tmp_path, "chrome").read_text("utf-8"))["traceEvents"]
    lasted = {event["name"]: event["dur"] / 1e6 for event in events if event["ph"] == "X"}
    assert lasted == pytest.approx({"done": 3, "killed": 1, "runs": 5})


def test_what_still_runs_comes_back_as_that(broken_off: Recording, tmp_path: Path) -> None:
    back = load(exported(broken_off, tmp_path, "chrome"))
    status = dict(zip(back.tasks["prefix"], back.tasks["status"], strict=True))
    assert status == {"done": "ok", "killed": "killed", "runs": "running"}
    assert len(back.columns("attempts")["run"]) == 2
    assert (back.about["started"], back.about["stopped"]) == (1.7e9, 1.7e9 + 9)
    assert back.edges[["key", "dependency_key"]].to_numpy().tolist() == [["runs", "done"]]


def test_what_was_killed_with_its_worker_is_a_span(broken_off: Recording, tmp_path: Path) -> None:
    ended = {each["name"]: each for each in spans_of(broken_off, tmp_path)[1:]}
    assert set(ended) == {"done", "killed"}
    assert ended["killed"]["status"] == {"code": 2, "message": "killed"}
    assert int(ended["killed"]["endTimeUnixNano"]) == int((1.7e9 + 2) * 1e9)


def test_a_trace_comes_back_with_the_names_of_its_processes(tmp_path: Path) -> None:
    """Also of those that are no workers, and of workers that have no address."""
    run, zero = Recording(), 1.7e9
    workers = {"worker": ["process 7", "threads", "tcp://a:1"], "name": ["", "", "one"]}
    run.append(encode("workers", workers | {"host": ["myhost"] * 3, "threads": [1] * 3}))
    run.append(encode("resources", {"process": ["local"], "time": [zero], "cpu": [50.0]}))
    run.append(encode("graph", {"task": [0, 1, 2], "prefix": ["x", "y", "z"]}))
    place = {"worker": workers["worker"], "thread": ["1"] * 3, "status": ["ok"] * 3}
    moments = dict.fromkeys(("start", "stop", "done"), [zero] * 3)
    run.append(encode("attempts", {"run": range(3), "task": range(3), **place, **moments}))
    file = exported(run, tmp_path, "chrome")
    events = json.loads(file.read_text("utf-8"))["traceEvents"]
    named = [each["pid"] for each in events if each["name"] == "process_name"]
    assert len(named) == len(set(named)) and set(named) >= {each["pid"] for each in events}
    back = load(file)
    assert back.resources["process"].tolist() == ["local"]
    assert sorted(back.workers["worker"]) == sorted(workers["worker"])
    assert back.tasks["worker"].astype("str").tolist() == workers["worker"]


def test_a_trace_comes_back_with_the_threads_that_there_were(tmp_path: Path) -> None:
    """Also those on which nothing ran; a thread of several tracks, as of coroutines, is one."""
    run, zero = Recording(), 1.7e9
    run.append(encode("about", {"name": ["started"], "value": [json.dumps(zero)]}))
    workers = {"worker": ["a", "b"], "threads": [2, 3], "joined": [zero - 1, zero + 2]}
    run.append(encode("workers", workers | {"left": [np.nan, zero + 5]}))
    moments = {"start": [zero, zero + 1], "stop": [zero + 3, zero + 2], "done": [zero + 3, zero + 2]}
    place = {"worker": ["a"] * 2, "thread": ["7"] * 2, "status": ["ok"] * 2}
    run.append(encode("graph", {"task": [0, 1], "key": ["x", "y"], "prefix": ["x", "y"]}))
    run.append(encode("attempts", {"run": [0, 1], "task": [0, 1], **place, **moments}))
    found = load(exported(run, tmp_path, "chrome"))
    columns = ["worker", "threads", "joined", "left"]
    pd.testing.assert_frame_equal(found.workers[columns], run.workers[columns])
    assert found.tasks["thread"].astype("str").tolist() == ["7", "7"]
    assert found.time_budget().attrs["thread_seconds"] == run.time_budget().attrs["thread_seconds"]


def test_a_trace_comes_back_with_the_memory_of_the_processes(tmp_path: Path) -> None:
    """What was spilled is shown with it, and lies on disk."""
    run = Recording()
    sizes = {"process": [8e9], "managed": [5e9], "unmanaged_old": [2e9], "unmanaged_recent": [1e9]}
    run.append(encode("memory", {"worker": ["a"], "time": [1.7e9], **sizes, "spilled": [9e9]}))
    found = load(exported(run, tmp_path, "chrome"))
    assert found.resources["memory"].tolist() == pytest.approx([8e9])


def test_speedscopes_profiles_have_the_sampled_time(recording: Recording, tmp_path: Path) -> None:
    told = json.loads(exported(recording, tmp_path, "speedscope").read_text("utf-8"))
    frames = [frame["name"] for frame in told["shared"]["frames"]]
    weights: dict[str, float] = defaultdict(float)
    for profile in told["profiles"]:
        assert profile["endValue"] == pytest.approx(sum(profile["weights"]))
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            weights[frames[stack[-1]] if stack else ""] += weight
    samples = recording.samples
    assert sum(weights.values()) == pytest.approx(samples["duration"].sum(), rel=1e-5)
    tasks = {name: weight for name, weight in weights.items() if "spin" in name}
    assert sum(tasks.values()) > 0.5 * samples.loc[samples["prefix"] == "spin", "duration"].sum()


def test_profiles_come_back_with_their_processes_and_threads(tmp_path: Path) -> None:
    """Whose names have spaces, as those of a local scheduler's; one of another tool has no thread."""
    places = [("process 1", "1401"), ("process 2", "a pool-0"), ("tcp://a:1", "1402"), ("a program", "")]
    run = Recording()
    run.append(encode("stacks", {"stack": [0], "parent": [2**32 - 1], "function": ["f"], "file": ["f.py"]}))
    process, thread = map(list, zip(*places, strict=True))
    told = {"process": process, "thread": thread, "time": [2.0] * 4, "duration": [1.0] * 4, "stack": [0] * 4}
    run.append(encode("samples", told))
    samples = load(exported(run, tmp_path, "speedscope")).samples
    assert sorted(samples[["process", "thread"]].itertuples(index=False, name=None)) == sorted(places)


def test_collapsed_lines_are_stacks_and_numbers(recording: Recording, tmp_path: Path) -> None:
    total = 0
    for line in exported(recording, tmp_path, "collapsed").read_text("utf-8").splitlines():
        stack, weight = line.rsplit(" ", 1)
        assert len(stack.split(";")) >= 2
        total += int(weight)
    assert total / 1e6 == pytest.approx(recording.samples["duration"].sum(), rel=0.01)


def test_pprofs_own_schema_reads_the_profile(recording: Recording, tmp_path: Path) -> None:
    message = pprof_message()
    profile = message()
    profile.ParseFromString(gzip.decompress(exported(recording, tmp_path, "pprof").read_bytes()))
    text = profile.string_table
    assert text[0] == ""
    assert [(text[kind.type], text[kind.unit]) for kind in profile.sample_type] == [("wall", "nanoseconds")]
    functions = {function.id: text[function.name] for function in profile.function}
    leaves = {location.id: functions[location.line[0].function_id] for location in profile.location}
    seconds: dict[str, float] = defaultdict(float)
    for sample in profile.sample:
        labels = {text[label.key]: text[label.str] for label in sample.label}
        if labels.get("task") == "spin":
            seconds[leaves[sample.location_id[0]]] += sample.value[0] / 1e9
    assert max(seconds, key=lambda name: seconds[name]).endswith("spin")


def pprof_message() -> Any:
    """`perftools.profiles.Profile`, as far as we write it, for Google's protobuf library."""
    protobuf = pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    assert protobuf
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="t", syntax="proto3")

    def declare(name: str, /, **fields: tuple[int, str, bool]) -> None:
        message = file.message_type.add(name=name)
        for field, (number, kind, many) in fields.items():
            label = kinds.LABEL_REPEATED if many else kinds.LABEL_OPTIONAL
            if kind in ("int64", "uint64", "string"):
                message.field.add(
                    name=field, number=number, label=label, type=getattr(kinds, f"TYPE_{kind.upper()}")
                )
            else:
                message.field.add(
                    name=field, number=number, label=label, type=kinds.TYPE_MESSAGE, type_name=f".t.{kind}"
                )

    declare("ValueType", type=(1, "int64", False), unit=(2, "int64", False))
    declare("Label", key=(1, "int64", False), str=(2, "int64", False))
    declare("Sample", location_id=(1, "uint64", True), value=(2, "int64", True), label=(3, "Label", True))
    declare("Line", function_id=(1, "uint64", False), line=(2, "int64", False))
    declare("Location", id=(1, "uint64", False), line=(4, "Line", True))
    declare("Function", id=(1, "uint64", False), name=(2, "int64", False), filename=(4, "int64", False))
    declare(
        "Profile",
        sample_type=(1, "ValueType", True),
        sample=(2, "Sample", True),
        location=(4, "Location", True),
        function=(5, "Function", True),
        string_table=(6, "string", True),
        time_nanos=(9, "int64", False),
        duration_nanos=(10, "int64", False),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Profile"))


def test_otlp_spans_form_a_tree_with_links(recording: Recording, tmp_path: Path) -> None:
    told = json.loads(exported(recording, tmp_path, "otlp").read_text("utf-8"))
    spans = told["resourceSpans"][0]["scopeSpans"][0]["spans"]
    known = {span["spanId"]: span for span in spans}
    assert len(known) == len(spans)
    assert [span["name"] for span in spans if "parentSpanId" not in span] == [spans[0]["name"]]
    assert all(span.get("parentSpanId", spans[0]["spanId"]) in known for span in spans)
    assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in spans)
    (joined,) = [span for span in spans if span["name"] == "join"]
    assert {known[link["spanId"]]["name"] for link in joined["links"]} == {"spin"}
    (failed,) = [span for span in spans if span["name"] == "fail"]
    assert failed["status"]["code"] == 2


def test_spans_of_submissions_say_where_they_stand_and_no_code(tmp_path: Path) -> None:
    run = Recording()
    place = {"file": ["work.py", ""], "line": [7, 0], "function": ["main", ""]}
    code = {"code": ["log_in('hunter2')", ""], "time": [1.7e9] * 2, "tasks": [1, 1]}
    run.append(encode("submissions", {"submission": [0, 1], **place, **code}))
    _, one, other = spans_of(run, tmp_path)
    assert "hunter2" not in json.dumps(one)
    assert {each["key"]: [*each["value"].values()] for each in one["attributes"]} == {
        "code.file.path": ["work.py"],
        "code.line.number": ["7"],
        "code.function.name": ["main"],
        "dask.tasks": ["1"],
    }
    assert [each["key"] for each in other["attributes"]] == ["dask.tasks"]


def test_opentelemetrys_own_reader_takes_the_spans(recording: Recording, tmp_path: Path) -> None:
    trace = pytest.importorskip("opentelemetry.proto_json.trace.v1.trace")
    text = exported(recording, tmp_path, "otlp").read_text("utf-8")
    (resource,) = trace.TracesData.from_json(text).resource_spans
    spans = [span for scope in resource.scope_spans for span in scope.spans]
    written = json.loads(text)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span.span_id.hex() for span in spans] == [span["spanId"] for span in written]
    assert len({span.trace_id for span in spans}) == 1 and len(spans[0].trace_id) == 16
    ran = recording.tasks[np.isfinite(recording.tasks["start"])]
    told = {
        attributes["dask.key"].string_value: (span, attributes)
        for span in spans
        if "dask.key" in (attributes := {each.key: each.value for each in span.attributes})
    }
    assert set(told) == set(ran["key"])
    for row in ran.to_dict("records"):
        span, attributes = told[row["key"]]
        assert span.name == row["prefix"]
        assert attributes["dask.worker"].string_value == row["worker"]
        assert (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9 == pytest.approx(
            row["duration"], abs=2e-6
        )
        assert span.start_time_unix_nano / 1e9 == pytest.approx(recording.started + row["start"], abs=2e-6)
        if np.isfinite(row["nbytes"]):
            assert attributes["dask.nbytes"].int_value == row["nbytes"]
        if np.isfinite(row["cpu"]):
            assert attributes["dask.cpu"].double_value == pytest.approx(row["cpu"], abs=1e-6)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_tables_come_back_whole(recording: Recording, tmp_path: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    folder = exported(recording, tmp_path, format)
    read = pd.read_csv if format == "csv" else pd.read_parquet
    tasks = read(folder / f"tasks.{format}")
    assert sorted(tasks["key"]) == sorted(recording.tasks["key"])
    np.testing.assert_allclose(tasks["start"], recording.tasks["start"], rtol=1e-12)
    described = read(folder / f"describe.{format}")
    assert list(described.columns) == ["table", "column", "unit", "meaning"]


def test_csv_says_what_every_table_says(recording: Recording, tmp_path: Path) -> None:
    folder = exported(recording, tmp_path, "csv")
    names = {file.stem for file in folder.iterdir()} - {"describe"}
    assert {"tasks", "edges", "resources", "samples", "stacks", "submissions", "errors"} <= names
    for name in names:
        ours = recording.table(name)
        texts = {column for column in ours if not pd.api.types.is_numeric_dtype(ours[column])}
        read = pd.read_csv(folder / f"{name}.csv", dtype=dict.fromkeys(texts, "str"), na_values=[""])
        assert list(read.columns) == list(ours.columns)
        assert len(read) == len(ours)
        for column in ours.columns:
            if column not in texts:
                np.testing.assert_allclose(read[column].astype("f8"), ours[column].astype("f8"), rtol=1e-12)
            else:
                told = read[column].astype("object").fillna("")
                assert told.tolist() == ours[column].astype("str").tolist(), (name, column)


def test_what_is_worked_out_is_exported_where_the_recording_holds_it(tmp_path: Path) -> None:
    from benchmarks.synthetic import Size, synthetic

    run = synthetic(Size(tasks=200, samples=100, stacks=20))
    run.export(tmp_path / "before.json")
    run.explain()
    run.export(tmp_path / "after.json")
    before, after = (
        json.loads((tmp_path / f"{name}.json").read_text("utf-8")) for name in ("before", "after")
    )
    assert "budget" not in before and "budget" in after


def test_json_has_every_table(recording: Recording, tmp_path: Path) -> None:
    told = json.loads(exported(recording, tmp_path, "json").read_text("utf-8"))
    assert told["tasks"]["key"] == recording.tasks["key"].tolist()
    assert {"samples", "resources", "workers", "edges"} <= set(told)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    name = '"};</script>\n;\\ \u202e\ud800 end'
    hostile = Recording()
    hostile.append(encode("graph", {"task": [0], "prefix": [name], "key": [name * 50]}))
    hostile.append(
        encode(
            "attempts",
            {"run": [0], "task": [0], "worker": [name], "status": ["ok"], "start": [1.0], "stop": [2.0]},
        )
    )
    hostile.append(encode("stacks", {"stack": [0], "parent": [0], "function": [name], "file": [name]}))
    hostile.append(
        encode(
            "samples",
            {"process": [name], "thread": [name], "time": [2.0], "duration": [1.0], "stack": [0], "run": [0]},
        )
    )
    for format in FORMATS:
        if format != "parquet":
            exported(hostile, tmp_path, format)
    for suffix in (".trace.json", ".speedscope.json", ".otlp.json", ".json"):
        json.loads((tmp_path / f"run{suffix}").read_text("utf-8"))
    assert len((tmp_path / "run.collapsed.txt").read_text("utf-8").splitlines()) == 1


def test_an_empty_recording_is_exported_too(tmp_path: Path) -> None:
    for format in FORMATS:
        if format != "parquet":
            exported(Recording(), tmp_path, format)
    assert json.loads((tmp_path / "run.trace.json").read_text("utf-8"))["traceEvents"]


def test_nothing_is_overwritten_without_being_asked(recording: Recording, tmp_path: Path) -> None:
    target = tmp_path / "run.trace.json"
    target.write_text("mine", "utf-8")
    with pytest.raises(FileExistsError, match="force"):
        recording.export(target)
    assert target.read_text("utf-8") == "mine"
    recording.export(target, force=True)
    assert [each.name for each in tmp_path.iterdir()] == ["run.trace.json"]


def test_what_hinders_is_said_before_anything_is_lost(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="make it first"):
        recording.export(tmp_path / "nowhere" / "run.json")
    with pytest.raises(FileExistsError, match="name a file in it"):
        recording.export(tmp_path, "chrome", force=True)
    with pytest.raises(TypeError, match="chrome has no option 'colour'"):
        recording.export(tmp_path / "run.trace.json", colour="red")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_takes_the_place_of_folders_alone(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording.save(tmp_path / "run.dinsight")
    with pytest.raises(FileExistsError, match="is a file: name a folder"):
        recording.export(tmp_path / "run.dinsight", "csv", force=True)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(FileExistsError, match="works in: name another"):
        recording.export(".", "csv", force=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["here", "run.dinsight"]


@pytest.mark.skipif(sys.platform == "win32", reason="no folder in which a program works can be removed")
@pytest.mark.parametrize("format", ["csv", "chrome"])
def test_who_works_in_a_folder_that_is_gone_exports_elsewhere(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert recording.export(tmp_path / "out", format).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes need rights there")
def test_a_folder_keeps_links_and_devices(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "link").symlink_to("tables")
    recording.export(tmp_path / "link", "csv", force=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "tables" / "tasks.csv").is_file()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device or a pipe"):
        recording.export(tmp_path / "pipe", "csv", force=True)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "pipe", "tables"]


def test_a_folder_with_other_files_is_never_replaced(recording: Recording, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work", "utf-8")
    with pytest.raises(FileExistsError, match=r"holds thesis\.tex"):
        recording.export(mine, "csv", force=True)
    assert (mine / "thesis.tex").read_text("utf-8") == "years of work"
    # Dask itself writes folders of such files.
    (mine / "thesis.tex").rename(mine / "part.0.csv")
    with pytest.raises(FileExistsError, match=r"holds part\.0\.csv"):
        recording.export(mine, "csv", force=True)
    assert (mine / "part.0.csv").read_text("utf-8") == "years of work"
    tables = recording.export(tmp_path / "tables", "csv")
    (tables / "gpus.csv").write_text("from before", "utf-8")
    recording.export(tables, "csv", force=True)
    assert not (tables / "gpus.csv").exists()
    assert (tables / "tasks.csv").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine", "tables"]


def test_what_systems_put_into_a_folder_is_nobodys(recording: Recording, tmp_path: Path) -> None:
    tables = recording.export(tmp_path / "tables", "csv")
    for name in (".DS_Store", "Thumbs.db", "desktop.ini", "._tasks.csv", "._.DS_Store"):
        (tables / name).write_text("from a system", "utf-8")
    recording.export(tables, "csv", force=True)
    assert not (tables / ".DS_Store").exists()
    (tables / "._mine.txt").write_text("of a file of mine", "utf-8")
    with pytest.raises(FileExistsError, match=r"holds \._mine\.txt"):
        recording.export(tables, "csv", force=True)
    (tables / "._mine.txt").unlink()
    (tables / ".nfs0001").write_text("deleted, and still open", "utf-8")
    with pytest.raises(FileExistsError, match=r"still has a file of .*tables open: close it"):
        recording.export(tables, "csv", force=True)
    (tables / ".nfs0001").unlink()
    (tables / ".DS_Store").mkdir()
    with pytest.raises(FileExistsError, match=r"holds \.DS_Store"):
        recording.export(tables, "csv", force=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def renames(monkeypatch: pytest.MonkeyPatch, *outcomes: BaseException | None, done: bool = False) -> None:
    """Renames of folders fail as told, one after the other; with `done` after they have taken place."""
    from dask_insight.frames import take_place

    left = list(outcomes)

    def told(written: Path, place: Path) -> None:
        outcome = left.pop(0) if left else None
        if outcome is None or done:
            take_place(written, place)
        if outcome is not None:
            raise outcome

    monkeypatch.setattr("dask_insight.exports.files.take_place", told)


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), PermissionError(13, "not now")])
def test_a_folder_whose_place_cannot_be_taken_stays(
    recording: Recording,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    at: int,
    done: bool,
) -> None:
    tables = recording.export(tmp_path / "tables", "csv")
    (tables / "gpus.csv").write_text("from before", "utf-8")
    old = contents(tables)
    renames(monkeypatch, *[None] * at, error, done=done)
    with pytest.raises(type(error)):
        recording.export(tables, "csv", force=True)
    # All that may be there is one of them, and whole.
    new = {name: data for name, data in old.items() if name != "gpus.csv"}
    assert contents(tables) == (new if done and at == 1 else old)
    assert list(tmp_path.iterdir()) == [tables]


@pytest.mark.parametrize("first", [KeyboardInterrupt(), PermissionError(13, "not now")])
def test_a_folder_that_cannot_come_back_is_kept_and_named(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: BaseException
) -> None:
    tables = recording.export(tmp_path / "tables", "csv")
    old = contents(tables)
    renames(monkeypatch, None, first, PermissionError(13, "not now"))
    with pytest.raises(PermissionError, match="not now, though what was there is whole in ") as told:
        recording.export(tables, "csv", force=True)
    (kept,) = tmp_path.iterdir()
    assert kept.name in str(told.value)
    assert contents(kept) == old


@pytest.mark.parametrize("format", ["chrome", "otlp"])
def test_ids_take_no_room_of_their_own(tmp_path: Path, format: str) -> None:
    """Those of a damaged file may be as large as they can."""
    run = Recording()
    tasks = [3, 2**32 - 2]
    run.append(encode("graph", {"task": tasks, "key": ["a", "b"], "prefix": ["load", "sum"]}))
    run.append(encode("edges", {"task": tasks[1:], "dependency": tasks[:1]}))
    moments = {"start": [1.7e9, 1.7e9 + 2], "stop": [1.7e9 + 1, 1.7e9 + 3], "done": [1.7e9 + 1, 1.7e9 + 3]}
    place = {"worker": ["w"] * 2, "thread": ["1"] * 2, "status": ["ok"] * 2}
    run.append(encode("attempts", {"run": [0, 1], "task": tasks, **place, **moments}))
    told = json.loads(exported(run, tmp_path, format).read_text("utf-8"))
    if format == "chrome":
        assert [each["ph"] for each in told["traceEvents"] if each.get("name") == "input"] == ["s", "f"]
    else:
        spans = told["resourceSpans"][0]["scopeSpans"][0]["spans"]
        assert [len(each.get("links", [])) for each in spans if each["name"] in ("load", "sum")] == [0, 1]


def test_what_was_taken_back_is_no_error_of_a_span(tmp_path: Path) -> None:
    run = Recording()
    ends = ["ok", "erred", "rescheduled", "killed"]
    run.append(encode("graph", {"task": range(4), "key": ends, "prefix": ends}))
    times = {name: [1.7e9 + each for each in range(4)] for name in ("start", "stop", "done")}
    place = {"worker": ["w"] * 4, "thread": ["1"] * 4, "status": ends}
    run.append(encode("attempts", {"run": range(4), "task": range(4), **place, **times}))
    told = json.loads(exported(run, tmp_path, "otlp").read_text("utf-8"))
    spans = told["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert {each["name"]: each["status"] for each in spans if each["name"] in ends} == {
        "ok": {"code": 1},
        "erred": {"code": 2, "message": "erred"},
        "rescheduled": {},
        "killed": {"code": 2, "message": "killed"},
    }


def test_what_was_cut_out_of_a_run_claims_no_more(tmp_path: Path) -> None:
    run, zero = Recording(), 1.7e9
    facts = {"started": zero, "stopped": zero + 600}
    run.append(encode("about", {"name": [*facts], "value": [*map(json.dumps, facts.values())]}))
    start = zero + np.array([1.0, 502, 590])
    moments = {"start": start, "stop": start + 2, "done": start + 2}
    run.append(encode("attempts", {"run": range(3), "task": range(3), "status": ["ok"] * 3, **moments}))
    cut = run.slice(500, 510)
    profile = pprof_message()()
    profile.ParseFromString(gzip.decompress(exported(cut, tmp_path, "pprof").read_bytes()))
    assert (profile.time_nanos, profile.duration_nanos) == ((zero + 500) * 1e9, 10e9)
    root, _ = spans_of(cut, tmp_path)
    assert int(root["startTimeUnixNano"]) == (zero + 500) * 1e9
    assert load(exported(cut, tmp_path, "chrome")).about["stopped"] == zero + 510
    (tmp_path / "rest").mkdir()
    root, *within = spans_of(run.slice(503, 510), tmp_path / "rest")
    assert within and all(root["startTimeUnixNano"] <= each["startTimeUnixNano"] for each in within)


@pytest.mark.parametrize("started", [-5.0, 1e12, 1e300])
def test_profiles_are_written_whatever_moment_a_file_tells(tmp_path: Path, started: float) -> None:
    recording = Recording()
    recording.append(encode("about", {"name": ["started"], "value": [json.dumps(started)]}))
    for name in ("run.pb.gz", "RUN.PB.GZ", "RUN.TRACE.JSON.GZ"):
        assert gzip.decompress(recording.export(tmp_path / name).read_bytes())


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("parquet", "svg", "png")])
def test_nothing_is_left_of_an_export_that_fails(
    recording: Recording, tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(share: float) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / f"run{FORMATS[format].suffix or '-' + format}"
    with pytest.raises(OSError, match="No space"):
        export(recording, target, format, told=full)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("svg", "png")])
def test_how_far_it_is_is_told(recording: Recording, tmp_path: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    shares: list[float] = []
    export(recording, tmp_path / "run", format, told=shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1


def test_the_name_says_the_format() -> None:
    assert format_of("a/run.trace.json.gz") == "chrome"
    assert format_of("run.speedscope.json") == "speedscope"
    assert format_of("run.json") == "json"
    assert format_of("run.PB.GZ") == "pprof"
    assert format_of("run.html") is None
    with pytest.raises(ValueError, match="speedscope"):
        Recording().export("run.xls")
    with pytest.raises(ValueError, match="'xls' is no format"):
        Recording().export("run.xls", "xls")


@pytest.mark.parametrize(
    ("panel", "asked"),
    [("memory", {"by": "name"}), ("resources", {"measures": "cpu"}), ("fine-metrics", {"unit": "bytes"})],
)
def test_the_command_line_asks_a_panel_as_python_does(
    tmp_path: Path, panel: str, asked: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    golden = str(Path(__file__).parent / "golden" / "run.dinsight")
    given = [part for name, value in asked.items() for part in (f"--{name}", value)]
    command = ["export", golden, "--to", "svg", "--panel", panel, *given, "-o", str(tmp_path / "typed.svg")]
    assert main(command) == ExitCode.OK
    python = open_recording(golden).export(tmp_path / "python.svg", panel=panel, **asked)
    assert (tmp_path / "typed.svg").read_text("utf-8") == python.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "cure", "command"),
    [
        ("tasks.csv", r"export\('tables', 'csv'\).* run\.tasks\.to_csv", "--to csv -o tables"),
        ("run.Parquet", r"export\('tables', 'parquet'\).* run\.tasks\.to_parquet", "--to parquet -o tables"),
        ("tasks.csv.gz", r"export\('tables', 'csv'\)", "--to csv -o tables"),
        ("run.html", r"run\.report\(", "dask-insight report run.dinsight -o run.html"),
        ("new.dinsight", r"run\.save\(", "run.dinsight is a recording already: copy it"),
    ],
)
def test_a_name_that_says_something_else_is_refused_with_what_is_meant(
    name: str, cure: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=f"{re.escape(name)}' says no format: .*{cure}"):
        Recording().export(name)
    assert main(["export", "run.dinsight", "-o", name]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert name in told and command in told


def test_the_command_line_exports(
    recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.dinsight"
    recording.save(file)
    assert main(["export", str(file), "--to", "chrome"]) == ExitCode.OK
    assert (tmp_path / "run.trace.json").exists()
    assert main(["export", str(file), "--to", "chrome"]) == ExitCode.UNWRITABLE
    assert "--force" in capsys.readouterr().err
    assert main(["export", str(file), "-o", str(tmp_path / "out.pb.gz")]) == ExitCode.OK
    assert main(["export", str(file)]) == ExitCode.USAGE
    assert main(["export", str(tmp_path / "none.dinsight"), "--to", "csv"]) == ExitCode.UNREADABLE


def test_a_person_who_watches_sees_how_far_an_export_is(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    file, terminal = tmp_path / "run.dinsight", Terminal()
    recording.save(file)
    monkeypatch.setattr(sys, "stderr", terminal)
    moments = iter(range(1_000))
    monkeypatch.setattr("dask_insight.hosts.cli.export.time.monotonic", lambda: float(next(moments)))
    assert main(["export", str(file), "--to", "chrome"]) == ExitCode.OK
    shown = terminal.getvalue()
    assert "Reading run.dinsight" in shown
    shares = [int(share) for share in re.findall(r"(\d+)%", shown)]
    assert len(shares) > 3 and shares == sorted(shares) and shares[-1] == 100
    assert "s left" in shown
    assert shown.splitlines()[-1].endswith("chrome://tracing"), "the last word is what was written"


def test_a_trace_comes_back_as_the_same_tasks(recording: Recording, tmp_path: Path) -> None:
    from dask_insight.sources.files import load

    file = recording.export(tmp_path / "run.trace.json.gz")
    back = load(file)
    ran = recording.tasks[np.isfinite(recording.tasks["start"])].set_index("key").sort_index()
    again = back.tasks.set_index("key").sort_index()
    assert list(again.index) == list(ran.index)
    for column in ("prefix", "worker", "status"):
        assert again[column].astype("str").tolist() == ran[column].astype("str").tolist()
    np.testing.assert_allclose(again["duration"], ran["duration"], atol=2e-6)
    np.testing.assert_allclose(back.started + again["start"], recording.started + ran["start"], atol=2e-5)
    pairs = {tuple(pair) for pair in recording.edges[["key", "dependency_key"]].to_numpy().tolist()}
    assert {tuple(pair) for pair in back.edges[["key", "dependency_key"]].to_numpy().tolist()} == pairs
    assert back.resources["cpu"].notna().any()
