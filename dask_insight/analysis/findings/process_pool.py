"""Local pools of processes that are started, and sent data, for longer than they compute."""

from __future__ import annotations

from collections.abc import Iterator

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
    yield Finding(
        code="process-pool",
        title=(
            f"{words.share(share)} of the thread time went into starting processes and moving data of "
            f"{quoted(names, 1)} to and from them"
        ),
        tasks=names,
        workers=tuple(name for name in facts.lanes.workers if is_pooled(name)),
        cost_thread_seconds=spent,
        cost_seconds=facts.spread(spent),
        evidence=(
            Fact("processes that started or waited for data", share, "share", limits["process-pool.share"]),
            Fact("time in functions", float(facts.inside[rows].sum()), "s"),
            Fact("unpacking arguments and packing results, in the processes", _packing(facts, rows), "s"),
            Fact("results", float(np.nan_to_num(known.nbytes[rows]).sum()), "bytes"),
        ),
        why=(
            "The scheduler `processes`, which `dask.bag` takes by default, starts new processes for every "
            "computation. The process that asked for it packs every argument and unpacks every result."
        ),
        advice=(
            "Use threads, which share memory, where functions do not hold the GIL for long. Else keep the "
            "processes of a cluster from one computation to the next, load data within tasks, and reduce "
            "there what they return:\n\n"
            "    dask.compute(*results, scheduler='threads')\n"
            "    client = distributed.Client()   # computations run there from now on\n"
            "    bag.map(load).map(len).sum().compute()"
        ),
        url=PROCESS_POOL.url,
    )


def _packing(facts: Facts, rows: np.ndarray) -> float:
    """Seconds that attempts took to read their arguments and to write their results."""
    phases = facts.read("phases")
    some = is_any(phases["action"], ("deserialize", "serialize"))
    some &= np.isin(phases["run"], facts.attempts.run[rows])
    return float((phases["stop"] - phases["start"])[some].sum())


PROCESS_POOL = Rule(
    code="process-pool",
    says="A local scheduler's processes were started, and waited for data, for much of the time.",
    formula=(
        "Time in which processes of the scheduler `processes` had not begun yet, or waited for arguments and "
        "for the process that packs and unpacks all: `process-pool.share` of all thread time."
    ),
    cost="That time, over all threads.",
    url="https://docs.dask.org/en/stable/scheduling.html#local-processes",
    advice="`scheduler='threads'`, or a cluster that is kept; load within tasks, and return little.",
    find=_process_pool,
)
