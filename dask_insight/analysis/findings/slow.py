"""Single tasks that take far longer than others of their name, and hold up the rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .outliers import Outliers
from .rule import Rule
from .thresholds import Limits


def _straggler(facts: Facts, limits: Limits) -> Iterator[Finding]:
    for found in facts.outliers(limits["straggler.times"], int(limits["straggler.count"])):
        if found.why == "itself":
            yield _of(facts, limits, found)


def _of(facts: Facts, limits: Limits, found: Outliers) -> Finding:
    name = facts.names[found.name]
    rows = found.rows[np.argsort(-facts.length[found.rows])]
    longest = float(facts.length[rows[0]])
    times = longest / found.median
    known = facts.attempts
    where = tuple(dict.fromkeys(known.worker.names[code] for code in known.worker.codes[rows].tolist()))
    number = len(rows)
    what = "One task" if number == 1 else f"{number:,} tasks"
    took = f"took {words.duration(longest)}" if number == 1 else f"took up to {words.duration(longest)}"
    return Finding(
        code="straggler",
        title=f"{what} `{name}` {took}, {times:.3g} times the usual {words.duration(found.median)}",
        tasks=(name,),
        workers=where,
        start=facts.since(known.start[rows].min()),
        stop=facts.since(known.stop[rows].max()),
        cost_thread_seconds=found.waited + found.excess,
        cost_seconds=found.held_up,
        evidence=(
            Fact("longest", longest, "s"),
            Fact("median of the name", found.median, "s"),
            Fact("times the median", times, "times", limits["straggler.times"]),
            Fact("tasks of the name", found.number, "count", limits["straggler.count"]),
            Fact("waited for by idle threads", found.waited, "s"),
        ),
        why=(
            f"Of {found.number:,} tasks `{name}` most took about {words.duration(found.median)}; "
            f"{'this one' if number == 1 else 'these'} kept others waiting: threads were idle for "
            f"{words.duration(found.waited)} meanwhile. Neither its worker nor the size of its data explains "
            "it."
        ),
        advice=(
            "Look at what this task does otherwise (its arguments, what its stack shows in the flame graph); "
            "split its "
            "input, or let it begin first, so that the others run beside it.\n\n"
            f"    run.tasks.query(\"prefix == '{name}'\").nlargest(5, 'duration')[['key', 'worker', "
            "'duration', 'nbytes']]\n"
            f"    run.flame(prefix='{name}')\n"
            "    client.submit(function, slow_item, priority=10)  # begins before the others"
        ),
        url=STRAGGLER.url,
    )


STRAGGLER = Rule(
    code="straggler",
    says="A single task took far longer than others of its name, and the rest waited for it.",
    formula=(
        "Attempts that took `straggler.times` the median of their name or more, of names with "
        "`straggler.count` "
        "tasks or more, at most a tenth of them (or one); whose data are not larger in proportion, whose "
        "worker is not slow in other tasks too, and that are not the first of their worker."
    ),
    cost="Their time on the critical path beyond the median.",
    url="https://distributed.dask.org/en/stable/diagnosing-performance.html",
    find=_straggler,
)
