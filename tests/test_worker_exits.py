"""How lost workers ended, as their nannies say, and what findings make of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import recorded
from distributed.core import ConnectionPool, Server
from test_findings_memory_who import dying_with
from test_findings_risks import GB, event, losing, the, with_rows
from test_time_budget import Run

from dask_insight import words
from dask_insight.analysis.findings import Finding
from dask_insight.batch import encode
from dask_insight.probe import exits
from dask_insight.probe.exits import Exits
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING


def die_once(path: str, how: str, number: int) -> str:
    try:
        with open(path, "x"):
            pass
    except FileExistsError:
        return "survived"
    if how == "status":
        os._exit(number)
    os.kill(os.getpid(), number)
    return "never"


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize(
    ("how", "number", "said"),
    [
        ("signal", signal.SIGSEGV, "was killed by signal 11 (SIGSEGV)"),
        ("signal", signal.SIGKILL, "was killed by signal 9 (SIGKILL)"),
        ("status", 3, "exited with status 3"),
    ],
)
def test_its_nanny_is_asked_how_a_worker_ended(
    client: Any, tmp_path: Path, how: str, number: int, said: str
) -> None:
    with recorded(client) as batches:
        task = client.submit(die_once, str(tmp_path / "once"), how, int(number), key="deadly", pure=False)
        assert task.result(60) == "survived"
        # The end asks once more.
    [exit] = batches.events("worker-exit")
    [lost] = batches.events("worker-lost")
    assert exit["source"] == lost["source"] and abs(exit["time"] - lost["time"]) < 0.1
    detail = json.loads(exit["detail"])
    assert exit["message"] == f"process {detail['pid']} {said}" and detail[how] == number
    [worker] = {
        row["pid"] for row in batches.table("workers") if row["worker"] == lost["source"] and row["pid"]
    }
    assert worker == detail["pid"]
    found = the(batches.recording(), "worker-lost")
    assert exit["source"] in found.workers and exit["message"].split(maxsplit=2)[-1][-11:] in found.why


class Nannies:
    """A scheduler with workers that have nannies, which answer one after the other what they are given."""

    def __init__(self, *answers: Any, workers: int = 1) -> None:
        self.answers, self.asked = list(answers), 0
        self.names = [f"tcp://w:{number}" for number in range(workers)]
        self.workers = {name: SimpleNamespace(nanny="tcp://n:1", pid=7) for name in self.names}
        self.told: list[Any] = []
        self.lost: list[str] = []

    def rpc(self, address: str) -> Any:
        return SimpleNamespace(get_logs=self._get_logs)

    async def _get_logs(self, **how: Any) -> Any:
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else []
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            await asyncio.Event().wait()
        return [("INFO", text) for text in answer]

    async def lose(self, expected: bool = False, says: bool = False) -> Exits:
        """All workers leave; gives who asked, once nobody is waited for."""
        asks = Exits(self, lambda address: f"{address}#2", self.told.append, self.lost.append)
        for name in self.names:
            asks.there(name, self.workers[name])
            if says:
                asks.logged(name, {"action": "closing-worker", "reason": "worker-close"})
            asks.logged(name, {"action": "remove-worker", "expected": expected})
            assert not self.asked, "it is still there"
            del self.workers[name]
            asks.logged(name, {"action": "remove-worker", "expected": expected})
        for last in asks.last():
            await last
        return asks


_SAID = ["Restarting worker", "12:00 - INFO - Worker process 7 was killed by signal 9", "Start Nanny"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("_RESTS", (0.0, 0.0, 0.0)), ("_ANSWER", 0.05), ("_LAST", 10.0)):
        monkeypatch.setattr(exits, name, seconds)


@pytest.mark.parametrize("before", [[], [["of another"]], [OSError("refused"), None]])
def test_a_nanny_that_does_not_know_yet_is_asked_again(
    run_async: Any, quick: None, before: list[Any]
) -> None:
    nannies = Nannies(*before, _SAID)
    run_async(nannies.lose())
    ((_, worker, kind, level, message, detail),) = nannies.told
    assert (worker, kind, level) == ("tcp://w:0#2", "worker-exit", "warning")
    assert (message, json.loads(detail)) == (
        "process 7 was killed by signal 9 (SIGKILL)",
        {"pid": 7, "signal": 9, "name": "SIGKILL"},
    )


def test_a_nanny_that_has_gone_is_asked_no_more_after_a_while(run_async: Any, quick: None) -> None:
    nannies = Nannies(*[OSError("refused")] * 9)
    run_async(nannies.lose())
    assert (nannies.asked, nannies.told) == (3, [])


@pytest.mark.parametrize("how", [{"expected": True}, {"says": True}])
def test_who_left_with_a_word_is_not_asked_for(run_async: Any, quick: None, how: dict[str, bool]) -> None:
    nannies = Nannies(_SAID)
    run_async(nannies.lose(**how))
    assert nannies.asked == 0


def test_of_workers_without_a_nanny_nobody_is_asked(run_async: Any, quick: None) -> None:
    nannies = Nannies(_SAID)
    nannies.workers[nannies.names[0]].nanny = None
    run_async(nannies.lose())
    assert nannies.asked == 0


def test_how_many_are_asked_is_bounded_and_told(run_async: Any, quick: None) -> None:
    nannies = Nannies(*[_SAID] * 1000, workers=1000)
    run_async(nannies.lose())
    assert len(nannies.told) == nannies.asked == 200
    assert nannies.lost == ["how workers ended is not asked of the nannies of more than 200 at a time"]


def test_the_end_waits_for_no_nanny_for_long(run_async: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exits, "_LAST", 0.1)
    nannies = Nannies(None)

    async def lose() -> None:
        asks = await nannies.lose()
        assert asks.last()
        asks.stop()

    run_async(lose())
    assert nannies.told == []


def test_the_end_of_one_recording_takes_no_tries_from_another(
    run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exits, "_RESTS", (0.3,))
    monkeypatch.setattr(exits, "_AT_END", (0.0, 0.0, 0.0), raising=False)
    nannies = Nannies(*[[]] * 6, _SAID)

    async def lose() -> None:
        asks = await nannies.lose()
        for last in asks.last():
            await last
        assert not nannies.told
        await asyncio.wait(asks._asking)

    run_async(lose())
    assert len(nannies.told) == 1


def test_dask_keeps_nothing_of_the_nannies_that_were_asked(run_async: Any, quick: None) -> None:
    async def main() -> None:
        async with Server({"get_logs": lambda n: [("INFO", text) for text in _SAID]}) as nanny:
            await nanny.listen("tcp://127.0.0.1:0")
            async with ConnectionPool() as pool:
                asks = Exits(SimpleNamespace(rpc=pool, workers={}), str, told.append, pytest.fail)
                for number, address in enumerate([nanny.address, "tcp://127.0.0.1:9"]):
                    asks.there(f"tcp://w:{number}", SimpleNamespace(nanny=address, pid=7))
                    asks.logged(f"tcp://w:{number}", {"action": "remove-worker", "expected": False})
                await asyncio.wait(asks._asking)
                assert not {**pool.available, **pool.occupied}

    told: list[Any] = []
    run_async(main())
    assert len(told) == 1


@pytest.mark.parametrize(
    ("text", "pid", "found"),
    [
        ("Worker process 12 was killed by signal 9", 1, None),
        (
            "Worker process 1 was killed by unknown signal",
            1,
            ("process 1 was killed by unknown signal", {"pid": 1}),
        ),
        (
            "Worker process 1 was killed by signal 99",
            1,
            ("process 1 was killed by signal 99", {"pid": 1, "signal": 99}),
        ),
    ],
)
def test_what_a_nanny_says_of_a_process(text: str, pid: int, found: Any) -> None:
    assert exits.ended([("INFO", "Start Nanny"), ("INFO", text)], pid) == found


# What findings make of it


SEGV: dict[str, Any] = {"signal": 11, "name": "SIGSEGV"}
KILL: dict[str, Any] = {"signal": 9, "name": "SIGKILL"}


def ended(recording: Recording, worker: str = "b", **detail: Any) -> Recording:
    """With what a worker's nanny said."""
    return with_rows(recording, "events", [event(6, worker, "worker-exit", "process 5 ended", **detail)])


@pytest.mark.parametrize(
    ("detail", "short", "said", "advised"),
    [
        (
            SEGV,
            "SIGSEGV",
            "As its nanny says, the process crashed with signal 11 (SIGSEGV).",
            "faulthandler",
        ),
        (
            KILL,
            "SIGKILL",
            "the process was killed by signal 9 (SIGKILL).",
            "If it was killed for memory",
        ),
        ({"signal": 64}, "signal 64", "the process was killed by signal 64.", "If it was killed for memory"),
        ({}, "a signal", "the process was killed by an unknown signal.", "If it was killed for memory"),
        ({"status": 3}, "status 3", "the process exited with status 3.", "os._exit"),
        # What is a crash elsewhere is a wish on Linux; crashes of Windows are no signals.
        (
            {"signal": 10, "name": "SIGUSR1"},
            "SIGUSR1",
            "the process was killed by signal 10 (SIGUSR1).",
            "If it was killed for memory",
        ),
        (
            {"status": 0xC0000005},
            "status 0xC0000005",
            "the process crashed with status 0xC0000005.",
            "faulthandler",
        ),
    ],
)
def test_how_a_lost_worker_ended_is_told_as_a_fact(
    detail: dict[str, int], short: str, said: str, advised: str
) -> None:
    one = the(ended(losing(), pid=5, **detail), "worker-lost")
    assert one.title.startswith(f"1 worker died ({short}) with ")
    assert said in one.why and "mostly for memory" not in one.why and "anew elsewhere" in one.why
    assert advised in one.advice
    assert any(fact.name.startswith("processes that ") and fact.value == 1 for fact in one.evidence)


def test_memory_is_a_cause_where_the_signal_fits() -> None:
    memory = [3.9 * GB, 3.95 * GB]
    killed = dying_with(memory, ended(losing(), **KILL))
    assert "signal 9 (SIGKILL)" in killed.why and "most likely killed for its memory" in killed.why
    crashed = dying_with(memory, ended(losing(), **SEGV))
    assert "99 % of its memory limit" in crashed.why.replace(words.SPACE, " ")
    assert "for its memory" not in crashed.why
    no_memory = dying_with(memory, ended(losing(), status=0xC0000017))
    assert "most likely killed for its memory" in no_memory.why
    rising = dying_with([0.5 * GB, 1.2 * GB, 2.4 * GB], ended(losing(), status=1))
    assert "for its memory" not in rising.why


@pytest.mark.parametrize("name", ["SIGABRT", "SIGBUS"])
def test_code_that_gets_no_memory_crashes_of_that(name: str) -> None:
    """`std::bad_alloc` aborts, and a full `/dev/shm` gives SIGBUS."""
    crash = {"signal": 6, "name": name}
    for memory in ([3.9 * GB, 3.95 * GB], [0.5 * GB, 1.2 * GB, 2.4 * GB]):
        assert "may have crashed for lack of memory" in dying_with(memory, ended(losing(), **crash)).why
    assert "lack of memory" not in dying_with([0.5 * GB, 0.5 * GB], ended(losing(), **crash)).why
    advice = the(ended(losing(), **crash), "worker-lost").advice
    assert "smaller then" in advice and "faulthandler" in advice
    assert "smaller then" not in the(ended(losing(), **SEGV), "worker-lost").advice


@pytest.mark.parametrize("status", [0xC000013A, 0xC0000142])
def test_who_closes_a_console_of_windows_crashes_nothing(status: int) -> None:
    one = the(ended(losing(), status=status), "worker-lost")
    assert "crashed with" not in one.why and "faulthandler" not in one.advice and "os._exit" not in one.advice


@pytest.mark.parametrize(
    ("status", "client", "worker", "by_force"),
    [
        (1, "Windows-11-AMD64", {"versions": {"host": {"OS": "Windows"}}}, True),
        (1, "Linux-6.1-x86_64", {"versions": {"host": {"OS": "Windows"}}}, True),
        (1, "Windows-11-AMD64", {"versions": {"host": {"OS": "Linux"}}}, False),
        (1, "Windows-11-AMD64", {"versions": [["host"]]}, True),
        (1, "Linux-6.1-x86_64", None, False),
        (3, "Windows-11-AMD64", None, False),
    ],
)
def test_a_process_that_ends_with_1_may_have_been_ended_by_force_on_windows(
    status: int, client: str, worker: Any, by_force: bool
) -> None:
    recording = ended(losing(), status=status)
    recording.append(encode("about", {"name": ["platform"], "value": [json.dumps(client)]}))
    recording.append(encode("workers", {"worker": ["b"], "detail": [json.dumps(worker)]}))
    advice = the(recording, "worker-lost").advice
    assert "os._exit" in advice and ("taskkill /F" in advice) == by_force


@pytest.mark.parametrize(
    "detail",
    [
        *({"signal": signal} for signal in ("nine", [9], True, -9, 256, 10**40, 9.5)),
        *({"status": status} for status in ({}, 1e400, True, -1, 1 << 32, 10**40)),
    ],
)
def test_what_is_no_number_of_a_system_says_nothing(detail: dict[str, Any]) -> None:
    assert the(ended(losing(), **detail), "worker-lost").title.startswith("1 worker died with ")


def given_up(*exits: dict[str, Any], workers: int = 3, for_memory: int = 0) -> Finding:
    """A task that died with some workers, of which the first ones ended so, and nannies ended the last."""
    names = [f"w{number}" for number in range(workers)]
    run = Run(**{name: {"threads": 1, "joined": -1.0, "left": 3.0 * n + 3} for n, name in enumerate(names)})
    task = None
    for number, worker in enumerate(names):
        again = {} if task is None else {"task": task}
        task = run.task("deadly", worker, 3 * number, 3 * number + 3, **again, status="killed")
    run.tables["errors"] = {"run": [NOTHING], "task": [task], "exception": ["KilledWorker('deadly')"]}
    recording = run.recording()
    for worker, detail in zip(names, exits, strict=False):
        ended(recording, worker, **detail)
    for worker in names[workers - for_memory :]:
        kill = event(5, "scheduler", "dask", "worker-restart-memory", worker=worker, rss=GB)
        with_rows(recording, "events", [kill])
    return the(recording, "failed-tasks")


def test_of_what_workers_died_is_told_of_a_task_that_was_given_up() -> None:
    crashed = given_up(*[SEGV] * 3)
    assert (
        "the processes crashed with signal 11 (SIGSEGV)." in crashed.why and "faulthandler" in crashed.advice
    )
    mixed = given_up(KILL, {"status": 3})
    assert "1 was killed by signal 9 (SIGKILL), 1 exited with status 3 and 1 ended in a way" in mixed.why
    assert "get_worker_logs" not in mixed.advice
    assert "nanny=True" in given_up().advice
    assert "nann" not in given_up().why and "  " not in given_up().why + mixed.why
    advised = given_up().advice
    some = given_up(SEGV, for_memory=2)
    assert "2 were ended by them for memory and 1 crashed with signal 11 (SIGSEGV)." in some.why
    assert "how much memory they had" in some.advice and "faulthandler" not in some.advice
    assert given_up(for_memory=3).why == given_up().why and given_up(for_memory=3).advice == advised
    many = given_up(*[SEGV] * 6, *[KILL] * 6, workers=12)
    assert "6 crashed with signal 11 (SIGSEGV) and 6 were killed by signal 9 (SIGKILL)" in many.why
    assert "how much memory they had" in many.advice
