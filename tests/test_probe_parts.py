"""The probe's smaller parts: clocks, metrics' names, GPUs, resources, logs, worker's memory of attempts."""

from __future__ import annotations

import asyncio
import json
import logging
import marshal
import math
import os
import pickle
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import asdict
from itertools import count, islice, pairwise
from types import ModuleType, SimpleNamespace
from typing import Any

import msgpack
import numpy as np
import psutil
import pytest
from conftest import wait_for
from distributed import threadpoolexecutor
from hypothesis import given
from hypothesis import strategies as st

from dask_insight.options import Options
from dask_insight.probe import cores, farewell, graph, resources, ship
from dask_insight.probe.boot import unload
from dask_insight.probe.clock import Offset, process
from dask_insight.probe.executions import RUNNING, Executions
from dask_insight.probe.functions import Place
from dask_insight.probe.fused import Part
from dask_insight.probe.gaps import Gaps
from dask_insight.probe.gauges import Gauges, numbers
from dask_insight.probe.gpu import Device, Gpus, chosen, has_one
from dask_insight.probe.journal import Journal, Labels
from dask_insight.probe.logs import Logs
from dask_insight.probe.messages import packed_rows
from dask_insight.probe.metrics import Metrics, parts
from dask_insight.probe.own import Own
from dask_insight.probe.pulse import Lag, Pulse
from dask_insight.probe.readers import BYTES, Reader, Stores
from dask_insight.probe.resources import Resident, ResourceSampler
from dask_insight.probe.rows import Items, packing
from dask_insight.probe.scheduler import Probe
from dask_insight.probe.secede import Seceded
from dask_insight.probe.ship import SchedulerProbe, package
from dask_insight.probe.tasks import Tasks
from dask_insight.probe.transfers import Transfers
from dask_insight.probe.worker import Probe as WorkersProbe
from dask_insight.sources import losses
from dask_insight.sources.cluster.clocks import Clock, Clocks
from dask_insight.sources.cluster.layouts import DTYPES


@given(
    st.floats(-1e4, 1e4), st.lists(st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)), min_size=1, max_size=30)
)
def test_the_true_offset_is_within_the_uncertainty(offset: float, trips: list[tuple[float, float]]) -> None:
    estimate, now = Offset(), 1.7e9
    for there, back in trips:
        estimate.trip(now, now + there - offset, now + there + back)
        now += 1
    found, uncertainty = estimate.estimate(now)
    assert abs(found - offset) <= uncertainty + 1e-5
    assert uncertainty <= min(sum(trip) / 2 for trip in trips) + 1e-2


def test_each_version_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    name = package()
    again = dict(ship.sources())
    monkeypatch.setattr(ship, "sources", lambda: again)
    assert package.__wrapped__() == name
    again["clock"] = "# changed"
    assert package.__wrapped__() != name


def test_modules_are_compressed_together() -> None:
    texts, (_, codes) = ship._shipped("worker")
    found = json.loads(zlib.decompress(texts))
    assert found.keys() == marshal.loads(zlib.decompress(codes)).keys()
    assert len(texts) < 0.85 * sum(len(zlib.compress(text.encode())) for text in found.values())


def test_processes_of_one_host_share_a_clock() -> None:
    estimate = Offset()
    assert estimate.estimate(0) == (0.0, math.inf)
    estimate.same()
    assert estimate.estimate(0) == (0.0, 0.0)
    estimate.trip(0, 0.9, 1)
    assert estimate.estimate(0) == (0.0, 0.0)


def test_processes_of_one_host_may_be_given_another_clock() -> None:
    estimate = Offset()
    estimate.same()
    estimate.trip(10, 5, 11)
    assert estimate.estimate(11) == (5.5, 0.5)


def test_a_process_is_told_from_one_of_the_same_id_in_another_container() -> None:
    print_it = "from dask_insight.probe.clock import process; print(process())"
    apart = ["unshare", "--pid", "--fork", sys.executable, "-c", print_it]
    try:
        told = int(subprocess.run(apart, capture_output=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to make namespaces of process ids")
    low = 2**32
    assert (told % low, process() % low) == (1, os.getpid())
    assert told // low != process() // low


def test_cores_that_a_process_may_use_have_a_number_that_all_have_who_share_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def told(mine: set[int], count: int) -> tuple[int, int]:
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: mine, raising=False)
        monkeypatch.setattr(cores, "CPU_COUNT", count)
        return cores.cores()

    first, others = told({0, 1, 2, 3}, 64), told({4, 5, 6, 7}, 64)
    assert first[0] == others[0] == 4 and len({first[1], others[1], 0}) == 3
    assert told({3, 2, 1, 0}, 4) == first
    # Processes of a container, or of a control group, share a limit on CPU time.
    limited = told(set(range(64)), 2)
    assert limited[0] == 2 and limited[1] and told(set(range(64)), 2) == limited
    for name, other in (("_group", "another"), ("process", 7 << 32)):
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(cores, name, lambda other=other: other)
            assert told(set(range(64)), 2)[1] != limited[1]
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores.cores() == (2, 0)


def test_a_clock_may_be_asked_for_while_a_trip_comes() -> None:
    class Meanwhile(float):
        def __sub__(self, other: float) -> float:
            estimate.trip(12, 12, 12.5)
            return float(self) - other

    estimate = Offset()
    for asked in (10, 11):
        estimate.trip(asked, asked, asked + 1.0)
    assert estimate.estimate(Meanwhile(12)) == pytest.approx((0.5, 0.5), abs=1e-3)
    assert estimate.estimate(12.5) == pytest.approx((0.25, 0.25), abs=1e-3)


def test_a_clock_that_was_set_is_estimated_anew() -> None:
    estimate = Offset()
    estimate.trip(10, 10.001, 10.002)
    estimate.trip(11, 14, 11.5)
    found, uncertainty = estimate.estimate(11.5)
    assert (found, uncertainty) == (-2.75, 0.25)


def test_the_clock_is_the_one_by_which_dask_stamps(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import worker

    from dask_insight.probe.clock import time

    monkeypatch.setattr(worker, "time", lambda: 12.5)
    assert time() == 12.5


def test_the_clock_goes_while_dask_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.probe import clock

    monkeypatch.setitem(sys.modules, "distributed.worker", ModuleType("distributed.worker"))
    assert abs(clock.time() - time.time()) < 10


def test_dasks_corrections_are_undone() -> None:
    clocks = Clocks()
    clock = clocks.of("w")
    clock.offset = 3.0
    for since, delay in ((100.0, 0.5), (110.0, -0.25), (120.0, 2.0)):
        clock.corrected(since, delay)
    raw = np.array([101.0, 109.0, 110.8, 119.0, 121.0, np.nan])
    shift = np.array([0.5, 0.5, -0.25, -0.25, 2.0, 0.0])
    np.testing.assert_allclose(clocks.shifts(["", "w"], np.ones(6, "u4"), raw + shift), [*shift[:5] + 3, 0])


def test_each_worker_has_its_own_correction_in_whatever_order_they_come() -> None:
    clocks = Clocks()
    for worker, offset, delay in (("a", 3.0, 0.5), ("b", -2.0, 0.25)):
        clocks.of(worker).offset = offset
        clocks.of(worker).corrected(0.0, delay)
    codes, times = np.array([2, 0, 2, 1, 0], "u4"), np.array([5.0, 6.0, np.nan, 8.0, 1.0])
    np.testing.assert_array_equal(clocks.shifts(["a", "c", "b"], codes, times), [-1.75, 3.5, 0.0, 0.0, 3.5])


def test_each_time_has_the_last_correction_before_it_however_these_jump() -> None:
    random = np.random.default_rng(1)
    clock = Clock()
    since = np.cumsum(random.uniform(0.1, 2.0, 300))
    delays = random.normal(0.0, 1.0, 300)
    for each in zip(since.tolist(), delays.tolist(), strict=True):
        clock.corrected(*each)
    shifted = random.uniform(since[0] - 5, since[-1] + 5, 1000)
    begun = shifted[:, None] - delays[None, :] >= since[None, :]
    last = np.where(begun.any(axis=1), 299 - begun[:, ::-1].argmax(axis=1), 0)
    np.testing.assert_array_equal(clock.delay_at(shifted), delays[last])
    late = shifted[shifted > since[-50]]
    np.testing.assert_array_equal(clock.delay_at(late), delays[last[shifted > since[-50]]])


def test_corrections_are_remembered_for_an_hour_and_go_with_their_worker() -> None:
    clocks = Clocks()
    clock = clocks.of("a")
    for moment in range(5000):
        clock.corrected(float(moment), moment / 1e6)
    kept = np.arange(1398, 5000)
    np.testing.assert_array_equal(clock.delay_at(kept + kept / 1e6), kept / 1e6)
    assert len(clock._since) == len(clock._delays) == len(kept)
    clocks.left("a", 5000.0)
    assert clock.delay_at(np.array([2000.5])) == [0.002], "what it did may be told later"
    clocks.left("b", 5100.0)
    assert clocks.of("a") is clock and len(clock._since) == len(clock._delays) == 1
    assert clock.delay_at(np.array([2000.5, 6000.0])).tolist() == [0.004999] * 2


def test_an_unknown_clock_changes_nothing() -> None:
    assert Clock().delay_at(np.array([1.0, 2.0])).tolist() == [0, 0]
    assert Clocks().shifts(["w"], np.zeros(0, "u4"), np.zeros(0)).tolist() == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            ("execute", "s1", "inc", "thread-cpu", "seconds"),
            ("execute", "s1", "inc", "thread-cpu", "seconds"),
        ),
        (("execute", None, "inc", ("mine", 3), b"b"), ("execute", "", "inc", "mine 3", "b'b'")),
        (("gather-dep", "network", "seconds"), ("gather-dep", "", "", "network", "seconds")),
        (("get-data", "serialize", "bytes"), ("get-data", "", "", "serialize", "bytes")),
        (("p2p", "s1", "foreground", "write", "count"), ("p2p", "s1", "", "foreground write", "count")),
        (("memory-monitor", "disk-write", "seconds"), ("memory-monitor", "", "", "disk-write", "seconds")),
    ],
)
def test_names_of_metrics(name: tuple[Any, ...], expected: tuple[str, ...]) -> None:
    assert parts(name) == expected


def test_metrics_are_what_was_added() -> None:
    totals: dict[Any, float] = defaultdict(float)
    totals["execute", "s", "old", "other", "seconds"] = 5.0
    metrics = Metrics(SimpleNamespace(digests_total=totals))
    totals["execute", "s", "new", "other", "seconds"] += 1.5
    totals["latency"] += 1
    assert metrics.take() == [("execute", "s", "new", "other", "seconds", 1.5)]
    assert metrics.take() == []


def test_no_change_of_many_metrics_is_missed() -> None:
    random = np.random.default_rng(5)
    totals: dict[Any, float] = defaultdict(int)
    metrics = Metrics(SimpleNamespace(digests_total=totals))
    sums: dict[Any, float] = defaultdict(int)
    for _ in range(50):
        names = [("execute", f"s{number}", "p", "other", "seconds") for number in range(len(totals) + 200)]
        for number in random.choice(len(names), 30).tolist():
            totals[names[number]] += random.choice([0, 0.25, -0.5, 3]).item()
        totals["latency"] += 1
        for *name, added in metrics.take():
            sums[tuple(name)] += added
    del totals["latency"]
    assert len(totals) > 400 and sums == {name: value for name, value in totals.items() if name in sums}
    assert not any(totals[name] for name in totals.keys() - sums.keys())


class Disturbed(defaultdict[Any, float]):
    """Totals of which a task's thread adds one in the middle of a look, at one step of it."""

    step = ""

    def _come_to(self, step: str) -> None:
        if self.step == step:
            self.step = ""
            self["p2p", "s", "foreground", "new", "seconds"] += 7.0

    def values(self) -> Any:
        self._come_to("values")
        return super().values()

    def __reversed__(self) -> Any:
        found = super().__reversed__()
        self._come_to("reversed")
        return found


@pytest.mark.parametrize(("step", "at_first"), [("values", True), ("values", False), ("reversed", False)])
def test_a_total_that_a_task_adds_during_a_look_is_told_whole(step: str, at_first: bool) -> None:
    totals = Disturbed(float)
    totals["old"] = 1.0
    totals["p2p", "s", "foreground", "old", "seconds"] = 1.0
    totals.step = step if at_first else ""
    metrics = Metrics(SimpleNamespace(digests_total=totals))
    totals.step = "" if at_first else step
    assert [added for *_, added in metrics.take() + metrics.take()] == [7.0]
    totals["p2p", "s", "foreground", "old", "seconds"] += 2.0
    totals["p2p", "s", "foreground", "new", "seconds"] += 3.0
    assert [added for *_, added in metrics.take() + metrics.take()] == [2.0, 3.0]


def test_many_metrics_that_do_not_change_cost_little() -> None:
    totals: dict[Any, float] = {
        ("execute", f"s{number}", "p", "other", "seconds"): number / 7 for number in range(100_000)
    }
    metrics, known = Metrics(SimpleNamespace(digests_total=totals)), dict(totals)

    def walk() -> list[Any]:
        return [name for name, value in list(totals.items()) if known.get(name, 0) != value]

    def least(work: Any) -> float:
        times = []
        for _ in range(10):
            begun = time.thread_time()
            work()
            times.append(time.thread_time() - begun)
        return min(times)

    assert least(metrics.take) < least(walk) / 3


def devices() -> list[Device]:
    return [Device(index, f"Card GPU-{letter * 4}", None) for index, letter in enumerate("abcd")]


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, [0, 1, 2, 3]),
        ("2,0", [2, 0]),
        ("", []),
        ("-1", []),
        ("GPU-bb", [1]),
        ("1,7,2", [1]),
        ("1,1", [1]),
    ],
)
def test_visible_gpus(visible: str | None, expected: list[int]) -> None:
    assert [device.number for device in chosen(devices(), visible)] == expected


def nvml(**changes: Any) -> ModuleType:
    """A stand-in for NVML with two cards."""
    module: Any = ModuleType("pynvml")
    module.nvmlInit = module.nvmlShutdown = lambda: None
    module.nvmlDeviceGetCount = lambda: 2
    module.nvmlDeviceGetHandleByIndex = lambda index: index
    module.nvmlDeviceGetUUID = lambda handle: f"GPU-{handle}"
    module.nvmlDeviceGetName = lambda handle: b"Card"
    module.nvmlDeviceGetUtilizationRates = lambda handle: SimpleNamespace(gpu=10 + handle)
    module.nvmlDeviceGetMemoryInfo = lambda handle: SimpleNamespace(used=100 + handle, total=1000)
    for name, value in changes.items():
        setattr(module, name, value)
    return module


def test_every_gpu_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    row, gpus = ResourceSampler().sample()
    assert row["memory"] > 1e6
    assert [(gpu["index"], gpu["name"], gpu["utilization"], gpu["memory"]) for gpu in gpus] == [
        (0, "Card GPU-0", 10, 100.0),
        (1, "Card GPU-1", 11, 101.0),
    ]


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        *(("1,0", [1]), ("GPU-1,GPU-0", [1]), ("0", [0]), ("", []), (None, [0, 1])),
        # Parts of GPUs, of which it is not known here on which they are.
        ("MIG-b,MIG-a", [0, 1]),
    ],
)
def test_of_all_gpus_that_a_worker_of_dask_cuda_sees_it_tells_of_its_own(
    monkeypatch: pytest.MonkeyPatch, visible: str | None, expected: list[int]
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    plugin = type("CPUAffinity", (), {"__module__": "dask_cuda.plugins"})()
    worker = SimpleNamespace(plugins={"affinity": plugin, "other": object()})
    _, gpus = ResourceSampler(one_gpu=has_one(worker)).sample()
    assert [gpu["index"] for gpu in gpus] == expected
    assert not has_one(SimpleNamespace(plugins={"other": object()}))


def test_a_figure_that_cannot_be_had_is_missing_and_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(handle: Any) -> None:
        raise RuntimeError("Not Supported")

    monkeypatch.setitem(sys.modules, "pynvml", nvml(nvmlDeviceGetUtilizationRates=unsupported))
    (first, _) = Gpus().sample(1.0)
    assert math.isnan(first["utilization"]) and first["memory"] == 100


def test_a_gpu_that_is_lost_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def handle(index: int) -> int:
        if index in (0, 2):
            raise RuntimeError("GPU is lost" if index else "Insufficient Permissions")
        return index

    broken = nvml(nvmlDeviceGetCount=lambda: 4, nvmlDeviceGetHandleByIndex=handle)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setitem(sys.modules, "pynvml", broken)
    gpus = Gpus()
    assert [(row["index"], row["utilization"]) for row in gpus.sample(1.0)] == [(1, 11), (3, 13)]
    assert gpus.reason == "GPU 0: Insufficient Permissions; GPU 2: GPU is lost"


@pytest.mark.parametrize(
    ("visible", "order", "kinds", "one", "expected"),
    [
        ("0", None, "AB", False, None),
        ("1", "FASTEST_FIRST", "AB", True, None),
        ("1,0", None, "AB", True, None),
        ("1", "PCI_BUS_ID", "AB", False, [1]),
        ("1", None, "AA", False, [1]),
        ("GPU-1", None, "AB", False, [1]),
        # All, in whatever order; none.
        ("1,0", None, "AB", False, [1, 0]),
        ("-1", None, "AB", False, []),
    ],
)
def test_gpus_that_cuda_may_count_in_another_order_are_sampled_and_told_of(
    monkeypatch: pytest.MonkeyPatch,
    visible: str,
    order: str | None,
    kinds: str,
    one: bool,
    expected: list[int] | None,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    if order is not None:
        monkeypatch.setenv("CUDA_DEVICE_ORDER", order)
    monkeypatch.setitem(sys.modules, "pynvml", nvml(nvmlDeviceGetName=lambda handle: f"Card {kinds[handle]}"))
    gpus = Gpus(one)
    assert [device.number for device in gpus.devices] == ([0, 1] if expected is None else expected)
    assert ("CUDA_DEVICE_ORDER=PCI_BUS_ID" in gpus.reason) == (expected is None)


def test_without_nvml_there_is_a_named_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    sampler = ResourceSampler()
    assert sampler.sample()[1] == []
    assert any("nvidia-ml-py" in gap for gap in sampler.gaps)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell of processes that have ended")
def test_what_a_program_computed_is_known_when_it_has_ended() -> None:
    sampler = ResourceSampler()
    code = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)
    # The system counts in ticks of up to 16 ms.
    assert 0.18 <= sampler.sample()[0]["children"] < 2
    assert sampler.sample()[0]["children"] == 0


def test_contention_for_the_gil_is_asked_of_gilknocker_where_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look tells of the time since the one before."""
    calls: list[str] = []

    class KnockKnock:
        contention_metric = 0.5

        def __init__(self, polling_interval_micros: int) -> None:
            calls.append("made")

        def start(self) -> None:
            calls.append("started")

        def reset_contention_metric(self) -> None:
            calls.append("reset")

        def stop(self) -> None:
            calls.append("stopped")

    monkeypatch.setitem(sys.modules, "gilknocker", SimpleNamespace(KnockKnock=KnockKnock))
    sampler = ResourceSampler()
    assert [sampler.sample()[0]["gil"] for _ in range(2)] == [0.5, 0.5]
    sampler.close()
    assert calls == ["made", "started", "reset", "reset", "stopped"]


def test_what_costs_much_is_looked_at_soon_and_then_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(resources, "perf_counter", lambda: now)
    monkeypatch.setattr(resources, "_host_counters", lambda: {"net_read": 8.0 * now * now})
    sampler = ResourceSampler(gil=lambda: 0.0)
    found = {}
    for tick in range(1, 65):
        now = tick / 8
        found[now] = sampler.sample()[0]["net_read"]
    sampler.close()
    assert math.isnan(found.pop(0.125))
    looks = [at for at, rate in found.items() if rate != found.get(at - 0.125)]
    assert looks == [0.25, 0.75, 1.75, 3.75, 5.75, 7.75]
    assert found[0.25] == 8 * 0.25 and found[0.625] == found[0.25], "what was seen stands until the next look"


def test_what_cannot_be_read_is_a_named_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(polling_interval_micros: int) -> None:
        raise RuntimeError("too many threads")

    monkeypatch.setitem(sys.modules, "gilknocker", SimpleNamespace(KnockKnock=refused))
    monkeypatch.setattr(resources, "_host_counters", lambda: {"net_read": 0.0})
    sampler = ResourceSampler()
    gaps = sampler.gaps
    sampler.close()
    assert "contention for the GIL: gilknocker does not start: too many threads" in gaps
    assert [gap.split(":")[0] for gap in gaps][-2:] == ["the host's disks", "the host's CPUs"]


def test_cpu_and_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_FIRST", 0.05)
    monkeypatch.setattr(resources, "_SELDOM", 0.05)
    sampler = ResourceSampler(gil=lambda: 0.25)
    until = time.process_time() + 0.2
    began = time.time()
    while time.process_time() < until:
        pass
    row, _ = sampler.sample()
    assert row["cpu"] == pytest.approx(100 * 0.2 / (time.time() - began), rel=0.5)
    assert row["gil"] == 0.25 and row["fds"] > 2
    # A core counts in ticks, of a hundredth of a second or more.
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    row, _ = sampler.sample()
    assert row["net_read"] >= 0
    assert 0 < row["host_cpu"] < 150, "as coarse as the ticks of so short a time"
    assert 0 < row["host_free"] < row["host_memory"] == psutil.virtual_memory().total


def test_a_clock_that_is_set_back_stops_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead, received = 0.0, count(0, 1000)
    clock = SimpleNamespace(time=lambda: time.time() + ahead)
    monkeypatch.setitem(sys.modules, "distributed.worker", clock)
    monkeypatch.setattr(resources, "_FIRST", 0.0)
    monkeypatch.setattr(resources, "_host_counters", lambda: {"net_read": float(next(received))})
    sampler = ResourceSampler(gil=lambda: 0.0)
    before, _ = sampler.sample()
    ahead = -600.0
    rows = [sampler.sample()[0] for _ in range(2)]
    sampler.close()
    assert rows[0]["time"] < before["time"] - 500, "rows have the times that Dask stamps"
    assert all(row["cpu"] >= 0 for row in rows)
    assert len({row["net_read"] for row in (before, *rows)}) == 3


def test_what_a_system_refuses_is_missing_and_keeps_nothing_else_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(process: psutil.Process) -> Any:
        raise psutil.AccessDenied(process.pid)

    def nowhere(path: str) -> Any:
        raise FileNotFoundError(path)

    monkeypatch.setattr(resources.os, "listdir", nowhere)
    monkeypatch.setattr(resources.Resident, "read", lambda resident, now: math.nan)
    for figure in ("num_fds", "memory_info"):
        monkeypatch.setattr(psutil.Process, figure, refused)
    sampler = ResourceSampler()
    row, _ = sampler.sample()
    sampler.close()
    assert math.isnan(row["fds"])
    assert math.isnan(row["memory"])
    assert row["cpu"] >= 0


def test_a_blocked_event_loop_is_seen() -> None:
    async def main() -> list[float]:
        pulse = Pulse(0.1, asyncio.get_running_loop())
        pulse.start()
        await asyncio.sleep(0.3)
        time.sleep(0.5)
        await asyncio.sleep(0.3)
        pulse.stop()
        return [row["lag"] for row in pulse.take()[0]]

    lags = asyncio.run(main())
    assert max(lags) > 0.3
    assert not [one for one in threading.enumerate() if one.name == "dask_insight-resources"]


def test_on_the_event_loop_it_takes_no_thread_and_ends() -> None:
    async def main() -> list[float]:
        pulse = Pulse(0.05, asyncio.get_running_loop())
        pulse.start_on_loop()
        pulse.start_on_loop()
        assert not [one for one in threading.enumerate() if one.name == "dask_insight-resources"]
        await asyncio.sleep(0.3)
        time.sleep(0.3)
        await asyncio.sleep(0.1)
        rows = pulse.take()[0]
        # As when a recorder joins that is in another process.
        pulse.start()
        await asyncio.sleep(0.2)
        pulse.stop()
        more = pulse.take()[0]
        await asyncio.sleep(0.2)
        assert len(more) > 1 and not pulse.take()[0]
        return [row["lag"] for row in rows]

    lags = asyncio.run(main())
    assert 3 < len(lags) < 12
    assert max(lags) > 0.2


@pytest.mark.parametrize(("interval", "wakes"), [(0.2, 5), (0.5, 6), (1.0, 5), (0.05, 20)])
def test_the_loop_is_asked_and_the_process_sampled_in_one_wake_up(
    interval: float, wakes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("dask_insight.probe.pulse.perf_counter", lambda: now)
    sampler: Any = SimpleNamespace(reason="", beside=None)
    asked: list[float] = []
    pulse = Pulse(interval, None)
    monkeypatch.setattr(pulse._lag, "ask", lambda: asked.append(now))
    pulse.start(sampler)
    woken = 0
    while now < 110:
        now = sampler.beside(0.0)
        woken += 1
    pulse.stop()
    assert len(pulse.take()[0]) == pytest.approx(10 / interval, abs=2)
    assert len(asked) == pytest.approx(10 * wakes, abs=5)
    assert woken == pytest.approx(len(asked), abs=2)


def test_a_sample_is_kept_where_what_belongs_to_it_cannot_be_had() -> None:
    pulse = Pulse(0.1, None, lambda: {"ready": 1 / len(found)})
    found: list[int] = []
    pulse._sample()
    found.append(1)
    pulse._sample()
    pulse.stop()
    packed = packed_rows(pulse.take()[0])
    assert set(packed) > {"time", "cpu", "lag", "ready"}
    assert np.frombuffer(packed["lag"]).tolist() == [0.0, 0.0]
    assert np.frombuffer(packed["ready"]).tolist() == pytest.approx([math.nan, 1.0], nan_ok=True)
    assert pulse.dropped == 1


def test_a_pulse_whose_thread_could_not_start_ends_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pulse = Pulse(0.01, None)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert "can't start new thread" in pulse.start()
    assert not pulse.start()
    wait_for(lambda: pulse.take()[0], "a sample")
    pulse.stop()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert "can't start new thread" in pulse.start()
    pulse.stop()


def test_a_reason_is_told_once_however_often_it_is_met() -> None:
    gaps = Gaps("no GPU", "")
    gaps.add("no GPU", "no thread")
    assert gaps.take() == ["no GPU", "no thread"]
    gaps.add("no thread")
    assert gaps.take() == []


def test_a_scheduler_is_sampled_as_soon_as_a_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def main() -> tuple[Any, Any]:
        own = Own("test-own", asyncio.get_running_loop(), Busy(1))
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            for _ in range(2):
                own.adjust(options, True, False)
        refused = msgpack.unpackb(own.message())
        own.adjust(options, True, False)
        assert own._sampler is not None and own._pulse._by is own._sampler
        own.stop()
        return refused, msgpack.unpackb(own.message())

    options = {"resources": 0.05, "profile_interval": 0.01, "profile_budget": 0.02, "logs": "warning"}
    refused, after = asyncio.run(main())
    gaps = [gap for gap in refused["gaps"] if "can't start new thread" in gap]
    assert len(gaps) == 2 and "profile" not in refused
    assert "profile" in after and "gaps" not in after


class Busy:
    """As much of a scheduler as its own process is sampled for; its occupancy fails."""

    workers: Mapping[str, Any] = {}
    queued = unrunnable = ()
    monitor = SimpleNamespace(quantities={})

    def __init__(self, names: int, failure: Exception | None = None) -> None:
        self._task_prefix_count_global = dict.fromkeys(map(str, range(names)), 1)
        self._failure = failure or RuntimeError("dictionary changed size during iteration")
        self.asked = 0

    @property
    def total_occupancy(self) -> float:
        self.asked += 1
        raise self._failure


def sampled_twice(server: Busy) -> dict[str, Any]:
    """What a scheduler's own process tells after two samples."""

    async def main() -> dict[str, Any]:
        own = Own("test-own", asyncio.get_running_loop(), server)
        own._pulse._sample()
        own._pulse._sample()
        own.stop()
        return msgpack.unpackb(own.message())

    return asyncio.run(main())


@pytest.mark.parametrize(("names", "is_asked"), [(10, True), (20_000, False)])
def test_a_scheduler_of_many_names_is_sampled_without_its_occupancy(names: int, is_asked: bool) -> None:
    server = Busy(names)
    told = sampled_twice(server)
    row = {name: np.frombuffer(packed)[0] for name, packed in told["resources"].items()}
    assert math.isfinite(row["lag"]) and row["cpu"] >= 0 and row["executing"] == 0
    assert math.isnan(row["occupancy"]) and (server.asked > 0) is is_asked
    assert "lost_resources" not in told
    assert sum("occupancy" in gap for gap in told.get("gaps", ())) == (not is_asked), "once"


def test_an_occupancy_that_fails_for_good_is_told() -> None:
    assert sampled_twice(Busy(10, AttributeError("bandwidth")))["lost_resources"] == 2


def test_lag_of_a_loop_that_is_gone() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    lag = Lag(loop)
    lag.ask()
    assert lag.take() == 0


def test_lag_counts_when_nothing_could_be_asked() -> None:
    lag = Lag(None)
    lag.late(0.4)
    lag.late(0.1)
    assert lag.take() == 0.4
    assert lag.take() == 0


def test_a_call_that_keeps_the_gil_delays_the_event_loop() -> None:
    loop = asyncio.new_event_loop()
    running = threading.Thread(target=loop.run_forever)
    running.start()
    pulse = Pulse(0.1, loop)
    pulse.start()
    wait_for(lambda: pulse.take()[0], "a first sample")
    begun = time.monotonic()
    sum(range(30_000_000))
    held = time.monotonic() - begun
    rows: list[dict[str, float]] = []
    wait_for(lambda: rows.extend(pulse.take()[0]) or len(rows) > 1, "samples after it")
    pulse.stop()
    loop.call_soon_threadsafe(loop.stop)
    running.join()
    loop.close()
    assert max(row["lag"] for row in rows) > held - 0.2


def test_logs_come_once_and_only_warnings() -> None:
    logs = Logs("test-logs")
    logs.open()
    twin = Logs("test-logs")
    twin.open()
    try:
        logger = logging.getLogger("distributed.some.part")
        logger.warning("careful with %s", "this")
        logger.info("nothing")
        assert [(level, text) for _, level, text in logs.take()] == [
            ("warning", "distributed.some.part: careful with this")
        ]
        assert twin.take() == [], "a process tells of each record once"
        logs.shut()
        logger.warning("and that")
        assert [text for *_, text in twin.take()] == ["distributed.some.part: and that"], (
            "the other takes over"
        )
    finally:
        logs.shut()
        twin.shut()
    assert not [one for one in logging.getLogger().handlers if one.get_name() == "test-logs"]


def test_a_record_has_the_highest_level_that_its_number_reaches() -> None:
    logs = Logs("test-logs", "info")
    logs.open()
    try:
        for number in (logging.CRITICAL, logging.ERROR + 1, logging.WARNING, 25):
            logging.getLogger("distributed.some.part").log(number, number)
        assert [level for _, level, _ in logs.take()] == ["error", "error", "warning", "info"]
    finally:
        logs.shut()


@pytest.mark.parametrize("length", [3, 100_000])
def test_a_logged_exception_is_told_with_where_it_was_raised(length: int) -> None:
    def raises(text: str) -> None:
        raise ValueError(f"{text} in the end")

    logs = Logs("test-logs")
    logs.open()
    try:
        try:
            raises("!" * length)
        except ValueError:
            logging.getLogger("mine").exception("it failed")
        ((_, level, text),) = logs.take()
    finally:
        logs.shut()
    assert level == "error" and text.startswith("mine: it failed\nTraceback ")
    assert ", in raises\n" in text and text.endswith("! in the end") and len(text) <= 4000


_QUIET = """
import logging
from dask_insight.probe.logs import Logs
logs = Logs("test-logs")
logs.open()
logging.getLogger("mine").warning("before")
logging.basicConfig(format="configured %(message)s")
assert len(logs.take()) == 1
logging.getLogger("mine").warning("between")
logs.shut()
logging.getLogger("mine").warning("after")
assert len(logs.take()) == 1 and len(logging.getLogger().handlers) == 1
assert type(logging.lastResort).__module__ == "logging"
"""


_TWO_COPIES = """
import importlib.util, logging
from dask_insight.probe import logs
spec = importlib.util.spec_from_file_location("dask_insight.probe.other_logs", logs.__file__)
other = importlib.util.module_from_spec(spec)
spec.loader.exec_module(other)
before = logging.lastResort
ours, theirs = logs.Logs("test-logs"), other.Logs("other-logs")
for each in (ours, theirs):
    each.open()
for each in (ours, theirs):
    each.shut()
assert logging.lastResort is before
"""


def test_copies_of_the_probe_in_one_process_leave_what_shows_logs_as_it_was() -> None:
    subprocess.run([sys.executable, "-c", _TWO_COPIES], check=True)


@pytest.mark.parametrize("connected", [True, False])
def test_a_worker_that_has_lost_its_scheduler_tells_nobody_as_it_closes(connected: bool) -> None:
    pushed: list[str] = []

    async def push() -> None:
        pushed.append("the last")

    probe = WorkersProbe("package", "name")
    probe._push = push  # type: ignore[method-assign]
    probe._take_off = lambda: pushed.append("taken off")  # type: ignore[method-assign]
    probe._executions = SimpleNamespace(tell_away=lambda: None)  # type: ignore[assignment]
    probe._metrics = SimpleNamespace(look_at_all=lambda: None)  # type: ignore[assignment]
    comm = SimpleNamespace(closed=lambda: not connected)
    asyncio.run(probe.teardown(SimpleNamespace(batched_stream=SimpleNamespace(comm=comm))))
    assert pushed == ["the last", "taken off"][not connected :]


def test_what_a_program_logs_is_shown_as_without_us() -> None:
    done = subprocess.run([sys.executable, "-c", _QUIET], capture_output=True, text=True)
    assert done.stderr.splitlines() == ["before", "configured between", "configured after"]
    assert done.returncode == 0


_FORKED = """
import logging, os
from dask_insight.probe.logs import Logs
logging.basicConfig(format="%(message)s")
Logs("before").open()
child = os.fork()
if not child:
    logs = Logs("after")
    logs.open()
    logging.getLogger("mine").warning("careful")
    names = [one.get_name() for one in logging.getLogger().handlers if isinstance(one, Logs)]
    print(names, [text for *_, text in logs.take()], flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_process_that_was_forked_off_tells_of_its_own_logs() -> None:
    done = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, text=True)
    assert done.stdout == "['after'] ['mine: careful']\n", done.stderr


class Task(SimpleNamespace):
    """As much of a worker's task as its follower looks at."""

    def __init__(self, run: int) -> None:
        super().__init__(run_id=run, state="waiting", startstops=[], span_id="s", prefix="p", start_time=None)
        self.key = ""
        self.waiting_for_data: set[str] = set()
        self.exception_text = self.traceback_text = ""


class Follower:
    """An `Executions` on a worker whose transitions the test makes."""

    def __init__(self, **running: Task) -> None:
        self.tasks: dict[str, Task] = running
        state = SimpleNamespace(
            tasks=self.tasks, threads={}, all_running_tasks=running.values(), long_running=()
        )
        self.worker = SimpleNamespace(
            scheduler_delay=0.0,
            state=state,
            digests_total=defaultdict(float),
            active_threads={},
            executors={},
        )
        self.ended: list[tuple[int, float, float, str, int]] = []
        self.failures: list[tuple[str, Exception]] = []
        self.executions = Executions(
            self.worker, lambda: None, lambda *failure: self.failures.append(failure)
        )
        self.executions.ended = self.ended.append

    def move(self, key: str, start: str, finish: str, state: str = "") -> None:
        self.tasks[key].key, self.tasks[key].state = key, state or finish
        self.executions.transition(key, start, finish)
        assert not self.failures

    def rows(self) -> list[Any]:
        from dask_insight.sources.cluster.messages import _EXECUTIONS

        told, _ = self.executions.take(1000)
        return np.frombuffer(told.get("executions", b""), _EXECUTIONS).tolist()


def test_an_attempt_that_is_cancelled_while_it_runs_ends_when_it_ends() -> None:
    follower = Follower()
    follower.tasks["a"] = Task(7)
    follower.move("a", "released", "waiting")
    follower.move("a", "waiting", "ready")
    follower.move("a", "ready", "executing")
    follower.move("a", "executing", "released", "cancelled")
    assert follower.rows() == [], "its function still runs"
    follower.tasks["a"].startstops.append({"action": "compute", "start": 1.0, "stop": 2.0})
    follower.move("a", "cancelled", "memory", "released")
    ((run, _, status, *_),) = follower.rows()
    assert (run, status) == (7, 3)
    assert follower.ended == [(7, 1.0, 2.0, "p", 0)]


def test_an_attempt_whose_result_cannot_be_stored_fails() -> None:
    follower = Follower()
    follower.tasks["a"] = Task(7)
    follower.move("a", "released", "waiting")
    follower.move("a", "ready", "executing")
    follower.tasks["a"].startstops.append({"action": "compute", "start": 1.0, "stop": 2.0})
    follower.move("a", "executing", "memory", "executing")
    assert follower.rows() == []
    follower.tasks["a"].exception_text = "TypeError: cannot be pickled"
    follower.move("a", "executing", "error")
    told, keys = follower.executions.take(1000)
    assert [text for _, text, _ in told["errors"]] == ["TypeError: cannot be pickled"] and keys == ["a"]


def cancelled_while_it_runs() -> Follower:
    """Of run 7 of the task a."""
    follower = Follower()
    follower.tasks["a"] = Task(7)
    follower.move("a", "released", "waiting")
    follower.move("a", "ready", "executing")
    follower.move("a", "executing", "released", "cancelled")
    return follower


def test_an_attempt_that_is_wanted_again_while_it_runs_keeps_its_number() -> None:
    follower = cancelled_while_it_runs()
    follower.tasks["a"].run_id = 8
    follower.move("a", "cancelled", "waiting", "executing")
    assert follower.executions.run_of("a") == 7


def test_an_attempt_whose_result_came_from_elsewhere_has_times_all_the_same() -> None:
    follower = cancelled_while_it_runs()
    follower.move("a", "cancelled", "fetch", "resumed")
    follower.tasks["a"].startstops.append({"action": "compute", "start": 1.0, "stop": 2.0})
    follower.move("a", "resumed", "memory")
    ((run, _, status, _, stop, start, *_),) = follower.rows()
    assert (run, status, start, stop) == (7, 3, 1.0, 2.0), "the scheduler has no times of it"


def test_an_attempt_that_runs_already_is_told_of_and_ends() -> None:
    task = Task(9)
    task.key, task.state, task.start_time = "a", "executing", 5.0
    follower = Follower(a=task)
    follower.worker.active_threads[77] = "a"
    for _ in range(2):
        told, keys = follower.executions.take(1000)
        assert keys == ["a"]
        assert struct.unpack(packing(RUNNING), told["running"]) == (9, 77, 5.0)
        assert follower.executions.take(1000)[1] == [], "once"
        # Another recorder joins, which has not heard of it.
        follower.executions.tell_again()
    task.startstops.append({"action": "compute", "start": 5.0, "stop": 6.0})
    follower.move("a", "executing", "memory")
    ((run, _, status, *_, executing, _, _, _, _, _, _),) = follower.rows()
    assert (run, status, executing) == (9, 0, 5.0)
    assert follower.ended == [(9, 5.0, 6.0, "p", 0)]


def test_a_task_that_is_away_is_so_until_its_end_and_no_longer() -> None:
    from dask_insight.sources.cluster.messages import _SECEDED

    follower = Follower()
    away = follower.executions._seceded
    for run, key in enumerate(("ended", "ending")):
        follower.tasks[key] = Task(run)
        follower.move(key, "released", "waiting")
        follower.move(key, "ready", "executing")
        follower.worker.active_threads = {77 + run: key}
        away.left(SimpleNamespace(ident=77 + run), 1.0)  # type: ignore[arg-type]
    # Of the other one the event loop has not heard.
    follower.worker.active_threads = {}
    follower.tasks["ended"].startstops.append({"action": "compute", "start": 0.5, "stop": 2.0})
    follower.move("ended", "executing", "memory")
    follower.executions.tell_away()
    assert not away.rows.drain()[1], "it has ended, and the worker will say when"
    told, _ = follower.executions.take(1000)
    assert (0, 1.0, 2.0) in np.frombuffer(told["seceded"], _SECEDED).tolist()


def test_an_attempt_that_fails_tells_its_own_phases_and_one_with_a_result_none() -> None:
    follower = Follower()
    follower.worker.scheduler_delay = 50.0
    now = time.time()
    for run, (key, finish) in enumerate({"a": "error", "b": "memory"}.items()):
        task = follower.tasks[key] = Task(run)
        task.startstops = [
            {"action": "transfer", "start": now + 20, "stop": now + 30},  # By its worker's clock, before now.
            {"action": "compute", "start": now + 31, "stop": now + 40},
        ]
        follower.move(key, "released", "waiting")
        follower.move(key, "ready", "executing")
        task.startstops += [
            {"action": "transfer", "start": now + 51, "stop": now + 52},
            {"action": "disk-read", "start": now + 3, "stop": now + 4},
            {"action": "compute", "start": now + 54, "stop": now + 55},
        ]
        follower.move(key, "executing", finish)
    told, _ = follower.executions.take(1000)
    assert told["phases"] == [(0, "disk-read", now + 3, now + 4), (0, "transfer", now + 51, now + 52)]
    assert "phases" not in follower.executions.take(1000)[0]


@pytest.mark.parametrize("is_coroutine", [True, False])
def test_what_a_forked_process_ran_is_no_coroutine(is_coroutine: bool) -> None:
    follower = Follower()
    task = follower.tasks["a"] = Task(1)
    task.run_spec = SimpleNamespace(is_coro=is_coroutine)
    follower.executions._thread_of["a"] = threading.get_ident()
    follower.move("a", "released", "waiting")
    follower.move("a", "ready", "executing")
    follower.move("a", "executing", "memory")
    assert ["coroutines" in gap for gap in follower.executions.gaps] == [False, is_coroutine]


def test_an_attempt_that_never_ran_is_released() -> None:
    follower = Follower()
    follower.tasks["a"] = Task(8)
    follower.move("a", "released", "waiting")
    follower.move("a", "waiting", "released")
    ((run, _, status, ended, stop, start, executing, _, received, *_),) = follower.rows()
    assert (run, status) == (8, 4)
    assert math.isnan(stop) and math.isnan(start) and math.isnan(executing)
    assert received <= ended


def test_an_attempt_is_ready_when_its_data_are_there() -> None:
    follower = Follower()
    for run, key in enumerate(("none", "some", "given up")):
        follower.tasks[key] = Task(run)
        follower.tasks[key].waiting_for_data = set() if key == "none" else {"other"}
        follower.move(key, "released", "waiting")
    follower.move("given up", "waiting", "released")
    for key in ("none", "some"):
        follower.tasks[key].waiting_for_data.clear()
        for start, finish in (("waiting", "ready"), ("ready", "executing"), ("executing", "memory")):
            follower.move(key, start, finish)
    found = {run: (ready, received) for run, *_, ready, received, _, _, _, _ in follower.rows()}
    assert found[0][0] == found[0][1], "as it comes where it needs none"
    assert found[1][0] > found[1][1] and math.isnan(found[2][0])
    assert not follower.executions._lacking


def test_cpu_seconds_go_to_the_attempt_that_took_them() -> None:
    from dask_insight.sources.cluster import messages

    follower = Follower()
    took = {"p1": 0.25, "q1": 4.0, "p2": 0.5, "failed": math.nan, "p3": 1.0, "q2": 8.0}
    for keys in (list(took)[:3], list(took)[3:]):
        for key in keys:
            task = follower.tasks[key] = Task(0)
            task.prefix = key[0]
            follower.move(key, "released", "waiting")
            follower.move(key, "waiting", "ready")
            follower.move(key, "ready", "executing")
            follower.move(key, "executing", "error" if key == "failed" else "memory")
            if key != "failed":
                # Dask adds to the total after the transition.
                name = ("execute", "s", task.prefix, "thread-cpu", "seconds")
                follower.worker.digests_total[name] += took[key]
        told, _ = follower.executions.take(1000)
        found = np.frombuffer(told["executions"], messages._EXECUTIONS)
        np.testing.assert_array_equal(messages._cpu(found, told["totals"]), [took[key] for key in keys])


def test_memory_is_read_after_a_function_that_ran_for_long_and_not_after_a_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[float] = []
    monkeypatch.setattr(Resident, "read", lambda self, now: read.append(now) or 2.0**20 * len(read))
    follower = Follower()
    for run, (key, seconds) in enumerate({"waits": 0.001, "works": 0.1}.items()):
        task = follower.tasks[key] = Task(run)
        follower.move(key, "released", "waiting")
        follower.move(key, "waiting", "ready")
        follower.move(key, "ready", "executing")
        task.start_time = 0.0  # Its function was called long ago, whatever it did since.
        task.startstops.append({"action": "compute", "start": 1.0, "stop": 1.0 + seconds})
        before = len(read)
        follower.move(key, "executing", "memory")
        assert len(read) - before == (key == "works")


def test_a_correction_that_came_between_is_found() -> None:
    follower = Follower()
    follower.tasks["a"] = Task(1)
    follower.move("a", "released", "waiting")
    follower.move("a", "waiting", "ready")
    follower.move("a", "ready", "executing")
    called = time.time()
    follower.worker.scheduler_delay = 5.0
    task = follower.tasks["a"]
    task.start_time = called
    task.startstops.append({"action": "compute", "start": called + 5.001, "stop": called + 5.2})
    follower.move("a", "executing", "memory")
    assert [row[-3] for row in follower.rows()] == [5.0]
    assert follower.ended[0][1] == pytest.approx(called + 0.001)


def test_an_attempt_that_cannot_be_told_keeps_no_other_from_it() -> None:
    follower = Follower()
    for run, key in enumerate("ab"):
        task = follower.tasks[key] = Task(run)
        task.start_time = "yesterday"
        follower.move(key, "released", "waiting")
        follower.move(key, "ready", "executing")
    for key, finish in {"a": "rescheduled", "b": "memory"}.items():
        follower.tasks[key].state = finish
        follower.executions.transition(key, "executing", finish)
    assert [row[0] for row in follower.rows()] == [1]
    ((where, error),) = follower.failures
    assert where == "transition" and isinstance(error, TypeError)


def test_long_texts_of_exceptions_leave_in_several_messages_and_are_bounded() -> None:
    follower = Follower()
    for run in range(500):
        task = follower.tasks[f"a{run}"] = Task(run)
        task.exception_text, task.traceback_text = "x" * 50_000, '  File "x.py", line 1, in x\n    x\n' * 1500
        follower.move(f"a{run}", "released", "waiting")
        follower.move(f"a{run}", "ready", "executing")
        follower.move(f"a{run}", "executing", "error")
    told, lost, sizes = [], 0, []
    while (message := follower.executions.take(1000)[0]).get("errors"):
        told += [run for run, *_ in message["errors"]]
        sizes.append(sum(len(text) + len(trace) for _, text, trace in message["errors"]))
        lost += message.get("lost", 0)
    assert max(sizes) < 1_100_000 and sum(sizes) < 16_100_000
    assert told == [*range(len(told))] and lost == 500 - len(told) > 0


def test_running_attempts_are_told_of_once() -> None:
    follower = Follower()
    follower.tasks["a"] = Task(1)
    follower.move("a", "released", "waiting")
    follower.move("a", "ready", "executing")
    told, keys = follower.executions.take(1000)
    assert "running" not in told and keys == []

    def running() -> bool:
        told, keys = follower.executions.take(1000)
        return "running" in told and keys == ["a"]

    wait_for(running, "it has run long enough")
    assert not running()


def test_another_reading_of_the_counters_that_comes_late_is_no_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when Dask's monitor read before us and psutil heard of it after us."""
    counters = resources._host_counters()
    later = psutil._psplatform.net_io_counters()
    earlier = {name: tuple(max(0, value - 1) for value in values) for name, values in later.items()}
    for raw in (later, earlier):
        monkeypatch.setattr(psutil._psplatform, "net_io_counters", lambda raw=raw: raw)
        psutil.net_io_counters()
    monkeypatch.undo()
    try:
        assert resources._host_counters()["net_read"] < 1.5 * counters["net_read"] + 1e6
    finally:
        psutil.net_io_counters.cache_clear()


@pytest.mark.parametrize(("asks", "waited"), [(0, 3.0), (3, 7.5), (1000, 30.0)])
def test_a_farewell_waits_while_recorders_ask(
    asks: int, waited: float, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0

    async def half_of(waiting: Any, seconds: float) -> None:
        nonlocal now, asks
        waiting.close()
        now += seconds / 2 if asks else seconds
        if asks:
            asks -= 1
            found.asked()
        raise TimeoutError

    monkeypatch.setattr(farewell, "monotonic", lambda: now)
    monkeypatch.setattr(farewell, "asyncio", SimpleNamespace(**vars(asyncio) | {"wait_for": half_of}))
    found = farewell.Farewell({"a", "b"})
    found.without("b")
    run_async(found.over())
    assert now - 100 == pytest.approx(waited)
    found.without("a")
    run_async(found.over())
    assert now - 100 == pytest.approx(waited), "nobody is left to wait for"


def test_a_scheduler_that_closes_waits_for_nobody_who_has_left(
    run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = Probe("package", b"", "name", 10)
    probe.scheduler = SimpleNamespace(clients={"one"}, log_event=lambda topics, message: None)
    probe._readers["recorder"] = SimpleNamespace(client="one")  # type: ignore[assignment]

    async def flush(*, timeout: float) -> None:
        probe._readers.clear()

    monkeypatch.setattr(probe, "flush", flush)
    run_async(asyncio.wait_for(probe.before_close(), farewell.PATIENCE / 2))


def test_a_pool_that_shuts_down_is_not_waited_for() -> None:
    pool: Any = threadpoolexecutor.ThreadPoolExecutor(1)
    worker: Any = SimpleNamespace(active_threads={}, executors={"default": pool})
    worker.state = SimpleNamespace(long_running=())
    failures: list[tuple[str, Exception]] = []

    def follow() -> Seceded:
        seceded = Seceded(worker, lambda key: 0, lambda *failure: failures.append(failure))
        seceded.look()
        return seceded

    with threadpoolexecutor.threads_lock:
        assert "'default'" in follow().reason
    assert type(pool._threads) is set
    leaving = follow()
    with threadpoolexecutor.threads_lock:
        leaving.close()
    worker.active_threads = None
    pool.submit(abs, 1).result()
    worker.active_threads = {}
    assert not failures, "who has left is told nothing"
    late = follow()
    assert not late.reason
    late.close()
    assert type(pool._threads) is set and len(pool._threads) == 1
    pool.shutdown()


def test_who_comes_back_while_pools_are_looked_for_was_away() -> None:
    pool: Any = threadpoolexecutor.ThreadPoolExecutor(1)
    worker: Any = SimpleNamespace(active_threads={}, executors={"default": pool})
    worker.state = SimpleNamespace(long_running=())
    seceded = Seceded(worker, lambda key: 7, lambda *failure: None)
    seceded.look()
    thread: Any = type("At", (), {"ident": 1})()
    worker.active_threads, worker.state.long_running = {1: "a"}, (SimpleNamespace(key="a"),)
    seceded.left(thread, 1.0)
    set.add(pool._threads, thread)  # It is in the pool, which has not told of it yet.
    worker.executors["new"] = object()
    seceded.look()
    seceded.back(thread)
    pool._threads.clear()
    seceded.write()
    _, rows = seceded.rows.drain()
    assert struct.unpack_from("<Id", rows) == (7, 1.0)
    seceded.close()


def test_a_pool_that_is_no_set_is_left_alone_and_named() -> None:
    pool = threadpoolexecutor.ThreadPoolExecutor(1)
    with_list: Any = pool
    with_list._threads = []
    worker = SimpleNamespace(active_threads={}, executors={"default": pool, "offload": None})
    seceded = Seceded(worker, lambda key: 0, lambda *failure: None)
    seceded.look()
    assert "'default'" in seceded.reason and "list" in seceded.reason
    seceded.close()
    assert with_list._threads == []
    assert not threadpoolexecutor.threads_lock.locked()


def test_schedulers_of_one_process_may_begin_and_end_at_once() -> None:
    """Each has a thread of its own, and loads and takes away the same modules."""
    probe = pickle.dumps(SchedulerProbe(worker_plugin=b"", worker_name="worker", bound=10))
    trouble: list[Exception] = []

    def begin_and_end() -> None:
        try:
            for _ in range(20):
                begun = pickle.loads(probe)
                assert begun.name == package()
                unload(package(), begun)
        except Exception as error:
            trouble.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=begin_and_end) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(interval)
    assert not trouble and package() not in sys.modules


def test_what_a_worker_cannot_keep_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("rows.CHUNK", "executions._BOUND", "transfers._BOUND"):
        monkeypatch.setattr(f"dask_insight.probe.{bound}", 4)
    follower, got = Follower(), deque[dict[str, Any]](maxlen=100)
    worker = SimpleNamespace(transfer_incoming_log=got, transfer_outgoing_log=deque(), scheduler_delay=0.0)
    moved = Transfers(worker)
    for number in range(21):
        key = str(number)
        follower.tasks[key] = Task(number)
        for start, finish in pairwise(("released", "waiting", "executing", "memory")):
            follower.move(key, start, finish)
        got.append({"who": "peer", "keys": {}, "total": 8, "start": 0.0, "stop": 1.0})
    told, _ = follower.executions.take(10)
    moved_told, _ = moved.take()
    assert told["lost"] == 16 and len(told["executions"]) == 5 * follower.executions.rows.size
    assert moved_told == {"lost_transfers": 21}, "whose keys the rest carried nobody knows"
    assert {"lost", "lost_transfers"} < losses._SENT.keys()


def test_transfers_are_taken_before_dask_forgets_them(
    run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: deque[dict[str, Any]] = deque(maxlen=1000)
    worker = SimpleNamespace(
        transfer_outgoing_log=sent, transfer_incoming_log=deque(maxlen=1000), scheduler_delay=0.0
    )
    numbers = iter(range(2000))
    passed = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal passed
        passed += seconds
        for number in islice(numbers, int(500 * seconds)):
            times = {"start": 0.0, "stop": 1.0, "middle": 0.5}
            sent.append({"who": "peer", "keys": {number: 8}, "total": 8, "compressed": 8, **times})

    class Silent(WorkersProbe):
        async def _push(self) -> None:
            pass

    probe = Silent("package", "name", {"poll": 30.0})
    probe._transfers = Transfers(worker)
    monkeypatch.setattr("dask_insight.probe.worker.asyncio.sleep", sleep)
    run_async(probe._push_again())
    told, keys = probe._transfers.take()
    assert passed == 30.0
    assert keys == list(range(2000)) and "lost_transfers" not in told


def test_a_new_worker_waits_for_two_round_trips_and_tells_its_clock_at_once(run_async: Any) -> None:
    calls: list[str] = []

    async def clock() -> dict[str, Any]:
        calls.append("clock")
        return {"time": time.time(), "host": "another"}

    async def push(**message: Any) -> None:
        calls.append("push")

    class Bare(WorkersProbe):
        def _put_on(self, worker: Any) -> None:
            self._offset, self._sending = Offset(), asyncio.Lock()

        def _packed(self) -> tuple[bytes, list[Any], bool]:
            return b"", [], False

    async def main() -> None:
        probe = Bare("package", "name")
        scheduler = SimpleNamespace(package_clock=clock, package_push=push)
        await probe.setup(SimpleNamespace(scheduler=scheduler, address="tcp://a", id="a"))
        assert calls == ["clock"] * 2
        assert math.isfinite(probe._offset.estimate(time.time())[1])
        while len(calls) < 6:
            await asyncio.sleep(0)
        assert probe._pushing is not None
        probe._pushing.cancel()

    run_async(main())
    assert calls == ["clock"] * 2 + ["push"] + ["clock"] * 3


class Group(SimpleNamespace):
    """A task group; the scheduler's are found by what they are, not by what they hold."""

    def __hash__(self) -> int:
        return id(self)


def state(key: str, prefix: str, group: str, span: str) -> Any:
    """As much of the scheduler's state of a task as its graph looks at."""
    return SimpleNamespace(
        key=key,
        group=Group(name=group, span_id=span),
        prefix=SimpleNamespace(name=prefix),
        priority=None,
        run_spec=None,
        state="memory",
        nbytes=1,
        dependencies=(),
    )


def stores(scheduler: Any = None) -> Stores:
    """Those of a scheduler that knows no task."""
    failures: list[Any] = []
    scheduler = scheduler or SimpleNamespace(tasks={}, workers={})
    return Stores(Tasks(scheduler, 100_000, lambda *failure: failures.append(failure)), 100_000)


def reader(read: Stores) -> Reader:
    """One that begins now."""
    one = Reader("client", {})
    one.received(read.start())
    return one


def test_of_all_spans_those_of_groups_come_and_a_slice_at_a_time() -> None:
    outer = SimpleNamespace(id="outer", name=("outer",), parent=None)
    spans = {
        f"s{n}": SimpleNamespace(id=f"s{n}", name=("outer", str(n)), parent=outer) for n in range(100_000)
    }
    spans["outer"] = outer
    extensions = {"spans": SimpleNamespace(spans=spans)}
    scheduler = SimpleNamespace(tasks={}, workers={}, extensions=extensions)
    probe = Probe("package", b"", "name", 10)
    probe.scheduler, probe.stores, probe._told_own = scheduler, stores(scheduler), math.inf
    probe.tasks = probe.stores.tasks
    one = probe._readers["recorder"] = reader(probe.stores)

    def told(at: dict[str, int]) -> tuple[list[str], dict[str, int], bool]:
        answer = probe.poll(recorder="recorder", at=at, rate=64_000)
        return [span for span, _, _ in answer["spans"]], answer["at"], answer["more"]

    found, at, more = told(one.at)
    assert (found, more) == ([], False)
    for number in range(50_000):
        each = state(f"key-{number}", "group", f"group-{number}", f"s{number}")
        probe.tasks.graph.id(each.key, each)
    all_found: list[str] = []
    more = True
    while more:
        found, at, more = told(at)
        assert len(found) < 1000
        all_found += found
    assert set(all_found) == {"outer", *(f"s{number}" for number in range(50_000))}


def again_in_each_answer(tasks_of_a_group: int) -> list[int]:
    """How many tasks each answer tells a late recorder again."""
    tasks = {
        f"key-{n}": state(f"key-{n}", "group", f"group-{n // tasks_of_a_group}", "") for n in range(9_000)
    }
    read = stores(SimpleNamespace(tasks=tasks, workers={}))
    for key, each in tasks.items():
        read.tasks.graph.id(key, each)
    late, told, more = reader(read), [], True
    late.backlog, late.below = read.tasks.graph.again()
    while more:
        packed, _, at, more = read.read(late)
        late.received(at)
        told.append(len(msgpack.unpackb(msgpack.unpackb(packed).get("again", [b"\x90"])[0])))
    return told


def test_a_late_recorder_is_told_fewer_tasks_at_a_time_while_many_names_go_with_them() -> None:
    most = max(again_in_each_answer(1))
    assert most < 600
    assert max(again_in_each_answer(100)) > 3 * most


def test_what_workers_tell_beside_what_dask_measures_is_told_as_it_changes() -> None:
    def heartbeat(**metrics: Any) -> None:
        worker.metrics, worker.last_seen = {"cpu": 1.0, "transfer": {"incoming_bytes": 1}} | metrics, 7.0

    def look() -> list[Any]:
        return list(gauges.look([("a", worker), ("unknown", worker)], {"a": 3}))

    gauges, worker = Gauges(pytest.fail), SimpleNamespace()
    heartbeat(queue=2, rmm={"rmm-used": 5, "rmm-total": np.int64(8)}, cudf={"cudf-spilled": None})
    assert look() == [(3, 7.0, "queue", 2.0), (3, 7.0, "rmm.rmm-used", 5.0), (3, 7.0, "rmm.rmm-total", 8.0)]
    assert look() == []
    heartbeat(queue=2, rmm={"rmm-used": 6, "rmm-total": 8})
    assert look() == [(3, 7.0, "rmm.rmm-used", 6.0)]
    gauges.tell_again()
    assert len(look()) == 3
    gauges.left(3)
    assert len(look()) == 3, "another worker has its address"


def test_odd_metrics_of_users_hurt_nobody() -> None:
    endless: dict[Any, Any] = {"flag": True, "word": "x", "nan": math.nan, "inf": math.inf, "huge": 10**400}
    endless |= {"itself": endless, "x" * 101: 2}
    given = {"mine": endless, ("no", "text"): 1, "last": 3}
    assert dict(numbers(given, lambda what: None)) == {"('no', 'text')": 1.0, "last": 3.0}

    class Changing(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("dictionary changed size during iteration")

    worker = SimpleNamespace(metrics={"mine": Changing()}, last_seen=0.0)
    assert list(Gauges(pytest.fail).look([("a", worker)], {"a": 1})) == []


def test_what_is_left_out_of_very_many_metrics_is_told_once_of_each_kind() -> None:
    class Wide(dict[Any, Any]):
        looked_at = 0

        def items(self) -> Any:
            for each in super().items():
                Wide.looked_at += 1
                yield each

    said: list[str] = []
    gauges = Gauges(said.append)

    def look(metrics: dict[str, Any]) -> list[str]:
        worker = SimpleNamespace(metrics=metrics, last_seen=0.0)
        return [name for *_, name, _ in gauges.look([("a", worker)], {"a": 1})]

    assert len(look({"many": dict.fromkeys(range(50), 1)})) == 50 and not said
    for metrics in ({"more": dict.fromkeys(range(51), 1)}, {"less": 1, "y" * 101: 1}):
        assert look(metrics) and look(metrics) == []
    words = Wide.fromkeys(range(1000), "word")
    look({"nested": Wide.fromkeys(range(1000), words)})
    assert Wide.looked_at < 1100, "no more is put off than is looked at"
    assert [each.rpartition(": ")[2] for each in said] == [
        "of each worker up to 50",
        "only those whose names have up to 100 letters",
        "of each worker's metrics 500 entries are looked at",
    ]
    gauges.tell_again()
    look({"more": dict.fromkeys(range(60), 1)})
    assert len(said) == 4, "to who begins to listen"


@pytest.mark.parametrize(("table", "look"), [("functions", "functions_of"), ("fused", "parts_of")])
def test_beyond_very_many_functions_or_parts_none_is_looked_for_and_that_is_told(
    table: str, look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def found_in(task: str) -> list[Any]:
        looked.append(task)
        place = Place(task, "module", "file.py", 1)
        return [place if look == "functions_of" else Part("part", place)]

    monkeypatch.setattr(graph, "FUNCTIONS", 4)
    monkeypatch.setattr(graph, look, found_in)
    probe, events = Probe("package", b"", "name", 10), Items(10)
    probe.tasks = stores().tasks
    probe.journal = Journal(events, probe.tasks, Labels())
    probe._readers["recorder"] = Reader("client", {})
    for number in range(10):
        probe._tell_lacking()
        assert (number > 3) is bool(events.end), "as soon as one is missing, and once"
        task = state(f"k-{number}", f"name-{number}", f"name-{number}", "")
        task.run_spec = f"task-{number}"
        probe.tasks.graph.id(task.key, task)
    assert looked == ["task-0", "task-1", "task-2"]
    told = getattr(probe.tasks.graph, table).codes
    assert [name for name, *_ in told] == ["", "name-0", "name-1", "name-2"]
    assert events.end == 1


def test_who_has_received_what_was_there_before_keeps_no_key_of_it() -> None:
    tasks = {f"k-{number}": state(f"k-{number}", "a", "a-1", "") for number in range(5000)}
    read = stores(SimpleNamespace(tasks=tasks, workers={}))
    for key, each in tasks.items():
        read.tasks.graph.id(key, each)
    late = reader(read)
    late.backlog, late.below = read.tasks.graph.again()
    told, more = 0, True
    while more:
        assert late.caught_up or len(late.backlog) == 5000
        packed, _, at, more = read.read(late)
        if "again" in (answer := msgpack.unpackb(packed)):
            told += len(msgpack.unpackb(answer["again"][0]))
        late.received(at)
    assert told == 5000 and late.caught_up and late.backlog == []
    # An answer that was lost is asked for again, from where the one before it ended.
    late.received(at)
    assert late.caught_up and not read.read(late)[3]


def test_very_many_long_errors_come_in_answers_that_are_not_long() -> None:
    read = stores()
    one = reader(read)
    for number in range(8000):
        read.tasks.errors.add((number, number, "no" * 5_000, "at" * 5_000))
    found: list[int] = []
    more = True
    while more:
        packed, _, at, more = read.read(one)
        assert len(packed) < 1.1 * BYTES
        found += [run for run, *_ in msgpack.unpackb(packed)["errors"]]
        one.received(at)
    assert found == list(range(8000))


@pytest.mark.parametrize("again", [False, True], ids=["as they come", "to who joins later"])
def test_very_many_names_come_in_answers_that_are_not_long_and_with_their_rows(again: bool) -> None:
    tasks = {
        key: state(key, "increment", key, "")
        for key in (f"increment-{number:032x}" for number in range(20_000))
    }
    read = stores(SimpleNamespace(tasks=tasks, workers={}))
    one = reader(read)
    for key, each in tasks.items():
        read.tasks.graph.id(key, each)
    if again:
        one = reader(read)
        one.backlog, one.below = read.tasks.graph.again()
    groups: list[str] = []
    more = True
    while more:
        packed, _, at, more = read.read(one, rate=64_000)
        assert len(packed) < 100_000
        told = msgpack.unpackb(packed)
        names = {code: group for code, group, *_ in told.get("group_names", ())}
        rows = told["again"][1] if "again" in told else told.get("graph", b"")
        groups += [names[code] for code in np.frombuffer(rows, DTYPES["graph"])["group"]]
        one.received(at)
    assert sorted(groups) == sorted(tasks)


def test_workers_messages_do_not_wait_for_very_many_names() -> None:
    read = stores()
    one = reader(read)
    for number in range(100_000):
        read.tasks.workers.code(f"tcp://{number}")
    read.blobs.add("dropped", 1)
    read.blobs.add("kept", 64_000_000)
    packed, blobs, _, more = read.read(one)
    told = msgpack.unpackb(packed)
    assert (blobs, told["lost"], more) == (["kept"], {"blobs": 1}, True)
    assert 1 < len(told["worker_names"]) < 100_000


def test_that_a_worker_is_paused_is_a_warning() -> None:
    events = Items(10)
    journal = Journal(events, None, Labels())  # type: ignore[arg-type]
    for before, after in (("running", "paused"), ("paused", "running")):
        change = {"action": "worker-status-change", "prev-status": before, "status": after}
        journal.logged("tcp://a:1", change, {})
    _, _, told = events.take(0, 10)
    assert [(level, message) for _, _, _, level, message, _ in told] == [
        ("warning", "running → paused"),
        ("info", "paused → running"),
    ]


def asked_of_each(workers: int, threads: int) -> tuple[dict[str, Any], list[Any]]:
    """What a worker of a cluster is asked for when it pushes, and the events that tell of it."""
    probe = Probe("package", b"", "name", 10)
    probe.scheduler = SimpleNamespace(workers=dict.fromkeys(range(workers)), total_nthreads=workers * threads)
    events = Items(10)
    probe.journal = Journal(events, None, Labels())  # type: ignore[arg-type]
    probe._readers["recorder"] = Reader("client", asdict(Options()))
    answer = probe.push(worker="w", server="s", name="name", sequence=0, blob=None, keys=[])
    assert answer is not None
    for _ in range(3):
        probe._tell_rates()
    # The scheduler is one process however many workers it has.
    assert probe._strongest()["resources"] == 0.2
    return answer["options"], events.take(0, 10)[2]


def test_each_of_a_thousand_workers_is_sampled_less_often_and_that_is_told() -> None:
    asked, events = asked_of_each(4, 4)
    assert (asked["resources"], asked["profile_interval"], asked["poll"], events) == (0.2, 0.01, 2.0, [])
    asked, events = asked_of_each(1000, 8)
    assert (asked["resources"], asked["profile_interval"], asked["poll"]) == (2.0, 1.6, 5.0)
    assert [event[2:5] for event in events] == [
        (
            "sampling",
            "info",
            "to bound what 1,000 workers with 8,000 threads send, each samples resources every 2 s and call "
            "stacks every 1.6 s at most",
        )
    ]
