"""What P2P's shuffles and rechunks wait for between their inputs and their outputs, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ... import words
from ...timeline import Moments
from .facts import Facts
from .finding import Fact, Finding
from .names import BARRIER, most
from .p2p_ends import ends_of_p2p
from .thresholds import Limits


def barriers(facts: Facts, limits: Limits, url: str) -> Iterator[Finding]:
    """Threads that were idle until all pieces had come where they belong."""
    waiting = facts.waiting
    of_barriers = np.array([*(name.startswith(BARRIER) for name in facts.names), False])
    rows = np.flatnonzero(of_barriers[facts.name_of(waiting)])
    seconds = (facts.seconds(waiting) - facts.waiting_for_outliers)[rows]
    lost = float(seconds.sum())
    if lost <= 0 or lost < limits["io-wait.time"] * facts.offered:
        return
    idle = waiting.take(rows)
    when = Moments.of(idle.start, idle.stop)
    threads = lost / when.seconds
    yield Finding(
        code="io-wait",
        title=(
            f"P2P's barrier kept {words.about(threads, 'thread')} idle for {words.duration(when.seconds)}: "
            "pieces were still on their way"
        ),
        tasks=most(facts, idle.row, seconds),
        start=facts.since(when.start[0]),
        stop=facts.since(when.stop[-1]),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread_over(seconds, idle.start, idle.stop),
        evidence=(
            Fact("share of thread time idle so", lost / facts.offered, "share", limits["io-wait.time"]),
            Fact("threads idle meanwhile", threads, ""),
            Fact("threads", facts.threads, ""),
        ),
        why=(
            "A shuffle's outputs begin when all its pieces are there. Its barrier waits until every worker "
            "has sent those that it still has, over the network, and the others have taken them in and "
            "written them to disk; there was nothing else to run."
        ),
        advice=faster_shuffles(facts.names),
        url=url,
    )


def faster_shuffles(names: Iterable[str]) -> str:
    """What helps P2P, by the names of tasks: only rechunks can do without a disk."""
    if any("rechunk-transfer" in name for name in names):
        return (
            "Keep the pieces in memory where they fit there, or let workers write to a fast disk of their "
            "own; move less, by choosing chunks where data are read as they are needed later.\n\n"
            "    dask.config.set({'distributed.p2p.storage.disk': False})   # where x.rechunk() is called\n"
            "    dask.config.set({'temporary-directory': '/local/disk'})    # before workers start"
        )
    return (
        "Move less, by filtering and choosing columns before the shuffle; let workers write to a fast disk "
        "of their own.\n\n"
        "    ddf[ddf.year == 2024][['key', 'value']].merge(...)         # not the whole frame\n"
        "    dask.config.set({'temporary-directory': '/local/disk'})    # before workers start"
    )


def began_anew(facts: Facts, workers: Iterable[str]) -> str:
    """That inputs of P2P were sent again as some workers left, in a sentence; or ''."""
    left = facts.made_again.left
    again = np.concatenate([np.zeros(0, "i8"), *(left[name] for name in {*workers} & left.keys())])
    inputs = ends_of_p2p(facts).inputs if len(again) else again
    count = int(np.isin(facts.attempts.task[again], inputs).sum())
    if not count:
        return ""
    return (
        "A P2P shuffle or rechunk begins anew when a worker leaves that takes part: "
        f"{words.count(count, 'time')} one of its inputs was made and sent again."
    )
