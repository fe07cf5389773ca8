"""The link between a real kernel and its pages."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from dask_insight.batch import decode, split
from dask_insight.session.feed import PROTOCOL

PATIENCE = 60.0


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
        except Exception:
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


def _client(manager: KernelManager) -> BlockingKernelClient:
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    return client


@pytest.fixture(scope="module")
def manager() -> Iterator[KernelManager]:
    made, client = start_new_kernel()
    client.stop_channels()
    yield made
    made.shutdown_kernel(now=True)


@pytest.fixture
def page(manager: KernelManager) -> Iterator[Page]:
    client = _client(manager)
    yield Page(client)
    client.stop_channels()


CLUSTER = """
from distributed import Client, LocalCluster
cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None)
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


def test_data_arrive_while_a_cell_runs(page: Page) -> None:
    page.ok(CLUSTER)
    page.ok("%load_ext dask_insight")
    page.until(lambda: page.comm, "the comm opens")
    page.hello()
    page.until(lambda: "data" in [one["type"] for one in page.got], "the first data")
    waiting = page.client.execute(BUSY.format(blocks=15))
    page.until(lambda: len(page.rows("attempts")) > 100, "attempts while the cell runs")
    assert not page.client.shell_channel.msg_ready()
    page.reply(waiting)
    page.until(lambda: len(page.rows("attempts")) >= 300, "all attempts")
    page.ok("%unload_ext dask_insight\nclient.close(); cluster.close()")
