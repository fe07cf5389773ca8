"""What findings say of the line that tasks were at, and of tasks that compute collections themselves."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest
from test_findings_cure import findings, the
from test_time_budget import CLUSTER, START, Run

from dask_insight import words
from dask_insight.analysis.findings import Findings
from dask_insight.schema import NOTHING

LIB = "/opt/lib/python3.12/"
CALL = ("Task.__call__", f"{LIB}site-packages/dask/_task_spec.py", 768)
FUSED = ("_execute_subgraph", f"{LIB}site-packages/dask/_task_spec.py", 700)
OWN = ("load", "/home/me/load.py", 9)
READ = ("read", f"{LIB}site-packages/zarr/core/sync.py", 152)
DEEP = ("deploy", f"{LIB}site-packages/modin/core/dask/frames/part.py", 4)
WRAPPER = ("wraps.<locals>.wrapper", f"{LIB}site-packages/sklearn/utils/_param_validation.py", 191)
WAIT = ("Condition.wait", f"{LIB}threading.py", 359)
IMPORT = ("_call_with_frames_removed", "<frozen importlib._bootstrap>", 241)
SKLEARN = ("<module>", f"{LIB}site-packages/sklearn/__init__.py", 3)
XARRAY = ("<module>", f"{LIB}site-packages/xarray/__init__.py", 3)
ENSEMBLE = ("<module>", f"{LIB}site-packages/sklearn/ensemble/__init__.py", 3)

Frame = tuple[str, str, int]


def sampled(run: Run, *seen: tuple[int, float, tuple[Frame, ...]], **more: dict[str, Any]) -> Findings:
    """All findings, where the last attempts at some tasks were seen at some frames for some seconds."""
    stacks: dict[tuple[int, Frame], int] = {}
    columns = ("process", "thread", "time", "duration", "stack", "run")
    samples: dict[str, list[Any]] = {name: [] for name in columns}
    for task, seconds, frames in seen:
        attempt = [row for row in run.attempts if row["task"] == task][-1]
        stack = NOTHING
        for frame in frames:
            stack = stacks.setdefault((stack, frame), len(stacks))
        values = (attempt["worker"], "1", START + attempt["stop"], seconds, stack, attempt["run"])
        for name, value in zip(samples, values, strict=True):
            samples[name].append(value)
    table = {
        "stack": [*stacks.values()],
        "parent": [parent for parent, _ in stacks],
        "function": [frame[0] for _, frame in stacks],
        "file": [frame[1] for _, frame in stacks],
        "line": [frame[2] for _, frame in stacks],
        # Functions are ten lines long.
        "first_line": [frame[2] // 10 * 10 + 1 for _, frame in stacks],
    }
    return findings(run, stacks=table, samples=samples, **more)


def with_a_straggler() -> tuple[Run, int]:
    run = Run()
    for number in range(20):
        run.task("piece", "ab"[number % 2], number // 2 * 0.5, number // 2 * 0.5 + 0.5)
    return run, run.task("piece", "b", 5.0, 9.0)


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ([(4.0, (CALL, OWN, READ, WAIT))], "at `load.py:9`, calling `read`."),
        ([(4.0, (CALL, OWN))], "at `load.py:9`."),
        ([(4.0, (CALL, READ, WAIT))], "at `zarr/core/sync.py:152`, in `read`."),
        ([(1.9, (CALL, OWN)), (2.1, (CALL, READ))], "at `zarr/core/sync.py:152`, in `read`."),
        ([(4.0, (CALL, OWN, WRAPPER, READ))], "at `load.py:9`, calling `read`."),
        ([(4.0, (CALL, READ, WRAPPER, WAIT))], "at `zarr/core/sync.py:152`, in `read`."),
        ([(4.0, (CALL, DEEP, WAIT))], "at `modin/…/part.py:4`, in `deploy`."),
        # Lines of a function of theirs, as no one line had most of it.
        ([(2.0, (CALL, READ, (*OWN[:2], line), READ)) for line in (11, 12)], "in `load` (`load.py:11`)."),
        # Of a library the innermost that had more than half of all, seen or not.
        ([(1.2, (CALL, READ)), (1.8, (CALL, READ, DEEP))], "at `zarr/core/sync.py:152`, in `read`."),
        # No one line had most of it, or most of it was not seen, or no line is anybody's.
        ([(1.3, (CALL, OWN)), (1.3, (CALL, READ)), (1.4, (CALL, WAIT))], ""),
        ([(2.0, (CALL, OWN))], ""),
        ([(nan, (CALL, OWN)), (2.1, (CALL, READ))], "at `zarr/core/sync.py:152`, in `read`."),
        # One line, whatever of Dask led there.
        (
            [(1.3, (CALL, READ, WAIT)), (1.3, (FUSED, READ))],
            "at `zarr/core/sync.py:152`, in `read`.",
        ),
        ([(4.0, (CALL, WAIT))], ""),
        ([(4.0, (CALL, ("<lambda>", "<dynamic-code>", 2)))], ""),
    ],
)
def test_a_straggler_tells_the_line_at_which_it_was(
    seen: list[tuple[float, tuple[Frame, ...]]], told: str
) -> None:
    run, slow = with_a_straggler()
    found = the(sampled(run, *((slow, *each) for each in seen)), "straggler")
    assert found.why.endswith(f"explains it. Most of its time passed {told}" if told else "explains it.")


@pytest.mark.parametrize(
    ("imports", "modules"),
    [
        ({SKLEARN: 2.0, ENSEMBLE: 0.6}, ["sklearn.ensemble"]),
        ({SKLEARN: 2.5, ENSEMBLE: 0.1}, ["sklearn"]),
        ({SKLEARN: 1.0, ENSEMBLE: 0.5, XARRAY: 1.4}, ["sklearn.ensemble", "xarray"]),
        ({SKLEARN: 1.4}, []),
        # None of many is to blame.
        ({("<module>", f"{LIB}site-packages/p{number}/__init__.py", 1): 0.1 for number in range(30)}, []),
        ({("<module>", "/home/me/mine/mod.py", 1): 3.0}, ["mod.py"]),
    ],
)
def test_a_cold_start_names_the_modules_that_first_tasks_import(
    imports: dict[Frame, float], modules: list[str]
) -> None:
    run, first = Run(), []
    for worker in "ab":
        first.append(run.task("predict", worker, 0, 3))
        for number in range(10):
            run.task("predict", worker, 3 + number * 0.5, 3.5 + number * 0.5)
    rest = 3 - sum(imports.values())
    seen = [(task, seconds, (CALL, IMPORT, frame)) for task in first for frame, seconds in imports.items()]
    found = the(sampled(run, *seen, *((task, rest, (CALL, WAIT)) for task in first)), "cold-start")
    named = words.listing(f"`{name}`" for name in modules)
    assert found.why.endswith(
        f"Most of the time of the first ones passed importing {named}." if modules else "ready."
    )
    code = "MODULE" if modules == ["mod.py"] else ", ".join(modules) or "the_heavy_module"
    assert f"        import {code}\n" in found.advice


def asking(client: str, *frames: Frame) -> Findings:
    """Two tasks of a name that each asked for the same, which took 3 s to make; one looked on meanwhile."""
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER)
    outer = [run.task("outer", worker, 0.0, 12.0) for worker in "ab"]
    looking = run.task("watch", "c", 0.0, 12.0)
    for number, task in enumerate(outer):
        run.seceded(task, 0.1, 12.0)
        run.task("load", "ab"[number], 4.0 + 4 * number, 6.0 + 4 * number, submitted=4.0 + 4 * number)
    run.seceded(looking, 0.1, 12.0)
    for worker in "ab":
        run.task("late", worker, 10.0, 11.0, ready=0.1, assigned=10.0)
    keys = ["outer-1", "outer-2", "watch-1", "load-1", "load-1", "late-1", "late-2"]
    graph = {"task": range(7), "key": keys, "submission": [0, 0, 0, 1, 2, 0, 0], "prefix": run.names}
    graph["group"] = graph["prefix"]
    submissions = {
        "submission": [0, 1, 2],
        "time": START + np.array([0.0, 4.0, 8.0]),
        "tasks": [5, 1, 1],
        "client": ["Client-1", client, client],
        "materialize": [0.0, 3.0, 3.0],
        "nbytes": [20e6, 1e3, 1e3],
    }
    asked = [(task, 3.0, (CALL, OWN, *frames, WAIT)) for task in outer]
    trained = [(task, 8.0, (CALL, READ, WAIT)) for task in (*outer, looking)]
    return sampled(run, *asked, *trained, graph=graph, submissions=submissions)


COMPUTE = ("DaskMethodsMixin.compute", f"{LIB}site-packages/dask/base.py", 392)
GATHER = ("Client.gather", f"{LIB}site-packages/distributed/client.py", 2538)
TOLD = (
    "Tasks of `outer` computed a collection themselves, at `load.py:9`, calling `DaskMethodsMixin.compute`: "
    "2 graphs came from inside of tasks."
)


@pytest.mark.parametrize("code", ["recompute", "slow-graph", "large-graph"])
def test_tasks_that_compute_collections_themselves_are_named(code: str) -> None:
    inside = the(asking("Client-worker-1", COMPUTE), code)
    assert inside.why.endswith(TOLD)
    assert "step(collection" in inside.advice and "task-launch" in inside.url
    # Another client did; or tasks handed over functions, and know what they do.
    for other in (asking("Client-1", COMPUTE), asking("Client-worker-1", GATHER)):
        found = the(other, code)
        assert "Tasks of" not in found.why and "step(collection" not in found.advice


def test_a_wait_without_a_cpu_tells_its_line() -> None:
    run = Run()
    tasks = [run.task("read", worker, 10 * n, 10 * n + 10, cpu=1.0) for n in (0, 1) for worker in "ab"]
    found = the(sampled(run, *((task, 10.0, (CALL, OWN)) for task in tasks)), "io-wait")
    assert found.why.endswith("Most of the time of `read` passed at `load.py:9`.")
