"""What the probe costs the scheduler: CPU and memory a task, and the longest it holds the event loop.

Puts Dask's own task states through the probe's hooks, transition by
transition as the scheduler does, and fetches what they kept:

    python benchmarks/scheduler_cost.py [--tasks 50000] [--rounds 5]

Prints, for the best of the rounds, microseconds of CPU a task in the hooks and
in answering polls; bytes kept a task before anything is fetched; the longest
single hook or answer; and what is lost when nobody fetches. Half of the tasks
have two inputs; all keys are tuples, as those of collections are.
"""

from __future__ import annotations

import argparse
import gc
import tracemalloc
from collections.abc import Callable
from time import perf_counter, thread_time
from types import SimpleNamespace
from typing import Any

from distributed.scheduler import TaskGroup, TaskPrefix, TaskState

from dask_insight.probe.readers import Reader, Stores
from dask_insight.probe.tasks import Tasks

_WORKER = "tcp://192.0.2.1:40000"
_BOUND = 1_000_000


class Rig:
    """A scheduler's task table without the scheduler."""

    def __init__(self, tasks: int, bound: int = _BOUND) -> None:
        worker = SimpleNamespace(address=_WORKER)
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    figures = measure(chosen.tasks, chosen.rounds)
    print(f"{chosen.tasks} tasks, best of {chosen.rounds} rounds")
    for name in ("wanted", "assigned", "finished", "fetched", "released", "forgotten", "total"):
        print(f"  {name:10} {figures[name]:8.2f} µs of CPU a task")
    print(f"  longest poll {figures['longest poll, ms']:.2f} ms (bar: 20)")
    print(f"  longest hook {figures['longest hook, ms']:.2f} ms (bar: 20)")
    print(f"  {figures['bytes a task']:.0f} bytes kept a task until it is fetched (bar: 200)")
    print(f"  a ring for a tenth of them: {figures['lost']:.0f} lost and counted, {figures['kept']:.0f} kept")
    print(f"  {figures['total']:.2f} µs of CPU a task in all (bar: 10)")


if __name__ == "__main__":
    main()
