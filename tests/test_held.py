"""Until when results were held, and what of the memory was of which task name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from graphs import START, Task, ran
from hypothesis import given
from hypothesis import strategies as st

import dask_insight
from dask_insight import figures
from dask_insight.figures.chart import Area
from dask_insight.figures.panels.memory import chart
from dask_insight.figures.request import Request
from dask_insight.recording import Recording
from dask_insight.timeline import attempts, held_until

MB = 1e6
GRAPH = [
    Task("load", 1.0, nbytes=4 * MB),
    Task("load", 1.0, nbytes=4 * MB),
    Task("sum", 1.0, (0, 1), nbytes=1 * MB),
    Task("wait", 3.0, (2,)),
]


def until(run: Recording) -> list[float]:
    known = attempts(run.columns)
    found = held_until(run.columns, known) - START
    return [float(found[row]) for row in np.argsort(known.task)]


def released(*rows: tuple[int, float]) -> Recording:
    task, time = zip(*rows, strict=True)
    return ran(GRAPH, releases={"task": list(task), "time": [START + each for each in time]})


def test_results_are_held_until_they_were_let_go_of() -> None:
    assert until(released((0, 4.5), (1, 3.5))) == [4.5, 3.5, math.inf, math.inf]


def test_where_nobody_tells_until_the_last_that_needs_them() -> None:
    other_tools = {"name": ["source"], "value": ['"Chrome trace"']}
    assert until(ran(GRAPH, about=other_tools)) == [3.0, 3.0, 6.0, math.inf]


@pytest.mark.parametrize(
    ("seconds", "held"),
    [
        pytest.param({"a": (1, 5), "b": (2, 6)}, [2, 6, 6, math.inf], id="both twice"),
        pytest.param({"a": (5, 1), "b": (2, 6)}, [6, 2, 6, math.inf], id="rows in any order"),
        pytest.param({"a": (1, 5), "b": (6,)}, [5, 6, math.inf], id="lost before it was used"),
        pytest.param({"a": (1, 5), "b": (3, 4)}, [4, 5, 4, math.inf], id="not used again"),
        pytest.param({"a": (1, 5), "b": ()}, [5, math.inf], id="never used"),
    ],
)
def test_results_of_a_task_that_ran_again_are_held_until_then_at_most(
    seconds: dict[str, tuple[float, ...]], held: list[float]
) -> None:
    done = [(task, moment) for task, name in enumerate("ab") for moment in seconds[name]]
    task, moment = zip(*done, strict=True)
    times = START + np.array(moment, "f8")
    count = len(done)
    run = ran(
        [Task("a", 1.0), Task("b", 1.0, (0,))],
        about={"name": ["source"], "value": ['"Chrome trace"']},
        executions={"run": []},
        attempts={"run": range(count), "task": task, "worker": ["w0"] * count, "thread": ["0"] * count}
        | {"status": ["ok"] * count, "start": times - 1, "stop": times, "done": times},
    )
    found = held_until(run.columns, attempts(run.columns)) - START
    assert found.tolist() == pytest.approx(held)


def test_a_recording_of_our_own_in_which_nothing_was_let_go_of_holds_everything() -> None:
    assert until(ran(GRAPH)) == [math.inf] * 4


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 5)), min_size=1, max_size=6))
def test_a_task_that_is_computed_again_has_several_results(lives: list[tuple[bool, int]]) -> None:
    """Each attempt at a task ends and is let go of after it, or lives on beside the next one."""
    clock, done, expected, times = 0.0, [], [], []
    for was_released, seconds in lives:
        clock += seconds
        done.append(clock)
        clock += seconds
        expected.append(clock if was_released else math.inf)
        times += [clock] if was_released else []
    count = len(done)
    run = Recording()
    from dask_insight.batch import encode

    run.append(encode("graph", {"task": [7], "key": ["k"], "prefix": ["k"]}))
    moments = START + np.array(done)
    columns = {"run": list(range(count)), "task": [7] * count, "worker": ["w"] * count}
    columns |= {"thread": ["t"] * count, "status": ["ok"] * count}
    run.append(
        encode(
            "attempts", {**columns, **dict.fromkeys(("start", "stop", "done", "assigned", "ready"), moments)}
        )
    )
    run.append(
        encode("releases", {"task": [7] * len(times) or [9], "time": START + np.array(times or [0.0])})
    )
    known = attempts(run.columns)
    order = np.argsort(known.done)
    assert (held_until(run.columns, known)[order] - START).tolist() == pytest.approx(expected)


def test_of_a_cluster_what_only_a_client_held_is_told_where_it_lay(client: Any) -> None:
    here, there = sorted(client.scheduler_info()["workers"])
    with dask_insight.record(client=client, profile=False) as run:
        kept = client.submit(bytes, 10**6, workers=[here], key="kept-1")
        assert client.submit(len, kept, workers=[there], key="used-1").result() == 10**6
        client.submit(pow, 2, 3, key="later-1").result()
    told = run.held(["function", "place"]).set_index(["function", "place"])
    for worker in (here, there):
        row = told.loc[("kept", worker)]
        assert row["left"] == row["nbytes"] >= 10**6 and 0 < row["unused"] < row["mean"]
    assert (told.drop(index="kept").unused == 0).all(), "no task needs them"


def areas(run: Recording, **asked: object) -> dict[str, Area]:
    (plot,) = chart(Request(run, **asked), by="name").plots  # type: ignore[arg-type]
    return {mark.name: mark for mark in plot.marks if isinstance(mark, Area)}


def held_between(area: Area, start: float, stop: float) -> Sequence[float]:
    inside = (area.edges[:-1] >= start) & (area.edges[1:] <= stop)
    height: np.ndarray = (area.high - area.low)[inside]
    return [float(height.min()), float(height.max())]


def test_the_figure_by_name_has_what_was_held_at_each_moment() -> None:
    run = released((0, 4.5), (1, 3.5))
    shown = areas(run)
    assert list(shown)[:2] == ["load", "sum"], "what held most for longest is at the bottom"
    assert held_between(shown["load"], 1.1, 1.9) == pytest.approx([4 * MB] * 2)
    assert held_between(shown["load"], 2.1, 3.4) == pytest.approx([8 * MB] * 2)
    assert held_between(shown["load"], 3.6, 4.4) == pytest.approx([4 * MB] * 2)
    assert held_between(shown["load"], 4.6, 5.9) == pytest.approx([0, 0], abs=1)
    assert held_between(shown["sum"], 3.1, 5.9) == pytest.approx([1 * MB] * 2)
    assert list(areas(run, prefix="sum")) == ["sum"]


def test_an_unknown_way_to_show_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="is none of measure, name"):
        figures.memory(ran(GRAPH), by="worker")
