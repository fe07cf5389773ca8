"""Hosts on which tasks waited for a core: that other tasks, threads of libraries or other programs had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ... import words
from ...lookup import sums
from .facts import Facts
from .finding import Fact, Finding
from .names import own_workers
from .rule import Rule
from .threads_held import Held, cores_of, own_cores_of
from .thresholds import Limits


class _Host(NamedTuple):
    """What workers that share cores used while they ran tasks: the most of those there at once."""

    workers: tuple[Held, ...]
    #: Threads for tasks.
    threads: int
    #: Cores that they may use, that their processes used, and the tasks' own threads did (NaN if unknown).
    cores: int
    used: float
    own: float
    #: Share of the tasks' time in which their threads waited for a CPU.
    waited: float

    @property
    def beside(self) -> float:
        """Share of the used cores that was not the tasks' own threads'; 0 if unknown."""
        return (self.used - self.own) / self.used if self.used > 0 and self.own >= 0 else 0.0


def _oversubscribed(facts: Facts, limits: Limits) -> Iterator[Finding]:
    short = _short(facts, limits)
    libraries = [
        host
        for host in short
        if host.used >= limits["oversubscribed.use"] * host.cores
        and host.beside >= limits["oversubscribed.beside"]
    ]
    crowded = [
        host
        for host in short
        if host.used >= limits["oversubscribed.some"] * host.cores and host.threads > host.cores
    ]
    if libraries:
        much = any(_is_much(host, limits) for host in libraries)
        yield _finding(facts, libraries, limits, _of_libraries).but(severity="warning" if much else "info")
    elif crowded:
        yield _finding(facts, crowded, limits, _of_tasks)


def _is_much(host: _Host, limits: Limits) -> bool:
    """Whether libraries' threads had most of the cores, and tasks waited for one most of their time."""
    much = limits["oversubscribed.much"]
    return host.beside >= much and host.waited >= much


def _busy_host(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = [host for host in _short(facts, limits) if host.used < limits["oversubscribed.some"] * host.cores]
    if found:
        yield _finding(facts, found, limits, _of_others)


#: Code, title, why and advice, and what more they rest on.
_Words = tuple[str, str, str, str, tuple[Fact, ...]]
#: Makes them from a host.
_Say = Callable[[Facts, _Host, Limits], _Words]


def _finding(facts: Facts, hosts: list[_Host], limits: Limits, say: _Say) -> Finding:
    host = max(hosts, key=lambda each: each.waited)
    code, title, why, advice, more = say(facts, host, limits)
    return Finding(
        code=code,
        severity="info",
        title=title,
        workers=tuple(each.name for host in hosts for each in host.workers),
        is_risk=True,
        evidence=(
            *more,
            Fact("tasks' time without a free core", host.waited, "share", limits["oversubscribed.waited"]),
        ),
        why=why,
        advice=advice,
        url=OVERSUBSCRIBED.url,
    )


def _of_libraries(facts: Facts, host: _Host, limits: Limits) -> _Words:
    there = words.count(host.cores, "core")
    return (
        "oversubscribed",
        f"Threads of libraries beside those of tasks took {words.share(host.beside)} of {there} in use",
        f"Tasks ran on {words.count(host.threads, 'thread')} that may use {there}, and libraries (BLAS, "
        "OpenMP, Numba, Arrow) computed on further ones: they took turns, and each turn empties caches.",
        _one_thread(facts, host),
        (
            Fact("cores in use", host.used, "", limits["oversubscribed.use"] * host.cores),
            Fact(
                "of these, not by the threads of tasks", host.beside, "share", limits["oversubscribed.beside"]
            ),
        ),
    )


def _of_tasks(facts: Facts, host: _Host, limits: Limits) -> _Words:
    there, threads = words.count(host.cores, "core"), words.count(host.threads, "thread")
    return (
        "oversubscribed",
        f"{threads} share {there}: tasks waited for one in {words.share(host.waited)} of their time",
        f"There are {threads} for tasks, which may use {there}. More at once make nothing faster: "
        "they take turns, every task takes longer, and more results are in memory at the same time.",
        "Have as many threads as cores, and where work runs in a container or a batch job ask for as many "
        f"CPUs as threads:\n\n{_as_many_as_cores(host.cores, facts.all_local)}",
        (
            Fact("threads for tasks", host.threads, "count", host.cores),
            Fact("cores in use by workers", host.used, "", limits["oversubscribed.some"] * host.cores),
        ),
    )


def _of_others(facts: Facts, host: _Host, limits: Limits) -> _Words:
    there = words.count(host.cores, "core")
    return (
        "busy-host",
        f"Tasks waited for a core in {words.share(host.waited)} of their time, while the workers used "
        f"{host.used:.1f} of {there}",
        "Their threads could have run, but found no free core: other programs on the host had them (the "
        "scheduler and the client too, where they run there), or containers and jobs that share these cores.",
        "See what else runs there, or ask for hosts of your own:\n\n    "
        + ("os.getloadavg()" if facts.all_local else "client.run(os.getloadavg)"),
        (Fact("cores in use by workers", host.used, "", limits["oversubscribed.some"] * host.cores),),
    )


def _as_many_as_cores(cores: int, local: bool) -> str:
    """Code for as many threads as cores."""
    if local:
        return f"    x.compute(num_workers={cores})"
    return (
        f"    LocalCluster(n_workers={cores}, threads_per_worker=1)\n"
        f"    # dask worker ADDRESS --nworkers {cores} --nthreads 1"
    )


def _one_thread(facts: Facts, host: _Host) -> str:
    """Advice to let libraries have one thread: in the program's process, or in those of workers."""
    here = facts.all_local or own_workers(facts).issuperset(each.name for each in host.workers)
    return _ONE_THREAD_HERE if here else _ONE_THREAD


#: OpenMP has a limit for each thread: one set on the event loop, as by `client.run`, changes no task.
_IN_A_TASK = (
    "    with threadpoolctl.threadpool_limits(1):   # inside of a task: BLAS and OpenMP\n"
    "        result = compute(part)"
)
_ONE_THREAD = (
    "Let libraries have one thread in each task, or workers fewer threads. Unless its own environment says "
    "otherwise, a nanny does the first for BLAS, OpenMP and Arrow by itself; not for libraries with settings "
    "of their own (Numba, Polars, XLA), nor for code that sets threads itself:\n\n"
    "    # before the cluster starts; name by name, for a whole dictionary replaces what Dask has there\n"
    "    variables = 'distributed.nanny.pre-spawn-environ'\n"
    "    dask.config.set({f'{variables}.NUMBA_NUM_THREADS': 1, f'{variables}.POLARS_MAX_THREADS': 1})\n"
    "    # or in a shell: NUMBA_NUM_THREADS=1 POLARS_MAX_THREADS=1 dask worker ADDRESS\n"
    "    # with --no-nanny also: OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1\n"
    f"{_IN_A_TASK}"
)
_ONE_THREAD_HERE = (
    "Let libraries have one thread in each task, or computations fewer threads. Libraries have to be told "
    "before they are imported; those of other kinds (Numba, Polars, XLA) by settings of their own:\n\n"
    "    # in a shell: OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python program.py\n"
    "    # and for others: NUMBA_NUM_THREADS=1 POLARS_MAX_THREADS=1\n"
    f"{_IN_A_TASK}"
)


def _short(facts: Facts, limits: Limits) -> list[_Host]:
    """Those whose tasks waited for a core, and not because a limit of theirs was reached."""
    return [
        host
        for host in _hosts(facts)
        if host.waited >= limits["oversubscribed.waited"]
        and not any(each.throttled >= limits["cpu-limit.periods"] for each in host.workers)
    ]


def _hosts(facts: Facts) -> Iterator[_Host]:
    """All workers that share cores, where these, and the waits for them, are known."""
    worker = facts.attempts.worker
    lengths = sums(worker.codes, facts.length, len(worker.names))
    length_of = dict(zip(worker.names, lengths.tolist(), strict=True))
    for place, held in facts.held_at.items():
        if not all(each.starved >= 0 and each.cores >= 0 for each in held):
            continue
        length = sum(length_of[each.name] for each in held)
        if length <= 0:
            continue
        waited = sum(each.waits * each.seconds for each in held) / length
        threads = round(facts.most_at_once({each.name: each.threads for each in held}))
        used, own = cores_of(facts, held), own_cores_of(facts, held)
        yield _Host(tuple(held), threads, place.cores, used, own, waited)


_TOGETHER = (
    "Workers with the same cores count together: those of a host, or of a container or a batch job there."
)
OVERSUBSCRIBED = Rule(
    code="oversubscribed",
    says="More threads computed than there are cores: those of tasks, or of libraries beside them.",
    formula=(
        "Hosts whose tasks waited for a core for `oversubscribed.waited` of their time, and whose workers' "
        "processes used `oversubscribed.use` of the cores while tasks ran, `oversubscribed.beside` of it not "
        "on the threads of tasks; or whose workers have more threads than there are cores and used "
        "`oversubscribed.some` of these; and that had not reached a limit (`cpu-limit.periods`). Told where "
        "waits for a core are known (Linux). "
        f"{_TOGETHER} *Info*, but a warning where libraries had `oversubscribed.much` of the use, and tasks "
        "waited for a core for as much of their time."
    ),
    cost="A risk: what it costs depends on the caches.",
    url="https://docs.dask.org/en/stable/array-best-practices.html#avoid-oversubscribing-threads",
    advice="One thread a task for BLAS and OpenMP, or fewer threads a worker.",
    find=_oversubscribed,
)
BUSY_HOST = Rule(
    code="busy-host",
    says="Tasks waited for cores that other programs had.",
    formula=(
        "Hosts whose tasks waited for a core for `oversubscribed.waited` of their time, and whose workers' "
        "processes used less than `oversubscribed.some` of the cores, and had not reached a limit "
        "(`cpu-limit.periods`). Told where waits for a core are known (Linux). "
        f"{_TOGETHER} No more than *info*."
    ),
    cost="A risk: what it costs depends on the others.",
    url=OVERSUBSCRIBED.url,
    advice="See what else runs on the host, or ask for hosts of your own.",
    find=_busy_host,
)
