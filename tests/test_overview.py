from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_time_budget import clusters_in_turn

from dask_insight import words
from dask_insight.analysis.overview import Overview, _budget, overview
from dask_insight.batch import Symbols, encode
from dask_insight.hosts.notebook.table import rows
from dask_insight.recording import Recording, open_recording
from dask_insight.schema import NOTHING
from dask_insight.words import short

START = 1_750_000_000.0


def recorded(**tables: dict[str, Any]) -> Recording:
    recording = Recording()
    for table, columns in tables.items():
        recording.append(encode(table, columns))
    return recording


def summed(**tables: dict[str, Any]) -> Overview:
    return overview(recorded(**tables).columns)


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


WORKERS = {
    "worker": ["a", "b", "a"],
    "host": ["one", "two", "one"],
    "threads": [2, 2, 2],
    "joined": [START - 1, START + 5, START - 1],
    "left": [np.nan, np.nan, START + 5],
}
ATTEMPTS = {
    "run": [0, 1, 2, 3],
    "task": [0, 1, 1, 2],
    "worker": ["a", "a", "b", ""],
    "thread": ["1", "2", "1", ""],
    "status": ["ok", "retried", "ok", "stolen"],
    "submitted": [START] * 4,
    "start": [START + 1, START + 1, START + 6, np.nan],
    "stop": [START + 4, START + 2, START + 10, np.nan],
    "done": [START + 4, START + 2, START + 10, np.nan],
}
GRAPH = {"task": [0, 1, 2], "prefix": ["load", "sum", "sum"]}


def test_threads_are_offered_only_while_their_worker_is_there() -> None:
    found = summed(workers=WORKERS, attempts=ATTEMPTS, graph=GRAPH)
    assert found.duration == pytest.approx(10)
    assert (found.workers, found.hosts, found.threads) == (1, 1, 2), "one came when the other had left"
    assert found.offered == pytest.approx(2 * 5 + 2 * 5)
    assert found.computing == pytest.approx(8)
    assert (found.tasks, found.erred, found.retried) == (2, 0, 1)
    assert found.names == [("sum", pytest.approx(5)), ("load", pytest.approx(3))]


@pytest.mark.parametrize(("seconds", "workers"), [(0.01, 1), (3.0, 2)])
def test_a_local_scheduler_that_was_asked_in_passing_is_no_worker(seconds: float, workers: int) -> None:
    there = {name: [*values, *more] for (name, values), more in zip(WORKERS.items(), _SYNC, strict=True)}
    local = [9, 9, "sync", "1", "ok", START + 6, START + 6, START + 6 + seconds, START + 6 + seconds]
    attempts = {name: [*values, more] for (name, values), more in zip(ATTEMPTS.items(), local, strict=True)}
    found = summed(workers=there, attempts=attempts, graph=GRAPH)
    assert (found.workers, found.threads) == (workers, workers + 1)


_SYNC = [["sync"], ["here"], [1], [START], [np.nan]]


def test_threads_that_were_not_there_throughout_are_up_to_so_many() -> None:
    workers = WORKERS | {"threads": [2, 1, 2]}
    assert plain(summed(workers=WORKERS, attempts=ATTEMPTS, graph=GRAPH).verdict()).startswith(
        "10 s on 2 threads: "
    )
    found = recorded(workers=workers, attempts=ATTEMPTS, graph=GRAPH).summary()
    assert found.offered == pytest.approx(15)
    assert plain(found.verdict()).startswith("10 s on up to 2 threads: ")


def test_time_without_a_worker_is_told() -> None:
    workers = {"worker": ["a"], "threads": [2], "joined": [START + 6], "left": [np.nan]}
    attempts = {
        "run": [0, 1],
        "task": [0, 1],
        "worker": ["a", "a"],
        "thread": ["1", "2"],
        "status": ["ok", "ok"],
        "submitted": [START] * 2,
        "start": [START + 6] * 2,
        "stop": [START + 10] * 2,
        "done": [START + 10] * 2,
    }
    said = plain(summed(workers=workers, attempts=attempts, graph=GRAPH).verdict())
    assert said.startswith("10 s on 2 threads, for 6 s of which there was no worker: 100 % computing")
    local = {**workers, "worker": ["threads"]}
    ran_here = {**attempts, "worker": ["threads"] * 2}
    assert "no worker" not in summed(workers=local, attempts=ran_here, graph=GRAPH).verdict()


def test_time_without_a_worker_is_told_beside_a_local_scheduler() -> None:
    run = clusters_in_turn(("here", 10, 14)).recording()
    assert "for 50 s of which there was no worker" in plain(run.summary().verdict())


def test_a_task_that_killed_worker_after_worker_failed_once() -> None:
    attempts = ATTEMPTS | {"status": ["killed", "killed", "retried", "ok"], "start": [np.nan] * 4}
    found = summed(workers=WORKERS, attempts=attempts, graph=GRAPH, errors={"run": [1, 2], "task": [1, 1]})
    assert (found.tasks, found.erred, found.retried) == (1, 1, 1)


def test_the_verdict_is_a_sentence_with_numbers() -> None:
    recording = recorded(workers=WORKERS, attempts=ATTEMPTS, graph=GRAPH)
    assert plain(recording.summary().verdict()) == (
        "10 s on 2 threads: 40 % computing, 20 % waiting for `sum`, 20 % waiting for the scheduler, "
        "10 % waiting for `load`. 62 % of the computing was `sum`. 1 attempt was retried."
    )
    assert plain(summed(attempts=ATTEMPTS, workers=WORKERS, graph=GRAPH).verdict()).startswith(
        "10 s on 2 threads: 40 % computing. "
    )


def test_how_many_more_findings_there_are_counts_those_of_less_weight() -> None:
    found = {
        "severity": ["critical", "warning", "warning", "info", "warning", "info"],
        "title": [f"number {number}" for number in range(6)],
        "cost_seconds": [1.0] * 6,
    }
    run = recorded(workers=WORKERS, attempts=ATTEMPTS, graph=GRAPH, findings=found)
    summary = overview(run.columns)
    assert len(summary.findings) == 4 and summary.noted == 2
    assert summary.advised()[-1] == "and 3 more findings; all: `run.findings()`"
    assert plain(summary._replace(noted=0).advised(4)[-1]) == "warning: number 4 (costs about 1 s)"
    assert overview(recorded(attempts=ATTEMPTS, findings={}).columns).advised() == []


def test_of_many_names_alike_none_is_told_as_the_largest() -> None:
    found = recorded(workers=WORKERS, attempts=ATTEMPTS, graph=GRAPH).summary()
    alike = found._replace(names=[(f"step-{i}", found.computing / 11) for i in range(11)])
    assert "of the computing was" in found.verdict() and "of the computing was" not in alike.verdict()


def test_waits_for_thousands_of_names_are_told_together() -> None:
    found = recorded(workers=WORKERS, attempts=ATTEMPTS, graph=GRAPH).summary()
    many = [("inputs", f"step-{i}", 0.002) for i in range(3_000)]
    found = found._replace(budget=[("compute", "", 8.0), ("inputs", "load", 4.0), *many, ("data", "", 2.0)])
    assert [plain(each) for each in found.lost_shares()] == [
        "30 % waiting for tasks of 3,000 names",
        "20 % waiting for `load`",
        "10 % waiting for data from other workers",
    ]
    assert ("Waiting for tasks of 3,000 names", "6 s") in [(row.name, plain(row.time)) for row in rows(found)]
    one = found._replace(budget=[("compute", "", 99.0), ("inputs", "load", 1.0)])
    assert one.lost_time() == [("waiting for `load`", 1.0)]


def test_a_table_of_a_cell_keeps_the_case_of_names() -> None:
    found = recorded(workers=WORKERS, attempts=ATTEMPTS, graph=GRAPH).summary()
    told = [row.name for row in rows(found._replace(budget=[("inputs", "MyTask", 2.0)]))]
    assert "Waiting for MyTask" in told


def using(*cpu: float, **other: Any) -> dict[str, Any]:
    """Two workers of a host with two cores, one of them idle; `cpu` are samples of the other, each second."""
    count = len(cpu)
    workers = {"worker": ["a", "b"], "host": ["one"] * 2, "threads": [1, 1], "cores": [2, 2], "pid": [1, 2]}
    samples = {
        "process": ["a"] * count + ["b"] * 10 + ["client"] * 10,
        "time": START + np.concatenate((1 + np.arange(count), 1 + np.arange(10), 1 + np.arange(10))),
        "cpu": np.array([*cpu, *[60.0] * 10, *[100.0] * 10], "f4"),
    }
    tasks = {name: values[:1] for name, values in ATTEMPTS.items()}
    times = {"submitted": [START], "start": [START], "stop": [START + 10], "done": [START + 10]}
    return {
        "workers": workers | {"joined": [START - 1] * 2, "left": [np.nan] * 2} | other,
        "resources": samples,
        "attempts": tasks | times,
        "graph": GRAPH,
    }


def test_idle_threads_beside_busy_cores_are_told_as_such() -> None:
    # Libraries compute on threads of their own within the only task.
    found = recorded(**using(*[130.0] * 12)).summary()
    assert found.used == (pytest.approx(1.9), 2)
    assert "50 % waiting for `load`, while the workers used 1.9 of 2 cores. " in plain(found.verdict())
    assert "cores" not in recorded(**using(*[60.0] * 12)).summary().verdict()
    # As many threads computed as cores were in use: no library's threads.
    assert "cores" not in found._replace(computing=2 * found.duration).verdict()


def test_what_idle_threads_waited_for_is_told_where_it_is_known() -> None:
    tables = using()
    tables["attempts"]["submitted"] = [np.nan]
    assert "50 % idle." in plain(recorded(**tables).summary().verdict())


def test_cores_in_use_are_known_of_all_workers_or_not_at_all() -> None:
    assert np.isnan(summed(**using()).used.cores)
    assert np.isnan(summed(**using(100.0, 100.0, cores=[2, np.nan])).used.cores)
    assert np.isnan(summed(workers=WORKERS, attempts=ATTEMPTS).used.cores)
    # Two workers of one process both tell of all of it.
    assert summed(**using(*[60.0] * 10, pid=[1, 1])).used.cores == pytest.approx(0.6)
    # One that came for the last three seconds.
    late = using(100.0, 100.0, 100.0)
    late["resources"]["time"][:3] += 7
    assert summed(**late).used.cores == pytest.approx(0.3 + 0.6)


def test_cores_are_those_that_workers_had_at_once() -> None:
    samples = [60.0] * 10
    assert summed(**using(*samples)).used.of == 2
    assert summed(**using(*samples, core_set=[1, 2])).used.of == 4
    one_by_one = {"joined": [START - 1, START + 5], "left": [START + 5, np.nan]}
    assert summed(**using(*samples, host=["one", "two"], **one_by_one)).used.of == 2


def test_without_workers_threads_are_counted_where_tasks_ran() -> None:
    found = summed(attempts=ATTEMPTS)
    assert found.computing == pytest.approx(8)
    assert "computing" in found.verdict()


def test_nothing_is_no_error() -> None:
    found = summed(about={"name": ["broken", "started"], "value": ["{", str(START)]})
    assert found.verdict() == "No task ended while this was recorded."
    assert found.started == START
    assert np.isnan(found.busy)


def test_where_a_process_saw_nothing_it_says_when_dask_works() -> None:
    about = {"name": ["pid", "started", "stopped"], "value": ["1", str(START), str(START + 6)]}
    nothing = recorded(about=about)
    assert "`.compute()`" in str(nothing.summary()) and ".compute()" in nothing.summary()._repr_html_()
    assert "attach" not in nothing.summary().cure()
    all_clients = {"name": [*about["name"], "all_clients"], "value": [*about["value"], "true"]}
    assert "`dask-insight attach ADDRESS`" in summed(about=all_clients).cure()
    part = recorded(about=about, attempts=ATTEMPTS, workers=WORKERS, graph=GRAPH).slice(1e6).summary()
    assert part.verdict() == "No task ended in this part of the recording."
    assert "`.compute()`" not in str(part)
    foreign = {name: told[1:] for name, told in about.items()}
    assert "`.compute()`" not in str(summed(about=foreign))
    waiting = {"task": [0], "prefix": ["nap"], "submission": [0], "order": [0]}
    assert "`.compute()`" not in str(summed(about=about, graph=waiting))


def test_a_part_of_a_run_that_goes_on_is_no_file_that_took_no_more(tmp_path: Path) -> None:
    about = {"name": ["pid", "started"], "value": ["1", str(START)]}
    recorded(about=about, attempts=ATTEMPTS, workers=WORKERS, graph=GRAPH).slice(1e6).save(tmp_path / "part")
    part = open_recording(tmp_path / "part").summary()
    assert part.verdict() == "No task ended in this part of the recording."
    assert not any("took no more" in loss for loss in part.losses)
    assert recorded(about=about).slice(2, 5).summary().duration == 3.0
    cut = {"name": [*about["name"], "cut"], "value": [*about["value"], '"the disk is full"']}
    recorded(about=cut).save(tmp_path / "cut")
    whole = open_recording(tmp_path / "cut").summary()
    assert whole.verdict() == "No task ended while this was recorded."
    assert any("took no more: the disk is full" in loss for loss in whole.losses)


def test_tasks_that_had_not_ended_are_told_by_how_they_stood() -> None:
    attempts = {"run": [7, 8], "task": [0, 1], "worker": ["a"] * 2, "status": ["cancelled", "stolen"]}
    running = {"run": [7, 9], "task": [0, 2], "worker": ["a"] * 2, "thread": ["1"] * 2, "start": [START] * 2}
    graph = {
        "task": [0, 1, 2, 3, 4, 5],
        "prefix": ["nap"] * 6,
        "submission": [0, 0, 0, 0, NOTHING, NOTHING],
        "order": [0, 1, 2, 3, NOTHING, 5],
    }
    about = {"name": ["started", "stopped"], "value": [str(START), str(START + 6)]}
    found = summed(attempts=attempts, running=running, graph=graph, about=about)
    assert found.unfinished == {"cancelled": 1, "still running": 1, "waiting or just begun": 3}
    assert plain(found.verdict()) == (
        "No task ended while this was recorded: "
        "1 was cancelled, 1 was still running (`nap`, for 6 s) and 3 were waiting or just begun."
    )
    both = {"run": [8, 9], "task": [1, 2], "start": [START + 5, START - 60], "thread": ["1"] * 2}
    found = summed(running=both | {"worker": ["a"] * 2}, graph=graph, about=about)
    assert "2 were still running (the longest `nap`, for 66 s)" in plain(found.verdict())
    before = {"submission": [NOTHING] * 3, "order": [NOTHING] * 3}
    assert summed(graph=GRAPH | before).unfinished == {}, "what was done before"


@pytest.mark.parametrize(
    ("more", "until"),
    [
        pytest.param({"running": {"run": [9], "task": [2], "start": [START + 1]}}, 30, id="runs on"),
        pytest.param(
            {"executions": {"run": [1], "start": [START + 1], "stop": [START + 20]}}, 20, id="cancelled"
        ),
    ],
)
def test_what_runs_on_after_the_last_end_is_part_of_the_duration(more: Any, until: float) -> None:
    attempts = ATTEMPTS | {"status": ["ok", "cancelled", "ok", "stolen"]}
    attempts |= {"stop": [START + 4, np.nan, START + 10, np.nan]}
    where = {"worker": ["b"], "thread": ["2"]}
    about = {"name": ["started", "stopped"], "value": [str(START - 2), str(START + 30)]}
    workers = WORKERS | {"left": [np.nan, np.nan, START + 25]}
    told = {table: rows | where for table, rows in more.items()}
    recording = recorded(workers=workers, attempts=attempts, graph=GRAPH, about=about, **told)
    found = recording.summary()
    assert found.duration == pytest.approx(until)
    assert found.computing <= found.threads * found.duration


def test_long_names_are_cut_in_their_middle() -> None:
    assert short("a" * 50 + "b" * 50, 11) == "aaaaa…bbbbb"
    assert short("short") == "short"


@pytest.mark.parametrize(
    ("calls", "said"),
    [(40.0, "40 calls of actors took 2.5 s"), (1.0, "1 call of actors took 2.5 s"), (0.0, "")],
)
def test_calls_of_actors_are_told_beside_tasks(calls: float, said: str) -> None:
    metrics = {
        "worker": ["a"] * 4,
        "context": ["actor", "actor", "actor", "execute"],
        "activity": ["call", "call", "waiting", "call"],
        "unit": ["count", "seconds", "seconds", "seconds"],
        "value": [calls, 2.5, 8.0, 9.0],
    }
    found = summed(attempts=ATTEMPTS, workers=WORKERS, graph=GRAPH, metrics=metrics)
    assert plain(found.verdict()).partition("retried.")[2].strip() == (said and f"{said} beside the tasks.")
    alone = summed(metrics=metrics)
    assert alone.has_tasks == bool(calls) and plain(alone.verdict()).endswith(f"{said}.")
    # What takes little beside the tasks is not told.
    assert "actors" not in found._replace(calls=(3, 0.1)).verdict()


def test_what_went_on_after_the_last_result_is_told() -> None:
    def after(cells: Any = None, /, **more: Any) -> str:
        if cells:
            # A cell is told of when it begins, and again when it has ended.
            begun = cells | {"stop": [np.nan] * len(cells["stop"])}
            cells = {name: begun[name] + cells[name] for name in cells}
        facts = {"started": START, "pid": 1, "stopped": START + 16} | more
        about = {"name": list(facts), "value": [json.dumps(value) for value in facts.values()]}
        tables = {"attempts": ATTEMPTS, "workers": WORKERS, "graph": GRAPH, "about": about}
        told = summed(**tables, **({"cells": cells} if cells else {})).verdict()
        return plain(told).partition("retried.")[2].strip()

    assert after() == "The recording went on for 6 s after the last result."
    assert after(stopped=START + 10.9) == ""
    assert after(until=START + 12) == "", "cut out of a run"
    cells = {"execution": [1, 2], "start": [START - 1, START + 14.0], "stop": [START + 13.0, np.nan]}
    assert after(cells) == "The cell went on for 3 s after the last result."
    running = cells | {"start": [START - 1, START + 5.0]}
    assert after(running) == "The cell went on for 6 s after the last result."
    # Between cells a person thinks.
    assert after(cells | {"stop": [START + 5.0, np.nan]}) == ""


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ([9, 9, 9, 8], "`load.py:9`, calling `concat`"),
        ([9, 9, 8, 8, 7, 7], ""),
        ([9], ""),  # Seen for less than half of the time.
    ],
)
def test_where_the_program_went_on_is_told(lines: list[int], place: str) -> None:
    libraries = "/lib/python3.11/site-packages"
    frames = [("<module>", "/home/me/load.py", line) for line in (9, 8, 7)]
    frames = [("run", "/lib/python3.11/runpy.py", 1), *frames]
    frames += [("concat", f"{libraries}/pandas/concat.py", 3), ("copy", f"{libraries}/numpy/core.py", 4)]
    function, file, line = zip(*frames, strict=True)
    stacks = {"stack": [*range(6)], "parent": [NOTHING, 0, 0, 0, 1, 4], "function": function}
    stacks |= {"file": file, "first_line": [1] * 6, "line": line}
    each = 6.0 / max(4, len(lines))
    # Beside the program its event loop is sampled, which rests.
    seen = [*(("main", 5 if line == 9 else 10 - line) for line in lines), *(("event loop", 0) for _ in lines)]
    samples = {
        "process": ["client"] * len(seen),
        "thread": [thread for thread, _ in seen],
        "time": [START + 10 + each * (number % len(lines) + 1) for number in range(len(seen))],
        "duration": [each] * len(seen),
        "stack": [stack for _, stack in seen],
        "run": [NOTHING] * len(seen),
    }
    facts = {"started": START, "pid": 1, "stopped": START + 16}
    about = {"name": list(facts), "value": [json.dumps(value) for value in facts.values()]}
    told = summed(
        attempts=ATTEMPTS, workers=WORKERS, graph=GRAPH, about=about, stacks=stacks, samples=samples
    ).verdict()
    at = f", most of it at {place}" if place else ""
    assert plain(told).endswith(f"The recording went on for 6 s after the last result{at}.")


def test_the_verdict_tells_the_line_of_what_computed_most() -> None:
    verdict = open_recording(Path(__file__).parent / "golden" / "run.dinsight").summary().verdict()
    assert "of the computing was `spin`, most of it at `make.py:51`." in verdict


def test_shares_of_a_time_budget_in_which_every_row_has_a_name_take_nothing_away() -> None:
    """A file of somebody else may hold a row of no length without any sum that it is a share of."""
    part, name = Symbols(np.array([0, 0], "u4"), ["disk"]), Symbols(np.array([0, 1], "u4"), ["load", "save"])
    columns = {"start": [0.0, 5.0], "stop": [2.0, 5.0], "threads": [1.0, 3.0]}
    told = _budget({"part": part, "name": name} | {key: np.array(each) for key, each in columns.items()})
    assert told == [("disk", "save", 3.0), ("disk", "load", 2.0)]
