"""Memory of workers that grows, is no result of a task, and is never given back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup, pick
from ...schema import NOTHING
from .facts import Facts
from .finding import Fact, Finding
from .names import most, of_workers, own_workers, quoted, split
from .rule import Rule
from .spill import spilled
from .thresholds import Limits

#: Samples of a worker's memory below which nothing is said of its course.
_SAMPLES = 8
#: Where in the run growth begins to count: what comes before are imports and first allocations.
_WARM = 1 / 4
#: Share of the growth after which it counts as over.
_GROWN = 0.97
#: Share of the growth after the first spill from which it is what spilling left behind.
_SPILLED = 0.5


class _Growth(NamedTuple):
    """How a worker's memory grew: bytes, shares of its limit (NaN if none) and of what it was at the end."""

    nbytes: float
    share: float
    of_process: float
    rate: float
    #: Share of the growth that came after the worker had begun to spill.
    spilled: float


class _Course(NamedTuple):
    """Moments, a process's memory, and the part of it that is results, in bytes."""

    time: np.ndarray
    process: np.ndarray
    managed: np.ndarray


#: Tasks that a worker of few threads has at a time: some run, some stand by, some are being unpacked.
_TASKS = 6


def _told(growth: _Growth, written: float, brought: float, limits: Limits) -> bool:
    """Whether it is enough to be told; spilling leaves memory behind that is no leak.

    `written` are bytes that were spilled, `brought` those that tasks brought along.
    """
    if growth.nbytes < brought + limits["unmanaged-growth.bytes"]:
        return False
    if written >= growth.nbytes or (written and growth.spilled >= _SPILLED):
        return growth.share >= limits["unmanaged-growth.critical"]
    return (
        growth.share >= limits["unmanaged-growth.limit"]
        or growth.of_process >= limits["unmanaged-growth.process"]
    )


def _brought(facts: Facts) -> dict[str, float]:
    """Bytes that tasks of the largest graph brought to each worker, which keeps them as long as the results.

    Each task that carries data is unpacked on its worker; see large-graph.
    """
    if not facts.carried:
        return {}
    table, known = facts.read("submissions"), facts.attempts
    largest = table["submission"][int(np.argmax(np.nan_to_num(table["nbytes"])))]
    submission = np.append(facts.read("graph")["submission"], np.uint32(NOTHING))[known.described]
    tasks = np.bincount(known.worker.codes[submission == largest], minlength=len(known.worker.names))
    brought = np.maximum(tasks, _TASKS) * facts.carried
    return dict(zip(known.worker.names, brought.tolist(), strict=True))


def growing(facts: Facts, limits: Limits) -> dict[str, _Growth]:
    """Workers whose memory grew by what is no result and was not given back."""
    found, brought, courses = {}, _brought(facts), _courses(facts)
    known, written, since = facts.attempts, spilled(facts).written, _first_spills(facts)
    ran = split(known.worker, np.flatnonzero(known.ran & of_workers(facts, courses)))
    for worker, course in courses.items():
        mine = ran.get(worker, np.zeros(0, "i8"))
        steady = limits["unmanaged-growth.steady"]
        growth = _growth(facts, worker, mine, course, steady, since.get(worker, math.inf))
        of_tasks = brought.get(worker, _TASKS * facts.carried)
        if growth is not None and _told(growth, written.get(worker, 0.0), of_tasks, limits):
            found[worker] = growth
    return found


def _first_spills(facts: Facts) -> dict[str, float]:
    """When each worker had first spilled results; seconds since the epoch."""
    memory = facts.read("memory")
    rows = np.flatnonzero(memory["spilled"] > 0)
    return {name: float(memory["time"][mine].min()) for name, mine in split(memory["worker"], rows).items()}


def _unmanaged_growth(facts: Facts, limits: Limits) -> Iterator[Finding]:
    grown = growing(facts, limits)
    if not grown:
        return
    workers = sorted(grown, key=lambda worker: -grown[worker].nbytes)
    first = grown[workers[0]]
    names = _names(facts, workers)
    yield Finding(
        code="unmanaged-growth",
        severity="critical" if first.share >= limits["unmanaged-growth.critical"] else "warning",
        title=(
            f"The memory of {words.count(len(workers), 'worker')} grew by up to {words.size(first.nbytes)} "
            f"that are no results, most likely in {quoted(names[:1])}"
        ),
        tasks=names,
        workers=tuple(workers[:10]),
        start=facts.since(facts.start),
        stop=facts.since(facts.stop),
        is_risk=True,
        evidence=(
            Fact("growth that was not given back", first.nbytes, "bytes", limits["unmanaged-growth.bytes"]),
            Fact("share of the memory limit", first.share, "share", limits["unmanaged-growth.limit"]),
            Fact(
                "share of the process's memory", first.of_process, "share", limits["unmanaged-growth.process"]
            ),
            Fact("growth a second", first.rate, "bytes/s"),
        ),
        why=(
            "It grew steadily through the run, and Dask cannot spill it or give it back, as it belongs to "
            "no result: module-level lists, caches and `lru_cache`, objects in reference cycles, results "
            "whose size Dask cannot tell, or memory that the allocator keeps."
        ),
        advice=(
            "Look for what the function keeps between calls (globals, caches, class attributes), and bound "
            "it. If nothing is kept, have the allocator give memory back, or workers begin anew now and "
            "then:\n\n"
            "    client.run(lambda: ctypes.CDLL('libc.so.6').malloc_trim(0))\n"
            "    # before workers without a nanny start: MALLOC_TRIM_THRESHOLD_=65536\n"
            "    # dask worker --lifetime 1h --lifetime-stagger 5m --lifetime-restart"
        ),
        url=UNMANAGED_GROWTH.url,
    )


def _growth(
    facts: Facts, worker: str, ran: np.ndarray, course: _Course, steady: float, since: float
) -> _Growth | None:
    """How a worker's memory beside its results grew; None where it did not, or not steadily.

    From the moment `since` on it spilled.
    """
    time, process, managed = course
    if len(time) < _SAMPLES:
        return None
    # What is given back later was no growth.
    kept = np.minimum.accumulate((process - managed)[::-1])[::-1]
    begin, end = _span(facts, ran, time, kept)
    edges = begin + (end - begin) * np.array([_WARM, (1 + _WARM) / 2, 1.0])
    first, middle, last = np.interp(edges, time, kept)
    nbytes = float(last - first)
    results = float(np.diff(np.interp(edges[[0, 2]], time, managed))[0])
    late = (time >= edges[0]) & (time <= end)
    if nbytes <= 0 or min(middle - first, last - middle) < 0.25 * nbytes or results > nbytes:
        return None
    if late.sum() < _SAMPLES // 2 or _straight(time[late], kept[late]) < steady:
        return None
    limit = facts.workers[worker].get("memory_limit", math.nan)
    share = nbytes / limit if limit > 0 else math.nan
    rate = nbytes / float(edges[2] - edges[0])
    late_part = (last - float(np.interp(np.clip(since, edges[0], edges[2]), time, kept))) / nbytes
    return _Growth(nbytes, share, nbytes / float(process[-1]), rate, float(late_part))


def _span(facts: Facts, ran: np.ndarray, time: np.ndarray, kept: np.ndarray) -> tuple[float, float]:
    """While a worker ran tasks; up to when its memory had grown, if that took half of it or more."""
    known = facts.attempts
    begin = max(float(time[0]), float(known.at("start", ran).min(initial=facts.stop)))
    end = min(float(time[-1]), max(float(known.at("ended", ran).max(initial=begin)), begin))
    inside = (time >= begin) & (time <= end)
    if not inside.any():
        return begin, begin
    full = kept[inside][0] + _GROWN * (kept[inside][-1] - kept[inside][0])
    grown = float(time[inside][np.argmax(kept[inside] >= full)])
    return begin, grown if grown - begin >= 0.5 * (end - begin) else end


def _courses(facts: Facts) -> dict[str, _Course]:
    """The course of the memory of each worker of which it is known."""
    resources, memory = facts.read("resources"), facts.read("memory")
    time = resources["time"]
    inside = np.isfinite(resources["memory"]) & (time >= facts.start - 1) & (time <= facts.stop + 1)
    results = split(memory["worker"], np.flatnonzero(np.isfinite(memory["managed"])))
    found, others = {}, facts.workers.keys() - own_workers(facts)
    for worker, rows in split(resources["process"], np.flatnonzero(inside)).items():
        # In the client's own process nobody can tell whose memory it is.
        if worker in results and worker in others:
            rows = rows[np.argsort(time[rows], kind="stable")]
            known = results[worker]
            known = known[np.argsort(memory["time"][known], kind="stable")]
            managed = np.interp(time[rows], memory["time"][known], memory["managed"][known])
            found[worker] = _Course(time[rows], resources["memory"][rows], managed)
    return found


def _straight(time: np.ndarray, values: np.ndarray) -> float:
    """Share of the variance that a straight line explains (R²)."""
    centred, spread = time - time.mean(), values - values.mean()
    across = float((centred**2).sum() * (spread**2).sum())
    return float((centred * spread).sum() ** 2 / across) if across > 0 else 0.0


def _names(facts: Facts, workers: list[str]) -> tuple[str, ...]:
    """Names after which a worker's memory was larger by more than their results."""
    known, executions = facts.attempts, facts.read("executions")
    added = pick(executions["rss"], Lookup(executions["run"]).rows(known.run)).astype("f8") * 2.0**20
    left = np.nan_to_num(added) - np.nan_to_num(known.nbytes)
    rows = np.flatnonzero(known.ran & of_workers(facts, workers))
    sums = np.bincount(facts.prefix.codes[rows], left[rows], len(facts.names))
    names = facts.worst(np.maximum(sums, 0.0), facts.names)
    return names or most(facts, rows, facts.length[rows])


UNMANAGED_GROWTH = Rule(
    code="unmanaged-growth",
    says="Memory beside the results grows through the run and is not given back.",
    formula=(
        "Process's memory less its results, the least that it has from each moment on; its growth while "
        "the worker ran tasks, without the first quarter, at least `unmanaged-growth.bytes`, and "
        "`unmanaged-growth.limit` of the memory limit or `unmanaged-growth.process` of the process's "
        "memory (of workers that spilled as much as that, or before half of it, "
        "`unmanaged-growth.critical` of the limit); in both halves at "
        "least a quarter of it, along a line (R² of `unmanaged-growth.steady`), and more than the results "
        f"grew. Of a worker with less than {_SAMPLES} samples of its memory nothing is said. Named are the "
        "functions after which a process was larger by more than their results."
    ),
    cost="A risk.",
    url="https://distributed.dask.org/en/stable/worker-memory.html#memory-not-released-back-to-the-os",
    advice="Bound caches and globals; trim memory; let workers begin anew now and then.",
    find=_unmanaged_growth,
)
