"""Questions to a recording to which rows come while they are answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dask_insight
from dask_insight import figures
from dask_insight.batch import encode
from dask_insight.exports import FORMATS
from dask_insight.figures.ran import Ran
from dask_insight.figures.request import Request
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.tables import FIELDS

START = 1_750_000_000.0
ONE, TWO = "tcp://one:1", "tcp://two:1"
#: A row more of each table.
MORE: dict[str, dict[str, Any]] = {
    "graph": {"task": [9], "prefix": ["more"], "key": ["more-1"], "submission": [0], "order": [9]},
    "edges": {"task": [9], "dependency": [0]},
    "attempts": {
        "run": [9],
        "task": [9],
        "worker": ["a"],
        "thread": ["1"],
        "status": ["ok"],
        **{name: [START + 2.0] for name in ("submitted", "ready", "assigned", "start")},
        **{name: [START + 3.0] for name in ("stop", "done")},
    },
    "executions": {"run": [9], "worker": ["a"], "start": [START + 2.0], "stop": [START + 3.0]},
    "running": {"run": [8], "task": [8], "worker": ["a"], "thread": ["1"], "start": [START + 2.0]},
    "phases": {"run": [9], "action": ["disk-write"], "start": [START + 2.0], "stop": [START + 2.5]},
    "metrics": {"worker": ["a"], "activity": ["thread-cpu"], "unit": ["seconds"], "value": [1.0]},
    "transfers": {
        "transfer": [9],
        "worker": ["a"],
        "peer": ["b"],
        "direction": ["in"],
        "start": [START + 1.0],
        "stop": [START + 2.0],
        "nbytes": [9.0],
    },
    "transferred": {"transfer": [0], "task": [0], "nbytes": [9.0]},
    "submissions": {"submission": [9], "time": [START]},
    "workers": {"worker": ["c"], "threads": [1], "joined": [START], "cluster": [ONE]},
    "resources": {"process": ["a"], "time": [START + 2.0], "cpu": [50.0]},
    "memory": {"worker": ["a"], "time": [START + 2.0], "process": [1.0], "managed": [1.0]},
    "stacks": {"stack": [9], "parent": [NOTHING], "function": ["f"], "file": ["m.py"], "line": [1]},
    "samples": {
        "process": ["a"],
        "thread": ["1"],
        "time": [START + 2.0],
        "duration": [0.1],
        "stack": [9],
        "run": [9],
    },
    "errors": {"run": [9], "task": [9], "exception": ["ValueError()"]},
    "events": {"time": [START + 1.0], "source": ["a"], "kind": ["log"], "message": ["more"]},
    "budget": {"worker": ["a"], "part": ["compute"], "start": [START], "stop": [START + 1.0], "threads": [1]},
    "critical": {"start": [START], "stop": [START + 1.0], "kind": ["compute"], "run": [9], "task": [9]},
}


class Growing(Recording):
    """One to which a row of a table comes whenever that table is read."""

    grows = False

    def columns(self, table: str) -> Any:
        """They lack the row that comes then."""
        columns = super().columns(table)
        if self.grows and table in MORE:
            self.append(encode(table, MORE[table]))
        return columns


def growing() -> Growing:
    """Two clusters, each with a worker that spills: a result of one task is moved to another; one runs."""
    recording = Growing()
    ran = {
        "run": [0, 1, 2],
        "task": [0, 1, 2],
        "worker": ["a", "a2", "b"],
        "thread": ["1", "1", "1"],
        "status": ["ok", "ok", "ok"],
        **{name: START + np.array([0.0, 0.0, 0.0]) for name in ("submitted", "ready")},
        "assigned": START + np.array([0.0, 1.0, 0.0]),
        "start": START + np.array([0.0, 2.0, 0.0]),
        "stop": START + np.array([1.0, 3.0, 5.0]),
        "done": START + np.array([1.0, 3.0, 5.0]),
    }
    tables: dict[str, dict[str, Any]] = {
        "about": {"name": ["started"], "value": [str(START)]},
        "workers": {
            "worker": ["a", "a2", "b"],
            "threads": [1, 1, 1],
            "joined": [START] * 3,
            "cluster": [ONE, ONE, TWO],
        },
        "submissions": {"submission": [0], "time": [START]},
        "graph": {
            "task": [0, 1, 2, 3],
            "prefix": ["load", "sum", "fit", "fit"],
            "key": ["load-1", "sum-1", "fit-1", "fit-2"],
            "submission": [0] * 4,
            "order": range(4),
        },
        "edges": {"task": [1], "dependency": [0]},
        "attempts": ran,
        "executions": {
            **{name: ran[name] for name in ("run", "worker", "thread", "start", "stop")},
            "received": ran["assigned"],
            "ready": START + np.array([0.0, 1.8, 0.0]),
            "executing": ran["start"],
            "ended": ran["stop"],
        },
        "running": {
            "run": [3],
            "task": [3],
            "worker": ["b"],
            "thread": ["1"],
            "start": [START + 5.0],
        },
        "phases": {
            "run": [1, 0, 2],
            "action": ["transfer", "disk-write", "disk-write"],
            "start": START + np.array([1.0, 1.0, 5.0]),
            "stop": START + np.array([1.8, 1.1, 5.2]),
        },
        "metrics": {
            "worker": ["a", "b"],
            "context": ["execute"] * 2,
            "prefix": ["load", "fit"],
            "activity": ["thread-cpu"] * 2,
            "unit": ["seconds"] * 2,
            "value": [0.5, 2.0],
        },
        "transfers": {
            "transfer": [0],
            "worker": ["a2"],
            "peer": ["a"],
            "direction": ["in"],
            "start": [START + 1.0],
            "stop": [START + 1.8],
            "nbytes": [100.0],
        },
        "transferred": {"transfer": [0], "task": [0], "nbytes": [100.0]},
    }
    for name, columns in tables.items():
        recording.append(encode(name, columns))
    for name in ("resources", "memory", "stacks", "samples", "errors", "events"):
        recording.append(encode(name, MORE[name]))
    recording.grows = True
    return recording


QUESTIONS: dict[str, Callable[[Recording], Any]] = {
    "critical_path": lambda run: run.critical_path(),
    "critical_path of one": lambda run: run.critical_path(cluster=TWO),
    "time_budget": lambda run: run.time_budget(by="function"),
    "what_if": lambda run: run.what_if(workers=3),
    "bounds": lambda run: run.bounds(),
    "findings": lambda run: run.findings(),
    "findings of a part": lambda run: run.findings(start=1, stop=4),
    "summary": lambda run: run.summary(),
    "bottlenecks": lambda run: run.bottlenecks(["function", "worker"]),
    "balance": lambda run: run.balance(),
    "moved": lambda run: run.moved("type"),
    "held": lambda run: run.held(),
    "dependencies": lambda run: run.dependencies(),
    "shape": lambda run: run.shape(),
    "call_stacks": lambda run: run.call_stacks(),
    "spans": lambda run: run.spans,
    "flame": lambda run: run.flame(prefix="load", worker="a"),
    "flame of one task": lambda run: run.flame(task="load-1", run=0),
    "packed": lambda run: run.packed(coarse=True, explained=True),
    "compare": lambda run: dask_insight.compare(run, run),
    "explain": lambda run: run.explain(),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_of_one_moment(question: str) -> None:
    QUESTIONS[question](growing())


def test_no_rule_fails_while_a_recording_grows() -> None:
    assert not growing().findings().failed


@pytest.mark.parametrize("table", [name for name in FIELDS if not name.startswith("compared_")])
def test_a_table_is_of_one_moment(table: str) -> None:
    assert list(growing().table(table)) == [field.name for field in FIELDS[table]]


@pytest.mark.parametrize("panel", sorted(figures.PANELS))
def test_a_panel_is_of_one_moment(panel: str) -> None:
    assert figures.svg(growing(), panel).startswith("<svg")


@pytest.mark.parametrize(
    "format", ["chrome", "speedscope", "collapsed", "pprof", "otlp", "mermaid", "json", "csv"]
)
def test_an_export_is_of_one_moment(format: str, tmp_path: Path) -> None:
    assert growing().export(tmp_path / f"run{FORMATS[format].suffix}", format).exists()


def test_what_runs_is_drawn_as_running_while_others_end() -> None:
    ran = Ran(Request(growing()))
    assert ran.run[ran.running].tolist() == [3]
    assert len(ran.status) == len(ran.running) == len(ran)
