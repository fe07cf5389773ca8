"""Threads that were idle beside tasks whose resources others had."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...timeline import WAITS, Moments, worker_resources
from .facts import Facts
from .finding import Fact, Finding
from .names import most, of_workers, quoted, resources_option, split
from .rule import Rule
from .thresholds import Limits

#: Tasks at a time up to which one ran: clocks tick, so that one may seem to begin before another has ended.
_ONE = 1.05
#: Share of the idle time on workers without the resources from which too few have them.
_FEW = 0.5


def _resource_limit(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known = facts.attempts
    rows, own, at_once = [], 0.0, dict[str, float]()
    given = worker_resources(facts.read)
    for worker, ran in split(known.worker, np.flatnonzero(of_workers(facts, given) & known.ran)).items():
        inputs, begun, ended = (known.at(name, ran) for name in ("inputs", "executing", "ended"))
        kept = begun - inputs > WAITS
        waiting = Moments.of(inputs[kept], begun[kept])
        if (paused := facts.states.paused.get(facts.code_of.get(worker, -1))) is not None:
            waiting = waiting.without(paused)
        busy = float(waiting.within(begun, ended).sum())
        unused = max(0.0, facts.threads_of(worker) * waiting.seconds - busy)
        if unused > 0:
            rows.append(ran[kept])
            own += unused
            at_once[worker] = busy / waiting.seconds
    if not rows:
        return
    busiest = max(at_once, key=at_once.__getitem__)
    told, most_at_once = given[busiest], at_once[busiest]
    have = {name for name in facts.lanes.workers if told.keys() <= given.get(name, {}).keys()}
    kept_idle = dict(zip(facts.lanes.workers, facts.kept_by_worker.tolist(), strict=True))
    others = {name: seconds for name, seconds in kept_idle.items() if seconds > 0 and name not in have}
    elsewhere = sum(others.values())
    idle = own + elsewhere
    if idle < limits["resource-limit.idle"] * facts.offered:
        return
    all_of_them = np.concatenate(rows)
    arrived, begun = (known.at(name, all_of_them) for name in ("inputs", "executing"))
    wait = begun - arrived
    names = most(facts, all_of_them, wait)
    having = words.listing(f"`{words.in_a_line(name)}={amount:g}`" for name, amount in told.items())
    few = elsewhere >= _FEW * idle
    meanwhile = f"while {words.share(idle / facts.offered)} of the thread time was idle"
    which = f"{len(have)} of {len(facts.lanes.workers)} workers {'has' if len(have) == 1 else 'have'}"
    yield Finding(
        code="resource-limit",
        # Who gives each task a whole GPU means to; not that other workers are idle.
        severity="info" if most_at_once <= _ONE and not few else "",
        title=(
            f"{quoted(names)} waited for {having}, which {which}, while threads of "
            f"{words.count(len(others), 'other')} were idle"
            if few
            else f"{quoted(names)} waited for resources of workers {meanwhile}"
        ),
        tasks=names,
        workers=tuple(at_once),
        start=facts.since(float(arrived.min())),
        stop=facts.since(float(begun.max())),
        cost_thread_seconds=idle,
        cost_seconds=facts.spread(idle),
        evidence=(
            Fact(
                "idle beside tasks that waited for resources",
                idle / facts.offered,
                "share",
                limits["resource-limit.idle"],
            ),
            Fact("of that on workers without these", elsewhere / idle, "share", _FEW),
            Fact("tasks that waited so", len(all_of_them), "count"),
            Fact("their longest wait", float(wait.max()), "s"),
            Fact("most that ran on a worker meanwhile, on average", most_at_once, "count"),
            Fact("workers with resources", len(given), "count"),
        ),
        why=(
            f"Their inputs were there and threads were free, but workers have {having}, and tasks submitted "
            "with `resources=` run only as far as these go. If that is meant, nothing is wrong."
        ),
        advice=_given_to_more(told) if few else _advice(told, max(1, round(most_at_once))),
        url=RESOURCE_LIMIT.url,
    )


def _advice(resources: dict[str, float], at_once: int) -> str:
    """What to do with workers of such resources, of which so many tasks at a time have taken all."""
    name, amount = next(iter(resources.items()))
    return (
        "Have no more threads a worker than can be used, or other work for them meanwhile. Where a worker "
        "can do with more tasks at a time, let it have more, or tasks ask for less.\n\n"
        f"    # dask worker ADDRESS --nthreads {at_once} {resources_option({name: amount})}\n"
        f"    client.map(f, items, resources={{{name!r}: {amount / (2 * at_once):g}}})   "
        f"# if {2 * at_once} fit at a time"
    )


def _given_to_more(resources: dict[str, float]) -> str:
    """What to do where few workers have such resources."""
    name, amount = next(iter(resources.items()))
    return (
        "Let more workers have it, or leave `resources=` out of tasks that can do without; or have other "
        "work for the others meanwhile.\n\n"
        f"    # dask worker ADDRESS {resources_option({name: amount})}\n"
        "    client.map(f, items)   # without resources="
    )


RESOURCE_LIMIT = Rule(
    code="resource-limit",
    says="Threads were idle beside tasks that waited for resources, which others had or few workers have.",
    formula=(
        "On workers with resources (`--resources`): their threads' time without a task while tasks whose "
        "inputs had arrived waited there for 20 ms or more, without the time for which a worker was paused; "
        "and meanwhile, where threads there were idle, the time without a task of workers that have no such "
        "resources; "
        "at least `resource-limit.idle` of all thread time. No more than *info* where no worker ran more "
        "than one task at a time meanwhile, whole resources are given to each on purpose, unless half of "
        "the idle time is that of workers without them."
    ),
    cost="That time over all threads.",
    url="https://distributed.dask.org/en/stable/resources.html",
    advice=(
        "Fewer threads a worker; workers that have more, more workers that have it, or tasks that ask for "
        "less."
    ),
    find=_resource_limit,
)
