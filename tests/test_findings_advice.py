"""What findings advise is code that changes what it says; and they cost no more than they must."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import distributed  # noqa: F401 - gives Dask its configuration
import numpy as np
import pytest
from test_findings_blame import named
from test_findings_cure import findings, the, workers
from test_findings_odd import code_of
from test_findings_risks import event, losing, retiring, with_rows
from test_findings_risks import the as found_in
from test_findings_time import beside, one, short_tasks, submitted
from test_findings_why import joined_at
from test_time_budget import START, Run

from dask_insight.analysis.findings import Facts, Finding, kept, losses
from dask_insight.analysis.findings.names import called
from dask_insight.analysis.time_budget import budget
from dask_insight.timeline import Attempts, Moments


def few() -> Run:
    run = Run(**workers(8))
    for number in range(2):
        run.task("half", f"w{number}", 0, 5)
    return run


@pytest.mark.parametrize("name", ["lambda", "score", "a-b"])
@pytest.mark.parametrize(
    ("run", "code"),
    [
        (short_tasks(2000, 0.001, 0.005), "tiny-tasks"),
        (beside(0.02, late=0.0001, starved=0.0, use=4), "io-wait"),
        (few(), "too-few-tasks"),
    ],
)
def test_advice_calls_what_can_be_called(run: Run, code: str, name: str) -> None:
    advice = code_of(one(named(run, name), code).advice)
    compile(advice, "advice", "exec")
    assert ("score" in advice) == (name == "score")


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: one(joined_at(45.0), "cold-start"), id="late"),
        pytest.param(lambda: found_in(retiring(waiting=True), "worker-lost"), id="retired"),
        pytest.param(
            lambda: found_in(
                with_rows(losing(), "events", [event(5.9, "b", "worker-closing", "nanny-close")]),
                "worker-lost",
            ),
            id="closed",
        ),
    ],
)
def test_what_is_advised_of_clusters_holds_of_those_of_others_too(made: Callable[[], Finding]) -> None:
    """`KubeCluster.adapt` and `GatewayCluster.adapt` take a minimum and a maximum, and need both."""
    calls = [node for node in ast.walk(ast.parse(code_of(made().advice))) if isinstance(node, ast.Call)]
    told = {ast.unparse(call.func): {each.arg for each in call.keywords} for call in calls}
    assert told["cluster.adapt"] == {"minimum", "maximum"}
    assert "names" not in told.get("client.retire_workers", set()), "nobody has the names of all kinds"
    assert "cluster.scale" not in told, "it closes others than have been retired where it hears of them late"


def test_what_is_no_name_in_code_is_not_called() -> None:
    assert [called(name) for name in ("lambda", "None", "score", "a-b")] == [
        "function",
        "function",
        "score",
        "function",
    ]


def _texts(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        parts = [node] if isinstance(node, ast.Constant) else getattr(node, "values", [])
        yield "".join(str(each.value) for each in parts if isinstance(each, ast.Constant))


def test_modules_that_few_have_imported_are_imported_by_the_code_that_needs_them() -> None:
    needed = re.compile(r"^    .*?(?<![\w.])(ctypes|faulthandler|gc)\.", re.MULTILINE)
    advised = [text for module in Path(kept.__file__).parent.glob("*.py") for text in _texts(module)]
    modules = [(module, text) for text in advised for module in needed.findall(text)]
    assert {module for module, _ in modules} == {"ctypes", "faulthandler", "gc"}
    assert [text for module, text in modules if f"    import {module}" not in text] == []


def with_libraries(own: bool) -> Finding:
    """Tasks whose libraries take all cores, on a worker in the program's process or in its own."""
    run = Run(**workers(1, 8))
    for number in range(20):
        for thread in range(8):
            run.task("matmul", "w0", number, number + 0.99, cpu=0.12, thread=str(thread))
    time = START + np.arange(0.5, 20.5, 0.5)
    used = {"process": ["w0"] * 40, "time": time, "cpu": [790.0] * 40, "starved": [3.4] * 40}
    where = {"host": ["h"], "cores": [8], "core_set": [1], "pid": [5], "own": [int(own)]}
    return the(findings(run, resources=used, workers=where), "oversubscribed")


def test_threads_of_libraries_are_set_beside_what_a_nanny_sets_already() -> None:
    advice = with_libraries(own=False).advice
    code = code_of(advice)
    compile(code, "advice", "exec")
    before = dask.config.get("distributed.nanny.pre-spawn-environ")
    with dask.config.set({"distributed.nanny.pre-spawn-environ": dict(before)}):
        told = [line for line in code.splitlines() if line.startswith(("variables = ", "dask.config.set("))]
        exec("\n".join(told), {"dask": dask})
        after = dask.config.get("distributed.nanny.pre-spawn-environ")
    assert before["OMP_NUM_THREADS"] == 1
    assert after == before | {"NUMBA_NUM_THREADS": 1, "POLARS_MAX_THREADS": 1}
    # Only a worker without a nanny has to be told; on an event loop no task's thread is.
    (line,) = [line for line in advice.splitlines() if "OMP_NUM_THREADS" in line]
    assert "--no-nanny" in line and "client.run" not in advice and "with threadpoolctl." in code


def test_workers_of_the_programs_process_have_no_nanny() -> None:
    advice = with_libraries(own=True).advice
    compile(code_of(advice), "advice", "exec")
    assert "OMP_NUM_THREADS=1 " in advice and "python program.py" in advice and "nanny" not in advice


def test_what_is_advised_for_slow_graphs_is_no_default() -> None:
    advice = one(submitted(few(), 10, 40.0), "slow-graph").advice
    compile(code_of(advice).split("\n", 1)[1], "advice", "exec")
    assert "calculate_divisions=False" not in advice and "ignore_metadata_file=True" in advice


def handing_over(count: int) -> Facts:
    """Workers that left with four results each, all of which one that stayed made again."""
    names = [f"left{number}" for number in range(count)]
    run = Run(**workers(1), **{name: {"threads": 1, "joined": -1.0, "left": 6.0} for name in names})
    run.tables["submissions"] = {"submission": [0], "time": [START], "tasks": [4 * count]}
    rows = []
    for number, name in enumerate(names):
        rows.append(event(6, name, "worker-lost", "gone", processing=0, lost=4, expected=False))
        for start in range(4):
            load = run.task("load", name, start, start + 1)
            start += 7 + 4 * number
            run.task("load", "w0", start, start + 1, task=load, ready=6.1)
    recording = with_rows(run.recording(), "events", rows)
    return Facts(recording.columns, START, budget(recording.columns))


def test_what_was_done_again_is_looked_up_for_each_worker_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_at(count: int) -> int:
        rows_of: list[int] = []

        def counted(self: Attempts, name: str, rows: Any) -> Any:
            rows_of.append(np.size(rows))
            return at(self, name, rows)

        facts = handing_over(count)
        assert len(facts.several) == 8 * count and facts.made_again.left
        with monkeypatch.context() as patch:
            patch.setattr(Attempts, "at", counted)
            assert [len(loss.again) for loss in losses.losses_of(facts)] == [4] * count
        return sum(rows_of)

    at = Attempts.at
    assert looked_at(40) == 4 * looked_at(10)


def test_waits_for_resources_are_put_together_once_for_workers_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def put_together(count: int) -> int:
        """Of half of the workers, which have a resource that the others lack."""
        run = Run(**workers(count, 2))
        for number in range(count):
            for start in range(2):
                run.task("train", f"w{number}", start, start + 1, inputs=0.0)
        given = [{"x": 1} if number % 2 else {} for number in range(count)]
        run.tables["workers"] = {
            "worker": [*run.workers],
            "threads": [2] * count,
            "detail": [json.dumps({"resources": each}) for each in given],
        }
        facts, parts = facts_of(run), []

        def together(some: Any) -> Moments:
            parts.extend(some := [*some])
            return Moments.together(some)

        with monkeypatch.context() as patch:
            patch.setattr(kept, "Moments", SimpleNamespace(together=together))
            found = kept.kept_by_resources(facts)
        assert [found[code].seconds for code in range(count)] == [1.0] * count
        return len(parts)

    assert put_together(40) == 4 * put_together(10)


def facts_of(run: Run) -> Facts:
    recording = run.recording()
    return Facts(recording.columns, START, budget(recording.columns))
