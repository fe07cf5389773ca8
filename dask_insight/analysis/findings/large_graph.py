"""Graphs that are large, by their tasks or by the data inside of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import words
from ...columns import forget
from ...lookup import Lookup, is_any, pick
from ...schema import NOTHING
from ...timeline import Moments
from .building import intake, slowly_made
from .by_tasks import LAUNCHING, ONCE_BEFORE, by_tasks
from .facts import CARRIES, Facts, medians
from .finding import Fact, Finding
from .outliers import first_of_each
from .rule import Rule
from .thresholds import Limits


def _large_graph(facts: Facts, limits: Limits) -> Iterator[Finding]:
    table, large = facts.submissions, _large(facts, limits)
    taken, graphs = intake(facts, large), int(large.sum())
    tasks = int(np.max(table["tasks"], initial=0, where=large))
    seconds = float((taken.stop - taken.start).sum())
    # The first graph is taken in before the first task is wanted.
    before = seconds - float(taken.within(np.array([facts.start]), np.array([facts.stop])).sum())
    requests = _requests(facts, limits)
    sent = requests.seconds
    nbytes = float(np.nan_to_num(table["nbytes"]).max(initial=0.0))
    heavy = nbytes >= limits["large-graph.bytes"]
    if (
        not heavy
        and tasks < limits["large-graph.tasks"]
        and seconds + sent / max(facts.threads, 1) < limits["large-graph.seconds"]
    ):
        return
    idle = facts.pieces("scheduler", "client", "joining")
    lost = facts.within(idle, taken) + sent
    cost = before + facts.spread_pieces(idle, taken) + facts.spread(sent)
    names = requests.names or _brought(facts, table, "nbytes" if heavy else "tasks")
    most = int(table["tasks"].max(initial=0))
    evidence = [Fact("most tasks in one graph", most, "count", limits["large-graph.tasks"])]
    if nbytes > 0:
        evidence.append(Fact("largest graph as sent", nbytes, "bytes", limits["large-graph.bytes"]))
    if seconds > 0:
        evidence.append(Fact("taking graphs in", seconds, "s", limits["large-graph.seconds"]))
    if sent:
        median = Fact(
            "from the scheduler to a worker, median", requests.way, "s", limits["large-graph.request"]
        )
        evidence += [median, Fact("threads idle until tasks had come", sent, "s")]
    which = f"{graphs:,} graphs of up to" if graphs > 1 else "A graph of"
    title = f"{which} {tasks:,} tasks took the scheduler {words.duration(seconds)} to take in"
    if heavy and seconds < limits["large-graph.seconds"]:
        count = words.count(int(table["tasks"][_heaviest(table)]), "task")
        title = f"{words.size(nbytes)} of graph for {count} were sent to the scheduler"
    name = names[0] if names else "task"
    if sent:
        title = f"`{name}` carries data in its graph: {words.duration(requests.way)} to send each task"
    # Few bytes a task are what many tasks take; many are data inside of them.
    carries = bool(sent) or (heavy and _has_data(table))
    if carries and not sent:
        title = f"`{name}` carries data in its graph: {words.size(nbytes)} were sent to the scheduler"
    once = carries and not sent and _comes_once(facts, table)
    if once:
        title = f"`{name}` brings {words.size(nbytes)} along in its graph, once for all that need it"
    why = _ONCE if once else _CARRIES if carries else _MANY
    advice = _LOADED if once else _sent_once(name) if carries else _FEWER
    url = _LOAD if carries else LARGE_GRAPH.url
    nested = by_tasks(facts, table["submission"], np.ones(len(table["tasks"]))) if carries else None
    if nested and name in nested.names:
        why, advice, url = f"{why} {nested.said()}", ONCE_BEFORE, LAUNCHING
    dear = nbytes >= limits["large-graph.critical"]
    costly = cost >= limits["all.critical"] * facts.wall
    grade = 2 if costly else 1 + dear - once
    yield Finding(
        code="large-graph",
        severity=("", "warning", "critical")[grade] if heavy else "",
        title=title,
        tasks=names,
        cost_thread_seconds=lost,
        cost_seconds=cost,
        is_told=heavy,
        evidence=tuple(evidence),
        why=why,
        advice=advice,
        url=url,
    )


def carrying(facts: Facts, limits: Limits) -> tuple[str, ...]:
    """Names of tasks that bring data of their own to the workers; none where no graph is heavy by that."""
    table, names = facts.submissions, _requests(facts, limits).names
    if names or not float(np.nan_to_num(table["nbytes"]).max(initial=0.0)) >= limits["large-graph.bytes"]:
        return names
    alone = _has_data(table) and not _comes_once(facts, table)
    return _brought(facts, table, "nbytes") if alone else ()


def _heaviest(table: Mapping[str, Any]) -> int:
    """Row of the graph of most bytes."""
    return int(np.argmax(np.nan_to_num(table["nbytes"])))


def _has_data(table: Mapping[str, Any]) -> bool:
    """Whether it is data that makes that graph heavy, and not the number of its tasks."""
    largest = _heaviest(table)
    return bool(table["nbytes"][largest] >= CARRIES * max(1, int(table["tasks"][largest])))


def _comes_once(facts: Facts, table: Mapping[str, Any]) -> bool:
    """Whether a single task brings most of the largest graph, and others need it."""
    largest, known = _heaviest(table), facts.attempts
    most = np.flatnonzero(facts.good & (known.nbytes >= _MOST * table["nbytes"][largest]))
    mine = facts.submission_of(most) == table["submission"][largest]
    tasks, edges = known.task[most[mine]], facts.read("edges")
    needs, needed = (Lookup(edges[name]).rows(tasks) >= 0 for name in ("task", "dependency"))
    forget(edges)
    return bool((needed & ~needs).any())


def _sent_once(name: str) -> str:
    """What helps where tasks of a name bring data along."""
    for begin, advice in (("frompandas", _FROM_PANDAS), ("array", _FROM_ARRAY)):
        if name == begin or name.startswith(f"{begin}-"):
            return f"Have workers read the data, or send them once for all that follows.\n\n{advice}"
    return SCATTER


class _Requests(NamedTuple):
    """What it cost that tasks were long on their way to workers."""

    #: Thread-seconds that were idle meanwhile, or while the client packed them.
    seconds: float
    names: tuple[str, ...]
    #: Median way of tasks of the first name, seconds.
    way: float


_NONE = _Requests(0.0, (), 0.0)
_NEVER = Moments(np.zeros(0), np.zeros(0))
#: Bytes a task below which a graph carries no data.
_LIGHT = 5_000
#: Share of a graph's bytes that a task has from which it brings them alone.
_MOST = 0.5


def _requests(facts: Facts, limits: Limits) -> _Requests:
    """Idle time due to requests, of names most of whose tasks are long on their way."""
    known, way = facts.attempts, _ways(facts, limits)
    slow = way > 0
    if not slow.any():
        return _NONE
    by_name = np.zeros(len(way))
    for each in facts.pieces("scheduler"):
        row = each.row
        inside = np.minimum(each.stop, known.at("received", row)) - np.maximum(
            each.start, known.at("assigned", row)
        )
        by_name += np.where(slow, facts.summed(each, np.maximum(inside, 0.0) * each.threads), 0.0)
    packed, moments = _packing(facts, way, limits)
    for each in facts.pieces("client"):
        inside = facts.seconds(each) * facts.share_within(moments, each)
        by_name += np.where(packed, facts.summed(each, inside), 0.0)
    names = facts.worst(by_name, facts.names)
    if not names:
        return _NONE
    return _Requests(float(by_name.sum()), names, float(way[facts.names.index(names[0])]))


def _ways(facts: Facts, limits: Limits) -> np.ndarray:
    """Median way of the tasks of each name to workers, seconds; 0 where it is short."""
    known, sizes = facts.attempts, facts.read("submissions")["nbytes"]
    none = np.zeros(len(facts.names))
    if len(sizes) and float(np.nan_to_num(sizes).max()) < limits["large-graph.least-bytes"]:
        return none
    rows = _one_by_one(facts, limits)
    rows = rows[~_light(facts, rows)]
    if not len(rows):
        return none
    took = known.at("received", rows)
    took -= known.at("assigned", rows)
    way = np.nan_to_num(medians(facts.prefix.codes[rows], took, len(none)))
    return np.where(way >= limits["large-graph.request"], way, 0.0)


def handing_over(facts: Facts, limits: Limits) -> Moments:
    """When the scheduler took in graphs of which large-graph tells, or the client packed their tasks."""
    _, packed = _packing(facts, _ways(facts, limits), limits)
    moments = Moments.together((packed, intake(facts, _large(facts, limits)))).both(facts.whole)
    return moments if len(moments.start) and any(_large_graph(facts, limits)) else _NEVER


def under_way(facts: Facts, limits: Limits) -> Moments:
    """When tasks that carry data were on their way to workers, of which large-graph tells."""
    names = _requests(facts, limits).names
    rows = np.flatnonzero(is_any(facts.prefix, names))
    if not len(rows) or not any(_large_graph(facts, limits)):
        return _NEVER
    return Moments.of(facts.attempts.at("assigned", rows), facts.attempts.at("received", rows))


def _large(facts: Facts, limits: Limits) -> np.ndarray:
    """Which of `Facts.submissions` have many tasks."""
    # Few that took long are told for themselves; see slow-graph.
    large: np.ndarray = facts.submissions["tasks"] >= limits["large-graph.least"]
    large &= ~slowly_made(facts, limits)
    return large


def _packing(facts: Facts, way: np.ndarray, limits: Limits) -> tuple[np.ndarray, Moments]:
    """Which names have tasks that take long to pack, and when the client packed them while none was there.

    Packing one takes about as long as its way to a worker, and comes before it is there.
    """
    packed = way >= 2 * limits["large-graph.request"]
    if not packed.any() or any(each.contended(limits) for each in facts.held):
        return np.zeros_like(packed), _NEVER
    chosen = np.append(packed, False)
    pieces = [each.take(np.flatnonzero(chosen[facts.name_of(each)])) for each in facts.pieces("client")]
    gaps = Moments.together((each.start, each.stop) for each in pieces)
    rows = np.flatnonzero(packed[facts.prefix.codes])
    # The gap before each task.
    gap = np.searchsorted(gaps.start, facts.attempts.at("wanted", rows)) - 1
    took = way[facts.prefix.codes[rows]]
    needed = np.bincount(gap[gap >= 0], took[gap >= 0], len(gaps.start))
    return packed, Moments.of(np.maximum(gaps.start, gaps.stop - needed), gaps.stop)


def _light(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """Which attempts are at tasks that came with few bytes a task: only a busy scheduler makes these slow."""
    table = facts.read("submissions")
    light = table["nbytes"] < _LIGHT * np.maximum(table["tasks"], 1)
    return np.asarray(pick(light, _submission(facts, rows)), bool)


def _one_by_one(facts: Facts, limits: Limits) -> np.ndarray:
    """Rows of the attempts that were sent to a worker each for itself."""
    known = facts.attempts
    rows = np.flatnonzero(facts.good & ~known.local & np.isfinite(known.received)).astype("i4")
    # The first task of a worker also waits for imports; see cold-start.
    rows = np.delete(rows, first_of_each(known.worker.codes[rows], known.at("assigned", rows)))
    # Those first in a graph are sent when the scheduler is done with all of it.
    since = known.at("assigned", rows)
    since -= _came(facts, rows, limits)
    later: np.ndarray = rows[~(np.abs(since, out=since) < limits["large-graph.request"])]
    return later


def _came(facts: Facts, rows: np.ndarray, limits: Limits) -> np.ndarray:
    """When the graphs came that brought the tasks of some attempts; NaN where that is not known.

    And of those that are a single task with data: there is no other to be done with.
    """
    table = facts.read("submissions")
    single = (table["tasks"] == 1) & (table["nbytes"] >= limits["large-graph.least-bytes"])
    came = np.where(single, np.nan, table["time"])
    found: np.ndarray = pick(came, _submission(facts, rows))
    return found


def _submission(facts: Facts, rows: np.ndarray) -> np.ndarray:
    """Row in ``submissions`` of what brought the task of each of some attempts; -1 where it is not known."""
    return Lookup(facts.read("submissions")["submission"]).rows(facts.submission_of(rows))


def _brought(facts: Facts, table: Mapping[str, Any], by: str) -> tuple[str, ...]:
    """Names of the tasks of the graph that is largest by tasks or bytes, most first."""
    if not len(table["tasks"]):
        return ()
    largest = table["submission"][int(np.argmax(np.nan_to_num(table[by])))]
    graph = facts.read("graph")
    mine = graph["submission"] == largest
    if not mine.any():
        mine[:] = True
    prefix = graph["prefix"]
    weight = np.ones(len(mine))
    if by == "nbytes":
        # What a graph brings along stands in tasks that need no other, and most of it in large results.
        made = Lookup(np.where(facts.attempts.ok, facts.attempts.task, NOTHING)).rows(graph["task"])
        there = np.flatnonzero(made >= 0)
        weight[there] += np.nan_to_num(facts.attempts.at("nbytes", made[there]), copy=False)
        del made, there
        edges = facts.read("edges")
        roots = mine & (Lookup(edges["task"]).rows(graph["task"]) < 0)
        forget(edges)
        mine = roots if roots.any() else mine
    forget(graph)
    return facts.worst(np.bincount(prefix.codes[mine], weight[mine], len(prefix.names)), prefix.names)


_LOAD = "https://docs.dask.org/en/stable/best-practices.html#load-data-with-dask"
_MANY = (
    "Every task of a graph is built by the client, sent, unpacked and put in order by the scheduler, before "
    "the first "
    "one runs, and all stay in the scheduler's memory until they are done with."
)
_CARRIES = (
    "Something large stands inside of the tasks (an array, a frame, a model), so that each task brings it "
    "along: the "
    "client packs it, the scheduler passes it on to a worker with every single task, and threads are idle "
    "meanwhile."
)
_ONCE = (
    "Something large stands inside of one task (an array, a frame, a model), and others need it: the client "
    "packs it, it goes through the scheduler's process to a worker, and from there to all others."
)
_LOADED = (
    "Let a task load or make it on a worker, or send it before the graph.\n\n"
    "    data = dask.delayed(load)(path)   # instead of dask.delayed(data)\n"
    "    data = client.scatter(data, broadcast=True)"
)
_FEWER = (
    "Make fewer tasks, by larger chunks or partitions, or hand the work over in parts.\n\n"
    "    x = da.from_zarr(url, chunks='200MB')   # larger chunks from the start\n"
    "    for part in parts: results.append(part.persist())   # one graph after the other"
)
_FROM_PANDAS = (
    "    df = dd.read_parquet(path)   # after frame.to_parquet(path), once\n"
    "    df = dd.from_pandas(frame, npartitions=20).persist()"
)
_FROM_ARRAY = (
    "    x = da.from_zarr(path)   # after da.from_array(array).to_zarr(path), once\n"
    "    x = da.from_array(array, chunks='auto').persist()"
)
SCATTER = (
    "Send large data once and refer to it, or let the workers load it.\n\n"
    "    data = client.scatter(data, broadcast=True)\n"
    "    futures = client.map(function, items, data=data)\n"
    "    # dask.delayed: data = dask.delayed(data), once\n"
    "    # better: data = dask.delayed(load)(path)"
)

LARGE_GRAPH = Rule(
    code="large-graph",
    says="A graph was so large, by its tasks or the data inside of them, that handing it over took long.",
    formula=(
        "A graph of `large-graph.bytes` as it is sent (critical from `large-graph.critical`), or of "
        "`large-graph.tasks` tasks, or `large-graph.seconds` in which the scheduler took graphs "
        "in (materializing, ordering, making states) of `large-graph.least` tasks or more, together with "
        "idle time of threads while tasks were on their way to workers, of names whose median way, but for "
        "the tasks that are sent first of a graph of several, takes `large-graph.request`, or twice that, "
        "while the client packed them, for as long as their way takes; that only where a graph has "
        "`large-graph.least-bytes`, for a busy scheduler is slow too. No warning for its size alone where "
        "one task brings the data and others need it."
    ),
    cost="The time of taking in, and that idle time over all threads.",
    url="https://docs.dask.org/en/stable/best-practices.html#avoid-very-large-graphs",
    advice="Fewer and larger chunks; data scattered once or loaded by workers, not put into tasks.",
    find=_large_graph,
)
