"""Local pools of processes that are started, and sent data, for longer than they compute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import is_any
from ...timeline import is_pooled
from .facts import Facts
from .finding import Fact, Finding
from .names import most, quoted
from .rule import Rule
from .thresholds import Limits


def _process_pool(facts: Facts, limits: Limits) -> Iterator[Finding]:
    spent = facts.spent("processes")
    if not spent > 0 or spent < limits["process-pool.share"] * facts.offered:
        return
    share = spent / facts.offered
    known = facts.attempts
    mine = np.array([is_pooled(name) for name in known.worker.names])[known.worker.codes]
    rows = np.flatnonzero(mine & facts.good)
    names = most(facts, rows)
    unused, inside = _unused(facts), float(facts.inside[rows].sum())
    # Where the others were busy: else they were quicker than a process that starts.
    cause = _HANDED_OVER if unused > spent / 2 and 2 * inside > facts.offered - unused else _MOVED
    yield Finding(
        code="process-pool",
        title=cause.title.format(share=words.share(share), names=quoted(names, 1)),
        tasks=names,
        workers=tuple(name for name in facts.lanes.workers if is_pooled(name)),
        cost_thread_seconds=spent,
        cost_seconds=facts.spread_pieces(facts.pieces("processes")),
        evidence=(
            Fact("processes that started or waited for data", share, "share", limits["process-pool.share"]),
            Fact("time in functions", inside, "s"),
            Fact("unpacking arguments and packing results, in the processes", _packing(facts, rows), "s"),
            Fact("results", float(np.nan_to_num(known.nbytes[rows]).sum()), "bytes"),
            Fact("processes that were given no task", unused / facts.offered, "share"),
        ),
        why=cause.why,
        advice=cause.advice,
        url=PROCESS_POOL.url,
    )


class _Cause(NamedTuple):
    """What most of the time went into, why, and what helps."""

    title: str
    why: str
    advice: str


_MOVED = _Cause(
    "{share} of the thread time went into starting processes and moving data of {names} to and from them",
    "The scheduler `processes`, which `dask.bag` takes by default, starts new processes for every "
    "computation. The process that asked for it packs every argument and unpacks every result.",
    "Use threads, which share memory, where functions do not hold the GIL for long. Else keep the "
    "processes of a cluster from one computation to the next, load data within tasks, and reduce "
    "there what they return:\n\n"
    "    dask.compute(*results, scheduler='threads')\n"
    "    client = distributed.Client()   # computations run there from now on\n"
    "    bag.map(load).map(len).sum().compute()",
)
_HANDED_OVER = _Cause(
    "Processes stood idle in {share} of the thread time, most of them without any task of {names}",
    "The scheduler `processes` hands over six tasks at a time, unless it is told otherwise: a few slow ones "
    "all go to the first processes.",
    "Hand over one at a time, or make more tasks:\n\n"
    "    dask.compute(*results, scheduler='processes', chunksize=1)",
)


def _unused(facts: Facts) -> float:
    """Thread-seconds of processes that were given nothing."""
    lanes = facts.lanes
    pooled = np.array([is_pooled(name) for name in lanes.workers], bool)[lanes.worker]
    seconds = np.clip(lanes.stop, facts.start, facts.stop) - np.clip(lanes.start, facts.start, facts.stop)
    unused = pooled & np.array([not thread for thread in lanes.thread], bool)
    return float((seconds * lanes.threads)[unused].sum())


def _packing(facts: Facts, rows: np.ndarray) -> float:
    """Seconds that attempts took to read their arguments and to write their results."""
    phases = facts.read("phases")
    some = is_any(phases["action"], ("deserialize", "serialize"))
    some &= np.isin(phases["run"], facts.attempts.run[rows])
    return float((phases["stop"] - phases["start"])[some].sum())


PROCESS_POOL = Rule(
    code="process-pool",
    says="A local scheduler's processes were started, and waited for data or tasks, for much of the time.",
    formula=(
        "Time in which processes of the scheduler `processes` had not begun yet, were given no task at all, "
        "or waited for arguments and for the process that packs and unpacks all: `process-pool.share` of all "
        "thread time."
    ),
    cost="That time, over all threads.",
    url="https://docs.dask.org/en/stable/scheduling.html#local-processes",
    advice=(
        "`scheduler='threads'`, or a cluster that is kept; load within tasks, and return little; "
        "`chunksize=1` for a few slow tasks."
    ),
    find=_process_pool,
)
