"""What explains a recording reaches pages while it grows: what they need, the newest, at a bounded cost."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import wait_for
from distributed import Client, LocalCluster
from test_feed import Wire

import dask_insight
from dask_insight import answers
from dask_insight.batch import decode, encode, split
from dask_insight.columns import length
from dask_insight.recording import Recording
from dask_insight.schema import EDITIONED
from dask_insight.session import explainer as explaining
from dask_insight.session.bounded import BoundedRecording
from dask_insight.session.driver import DRIVER, Driver
from dask_insight.session.explainer import Explainer, explainer_of
from dask_insight.session.feed import PROTOCOL, Feed
from dask_insight.session.live import Live


class Page:
    """A page that shows tables which are worked out."""

    def __init__(self, name: str, *needs: str) -> None:
        self.name = name
        self.needs = list(needs)
        self.at = 0
        self.feed = ""
        self.got: list[str] = []
        self.editions: list[int] = []
        self.of: dict[str, list[int]] = {}
        #: Rows of what is shown now.
        self.shown: dict[str, int] = {}

    def hello(self, **more: Any) -> dict[str, Any]:
        have = {"feed": self.feed, "at": self.at} if self.feed else None
        greeting = {"type": "hello", "protocol": PROTOCOL, "page": self.name}
        return greeting | {"have": have, "needs": self.needs} | more

    def says(self, kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "page": self.name, **more}

    def receive(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        if self.name not in message.get("pages", [self.name]):
            return
        self.got.append(message["type"])
        self.feed = message["feed"]
        if message["type"] == "data":
            self.at = message["to"]
        elif message["type"] == "answers":
            for packed in split(buffers[0]):
                batch = decode(packed)
                found = np.unique(np.asarray(batch.columns["edition"])).tolist()
                self.editions.extend(found)
                self.of.setdefault(batch.table, []).extend(found)
                self.shown[batch.table] = batch.rows


def _attempts(number: int, at: int = 0) -> Iterator[bytes]:
    """Tasks one after another on one thread, each of a second."""
    ids = list(range(at, at + number))
    start = [1000.0 + each for each in ids]
    stop = [each + 1 for each in start]
    yield encode("graph", {"task": ids, "key": [f"a-{each}" for each in ids], "prefix": ["a"] * number})
    attempt = {"run": ids, "task": ids, "worker": ["w"] * number, "thread": ["1"] * number}
    attempt |= {"status": ["ok"] * number, "start": start, "stop": stop, "done": stop}
    yield encode("attempts", attempt | {"submitted": start, "ready": start, "assigned": start})


def _add(recording: Recording, number: int, at: int = 0) -> None:
    for batch in _attempts(number, at):
        recording.append(batch)


def _rests(explainer: Explainer) -> bool:
    """Whether its thread has nothing to do until something comes."""
    settled = explainer._seen.values()
    return not explainer._awake.is_set() and all(seen == explainer._news for seen in settled)


@pytest.fixture(params=[Recording, lambda: BoundedRecording(10_000)], ids=["all", "bounded"])
def recording(request: pytest.FixtureRequest) -> Recording:
    made: Recording = request.param()
    made.append(encode("workers", {"worker": ["w"], "threads": [1], "joined": [1000.0]}))
    _add(made, 5)
    return made


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "INTERVAL", 0.05)
    monkeypatch.setattr(explaining, "SHARE", 10.0)


@pytest.fixture
def fed(recording: Recording) -> Iterator[Callable[..., tuple[Feed, Wire]]]:
    """Makes feeds that are driven."""
    driver = Driver("dask-insight-test")
    ends: list[Callable[[], None]] = []

    def make(*pages: Page) -> tuple[Feed, Wire]:
        wire = Wire(*pages)  # type: ignore[arg-type]
        feed = Feed(recording, wire, wake=driver.wake, explainer=explainer_of(recording))
        ends.extend((driver.drive(feed), feed.close))
        for page in pages:
            feed.handle(page.hello())
        return feed, wire

    yield make
    for end in ends:
        end()


def test_a_page_gets_what_it_needs_and_new_editions(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None
) -> None:
    page = Page("a", "budget", "critical", "attempts", "no such table")
    fed(page)
    wait_for(lambda: {"budget", "critical"} <= set(page.shown), "both tables")
    assert page.got[0] == "hello" and page.got.index("data") < page.got.index("answers")
    assert page.shown["critical"] == 5
    _add(recording, 5, at=5)
    wait_for(lambda: page.shown["critical"] == 10, "a new edition")
    assert all(each == sorted(set(each)) for each in page.of.values())


def test_a_page_that_comes_later_gets_the_newest_only(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None
) -> None:
    first = Page("first", "critical")
    feed, wire = fed(first)
    for at in (5, 10):
        _add(recording, 5, at=at)
        wait_for(lambda at=at: first.shown.get("critical") == at + 5, "an edition")
    late = Page("late", "critical")
    wire.pages.append(late)  # type: ignore[arg-type]
    feed.handle(late.hello())
    wait_for(lambda: late.shown, "the page that came later has it")
    assert late.editions == first.editions[-1:]


def test_what_pages_get_never_stands_in_the_recording(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None
) -> None:
    page = Page("a", *answers.MADE)
    fed(page)
    wait_for(lambda: "critical" in page.shown, "an edition")
    _add(recording, 5, at=5)
    assert not any(len(recording.columns(table)["edition"]) for table in answers.MADE)  # type: ignore[arg-type]
    assert len(recording.critical) == 10, "what Python asks for is never older than the recording"
    kept = {decode(batch).table for batch in recording.batches()}
    assert not kept & EDITIONED


def test_nothing_is_worked_out_that_nobody_sees(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    answer = Recording.answer

    def noted(self: Recording, table: str) -> Any:
        asked.append(table)
        return answer(self, table)

    monkeypatch.setattr(Recording, "answer", noted)
    page, other = Page("a"), Page("b", "budget")
    feed, _ = fed(page, other)
    wait_for(lambda: other.shown, "rows of the other page")
    assert set(asked) == {"budget"}
    feed.handle(page.says("needs", tables=["critical"]))
    wait_for(lambda: page.shown, "the panel that was opened has its rows")
    assert set(page.shown) == {"critical"} and set(other.shown) == {"budget"}
    feed.handle(page.says("visible", visible=False))
    done, edition = asked.count("critical"), other.editions[-1]
    _add(recording, 5, at=5)
    wait_for(lambda: other.editions[-1] > edition, "a new edition for the other page")
    assert asked.count("critical") == done
    feed.handle(page.says("visible", visible=True))
    wait_for(lambda: page.shown["critical"] == 10, "it is seen again")


def test_it_rests_when_nothing_new_comes(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None
) -> None:
    page = Page("a", "budget")
    fed(page)
    explainer = explainer_of(recording)
    wait_for(lambda: page.shown and _rests(explainer), "it has nothing to do")
    number = explainer._number
    for time_ in range(5):
        recording.append(encode("resources", {"process": ["w"], "time": [2000.0 + time_]}))
        recording.append(encode("memory", {"worker": ["w"], "time": [2000.0 + time_]}))
    wait_for(lambda: page.at == recording.end, "the page has the rows")
    assert _rests(explainer) and explainer._number == number


def test_while_a_task_runs_time_itself_is_news(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None
) -> None:
    running = {"run": [99], "task": [4], "worker": ["w"], "thread": ["1"], "start": [1006.0]}
    recording.append(encode("running", running))
    page = Page("a", "budget")
    fed(page)
    explainer = explainer_of(recording)
    wait_for(lambda: page.shown and _rests(explainer), "it has nothing to do")
    number = explainer._number
    recording.append(encode("resources", {"process": ["w"], "time": [1020.0]}))
    wait_for(lambda: explainer._number > number, "a new edition")


def test_what_says_little_of_a_run_that_goes_on_waits_for_its_end(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None
) -> None:
    running = {"run": [99], "task": [4], "worker": ["w"], "thread": ["1"], "start": [1006.0]}
    recording.append(encode("running", running))
    page = Page("a", "what_if", "critical")
    fed(page)
    wait_for(lambda: "critical" in page.shown, "what is told while it runs")
    explainer = explainer_of(recording)
    wait_for(lambda: "what_if" in explainer.cost, "it has looked")
    edition = page.editions[-1]
    _add(recording, 5, at=5)
    wait_for(lambda: page.editions[-1] > edition, "more of what is told while it runs")
    assert "what_if" not in page.shown
    ended = {"run": [99], "task": [4], "worker": ["w"], "thread": ["1"], "status": ["ok"]}
    times = {name: [1007.0 + 10 * (name != "start")] for name in ("start", "stop", "done")}
    recording.append(encode("attempts", ended | times))
    wait_for(lambda: page.shown.get("what_if"), "answers")


#: Seconds between two rounds of an explainer, whose clocks go as it is told.
_STEP = 0.01


def _paced(
    recording: Recording, monkeypatch: pytest.MonkeyPatch, costs: dict[str, float]
) -> dict[str, list[float]]:
    """When tables are worked out within 5 s, with news all the time; each takes so much of a core."""
    now = cpu = 0.0
    clocks = SimpleNamespace(monotonic=lambda: now, thread_time=lambda: cpu, time=time.time)
    monkeypatch.setattr(explaining, "time", clocks)
    made: dict[str, list[float]] = {table: [] for table in costs}

    def busy(table: str) -> None:
        nonlocal cpu
        made[table].append(now)
        cpu += costs[table]

    explainer = Explainer(recording)
    monkeypatch.setattr(explainer, "_make", busy)
    unfollow = recording.on_append(explainer._appended)
    for step in range(round(5 / _STEP)):
        now = _STEP * step
        _add(recording, 1, at=5 + step)
        explainer._round([(lambda: list(costs), lambda: None)])
    unfollow()
    return made


def test_it_takes_its_share_of_a_core_only(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval grows with what an edition costs, whoever else is served."""
    monkeypatch.setattr(explaining, "INTERVAL", 0.1)
    monkeypatch.setattr(explaining, "SHARE", 0.1)
    made = _paced(recording, monkeypatch, {"budget": 0.02, "critical": 0.001})
    # Half as much again as 0.02 s, twice over as two share 10 % of a core, are 0.6 s.
    assert np.diff(made["budget"]) == pytest.approx(0.6, abs=2 * _STEP)
    assert np.diff(made["critical"]) == pytest.approx(0.1, abs=2 * _STEP)


def test_source_code_takes_a_share_of_its_own(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "INTERVAL", 0.05)
    monkeypatch.setattr(explaining, "SHARE", 0.3)
    made = _paced(recording, monkeypatch, {"budget": 0.01, "functions": 0.01})
    # Half as much again as 0.01 s are 1 % of 1.5 s; and 15 % of 0.1 s for the other.
    assert np.diff(made["functions"]) == pytest.approx(1.5, abs=2 * _STEP)
    assert np.diff(made["budget"]) == pytest.approx(0.1, abs=2 * _STEP)


def test_what_fails_is_told_once_and_tried_again(
    recording: Recording,
    fed: Callable[..., tuple[Feed, Wire]],
    quick: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, tries = Recording.answer, []

    def failing(self: Recording, table: str) -> Any:
        tries.append(table)
        if table == "budget":
            raise ArithmeticError(f"no {len(tries)}")
        return answer(self, table)

    monkeypatch.setattr(Recording, "answer", failing)
    page = Page("a", "budget", "critical")
    fed(page)
    for at in range(5, 25, 5):
        _add(recording, 5, at=at)
        wait_for(lambda at=at: page.shown.get("critical") == at + 5, "the other table")
    assert tries.count("budget") > 1
    told = [text for text in recording.events["message"] if "could not be worked out" in text]
    assert len(told) == 1 and "budget" in told[0] and "ArithmeticError" in told[0]


def test_an_edition_without_rows_takes_the_old_ones_away(
    recording: Recording,
    fed: Callable[..., tuple[Feed, Wire]],
    quick: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = Page("a", "critical")
    fed(page)
    wait_for(lambda: page.shown.get("critical") == 5, "rows")
    answer = Recording.answer

    def nothing(self: Recording, table: str) -> Any:
        return {name: values[:0] for name, values in answer(self, table).items() if name == "start"}  # type: ignore[index]

    monkeypatch.setattr(Recording, "answer", nothing)
    _add(recording, 1, at=5)
    wait_for(lambda: page.shown["critical"] == 0, "none")


def test_its_thread_lives_while_something_is_needed(
    recording: Recording, fed: Callable[..., tuple[Feed, Wire]], quick: None
) -> None:
    def alive() -> bool:
        return any(thread.name == "dask-insight-explain" for thread in threading.enumerate())

    first, second = Page("a", "budget"), Page("b")
    feeds = [fed(page)[0] for page in (first, second)]
    assert explainer_of(recording) is explainer_of(recording)
    wait_for(lambda: first.shown, "rows of the first")
    followers = len(recording._followers)
    feeds[0].handle(first.says("needs", tables=[]))
    wait_for(lambda: not alive(), "nothing is needed")
    assert len(recording._followers) == followers - 1
    number = explainer_of(recording)._number
    feeds[0].handle(first.says("needs", tables=["critical"]))
    wait_for(lambda: "critical" in first.shown, "it begins again")
    feeds[1].handle(second.says("needs", tables=["budget"]))
    wait_for(lambda: second.shown, "what has been worked out is there")
    assert explainer_of(recording)._number == number + 1
    for feed in feeds:
        feed.close()
    assert not alive()


def test_rows_that_a_file_has_are_not_believed(
    fed: Callable[..., tuple[Feed, Wire]], recording: Recording, quick: None
) -> None:
    worked_out = {table: length(recording.answer(table)) for table in ("critical", "findings")}
    advice = {"title": ["Believe me"] * 9, "advice": ["    do_it()"] * 9, "edition": [700] * 9}
    recording.append(encode("critical", {"worker": ["believe me"] * 9}))
    recording.append(encode("findings", advice))
    page = Page("a", "critical", "findings")
    fed(page)
    wait_for(lambda: len(page.shown) == 2, "they have been worked out")
    assert 0 < worked_out["findings"] < 9
    assert page.shown == worked_out and page.of["findings"][0] > 700
    assert {table: length(recording.answer(table)) for table in worked_out} == worked_out


def test_only_rows_of_the_last_edition_are_valid(tmp_path: Any) -> None:
    """Of whatever wrote several into one recording."""
    recording = Recording()
    for edition, rows in ((1, 3), (3, 2), (2, 4)):
        columns = {"worker": [f"w{edition}"] * rows, "edition": [edition] * rows}
        recording.append(encode("budget", columns))
        recording.columns("budget")
    recording.save(tmp_path / "run.dinsight")
    for each in (recording, dask_insight.open(tmp_path / "run.dinsight")):
        assert each.columns("budget")["worker"].tolist() == ["w3", "w3"]  # type: ignore[union-attr]


def _work(number: int) -> int:
    return sum(range(number))


def test_a_live_session_explains_itself_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a real cluster; nothing of it runs on the client's event loop."""
    monkeypatch.setattr(explaining, "INTERVAL", 0.1)
    monkeypatch.setattr(explaining, "SHARE", 1.0)
    threads: set[str] = set()
    make = Explainer._make

    def noted(self: Explainer, table: str) -> None:
        threads.add(threading.current_thread().name)
        make(self, table)

    monkeypatch.setattr(Explainer, "_make", noted)
    session = Live()
    recording = session.start()
    page = Page("a", *answers.MADE, "lines")
    feed = Feed(recording, Wire(page), wake=DRIVER.wake, explainer=explainer_of(recording))  # type: ignore[arg-type]
    undrive = DRIVER.drive(feed)
    try:
        feed.handle(page.hello())
        with (
            LocalCluster(
                n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            wait_for(lambda: session.state()["clusters"], "the cluster is followed")
            for round_ in range(3):
                client.gather(client.map(_work, range(20_000, 20_030), pure=False))
                edition = max(page.editions, default=0)
                wait_for(lambda edition=edition: max(page.editions, default=0) > edition, f"{round_}")
            wait_for(lambda: set(answers.MADE) <= set(page.shown), "all tables")
            wait_for(lambda: "def _work(number: int) -> int:" in set(recording.lines["text"]), "lines")
        assert page.shown["budget"] > 0 and page.shown["critical"] > 0
        assert threads == {"dask-insight-explain"}
        assert not any("could not be" in text for text in recording.events["message"])
        assert sum(len(batch) for batch in recording.batches()) > 0
    finally:
        undrive()
        feed.close()
        session.stop()
    saved = {decode(batch).table for batch in recording.packed()}
    assert "lines" in saved and not saved & EDITIONED


def test_it_goes_on_where_its_thread_could_not_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    recording = Recording()
    _add(recording, 5)
    made = Explainer(recording)
    stop = made.serve(lambda: ["budget"], lambda: None)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            made.wake()
    try:
        made.wake()
        wait_for(lambda: made.newest("budget") is not None, "the budget")
    finally:
        stop()


_AT_WORK = """
import atexit
import threading

def left():
    print([one.name for one in threading.enumerate() if "insight" in one.name])

# What is registered first runs last.
atexit.register(left)
from dask_insight.recording import Recording
from dask_insight.session.driver import DRIVER
from dask_insight.session.explainer import Explainer
from dask_insight.session.feed import Turn

class Works:
    def __init__(self):
        self.begun = threading.Event()

    def work(self, *_):
        self.begun.set()
        threading.Event().wait(3.0)

    def tick(self):
        self.work()
        return Turn(False, None)

explaining, driven = Works(), Works()
Explainer._make = explaining.work
explainer = Explainer(Recording())
explainer.serve(lambda: ["budget"], lambda: None)
explainer.wake()
DRIVER.drive(driven)
assert explaining.begun.wait(60) and driven.begun.wait(60)
"""


def test_a_process_that_ends_waits_for_what_is_being_worked_out() -> None:
    ran = subprocess.run([sys.executable, "-c", _AT_WORK], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr


def test_nothing_is_kept_of_what_was_read_once_it_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    was_read: list[weakref.ref[Any]] = []
    columns = BoundedRecording.columns

    def noted(self: BoundedRecording, table: str) -> dict[str, Any]:
        found = columns(self, table)
        if table == "attempts":
            was_read.append(weakref.ref(found["start"]))
        return found

    monkeypatch.setattr(BoundedRecording, "columns", noted)
    recording = BoundedRecording(1_000)
    for batch in _attempts(200):
        recording.append(batch)
    made = Explainer(recording)
    stop = made.serve(lambda: ["budget", "lines"], lambda: None)
    try:
        made.wake()
        wait_for(lambda: made.newest("budget") is not None, "the budget")
        wait_for(lambda: gc.collect() >= 0 and not any(each() is not None for each in was_read), "its end")
        assert was_read
    finally:
        stop()


@pytest.mark.parametrize(("table", "most"), [("budget", 480), ("critical", 480), ("findings", 620)])
def test_an_edition_takes_so_many_bytes_a_task_for_as_long_as_it_is_worked_out(table: str, most: int) -> None:
    count = 20_000

    def recorded() -> BoundedRecording:
        recording, rows = BoundedRecording(count), np.arange(count)
        names = {"key": [f"('{'part' * 10}', {row})" for row in rows], "prefix": ["part"] * count}
        recording.append(encode("graph", {"task": rows, **names}))
        start = 1000.0 + rows // 8 * 0.01
        where = {"worker": ["w"] * count, "thread": [str(row % 8) for row in rows]}
        moments = {
            "submitted": np.full(count, 999.0),
            "ready": np.full(count, 999.0),
            "assigned": start - 1e-3,
        }
        moments |= {"start": start, "stop": start + 8e-3, "done": start + 9e-3}
        ended = {"run": rows, "task": rows, "status": ["ok"] * count, **where, **moments}
        recording.append(encode("attempts", ended))
        moments = {"received": start - 9e-4, "ready": start - 8e-4, "executing": start - 5e-4}
        moments |= {"ended": start + 8.5e-3, "cpu": np.full(count, 4e-3)}
        recording.append(encode("executions", {"run": rows, **where, **moments}))
        recording.tidy()
        return recording

    # What is imported on the way does not count.
    recorded().answer(table)
    recording = recorded()
    tracemalloc.start()
    try:
        recording.answer(table)
        assert tracemalloc.get_traced_memory()[1] < most * count
    finally:
        tracemalloc.stop()
