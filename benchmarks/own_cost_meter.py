"""Times what is ours in a process, by the CPU clocks of its threads; for `own_cost`.

Stands in a module of its own, so that workers import it and keep what they have between two calls.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from functools import partial
from time import thread_time_ns
from typing import Any

import psutil
from distributed import SchedulerPlugin, WorkerPlugin

OURS = ("dask_insight", "dask-insight")
#: The plugin by which `performance_report` hears of tasks.
DASKS = "task-stream"

#: Plugins that do nothing: what their calls seem to take, timing does.
IDLE = "idle"

#: Seconds of CPU by where they went.
Spent = dict[str, float]


class IdleScheduler(SchedulerPlugin):
    name = IDLE

    def transition(
        self, key: Any, start: Any, finish: Any, *args: Any, stimulus_id: str, **facts: Any
    ) -> None:
        pass


class IdleWorker(WorkerPlugin):
    name = IDLE

    def transition(self, key: Any, start: str, finish: str, **facts: Any) -> None:
        pass


class Meter:
    """Times calls by the CPU clock of their thread; one for each process."""

    def __init__(self) -> None:
        self._spent: dict[str, list[int]] = {}
        self._undo: list[Callable[[], None]] = []
        self._threads = _of_our_threads()
        self.meter(self, "_nothing", "")
        for _ in range(20_000):
            self._nothing()
        nanoseconds, calls = self._spent.pop("")
        self._clock = nanoseconds / calls

    def _nothing(self) -> None:
        """Measures what measuring adds."""

    def meter(self, owner: Any, name: str, place: str) -> None:
        """Time a function that stands as an attribute, of an instance or a class."""
        original, was_own = getattr(owner, name), name in vars(owner)
        setattr(owner, name, self._timed(original, place))
        undo = partial(setattr, owner, name, original) if was_own else partial(delattr, owner, name)
        self._undo.append(undo)

    def meter_collections(self, place: str) -> None:
        """Time what Python calls of ours before and after it looks for garbage."""
        for at, ours in enumerate(gc.callbacks):
            if type(getattr(ours, "__self__", None)).__name__ == "Collections":
                gc.callbacks[at] = self._timed(ours, place)
                self._undo.append(partial(_put_back, gc.callbacks[at], ours))

    def meter_handler(self, handlers: dict[str, Any], name: str, place: str) -> None:
        """Time a function that a server calls by its name."""
        original = handlers[name]
        handlers[name] = self._timed(original, place)
        self._undo.append(partial(handlers.__setitem__, name, original))

    def _timed(self, original: Callable[..., Any], place: str) -> Callable[..., Any]:
        cell = self._spent.setdefault(place, [0, 0])

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = thread_time_ns()
            try:
                return original(*args, **kwargs)
            finally:
                cell[0] += thread_time_ns() - began
                cell[1] += 1

        return timed

    def stop(self) -> Spent:
        """Time nothing any more."""
        for undo in self._undo:
            undo()
        spent = {place: (total - calls * self._clock) / 1e9 for place, (total, calls) in self._spent.items()}
        after = _of_our_threads()
        return spent | {name: after[name] - self._threads.get(name, 0.0) for name in after}


def _put_back(timed: Any, ours: Any) -> None:
    if timed in gc.callbacks:
        gc.callbacks[gc.callbacks.index(timed)] = ours


def _of_our_threads() -> Spent:
    """CPU seconds of each of our threads in this process so far."""
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    spent: Spent = {}
    for each in psutil.Process().threads():
        name = names.get(each.id, "")
        if name.startswith(OURS):
            place = f"thread {name.partition('-')[2] if name.startswith('dask_') else name[13:]}"
            spent[place] = spent.get(place, 0.0) + each.user_time + each.system_time
    return spent


_meters: dict[str, Meter] = {}


def begin_on_worker(dask_worker: Any) -> None:
    """Time the probe of a worker."""
    meter = _meters["worker"] = Meter()
    if IDLE in dask_worker.plugins:
        meter.meter(dask_worker.plugins[IDLE], "transition", "worker: hooks")
        return
    (plugin,) = (each for name, each in dask_worker.plugins.items() if name.startswith(OURS))
    meter.meter(plugin, "transition", "worker: hooks")
    meter.meter(plugin, "_packed", "worker: pushes")
    # What stands in for Dask's own: its table of threads, its pools of them, its handler of actors' calls.
    pools = [getattr(each, "_threads", None) for each in dask_worker.executors.values()]
    kept = {type(each) for each in (dask_worker.state.threads, *pools) if hasattr(each, "followers")}
    for owner in kept:
        for name in {"pop", "add", "remove"} & vars(owner).keys():
            meter.meter(owner, name, "worker: stand-ins")
    meter.meter(plugin._actors, "_note", "worker: stand-ins")
    meter.meter_collections("worker: garbage collections")


def end_on_worker() -> Spent:
    """What it took."""
    return _meters.pop("worker").stop()


def begin_on_scheduler(dask_scheduler: Any) -> None:
    """Time the probe of the scheduler, or what `performance_report` has put there."""
    meter = _meters["scheduler"] = Meter()
    for name in (IDLE, DASKS):
        if name in dask_scheduler.plugins:
            meter.meter(dask_scheduler.plugins[name], "transition", "scheduler: hooks")
            return
    (plugin,) = (each for name, each in dask_scheduler.plugins.items() if name.startswith(OURS))
    for name in ("transition", "update_graph", "log_event", "add_worker", "remove_worker"):
        meter.meter(plugin, name, "scheduler: hooks")
    for name in ("poll", "push"):
        meter.meter_handler(dask_scheduler.handlers, f"{plugin.name}_{name}", "scheduler: answers")
    for owner, name in ((plugin, "_look"), (plugin._stranded, "look"), (plugin.tasks, "forget")):
        meter.meter(owner, name, "scheduler: looks at memory and tasks")
    # Where the recorder is in this process; elsewhere one of our threads does that.
    meter.meter(plugin._own._pulse, "_called", "scheduler: looks at its process")


def end_on_scheduler() -> Spent:
    """What it took."""
    return _meters.pop("scheduler").stop()


def begin_on_client() -> Meter:
    """Time what a recorder does with what it is told."""
    from dask_insight.sources.cluster.messages import Messages
    from dask_insight.sources.cluster.source import ClusterSource
    from dask_insight.sources.cluster.submissions import Submissions
    from dask_insight.sources.cluster.tables import Tables

    meter = Meter()
    for owner, name in (
        (Tables, "take"),
        (Messages, "take"),
        (ClusterSource, "_tell_own"),
        (Submissions, "settle"),
    ):
        meter.meter(owner, name, "client: what has come")
    meter.meter_collections("client: garbage collections")
    return meter
