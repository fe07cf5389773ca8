"""What users of dask.diagnostics and distributed type: dask's own tests, and the recording beside."""

from __future__ import annotations

import asyncio
import copy
import logging
import operator
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import dask
import dask.threaded
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import dask_insight
from dask_insight.batch import encode
from dask_insight.compat import block
from dask_insight.compat.cluster import profile
from dask_insight.recording import Recording, open_recording
from dask_insight.schema import NOTHING
from dask_insight.session import Session

SUITES = Path(dask.__file__).parent / "diagnostics" / "tests"
GRAPH = {"a": 1, "b": 2, "c": (operator.add, "a", "b"), "d": (operator.mul, "c", 10)}


@pytest.mark.parametrize("suite", ["test_profiler.py", "test_progress.py"])
def test_dasks_own_tests_pass_with_our_names(suite: str, tmp_path: Path) -> None:
    if not (SUITES / suite).exists():
        pytest.skip("this dask was installed without its tests")
    text = (SUITES / suite).read_text("utf-8")
    ours = text.replace("from dask.diagnostics import", "from dask_insight import")
    assert ours != text
    (tmp_path / suite).write_text(ours, "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", suite],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    assert "passed" in ran.stdout


def test_a_profiled_block_is_a_recording_too() -> None:
    from dask.threaded import get

    with dask_insight.Profiler() as prof:
        assert get(GRAPH, "d") == 30
    assert prof.recording is not None
    assert sorted(prof.recording.tasks["key"]) == sorted(str(each.key) for each in prof.results)
    assert "stopped" in prof.recording.about
    before = prof.recording
    with prof:
        get(GRAPH, "c")
    assert prof.recording is not before, "each block is a recording of its own"
    assert len(prof.recording.tasks) == len(prof.results)


def test_nested_blocks_share_a_recording_that_ends_with_the_outermost() -> None:
    from dask.threaded import get

    with dask_insight.Profiler() as prof:
        with dask_insight.ResourceProfiler(dt=0.01) as resources, dask_insight.CacheProfiler() as cache:
            get(GRAPH, "d")
        assert "stopped" not in prof.recording.about
        get(GRAPH, "c")
    assert prof.recording is resources.recording is cache.recording
    assert len(prof.recording.tasks) == len(prof.results)
    assert not prof.recording.cache.empty


def test_a_block_ends_where_garbage_is_collected_while_another_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, record = dask_insight.Profiler(), block.record

    def collected(**options: Any) -> Any:
        # As a generator ends that nobody holds, with the block in it.
        first._end()
        return record(**options)

    def begin() -> None:
        with dask_insight.CacheProfiler(metric=len):
            pass

    with first:
        monkeypatch.setattr(block, "record", collected)
        thread = threading.Thread(target=begin, daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
    assert first.recording is not None and "stopped" in first.recording.about
    assert block._running == []


def test_a_metric_of_ones_own_is_recorded() -> None:
    from dask.threaded import get

    with (
        dask_insight.Profiler() as prof,
        dask_insight.CacheProfiler(metric=lambda value: 7.0, metric_name="sevens") as cache,
    ):
        get(GRAPH, "d")
    assert {each.metric for each in cache.results} == {7.0}
    assert cache.recording is not prof.recording
    assert cache.recording.cache["size"].max() >= 7.0


def test_figures_have_a_label_for_each_function() -> None:
    bokeh = pytest.importorskip("bokeh.models")
    parts = [dask.delayed(abs)(number) for number in range(5)]
    with (
        dask_insight.Profiler() as prof,
        dask_insight.ResourceProfiler(dt=0.01) as resources,
        dask_insight.CacheProfiler() as cache,
    ):
        dask.delayed(sum)(parts).compute(scheduler="threads")
    data = [source.data for source in prof.visualize(show=False, save=False).select(bokeh.ColumnDataSource)]
    (tasks,) = [each for each in data if "function" in each]
    assert sorted(tasks["function"]) == ["abs"] * 5 + ["sum"]
    assert len(set(tasks["color"])) == 2
    lines = [source.data for source in cache.visualize(show=False, save=False).select(bokeh.ColumnDataSource)]
    assert sorted(each["label"][0] for each in lines if "label" in each) == ["abs", "sum"]
    stacked = dask_insight.visualize(
        [prof, resources, cache], show=False, save=False, palette="Inferno", title="Mine", width=500
    )
    figures = [figure for figure, *_ in stacked.children]
    assert len(figures) == 3
    assert {id(figure.x_range) for figure in figures} == {id(figures[0].x_range)}
    assert (figures[0].title.text, figures[0].width) == ("Mine", 500)


def test_figures_are_saved_where_they_are_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    from dask.threaded import get

    with dask_insight.Profiler() as prof:
        get(GRAPH, "d")
    prof.visualize(show=False, save=True, filename=str(tmp_path / "mine.html"), mode="inline")
    assert "<html" in (tmp_path / "mine.html").read_text("utf-8")


def test_registered_for_good_and_off_again() -> None:
    from dask.threaded import get

    prof = dask_insight.Profiler()
    prof.register()
    try:
        get(GRAPH, "d")
    finally:
        prof.unregister()
    seen = len(prof.recording.tasks)
    assert seen == len(prof.results)
    get(GRAPH, "d")
    assert len(prof.recording.tasks) == seen


def test_an_error_passes_and_the_recording_has_it() -> None:
    from dask.threaded import get

    with pytest.raises(ZeroDivisionError), dask_insight.Profiler() as prof:
        get({"x": (operator.truediv, 1, 0)}, "x")
    assert prof.recording.tasks["status"].tolist() == ["erred"]


@pytest.fixture(scope="module")
def cluster() -> Any:
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        yield cluster


def test_a_memory_sampler_records_each_sample(cluster: LocalCluster) -> None:
    sampler = dask_insight.MemorySampler()
    with Client(cluster) as client:
        with sampler.sample("one", interval=0.05):
            client.submit(sum, range(10)).result()
        with sampler.sample(interval=0.05):
            client.submit(sum, range(11)).result()
    assert set(sampler.samples) == set(sampler.recordings)
    assert sampler.samples["one"][0][1] > 0
    assert len(sampler.recordings["one"].tasks) == 1
    assert list(sampler.to_pandas(align=True).columns) == list(sampler.samples)


def test_a_memory_sampler_keeps_a_block_that_fails_and_nested_ones_apart(cluster: LocalCluster) -> None:
    sampler = dask_insight.MemorySampler()
    with Client(cluster) as client:
        with pytest.raises(ZeroDivisionError), sampler.sample("one", interval=0.05):
            client.submit(sum, range(20)).result()
            raise ZeroDivisionError
        assert len(sampler.recordings["one"].tasks) == len(sampler.samples) == 1
        with sampler.sample("one", interval=0.05):
            with sampler.sample(interval=0.05):
                client.submit(sum, range(21)).result()
            client.submit(sum, range(22)).result()
    assert set(sampler.samples) == set(sampler.recordings)
    (inner,) = set(sampler.samples) - {"one"}
    assert len(sampler.recordings[inner].tasks) == 1
    assert len(sampler.recordings["one"].tasks) == 2


def _log() -> None:
    logging.getLogger("distributed.worker").info("information is shown, as there")


def test_a_performance_report_is_ours(cluster: LocalCluster, tmp_path: Path) -> None:
    with Client(cluster) as client:
        with dask_insight.performance_report(filename=f"file://{tmp_path}/report.html") as report:
            client.submit(sum, range(12)).result()
            client.run(_log)
        assert len(report.recording.tasks) == 1
        assert "as there" in " ".join(report.recording.events["message"])
    text = (tmp_path / "report.html").read_text("utf-8")
    assert 'content="dask_insight"' in text and "<dt>Tasks</dt><dd>1</dd>" in text


def test_a_performance_report_that_fails_leaves_the_file_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(recording: Any) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("dask_insight.hosts.report.report_html", fails)
    path = tmp_path / "report.html"
    path.write_text("the one before", "utf-8")
    with pytest.raises(ZeroDivisionError):
        dask_insight.performance_report(filename=str(path))._write(dask_insight.Recording())
    assert path.read_text("utf-8") == "the one before"


def test_an_asynchronous_client_has_the_same(cluster: LocalCluster, tmp_path: Path) -> None:
    async def run() -> None:
        sampler = dask_insight.MemorySampler()
        async with Client(cluster.scheduler_address, asynchronous=True) as client:
            async with dask_insight.performance_report(tmp_path / "report.html.gz") as report:
                await client.submit(sum, range(13))
                await client.run(_log)
            assert "as there" in " ".join(report.recording.events["message"])
            async with sampler.sample("one", client=client, interval=0.05):
                await client.submit(sum, range(14))
            async with dask_insight.get_task_stream(client) as stream:
                await client.submit(sum, range(15))
        assert len(report.recording.tasks) == len(sampler.recordings["one"].tasks) == 1
        assert len(stream.recording.tasks) == len(stream.data) == 1

    asyncio.run(run())
    assert (tmp_path / "report.html.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_a_task_stream_has_distributeds_data_and_figure(cluster: LocalCluster) -> None:
    with Client(cluster) as client, dask_insight.get_task_stream(client, plot=True) as stream:
        client.gather(client.map(abs, range(5), pure=False))
    assert {each["key"] for each in stream.data} == set(stream.recording.tasks["key"])
    assert type(stream.figure).__name__ == "figure"


def test_a_task_stream_can_be_used_again(cluster: LocalCluster) -> None:
    with Client(cluster) as client:
        stream = dask_insight.get_task_stream(client)
        for count in (3, 2):
            with stream:
                client.gather(client.map(abs, range(count), pure=False))
            assert len(stream.recording.tasks) == count


def test_a_cluster_that_cannot_be_recorded_hinders_no_block(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Any:
        raise OSError("it takes no plugins")

    async def refused_async(*_: Any) -> Any:
        refused()

    async def run() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True) as client:
            with pytest.warns(RuntimeWarning, match="not recorded: OSError: it takes no plugins"):
                async with sampler.sample("later", client=client, interval=0.05):
                    await client.submit(sum, range(31))

    monkeypatch.setattr(Session, "start", refused)
    monkeypatch.setattr(Session, "start_async", refused_async)
    sampler = dask_insight.MemorySampler()
    with Client(cluster) as client:
        stream = dask_insight.get_task_stream(client)
        with (
            pytest.warns(RuntimeWarning, match="not recorded: OSError: it takes no plugins"),
            sampler.sample("one", interval=0.05),
        ):
            client.submit(sum, range(32)).result()
        with pytest.warns(RuntimeWarning, match="it takes no plugins"), stream:
            client.submit(sum, range(33)).result()
    asyncio.run(run())
    assert set(sampler.samples) == {"one", "later"} and sampler.recordings == {}
    assert len(stream.data) == 1 and stream.recording is None


def test_a_custom_activity_is_metered() -> None:
    from distributed.metrics import context_meter

    assert dask_insight.context_meter is context_meter


def spin_leaf(seconds: float) -> int:
    """Keep a thread busy."""
    end, total = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        total += 1
    return total


def counted(state: dict[str, Any], name: str) -> int:
    """Counts of all frames of this name that are not below one another."""
    if state["description"]["name"].endswith(name):
        return int(state["count"])
    return sum(counted(child, name) for child in state["children"].values())


def test_a_profile_is_what_distributed_draws(cluster: LocalCluster, tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    from distributed.profile import plot_data

    with Client(cluster) as client, dask_insight.record(client=client, local=False) as run:
        client.gather(client.map(spin_leaf, [0.3, 0.31, 0.32], pure=False))
        client.submit(time.sleep, 0.2).result()
    state = profile(run, key="spin_leaf")
    assert state.keys() == {"count", "children", "identifier", "description"}
    ran = run.tasks.loc[run.tasks["prefix"] == "spin_leaf", "duration"].sum()
    assert counted(state, "spin_leaf") * 0.01 == pytest.approx(ran, rel=0.3), "in counts of 10 ms"
    assert counted(profile(run, key="sleep"), "spin_leaf") == 0
    assert "spin_leaf" in "".join(plot_data(state, 0.01)["name"])
    assert sum(each["count"] for each in state["children"].values()) == state["count"]

    (address,) = profile(run, merge_workers=False)
    assert address == run.workers["worker"].iloc[0]
    everything = profile(run)
    assert profile(run, workers=address) == profile(run, workers=[run.workers["name"].iloc[0]]) == everything
    assert profile(run, stop=run.started)["count"] == 0
    for outside in (profile(run, scheduler=True), profile(run, server=True)):
        assert counted(outside, "spin_leaf") == 0
    with pytest.raises(ValueError, match="no worker 'tcp://nowhere'"):
        profile(run, workers="tcp://nowhere")
    _, figure = profile(run, filename=str(tmp_path / "profile.html"))
    assert type(figure).__name__ == "figure"
    assert "spin_leaf" in (tmp_path / "profile.html").read_text("utf-8")


def test_a_worker_that_came_back_is_one_with_both_its_addresses() -> None:
    run = open_recording(Path(__file__).parent / "golden" / "run.dinsight")
    workers = run.workers
    before = profile(run, workers=workers["name"].iloc[:1])
    assert before["count"]
    assert before == profile(run, workers=workers["worker"].to_numpy()[:1])
    assert before == profile(run, workers=pd.Index(workers["name"][:1]))
    again = {"worker": ["tcp://10.0.0.9:1"], "name": [workers["name"].iloc[0]], "joined": [run.started + 9]}
    run.append(encode("workers", again))
    assert profile(run, workers=workers["name"].iloc[0]) == before


def test_what_is_short_counts_where_it_was_called_from() -> None:
    run, leaves = Recording(), list(range(1, 201))
    names = {"function": ["work", *(f"leaf{leaf}" for leaf in leaves)], "file": ["work.py"] * 201}
    run.append(encode("stacks", {"stack": [0, *leaves], "parent": [NOTHING, *[0] * 200], **names}))
    taken = {
        "process": ["tcp://a:1"] * 200,
        "time": [leaf / 100 for leaf in leaves],
        "duration": [0.004] * 200,
    }
    run.append(encode("samples", {**taken, "stack": leaves, "run": [0] * 200}))
    state = profile(run)
    assert (state["count"], counted(state, "work")) == (80, 80)


def test_a_task_stream_is_saved_like_distributeds(cluster: LocalCluster, tmp_path: Path) -> None:
    pytest.importorskip("bokeh")
    file = tmp_path / "stream.html"
    with (
        Client(cluster) as client,
        dask_insight.get_task_stream(client, plot="save", filename=str(file)) as stream,
    ):
        client.gather(client.map(abs, range(20, 23), pure=False))
    assert len(stream.data) == 3
    assert "<html" in file.read_text("utf-8")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_profilers_that_were_used_are_copied_with_their_recordings(copied: Any) -> None:
    with dask_insight.Profiler() as profiler, dask_insight.CacheProfiler(metric=abs) as cached:
        dask.threaded.get(GRAPH, "d")
        running = copied(profiler)
    for used in (profiler, cached):
        again = copied(used)
        assert again.results == used.results and len(again.results) == 2
        assert len(again.recording.tasks) == len(used.recording.tasks) == 2
    assert len(running.results) == 2
    comparison = copied(dask_insight.compare(profiler.recording, cached.recording))
    assert len(comparison.sides) == 2
