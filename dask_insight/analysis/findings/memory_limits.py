"""Memory that the system allows workers: less than Dask thinks, or so little that it killed them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ... import words
from .allowed import Allowed
from .beside_workers import near_limit
from .facts import Facts
from .finding import Fact, Finding
from .rule import Rule
from .thresholds import Limits

_MIB = 2**20
#: Share of what the system allows that workers are advised to have: nannies and libraries need some, too.
_ROOM = 0.95


def _memory_limit(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = [
        each for each in facts.allowed if each.kills or each.dask > limits["memory-limit.times"] * each.bytes
    ]
    if found:
        yield _finding(facts, found, limits)
    yield from near_limit(facts, limits, MEMORY_LIMIT.url)


def _finding(facts: Facts, found: list[Allowed], limits: Limits) -> Finding:
    kills = sum(each.kills for each in found)
    told = max(found, key=lambda each: (each.kills, each.used / each.bytes))
    there, knows = words.size(told.bytes), words.size(told.dask)
    used = told.used / told.bytes
    if kills:
        title = f"The system killed processes for memory, {words.count(kills, 'time')}: it allows {there}"
    elif math.isinf(told.dask):
        title = f"The system allows workers {there} of memory, of which Dask does not know"
    else:
        title = f"Dask lets workers use {knows} of memory, the system {there}"
    near = used >= limits["memory-limit.used"]
    return Finding(
        code="memory-limit",
        severity="critical" if kills else "warning" if near else "info",
        title=title,
        workers=tuple(name for each in found for name in each.workers)[:10],
        is_risk=True,
        evidence=(
            Fact("memory that the system allows", told.bytes, "bytes"),
            *([Fact("memory that Dask allows", told.dask, "bytes")] if math.isfinite(told.dask) else []),
            Fact("workers that share it", told.at_once, "count"),
            Fact("most in use, as sampled", used, "share", limits["memory-limit.used"]),
            Fact("processes killed for memory", kills, "count"),
        ),
        why=(
            "A worker spills, pauses and is restarted at shares of the limit that Dask knows of it. The "
            f"system knows another one, of its container or job: what goes beyond {there} together is killed "
            "without a word, and all that it held is lost."
        ),
        advice=_advice(told),
        url=MEMORY_LIMIT.url,
    )


def _advice(told: Allowed) -> str:
    """How Dask and the system are brought together."""
    each = int(_ROOM * told.bytes / max(told.at_once, 1) / _MIB)
    text = (
        "Tell Dask what there is, a little less than the system allows, divided by the workers that share "
        "it; or ask for more.\n\n"
        f"    # dask worker ADDRESS --memory-limit {each}MiB\n"
        f"    LocalCluster(memory_limit='{each}MiB')"
    )
    if math.isfinite(told.dask):
        most = math.ceil(max(told.dask, told.bytes) / _ROOM / _MIB)
        text += f"\n    KubeCluster(resources={{'limits': {{'memory': '{most}Mi'}}}})"
    return text


MEMORY_LIMIT = Rule(
    code="memory-limit",
    says=(
        "The system allows workers less memory than Dask does, or has killed some for it; or the scheduler, "
        "the client or a local scheduler came near what it allows them."
    ),
    formula=(
        "Workers of one control group (of Linux: a container, a job) whose memory limits together are "
        "`memory-limit.times` what the group may have, or one of which has none; or processes of it that the "
        "system killed for memory while it was recorded. *Info*; a warning where `memory-limit.used` of it "
        "was in use; critical with a kill. And schedulers, clients and local schedulers with pools that "
        "used `memory-limit.near` of what their group, in which no worker is, may have."
    ),
    cost="A risk: what is lost with a worker is told by `worker-lost`.",
    url="https://distributed.dask.org/en/stable/worker-memory.html",
    advice="`--memory-limit` a little below what the container or job has.",
    find=_memory_limit,
)
