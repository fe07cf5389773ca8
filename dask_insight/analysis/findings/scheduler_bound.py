"""Threads that are idle while tasks are ready: the scheduler has not handed them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import is_any
from ...timeline import Moments, schedulers_mixed
from .building import intake
from .facts import Facts
from .finding import Fact, Finding
from .large_graph import under_way
from .loops import often_late
from .names import own_workers
from .on_loop import HELD_UP, OFF_THE_LOOP, on_loop
from .rule import Rule
from .thresholds import Limits


class _Load(NamedTuple):
    """What is sampled of the scheduler's process, in order of time."""

    #: When the time that a sample stands for begins, and ends.
    before: np.ndarray
    time: np.ndarray
    #: Use of a core, per cent; and for how much of one its event loop waited, 0 if unknown.
    cpu: np.ndarray
    starved: np.ndarray
    #: Longest delay of the event loop, seconds.
    lag: np.ndarray

    def without_core(self, within: Moments) -> float:
        """Share of what its event loop could have used of a core at some moments that others had, 0 to 1."""
        inside = within.has(self.time)
        seconds = (self.time - self.before)[inside]
        waited, had = (float(np.nansum(each[inside] * seconds)) for each in (self.starved, self.cpu))
        return waited / max(waited + had, 1e-9)


def _load(facts: Facts) -> _Load:
    table = facts.read("resources")
    mine = np.flatnonzero(is_any(table["process"], ("scheduler",)))
    mine = mine[np.argsort(table["time"][mine])]
    time, cpu, lag = (table[name][mine].astype("f8") for name in ("time", "cpu", "lag"))
    starved = table["starved"][mine].astype("f8") if "starved" in table else np.zeros(len(mine))
    before = np.concatenate((time[:1] - 0.5, time[:-1]))
    return _Load(before, time, cpu, 100 * np.nan_to_num(starved) / np.maximum(time - before, 1e-3), lag)


def _scheduler_bound(facts: Facts, limits: Limits) -> Iterator[Finding]:
    load = _load(facts)
    if not len(load.time) or facts.offered <= 0 or schedulers_mixed(facts.read):
        return
    # Of a process that tasks run in too, neither tells of the scheduler.
    own = not own_workers(facts)
    # On a busy machine every event loop is late.
    late = often_late(facts, "scheduler", limits["scheduler-bound.lag"])
    wanted = load.cpu + load.starved >= limits["scheduler-bound.cpu"]
    loaded = own & (wanted | (late & (load.lag >= limits["scheduler-bound.lag"])))
    idle = facts.pieces("scheduler")
    held_up = on_loop(facts, "scheduler", facts.whole).when
    # Its messages come late after it was busy, too.
    busy = Moments.of(
        np.append(load.before[loaded] - np.nan_to_num(load.lag[loaded]), held_up.start),
        np.append(load.time[loaded], held_up.stop),
    )
    # What collecting garbage held up is told of that; see garbage-collection.
    busy = busy.without(facts.garbage.when("scheduler", "client"))
    # Taking graphs in, and passing on tasks that carry data, has causes of its own; see large-graph.
    taken, most = Moments.together((intake(facts), under_way(facts, limits))), np.inf
    lost = facts.within(idle, busy.without(taken))
    held = facts.within(idle, held_up.without(taken))
    if lost < limits["scheduler-bound.share"] * facts.offered:
        count = int(facts.attempts.ran.sum())
        # So many tasks keep it busy, whatever share of a core a busy machine leaves it.
        busy, most = facts.whole, count * limits["tiny-tasks.each"]
        lost = facts.within(idle, busy.without(taken))
        many = count >= limits["scheduler-bound.rate"] * facts.wall
        if not many or lost < limits["scheduler-bound.many"] * facts.offered:
            return
    if lost <= 0:
        return
    seconds = busy.seconds
    each = int(busy.has(facts.attempts.done).sum()) / seconds if seconds > 0 else 0.0
    worst = float(np.nanmax(load.lag, initial=0.0))
    reason = _reason(facts, limits, load, busy, held >= HELD_UP * lost)
    names = waited_for(facts)
    yield Finding(
        code="scheduler-bound",
        title=f"Threads waited {words.duration(lost)} for a scheduler {reason.that}",
        tasks=names,
        start=facts.since(max(busy.start[0], facts.start)),
        stop=facts.since(min(busy.stop[-1], facts.stop)),
        cost_thread_seconds=lost,
        cost_seconds=min(facts.spread_pieces(idle, busy.without(taken)), most),
        evidence=(
            Fact(
                "idle while tasks were ready", lost / facts.offered, "share", limits["scheduler-bound.share"]
            ),
            Fact("longest delay of its event loop", worst, "s", limits["scheduler-bound.lag"]),
            Fact(
                "its highest use of a core",
                float(np.nanmax(load.cpu, initial=0.0)),
                "%",
                limits["scheduler-bound.cpu"],
            ),
            Fact("tasks a second meanwhile", each, "", limits["scheduler-bound.rate"]),
            *reason.evidence,
        ),
        why=(
            f"Tasks ({words.listing(f'`{name}`' for name in names[:3])}) were ready, and threads were free, "
            f"but {reason.because}: it handled {words.about(each, 'task', digits=3)} a second, and its "
            f"event loop came up to {words.duration(worst)} late.{_limit(facts, limits)}"
        ),
        advice=reason.advice,
        url=SCHEDULER_BOUND.url,
    )


class _Reason(NamedTuple):
    """Why the scheduler was slow: to follow "a scheduler" in a title, and "but" in a sentence."""

    that: str
    because: str
    advice: str
    evidence: tuple[Fact, ...] = ()


def _reason(facts: Facts, limits: Limits, load: _Load, busy: Moments, held_up: bool) -> _Reason:
    seen = on_loop(facts, "scheduler", busy)
    if held_up and seen.functions:
        return _Reason(
            f"held up by {seen.functions[0]}",
            f"for {words.share(seen.share)} of that time the scheduler's only thread was in "
            f"{words.listing(seen.functions)}, which is no part of Dask",
            OFF_THE_LOOP,
            (Fact("samples of its event loop there", seen.share, "share"),),
        )
    without = load.without_core(busy)
    # What a limit stops waits in the same queue, though cores are free.
    if without >= limits["scheduler-bound.starved"] and not _limit(facts, limits):
        return _Reason(
            "that had to wait for a core",
            f"for {words.share(without)} of the time in which the scheduler's only thread could have run, "
            "something else had the cores of its machine",
            _A_CORE,
            (Fact("waited for a core", without, "share", limits["scheduler-bound.starved"]),),
        )
    return _Reason("that could not keep up", "the scheduler's only thread was busy", _LESS_TO_DO)


def _limit(facts: Facts, limits: Limits) -> str:
    """What is to be said of a limit on the scheduler's CPU time."""
    stopped = facts.throttled.get("scheduler", 0.0)
    if stopped < limits["cpu-limit.periods"]:
        return ""
    return (
        f" A limit on its CPU time was used up in {words.share(stopped)} of its periods: have that raised "
        "first."
    )


_A_CORE = (
    "Leave the scheduler a core of its own: fewer worker threads on its machine, or a machine without "
    "workers and other programs.\n\n"
    "    LocalCluster(n_workers=cores - 1, threads_per_worker=1)\n"
    "    # see who has the cores: `top`, on the scheduler's machine"
)
_LESS_TO_DO = (
    "Give it less to do: fewer and longer tasks, fewer clients and open dashboards, no slow "
    "scheduler plugins. "
    "What keeps it busy shows in its flame graph.\n\n"
    "    run.flame(worker='scheduler')\n"
    "    client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))\n"
    "    # fewer tasks: larger `chunks=`, larger partitions, several items in one task"
)


def waited_for(facts: Facts) -> tuple[str, ...]:
    """Names of the tasks that were ready and not yet with a worker for longest while threads were idle."""
    known = facts.attempts
    idle = facts.by_name(facts.pieces("scheduler"))
    waited = np.bincount(
        facts.prefix.codes, np.where(known.ran, known.received - known.ready, 0.0), len(facts.names)
    )
    return facts.worst(idle if idle.sum() > 0 else waited, facts.names)


SCHEDULER_BOUND = Rule(
    code="scheduler-bound",
    says="Tasks were ready and threads were free, but the scheduler could not keep up.",
    formula=(
        "Idle time with ready tasks that had no worker yet or were on their way to it, within moments in "
        "which the scheduler's process (where no tasks run in it) used `scheduler-bound.cpu` of a core or "
        "its event loop came `scheduler-bound.lag` late (for twice as long as any other), or was, by its "
        "call stacks, in functions that are no part of Dask, at least `scheduler-bound.share` of all thread "
        "time. Where `scheduler-bound.rate` tasks ended a second, at any moment, at least "
        "`scheduler-bound.many`. Such functions are named where they explain half of it. Time for which the "
        "event loop found no free core counts as use of one, where the system tells of it; from a share of "
        "`scheduler-bound.starved` it is the reason that is told. Nothing is told where several clusters "
        "were there at once, as samples do not tell their schedulers apart."
    ),
    cost=(
        "That idle time, over all threads; of `scheduler-bound.rate` tasks a second at most "
        "`tiny-tasks.each` for each of them."
    ),
    url="https://distributed.dask.org/en/stable/limitations.html",
    advice="Fewer and longer tasks, fewer clients and dashboards, no slow scheduler plugins.",
    find=_scheduler_bound,
)
