"""Tasks that nobody wanted any more while they ran."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import Lookup, pick
from ...tables.facts import recorded
from .facts import Facts
from .failures import ended_as
from .finding import Fact, Finding
from .names import most, quoted, workers_of
from .rule import Rule
from .thresholds import Limits


def _cancelled_work(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known, length = facts.attempts, facts.inside
    # What the recording lost sight of has an error that says so, and may have gone on.
    unseen = np.isin(known.run, facts.read("errors")["run"])
    rows = np.flatnonzero(ended_as(facts, "cancelled") & (length > 0) & ~unseen)
    if not len(rows):
        return
    seconds = float(length[rows].sum())
    after = float(
        np.nan_to_num(np.clip(known.at("stop", rows) - _when(facts, rows), 0.0, length[rows])).sum()
    )
    running = rows[_never_ended(facts, rows)]
    beyond = float(_beyond(facts, running).sum())
    names = most(facts, rows, length[rows])
    yield Finding(
        code="cancelled-work",
        title=(
            f"{words.count(len(rows), 'task')} of {quoted(names)} {'was' if len(rows) == 1 else 'were'} "
            f"cancelled while running: {words.duration(seconds)} of thread time gave nothing"
        ),
        tasks=names,
        workers=workers_of(facts, rows),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("stop", rows).max()),
        cost_thread_seconds=seconds,
        cost_seconds=facts.spread_attempts(rows),
        evidence=(
            Fact("tasks cancelled while they ran", len(rows), "count"),
            Fact("time in them", seconds, "s"),
            Fact("of that, after they were cancelled", after, "s"),
            *([Fact("beyond that, at least", beyond, "s")] if len(running) else []),
        ),
        why=(
            "They were cancelled, or their futures let go of, while their functions ran. Dask cannot stop a "
            f"function: {_held(after + beyond, len(running) > 0)}."
        ),
        advice=(
            "Cancel before tasks begin, or cut them so that little is under way. A long function can look "
            "by itself whether to go on:\n\n"
            "    def fit(parts):\n"
            "        stop = distributed.Event('stop')   # where futures are cancelled: stop.set()\n"
            "        for part in parts:\n"
            "            if stop.is_set():\n"
            "                return\n\n"
            "What must end now, ends with its workers: `client.restart_workers(...)`."
        ),
        url=CANCELLED_WORK.url,
    )


def _when(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """When the scheduler let go of some attempts; their workers do when the function has ended."""
    ended = facts.read("attempts")
    when: np.ndarray = pick(ended["done"], Lookup(ended["run"]).rows(facts.attempts.run[rows]))
    return when


def _never_ended(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """Of which attempts nobody tells when their functions ended."""
    run = facts.attempts.run[rows]
    told = [
        pick(table["stop"], Lookup(table["run"]).rows(run))
        for table in map(facts.read, ("attempts", "executions"))
    ]
    return np.asarray(np.isnan(told).all(axis=0))


def _beyond(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """Seconds for which attempts that never ended were recorded after their last moment that is known."""
    worker = facts.attempts.worker
    left = np.array([facts.workers.get(name, {}).get("left", np.nan) for name in worker.names] or [np.nan])
    until = np.fmin(left[worker.codes[rows]], recorded(facts.read)[1])
    return np.asarray(np.maximum(until - facts.attempts.at("stop", rows), 0.0))


def _held(seconds: float, running: bool) -> str:
    """For how long they held threads after they were cancelled; `running` where some may do so still."""
    if running:
        return (
            f"after that they held threads for {words.duration(seconds)} at least, until the recording or "
            "their worker ended"
        )
    return f"for {words.duration(seconds)} after that they still held threads"


CANCELLED_WORK = Rule(
    code="cancelled-work",
    says="Tasks ran, in part after nobody wanted their results any more.",
    formula="Attempts whose functions ran and that were cancelled, or let go of, before they ended.",
    cost="Their thread-seconds / threads.",
    url="https://docs.dask.org/en/stable/futures.html#waiting-on-and-cancelling-tasks",
    advice="Cancel before tasks begin, cut them smaller, or have long functions look whether to go on.",
    find=_cancelled_work,
)
