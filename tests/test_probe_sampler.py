"""The statistical profiler: leaves, shares, bounds of tasks, budget, and taking frames without harm."""

from __future__ import annotations

import gc
import importlib.util
import math
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType
from typing import Any
from weakref import ref

import cloudpickle
import pytest
from conftest import wait_for

from dask_insight.probe import frames, sampler, stacks
from dask_insight.probe.gaps import Gaps
from dask_insight.probe.messages import packed_profile
from dask_insight.probe.pace import Pace
from dask_insight.probe.sampler import NOTHING, Sampler, _evenly, _in_ticks, _Thread
from dask_insight.probe.stacks import Stacks


def spin(seconds: float) -> None:
    """Compute in this very function, so that it is the leaf."""
    until = time.perf_counter() + seconds
    number = 0
    while number >= 0:
        number += 1
        if not number % 1000 and time.perf_counter() > until:
            return


def rest(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


class Work:
    """A thread that runs functions one after the other and tells a sampler when each ended."""

    def __init__(self) -> None:
        self.current: dict[int, int] = {}
        self.spans: dict[int, tuple[str, float, float]] = {}

    def run(self, sampler: Sampler, tasks: list[tuple[Callable[[float], None], float]]) -> None:
        ident = threading.get_ident()
        for run, (function, seconds) in enumerate(tasks):
            start = time.time()
            self.current[ident] = run
            function(seconds)
            del self.current[ident]
            stop = time.time()
            self.spans[run] = (function.__name__, start, stop)
            sampler.ended(run, start, stop, function.__name__, ident)

    def sampled(
        self, tasks: list[tuple[Callable[[float], None], float]], **options: Any
    ) -> tuple[dict[str, dict[str, Any]], dict[int, tuple[str, float, float]]]:
        """Run the tasks in a thread under a sampler; what it drained, and the spans."""
        sampler = Sampler(lambda: dict(self.current), str, 0.005, 0.5, **({"ends": True} | options))
        sampler.start()
        thread = threading.Thread(target=self.run, args=(sampler, tasks))
        thread.start()
        thread.join(60)
        drained = sampler.drain()
        sampler.stop()
        return drained, self.spans


def leaves(drained: dict[str, dict[str, Any]]) -> Counter[str]:
    """Sampled seconds by leaf function."""
    found: Counter[str] = Counter()
    for stack, duration in zip(drained["samples"]["stack"], drained["samples"]["duration"], strict=True):
        found[drained["frames"]["function"][stack]] += duration
    return found


@pytest.mark.parametrize("folder", ["/env/site-packages/", "C:\\env\\Lib\\site-packages\\"])
def test_a_stack_begins_above_its_base_on_every_system(folder: str) -> None:
    file = folder + ("distributed/worker.py" if folder[0] == "/" else "distributed\\worker.py")
    scope: dict[str, Any] = {}
    exec(compile("def run(task): return task()", file, "exec"), scope)
    stacks = Stacks("distributed/worker.py")
    stacks.node(stacks.path(scope["run"](lambda: sys._getframe())))
    assert stacks.take()["file"] == [__file__]


def test_a_function_that_comes_by_value_is_one_however_often_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stacks, "_PINNED", 50)

    def frame_of() -> FrameType:
        return sys._getframe()

    def sampled(functions: Iterable[Callable[[], FrameType]]) -> tuple[Stacks, int]:
        found = Stacks()
        for function in functions:
            found.node(found.path(function()))
        return found, len(found.take()["line"])

    codes: list[ref[CodeType]] = []

    def received() -> Iterator[Callable[[], FrameType]]:
        for _ in range(400):
            function = cloudpickle.loads(by_value)
            codes.append(ref(function.__code__))
            yield function

    by_value = cloudpickle.dumps(frame_of)
    (once, rows), (often, as_many) = sampled([frame_of] * 400), sampled(received())
    assert (as_many, len(often._places)) == (rows, len(once._places))
    gc.collect()
    assert sum(code() is not None for code in codes) <= 50, "code that has run is let go of"


def test_a_function_that_spins_is_the_leaf() -> None:
    drained, _ = Work().sampled([(spin, 0.5)])
    found = leaves(drained)
    assert found.most_common(1)[0][0] == "spin"
    assert found["spin"] > 0.8 * sum(found.values())
    lines = {
        line
        for line, function in zip(drained["frames"]["line"], drained["frames"]["function"], strict=True)
        if function == "spin"
    }
    first = spin.__code__.co_firstlineno
    assert lines <= set(range(first, first + 8)), "lines are those that ran"


def test_shares_follow_time_whatever_the_length_of_tasks() -> None:
    tasks = [(spin, 0.15), *[(rest, 0.001)] * 60, (spin, 0.15), *[(rest, 0.02)] * 8] * 2
    drained, spans = Work().sampled(tasks)
    true: Counter[str] = Counter()
    for name, start, stop in spans.values():
        true[name] += stop - start
    found = leaves(drained)
    share = found["spin"] / sum(found.values())
    assert abs(share - true["spin"] / sum(true.values())) < 0.05


def test_time_is_charged_to_the_task_that_took_it() -> None:
    drained, spans = Work().sampled([(spin, 0.1), (rest, 0.1)] * 4)
    by_run: Counter[int] = Counter()
    for run, duration in zip(drained["samples"]["run"], drained["samples"]["duration"], strict=True):
        by_run[run] += duration
    for run, (_, start, stop) in spans.items():
        assert by_run[run] == pytest.approx(stop - start, abs=0.03), run


def test_of_names_without_end_few_are_kept() -> None:
    sampler = Sampler(dict, str, 0.01, 0.02, ends=True)
    for run in range(50_000):
        sampler.ends.append((run, run, run + 1e-4, f"task-{run}", 1))
        sampler._like[f"other-{run}"] = ()
    sampler.drain()
    owed, like = list(sampler._owed), list(sampler._like)
    assert owed[-1] == "task-49999" and like[-1] == "other-49999" and max(len(owed), len(like)) <= 10_000
    assert sampler.dropped == 50_000 - len(owed), "time that belongs to no stack is told of"


def test_of_names_without_end_those_that_are_met_again_are_kept() -> None:
    sampler = Sampler(dict, str, 0.01, 0.02, ends=True)
    path = (1, 2)
    for number in range(12_000):
        sampler._like[f"task-{number}"] = ()
    sampler._left[7] = _Thread(1, 7, 1.0, 0.0, path)
    sampler.ends.append((7, 0.5, 1.5, "task-0", 1))
    sampler._settle_ends()
    sampler._settle_short()
    assert sampler._like["task-0"] == path and len(sampler._like) <= 10_000


@pytest.mark.parametrize("within", ["a round", "a drain"])
def test_a_drain_within_the_turn_of_another_waits_for_nothing(within: str) -> None:
    """Garbage that is found there may hold what ends a recording."""
    drained: list[dict[str, dict[str, Any]]] = []
    done = threading.Event()

    def drain() -> None:
        if not drained:
            drained.append({})
            drained.append(sampler.drain())
            done.set()

    def targets() -> dict[int, int]:
        if within == "a round":
            drain()
        return {main: 3}

    def name_of(ident: int) -> str:
        drain()
        return str(ident)

    main = threading.get_ident()
    sampler = Sampler(targets, name_of, 0.005, 0.5)
    sampler.start()
    try:
        last: Any = {"samples": {"run": ()}}

        def sampled() -> bool:
            nonlocal last
            if within == "a drain" or done.is_set():
                last = sampler.drain()
            return bool(len(last["samples"]["run"]))

        draining = threading.Thread(target=wait_for, args=(sampled, "samples"), daemon=True)
        draining.start()
        assert done.wait(30)
        draining.join(30)
        assert not draining.is_alive() and set(last["samples"]["run"]) == {3}
        nothing = drained[1]
        assert not any(len(values) for columns in nothing.values() for values in columns.values())
        assert packed_profile(nothing)["samples"].keys() == packed_profile(last)["samples"].keys()
    finally:
        sampler.stop()


def test_drains_stand_alone() -> None:
    work, drained = Work(), []
    sampler = Sampler(lambda: dict(work.current), str, 0.005, 0.5, ends=True)
    sampler.start()
    thread = threading.Thread(target=work.run, args=(sampler, [(spin, 0.4)]))
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
        drained.append(sampler.drain())
    drained.append(sampler.drain())
    sampler.stop()
    for one in drained:
        rows = len(one["frames"]["parent"])
        assert all(stack < rows for stack in one["samples"]["stack"])
        assert all(p == NOTHING or p < row for row, p in enumerate(one["frames"]["parent"]))
    ((_, start, stop),) = work.spans.values()
    total = sum(sum(one["samples"]["duration"]) for one in drained)
    assert total == pytest.approx(stop - start, abs=0.02)


def test_a_thread_that_another_one_sampled_is_weighed_from_when_it_came() -> None:
    now, threads = 100.0, dict[int, int]()
    sampler = Sampler(lambda: threads, str, 0.005, 0.5, clock=lambda: now)
    sampler._round(now)
    now += 0.6
    sampler.since = now
    threads[threading.get_ident()] = NOTHING
    now += 0.1
    sampler._round(now)
    assert sampler.drain()["samples"]["duration"].tolist() == pytest.approx([0.1])


def test_what_was_done_since_the_last_round_is_told_at_the_end() -> None:
    now = 100.0
    main = threading.get_ident()
    sampler = Sampler(lambda: {main: NOTHING}, str, 600.0, 0.5, clock=lambda: now)
    sampler.start()
    now += 0.15
    sampler.stop()
    assert sampler.drain()["samples"]["duration"].tolist() == pytest.approx([0.15])


def test_the_rate_follows_what_rounds_cost() -> None:
    aim, budget, now = 0.01, 0.05, 0.0
    pace = Pace(aim, budget, dozes=False)

    def looked(seconds: float, cpu: float, late: float) -> float:
        """Rounds for that long; the share of a core that they cost."""
        nonlocal now
        begun, cost = now, 0.0
        while now < begun + seconds:
            now += pace.wait()
            cost += pace.spent(cpu, late, now)
        return cost / (now - begun)

    looked(1, 2e-3, 2e-3)
    assert pace.interval == pytest.approx((2e-3 + 8e-4) / budget)
    assert looked(10, 2e-3, 2e-3) == pytest.approx(budget)
    looked(1, 2e-3, 0.0)
    assert pace.interval == pytest.approx((2e-3 + 3e-4) / budget), "a free GIL is cheaper"
    looked(1, 1e-5, 0.0)
    assert pace.interval == aim
    assert looked(10, 1e-5, 0.0) < budget


def test_a_sampler_keeps_to_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    now = cpu = 0.0

    class Halt:
        """A lock that is waited for 300 times, and what each of the rounds costs."""

        rounds = 0

        def acquire(self, timeout: float) -> bool:
            nonlocal now, cpu
            self.rounds += 1
            now, cpu = now + timeout, cpu + 2e-3
            return self.rounds > 300

    monkeypatch.setattr(sampler, "_SOONER", 0.0)
    monkeypatch.setattr(sampler, "perf_counter", lambda: now)
    monkeypatch.setattr(sampler, "thread_time", lambda: cpu)
    sampling = Sampler(dict, str, 0.01, 0.05, clock=lambda: now)
    sampling._halt = Halt()  # type: ignore[assignment]
    sampling._work()
    told = sampling.drain()["sampling"]
    assert told["interval"] == [pytest.approx((2e-3 + 3e-4) / 0.05)]
    assert told["cost"] == [pytest.approx(300 * (2e-3 + 3e-4))]
    assert told["cost"][0] < 0.05 * now


def test_what_stands_still_or_does_nothing_is_looked_at_less_often() -> None:
    pace = Pace(0.1, 0.5, dozes=False)
    naps = []
    for _ in range(6):
        naps.append(pace.wait())
        pace.looked(found=False, changed=False, lasts=False)
    assert naps == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])
    pace.looked(found=True, changed=True, lasts=False)
    assert pace.wait() == 0.1

    dozing = Pace(0.1, 0.5, dozes=True)
    for _ in range(100):
        dozing.looked(found=False, changed=True, lasts=False)
    assert dozing.wait() == pytest.approx(0.8, rel=0.01)
    dozing.looked(found=True, changed=True, lasts=True)
    assert dozing.wait() == 0.1


def test_old_pythons_take_frames_without_the_collector() -> None:
    take, _ = frames.policy((3, 11))
    assert take is frames.paused
    assert frames.policy((3, 12))[0] is sys._current_frames
    enabled = gc.isenabled()
    try:
        gc.disable()
        assert threading.get_ident() in frames.paused()
        assert not gc.isenabled(), "a collector that the person has switched off stays off"
        gc.enable()
        frames.paused()
        assert gc.isenabled()
    finally:
        (gc.enable if enabled else gc.disable)()


def test_two_copies_of_the_probe_never_switch_the_collector_on_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a process that has a cluster inside it: its own sampler, and the shipped one of the worker."""
    spec = importlib.util.spec_from_file_location("shipped_frames", frames.__file__)
    assert spec and spec.loader
    shipped = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shipped)
    take, collecting = sys._current_frames, list[bool]()

    def watched() -> dict[int, Any]:
        time.sleep(0.001)
        collecting.append(gc.isenabled())
        return take()

    monkeypatch.setattr(sys, "_current_frames", watched)

    def work(paused: Callable[[], object]) -> None:
        for _ in range(100):
            paused()

    threads = [threading.Thread(target=work, args=(copy.paused,)) for copy in (frames, shipped)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(collecting) == 200 and not any(collecting)
    assert gc.isenabled()


_STORM = """
import gc, sys, threading, time
from dask_insight.probe.frames import policy

gc.set_threshold(5, 2, 2)
take, _ = policy((3, 11))
stop = threading.Event()


class Cycle(threading.local):
    def __init__(self):
        self.me = self
        self.more = [[] for _ in range(20)]

    def __del__(self):
        time.sleep(0)


def churn():
    while not stop.is_set():
        for _ in range(50):
            Cycle()
        threading.Thread(target=Cycle).start()


threads = [threading.Thread(target=churn, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
until = time.monotonic() + 2
rounds = 0
while time.monotonic() < until:
    take()
    rounds += 1
    time.sleep(0.0005)
stop.set()
print(rounds)
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later Pythons do not collect while they take frames")
def test_taking_frames_does_not_deadlock_while_threads_collect() -> None:
    done = subprocess.run([sys.executable, "-c", _STORM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5


def test_without_the_gil_nothing_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    sampler = Sampler(dict, str, 0.01, 0.02)
    sampler.start()
    assert "GIL" in sampler.reason
    assert sampler.drain()["sampling"]["samples"] == [0]
    sampler.stop()


@pytest.mark.parametrize(
    ("wait", "until", "evenly"),
    [(0.16, 0.18, 0.18), (0.09, 0.18, 0.09), (0.1, 0.18, 0.09), (0.01, 0.18, 0.01), (0.4, 0.18, 0.18)],
)
def test_rounds_lead_evenly_to_what_is_done_beside_them(wait: float, until: float, evenly: float) -> None:
    """A wake-up a little later for that alone would stop all threads of the process once more."""
    assert _evenly(wait, until) == pytest.approx(evenly)


def test_waits_are_whole_ticks_where_a_system_has_such() -> None:
    assert [_in_ticks(wait, 1 / 64) for wait in (0.001, 0.01, 1 / 64, 0.02, 0.1)] == [
        ticks / 64 for ticks in (1, 1, 1, 2, 7)
    ]
    assert _in_ticks(0.02, 0.0) == 0.02


def test_what_windows_adds_to_a_wait_is_no_wait_for_the_gil(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    class Halt:
        """A lock whose waits end with a tick."""

        rounds = 0

        def acquire(self, timeout: float) -> bool:
            nonlocal now
            self.rounds += 1
            if self.rounds > 200:
                return True
            now = math.ceil((now + timeout) * 64) / 64 + 3e-4
            return False

    def beside(late: float) -> float:
        told.append(late)
        return now + 0.05

    told: list[float] = []
    monkeypatch.setattr(sampler, "_TICK", 1 / 64)
    monkeypatch.setattr(sampler, "_SOONER", 0.002)
    monkeypatch.setattr(sampler, "perf_counter", lambda: now)
    sampling = Sampler(dict, str, 0.01, 0.5, ends=True)
    sampling._halt, sampling.beside = Halt(), beside  # type: ignore[assignment]
    sampling._work()
    assert len(told) > 10 and max(told) < 1e-3
    assert sampling.drain()["sampling"]["asked"] == [pytest.approx(now, abs=1e-3)]


@pytest.mark.parametrize("begins", [True, False])
def test_an_interrupt_as_its_thread_begins_leaves_none_running(
    monkeypatch: pytest.MonkeyPatch, begins: bool
) -> None:
    made: list[threading.Thread] = []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        made.append(thread)
        if begins:
            start(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sampler.started(Gaps(), lambda: Sampler(dict, str, 60.0, 1.0))
    [thread] = made
    if not begins:
        # As one that has not come so far.
        start(thread)
        thread.join(10)
    assert not thread.is_alive()
