"""A recording's panels as a widget: what Python sees of them."""

from __future__ import annotations

import gzip
import json
import re
import sys
import threading
from collections.abc import Iterator
from importlib import resources
from math import nan
from pathlib import Path
from typing import Any

import dask
import pytest
from conftest import left_on, wait_for
from distributed import Client, LocalCluster
from ipywidgets.widgets.widget import _instances

import dask_insight
from dask_insight.batch import encode
from dask_insight.hosts.widget import PANELS, watched
from dask_insight.hosts.widget.connection import Connection
from dask_insight.hosts.widget.selected import Choice, selected_tasks
from dask_insight.session.driver import DRIVER
from dask_insight.session.feed import PROTOCOL, Feed
from dask_insight.session.page import LEASE
from dask_insight.words import marked

SOURCES = Path(__file__).parent.parent / "src-ts" / "panels"


@pytest.fixture(scope="module")
def run() -> dask_insight.Recording:
    """Ten tasks of two names, recorded of the threaded scheduler."""

    @dask.delayed  # type: ignore[untyped-decorator]
    def first(number: int) -> int:
        return number

    @dask.delayed  # type: ignore[untyped-decorator]
    def second(number: int) -> int:
        return number

    with dask_insight.record(name="ten") as made:
        dask.compute(*[second(first(number)) for number in range(5)], scheduler="threads", num_workers=2)
    return made


@pytest.fixture
def widget(run: dask_insight.Recording) -> Iterator[Any]:
    made = run.widget()
    yield made
    made.close()


def test_panels_are_those_of_the_page() -> None:
    index = (SOURCES / "index.ts").read_text()
    listed = re.search(r"PANELS: readonly Panel\[\] = \[(.*?)\]", index, re.DOTALL)
    assert listed
    modules = dict(re.findall(r"import \{ (\w+) \} from '\./([\w-]+)'", index))
    assert [modules[name.strip()] for name in listed[1].split(",") if name.strip()] == list(PANELS)


@pytest.mark.parametrize("name", ["report.js", "widget.js"])
def test_what_a_page_loads_is_small(name: str) -> None:
    script = resources.files("dask_insight").joinpath("static", name).read_bytes()
    assert len(gzip.compress(script)) <= 120_000


def test_panels_by_name(run: dask_insight.Recording) -> None:
    widget = run.widget("Task stream")
    assert widget.panel == "task-stream"
    widget.panel = "overview"
    assert widget.panel is None
    with pytest.raises(ValueError, match=r"no panel 'tasks'; there are overview, .*task-stream"):
        widget.panel = "tasks"
    assert widget.panel is None
    widget.close()
    with pytest.raises(ValueError, match="there are overview"):
        run.widget("tasks")
    with pytest.raises(ValueError, match="there are overview"):
        dask_insight.watch(panel="tasks")


@pytest.mark.parametrize("name", ["anywidget", "comm"])
def test_what_is_missing_is_named_and_the_cure(
    name: str, run: dask_insight.Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    for module in ("hosts.comm", "hosts.widget.comm", "hosts.widget.widget"):
        monkeypatch.delitem(sys.modules, f"dask_insight.{module}", raising=False)
    monkeypatch.delitem(sys.modules, "comm.base_comm", raising=False)
    for make in (run.widget, dask_insight.watch):
        with pytest.raises(
            ImportError, match=rf"need {name}: `pip install -U anywidget .ipywidgets>=8\.0\.5"
        ):
            make()


def test_selected_tasks(run: dask_insight.Recording, widget: Any) -> None:
    tasks = run.tasks
    assert len(widget.selected_tasks()) == len(tasks) == 10
    widget.names = ["first"]
    assert set(widget.selected_tasks()["prefix"]) == {"first"}
    chosen = tasks["run"].tolist()[:3]
    widget.names = None
    widget.runs = chosen
    assert widget.selected_tasks()["run"].tolist() == chosen
    widget.runs, widget.time_range = None, (1e9, 1e9)
    assert widget.selected_tasks().empty
    widget.time_range, widget.workers = None, []
    assert widget.workers is None
    assert list(widget.selected_tasks().columns) == list(tasks.columns)


def test_workers_and_task_names_are_those_there_are() -> None:
    recording = dask_insight.Recording()
    recording.append(encode("workers", {"worker": ["tcp://a:1"], "name": ["first"]}))
    recording.append(encode("graph", {"task": [1], "key": ["a"], "prefix": ["load"]}))
    recording.append(encode("attempts", {"run": [1], "task": [1], "worker": ["tcp://a:1"], "start": [1.0]}))
    widget = recording.widget()
    widget.workers = ["first", "tcp://a:1"]
    assert widget.workers == ["tcp://a:1"] and len(widget.selected_tasks()) == 1
    with pytest.raises(ValueError, match="no worker 'frist' in this recording; there are 'first'"):
        widget.workers = ["frist"]
    with pytest.raises(ValueError, match="no task name 'lod' in this recording; there are 'load'"):
        widget.names = ["lod"]
    widget.set_state({"workers": ["gone"], "names": ["gone"]})
    assert widget.workers == widget.names == ["gone"], "what a page says is taken as it is"
    widget.close()


def test_of_what_still_runs_names_to_come_can_be_selected() -> None:
    with dask_insight.record(name="growing") as run:
        widget = run.widget()
        widget.names, widget.workers = ["to come"], ["to come"]
        assert widget.names == widget.workers == ["to come"]
        widget.close()


@pytest.mark.parametrize("wrong", [(1.0, float("inf")), (float("-inf"), 1.0), (float("nan"), 1.0)])
def test_selected_time_is_finite_as_json_is(widget: Any, wrong: tuple[float, float]) -> None:
    widget.time_range = (1.0, 1e9)
    with pytest.raises(ValueError, match="finite"):
        widget.time_range = wrong
    assert json.dumps(widget.get_state()["time_range"], allow_nan=False) == "[1.0, 1000000000.0]"


def test_who_selects_something_is_there(widget: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stirred: list[None] = []
    monkeypatch.setattr(Feed, "stir", lambda feed: stirred.append(None))
    widget.names = ["first"]
    assert not stirred, "no page shows it"
    widget._connection.receive({"type": "hello", "page": "a", "protocol": PROTOCOL})
    stirred.clear()
    widget.names = None
    assert stirred


def test_selected_time_takes_what_overlaps_it(run: dask_insight.Recording, widget: Any) -> None:
    tasks = run.tasks.sort_values("stop")
    middle = float(tasks["start"].iloc[4])
    widget.time_range = (0.0, middle)
    assert set(widget.selected_tasks()["run"]) == set(tasks.loc[tasks["start"] < middle, "run"])
    widget.time_range = (float(tasks["stop"].max()) + 1, 1e9)
    assert widget.selected_tasks().empty
    with pytest.raises(ValueError, match="start, stop"):
        widget.time_range = (2.0, 1.0)


def test_selected_time_takes_nothing_that_was_over_before() -> None:
    recording = dask_insight.Recording()
    ended = {
        "run": [1, 2],
        "status": ["killed", "ok"],
        "start": [1.0, 6.0],
        "stop": [nan, 7.0],
        "done": [2.0, 7.0],
    }
    recording.append(encode("about", {"name": ["started"], "value": ["0.5"]}))
    recording.append(encode("attempts", ended))
    recording.append(encode("running", {"run": [3], "start": [1.5]}))
    left = selected_tasks(recording, Choice(time_range=(4.5, 9.5)))
    assert sorted(left["run"]) == [2, 3], "what runs on is there"
    assert sorted(selected_tasks(recording, Choice(time_range=(0.0, 1.2)))["run"]) == [1, 3]


def test_cells_and_lines_select_by_what_they_submitted() -> None:
    recording = dask_insight.Recording()
    submissions = {"submission": [1, 2], "execution": [7, 8], "file": ["a.py", "a.py"], "line": [3, 4]}
    recording.append(encode("submissions", submissions))
    recording.append(encode("graph", {"task": [1, 2], "key": ["a", "b"], "submission": [1, 2]}))
    recording.append(encode("attempts", {"run": [1, 2], "task": [1, 2], "start": [1.0, 2.0]}))
    widget = recording.widget()
    widget.cells = [8]
    assert widget.selected_tasks()["key"].tolist() == ["b"]
    widget.lines = ["a.py:3"]
    assert widget.selected_tasks().empty
    widget.cells = None
    assert widget.selected_tasks()["key"].tolist() == ["a"]
    widget.close()


def test_stored_it_says_what_to_do(run: dask_insight.Recording, widget: Any) -> None:
    data, _ = widget._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    for kind in ("text/plain", "text/html"):
        assert "Run this cell again" in data[kind]
        verdict = run.summary().verdict()
        assert (marked(verdict) if kind == "text/html" else verdict) in data[kind]
    assert "<script" not in data["text/html"]


def test_names_are_no_markup(run: dask_insight.Recording) -> None:
    widget = type(run.widget())(run, title="<img src=x onerror=alert(1)>")
    data, _ = widget._repr_mimebundle_()
    assert "<img" not in data["text/html"]
    widget.close()


def ours() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if "insight" in one.name and one.is_alive()]


def test_closed_it_leaves_nothing(run: dask_insight.Recording) -> None:
    threads, instances = set(ours()), set(_instances)
    followers = dict(run._followers)
    for _ in range(10):
        widget = run.widget()
        widget._handle_custom_msg({"type": "hello", "page": "p", "protocol": 1}, [])
        assert DRIVER._driven
        widget.close()
    assert set(_instances) == instances
    assert run._followers == followers
    assert not DRIVER._driven
    assert set(ours()) <= threads


def test_with_the_last_page_it_rests(run: dask_insight.Recording, widget: Any) -> None:
    for page in ("p", "q"):
        widget._handle_custom_msg({"type": "hello", "page": page, "protocol": 1}, [])
    widget._handle_custom_msg({"type": "bye", "page": "p"}, [])
    assert len(run._followers) == 1
    widget._handle_custom_msg({"type": "bye", "page": "q"}, [])
    assert not run._followers


def test_a_page_that_was_silent_for_long_is_fed_again(
    run: dask_insight.Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dask_insight.hosts.widget.connection.PATIENT_LEASE", -1.0)
    sent: list[str] = []
    connection = Connection(run, lambda message, _: sent.append(message["type"]), dict)
    connection.receive({"type": "hello", "page": "p", "protocol": PROTOCOL})
    wait_for(lambda: "data" in sent, "data")
    wait_for(lambda: sent[-1] == "hello", "a greeting")
    connection.receive({"type": "visible", "page": "p", "visible": True})
    assert len(run._followers) == 1 and "gone" not in sent
    connection.receive({"type": "bye", "page": "p"})
    assert not run._followers and sent[-1] == "gone"


def test_where_nothing_tells_of_cells_a_page_may_be_silent_for_as_long_as_one_runs() -> None:
    sent: list[str] = []
    recording = dask_insight.Recording()
    connection = Connection(recording, lambda message, _: sent.append(message["type"]), dict)
    connection.receive({"type": "hello", "page": "p", "protocol": PROTOCOL, "visible": True})
    for number in range(2):
        recording.append(encode("graph", {"task": [number], "key": [f"abs-{number}"]}))
        wait_for(lambda number=number: sent.count("data") > number, "data")
        assert connection._feed is not None
        connection._feed._pages["p"].seen -= LEASE + 1
    connection.stop()


@pytest.mark.parametrize(
    "message", [None, 3, "hello", [], {}, {"type": "hello"}, {"type": "ack", "page": "x"}]
)
def test_messages_that_make_no_sense_are_left_aside(widget: Any, message: Any) -> None:
    widget._handle_custom_msg(message, [])


def test_watched_sessions_end_with_their_last_widget() -> None:
    from dask_insight.session.live import live

    first, second = dask_insight.watch(), dask_insight.watch(panel="memory")
    assert first.recording is second.recording is not None
    first.close()
    assert live() is not None
    second.close()
    second.close()
    assert live() is None


def test_what_is_watched_is_given_back_once(run: dask_insight.Recording) -> None:
    from dask_insight.hosts.widget.widget import InsightWidget

    given_back: list[None] = []
    widget = InsightWidget(run, release=lambda: given_back.append(None))
    widget.end()
    widget.close()
    widget.close()
    assert given_back == [None]


def test_an_interrupt_while_it_closes_ends_what_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.session.live import live

    def interrupted(connection: Connection) -> None:
        raise KeyboardInterrupt

    widget = dask_insight.watch()
    widget.open()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Connection, "stop", interrupted)
        widget.close()
    assert live() is None and widget.comm is None


def test_a_hold_may_be_given_back_while_another_of_the_client_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Collecting(dict[str, Any]):
        """Garbage is collected while one looks into it: a widget that watches the same."""

        def get(self, *key: Any) -> Any:
            found = super().get(*key)
            give_back()
            return found

        def __contains__(self, key: object) -> bool:
            there = super().__contains__(key)
            give_back()
            return there

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        monkeypatch.setattr(watched, "_sessions", Collecting())
        give_back: Any = lambda: None  # noqa: E731
        _, give_back = watched.hold(client, lambda: None)
        session, release = watched.hold(client, lambda: None)
        assert "stopped" not in session.recording.about
        release()
        assert "stopped" in session.recording.about


def test_unloading_the_extension_ends_what_is_watched() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    from dask_insight.hosts import lab
    from dask_insight.session.live import live

    def threads() -> list[str]:
        return [one.name for one in threading.enumerate() if "insight" in one.name]

    before = threads()
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        lab.load(InteractiveShell.instance())
        widgets = [dask_insight.watch(), dask_insight.watch(client)]
        for widget in widgets:
            hello = {"type": "hello", "page": "one", "protocol": PROTOCOL, "have": None, "visible": True}
            widget._handle_custom_msg(hello, [])
        assert threads() != before
        client.submit(abs, -1).result()
        lab.unload(InteractiveShell.instance())
        InteractiveShell.clear_instance()
        assert live() is None and threads() == before
        assert all(not found for found in left_on(client).values())
    for widget in widgets:
        assert len(widget.recording.tasks) == 1 and "stopped" in widget.recording.about
        assert not widget._live and "on 2 threads" in widget._verdict
        widget.close()
