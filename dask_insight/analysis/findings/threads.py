"""Threads that were given a task and did not compute: they waited for the interpreter's lock."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .rule import Rule
from .thresholds import Limits


def blocked_share(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
    """Share of each worker's time without a CPU in which no task waited for one; where it is known."""
    waiting = facts.by_worker(facts.is_part("off-cpu"))
    share, known = np.ones(len(waiting)), np.zeros(len(waiting), bool)
    for each in facts.held:
        known[each.code] = np.isfinite(each.starved)
        starved = each.waits * each.seconds
        share[each.code] = max(0.0, 1 - starved / max(float(waiting[each.code]), 1e-12))
    return share, known


def _gil_contention(facts: Facts, limits: Limits) -> Iterator[Finding]:
    off = facts.is_part("off-cpu")
    waiting, computing = facts.by_worker(off), facts.by_worker(off | facts.is_part("cpu"))
    blocked, _ = blocked_share(facts)
    mine = [
        each
        for each in facts.held
        if computing[each.code] > 0
        and each.contended(limits)
        and waiting[each.code] * blocked[each.code] >= limits["gil-contention.share"] * computing[each.code]
    ]
    if not mine:
        return
    for each in mine:
        if each.sure and waiting[each.code] > 0:
            # One thread has the lock, and runs or waits for a CPU. Others that wait for a CPU, too, as they
            # look for the lock again and again, would have to wait for the lock anyway.
            waits = min(each.waits, max(0.0, 1.0 - each.cores)) * each.seconds
            blocked[each.code] = 1 - waits / float(waiting[each.code])
    codes = np.array([each.code for each in mine])
    worker = facts.lanes.worker[facts.pieces.lane]
    there = off & np.isin(worker, codes)
    lost = float((facts.seconds * blocked[worker])[there].sum())
    names = facts.worst(facts.by_name(there), facts.names)
    share = lost / max(float(computing[codes].sum()), 1e-12)
    at_once = float(np.average([each.in_process for each in mine], weights=[each.seconds for each in mine]))
    told = max(mine, key=lambda each: each.seconds)
    gauge = (
        Fact(
            "time in which a thread waited for the lock", told.lock, "share", limits["gil-contention.waiting"]
        )
        if np.isfinite(told.lock)
        else Fact("delay of a thread that asks for the lock", told.late, "s", limits["gil-contention.late"])
    )
    threads = max(round(sum(facts.threads_of(each.name) for each in mine)), 2)
    yield Finding(
        code="gil-contention",
        title=f"`{names[0]}` waited for the interpreter's lock in {words.share(share)} of its time",
        tasks=names,
        workers=tuple(each.name for each in mine),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread(lost),
        evidence=(
            Fact("share of the tasks' time without a CPU", share, "share", limits["gil-contention.share"]),
            Fact("tasks at once in one process", at_once, "", limits["gil-contention.at-once"]),
            gauge,
        ),
        why=(
            f"{at_once:.2g} tasks ran at once in each process, of which Python lets one at a time run its "
            "code: "
            f"{words.listing(f'`{name}`' for name in names[:3])} had no CPU for {words.duration(lost)} of "
            "thread time."
        ),
        advice=(
            "Use more processes with fewer threads each, or functions that release the lock (NumPy, pandas "
            "on Arrow "
            "strings, compiled code) in place of loops in Python.\n\n"
            f"{one_thread_each(facts, threads)}"
        ),
        url=GIL_CONTENTION.url,
    )


def one_thread_each(facts: Facts, threads: int) -> str:
    """Code for so many processes of one thread in place of threads."""
    if facts.all_local:
        return f"    x.compute(scheduler='processes', num_workers={threads})"
    return (
        f"    cluster = LocalCluster(n_workers={threads}, threads_per_worker=1)\n"
        f"    # dask worker ADDRESS --nworkers {threads} --nthreads 1"
    )


GIL_CONTENTION = Rule(
    code="gil-contention",
    says="Tasks of one process waited for one another's hold on the interpreter's lock.",
    formula=(
        "Workers in whose process `gil-contention.at-once` tasks or more ran at once, whose tasks were "
        "without a CPU for `gil-contention.share` of their time, and where a thread that asks for the lock "
        "(our sampler's) waited `gil-contention.late` or more on average, its waits for a CPU left out; with "
        "gilknocker, its measure `gil-contention.waiting` instead."
    ),
    cost=(
        "Time of their tasks without a CPU, less what the one thread that had the lock waited for it, over "
        "all threads: in processes of their own they would not have waited."
    ),
    url="https://docs.dask.org/en/stable/best-practices.html#processes-threads-and-vm-sizes",
    advice="More processes with fewer threads each, or functions that release the lock.",
    find=_gil_contention,
)
