"""What tasks were doing that ran at a moment."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import wait_for
from distributed import Client, Event, LocalCluster
from graphs import START

import dask_insight
from dask_insight.batch import encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"


def spins(name: str) -> None:
    ended = Event(name)
    while not ended.is_set():
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            pass


def sleeps(name: str) -> None:
    ended = Event(name)
    while not ended.wait(0.5):
        time.sleep(0.01)


def test_each_task_that_runs_tells_what_it_does() -> None:
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **options) as cluster, Client(cluster) as client:
        with dask_insight.record(client=client, poll="100ms") as run:
            tasks = [client.submit(each, "ended") for each in (spins, sleeps)]

            def seen() -> bool:
                stacks = run.call_stacks()["stack"].tolist()
                return len(stacks) == 2 and all("in s" in one for one in stacks)

            wait_for(seen, "stacks of both tasks")
            live = run.call_stacks()
            Event("ended").set()
            client.gather(tasks)
        assert len(run.call_stacks()) == 0, "all have ended"
    past = run.call_stacks(at=live["seen"].max())
    for told in (live, past):
        by_name = told.set_index("prefix")["stack"]
        for name in ("spins", "sleeps"):
            assert f'File "{__file__}", line' in by_name[name] and f"in {name}\n" in by_name[name]
        assert by_name["spins"].count("in sleeps") == by_name["sleeps"].count("in spins") == 0
        assert told["worker"].nunique() == 1 and told["thread"].nunique() == 2
        assert (told["since"] <= told["seen"]).all()
    assert re.search(r"in spins\n    (while|until|pass)", past.set_index("prefix")["stack"]["spins"])


def recording() -> Recording:
    """Two attempts, one of which ended after 4 s; a call of `inner` by `outer` from 2 s on."""
    run = Recording()
    tables = {
        "graph": {"task": [0, 1], "key": ["a-0", "b-0"], "prefix": ["a", "b"]},
        "running": {
            "run": [0, 1],
            "task": [0, 1],
            "worker": ["w"] * 2,
            "thread": ["1", "2"],
            "start": START + np.array([0.0, 1.0]),
        },
        "attempts": {
            "run": [0],
            "task": [0],
            "worker": ["w"],
            "thread": ["1"],
            "status": ["ok"],
            "start": [START],
            "stop": [START + 4],
            "done": [START + 4],
        },
        "stacks": {
            "stack": [0, 1],
            "parent": [NOTHING, 0],
            "function": ["outer", "inner"],
            "file": ["f.py"] * 2,
            "line": [3, 7],
        },
        "samples": {
            "process": ["w"] * 2,
            "time": START + np.array([2.0, 4.0]),
            "duration": [1.0, 2.0],
            "stack": [0, 1],
            "run": [0, 0],
        },
        "lines": {"file": ["f.py"], "line": [3], "text": ["inner()"]},
    }
    for table, columns in tables.items():
        run.append(encode(table, columns))
    return run


OUTER = '  File "f.py", line 3, in outer\n    inner()\n'


def test_a_past_moment_has_the_stack_of_that_moment() -> None:
    run = recording()
    (row,) = run.call_stacks(at=0.5).to_dict("records")
    assert (row["key"], row["since"], row["stack"]) == ("a-0", 0, "") and np.isnan(row["seen"])
    told = run.call_stacks(at=1.5)
    assert told["key"].tolist() == ["a-0", "b-0"] and told["since"].tolist() == [0, 1]
    assert told["stack"].tolist() == [OUTER, ""] and told["seen"][0] == 1.5
    assert run.call_stacks(at=3)["stack"][0] == OUTER + '  File "f.py", line 7, in inner\n'
    assert run.call_stacks(at=4)["key"].tolist() == run.call_stacks()["key"].tolist() == ["b-0"]


def test_a_part_of_a_run_ends_with_what_ran_at_its_end() -> None:
    assert recording().slice(0, 3).call_stacks()["key"].tolist() == ["a-0", "b-0"]


def test_stacks_that_stand_on_one_another_have_an_end() -> None:
    run = recording()
    run.append(encode("stacks", {"stack": [5, 6], "parent": [6, 5], "function": ["x", "y"], "line": [1, 1]}))
    time = [START + 3.5]
    sample = {"process": ["w"], "time": time, "duration": [1.0], "stack": [6], "run": [1]}
    run.append(encode("samples", sample))
    assert run.call_stacks()["stack"].tolist() == ['  File "", line 1, in x\n  File "", line 1, in y\n']


def test_a_moment_is_a_number() -> None:
    with pytest.raises(TypeError, match="at='now'"):
        Recording().call_stacks(at="now")  # type: ignore[arg-type]


def test_columns_are_of_the_same_kinds_where_nothing_ran() -> None:
    run = dask_insight.open(GOLDEN)
    whole, empty = (each.call_stacks(at=1.6) for each in (run, Recording()))
    assert len(whole) and not len(empty)
    assert empty.dtypes.astype(str).to_dict() == whole.dtypes.astype(str).to_dict()
