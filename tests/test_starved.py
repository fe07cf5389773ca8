"""How long threads had no core: of threads that compete for them, and of one that sleeps."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from dask_insight.probe.starved import Starved

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/thread-self/schedstat"), reason="only Linux tells how long threads had no core"
)


def test_threads_that_compete_for_cores_are_starved() -> None:
    number = 2 * (os.cpu_count() or 1) + 1
    together = threading.Barrier(number + 1)

    def spin() -> None:
        together.wait()
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            np.sort(np.arange(50_000)[::-1])
        together.wait()
        # Of a thread that has ended nothing can be read.
        together.wait()

    threads = [threading.Thread(target=spin, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    starved = Starved(lambda: [thread.native_id for thread in threads if thread.native_id is not None])
    together.wait()
    together.wait()
    # Of `number` threads that each need 0.2 s, a core has two or more.
    assert starved.take() > 0.1
    assert starved.take() < 0.1
    together.wait()


def test_a_thread_that_sleeps_is_not_starved() -> None:
    starved = Starved(lambda: [threading.get_native_id()])
    began = time.perf_counter()
    time.sleep(0.3)
    assert starved.take() < 0.5 * (time.perf_counter() - began)


def test_threads_that_have_ended_are_left_out() -> None:
    idents = [2**22 + 1, threading.get_native_id()]
    assert Starved(lambda: idents).take() >= 0


def test_descriptors_are_few_and_go_with_their_threads() -> None:
    number = 40
    over = threading.Event()
    threads = [threading.Thread(target=over.wait, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    before = len(os.listdir("/proc/self/fd"))
    starved = Starved(lambda: [thread.native_id for thread in threads if thread.native_id is not None])
    assert starved.take() >= 0
    assert 0 < len(os.listdir("/proc/self/fd")) - before <= 32
    over.set()
    for thread in threads:
        thread.join()
    assert starved.take() == 0
    assert len(os.listdir("/proc/self/fd")) == before
    living = Starved(lambda: [threading.get_native_id()])
    living.close()
    assert len(os.listdir("/proc/self/fd")) == before
