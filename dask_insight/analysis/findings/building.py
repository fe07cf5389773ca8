"""Graphs of few tasks that took the scheduler long to make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...intake import intake_seconds
from ...tables.facts import from_json
from ...timeline import Moments
from .by_tasks import LAUNCHING, ONCE_BEFORE, by_tasks
from .facts import Facts, is_any
from .finding import Fact, Finding
from .imports_on_loop import before_graphs, imports
from .rule import Rule
from .thresholds import Limits

_NEVER = Moments(np.zeros(0), np.zeros(0))


def intake(facts: Facts, some: np.ndarray | None = None) -> Moments:
    """When the scheduler took graphs in, or some of them: a mask over `Facts.submissions`."""
    time, seconds = facts.submissions["time"], intake_seconds(facts.submissions)
    chosen = np.ones(len(time), bool) if some is None else some
    since, until = facts.part
    return Moments.of(np.maximum(time - seconds, since)[chosen], np.minimum(time, until)[chosen])


def slowly_made(facts: Facts, limits: Limits) -> np.ndarray:
    """Which of `Facts.submissions` took long for so few tasks, and not for what they carry."""
    table, seconds = facts.submissions, intake_seconds(facts.submissions)
    mask = seconds >= np.maximum(limits["slow-graph.seconds"], limits["slow-graph.each"] * table["tasks"])
    slow: np.ndarray = mask & ~(table["nbytes"] >= limits["large-graph.least-bytes"])
    return slow


def _names(facts: Facts, submission: int) -> tuple[str, ...]:
    """Names of the tasks that came with a submission, those of most tasks first."""
    graph = facts.read("graph")
    prefix, mine = graph["prefix"], graph["submission"] == submission
    return facts.worst(
        np.bincount(prefix.codes[mine], minlength=len(prefix.names)).astype("f8"), prefix.names
    )


def _slow_graph(facts: Facts, limits: Limits) -> Iterator[Finding]:
    yield from _made(facts, limits)
    yield from unmade(facts, limits)


def slow_intake(facts: Facts, limits: Limits) -> Moments:
    """When the scheduler made the graphs that this rule tells of."""
    made = intake(facts, slowly_made(facts, limits)) if any(_made(facts, limits)) else _NEVER
    underway = _underway(facts)
    if underway is None:
        return made
    since = np.array([underway.since])
    return Moments.of(np.append(made.start, since), np.append(made.stop, since + underway.took))


class _Underway(NamedTuple):
    """A graph that was still being made when the recording ended, or is at this moment."""

    since: float
    took: float
    line: str


def _underway(facts: Facts) -> _Underway | None:
    events, made = facts.read("events"), facts.read("submissions")
    rows = np.flatnonzero(is_any(events["kind"], ("graph",)))
    if not len(rows):
        return None
    row = int(rows[np.argmax(events["time"][rows])])
    when = float(events["time"][row])
    if (made["time"] >= when).any():
        return None
    try:
        told = from_json(events["detail"][row])
        since, line = float(told["since"]), words.place(str(told["file"]), int(told["line"]))
    except (KeyError, TypeError, ValueError):
        return None
    return _Underway(since, float(np.nanmax(facts.read("resources")["time"], initial=when)) - since, line)


def unmade(facts: Facts, limits: Limits) -> Iterator[Finding]:
    """Of a graph that was still being made, for which there need not be any task."""
    underway = _underway(facts)
    if underway is None:
        return
    since, took, line = underway
    yield Finding(
        code="slow-graph",
        severity="critical",
        title=f"For {words.duration(took)} the scheduler had been making a graph, and was not done",
        start=facts.since(since),
        stop=facts.since(since + took),
        is_risk=True,
        evidence=(Fact("making a graph that never was", took, "s", limits["slow-graph.seconds"]),),
        why=_why(line),
        advice=_ADVICE,
        url=SLOW_GRAPH.url,
    )


def _why(line: str) -> str:
    return (
        f"A client sends an expression{f', here from `{line}`,' if line else ''} and the scheduler makes "
        "the tasks of it: what that takes (the list of files, their metadata, quantiles of an index, modules "
        "that it imports for the first time) it looks up itself, and no task begins before."
    )


_EACH = (
    "The scheduler unpacks what it is sent, makes the tasks of it and puts them in order, each time anew, "
    "and no task begins before."
)
_ADVICE = (
    "Have it less to look up: fewer and larger files, no divisions worked out from them, and the scheduler "
    "as near to the data as workers are. What it waits for shows on the scheduler:\n\n"
    "    py-spy dump --pid PID   # where the scheduler runs: thread Dask-Offload\n"
    "    df.repartition(partition_size='256MB').to_parquet(path)   # for who writes the files\n"
    "    df = dd.read_parquet(url, ignore_metadata_file=True)      # with a huge `_metadata` beside them\n"
    "    # Leave out `calculate_divisions=True`: it has the metadata of all files read.\n"
    "    # Before Python 3.12 a scheduler in the client's process may wait for the client, and the client "
    "for it,\n"
    "    # while the divisions of `set_index` are worked out: start it apart, or take a newer Python."
)


def _made(facts: Facts, limits: Limits) -> Iterator[Finding]:
    slow = slowly_made(facts, limits)
    made = intake(facts, slow)
    seconds = float((made.stop - made.start).sum())
    # The first graph is taken in before the first task is wanted.
    before = seconds - float(made.within(np.array([facts.start]), np.array([facts.stop])).sum())
    idle = facts.pieces("scheduler", "client", "joining")
    lost = facts.within(idle, made)
    cost = before + facts.spread_pieces(idle, made)
    if not seconds or cost < limits["slow-graph.share"] * (facts.wall + before):
        return
    table = facts.submissions
    times = np.where(slow, intake_seconds(table), 0.0)
    longest = int(np.argmax(times))
    took, tasks = float(times[longest]), int(table["tasks"][longest])
    line = facts.line_of(longest)
    count = int(slow.sum())
    more = f", and {words.count(count - 1, 'other graph')}" if count > 1 else ""
    found = imports(facts, "scheduler", made)
    why, advice, url = _why(line), _ADVICE, SLOW_GRAPH.url
    if found.hold_up:
        why, advice = f"{why} {found.said()}", before_graphs(found.module)
    elif nested := by_tasks(facts, table["submission"], times):
        why, advice, url = f"{_EACH} {nested.said()}", ONCE_BEFORE, LAUNCHING
    yield Finding(
        code="slow-graph",
        title=(
            f"The scheduler took {words.duration(took)} to make a graph of {words.count(tasks, 'task')}{more}"
        ),
        tasks=_names(facts, int(table["submission"][longest])),
        start=facts.since(made.start[0]),
        stop=facts.since(made.stop[-1]),
        cost_thread_seconds=lost,
        cost_seconds=cost,
        # No finding costs more than the run took, which this one may have preceded.
        severity="critical" if before > facts.wall else "",
        is_risk=before > facts.wall,
        evidence=(
            Fact("making graphs of few tasks", seconds, "s", limits["slow-graph.seconds"]),
            Fact("for each task", took / max(tasks, 1), "s", limits["slow-graph.each"]),
            Fact("tasks in that graph", tasks, "count"),
            Fact("graphs", count, "count"),
        ),
        why=why,
        advice=advice,
        url=url,
    )


SLOW_GRAPH = Rule(
    code="slow-graph",
    says="The scheduler took long to make a graph of few tasks.",
    formula=(
        "Graphs that the scheduler took `slow-graph.seconds` to make (materializing, ordering, making "
        "states) and `slow-graph.each` for each of their tasks, and that carry no data "
        "(`large-graph.least-bytes`); together at least `slow-graph.share` of the run. Or one "
        "that it was still making, after ten seconds, when the recording ended."
    ),
    cost="That time before the first task, and idle time within it over all threads.",
    url="https://docs.dask.org/en/stable/dataframe-parquet.html#metadata",
    advice="Fewer files, no divisions from metadata, a scheduler near the data.",
    find=_slow_graph,
)
