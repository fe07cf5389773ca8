"""Event loops that did not come to run: heartbeats, data and new tasks wait for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ... import words
from ...timeline import Moments
from .building import slow_intake
from .facts import Facts
from .finding import Fact, Finding
from .imports_on_loop import before_graphs, beforehand, imports
from .late import blocked
from .moved import pickling
from .names import by_code, carried_by, most, of_workers, own_workers, quoted, split
from .on_loop import HELD_UP, OFF_THE_LOOP, holds_up_tasks, on_loop
from .rule import Rule
from .shapes import Pieces
from .spill import spilled
from .thresholds import Limits

#: Share of the delays that another finding explains, from which they are not told again.
_EXPLAINED = 0.5
#: Share of the delays in which tasks ran, or results were passed on, from which these are to blame.
_BLAMED = 0.5
#: Share of the delays of which there must be call stacks.
_SAMPLED = 0.2
#: Share of the time for which any process was sampled, from which another tells how busy the machine was.
_THERE = 0.25


def _event_loop_lag(facts: Facts, limits: Limits) -> Iterator[Finding]:
    if facts.attempts.local.all():
        return
    late = blocked(facts, limits["event-loop-lag.lag"])
    usual = _usual(facts, late)
    # What making a graph holds up is told of the graph.
    graphs = slow_intake(facts, limits)
    for name in late if _one_process(facts) else late.keys() & {"scheduler"}:
        late[name] = late[name].without(graphs)
    # What slow pickling holds up is told of the data.
    for name, moments in pickling(facts, limits).items():
        if name in late:
            late[name] = late[name].without(moments)
    idle = _Idle(facts)
    much = {
        name: moments
        for name, moments in late.items()
        if len(moments.start) and _much(facts, name, moments, usual.get(name, 0.0), idle, limits)
    }
    spilling = spilled(facts).seconds
    if facts.carried >= limits["large-graph.bytes"]:
        # Unpacking what tasks bring along holds the loop up; see large-graph.
        much = {name: moments for name, moments in much.items() if name in ("scheduler", "client")}
    much = {
        name: moments
        for name, moments in much.items()
        if moments.both(facts.garbage.when(name)).seconds < _EXPLAINED * moments.seconds
        # What a limit stops is told of the limit.
        and facts.throttled.get(name, 0.0) < limits["cpu-limit.periods"]
    }
    workers = {
        name: moments
        for name, moments in much.items()
        # What spilling holds up is told of spilling.
        if name not in ("scheduler", "client") and spilling.get(name, 0.0) < _EXPLAINED * moments.seconds
    }
    importing = {name: moments for name, moments in workers.items() if imports(facts, name, moments).hold_up}
    if importing:
        yield _of_imports(facts, limits, importing)
    if others := {name: moments for name, moments in workers.items() if name not in importing}:
        yield _of_workers(facts, limits, others)
    elsewhere = (workers and _one_process(facts)) or holds_up_tasks(facts, limits)
    if "scheduler" in much and not elsewhere:
        yield _of_scheduler(facts, limits, much["scheduler"])


def _of_imports(facts: Facts, limits: Limits, late: Mapping[str, Moments]) -> Finding:
    worst = _worst(late)
    found = imports(facts, worst, late[worst])
    return _of_late(
        facts,
        limits,
        late,
        f"Importing `{found.module}`",
        why=(
            "A worker unpacks tasks on its event loop, and imports the modules that these need; later tasks "
            "find them ready. While its event loop does not run, a worker takes no new tasks, sends and "
            f"receives no data and no heartbeats. {found.said()}"
        ),
        advice=beforehand(found.module),
        url="https://docs.dask.org/en/stable/customize-initialization.html",
    )


def _of_workers(facts: Facts, limits: Limits, late: Mapping[str, Moments]) -> Finding:
    function, seen = _seen(facts, late)
    ran = _names(facts, late)
    if function:
        # Tasks that ran beside are to blame only if it is theirs: a coroutine.
        ran = tuple(name for name in ran if f"`{name}`" in function or f".{name}`" in function)
    names = ran or (() if function else _passed_on(facts, late))
    doing = quoted(names, 1) if names else function or "Something else than tasks"
    if names and not ran:
        doing = f"Packing or unpacking results of {doing}"
    return _of_late(
        facts,
        limits,
        late,
        doing,
        tasks=names,
        why=(
            "While its event loop does not run, a worker takes no new tasks, sends and receives no data "
            "and no heartbeats; after some minutes the scheduler gives it up. Code that holds the GIL for "
            "long does this, and so do a coroutine that computes or waits without `await`, an object that "
            f"takes long to pickle, and what runs there: plugins, callbacks, functions of `client.run`.{seen}"
        ),
        advice=(
            "In an `async def` task, move what blocks to a thread, or make it an ordinary function:\n\n"
            "    await asyncio.to_thread(read, path)\n\n"
            "For code that holds the GIL use functions that release it (NumPy, Cython `nogil`, Numba "
            "`nogil=True`), or run it in a process of its own:\n\n"
            "    subprocess.run([sys.executable, 'step.py', path], check=True)"
        ),
        url=EVENT_LOOP_LAG.url,
    )


def _of_late(facts: Facts, limits: Limits, late: Mapping[str, Moments], doing: str, **more: Any) -> Finding:
    """What is told of workers whose event loops were late, whatever kept them from running."""
    held = {name: moments.seconds for name, moments in late.items()}
    workers = sorted(held, key=lambda name: -held[name])
    threads = _Idle(facts)
    idle = sum(threads.during(moments, name) for name, moments in late.items())
    cost = min(facts.served, sum(threads.cost(moments, name) for name, moments in late.items()))
    longest = _longest(late)
    return Finding(
        code="event-loop-lag",
        severity=_severity(facts, limits, max(held.values()), cost),
        title=(
            f"{doing} kept the event loop of {words.count(len(workers), 'worker')} from running, for up to "
            f"{words.duration(longest)}"
        ),
        workers=tuple(workers[:10]),
        start=facts.since(min(float(each.start[0]) for each in late.values())),
        stop=facts.since(max(float(each.stop[-1]) for each in late.values())),
        cost_thread_seconds=idle,
        cost_seconds=cost,
        is_told=_always_told(limits, held[workers[0]]),
        evidence=_evidence(facts, limits, held[workers[0]], longest, idle),
        **more,
    )


def _seen(facts: Facts, late: Mapping[str, Moments]) -> tuple[str, str]:
    """What no part of Dask did there for most of the delays, by its call stacks, and a sentence on it."""
    worst = _worst(late)
    own = on_loop(facts, worst, late[worst])
    if own.share < HELD_UP or own.when.seconds < _SAMPLED * late[worst].seconds:
        return "", ""
    functions = words.listing(own.functions)
    return own.functions[0], f" Call stacks of it show {functions}, which is no part of Dask."


def _of_scheduler(facts: Facts, limits: Limits, late: Moments) -> Finding:
    held, longest, threads = late.seconds, _longest({"": late}), _Idle(facts)
    idle, cost = threads.during(late), threads.cost(late)
    still = f"for {words.duration(held)}, up to {words.duration(longest)} at a time"
    title = f"The scheduler's event loop stood still {still}"
    doing, advice = "Plugins, very large graphs and `client.run_on_scheduler` do this.", _SEE
    own, imported = on_loop(facts, "scheduler", late), imports(facts, "scheduler", late)
    if imported.hold_up:
        title = f"Importing `{imported.module}` kept the scheduler's event loop from running {still}"
        doing = f"Graphs are unpacked there, and what they need is imported. {imported.said()}"
        advice = before_graphs(imported.module)
    elif own.share >= HELD_UP:
        title = f"{own.functions[0]} kept the scheduler's event loop from running {still}"
        doing = (
            f"For {words.share(own.share)} of that time it was in {words.listing(own.functions)}, which is "
            "no part of Dask."
        )
        advice = OFF_THE_LOOP
    return Finding(
        code="event-loop-lag",
        severity=_severity(facts, limits, held, cost),
        title=title,
        start=facts.since(late.start[0]),
        stop=facts.since(late.stop[-1]),
        cost_thread_seconds=idle,
        cost_seconds=cost,
        is_told=_always_told(limits, held),
        evidence=_evidence(facts, limits, held, longest, idle),
        why=(
            "While the scheduler's event loop does not run, no task is handed out and no result is taken "
            f"in, and the whole cluster waits. {doing}"
        ),
        advice=advice,
        url="https://distributed.dask.org/en/stable/plugins.html",
    )


_SEE = (
    "See what ran there, and move slow work out of plugins and of `client.run_on_scheduler`:\n\n"
    "    run.flame(worker='scheduler')"
)


def _worst(late: Mapping[str, Moments]) -> str:
    return max(late, key=lambda name: late[name].seconds)


def _always_told(limits: Limits, held: float) -> bool:
    """Whether so many seconds of delays are told whatever they cost: heartbeats came late, too."""
    return held >= limits["event-loop-lag.longest"]


def _severity(facts: Facts, limits: Limits, held: float, cost: float) -> str:
    much = held >= limits["event-loop-lag.critical"] * facts.wall
    costly = cost >= limits["all.critical"] * facts.wall
    return "critical" if much or costly else "warning"


def _evidence(facts: Facts, limits: Limits, held: float, longest: float, idle: float) -> tuple[Fact, ...]:
    return (
        Fact("longest delay", longest, "s", limits["event-loop-lag.longest"]),
        Fact(
            "share of the run in delays",
            held / max(facts.wall, 1e-9),
            "share",
            limits["event-loop-lag.share"],
        ),
        Fact("threads that were idle then", idle, "s"),
    )


def _longest(late: Mapping[str, Moments]) -> float:
    return max(float((moments.stop - moments.start).max()) for moments in late.values())


def often_late(facts: Facts, process: str, least: float) -> bool:
    """Whether an event loop is late for twice as long as that of the process which is late least."""
    late = blocked(facts, least)
    return process in late and late[process].seconds > 2 * _usual(facts, late).get(process, 0.0)


def _usual(facts: Facts, late: Mapping[str, Moments]) -> dict[str, float]:
    """Seconds in which each process would be late if it were as often as the one that was late least.

    The machine was busy then. Who was there for a short time tells nothing of the rest.
    """
    if _one_process(facts):
        return {}
    sampled = _sampled(facts)
    enough = _THERE * max(sampled.values(), default=0.0)
    least = min(
        (
            late[name].seconds / seconds if name in late else 0.0
            for name, seconds in sampled.items()
            if seconds >= enough > 0
        ),
        default=0.0,
    )
    return {name: least * seconds for name, seconds in sampled.items()}


def _sampled(facts: Facts) -> dict[str, float]:
    """Seconds of the run in which each process was sampled."""
    table = facts.read("resources")
    time = table["time"]
    since = time - np.nan_to_num(table["lag"])
    rows = np.flatnonzero((time > facts.start) & (time <= facts.stop + 1))
    return {
        name: float(time[mine].max() - since[mine].min())
        for name, mine in split(table["process"], rows).items()
    }


def _one_process(facts: Facts) -> bool:
    """Whether the workers live in the client's process, or nothing else is known."""
    names = facts.read("resources")["process"].names
    own = own_workers(facts)
    processes: set[Any] = {
        "client" if name in own else facts.processes[name] for name in names if name in facts.workers
    }
    if "client" in names:
        processes.add("client")
    return len(processes) < 2


def _much(facts: Facts, name: str, moments: Moments, usual: float, idle: _Idle, limits: Limits) -> bool:
    """Whether an event loop was late often, or once for very long with threads that waited for it."""
    held = moments.seconds - usual
    often = held >= max(limits["event-loop-lag.share"] * facts.wall, limits["event-loop-lag.seconds"])
    if often or _longest({"": moments}) < limits["event-loop-lag.longest"]:
        return often
    return idle.cost(moments, "" if name == "scheduler" else name) >= limits["all.seconds"]


class _Idle:
    """Threads that were idle, or whose task had ended: those wait for the loop to take its result."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def during(self, moments: Moments, worker: str = "") -> float:
        """Thread-seconds of them (of a worker, or of all) at these moments."""
        return self._facts.within(self._of(worker), moments)

    def cost(self, moments: Moments, worker: str = "") -> float:
        """Seconds that the run would be shorter by without them."""
        return self._facts.spread_pieces(self._of(worker), moments)

    def _of(self, worker: str) -> Sequence[Pieces]:
        if worker:
            return self._by_worker.get(worker, ())
        return self._facts.pieces(*words.IDLE, "overhead")

    @cached_property
    def _by_worker(self) -> dict[str, list[Pieces]]:
        facts = self._facts
        found: dict[str, list[Pieces]] = defaultdict(list)
        for each in facts.pieces(*words.IDLE, "overhead"):
            for code, rows in by_code(facts.lanes.worker[each.lane]).items():
                found[facts.lanes.workers[code]].append(each.take(rows))
        return found


def _passed_on(facts: Facts, late: Mapping[str, Moments]) -> tuple[str, ...]:
    """Names of the results that these workers sent or received meanwhile."""
    transfers = facts.read("transfers")
    found = []
    for worker, rows in split(transfers["worker"], np.arange(len(transfers["start"]))).items():
        begin, end = transfers["start"][rows], transfers["stop"][rows]
        if worker in late and _fills(late[worker], begin, end):
            found.append(transfers["transfer"][rows[late[worker].within(begin, end) > 0]])
    return carried_by(facts, np.concatenate(found)) if found else ()


def _fills(late: Moments, start: np.ndarray, stop: np.ndarray) -> bool:
    """Whether there was such a thing for most of the delays."""
    return late.both(Moments.of(start, stop)).seconds >= _BLAMED * late.seconds


def _names(facts: Facts, late: Mapping[str, Moments]) -> tuple[str, ...]:
    """Names of what ran on the workers for most of that time."""
    known = facts.attempts
    inside = np.zeros(len(known.run))
    for worker, mine in split(known.worker, np.flatnonzero(known.ran & of_workers(facts, late))).items():
        if _fills(late[worker], known.at("start", mine), known.at("stop", mine)):
            inside[mine] = late[worker].within(known.at("start", mine), known.at("stop", mine))
    rows = np.flatnonzero(inside > 0)
    return most(facts, rows, inside[rows], 0.3)


EVENT_LOOP_LAG = Rule(
    code="event-loop-lag",
    says="The event loop of a worker or of the scheduler could not run for long.",
    formula=(
        "Delays of `event-loop-lag.lag` or more, less those of the process that has fewest: together "
        "`event-loop-lag.share` of the run and `event-loop-lag.seconds`; or one of "
        "`event-loop-lag.longest` while threads were idle. Critical from `event-loop-lag.critical` of the "
        "run. Not told where spilling, or collecting garbage, explains half of it, where a limit on CPU "
        "time did (`cpu-limit.periods`), or where tasks waited for the scheduler for it (`scheduler-bound`); "
        "delays while a graph was made that `slow-graph` tells of, or while results came of which "
        "`slow-transfer` tells that they take long to pickle, do not count. "
        "Functions that are no part of Dask, and modules that were imported, are named where call stacks of "
        "the loop show them for half of it. Delays of less than `event-loop-lag.longest` together are "
        "told only if they cost as much as any finding."
    ),
    cost=(
        "Thread-seconds of threads (of that worker, or of all) that were idle meanwhile, or whose task had "
        "ended and waited for the loop, / threads."
    ),
    url="https://distributed.dask.org/en/stable/worker.html",
    advice="Keep blocking calls out of coroutines and plugins; functions that release the lock.",
    find=_event_loop_lag,
)
