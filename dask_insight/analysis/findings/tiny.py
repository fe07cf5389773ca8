"""Tasks so short that what Dask does around them takes longer than they do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .names import called, calls_each, mapped
from .rule import Rule
from .thresholds import Limits

#: What is lost around short tasks: parts of the budget.
_AROUND = ("overhead", "deserialize", "serialize", "scheduler", "placement", "inputs", "data", "processes")
#: Length that Dask recommends as the least, seconds.
_GOOD = 0.1


def _tiny_tasks(facts: Facts, limits: Limits) -> Iterator[Finding]:
    told = facts.by_names
    tiny = (told.number > 0) & (told.mean < limits["tiny-tasks.mean"])
    count = int(told.number[tiny].sum())
    if count < limits["tiny-tasks.count"]:
        return
    around = facts.pieces(*_AROUND)
    lost = np.where(tiny, facts.by_name(around), 0.0)
    # Tasks that nobody had sent to a worker yet have no row: they are shared out by number.
    nameless = sum(float(facts.seconds(each)[facts.name_of(each) < 0].sum()) for each in around)
    lost += nameless * np.where(tiny, told.number, 0) / max(1, int(told.number.sum()))
    total, inside = float(lost.sum()), float(told.total[tiny].sum())
    share = total / (total + inside) if total > 0 else 0.0
    if share < limits["tiny-tasks.lost"]:
        return
    mean = inside / count
    names = facts.worst(lost, facts.names)
    good = max(_GOOD, 2 * limits["tiny-tasks.mean"])
    batch = max(2, int(float(f"{good / max(mean, 1e-5):.1g}")))
    each = words.duration(mean)
    yield Finding(
        code="tiny-tasks",
        title=f"{count:,} tasks of {each} each: {words.share(share)} of their time was lost around them",
        tasks=names,
        cost_thread_seconds=total,
        cost_seconds=_cost(facts, limits, facts.spread(total) * (1 - mean / good), count),
        evidence=(
            Fact("mean time in the function", mean, "s", limits["tiny-tasks.mean"]),
            Fact("such tasks", count, "count", limits["tiny-tasks.count"]),
            Fact("lost around each", total / count, "s"),
            Fact("share of their time that was lost", share, "share", limits["tiny-tasks.lost"]),
        ),
        why=(
            f"{words.listing(f'`{name}`' for name in names[:3])} ran {count:,} times for {each}. Sending a "
            "task, "
            f"starting it and telling of its end took {words.duration(total / count)} of thread time each, "
            "whatever it does."
        ),
        advice=_advice(facts, names[0], good, batch),
        url=TINY_TASKS.url,
    )


def _cost(facts: Facts, limits: Limits, lost: float, count: int) -> float:
    """Wall time that they would cost with a CPU for each thread, of what was lost."""
    least = min(lost, count * limits["tiny-tasks.least"])
    return min(max(lost * facts.speed, least), count * limits["tiny-tasks.each"])


def _advice(facts: Facts, name: str, good: float, batch: int) -> str:
    larger = f"Give each task about {words.duration(good)} of work or more"
    calls = calls_each(facts, name) * batch
    if calls:
        return (
            f"{larger}: several calls in one task of joblib's, here about {calls:,}.\n\n"
            f"    Parallel(batch_size={calls})(delayed(function)(item) for item in items)"
        )
    return (
        f"{larger}: larger chunks or partitions, or several items in one task, here about {batch:,}.\n\n"
        f"{_CHUNKS if of_collection(facts, name) else _code(facts, name, batch)}"
    )


def of_collection(facts: Facts, name: str) -> bool:
    """Whether tasks of a name are chunks or partitions: their keys are tuples."""
    rows = np.flatnonzero(facts.good & (facts.prefix.codes == facts.names.index(name)))
    return len(rows) > 0 and facts.key(int(rows[0])).startswith("(")


def _code(facts: Facts, name: str, batch: int) -> str:
    call = called(name)
    return "\n".join(
        (
            "    from toolz import partition_all",
            "",
            f"    def {call}_batch(items):",
            f"        return [{call}(item) for item in items]",
            "",
            f"    {mapped(facts, f'{call}_batch', f'list(partition_all({batch}, items))')}",
        )
    )


_CHUNKS = (
    "    # best where data are made or read: larger `chunks=`, `blocksize=` or `npartitions=`; else\n"
    "    x = x.rechunk('auto')                         # dask.array\n"
    "    df = df.repartition(partition_size='100MB')   # dask.dataframe\n"
    "    bag = bag.repartition(partition_size='100MB')"
)


TINY_TASKS = Rule(
    code="tiny-tasks",
    says="Tasks are so short that what Dask does around each takes longer than they do.",
    formula=(
        "Task names with a mean time in the function below `tiny-tasks.mean`, together `tiny-tasks.count` or "
        "more; "
        "lost = thread-seconds of overhead, deserializing, serializing and of idle threads that waited for "
        "them; "
        "lost / (lost + computed) at least `tiny-tasks.lost`."
    ),
    cost=(
        "lost / threads, less what tasks of 100 ms would lose, × share of the time for which task threads "
        "could run in which they had a CPU, but not less than `tiny-tasks.least` for each task, and not "
        "more than `tiny-tasks.each`."
    ),
    url="https://distributed.dask.org/en/stable/efficiency.html#use-larger-tasks",
    advice="Larger chunks or partitions, or several items in one task: about 100 ms of work each.",
    find=_tiny_tasks,
)
