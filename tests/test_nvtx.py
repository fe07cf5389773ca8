"""NVTX ranges around tasks, as a tool sees them that NVTX itself loads into the workers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.compat import dasf

compiler = shutil.which("cc") or shutil.which("gcc")
pytest.importorskip("nvtx")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="NVTX loads tools by this name on Linux"),
    pytest.mark.skipif(compiler is None, reason="the tool is written in C"),
]
#: Seconds by which the clocks that a recording puts together may differ.
CLOCKS = 0.1


class Range(NamedTuple):
    """A range, seconds since the epoch."""

    process: str
    domain: str
    message: str
    start: float
    stop: float


@pytest.fixture
def ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder into which processes that start from now on write their ranges."""
    tool, folder = tmp_path / "reader.so", tmp_path / "ranges"
    folder.mkdir()
    source = Path(__file__).with_name("nvtx_reader.c")
    subprocess.run([str(compiler), "-shared", "-fPIC", "-pthread", "-o", str(tool), str(source)], check=True)
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(tool))
    monkeypatch.setenv("NVTX_READER_FOLDER", str(folder))
    return folder


def read(folder: Path) -> Iterator[Range]:
    """What has begun and ended; each once."""
    for file in folder.iterdir():
        begun: dict[str, tuple[float, str, str]] = {}
        for line in file.read_text("utf-8").splitlines():
            kind, number, seconds, *rest = line.split(" ", 4)
            if kind == "start":
                assert number not in begun
                begun[number] = (float(seconds), *rest)
            else:
                start, domain, message = begun.pop(number)
                yield Range(file.name, domain, message, start, float(seconds))
        assert not begun, "every range has an end"


def work(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def fail(_: Any) -> None:
    raise ValueError("planted")


def test_ranges_are_around_tasks_and_named_after_them(
    ranges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        registered = dasf.register_default_profiler(client, name="run", enable_nvtx=True)
        client.gather(client.map(work, [0.02 + number / 1e6 for number in range(24)], pure=False))
        failed = client.map(fail, range(3), retries=1)
        assert {future.exception().args for future in failed} == {("planted",)}
        registered.stop()
        client.gather(client.map(work, [0.01, 0.011], pure=False, key="unseen"))
        pids = set(map(str, client.run(lambda: __import__("os").getpid()).values()))
    found = list(read(ranges))
    assert Counter(each.message for each in found) == {"work": 24, "fail": 6}, "failed attempts too"
    assert {each.domain for each in found} == {"dask"}
    assert {each.process for each in found} == pids, "written by the workers"
    tasks = registered.recording.table("tasks")
    tasks = tasks[tasks["prefix"] == "work"]
    zero = registered.recording.started
    within = sorted((each.start, each.stop) for each in found if each.message == "work")
    ran = sorted(zip(zero + tasks["start"], zero + tasks["stop"], strict=True))
    assert len(ran) == len(within)
    total = sum(stop - start for start, stop in within)
    assert total >= tasks["duration"].sum() - CLOCKS
    for start, stop in ran:
        assert any(first <= start + CLOCKS and stop - CLOCKS <= last for first, last in within)


def test_what_workers_cannot_load_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.compat.dasf.nvtx import NAME, Ranges

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Ranges, "__reduce__", lambda self: (int, ("no number",)))
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        with pytest.raises(Exception, match="no number"):
            dasf.register_default_profiler(client, name="run", enable_nvtx=True, add_time_suffix=False)
        assert NAME not in cluster.scheduler.worker_plugins
    assert "stopped" in dask_insight.open("run.dinsight").about


def test_what_is_open_when_they_are_taken_off_is_closed(
    ranges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Event

    monkeypatch.chdir(tmp_path)

    def wait(begun: str, go_on: str) -> None:
        Event(begun).set()
        Event(go_on).wait()

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        registered = dasf.register_default_profiler(client, enable_nvtx=True)
        future = client.submit(wait, "begun", "go-on")
        Event("begun", client=client).wait()
        registered.stop()
        closed = list(read(ranges))
        Event("go-on", client=client).set()
        future.result()
    assert [each.message for each in closed] == ["wait"]
    assert len(list(read(ranges))) == 1
