"""Feeds: what pages are sent, when, and what they cost."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from conftest import PATIENCE, wait_for

from dask_insight.batch import decode, encode, split
from dask_insight.recording import Recording
from dask_insight.session import feed as feeds
from dask_insight.session import page as ends
from dask_insight.session.bounded import BoundedRecording
from dask_insight.session.driver import TOGETHER, Driver
from dask_insight.session.feed import PROTOCOL, Feed, Turn
from dask_insight.sources.cells import NO_CELL, Cell, cell_runs


def _batch(task: int, rows: int = 1) -> bytes:
    return encode("graph", {"task": list(range(task, task + rows)), "key": [f"key-{task}"] * rows})


class Page:
    """A page's end of a feed, as short as can be."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.feed = ""
        self.at = 0
        self.tasks: list[int] = []
        self.got: list[dict[str, Any]] = []

    def hello(self, **more: Any) -> dict[str, Any]:
        have = {"feed": self.feed, "at": self.at} if self.feed else None
        return {"type": "hello", "page": self.name, "protocol": PROTOCOL, "have": have} | more

    def receive(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        if self.name not in message.get("pages", [self.name]):
            return
        self.got.append(message)
        if message["type"] == "hello" and "pages" in message:
            self.feed = message["feed"]
        elif message["type"] == "data":
            if message["from"] == 0:
                self.tasks = []
            else:
                assert message["from"] == self.at
            self.at = message["to"]
            for batch in split(_unpacked(buffers[0], message.get("packed", []))):
                columns: Any = decode(batch).columns
                self.tasks += columns["task"].tolist() if "task" in columns else []

    def types(self) -> list[str]:
        return [message["type"] for message in self.got]


def _unpacked(data: bytes, packed: list[int]) -> bytes:
    pieces = []
    for length in packed:
        pieces.append(zlib.decompress(data[:length]))
        data = data[length:]
    return b"".join((*pieces, data))


class Wire:
    """Hands every message to every page, as a comm does."""

    def __init__(self, *pages: Page) -> None:
        self.pages = list(pages)
        self.sent: list[dict[str, Any]] = []
        self.broken = False

    def __call__(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        if self.broken:
            raise OSError("closed")
        self.sent.append(message)
        for page in self.pages:
            page.receive(message, buffers)


def _settle(feed: Feed) -> int:
    """Ticks until there is nothing to do; how many messages that were."""
    for count in range(1000):
        if not feed.tick().sent:
            return count
    raise AssertionError("it never ends")


@pytest.fixture
def recording() -> Recording:
    return Recording()


def test_a_page_gets_what_was_and_what_comes(recording: Recording) -> None:
    page = Page("a")
    wire = Wire(page)
    feed = Feed(recording, wire)
    for task in range(5):
        recording.append(_batch(task))
    assert _settle(feed) == 0
    feed.handle(page.hello())
    assert _settle(feed) == 2
    assert page.types() == ["hello", "data"] and page.tasks == [0, 1, 2, 3, 4]
    recording.append(_batch(5))
    assert _settle(feed) == 1
    assert page.tasks == list(range(6)) and page.at == recording.end == 6


def test_pages_that_stand_at_one_place_share_messages(recording: Recording) -> None:
    first, second = Page("a"), Page("b")
    wire = Wire(first, second)
    feed = Feed(recording, wire)
    recording.append(_batch(0))
    feed.handle(first.hello())
    _settle(feed)
    feed.handle(second.hello())
    _settle(feed)
    before = len(wire.sent)
    recording.append(_batch(1))
    recording.append(_batch(2))
    assert _settle(feed) == 1 and len(wire.sent) == before + 1
    assert first.tasks == second.tasks == [0, 1, 2]


def test_history_comes_in_pieces_and_each_tick_sends_one(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MESSAGE", 1000)
    page = Page("a")
    feed = Feed(recording, Wire(page))
    for task in range(100):
        recording.append(_batch(task))
    feed.handle(page.hello())
    turn = feed.tick()
    assert turn == Turn(True, 0.0)
    assert feed.tick().again == 0.0
    count = _settle(feed)
    assert count > 5 and page.tasks == list(range(100))
    assert [message["replay"] for message in page.got if message["type"] == "data"][-1] is False
    assert feed.tick() == Turn(False, None)


def test_a_page_that_unpacks_gets_its_history_compressed_others_as_it_is(recording: Recording) -> None:
    for task in range(0, 30_000, 1000):
        recording.append(_batch(task, 1000))
    new, old = Page("new"), Page("old")
    sizes: dict[str, int] = {"new": 0, "old": 0}
    wire = Wire(new, old)

    def send(message: dict[str, Any], buffers: list[bytes]) -> None:
        for name in message.get("pages", []):
            sizes[name] += sum(map(len, buffers))
        wire(message, buffers)

    feed = Feed(recording, send)
    feed.handle(new.hello(unpacks=True))
    feed.handle(old.hello())
    _settle(feed)
    assert new.tasks == old.tasks == list(range(30_000))
    assert sizes["new"] < sizes["old"] / 3
    assert [message for message in old.got if "packed" in message] == []
    recording.append(_batch(30_000))
    _settle(feed)
    assert new.tasks == old.tasks and "packed" not in new.got[-1]


@pytest.mark.parametrize("protocol", [PROTOCOL - 1, PROTOCOL + 1, None])
def test_a_page_of_another_protocol_is_told_so_and_nothing_else(recording: Recording, protocol: Any) -> None:
    page, told = Page("a"), list[Any]()
    feed = Feed(recording, Wire(page), state=lambda: {"clusters": []}, settings=told.append)
    feed.handle(page.hello(protocol=protocol))
    feed.handle({"type": "settings", "page": "a", "values": {"history": 5}})
    recording.append(_batch(0))
    _settle(feed)
    assert page.types() == ["hello"] and page.got[0]["protocol"] == PROTOCOL
    assert told == []
    feed.handle(page.hello())
    _settle(feed)
    assert page.tasks == [0] and "state" in page.types()


def test_a_page_without_credit_is_sent_no_more_until_it_acknowledges(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "CREDIT_MESSAGES", 3)
    slow, quick = Page("slow"), Page("quick")
    feed = Feed(recording, Wire(slow, quick))
    for page in (slow, quick):
        feed.handle(page.hello())
    _settle(feed)
    for task in range(6):
        recording.append(_batch(task))
        _settle(feed)
        feed.handle({"type": "ack", "page": "quick", "at": quick.at})
    assert slow.tasks == [0, 1, 2] and quick.tasks == list(range(6))
    feed.handle({"type": "ack", "page": "slow", "at": slow.at})
    assert _settle(feed) == 1
    assert slow.tasks == list(range(6))


@pytest.mark.parametrize(("credit", "most"), [("CREDIT_MESSAGES", 3), ("CREDIT", 3 * len(_batch(0)))])
def test_a_page_whose_answers_wait_for_a_long_cell_stays_live_but_is_sent_seldom(
    credit: str, most: int, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, credit, most)
    clock = 1000.0
    monkeypatch.setattr(ends.time, "monotonic", lambda: clock)
    page = Page("a")
    wire = Wire(page)
    feed = Feed(recording, wire)
    feed.handle(page.hello())
    _settle(feed)
    for task in range(10):
        recording.append(_batch(task))
        _settle(feed)
    assert page.tasks == [0, 1, 2]
    assert feed.tick() == Turn(False, ends.TRICKLE)
    clock += ends.TRICKLE
    assert _settle(feed) == 1 and page.tasks == list(range(10))
    recording.append(_batch(10))
    assert _settle(feed) == 0

    clock += ends.LEASE + 1
    recording.append(_batch(11))
    assert _settle(feed) == 1 and feed.pages == 0
    feed.handle({"type": "ack", "page": "a", "at": 3})
    assert _settle(feed) == 1
    assert page.got[-1]["type"] == "hello" and "pages" not in page.got[-1]
    feed.handle(page.hello())
    _settle(feed)
    assert page.tasks == list(range(12))


def test_a_page_that_acknowledges_promptly_is_sent_nothing_while_it_is_silent_and_soon_forgotten(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ends, "CREDIT_MESSAGES", 3)
    clock = 1000.0
    monkeypatch.setattr(ends.time, "monotonic", lambda: clock)
    page = Page("a")
    feed = Feed(recording, Wire(page))
    feed.handle(page.hello(prompt=True))
    cell_runs(Cell("a", 1))
    try:
        for task in range(5):
            recording.append(_batch(task))
            _settle(feed)
        assert feed.tick() == Turn(False, None)
        clock += ends.PROMPT_LEASE
        assert _settle(feed) == 0 and feed.pages == 1 and page.tasks == [0, 1, 2]
        clock += 1
        assert _settle(feed) == 1 and feed.pages == 0
    finally:
        cell_runs(NO_CELL)
    assert page.got[-1]["type"] == "hello" and "pages" not in page.got[-1]
    feed.handle(page.hello(prompt=True))
    _settle(feed)
    assert page.tasks == [0, 1, 2, 3, 4]


def test_more_is_under_way_to_a_page_whose_acknowledgements_come_soon(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 1000.0
    monkeypatch.setattr(ends.time, "monotonic", lambda: clock)
    monkeypatch.setattr(feeds, "MESSAGE", 1000)
    monkeypatch.setattr(ends, "FIRST_CREDIT", 2000)
    monkeypatch.setattr(ends, "CREDIT", 8000)
    page = Page("a")
    feed = Feed(recording, Wire(page))
    for task in range(0, 50_000, 10):
        recording.append(_batch(task, 10))
    feed.handle(page.hello(prompt=True))

    def under_way(after: float) -> int:
        nonlocal clock
        clock += after
        feed.handle({"type": "ack", "page": "a", "at": page.at})
        return _settle(feed)

    feed.tick()
    first, second, third, fourth = [under_way(ends.QUICK / 2) for _ in range(4)]
    assert second == 2 * first and second < third == fourth
    assert under_way(2 * ends.QUICK) == first


def test_a_page_that_had_nothing_to_say_is_greeted_when_it_is_forgotten(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 1000.0
    monkeypatch.setattr(ends.time, "monotonic", lambda: clock)
    page = Page("a")
    feed = Feed(recording, Wire(page))
    feed.handle(page.hello())
    recording.append(_batch(0))
    _settle(feed)
    clock += ends.LEASE + 1
    cell_runs(Cell("a", 1))
    try:
        recording.append(_batch(1))
        assert _settle(feed) == 1 and page.tasks == [0, 1]
    finally:
        cell_runs(NO_CELL)
    recording.append(_batch(2))
    assert _settle(feed) == 1 and feed.pages == 0
    assert page.got[-1]["type"] == "hello" and "pages" not in page.got[-1]
    feed.handle(page.hello())
    _settle(feed)
    assert page.tasks == [0, 1, 2] and page.types().count("data") == 3
    assert _settle(feed) == 0


def test_a_hidden_page_costs_nothing_and_catches_up(recording: Recording) -> None:
    page = Page("a")
    feed = Feed(recording, Wire(page), state=lambda: {"rows": recording.end})
    feed.handle(page.hello(visible=False))
    _settle(feed)
    for task in range(50):
        recording.append(_batch(task))
    assert _settle(feed) == 0 and page.types() == ["hello"]
    feed.handle({"type": "visible", "page": "a", "visible": True})
    _settle(feed)
    assert page.tasks == list(range(50))


def test_a_recording_knows_whether_somebody_looks_on() -> None:
    told: list[bool] = []
    recording = BoundedRecording(1000, came=lambda: told.append(bool(recording.audience.there)))
    feed, other = Feed(recording, Wire()), Feed(recording, Wire())
    assert not recording.audience.there
    feed.handle(Page("a").hello(visible=False))
    assert not recording.audience.there and told == []
    feed.handle({"type": "visible", "page": "a", "visible": True})
    assert recording.audience.there and told == [True]
    feed.handle({"type": "visible", "page": "a", "visible": False})
    assert not recording.audience.there and told == [True]
    other.handle(Page("b").hello())
    assert recording.audience.there and told == [True, True]
    other.handle({"type": "bye", "page": "b"})
    assert not recording.audience.there
    feed.handle(Page("c").hello(protocol=PROTOCOL + 1))
    assert not recording.audience.there
    feed.handle({"type": "visible", "page": "a", "visible": True})
    feed.close()
    assert not recording.audience.there


class Idle:
    """A cluster with nothing to do, of which a page is told that acknowledges all at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(ends.time, "monotonic", lambda: self.now)
        self.recording = BoundedRecording(1000)
        self.page = Page("a")
        self.feed = Feed(self.recording, Wire(self.page), state=self._state)
        self.feed.handle(self.page.hello())
        self.recording.append(_batch(0))
        _settle(self.feed)

    def _state(self) -> dict[str, Any]:
        return {"memory": self.now, "notes": ["one"]}

    def passes(self, seconds: float) -> list[dict[str, Any]]:
        """What the page is told meanwhile."""
        before, end = len(self.page.got), self.now + seconds
        while self.now < end:
            self.now += 10
            self.recording.append(encode("resources", {"process": ["client"], "time": [self.now]}))
            self.feed.handle({"type": "ack", "page": "a", "at": self.page.at})
            _settle(self.feed)
        return self.page.got[before:]


@pytest.mark.parametrize("by", ["visible", "needs", "hello", "graph"])
def test_it_rests_when_nothing_has_run_for_long_and_wakes_up_whole(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = Idle(monkeypatch)
    recording, page = idle.recording, idle.page
    assert len(idle.passes(feeds.REST - 10)) > 50 and page.at == recording.end
    assert recording.audience.there
    (last,) = idle.passes(10)
    assert last["type"] == "state" and last["resting"]
    assert last["notes"][0] == "one" and last["notes"][1].startswith("Nothing has run for 10 minutes: paused")
    assert idle.passes(12 * feeds.REST) == [], "a server that is stopped when idle would go on for ever"
    assert not recording.audience.there and idle.feed.tick() == Turn(False, None)
    words: dict[str, Any] = {"type": by, "page": "a", "visible": True, "tables": []}
    if by == "graph":
        recording.append(_batch(1))
    else:
        idle.feed.handle(page.hello() if by == "hello" else words)
    _settle(idle.feed)
    assert recording.audience.there and page.at == recording.end
    assert page.tasks == ([0, 1] if by == "graph" else [0])
    assert "resting" not in [told for told in page.got if told["type"] == "state"][-1]
    assert len(idle.passes(feeds.REST - 10)) > 50 and len(idle.passes(2 * feeds.REST)) == 1


def test_it_does_not_rest_while_a_task_or_a_cell_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = Idle(monkeypatch)
    idle.recording.append(encode("running", {"run": [1], "task": [0], "worker": ["w"], "start": [1.0]}))
    assert len(idle.passes(3 * feeds.REST)) > 150
    idle.recording.append(encode("attempts", {"run": [1], "task": [0], "status": ["ok"]}))
    cell_runs(Cell("a", 1))
    try:
        assert len(idle.passes(3 * feeds.REST)) > 150
    finally:
        cell_runs(NO_CELL)
    idle.passes(feeds.REST)
    assert idle.passes(feeds.REST) == []


def test_a_page_goes_on_where_it_stands(recording: Recording) -> None:
    page = Page("a")
    wire = Wire(page)
    feed = Feed(recording, wire)
    recording.append(_batch(0))
    feed.handle(page.hello())
    _settle(feed)
    wire.pages.clear()
    recording.append(_batch(1))
    _settle(feed)
    wire.pages.append(page)
    feed.handle(page.hello())
    _settle(feed)
    assert page.tasks == [0, 1]
    again = Page("a")
    again.feed, again.at = "another feed", 1
    wire.pages.append(again)
    feed.handle(again.hello())
    _settle(feed)
    assert again.tasks == [0, 1]


def test_a_page_that_is_gone_is_forgotten(recording: Recording) -> None:
    feed = Feed(recording, Wire(), lease=-1.0)
    feed.handle(Page("silent").hello())
    feed.handle(Page("polite").hello())
    feed.tick()
    assert feed.pages == 2
    feed.handle({"type": "bye", "page": "polite"})
    assert feed.pages == 1
    recording.append(_batch(0))
    _settle(feed)
    recording.append(_batch(1))
    _settle(feed)
    assert feed.pages == 0


def test_state_is_sent_when_it_changes_but_not_more_often_than_it_should(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {"busy": None}
    page = Page("a")
    feed = Feed(recording, Wire(page), state=lambda: state)
    feed.handle(page.hello())
    _settle(feed)
    assert page.got[-1] == {"type": "state", "feed": feed.id, "busy": None}
    state["busy"] = {"execution": 1}
    turn = feed.tick()
    assert not turn.sent and turn.again is not None and 0 < turn.again <= feeds.STATE
    monkeypatch.setattr(feeds, "STATE", 0.0)
    assert _settle(feed) == 1
    assert page.got[-1]["busy"] == {"execution": 1}
    assert _settle(feed) == 0


def test_the_state_is_not_worked_out_before_it_may_be_sent_again(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(ends.time, "monotonic", lambda: now)
    asked: list[float] = []
    page = Page("a")
    feed = Feed(recording, Wire(page), state=lambda: {"asked": asked.append(now), "ends": recording.end})
    feed.handle(page.hello())
    _settle(feed)
    assert asked == [now]
    for number in range(5):
        recording.append(_batch(number))
        _settle(feed)
    assert asked == [now] and feed.tick().again == feeds.STATE
    now += feeds.STATE
    _settle(feed)
    assert asked == [now - feeds.STATE, now] and page.got[-1]["ends"] == 5


def test_rows_do_not_wait_for_what_the_state_is(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "STATE", 0.0)
    state = {"tasks": 0}
    page = Page("a")
    feed = Feed(recording, Wire(page), state=lambda: state)
    feed.handle(page.hello())
    _settle(feed)
    recording.append(_batch(0))
    state["tasks"] = 1
    before = len(page.got)
    assert feed.tick().sent
    assert page.types()[before:] == ["data", "state"] and page.tasks == [0]


def test_what_cannot_be_sent_is_sent_later(recording: Recording) -> None:
    page = Page("a")
    wire = Wire(page)
    feed = Feed(recording, wire)
    recording.append(_batch(0))
    feed.handle(page.hello())
    wire.broken = True
    turn = feed.tick()
    assert not turn.sent and turn.again is not None and turn.again > 0
    wire.broken = False
    _settle(feed)
    assert page.tasks == [0]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "hello"},
        {"type": "hello", "page": 7},
        {"type": "ack", "page": "nobody", "at": 3},
        {"type": "ack", "page": "a", "at": "far"},
        {"type": "hello", "page": "a", "protocol": PROTOCOL, "have": {"feed": None, "at": -4}},
        {"type": "settings", "page": "a", "values": 3},
        {"type": "else", "page": "a"},
    ],
)
def test_nonsense_is_left_aside(recording: Recording, message: dict[str, Any]) -> None:
    page = Page("a")
    feed = Feed(recording, Wire(page), settings=lambda values: None)
    recording.append(_batch(0))
    feed.handle(page.hello())
    feed.handle(message)
    _settle(feed)
    assert page.tasks == [0]


def test_it_says_that_it_has_ended(recording: Recording) -> None:
    page = Page("a")
    feed = Feed(recording, Wire(page))
    feed.handle(page.hello())
    _settle(feed)
    feed.close()
    feed.close()
    assert page.types() == ["hello", "gone"]
    recording.append(_batch(0))
    assert feed.tick() == Turn(False, None)


def test_settings_reach_their_owner(recording: Recording) -> None:
    given: list[Any] = []
    feed = Feed(recording, Wire(), settings=given.append)
    feed.handle({"type": "settings", "page": "a", "values": {"history": 1000}})
    assert given == [{"history": 1000}]


def test_the_driver_sends_for_all_feeds_and_ends(recording: Recording) -> None:
    driver = Driver("dask-insight-test")
    pages = [Page("a"), Page("b")]
    made = [Feed(recording, Wire(page), wake=driver.wake) for page in pages]
    stops = [driver.drive(feed) for feed in made]

    class Bad:
        def tick(self) -> Turn:
            raise RuntimeError("no turn")

    stops.append(driver.drive(Bad()))
    for feed, page in zip(made, pages, strict=True):
        feed.handle(page.hello())
    recording.append(_batch(0))
    wait_for(lambda: all(page.tasks == [0] for page in pages), "both pages have it")
    recording.append(_batch(1))
    wait_for(lambda: all(page.tasks == [0, 1] for page in pages), "both pages have it")
    for stop in stops:
        stop()
    names = [thread.name for thread in threading.enumerate()]
    assert "dask-insight-test" not in names


def test_the_driver_goes_on_where_its_thread_could_not_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    class Once:
        def __init__(self) -> None:
            self.ticked = threading.Event()

        def tick(self) -> Turn:
            self.ticked.set()
            return Turn(False, None)

    driver, refused, driven = Driver("dask-insight-test"), Once(), Once()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            driver.drive(refused)
    stop = driver.drive(driven)
    assert driven.ticked.wait(PATIENCE)
    stop()
    assert not refused.ticked.is_set(), "nobody could end that"


class Together(threading.Event):
    """Has the time that is given for more last until the test says that it is over."""

    def __init__(self) -> None:
        super().__init__()
        self.given, self.over = threading.Semaphore(0), threading.Semaphore(0)

    def wait(self, timeout: float | None = None) -> bool:
        if timeout != TOGETHER:
            return super().wait(timeout)
        self.given.release()
        return self.over.acquire(timeout=PATIENCE)


def test_what_comes_together_is_one_turn() -> None:
    driver, together = Driver("dask-insight-test"), Together()
    driver._idle = together
    turns: list[int] = []
    rows: list[int] = []

    class Counts:
        def tick(self) -> Turn:
            turns.append(len(rows))
            return Turn(bool(rows), None)

    stop = driver.drive(Counts())
    together.over.release()
    assert together.given.acquire(timeout=PATIENCE)
    wait_for(lambda: turns, "the first turn")
    for row in (1, 2):
        rows.append(row)
        driver.wake()
        assert row == 2 or together.given.acquire(timeout=PATIENCE), "it was not given time for more"
    together.over.release()
    wait_for(lambda: len(turns) > 1, "the second turn")
    together.over.release()
    stop()
    assert turns == [0, 2]


@pytest.mark.parametrize(("asked", "least"), [(0.01, 0.1), (0.2, 0.2)])
def test_messages_of_all_feeds_come_no_more_often_than_asked(asked: float, least: float) -> None:
    driver, said = Driver("dask-insight-test"), list[tuple[object, float]]()
    driver.interval = asked

    class Talks:
        def tick(self) -> Turn:
            said.append((self, monotonic()))
            return Turn(True, 0.0)

    both = Talks(), Talks()
    stops = [driver.drive(each) for each in both]
    wait_for(lambda: len(said) > 8, "turns")
    for stop in stops:
        stop()
    assert {each for each, _ in said} == set(both)
    *moments, last = (moment for _, moment in said[:9])
    # What the machine delays comes nearer to what follows: hardly each of the first four.
    between = [(last - moment) / (8 - place) for place, moment in enumerate(moments[:4])]
    assert max(between) >= least - 0.005


def test_the_page_has_the_same_numbers() -> None:
    """The other end stands in TypeScript."""
    top = Path(__file__).parents[1]
    page = (top / "src-ts/core/feed.ts").read_text("utf-8")
    link = (top / "labextension/src/link/messages.ts").read_text("utf-8")
    kernel = (top / "dask_insight/hosts/lab/comm.py").read_text("utf-8")
    assert f"PROTOCOL = {PROTOCOL};" in page
    assert f"ACKNOWLEDGE_BYTES = {ends.CREDIT // 2**21} * 2 ** 20;" in page
    assert f"ACKNOWLEDGE_AT_ONCE = {ends.FIRST_CREDIT // 2**13} * 2 ** 10;" in page
    assert f"ACKNOWLEDGE_MESSAGES = {ends.CREDIT_MESSAGES // 2};" in page
    assert "TARGET = 'dask_insight'" in link and 'TARGET = "dask_insight"' in kernel
