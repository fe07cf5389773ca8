"""Findings about recordings of which a part is lost, and advice that is code."""

from __future__ import annotations

import ast
import asyncio
import copy
import json
import threading
from textwrap import dedent
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from conftest import PATIENCE
from test_findings_risks import (
    MB,
    attempts_with_sizes,
    busy,
    event,
    failing,
    found,
    lagging,
    losing,
    moving,
    the,
    with_rows,
)
from test_findings_time import TWO, beside, one, sampled_in, short_tasks, submitted, told
from test_time_budget import CLUSTER, NAN, START, Run

from dask_insight import words
from dask_insight.batch import Symbols, encode
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.tables.stacks import innermost_own, outermost


def without_graph(run: Run) -> Run:
    """Its attempts alone: what was known of the tasks themselves is lost."""
    run.tables["graph"] = {}
    return run


def alone() -> Run:
    run = Run(a=TWO, b=TWO)
    for number in range(2):
        run.task("half", "ab"[number], 0, 5, thread="1")
    return run


def in_a_line() -> Run:
    run = Run()
    before: tuple[int, ...] = ()
    for number in range(10):
        before = (run.task("step", "a", number, number + 1.0, *before),)
    return run


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (short_tasks(2000, 0.001, 0.004), "tiny-tasks"),
        (alone(), "too-few-tasks"),
        (in_a_line(), "critical-path"),
        (beside(0.02, late=0.0001, starved=0.0, use=4), "io-wait"),
        (sampled_in(beside(0.02, late=0.0001, starved=0.0, use=4), "time.sleep(1)"), "sleeping"),
    ],
)
def test_tasks_without_a_name_are_told_too(run: Run, code: str) -> None:
    known = {each.code: each for each in run.recording().findings()}[code]
    found = one(without_graph(run), code)
    assert found.tasks == ("(unnamed)",) and "`(unnamed)`" in found.title + found.why
    assert found.cost_thread_seconds == pytest.approx(known.cost_thread_seconds)


def test_messages_of_unknown_size_leave_the_others_their_bytes() -> None:
    run = moving(4.0, 1e9)
    row = {name: values[:1] for name, values in run.columns("transfers").items() if name == "start"}
    unknown: dict[str, Any] = {
        "transfer": [999],
        "direction": ["in"],
        "worker": ["a"],
        "peer": ["b"],
        "start": row["start"],
        "stop": row["start"] + 0.1,
        "nbytes": [NAN],
    }
    before = [each for each in run.findings() if each.code == "transfer-bound"]
    run.append(encode("transfers", unknown))
    found = run.findings()
    assert found.failed == ()
    after = [each for each in found if each.code == "transfer-bound"]
    assert before and [each.title for each in before] == [each.title for each in after]


def code_of(advice: str) -> str:
    """The lines of advice that are code."""
    return "\n".join(line[4:] for line in advice.splitlines() if line.startswith("    "))


def test_advice_for_waits_is_code_that_has_several_at_once() -> None:
    code = code_of(one(beside(0.02, late=0.0001, starved=0.0, use=4), "io-wait").advice)
    together = threading.Barrier(3, timeout=PATIENCE)

    def loop(item: int) -> int:
        together.wait()
        return item

    clusters: list[dict[str, int]] = []
    names: dict[str, Any] = {
        "asyncio": asyncio,
        "loop": loop,
        "LocalCluster": lambda **of: clusters.append(of),
    }
    exec(compile(code, "advice", "exec"), names)
    assert asyncio.run(names["loop_all"]([1, 2, 3])) == [1, 2, 3]
    assert clusters == [{"n_workers": 1, "threads_per_worker": 4}]


def one_by_one(count: int) -> Run:
    """A loop that computes one task and waits for it, on two threads."""
    run = Run()
    for number in range(count):
        run.task("score", "a", number * 0.1, number * 0.1 + 0.1, submitted=number * 0.1)
    ids = np.arange(count)
    run.tables["graph"] = {"task": ids, "prefix": run.names, "submission": ids}
    run.tables["submissions"] = {"submission": ids, "time": START + ids * 0.1, "tasks": [1] * count}
    return run


@pytest.mark.parametrize("count", [20, 400])
def test_computations_one_after_the_other_are_to_be_asked_for_together(count: int) -> None:
    found = one(one_by_one(count), "too-few-tasks")
    assert f"{count} computations followed one another" in found.title
    assert "dask.compute(*parts)" in found.advice and "rechunk" not in found.advice
    assert found.cost_seconds == pytest.approx(count * 0.05)


def test_few_tasks_of_one_computation_are_to_be_split() -> None:
    run = alone()
    run.tables["graph"] = {"task": [0, 1], "prefix": run.names, "submission": [0, 0]}
    run.tables["submissions"] = {"submission": [0], "time": [START], "tasks": [2]}
    found = one(run, "too-few-tasks")
    assert "computations" not in found.title and "rechunk" in found.advice


def test_an_empty_recording_with_clocks_and_events_only() -> None:
    recording = Recording()
    recording.append(encode("events", {"time": [START], "source": ["a"], "kind": ["dask"], "message": ["x"]}))
    found = recording.findings()
    assert list(found) == [] and found.failed == ()


def losing_a_result(when: float) -> Run:
    """A second computation wants a result; its worker dies before the scheduler comes to know."""
    run = Run(a=TWO | {"left": when}, b=TWO)
    made = run.task("load", "a", 0, 5)
    run.task("load", "b", 8.5, 13.5, task=made, ready=8, assigned=8)
    run.tables["submissions"] = {"submission": [0, 1], "time": [START, START + 6], "tasks": [1, 1]}
    return run


@pytest.mark.parametrize(("left", "codes"), [(8.0, []), (NAN, ["recompute"])])
def test_what_was_lost_with_a_worker_after_it_was_wanted_was_not_let_go_of(
    left: float, codes: list[str]
) -> None:
    assert [each.code for each in told(losing_a_result(left), "recompute")] == codes


def sending_again(asked: float, retired: bool = False) -> Run:
    """P2P begins anew as a worker leaves, and the other sends all of it again; or somebody asks for it."""
    run = Run(a=TWO, b=TWO | {"left": 4.0})
    loads = [run.task("load", worker, 0, 2) for worker in "ab"]
    sent = [run.task("shuffle-transfer", "ab"[number], 2, 3, load) for number, load in enumerate(loads)]
    for number, (load, transfer) in enumerate(zip(loads, sent, strict=True)):
        start = 4.5 + 3 * number
        run.task("load", "a", start, start + 2, task=load, ready=4.1, assigned=start)
        run.task("shuffle-transfer", "a", start + 2, start + 3, load, task=transfer, ready=start + 2)
    run.task("shuffle-barrier", "a", 10.5, 10.6, *sent)
    run.tables["submissions"] = {"submission": [0, 1], "time": [START, START + asked], "tasks": [1, 1]}
    run.events.append(
        event(3.9, "b", "worker-status", "running → closing_gracefully")
        if retired
        else event(4.0, "b", "worker-lost", "gone", processing=0, lost=1, expected=False)
    )
    return run


def test_what_p2p_sends_again_as_it_begins_anew_went_with_the_worker() -> None:
    run = sending_again(asked=20.0)
    assert told(run, "recompute") == []
    found = one(run, "worker-lost")
    assert found.cost_thread_seconds == pytest.approx(6), "that of the worker that stayed as well"
    assert "begins anew" in found.why and "2 times one of its inputs" in found.why.replace(words.SPACE, " ")


def test_what_p2p_sends_again_as_a_worker_is_retired_is_what_that_costs() -> None:
    run = sending_again(asked=20.0, retired=True)
    assert told(run, "recompute") == []
    found = one(run, "worker-lost")
    assert found.cost_thread_seconds == pytest.approx(6, abs=0.2) and "begins anew" in found.why
    assert found.title.replace(words.SPACE, " ").endswith("`load` and `shuffle-transfer` ran again, for 6 s")


def test_what_is_made_again_is_laid_on_one_worker() -> None:
    run = sending_again(asked=20.0)
    # Its leaving comes soon after, and costs nothing.
    run.workers |= {"c": TWO | {"left": 4.6}, "d": TWO}
    run.events.append(event(4.5, "c", "worker-status", "running → closing_gracefully"))
    assert one(run, "worker-lost").workers[0] == "b"


def test_what_a_retired_worker_had_handed_over_goes_with_who_dies_later() -> None:
    run = Run(a=TWO | {"left": 4.0}, b=TWO | {"left": 8.0}, c=TWO)
    load = run.task("load", "a", 0, 3)
    fit = run.task("fit", "b", 4, 7, load)
    run.task("load", "c", 8.2, 11.2, task=load, ready=8.1)
    run.task("fit", "c", 11.2, 14.2, load, task=fit, ready=11.2)
    run.tables["submissions"] = {"submission": [0], "time": [START], "tasks": [2]}
    run.events.append(event(3.5, "a", "worker-status", "running → closing_gracefully"))
    run.events.append(event(8.0, "b", "worker-lost", "gone", processing=0, lost=2, expected=False))
    assert one(run, "worker-lost").cost_thread_seconds == pytest.approx(6)


@pytest.mark.parametrize("left", [0.5, 3.5, NAN])
def test_what_no_workers_leaving_explains_somebody_asked_for(left: float) -> None:
    """`Client.retry` submits nothing. A worker that had left before, or had nothing, has no part in it."""
    run = Run(a=TWO, b=TWO | {"left": left})
    load = run.task("load", "a", 1, 3)
    run.task("load", "a", 4, 6, task=load, ready=4.0)
    run.tables["submissions"] = {"submission": [0], "time": [START], "tasks": [1]}
    (found,) = told(run, "recompute")
    assert found.cost_thread_seconds == pytest.approx(2)


def test_what_somebody_asks_for_again_did_not_go_with_a_worker() -> None:
    (found,) = told(sending_again(asked=4.05), "recompute")
    assert found.cost_thread_seconds == pytest.approx(3), "that of the worker that stayed"
    assert "begins anew" not in one(sending_again(asked=4.05), "worker-lost").why


def test_workers_that_nannies_ended_are_told_of_once() -> None:
    recording = losing()
    assert recording.findings()[0].code == "worker-lost"
    row = event(6, "scheduler", "dask", "worker-restart-memory", worker="b", rss=1e9)
    found = with_rows(recording, "events", [row]).findings()
    assert found.failed == () and "worker-lost" not in [each.code for each in found]
    (one,) = [each for each in found if each.code == "memory-pressure"]
    assert one.cost_thread_seconds == pytest.approx(6, abs=0.1)
    assert "`analyse` were there at the time" in one.why


def in_files(run: Run, *frames: tuple[str, str]) -> Run:
    """With these files and functions as the stack of all samples, the outermost first."""
    count = len(frames)
    run.tables["stacks"] = {
        "stack": np.arange(count),
        "parent": np.append(NOTHING, np.arange(count - 1)).astype("u4"),
        "function": [function for _, function in frames],
        "file": [file for file, _ in frames],
        "line": [1] * count,
        "first_line": [1] * count,
    }
    run.tables["samples"]["stack"] = np.full(len(run.tables["samples"]["run"]), count - 1)
    return run


def test_what_records_is_no_function_of_a_person() -> None:
    ours = ["/a/dask_insight/sources/cluster/source.py", "<dask_insight probe>"]
    names = ["ClusterSource._follow", "flush", "score"]
    stacks = {
        "stack": np.arange(3),
        "parent": np.array([NOTHING, 0, 1], "u4"),
        "function": Symbols(np.arange(3), names),
        "file": Symbols(np.arange(3), [*ours, "/home/me/dask_insight/work.py"]),
    }
    assert outermost(stacks, on_loop=True).tolist() == [-1, -1, 2]
    stacks["file"] = Symbols(np.arange(3), [*ours, "/a/dask_insight/hosts/demo/work.py"])
    assert outermost(stacks).tolist() == [-1, -1, 2]


@pytest.mark.parametrize(
    ("library", "packages"),
    [
        ("/usr/lib/python3.12", "/usr/lib/python3/dist-packages"),
        ("/usr/lib64/python3.12", "/usr/lib64/python3.12/site-packages"),
        (r"C:\Python312\Lib", r"C:\Python312\Lib\site-packages"),
    ],
)
def test_no_library_is_a_function_of_a_person_wherever_it_is_kept(library: str, packages: str) -> None:
    slash = "\\" if "\\" in library else "/"
    files = [f"{library}{slash}threading.py", f"{packages}{slash}dask{slash}core.py"]
    stacks = {
        "stack": np.arange(3),
        "parent": np.array([NOTHING, 0, 1], "u4"),
        "file": Symbols(np.arange(3), [*files, f"{packages}{slash}numpy{slash}core.py"]),
    }
    assert outermost(stacks).tolist() == [-1, -1, 2]


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("<stdin>", True),
        ("<ipython-input-5-8a1b>", True),
        ("<python-input-5>", True),
        ("<decorator-gen-5>", False),
        ("<string>", False),
    ],
)
def test_what_is_typed_is_a_persons_own(file: str, own: bool) -> None:
    stacks = {
        "stack": np.arange(2),
        "parent": np.array([NOTHING, 0], "u4"),
        "function": Symbols(np.arange(2), ["work", "load"]),
        "file": Symbols(np.arange(2), ["/home/me/work.py", file]),
    }
    assert innermost_own(stacks)[0].tolist() == [0, 1 if own else 0]


def waiting(text: str = "read()") -> Run:
    return sampled_in(beside(0.02, late=0.0001, starved=0.0, use=4), text)


@pytest.mark.parametrize(
    ("used", "severity", "said"),
    [
        # Seconds of CPU time of processes that ended, of 19.6 s of waiting for them.
        pytest.param(12.0, "info", "no time to be saved by more threads", id="that computed"),
        pytest.param(0.1, "critical", "they waited, too", id="that waited"),
        pytest.param(NAN, "info", "a recording does not tell", id="of which nothing is known"),
    ],
)
def test_who_waits_for_processes_that_it_started(used: float, severity: str, said: str) -> None:
    # As `subprocess` does it with a timeout: asleep.
    files = (("/home/me/work.py", "render"), ("/usr/lib/python3.12/subprocess.py", "Popen.wait"))
    run = in_files(waiting("time.sleep(delay)"), *files)
    table = run.tables["resources"]
    table["children"] = np.full(len(table["process"]), used / len(table["process"]), "f4")
    found = one(run, "io-wait")
    assert "other processes that it had started" in found.title and said in found.why
    assert found.severity == severity and (found.cost_seconds > 0) == (severity == "critical")
    assert ("than there are cores" in found.advice) == (severity == "info")
    assert told(run, "sleeping") == []


POOL = ("/x/multiprocessing/pool.py", "ThreadPool.map")
WAIT = ("/lib/threading.py", "Condition.wait")


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param((POOL,), id="called"),
        pytest.param((POOL, WAIT), id="down to its lock"),
        pytest.param((("/x/joblib/parallel.py", "Parallel._retrieve"),), id="joblib's"),
    ],
)
def test_who_waits_for_a_pool_may_wait_for_threads(frames: tuple[tuple[str, str], ...]) -> None:
    run = in_files(waiting(), ("/home/me/work.py", "render"), *frames)
    table = run.tables["resources"]
    table["children"] = np.zeros(len(table["process"]), "f4")
    found = one(run, "io-wait")
    assert "a pool of threads or processes" in found.title and "other processes" not in found.title
    assert found.severity == "info" and "a recording does not tell" in found.why
    table["children"][:] = 1.0
    assert "other processes" in one(run, "io-wait").title


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param((("/x/joblib/memory.py", "MemorizedFunc.__call__"),), id="kept by joblib"),
        pytest.param((("/x/joblib/parallel.py", "BatchedCalls.__call__"),), id="one job of joblib"),
        pytest.param((("/lib/multiprocessing/process.py", "BaseProcess._bootstrap"),), id="in a process"),
    ],
)
def test_what_a_task_does_itself_within_such_a_library_is_no_wait_for_others(
    frames: tuple[tuple[str, str], ...],
) -> None:
    run = in_files(waiting(), *frames, ("/home/me/work.py", "read"))
    found = one(run, "io-wait")
    assert "waited without a CPU" in found.title and found.severity == "critical"


_LOCKS = "/a/xarray/backends/locks.py"
FILES_OF_XARRAY = {
    "netCDF4": (
        ("/a/xarray/backends/netCDF4_.py", "NetCDF4ArrayWrapper._getitem"),
        (_LOCKS, "CombinedLock.__enter__"),
        (_LOCKS, "SerializableLock.__enter__"),
    ),
    "a netCDF4 that takes them one by one": (
        (_LOCKS, "CombinedLock.acquire"),
        (_LOCKS, "CombinedLock.acquire.<locals>.<genexpr>"),
        (_LOCKS, "acquire"),
        (_LOCKS, "SerializableLock.acquire"),
    ),
    "rioxarray": (
        ("/a/rioxarray/_io.py", "RasterioArrayWrapper._getitem"),
        (_LOCKS, "SerializableLock.__enter__"),
    ),
    "h5netcdf": (
        ("/a/xarray/backends/file_manager.py", "CachingFileManager._optional_lock"),
        ("C:\\a\\xarray\\backends\\locks.py", "SerializableLock.__enter__"),
    ),
}


def without_text(run: Run) -> Run:
    """As where the cluster's packages are others than the client's."""
    run.tables["lines"] = {name: list(values)[:0] for name, values in run.tables["lines"].items()}
    return run


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(waiting("with self._lock:"), id="a lock of their own"),
        pytest.param(waiting("HDF5_LOCK.acquire()"), id="without a block"),
        pytest.param(waiting("    with LK, self.guards[path]:  # one by one"), id="whatever it is called"),
        pytest.param(
            in_files(waiting(), ("/lib/threading.py", "Semaphore.acquire"), ("/lib/threading.py", "wait")),
            id="a semaphore of its process",
        ),
        pytest.param(
            in_files(
                waiting(),
                ("/here/work.py", "loop"),
                ("/a/distributed/lock.py", "Lock.acquire"),
                ("t.py", "wait"),
            ),
            id="distributed's",
        ),
        pytest.param(
            in_files(waiting(), ("C:\\a\\dask\\utils.py", "SerializableLock.__enter__")), id="dask's"
        ),
        pytest.param(
            in_files(waiting(), ("/a/distributed/multi_lock.py", "MultiLock.acquire")), id="several at once"
        ),
        pytest.param(waiting("lock.__enter__()"), id="as a block does it"),
        *(
            pytest.param(without_text(in_files(waiting(), *frames)), id=f"xarray's, of {library}")
            for library, frames in FILES_OF_XARRAY.items()
        ),
    ],
)
def test_who_waits_for_a_lock_needs_no_more_threads(run: Run) -> None:
    found = one(run, "io-wait")
    assert found.title.startswith("`loop` waited for a lock in 100")
    shared = any("distributed/" in file for file in run.tables["stacks"]["file"])
    assert ("All workers share this lock" in found.advice) == shared
    assert "would wait as well" in found.advice and "asyncio" not in found.advice
    assert found.cost_seconds == pytest.approx(9.8)


@pytest.mark.parametrize(
    "run",
    [
        waiting("blocks = read()  # with the lock held"),
        waiting("with open(clock) as file:"),
        waiting("with clock: pass"),
        waiting("with self.pool.connection:"),
        waiting("with open_file(path):"),
        in_files(waiting(), ("/a/dask/utils.py", "apply"), ("/here/work.py", "acquire")),
    ],
)
def test_who_waits_for_something_else_has_no_lock(run: Run) -> None:
    found = one(run, "io-wait")
    assert "waited without a CPU" in found.title and "asyncio.gather" in found.advice


def test_what_is_slept_with_a_lock_is_no_wait_for_it() -> None:
    run = sampled_in(beside(0.02, late=0.0001, starved=0.0, use=4), "with LK:", "read()")
    found = one(run, "io-wait")
    assert "waited for a lock in 50" in found.title
    assert (found.cost_thread_seconds, found.cost_seconds) == pytest.approx((10, 5), rel=0.01)


def test_who_waits_for_a_thread_to_tell_it_something_has_no_lock() -> None:
    run = in_files(waiting("waiter.acquire()"), ("/lib/threading.py", "Condition.wait"))
    run.tables["lines"]["file"], run.tables["lines"]["line"] = ["/lib/threading.py"], np.array([1])
    assert "waited without a CPU" in one(run, "io-wait").title


LOOP = ("Handle._run", "/lib/python3.11/asyncio/events.py")
IMPORT = ("_find_and_load", "<frozen importlib._bootstrap>")


def on_a_loop(recording: Recording, process: str, *frames: tuple[str, str]) -> Recording:
    """With 15 s of these functions and files on an event loop, callers first."""
    stacks = [
        {"stack": at, "parent": at - 1 if at else NOTHING, "function": function, "file": file, "line": 3}
        for at, (function, file) in enumerate(frames)
    ]
    sample = {"process": process, "thread": "event loop", "time": START + 16.0, "duration": 15.0}
    with_rows(recording, "stacks", [each | {"first_line": 1} for each in stacks])
    return with_rows(recording, "samples", [sample | {"stack": len(frames) - 1, "run": NOTHING}])


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("/x/site-packages/dask/array/__init__.py", "dask.array"),
        ("C:\\lib\\site-packages\\pandas\\core\\api.py", "pandas.core.api"),
        ("C:\\p\\Lib\\site-packages\\pandas\\core\\api.py", "pandas.core.api"),
        ("C:\\Python312\\Lib\\multiprocessing\\pool.py", "multiprocessing.pool"),
        ("/usr/lib/python3.12/decimal.py", "decimal"),
        ("/usr/lib64/python3.12/json/decoder.py", "json.decoder"),
        ("/usr/lib64/python3.12/site-packages/numpy/linalg.py", "numpy.linalg"),
        ("/home/me/slow/__init__.py", "slow"),
    ],
)
@pytest.mark.parametrize("process", ["a", "scheduler"])
def test_imports_that_keep_an_event_loop_are_told_as_imports(process: str, file: str, module: str) -> None:
    frames = (LOOP, IMPORT, ("<module>", file), IMPORT, ("<module>", "/x/site-packages/numpy/__init__.py"))
    found = the(on_a_loop(lagging(process, [0.18] * 80), process, *frames), "event-loop-lag")
    assert found.title.startswith(f"Importing `{module}` kept") and "<module>" not in str(found)
    assert f"import {module}\n" in found.advice and "client.run" in found.advice


@pytest.mark.parametrize("process", ["a", "scheduler"])
@pytest.mark.parametrize(
    "file",
    [
        "/x/site-packages/os;os.system('x')#.py",
        "/x/site-packages/a\n\n    evil().py",
        "/x/site-packages/a\nevil().py",
        "/x/site-packages/class.py",
        "/home/me/my-script.py",
        "/home/me/package/part.py",
        "/x/site-packages/.py",
    ],
)
def test_code_that_is_to_be_copied_imports_what_is_a_name_only(process: str, file: str) -> None:
    recording = on_a_loop(lagging(process, [0.18] * 80), process, LOOP, IMPORT, ("<module>", file))
    found = the(recording, "event-loop-lag")
    (code,) = [dedent(part) for part in found.advice.split("\n\n") if part.startswith("    ")]
    assert "    import MODULE\n" in code and "--preload MODULE" in code
    assert [type(each) for each in ast.parse(code).body] == [ast.FunctionDef, ast.Expr]
    assert "\n" not in found.title and not any(part.startswith("    ") for part in found.why.split("\n\n"))


def test_a_program_that_is_imported_may_run_the_event_loop() -> None:
    frames = (IMPORT, ("<module>", "/home/me/program.py"), LOOP, ("Meter.count", "/home/me/meter.py"))
    found = the(on_a_loop(lagging("a", [0.18] * 80), "a", *frames), "event-loop-lag")
    assert found.title.startswith("`Meter.count` (`meter.py:3`) kept")


def test_functions_of_an_event_loop_stay_in_their_line() -> None:
    odd = "count\n\n    evil()"
    recording = on_a_loop(lagging("scheduler", [0.18] * 80), "scheduler", LOOP, (odd, f"/home/me/{odd}.py"))
    found = the(recording, "event-loop-lag")
    assert "count" in found.title and "\n" not in found.title + found.why


def test_graphs_that_wait_for_imports_of_the_scheduler() -> None:
    run = submitted(busy(), 10, 14.0)
    run.tables["submissions"]["time"] = np.array([START + 16.0])
    frames = (LOOP, IMPORT, ("<module>", "/x/site-packages/dask/array/__init__.py"))
    found = the(on_a_loop(run.recording(), "scheduler", *frames), "slow-graph")
    assert "it imported `dask.array`" in found.why and "run_on_scheduler(warm_up)" in found.advice


def test_short_delays_are_told_for_what_they_cost() -> None:
    lags = [{"process": "a", "time": START + 0.2 * at, "lag": 0.18} for at in range(1, 10)]
    assert not found(with_rows(busy(2).recording(), "resources", lags), "event-loop-lag")


@pytest.mark.parametrize("module", ["distributed/protocol/pickle.py", "distributed/comm/tcp.py"])
@pytest.mark.parametrize("hosts", [["vm", "vm"], ["one", "two"]])
def test_results_that_take_long_to_pickle_are_no_slow_network(module: str, hosts: list[str]) -> None:
    run = moving(1.0, 5 * MB)
    there = {"threads": 1, "joined": START - 1.0, "left": NAN}
    with_rows(run, "workers", [there | {"worker": w, "host": h} for w, h in zip("ab", hosts, strict=True)])
    # Its event loop is late for as long as each message is on its way.
    late = START + 0.5 + 2.0 * (np.arange(50) // 5) + 0.2 * (1 + np.arange(50) % 5)
    with_rows(run, "resources", [{"process": "a", "time": when, "lag": 0.2} for when in late.tolist()])
    on_a_loop(run, "a", LOOP, ("dumps", f"/x/site-packages/{module}"))
    one_found = the(run, "slow-transfer")
    pickled = "protocol" in module
    assert one_found.title.startswith("Results of `produce` take long to pickle") == pickled
    assert ("iperf3" in one_found.advice) == (not pickled and hosts[0] != hosts[1])
    assert bool(found(run, "event-loop-lag")) == (not pickled)


@pytest.mark.parametrize(
    ("file", "function", "what"),
    [
        ("client", "Future.result", "results of other tasks"),
        ("client", "Client.gather", "results of other tasks"),
        ("actor", "ActorFuture.result", "calls of an actor"),
        ("queues", "Queue.get", "a `Queue`"),
        ("event", "Event.wait", "an `Event`"),
        ("variable", "Variable.get", "the value of a `Variable`"),
    ],
)
def test_who_waits_for_others_is_no_one_that_reads(file: str, function: str, what: str) -> None:
    run = in_files(
        waiting(), ("/here/work.py", "loop"), (f"/a/distributed/{file}.py", function), ("t.py", "f")
    )
    found = one(run, "held-up")
    assert found.title == f"`loop` waited for {what} in {words.share(1)} of its time, and held threads"
    assert not {"io-wait", "sleeping", "cold-start"} & {each.code for each in run.recording().findings()}


def test_who_calls_dask_otherwise_does_not_wait() -> None:
    run = in_files(waiting(), ("/here/work.py", "loop"), ("/a/distributed/client.py", "Client.submit"))
    assert told(run, "held-up") == [] and one(run, "io-wait")


@pytest.mark.parametrize(("away", "codes"), [(True, []), (False, ["held-up"])])
def test_who_gave_its_thread_back_before_it_waits_holds_none(away: bool, codes: list[str]) -> None:
    run = Run(a=TWO | {"threads": 1})
    for number in range(10):
        task = run.task("parent", "a", 2 * number, 2 * number + 2)
        if away:
            run.seceded(task, 2 * number + 0.5, 2 * number + 2)
    in_files(
        sampled_in(run, "x", "y"), ("/here/work.py", "parent"), ("/a/distributed/client.py", "Client.gather")
    )
    run.tables["samples"]["stack"] = np.tile([0, 1], 10)
    run.tables["samples"]["duration"] = np.tile(np.array([0.5, 1.5], "f4"), 10)
    assert [each.code for each in told(run, "held-up")] == codes


@pytest.mark.parametrize(
    ("file", "function", "says"),
    [
        ("client", "Future.result", "this does not end by itself"),
        ("event", "Event.wait", "does not end unless another program brings that"),
        ("actor", "ActorFuture.result", ""),
    ],
)
@pytest.mark.parametrize("seconds", [30, 3])
def test_threads_that_all_wait_for_what_no_task_brings(
    file: str, function: str, says: str, seconds: float
) -> None:
    run = Run(a=TWO)
    run.names = ["outer", "outer"]
    run.tables["samples"] = {
        **{"process": ["a", "a"], "thread": ["1", "2"], "time": [START + seconds] * 2},
        **{"duration": np.full(2, seconds, "f4"), "run": np.arange(2)},
    }
    run.tables["about"] = {"name": ["stopped"], "value": [str(START + seconds)]}
    run.tables["running"] = {
        **{"run": [0, 1], "task": [0, 1], "worker": ["a", "a"]},
        **{"thread": ["1", "2"], "start": [START, START]},
    }
    in_files(run, ("/here/work.py", "outer"), (f"/a/distributed/{file}.py", function))
    found = one(run, "held-up")
    stuck = seconds == 30 and says != ""
    assert (found.severity == "critical") == stuck
    assert found.title.startswith("All threads are held by `outer`") == stuck
    assert ("no task began or ended" in found.why) == stuck and (says in found.why or not stuck)
    # Who has left holds no thread.
    run.workers["b"] = TWO | {"left": 1.0}
    assert (one(run, "held-up").severity == "critical") == stuck
    run.workers["b"] = TWO
    assert one(run, "held-up").severity != "critical"


def short_chunks(key: str) -> Run:
    run = short_tasks(2000, 0.001, 0.004)
    ids = range(len(run.names))
    run.tables["graph"] = {"task": ids, "prefix": run.names, "key": [key.format(each) for each in ids]}
    return run


def test_short_chunks_are_to_be_larger_and_short_calls_to_be_put_together() -> None:
    chunks, calls = (one(short_chunks(key), "tiny-tasks").advice for key in ("('short-1', {})", "short-{}"))
    assert "rechunk" in chunks and "partition_all" not in chunks
    assert "partition_all" in calls and "rechunk" not in calls


def gathered(finalize: str) -> Recording:
    """Ten parts of one worker and ten of the other are put together on one, and brought to the client."""
    run, nbytes = Run(), 50e6
    parts = [run.task("part", "ab"[number % 2], number // 2, number // 2 + 1.0) for number in range(20)]
    run.task(finalize, "a", 14, 15, *parts, assigned=10, inputs=14)
    for attempt in run.attempts:
        attempt["nbytes"] = nbytes
    run.attempts[-1]["nbytes"] = 20 * nbytes
    run.tables["attempts"] = attempts_with_sizes(run)
    moves = [(number, "a", "b", "in", 10.0, 14.0, nbytes) for number in range(10)]
    moves.append((10, "a", "", "out", 15.0, 18.0, 20 * nbytes))
    names = ("transfer", "worker", "peer", "direction", "start", "stop", "nbytes")
    rows = [dict(zip(names, move, strict=True)) for move in moves]
    for row in rows:
        row["start"], row["stop"] = START + row["start"], START + row["stop"]
    recording = with_rows(run.recording(), "transfers", rows)
    carried = [{"transfer": number, "task": 2 * number + 1, "nbytes": nbytes} for number in range(10)]
    return with_rows(
        recording, "transferred", [*carried, {"transfer": 10, "task": 20, "nbytes": 20 * nbytes}]
    )


@pytest.mark.parametrize("finalize", ["finalize-hlgfinalizecompute", "repartitiontofewer"])
def test_what_is_put_together_for_the_client_goes_by_the_name_of_its_parts(finalize: str) -> None:
    codes = {each.code: each for each in gathered(finalize).findings()}
    assert "mostly of `part`" in codes["oversized-results"].title
    assert "transfer-bound" not in codes
    assert "transfer-bound" in {each.code for each in gathered("join").findings()}


def test_what_is_advised_where_much_is_moved_leaves_less_of_it() -> None:
    advice = next(each for each in gathered("join").findings() if each.code == "transfer-bound").advice
    frame = pd.DataFrame({"year": [2023, 2024], "key": [1, 2], "value": [3.0, 4.0], "text": ["five", "six"]})
    names = {"da": da, "np": np, "x": da.ones((40, 40)), "df": frame}
    for line in advice.splitlines():
        if line.startswith(("    x =", "    df =")):
            exec(line.strip(), names)
    assert names["x"].nbytes == 40 * 40 * 8 / 10
    assert names["df"].shape == (1, 2)


def local(run: Run) -> Run:
    """It on a local scheduler."""
    run.workers = {"local-1": run.workers["a"]}
    for attempt in run.attempts:
        attempt["worker"] = "local-1"
    for columns in run.tables.values():
        for name in ("process", "worker"):
            if name in columns:
                columns[name] = ["local-1"] * len(columns[name])
    return run


@pytest.mark.parametrize("lost", [(), ("start", "stop", "executing", "ended")])
def test_where_no_worker_ever_came_no_rule_fails(lost: tuple[str, ...]) -> None:
    run = Run()
    run.workers = {}
    run.task("parse", "", 0, 5, status="cancelled")
    run.attempts[0] |= dict.fromkeys(lost, NAN) | {"done": 5.0}
    assert run.recording().findings().failed == ()


def test_a_cluster_waits_for_data_beside_a_local_scheduler_that_does_not() -> None:
    run = Run(a=CLUSTER, b=CLUSTER, threads=CLUSTER)
    run.task("here", "threads", 0, 3)
    for number in range(4):
        made = run.task("make", "a", number, number + 1)
        run.task("use", "b", number + 2, number + 3, made, inputs=number + 2)
    run.tables["transfers"] = {
        **{"transfer": range(4), "worker": ["b"] * 4, "peer": ["a"] * 4, "direction": ["in"] * 4},
        **{"start": START + 1 + np.arange(4.0), "stop": START + 2 + np.arange(4.0), "nbytes": [1e9] * 4},
    }
    found = one(run, "transfer-bound")
    assert set(found.tasks) == {"make", "use"} and found.start == pytest.approx(1)


def with_gaps(number: int) -> Run:
    run = Run(a=TWO)
    for each in range(number + 1):
        run.task("step", "a", 5 * each, 5 * each + 2, submitted=5 * each)
    return run


@pytest.mark.parametrize(
    ("run", "code", "advice"),
    [
        (failing("erred"), "failed-tasks", "scheduler='sync'"),
        (with_gaps(1), "client-gap", "dask.delayed(summarize)"),
        (with_gaps(6), "client-gap", "dask.compute(*parts)"),
        (short_tasks(2000, 0.001, 0.004), "tiny-tasks", "dask.compute(*map(dask.delayed("),
    ],
)
def test_local_schedulers_have_no_client(run: Run, code: str, advice: str) -> None:
    there, here = (
        next(each for each in where.recording().findings() if each.code == code).advice
        for where in (copy.deepcopy(run), local(run))
    )
    assert "client." in there
    assert advice in here and "client." not in here


def test_local_schedulers_are_advised_of_what_they_have() -> None:
    waits = one(local(beside(0.02, late=0.0001, starved=0.0, use=4)), "io-wait").advice
    assert "num_workers=4" in waits and "LocalCluster" not in waits and "async" not in waits
    lock = one(local(beside(0.5, late=0.01, starved=0.02)), "gil-contention").advice
    assert "scheduler='processes'" in lock and "LocalCluster" not in lock


def test_more_tasks_than_threads_are_not_said_to_be_fewer() -> None:
    run = Run(a=TWO, b=TWO)
    for worker in "ab":
        for thread in "12":
            run.task("solve", worker, 0, 5, thread=thread)
        run.task("solve", worker, 5, 8, thread="1", assigned=0, inputs=0)
    title = one(run, "too-few-tasks").title
    assert "Only" not in title and title.startswith("Too few `solve` for 4 threads") and "4.5 at a" in title


def test_a_lock_that_no_task_waited_for_is_no_finding() -> None:
    """It is known how late the sampler was, but of no task how much of its time it had a CPU."""
    run = beside(NAN, late=0.01, starved=0.02)
    assert told(run, "gil-contention") == []


def test_what_killed_workers_is_not_to_be_run_in_the_clients_process() -> None:
    killed = failing("killed")
    killed.tables["errors"]["exception"] = ["KilledWorker('parse-3', …)"]
    deadly, raised = (
        next(each for each in run.recording().findings() if each.code == "failed-tasks").advice
        for run in (killed, failing("erred"))
    )
    assert "recreate_error_locally" not in deadly and "get_worker_logs" in deadly
    assert "recreate_error_locally" in raised


@pytest.mark.parametrize("activity", ["executor", "disk-write"])
def test_finding_out_sizes_is_writing_only_where_something_was_written(activity: str) -> None:
    run = Run(a=TWO)
    for number in range(10):
        run.task("piece", "a", number, number + 0.5, ended=number + 0.9)
    run.tables["phases"] = {
        "run": np.arange(10, dtype="u4"),
        "action": ["disk-write"] * 10,
        "start": START + np.arange(10) + 0.5,
        "stop": START + np.arange(10) + 0.9,
    }
    run.tables["metrics"] = {
        "worker": ["a"],
        "context": ["execute"],
        "prefix": ["piece"],
        "activity": [activity],
        "unit": ["seconds"],
        "value": [0.01],
        "time": [START + 10],
    }
    in_files(sampled_in(run, "f()"), ("/site-packages/dask/sizeof.py", "safe_sizeof"))
    found, kept = one(run, "slow-sizes"), activity == "executor"
    assert found.tasks == ("piece",)
    assert found.cost_thread_seconds == pytest.approx(9 if kept else 5, rel=0.01)
    parts = run.budget().groupby("part", observed=True)["seconds"].sum()
    assert parts.get("disk", 0.0) == pytest.approx(0 if kept else 4, abs=0.1)


def test_what_a_dump_does_not_tell_is_no_finding() -> None:
    """No gap is the client's where tasks are missing, and none carries data in a graph of unknown size."""
    run = Run(a=CLUSTER)
    for number in range(10):
        run.task("score", "a", 4 * number + 0.9, 4 * number + 1, submitted=4 * number, assigned=4 * number)
        row = run.attempts[-1]
        row["received"] = row["inputs"] = row["start"]
    assert told(run, "client-gap") and told(run, "large-graph")
    run.tables["about"] = {
        "name": ["started", "lacks"],
        "value": [str(START), json.dumps({"attempts": "Those of forgotten tasks are missing."})],
    }
    run.tables["submissions"] = {"submission": range(10), "time": START + 4.0 * np.arange(10)}
    assert told(run, "client-gap") == [] == told(run, "large-graph")
