"""Workers that are slower than others, or have more to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from ... import words
from ...columns import taken_out
from ...lookup import distinct, pick, ratio, sorted_set, sums
from ...timeline import Moments
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
#: Least time that a task is taken to need, seconds; share of the attempts at a kind of task that are taken to
#: be no farther off than the others; and errors of a median beyond the largest that chance makes.
_SHORTEST, _ODD, _ERRORS = 1e-4, 0.05, 1.0
#: Share of how much slower they must be from which places are looked at: sums in another order are as near.
_SURELY = 1 - 1e-6
#: How many of several slow workers, or hosts, are named.
_WORST = 5
#: Of the time of the lane that was there longest, how much one must have been there to be an example.
_LASTING = 0.1
#: Tasks of a group from which it is compared with the others of its name.
_GROUP = 4


def _worker_skew(facts: Facts, limits: Limits) -> Iterator[Finding]:
    slow = [*_slow_places(facts, limits)]
    hosts, workers = [each for each in slow if each.host], [each for each in slow if not each.host]
    yield from (_told(facts, limits, some) for some in (hosts, workers) if some)
    yield from _loaded(facts, limits, _misplaced(facts, slow))


class _Places(NamedTuple):
    """Workers, or hosts with several of them, each of which is held against all others."""

    #: Place of each attempt, and the workers of each place.
    code: np.ndarray
    workers: dict[int, tuple[str, ...]]
    number: int
    #: The hosts with several workers.
    hosts: dict[int, str]
    #: Gives when tasks waited for a thread at a place and at no other.
    waited: Callable[[], dict[int, Moments]]


class _Slow(NamedTuple):
    """A worker, or a host, that is slower than others at the same tasks."""

    workers: tuple[str, ...]
    #: '' if it is one worker.
    host: str
    #: Seconds by name that its tasks would have taken elsewhere, and took; how many they were.
    expected: np.ndarray
    spent: np.ndarray
    number: int
    #: How many times as long as elsewhere they must take.
    least: float
    #: Rows of these attempts.
    rows: np.ndarray
    #: Thread-seconds that others waited for what they made, and were idle beside those that waited there.
    waited: float
    misplaced: float

    @property
    def times(self) -> float:
        """How many times as long as elsewhere they took."""
        return float(self.spent.sum() / self.expected.sum())

    @property
    def excess(self) -> float:
        """Seconds that they took beyond that."""
        return float(self.spent.sum() - self.expected.sum())


def _merged(slow: list[_Slow]) -> _Slow:
    """Several workers, or hosts, as one."""
    return slow[0]._replace(
        workers=tuple(name for each in slow for name in each.workers),
        expected=np.sum([each.expected for each in slow], axis=0),
        spent=np.sum([each.spent for each in slow], axis=0),
        number=sum(each.number for each in slow),
        least=min(each.least for each in slow),
        rows=np.concatenate([each.rows for each in slow]),
        waited=sum(each.waited for each in slow),
        misplaced=sum(each.misplaced for each in slow),
    )


def _told(facts: Facts, limits: Limits, slow: list[_Slow]) -> Finding:
    """Of all workers, or all hosts, at once: each alone may cost too little to be told."""
    slow = sorted(slow, key=lambda each: each.excess, reverse=True)
    all_of = _merged(slow)
    names = facts.worst(all_of.spent - all_of.expected, facts.names)
    cost = all_of.excess + all_of.waited + all_of.misplaced
    others = "hosts" if all_of.host else "workers"
    one = _called(facts, slow[0])
    who = f"{one[0].upper()}{one[1:]} takes"
    if len(slow) > 1:
        who = f"{len(slow):,} of {words.count(_compared_places(facts, all_of), others[:-1])} take"
    return Finding(
        code="worker-skew",
        title=f"{who} {words.about(all_of.times)} times as long as others for the same tasks",
        tasks=names,
        workers=all_of.workers,
        start=facts.since(facts.attempts.at("start", all_of.rows).min()),
        stop=facts.since(facts.attempts.at("stop", all_of.rows).max()),
        cost_thread_seconds=cost,
        cost_seconds=facts.spread(cost),
        evidence=(
            Fact(f"times as long as on the other {others}", all_of.times, "times", all_of.least),
            Fact("tasks compared", all_of.number, "count", limits["worker-skew.count"]),
            Fact("time beyond what the others take", all_of.excess, "s"),
            *(
                Fact(f"of it, {_called(facts, each)}", each.excess, "s")
                for each in (slow[:_WORST] if len(slow) > 1 else [])
            ),
            Fact("threads idle until it had ended", all_of.waited, "s"),
            Fact("threads idle beside tasks that waited there", all_of.misplaced, "s"),
        ),
        why=(
            f"{'Their' if len(slow) > 1 else 'Its'} {all_of.number:,} tasks "
            f"{words.listing(f'`{name}`' for name in names[:3])} took "
            f"{words.duration(float(all_of.spent.sum()))}; with the median of the other {others} they would "
            f"have taken {words.duration(float(all_of.expected.sum()))}."
        ),
        advice=_let_go(slow),
        url=WORKER_SKEW.url,
    )


def _compared_places(facts: Facts, slow: _Slow) -> int:
    """Workers, or hosts, that ran tasks for the same schedulers."""
    scheduler = dict(zip(facts.lanes.workers, facts.schedulers.worker.tolist(), strict=True))
    mine = {scheduler.get(name) for name in slow.workers}
    there = [name for (name,) in _workers(facts).workers.values() if scheduler.get(name) in mine]
    return len({facts.workers[name]["host"] for name in there} if slow.host else there)


def _called(facts: Facts, slow: _Slow) -> str:
    if slow.host:
        return f"host {words.in_a_line(slow.host)} ({words.count(len(slow.workers), 'worker')})"
    return f"worker {facts.called(slow.workers[0])}"


def _let_go(slow: list[_Slow]) -> str:
    """Advice for workers, or the workers of hosts, the worst first."""
    several = len(slow) > 1
    hosts, names = (
        [*of] for of in zip(*((each.host, each.workers[0]) for each in slow[:_WORST]), strict=True)
    )
    addresses = [*dict.fromkeys(name.partition("#")[0] for name in names)]
    where, which = ("their hosts", "them") if several else ("its host", "it")
    go = f"    client.retire_workers({addresses!r})\n"
    if hosts[0]:
        where, which = ("them", "their workers") if several else ("it", "its workers")
        go = (
            "    told = client.scheduler_info(n_workers=-1)['workers']\n"
            f"    client.retire_workers([each for each in told if told[each]['host'] {_is_any(hosts)}])\n"
        )
    they_are, stay = ("they are", "they stay") if several else ("it is", "it stays")
    return (
        f"See what else runs on {where}, whether {they_are} throttled or of another kind; if {stay} slow, "
        f"let {which} go{', the worst first' if several else ''}:\n\n{go}"
        f"    run.resources.query({f'process {_is_any(names)}'!r})[['time', 'cpu', 'memory', 'disk_read']]"
    )


def _is_any(names: list[str]) -> str:
    """Code that compares with names."""
    return f"in {names!r}" if len(names) > 1 else f"== {names[0]!r}"


def _slow_places(facts: Facts, limits: Limits) -> Iterator[_Slow]:
    """Hosts that are slow, and workers of the others."""
    told = {each.name for each in facts.held if np.isfinite(each.starved)}
    times = limits["worker-skew.times"]
    locked = _locked(facts, limits)
    sizes = cache(partial(sizes_of, facts))
    seconds = _without(facts, facts.length, locked)
    slow = set[str]()
    if hosts := _hosts(facts):
        by_host = _Medians.of(facts, seconds, times, hosts)
        for place in hosts.hosts:
            # Waits for a CPU are what is wrong with a host.
            if found := _compared(facts, limits, hosts, place, by_host, times, sizes):
                slow.update(found.workers)
                yield found
    workers = _workers(facts)
    plain = own = _Medians.of(facts, seconds, times, workers)
    if facts.own is not facts.length:
        own = _Medians.of(facts, _without(facts, facts.own, locked), times, workers)
    # Most are not slow however they are compared, and thousands of them need no closer look.
    enough = _SURELY * min(times, limits["worker-skew.starved"])
    for place in np.flatnonzero(np.fmax(plain.times, own.times) >= enough).tolist():
        (name,) = workers.workers[place]
        if name in slow:
            continue
        alone = facts.has_host_alone(name)
        least = limits["worker-skew.times" if alone or name in told else "worker-skew.starved"]
        chosen = _chosen(limits, place, plain, own, alone=alone)
        if found := _compared(facts, limits, workers, place, chosen, least, sizes):
            yield found


def _workers(facts: Facts) -> _Places:
    worker = facts.attempts.worker
    used = sorted_set(worker.codes[facts.good]).tolist()
    each: dict[int, tuple[str, ...]] = {code: (worker.names[code],) for code in used}
    return _Places(worker.codes, each, len(worker.names), {}, lambda: facts.queues.by_worker)


def _hosts(facts: Facts) -> _Places | None:
    """The hosts; None where there is but one, some are not known, or none has several workers."""
    known, workers = facts.attempts.worker, _workers(facts).workers
    host_of = {code: facts.workers.get(name, {}).get("host") for code, (name,) in workers.items()}
    hosts = {host: at for at, host in enumerate(dict.fromkeys(host_of.values()))}
    if not 1 < len(hosts) < len(workers) or not all(isinstance(host, str) and host for host in hosts):
        return None
    place, together = np.full(len(known.names), -1), dict[int, list[str]]()
    for worker, host in host_of.items():
        place[worker] = hosts[host]
        together.setdefault(hosts[host], []).extend(workers[worker])
    several = {at: str(host) for host, at in hosts.items() if len(together[at]) > 1}
    code = place[known.codes]
    return _Places(
        code,
        {at: tuple(names) for at, names in together.items()},
        len(hosts),
        several,
        cache(partial(facts.queues.only_at, code)),
    )


def _compared(
    facts: Facts,
    limits: Limits,
    places: _Places,
    place: int,
    compared: _Medians,
    least: float,
    sizes: Callable[[], Sizes],
) -> _Slow | None:
    """A place, if its attempts took so many times as long as those of others."""
    expected, spent, number = compared.against(place)
    if number >= limits["worker-skew.count"] and spent.sum() >= least * expected.sum():
        compared = compared.without_larger(sizes(), places.code, place)
        expected, spent, number = compared.against(place)
    if number < limits["worker-skew.count"] or not 0 < least * expected.sum() <= spent.sum():
        return None
    least = max(least, compared.chance(place))
    if spent.sum() < least * expected.sum():
        return None
    # How long tasks wait for others that they have started tells nothing of their worker.
    if any(each.seceded for each in facts.held if each.name in places.workers[place]):
        return None
    of = facts.good & (places.code == place) & (expected > 0)[facts.prefix.codes]
    share = np.append(of * (1 - expected.sum() / spent.sum()), 0.0)
    waited = float((facts.seconds(facts.waiting) * share[facts.waiting.row]).sum())
    workers = places.workers[place]
    # Its threads had so much more to do, and no other longer to wait for them.
    threads = sum(map(facts.threads_of, workers))
    most = (spent.sum() - expected.sum()) * max(facts.threads / max(threads, 1.0) - 1, 0.0)
    return _Slow(
        workers,
        places.hosts.get(place, ""),
        expected,
        spent,
        number,
        least,
        np.flatnonzero(of),
        waited,
        min(_idle_beside(facts, places.waited().get(place)), float(most)),
    )


def _idle_beside(facts: Facts, waited: Moments | None) -> float:
    """Thread-seconds in which threads were idle while tasks waited for others."""
    return facts.within([facts.budget.part("placement")], waited) if waited else 0.0


def _misplaced(facts: Facts, slow: Iterable[_Slow]) -> float:
    """`Facts.misplaced` without what is due to slow workers."""
    return max(0.0, facts.misplaced - sum(each.misplaced for each in slow))


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


def _chosen(limits: Limits, worker: int, plain: _Medians, own: _Medians, *, alone: bool) -> _Medians:
    """What a worker's attempts are held against those of others by.

    Waits for a CPU come and go among the workers of one host, and count only
    if they are large; of a worker that has its host for itself they count.
    """
    expected, spent, _ = plain.against(worker)
    return plain if alone or spent.sum() >= limits["worker-skew.starved"] * expected.sum() else own


class _Medians(NamedTuple):
    """Seconds of the attempts by kind of task and place, a worker or a host.

    Those of so few that no worker can be held against others are left out.
    Tasks of one name and one scheduler are a kind, unless its groups take very
    different times: then those of one group are.
    """

    #: For each kind at each place that has attempts of it: the kind, their number, their median.
    at_kind: np.ndarray
    number: np.ndarray
    median: np.ndarray
    #: Median of the medians of all other places, each as often as it has attempts.
    usual: np.ndarray
    #: Rows of these by place, without what no other place has enough of.
    of_place: dict[int, np.ndarray]
    #: How many times as long as elsewhere its attempts took, by place; 0 where nothing is compared.
    times: np.ndarray
    #: Code of the name of each kind; -1 where it says nothing of a worker.
    name: np.ndarray
    names: int
    #: The attempts, and the kind of each.
    rows: np.ndarray
    kind: np.ndarray
    #: How many there are of each kind; gives how much these scatter, see `_scatter`.
    total: np.ndarray
    scatter: Callable[[int], float]

    @classmethod
    def of(cls, facts: Facts, seconds: np.ndarray, times: float, places: _Places) -> _Medians:
        """Of those that ended well."""
        count = places.number or 1
        kind, name = _by_scheduler(facts, *_kinds(facts, seconds, times))
        total = np.bincount(kind, minlength=len(name))
        enough = total >= 2 * _LEAST
        mine = enough[kind]
        rows = np.flatnonzero(facts.good).astype("i4")[mine]
        kind = (np.cumsum(enough, dtype="i4") - 1)[kind[mine]]
        name, total = name[enough], total[enough]
        cell = kind.astype("i4" if len(name) * count < 1 << 31 else "i8")
        cell *= count
        cell += places.code[rows]
        known, cell = distinct(cell, len(name) * count)
        at_kind, at_place = np.divmod(known, count)
        number = np.bincount(cell, minlength=len(known))
        # One outlier on either side says nothing about a worker.
        median = medians(cell, seconds[rows], len(known))
        together = np.array([text.startswith(TOGETHER) for text in facts.names] or [False])
        name = np.where(together[name], -1, name)
        usual = np.full(len(known), np.nan)
        compared = (number >= _LEAST) & (total[at_kind] - number >= _LEAST) & (name[at_kind] >= 0)
        ends = np.searchsorted(at_kind, np.arange(len(name) + 1))
        for one in sorted_set(at_kind[compared]).tolist():
            its = slice(ends[one], ends[one + 1])
            usual[its] = _medians_of_others(median[its], number[its])
        of_place = by_code(at_place, compared)
        scatter = cache(partial(_scatter, cache(partial(by_code, kind)), seconds[rows], median, cell))
        spent, expected = (
            sums(at_place[compared], (each * number)[compared], count) for each in (median, usual)
        )
        told = at_kind, number, median, usual, of_place, ratio(spent, expected)
        return cls(*told, name, len(facts.names), rows, kind, total, scatter)

    def without_larger(self, sizes: Sizes, places: np.ndarray, place: int) -> _Medians:
        """The same without kinds whose data are so much larger at a place that this explains its times.

        `places` is the place of each attempt.
        """
        name, times = self.name.copy(), np.zeros(len(self.name))
        its = self._at(place)
        times[self.at_kind[its]] = ratio(self.median[its], self.usual[its])
        for kind, some in by_code(self.kind, (times > 1)[self.kind]).items():
            rows = self.rows[some]
            here = places[rows] == place
            if explains(how_much_larger(sizes, rows[~here], rows[here]), float(times[kind])):
                name[kind] = -1
        return self._replace(name=name)

    def against(self, place: int) -> tuple[np.ndarray, np.ndarray, int]:
        """By name, seconds a place's attempts would take elsewhere, and what they took; their number."""
        its = self._at(place)
        its = its[self.name[self.at_kind[its]] >= 0]
        mine, name = self.number[its], self.name[self.at_kind[its]]
        expected = sums(name, self.usual[its] * mine, self.names)
        spent = sums(name, self.median[its] * mine, self.names)
        return expected, spent, int(mine.sum())

    def chance(self, place: int) -> float:
        """How many times as long as elsewhere a place's attempts may seem to take where all places are alike.

        The median of n values from a normal distribution has the standard error s √(π / 2n), where s is their
        standard deviation, and the largest of W such errors is about √(2 ln W) of them; one more is allowed.
        Here of the logarithms of durations, for tasks take many times as long as others rather than seconds
        longer, and of all kinds at the place by their share of its time.
        """
        its = self._at(place)
        its = its[self.name[self.at_kind[its]] >= 0]
        kind, mine = self.at_kind[its], self.number[its]
        others = self.total[kind] - mine
        share = self.usual[its] * mine / (self.usual[its] * mine).sum()
        spread = np.array([self.scatter(each) for each in kind.tolist()])
        error = np.sqrt(np.pi / 2 * (share**2 * spread**2 * (1 / mine + 1 / others)).sum())
        return float(np.exp((np.sqrt(2 * np.log(len(self.of_place))) + _ERRORS) * error))

    def _at(self, place: int) -> np.ndarray:
        return self.of_place.get(place, np.zeros(0, "i8"))


def _scatter(
    rows_of: Callable[[], dict[int, np.ndarray]],
    seconds: np.ndarray,
    median: np.ndarray,
    cell: np.ndarray,
    kind: int,
) -> float:
    """Standard deviation of the logarithms of a kind's durations, each within its place.

    What places differ by is no part of it, and a few attempts that are far off count as if they were less so.

    Parameters
    ----------
    rows_of
        Gives the attempts of each kind.
    seconds, cell
        Of each attempt, and its place in `median`.
    """
    rows = rows_of()[kind]
    there = cell[rows]
    off = np.log(np.maximum(seconds[rows], _SHORTEST) / np.maximum(median[there], _SHORTEST))
    # As many as there are medians tell nothing, as an only one at a place is its median.
    free = len(rows) - len(sorted_set(there))
    odd = max(1, round(_ODD * free))
    squares = np.sort(off**2)
    squares[-odd:] = squares[-odd - 1]
    return float(np.sqrt(squares.sum() / max(1, free)))


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


def _by_scheduler(facts: Facts, kind: np.ndarray, name: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kinds told apart by scheduler: another cluster may have other machines, or get larger data."""
    several = len(facts.schedulers.names)
    if several < 2:
        return kind, name
    code = kind.astype("i8") * several + facts.schedulers.attempt[facts.good]
    known, kind = distinct(code, len(name) * several)
    return kind, name[known // several]


def _medians_of_others(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """For each value the weighted median of all others; of those without weight NaN."""
    order = np.argsort(values)
    order = order[weights[order] > 0]
    mine, total = weights[order], np.cumsum(weights[order])
    half, own = (total[-1] - mine) / 2, np.arange(len(order))
    middle = []
    # Of an even number there are two in the middle, mostly the same one.
    for side in ("left", "right"):
        at = np.searchsorted(total, half, side)
        # From its own place on, sums are larger by its own weight than those of the others.
        past = np.minimum(np.searchsorted(total, half + mine, side), len(order) - 1)
        middle.append(values[order[np.where(at < own, at, past)]])
    found = np.full(len(values), np.nan)
    found[order] = (middle[0] + middle[1]) / 2
    return found


def _loaded(facts: Facts, limits: Limits, lost: float) -> Iterator[Finding]:
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
    much = limits["imbalanced-threads.idle"] * facts.offered
    lost = _misplaced(facts, _slow_places(facts, limits)) if facts.misplaced >= much else 0.0
    if not lost or lost < much:
        return
    # Of one worker with most of the work worker-skew tells.
    if any(_loaded(facts, limits, lost)):
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
    says="Some workers, or hosts, are slower than others at the same tasks, or one has most of the work.",
    formula=(
        "Slower: the medians of its tasks by name against those of the other workers of its cluster, of a "
        "host with several workers those of the other hosts, waits for a CPU counted in, at least "
        "`worker-skew.times` over `worker-skew.count` tasks or more, and more than the slowest of so many "
        "that are alike would seem to take by chance: e to the standard error of the medians, by how much "
        "durations scatter within workers (s √(π / 2n), s of their logarithms), times √(2 ln W) + 1 for W "
        "workers; without waits for the interpreter's "
        "lock, and waits for a CPU and collecting garbage not counted in (`worker-skew.starved`) among "
        "workers of one host; not those whose data are larger in proportion; several are told as one. More "
        "work: busy share of its threads, without such waits, at least "
        "`worker-skew.times` that of any other, and its share of all work at least its share of all threads, "
        "while threads elsewhere were idle beside waiting tasks for `worker-skew.idle` of all thread time."
    ),
    cost=(
        "Slower: its time beyond the medians, and idle time of threads that waited for it in proportion; "
        "idle time beside tasks that waited there and nowhere else, no more of it than that time beyond. "
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
