"""Which log records are heard: of all loggers, from the level asked for on, once; and of the client too."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Batches, left_on, recorded
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.probe.logs import Logs
from dask_insight.probe.pulse import Pulse
from dask_insight.sources.cluster.gather import Gather
from dask_insight.sources.cluster.own import ClientProcess


@pytest.fixture
def apart() -> Iterator[logging.Logger]:
    """A logger that shows its own records, as Dask's configuration makes them."""
    logger, shown = logging.getLogger("test_logs_heard.apart"), logging.NullHandler()
    logger.addHandler(shown)
    logger.propagate = False
    yield logger
    logger.removeHandler(shown)
    logger.propagate = True


def _log(name: str, level: str, text: str) -> None:
    logging.getLogger(name).log(logging.getLevelNamesMapping()[level.upper()], text)


def _messages(batches: Batches) -> list[str]:
    return [row["message"] for row in batches.events("log")]


def test_a_logger_that_hands_nothing_on_is_heard_and_left_as_it_was(apart: logging.Logger) -> None:
    before = list(apart.handlers)
    logs = Logs("test-logs")
    logs.open()
    try:
        apart.warning("its own")
        assert [text for *_, text in logs.take()] == ["test_logs_heard.apart: its own"]
        for handler in before:
            apart.removeHandler(handler)
        assert not logs.take() and not apart.handlers, "it would be silent because of us"
        for handler in before:
            apart.addHandler(handler)
        logs.take()
        apart.propagate = True
        apart.warning("everywhere")
        assert len(logs.take()) == 1, "once, whoever else hears it"
    finally:
        logs.shut()
    assert apart.handlers == before


def test_of_what_nobody_else_shows_no_more_is_kept_than_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = logging.getLogger("test_logs_heard.shown_by_nobody")
    monkeypatch.setattr(logger, "propagate", False)
    logs = Logs("test-logs", "error")
    logs.open()
    try:
        logger.warning("less than that")
        logger.error("broken")
    finally:
        logs.shut()
    assert [level for _, level, _ in logs.take()] == ["error"]
    assert "less than that" in capsys.readouterr().err


def test_a_record_is_not_held_on_to() -> None:
    logs = Logs("test-logs")
    logs.open()
    try:
        record = logging.makeLogRecord({"levelno": logging.ERROR, "msg": "odd"})
        held = weakref.ref(record)
        logs.handle(record)
        logs.handle(record)
        del record
        assert held() is None and len(logs.take()) == 1
    finally:
        logs.shut()


def test_what_cannot_be_told_in_words_is_no_error_of_who_logs_it() -> None:
    class Detached:
        def __repr__(self) -> str:
            raise RuntimeError("detached")

    logs = Logs("test-logs")
    logs.open()
    try:
        logs.handle(
            logging.makeLogRecord({"levelno": logging.ERROR, "levelname": "ERROR", "msg": Detached()})
        )
    finally:
        logs.shut()
    ((_, level, text),) = logs.take()
    assert level == "error" and "Detached" in text


def test_records_come_once_whatever_other_threads_log_meanwhile(apart: logging.Logger) -> None:
    apart.propagate = True
    logs, above = Logs("test-logs"), logging.getLogger("test_logs_heard")
    shown, between = logging.NullHandler(), Between(apart)
    above.addHandler(shown)
    logs.open()
    # After ours, before that of the logger above.
    apart.addHandler(between)
    try:
        apart.warning("once")
        texts = [text.partition(": ")[2] for *_, text in logs.take()]
    finally:
        logs.shut()
        apart.removeHandler(between)
        above.removeHandler(shown)
    assert texts == ["once", "beside"]


class Between(logging.Handler):
    """Whenever one thread logs, another one does."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__()
        self._logger = logger

    def handle(self, record: logging.LogRecord) -> bool:
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "once":
            thread = threading.Thread(target=self._logger.warning, args=("beside",))
            thread.start()
            thread.join()


@pytest.mark.parametrize("name", ["distributed.gc", "distributed.client", "tornado.application"])
def test_loggers_that_dask_configures_by_themselves_are_heard_on_workers(client: Any, name: str) -> None:
    with recorded(client) as batches:
        client.submit(_log, name, "error", "something is odd", pure=False).result()
    assert _messages(batches) == [f"{name}: something is odd"]
    assert all(not found for found in left_on(client).values())


def test_information_is_kept_for_who_asks_for_it_alone(cluster: Any, client: Any) -> None:
    with Client(cluster) as other, recorded(other, logs="info") as told, recorded(client) as usual:
        client.submit(_log, "distributed.worker", "info", "epoch 3", pure=False).result()
        client.submit(_log, "distributed.worker", "warning", "careful", pure=False).result()
    with recorded(client, logs="error") as few:
        client.submit(_log, "distributed.worker", "warning", "careful", pure=False).result()
        client.submit(_log, "distributed.worker", "error", "broken", pure=False).result()
    levels = {row["message"]: row["level"] for row in told.events("log")}
    assert levels["distributed.worker: epoch 3"] == "info"
    assert levels["distributed.worker: careful"] == "warning"
    assert _messages(usual) == ["distributed.worker: careful"]
    assert _messages(few) == ["distributed.worker: broken"]


def test_a_recording_may_ask_for_information() -> None:
    def recording(**options: Any) -> list[str]:
        with dask_insight.record(local=False, **options) as run:
            client.submit(_log, "distributed.worker", "info", "epoch 3", pure=False).result()
        assert run.about["options"]["logs"] == options.get("logs", "warning").lower()
        return [message for message in run.events["message"] if "epoch" in message]

    settings: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **settings) as cluster, Client(cluster) as client:
        assert recording(logs="INFO") == ["distributed.worker: epoch 3"]
        assert recording() == []


@pytest.mark.parametrize(("logs", "error"), [("verbose", ValueError), (20, TypeError)])
def test_what_is_no_level_is_refused_in_words(logs: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="logs="):
        dask_insight.record(logs=logs)


def test_the_client_of_a_remote_scheduler_tells_what_it_logs(apart: logging.Logger) -> None:
    batches = Batches()
    gather = Gather(batches)
    both = [ClientProcess(Options(profile=False, logs="error"), None, 0, {}) for _ in range(2)]
    for own in both:
        own.start()
    try:
        apart.warning("less than that")
        apart.error("broken")
    finally:
        for own in both:
            own.stop()
    both[1].tell(5.0, Identity().stacks, gather)
    gather.flush()
    (row,) = batches.events("log")
    assert (row["message"], row["source"]) == ("test_logs_heard.apart: broken", "client")
    assert not any(isinstance(one, Logs) for one in (*apart.handlers, *logging.root.handlers))


def test_the_client_listens_no_more_whatever_breaks_at_its_end(
    apart: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(pulse: Pulse) -> None:
        raise OSError("no such descriptor")

    sampled: dict[object, object] = {}
    before = list(apart.handlers), list(gc.callbacks)

    async def begin_and_end() -> None:
        own = ClientProcess(Options(profile=False), asyncio.get_running_loop(), 0, sampled)
        own.start()
        with monkeypatch.context() as patch, pytest.raises(OSError, match="descriptor"):
            patch.setattr(Pulse, "stop", broken)
            own.stop()
        assert own._pulse is not None
        own._pulse.stop()

    asyncio.run(begin_and_end())
    assert (list(apart.handlers), list(gc.callbacks)) == before and not sampled


def test_what_a_scheduler_in_the_clients_process_tells_the_client_does_not(apart: logging.Logger) -> None:
    own = ClientProcess(Options(profile=False), None, 77, {})
    own.start()
    try:
        assert not any(isinstance(one, Logs) for one in apart.handlers)
    finally:
        own.stop()
