"""The path of blame: what a run waited for, step by step, and its bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from graphs import START, Task, graphs, ran, seen
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_insight import words
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

DIAMOND = [Task("load", 1), Task("load", 4), Task("join", 2, [0, 1]), Task("last", 1, [2])]


def steps(recording: Recording) -> list[tuple[Any, ...]]:
    """Kind, reason, name and seconds of each step."""
    path = recording.critical_path()
    found = zip(path["kind"], path["because"], path["prefix"], path["seconds"].round(6), strict=True)
    return list(found)


def tiles_the_run(recording: Recording) -> None:
    path = recording.critical_path()
    attempts = recording.columns("attempts")
    length = float(np.nanmax(attempts["done"]) - np.nanmin(attempts["submitted"]))
    assert path["seconds"].sum() == pytest.approx(length, abs=1e-6)
    assert (path["seconds"] > 0).all()
    if len(path):
        assert path["start"].to_numpy()[1:] == pytest.approx(path["stop"].to_numpy()[:-1], abs=1e-6)


def attempts(**columns: list[Any]) -> dict[str, list[Any]]:
    """Columns of attempts with moments given in seconds since `START`."""
    times = ("submitted", "ready", "assigned", "start", "stop", "done")
    return {
        name: [START + value for value in values] if name in times else values
        for name, values in columns.items()
    }


def test_a_diamond_waits_for_its_slower_side() -> None:
    assert steps(ran(DIAMOND, [2])) == [
        ("compute", "input", "load", 4),
        ("compute", "input", "join", 2),
        ("compute", "end", "last", 1),
    ]


def test_one_thread_is_waited_for() -> None:
    found = steps(ran(DIAMOND, [1]))
    assert found[0] == ("compute", "thread", "load", 1)
    assert sum(seconds for *_, seconds in found) == 8


def test_messages_are_the_schedulers() -> None:
    path = ran(DIAMOND, [2], message=0.25).critical_path("kind")
    assert path["seconds"].to_dict() == pytest.approx({"compute": 7, "scheduler": 1.5})
    assert path["share"].sum() == pytest.approx(1)


def test_a_step_is_an_attempt_however_many_stretches_it_has() -> None:
    recording = ran(DIAMOND, [2], message=0.25)
    path = recording.critical_path()
    assert len(path) > 3 and path["step"].nunique() == 3
    assert path.groupby("step")["prefix"].first().tolist() == ["load", "join", "last"]
    assert recording.critical_path("prefix")["steps"].to_dict() == {"load": 1, "join": 1, "last": 1}
    assert recording.critical_path("kind")["steps"].to_dict() == {"compute": 3, "scheduler": 3}


def test_tasks_of_whose_attempts_nobody_tells_are_steps_of_their_own() -> None:
    recording = Recording()
    recording.append(encode("graph", {"task": [0, 1], "prefix": ["one", "two"]}))
    recording.append(encode("edges", {"task": [1], "dependency": [0]}))
    moments = attempts(
        run=[NOTHING] * 2,
        task=[0, 1],
        worker=["a", "a"],
        status=["ok", "ok"],
        submitted=[0.0, 0.0],
        ready=[0.0, 1.0],
        start=[0.0, 1.0],
        stop=[1.0, 2.0],
        done=[1.0, 2.0],
    )
    recording.append(encode("attempts", moments))
    path = recording.critical_path()
    assert path["prefix"].tolist() == ["one", "two"] and path["step"].tolist() == [0, 1]


def test_a_pause_is_the_clients() -> None:
    tasks = [Task("first", 1), Task("second", 2, submission=1)]
    assert steps(ran(tasks, pauses=[3])) == [
        ("compute", "submission", "first", 1),
        ("client", "end", "second", 3),
        ("compute", "end", "second", 2),
    ]


def test_taking_in_a_graph_is_the_schedulers() -> None:
    tasks = [Task("first", 1), Task("second", 2, submission=1)]
    submissions = {
        "submission": [0, 1],
        "time": [START, START + 4],
        "materialize": [0.0, 0.5],
        "ordering": [0.0, -0.25],
        "states": [0.0, 0.25],
    }
    found = steps(ran(tasks, pauses=[3], submissions=submissions))
    assert found[1:3] == [("client", "end", "second", 2), ("scheduler", "end", "second", 1)]


def test_a_transfer_and_the_disk_are_told_apart() -> None:
    recording = Recording()
    recording.append(encode("graph", {"task": [0, 1], "prefix": ["one", "two"]}))
    recording.append(encode("edges", {"task": [1], "dependency": [0]}))
    moments = attempts(
        run=[0, 1],
        task=[0, 1],
        worker=["a", "b"],
        status=["ok", "ok"],
        submitted=[0.0, 0.0],
        ready=[0.0, 1.0],
        assigned=[0.0, 1.0],
        start=[0.0, 4.0],
        stop=[1.0, 5.0],
        done=[1.0, 5.0],
    )
    recording.append(encode("attempts", moments))
    executions = {
        "run": [1],
        "worker": ["b"],
        "received": [START + 1.5],
        "ready": [START + 2.5],
        "executing": [START + 3.0],
        "ended": [START + 5.0],
    }
    recording.append(encode("executions", executions))
    phase = {"run": [1], "action": ["disk-read"], "start": [START + 3.25], "stop": [START + 3.75]}
    recording.append(encode("phases", phase))
    assert steps(recording) == [
        ("compute", "input", "one", 1),
        ("scheduler", "end", "two", 0.5),
        ("transfer", "end", "two", 1),
        ("thread", "end", "two", 0.5),
        ("worker", "end", "two", 0.25),
        ("disk", "end", "two", 0.5),
        ("worker", "end", "two", 0.25),
        ("compute", "end", "two", 1),
    ]


def test_a_failed_attempt_is_to_blame_for_the_next() -> None:
    recording = Recording()
    recording.append(encode("graph", {"task": [0], "prefix": ["fragile"]}))
    moments = attempts(
        run=[0, 1],
        task=[0, 0],
        worker=["a", "a"],
        status=["retried", "ok"],
        submitted=[0.0, 0.0],
        ready=[0.0, 2.0],
        assigned=[0.0, 2.0],
        start=[0.0, 2.0],
        stop=[2.0, 5.0],
        done=[2.0, 5.0],
    )
    recording.append(encode("attempts", moments))
    assert steps(recording) == [("compute", "retry", "fragile", 2), ("compute", "end", "fragile", 3)]


def test_a_stolen_task_waited_for_what_ran_where_it_lay() -> None:
    recording = Recording()
    recording.append(encode("graph", {"task": [0, 1], "prefix": ["long", "late"]}))
    moments = attempts(
        run=[0, 1, 2],
        task=[0, 1, 1],
        worker=["a", "a", "b"],
        status=["ok", "stolen", "ok"],
        submitted=[0.0, 0.0, 0.0],
        ready=[0.0, 0.0, 0.0],
        assigned=[0.0, 0.0, 3.5],
        start=[0.0, math.nan, 3.5],
        stop=[2.75, math.nan, 5.0],
        done=[2.75, 3.0, 5.0],
    )
    recording.append(encode("attempts", moments))
    assert steps(recording) == [
        ("compute", "thread", "long", 2.75),
        ("thread", "retry", "late", 0.25),
        ("scheduler", "end", "late", 0.5),
        ("compute", "end", "late", 1.5),
    ]


def test_a_queued_task_waits_for_a_place() -> None:
    recording = Recording()
    recording.append(encode("graph", {"task": [0, 1], "prefix": ["one", "two"]}))
    moments = attempts(
        run=[0, 1],
        task=[0, 1],
        worker=["a", "a"],
        status=["ok", "ok"],
        submitted=[0.0, 0.0],
        ready=[0.0, 0.0],
        assigned=[0.0, 3.5],
        start=[0.0, 4.0],
        stop=[3.0, 5.0],
        done=[3.25, 5.0],
    )
    recording.append(encode("attempts", moments | {"queued": [0, 1]}))
    assert steps(recording) == [
        ("compute", "thread", "one", 3),
        ("scheduler", "thread", "one", 0.5),
        ("thread", "end", "two", 0.5),
        ("compute", "end", "two", 1),
    ]
    tiles_the_run(recording)


def test_a_task_that_waits_for_its_own_tasks_is_looked_into() -> None:
    recording = Recording()
    names = ["parent", "child", "child", "other"]
    recording.append(encode("graph", {"task": range(4), "prefix": names, "submission": [0, 1, 2, 3]}))
    told = {"submission": range(4), "client": ["Client-a", *["Client-worker-b"] * 2, "Client-a"]}
    recording.append(encode("submissions", told | {"time": START + np.array([0.0, 2.0, 6.0, 2.0])}))
    columns = attempts(
        submitted=[0.0, 2.0, 6.0, 2.0],
        start=[0.0, 3.0, 6.0, 2.0],
        stop=[10.0, 5.0, 8.0, 4.9],
        done=[10.0, 5.0, 8.0, 4.9],
    )
    plain = {"run": range(4), "task": range(4), "worker": list("aabb"), "status": ["ok"] * 4}
    recording.append(encode("attempts", columns | plain))
    # Away from 2 to 5.5, told in parts, and from 6 to 9; a client's own task ended meanwhile, too.
    away = [(2.0, 3.0), (3.0, 5.5), (6.0, 9.0)]
    recording.append(
        encode(
            "phases",
            {
                "run": [0] * 3,
                "action": ["seceded"] * 3,
                "start": [START + left for left, _ in away],
                "stop": [START + back for _, back in away],
            },
        )
    )
    assert [each for each in steps(recording) if each[0] == "compute"] == [
        ("compute", "end", "parent", 2),
        ("compute", "input", "child", 2),
        ("compute", "end", "parent", 0.5),
        ("compute", "input", "child", 2),
        ("compute", "end", "parent", 1),
    ]
    # Until it had a thread again.
    waits = {(name, seconds) for kind, _, name, seconds in steps(recording) if kind == "thread"}
    assert waits >= {("parent", 0.5), ("parent", 1)}
    tiles_the_run(recording)


def test_a_computation_of_a_local_scheduler_within_a_task_is_looked_into() -> None:
    recording = Recording()
    names = ["parent", "child", "other"]
    recording.append(encode("graph", {"task": range(3), "prefix": names, "submission": range(3)}))
    told = {"submission": range(3), "client": ["threads"] * 3}
    recording.append(encode("submissions", told | {"time": START + np.array([0.0, 2.0, 3.0])}))
    columns = attempts(
        submitted=[0.0, 2.0, 3.0], start=[0.0, 2.0, 3.0], stop=[6.0, 5.0, 5.2], done=[6.0, 5.0, 5.2]
    )
    plain = {"run": range(3), "task": range(3), "worker": ["threads"] * 3, "status": ["ok"] * 3}
    recording.append(encode("attempts", columns | plain | {"thread": list("123")}))
    # Away from the moment at which its computation was asked for; the program began another one meanwhile.
    away = {"run": [0], "action": ["seceded"], "start": [START + 2.0], "stop": [START + 5.5]}
    recording.append(encode("phases", away))
    assert [each for each in steps(recording) if each[0] == "compute"] == [
        ("compute", "end", "parent", 2),
        ("compute", "input", "child", 3),
        ("compute", "end", "parent", 0.5),
    ]
    tiles_the_run(recording)


def test_times_alone_are_enough() -> None:
    """Recordings of other formats may know no more than when a task ran."""
    recording = Recording()
    recording.append(encode("graph", {"task": [0, 1], "prefix": ["one", "two"]}))
    recording.append(encode("edges", {"task": [1], "dependency": [0]}))
    columns = attempts(run=[0, 1], task=[0, 1], start=[0.0, 3.0], stop=[2.0, 4.0])
    recording.append(encode("attempts", columns | {"worker": ["a", "b"], "status": ["ok", "ok"]}))
    assert steps(recording) == [
        ("compute", "input", "one", 2),
        ("thread", "end", "two", 1),
        ("compute", "end", "two", 1),
    ]


def test_nothing_ran() -> None:
    path = Recording().critical_path()
    assert not len(path)
    assert {"start", "stop", "seconds", "kind", "because", "prefix", "key", "worker"} <= set(path.columns)
    assert not len(Recording().critical_path("prefix"))


def test_sums_are_refused_by_what_is_no_column() -> None:
    with pytest.raises(ValueError, match="is none of prefix"):
        Recording().critical_path("colour")


def test_the_path_is_a_table_for_panels() -> None:
    recording = ran(DIAMOND, [2])
    assert recording.critical["kind"].tolist() == ["compute"] * 3
    assert recording.critical["task"].tolist() == [1, 2, 3]
    recording.explain()
    assert len(recording.columns("critical")["task"]) == 3
    assert recording.slice(0, 3.5).critical["task"].tolist() == [1], "made anew for a part of the run"


def test_a_part_of_a_run_is_explained_as_that_part() -> None:
    """Tasks that overlap it are kept whole, and were wanted before it: that is not its time."""
    whole = ran(DIAMOND, [2])
    middle = 0.5 * (whole.tasks["done"].max() + whole.tasks["submitted"].min())
    start, stop = middle - 1.0, middle + 0.5
    part = whole.slice(start, stop).slice(-1e3, 1e3)
    budgets = part.time_budget(), whole.time_budget(start=start, stop=stop)
    told = [each.groupby("part")["seconds"].sum() for each in budgets]
    assert told[0].to_dict() == pytest.approx(told[1].to_dict())
    assert part.critical_path()["seconds"].sum() == pytest.approx(stop - start)
    assert part.summary(findings=False).duration == pytest.approx(stop - start)
    bounds = part.bounds()
    assert bounds.least <= bounds.seconds == pytest.approx(stop - start)
    assert part.what_if(workers=2).recorded == pytest.approx(stop - start)
    assert {"since", "until"} <= part.about.keys() and not {"since", "until"} & whole.slice().about.keys()


@given(tasks=graphs(), threads=st.lists(st.integers(1, 3), min_size=1, max_size=3), message=st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_the_path_tiles_any_run(tasks: list[Task], threads: list[int], message: float) -> None:
    recording = ran(tasks, threads, pauses=[0.5] * len(tasks), message=message)
    tiles_the_run(recording)
    path = recording.critical_path()
    assert path.drop_duplicates(["run", "kind", "start"]).shape == path.shape
    computing = path[path["kind"] == "compute"]
    assert not computing["run"].duplicated().any()


MOMENT = st.one_of(st.just(math.nan), st.integers(0, 60).map(float))


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("ab"), *[MOMENT] * 6), min_size=1, max_size=12
    ),
    edges=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8),
    away=st.lists(st.tuples(st.integers(0, 11), MOMENT, MOMENT), max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_the_path_tiles_nonsense(rows: list[Any], edges: list[Any], away: list[Any]) -> None:
    """Clocks that contradict one another, circles, attempts at one task at once: the seconds still add up."""
    recording = Recording()
    graph = {"task": range(5), "prefix": list("abcab"), "submission": [0, 1, 1, 1, 1]}
    recording.append(encode("graph", graph))
    recording.append(encode("submissions", {"submission": [0, 1], "client": ["Client-a", "Client-worker-a"]}))
    if away:
        run, left, back = (np.array(column) for column in zip(*away, strict=True))
        told = {"run": run, "action": ["seceded"] * len(away), "start": START + left, "stop": START + back}
        recording.append(encode("phases", told))
    names = ("task", "worker", "submitted", "ready", "assigned", "start", "stop", "done")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    recording.append(
        encode("attempts", attempts(**columns) | {"run": range(len(rows)), "status": ["ok"] * len(rows)})
    )
    if edges:
        task, dependency = zip(*edges, strict=True)
        recording.append(encode("edges", {"task": task, "dependency": dependency}))
    path = recording.critical_path()
    ended = recording.tasks[["stop", "done"]].max(axis=1)
    known = recording.tasks[ended.notna()]
    if not len(known):
        assert not len(path)
        return
    begin = np.nanmin(known[["submitted", "start", "done", "stop"]].to_numpy())
    assert path["seconds"].sum() == pytest.approx(max(ended.max() - begin, 0), abs=1e-5)


# Bounds.


def test_bounds_of_a_diamond() -> None:
    bounds = ran(DIAMOND, [2]).bounds()
    assert (bounds.work, bounds.threads, bounds.longest, bounds.seconds) == pytest.approx((8, 2, 7, 7))
    assert (bounds.spread, bounds.least, bounds.most) == pytest.approx((4, 7, 7.5))
    assert bounds.above == pytest.approx(1)
    assert bounds.tasks == (1, 2, 3)
    assert bounds.chain == (("load", 1, 4.0), ("join", 1, 2.0), ("last", 1, 1.0))
    assert bounds.frame()["share"].sum() == pytest.approx(1)
    assert "more threads do not help" in str(bounds)
    assert "<table>" in bounds._repr_html_()


def test_bounds_where_the_work_binds() -> None:
    bounds = ran([Task("read", 1)] * 10, [3]).bounds()
    assert bounds.least == pytest.approx(10 / 3)
    assert bounds.above == pytest.approx(1.2)
    assert bounds.parallelism == pytest.approx(10)
    assert bounds.verdict() == (
        f"{words.duration(4)}, 1.2 times as long as 3 threads would take at best ({words.duration(10 / 3)}). "
        "The amount of work sets the limit: up to 10 threads can help."
    )
    odd = ran([Task("read", 1)] * 9 + [Task("long", 1.1)], [2]).bounds().verdict()
    assert odd.endswith("up to 10 threads can help."), "no part of a thread"


@pytest.mark.parametrize(
    ("stacks", "said"),
    [
        (seen(10, "with LK:"), "`read` for a lock: more threads of a worker would wait as well."),
        (
            seen(10, "", file="/a/distributed/semaphore.py", function="Semaphore.acquire"),
            "`read` for a lock that all workers share: more threads or workers would wait as well.",
        ),
        (
            seen(10, "", file="/a/distributed/client.py", function="Client.gather"),
            "`read` for results of other tasks, which needs no thread.",
        ),
    ],
)
@pytest.mark.parametrize("threads", [3, 10])
def test_bounds_promise_nothing_where_the_work_is_waiting(
    stacks: dict[str, Any], said: str, threads: int
) -> None:
    verdict = ran([Task("read", 1)] * 10, [threads], **stacks).bounds().verdict()
    assert verdict.endswith(f"sets the limit, but {words.share(1)} of the work is waiting, mostly of {said}")


@pytest.mark.parametrize(("thought", "is_told"), [(4.0, True), (0.004, False)])
def test_bounds_tell_for_how_long_nobody_waited(thought: float, is_told: bool) -> None:
    again = 1 + thought
    cells = {"execution": [1, 2], "start": [START, START + again], "stop": [START + 1, START + again + 1]}
    bounds = ran([Task("a", 1), Task("b", 1, submission=1)], pauses=[thought], cells=cells).bounds()
    assert bounds.unwanted == pytest.approx(thought, abs=1e-5)
    told = f"{words.duration(thought)} in which nobody waited for a result are left out."
    assert bounds.verdict().endswith(told) == is_told


def test_bounds_where_a_lock_is_waited_for_a_little() -> None:
    stacks = seen(10, "with LK:", *["read()"] * 10)
    assert ran([Task("read", 1)] * 10, [3], **stacks).bounds().verdict().endswith("threads can help.")


def test_bounds_of_a_task_that_computes_without_a_thread() -> None:
    """What needs it waits, but others have its thread."""
    cpu = {"run": [0, 1, 2], "cpu": [4.0, 4.0, 1.0]}
    away = {"run": [0], "action": ["seceded"], "start": [START + 1], "stop": [START + 5]}
    # CPU time that is told as more than it took is no time of a chain.
    tasks = [Task("apart", 5), Task("plain", 3), Task("last", 1, [0])]
    bounds = ran(tasks, [2], phases=away, executions=cpu).bounds()
    assert (bounds.work, bounds.longest, bounds.away) == pytest.approx((5, 5, 3))
    assert bounds.chain == (("apart", 1, 4.0), ("last", 1, 1.0))
    assert bounds.least == pytest.approx(5) and bounds.seconds == pytest.approx(6)
    assert bounds.most == pytest.approx(2.5 + 5 - 1)
    one = ran([Task("apart", 5)], phases=away, executions=cpu).bounds()
    assert one.least <= one.most == pytest.approx(4), "also on a single thread"


def test_bounds_where_nothing_ran() -> None:
    assert "No task" in str(Recording().bounds())


def test_a_name_is_escaped() -> None:
    assert "<script>" not in ran([Task("<script>", 1)]).bounds()._repr_html_()


@given(tasks=graphs(), threads=st.lists(st.integers(1, 3), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_no_run_is_faster_than_its_bounds(tasks: list[Task], threads: list[int]) -> None:
    one = [task._replace(submission=0) for task in tasks]
    bounds = ran(one, threads).bounds()
    if bounds.work:
        assert bounds.seconds >= bounds.least - 1e-5
    assert bounds.longest <= bounds.work + 1e-9
