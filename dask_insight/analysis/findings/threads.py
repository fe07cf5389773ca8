"""Threads that were given a task and did not compute: they waited for the interpreter's lock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...tables.cores import Place
from .facts import Facts
from .finding import Fact, Finding
from .names import own_workers, quoted
from .rule import Rule
from .shapes import Pieces
from .threads_held import Held, process_of
from .thresholds import Limits
from .whereabouts import whereabouts_of


def blocked_share(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
    """Share of each worker's time without a CPU in which no task waited for one; where it is known."""
    waiting = facts.by_worker(facts.pieces("off-cpu"))
    share, known = np.ones(len(waiting)), np.zeros(len(waiting), bool)
    for each in facts.held:
        known[each.code] = np.isfinite(each.starved)
        starved = each.waits * each.seconds
        share[each.code] = max(0.0, 1 - starved / max(float(waiting[each.code]), 1e-12))
    return share, known


class Lock(NamedTuple):
    """Waits for the interpreter's lock."""

    #: Workers whose tasks waited for it.
    workers: list[Held]
    #: Thread-seconds of each piece of `Facts.off_cpu`; and of these workers' tasks that computed, with or
    #: without a CPU.
    waited: np.ndarray
    computing: float


def lock(facts: Facts, limits: Limits) -> Lock:
    """Who waited for the interpreter's lock, and for how long at most.

    Only who has the lock now and then waits for it: a task that sleeps, reads or waits for a program has next
    to no CPU beside those that compute.
    """
    off = facts.off_cpu
    waited = np.zeros(len(off.lane))
    mine = [each for each in facts.held if each.contended(limits)]
    if not mine:
        return Lock([], waited, 0.0)
    blocked, _ = blocked_share(facts)
    there = np.isin(facts.lanes.worker, np.array([each.code for each in mine], "i8"))
    names = np.append(_computes(facts, limits, mine, there, blocked), False)

    def wanting(pieces: Pieces) -> np.ndarray:
        mask: np.ndarray = there[pieces.lane] & names[facts.name_of(pieces)]
        return mask

    waiting, computing = (
        facts.by_worker(each.take(np.flatnonzero(wanting(each))) for each in facts.pieces(part))
        for part in ("off-cpu", "cpu")
    )
    busy = waiting + computing
    seconds_of, wants = facts.seconds(off), wanting(off)
    worker = facts.lanes.worker[off.lane]
    found, total = [], 0.0
    for each in mine:
        seconds, all_of = float(waiting[each.code]), float(busy[each.code])
        least = limits["gil-contention.share"] * all_of
        share = _share(each, seconds, float(blocked[each.code]), least) if seconds > 0 else 0.0
        if share > 0 and share * seconds >= least:
            its = wants & (worker == each.code)
            waited[its] = seconds_of[its] * share
            found.append(each)
            total += all_of
    return Lock(found, waited, total)


def _share(each: Held, seconds: float, blocked: float, least: float) -> float:
    """Share of the seconds without a CPU in which a worker's tasks waited for the lock; 0 to 1.

    `blocked` is the share in which they did not wait for a CPU. Where nothing else is known, that must be
    `least` seconds or more.
    """
    most = each.waited * each.seconds
    if not each.sure:
        return float(np.fmin(blocked, most / seconds))
    # One thread has the lock, and runs or waits for a CPU. Others that wait for a CPU, too, as they look for
    # the lock again and again, would have to wait for the lock anyway. Workers of one process take turns.
    starved, turn = each.waits * each.seconds, each.at_once / max(each.process.at_once, 1e-9)
    kept = min(starved, max(0.0, 1.0 - each.cores) * each.seconds * turn)
    if np.isnan(most):
        return 1 - kept / seconds if seconds * blocked >= least else 0.0
    return min(1 - kept / seconds, (most + starved - kept) / seconds)


def _computes(
    facts: Facts, limits: Limits, mine: list[Held], there: np.ndarray, blocked: np.ndarray
) -> np.ndarray:
    """Which task names have the lock now and then, and no CPU for long, by code; `there` says which lanes."""
    cpu = facts.by_name(each.take(np.flatnonzero(there[each.lane])) for each in facts.pieces("cpu"))
    share = np.where(there, blocked[facts.lanes.worker], 0.0)
    off = facts.summed(facts.off_cpu, facts.seconds(facts.off_cpu) * share[facts.off_cpu.lane])
    least = limits["gil-contention.computes"] / _at_once(mine)
    mask: np.ndarray = (cpu >= least * (cpu + off)) & (off >= limits["gil-contention.share"] * (cpu + off))
    return mask & (cpu > 0)


def _at_once(held: list[Held]) -> float:
    """Tasks at once in a process of these workers, on average."""
    return float(np.average([each.process.at_once for each in held], weights=[each.seconds for each in held]))


def _gil_contention(facts: Facts, limits: Limits) -> Iterator[Finding]:
    mine, waited, computing = lock(facts, limits)
    if not mine:
        return
    lost, off = float(waited.sum()), facts.off_cpu
    names = facts.worst(facts.summed(off, waited), facts.names)
    share = lost / max(computing, 1e-12)
    at_once = _at_once(mine)
    told = max(mine, key=lambda each: each.seconds)
    gauge = (
        Fact(
            "time in which a thread waited for the lock", told.lock, "share", limits["gil-contention.waiting"]
        )
        if np.isfinite(told.lock)
        else Fact("delay of a thread that asks for the lock", told.late, "s", limits["gil-contention.late"])
    )
    where = whereabouts_of(facts, names[0])
    yield Finding(
        code="gil-contention",
        title=(
            f"{quoted(names)} waited for the interpreter's lock in {words.share(share)} of "
            f"{'its' if len(names) == 1 else 'their'} time"
        ),
        tasks=names,
        workers=tuple(each.name for each in mine),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread_over(waited, off.start, off.stop),
        evidence=(
            Fact("share of the tasks' time without a CPU", share, "share", limits["gil-contention.share"]),
            Fact("tasks at once in one process", at_once, "", limits["gil-contention.at-once"]),
            gauge,
        ),
        why=(
            f"{words.about(at_once, 'task')} ran at once in each process, of which Python lets one at a time "
            "run its code: "
            f"{quoted(names, 3)} had no CPU for {words.duration(lost)} of thread time."
            f"{where.said(f'the time of `{names[0]}`')}"
        ),
        advice=_apart(facts, mine),
        url=GIL_CONTENTION.url,
    )


def _apart(facts: Facts, mine: list[Held]) -> str:
    """Advice to workers whose threads wait for the lock of their process."""
    names = [each.name for each in mine]
    by_host = [_fitting(*each) for each in _threads_at(facts, names).items()]
    processes = min(sum(by_host), max(2, round(facts.most_threads(names))))
    if processes == 1:
        return f"Use {_RELEASING}; processes would take turns on the one core there is."
    if processes > len({process_of(facts, name) for name in names}):
        use = "more processes with fewer threads each"
    else:
        use = "processes of one thread each, no more than there are cores"
    return f"Use {use}, or {_RELEASING}.\n\n{_one_thread_each(facts, processes, by_host)}"


_RELEASING = (
    "functions that release the lock (NumPy, pandas on Arrow strings, compiled code) in place of loops in "
    "Python"
)


def one_thread_each(facts: Facts) -> str:
    """Code for as many processes of one thread as there are threads."""
    there = _threads_at(facts, [each.name for each in facts.held])
    return _one_thread_each(facts, round(facts.threads), list(there.values()))


def _threads_at(facts: Facts, workers: Iterable[str]) -> dict[Place | str, int]:
    """The most threads that some workers had at once, by where they have their cores, or else by host."""
    at: dict[Place | str, list[str]] = {}
    for name in workers:
        at.setdefault(facts.places.get(name) or facts.workers.get(name, {}).get("host", ""), []).append(name)
    return {place: max(1, round(facts.most_threads(names))) for place, names in at.items()}


def _fitting(at: Place | str, threads: int) -> int:
    """Processes of one thread for there: more than cores would wait for these, see `oversubscribed`."""
    threads = max(threads, 2)
    return min(threads, at.cores) if isinstance(at, Place) else threads


def _one_thread_each(facts: Facts, processes: int, by_host: list[int]) -> str:
    """Code for so many processes of one thread, and on each host, in place of threads."""
    if facts.all_local:
        return f"    x.compute(scheduler='processes', num_workers={processes}, chunksize=1)"
    apart = ", processes=True" if _in_one_process(facts) else ""
    where = "   # on each host" if len(by_host) > 1 else ""
    where += ", but no more than it has cores" if len({*by_host}) > 1 else ""
    return (
        f"    cluster = LocalCluster(n_workers={processes}, threads_per_worker=1{apart})\n"
        f"    # dask worker ADDRESS --nworkers {max(by_host, default=processes)} --nthreads 1{where}"
    )


def _in_one_process(facts: Facts) -> bool:
    """Whether workers share a process, with the client or with one another."""
    processes = {process_of(facts, each.name) for each in facts.held}
    return bool(own_workers(facts)) or len(processes) < len(facts.held)


GIL_CONTENTION = Rule(
    code="gil-contention",
    says="Tasks of one process waited for one another's hold on the interpreter's lock.",
    formula=(
        "Workers in whose process `gil-contention.at-once` tasks or more ran at once, task names there that "
        "were without a CPU for `gil-contention.share` of their time, and where a thread that asks for the "
        "lock (our sampler's) waited `gil-contention.late` or more on average, its waits for a CPU left "
        "out; on Linux each second counts by how much threads may have waited for the lock in it. With "
        "gilknocker, its measure `gil-contention.waiting` instead. Task names with less CPU than "
        "`gil-contention.computes` of an equal share of one core do not want the lock, and are left out."
    ),
    cost=(
        "Time of their tasks without a CPU, less what the one thread that had the lock waited for it, over "
        "all threads: in processes of their own they would not have waited. On Linux no more than "
        "`sys.getswitchinterval` (5 ms) each time that a thread was put on a core, for a thread that waits "
        "for the lock asks for it so often, and one that reads or sleeps does not."
    ),
    url="https://docs.dask.org/en/stable/best-practices.html#processes-threads-and-vm-sizes",
    advice="More processes with fewer threads each, or functions that release the lock.",
    find=_gil_contention,
)
