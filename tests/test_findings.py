"""The framework of findings: thresholds, grading, ranking, rules that fail, rows, documentation."""

from __future__ import annotations

import gc
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_time_budget import CLUSTER, START, Run, any_run, odd_run

from dask_insight.analysis.findings import (
    DEFAULTS,
    RULES,
    Fact,
    Facts,
    Finding,
    Findings,
    Limits,
    apply,
    reference,
)
from dask_insight.analysis.findings.losses import Loss, lost_seconds
from dask_insight.analysis.findings.names import quoted
from dask_insight.analysis.findings.rule import Rule
from dask_insight.analysis.findings.thresholds import TABLE
from dask_insight.analysis.time_budget import budget
from dask_insight.recording import Recording
from dask_insight.timeline import Moments


def ten_seconds() -> Run:
    """A run without fault on two threads."""
    run = Run()
    for start in range(10):
        run.task("piece", "a", start, start + 1, submitted=0)
        run.task("piece", "b", start, start + 1, submitted=0)
    return run


def facts(run: Run) -> Facts:
    read = run.recording()._answers.columns
    return Facts(read, 0.0, budget(read))


def finding(code: str, seconds: float, **more: Any) -> Finding:
    return Finding(code=code, title=code, why="why", advice="advice", url="url", cost_seconds=seconds, **more)


def rule(*found: Finding) -> Rule:
    def find_them(facts: Facts, limits: Limits) -> Iterator[Finding]:
        yield from found

    return Rule(found[0].code, "", "", "", "", find_them)


def of_two_clusters() -> Facts:
    """With workers that are called alike."""
    run = ten_seconds()
    run.tables["workers"] = {
        "worker": ["a", "b", "c", "d"],
        "name": ["0", "1", "0", ""],
        "cluster": ["one", "one", "two", "two"],
        "threads": [1] * 4,
    }
    return facts(run)


def test_workers_of_several_clusters_that_are_called_alike_tell_their_cluster() -> None:
    called = of_two_clusters().called
    assert [called(worker) for worker in "abcde"] == ["0 · cluster 1", "1", "0 · cluster 2", "d", "e"]


def growing() -> Run:
    """One thread for 100 s, then ten more for 10 s; the first half of it failed."""
    run = Run(**{name: CLUSTER | {"joined": 100.0} for name in "bcdefghijk"}, a=CLUSTER)
    run.task("bad", "a", 0, 50, status="erred")
    run.task("good", "a", 50, 110, submitted=50)
    for name in "bcdefghijk":
        run.task("more", name, 100, 110, submitted=100)
    return run


def test_what_ten_tasks_lost_with_a_worker_was_spent_side_by_side() -> None:
    some, none = np.arange(2, 12), np.zeros(0, "i8")
    lost = Loss("b", START + 110, results=0, killed=some, again=none, running=100.0)
    assert lost_seconds(facts(growing()), [lost]) == pytest.approx(100 / 11)


def test_what_was_lost_while_few_threads_were_there_costs_more() -> None:
    found = facts(growing())
    assert found.spread_attempts(np.array([0])) == found.spread_pieces(found.pieces("failed")) == 50
    assert found.spread_pieces(found.pieces("compute")) == pytest.approx(60)
    late = Moments(np.array([START + 95.0]), np.array([START + 200.0]))
    assert found.spread_pieces(found.budget.pieces, late) == pytest.approx(15)
    told = {each.code: each.cost_seconds for each in growing().recording().findings()}
    assert told["failed-tasks"] == pytest.approx(50)


@settings(max_examples=40, deadline=None)
@given(st.one_of(any_run(), odd_run()))
def test_all_time_together_costs_what_the_run_took(run: Run) -> None:
    found = facts(run)
    cost = sum(found.spread_pieces(found.pieces(part)) for part in found.budget.parts)
    assert cost == pytest.approx(found.served, abs=1e-3)


def test_a_run_without_fault_has_no_findings() -> None:
    found = ten_seconds().recording().findings()
    assert list(found) == []
    assert found.failed == ()
    assert found.seconds == pytest.approx(10)
    assert "Nothing was found" in str(found)


def test_what_was_looked_at_is_let_go_of_before_garbage_is_looked_for() -> None:
    run = ten_seconds().recording()
    gc.collect()
    gc.disable()
    try:
        run.findings()
        assert not [each for each in gc.get_objects() if isinstance(each, Facts) and vars(each)]
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "look",
    [lambda: Recording().findings(), lambda: ten_seconds().recording().findings(start=100)],
    ids=["without tasks", "after the last one"],
)
def test_where_no_task_ran_nothing_is_found_and_nothing_is_acquitted(look: Callable[[], Findings]) -> None:
    found = look()
    assert list(found) == []
    assert "No task ran" in str(found.at_least("info")) and "Nothing was found" not in str(found)
    assert json.loads(found.to_json())["judged"] is False


def test_severity_follows_from_the_cost_and_small_ones_are_not_told() -> None:
    found = apply(
        facts(ten_seconds()),
        Limits(),
        [rule(finding(str(cost), cost)) for cost in (0.1, 0.6, 1.0, 5.0, 99.0)],
    )
    assert [(each.code, each.severity, each.cost_seconds) for each in found] == [
        ("99.0", "critical", 10.0),
        ("5.0", "critical", 5.0),
        ("1.0", "warning", 1.0),
        ("0.6", "info", 0.6),
    ]


def test_a_risk_without_a_cost_is_told_with_the_severity_its_rule_gives() -> None:
    risk = finding("risk", math.nan, severity="critical")
    found = apply(facts(ten_seconds()), Limits(), [rule(finding("cost", 2.0)), rule(risk)])
    assert [each.code for each in found] == ["risk", "cost"]
    assert (found[0].is_risk, found[0].cost_seconds) == (True, 0.0)
    assert (found[0].start, found[0].stop) == found.between
    assert found.worst == "critical"
    assert [each.code for each in found.at_least("critical")] == ["risk"]


def test_a_rule_that_fails_takes_no_other_down() -> None:
    def broken(facts: Facts, limits: Limits) -> list[Finding]:
        raise ZeroDivisionError("nothing there")

    bad = Rule("broken", "", "", "", "", broken)
    found = apply(facts(ten_seconds()), Limits(), [bad, rule(finding("cost", 2.0))])
    assert [each.code for each in found] == ["cost"]
    assert found.failed == (("broken", "ZeroDivisionError: nothing there"),)
    assert "broken" in str(found) and "nothing there" in found._repr_html_()


def test_no_rule_fails_on_a_recording_made_by_hand() -> None:
    assert ten_seconds().recording().findings().failed == ()


def test_thresholds_can_be_changed_and_unknown_ones_are_refused() -> None:
    run = ten_seconds()
    run.task("piece", "a", 10, 12.5, submitted=0)
    recording = run.recording()
    assert list(recording.findings()) == []
    assert [each.code for each in recording.findings({"straggler.times": 2})] == ["straggler"]
    with pytest.raises(ValueError, match=r"near it: straggler\.times"):
        recording.findings({"straggler.time": 2})


def test_a_part_of_the_time_can_be_asked_for() -> None:
    run = ten_seconds()
    run.task("piece", "a", 10, 20, submitted=0)
    recording = run.recording()
    assert [each.code for each in recording.findings()] == ["straggler"]
    assert list(recording.findings(stop=9.5)) == []
    late = recording.findings(start=5)
    assert late.seconds == pytest.approx(15)
    assert late[0].start == pytest.approx(10)


def test_what_is_told_whatever_it_costs_ranks_by_its_cost_and_a_risk_above_it() -> None:
    found = apply(
        facts(ten_seconds()),
        Limits(),
        [
            rule(finding("cheap", 0.1, severity="warning", is_told=True)),
            rule(finding("dear", 3.0, severity="warning", is_told=True)),
            rule(finding("risk", 0.1, severity="warning", is_risk=True)),
            rule(finding("not worth telling", 0.1, severity="warning")),
        ],
    )
    assert [each.code for each in found] == ["dear", "risk", "cheap"]


def test_findings_are_rows_in_rank_order() -> None:
    run = ten_seconds()
    run.task("<piece>", "a", 10, 20, submitted=0)
    run.task("later", "a", 24, 25, submitted=24)
    recording = run.recording()
    rows = recording.table("findings")
    found = recording.findings()
    assert rows.code.tolist() == [each.code for each in found]
    assert [json.loads(text) for text in rows.tasks] == [list(each.tasks) for each in found]
    # What concerns the whole run has no time of its own there.
    assert [(each.start, each.stop) == found.between for each in found] == [True, False]
    assert rows.start.tolist() == pytest.approx([math.nan, found[1].start], nan_ok=True)
    assert json.loads(rows.evidence[0])[0] == list(found[0].evidence[0])
    assert found.frame().code.tolist() == rows.code.tolist()
    assert json.loads(found.to_json())["findings"][0]["code"] == found[0].code


def test_nothing_found_is_a_row_of_its_own() -> None:
    rows = ten_seconds().recording().table("findings")
    assert rows[["code", "severity", "title"]].astype(str).values.tolist() == [["", "", ""]]


def test_text_of_the_cluster_is_no_html() -> None:
    run = ten_seconds()
    for _ in range(4):
        run.task("<script>", "b", 10, 10.1, submitted=0)
    run.task("<script>", "a", 10, 20, submitted=0)
    html = run.recording().findings()._repr_html_()
    assert "&lt;script&gt;" in html and "<script>" not in html


def test_names_stay_in_their_line_and_in_their_quotes() -> None:
    run = ten_seconds()
    name = "a' + evil()\n\n    evil()\n"
    for _ in range(4):
        run.task(name, "b", 10, 10.1, submitted=0)
    run.task(name, "a", 10, 20, submitted=0)
    (found,) = run.recording().findings()
    code = [line for line in found.advice.splitlines() if "query" in line]
    assert "\n    evil" not in found.advice and "\n" not in found.title
    assert len(code) == 1 and compile(code[0].strip(), "advice", "eval")


def test_times_between_cells_of_a_notebook_are_nobodys_fault() -> None:
    run = ten_seconds()
    run.task("later", "a", 60, 61, submitted=60)
    run.task("later", "b", 60, 61, submitted=60)
    assert [each.code for each in run.recording().findings()] == ["client-gap"]
    zero = 1_750_000_000.0
    run.tables["cells"] = {
        "execution": [1, 1, 2, 2],
        "cell": ["x", "x", "y", "y"],
        "code": [""] * 4,
        "start": np.array([zero, zero, zero + 60, zero + 60]),
        "stop": np.array([np.nan, zero + 10, np.nan, zero + 61]),
        "status": ["running", "ok", "running", "ok"],
    }
    found = run.recording().findings()
    assert list(found) == []
    assert found.seconds == pytest.approx(11)


def test_minutes_without_tasks_are_no_gap() -> None:
    run = ten_seconds()
    run.task("later", "a", 1000, 1001, submitted=1000)
    run.task("later", "b", 1000, 1001, submitted=1000)
    found = run.recording().findings()
    assert list(found) == []
    assert found.seconds == pytest.approx(11)


def test_figures_print_with_their_units() -> None:
    assert str(Fact("mean", 0.004, "s", 0.01)).replace("\u202f", " ") == "mean: 4 ms (threshold 10 ms)"
    assert str(Fact("tasks", 12_000, "count")) == "tasks: 12,000"
    assert str(Fact("lost", 0.25, "share")).replace("\u202f", " ") == "lost: 25 %"


def test_every_threshold_belongs_to_a_rule_and_says_what_it_is() -> None:
    codes = {each.code for each in RULES} | {"all"}
    assert {each.name.partition(".")[0] for each in TABLE} <= codes
    assert len(DEFAULTS) == len(TABLE)
    assert all(each.meaning and each.source for each in TABLE)
    assert len({each.code for each in RULES}) == len(RULES)
    assert all(
        each.url.startswith("https://") and each.says and each.formula and each.cost and each.advice
        for each in RULES
    )


def test_thresholds_that_rules_tell_of_are_there() -> None:
    told = {name for each in RULES for name in re.findall("`([^`]+)`", f"{each.formula} {each.cost}")}
    codes = tuple(f"{each.code}." for each in RULES)
    assert {name for name in told if name.replace(" ", "").startswith(codes)} <= {*DEFAULTS}


def test_the_documentation_is_that_of_the_rules() -> None:
    assert reference.TARGET.read_text(encoding="utf-8") == reference.markdown()


@pytest.mark.parametrize(
    ("names", "said"),
    [((), "tasks"), (("a",), "`a`"), (("a", "b"), "`a` and `b`"), (("a", "b", "c"), "`a`, `b` and others")],
)
def test_some_names_in_words(names: tuple[str, ...], said: str) -> None:
    assert quoted(names) == said
