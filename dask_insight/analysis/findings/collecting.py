"""Time in which processes looked for garbage: nothing else of Python ran in them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...lookup import ratio
from ...timeline import HEADS, is_pooled
from .facts import Facts
from .finding import Fact, Finding
from .garbage import Garbage
from .names import split
from .rule import Rule
from .thresholds import Limits


def _garbage_collection(facts: Facts, limits: Limits) -> Iterator[Finding]:
    if len(facts.garbage.stop):
        yield from _in_tasks(facts, limits)
        yield from _in_heads(facts, limits)


def _in_tasks(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = facts.garbage
    rows = np.flatnonzero((found.row >= 0) & (found.seconds > 0))
    code, seconds = facts.prefix.codes[found.row[rows]], found.seconds[rows]
    by_name = np.bincount(code, seconds, len(facts.names))
    computing = np.bincount(facts.prefix.codes, facts.length, len(facts.names))
    share = ratio(by_name, computing)
    many = share >= limits["garbage-collection.share"]
    names = facts.worst(np.where(many, by_name, 0.0), facts.names)
    if not names:
        return
    most = facts.names.index(names[0])
    mine = many[code]
    lost = float(seconds[mine].sum())
    workers = facts.attempts.worker
    by_worker = np.bincount(workers.codes[found.row[rows][mine]], seconds[mine], len(workers.names))
    yield Finding(
        code="garbage-collection",
        title=(
            f"`{names[0]}` spent {words.share(min(1.0, float(share[most])))} of its time collecting garbage"
        ),
        tasks=names,
        workers=facts.worst(by_worker, workers.names),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread_over(seconds[mine], found.start[rows[mine]], found.stop[rows[mine]]),
        evidence=(
            Fact("share of its time", float(share[most]), "share", limits["garbage-collection.share"]),
            *_figures(found, rows[mine]),
        ),
        why=(
            f"While {words.listing(f'`{name}`' for name in names[:3])} ran, Python looked for objects that "
            f"only refer to one another, for {words.duration(lost)} in all, and freed "
            f"{_count(found, rows[mine])}. It looks at every object again and again while their number "
            "grows, so this takes long where tasks make many small ones (lists, dictionaries, strings in "
            "object columns); other threads of the process run no Python meanwhile."
        ),
        advice=(
            "Keep data in few large objects: arrays, frames with Arrow strings. Where there must be many "
            "small ones, let Python look for garbage less often; what nothing refers to is freed at once "
            f"all the same.\n\n{_seldom(facts)}"
        ),
        url=GARBAGE_COLLECTION.url,
    )


def _in_heads(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = facts.garbage
    moments = found.when(*HEADS)
    idle = facts.pieces(*words.IDLE, "overhead")
    lost = facts.within(idle, moments)
    if lost <= 0 or lost < limits["garbage-collection.share"] * facts.offered:
        return
    by_process = split(found.process, np.arange(len(found.stop)))
    heads = {name: by_process[name] for name in HEADS if name in by_process}
    # Scheduler and client may be one process, of which both tell, though not to the millisecond.
    head = max(heads, key=lambda name: round(float(found.seconds[heads[name]].sum()), 1))
    rows = heads[head]
    head = "scheduler" if head == "local" else head
    yield Finding(
        code="garbage-collection",
        title=f"Threads waited {words.duration(lost)} while the {head}'s process collected garbage",
        start=facts.since(float(moments.start[0])),
        stop=facts.since(float(moments.stop[-1])),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread_pieces(idle, moments),
        evidence=(
            Fact("idle meanwhile", lost / facts.offered, "share", limits["garbage-collection.share"]),
            *_figures(found, rows),
        ),
        why=(
            f"Python looked at all objects that the {head}'s process holds, and freed {_count(found, rows)}; "
            "no task was handed out meanwhile. Where the cluster was started in a notebook or a program, "
            "all that its variables hold is looked at too."
        ),
        advice=(
            "Let go of what is not needed any more, keep data in few large objects, and leave out what "
            "stays:\n\n"
            "    import gc\n"
            "    gc.freeze()   # what is there now is not looked at again\n"
            "    gc.set_threshold(50_000, 20, 50)   # look less often"
        ),
        url=GARBAGE_COLLECTION.url,
    )


def _figures(found: Garbage, rows: np.ndarray) -> tuple[Fact, ...]:
    seconds = found.seconds[rows]
    return (
        Fact("time collecting", float(seconds.sum()), "s"),
        Fact("longest collection", float(seconds.max(initial=0.0)), "s"),
        Fact("objects freed", float(found.freed[rows].sum()), "count"),
    )


def _count(found: Garbage, rows: np.ndarray) -> str:
    freed = int(found.freed[rows].sum())
    return words.count(freed, "object") if freed else "nothing"


def _seldom(facts: Facts) -> str:
    """Code that has workers collect less often."""
    if not facts.all_local:
        return (
            "    import gc\n"
            "    client.run(gc.set_threshold, 50_000, 20, 50)   # of the workers that are there\n"
            "    client.run(gc.freeze)   # what they hold now is not looked at again\n"
            "    # of workers to come: gc.set_threshold in a file, for `dask worker --preload file.py`"
        )
    if any(map(is_pooled, facts.lanes.workers)):
        return (
            "    import gc\n"
            "    from concurrent.futures import ProcessPoolExecutor\n"
            "    with ProcessPoolExecutor(initializer=gc.set_threshold, initargs=(50_000, 20, 50)) as pool:\n"
            "        x.compute(scheduler='processes', pool=pool)"
        )
    return (
        "    import gc\n"
        "    gc.set_threshold(50_000, 20, 50)\n"
        "    gc.freeze()   # what is there now is not looked at again"
    )


GARBAGE_COLLECTION = Rule(
    code="garbage-collection",
    says="Python looked for garbage for much of the time, in tasks or in the scheduler's process.",
    formula=(
        "Task names on whose threads collections took `garbage-collection.share` of their time. Of the "
        "scheduler, the client or the process of a local scheduler: thread-seconds that were idle, or whose "
        "task had ended, during their collections, `garbage-collection.share` of all thread time."
    ),
    cost="The time of these collections over all threads; that idle time over all threads.",
    url="https://docs.python.org/3/library/gc.html#gc.set_threshold",
    advice="Few large objects in place of many small ones; `gc.set_threshold`, `gc.freeze`.",
    find=_garbage_collection,
)
