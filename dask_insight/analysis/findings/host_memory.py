"""Hosts whose memory was nearly used up, by workers or by others: there the system kills processes."""

from __future__ import annotations

from collections.abc import Iterator

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .hosts import Low
from .rule import Rule
from .thresholds import Limits

#: Seconds after the last task whose samples still tell of the run.
_AFTER = 1.0


def full_hosts(facts: Facts, limits: Limits, since: float, until: float, worker: str = "") -> list[Low]:
    """Hosts, or that of a worker, of which less was left than a threshold meanwhile, the fullest first."""
    mine = [each for each in facts.hosts if not worker or worker in each.samples]
    found = [low for each in mine if (low := each.lowest(facts, since, until))]
    full = [each for each in found if each.left < limits["host-memory.left"]]
    return sorted(full, key=lambda each: each.left)


def _host_memory(facts: Facts, limits: Limits) -> Iterator[Finding]:
    hosts = full_hosts(facts, limits, facts.start, facts.stop + _AFTER)
    if not hosts:
        return
    told = hosts[0]
    others = max(told.memory - told.free - told.used, 0.0)
    more = f"; {words.count(len(hosts) - 1, 'other')} had as little" if len(hosts) > 1 else ""
    advice = _advice_local(told, others) if facts.all_local else _advice(told, others, len(hosts) > 1)
    yield Finding(
        code="host-memory",
        severity="warning",
        title=f"{told.title}{more}",
        workers=tuple(name for each in hosts for name in each.workers)[:10],
        start=facts.since(min(each.when for each in hosts)),
        stop=facts.since(max(each.when for each in hosts)),
        is_risk=True,
        evidence=(
            Fact("memory left, of what the host has", told.left, "share", limits["host-memory.left"]),
            Fact("memory of the host", told.memory, "bytes"),
            Fact("used by workers then", told.used, "bytes"),
            Fact("used by all else there", others, "bytes"),
        ),
        why=_KILLS if facts.all_local else f"{_WORKERS_ACT} {_KILLS}",
        advice=advice,
        url=HOST_MEMORY.url,
    )


_WORKERS_ACT = (
    "Workers spill, pause and are restarted at shares of the limit that Dask knows of each. The system does "
    "not ask for that."
)
_KILLS = (
    "A system that runs out of memory moves some of it to disk, which makes everything slow, and then kills "
    "a process, mostly a large one, without a word, or refuses memory to all."
)


def _advice(told: Low, others: float, several: bool) -> str:
    """Fewer or smaller workers, or less beside them, whichever took more; of the fullest of several hosts."""
    if others > told.used:
        # What goes by several hosts may be containers of one machine, and each tells of all its memory.
        containers = ", workers in other containers of that machine" if several else ""
        end = "Leave" if several else "End it, or leave"
        return (
            f"Find what else takes {words.size(others)} there: the client with what it has gathered, other "
            f"notebooks, other jobs{containers}. {end} that much to it:\n\n"
            "    LocalCluster(n_workers=…, memory_limit='…GiB')   # together below what is left"
        )
    each = words.size(0.8 * (told.memory - others) / max(told.at_once, 1))
    return (
        "Let workers have less than the host has, together: fewer of them, a lower limit for each, smaller "
        "chunks, or spread over more hosts.\n\n"
        f"    LocalCluster(n_workers={max(told.at_once, 1)}, memory_limit='…')   # up to {each} each"
    )


def _advice_local(told: Low, others: float) -> str:
    """The same where a scheduler without workers of its own computed."""
    less = "Compute less at a time: with smaller chunks, on fewer threads or processes."
    if others > told.used:
        less = f"Find what else takes {words.size(others)} there, other notebooks or jobs, and end it. {less}"
    return f"{less}\n\n    x.compute(num_workers=…)"


HOST_MEMORY = Rule(
    code="host-memory",
    says="A host nearly ran out of memory, whoever used it.",
    formula=(
        "Hosts of workers of which at some moment of the run less than `host-memory.left` of the memory "
        "could be had, as the system tells it: what others use there counts, what it keeps of files does "
        "not. Workers in containers tell of the memory of their machine, which all its containers share."
    ),
    cost="A risk: what is lost with a worker is told by `worker-lost`.",
    url="https://distributed.dask.org/en/stable/worker-memory.html",
    advice="Lower limits or fewer workers a host; less beside them.",
    find=_host_memory,
)
