"""Who took memory, and who is near what there is: each planted on paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from test_findings_risks import GB, MB, event, limits_of, losing, sharing, the, with_rows
from test_time_budget import CLUSTER, NAN, START, Run

from dask_insight import words
from dask_insight.analysis.findings import Finding
from dask_insight.recording import Recording

MIB = 2.0**20


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


# Memory that grows


def tables(
    run: Run, course: Sequence[float], rss: Sequence[float] = (), times: np.ndarray | None = None, **more: Any
) -> Recording:
    """What was planted, with the memory of worker `a` each 0.2 s, and the change of it in MiB by attempt."""
    columns = run._columns()
    times = START + 0.1 + 0.2 * np.arange(len(course)) if times is None else times
    seen = {"worker": ["a"] * len(times), "time": times, "process": course, "managed": [MB] * len(times)}
    run.tables |= {
        "workers": columns["workers"] | {"memory_limit": [GB] * len(run.workers)},
        "resources": {"process": ["a"] * len(times), "time": times, "memory": course},
        "memory": seen,
        "executions": columns["executions"] | {"rss": list(rss) or [0.0] * len(run.attempts)},
        "attempts": columns["attempts"] | more,
    }
    return run.recording()


def beside_long_tasks(of_long: float) -> Finding:
    """A worker on which a hundred short tasks leave 5 MiB each, and six long ones so much each."""
    run, rss = Run(a={**CLUSTER, "threads": 4}), []
    for number in range(100):
        run.task("leak", "a", 0.2 * number, 0.2 * number + 0.2)
        rss.append(5.0)
    for thread in "234":
        for number in range(2):
            run.task("fit", "a", 10 * number, 10 * number + 10, thread=thread)
            rss.append(250.0 + of_long)
    return the(tables(run, np.linspace(150 * MB, 650 * MB, 100).tolist(), rss), "unmanaged-growth")


def test_a_long_task_is_not_blamed_for_what_ran_within_its_time() -> None:
    found = beside_long_tasks(0.0)
    assert found.tasks[0] == "leak" and found.title.endswith("most likely in `leak`")


def test_where_two_names_left_about_as_much_both_are_named() -> None:
    assert beside_long_tasks(60.0).title.endswith("while `leak` and `fit` ran")


def training(stop: float, before: int) -> Recording:
    """A task that began at 0.6 s, after others of its name, and runs still if it stops at no time.

    Meanwhile its process grows.
    """
    run = Run(a={**CLUSTER, "threads": 2})
    for number in range(before):
        run.task("train", "a", 0.2 * number, 0.2 * number + 0.2, thread="2")
    for number in range(20):
        run.task("tick", "a", number + 0.5, number + 1.4)
    task = run.task("train", "a", 0.6, stop, thread="2")
    rss = [0.0] * (before + 20) + [500.0]
    if math.isnan(stop):
        run.attempts.pop(), rss.pop()
        row = {"run": [task], "task": [task], "worker": ["a"], "thread": ["2"], "start": [START + 0.6]}
        run.tables["running"] = row
    growth = np.interp(np.arange(100) / 5, [0, 0.6, 15 if stop == 15 else 20], [150 * MB, 150 * MB, 650 * MB])
    return tables(run, growth.tolist(), rss)


def growth_of(recording: Recording) -> list[Finding]:
    return [each for each in recording.findings() if each.code == "unmanaged-growth"]


@pytest.mark.parametrize(
    ("stop", "before"),
    [
        pytest.param(NAN, 0, id="running"),
        pytest.param(NAN, 2, id="running after others"),
        pytest.param(20.5, 2, id="not sampled after its end"),
        pytest.param(15.0, 0, id="the only one"),
    ],
)
def test_what_one_task_works_with_is_no_leak(stop: float, before: int) -> None:
    assert growth_of(training(stop, before)) == []


def shuffling(barrier: bool) -> Recording:
    """Pieces come into memory; their barrier has ended or not."""
    run = Run(a=CLUSTER, b=CLUSTER)
    for number in range(20):
        run.task("shuffle-transfer", "a", number, number + 1)
    if barrier:
        run.task("shuffle-barrier", "b", 20, 20.1)
    course = np.linspace(150 * MB, 650 * MB, 100).tolist()
    return tables(run, course, [20.0] * 20 + [0.0] * barrier)


def test_pieces_that_a_shuffle_has_yet_to_hand_out_are_no_leak() -> None:
    assert growth_of(shuffling(False)) == []
    assert growth_of(shuffling(True))[0].tasks == ("shuffle-transfer",)


@pytest.mark.parametrize(
    ("typename", "released", "miscounted"),
    [("own.Model", False, True), ("own.Model", True, False), ("NoneType", False, False)],
)
def test_results_that_are_larger_than_dask_counts_may_be_what_grew(
    typename: str, released: bool, miscounted: bool
) -> None:
    run = Run(a=CLUSTER, b=CLUSTER)
    for number in range(20):
        run.task("piece", "a", number, number + 1)
    if released:
        run.tables["releases"] = {"task": range(20), "time": START + np.arange(20) + 1.1}
    more: dict[str, Any] = {"nbytes": [48.0] * 20, "typename": [typename] * 20}
    found = the(
        tables(run, np.linspace(150 * MB, 650 * MB, 100).tolist(), [22.0] * 20, **more), "unmanaged-growth"
    )
    assert ("left about 22 MiB, and Dask counts 48 B for its `own.Model`" in plain(found.why)) == miscounted
    assert ("sizeof.register(Model" in found.advice and "del futures" in found.advice) == miscounted
    assert ("that are no results" in found.title) != miscounted


# Limits


def test_what_workers_used_one_after_the_other_is_not_summed() -> None:
    peaks = np.full(20, 0.1 * GB)
    peaks[[2, 17]] = 1.2 * GB
    (one,) = limits_of(sharing(1.2 * GB, 2 * GB, memory=peaks))
    assert {each.name: each.value for each in one.evidence}["most in use, as sampled"] == pytest.approx(0.65)
    assert one.severity == "warning"


def filling(process: str, group: float, used: float = 3.9, workers: Sequence[str] = "ab") -> Recording:
    """A process uses so many GB of the 4 GB that the system allows it, workers 0.1 GB of theirs."""
    run = Run(**dict.fromkeys(workers, CLUSTER))
    for start in range(20):
        for worker in workers:
            run.task("piece", worker, start, start + 1)
    columns = run._columns()
    count, clusters = len(workers), ["" if len(name) > 1 else "tcp://s:1" for name in workers]
    run.tables["workers"] = columns["workers"] | {
        "memory_limit": [GB] * count,
        "cluster": clusters,
        "host": ["h"] * count,
        "pid": range(1, count + 1),
    }
    run.tables["attempts"] = columns["attempts"] | {"nbytes": [100 * MB] * len(run.attempts)}
    run.tables["submissions"] = {"submission": [0], "time": [START], "tasks": [2_000], "nbytes": [3e9]}
    run.tables["transfers"] = {
        "transfer": [0],
        "worker": ["a"],
        "peer": ["Client-1"],
        "direction": ["out"],
        "start": [START + 20],
        "stop": [START + 21],
        "nbytes": [2 * 2.0**30],
    }
    names = [process, *(name for name in workers if len(name) == 1)]
    rows = [(name, number) for number in range(20) for name in names]
    of_process = np.array([name == process for name, _ in rows])
    rises = np.repeat(np.linspace(0.5, 1, 20), len(names))
    run.tables["resources"] = {
        "process": [name for name, _ in rows],
        "time": [START + number + 0.5 for _, number in rows],
        "memory": np.where(of_process, used * rises * GB, 0.1 * GB),
        "memory_allowed": np.full(len(rows), 4 * GB),
        "memory_group": np.where(of_process, group, 7.0),
    }
    return run.recording()


@pytest.mark.parametrize(
    ("process", "who", "said"),
    [
        ("scheduler", "The scheduler", "It was given 2,000 tasks in graphs of 2.79 GiB"),
        ("client", "The client", "Results of 2 GiB were brought to it"),
    ],
)
def test_schedulers_and_clients_that_fill_what_they_may_have_are_told(
    process: str, who: str, said: str
) -> None:
    one = the(filling(process, group=8), "memory-limit")
    assert plain(one.title) == f"{who} used 98 % of the 3.73 GiB of memory that the system allows it"
    assert (one.severity, one.is_risk) == ("warning", True) and said in plain(one.why)
    assert limits_of(filling(process, group=8, used=3.0)) == []


@pytest.mark.parametrize("process", ["scheduler", "client"])
def test_what_shares_a_limit_with_workers_is_told_of_these(process: str) -> None:
    assert limits_of(filling(process, group=7)) == []


def test_a_local_scheduler_that_fills_what_it_may_have_is_told_with_its_results() -> None:
    one = the(filling("threads", group=8, workers=["threads"]), "memory-limit")
    assert one.title.startswith("The local scheduler used 98") and one.tasks == ("piece",)
    assert "most of `piece`" in one.why


def test_a_client_that_computes_with_a_local_scheduler_is_told_once() -> None:
    rows = [
        {
            "process": "client",
            "time": START + number,
            "memory": 3.9 * GB,
            "memory_allowed": 4 * GB,
            "memory_group": 8.0,
        }
        for number in range(20)
    ]
    recording = with_rows(filling("threads", group=8, workers=["threads"]), "resources", rows)
    assert the(recording, "memory-limit").title.startswith("The local scheduler used 98")


def test_a_client_and_the_scheduler_in_its_process_are_told_once() -> None:
    rows = [
        {
            "process": "client",
            "time": START + number,
            "memory": 3.8 * GB,
            "memory_allowed": 4 * GB,
            "memory_group": 8.0,
        }
        for number in range(20)
    ]
    recording = with_rows(filling("scheduler", group=8), "resources", rows)
    assert the(recording, "memory-limit").title.startswith("The client used 95")


def test_a_scheduler_whose_graphs_nobody_tells_was_not_given_none() -> None:
    recording = filling("scheduler", group=8)
    (found,) = [each for each in recording.findings(start=5) if each.code == "memory-limit"]
    assert "It is given tasks, and keeps each" in found.why


def test_what_the_system_killed_beside_a_client_is_critical() -> None:
    row = {"process": "client", "time": START + 20, "memory": GB, "memory_allowed": 4 * GB}
    rows = [row | {"memory_group": 8.0, "oom_kills": kills} for kills in (1.0, 3.0)]
    one = the(with_rows(filling("client", group=8, used=1.0), "resources", rows), "memory-limit")
    assert one.severity == "critical" and "of the client for memory, 2 times" in one.title


def test_processes_of_a_pool_share_the_limit_of_what_began_them() -> None:
    pool = ["process 7", "process 8"]
    recording = filling("local", group=8, used=0.5, workers=pool)
    rows = [
        {"process": name, "time": START + number, "memory": 1.6 * GB} for name in pool for number in range(20)
    ]
    one = the(with_rows(recording, "resources", rows), "memory-limit")
    assert plain(one.title).startswith("The local scheduler used 92 %")


# Workers that died


def dying_with(
    seen: Sequence[float],
    recording: Recording | None = None,
    limit: float = 4 * GB,
    since: float = 5.6,
    beside: float = 0.0,
) -> Finding:
    """A worker dies at 6 s; its memory when it was last seen, at `since`, and half seconds before.

    Another one may use so much beside it of the same limit.
    """
    count = len(seen)
    times = [START + since - 0.5 * (count - 1 - number) for number in range(count)]
    rows = [
        {"process": "b", "time": time, "memory": had, "memory_allowed": limit, "memory_group": 3.0}
        for time, had in zip(times, seen, strict=True)
    ]
    recording = recording or losing()
    workers = {
        "worker": "b",
        "threads": 1,
        "joined": START - 1,
        "left": START + 6,
        "memory_limit": 8 * GB,
        "cluster": "tcp://s:1",
        "host": "h",
        "pid": 4,
    }
    told = [workers]
    if beside:
        rows.append(rows[-1] | {"process": "a", "memory": beside})
        told.append(workers | {"worker": "a", "left": NAN, "pid": 5})
    return the(with_rows(with_rows(recording, "resources", rows), "workers", told), "worker-lost")


def test_a_worker_that_was_full_when_last_seen_was_most_likely_killed_for_it() -> None:
    full, low = dying_with([3.9 * GB, 3.95 * GB]), dying_with([0.3 * GB, 0.3 * GB])
    assert "It had 99 % of its memory limit 400 ms before, and was most likely killed" in plain(full.why)
    assert "Memory was not short: it had 8 % of its memory limit 400 ms before." in plain(low.why)
    facts = {each.name: each.value for each in full.evidence}
    assert facts["memory when last seen, of its limit"] == pytest.approx(3.95 / 4)
    assert facts["last seen before it was lost"] == pytest.approx(0.4, abs=1e-3)


def test_a_worker_whose_memory_rose_fast_may_have_been_killed_for_it() -> None:
    found = dying_with([0.5 * GB, 1.2 * GB, 2.4 * GB])
    assert "1.77 GiB more than a moment earlier, and may have been killed" in plain(found.why)


def test_where_others_fill_the_same_limit_memory_may_have_been_short() -> None:
    assert "Memory was not short" in dying_with([0.3 * GB], beside=0.3 * GB).why
    assert "Memory was not short" not in dying_with([0.3 * GB], beside=3.6 * GB).why


def test_what_was_not_seen_for_seconds_tells_nothing() -> None:
    assert "Memory was not short" not in dying_with([0.3 * GB], since=2.0).why
    assert "most likely killed" not in dying_with([3.95 * GB], since=2.0).why


def test_what_ran_beside_a_large_task_all_the_time_does_not_hide_it() -> None:
    run = Run(w0={**CLUSTER, "threads": 2}, last={**CLUSTER, "threads": 2})
    for worker, start, status in (("w0", 0, "killed"), ("last", 10, "ok"), ("last", 13, "ok")):
        for number, name in enumerate(("tidy", "hog")):
            stop = start + 2 + 0.2 * number
            run.task(name, worker, start + 0.1 * number, stop, status=status, thread=str(number))
    times = np.arange(9.1, 20, 0.2)
    rss = [400.0 if run.names[row["task"]] == "hog" else 1.0 for row in run.attempts]
    found = lost_with(run, rss, times, np.where(np.abs(times % 3 - 2) < 0.8, 600 * MB, 0.0))
    assert found.tasks[0] == "hog" and "`hog` need 400 MiB each" in plain(found.why)


def lost_with(run: Run, rss: Sequence[float], times: np.ndarray, used: np.ndarray) -> Finding:
    """`w0` dies at 2 s. By how many MiB attempts made processes larger; the memory of the other worker."""
    columns = run._columns()
    run.tables = {
        "executions": columns["executions"] | {"rss": list(rss)},
        "workers": columns["workers"] | {"memory_limit": [GB, GB]},
        "resources": {"process": ["last"] * len(times), "time": START + times, "memory": used + 100 * MB},
    }
    lost = [event(2, "w0", "worker-lost", processing=2, lost=0, expected=False)]
    return the(with_rows(run.recording(), "events", lost), "worker-lost")


def peaking(peak: float) -> Finding:
    """A worker dies with `hog` and `tidy`; elsewhere `hog` frees what it needed before it ends."""
    run = Run(w0={**CLUSTER, "threads": 2}, last={**CLUSTER, "threads": 2})
    tidy = run.task("tidy", "w0", 0, 2, status="killed")
    hog = run.task("hog", "w0", 0.5, 2, status="killed", thread="2")
    run.task("tidy", "last", 10, 11, task=tidy)
    run.task("hog", "last", 12, 14, task=hog, thread="2")
    run.task("hog", "last", 15, 17, thread="2")
    run.task("tidy", "last", 15, 16)
    run.task("tidy", "last", 18, 19)
    times = np.arange(9.1, 20, 0.2)
    high = ((times > 12.5) & (times < 13.5)) | ((times > 16.1) & (times < 16.9))
    return lost_with(run, [0.0] * len(run.attempts), times, np.where(high, peak, 0.0))


def test_what_a_task_freed_before_it_ended_makes_it_suspect() -> None:
    found = peaking(600 * MB)
    assert found.tasks[0] == "hog" and "`hog` need 572 MiB each" in plain(found.why)
    assert "nothing tells" in peaking(10 * MB).why
