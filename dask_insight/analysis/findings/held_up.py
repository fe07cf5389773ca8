"""Tasks that held threads while they waited for others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...tables.waits import CALLS, KINDS, RESULTS
from .facts import Facts, is_any
from .finding import Fact, Finding
from .names import of_workers, workers_of
from .rule import Rule
from .thresholds import Limits
from .waits_for_others import advice_on


def _held_up(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found, codes = facts.for_others, facts.prefix.codes
    mostly = found.share >= limits["held-up.share"]
    seconds = np.where(mostly, found.seconds, 0.0)
    total = float(seconds.sum())
    if total <= 0 or total < limits["held-up.time"] * facts.offered:
        return
    names = facts.worst(seconds, facts.names)
    code = facts.names.index(names[0])
    kind = KINDS[int(found.by_kind[:, code].argmax())]
    known = facts.attempts
    rows = np.flatnonzero(mostly[codes] & known.ran)
    inside = facts.backlog.within(known.at("start", rows), known.at("stop", rows)) * found.share[codes[rows]]
    others = min(float(inside.sum()), total)
    # Calls of an actor run beside the threads that wait for them.
    stuck = 0.0 if kind is CALLS else _stuck(facts, limits, rows)
    share = float(found.share[code])
    title = f"`{names[0]}` waited for {kind.what} in {words.share(share)} of its time, and held threads"
    why = (
        f"{words.listing(f'`{name}`' for name in names[:3])} held threads for {words.duration(total)} "
        "without computing, until what they waited for was there. A thread that waits runs nothing else."
    )
    if stuck:
        alone = kind is RESULTS
        title = f"All threads are held by `{names[0]}`, which waits for {kind.what}"
        title += " that none is left for" if alone else ""
        why += f" For the last {words.duration(stuck)} no task began or ended: this does not end "
        why += "by itself." if alone else "unless another program brings that: no task of the cluster can."
    yield Finding(
        code="held-up",
        severity="critical" if stuck else "",
        title=title,
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("stop", rows).max()),
        cost_thread_seconds=total,
        cost_seconds=stuck or facts.spread(others),
        is_told=True,
        evidence=(
            Fact("share of its samples in such a wait", share, "share", limits["held-up.share"]),
            Fact("threads held meanwhile", total, "s"),
            Fact("of it, while other tasks waited for a thread", others, "s"),
            *(_of_actors(facts) if kind is CALLS else ()),
            *((Fact("since a task began or ended", stuck, "s", limits["held-up.stuck"]),) if stuck else ()),
        ),
        why=why,
        advice=advice_on(kind),
        url=HELD_UP.url,
    )


def _of_actors(facts: Facts) -> Iterator[Fact]:
    """How long calls of actors ran, and waited for one another, where that was recorded."""
    metrics = facts.read("metrics")
    mine = is_any(metrics["context"], ("actor",)) & is_any(metrics["unit"], ("seconds",))
    for activity, said in (
        ("call", "calls of actors ran"),
        ("waiting", "calls of actors waited for one another"),
    ):
        seconds = float(metrics["value"][mine & is_any(metrics["activity"], (activity,))].sum())
        if seconds > 0:
            yield Fact(said, seconds, "s")


def _stuck(facts: Facts, limits: Limits, rows: np.ndarray) -> float:
    """Seconds for which nothing has begun or ended, if such tasks hold all threads to the end; else 0."""
    known = facts.attempts
    # Who has left holds no thread, and had none to spare.
    there = [name for name in facts.lanes.workers if facts.left(name) >= facts.stop]
    running = rows[~known.ok[rows] & ~known.failed[rows] & of_workers(facts, there)[rows]]
    if len(running) < max(1.0, sum(map(facts.threads_of, there))):
        return 0.0
    over = known.ran & (known.ok | known.failed)
    last = max(float(known.start[known.ran].max()), float(known.stop[over].max(initial=0.0)))
    since = facts.stop - last
    return since if since >= limits["held-up.stuck"] else 0.0


HELD_UP = Rule(
    code="held-up",
    says="Tasks held threads while they waited for others: for results, an actor, a queue, an event.",
    formula=(
        "Task names whose call stacks are, for `held-up.share` of their time, in Dask's waits for results of "
        "other tasks, for calls of actors, or for a `Queue`, an `Event`, a `Variable` or a message; together "
        "`held-up.time` of all thread time. Tasks that had given their thread back hold none. Critical where "
        "such waits, but for calls of actors, hold all threads and nothing has begun or ended for "
        "`held-up.stuck`: no task of the cluster will."
    ),
    cost=(
        "That time while other tasks waited for a thread, over all threads; where nothing goes on, the time "
        "since then."
    ),
    url="https://distributed.dask.org/en/stable/task-launch.html",
    advice="Hand futures over as arguments; `worker_client` or `secede` in tasks that wait.",
    find=_held_up,
)
