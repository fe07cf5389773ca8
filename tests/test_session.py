"""Sessions: what `record` takes, when it begins and ends, and what it leaves behind."""

from __future__ import annotations

import asyncio
import errno
import inspect
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.callbacks
import numpy as np
import pytest
from conftest import PATIENCE, wait_for
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.batch import decode, encode
from dask_insight.frames import claim
from dask_insight.hosts.cli.files import writable
from dask_insight.options import Options
from dask_insight.probe import clock
from dask_insight.recording import Recording
from dask_insight.session import AsynchronousClient, IncompleteFile, Session, record
from dask_insight.session.cells import _Noted
from dask_insight.session.clusters import Clusters
from dask_insight.session.settings import BESIDE, options_of
from dask_insight.session.target import Target


def _increment(number: int) -> int:
    return number + 1


def _fail(number: int) -> int:
    raise ValueError(f"cannot do {number}")


def _keys(recording: Recording, status: str = "ok") -> set[str]:
    tasks = recording.tasks
    return set(tasks["key"][tasks["status"] == status])


def _cluster(**options: Any) -> LocalCluster:
    settings = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    return LocalCluster(**{**settings, **options})


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with _cluster() as cluster, Client(cluster) as connected:
        yield connected


def _plugins(client: Client) -> list[str]:
    """Plugins of ours on the scheduler."""
    scheduler = client.cluster.scheduler
    return [name for name in scheduler.plugins if "insight" in name.lower()]


def test_a_block_records_what_runs_in_it_and_nothing_else(client: Client, tmp_path: Path) -> None:
    before = client.submit(_increment, 1, key="before")
    before.result()
    path = tmp_path / "run.dinsight"
    with record(path) as run:
        assert client.submit(_increment, 2, key="inside").result() == 3
    client.submit(_increment, 3, key="after").result()
    assert _keys(run) == {"inside"}
    assert _plugins(client) == []
    again = dask_insight.open(path)
    assert _keys(again) == {"inside"} and again.gaps == []
    assert again.about["name"] == "run"
    assert again.about["started"] <= again.about["stopped"] <= time.time()
    assert again.about["packages"]["dask"] == dask.__version__


def test_what_is_asked_in_a_block_knows_all_tasks_that_ended(client: Client, tmp_path: Path) -> None:
    with record(tmp_path / "run.dinsight", client=client, local=False, poll=60) as run:
        client.submit(_increment, 1, key="one").result()
        assert len(run.tasks) == 1
        client.submit(_increment, 2, key="two").result()
        run.save(tmp_path / "inside.dinsight")
        # On the client's own event loop nobody can wait for it.
        client.submit(_increment, 3, key="three").result()
        assert client.sync(_tasks, run) == 2
    assert len(dask_insight.open(tmp_path / "inside.dinsight").tasks) == 2 and len(run.tasks) == 3


async def _tasks(run: Recording) -> int:
    return len(run.tasks)


def test_what_is_asked_in_a_block_knows_all_that_ran_on_local_schedulers() -> None:
    with record(clusters=False) as run:
        for count in (1, 2):
            dask.delayed(_increment)(count).compute(scheduler="threads")
            assert len(run.tasks) == count


def test_a_cluster_that_does_not_answer_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Future[None]] = []
    clusters = Clusters(options_of(True, "200ms", {}), Recording().identity, lambda batch: None)
    followed = SimpleNamespace(client=SimpleNamespace(loop=None), source=SimpleNamespace(catch_up=None))
    monkeypatch.setattr(clusters, "_followed", {"client": followed})
    monkeypatch.setattr(Clusters, "_submit", lambda *_: asked.append(Future()) or asked[-1])
    monkeypatch.setattr("dask_insight.session.clusters._PATIENCE", 0.01)
    clusters.catch_up()
    clusters.catch_up()
    assert len(asked) == 1 and asked[0].cancelled()


def test_without_a_path_it_stays_in_memory(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with record(name="in memory") as run:
        client.gather(client.map(_increment, range(20), key=[f"m-{i}" for i in range(20)]))
    assert len(_keys(run)) == 20
    assert list(tmp_path.iterdir()) == []
    assert "in memory" in repr(run)


def test_start_and_stop(client: Client) -> None:
    session = record()
    run = session.start()
    client.submit(_increment, 4, key="between").result()
    assert session.stop() is run is session.recording
    assert _keys(run) == {"between"}
    assert session.stop() is run, "stopping twice is harmless"
    with pytest.raises(RuntimeError, match="makes a new one"):
        session.start()


def test_an_exception_passes_and_the_recording_is_complete_up_to_there(
    client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "run.dinsight"
    with pytest.raises(ZeroDivisionError), record(path):
        client.submit(_increment, 5, key="done").result()
        1 / 0  # noqa: B018
    assert _keys(dask_insight.open(path)) == {"done"}
    assert _plugins(client) == []


def test_a_failing_task_is_recorded_with_its_error(client: Client) -> None:
    with record() as run:
        assert client.submit(_fail, 6, key="fails").exception() is not None
    assert _keys(run, "erred") == {"fails"}
    error = run.errors.iloc[0]
    assert error.key == "fails" and "cannot do 6" in error.exception and "_fail" in error.traceback


def test_blocks_nest_and_overlap(client: Client) -> None:
    with record() as outer:
        client.submit(_increment, 7, key="first").result()
        with record() as inner:
            client.submit(_increment, 8, key="second").result()
        client.submit(_increment, 9, key="third").result()
        late = record()
        late.start()
        client.submit(_increment, 10, key="fourth").result()
    client.submit(_increment, 11, key="fifth").result()
    late.stop()
    assert _keys(outer) == {"first", "second", "third", "fourth"}
    assert _keys(inner) == {"second"}
    assert _keys(late.recording) == {"fourth", "fifth"}
    assert _plugins(client) == []


def test_only_who_looks_for_all_clients_is_told_how_to_see_others(client: Client) -> None:
    for sources in ({"client": client}, {"clusters": False}):
        with record(**sources) as run:
            pass
        assert run.summary().cure() and "attach" not in run.summary().cure()
    with record() as run:
        pass
    assert "`dask-insight attach ADDRESS`" in run.summary().cure()


def test_only_the_client_asked_for(client: Client) -> None:
    with _cluster() as cluster, Client(cluster, set_as_default=False) as other, record(client=other) as run:
        client.submit(_increment, 12, key="elsewhere").result()
        other.submit(_increment, 13, key="here").result()
    assert _keys(run) == {"here"}


def test_several_clients_of_one_cluster_are_recorded_once(client: Client) -> None:
    with Client(client.scheduler.address, set_as_default=False) as second, record() as run:
        client.submit(_increment, 14, key="one").result()
        second.submit(_increment, 15, key="two").result()
    tasks = run.tasks
    assert sorted(tasks["key"]) == ["one", "two"]


def test_a_second_client_takes_over_when_the_first_closes() -> None:
    with _cluster() as cluster:
        first = Client(cluster)
        with record() as run, Client(cluster, set_as_default=False) as second:
            first.submit(_increment, 16, key="first").result()
            held = second.map(_increment, range(10))
            second.gather(held)
            first.close()
            second.submit(_increment, 17, key="second").result()
    assert _keys(run) >= {"first", "second"}
    assert len(held) == 10 and not any(run.columns("graph")["state"].tolist()), "they ended once"


def test_clients_of_a_scheduler_that_was_replaced_are_recorded_once() -> None:
    with _cluster() as cluster:
        first = Client(cluster)
        with record() as run:
            # What clients learn as they reconnect: the one at its address is another.
            cluster.scheduler.id = "Scheduler-another"
            first.scheduler_info()
            with Client(cluster, set_as_default=False) as second:
                first.submit(_increment, 19, key="first").result()
                held = second.submit(_increment, 20, key="beside")
                held.result()
                first.close()
                second.submit(_increment, 21, key="second").result()
    tasks = run.tasks
    assert sorted(tasks["key"]) == ["beside", "first", "second"]
    assert held.done() and not any(run.columns("graph")["state"].tolist()), "it ended once"
    assert "" not in set(run.table("submissions")["file"]), "it is known which line asked for each"


def test_clients_made_later_are_recorded_from_their_first_task() -> None:
    with record() as run, _cluster() as cluster, Client(cluster) as late:
        late.submit(_increment, 18, key="late").result()
    assert _keys(run) == {"late"}


def test_local_schedulers_are_recorded_beside_a_client(client: Client) -> None:
    with record() as run:
        assert dask.delayed(_increment, name="local")(1).compute(scheduler="threads") == 2
        client.submit(_increment, 19, key="clustered").result()
    prefixes = set(run.tasks["prefix"])
    assert "clustered" in prefixes and any("increment" in prefix for prefix in prefixes)
    assert len(run.tasks) == 2
    with record(local=False) as run:
        dask.delayed(_increment)(1).compute(scheduler="threads")
    assert len(run.tasks) == 0


def test_stopping_is_bounded_when_the_cluster_has_died(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    cluster = _cluster()
    client = Client(cluster)
    session = record(path, stop_timeout="2s", poll="50ms")
    run = session.start()
    client.submit(_increment, 20, key="before the end").result()
    wait_for(lambda: "before the end" in _keys(run), "its task")
    cluster.close(timeout=5)
    begun = time.monotonic()
    session.stop()
    assert time.monotonic() - begun < PATIENCE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client.close(timeout=1)
    assert _keys(dask_insight.open(path)) == {"before the end"}


def test_stopping_after_the_client_has_closed(client: Client) -> None:
    with _cluster() as cluster:
        connected = Client(cluster)
        with record(client=connected) as run:
            connected.submit(_increment, 21, key="closed").result()
            connected.close()
    assert _keys(run) == {"closed"}


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_a_client_closes_within_its_time_though_a_worker_does_not_answer() -> None:
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        record() as run,
    ):
        leaving = Client(cluster)
        leaving.submit(_increment, 24, key="before").result()
        [pid] = leaving.run(os.getpid).values()
        os.kill(pid, signal.SIGSTOP)
        try:
            leaving.close(timeout=2)
        finally:
            os.kill(pid, signal.SIGCONT)
    assert leaving.status == "closed" and "close" not in vars(leaving)
    assert _keys(run) == {"before"}


def test_asynchronous_clients_in_async_with(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"

    async def work() -> None:
        async with (
            LocalCluster(
                n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", asynchronous=True
            ) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            async with record(path, client=client) as run:
                assert await client.submit(_increment, 22, key="async") == 23
            assert _keys(run) == {"async"}
            async with record() as run:
                assert await client.submit(_increment, 23, key="found") == 24
            assert _keys(run) == {"found"}
            with pytest.raises(AsynchronousClient, match="async with"), record(client=client):
                pass
            with pytest.raises(TypeError, match="async with"), record():
                pass

    asyncio.run(work())
    assert _keys(dask_insight.open(path)) == {"async"}


def _asynchronous_cluster() -> LocalCluster:
    return _cluster(threads_per_worker=1, processes=False, asynchronous=True)


def test_a_plain_block_says_what_it_cannot_wait_for_of_a_client_that_came_in_it(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"

    async def work() -> None:
        async with _asynchronous_cluster() as cluster:
            session = record(path)
            session.start()
            async with Client(cluster, asynchronous=True) as client:
                await client.submit(_increment, 1)
                with pytest.warns(RuntimeWarning, match=rf"{client.id} .*stop_async"):
                    session.stop()

    asyncio.run(work())
    events = dask_insight.open(path).events
    assert events["message"][events["kind"] == "lost"].str.contains("stop_async").any()


def test_an_end_that_is_cancelled_in_every_turn_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"

    async def work(worked: asyncio.Event) -> None:
        async with _asynchronous_cluster() as cluster, Client(cluster, asynchronous=True) as client:

            async def recorded() -> None:
                async with record(path, client=client):
                    await client.submit(_increment, 1, key="early")
                    worked.set()
                    await asyncio.Event().wait()

            task = asyncio.create_task(recorded())
            await worked.wait()
            # As a scope of anyio does.
            while not task.done():
                task.cancel()
                await asyncio.sleep(0)
            assert task.cancelled() and _plugins(client) == []

    asyncio.run(work(asyncio.Event()))
    wait_for(lambda: "stopped" in dask_insight.open(path).about, "the file is completed aside")
    assert _keys(dask_insight.open(path)) == {"early"}


def test_who_stops_what_another_thread_ends_waits_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, finishing, go_on = tmp_path / "run.dinsight", threading.Event(), threading.Event()
    finish = Target.finish

    def slow(target: Target, recording: Recording) -> None:
        finishing.set()
        assert go_on.wait(PATIENCE)
        finish(target, recording)

    monkeypatch.setattr(Target, "finish", slow)
    session = record(path)
    session.start()
    first = threading.Thread(target=session.stop)
    second = threading.Thread(target=session.stop)
    first.start()
    assert finishing.wait(PATIENCE)
    second.start()
    second.join(0.1)
    assert second.is_alive()
    go_on.set()
    second.join(PATIENCE)
    assert not second.is_alive() and "stopped" in dask_insight.open(path).about
    first.join()


def test_where_no_thread_can_be_started_a_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("dask-insight"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with record(tmp_path / "run.dinsight", clusters=False):
        dask.delayed(_increment)(1).compute(scheduler="sync")
    run = dask_insight.open(tmp_path / "run.dinsight")
    assert len(run.tasks) == 1
    assert run.events["message"].str.contains("source code .*can't start new thread").any()


def test_synchronous_clients_in_async_with(client: Client) -> None:
    async def work() -> Recording:
        async with record(client=client) as run:
            await asyncio.to_thread(lambda: client.submit(_increment, 24, key="sync in async").result())
        return run

    assert _keys(asyncio.run(work())) == {"sync in async"}


def test_a_refusing_cluster_is_an_error_if_it_is_the_only_one_and_a_warning_else(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask_insight.sources.cluster import ClusterSource

    async def refuse(self: ClusterSource, emit: Any) -> None:
        raise RuntimeError("plugins are not welcome here")

    monkeypatch.setattr(ClusterSource, "start", refuse)
    with pytest.raises(RuntimeError, match="not welcome"), record(client=client):
        pass
    with pytest.raises(RuntimeError, match="not welcome"), record():
        pass
    session = record()
    with Client(client.scheduler.address, set_as_default=False):
        with pytest.warns(RuntimeWarning, match="not welcome"):
            session.start()
        session.stop()
    lost = session.recording.events
    assert lost["kind"].tolist() == ["lost"] * 2 and "not welcome" in lost["message"][0]


def test_a_source_that_does_not_stop_costs_bounded_time(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask_insight.sources.cluster import ClusterSource

    stop = ClusterSource.stop

    async def hang(self: ClusterSource) -> None:
        await stop(self)
        await asyncio.sleep(3600)

    monkeypatch.setattr(ClusterSource, "stop", hang)
    session = record(client=client, stop_timeout=0.5)
    session.start()
    begun = time.monotonic()
    session.stop()
    assert time.monotonic() - begun < 10
    assert "did not end" in " ".join(session.recording.events["message"])


def test_the_file_gets_smaller_when_the_recording_ends(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    session = record(path, local=False, client=None)
    run = session.start()
    start = 1.75e9
    for i in range(300):
        task = np.arange(i * 10, i * 10 + 10)
        keys = [f"('x-0123456789abcdef', {number})" for number in task]
        run.append(encode("graph", {"task": task, "key": keys}))
        run.append(
            encode("attempts", {"run": task, "task": task, "start": start + task, "stop": start + task + 1})
        )
    growing = sum(map(len, run.batches()))
    session.stop()
    assert path.stat().st_size < growing / 10
    assert len(dask_insight.open(path).tasks) == 3000
    assert [each.name for each in tmp_path.iterdir()] == ["run.dinsight"]


@pytest.mark.parametrize(
    ("given", "name", "seconds"),
    [
        ({"resources": "1s"}, "resources", 1.0),
        ({"resources": 0.5}, "resources", 0.5),
        ({"profile": "20ms"}, "profile_interval", 0.02),
        ({"poll": "1 minute"}, "poll", 60.0),
        ({"profile": False}, "profile", False),
        ({"profile_budget": 0.1}, "profile_budget", 0.1),
    ],
)
def test_durations_as_dask_writes_them(given: dict[str, Any], name: str, seconds: float) -> None:
    options = options_of(given.pop("profile", True), given.pop("resources", "200ms"), given)
    assert getattr(options, name) == seconds


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"resources": "often"}, ValueError, "resources='often' is no duration"),
        ({"poll": -1}, ValueError, "poll=-1"),
        ({"profile": None}, ValueError, "profile=None is no duration.*; profile=False takes no stacks"),
        ({"profile": 0}, ValueError, "profile=0 .*; profile=False takes no stacks"),
        ({"profile_interval": 0}, ValueError, "profile_interval=0"),
        ({"resources": None}, ValueError, "is no duration"),
        ({"profile_budget": 0}, ValueError, "profile=False takes no stacks"),
        ({"profile_budget": 2}, ValueError, "profile_budget=2"),
        ({"profil": True}, TypeError, "no option profil; there are profile"),
        ({"cluster": 1}, TypeError, "no option cluster; there are .*, path, client, name, local, clusters$"),
        ({"profile_budget": "2%"}, TypeError, "profile_budget='2%' is no number; give a share of a core"),
        ({"ring": "x"}, TypeError, "ring='x' is no number"),
        ({"ring": 1.5}, ValueError, "ring=1.5 must be a whole number"),
        ({"source": "no"}, TypeError, "source='no' must be True or False"),
        ({"client": "tcp://192.0.2.1:1"}, TypeError, "give a distributed.Client, e.g. Client"),
    ],
)
def test_wrong_options_are_named(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        record(**given)


def test_what_is_named_beside_options_is_all_that_a_recording_takes() -> None:
    taken = {*inspect.signature(record).parameters}
    assert taken == {*BESIDE, "profile", "resources", "options"}


def test_an_unwritable_file_is_an_error_before_anything_begins(client: Client, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), record(tmp_path / "no" / "such" / "folder" / "run.dinsight"):
        pass
    assert _plugins(client) == []


def test_a_file_is_kept_when_the_recording_cannot_begin(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask_insight.sources.cluster import ClusterSource

    with record(tmp_path / "old.dinsight"):
        client.submit(_increment, 25, key="precious").result()

    async def refuse(self: ClusterSource, emit: Any) -> None:
        raise RuntimeError("plugins are not welcome here")

    monkeypatch.setattr(ClusterSource, "start", refuse)
    for name in ("old.dinsight", "new.dinsight"):
        with pytest.raises(RuntimeError, match="not welcome"), record(tmp_path / name, client=client):
            pass
    assert _keys(dask_insight.open(tmp_path / "old.dinsight")) == {"precious"}
    assert [each.name for each in tmp_path.iterdir()] == ["old.dinsight"]


def test_a_program_that_goes_to_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with record("run.dinsight", clusters=False):
        monkeypatch.chdir("elsewhere")
        dask.delayed(_increment)(1).compute(scheduler="sync")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert len(dask_insight.open(tmp_path / "run.dinsight").tasks) == 1


def test_what_is_saved_to_its_own_file_is_up_to_date_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dask_insight.session.target.PACK_BYTES", 0)
    path = tmp_path / "run.dinsight"
    with record(path, clusters=False) as run:
        dask.delayed(_increment)(1, dask_key_name="first").compute(scheduler="sync")
        run.save(path)
        assert _keys(dask_insight.open(path)) == {"first"}
        dask.delayed(_increment)(1, dask_key_name="second").compute(scheduler="sync")
        run.save(path)
        assert _keys(dask_insight.open(path)) == {"first", "second"}
    assert "stopped" in dask_insight.open(path).about


def test_a_file_that_another_has_replaced_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dask_insight.session.target.PACK_BYTES", 0)
    path = tmp_path / "run.dinsight"
    with record(path, clusters=False):
        Recording().save(path)
        dask.delayed(_increment)(1, dask_key_name="late").compute(scheduler="sync")
    assert _keys(dask_insight.open(path)) == {"late"}


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no locks")
def test_of_two_recordings_to_a_file_the_last_keeps_others_from_it(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    first, second = (record(path, clusters=False) for _ in range(2))
    first.start()
    with pytest.warns(RuntimeWarning, match="another recording writes to"):
        second.start()
    first.stop()
    with pytest.raises(OSError, match="another process records to it"):
        claim(path)
    second.stop()
    claim(path)()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_was_forked_off_takes_no_file_of_the_other(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    reading, writing = os.pipe()
    with record(path, clusters=False):
        child = os.fork()
        if child == 0:
            try:
                record(path, clusters=False).start()
            except OSError as error:
                os.write(writing, str(error).encode())
            finally:
                os._exit(0)
        os.close(writing)
        assert b"another process records to it" in os.read(reading, 1_000)
        os.waitpid(child, 0)
    os.close(reading)


def test_a_disk_that_is_full_is_told_to_who_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "run.dinsight"
    with record(path, clusters=False) as run, monkeypatch.context() as patched:
        patched.setattr("dask_insight.frames.Writer.put", full)
        dask.delayed(_increment)(1).compute(scheduler="sync")
        with pytest.raises(OSError, match="No space left"):
            run.save(path)


def test_the_home_folder_may_be_written_as_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    with record("~/run.dinsight", clusters=False) as run:
        pass
    assert "stopped" in dask_insight.open("~/run.dinsight").about
    run.save(Path("~", "again.dinsight"))
    assert run.report("~/page.html") == home / "page.html"
    assert run.export("~/run.json") == home / "run.json"
    assert writable("~/other.dinsight") == home / "other.dinsight"
    assert {each.name for each in home.iterdir()} == {
        "run.dinsight",
        "again.dinsight",
        "page.html",
        "run.json",
    }
    assert [each.name for each in tmp_path.iterdir()] == ["home"]


@pytest.mark.parametrize("small", [True, False])
def test_a_file_that_is_removed_is_written_anew_or_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if not small:
        monkeypatch.setattr("dask_insight.session.target.PACK_BYTES", 0)
    with record("kept.dinsight", clusters=False):
        Path("kept.dinsight").unlink()
    assert "stopped" in dask_insight.open("kept.dinsight").about
    Path("out").mkdir()
    told = r"out/run\.dinsight has gone and could not be written anew: .*; the recording's `save`"
    with pytest.warns(IncompleteFile, match=told), record(Path("out", "run.dinsight"), clusters=False):
        shutil.rmtree("out")


def test_what_somebody_saved_to_the_file_of_a_session_that_never_begins_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    for saved in (False, True):
        target = Target(path, path)
        if saved:
            Recording().save(path)
        target.finish(Recording())
        assert path.exists() == saved


@pytest.mark.skipif(sys.platform == "win32", reason="nobody takes the place of a file that is open there")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_large_recordings_to_one_file_that_which_ends_last_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[int, int]
) -> None:
    monkeypatch.setattr("dask_insight.session.target.PACK_BYTES", 0)
    path = tmp_path / "run.dinsight"
    begun: list[tuple[Target, Recording]] = []
    with pytest.warns(RuntimeWarning, match="the one that ends last replaces the other"):
        for name in ("first", "second"):
            target, recording = Target(path, path), Recording()
            target.begin(recording)
            begun.append((target, recording))
            for _, each in begun:
                each.append(encode("about", {"name": [name], "value": ['"' + "x" * 2**18 + '"']}))
    for number in order:
        target, recording = begun[number]
        target.finish(recording)
    kept = dask_insight.open(path)
    assert not kept.gaps
    assert kept.about.keys() == recording.about.keys()
    claim(path)()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is open")
def test_nothing_of_ours_is_open_where_a_packed_file_takes_the_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"
    take = os.replace
    seen: list[str] = []

    def look(written: Path, target: Path) -> None:
        seen.extend(os.path.realpath(each) for each in Path("/proc/self/fd").iterdir())
        assert str(target) == str(path) and str(path) not in seen
        take(written, target)

    with record(path, clusters=False):
        monkeypatch.setattr("dask_insight.frames.place.os.replace", look)
    assert seen and "stopped" in dask_insight.open(path).about


def test_a_share_that_loses_the_file_as_the_packed_one_takes_its_place_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(written: Path, target: Path) -> None:
        Path(target).unlink(missing_ok=True)
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    told = r"run\.dinsight has gone and could not be written anew: No such file .*, though it is whole in"
    with pytest.warns(IncompleteFile, match=told), record(tmp_path / "run.dinsight", clusters=False):
        monkeypatch.setattr("dask_insight.frames.place.os.replace", lose)
    [kept] = tmp_path.iterdir()
    assert "stopped" in dask_insight.open(kept).about


@pytest.mark.parametrize("gone", [False, True])
def test_too_little_memory_to_pack_a_file_leaves_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    def full(*_: Any) -> None:
        raise MemoryError

    path = tmp_path / "run.dinsight"
    monkeypatch.setattr(Recording, "packed", full)
    with warnings.catch_warnings(record=True) as warned, record(path, clusters=False):
        warnings.simplefilter("always", IncompleteFile)
        if gone:
            path.unlink()
    assert ["too little memory" in str(each.message) for each in warned] == [True] * gone
    assert gone or "stopped" in dask_insight.open(path).about


def test_a_disk_that_keeps_no_packed_file_leaves_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    path = tmp_path / "run.dinsight"
    with record(path, clusters=False):
        inode = path.stat().st_ino
        dask.delayed(_increment)(1).compute(scheduler="sync")
        monkeypatch.setattr(os, "fsync", refuse)
    run = dask_insight.open(path)
    assert path.stat().st_ino == inode
    assert (len(run.tasks), "stopped" in run.about, run.gaps) == (1, True, [])


def test_a_second_recording_to_one_file_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    warned = pytest.warns(RuntimeWarning, match="the one that ends last replaces the other")
    with record(path, clusters=False), warned, record(path, clusters=False):
        pass
    with warnings.catch_warnings(), record(path, clusters=False):
        warnings.simplefilter("error")


def test_what_is_asked_of_a_session_is_said_to_be_the_recordings() -> None:
    session = record(clusters=False, name="mine")
    assert repr(session) == "<Session 'mine': not begun>"
    cure = r"say session.recording.summary, or `with .*` and run.summary"
    with pytest.raises(AttributeError, match=cure):
        session.summary  # type: ignore[attr-defined]  # noqa: B018
    session.start()
    assert repr(session) == "<Session 'mine': records>"
    with pytest.raises(AttributeError, match=cure):
        session.summary  # type: ignore[attr-defined]  # noqa: B018
    session.stop()
    assert repr(session) == "<Session 'mine': ended>"
    with pytest.raises(AttributeError, match=cure):
        session.summary  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(session, "no such attribute")


@pytest.mark.parametrize("ask", ["record", "save", "report", "export", "open"])
def test_urls_are_refused_in_words(ask: str) -> None:
    on_a_recording = {"save": Recording().save, "report": Recording().report, "export": Recording().export}
    asked = on_a_recording.get(ask) or getattr(dask_insight, ask)
    with pytest.raises(ValueError, match="is a URL: name a file here"):
        asked("memory://run.dinsight")


def test_a_client_in_the_place_of_a_path_is_told_where_it_belongs(client: Client) -> None:
    for given in (client, client.cluster):
        with pytest.raises(TypeError, match=r"is no path: .* write record\(client=…\)"):
            record(given)


def test_a_client_that_is_closed_is_said_to_be() -> None:
    with _cluster(processes=False) as cluster:
        with Client(cluster) as client:
            pass
        with pytest.raises(RuntimeError, match=f"{client.id} is closed; make a new Client"):
            record(client=client).start()


def test_a_client_that_was_not_awaited_is_said_to_be(tmp_path: Path, run_async: Any) -> None:
    async def main() -> None:
        client = Client(scheduler_file=str(tmp_path / "not yet.json"), asynchronous=True)
        with pytest.raises(RuntimeError, match=f"{client.id} has not connected yet; `await` it first"):
            await record(client=client).start_async()
        await client.close()

    run_async(main())


def test_what_record_gives_is_a_session() -> None:
    assert isinstance(dask_insight.record(), Session)


@pytest.mark.parametrize("moment", ["register", "join"])
def test_a_start_that_is_cancelled_leaves_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    from dask_insight.sources.cluster import ClusterSource

    begun = asyncio.Event()

    async def cancelled() -> None:
        await begun.wait()
        await asyncio.sleep(0)
        starting.cancel()

    original = ClusterSource._call if moment == "join" else ClusterSource._register

    def tell(self: ClusterSource, *arguments: Any, **facts: Any) -> Any:
        loop.call_soon_threadsafe(begun.set)
        return original(self, *arguments, **facts)

    monkeypatch.setattr(ClusterSource, original.__name__, tell)

    async def main() -> None:
        nonlocal starting, loop
        loop = asyncio.get_running_loop()
        session = record()
        starting = asyncio.create_task(session.start_async())
        await asyncio.gather(cancelled(), starting, return_exceptions=True)
        assert starting.cancelled()

    starting: asyncio.Task[Any] = None  # type: ignore[assignment]
    loop: asyncio.AbstractEventLoop = None  # type: ignore[assignment]
    asyncio.run(main())
    wait_for(lambda: _plugins(client) == [] and not _ours(client), "it was taken back")


def test_a_start_that_is_cancelled_when_the_session_has_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    from dask_insight.sources.cluster import ClusterSource

    async def main() -> None:
        begun = asyncio.Event()

        async def begin(source: ClusterSource, emit: Any) -> None:
            begun.set()
            await asyncio.Event().wait()

        async def end(source: ClusterSource) -> None:
            pass

        monkeypatch.setattr(ClusterSource, "start", begin)
        monkeypatch.setattr(ClusterSource, "stop", end)
        recording = Recording()
        clusters = Clusters(Options(), recording.identity, recording.append)
        starting = asyncio.create_task(clusters.follow(client))
        await begun.wait()
        await clusters.end_async()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    run_async(main())


@pytest.mark.parametrize("refusing", [1, 2])
def test_another_client_takes_over_where_one_cannot(monkeypatch: pytest.MonkeyPatch, refusing: int) -> None:
    from dask_insight.sources.cluster import ClusterSource

    start = ClusterSource.start

    async def refuse(source: ClusterSource, emit: Any) -> None:
        if source._client in others[:refusing]:
            raise RuntimeError("not this one")
        await start(source, emit)

    with _cluster(processes=False) as cluster, Client(cluster) as first, record(client=first) as run:
        others = [Client(cluster, set_as_default=False) for _ in range(2)]
        clusters = Clusters(Options(), run.identity, run.append)
        for each in (first, *others):
            each.sync(clusters.follow, each)
        monkeypatch.setattr(ClusterSource, "start", refuse)
        first.sync(clusters.leave, first)
        if refusing == 1:
            wait_for(lambda: clusters.recorded() == others[1:], "the one that can")
        told = wait_for(lambda: refusing == 1 or _lost(run), "that nobody can")
        assert told is True or ("nobody goes on to record" in told[0] and "not this one" in told[0])
        clusters.end()
        for each in others:
            each.close()


def test_another_client_that_came_meanwhile_takes_over_where_the_first_cannot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dask_insight.sources.cluster import ClusterSource

    start, begun, gate = ClusterSource.start, threading.Event(), threading.Event()

    async def fail(source: ClusterSource, emit: Any) -> None:
        if source._client is not first:
            await start(source, emit)
            return
        begun.set()
        await asyncio.to_thread(gate.wait, 60)
        raise OSError("its connection broke")

    monkeypatch.setattr(ClusterSource, "start", fail)
    recording = Recording()
    clusters = Clusters(Options(), recording.identity, recording.append)
    with (
        _cluster(processes=False) as cluster,
        Client(cluster) as first,
        Client(cluster, set_as_default=False) as second,
    ):
        failing = asyncio.run_coroutine_threadsafe(clusters.follow(first), first.loop.asyncio_loop)
        assert begun.wait(60)
        second.sync(clusters.follow, second)
        assert clusters.recorded() == [first]
        gate.set()
        with pytest.raises(OSError, match="its connection broke"):
            failing.result(60)
        wait_for(lambda: clusters.recorded() == [second], "the other one takes over")
        clusters.end()
    assert not _lost(recording)


def test_where_another_client_goes_on_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.sources.cluster import ClusterSource

    start, failed, session = ClusterSource.start, list[Any](), record(local=False)

    async def fail(source: ClusterSource, emit: Any) -> None:
        if failed or source._client not in clients:
            await start(source, emit)
            return
        failed.append(source._client)
        assert session._clusters is not None
        spare = session._clusters._spare
        await asyncio.to_thread(wait_for, lambda: len(spare) == 1, "another client of the cluster")
        raise OSError("its connection broke")

    monkeypatch.setattr(ClusterSource, "start", fail)
    with _cluster(processes=False) as cluster, Client(cluster) as first, Client(cluster) as second:
        clients = [first, second]
        with pytest.warns(
            RuntimeWarning, match="its connection broke; another client of its cluster goes on"
        ):
            run = session.start()
        clusters: Any = session._clusters
        wait_for(lambda: {*clusters.recorded()} & {*clients}, "that one")
        assert second.submit(_increment, 1, key="recorded").result() == 2
        session.stop()
    assert "recorded" in _keys(run)
    assert [message for message in _lost(run) if "another client of its cluster goes on" in message]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_session_that_ends_while_a_client_closes_waits_for_what_that_one_fetches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asynchronous: bool
) -> None:
    from dask_insight.session import clusters as module
    from dask_insight.sources.cluster import ClusterSource

    fetch, left = ClusterSource._fetch, module._left
    fetching, waited_for = threading.Event(), threading.Event()

    async def slow(source: ClusterSource, begun: float) -> None:
        fetching.set()
        await asyncio.to_thread(waited_for.wait, 60)
        await fetch(source, begun)

    def seen(*of: Any) -> float:
        waited_for.set()
        return left(*of)

    monkeypatch.setattr(ClusterSource, "_fetch", slow)
    monkeypatch.setattr(module, "_left", seen)
    path = tmp_path / "run.dinsight"
    with _cluster(processes=False) as cluster:
        client = Client(cluster)
        session = record(path, client=client, local=False, poll=60)
        session.start()
        client.gather(client.map(_increment, range(20)))
        closing = threading.Thread(target=client.close)
        closing.start()
        assert fetching.wait(60)
        if asynchronous:
            asyncio.run(session.stop_async())
        else:
            session.stop()
        waited_for.set()
        closing.join(60)
    recording = dask_insight.open(path)
    assert len(recording.tasks) == 20 and not _lost(recording)


def _lost(run: Recording) -> list[str]:
    events = run.events
    return list(events["message"][events["kind"] == "lost"])


def test_a_client_whose_part_cannot_end_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.sources.cluster import ClusterSource

    stop = ClusterSource.stop

    async def late(source: ClusterSource) -> None:
        await stop(source)
        raise TimeoutError

    with _cluster(processes=False) as cluster:
        first = Client(cluster)
        with record() as run, Client(cluster, set_as_default=False) as second:
            with monkeypatch.context() as patch:
                patch.setattr(ClusterSource, "stop", late)
                first.close()
            second.submit(_increment, 17, key="second").result()
    assert "second" in _keys(run)
    assert any("did not end its part" in told for told in _lost(run))


def test_a_client_that_closes_does_not_wait_for_one_that_is_slow_to_take_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dask_insight.sources.cluster import ClusterSource

    monkeypatch.setattr("dask_insight.session.clusters._HANDOVER", 0.01)
    start, gate = ClusterSource.start, threading.Event()

    async def slow(source: ClusterSource, emit: Any) -> None:
        await asyncio.to_thread(gate.wait, 60)
        await start(source, emit)

    with _cluster(processes=False) as cluster:
        first = Client(cluster, timeout=3)
        with record() as run, Client(cluster, set_as_default=False) as second:
            monkeypatch.setattr(ClusterSource, "start", slow)
            first.close()
            assert first.status == "closed"
            gate.set()
            wait_for(lambda: run.workers["left"].isna().any(), "it takes over")
            second.submit(_increment, 17, key="second").result()
    assert "second" in _keys(run)


def test_nothing_begins_once_all_has_ended(client: Client) -> None:
    recording = Recording()
    clusters = Clusters(Options(), recording.identity, recording.append)
    clusters.end()
    client.sync(clusters.follow, client)
    assert not clusters.recorded() and _plugins(client) == []


@pytest.mark.parametrize("replaced", [True, False])
def test_a_client_whose_event_loop_has_ended_is_left_behind(replaced: bool) -> None:
    def ours() -> list[str]:
        return [one.name for one in threading.enumerate() if "insight" in one.name]

    async def forget() -> None:
        kept.append(await Client(cluster.scheduler_address, asynchronous=True, set_as_default=False))

    kept: list[Client] = []
    before = ours()
    with _cluster() as cluster, record(local=False) as run:
        asyncio.run(forget())
        assert ours() != before
        if replaced:
            with Client(cluster, set_as_default=False) as second:
                second.submit(_increment, 26, key="second").result()
    assert _keys(run) == ({"second"} if replaced else set())
    assert [told for told in _lost(run) if kept[0].id in told and "its event loop has ended" in told]
    assert ours() == before
    # It could not be closed.
    kept[0].status = "closed"


@pytest.mark.parametrize("ahead", [20.0, -20.0])
def test_a_recorder_whose_clock_is_wrong_tells_all_by_the_schedulers(
    client: Client, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    # What is imported meanwhile would keep it.
    import_module("dask_insight.sources.cluster")
    right = clock.time
    for name, module in list(sys.modules.items()):
        if name.startswith("dask_insight.") and vars(module).get("time") is right and module is not clock:
            monkeypatch.setattr(module, "time", lambda: right() + ahead)
    began = right()
    with record(client=client, poll=0.1) as run:
        client.gather(client.map(_increment, range(10), pure=False))
        last = client.submit(time.sleep, 6, pure=False)
        wait_for(lambda: len(run.columns("running")["run"]), "it runs")
    ended = right()
    columns: dict[str, Any] = {name: run.columns(name) for name in ("attempts", "resources")}
    assert began - 1 < run.about["started"] < began + 1 and run.started > began - 15
    assert columns["attempts"]["done"].max() < run.about["stopped"] < ended + 1
    assert columns["resources"]["time"].max() < ended + 1
    last.cancel()


def test_the_time_is_that_of_a_cluster_which_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.sources.cluster import ClusterSource

    async def start(source: ClusterSource, emit: Any) -> None:
        now = clock.time()
        source.offset.trip(now, now - ahead[source._client], now)

    async def stop(source: ClusterSource) -> None:
        ending.append(clusters.ahead)

    for work in (start, stop):
        monkeypatch.setattr(ClusterSource, work.__name__, work)
    monkeypatch.setattr(ClusterSource, "unfollowed", lambda source: None)
    begun: list[float] = []
    ending: list[float] = []
    with (
        _cluster(processes=False) as one,
        _cluster(processes=False) as two,
        Client(one) as first,
        Client(one, set_as_default=False) as beside,
        Client(two, set_as_default=False) as second,
    ):
        clusters = Clusters(
            Options(), Recording().identity, lambda batch: None, clocked=lambda: begun.append(clusters.ahead)
        )
        ahead = {first: 20.0, beside: 20.0, second: 10.0}
        for each in (first, beside, second):
            each.sync(clusters.follow, each)
        assert clusters.ahead == pytest.approx(20, abs=0.1)
        first.sync(clusters.leave, first)
        assert clusters.recorded() == [second, beside]
        assert [*ending, clusters.ahead] == pytest.approx([20, 20], abs=0.1), "its cluster still is"
        beside.sync(clusters.leave, beside)
        assert clusters.ahead == pytest.approx(10, abs=0.1)
        second.sync(clusters.leave, second)
        assert clusters.ahead == pytest.approx(10, abs=0.1), "all that there is was told by it"
        ahead[first] = 30.0
        first.sync(clusters.follow, first)
        assert clusters.ahead == pytest.approx(30, abs=0.1)
        clusters.end()
    assert begun == pytest.approx([20.0], abs=0.1)


def test_an_end_that_fails_before_it_gave_anything_up_can_be_tried_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = record(client=client)
    session.start()
    with monkeypatch.context() as failing:
        failing.setattr(Clusters, "now", lambda clusters: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            session.stop()
    assert _plugins(client)
    session.stop()
    assert _plugins(client) == []


def test_the_cells_of_a_recorder_whose_clock_is_wrong_lie_over_their_tasks() -> None:
    told: list[bytes] = []
    noted = _Noted(told.append, True, lambda: 20.0)
    noted.cell(1, "a", "x.compute()", 120.0, 125.0, "ok")
    cells: Any = decode(told[0]).columns
    assert (cells["start"].tolist(), cells["stop"].tolist()) == ([100.0], [105.0])


def test_with_two_clusters_this_process_is_sampled_once() -> None:
    def sampled() -> float:
        """Until when the resources of this process are known."""
        columns: Any = run.columns("resources")
        mine = np.array(columns["process"].tolist()) == "client"
        return float(columns["time"][mine].max(initial=0.0))

    with (
        _cluster(processes=False) as one,
        _cluster(processes=False) as two,
        Client(one) as first,
        record(local=False, poll=0.1) as run,
    ):
        begun = time.time()
        with Client(two, set_as_default=False):
            wait_for(lambda: sampled() > begun + 1.5, "one samples it")
            first.close()
            left = time.time()
            wait_for(lambda: sampled() > left + 1.5, "the other one goes on")
    samples: Any = run.columns("samples")
    places = list(zip(samples["process"].tolist(), samples["thread"].tolist(), strict=True))
    main = np.array([place == ("client", "main") for place in places])
    stops, seconds = samples["time"][main], samples["duration"][main]
    starts, stops = np.sort(stops - seconds), np.sort(stops)
    assert (starts[1:] > stops[:-1] - 0.05).all(), "nothing of it is sampled twice"
    assert seconds.sum() > 0.7 * (stops[-1] - starts[0])
    assert ("client", "event loop") in places or ("scheduler", "event loop") in places


def test_clients_that_do_not_answer_are_waited_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    # One after the other they would take minutes.
    silent = [SimpleNamespace(id=f"client-{number}", loop=None) for number in range(200)]
    monkeypatch.setattr(Clusters, "_submit", staticmethod(lambda client, work: Future()))
    monkeypatch.setattr(Session, "_clients", lambda session: silent)
    monkeypatch.setattr("dask_insight.session.clusters._START_TIMEOUT", 1.0)
    session = record(local=False)
    begun = time.monotonic()
    with pytest.warns(RuntimeWarning, match="did not answer within 1 s") as warned:
        session.start()
    assert time.monotonic() - begun < PATIENCE
    assert len([each for each in warned if "did not answer" in str(each.message)]) == len(silent)
    session.stop()


def test_an_interrupt_while_it_ends_leaves_nothing_that_watches() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    before = set(dask.callbacks.Callback.active), dask.config.get("distributed.client.preload", [])
    session = record()
    session.start()
    session._unask = interrupted
    with pytest.raises(KeyboardInterrupt):
        session.stop()
    assert (set(dask.callbacks.Callback.active), dask.config.get("distributed.client.preload", [])) == before
    assert "stopped" in session.recording.about


def test_an_interrupt_while_it_ends_leaves_none_behind_whose_event_loop_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupted:
        def result(self, timeout: float) -> None:
            raise KeyboardInterrupt

    left: list[str] = []
    answers = {"slow": Interrupted(), "ended": None}
    followed = {
        name: SimpleNamespace(
            client=SimpleNamespace(id=name, loop=None),
            source=SimpleNamespace(until=lambda begun: begun, leave_behind=partial(left.append, name)),
        )
        for name in answers
    }
    clusters = Clusters(Options(), Recording().identity, lambda batch: None)
    monkeypatch.setattr(clusters, "_followed", followed)
    monkeypatch.setattr(Clusters, "_submit", staticmethod(lambda client, work: answers[client.id]))
    with pytest.raises(KeyboardInterrupt):
        clusters.end()
    assert left == ["ended"]


def _ours(client: Client) -> list[str]:
    """Calls and worker plugins of ours on the scheduler."""
    scheduler = client.cluster.scheduler
    return [name for name in (*scheduler.handlers, *scheduler.worker_plugins) if "insight" in name]


def test_what_is_interrupted_while_it_ends_is_complete_and_says_so(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = record(tmp_path / "run.dinsight")
    session.start()
    dask.delayed(_increment)(1).compute(scheduler="sync")

    submit = Clusters._submit

    class Interrupted:
        def result(self, timeout: float) -> None:
            raise KeyboardInterrupt

    def interrupted(client: Client, work: Any) -> Any:
        return submit(client, work) and Interrupted()

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Clusters, "_submit", staticmethod(interrupted))
        session.stop()
    recording = dask_insight.open(tmp_path / "run.dinsight")
    assert "stopped" in recording.about and (recording.tasks["status"] == "ok").sum() == 1
    lost = recording.events[recording.events["kind"] == "lost"]["message"]
    assert any("KeyboardInterrupt" in message for message in lost)
    wait_for(lambda: _plugins(client) == [] and not _ours(client), "the cluster's part ended too")


UNSTOPPED = """
import sys

if __name__ == "__main__":
    if sys.argv[2] == "distributed first":
        import distributed
    import dask_insight

    dask_insight.record(sys.argv[1]).start()
    from distributed import Client

    client = Client(n_workers=1, threads_per_worker=1, dashboard_address=None)
    client.gather(client.map(abs, range(100)))
"""


@pytest.mark.parametrize("order", ["distributed first", "distributed later"])
def test_a_program_that_ends_without_stopping(order: str, tmp_path: Path) -> None:
    (tmp_path / "unstopped.py").write_text(UNSTOPPED)
    path = tmp_path / "run.dinsight"
    subprocess.run([sys.executable, tmp_path / "unstopped.py", path, order], check=True, timeout=60)
    recording = dask_insight.open(path)
    assert len(recording.tasks) == 100 and recording.tasks["cpu"].notna().all()
    assert "lost" not in set(recording.events["kind"])


UNSTOPPED_IN_MEMORY = """
import atexit
import threading

def left():
    print([one.name for one in threading.enumerate() if "insight" in one.name])

if __name__ == "__main__":
    # What is registered first runs last.
    atexit.register(left)
    import dask
    import distributed
    import dask_insight
    from dask_insight.session.live import Live

    {session}.start()
    client = distributed.Client(n_workers=1, processes=False, dashboard_address=":0")
    client.submit(abs, -1).result()
    dask.delayed(abs)(-1).compute(scheduler="threads")
    assert {{"dask-insight-local", "dask_insight-sampler"}} <= {{one.name for one in threading.enumerate()}}
"""


@pytest.mark.parametrize("session", ["dask_insight.record()", "Live()"])
def test_no_thread_of_ours_runs_as_the_interpreter_ends(session: str, tmp_path: Path) -> None:
    (tmp_path / "unstopped.py").write_text(UNSTOPPED_IN_MEMORY.format(session=session))
    command = [sys.executable, tmp_path / "unstopped.py"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr


UNGUARDED = """
import sys
import dask_insight
from distributed import Client

with dask_insight.record(sys.argv[1]):
    Client(n_workers=1, threads_per_worker=1, dashboard_address=None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no locks")
def test_a_script_that_its_own_workers_begin_anew_is_told_the_cure(tmp_path: Path) -> None:
    (tmp_path / "unguarded.py").write_text(UNGUARDED)
    command = [sys.executable, "unguarded.py", "run.dinsight"]
    told = ""
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as script:
        late = threading.Timer(PATIENCE, os.killpg, (script.pid, signal.SIGKILL))
        late.start()
        try:
            # Nannies of old versions of Dask begin such workers anew for ever.
            for line in script.stderr:
                told += line
                if "RuntimeError: this process" in line:
                    break
        finally:
            late.cancel()
            with suppress(ProcessLookupError):
                os.killpg(script.pid, signal.SIGKILL)
    assert "put what the script does under `if __name__ == '__main__':`" in told
    assert "name another file" not in told
