"""What workers need before they are of use: joining, importing, unpacking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import sorted_set
from ...timeline import Moments, is_local
from .facts import Facts
from .finding import Fact, Finding
from .names import split
from .rule import Rule
from .shapes import median
from .thresholds import Limits

#: Share of the workers whose first tasks must be slow.
_MOST = 0.5


class _Start(NamedTuple):
    """What the start of the workers cost. Thread-seconds, and by name."""

    first: np.ndarray
    way: float
    joining: float
    missing: float


def _cold_start(facts: Facts, limits: Limits) -> Iterator[Finding]:
    found = _started(facts, limits)
    first = float(found.first.sum())
    late = _late(facts, limits)
    joined = bool(late) and found.missing + found.joining > first
    # Workers that take the place of others that died begin late too; see worker-lost.
    lost = first + (found.way + found.joining + found.missing if late else 0.0)
    if facts.spread(lost) < limits["cold-start.seconds"]:
        return
    names = facts.worst(found.first, facts.names) or facts.worst(facts.by_names.total, facts.names)
    workers = tuple(name for name, _ in late) if joined else _workers(facts)
    if joined:
        latest = words.duration(max(seconds for _, seconds in late))
        title = f"{words.count(len(late), 'worker')} joined up to {latest} after the first tasks were there"
    else:
        title = f"The first `{names[0]}` on each worker took {words.duration(first)} longer than later ones"
    yield Finding(
        code="cold-start",
        # A cluster that grows while it works does what it was told to.
        severity="info" if joined and _there(facts, late) >= limits["cold-start.there"] else "",
        title=title,
        tasks=names,
        workers=workers,
        start=facts.since(facts.start),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread(lost),
        evidence=(
            *(
                Fact(name, seconds, "s")
                for name, seconds in (
                    ("first tasks beyond the usual", first),
                    ("first tasks on their way", found.way if late else 0.0),
                    ("workers that had not been given a task", found.joining if late else 0.0),
                    ("threads that were not there yet", found.missing),
                )
                if seconds > 0
            ),
            Fact("together, over all threads", facts.spread(lost), "s", limits["cold-start.seconds"]),
        ),
        why=(
            "Tasks were there, but part of the cluster was not: workers were being started."
            if joined
            else "The first task of its kind on a worker imports modules, unpacks code or opens connections, "
            "which later ones find ready."
        ),
        advice=_WAIT.format(workers=len(facts.lanes.workers)) if joined else _PREPARE,
        url=COLD_START.url,
    )


def _started(facts: Facts, limits: Limits) -> _Start:
    known, own = facts.attempts, facts.own
    first = np.zeros(len(facts.names))
    slow, compared = np.zeros((2, len(facts.names)), "i8")
    workers, code = known.worker, facts.prefix.codes
    threads_of = [max(1, int(facts.threads_of(name))) for name in workers.names]
    for rows in _by_worker_and_name(facts):
        name, threads = int(code[rows[0]]), threads_of[workers.codes[rows[0]]]
        if facts.by_names.number[name] < limits["cold-start.count"] or len(rows) <= threads:
            continue
        early, later = rows[:threads], rows[threads:]
        usual = median(own[later])
        compared[name] += 1
        # All that began before the first had ended waited for the same import.
        if median(own[early]) >= limits["cold-start.times"] * usual:
            slow[name] += 1
            first[name] += float(np.maximum(own[early] - usual, 0.0).sum())
    # Who waits for others is done when they are.
    first[facts.for_others.share >= limits["held-up.share"]] = 0.0
    # What one worker alone sees is a slow task, not a slow start.
    first[slow <= _MOST * compared] = 0.0
    way = 0.0
    late = _late(facts, limits) if facts.good.any() else []
    if late:
        of = split(workers, np.flatnonzero(facts.good))
        usual_way = float(np.nanmedian((known.received - known.assigned)[facts.good]))
    for worker, _ in late:
        mine = of.get(worker, np.zeros(0, "i8"))
        mine = mine[np.argsort(known.at("start", mine), kind="stable")]
        if len(mine):
            way += _on_the_way(facts, mine[: threads_of[workers.codes[mine[0]]]], usual_way)
    return _Start(first, way, facts.spent("joining"), _missing(facts, limits))


def _by_worker_and_name(facts: Facts) -> list[np.ndarray]:
    """Rows of the attempts of each worker at each name that ended well, in the order of their starts."""
    known = facts.attempts
    size = len(known.worker.names) * len(facts.names)
    rows = np.flatnonzero(facts.good).astype("i4")
    rows = rows[np.argsort(known.at("start", rows), kind="stable")]
    group = known.worker.codes[rows].astype("i4" if size < 1 << 31 else "i8")
    group *= len(facts.names)
    group += facts.prefix.codes[rows]
    # Sixteen bits are sorted in linear time.
    order = np.argsort(group.astype("i2") if size < 1 << 15 else group, kind="stable")
    group, rows = group[order], rows[order]
    edges = np.flatnonzero(group[1:] != group[:-1]) + 1
    return np.split(rows, edges) if len(rows) else []


def _on_the_way(facts: Facts, rows: np.ndarray, usual: float) -> float:
    """Seconds that the first tasks of a worker took from the scheduler to it, beyond what is usual."""
    known = facts.attempts
    over = known.at("received", rows) - known.at("assigned", rows) - usual
    return float(np.nansum(np.maximum(over, 0.0)))


def _late(facts: Facts, limits: Limits) -> list[tuple[str, float]]:
    """Workers that joined after tasks were there, and how long after."""
    gone = min((facts.left(name) for name in facts.lanes.workers), default=np.inf)
    found = []
    for name, joined in zip(facts.lanes.workers, facts.lanes.joined.tolist(), strict=True):
        seconds = joined - facts.start
        # The processes of a local pool are started for each computation.
        if (
            not is_local(name)
            and 0 < seconds <= limits["cold-start.window"]
            and joined < gone
            and joined < facts.stop
        ):
            found.append((name, seconds))
    return found


def _there(facts: Facts, late: list[tuple[str, float]]) -> float:
    """Share of all threads that were there when the first task was."""
    came = sum(facts.threads_of(name) for name, _ in late)
    return 1 - came / max(float(facts.threads_by_worker.sum()), 1e-9)


def _missing(facts: Facts, limits: Limits) -> float:
    """Thread-seconds by which workers came late while tasks waited for a thread."""
    known = facts.attempts
    waited = known.executing - known.ready > 0.01
    backlog = Moments.of(known.at("ready", waited), known.at("executing", waited))
    total = 0.0
    for name, seconds in _late(facts, limits):
        inside = backlog.within(np.array([facts.start]), np.array([facts.start + seconds]))
        total += facts.threads_of(name) * float(inside[0])
    return total


def _workers(facts: Facts) -> tuple[str, ...]:
    known = facts.attempts
    used = sorted_set(known.worker.codes[facts.good])
    return tuple(known.worker.names[code] for code in used.tolist())


_WAIT = (
    "Wait for the workers before the work begins, or keep them between runs.\n\n"
    "    client.wait_for_workers({workers}, timeout=300)\n"
    "    # an adaptive cluster has no workers to wait for before there are tasks, unless told:\n"
    "    cluster.adapt(minimum={workers})"
)
_PREPARE = (
    "Have every worker do it beforehand, once, beside whatever else happens.\n\n"
    "    def warm_up():\n"
    "        import the_heavy_module\n"
    "    client.run(warm_up)\n"
    "    # or when workers start: dask worker ADDRESS --preload the_heavy_module"
)

COLD_START = Rule(
    code="cold-start",
    says="Workers were slow to begin: they joined late, imported modules or unpacked code.",
    formula=(
        "The first tasks of a name on a worker, as many as it has threads, beyond the median of its later "
        "ones, where "
        "they take `cold-start.times` of it and there are `cold-start.count` of the name; first tasks on "
        "their way to "
        "a worker; workers that joined within `cold-start.window` of the first task, while others waited for "
        "a thread (no more than *info* where `cold-start.there` of all threads were there from the start). "
        "Together, over all threads, at least `cold-start.seconds`. Names that waited for others (`held-up`) "
        "are left out."
    ),
    cost="Those thread-seconds, over all threads.",
    url="https://docs.dask.org/en/stable/customize-initialization.html",
    advice="`client.wait_for_workers`; import and connect beforehand with `client.run` or `--preload`.",
    find=_cold_start,
)
