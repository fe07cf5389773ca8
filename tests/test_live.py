"""The live session: what it finds by itself, what it says, and that it stands in nobody's way."""

from __future__ import annotations

import asyncio
import gc
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from math import isnan, nan
from time import monotonic, perf_counter
from types import SimpleNamespace
from typing import Any

import dask
import numpy as np
import pytest
from conftest import left_on, wait_for
from dask.callbacks import Callback
from distributed import Client, LocalCluster
from IPython.core.interactiveshell import InteractiveShell

import dask_insight
from dask_insight.batch import Symbols, encode
from dask_insight.hosts import lab
from dask_insight.hosts.lab.wishes import Wishes
from dask_insight.options import OUTPUT_SIZE
from dask_insight.schema import NOTHING
from dask_insight.session import ends
from dask_insight.session import live as lives
from dask_insight.session.driver import DRIVER, INTERVAL, Driver
from dask_insight.session.feed import PROTOCOL, Feed, Turn
from dask_insight.session.live import _WISHES, Live, hold_live, live
from dask_insight.session.tally import Tally
from dask_insight.sources.cells import NO_CELL, running_cell
from dask_insight.sources.cluster import ClusterSource
from dask_insight.sources.cluster.source import ClusterRefused


def _increment(number: int) -> int:
    return number + 1


def _spin(seconds: float) -> None:
    stop = perf_counter() + seconds
    while perf_counter() < stop:
        pass


def _fail(number: int) -> int:
    raise ValueError(f"cannot do {number}")


_GATE = threading.Event()


def _hold() -> None:
    _GATE.wait(60)


def _cluster(**options: Any) -> LocalCluster:
    settings = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    return LocalCluster(**{**settings, **options})


def _tasks(session: Live, index: int = 0) -> dict[str, int]:
    clusters = session.state()["clusters"]
    return clusters[index]["tasks"] if len(clusters) > index else {}


@pytest.fixture
def session() -> Iterator[Live]:
    made = Live()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """IPython without a kernel."""
    made = InteractiveShell.instance()
    yield made
    InteractiveShell.clear_instance()


def test_it_finds_clients_made_before_and_after_closed_and_replaced() -> None:
    with _cluster() as first, Client(first) as before:
        session = Live()
        session.start()
        wait_for(lambda: session.state()["clusters"], "the client that was there")
        before.gather(before.map(_increment, range(10)))
        wait_for(lambda: _tasks(session).get("done") == 10, "its tasks")
        with _cluster() as second, Client(second) as after:
            after.gather(after.map(_increment, range(5)))
            wait_for(lambda: _tasks(session, 1).get("done") == 5, "tasks of the client made after")
            state = session.state()["clusters"][1]
            assert state["address"] == after.scheduler.address
            assert (state["workers"], state["threads"]) == (1, 2)
        wait_for(lambda: len(session.state()["clusters"]) == 1, "the closed client is gone")
        before.close()
        with Client(first) as again:
            again.gather(again.map(_increment, range(3), pure=False))
            wait_for(lambda: _tasks(session).get("done") == 3, "tasks of the client in its place")
            session.stop()
            assert all(not found for found in left_on(again).values())
        recorded = session.recording.tasks
        assert len(recorded[recorded["status"] == "ok"]) == 18


def test_what_was_there_before_it_ran_is_not_waited_for() -> None:
    with _cluster() as cluster, Client(cluster) as client:
        before = client.map(_increment, range(3))
        client.gather(before)
        session = Live()
        session.start()
        wait_for(lambda: session.state()["clusters"], "the cluster")
        brought = client.scatter([10, 20])
        client.gather(client.map(_increment, [*before, *brought]))
        wait_for(lambda: _tasks(session).get("done") == 5, "the tasks that ran")
        assert _tasks(session)["total"] == 5
        session.stop()


def test_it_counts_what_fails_and_what_memory_is_used(session: Live) -> None:
    with _cluster(processes=True, memory_limit="1GiB") as cluster, Client(cluster) as client:
        futures = client.map(_fail, range(3))
        client.gather(futures, errors="skip")
        wait_for(lambda: _tasks(session).get("erred") == 3, "failed tasks")
        memory = wait_for(lambda: session.state()["clusters"][0]["memory"], "memory used")
        assert 1e6 < memory < session.state()["clusters"][0]["memory_limit"] == 2**30


@pytest.mark.parametrize(
    ("pids", "namespaces", "memory", "limit"),
    [
        ((7, 7), (1, 1), 3e9, 8e9),
        ((7, 8), (1, 1), 5e9, 17e9),
        ((7, 7), (1, 2), 5e9, 17e9),
        ((0, 0), (1, 1), 5e9, 17e9),
    ],
)
def test_memory_of_a_process_that_workers_share_counts_once(
    pids: tuple[int, int], namespaces: tuple[int, int], memory: float, limit: float
) -> None:
    tally = Tally(lambda batch: None)
    told = {
        "host": ["here"] * 2,
        "pid": pids,
        "namespace": namespaces,
        "threads": [1, 1],
        "memory_limit": [8e9, 9e9],
        "left": [nan] * 2,
    }
    tally(encode("workers", {"worker": ["a", "b"], **told}))
    tally(encode("memory", {"worker": ["a", "b"], "process": [2e9, 3e9]}))
    assert (tally.state()["memory"], tally.state()["memory_limit"]) == (memory, limit)


def test_workers_that_have_left_are_forgotten() -> None:
    tally = Tally(lambda batch: None)

    def told(first: int, left: float) -> None:
        columns: dict[str, Any] = {"worker": [f"w{n}" for n in range(first, first + 50)], "threads": [2] * 50}
        facts = {"host": [""] * 50, "namespace": [0] * 50, "pid": range(first, first + 50)}
        tally(encode("workers", columns | facts | {"memory_limit": [nan] * 50, "left": [left] * 50}))

    for first in range(0, 5_000, 50):
        told(first, nan)
        assert (tally.state()["workers"], tally.state()["threads"]) == (50, 100)
        told(first, 1e9 + first)
        tally(encode("memory", {"worker": [f"w{first}"], "process": [1e9]}))
        status = {"kind": ["worker-status"], "message": ["running → paused"], "source": [f"w{first}"]}
        tally(encode("events", status))
    assert not (tally._workers or tally._memory or tally._paused)
    assert (tally.state()["paused"], tally.state()["memory"]) == (0, None)


def test_a_task_counts_once_and_one_that_killed_its_workers_has_failed() -> None:
    tally = Tally(lambda batch: None)

    def ended(*attempts: tuple[int, int, str]) -> None:
        run, task, status = zip(*attempts, strict=True)
        tally(encode("attempts", {"run": run, "task": task, "status": status}))

    def counted() -> tuple[int, int]:
        tasks = tally.state()["tasks"]
        return tasks["done"], tasks["erred"]

    tally(encode("graph", {"task": range(9), "prefix": ["inc"] * 9}))
    ended((0, 0, "stolen"), (1, 0, "ok"), (2, 1, "ok"))
    ended((3, 1, "ok"), (4, 2, "killed"), (5, 2, "killed"), (6, 3, "retried"))
    assert counted() == (2, 0), "a result was lost and made again"
    tally(encode("errors", {"run": [5, 6], "task": [2, 3], "exception": ["KilledWorker", "OSError"]}))
    assert counted() == (2, 1)
    tally(encode("errors", {"run": [7, 8, NOTHING], "task": [4, 5, 6], "exception": ["", "", ""]}))
    ended((7, 4, "killed"), (8, 5, "erred"), (NOTHING, 6, "erred"), (NOTHING, 7, "killed"))
    assert counted() == (2, 4), "whichever comes first"
    ended((9, 5, "erred"))
    assert counted() == (2, 4), "one task"
    ended((10, 5, "ok"), (11, 2, "ok"))
    assert counted() == (4, 2), "somebody asked for them once more"
    ended((12, 5, "erred"))
    assert counted() == (4, 2)


@pytest.mark.parametrize("is_told_first", [True, False])
def test_what_was_there_before_counts_once_it_is_made_again(is_told_first: bool) -> None:
    counted = ends.Ends()
    graph = {"task": np.arange(15, dtype="u4"), "order": np.array([NOTHING] * 5 + [*range(10)], "u4")}
    ran = {"run": np.arange(10, dtype="u4"), "task": np.arange(10, dtype="u4")}
    attempts = ran | {"status": Symbols(np.zeros(10, "u4"), ["ok"])}
    told = [("graph", graph), ("attempts", attempts)]
    for table, columns in told if is_told_first else told[::-1]:
        counted.take(table, columns)
    assert (counted.total, counted.done, counted.failed) == (15, 10, 0), "five were there before, and lost"
    assert counted.open == 5


def test_counting_takes_no_more_memory_however_long_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ends, "_MOST", 100)
    counted = ends.Ends()

    def ended(tasks: np.ndarray, status: str) -> None:
        symbols = Symbols(np.zeros(len(tasks), "u4"), [status])
        counted.take("graph", {"task": tasks})
        counted.take("attempts", {"run": tasks, "task": tasks, "status": symbols})

    far = np.arange(4_000_000_000, 4_000_200_000, dtype="u4")
    tracemalloc.start()
    for tasks in (far, far[::2], np.arange(70_000, dtype="u4"), far[:1]):
        ended(tasks, "ok")
    assert counted.total == counted.done == 270_000
    assert tracemalloc.get_traced_memory()[0] < 1_000_000, "a bit for each, and nothing for those between"
    tracemalloc.stop()
    for start in range(100_000, 101_000, 10):
        ended(np.arange(start, start + 10, dtype="u4"), "killed")
        counted.take("errors", {"run": np.arange(start + 9, start + 12, dtype="u4")})
    assert counted.failed == 298
    assert len(counted._killed) <= 110 and len(counted._errors) <= 110


def test_paused_workers_are_counted_while_they_are_there() -> None:
    tally = Tally(lambda batch: None)
    told: dict[str, Any] = {"host": ["here"] * 2, "namespace": [0, 0], "pid": [1, 2], "threads": [1, 1]}
    workers = told | {"worker": ["a", "b"], "memory_limit": [nan] * 2}
    tally(encode("workers", workers | {"left": [nan, nan]}))

    def changed(worker: str, change: str) -> int:
        tally(encode("events", {"source": [worker], "kind": ["worker-status"], "message": [change]}))
        return int(tally.state()["paused"])

    assert changed("a", "running → paused") == 1
    assert changed("b", "→ paused") == 2, "before anybody looked"
    assert changed("a", "paused → running") == 1
    tally(encode("workers", workers | {"left": [nan, 9.0]}))
    assert tally.state()["paused"] == 0


def test_of_clients_that_closed_only_the_last_losses_are_kept(
    session: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lives, "_NOTES", 2)
    with _cluster() as cluster:
        for number in range(5):
            with Client(cluster) as client:
                wait_for(lambda: session.state()["clusters"], "the client")
                tally = session._tallies[client.id]
                tally(encode("events", {"kind": ["lost"], "message": [f"loss {number}"]}))
    assert len(session._tallies) <= 2
    assert session.state()["notes"] == ["loss 2", "loss 3", "loss 4"], "of two that closed, and the last"


def test_a_client_may_close_while_it_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closing:
        """Its event loop takes the scheduler away once somebody has looked at it."""

        id, status, looked = "client-1", "closing", 0

        @property
        def scheduler(self) -> Any:
            self.looked += 1
            return SimpleNamespace(address="tcp://10.0.0.1:1") if self.looked == 1 else None

    client, session = Closing(), Live()
    monkeypatch.setattr(session, "_clusters", SimpleNamespace(recorded=lambda: [client]))
    assert [each["address"] for each in session.state()["clusters"]] == ["tcp://10.0.0.1:1"]
    assert session.state()["clusters"] == []


def test_local_schedulers(session: Live) -> None:
    assert session.state()["local"] is None
    dask.compute([dask.delayed(_increment)(number) for number in range(7)], scheduler="threads")
    wait_for(lambda: (session.state()["local"] or {"tasks": {}})["tasks"].get("done") == 7, "local tasks")


def test_asynchronous_clients(session: Live, run_async: Any) -> None:
    async def use() -> None:
        async with (
            LocalCluster(n_workers=1, processes=False, dashboard_address=":0", asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            await client.gather(client.map(_increment, range(4)))

    run_async(use())
    wait_for(lambda: (session.recording.tasks["status"] == "ok").sum() == 4, "its tasks")


def test_an_asynchronous_client_that_is_there_does_not_make_it_wait(run_async: Any) -> None:
    async def use() -> None:
        async with (
            LocalCluster(n_workers=1, processes=False, dashboard_address=":0", asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            session = Live()
            session.start()
            while not session.state()["clusters"]:
                await client.scheduler.identity()
            await client.gather(client.map(_increment, range(4)))
            while _tasks(session).get("done") != 4:
                await client.scheduler.identity()
            session.stop()

    run_async(use())


def test_a_cluster_that_cannot_be_recorded_is_named_and_nothing_raised(
    session: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(source: Any) -> None:
        raise ClusterRefused("it takes no plugins")

    monkeypatch.setattr(ClusterSource, "_register", refuse)
    with _cluster() as cluster, Client(cluster) as client:
        (note,) = wait_for(lambda: session.state()["notes"], "a note")
        assert client.id in note and "it takes no plugins" in note
        assert session.state()["clusters"] == []
        assert client.submit(_increment, 1).result() == 2


def test_a_cluster_that_is_slow_to_answer_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    register, gate = ClusterSource._register, threading.Event()

    async def slow(source: ClusterSource) -> None:
        await asyncio.to_thread(gate.wait, 60)
        await register(source)

    monkeypatch.setattr("dask_insight.session.clusters._START_TIMEOUT", 0.05)
    monkeypatch.setattr(ClusterSource, "_register", slow)
    with _cluster() as cluster, Client(cluster) as client:
        late = Live(client=client)
        late.start()
        begun = monotonic()
        wait_for(lambda: monotonic() > begun + 0.5, "the time that others have is over")
        gate.set()

        def works() -> bool:
            client.submit(_increment, 1, pure=False).result()
            return _tasks(late).get("done", 0) > 0

        wait_for(works, "it is recorded")
        assert late.state()["notes"] == []
        late.stop()


def test_what_says_nothing_is_named_by_its_kind(session: Live) -> None:
    session._refused(SimpleNamespace(id="client-1"), TimeoutError())
    assert session.state()["notes"] == ["client-1 is not recorded: TimeoutError"]


def test_what_runs_while_another_client_takes_over_runs_once(session: Live) -> None:
    def open_runs() -> set[Any]:
        read = session.recording.columns
        return set(read("running")["run"].tolist()) - set(read("attempts")["run"].tolist())

    _GATE.clear()
    with _cluster() as cluster, Client(cluster) as second, Client(cluster) as first:
        wait_for(lambda: session.state()["clusters"], "one of them is followed")
        (followed,) = (each["client"] for each in session.state()["clusters"])
        closing, other = (first, second) if followed == first.id else (second, first)
        held = other.submit(_hold, key="long", pure=False)
        wait_for(lambda: len(open_runs()) == 1, "it runs")
        (before,) = open_runs()
        closing.close()
        wait_for(lambda: open_runs() - {before}, "the other one tells of it, too")
        assert len(open_runs()) == 1
        _GATE.set()
        held.result()
        wait_for(lambda: not open_runs(), "it has ended")


def test_what_is_more_than_a_person_wants_kept_is_dropped_and_counted(session: Live) -> None:
    session.set({"history": 1_000})
    history, runs = session.recording.history, iter(range(3_000))
    for _ in range(2):
        before = history.merged
        for _ in range(300):
            five = [next(runs) for _ in range(5)]
            session.recording.append(encode("attempts", {"run": five, "task": five, "status": ["ok"] * 5}))
        wait_for(lambda before=before: history.merged > before, "old ones are merged")
    wait_for(lambda: session.state()["history"]["dropped"].get("attempts"), "the oldest are dropped")
    told = session.state()["history"]
    assert told["attempts"] + told["dropped"]["attempts"] == 3_000
    # Beside what is wanted, those that are dropped next.
    assert 1_000 <= told["attempts"] < 2_000


def test_what_a_person_sets_is_kept_within_reason(session: Live) -> None:
    for given, kept in ((5_000, 5_000), (3, 1_000), (10**9, 5_000_000), ("many", 5_000_000)):
        session.set({"history": given})
        assert session.state()["history"]["limit"] == kept
    session.set({"rate": 2})
    assert DRIVER.interval == 0.5
    session.set({"rate": 0})
    assert DRIVER.interval == 0.5
    session.stop()
    assert DRIVER.interval == INTERVAL


def _samples_of(session: Live, keys: list[str]) -> int:
    """Samples of the stacks of tasks."""
    tasks, samples = session.recording.tasks, session.recording.samples
    return int(samples["run"].isin(tasks[tasks["key"].isin(keys)]["run"]).sum())


def test_rates_follow_what_a_person_sets(session: Live) -> None:
    with _cluster(processes=True) as cluster, Client(cluster) as client:

        def spun(seconds: float) -> list[str]:
            futures = client.map(_spin, [seconds] * 2, pure=False)
            client.gather(futures)
            keys = [future.key for future in futures]
            wait_for(lambda: set(keys) <= set(session.recording.tasks["key"]), "the tasks")
            return keys

        sampled = spun(0.3)
        wait_for(lambda: _samples_of(session, sampled), "their stacks")

        session.set({"stacks": 0, "resources": 50})
        assert session.recording.about["options"]["profile"] is False
        wait_for(lambda: _quickest(session, cluster) < 0.1, "resources of the worker, more often")
        # Its push has told the worker of both.
        assert _samples_of(session, spun(0.3)) == 0

        session.set({"stacks": 50})
        assert session.recording.about["options"]["profile_interval"] == 0.02
        wait_for(lambda: _samples_of(session, spun(0.3)), "stacks again")


def _quickest(session: Live, cluster: LocalCluster) -> float:
    """Least seconds between looks at what the only worker uses, of eight: a late one is near the next."""
    (worker,) = cluster.workers.values()
    looks = session.recording.resources.dropna(subset="memory")
    return float(looks[looks["process"] == worker.worker_address]["time"].diff().rolling(8).mean().min())


def test_rates_of_local_schedulers_follow_too(session: Live) -> None:
    def spun() -> list[str]:
        task = dask.delayed(_spin)(0.3)
        task.compute(scheduler="threads")
        wait_for(lambda: task.key in set(session.recording.tasks["key"]), "the task")
        return [task.key]

    sampled = spun()
    wait_for(lambda: _samples_of(session, sampled), "its stacks")
    session.set({"stacks": 0})
    assert _samples_of(session, spun()) == 0
    session.set({"stacks": 100})
    again = spun()
    wait_for(lambda: _samples_of(session, again), "stacks again")


def test_what_cannot_be_sampled_here_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver() -> None:
        raise OSError("no driver")

    with _cluster() as cluster, Client(cluster) as client:
        # Dask itself, which looks for one as a cluster begins, would not begin.
        monkeypatch.setattr("pynvml.nvmlInit", no_driver)
        with dask_insight.record(client=client) as run:
            client.submit(_increment, 1).result()
            dask.delayed(_increment)(1).compute(scheduler="threads")
    events = run.events
    told = events[events["message"].str.contains("NVML")].set_index("source")["message"]
    assert told["client"] == told["threads"] == "not recorded here: no NVML: no driver"


@pytest.mark.parametrize("first", ["session", "beside"])
def test_the_end_of_one_session_leaves_the_others_cell_and_rate(
    shell: InteractiveShell, session: Live, first: str
) -> None:
    session.set({"rate": 2})
    beside = Live()
    beside.start()
    ending, staying = (session, beside) if first == "session" else (beside, session)

    def look() -> None:
        ending.stop()
        assert staying.state()["busy"] == {"id": "a", "execution": 1} and DRIVER.interval == 0.5
        staying.stop()
        assert running_cell() == NO_CELL

    shell.user_ns["look"] = look
    assert shell.run_cell("look()", store_history=True, cell_id="a").success


def test_what_a_person_sets_counts_for_all_live_sessions_until_the_last_has_ended(session: Live) -> None:
    before = Live(client=SimpleNamespace(id="client-1", status="closed", scheduler=None))
    _WISHES.join(before)
    session.set({"stacks": 0, "history": 5_000})
    with _cluster() as cluster, Client(cluster) as client:
        after = Live(client=client)
        after.start()
        assert [each._options.profile for each in (session, before, after)] == [False] * 3
        assert [each.recording.history.limit for each in (session, before, after)] == [5_000] * 3
        assert after.recording.about["options"]["profile"] is False
        after.stop()
    _WISHES.leave(before)
    session.stop()
    alone = Live()
    alone.start()
    assert alone._options.profile is True
    alone.stop()
    alone.set({"rate": 2})
    assert DRIVER.interval == INTERVAL, "what comes late is left"


@pytest.mark.parametrize("meanwhile", [None, "3 MB"])
def test_the_size_of_reports_is_put_back_unless_somebody_else_has_set_it(
    session: Live, meanwhile: str | None
) -> None:
    with dask.config.set({OUTPUT_SIZE: "2 MB"}):
        session.set({"report_bytes": 500_000})
        session.set({"report_bytes": 600_000})
        assert dask.config.get(OUTPUT_SIZE) == 600_000
        if meanwhile is not None:
            dask.config.set({OUTPUT_SIZE: meanwhile})
        session.stop()
        assert dask.config.get(OUTPUT_SIZE) == (meanwhile or "2 MB")


def test_clients_are_found_after_a_change_of_dasks_configuration(session: Live) -> None:
    with dask.config.set({"distributed.client.preload": []}), _cluster() as cluster, Client(cluster):
        DRIVER.wake()
        wait_for(lambda: session.state()["clusters"], "the client that was made meanwhile")


def test_all_who_want_it_share_it() -> None:
    assert live() is None
    first, release_first = hold_live()
    second, release_second = hold_live()
    assert first is second is live()
    release_first()
    release_first()
    assert live() is first
    release_second()
    assert live() is None
    assert "stopped" in first.recording.about


def test_a_hold_may_be_given_back_while_another_one_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    _, old = hold_live()
    old()
    start = Live.start

    def collecting(session: Live) -> Any:
        # So garbage is collected: in the midst of it, a widget that was closed before among it.
        old()
        return start(session)

    monkeypatch.setattr(Live, "start", collecting)
    began = threading.Thread(target=lambda: hold_live()[1](), daemon=True)
    began.start()
    began.join(30)
    assert not began.is_alive() and live() is None


def _watching() -> tuple[Any, ...]:
    """What of ours looks at Dask in this process."""
    names = [one.name for one in threading.enumerate() if "insight" in one.name]
    return names, set(Callback.active), dask.config.get("distributed.client.preload", [])


def test_an_interrupt_while_it_ends_leaves_nothing_watching(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _watching()
    session = Live()
    session.start()
    undrive = session._undrive
    assert undrive is not None

    def interrupted() -> None:
        undrive()
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "_undrive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.stop()
    assert _watching() == before and "stopped" in session.recording.about


def test_a_beginning_that_fails_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(session: Live) -> list[Any]:
        raise KeyboardInterrupt

    before = _watching()
    monkeypatch.setattr(Live, "_clients", interrupted)
    with pytest.raises(KeyboardInterrupt):
        hold_live()
    assert _watching() == before and live() is None


def test_pages_that_cannot_be_reached_take_their_feed_with_them(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed: list[Feed] = []

    def unreachable(hello: Any, receive: Any) -> None:
        raise OSError("no socket")

    def feed(*arguments: Any, **options: Any) -> Feed:
        fed.append(Feed(*arguments, **options))
        return fed[-1]

    monkeypatch.setattr("dask_insight.hosts.lab.extension._has_pages", lambda ip: True)
    monkeypatch.setattr(shell, "kernel", SimpleNamespace(), raising=False)
    monkeypatch.setattr("dask_insight.hosts.lab.extension.Feed", feed)
    monkeypatch.setattr("dask_insight.hosts.lab.comm.Pages", unreachable)
    with pytest.raises(OSError, match="no socket"):
        lab.load(shell)
    assert live() is None and fed[0]._closed


def test_an_interrupt_while_the_extension_is_unloaded_ends_everything_else(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    ended: list[str] = []
    lab.load(shell)
    for end in (interrupted, lambda: ended.append("watching"), interrupted):
        lives.until_unloaded(end)
    monkeypatch.setattr("dask_insight.session.cells.Cells._tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lab.unload(shell)
    assert live() is None and ended == ["watching"] and not lives._watching


def test_a_page_that_comes_does_not_shorten_what_another_wants() -> None:
    wishes = Wishes()

    def asked(page: str, history: int) -> int:
        message = {"type": "settings", "page": page, "values": {"history": history, "rate": 2}}
        found: Any = wishes.joined(message)["values"]
        assert found["rate"] == 2
        return int(found["history"])

    assert asked("a", 50_000) == 50_000, "less than what is kept by default"
    assert asked("a", 2_000_000) == 2_000_000
    assert asked("b", 200_000) == 2_000_000
    assert asked("b", 200_000) == 2_000_000, "it comes again"
    assert asked("b", 300_000) == 300_000, "a person has changed it"
    assert asked("c", 400_000) == 400_000
    for other in ({"type": "ack", "page": "a"}, {"type": "settings", "page": "a", "values": {"rate": 1}}):
        assert wishes.joined(other) is other


def test_the_end_of_the_last_does_not_wait_for_one_that_comes_meanwhile() -> None:
    class Still:
        def tick(self) -> Turn:
            return Turn(False, None)

    driver, others, joins = Driver("dask-insight-test"), list[Callable[[], None]](), list[float | None]()
    stop = driver.drive(Still())
    thread = driver._thread
    assert thread is not None
    join = thread.join

    def joined(timeout: float | None = None) -> None:
        joins.append(timeout)
        if not others:
            with driver._lock:
                others.append(driver.drive(Still()))
                driver._idle.clear()
        join(timeout)

    thread.join = joined  # type: ignore[method-assign]
    with driver._lock:
        # It has not seen yet that there is nobody.
        stop()
    assert len(joins) == 1
    for each in others:
        each()
    assert not thread.is_alive()


def test_while_nobody_looks_the_scheduler_is_asked_seldom_and_at_once_when_somebody_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lives, "_UNSEEN", 3600.0)
    asked: list[float] = []
    poll = ClusterSource._poll

    async def counted(source: ClusterSource) -> bool:
        more = await poll(source)
        asked.append(session._pace())
        return more

    monkeypatch.setattr(ClusterSource, "_poll", counted)
    session = Live()
    session.start()
    feed = Feed(session.recording, lambda message, buffers: None)
    try:
        with _cluster() as cluster, Client(cluster) as client:
            wait_for(lambda: asked, "the first poll")
            client.gather(client.map(_increment, range(10)))
            assert set(asked) == {3600.0}
            feed.handle({"type": "hello", "page": "a", "protocol": PROTOCOL, "visible": True})
            wait_for(lambda: _tasks(session).get("done") == 10, "the tasks that nobody saw")
            client.gather(client.map(_increment, range(10, 15)))
            wait_for(lambda: _tasks(session).get("done") == 5, "tasks that somebody sees")
            feed.handle({"type": "visible", "page": "a", "visible": False})
            wait_for(lambda: asked[-1] == 3600.0, "rest")
            client.gather(client.map(_increment, range(15, 20)))
    finally:
        session.stop()
        feed.close()
    assert len(session.recording.tasks) == 20


def test_it_leaves_nothing_behind() -> None:
    def here() -> tuple[list[str], Any]:
        names = [one.name for one in threading.enumerate() if "insight" in one.name]
        return names, dask.config.get("distributed.client.preload", None) or []

    def held(client: Client) -> list[weakref.ref[Any]]:
        session, release = hold_live()
        wait_for(lambda: session.state()["clusters"], "its cluster is recorded")
        client.gather(client.map(_increment, range(3), pure=False))
        release()
        return [weakref.ref(session), weakref.ref(session.recording)]

    before = here()
    with _cluster() as cluster, Client(cluster) as client:
        left = [each for _ in range(10) for each in held(client)]
        assert all(not found for found in left_on(client).values())
        assert here() == before
        wait_for(lambda: gc.collect() is not None and not any(each() for each in left), "all are garbage")


def test_it_keeps_no_client_that_was_there_when_it_began() -> None:
    with _cluster() as cluster:
        client = Client(cluster)
        session = Live()
        session.start()
        wait_for(lambda: session._clusters and session._clusters.recorded(), "its cluster is recorded")
        client.close()
        gone = weakref.ref(client)
        del client
        wait_for(lambda: gc.collect() is not None and gone() is None, "it is garbage")
        session.stop()


def test_cells_in_ipython_without_a_kernel(shell: InteractiveShell) -> None:
    before = {name: list(found) for name, found in shell.events.callbacks.items()}
    lab.load(shell)
    lab.load(shell)
    session = live()
    assert session is not None
    code = "import dask, dask_insight.sources.cells as c\nseen = c.running_cell()\n"
    code += "x = dask.delayed(abs)(-3).compute(scheduler='sync')"
    shell.run_cell(code, store_history=True, cell_id="first")
    shell.run_cell("get_ipython().run_cell('nested = 1', store_history=False)", store_history=True)
    shell.run_cell("silently = 1", silent=True)
    shell.run_cell("1 / 0", store_history=True, cell_id="third")
    shell.run_cell("", store_history=True)
    assert tuple(shell.user_ns["seen"]) == ("first", 1)
    assert running_cell() == ("", 0)
    lab.unload(shell)
    lab.unload(shell)
    assert live() is None
    rows = session.recording.columns("cells")
    found: dict[str, list[Any]] = {name: values.tolist() for name, values in rows.items()}  # type: ignore[union-attr]
    assert found["execution"] == [1, 1, 2, 2, 3, 3]
    assert found["cell"] == ["first", "first", "", "", "third", "third"]
    assert found["status"] == ["running", "ok", "running", "ok", "running", "error"]
    assert found["code"][:2] == [code, code]
    assert [isnan(stop) for stop in found["stop"]] == [True, False] * 3
    submissions = session.recording.submissions
    assert submissions["cell"].tolist() == ["first"]
    assert submissions["execution"].tolist() == [1]
    assert {name: list(found) for name, found in shell.events.callbacks.items()} == before


def test_load_ext(shell: InteractiveShell) -> None:
    shell.run_line_magic("load_ext", "dask_insight")
    assert live() is not None and shell.find_cell_magic("dprofile") is not None
    shell.run_line_magic("unload_ext", "dask_insight")
    assert live() is None and shell.find_cell_magic("dprofile") is None
    assert dask_insight.load_ipython_extension.__doc__
