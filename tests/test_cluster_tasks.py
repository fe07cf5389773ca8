"""What is captured of tasks on a cluster: each attempt, its times, edges, errors, worker's view, metrics."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import os
import signal
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import dask
import pytest
from conftest import PATIENCE, Batches, left_on, recorded, wait_for
from distributed import Client, Event, get_client, rejoin, secede, wait
from test_probe_parts import nvml

from dask_insight.schema import NOTHING

#: Seconds by which times may contradict each other: a loaded machine hands tasks to threads late.
SLACK = 0.05


def increment(number: int) -> int:
    return number + 1


def add(first: int, second: int) -> int:
    return first + second


def fail(number: int) -> None:
    raise ValueError(f"no {number}")


def fail_twice(path: str) -> str:
    with open(path, "a") as file:
        file.write("x")
    if os.path.getsize(path) < 3:
        raise OSError("not yet")
    return "done"


def kill_once(path: str) -> str:
    """Kill this worker the first time."""
    if not os.path.exists(path):
        with open(path, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def kill(_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def spin(seconds: float) -> int:
    until = time.perf_counter() + seconds
    number = 0
    while number >= 0:
        number += 1
        if not number % 1000 and time.perf_counter() > until:
            break
    return number


def compute_within(name: str) -> list[tuple[float, float]]:
    """A task that computes others twice and works for itself in between; when it waited for them."""
    get_client()
    waited = []
    for part in ("before", "after"):
        began = time.time()
        dask.compute(*[dask.delayed(sleep)(0.2, dask_key_name=f"{part}-{name}-{each}") for each in range(2)])
        waited.append((began, time.time()))
        spin(0.3)
    return waited


def test_an_ordinary_computation(client: Any) -> None:
    with recorded(client) as batches:
        first = client.map(increment, range(20), key="first", pure=False)
        second = client.map(add, first[:-1], first[1:], key="second", pure=False)
        client.gather(second)
    keys = batches.keys()
    graph = {row["key"]: row for row in batches.table("graph")}
    assert len(graph) == len(batches.table("graph")) == 39
    assert {row["prefix"] for row in graph.values()} == {"first", "second"}
    edges = {(keys[row["task"]], keys[row["dependency"]]) for row in batches.table("edges")}
    assert edges == {
        (b.key, a.key) for b, pair in zip(second, itertools.pairwise(first), strict=True) for a in pair
    }
    attempts = batches.attempts()
    assert Counter(row["status"] for row in attempts) == {"ok": 39}
    for row in attempts:
        assert row["submitted"] <= row["ready"] + 1e-3
        assert row["ready"] <= row["assigned"] <= row["start"] + SLACK
        assert row["start"] <= row["stop"] <= row["done"] + SLACK
        assert row["typename"] == "int" and row["nbytes"] > 0
    workers = {row["worker"]: row for row in batches.table("workers")}
    assert {row["worker"] for row in attempts} <= set(workers)
    assert all(
        row["pid"] and row["threads"] == 2 and row["memory_limit"] == 2 * 2**30 for row in workers.values()
    )
    assert not any(row["own"] for row in workers.values())
    executions = {row["run"]: row for row in batches.table("executions")}
    assert executions.keys() == {row["run"] for row in attempts}
    for row in attempts:
        seen = executions[row["run"]]
        assert seen["worker"] == row["worker"] and seen["status"] == "memory"
        assert row["assigned"] - SLACK <= seen["received"] <= seen["ready"] <= seen["executing"]
        assert seen["executing"] <= row["start"] + SLACK and row["stop"] <= seen["ended"] + SLACK
    assert not batches.events("lost")


def test_submissions_name_the_line_that_made_them(client: Any) -> None:
    with recorded(client) as batches:
        future = client.submit(increment, 1, key="named-line", pure=False)
        line = test_submissions_name_the_line_that_made_them.__code__.co_firstlineno + 2
        future.result()
    (row,) = batches.table("submissions")
    assert os.path.basename(row["file"]) == "test_cluster_tasks.py"
    assert row["line"] == line
    assert row["function"] == "test_submissions_name_the_line_that_made_them"
    assert "named-line" in row["code"]
    assert row["tasks"] == 1 and row["client"] == client.id
    assert all(row[name] >= 0 for name in ("materialize", "ordering", "states"))
    graph = {row["key"]: row for row in batches.table("graph")}
    assert graph["named-line"]["submission"] == row["submission"]


def test_submissions_of_every_client_name_their_line(cluster: Any) -> None:
    before = Client(cluster)
    # Who stopped without a word, as other tests do, still looks at the client that all tests share.
    with Client(cluster) as client, recorded(client) as batches:
        with before:
            first = before.submit(increment, 1, pure=False).result()
        with Client(cluster) as later:
            later.submit(increment, first, pure=False).result()
        assert "_send_to_scheduler" not in vars(before)
    assert "_send_to_scheduler" not in vars(client)
    found = {row["client"]: os.path.basename(row["file"]) for row in batches.table("submissions")}
    assert found == dict.fromkeys((before.id, later.id), "test_cluster_tasks.py")


def test_errors_and_retried_attempts(client: Any, tmp_path: Any) -> None:
    with recorded(client) as batches:
        bad = client.submit(fail, 7, key="bad", pure=False)
        wait_for(lambda: bad.status == "error", "the task has failed")
        again = client.submit(fail_twice, str(tmp_path / "count"), key="again", retries=5, pure=False)
        assert again.result() == "done"
        child = client.submit(increment, bad, key="child", pure=False)
        wait_for(lambda: child.status == "error", "its child has failed")
    assert [row["status"] for row in batches.attempts("bad")] == ["erred"]
    assert [row["status"] for row in batches.attempts("again")] == ["retried", "retried", "ok"]
    assert batches.attempts("child") == [], "a task whose input failed was never tried"
    errors = {row["run"]: row for row in batches.table("errors")}
    assert len(errors) == len(batches.table("errors")) == 3
    by_key = defaultdict(list)
    for row in batches.attempts():
        if row["run"] in errors:
            by_key[row["key"]].append(errors[row["run"]])
    assert [row["exception"] for row in by_key["bad"]] == ["ValueError('no 7')"]
    assert "no {number}" in by_key["bad"][0]["traceback"]
    assert [row["exception"] for row in by_key["again"]] == ["OSError('not yet')"] * 2
    executions = {row["run"]: row for row in batches.table("executions")}
    for row in batches.attempts("again")[:2]:
        seen = executions[row["run"]]
        assert seen["status"] == "error"
        assert seen["executing"] <= seen["start"] + SLACK <= seen["stop"] + SLACK <= seen["ended"] + SLACK
        assert seen["thread"]


def fail_on(data: bytes, path: str) -> int:
    """Fail the first time; always, where there is no path."""
    if os.path.exists(path):
        return len(data)
    if path:
        open(path, "w").close()
    raise OSError("not yet")


def test_what_attempts_without_a_result_waited_for_is_told_once(client: Any, tmp_path: Any) -> None:
    first, second = sorted(client.scheduler_info(n_workers=-1)["workers"])
    with recorded(client) as batches:
        for key, path, retries in (("retried", str(tmp_path / "once"), 1), ("erred", "", 0)):
            data = client.submit(bytes, 3_000_000, key=f"for-{key}", pure=False, workers=[first])
            wait(client.submit(fail_on, data, path, key=key, pure=False, workers=[second], retries=retries))
    for key, statuses in {"retried": ["retried", "ok"], "erred": ["erred"]}.items():
        attempts = batches.attempts(key)
        assert [row["status"] for row in attempts] == statuses
        failed = attempts[0]
        [phase] = [row for row in batches.table("phases") if row["run"] == failed["run"]]
        assert phase["action"] == "transfer"
        assert failed["assigned"] - SLACK < phase["start"] < phase["stop"] < failed["start"] + SLACK


async def rest() -> None:
    await asyncio.sleep(0.01)


def test_that_coroutines_have_no_stacks_is_told(client: Any) -> None:
    with recorded(client) as batches:
        client.submit(rest, pure=False).result()
        client.submit(increment, 1, pure=False).result()
    [gap] = [row["message"] for row in batches.events("gap") if "coroutines" in row["message"]]
    assert "stacks and CPU time" in gap


def test_executors_that_come_later_are_followed_or_named(client: Any) -> None:
    def put_on(dask_worker: Any) -> None:
        from concurrent.futures import ProcessPoolExecutor

        from distributed.threadpoolexecutor import ThreadPoolExecutor

        dask_worker.executors["threads"] = ThreadPoolExecutor(1)
        dask_worker.executors["processes"] = ProcessPoolExecutor(1)

    def take_off(dask_worker: Any) -> None:
        for name in ("threads", "processes"):
            dask_worker.executors.pop(name).shutdown()

    def naming() -> set[str]:
        return {row["source"] for row in batches.events("gap") if "'processes'" in row["message"]}

    workers = set(client.scheduler_info(n_workers=-1)["workers"])
    with recorded(client) as batches:
        client.run(put_on)
        try:
            wait_for(lambda: naming() == workers, "each worker names its executor of processes")
            with dask.annotate(executor="threads"):
                task = client.submit(wait_away, "later", key="later", pure=False)
            Event("is-later", client=client).wait()
            Event("end-later", client=client).set()
            task.result()
        finally:
            client.run(take_off)
    assert away_of(batches, "later")
    assert not any(left_on(client).values())


def test_a_worker_is_killed_mid_run(client: Any, tmp_path: Any) -> None:
    with recorded(client) as batches:
        before = len(client.scheduler_info(n_workers=-1)["workers"])
        assert (
            client.submit(kill_once, str(tmp_path / "once"), key="killer", pure=False).result(60)
            == "survived"
        )
        dead = client.submit(kill, None, key="deadly", pure=False)
        wait_for(lambda: dead.status == "error", "the task was given up", 90)
        client.wait_for_workers(before, timeout=60)
    assert [row["status"] for row in batches.attempts("killer")] == ["killed", "ok"]
    deadly = batches.attempts("deadly")
    assert {row["status"] for row in deadly} == {"killed"} and len(deadly) == 4
    assert len({row["run"] for row in deadly}) == 4
    assert any("KilledWorker" in row["exception"] for row in batches.table("errors"))
    gone = [row["worker"] for row in batches.table("workers") if row["left"] == row["left"]]
    assert {row["worker"] for row in deadly} <= set(gone)
    assert len(batches.events("worker-removed")) >= 5
    assert any(row["kind"] == "worker-added" for row in batches.table("events"))


def test_cancelled_and_running_tasks(client: Any) -> None:
    with recorded(client) as batches:
        long = client.submit(sleep, 2.5, key="long", pure=False)
        unwanted = [
            client.submit(sleep, 3 + n / 100, key=f"unwanted-{n}", pure=False, priority=-n) for n in range(8)
        ]

        def processing() -> int:
            return sum("unwanted-0" in keys for keys in client.processing().values())

        wait_for(processing, "it is on a worker")
        wait_for(
            lambda: any(row for row in batches.table("running")), "a running task is told of before it ends"
        )
        keys = batches.keys()
        assert {keys[row["task"]] for row in batches.table("running")} <= {
            "long",
            "unwanted-0",
            "unwanted-1",
            "unwanted-2",
        }
        client.cancel(unwanted[3:])
        long.result()
        client.cancel(unwanted)
    statuses = {row["key"]: row["status"] for row in batches.attempts("unwanted")}
    assert set(statuses.values()) <= {"cancelled", "stolen"} and "cancelled" in statuses.values()
    assert [row["status"] for row in batches.attempts("long")][-1] == "ok"


def test_tasks_that_are_there_when_recording_begins(client: Any) -> None:
    def hold(gate: str) -> int:
        Event(f"{gate}-begun").set()
        Event(gate).wait()
        return 1

    def runs(batches: Batches) -> bool:
        # Functions of tests before may run on.
        keys = batches.keys()
        return held.key in [keys.get(row["task"]) for row in batches.table("running")]

    gate = f"gate-{uuid.uuid4().hex}"
    done = client.map(increment, range(3), key="there-done", pure=False)
    wait(done)
    held = client.submit(hold, gate, key="there-held", pure=False)
    after = client.submit(increment, held, key="there-after", pure=False)
    assert Event(f"{gate}-begun", client=client).wait(PATIENCE)
    with recorded(client) as first:
        wait_for(lambda: runs(first), "what runs is told of")
        with recorded(client) as second:
            wait_for(lambda: runs(second), "a recorder that joins is told, too")
            Event(gate, client=client).set()
            after.result()
    for batches in (first, second):
        keys = batches.keys()
        tasks = [row for row in batches.table("graph") if row["key"].startswith("there-")]
        assert Counter(row["key"] for row in tasks) == Counter(
            [*(one.key for one in done), held.key, after.key]
        )
        assert {row["key"] for row in tasks if row.get("state") == "memory"} == {one.key for one in done}
        assert {row["key"] for row in tasks if row["order"] != NOTHING} == {held.key, after.key}
        assert (after.key, held.key) in {
            (keys[row["task"]], keys[row["dependency"]]) for row in batches.table("edges")
        }
        ran = {row["key"]: row for row in batches.attempts("there-")}
        (begun,) = (row for row in batches.table("running") if keys.get(row["task"]) == held.key)
        assert {key: row["status"] for key, row in ran.items()} == dict.fromkeys((held.key, after.key), "ok")
        assert begun["run"] == ran[held.key]["run"] and begun["task"] == ran[held.key]["task"]
        assert begun["start"] == pytest.approx(ran[held.key]["start"], abs=SLACK)
        assert len({row["run"] for row in batches.table("executions")} & {begun["run"]}) == 1
        since = [row["value"] for row in batches.table("about") if row["name"] == "since"]
        assert len(since) == 1 and float(since[0]) > begun["start"]


def test_tasks_given_up_while_they_waited_have_an_end(client: Any) -> None:
    with recorded(client) as batches:
        # More than the workers take at a time: some wait in the scheduler's queue, what follows for inputs.
        first = client.map(sleep, [0.5 + n / 1000 for n in range(40)], key="first")
        second = client.map(increment, first, key="second")
        failed = client.submit(fail, 1, key="failed", priority=1)
        needy = client.submit(increment, failed, key="needy")
        wait(needy)
        client.cancel(second)
        client.cancel(first)
        wait_for(lambda: len({row["key"] for row in batches.attempts("second")}) == 40, "all have an end")
    given_up = [row for row in batches.attempts() if row["status"] == "cancelled" and not row["worker"]]
    assert {row["run"] for row in given_up} == {NOTHING}
    assert all(math.isnan(row["start"]) and row["submitted"] <= row["done"] for row in given_up)
    ends = defaultdict(list)
    for row in batches.attempts():
        ends[row["key"]].append(row["status"])
    assert ends["needy"] == ["cancelled"] and ends["failed"] == ["erred"]
    assert sum(row["key"].startswith("first") for row in given_up) > 20


def test_a_cancelled_task_that_ran_on_tells_its_thread(client: Any, tmp_path: Any) -> None:
    def ran_on(path: str) -> None:
        while not os.path.exists(path):
            sleep(0.01)

    def cancelled(dask_worker: Any) -> bool:
        task = dask_worker.state.tasks.get("ran-on")
        return task is not None and task.state == "cancelled"

    def running() -> list[dict[str, Any]]:
        # A task of the test before may run still.
        return [row for row in batches.table("running") if batches.keys().get(row["task"]) == "ran-on"]

    def ended() -> list[dict[str, Any]]:
        return [row for row in batches.table("executions") if row["run"] == running()[0]["run"]]

    with recorded(client) as batches:
        unwanted = client.submit(ran_on, str(tmp_path / "go"), key="ran-on", pure=False)
        wait_for(running, "it runs")
        client.cancel(unwanted)
        wait_for(lambda: any(client.run(cancelled).values()), "its worker knows that it is not wanted")
        (tmp_path / "go").touch()
        wait_for(ended, "its function has ended")
    (began,), (found,) = running(), ended()
    assert found["status"] == "cancelled"
    assert found["thread"] == began["thread"] != ""


def test_rescheduled_tasks(client: Any, tmp_path: Any) -> None:
    def again(path: str) -> str:
        from threading import get_ident
        from time import time

        from distributed import Reschedule

        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write(f"{get_ident()} {time()}")
            raise Reschedule
        with open(path) as file:
            return file.read()

    with recorded(client) as batches:
        first = client.submit(again, str(tmp_path / "once"), key="moved", pure=False).result()
    thread, within = first.split()
    attempts = batches.attempts("moved")
    assert [row["status"] for row in attempts] == ["rescheduled", "ok"]
    (seen,) = (row for row in batches.table("executions") if row["run"] == attempts[0]["run"])
    assert seen["thread"] == thread, "Dask has forgotten it by then"
    assert seen["executing"] <= seen["start"] < float(within) < seen["stop"] <= attempts[0]["done"]


class Counts:
    """An actor."""

    def __init__(self) -> None:
        self.number = 0

    def count(self) -> int:
        self.number += 1
        return self.number

    async def slowly(self, go: str) -> int:
        await Event(go).wait()
        return self.number

    def fails(self) -> None:
        raise ZeroDivisionError


def test_calls_of_actors_are_counted_and_timed(client: Any) -> None:
    def handlers(dask_worker: Any) -> str:
        return str(dask_worker.handlers["actor_execute"].__qualname__)

    before = client.run(handlers)
    with recorded(client) as batches:
        actor = client.submit(Counts, actor=True, pure=False).result()
        assert [actor.count().result() for _ in range(3)] == [1, 2, 3]
        go = f"go-{uuid.uuid4()}"
        slow = [actor.slowly(go) for _ in range(2)]
        Event(go).set()
        assert [each.result() for each in slow] == [3, 3]
        with pytest.raises(ZeroDivisionError):
            actor.fails().result()
        del actor
    found = metrics(batches)
    calls = {name: found["actor", f"Counts.{name}", "call", "count"] for name in ("count", "slowly", "fails")}
    assert calls == {"count": 3, "slowly": 2, "fails": 1}
    assert all(found["actor", f"Counts.{name}", "call", "seconds"] > 0 for name in calls)
    assert not found["actor", "Counts.slowly", "waiting", "seconds"], "coroutines wait for no thread"
    assert not [row for row in batches.events("gap") if "actor" in row["message"]]
    assert client.run(handlers) == before, "nothing of ours is left"


def test_tasks_that_no_worker_may_run_are_told_of(client: Any) -> None:
    with recorded(client) as batches:
        future = client.submit(math.factorial, 5, key="stranded-1", resources={"NONE": 1}, pure=False)
        wait_for(lambda: batches.events("no-worker"), "tasks that no worker may run")
        future.release()
        wait_for(lambda: len(batches.events("no-worker")) > 1, "that there are none any more")
    first, *_, last = [json.loads(row["detail"]) for row in batches.events("no-worker")]
    assert (first["tasks"], first["names"], first["resources"]) == (1, ["stranded"], {"NONE": 1})
    assert first["workers"] == 2 and first["seconds"] >= 2 and last == {"tasks": 0}


def steals(dask_scheduler: Any) -> list[tuple[str, str]]:
    """Key and victim of each theft that Dask has confirmed."""
    told = [message for _, message in dask_scheduler.get_events("stealing")]
    return [(message[1], message[3]) for message in told if message[0] == "confirm"]


@pytest.fixture
def untouched() -> Iterator[Any]:
    """A client of a cluster of its own: in one that others have used, Dask has been seen to steal nothing."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


def test_stolen_tasks(untouched: Any) -> None:
    client = untouched
    address = min(client.scheduler_info(n_workers=-1)["workers"])
    where = {"workers": [address], "allow_other_workers": True}
    many = 0
    with recorded(client) as batches:
        # On a busy machine Dask may find nothing worth it at first.
        while many < 200 and not client.run_on_scheduler(steals):
            keys = [f"heavy-{n}" for n in range(many, many + 40)]
            client.gather([client.submit(sleep, 0.15, key=key, pure=False, **where) for key in keys])
            many += 40
        # Also back from the thief, where that one turned out to be the slower.
        thefts = client.run_on_scheduler(steals)
    attempts = batches.attempts("heavy")
    by_key = Counter(row["key"] for row in attempts if row["status"] == "ok")
    assert set(by_key.values()) == {1} and len(by_key) == many
    stolen = [row for row in attempts if row["status"] == "stolen"]
    assert len(stolen) == len(batches.events("steal")) > 0
    assert Counter((row["key"], row["worker"]) for row in stolen) == Counter(thefts)
    runs = [row["run"] for row in attempts]
    assert len(runs) == len(set(runs)), "every attempt has a number of its own"


def test_results_that_are_forgotten_before_their_worker_tells_of_them_keep_their_names(client: Any) -> None:
    first, second = sorted(client.scheduler_info(n_workers=-1)["workers"])
    began = time.monotonic()
    with recorded(client) as batches:
        # Longer than it takes to forget them and to push.
        while time.monotonic() - began < 4:
            data = client.submit(bytes, 1000, pure=False, workers=[first])
            assert client.submit(len, data, pure=False, workers=[second]).result() == 1000
            del data
    keys = batches.keys()
    carried = [keys.get(row["task"], "") for row in batches.table("transferred")]
    assert len(carried) > 20
    assert [key for key in carried if not key.startswith(("bytes-", "len-"))] == []


def test_it_is_known_when_results_were_let_go_of(client: Any) -> None:
    with recorded(client) as batches:
        first = client.map(increment, range(5), key="first", pure=False)
        second = client.submit(sum, first, key="second", pure=False)
        assert second.result(30) == 15
        before = time.time()
        keys = {future.key for future in first}
        del first
        wait_for(
            lambda: (
                not client.run_on_scheduler(
                    lambda dask_scheduler: [
                        key for key in keys if dask_scheduler.tasks[key].state == "memory"
                    ]
                )
            ),
            "the scheduler has let go of them",
            30,
        )
    named = batches.keys()
    released = [(named[row["task"]], row["time"]) for row in batches.table("releases")]
    assert sorted(key for key, _ in released) == sorted(keys), "each once, and not what is held still"
    assert all(moment >= before - SLACK for _, moment in released)
    del second


def test_transfers_carry_tasks(client: Any) -> None:
    first, second = sorted(client.scheduler_info(n_workers=-1)["workers"])
    with recorded(client) as batches:
        data = client.submit(bytes, 3_000_000, key="data", pure=False, workers=[first])
        size = client.submit(len, data, key="size", pure=False, workers=[second])
        assert size.result() == 3_000_000
    transfers = {(row["worker"], row["direction"]): row for row in batches.table("transfers")}
    incoming, outgoing = transfers[second, "in"], transfers[first, "out"]
    assert incoming["peer"] == first and outgoing["peer"] == second
    assert incoming["nbytes"] == outgoing["nbytes"] >= 3_000_000
    assert 0 < outgoing["compressed"] < 10_000_000
    assert incoming["start"] < incoming["stop"]
    keys = batches.keys()
    carried = {row["transfer"]: keys[row["task"]] for row in batches.table("transferred")}
    assert carried[incoming["transfer"]] == carried[outgoing["transfer"]] == "data"
    (size_run,) = [row["run"] for row in batches.attempts("size")]
    phases = [
        row for row in batches.table("phases") if row["run"] == size_run and row["action"] == "transfer"
    ]
    assert len(phases) == 1
    assert phases[0]["start"] == pytest.approx(incoming["start"], abs=0.02)


def metrics(batches: Batches) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for row in batches.table("metrics"):
        found[row["context"], row["prefix"], row["activity"], row["unit"]] += row["value"]
    return found


def test_fine_metrics_add_up_to_the_schedulers() -> None:
    """On a cluster that has done nothing before, what is told is all that Dask has."""
    from distributed import Client, LocalCluster

    def labelled(seconds: float) -> None:
        from distributed.metrics import context_meter

        context_meter.digest_metric(("my", 3), 5, "apples")
        context_meter.digest_metric(None, 2.5, "seconds")
        time.sleep(seconds)

    def totals(dask_scheduler: Any) -> list[Any]:
        return [(k, v) for k, v in dask_scheduler.cumulative_worker_metrics.items() if isinstance(k, tuple)]

    def known() -> Counter[tuple[str, ...]]:
        from dask_insight.probe.metrics import parts

        found: Counter[tuple[str, ...]] = Counter()
        for name, value in client.run_on_scheduler(totals):
            # The scheduler's names have no span.
            spanned = (name[0], "", *name[1:]) if name[0] in ("execute", "p2p") else name
            context, _, prefix, activity, unit = parts(spanned)
            found[context, prefix, activity, unit] += value
        return found

    async def beat(dask_worker: Any) -> None:
        await dask_worker.heartbeat()

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(beat)
        before = known()
        with recorded(client) as batches:
            client.gather(client.map(labelled, [0.01] * 20, key="labelled", pure=False))
            data = client.map(bytes, [100_000] * 4, key="blob", pure=False)
            client.submit(lambda *blobs: len(blobs), *data, key="joined", pure=False).result()
            client.run(beat)
        after = known()
    found = metrics(batches)
    assert found["execute", "labelled", "my 3", "apples"] == 100
    assert found["execute", "labelled", "None", "seconds"] == 50
    assert {"execute", "gather-dep", "get-data"} <= {name[0] for name in found}
    told = {name: value for name, value in found.items() if name[0] != "memory-monitor"}
    assert told == {name: pytest.approx(after[name] - before[name], abs=1e-9) for name in told}
    grown = {name for name in after if after[name] - before[name] > 1e-9 and name[0] != "memory-monitor"}
    assert grown <= told.keys()
    spans = {row["span"] for row in batches.table("metrics") if row["context"] == "execute"}
    assert spans and spans <= {row["span"] for row in batches.table("spans")}


def test_a_function_that_spins_is_the_widest_leaf_and_has_its_share(client: Any) -> None:
    with recorded(client, profile_budget=0.5) as batches:
        futures = client.map(spin, [0.4] * 4, key="spin", pure=False)
        futures += client.map(sleep, [0.2] * 8, key="sleep", pure=False)
        futures += client.map(sleep, [0.004] * 60, key="short", pure=False)
        client.gather(futures)
    stacks = {row["stack"]: row for row in batches.table("stacks")}
    attempts = {row["run"]: row for row in batches.attempts()}
    compute: Counter[str] = Counter()
    for row in attempts.values():
        compute[row["key"].split("-")[0]] += row["stop"] - row["start"]
    sampled: Counter[str] = Counter()
    leaves: Counter[str] = Counter()
    for row in batches.table("samples"):
        if row["run"] in attempts:
            name = attempts[row["run"]]["key"].split("-")[0]
            sampled[name] += row["duration"]
            if name == "spin":
                leaves[stacks[row["stack"]]["function"]] += row["duration"]
    assert leaves.most_common(1)[0][0] == "spin"
    share = sampled["spin"] / sum(sampled.values())
    assert abs(share - compute["spin"] / sum(compute.values())) < 0.05
    leaf = [row for row in stacks.values() if row["function"] == "spin"]
    first = spin.__code__.co_firstlineno
    assert {row["first_line"] for row in leaf} == {first}
    assert all(first <= row["line"] <= first + 8 for row in leaf)
    assert not any(
        "_run_task" in row["function"] for row in stacks.values() if row["file"].endswith("worker.py")
    )


def test_processes_are_sampled(client: Any) -> None:
    with recorded(client, resources=0.1) as batches:
        client.gather(client.map(sleep, [0.3] * 8, key="sleep", pure=False))
    rows = batches.table("resources")
    workers = set(client.scheduler_info(n_workers=-1)["workers"])
    for process in {"scheduler", "client"} | workers:
        own = [row for row in rows if row["process"] == process and row["memory"] == row["memory"]]
        assert len(own) >= 3, process
        assert all(row["memory"] > 10e6 and row["fds"] > 5 and 0 <= row["cpu"] < 5000 for row in own)
        assert all(row["lag"] >= 0 for row in own)
        # How long threads waited for a core, where Linux tells.
        if process != "client" and os.path.exists("/proc/thread-self/schedstat"):
            assert all(row["starved"] >= 0 for row in own), process
    assert any(row["executing"] >= 1 for row in rows if row["process"] in workers)
    assert {row["process"] for row in batches.table("samples")} >= {"scheduler", "client"}
    assert {row["process"] for row in batches.table("sampling")} >= {"scheduler", "client"} | workers
    memory = batches.table("memory")
    assert {row["worker"] for row in memory} == workers
    assert all(row["process"] > 0 for row in memory)
    clocks = batches.table("clocks")
    assert {row["worker"] for row in clocks} == workers
    assert all(row["offset"] == 0 and row["uncertainty"] == 0 for row in clocks), "one host has one clock"
    about = {row["name"] for row in batches.table("about")}
    assert {"versions", "config", "cluster"} <= about


def test_values_of_environment_variables_may_be_secrets(client: Any) -> None:
    given = {"API_TOKEN": "secret", "OMP_NUM_THREADS": 3}
    with dask.config.set({"distributed.nanny.environ": given}), recorded(client) as batches:
        pass
    about = {row["name"]: row["value"] for row in batches.table("about")}
    told = json.loads(about["config"])["distributed.nanny.environ"]
    assert told == {"API_TOKEN": "(set)", "OMP_NUM_THREADS": 3}


def test_what_workers_measure_of_themselves_is_told_as_it_changes(client: Any) -> None:
    def measure(dask_worker: Any) -> None:
        beats = itertools.count()
        dask_worker.length = 3
        dask_worker.metrics["queue"] = lambda worker: {"length": worker.length, "state": "open"}
        dask_worker.metrics["beats"] = lambda worker: next(beats)
        dask_worker.metrics["broken"] = lambda worker: 1 / 0

    def lengthen(dask_worker: Any) -> None:
        dask_worker.length = 4

    def forget(dask_worker: Any) -> None:
        for name in ("queue", "beats", "broken"):
            del dask_worker.metrics[name]

    def values(name: str) -> dict[str, list[float]]:
        told: dict[str, list[float]] = defaultdict(list)
        for row in batches.table("gauges"):
            told[row["worker"]] += [row["value"]] if row["name"] == name else []
        return told

    client.run(measure)
    try:
        with recorded(client) as batches:
            wait_for(lambda: sum(len(each) > 2 for each in values("beats").values()) == 2, "some heartbeats")
            client.run(lengthen)
            wait_for(lambda: all(4 in each for each in values("queue.length").values()), "the change")
    finally:
        client.run(forget)
    table = batches.recording().gauges
    assert set(table["name"]) == {"queue.length", "beats"}
    assert list(values("queue.length").values()) == [[3.0, 4.0]] * 2
    assert set(table["worker"]) == {row["worker"] for row in batches.table("workers")}


def test_workers_that_were_paused_before_are_known_to_be(client: Any) -> None:
    def change(status: str, dask_scheduler: Any = None) -> str:
        address = next(iter(dask_scheduler.workers))
        dask_scheduler.handle_worker_status_change(status, address, "test")
        return str(address)

    address = client.run_on_scheduler(change, "paused")
    try:
        with recorded(client) as batches:
            pass
    finally:
        client.run_on_scheduler(change, "running")
    told = [row for row in batches.table("events") if row["kind"] == "worker-status"]
    assert [(row["source"], row["level"], row["message"]) for row in told] == [
        (address, "warning", "→ paused")
    ]


def test_workers_of_dask_cuda_tell_of_their_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    with (
        LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        plugin = type("CPUAffinity", (), {"__module__": "dask_cuda.plugins"})()
        cluster.workers[0].plugins["affinity"] = plugin
        addresses = [cluster.workers[name].address for name in (0, 1)]
        with recorded(client) as batches:
            wait_for(lambda: {row["process"] for row in batches.table("gpus")} >= {*addresses}, "samples")
    devices = defaultdict(set)
    for row in batches.table("gpus"):
        devices[row["process"]].add(row["index"])
    assert [devices[each] for each in addresses] == [{1}, {0, 1}]


def test_names_that_are_no_text_hold_nothing_up() -> None:
    from distributed import LocalCluster

    # Within one process nothing makes text of them.
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        recorded(client) as batches,
    ):
        assert client.submit(increment, 1, key="name-\udcff").result() == 2
        cluster.scheduler.log_event("mine", {("x", 0): 1})
        wait_for(lambda: batches.events("user"), "the event")
    assert [attempt["status"] for attempt in batches.attempts()] == ["ok"]
    assert "('x', 0)" in batches.events("user")[0]["detail"]


def test_tasks_that_fail_for_want_of_a_worker() -> None:
    from distributed import LocalCluster

    given = {"distributed.scheduler.no-workers-timeout": "500ms"}
    with (
        dask.config.set(given),
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        recorded(client) as batches,
    ):
        wanting = [client.submit(increment, number, resources={"X": 1}) for number in range(2)]
        wait_for(lambda: all(each.status == "error" for each in wanting), "they have failed")
    assert [attempt["status"] for attempt in batches.attempts()] == ["erred"] * 2
    assert len({row["task"] for row in batches.table("errors")}) == 2, "each has its reason"


def test_logs_events_and_spans(client: Any) -> None:
    from distributed import span

    def warn() -> None:
        import logging

        logging.getLogger("distributed.worker").warning("something is odd")

    with recorded(client) as batches:
        with span("outer", "inner"):
            client.submit(increment, 5, key="spanned", pure=False).result()
        client.submit(warn, key="warn", pure=False).result()
        client.log_event("my-topic", {"what": "this"})
        wait_for(lambda: batches.events("user"), "the event has come")
    assert [row["message"] for row in batches.events("user")] == ["my-topic"]
    assert '"this"' in batches.events("user")[0]["detail"]
    logs = [row for row in batches.events("log") if "something is odd" in row["message"]]
    assert len(logs) == 1 and logs[0]["level"] == "warning" and logs[0]["source"].startswith("tcp://")
    spans = {row["span"]: row for row in batches.table("spans")}
    graph = {row["key"]: row for row in batches.table("graph")}
    inner = spans[graph["spanned"]["span"]]
    assert inner["path"] == "outer / inner" and spans[inner["parent"]]["name"] == "outer"


def test_what_a_worker_could_not_keep_is_told(client: Any) -> None:
    def damage(dask_worker: Any) -> None:
        def broken(*_: Any) -> None:
            raise OSError("this machine does not let us")

        (probe,) = (one for name, one in dask_worker.plugins.items() if name.startswith("dask_insight"))
        probe._sampler._take_frames = broken
        probe._pulse._resources.sample = broken

    def shout() -> None:
        import logging

        for number in range(1_500):
            logging.getLogger("mine").warning("number %d", number)

    with recorded(client) as batches:
        client.run(damage)
        client.submit(shout, pure=False).result()
        client.submit(sleep, 1.0, pure=False).result()
    told = batches.events("lost")
    of = [one for row in told for one in ("stacks", "resources", "the log") if one in row["message"][:40]]
    assert set(of) == {"stacks", "resources", "the log"} and len(of) == len(told)
    assert all(row["source"].startswith("tcp://") for row in told)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_fifty_thousand_tasks_each_once(client: Any) -> None:
    with recorded(client, profile=False) as batches:
        done = client.map(increment, range(50_000), key="many", pure=False, batch_size=10_000)
        wait(done)
    assert len(batches.table("graph")) == 50_000
    rows = batches.table("attempts")
    assert Counter(row["status"] for row in rows)["ok"] == 50_000
    finished = [row["task"] for row in rows if row["status"] == "ok"]
    assert len(set(finished)) == 50_000
    assert {row["run"] for row in batches.table("executions")} >= {
        row["run"] for row in rows if row["status"] == "ok"
    }
    assert not batches.events("lost")


def test_nothing_is_left(client: Any) -> None:
    with recorded(client):
        client.submit(increment, 1, key="last", pure=False).result()
        assert all(left_on(client).values())
    assert not any(left_on(client).values())


def test_tasks_that_give_their_threads_back(client: Any) -> None:
    with recorded(client) as batches:
        parents = client.map(compute_within, [f"{number}" for number in range(4)], key="parent", pure=False)
        told = dict(zip([each.key for each in parents], client.gather(parents), strict=True))
    runs = {row["run"]: row["key"] for row in batches.attempts("parent")}
    away = defaultdict(list)
    for row in batches.table("phases"):
        if row["action"] == "seceded":
            away[runs[row["run"]]].append((row["start"], row["stop"]))
    assert set(away) == set(told)
    for key, waited in told.items():
        for began, ended in waited:
            # Told in parts where it takes long.
            mine = sorted((start, stop) for start, stop in away[key] if start < ended and stop > began)
            assert began - SLACK <= mine[0][0] and mine[-1][1] <= ended + SLACK
            assert sum(stop - start for start, stop in mine) >= 0.2 - SLACK
    assert not any(left_on(client).values())


def wait_away(name: str, *, back: bool = False) -> None:
    """A task that gives its thread back, may take it again, and then tells so and waits for an event."""
    secede()
    if back:
        rejoin()
    Event(f"is-{name}").set()
    Event(f"end-{name}").wait()


def away_of(batches: Batches, key: str) -> list[tuple[float, float]]:
    """When a task was told to be without a thread."""
    keys = batches.keys()
    runs = {
        row["run"]
        for name in ("attempts", "running")
        for row in batches.table(name)
        if keys[row["task"]] == key
    }
    told = [row for row in batches.table("phases") if row["action"] == "seceded" and row["run"] in runs]
    return sorted((row["start"], row["stop"]) for row in told)


def test_a_task_that_had_given_its_thread_back_before_has_none(client: Any) -> None:
    tasks = [
        client.submit(wait_away, name, back=name == "back", key=name, pure=False) for name in ("gone", "back")
    ]
    for each in tasks:
        Event(f"is-{each.key}", client=client).wait()
    # The worker hears of it later than the task.
    wait_for(lambda: sum(client.run(seceded_on).values()) == 2, "workers know that both have seceded")
    with recorded(client) as batches:
        during = client.submit(sleep, 0.3, key="during", pure=False)
        during.result()
        for each in tasks:
            Event(f"end-{each.key}", client=client).set()
        client.gather(tasks)
    [beside] = batches.attempts("during")
    [gone] = batches.attempts("gone")
    away = away_of(batches, "gone")
    assert away[0][0] <= beside["start"] + SLACK and away[-1][1] == pytest.approx(gone["stop"], abs=SLACK)
    assert sum(stop - start for start, stop in away) == pytest.approx(away[-1][1] - away[0][0], abs=1e-3)
    assert not away_of(batches, "back"), "it has a thread again"
    assert not batches.events("lost")


def seceded_on(dask_worker: Any) -> int:
    return len(dask_worker.state.long_running)


def test_a_recording_that_ends_while_a_task_is_away_knows_of_it(client: Any) -> None:
    with recorded(client) as batches:
        task = client.submit(wait_away, "left", key="left", pure=False)
        Event("is-left", client=client).wait()
        client.submit(sleep, 0.4, key="beside", pure=False).result()
    Event("end-left", client=client).set()
    task.result()
    [beside] = batches.attempts("beside")
    # It is not told meanwhile before it takes a second.
    away = away_of(batches, "left")
    assert away and away[0][0] <= beside["start"] + SLACK and beside["stop"] - SLACK <= away[-1][1]
