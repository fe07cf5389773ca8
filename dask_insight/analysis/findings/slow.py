"""Single tasks that take far longer than others of their name, and hold up the rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...columns import forget
from .facts import Facts
from .finding import Fact, Finding
from .outliers import Outliers
from .rule import Rule
from .thresholds import Limits
from .whereabouts import whereabouts

#: Most task names that are told.
_NAMES = 3
_BESIDE = ", or let it begin first, so that the others run beside it"
_SOONER = "\n    client.submit(function, slow_item, priority=10)  # begins before the others"


def _outliers(facts: Facts, limits: Limits, code: str) -> list[Outliers]:
    times, count, seconds = (limits[f"{code}.{name}"] for name in ("times", "count", "seconds"))
    return facts.outliers(times, int(count), seconds)


def _straggler(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = _outliers(facts, limits, "straggler")
    for each in _dearest(facts, found, "itself"):
        yield _of(facts, limits, each)


def _dearest(facts: Facts, found: list[Outliers], why: str) -> list[Outliers]:
    """Those with one cause that cost most."""
    mine = [each for each in found if each.why == why]
    return sorted(mine, key=lambda each: -each.cost(facts))[:_NAMES]


def _of(facts: Facts, limits: Limits, found: Outliers) -> Finding:
    name = facts.names[found.name]
    rows = found.rows[np.argsort(-facts.length[found.rows])]
    longest = float(facts.length[rows[0]])
    times = longest / found.median
    known = facts.attempts
    where = tuple(dict.fromkeys(known.worker.names[code] for code in known.worker.codes[rows].tolist()))
    number = len(rows)
    first = _began_first(facts, found)
    what = "One task" if number == 1 else f"{number:,} tasks"
    at = whereabouts(facts, rows).said("its time" if number == 1 else "their time")
    return Finding(
        code="straggler",
        title=(
            f"{what} `{name}` {_took(facts, rows)}, {words.about(times, digits=3)} times the usual "
            f"{words.duration(found.median)}"
        ),
        tasks=(name,),
        workers=where,
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("stop", rows).max()),
        cost_thread_seconds=found.waited + found.excess,
        cost_seconds=found.cost(facts),
        evidence=(
            Fact("longest", longest, "s"),
            Fact("median of the name", found.median, "s"),
            Fact("times the median", times, "times", limits["straggler.times"]),
            Fact("tasks of the name", found.number, "count", limits["straggler.count"]),
            Fact("waited for by idle threads", found.waited, "s"),
        ),
        why=(
            f"Of {found.number:,} tasks `{name}` most took about {words.duration(found.median)}; "
            f"{_held_up(found, number)}. Neither its worker nor the size of its data explains it."
            f"{at}"
        ),
        advice=(
            "Look at what this task does otherwise (its arguments, what its stack shows in the flame graph); "
            f"split its input{'' if first else _BESIDE}.\n\n"
            f"    run.tasks.query({f'prefix == {name!r}'!r}).nlargest(5, 'duration')[['key', 'worker', "
            "'duration', 'nbytes']]\n"
            f"    run.flame(task={facts.key(int(rows[0]))!r})"
            f"{'' if facts.all_local or first else _SOONER}"
        ),
        url=STRAGGLER.url,
    )


def _took(facts: Facts, rows: np.ndarray) -> str:
    """How long outliers took, or have run for, the longest of which is the first; a part of a sentence."""
    up_to, has = ("", "has") if len(rows) == 1 else ("up to ", "have")
    longest = f"{up_to}{words.duration(float(facts.length[rows[0]]))}"
    return f"{has} run for {longest} so far" if facts.running[rows[0]] else f"took {longest}"


def _began_first(facts: Facts, found: Outliers) -> bool:
    """Whether outliers were among the first of their name that threads were there for."""
    same = np.flatnonzero(facts.good & (facts.prefix.codes == found.name))
    began = np.sort(facts.attempts.at("start", same))
    last = began[min(max(1, round(facts.threads)), len(began)) - 1]
    return bool((facts.attempts.at("start", found.rows) <= last).all())


def _held_up(found: Outliers, number: int) -> str:
    """What outliers did to the run."""
    these = "this one" if number == 1 else "these"
    if found.waited > 0:
        return f"{these} kept others waiting: threads were idle for {words.duration(found.waited)} meanwhile"
    return f"{these} took {words.duration(found.excess)} longer, on the critical path"


def _data_skew(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = _outliers(facts, limits, "data-skew")
    for each in _dearest(facts, found, "data"):
        yield _of_data(facts, limits, each)


def _of_data(facts: Facts, limits: Limits, found: Outliers) -> Finding:
    name = facts.names[found.name]
    rows = found.rows[np.argsort(-facts.length[found.rows])]
    longest = float(facts.length[rows[0]])
    makers = _makers(facts, rows[0])
    known = facts.attempts
    number = len(rows)
    one = "One task" if number == 1 else f"{number:,} tasks"
    return Finding(
        code="data-skew",
        title=(
            f"{one} `{name}` had {words.about(found.larger, digits=3)} times the data of the others and "
            f"{_took(facts, rows)}"
        ),
        tasks=(name, *(each for each in makers if each != name)),
        workers=tuple(dict.fromkeys(known.worker.names[code] for code in known.worker.codes[rows].tolist())),
        start=facts.since(known.at("start", rows).min()),
        stop=facts.since(known.at("stop", rows).max()),
        cost_thread_seconds=found.saved,
        cost_seconds=found.cost(facts),
        evidence=(
            Fact("data over the median of the name", found.larger, "times"),
            Fact(
                "time over the median of the name", longest / found.median, "times", limits["data-skew.times"]
            ),
            Fact("tasks of the name", found.number, "count", limits["data-skew.count"]),
            Fact("waited for by idle threads", found.waited, "s"),
        ),
        why=(
            f"Of {found.number:,} tasks `{name}` most took about {words.duration(found.median)}; those with "
            "the "
            f"largest inputs or results took up to {words.duration(longest)}"
            f"{', and threads were idle until they had ended' if found.waited > 0 else ''}."
        ),
        advice=(
            "Make the parts equally large: partition by size instead of by key, split heavy keys, or filter "
            "before "
            "the parts are joined.\n\n"
            "    df = df.repartition(partition_size='100MB')   # dask.dataframe\n"
            "    x = x.rechunk('auto')                         # dask.array\n"
            f"    run.tasks.query({f'prefix == {(makers or (name,))[0]!r}'!r})['nbytes'].describe()"
        ),
        url=DATA_SKEW.url,
    )


def _makers(facts: Facts, row: int) -> tuple[str, ...]:
    """Names of what made the inputs of an attempt."""
    edges = facts.read("edges")
    needed = edges["dependency"][edges["task"] == facts.attempts.task[row]]
    forget(edges)
    rows = np.flatnonzero(np.isin(facts.attempts.task, needed))
    return tuple(dict.fromkeys(facts.names[code] for code in facts.prefix.codes[rows].tolist()))[:5]


STRAGGLER = Rule(
    code="straggler",
    says="A single task took far longer than others of its name, and the rest waited for it.",
    formula=(
        "Attempts that took `straggler.times` the median of their name or more, and `straggler.seconds` "
        "beyond it, of names with `straggler.count` "
        "tasks or more (those that run still with their time so far), "
        "at most a twentieth of them (or one); whose data are not larger in proportion, whose "
        "worker is not slow in other tasks too, and that are not the first of their worker; waits for a CPU "
        "and collecting garbage not counted in."
    ),
    cost=(
        "Their time on the critical path beyond the median, but no more than that and the idle time of "
        "threads that "
        "waited for it over all threads."
    ),
    url="https://distributed.dask.org/en/stable/diagnosing-performance.html",
    advice="Split what it works on, or let it begin first; its flame graph shows what it does.",
    find=_straggler,
)
DATA_SKEW = Rule(
    code="data-skew",
    says="Some parts of the data were much larger than others, and their tasks took much longer.",
    formula=(
        "Attempts that took `data-skew.times` the median of their name or more, and `data-skew.seconds` "
        "beyond it, of names with `data-skew.count` tasks or "
        "more, at most a third of them, whose inputs or results are larger than the median in proportion, "
        "or five times as large."
    ),
    cost=(
        "Their time on the critical path beyond the median, but no more than the idle time of threads that "
        "waited for it over all threads: parts of one size have the same work together."
    ),
    url="https://docs.dask.org/en/stable/dataframe-best-practices.html",
    advice="Equally large parts: partition by size, split heavy keys, filter before joining.",
    find=_data_skew,
)
