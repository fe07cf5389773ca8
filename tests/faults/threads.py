"""Faults in what worker threads do while they run a task."""

from __future__ import annotations

import asyncio
import http.server
import socket
import threading
import time
import urllib.request
from typing import Any

from distributed import WorkerPlugin
from tornado.ioloop import PeriodicCallback

from .planting import QUAD, Cluster, Work, addresses, compute, plant


def tokenize(number: int) -> int:
    """Pure Python, which holds the GIL."""
    counts: dict[str, int] = {}
    for at in range(450_000):
        word = "w" + str((at * 7 + number) % 1_000)
        counts[word] = counts.get(word, 0) + 1
    return len(counts)


@plant("gil-contention", "tokenize", cluster=Cluster(workers=1, threads=4))
def pure_python_on_four_threads(client: Any) -> Work:
    yield
    client.gather(client.map(tokenize, range(48), pure=False))
    yield


@plant(
    "gil-contention",
    "tokenize",
    variant="one-process",
    cluster=Cluster(workers=4, processes=False, spoilt=True),
)
def workers_that_share_a_process(client: Any) -> Work:
    yield
    client.gather(client.map(tokenize, range(48), pure=False))
    yield


def download(url: str) -> int:
    with urllib.request.urlopen(url) as answer:
        return len(answer.read())


def digest(size: int) -> float:
    return compute(0.01) + size


class _Slowly(http.server.BaseHTTPRequestHandler):
    """A store that takes its time."""

    def do_GET(self) -> None:
        time.sleep(0.3)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(bytes(20_000))

    def log_message(self, format: str, *args: Any) -> None:
        pass


@plant("io-wait", "download", variant="http", cluster=QUAD)
def a_store_that_takes_its_time(client: Any) -> Work:
    store = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Slowly)
    threading.Thread(target=store.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{store.server_port}/part"
    yield
    client.gather(client.map(digest, client.map(download, [url] * 44, pure=False), pure=False))
    yield
    store.shutdown()
    store.server_close()


def query(number: int) -> int:
    """A database that answers when it likes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        threading.Timer(0.25 + 0.02 * (number % 4), theirs.send, [b"1"]).start()
        return len(ours.recv(1))


@plant("io-wait", "query", variant="socket", cluster=QUAD)
def a_database_that_is_waited_for(client: Any) -> Work:
    yield
    client.gather(client.map(query, range(48), pure=False))
    yield


def chained(number: int, before: int) -> int:
    return tokenize(number) + before


@plant("io-wait", "query", variant="beside-a-loop", cluster=Cluster(workers=1, threads=4))
def queries_beside_a_loop(client: Any) -> Work:
    """One thread alone wants the interpreter's lock."""
    yield
    last: Any = 0
    for number in range(16):
        last = client.submit(chained, number, last, pure=False)
    client.gather([last, *client.map(query, range(36), pure=False)])
    yield


def pace(number: int) -> int:
    """Goes easy on a service, on purpose."""
    time.sleep(0.25 + 0.02 * (number % 4))
    return number


@plant("sleeping", "pace", cluster=QUAD)
def tasks_that_sleep(client: Any) -> Work:
    yield
    client.gather(client.map(pace, range(48), pure=False))
    yield


class Stock:
    """An actor."""

    def take(self, number: int) -> int:
        time.sleep(0.06)
        return number


def order(number: int, stock: Any) -> int:
    return int(stock.take(number).result())


@plant("held-up", "order", cluster=QUAD, says="calls of an actor")
def tasks_that_call_an_actor(client: Any) -> Work:
    stock = client.submit(Stock, actor=True, pure=False).result()
    yield
    client.gather(client.map(order, range(40), stock=stock, pure=False))
    yield


class Ledger:
    """Looks through all that it holds when somebody asks for its size."""

    def __sizeof__(self) -> int:
        compute(0.06)
        return 1000


def book(number: int) -> Ledger:
    compute(0.02)
    return Ledger()


@plant("slow-sizes", "book", cluster=QUAD, says="how large")
def results_that_count_themselves(client: Any) -> Work:
    yield
    client.submit(len, client.map(book, range(60), pure=False)).result()
    yield


def decode(number: int) -> int:
    """A call into C that does not let go of the GIL."""
    return sum(range(100_000_000)) + number


def index(first: int, second: int) -> float:
    return compute(0.02)


@plant("event-loop-lag", "decode", variant="c-call")
def a_c_call_that_keeps_the_gil(client: Any) -> Work:
    workers = addresses(client)
    yield
    decoded = [
        client.submit(decode, number, workers=[workers[number % 2]], pure=False) for number in range(10)
    ]
    pairs = zip(decoded[::2], decoded[1::2], strict=True)
    client.gather([client.submit(index, *pair, pure=False) for pair in pairs])
    yield workers


async def poll(number: int) -> int:
    """A coroutine, which runs on the worker's event loop, that blocks it."""
    time.sleep(0.35)
    await asyncio.sleep(0)
    return number


@plant("event-loop-lag", "poll", variant="coroutine")
def a_coroutine_that_blocks(client: Any) -> Work:
    workers = addresses(client)
    yield
    polled = client.map(poll, range(18), pure=False)
    client.gather(
        [client.submit(index, *pair, pure=False) for pair in zip(polled[::2], polled[1::2], strict=True)]
    )
    yield workers


class Meter(WorkerPlugin):
    """Counts something every second, on the worker's event loop."""

    name = "meter"

    def setup(self, worker: Any) -> None:
        self.callback = PeriodicCallback(lambda: time.sleep(0.5), 600)
        self.callback.start()

    def teardown(self, worker: Any) -> None:
        self.callback.stop()


def refine(number: int) -> float:
    return compute(0.05)


@plant("event-loop-lag", variant="plugin", says="`Meter.")
def a_plugin_that_blocks(client: Any) -> Work:
    client.register_plugin(Meter())
    workers = addresses(client)
    yield
    client.gather(client.map(refine, range(40), pure=False))
    yield workers
    client.unregister_worker_plugin(Meter.name)
