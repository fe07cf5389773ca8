"""Recordings that keep no source code: neither tracebacks nor logs have any."""

from __future__ import annotations

import logging
import re
import traceback
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import Batches, recorded, wait_for
from dask import delayed

from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.probe.errors import last_calls
from dask_insight.probe.logs import Logs
from dask_insight.schema import TABLES
from dask_insight.sources.dynamic import shown_traceback
from dask_insight.sources.local import LocalSource
from dask_insight.sources.sourceless import log_without_source, without_source

MARK = "a secret"
_CALL = '  File "work.py", line 3, in step\n'
_CODE = f"    return 1 / {MARK}\n           ~~^~~\n"


def step(number: int) -> float:
    return number / 0  # This is a secret.


def texts(batches: Batches) -> str:
    return str([batches.table(name) for name in TABLES])


@pytest.mark.parametrize("source", [True, False])
@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_a_local_computation_that_fails(scheduler: str, source: bool) -> None:
    batches = Batches()
    local = LocalSource(Options(source=source, profile=False), Identity())
    local.start(batches)
    try:
        with pytest.raises(ZeroDivisionError):
            delayed(step)(1).compute(scheduler=scheduler)
    finally:
        local.stop()
    (text,) = [row["traceback"] for row in batches.table("errors")]
    assert text.endswith("ZeroDivisionError: division by zero\n") and " in step\n" in text
    assert (MARK in texts(batches)) is source


@pytest.mark.parametrize("source", [True, False])
def test_a_task_of_a_cluster_that_fails_and_what_is_logged_of_it(
    client: Any, source: bool, tmp_path: Path
) -> None:
    path = tmp_path / "work.py"
    path.write_text("def fail():\n    return 1 / 0  # This is a secret.\n")

    def run(path: str) -> None:
        names: dict[str, Any] = {}
        exec(compile(Path(path).read_text(), path, "exec"), names)
        names["fail"]()

    with recorded(client, source=source, profile=False) as batches:
        future = client.submit(run, str(path), pure=False)
        assert future.exception() is not None
        wait_for(lambda: batches.events("log") and batches.table("errors"), "both tell of it")
    (log,) = batches.events("log")
    assert "Compute Failed\nKey: " in log["message"]
    assert "\nException: \"ZeroDivisionError('division by zero')\"\n" in log["message"]
    assert all(" in fail\n" in row["traceback"] for row in batches.table("errors"))
    assert (MARK in log["message"]) is (MARK in texts(batches)) is source


def raised(text: str) -> str:
    """A traceback of a group that comes from one of its exceptions."""
    try:
        try:
            raise ValueError(f"{text}\n    and more")  # This is a secret.
        except ValueError as error:
            raise ExceptionGroup("several", [error, OSError("gone")]) from error  # This is a secret.
    except ExceptionGroup as error:
        return "".join(traceback.format_exception(error))


def test_of_a_traceback_calls_and_exceptions_are_left() -> None:
    text = raised("no luck")
    kept = without_source(text)
    assert MARK in text and MARK not in kept
    code = re.compile(rf"^.*{MARK}.*\n|^[ |]*[~^]+\n", re.MULTILINE)
    assert kept == code.sub("", text)
    assert "no luck\n    and more\n" in kept


def test_a_traceback_ends_where_it_may() -> None:
    assert without_source(_CALL + _CODE.rstrip("\n")) == _CALL
    assert without_source(_CALL) == _CALL
    invalid = f'  File "<string>", line 1\n    {MARK} (\n      ^\nSyntaxError: invalid syntax\n'
    assert shown_traceback(_CALL + _CODE + invalid, source=False) == _CALL + invalid.replace(
        f"    {MARK} (\n      ^\n", ""
    )


def test_of_a_long_traceback_the_last_calls_are_left_whole() -> None:
    text = (_CALL + _CODE) * 1000
    for more in range(len(_CALL + _CODE)):
        kept = last_calls(text + "x" * more + "\n")
        assert kept.startswith(_CALL) and len(kept) <= 20_000
        assert MARK not in without_source(kept)
    assert last_calls("short") == "short"


@pytest.mark.parametrize(("message", "kept"), [("!" * 30_000, 20_000), ("!\n" * 15_000, 19_999)])
def test_of_a_longer_message_its_end_is_left(message: str, kept: int) -> None:
    text = f"{_CALL}{_CODE}ValueError: {message}\n"
    assert last_calls(text) == text[-kept:]


def test_of_a_long_traceback_of_a_group_the_last_calls_are_left_whole() -> None:
    lines = (_CALL + _CODE).splitlines(keepends=True)
    kept = last_calls("".join(f"  | {line}" for line in lines) * 1000)
    assert kept.startswith("  | " + _CALL) and len(kept) > 19_000


@pytest.fixture
def logs() -> Any:
    opened = Logs("test-sourceless")
    opened.open()
    yield opened
    opened.shut()


@pytest.mark.parametrize("calls", [1, 20, 29])
def test_wherever_a_long_log_is_cut_it_has_no_source(logs: Logs, calls: int) -> None:
    def raises(left: int, text: str) -> None:
        if left:
            (raises if left % 2 else again)(left - 1, text)  # This is a secret.
        raise ValueError(text)  # This is a secret.

    def again(left: int, text: str) -> None:
        raises(left - 1, text)  # This is a secret.

    for length in (3, *range(1500, 2100, 7), 10_000):
        try:
            raises(calls, "!" * (1 + length % 97))
        except ValueError:
            logging.getLogger("mine").exception("?" * length)
        ((_, _, text),) = logs.take()
        assert len(text) <= 4000
        kept = log_without_source(text)
        assert MARK not in kept and kept.startswith("mine: ??") and ", in raises" in kept
        assert kept.endswith("ValueError: " + "!" * (1 + length % 97))


@pytest.mark.parametrize("key", [3, 900, 1990, 3000])
@pytest.mark.parametrize("exception", [3, 1500, 10_000])
def test_of_a_task_that_failed_no_argument_is_left(logs: Logs, key: int, exception: int) -> None:
    logging.getLogger("distributed.worker").error(
        "Compute Failed\nKey:       %s\nState:     %s\nTask:  %s\nException: %r\nTraceback: %r\n",
        *("k" * key, "executing", f"<Task step({MARK},\n {MARK})>"[:1000]),
        *("!" * exception, (_CALL + _CODE) * 10),
    )
    ((_, _, text),) = logs.take()
    kept = log_without_source(text)
    assert MARK not in kept
    assert kept.startswith("distributed.worker: Compute Failed\nKey:       kkk")
    assert (key + exception > 900) or kept.endswith("\nState:     executing\nException: '!!!'\n")


def test_a_warning_that_is_logged_has_no_source(logs: Logs) -> None:
    logging.captureWarnings(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("careful\n  with this", stacklevel=1)  # This is a secret.
    finally:
        logging.captureWarnings(False)
    ((_, _, text),) = logs.take()
    assert MARK in text
    kept = log_without_source(text)
    assert MARK not in kept and kept.endswith("UserWarning: careful\n  with this")


def test_what_else_is_logged_stays_as_it_is() -> None:
    for text in ("mine: loading… 5 files\n    of 7\n", "mine: Task: x\nTraceback: y", "py.warnings: no more"):
        assert log_without_source(text) == text
