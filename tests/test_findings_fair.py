"""Findings blame what it was: large data, a client's own work, too many tasks."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import dask
import numpy as np
import pytest
from test_findings_time import short_tasks, told
from test_time_budget import CLUSTER, START, Run

from dask_insight.analysis.findings.rules import RULES
from dask_insight.analysis.findings.waits_for_others import advice_on
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.tables.waits import CALLS

MB = 1e6


def sized(run: Run, sizes: Sequence[float], **tables: Any) -> list[Any]:
    """The findings of a run whose attempts have results of these sizes."""
    recording = Recording()
    made = {"attempts": {"nbytes": np.array(sizes, "f8")}, **tables}
    for table, columns in run._columns().items():
        if columns and len(next(iter(columns.values()))):
            recording.append(encode(table, {**columns, **made.get(table, {})}))
    found = recording.findings()
    assert found.failed == ()
    return list(found)


@pytest.mark.parametrize("nbytes", [1.2 * MB, 0.9 * MB])
def test_what_a_client_does_between_short_fetches_is_its_own_work(nbytes: float) -> None:
    run, made, ends = Run(), list[int](), list[float]()
    for number in range(100):
        at = 1.5 * number
        made.append(max(run.task("piece", worker, at, at + 0.5, submitted=at) for worker in "ab"))
        ends.append(START + at + 0.5)
    messages = {"transfer": range(100), "worker": ["b"] * 100, "peer": ["tcp://client"] * 100}
    times = {"start": np.array(ends), "stop": np.array(ends) + 0.02}
    run.tables["transfers"] = {**messages, **times, "direction": ["out"] * 100, "nbytes": [nbytes] * 100}
    run.tables["transferred"] = {"transfer": range(100), "task": made, "nbytes": [nbytes] * 100}
    (gap,) = told(run, "client-gap")
    assert gap.cost_seconds > 90
    assert sum(each.cost_seconds for each in told(run, "oversized-results")) < 7


@pytest.mark.parametrize(("each", "carries"), [(150.0, False), (60_000.0, True)])
def test_very_many_tasks_carry_no_data(each: float, carries: bool) -> None:
    run = Run()
    for number in range(100):
        for worker in "ab":
            start = 0.1 * number
            run.task("inc", worker, start + 0.07, start + 0.1, ready=0.0, assigned=start + 0.001)
            run.attempts[-1]["received"] = run.attempts[-1]["inputs"] = run.attempts[-1]["start"]
    run.tables["graph"] = {"task": range(200), "prefix": run.names, "submission": np.zeros(200, "u4")}
    sent = {"submission": [0], "time": np.array([START - 0.2]), "tasks": np.array([20_000])}
    run.tables["submissions"] = sent | {"nbytes": np.array([20_000 * each])}
    # The scheduler is busy meanwhile with the tasks, or with what they carry, which is told of that.
    time = START + np.arange(0.0, 10.5, 0.5)
    run.tables["resources"] = {"process": ["scheduler"] * len(time), "time": time, "cpu": [95.0] * len(time)}
    assert any("carries data" in found.title for found in told(run, "large-graph")) == carries
    assert bool(told(run, "scheduler-bound")) != carries


@pytest.mark.parametrize("larger", [3, 1])
def test_a_worker_with_larger_data_is_not_slow(larger: int) -> None:
    run = Run()
    for number in range(5):
        run.task("use", "a", 3 * number, 3 * number + 3)
    for number in range(15):
        run.task("use", "b", number, number + 1)
    found = sized(run, [larger * 100 * MB] * 5 + [100 * MB] * 15)
    assert [each.code for each in found if each.code == "worker-skew"] == ["worker-skew"] * (larger == 1)


def test_a_slow_worker_with_more_of_the_larger_tasks_is_slow() -> None:
    run = Run()
    for number in range(10):
        run.task("use", "a", 30 * number, 30 * number + 30)
        run.task("use", "b", 10 * number, 10 * number + 10)
    for number in range(5):
        run.task("use", "a", 300 + 3 * number, 303 + 3 * number)
    for number in range(200):
        run.task("use", "b", 100 + number, 101 + number)
    sizes, group = [1000 * MB] * 20 + [100 * MB] * 205, ["large"] * 20 + ["small"] * 205
    run.tables["graph"] = {"task": range(225), "prefix": run.names, "group": group}
    assert "worker-skew" in [each.code for each in sized(run, sizes)]


def test_what_spilling_costs_does_not_depend_on_how_long_a_notebook_is_left_alone() -> None:
    def spilling(pause: float) -> Any:
        run, again = Run(), 30.0 + pause
        for number in range(30):
            for worker in "ab":
                run.task("load", worker, number, number + 1)
        for number in range(30):
            for worker in "ab":
                run.task("use", worker, again + number, again + number + 1, submitted=again)
        starts = START + np.array([0.0, again])
        run.tables["cells"] = {
            **{"execution": [1, 2], "cell": ["x", "y"], "code": ["a", "b"]},
            **{"start": starts, "stop": starts + 30, "status": ["ok", "ok"]},
        }
        run.tables["metrics"] = {
            **{"worker": ["a", "a", "b", "b"], "context": ["execute"] * 4, "activity": ["disk-write"] * 4},
            **{"unit": ["seconds", "bytes"] * 2, "value": [15.0, 600 * MB] * 2, "span": [""] * 4},
            **{"prefix": ["use"] * 4, "time": [START + 20] * 4},
        }
        (found,) = told(run, "spill")
        return found

    at_once, later = spilling(0.0), spilling(570.0)
    assert later.severity == at_once.severity == "critical"
    assert later.cost_seconds == pytest.approx(at_once.cost_seconds) == pytest.approx(15)
    # Nobody told how large results were: no share of them is made up.
    assert "of all results: –" in " ".join(map(str, later.evidence))


@pytest.mark.parametrize(("large", "severity", "most"), [(1, "warning", 100), (2, "critical", 300)])
def test_one_large_result_makes_no_other_name_critical(large: int, severity: str, most: float) -> None:
    run = Run(a=CLUSTER | {"threads": 2}, b=CLUSTER | {"threads": 2})
    for number in range(50):
        for worker in "ab":
            run.task("chunk", worker, number, number + 0.98)
    for number in range(large):
        run.task("concat", "a", 50 + number, 51 + number)
    sizes = [100 * MB] * 100 + [300 * MB] * large
    found = sized(run, sizes, workers={"memory_limit": np.array([1e9, 1e9])})
    (risk,) = [each for each in found if each.code == "oversized-results"]
    assert risk.severity == severity and f"`{'chunk' if large == 1 else 'concat'}`" in risk.title
    assert risk.evidence[0].value == most * MB


def test_a_threshold_for_tiny_tasks_may_be_more_than_what_dask_recommends() -> None:
    run = short_tasks(1000, 0.15, 0.5)
    (found,) = told(run, "tiny-tasks", thresholds={"tiny-tasks.mean": 0.2, "tiny-tasks.each": 1.0})
    assert found.cost_seconds > 0 and "400 ms" in found.advice.replace("\u202f", " ")


def test_an_outlier_may_be_shorter_than_a_quarter_of_a_second() -> None:
    run = Run()
    for number in range(50):
        for worker in "ab":
            run.task("piece", worker, 0.02 * number, 0.02 * number + 0.02)
    run.task("piece", "b", 1, 1.22)
    asked = {"all.seconds": 0.0, "all.share": 0.0}
    assert told(run, "straggler", thresholds=asked) == []
    assert len(told(run, "straggler", thresholds=asked | {"straggler.seconds": 0.1})) == 1


def test_advice_sets_what_is_not_the_default() -> None:
    texts = [str(each) for rule in RULES for each in (rule.advice, *_texts(rule.find))]
    told = {pair for text in texts for pair in re.findall(r"'([a-z.-]+)': ([^,}]+)[,}]", text)}
    assert ("distributed.scheduler.allowed-failures", "1") in told
    for name, value in told:
        default = dask.config.get(name, default=None)
        assert str(default) != value.strip("'\""), name


def _texts(find: Any) -> list[str]:
    """The texts of a rule's module."""
    return [value for value in vars(sys.modules[find.__module__]).values() if isinstance(value, str)]


def test_advice_for_calls_of_actors_runs() -> None:
    from distributed import Client

    class Counter:
        def __init__(self) -> None:
            self.total = 0

        def add_all(self, items: list[int]) -> int:
            self.total += sum(items)
            return self.total

    code = "\n".join(line[4:] for line in advice_on(CALLS).splitlines() if line.startswith("    "))
    with Client(processes=False, n_workers=1, dashboard_address=None) as client:
        names = {"client": client, "Counter": Counter, "parts": [[1, 2], [3], [4], [5]]}
        exec(code, names)
    assert names["results"] == [3, 3, 4, 5]
