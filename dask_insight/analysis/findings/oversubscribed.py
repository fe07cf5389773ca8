"""Hosts on which more threads compute than there are cores: those of tasks, and those of libraries beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .rule import Rule
from .threads_held import Held
from .thresholds import Limits


class _Host(NamedTuple):
    """What the workers of a host used while they ran tasks."""

    workers: tuple[Held, ...]
    #: Cores that there are, that their processes used, and that the tasks' own threads did.
    cores: int
    used: float
    own: float
    #: Share of the tasks' time in which their threads waited for a CPU.
    waited: float


def _oversubscribed(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = [
        host
        for host in _hosts(facts)
        if host.used >= limits["oversubscribed.use"] * host.cores
        and host.used - host.own >= limits["oversubscribed.beside"] * host.used
        and host.waited >= limits["oversubscribed.waited"]
    ]
    if not found:
        return
    host = max(found, key=lambda each: each.waited)
    beside = (host.used - host.own) / host.used
    there = words.count(host.cores, "core")
    yield Finding(
        code="oversubscribed",
        severity="info",
        title=f"Threads of libraries beside those of tasks took {words.share(beside)} of {there} in use",
        workers=tuple(each.name for host in found for each in host.workers),
        is_risk=True,
        evidence=(
            Fact("cores in use", host.used, "", limits["oversubscribed.use"] * host.cores),
            Fact("of these, not by the threads of tasks", beside, "share", limits["oversubscribed.beside"]),
            Fact("tasks' time without a free core", host.waited, "share", limits["oversubscribed.waited"]),
        ),
        why=(
            f"Tasks ran on {words.count(round(sum(each.threads for each in host.workers)), 'thread')} of a "
            f"host with {there}, and libraries (BLAS, OpenMP, Numba, Arrow) computed on further ones: they "
            "took turns, and each turn empties caches."
        ),
        advice=(
            "Let libraries have one thread in each task, or workers fewer threads. A nanny does the first "
            "by itself; a worker without one has to be told, before NumPy is imported:\n\n"
            "    OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 dask worker ADDRESS --no-nanny\n"
            "    client.run(lambda: threadpoolctl.threadpool_limits(1) and None)   # workers that run already"
        ),
        url=OVERSUBSCRIBED.url,
    )


def _hosts(facts: Facts) -> Iterator[_Host]:
    """Every host whose cores, and whose workers' waits for them, are known."""
    table, known = facts.read("workers"), facts.attempts
    names = zip(table["host"].tolist(), table["cores"].tolist(), strict=True)
    cores = {host: count for host, count in names if host and count}
    beside: dict[str, list[Held]] = {}
    for each in facts.held:
        beside.setdefault(str(facts.workers.get(each.name, {}).get("host")), []).append(each)
    for host, held in beside.items():
        if host not in cores or not all(each.starved >= 0 and each.cores >= 0 for each in held):
            continue
        mine = [known.worker.codes == known.worker.names.index(each.name) for each in held]
        cpu = [float(known.cpu[rows & (known.cpu > 0)].sum()) for rows in mine]
        length = sum(float(facts.length[rows].sum()) for rows in mine)
        if not (length > 0 and all(cpu)):
            continue
        own = sum(spent / max(each.seconds, 1e-9) for spent, each in zip(cpu, held, strict=True))
        waited = sum(each.waits * each.seconds for each in held) / length
        yield _Host(tuple(held), cores[host], sum(each.cores for each in held), own, waited)


OVERSUBSCRIBED = Rule(
    code="oversubscribed",
    says="Libraries computed on threads of their own beside those of tasks, more than there are cores.",
    formula=(
        "Hosts whose workers' processes used `oversubscribed.use` of the cores while tasks ran, "
        "`oversubscribed.beside` of it not on the threads of tasks, and whose tasks waited for a core for "
        "`oversubscribed.waited` of their time. Told where waits for a core are known (Linux). No more than "
        "*info*."
    ),
    cost="A risk: what it costs depends on the caches.",
    url="https://docs.dask.org/en/stable/array-best-practices.html#avoid-oversubscribing-threads",
    advice="One thread a task for BLAS and OpenMP, or fewer threads a worker.",
    find=_oversubscribed,
)
