"""How long threads waited for a core, and at most for the GIL: of some that compete or sleep."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import wait_for

from dask_insight.probe.waits import Waits

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/thread-self/schedstat"), reason="only Linux tells how long threads waited"
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
    starved = Waits(lambda: [thread.native_id for thread in threads if thread.native_id is not None])
    together.wait()
    together.wait()
    # Of `number` threads that each need 0.2 s, a core has two or more.
    assert starved.take().core > 0.1
    assert starved.take().core < 0.1
    together.wait()


def test_a_thread_that_sleeps_is_not_starved() -> None:
    starved = Waits(lambda: [threading.get_native_id()])
    began = time.perf_counter()
    time.sleep(0.3)
    assert starved.take().core < 0.5 * (time.perf_counter() - began)


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no GIL")
def test_who_waits_for_the_gil_is_told_from_who_sleeps() -> None:
    over = threading.Event()

    def spin() -> None:
        while not over.is_set():
            sum(range(100))

    spinning = [threading.Thread(target=spin, daemon=True) for _ in range(3)]
    asleep = [threading.Thread(target=over.wait, daemon=True) for _ in range(3)]
    for thread in (*spinning, *asleep):
        thread.start()
    began = time.perf_counter()
    asks, sleeps = (
        Waits(lambda some=some: [thread.native_id for thread in some if thread.native_id is not None])
        for some in (spinning, asleep)
    )
    time.sleep(0.5)
    waited, slept, passed = asks.take(), sleeps.take(), time.perf_counter() - began
    over.set()
    # One of three spins, two wait for it or for a core.
    assert waited.gil + waited.core > passed and waited.gil > 0.3 * passed
    assert slept.gil < 0.2 * passed


def test_threads_that_have_ended_are_left_out() -> None:
    idents = [2**22 + 1, threading.get_native_id()]
    assert Waits(lambda: idents).take().core >= 0


def _descriptors() -> set[int]:
    """Of the files of `Waits` that are open; other threads open and close others."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}").endswith("/schedstat"):
                found.add(int(number))
    return found


def test_descriptors_are_few_and_go_with_their_threads() -> None:
    number = 40
    over = threading.Event()
    threads = [threading.Thread(target=over.wait, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    before = _descriptors()
    starved = Waits(lambda: [thread.native_id for thread in threads if thread.native_id is not None])
    assert starved.take().core >= 0
    assert len(_descriptors() - before) == 32
    over.set()
    for thread in threads:
        thread.join()
    # Linux has them a moment longer than Python.
    wait_for(lambda: starved.take() == (0, 0), "they are gone")
    assert _descriptors() == before
    living = Waits(lambda: [threading.get_native_id()])
    assert len(_descriptors() - before) == 1
    living.close()
    assert _descriptors() == before


def test_a_file_of_the_program_that_has_the_number_of_ours_is_neither_read_nor_closed(
    tmp_path: Path,
) -> None:
    """As where a program closes all descriptors to become a daemon."""
    before = _descriptors()
    waits = Waits(lambda: [threading.get_native_id()])
    [number] = _descriptors() - before
    with (tmp_path / "theirs.txt").open("wb", buffering=0) as file:
        file.write(b"no numbers")
        os.dup2(file.fileno(), number)
        assert waits.take().core >= 0
        waits.close()
        assert os.path.samestat(os.fstat(number), os.fstat(file.fileno()))
        os.close(number)
    assert _descriptors() == before


def test_where_the_system_tells_nothing_no_wait_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(path: str, *_: Any) -> Any:
        raise FileNotFoundError(path)

    monkeypatch.setattr("dask_insight.probe.waits.os.open", nowhere)
    monkeypatch.setattr("dask_insight.probe.waits.open", nowhere, raising=False)
    for threads in ((), (threading.get_native_id(),)):
        waited = Waits(lambda threads=threads: threads).take()  # type: ignore[misc]
        assert math.isnan(waited.core) and math.isnan(waited.gil)
