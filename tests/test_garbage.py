"""Garbage collections: noted as they are, on whose thread, and for no longer than a recording."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import recorded

import dask_insight
from dask_insight.probe.garbage import Collections
from dask_insight.schema import NOTHING

#: Looking through so many objects takes some milliseconds everywhere.
MANY = 400_000


def collect(number: int, rings: int = 0) -> int:
    """Have Python look through many objects, some of which are garbage."""
    there = [[at] for at in range(MANY)]
    ring: list[Any] = []
    for _ in range(rings):
        ring = []
        ring.append(ring)
    ring = []
    gc.collect()
    return len(there) + number


@pytest.fixture
def collections() -> Iterator[Collections]:
    noted = Collections(lambda ident: 7)
    noted.start()
    yield noted
    noted.stop()


def test_a_collection_is_noted_with_what_it_freed_and_what_its_thread_ran(collections: Collections) -> None:
    collect(0, rings=1_000)
    found = collections.take()
    assert {one.run for one in found} == {7}
    assert all(0.005 <= one.duration < 30 for one in found)
    assert sum(one.freed for one in found) >= 1_000
    assert [one.time for one in found] == sorted(one.time for one in found)
    assert collections.take() == []


def test_short_ones_are_put_together(collections: Collections) -> None:
    while not (found := collections.take()):
        gc.collect(0)
    assert found[0].duration >= 0.005


def test_what_nobody_takes_is_put_together(collections: Collections, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_insight.probe.garbage._MOST", 1)
    for number in range(3):
        collect(number, rings=1_000)
    (first,) = collections.take()
    collect(3, rings=1_000)
    (rest,) = collections.take()
    assert rest.freed >= 2_000 and rest.duration > first.duration


def test_nothing_is_noted_once_it_has_ended() -> None:
    before = list(gc.callbacks)
    collections = Collections()
    collections.start()
    collections.start()
    assert len(gc.callbacks) == len(before) + 1
    collections.stop()
    collections.stop()
    assert gc.callbacks == before
    gc.collect()
    assert collections.take() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_forked_off_notes_nothing(collections: Collections) -> None:
    collect(0)
    assert collections.take()
    child = os.fork()
    if not child:
        # Whatever is raised here, this copy of the tests must end.
        try:
            collect(1)
            os._exit(len(collections.take()))
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    collect(2)
    assert collections.take()


def test_on_a_cluster_they_stand_with_the_attempt_that_had_to_wait(client: Any) -> None:
    with dask_insight.record(client=client) as run:
        # One after the other: while one collects, another's call does nothing.
        for number in range(4):
            client.submit(collect, number, key=f"collect-{number}").result()
    tasks = run.tasks.set_index("run")
    assert len(tasks) == 4
    found = run.collections
    mine = found[found["run"].isin(tasks.index)].set_index("run")
    assert set(mine.index) == set(tasks.index)
    having = tasks.loc[mine.index]
    assert list(mine["process"]) == list(having["worker"])
    # Of one machine, all processes read one clock.
    assert (mine["time"] >= having["start"] - 0.01).all()
    assert (mine["time"] <= having["stop"] + 0.01).all()


def test_a_collection_of_the_schedulers_process_is_told_of_it_and_of_the_client(client: Any) -> None:
    with recorded(client) as batches:
        collect(0)
        # Rows travel with those of the next poll.
        client.submit(abs, -1, pure=False).result()
    rows = [row for row in batches.table("collections") if row["process"] in ("scheduler", "client")]
    assert {row["process"] for row in rows} == {"scheduler", "client"}
    assert {row["run"] for row in rows} == {NOTHING}


@pytest.mark.parametrize("scheduler", ["sync", "threads", "processes"])
def test_on_a_local_scheduler(scheduler: str) -> None:
    from dask import compute, delayed

    before = len(gc.callbacks)
    with dask_insight.record(clusters=False) as run:
        work = [delayed(collect, pure=False)(number) for number in range(3)]
        compute(*work, scheduler=scheduler, num_workers=1)
    found = run.collections
    tasks = run.tasks[run.tasks["prefix"] == "collect"]
    assert set(tasks["run"]) <= set(found["run"])
    assert set(found[found["run"].isin(tasks["run"])]["process"]) <= set(tasks["worker"])
    assert len(gc.callbacks) == before
