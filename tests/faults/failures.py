"""Faults by which work fails, is lost or is done again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
from distributed import Event, Lock, as_completed, get_worker, wait

from .planting import Cluster, Work, addresses, compute, plant


def parse(number: int) -> int:
    compute(0.15)
    if number % 5 == 3:
        raise ValueError(f"record {number} has no date")
    return number


def tidy(number: int) -> float:
    return compute(0.05)


@plant("failed-tasks", "parse")
def records_that_cannot_be_parsed(client: Any) -> Work:
    yield
    parsed = client.map(parse, range(30), pure=False)
    client.gather(client.map(tidy, parsed, pure=False), errors="skip")
    yield


def guard(number: int) -> Any:
    """Returns what cannot leave its process."""
    compute(0.05)
    return threading.Lock()


@plant("unsent-results", "guard", says="cannot pickle '_thread.lock'")
def results_that_cannot_be_pickled(client: Any) -> Work:
    yield
    client.gather(client.map(tidy, range(8), pure=False))
    with suppress(TypeError):
        client.gather(client.map(guard, range(4), pure=False))
    yield


def book(first: str, second: str) -> str:
    """Takes two locks, and lets whoever takes them the other way round have its first one before."""
    with Lock(first):
        Event(f"{first} is taken").set()
        Event(f"{second} is taken").wait()
        with Lock(second):
            return first


@plant("held-up", "book", variant="deadlock", cluster=Cluster(spoilt=True), says="waiting for locks")
def tasks_that_take_two_locks_each_another_one_first(client: Any) -> Work:
    yield
    client.gather(client.map(tidy, range(8), pure=False))
    booked = [client.submit(book, *names) for names in (("seat", "meal"), ("meal", "seat"))]
    with suppress(TimeoutError):
        wait(booked, timeout=7)
    yield


_TRIED: Counter[int] = Counter()


def upload(number: int) -> int:
    """A store that refuses every third part, more than once."""
    _TRIED[number] += 1
    compute(0.2)
    if number % 3 == 0 and _TRIED[number] <= 2:
        raise ConnectionError("store is busy")
    return number


@plant("retried-work", "upload")
def a_store_that_is_busy(client: Any) -> Work:
    yield
    client.gather(client.map(upload, range(15), retries=6, pure=False))
    yield


def fit(number: int) -> float:
    return compute(2.0)


@plant("cancelled-work", "fit")
def a_search_that_has_found_enough(client: Any) -> Work:
    """It cancels what it does not need any more, of which two are under way."""
    yield
    fits = client.map(fit, range(8), pure=False)
    wait(fits[:1])
    wait(client.map(tidy, range(2), pure=False, priority=1))
    client.cancel(fits[1:])
    client.gather(client.map(tidy, range(2), pure=False))
    yield


def load(number: int) -> float:
    return compute(0.3)


def sweep(number: int) -> float:
    return compute(0.4)


def analyse(loaded: float, number: int) -> float:
    return compute(0.15) + loaded


@plant("worker-lost", "load", cluster=Cluster(spoilt=True))
def a_worker_that_is_killed(client: Any) -> Work:
    """As the kernel does when memory is short."""
    lost = addresses(client)[1]
    process = client.run(os.getpid, workers=[lost])[lost]
    yield
    loaded = client.map(load, range(14), pure=False)
    wait(loaded)
    analysed = client.map(analyse, loaded, range(14), pure=False)
    for number, _ in enumerate(as_completed(analysed)):
        if number == 2:
            os.kill(process, signal.SIGKILL)
    client.gather(analysed)
    yield [lost]


@plant("worker-lost", "load", variant="scaled", cluster=Cluster(spoilt=True), says="closed at once")
def a_cluster_that_is_scaled_down_at_once(client: Any) -> Work:
    """Dask's own cluster closes workers without having their results handed over."""
    yield
    loaded = client.map(load, range(14), pure=False)
    wait(loaded)
    analysed = client.map(analyse, loaded, range(14), pure=False)
    for number, _ in enumerate(as_completed(analysed)):
        if number == 2:
            client.cluster.scale(1)
    client.gather(analysed)
    yield


class Tree:
    """Takes long to pickle, and is large enough for Dask to do so beside its event loop."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        compute(0.5)
        return Tree, ()

    def __sizeof__(self) -> int:
        return 20_000_000


def grow(number: int) -> Tree:
    return Tree()


def climb(tree: Tree, number: int) -> float:
    return compute(0.3)


@plant("worker-lost", "climb", variant="retired", cluster=Cluster(spoilt=True), says="to be retired")
def a_worker_that_is_retired_while_tasks_wait_there(client: Any) -> Work:
    """It hands over what it has before the tasks that it was given go to others."""
    retired = addresses(client)[1]
    yield
    trees = client.map(grow, range(8), pure=False, workers=[retired], allow_other_workers=True)
    wait(trees)
    climbed = client.map(climb, trees, range(8), pure=False)
    next(as_completed(climbed))
    client.retire_workers([retired])
    client.gather(climbed)
    yield [retired]


def hog(died: Path) -> bytes:
    """Takes its worker down the first time, as one too large for it, and leaves that worker's address."""
    if not died.exists():
        died.write_text(get_worker().address)
        compute(0.6)
        os.kill(os.getpid(), signal.SIGKILL)
    return bytes(300_000_000)


def measured(result: bytes) -> int:
    return len(result)


@plant("worker-lost", "hog", variant="single", cluster=Cluster(threads=2, memory="1GB", spoilt=True))
def a_worker_that_dies_of_one_of_its_tasks(client: Any) -> Work:
    """Others ran beside it, and for longer. It may be stolen: the worker to be named is the one that died."""
    chosen = addresses(client)[1]
    with tempfile.TemporaryDirectory() as folder:
        died = Path(folder, "died")
        yield
        beside = client.map(sweep, range(6), pure=False, workers=[chosen], allow_other_workers=True)
        heavy = client.submit(hog, died, workers=[chosen], allow_other_workers=True, priority=1)
        client.gather([client.submit(measured, heavy), *beside])
        yield [died.read_text()]


_AHEAD = """
import builtins, io, time
from functools import partial

real = time.time
time.time = lambda: real() + 3.0

class Elsewhere:
    "The id of a machine of its own, since only other machines have another clock."
    opened = staticmethod(open)

    def __call__(self, file, *args, **kwargs):
        if file == "/proc/sys/kernel/random/boot_id":
            return io.StringIO("elsewhere")
        return self.opened(file, *args, **kwargs)

builtins.open = Elsewhere()

from distributed.cli.dask_worker import main
main()
"""


def measure(number: int) -> float:
    return compute(0.12)


def compare(first: float, second: float) -> float:
    return compute(0.05)


@plant("clock-skew", cluster=Cluster(workers=1, spoilt=True))
def a_worker_whose_clock_is_ahead(client: Any) -> Work:
    here = addresses(client)
    command = [sys.executable, "-c", _AHEAD, client.scheduler.address, "--no-nanny", "--nthreads=1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [*command, "--no-dashboard", "--name=ahead"], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        client.wait_for_workers(2, timeout=60)
        ahead = next(each for each in addresses(client) if each not in here)
        client.submit(measure, 0, workers=[ahead]).result()
        yield
        measured = [dask.delayed(measure, pure=False)(number) for number in range(28)]
        dask.compute(*(dask.delayed(compare)(*pair) for pair in pairwise(measured)))
        yield [ahead]
    finally:
        process.terminate()
        process.wait(30)


def part(number: int, died: Path) -> Any:
    """Part of a frame; the twelfth takes its worker down the first time, and leaves that worker's address."""
    import pandas as pd

    if number == 11 and not died.exists():
        died.write_text(get_worker().address)
        os.kill(os.getpid(), signal.SIGKILL)
    compute(0.1)
    return pd.DataFrame({"key": range(number, number + 100), "value": number})


@plant("worker-lost", "part", "shuffle-transfer", variant="p2p", cluster=Cluster(spoilt=True))
def a_worker_that_dies_while_p2p_sends(client: Any) -> Work:
    """All that was sent is made and sent again, also by the worker that goes on."""
    import dask.dataframe as dd

    with tempfile.TemporaryDirectory() as folder:
        died = Path(folder) / "died"
        frame = dd.from_map(part, range(16), died=died, meta=part(0, died), enforce_metadata=False)
        yield
        frame.shuffle("key").map_partitions(len).compute()
        yield [died.read_text()]
