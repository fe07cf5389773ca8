"""Local schedulers whose pools change or stay idle, and files of other tools that tell less than ours."""

from __future__ import annotations

import gc
import io
import json
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from operator import add
from pathlib import Path
from typing import Any

import dask
import dask.threaded
import numpy as np
import pytest
from dask import delayed

import dask_insight
from dask_insight.batch import encode
from dask_insight.compat import dasf
from dask_insight.compat.block import _Tidied
from dask_insight.compat.profile import profile
from dask_insight.options import Options
from dask_insight.probe.resources import ResourceSampler
from dask_insight.recording import Recording
from dask_insight.session import DRIVER, live
from dask_insight.session.bounded import BoundedRecording
from dask_insight.sources.files.dasf import from_events
from dask_insight.sources.local import LocalSource
from dask_insight.sources.local.ledger import Ledger
from dask_insight.sources.local.workers import Workers
from dask_insight.timeline import gpus, pool_of


@contextmanager
def recorded() -> Iterator[Recording]:
    recording = Recording()
    source = LocalSource(Options(profile=False), recording.identity)
    source.start(recording.append)
    try:
        yield recording
    finally:
        source.stop()


def told(recording: Recording, kind: str) -> list[str]:
    events = recording.events
    return list(events["message"][events["kind"] == kind])


def test_results_that_a_cache_had_before_are_worked_out_again_and_told() -> None:
    graph = {"x": 1, "y": (add, "x", 1), "z": (add, "y", 1)}
    cache: dict[str, Any] = {}
    with recorded() as recording:
        assert dask.get(graph, "z", cache=cache) == 3
        assert dask.get(graph, ["y", "z"], cache=cache) == (2, 3)
    assert sorted(recording.tasks["key"]) == ["y", "y", "z", "z"]
    assert told(recording, "lost") == []


class LokyLike(Executor):
    """As loky's `ProcessPoolExecutor`, which is no standard one."""

    def __init__(self) -> None:
        self.pool, self._max_workers = ThreadPoolExecutor(1), 1

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        return self.pool.submit(function, *arguments, **named)

    def shutdown(self, *arguments: Any, **named: Any) -> None:
        self.pool.shutdown()


def test_processes_of_another_librarys_pool_tell_when_their_tasks_ran() -> None:
    kind = type("ProcessPoolExecutor", (LokyLike,), {})
    with recorded() as recording, kind() as pool, dask.config.set(pool=pool):
        dask.compute(*(delayed(abs)(-n) for n in range(6)), scheduler="processes", chunksize=6)
    tasks = recording.tasks.sort_values("start")
    assert tasks["worker"].str.startswith("process ").all()
    assert (tasks["stop"][:-1].to_numpy() <= tasks["start"][1:].to_numpy()).all(), "one after the other"
    assert not any("of this pool" in gap for gap in told(recording, "gap"))


def test_a_pool_that_nobody_can_look_into_is_told_of() -> None:
    with recorded() as recording, LokyLike() as pool, dask.config.set(pool=pool):
        for _ in range(2):
            assert dask.compute(delayed(abs)(-1), scheduler="processes") == (1,)
    assert sum("when tasks of this pool ran" in gap for gap in told(recording, "gap")) == 1, "once"


class Result:
    """What a weak reference can be had of."""


def test_a_metric_keeps_no_result_of_computations_within_others() -> None:
    inner: list[weakref.ref[Result]] = []
    asked: list[Any] = []

    def metric(result: Any) -> float:
        asked.append(type(result))
        return 1.0

    def outer() -> int:
        result = delayed(Result)().compute(scheduler="sync")
        inner.append(weakref.ref(result))
        return 1

    with dask_insight.CacheProfiler(metric=metric):
        assert delayed(outer)().compute(scheduler="threads") == 1
        gc.collect()
        assert inner[0]() is None
    assert asked == [Result, int], "once each"


def test_what_is_registered_keeps_the_latest_alone_and_takes_no_stacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "HISTORY", 1)
    outer, inner = dask_insight.ProgressBar(out=io.StringIO()), dask_insight.Profiler()
    outer.register()
    try:
        with inner:
            dask.threaded.get({"x": (add, 1, 1)}, "x")
    finally:
        outer.unregister()
    kept, block = outer.recording, inner.recording
    assert isinstance(kept, BoundedRecording) and kept.history.limit == 1
    assert [one.about["options"]["profile"] for one in (kept, block)] == [False, True]
    assert len(kept.tasks) == len(block.tasks) == 1
    assert not any(isinstance(each, _Tidied) for each in DRIVER._driven)


def test_each_line_of_otlp_is_a_request_that_the_collectors_receiver_takes(tmp_path: Path) -> None:
    number, needed = 3_000, 5_000
    run, task = Recording(), np.arange(number + needed)
    last = number + needed - 1
    run.append(
        encode("graph", {"task": task, "key": [f"load-{n}" for n in task], "prefix": ["load"] * len(task)})
    )
    run.append(encode("edges", {"task": [last] * needed, "dependency": task[:needed]}))
    times = {"start": 1.7e9 + task, "stop": 1.7e9 + task + 1, "done": 1.7e9 + task + 1}
    place = {"worker": ["w"] * len(task), "thread": ["1"] * len(task), "status": ["ok"] * len(task)}
    run.append(encode("attempts", {"run": task, "task": task, **place, **times}))
    lines = run.export(tmp_path / "run.otlp.json").read_text("utf-8").splitlines()
    assert 1 < len(lines) < 50 and max(map(len, lines)) < 1 << 20
    requests = [json.loads(line)["resourceSpans"] for line in lines]
    assert all(len(one) == 1 and one[0]["resource"] == requests[0][0]["resource"] for one in requests)
    spans = [span for (one,) in requests for span in one["scopeSpans"][0]["spans"]]
    assert len({span["spanId"] for span in spans}) == len(spans) == len(task) + 1
    assert len(spans[-1]["links"]) + spans[-1]["droppedLinksCount"] == needed
    assert not any("droppedLinksCount" in span for span in spans[:-1])


def test_a_chrome_trace_of_a_local_run_has_its_memory_its_cpu_and_its_gpus(tmp_path: Path) -> None:
    zero, moments = 1.7e9, 1.7e9 + np.arange(3.0)
    run = Recording()
    run.append(encode("graph", {"task": [0], "key": ["load"], "prefix": ["load"]}))
    of = {"run": [0], "worker": ["threads"]}
    times = {"start": [zero], "stop": [zero + 2], "done": [zero + 2]}
    run.append(encode("attempts", {**of, "task": [0], "thread": ["1"], "status": ["ok"], **times}))
    run.append(encode("executions", {**of, "cpu": [1.5]}))
    used = {"cpu": [100.0] * 3, "memory": [1e9, 2e9, 3e9]}
    run.append(encode("resources", {"process": ["threads"] * 3, "time": moments, **used}))
    gpus = {"index": [0, 1] * 3, "utilization": [20.0, 40] * 3, "memory": [4e9, 5e9] * 3}
    run.append(encode("gpus", {"process": ["threads"] * 6, "time": np.repeat(moments, 2), **gpus}))
    path = run.export(tmp_path / "run.trace.json")
    told = json.loads(path.read_text("utf-8"))["traceEvents"]
    counters = Counter((each["name"], *each["args"].values()) for each in told if each["ph"] == "C")
    assert counters["GPU 0 (%)", 20.0] == counters["GPU 1 (%)", 40.0] == 3
    assert counters["GPU 1 memory (MB)", 5000.0] == 3
    again = dask_insight.load(path)
    assert again.resources["memory"].tolist() == [1e9, 2e9, 3e9]
    assert again.tasks["cpu"].tolist() == [1.5]


def event(name: str, moment: float, **others: Any) -> dict[str, Any]:
    """As DASF's databases hold it."""
    return {"name": name, "timestamp": moment, "phase": "X", "process_id": "vm", "thread_id": "w", **others}


def computed(key: str, stop: float, duration: float) -> dict[str, Any]:
    return event("Compute", stop, duration=duration, args={"key": key, "state": "memory", "size": 8})


def test_gpus_that_a_hosts_monitor_tells_of_are_those_of_its_workers() -> None:
    used = [
        event("Resource Usage", n / 4, args={"gpu_utilization": 20.0, "gpu_memory_used": 1e9})
        for n in range(40)
    ]
    events = [computed(f"('load', {n})", 2.0 * n + 2, 2.0) for n in range(5)]
    run = from_events([*events, *used], "dasf")
    told = run.bottlenecks()
    assert told["gpu"].tolist() == pytest.approx([20.0]) and told["gpu_memory"].tolist() == [1e9]
    (idle,) = (each for each in run.findings() if each.code == "gpu-idle")
    assert idle.workers == ("w",)


def test_gpus_that_a_local_schedulers_process_tells_of_are_those_of_its_pool() -> None:
    run = Recording()
    names = ["process 1", "process 2", "threads"]
    run.append(encode("workers", {"worker": names, "host": ["vm"] * 3}))
    processes = ["local", "threads", "other"]
    run.append(encode("gpus", {"process": processes, "index": [0] * 3, "time": [1.7e9] * 3}))
    found = gpus(run.columns)
    assert found.of.tolist() == [1, 1, 0] or found.of.tolist() == [0, 0, 1], "one of the host, one elsewhere"
    assert found.seen_by[found.of[0]] == [*names[:2], "threads"] and found.seen_by[found.of[2]] == ["other"]
    assert found.seen(["process 2"]).tolist() == [True, False, False]


def test_tasks_that_overlap_on_a_worker_of_dasf_ran_on_several_threads() -> None:
    four = from_events([computed(f"('load', {n})", 2.0 + n / 100, 2.0) for n in range(4)], "dasf")
    assert four.workers["threads"].tolist() == [4]
    bounds = four.bounds()
    assert bounds.threads == 4 and bounds.spread <= bounds.seconds
    assert sorted(four.tasks["thread"]) == ["0", "1", "2", "3"]


def test_tasks_that_overlap_by_what_clocks_are_off_ran_on_one_thread() -> None:
    one = from_events([computed(f"('load', {n})", n + 1.01 + n % 2 / 100, 1.01) for n in range(9)], "dasf")
    assert one.workers["threads"].tolist() == [1] and set(one.tasks["thread"]) == {"0"}


def pause(number: int) -> int:
    time.sleep(0.03)
    return number


def test_pools_end_with_the_recording_however_long_its_own_end_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With gilknocker it takes a tenth of a second."""
    closed, close = list[float](), ResourceSampler.close

    def closing(sampler: ResourceSampler) -> None:
        until = time.perf_counter() + 0.1
        while time.perf_counter() < until:
            pass
        closed.append(until)
        close(sampler)

    monkeypatch.setattr(ResourceSampler, "close", closing)
    with recorded() as recording:
        (began,) = dask.compute(delayed(time.perf_counter)(), scheduler="threads", num_workers=2)
    (task,), (worker,) = recording.tasks.itertuples(), recording.workers.itertuples()
    assert worker.left - task.start <= closed[0] - began


def test_threads_of_a_later_pool_are_none_that_an_earlier_computation_had() -> None:
    with recorded() as recording:
        for threads in (1, 8, 8):
            dask.compute(*(delayed(pause)(n) for n in range(8)), scheduler="threads", num_workers=threads)
    workers, tasks = recording.workers, recording.tasks
    assert dict(zip(workers["worker"], workers["threads"], strict=True)) == {"threads": 1, "threads#2": 8}
    assert set(tasks["worker"][:8]) == {"threads"} and set(tasks["worker"][8:]) == {"threads#2"}
    assert workers["left"].iloc[0] == workers["joined"].iloc[1]
    assert {pool_of(worker) for worker in workers["worker"]} == {"threads"}
    lives = (workers["left"] - workers["joined"]) * workers["threads"]
    assert recording.time_budget()["seconds"].sum() == pytest.approx(lives.sum(), rel=0.05)
    assert not any(each.code == "too-few-tasks" for each in recording.findings())
    assert recording.bounds().threads == 8


@pytest.mark.parametrize("shared", [False, True])
def test_threads_of_computations_within_tasks_are_there_for_as_long_as_those(shared: bool) -> None:
    """There are no others where they run on the pool that asks for them."""

    def outer() -> Any:
        return dask.compute(*(delayed(pause)(n) for n in range(4)), **options)

    with recorded() as recording, ThreadPoolExecutor(4) as pool:
        options = {"scheduler": "threads", **({"pool": pool} if shared else {"num_workers": 4})}
        for _ in range(8):
            dask.compute(*(delayed(pause)(n) for n in range(4)), **options)
        dask.compute(*(delayed(outer)() for _ in range(2)), **options)
    workers, tasks = recording.workers, recording.tasks
    names = ["threads"] if shared else ["threads", "threads#2", "threads#3"]
    assert dict(zip(workers["worker"], workers["threads"], strict=True)) == dict.fromkeys(names, 4)
    assert sorted(set(tasks["worker"])) == names
    lives = workers["left"] - workers["joined"]
    assert lives[1:].max() <= tasks[tasks["prefix"] == "outer"]["duration"].max() or shared
    assert recording.time_budget()["seconds"].sum() == pytest.approx(4 * lives.sum(), rel=0.05)


def test_computations_within_tasks_have_so_many_workers_of_their_own() -> None:
    workers = Workers()
    outer = workers.begin("threads", 2, 0.0)
    for number in range(300):
        label = workers.begin("threads", 4, float(number), apart=True)
        workers.finish("threads", label)
    workers.finish("threads", outer)
    assert (outer, label) == ("threads", "threads#101"), "the last ones share one"
    assert (workers.threads(outer), workers.threads(label)) == (2, 4)
    assert workers.left.take()["worker"] == [f"threads#{number}" for number in range(2, 101)]  # type: ignore[index]
    assert workers.begin("threads", 16, 400.0) == "threads#102", "others have theirs all the same"
    assert workers.left.take()["worker"] == ["threads"]  # type: ignore[index]


def test_pools_whose_sizes_change_for_ever_have_so_many_workers() -> None:
    workers = Workers()
    for number in range(300):
        label = workers.begin("threads", 1 + number % 2, float(number))
        workers.finish("threads", label)
    assert label == "threads#100" and workers.threads(label) == 2


def test_a_pool_of_processes_has_those_that_were_given_nothing() -> None:
    with recorded() as recording:
        dask.compute(*(delayed(pause)(n) for n in range(12)), scheduler="processes", num_workers=4)
    workers = recording.workers
    assert workers["threads"].sum() == 4 and sum(workers["worker"].str.startswith("process unused")) == 1
    assert recording.bounds().threads == 4


@pytest.mark.parametrize("pools", [("threads", 2), ("processes", 0)])
def test_a_worker_that_left_while_rows_are_written_is_never_there_again(pools: tuple[str, int]) -> None:
    recording = Recording()
    ledger = Ledger(recording.identity, None)
    to_come = [("threads", 3), pools]

    def emit(batch: bytes) -> None:
        recording.append(batch)
        while to_come:
            begin_and_end(*to_come.pop(0))

    def begin_and_end(kind: str, threads: int) -> None:
        if kind == "processes":
            ledger.workers.unused(4, 0.0)
        else:
            ledger.workers.finish(kind, ledger.workers.begin(kind, threads, 0.0))

    begin_and_end("threads", 1)
    ledger.flush(emit)
    ledger.flush(emit)
    workers = recording.workers.set_index("worker")["left"]
    assert workers.isna().sum() == 1 and workers.isna()["threads#3" if pools[1] else "threads#2"]


def test_processes_of_later_computations_start_like_those_of_the_first() -> None:
    run, zero = Recording(), 1.7e9
    names = ["process 1", "process unused", "process 2", "process unused#2"]
    begin, end = zero + np.array([0, 0, 10, 10]), zero + np.array([4, 4, 14, 14])
    run.append(encode("workers", {"worker": names, "threads": [1, 3, 1, 3], "joined": begin, "left": end}))
    run.append(encode("graph", {"task": [0, 1], "key": ["load-0", "load-1"], "prefix": ["load"] * 2}))
    asked = dict.fromkeys(("submitted", "ready", "assigned"), begin[::2])
    ran = {"start": begin[::2] + 1.5, "stop": end[::2], "done": end[::2]}
    place = {"worker": names[::2], "thread": ["1"] * 2, "status": ["ok"] * 2}
    run.append(encode("attempts", {"run": [0, 1], "task": [0, 1], **asked, **ran, **place}))
    parts = run.time_budget().set_index("part")["seconds"]
    assert "joining" not in parts and parts["processes"] == pytest.approx(12.0)


@pytest.mark.parametrize(("seconds", "advice"), [(1.0, "chunksize=1"), (0.01, "scheduler='threads'")])
def test_processes_that_were_given_nothing_are_told_of_where_the_others_were_busy(
    seconds: float, advice: str
) -> None:
    run, zero = Recording(), 1.7e9
    names = ["process 1", "process 2", "process unused"]
    stop = zero + seconds * np.arange(1, 7).repeat(2) + 1.0
    there = {"joined": [zero] * 3, "left": [stop.max()] * 3}
    run.append(encode("workers", {"worker": names, "threads": [1, 1, 2], "pid": [1, 2, 0], **there}))
    tasks = np.arange(12)
    run.append(encode("graph", {"task": tasks, "key": [f"load-{n}" for n in tasks], "prefix": ["load"] * 12}))
    asked = {name: [zero] * 12 for name in ("submitted", "ready", "assigned")}
    ran = {"start": stop - seconds, "stop": stop, "done": [zero + 6 * seconds + 1] * 12}
    place = {"worker": names[:2] * 6, "thread": ["1"] * 12, "status": ["ok"] * 12}
    run.append(encode("attempts", {"run": tasks, "task": tasks, **asked, **ran, **place}))
    (found,) = (each for each in run.findings() if each.code == "process-pool")
    assert advice in found.advice


def test_events_of_ones_own_in_dasfs_files_last(tmp_path: Path) -> None:
    profiler = dasf.EventProfiler(database_file=str(tmp_path / "own.msgpack"))
    profiler.record_complete_event("read", 100.0, 12.5, args={"file": "a"})
    profiler.commit()
    run = dask_insight.load(tmp_path / "own.msgpack")
    assert run.about["stopped"] - run.about["started"] == 12.5
    (detail,) = run.events["detail"][run.events["message"] == "read (X)"]
    assert json.loads(detail) == {"duration": 12.5, "file": "a"}
    bare = from_events([{"name": "read", "phase": "X", "timestamp": 1.0, "duration": 0.5}], "bare")
    assert "args" not in bare.events["detail"].str.cat()


def test_a_profile_without_stacks_outside_tasks_says_so() -> None:
    run = Recording()
    run.append(encode("workers", {"worker": ["w"], "threads": [1]}))
    with pytest.warns(RuntimeWarning, match="no call stacks of workers outside their tasks"):
        assert profile(run, server=True)["count"] == 0
    with pytest.warns(RuntimeWarning, match="no call stacks of workers outside their tasks"):
        assert profile(run, server=True, merge_workers=False)["w"]["count"] == 0
    with pytest.warns(RuntimeWarning, match="no call stacks of the scheduler"):
        assert profile(run, scheduler=True)["count"] == 0
