"""Workers that went away with work and results, and what had to be done again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import spread
from ...tables.facts import from_json
from ...timeline import process_memory
from .departures import departures
from .ends import ANEW, DIED, NOTHING_RAN, End, ends
from .exits import Exits
from .facts import Facts, is_any
from .finding import Fact, Finding
from .host_memory import full_hosts
from .hosts import Low
from .made_again import SLACK
from .names import by_code, most, of_workers, quoted, split, workers_of
from .p2p import began_anew
from .retired import found as of_retired
from .retired import retirements
from .rule import Rule
from .suspects import Deaths, suspects
from .thresholds import Limits

#: Seconds before a loss in which a full host may have been its cause.
_FILLS = 30.0
#: Share of its limit from which a worker was most likely killed for its memory, and below which it was not
#: short of it; seconds of its rise that are told, and after which nothing is known of its memory any more.
_FULL, _LOW, _RISES, _KNOWN = 0.8, 0.5, 2.0, 2.5
#: What is known of those whose nannies say how they ended.
_UNASKED = "The scheduler lost them, and nobody had asked them to leave."
#: Seconds that a scheduler stays after its last worker if nobody closes the cluster.
_STAYS = 10.0


class Loss(NamedTuple):
    """A worker that went, with what went with it."""

    worker: str
    #: Seconds since the epoch.
    when: float
    #: Results that only it had.
    results: int
    #: Rows of attempts that died with it, and of those that made its results again.
    killed: np.ndarray
    again: np.ndarray
    #: Thread-seconds of tasks that were running.
    running: float


class Kill(NamedTuple):
    """A worker that its nanny ended for its memory; its process's memory in bytes."""

    worker: str
    #: Seconds since the epoch.
    when: float
    memory: float


class Seen(NamedTuple):
    """The memory of a worker's process when it was last seen."""

    worker: str
    #: Share of the lower of the limits that Dask and the system have for it.
    share: float
    #: Bytes, and how many more than a moment before.
    nbytes: float
    rise: float
    #: Seconds before it was lost.
    age: float
    #: Whether it shared a limit with others, and all of them came to half of that.
    is_crowded: bool

    @property
    def coming(self) -> float:
        """Share of its limit that it had once it had risen as much again."""
        return self.share * (1 + max(self.rise, 0.0) / self.nbytes) if self.nbytes > 0 else self.share


def _worker_lost(facts: Facts, limits: Limits) -> Iterator[Finding]:
    # What nannies ended is told of their memory.
    ended = {kill.worker for kill in kills_of(facts)}
    ways = ends(facts)
    by_end: dict[End, list[Loss]] = {}
    found = [loss for loss in losses_of(facts) if loss.worker not in ended]
    found = [loss for loss in found if len(loss.killed) or len(loss.again)]
    wanted = _wanted_until(facts) if found else np.inf
    for loss in found:
        if loss.when < wanted:
            by_end.setdefault(ways.get(loss.worker, DIED), []).append(loss)
    for end, losses in by_end.items():
        if len(losses) >= limits["worker-lost.count"]:
            yield _lost(facts, limits, end, losses)
    lost = {loss.worker for loss in found}
    retired = [each for each in retirements(facts, DoneAgain(facts).of) if each.worker not in lost]
    yield from of_retired(facts, retired, WORKER_LOST.url)


def _lost(facts: Facts, limits: Limits, end: End, losses: list[Loss]) -> Finding:
    known = facts.attempts
    again, seconds = _rows("again", losses), lost_work(facts, losses)
    first, last = min(loss.when for loss in losses), max(loss.when for loss in losses)
    went_on = bool((known.ran & (known.done > last)).any())
    names, why = _names(facts, losses, again), end.why
    exits = Exits(facts, (loss.worker for loss in losses) if end is DIED else ())
    if said := exits.why():
        why = f"{_UNASKED} {said}"
    why += ANEW if went_on else NOTHING_RAN
    seen = _fullest(facts, losses) if end is DIED else None
    if end is DIED:
        suspected = suspects(facts, deaths_of(facts, losses), limits["worker-lost.size"])
        names = tuple(dict.fromkeys((*suspected.names, *names)))
        why += f"{_memory(facts, limits, losses, seen, exits)}{suspected.why}"
    why = f"{why.strip()} {began_anew(facts, (loss.worker for loss in losses))}"
    cut, anew = _cut(facts, losses), _anew(facts, losses)
    whole = max(float(facts.inside.sum()), 1e-9)
    left = f"{words.count(len(losses), 'worker')} {end.title}{f' ({exits.only.short})' if exits.only else ''}"
    doing = f" with {quoted(names)}" if names else ""
    return Finding(
        code="worker-lost",
        severity=end.severity,
        title=f"{left}{doing}; {words.duration(seconds)} of work was lost",
        tasks=names,
        # Together they show what was lost and who did it again.
        workers=tuple(dict.fromkeys((*(loss.worker for loss in losses), *workers_of(facts, anew)))),
        start=facts.since(float(known.at("assigned", cut).min(initial=first))),
        stop=facts.since(float(known.at("done", anew).max(initial=last))),
        cost_thread_seconds=seconds,
        cost_seconds=lost_seconds(facts, losses),
        is_told=True,
        evidence=(
            Fact(f"workers that {end.title}", len(losses), "count", limits["worker-lost.count"]),
            Fact("tasks that they had been given", len(_rows("killed", losses)), "count"),
            Fact("results lost with them", sum(loss.results for loss in losses), "count"),
            Fact("work done again", float(facts.inside[again].sum()), "s"),
            Fact("lost work, of the time in functions", seconds / whole, "share"),
            *exits.facts(),
            *_facts_of(seen),
        ),
        why=why.strip(),
        advice=exits.advice or end.advice,
        url=WORKER_LOST.url,
    )


def lost_work(facts: Facts, losses: list[Loss]) -> float:
    """Thread-seconds of work that went with workers, and of what made their results again."""
    return float(facts.inside[_rows("again", losses)].sum()) + sum(loss.running for loss in losses)


def lost_seconds(facts: Facts, losses: list[Loss]) -> float:
    """Seconds that the run would be shorter by if all threads had shared that work."""
    running, when = (np.array([getattr(loss, name) for loss in losses]) for name in ("running", "when"))
    tasks = [len(running_of(facts, loss.worker, loss.killed)) for loss in losses]
    length = running / np.maximum(tasks, 1)
    return facts.spread_attempts(_rows("again", losses)) + facts.spread_over(running, when - length, when)


def _rows(name: str, losses: list[Loss]) -> np.ndarray:
    """Attempts of all these losses, each once."""
    return np.unique(np.concatenate([np.zeros(0, "i8"), *(getattr(loss, name) for loss in losses)]))


def _cut(facts: Facts, losses: list[Loss]) -> np.ndarray:
    """Attempts that ran on the lost workers, as far as is known."""
    return np.concatenate([running_of(facts, loss.worker, loss.killed) for loss in losses])


def _anew(facts: Facts, losses: list[Loss]) -> np.ndarray:
    """Attempts that did again what ran on the lost workers, or what these had made."""
    known = facts.attempts
    found, again = [loss.again for loss in losses], DoneAgain(facts)
    for loss in losses:
        tasks = known.task[running_of(facts, loss.worker, loss.killed)]
        found.append(again.later(loss.worker, loss.when, tasks))
    return np.unique(np.concatenate(found))


def _memory(facts: Facts, limits: Limits, losses: list[Loss], seen: Seen | None, exits: Exits) -> str:
    """Whether the system killed for memory what lost workers had, or how full these or their hosts were."""
    lost = {loss.worker for loss in losses}
    killed = [each for each in facts.allowed if each.kills and lost.intersection(each.workers)]
    if not killed:
        full = min(_full_then(facts, limits, losses), key=lambda each: each.left, default=None)
        if full:
            return f"{full.title}, which is when systems kill processes or refuse them memory. "
        return _when_seen(seen, len(losses), exits) if seen else ""
    there = words.size(min(each.bytes for each in killed))
    times = words.count(sum(each.kills for each in killed), "time")
    return (
        f"The system, which allows their container or job {there}, killed processes of it for memory, "
        f"{times}. "
    )


def _when_seen(seen: Seen, workers: int, exits: Exits) -> str:
    """What the memory of the fullest of the lost workers tells; '' if nothing."""
    which = "The fullest of them" if workers > 1 else "It"
    had = f"{words.share(seen.share)} of its memory limit {words.duration(seen.age)} before"
    rose = f", {words.size(seen.rise)} more than a moment earlier" if seen.rise >= 0.1 * seen.nbytes else ""
    if seen.age > _KNOWN:
        return ""
    is_full, was_near = seen.share >= _FULL, seen.coming >= 1.0
    if (is_full or was_near) and exits.may_lack_memory(seen.worker):
        return f"{which} had {had}{rose}, and may have crashed for lack of memory. "
    may_be_cause = exits.may_be_for_memory(seen.worker)
    if is_full and not may_be_cause:
        return f"{which} had {had}{rose}. "
    if is_full:
        return f"{which} had {had}{rose}, and was most likely killed for its memory. "
    if was_near and may_be_cause:
        return f"{which} had {had}{rose}, and may have been killed for its memory. "
    if seen.share < _LOW and not seen.is_crowded:
        return f"Memory was not short: {which[0].lower()}{which[1:]} had {had}. "
    return ""


def _facts_of(seen: Seen | None) -> Iterator[Fact]:
    if seen:
        yield Fact("memory when last seen, of its limit", seen.share, "share", _FULL)
        yield Fact("last seen before it was lost", seen.age, "s")


def _fullest(facts: Facts, losses: list[Loss]) -> Seen | None:
    """The memory of that lost worker which was nearest to its limit; None if nobody saw any."""
    worker, time, nbytes = process_memory(facts.read).between(-np.inf, np.inf)
    samples = split(worker, np.flatnonzero(is_any(worker, {loss.worker for loss in losses})))
    found = []
    for loss in losses:
        rows = samples.get(loss.worker, np.zeros(0, "i8"))
        rows = rows[time[rows] <= loss.when]
        limit = _limit(facts, loss.worker)
        if len(rows) and limit < np.inf:
            last = rows[np.argmax(time[rows])]
            before = rows[time[rows] >= time[last] - _RISES]
            had, rise = float(nbytes[last]), float(nbytes[last] - nbytes[before].min())
            found.append(
                Seen(
                    loss.worker,
                    had / limit,
                    had,
                    rise,
                    loss.when - float(time[last]),
                    _is_crowded(facts, loss.worker),
                )
            )
    return max(found, key=lambda seen: seen.coming, default=None)


def _limit(facts: Facts, worker: str) -> float:
    """Bytes that Dask or the system allows a worker, whichever is less; infinity if neither has a limit."""
    limits = [float(facts.workers.get(worker, {}).get("memory_limit", np.nan))]
    limits += [each.bytes for each in facts.allowed if worker in each.workers]
    return min((limit for limit in limits if limit > 0), default=np.inf)


def _is_crowded(facts: Facts, worker: str) -> bool:
    mine = [each for each in facts.allowed if worker in each.workers and each.at_once > 1]
    return any(each.used >= _LOW * each.bytes for each in mine)


def _full_then(facts: Facts, limits: Limits, losses: list[Loss]) -> Iterator[Low]:
    """Those hosts of lost workers that had next to no memory left as these went."""
    for loss in losses:
        yield from full_hosts(facts, limits, loss.when - _FILLS, loss.when + SLACK, loss.worker)


def losses_of(facts: Facts) -> Iterator[Loss]:
    """Workers that nobody had asked to leave, with what went with them."""
    known, unasked = facts.attempts, [each for each in departures(facts) if not each.expected]
    given = split(known.worker, np.flatnonzero(of_workers(facts, {each.worker for each in unasked})))
    again = DoneAgain(facts)
    for worker, when, processing, results, _ in unasked:
        mine = given.get(worker, np.zeros(0, "i8"))
        killed = mine[known.killed[mine] & (np.abs(known.at("done", mine) - when) < SLACK)]
        running = _unfinished(facts, worker, when, mine) if processing else 0.0
        yield Loss(worker, when, results, killed, again.of(worker, when), running)


class DoneAgain:
    """What was computed again once a worker had left, for many workers: each looks at its own tasks alone."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def of(self, worker: str, when: float) -> np.ndarray:
        """Attempts that made results again that it had made before it left, or what Dask lays on that."""
        known, rows = self._facts.attempts, self._by_worker.get(worker, np.zeros(0, "i8"))
        made = rows[known.ok[rows] & (known.at("done", rows) <= when + SLACK)]
        own = self.later(worker, when, known.task[made])
        # What is laid on another worker went with that one.
        return np.union1d(own[~self._laid_on_one[own]], self._facts.made_again.left.get(worker, own[:0]))

    def later(self, worker: str, when: float, tasks: np.ndarray) -> np.ndarray:
        """Attempts at some tasks on other workers after a worker had left."""
        known, (rows, ordered), tasks = self._facts.attempts, self._by_task, np.unique(tasks)
        _, those = spread(np.searchsorted(ordered, tasks), np.searchsorted(ordered, tasks, "right"))
        rows = np.sort(rows[those])
        elsewhere = (known.worker.codes[rows] != self._codes.get(worker, -1)) & (known.place[rows] >= 0)
        return np.asarray(rows[elsewhere & (known.at("start", rows) > when - SLACK)])

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self._facts.attempts.worker.names)}

    @cached_property
    def _by_worker(self) -> dict[str, np.ndarray]:
        """The attempts at tasks of which there is more than one, of each worker."""
        return split(self._facts.attempts.worker, self._facts.several)

    @cached_property
    def _by_task(self) -> tuple[np.ndarray, np.ndarray]:
        """The same attempts in the order of their tasks, and these."""
        rows = self._facts.several
        tasks = self._facts.attempts.task[rows]
        order = np.argsort(tasks, kind="stable")
        return rows[order], tasks[order]

    @cached_property
    def _laid_on_one(self) -> np.ndarray:
        """Which attempts Dask lays on the leaving of some worker."""
        mask = np.zeros(len(self._facts.attempts.run), bool)
        for rows in self._facts.made_again.left.values():
            mask[rows] = True
        return mask


def _wanted_until(facts: Facts) -> float:
    """Before which moment a loss matters: work went on without the worker, waited for it, or was given up.

    When a cluster is closed, all workers go, and soon after them the scheduler.
    """
    if any("KilledWorker" in text for text in facts.read("errors")["exception"].tolist()):
        return np.inf
    samples = facts.read("resources")
    there = samples["time"][is_any(samples["process"], ("scheduler",))]
    done = facts.attempts.at("done", np.flatnonzero(facts.attempts.ok))
    last, seen = (float(np.fmax.reduce(moments, initial=-np.inf)) for moments in (done, there))
    return max(last, seen - _STAYS)


def _unfinished(facts: Facts, worker: str, when: float, mine: np.ndarray) -> float:
    """Thread-seconds since tasks last ended on the threads of a worker that had tasks to run."""
    known = facts.attempts
    given = np.sort(known.at("assigned", mine[known.killed[mine]]))
    if not len(given):
        return 0.0
    threads = int(facts.workers.get(worker, {}).get("threads") or 1)
    done = mine[known.ok[mine]]
    ends = [
        float(known.at("ended", done[rows]).max())
        for place, rows in by_code(known.place[done]).items()
        if place >= 0
    ]
    since = sorted([max(end, float(given[0])) for end in ends] + [float(given[0])] * (threads - len(ends)))
    return float(sum(max(0.0, when - each) for each in since[-min(threads, len(given)) :]))


def _names(facts: Facts, losses: list[Loss], again: np.ndarray) -> tuple[str, ...]:
    """Names by the seconds that were lost."""
    lost = np.zeros(len(facts.attempts.run))
    lost[again] = facts.inside[again]
    for loss in losses:
        rows = running_of(facts, loss.worker, loss.killed)
        lost[rows] += loss.running / max(len(rows), 1)
    rows = np.flatnonzero(lost)
    return most(facts, rows, lost[rows], 0.02)


def kills_of(facts: Facts) -> list[Kill]:
    """What nannies say of workers that they ended."""
    events = facts.read("events")
    found = []
    for row in np.flatnonzero(is_any(events["kind"], ("dask",))).tolist():
        if events["message"][row] == "worker-restart-memory":
            try:
                detail = from_json(events["detail"][row])
                when = float(events["time"][row])
                found.append(Kill(str(detail["worker"]), when, float(detail["rss"])))
            except (KeyError, TypeError, ValueError):
                continue
    return found


def deaths_of(facts: Facts, losses: list[Loss]) -> Deaths:
    """What died with some workers, of which there is one at least."""
    killed = np.concatenate([loss.killed for loss in losses])
    running = {loss.worker: _may_have_run(facts, loss) for loss in losses}
    return Deaths(running, killed, _deaths(facts, killed))


def _may_have_run(facts: Facts, loss: Loss) -> np.ndarray:
    """Attempts that ran as a worker died; all that it had been given, where it may not have come to tell."""
    ran: np.ndarray = loss.killed[facts.attempts.ran[loss.killed]]
    threads = int(facts.workers.get(loss.worker, {}).get("threads") or 1)
    return ran if len(ran) >= threads else loss.killed


def _deaths(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """With how many workers the task of each of these attempts died."""
    known = facts.attempts
    tasks, count = np.unique(known.task[known.killed], return_counts=True)
    found: np.ndarray = count[np.searchsorted(tasks, known.task[rows])]
    return found


def running_of(facts: Facts, worker: str, killed: np.ndarray) -> np.ndarray:
    """Of the attempts that died with a worker, those that probably ran: it may not have come to tell."""
    known = facts.attempts
    ran: np.ndarray = killed[known.ran[killed]]
    if len(ran):
        return ran
    threads = int(facts.workers.get(worker, {}).get("threads") or 1)
    order = np.lexsort((known.at("assigned", killed), -_deaths(facts, killed)))
    return np.asarray(killed[order][:threads])


WORKER_LOST = Rule(
    code="worker-lost",
    says="Workers died, were retired, or ended without handing over what they had, while there was work.",
    formula=(
        "`worker-lost.count` workers or more that the scheduler did not expect to leave, and that no nanny "
        "ended (see `memory-pressure`), with tasks "
        "running or with results that were computed again, while work went on, or waited on a scheduler that "
        "was still there 10 s later. Named first is what may be "
        "the cause: tasks that several of them died with; the one name that ran on each of several; or tasks "
        "that need `worker-lost.size` of the memory limit and twice what ran beside them, by what their "
        "process had more when they ended, or usually while they ran. Where nothing "
        "tells, it says so; and how full of the lower of Dask's and the system's limit the fullest was when "
        f"last seen: from {words.share(_FULL)} on it was most likely killed for its memory, unless its nanny "
        "says that it ended in a way in which nothing is killed for memory. Apart from them, "
        "workers that were closed or restarted, that got a signal to "
        "end, whose lifetime was over, or of which nothing was heard for `distributed.scheduler.worker-ttl`, "
        "as they or the scheduler tell; and those that were retired, from when they were "
        "asked to leave until they had left, where that costs enough."
    ),
    cost=(
        "(Thread-seconds of what ran there, and of what was computed again, also for P2P that began anew; of "
        "retired ones, also those that they were idle beside tasks that waited) / threads."
    ),
    url="https://distributed.dask.org/en/stable/killed.html",
    advice="Read the worker's log; more memory or smaller tasks; retire workers, do not kill them.",
    find=_worker_lost,
)
