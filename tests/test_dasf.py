"""DASF's files and names: real databases, with what DASF itself says of them."""

from __future__ import annotations

import gc
import io
import os
import pickletools
import signal
import struct
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dask_insight.batch import encode
from dask_insight.compat import dasf
from dask_insight.compat.dasf import register
from dask_insight.compat.dasf.nvtx import Ranges, annotate
from dask_insight.frames import RecordingError
from dask_insight.recording import Recording
from dask_insight.sources.files import load
from dask_insight.sources.files.dasf import from_events

SECOND = 1_000.0


def compute(
    key: str, worker: str, stop: float, duration: float, size: int = 8, needs: tuple[str, ...] = ()
) -> Any:
    return {
        "name": "Compute",
        "timestamp": stop,
        "duration": duration,
        "phase": "X",
        "process_id": "vm",
        "thread_id": worker,
        "args": {
            "key": key,
            "name": key[2:-1],
            "state": "memory",
            "size": size,
            "type": "<class 'numpy.ndarray'>",
            "dependencies": list(needs),
            "dependents": [],
        },
    }


def held(worker: str, moment: float, tasks: int) -> Any:
    args = {"key": "x", "state": "memory", "size": 1, "tasks": tasks}
    return {
        "name": "Managed Memory",
        "timestamp": moment,
        "phase": "I",
        "scope": "g",
        "process_id": "vm",
        "thread_id": worker,
        "args": args,
    }


def sampled(moment: float, **figures: float) -> Any:
    args = {"cpu": 50.0, "memory": 1e8, "time": 2e9 + moment, **figures}
    return {
        "name": "Resource Usage",
        "timestamp": moment,
        "phase": "I",
        "scope": "g",
        "process_id": "vm",
        "thread_id": None,
        "args": args,
    }


EVENTS = [
    compute("('load-1a', 0)", "worker-vm-0", SECOND + 2, 2.0, 1_000_000),
    compute("('load-1a', 1)", "worker-vm-1", SECOND + 1, 1.0, 3_000_000),
    held("worker-vm-0", SECOND + 2, 1),
    compute("sum-2b", "worker-vm-0", SECOND + 6, 4.0, 8, ("('load-1a', 0)", "('load-1a', 1)")),
    held("worker-vm-0", SECOND + 6.2, 3),
    held("worker-vm-1", SECOND + 6.3, 1),
    held("worker-vm-0", SECOND + 6.9, 2),
    sampled(SECOND + 1.5, gpu_utilization=10.0, gpu_memory_used=1e9),
    sampled(SECOND + 3.0, gpu_utilization=80.0, gpu_memory_used=3e9),
    sampled(SECOND + 5.0, gpu_utilization=40.0, gpu_memory_used=5e9),
]


def database(path: Path, events: list[Any], tail: bytes = b"") -> Path:
    parts = []
    for event in events:
        data = msgpack.packb(event)
        parts.append(struct.pack(">Q", len(data)) + data)
    path.write_bytes(b"".join(parts) + tail)
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return database(tmp_path / "run-TracePlugin-vm.msgpack", EVENTS)


def test_a_database_is_a_recording(trace: Path) -> None:
    recording = load(trace)
    tasks = recording.tasks.set_index("key")
    assert tasks["prefix"].to_dict() == {"('load-1a', 0)": "load", "('load-1a', 1)": "load", "sum-2b": "sum"}
    assert tasks.loc["sum-2b", "duration"] == pytest.approx(4.0)
    assert tasks.loc["sum-2b", "stop"] == pytest.approx(6.0), "a timestamp is when the task ended"
    assert recording.started == pytest.approx(2e9 + SECOND)
    assert set(recording.edges["dependency_key"]) == {"('load-1a', 0)", "('load-1a', 1)"}
    assert recording.gpus["utilization"].tolist() == [10.0, 80.0, 40.0]
    assert "2 workers" in str(recording.summary())


def test_functions_tasks_and_balance_are_dasfs_where_dasf_is_right(trace: Path) -> None:
    analyser = dasf.TraceAnalyser(dasf.MultiEventDatabase([trace]))
    functions = analyser.per_function_bottleneck().set_index(["GPU", "Function"])
    assert functions["Duration (s)"].to_dict() == pytest.approx(
        {("0", "sum"): 4.0, ("0", "load"): 2.0, ("1", "load"): 1.0}
    )
    assert functions["Percentage of total time (%)"].tolist() == pytest.approx([400 / 6, 200 / 6, 100.0])
    total = functions.loc[("0", "sum")]
    assert total["Mean Data Size (MB)"] == pytest.approx(4.0)
    assert total["Mean Throughput (MB/s)"] == pytest.approx(1.0)
    assert total["Mean GPU Utilization (%)"] == pytest.approx(60.0)
    assert total["Mean GPU Memory Used (GB)"] == pytest.approx(4.0)
    assert functions.loc[("0", "load"), "Mean GPU Utilization (%)"] == pytest.approx(10.0)
    assert np.isnan(functions.loc[("1", "load"), "Mean GPU Utilization (%)"])
    tasks = analyser.per_task_bottleneck()
    assert tasks["Task Key"].tolist() == ["sum-2b", "('load-1a', 0)", "('load-1a', 1)"]
    assert tasks["Memory usage (Mb)"].tolist() == pytest.approx([8e-6, 1.0, 3.0])
    balance = analyser.per_worker_task_balance()
    assert balance.to_dict("list") == {
        "Time Interval (seconds from begin)": [0, 4],
        "worker-vm-0": [1.0, 2.0],
        "worker-vm-1": [0.0, 1.0],
    }


def on_host(host: str, event: dict[str, Any], later: float) -> dict[str, Any]:
    """An event of a host whose clock began so many seconds later than others."""
    return event | {"process_id": host, "timestamp": event["timestamp"] - later}


def two_hosts(later: float) -> list[dict[str, Any]]:
    """`sum` of host b needs `load` of host a, and each has a sample of its resource monitor."""
    return [
        on_host("a", compute("load-1a", "worker-a-0", SECOND + 2, 2.0), 0),
        on_host("b", compute("sum-2b", "worker-b-0", SECOND + 6, 3.0, 8, ("load-1a",)), later),
        on_host("b", held("worker-b-0", SECOND + 6, 1), later),
        on_host("b", {"name": "note", "timestamp": SECOND + 4, "phase": "I", "thread_id": None}, later),
        on_host("a", sampled(SECOND + 1.5), 0),
        on_host("b", sampled(SECOND + 2.5), later),
    ]


def clocks(recording: Recording) -> list[str]:
    """What is said of clocks."""
    told: list[str] = recording.events.loc[recording.events["kind"] == "clock", "message"].tolist()
    return told


@pytest.mark.parametrize("later", [0.0, 250_000.0, -250_000.0])
def test_each_host_has_a_clock_of_its_own(later: float) -> None:
    recording = from_events(two_hosts(later), "two")
    tasks = recording.tasks.set_index("key")
    assert recording.started == pytest.approx(2e9 + SECOND)
    assert tasks["start"].to_dict() == pytest.approx({"load-1a": 0.0, "sum-2b": 3.0})
    assert recording.resources["time"].tolist() == pytest.approx([1.5, 2.5])
    assert recording.table("cache")["time"].tolist() == pytest.approx([6.0])
    events = recording.events
    assert events.loc[events["kind"] == "user", "time"].tolist() == pytest.approx([4.0])
    assert clocks(recording) == []


@pytest.mark.parametrize(
    ("later", "start"),
    [(0.0, 3.0), pytest.param(250_000.0, 2.0, id="later"), pytest.param(-250_000.0, 2.0, id="before")],
)
@pytest.mark.parametrize("monitored", [True, False])
def test_a_clock_that_nothing_tells_is_set_by_inputs_of_other_hosts(
    monitored: bool, later: float, start: float
) -> None:
    """Where the other's clock does not do; then it is said of which host."""
    *events, first, _ = two_hosts(later)
    recording = from_events([*events, first] if monitored else events, "two")
    tasks = recording.tasks.set_index("key")
    assert tasks["start"].to_dict() == pytest.approx({"load-1a": 0.0, "sum-2b": start})
    *others, said = clocks(recording)
    assert "those of the others: b. They are set" in said
    assert len(others) == (not monitored)


def test_clocks_are_set_one_by_the_other() -> None:
    """Host b has inputs of a and c of b, and what d did has nothing to do with any."""
    events = [
        on_host(host, compute(f"{host}-1", f"worker-{host}", 10.0 * at + 6, 5.0, 8, needs), 1_000.0 * at)
        for at, (host, needs) in enumerate((("a", ()), ("b", ("a-1",)), ("c", ("b-1",)), ("d", ())), 1)
    ]
    for order in (events, events[::-1]):
        recording = from_events([sampled(1.0) | {"process_id": "a"}, *order], "four")
        tasks = recording.tasks.set_index("key")
        starts = tasks.loc[["b-1", "c-1"], "start"] - tasks["start"]["a-1"]
        assert starts.tolist() == pytest.approx([5.0, 10.0])
        assert "b, c and d" in clocks(recording)[0] or "d, c and b" in clocks(recording)[0]


def test_any_recording_has_the_same_reports() -> None:
    import dask

    import dask_insight

    with dask_insight.record() as run:
        dask.delayed(sum)([dask.delayed(abs)(number) for number in range(4)]).compute(scheduler="threads")
    analyser = dasf.TraceAnalyser(run)
    assert set(analyser.per_function_bottleneck()["Function"]) == {"sum", "abs"}
    assert len(analyser.per_task_bottleneck()) == 5
    assert analyser.per_worker_task_balance().shape[0] >= 1


def test_files_written_here_are_read_as_dasfs(tmp_path: Path) -> None:
    file = str(tmp_path / "own.msgpack")
    profiler = dasf.EventProfiler(database_file=file)
    profiler.record_complete_event(
        "Compute", 5.0, 1.5, process_id="vm", thread_id="worker-vm-0", args=EVENTS[0]["args"]
    )
    profiler.record_instant_event("note", 5.5, args={"why": "because"})
    profiler.record_duration_begin_event("stage", 1.0)
    profiler.record_duration_end_event("stage", 2.0)
    profiler.commit()
    assert len(dasf.MultiEventDatabase(file)) == len(dasf.MultiEventDatabase([file])) == 4
    assert dasf.TraceAnalyser(file).recording.summary()
    both = dasf.MultiEventDatabase([profiler, dasf.FileDatabase(file)])
    assert len(both) == 8
    first, note, begin, end, *_ = both
    assert first == dasf.CompleteEvent("Compute", 5.0, 1.5, "X", "vm", "worker-vm-0", EVENTS[0]["args"])
    assert (note.name, begin.phase, end.phase) == ("note", "B", "E")
    recording = load(file)
    assert recording.tasks["duration"].tolist() == pytest.approx([1.5])
    assert recording.events.loc[recording.events["kind"] == "user", "message"].tolist() == [
        "note (I)",
        "stage (B)",
        "stage (E)",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="its processes have no such limit")
def test_a_disk_that_is_full_costs_no_event(tmp_path: Path) -> None:
    import resource

    events = [dasf.InstantEvent(f"event {number}", float(number)) for number in range(7)]
    file = dasf.FileDatabase(str(tmp_path / "own.msgpack"), commit_threshold=3)
    for event in events[:3]:
        file.record(event)
    size, before = file.database_file.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            for event in events[3:]:
                file.record(event)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.database_file.stat().st_size == size
    file.record(events[6])
    file.commit()
    assert (list(file.get_traces()), file.gaps) == (events, [])


def test_what_waits_for_a_full_disk_is_bounded(tmp_path: Path) -> None:
    file = dasf.FileDatabase(str(tmp_path / "none" / "own.msgpack"), commit_threshold=2)
    events = [dasf.InstantEvent(f"event {number}", float(number)) for number in range(51)]
    with pytest.warns(RuntimeWarning, match="takes no more, its oldest events are dropped") as told:
        for event in events:
            with suppress(FileNotFoundError):
                file.record(event)
    assert (len(told), file.dropped) == (1, 10)
    file.database_file.parent.mkdir()
    file.close()
    assert list(file.get_traces()) == events[10:]


def test_an_event_that_cannot_be_written_takes_no_other_along(tmp_path: Path) -> None:
    file = dasf.FileDatabase(str(tmp_path / "own.msgpack"))
    events = [dasf.InstantEvent(f"event {number}", float(number)) for number in range(3)]
    for event in (events[0], dasf.InstantEvent("odd", 1.0, args={"lock": threading.Lock()}), *events[1:]):
        file.record(event)
    with pytest.warns(RuntimeWarning, match="cannot be written: TypeError"):
        file.commit()
    assert (list(file.get_traces()), file.dropped) == (events, 1)


@pytest.mark.parametrize("counted", [False, True])
def test_an_interrupt_leaves_no_half_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: bool
) -> None:
    class Interrupted(io.FileIO):
        def write(self, data: Any) -> int:
            if counted and self.tell():
                raise KeyboardInterrupt
            written = super().write(data[:5])
            if not counted:
                raise KeyboardInterrupt
            return written

    file = dasf.FileDatabase(str(tmp_path / "own.msgpack"))
    event = dasf.InstantEvent("event", 1.0)
    file.record(event)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "open", lambda path, mode, buffering: Interrupted(path, mode))
        file.commit()
    assert file.database_file.stat().st_size == 0
    file.commit()
    assert list(file.get_traces()) == [event]


def test_a_database_that_nobody_has_any_more_goes(tmp_path: Path) -> None:
    for commit_on_close in (True, False):
        file = dasf.FileDatabase(str(tmp_path / "own.msgpack"), commit_on_close=commit_on_close)
        file.record(dasf.InstantEvent("event", 1.0))
        file.close()
        gone = weakref.ref(file)
        del file
        gc.collect()
        assert gone() is None


ENDING = """
from dask_insight.compat import dasf

for number in range(2):
    dasf.FileDatabase("own.msgpack").record(dasf.InstantEvent(f"event {number}", float(number)))
    dasf.FileDatabase("own.msgpack", commit_on_close=False).record(dasf.InstantEvent("none", 1.0))
dasf.FileDatabase("none/own.msgpack").record(dasf.InstantEvent("nowhere", 1.0))
"""


def test_what_waits_is_written_as_the_program_ends(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", ENDING], cwd=tmp_path, check=True, timeout=60, capture_output=True)
    written = dasf.FileDatabase(str(tmp_path / "own.msgpack")).get_traces()
    assert sorted(event.name for event in written) == ["event 0", "event 1"]


FORKING = """
import os, signal, sys
from dask_insight.compat import dasf

file = dasf.FileDatabase("own.msgpack")
file.record(dasf.InstantEvent("before", 1.0))
file._lock.acquire()
child = os.fork()
if child:
    file._lock.release()
    assert os.waitpid(child, 0)[1] == 0
else:
    signal.alarm(20)
    file.record(dasf.InstantEvent("in the other", 2.0))
sys.exit()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_was_forked_off_writes_its_own_events_alone(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKING], cwd=tmp_path, check=True, timeout=60)
    written = dasf.FileDatabase(str(tmp_path / "own.msgpack")).get_traces()
    assert [event.name for event in written] == ["in the other", "before"]


def test_a_database_of_ones_own_is_a_database(tmp_path: Path) -> None:
    class Kept(dasf.EventDatabase):
        def __init__(self) -> None:
            self.events: list[dasf.EventTypes] = []

        def record(self, event: dasf.EventTypes) -> None:
            self.events.append(event)

        def commit(self) -> None:
            pass

        def get_traces(self) -> list[dasf.EventTypes]:
            return self.events

    with Kept() as kept:
        profiler = dasf.EventProfiler(database=kept)
        profiler.record_complete_event(
            "Compute", 5.0, 1.5, process_id="vm", thread_id="worker-vm-0", args=EVENTS[0]["args"]
        )
    both = dasf.MultiEventDatabase([profiler, dasf.FileDatabase(str(tmp_path / "none.msgpack"))])
    assert str(both) == "MultiEventDatabase with 2 databases"
    assert [dasf.event_classes[event.phase] for event in both] == [dasf.CompleteEvent]
    assert dasf.TraceAnalyser(both).per_task_bottleneck()["Duration (s)"].tolist() == [1.5]
    with pytest.raises(TypeError, match="abstract"):
        dasf.EventDatabase()


def test_a_torn_tail_and_a_bad_record_are_named(tmp_path: Path) -> None:
    bad = b"\x93\x01\x02"
    middle = struct.pack(">Q", len(bad)) + bad
    good = database(tmp_path / "a", EVENTS[:1]).read_bytes()
    path = tmp_path / "torn.msgpack"
    path.write_bytes(good + middle + good + struct.pack(">Q", 500) + b"half")
    recording = load(path)
    assert len(recording.tasks) == 2
    assert [gap.offset for gap in recording.gaps] == [len(good), 2 * len(good) + len(middle)]
    assert (recording.events["kind"] == "lost").sum() == 2


def test_an_event_that_lacks_something_takes_no_other_along(tmp_path: Path) -> None:
    bad = {"name": "half", "timestamp": 1.0, "phase": "X"}
    traces = dasf.FileDatabase(str(database(tmp_path / "a", [EVENTS[0], bad, EVENTS[1]])))
    assert [each.name for each in traces.get_traces()] == ["Compute", "Compute"]
    (gap,) = traces.gaps
    assert "duration" in gap.reason
    with pytest.raises(TypeError, match="the caller's own"):
        for _ in traces.get_traces():
            raise TypeError("the caller's own")


def test_an_event_nested_too_deeply_takes_no_other_along() -> None:
    deep: Any = "x"
    for _ in range(100 * sys.getrecursionlimit()):
        deep = [deep]
    other = {**EVENTS[7], "name": "mine", "args": {"a": deep}}
    task = {**EVENTS[0], "args": {**EVENTS[0]["args"], "state": deep}}
    recording = from_events([other, task, EVENTS[1]], "deep")
    assert len(recording.tasks) == 1
    assert (recording.events["message"].str.contains("nested too deeply")).sum() == 2


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a database", "utf-8")
    with pytest.raises(RecordingError, match=r"notes\.txt is of no format that can be read.*DASF"):
        load(other)
    with pytest.raises(RecordingError, match="no database of DASF's"):
        load(other, format="dasf")
    with pytest.raises(ValueError, match="choose one of"):
        load(other, format="xls")


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 255))
@example(b"", 274, 0)  # a worker whose only task took no time
def test_damaged_databases_never_raise_anything_else(noise: bytes, place: int, value: int) -> None:
    from dask_insight.sources.files.dasf import events

    data = bytearray(b"".join(struct.pack(">Q", len(each)) + each for each in map(msgpack.packb, EVENTS)))
    data[place % len(data)] = value
    gaps: list[Any] = []
    recording = from_events(events(bytes(data) + noise, gaps), "noise")
    assert len(recording.tasks) <= 3 + len(noise)
    analyser = dasf.TraceAnalyser(recording)
    for table in (analyser.per_function_bottleneck(), analyser.per_task_bottleneck()):
        assert table["Percentage of total time (%)"].between(0, 100.001).all()
    analyser.per_worker_task_balance()


def test_registered_on_whatever_has_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from distributed import Client, LocalCluster

    import dask_insight
    from dask_insight.compat.dasf.nvtx import NAME

    monkeypatch.chdir(tmp_path)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        pipeline = SimpleNamespace(_executor=SimpleNamespace(client=client))
        session = dasf.register_default_profiler(pipeline, name="mine", enable_nvtx=True)
        assert client.submit(sum, range(5)).result() == 10
        plugins = client.run(lambda dask_worker: list(dask_worker.plugins))
        assert all(NAME in names for names in plugins.values())
        if hasattr(os, "fork"):
            child = os.fork()
            if not child:
                # It has no event loop, and would wait for one.
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(20)
                session.stop()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        session.stop()
        plugins = client.run(lambda dask_worker: [name for name in dask_worker.plugins if "insight" in name])
        assert not any(plugins.values())
        with pytest.raises(TypeError, match="give a distributed"):
            dasf.register_default_profiler(object())
    (file,) = tmp_path.glob("mine-*.dinsight")
    assert dask_insight.open(file).tasks["prefix"].tolist() == ["sum"]


def test_ranges_travel_as_text_to_where_we_are_not() -> None:
    from types import SimpleNamespace

    from distributed.protocol.pickle import dumps

    sent: list[bytes] = []
    annotate(SimpleNamespace(register_plugin=lambda plugin, name: sent.append(dumps(plugin))))
    assert "CodeType" not in [told for _, told, _ in pickletools.genops(sent[0])], "no version's bytecode"
    told = f"""
import pickle, sys
sys.modules["dask_insight"] = None
print(pickle.loads({sent[0]!r}).name)
"""
    there = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert there.stdout == "dask_insight-nvtx\n"


def test_ranges_last_for_as_long_as_functions_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    told: list[str] = []

    def begin(message: str, domain: str) -> str:
        told.append(f"begin {message}")
        return message

    nvtx: Any = SimpleNamespace(start_range=begin, end_range=lambda name: told.append(f"end {name}"))
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    tasks: dict[str, Any] = {}
    ranges = Ranges()
    ranges.setup(SimpleNamespace(state=SimpleNamespace(tasks=tasks)))

    def go(start: str, finish: str, state: str) -> list[str]:
        """A task is to go from one state to another, and comes to a third."""
        tasks["a-1"] = SimpleNamespace(prefix="a", state=state)
        told.clear()
        ranges.transition("a-1", start, finish)
        return told

    assert go("released", "waiting", "waiting") == []
    assert go("ready", "executing", "executing") == ["begin a"]
    assert go("executing", "long-running", "long-running") == [], "it gave its thread back and goes on"
    assert go("long-running", "released", "cancelled") == [], "it is not wanted any more and goes on"
    assert go("cancelled", "waiting", "executing") == [], "it is wanted again"
    assert go("executing", "memory", "memory") == ["end a"]
    assert go("memory", "released", "released") == []
    assert go("ready", "executing", "executing") == ["begin a"]
    assert go("executing", "released", "cancelled") == []
    assert go("cancelled", "released", "released") == ["end a"]


def test_the_command_line_imports(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dask_insight.errors import ExitCode
    from dask_insight.hosts.cli import main
    from dask_insight.recording import open_recording

    assert main(["import", str(trace)]) == ExitCode.OK
    target = trace.with_suffix(".dinsight")
    assert len(open_recording(target).tasks) == 3
    other = trace.with_name("other.txt")
    other.write_text("no trace", "utf-8")
    assert main(["import", str(other)]) == ExitCode.UNREADABLE
    assert "no format that can be read" in capsys.readouterr().err


def test_a_gpu_sample_counts_for_every_task_that_ran_then(tmp_path: Path) -> None:
    events = [
        compute("long-1", "worker-vm-0", SECOND + 10, 10.0),
        compute("short-2", "worker-vm-0", SECOND + 2, 1.0),
        sampled(SECOND + 1.5, gpu_utilization=90.0, gpu_memory_used=1e9),
        sampled(SECOND + 7.0, gpu_utilization=10.0, gpu_memory_used=3e9),
    ]
    analyser = dasf.TraceAnalyser([dasf.database.event_of(event) for event in events])
    table = analyser.per_function_bottleneck().set_index("Function")
    assert table.loc["long", "Mean GPU Utilization (%)"] == pytest.approx(50.0)
    assert table.loc["long", "Mean GPU Memory Used (GB)"] == pytest.approx(2.0)
    assert table.loc["short", "Mean GPU Utilization (%)"] == pytest.approx(90.0)


def test_what_the_graph_does_not_hold_is_mixed_up_with_nothing() -> None:
    """A cut recording: of three tasks one is described, and its input is another one."""
    run = Recording()
    run.append(encode("graph", {"task": [5], "key": ["join-5"], "prefix": ["join"]}))
    run.append(encode("edges", {"task": [5], "dependency": [3]}))
    attempts = {"task": [3, 5, 9], "run": [0, 1, 2], "worker": ["w-0"] * 3, "status": ["ok"] * 3}
    times = {"start": np.array([0.0, 1.0, 3.0]) + 1e9, "stop": np.array([1.0, 3.0, 7.0]) + 1e9}
    run.append(encode("attempts", attempts | times | {"nbytes": [8e6, 2e6, 4e6]}))
    analyser = dasf.TraceAnalyser(run)
    (function,) = analyser.per_function_bottleneck().to_dict("records")
    assert (function["Function"], function["Duration (s)"]) == ("join", 2.0)
    assert function["Mean Data Size (MB)"] == 0.0
    assert analyser.per_task_bottleneck()["Task Key"].tolist() == ["join-5"]


def test_a_recording_without_a_graph_has_empty_reports() -> None:
    run = Recording()
    times = {"start": [1e9], "stop": [1e9 + 1]}
    run.append(encode("attempts", {"task": [3], "run": [0], "worker": ["w-0"], "status": ["ok"]} | times))
    analyser = dasf.TraceAnalyser(run)
    assert analyser.per_function_bottleneck().empty and analyser.per_task_bottleneck().empty


def test_two_recordings_of_one_second_have_a_file_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("run-1.dinsight", "run-1-2.dinsight"):
        assert register._free("run-1") == name
        Path(name).touch()
