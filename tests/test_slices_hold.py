"""What a part of a run tells is what the whole run tells of that time."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

ZERO = 1_750_000_000.0
NAN = float("nan")


def recorded(**tables: dict[str, Any]) -> Recording:
    """A recording of these tables."""
    recording = Recording()
    recording.append(encode("about", {"name": ["started"], "value": [str(ZERO)]}))
    for name, columns in tables.items():
        recording.append(encode(name, columns))
    return recording


def waiting() -> Recording:
    """One task runs on a worker, another waits on a second one for its result, then for a thread."""

    def at(*seconds: float) -> np.ndarray:
        return ZERO + np.array(seconds)

    return recorded(
        workers={"worker": ["a", "b"], "threads": [1, 1], "joined": at(-1, -1), "left": [NAN, NAN]},
        graph={"task": [0, 1], "key": ["x", "y"], "prefix": ["x", "y"]},
        edges={"task": [1], "dependency": [0]},
        attempts={
            **{"run": [0, 1], "task": [0, 1], "worker": ["a", "b"], "thread": ["1", "1"]},
            **{"status": ["ok", "ok"], "submitted": at(0, 0), "ready": at(0, 8), "assigned": at(0, 8)},
            **{"start": at(0, 13), "stop": at(8, 16), "done": at(8, 16)},
        },
        executions={
            **{"run": [0, 1], "worker": ["a", "b"], "received": at(0, 8.01), "ready": at(0, 12)},
            **{"executing": at(0, 12.8), "ended": at(8, 16)},
        },
        phases={"run": [1], "action": ["transfer"], "start": at(8.5), "stop": at(12)},
        transfers={
            **{"transfer": [0], "worker": ["b"], "peer": ["a"], "direction": ["in"]},
            **{"start": at(8.5), "stop": at(12), "nbytes": [1e6]},
        },
        transferred={"transfer": [0], "task": [0], "nbytes": [1e6]},
    )


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 7), (0, 11), (9, 11), (12.25, 12.75), (12, 12.9), (2, 14), (7, 16)]
)
def test_who_waits_for_what_runs_later_is_a_part_of_it(start: float, stop: float) -> None:
    whole = waiting()
    part = whole.slice(start, stop)
    budgets = (
        part.time_budget(),
        part.time_budget(start=start, stop=stop),
        whole.time_budget(start=start, stop=stop),
    )
    told = [each.groupby("part", observed=True)["seconds"].sum().to_dict() for each in budgets]
    assert told[0] == pytest.approx(told[2]) and told[1] == pytest.approx(told[2])
    assert part.summary(findings=False).duration == pytest.approx(stop - start)
    assert "" not in part.phases["key"].tolist()
    assert {*part.executions["run"]} == {*part.attempts["run"]}


@pytest.mark.parametrize("outer", [None, (0, 14)])
def test_a_thread_is_idle_for_what_is_next_on_it(outer: tuple[float, float] | None) -> None:
    starts, ready = ZERO + np.array([0.0, 15, 13]), ZERO + np.array([0.0, 10, 6])
    ids, ends = [0, 1, 2], starts + np.array([5.0, 1, 1])
    whole = recorded(
        workers={"worker": ["a"], "threads": [1], "joined": [ZERO], "left": [NAN]},
        graph={"task": ids, "key": ["x", "late", "early"], "prefix": ["x", "late", "early"]},
        attempts={
            **{"run": ids, "task": ids, "worker": ["a"] * 3, "thread": ["1"] * 3, "status": ["ok"] * 3},
            **{"submitted": ready, "ready": ready, "start": starts, "stop": ends, "done": ends},
        },
    )
    part = (whole.slice(*outer) if outer else whole).slice(0, 11)
    columns = ["part", "seconds"]
    told = part.time_budget()[columns].to_dict("records")
    assert told == whole.time_budget(start=0, stop=11)[columns].to_dict("records")
    assert part.attempts["thread"].tolist() == ["1", "", "1"]


def test_a_report_of_a_part_shows_that_time() -> None:
    from dask_insight.hosts.report import parts_of

    def extent(run: Recording) -> list[float]:
        about = Recording()
        about.append(parts_of(run)[0][0])
        return [round(moment - ZERO, 3) for moment in about.about["extent"]]

    whole = waiting()
    assert extent(whole) == [0, 16] and extent(whole.slice(2, 11)) == [2, 11]


def test_a_summary_counts_who_ran() -> None:
    told = [waiting().slice(*cut).summary(findings=False) for cut in ((0, 11), (2, 14))]
    assert [each.tasks for each in told] == [1, 2]
    assert told[0].computing == pytest.approx(8) and told[1].computing == pytest.approx(7)


def failing_later() -> Recording:
    """One task ends; those that need it fail, a while after it."""
    many, later = 20, ZERO + 13 + np.arange(20.0)
    return recorded(
        workers={"worker": ["a"], "threads": [1], "joined": [ZERO], "left": [NAN]},
        graph={
            **{"task": np.arange(many + 1), "key": ["x", *(f"y-{n}" for n in range(many))]},
            "prefix": ["x"] + ["y"] * many,
        },
        edges={"task": np.arange(1, many + 1), "dependency": [0] * many},
        attempts={
            **{"run": np.arange(many + 1), "task": np.arange(many + 1), "worker": ["a"] * (many + 1)},
            **{"thread": ["1"] * (many + 1), "status": ["ok"] + ["erred"] * many},
            **{"ready": [ZERO] + [ZERO + 8] * many, "start": [ZERO, *later]},
            **{"stop": [ZERO + 8, *(later + 1)], "done": [ZERO + 8, *(later + 1)]},
        },
        executions={"run": np.arange(many + 1), "start": [ZERO, *later], "ended": [ZERO + 8, *(later + 1)]},
        phases={"run": [1], "action": ["compute"], "start": later[:1], "stop": later[:1] + 1},
        errors={
            "run": np.arange(1, many + 1),
            "task": np.arange(1, many + 1),
            "exception": ["KeyError"] * many,
        },
    )


@pytest.mark.parametrize("outer", [None, (0, 11), (0, 30)])
def test_what_begins_later_has_not_run(outer: tuple[float, float] | None) -> None:
    run = failing_later()
    if outer:
        run = run.slice(*outer)
    part = run.slice(0, 10)
    assert Counter(part.tasks["status"]) == {"waiting": 20, "ok": 1}
    waits = part.tasks[part.tasks["status"] == "waiting"]
    assert waits[["start", "stop", "duration", "nbytes"]].isna().all(axis=None)
    assert (waits["ready"] == 8).all() and (waits["done"] == 10).all()
    assert part.executions[["start", "ended"]].max().max() == 8
    assert part.errors.empty and part.phases.empty
    assert part.bottlenecks()["function"].tolist() == ["x"]
    assert not [one for one in part.findings() if "`y`" in one.title]


def test_what_a_task_waited_for_stands_with_it() -> None:
    whole = waiting()
    assert whole.slice(0, 11).transfers["waiting"].tolist() == whole.transfers["waiting"].tolist() != [0]


def test_tasks_that_were_only_wanted_are_there_until_they_were_given_up() -> None:
    given_up = {"run": [0], "task": [0], "status": ["cancelled"], "submitted": [ZERO + 1], "done": [ZERO + 9]}
    whole = recorded(attempts=given_up)
    assert [len(whole.slice(*cut).attempts) for cut in ((0, 0.5), (4, 5), (10, 11))] == [0, 1, 0]


def sampled() -> Recording:
    """Samples that stand for long intervals, and collections of garbage as long."""
    ends, lasting = ZERO + np.array([8.0, 9.0, 20.0]), [8.0, 1.0, 0.0]
    return recorded(
        stacks={"stack": [0], "parent": [NOTHING], "function": ["f"], "file": ["f.py"], "line": [1]},
        samples={
            **{"process": ["a"] * 3, "time": ends, "duration": lasting, "stack": [0] * 3},
            "run": [NOTHING] * 3,
        },
        collections={"process": ["a"] * 3, "time": ends, "duration": lasting, "run": [NOTHING] * 3},
    )


@pytest.mark.parametrize(("start", "stop"), [(2, 6), (7, 9), (7, 8.5), (-5, 1), (8, 9), (10, 12)])
def test_samples_and_collections_have_their_share_of_a_part(start: float, stop: float) -> None:
    whole = sampled()
    part = whole.slice(start, stop)
    wanted = whole.flame(start=start, stop=stop)["self"].sum()
    assert part.flame()["self"].sum() == pytest.approx(wanted)
    assert part.collections["duration"].sum() == pytest.approx(wanted)
    again = part.slice(start + 0.25, stop - 0.25).flame()["self"].sum()
    assert again == pytest.approx(whole.flame(start=start + 0.25, stop=stop - 0.25)["self"].sum())
    for table in (part.samples, part.collections):
        assert (
            (table["time"] - table["duration"]).between(start - 1e-6, stop) & (table["time"] <= stop)
        ).all()


def test_parts_share_what_there_was() -> None:
    whole = sampled()
    parts = [whole.slice(*cut).flame()["self"].sum() for cut in pairwise([0, 2.5, 8, 8.75, 30])]
    assert sum(parts) == pytest.approx(whole.flame()["self"].sum()) == 9
    assert whole.slice(19, 21).samples["time"].tolist() == [20], "what lasted no time is a moment"


def test_what_was_let_go_of_has_a_name() -> None:
    whole = recorded(
        graph={"task": [0, 1, 2], "key": ["a", "b", "c"], "order": [0, 1, 2], "submission": [0, 0, 0]},
        releases={"task": [0, 2], "time": [ZERO + 5, ZERO + 9]},
        cache={"time": [ZERO + 5, ZERO + 5], "size": [1.0, 0.0], "task": [1, NOTHING]},
    )
    part = whole.slice(4, 6)
    assert part.releases["key"].tolist() == ["a"] and {*part.graph["key"]} == {"a", "b"}
    assert part.graph["order"].tolist() == [NOTHING, NOTHING], "they are none to come"
