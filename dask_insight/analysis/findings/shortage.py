"""Why little could run at once: one task that needs all others, a slow client, resources of workers."""

from __future__ import annotations

import numpy as np

from ...columns import forget
from ...lookup import Lookup
from ...timeline import BLOCK, worker_resources
from .facts import Facts
from .finding import Fact
from .gaps import MANY
from .kept import kept_by_resources
from .names import called, of_workers, split
from .samples import Samples
from .thresholds import Limits

#: Tasks at a time below which it is one, and from which several were there.
ONE = 1.5
#: Results that one task puts together, from which that is worth steps: reductions take four or eight anyway.
_STEPS = 16
#: Share of a name's tasks that came alone, each with a submission of its own.
_ALONE = 0.9
#: Wait for a thread, of the time that a task takes, below which a task began as soon as it was handed over.
_AT_ONCE = 0.1


def put_together(facts: Facts) -> np.ndarray:
    """By code, how many results a task of a name needs, on average."""
    edges, codes = facts.read("edges"), facts.prefix.codes
    users, inputs = Lookup(facts.attempts.task), np.zeros(len(facts.names))
    for begin in range(0, len(edges["task"]), BLOCK):
        rows = users.rows(edges["task"][begin : begin + BLOCK])
        inputs += np.bincount(codes[rows[rows >= 0]], minlength=len(facts.names))
    forget(edges)
    _, first = np.unique(facts.attempts.task, return_index=True)
    return np.asarray(inputs / np.maximum(np.bincount(codes[first], minlength=len(facts.names)), 1))


def are_many(facts: Facts, inputs: np.ndarray) -> np.ndarray:
    """Whether so many results that one task needs are worth being put together in steps."""
    return np.asarray(inputs >= max(facts.threads, _STEPS))


def kept(facts: Facts, limits: Limits) -> np.ndarray:
    """By code, names whose tasks waited for resources of workers: more of them would wait, too."""
    moments, known = kept_by_resources(facts), facts.attempts
    waited, having = np.zeros(len(facts.names)), of_workers(facts, worker_resources(facts.read))
    for worker, mine in split(known.worker, np.flatnonzero(having & known.ran)).items():
        if (when := moments.get(facts.code_of.get(worker, -1))) is not None:
            seconds = when.within(known.at("inputs", mine), known.at("executing", mine))
            waited += np.bincount(facts.prefix.codes[mine], seconds, len(facts.names))
    return np.asarray((waited > 0) & (waited >= limits["resource-limit.idle"] * facts.by_names.total))


def handed_over(facts: Facts, code: int, submissions: int) -> float:
    """Median seconds from one task of a name to the next, where a client was too slow; else NaN.

    It handed them over one by one, that is, and fewer than the threads could take meanwhile.

    Parameters
    ----------
    submissions
        With how many these tasks came.
    """
    known = facts.attempts
    if facts.all_local or submissions < max(MANY, _ALONE * facts.by_names.number[code]):
        return np.nan
    rows = np.flatnonzero(facts.good & (facts.prefix.codes == code))
    came = known.at("wanted", rows)
    waited = float(np.median(known.at("start", rows) - came))
    if waited >= _AT_ONCE * facts.by_names.mean[code]:
        return np.nan
    every = float(np.median(np.diff(np.sort(came))))
    return every if every * facts.threads > facts.by_names.mean[code] else np.nan


def of_client(facts: Facts) -> tuple[Fact, ...]:
    """How busy the client's process was, if that is known."""
    used = Samples(facts.read("resources")).of("client")
    inside = (used["time"] >= facts.start) & (used["time"] <= facts.stop) & np.isfinite(used["cpu"])
    if not inside.any():
        return ()
    return (Fact("use of a core by the client's process", float(used["cpu"][inside].mean()) / 100, "share"),)


def in_steps(name: str) -> str:
    """Advice where one task puts many results together."""
    return (
        "Put them together in steps, a few at a time, so that most of it is done by many tasks at once; and "
        "reduce inside of each part before, so that there is less to put together.\n\n"
        "    bag.fold(binop, combine, split_every=8)                    # dask.bag\n"
        "    df.groupby('key').agg('sum', split_every=8, split_out=32)  # or shuffle_method='p2p'\n"
        "    df.drop_duplicates(split_every=8, split_out=32)\n"
        f"    parts = [dask.delayed({called(name)})(parts[i : i + 8]) for i in range(0, len(parts), 8)]"
    )


def in_flight(facts: Facts, name: str) -> str:
    """Advice where a client hands tasks over one by one."""
    threads, call = round(facts.threads), called(name)
    return (
        f"Keep two to three times as many tasks with the cluster as there are threads, here "
        f"{2 * threads:,} or more, and let tasks do what the client does with each result.\n\n"
        "    rest = iter(items)\n"
        f"    running = as_completed([client.submit({call}, item) for item in islice(rest, {2 * threads})])\n"
        "    for future in running:\n"
        f"        running.update(client.submit({call}, item) for item in islice(rest, 1))  # one more\n"
        "        results.append(client.submit(digest, future))   # what was done here, done there"
    )
