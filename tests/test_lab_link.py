"""The link between a real kernel and its pages."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from importlib.metadata import version
from queue import Empty
from typing import Any

import pytest
from conftest import PATIENCE
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from dask_insight.batch import decode, split
from dask_insight.session.feed import PROTOCOL


class Page:
    """What a page does, over the channels that a page has."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        self.name = uuid.uuid4().hex
        self.comm = ""
        self.feed = ""
        self.at = 0
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.messages: list[dict[str, Any]] = []
        #: The data of messages of ours.
        self.got: list[dict[str, Any]] = []

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.tables.get(table, [])

    def until(self, condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
        """Take in messages until a condition is true."""
        deadline = time.monotonic() + patience
        while not (found := condition()):
            assert time.monotonic() < deadline, f"not in {patience} s: {what}; got {self.got[-3:]}"
            self.read(0.1)
        return found

    def read(self, timeout: float) -> None:
        try:
            message = self.client.get_iopub_msg(timeout=timeout)
        except Empty:
            return
        self.messages.append(message)
        content = message["content"]
        if "dask_insight" not in message["metadata"]:
            return
        self.comm = content["comm_id"]
        if message["header"]["msg_type"] == "comm_close":
            self.comm = ""
            return
        data = content["data"]
        if self.name not in data.get("pages", [self.name]):
            return
        self.got.append(data)
        if data["type"] == "hello" and "pages" in data:
            self.feed = data["feed"]
        elif data["type"] == "data":
            self._data(data, bytes(message["buffers"][0]))

    def _data(self, data: dict[str, Any], buffer: bytes) -> None:
        assert data["from"] in (0, self.at)
        if data["from"] == 0:
            self.tables = {}
        self.at = data["to"]
        for packed in split(buffer):
            batch = decode(packed)
            columns = [values.tolist() for values in batch.columns.values()]  # type: ignore[union-attr]
            rows = [dict(zip(batch.columns, row, strict=True)) for row in zip(*columns, strict=True)]
            self.tables.setdefault(batch.table, []).extend(rows)

    def send(self, data: dict[str, Any], channel: str = "control", subshell: str | None = None) -> None:
        content = {"comm_id": self.comm, "data": {"page": self.name, **data}}
        message = self.client.session.msg("comm_msg", content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        where = self.client.control_channel if channel == "control" else self.client.shell_channel
        where.send(message)

    def hello(self, **where: Any) -> None:
        have = {"feed": self.feed, "at": self.at} if self.feed else None
        self.send({"type": "hello", "protocol": PROTOCOL, "have": have, "visible": True}, **where)

    def find(self) -> None:
        """Ask the kernel for the comm, as after a reload, on the channel that answers while it is busy."""
        request = self.client.session.msg("comm_info_request", {"target_name": "dask_insight"})
        self.client.control_channel.send(request)
        reply = self.client.get_control_msg(timeout=PATIENCE)
        assert reply["header"]["msg_type"] == "comm_info_reply"
        (self.comm,) = reply["content"]["comms"]

    def run(self, code: str) -> dict[str, Any]:
        """Run code and give its reply; what it prints is lost."""
        waiting = self.client.execute(code, allow_stdin=False)
        return self.reply(waiting)

    def reply(self, waiting: str) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == waiting:
                found: dict[str, Any] = reply["content"]
                return found
        raise AssertionError("no reply")

    def ok(self, code: str) -> None:
        content = self.run(code)
        assert content["status"] == "ok", content


def _client(manager: KernelManager, busy: bool = False) -> BlockingKernelClient:
    # Not `manager.client()`: its clients share a session, and a kernel answers one of them only.
    client = BlockingKernelClient(connection_file=manager.connection_file)
    client.load_connection_file()
    client.start_channels()
    if busy:
        return client
    deadline = time.monotonic() + PATIENCE
    # Not `wait_for_ready`: it takes a kernel that is just being restarted for dead.
    while time.monotonic() < deadline:
        client.kernel_info()
        try:
            client.get_shell_msg(timeout=1)
            return client
        except Empty:
            continue
    raise AssertionError("the kernel does not answer")


@pytest.fixture(scope="module")
def manager() -> Iterator[KernelManager]:
    made, client = start_new_kernel()
    client.stop_channels()
    yield made
    made.shutdown_kernel(now=True)


@pytest.fixture
def page(manager: KernelManager) -> Iterator[Page]:
    made = Page(_client(manager))
    yield made
    # Whatever a test has left, the next one has the kernel as it was.
    made.run("%unload_ext dask_insight\nclient.close(); cluster.close()")
    made.client.stop_channels()


CLUSTER = """
from distributed import Client, LocalCluster
cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
client = Client(cluster)
"""
BUSY = """
import time
def work(x):
    time.sleep(0.01)
    return x
for block in range({blocks}):
    futures = client.map(work, range(block * 20, block * 20 + 20), pure=False)
    client.gather(futures)
"""


def _types(page: Page) -> list[str]:
    return [one["type"] for one in page.got]


def _load(page: Page) -> None:
    page.ok(CLUSTER)
    page.ok("%load_ext dask_insight")
    page.find()
    page.hello()
    page.until(lambda: page.rows("about"), "the first data")


def _unload(page: Page) -> None:
    page.ok("%unload_ext dask_insight\nclient.close(); cluster.close()")


def _while_busy(page: Page, blocks: int = 15) -> str:
    waiting: str = page.client.execute(BUSY.format(blocks=blocks), allow_stdin=False)
    page.until(lambda: len(page.rows("attempts")) > 20, "attempts while the cell runs")
    return waiting


def test_data_arrive_while_a_cell_runs_in_few_messages(page: Page) -> None:
    page.ok(CLUSTER)
    page.ok("%load_ext dask_insight")
    page.until(lambda: page.comm, "the comm opens")
    page.hello()
    page.until(lambda: page.rows("about"), "the first data")
    before, began = len(page.got), time.monotonic()
    waiting = _while_busy(page)
    page.until(lambda: len(page.rows("attempts")) > 200, "more attempts")
    assert not page.client.shell_channel.msg_ready()
    assert len(page.got) - before <= 10 * (time.monotonic() - began) + 2
    page.reply(waiting)
    page.until(lambda: len(page.rows("attempts")) >= 300, "all attempts")
    _unload(page)
    page.until(lambda: "gone" in _types(page), "that it has ended")
    page.until(lambda: not page.comm, "the comm closes")


def test_a_page_that_comes_while_a_cell_runs_gets_the_whole_history(
    manager: KernelManager, page: Page
) -> None:
    _load(page)
    waiting = _while_busy(page, 40)
    second = Page(_client(manager, busy=True))
    second.find()
    second.hello()
    second.until(lambda: len(second.rows("attempts")) >= 20, "the history while the cell runs")
    second.until(
        lambda: second.rows("attempts")[-1]["run"] >= page.rows("attempts")[-1]["run"], "to be level"
    )
    assert not page.client.shell_channel.msg_ready()
    page.reply(waiting)
    for one in (page, second):
        one.until(lambda one=one: len(one.rows("attempts")) >= 800, "all attempts")
    assert sorted(row["run"] for row in second.rows("attempts")) == sorted(
        row["run"] for row in page.rows("attempts")
    )
    second.client.stop_channels()


def test_a_page_that_speaks_on_a_subshell_is_answered_while_a_cell_runs(page: Page) -> None:
    if int(version("ipykernel").split(".")[0]) < 7:
        pytest.skip("this ipykernel has no subshells")
    _load(page)
    page.client.control_channel.send(page.client.session.msg("create_subshell_request", {}))
    subshell = page.client.get_control_msg(timeout=PATIENCE)["content"]["subshell_id"]
    waiting = _while_busy(page)
    page.got.clear()
    page.hello(channel="shell", subshell=subshell)
    page.until(lambda: "hello" in _types(page), "the answer while the cell runs")
    assert not page.client.shell_channel.msg_ready()
    page.reply(waiting)
    page.client.control_channel.send(
        page.client.session.msg("delete_subshell_request", {"subshell_id": subshell})
    )
    assert page.client.get_control_msg(timeout=PATIENCE)["content"]["status"] == "ok"


def test_the_kernel_does_not_seem_idle_while_a_cell_runs(page: Page) -> None:
    _load(page)
    waiting = _while_busy(page, 40)
    page.messages.clear()
    page.hello()

    def states() -> list[str]:
        found = [one for one in page.messages if one["header"]["msg_type"] == "status"]
        return [one["content"]["execution_state"] for one in found]

    page.until(lambda: states()[-2:] == ["idle", "busy"], "idle, then busy again")
    corrected = [one for one in page.messages if one["header"]["msg_type"] == "status"][-1]
    assert corrected["parent_header"]["msg_id"] == waiting
    page.reply(waiting)
    page.until(lambda: states()[-1] == "idle", "idle when it has ended")
    ended = len(page.messages)
    page.hello()
    page.until(lambda: states()[-1] == "idle" and len(page.messages) > ended + 1, "the answer")


def test_a_page_that_does_not_know_us_closes_the_comm_for_itself_only(page: Page) -> None:
    _load(page)
    page.client.shell_channel.send(page.client.session.msg("comm_close", {"comm_id": page.comm, "data": {}}))
    before = page.comm
    page.find()
    assert page.comm == before
    waiting = _while_busy(page)
    page.hello()
    page.reply(waiting)
    page.until(lambda: len(page.rows("attempts")) >= 300, "all attempts")


def test_the_cells_of_a_notebook(page: Page) -> None:
    _load(page)
    code = "x = client.submit(abs, -2).result()"
    content = {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": False,
    }
    message = page.client.session.msg("execute_request", content, metadata={"cellId": "the-cell"})
    page.client.shell_channel.send(message)
    reply = page.reply(message["header"]["msg_id"])
    count = reply["execution_count"]
    page.until(
        lambda: [one for one in page.rows("cells") if one["stop"] == one["stop"] and one["cell"]], "the cell"
    )
    page.until(lambda: [one for one in page.rows("submissions") if one["cell"]], "the submission")
    began, ended = [one for one in page.rows("cells") if one["cell"] == "the-cell"]
    assert (began["execution"], began["code"], began["status"]) == (count, code, "running")
    assert (ended["execution"], ended["status"]) == (count, "ok") and ended["stop"] >= began["start"]
    (submission,) = [one for one in page.rows("submissions") if one["cell"] == "the-cell"]
    assert submission["execution"] == count and submission["code"].strip() == code
    loading = page.rows("cells")[0]
    assert loading["code"] == "%load_ext dask_insight" and loading["execution"] == began["execution"] - 1


def test_a_cell_that_is_interrupted_has_ended(manager: KernelManager, page: Page) -> None:
    _load(page)
    # Else the kernel refuses for a moment what comes after an error.
    waiting = page.client.execute("import time\ntime.sleep(600)", stop_on_error=False)

    def last() -> dict[str, Any]:
        return page.rows("cells")[-1] if page.rows("cells") else {}

    page.until(lambda: "sleep" in last()["code"], "that it runs")
    manager.interrupt_kernel()
    assert page.reply(waiting)["status"] == "error"
    page.until(lambda: last()["status"] == "error", "that it has ended")
    page.ok("after = 1")
    page.until(lambda: (last()["code"], last()["status"]) == ("after = 1", "ok"), "the next cell")


def test_state_and_settings(page: Page) -> None:
    _load(page)
    page.send({"type": "settings", "values": {"history": 1000, "rate": 10}})

    def state() -> dict[str, Any]:
        return next((one for one in reversed(page.got) if one["type"] == "state"), {})

    page.until(lambda: state().get("history", {}).get("limit") == 1000, "the setting in the state")
    waiting = page.client.execute(BUSY.format(blocks=20), allow_stdin=False)
    page.until(lambda: (state().get("busy") or {}).get("execution"), "that a cell runs")
    page.until(lambda: state()["clusters"][0]["tasks"]["done"] >= 20, "tasks of a block done")
    page.reply(waiting)
    page.until(lambda: state()["busy"] is None, "that it has ended")

    def is_over(total: int, done: int, erred: int) -> bool:
        return done == total >= 20 and not erred

    page.until(lambda: is_over(**state()["clusters"][0]["tasks"]), "all tasks of the last blocks")


def test_an_asynchronous_client_in_a_notebook(page: Page) -> None:
    page.ok("%load_ext dask_insight")
    page.find()
    page.hello()
    page.ok(
        "from distributed import Client, LocalCluster\n"
        "options = dict(processes=False, dashboard_address=':0', asynchronous=True)\n"
        "acluster = await LocalCluster(n_workers=1, **options)\n"
        "aclient = await Client(acluster, asynchronous=True)\n"
        "total = sum(await aclient.gather(aclient.map(abs, range(30))))"
    )
    page.until(lambda: len(page.rows("attempts")) >= 30, "its tasks")
    page.ok("%unload_ext dask_insight\nawait aclient.close()\nawait acluster.close()")


LEFT = """
import threading, dask
from comm import get_comm_manager
kernel = get_ipython().kernel
def left():
    callbacks = {name: len(found) for name, found in get_ipython().events.callbacks.items()}
    return {
        "threads": sorted(one.name for one in threading.enumerate() if "insight" in one.name.lower()),
        "comms": len(get_comm_manager().comms),
        "handlers": sorted(kernel.control_handlers),
        "callbacks": callbacks,
        "plugins": sorted(name for name in cluster.scheduler.plugins if "insight" in name),
        "preload": dask.config.get("distributed.client.preload", None) or [],
        "transformers": [len(get_ipython().ast_transformers), len(get_ipython().input_transformers_cleanup)],
    }
"""


def test_loading_and_unloading_ten_times_leaves_nothing(page: Page) -> None:
    page.ok(CLUSTER)
    page.ok(LEFT + "before = left()")
    for _ in range(10):
        page.ok("%load_ext dask_insight")
        page.ok("%load_ext dask_insight")
        page.ok("client.submit(abs, -1, pure=False).result()")
        page.ok("%unload_ext dask_insight")
    page.ok("assert left() == before, (left(), before)")
    page.ok("assert not before['threads'] and not before['plugins']")
    page.ok("%reload_ext dask_insight")
    page.ok("%reload_ext dask_insight")
    _unload(page)
    page.ok("assert left()['threads'] == []")


def test_a_restarted_kernel_has_another_feed(manager: KernelManager, page: Page) -> None:
    _load(page)
    page.ok("client.submit(abs, -1).result()")
    page.until(lambda: page.rows("attempts"), "an attempt")
    first = page.feed
    manager.restart_kernel(now=True)
    page.client.stop_channels()
    page.client, page.comm = _client(manager), ""
    page.ok("%load_ext dask_insight")
    page.find()
    page.hello()
    page.until(lambda: page.feed != first and not page.rows("graph"), "another feed, from its beginning")


def test_an_extension_that_the_configuration_loads() -> None:
    """The comm opens before there is any page; the first one finds it."""
    manager, first = start_new_kernel(extra_arguments=["--IPKernelApp.extra_extensions=dask_insight"])
    first.stop_channels()
    client = _client(manager)
    try:
        page = Page(client)
        page.find()
        page.hello()
        page.ok("import dask\ndask.delayed(abs)(-1).compute()")
        page.until(lambda: page.rows("attempts"), "an attempt")
        (cell, _) = page.until(lambda: len(page.rows("cells")) == 2 and page.rows("cells"), "its cell")
        assert cell["execution"] == 1
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
