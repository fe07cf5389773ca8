"""Computers that sleep while they compute: nothing that happened then is anybody's fault."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_figures import boxes_of
from test_findings_risks import with_rows
from test_time_budget import START, Run, parts

import dask_insight
from dask_insight import words
from dask_insight.analysis.findings import Facts
from dask_insight.analysis.time_budget import budget
from dask_insight.figures.panels import PANELS
from dask_insight.figures.ran import Ran
from dask_insight.figures.request import Request
from dask_insight.recording import Recording
from dask_insight.sources.local import epoch
from dask_insight.timeline import standstills

ALONE = {"threads": 1, "joined": -1.0, "left": math.nan}


def _samples(
    process: str, *gaps: tuple[float, float], last: float = 20.0, cpu: float = 1.0
) -> list[dict[str, object]]:
    """A sample each fifth of a second, but within gaps; the CPU that was used in these."""
    times = [time for time in np.arange(0.0, last, 0.2) if not any(a < time < b for a, b in gaps)]
    ends = {min(time for time in times if time >= stop) for _, stop in gaps}
    return [
        {"process": process, "time": START + time, "cpu": cpu if time in ends else 60.0} for time in times
    ]


def _run(*more: tuple[float, float]) -> Run:
    """Two workers run tasks of half a second; one of each takes from 4.5 to 15 s."""
    run = Run(a=ALONE, b=ALONE)
    for worker in "ab":
        for start in [*np.arange(0.0, 4.5, 0.5), *np.arange(15.0, 20.0, 0.5)]:
            run.task("piece", worker, start, start + 0.5)
        run.task("piece", worker, 4.5, 15.0)
    for start, stop in more:
        run.task("piece", "a", start, stop, thread="2")
    return run


def _slept(run: Run, *samples: list[dict[str, object]]) -> Recording:
    return with_rows(run.recording(), "resources", [row for rows in samples for row in rows])


SLEPT = (5.0, 14.9)


def test_a_sleep_without_a_thread_is_taken_off_once() -> None:
    run = Run(a=ALONE)
    run.seceded(run.task("parent", "a", 0, 100), 5, 95)
    recording = _slept(run, _samples("a", (20.0, 50.0), last=101.0, cpu=0.1))
    assert standstills(recording.columns).seconds == pytest.approx(30, abs=0.3)
    [row] = dask_insight.compare(recording, recording).names.iloc[:1].itertuples()
    assert row.seconds == pytest.approx(10)
    facts = Facts(recording.columns, START, budget(recording.columns))
    assert facts.length.tolist() == pytest.approx([10])
    assert recording.bounds().work == pytest.approx(10)


def test_all_processes_stand_still() -> None:
    samples = [_samples(name, (5.0 + late, 14.9 + late)) for late, name in enumerate(("a", "b"))]
    late = _samples("client", last=4.0)
    still = standstills(_slept(_run(), *samples, late).columns)
    assert (still.start - START).tolist() == [pytest.approx(6.0, abs=0.3)]
    assert (still.stop - START).tolist() == [pytest.approx(14.9, abs=0.3)]


@pytest.mark.parametrize(
    ("run", "samples"),
    [
        (_run(), [_samples("a", SLEPT), _samples("b", SLEPT), _samples("client")]),
        (_run(), [_samples("a", SLEPT, cpu=99.0), _samples("b", SLEPT, cpu=99.0)]),
        (_run((6.0, 9.0)), [_samples("a", SLEPT), _samples("b", SLEPT)]),
        (_run(), [_samples("a", (5.0, 6.5)), _samples("b", (5.0, 6.5))]),
        (_run(), [_samples(name)[::50] for name in "ab"]),
    ],
    ids=["one goes on", "they compute", "a task begins and ends", "short", "seldom sampled"],
)
def test_not_all_stand_still(run: Run, samples: list[list[dict[str, object]]]) -> None:
    recording = _slept(run, *samples)
    assert not len(standstills(recording.columns).start)
    assert "stood still" not in recording.summary().verdict()


def test_nothing_is_said_of_tasks_that_stood_still_with_all_the_rest() -> None:
    without = _run().recording().findings()
    assert "straggler" in {each.code for each in without}
    recording = _slept(_run(), _samples("a", SLEPT), _samples("b", SLEPT))
    found = {each.code: each for each in recording.findings()}
    assert "straggler" not in found
    told = found["stood-still"]
    assert told.severity == "info" and told.cost_seconds == pytest.approx(9.9, abs=0.3)
    assert (told.start, told.stop) == (pytest.approx(5.0, abs=0.3), pytest.approx(14.9, abs=0.3))
    verdict = recording.summary().verdict().replace(words.SPACE, " ")
    assert verdict.startswith("20 s on 2 threads, for 10 s of which everything stood still: 100 % computing")
    rows = recording.budget
    assert not ((rows["start"] < 14.0) & (rows["stop"] > 6.0)).any()
    assert recording.summary().computing == pytest.approx(2 * 20 - 2 * told.cost_seconds, abs=0.1)


def test_who_sums_tasks_up_leaves_out_what_stood_still() -> None:
    recording = _slept(_run(), _samples("a", SLEPT), _samples("b", SLEPT))
    computing = recording.summary().computing
    assert computing < 21
    assert recording.bottlenecks()["duration"].sum() == pytest.approx(computing)
    assert recording.bottlenecks()["max"].max() == pytest.approx(10.5 - 9.9, abs=0.3)
    ran = Ran(Request(recording))
    assert ran.seconds.sum() == ran.lasted.sum() == pytest.approx(computing)


def _slept_inside(run: Run, start: float, stop: float, last: float) -> Recording:
    return _slept(run, _samples("a", (start, stop), last=last, cpu=0.01))


def test_what_a_function_did_is_shared_out_among_the_time_awake() -> None:
    run = Run(a=ALONE)
    run.task("work", "a", 0, 120, cpu=15.0)
    table = _slept_inside(run, 10, 110, 121).time_budget()
    assert parts(table) == {"cpu": 15, "off-cpu": 5}
    assert table.attrs["threads"] == pytest.approx(1)


def test_what_came_before_a_function_is_shared_out_among_the_time_awake() -> None:
    run = Run(a=ALONE)
    run.task("work", "a", 31, 41, executing=0)
    run.phases = [{"run": 0, "action": "disk-read", "start": START + 2, "stop": START + 25}]
    assert parts(_slept_inside(run, 10, 20, 42).time_budget()) == {"disk": 13, "overhead": 8, "compute": 10}


def test_why_threads_were_idle_is_shared_out_among_the_time_awake() -> None:
    """From 5 to 8 s there was no task, then one that waited for the other thread until after the sleep."""
    run = Run(a=ALONE, b=ALONE)
    run.task("first", "a", 0, 5)
    run.task("first", "b", 0, 5)
    run.task("second", "a", 115, 120, submitted=8, ready=115)
    run.task("third", "b", 120, 122, submitted=112)
    samples = [_samples(name, (10, 110), last=123, cpu=0.01) for name in "ab"]
    table = _slept(run, *samples).time_budget(by="worker")
    assert parts(table[table.worker == "b"])["client"] == 3


def test_a_chain_takes_no_longer_than_the_run_was_awake() -> None:
    run = Run(a=ALONE | {"threads": 4})
    number = run.task("step", "a", 0, 10)
    for start in range(10, 40, 10):
        number = run.task("step", "a", start, start + 10, number)
    number = run.task("step", "a", 40, 110, number)
    for start in range(110, 160, 10):
        number = run.task("step", "a", start, start + 10, number)
    found = {each.code: each for each in _slept_inside(run, 45, 105, 161).findings()}["critical-path"]
    assert found.title.replace(words.SPACE, " ").endswith("takes 1 min 40 s of 1 min 40 s")
    assert {each.name: each.value for each in found.evidence}["share of the run"] == pytest.approx(1)


def test_an_outlier_held_up_the_run_no_longer_than_it_was_awake() -> None:
    run = Run(a=ALONE)
    for start in range(10):
        run.task("piece", "a", start, start + 1)
    run.task("piece", "a", 10, 75)
    recording = _slept_inside(run, 12, 72, 76)
    read = recording._answers.columns
    (found,) = Facts(read, START, budget(read)).outliers(3, 4)
    assert found.held_up == found.excess == pytest.approx(4)


def test_workers_are_busy_for_a_share_of_the_time_awake() -> None:
    run = Run(a=ALONE | {"threads": 2})
    run.task("piece", "a", 0, 120)
    recording = _slept_inside(run, 10, 110, 121)
    (plot,) = PANELS["workers"].chart(Request(recording)).plots
    (bars,) = boxes_of(plot)
    assert f"{words.share(0.5)} busy" in bars.beside[0]


def test_bounds_and_simulations_leave_out_what_stood_still() -> None:
    recording = _slept(_run(), _samples("a", SLEPT), _samples("b", SLEPT))
    bounds, awake = recording.bounds(), 20 - 9.9
    assert bounds.seconds == pytest.approx(awake, abs=0.3)
    assert bounds.work == pytest.approx(2 * awake, abs=0.5) and bounds.above == pytest.approx(1, abs=0.05)
    left_out = f" {words.duration(bounds.still)} in which everything stood still are left out."
    assert bounds.still == pytest.approx(9.9, abs=0.3) and bounds.verdict().endswith(left_out)
    told = recording.what_if(workers=1)
    assert told.recorded == pytest.approx(awake, abs=0.3) and told.error == pytest.approx(0, abs=0.05)
    assert told.seconds == pytest.approx(2 * awake, rel=0.05)
    assert any("everything stood still" in note for note in told.notes)


@pytest.mark.parametrize(("cpu", "told"), [(5.0, False), (0.2, True)])
@pytest.mark.parametrize("own", [True, False])
def test_a_single_process_may_have_held_its_interpreters_lock(cpu: float, told: bool, own: bool) -> None:
    """A call of C that reads: nothing is sampled, and the CPU is used for more than one interval's worth."""
    name = "a" if own else "threads"
    run = Run(**{name: ALONE})
    run.task("read", name, 4.5, 15.0)
    for start in [*np.arange(0.0, 4.5, 0.5), *np.arange(15.0, 20.0, 0.5)]:
        run.task("piece", name, start, start + 0.5)
    if own:
        run.tables["workers"] = {"worker": ["a"], "threads": [1], "joined": [START - 1], "own": [1]}
    heads = [_samples(each, SLEPT, cpu=cpu) for each in ("client", "scheduler") if own]
    still = standstills(_slept(run, _samples(name, SLEPT, cpu=cpu), *heads).columns)
    assert bool(len(still.start)) is told


class _Clocks:
    """The time of day, and a clock that stands still while the computer sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.awake, self.slept = 100.0, 0.0
        monkeypatch.setattr(epoch, "perf_counter", lambda: self.awake)
        monkeypatch.setattr(epoch, "time", lambda: START + self.awake + self.slept)


def test_moments_of_local_schedulers_are_those_of_the_day_after_a_sleep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clocks = _Clocks(monkeypatch)
    made = epoch.Epoch()
    for _ in range(3):
        clocks.awake += 0.5
        made.look()
    begin, clocks.slept = clocks.awake, 3600.0
    clocks.awake += 0.5
    made.look()
    end = clocks.awake
    assert (made.of([begin, math.nan, end, end + 7]) - START)[[0, 2, 3]].tolist() == pytest.approx(
        [begin + 3600, end + 3600, end + 3607]
    )
    assert (made.of([begin - 0.1]) - START).tolist() == pytest.approx([begin - 0.1])
    ahead = START + 3600
    assert made.of([end])[0] - end == pytest.approx(ahead)
    clocks.slept += 0.2
    made.look()
    assert made.of([end])[0] - end == pytest.approx(ahead), "clocks that are set a little change nothing"
    clocks.slept -= 7200.0
    made.look()
    assert made.of([end])[0] - end == pytest.approx(ahead), "clocks that are set back would turn tasks round"


_PROGRAM = """\
import itertools, time
import dask
import dask_insight

naps = itertools.count()

def nap(number):
    # Dask begins with whichever it likes: the number says nothing of when.
    if next(naps) == 15:
        print("under way", flush=True)
    time.sleep(0.2)
    return number

with dask_insight.record("run.dinsight", resources=0.1) as run:
    dask.compute(*[dask.delayed(nap)(number) for number in range(30)], scheduler="threads", num_workers=2)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system does not stop processes")
def test_a_program_that_is_stopped_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM)
    program = subprocess.Popen(
        [sys.executable, "program.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "under way\n"
    program.send_signal(signal.SIGSTOP)
    os.waitpid(program.pid, os.WUNTRACED)
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(4.0)
    program.send_signal(signal.SIGCONT)
    program.communicate(timeout=60)
    run = dask_insight.open(tmp_path / "run.dinsight")
    assert run.tasks["duration"].max() > 3.0
    found = {each.code: each for each in run.findings()}
    assert 3.0 < found["stood-still"].cost_seconds < 10.0
    assert "straggler" not in found
    assert "of which everything stood still" in run.summary().verdict()
