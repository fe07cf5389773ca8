"""What the probe costs the scheduler: CPU and memory a task, and the longest it holds the event loop.

Puts Dask's own task states through the probe's hooks, transition by
transition as the scheduler does, and fetches what they kept:

    python -m benchmarks.scheduler_cost [--quick] [--tasks 50000] [--rounds 5] [--there 1000000]

Prints, for the best of the rounds, microseconds of CPU a task in the hooks and
in answering polls; bytes kept a task before anything is fetched; the longest
single hook or answer; the longest hold when a recorder joins a scheduler that
has so many tasks already; and what is lost when nobody fetches. Half of the tasks
have two inputs; all keys are tuples, as those of collections are.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from collections.abc import Callable
from time import perf_counter, thread_time
from types import SimpleNamespace
from typing import Any

from distributed.scheduler import TaskGroup, TaskPrefix, TaskState

from dask_insight.probe.readers import Reader, Stores
from dask_insight.probe.scheduler import _HOLD
from dask_insight.probe.tasks import Tasks

from .markdown import table

_WORKER = "tcp://192.0.2.1:40000"
_BOUND = 1_000_000
#: Most for one task in all, microseconds; kept of it, bytes; for one hold of the event loop, milliseconds.
_TOTAL, _KEPT, _LONGEST = 10.0, 200.0, 20.0
_STEPS = ("wanted", "assigned", "finished", "fetched", "released", "forgotten")


class Rig:
    """A scheduler's task table without the scheduler."""

    def __init__(self, tasks: int, bound: int = _BOUND) -> None:
        worker = SimpleNamespace(address=_WORKER, processing={})
        self.scheduler = SimpleNamespace(tasks={}, workers={_WORKER: worker})
        prefix = TaskPrefix("increment")
        group = TaskGroup("increment-5f2e1b", prefix)
        group.span_id = "b7d6c2aa"
        for number in range(tasks):
            state = TaskState(("increment-5f2e1b", number), None, "released", group, False)
            state.priority = (0, 1, number)
            state.run_id = number
            state.processing_on = worker  # type: ignore[assignment]
            self.scheduler.tasks[state.key] = state
        states = list(self.scheduler.tasks.values())
        for first, second, needs in zip(states[::2], states[2::2], states[1::2], strict=False):
            needs.dependencies = {first, second}
        self.keys = list(self.scheduler.tasks)
        self.tasks = Tasks(self.scheduler, bound, _raise)
        self.tasks.worker(_WORKER, _WORKER)
        self.stores = Stores(self.tasks, bound)
        self.reader = Reader("client", {})
        self.reader.at = self.stores.start()

    def steps(self) -> dict[str, Callable[[Any], None]]:
        """The transitions of an ordinary task, each as a function of its key."""
        hook = self.tasks.transition
        compute = [{"action": "compute", "start": 1.0, "stop": 2.0}]
        finished = {"worker": _WORKER, "nbytes": 28, "type": b"int", "typename": "int", "thread": 140_001}
        finished |= {"startstops": compute, "metadata": {}, "status": "OK"}
        return {
            "wanted": lambda key: hook(key, "released", "waiting", stimulus_id="update-graph-1"),
            "assigned": lambda key: hook(key, "waiting", "processing", stimulus_id="update-graph-1"),
            "finished": lambda key: hook(
                key, "processing", "memory", stimulus_id="task-finished-1", **finished
            ),
            "released": lambda key: hook(key, "memory", "released", stimulus_id="client-releases-1"),
            "forgotten": lambda key: hook(key, "released", "forgotten", stimulus_id="client-releases-1"),
        }

    def fetch(self) -> float:
        """Answer polls until nothing is left; the longest one took so long, seconds of CPU."""
        longest, more = 0.0, True
        while more:
            began = thread_time()
            self.tasks.settle()
            self.stores.release([self.reader])
            _, _, self.reader.at, more = self.stores.read(self.reader)
            longest = max(longest, thread_time() - began)
        return longest


def _raise(where: str, error: Exception) -> None:
    raise error


def _once(tasks: int) -> tuple[dict[str, float], float]:
    """Seconds of CPU by step, and of the longest answer to a poll."""
    rig, spent = Rig(tasks), {}
    for name, step in rig.steps().items():
        if name == "released":
            began = thread_time()
            longest = rig.fetch()
            spent["fetched"] = thread_time() - began
        began = thread_time()
        for key in rig.keys:
            step(key)
        spent[name] = thread_time() - began
    began = thread_time()
    for _ in rig.keys:
        _nothing("key", "a", "b", stimulus_id="c")
    calls = thread_time() - began
    return {name: seconds - (name != "fetched") * calls for name, seconds in spent.items()}, longest


def _nothing(key: Any, start: str, finish: str, *args: Any, stimulus_id: str = "", **facts: Any) -> None:
    """What a hook that does nothing costs is the scheduler's, not ours."""


def _bytes(tasks: int) -> float:
    """Bytes kept a task when all have run, none was fetched, and the scheduler still holds them."""
    rig = Rig(tasks)
    wanted, assigned, finished, *_ = rig.steps().values()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for key in rig.keys:
        wanted(key)
    for first in range(0, tasks, 100):
        for key in rig.keys[first : first + 100]:
            assigned(key)
        for key in rig.keys[first : first + 100]:
            finished(key)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / tasks


def _lost(tasks: int) -> tuple[int, int]:
    """Attempts lost when the ring holds a tenth of them, and attempts that are still there."""
    rig = Rig(tasks, bound=tasks // 10)
    for step in list(rig.steps().values())[:3]:
        for key in rig.keys:
            step(key)
    rig.tasks.settle()
    attempts = rig.tasks.attempts
    missed, stop, _ = attempts.take(0, tasks)
    return missed, stop - missed


def _longest_hook(tasks: int) -> float:
    rig, longest = Rig(tasks), 0.0
    for step in rig.steps().values():
        for key in rig.keys:
            began = perf_counter()
            step(key)
            longest = max(longest, perf_counter() - began)
    return longest


def joining(tasks: int) -> float:
    """Longest hold, seconds of CPU, while tasks are numbered that are there when a recorder joins."""
    rig = Rig(tasks)
    steps, longest, more = rig.tasks.there(), 0.0, True
    # Looking through all that is there for garbage is Python's, and would come anyway.
    gc.collect()
    gc.freeze()
    while more:
        began = thread_time()
        # As the probe does: until so much time has gone, then the scheduler goes on.
        while (more := next(steps, steps) is not steps) and thread_time() - began < _HOLD:
            pass
        longest = max(longest, thread_time() - began)
    gc.unfreeze()
    return longest


def measure(tasks: int, rounds: int) -> dict[str, float]:
    """All figures, by name; times of hooks and polls in microseconds a task."""
    found = [_once(tasks) for _ in range(rounds)]
    best, _ = min(found, key=lambda one: sum(one[0].values()))
    figures = {name: 1e6 * seconds / tasks for name, seconds in best.items()}
    figures["total"] = sum(figures.values())
    figures["longest poll, ms"] = 1e3 * min(longest for _, longest in found)
    figures["longest hook, ms"] = 1e3 * min(_longest_hook(tasks // 5) for _ in range(rounds))
    figures["bytes a task"] = _bytes(tasks)
    figures["lost"], figures["kept"] = _lost(tasks)
    return figures


def main() -> int:
    """Measure, print, and say whether a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="5,000 tasks and one round")
    parser.add_argument("--tasks", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--there", type=int, default=1_000_000, help="tasks that are there when one joins")
    options = parser.parse_args()
    tasks, rounds, there = options.tasks, options.rounds, options.there
    if options.quick:
        tasks, rounds, there = 5_000, 1, 5_000
    figures = measure(tasks, rounds)
    joined = min(joining(there) for _ in range(rounds))
    barred = [
        ("together", figures["total"], "µs of CPU a task", _TOTAL),
        ("kept until it is fetched", figures["bytes a task"], "bytes a task", _KEPT),
        ("longest answer to a poll", figures["longest poll, ms"], "ms", _LONGEST),
        ("longest hook", figures["longest hook, ms"], "ms", _LONGEST),
        (f"longest hold as one joins {there:,} tasks", 1e3 * joined, "ms", _LONGEST),
    ]
    rows = [[name, f"{figures[name]:.2f} µs of CPU a task", ""] for name in _STEPS]
    rows += [[name, f"{value:.2f} {unit}", f"≤ {bar:g}"] for name, value, unit, bar in barred]
    print(f"{tasks:,} tasks, best of {rounds} rounds.\n")
    print(table(["what", "measured", "bar"], rows))
    lost, kept = figures["lost"], figures["kept"]
    print(f"\nA ring for a tenth of them: {lost:.0f} lost and counted, {kept:.0f} kept.")
    return int(not options.quick and any(value > bar for _, value, _, bar in barred))


if __name__ == "__main__":
    sys.exit(main())
