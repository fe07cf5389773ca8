"""What costs nothing, or is another's doing, is not blamed: each planted on paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_findings import facts
from test_findings_time import TWO, beside, on_cores, one, short_tasks, told
from test_time_budget import CLUSTER, NAN, START, Run, parts

from dask_insight import words
from dask_insight.analysis.findings.names import BARRIER
from dask_insight.analysis.findings.waits import _of_processes
from dask_insight.recording import Recording

EIGHT = {"threads": 8, "joined": -1.0, "left": NAN}
LOCAL = {"threads": TWO}


def plain(text: str) -> str:
    return text.replace(words.SPACE, " ")


def codes(recording: Recording, **options: Any) -> list[str]:
    found = recording.findings(**options)
    assert found.failed == ()
    return [each.code for each in found]


# States of workers that keep no task from a thread


def test_workers_that_joined_when_nothing_waited_are_too_many() -> None:
    run = Run(a=EIGHT, **{f"late {number}": EIGHT | {"joined": 10.0} for number in range(7)})
    for thread in range(8):
        run.task("simulate", "a", 0.1, 600, assigned=0, thread=str(thread))
    assert "joining" not in parts(run.budget())
    assert codes(run.recording()) == ["too-few-tasks"]


def test_a_worker_that_joins_while_tasks_wait_is_joining_until_it_has_one() -> None:
    run = Run(a=CLUSTER, b=CLUSTER | {"joined": 4.0})
    for number in range(8):
        run.task("work", "a", number, number + 1)
    for number in range(6, 8):
        run.task("work", "b", number, number + 1, assigned=6)
    assert parts(run.budget())["joining"] == pytest.approx(2)


def test_a_task_that_a_paused_worker_never_began_waited_for_it() -> None:
    run = Run(a=EIGHT | {"threads": 1})
    run.task("fill", "a", 0, 5)
    run.task("stuck", "a", NAN, NAN, assigned=4, ended=100, status="cancelled")
    run.state(5, "a", "running", "paused")
    run.task("after", "a", 100, 101, submitted=100, assigned=100)
    assert parts(run.budget())["paused"] == pytest.approx(95, abs=1)


def test_a_worker_that_is_paused_while_nothing_waits_costs_nothing() -> None:
    run = Run()
    run.task("load", "a", 0, 20)
    run.task("fit", "b", 0, 600)
    run.state(20, "a", "running", "paused")
    assert "paused" not in parts(run.budget())
    (found,) = told(run, "memory-pressure")
    assert (found.severity, found.cost_seconds) == ("warning", 0.0)
    assert (found.start, found.stop) == (20.0, 600.0)
    assert plain(found.title) == "Dask paused 1 worker for lack of memory, while tasks filled it"


# Results that are made again under keys that Dask had forgotten


def asked_twice(keys: list[str]) -> Run:
    """Two submissions that load four blocks each and sum them up; keys of the first, and of the second."""
    run = Run()
    for submitted in (0.0, 2.2):
        made = []
        for number in range(4):
            start = submitted + number // 2
            made.append(run.task("load", "ab"[number % 2], start, start + 1, submitted=submitted))
        run.task("mean", "a", submitted + 2, submitted + 2.1, *made, submitted=submitted)
    run.tables["graph"] = {
        "task": range(10),
        "prefix": run.names,
        "key": keys,
        "group": ["load"] * 4 + ["mean"] + ["load"] * 4 + ["mean"],
        "submission": [0] * 5 + [1] * 5,
    }
    return run


def test_a_key_that_comes_again_is_computed_again() -> None:
    found = one(asked_twice([f"block-{number % 5}" for number in range(10)]), "recompute")
    assert plain(found.title) == "5 tasks, most of the time in `load`, were computed again: 4.1 s"


@pytest.mark.parametrize("keys", [[f"block-{number}" for number in range(10)], [""] * 10])
def test_other_keys_are_other_results(keys: list[str]) -> None:
    assert told(asked_twice(keys), "recompute") == []


def test_a_key_that_comes_again_on_another_cluster_is_another_result() -> None:
    run = asked_twice([f"block-{number % 5}" for number in range(10)])
    for attempt in run.attempts[5:]:
        attempt["worker"] = {"a": "c", "b": "d"}[attempt["worker"]]
    run.tables["workers"] = {
        "worker": list("abcd"),
        "threads": [1] * 4,
        "joined": [START - 1] * 4,
        "left": [NAN] * 4,
        "cluster": ["tcp://1", "tcp://1", "tcp://2", "tcp://2"],
    }
    assert told(run, "recompute") == []


# What is fetched in small parts


def fetched(run: Run, tasks: list[int], each: float, at: list[float], seconds: float) -> Run:
    """Results of so many bytes that go to the client, each in a message of its own."""
    count = len(tasks)
    run.tables["transfers"] = {
        "transfer": range(count),
        "worker": ["a"] * count,
        "peer": ["tcp://client"] * count,
        "direction": ["out"] * count,
        "start": START + np.array(at),
        "stop": START + np.array(at) + seconds,
        "nbytes": [each] * count,
    }
    run.tables["transferred"] = {"transfer": range(count), "task": tasks, "nbytes": [each] * count}
    return run


def test_small_results_one_by_one_are_gaps_of_the_client() -> None:
    run, count = Run(a=CLUSTER), 420
    begins = [0.15 * number for number in range(count)]
    tasks = [run.task("step", "a", at + 0.005, at + 0.055, submitted=at, assigned=at) for at in begins]
    run = fetched(run, tasks, 300e3, [at + 0.056 for at in begins], 0.002)
    assert codes(run.recording()) == ["client-gap"]
    assert "0 computations" not in one(run, "client-gap").advice


def test_large_results_that_are_fetched_beside_work_are_worth_knowing() -> None:
    run = Run(a=CLUSTER)
    tasks = [run.task("step", "a", number, number + 1) for number in range(60)]
    run = fetched(run, tasks[:-10], 5e6, [number + 1.0 for number in range(50)], 0.1)
    (found,) = told(run, "oversized-results")
    assert found.severity == "info" and "nothing to do" not in found.why


# Tasks that run on


def hung(number: int = 1) -> Run:
    """Ninety-nine tasks of a second, and some that had run for 576 s when the recording ended."""
    run = Run(a=TWO, b=TWO)
    for place in range(99):
        start = place // 4
        run.task("work", "ab"[place % 2], start, start + 1, thread=str(place // 2 % 2))
    tasks = range(99, 99 + number)
    run.names += ["work"] * number
    run.tables["running"] = {
        "run": [9_000 + task for task in tasks],
        "task": list(tasks),
        "worker": ["b"] * number,
        "thread": [str(task % 2) for task in tasks],
        "start": [START + 24] * number,
    }
    times = START + np.arange(0, 600.5, 0.5)
    run.tables["resources"] = {
        "process": np.repeat(["a", "b"], len(times)).tolist(),
        "time": np.tile(times, 2),
        "cpu": np.full(2 * len(times), 50.0, "f4"),
    }
    return run


@pytest.mark.parametrize(
    ("number", "title"),
    [(1, "One task `work` has run for 9 min 36 s so far"), (2, "2 tasks `work` have run for up to 9 min 36")],
)
def test_a_task_that_still_runs_holds_up_the_run(number: int, title: str) -> None:
    found = one(hung(number), "straggler")
    assert found.severity == "critical" and plain(found.title).startswith(title)
    assert found.cost_seconds == pytest.approx(575, abs=2)


def test_bounds_say_what_had_not_ended() -> None:
    verdict = hung().recording().bounds().verdict()
    assert verdict.endswith("1 task had not ended when the recording did: left out.")


# Data that are larger


class _Sized(Run):
    """Results of as many bytes as the tasks take seconds, times 100 MB."""

    def _columns(self) -> dict[str, dict[str, Any]]:
        columns = super()._columns()
        seconds = columns["attempts"]["stop"] - columns["attempts"]["start"]
        columns["attempts"]["nbytes"] = 1e8 * np.asarray(seconds)
        return columns


def sorted_by_size() -> Run:
    """Four large files, then forty small ones: no thread is ever idle."""
    run = _Sized(a=TWO, b=TWO)
    free = {(worker, thread): 0.0 for worker in "ab" for thread in "12"}
    for seconds in [20.0] * 4 + [2.0] * 40:
        place = min(free, key=lambda each: free[each])
        run.task("read", place[0], free[place], free[place] + seconds, thread=place[1])
        free[place] += seconds
    return run


def test_large_parts_that_keep_nobody_waiting_cost_nothing() -> None:
    assert codes(sorted_by_size().recording()) == []


def test_a_large_part_costs_what_others_wait_for_it() -> None:
    run = _Sized(a=CLUSTER, b=CLUSTER)
    for number in range(10):
        run.task("read", "a", number, number + 1)
    run.task("read", "b", 0, 30)
    found = one(run, "data-skew")
    assert found.cost_thread_seconds == pytest.approx(20 * 29 / 30, rel=0.02)
    assert found.cost_seconds == pytest.approx(found.cost_thread_seconds / 2)


# P2P


def shuffled(cpu: float = 0.8, barrier: float = 6.0) -> Run:
    run = Run(a=TWO, b=TWO)

    def beside_one_another(name: str, begin: float, *needs: int) -> list[int]:
        return [
            run.task(
                name,
                "ab"[number % 2],
                begin + number // 4,
                begin + number // 4 + 1,
                *needs,
                assigned=begin,
                thread=str(number // 2 % 2),
                cpu=cpu,
            )
            for number in range(40)
        ]

    sent = beside_one_another("shuffle-transfer", 0.0)
    last = run.task(BARRIER, "a", 10, 10 + barrier, *sent, cpu=0.05)
    beside_one_another("p2pshuffle", 10 + barrier, last)
    return run


def test_the_barrier_of_p2p_is_one_task_by_its_nature() -> None:
    assert told(shuffled(), "too-few-tasks") == []


def test_a_barrier_of_p2p_that_lasts_keeps_threads_idle() -> None:
    found = one(shuffled(barrier=6.0), "io-wait")
    assert found.tasks == (BARRIER,) and plain(found.title).startswith(
        "P2P's barrier kept 3 threads idle for 6 s"
    )
    assert found.cost_seconds == pytest.approx(4.5)
    assert (found.start, found.stop) == (pytest.approx(10), pytest.approx(16))
    assert told(shuffled(barrier=0.1), "io-wait") == []


def named(run: Run, name: str) -> Run:
    """The same with one name for all tasks."""
    run.names = [name] * len(run.names)
    return run


@pytest.mark.parametrize(
    ("name", "of_p2p", "in_memory"),
    [
        ("shuffle-transfer", True, False),
        ("hash-join-transfer", True, False),
        ("hashjoinp2p", True, False),
        ("rechunk-transfer", True, True),
        ("shuffle-partition", False, False),
    ],
)
def test_tasks_of_p2p_that_wait_are_no_function_of_the_user(name: str, of_p2p: bool, in_memory: bool) -> None:
    found = one(named(beside(0.02, late=0.0001, starved=0.0, use=4), name), "io-wait")
    assert ("P2P" in found.why, "async" not in found.advice) == (of_p2p, of_p2p)
    assert ("p2p.storage.disk" in found.advice) == in_memory


def bound(name: str, *workers: str) -> Run:
    """Tasks that wait for threads of some workers, beside another that is idle."""
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER)
    for number in range(10):
        for worker in workers:
            run.task(name, worker, number, number + 1.0, assigned=0)
    return run


@pytest.mark.parametrize(("workers", "code"), [("a", "worker-skew"), ("ab", "imbalanced-threads")])
@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        ("hash-join-transfer", False),
        ("hashjoinp2p", False),
        ("shuffle-split", True),
        ("shuffle-partition", True),
    ],
)
def test_only_p2p_must_bind_its_tasks_to_workers(workers: str, code: str, name: str, is_told: bool) -> None:
    assert bool(told(bound(name, *workers), code)) == is_told


def test_batches_of_joblib_are_no_function_that_can_be_called() -> None:
    found = one(named(beside(0.02, late=0.0001, starved=0.0, use=4), "batch_of_fit_10_calls"), "io-wait")
    assert "batch_of_" not in found.advice


@pytest.mark.parametrize("name", ["batch_of__fit_and_score_3_calls", "mixed_batch_of_fit_3_calls"])
def test_batches_of_joblib_are_to_be_larger_where_they_are_short_and_more_where_they_are_few(
    name: str,
) -> None:
    short = one(named(short_tasks(2000, 0.001, 0.005), name), "tiny-tasks").advice
    few = one(named(ten_at_most(), name), "too-few-tasks").advice
    assert "batch_size=300" in short and "batch_size=1," in few
    assert "batch_of_" not in short + few


def test_batches_of_joblib_whose_name_tells_no_number_are_as_large_as_their_groups_tell() -> None:
    run = named(short_tasks(2000, 0.001, 0.005), "batch_of_fit_n_calls")
    sizes = [3] * 1500 + [100] * 500
    run.tables["graph"] = {
        "task": range(2000),
        "prefix": run.names,
        "group": [f"batch_of_fit_{size}_calls" for size in sizes],
    }
    assert "batch_size=300" in one(run, "tiny-tasks").advice
    few = one(named(ten_at_most(), "batch_of_fit_n_calls"), "too-few-tasks").advice
    assert "batch_size=1," in few and "batch_of_" not in few


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("read-csv", "blocksize="),
        ("file_to_blocks", "several files"),
        ("read_parquet-getitem", "split_row_groups=True"),
        ("read", "client.map(read, parts)"),
    ],
)
def test_files_that_are_read_in_few_pieces_are_to_be_cut_where_they_are_read(name: str, advice: str) -> None:
    found = one(named(ten_at_most(), name), "too-few-tasks")
    assert advice in found.advice and ("repartition" in found.advice) == (name == "read")


@pytest.mark.parametrize(
    ("name", "advice"),
    [("frompandas", "to_parquet(path)"), ("array-sum", "to_zarr(path)"), ("inc", "scatter(data")],
)
def test_data_in_a_graph_are_to_be_read_by_workers(name: str, advice: str) -> None:
    run = named(ten_at_most(), name)
    tasks = len(run.names)
    run.tables["graph"] = {"task": range(tasks), "prefix": run.names, "submission": np.zeros(tasks, "u4")}
    sent = {"submission": [0], "time": np.array([START - 0.2]), "tasks": np.array([tasks])}
    run.tables["submissions"] = sent | {"nbytes": np.array([1e8])}
    assert advice in one(run, "large-graph").advice


def ten_at_most() -> Run:
    """Two tasks at a time for four threads."""
    run = Run(a=TWO, b=TWO)
    for number in range(10):
        for worker in "ab":
            run.task("fit", worker, number, number + 1.0, submitted=number)
    return run


def worked(run: Run, worker: str, *begins: float, seconds: int = 10) -> None:
    """Tasks of a second each that are bound to a worker, so many from each of these moments on."""
    for begin in begins:
        for number in range(seconds):
            run.task(
                "bound",
                worker,
                begin + number,
                begin + number + 1,
                submitted=begin,
                assigned=begin,
                inputs=begin,
            )


def test_what_threads_do_is_told_of_the_time_in_which_anybody_wanted_something() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER)
    for worker in "ab":
        worked(run, worker, 0, 1800)
    assert plain(one(run, "imbalanced-threads").title).startswith("Threads were busy for 0 % to 100 % of")


def test_a_worker_that_was_there_during_a_pause_had_no_less_to_do() -> None:
    run = Run(a=CLUSTER, b=CLUSTER | {"joined": 1799.0})
    worked(run, "a", 0, 1800)
    worked(run, "b", 1800, seconds=3)
    assert one(run, "worker-skew").workers == ("a",)


# What puts results together for the client


def computed(groups: list[str], submissions: list[int]) -> Run:
    """DataFrames of 40 parts each that are put together in tasks of ten seconds, one after the other."""
    run = Run(a=TWO, b=TWO)
    for number in range(len(groups)):
        begin = 20.0 * number
        made = [
            run.task(
                "load",
                "ab"[each % 2],
                begin + each // 4,
                begin + each // 4 + 1,
                submitted=begin,
                thread=str(each // 2 % 2),
            )
            for each in range(40)
        ]
        run.task("repartitiontofewer", "a", begin + 10, begin + 20, *made, submitted=begin)
    run.tables["graph"] = {
        "task": range(len(run.names)),
        "prefix": run.names,
        "group": [group for each in groups for group in ("load",) * 40 + (each,)],
        "submission": [submission for each in submissions for submission in (each,) * 41],
    }
    return run


@pytest.mark.parametrize(
    ("groups", "submissions", "is_told"),
    [
        pytest.param(["one", "other"], [0, 1], False, id="two computations"),
        pytest.param(["one", "other"], [0, 0], False, id="two at once"),
        pytest.param(["same", "same"], [0, 1], False, id="the same again"),
        pytest.param(["same", "same"], [0, 0], True, id="two partitions"),
    ],
)
def test_a_frame_put_together_for_the_client_is_one_task_by_its_nature(
    groups: list[str], submissions: list[int], is_told: bool
) -> None:
    assert [each.tasks for each in told(computed(groups, submissions), "too-few-tasks")] == (
        [("repartitiontofewer",)] if is_told else []
    )


def test_what_tasks_gather_went_to_no_client_outside() -> None:
    run = Run(a=CLUSTER, b=CLUSTER)
    tasks = [run.task("load", "a", number, number + 1.0) for number in range(10)]
    driver = run.task("driver", "b", 0, 12)
    run = fetched(run, tasks, 20e6, [10.5] * 10, 1.0)
    run.tables["graph"] = {
        "task": range(11),
        "prefix": run.names,
        "submission": [0] * 10 + [1],
    }
    run.tables["submissions"] = {"submission": range(2), "time": [START] * 2, "client": ["Client-1"] * 2}
    (outside,) = told(run, "oversized-results")
    run.seceded(driver, 0.1, 11.9)
    (beside,) = told(run, "oversized-results")
    run.tables["submissions"]["client"] = ["Client-worker-2", "Client-1"]
    (within,) = told(run, "oversized-results")
    assert beside == outside, "a task that gave its thread back had asked for none of it"
    assert "to the client" in outside.title and "scheduler's process" in outside.why
    assert "within tasks" in within.title and "scheduler" not in within.why
    assert "client.submit(combine, parts)" in within.advice


# Parts of a run


def test_a_state_that_began_before_a_part_lasts_in_it() -> None:
    run = Run()
    for number in range(20):
        run.task("work", "b", number * 5, number * 5 + 5)
    run.task("early", "a", 0, 5)
    run.task("late", "a", 90, 100, assigned=90)
    for when, state in ((10, "paused"), (12, "running"), (20, "paused"), (90, "running")):
        run.state(when, "a", "running", state)
    recording = run.recording()
    assert parts(recording.slice(30, 80).time_budget())["paused"] == pytest.approx(50)
    before = recording.slice(30, 80).columns("events")["time"]
    assert (np.asarray(before) - START).tolist() == [20.0]
    assert "memory-pressure" in codes(recording, start=30, stop=80)


def test_work_in_vain_counts_as_far_as_it_lies_in_the_part() -> None:
    run = Run()
    run.task("fit", "a", 0, 300, status="cancelled")
    for number in range(60):
        run.task("work", "b", number * 5, number * 5 + 5, assigned=number * 5)
    found = run.recording().findings(start=100, stop=110)
    (cancelled,) = [each for each in found if each.code == "cancelled-work"]
    assert cancelled.cost_thread_seconds == pytest.approx(10)
    assert "cancelled while running: 10" in cancelled.title


def test_work_in_vain_counts_in_the_part_as_far_as_it_held_a_thread() -> None:
    run = Run(a=CLUSTER)
    run.seceded(run.task("fit", "a", 0, 100, status="cancelled"), 10, 90)
    run.task("work", "a", 100, 105)
    (cancelled,) = [each for each in run.recording().findings(stop=50) if each.code == "cancelled-work"]
    assert cancelled.cost_thread_seconds == pytest.approx(10)


# Actors


@pytest.mark.parametrize(("context", "gaps"), [("actor", []), ("execute", ["client-gap"])])
def test_a_client_that_waits_for_an_actor_leaves_no_gap(context: str, gaps: list[str]) -> None:
    run = Run(a=CLUSTER)
    run.task("Counter", "a", 0, 0.1)
    run.task("summary", "a", 60, 61, submitted=60, assigned=60)
    periods = np.arange(1.0, 61.0)
    run.tables["metrics"] = {
        "time": START + periods,
        "worker": ["a"] * 60,
        "context": [context] * 60,
        "activity": ["call"] * 60,
        "unit": ["seconds"] * 60,
        "value": np.full(60, 0.99),
    }
    assert codes(run.recording()) == gaps


def test_coroutines_of_actors_that_ran_together_did_not_run_long() -> None:
    run = Run(a=CLUSTER)
    run.task("Counter", "a", 0, 10)
    run.task("summary", "a", 90, 100, submitted=90, assigned=90)
    rows = {"time": START + np.full(2, 89.0), "worker": ["a"] * 2, "context": ["actor"] * 2}
    run.tables["metrics"] = rows | {
        "activity": ["call"] * 2,
        "unit": ["count", "seconds"],
        # A hundred of a second each, side by side.
        "value": np.full(2, 100.0),
    }
    assert codes(run.recording()) == ["client-gap"]


# Advice for where there is no client


def pieces_here() -> Run:
    run = Run(**LOCAL)
    for number in range(1500):
        name, start = ("rechunk-split", "rechunk-merge")[number % 2], number // 2 * 0.02
        run.task(name, "threads", start, start + 0.019, assigned=start, thread=str(number % 2))
    return run


def test_a_cluster_that_comes_after_a_local_scheduler_is_not_late() -> None:
    """It was made for what came next: neither tasks nor the client waited for it."""
    later = {"threads": 1, "joined": 12.0, "left": NAN, "host": "here", "cores": 2, "core_set": 1}
    run = Run(threads=TWO | {"host": "here", "cores": 2, "core_set": 1}, a=later, b=later)
    for number in range(20):
        run.task("piece", "threads", number * 0.2, number * 0.2 + 0.4, submitted=0, thread=str(number % 2))
        worker = "ab"[number % 2]
        begin = 12.2 + number // 2 * 0.4
        run.task("piece", worker, begin, begin + 0.4, submitted=12.2)
    assert codes(run.recording()) == []


def test_a_local_scheduler_that_is_asked_in_passing_explains_no_late_worker() -> None:
    late = {"threads": 1, "joined": 12.0, "left": NAN}
    run = Run(a=TWO, b=late, c=late, d=late, e=late, sync={"threads": 1, "joined": 5.0, "left": NAN})
    for number in range(60):
        run.task("piece", "a", number // 2, number // 2 + 1.0, submitted=0, ready=0, thread=str(number % 2))
    run.task("len", "sync", 5.0, 5.1, submitted=5.0)
    assert "cold-start" in codes(run.recording())


def cold_here() -> Run:
    run = Run(**LOCAL)
    for thread in "12":
        run.task("load", "threads", 0, 5, thread=thread)
        for number in range(10):
            start = 5 + number / 2
            run.task("load", "threads", start, start + 0.5, assigned=start, thread=thread)
    return run


@pytest.mark.parametrize(
    ("run", "code", "advice"),
    [
        (pieces_here(), "task-shuffle", "distributed.Client()"),
        (cold_here(), "cold-start", "import the_heavy_module   # before x.compute()"),
    ],
)
def test_what_helps_local_schedulers(run: Run, code: str, advice: str) -> None:
    found = one(run, code)
    assert advice in found.advice
    assert not any(word in found.advice for word in ("client.run", "dask worker", "'p2p'"))
    assert "worker" not in found.title


@pytest.mark.parametrize(
    ("run", "code", "advice"),
    [
        (on_cores(beside(0.5, late=0.0002, starved=1.0, use=400), 4), "oversubscribed", "python program.py"),
        (on_cores(beside(0.45, late=0.0002, starved=1.1, use=95), 1), "oversubscribed", "num_workers=1)"),
        (on_cores(beside(0.5, late=0.0002, starved=1.0, use=100), 8), "busy-host", "    os.getloadavg()"),
    ],
)
def test_what_helps_threads_of_this_process(run: Run, code: str, advice: str) -> None:
    for attempt in run.attempts:
        attempt["worker"] = "threads"
    run.workers = {"threads": run.workers["a"]}
    for table in run.tables.values():
        for name in {"worker", "process"} & table.keys():
            table[name] = ["threads"] * len(table[name])
    (found,) = told(run, code)
    assert advice in found.advice
    assert not any(word in found.advice for word in ("client.run", "dask worker", "LocalCluster"))


@pytest.mark.parametrize(
    ("hosts", "each", "said"), [(10, 16, "160 cores for 160 threads"), (1, 1, "1 core for 1 thread")]
)
def test_cores_of_all_hosts_stand_beside_threads_of_all_workers(hosts: int, each: int, said: str) -> None:
    names = [f"w{number}" for number in range(hosts)]
    run = Run(**{name: {"threads": each, "joined": -1.0, "left": NAN} for name in names})
    for name in names:
        run.task("work", name, 0, 1)
    run.tables["workers"] = {
        "worker": names,
        "host": names,
        "threads": [each] * hosts,
        "joined": [START - 1.0] * hosts,
        "left": [NAN] * hosts,
        "cores": [each] * hosts,
    }
    assert f"here {said}" in _of_processes(facts(run))


# Workers that were not there all the time


def test_a_worker_that_came_late_had_no_less_to_do_while_it_was_there() -> None:
    run = Run(a=CLUSTER, b=CLUSTER | {"joined": 70.0}, c=CLUSTER | {"joined": 70.0})
    for number in range(100):
        run.task("work", "a", number, number + 0.999, assigned=0)
    for number in range(30):
        for worker in "bc":
            start = 70 + number
            run.task("work", worker, start, start + 0.72, submitted=start)
    assert told(run, "worker-skew") == []


def test_a_worker_that_has_just_joined_has_not_most_of_the_work() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER | {"joined": 95.0})
    for number in range(60):
        run.task("work", "a", number, number + 1, assigned=0)
    for number in range(5):
        run.task("work", "c", 95 + number, 96 + number, assigned=95, submitted=95)
    assert told(run, "worker-skew") == []
    assert one(run, "imbalanced-threads").workers == ("a",)


def test_threads_that_came_late_were_as_busy_as_others() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, c=CLUSTER | {"joined": 70.0})
    for number in range(100):
        # One has a queue, and the other has nothing; by turns.
        turn, worker = number // 10 * 10, "ab"[number // 10 % 2]
        run.task("work", worker, number, number + 1, submitted=turn, assigned=turn)
    for number in range(15):
        run.task("work", "c", 70 + number, 71 + number, submitted=70, assigned=70)
    assert told(run, "imbalanced-threads") == []
