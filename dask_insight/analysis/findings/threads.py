"""Threads that were given a task and did not compute: they waited for I/O, or for the interpreter's lock."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...timeline import Moments
from .facts import Facts
from .finding import Fact, Finding
from .loops import blocked as late
from .rule import Rule
from .thresholds import Limits

#: Use of a GPU from which its worker's threads are taken to wait for it, per cent.
_GPU = 20.0
#: Seconds from which an event loop that comes late stood still.
_STILL = 0.25


def _blocked(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
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
    blocked, _ = _blocked(facts)
    mine = [
        each
        for each in facts.held
        if each.contended(limits)
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
            f"    cluster = LocalCluster(n_workers={threads}, threads_per_worker=1)\n"
            f"    # dask worker ADDRESS --nworkers {threads} --nthreads 1"
        ),
        url=GIL_CONTENTION.url,
    )


def _late(facts: Facts, worker: np.ndarray) -> np.ndarray:
    """Share of each piece in which its worker's event loop stood still: a task may have run there; 0 to 1."""
    share = np.zeros(len(worker))
    loops = late(facts, _STILL)
    for code, name in enumerate(facts.lanes.workers):
        if name in loops:
            mine = np.flatnonzero(worker == code)
            inside = loops[name].within(facts.pieces.start[mine], facts.pieces.stop[mine])
            length = facts.lasting[mine]
            share[mine] = np.divide(inside, length, out=np.zeros(len(mine)), where=length > 0)
    return share


def _io_wait(facts: Facts, limits: Limits) -> Iterator[Finding]:
    off, cpu = facts.is_part("off-cpu"), facts.is_part("cpu")
    blocked, told = _blocked(facts)
    for each in facts.held:
        # The wait for the lock, for a GPU or for tasks that a task started is no wait for data.
        if each.contended(limits) or each.seceded or each.gpu >= _GPU:
            blocked[each.code] = 0.0
    worker = facts.lanes.worker[facts.pieces.lane]
    waited = np.where(off, facts.seconds * blocked[worker], 0.0) * (1 - _late(facts, worker))
    known = facts.of_piece >= 0
    by_name = np.bincount(facts.of_piece[known], waited[known], len(facts.names))
    computing = facts.by_name(off | cpu)
    sure = facts.by_name((off | cpu) & told[worker]) >= 0.5 * computing
    share = np.divide(by_name, computing, out=np.zeros(len(by_name)), where=computing > 0)
    enough = np.where(sure, limits["io-wait.share"], limits["io-wait.share-unsure"])
    many = np.where(share >= enough, by_name, 0.0)
    total = float(many.sum())
    if total < limits["io-wait.time"] * facts.offered:
        return
    names = facts.worst(many, facts.names)
    code = facts.names.index(names[0])
    mine = np.isin(facts.of_piece, np.flatnonzero(many)) & off
    # More threads help only while tasks wait for one.
    attempts = facts.attempts
    backlog = Moments.of(
        attempts.ready, np.where(attempts.executing - attempts.ready > 0.01, attempts.executing, 0)
    )
    inside = backlog.within(facts.pieces.start[mine], facts.pieces.stop[mine])
    part = np.divide(inside, facts.lasting[mine], out=np.zeros(len(inside)), where=facts.lasting[mine] > 0)
    waited_for = float((waited[mine] * part).sum())
    threads = round(facts.threads)
    yield Finding(
        code="io-wait",
        title=f"`{names[0]}` waited without a CPU for {words.share(float(share[code]))} of its time",
        tasks=names,
        cost_thread_seconds=total,
        cost_seconds=facts.spread(waited_for) / 2,
        evidence=(
            Fact("share of its time without a CPU", float(share[code]), "share", float(enough[code])),
            Fact("time without a CPU", total, "s"),
            Fact("of it, while other tasks waited for a thread", waited_for, "s"),
            Fact("threads", facts.threads, ""),
        ),
        why=(
            f"{words.listing(f'`{name}`' for name in names[:3])} held threads for {words.duration(total)} "
            "without computing: "
            "reading, writing, asking a service or sleeping. Neither other tasks nor the interpreter's lock "
            "kept them from a CPU."
        ),
        advice=(
            f"Let more of them wait at once: more threads a worker, here {2 * threads:,} or more in place of "
            f"{threads:,}; "
            "larger requests; or async functions, which hold no thread while they wait.\n\n"
            "    cluster = "
            f"LocalCluster(threads_per_worker={max(2, 2 * threads // max(1, len(facts.held)))})\n"
            f"    async def {names[0] if names[0].isidentifier() else 'request'}(url): ...   # client.map "
            "takes it as it is"
        ),
        url=IO_WAIT.url,
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
IO_WAIT = Rule(
    code="io-wait",
    says="Tasks held threads while they waited for files, the network or time to pass.",
    formula=(
        "Task names that were without a CPU for `io-wait.share` of their time (`io-wait.share-unsure` where "
        "the "
        "recording does not tell how long threads waited for a CPU), together `io-wait.time` of all thread "
        "time; "
        "without waits for a CPU, the interpreter's lock or a GPU."
    ),
    cost=(
        "Half of that time while other tasks waited for a thread, over all "
        "threads: what twice the threads would save."
    ),
    url="https://distributed.dask.org/en/stable/fine-performance-metrics.html",
    advice="More threads a worker, larger requests, or async functions.",
    find=_io_wait,
)
