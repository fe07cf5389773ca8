"""What workers need before they are of use: joining, importing, unpacking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import sorted_set
from ...timeline import LOCAL, Moments, Whereabouts, is_pooled
from .facts import MOMENT, Facts
from .finding import Fact, Finding
from .imports_on_loop import beforehand, importable
from .names import split
from .rule import Rule
from .shapes import median
from .thresholds import Limits
from .whereabouts import whereabouts

#: Share of the workers whose first tasks must be slow.
_MOST = 0.5
#: How many times the usual the data of first tasks are where these explain them.
_LARGER = 1.5


class _Late(NamedTuple):
    """A worker that joined after tasks were there."""

    worker: str
    threads: float
    #: When tasks were there, and when it was; seconds since the epoch.
    since: float
    joined: float

    @property
    def seconds(self) -> float:
        """How late it was."""
        return self.joined - self.since


class _Cluster(NamedTuple):
    """The workers of one scheduler: what waits for them waits for no others."""

    workers: list[str]
    #: When tasks waited for a thread of theirs.
    backlog: Moments
    late: list[_Late]


class _Missing(NamedTuple):
    """What late workers cost while tasks waited for a thread."""

    #: Threads that were not there yet.
    thread_seconds: float
    #: By how much sooner the tasks would have been done with them.
    seconds: float


class _Sizes:
    """Bytes of the inputs and results of attempts, worked out once somebody asks."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def _of_results(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self._facts.attempts.at("nbytes", rows))

    @cached_property
    def _of_inputs(self) -> np.ndarray:
        return self._facts.input_bytes()

    def explain(self, early: np.ndarray, later: np.ndarray) -> bool:
        """Whether the first attempts on a worker took longer as they had more data."""
        for size in (self._of_results, lambda rows: self._of_inputs[rows]):
            first, usual = (size(rows)[np.isfinite(size(rows))] for rows in (early, later))
            if len(first) and len(usual) and median(first) >= _LARGER * max(median(usual), 1.0):
                return True
        return False


class _Start(NamedTuple):
    """What the start of the workers cost. Thread-seconds, the first by name."""

    first: np.ndarray
    #: Seconds that one of them took, on average.
    each: np.ndarray
    #: Attempts that were slow as the first of a name, by its code.
    rows: Mapping[int, np.ndarray]
    way: float
    joining: float
    missing: _Missing


def _cold_start(facts: Facts, limits: Limits) -> Iterator[Finding]:
    clusters = _clusters(facts, limits)
    late = [each for cluster in clusters for each in cluster.late]
    found = _started(facts, late, _missing(facts, clusters), limits)
    first, missing = float(found.first.sum()), found.missing
    joined = bool(late) and missing.thread_seconds + found.joining > first
    # Workers that take the place of others that died begin late too; see worker-lost.
    slow = first + (found.way + found.joining if late else 0.0)
    threads = facts.most_threads(facts.serving)
    cost = min(facts.wall, missing.seconds + (slow / threads if threads > 0 else 0.0))
    if cost < limits["cold-start.seconds"]:
        return
    names = facts.worst(found.first, facts.names) or facts.worst(facts.by_names.total, facts.names)
    workers = tuple(each.worker for each in late) if joined else _workers(facts)
    where = Whereabouts()
    if joined:
        latest = words.duration(max(each.seconds for each in late))
        title = f"{words.count(len(late), 'worker')} joined up to {latest} after tasks were there"
    else:
        name = facts.names.index(names[0])
        each, on = words.duration(float(found.each[name])), "" if facts.all_local else " on each worker"
        where = whereabouts(facts, found.rows.get(name, np.zeros(0, "i8")))
        title = f"The first `{names[0]}`{on} took {each} longer than later ones"
    yield Finding(
        code="cold-start",
        # A cluster that grows while it works does what it was told to.
        severity="info" if joined and _there(facts, clusters) >= limits["cold-start.there"] else "",
        title=title,
        tasks=names,
        workers=workers,
        start=facts.since(facts.start),
        cost_thread_seconds=slow + missing.thread_seconds,
        cost_seconds=cost,
        evidence=(
            *(
                Fact(name, seconds, "s")
                for name, seconds in (
                    ("first tasks beyond the usual", first),
                    ("first tasks on their way", found.way if late else 0.0),
                    ("workers that had not been given a task", found.joining if late else 0.0),
                    ("threads that were not there yet", missing.thread_seconds),
                )
                if seconds > 0
            ),
            Fact(
                "together, over the threads that there could have been",
                cost,
                "s",
                limits["cold-start.seconds"],
            ),
        ),
        why=(
            "Tasks were there, but part of the cluster was not: workers were being started."
            if joined
            else f"The first task of its kind{'' if facts.all_local else ' on a worker'} imports modules, "
            "unpacks or compiles code or opens connections, which later ones find ready."
            f"{where.said('the time of the first ones')}"
        ),
        advice=_wait_for(facts, clusters) if joined else _prepare(facts, where.modules),
        url=COLD_START.url,
    )


def _started(facts: Facts, late: list[_Late], missing: _Missing, limits: Limits) -> _Start:
    known, own = facts.attempts, facts.own
    first = np.zeros(len(facts.names))
    firsts: dict[int, list[np.ndarray]] = {}
    slow, compared, number = np.zeros((3, len(facts.names)), "i8")
    workers, code = known.worker, facts.prefix.codes
    threads_of = [max(1, int(facts.threads_of(name))) for name in workers.names]
    sizes = _Sizes(facts)
    for rows in _by_worker_and_name(facts):
        name, threads = int(code[rows[0]]), threads_of[workers.codes[rows[0]]]
        if facts.by_names.number[name] < limits["cold-start.count"] or len(rows) <= threads:
            continue
        early, later = rows[:threads], rows[threads:]
        usual = median(own[later])
        compared[name] += 1
        # All that began before the first had ended waited for the same import.
        if median(own[early]) >= limits["cold-start.times"] * usual and not sizes.explain(early, later):
            slow[name] += 1
            number[name] += threads
            firsts.setdefault(name, []).append(early)
            first[name] += float(np.maximum(own[early] - usual, 0.0).sum())
    # Who waits for others is done when they are.
    first[facts.for_others.share >= limits["held-up.share"]] = 0.0
    # What one worker alone sees is a slow task, not a slow start.
    first[slow <= _MOST * compared] = 0.0
    way = 0.0
    if late and facts.good.any():
        of = split(workers, np.flatnonzero(facts.good))
        usual_way = float(np.nanmedian((known.received - known.assigned)[facts.good]))
        for each in late:
            mine = of.get(each.worker, np.zeros(0, "i8"))
            mine = mine[np.argsort(known.at("start", mine), kind="stable")]
            if len(mine):
                way += _on_the_way(facts, mine[: threads_of[workers.codes[mine[0]]]], usual_way)
    average, joining = first / np.maximum(number, 1), facts.spent("joining")
    by_name = {name: np.concatenate(several) for name, several in firsts.items()}
    return _Start(first, average, by_name, way, joining, missing)


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


def _clusters(facts: Facts, limits: Limits) -> list[_Cluster]:
    """Those with workers that joined late; the processes of a local pool are started for each computation."""
    told, found = facts.schedulers, []
    for code, name in enumerate(told.names):
        if name != LOCAL:
            workers = [facts.lanes.workers[each] for each in np.flatnonzero(told.worker == code).tolist()]
            found.append(_with_late(facts, limits, _Cluster(workers, _backlog(facts, code), [])))
    return [cluster for cluster in found if cluster.late]


def _with_late(facts: Facts, limits: Limits, cluster: _Cluster) -> _Cluster:
    """With workers that joined after tasks waited for a thread: since the run began, or others had left.

    Not long after, or, where few threads were there, while tasks waited without a break.
    """
    backlog = cluster.backlog.both(facts.whole)
    began = backlog.start
    opened = _opened(facts, cluster, began)
    few = _present(facts, cluster, began) < limits["cold-start.there"] * facts.most_threads(cluster.workers)
    gone = np.sort([facts.left(name) for name in cluster.workers])
    found = []
    for name in cluster.workers:
        joined = float(facts.lanes.joined[facts.code_of[name]])
        # Who takes the place of one that left beside tasks is not late; the next tasks wait for both.
        before = gone[: np.searchsorted(gone, joined, side="right")]
        first = int(np.searchsorted(began, before.max(initial=facts.start)))
        if first == len(began) or not began[first] < joined < facts.stop:
            continue
        latest = int(np.searchsorted(began, joined)) - 1
        if joined - opened[first] <= limits["cold-start.window"]:
            found.append(_Late(name, facts.threads_of(name), float(began[first]), joined))
        elif few[latest] and joined <= backlog.stop[latest]:
            found.append(_Late(name, facts.threads_of(name), float(began[latest]), joined))
    return cluster._replace(late=found)


def _backlog(facts: Facts, cluster: int) -> Moments:
    """When tasks waited for a thread of a cluster."""
    known, told = facts.attempts, facts.schedulers
    if len(told.names) < 2:
        return facts.backlog
    rows = np.flatnonzero(told.attempt == cluster)
    ready, given = known.at("ready", rows), known.at("executing", rows)
    return Moments.of(ready, np.where(given - ready > MOMENT, given, ready))


def _opened(facts: Facts, cluster: _Cluster, moments: np.ndarray) -> np.ndarray:
    """From when on there were threads, of some moments: then, or when the next worker joined."""
    joined = np.sort(np.append(facts.lanes.joined[_codes(facts, cluster)], np.inf))
    following = joined[np.searchsorted(joined, moments, side="right")]
    return np.where(_present(facts, cluster, moments) > 0, moments, following)


def _there(facts: Facts, clusters: list[_Cluster]) -> float:
    """Share of the threads that were there when tasks were: the least of each time that some joined late."""
    least = 1.0
    for cluster in clusters:
        since = np.unique([each.since for each in cluster.late])
        missing, present = _threads(cluster.late, since), _present(facts, cluster, since)
        least = float((present / np.maximum(missing + present, 1e-9)).min(initial=least))
    return least


def _missing(facts: Facts, clusters: list[_Cluster]) -> _Missing:
    """What the threads of late workers would have done of the tasks that waited for a thread."""
    late = [each for cluster in clusters for each in cluster.late]
    moments = np.unique([moment for each in late for moment in (each.since, each.joined)])
    start, stop = moments[:-1], moments[1:]
    threads, sooner = 0.0, np.zeros(len(start))
    for cluster in clusters:
        waited = cluster.backlog.within(start, stop)
        missing, present = _threads(cluster.late, start), _present(facts, cluster, start)
        threads += float((missing * waited).sum())
        # Clusters that wait at the same time keep the run waiting once.
        sooner = np.maximum(sooner, waited * missing / np.maximum(missing + present, 1e-9))
    return _Missing(threads, float(sooner.sum()))


def _threads(late: list[_Late], moments: np.ndarray) -> np.ndarray:
    """Threads of late workers that were missing at each moment."""
    threads = np.array([each.threads for each in late])
    since, joined = np.array([(each.since, each.joined) for each in late]).reshape(-1, 2).T
    return np.asarray(_begun(since, threads, moments) - _begun(joined, threads, moments))


def _codes(facts: Facts, cluster: _Cluster) -> list[int]:
    return [facts.code_of[name] for name in cluster.workers]


def _present(facts: Facts, cluster: _Cluster, moments: np.ndarray) -> np.ndarray:
    """Threads of a cluster that were there at each moment."""
    mine = _codes(facts, cluster)
    joined = np.nan_to_num(facts.lanes.joined[mine], nan=-np.inf)
    left = np.array([facts.left(name) for name in cluster.workers])
    threads = facts.threads_by_worker[mine]
    return np.asarray(_begun(joined, threads, moments) - _begun(left, threads, moments))


def _begun(since: np.ndarray, amount: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Sum of the amounts that were there from a moment on, at each of others."""
    order = np.argsort(since)
    sums = np.append(0.0, np.cumsum(amount[order]))
    found: np.ndarray = sums[np.searchsorted(since[order], moments, side="right")]
    return found


def _wait_for(facts: Facts, clusters: list[_Cluster]) -> str:
    """Advice to wait for the most workers that any of these had at once."""
    most = max(facts.most_at_once(dict.fromkeys(cluster.workers, 1.0)) for cluster in clusters)
    return _WAIT.format(workers=int(most), most=2 * int(most))


def _workers(facts: Facts) -> tuple[str, ...]:
    known = facts.attempts
    used = sorted_set(known.worker.codes[facts.good])
    return tuple(known.worker.names[code] for code in used.tolist())


def _prepare(facts: Facts, modules: tuple[str, ...]) -> str:
    """Advice to import and connect before the work begins."""
    if not facts.all_local:
        return beforehand(*modules) if modules else _PREPARE
    pooled = any(map(is_pooled, facts.lanes.workers))
    names = ", ".join(dict.fromkeys(map(importable, modules))) or "the_heavy_module"
    return (_PREPARE_POOL if pooled else _PREPARE_HERE).format(modules=names)


_WAIT = (
    "Wait for the workers before the work begins, or keep them between runs.\n\n"
    "    client.wait_for_workers({workers}, timeout=300)\n"
    "    # an adaptive cluster has no workers to wait for before there are tasks, unless told, and lets\n"
    "    # them go when they were idle for `wait-count` looks, one a second where Dask itself decides:\n"
    "    dask.config.set({{'distributed.adaptive.wait-count': 60}})\n"
    "    cluster.adapt(minimum={workers}, maximum={most})"
)
_PREPARE = (
    "Have every worker do it beforehand, once, beside whatever else happens.\n\n"
    "    def warm_up():\n"
    "        import the_heavy_module\n"
    "    client.run(warm_up)\n"
    "    # or when workers start: dask worker ADDRESS --preload the_heavy_module"
)

_PREPARE_HERE = (
    "Import and connect where the program begins, beside whatever else it does there.\n\n"
    "    import {modules}   # before x.compute()"
)
_PREPARE_POOL = (
    "Have every process do it when it starts, once, and keep the processes between computations.\n\n"
    "    def warm_up():\n"
    "        import {modules}\n"
    "    from concurrent.futures import ProcessPoolExecutor\n"
    "    with ProcessPoolExecutor(initializer=warm_up) as pool:\n"
    "        x.compute(scheduler='processes', pool=pool)"
)

COLD_START = Rule(
    code="cold-start",
    says="Workers were slow to begin: they joined late, imported modules or unpacked code.",
    formula=(
        "The first tasks of a name on a worker, as many as it has threads, beyond the median of its later "
        "ones, where "
        "they take `cold-start.times` of it and there are `cold-start.count` of the name; first tasks on "
        "their way to "
        "a worker; workers that joined while tasks waited for a thread of their cluster, within "
        "`cold-start.window` of the first that did, or of the first after others had left, or, where no "
        "thread was there then, of the "
        "first worker (no more than *info* where `cold-start.there` of the threads were there each time); "
        "where less of them were there, however late, if tasks had waited without a break. Together "
        "at least `cold-start.seconds`. Left out are names whose first tasks were slow on no more than half "
        "of the workers, names that waited for others (`held-up`), "
        f"and first tasks whose inputs or results are {_LARGER:g} times those of later ones."
    ),
    cost=(
        "While tasks waited, the share that the missing threads have of these and those there; the other "
        "thread-seconds over the most threads at once."
    ),
    url="https://docs.dask.org/en/stable/customize-initialization.html",
    advice="`client.wait_for_workers`; import and connect beforehand with `client.run` or `--preload`.",
    find=_cold_start,
)
