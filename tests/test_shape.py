"""The shape of a computation as a flowchart; gauges and GPUs among the resources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import START, Task, ran

import dask_insight
from dask_insight import figures, words
from dask_insight.batch import encode
from dask_insight.figures.chart import Area, Axis, Chart, Line
from dask_insight.figures.panels import PANELS
from dask_insight.figures.request import Request
from dask_insight.recording import Recording

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"
MB = 2**20
NODE = re.compile(r'    n(\d+)\["([^"]*)"\]')
ARROW = re.compile(r'    n(\d+) -->\|"([^"]*)"\| n(\d+)')
HOSTILE = (
    'a"] click n0 "javascript:alert(1)"',
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a\nclick n0 call alert(1)\n%%{init: {'securityLevel': 'loose'}}%%",
    "```\n# a `b` **c** __init__ 1. [d](e) $$f$$ fa:fa-camera &lt; \\n {{ }} #quot; \x1b[31m",
    "end",
    "",
)


def code(run: Recording) -> tuple[dict[int, str], list[tuple[int, str, int]]]:
    """Nodes and arrows of the flowchart, of which nothing else is left."""
    first, *lines = run.shape().mermaid().splitlines()
    assert first == "flowchart LR"
    nodes, arrows = {}, []
    for line in lines:
        if found := NODE.fullmatch(line):
            nodes[int(found[1])] = found[2]
        else:
            found = ARROW.fullmatch(line)
            assert found, line
            arrows.append((int(found[1]), found[2], int(found[3])))
    return nodes, arrows


def test_names_tell_their_tasks_and_arrows_what_is_needed() -> None:
    tasks = [Task("load", 1.0, nbytes=MB), Task("load", 2.0, nbytes=MB), Task("sum", 4.0, (0, 1), nbytes=0)]
    run = ran(tasks)
    nodes, arrows = code(run)
    plain = {at: label.replace(words.SPACE, " ") for at, label in nodes.items()}
    assert plain == {0: "sum · 1 of 1 · 4 s", 1: "load · 2 of 2 · 3 s · 2 MiB"}
    assert arrows == [(1, f"2 · 2{words.SPACE}MiB", 0)]
    assert str(run.shape()) == f"{nodes[0]}\n{nodes[1]}\n  → sum · {arrows[0][1]}" == repr(run.shape())


def test_what_is_to_come_is_counted() -> None:
    run = ran([Task("load", 1.0)])
    run.append(
        encode("graph", {"task": [7, 8], "key": ["b", "c"], "prefix": ["load", "data"], "order": [3, 0]})
    )
    assert [(node.done, node.tasks) for node in run.shape().nodes] == [(1, 2), (0, 1)]


def test_each_row_of_dependencies_is_an_arrow() -> None:
    run = dask_insight.open(GOLDEN)
    for by in ("function", "group"):
        shape, pairs = run.shape(by), run.dependencies(by)
        ends = [(shape.nodes[one.source].name, shape.nodes[one.target].name) for one in shape.arrows]
        assert ends and ends == list(zip(pairs["source"], pairs["target"], strict=True))
        assert [one.edges for one in shape.arrows] == pairs["edges"].tolist()
        assert [one.nbytes for one in shape.arrows] == pairs["nbytes"].tolist()
    with pytest.raises(ValueError, match="by='worker' is none of function, group"):
        run.shape("worker")


def test_beyond_60_names_the_others_are_one_and_arrows_are_bounded() -> None:
    count = 70
    tasks = [Task(f"t{at}", float(count - at), range(at) if at < 60 else (at - 1,)) for at in range(count)]
    run = ran(tasks)
    shape = run.shape()
    assert [node.name for node in shape.nodes] == [*(f"t{at}" for at in range(60)), "10 more names"]
    rest = shape.nodes[60]
    assert (rest.tasks, rest.done, rest.seconds) == (10, 10, sum(range(1, 11)))
    # Each needs all before; one arrow leads to the rest, and one from the rest to itself.
    assert len(shape.arrows) == 300 and shape.left == 60 * 59 // 2 + 2 - 300
    told = f"{shape.left:,} more arrows left out"
    assert shape.mermaid().endswith(f'note["{told}"]') and str(shape).endswith(told)


def test_hostile_names_mean_nothing() -> None:
    run = ran([Task(name, 1.0, (at - 1,) if at else ()) for at, name in enumerate(HOSTILE)])
    nodes, arrows = code(run)
    assert len(nodes) == len(HOSTILE) and len(arrows) == len(HOSTILE) - 1
    for label in nodes.values():
        text = re.sub(r"#\d+;", "", label).replace(words.SPACE, " ")
        assert re.fullmatch(r"(?:[^\W_]|(?<=[^\W_])_(?=[^\W_])|[ .,·…-])*", text), label
    shown = [re.sub(r"#(\d+);", lambda sign: chr(int(sign[1])), each) for each in nodes.values()]
    for name, label in zip(HOSTILE, shown, strict=True):
        assert label.startswith(" ".join(name.split())[:20] or "(no name)")
    assert "\x1b" not in str(run.shape())
    assert run.shape()._repr_markdown_().count("```") == 2


def test_usual_names_stay_legible() -> None:
    nodes, _ = code(ran([Task("read-parquet_x.y", 1.0)]))
    assert nodes[0].startswith("read-parquet_x.y · ")


@pytest.mark.parametrize("run", [Recording(), dask_insight.open(GOLDEN)], ids=["empty", "golden"])
def test_a_file_has_the_same(run: Recording, tmp_path: Path) -> None:
    written = run.export(tmp_path / "graph.mmd").read_text("utf-8")
    assert written == run.shape().mermaid() + "\n"
    assert run.shape()._repr_markdown_() == f"```mermaid\n{written}```"


def resources(run: Recording, measures: list[str], **asked: Any) -> Chart:
    return PANELS["resources"].chart(Request(run, **asked), measures=measures)


def gauged() -> Recording:
    """Two workers that tell a gauge for 10 s, until one leaves at 6 s."""
    run = ran([Task("a", 10.0)])
    told = {"worker": ["w0", "w0", "w1"], "time": START + np.array([1.0, 5.0, 2.0])}
    run.append(encode("gauges", {**told, "name": ["rmm.rmm-used"] * 3, "value": [4.0 * MB, 8.0 * MB, 1.0]}))
    run.append(encode("workers", {"worker": ["w1"], "name": ["one"], "left": [START + 6]}))
    return run


def test_a_gauge_goes_in_steps() -> None:
    (plot,) = resources(gauged(), ["rmm.rmm-used"]).plots
    lines = {mark.name: mark for mark in plot.marks if isinstance(mark, Line)}
    assert list(lines) == ["rmm.rmm-used, w0", "rmm.rmm-used, one"]

    def at(line: Line, moment: float) -> float:
        return float(line.y[np.searchsorted(line.x, moment)])

    first, second = lines.values()
    (jump,) = np.flatnonzero(np.diff(first.y) > 0)
    assert first.x[jump] == first.x[jump + 1] == pytest.approx(5, abs=0.1)
    moments = (0.5, 1.5, 4.5, 5.5, 9.5)
    assert [at(first, each) for each in moments] == pytest.approx(
        [np.nan, 4 * MB, 4 * MB, 8 * MB, 8 * MB], nan_ok=True
    )
    assert [at(second, each) for each in moments] == pytest.approx(
        [np.nan, np.nan, 1, 1, np.nan], nan_ok=True
    )
    assert isinstance(plot.y, Axis) and plot.y.unit == "bytes" and plot.y.high >= 8 * MB


def test_a_gauge_keeps_what_was_told_before_what_is_shown() -> None:
    (plot,) = resources(gauged(), ["rmm.rmm-used"], start=6.5, stop=9, worker="w0").plots
    (line,) = plot.marks
    assert isinstance(line, Line) and set(line.y.tolist()) == {8.0 * MB}


def test_an_unknown_measure_names_both_kinds() -> None:
    with pytest.raises(ValueError, match=r"no measure 'speed'.*cpu, .*transfers.*rmm\.rmm-used"):
        figures.resources(gauged(), measures=["cpu", "speed"])
    assert figures.resources(gauged(), measures="rmm.rmm-used")


def test_a_gpu_fills_its_row_when_it_is_full() -> None:
    run = ran([Task("a", 4.0)])
    count = 8
    gpu = {"utilization": [30.0] * count, "memory": [10.0 * MB] * count, "memory_total": [80.0 * MB] * count}
    sampled = {"process": ["w0"] * count, "time": START + np.arange(count) / 2, "index": [0] * count}
    run.append(encode("gpus", sampled | gpu))
    used, memory = resources(run, ["gpu", "gpu-memory"]).plots
    assert isinstance(used.y, Axis) and used.y.high == pytest.approx(104)
    assert isinstance(memory.y, Axis) and memory.y.high == pytest.approx(80 * MB * 1.04)


@pytest.mark.parametrize(("pids", "most"), [((1, 2), 150), ((1, 1), 100)])
def test_the_cpu_of_all_processes_is_added_up(pids: tuple[int, int], most: float) -> None:
    run = ran([Task("a", 4.0)])
    time = START + np.repeat(np.arange(8) / 2, 2)
    run.append(encode("workers", {"worker": ["a", "b"], "host": ["h", "h"], "pid": pids}))
    run.append(encode("resources", {"process": ["a", "b"] * 8, "time": time, "cpu": [50.0, 100.0] * 8}))
    (plot,) = resources(run, ["total-cpu"]).plots
    (area,) = plot.marks
    assert isinstance(area, Area) and np.nanmax(area.high) == pytest.approx(most)
