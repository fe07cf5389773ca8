"""Workers that are slower than others, or have more to do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ... import words
from ...columns import taken_out
from ...lookup import distinct, pick, ratio, sorted_set, sums
from .facts import Facts, medians
from .finding import Fact, Finding
from .names import TOGETHER, by_code, quoted
from .outliers import Sizes, explains, how_much_larger, sizes_of
from .rule import Rule
from .threads import lock
from .thresholds import Limits

#: Tasks of a kind that a worker, and the others, must have run to be compared: fewer have no median that
#: one outlier leaves alone.
_LEAST = 3
#: Of the time of the lane that was there longest, how much one must have been there to be an example.
_LASTING = 0.1
#: Tasks of a group from which it is compared with the others of its name.
_GROUP = 4


def _worker_skew(facts: Facts, limits: Limits) -> Iterator[Finding]:
    yield from _slow(facts, limits)
    yield from _loaded(facts, limits)


def _slow(facts: Facts, limits: Limits) -> Iterator[Finding]:
    known, code = facts.attempts, facts.prefix.codes
    workers = known.worker.codes
    told = {each.name for each in facts.held if np.isfinite(each.starved)}
    # How long tasks wait for others that they have started tells nothing of their worker.
    waiting = {each.name for each in facts.held if each.seceded}
    times = limits["worker-skew.times"]
    locked = _locked(facts, limits)
    sizes = cache(partial(sizes_of, facts))
    plain = own = _Medians.of(facts, _without(facts, facts.length, locked), times)
    if facts.own is not facts.length:
        own = _Medians.of(facts, _without(facts, facts.own, locked), times)
    for worker in sorted_set(workers[facts.good]).tolist():
        name = known.worker.names[worker]
        if name in waiting:
            continue
        compared = _compared(limits, worker, plain, own, alone=facts.has_host_alone(name))
        expected, spent, number = compared.against(worker)
        sure = name in told or facts.has_host_alone(name)
        least = limits["worker-skew.times" if sure else "worker-skew.starved"]
        if number >= limits["worker-skew.count"] and spent.sum() >= least * expected.sum():
            expected, spent, number = compared.without_larger(sizes(), workers, worker).against(worker)
        total, usual = float(spent.sum()), float(expected.sum())
        if number < limits["worker-skew.count"] or usual <= 0 or total < least * usual:
            continue
        times = total / usual
        excess = total - usual
        rows = np.flatnonzero(facts.good & (workers == worker) & (expected > 0)[code])
        of = np.append(np.zeros(len(known.run)), 0.0)
        of[rows] = 1 - 1 / times
        waited = float((facts.seconds(facts.waiting) * of[facts.waiting.row]).sum())
        names = facts.worst(spent - expected, facts.names)
        yield Finding(
            code="worker-skew",
            title=(
                f"Worker {facts.called(name)} takes {words.about(times)} times as long as others "
                "for the same tasks"
            ),
            tasks=names,
            workers=(name,),
            start=facts.since(known.at("start", rows).min()),
            stop=facts.since(known.at("stop", rows).max()),
            cost_thread_seconds=excess + waited,
            cost_seconds=facts.spread(excess + waited),
            evidence=(
                Fact("times as long as on the others", times, "times", least),
                Fact("tasks compared", number, "count", limits["worker-skew.count"]),
                Fact("time beyond what the others take", excess, "s"),
                Fact("threads idle until it had ended", waited, "s"),
            ),
            why=(
                f"Its {number:,} tasks {words.listing(f'`{each}`' for each in names[:3])} took "
                f"{words.duration(total)}; "
                f"with the median of the other workers they would have taken {words.duration(usual)}."
            ),
            advice=(
                "See what else runs on its host, whether it is throttled or of another kind; if it stays "
                "slow, let it go:\n\n"
                f"    client.retire_workers([{name.partition('#')[0]!r}])\n"
                f"    run.resources.query({f'process == {name!r}'!r})[['time', 'cpu', 'memory', 'disk_read']]"
            ),
            url=WORKER_SKEW.url,
        )


def _locked(facts: Facts, limits: Limits) -> np.ndarray | None:
    """Seconds for which each attempt waited for the interpreter's lock; None where none did.

    A worker of more threads than others is no slower for it; see gil-contention.
    """
    waits = lock(facts, limits)
    if not waits.workers:
        return None
    return sums(facts.off_cpu.row + 1, waits.waited, len(facts.length) + 1)[1:]


def _without(facts: Facts, seconds: np.ndarray, waited: np.ndarray | None) -> np.ndarray:
    """Seconds of each attempt without those that it waited, and no less than its time on a CPU."""
    if waited is None:
        return seconds
    computed = np.minimum(np.nan_to_num(facts.attempts.cpu), seconds)
    return np.asarray(np.maximum(seconds - waited, computed))


def _compared(limits: Limits, worker: int, plain: _Medians, own: _Medians, *, alone: bool) -> _Medians:
    """What a worker's attempts are held against those of others by.

    Waits for a CPU come and go among the workers of one host, and count only
    if they are large; of a worker that has its host for itself they count.
    """
    expected, spent, _ = plain.against(worker)
    return plain if alone or spent.sum() >= limits["worker-skew.starved"] * expected.sum() else own


class _Medians(NamedTuple):
    """Seconds of the attempts by kind of task and worker (code of each in `attempts`): one row a kind.

    Those of so few that no worker can be held against others are left out.
    Tasks of one name are a kind, unless its groups take very different times:
    then those of one group are.
    """

    number: np.ndarray
    median: np.ndarray
    #: Median of the medians of all other workers, each as often as it has attempts.
    usual: np.ndarray
    #: Number on all workers.
    total: np.ndarray
    #: Code of the name of each kind; -1 where it says nothing of a worker.
    name: np.ndarray
    names: int
    #: The attempts, and the kind of each.
    rows: np.ndarray
    kind: np.ndarray

    @classmethod
    def of(cls, facts: Facts, seconds: np.ndarray, times: float) -> _Medians:
        """Of those that ended well."""
        workers = len(facts.attempts.worker.names) or 1
        kind, name = _kinds(facts, seconds, times)
        total = np.bincount(kind, minlength=len(name))
        enough = total >= 2 * _LEAST
        mine = enough[kind]
        rows = np.flatnonzero(facts.good).astype("i4")[mine]
        kind = (np.cumsum(enough, dtype="i4") - 1)[kind[mine]]
        name, total = name[enough], total[enough]
        size = (len(name), workers)
        cell = kind * workers
        cell += facts.attempts.worker.codes[rows]
        number = np.bincount(cell, minlength=size[0] * size[1]).reshape(size)
        # One outlier on either side says nothing about a worker.
        median = medians(cell, seconds[rows], size[0] * size[1]).reshape(size)
        together = np.array([text.startswith(TOGETHER) for text in facts.names] or [False])
        name = np.where(together[name], -1, name)
        usual = np.full(size, np.nan)
        compared = (number >= _LEAST) & (total[:, None] - number >= _LEAST)
        for one in np.flatnonzero((name >= 0) & compared.any(axis=1)).tolist():
            usual[one] = _medians_of_others(median[one], number[one])
        return cls(number, median, usual, total, name, len(facts.names), rows, kind)

    def without_larger(self, sizes: Sizes, workers: np.ndarray, worker: int) -> _Medians:
        """The same without kinds whose data are so much larger on a worker that this explains its times.

        `workers` is the worker of each attempt.
        """
        name = self.name.copy()
        times = ratio(self.median[:, worker], self.usual[:, worker])
        for kind, some in by_code(self.kind, (times > 1)[self.kind]).items():
            rows = self.rows[some]
            here = workers[rows] == worker
            if explains(how_much_larger(sizes, rows[~here], rows[here]), float(times[kind])):
                name[kind] = -1
        return self._replace(name=name)

    def against(self, worker: int) -> tuple[np.ndarray, np.ndarray, int]:
        """By name, seconds a worker's attempts would take elsewhere, and what they took; their number."""
        mine = self.number[:, worker]
        kinds = np.flatnonzero((self.name >= 0) & (mine >= _LEAST) & (self.total - mine >= _LEAST))
        mine, name = mine[kinds], self.name[kinds]
        expected = sums(name, self.usual[kinds, worker] * mine, self.names)
        spent = sums(name, self.median[kinds, worker] * mine, self.names)
        return expected, spent, int(mine.sum())


def _kinds(facts: Facts, seconds: np.ndarray, times: float) -> tuple[np.ndarray, np.ndarray]:
    """Kind of each attempt that ended well, and the code of the name of each kind."""
    known, good = facts.attempts, np.flatnonzero(facts.good).astype("i4")
    if not len(good):
        return good, np.zeros(0, "i8")
    groups = pick(taken_out(facts.read("graph"), "group"), known.described[good])
    several = len(groups.names) + 1
    code = facts.prefix.codes[good].astype("i4" if len(facts.names) * several < 1 << 31 else "i8")
    code *= several
    code += groups.codes
    pairs, pair = distinct(code, len(facts.names) * several)
    del code, groups
    name = pairs // several
    many = np.bincount(pair) >= _GROUP
    median = np.maximum(medians(pair, seconds[good], len(pairs)), 1e-4)
    least, most = np.full(len(facts.names), np.inf), np.zeros(len(facts.names))
    np.minimum.at(least, name[many], median[many])
    np.maximum.at(most, name[many], median[many])
    mixed = (most > times * least)[name]
    # Names first, then groups of those whose groups differ.
    kind = np.where(mixed, len(facts.names) + np.cumsum(mixed) - 1, name).astype("i4")
    return kind[pair], np.concatenate((np.arange(len(facts.names)), name[mixed]))


def _medians_of_others(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each value the weighted median of all others; of those without weight NaN."""
    order = np.argsort(values)
    order = order[weights[order] > 0]
    mine, total = weights[order], np.cumsum(weights[order])
    half = (total[-1] - mine) / 2
    at = np.searchsorted(total, half)
    # From its own place on, sums are larger by its own weight than those of the others.
    at = np.where(at < np.arange(len(order)), at, np.searchsorted(total, half + mine))
    found = np.full(len(values), np.nan)
    found[order] = values[order[at]]
    return found


def _loaded(facts: Facts, limits: Limits) -> Iterator[Finding]:
    lost = facts.misplaced
    if not lost or lost < limits["worker-skew.idle"] * facts.offered:
        return
    busy = facts.working_by_worker
    # Of those that came late or left early, for as long as they were there.
    per_thread = busy / np.maximum(facts.life_by_worker, 1e-9)
    there = facts.threads_by_worker > 0
    # One that has just joined may be as busy, and has next to none of the work.
    much = busy / max(busy.sum(), 1e-9) >= facts.threads_by_worker / facts.threads_by_worker.sum()
    most = int(np.argmax(np.where(there & much, per_thread, -1)))
    others = np.flatnonzero(there & (np.arange(len(busy)) != most))
    if not len(others):
        return
    # Where several have much to do, no one worker is to blame; see imbalanced-threads.
    usual = float(per_thread[others].max())
    times = float(per_thread[most]) / usual if usual > 0 else np.inf
    least = limits["worker-skew.times"]
    if times < least or not busy[most] > 0:
        return
    name = facts.lanes.workers[most]
    share = float(busy[most] / busy.sum())
    names = _kept_waiting(facts, name)
    # Dask binds tasks of a shuffle to workers, and must.
    if names and names[0].startswith(TOGETHER):
        return
    yield Finding(
        code="worker-skew",
        title=f"Worker {facts.called(name)} did {words.share(share)} of the work, while others were idle",
        tasks=names,
        workers=(name,),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread(lost),
        evidence=(
            Fact("share of the work", share, "share"),
            *(
                (Fact("busy share of a thread over that on any other", times, "times", least),)
                if np.isfinite(times)
                else ()
            ),
            Fact("threads idle beside waiting tasks", lost, "s"),
        ),
        why=_WAITED.format(name=words.listing(f"`{each}`" for each in names[:3]), worker=facts.called(name)),
        advice=_EVENLY,
        url=WORKER_SKEW.url,
    )


def _imbalanced_threads(facts: Facts, limits: Limits) -> Iterator[Finding]:
    lost = facts.misplaced
    if not lost or lost < limits["imbalanced-threads.idle"] * facts.offered:
        return
    # Of one worker with most of the work worker-skew tells.
    if any(_loaded(facts, limits)):
        return
    there = np.flatnonzero(facts.life_by_lane > 0)
    busy, life = facts.working_by_lane[there], facts.life_by_lane[there]
    each, mean = busy / life, float(busy.sum() / life.sum())
    # Those that came late or left early count as long as they were there.
    variation = float(np.sqrt((life * (each - mean) ** 2).sum() / life.sum())) / max(mean, 1e-12)
    if variation < limits["imbalanced-threads.variation"]:
        return
    most = there[np.argmax(busy / facts.lanes.threads[there])]
    name = facts.lanes.workers[facts.lanes.worker[most]]
    names = _kept_waiting(facts, name)
    # Dask binds tasks of a shuffle to workers, and must.
    if names and names[0].startswith(TOGETHER):
        return
    lasting = each[life >= _LASTING * life.max()]
    least, longest = float(lasting.min()), min(1.0, float(lasting.max()))
    yield Finding(
        code="imbalanced-threads",
        title=(
            f"Threads were busy for {words.share(least)} to {words.share(longest)} of their time: "
            f"{quoted(names, 1)} waited beside idle threads"
        ),
        tasks=names,
        workers=(name,),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread(lost),
        evidence=(
            Fact("most of its time that a thread was busy", longest, "share"),
            Fact("least", least, "share"),
            Fact("deviation over mean", variation, "share", limits["imbalanced-threads.variation"]),
            Fact("threads idle beside waiting tasks", lost, "s"),
        ),
        why=_WAITED.format(name=words.listing(f"`{each}`" for each in names[:3]), worker=facts.called(name)),
        advice=_EVENLY,
        url=IMBALANCED_THREADS.url,
    )


def _kept_waiting(facts: Facts, worker: str) -> tuple[str, ...]:
    """Names of the tasks that waited longest for a thread of a worker."""
    known = facts.attempts
    code = known.worker.names.index(worker) if worker in known.worker.names else -1
    mine = facts.good & (known.worker.codes == code)
    waited = np.where(mine, known.executing - known.inputs, 0.0)
    by_name = np.bincount(facts.prefix.codes, np.maximum(waited, 0.0), len(facts.names))
    return facts.worst(by_name, facts.names)


_WAITED = (
    "Tasks {name} were with worker {worker} and waited there for a thread, while threads of other workers "
    "had "
    "nothing to run. "
    "Dask keeps tasks where their data are or where they were told to run, and moves them only if that seems "
    "worth it."
)
_EVENLY = (
    "Take away what binds the tasks to their worker (`workers=`, `resources=`), spread their data evenly, or "
    "let each "
    "thread have more and smaller tasks.\n\n"
    "    futures = client.map(function, items)        # without workers=\n"
    "    data = client.scatter(items, broadcast=True)  # small data that all tasks need: on every worker\n"
    "    client.rebalance(futures)                     # results that lie on one worker"
)

WORKER_SKEW = Rule(
    code="worker-skew",
    says="One worker is slower than the others at the same tasks, or has most of the work.",
    formula=(
        "Slower: the medians of its tasks by name against those of the other workers, at least "
        "`worker-skew.times` over `worker-skew.count` tasks or more, without waits for the interpreter's "
        "lock, and waits for a CPU and collecting garbage not counted in (`worker-skew.starved`) among "
        "workers of one host; not those whose data are larger in proportion. More work: busy share of its "
        "threads, without such waits, at least "
        "`worker-skew.times` that of any other, and its share of all work at least its share of all threads, "
        "while threads elsewhere were idle beside waiting tasks for `worker-skew.idle` of all thread time."
    ),
    cost=(
        "Slower: its time beyond the medians, and idle time of threads that waited for it in proportion. "
        "More work: idle "
        "time beside waiting tasks. Over all threads."
    ),
    url="https://distributed.dask.org/en/stable/work-stealing.html",
    advice="Find what slows the worker, or retire it; take away what binds tasks or data to it.",
    find=_worker_skew,
)
IMBALANCED_THREADS = Rule(
    code="imbalanced-threads",
    says="Some threads had much more to do than others, which were idle beside waiting tasks.",
    formula=(
        "Idle time beside tasks that waited for a thread elsewhere, at least `imbalanced-threads.idle` of "
        "all thread time; standard deviation of the shares of their time for which threads were busy, each "
        "weighed by that time, over their mean at least `imbalanced-threads.variation`; where `worker-skew` "
        "does not tell of the same."
    ),
    cost="That idle time, over all threads.",
    url="https://distributed.dask.org/en/stable/scheduling-policies.html",
    advice="Take away restrictions, spread the data, make more and smaller tasks.",
    find=_imbalanced_threads,
)
