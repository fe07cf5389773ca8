"""GPUs that have little to do while tasks run, or little memory left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...timeline import Moments, gpus
from .facts import Facts
from .finding import Fact, Finding
from .gauges import gauges
from .gpu_waits import busy_with
from .names import by_code, most, of_workers, quoted, split
from .rule import Rule
from .thresholds import Limits

#: Per cent of utilisation below which a sample counts as idle.
_IDLE = 10.0
#: Samples of a device while tasks ran, below which nothing is said of it.
_SAMPLES = 10
#: Seconds that a sample stands for.
_MOMENT = 0.2
#: Per cent of utilisation, and bytes of memory added, from which a run is taken to use a device.
_USED = 5.0
_ADDED = 2.0**28
_OUT = (
    "cudaErrorMemoryAllocation",
    "CUDA out of memory",
    "out_of_memory",
    "OutOfMemoryError",
    "CUDA_ERROR_OUT_OF_MEMORY",
)


class _Device(NamedTuple):
    """Samples of a device: times, per cent, bytes; which were taken while tasks ran."""

    #: Those that see it: without Dask-CUDA, each worker of a host mostly sees all its devices.
    workers: tuple[str, ...]
    #: Rows of the attempts that ran there.
    attempts: np.ndarray
    time: np.ndarray
    utilization: np.ndarray
    memory: np.ndarray
    total: float
    busy: np.ndarray


class _Short(NamedTuple):
    """Where and when memory was short."""

    workers: tuple[str, ...]
    #: Rows of the attempts that ran there.
    attempts: np.ndarray
    when: Moments
    #: Share of the memory that was in use at most, or bytes that had been moved out of it.
    most: float


def _gpu_idle(facts: Facts, limits: Limits) -> Iterator[Finding]:
    devices = [each for each in _devices(facts) if _used(each) and each.busy.sum() >= _SAMPLES]
    means = [float(each.utilization[each.busy].mean()) for each in devices]
    slack = [each for each, mean in zip(devices, means, strict=True) if mean < 100 * limits["gpu-idle.mean"]]
    if not slack:
        return
    mean = float(np.mean([each.utilization[each.busy].mean() for each in slack]))
    idle = float(np.mean([(each.utilization[each.busy] < _IDLE).mean() for each in slack]))
    top = float(np.mean([np.percentile(each.utilization[each.busy], 95) for each in slack]))
    workers = tuple(dict.fromkeys(name for each in slack for name in each.workers))
    known, rows = facts.attempts, np.unique(np.concatenate([each.attempts for each in slack]))
    names = most(facts, rows, facts.length[rows])
    # As long as all their tasks were waited for by the device, which is the most that could be saved.
    seen, idle_ones = (_seen(facts, each)[rows] for each in (devices, slack))
    lost = float((facts.length[rows] * idle_ones / seen).sum()) * (1 - mean / 100)
    busy = busy_with(facts, limits, rows, "".join(names[:1]), workers, mean / 100)
    bursts = top >= 100 * limits["gpu-idle.burst"]
    how = "works in bursts" if bursts else "has little to do"
    yield Finding(
        code="gpu-idle",
        severity="warning",
        title=(
            f"{words.count(len(slack), 'GPU')} {'was' if len(slack) == 1 else 'were'} used to {mean:.0f}"
            f"{words.SPACE}% while {quoted(names, 1)} ran: the device {how}"
        ),
        tasks=names,
        workers=workers[:10],
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("stop", rows).max()),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread(lost),
        is_told=True,
        evidence=(
            Fact("mean utilisation while tasks ran", mean / 100, "share", limits["gpu-idle.mean"]),
            Fact("95th percentile", top / 100, "share", limits["gpu-idle.burst"]),
            Fact("share of the time with less than 10 %", idle, "share"),
            *busy.facts,
        ),
        why=f"{busy.why}The cost is what could be saved at most.",
        advice=busy.advice,
        url=GPU_IDLE.url,
    )


def _gpu_memory(facts: Facts, limits: Limits) -> Iterator[Finding]:
    full, moved, failed = list(_full(facts, limits)), list(_moved(facts, limits)), _out_of_memory(facts)
    if not full and not moved and not len(failed):
        return
    known = facts.attempts
    weight = np.zeros(len(known.run))
    weight[failed] += 1e3
    for each in (*full, *moved):
        mine = each.attempts
        weight[mine] += each.when.within(known.at("start", mine), known.at("stop", mine))
    rows = np.flatnonzero(weight)
    names = most(facts, rows, weight[rows])
    peak = max((each.most for each in full), default=math.nan)
    out = max((each.most for each in moved), default=0.0)
    spilled = Fact("most that cuDF had moved to the host", out, "bytes", limits["gpu-memory.moved"])
    who = tuple(dict.fromkeys(name for each in (*full, *moved) for name in each.workers))
    if len(failed):
        title = f"{words.count(len(failed), 'task')} found no memory on the GPU"
    elif full:
        title = f"{words.share(peak)} of a GPU's memory was in use while {quoted(names, 1)} ran"
    else:
        title = f"cuDF moved {words.size(out)} out of a GPU's memory while {quoted(names, 1)} ran"
    yield Finding(
        code="gpu-memory",
        severity="critical" if len(failed) else "warning",
        title=title,
        tasks=names,
        workers=who[:10],
        start=facts.since(facts.start),
        stop=facts.since(facts.stop),
        is_risk=True,
        evidence=(
            Fact("most of a device's memory, or of its pool", peak, "share", limits["gpu-memory.share"]),
            Fact("tasks that ran out of it", len(failed), "count"),
            *((spilled,) if moved else ()),
        ),
        why="What does not fit ends in an error, or is copied to the host's memory and back.",
        advice=(
            "Make chunks smaller, run fewer threads a worker, and have Dask-CUDA copy results to the host "
            "in time; a pool keeps memory in one piece, and is looked into where its allocations are "
            "tracked:\n\n"
            "    LocalCUDACluster(\n"
            "        device_memory_limit=0.7, rmm_pool_size=0.9, rmm_track_allocations=True,\n"
            "        enable_cudf_spill=True, cudf_spill_stats=1,\n"
            "    )\n\n"
            "What cuDF then moves is told by workers that have DASK_DISTRIBUTED__DIAGNOSTICS__CUDF=True in "
            "their environment when they start."
        ),
        url=GPU_MEMORY.url,
    )


def _devices(facts: Facts) -> list[_Device]:
    columns, devices = facts.read("gpus"), gpus(facts.read)
    inside = (columns["time"] >= facts.start) & (columns["time"] <= facts.stop)
    known = facts.attempts
    attempts = split(known.worker, np.flatnonzero(known.ran))
    found = []
    for device, rows in by_code(devices.of, inside & devices.seen(facts.workers)).items():
        workers = tuple(name for name in devices.seen_by[device] if name in facts.workers)
        mine = np.concatenate([attempts.get(name, np.zeros(0, "i8")) for name in workers])
        running = Moments.of(known.at("start", mine), known.at("stop", mine))
        rows = rows[np.argsort(columns["time"][rows], kind="stable")]
        time, utilization = columns["time"][rows], columns["utilization"][rows].astype("f8")
        total = float(np.nanmax(columns["memory_total"][rows], initial=0.0))
        busy = running.has(time) & np.isfinite(utilization)
        found.append(_Device(workers, mine, time, utilization, columns["memory"][rows], total, busy))
    return found


def _seen(facts: Facts, devices: list[_Device]) -> np.ndarray:
    """How many of some devices each attempt's worker sees."""
    return np.bincount(np.concatenate([each.attempts for each in devices]), minlength=len(facts.attempts.run))


def _full(facts: Facts, limits: Limits) -> Iterator[_Short]:
    """Devices of which most was in use; of those that a pool fills, workers that took most of it."""
    share, taken = limits["gpu-memory.share"], gauges(facts, "rmm.rmm-used")
    for each in _devices(facts):
        peak = float(np.nanmax(each.memory, initial=0.0))
        if not each.total > 0 or peak < share * each.total:
            continue
        if not _pooled(each):
            high = each.time[each.memory >= share * each.total]
            yield _Short(each.workers, each.attempts, Moments.of(high - _MOMENT, high), peak / each.total)
            continue
        for name in each.workers:
            used = taken.get(name)
            if used is not None and used.most >= share * peak:
                when = used.moments(used.value >= share * peak)
                yield _Short((name,), _attempts_of(facts, name), when, used.most / peak)


def _moved(facts: Facts, limits: Limits) -> Iterator[_Short]:
    """Workers that had cuDF move data to the host, which it does where there is no memory left."""
    least = limits["gpu-memory.moved"]
    for name, moved in gauges(facts, "cudf.cudf-spilled").items():
        if moved.most >= least:
            yield _Short((name,), _attempts_of(facts, name), moved.moments(moved.value >= least), moved.most)


def _attempts_of(facts: Facts, worker: str) -> np.ndarray:
    """Rows of the attempts that ran on a worker."""
    return np.flatnonzero(facts.attempts.ran & of_workers(facts, (worker,)))


def _pooled(device: _Device) -> bool:
    """Whether its memory was taken at once, for a pool, which fills it whatever is in it."""
    memory = device.memory[np.isfinite(device.memory)]
    if not len(memory) or not device.total > 0:
        return False
    steps = np.diff(memory, prepend=0.0)
    rest = memory[int(np.argmax(steps)) :]
    return bool(steps.max() >= 0.5 * device.total and rest.min() >= 0.95 * rest.max())


def _used(device: _Device) -> bool:
    """Whether the run had anything to do with the device: many machines have one that nobody asks for."""
    some = np.nan_to_num(device.utilization)[device.busy]
    added = float(np.nanmax(device.memory, initial=0.0) - np.nanmin(device.memory, initial=np.inf))
    return bool((some >= _USED).mean() >= 0.05) if len(some) and added < _ADDED else added >= _ADDED


def _out_of_memory(facts: Facts) -> np.ndarray:
    """Rows of attempts that say so."""
    errors = facts.read("errors")
    texts = errors["exception"].tolist()
    runs = [
        run
        for run, text in zip(errors["run"].tolist(), texts, strict=True)
        if any(each in text for each in _OUT)
    ]
    return np.flatnonzero(np.isin(facts.attempts.run, np.array(runs, "u4"))) if runs else np.zeros(0, "i8")


GPU_IDLE = Rule(
    code="gpu-idle",
    says="GPUs had little to do while tasks ran on their workers.",
    formula=(
        "Mean utilisation of a device while tasks ran on the workers that see it below `gpu-idle.mean`; in "
        "bursts if the 95th percentile is `gpu-idle.burst` or more. Devices that the run did not use are "
        "left out. Tasks that were on a CPU for `gpu-idle.cpu` of their time more than that mean, for some "
        "of them spin while a kernel runs, were busy there; those that were without one for "
        "`gpu-idle.off-cpu` more, and did not wait for the interpreter's lock, read."
    ),
    cost=(
        "Thread-seconds of those tasks × (1 − mean utilisation) / threads: the most that could be saved. "
        "Where workers see several devices, each of these has an equal share."
    ),
    url="https://docs.dask.org/en/stable/gpu.html",
    advice="Larger chunks, more threads a GPU worker; other tasks that prepare or read what it computes.",
    find=_gpu_idle,
)
GPU_MEMORY = Rule(
    code="gpu-memory",
    says="A GPU's memory was nearly full, or tasks found none.",
    formula=(
        "`gpu-memory.share` or more of a device's memory in use; where it was taken at once, for a pool, "
        "that much of it by a worker (`rmm.rmm-used` in `gauges`: known with `rmm_track_allocations=True`); "
        "or cuDF had moved `gpu-memory.moved` or more to the host (`cudf.cudf-spilled` there); or exceptions "
        "that say so."
    ),
    cost="A risk.",
    url="https://docs.rapids.ai/api/dask-cuda/stable/spilling/",
    advice="A memory pool, smaller chunks, `device_memory_limit`.",
    find=_gpu_memory,
)
