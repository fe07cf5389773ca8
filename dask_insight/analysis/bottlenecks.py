"""What took the time: tasks summed by function, group, span, worker, or each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import summed_by
from ..batch import Symbols, intern
from ..lookup import Lookup, TextRows, by_name, is_any, pick, ratio, sorted_set, sums
from ..schema import NOTHING
from ..tables.facts import part_of_run
from ..tables.field import Field
from ..tables.spans import PATH, paths_of
from ..tables.tasks import FAILED
from ..timeline import Attempts, Read, attempts, gpus, standstills, stretches

if TYPE_CHECKING:
    import pandas as pd

#: What it can be summed by.
BY = {
    "function": Field("function", "", "Task name: Dask's prefix of the key."),
    "task": Field("task", "", "Dask's key, as text."),
    "group": Field("group", "", "Dask's task group."),
    "span": Field("span", "", "Id of the innermost span; see `spans`."),
    "worker": Field("worker", "", "The worker."),
    "thread": Field("thread", "", "Thread within its worker."),
}
FIELDS = (
    Field(
        "duration",
        "s",
        "Time for which task functions held a thread, without standstills, summed; of a slice, within it.",
    ),
    Field("share", "", "Its share of the duration of all, 0 to 1."),
    Field("count", "", "Attempts that ran or still run, failed ones included."),
    Field("failed", "", "Those of them that raised, were tried again or were lost with their worker."),
    Field("mean", "s", "Mean duration of an attempt that ended; NaN without any, as the next three."),
    Field("median", "s", "Median duration."),
    Field("p95", "s", "Duration that 95 % do not exceed, interpolated."),
    Field("max", "s", "Longest duration."),
    Field("size_in", "bytes", "Mean size of an attempt's inputs together."),
    Field("size_out", "bytes", "Mean size of a result."),
    Field(
        "throughput", "bytes/s", "Bytes of inputs over their time, of those that ended; NaN without inputs."
    ),
    Field("cpu", "%", "CPU time of their threads over their duration, per cent of one core."),
    Field("gpu", "%", "Use of their workers' GPUs while they ran, mean over time (and GPUs)."),
    Field(
        "gpu_memory",
        "bytes",
        "Memory in use on their workers' GPUs while they ran, mean over time. Workers of a host that see the "
        "same GPUs share them; each has the memory of one at least.",
    ),
    Field(
        "memory_added", "bytes", "Mean change of their worker process's memory while one ran; in `tasks` MiB."
    ),
)


def bottlenecks(read: Read, by: str | Sequence[str]) -> pd.DataFrame:
    """The table of `Recording.bottlenecks`."""
    from ..tables.frame import frame

    wanted = summed_by(by, BY)
    known = attempts(read)
    ran = np.flatnonzero(known.ran)
    group, first = _groups(read, known, ran, wanted)
    sums = _Sums(group, len(first))
    columns = _measured(read, known, ran, sums)
    order = np.argsort(-columns["duration"])
    named = {name: _named(read, known, ran[first[order]], name) for name in wanted}
    fields = [BY[name] for name in wanted]
    if "span" in named:
        fields.insert(wanted.index("span") + 1, PATH)
        named["path"] = _paths(read, named["span"])
    # Of single tasks, several columns are one.
    sorted_ = {each: values[order] for each, values in {id(one): one for one in columns.values()}.items()}
    measured = {name: sorted_[id(values)] for name, values in columns.items()}
    return frame((*fields, *FIELDS), {**named, **measured}, 0.0, timestamps=False, own=False)


class _Sums:
    """Sums over the rows of each group."""

    def __init__(self, group: np.ndarray, groups: int) -> None:
        self._group = group
        self._groups = groups
        #: Each row is a group of its own, in the same order.
        self._single = groups == len(group)

    def count(self, mask: np.ndarray | None = None) -> np.ndarray:
        """Number of rows, of those where a mask is true."""
        if self._single:
            return np.ones(self._groups, "i8") if mask is None else mask.astype("i8")
        rows = self._group if mask is None else self._group[mask]
        return np.bincount(rows, minlength=self._groups)

    def of(self, values: np.ndarray) -> np.ndarray:
        """Sum of what is finite."""
        values = np.where(np.isfinite(values), values, 0.0)
        if self._single:
            return values
        return np.bincount(self._group, values, self._groups)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Mean of what is finite; NaN without any."""
        return ratio(self.of(values), self.count(np.isfinite(values)), np.nan)

    def weighted(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Mean of what is finite by weight; NaN without any."""
        told = np.isfinite(values) & (weights > 0)
        part = self.of(np.where(told, values * weights, 0.0))
        return ratio(part, self.of(np.where(told, weights, 0.0)), np.nan)

    def quantiles(self, values: np.ndarray, *parts: float) -> list[np.ndarray]:
        """Quantiles of what is not missing, interpolated between neighbours; NaN without any."""
        if self._single:
            return [values] * len(parts)
        order = np.argsort(values)
        small = self._group[order].astype("i2" if self._groups < 1 << 15 else "i4")
        ordered = values[order[np.argsort(small, kind="stable")]]
        every = self.count()
        begin, last = np.cumsum(every) - every, np.maximum(self.count(np.isfinite(values)) - 1, 0)
        found = []
        for part in parts:
            at = part * last
            low = np.floor(at).astype("i8")
            high = np.minimum(low + 1, last)
            below, above = ordered[begin + low], ordered[begin + high]
            found.append(below + (above - below) * (at - low))
        return found


def _measured(read: Read, known: Attempts, ran: np.ndarray, sums: _Sums) -> dict[str, np.ndarray]:
    lasted = known.at("stop", ran) - known.at("start", ran)
    # What gave its thread back meanwhile held none, and often waited for others that are counted as well; and
    # what stood still with everything did nothing.
    pieces, still = stretches(read, known), standstills(read)
    length = pieces.held(len(known.run), still)[ran]
    within = pieces.held(len(known.run), still, part_of_run(read))[ran]
    duration, count = sums.of(within), sums.count()
    needed = _inputs(read, known)[ran]
    # Of what still runs nobody knows how long it takes.
    whole = np.where((known.ok | known.failed)[ran], length, np.nan)
    median, p95, longest = sums.quantiles(whole, 0.5, 0.95, 1.0)
    gpu, gpu_memory = _gpus(read, known, ran)
    executions: Mapping[str, Any] = read("executions")
    added = pick(executions["rss"], Lookup(executions["run"]).rows(known.run[ran])).astype("f8") * 2.0**20
    there = (needed > 0) & np.isfinite(whole)
    cpu = np.asarray(known.cpu[ran], "f8")
    told = np.isfinite(cpu)
    # Some compute without a thread.
    computing = np.fmax(length, np.minimum(cpu, lasted))
    return {
        "duration": duration,
        "share": duration / max(float(duration.sum()), 1e-300),
        "count": count,
        "failed": sums.count(is_any(known.status, FAILED)[ran]),
        "mean": sums.mean(whole),
        "median": median,
        "p95": p95,
        "max": longest,
        "size_in": ratio(sums.of(needed), count, np.nan),
        "size_out": sums.mean(known.nbytes[ran]),
        "throughput": ratio(
            sums.of(np.where(there, needed, 0.0)), sums.of(np.where(there, length, 0.0)), np.nan
        ),
        "cpu": 100 * ratio(sums.of(cpu), sums.of(np.where(told, computing, 0.0)), np.nan),
        "gpu": sums.weighted(gpu, lasted),
        "gpu_memory": sums.weighted(gpu_memory, lasted),
        "memory_added": sums.mean(added),
    }


def _groups(read: Read, known: Attempts, ran: np.ndarray, wanted: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Group of each attempt that ran, and the first attempt of each group."""
    code = np.zeros(len(ran), "i8")
    size = 1
    for name in wanted:
        codes, width = _codes(read, known, ran, name)
        if size > 1 and size * width >= 1 << 62:
            _, code = np.unique(code, return_inverse=True)
            size = int(code.max(initial=0)) + 1
        code, size = code * width + codes, size * width
    if size <= 8 * len(ran) + (1 << 16):
        used = np.bincount(code, minlength=1) > 0
        group, groups = (np.cumsum(used) - 1)[code], int(np.count_nonzero(used))
    else:
        different, group = np.unique(code, return_inverse=True)
        group, groups = group.reshape(-1), len(different)
    if groups == len(ran):
        # Each by itself: no need to gather anything.
        return np.arange(groups), np.arange(groups)
    first = np.zeros(groups, "i8")
    first[group[::-1]] = np.arange(len(ran))[::-1]
    return group, first


def _codes(read: Read, known: Attempts, ran: np.ndarray, name: str) -> tuple[np.ndarray, int]:
    """A number for each attempt, the same for those of one name; and one that is greater than all."""
    if name == "task":
        tasks = known.task[ran].astype("i8")
        return tasks, int(tasks.max(initial=0)) + 1
    if name == "thread":
        return known.place[ran], len(known.places) + 1
    symbols = _symbols(read, known, ran, name)
    return symbols.codes.astype("i8"), len(symbols.names) + 1


def _symbols(read: Read, known: Attempts, rows: np.ndarray, name: str) -> Symbols:
    if name == "worker":
        return Symbols(known.worker.codes[rows].astype("u4"), known.worker.names)
    column = {"function": "prefix"}.get(name, name)
    symbols: Symbols = pick(read("graph")[column], known.described[rows])
    return symbols


def _named(read: Read, known: Attempts, rows: np.ndarray, name: str) -> Any:
    if name == "task":
        return TextRows(read("graph")["key"], known.described[rows])
    if name == "thread":
        threads = [thread for _, thread in known.places] or [""]
        names = {thread: code for code, thread in enumerate(dict.fromkeys(threads))}
        code = np.array([names[thread] for thread in threads], "u4")
        return Symbols(code[known.place[rows]], list(names))
    return _symbols(read, known, rows, name)


def _paths(read: Read, spans: Symbols) -> Symbols:
    told = intern(paths_of(read, spans.names) or [""])
    return Symbols(told.codes[spans.codes], told.names)


def _inputs(read: Read, known: Attempts) -> np.ndarray:
    """Bytes of each attempt's inputs together."""
    edges: Mapping[str, Any] = read("edges")
    tasks = Lookup(known.task)
    good = Lookup(np.where(known.ok, known.task, NOTHING).astype("u4"))
    made = good.rows(edges["dependency"])
    size = np.nan_to_num(known.nbytes)[made] * (made >= 0) if len(known.run) else np.zeros(len(made))
    needs = tasks.rows(edges["task"])
    there = needs >= 0
    summed = np.bincount(needs[there], size[there], len(known.run))
    # All attempts at a task have its inputs.
    newest = tasks.rows(known.task)
    return np.where(newest >= 0, summed[newest], 0.0) if len(summed) else summed


def _gpus(read: Read, known: Attempts, ran: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean use and memory of the GPUs of each attempt's worker while it ran; NaN without samples."""
    samples: Mapping[str, Any] = read("gpus")
    use, memory = np.full((2, len(ran)), np.nan)
    worker = pick(known.worker, ran)
    start, stop = known.at("start", ran), known.at("stop", ran)
    devices = gpus(read)
    told_by = {name: number for number, names in enumerate(devices.speaks_for) for name in names}
    process = by_name(worker, lambda name: told_by.get(name, -1), -1)
    for number in np.unique(devices.process.codes).tolist():
        rows = np.flatnonzero(process == number)
        mine = np.flatnonzero(devices.process.codes == number)
        if not len(rows):
            continue
        times, use_then, memory_then = _by_time(samples, mine)
        use[rows] = mean_between(times, use_then, start[rows], stop[rows])
        memory[rows] = mean_between(times, memory_then, start[rows], stop[rows])
        seen = sorted_set(devices.of[mine]).tolist()
        memory[rows] /= min(len(seen), max(len(devices.seen_by[each]) for each in seen))
    return use, memory


def _by_time(samples: Mapping[str, Any], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Moments, and at each the mean use and the memory of a process's devices together."""
    times, place = np.unique(samples["time"][rows], return_inverse=True)
    place = place.reshape(-1)

    def known(name: str) -> tuple[np.ndarray, np.ndarray]:
        """Sum of what is known at each moment, and of how many devices it is."""
        values = samples[name][rows]
        told = np.isfinite(values)
        return sums(place[told], values[told], len(times)), np.bincount(place[told], minlength=len(times))

    (use, devices), (memory, telling) = known("utilization"), known("memory")
    return times, ratio(use, devices, np.nan), np.where(telling > 0, memory, np.nan)


def mean_between(times: np.ndarray, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Mean of a sampled quantity in each interval, lines drawn between the samples.

    Beyond the first and the last sample it stays as it was there.
    """
    there = np.isfinite(times) & np.isfinite(values)
    times, values = times[there], values[there]
    if not len(times):
        return np.full(len(start), np.nan)
    zero = times[0]
    times, start, stop = times - zero, start - zero, stop - zero
    steps = np.diff(times) * (values[1:] + values[:-1]) / 2
    area = np.concatenate((np.zeros(1), np.cumsum(steps)))

    def until(moment: np.ndarray) -> np.ndarray:
        at = np.clip(np.searchsorted(times, moment, side="right") - 1, 0, len(times) - 1)
        begun = np.interp(times[at], times, values)
        here = np.interp(moment, times, values)
        return np.asarray(area[at] + (moment - times[at]) * (begun + here) / 2)

    length = stop - start
    mean = ratio(until(stop) - until(start), length)
    return np.asarray(np.where(length > 0, mean, np.interp(start, times, values)))
