"""Threads that were idle beside tasks whose resources others had."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...timeline import WAITS, Moments, worker_resources
from .facts import Facts
from .finding import Fact, Finding
from .names import most, of_workers, quoted, split
from .rule import Rule
from .thresholds import Limits


def _resource_limit(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known = facts.attempts
    rows, idle, workers = [], 0.0, []
    given = worker_resources(facts.read)
    for worker, ran in split(known.worker, np.flatnonzero(of_workers(facts, given) & known.ran)).items():
        inputs, begun, ended = (known.at(name, ran) for name in ("inputs", "executing", "ended"))
        kept = begun - inputs > WAITS
        waiting = Moments.of(inputs[kept], begun[kept])
        code = facts.lanes.workers.index(worker) if worker in facts.lanes.workers else -1
        if (paused := facts.states.paused.get(code)) is not None:
            waiting = waiting.without(paused)
        busy = float(waiting.within(begun, ended).sum())
        unused = max(0.0, facts.threads_of(worker) * waiting.seconds - busy)
        if unused > 0:
            rows.append(ran[kept])
            workers.append(worker)
            idle += unused
    if not rows or idle < limits["resource-limit.idle"] * facts.offered:
        return
    all_of_them = np.concatenate(rows)
    arrived, begun = (known.at(name, all_of_them) for name in ("inputs", "executing"))
    wait = begun - arrived
    names = most(facts, all_of_them, wait)
    told = given[workers[0]]
    having = words.listing(f"`{name}={amount:g}`" for name, amount in told.items())
    yield Finding(
        code="resource-limit",
        title=(
            f"{quoted(names)} waited for resources of workers while {words.share(idle / facts.offered)} of "
            "the thread time was idle"
        ),
        tasks=names,
        workers=tuple(workers),
        start=facts.since(float(arrived.min())),
        stop=facts.since(float(begun.max())),
        cost_thread_seconds=idle,
        cost_seconds=facts.spread(idle),
        evidence=(
            Fact(
                "idle beside tasks that waited on the same worker",
                idle / facts.offered,
                "share",
                limits["resource-limit.idle"],
            ),
            Fact("tasks that waited so", len(all_of_them), "count"),
            Fact("their longest wait", float(wait.max()), "s"),
            Fact("workers with resources", len(given), "count"),
        ),
        why=(
            f"Their inputs were there and threads were free, but workers have {having}, and tasks submitted "
            "with `resources=` run only as far as these go. If that is meant, nothing is wrong."
        ),
        advice=(
            "Let tasks ask for less, or workers have more; and have no more threads than can be used, or "
            "other work for them meanwhile:\n\n"
            f"    client.map(f, items, resources={{{next(iter(told))!r}: 0.5}})\n"
            f"    # dask worker ADDRESS --resources '{next(iter(told))}=2'"
        ),
        url=RESOURCE_LIMIT.url,
    )


RESOURCE_LIMIT = Rule(
    code="resource-limit",
    says="Threads were idle beside tasks that waited on the same worker, for resources that others had.",
    formula=(
        "On workers with resources (`--resources`): their threads' time without a task while tasks whose "
        "inputs had arrived waited there for 20 ms or more, without the time for which a worker was paused; "
        "at least `resource-limit.idle` of all thread time."
    ),
    cost="That time over all threads.",
    url="https://distributed.dask.org/en/stable/resources.html",
    advice="Tasks that ask for less, workers that have more, or fewer threads.",
    find=_resource_limit,
)
