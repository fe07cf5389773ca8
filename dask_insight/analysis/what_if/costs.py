"""What a recording tells about messages, transfers and the scheduler's own work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...lookup import is_any
from ...timeline import Read, WholeRun
from .setting import Costs

#: What is assumed where nothing was recorded; the first is Dask's own guess.
_BANDWIDTH = 100e6
_SCHEDULER = 0.0003
#: Most that a task costs the scheduler; what its process used beyond, went into other things.
_MOST = 0.001
#: Tasks in a row whose ends tell how fast the scheduler can go.
_RUSH = 20
#: Bytes up to which a transfer is all latency.
_SMALL = 20_000


def recorded_costs(read: Read, columns: Mapping[str, Any], about: Mapping[str, Any], run: WholeRun) -> Costs:
    """The costs in a recording."""
    up = _usual(columns["done"] - columns["stop"])
    down = _usual(columns["received"] - columns["assigned"])
    latency, bandwidth = _transfers(read)
    return Costs(
        up=up,
        down=down,
        handoff=_handoff(columns),
        scheduler=_scheduler(read, columns["done"], run),
        latency=up + down if latency is None else latency,
        bandwidth=_BANDWIDTH if bandwidth is None else bandwidth,
        saturation=_saturation(about),
    )


def _usual(values: np.ndarray) -> float:
    """Mean of all but the largest twentieth: a chain of tasks meets the slow ones too, but no standstill."""
    known = np.sort(values[np.isfinite(values)])
    most = max(1, round(0.95 * len(known)))
    return max(0.0, float(known[:most].mean())) if len(known) else 0.0


def _handoff(columns: Mapping[str, Any]) -> float:
    """Seconds from the end of a task to the next one's turn where that waited for the thread."""
    worker, stop = columns["worker"].codes, columns["stop"]
    given = np.where(np.isfinite(columns["executing"]), columns["executing"], columns["start"])
    waited = np.isfinite(given) & (given - columns["inputs"] > 1e-3)
    ended = np.flatnonzero(np.isfinite(stop))
    # By worker and moment, an end before what was given at that moment.
    workers = np.concatenate((worker[ended], worker[waited]))
    moments = np.concatenate((stop[ended], given[waited]))
    order = np.lexsort((np.arange(len(moments)) >= len(ended), moments, workers))
    last = np.maximum.accumulate(np.where(order < len(ended), np.arange(len(order)), -1))
    before = order[last]
    known = (order >= len(ended)) & (last >= 0) & (workers[before] == workers[order])
    return _usual(moments[order[known]] - moments[before[known]])


def _scheduler(read: Read, done: np.ndarray, run: WholeRun) -> float:
    """Seconds of the scheduler's own work for each task: at most its CPU time, or its best pace."""
    ends, seconds = np.sort(done[np.isfinite(done)]), run.end - run.begin
    if len(ends) <= _RUSH or seconds <= 0:
        return 0.0 if len(ends) <= 1 else _SCHEDULER
    rush = float((ends[_RUSH:] - ends[:-_RUSH]).min()) / _RUSH
    use = _use(read, run)
    told = float(use.mean()) / 100 * seconds / len(ends) if len(use) else _SCHEDULER
    return min(rush, told, _MOST)


def _use(read: Read, run: WholeRun) -> np.ndarray:
    """CPU use of the scheduler in each interval between samples that lies in the run, per cent of a core."""
    table = read("resources")
    rows = np.flatnonzero(is_any(table["process"], ("scheduler",)) & np.isfinite(table["cpu"]))
    time = table["time"][rows]
    # A sample tells of the time since the one before: so the first after the end does of the run, too.
    after = float(np.min(time[time >= run.end], initial=np.inf))
    return np.asarray(table["cpu"][rows[(time > run.begin) & (time <= after)]])


def _transfers(read: Read) -> tuple[float | None, float | None]:
    """Seconds of a small transfer and bytes a second of the large ones."""
    table = read("transfers")
    length, size = table["stop"] - table["start"], table["nbytes"]
    some = is_any(table["direction"], ("in",)) & np.isfinite(length) & np.isfinite(size)
    length, size = length[some], size[some]
    if not len(length):
        return None, None
    small = size <= max(_SMALL, float(np.quantile(size, 0.25)))
    latency = float(np.median(length[small]))
    rest = length[~small].sum() - latency * int((~small).sum())
    return latency, float(size[~small].sum() / rest) if rest > 1e-3 else None


def _saturation(about: Mapping[str, Any]) -> float:
    config = about.get("config")
    scheduler = config.get("distributed.scheduler") if isinstance(config, dict) else None
    value = scheduler.get("worker-saturation", 1.1) if isinstance(scheduler, dict) else 1.1
    try:
        return float(value)
    except (TypeError, ValueError):
        return 1.1
