"""What scheduler and workers logged before they were recorded: it comes once, with its own times, bounded."""

from __future__ import annotations

import logging
from collections import Counter, deque
from types import SimpleNamespace
from typing import Any

import msgpack
from conftest import Batches, recorded, wait_for
from distributed import Client, LocalCluster
from distributed.protocol.pickle import dumps
from test_worker_messages import CLOCK, tables

from dask_insight import record
from dask_insight.probe.earlier import Earlier
from dask_insight.probe.logs import Logs
from dask_insight.probe.ship import package


def log(name: str, text: str, level: int = logging.WARNING) -> None:
    logging.getLogger(name).log(level, text)


def log_everywhere(client: Any, text: str) -> None:
    client.run(log, "distributed.worker", text)
    client.run_on_scheduler(log, "distributed.scheduler", text)


def told(batches: Batches, kind: str, text: str) -> Counter[str]:
    """How often each process told of it."""
    return Counter(row["source"] for row in batches.events(kind) if text in row["message"])


def test_each_recording_hears_what_was_logged_before_it_once(cluster: Any, client: Any) -> None:
    once = dict.fromkeys(["scheduler", *client.scheduler_info(n_workers=-1)["workers"]], 1)
    log_everywhere(client, "it begins to stick")
    client.run(log, "distributed.worker", "of no interest", logging.INFO)
    with recorded(client) as first:
        log_everywhere(client, "it is stuck")
        wait_for(lambda: told(first, "log", "it is stuck") == once, "it is recorded")
        with Client(cluster) as other, recorded(other) as second:
            log_everywhere(client, "it sticks on")
            wait_for(lambda: told(second, "log-before", "it is stuck") == once, "who comes later hears of it")
            wait_for(lambda: told(second, "log", "it sticks on") == once, "and of what is logged now")
    for batches in (first, second):
        assert told(batches, "log-before", "begins to stick") == once
    assert told(first, "log", "it is stuck") == told(first, "log", "it sticks on") == once
    for batches, text in ((first, "it is stuck"), (first, "it sticks on"), (second, "it sticks on")):
        assert not told(batches, "log-before", text)
    assert not told(second, "log", "it is stuck") and not told(second, "log-before", "of no interest")
    began = first.recording().started
    assert all(row["time"] < began for row in first.events("log-before"))
    assert {row["level"] for row in first.events("log-before") if "begins to stick" in row["message"]} == {
        "warning"
    }


def test_what_was_logged_between_two_clients_of_a_recording_is_told_once(cluster: Any) -> None:
    def said(text: str) -> Counter[str]:
        found = run.events[run.events["source"] == "scheduler"]
        return Counter(found["kind"][found["message"].str.contains(text)])

    with record() as run:
        log("distributed.scheduler", "it was slow")
        with Client(cluster, set_as_default=False):
            log("distributed.scheduler", "it is slow")
        log("distributed.scheduler", "it slowed down")
        with Client(cluster, set_as_default=False):
            pass
    assert said("it was slow") == said("it slowed down") == {"log-before": 1}
    assert said("it is slow") == {"log": 1}


def kept(*texts: str, **more: Any) -> list[logging.LogRecord]:
    usual: dict[str, Any] = {"name": "distributed.worker", "levelno": 40, "created": 5.0}
    return [logging.makeLogRecord(usual | more | {"msg": text}) for text in texts]


def taken(records: list[logging.LogRecord], until: float = 9.0, level: str = "warning") -> Any:
    """What is told of what Dask keeps, and what the second time."""
    logs = Logs("test-earlier", level)
    logs.open()
    try:
        asked = Earlier(SimpleNamespace(_deque_handler=SimpleNamespace(deque=deque(records))), logs)
        assert asked.take() is None, "nobody asked"
        asked.ask(until)
        found = asked.take()
        assert asked.take() is None
    finally:
        logs.shut()
    return found


def test_the_last_records_are_told_and_no_more_than_that() -> None:
    found = taken(kept(*map(str, range(500))))
    assert [text for *_, text in found] == [f"distributed.worker: {n}" for n in range(400, 500)]
    long = taken(kept(*["x" * 10_000] * 50))
    assert 0 < sum(len(text) for *_, text in long) <= 20_000
    assert taken(kept("too late", created=9.0)) == [] == taken(kept("too little", levelno=20))
    assert taken(kept("asked for", levelno=20), level="info") == [
        (5.0, "info", "distributed.worker: asked for")
    ]


def test_of_very_many_workers_not_all_is_kept_and_of_each_once() -> None:
    batches = Batches()
    made, gather = tables(batches)
    records = [(5.0, "warning", str(number)) for number in range(100)]
    message = msgpack.packb({"clock": CLOCK, "earlier": records})
    for worker in [*range(30), *range(30)]:
        made.messages.take(f"w{worker}", b"", message)
    gather.flush()
    found = Counter(row["source"] for row in batches.events("log-before"))
    assert found == {f"w{worker}": 100 for worker in range(20)}


def test_what_was_logged_while_nobody_listened_comes_once() -> None:
    """Of a process that logs each second from 1 on; nobody listens to it between 4 and 6.5."""
    batches, logged = Batches(), dict[int, float]()
    every = [(float(number), "warning", str(number)) for number in range(1, 12)]

    def heard(*stretches: tuple[float, float]) -> None:
        """Somebody listens, hears this much with each message, and of what was before with the second one."""
        made, gather = tables(batches)
        made.messages.goes_on(logged)
        for number, (since, until) in enumerate(stretches):
            told = {"clock": CLOCK, "process": 7, "logged": (since, until)}
            told["logs"] = [row for row in every if since <= row[0] < until]
            if number == 1:
                told["earlier"] = [row for row in every if row[0] < stretches[0][0]]
            made.messages.take("w0", b"", msgpack.packb(told))
        gather.flush()

    heard((2.5, 3.5), (3.5, 4.5))
    heard((6.5, 7.5), (7.5, 12.0))
    assert [row["message"] for row in batches.events("log-before")] == ["1", "2", "5", "6"]
    assert [row["message"] for row in batches.events("log")] == ["3", "4", *map(str, range(7, 12))]


def test_of_two_that_join_soon_after_each_other_each_hears_all_and_nothing_twice() -> None:
    """What a worker tells the first one of what was before comes with the first that the second one hears."""
    found, every = [], [(float(number), "warning", str(number)) for number in range(1, 8)]
    stretches, before = [(2.5, 3.5), (3.5, 4.5), (4.5, 9.0)], [None, 2.5, 3.5]
    for first in (0, 1):
        batches = Batches()
        made, gather = tables(batches)
        for (since, until), asked in list(zip(stretches, before, strict=True))[first:]:
            told = {"clock": CLOCK, "process": 7, "logged": (since, until)}
            told["logs"] = [row for row in every if since <= row[0] < until]
            if asked is not None:
                told["earlier"] = [row for row in every if row[0] < asked]
            made.messages.take("w0", b"", msgpack.packb(told))
        gather.flush()
        found.append([[row["message"] for row in batches.events(kind)] for kind in ("log-before", "log")])
    assert found == [[["1", "2"], ["3", "4", "5", "6", "7"]], [["1", "2", "3"], ["4", "5", "6", "7"]]]


def test_of_a_container_that_begins_again_what_was_before_is_told_too() -> None:
    """Its process has the number of the one before, by all that tells processes apart."""
    batches = Batches()
    made, gather = tables(batches)
    for began in (100.0, 200.0):
        early = [(began - 1, "warning", f"before {began:g}")]
        for since, told in ((began, {}), (began + 1, {"earlier": early}), (began + 2, {})):
            message = {"clock": CLOCK, "process": 7, "logged": (since, since + 1)} | told
            made.messages.take("w0", b"", msgpack.packb(message))
    gather.flush()
    assert [row["message"] for row in batches.events("log-before")] == ["before 100", "before 200"]


def test_what_others_have_heard_is_not_told_again_by_who_hears_nothing_itself() -> None:
    """As where workers of two clusters share a process, of which one listens for both."""
    batches = Batches()
    made, gather = tables(batches)
    made.messages.goes_on({7: 4.0})
    rows = [(float(number), "warning", str(number)) for number in range(1, 7)]
    made.messages.take("w0", b"", msgpack.packb({"clock": CLOCK, "process": 7, "earlier": rows}))
    gather.flush()
    assert [row["message"] for row in batches.events("log-before")] == ["5", "6"]


def test_what_was_logged_while_a_recording_was_forgotten_is_told_once(client: Any) -> None:
    once = dict.fromkeys(["scheduler", *client.scheduler_info(n_workers=-1)["workers"]], 1)

    async def forget(dask_scheduler: Any, name: str) -> None:
        probe = dask_scheduler.plugins[name]
        for recorder in list(probe._readers):
            await probe.leave(recorder=recorder)
        said = ("distributed.worker", "meanwhile it broke")
        await dask_scheduler.broadcast(msg={"op": "run", "function": dumps(log), "args": dumps(said)})
        log("distributed.scheduler", "meanwhile it broke")

    log_everywhere(client, "it was broken")
    with recorded(client) as batches:
        log_everywhere(client, "it breaks")
        wait_for(lambda: told(batches, "log", "it breaks") == once, "it is recorded")
        client.run_on_scheduler(forget, name=package())
        wait_for(lambda: told(batches, "log-before", "meanwhile") == once, "what was meanwhile is told")
    assert told(batches, "log-before", "was broken") == once == told(batches, "log", "it breaks")
    assert not told(batches, "log-before", "it breaks") and not told(batches, "log", "meanwhile")


def test_a_dask_that_keeps_nothing_tells_nothing() -> None:
    asked = Earlier(SimpleNamespace(), Logs("test-earlier"))
    asked.ask(9.0)
    assert asked.take() == []


def test_workers_of_one_process_tell_it_once() -> None:
    settings: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(processes=False, **settings) as cluster, Client(cluster) as client:
        log("distributed.worker", "already odd")
        log("distributed.scheduler", "already odd")
        with recorded(client) as batches:
            pass
    found = told(batches, "log-before", "already odd")
    assert found.pop("scheduler") == 1 and list(found.values()) == [1]
