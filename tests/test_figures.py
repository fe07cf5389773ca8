"""Figures and pictures of panels: what they say adds up, is bounded, is legible, and runs nothing."""

from __future__ import annotations

import inspect
import io
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_findings_moved import pooled
from test_findings_time import beside as beside_another
from test_time_budget import CLUSTER, START, Run

import dask_insight
from dask_insight import figures, words
from dask_insight.batch import Symbols, encode
from dask_insight.errors import ExitCode
from dask_insight.exports import FORMATS
from dask_insight.figures.bokeh_figure import figure_of
from dask_insight.figures.chart import Area, Boxes, Chart, Line, Plot, Rows
from dask_insight.figures.colors import reserved
from dask_insight.figures.panels import PANELS, PART
from dask_insight.figures.panels.activities import activity_words
from dask_insight.figures.panels.series import series
from dask_insight.figures.panels.time_budget import part_words
from dask_insight.figures.picture import PngPen, SvgPen, fonts
from dask_insight.figures.pictures import OVERVIEW, Picture
from dask_insight.figures.ran import Pieces, Ran, natural
from dask_insight.figures.request import Request
from dask_insight.figures.texts import cut, fitted, lines, width
from dask_insight.figures.ticks import amount_ticks, time_ticks
from dask_insight.hosts.cli import main
from dask_insight.hosts.cli.info import describe
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"
HOSTILE = [
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "$$\\frac{a}{b}$$",
    "$$$x$$$",
    "\\(x\\) \\[y\\]",
    "\u202etxet",
    "\x00\x1b[31m",
    "@fact0 @{fact1}{safe} $index",
    "]]>&amp;&#x3c;",
    "\ud800",
    "日本語のタスク名前",
    "a" * 300,
]
EVERY = sorted(PANELS)


@pytest.fixture(scope="module")
def golden() -> Recording:
    return dask_insight.open(GOLDEN)


def made(tasks: int, lanes: int = 8, names: int = 5, seed: int = 0, spans: int = 0) -> Recording:
    """Tasks of random lengths one after the other in lanes, some of which failed."""
    random = np.random.default_rng(seed)
    lane = np.arange(tasks) % lanes
    length = random.exponential(1.0, tasks)
    stop = np.zeros(tasks)
    for each in range(lanes):
        stop[lane == each] = np.cumsum(length[lane == each] * 1.25)
    status = np.where(random.random(tasks) < 0.002, 1, 0)
    run = Recording()
    ids = np.arange(tasks, dtype="u4")
    name = Symbols(random.integers(0, names, tasks).astype("u4"), [f"name-{each}" for each in range(names)])
    graph: dict[str, Any] = {"task": ids, "prefix": name, "key": [f"key-{each}" for each in range(tasks)]}
    if spans:
        known = [f"span-{each}" for each in range(spans)]
        graph["span"] = Symbols(ids % spans, known)
        run.append(encode("spans", {"span": known, "path": [f"path / {each}" for each in known]}))
    run.append(encode("graph", graph))
    columns = {
        "run": ids,
        "task": ids,
        "worker": Symbols((lane // 2).astype("u4"), [f"tcp://w:{each}" for each in range(lanes // 2)]),
        "thread": Symbols((lane % 2).astype("u4"), ["1", "2"]),
        "status": Symbols(status.astype("u4"), ["ok", "erred"]),
        "start": START + stop - length,
        "stop": START + stop,
        "done": START + stop,
    }
    run.append(encode("attempts", columns))
    return run


def hostile() -> Recording:
    """Every text of it wants to be something else."""
    run, count = Recording(), len(HOSTILE)
    ids = list(range(count))
    moment = [START + each for each in ids]
    later = [START + each + 0.8 for each in ids]
    worker = [HOSTILE[each % 3] for each in ids]
    run.append(encode("about", {"name": ["name"], "value": [json.dumps(HOSTILE[0])]}))
    run.append(encode("graph", {"task": ids, "prefix": HOSTILE, "key": [name * 3 for name in HOSTILE]}))
    attempts = {
        "run": ids,
        "task": ids,
        "worker": worker,
        "thread": ["1"] * count,
        "start": moment,
        "stop": later,
    }
    run.append(encode("attempts", {**attempts, "status": ["ok"] * (count - 1) + ["erred"], "done": later}))
    run.append(encode("workers", {"worker": HOSTILE[:3], "name": HOSTILE[:3], "threads": [1] * 3}))
    run.append(
        encode(
            "stacks", {"stack": ids, "parent": [0xFFFF_FFFF] * count, "function": HOSTILE, "file": HOSTILE}
        )
    )
    samples = {"process": worker, "thread": ["1"] * count, "time": later, "duration": [0.5] * count}
    run.append(encode("samples", {**samples, "stack": ids, "run": ids}))
    metrics = {"time": later, "worker": worker, "context": ["execute"] * count, "prefix": HOSTILE}
    run.append(
        encode(
            "metrics", {**metrics, "activity": HOSTILE, "unit": ["seconds"] * count, "value": [1.0] * count}
        )
    )
    run.append(encode("resources", {"process": worker, "time": later, "cpu": [50.0] * count}))
    run.append(encode("memory", {"worker": worker, "time": later, "managed": [1e9] * count}))
    run.append(encode("spans", {"span": ["s"], "name": [HOSTILE[0]], "path": [HOSTILE[0]]}))
    return run


def chart_of(run: Recording, panel: str, **asked: Any) -> Chart:
    return PANELS[panel].chart(Request(run, **asked))


def boxes_of(plot: Plot) -> list[Boxes]:
    return [mark for mark in plot.marks if isinstance(mark, Boxes)]


# What is drawn adds up to what the tables say.


def test_tasks_are_as_long_as_the_table_says(golden: Recording) -> None:
    request = Request(golden)
    ran = Ran(request)
    tasks = golden.tasks[np.isfinite(golden.tasks["duration"])]
    wanted = tasks.groupby(tasks["prefix"].astype(str))["duration"].sum()
    ended = ~ran.running
    got = np.bincount(ran.name[ended], (ran.stop - ran.start)[ended], len(ran.names))
    assert {name: got[ran.names.index(name)] for name in wanted.index} == pytest.approx(
        dict(wanted), abs=1e-4
    )
    (plot,) = chart_of(golden, "task-stream").plots
    tasks_drawn, failures = boxes_of(plot)[0], boxes_of(plot)[-1]
    drawn = (tasks_drawn.right - tasks_drawn.left).sum() + (failures.right - failures.left).sum()
    assert drawn == pytest.approx((ran.stop - ran.start).sum())
    assert len(failures.left) == (tasks["status"].isin(["erred", "retried", "killed"])).sum()


def test_functions_and_workers_add_up_alike(golden: Recording) -> None:
    whole = Ran(Request(golden)).seconds.sum()
    for panel in ("functions", "workers"):
        (plot,) = chart_of(golden, panel).plots
        (bars,) = boxes_of(plot)
        assert (bars.right - bars.left).sum() == pytest.approx(whole)


def test_the_mean_of_a_function_is_that_of_whole_durations() -> None:
    run = Run()
    run.task("load", "a", 0.0, 10.0)
    (plot,) = chart_of(run.recording(), "functions", start=9.0, stop=11.0).plots
    (bars,) = boxes_of(plot)
    assert bars.right.tolist() == pytest.approx([1.0])
    assert "mean 10" in bars.beside[0]


def test_time_without_a_thread_is_none_of_a_figure() -> None:
    run = Run(a={**CLUSTER, "threads": 2})
    parent = run.task("parent", "a", 0, 10)
    run.seceded(parent, 1, 9)
    run.task("child", "a", 1, 9, thread="2", submitted=1)
    recording = run.recording()
    (bars,) = boxes_of(chart_of(recording, "functions").plots[0])
    assert (bars.facts()["Name"], bars.right.tolist()) == (["child", "parent"], pytest.approx([8, 2]))
    assert f"mean {words.duration(2)}" in bars.beside[1]
    (bars,) = boxes_of(chart_of(recording, "functions", start=8, stop=9.5).plots[0])
    assert bars.right.tolist() == pytest.approx([1, 0.5])
    (bars,) = boxes_of(chart_of(recording, "workers").plots[0])
    assert bars.right.tolist() == pytest.approx([10]) and f"{words.share(0.5)} busy" in bars.beside[0]


def test_workers_are_busy_for_a_share_of_the_time_of_the_tasks() -> None:
    """Not of what is shown around it; of all that is asked for."""
    run = Run(a=CLUSTER)
    run.task("load", "a", 10, 20, submitted=10)
    run.tables["resources"] = {"process": ["a"], "time": np.array([START + 21.0])}
    recording = run.recording()
    for asked, busy in (({}, 1.0), ({"start": 0, "stop": 20}, 0.5)):
        (bars,) = boxes_of(chart_of(recording, "workers", **asked).plots[0])
        assert f"{words.share(busy)} busy" in bars.beside[0]


def test_what_is_shown_is_the_time_of_the_tasks() -> None:
    """And what lies around them where that is little; reports open there too."""
    long = Run()
    long.task("load", "a", 60.5, 92.0, submitted=60.0)
    long.tables["resources"] = {"process": ["a"], "time": np.array([START + 100.0])}
    recording = long.recording()
    zero = recording.started - START
    assert Request(recording).between == pytest.approx((59.0 - zero, 93.0 - zero))
    assert Request(recording, start=0.0).between[0] == 0.0
    short = Run()
    short.task("load", "a", 1.0, 98.0, submitted=0.5)
    short.tables["resources"] = {"process": ["a"], "time": np.array([START + 100.0])}
    recording = short.recording()
    assert Request(recording).between == pytest.approx((0.0, 100.0 - recording.started + START))


def test_the_time_budget_is_whole(golden: Recording) -> None:
    bar, over = chart_of(golden, "time-budget").plots
    (parts,) = boxes_of(bar)
    assert parts.right[-1] == pytest.approx(100)
    areas = [mark for mark in over.marks if isinstance(mark, Area)]
    drawn = sum(float(((area.high - area.low) * np.diff(area.edges)).sum()) for area in areas)
    assert drawn == pytest.approx(golden.time_budget()["seconds"].sum())


def test_processes_of_a_local_scheduler_wait_for_no_other_workers() -> None:
    starting, others = words.IDLE["processes"], words.IDLE["data"]
    run = pooled(1)
    for beside, told in ((False, {starting}), (True, {starting, others})):
        if beside:
            run.workers["tcp://w"] = CLUSTER
            run.task("load", "tcp://w", 3, 4, assigned=0, inputs=3)
        labels = [sign.label for sign in chart_of(run.recording(), "time-budget").signs]
        assert {each for each in (starting, others) for label in labels if label.startswith(each)} == told


def test_the_critical_path_is_as_long_as_the_run(golden: Recording) -> None:
    strip, names = chart_of(golden, "critical-path").plots
    # Of its two clusters, that with most work.
    whole = golden.critical_path(cluster="")["seconds"].sum()
    for plot in (strip, names):
        (boxes,) = boxes_of(plot)
        assert (boxes.right - boxes.left).sum() == pytest.approx(whole)


def test_the_critical_path_of_a_part_is_no_longer_than_that(golden: Recording) -> None:
    path = golden.critical_path(cluster="")
    longest = path.loc[path["seconds"].idxmax()]
    start, stop = longest["start"] + longest["seconds"] / 4, longest["stop"] + longest["seconds"] / 4
    for plot in chart_of(golden, "critical-path", start=start, stop=stop).plots:
        (boxes,) = boxes_of(plot)
        assert 0 < (boxes.right - boxes.left).sum() <= (stop - start) * (1 + 1e-9)


def test_times_that_would_be_are_those_of_the_table(golden: Recording) -> None:
    (plot,) = chart_of(golden, "what-if").plots
    (boxes,) = boxes_of(plot)
    told = golden.answer("what_if")
    columns = ("seconds", "low", "high", "question", "cluster")
    rows = zip(*(told[name].tolist() for name in columns), strict=True)
    times = [
        high if high > low else seconds
        for seconds, low, high, question, cluster in rows
        if question not in ("calibration", "note", "gap") and cluster == told["cluster"].tolist()[0]
    ]
    ends = {int(top): right for top, right in zip(boxes.top, boxes.right, strict=True)}
    assert [ends[row] for row in sorted(ends)] == pytest.approx(times)


def test_panels_are_known_by_the_names_of_their_functions(golden: Recording) -> None:
    for name in ("task_stream", "Task stream"):
        assert figures.svg(golden, name) == figures.svg(golden, "task-stream")
    with pytest.raises(TypeError, match=r"takes what dask_insight.compare gives, not a list"):
        figures.compare([golden, golden])
    with pytest.raises(TypeError, match=r"task_stream\(\) takes a Recording, not a str"):
        figures.task_stream("run.dinsight")


def test_frames_stand_under_what_called_them(golden: Recording) -> None:
    tree = golden.flame()
    (plot,) = chart_of(golden, "flame-graph").plots
    (boxes,) = boxes_of(plot)
    depth = np.floor(boxes.top).astype(int)
    assert (boxes.right - boxes.left)[depth == 0].sum() == pytest.approx(
        tree.loc[tree["depth"] == 0, "total"].sum()
    )
    for each in np.flatnonzero(depth > 0):
        above = depth == depth[each] - 1
        inside = (boxes.left[above] <= boxes.left[each] + 1e-9) & (
            boxes.right[above] >= boxes.right[each] - 1e-9
        )
        assert inside.sum() == 1


def test_a_flame_graph_may_be_of_several_names(golden: Recording, tmp_path: Path) -> None:
    names = [name for name in golden.columns("graph")["prefix"].names if len(golden.flame(prefix=name))][:2]
    (plot,) = chart_of(golden, "flame-graph", prefix=names).plots
    (boxes,) = boxes_of(plot)
    tree = golden.flame(prefix=names)
    assert boxes.right.max() == pytest.approx(tree.loc[tree["depth"] == 0, "total"].sum())
    assert len(names) == 2 and figures.flame_graph(golden, prefix=names, worker=None)
    folder = golden.export(tmp_path / "all", "svg", panel="all", prefix=names)
    assert (folder / "flame-graph.svg").exists()


def test_spans_are_as_long_as_their_tasks() -> None:
    run = made(tasks=3_000, lanes=4, spans=1_500)
    chart = chart_of(run, "spans")
    (boxes,) = boxes_of(chart.plots[0])
    wanted = run.tasks.groupby(run.tasks["task"] % 1_500).agg(
        {"start": "min", "stop": "max", "duration": "sum"}
    )
    wanted = wanted.sort_values("start").head(40)
    np.testing.assert_allclose(boxes.left, wanted["start"], atol=1e-5)
    np.testing.assert_allclose(boxes.right, wanted["stop"], atol=1e-5)
    assert list(boxes.inside) == [words.duration(each) for each in wanted["duration"]]
    assert chart.note == "the first 40 of 1,500"


def test_a_span_has_what_ran_in_the_spans_inside_it() -> None:
    run = Run(a=CLUSTER)
    run.task("load", "a", 0, 1)
    run.task("fit", "a", 2, 5)
    run.tables["graph"] = {"task": [0, 1], "prefix": ["load", "fit"], "span": ["first", "second"]}
    told = {"span": ["second", "first", "all"], "parent": ["all", "all", ""]}
    run.tables["spans"] = told | {"path": ["all / second", "all / first", "all"]}
    (boxes,) = boxes_of(chart_of(run.recording(), "spans").plots[0])
    assert boxes.facts()["Span"] == ["all", "all / first", "all / second"]
    assert boxes.facts()["Tasks"] == ["2", "1", "1"]
    assert list(boxes.inside) == [words.duration(each) for each in (4, 1, 3)]
    assert (boxes.left.tolist(), boxes.right.tolist()) == ([0, 0, 2], [5, 1, 5])
    run.tables["spans"] |= {"parent": ["first", "second", ""]}
    (boxes,) = boxes_of(chart_of(run.recording(), "spans").plots[0])
    assert boxes.facts()["Tasks"] == ["1", "1"], "a circle"


def test_spans_deep_inside_one_another_are_summed_once_each() -> None:
    """Not each up to the outermost: a damaged file may hold a chain of thousands."""
    run = made(tasks=6_000, spans=6_000)
    known = [f"span-{each}" for each in range(6_000)]
    run.append(encode("spans", {"span": known, "parent": ["", *known[:-1]], "path": known}))
    (boxes,) = boxes_of(chart_of(run, "spans").plots[0])
    assert boxes.facts()["Tasks"][0] == words.count(6_000)


def test_events_stand_by_kind_the_gravest_on_top() -> None:
    run = made(tasks=100)
    zero = run.started
    run.append(
        encode(
            "events",
            {
                "time": zero + np.array([0.02, 0.01, 0.03, np.nan]),
                "source": ["scheduler", "tcp://h:1", "scheduler", "recorder"],
                "kind": ["user", "log", "log", "lost"],
                "level": ["info", "error", "warning", "warning"],
                "message": ["training", "<b>no</b> room", "late", "rows"],
            },
        )
    )
    chart = chart_of(run, "events", start=0, stop=1)
    (boxes,) = boxes_of(chart.plots[0])
    rows = chart.plots[0].y
    assert isinstance(rows, Rows) and [each.label for each in rows.groups] == ["log", "user"]
    facts = boxes.facts()
    assert facts["What"] == ["training", "late", "<b>no</b> room"]
    assert facts["Kind"] == ["user", "log", "log"]
    np.testing.assert_allclose(boxes.left, [0.02, 0.03, 0.01], atol=1e-5)
    assert [sign.label for sign in chart.signs] == ["error", "warning", "info"]


def test_of_too_many_events_the_gravest_are_drawn_and_some_of_the_others_from_all_of_the_time() -> None:
    run = made(tasks=100)
    many = 3_000
    level = ["warning" if number == many // 2 else "info" for number in range(many)]
    run.append(
        encode(
            "events",
            {
                "time": run.started + np.linspace(0.0, 1.0, many),
                "kind": ["user"] * many,
                "level": level,
                "message": ["epoch"] * many,
            },
        )
    )
    chart = PANELS["events"].chart(Request(run, start=0, stop=1.1, limit=1_000))
    (boxes,) = boxes_of(chart.plots[0])
    assert len(boxes.left) == 1_000 and boxes.left[-1] == pytest.approx(0.5, abs=1e-3)
    assert boxes.left.min() < 0.01 and boxes.left.max() > 0.99
    assert np.diff(np.sort(boxes.left)).max() < 0.005
    assert chart.note == "2,000 events are not drawn."


def test_progress_is_as_far_as_the_tasks_are(golden: Recording) -> None:
    (plot,) = chart_of(golden, "progress").plots
    (bars,) = boxes_of(plot)
    facts = bars.facts()
    done = {
        name: (right - left) / 100
        for name, part, left, right in zip(facts["Name"], facts["Part"], bars.left, bars.right, strict=True)
        if part == "done"
    }
    tasks = golden.tasks
    ended = tasks.loc[tasks["status"] == "ok"].drop_duplicates("task").groupby("prefix", observed=True).size()
    every = golden.graph.groupby("prefix", observed=True).size()
    assert done == pytest.approx({name: ended[name] / every[name] for name in ended.index})
    assert plot.y.count == len(every)

    run = Run()
    run.task("load", "a", 1.0, 2.0)
    run.task("load", "a", 3.0, 5.0)
    run.task("load", "a", 6.0, 7.0, status="erred")
    (plot,) = chart_of(run.recording(), "progress", stop=4.0).plots
    (bars,) = boxes_of(plot)
    assert bars.facts()["Part"] == ["done", "running", "waiting or given up"]
    assert bars.right.tolist() == pytest.approx([100 / 3, 200 / 3, 100.0])


def test_progress_counts_tasks_that_were_there_before_the_recording_began() -> None:
    run = Recording()
    tasks = {"task": range(5), "prefix": ["load"] * 3 + ["sum"] * 2, "submission": [NOTHING] * 5}
    stood = {"order": [NOTHING, NOTHING, 2, 3, NOTHING], "state": ["memory", "memory", "", "", ""]}
    run.append(encode("graph", tasks | stood))
    place = {"worker": ["a"], "thread": ["1"], "start": [START]}
    run.append(encode("running", {"run": [7], "task": [2], **place}))
    in_report = Recording()
    for batch in run.packed(coarse=True):
        in_report.append(batch)
    for recording in (run, in_report):
        (bars,) = boxes_of(chart_of(recording, "progress").plots[0])
        facts = bars.facts()
        found = list(zip(facts["Name"], facts["Part"], np.rint(bars.right - bars.left), strict=True))
        assert found == [("load", "done", 67), ("load", "running", 33), ("sum", "waiting or given up", 100)]
    assert set(in_report.columns("graph")["order"].tolist()) == {0, NOTHING}, "ranks are left out"


@pytest.mark.parametrize(("errors", "part"), [([], "waiting or given up"), ([0], "failed")])
def test_what_was_killed_has_failed_where_dask_gave_it_up(errors: list[int], part: str) -> None:
    run = Run(a=CLUSTER)
    run.task("load", "a", 0, 1, status="killed")
    run.tables["errors"] = {"run": errors, "task": errors, "exception": ["KilledWorker()"] * len(errors)}
    (bars,) = boxes_of(chart_of(run.recording(), "progress").plots[0])
    assert bars.facts()["Part"] == [part]


def test_transfers_count_once_what_both_sides_tell(golden: Recording) -> None:
    between, sent = chart_of(golden, "transfers").plots
    table = golden.transfers
    wanted = table.loc[table["direction"] == "in", "nbytes"].sum()
    wanted += table.loc[(table["direction"] == "out") & (table["peer"] == ""), "nbytes"].sum()
    assert boxes_of(between)[0].right.sum() == pytest.approx(wanted)
    assert boxes_of(sent)[0].right.sum() == pytest.approx(wanted)


def test_fine_metrics_are_those_of_the_table(golden: Recording) -> None:
    metrics = golden.metrics
    wanted = metrics.loc[(metrics["unit"] == "seconds") & (metrics["context"] == "execute"), "value"].sum()
    for plot in chart_of(golden, "fine-metrics").plots[:2]:
        (bars,) = boxes_of(plot)
        assert (bars.right - bars.left).sum() == pytest.approx(wanted)


def test_of_fine_metrics_their_share_of_the_time_is_shown() -> None:
    run = Recording()
    row = {"worker": ["w"], "context": ["execute"], "prefix": ["p"], "unit": ["seconds"], "activity": ["x"]}
    run.append(encode("about", {"name": ["started"], "value": [str(START)]}))
    run.append(encode("metrics", {**row, "time": [START + 4], "value": [2.0]}))
    run.append(encode("clocks", {"time": START + np.array([2.0, 4.0]), "worker": ["w"] * 2}))
    chart = PANELS["fine-metrics"].chart(Request(run, start=2.5, stop=3.5))
    (bars,) = boxes_of(chart.plots[0])
    assert (bars.right - bars.left).tolist() == [pytest.approx(1.0)]
    for asked in ({"start": 0}, {"stop": 9}):
        (bars,) = boxes_of(PANELS["fine-metrics"].chart(Request(run, **asked)).plots[0])
        assert (bars.right - bars.left).tolist() == [2.0], "the whole, however late a period ended"


def test_activities_are_told_in_the_words_of_the_page() -> None:
    told = json.loads((GOLDEN.parent / "activities.json").read_text("utf-8"))
    assert {activity: activity_words(activity) for activity in told} == told


def test_activities_of_p2p_shuffles_are_told_in_words_and_under_the_mouse_as_dask_calls_them() -> None:
    run = Recording()
    row = {"time": START, "worker": "w", "context": "execute", "prefix": "unpack", "unit": "seconds"}
    run.append(
        encode("metrics", {**{k: [v] for k, v in row.items()}, "activity": ["p2p-shards"], "value": [2.0]})
    )
    chart = chart_of(run, "fine-metrics")
    assert [sign.label for sign in chart.signs] == ["P2P: pieces"]
    (bars,) = boxes_of(chart.plots[0])
    assert bars.facts() == {
        "Name": ["P2P: pieces"],
        "Part": ["P2P: pieces (p2p-shards)"],
        "Amount": [words.duration(2)],
    }
    assert part_words("custom: p2p-shards", "") == "P2P: pieces"


def test_methods_of_actors_are_named() -> None:
    run = Recording()
    row = {"time": START, "worker": "w", "context": "actor", "prefix": "Stock.take", "unit": "seconds"}
    run.append(
        encode("metrics", {name: [each] for name, each in {**row, "activity": "call", "value": 2.0}.items()})
    )
    (bars,) = boxes_of(chart_of(run, "fine-metrics").plots[0])
    assert bars.facts()["Name"] == ["actor Stock.take"]


@pytest.mark.parametrize(("activity", "label"), [("executor", "finding out sizes"), ("disk-write", "disk")])
def test_finding_out_sizes_is_drawn_as_disk_only_where_something_was_written(
    activity: str, label: str
) -> None:
    run = Run(a=CLUSTER)
    run.task("book", "a", 0, 1, ended=3)
    run.tables["phases"] = {
        **{"run": np.zeros(1, "u4"), "action": ["disk-write"]},
        **{"start": [START + 1.0], "stop": [START + 3.0]},
    }
    metric = {"worker": "a", "context": "execute", "prefix": "book", "activity": activity, "unit": "seconds"}
    run.tables["metrics"] = {name: [each] for name, each in metric.items()} | {
        "value": [2.0],
        "time": [START + 3],
    }
    recording = run.recording()
    chart = chart_of(recording, "task-stream")
    assert [sign.label for sign in chart.signs] == ["book", label]
    kind = "disk" if label == "disk" else "overhead"
    colors = [boxes.colors[code] for boxes in boxes_of(chart.plots[0]) for code in boxes.color]
    assert reserved(kind, dark=False) in colors
    assert ("disk" in set(recording.critical_path()["kind"])) == (label == "disk")


def test_waits_for_the_lock_and_for_a_core_are_told_in_threads() -> None:
    run = Recording()
    waits = {"gil_wait": [9.0, 1.0, 1.0], "starved": [9.0, 4.0, np.nan]}
    sampled = {"process": ["a"] * 3, "time": START + np.array([0.0, 2.0, 4.0])}
    run.append(encode("resources", sampled | waits))
    run.append(encode("about", {"name": ["started"], "value": [str(START)]}))
    chart = PANELS["resources"].chart(Request(run), measures=["gil-wait", "core-wait"])
    drawn = [mark.y for plot in chart.plots for mark in plot.marks if isinstance(mark, Line)]
    assert [set(values[np.isfinite(values)].tolist()) for values in drawn] == [{0.5}, {2.0}]


def test_a_sample_stands_for_the_intervals_of_its_own_process() -> None:
    # Ten workers each 0.2 s, and one that came later: each 3 s, silent for a minute, and gone in the end.
    often, rarely = np.arange(0, 60, 0.2), np.concatenate([np.arange(60, 91, 3), np.arange(150, 160, 3)])
    who = np.repeat(np.arange(11), [len(often)] * 10 + [len(rarely)]).astype("u4")
    time = np.concatenate([*[often] * 10, rarely])
    values = np.ones(len(time))

    def summed(low: float, high: float) -> np.ndarray:
        names = [f"w{each}" for each in range(11)]
        found = series(
            Symbols(who, names), time, values, np.ones(len(time), bool), (low, high), int(high - low)
        )
        return found.summed()

    told = summed(0.0, 180.0)
    assert (told[:60] == 10).all()
    assert (told[62:103] == 1).all()
    assert np.isnan(told[103:150]).all()
    assert (told[150:172] == 1).all()
    assert np.isnan(told[172:]).all()
    # Rows of another observer, between those that know the column, make no interval.
    between = np.arange(60, 91, 0.5) + 0.1
    who, time = np.append(who, np.full(len(between), 10, "u4")), np.append(time, between)
    values = np.append(values, np.full(len(between), np.nan))
    assert (summed(62.0, 90.0) == 1).all()
    # What stands from before the time that is shown.
    assert summed(91.0, 111.0)[:12].tolist() == [1.0] * 12
    assert np.isnan(summed(103.0, 123.0)).all()


def test_memory_is_stacked_to_what_was_measured() -> None:
    run = Recording()
    time = START + np.repeat(np.arange(20.0), 2)
    columns = {"worker": ["a", "b"] * 20, "time": time, "managed": [3e9] * 40, "spilled": [1e9] * 40}
    run.append(encode("memory", {**columns, "unmanaged_old": [0.0] * 40, "unmanaged_recent": [0.0] * 40}))
    run.append(encode("about", {"name": ["started"], "value": [str(START)]}))
    for asked, workers in (({}, 2), ({"worker": "b"}, 1)):
        (plot,) = chart_of(run, "memory", **asked).plots
        top = max(np.nanmax(mark.high) for mark in plot.marks if isinstance(mark, Area))
        assert top == pytest.approx(workers * 4e9)


@pytest.mark.parametrize(
    ("pids", "namespaces", "tops"),
    [
        ([7, 7], [1, 1], [2, 3, 4, 6]),
        ([7, 8], [1, 1], [2, 6, 8, 10]),
        ([7, 7], [1, 2], [2, 6, 8, 10]),
    ],
)
def test_memory_of_a_process_that_workers_share_counts_once(
    pids: list[int], namespaces: list[int], tops: list[int]
) -> None:
    """Each has a result of 1 GB in memory; of 4 GB of its process 2 more are old."""
    run = Recording()
    time = START + np.repeat(np.arange(20.0), 2)
    sizes = {"process": 4e9, "managed": 1e9, "unmanaged_old": 2e9, "unmanaged_recent": 1e9, "spilled": 1e9}
    columns = {name: [each] * 40 for name, each in sizes.items()}
    run.append(encode("memory", {"worker": ["a", "b"] * 20, "time": time, **columns}))
    told = {"worker": ["a", "b"], "host": ["here"] * 2, "pid": pids, "namespace": namespaces}
    run.append(encode("workers", {**told, "memory_limit": [5e9] * 2}))
    run.append(encode("about", {"name": ["started"], "value": [str(START)]}))
    chart = chart_of(run, "memory")
    drawn = [np.nanmax(mark.high) / 1e9 for mark in chart.plots[0].marks if isinstance(mark, Area)]
    assert drawn == pytest.approx(tops)
    assert chart.signs[-1].label == f"limit {words.size(5e9 * len({*zip(pids, namespaces, strict=True)}))}"


def test_limits_of_workers_that_were_never_there_together_are_not_added() -> None:
    run = Recording()
    time = START + np.arange(20.0)
    sizes = {"process": 4e9, "managed": 1e9, "unmanaged_old": 2e9, "unmanaged_recent": 1e9, "spilled": 0.0}
    columns = {name: [each] * 20 for name, each in sizes.items()}
    run.append(encode("memory", {"worker": ["a"] * 10 + ["b"] * 10, "time": time, **columns}))
    told = {"joined": [START, START + 10], "left": [START + 10, np.nan], "memory_limit": [5e9, 6e9]}
    run.append(encode("workers", {"worker": ["a", "b"], **told}))
    assert chart_of(run, "memory").signs[-1].label == f"limit {words.size(6e9)}"


def slower(run: Recording) -> Recording:
    """The same, but every `spin` took longer, in code and in its samples."""
    other = Recording()
    for table in ("about", "graph", "stacks", "workers", "submissions", "samples", "attempts", "memory"):
        columns = dict(run.columns(table))
        if table == "samples":
            columns["duration"] = columns["duration"] * 3
        other.append(encode(table, columns))
    return other


def test_compared_stacks_are_as_wide_as_either_side(golden: Recording) -> None:
    found = dask_insight.compare(golden, slower(golden))
    plots = chart_of(found.recording, "compare").plots
    (sides,) = boxes_of(plots[0])
    assert (sides.right - sides.left).sum() == pytest.approx(found.budget["wall"].sum())
    (boxes,) = boxes_of(plots[-1])
    stacks = found.stacks
    depth = np.floor(boxes.top).astype(int)
    # The other side has three times as much of everything.
    roots = stacks[(stacks["side"] == 1) & (stacks["parent"] == 0xFFFF_FFFF)]
    assert (boxes.right - boxes.left)[depth == 0].sum() == pytest.approx(roots["total"].sum(), rel=1e-3)
    assert (boxes.color[depth == 0] > len(boxes.colors) // 2).any()
    saved = ElementTree.fromstring(figures.svg(found.recording))
    assert "Wall time by time budget" in [element.text for element in saved.iter()]


# What is put together is neither lost nor misplaced.


class Entries(NamedTuple):
    lane: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    kind: np.ndarray
    apart: np.ndarray


@st.composite
def entries(draw: st.DrawFn) -> Entries:
    """Entries that follow one another in each lane."""
    count = draw(st.integers(1, 120))
    numbers = st.lists(st.integers(0, 40), min_size=count, max_size=count)
    lane = np.array(draw(numbers)) % 3
    pause, length = np.array(draw(numbers)) * 0.1, np.array(draw(numbers)) ** 2 * 0.01
    stop = np.zeros(count)
    for each in range(3):
        stop[lane == each] = np.cumsum((pause + length)[lane == each])
    return Entries(lane, stop - length, stop, np.array(draw(numbers)) % 4, (np.array(draw(numbers)) > 35) * 1)


@given(entries(), st.integers(1, 60))
def test_pieces_keep_every_entry_in_its_place(given: Entries, limit: int) -> None:
    pieces = Pieces(*given, limit)
    assert pieces.count.sum() == len(given.lane)
    assert pieces.seconds.sum() == pytest.approx((given.stop - given.start).sum())
    assert len(pieces) <= max(limit, 6)
    assert ((pieces.full > 0) | (pieces.seconds == 0)).all() and (pieces.full <= 1).all()
    for value in (0, 1):
        # What failed is never hidden by what did not.
        assert pieces.count[given.apart[pieces.first] == value].sum() == (given.apart == value).sum()
    for each in range(len(pieces)):
        mine = (given.lane == given.lane[pieces.first[each]]) & (
            given.apart == given.apart[pieces.first[each]]
        )
        inside = mine & (given.start >= pieces.left[each]) & (given.stop <= pieces.right[each])
        assert inside.sum() >= pieces.count[each]
    assert (pieces.count > 1).any() == (len(pieces) < len(given.lane))
    alone = pieces.count == 1
    np.testing.assert_allclose(pieces.left[alone], given.start[pieces.first[alone]])
    np.testing.assert_allclose(pieces.right[alone], given.stop[pieces.first[alone]])


def test_a_million_tasks_make_a_figure_that_a_browser_can_show() -> None:
    from bokeh.embed import json_item
    from bokeh.models import Title

    run = made(1_000_000, lanes=64, names=40)
    stream = figures.task_stream(run)
    assert any("drawn together" in title.text for title in stream.select({"type": Title}))
    assert max(len(source.data["left"]) for source in _sources(stream) if "left" in source.data) <= 20_000
    assert len(json.dumps(json_item(stream))) < 8_000_000
    ran = Ran(Request(run))
    failures = boxes_of(chart_of(run, "task-stream").plots[0])[-1]
    failed = np.flatnonzero(ran.status > 0)
    lane = np.floor(failures.top).astype(int)
    for each in failed[:: max(1, len(failed) // 200)]:
        mine = (
            (lane == ran.lane[each]) & (failures.left <= ran.start[each]) & (failures.right >= ran.stop[each])
        )
        assert mine.any()
    assert len(figures.svg(run, "task-stream")) < 3_000_000


def test_threads_on_which_nothing_ran_have_lanes() -> None:
    run = made(8, lanes=4)
    there = {"worker": ["tcp://w:0", "tcp://w:1", "tcp://w:2", "left", "joined"], "threads": [3, 2, 1, 4, 4]}
    nan = float("nan")
    life = {"joined": [START - 9] * 4 + [START + 1e6], "left": [nan, nan, nan, START - 1, nan]}
    run.append(encode("workers", {**there, **life}))
    workers = [worker for worker, _ in Ran(Request(run)).lanes]
    assert workers == [*["tcp://w:0"] * 3, *["tcp://w:1"] * 2, "tcp://w:2"]
    assert [worker for worker, _ in Ran(Request(run, worker="tcp://w:2")).lanes] == []
    assert [worker for worker, _ in Ran(Request(run, worker="tcp://w:1")).lanes] == ["tcp://w:1"] * 2
    rows = chart_of(run, "task-stream").plots[0].y
    assert isinstance(rows, Rows) and rows.count == 6


def test_in_a_large_cluster_all_unused_threads_of_a_worker_share_a_lane() -> None:
    run = made(8, lanes=4)
    names = [f"tcp://w:{each}" for each in range(60)]
    run.append(encode("workers", {"worker": names, "threads": [8] * 60, "joined": [START - 9] * 60}))
    assert len(Ran(Request(run)).lanes) == 4 + 60


def _sources(made: Any) -> list[Any]:
    from bokeh.models import ColumnDataSource

    return list(made.select({"type": ColumnDataSource}))


# Parts of a run.


def test_figures_show_the_part_that_is_asked_for(golden: Recording) -> None:
    ran = Ran(Request(golden))
    name = ran.names[int(ran.name[0])]
    only = Ran(Request(golden, prefix=name))
    assert set(only.name.tolist()) == {ran.names.index(name)}
    assert len(only) == (ran.name == ran.name[0]).sum()
    worker = golden.workers["name"].astype(str).iloc[0]
    address = golden.workers["worker"].astype(str).iloc[0]
    by_name, by_address = (Ran(Request(golden, worker=each)) for each in (worker, address))
    assert 0 < len(by_name) == len(by_address) < len(ran)
    middle = float(np.median(ran.start))
    part = Ran(Request(golden, start=middle, stop=middle + 0.5))
    assert ((part.stop >= middle) & (part.start <= middle + 0.5)).all()
    assert (part.seconds <= 0.5 + 1e-9).all()
    figure = figures.task_stream(golden, start=middle, stop=middle + 0.5)
    assert (figure.x_range.start, figure.x_range.end) == (middle, middle + 0.5)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prefix": "fla"}, "flaky"),
        ({"worker": "nobody"}, "no worker 'nobody'"),
        ({"start": 3, "stop": 2}, "stop=2 is before start=3"),
        ({"start": 3, "stop": 3}, "not after"),
        ({"theme": "pink"}, "light, dark"),
        ({"start": "x"}, "start='x' is no number"),
        ({"width": "a"}, "width='a' is no number"),
        ({"width": 300.5}, "width=300.5 must be a whole number"),
        ({"height": float("nan")}, "height=nan must be a whole number"),
        ({"limit": 1.5}, "limit=1.5 must be a whole number"),
    ],
)
def test_what_is_not_there_is_said(golden: Recording, asked: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        figures.task_stream(golden, **asked)


@pytest.mark.parametrize(
    ("panel", "asked"),
    [
        ("resources", {"prefix": "flaky"}),
        ("memory", {"prefix": "flaky"}),
        ("events", {"prefix": "flaky"}),
        ("progress", {"worker": 0}),
        ("what-if", {"stop": 3}),
        ("compare", {"prefix": "flaky"}),
    ],
)
def test_what_would_choose_nothing_is_refused(golden: Recording, panel: str, asked: dict[str, Any]) -> None:
    message = f"{next(iter(asked))}= chooses nothing in the panel '{panel}'"
    with pytest.raises(ValueError, match=message):
        getattr(figures, panel.replace("-", "_"))(golden, **asked)
    with pytest.raises(ValueError, match=message):
        figures.svg(golden, panel, **asked)


def test_figures_take_what_they_can_show() -> None:
    for panel, taken in (("compare", set()), ("progress", {"start", "stop", "prefix"}), ("memory", {*PART})):
        make = getattr(figures, panel)
        assert {*inspect.signature(make).parameters} & {*PART} == taken
        assert ("Only this task name" in make.__doc__) == ("prefix" in taken)


def test_a_caption_names_only_what_is_chosen(golden: Recording, tmp_path: Path) -> None:
    folder = golden.export(tmp_path / "all", "svg", panel="all", prefix="flaky")
    said = {path.stem: "flaky</title>" in path.read_text("utf-8") for path in folder.iterdir()}
    assert said["functions"] and said["overview"]
    assert not said["resources"] and not said["memory"]
    assert "of all task names" in (folder / "overview.svg").read_text("utf-8")
    assert "flaky" in figures.svg(golden, "memory", by="name", prefix="flaky")


def test_options_are_checked(golden: Recording) -> None:
    with pytest.raises(ValueError, match="cpu, tasks"):
        figures.resources(golden, measures=["speed"])
    with pytest.raises(ValueError, match="seconds"):
        figures.fine_metrics(golden, unit="parsecs")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        figures.memory(golden, colour="red")
    with pytest.raises(ValueError, match="overview, findings"):
        figures.svg(golden, "nothing")
    with pytest.raises(TypeError, match="give one of overview, findings"):
        figures.svg(golden, 5)  # type: ignore[arg-type]
    for panel in ("task-stream", "overview"):
        with pytest.raises(ValueError, match="unit= is for the panel 'fine-metrics', not for"):
            figures.svg(golden, panel, unit="bytes")
    for asked in ({"theme": "dark"}, {"limit": 5}):
        with pytest.raises(TypeError, match="there are width, height, scheme, start"):
            figures.svg(golden, **asked)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes a Recording, not a str"):
        figures.svg("run.dinsight")  # type: ignore[arg-type]
    # One may be named by itself, and what is not asked for is as by default.
    assert figures.svg(golden, "resources", measures="cpu") == figures.svg(
        golden, "resources", measures=["cpu"]
    )
    assert figures.svg(golden, "memory", by="name") != figures.svg(golden, "memory", by=None)
    for size in ({"width": 10}, {"height": 1e9}, {"width": float("nan")}):
        with pytest.raises(ValueError, match="pixels"):
            figures.svg(golden, **size)
    with pytest.raises(ValueError, match="scale"):
        figures.png(golden, scale=1000)


def test_figures_move_together(golden: Recording) -> None:
    from bokeh.models import Plot as BokehPlot

    stream = figures.task_stream(golden)
    for name in ("resources", "memory", "time_budget", "critical_path", "spans"):
        shown = getattr(figures, name)(golden, x_range=stream.x_range)
        inside = [shown] if isinstance(shown, BokehPlot) else shown.select({"type": BokehPlot})
        assert any(each.x_range is stream.x_range for each in inside), name


# Every panel, for every recording.


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("panel", EVERY)
def test_every_figure_is_a_document(golden: Recording, panel: str, theme: str) -> None:
    from bokeh.embed import file_html
    from bokeh.resources import INLINE

    for run in (golden, hostile(), Recording()):
        made = getattr(figures, panel.replace("-", "_"))(run, theme=theme)
        page = file_html(made, INLINE, "figures")
        assert "<script>window.hacked" not in page and "<img src=x" not in page
    sized = getattr(figures, panel.replace("-", "_"))(golden, width=640, height=480)
    parts = getattr(sized, "children", [sized])
    assert {each.width for each in parts} == {640}
    assert (
        abs(sum(each.height for each in parts) - 480) <= len(parts)
        or min(each.height for each in parts) == 60
    )


def test_texts_of_a_recording_are_no_mathematics() -> None:
    from bokeh.models import Axis, Legend, Title

    drawn = figure_of(chart_of(hostile(), "functions"), Request(hostile()).theme)
    axes = [text for axis in drawn.select({"type": Axis}) for text in axis.major_label_overrides.values()]
    assert any("frac" in text for text in axes)
    stream = figures.task_stream(hostile())
    legends = [item.label.value for each in stream.select({"type": Legend}) for item in each.items]
    titles = [each.text for each in stream.select({"type": Title})]
    for text in (*axes, *legends, *titles):
        assert not any(mark in text for mark in ("$$", "\\(", "\\["))


@pytest.mark.parametrize("panel", [OVERVIEW, *EVERY])
def test_svg_is_paths_and_text(golden: Recording, panel: str) -> None:
    for run in (golden, hostile(), Recording()):
        for scheme in ("light", "dark"):
            tree = ElementTree.fromstring(figures.svg(run, panel, scheme=scheme))
            kinds = {element.tag.rpartition("}")[2] for element in tree.iter()}
            assert kinds <= {"svg", "title", "rect", "path", "text"}
            attributes = {name for element in tree.iter() for name in element.attrib}
            assert not any(name.startswith("on") or "href" in name or name == "style" for name in attributes)


def test_an_empty_panel_says_why() -> None:
    for panel in PANELS:
        chart = chart_of(Recording(), panel)
        assert chart.empty.endswith((".", ")")) and len(chart.empty) > 20, panel
        assert Picture(Recording(), panel).is_empty
        tree = ElementTree.fromstring(figures.svg(Recording(), panel))
        assert chart.empty in [element.text for element in tree.iter()]


@pytest.mark.parametrize(
    ("profile", "why"),
    [(False, "Recorded without call stacks"), (True, "no task ran long enough to be sampled")],
)
def test_a_run_without_samples_says_whether_any_were_taken(profile: bool, why: str) -> None:
    run = Recording()
    run.append(encode("about", {"name": ["options"], "value": [json.dumps({"profile": profile})]}))
    told = chart_of(run, "flame-graph").empty
    assert why in told and "`profile=False`, `--no-profile`" in told
    assert 'resources="50ms"' in chart_of(run, "resources").empty


def test_a_measure_that_was_not_sampled_is_told_apart_from_a_short_run() -> None:
    run = beside_another(0.5, late=0.01, starved=0.02).recording()
    why = PANELS["resources"].chart(Request(run), measures=["gpu", "gil"]).empty
    assert why == "Of these processes `GPU` and `GIL` were not sampled in what is shown."
    assert "50ms" not in why


@pytest.mark.parametrize("started", [-1e12, 5.0, 1e12, 1e300])
def test_a_moment_that_is_no_date_is_not_shown_as_one(started: float) -> None:
    run = Recording()
    run.append(encode("about", {"name": ["started"], "value": [json.dumps(started)]}))
    assert " UTC" not in figures.svg(run)
    assert "started" not in describe(run)


def test_hostile_names_are_told_as_they_are() -> None:
    texts = [
        element.text or "" for element in ElementTree.fromstring(figures.svg(hostile(), "functions")).iter()
    ]
    assert any("<img src=x" in text for text in texts)
    assert "]]>&amp;&#x3c;" in texts and "\ufffdtxet" in texts


# Legible: no text over another, none outside.


class Paper:
    """A pen that keeps the places of texts."""

    def __init__(self, width: float, height: float) -> None:
        self.size = width, height
        self.texts: list[tuple[float, float, float, float, str]] = []

    def boxes(self, *_: Any) -> None: ...

    def polygon(self, *_: Any) -> None: ...

    def line(self, *_: Any, **__: Any) -> None: ...

    def note(self) -> str:
        return ""

    def text(
        self, x: float, y: float, text: str, _: Any, *, size: float, anchor: str = "start", bold: bool = False
    ) -> None:
        if text:
            wide = width(text, size) * (1.1 if bold else 1.0)
            left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
            self.texts.append((left, y - 0.4 * size, left + wide, y + 0.4 * size, text))


@pytest.mark.parametrize("wide", [420, 1200])
@pytest.mark.parametrize("panel", [OVERVIEW, *EVERY])
def test_no_text_stands_on_another(golden: Recording, panel: str, wide: int) -> None:
    for run in (golden, hostile(), made(3_000, lanes=64)):
        paper = Picture(run, panel, width=wide)._page.draw(Paper)
        for one in paper.texts:
            assert one[0] >= -1 and one[2] <= paper.size[0] + 1, one
            assert one[1] >= 0 and one[3] <= paper.size[1], one
        for one, other in combinations(paper.texts, 2):
            across = min(one[2], other[2]) - max(one[0], other[0])
            down = min(one[3], other[3]) - max(one[1], other[1])
            assert across <= 1 or down <= 1, (one, other)


class Order:
    """A pen that keeps what is drawn, in its order: colours of boxes, and texts."""

    def __init__(self, *_: Any) -> None:
        self.drawn: list[Any] = []

    def boxes(self, x: Any, y: Any, wide: Any, high: Any, color: Any) -> None:
        self.drawn.append(tuple(color))

    def polygon(self, *_: Any) -> None: ...

    def line(self, *_: Any, **__: Any) -> None: ...

    def note(self) -> str:
        return ""

    def text(self, x: float, y: float, text: str, *_: Any, **__: Any) -> None:
        self.drawn.append(text)


def test_what_is_drawn_over_a_task_leaves_its_name() -> None:
    run = made(1, lanes=2)
    phase = {"run": [0], "action": ["transfer"], "start": [START], "stop": [START + 60]}
    run.append(encode("phases", phase))
    drawn = Picture(run, "task-stream", width=900)._page.draw(Order).drawn
    transfer = reserved("transfer", dark=False)
    names = [at for at, each in enumerate(drawn) if isinstance(each, str) and each.startswith("name-")]
    transfers = [at for at, each in enumerate(drawn) if each == tuple(transfer)]
    assert names and transfers
    assert max(names) > max(transfers)


def test_a_picture_is_as_large_as_is_asked(golden: Recording) -> None:
    tree = ElementTree.fromstring(figures.svg(golden, "task-stream", width=800, height=640))
    assert (tree.get("width"), tree.get("height")) == ("800", "640")


# PNG.


def test_png_is_a_picture_of_pixels(golden: Recording) -> None:
    from PIL import Image

    data = figures.png(golden, "task-stream", width=700, scale=1.5)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    wide, high = struct.unpack(">II", data[16:24])
    tree = ElementTree.fromstring(figures.svg(golden, "task-stream", width=700))
    assert (wide, high) == (1050, round(1.5 * float(tree.get("height", 0))))
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        pixels = np.asarray(image.convert("RGB"))
        assert image.info["Title"].startswith("Task stream")
    assert (pixels[0, 0] == 255).all()
    request = Request(golden)
    ran = Ran(request)
    longest = ran.names[int(ran.name[np.argmax(np.where(ran.status == 0, ran.seconds, 0))])]
    assert (pixels == request.colors[longest]).all(axis=2).any()
    dark = figures.png(golden, "memory", scheme="dark", scale=1)
    with Image.open(io.BytesIO(dark)) as image:
        assert sum(image.convert("RGB").getpixel((0, 0))) < 120
    figures.png(hostile(), scale=0.5)


@pytest.fixture
def few_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a machine that has no fonts but matplotlib's own."""
    from matplotlib.font_manager import fontManager

    own = [entry for entry in fontManager.ttflist if entry.name == "DejaVu Sans"]
    monkeypatch.setattr(fontManager, "ttflist", own)
    fonts._files.cache_clear()
    yield
    fonts._files.cache_clear()


@pytest.mark.usefixtures("few_fonts")
def test_png_finds_a_font_for_every_sign(tmp_path: Path) -> None:
    from matplotlib.font_manager import fontManager

    fontManager.addfont(_font_of_blocks("\u65e5", tmp_path / "blocks.ttf"))
    assert fonts.families("a\u65e5\u672c") == (["DejaVu Sans", "Blocks"], {"\u672c"})
    pen = PngPen(40, 40, (255, 255, 255), "", 1)
    pen.text(10, 20, "\u65e5", (0, 0, 0), size=20)
    assert _pixels(pen.encoded())[14:26, 14:26].max() < 10


@pytest.mark.usefixtures("few_fonts")
def test_a_picture_says_that_signs_of_it_cannot_be_read() -> None:
    pen = PngPen(100, 40, (255, 255, 255), "", 1)
    pen.text(10, 20, "score-1", (0, 0, 0), size=12)
    assert pen.note() == ""
    pen.text(10, 20, "\u65e5\u672c \u65e5", (0, 0, 0), size=12)
    assert pen.note().startswith("2 signs have no font")
    assert SvgPen(100, 40, (255, 255, 255), "").note() == ""


def _font_of_blocks(signs: str, path: Path) -> Path:
    """A font in which each of these signs is a filled square."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pencil = TTGlyphPen(None)
    pencil.moveTo((0, 0))
    for corner in ((0, 1000), (1000, 1000), (1000, 0)):
        pencil.lineTo(corner)
    pencil.closePath()
    square = pencil.glyph()
    builder = FontBuilder(1000)
    names = {ord(sign): f"sign{number}" for number, sign in enumerate(signs)}
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    builder.setupGlyf(dict.fromkeys([".notdef", *names.values()], square))
    builder.setupHorizontalMetrics(dict.fromkeys([".notdef", *names.values()], (1000, 0)))
    builder.setupHorizontalHeader(ascent=1000, descent=0)
    builder.setupNameTable({"familyName": "Blocks", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return path


def _pixels(png: bytes) -> np.ndarray:
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize(("library", "use"), [("bokeh", figures.memory), ("matplotlib", figures.png)])
def test_what_is_missing_is_named_with_its_cure(
    golden: Recording, monkeypatch: pytest.MonkeyPatch, library: str, use: Any
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match="pip install"):
        use(golden)


def test_importing_figures_brings_no_library_along() -> None:
    code = (
        "import sys; from dask_insight import figures, exports; figures.task_stream; figures.PANELS; "
        "print([name for name in ('bokeh', 'matplotlib', 'pandas', 'numpy') if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"


# Files.


def test_pictures_are_exported(golden: Recording, tmp_path: Path) -> None:
    assert FORMATS["svg"].suffix == ".svg"
    one = golden.export(tmp_path / "run.svg", panel="memory", scheme="dark")
    assert one.read_text("utf-8") == figures.svg(golden, "memory", scheme="dark")
    folder = golden.export(tmp_path / "all", "svg", panel="all")
    names = {path.stem for path in folder.iterdir()}
    assert {OVERVIEW, "task-stream", "flame-graph"} <= names
    assert names == {OVERVIEW, *(name for name in PANELS if not chart_of(golden, name).empty)}
    with pytest.raises(TypeError, match="panel"):
        golden.export(tmp_path / "run.json", panel="memory")


def test_the_command_line_writes_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.dinsight"
    file.write_bytes(GOLDEN.read_bytes())
    asked = ["export", str(file), "--to", "svg", "--panel", "task-stream", "--width", "640", "--stop", "1.5"]
    assert main(asked) == ExitCode.OK
    path = tmp_path / "run-task-stream.svg"
    assert ElementTree.fromstring(path.read_text("utf-8")).get("width") == "640"
    assert main(["export", str(file), "--to", "png", "--scale", "0.5", "--scheme", "dark"]) == ExitCode.OK
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert main(["export", str(file), "--to", "svg", "--panel", "all"]) == ExitCode.OK
    assert (tmp_path / "run-svg" / "overview.svg").exists()
    capsys.readouterr()
    assert main(["export", str(file), "--to", "svg", "--prefix", "nothing", "--force"]) == ExitCode.USAGE
    assert "no task name 'nothing'" in capsys.readouterr().err
    assert main(["export", str(file), "--to", "csv", "--panel", "memory"]) == ExitCode.USAGE
    assert "--panel is for pictures" in capsys.readouterr().err


# Texts and marks.


@given(st.text(max_size=60), st.floats(0, 400))
def test_texts_are_cut_to_their_room(text: str, room: float) -> None:
    for made in (fitted(text, room, 12), cut(text, room, 12)):
        assert width(made, 12) <= room or made == text == ""
        assert made == text or made == "" or "…" in made
    assert len(lines(text, room, 12, 2)) <= 2


@given(st.floats(0, 1e5), st.floats(1e-6, 1e5), st.integers(1, 20))
@settings(max_examples=200)
def test_marks_are_round_and_in_order(low: float, span: float, most: int) -> None:
    for ticks in (time_ticks(low, low + span, most), amount_ticks(0, span, most, "bytes")):
        values = [tick.value for tick in ticks]
        assert values == sorted(set(values))
        assert len(values) <= most + 2
        assert len({tick.label for tick in ticks}) == len(ticks) or span < low * 1e-6


def test_there_are_as_many_threads_as_there_were_however_short_the_run() -> None:
    run = Recording()
    begin, end = 1_795_503_389.220949, 1_795_503_389.221131
    run.append(encode("workers", {"worker": ["tcp://a"], "threads": [9], "joined": [begin - 1]}))
    run.append(encode("graph", {"task": [0], "prefix": ["work"], "key": ["work-0"]}))
    moments = {"submitted": [begin], "ready": [begin], "assigned": [begin], "start": [begin], "stop": [end]}
    attempts = {"run": [0], "task": [0], "worker": ["tcp://a"], "thread": ["1"], "done": [end]}
    run.append(encode("attempts", {**attempts, **moments}))
    _, over = chart_of(run, "time-budget").plots
    areas = [mark for mark in over.marks if isinstance(mark, Area)]
    assert areas[-1].high[1:-1] == pytest.approx(9)


def test_lanes_of_clusters_do_not_mix() -> None:
    run = Recording()
    workers = ["tcp://b", "tcp://c", "tcp://a"]
    columns = {
        "worker": workers,
        "name": ["0", "1", "0"],
        "cluster": ["tcp://first", "tcp://first", "tcp://second"],
    }
    run.append(encode("workers", columns))
    run.append(encode("graph", {"task": [0], "prefix": ["work"], "key": ["work-0"]}))
    attempts = {
        "run": range(6),
        "task": [0] * 6,
        "worker": workers * 2,
        "thread": ["1"] * 3 + ["2"] * 3,
        "start": [START] * 6,
        "stop": [START + 1] * 6,
    }
    run.append(encode("attempts", attempts))
    assert Ran(Request(run)).lanes == [(worker, thread) for worker in workers for thread in "12"]


def test_lanes_stand_in_the_order_of_pages() -> None:
    order: list[str] = json.loads((GOLDEN.parent / "names.json").read_text("utf-8"))
    assert sorted(sorted(order), key=natural) == order
    run = Recording()
    run.append(encode("workers", {"worker": ["a", "b", "c"], "name": ["jobs-10", "jobs-2", "jobs-2"]}))
    times = {"start": [START] * 5, "stop": [START + 1] * 5}
    threads = ["1", "pool-0_10", "pool-0_2", "1000", "999"]
    run.append(encode("graph", {"task": [0], "prefix": ["work"], "key": ["work-0"]}))
    columns = {"run": range(5), "task": [0] * 5, "worker": ["a", "b", "b", "c", "c"], "thread": threads}
    run.append(encode("attempts", columns | times))
    lanes = Ran(Request(run)).lanes
    assert lanes == [("b", "pool-0_2"), ("b", "pool-0_10"), ("c", "999"), ("c", "1000"), ("a", "1")]


def test_marks_are_named_in_one_unit() -> None:
    assert [tick.label for tick in time_ticks(0, 12.3, 6)] == [
        "0\u202fs",
        *(f"{each}\u202fs" for each in (5, 10)),
    ]
    assert [tick.label for tick in time_ticks(0, 400, 4)] == [
        "0\u202fs",
        *(f"{each}\u202fmin" for each in (2, 4, 6)),
    ]
    assert [tick.label for tick in time_ticks(0, 97, 4)] == [f"{each}\u202fs" for each in (0, 30, 60, 90)]
    assert [tick.label for tick in time_ticks(3195.4, 3197, 4)] == [
        f"53\u202fmin {each}\u202fs" for each in ("15.5", "16.0", "16.5", "17.0")
    ]
    assert [tick.label for tick in time_ticks(3595, 3625, 4)] == [
        f"1\u202fh 00\u202fmin {each}\u202fs" for each in ("00", "10", "20")
    ]
    assert [tick.label for tick in amount_ticks(0, 3 * 1024**3, 3, "bytes")] == [
        f"{each}\u202fGiB" for each in range(4)
    ]


def test_the_memory_of_a_worker_is_the_most_that_anybody_saw() -> None:
    run = made(8, lanes=4)
    times = [START, START + 1.0]
    run.append(encode("memory", {"worker": ["tcp://w:0", "tcp://w:1"], "time": times, "process": [3e9, 7e9]}))
    run.append(
        encode("resources", {"process": ["tcp://w:0", "tcp://w:1"], "time": times, "memory": [5e9, 4e9]})
    )
    (bars,) = boxes_of(chart_of(run, "workers").plots[0])
    told = sorted(text.split(" · ")[-1] for text in bars.beside if text)
    assert told == [f"up to {words.size(5e9)}", f"up to {words.size(7e9)}"]
