"""What is passed to the questions of a recording: taken where it is plain, else refused with a cure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_findings_time import TWO
from test_time_budget import Run

import dask_insight
from dask_insight import RecordingError, figures
from dask_insight.compat.cluster import profile
from dask_insight.compat.dasf import MultiEventDatabase, TraceAnalyser
from dask_insight.recording import Recording


@pytest.fixture(scope="module")
def recording() -> Recording:
    run = Run(a=TWO, b=TWO)
    for number in range(8):
        run.task("load" if number % 2 else "solve", "ab"[number // 4], number, number + 1.0)
    return run.recording()


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (
            lambda run: run.flame(worker="nope"),
            ValueError,
            "no worker 'nope' in this recording; there are 'a'",
        ),
        (lambda run: run.flame(prefix="lod"), ValueError, "no task name 'lod' in this recording; .* 'load'"),
        (lambda run: run.flame(prefix=["load", "x"]), ValueError, "no task name 'x'"),
        (lambda run: run.flame(start=5, stop=1), ValueError, "stop=1 is before start=5"),
        (lambda run: run.findings(start=5, stop=1), ValueError, "stop=1 is before start=5"),
        (lambda run: run.time_budget(start=5, stop=1), ValueError, "stop=1 is before start=5"),
        (lambda run: run.slice(2, 1), ValueError, "stop=1 is before start=2"),
        (lambda run: run.slice(0, np.nan), ValueError, "stop=nan"),
        (lambda run: run.slice("1s"), TypeError, "start='1s' is no number; give seconds since"),
        (lambda run: run.what_if(workers=2.5), ValueError, "workers=2.5 must be a whole number"),
        (lambda run: run.what_if(workers=np.inf), ValueError, "workers=inf must be a whole number"),
        (lambda run: run.what_if(threads="8"), TypeError, "threads='8' is no number"),
        (lambda run: run.what_if(chunks="2"), TypeError, "chunks='2' is no number"),
        (
            lambda run: run.what_if(faster=["load"]),
            TypeError,
            "must give a number for each name, as {'load': 2}",
        ),
        (lambda run: run.what_if(faster={"load": "2"}), TypeError, r"faster\['load'\]='2' is no number"),
        (lambda run: run.findings(["a"]), TypeError, "as {'tiny-tasks.mean': 0.02}"),
        (lambda run: run.time_budget(by="time", every=".soon"), ValueError, r"every='\.soon' is no duration"),
        (lambda run: run.time_budget(every="1s"), ValueError, "every= is the length of a bin: .*by='time'"),
        (lambda run: run.balance(every=0), ValueError, "every=0 must be longer than nothing"),
        (lambda run: run.balance(every=[1]), ValueError, r"every=\[1\] is no duration"),
        (lambda run: run.flame(task="nope"), ValueError, "no task 'nope' in this recording"),
        (lambda run: run.flame(task=b"x"), ValueError, "no task \"b'x'\" in this recording"),
        (lambda run: run.flame(run="1"), TypeError, "run='1' is no number"),
        (lambda run: run.flame(run=10**6), ValueError, "no attempt 1000000 in this recording"),
        (lambda run: run.flame(lines="no"), TypeError, "lines='no' must be True or False"),
        (lambda run: run.slice(10**400), ValueError, "start is too large a number; give seconds"),
        (lambda run: run.what_if(transfers="no"), TypeError, "transfers='no' must be True or False"),
        (lambda run: run.what_if(spilling=0), TypeError, "spilling=0 must be True or False"),
        (lambda run: run.what_if(workers=10**9), ValueError, "more than 100,000 are not simulated"),
        (lambda run: run.what_if(chunks=1e-9), ValueError, "makes 8,000,000,000 tasks, more than 2,000,000"),
        (lambda run: run.what_if(chunks=np.inf), ValueError, "chunks=inf: chunks can become 2, 3"),
        (lambda run: run.what_if(cluster=["a"]), ValueError, r"cluster=\['a'\]: no tasks"),
        (lambda run: run.findings({5: 1}), TypeError, "a name=5 is no text; give {'tiny-tasks.mean': 0.02}"),
        (lambda run: run.bottlenecks(5), ValueError, "by='5' is none of function"),
        (lambda run: run.time_budget(by=5), ValueError, "by='5' is none of function"),
        (
            lambda run: run.moved(by=["name", "pair"]),
            ValueError,
            r"by=\['name', 'pair'\] must be one of",
        ),
        (lambda run: run.critical_path(by=["x"]), ValueError, "by='x' is none of"),
        (lambda run: run.note("a", "b", "now"), TypeError, "when='now' is no number; give seconds since"),
        (lambda run: run.note("a", "b", level="loud"), ValueError, "level='loud' is none of debug"),
        (lambda run: run.report("run.html", title=5), TypeError, "title=5 is no text; give the heading"),
        (lambda run: run.save(5), TypeError, "5 is no path: give a str or a pathlib.Path"),
        (lambda run: run.export(b"a", "csv"), TypeError, "b'a' is no path"),
        (lambda run: run.table(["tasks"]), KeyError, r"no table \['tasks'\]; there are"),
        (lambda run: run.describe(["tasks"]), KeyError, r"no table \['tasks'\]; there are"),
        (lambda run: run.export("a", ["csv"]), ValueError, r"\['csv'\] is no format: choose one of"),
        (lambda run: figures.task_stream(run, width=0), ValueError, "width=0 must be 1 or more"),
        (lambda run: figures.events(run, limit=-5), ValueError, "limit=-5 must be 1 or more"),
        (lambda run: profile(run, interval=0), ValueError, "interval=0 must be longer than nothing"),
        (lambda run: profile(run, start="1"), TypeError, "start='1' is no number"),
        (lambda run: profile(run, start=5, stop=1), ValueError, "stop=1 is before start=5"),
        (lambda _: TraceAnalyser(None), TypeError, "None holds no events: give a MultiEventDatabase"),
        (lambda _: TraceAnalyser([1]), TypeError, "1 is no event: give a MultiEventDatabase"),
        (lambda _: TraceAnalyser("nope.msgpack"), FileNotFoundError, "nope.msgpack"),
        (lambda _: MultiEventDatabase(["nope.msgpack"]), FileNotFoundError, "nope.msgpack"),
        (lambda _: dask_insight.open("."), RecordingError, ". is a folder: name a recording in it"),
        (lambda _: dask_insight.load("."), RecordingError, ". is a folder: name a file in it"),
        (lambda _: dask_insight.open(0), TypeError, "0 is no path"),
        (lambda _: dask_insight.load("s3://a"), ValueError, "s3://a is a URL"),
        (lambda run: dask_insight.compare(run, 5), TypeError, "a int cannot be compared"),
        (lambda _: dask_insight.watch(5), TypeError, "client=5 is no client"),
        (lambda _: dask_insight.record(local="no"), TypeError, "local='no' must be True or False"),
        (lambda _: dask_insight.record(clusters=None), TypeError, "clusters=None must be True or False"),
        (lambda _: dask_insight.record(name=5), TypeError, "name=5 is no text; give what to call"),
        (lambda _: dask_insight.record(profile=[]), ValueError, r"profile=\[\] is no duration"),
        (lambda _: dask_insight.record(ring=0), ValueError, "ring=0 must be 1 row at least"),
        (lambda _: dask_insight.record(cache_metric=5), TypeError, "cache_metric=5 is no function"),
    ],
)
def test_what_makes_no_sense_is_refused(
    recording: Recording, ask: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ask(recording)


def test_a_part_has_the_names_of_what_is_in_it(recording: Recording) -> None:
    part = recording.slice(7.1, 7.9)
    assert list(part.tasks["prefix"].cat.categories) == ["load"]
    with pytest.raises(ValueError, match="no task name 'solve' in this recording; there are 'load'"):
        part.flame(prefix="solve")


@pytest.mark.parametrize("word", ["function", "prefix", "name"])
def test_every_word_for_the_name_of_a_task_is_taken_by_who_sums_by_it(
    recording: Recording, word: str
) -> None:
    for method in ("bottlenecks", "time_budget", "held", "moved", "dependencies", "shape", "critical_path"):
        ask: Callable[..., Any] = getattr(recording, method)
        same = ask("prefix" if method == "critical_path" else "function")
        assert str(ask(word)) == str(same), method
    both = recording.bottlenecks(["worker", word])
    assert both.equals(recording.bottlenecks(["worker", "function"]))
    assert figures.svg(recording, "memory", by=word, prefix="load") == figures.svg(
        recording, "memory", by="name", prefix="load"
    )


@pytest.mark.parametrize(("method", "table"), [("time_budget", "budget"), ("critical_path", "critical")])
def test_an_answer_is_described_by_the_name_of_its_method_too(
    recording: Recording, method: str, table: str
) -> None:
    assert recording.describe(method).equals(recording.describe(table))


def test_what_is_plain_is_taken(recording: Recording) -> None:
    part = recording.slice(None, 2)
    assert sorted(part.tasks["key"]) == sorted(recording.slice(stop=2).tasks["key"])
    assert recording.what_if(workers=np.int64(2)).seconds == recording.what_if(workers=2.0).seconds
    for told, number in (("1s", 1), ("500ms", 0.5), (" .5 s", 0.5), ("5 min", 300)):
        assert recording.balance(every=told).equals(recording.balance(every=number))
        assert recording.time_budget(by="time", every=told).equals(
            recording.time_budget(by="time", every=number)
        )
    assert recording.slice(np.float32(1), np.int8(2)).tasks.equals(recording.slice(1, 2).tasks)
    assert (
        len(recording.flame(prefix=np.array(["load"]), task=recording.tasks["key"][0], run=np.uint32(1))) == 0
    )
    assert recording.what_if(chunks=1e300).seconds > 0
    recording.note("loss", 0.25)
    assert recording.events["message"].tolist() == ["0.25"]
    assert recording.findings(start=None, stop=None).failed == ()
    assert len(recording.flame(worker="scheduler")) == 0


@pytest.mark.parametrize("option", ["profile", "resources", "poll", "stop_timeout"])
@pytest.mark.parametrize("given", ["", " ", "1e400", 10**400])
def test_what_dask_cannot_read_as_a_duration_is_refused_in_words(option: str, given: object) -> None:
    with pytest.raises(ValueError, match=f"{option}=.* is no duration; write for example '200ms'"):
        dask_insight.record(**{option: given})


@pytest.mark.parametrize("option", ["profile", "resources", "poll", "stop_timeout"])
def test_a_duration_that_no_thread_can_wait_for_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match="is longer than can be waited for; give"):
        dask_insight.record(**{option: 1e300})
