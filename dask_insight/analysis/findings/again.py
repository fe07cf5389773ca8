"""Results that were computed more than once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import sorted_set
from .by_tasks import LAUNCHING, ONCE_BEFORE, by_tasks
from .facts import Facts
from .finding import Fact, Finding
from .inside import computed_inside
from .made_again import SLACK, by_key
from .names import most
from .rule import Rule
from .thresholds import Limits


def _recompute(facts: Facts, limits: Limits) -> Iterator[Finding]:
    whole, inside = repeated(facts), computed_inside(facts)
    seconds = inside.seconds.copy()
    seconds[whole] = facts.inside[whole]
    rows = np.flatnonzero(seconds)
    total = float(seconds.sum())
    share = total / max(float(facts.inside[facts.good].sum()), 1e-12)
    if not len(rows) or share < limits["recompute.share"]:
        return
    names = most(facts, rows, seconds[rows])
    known = facts.attempts
    tasks = len(sorted_set(by_key(facts, rows)))
    alone = len(sorted_set(facts.prefix.codes[rows])) == 1
    which = words.count(tasks, "task") + (
        f" `{names[0]}`" if alone else f", most of the time in `{names[0]}`,"
    )
    title = f"{which} {'was' if tasks == 1 else 'were'} computed again: {words.duration(total)}"
    why = (
        f"Results of {words.listing(f'`{name}`' for name in names[:3])} were let go of after one "
        "computation and made again for a later one, with the same keys."
    )
    if float(inside.seconds.sum()) > 0.5 * total:
        functions = words.listing(f"`{name}`" for name in inside.functions[:3])
        title = f"{functions} ran again inside of {which.rstrip(',')}: {words.duration(total)}"
        why = (
            f"Dask fuses what follows one another, so that {functions} ran inside of "
            f"{words.listing(f'`{name}`' for name in names[:3])}. An earlier computation had computed the "
            "same there, with the same tokens, and its results were not kept."
        )
    nested = by_tasks(facts, facts.submission_of(rows), seconds[rows])
    yield Finding(
        code="recompute",
        title=title,
        tasks=names,
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("stop", rows).max()),
        cost_thread_seconds=total,
        cost_seconds=facts.spread_attempts(rows, seconds[rows]),
        evidence=(
            Fact("tasks computed again", tasks, "count"),
            Fact("times that they were", len(rows), "count"),
            Fact("time it took again", total, "s"),
            Fact("share of all computing", share, "share", limits["recompute.share"]),
        ),
        why=f"{why} {nested.said()}" if nested else why,
        advice=ONCE_BEFORE if nested else _KEPT,
        url=LAUNCHING if nested else RECOMPUTE.url,
    )


def repeated(facts: Facts) -> np.ndarray:
    """Attempts that made a result again that had been made, and was not lost with its worker."""
    known, again, before = facts.attempts, facts.made_again.asked, facts.made_again.before
    left = np.array([facts.left(name) for name in known.worker.names] or [np.inf])
    worker = known.worker.codes
    # It may have been wanted while its worker was dying.
    lost = left[worker[before]] <= np.fmax(known.wanted, known.assigned)[again] + SLACK
    lost &= worker[before] != worker[again]
    return np.asarray(again[~lost])


_KEPT = (
    "Keep what several computations need, or ask for all of them at once; Dask shares what is the same.\n\n"
    "    data = data.persist()                # stays on the workers until `del data`\n"
    "    a, b = dask.compute(first, second)   # instead of first.compute(), second.compute()"
)

RECOMPUTE = Rule(
    code="recompute",
    says="The same results were computed more than once.",
    formula=(
        "Attempts that ended well at a key that had ended well before, where somebody asked for it again "
        "since, without those whose first result was lost with its worker; and, inside of fused tasks, the "
        "functions of parts that an earlier submission had computed, by their share of the call stacks. "
        "Together at least `recompute.share` of all time in task functions."
    ),
    cost="Their time in the function, over all threads.",
    url="https://distributed.dask.org/en/stable/manage-computation.html",
    advice="`persist` what several computations need, or compute them together.",
    find=_recompute,
)
