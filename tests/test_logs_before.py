"""What scheduler and workers logged before they were recorded: it comes once, with its own times, bounded."""

from __future__ import annotations

import logging
from collections import Counter, deque
from types import SimpleNamespace
from typing import Any

import msgpack
from conftest import Batches, recorded, wait_for
from distributed import Client, LocalCluster
from test_worker_messages import CLOCK, tables

from dask_insight.probe.earlier import Earlier
from dask_insight.probe.logs import Logs


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


def test_who_takes_over_hears_of_what_came_later() -> None:
    batches = Batches()
    made, gather = tables(batches)
    made.messages.knows_earlier(["scheduler", "w0"])
    message = msgpack.packb({"clock": CLOCK, "earlier": [(5.0, "warning", "odd")]})
    for worker in ("w0", "w1"):
        made.messages.take(worker, b"", message)
    gather.flush()
    assert [row["source"] for row in batches.events("log-before")] == ["w1"]


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
