"""Findings about data on the move: tasks of shuffles, tasks that were stolen in vain, pools of processes."""

from __future__ import annotations

import operator
import re

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.utils import key_split
from distributed.scheduler import TaskPrefix
from test_findings_odd import code_of
from test_findings_time import one, told
from test_time_budget import NAN, Run

from dask_insight import words
from dask_insight.analysis.findings.names import TOGETHER


def shuffled(pieces: int, others: int, names: tuple[str, str] = ("rechunk-merge", "rechunk-split")) -> Run:
    """A rechunk of so many pieces of 4 ms each, beside tasks of the same length."""
    run = Run()
    for number in range(pieces + others):
        name = "mean" if number >= pieces else names[number % 2]
        start = number // 2 * 0.02
        run.task(name, "ab"[number % 2], start, start + 0.019)
    return run


def test_a_rechunk_made_of_tasks() -> None:
    found = one(shuffled(1200, 200), "task-shuffle")
    assert set(found.tasks) == {"rechunk-split", "rechunk-merge"}
    assert found.cost_thread_seconds == pytest.approx(1200 * 0.02, rel=0.01), "and around them"
    assert found.cost_seconds == pytest.approx(found.cost_thread_seconds / 4, rel=0.05)


def test_indexing_by_an_array_has_no_p2p() -> None:
    indexed = one(shuffled(1200, 200, ("shuffle-split", "shuffle-split")), "task-shuffle").advice
    assert "p2p" not in indexed and "rechunk({" in indexed
    names = {"x": da.ones((40, 40), chunks=(4, 4)), "index": np.arange(40)[::-3]}
    first = next(line for line in indexed.splitlines() if "rechunk" in line)
    (whole,) = dask.optimize(eval(first.partition("=")[2], names))
    assert not [key for key in whole.__dask_graph__() if key_split(key) == "shuffle-split"]


def test_grouping_a_bag_has_no_p2p_either() -> None:
    items = [{"name": f"n{number % 7}", "v": number} for number in range(100)]
    bag = db.from_sequence(items, npartitions=8)
    with dask.config.set({"scheduler": "sync"}):
        grouped = bag.groupby(operator.itemgetter("name"), shuffle="tasks").map(
            lambda group: (group[0], sum(i["v"] for i in group[1]))
        )
        names = {key_split(key) for key in grouped.__dask_graph__()}
        assert {"shuffle-split", "shuffle-group"} <= names
        run = shuffled(1200, 200, ("shuffle-split", "shuffle-split"))
        for number in range(40):
            run.task("shuffle-group", "a", 20.0 + number, 20.5 + number)
        found = one(run, "task-shuffle")
        assert found.url.endswith("bag.html#shuffle") and "isel" not in found.advice
        line = next(line for line in found.advice.splitlines() if line.strip().startswith("bag.foldby"))
        known = {"bag": bag, "key": "name", "value": operator.itemgetter("v"), "operator": operator}
        assert sorted(eval(line.strip(), known).compute()) == sorted(grouped.compute())


def test_p2p_is_not_told_to_be_made_of_tasks() -> None:
    names = ("rechunk-merge-rechunk-transfer", "rechunk-merge-rechunk-split-rechunk-transfer")
    assert told(shuffled(1200, 200, names), "task-shuffle") == []


def names_with(method: str) -> set[str]:
    """What Dask calls tasks that put data elsewhere, with a method of shuffles and rechunks."""
    frame = dd.from_pandas(pd.DataFrame({"a": range(80), "b": range(80)}), npartitions=8)
    array = da.ones((40, 40), chunks=(4, 40))
    rechunk = "p2p" if method == "p2p" else "tasks"
    with dask.config.set({"dataframe.shuffle.method": method, "array.rechunk.method": rechunk}):
        frames = frame.shuffle("a"), frame.merge(frame.assign(c=1), on="b")
        arrays = dask.optimize(array.rechunk((40, 4)), array[np.arange(40)[::-3]])
        graphs = [each.__dask_graph__() for each in (*(each.optimize() for each in frames), *arrays)]
    return {key_split(key) for graph in graphs for key in graph}


@pytest.mark.parametrize(("method", "least"), [("p2p", 6), ("tasks", 0), ("disk", 0)])
def test_tasks_of_p2p_are_known_by_what_dask_calls_them(method: str, least: int) -> None:
    names = names_with(method)
    of_p2p = {name for name in names if re.search("p2p|transfer|shuffle-barrier", name)}
    assert {name for name in names if name.startswith(TOGETHER)} == of_p2p
    assert len(of_p2p) >= least


@pytest.mark.parametrize("pieces, others", [(400, 10), (1200, 1400)])
def test_few_pieces_are_no_finding(pieces: int, others: int) -> None:
    assert told(shuffled(pieces, others), "task-shuffle") == []


def stolen(count: int, waits: float) -> Run:
    """Tasks that are moved from one worker to another, where their data come so many seconds later."""
    run = Run()
    for number in range(20):
        run.task("busy", "a", number, number + 1.0)
    for number in range(count):
        task = run.task("join", "a", number, number, status="stolen", submitted=number, assigned=number)
        run.attempts[-1] |= {"start": float("nan"), "stop": float("nan"), "executing": float("nan")}
        run.task(
            "join",
            "b",
            number + waits,
            number + waits + 0.1,
            task=task,
            submitted=number,
            assigned=number,
            inputs=number + waits,
        )
    return run


def test_tasks_that_were_moved_in_vain() -> None:
    found = one(stolen(20, 0.7), "stealing")
    assert found.tasks == ("join",) and found.workers == ("b",)
    assert found.cost_thread_seconds == pytest.approx(20 * 0.6, rel=0.01)


def test_how_long_tasks_take_is_told_to_dask_as_it_reads_it() -> None:
    code = code_of(one(stolen(20, 0.7), "stealing").advice)
    (line,) = [line for line in code.splitlines() if "durations" in line]
    durations = "distributed.scheduler.default-task-durations"
    before = dict(dask.config.get(durations))
    with dask.config.set({durations: before}):
        exec(line, {"dask": dask})
        assert dask.config.get(durations) == before | {"join": "100 ms"}
        assert TaskPrefix("join").duration_average == 0.1


def fetched_beside_work() -> Run:
    """Their worker computes something else until their data are there."""
    run = stolen(20, 0.7)
    for number in range(20):
        run.task("beside", "b", number + 0.1, number + 0.7, assigned=number, inputs=number)
    return run


@pytest.mark.parametrize(
    "run", [stolen(5, 0.7), stolen(20, 0.05), fetched_beside_work()], ids=["few", "soon", "beside work"]
)
def test_tasks_that_were_moved_and_ran_soon(run: Run) -> None:
    assert told(run, "stealing") == []


def pooled(computing: float, starting: float = 3.0) -> Run:
    """Two processes that start for some seconds, compute, and send a result for one."""
    there = {"threads": 1, "joined": starting, "left": NAN}
    run = Run(**{f"process {number}": there for number in (1, 2)})
    for name in run.workers:
        run.task("load", name, starting, starting + computing, assigned=0, inputs=starting)
        run.attempts[-1]["done"] = starting + computing + 1
    return run


def test_processes_that_start_and_wait_for_data_are_told_apart_from_a_scheduler() -> None:
    recording = pooled(1).recording()
    table = recording.time_budget()
    assert dict(zip(table.part, table.seconds, strict=True)) == pytest.approx({"processes": 8, "compute": 2})
    verdict = recording.summary().verdict().replace(words.SPACE, " ")
    assert "80 % starting processes and moving data between them" in verdict
    path = recording.critical_path("kind").seconds
    assert dict(path[path > 0]) == pytest.approx({"transfer": 4, "compute": 1})
    (found,) = (each for each in recording.findings() if each.code == "process-pool")
    assert (found.tasks, found.cost_seconds) == (("load",), pytest.approx(4))
    assert "process-pool" not in [each.code for each in pooled(8).recording().findings()]
