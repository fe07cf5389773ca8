"""Records read by column say what they say when each is read by itself."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dask_insight.batch import Texts
from dask_insight.sources.files import dasf, layouts
from dask_insight.sources.files.keys import group_of, groups_of
from dask_insight.sources.files.layouts import Records, Slices

KEYS = st.one_of(
    st.builds("('load-{:032x}', {})".format, st.integers(0, 3), st.integers(0, 3_000)),
    st.sampled_from(
        ["a", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "\u00e4" * 20, "e\u0301", "", "('a\0', 0)", "('a"]
    ),
)
WHOLE = st.one_of(st.integers(-(2**63), 2**64 - 1), st.integers(-40, 300), st.integers(30_000, 70_000))
NUMBERS = st.one_of(WHOLE, st.floats(), st.just(40_000))
ODD = st.one_of(
    NUMBERS,
    st.none(),
    st.booleans(),
    KEYS,
    st.binary(max_size=3),
    st.lists(WHOLE, max_size=20),
    st.just({"a": [{}, [[]]]}),
    st.just({1: {b"x": 2}}),
)


@st.composite
def events(draw: st.DrawFn) -> Any:
    """An event as DASF writes them, sometimes with a field that is odd, missing or not its own."""
    args: dict[str, Any] = {"key": draw(KEYS), "state": draw(st.sampled_from(["memory", "error"]))}
    args["size"] = draw(WHOLE)
    place = {
        "process_id": "vm",
        "thread_id": draw(st.sampled_from(["worker-vm-0", "worker-vm-1", "worker-vm-10"])),
    }
    event = {
        "name": "Managed Memory",
        "timestamp": draw(NUMBERS),
        "phase": "I",
        "scope": "g",
        **place,
        "args": args,
    }
    if draw(st.booleans()):
        args |= {
            "shape": [5_000, 2],
            "dtype": "float32",
            "type": draw(st.sampled_from(["<class 'int'>", "<class 'dict'>"])),
        }
        args |= {"dependencies": draw(st.lists(KEYS, max_size=3)), "dependents": []}
        timed = {"name": "Compute", "timestamp": event["timestamp"], "duration": draw(NUMBERS), "phase": "X"}
        event = timed | place | {"args": args}
    else:
        args["tasks"] = draw(WHOLE)
    if draw(st.integers(0, 3)) == 0:
        changed = draw(st.sampled_from([event, args]))
        name = draw(st.sampled_from([*changed, "more"]))
        if draw(st.booleans()):
            changed[name] = draw(ODD)
        else:
            changed.pop(name, None)
    return event


@st.composite
def databases(draw: st.DrawFn) -> bytes:
    """A file of such events, perhaps with records that are damaged, and a torn end."""
    whole = draw(st.lists(events(), min_size=1, max_size=12))
    parts = [msgpack.packb(dict(whole[0], name="Compute", timestamp=1.0, phase="X"))]
    parts += [msgpack.packb(event) for event in whole]
    parts += draw(st.lists(st.sampled_from(parts), max_size=20))
    if draw(st.booleans()):
        hurt = bytearray(parts[-1])
        hurt[draw(st.integers(0, len(hurt) - 1))] = draw(st.integers(0, 255))
        parts.insert(draw(st.integers(1, len(parts))), bytes(hurt))
    tail = draw(st.binary(max_size=12))
    return b"".join(struct.pack(">Q", len(each)) + each for each in parts) + tail


def told(recording: Any) -> dict[str, Any]:
    """All that a recording says, whichever numbers its tasks have."""
    keys = recording.columns("graph")["key"].tolist()
    found: dict[str, Any] = {"keys": sorted(keys), "about": str(recording.about)}
    for table in ("attempts", "edges", "cache", "events", "workers"):
        columns = {name: values.tolist() for name, values in recording.columns(table).items()}
        for name in columns.keys() & {"task", "dependency"}:
            columns[name] = [keys[task] for task in columns[name]]
        rows = list(map(str, zip(*columns.values(), strict=True)))
        found[table] = sorted(rows) if table == "workers" else rows
    return found


def file_of(*records: dict[str, Any]) -> bytes:
    parts = [msgpack.packb(each) for each in records]
    return b"".join(struct.pack(">Q", len(each)) + each for each in parts)


def ended(process: Any) -> dict[str, Any]:
    """A task of a worker that ended in a process of that name."""
    where = {"scope": "g", "process_id": process, "thread_id": "w"}
    args = {"key": "a", "size": 0, "type": "int", "state": "memory", "dependencies": []}
    return {"name": "Compute", "timestamp": 1.0, "duration": 0.5, "phase": "X", **where, "args": args}


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
# A worker on a host whose name is no text, before the same one on another.
@example(file_of(ended(0), ended("vm"), ended("vm")), 3, 10_000)
@example(
    # A task without its duration, which is an event then, before one that never was anything else.
    file_of(
        {"name": "Compute", "timestamp": 1.0, "phase": "X", "process_id": "vm", "args": {"key": "a"}},
        {"name": "Other", "timestamp": 0.0, "phase": "I", "process_id": "vm", "args": {"key": "a"}},
    ),
    1,
    1,
)
@given(databases(), st.integers(1, 40), st.integers(1, 20_000))
def test_by_column_and_one_by_one_are_the_same(tmp_path: Path, data: bytes, block: int, size: int) -> None:
    path = tmp_path / "trace.msgpack"
    path.write_bytes(data)
    gaps: list[Any] = []
    singly = dasf.from_events(dasf.events(data, gaps), "trace")
    for gap in gaps:
        singly.lost(gap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dasf, "_BLOCK", block)
        patch.setattr(dasf, "_BYTES", size)
        assert told(dasf.read([path])) == told(singly)


@given(st.lists(st.one_of(KEYS, st.text("('a\u00e4, 0)", max_size=8)), min_size=1))
def test_groups_of_keys_are_those_of_each_key(keys: list[str]) -> None:
    assert groups_of(Texts.of(keys)).tolist() == list(map(group_of, keys))


def records(*events: Any) -> Records:
    parts = [msgpack.packb(event) for event in events]
    ends = np.cumsum([len(part) for part in parts])
    return Records(b"".join(parts), ends - [len(part) for part in parts], ends)


def test_records_of_one_layout_are_columns() -> None:
    long = "x" * 40
    some = records(
        {"a": 1, "b": {"c": long, "d": 0.5}, "e": ["yes", long]},
        {"a": 1},
        {"a": -70_000, "b": {"c": long + "y", "d": -1.0}, "e": ["not", long]},
        {"a": "\u00e4" * 20},
    )
    found, others = some.alike(())
    assert others.tolist() == [3]
    both, alone = found
    assert (both.rows.tolist(), alone.rows.tolist()) == ([0, 2], [1])
    assert both.numbers(("a",)).tolist() == [1.0, -70_000.0]
    assert both.numbers(("b", "d")).tolist() == [0.5, -1.0]
    codes, texts = some.interned(both.texts(("b", "c")))
    assert (codes.tolist(), texts) == ([0, 1], [[long.encode(), (long + "y").encode()]])
    count, listed = both.lists(("e",))
    codes, texts = some.interned(listed)
    assert (count, codes.tolist(), texts) == (2, [0, 1, 2, 1], [[b"yes", long.encode(), b"not"]])
    with pytest.raises(KeyError):
        alone.numbers(("b", "d"))


def test_texts_that_mix_to_one_number_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    some = records(*({"a": name} for name in ("y", "x", "y", "z")))
    found, _ = some.alike(())
    monkeypatch.setattr(layouts, "_FACTOR", np.uint64(0))
    codes, texts = some.interned(found[0].texts(("a",)))
    assert (codes.tolist(), texts) == ([0, 1, 0, 2], [[b"y", b"x", b"z"]])
    assert some.interned(Slices.joined([]))[1] == [[]]
