"""Results that did not fit in memory, were written to disk, and read again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ... import words
from ...schema import DISK
from .facts import Facts, is_any
from .finding import Fact, Finding
from .held import EXPLAINED, Filling, Results, from_before
from .names import most, of_workers, own_workers, quoted, split
from .piled_up import Reason, joined, piled_up
from .rule import Rule
from .thresholds import Limits

#: How many times results have to be written to be told for that.
_OVER = 2.0
#: Bytes that a worker writes a second below which its disk is slow.
_SLOW = 100e6
#: Bytes of what it writes at a time below which it is the files that take so long.
_SMALL = 2**20
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
    "Each result was written several times, for each pass over them reads back what the last one had put on "
    "disk, and puts out others for it."
)
#: What is to be known of workers that run in the client's process, and to be added to code that helps.
OWN_PROCESS = "These workers are threads of your own process: all that it holds counts as theirs."
APART = "\n    LocalCluster(processes=True)   # workers apart from what this process holds"


class Spilled(NamedTuple):
    """What fine metrics tell, by worker: seconds, also those of writing alone, how many writes, and bytes."""

    seconds: dict[str, float]
    writing: dict[str, float]
    writes: dict[str, float]
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
    workers = tuple(sorted(told.written, key=lambda worker: -told.written[worker]))
    rate = written / (sum(told.writing.values()) or math.nan)
    most_held = _most_held(facts, workers)
    held = sum(nbytes for _, nbytes in most_held.values())
    there = max(_there(facts, workers), held)
    part, times = written / (max(produced, there) or math.nan), written / (there or math.nan)
    much = share >= limits["spill.share"] or part >= limits["spill.written"] or times >= limits["spill.times"]
    # Disk and pickling hold up a worker's event loop; all its threads wait for what comes next.
    cost = share * facts.wall
    results = Results(facts)
    those = _those(facts, results, workers, most_held)
    moments = {worker: when for worker, (when, _) in most_held.items()}
    reasons = [*piled_up(facts, results, moments, held, those.names)]
    beside, advice, over = _beside(facts, workers), _ADVICE, ""
    if beside >= limits["spill.beside"]:
        reasons.append(_smaller_part(beside))
        if not own_workers(facts).isdisjoint(workers):
            reasons.append(Reason(OWN_PROCESS, ""))
            advice += APART
    if times >= _OVER:
        over = f", written {words.about(times)} times over"
        reasons.append(Reason(_AGAIN, _in_one_pass(held or there, len(workers))))
    if rate < _SLOW and not written < _SMALL * sum(told.writes.values()):
        reasons.append(_slow_disk(rate))
    why, advice = joined(_WHY, reasons, advice)
    yield Finding(
        code="spill",
        severity=("critical" if _is_dire(limits, share, times) else "warning") if much else "info",
        title=(
            f"{words.size(min(written, there or written))} of results did not fit in memory and went to "
            f"disk, mostly of {those.said}{over}; {words.size(read)} were read back"
        ),
        tasks=those.names,
        workers=workers[:10],
        start=facts.since(_since(facts)),
        stop=facts.since(facts.stop),
        cost_thread_seconds=max(facts.spent("disk"), seconds),
        cost_seconds=cost,
        is_told=much,
        evidence=(
            Fact("written to disk", written, "bytes", limits["spill.bytes"]),
            Fact("read back", read, "bytes"),
            Fact("written a second, while writing", rate, "bytes/s"),
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


def _smaller_part(beside: float) -> Reason:
    """That most of the memory was no results."""
    return Reason(
        f"Here results were the smaller part: {words.share(beside)} of the processes' memory was something "
        "else. What tasks take while they run, modules, caches and memory that was not given back count "
        "towards the limit as well.",
        "",
    )


def _slow_disk(rate: float) -> Reason:
    """That a worker wrote so few bytes a second."""
    return Reason(
        f"While it wrote, a worker wrote {words.size(rate)} a second: the disk is slow, many workers share "
        "it, or it is on the network.",
        "Have workers write to a fast disk of their host:\n\n"
        "    # before they start, or: dask worker --local-directory /fast/disk\n"
        "    dask.config.set({'temporary-directory': '/fast/disk'})",
    )


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


def _most_held(facts: Facts, workers: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """When each worker had most results, also of clients or from before, and their bytes."""
    memory = facts.read("memory")
    nbytes = np.nan_to_num(memory["managed"]) + np.nan_to_num(memory["spilled"])
    rows = np.flatnonzero(is_any(memory["worker"], workers))
    most_of = {name: mine[np.argmax(nbytes[mine])] for name, mine in split(memory["worker"], rows).items()}
    return {name: (float(memory["time"][row]), float(nbytes[row])) for name, row in most_of.items()}


def spilled(facts: Facts) -> Spilled:
    """What workers wrote to disk for want of memory, and read again."""
    metrics = facts.read("metrics")
    seconds = is_any(metrics["unit"], ("seconds",))
    nbytes = is_any(metrics["unit"], ("bytes",))
    # Shuffles write to disk by design, and messages are pickled too.
    disk = is_any(metrics["activity"], DISK) & ~is_any(metrics["context"], ("p2p",))
    writes = disk & is_any(metrics["activity"], ("disk-write",))
    own = is_any(metrics["context"], ("memory-monitor",)) & is_any(metrics["activity"], _AROUND)
    found = []
    for mask in (
        (disk | own) & seconds,
        writes & seconds,
        writes & is_any(metrics["unit"], ("count",)),
        writes & nbytes,
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
    found: dict[str, float] = {}
    lives = stop - start - facts.away.within(start, stop)
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


def _those(
    facts: Facts, results: Results, workers: tuple[str, ...], most_held: Mapping[str, tuple[float, float]]
) -> Filling:
    """The results that took most of the memory of these workers, for longest, if they explain half of it."""
    there = [results.size[results.held(worker, when)].sum() for worker, (when, _) in most_held.items()]
    if sum(there) < EXPLAINED * sum(nbytes for _, nbytes in most_held.values()):
        return from_before(facts, min(when for when, _ in most_held.values()))
    rows, weight = results.lasting(workers, facts.stop)
    names = most(facts, rows, weight)
    return Filling(names, quoted(names[:1]), True)


SPILL = Rule(
    code="spill",
    says="Results did not fit in memory: they were written to disk and read again.",
    formula=(
        "At least `spill.bytes` written by workers' spilling (not by shuffles), and `spill.share` of the "
        "workers' time in it or `spill.written` of all bytes of results; critical from `spill.critical` of "
        "their time. Or bytes written `spill.times` as much as the results that these workers made or were "
        "sent, or had at any time; critical from `spill.times-critical`, with `spill.share` of their time. "
        "Named are the results that took most memory for longest, if they were half of all that were there. "
        f"Below {words.size(_SLOW)} written in a second of writing, by {words.size(_SMALL)} or more at a "
        "time, it says that the disk is slow; and as `memory-pressure` does, why results piled up. "
        "From `spill.beside` of the memory on, it says that results were the smaller part."
    ),
    cost="Share of the workers' time in reading, writing and pickling spilled results × the run.",
    url="https://distributed.dask.org/en/stable/worker-memory.html",
    advice="Keep less at a time: reduce before `persist`, release futures, smaller chunks, more memory.",
    find=_spill,
)
