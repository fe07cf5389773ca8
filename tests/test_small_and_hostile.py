"""Small files whose tables, joined, have as many pairs as the product of their rows."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

import dask_insight
from dask_insight.batch import Symbols, encode
from dask_insight.lookup import spread
from dask_insight.recording import Recording

#: Bytes that answering may take at once; each took gigabytes, or more than there are.
MOST = 700e6


def same(name: str, rows: int) -> Symbols:
    return Symbols(np.zeros(rows, "u4"), [name])


def numbered(codes: np.ndarray, what: str = "tcp://") -> Symbols:
    return Symbols(codes.astype("u4"), [f"{what}{number}" for number in range(int(codes.max()) + 1)])


def attempts(task: np.ndarray, start: np.ndarray, worker: Symbols | None = None, **more: Any) -> bytes:
    rows = len(task)
    known = {
        "run": np.arange(rows, dtype="u4"),
        "task": task.astype("u4"),
        "worker": worker or same("tcp://a", rows),
        "thread": same("1", rows),
        "status": same("ok", rows),
        "start": start,
        "stop": start + 1,
        "done": start + 1,
    }
    return encode("attempts", known | more)


def again_and_again(rows: int) -> Recording:
    """One task, attempted and needed by itself very often."""
    made = Recording()
    made.append(attempts(np.zeros(rows), np.full(rows, 1e9)))
    made.append(encode("edges", {name: np.zeros(rows, "u4") for name in ("task", "dependency")}))
    return made


def sent_again_and_again(rows: int) -> Recording:
    """One result that all tasks of a worker need, and that came there as often."""
    made, which = Recording(), np.arange(rows, dtype="u4")
    made.append(attempts(which + 1, np.full(rows, 1e9 + 5)))
    made.append(encode("edges", {"task": which + 1, "dependency": np.zeros(rows, "u4")}))
    begin = np.full(rows, 1e9)
    way = {"worker": same("tcp://a", rows), "direction": same("in", rows)}
    made.append(encode("transfers", {"transfer": which, "start": begin, "stop": begin + 1, **way}))
    made.append(encode("transferred", {"transfer": which, "task": np.zeros(rows, "u4")}))
    return made


def many_names_on_many_workers(rows: int) -> Recording:
    """Tasks of many names on two workers, and as many workers of one."""
    made = Recording()
    name = np.concatenate((np.repeat(np.arange(rows), 6), np.zeros(rows, "i8")))
    worker = np.concatenate((np.tile(np.arange(6) % 2, rows), np.arange(rows)))
    which = np.arange(len(name), dtype="u4")
    made.append(encode("graph", {"task": which, "prefix": numbered(name, "name")}))
    made.append(attempts(which, 1e9 + which, numbered(worker)))
    return made


def paused_again_and_again(rows: int) -> Recording:
    """A worker with many idle threads that is paused and goes on as often."""
    made, which = Recording(), np.arange(2 * rows)
    begin = np.where(which < rows, 1e9, 1e9 + 1e5)
    threads = numbered(which % rows, "")
    made.append(encode("workers", {"worker": ["tcp://a"], "threads": [rows], "joined": [1e9]}))
    made.append(attempts(which, begin, thread=threads, assigned=np.full(2 * rows, 1e9)))
    status = Symbols((which % 2).astype("u4"), ["paused", "running"])
    told = {"kind": same("worker-status", 2 * rows), "source": same("tcp://a", 2 * rows)}
    made.append(
        encode("events", {"time": 1e9 + 2 + which * (45000 / rows), "message": status_texts(status), **told})
    )
    return made


def status_texts(status: Symbols) -> list[str]:
    return [status.names[code] for code in status.codes.tolist()]


def parts_and_names(rows: int) -> Recording:
    """A time budget with as many parts as names, and nothing it was worked out from."""
    made, which = Recording(), np.arange(rows)
    ends = {"start": np.full(rows, 1e9), "stop": np.full(rows, 1e9 + 1)}
    made.append(encode("budget", {"part": numbered(which, "part"), "name": numbered(which, "name"), **ends}))
    return made


def summed_up(run: Recording, _: Path) -> None:
    run.summary(findings=False)


@pytest.mark.parametrize(
    ("run", "rows", "ask"),
    [
        (again_and_again, 20_000, lambda run, _: run.findings()),
        (sent_again_and_again, 20_000, lambda run, _: run.transfers),
        (many_names_on_many_workers, 4_000, lambda run, _: run.findings()),
        (paused_again_and_again, 8_000, summed_up),
        (parts_and_names, 60_000, summed_up),
        (parts_and_names, 60_000, lambda run, folder: run.report(folder / "run.html")),
    ],
    ids=[
        "attempts and inputs",
        "transfers and waits",
        "names and workers",
        "gaps and pauses",
        "parts",
        "report",
    ],
)
def test_memory_does_not_grow_with_the_product_of_rows(
    tmp_path: Path, run: Callable[[int], Recording], rows: int, ask: Callable[[Recording, Path], object]
) -> None:
    path = tmp_path / "small.dinsight"
    run(rows).save(path)
    assert path.stat().st_size < 400_000
    opened = dask_insight.open(path)
    tracemalloc.start()
    try:
        ask(opened, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


def test_of_too_many_pairs_each_has_its_last() -> None:
    left, right = np.array([0, 5, 3, 4]), np.array([4, 5, 6, 5])
    rows, at = spread(left, right, 8)
    assert [*zip(rows.tolist(), at.tolist(), strict=True)] == [
        *((0, 0), (0, 1), (0, 2), (0, 3)),
        *((2, 3), (2, 4), (2, 5)),
        (3, 4),
    ]
    for most, pairs in ((7, [(0, 3), (2, 5), (3, 4)]), (0, [(0, 3), (2, 5), (3, 4)])):
        rows, at = spread(left, right, most)
        assert [*zip(rows.tolist(), at.tolist(), strict=True)] == pairs


@pytest.mark.parametrize("format", ["chrome", "otlp"])
def test_arrows_of_an_export_are_no_more_than_an_honest_run_has(tmp_path: Path, format: str) -> None:
    path = tmp_path / "out.json"
    again_and_again(1_500).export(path, format)
    assert path.stat().st_size < 120e6


def test_deep_stacks_do_not_fill_a_disk(tmp_path: Path) -> None:
    rows = np.arange(20_000, dtype="u4")
    run = Recording()
    chain = {"stack": rows, "parent": np.maximum(rows, 1) - 1, "function": numbered(rows, "f")}
    run.append(encode("stacks", chain))
    run.append(encode("samples", {"stack": rows, "time": 1e9 + rows, "duration": np.ones(len(rows))}))
    run.export(tmp_path / "out.collapsed.txt")
    assert (tmp_path / "out.collapsed.txt").stat().st_size < 80e6


def test_workers_and_threads_of_a_foreign_file(tmp_path: Path) -> None:
    def event(number: int, thread: str, begin: float, seconds: float) -> bytes:
        facts = {"key": f"k{number}", "size": 1, "type": "", "state": "memory", "dependencies": []}
        told = {"name": "Compute", "phase": "X", "process_id": "h", "thread_id": thread, "args": facts}
        packed = msgpack.packb(told | {"timestamp": begin, "duration": seconds})
        return struct.pack(">Q", len(packed)) + packed

    rows = 10_000
    path = tmp_path / "run-TracePlugin-h.msgpack"
    path.write_bytes(
        b"".join(event(number, f"w{number}", 10.0 + number, 1.0) for number in range(rows))
        + b"".join(event(rows + number, "w0", 1e6 + number * 1e-3, 1e5) for number in range(rows))
    )
    tracemalloc.start()
    try:
        assert len(dask_insight.load(path).tasks) == 2 * rows
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()
