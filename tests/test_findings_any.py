"""Findings of whatever a recording may hold, also what contradicts itself: no rule fails on it."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_time_budget import START, Run, moments, odd_run

from dask_insight.batch import encode
from dask_insight.schema import NOTHING, TABLES

#: Tables that rules read beside those of a `Run`.
BESIDE = (
    *(
        "resources",
        "collections",
        "gpus",
        "memory",
        "gauges",
        "transfers",
        "transferred",
        "phases",
        "sampling",
        "samples",
    ),
    *("metrics", "events", "errors", "submissions", "spans", "clocks", "cells", "executions", "cache"),
)
#: Texts that mean something in some of their columns, beside the names of workers.
WORDS = (
    *(
        "scheduler",
        "client",
        "x",
        "y",
        "gone",
        "",
        "execute",
        "get-data",
        "gather-dep",
        "memory-monitor",
        "p2p",
    ),
    *("disk-read", "disk-write", "transfer", "deserialize", "thread-cpu", "seconds", "bytes", "incoming"),
    *("worker-lost", "worker-restart-memory", "restart", "steal", "dask", "log", "lost", "gap", "warning"),
    *("rmm.rmm-used", "rmm.rmm-total", "cudf.cudf-spilled"),
    *("KilledWorker('x')", '{"processing": 1, "lost": 1, "expected": false}', '{"worker": "a", "rss": 1e9}'),
)
NUMBERS = st.one_of(st.floats(0, 30), st.just(math.nan), st.floats(0, 1e12))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "time": st.one_of(moments.map(lambda moment: START + moment), st.just(math.nan)),
    "f32": NUMBERS,
    "f64": NUMBERS,
    "u8": st.integers(0, 3),
    "u32": st.one_of(st.integers(0, 5), st.just(NOTHING)),
}


@st.composite
def any_rows(draw: st.DrawFn, run: Run, name: str) -> dict[str, Any]:
    """Rows of a table, of which any column may be missing."""
    rows = draw(st.integers(1, 8))
    texts = st.sampled_from([*run.workers, *WORDS])
    left_out = draw(st.sets(st.sampled_from([column.name for column in TABLES[name].columns]), max_size=4))
    return {
        column.name: [draw(VALUES.get(column.kind, texts)) for _ in range(rows)]
        for column in TABLES[name].columns
        if column.name not in left_out
    }


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_rule_fails(data: st.DataObject) -> None:
    run = data.draw(odd_run())
    recording = run.recording()
    for name in data.draw(st.lists(st.sampled_from(BESIDE), max_size=5)):
        if told := data.draw(any_rows(run, name)):
            recording.append(encode(name, told))
    found = recording.findings()
    assert found.failed == ()
    for each in found:
        assert 0 <= each.cost_seconds <= found.seconds * (1 + 1e-9)
        assert each.start <= each.stop
        assert each.title and each.why and each.advice and each.evidence
    assert recording.summary()
