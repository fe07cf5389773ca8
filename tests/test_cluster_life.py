"""How a recording of a cluster begins and ends, and what it survives."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import math
import os
import pickle
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from struct import calcsize
from types import SimpleNamespace
from typing import Any

import dask
import msgpack
import pytest
from conftest import PATIENCE, Batches, left_on, recorded, wait_for
from distributed import rejoin, secede, wait

import dask_insight
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.probe.actors import Actors
from dask_insight.probe.executions import Executions
from dask_insight.probe.placing import Placing, patience
from dask_insight.probe.readers import AIM, BYTES, LEAST, Reader, Stores
from dask_insight.probe.rows import packing
from dask_insight.probe.secede import LAYOUT
from dask_insight.probe.ship import SchedulerProbe, WorkerProbe, package
from dask_insight.probe.tasks import Tasks
from dask_insight.session import clusters as sessions
from dask_insight.session.clusters import Clusters
from dask_insight.sources.cluster import ClusterSource
from dask_insight.sources.cluster import source as sources
from dask_insight.sources.cluster.callers import Caller
from dask_insight.sources.cluster.submissions import Submissions


async def stand_still(seconds: float) -> None:
    """Keep an event loop from everything else."""
    time.sleep(seconds)


def increment(number: int) -> int:
    return number + 1


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_two_recorders_on_one_cluster(cluster: Any, client: Any) -> None:
    from distributed import Client

    with Client(cluster) as other, recorded(client) as first:
        client.gather(client.map(increment, range(10), key="alone", pure=False))
        kept = client.submit(increment, 1, key="kept", pure=False)
        kept.result()
        (probe,) = (
            each for name, each in cluster.scheduler.plugins.items() if name.startswith("dask_insight")
        )
        walk = probe._numbering
        with recorded(other) as second:
            assert probe._numbering is walk, "what is numbered is not walked through again"
            shared = other.map(increment, [kept] * 10, key="shared", pure=False)
            other.gather(shared)
        assert any(left_on(client).values()), "one of them still records"
        client.gather(client.map(increment, range(10), key="after", pure=False))
    assert not any(left_on(client).values())
    assert Counter(row["key"].split("-")[0] for row in first.attempts()) == {
        "alone": 10,
        "kept": 1,
        "shared": 10,
        "after": 10,
    }
    assert Counter(row["key"].split("-")[0] for row in second.attempts()) == {"shared": 10}
    assert "kept" in second.keys().values(), "tasks from before it came are told to the second as well"
    keys = second.keys()
    edges = Counter(keys[row["dependency"]] for row in second.table("edges"))
    assert edges["kept"] == 10
    for batches in (first, second):
        assert {row["run"] for row in batches.table("executions")} >= {
            row["run"] for row in batches.attempts("shared")
        }
        assert not batches.events("lost")


class Counts:
    """An actor."""

    def count(self) -> int:
        return 1


def apart(fail: bool) -> None:
    secede()
    rejoin()
    if fail:
        raise ZeroDivisionError


def test_two_probes_on_one_worker_that_know_nothing_of_each_other(run_async: Any) -> None:
    """As of two versions of the package, or one that comes while the other leaves."""
    from distributed import Client, Scheduler, Worker
    from distributed.diagnostics.plugin import WorkerPlugin

    class Follower(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            self.failures: list[Any] = []
            self.executions = Executions(worker, lambda: None, self.failed)
            self.actors = Actors(worker, self.failed)
            self.threads: list[int] = []
            self.executions.ended = lambda end: self.threads.append(end[4])

        def failed(self, *failure: Any) -> None:
            self.failures.append(failure)

        def transition(self, *arguments: Any, **facts: Any) -> None:
            self.executions.transition(*arguments, **facts)

        def told(self) -> tuple[list[int], int, float]:
            """Threads of attempts, how often they were away, calls of actors."""
            message, _ = self.executions.take(1000)
            assert not self.failures
            threads, self.threads = self.threads, []
            away = len(message.get("seceded", b"")) // calcsize(packing(LAYOUT))
            return threads, away, sum(row[-1] for row in self.actors.take() if row[3:5] == ("call", "count"))

        def teardown(self, worker: Any) -> None:
            self.executions.close()
            self.actors.close()

    async def main() -> None:
        async with (
            Scheduler(dashboard_address=":0", port=0) as scheduler,
            Worker(scheduler.address, nthreads=1) as worker,
            Client(scheduler.address, asynchronous=True) as client,
        ):
            pool = worker.executors["default"]

            def kinds() -> list[Any]:
                return [worker.handlers["actor_execute"], type(worker.threads), type(pool._threads)]

            async def work() -> None:
                for fail in (False, True):
                    await wait([client.submit(apart, fail, pure=False)])
                await actor.count()

            actor = await client.submit(Counts, actor=True, pure=False)
            before, first, second = kinds(), Follower(), Follower()
            await worker.plugin_add(first, "first")
            await worker.plugin_add(second, "second")
            await work()
            for each in (first, second):
                threads, away, calls = each.told()
                assert len(threads) == 2 and all(threads) and (away, calls) == (2, 1)
            await worker.plugin_remove("first")
            await work()
            threads, away, calls = second.told()
            assert len(threads) == 2 and all(threads) and (away, calls) == (2, 1)
            assert first.actors.take() == [], "it has no part in what comes later"
            await worker.plugin_remove("second")
            assert kinds() == before

    run_async(main())


def test_the_stronger_wish_counts(cluster: Any, client: Any) -> None:
    from distributed import Client

    with Client(cluster) as other, recorded(client, profile=False, resources=1.0) as first:
        client.submit(sleep, 0.3, pure=False).result()
        assert not [row for row in first.table("samples") if row["process"] not in ("client", "scheduler")]
        with recorded(other, profile=True, resources=0.1) as second:

            def sampled() -> bool:
                other.submit(sleep, 0.2, pure=False).result()
                return any(row["process"].startswith("tcp") for row in second.table("samples"))

            wait_for(sampled, "workers sample once one recorder wants it")


def test_who_wants_no_stacks_has_none_of_those_that_another_wants(cluster: Any, client: Any) -> None:
    from distributed import Client

    with Client(cluster) as other, recorded(client, profile=False) as without, recorded(other) as wanting:

        def sampled() -> bool:
            other.submit(sleep, 0.2, pure=False).result()
            return any(row["process"].startswith("tcp") for row in wanting.table("samples"))

        wait_for(sampled, "workers are sampled for the other")
    assert len(without.attempts("sleep")) > 0
    assert without.table("samples") == without.table("stacks") == []


def test_an_asynchronous_client(cluster: Any, client: Any, run_async: Any) -> None:
    from distributed import Client

    batches = Batches()

    async def main() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True) as asynchronous:
            source = ClusterSource(asynchronous, Options(poll=0.1), Identity())
            await source.start(batches)
            await asynchronous.gather(asynchronous.map(increment, range(20), key="async", pure=False))
            await source.stop()

    run_async(main())
    assert len(batches.attempts("async")) == 20
    assert batches.table("submissions")[0]["function"].endswith("main")
    assert not any(left_on(client).values())


def dies(source: ClusterSource, client: Any) -> None:
    """End what a recorder does without a word to the cluster."""
    client.loop.add_callback(source._following.cancel)
    source.leave_behind()


def test_a_recorder_that_dies_is_taken_off(cluster: Any, client: Any) -> None:
    from distributed import Client

    other = Client(cluster)
    source = ClusterSource(other, Options(poll=0.1), Identity())
    other.sync(source.start, Batches())
    assert any(left_on(client).values())
    # Its process ends without a word: its connections close.
    dies(source, other)
    other.close()
    wait_for(lambda: not any(left_on(client).values()), "everything of ours is gone")


def test_a_client_that_closes_waits_for_what_workers_are_slow_to_tell(client: Any) -> None:
    from distributed import Client

    closing = Client(client.scheduler.address, set_as_default=False)
    session = dask_insight.record(client=closing)
    run = session.start()
    closing.gather(closing.map(increment, range(20), key="slow-to-tell", pure=False))
    # The event loops of the workers stand still for longer than a look at the client takes.
    closing.run(stand_still, 1.5, wait=False)
    closing.close()
    session.stop()
    assert not run.events.query("kind == 'lost'").message.tolist()
    assert (run.tasks.query("prefix == 'slow-to-tell'").executing.notna()).sum() == 20


def test_a_probe_goes_once(client: Any) -> None:
    """A recorder leaves, and its client is found to be gone at the same moment."""

    async def twice(dask_scheduler: Any, name: str) -> None:
        probe = dask_scheduler.plugins[name]
        (recorder,) = probe._readers
        await asyncio.gather(probe.leave(recorder=recorder), probe.leave(recorder=recorder))

    source = ClusterSource(client, Options(poll=0.1), Identity())
    client.sync(source.start, Batches())
    dies(source, client)
    client.run_on_scheduler(twice, name=package())
    assert not any(left_on(client).values())
    said = [text for worker in client.get_worker_logs().values() for _, text in worker]
    assert not [text for text in said if "failed to teardown" in text and "dask_insight" in text]


def test_recordings_leave_no_memory_behind(client: Any) -> None:
    def shipped() -> int:
        """How often our modules are in memory, in use or not."""
        import gc

        gc.collect()
        types = [one for one in gc.get_objects() if isinstance(one, type) and one.__name__ == "Rows"]
        return sum(str(one.__module__).startswith("dask_insight_") for one in types)

    def everywhere() -> Counter[str]:
        return Counter({"scheduler": client.run_on_scheduler(shipped)} | client.run(shipped))

    # The scheduler stands in this process, where other tests' clusters were before.
    before = everywhere()
    for _ in range(8):
        with recorded(client):
            assert client.submit(increment, 1, pure=False).result() == 2
    # Each of Dask's connections holds what it called last until it calls something else.
    left = everywhere() - before
    assert all(number <= 3 for number in left.values()), left


def test_recordings_leave_no_topic_behind(client: Any) -> None:
    def topics(dask_scheduler: Any) -> list[str]:
        return [name for name in dask_scheduler._broker._topics if "insight" in name]

    # Recorders of other tests may have ended in ways of which the scheduler hears late, or never.
    before = set(client.run_on_scheduler(topics))
    with recorded(client):
        assert set(client.run_on_scheduler(topics)) - before, "it is heard when the scheduler closes"
    wait_for(lambda: set(client.run_on_scheduler(topics)) <= before, "the topic has gone")


def test_a_start_that_is_given_up_leaves_no_listener(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **options: Any) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr("dask_insight.sources.cluster.source.Tables", fails)
    with pytest.raises(RuntimeError, match="no more"), recorded(client):
        pass
    wait_for(lambda: not any("insight" in name for name in client._event_handlers), "nobody listens")


def test_an_end_that_is_cancelled_takes_everything_off(
    client: Any, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ClusterSource(client, Options(poll=0.1), Identity())
    client.sync(source.start, Batches())

    async def cancelled() -> None:
        fetching = asyncio.Event()

        async def fetch(source: ClusterSource, deadline: float) -> None:
            fetching.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(ClusterSource, "_fetch", fetch)
        ending = asyncio.ensure_future(source.stop())
        await fetching.wait()
        ending.cancel()
        await asyncio.wait([ending])

    client.sync(cancelled)
    wait_for(lambda: not any(left_on(client).values()), "everything of ours is gone")


def test_a_start_that_fails_after_it_has_joined_leaves_nothing(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: Any) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr("dask_insight.sources.cluster.source.watch_all", fails)
    with pytest.raises(RuntimeError, match="no more"), recorded(client):
        pass
    wait_for(lambda: not any(left_on(client).values()), "everything of ours is gone")
    wait_for(lambda: not any("insight" in name for name in client._event_handlers), "nobody listens")


def test_a_recorder_that_stops_asking_is_taken_off(client: Any) -> None:
    source = ClusterSource(client, Options(poll=0.1), Identity())
    source.lease = 1.0
    client.sync(source.start, Batches())
    dies(source, client)
    wait_for(lambda: not any(left_on(client).values()), "everything of ours is gone")


def test_a_message_that_is_too_long_to_be_kept_is_sent(client: Any) -> None:
    def keep_nothing(name: str) -> None:
        import sys

        sys.modules[f"{name}.worker"]._UNSENT = 0

    with recorded(client) as batches:
        client.run(keep_nothing, name=package())
        client.gather(client.map(increment, range(20), key="long", pure=False))
    assert {row["run"] for row in batches.table("executions")} == {row["run"] for row in batches.attempts()}
    assert not batches.events("lost")


def test_a_recorder_that_asks_seldom_is_not_forgotten(client: Any) -> None:
    def lease(dask_scheduler: Any, name: str) -> float:
        (reader,) = dask_scheduler.plugins[name]._readers.values()
        return float(reader.options["lease"])

    for poll, least in ((0.1, 300), (600, 1200)):
        with recorded(client, poll=poll):
            assert client.run_on_scheduler(lease, name=package()) >= least


def test_a_recording_that_was_forgotten_begins_again(client: Any) -> None:
    async def forgotten(dask_scheduler: Any, name: str) -> None:
        probe = dask_scheduler.plugins[name]
        for recorder in list(probe._readers):
            await probe.leave(recorder=recorder)

    with recorded(client) as batches:
        kept = client.map(increment, range(5), key="before", pure=False)
        client.gather(kept)
        wait_for(lambda: len(batches.table("attempts")) == 5, "they are recorded")
        client.run_on_scheduler(forgotten, name=package())
        wait_for(lambda: batches.events("lost"), "the gap is told of")
        client.gather(client.map(increment, range(5), key="later", pure=False))
    keys = [row["key"].split("-")[0] for row in batches.attempts()]
    assert Counter(keys) == {"before": 5, "later": 5}
    assert len({row["run"] for row in batches.attempts()}) == 10
    there = [row for row in batches.table("graph") if row["key"] in {one.key for one in kept}]
    assert len(there) == 10 and not any(row.get("state") for row in there), "none is done twice"
    newest = {row["worker"]: row["left"] for row in batches.table("workers")}
    assert len(newest) == 2 and all(math.isnan(left) for left in newest.values()), "workers have not left"
    assert not any(left_on(client).values())


def test_workers_that_come_later_and_use_an_address_again(run_async: Any) -> None:
    from distributed import Client, Scheduler, Worker

    batches = Batches()

    async def main() -> str:
        async with (
            Scheduler(dashboard_address=":0", port=0) as scheduler,
            Client(scheduler.address, asynchronous=True) as client,
        ):
            source = ClusterSource(client, Options(poll=0.1), Identity())
            await source.start(batches)
            async with Worker(scheduler.address, nthreads=1) as first:
                address, port = first.address, first.port
                await client.submit(increment, 1, key="one", pure=False)
            async with Worker(scheduler.address, nthreads=1, port=port) as second:
                assert second.address == address
                await client.submit(increment, 2, key="two", pure=False)
                await source.stop()
                assert not [name for name in second.plugins if "insight" in name]
        return address

    address = run_async(main())
    # A worker is told of again where its cores are known later than it.
    workers = dict.fromkeys(row["worker"] for row in batches.table("workers"))
    assert list(workers) == [address, f"{address}#2"]
    by_key = {row["key"]: row["worker"] for row in batches.attempts()}
    assert by_key == {"one": address, "two": f"{address}#2"}
    seen = {row["worker"] for row in batches.table("executions")}
    assert seen == {address, f"{address}#2"}


def test_tasks_in_processes_of_their_own(run_async: Any) -> None:
    from distributed import Client, Scheduler, Worker

    batches = Batches()

    async def main(pool: ProcessPoolExecutor) -> None:
        async with (
            Scheduler(dashboard_address=":0", port=0) as scheduler,
            Client(scheduler.address, asynchronous=True) as client,
            Worker(scheduler.address, nthreads=1, executor={"pool": pool}),
        ):
            source = ClusterSource(client, Options(poll=0.1), Identity())
            await source.start(batches)
            with dask.annotate(executor="pool"):
                await client.submit(math.factorial, 5, pure=False)
            await source.stop()

    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        run_async(main(pool))
    (attempt,) = batches.attempts()
    assert attempt["status"] == "ok" and attempt["stop"] > attempt["start"]
    told = [row["message"] for row in batches.table("events") if row["kind"] == "gap"]
    assert [message.split(":")[1] for message in told if "executor" in message] == [
        " stacks and CPU time of tasks in the executor 'pool'"
    ], told


def test_an_adaptive_cluster() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        cluster.adapt(minimum=0, maximum=3, interval="50ms", wait_count=2)
        with recorded(client) as batches:
            client.gather(client.map(sleep, [0.1] * 12, key="adapt", pure=False))
            wait_for(
                lambda: not client.scheduler_info(n_workers=-1)["workers"], "all workers have left again"
            )
            client.gather(client.map(sleep, [0.05] * 4, key="again", pure=False))
        attempts = [row for row in batches.attempts() if row["status"] == "ok"]
        assert len(attempts) == 16
        workers = {row["worker"] for row in batches.table("workers")}
        assert {row["worker"] for row in attempts} <= workers and len(workers) >= 2
        assert batches.events("worker-removed")
        assert {row["run"] for row in batches.table("executions")} >= {row["run"] for row in attempts}


def test_a_worker_that_comes_and_goes_between_two_answers() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, threads_per_worker=3, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        recorded(client, poll=60.0) as batches,
    ):
        cluster.scale(1)
        client.wait_for_workers(1)
        cluster.scale(0)
        wait_for(lambda: not client.scheduler_info(n_workers=-1)["workers"], "the worker has left again")
    last = batches.table("workers")[-1]
    assert (last["name"], last["threads"]) == ("0", 3) and last["joined"] < last["left"]


def test_workers_of_one_process_share_what_sampling_may_cost() -> None:
    from distributed import Client, LocalCluster

    def rates(dask_worker: Any) -> list[tuple[float, float]]:
        probes = [one for name, one in dask_worker.plugins.items() if name.startswith("dask_insight")]
        return [(round(one._sampler.pace.budget, 6), round(one._pulse.interval, 6)) for one in probes]

    with (
        LocalCluster(n_workers=4, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        recorded(client, profile_budget=0.02, resources=0.2, poll=0.1),
    ):
        wait_for(
            lambda: [*client.run(rates).values()] == [[(0.005, 0.8)]] * 4,
            "all know how many of them there are",
        )
        cluster.scale(1)
        wait_for(lambda: [*client.run(rates).values()] == [[(0.02, 0.2)]], "one has it for itself again")


def test_a_worker_that_leaves_takes_the_probe_from_no_other_of_its_process() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        with recorded(client) as batches:
            for workers in (1, 2):
                cluster.scale(workers)
                wait_for(lambda: len(cluster.scheduler.workers) == workers, "it is scaled")  # noqa: B023
            client.wait_for_workers(2, timeout=60)
            wait_for(lambda: probes_on(client) == 2, "the new one has it as well")
            assert package() in sys.modules
            logging.getLogger("distributed").warning("once is enough")
        assert package() not in sys.modules
    told = [row["message"] for row in batches.events("log") if "once is enough" in row["message"]]
    assert len(told) == 1


def test_where_no_thread_can_be_started_a_cluster_is_recorded_and_sampled_as_soon_as_one_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from distributed import Client, LocalCluster

    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("dask_insight-"):
            raise RuntimeError("can't start new thread")
        start(thread)

    def is_sampled(dask_worker: Any) -> bool:
        (probe,) = (one for name, one in dask_worker.plugins.items() if name.startswith("dask_insight"))
        return probe._sampler is not None

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        monkeypatch.setattr(threading.Thread, "start", refuse)
        with recorded(client, profile=True) as batches:
            assert client.submit(abs, -1, key="at first").result() == 1
            monkeypatch.undo()
            sampled = {"client", *cluster.scheduler.workers}
            wait_for(
                lambda: {row["process"] for row in batches.table("resources")} >= sampled, "both are sampled"
            )
            wait_for(lambda: all(client.run(is_sampled).values()), "its stacks are")
    assert [row["key"] for row in batches.attempts("at first")] == ["at first"]
    gaps = [row["source"] for row in batches.events("gap") if "can't start new thread" in row["message"]]
    assert Counter(gaps) == dict.fromkeys(sampled, 2), "stacks and resources"


def test_what_a_scheduler_could_not_begin_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        recorded(client),
    ):
        plugins = cluster.scheduler.plugins
        (probe,) = (one for name, one in plugins.items() if name.startswith("dask_insight"))
        tried: list[dict[str, Any]] = []
        monkeypatch.setattr(probe._own, "adjust", lambda options, **asked: tried.append(asked))
        wait_for(lambda: tried, "another try")


def test_who_joins_later_hears_what_cannot_be_recorded() -> None:
    from distributed import Client, LocalCluster

    def told(batches: Any) -> bool:
        return any("gone on purpose" in row["message"] for row in batches.events("gap"))

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        recorded(client) as first,
    ):
        (worker,) = cluster.workers.values()
        (probe,) = (one for name, one in worker.plugins.items() if name.startswith("dask_insight"))
        probe._gaps.add("gone on purpose")
        wait_for(lambda: told(first), "a gap of the worker")
        with Client(cluster) as other, recorded(other) as second:
            wait_for(lambda: told(second), "the same for who joins later")


def test_a_probe_that_fails_to_begin_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client, LocalCluster

    def fail(*arguments: Any) -> None:
        raise OSError("broken on purpose")

    def hooked(dask_worker: Any) -> tuple[Any, ...]:
        pools = [type(getattr(each, "_threads", None)) for each in dask_worker.executors.values()]
        loggers = [logging.getLogger(name).handlers[:] for name in ("", "distributed", "dask")]
        tables = type(dask_worker.threads), type(dask_worker.state.threads)
        return dict(dask_worker.handlers), tables, pools, loggers, logging.lastResort, gc.callbacks[:]

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        (worker,) = cluster.workers.values()
        before = hooked(worker)
        # What is there is used by all that are sent later.
        shipped = pickle.loads(pickle.dumps(WorkerProbe(name="x")))
        monkeypatch.setattr(type(shipped), "_adjust", fail)
        with recorded(client) as batches:
            assert probes_on(client) == 1, "Dask keeps it"
            assert hooked(worker)[:3] == before[:3]
        assert hooked(worker) == before and probes_on(client) == 0
    assert any("could not load the probe" in row["message"] for row in batches.events("lost"))
    del shipped


def probes_on(client: Any) -> int:
    """How many workers have a probe."""

    def has_one(dask_worker: Any) -> bool:
        return any(name.startswith("dask_insight") for name in dask_worker.plugins)

    return sum(client.run(has_one).values())


def test_why_a_worker_closed() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        recorded(client) as batches,
    ):
        cluster.new_spec["options"]["lifetime"] = "0.3s"
        cluster.scale(1)
        wait_for(lambda: batches.events("worker-closing"), "the end of its lifetime")
    assert batches.events("worker-closing")[0]["message"] == "worker-lifetime-reached"


def test_a_recorder_that_lost_its_connection_hears_that_the_scheduler_closes() -> None:
    from distributed import Client, LocalCluster

    async def cut(client: Any) -> None:
        client.scheduler_comm.comm.abort()

    def again() -> bool:
        client.loop.add_callback(source.hurry)
        return [row["name"] for row in batches.table("about")].count("scheduler") == 2

    def listens() -> bool:
        return any("insight" in name and topics[name].subscribers for name in list(topics))

    batches = Batches()
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        source, topics = (
            ClusterSource(client, Options(poll=60), Identity()),
            cluster.scheduler._broker._topics,
        )
        client.sync(source.start, batches)
        before = source._farewell
        client.sync(cut, client)
        wait_for(lambda: before not in topics, "the scheduler forgets who has left")
        wait_for(again, "it is there again")
        wait_for(listens, "it listens")
        # This is done once more a while after it had left.
        topics.pop(before, None)
        client.submit(increment, 1, key="last", pure=False).result()
        cluster.close()
        wait_for(lambda: batches.events("scheduler-closed"), "it is told")
        client.sync(source.stop)
    assert len(batches.attempts("last")) == 1
    assert not any("insight" in name for name in client._event_handlers)


def test_a_probe_that_is_put_again_on_a_worker_loses_nothing(client: Any) -> None:
    async def again(dask_worker: Any, package: str) -> None:
        ((name, probe),) = ((name, one) for name, one in dask_worker.plugins.items() if package in name)
        kind = type(probe)
        await dask_worker.plugin_remove(name)
        await dask_worker.plugin_add(kind(package=package, name=name), name, catch_errors=False)

    with recorded(client) as batches:
        for turn in range(5):
            client.gather(client.map(increment, range(4), key=f"before-{turn}", pure=False))
            client.sync(client.scheduler.broadcast, msg={"op": f"{package()}_flush"})
        client.run(again, package=package())
        client.gather(client.map(increment, range(20), key="later", pure=False))
    executed = {row["run"] for row in batches.table("executions")}
    assert executed >= {row["run"] for row in batches.attempts("later")}
    assert not batches.events("lost")


def test_a_worker_that_comes_later_and_cannot_load_the_probe_is_named(run_async: Any) -> None:
    from distributed import Client, Scheduler, Worker

    class Bare(Worker):
        async def plugin_add(self, *arguments: Any, **options: Any) -> dict[str, Any]:
            return {"status": "error"}

    batches = Batches()

    async def main() -> str:
        async with (
            Scheduler(dashboard_address=":0", port=0) as scheduler,
            Client(scheduler.address, asynchronous=True) as client,
        ):
            source = ClusterSource(client, Options(poll=0.1), Identity())
            await source.start(batches)
            # All have had the time in which they greet.
            vars(sys.modules[f"{package()}.scheduler"])["_GREETED"] = 0.0
            async with Worker(scheduler.address, nthreads=1), Bare(scheduler.address, nthreads=1) as bare:
                await source.stop()
                return bare.address

    address = run_async(main())
    (lost,) = batches.events("lost")
    want = f"1 of 2 workers have sent nothing since they joined, what they do is missing: {address}"
    assert lost["message"] == want


def test_of_workers_that_have_left_little_is_remembered(cluster: Any, client: Any) -> None:
    with recorded(client) as batches:
        client.gather(client.map(increment, range(4), key="before", pure=False))
        probe = cluster.scheduler.plugins[package()]
        there = {state.server_id for state in cluster.scheduler.workers.values()}
        wait_for(lambda: probe._heard.keys() == there, "both have told something")
        client.loop.add_callback(lambda: probe._heard.update({f"left-{n}": n for n in range(2000)}))
        wait_for(lambda: len(probe._heard) > 2, "many have been there")
        wait_for(lambda: probe._heard.keys() == there, "those that have left are forgotten")
    assert not batches.events("lost")


def test_a_restart_of_the_cluster(client: Any) -> None:
    with recorded(client) as batches:
        client.gather(client.map(increment, range(5), key="before", pure=False))
        client.restart(timeout=90)
        client.wait_for_workers(2, timeout=90)
        client.gather(client.map(increment, range(5), key="later", pure=False))
    assert Counter(row["key"].split("-")[0] for row in batches.attempts()) == {"before": 5, "later": 5}
    assert batches.events("restart") and not batches.events("user")
    workers = {row["worker"]: row for row in batches.table("workers")}.values()
    assert sum(row["left"] == row["left"] for row in workers) == 2
    assert all(row["name"] and row["host"] and row["threads"] == 2 for row in workers), "one that left too"
    assert all(row["joined"] < row["left"] for row in workers if row["left"] == row["left"])
    executed = {row["run"] for row in batches.table("executions")}
    assert executed >= {row["run"] for row in batches.attempts("later")}
    assert not any(left_on(client).values())


@pytest.mark.parametrize("first", ["cluster", "client"])
def test_a_cluster_closed_before_the_recording_ends(first: str) -> None:
    from distributed import Client, LocalCluster

    import dask_insight

    with dask_insight.record(poll=60) as run:
        cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
        client = Client(cluster)
        client.gather(client.map(increment, range(20), pure=False))
        if first == "cluster":
            cluster.close()
            client.close()
        else:
            client.shutdown()
    tasks, events = run.tasks, run.events
    assert len(tasks) == 20 and tasks["cpu"].notna().all(), "the worker told the last it had"
    assert "scheduler-closed" in set(events["kind"]) and "lost" not in set(events["kind"])


def test_a_plugin_that_cannot_be_loaded_does_not_keep_workers_out() -> None:
    shipped = pickle.loads(pickle.dumps(WorkerProbe(name="x")))
    assert type(shipped).__module__ == f"{package()}.worker"
    call, (expression, facts) = WorkerProbe(name="x").__reduce__()
    facts = facts | {"package": "dask_insight_broken", "sources": {"worker": b"not compressed"}}
    broken = call(expression, facts)
    from distributed.diagnostics.plugin import WorkerPlugin

    assert isinstance(broken, WorkerPlugin)
    with pytest.raises(RuntimeError, match="cannot record on this worker"):
        broken.setup(None)
    import sys

    assert not [name for name in sys.modules if name.startswith("dask_insight_broken")]


@pytest.mark.parametrize(
    ("said", "cure"),
    [
        ("scheduler.pickle is off", r"distributed\.scheduler\.pickle: True"),
        ("no such argument", "newer than this dask_insight knows: upgrade dask_insight"),
    ],
)
def test_a_scheduler_that_refuses_plugins_is_named(client: Any, said: str, cure: str) -> None:
    from dask_insight.sources.cluster.source import ClusterRefused

    def refuse(dask_scheduler: Any) -> None:
        def refusing(**message: Any) -> None:
            raise ValueError(said)

        dask_scheduler._kept = dask_scheduler.handlers["register_scheduler_plugin"]
        dask_scheduler.handlers["register_scheduler_plugin"] = refusing

    def allow(dask_scheduler: Any) -> None:
        dask_scheduler.handlers["register_scheduler_plugin"] = dask_scheduler._kept

    client.run_on_scheduler(refuse)
    try:
        source = ClusterSource(client, Options(), Identity())
        with pytest.raises(ClusterRefused, match=cure):
            client.sync(source.start, Batches())
    finally:
        client.run_on_scheduler(allow)
    assert not any(left_on(client).values())


def test_a_dask_whose_clients_send_otherwise_costs_no_more_than_the_code(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dask_insight.sources.cluster.callers._SEND", "_send_otherwise")
    with recorded(client) as batches:
        client.gather(client.map(increment, range(5), key="unseen", pure=False))
    assert len(batches.attempts("unseen")) == 5
    (lost,) = batches.events("lost")
    assert lost["message"].startswith("the code that submits graphs is not seen")


def test_registering_twice_changes_nothing(client: Any) -> None:
    with recorded(client) as batches:
        client.register_plugin(
            SchedulerProbe(worker_plugin=b"", worker_name="none", bound=10), name=package()
        )
        client.gather(client.map(increment, range(5), key="still", pure=False))
    assert len(batches.attempts("still")) == 5


class SlowLink:
    """A scheduler's calls over a link that takes half a second a megabyte; nobody waits for its time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loop = asyncio.SelectorEventLoop()
        self.now = 1e6
        self.grows = False
        self.longest = 0.0
        tasks = Tasks(SimpleNamespace(tasks={}, workers={}), 1000, lambda *failure: None)
        self.stores = Stores(tasks, 1000)
        self.reader = Reader("client", {})
        self.reader.at = self.stores.start()
        selector: Any = self.loop._selector  # type: ignore[attr-defined]
        self._select = selector.select
        monkeypatch.setattr(selector, "select", self._skip)
        monkeypatch.setattr(self.loop, "time", lambda: self.now)
        for module in (sources, sessions):
            for name in ("monotonic", "time"):
                monkeypatch.setattr(module, name, lambda: self.now)
        monkeypatch.setattr(sources, "watch_all", lambda client, listener: lambda: None)
        monkeypatch.setattr(sources, "can_watch", lambda client: True)
        monkeypatch.setattr(ClusterSource, "_register", lambda source: asyncio.sleep(0))
        monkeypatch.setattr(ClusterSource, "_call", lambda source, name, **told: getattr(self, name)(**told))
        self.client: Any = SimpleNamespace(
            id="client",
            status="running",
            scheduler=SimpleNamespace(address="tcp://a"),
            loop=SimpleNamespace(asyncio_loop=self.loop),
            subscribe_topic=lambda topic, handler: None,
            unsubscribe_topic=lambda topic: None,
        )

    def _skip(self, timeout: float | None = None) -> Any:
        self.now += timeout or 0.0
        return self._select(0)

    def tell(self, messages: int) -> None:
        """A worker pushes so many messages, each of a tenth of a megabyte."""
        text = "." * 100_000
        blob = msgpack.packb({"now": self.now, "logs": [(self.now, "warning", text)]})
        for _ in range(messages):
            self.stores.blobs.add(("tcp://b", b"", blob), len(blob))

    async def join(self, **told: Any) -> dict[str, Any]:
        about = {"scheduler": {"address": "tcp://a"}}
        facts = {"about": about, "workers": [], "problem": "", "host": "", "since": self.now}
        return facts | {"under_way": False, "thread": 0}

    async def clock(self) -> dict[str, Any]:
        return {"time": self.now}

    async def flush(self, timeout: float) -> None:
        pass

    async def leave(self, recorder: str) -> None:
        pass

    async def poll(self, recorder: str, at: dict[str, int] | None, rate: float) -> dict[str, Any]:
        if self.grows:
            self.tell(20)
        self.reader.at = at or self.reader.at
        packed, blobs, position, more = self.stores.read(self.reader, rate)
        answer = {"packed": packed, "blobs": blobs, "spans": [], "at": position, "more": more}
        asked = self.now
        await asyncio.sleep(sum(len(blob) for _, _, blob in blobs) * 0.5e-6)
        self.longest = max(self.longest, self.now - asked)
        return answer | {"time": asked, "making": 0}

    async def record(self, batches: Batches) -> float:
        """Record, with 30 MB that are left at the end; how long the end took, seconds."""
        options = Options(profile=False, stop_timeout=3.0)
        clusters = Clusters(options, Identity(), batches)
        await clusters.follow(self.client)
        self.tell(300)
        begun = self.now
        await clusters.end_async()
        return self.now - begun


def test_a_slow_link_has_its_time_at_the_end_as_long_as_answers_come(monkeypatch: pytest.MonkeyPatch) -> None:
    link, batches = SlowLink(monkeypatch), Batches()
    assert 14 < link.loop.run_until_complete(link.record(batches)) < 17
    assert len(batches.events("log")) == 300 and not batches.events("lost")
    assert link.longest < 1.2
    link.loop.close()


def test_many_workers_have_longer_for_their_last_push(monkeypatch: pytest.MonkeyPatch) -> None:
    link, given = SlowLink(monkeypatch), []
    join = link.join

    async def of_many(**told: Any) -> dict[str, Any]:
        return await join(**told) | {"workers": [{"worker": f"tcp://{number}"} for number in range(2000)]}

    async def flush(timeout: float) -> None:
        given.append(timeout)

    monkeypatch.setattr(link, "join", of_many)
    monkeypatch.setattr(link, "flush", flush)
    link.loop.run_until_complete(link.record(Batches()))
    assert given == [pytest.approx(11.5, abs=0.5)]
    link.loop.close()


def test_who_stops_while_it_joins_a_scheduler_that_came_back_leaves_that_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link, left = SlowLink(monkeypatch), []
    handlers: dict[str, Any] = {}
    link.client._event_handlers = handlers
    link.client.subscribe_topic = handlers.__setitem__

    async def record() -> None:
        joining, join, poll = asyncio.Event(), link.join, link.poll

        async def slow(**told: Any) -> dict[str, Any]:
            joining.set()
            answer = await join(**told)
            await asyncio.sleep(0.1)
            return answer

        async def ended(**told: Any) -> dict[str, Any]:
            return await poll(**told) | {"ended": True}

        async def leave(recorder: str) -> None:
            left.append(recorder)

        source = ClusterSource(link.client, Options(profile=False, stop_timeout=3.0), Identity())
        await source.start(Batches())
        monkeypatch.setattr(link, "poll", ended)
        await source.catch_up()
        for name, call in (("join", slow), ("poll", poll), ("leave", leave)):
            monkeypatch.setattr(link, name, call)
        link.client._scheduler_identity = {"id": "another"}
        await joining.wait()
        await source.stop()
        assert left == [source._recorder]

    link.loop.run_until_complete(record())
    assert not handlers
    link.loop.close()


def test_what_is_lost_sight_of_ends_when_it_was_heard_of_last(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not when the loss is noticed: the computer may have slept."""
    batches, right = Batches(), sources.time
    source = ClusterSource(client, Options(), Identity(), pace=lambda: 600.0)
    client.sync(source.start, batches)
    client.sync(source.catch_up)

    async def lose() -> None:
        with monkeypatch.context() as later:
            later.setattr(sources, "time", lambda: right() + 8 * 3600)
            source.unfollowed()

    began = right()
    client.sync(lose)
    left = {row["worker"]: row["left"] for row in batches.table("workers")}
    client.sync(source.stop)
    assert left and all(began - 60 < moment < began + 1 for moment in left.values())


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_answers_grow_again_after_a_slow_spell_however_far_away_the_scheduler_is(delay: float) -> None:
    source = ClusterSource(None, Options(), Identity())
    for _ in range(10):
        source._came(100_000, 20.0, True)
    assert source._rate < LEAST
    answers = 0
    while source._rate < BYTES / AIM:
        # Rows alone are a sixth of what is aimed at.
        source._came(int(max(source._rate, LEAST) / 6), delay, True)
        answers += 1
        assert answers < 12
    source._came(4_000_000, 40.0, True)
    assert source._rate > BYTES / AIM / 2, "one late answer says little"


def test_who_tells_more_than_can_be_fetched_keeps_nobody_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    link, batches = SlowLink(monkeypatch), Batches()
    link.grows = True
    assert 30 < link.loop.run_until_complete(link.record(batches)) < 32
    (lost,) = batches.events("lost")
    assert "after 30 s not all had come" in lost["message"]
    link.loop.close()


@pytest.mark.parametrize("hung", [False, True])
def test_who_closes_a_client_waits_for_less_than_dask_has_for_it(
    monkeypatch: pytest.MonkeyPatch, hung: bool
) -> None:
    link, batches = SlowLink(monkeypatch), Batches()
    link.client._timeout = 3.0

    async def close() -> float:
        clusters = Clusters(Options(profile=False), Identity(), batches)
        await clusters.follow(link.client)
        link.tell(300)
        if hung:
            monkeypatch.setattr(ClusterSource, "_call", lambda *_, **told: asyncio.sleep(3600))
        begun = link.now
        await clusters.leave(link.client)
        return link.now - begun

    assert link.loop.run_until_complete(close()) < 5
    # Calls that nobody waits for are answered in the end.
    link.loop.run_until_complete(asyncio.sleep(3600))
    (lost,) = batches.events("lost")
    assert "after 3 s not all had come" in lost["message"]
    link.loop.close()


def test_stopping_does_not_wait_for_a_hung_worker(client: Any) -> None:
    def hang(dask_worker: Any) -> int:
        return os.getpid()

    timeout = 3.0
    with recorded(client, stop_timeout=timeout) as batches:
        client.gather(client.map(increment, range(4), key="some", pure=False))
        pids = client.run(hang)
        hung, victim = next(iter(pids.items()))
        os.kill(victim, signal.SIGSTOP)
        began = time.monotonic()
    try:
        assert time.monotonic() - began < timeout + PATIENCE
        assert len(batches.attempts("some")) == 4
        (told,) = batches.events("lost")
        assert told["message"].endswith(f"1 of 2 workers, what they did at the end is missing: {hung}")
    finally:
        os.kill(victim, signal.SIGCONT)
    wait_for(lambda: not any(left_on(client).values()), "everything of ours is gone in the end")


def test_a_recorder_that_comes_later_knows_the_names_of_tasks_that_come_again(client: Any) -> None:
    with recorded(client) as first:
        for turn in range(3):
            with recorded(client) as second:
                # The same keys each time, forgotten in between.
                client.gather(client.map(increment, range(5), key="again"))
            assert len(second.attempts("again")) == 5, f"turn {turn}"
            tasks = {row["task"] for row in second.attempts("again")}
            (brought,) = {row["submission"] for row in second.table("graph") if row["task"] in tasks}
            assert brought in {row["submission"] for row in second.table("submissions")}
    assert len({row["task"] for row in first.attempts("again")}) == 15, "each time it is another task"


def test_recording_does_not_wait_for_a_hung_worker(client: Any) -> None:
    pids = client.run(os.getpid)
    hung, victim = next(iter(pids.items()))
    (other,) = pids.keys() - {hung}
    os.kill(victim, signal.SIGSTOP)
    try:
        with recorded(client, stop_timeout=3.0) as batches:
            client.gather(client.map(increment, range(4), key="some", pure=False, workers=[other]))
    finally:
        os.kill(victim, signal.SIGCONT)
    assert len(batches.attempts("some")) == 4
    messages = [row["message"] for row in batches.events("lost")]
    want = "1 of 2 workers have not answered the call to record yet; until then, what they do is missing"
    assert f"{want}: {hung}" in messages
    assert {row["worker"] for row in batches.table("executions")} == {other}
    wait_for(lambda: not any(left_on(client).values()), "everything of ours is gone in the end")


def test_a_plugin_that_workers_cannot_load_is_taken_back(cluster: Any, client: Any) -> None:
    told: list[str] = []
    placing = Placing(cluster.scheduler, b"no pickle", "nobody-loads-it", lambda why, who: told.append(why))
    with pytest.raises(Exception, match="invalid load key"):
        client.sync(placing.place)
    # A worker that came now would be refused because of it.
    assert "nobody-loads-it" not in cluster.scheduler.worker_plugins and not told


def test_many_workers_have_longer_to_answer(run_async: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def broadcast(*, workers: list[str], **facts: Any) -> dict[str, Any]:
        return {workers[0]: {"status": "OK"}}

    async def wait(calls: Any, timeout: float) -> None:
        waited.append(timeout)

    async def main() -> None:
        workers = dict.fromkeys(map(str, range(2000)))
        scheduler = SimpleNamespace(workers=workers, worker_plugins={}, broadcast=broadcast)
        placing = Placing(scheduler, b"plugin", "many", lambda why, who: None)
        await placing.place()
        await placing.withdraw()

    monkeypatch.setattr("dask_insight.probe.placing.asyncio.wait", wait)
    run_async(main())
    assert waited == [15.0, 15.0]
    assert patience(100_000) == 30.0, "who begins waits for a minute at most"


@pytest.mark.parametrize(
    ("answer", "why", "keeps_out"),
    [
        ({"status": "error"}, "could not load the probe", False),
        (
            {"status": "error", "exception_text": "AttributeError('threads')"},
            "could not load the probe (AttributeError('threads'))",
            False,
        ),
        (ValueError("x" * 300), f"could not load the probe ({'ValueError(' + repr('x' * 300):.200})", True),
        (OSError("gone"), "could not be reached", False),
        ({"status": "OK"}, None, False),
    ],
)
def test_what_a_worker_answers_late_is_told_and_keeps_no_other_out(
    answer: Any, why: str | None, keeps_out: bool, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dask_insight.probe.placing.PATIENCE", 0.0)
    told: list[tuple[str, list[str]]] = []

    async def main() -> None:
        answers = {"tcp://a": asyncio.get_running_loop().create_future()}

        async def broadcast(*, workers: list[str], **facts: Any) -> dict[str, Any]:
            return {workers[0]: await answers[workers[0]]}

        scheduler = SimpleNamespace(workers=answers, worker_plugins={}, broadcast=broadcast)
        placing = Placing(scheduler, b"plugin", "late", lambda why, who: told.append((why, list(who))))
        await placing.place()
        placing.tell_waiting()
        answers["tcp://a"].set_result(answer)
        await asyncio.wait(placing._calls.values())
        assert ("late" in scheduler.worker_plugins) is not keeps_out

    run_async(main())
    waiting = ("have not answered the call to record yet; until then", ["tcp://a"])
    assert [each for each in told if each[1]] == [waiting, *([(why, ["tcp://a"])] if why else [])]


def test_the_scheduler_is_sampled_for_others_only_as_long_as_there_are_any(cluster: Any, client: Any) -> None:
    with recorded(client) as batches:
        (name,) = (each for each in cluster.scheduler.plugins if each.startswith("dask_insight"))
        probe = cluster.scheduler.plugins[name]
        assert probe._own._sampler is None, "who records here samples the scheduler's thread itself"
        here = probe._readers[next(iter(probe._readers))].options
        options = {**here, "process": "elsewhere", "profile_interval": here["profile_interval"] / 2}
        call = getattr(client.scheduler, f"{name}_join")
        client.sync(call, recorder="another", client=client.id, options=options)
        assert probe._own._sampler is not None
        client.gather(client.map(sleep, [1.0] * 4, pure=False))
        client.sync(getattr(client.scheduler, f"{name}_leave"), recorder="another")
        assert probe._own._sampler is None
    samples = [row for row in batches.table("samples") if row["process"] == "scheduler"]
    span = max(row["time"] for row in samples) - min(row["time"] - row["duration"] for row in samples)
    assert sum(row["duration"] for row in samples) <= 1.1 * span, "no moment is told twice"


def test_an_event_loop_that_was_blocked_catches_up(cluster: Any, run_async: Any) -> None:
    from distributed import Client

    batches = Batches()

    async def main() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True) as client:
            source = ClusterSource(client, Options(poll=0.1), Identity())
            await source.start(batches)
            futures = client.map(increment, range(500), key="blocked", pure=False)
            await asyncio.sleep(0.05)
            time.sleep(1.0)
            await client.gather(futures)
            await source.stop()

    run_async(main())
    assert len(batches.attempts("blocked")) == 500


def test_what_registers_and_never_joins_is_taken_off(client: Any) -> None:
    source = ClusterSource(client, Options(), Identity())

    def impatient(dask_scheduler: Any, name: str) -> bool:
        import sys

        module = sys.modules[type(dask_scheduler.plugins[name]).__module__]
        module._UNCLAIMED = 0.1
        return "transition" in vars(dask_scheduler.plugins[name])

    client.sync(source._register)
    assert not client.run_on_scheduler(impatient, name=package()), "nothing is collected yet"
    wait_for(lambda: not any(left_on(client).values()), "it has gone")


def test_submissions_may_come_while_old_ones_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_insight.sources.cluster.submissions._MOST", 10)
    submissions, ended = Submissions(Batches()), threading.Event()
    failed: list[Exception] = []

    def call(keys: Iterator[int]) -> None:
        try:
            while not ended.is_set():
                submissions.called([str(next(keys))], Caller("", 0, "", ""))
        except Exception as error:
            failed.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=call, args=(count(first, 2),)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20_000):
            submissions.settle()
    finally:
        ended.set()
        sys.setswitchinterval(interval)
    for thread in threads:
        thread.join()
    assert not failed


def test_tasks_that_wait_for_the_first_worker_are_told_of_until_it_comes() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
        recorded(client) as batches,
    ):
        futures = client.map(increment, range(5), pure=False)
        wait_for(lambda: batches.events("no-worker"), "tasks that no worker may run")
        cluster.scale(1)
        client.gather(futures)
        wait_for(lambda: len(batches.events("no-worker")) > 1, "that there are none any more")
    first, *_, last = [json.loads(row["detail"]) for row in batches.events("no-worker")]
    assert (first["tasks"], first["workers"], last["tasks"]) == (5, 0, 0)
