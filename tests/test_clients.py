"""Finding the clients of a process."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster, worker_client

from dask_insight.sources import clients
from dask_insight.sources.clients import existing_clients, look, watch_clients


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster:
        yield cluster


def connect(cluster: LocalCluster, **options: Any) -> Client:
    return Client(cluster, set_as_default=False, **options)


def test_existing_and_later_clients(cluster: LocalCluster) -> None:
    seen: list[tuple[str, str]] = []
    with connect(cluster) as first:
        stop = watch_clients(
            lambda client: seen.append(("came", client.id)), lambda client: seen.append(("goes", client.id))
        )
        assert seen == [("came", first.id)]
        with connect(cluster) as second:
            assert seen[1:] == [("came", second.id)]
        assert seen[2:] == [("goes", second.id)]
    assert seen[3:] == [("goes", first.id)]
    stop()
    with connect(cluster):
        assert len(seen) == 4


def test_a_client_that_connects_as_the_watch_begins(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting, gate = threading.Event(), threading.Event()
    finish = Client._ensure_connected

    async def late(client: Client, **options: Any) -> None:
        connecting.set()
        await asyncio.to_thread(gate.wait, 60)
        await finish(client, **options)

    monkeypatch.setattr(Client, "_ensure_connected", late)
    made: list[Client] = []
    making = threading.Thread(target=lambda: made.append(Client(cluster)))
    making.start()
    assert connecting.wait(60)
    seen: list[str] = []
    stop = watch_clients(lambda client: seen.append(client.id))
    gate.set()
    making.join(60)
    made[0].close()
    stop()
    assert seen == [made[0].id]


def test_a_new_client_waits_for_the_callback(cluster: LocalCluster) -> None:
    steps: list[str] = []

    async def come(client: Client) -> None:
        await asyncio.sleep(0.1)
        identity = await client.scheduler.identity()
        steps.append(identity["type"])

    async def go(client: Client) -> None:
        await client.scheduler.identity()
        steps.append("can still be used")

    stop = watch_clients(come, go)
    with connect(cluster):
        assert steps == ["Scheduler"]
    assert steps == ["Scheduler", "can still be used"]
    stop()


def test_asynchronous_clients(cluster: LocalCluster) -> None:
    seen: list[str] = []
    stop = watch_clients(lambda client: seen.append("came"), lambda client: seen.append("goes"))

    async def work() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True, set_as_default=False):
            assert seen == ["came"]

    asyncio.run(work())
    assert seen == ["came", "goes"]
    stop()


def test_clients_of_workers_are_left_out(cluster: LocalCluster) -> None:
    seen: list[str] = []
    stop = watch_clients(lambda client: seen.append(client.id))

    def within() -> int:
        with worker_client() as client:
            return len(existing_clients()) + int(client.submit(int, 0).result())

    with connect(cluster) as client:
        assert client.submit(within).result(30) >= 1
        assert seen == [client.id]
    stop()


def test_worker_clients_of_other_processes_work() -> None:
    """Worker processes inherit the configuration, and may not have this package."""
    stop = watch_clients(lambda client: None)

    def within() -> int:
        import sys

        sys.modules["dask_insight"] = None  # type: ignore[assignment]
        with worker_client() as client:
            return int(client.submit(int, 7, pure=False).result())

    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, connect(cluster) as client:
        assert client.submit(within).result(60) == 7
    stop()


def test_what_other_processes_inherit_needs_no_file() -> None:
    """Dask imports text through files: several threads that make a client at once fail at that."""
    stop = watch_clients(lambda client: None)
    try:
        for name in dask.config.get("distributed.client.preload"):
            told = "import importlib, sys; print(hasattr(importlib.import_module(sys.argv[1]), 'dask_setup'))"
            ended = subprocess.run([sys.executable, "-c", told, name], capture_output=True, text=True)
            assert ended.stdout.strip() == "False", ended.stderr
    finally:
        stop()


def test_watches_are_independent(cluster: LocalCluster) -> None:
    seen: list[str] = []
    stop_one = watch_clients(lambda client: seen.append("one"), lambda client: seen.append("one goes"))
    stop_two = watch_clients(lambda client: seen.append("two"), lambda client: seen.append("two goes"))
    with connect(cluster):
        stop_one()
        stop_one()
    with connect(cluster):
        pass
    stop_two()
    assert seen == ["one", "two", "two goes", "two", "two goes"]


def test_a_callback_that_fails_harms_nothing(cluster: LocalCluster, caplog: pytest.LogCaptureFixture) -> None:
    def broken(client: Client) -> None:
        raise RuntimeError("broken on purpose")

    with caplog.at_level(logging.ERROR, logger="dask_insight"):
        stop = watch_clients(broken, broken)
        with connect(cluster) as client:
            assert client.submit(int, 3, pure=False).result(30) == 3
        stop()
    assert caplog.text.count("broken on purpose") >= 2


def test_callbacks_do_not_wait_for_each_other(cluster: LocalCluster) -> None:
    steps: list[str] = []
    met = asyncio.Event()

    async def first(client: Client) -> None:
        await asyncio.wait_for(met.wait(), 10)
        steps.append("first")

    async def second(client: Client) -> None:
        met.set()
        steps.append("second")

    stops = [watch_clients(lambda client: None, closing) for closing in (first, second)]
    with connect(cluster):
        pass
    assert steps == ["second", "first"]
    for stop in stops:
        stop()


def test_clients_may_be_made_while_they_are_counted(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Growing:
        """Another thread adds one while the first look goes on."""

        looks = 0

        def __iter__(self) -> Iterator[Client]:
            self.looks += 1
            if self.looks == 1:
                raise RuntimeError("Set changed size during iteration")
            return iter([client])

    with connect(cluster) as client, monkeypatch.context() as patch:
        patch.setattr(Client, "_instances", Growing())
        assert existing_clients() == [client]


def test_a_dask_that_lists_its_clients_otherwise(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Client(cluster) as client, monkeypatch.context() as patch:
        patch.delattr(Client, "_instances")
        clients._say_unlisted.cache_clear()
        assert existing_clients() == existing_clients() == [client]
        assert caplog.text.count("does not list its clients") == 1
        patch.delattr("distributed.client._global_clients")
        assert existing_clients() == []


def test_configuration_is_put_back() -> None:
    with dask.config.set({"distributed.client.preload": ["json"]}):
        stop = watch_clients(lambda client: None)
        assert dask.config.get("distributed.client.preload")[0] == "json"
        assert len(dask.config.get("distributed.client.preload")) == 2
        stop()
        assert dask.config.get("distributed.client.preload") == ["json"]


def test_preloads_that_have_arguments_each(cluster: LocalCluster) -> None:
    seen: list[str] = []
    theirs = {"distributed.client.preload": ["json"], "distributed.client.preload-argv": [["--project", "x"]]}
    with dask.config.set(theirs):
        stop = watch_clients(lambda client: seen.append(client.id))
        with connect(cluster) as client:
            assert seen == [client.id]
        with dask.config.set({"distributed.client.preload": ["string"]}):
            look()
            connect(cluster).close()
        stop()
        assert {name: dask.config.get(name) for name in theirs} == theirs


def test_arguments_that_all_preloads_share_stay(cluster: LocalCluster) -> None:
    theirs = {"distributed.client.preload": "json", "distributed.client.preload-argv": ["--project", "x"]}
    with dask.config.set(theirs):
        stop = watch_clients(lambda client: None)
        with connect(cluster):
            assert dask.config.get("distributed.client.preload-argv") == ["--project", "x"]
        stop()


@pytest.mark.parametrize("another", [look, lambda: watch_clients(lambda client: None)()])
def test_clients_after_the_configuration_was_read_anew(
    cluster: LocalCluster, another: Callable[[], None]
) -> None:
    seen: list[tuple[str, str]] = []
    stop = watch_clients(
        lambda client: seen.append(("came", client.id)), lambda client: seen.append(("goes", client.id))
    )
    with dask.config.set({"distributed.client.preload": []}), connect(cluster) as hidden:
        assert seen == []
        another()
        with connect(cluster) as later:
            another()
            assert seen == [("came", hidden.id), ("came", later.id)]
    assert seen[2:] == [("goes", later.id), ("goes", hidden.id)]
    stop()


@pytest.mark.parametrize("preloads", [None, [], "os.path"])
def test_looking_bears_every_way_to_name_preloads(preloads: Any) -> None:
    stop = watch_clients(lambda client: None)
    try:
        with dask.config.set({"distributed.client.preload": preloads}):
            look()
            expected = [*([preloads] if preloads else []), "dask.callbacks"]
            assert dask.config.get("distributed.client.preload") == expected
    finally:
        stop()


@pytest.mark.parametrize(
    "section", [None, "no section", {"client": None}, {"client": {"preload": 5, "preload-argv": 5}}]
)
def test_sections_with_nothing_in_them_and_odd_preloads_are_as_empty(section: Any) -> None:
    """As of a file where all lines below a name are comments."""
    with dask.config.set({"distributed": section}):
        stop = watch_clients(lambda client: None)
        assert dask.config.get("distributed.client.preload") == ["dask.callbacks"]
        stop()
        assert dask.config.get("distributed.client.preload") == []


def test_looking_where_nobody_watches_changes_nothing() -> None:
    before = dask.config.get("distributed.client.preload")
    look()
    assert dask.config.get("distributed.client.preload") == before


def test_looking_while_another_thread_imports_dask_finds_nothing_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = watch_clients(lambda client: None)
    try:
        monkeypatch.setitem(sys.modules, "distributed.client", ModuleType("distributed.client"))
        look()
        assert existing_clients() == []
    finally:
        monkeypatch.undo()
        stop()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes can be forked off here")
def test_processes_that_were_forked_off_tell_nothing() -> None:
    code = """
import os, signal
from distributed import Client, LocalCluster
from dask_insight.sources.clients import look
from dask_insight.sources.cluster.callers import watch_all
options = {"n_workers": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0"}
with LocalCluster(**options) as cluster, Client(cluster) as client:
    told = []
    stop = watch_all(client, lambda keys, caller: told.append(keys))
    if not (child := os.fork()):
        signal.alarm(60)
        with Client(cluster.scheduler_address) as own:
            look()
            own.submit(int, 7).result()
            os._exit(len(told) + ("_send_to_scheduler" in vars(own)))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop()
"""
    options = {"capture_output": True, "text": True, "timeout": 120}
    ended = subprocess.run([sys.executable, "-c", code], **options)
    assert ended.stdout.strip() == "0", ended.stdout + ended.stderr


def test_before_distributed_is_imported() -> None:
    code = """
import sys
from dask_insight.sources.clients import watch_clients
seen = []
stop = watch_clients(lambda client: seen.append(client.status), lambda client: seen.append(client.status))
assert "distributed" not in sys.modules
from distributed import Client
with Client(n_workers=1, processes=False, dashboard_address=":0"):
    pass
stop()
import dask
assert dask.config.get("distributed.client.preload") == [], dask.config.get("distributed.client.preload")
print(seen)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "['running', 'closing']"
