"""Beginnings and ends that come at one moment, from several threads, loops and signals."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from conftest import Batches, wait_for

import dask_insight
from dask_insight.analysis.code import Line
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.recording import Recording
from dask_insight.session import clusters as sessions
from dask_insight.session import code
from dask_insight.session.clusters import Clusters
from dask_insight.session.driver import DRIVER
from dask_insight.session.early_code import EarlyCode
from dask_insight.sources import clients
from dask_insight.sources.cluster import ClusterSource, callers
from dask_insight.sources.local import LocalSource


def test_a_session_that_is_stopped_as_it_begins_leaves_the_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"
    with dask_insight.record(path, clusters=False):
        dask.delayed(sum)([1]).compute(scheduler="sync")
    before, driven = path.read_bytes(), len(DRIVER._driven)
    session = dask_insight.record(path)

    def begin(self: Clusters, clients: list[Any]) -> list[Any]:
        other = threading.Thread(target=session.stop)
        other.start()
        other.join()
        return []

    monkeypatch.setattr(Clusters, "begin", begin)
    with pytest.raises(RuntimeError, match="stopped as it began"):
        session.start()
    assert path.read_bytes() == before and len(DRIVER._driven) == driven
    assert session._unwatch is None and session._unask is None


def test_a_client_that_comes_late_adds_nothing_to_a_recording_that_has_ended() -> None:
    session = dask_insight.record(local=False)
    session.start()
    session.stop()
    before = session.recording.end
    assert session._appeared(client_on(None, "late")) is None
    assert session.recording.end == before


INTERRUPTED = """
    import faulthandler, signal, sys, threading
    from dask_insight.hosts.cli.signals import Interrupt

    faulthandler.dump_traceback_later(20, exit=True)
    with Interrupt() as interrupt:
        sent = 0

        def amid(frame, event, argument):
            global sent
            if event == "line" and frame.f_code.co_name == "wait":
                sent += 1
                signal.raise_signal(signal.SIGTERM)
            return amid

        sys.settrace(amid)
        came = interrupt.wait(10)
        sys.settrace(None)
        assert sent and came
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            print("interrupted")
"""


def test_a_signal_amid_a_wait_for_signals_ends_it() -> None:
    program = textwrap.dedent(INTERRUPTED)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.stdout.split() == ["interrupted"], ended.stderr


def test_a_computation_that_outlives_its_recording_is_recorded_no_more() -> None:
    asked: list[int] = []
    began, go_on = threading.Event(), threading.Event()

    def step(number: int) -> int:
        if number == 3:
            began.set()
            assert go_on.wait(30)
        return number

    source = LocalSource(
        Options(profile=True, cache_metric=lambda result: asked.append(1) or 1.0), Identity()
    )
    source.start(lambda batch: None)
    graph = {f"step-{number}": (step, number) for number in range(200)}
    computing = threading.Thread(
        target=dask.threaded.get, args=(graph, list(graph)), kwargs={"num_workers": 1}
    )
    computing.start()
    assert began.wait(30)
    source.stop()
    before = len(asked)
    go_on.set()
    computing.join(30)
    assert len(asked) == before and len(source._ledger._attempts._values) == 0


class Sender:
    """A client as far as its messages are looked at."""

    def __init__(self) -> None:
        self.scheduler = SimpleNamespace(address="tcp://one:1")

    def _send_to_scheduler(self, message: Any) -> None:
        pass


def test_a_client_that_comes_as_a_recording_ends_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    comes: list[Any] = []
    monkeypatch.setattr(callers, "watch_clients", lambda come, go: comes.append(come) or (lambda: None))
    monkeypatch.setattr(callers, "cluster_of", lambda client: "one")
    first, late = Sender(), Sender()
    end = callers.watch_all(first, lambda keys, caller: None)
    assert "_send_to_scheduler" in vars(first)
    end()
    comes[0](late)
    assert "_send_to_scheduler" not in vars(first) | vars(late)


def client_on(loop: Any, name: str, status: str = "running") -> Any:
    scheduler = SimpleNamespace(address="tcp://one:1")
    return SimpleNamespace(
        id=name, status=status, loop=SimpleNamespace(asyncio_loop=loop), scheduler=scheduler, _timeout=5.0
    )


def test_an_event_loop_that_closes_as_it_is_asked_keeps_no_other_from_its_end() -> None:
    class Closing:
        def is_running(self) -> bool:
            return True

        def is_closed(self) -> bool:
            return True

        def call_soon_threadsafe(self, *_: Any) -> None:
            raise RuntimeError("Event loop is closed")

    loop = asyncio.new_event_loop()
    turning = threading.Thread(target=loop.run_forever)
    turning.start()
    stopped: list[str] = []

    class Source:
        patience = 1.0

        def __init__(self, name: str) -> None:
            self.name = name

        async def stop(self) -> None:
            stopped.append(self.name)

        def leave_behind(self) -> None:
            stopped.append(f"{self.name} left")

        def until(self, begun: float) -> float:
            return begun + 5

    batches = Batches()
    clusters = Clusters(Options(), Identity(), batches)
    for name, its in (("gone", Closing()), ("there", loop)):
        one: Any = sessions._Followed(client_on(its, name), Source(name), name)  # type: ignore[arg-type]
        clusters._followed[name] = one
    clusters.end()
    loop.call_soon_threadsafe(loop.stop)
    turning.join()
    loop.close()
    assert sorted(stopped) == ["gone left", "there"]


def test_what_a_source_tells_as_its_end_is_cancelled_is_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.dinsight"

    async def main() -> Recording:
        session = dask_insight.record(path, local=False)
        recording = await session.start_async()
        clusters = session._clusters
        assert clusters is not None

        class Source:
            patience = 60.0

            def __init__(self, turns: int) -> None:
                self.turns = turns

            async def stop(self) -> None:
                try:
                    await asyncio.sleep(60)
                finally:
                    for _ in range(self.turns):
                        await asyncio.sleep(0.001)
                    clusters.tell("lost", f"told at the end, after {self.turns}")

            def until(self, begun: float) -> float:
                return begun + self.patience

        for turns in (1, 100):
            client, source = client_on(asyncio.get_running_loop(), str(turns)), Source(turns)
            one = sessions._Followed(client, source, client.id)  # type: ignore[arg-type]
            clusters._followed[client.id] = one
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.stop_async(), 0.1)
        return recording

    asyncio.run(main())
    told = list(dask_insight.open(path).events["message"])
    assert "told at the end, after 1" in told and "told at the end, after 100" in told


@pytest.mark.parametrize("end", ["the last answer", "an answer with more to come", "no answer"])
def test_who_asks_as_a_client_closes_is_answered(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    async def main() -> None:
        asked, answered = asyncio.Event(), asyncio.Event()
        source = ClusterSource(client_on(None, "one"), Options(), Identity())

        async def agree() -> None:
            pass

        async def poll() -> bool:
            asked.set()
            await answered.wait()
            return end == "an answer with more to come"

        monkeypatch.setattr(source, "_agree", agree)
        monkeypatch.setattr(source, "_poll", poll)
        source._submissions = SimpleNamespace(settle=lambda: None)  # type: ignore[assignment]
        monkeypatch.setattr(source, "_tell_own", lambda: None)
        before = asyncio.get_running_loop().create_future()
        source._awaited.append(before)
        source._following = asyncio.create_task(source._follow())
        await asked.wait()
        asking = asyncio.create_task(source.catch_up())
        await asyncio.sleep(0)
        source._stopping.set()
        if end == "no answer":
            source._following.cancel()
        else:
            answered.set()
        await asyncio.wait_for(asyncio.gather(before, asking), 10)

    asyncio.run(main())


def test_an_event_loop_goes_on_while_the_file_is_completed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def main() -> int:
        session = dask_insight.record(tmp_path / "run.dinsight", local=False)
        await session.start_async()
        turns, completed, free = 0, threading.Event(), threading.Event()
        loop = asyncio.get_running_loop()
        # All of the loop's own threads are busy.
        loop.set_default_executor(ThreadPoolExecutor(1))
        loop.run_in_executor(None, free.wait, 30)

        def finish(target: Any, recording: Recording) -> None:
            assert completed.wait(30)

        assert session._target is not None
        monkeypatch.setattr(type(session._target), "finish", finish)
        ending = asyncio.ensure_future(session.stop_async())
        while turns < 10:
            await asyncio.sleep(0.001)
            turns += 1
        assert not ending.done()
        completed.set()
        await asyncio.wait_for(ending, 10)
        free.set()
        return turns

    assert asyncio.run(main()) == 10


def test_who_stops_what_is_being_stopped_finds_it_complete(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "run.dinsight"

    async def main() -> None:
        session = dask_insight.record(path, local=False)
        await session.start_async()
        session.recording.append(dask_insight.batch.encode("edges", {"task": [1], "dependency": [2]}))
        go_on = threading.Event()
        finish = session._finish
        monkeypatch.setattr(session, "_finish", lambda: (go_on.wait(30), finish()))
        first = asyncio.ensure_future(session.stop_async())
        await asyncio.sleep(0)
        second = asyncio.ensure_future(session.stop_async())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not second.done()
        go_on.set()
        await asyncio.wait_for(second, 30)
        assert first.done()

    asyncio.run(main())
    assert len(dask_insight.open(path).edges) == 1


def test_a_client_that_comes_as_one_of_its_cluster_closes_is_followed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    class Source:
        offset, patience = 0.0, 1.0

        def __init__(self, client: Any, *_: Any, **__: Any) -> None:
            self.client, self.stopping = client, asyncio.Event()

        async def start(self, emit: Any) -> None:
            told.append(f"begun {self.client.id}")

        async def stop(self) -> None:
            await clusters.follow(second)
            told.append(f"stopped {self.client.id}")

        def hurry(self) -> None:
            pass

        def handed_over(self) -> None:
            told.append(f"handed over {self.client.id}")

        def unfollowed(self) -> None:
            told.append("workers are gone")

    monkeypatch.setattr("dask_insight.sources.cluster.ClusterSource", Source)
    monkeypatch.setattr(clients, "cluster_of", lambda client: "one")
    clusters = Clusters(Options(), Identity(), lambda batch: None)
    second: Any = None

    async def main() -> None:
        nonlocal second
        first, second = (client_on(asyncio.get_running_loop(), name) for name in ("first", "second"))
        await clusters.follow(first)
        await clusters.leave(first)

    asyncio.run(asyncio.wait_for(main(), 30))
    # Not both at a time, which would tell of the same tasks.
    assert told == ["begun first", "stopped first", "handed over first", "begun second"]


def test_a_client_whose_event_loop_stops_as_it_closes_keeps_no_other_from_its_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    class Source:
        offset, patience = SimpleNamespace(estimate=lambda _: (0.0, 0.0)), 60.0

        def __init__(self, client: Any, *_: Any, **__: Any) -> None:
            self.client = client

        async def start(self, emit: Any) -> None:
            told.append(f"begun {self.client.id}")

        async def stop(self) -> None:
            await asyncio.sleep(60)

        def leave_behind(self) -> None:
            told.append(f"left {self.client.id}")

        def unfollowed(self) -> None:
            told.append(f"workers of {self.client.id} are gone")

        def hurry(self) -> None:
            pass

        def handed_over(self) -> None:
            pass

    monkeypatch.setattr("dask_insight.sources.cluster.ClusterSource", Source)
    monkeypatch.setattr(clients, "cluster_of", lambda client: "one")
    batches = Batches()
    clusters = Clusters(Options(), Identity(), batches)
    rests, goes_on = asyncio.new_event_loop(), asyncio.new_event_loop()
    first, second = client_on(rests, "first"), client_on(goes_on, "second")

    async def close() -> asyncio.Task[None]:
        leaving = asyncio.ensure_future(clusters.leave(first))
        await asyncio.sleep(0)
        return leaving

    rests.run_until_complete(clusters.follow(first))
    leaving = rests.run_until_complete(close())
    goes_on.run_until_complete(clusters.follow(second))
    assert told == ["begun first", "left first", "workers of first are gone", "begun second"]
    assert clusters.recorded() == [second]
    assert [row["message"] for row in batches.events("lost")] == [
        "first did not end its part of the recording: its event loop has ended"
    ]
    leaving.cancel()
    rests.run_until_complete(asyncio.wait([leaving]))
    assert clusters.recorded() == [second] and not clusters._leaving
    for loop in (rests, goes_on):
        loop.close()


def test_of_a_client_that_fails_as_another_of_its_cluster_is_followed_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Source:
        offset = patience = 0.0

        def __init__(self, client: Any, *_: Any, **__: Any) -> None:
            self.client = client

        async def start(self, emit: Any) -> None:
            if self.client is first:
                # Another one comes as this one has just been taken off.
                clusters._followed.pop(first.id)
                await clusters.follow(second)
                raise OSError

        def handed_over(self) -> None:
            pass

    monkeypatch.setattr("dask_insight.sources.cluster.ClusterSource", Source)
    monkeypatch.setattr(clients, "cluster_of", lambda client: "one")
    clusters = Clusters(Options(), Identity(), lambda batch: None)
    first, second = client_on(None, "first"), client_on(None, "second")

    async def main() -> None:
        with pytest.raises(OSError):
            await clusters.follow(first)

    asyncio.run(asyncio.wait_for(main(), 30))
    assert clusters.recorded() == [second] and clusters.is_replaced(first)


def test_a_client_that_finds_its_scheduler_again_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    class Source:
        offset = patience = 0.0

        def __init__(self, client: Any, *_: Any, **__: Any) -> None:
            self.client = client

        async def start(self, emit: Any) -> None:
            begun.append(self.client.id)

        async def stop(self) -> None:
            pass

        def until(self, begun: float) -> float:
            return begun

        def hurry(self) -> None:
            pass

        def handed_over(self) -> None:
            pass

        def unfollowed(self) -> None:
            begun.append("nobody")

    monkeypatch.setattr("dask_insight.sources.cluster.ClusterSource", Source)
    monkeypatch.setattr(clients, "cluster_of", lambda client: "one")
    monkeypatch.setattr(sessions, "_HANDOVER", 0.01)
    monkeypatch.setattr(sessions, "_LOOK", 0.001)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        first, second = client_on(loop, "first"), client_on(loop, "second")
        clusters = Clusters(Options(), Identity(), lambda batch: None)
        await clusters.follow(first)
        await clusters.follow(second)
        second.status = "connecting"
        await clusters.leave(first)
        assert begun == ["first"]
        second.status = "running"
        while begun == ["first"]:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(main(), 30))
    assert begun == ["first", "second"]


def test_lines_that_are_read_as_a_recording_ends_come_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = Recording()
    early = EarlyCode(recording)
    reading, go_on, read = threading.Event(), threading.Event(), threading.Event()

    def wait(came: Any) -> None:
        reading.set()
        assert go_on.wait(30)
        read.set()

    monkeypatch.setattr(early, "_read", wait)
    early._came.append(dask_insight.batch.encode("functions", {"prefix": ["a"]}))
    ticking = threading.Thread(target=early.tick)
    ticking.start()
    assert reading.wait(30)
    stopping = threading.Thread(target=early.stop)
    stopping.start()
    wait_for(lambda: early not in DRIVER._driven, "it is driven no more")
    assert stopping.is_alive()
    go_on.set()
    stopping.join(30)
    ticking.join(30)
    assert read.is_set()


def test_who_ends_a_recording_amid_what_a_reader_waits_for_does_not_wait_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(code, "_PATIENCE", 0.01)
    recording = Recording()
    early = EarlyCode(recording)
    early._read = lambda came: code.Code(recording).read([Line(__file__, 1, "")], 10)  # type: ignore[method-assign]
    early._came.append(dask_insight.batch.encode("functions", {"prefix": ["a"]}))
    reading = threading.Event()
    append = recording.append
    monkeypatch.setattr(recording, "append", lambda batch: reading.set() or append(batch))
    with recording._lock:
        ticking = threading.Thread(target=early.tick)
        ticking.start()
        assert reading.wait(30)
        early.stop()
        code.Code(recording).read([], 10)
    ticking.join(30)
    assert not ticking.is_alive()
