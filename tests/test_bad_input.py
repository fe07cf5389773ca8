"""Files that are damaged, strange or hostile: a recording of what can be read, or a refusal; in bounds."""

from __future__ import annotations

import base64
import gzip
import json
import math
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from time import process_time
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dask_insight.batch import encode
from dask_insight.errors import ExitCode
from dask_insight.exports.stacks import Stacks
from dask_insight.frames import RecordingError
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording, open_recording
from dask_insight.schema import NOTHING
from dask_insight.sources.dynamic import shown_traceback
from dask_insight.sources.files import FORMATS, bokeh, chrome, cluster_dump, load, performance_report, trees
from dask_insight.sources.files.dasf import from_events
from dask_insight.tables.stacks import below

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"

CHROME = {
    "displayTimeUnit": "ms",
    "otherData": {"started": "1750000000.0"},
    "traceEvents": [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "a tcp://10.0.0.1:4"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "7"}},
        {
            "ph": "X",
            "pid": 1,
            "tid": 1,
            "name": "load",
            "cat": "task,ok",
            "ts": 1,
            "dur": 5,
            "args": {"key": "a"},
        },
        {"ph": "X", "pid": 1, "tid": 1, "name": "within", "ts": 2, "dur": 2},
        {"ph": "B", "pid": 1, "tid": 2, "name": "sum", "ts": 7, "args": {"bytes": 8}},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 9},
        {"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 5},
        {"ph": "f", "id": 1, "pid": 1, "tid": 2, "ts": 7},
        {"ph": "C", "name": "CPU (%)", "pid": 1, "ts": 3, "args": {"cpu": 50}},
        {"ph": "i", "name": "note", "pid": 1, "ts": 4},
    ],
}
SPEEDSCOPE = {
    "$schema": "https://www.speedscope.app/file-format-schema.json",
    "shared": {"frames": [{"name": "main", "file": "a.py", "line": 3}, {"name": "leaf"}]},
    "profiles": [
        {"type": "sampled", "name": "one", "unit": "seconds", "samples": [[0], [0, 1]], "weights": [1, 2]},
        {
            "type": "evented",
            "name": "two",
            "unit": "milliseconds",
            "events": [{"type": "O", "frame": 0, "at": 1}, {"type": "C", "frame": 0, "at": 3}],
        },
    ],
}
STREAM = [
    {
        "key": ["load-1a", 0],
        "worker": "tcp://10.0.0.1:4",
        "thread": 1,
        "status": "OK",
        "nbytes": 8,
        "typename": "int",
        "startstops": [
            {"action": "transfer", "start": 1.75e9, "stop": 1.75e9 + 1},
            {"action": "compute", "start": 1.75e9 + 1, "stop": 1.75e9 + 3},
        ],
    },
    {
        "key": "sum-2b",
        "worker": "tcp://10.0.0.1:4",
        "thread": 1,
        "status": "error",
        "exception_text": "ValueError()",
        "startstops": [{"action": "compute", "start": 1.75e9 + 4, "stop": 1.75e9 + 5}],
    },
]
_WORKER = "tcp://10.0.0.1:4"
DUMP = {
    "scheduler": {
        "type": "Scheduler",
        "address": "tcp://10.0.0.1:1",
        "started": 1.75e9,
        "transition_log": [
            ["a", "released", "waiting", {"a": "processing"}, "update-graph-1", 1.75e9],
            ["a", "waiting", "processing", {}, "update-graph-1", 1.75e9 + 1],
            ["a", "processing", "memory", {}, "task-finished-1", 1.75e9 + 4],
        ],
        "tasks": {
            "a": {"key": "a", "state": "memory", "nbytes": 8, "type": "int", "group_key": "a"},
            "['b', 0]": {"key": ["b", 0], "state": "waiting", "dependencies": ["<TaskState 'a' memory>"]},
            "c": {"key": "c", "state": "erred", "exception_text": "no", "traceback_text": "line 1"},
        },
        "workers": {
            _WORKER: {
                "name": 0,
                "host": "10.0.0.1",
                "pid": 9,
                "nthreads": 2,
                "memory_limit": 2**30,
                "memory": {"process": 1e8, "managed": 8},
                "metrics": {
                    "time": 1.75e9 + 5,
                    "cpu": 20,
                    "memory": 1e8,
                    "task_counts": {"['a', 'memory']": 1},
                },
            }
        },
    },
    "workers": {
        _WORKER: {
            "nthreads": 2,
            "logs": [["INFO", "hello"]],
            "log": [
                ["a", "ready", "executing", "executing", {}, "s", 1.75e9 + 2],
                ["a", "executing", "memory", "memory", {}, "s", 1.75e9 + 3],
                ["c", "ready", "executing", "executing", {}, "s", 1.75e9 + 3],
                ["c", "executing", "error", "error", {}, "s", 1.75e9 + 4],
            ],
            "tasks": {
                "a": {
                    "key": "a",
                    "state": "memory",
                    "startstops": [{"action": "compute", "start": 1.75e9 + 2, "stop": 1.75e9 + 3}],
                }
            },
            "transfer_incoming_log": [
                {"start": 1.75e9, "stop": 1.75e9 + 1, "total": 8, "who": "tcp://10.0.0.2:5", "keys": {"a": 8}}
            ],
            "transfer_outgoing_log": [],
        }
    },
    "versions": {"scheduler": {"packages": {"dask": "1"}}},
}
_RECTANGLES = {
    "start": [1.75e12, 1.75e12 + 500],
    "duration": [200.0, 100.0],
    "key": ["load-1", ["sum-2", 0]],
    "name": ["transfer-load", "sum"],
    "worker": [_WORKER, _WORKER],
    "worker_thread": [f"{_WORKER}-7", f"{_WORKER}-7"],
    "color": ["red", "black"],
    "alpha": [0.4, 1],
}
_PROFILE = {
    "left": [0, 0],
    "right": [1, 1],
    "bottom": [0, 1],
    "name": ["", "main"],
    "filename": ["", "a.py"],
    "line_number": [0, 3],
    "time": ["1.50 s", "1.50 s"],
}
_MONITOR = {
    "time": [1.75e12],
    "cpu": [12.0],
    "memory": {"__ndarray__": "AAAAAACAR0A=", "dtype": "float64", "order": "little", "shape": [1]},
}
_SUMMARY = (
    "<h1> Dask Performance Report </h1><h2> Duration: 1.5 s </h2><ul><li> number of tasks: 2 </li>"
    "<li> Workers: 1 </li><li> Threads: 2 </li></ul><pre>\nx.compute()\n</pre>"
)
#: As Bokeh 2 writes: models in a list, by id.
BOKEH_2: Any = {
    "doc": {
        "roots": {
            "root_ids": ["1"],
            "references": [
                {"id": "1", "type": "Tabs", "attributes": {"tabs": [{"id": "2"}, {"id": "3"}]}},
                {"id": "2", "type": "Panel", "attributes": {"title": "Summary", "child": {"id": "4"}}},
                {"id": "3", "type": "Panel", "attributes": {"title": "Task Stream", "child": {"id": "5"}}},
                {"id": "4", "type": "Div", "attributes": {"text": _SUMMARY}},
                {"id": "5", "type": "Figure", "attributes": {"renderers": [{"id": "6"}]}},
                {
                    "id": "6",
                    "type": "GlyphRenderer",
                    "attributes": {"data_source": {"id": "7"}, "view": {"id": "8"}},
                },
                {"id": "7", "type": "ColumnDataSource", "attributes": {"data": _RECTANGLES}},
                {"id": "8", "type": "CDSView", "attributes": {"source": {"id": "7"}}},
            ],
        },
        "version": "2.4.3",
    }
}


def _source(columns: dict[str, Any]) -> Any:
    data = {"type": "map", "entries": [[name, values] for name, values in columns.items()]}
    return {
        "type": "object",
        "name": "ColumnDataSource",
        "id": str(len(columns)),
        "attributes": {"data": data},
    }


def _tab(title: str, child: Any) -> Any:
    return {"type": "object", "name": "TabPanel", "attributes": {"title": title, "child": child}}


#: As Bokeh 3 writes: models where they stand.
BOKEH_3: Any = {
    "doc": {
        "roots": [
            {
                "type": "object",
                "name": "Tabs",
                "id": "p1",
                "attributes": {
                    "tabs": [
                        _tab("Summary", {"name": "Div", "id": "p2", "attributes": {"text": _SUMMARY}}),
                        _tab("Task Stream", {"attributes": {"renderers": [_source(_RECTANGLES)]}}),
                        _tab("System", {"attributes": {"renderers": [_source(_MONITOR)]}}),
                        _tab("Worker Profile (compute)", {"attributes": {"renderers": [_source(_PROFILE)]}}),
                    ]
                },
            }
        ]
    }
}
DASF: Any = [
    {
        "name": "Compute",
        "timestamp": 1_003.0,
        "duration": 2.0,
        "phase": "X",
        "process_id": "vm",
        "thread_id": "w0",
        "args": {"key": "a", "size": 8, "state": "memory", "type": "<class 'int'>", "dependencies": ["b"]},
    },
    {
        "name": "Managed Memory",
        "timestamp": 1_003.5,
        "phase": "I",
        "process_id": "vm",
        "thread_id": "w0",
        "args": {"key": "a", "tasks": 3},
    },
    {
        "name": "Resource Usage",
        "timestamp": 1_004.0,
        "phase": "I",
        "process_id": "vm",
        "thread_id": None,
        "args": {"cpu": 5.0, "memory": 1e8, "time": 1.75e9, "gpu_utilization": 3},
    },
]


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_page(value: Any) -> bytes:
    text = json.dumps(value).replace("&", "&amp;").replace("<", "&lt;")
    head = "<!DOCTYPE html><html><head><title>Dask Performance Report</title></head><body>"
    return f'{head}<script type="application/json" id="x">{text}</script></body></html>'.encode()


def as_yaml(value: Any) -> bytes:
    import yaml

    return yaml.dump(value).encode()


def as_database(value: Any) -> bytes:
    packed = [msgpack.packb(event) for event in value] if isinstance(value, list) else [msgpack.packb(value)]
    return b"".join(struct.pack(">Q", len(each)) + each for each in packed)


def as_packed(value: Any) -> bytes:
    return gzip.compress(msgpack.packb(value), 1)


#: Small whole files: format, how its bytes are made, and of what.
CORPUS: dict[str, tuple[str, Callable[[Any], bytes], Any]] = {
    "chrome": ("chrome", as_json, CHROME),
    "chrome list": ("chrome", as_json, CHROME["traceEvents"]),
    "speedscope": ("speedscope", as_json, SPEEDSCOPE),
    "task stream": ("task_stream", as_json, STREAM),
    "dump": ("cluster_dump", as_packed, DUMP),
    "dump as yaml": ("cluster_dump", as_yaml, DUMP),
    "report of Bokeh 2": ("performance_report", as_page, BOKEH_2),
    "report of Bokeh 3": ("performance_report", as_page, BOKEH_3),
    "dasf": ("dasf", as_database, DASF),
}
#: Those with the same in them as others.
PACKED_OTHERWISE = {"chrome list", "dump as yaml"}
#: Values that stand where others were expected.
HOSTILE: list[Any] = [
    None,
    True,
    -1,
    0,
    2**32,
    2**63,
    1e308,
    -1e308,
    math.nan,
    math.inf,
    "",
    "x" * 3_000,
    "\x00<script>alert(1)</script>",
    "'",
    [],
    {},
    [[]],
    {"": None},
    [None] * 7,
    {"key": {"key": []}},
    [1, [2, [3]]],
]


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to everything in a value."""
    yield here
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield from places(each, (*here, name))


def replaced(value: Any, place: tuple[Any, ...], by: Any) -> Any:
    if not place:
        return by
    changed = deepcopy(value)
    at = changed
    for name in place[:-1]:
        at = at[name]
    at[place[-1]] = by
    return changed


def look_at(recording: Recording) -> None:
    """What is asked of a recording when it is shown."""
    recording.packed(coarse=True, explained=True)
    for table in ("tasks", "phases", "samples", "transfers", "memory", "errors", "events"):
        recording.table(table)


def read(path: Path, data: bytes, format: str | None = None) -> Recording | None:
    """A file's recording, looked at; None if it was refused in words."""
    path.write_bytes(data)
    try:
        recording = load(path, format=format)
    except RecordingError as error:
        assert str(path) in str(error)
        assert len(str(error)) < 2_000
        return None
    look_at(recording)
    return recording


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad") / "file"


@pytest.mark.parametrize("name", CORPUS)
def test_the_corpus_is_sound(name: str, path: Path) -> None:
    format, made, value = CORPUS[name]
    recording = read(path, made(value))
    assert recording is not None
    assert recording.gaps == []
    assert "lost" not in set(recording.events["kind"].astype("str"))
    assert len(recording.tasks) or len(recording.samples)
    assert FORMATS[format]
    if made not in (as_database, as_packed):
        again = read(path, gzip.compress(made(value)))
        assert again is not None
        assert len(again.tasks) == len(recording.tasks)


def test_reports_of_both_bokehs_say_the_same(path: Path) -> None:
    for document in (BOKEH_2, BOKEH_3):
        recording = read(path, as_page(document))
        assert recording is not None
        assert recording.tasks["key"].tolist() == ["load-1", "('sum-2', 0)"]
        assert recording.tasks["status"].tolist()[1] == "erred"
        assert recording.tasks["duration"].tolist()[1] == pytest.approx(0.1)
        assert recording.phases["duration"].tolist() == pytest.approx([0.2])
        assert recording.workers["threads"].tolist() == [2]
        assert recording.submissions["code"].tolist() == ["x.compute()"]
    assert recording.resources["memory"].tolist() == [47.0]
    assert recording.samples["duration"].tolist() == pytest.approx([1.5])


@pytest.mark.parametrize("name", CORPUS)
def test_anything_may_stand_anywhere(name: str, path: Path) -> None:
    """Every value of every file, replaced by one hostile one after the other."""
    format, made, value = CORPUS[name]
    tried = 0
    # What differs only in how it is packed is tried here and there.
    for number, place in enumerate(list(places(value))[:: 5 if name in PACKED_OTHERWISE else 1]):
        try:
            data = made(replaced(value, place, HOSTILE[number % len(HOSTILE)]))
        except (OverflowError, ValueError):
            continue
        read(path, data, format)
        tried += 1
    assert tried > 10


@pytest.mark.parametrize("name", CORPUS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bytes_may_be_damaged_cut_or_doubled(name: str, path: Path, data: st.DataObject) -> None:
    format, made, value = CORPUS[name]
    whole = bytearray(made(value))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(whole) - 1)))
        kind = data.draw(st.sampled_from(["set", "cut", "insert", "double"]))
        if kind == "set" and whole:
            whole[at] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            del whole[at : at + data.draw(st.integers(1, 200))]
        elif kind == "insert":
            whole[at:at] = data.draw(st.binary(max_size=20))
        else:
            whole += whole[at : at + 200]
    read(path, bytes(whole), data.draw(st.sampled_from([None, format])))


@pytest.mark.parametrize("name", CORPUS)
def test_a_file_may_end_anywhere(name: str, path: Path) -> None:
    format, made, value = CORPUS[name]
    whole = made(value)
    for end in range(0, len(whole), max(1, len(whole) // 25)):
        read(path, whole[:end], format)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.binary(max_size=300))
def test_noise_is_read_by_no_one(format: str, path: Path, noise: bytes) -> None:
    read(path, noise, format)


@contextmanager
def within(megabytes: float, seconds: float) -> Iterator[None]:
    """What happens inside takes no more memory and CPU time than that."""
    tracemalloc.start()
    began = process_time()
    try:
        yield
        took = process_time() - began
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < megabytes * 1e6
    assert took < seconds


def bomb(start: bytes, repeated: bytes, times: int) -> bytes:
    """A small gzip file of `repeated` many times over."""
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(start)]
    piece = repeated * max(1, 2**20 // len(repeated))
    for _ in range(times):
        parts.append(packer.compress(piece))
    return b"".join([*parts, packer.flush()])


@pytest.mark.parametrize(
    ("format", "start", "repeated"),
    [
        ("chrome", b'{"traceEvents":[', b" "),
        ("chrome", b'{"other":"', b"x"),
        ("speedscope", b'{"shared":{"frames":["', b"x"),
        ("task_stream", b'[{"startstops":', b"["),
        ("cluster_dump", b"\x82\xa9scheduler\x81\xa5tasks\xdf\xff\xff\xff\xff", b"\xa1a\xc0"),
        ("cluster_dump", b"scheduler:\n  tasks: ", b"#"),
        ("performance_report", b"<title>Dask Performance Report</title>", b" "),
    ],
)
def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(
    format: str, start: bytes, repeated: bytes, path: Path
) -> None:
    data = bomb(start, repeated, 400)
    assert len(data) < 10**6
    with within(megabytes=500, seconds=60):
        assert read(path, data, format) is None


@pytest.mark.parametrize(
    ("format", "data"),
    [
        ("chrome", b'{"traceEvents":' + b"[" * 10**6),
        ("chrome", b'{"traceEvents":[' + b'{"ph":' * 10**6),
        ("chrome", b'{"a":' * 10**6),
        ("speedscope", b'{"profiles":[{"samples":' + b"[" * 10**6),
        ("task_stream", b'[{"startstops":' + b"[" * 10**6),
        ("cluster_dump", b"\x81\xa9scheduler" + b"\x91" * 10**6),
        ("cluster_dump", b"\x82\xa9scheduler\x81\xa5tasks\x81\xa1a\x81\xa3key" + b"\x91" * 10**6),
        ("cluster_dump", b"scheduler:\n  tasks:\n    a: " + b"[" * 10**5),
        ("performance_report", as_page(0).replace(b"0</script>", b"[" * 10**6 + b"</script>")),
        (
            "dasf",
            struct.pack(">Q", 10**6 + 14) + b"\x83\xa4name\xa1a\xa5phase\xa1b\xa9timestamp" + b"\x91" * 10**6,
        ),
    ],
)
def test_values_a_million_deep_are_refused_or_passed_over(format: str, data: bytes, path: Path) -> None:
    with within(megabytes=300, seconds=30):
        read(path, data, format)


@pytest.mark.parametrize("size", [2**19, 2**15, 1])
def test_values_of_one_byte_in_a_dump_do_not_take_memory_without_end(size: int, path: Path) -> None:
    """Each is an object of sixty; what comes before them is kept, and where they begin is named."""
    empty = [{}] * size if size > 1 else {}
    dump = {"scheduler": {"id": "Scheduler-1"}, "workers": {"tcp://a:1": {"logs": [empty] * (2**21 // size)}}}
    path.write_bytes(msgpack.packb(dump))
    with within(megabytes=100, seconds=30):
        recording = load(path, format="cluster_dump")
    (gap,) = recording.gaps
    assert 0 < gap.offset < 2**21


def test_a_moment_that_is_none_in_a_dump_costs_only_itself() -> None:
    broken = msgpack.packb({"scheduler": {"id": "Scheduler-1", "address": ["HERE"], "memory_limit": 1}})
    broken = broken.replace(b"\xa4HERE", b"\xd4\xff\0")
    found, torn = trees.from_msgpack(broken, {"scheduler": {trees.ANY: lambda value: value}})
    assert torn is None and found == {"scheduler": {"id": "Scheduler-1", "address": None, "memory_limit": 1}}


def test_values_of_one_byte_in_a_record_of_dasfs_do_not_take_memory_without_end(path: Path) -> None:
    path.write_bytes(as_database([*DASF, DASF[0] | {"args": [{}] * 2**20}]))
    with within(megabytes=40, seconds=30):
        recording = load(path, format="dasf")
    assert len(recording.gaps) == 1 and len(recording.tasks)
    with within(megabytes=40, seconds=30):
        assert read(path, as_database([DASF[0] | {"args": [{}] * 2**20}]), "dasf") is None


def test_a_dump_is_recognised_in_time_whatever_blanks_follow(path: Path) -> None:
    with within(megabytes=50, seconds=2):
        assert not cluster_dump.matches(b"scheduler:" + b"\n" * 2**16)
    assert cluster_dump.matches(b"---\nscheduler: \r\n  address: tcp://a:1")


@pytest.mark.parametrize("start", ["<li>", "<li>a:", "Duration:"])
def test_blanks_without_end_are_passed_over_once(start: str) -> None:
    text = start + " " * 2**22
    with within(megabytes=50, seconds=5):
        assert not performance_report._FIGURE.findall(text)
        assert not performance_report._DURATION.search(text)


def test_arrays_of_one_value_are_read_and_those_of_far_too_many_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Bokeh packs them since 3.7."""

    def page(times: int, arrays: int) -> bytes:
        value = deepcopy(BOKEH_3)
        zeros = base64.b64encode(bomb(b"", b"\0" * 8, times)).decode()
        packed = {
            "type": "ndarray",
            "array": {"type": "bytes", "data": zeros},
            "shape": [times * 2**17],
            "dtype": "float64",
            "order": "little",
        }
        columns = next(columns_of(value, "cpu"))
        columns[:] = [[name, packed] for name in ("time", "cpu", "memory", *map(str, range(arrays)))]
        return as_page(value)

    recording = read(path, page(1, 0))
    assert recording is not None
    assert len(recording.table("resources")) == 2**17
    monkeypatch.setattr(bokeh, "_MOST_VALUES", 10**6)
    for refused in (page(1, 40), page(1, 0) * 3):
        with within(megabytes=100, seconds=30):
            assert read(path, refused) is None


def test_arrays_that_are_not_packed_are_bounded_as_those_which_are(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once they had filled the room by more than there was, what was packed had no limit any more."""

    def array(data: bytes) -> Any:
        return {"__ndarray__": base64.b64encode(data).decode(), "dtype": "uint8", "shape": [len(data)]}

    plain, packed = array(b"\0" * 1_001), array(bomb(b"", b"\0", 64))
    for first in (plain, packed):
        arrays = bokeh.Arrays()
        arrays._left = 1_000
        with within(megabytes=10, seconds=30), pytest.raises(RecordingError, match="arrays of more than"):
            arrays.values(path, first)
            arrays.values(path, packed)
    arrays = bokeh.Arrays()
    arrays._left = 1_001
    assert arrays.values(path, plain) == [0] * 1_001
    with within(megabytes=10, seconds=30), pytest.raises(RecordingError, match="arrays of more than"):
        arrays.values(path, packed)


def columns_of(value: Any, name: str) -> Iterator[list[Any]]:
    """The columns of data sources that have one of this name."""
    if isinstance(value, list):
        if any(isinstance(each, list) and each[:1] == [name] for each in value):
            yield value
        for each in value:
            yield from columns_of(each, name)
    elif isinstance(value, dict):
        for each in value.values():
            yield from columns_of(each, name)


def test_stacks_are_no_deeper_than_their_readers_can_bear(path: Path) -> None:
    """What a profile takes grows with the square of their depth."""
    slices = [
        {"ph": "X", "name": f"f{at}", "pid": 1, "tid": 1, "ts": at, "dur": 2e4 - 2 * at}
        for at in range(5_000)
    ]
    path.write_bytes(as_json(slices))
    recording = load(path, format="chrome")
    assert len(recording.table("stacks")) == 2_000
    assert recording.samples["duration"].sum() == pytest.approx(20e-3)


def a_deep_stack(frames: int) -> Recording:
    """A sample of a second, each frame of whose stack is of a function of its own."""
    recording = Recording()
    stacks = {"stack": np.arange(frames), "parent": np.append(NOTHING, np.arange(frames - 1)).astype("u4")}
    names = {"function": [f"f{at}" for at in range(frames)], "file": ["a.py"] * frames}
    recording.append(encode("stacks", stacks | names))
    sample = {"process": ["w"], "thread": ["1"], "time": [1.75e9], "duration": [1.0]}
    recording.append(encode("samples", sample | {"stack": [frames - 1]}))
    return recording


def test_what_stands_on_a_frame_is_found_however_much_that_is() -> None:
    frames = 300_000
    stacks = a_deep_stack(frames).columns("stacks")
    with within(megabytes=100, seconds=30):
        found = below(stacks, np.arange(frames) == 1_000)
    assert (found == (np.arange(frames) >= 1_000)).all()


def test_exported_stacks_are_no_deeper_than_their_readers_can_bear() -> None:
    (weight,) = Stacks(a_deep_stack(300_000)).weights
    assert weight.stack == tuple(range(2_000)) and weight.seconds == 1.0


def test_a_key_of_which_logs_tell_again_and_again_takes_no_more_than_others(path: Path) -> None:
    """In a dump of many attempts at one task, and in that dump read again."""
    times = 8_000
    changed = deepcopy(DUMP)
    log, stories, around = [], [], []
    for at in range(times):
        log += [
            ["a", "released", "waiting", {}, f"update-graph-{at}", 1.75e9 + 8 * at],
            ["a", "waiting", "processing", {}, "s", 1.75e9 + 8 * at + 1],
            ["a", "processing", "memory", {}, "s", 1.75e9 + 8 * at + 4],
        ]
        stories += [
            ["a", "ready", "executing", "executing", {}, "s", 1.75e9 + 8 * at + 2],
            ["a", "executing", "memory", "memory", {}, "s", 1.75e9 + 8 * at + 3],
        ]
        around += [
            {"action": "transfer", "start": 1.75e9 + 8 * at + 1, "stop": 1.75e9 + 8 * at + 1.5},
            {"action": "compute", "start": 1.75e9 + 8 * at + 2, "stop": 1.75e9 + 8 * at + 3},
        ]
    changed["scheduler"]["transition_log"] = log
    changed["workers"][_WORKER]["log"] = stories
    changed["workers"][_WORKER]["tasks"]["a"]["startstops"] = around
    path.write_bytes(as_packed(changed))
    with within(megabytes=500, seconds=60):
        recording = load(path, path, format="cluster_dump")
    attempts = recording.columns("attempts")
    assert len(attempts["run"]) == times
    for name, second in (("submitted", 0), ("assigned", 1), ("start", 2), ("stop", 3), ("done", 4)):
        assert sorted(attempts[name].tolist()) == [1.75e9 + 8 * at + second for at in range(times)], name


@pytest.mark.parametrize("text", ["<class '" * 50_000, "\n" * 200_000])
def test_patterns_take_no_time_for_what_nearly_fits(text: str) -> None:
    event = {"name": "Compute", "timestamp": 2.0, "duration": 1.0, "phase": "X", "process_id": "vm"}
    args = {"key": "a", "size": 8, "type": text, "state": "memory"}
    with within(megabytes=100, seconds=30):
        recording = from_events([event | {"thread_id": "w", "args": args}], "run")
        assert recording.tasks["typename"].tolist() == [text]
        assert shown_traceback(text) == text


@pytest.mark.parametrize("tag", [b"<script ", b"<script>", b"<script type='application/json' "])
def test_tags_of_scripts_that_hold_no_data_are_passed_over_once(tag: bytes, path: Path) -> None:
    with within(megabytes=10, seconds=5):
        assert list(bokeh.documents(tag * 25_000, path)) == []
    far = b"<script " + b"x" * 2_000 + b"<script id='a' type='application/json'>[1]</script>"
    assert list(bokeh.documents(far, path)) == [[1]]


def test_huge_numbers_of_one_hash_are_no_keys() -> None:
    """Anyone can find many, and a dictionary of them takes the square of their number."""
    huge = [(at + 1) * (2**61 - 1) for at in range(100)]
    trace = chrome._Trace()
    trace._files.append({})
    for each in (7, *huge):
        trace._event({"ph": "X", "name": "f", "pid": each, "tid": each, "ts": 1, "dur": 5})
    assert list(trace._files[0]) == [7, *map(str, huge)]
    assert [one.tid for one in trace._slices] == [7, *map(str, huge)]
    told = "{" + ", ".join(f"{each}: 1" for each in (7, *huge)) + "}"
    for wanted in ({trees.ANY: int}, dict):
        found, torn = trees.from_yaml(told.encode(), wanted)
        assert list(found) == [7, *map(str, huge)] and torn is None


def test_many_threads_with_slices_within_slices_are_read_in_time(path: Path) -> None:
    slices = [
        {"ph": "X", "name": "f", "pid": 1, "tid": tid, "ts": at, "dur": 9 - 2 * at}
        for tid in range(20_000)
        for at in range(3)
    ]
    path.write_bytes(as_json(slices))
    began = process_time()
    assert len(load(path, format="chrome").tasks) == 20_000
    assert process_time() - began < 20


def test_a_long_key_and_a_long_number_are_taken_or_left(path: Path) -> None:
    long = dict(STREAM[0], key="k" * 10**7)
    with within(megabytes=300, seconds=30):
        recording = read(path, as_json([long, STREAM[1]]), "task_stream")
    assert recording is not None
    assert len(recording.tasks["key"].tolist()[0]) == 10**7
    digits = b'[{"startstops": [], "key": ' + b"9" * 10**6 + b"}]"
    with within(megabytes=300, seconds=30):
        assert read(path, digits, "task_stream") is None
    huge = as_json(STREAM).replace(b'"nbytes": 8', b'"nbytes": ' + b"9" * 4_000)
    recording = read(path, huge)
    assert recording is not None
    assert math.isnan(recording.tasks["nbytes"].tolist()[0])


def test_the_last_of_doubled_keys_counts(path: Path) -> None:
    data = as_json(CHROME["traceEvents"][2:3]).replace(b'"dur": 5', b'"dur": 5, "dur": 9')
    recording = read(path, data)
    assert recording is not None
    assert recording.tasks["duration"].tolist() == pytest.approx([9e-6])


def test_yaml_can_neither_call_nor_multiply(path: Path, tmp_path: Path) -> None:
    mark = tmp_path / "called"
    for text in (
        f"scheduler:\n  id: !!python/object/apply:os.system ['touch {mark}']\n  started: 1\n",
        f"scheduler: !!python/object/apply:pathlib.Path.touch\n  - !!python/name:pathlib.Path {mark}\n",
    ):
        read(path, text.encode(), "cluster_dump")
    assert not mark.exists()
    laughs = "\n".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(12))
    path.write_text(f"scheduler:\n  started: 1\n{laughs}\n", "utf-8")
    with within(megabytes=50, seconds=10):
        (gap,) = load(path, format="cluster_dump").gaps
    assert "reference" in gap.reason


def test_nothing_is_unpickled(path: Path, tmp_path: Path) -> None:
    import pickle

    mark = tmp_path / "called"

    class Evil:
        def __reduce__(self) -> Any:
            return Path.touch, (mark,)

    message = dict(STREAM[0], type=pickle.dumps(Evil()))
    assert len(load([message]).tasks) == 1
    assert read(path, pickle.dumps([message])) is None
    changed = deepcopy(DUMP)
    changed["scheduler"]["tasks"]["c"]["exception_text"] = pickle.dumps(Evil())
    assert read(path, as_packed(changed)) is not None
    assert not mark.exists()


def test_text_of_a_file_is_never_markup(path: Path, tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    message = dict(STREAM[1], key=evil, worker=evil, exception_text=evil)
    path.write_bytes(as_json([message]))
    report = load(path).report(tmp_path / "report.html").read_text("utf-8")
    assert "<img src=x" not in report


def test_an_error_names_file_and_byte(path: Path) -> None:
    with pytest.raises(RecordingError, match=r"file is damaged at byte 16: .+"):
        path.write_bytes(b'{"traceEvents":[}]}')
        load(path)
    with pytest.raises(RecordingError, match="compressed data"):
        path.write_bytes(b"\x1f\x8bnot gzip")
        load(path, format="chrome")
    path.write_bytes(b'{"traceEvents": 3}')
    with pytest.raises(RecordingError, match="at byte 16"):
        load(path)


@pytest.mark.parametrize("name", CORPUS)
def test_a_refused_file_leaves_nothing_behind(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    format, _, _ = CORPUS[name]
    source = tmp_path / "run.bad"
    source.write_bytes(b"\x00\x01 nothing of that kind")
    target = tmp_path / "run.dinsight"
    assert main(["import", str(source), "--from", format, "-o", str(target)]) in (
        ExitCode.OK if format == "dasf" else ExitCode.UNREADABLE,
        ExitCode.UNREADABLE,
    )
    assert str(source) in capsys.readouterr().err
    assert not target.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["run.bad"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_our_own_recordings_may_be_damaged_anywhere(path: Path, data: st.DataObject) -> None:
    whole = bytearray(GOLDEN.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        if data.draw(st.booleans()):
            whole[at] = data.draw(st.integers(0, 255))
        else:
            del whole[at : at + data.draw(st.integers(1, 500))]
    path.write_bytes(bytes(whole))
    try:
        recording = open_recording(path)
    except RecordingError as error:
        assert str(path) in str(error)
    else:
        look_at(recording)


NUMBERS = st.one_of(st.sampled_from([0, 1, 2**31, 2**32 - 1]), st.integers(0, 2**32 - 1), st.integers(0, 5))
MOMENTS = st.one_of(
    st.sampled_from([math.nan, 0.0, -1.0, 1.75e9, 9e9, 1e300, -1e300, math.inf]),
    st.floats(1.75e9, 1.75e9 + 9),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whole_batches_may_say_anything(path: Path, data: st.DataObject) -> None:
    """Frames with right checksums, columns of the right kinds, and no sense in them."""
    from dask_insight.batch import encode
    from dask_insight.schema import TABLES

    recording = Recording()
    for _ in range(data.draw(st.integers(1, 5))):
        table = data.draw(
            st.sampled_from(
                [
                    "graph",
                    "edges",
                    "attempts",
                    "executions",
                    "running",
                    "phases",
                    "workers",
                    "stacks",
                    "samples",
                    "resources",
                    "memory",
                    "transfers",
                    "submissions",
                    "about",
                    "budget",
                ]
            )
        )
        rows = data.draw(st.integers(0, 4))
        columns: dict[str, Any] = {}
        for column in TABLES[table].columns:
            values = {
                "u32": NUMBERS,
                "u8": st.integers(0, 255),
                "f64": st.floats(),
                "f32": st.floats(width=32),
                "time": MOMENTS,
                "sym": st.sampled_from(["", "ok", "erred", "a", "tcp://10.0.0.1:4", "in", "out", "\x00"]),
                "str": st.sampled_from(["", "1", "null", "{}", "[", "x"]),
            }[column.kind]
            if data.draw(st.integers(0, 9)):
                columns[column.name] = data.draw(st.lists(values, min_size=rows, max_size=rows))
        recording.append(encode(table, columns))
    recording.save(path)
    look_at(open_recording(path))


@pytest.mark.parametrize(
    "name",
    ["name", "started", "stopped", "lacks", "versions", "packages", "scheduler", "comparison", "profile"],
)
def test_facts_of_a_recording_may_be_anything(name: str, tmp_path: Path) -> None:
    from dask_insight.batch import encode

    facts = ({"attempts": 5}, {"attempts": "<b>"}, {"packages": [1]}, {"address": {}})
    for value in (*HOSTILE, 10**400, *facts):
        recording = load([STREAM[0]])
        recording.append(encode("about", {"name": [name], "value": [json.dumps(value)]}))
        recording.save(tmp_path / "run.dinsight")
        back = open_recording(tmp_path / "run.dinsight")
        look_at(back)
        str(back.summary())
        assert "<script>alert" not in back.report(tmp_path / "run.html").read_text("utf-8")
        alone = Recording()
        alone.append(encode("about", {"name": [name], "value": [json.dumps(value)]}))
        assert str(alone.summary())


@pytest.mark.parametrize("depth", [99, 480, 100_000])
def test_json_of_a_recording_may_be_nested_deeply(depth: int, tmp_path: Path) -> None:
    from dask_insight.batch import encode

    deep = "[" * depth + "]" * depth
    deeper = '{"a":' * depth + "1" + "}" * depth
    names = ("name", "started", "lacks", "versions", "packages", "config", "cluster", "comparison", "extent")
    kinds = ("no-worker", "graph", "worker-lost", "dask")
    recording = load([STREAM[0]])
    recording.append(encode("about", {"name": names, "value": [deeper] * len(names)}))
    recording.append(encode("workers", {"worker": ["tcp://10.0.0.1:4"], "threads": [1], "detail": [deep]}))
    recording.append(
        encode(
            "events",
            {
                "time": [recording.started + 1] * 4,
                "source": ["tcp://10.0.0.1:4"] * 4,
                "kind": kinds,
                "message": ["worker-restart-memory"] * 4,
                "detail": [deep] * 4,
            },
        )
    )
    recording.save(tmp_path / "run.dinsight")
    back = open_recording(tmp_path / "run.dinsight")
    look_at(back)
    assert str(back.summary())
    assert not back.findings().failed
    assert back.report(tmp_path / "run.html").exists()
    assert (back.about["config"] == deeper) == (depth > 100)
    for command in ("info", "findings"):
        assert main([command, str(tmp_path / "run.dinsight"), "--json"]) in (ExitCode.OK, ExitCode.UNREADABLE)
