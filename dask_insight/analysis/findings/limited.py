"""Limits on CPU time, as containers have, that kept tasks or the scheduler from running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .rule import Rule
from .samples import Samples
from .threads_held import Held
from .thresholds import Limits

_SCHEDULER = "scheduler"


def _cpu_limit(facts: Facts, limits: Limits) -> Iterator[Finding]:
    least = limits["cpu-limit.periods"]
    mine = [each for each in facts.held if each.throttled >= least and each.limit > 0]
    if mine:
        yield _of_workers(facts, mine, least)
    elif (scheduler := _of_scheduler(facts, least)) is not None:
        yield scheduler


def _of_workers(facts: Facts, mine: Sequence[Held], least: float) -> Finding:
    waiting = facts.by_worker(facts.pieces("off-cpu"))
    stopped = np.array([np.minimum(each.stopped, waiting[each.code]) for each in mine])
    # What nothing tells of makes it a risk.
    lost = float(np.nansum(stopped)) if np.isfinite(stopped).any() else np.nan
    told = mine[int(np.nan_to_num(stopped).argmax())]
    threads = _beside(facts, told)
    allowed, share = words.about(told.limit, "core"), words.share(told.throttled)
    lasted = f", {words.duration(lost)} of thread time in all" if lost > 0 else ""
    return Finding(
        code="cpu-limit",
        title=f"A limit of {allowed} stopped workers in {share} of its periods",
        workers=facts.worst(np.array([each.throttled for each in mine]), [each.name for each in mine]),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread(lost) if lost >= 0 else np.nan,
        evidence=(
            Fact("cores allowed", told.limit),
            Fact("periods in which they were used up", told.throttled, "share", least),
            Fact("threads for tasks that share it", threads, "count"),
            *([Fact("waits for a CPU in these periods", lost, "s")] if lost > 0 else []),
        ),
        why=(
            f"What the processes of a worker's container or job may use of the CPUs together, {allowed}, was "
            f"used up before the end of {share} of the periods for which the system enforces the limit, and "
            f"nothing of them ran until the next{lasted}: tasks, heartbeats and transfers stood still, "
            "while the host may have had cores to spare."
        ),
        advice=(
            "Ask for as many CPUs as workers have threads, or have as many threads as CPUs; and let "
            "libraries (BLAS, OpenMP) have one thread in each task.\n\n"
            f"{_as_many(facts, threads, max(1, int(told.limit)))}"
        ),
        url=CPU_LIMIT.url,
    )


def _of_scheduler(facts: Facts, least: float) -> Finding | None:
    """What a limit of the scheduler's costs shows in what waited for it, which other rules tell."""
    share = facts.throttled.get(_SCHEDULER, 0.0)
    if share < least:
        return None
    limit = Samples(facts.read("resources")).of(_SCHEDULER)["cpu_limit"]
    cores = float(np.nanmax(limit, initial=0.0))
    allowed = words.about(cores, "core")
    return Finding(
        code="cpu-limit",
        title=f"A limit of {allowed} stopped the scheduler in {words.share(share)} of its periods",
        is_risk=True,
        evidence=(
            Fact("cores allowed", cores),
            Fact("periods in which they were used up", share, "share", least),
        ),
        why=(
            f"The processes of its container or job used up what they may have of the CPUs, {allowed}, "
            "and nothing of them ran until the next period. Meanwhile no task was handed out, and no worker "
            "got an answer."
        ),
        advice=(
            "Give the scheduler a CPU of its own, and a limit above that, or none: it uses one core, and "
            "for moments more.\n\n"
            "    KubeCluster(resources={'requests': {'cpu': '1'}, 'limits': {'cpu': '2'}})"
        ),
        url=CPU_LIMIT.url,
    )


def _beside(facts: Facts, told: Held) -> int:
    """Threads for tasks that share a worker's limit, the most at once: those that share its cores."""
    place = facts.places.get(told.name)
    beside = [told] if place is None else facts.held_at[place]
    return round(facts.most_threads(each.name for each in beside if np.isclose(each.limit, told.limit)))


def _as_many(facts: Facts, threads: int, cores: int) -> str:
    """Code for as many CPUs as threads."""
    if facts.all_local:
        return f"    x.compute(num_workers={cores})"
    return (
        f"    KubeCluster(resources={{'limits': {{'cpu': '{threads}'}}}})\n"
        f"    # or, with the CPUs there are: dask worker ADDRESS --nworkers 1 --nthreads {cores}"
    )


CPU_LIMIT = Rule(
    code="cpu-limit",
    says="A limit on CPU time, as containers have, kept workers or the scheduler from running.",
    formula=(
        "Workers whose control group (of Linux) had used up its CPU time before the end of "
        "`cpu-limit.periods` of its periods while tasks ran; where there are none, the scheduler, likewise."
    ),
    cost=(
        "What their tasks waited for a CPU, each sample's waits by the share of its periods in which the "
        "limit was reached, over all threads. A risk of the scheduler, and where nothing tells of waits."
    ),
    url="https://docs.kernel.org/scheduler/sched-bwc.html",
    advice="As many CPUs as threads.",
    find=_cpu_limit,
)
