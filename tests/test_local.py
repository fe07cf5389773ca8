"""Computations of the local schedulers, recorded as they run."""

from __future__ import annotations

import gc
import io
import os
import pickle
import random
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections import Counter, OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count, pairwise
from math import isnan
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.callbacks
import dask.local
import dask.multiprocessing
import dask.order
import dask.threaded
import numpy as np
import pandas as pd
import psutil
import pytest
from conftest import wait_for
from dask import delayed
from dask.diagnostics import Profiler
from dask.sizeof import sizeof

import dask_insight
from dask_insight.analysis.overview import overview
from dask_insight.batch import decode, table_of
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.probe.resources import ResourceSampler
from dask_insight.probe.waits import Waits
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.session.driver import DRIVER
from dask_insight.session.feed import Turn
from dask_insight.session.tally import Tally
from dask_insight.sources.local import LocalSource, computation, ledger, processes
from dask_insight.sources.local import source as local_source
from dask_insight.sources.local.cache import Totals
from dask_insight.sources.local.computation import Computation
from dask_insight.sources.local.ledger import Ledger
from dask_insight.sources.local.origin import NOWHERE, find_origin
from dask_insight.sources.local.processes import Children
from dask_insight.sources.local.rows import Rows
from dask_insight.sources.local.sizes import size_of
from dask_insight.sources.local.workers import Workers

SCHEDULERS = ["threads", "sync", "processes"]


@contextmanager
def recorded(**options: Any) -> Iterator[Recording]:
    recording = Recording()
    source = LocalSource(Options(**{"profile": False, **options}), recording.identity)
    source.start(recording.append)
    try:
        yield recording
    finally:
        source.stop()
        assert lost(recording) == []


def column(recording: Recording, table: str, name: str) -> list[Any]:
    return list(recording.columns(table)[name].tolist())  # type: ignore[union-attr]


def rows(recording: Recording, table: str, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(column(recording, table, name) for name in names), strict=True))


def lost(recording: Recording) -> list[Any]:
    return [message for kind, message in rows(recording, "events", "kind", "message") if kind == "lost"]


def keys(recording: Recording) -> dict[int, str]:
    return dict(rows(recording, "graph", "task", "key"))


def add(*values: int) -> int:
    return sum(values)


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def spin(seconds: float) -> float:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return seconds


def fail(value: object) -> None:
    raise LookupError(f"no {value}")


class Unpicklable:
    def __reduce__(self) -> Any:
        raise TypeError("this cannot travel")


def unpicklable() -> Unpicklable:
    return Unpicklable()


GRAPH = {"a": (add, 1), ("b", 0): (add, "a", 2), 3: (add, ("b", 0), "a"), b"c": (add, 3, 1)}


def get(scheduler: str) -> Callable[..., Any]:
    found: Callable[..., Any] = {
        "threads": dask.threaded.get,
        "sync": dask.get,
        "processes": dask.multiprocessing.get,
    }[scheduler]
    return found


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_task_once_with_its_edges(scheduler: str) -> None:
    with recorded() as recording:
        options = {"optimize_graph": False, "num_workers": 2} if scheduler == "processes" else {}
        result = get(scheduler)(GRAPH, [b"c", 3], **options)
    assert result == (5, 4)
    names = keys(recording)
    assert sorted(names.values()) == sorted(["a", "('b', 0)", "3", "b'c'"])
    attempts = rows(recording, "attempts", "task", "status")
    assert sorted(names[task] for task, _ in attempts) == sorted(names.values())
    assert {status for _, status in attempts} == {"ok"}
    edges = {(names[task], names[other]) for task, other in rows(recording, "edges", "task", "dependency")}
    assert edges == {("('b', 0)", "a"), ("3", "('b', 0)"), ("3", "a"), ("b'c'", "3")}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_results_are_held_until_nothing_needs_them(scheduler: str) -> None:
    with recorded() as recording:
        get(scheduler)(GRAPH, [b"c", 3])
    released = dict(rows(recording, "releases", "task", "time"))
    done = dict(rows(recording, "attempts", "task", "done"))
    assert released.keys() == done.keys()
    assert len(column(recording, "releases", "task")) == len(done), "each once"
    users: dict[int, list[float]] = {}
    for task, needed in rows(recording, "edges", "task", "dependency"):
        users.setdefault(needed, []).append(done[task])
    asked = {task for task, key in keys(recording).items() if key in ("b'c'", "3")}
    for task, moment in released.items():
        last = max(done.values()) if task in asked else max(users[task])
        assert last - 1e-5 <= moment <= last + 1.0


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_times_are_the_tasks_own(scheduler: str) -> None:
    tasks = [delayed(nap)(0.05, dask_key_name=f"nap-{number}") for number in range(8)]
    before = time.time()
    with recorded() as recording:
        assert dask.compute(tasks, scheduler=scheduler, num_workers=2) == ([0.05] * 8,)
    after = time.time()
    times = rows(recording, "attempts", "submitted", "ready", "assigned", "start", "stop", "done")
    assert len(times) == 8
    for submitted, ready, assigned, start, stop, done in times:
        assert before - 0.01 <= submitted <= ready <= assigned <= start <= stop <= done <= after + 0.01
        assert 0.049 <= stop - start < 0.5
    lanes: dict[Any, list[tuple[float, float]]] = {}
    for worker, thread, start, stop in rows(recording, "attempts", "worker", "thread", "start", "stop"):
        lanes.setdefault((worker, thread), []).append((start, stop))
    assert len(lanes) == {"threads": 2, "sync": 1, "processes": 2}[scheduler]
    for lane in lanes.values():
        ordered = sorted(lane)
        assert all(stop <= start for (_, stop), (start, _) in pairwise(ordered))


def test_processes_are_workers_of_their_own() -> None:
    tasks = [delayed(os.getpid)(dask_key_name=f"pid-{number}") for number in range(12)]
    with recorded() as recording:
        (pids,) = dask.compute(tasks, scheduler="processes", num_workers=2, chunksize=1)
    names = keys(recording)
    ran = {names[task]: worker for task, worker in rows(recording, "attempts", "task", "worker")}
    assert ran == {f"pid-{number}": f"process {pid}" for number, pid in enumerate(pids)}
    workers = {worker: pid for worker, pid in rows(recording, "workers", "worker", "pid") if pid}
    assert {f"process {pid}": pid for pid in set(pids)} == workers
    joined = dict(rows(recording, "workers", "worker", "joined"))
    for worker, start in rows(recording, "attempts", "worker", "start"):
        assert joined[worker] <= start, "a process is there before its first task, not from its end on"


def test_processes_are_workers_for_as_long_as_their_pool_is_there() -> None:
    def compute(number: int, **options: Any) -> None:
        tasks = [delayed(nap)(0.01, dask_key_name=f"{number}-{task}") for task in range(8)]
        dask.compute(tasks, scheduler="processes", num_workers=2, chunksize=1, **options)

    recording, told = Recording(), []
    tally = Tally(recording.append)
    source = LocalSource(Options(profile=False), recording.identity)
    source.start(tally)
    for number in range(3):
        compute(number)
    wait_for(lambda: tally.state()["workers"] == 0, "the workers have left while it records")
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        for number in (3, 4):
            compute(number, pool=pool)
            source.catch_up()
            told.append(tally.state()["workers"])
    assert told == [1, 1], "a pool of the user's own goes on"
    source.stop()
    found = overview(recording.columns)
    assert found.workers == found.threads <= 2
    life = {name: row for name, *row in rows(recording, "workers", "worker", "joined", "left")}
    assert len(life) > 3
    for worker, done in rows(recording, "attempts", "worker", "done"):
        joined, left = life[worker]
        assert joined < done < left
    assert found.offered <= 2 * found.duration + 1e-6
    assert not any("left before the end" in note for note in recording.what_if(workers=1).notes)
    assert lost(recording) == []


def test_processor_time_and_memory() -> None:
    with recorded() as recording:
        delayed(spin)(0.4).compute(scheduler="threads")
        delayed(nap)(0.2).compute(scheduler="threads")
        delayed(bytearray)(30_000_000).compute(scheduler="processes")
    cpu, rss = column(recording, "executions", "cpu"), column(recording, "executions", "rss")
    assert cpu[0] > 0.04
    assert cpu[1] < 0.02
    assert 20 < rss[2] < 60
    assert column(recording, "attempts", "typename")[2] == "bytearray"
    assert column(recording, "attempts", "nbytes")[2] == 30_000_000


def traceback_of(scheduler: str) -> list[str]:
    with pytest.raises(LookupError, match="no luck") as caught:
        delayed(fail)("luck").compute(scheduler=scheduler)
    frames = traceback.extract_tb(caught.value.__traceback__)
    return [f"{os.path.basename(frame.filename)} {frame.name}" for frame in frames]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_errors_pass_as_without_us(scheduler: str) -> None:
    bare = traceback_of(scheduler)
    with recorded() as recording:
        assert traceback_of(scheduler) == bare
    assert traceback_of(scheduler) == bare
    assert column(recording, "attempts", "status") == ["erred"]
    ((exception, text),) = rows(recording, "errors", "exception", "traceback")
    assert exception == "LookupError('no luck')"
    assert text.rstrip().endswith("LookupError: no luck")
    assert str(Path(dask_insight.__file__).parent) not in text
    assert " fail\n" in text


def test_tasks_beside_a_failing_one() -> None:
    """Those that end after the computation was given up are there, as cancelled."""
    begun = threading.Event()
    release = threading.Event()

    def wait() -> None:
        begun.set()
        release.wait(20)

    def fail_then() -> None:
        begun.wait(20)
        raise LookupError("no luck")

    with recorded() as recording, ThreadPoolExecutor(2) as pool:
        with pytest.raises(LookupError), dask.config.set(pool=pool):
            dask.compute(delayed(wait)(), delayed(fail_then)(), scheduler="threads")
        release.set()
        pool.shutdown()
    assert sorted(column(recording, "attempts", "status")) == ["cancelled", "erred"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_results_that_cannot_be_read_or_written(scheduler: str) -> None:
    task = delayed(unpicklable)()
    with recorded() as recording:
        if scheduler == "processes":
            with pytest.raises(TypeError, match="cannot travel"):
                task.compute(scheduler=scheduler)
            assert column(recording, "attempts", "status") in ([], ["erred"])
        else:
            assert isinstance(task.compute(scheduler=scheduler), Unpicklable)
    assert column(recording, "attempts", "status") == ["erred" if scheduler == "processes" else "ok"]


def test_a_computation_within_a_task() -> None:
    def outer() -> Any:
        return delayed(add)(1, 2, dask_key_name="inner").compute(scheduler="sync")

    with recorded() as recording:
        assert delayed(outer)(dask_key_name="outer").compute(scheduler="threads") == 3
    names = keys(recording)
    times = {
        names[task]: (start, stop)
        for task, start, stop in rows(recording, "attempts", "task", "start", "stop")
    }
    assert sorted(times) == ["inner", "outer"]
    assert times["outer"][0] <= times["inner"][0] <= times["inner"][1] <= times["outer"][1]
    assert len(set(column(recording, "graph", "submission"))) == 2


def test_a_task_that_waits_for_its_own_computation_holds_no_thread() -> None:
    together = threading.Barrier(4)

    def inner() -> None:
        together.wait(20)
        spin(0.01)

    def outer() -> None:
        dask.compute(*(delayed(inner)() for _ in range(2)), scheduler="threads", num_workers=2)

    with recorded() as recording:
        dask.compute(*(delayed(outer)() for _ in range(2)), scheduler="threads", num_workers=2)
    workers = recording.workers
    assert workers["threads"].tolist() == [2, 2, 2], "each computation has its pool"
    bounds, budget = recording.bounds(), recording.time_budget()
    assert bounds.threads == 6 and bounds.least <= bounds.seconds
    lives = (workers["left"] - workers["joined"]) * workers["threads"]
    assert budget.seconds.sum() == pytest.approx(lives.sum(), rel=0.1)
    tasks = recording.tasks
    waited = tasks[tasks.prefix == "outer"]
    assert (waited.seceded > 0.5 * waited.duration).all() and not tasks[tasks.prefix == "inner"].seceded.any()
    path = recording.critical_path()
    assert "inner" in set(path[path.kind == "compute"].prefix), "it goes through what was waited for"


def test_who_has_more_threads_is_told_of_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where two computations begin at once."""
    workers = Workers()
    second = threading.Thread(target=workers.add, args=("threads", 6))

    def host() -> str:
        if second.ident is None:
            second.start()
            second.join(0.2)
        return "host"

    monkeypatch.setattr("socket.gethostname", host)
    workers.add("threads", 5)
    second.join()
    assert workers.threads("threads") == 6
    told = workers.joined.take()
    assert told is not None and told["threads"] == [5, 6]


def test_several_threads_compute_at_once() -> None:
    barrier = threading.Barrier(4)
    results: list[Any] = []

    def compute(number: int) -> None:
        barrier.wait()
        for turn in range(5):
            parts = [delayed(add)(part, dask_key_name=f"add-{number}-{turn}-{part}") for part in range(10)]
            results.append(delayed(sum)(parts).compute(scheduler="threads", num_workers=2))

    with recorded() as recording:
        threads = [threading.Thread(target=compute, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [45] * 20
    assert len(column(recording, "attempts", "task")) == len(column(recording, "graph", "task")) == 220
    assert len(set(column(recording, "attempts", "run"))) == 220


def test_other_callbacks_go_on() -> None:
    """Dask hides registered callbacks from a computation within another; ours changes nothing in that."""
    with recorded() as recording, Profiler() as profiler:
        dask.threaded.get(GRAPH, b"c")
    assert len(profiler.results) == 4
    assert len(column(recording, "attempts", "task")) == 4


def test_a_scheduler_that_kept_the_function_from_before() -> None:
    kept = dask.local.get_async
    with recorded() as recording, ThreadPoolExecutor(2) as pool:
        assert kept(pool.submit, 2, GRAPH, b"c") == 5
    assert len(column(recording, "attempts", "task")) == 4
    assert set(column(recording, "attempts", "worker")) == {"local"}
    assert set(column(recording, "attempts", "status")) == {"ok"}


class NamingPool(ThreadPoolExecutor):
    """Looks at what it is given, as one that logs or counts by name does."""

    def __init__(self) -> None:
        super().__init__(1)
        self.names: list[str] = []

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        self.names.append(f"{function.__module__}.{function.__qualname__}")
        return super().submit(function, *arguments, **named)


def test_pools_are_given_what_has_the_names_that_dask_gave_it() -> None:
    def names() -> list[str]:
        with NamingPool() as pool, dask.config.set(pool=pool):
            delayed(add)(1, 2).compute(scheduler="threads")
        return pool.names

    bare = names()
    with recorded(), recorded():
        assert names() == bare


class InterpreterPoolExecutor(ThreadPoolExecutor):
    """What the one of Python 3.14 asks of its tasks."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        return super().submit(*pickle.loads(pickle.dumps((function, *arguments))), **named)


def test_tasks_for_other_interpreters_can_travel() -> None:
    with recorded() as recording, InterpreterPoolExecutor(2) as pool, dask.config.set(pool=pool):
        assert dask.compute(delayed(add)(1, 2), scheduler="threads") == (3,)
    assert column(recording, "attempts", "status") == ["ok"]


def test_two_recordings_overlap() -> None:
    first, second = Recording(), Recording()
    sources = [LocalSource(Options(profile=False), one.identity) for one in (first, second)]
    sources[0].start(first.append)
    dask.get({"x": (add, 1)}, "x")
    sources[1].start(second.append)
    dask.threaded.get(GRAPH, b"c")
    sources[0].stop()
    dask.get({"x": (add, 1), "y": (add, "x")}, "y")
    sources[1].stop()
    assert len(column(first, "attempts", "task")) == 1 + 4
    assert len(column(second, "attempts", "task")) == 4 + 2


def test_nothing_stays() -> None:
    functions = [module.get_async for module in (dask.local, dask.threaded, dask.multiprocessing)]
    shorten = dask.config.get("admin.traceback.shorten")
    with recorded(profile=True):
        dask.threaded.get(GRAPH, b"c")
    assert [module.get_async for module in (dask.local, dask.threaded, dask.multiprocessing)] == functions
    assert dask.callbacks.Callback.active == set()
    assert dask.config.get("admin.traceback.shorten") == shorten
    assert not [thread.name for thread in threading.enumerate() if "insight" in thread.name]


def test_types_of_results_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by us: Dask's own `sizeof` remembers every type it has met."""
    types = []
    monkeypatch.setattr(computation, "size_of", lambda result: 0.0)

    def make() -> Any:
        kind = type("Ours", (), {"__module__": "user"})
        types.append(weakref.ref(kind))
        return kind()

    with recorded() as recording:
        dask.get({"a": (make,)}, "a")
        gc.collect()
        assert types[0]() is None
    assert column(recording, "attempts", "typename") == ["user.Ours"]


def test_runs_of_a_process_are_known_while_they_are_needed() -> None:
    ledger = Ledger(Identity(), None)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    ledger.workers.add("pool", 1, pid=gone.pid)
    for first in range(0, 20_000, 2_000):
        numbered = {number: 100_000 + number for number in range(first, first + 2_000)}
        ledger.profile_of(gone.pid, {"samples": {"run": [first, first - 1, first - 5_000]}}, numbered)
    _, drained = ledger._profiles[-1]
    assert drained["samples"]["run"] == [118_000, 117_999, NOTHING]
    assert len(ledger._numbered[gone.pid]) == 3_000
    ledger.look()
    assert not ledger._numbered


def interrupted_at(steps: int, act: Callable[[], Any]) -> bool:
    """Interrupt an act after so many of Python's steps; False if it does not have as many."""
    taken = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal taken
        frame.f_trace_opcodes = True
        taken += event == "opcode"
        if taken > steps:
            raise KeyboardInterrupt
        return trace

    # Python 3.12 wants it before.
    sys._getframe().f_trace_opcodes = True
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_shifts_no_column() -> None:
    for steps in count():
        waiting = Rows("table", "even", "odd")
        waiting.add(range(8))
        if not interrupted_at(steps, waiting.take):
            break
        waiting.add((8, 9))
        assert all(even % 2 == 0 for even in (waiting.take() or {})["even"])
    assert steps > 10


def test_nothing_is_taken_after_the_end() -> None:
    entered, leave = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        leave.wait(20)

    recording = Recording()
    source = LocalSource(Options(profile=False), recording.identity)
    source.start(recording.append)
    computing = threading.Thread(target=lambda: delayed(wait)().compute(scheduler="threads"))
    computing.start()
    assert entered.wait(20)
    source.stop()
    batches = len(recording.batches())
    assert column(recording, "running", "run") == [0]
    leave.set()
    computing.join()
    assert len(recording.batches()) == batches


def test_of_an_interrupt_as_its_thread_begins_one_thread_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[threading.Thread] = []

    def interrupted(*given: Any) -> threading.Thread:
        made.append(begin(*given))
        if len(made) == 1:
            raise KeyboardInterrupt
        return made[-1]

    begin = local_source.begun
    monkeypatch.setattr(local_source, "begun", interrupted)
    with recorded():
        with pytest.raises(KeyboardInterrupt):
            delayed(abs)(-1).compute(scheduler="sync")
        delayed(abs)(-1).compute(scheduler="sync")
        first, second = made
        first.join(10)
        assert not first.is_alive() and second.is_alive()


def test_an_end_by_garbage_that_is_found_as_its_thread_begins_waits_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[bool] = []

    def begun_amid_garbage(*_: Any) -> None:
        # As the collector does in the middle of what the computation begins.
        source.stop()
        assert source._thread is not None
        ended.append(not source._thread.is_alive())

    source = LocalSource(Options(stop_timeout=5), Identity())
    source.start(lambda batch: None)
    monkeypatch.setattr(local_source, "started", begun_amid_garbage)
    delayed(abs)(-1).compute(scheduler="threads")
    assert ended == [True]


def test_running_tasks_are_told_of_before_they_end() -> None:
    leave, seen = threading.Event(), threading.Event()
    recording = Recording()
    recording.on_append(lambda _: seen.set() if column(recording, "running", "run") else None)
    source = LocalSource(Options(profile=False, resources=0.02), recording.identity)
    source.start(recording.append)

    def wait() -> None:
        assert seen.wait(20)
        leave.set()

    delayed(wait)(dask_key_name="long").compute(scheduler="threads")
    assert leave.is_set()
    assert keys(recording)[column(recording, "running", "task")[0]] == "long"
    source.stop()
    assert column(recording, "running", "run") == column(recording, "attempts", "run")


def test_cache_counts_results() -> None:
    with recorded() as recording:
        dask.get(GRAPH, b"c")
    changes = rows(recording, "cache", "size", "metric", "source")
    assert [size for size, _, _ in changes] == [1, 2, 1, 1, 0]
    assert {(metric, source) for _, metric, source in changes} == {("count", "sync")}
    names = keys(recording)
    assert [names.get(task) for task in column(recording, "cache", "task")] == [
        *("a", "('b', 0)", "3", "b'c'"),
        None,
    ]


def test_cache_by_a_metric() -> None:
    def length(result: Any) -> float:
        return len(result)

    graph = {"a": (list, (range, 10)), "b": (list, (range, 5)), "c": (lambda a, b: a + b, "a", "b")}
    with recorded(cache_metric=length) as recording:
        dask.get(graph, "c")
    sizes = column(recording, "cache", "size")
    assert sorted(sizes[:2]) in ([5, 15], [10, 15])
    assert sizes[2:] == [30, 15, 0]
    assert set(column(recording, "cache", "metric")) == {"length"}


def test_a_metric_that_fails_harms_nothing() -> None:
    with recorded(cache_metric=lambda result: 1 / 0) as recording:
        assert dask.get(GRAPH, b"c") == 5
    assert len(column(recording, "attempts", "task")) == 4


def test_where_the_computation_was_asked_for() -> None:
    with recorded() as recording:
        delayed(add)(
            1,
        ).compute(scheduler="sync")
    ((file, function, line, code),) = rows(recording, "submissions", "file", "function", "line", "code")
    assert file == __file__
    assert function == "test_where_the_computation_was_asked_for"
    assert ".compute(scheduler=" in code
    assert line > 0


def test_a_line_that_cannot_be_read_harms_nothing() -> None:
    class Loader:
        def get_source(self, name: str) -> str:
            raise RuntimeError("no source")

    ours = {"__name__": "user", "__loader__": Loader(), "get": dask.get, "graph": GRAPH}
    with recorded() as recording:
        exec(compile("found = get(graph, 'a')", "nowhere.py", "exec"), ours)
    assert ours["found"] == 1
    assert column(recording, "submissions", "file") == [""]


@pytest.mark.parametrize(
    "folder",
    [
        "/home/me/.local/lib/python3.12/site-packages",
        "/usr/lib/python3/dist-packages",
        r"C:\Users\me\AppData\Roaming\Python\Python312\site-packages",
    ],
)
def test_packages_ask_for_no_computation_wherever_they_are_installed(folder: str) -> None:
    package: dict[str, Any] = {"__name__": "package", "find": find_origin, "frame": sys._getframe}
    exec(compile("def ask(): return find(frame())", os.path.join(folder, "package.py"), "exec"), package)
    assert package["ask"]().file == __file__


def test_names_of_tasks_without_a_name_in_their_key() -> None:
    graph = {7: (add, 1), ("0123456789abcdef0123456789abcdef"): (add, 7, 1), ("sum-0a1b2c3d", 0): (sum, [7])}
    with recorded() as recording:
        dask.get(graph, [*graph])
    assert sorted(rows(recording, "graph", "prefix", "group")) == [
        ("add", "add"),
        ("add", "add"),
        ("sum", "sum-0a1b2c3d"),
    ]


def test_resources_of_the_process_and_its_children() -> None:
    with recorded(resources=0.05) as recording:
        (seconds,) = dask.compute(
            [delayed(spin)(0.7) for _ in range(2)], scheduler="processes", num_workers=2, chunksize=1
        )
    assert seconds == [0.7, 0.7]
    ran = set(column(recording, "attempts", "worker"))
    seen = rows(recording, "resources", "process", "cpu", "memory")
    assert {"local"} | ran <= {process for process, _, _ in seen}
    assert max(cpu for process, cpu, _ in seen if process in ran) > 20
    assert all(memory > 0 for _, _, memory in seen)
    assert all(isnan(tasks) for tasks in column(recording, "resources", "executing")), (
        "none ran where it is seen"
    )
    assert max(memory for process, _, memory in seen if process in ran) > 1e7


def test_samples_of_many_processes_come_in_one_batch() -> None:
    class Children:
        def sample(self) -> list[dict[str, Any]]:
            told = {"time": 1e9, "cpu": 5.0, "memory": 1e8, "fds": 4.0}
            return [{"process": f"process {pid}", **told} for pid in range(64)]

    batches: list[bytes] = []
    source: Any = LocalSource(Options(profile=False), Identity())
    source.start(batches.append)
    own, waits = ResourceSampler(), Waits(list)
    try:
        for _ in range(2):
            source._sample(own, Children(), waits)
        source.catch_up()
    finally:
        source.stop()
        own.close()
        waits.close()
    (found,) = [decode(batch) for batch in batches if table_of(batch) == "resources"]
    assert found.rows == 2 * 65
    gil: Any = found.columns["gil"]
    assert np.isnan(gil[1:65]).all(), "those are told by the process itself alone"


@pytest.mark.skipif("forkserver" not in get_all_start_methods(), reason="this system has no such processes")
def test_pythons_own_processes_are_left_out_and_not_what_they_start() -> None:
    from multiprocessing import forkserver

    context = get_context("forkserver")
    go_on = context.Event()
    child = context.Process(target=go_on.wait)
    child.start()
    try:
        seen = {row["process"] for row in Children().sample()}
    finally:
        go_on.set()
        child.join()
        server: Any = forkserver._forkserver  # type: ignore[attr-defined]
        own = server._forkserver_pid
        server._stop()
    assert f"process {child.pid}" in seen
    assert own is not None and f"process {own}" not in seen


def test_without_proc_all_processes_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; sys.stdout.write('x'); sys.stdout.flush(); sys.stdin.read()"
    under = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    listed, ppid_map = [0], psutil._ppid_map

    def counting() -> Any:
        listed[0] += 1
        return ppid_map()

    monkeypatch.setattr(processes, "_PROC", False)
    monkeypatch.setattr(psutil, "_ppid_map", counting)
    with ExitStack() as stack:
        ours: list[Any] = [
            stack.enter_context(
                subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            for text in (code, code, under)
        ]
        assert [each.stdout.read(1) for each in ours] == [b"x"] * 3
        pids = {each.pid for each in ours}
        known = {process.pid for process in processes._descendants(os.getpid(), set())}
        assert listed == [1] and pids < known
        grandchild = {each.pid for each in psutil.Process(ours[2].pid).children()}
        listed[0] = 0
        left = {process.pid for process in processes._descendants(os.getpid(), {ours[2].pid})}
        assert listed == [2] and known - left == {ours[2].pid} | grandchild
        for each in ours:
            each.stdin.close()


def spinning_share(recording: Recording, prefix: str) -> tuple[float, float]:
    """Seconds sampled in a task name's own function at the leaf, and in all of its samples."""
    prefixes, tasks = (
        dict(rows(recording, "graph", "task", "prefix")),
        dict(rows(recording, "attempts", "run", "task")),
    )
    leaf = dict(rows(recording, "stacks", "stack", "function"))
    chosen = [
        (duration, leaf[stack])
        for run, stack, duration in rows(recording, "samples", "run", "stack", "duration")
        if run in tasks and prefixes[tasks[run]] == prefix
    ]
    own = sum(duration for duration, function in chosen if function == "spin")
    return own, sum(duration for duration, _ in chosen)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_stacks_stand_for_the_time_of_their_tasks(scheduler: str) -> None:
    graph = {**{("spin", number): (spin, 0.5) for number in range(4)}, ("nap", 0): (nap, 1.0)}
    with recorded(profile=True) as recording:
        options = {"chunksize": 1} if scheduler == "processes" else {}
        get(scheduler)(graph, [*graph], num_workers=2, **options)
    lengths: dict[str, float] = {}
    names = dict(rows(recording, "graph", "task", "prefix"))
    for task, start, stop in rows(recording, "attempts", "task", "start", "stop"):
        lengths[names[task]] = lengths.get(names[task], 0) + stop - start
    own, all_of_spin = spinning_share(recording, "spin")
    _, all_of_nap = spinning_share(recording, "nap")
    total = all_of_spin + all_of_nap
    assert own > 0.8 * all_of_spin
    expected = lengths["spin"] / (lengths["spin"] + lengths["nap"])
    assert all_of_spin / total == pytest.approx(expected, abs=0.08)
    assert set(column(recording, "samples", "process")) == set(column(recording, "attempts", "worker"))
    assert set(rows(recording, "samples", "process", "thread")) <= set(
        rows(recording, "attempts", "worker", "thread")
    )


def test_a_clock_that_is_set_back_gives_no_task_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = 0.0
    clock = SimpleNamespace(time=lambda: time.time() + ahead)
    monkeypatch.setitem(sys.modules, "distributed.worker", clock)

    def sets_back() -> float:
        nonlocal ahead
        spin(0.2)
        ahead = -5.0
        gc.collect()
        return spin(0.2)

    monkeypatch.setattr("dask_insight.probe.garbage._WORTH", 0.0)
    with recorded(profile=True, resources=0.05) as recording:
        dask.get({"before": (sets_back,), "after": (spin, 0.4)}, ["before", "after"])
    sampled = Counter[int]()
    for run, duration in rows(recording, "samples", "run", "duration"):
        sampled[run] += duration
    spans = rows(recording, "attempts", "run", "start", "stop")
    for run, start, stop in spans:
        assert sampled[run] == pytest.approx(stop - start, rel=0.3)
    begin, end = min(start for _, start, _ in spans), max(stop for _, _, stop in spans)
    tables = ("samples", "resources", "collections")
    assert all(column(recording, table, "time") for table in tables)
    times = [time for table in tables for time in column(recording, table, "time")]
    assert begin - 1 < min(times) and max(times) < end + 1


@pytest.mark.parametrize("place", ["process pool", "multiprocessing pool"])
def test_pools_of_the_users_own(place: str) -> None:
    context = get_context("spawn")
    graph = {("add", number): (add, number, 1) for number in range(20)}
    with recorded(profile=True) as recording:
        pool: Any = ProcessPoolExecutor(2, context) if place == "process pool" else context.Pool(2)
        with pool:
            assert dask.multiprocessing.get(graph, [*graph], pool=pool) == tuple(range(1, 21))
            assert dask.multiprocessing.get(graph, [*graph], pool=pool) == tuple(range(1, 21))
    assert len(column(recording, "attempts", "task")) == 40
    assert all(worker.startswith("process ") for worker in column(recording, "attempts", "worker"))


class Listed(list[Any]):
    """Has no place of its own in what Dask counts."""

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("looked at")


class Framed(pd.DataFrame):
    """A frame of another package, as geopandas has them."""


@pytest.mark.parametrize(
    "result",
    [
        list(range(1000)),
        np.array([object()] * 1000),
        Counter(range(30)),
        OrderedDict.fromkeys(range(30)),
        namedtuple("Twelve", [f"field_{number}" for number in range(12)])(*range(12)),
        Listed(range(1000)),
        pd.DataFrame({"a": [object()] * 1000}),
        Framed({"a": [object()] * 1000}),
    ],
    ids=lambda result: type(result).__name__,
)
def test_random_numbers_are_left_alone(result: Any) -> None:
    """Dask estimates the size of a list by drawing from the generator that a program may have seeded."""

    def draw() -> list[float]:
        random.seed(1)
        np.random.seed(1)
        dask.get({"result": (lambda: result,)}, "result")
        return [random.random(), float(np.random.random())]

    bare = draw()
    with recorded() as recording:
        assert draw() == bare
    assert column(recording, "attempts", "nbytes")[0] >= 8 * len(result)


def test_sizes_as_programs_have_dask_count_them() -> None:
    class Remote(dict[str, int]):
        """Stands for more than it holds."""

    class RemoteFrame(Framed):
        """Likewise."""

    @sizeof.register((Remote, RemoteFrame))
    def of_remote(result: Remote | RemoteFrame) -> int:
        return 1_000_000

    assert size_of(Remote(a=1)) == size_of(RemoteFrame({"a": [1]})) == 1_000_000


def test_a_long_list_has_a_size() -> None:
    with recorded() as recording:
        dask.get({"list": (list, (range, 10_000)), "dict": (dict, [["a", "b" * 1000]])}, ["list", "dict"])
    names = keys(recording)
    sizes = {names[task]: size for task, size in rows(recording, "attempts", "task", "nbytes")}
    assert 10_000 * (8 + 28) * 0.9 < sizes["list"] < 10_000 * (8 + 32) * 1.1
    assert sizes["dict"] > 1000


def test_a_broken_recorder_harms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(Computation, "_write", broken)
    monkeypatch.setattr(Computation, "_know", broken)
    recording = Recording()
    source = LocalSource(Options(), recording.identity)
    source.start(recording.append)
    for scheduler in SCHEDULERS:
        assert get(scheduler)(GRAPH, b"c") == 5
        with pytest.raises(LookupError):
            delayed(fail)(1).compute(scheduler=scheduler)
    source.stop()
    assert any("broken on purpose" in message for message in lost(recording))
    assert len(lost(recording)) < 8


def test_where_no_thread_can_be_started_tasks_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith(("dask-insight-local", "dask_insight-sampler")):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    before = list(gc.callbacks)
    with dask_insight.record(clusters=False, profile=True) as run:
        for _ in range(2):
            dask.get(GRAPH, b"c")
    assert len(run.tasks) == 8 and gc.callbacks == before
    gaps = [message for message in run.events["message"] if "can't start new thread" in message]
    assert len(gaps) == 2 and any("call stacks" in message for message in gaps)


def test_stacks_are_taken_as_soon_as_a_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "dask_insight-sampler":
            raise RuntimeError("can't start new thread")
        start(thread)

    with dask_insight.record(clusters=False, profile=True) as run:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            for _ in range(2):
                dask.get(GRAPH, b"c")
        dask.get({b"a": (wait_for, lambda: len(run.samples), "stacks")}, b"a")
    gaps = [message for message in run.events["message"] if "can't start new thread" in message]
    assert len(gaps) == 1, "of two computations"


def test_of_groups_without_end_so_many_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_GROUPS", 3)
    recording = Recording()
    kept = Ledger(recording.identity, None)
    for number in range(10):
        kept.look_into(f"add-{number}", (add, 1))
    assert kept.looked_into == {"add-0", "add-1", "add-2"}
    kept.flush(recording.append)
    told = "what stands inside of fused tasks is not told of more than 3 groups"
    assert rows(recording, "events", "kind", "level", "message") == [("lost", "info", told)]


def test_of_names_without_end_so_many_have_their_functions_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_GROUPS", 3)
    with dask_insight.record(clusters=False, profile=False) as run:
        for number in range(10):
            dask.get({f"add{number}": (add, 1, number)}, f"add{number}")
    assert run.functions["prefix"].tolist() == ["add0", "add1", "add2"]
    told = "which function a task runs is not told of more than 3 names"
    assert run.events["message"].tolist().count(told) == 1


def test_identity_keeps_sources_apart() -> None:
    identity, recording = Identity(), Recording()
    for _ in range(2):
        source = LocalSource(Options(profile=False), identity)
        source.start(recording.append)
        dask.get(GRAPH, b"c")
        source.stop()
    assert len(set(column(recording, "graph", "task"))) == 8
    assert len(set(column(recording, "attempts", "run"))) == 8


def die() -> None:
    os._exit(3)


def test_tasks_whose_process_dies() -> None:
    with recorded() as recording, pytest.raises(BrokenExecutor):
        delayed(die)(dask_key_name="die").compute(scheduler="processes", num_workers=1)
    assert column(recording, "attempts", "status") == ["killed"]
    ((task, exception),) = rows(recording, "errors", "task", "exception")
    assert keys(recording)[task] == "die"
    assert "BrokenProcessPool" in exception


def test_tasks_that_die_while_the_computation_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up, failed = threading.Event(), []
    raised, finish = Computation._raised, Computation.finish

    def late(self: Computation, key: Any, exception: str, traceback: str) -> None:
        failed.append(key)
        assert len(failed) < 2 or given_up.wait(60)
        raised(self, key, exception, traceback)

    def finished(self: Computation, *args: Any) -> None:
        finish(self, *args)
        given_up.set()

    monkeypatch.setattr(Computation, "_raised", late)
    monkeypatch.setattr(Computation, "finish", finished)
    with recorded() as recording, pytest.raises(BrokenExecutor):
        dask.compute([delayed(die)() for _ in range(3)], scheduler="processes", num_workers=3, chunksize=1)
    assert column(recording, "attempts", "status") == ["killed"] * 3
    assert len(column(recording, "errors", "task")) == 3


def test_a_thread_may_write_its_task_while_the_computation_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unused = Computation._unused

    def twice(self: Computation, key: Any) -> None:
        unused(self, key)
        unused(self, key)

    monkeypatch.setattr(Computation, "_unused", twice)
    with recorded() as recording, pytest.raises(LookupError):
        dask.get({"a": (add, 1), "b": (fail, "a")}, "b")
    assert sorted(column(recording, "attempts", "status")) == ["erred", "ok"]
    assert column(recording, "cache", "size")[-1] == 0


def test_a_graph_that_dask_cannot_run() -> None:
    with recorded() as recording, pytest.raises(RuntimeError, match="Cycle"):
        dask.get({"a": (add, "b"), "b": (add, "a")}, "a")
    assert not column(recording, "attempts", "task")


def test_an_interrupt_leaves_no_task_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Ledger, worker: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "busy", interrupted)
    source = LocalSource(Options(profile=False), Identity())
    source.start(lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        dask.get(GRAPH, "a")
    source.stop()
    assert not source._ledger.activity


def wait_until(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_a_pool_whose_owner_cancels_what_waits(tmp_path: Path) -> None:
    pool = ProcessPoolExecutor(1, get_context("spawn"))
    before = [pool.submit(wait_until, tmp_path / "go") for _ in range(5)]

    def cancel() -> None:
        wait_for(lambda: len(pool._pending_work_items) > len(before), "a task of Dask's waits too")
        pool.shutdown(wait=False, cancel_futures=True)
        (tmp_path / "go").touch()

    cancelling = threading.Thread(target=cancel)
    with recorded() as recording:
        cancelling.start()
        with pytest.raises(CancelledError):
            dask.multiprocessing.get({"a": (add, 1)}, "a", pool=pool)
        cancelling.join()
    assert column(recording, "attempts", "status") == ["cancelled"]
    assert not column(recording, "errors", "task")


def test_ranks_of_dask_order() -> None:
    with recorded() as recording:
        dask.get(GRAPH, b"c")
    ranks = dict(rows(recording, "graph", "key", "order"))
    assert ranks == {str(key): rank for key, rank in dask.order.order(GRAPH).items()}


def ours_called() -> list[str]:
    """What of ours Python calls when it collects garbage."""
    return [name for one in gc.callbacks if "insight" in (name := getattr(one, "__module__", ""))]


def test_a_forked_process_leaves_the_recording_alone() -> None:
    with recorded() as recording:
        dask.get(GRAPH, b"c")
        with ProcessPoolExecutor(1, get_context("fork")) as pool:
            assert ours_called() and pool.submit(ours_called).result(60)
            assert pool.submit(dask.get, GRAPH, b"c").result(60) == 5
            assert not pool.submit(ours_called).result(60)
    assert len(column(recording, "attempts", "task")) == 4


class Turns:
    """Notes that it had one."""

    def __init__(self) -> None:
        self.had = threading.Event()

    def tick(self) -> Turn:
        self.had.set()
        return Turn(False, None)


def own_turn_comes() -> bool:
    turns = Turns()
    undrive = DRIVER.drive(turns)
    try:
        return turns.had.wait(30)
    finally:
        undrive()


def own_block_records() -> int:
    with dask_insight.Profiler() as profiler:  # type: ignore[no-untyped-call]
        dask.get(GRAPH, b"c")
    return len(profiler.recording.tasks)


def test_a_forked_process_records_for_itself() -> None:
    undrive = DRIVER.drive(Turns())
    try:
        with dask_insight.ProgressBar(out=io.StringIO()), ProcessPoolExecutor(1, get_context("fork")) as pool:
            assert pool.submit(own_turn_comes).result(60)
            assert pool.submit(own_block_records).result(60) == 4
    finally:
        undrive()


def test_an_interrupted_end_leaves_nothing_and_has_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(gc.callbacks)
    recording = Recording()
    source = LocalSource(Options(), recording.identity)
    source.start(recording.append)
    dask.get(GRAPH, b"c")

    class Interrupted:
        def join(self, timeout: float) -> None:
            raise KeyboardInterrupt

    thread, sampler = source._thread, source._ledger.sampler
    assert thread is not None and sampler is not None
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(source, "_thread", Interrupted())
        source.stop()
    thread.join()
    assert gc.callbacks == before and sampler._thread is not None and not sampler._thread.is_alive()
    assert len(column(recording, "attempts", "task")) == 4


def test_nothing_is_left_of_a_recording_that_ends_during_a_computation() -> None:
    from dask.callbacks import Callback

    begun, ended = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert ended.wait(30)

    before = set(Callback.active)
    session = dask_insight.record(clusters=False)
    session.start()
    computing = threading.Thread(target=dask.delayed(wait)().compute, kwargs={"scheduler": "threads"})
    computing.start()
    assert begun.wait(30)
    session.stop()
    ended.set()
    computing.join()
    assert set(Callback.active) == before


def test_what_dask_walks_changes_only_while_ours_stands_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask.callbacks import Callback

    ours: list[bool] = []

    class Walked(set[Any]):
        def discard(self, callback: Any) -> None:
            ours.append(hasattr(dask.local.get_async, "_dask_insight"))
            super().discard(callback)

    monkeypatch.setattr(Callback, "active", Walked())
    with dask_insight.record(clusters=False):
        pass
    assert ours and all(ours)
    assert not hasattr(dask.local.get_async, "_dask_insight")


def test_results_that_threads_tell_of_at_one_moment_all_count() -> None:
    rows: list[Any] = []
    totals = Totals(SimpleNamespace(add=rows.append), None)  # type: ignore[arg-type]
    beside = threading.Thread(target=totals.change, args=("threads", 2.0, 1.0, 2))

    class Interleaved(dict[str, float]):
        def get(self, key: str, default: Any = None) -> Any:
            value = super().get(key, default)
            if threading.current_thread() is not beside:
                beside.start()
                # Without a lock it is through by then.
                beside.join(0.2)
            return value

    totals._totals = Interleaved()
    totals.change("threads", 1.0, 1.0, 1)
    beside.join()
    assert totals._totals == {"threads": 2.0}
    assert [row[2] for row in rows] == [1.0, 2.0]


def test_a_follower_may_ask_what_it_is_told_of() -> None:
    recording = Recording()
    source = LocalSource(Options(profile=False), recording.identity)
    source.start(recording.append)
    recording.on_ask(source.catch_up)
    seen: list[int] = []
    recording.on_append(lambda batch: seen.append(len(recording.tasks)))
    dask.get(GRAPH, b"c")
    asking = threading.Thread(target=source.catch_up, daemon=True)
    asking.start()
    asking.join(30)
    assert not asking.is_alive()
    source.stop()
    assert max(seen) == 4 and lost(recording) == []


def test_a_recording_may_end_on_its_own_thread() -> None:
    """Where garbage is collected that held it."""
    source = LocalSource(Options(profile=True), Identity())
    ended: list[str] = []

    def end(batch: bytes) -> None:
        if threading.current_thread().name == "dask-insight-local" and not ended:
            ended.append("begun")
            source.stop()
            ended.append("over")

    before = set(threading.enumerate())
    source.start(end)
    try:
        dask.get(GRAPH, b"c")
        wait_for(lambda: len(ended) == 2, "it has ended")
    finally:
        source.stop()
    wait_for(lambda: not set(threading.enumerate()) - before, "no thread of ours is left")


@pytest.mark.parametrize("within", ["a round", "a drain"])
def test_a_recording_may_end_where_its_stacks_are_taken(within: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where garbage is collected that held it."""
    recording = Recording()
    source = LocalSource(Options(profile=True), recording.identity)
    over, runs = threading.Event(), local_source.runs

    def end() -> None:
        if not over.is_set():
            source.stop()
            over.set()

    def targets(activity: Any) -> dict[int, int]:
        if within == "a round":
            end()
        return runs(activity)

    def name_of(ident: int) -> str:
        if within == "a drain":
            end()
        return str(ident)

    monkeypatch.setattr(local_source, "runs", targets)
    monkeypatch.setattr(local_source, "str", name_of, raising=False)
    before = set(threading.enumerate())
    source.start(recording.append)
    dask.get({b"a": (over.wait, 30)}, b"a")
    assert over.is_set()
    wait_for(lambda: not set(threading.enumerate()) - before, "no thread of ours is left")
    assert column(recording, "running", "run") + column(recording, "attempts", "run")
    assert column(recording, "samples", "run") or within == "a round", "what it was about to tell is told"


def test_a_computation_that_begins_while_the_recording_ends_starts_nothing() -> None:
    def ours() -> list[str]:
        return [one.name for one in threading.enumerate() if "insight" in one.name]

    before = ours(), ours_called()
    source = LocalSource(Options(), Recording().identity)
    source.start(lambda batch: None)
    source.stop()
    # It has been found already by then, by the computation's own thread.
    source.begin("threads", "here", 1, NOWHERE)
    assert (ours(), ours_called()) == before
