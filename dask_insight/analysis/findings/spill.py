"""Results that did not fit in memory, were written to disk, and read again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...schema import DISK
from ...timeline import Moments, held_until
from .facts import Facts, is_any
from .finding import Fact, Finding
from .names import most, of_workers, own_workers, quoted, split
from .rule import Rule
from .thresholds import Limits

#: How many times results have to be written to be told for that.
_OVER = 2.0
#: Share of its memory limit up to which a worker keeps all results, unless it is configured otherwise.
_KEPT = 0.6
#: What else a worker does to write a result, or to have it back.
_AROUND = ("serialize", "compress", "decompress", "deserialize")

_WHY = (
    "Beyond 60 % of its memory limit, unless it is configured otherwise, a worker writes the results that "
    "were used least recently to disk, and reads them when a task needs them. Both hold up its event loop, "
    "and with it all its threads."
)
_ADVICE = (
    "Keep less at a time, or have more memory: reduce before you persist, release futures that you no longer "
    "need, make chunks smaller where few are needed at once, read lazily instead of persisting, or take "
    "workers with more memory.\n\n"
    "    total = x.map_blocks(reduce_chunk).sum()   # instead of x.persist()\n"
    "    LocalCluster(memory_limit='8GB')"
)
_AGAIN = (
    " Each result was written several times, for each pass over them reads back what the last one had put on "
    "disk, and puts out others for it."
)
_APART = "\n    LocalCluster(processes=True)   # workers apart from what this process holds"


class Spilled(NamedTuple):
    """What fine metrics tell, by worker: seconds and bytes."""

    seconds: dict[str, float]
    written: dict[str, float]
    read: dict[str, float]


def _spill(facts: Facts, limits: Limits) -> Iterator[Finding]:
    told = spilled(facts)
    written, read = sum(told.written.values()), sum(told.read.values())
    if written < limits["spill.bytes"]:
        return
    produced = float(np.nan_to_num(facts.attempts.at("nbytes", facts.good)).sum())
    seconds = sum(told.seconds.values())
    lives = _lives(facts)
    share = seconds / max(sum(lives.values()), 1e-9)
    part = written / (produced or math.nan)
    workers = tuple(sorted(told.written, key=lambda worker: -told.written[worker]))
    held = _held(facts, workers)
    there = max(_there(facts, workers), held)
    times = written / (there or math.nan)
    much = share >= limits["spill.share"] or part >= limits["spill.written"] or times >= limits["spill.times"]
    # Disk and pickling hold up a worker's event loop; all its threads wait for what comes next.
    cost = share * facts.wall
    names = _names(facts, workers)
    beside = _beside(facts, workers)
    why, advice = _WHY, _ADVICE
    if beside >= limits["spill.beside"]:
        why += (
            f" Here results were the smaller part: {words.share(beside)} of the processes' memory was "
            "something else. What tasks take while they run, modules, caches and memory that was not given "
            "back count towards the limit as well."
        )
        if not own_workers(facts).isdisjoint(workers):
            why += " These workers are threads of your own process: all that it holds counts as theirs."
            advice += _APART
    over = ""
    if times >= _OVER:
        over = f", written {words.about(times)} times over"
        why, advice = why + _AGAIN, f"{_in_one_pass(held or there, len(workers))}\n\n{advice}"
    yield Finding(
        code="spill",
        severity=("critical" if _is_dire(limits, share, times) else "warning") if much else "info",
        title=(
            f"{words.size(min(written, there or written))} of results did not fit in memory and went to "
            f"disk, mostly of {quoted(names[:1])}{over}; {words.size(read)} were read back"
        ),
        tasks=names,
        workers=workers[:10],
        start=facts.since(_since(facts)),
        stop=facts.since(facts.stop),
        cost_thread_seconds=max(facts.spent("disk"), seconds),
        cost_seconds=cost,
        is_told=much,
        evidence=(
            Fact("written to disk", written, "bytes", limits["spill.bytes"]),
            Fact("read back", read, "bytes"),
            Fact("written, of the bytes of all results", part, "share", limits["spill.written"]),
            Fact("written, of the bytes of results there", times, "times", limits["spill.times"]),
            Fact("share of the workers' time", share, "share", limits["spill.share"]),
            Fact("memory that was no results, while spilling", beside, "share", limits["spill.beside"]),
        ),
        why=why,
        advice=advice,
        url=SPILL.url,
    )


def _is_dire(limits: Limits, share: float, times: float) -> bool:
    again = times >= limits["spill.times-critical"]
    return share >= limits["spill.critical"] or (again and share >= limits["spill.share"])


def _in_one_pass(nbytes: float, workers: int) -> str:
    """Advice where so many bytes of results were written again and again."""
    memory = words.size(nbytes / _KEPT / workers)
    return (
        "Use what was persisted in one pass, or do not persist it, for to read it anew may be cheaper. To "
        f"keep all in memory, each worker that wrote it needs a limit of about {memory}.\n\n"
        "    a, b, c = dask.compute(x.mean(), x.std(), x.max())   # instead of one after the other"
    )


def _there(facts: Facts, workers: tuple[str, ...]) -> float:
    """Bytes of the results that some workers made or were sent: the most that they can have written once."""
    known, transfers = facts.attempts, facts.read("transfers")
    made = known.at("nbytes", facts.good & of_workers(facts, workers))
    came = is_any(transfers["worker"], workers) & is_any(transfers["direction"], ("in",))
    return float(np.nan_to_num(made).sum() + np.nan_to_num(transfers["nbytes"][came]).sum())


def _held(facts: Facts, workers: tuple[str, ...]) -> float:
    """Bytes of the most results that some workers had, each at a time: also of clients, or from before."""
    memory = facts.read("memory")
    nbytes = np.nan_to_num(memory["managed"]) + np.nan_to_num(memory["spilled"])
    rows = np.flatnonzero(is_any(memory["worker"], workers))
    return sum(float(nbytes[mine].max()) for mine in split(memory["worker"], rows).values())


def spilled(facts: Facts) -> Spilled:
    """What workers wrote to disk for want of memory, and read again."""
    metrics = facts.read("metrics")
    seconds = is_any(metrics["unit"], ("seconds",))
    nbytes = is_any(metrics["unit"], ("bytes",))
    # Shuffles write to disk by design, and messages are pickled too.
    disk = is_any(metrics["activity"], DISK) & ~is_any(metrics["context"], ("p2p",))
    own = is_any(metrics["context"], ("memory-monitor",)) & is_any(metrics["activity"], _AROUND)
    found = []
    for mask in (
        (disk | own) & seconds,
        disk & nbytes & is_any(metrics["activity"], ("disk-write",)),
        disk & nbytes & is_any(metrics["activity"], ("disk-read",)),
    ):
        worker = metrics["worker"]
        sums = np.bincount(worker.codes[mask], metrics["value"][mask], len(worker.names))
        found.append({name: float(sums[code]) for code, name in enumerate(worker.names) if sums[code] > 0})
    return Spilled(*found)


def _lives(facts: Facts) -> dict[str, float]:
    """Seconds of the run for which each worker was there."""
    start = np.maximum(facts.lanes.start, facts.start)
    stop = np.maximum(np.minimum(facts.lanes.stop, facts.stop), start)
    away = Moments.together((each.start, each.stop) for each in (facts.pause, facts.still))
    found: dict[str, float] = {}
    lives = stop - start - away.within(start, stop)
    for code, life in zip(facts.lanes.worker.tolist(), lives.tolist(), strict=True):
        name = facts.lanes.workers[code]
        found[name] = max(found.get(name, 0.0), life)
    return found


def _beside(facts: Facts, workers: tuple[str, ...]) -> float:
    """Share of the memory of these workers that was no results, over all samples with some on disk."""
    memory = facts.read("memory")
    rows = is_any(memory["worker"], workers) & (memory["spilled"] > 0)
    rows &= np.isfinite(memory["process"]) & np.isfinite(memory["managed"])
    # Workers that share a process tell of the same.
    sharing = Counter(facts.processes.get(name, name) for name in workers)
    share = np.array(
        [1 / max(sharing[facts.processes.get(name, name)], 1) for name in memory["worker"].names]
    )
    process = float((memory["process"][rows] * share[memory["worker"].codes[rows]]).sum())
    return 1 - min(float(memory["managed"][rows].sum()) / process, 1.0) if process > 0 else math.nan


def _since(facts: Facts) -> float:
    """When the first result was on disk."""
    memory = facts.read("memory")
    there = memory["time"][memory["spilled"] > 0]
    return float(np.clip(np.nanmin(there, initial=facts.stop), facts.start, facts.stop))


def _names(facts: Facts, workers: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the results that took most of the memory of these workers, for longest."""
    known, until = facts.attempts, np.minimum(held_until(facts.read, facts.attempts), facts.stop)
    weight = np.nan_to_num(known.nbytes) * np.maximum(until - known.done, 0.0)
    rows = np.flatnonzero(of_workers(facts, workers) & known.ok & (weight > 0))
    return most(facts, rows, weight[rows])


SPILL = Rule(
    code="spill",
    says="Results did not fit in memory: they were written to disk and read again.",
    formula=(
        "At least `spill.bytes` written by workers' spilling (not by shuffles), and `spill.share` of the "
        "workers' time in it or `spill.written` of all bytes of results; critical from `spill.critical` of "
        "their time. Or bytes written `spill.times` as much as the results that these workers made or were "
        "sent, or had at any time; critical from `spill.times-critical`, with `spill.share` of their time. "
        "Named are the results that took most memory for longest. "
        "From `spill.beside` of the memory on, it says that results were the smaller part."
    ),
    cost="Share of the workers' time in reading, writing and pickling spilled results × the run.",
    url="https://distributed.dask.org/en/stable/worker-memory.html",
    advice="Keep less at a time: reduce before `persist`, release futures, smaller chunks, more memory.",
    find=_spill,
)
