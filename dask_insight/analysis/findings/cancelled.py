"""Tasks that nobody wanted any more while they ran."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import Lookup, pick
from .facts import Facts
from .failures import ended_as
from .finding import Fact, Finding
from .names import most, quoted, workers_of
from .rule import Rule
from .thresholds import Limits


def _cancelled_work(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known, length = facts.attempts, facts.length
    rows = np.flatnonzero(ended_as(facts, "cancelled") & (length > 0))
    if not len(rows):
        return
    seconds = float(length[rows].sum())
    after = float(
        np.nan_to_num(np.clip(known.at("stop", rows) - _when(facts, rows), 0.0, length[rows])).sum()
    )
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
        cost_seconds=facts.spread(seconds),
        evidence=(
            Fact("tasks cancelled while they ran", len(rows), "count"),
            Fact("time in them", seconds, "s"),
            Fact("of that, after they were cancelled", after, "s"),
        ),
        why=(
            "They were cancelled, or their futures let go of, while their functions ran. Dask cannot stop a "
            f"function: for {words.duration(after)} after that they still held threads."
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


CANCELLED_WORK = Rule(
    code="cancelled-work",
    says="Tasks ran, in part after nobody wanted their results any more.",
    formula="Attempts whose functions ran and that were cancelled, or let go of, before they ended.",
    cost="Their thread-seconds / threads.",
    url="https://docs.dask.org/en/stable/futures.html#waiting-on-and-cancelling-tasks",
    advice="Cancel before tasks begin, cut them smaller, or have long functions look whether to go on.",
    find=_cancelled_work,
)
