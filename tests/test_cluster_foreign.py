"""A cluster of real `dask scheduler` and `dask worker` processes that do not have the package."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import site
import subprocess
import sys
import sysconfig
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Batches, left_on, recorded, wait_for

import dask_insight
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.schema import NOTHING
from dask_insight.session.explainer import runs
from dask_insight.sources.cluster import ClusterSource


class Processes(NamedTuple):
    """A running cluster."""

    address: str
    scheduler: subprocess.Popen[bytes]
    #: Begins another process of it.
    begin: Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter of a virtual environment that has everything but dask_insight."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for source in {*site.getsitepackages(), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(source).iterdir() if Path(source).is_dir() else ():
            ours = "dask_insight" in entry.name or "dask-insight" in entry.name
            # Files of this kind may lead to an editable installation.
            if not ours and entry.suffix != ".pth" and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


@pytest.fixture(scope="module")
def foreign(bare_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    with processes(bare_python, tmp_path_factory.mktemp("processes")) as found:
        yield found


@contextlib.contextmanager
def processes(bare_python: Path, folder: Path) -> Iterator[Processes]:
    file = folder / "scheduler.json"
    folder.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    begun: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str) -> subprocess.Popen[bytes]:
        command = [str(bare_python), "-m", "dask", *arguments, "--scheduler-file", str(file)]
        begun.append(subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL))
        return begun[-1]

    scheduler = begin("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
    for _ in range(2):
        begin("worker", "--nthreads", "2", "--no-dashboard", "--no-nanny")
    try:
        wait_for(file.exists, "the scheduler runs")
        from distributed import Client

        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        yield Processes(address, scheduler, begin)
    finally:
        for process in begun:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def test_nothing_of_ours_is_installed_and_all_is_recorded(foreign: Processes) -> None:
    from distributed import Client

    def found(**_: Any) -> bool:
        import importlib.util

        return importlib.util.find_spec("dask_insight") is not None

    with Client(foreign.address) as client:
        assert not client.run_on_scheduler(found)
        assert not any(client.run(found).values())
        with recorded(client) as batches:
            client.gather(client.map(lambda n: time.sleep(0.05) or n, range(20), key="foreign", pure=False))
        assert not any(left_on(client).values())
    attempts = batches.attempts("foreign")
    assert len(attempts) == 20 and {row["status"] for row in attempts} == {"ok"}
    assert {row["run"] for row in batches.table("executions")} == {row["run"] for row in attempts}
    workers = {row["worker"] for row in batches.table("workers")}
    assert len(workers) == 2
    assert {row["process"] for row in batches.table("samples")} >= workers | {"scheduler"}
    assert {row["process"] for row in batches.table("resources")} >= workers | {"scheduler", "client"}
    assert batches.table("metrics") and not batches.events("lost")


def test_a_scheduler_that_stands_still_at_the_end_is_left_clean(foreign: Processes) -> None:
    from distributed import Client

    with Client(foreign.address) as client:
        batches = Batches()
        source = ClusterSource(client, Options(stop_timeout=1.0), Identity())
        client.sync(source.start, batches)
        client.gather(client.map(abs, range(20), key="before", pure=False))
        foreign.scheduler.send_signal(signal.SIGSTOP)
        try:
            client.sync(source.stop, callback_timeout=20)
        finally:
            foreign.scheduler.send_signal(signal.SIGCONT)
        (lost,) = batches.events("lost")
        assert "no answer within 1 s" in lost["message"]
        wait_for(lambda: not any(left_on(client).values()), "everything of ours is gone in the end")


#: Records to a file, works, and stays.
RECORDER = """
import sys, time, dask_insight
from distributed import Client

client = Client(sys.argv[1])
dask_insight.record(sys.argv[2], client=client).start()
client.gather(client.map(lambda n: time.sleep(0.05) or n, range(20), key="kept", pure=False))
time.sleep(600)
"""


def test_a_recorder_that_is_killed_leaves_a_file_and_a_clean_cluster(
    foreign: Processes, tmp_path: Path
) -> None:
    from distributed import Client

    path = tmp_path / "run.dinsight"
    recorder = subprocess.Popen([sys.executable, "-c", RECORDER, foreign.address, str(path)])

    def kept() -> int:
        tasks = dask_insight.open(path).tasks if path.exists() and path.stat().st_size else ()
        return int((tasks["status"] == "ok").sum()) if len(tasks) else 0

    try:
        wait_for(lambda: kept() == 20, "every task is in the file")
    finally:
        recorder.kill()
        recorder.wait(20)
    with Client(foreign.address) as client:
        wait_for(lambda: not any(left_on(client).values()), "nothing of ours is on the cluster")
    recording = dask_insight.open(path)
    assert set(recording.tasks["prefix"]) == {"kept"} and len(recording.tasks) == 20
    assert any("had not ended" in loss for loss in recording.summary().losses)


#: Records to memory, works, and ends without another word.
FORGOTTEN = """
import sys, dask_insight
from distributed import Client

client = Client(sys.argv[1])
run = dask_insight.record(client=client).start()
client.gather(client.map(abs, range(20), key="forgotten", pure=False))
plugins = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))
assert any("insight" in name for name in plugins)
"""


def test_a_program_that_ends_with_a_recording_in_memory_leaves_a_clean_cluster(foreign: Processes) -> None:
    from distributed import Client

    command = [sys.executable, "-c", FORGOTTEN, foreign.address]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0 and "dask_insight" not in ended.stderr, ended.stderr
    with Client(foreign.address) as client:
        wait_for(lambda: not any(left_on(client).values()), "nothing of ours is on the cluster")


def shut_down(found: Processes) -> None:
    from distributed import Client

    Client(found.address, set_as_default=False).shutdown()


def interrupt(found: Processes) -> None:
    found.scheduler.send_signal(signal.SIGINT)


@pytest.mark.parametrize("end", [shut_down, interrupt])
def test_a_scheduler_that_closes_waits_until_all_is_fetched(
    bare_python: Path, tmp_path: Path, end: Callable[[Processes], None]
) -> None:
    from distributed import Client

    with processes(bare_python, tmp_path / "cluster") as found:
        client = Client(found.address)
        batches = Batches()
        source = ClusterSource(client, Options(poll=60), Identity())
        client.sync(source.start, batches)
        client.gather(client.map(abs, range(20), key="last", pure=False))
        end(found)
        found.scheduler.wait(20)
        client.sync(source.stop, callback_timeout=20)
        client.close(timeout=2)
    assert len(batches.attempts("last")) == len(batches.table("executions")) == 20
    assert batches.events("scheduler-closed") and not batches.events("lost")


def test_the_scheduler_dies_mid_run(bare_python: Path, tmp_path: Path) -> None:
    with processes(bare_python, tmp_path / "cluster") as cluster:
        loses_its_scheduler(cluster)


def loses_its_scheduler(cluster: Processes) -> None:
    from distributed import Client

    client = Client(cluster.address)
    batches = Batches()
    source = ClusterSource(client, Options(poll=0.1, stop_timeout=3.0), Identity())
    client.sync(source.start, batches)
    try:
        client.gather(client.map(abs, range(20), key="before", pure=False))
        long = client.map(time.sleep, [20] * 4, key="under-way", pure=False)
        wait_for(lambda: len(batches.attempts("before")) == 20, "they are recorded")
        cluster.scheduler.send_signal(signal.SIGKILL)
        wait_for(lambda: batches.events("scheduler-lost"), "the loss is noticed")
    finally:
        began = time.monotonic()
        client.sync(source.stop, callback_timeout=20)
    assert time.monotonic() - began < 5
    assert len(batches.attempts("before")) == 20
    assert long and not batches.attempts("under-way"), "they run, as far as is known"
    assert any(row["process"] == "client" for row in batches.table("resources"))
    [lost] = batches.events("lost")
    assert "could not be fetched: the scheduler cannot be reached any more" in lost["message"]
    assert not [one for one in threading.enumerate() if one.name.startswith("dask_insight")]
    client.close(timeout=2)


def test_the_workers_of_a_scheduler_that_is_replaced_have_left(bare_python: Path, tmp_path: Path) -> None:
    from distributed import Client

    with (
        processes(bare_python, tmp_path / "cluster") as found,
        Client(found.address) as client,
        recorded(client) as batches,
    ):
        client.gather(client.map(abs, range(20), key="before", pure=False))
        long = client.map(time.sleep, [600] * 4, key="under-way", pure=False)
        kept = client.map(lambda number: number, range(10), key="waiting", pure=False)
        unwanted = client.submit(abs, long[0], key="unwanted", pure=False)
        wait_for(lambda: len(batches.table("running")) == 4, "they run")
        client.cancel(unwanted)
        wait_for(lambda: batches.attempts("unwanted"), "what waited in vain has its end")
        found.scheduler.send_signal(signal.SIGKILL)
        found.scheduler.wait(20)
        wait_for(lambda: batches.events("scheduler-lost"), "the loss is noticed")
        host, port = found.address.removeprefix("tcp://").split(":")
        found.begin("scheduler", "--port", port, "--no-dashboard", "--host", host)
        wait_for(
            lambda: [row["name"] for row in batches.table("about")].count("scheduler") == 2,
            "the next one is recorded",
        )
    (lost,) = batches.events("scheduler-lost")
    newest = {row["worker"]: row["left"] for row in batches.table("workers")}
    assert len(newest) == 2 and all(0 <= lost["time"] - left < 2 for left in newest.values())
    under_way, waiting = batches.attempts("under-way"), batches.attempts("waiting")
    begun = {row["run"]: (row["worker"], row["thread"], row["start"]) for row in batches.table("running")}
    assert {row["run"]: (row["worker"], row["thread"], row["start"]) for row in under_way} == begun
    assert {moment for row in under_way for moment in (row["stop"], row["done"])} == {*newest.values()}
    assert [(row["run"], row["worker"], row["done"]) for row in waiting] == len(kept) * [
        (NOTHING, "", under_way[0]["done"])
    ]
    assert {row["status"] for row in [*under_way, *waiting]} == {"cancelled"}
    assert len(batches.attempts("unwanted")) == 1, "it has had its end"
    assert {row["run"] for row in batches.table("errors")} == begun.keys()
    run = batches.recording()
    assert not runs(run.columns)
    assert "cancelled-work" not in {each.code for each in run.findings()}, "nobody cancelled them"


def begin_again(found: Processes, signal_number: int) -> None:
    """End the scheduler so, and begin another one at its address."""
    found.scheduler.send_signal(signal_number)
    found.scheduler.wait(20)
    host, port = found.address.removeprefix("tcp://").split(":")
    found.begin("scheduler", "--port", port, "--no-dashboard", "--host", host)
    found.begin("worker", "--nthreads", "2", "--no-dashboard", "--no-nanny")


def recorded_names(client: Any, run: Any, name: str) -> Callable[[], bool]:
    """Submits tasks of a name until one of them is in the recording."""

    def kept() -> bool:
        client.submit(abs, 1, key=f"{name}-{uuid.uuid4().hex}").result()
        return name in set(run.tasks["prefix"])

    return kept


def test_a_recording_goes_on_with_a_scheduler_that_was_restarted(bare_python: Path, tmp_path: Path) -> None:
    from distributed import Client

    with processes(bare_python, tmp_path / "cluster") as found, Client(found.address) as client:
        with dask_insight.record(local=False, poll=0.1) as run:
            wait_for(recorded_names(client, run, "before"), "the first is recorded")
            begin_again(found, signal.SIGTERM)
            wait_for(lambda: client.status == "running", "the client has the next one")
            wait_for(recorded_names(client, run, "after"), "the next one is recorded")
        assert not any(left_on(client).values())
    assert not run.tasks["key"].duplicated().any()
    assert run.columns("events")["kind"].tolist().count("scheduler-closed") == 1


@pytest.mark.parametrize(
    ("end", "is_told"), [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGKILL, False)]
)
def test_a_cluster_that_came_back_is_recorded_once(
    bare_python: Path, tmp_path: Path, end: int, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new client comes while one from before calls, who may know already that it is another cluster."""
    from distributed import Client

    with processes(bare_python, tmp_path / "cluster") as found, Client(found.address) as first:
        call, may_call = first._ensure_connected, threading.Event()
        is_mine, looks = ClusterSource._is_mine, []

        def look(source: ClusterSource) -> bool:
            looks.append(source)
            return is_mine(source)

        async def later(timeout: float) -> None:
            if not may_call.is_set():
                raise OSError("not yet")
            await call(timeout=timeout)

        monkeypatch.setattr(first, "_ensure_connected", later)
        monkeypatch.setattr(first, "_timeout", 60)
        monkeypatch.setattr(ClusterSource, "_is_mine", look)
        first.loop.add_callback(first._periodic_callbacks["scheduler-info"].stop)
        with dask_insight.record(local=False, poll=0.1) as run:
            wait_for(recorded_names(first, run, "before"), "the first is recorded")
            begin_again(found, end)
            if is_told:
                first.sync(first._update_scheduler_info)
            with Client(found.address, set_as_default=False, timeout=60) as second:
                wait_for(recorded_names(second, run, "meanwhile"), "a new client's is recorded")
                may_call.set()
                wait_for(lambda: first.status == "running", "the other one is back")
                seen = len(looks)
                if not is_told:
                    wait_for(lambda: len(looks) > seen + 1, "it waits for its turn")
                wait_for(recorded_names(first, run, "both"), "what it does is recorded")
            wait_for(recorded_names(first, run, "alone"), "it goes on alone")
    assert not run.tasks["key"].duplicated().any()


def test_a_client_that_has_lost_its_scheduler_closes_at_once(bare_python: Path, tmp_path: Path) -> None:
    from distributed import Client

    with processes(bare_python, tmp_path / "cluster") as found:
        client = Client(found.address, set_as_default=False)
        session = dask_insight.record(client=client, stop_timeout=60.0, poll=0.1)
        run = session.start()
        long = client.map(time.sleep, [600] * 2, key="under-way", pure=False)
        wait_for(lambda: len(run.columns("running")["run"]) == len(long), "they run")
        client._timeout = 0.5
        found.scheduler.send_signal(signal.SIGKILL)
        wait_for(lambda: client.status == "closed", "it does not wait for who has gone", 15)
        assert not runs(run.columns)
        session.stop()
    events, stops = run.columns("events"), run.columns("attempts")["stop"]
    (lost,) = events["time"][[kind == "scheduler-lost" for kind in events["kind"].tolist()]]
    assert len(stops) == 2 and all(0 <= lost - stop < 2 for stop in stops.tolist())


def test_attach_goes_on_with_the_next_scheduler(bare_python: Path, tmp_path: Path) -> None:
    from distributed import Client

    path = tmp_path / "run.dinsight"
    command = [sys.executable, "-m", "dask_insight", "attach", "-o", str(path), "--duration", "8h"]

    def kept(client: Client, name: str) -> bool:
        client.submit(abs, 1, key=f"{name}-{uuid.uuid4().hex}").result()
        return path.stat().st_size > 0 and name in set(dask_insight.open(path).tasks["prefix"])

    with processes(bare_python, tmp_path / "cluster") as found:
        attached = subprocess.Popen(
            [*command, "--timeout", "3s", found.address], stderr=subprocess.PIPE, text=True
        )
        try:
            assert attached.stderr is not None and "recording tcp://" in attached.stderr.readline()
            with Client(found.address, set_as_default=False) as client:
                wait_for(lambda: kept(client, "first"), "the first is recorded")
            found.scheduler.send_signal(signal.SIGKILL)
            found.scheduler.wait(20)
            lost = time.monotonic()
            wait_for(lambda: time.monotonic() > lost + 6, "the time for the first answer is over")
            host, port = found.address.removeprefix("tcp://").split(":")
            found.begin("scheduler", "--port", port, "--no-dashboard", "--host", host)
            found.begin("worker", "--nthreads", "2", "--no-dashboard", "--no-nanny")
            with Client(found.address, timeout=60, set_as_default=False) as client:
                wait_for(lambda: kept(client, "second"), "the second is recorded")
            attached.send_signal(signal.SIGINT)
            _, said = attached.communicate(timeout=60)
            assert attached.returncode == 0 and "has gone" not in said, said
        finally:
            attached.kill()
            attached.wait(20)
