"""Memory that runs out: workers near their limit, paused, or killed by their nanny."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...timeline import process_memory
from .facts import Facts
from .finding import Fact, Finding
from .growth import growing
from .held import names_in_memory
from .losses import Kill, deaths_of, kills_of, losses_of, lost_work
from .names import quoted, split
from .rule import Rule
from .suspects import EQUAL_PARTS, Suspects, suspects
from .thresholds import Limits

#: Share of the thread time paused from which that is what a title tells.
_FELT = 0.01


_ADVICE = (
    "Have less in memory at a time: smaller chunks, fewer threads to a worker, or workers with more "
    "memory; drop what you do not need any more (`del future`), and reduce before you persist.\n\n"
    "    x = x.rechunk('64MB'); df = df.repartition(partition_size='64MB')\n"
    "    LocalCluster(n_workers=2, threads_per_worker=1, memory_limit='8GB')"
)
_LEAK_WHY = "Here much of it is memory that grew, is no result and was never given back. "
_LEAK_ADVICE = (
    "Find what keeps memory first, see `unmanaged-growth`: with smaller chunks it only takes longer to fill."
)


class _Peak(NamedTuple):
    """The most memory that a worker's process had: share of its limit, when, and bytes above the first."""

    share: float
    when: float
    added: float


def _memory_pressure(facts: Facts, limits: Limits) -> Iterator[Finding]:
    kills = kills_of(facts)
    paused = {facts.lanes.workers[code]: at for code, at in facts.states.paused.items() if len(at.start)}
    peaks = peaks_of(facts)
    near = {worker for worker, peak in peaks.items() if peak.share >= limits["memory-pressure.near"]}
    workers = tuple(dict.fromkeys((*(kill.worker for kill in kills), *paused, *sorted(near))))
    if not workers:
        return
    ended = {kill.worker for kill in kills}
    losses = [loss for loss in losses_of(facts) if loss.worker in ended]
    suspected = (
        suspects(facts, deaths_of(facts, losses), limits["worker-lost.size"]) if losses else Suspects((), "")
    )
    cause = suspected.why
    if growing(facts, limits).keys() & set(workers):
        cause, advice = f"{cause} {_LEAK_WHY}".lstrip(), f"{_LEAK_ADVICE}\n\n{_ADVICE}"
    else:
        advice = f"{EQUAL_PARTS}\n\n{_ADVICE}" if suspected.uneven else _ADVICE
    paused_seconds = facts.spent("paused")
    share = paused_seconds / facts.offered if facts.offered > 0 else 0.0
    seconds = paused_seconds + lost_work(facts, losses)
    most = max((peaks[worker].share for worker in workers if worker in peaks), default=math.nan)
    moments = [kill.when for kill in kills] + [peaks[worker].when for worker in near]
    for at in paused.values():
        moments += [min(float(each), facts.stop) for each in (*at.start, *at.stop)]
    who = words.count(len(workers), "worker")
    names = names_in_memory(facts, _explained(workers, kills, peaks))
    if kills:
        times = words.count(len(kills), "time")
        title = f"Nannies killed workers for their memory, {times}, with {quoted(names, 1)}"
    elif share >= _FELT:
        stood = words.duration(paused_seconds)
        title = (
            f"Dask paused {who} for lack of memory, for {stood} of thread time; {quoted(names, 1)} filled it"
        )
    elif math.isnan(most):
        title = f"Dask paused {who} for lack of memory, while {quoted(names, 1)} filled it"
    else:
        stopped = " and was paused" if paused and len(workers) == 1 else " and were paused" if paused else ""
        title = f"{who} came to {words.share(most)} of the memory limit with {quoted(names, 1)}{stopped}"
    yield Finding(
        code="memory-pressure",
        severity="critical" if kills or share >= limits["memory-pressure.paused"] else "warning",
        title=title,
        tasks=names,
        workers=workers[:10],
        start=facts.since(min(moments)),
        stop=facts.since(min(max(moments), facts.stop)),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread(seconds),
        is_risk=True,
        evidence=(
            Fact("workers killed for their memory", len(kills), "count"),
            Fact("workers paused", len(paused), "count"),
            Fact("thread time paused", share, "share", limits["memory-pressure.paused"]),
            Fact("most of a limit in use", most, "share", limits["memory-pressure.near"]),
        ),
        why=(
            "Unless it is configured otherwise, a worker takes no new tasks beyond 80 % of its limit until "
            "memory is free again, and its nanny kills it beyond 95 %, with its results and running tasks. "
            "What fills it are results, what "
            f"functions need while they run, and memory that was not given back to the system. {cause}"
        ).strip(),
        advice=advice,
        url=MEMORY_PRESSURE.url,
    )


def _explained(
    workers: tuple[str, ...], kills: list[Kill], peaks: dict[str, _Peak]
) -> dict[str, tuple[float, float]]:
    """The moment and the bytes to be explained, for each worker."""
    found = {worker: (peaks[worker].when, peaks[worker].added) for worker in workers if worker in peaks}
    return found | {kill.worker: (kill.when, kill.memory) for kill in kills}


def peaks_of(facts: Facts) -> dict[str, _Peak]:
    """The most memory of each worker that has a limit."""
    worker, time, memory = process_memory(facts.read).between(facts.start, facts.stop)
    found = {}
    for name, rows in split(worker, np.arange(len(memory))).items():
        limit = facts.workers.get(name, {}).get("memory_limit", math.nan)
        if limit > 0:
            row = rows[np.argmax(memory[rows])]
            added = float(memory[row] - memory[rows].min())
            found[name] = _Peak(float(memory[row]) / limit, float(time[row]), added)
    return found


MEMORY_PRESSURE = Rule(
    code="memory-pressure",
    says="Workers came near their memory limit, were paused there, or were killed.",
    formula=(
        "A nanny's kill, a paused worker, or a process with `memory-pressure.near` of its memory limit. "
        "Critical with a kill, or when `memory-pressure.paused` of the thread time was paused while tasks "
        "waited for a thread."
    ),
    cost="(Paused thread-seconds, and work that went with killed workers) / threads.",
    url="https://distributed.dask.org/en/stable/worker-memory.html",
    advice="Smaller chunks, fewer threads a worker, more memory; release what is no longer needed.",
    find=_memory_pressure,
)
