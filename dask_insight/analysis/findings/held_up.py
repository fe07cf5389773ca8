"""Tasks that held threads while they waited for others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import Lookup, ratio
from ...tables.waits import CALLS, KINDS, RESULTS, in_locks
from .facts import Facts, is_any
from .failures import left_waiting
from .finding import Fact, Finding
from .names import most, of_workers, quoted, workers_of
from .rule import Rule
from .thresholds import Limits
from .waits_for_others import advice_on


def _held_up(facts: Facts, limits: Limits) -> Iterator[Finding]:
    yield from _for_others(facts, limits)
    yield from _deadlocked(facts, limits)


def _for_others(facts: Facts, limits: Limits) -> Iterator[Finding]:
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


def _deadlocked(facts: Facts, limits: Limits) -> Iterator[Finding]:
    """All threads wait for locks that nobody gives back."""
    known = facts.attempts
    last = np.flatnonzero(_to_the_end(facts) & of_workers(facts, facts.serving))
    stuck = _stuck(facts, limits, last)
    if not stuck:
        return
    share = _in_locks(facts, last, facts.stop - stuck)
    if share < limits["held-up.locked"]:
        return
    names = most(facts, last, facts.length[last])
    yield Finding(
        code="held-up",
        severity="critical",
        title=f"All threads are held by {quoted(names)}, waiting for locks",
        tasks=names,
        workers=workers_of(facts, last),
        start=facts.since(known.at("start", last).min()),
        stop=facts.since(known.at("stop", last).max()),
        cost_thread_seconds=float(facts.length[last].sum()),
        cost_seconds=stuck,
        is_told=True,
        evidence=(
            Fact(
                "samples since then in a lock, of the task with fewest",
                share,
                "share",
                limits["held-up.locked"],
            ),
            Fact("since a task began or ended", stuck, "s", limits["held-up.stuck"]),
        ),
        why=(
            f"For the last {words.duration(stuck)} no task began or ended. Tasks wait so for one another, "
            "for ever, where two of them take the same two locks, each another one first, and where one "
            "takes a lock twice; or somebody else has the lock: the program, another one, or who did not "
            "give it back."
        ),
        advice=(
            "Have tasks take locks in the same order everywhere, or one at a time, and give up after a "
            "while; `with` gives a lock back whatever happens.\n\n"
            "    with distributed.MultiLock(['x', 'y']):   # in place of one within another: both or none\n"
            "        work()\n"
            "    if not lock.acquire(timeout=60):\n"
            "        raise TimeoutError('somebody has the lock')"
        ),
        url="https://distributed.dask.org/en/stable/api.html#distributed.MultiLock",
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
    there = [name for name in facts.serving if facts.left(name) >= facts.stop]
    running = rows[_to_the_end(facts)[rows] & of_workers(facts, there)[rows]]
    if len(running) < max(1.0, sum(map(facts.threads_of, there))):
        return 0.0
    over = known.ran & ~_to_the_end(facts)
    last = max(float(known.start[known.ran].max()), float(known.stop[over].max(initial=0.0)))
    since = facts.stop - last
    return since if since >= limits["held-up.stuck"] else 0.0


def _in_locks(facts: Facts, rows: np.ndarray, since: float) -> float:
    """The least share of their samples since a moment in which some attempts waited for a lock."""
    samples, mask = facts.read("samples"), in_locks(facts.read)
    row = Lookup(facts.attempts.run[rows]).rows(samples["run"])
    mine = (row >= 0) & (samples["time"] > since)
    inside = np.append(mask, False)[Lookup(facts.read("stacks")["stack"]).rows(samples["stack"][mine])]
    seconds = samples["duration"][mine].astype("f8")
    whole, spent = (np.bincount(row[mine], each, len(rows)) for each in (seconds, seconds * inside))
    return float(ratio(spent, whole).min())


def _to_the_end(facts: Facts) -> np.ndarray:
    """Which attempts had not ended when the recording did, or were cancelled as their client left then."""
    known = facts.attempts
    running: np.ndarray = known.ran & ~known.ok & (~known.failed | left_waiting(facts))
    return running


HELD_UP = Rule(
    code="held-up",
    says="Tasks held threads while they waited for others: for results, an actor, a queue, an event, a lock.",
    formula=(
        "Task names whose call stacks are, for `held-up.share` of their time, in Dask's waits for results of "
        "other tasks, for calls of actors, or for a `Queue`, an `Event`, a `Variable` or a message; together "
        "`held-up.time` of all thread time. Tasks that had given their thread back hold none. Critical where "
        "such waits, but for calls of actors, hold all threads and nothing has begun or ended for "
        "`held-up.stuck`: no task of the cluster will. So where all threads' tasks were since then in "
        "locks, by `held-up.locked` of the samples of each; see `io-wait` for other waits for locks. Tasks "
        "that a client cancels as it leaves at the end count as running."
    ),
    cost=(
        "That time while other tasks waited for a thread, over all threads; where nothing goes on, the time "
        "since then."
    ),
    url="https://distributed.dask.org/en/stable/task-launch.html",
    advice="Hand futures over as arguments; `worker_client` or `secede` in tasks that wait.",
    find=_held_up,
)
