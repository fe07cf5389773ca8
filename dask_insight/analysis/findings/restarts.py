"""Times in which a cluster was started anew, since somebody asked for it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...timeline import Moments, is_local
from .facts import Facts, is_any
from .finding import Fact, Finding
from .rule import Rule
from .thresholds import Limits


def _restarted(facts: Facts, limits: Limits) -> Iterator[Finding]:
    yield from _without_workers(
        facts,
        limits,
        restarts(facts).both(facts.whole),
        RESTART,
        happened="The cluster was restarted",
        counted="restarts",
        why=(
            "A restart ends every worker's process and starts another: until the first was there again "
            "nothing could run, what was in memory is gone, and every module is imported anew"
        ),
        advice=(
            "Keep the workers, and let go of results alone: they leave memory once no future names them.\n\n"
            "    import gc\n"
            "    del results  # or client.cancel(futures)\n"
            "    client.run(gc.collect)\n"
            "    # where one worker alone is to blame:\n"
            "    client.restart_workers([address])"
        ),
    )


def _renewed(facts: Facts, limits: Limits) -> Iterator[Finding]:
    yield from _without_workers(
        facts,
        limits,
        renewals(facts),
        NEW_CLUSTER,
        happened="A new cluster was started",
        counted="new clusters",
        why=(
            "One cluster had been closed, or nobody was connected to it any more, and the workers of the "
            "next were not there yet: new processes import every module anew"
        ),
        advice=(
            "Start one cluster, and hand its client on to whatever computes.\n\n"
            "    with Client() as client:  # once, around everything\n"
            "        first = prepare(data).compute()\n"
            "        second = evaluate(first).compute()"
        ),
    )


def _without_workers(
    facts: Facts,
    limits: Limits,
    away: Moments,
    rule: Rule,
    *,
    happened: str,
    counted: str,
    why: str,
    advice: str,
) -> Iterator[Finding]:
    lengths = away.stop - away.start
    lost, least = float(lengths.sum()), limits[f"{rule.code}.seconds"]
    if not len(lengths) or lost < least:
        return
    times = f" {len(lengths):,} times" if len(lengths) > 1 else ""
    yield Finding(
        code=rule.code,
        title=f"{happened}{times}, which took {words.duration(lost)}",
        start=facts.since(away.start[0]),
        stop=facts.since(away.stop[-1]),
        cost_seconds=lost,
        cost_thread_seconds=lost * facts.threads,
        evidence=(
            Fact("time without workers", lost, "s", least),
            Fact(counted, len(lengths), "count"),
            Fact("longest", float(lengths.max()), "s"),
        ),
        why=why + _then(facts, away),
        advice=advice,
        url=rule.url,
    )


def _then(facts: Facts, away: Moments) -> str:
    """Which line went on after the longest of them, as the end of a sentence."""
    line = facts.line_after(float(away.stop[np.argmax(away.stop - away.start)]))
    return f". The next computation was asked for by `{line}`." if line else "."


def restarts(facts: Facts) -> Moments:
    """From each restart of the cluster until a worker was there again."""
    events, lanes = facts.read("events"), facts.lanes
    asked = events["time"][is_any(events["kind"], ("restart",))]
    came = [
        joined
        for name, joined in zip(lanes.workers, lanes.joined.tolist(), strict=True)
        if not is_local(name)
    ]
    joined = np.append(np.sort(came), facts.stop)
    back = joined[np.minimum(np.searchsorted(joined, asked, side="right"), len(joined) - 1)]
    return Moments.of(asked, back)


def renewals(facts: Facts) -> Moments:
    """Times without tasks and workers that the first worker of another cluster ended."""
    told = [each for name, each in facts.workers.items() if not is_local(name)]
    if len({each["cluster"] for each in told}) < 2:
        return Moments(np.zeros(0), np.zeros(0))
    joined = np.array([each["joined"] for each in told])
    there = Moments.of(joined, np.nan_to_num([each["left"] for each in told], nan=np.inf))
    away = facts.whole.without(there).without(Moments.together(facts.attempts.in_blocks("wanted", "done")))
    cluster = np.unique([each["cluster"] for each in told], return_inverse=True)[1]
    first = np.full(len(told), np.inf)
    np.fmin.at(first, cluster, joined)
    ended = np.isin(away.stop, first)
    return Moments(away.start[ended], away.stop[ended])


def first_cluster(facts: Facts, limits: Limits) -> Moments:
    """Until a cluster's first worker joined where local schedulers came first: since their last task.

    No longer than a cluster may take to start, as the program may have been at work before.
    """
    local = facts.attempts.local
    if facts.all_local or not local.any():
        return Moments(np.zeros(0), np.zeros(0))
    joined = [each["joined"] for name, each in facts.workers.items() if not is_local(name)]
    first = np.fmin.reduce(joined, initial=np.inf)
    if not np.isfinite(first):
        return Moments(np.zeros(0), np.zeros(0))
    done = facts.attempts.at("done", np.flatnonzero(local))
    since = max(done[done < first].max(initial=facts.start), first - limits["cold-start.window"])
    return Moments.of(np.array([since]), np.array([first]))


RESTART = Rule(
    code="restart",
    says="The cluster was restarted, and nothing could run until workers were there again.",
    formula=(
        "From each restart that the scheduler tells of until the next worker joins, within the run; together "
        "at least `restart.seconds`."
    ),
    cost="That time: all threads were away.",
    url="https://distributed.dask.org/en/stable/api.html#distributed.Client.restart",
    advice="Let go of results with `del` or `client.cancel`; `client.restart_workers` for one worker.",
    find=_restarted,
)

NEW_CLUSTER = Rule(
    code="new-cluster",
    says="One cluster was closed and another started, and nothing could run in between.",
    formula=(
        "Times without any worker, and without tasks, that end when the first worker of another cluster "
        "joins; together at least `new-cluster.seconds`."
    ),
    cost="That time: there were no threads.",
    url="https://docs.dask.org/en/stable/deploying-python.html",
    advice="Start one cluster and hand its client on.",
    find=_renewed,
)
