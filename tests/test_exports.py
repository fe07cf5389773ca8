"""Exports, read back by readers that are not ours."""

from __future__ import annotations

import gzip
import json
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
from dask_insight.errors import ExitCode
from dask_insight.exports import FORMATS, format_of
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording


def spin(number: int) -> bytes:
    total = 0
    for value in range(400_000):
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
    from dask_insight.exports.lanes import tracks

    lane = np.array([1, 1, 1, 1, 2])
    start, stop = np.array([0.0, 1.0, 2.0, 5.0, 0.0]), np.array([4.0, 2.0, 3.0, 6.0, 9.0])
    assert tracks(lane, start, stop).tolist() == [0, 1, 1, 0, 0]


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


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_tables_come_back_whole(recording: Recording, tmp_path: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    folder = exported(recording, tmp_path, format)
    read = pd.read_csv if format == "csv" else pd.read_parquet
    tasks = read(folder / f"tasks.{format}")
    assert sorted(tasks["key"]) == sorted(recording.tasks["key"])
    np.testing.assert_allclose(tasks["start"], recording.tasks["start"], rtol=1e-12)
    assert (folder / f"describe.{format}").exists()


def test_json_has_every_table(recording: Recording, tmp_path: Path) -> None:
    told = json.loads(exported(recording, tmp_path, "json").read_text("utf-8"))
    assert told["tasks"]["key"] == recording.tasks["key"].tolist()
    assert {"samples", "resources", "workers", "edges"} <= set(told)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    from dask_insight.batch import encode

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


def test_the_name_says_the_format() -> None:
    assert format_of("a/run.trace.json.gz") == "chrome"
    assert format_of("run.speedscope.json") == "speedscope"
    assert format_of("run.json") == "json"
    assert format_of("run.PB.GZ") == "pprof"
    assert format_of("run.html") is None
    with pytest.raises(ValueError, match="speedscope"):
        Recording().export("run.html")
    with pytest.raises(ValueError, match="'svg' is no format"):
        Recording().export("run.svg", "svg")


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
