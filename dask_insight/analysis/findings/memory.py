"""Memory that runs out: workers near their limit, paused, or killed by their nanny."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ... import words
from ...schema import NOTHING
from ...tables.facts import recorded
from ...timeline import Moments, cluster_of, process_memory
from .facts import Facts, is_any
from .finding import Fact, Finding
from .growth import growing
from .held import Filling, Results, filling
from .large_graph import SCATTER, carrying
from .losses import Kill, deaths_of, kills_of, losses_of, lost_seconds, lost_work
from .names import own_workers, quoted, split
from .p2p import began_anew
from .piled_up import Reason, joined, piled_up
from .rule import Rule
from .spill import APART, OWN_PROCESS
from .suspects import EQUAL_PARTS, Suspects, suspects
from .thresholds import Limits

#: Share of the thread time paused from which that is what a title tells.
_FELT = 0.01
#: Seconds of that after which workers are stuck.
_STUCK = 20.0
#: Seconds that a program takes to end its workers.
_ENDS = 5.0
#: Share of what a full worker used up to which the others, by their median, had room.
_ROOM = 0.5


_ADVICE = (
    "Have less in memory at a time: smaller chunks, fewer threads to a worker, or workers with more "
    "memory; drop what you do not need any more (`del future`), and reduce before you persist.\n\n"
    "    x = x.rechunk('64MB'); df = df.repartition(partition_size='64MB')\n"
    "    LocalCluster(n_workers=2, threads_per_worker=1, memory_limit='8GB')"
)
_WHY = (
    "Unless it is configured otherwise, a worker takes no new tasks beyond 80 % of its limit until "
    "memory is free again, and its nanny kills it beyond 95 %, with its results and running tasks. "
    "What fills it are results, what functions need while they run, and memory that was not given back to "
    "the system."
)
_LEAK = Reason(
    "Here much of it is memory that grew, is no result and was never given back.",
    "Find what keeps memory first, see `unmanaged-growth`: with smaller chunks it only takes longer to fill.",
)
_CARRIED = (
    "carry data in their graph: a worker holds them for each such task that it has been given, packed and, "
    "from when it runs, unpacked as well; see `large-graph`."
)
_MERGED = Reason(
    "Before P2P rechunks, Dask puts small chunks together, up to `array.chunk-size` or the largest of them.",
    "Have less put together before P2P rechunks:\n\n"
    "    dask.config.set({'array.chunk-size': '32MiB'})   # where x.rechunk() is called",
)
_UNEVENLY = (
    "There was room elsewhere: data lie unevenly. Results stay where they were made, be it for `workers=`, "
    "or because all of a heavy key come to one task."
)
_SPREAD = (
    "Spread the results: let Dask choose where they are made, split what all has one key, or move them.\n\n"
    "    futures = client.map(function, items)   # without workers=\n"
    "    client.rebalance(futures)               # results that lie on one worker"
)


class _Peak(NamedTuple):
    """The most memory that a worker's process had: share of its limit, when, bytes, bytes above the first."""

    share: float
    when: float
    nbytes: float
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
    paused_seconds = facts.spent("paused")
    share = paused_seconds / facts.offered if facts.offered > 0 else 0.0
    seconds = paused_seconds + lost_work(facts, losses)
    most = max((peaks[worker].share for worker in workers if worker in peaks), default=math.nan)
    moments = [kill.when for kill in kills] + [peaks[worker].when for worker in near]
    for at in paused.values():
        moments += [min(float(each), facts.stop) for each in (*at.start, *at.stop)]
    who = words.count(len(workers), "worker")
    filled, reasons = _filled(facts, limits, workers, kills, peaks)
    reasons[:0] = _stuck(facts, paused)
    names = tuple(dict.fromkeys((*suspected.names, *filled.names)))
    said = quoted(names, 1) if suspected.names else filled.said
    reasons.append(Reason(suspected.why, EQUAL_PARTS if suspected.uneven else ""))
    if any(name.startswith("rechunk-merge") and name.endswith("rechunk-transfer") for name in names):
        reasons.append(_MERGED)
    if losses:
        reasons.append(Reason(began_anew(facts, ended), ""))
    usual = _usual(facts, peaks, workers, min(moments))
    if usual < _ROOM * most and filled.is_results:
        reasons.append(Reason(_UNEVENLY, _SPREAD))
    advice = _ADVICE
    if not filled.is_results and not own_workers(facts).isdisjoint(workers):
        reasons.append(Reason(OWN_PROCESS, ""))
        advice += APART
    why, advice = joined(_WHY, reasons, advice)
    if kills:
        times = words.count(len(kills), "time")
        title = f"Nannies killed workers for their memory, {times}, with {said}"
    elif share >= _FELT:
        stood = words.duration(paused_seconds)
        title = f"Dask paused {who} for lack of memory, for {stood} of thread time; {said} filled it"
    elif math.isnan(most):
        title = f"Dask paused {who} for lack of memory, while {said} filled it"
    else:
        stopped = " and was paused" if paused and len(workers) == 1 else " and were paused" if paused else ""
        title = f"{who} came to {words.share(most)} of the memory limit with {said}{stopped}"
    yield Finding(
        code="memory-pressure",
        severity="critical" if kills or share >= limits["memory-pressure.paused"] else "warning",
        title=title,
        tasks=names,
        workers=workers[:10],
        start=facts.since(min(moments)),
        stop=facts.since(min(max(moments), facts.stop)),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread_pieces(facts.pieces("paused")) + lost_seconds(facts, losses),
        is_risk=True,
        evidence=(
            Fact("workers killed for their memory", len(kills), "count"),
            Fact("workers paused", len(paused), "count"),
            Fact("thread time paused", share, "share", limits["memory-pressure.paused"]),
            Fact("most of a limit in use", most, "share", limits["memory-pressure.near"]),
            *([] if math.isnan(usual) else [Fact("usual peak of the others", usual, "share")]),
        ),
        why=why,
        advice=advice,
        url=MEMORY_PRESSURE.url,
    )


def _stuck(facts: Facts, paused: Mapping[str, Moments]) -> Iterator[Reason]:
    """That all workers are paused at the end, and nothing has run for long, with work left.

    Who gives up at the end cancels that, and ends the workers.
    """
    # Of a part nobody knows what came of it; of several clusters, whose work is left.
    if facts.part[1] < np.inf or len({*map(cluster_of(facts.read), facts.workers)}) != 1:
        return
    end, known, graph = recorded(facts.read)[1], facts.attempts, facts.read("graph")
    there = [name for name in facts.workers if facts.left(name) > end - _ENDS]
    if not there or not all(name in paused and paused[name].stop[-1] > end - _ENDS for name in there):
        return
    over = known.ok | is_any(known.status, ("erred",))
    over |= is_any(known.status, ("cancelled",)) & (known.done <= end - _STUCK)
    left = ((graph["submission"] != NOTHING) | (graph["order"] != NOTHING)) & is_any(graph["state"], ("",))
    if not (left & ~np.isin(graph["task"], known.task[over])).any():
        return
    # What runs goes on while its worker is paused.
    ended = np.nan_to_num(known.at("ended", np.flatnonzero(known.ran)), nan=np.inf).max(initial=facts.start)
    since = max(float(ended), *(float(paused[name].start[-1]) for name in there))
    stood = min(end, max(map(facts.left, there))) - since
    if stood >= _STUCK:
        yield Reason(
            f"For the last {words.duration(stood)} all workers were paused and no task ended: nothing is "
            "left to run that would free their memory.",
            "What is stuck so does not go on of itself. Cancel what waits and let go of results, or begin "
            "anew:\n\n"
            "    client.cancel(futures)\n"
            "    client.restart()   # all results are lost",
        )


def _filled(
    facts: Facts, limits: Limits, workers: tuple[str, ...], kills: list[Kill], peaks: dict[str, _Peak]
) -> tuple[Filling, list[Reason]]:
    """What filled the memory of workers, and why there was so much of it."""
    there = {worker: peaks[worker] for worker in workers if worker in peaks}
    there |= {kill.worker: _Peak(math.nan, kill.when, kill.memory, kill.memory) for kill in kills}
    results = Results(facts)
    filled = filling(facts, results, {worker: (peak.when, peak.added) for worker, peak in there.items()})
    moments = {worker: peak.when for worker, peak in there.items()}
    memory = sum(peak.nbytes for peak in there.values())
    names = filled.names if filled.is_results else ()
    reasons = [*piled_up(facts, results, moments, memory, names)]
    theirs = () if filled.is_results else carrying(facts, limits)
    if carried := tuple(name for name in filled.names if name in theirs):
        reasons.append(Reason(f"Tasks of {quoted(carried)} {_CARRIED}", SCATTER))
    return filled, reasons + [_LEAK] * (not growing(facts, limits).keys().isdisjoint(workers))


def _usual(facts: Facts, peaks: dict[str, _Peak], workers: tuple[str, ...], when: float) -> float:
    """Median share of their limits to which all but some workers came that were there at a moment; or NaN."""
    others = [name for name in peaks if name not in workers and facts.left(name) > when]
    # Those that took the place of a killed one have hardly begun.
    there = [peaks[name].share for name in others if not facts.workers[name]["joined"] > when]
    return float(np.median(there or [math.nan]))


def peaks_of(facts: Facts) -> dict[str, _Peak]:
    """The most memory of each worker that has a limit."""
    worker, time, memory = process_memory(facts.read).between(facts.start, facts.stop)
    found = {}
    for name, rows in split(worker, np.arange(len(memory))).items():
        limit = facts.workers.get(name, {}).get("memory_limit", math.nan)
        if limit > 0:
            row = rows[np.argmax(memory[rows])]
            added = float(memory[row] - memory[rows].min())
            nbytes = float(memory[row])
            found[name] = _Peak(nbytes / limit, float(time[row]), nbytes, added)
    return found


MEMORY_PRESSURE = Rule(
    code="memory-pressure",
    says="Workers came near their memory limit, were paused there, or were killed.",
    formula=(
        "A nanny's kill, a paused worker, or a process with `memory-pressure.near` of its memory limit. "
        "Critical with a kill, or when `memory-pressure.paused` of the thread time was paused while tasks "
        "waited for a thread. Named are the results that were there, of those of a GPU what its devices did "
        "not hold, where they explain half of it, else what ran, by the memory that it is known to need; "
        "before them what is suspected of a worker's death. It also says when results, a quarter of the "
        "memory or more, were there after their last use; when tasks of one name, more than two for each "
        "thread, were not queued; when others that were there then, by their median, came to less than half "
        "of what the full ones did; when tasks carry data in their graph (see `large-graph`), or those that "
        "workers died with have inputs of a quarter of a thread's memory or more; when P2P began anew; and "
        "when all workers are paused and nothing has run "
        f"for {words.duration(_STUCK)}."
    ),
    cost="(Paused thread-seconds, and work that went with killed workers) / threads.",
    url="https://distributed.dask.org/en/stable/worker-memory.html",
    advice="Smaller chunks, fewer threads a worker, more memory; release what is no longer needed.",
    find=_memory_pressure,
)
