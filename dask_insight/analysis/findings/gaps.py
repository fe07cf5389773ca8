"""Times in which the cluster had nothing to do, since the client asked for nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from ...intake import intake_seconds
from ...timeline import Moments, program_at
from .building import intake, slow_intake
from .facts import Facts, is_any
from .finding import Fact, Finding
from .large_graph import handing_over
from .restarts import first_cluster, renewals, restarts
from .retired import retiring
from .rule import Rule
from .sizes import fetching
from .thresholds import Limits

#: Gaps shorter than this are a round trip, seconds.
_SHORT = 0.002
#: Seconds by which the scheduler may know a graph before its tasks are wanted.
_ROUND_TRIP = 0.05
#: Computations from which they may be asked for together.
MANY = 4
#: Share of the gaps in which workers were retired, or graphs made, from which that is told.
_MUCH = 0.2
#: Seconds from which a gap may be somebody's thinking, where nobody saw who submitted what came next.
_THOUGHT = 5.0
#: Seconds that a period of workers' metrics lasts: recorders that write files ask for them so often.
_PERIOD = 2.0


def _client_gap(facts: Facts, limits: Limits) -> Iterator[Finding]:
    gaps = client_gaps(facts, limits)
    thought = _thought(facts, gaps)
    yield from _at_work(facts, limits, Moments(gaps.start[~thought], gaps.stop[~thought]))
    yield from _nothing_asked(facts, limits, Moments(gaps.start[thought], gaps.stop[thought]))


def _at_work(facts: Facts, limits: Limits, gaps: Moments) -> Iterator[Finding]:
    lengths = gaps.stop - gaps.start
    lost, share = _lost(facts, gaps)
    if not len(lengths) or share < limits["client-gap.share"]:
        return
    made, graphs = _graphs_made(facts, gaps)
    idle = facts.pieces("client")
    most = int(np.argmax(lengths))
    computations = len(facts.submissions["submission"])
    many = len(lengths) >= MANY and lost > 2 * float(lengths[most])
    names = facts.worst(facts.by_name(idle), facts.names)
    count = words.count(len(lengths), "gap")
    line = facts.line_after(float(gaps.stop[most]))
    place = f", before `{line}`" if line else ""
    yield Finding(
        code="client-gap",
        title=f"No tasks for {words.duration(lost)} of {words.duration(facts.wall)}, in {count}",
        tasks=names,
        start=facts.since(gaps.start[0 if many else most]),
        stop=facts.since(gaps.stop[-1 if many else most]),
        cost_thread_seconds=facts.within(idle, gaps),
        cost_seconds=lost,
        evidence=(
            Fact("time without tasks", lost, "s"),
            Fact("share of the run", share, "share", limits["client-gap.share"]),
            Fact("gaps", len(lengths), "count"),
            Fact("longest gap", float(lengths[most]), "s"),
            Fact("computations", computations, "count"),
            *([Fact("of it, the scheduler making graphs", made, "s")] if graphs else []),
        ),
        why=(
            f"Between one computation and the next all threads waited for the client: {count}, the longest "
            f"of {words.duration(float(lengths[most]))}{place}. There it "
            "built the next graph, worked on results itself or waited."
            f"{_was_at(facts, gaps)}{_scheduler_made(made, graphs)}{_retired(facts, gaps)}"
        ),
        advice=together(facts, computations) if many else _aside(facts),
        url=CLIENT_GAP.url,
    )


def _nothing_asked(facts: Facts, limits: Limits, gaps: Moments) -> Iterator[Finding]:
    lost, share = _lost(facts, gaps)
    if not len(gaps.start) or share < limits["client-gap.share"]:
        return
    count = words.count(len(gaps.start), "gap")
    yield Finding(
        code="client-gap",
        severity="info",
        title=(
            f"No tasks for {words.duration(lost)} of {words.duration(facts.wall)}, in {count}: nobody had "
            "submitted anything"
        ),
        start=facts.since(gaps.start[0]),
        stop=facts.since(gaps.stop[-1]),
        cost_thread_seconds=0.0,
        cost_seconds=0.0,
        is_told=True,
        evidence=(
            Fact("time without tasks", lost, "s"),
            Fact("share of the run", share, "share", limits["client-gap.share"]),
        ),
        why=(
            "What came next was sent by a client that runs in another process than the recorder: whether a "
            "program was at work meanwhile, or somebody thought, is not known."
        ),
        advice=(
            "Nothing, if somebody thought. Else record in the client's process: lines of code and notebook "
            "cells are told there.\n\n"
            "    with dask_insight.record() as run:\n"
            "        results = dask.compute(*parts)"
        ),
        url=CLIENT_GAP.url,
    )


def _lost(facts: Facts, gaps: Moments) -> tuple[float, float]:
    """Seconds of some gaps, and their share of the run."""
    return gaps.seconds, gaps.seconds / facts.wall if facts.wall > 0 else 0.0


def _thought(facts: Facts, gaps: Moments) -> np.ndarray:
    """Which gaps may have passed while somebody thought: long ones before a graph of a client elsewhere.

    Of those in a cell of a notebook it is known that this ran.
    """
    if len(facts.read("cells")["start"]):
        return np.zeros(len(gaps.start), bool)
    table = facts.submissions
    elsewhere = ~np.isfinite(table["nbytes"]) & is_any(table["file"], ("",))
    # Whose graphs they are, cluster dumps do not tell; those of local schedulers are this process's.
    clients = [name for name in table["client"].names if name.startswith("Client-")]
    elsewhere &= is_any(table["client"], clients)
    order = np.argsort(table["time"], kind="stable")
    following = np.searchsorted(table["time"][order], gaps.stop - _ROUND_TRIP)
    thought: np.ndarray = np.append(elsewhere[order], False)[following]
    thought &= gaps.stop - gaps.start >= _THOUGHT
    return thought


def _graphs_made(facts: Facts, gaps: Moments) -> tuple[float, int]:
    """For how many seconds of the gaps the scheduler made graphs, and how many; none if not for long."""
    stop = facts.submissions["time"]
    seconds = gaps.within(stop - intake_seconds(facts.submissions), stop)
    made = gaps.both(intake(facts)).seconds
    return (made, int((seconds > 0).sum())) if made >= _MUCH * gaps.seconds else (0.0, 0)


def _scheduler_made(seconds: float, graphs: int) -> str:
    """That the scheduler made graphs meanwhile, in words."""
    return (
        f" For {words.duration(seconds)} of it the scheduler made {words.count(graphs, 'graph')}."
        if graphs
        else ""
    )


def _was_at(facts: Facts, gaps: Moments) -> str:
    """Where the program was meanwhile, in words."""
    place = program_at(facts.read, gaps)
    return f" Most of that time the program was at {place}." if place else ""


def _retired(facts: Facts, gaps: Moments) -> str:
    """Whether it may have waited for workers to be retired, in words."""
    meanwhile = float(retiring(facts).within(gaps.start, gaps.stop).sum())
    if meanwhile < _MUCH * gaps.seconds:
        return ""
    return (
        f" For {words.duration(meanwhile)} of that time workers were being retired: `Client.retire_workers` "
        "returns once others have what they had."
    )


def client_gaps(facts: Facts, limits: Limits) -> Moments:
    """When no task was in the cluster and the client was at work.

    Without what others tell of: graphs that took long, tasks that carry much, and fetching much, see
    slow-graph, large-graph and oversized-results; nor while actors worked, for which it may have waited.
    """
    known = facts.attempts
    if not known.asked:
        # Whether the client waited, nobody knows.
        return Moments(np.zeros(0), np.zeros(0))
    busy = Moments.together(known.in_blocks("wanted", "done"))
    empty = facts.whole
    told = (
        *(slow_intake(facts, limits), handing_over(facts, limits), fetching(facts, limits)),
        *(restarts(facts), renewals(facts), first_cluster(facts, limits), _actors(facts)),
    )
    for other in (busy, facts.pause, *told):
        empty = empty.without(other)
    lasting = empty.stop - empty.start > _SHORT
    return Moments(empty.start[lasting], empty.stop[lasting])


def _actors(facts: Facts) -> Moments:
    """When actors ran their methods, of which each period tells at its end for how long they did together.

    Calls of coroutines run beside one another: together they last no longer than a period and one of them.
    """
    told = facts.read("metrics")
    rows = np.flatnonzero(is_any(told["context"], ("actor",)) & is_any(told["activity"], ("call",)))
    places = np.stack((told["worker"].codes[rows].astype("f8"), told["time"][rows]))
    (_, end), period = np.unique(places, axis=1, return_inverse=True)
    period, value, in_seconds = period.ravel(), told["value"][rows], is_any(told["unit"], ("seconds",))[rows]
    seconds = np.bincount(period[in_seconds], value[in_seconds], len(end))
    calls = np.bincount(period[~in_seconds], value[~in_seconds], len(end))
    lasted = np.minimum(seconds, seconds / np.maximum(calls, 1.0) + _PERIOD)
    return Moments.of(end - lasted, end)


def together(facts: Facts, computations: int) -> str:
    """Advice for computations that followed one another and could have been one."""
    return (
        "Ask for everything at once, so that the next tasks are there when the last ones end"
        f"{f': {computations:,} computations followed one another' if computations > 1 else ''}.\n\n"
        "    # instead of: results = [x.compute() for x in parts]\n"
        "    results = dask.compute(*parts)" + ("" if facts.all_local else _FUTURES)
    )


def _aside(facts: Facts) -> str:
    if facts.all_local:
        return (
            "Let tasks do what the program did in between, and ask for all of it at once.\n\n"
            "    result = dask.delayed(summarize)(data)   # what was done between, done by a task\n"
            "    dask.compute(result, next_step(data))"
        )
    return (
        "Let the cluster do what the client did in between, or give it the next work before looking at the "
        "results.\n\n"
        "    following = next_step(data).persist()  # runs on, while you look at the results\n"
        "    result = client.submit(summarize, future).result()  # what was done here, done there"
    )


_FUTURES = (
    "\n    # with futures: submit all, then gather\n    results = client.gather(client.map(function, items))"
)

CLIENT_GAP = Rule(
    code="client-gap",
    says="The cluster had no tasks, since the client was busy with something else.",
    formula=(
        "Moments between the first and the last task in which no task was in the cluster, without those in "
        "which the scheduler took in graphs of which `slow-graph` or `large-graph` tell, the cluster was "
        "restarted or another one started, or the first one after local schedulers, or the "
        "client fetched large results (`oversized-results`) or packed tasks that carry data (`large-graph`), "
        "those in which actors ran methods, those "
        "between two notebook cells and, where there are no cells, those of five minutes or more; at least "
        "`client-gap.share` of the run. Where there are no cells, those of five seconds or more before a "
        "graph that a client in another process sent are told apart, as *info*: somebody may have thought."
    ),
    cost="The length of the gaps: they are on the critical path; nothing of those told apart.",
    url="https://docs.dask.org/en/stable/best-practices.html#avoid-calling-compute-repeatedly",
    advice="Ask for everything at once with `dask.compute`; let the cluster do what the client did.",
    find=_client_gap,
)
