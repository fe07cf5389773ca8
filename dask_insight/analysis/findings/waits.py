"""Threads that were given a task and did not compute: they waited for I/O, or slept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import ratio
from ...timeline import whole_cores
from .asleep import Asleep, asleep
from .facts import Facts
from .finding import Fact, Finding
from .late import blocked as late
from .lines import Line, busiest
from .locked import locked, locked_by_cluster
from .names import TOGETHER, called
from .p2p import barriers, faster_shuffles
from .programs import computed, in_processes, in_programs
from .rule import Rule
from .threads import blocked_share, lock, one_thread_each
from .threads_held import Held, cores_of
from .thresholds import Limits
from .tiny import of_collection
from .whereabouts import whereabouts_of

#: Use of a GPU from which its worker's threads are taken to wait for it, per cent.
_GPU = 20.0
#: Seconds from which an event loop that comes late stood still.
_STILL = 0.25


class _Waits(NamedTuple):
    """Waits for neither a CPU, the interpreter's lock nor a GPU."""

    #: Thread-seconds of each piece of `Facts.off_cpu`.
    waited: np.ndarray
    #: By code of the task name: thread-seconds, their share of its time, and the share that is much.
    by_name: np.ndarray
    share: np.ndarray
    enough: np.ndarray
    #: Which names waited for most of their time, which of these slept for most of it, and which waited for
    #: processes or pools that they had started.
    many: np.ndarray
    slept: np.ndarray
    started: np.ndarray
    #: Of which names the recording tells for how long they waited for a core.
    sure: np.ndarray


class _Told(NamedTuple):
    """What a finding tells of some names that waited."""

    names: tuple[str, ...]
    #: Code of the first, and its share.
    code: int
    share: Fact
    #: Thread-seconds of all, and those in which other tasks waited for a thread.
    total: float
    others: float
    #: Seconds that the run would be shorter by if all threads shared these.
    cost: float


def _late(facts: Facts, worker: np.ndarray) -> np.ndarray:
    """Share of each piece of `off_cpu` in which its worker's event loop stood still; 0 to 1.

    A task may have run there.
    """
    share = np.zeros(len(worker))
    loops = late(facts, _STILL)
    for code, name in enumerate(facts.lanes.workers):
        if name in loops:
            mine = np.flatnonzero(worker == code)
            share[mine] = facts.share_within(loops[name], facts.off_cpu.take(mine))
    return share


def _waits(facts: Facts, limits: Limits, sleepers: Asleep) -> _Waits:
    blocked, told = blocked_share(facts)
    without = np.maximum(facts.by_worker(facts.pieces("off-cpu")), 1e-9)
    untold = facts.by_worker(facts.pieces("compute", "failed"))
    for each in facts.held:
        # Threads of its process may compute for it, as those of libraries do; not those of tasks that do not
        # tell their CPU time, which may have taken all of that.
        others = max(0.0, _beside(each) - untold[each.code])
        blocked[each.code] = max(0.0, blocked[each.code] - others / without[each.code])
        # The wait for the lock, for a GPU or for tasks that a task started is no wait for data.
        if each.seceded or each.gpu >= _GPU:
            blocked[each.code] = 0.0
    blocked[_crowded(facts, limits) & ~told] = 0.0
    off, lanes = facts.off_cpu, facts.lanes
    worker = lanes.worker[off.lane]
    waited = facts.seconds(off) * blocked[worker]
    waited = np.maximum(waited - lock(facts, limits).waited, 0.0) * (1 - _late(facts, worker))
    by_name = facts.summed(off, waited)
    inside = facts.pieces("off-cpu", "cpu")
    computing = facts.by_name(inside)
    there = told[lanes.worker]
    sure = sum(facts.summed(each, facts.seconds(each) * there[each.lane]) for each in inside)
    sure = sure >= 0.5 * computing
    share = ratio(by_name, computing)
    enough = np.where(sure, limits["io-wait.share"], limits["io-wait.share-unsure"])
    many = (share >= enough) & (by_name > 0)
    started = in_programs(facts) >= limits["io-wait.lock"] * share
    slept = many & (sleepers.share > 0) & (sleepers.share >= limits["sleeping.share"] * share) & ~started
    return _Waits(waited, by_name, share, enough, many, slept, many & started, sure)


def _beside(each: Held) -> float:
    """CPU seconds of a worker's process beside its tasks' threads; its part where several share it."""
    used = max(0.0, each.cores - float(np.nan_to_num(each.process.own)))
    return used * each.seconds * each.at_once / max(each.process.at_once, 1e-9)


def _crowded(facts: Facts, limits: Limits) -> np.ndarray:
    """Workers, by code, whose cores were used up by workers: what did not compute may have waited for one."""
    crowded = {
        place
        for place, held in facts.held_at.items()
        if cores_of(facts, held) >= limits["oversubscribed.use"] * place.cores
    }
    return np.array([facts.places.get(name) in crowded for name in facts.lanes.workers], bool)


def _told(facts: Facts, limits: Limits, waits: _Waits, mine: np.ndarray) -> _Told | None:
    """What is to be told of names; None if they waited for too little of all thread time."""
    seconds = np.where(mine, waits.by_name, 0.0)
    total = float(seconds.sum())
    if not mine.any() or total < limits["io-wait.time"] * facts.offered:
        return None
    names = facts.worst(seconds, facts.names)
    code = facts.names.index(names[0])
    share = Fact(
        "share of its time without a CPU", float(waits.share[code]), "share", float(waits.enough[code])
    )
    # More threads help only while tasks wait for one.
    some = np.flatnonzero(np.append(mine, False)[facts.name_of(facts.off_cpu)] & (waits.waited > 0))
    off = facts.off_cpu.take(some)
    others = waits.waited[some] * facts.share_within(facts.backlog, off)
    cost = facts.spread_over(others, off.start, off.stop)
    return _Told(names, code, share, total, float(others.sum()), cost)


def _io_wait(facts: Facts, limits: Limits) -> Iterator[Finding]:
    yield from _without_cpu(facts, limits)
    yield from barriers(facts, limits, IO_WAIT.url)


def _without_cpu(facts: Facts, limits: Limits) -> Iterator[Finding]:
    waits = _waits(facts, limits, asleep(facts))
    mine = waits.many & ~waits.slept & (facts.for_others.share < limits["held-up.share"])
    told = _told(facts, limits, waits, mine)
    if told is None:
        return
    by_name = locked(facts)
    names, in_locks, lost = told.names, float(by_name[told.code]), told.total
    started = bool(waits.started[told.code])
    in_lock = not started and in_locks >= limits["io-wait.lock"] * told.share.value
    gauge: tuple[Fact, ...] = ()
    severity = ""
    held = f"{words.listing(f'`{name}`' for name in names[:3])} held threads for {words.duration(told.total)}"
    if in_lock:
        title = f"`{names[0]}` waited for a lock in {words.share(in_locks)} of its time"
        why = f"{held} without computing, most of it until another task gave a lock back."
        shared = locked_by_cluster(facts)[told.code] >= 0.5 * in_locks
        advice = _less_locked(names[0]) if shared else _without_lock(facts, names[0])
        # Who has the lock may sleep or read: that is no wait for it.
        lost = float((waits.by_name * np.minimum(by_name / np.maximum(waits.share, 1e-9), 1.0))[mine].sum())
        cost = facts.spread(lost)
        gauge = (
            Fact("share of its samples in a lock", in_locks, "share", limits["io-wait.lock"]),
            Fact("time in locks", lost, "s"),
        )
    elif started:
        used = computed(facts)
        sure = used > 0 or in_processes(facts)[told.code] >= limits["io-wait.lock"] * told.share.value
        whom = "other processes" if sure else "a pool of threads or processes"
        # Who computes needs cores: more threads save nothing.
        waits_too = used < limits["io-wait.programs"] * told.total
        share = words.share(told.share.value)
        title = f"`{names[0]}` waited for {whom} that it had started for {share} of its time"
        why = f"{held} while {whom} worked for them. {_worked(used, waits_too)}"
        advice = _more_at_once(facts, names[0]) if waits_too else _of_processes(facts)
        cost, severity = (told.cost / 2, "") if waits_too else (0.0, "info")
        if np.isfinite(used):
            least = limits["io-wait.programs"] * told.total
            gauge = (Fact("CPU time of processes that have ended", used, "s", least),)
    elif names[0].startswith(TOGETHER):
        title = f"`{names[0]}` waited without a CPU for {words.share(told.share.value)} of its time"
        why = (
            f"{held} without computing. They are P2P's: they wait until their pieces have gone to other "
            "workers, over the network, and these have written them to disk."
        )
        advice, cost = faster_shuffles(names), told.cost / 2
    elif (line := busiest(facts, limits, names)) is not None and line.full:
        rate = f"{words.size(line.rate)}/s"
        title = f"`{names[0]}` read {rate} a host from {line.said} all the time: most likely all there is"
        why = (
            f"{held} without computing, while what a host read from {line.said} stayed the same: so it is "
            "where a line, a disk or a service gives all that it can. More threads then wait as well."
        )
        advice, cost, severity = _less_read(line), 0.0, "info"
        gauge = (line.fact(limits),)
    else:
        title = f"`{names[0]}` waited without a CPU for {words.share(told.share.value)} of its time"
        gauge = () if line is None else (line.fact(limits),)
        why = (
            f"{held} without computing: reading, writing, asking a service, or waiting for a lock that call "
            "stacks do not show. Neither other tasks that computed nor the interpreter's lock kept them from "
            f"a CPU{'.' if waits.sure[told.code] else _UNSURE}"
            f"{whereabouts_of(facts, names[0]).said(f'the time of `{names[0]}`')}"
        )
        advice, cost = _more_at_once(facts, names[0]), told.cost / 2
    yield Finding(
        code="io-wait",
        severity=severity,
        title=title,
        tasks=names,
        cost_thread_seconds=lost,
        cost_seconds=cost,
        is_risk=severity == "info",
        evidence=(
            told.share,
            *gauge,
            Fact("time without a CPU", told.total, "s"),
            Fact("of it, while other tasks waited for a thread", told.others, "s"),
            Fact("threads", facts.threads, ""),
        ),
        why=why,
        advice=advice,
        url=IO_WAIT.url,
    )


def _worked(used: float, waits_too: bool) -> str:
    """What these processes did, in words; `used` are their CPU seconds."""
    if np.isnan(used):
        return "What these did, a recording does not tell here."
    cpu = f"Those that have ended used {words.duration(used)} of CPU time"
    return (
        f"{cpu}: they waited, too." if waits_too else f"{cpu}: that is no time to be saved by more threads."
    )


def _of_processes(facts: Facts) -> str:
    cores, threads = whole_cores(facts.read("workers")), round(facts.threads)
    there = f", here {words.count(cores, 'core')} for {words.count(threads, 'thread')}" if cores else ""
    return (
        "Where they compute, let no more of them run at once than there are cores, counting the "
        f"threads and processes that each starts itself{there}. Where they wait for a service, more threads "
        "help. What they are at, the system tells:\n\n"
        "    # top   # on the worker's machine\n"
        "    cluster = LocalCluster(n_workers=1, threads_per_worker=os.cpu_count())"
    )


def _less_locked(name: str) -> str:
    return (
        "All workers share this lock: more threads or workers would wait as well. Hold it for less, with "
        "what does not need it before or after; have one for each thing that must not be shared; or a "
        "`Semaphore` with as many leases as that thing bears:\n\n"
        "    with distributed.Lock(f'write-{path}'): ...\n"
        "    database = distributed.Semaphore(max_leases=4, name='database')\n"
        f"    run.flame(prefix={name!r})   # where it waits"
    )


def _without_lock(facts: Facts, name: str) -> str:
    return (
        "More threads would wait as well. Hold the lock for less, have one for each thing that must not be "
        "shared, or none. Where a lock guards a library that is not safe with threads, as HDF5, processes of "
        f"one thread each need none:\n\n{one_thread_each(facts)}\n"
        f"    run.flame(prefix={name!r})   # where it waits"
    )


def _less_read(line: Line) -> str:
    nearer = (
        "nearer to the data, or more hosts" if line.of == "network" else "with faster disks, or more hosts"
    )
    return (
        f"Read less: only the columns and rows that are used, from compressed files; or take hosts {nearer}. "
        "Where the rate rises with more threads after all, have these.\n\n"
        "    df = dd.read_parquet(path, columns=['key', 'value'], filters=[('key', '>', 0)])\n"
        "    run.resources[['process', 'time', 'net_read', 'disk_read']]   # bytes a second, a host"
    )


def _more_at_once(facts: Facts, name: str) -> str:
    threads, workers = round(facts.threads), max(1, len(facts.held))
    more = f"here {2 * threads:,} or more in place of {threads:,}; larger requests"
    if facts.all_local:
        return (
            f"Let more of them wait at once: more threads, {more}.\n\n"
            f"    x.compute(scheduler='threads', num_workers={2 * threads})"
        )
    each = max(2, 2 * threads // workers)
    cluster = f"    cluster = LocalCluster(n_workers={workers}, threads_per_worker={each})\n"
    if of_collection(facts, name):
        return (
            f"Let more of them wait at once: more threads a worker, {more}, as larger row groups or chunks "
            f"make them.\n\n{cluster}"
            "    df.to_parquet(path, row_group_size=1_000_000)   # fewer and larger requests for who reads it"
        )
    call = called(name, "request")
    return (
        f"Let more of them wait at once: more threads a worker, {more}; or several requests in one async "
        f"task, for a task that is a coroutine takes a thread's place, too.\n\n{cluster}"
        f"    async def {call}_all(items):   # for client.map; a coroutine needs no to_thread\n"
        f"        return await asyncio.gather(*(asyncio.to_thread({call}, item) for item in items))"
    )


def _sleeping(facts: Facts, limits: Limits) -> Iterator[Finding]:
    sleepers = asleep(facts)
    if not sleepers.where:
        return
    waits = _waits(facts, limits, sleepers)
    told = _told(facts, limits, waits, waits.slept)
    if told is None:
        return
    name, share = told.names[0], float(sleepers.share[told.code])
    yield Finding(
        code="sleeping",
        # Whoever sleeps means to, as a rule.
        severity="info",
        title=f"`{name}` slept for {words.share(share)} of its time",
        tasks=told.names,
        cost_thread_seconds=told.total,
        cost_seconds=told.cost / 2,
        evidence=(
            Fact("share of its time in a sleep", share, "share"),
            told.share,
            Fact("time without a CPU", told.total, "s"),
            Fact("of it, while other tasks waited for a thread", told.others, "s"),
        ),
        why=(
            f"{words.listing(f'`{each}`' for each in told.names[:3])} held threads for "
            f"{words.duration(told.total)} without computing, for they slept, "
            f"{sleepers.where[told.code]}. If that is meant, nothing is wrong."
        ),
        advice=(
            "A thread that sleeps runs nothing else. Where the sleep waits for something, wait for that "
            f"thing itself{'.' if facts.all_local else _SECEDE}"
        ),
        url=SLEEPING.url,
    )


_UNSURE = (
    "; whether other programs did, this recording does not tell: waits for a core are known on Linux alone. "
    "Make sure that the machine was not busy with something else."
)
_SECEDE = (
    "; or give the thread back before, and the worker runs another task meanwhile:\n\n"
    "    distributed.secede()\n"
    "    time.sleep(60)"
)

IO_WAIT = Rule(
    code="io-wait",
    says="Tasks held threads while they waited for files, the network or a lock.",
    formula=(
        "Task names that were without a CPU for `io-wait.share` of their time (`io-wait.share-unsure` where "
        "the recording does not tell how long threads waited for a CPU), together `io-wait.time` of all "
        "thread time; none of workers of which that is not known while those that share their cores used "
        "`oversubscribed.use` of these; "
        "without waits for a CPU, the interpreter's lock or a GPU, without as much as their processes "
        "computed beside the tasks' own threads, and without names that slept, or that waited for others; "
        "see `sleeping` and `held-up`. Of P2P's own tasks it is told what they wait for; threads that were "
        "idle until its barriers had ended are told if they are `io-wait.time` of all thread time. "
        "Where `io-wait.lock` of that is spent in locks of `distributed`, `dask`, `xarray` or their own (a "
        "line `with name:` takes one), these are told; where it is "
        "spent in waits for processes or pools that they had started, that is told, no more than *info* if "
        "these used CPU time for `io-wait.programs` of it, or nothing tells. No more than *info*, and "
        "without a cost, where hosts then read `io-wait.line` or more, their median `io-wait.flat` of their "
        "95th percentile, and less while no task ran: their line is most likely full."
    ),
    cost=(
        "Half of that time while other tasks waited for a thread, over all "
        "threads: what twice the threads would save. Of locks, the time in them over all threads, the most "
        "that could be saved; of barriers, that idle time over all threads."
    ),
    url="https://distributed.dask.org/en/stable/fine-performance-metrics.html",
    advice="More threads a worker, larger requests, several requests in one async task; shorter locks.",
    find=_io_wait,
)
SLEEPING = Rule(
    code="sleeping",
    says="Tasks held threads while they slept, most likely on purpose.",
    formula=(
        "As `io-wait`, of task names that spent `sleeping.share` of that time asleep: the innermost line of "
        "their call stacks calls a `sleep`, which needs the source code of that line; or `time.sleep` or "
        "`asyncio.sleep` is their function itself, and none of them was sampled in somebody's own code. No "
        "more than *info*."
    ),
    cost="Half of that time while other tasks waited for a thread, over all threads.",
    url="https://distributed.dask.org/en/stable/asynchronous.html",
    advice="None if it is meant; else wait for the thing itself, or `secede` before.",
    find=_sleeping,
)
