"""Widgets in a real kernel, spoken to as a page speaks to it."""

from __future__ import annotations

import ast
import json
import time
import uuid
from collections.abc import Callable, Iterator
from queue import Empty
from typing import Any

import pytest
from conftest import PATIENCE
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from dask_insight.batch import decode, split
from dask_insight.hosts.notebook import MIME
from dask_insight.session.feed import PROTOCOL

RECORDED = """
import dask, dask_insight
with dask_insight.record(name="many") as run:
    dask.compute(*[dask.delayed(abs)(number) for number in range(50)], scheduler="sync")
"""
LEFT = """
import gc, json, threading
from comm import get_comm_manager
from ipywidgets.widgets.widget import _instances
callbacks = {name: len(found) for name, found in get_ipython().events.callbacks.items()}
print(json.dumps([len(get_comm_manager().comms), len(_instances), len(run._followers), callbacks,
                  sorted(one.name for one in threading.enumerate() if "insight" in one.name)]))
"""


class Page:
    """What a page does with widgets: it models each comm, and says hello for each that it shows."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        self.name = uuid.uuid4().hex
        #: State of the widgets of ours that are open, by comm.
        self.models: dict[str, dict[str, Any]] = {}
        self.opened = 0
        #: Messages of feeds that were for this page, and the headers that they had as parents.
        self.got: list[dict[str, Any]] = []
        self.parents: list[dict[str, Any]] = []
        self.rows: dict[str, int] = {}
        #: Requests that have been dealt with.
        self.done: set[str | None] = set()
        self.printed: dict[str, str] = {}
        self.shown: list[dict[str, Any]] = []

    @property
    def comm(self) -> str:
        """The widget that was opened last."""
        return list(self.models)[-1]

    def read(self, timeout: float = 0.1) -> None:
        try:
            message = self.client.get_iopub_msg(timeout=timeout)
        except Empty:
            return
        content, kind = message["content"], message["header"]["msg_type"]
        parent = message["parent_header"]
        if kind == "status" and content["execution_state"] == "idle":
            self.done.add(parent.get("msg_id"))
        elif kind == "stream":
            cell = parent["msg_id"]
            self.printed[cell] = self.printed.get(cell, "") + content["text"]
        elif kind in ("execute_result", "display_data"):
            self.shown.append(content["data"])
        elif kind == "comm_open" and "_key" in content["data"].get("state", ()):
            self.models[content["comm_id"]] = content["data"]["state"]
            self.opened += 1
            self.parents.append(parent)
        elif kind == "comm_close":
            self.models.pop(content["comm_id"], None)
        elif kind == "comm_msg" and content["comm_id"] in self.models:
            self._told(content, parent, message["buffers"])

    def _told(self, content: dict[str, Any], parent: dict[str, Any], buffers: list[Any]) -> None:
        data = content["data"]
        if data["method"] != "custom":
            self.models[content["comm_id"]].update(data["state"])
            return
        told = data["content"]
        if self.name not in told.get("pages", [self.name]):
            return
        self.got.append(told)
        self.parents.append(parent)
        if told["type"] == "data":
            for packed in split(bytes(buffers[0])):
                batch = decode(packed)
                self.rows[batch.table] = self.rows.get(batch.table, 0) + batch.rows

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (found := condition()):
            assert time.monotonic() < deadline, f"not in {PATIENCE} s: {what}; got {self.got[-3:]}"
            self.read()
        return found

    def start(self, code: str, cell: str = "") -> str:
        """Have a cell run."""
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        message = self.client.session.msg("execute_request", content | {"allow_stdin": False})
        message["metadata"] = {"cellId": cell} if cell else {}
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def ended(self, waiting: str) -> None:
        """Wait until a cell has run, and take in all that it sent."""
        self.until(lambda: waiting in self.done, "the end of the cell")
        reply: dict[str, Any] = {}
        while reply.get("parent_header", {}).get("msg_id") != waiting:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
        assert reply["content"]["status"] == "ok", reply["content"]

    def run(self, code: str, cell: str = "") -> str:
        """Run a cell and give what it printed."""
        waiting = self.start(code, cell)
        self.ended(waiting)
        return self.printed.get(waiting, "")

    def send(self, data: dict[str, Any], subshell: str | None = None, comm: str = "") -> str:
        message = self.client.session.msg("comm_msg", {"comm_id": comm or self.comm, "data": data})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def say(self, kind: str, subshell: str | None = None, comm: str = "", **rest: Any) -> str:
        content = {"type": kind, "page": self.name, **rest}
        return self.send({"method": "custom", "content": content}, subshell, comm)

    def hello(self, subshell: str | None = None, comm: str = "") -> str:
        return self.say("hello", subshell, comm, protocol=PROTOCOL, have=None, visible=True)

    def subshell(self) -> str:
        self.client.control_channel.send(self.client.session.msg("create_subshell_request"))
        reply = self.client.get_control_msg(timeout=PATIENCE)["content"]
        if reply["status"] != "ok":
            pytest.skip("this ipykernel has no subshells")
        return str(reply["subshell_id"])


@pytest.fixture(scope="module")
def client() -> Iterator[BlockingKernelClient]:
    manager, made = start_new_kernel()
    yield made
    made.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def page(client: BlockingKernelClient) -> Page:
    made = Page(client)
    made.run(RECORDED)
    return made


def test_a_recording_comes_whole(page: Page) -> None:
    page.run("widget = run.widget(); widget", "a")
    state = page.models[page.comm]
    assert (state["_title"], state["_live"], state["panel"]) == ("many", False, None)
    assert "export{" in state["_esm"].replace(" ", "")
    assert page.shown[-1]["application/vnd.jupyter.widget-view+json"]["model_id"] == page.comm
    page.hello()
    page.until(lambda: page.got and page.got[-1]["type"] == "data" and not page.got[-1]["replay"], "data")
    assert json.loads(page.run("print(len(run.tasks))")) == page.rows["attempts"] == 50


def test_selection_goes_both_ways(page: Page) -> None:
    page.run("widget = run.widget('functions'); widget", "a")
    page.send({"method": "update", "state": {"names": ["abs"], "time_range": [0.0, 1e6]}, "buffer_paths": []})
    assert page.run("print(widget.names, widget.time_range, len(widget.selected_tasks()))") == (
        "['abs'] (0.0, 1000000.0) 50\n"
    )
    page.run("widget.names = None; widget.panel = 'memory'")
    page.until(lambda: page.models[page.comm]["panel"] == "memory", "panel")
    assert page.models[page.comm]["names"] is None
    page.send({"method": "update", "state": {"names": []}, "buffer_paths": []})
    assert page.run("print(widget.names, len(widget.selected_tasks()))") == "[] 0\n"


def test_while_a_cell_runs_pages_are_answered_and_its_output_stays_its_own(page: Page) -> None:
    subshell = page.subshell()
    page.run("widget = run.widget(); widget", "a")
    page.parents.clear()
    waiting = page.start(
        "import time\nwhile not widget.names:\n    time.sleep(0.01)\nprint('chosen', widget.names)", "b"
    )
    asked = page.hello(subshell)
    page.until(lambda: page.rows.get("attempts") == 50, "data while the cell runs")
    assert waiting not in page.printed
    assert all(parent.get("msg_id") in (None, asked) for parent in page.parents)
    page.send({"method": "update", "state": {"names": ["abs"]}, "buffer_paths": []}, subshell)
    page.ended(waiting)
    assert page.printed[waiting] == "chosen ['abs']\n"


def test_the_result_of_a_long_cell_comes_where_nothing_can_be_replaced(page: Page) -> None:
    page.run("from dask_insight.hosts import magic; import time; magic.register(get_ipython())")
    # Consoles name no cell, and leave aside what is to take the place of an output.
    page.run("%%dprofile slow\ndask.delayed(time.sleep)(1).compute(scheduler='sync')")
    page.run("magic.unregister(get_ipython())")
    [shown] = page.shown
    assert shown[MIME]["name"] == "slow"


def test_a_recording_in_the_making_is_followed_to_its_end(page: Page) -> None:
    page.run("session = dask_insight.record(name='growing'); run = session.start(); run.widget()", "a")
    assert page.models[page.comm]["_live"] is True
    page.hello()
    page.run("dask.compute(*[dask.delayed(abs)(number) for number in range(30)], scheduler='sync');")
    page.until(lambda: page.rows.get("attempts") == 30, "tasks")
    page.run("session.stop();")
    page.until(lambda: page.models[page.comm]["_live"] is False, "its end")
    assert "thread" in page.models[page.comm]["_verdict"]


def test_watch_follows_clusters_and_ends_with_its_output(page: Page) -> None:
    page.run("from distributed import Client; import time; from dask_insight.session.live import live")
    page.run("dask_insight.watch()", "watch")
    page.hello()
    page.run("client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=':0')")
    page.run("client.gather(client.map(abs, range(-20, 0)));")
    page.until(lambda: page.rows.get("attempts") == 20, "tasks of the cluster")

    def threads() -> list[int]:
        return [one["threads"] for each in page.got for one in each.get("clusters", ())]

    page.until(lambda: 1 in threads(), "clusters")
    first = page.comm
    assert page.run("print(live() is None)") == "False\n"
    page.run("again = dask_insight.watch(client, panel='memory'); again", "watch")
    assert list(page.models) == [page.comm] != [first]
    assert page.run("again.close(); client.close(); print(live() is None)") == "True\n"
    assert not page.models


WORK = (
    "from dask_insight.sources.cells import running_cell\ndask.delayed(abs)(-1).compute(scheduler='sync')\n"
)


def test_who_watches_is_told_of_cells_without_the_extension(page: Page) -> None:
    page.run("watching = dask_insight.watch(); watching", "a")
    assert "id='b'" in page.run(f"{WORK}print(running_cell())", "b")
    page.run("watching.close()")


@pytest.mark.parametrize("extension", ["", "%load_ext dask_insight"])
def test_each_cell_is_there_once_for_who_watches(page: Page, extension: str) -> None:
    page.run(extension)
    page.run("watching = dask_insight.watch(); watching", "a")
    page.run(WORK, "b")
    cells = (
        "c = watching.recording.columns('cells'); print(list(zip(c['cell'].tolist(), c['status'].tolist())))"
    )
    told = [each for each in ast.literal_eval(page.run(cells, "c")) if each[0]]
    assert told == [("a", "running"), ("a", "ok"), ("b", "running"), ("b", "ok"), ("c", "running")]
    page.run("watching.close()")
    page.run("%unload_ext dask_insight" if extension else "")


def test_cells_of_who_watches_a_client(page: Page) -> None:
    page.run("from distributed import Client")
    page.run("client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=':0')")
    page.run("watching = dask_insight.watch(client); watching", "a")
    page.hello()
    page.run("client.submit(abs, -1).result()", "b")
    page.until(lambda: page.rows.get("cells", 0) >= 4, "its cells")
    page.run("watching.close(); client.close()")


def test_run_again_a_cell_leaves_nothing(page: Page) -> None:
    page.run("run.widget()", "again")
    page.hello()
    page.until(lambda: page.rows.get("attempts") == 50, "data")
    before = json.loads(page.run(LEFT))
    for _ in range(10):
        page.run("run.widget()", "again")
        page.hello()
        page.until(lambda: page.got[-1]["type"] == "data", "data")
    assert json.loads(page.run(LEFT)) == before
    assert (page.opened, len(page.models)) == (11, 1)
    page.run("None", "again")
    assert not page.models


def test_shown_again_it_stays(page: Page) -> None:
    page.run("widget = run.widget(); widget.names = ['abs']", "a")
    page.run("widget", "b")
    page.run("widget", "c")
    page.run("None", "b")
    assert page.opened == 1 == len(page.models)
    page.run("widget", "c")
    assert page.opened == 1 == len(page.models)
    page.run("None", "c")
    assert not page.models
    page.run("widget", "d")
    assert (page.opened, len(page.models)) == (2, 1)
    assert page.models[page.comm]["names"] == ["abs"]
