"""Files keep what a recording has: while it grows, when a disk fills up, beside other processes."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from test_recording_file import _file, _mebibytes_to_open

import dask_insight
from dask_insight.batch import decode, encode, table_of
from dask_insight.frames import Writer, claim, create
from dask_insight.history.spill import Spill
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING, TABLES, UNSEEN
from dask_insight.session import IncompleteFile


def grow(recording: Recording, number: int) -> None:
    """One more task comes, named first, with all that tells of it."""
    one = {"run": [number], "worker": [f"w{number}"]}
    tables: dict[str, dict[str, Any]] = {
        "workers": {"worker": [f"w{number}"], "threads": [1]},
        "spans": {"span": [f"s{number}"], "path": [f"s{number}"]},
        "submissions": {"submission": [number], "client": ["c"]},
        "graph": {
            **{"task": [number], "key": [f"x-{number}"], "prefix": ["x"]},
            **{"span": [f"s{number}"], "submission": [number]},
        },
        "edges": {"task": [number], "dependency": [number]},
        "stacks": {"stack": [number], "parent": [NOTHING], "function": ["f"], "line": [1]},
        "samples": {"run": [number], "process": [f"w{number}"], "time": [1.0], "stack": [number]},
        "attempts": {**one, "task": [number], "status": ["ok"], "start": [1.0], "stop": [2.0]},
        "executions": one,
    }
    for table, columns in tables.items():
        recording.append(encode(table, columns))


@pytest.mark.parametrize("coarse", [False, True])
def test_what_is_saved_while_it_grows_has_names(coarse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = Recording()
    read = Recording.columns

    def growing(self: Recording, table: str) -> Any:
        columns = read(self, table)
        grow(self, self.end)
        return columns

    grow(recording, 0)
    monkeypatch.setattr(Recording, "columns", growing)
    batches = recording.packed(coarse=coarse)
    monkeypatch.undo()
    part = Recording()
    for batch in batches:
        part.append(batch)
    written = [*dict.fromkeys(map(table_of, batches))]
    assert written == sorted(written, key=[*TABLES].index)

    told: Any = part.columns

    def all_are_named(table: str, column: str, naming: str, name: str) -> bool:
        return {*told(table)[column].tolist()} <= {*told(naming)[name].tolist()}

    assert len(part.attempts) < len(recording.attempts) and len(part.samples) < len(recording.samples)
    for table in ("attempts", "edges"):
        assert all_are_named(table, "task", "graph", "task")
    assert all_are_named("attempts", "worker", "workers", "worker")
    assert all_are_named("samples", "stack", "stacks", "stack")
    assert all_are_named("graph", "span", "spans", "span")
    assert all_are_named("graph", "submission", "submissions", "submission")


def test_what_a_disk_refused_once_is_in_a_large_file_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("dask_insight.session.target.PACK_BYTES", 0)
    path = tmp_path / "run.dinsight"
    with dask_insight.record(path, clusters=False) as run:
        run.note("before", "there is room")
        run.save(path)
        with monkeypatch.context() as patched:
            patched.setattr(Writer, "_append", full)
            run.note("refused", "there is none")
            with pytest.raises(OSError, match="No space left"):
                run.save(path)
        run.note("after", "there is room again")
    opened = dask_insight.open(path)
    assert {"before", "refused", "after"} <= {*opened.events["kind"]}
    assert "stopped" in opened.about and "cut" not in opened.about


@pytest.mark.parametrize("room", [True, False])
@pytest.mark.parametrize("small", [True, False])
def test_what_there_was_no_memory_to_write_is_in_the_file_in_the_end_or_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool, room: bool
) -> None:
    def lack(*_: Any) -> Any:
        raise MemoryError

    if not small:
        monkeypatch.setattr("dask_insight.session.target.PACK_BYTES", 0)
    path = tmp_path / "run.dinsight"
    with warnings.catch_warnings(record=True) as warned, dask_insight.record(path, clusters=False) as run:
        warnings.simplefilter("always", IncompleteFile)
        run.save(path)
        with monkeypatch.context() as patched:
            patched.setattr("dask_insight.frames.writer._pack", lack)
            run.note("left out", "there is no memory")
            with pytest.raises(OSError, match="too little memory"):
                run.save(path)
        run.note("after", "there is some again")
        if not room:
            monkeypatch.setattr(Recording, "packed", lack)
    told = ["may lack a part of the recording: " in str(each.message) for each in warned]
    assert told == [True] * (not room)
    opened = dask_insight.open(path)
    kinds = {*opened.events["kind"]}
    assert kinds >= {"after"} and "stopped" in opened.about
    assert ("left out" in kinds, bool(opened.summary().lost())) == (room, not room)


def leading_into(folder: Path) -> list[int]:
    """This process's descriptors of files in a folder, those without a name included."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}").startswith(f"{folder}/"):
                found.append(int(number))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is open")
def test_a_file_of_the_program_that_has_the_number_of_ours_is_neither_written_nor_closed(
    tmp_path: Path,
) -> None:
    """As where a program closes all descriptors to become a daemon."""
    path, theirs = tmp_path / "run.dinsight", tmp_path / "theirs.txt"
    with theirs.open("wb", buffering=0) as file:
        file.write(b"precious")
        with dask_insight.record(path, clusters=False) as run:
            run.note("before", "it is written")
            run.save(path)
            spill = Spill(str(tmp_path))
            kept = spill.add(b"ours")
            numbers = [number for number in leading_into(tmp_path) if number != file.fileno()]
            assert len(numbers) == 3, "what writes, what claims, and the disk"
            for number in numbers:
                os.dup2(file.fileno(), number)
            run.note("after", "it goes on in memory")
            with pytest.raises(OSError, match="has closed its descriptor"):
                run.save(path)
            for use in (kept.read, partial(spill.add, b"more")):
                with pytest.raises(OSError, match="has closed its descriptor"):
                    use()
        del kept, spill, use
        gc.collect()
        assert theirs.read_bytes() == b"precious"
        for number in numbers:
            assert os.path.samestat(os.fstat(number), os.fstat(file.fileno()))
            os.close(number)
    assert {"before", "after"} <= {*dask_insight.open(path).events["kind"]}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_was_forked_off_writes_nothing_to_the_file_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    recording = Recording()
    recording.write_to(create(path))
    with recording._lock:
        # It waits to be written, and the child has it, too.
        grow(recording, 0)
        if (child := os.fork()) == 0:
            try:
                before = path.stat().st_size
                recording.note("child", os.urandom(2**19).hex())
                recording._flush()
                recording.close()
                os._exit(path.stat().st_size - before != 0)
            finally:
                os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    recording.close()
    assert len(dask_insight.open(path).attempts) == 1


#: Keeps a file until there is something to read, as a process does that records to it.
KEEPS = """
import sys
from dask_insight.frames import claim
claim(sys.argv[1])
print(flush=True)
sys.stdin.read(1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no locks")
def test_no_recording_takes_the_place_of_one_that_another_process_makes(tmp_path: Path) -> None:
    path, other = tmp_path / "run.dinsight", Recording()
    grow(other, 0)
    other.save(path)
    before = path.read_bytes()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", KEEPS, str(path)], **pipes) as process:
        assert process.stdout and process.stdout.readline()
        with pytest.raises(OSError, match="another process records to it; name another file"):
            dask_insight.open(path).save(path)
        assert path.read_bytes() == before and os.listdir(tmp_path) == [path.name]
        process.communicate(b"1")
    dask_insight.open(path).save(path)
    release = claim(path)
    other.save(path)
    release()
    assert len(dask_insight.open(path).attempts) == 1


@pytest.mark.parametrize(("length", "rows"), [(60, 1_200_000), (60, 8_000_000)])
def test_facts_that_are_told_again_and_again_take_little_memory(
    tmp_path: Path, length: int, rows: int
) -> None:
    """One batch of one fact, whose rows are alike and take a byte before they are compressed."""
    import msgpack

    of = {"width": 1, "data": bytes(rows)}
    columns = [
        {"name": "name", "kind": "sym", "symbols": ["x"], **of},
        {"name": "value", "kind": "str", "forms": [["1" * length]], "numbers": [], **of},
    ]
    bomb = msgpack.packb({"table": "about", "rows": rows, "columns": columns})
    path = _file(tmp_path / "bomb.dinsight", bomb)
    assert path.stat().st_size < 20_000
    _, mebibytes = _mebibytes_to_open(path)
    assert mebibytes < 400
    about = dask_insight.open(path).about
    assert about == ({"x": int("1" * length)} if rows * length < 80e6 else {})


def test_of_facts_the_last_is_told() -> None:
    recording = Recording()
    for names, values in (("ab", "12"), ("ca", ["3", "no JSON"]), ("b", ["4"])):
        recording.append(encode("about", {"name": [*names], "value": [*values]}))
    assert recording.about == {"a": "no JSON", "b": 4, "c": 3} and [*recording.about] == ["a", "b", "c"]


def test_reports_have_nothing_that_no_page_reads() -> None:
    recording = Recording()
    for name, table in TABLES.items():
        told = {column.name: ["1" if column.kind in ("sym", "str") else 1] for column in table.columns}
        recording.append(encode(name, told))
    batches = [decode(batch) for batch in recording.packed(coarse=True)]
    found = {(batch.table, name) for batch in batches for name in batch.columns}
    unseen = {(table, name) for table, names in UNSEEN.items() for name in names}
    assert found & unseen == {("graph", "group")}, "after which keys are short"
    assert {table for table, _ in found} == {table for table in TABLES if UNSEEN.get(table) != ()}
    rest = {(name, column.name) for name, table in TABLES.items() for column in table.columns} - unseen
    missing = {table for table, _ in rest - found if UNSEEN.get(table) != ()}
    assert missing == {"graph", "executions"}, "ranks, and times that attempts have"
