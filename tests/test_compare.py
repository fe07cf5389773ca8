"""What differs between runs, and whether that is more than noise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from graphs import START, Task, ran
from test_findings_moved import pooled
from test_time_budget import NAN, Run, clusters_in_turn

import dask_insight
from dask_insight import Comparison, compare, words
from dask_insight.analysis.compare import noise
from dask_insight.analysis.compare.findings import findings
from dask_insight.analysis.compare.measure import Finding
from dask_insight.analysis.compare.names import shape_of
from dask_insight.analysis.compare.stacks import place_of
from dask_insight.batch import encode
from dask_insight.frames import Gap
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING, TABLES


def run(
    seed: int = 0,
    *,
    work: float = 0.1,
    count: int = 80,
    threads: Sequence[int] = (1, 1),
    factor: float = 1.0,
    more: Sequence[Task] = (),
    cpu: Sequence[float] = (),
    name: str = "",
    **tables: Any,
) -> Recording:
    """A run of 20 `load`, so many `work` and 10 `sum`, whose tasks differ by some per cent."""
    random = np.random.default_rng(seed)

    def seconds(mean: float) -> float:
        return float(mean * factor * random.lognormal(0, 0.08))

    tasks = [
        *(Task("load", seconds(0.05)) for _ in range(20)),
        *(Task("work", seconds(work)) for _ in range(count)),
        *(Task("sum", seconds(0.02)) for _ in range(10)),
        *more,
    ]
    if name:
        tables["about"] = {"name": ["name"], "value": [json.dumps(name)]}
    made = ran(tasks, threads, **tables)
    if cpu:
        of_task = [
            dict(zip(("load", "work", "sum"), cpu, strict=True)).get(task.prefix, 0.0) for task in tasks
        ]
        rows = {"run": range(len(tasks)), "cpu": [random.lognormal(0, 0.01) * each for each in of_task]}
        made.append(encode("executions", rows))
    return made


def of_side(table: pd.DataFrame, side: int = 1) -> pd.DataFrame:
    """The rows of a side."""
    return table[table["side"] == side]


def row(comparison: Comparison, name: str, side: int = 1) -> Any:
    """What a comparison says of a task name."""
    table = comparison.names
    [found] = table[(table["side"] == side) & (table["name"] == name)].itertuples()
    return found


def test_the_name_that_takes_twice_as_long_stands_first() -> None:
    found = compare(run(1), run(2, work=0.2), names=["before", "after"])
    first = found.names.iloc[1]
    assert (first["name"], first["side"], first["verdict"]) == ("work", 1, "slower")
    assert first["mean"] == pytest.approx(0.2, rel=0.05)
    assert first["change"] == pytest.approx(0.1, rel=0.1) and first["noise"] < 0.05
    assert first["impact"] == pytest.approx(80 * 0.1 / 2, rel=0.1), "8 s more on two threads"
    assert (row(found, "load").verdict, row(found, "sum").verdict) == ("same", "same")
    assert of_side(found.sides)["verdict"].tolist() == ["slower"]
    assert "First of all `work` takes 2.0 times as long (+" in found.verdict()
    assert "after took" in found.verdict() and "estimated from within single runs" in found.verdict()
    assert found.slower(0.1) == ["after"] and found.slower(5.0) == []
    with pytest.raises(TypeError, match=r"limit='10%' is no number; give a share .* 0\.1 for 10 %"):
        found.slower("10%")  # type: ignore[arg-type]


def test_the_other_way_round_it_is_faster() -> None:
    found = compare(run(1, work=0.2), run(2))
    assert (found.names.iloc[1]["name"], found.names.iloc[1]["verdict"]) == ("work", "faster")
    assert found.slower() == [] and "less than" in found.verdict()


@pytest.mark.parametrize("seed", range(5))
def test_what_differs_by_chance_only_is_said_to_be_the_same(seed: int) -> None:
    found = compare(run(2 * seed), run(2 * seed + 1, factor=1.02))
    assert set(of_side(found.names)["verdict"]) == {"same"}
    assert set(of_side(found.budget)["verdict"]) == {"same"}
    sides = of_side(found.sides).iloc[0]
    assert sides["verdict"] == "same" and abs(sides["change"]) <= sides["noise"]
    assert "no difference beyond the noise" in found.verdict()
    assert found.slower() == []


def test_repeats_that_differ_much_make_the_noise_large() -> None:
    factors = (0.7, 1.0, 1.3)
    before = [run(each, factor=factor) for each, factor in enumerate(factors)]
    after = [run(10 + each, factor=1.25 * factor) for each, factor in enumerate(factors)]
    quiet = compare([run(each) for each in range(3)], [run(10 + each, factor=1.25) for each in range(3)])
    loud = compare(before, after)
    assert of_side(loud.sides)["verdict"].tolist() == ["same"]
    assert of_side(quiet.sides)["verdict"].tolist() == ["slower"]
    assert of_side(loud.sides)["source"].tolist() == ["runs"] and "from 3 and 3 runs" in loud.verdict()
    assert len(loud.runs) == 6 and loud.sides["runs"].tolist() == [3, 3]
    assert loud.runs["seconds"][:3].mean() == pytest.approx(loud.sides["seconds"][0])


def test_a_task_that_waits_for_its_own_without_a_thread_is_no_slower_with_them() -> None:
    def nested(inner: float) -> Recording:
        run = Run()
        for number in range(20):
            start = number * (inner + 0.2)
            parent = run.task("outer", "a", start, start + inner + 0.2)
            run.seceded(parent, start + 0.1, start + 0.1 + inner)
            run.task("inner", "b", start + 0.1, start + 0.1 + inner, submitted=start + 0.1)
        return run.recording()

    found = compare(nested(0.2), nested(0.6))
    outer, inner = row(found, "outer"), row(found, "inner")
    assert (outer.mean, inner.mean) == pytest.approx((0.2, 0.6))
    assert (outer.verdict, inner.verdict) == ("same", "slower")


def test_all_names_slower_alike_is_said_to_be_the_machine() -> None:
    before = [run(each, more=[Task("late", 0.5)] * 8) for each in range(3)]
    after = [run(9 + each, factor=1.6, more=[Task("late", 0.8)] * 8) for each in range(3)]
    assert "Nearly all tasks take 1.6 times as long, as on a slower or busier machine." in str(
        compare(before, after)
    )


def test_with_other_numbers_of_workers_work_and_wall_time_are_told_apart() -> None:
    found = compare(run(1), run(1, threads=(2, 2)), run(1, threads=(1, 1, 1)), names=["two", "four", "three"])
    assert found.sides["threads"].round().tolist() == [2, 4, 3]
    assert found.sides["verdict"].tolist() == ["baseline", "faster", "faster"]
    assert set(found.names.loc[found.names["side"] > 0, "verdict"]) == {"same"}
    assert found.names["impact"].abs().max() < 1e-5
    assert "four took" in found.verdict() and "on 4 threads instead of 2" in found.verdict()
    assert "Task functions took 9" in found.verdict() and "which kept the threads busy for" in found.verdict()
    assert found.sides["thread_seconds"].max() < 1.1 * found.sides["thread_seconds"].min()


def test_budgets_stand_beside_each_other_and_add_up_to_the_wall_times() -> None:
    found = compare(run(1), run(2, work=0.2), run(3, threads=(4,)))
    sums = found.budget.groupby("side")[["wall", "share", "seconds"]].sum()
    np.testing.assert_allclose(sums["wall"], found.sides["seconds"], rtol=1e-9)
    np.testing.assert_allclose(sums["share"], 1, rtol=1e-9)
    np.testing.assert_allclose(sums["seconds"], found.sides["thread_seconds"], rtol=1e-9)
    changes = found.budget.groupby("side")["change"].sum()[1:]
    np.testing.assert_allclose(changes, found.sides["change"][1:], rtol=1e-6)
    assert found.budget.iloc[0]["part"] == "compute"


def test_sides_can_stand_beside_each_other() -> None:
    found = compare(run(1), run(2, work=0.2), names=["before", "after"])
    wide = found.frame()
    assert wide.index[0] == "work" and len(wide) == 3
    assert wide["mean", "after"]["work"] == pytest.approx(2 * wide["mean", "before"]["work"], rel=0.1)
    budget = found.frame("budget")
    assert budget["wall", "after"].sum() == pytest.approx(found.sides["seconds"][1])
    assert budget.index[0] == ("computing", "compute") and found.frame("settings").empty
    assert list(found.frame("settings").columns) == [("value", "before"), ("value", "after")]
    with pytest.raises(ValueError, match="none of names, budget, settings"):
        found.frame("runs")


def test_names_that_came_and_went() -> None:
    found = compare(run(1, more=[Task("old", 3.0)]), run(2, more=[Task("new", 6.0), Task("new", 6.0)]))
    assert row(found, "old").verdict == "went" and row(found, "new").verdict == "came"
    assert row(found, "new").count == 2 and row(found, "new", 0).count == 0
    assert np.isnan(row(found, "old").mean) and np.isnan(row(found, "old").change)
    assert row(found, "old").impact == pytest.approx(-1.5)
    assert found.names["name"].iloc[0] == "new", "what costs most comes first"


def test_more_tasks_of_the_same_length() -> None:
    found = compare(run(1), run(2, count=160))
    assert row(found, "work").verdict == "more" and row(found, "load").verdict == "same"
    assert "`work` runs 160 times instead of 80" in found.verdict()
    assert row(compare(run(1), run(2, count=40)), "work").verdict == "fewer"


def test_more_tasks_are_no_reason_why_they_take_less_together() -> None:
    few = [Task("make", 0.1)] * 35 + [Task("make", 30.0)]
    found = compare(run(1, more=few), run(2, more=[Task("make", 0.1)] * 48))
    assert row(found, "make").verdict == "more" and row(found, "make").impact < 0
    assert "make" not in found.verdict()


def test_names_that_differ_by_a_token_stand_together_and_say_so() -> None:
    first = [Task(f"fit-{token}", 1.0) for token in ("a1b2c3d4", "b2c3d4e5")]
    second = [Task("fit-0f9e8d7c6b", 1.0), Task("step-2", 0.1)]
    found = compare(run(1, more=first), run(2, more=second))
    fit, before = row(found, "fit-…"), row(found, "fit-…", 0)
    assert (before.count, fit.count) == (2, 1)
    assert json.loads(before.names) == ["fit-a1b2c3d4", "fit-b2c3d4e5"]
    assert json.loads(fit.names) == ["fit-0f9e8d7c6b"]
    assert row(found, "step-2").verdict == "came"


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("sum", "sum"),
        ("step-2", "step-2"),
        ("read_parquet", "read_parquet"),
        ("defaced", "defaced"),
        ("lambda-0123456789abcdef", "lambda-…"),
        ("load_9f8e7d6c_part", "load_…_part"),
        ("<function f at 0x7f12ab34cd56>", "<function f at …>"),
        ("2f1a0c9e-1b2c-4d5e-8f90-123456789abc", "…-1b2c-4d5e-8f90-…"),
    ],
)
def test_what_looks_like_a_token(name: str, shape: str) -> None:
    assert shape_of(name) == shape


def test_cpu_time_tells_what_a_busy_machine_hides() -> None:
    noisy = [run(each, factor=factor, cpu=(0.02, 0.05, 0.01)) for each, factor in enumerate((0.6, 1, 1.5))]
    after = [run(9 + each, factor=factor, cpu=(0.02, 0.1, 0.01)) for each, factor in enumerate((0.6, 1, 1.5))]
    found = compare(noisy, after)
    first = found.names.iloc[1]
    assert (first["name"], first["verdict"]) == ("work", "costlier")
    assert first["cpu_change"] == pytest.approx(0.05, rel=0.1)
    assert first["impact"] == pytest.approx(80 * 0.05 / 2, rel=0.1)
    assert row(found, "load").verdict == "same"
    assert "But `work` takes 2.0 times as much CPU time" in found.verdict()
    assert row(compare(after, noisy), "work").verdict == "cheaper"


def _stacks(prefix: str, line: int, seconds: Sequence[float]) -> dict[str, Any]:
    """Stacks a → b and a → c, with samples in a, b and c."""
    files = [
        f"{prefix}/site-packages/lib/core.py",
        f"{prefix}/site-packages/lib/core.py",
        f"{prefix}/mine.py",
    ]
    end = START + 1
    return {
        "stacks": {
            "stack": [0, 1, 2],
            "parent": [NOTHING, 0, 0],
            "function": ["a", "b", "c"],
            "file": files,
            "line": [line] * 3,
            "first_line": [line] * 3,
        },
        "samples": {
            "process": ["w0"] * 3,
            "thread": ["0"] * 3,
            "time": [end] * 3,
            "duration": list(seconds),
            "stack": [0, 1, 2],
            "run": [0, 0, 0],
        },
    }


def test_call_stacks_of_all_runs_are_one_tree() -> None:
    before = run(1, **_stacks("/home/one/lib/python3.11", 10, (0.1, 0.2, 0.0)))
    again = run(2, **_stacks("/home/one/lib/python3.11", 10, (0.1, 0.4, 0.0)))
    after = run(3, **_stacks("/opt/two/lib/python3.12", 99, (0.1, 0.1, 0.5)))
    table = compare([before, again], after).stacks
    assert table["node"].nunique() == 3 and len(table) == 6
    wide = table.pivot(index="function", columns="side", values=["self", "total"])
    assert wide["self"].loc["b"].tolist() == pytest.approx([0.3, 0.1])
    assert wide["self"].loc["c"].tolist() == pytest.approx([0.0, 0.5])
    assert wide["total"].loc["a"].tolist() == pytest.approx([0.4, 0.7])
    roots = table[table["parent"] == NOTHING]
    assert set(roots["function"]) == {"a"}
    assert set(table.loc[table["function"] != "a", "parent"]) == set(roots["node"])
    assert set(table.loc[table["function"] == "b", "line"]) == {10}, "as the first side has it"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("/venv/lib/python3.12/site-packages/dask/core.py", "dask/core.py"),
        (r"C:\venv\Lib\site-packages\dask\core.py", "dask/core.py"),
        ("/usr/lib/python3.11/json/decoder.py", "json/decoder.py"),
        ("/usr/lib64/python3.11/json/decoder.py", "json/decoder.py"),
        (r"C:\Users\me\miniconda3\envs\dask\Lib\json\decoder.py", "json/decoder.py"),
        ("/tmp/ipykernel_812/3342.py", "cell"),
        (r"C:\Users\me\AppData\Local\Temp\ipykernel_812\3342.py", "cell"),
        ("<ipython-input-3-8a1b>", "cell"),
        ("In [5]", "cell"),
        ("<python-input-5>", "cell"),
        ("<stdin>", "cell"),
        ("/home/me/In [5]/train.py", "train.py"),
        ("/home/me/project/train.py", "train.py"),
        ("train.py", "train.py"),
        ("", ""),
    ],
)
def test_one_file_has_one_place_on_all_machines(file: str, place: str) -> None:
    assert place_of(file) == place


def test_memory_is_aligned_at_the_start() -> None:
    def memory(late: float, mib: float) -> dict[str, Any]:
        times = [START + late + each for each in (0.0, 0.0, 2.0, 2.5)]
        return {
            "memory": {
                "worker": ["w0", "w1", "w0", "w1"],
                "time": times,
                "process": [mib, 1.0, 3 * mib, np.nan],
                "managed": [1.0, 2.0, 3.0, 4.0],
            }
        }

    found = compare(run(1, **memory(0.0, 10.0)), run(2, **memory(1.0, 20.0)))
    before, after = (of_side(found.memory, side) for side in (0, 1))
    assert (before["time"].min(), after["time"].min()) == (0.0, 1.0)
    assert before["process"].iloc[0] == 11 and after["process"].iloc[-1] == 61
    assert after["managed"].iloc[-1] == 7 and after["spilled"].isna().all()
    assert found.sides["memory"].tolist() == [31, 61]
    assert "The most memory rose from 31" in found.notes()
    assert found.sides["memory_noise"].iloc[1] < 20


@pytest.mark.parametrize(
    ("pids", "namespaces", "most"), [([7, 7], [1, 1], 40), ([7, 8], [1, 1], 71), ([7, 7], [1, 2], 71)]
)
def test_memory_of_a_process_that_workers_share_counts_once(
    pids: list[int], namespaces: list[int], most: float
) -> None:
    workers = {"worker": ["w0", "w1"], "threads": [1, 1], "host": ["here"] * 2, "pid": pids}
    workers["namespace"] = namespaces
    times = [START, START, START + 2, START + 2.5]
    told = {"worker": ["w0", "w1"] * 2, "time": times, "process": [30.0, 31.0, 40.0, 31.0]}
    sides = compare(*(run(seed, workers=workers, memory=told) for seed in (1, 2))).sides
    assert sides["memory"].tolist() == [most] * 2


def test_memory_of_workers_that_left_is_given_back() -> None:
    """One after the other; the first of a process of its own, the second and the third of one."""
    workers = {"worker": ["w0", "w1", "w2"], "threads": [1] * 3, "pid": [1, 2, 2]}
    lives = {"joined": [START, START + 2, START + 2], "left": [START + 1, START + 3, np.nan]}
    told = {"worker": ["w0", "w1", "w2", "w2"], "time": START + np.array([0.5, 2, 2, 4])}
    sizes = {"process": [30.0, 40.0, 40.0, 41.0], "managed": [3.0, 4.0, 4.0, 1.0]}
    found = compare(*(run(seed, workers={**workers, **lives}, memory={**told, **sizes}) for seed in (1, 2)))
    assert found.sides["memory"].tolist() == [41] * 2
    of = of_side(found.memory, 0)
    assert of["process"].iloc[[0, -1]].tolist() == [30, 41]
    # Until the end w1's three bytes were there as well.
    assert of["managed"].max() == 8 and of["managed"].iloc[-1] == 4


def test_a_worker_that_takes_the_place_of_another_is_no_worker_more() -> None:
    lives = {"joined": [START, START + 6], "left": [START + 5, np.nan]}
    workers = {"worker": ["w0", "w1"], "threads": [1, 1], **lives}
    sides = compare(*[ran([Task("work", 1.0)] * 10, workers=workers)] * 2).sides
    assert sides["workers"].tolist() == [1, 1]


def test_a_peak_between_heartbeats_is_the_most_memory() -> None:
    times = START + np.array([0.5, 1.0, 1.5])
    told = {"worker": ["w0"], "time": times[:1], "process": [3e9], "managed": [1e9]}
    sampled = {"process": ["w0", "w0", "client"], "time": times, "memory": [3e9, 5e9, 9e9]}
    found = compare(*[run(seed, memory=told, resources=sampled) for seed in (1, 2)])
    assert found.sides["memory"].tolist() == [5e9] * 2
    assert of_side(found.memory, 0)["managed"].max() == 1e9


@pytest.mark.parametrize("idle", [0.0, 3600.0])
def test_a_peak_between_the_moments_that_are_drawn_is_the_most_memory(idle: float) -> None:
    lasted = run(1, count=8000).summary().duration
    times = np.arange(0, lasted + idle, 0.2)
    process = np.full(len(times), 1e9)
    process[(times > 3) & (times < 3.5)] = 8e9
    # What came after the run is none of it.
    process[times > lasted + 1] = 9e9
    told = {"worker": ["w0"] * len(times), "time": START + times, "process": process}
    found = compare(*(run(seed, count=8000, memory=told) for seed in (1, 2)))
    assert lasted > 300 and found.sides["memory"].tolist() == [8e9, 8e9]
    if not idle:
        assert of_side(found.memory, 0)["process"].max() == 8e9


def test_of_a_run_that_is_over_before_its_first_sample_that_is_the_most_memory() -> None:
    told = {"worker": ["w0", "w1"] * 2, "time": START + 1e4 + np.repeat([0.0, 1.0], 2)}
    sides = [run(seed, memory=told | {"process": np.array([3e9, 4e9, 9e9, 9e9])}) for seed in (1, 2)]
    assert compare(*sides).sides["memory"].tolist() == [7e9] * 2


def test_in_slices_a_name_takes_no_more_than_the_part_lasted() -> None:
    def part(seconds: int) -> Recording:
        tasks = [Task("long", float(seconds)), *[Task("work", 1.0)] * (seconds - 1)]
        return ran(tasks, [2]).slice(50, 60)

    found = compare(part(100), part(200))
    for side, whole in enumerate(found.sides["thread_seconds"]):
        names = of_side(found.names, side).set_index("name")
        assert names["seconds"].sum() == pytest.approx(whole)
        assert names.loc["long", "share"] == pytest.approx(0.5)
        # How long one takes is asked of whole attempts.
        assert names.loc["long", "mean"] == pytest.approx(100 * (side + 1))
    assert found.names["impact"].abs().max() < 1e-6


def test_that_cores_were_taken_is_told() -> None:
    def resources(starved: float) -> dict[str, Any]:
        # What was before the run, and what the scheduler waited, is none of the tasks' threads.
        times, process = [START - 1, START + 1, START + 2, START + 1], ["w0"] * 3 + ["scheduler"]
        return {"resources": {"process": process, "time": times, "starved": [99.0, starved, np.nan, 9.0]}}

    found = compare(run(1, **resources(0.1)), run(1, factor=1.3, **resources(2.1)))
    assert found.sides["starved"].tolist() == pytest.approx([0.1, 2.1])
    assert "A thread waited 1" in found.notes() and "longer for a free core, as on a busier" in found.notes()
    assert "free core" not in compare(run(1, **resources(0.1)), run(1, factor=1.3)).notes()


def test_only_settings_that_differ_are_told() -> None:
    def about(version: str, method: str | None) -> dict[str, Any]:
        facts = {
            "python": "3.12.1",
            "packages": {"dask": version, "numpy": "2.1"} | ({} if method else {"pyarrow": "18.0"}),
            "config": {"dataframe": {"shuffle": {"method": method}}, "array": {"chunk-size": "128MiB"}},
            "cluster": {"workers": 2} if method else {},
        }
        return {"about": {"name": list(facts), "value": [json.dumps(each) for each in facts.values()]}}

    before = [run(1, **about("2024.1", "p2p")), run(2, **about("2024.2", "p2p"))]
    found = compare(before, run(3, **about("2025.1", None))).settings
    told = {(each.kind, each.name, each.side): each.value for each in found.itertuples()}
    assert told == {
        ("version", "dask", 0): "2024.1 | 2024.2",
        ("version", "dask", 1): "2025.1",
        ("configuration", "dataframe.shuffle.method", 0): "p2p",
        ("configuration", "dataframe.shuffle.method", 1): "None",
        ("version", "pyarrow", 0): "",
        ("version", "pyarrow", 1): "18.0",
    }


class _Run:
    """A run of which the findings alone are known."""

    def __init__(self, *found: Finding) -> None:
        self.findings = list(found)


def test_findings_that_came_and_went() -> None:
    tiny = Finding("tiny-tasks", "warning", "tiny", ("inc", "add"), 2.0)
    tiny_now = Finding("tiny-tasks", "info", "tiny still", ("inc-0a1b2c3d", "inc"), 1.0)
    spill = Finding("spill", "critical", "spilled", (), 5.0)
    skew = Finding("straggler", "info", "one is late", ("fit",), float("nan"))
    other = Finding("straggler", "info", "another is late", ("sum",), 0.5)
    sides: Any = [[_Run(tiny, skew), _Run(tiny)], [_Run(spill, tiny_now, other)]]
    rows = findings(sides)
    told = list(zip(rows["code"], rows["state"], rows["runs_before"], rows["runs_after"], strict=True))
    assert told == [
        ("spill", "came", 0, 1),
        ("tiny-tasks", "stayed", 2, 1),
        ("straggler", "came", 0, 1),
        ("straggler", "went", 1, 0),
    ]
    assert (rows["cost_before"][1], rows["cost_after"][1], rows["title"][1]) == (2.0, 1.0, "tiny still")
    assert np.isnan(rows["cost_before"][0]) and json.loads(rows["tasks"][3]) == ["fit"]


def test_findings_of_recordings_are_compared() -> None:
    found = compare(run(1), run(1, more=[Task("work", 20.0)])).findings
    assert ("straggler", "came") in set(zip(found["code"], found["state"], strict=True))


def test_what_is_damaged_in_a_recording_does_not_stop_it() -> None:
    told = {"code": ["spill", "spill"], "severity": ["warning"] * 2, "title": ["x"] * 2, "tasks": ["[", "3"]}
    about = {"name": ["packages", "config", "cluster", "versions"], "value": ["[1]", "7", "nonsense", "null"]}
    found = compare(run(1, findings=told, about=about), run(2)).findings
    assert "spill" not in found["code"].tolist(), "it is worked out, whatever the file says"


def test_what_a_side_lost_is_told_in_every_form(tmp_path: Path) -> None:
    before, after = run(1), run(1)
    before.lost(Gap(40, 1_000, "its checksum is wrong"))
    before.tell("lost", "12 attempts were dropped before they could be sent")
    left_out = {
        "time": [START],
        "source": ["recorder"],
        "kind": ["lost"],
        "level": ["info"],
        "message": ["lines"],
    }
    after.append(encode("events", left_out))
    found = compare(before, after, names=["before", "after"])
    said = (
        "before is not whole: 1,000 bytes at byte 40 could not be read: "
        "its checksum is wrong; and 1 more loss."
    )
    assert found.notes() == said
    assert json.loads(found.to_json())["notes"] == said
    assert all(said in each for each in (str(found), found._repr_html_()))
    assert "before is not whole" in found.to_markdown()
    run(2).save(tmp_path / "after.dinsight")
    data = (tmp_path / "after.dinsight").read_bytes()
    (tmp_path / "after.dinsight").write_bytes(data[: len(data) * 2 // 3])
    found = compare([run(1), run(3)], [run(4), tmp_path / "after.dinsight"], names=["before", "after"])
    assert found.notes().startswith("after is not whole: ")


def test_tasks_that_failed_for_good_are_told() -> None:
    after = Run()
    after.task("work", "a", 0, 1)
    after.task("work", "a", 1, 2, status="erred")
    fatal = after.task("fatal", "a", 2, 3, status="killed")
    lost = after.task("lost", "a", 3, 4, status="killed")
    recording = after.recording()
    recording.append(encode("errors", {"run": [fatal], "task": [fatal], "exception": ["KilledWorker"]}))
    found = compare(run(1), recording, names=["before", "after"])
    assert lost != fatal and "2 tasks of after failed." in found.notes()
    assert found.broken() == {"after": "2 tasks of after failed"} == json.loads(found.to_json())["broken"]
    assert compare(recording, run(1)).broken() == {}


def test_a_page_tells_all_that_stands_out_on_each_side(tmp_path: Path) -> None:
    sides = [batch(), batch(asleep=600.0)]
    for number, side in enumerate(sides):
        side.tell("lost", f"{number}: {'rows ' * 50}were dropped")
    found = compare(*sides, names=["before", "after"])
    page = unescape(found.report(tmp_path / "page.html").read_text())
    before, after = found.sides["notes"]
    assert "Everything stood still" in after.partition("after is not whole: 1: rows")[0]
    assert all(f'<p class="notice">{note}</p>' in page for note in (before, after))


def test_a_run_in_which_nothing_ran() -> None:
    found = compare(Recording(), run(1), names=["nothing", "something"])
    assert found.sides["verdict"].tolist() == ["baseline", "unknown"]
    assert "no task ran in nothing" in found.verdict() and found.slower() == []
    both = compare(Recording(), Recording())
    assert "no task ran" in both.verdict() and len(both.names) == 0
    assert "Runs" in str(both) and both.to_markdown() and json.loads(both.to_json())["names"] == []


def test_files_are_opened_and_give_the_sides_their_names(tmp_path: Path) -> None:
    for number in (1, 2):
        run(number).save(tmp_path / f"main-{number}.dinsight")
    run(3, name="mine").save(tmp_path / "change.dinsight")
    repeats = [tmp_path / "main-1.dinsight", str(tmp_path / "main-2.dinsight")]
    found = compare(repeats, tmp_path / "change.dinsight", run(4, name="main"))
    assert found.sides["name"].tolist() == ["main", "change", "main (2)"]
    assert found.runs["file"].tolist()[2:] == [str(tmp_path / "change.dinsight"), ""]
    with pytest.raises(FileNotFoundError):
        compare(run(1), tmp_path / "nowhere.dinsight")


def test_a_comparison_is_a_recording_that_can_be_saved_and_opened(tmp_path: Path) -> None:
    found = compare(run(1), run(2, work=0.2), names=["before", "after"])
    found.save(tmp_path / "compared.dinsight")
    opened = dask_insight.open(tmp_path / "compared.dinsight")
    assert opened.summary().verdict() == found.verdict()
    again = Comparison(opened)
    assert again.verdict() == found.verdict() and str(again) == str(found)
    pd.testing.assert_frame_equal(again.names, found.names)
    with pytest.raises(ValueError, match="two runs or more"):
        compare(opened)


def test_its_report_says_it_without_scripts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.hosts import report

    monkeypatch.setattr(report, "asset", {"report.js": "", "report.css": ""}.__getitem__)
    found = compare(run(1), run(2, work=0.2), names=["before", "after"])
    html = found.report(tmp_path / "compared.html").read_text(encoding="utf-8")
    page, tables = html.split("<noscript>")
    assert (
        'First of all <code dir="auto">work</code> takes 2.0 times as long' in page
        and "before and after" in page
    )
    assert "Task names" in tables and "No task ended" not in html


def test_other_peoples_text_is_never_markup() -> None:
    evil = "<img src=x onerror=alert(1)>|`*[a](b)"
    found = compare(run(1, more=[Task(evil, 9.0)]), run(2), names=[evil, "after"])
    assert "<img" not in found._repr_html_() and "&lt;img" in found._repr_html_()
    body = found.to_markdown().split("-->")[1]
    assert "<img" not in body and "[a]" not in body
    assert "&#60;img" in body and "onerror=alert(1)&#62;&#124;" in body


def test_in_a_notebook_it_is_the_panel_and_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    from dask_insight.hosts.comparison import output
    from dask_insight.hosts.notebook import frame

    found = compare(run(1), run(2, work=0.2), names=["before", "<b>after"])
    assets = {"report.js": "1", "report.css": "", "style": "", "script": ""}
    monkeypatch.setattr(frame, "asset", assets.__getitem__)
    frame._front_end.cache_clear()
    shown = found._repr_mimebundle_()
    frame._front_end.cache_clear()
    assert "<iframe sandbox" in shown["text/html"] and found._repr_html_() == shown["text/html"]
    # Sanitisers leave out the frame alone, not what is in it.
    assert shown["text/html"].count("<details>") == 1
    assert "<b>after" not in shown["text/html"] and shown["text/plain"] == str(found)

    def missing(*_: Any) -> str:
        raise output.MissingFrontEnd("not built")

    monkeypatch.setattr(output, "frame", missing)
    assert found._repr_mimebundle_()["text/html"] == found._repr_html_()


def test_json_has_no_numbers_that_json_has_not() -> None:
    told = json.loads(compare(run(1), run(2, more=[Task("new", 1.0)])).to_json(), parse_constant=pytest.fail)
    tables = {"sides", "runs", "budget", "names", "findings", "settings"}
    assert set(told) == {"verdict", "notes", "slower", "broken"} | tables
    assert told["runs"][0]["started"].startswith("2025-")
    [new] = [each for each in told["names"] if each["name"] == "new" and each["side"] == 1]
    assert new["names"] == ["new"] and new["change"] is None and new["verdict"] == "came"


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "7", ""])
def test_names_in_a_file_may_be_no_list(text: str) -> None:
    found = compare(run(1), run(2))
    found.recording.append(encode("compared_names", {"side": [1], "name": ["odd"], "names": [text]}))
    assert json.loads(found.to_json())["names"][-1]["names"] == []


def test_every_column_is_described() -> None:
    found = compare(run(1), run(2))
    for name in ("sides", "runs", "budget", "names", "memory", "stacks", "findings", "settings"):
        doc = getattr(Comparison, name).__doc__
        columns = [column.name for column in TABLES[f"compared_{name}"].columns]
        assert list(getattr(found, name).columns) == columns
        assert all(f"    {column}" in doc for column in columns)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("run",), "two runs or more"),
        (("run", []), "a side has no runs"),
    ],
)
def test_too_few_runs_are_refused(given: Sequence[Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        compare(*(run(1) if each == "run" else each for each in given))


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(ValueError, match="is a comparison"):
        compare(compare(Recording(), Recording()).recording, Recording())
    with pytest.raises(TypeError, match="a int cannot be compared: give a Recording"):
        compare(run(1), [3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="does not name 2 sides"):
        compare(run(1), run(2), names=["one"])


def test_students_t_is_right() -> None:
    tables = {(4, noise.USUAL): 2.776, (8, noise.USUAL): 2.306, (30, noise.USUAL): 2.042}
    tables |= {(4, noise.MANY): 4.604, (8, noise.MANY): 3.355, (30, noise.MANY): 2.750}
    for (df, normal), wanted in tables.items():
        assert noise.student(df, normal) == pytest.approx(wanted, rel=0.015)


def test_of_runs_that_do_not_differ_hardly_any_are_told_to() -> None:
    random = np.random.default_rng(0)
    for before, after in ((1, 1), (2, 1), (3, 3), (8, 8)):
        alarms = 0
        for _ in range(400):
            walls = [random.lognormal(3, 0.025, (count, 1)) for count in (before, after)]
            seen = noise.repeats(walls)
            sd = noise.deviation(seen, noise.EXPECTED)
            means = (walls[0].mean(axis=0), walls[1].mean(axis=0))
            width = noise.width(sd, seen.df, (before, after), means)
            alarms += bool(abs(means[0] - means[1]) > width)
        assert alarms <= 0.08 * 400, (before, after)


def test_neighbours_that_are_alike_count_as_one_event() -> None:
    random = np.random.default_rng(0)
    order, group = np.arange(1000.0), np.zeros(1000, "i8")
    alone = random.normal(1, 0.1, 1000)
    phases = np.repeat(random.normal(1, 0.1, 10), 100)
    [error] = noise.batch_means(group, order, alone, 1)
    assert np.sqrt(error) == pytest.approx(0.1 / np.sqrt(1000), rel=0.6)
    [error] = noise.batch_means(group, order, phases, 1)
    assert np.sqrt(error) == pytest.approx(phases[::100].std(ddof=1) / np.sqrt(10), rel=1e-6)
    assert np.isnan(noise.batch_means(np.zeros(1, "i8"), order[:1], alone[:1], 1)).all()


def test_what_is_uneven_in_both_runs_is_no_noise() -> None:
    def uneven(seed: int, factor: float) -> Recording:
        random = np.random.default_rng(seed)
        seconds = [20.0, *[0.1] * 40, 5.0, *[0.1] * 40]
        tasks = [Task("fit", each * factor * random.lognormal(0, 0.02)) for each in seconds]
        return ran(tasks, (1,))

    slower = row(compare(uneven(1, 1.0), uneven(2, 1.4)), "fit")
    assert slower.verdict == "slower" and slower.change == pytest.approx(0.16, rel=0.1)
    assert row(compare(uneven(1, 1.0), uneven(2, 1.02)), "fit").verdict == "same"
    late = ran([Task("fit", 0.1)] * 81 + [Task("fit", 20.0)], (1,))
    assert row(compare(ran([Task("fit", 0.1)] * 82, (1,)), late), "fit").verdict == "same", "one of 82"


def test_what_busy_cores_cost_is_noise_unless_it_stands_out() -> None:
    def starved(seconds: float, *, seed: int = 1, factor: float = 1.0) -> Recording:
        told = {"process": ["w0"], "time": [START + 1], "starved": [seconds]}
        return run(seed, factor=factor, resources=told)

    alone = compare(starved(0.1), starved(3.1, factor=1.3))
    assert alone.sides["verdict"].tolist() == ["baseline", "same"]
    assert alone.sides["noise"].iloc[1] > 1.5, "3 s on two threads"
    assert "same" in set(alone.names["verdict"]) and "slower" not in set(alone.names["verdict"])
    before = [starved(0.1, seed=each) for each in range(3)]
    after = [starved(3.1, seed=9 + each, factor=1.3) for each in range(3)]
    assert compare(before, after).sides["verdict"].tolist() == ["baseline", "slower"], "comes with the change"


@pytest.mark.parametrize(("before", "after"), [(0.0299, 0.0218), (0.035, 0.162)])
def test_single_short_runs_differ_by_what_starting_takes(before: float, after: float) -> None:
    runs = [ran([Task("sum", seconds / 4)] * 8, (1, 1)) for seconds in (before, after)]
    compared = compare(*runs)
    assert compared.sides["verdict"].tolist() == ["baseline", "same"]
    assert compared.budget["verdict"].isin(["baseline", "same"]).all()


def test_a_short_run_that_takes_five_times_as_long_is_slower() -> None:
    runs = [ran([Task("sum", seconds / 4)] * 8, (1, 1)) for seconds in (0.2, 1.0)]
    assert compare(*runs).sides["verdict"].tolist() == ["baseline", "slower"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param(
            {"more": [Task("spin", 0.0)] * 10}, {"more": [Task("spin", 1.0)] * 10}, "s 1 s", id="time"
        ),
        pytest.param({"cpu": (0, 0, 0)}, {"cpu": (0, 0.09, 0)}, "ms CPU time", id="CPU time"),
    ],
)
def test_what_took_no_time_before_is_told_without_a_ratio(
    before: dict[str, Any], after: dict[str, Any], said: str
) -> None:
    told = compare(run(**before), run(**after)).verdict().replace(words.SPACE, " ")
    assert f"{said} instead of 0 s" in told


def batch(late: float = 0.0, asleep: float = 0.0) -> Recording:
    """Four workers of two threads that join late and then run ten tasks of 5 s each; a sleep after 22 s."""
    run = Run(**{f"w{each}": {"threads": 2, "joined": late or -1.0, "left": NAN} for each in range(4)})

    def moment(seconds: float) -> float:
        return seconds + (asleep if seconds > 22 else 0.0)

    for number in range(80):
        place, start = number % 8, late + number // 8 * 5.0
        worker, thread = f"w{place // 2}", str(place % 2)
        run.task("work", worker, moment(start), moment(start + 4.99), assigned=late, thread=thread)
    times = np.append(np.arange(0.0, 22.0, 0.5), moment(22.01) + np.arange(0.0, 28.0, 0.5))
    run.tables["resources"] = {
        "process": np.repeat(["w0", "w1", "w2", "w3"], len(times)).tolist(),
        "time": np.tile(START + late + times, 4),
        "cpu": np.tile(np.where(np.diff(times, prepend=0.0) > 2, 0.1, 99.0).astype("f4"), 4),
    }
    return run.recording()


def test_time_without_a_worker_is_told_and_no_want_of_threads() -> None:
    found = compare(batch(), batch(late=600.0), names=["before", "after"])
    said = found.verdict().replace(words.SPACE, " ")
    assert said.startswith("after took 10 min 50 s, 13 times as long as before")
    assert said.endswith("First of all it spent 10 min 00 s more without a worker.")
    after = of_side(found.budget).set_index("part")
    assert after["wall"]["no worker"] == pytest.approx(600, rel=0.01)
    assert after["wall"].sum() == pytest.approx(found.sides["seconds"].iloc[1], rel=1e-6)
    assert found.sides["threads"].tolist() == pytest.approx([8, 8], rel=0.01)
    assert [after["verdict"][part] for part in ("no worker", "compute")] == ["more", "same"]


def test_processes_that_take_longer_to_start_are_told_as_that() -> None:
    found = compare(pooled(1).recording(), pooled(1, starting=33).recording(), names=["before", "after"])
    said = found.verdict().replace(words.SPACE, " ")
    assert said.endswith("First of all it spent 30 s more starting processes and moving data between them.")
    after = of_side(found.budget).set_index("part")["wall"]
    assert after.to_dict() == pytest.approx({"processes": 34, "compute": 1})


def test_a_sleep_is_no_time_of_a_run_and_is_told() -> None:
    found = compare(batch(), batch(asleep=600.0), names=["before", "after"])
    before, after = found.sides.itertuples()
    assert after.verdict == "same" and after.seconds == pytest.approx(before.seconds, rel=0.02)
    assert after.threads == pytest.approx(8) and after.noise < before.seconds
    assert "thread" not in found.verdict()
    said = "Everything stood still for 10 min 01 s of after, which is not counted."
    assert found.notes().replace(words.SPACE, " ") == said
    assert row(found, "work").mean == pytest.approx(4.99, rel=0.02)


def test_a_local_scheduler_beside_clusters_hides_no_time_without_a_worker() -> None:
    run = clusters_in_turn(("here", 10, 14)).recording()
    found = compare(run, run)
    assert of_side(found.budget).set_index("part")["wall"]["no worker"] == pytest.approx(50)
    assert found.sides["threads"].tolist() == pytest.approx([2.16] * 2)


def test_a_sleep_within_a_task_is_no_time_off_the_cpu() -> None:
    run = Run(a={"threads": 1, "joined": -1.0, "left": NAN})
    run.task("work", "a", 0, 120, cpu=15.0)
    times = np.append(np.arange(0.0, 10.1, 0.2), np.arange(110.0, 121.0, 0.2))
    cpu = np.where(np.diff(times, prepend=0.0) > 2, 0.01, 60.0).astype("f4")
    run.tables["resources"] = {"process": ["a"] * len(times), "time": START + times, "cpu": cpu}
    found = compare(run.recording(), run.recording())
    wall = of_side(found.budget).set_index("part")["wall"]
    assert wall.to_dict() == pytest.approx({"cpu": 15, "off-cpu": 5})
    assert found.sides["threads"].tolist() == pytest.approx([1] * 2)
