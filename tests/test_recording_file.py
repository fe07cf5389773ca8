"""The recording file: written as it goes, read whatever happened to it."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dask_insight
from benchmarks.synthetic import Size, synthetic
from dask_insight.batch import encode, table_of
from dask_insight.columns import length
from dask_insight.descriptors import OwnFile
from dask_insight.frames import Gap, claim, create, lock, place, read, reader, save, writer
from dask_insight.frames.layout import FRAME, HEADER, MAGIC, checksum
from dask_insight.hosts.cli.info import describe
from dask_insight.recording import Recording, RecordingError
from dask_insight.schema import FORMAT, TABLES


def _batch(number: int, rows: int = 500) -> bytes:
    task = np.random.default_rng(number).integers(0, 2**32, rows)
    return encode("edges", {"task": task, "dependency": np.full(rows, number)})


def _frame(packed: bytes, *lengths: int) -> bytes:
    payload = struct.pack(f"<{len(lengths)}I", *lengths) + packed
    checksum = zlib.crc32(payload, zlib.crc32(struct.pack("<II", len(payload), len(lengths))))
    return struct.pack("<4sIII", b"\xf5DI\n", len(payload), len(lengths), checksum) + payload


def _file(path: Path, *frames: bytes | tuple[bytes, ...]) -> Path:
    """A file of frames, each of a batch or of several."""
    data = struct.pack("<8sHHI", MAGIC, *FORMAT, 0)
    for batches in frames:
        batches = (batches,) if isinstance(batches, bytes) else batches
        data += _frame(zlib.compress(b"".join(batches)), *map(len, batches))
    path.write_bytes(data)
    return path


def _numbers(path: Path) -> list[int]:
    """Which of the batches made by `_batch` a recording still has."""
    column: Any = dask_insight.open(path).columns("edges")["dependency"]
    return [int(number) for number in dict.fromkeys(column.tolist())]


def test_what_is_written_can_be_read_while_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    file = create(path)
    assert list(read(path)) == []
    file.write(_batch(1))
    file.flush()
    assert _numbers(path) == [1]
    big = _batch(2, rows=writer.FRAME_BYTES // 8 + 1)
    file.write(big)
    assert list(read(path)) == [_batch(1), big], "a full frame is written at once"
    file.write(_batch(3))
    file.close()
    assert _numbers(path) == [1, 2, 3]


def test_a_file_is_compressed_while_it_grows_once_it_has_become_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_MUCH", 15_000)
    path, size, grown = tmp_path / "run.dinsight", 0, list[int]()
    with contextlib.closing(create(path)) as file:
        for number in range(4):
            file.write(_batch(number, rows=1_500))
            file.flush()
            size, before = path.stat().st_size, size
            grown.append(size - before)
    batch = len(_batch(0, rows=1_500))
    assert min(grown[:2]) > batch > max(grown[2:]), "deflating takes from those who compute"
    assert _numbers(path) == [0, 1, 2, 3]


def test_a_killed_process_leaves_all_that_was_flushed(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    code = (
        "import os, signal, sys\n"
        "from dask_insight.batch import encode\n"
        "from dask_insight.frames import create\n"
        "writer = create(sys.argv[1])\n"
        "writer.write(encode('edges', {'task': [1], 'dependency': [7]})); writer.flush()\n"
        "writer.write(encode('edges', {'task': [1], 'dependency': [8]}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode != 0
    assert _numbers(path) == [7]


@pytest.mark.parametrize("cut", [1, 7, 15, 16, 17, 100])
def test_a_torn_tail_costs_the_last_frame(tmp_path: Path, cut: int) -> None:
    path = _file(tmp_path / "run.dinsight", _batch(1), _batch(2))
    path.write_bytes(path.read_bytes()[:-cut])
    recording = dask_insight.open(path)
    assert _numbers(path) == [1]
    assert [gap.reason for gap in recording.gaps] == ["the file ends within a frame"]
    event = recording.events.iloc[0]
    assert (event.kind, event.level, event.source) == ("lost", "warning", "recorder")
    assert "the file ends within a frame" in event.message


@pytest.mark.parametrize("at", [0, 3, 4, 8, 12, 16, 40, 700])
def test_a_damaged_frame_is_skipped_and_named(tmp_path: Path, at: int) -> None:
    path = _file(tmp_path / "run.dinsight", _batch(1), _batch(2), _batch(3))
    data = bytearray(path.read_bytes())
    second = data.index(b"\xf5DI\n", 20)
    data[second + at] ^= 0x40
    path.write_bytes(data)
    third = data.index(b"\xf5DI\n", second + 16 + 20)
    assert _numbers(path) == [1, 3]
    (gap,) = dask_insight.open(path).gaps
    assert (gap.offset, gap.size) == (second, third - second)


def test_garbage_between_frames_is_skipped(tmp_path: Path) -> None:
    path = _file(tmp_path / "run.dinsight", _batch(1))
    rest = _file(tmp_path / "other", _batch(2)).read_bytes()[16:]
    path.write_bytes(path.read_bytes() + b"\xf5DI\n" * 20 + b"noise" + rest)
    assert _numbers(path) == [1, 2]


def test_what_only_looks_like_frames_is_read_a_few_times_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path / "run.dinsight", _batch(1))
    size = 100_000
    with path.open("ab") as file:
        file.write(struct.pack("<4sIII", b"\xf5DI\n", size, 1, 0) * 500)
        file.write(bytes(size) + _frame(zlib.compress(_batch(2)), len(_batch(2))))
    read = 0

    def summed(size: int, batches: int, payload: bytes) -> int:
        nonlocal read
        read += size
        return checksum(size, batches, payload)

    monkeypatch.setattr(reader, "checksum", summed)
    assert _numbers(path) == [1, 2]
    assert read < 5 * path.stat().st_size


def test_a_frame_of_something_else_is_a_gap(tmp_path: Path) -> None:
    path = _file(tmp_path / "run.dinsight", _batch(1), b"\xc1 no batch", (_batch(2), b"\x93\x01"), _batch(3))
    recording = dask_insight.open(path)
    assert _numbers(path) == [1, 2, 3]
    assert len(recording.gaps) == 2 and len(recording.events) == 2


def test_a_damaged_batch_in_a_whole_frame_is_a_gap(tmp_path: Path) -> None:
    bad = _batch(2).replace(b"\xa4data", b"\xa4dada", 1)
    path = _file(tmp_path / "run.dinsight", _batch(1), bad, _batch(3))
    recording = dask_insight.open(path)
    assert recording.edges["dependency"].unique().tolist() == [1, 3]
    assert len(recording.gaps) == 1 and "could not be read" in recording.events["message"][0]


def test_a_batch_with_a_damaged_column_is_a_gap(tmp_path: Path) -> None:
    whole = _batch(1)
    damaged = whole.replace(b"dependency", b"depend\xffncy")
    recording = dask_insight.open(_file(tmp_path / "run.dinsight", (whole, damaged)))
    assert len(recording.edges) == 500
    assert len(recording.gaps) == 1
    assert "edges 500," in describe(recording)


@pytest.mark.parametrize(
    "content", [b"", b"\x89DINSG", b"PK\x03\x04 a zip file and more", b"<html>" * 10, MAGIC]
)
def test_foreign_files_are_refused_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="is not a dask_insight recording"):
        dask_insight.open(path)


def test_a_newer_major_format_names_the_cure(tmp_path: Path) -> None:
    path = _file(tmp_path / "run.dinsight", _batch(1))
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<HH", FORMAT[0] + 1, 0)
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"newer than this version .*: install a newer one"):
        dask_insight.open(path)


def _newer(path: Path) -> Path:
    data = bytearray(path.read_bytes())
    data[10:12] = struct.pack("<H", FORMAT[1] + 7)
    path.write_bytes(data)
    return path


def test_a_newer_minor_format_is_read_told_and_kept(tmp_path: Path) -> None:
    new = _batch(2).replace(b"edges", b"ledge")
    path = _newer(_file(tmp_path / "run.dinsight", _batch(1), new))
    assert _numbers(path) == [1]
    copy = tmp_path / "copy.dinsight"
    dask_insight.open(path).save(copy)
    assert new in list(read(copy))
    dask_insight.open(copy).save(path)
    assert [table_of(batch) for batch in read(path) if not isinstance(batch, Gap)].count("ledge") == 1
    losses = dask_insight.open(path).summary().losses
    told = f"written in format {FORMAT[0]}.{FORMAT[1] + 7}, newer than {FORMAT[0]}.{FORMAT[1]}"
    assert sum(told in loss for loss in losses) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no such names there")
def test_a_pipe_is_refused_in_words(tmp_path: Path) -> None:
    data = _file(tmp_path / "run.dinsight", _batch(1)).read_bytes()
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    with pytest.raises(RecordingError, match="is a pipe, which cannot be searched: write it"):
        dask_insight.open(f"/dev/fd/{out}")
    os.close(out)


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        dask_insight.open(tmp_path / "nothing")
    with pytest.raises(RecordingError, match="is a folder: name a recording in it"):
        dask_insight.open(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "run.dinsight"
    return _file(path, (_batch(1, 20), _batch(2, 20)), _batch(3, 20)).read_bytes()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_gives_a_recording_or_a_recording_error(
    whole: bytes, tmp_path: Path, data: st.DataObject
) -> None:
    raw = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 5))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)))] + data.draw(st.binary(max_size=40))
    path = tmp_path / "run.dinsight"
    path.write_bytes(raw)
    try:
        recording = dask_insight.open(path)
    except RecordingError:
        return
    recording.columns("edges")
    # A file that is cut between two blocks lacks nothing but its end.
    # One whose header is hit may seem newer.
    others = ("had not ended", "written in format")
    lost = [text for text in recording.events["message"] if not any(each in text for each in others)]
    assert len(lost) == len(recording.gaps)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "run.dinsight"
    synthetic(Size(tasks=9_000, samples=1_000, stacks=100)).save(path)
    return path


def _rows(path: Path) -> dict[str, int]:
    recording = dask_insight.open(path)
    return {name: length(recording.columns(name)) for name in TABLES if name != "events"}


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_damaged_byte_costs_a_part_of_one_table(saved: Path, tmp_path: Path, part: float) -> None:
    data = bytearray(saved.read_bytes())
    data[int(len(data) * part)] ^= 1
    path = tmp_path / "damaged.dinsight"
    path.write_bytes(data)
    left, whole = _rows(path), _rows(saved)
    (lost,) = (name for name in TABLES if name in left and left[name] < whole[name])
    assert whole[lost] - left[lost] <= 4_096
    assert left["attempts"] >= 9_000 - 4_096 and left["about"] == whole["about"]


def test_a_saved_file_that_is_cut_keeps_its_tasks_and_their_names(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.dinsight"
    path.write_bytes(saved.read_bytes()[: saved.stat().st_size * 2 // 3])
    cut = dask_insight.open(path)
    assert cut.about["name"] and len(cut.tasks) == 9_000 and len(cut.gaps) == 1
    assert cut.tasks["prefix"].ne("").all()


@pytest.mark.parametrize("lost", ["about", "graph", "attempts", "executions", "workers"])
def test_a_recording_that_lacks_a_table_is_shown(tmp_path: Path, lost: str) -> None:
    rest = Recording()
    for batch in synthetic(Size(tasks=100, samples=100, stacks=20)).packed():
        if table_of(batch) != lost:
            rest.append(batch)
    assert rest.packed(coarse=True, explained=True)
    assert len(rest.tasks) == (0 if lost == "attempts" else 100)
    assert describe(rest).splitlines()[0]


def test_saving_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    save(path, [_batch(1)])

    def failing() -> Any:
        yield _batch(2)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        save(path, failing())
    assert _numbers(path) == [1]
    assert [each.name for each in tmp_path.iterdir()] == ["run.dinsight"]


@pytest.mark.parametrize("refusal", ["EDQUOT", "ENOSPC", "EIO", "EINVAL"])
def test_what_the_disk_has_not_kept_takes_the_place_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    def refuse(_: int) -> None:
        raise OSError(getattr(errno, refusal), refusal)

    path = tmp_path / "run.dinsight"
    save(path, [_batch(1)])
    monkeypatch.setattr(os, "fsync", refuse)
    unable = refusal == "EINVAL"
    with contextlib.nullcontext() if unable else pytest.raises(OSError, match=refusal):
        save(path, [_batch(2)])
    assert _numbers(path) == [2 if unable else 1]
    assert [each.name for each in tmp_path.iterdir()] == ["run.dinsight"]


@pytest.mark.parametrize("write", [Recording.save, Recording.report])
def test_what_cannot_be_begun_is_told_of_by_the_name_that_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    with pytest.raises(FileNotFoundError, match=r"make it first: '.*out'$"):
        write(Recording(), tmp_path / "out" / "run")

    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: '.*run'$"):
        write(Recording(), tmp_path / "run")


def test_who_saves_at_the_same_time_writes_a_file_each(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"

    def and_another() -> Any:
        save(path, [_batch(2)])
        yield _batch(1)

    save(path, and_another())
    assert _numbers(path) == [1]
    assert [each.name for each in tmp_path.iterdir()] == ["run.dinsight"]


@pytest.mark.skipif(sys.platform == "win32", reason="its files have other permissions")
def test_who_may_read_a_file_stays_so_when_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    save(path, [_batch(1)])
    path.chmod(0o600)
    save(path, [_batch(2)])
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="its files have other permissions")
def test_nobody_looks_into_a_file_before_it_has_its_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"
    path.touch()
    path.chmod(0o640)
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(Path, "chmod", lambda self, mode: seen.append((self.stat().st_mode & 0o777, mode)))
    save(path, [_batch(1)])
    assert seen == [(0o600, 0o640)]


@pytest.mark.parametrize("refusal", ["EPERM", "EOPNOTSUPP", "ENOSYS", "EIO"])
def test_a_drive_that_knows_no_permissions_is_written_to_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(getattr(errno, refusal), refusal, str(tmp_path / "a name that nobody knows"))

    path = tmp_path / "run.dinsight"
    monkeypatch.setattr(place, "_HELD", False)
    monkeypatch.setattr(Path, "chmod", refuse)
    save(path, [_batch(1)])
    broken = refusal == "EIO"
    with pytest.raises(OSError, match=r"EIO: '.*run\.dinsight'$") if broken else contextlib.nullcontext():
        save(path, [_batch(2)])
    assert _numbers(path) == [1 if broken else 2]


@pytest.mark.parametrize("name", ["r", "run.dinsight", "a" * 30])
def test_what_is_written_beside_a_file_has_no_longer_a_path_than_windows_takes(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(place, "_HELD", True)
    for signs in (250, 259):
        path = Path("/", "a" * (signs - len(name) - 2), name)
        found = place.beside(path, "part")
        assert len(str(path)) == signs and len(str(found)) <= 259
        assert found.parent == path.parent


def test_a_file_that_happens_to_have_the_name_of_what_is_to_be_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "3"
    other.write_text("somebody's")
    monkeypatch.setattr(place, "beside", lambda *_: other)
    with pytest.raises(FileExistsError):
        save(tmp_path / "r", [_batch(1)])
    assert other.read_text() == "somebody's"


@pytest.mark.skipif(sys.platform == "win32", reason="its files have other permissions")
def test_a_file_that_must_not_be_written_can_be_replaced_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"
    path.touch(0o444)
    monkeypatch.setattr(place, "_HELD", True)
    save(path, [_batch(1)])
    assert _numbers(path) == [1]
    assert path.stat().st_mode & 0o777 == 0o600, "Windows would neither write to nor remove what is read-only"


def test_the_longest_names_are_saved_too(tmp_path: Path) -> None:
    path = tmp_path / ("☃" * 80 + ".dinsight")
    save(path, [_batch(1)])
    assert _numbers(path) == [1]


def test_a_folder_is_no_place_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="a folder: name a file in it"):
        save(tmp_path, [_batch(1)])
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_begun_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    def opening(*arguments: Any) -> Any:
        opened.append(OwnFile(*arguments))
        return opened[0]

    def full(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(writer, "OwnFile", opening)
    monkeypatch.setattr(writer.Writer, "__init__", full)
    with pytest.raises(OSError, match="disk full"):
        create(tmp_path / "run.dinsight")
    assert opened[0].closed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_was_forked_off_keeps_nobody_from_a_file(tmp_path: Path) -> None:
    release = claim(tmp_path / "run.dinsight")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    with pytest.raises(OSError, match="another process records to it; name another file"):
        claim(tmp_path / "run.dinsight")
    release()
    claim(tmp_path / "run.dinsight")()
    os.close(reading)
    os.close(writing)
    os.waitpid(child, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_was_forked_off_holds_no_lock_of_one_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = claim(tmp_path / "run.dinsight")
    reading, writing = os.pipe()
    begun, beginning = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.write(beginning, b"1")
        os.read(reading, 1)
        os._exit(0)
    os.read(begun, 1)
    # As a process that ends leaves its files: nothing is unlocked, and all is closed.
    monkeypatch.setattr(lock, "_set", lambda *_, **__: None)
    release()
    monkeypatch.undo()
    claim(tmp_path / "run.dinsight")()
    for each in (reading, writing, begun, beginning):
        os.close(each)
    os.waitpid(child, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems lock whole files")
def test_no_byte_of_a_file_is_locked() -> None:
    import fcntl

    with tempfile.NamedTemporaryFile() as file, open(file.name, "rb") as other:
        release = claim(file.name)
        for length, kind in ((2**62, fcntl.F_UNLCK), (0, fcntl.F_WRLCK)):
            asked = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, length, 0)
            told = fcntl.fcntl(other, fcntl.F_OFD_GETLK, asked)
            assert struct.unpack("hhqqi4x", told)[0] == kind
        release()


@pytest.mark.skipif(lock.fcntl is None, reason="this system has no locks")
def test_a_lock_beside_which_nobody_reads_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_OF_BYTES", False)
    release = claim(tmp_path / "run.dinsight")
    with pytest.raises(OSError, match="another process records to it"):
        claim(tmp_path / "run.dinsight")
    release()

    def locked(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", locked)
        releases = [claim(tmp_path / "run.dinsight") for _ in range(2)]
    for release in releases:
        release()


def test_a_lock_that_cannot_be_given_back_ends_with_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    release = claim(tmp_path / "run.dinsight")
    with monkeypatch.context() as patched:
        patched.setattr(lock, "_set", refuse)
        release()
    claim(tmp_path / "run.dinsight")()
    # A program may close all descriptors, as those do that go into the background.
    release = claim(tmp_path / "run.dinsight")
    for each in lock._claims:
        assert each._file is not None
        os.close(each._file.fileno())
    release()
    claim(tmp_path / "run.dinsight")()


@pytest.mark.skipif(lock.fcntl is None, reason="this system has no locks")
def test_a_claim_holds_no_file_open_whose_place_another_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"
    release = claim(path)
    take = os.replace

    def as_on_a_share(written: Path, target: Path) -> None:
        assert [each._file for each in lock._claims if each.place == path] == [None]
        take(written, target)

    monkeypatch.setattr(place.os, "replace", as_on_a_share)
    save(path, [_batch(1)])
    with pytest.raises(OSError, match="another process records to it"):
        claim(path)
    release()
    claim(path)()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is open")
def test_two_threads_that_replace_a_claimed_file_leave_nothing_open(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    before = len(os.listdir("/proc/self/fd"))
    release = claim(path)
    # One begins before the other has ended; the file is another then.
    with lock.unclaimed(path):
        with lock.unclaimed(path):
            path.unlink()
            path.touch()
        path.unlink()
        path.touch()
    with pytest.raises(OSError, match="another process records to it"):
        claim(path)
    release()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_share_that_loses_a_file_as_another_takes_its_place_does_not_lose_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    left, take = attempts, os.replace

    def lose(written: Path, target: Path) -> None:
        nonlocal left
        target.unlink(missing_ok=True)
        if left:
            left -= 1
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(written))
        take(written, target)

    path = tmp_path / "run.dinsight"
    save(path, [_batch(1)])
    monkeypatch.setattr(place.os, "replace", lose)
    whole = attempts == 1
    told = r"No such file or directory, though it is whole in \.run\.dinsight\.\w+\.part: '.*run\.dinsight'"
    with contextlib.nullcontext() if whole else pytest.raises(OSError, match=told):
        save(path, [_batch(2)])
    [kept] = tmp_path.iterdir()
    assert _numbers(kept) == [2] and (kept == path) == whole


def test_where_there_are_no_locks_nobody_is_kept_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_set", refuse)
    releases = [claim(tmp_path / "run.dinsight") for _ in range(2)]
    monkeypatch.setattr(lock, "fcntl", None)
    releases += [claim(tmp_path / "run.dinsight") for _ in range(2)]
    for release in releases:
        release()


def test_what_compresses_too_well_is_stored_so_that_it_opens(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    flat = encode("edges", {"task": np.zeros(8_000_000, "u4"), "dependency": np.zeros(8_000_000, "u4")})
    save(path, [flat, flat])
    assert [item for item in read(path) if isinstance(item, Gap)] == []
    assert sum(isinstance(item, bytes) for item in read(path)) == 2


def test_a_damaged_frame_that_was_stored_costs_none_of_those_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_MUCH", 0)
    path = tmp_path / "run.dinsight"
    flat = encode("edges", {"task": np.zeros(500_000, "u4"), "dependency": np.zeros(500_000, "u4")})
    with contextlib.closing(create(path)) as file:
        for _ in range(12):
            file.write(flat)
    data = bytearray(path.read_bytes())
    sizes: dict[int, int] = {}
    at = HEADER.size
    while at < len(data):
        sizes[at] = FRAME.size + FRAME.unpack_from(data, at)[1]
        at += sizes[at]
    stored = max(sizes, key=sizes.__getitem__)
    data[stored + sizes[stored] // 2] ^= 0xFF
    path.write_bytes(data)
    found = list(read(path))
    assert [item.offset for item in found if isinstance(item, Gap)] == [stored]
    assert sum(isinstance(item, bytes) for item in found) == 11


_OPEN = """
import resource, sys, dask_insight, pandas
dask_insight.open
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
recording = dask_insight.open(sys.argv[1])
recording.tasks, recording.edges
print(len(recording.gaps), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def _mebibytes_to_open(path: Path) -> tuple[int, int]:
    """Gaps found and MiB of memory taken in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, str(path)], capture_output=True, text=True, check=True, timeout=120
    )
    gaps, mebibytes = done.stdout.split()
    return int(gaps), int(mebibytes)


def test_bombs_take_little_memory(tmp_path: Path) -> None:
    zeros = zlib.compress(bytes(2**30), 9)
    header = struct.pack("<8sHHI", MAGIC, *FORMAT, 0)
    path = tmp_path / "bomb.dinsight"
    bombs = _frame(zeros, 2**30), _frame(zeros, 100), _frame(zeros, 2**32 - 1), _frame(zeros, *[2**20] * 1024)
    many = bytearray(_frame(b"", 1))
    many[8:12] = struct.pack("<I", 2**32 - 1)
    many[12:16] = struct.pack("<I", zlib.crc32(many[16:], zlib.crc32(many[4:12])))
    path.write_bytes(header + b"".join(bombs) + many)
    gaps, mebibytes = _mebibytes_to_open(path)
    assert gaps == 5
    assert mebibytes < 400


def test_a_batch_that_announces_more_than_it_has_takes_little_memory(tmp_path: Path) -> None:
    import msgpack

    column = {"name": "task", "kind": "u32", "data": b""}
    liar = msgpack.packb({"table": "edges", "rows": 2**31, "columns": [column]})
    path = _file(tmp_path / "liar.dinsight", liar, _batch(1))
    gaps, mebibytes = _mebibytes_to_open(path)
    assert gaps == 1 and mebibytes < 200
    assert _numbers(path) == [1]


@pytest.mark.parametrize(
    "symbols",
    [[100] * 15_000_000, [[[]] * 60_000] * 60, ["a", 100]],
    ids=["numbers", "lists", "one number"],
)
def test_a_batch_whose_symbols_are_none_takes_little_memory(tmp_path: Path, symbols: list[Any]) -> None:
    import msgpack

    columns = [
        {"name": "task", "kind": "u32", "data": bytes(4)},
        {"name": "prefix", "kind": "sym", "width": 1, "data": b"\0", "symbols": symbols},
    ]
    bomb = msgpack.packb({"table": "graph", "rows": 1, "columns": columns})
    path = _file(tmp_path / "bomb.dinsight", bomb, _batch(1))
    assert path.stat().st_size < 30_000
    gaps, mebibytes = _mebibytes_to_open(path)
    assert gaps == 1 and mebibytes < 200
    assert _numbers(path) == [1]


def test_nothing_in_a_file_is_unpickled_or_run(tmp_path: Path) -> None:
    evil = b"cos\nsystem\n(S'touch %s'\ntR." % str(tmp_path / "owned").encode()
    path = _file(
        tmp_path / "run.dinsight",
        encode("about", {"name": ["name", "versions"], "value": [evil.decode(), "__import__('os')"]}),
        encode("events", {"time": [1.0], "message": [evil.decode()], "detail": [evil.decode()]}),
    )
    recording = dask_insight.open(path)
    assert recording.about["versions"] == "__import__('os')"
    assert len(recording.events) == 1
    assert not (tmp_path / "owned").exists()


class _Scanner:
    """Stands for `os` and the clock of Windows, where a scanner holds a file for so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, held: float) -> None:
        self.now, self._held = 0.0, held
        self._replace = os.replace
        monkeypatch.setattr(place, "_HELD", True)
        monkeypatch.setattr(place, "monotonic", lambda: self.now)
        monkeypatch.setattr(place, "sleep", self._sleep)
        monkeypatch.setattr(place.os, "replace", self._take)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def _take(self, written: Path, target: Path) -> None:
        if self.now < self._held:
            raise PermissionError(13, "used by another process", str(written), 32, str(target))
        self._replace(written, target)


def test_a_file_that_a_scanner_holds_for_a_moment_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"
    save(path, [_batch(1)])
    _Scanner(monkeypatch, held=1.0)
    save(path, [_batch(2)])
    assert _numbers(path) == [2]
    assert [each.name for each in tmp_path.iterdir()] == ["run.dinsight"]


def test_a_file_that_is_held_for_long_is_an_error_in_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"
    save(path, [_batch(1)])
    scanner = _Scanner(monkeypatch, held=3600.0)
    with pytest.raises(PermissionError, match="another process"):
        save(path, [_batch(2)])
    assert scanner.now < 3.0 and _numbers(path) == [1]
    assert [each.name for each in tmp_path.iterdir()] == ["run.dinsight"]
