"""Faults planted in real workloads on real clusters are found; where nothing is planted, nothing is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

pytest.importorskip("dask.array")
pytest.importorskip("dask.dataframe")

from faults import CLEAN, PLANTED, Cluster, Workload, record, started

#: What a machine does beside may hide a fault, or be one; hardly twice in a row.
pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1)]

#: What a person most likely did on purpose: there is nothing to be warned of.
MEANT = {"sleeping"}


@pytest.fixture(scope="module")
def client_of() -> Iterator[Callable[[Cluster | None, ExitStack], Any]]:
    """A client of such a cluster: one that lives on, or one that ends with the test if it will be spoilt."""
    clients: dict[Cluster, Any] = {}
    with ExitStack() as kept:

        def find(cluster: Cluster | None, test: ExitStack) -> Any:
            if cluster is None or cluster.spoilt:
                return test.enter_context(started(cluster))
            if cluster not in clients:
                clients[cluster] = kept.enter_context(started(cluster))
            return clients[cluster]

        yield find


def found_in(workload: Workload, client_of: Any) -> tuple[Sequence[Any], Any, list[str]]:
    """What is found in a recording of a workload, the recording, and the workers to be named."""
    with ExitStack() as test:
        run, workers = record(workload, client_of(workload.cluster, test))
    return run.findings(), run, workers


def told(findings: Sequence[Any]) -> str:
    """Findings in a few lines, for the message of a test that fails."""
    lines = [
        f"{each.severity} {each.code}: {each.title} {list(each.tasks)} {list(each.workers)} {each.evidence}"
        for each in findings
    ]
    return "\n".join(["found:", *lines])


@pytest.mark.parametrize("workload", PLANTED, ids=lambda workload: workload.name)
def test_what_was_planted_is_found_first_or_second(workload: Workload, client_of: Any) -> None:
    findings, run, workers = found_in(workload, client_of)
    leading = {each.code: each for each in findings[:2]}
    assert workload.code in leading, told(findings)
    finding = leading[workload.code]
    assert workload.says in f"{finding.title} {finding.why}", told(findings)
    if workload.tasks:
        assert finding.tasks and finding.tasks[0] in workload.tasks, told(findings)
    if workers:
        # Those that did again what a worker lost follow it.
        named = finding.workers[: len(workers)] if workload.code == "worker-lost" else finding.workers
        assert named and set(named) <= set(workers), told(findings)
    if workload.code == "worker-lost":
        # What Dask makes again of itself nobody had to keep.
        assert "recompute" not in [each.code for each in findings], told(findings)
    if workload.code in MEANT:
        assert [each.severity for each in findings] == ["info"] * len(findings), told(findings)
    else:
        assert finding.severity in ("warning", "critical"), told(findings)
    whole = run.time_budget().attrs
    assert 0 <= finding.start <= finding.stop <= whole["stop"] + 0.01, told(findings)
    assert 0 <= finding.cost_seconds <= whole["stop"] - whole["start"] + 0.01, told(findings)
    assert 0 <= finding.cost_thread_seconds < float("inf"), told(findings)
    assert finding.evidence and finding.why and finding.advice and finding.url, told(findings)


@pytest.mark.parametrize("workload", CLEAN, ids=lambda workload: workload.name)
def test_where_nothing_is_wrong_there_is_no_warning(workload: Workload, client_of: Any) -> None:
    findings, _, _ = found_in(workload, client_of)
    assert not [each for each in findings if each.severity != "info"], told(findings)
