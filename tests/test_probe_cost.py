"""What recording costs a cluster, in instructions and bytes: clocks of busy machines would not tell."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from distributed import Client, LocalCluster

import dask_insight

#: Instructions of Python for each task that scheduler and worker together do for us, and some room.
MOST = 1_650


class Count:
    """Counts what a cluster in this process does for its recorder, on its event loop."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self.instructions = 0

    def __enter__(self) -> Count:
        self._loop.add_callback(sys.settrace, self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.add_callback(sys.settrace, None)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith("<dask_insight_"):
            return None
        frame.f_trace_opcodes = True
        self.instructions += event == "opcode"
        return self._trace


def _instructions(client: Client, tasks: int) -> int:
    with dask_insight.record(client=client, profile=False) as run, Count(client.loop) as count:
        client.gather(client.map(abs, range(tasks), pure=False))
    assert len(run.tasks) == tasks
    return count.instructions


def test_hooks_take_few_instructions_a_task() -> None:
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        few, many = _instructions(client, 200), _instructions(client, 1_200)
    assert 500 < (many - few) / 1_000 < MOST


def test_few_bytes_a_task_are_kept_and_what_the_ring_loses_is_counted() -> None:
    from benchmarks.scheduler_cost import measure

    tasks = 10_000
    figures = measure(tasks, rounds=1)
    assert 100 < figures["bytes a task"] <= 200
    assert figures["lost"] > 0
    assert figures["lost"] + figures["kept"] == tasks
