"""Memory that workers were given and did not use."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterable, Iterator

import numpy as np

from ... import words
from ...tables.facts import facts as about
from .facts import Facts
from .finding import Fact, Finding
from .memory import peaks_of
from .rule import Rule
from .spill import spilled
from .thresholds import Limits

#: How many times what was used at most a worker is to have, and share of its limit that may be filled.
_ROOM, _KEPT = 1.5, 0.6


def _headroom(facts: Facts, limits: Limits) -> Iterator[Finding]:
    used = peaks_of(facts)
    if _at_home(facts, used) or facts.wall < limits["memory-headroom.seconds"] or _was_short(facts):
        return
    # What a part of a run used tells nothing of the rest.
    if np.isfinite(facts.part).any():
        return
    limit_of = {worker: float(facts.workers[worker]["memory_limit"]) for worker in used}
    known = all(worker in used for worker in facts.attempts.worker.names if worker in facts.workers)
    fullest = max(used, key=lambda worker: used[worker].share)
    share, limit = used[fullest].share, limit_of[fullest]
    large = min(limit_of.values()) >= limits["memory-headroom.limit"]
    if not known or not large or not 0 < share < limits["memory-headroom.used"]:
        return
    most = max(peak.share * limit_of[worker] for worker, peak in used.items())
    enough = math.ceil(_ROOM * most / 1e9)
    yield Finding(
        code="memory-headroom",
        severity="info",
        title=f"At most {words.share(share)} of the {words.size(limit)} that a worker may have was used",
        workers=(fullest,),
        cost_thread_seconds=0.0,
        cost_seconds=0.0,
        is_told=True,
        evidence=(
            Fact("most of a limit in use", share, "share", limits["memory-headroom.used"]),
            Fact("most memory of a worker", most, "bytes"),
            Fact("workers", len(used), "count"),
        ),
        why=(
            "No worker spilled, was paused or died, and none came near its limit: what was asked for in vain "
            "costs no time, but others could have it, or work that is done with fewer and larger tasks."
        ),
        advice=(
            f"Ask for about {_ROOM:g} times what was used, or use it: more threads a worker, or chunks up to "
            f"{words.about(_KEPT / share, digits=1)} times as large, where there remain enough for all "
            "threads.\n\n"
            f"    # dask worker ADDRESS --memory-limit {enough}GB   # or what the job or container is given"
        ),
        url=MEMORY_HEADROOM.url,
    )


def _was_short(facts: Facts) -> bool:
    """Whether memory was short at any time, or workers died, perhaps for want of it."""
    paused = any(len(moments.start) for moments in facts.states.paused.values())
    return paused or bool(spilled(facts).written) or bool(facts.attempts.killed.any())


def _at_home(facts: Facts, workers: Iterable[str]) -> bool:
    """Whether all of some workers are on the computer that recorded, whose memory nobody asked for."""
    here = about(facts.read("about")).get("host")
    hosts = {facts.workers[worker]["host"] for worker in workers}
    return all(host == here or _is_loopback(host) for host in hosts)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


MEMORY_HEADROOM = Rule(
    code="memory-headroom",
    says="Workers used little of the memory that they were given.",
    formula=(
        "Runs of `memory-headroom.seconds` or more in which no worker, of limits of `memory-headroom.limit` "
        "or more, used `memory-headroom.used` of its own, spilled, was paused, or died with tasks. Left "
        "out are runs on nothing but the computer that recorded, and those of which only a part is known. "
        "*Info*."
    ),
    cost="No time.",
    url="https://distributed.dask.org/en/stable/worker-memory.html",
    advice="Ask for less, or use it: more threads a worker, larger chunks.",
    find=_headroom,
)
