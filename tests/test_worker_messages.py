"""What workers are asked for, how their messages come to the recorder, and what is told of lost ones."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict
from types import ModuleType, SimpleNamespace
from typing import Any

import msgpack
import numpy as np
import pytest
from conftest import Batches
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.probe import worker
from dask_insight.probe.boot import unload
from dask_insight.probe.clock import Offset
from dask_insight.probe.earlier import Earlier
from dask_insight.probe.gaps import Gaps
from dask_insight.probe.journal import Labels
from dask_insight.probe.logs import Logs
from dask_insight.probe.readers import Reader
from dask_insight.probe.rows import Blobs
from dask_insight.probe.scheduler import Probe
from dask_insight.probe.ship import package
from dask_insight.probe.transfers import Transfers
from dask_insight.probe.worker import Probe as WorkersProbe
from dask_insight.schema import NOTHING
from dask_insight.sources.cluster import messages
from dask_insight.sources.cluster.gather import Gather
from dask_insight.sources.cluster.submissions import Submissions
from dask_insight.sources.cluster.tables import Tables

#: What a worker's message says of its clock: now, seconds ahead, uncertainty, Dask's correction.
CLOCK = (1.7e9 + 9, 2.0, 0.001, 0.5)


def listening(*wishes: dict[str, Any]) -> Probe:
    """A scheduler's probe to which recorders listen."""
    probe = Probe("package", b"", "name", 10)
    probe.scheduler = SimpleNamespace(workers={"tcp://a": None}, total_nthreads=1)
    probe.tasks = SimpleNamespace(settle=lambda: None, graph=SimpleNamespace(id=hash))  # type: ignore[assignment]
    probe.stores = SimpleNamespace(blobs=Blobs(1_000_000))  # type: ignore[assignment]
    probe.labels = Labels()
    for number, wish in enumerate(wishes):
        probe._readers[str(number)] = Reader("client", asdict(Options(**wish)))
    return probe


@pytest.mark.parametrize(
    ("profile", "interval", "budget"), [(True, 0.01, 0.5), (False, 0.1, 0.02)], ids=["both", "one"]
)
def test_of_two_recorders_the_stronger_wish_counts_each_time(
    profile: bool, interval: float, budget: float
) -> None:
    probe = listening(
        {"profile_interval": 0.1, "profile_budget": 0.02, "resources": 5.0, "poll": 1.0, "logs": "error"},
        {"profile": profile, "profile_interval": 0.01, "profile_budget": 0.5, "resources": 0.1, "poll": 9.0}
        | {"logs": "info"},
    )
    expected = {"profile": True, "profile_interval": interval, "profile_budget": budget, "joined": 0}
    assert probe._strongest() == expected | {"resources": 0.1, "poll": 1.0, "logs": "info"}


def test_where_nobody_wants_stacks_there_are_none() -> None:
    asked = listening({"profile": False}, {"profile": False})._strongest()
    assert (asked["profile"], asked["profile_interval"]) == (False, 0.01)


class Bare(WorkersProbe):
    """A worker's probe that has nothing to tell but what becomes of its messages."""

    def __init__(self, push: Callable[..., Awaitable[Any]]) -> None:
        super().__init__("package", "name")
        self.worker = SimpleNamespace(
            scheduler=SimpleNamespace(package_push=push),
            address="tcp://a",
            id="a",
            plugins={"name": self},
            executors={},
            scheduler_delay=0.0,
        )
        nothing = SimpleNamespace(take=list, dropped=0)
        self._sending, self._offset, self._gaps = asyncio.Lock(), Offset(), Gaps()
        self._process, self._cores, self._sampler = 1, (1, 1), None
        told: Any = SimpleNamespace(take=lambda most: ({}, []), gaps=(), errors=())
        self._executions = told
        sent: Any = SimpleNamespace(take=lambda: ({}, []))
        self._transfers = sent
        pulse: Any = SimpleNamespace(take=lambda: ([], []), dropped=0)
        self._pulse = pulse
        self._collections = self._metrics = self._actors = nothing  # type: ignore[assignment]
        self._buffers = nothing  # type: ignore[assignment]
        self._logs = Logs("test-bare")
        self._earlier = Earlier(self.worker, self._logs)

    def _adjust(self, options: dict[str, Any]) -> None:
        self._options = options


Run = Callable[[Coroutine[Any, Any, Any]], Any]


def test_a_message_whose_answer_is_lost_comes_once(run_async: Run) -> None:
    scheduler = listening({"logs": "info"})
    broken = iter([True])

    async def push(**message: Any) -> Any:
        answer = scheduler.push(**message)
        if next(broken, False):
            raise OSError("the connection is gone, the message is not")
        return answer

    async def main() -> Bare:
        probe = Bare(push)
        await probe._push()
        assert scheduler.stores.blobs.end == len(probe._unsent) == 1
        assert await probe._send()
        assert scheduler.stores.blobs.end == 1 and not probe._unsent
        assert probe._options["logs"] == "info"
        await probe._push()
        return probe

    probe = run_async(main())
    assert scheduler.stores.blobs.end == 2 and not probe._unsent


def test_where_nothing_can_be_sent_the_oldest_goes_and_all_that_went_are_counted(
    run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_UNSENT", 0)
    scheduler, is_down = listening({}), True

    async def push(**message: Any) -> Any:
        if is_down:
            raise OSError("no route to host")
        return scheduler.push(**message)

    async def main() -> None:
        nonlocal is_down
        probe = Bare(push)
        for _ in range(6):
            await probe._push()
            assert len(probe._unsent) == 1, "the newest"
        is_down = False
        await probe._send()
        await probe._push()

    run_async(main())
    _, _, found = scheduler.stores.blobs.take(0, 1_000_000)
    told = [msgpack.unpackb(blob.data) for _, _, blob in found]
    assert sum(each.get("lost_messages", 0) for each in told) == 5


def test_a_worker_to_which_nobody_listens_takes_everything_off(run_async: Run) -> None:
    nobody, calls = listening(), 0

    async def push(**message: Any) -> Any:
        nonlocal calls
        calls += 1
        return nobody.push(**message)

    async def main() -> tuple[Bare, list[bool]]:
        probe, off = Bare(push), []
        for _ in range(6):
            await probe._push()
            off.append(probe._off)
        await asyncio.sleep(0)
        return probe, off

    probe, off = run_async(main())
    assert off == [False] * 4 + [True] * 2
    assert calls == 5 and probe.worker.plugins == {}


def tables(batches: Batches) -> tuple[Tables, Gather]:
    gather = Gather(batches)
    return Tables(Identity(), batches, gather, Submissions(batches), "tcp://s:1"), gather


def test_each_part_of_a_message_has_its_own_keys() -> None:
    batches = Batches()
    made, gather = tables(batches)
    running, moved = np.zeros(2, messages._RUNNING), np.zeros(2, messages._TRANSFERS)
    running["run"], moved["keys"] = (1, 2), (2, 1)
    told = {
        "clock": CLOCK,
        "running": running.tobytes(),
        "running_keys": 2,
        "errors": [(3, "ValueError", ""), (4, "OSError", "")],
        "transfers": moved.tobytes(),
        "carried": np.array([5.0, 6.0, 7.0]).tobytes(),
        "peers": ["tcp://p:1"],
    }
    keys = np.array([10, 11, 20, 21, 30, 31, 32], "u4")
    made.messages.take("w", keys.tobytes(), msgpack.packb(told))
    made.messages.settle()
    gather.flush()
    assert [(row["run"], row["task"]) for row in batches.table("running")] == [(1, 10), (2, 11)]
    assert [(row["run"], row["task"]) for row in batches.table("errors")] == [(3, 20), (4, 21)]
    carried = [(row["transfer"], row["task"], row["nbytes"]) for row in batches.table("transferred")]
    assert carried == [(0, 30, 5.0), (0, 31, 6.0), (1, 32, 7.0)]


def test_whatever_a_worker_tells_is_at_the_schedulers_moment() -> None:
    batches = Batches()
    made, gather = tables(batches)
    now, shifted = CLOCK[0], CLOCK[0] + CLOCK[3]

    def row(dtype: np.dtype[Any], *times: str) -> bytes:
        made = np.zeros(1, dtype)
        for name in times:
            made[name] = now
        return made.tobytes()

    double, single = np.array([now]).tobytes(), np.ones(1, "<f4").tobytes()
    samples = {"time": double, "duration": single, "stack": np.zeros(1, "<u4").tobytes()}
    samples |= {"run": np.array([NOTHING], "<u4").tobytes(), "thread": ["7"]}
    frames = {"parent": [NOTHING], "function": ["f"], "file": ["f.py"], "line": [1], "first_line": [1]}
    sampling = {name: [1.0] for name in ("period", "samples", "interval", "cost", "asked", "starved")}
    told = {
        "clock": CLOCK,
        "delays": [(now - 100, CLOCK[3])],
        "running": row(messages._RUNNING, "start"),
        "running_keys": 1,
        "transfers": row(messages._TRANSFERS, "start", "stop"),
        "carried": b"",
        "peers": ["tcp://p:1"],
        "seceded": row(messages._SECEDED, "start", "stop"),
        "phases": [(1, "transfer", shifted, shifted), (1, "disk-read", now, now)],
        "resources": {"time": double, "cpu": double},
        "gpus": [{"time": now, "gpu": 0, "name": "a"}],
        "collections": [(now, 0.1, 5, 1)],
        "logs": [(now, "warning", "careful")],
        "earlier": [(now, "warning", "careful already")],
        "gauges": [(now, "p2p.comm-memory", 8.0)],
        "gaps": ["something"],
        "lost": 5,
        "metrics": [("execute", "", "p", "thread-cpu", "seconds", 1.0)],
        "profile": {"frames": frames, "samples": samples, "sampling": sampling | {"time": [now]}},
    }
    made.messages.take("w", np.zeros(1, "u4").tobytes(), msgpack.packb(told))
    made.messages.settle()
    gather.flush()
    columns = {
        "clocks": "time",
        "running": "start",
        "transfers": "start stop",
        "phases": "start stop",
        "resources": "time",
        "gpus": "time",
        "gauges": "time",
        "collections": "time",
        "events": "time",
        "metrics": "time",
        "samples": "time",
        "sampling": "time",
    }
    for table, names in columns.items():
        for name in names.split():
            assert {row[name] for row in batches.table(table)} == {now - CLOCK[1]}, (table, name)
    assert len(batches.table("phases")) == 3 and len(batches.table("events")) == 4


def test_a_transfer_is_told_without_the_correction_that_dask_put_on_it() -> None:
    times = {"start": 150.0, "stop": 152.0}
    entry = {"who": "tcp://p:1", "keys": {"x": 8}, "total": 8, "compressed": 8} | times
    incoming, outgoing = deque[Any](maxlen=9), deque[Any](maxlen=9)
    worker = SimpleNamespace(
        transfer_incoming_log=incoming, transfer_outgoing_log=outgoing, scheduler_delay=50.0
    )
    follower = Transfers(worker)
    incoming.append(entry)
    # The worker's correction may be another one since; the middle has none.
    outgoing.append(entry | {"middle": 121.0})
    told, _ = follower.take()
    found = np.frombuffer(told["transfers"], messages._TRANSFERS)
    assert [tuple(each) for each in found[["incoming", "start", "stop"]]] == [(1, 100, 102), (0, 120, 122)]


def _count(event: Any) -> int:
    """How many things an event tells to be lost."""
    detail = json.loads(event.detail or "{}")
    return int(detail.get("count") or event.message.split()[0].replace(",", ""))


def test_what_the_ring_of_a_scheduler_drops_is_counted() -> None:
    tasks, stays = 1_100, ModuleType("stays")
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        with dask_insight.record(client=client, profile=False):
            # What was sent to this process stays, and drops fewer rows at a time.
            vars(sys.modules[package()])["users"].add(stays)
            vars(sys.modules[f"{package()}.rows"])["CHUNK"] = 512
        try:
            with dask_insight.record(client=client, profile=False, ring=512, poll=600) as run:
                client.gather(client.map(abs, range(tasks), pure=False))
        finally:
            unload(package(), stays)
    lost = [event for event in run.events.itertuples() if event.kind == "lost"]
    (of_tasks,) = [event for event in lost if " tasks " in event.message or "of attempts" in event.message]
    assert _count(of_tasks) == 512 == tasks - len(run.tasks)
