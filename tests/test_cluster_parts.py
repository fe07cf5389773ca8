"""The parts of the cluster source that need no cluster: callers, submissions, gathered rows, packed rows."""

from __future__ import annotations

import asyncio
import json
import linecache
import math
import threading
import tracemalloc
from struct import calcsize
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import dask
import msgpack
import numpy as np
import pytest
from conftest import Batches
from distributed.utils import LoopRunner, sync

from dask_insight.batch import table_of
from dask_insight.identity import Identity
from dask_insight.options import Options
from dask_insight.probe import cluster
from dask_insight.probe.graph import sample
from dask_insight.probe.journal import Journal, Labels
from dask_insight.probe.layouts import LAYOUTS
from dask_insight.probe.rows import Items, packing
from dask_insight.probe.tasks import STATUSES
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING
from dask_insight.sources.cluster import attempts, callers, messages, recent, submitted
from dask_insight.sources.cluster.callers import Caller, watch
from dask_insight.sources.cluster.gather import Gather
from dask_insight.sources.cluster.layouts import DTYPES, pick
from dask_insight.sources.cluster.own import ClientProcess
from dask_insight.sources.cluster.peers import Peers
from dask_insight.sources.cluster.spans import Spans
from dask_insight.sources.cluster.submissions import Submissions
from dask_insight.sources.cluster.tables import Tables
from dask_insight.sources.cluster.unended import Unended
from dask_insight.tables.cores import Place, places
from dask_insight.tables.processes import processes


class Client:
    """As much of a client as sends."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def _send_to_scheduler(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


def submit(client: Any, *keys: str) -> None:
    client._send_to_scheduler({"op": "update-graph", "keys": set(keys)})


def test_several_watches_on_a_client_and_none_left() -> None:
    client, first, second = Client(), [], []
    stop_first = watch(client, lambda keys, caller: first.append((keys, caller.function)))
    stop_second = watch(client, lambda keys, caller: second.append((keys, caller.function)))
    submit(client, "a")
    stop_first()
    submit(client, "b")
    client._send_to_scheduler({"op": "other"})
    stop_second()
    submit(client, "c")
    assert first == [(["a"], "submit")]
    assert second == [(["a"], "submit"), (["b"], "submit")]
    assert len(client.sent) == 4
    assert "_send_to_scheduler" not in vars(client)


def test_a_failing_listener_does_not_stop_the_client() -> None:
    client = Client()
    stop = watch(client, lambda keys, caller: 1 / 0)
    submit(client, "a")
    stop()
    assert len(client.sent) == 1


def test_a_notebook_cell_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(compile=SimpleNamespace(_filename_map={"/tmp/ipykernel_1/2.py": 7}))
    monkeypatch.setitem(callers.sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    scope: dict[str, Any] = {"__name__": "__main__", "client": Client()}
    found: list[Caller] = []
    watch(scope["client"], lambda keys, caller: found.append(caller))
    exec(
        compile(
            "\nclient._send_to_scheduler({'op': 'update-graph', 'keys': {'a'}})",
            "/tmp/ipykernel_1/2.py",
            "exec",
        ),
        scope,
    )
    assert (found[0].file, found[0].line, found[0].function) == ("In [7]", 2, "<module>")


def _of_library(file: str, text: str) -> dict[str, Any]:
    """What an installed library has defined."""
    scope: dict[str, Any] = {"__name__": "xgboost.dask", "asyncio": asyncio, "threading": threading}
    exec(compile(dedent(text), f"/env/site-packages/{file}", "exec"), scope)
    return scope


@pytest.mark.parametrize(
    ("file", "text", "known"),
    [
        pytest.param(
            "xgboost/dask.py",
            "def fit(loop, sync, work): sync(loop, work)",
            True,
            id="XGBoost, dask-ml: a coroutine that is waited for",
        ),
        pytest.param(
            "joblib/parallel.py",
            """
            def fit(loop, sync, work):
                done = threading.Event()
                loop.add_callback(lambda: [send(), done.set()])
                done.wait()
            """,
            True,
            id="joblib, scikit-learn: a callback",
        ),
        pytest.param(
            "another/pool.py",
            "def fit(loop, sync, work): asyncio.run_coroutine_threadsafe(work(), loop.asyncio_loop).result()",
            False,
            id="what the main thread may know nothing of",
        ),
    ],
)
def test_what_a_library_submits_on_its_event_loop_has_the_line_that_called_it(
    file: str, text: str, known: bool
) -> None:
    client = Client()
    found: list[Caller] = []
    watch(client, lambda keys, caller: found.append(caller))
    library = _of_library(
        "xgboost/dask.py",
        """
        def send(): client._send_to_scheduler({"op": "update-graph", "keys": {"a"}})
        async def work(): send()
        """,
    )
    library["client"] = client
    scope = _of_library(file, text)
    scope["send"] = library["send"]
    runner = LoopRunner()
    runner.start()
    try:
        scope["fit"](runner.loop, sync, library["work"])
    finally:
        runner.stop()
    mine = test_what_a_library_submits_on_its_event_loop_has_the_line_that_called_it.__name__
    assert [(each.function, each.file) for each in found] == [(mine, __file__) if known else ("", "")]
    assert ("runner.loop, sync" in found[0].code) == known


def facts(number: int, key: str = "") -> dict[str, Any]:
    return {
        "submission": number,
        "time": 1.0,
        "tasks": 1,
        "client": "c",
        "key": key,
        "metrics": {"new_tasks": 1},
    }


def test_submissions_find_their_line_by_any_key() -> None:
    batches = Batches()
    submissions = Submissions(batches)
    submissions.called(["a", "b"], Caller("one.py", 1, "f", ""))
    submissions.called(["c"], Caller("two.py", 2, "g", ""))
    submissions.add(0, facts(0, "x"))
    submissions.add(1, facts(1, "c"))
    submissions.seen(["z", "b"], np.array([0, 0], "u4"))
    submissions.settle()
    rows = {row["submission"]: (row["file"], row["line"]) for row in batches.table("submissions")}
    assert rows == {0: ("one.py", 1), 1: ("two.py", 2)}


def test_a_submission_of_a_task_is_told_from_the_programs_own() -> None:
    batches = Batches()
    submissions = Submissions(batches)
    submissions.called(["a"], Caller("work.py", 1, "f", "", by_task=True))
    submissions.called(["b"], Caller("program.py", 2, "g", ""))
    for number, key in enumerate("ab"):
        submissions.add(number, facts(number, key) | {"client": "Client-1a"})
    submissions.settle()
    assert [row["client"] for row in batches.table("submissions")] == ["Client-worker-1a", "Client-1a"]


def test_a_graph_that_is_handed_over_again_has_the_line_of_its_call() -> None:
    batches = Batches()
    submissions = Submissions(batches)
    for line in (10, 20, 30):
        submissions.called(["a", "b"], Caller("loop.py", line, "f", ""))
    for number in range(3):
        submissions.add(number, facts(number, "a"))
        submissions.seen(["a", "b"], np.array([number] * 2, "u4"))
    submissions.settle()
    assert [row["line"] for row in batches.table("submissions")] == [10, 20, 30]


def test_scheduler_and_client_recognise_a_graph_by_the_same_keys() -> None:
    keys = [("x", number) for number in range(100)]
    assert sample(set(keys), 1)[0] in sample(keys[::-1], 16)


def test_a_task_that_was_there_before_takes_no_line_from_the_submission_that_asks_for_it() -> None:
    batches = Batches()
    submissions = Submissions(batches)
    submissions.called(["before"], Caller("one.py", 1, "f", ""))
    submissions.seen(["before"], np.array([NOTHING], "u4"))
    submissions.add(0, facts(0, "before"))
    submissions.settle()
    assert [row["file"] for row in batches.table("submissions")] == ["one.py"]


def test_of_a_submission_that_is_written_nothing_is_kept() -> None:
    submissions = Submissions(Batches())
    submissions.called(["a", "b"], Caller("one.py", 1, "f", ""))
    submissions.add(0, facts(0, "a"))
    submissions.settle()
    submissions.seen(["b"], np.array([0], "u4"))
    assert not submissions._found and not submissions._calls and not submissions._waiting


def test_a_submission_of_somebody_else_is_kept_without_a_line() -> None:
    batches = Batches()
    submissions = Submissions(batches)
    submissions.add(3, facts(3))
    submissions.settle()
    assert batches.table("submissions") == []
    submissions.settle(final=True)
    (row,) = batches.table("submissions")
    assert (row["submission"], row["file"], row["line"]) == (3, "", 0)


def test_a_graph_that_is_long_in_the_making_is_told_once_meanwhile() -> None:
    batches = Batches()
    submissions = Submissions(batches)
    submissions.called(["known"], Caller("old.py", 1, "f", ""))
    submissions.called(["a", "b"], Caller("new.py", 2, "f", ""))
    for now, graphs in ((0.0, 1), (5.0, 0), (6.0, 1), (15.0, 1), (16.5, 2), (40.0, 1), (41.0, 0)):
        submissions.making(graphs, now)
    (row,) = batches.table("events")
    assert (row["time"], row["kind"]) == (16.5, "graph") and "new.py:2" in row["message"]
    assert json.loads(row["detail"]) == {"since": 6.0, "file": "new.py", "line": 2}
    submissions.making(1, 50.0)
    submissions.making(1, 60.0)
    assert [row["time"] for row in batches.table("events")] == [16.5, 60.0]


def test_lines_that_nothing_comes_of_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_insight.sources.cluster.submissions._MOST", 2)
    batches = Batches()
    submissions = Submissions(batches)
    for number in range(4):
        submissions.called([str(number)], Caller(f"{number}.py", 1, "f", ""))
    submissions.settle()
    for number in range(4):
        submissions.add(number, facts(number, str(number)))
    submissions.settle(final=True)
    assert [row["file"] for row in batches.table("submissions")] == ["", "", "2.py", "3.py"]


def test_lines_are_bounded_by_their_keys_also_where_these_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dask_insight.sources.cluster.submissions._MOST", 10)
    batches, told = Batches(), []
    submissions = Submissions(batches, lost=told.append)
    for line in (1, 2, 3):
        submissions.called(list("abcd"), Caller("loop.py", line, "f", "", nbytes=1.0))
    submissions.settle()
    for number in range(3):
        submissions.add(number, facts(number, "a"))
    submissions.settle(final=True)
    assert [row["line"] for row in batches.table("submissions")] == [2, 3, 0]
    assert len(told) == 1


def test_lines_that_are_lost_are_told_whenever_they_have_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_insight.sources.cluster.submissions._MOST", 2)
    told: list[str] = []
    submissions = Submissions(Batches(), lost=told.append)
    for number in range(12):
        submissions.called([str(number)], Caller("loop.py", 1, "f", ""))
        submissions.settle()
    assert [words.split(" of ")[2].split()[0] for words in told] == ["1", "2", "4", "8"]


def test_a_loop_of_submissions_keeps_every_line_while_the_scheduler_is_behind() -> None:
    batches = Batches()
    submissions = Submissions(batches)
    for number in range(50_000):
        submissions.called([str(number)], Caller("loop.py", 1, "f", ""))
    submissions.settle()
    for number in range(50_000):
        submissions.add(number, facts(number, str(number)))
    submissions.settle()
    assert [row["file"] for row in batches.table("submissions")] == ["loop.py"] * 50_000


def test_submissions_of_one_line_share_its_text() -> None:
    client, found = Client(), []
    stop = watch(client, lambda keys, caller: found.append(caller.code))
    submit(client, "a")
    submit(client, "b")
    stop()
    assert "def submit(" in found[0] and found[0] is found[1]


def test_a_cell_whose_later_lines_were_edited_is_told_as_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []
    scope: dict[str, Any] = {"__name__": "__main__", "client": Client()}
    stop = watch(scope["client"], lambda keys, caller: found.append(caller.code))
    first = "client._send_to_scheduler({'op': 'update-graph', 'keys': {'a'}})\n"
    texts = [first + "before\n", first + "after\n"]
    for number, text in enumerate(texts):
        file = f"<cell {number}>"
        monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(True), file))
        # IPython compiles each statement by itself.
        exec(compile(first, file, "exec"), scope)
    stop()
    assert found == texts


def test_transfers_name_the_worker_that_had_the_address_then() -> None:
    peers = Peers()
    peers.joined("tcp://10.0.0.1:9000", 1.0)
    peers.joined("tcp://10.0.0.1:9000#2", 5.0)
    # As where a worker is told to call itself by the name of its host.
    peers.calls_itself("tcp://10.0.0.2:9000", "tcp://worker2:9000")
    addresses = ["", "tcp://10.0.0.1:9000", "tcp://worker2:9000", "tcp://10.0.0.3:40"]
    found = peers.named(np.array([1, 1, 2, 3, 0], "u4"), addresses, np.array([2.0, 6.0, 6.0, 6.0, 6.0]))
    assert found.tolist() == [
        "tcp://10.0.0.1:9000",
        "tcp://10.0.0.1:9000#2",
        "tcp://10.0.0.2:9000",
        "tcp://10.0.0.3:40",
        "",
    ]


def test_of_many_workers_that_had_one_address_each_had_it_in_its_time() -> None:
    peers, address = Peers(), "tcp://10.0.0.1:9000"
    for number in (1, *range(300, 1, -1)):
        peers.joined(address if number == 1 else f"{address}#{number}", 10.0 * number)
    peers.joined(f"{address}#301", np.nan)
    peers.joined(f"{address}#300", 1.0)
    when = np.array([3000.0, 2999.9, 15.0, 1e9, np.nan])
    assert [name.partition("#")[2] for name in peers.named(np.zeros(5, "u4"), [address], when).tolist()] == [
        *("300", "299", "", "300", "")
    ]
    assert len(peers._later[address][0]) == len(peers._later[address][1]) == 200


def test_workers_that_call_themselves_as_the_scheduler_does_are_not_noted() -> None:
    peers = Peers()
    for label in ("tcp://a:1", "tcp://b:1"):
        peers.calls_itself(label, "tcp://b:1")
    assert peers._addresses == {}


def journal() -> tuple[Journal, Items]:
    events, labels = Items(100), Labels()
    labels.of("tcp://10.0.0.1:9000", "server")
    return Journal(events, SimpleNamespace(), labels), events  # type: ignore[arg-type]


def test_code_that_is_sent_to_a_scheduler_is_kept_to_itself() -> None:
    told, events = journal()
    told.logged("all", {"action": "run-function", "function": b"AWS_SECRET" * 10}, ())
    ((*_, detail),) = events.take(0, 10)[2]
    assert json.loads(detail) == {"action": "run-function", "function": 100}


@pytest.mark.parametrize("name", ["preload-argv", "preload_argv"])
def test_what_preloads_are_given_is_kept_to_itself(name: str) -> None:
    """Dask keeps a setting by the name under which it met it first."""
    scheduler = SimpleNamespace(id="Scheduler-1", address="tcp://s:1", workers={})
    with dask.config.set({"distributed.scheduler": {name: ["--token", "s3cret"], "bandwidth": 7}}):
        assert cluster.about(scheduler)["config"]["distributed.scheduler"] == {"bandwidth": 7}


@pytest.mark.parametrize("source", [True, False])
@pytest.mark.parametrize("lines", [1, 5_000])
def test_a_worker_that_fails_hard_tells_no_code_where_none_is_kept(source: bool, lines: int) -> None:
    told, events = journal()
    called = '  File "work.py", line 3, in step\n' + "    log_in(hunter2)\n" * lines
    error = {"status": "error", "exception": b"", "exception_text": "OSError()", "traceback_text": called}
    told.logged("worker-fail-hard", error, ())
    batches = Batches()
    gather = Gather(batches)
    tables = Tables(Identity(), batches, gather, Submissions(batches), "tcp://s:1")
    tables.messages.source = source
    tables.take(msgpack.packb({"events": events.take(0, 10)[2][:1]}))
    gather.flush("events")
    (row,) = batches.table("events")
    assert ("hunter2" in row["detail"]) is source
    if lines == 1:
        kept = json.loads(row["detail"])
        assert kept["exception_text"] == "OSError()" and "in step" in kept["traceback_text"]


def test_workers_that_are_not_heard_of_are_named() -> None:
    told, events = journal()
    message = {"action": "worker-ttl-timed-out", "workers": ["tcp://10.0.0.1:9000"], "ttl": 300}
    told.logged("scheduler", message, ())
    ((_, source, kind, level, text, _),) = events.take(0, 10)[2]
    found = (source, kind, level, text)
    assert found == ("tcp://10.0.0.1:9000", "worker-closing", "warning", "worker-ttl-timed-out")


WORKER = "tcp://10.0.0.1:9000"


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("autoscaler", {"action": "add-worker", "count": 3}),
        ("autoscaler", {"action": "worker-status-change"}),
        ("autoscaler", {"action": "closing-worker", "reason": "cheaper"}),
        ("p2p", {"step": 1}),
        ("transitions", {"action": "from idle to busy"}),
        ("all", {"step": 1}),
        ("all", "hello"),
        ("scheduler", "hello"),
        ("stealing", {"step": 1}),
        ("stealing", ["confirm"]),
        ("stealing", []),
        ("worker-client", {"step": 1}),
        (WORKER, {"action": "worker-status-change"}),
        (WORKER, {"action": "checkpoint"}),
        ("Client-1", {"action": "checkpoint"}),
        (7, {"step": 1}),
    ],
)
def test_what_users_log_is_theirs_whatever_it_looks_like(topic: Any, message: Any) -> None:
    told, events = journal()
    told.logged(topic, message, {"Client-1"})
    ((_, _, kind, level, text, detail),) = events.take(0, 10)[2]
    assert (kind, level, text, json.loads(detail)) == ("user", "info", str(topic), message)


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("tcp://10.0.0.2:9000", {"action": "add-worker"}),
        (WORKER, {"action": "retired", "stimulus_id": ""}),
        ("Client-1", {"action": "update-graph"}),
        ("Client-2", {"action": "add-client", "client": "Client-2"}),
        ("all", {"action": "add-worker", "worker": WORKER}),
        ("worker-client", {"client": "Client-3", "timeout": 30}),
        ("stealing", ("request", [])),
    ],
)
def test_what_dask_tells_elsewhere_too_is_no_event(topic: str, message: Any) -> None:
    told, events = journal()
    told.logged(topic, message, {"Client-1"})
    assert events.end == 0


@pytest.mark.parametrize(
    ("topic", "message", "expected"),
    [
        (WORKER, {"action": "closing-worker", "reason": "nanny"}, ("worker-closing", "info", "nanny")),
        ("p2p", {"action": "p2p-failed", "shuffle": "s", "stimulus": ""}, ("dask", "error", "p2p-failed")),
        ("scheduler", {"action": "no-workers-timeout-exceeded", "keys": []}, None),
    ],
)
def test_what_dask_tells_of_trouble_is_an_event(topic: str, message: Any, expected: Any) -> None:
    told, events = journal()
    told.logged(topic, message, ())
    ((_, _, *found, _),) = events.take(0, 10)[2]
    assert tuple(found) == (expected or (message["action"], "info", message["action"]))


def test_a_detail_is_json_however_long_it_is() -> None:
    told, events = journal()
    loop: list[Any] = []
    loop.append(loop)
    for detail in ({"text": "a" * 60_000}, {"text": '"' * 64_000}, {("a", 1): 2}, loop, {"loss": np.nan}):
        told.logged("mine", detail, ())
    (whole, cut, lost, odd, circular, no_number) = events.take(0, 10)[2]
    assert json.loads(whole[-1]) == {"text": "a" * 60_000}
    start = json.loads(cut[-1])
    assert start["text"].startswith('{"text": "')
    assert start["cut"] + len(start["text"]) == len(json.dumps({"text": '"' * 64_000}))
    assert (lost[1], lost[2]) == ("recorder", "lost")
    assert json.loads(odd[-1]) == "{('a', 1): 2}" and json.loads(circular[-1]) == "[[...]]"
    assert json.loads(no_number[-1]) == "{'loss': nan}"


def test_long_details_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dask_insight.probe.journal._KEPT", 150_000)
    told, events = journal()
    for _ in range(10):
        told.logged("mine", '"' * 25_000, ())
    details = [detail for *_, detail in events.take(0, 10)[2]]
    assert [len(each) > 50_000 for each in details] == [False] * 8 + [True] * 2
    assert all(json.loads(each)["cut"] > 45_000 for each in details[:8])


def test_a_worker_is_known_by_its_id_whatever_it_calls_itself() -> None:
    labels = Labels()
    labels.of("tcp://10.0.0.1:9000", "server")
    assert labels.of_server("server", "tcp://worker1:9000") == "tcp://10.0.0.1:9000"
    assert labels.of_server("other", "tcp://10.0.0.1:9000") == "tcp://10.0.0.1:9000#2"


def test_what_the_recording_loses_sight_of_has_one_end_each() -> None:
    def told(**statuses: str) -> np.ndarray:
        rows = np.zeros(len(statuses), DTYPES["attempts"])
        rows["task"] = [int(name[1:]) for name in statuses]
        rows["run"] = rows["task"] + 100
        rows["status"] = [STATUSES.index(status) for status in statuses.values()]
        return rows

    def runs(*tasks: int) -> None:
        ids = np.array(tasks, "u4")
        unended.begun("w", ids + 100, ids, [""] * len(tasks), np.ones(len(tasks)))

    unended = Unended()
    unended.wanted(np.arange(9, dtype="u4"))
    runs(0, 1, 2, 3)
    unended.ended(told(t0="ok", t1="cancelled", t2="retried", t4="erred", t5="killed", t9000="ok"))
    # What was let go of runs on, and its worker tells of it later; what has ended is told again.
    runs(1)
    unended.wanted(np.array([4, 9000], "u4"))
    unended.have_ended(np.array([5], "u4"))
    unended.over(np.array([107], "u4"))
    under_way, waiting = unended.take()
    assert [(each.run, each.task, each.worker, each.start) for each in under_way] == [(103, 3, "w", 1.0)]
    assert waiting.tolist() == [2, 6, 7, 8]
    under_way, waiting = unended.take()
    assert not under_way and not len(waiting), "once is enough"


def test_of_tasks_that_are_long_past_nobody_waits_for_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "_MOST", 100)
    known = Unended()
    for number in range(400):
        known.wanted(np.arange(10 * number, 10 * number + 10, dtype="u4"))
    known.have_ended(np.array([5, 3_999, NOTHING], "u4"))
    _, waiting = known.take()
    assert waiting.tolist() == list(range(4_000 - len(waiting) - 1, 3_999)) and 50 <= len(waiting) < 100


def test_gathered_rows_make_one_batch_a_table() -> None:
    batches = Batches()
    gather = Gather(batches)
    gather.add("resources", {"process": ["a"], "time": [1.0], "cpu": np.array([5.0])})
    gather.add("resources", {"process": ["b", "c"], "time": [2.0, 3.0], "occupancy": [7.0, 8.0]})
    gather.add("resources", {"process": [], "time": []})
    gather.flush()
    gather.flush()
    assert len(batches._given) == 1
    rows = batches.table("resources")
    assert [row["process"] for row in rows] == ["a", "b", "c"]
    assert rows[0]["cpu"] == 5 and np.isnan(rows[1]["cpu"])
    assert np.isnan(rows[0]["occupancy"]) and rows[2]["occupancy"] == 8


def test_that_a_task_runs_is_told_before_its_end_is() -> None:
    """A history that drops what is oldest would keep it as running for ever."""
    batches = Batches()
    tables = Tables(Identity(), batches, Gather(batches), Submissions(batches), "tcp://s:1")
    begun = np.ones(1, messages._RUNNING)
    told = {"clock": (9.0, 0.0, 0.001, 0.0), "running": begun.tobytes(), "running_keys": 1}
    tables.messages.take("w", np.uint32(1).tobytes(), msgpack.packb(told))
    tables.messages.settle()
    # The scheduler's own rows are read after that.
    assert [row["worker"] for row in batches.table("running")] == ["w"]


@pytest.mark.parametrize(("namespaces", "apart"), [((1, 1), False), ((1, 2), True)])
def test_workers_of_one_process_id_may_be_in_containers_of_their_own(
    namespaces: tuple[int, int], apart: bool
) -> None:
    """Those that share the host's network have its address."""
    recording = Recording()
    gather, submissions = Gather(recording.append), Submissions(recording.append)
    tables = Tables(Identity(), recording.append, gather, submissions, "tcp://s:1")
    tables.workers([{"worker": name, "host": "10.0.0.1", "pid": 20} for name in "ab"])
    for name, namespace in zip("ab", namespaces, strict=True):
        told = {"cores": 4, "core_set": 9, "process": namespace << 32 | 20, "clock": (9.0, 0.0, 0.001, 0.0)}
        tables.messages.take(name, b"", msgpack.packb(told))
    tables.take(msgpack.packb({}))
    workers = recording.columns("workers")
    assert len(set(processes(workers).values())) == 1 + apart
    assert places(workers) == dict.fromkeys("ab", Place("10.0.0.1", 9, 4))


def test_what_many_workers_tell_in_one_answer_makes_one_batch_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    def matches(ours: Any, theirs: Any) -> Any:
        looked.append(len(theirs))
        return np.zeros(0, "i8"), np.zeros(0, "i8")

    monkeypatch.setattr(attempts, "_matches", matches)
    batches = Batches()
    tables = Tables(Identity(), batches, Gather(batches), Submissions(batches), "tcp://s:1")
    for number in range(100):
        ended, moved = np.zeros(2, messages._EXECUTIONS), np.zeros(1, messages._TRANSFERS)
        ended["run"], ended["ended"], moved["keys"] = (2 * number, 2 * number + 1), 10 + number, 1
        ended["thread"] = 0, 2**40 + number
        told = {"clock": (9.0, float(number), 0.001, 0.0), "executions": ended.tobytes()}
        told |= {"transfers": moved.tobytes(), "carried": np.ones(1).tobytes(), "peers": ["tcp://p:1"]}
        tables.messages.take(f"w{number}", np.uint32(number).tobytes(), msgpack.packb(told))
    assert not batches._given
    tables.messages.settle()
    assert sorted(map(table_of, batches._given)) == ["executions", "transferred", "transfers"]
    rows = batches.table("executions")
    assert [(row["run"], row["worker"]) for row in rows] == [(run, f"w{run // 2}") for run in range(200)]
    assert {row["ended"] for row in rows} == {10.0}, "each on its own clock"
    threads = [thread for number in range(100) for thread in ("", str(2**40 + number))]
    assert [row["thread"] for row in rows] == threads
    assert [row["worker"] for row in batches.table("transfers")] == [f"w{number}" for number in range(100)]
    assert looked == [200], "together"
    tables.messages.settle()
    assert len(batches._given) == 3


def test_workers_that_greet_in_one_answer_make_one_batch() -> None:
    batches = Batches()
    tables = Tables(Identity(), batches, Gather(batches), Submissions(batches), "tcp://s:1")
    names = [f"w{number}" for number in range(100)]
    tables.workers([{"worker": name, "detail": {"versions": {}}} for name in names[1:]])
    for _ in range(2):
        for name in names:
            told = {"cores": 4, "core_set": 9, "process": 20, "clock": (9.0, 0.0, 0.001, 0.0)}
            tables.messages.take(name, b"", msgpack.packb(told))
        tables.take(msgpack.packb({}))
    assert list(map(table_of, batches._given)) == ["workers", "workers"]
    tables.take(msgpack.packb({"workers": [{"worker": names[0]}]}))
    assert [(row["worker"], row["cores"]) for row in batches.table("workers")] == [
        *((name, 0) for name in names[1:]),
        *((name, 4) for name in (*names[1:], names[0])),
    ]


def test_clocks_are_told_to_the_microsecond() -> None:
    batches = Batches()
    tables = Tables(Identity(), batches, Gather(batches), Submissions(batches), "tcp://s:1")
    clock = (9.0, 1.23456789123, math.inf, -0.000123456789)
    tables.messages.take("w", b"", msgpack.packb({"clock": clock}))
    tables._gather.flush("clocks")
    (row,) = batches.table("clocks")
    told = (row["offset"], row["uncertainty"], row["applied"])
    assert told == pytest.approx(clock[1:], abs=5e-7)
    assert all(2**20 * each % 1 == 0 for each in (told[0], told[2])), "what is below would only be stored"


def test_of_tasks_that_are_long_past_nobody_knows_when_they_were_submitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recent, "_MOST", 1_000)
    known = submitted.Submitted()
    for number in range(400):
        tasks = np.arange(10 * number, 10 * number + 10, dtype="u4")
        known.made(np.array([number], "u4"), np.array([100.0 + number]))
        known.brought(tasks, np.full(10, number, "u4"))
        np.testing.assert_array_equal(known.times(tasks[::-1]), 100.0 + number)
    assert known.times(np.array([3_600], "u4")) == [460.0]
    # It is told again when another recorder joins.
    known.brought(np.array([5, 3_999], "u4"), np.array([0, 399], "u4"))
    np.testing.assert_array_equal(
        known.times(np.array([5, 3_999, 4_000, NOTHING], "u4")), [np.nan, 499, np.nan, np.nan]
    )


def test_of_workers_that_are_long_gone_next_to_nothing_is_kept() -> None:
    batches = Batches()
    tables = Tables(Identity(), batches, Gather(batches), Submissions(batches), "tcp://s:1")
    clock = {"clock": (9.0, 0.5, 0.001, 0.0), "cores": 4, "core_set": 1, "process": 1 << 32}
    for number in range(1_500):
        worker, joined = f"tcp://10.0.0.1:{number}", 10.0 * number
        tables.workers([{"worker": worker, "joined": joined, "host": "h", "detail": {"versions": {}}}])
        tables.messages.take(worker, b"", msgpack.packb(clock))
        tables.workers([{"worker": worker, "left": joined + 5}])
    assert len(tables._workers) < 100 and len(tables._of_itself) < 100
    assert len(tables._clocks._clocks) < 1_100
    assert tables._clocks.of(worker).offset == 0.5
    *_, last = batches.table("workers")
    assert (last["worker"], last["host"], last["cores"], last["left"]) == (worker, "h", 4, joined + 5)


def test_when_many_submissions_were_made_takes_little_memory() -> None:
    known, tasks = submitted.Submitted(), np.arange(1_000_000, dtype="u4")
    tracemalloc.start()
    try:
        known.made(tasks, 100.0 + tasks)
        known.brought(tasks, tasks)
        assert tracemalloc.get_traced_memory()[0] < 20e6
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(known.times(tasks), 100.0 + tasks)


@pytest.mark.parametrize(("scheduler", "part"), [(0, 2), (77, 4)])
def test_a_process_that_has_the_scheduler_as_well_is_stopped_half_as_often(scheduler: int, part: int) -> None:
    options = Options()
    own = ClientProcess(options, None, scheduler, {"client": object()})
    own.start()
    try:
        assert own._sampler is not None
        assert own._sampler.pace.budget == options.profile_budget / part
        own.adjust(options)
        assert own._sampler.pace.budget == options.profile_budget / part
    finally:
        own.stop()


def test_a_client_is_sampled_as_soon_as_a_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    batches = Batches()
    own, gather = ClientProcess(Options(), None, 0, {}), Gather(batches)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            own.start()
            own.take_over()
        own.tell(0.0, Identity().stacks, gather)
        own.take_over()
        assert own._sampler is not None and own._pulse is not None and own._pulse._by is own._sampler
    finally:
        own.stop()
    own.tell(0.0, Identity().stacks, gather)
    gather.flush()
    gaps = [row["message"] for row in batches.events("gap")]
    assert len([gap for gap in gaps if "can't start new thread" in gap]) == 2


def test_packed_rows_are_as_wide_as_their_types() -> None:
    for table, layout in LAYOUTS.items():
        assert DTYPES[table].itemsize == calcsize(packing(layout)), table


def test_codes_beyond_the_names_read_as_nothing() -> None:
    column = pick(np.array([0, 2, 9, 0]), ["a", "b", "a"])
    assert column.tolist() == ["a", "a", "", "a"]
    assert sorted(column.names) == ["", "a"]


def test_only_spans_with_something_in_them_are_told_of() -> None:
    batches = Batches()
    spans = Spans(batches)
    spans.used(["b", ""])
    spans.known([("a", ("outer",), ""), ("b", ("outer", "inner"), "a"), ("old", ("default",), "")])
    spans.used(["b", "later"])
    spans.known([("later", ("default",), "")])
    assert [row["path"] for row in batches.table("spans")] == ["outer / inner", "outer", "default"]


def test_a_span_that_was_left_alone_is_told_again_with_those_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter((0.0, 1.0, 2.5, 10.0))
    monkeypatch.setattr("dask_insight.sources.cluster.spans.monotonic", lambda: next(times))
    batches = Batches()
    spans = Spans(batches)
    spans.known([("a", ("outer",), ""), ("b", ("outer", "inner"), "a")])
    for _ in range(4):
        spans.used(["b"])
    assert [row["path"] for row in batches.table("spans")] == ["outer / inner", "outer"] * 2
