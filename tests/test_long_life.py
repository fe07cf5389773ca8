"""A cluster that is recorded for days: names, spans and totals without end, of which a recorder uses few."""

from __future__ import annotations

import math
import random
import tracemalloc
from collections import defaultdict
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import pytest
from conftest import Batches, recorded
from distributed import span

from dask_insight.identity import Identity
from dask_insight.probe import graph, metrics
from dask_insight.probe.metrics import Metrics
from dask_insight.probe.readers import Reader, Stores
from dask_insight.probe.rows import CHUNK, Names
from dask_insight.probe.scheduler import Probe
from dask_insight.probe.tasks import Tasks
from dask_insight.sources.cluster.gather import Gather
from dask_insight.sources.cluster.spans import Spans
from dask_insight.sources.cluster.submissions import Submissions
from dask_insight.sources.cluster.tables import Tables


class Name(str):
    """Text of which can be known how many there are."""

    __slots__ = ("__weakref__",)


class Group(SimpleNamespace):
    """A task group; the scheduler's are found by what they are, not by what they hold."""

    def __hash__(self) -> int:
        return id(self)


class Cluster:
    """A scheduler with its probe, which computes and computes."""

    def __init__(self, bound: int = 100_000) -> None:
        self.names: WeakSet[Name] = WeakSet()
        self.states: dict[str, Any] = {}
        self.spans: dict[str, Any] = {}
        extensions = {"spans": SimpleNamespace(spans=self.spans)}
        scheduler = SimpleNamespace(tasks=self.states, workers={}, extensions=extensions)
        self.probe = Probe("package", b"", "name", bound)
        self.probe.scheduler, self.probe._told_own = scheduler, math.inf
        self.tasks = self.probe.tasks = Tasks(scheduler, bound, self._failed)
        self.probe.stores = Stores(self.tasks, bound)
        self._computed = 0

    def _failed(self, where: str, error: Exception) -> None:
        raise error

    def join(self, recorder: str) -> None:
        one = self.probe._readers[recorder] = Reader("client", {})
        one.backlog, one.below = self.tasks.graph.again()
        one.at = self.probe.stores.start()

    def compute(self, times: int, *, keeps: bool = False) -> None:
        """So many computations of a task each, in a group and a span of its own."""
        for number in range(self._computed, self._computed + times):
            group = Name(f"increment-{number}")
            self.names.add(group)
            span = f"span-{number}"
            self.spans[span] = SimpleNamespace(id=span, name=("default",), parent=None)
            self.states[f"key-{number}"] = state = SimpleNamespace(
                key=f"key-{number}",
                group=Group(name=group, span_id=span),
                prefix=SimpleNamespace(name="increment"),
                priority=None,
                run_spec=None,
                state="memory",
                nbytes=1,
                dependencies=(),
            )
            self.tasks.graph.id(state.key, state)
            if not keeps:
                self.forget(state.key)
        self._computed += times

    def forget(self, key: str) -> None:
        self.tasks.graph.forgotten(key)
        del self.states[key]

    def poll(self, recorder: str, at: dict[str, int] | None = None) -> dict[str, Any]:
        return self.probe.poll(recorder=recorder, at=at, rate=1e6)

    def watch(self) -> None:
        """What the probe does twice a second."""
        self.tasks.forget(20_000, 0.0)


class Recorder:
    """Follows a cluster as a client does."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster, self._name = cluster, name
        self._at: dict[str, int] | None = None
        self.batches = Batches()
        shared = (Identity(), self.batches, Gather(self.batches), Submissions(self.batches))
        self._tables = Tables(*shared, "tcp://a:1")
        cluster.join(name)

    def ask(self) -> dict[str, Any]:
        answer = self._cluster.poll(self._name, self._at)
        self._at = answer["at"]
        self._tables.take(packed(answer))
        self._tables.spans.known(answer["spans"])
        return answer

    def catch_up(self) -> None:
        while self.ask()["more"]:
            pass

    def named(self) -> dict[str, tuple[str, str, str]]:
        """Group, name and span of each task."""
        rows = self.batches.table("graph")
        return {row["key"]: (row["group"], row["prefix"], row["span"]) for row in rows}


def packed(answer: dict[str, Any]) -> bytes:
    data: bytes = answer["packed"].data
    return data


def names_of(numbers: range) -> dict[str, tuple[str, str, str]]:
    return {f"key-{number}": (f"increment-{number}", "increment", f"span-{number}") for number in numbers}


def test_of_groups_without_end_each_is_named_and_few_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "_GROUPS", 1000)
    cluster = Cluster()
    one = Recorder(cluster, "one")
    for _ in range(100):
        cluster.compute(500)
        one.catch_up()
        cluster.watch()
    assert one.named() == names_of(range(50_000))
    assert len(cluster.names) < 4 * CHUNK
    assert cluster.tasks.graph.leaves_out.take() == []


@pytest.mark.parametrize("is_late", [False, True])
def test_names_stay_for_who_is_slow_and_for_who_is_told_again(
    is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "_GROUPS", 1000)
    cluster = Cluster()
    fast = Recorder(cluster, "fast")
    if not is_late:
        slow = Recorder(cluster, "slow")
    cluster.compute(5_000, keeps=True)
    fast.catch_up()
    if is_late:
        slow = Recorder(cluster, "slow")
        # Of what has to be told again the last is fetched long after it was forgotten.
        for number in range(5_000):
            cluster.forget(f"key-{number}")
    for _ in range(10):
        cluster.compute(5_000)
        fast.catch_up()
        if is_late:
            slow.ask()
            slow._at = slow._at and slow._at | {"again": 0}
        cluster.watch()
    slow.catch_up()
    assert fast.named() == slow.named() == names_of(range(55_000))
    cluster.compute(2 * CHUNK)
    for _ in range(3):
        fast.catch_up()
        slow.catch_up()
        cluster.watch()
    assert len(cluster.names) < 4 * CHUNK


def test_who_begins_late_is_told_no_more_than_it_needs() -> None:
    cluster = Cluster()
    first = Recorder(cluster, "first")
    cluster.compute(1, keeps=True)
    cluster.compute(30_000)
    first.catch_up()
    late = Recorder(cluster, "late")
    cluster.compute(1)
    answer = late.ask()
    assert late.named() == names_of(range(1)) | names_of(range(30_001, 30_002))
    assert len(packed(answer)) < 1000
    assert sorted(span for span, *_ in answer["spans"]) == ["span-0", "span-30001"]
    assert sorted(row["span"] for row in late.batches.table("spans")) == ["span-0", "span-30001"]


def test_a_recorder_on_a_cluster_that_has_computed_much_hears_of_what_it_needs(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: dict[Spans, list[str]] = {}

    def begin(spans: Spans, emit: Any) -> None:
        heard[spans] = []
        made(spans, emit)

    def known(spans: Spans, told: Any) -> None:
        heard[spans] += [name[-1] for _, name, _ in told]
        hear(spans, told)

    made, hear = Spans.__init__, Spans.known
    monkeypatch.setattr(Spans, "__init__", begin)
    monkeypatch.setattr(Spans, "known", known)
    with recorded(client) as first:
        with span("kept"):
            kept = client.submit(float, 5, key=("float-1", 0))
            kept.result()
        for number in range(20):
            with span(f"before-{number}"):
                client.submit(int, number, key=(f"int-{number}", 0)).result()
        with recorded(client) as second, span("within"):
            client.submit(str, kept, key=("str-1", 0)).result()
    assert len({row["span"] for row in first.table("graph")}) == 22
    named = {row["span"]: row["name"] for row in second.table("spans")}
    rows = {(row["prefix"], named[row["span"]]) for row in second.table("graph")}
    assert rows >= {("float", "kept"), ("str", "within")}
    # A task that was just let go of may still be known to the scheduler.
    of_second = [*heard.values()][-1]
    assert "within" in of_second and len(set(of_second) - {"kept", "within"}) <= 2


def test_functions_and_fused_parts_of_weeks_keep_no_row_waiting() -> None:
    cluster = Cluster()
    for number in range(20_000):
        cluster.tasks.graph.fused.code((f"group-{number}", "part", "function", "file", 1))
    late = Recorder(cluster, "late")
    cluster.compute(1)
    assert late.ask()["more"] and late.named() == names_of(range(1))
    late.catch_up()
    late._tables._gather.flush("fused")
    assert len(late.batches.table("fused")) == 19_999


def test_threads_that_come_and_go_leave_nothing_for_a_late_recorder() -> None:
    cluster = Cluster()
    cluster.tasks.worker("tcp://a:1", "tcp://a:1")
    one = Recorder(cluster, "one")
    cluster.compute(1, keeps=True)
    cluster.states["key-0"].run_id = 1
    facts = {"worker": "tcp://a:1", "typename": "int", "nbytes": 1, "startstops": ()}
    for ident in range(1, 10_001):
        cluster.tasks.transition("key-0", "processing", "memory", thread=ident, **facts)
    late = Recorder(cluster, "late")
    assert len(packed(late.ask())) < 10_000
    one.catch_up()
    told = {(row["worker"], row["thread"]) for row in one.batches.table("attempts")}
    assert told == {("tcp://a:1", str(ident)) for ident in range(1, 10_001)}


def test_that_workers_have_no_name_any_more_is_told() -> None:
    cluster = Cluster()
    cluster.tasks.workers = Names("", 3)
    cluster.probe.stores = Stores(cluster.tasks, 1000)
    recorder, told = Recorder(cluster, "one"), cluster.tasks.graph.leaves_out
    for label in ("", "a", "b"):
        cluster.tasks.workers.code(label)
    recorder.ask()
    assert told.take() == []
    cluster.tasks.workers.code("c")
    recorder.ask()
    assert told.take() == ["workers may be missing, no more than 3 are kept"]


def test_spans_without_end_are_neither_kept_nor_looked_through() -> None:
    batches = Batches()
    spans, ids = Spans(batches), WeakSet[Name]()

    def told(number: int) -> None:
        one = Name(f"span-{number}")
        ids.add(one)
        spans.known([(one, ("default",), "")])
        spans.used([one])
        unknown = Name(f"unknown-{number}")
        ids.add(unknown)
        spans.used([unknown])

    for number in range(15_000):
        told(number)
    peaks: list[int] = []
    tracemalloc.start()
    try:
        for number in range(15_000, 15_005):
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            told(number)
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    # To pack a batch takes a quarter of a megabyte.
    assert min(peaks) < 500_000, "an answer costs what is new in it"
    assert len(ids) <= 20_000
    spans.known([("unknown-15000", ("default",), "")])
    assert [row["span"] for row in batches.table("spans")] == [
        *(f"span-{number}" for number in range(15_005)),
        "unknown-15000",
    ]


class Counted(defaultdict[Any, float]):
    """Totals that count how many of them are looked at."""

    seen = 0

    def __getitem__(self, key: Any) -> Any:
        self.seen += 1
        return super().__getitem__(key)

    def values(self) -> Any:
        self.seen += len(self)
        return super().values()


def named(number: int) -> tuple[str, ...]:
    return ("execute", f"span-{number}", "increment", "thread-cpu", "seconds")


def test_of_very_many_totals_a_push_looks_at_few_and_tells_all_before_long() -> None:
    totals = Counted(int)
    for number in range(200_000):
        totals[named(number)] = 1
    told = Metrics(SimpleNamespace(digests_total=totals))

    def take() -> list[tuple[str, float]]:
        totals.seen = 0
        found = [(span, added) for _, span, *_, added in told.take()]
        assert totals.seen < 10_000
        return found

    take()
    totals[named(200_000)] += 5
    totals[named(199_999)] += 1
    assert take() == [("span-199999", 1), ("span-200000", 5)]
    totals[named(70_000)] += 2
    found: list[tuple[str, float]] = []
    for _ in range(200):
        found += take()
    assert found == [("span-70000", 2)]
    totals[named(70_001)] += 3
    assert take() == [("span-70001", 3)], "what has changed lately changes mostly"
    totals[named(30_000)] += 4
    told.look_at_all()
    assert [(span, added) for _, span, *_, added in told.take()] == [("span-30000", 4)]
    assert take() == []


def test_totals_that_are_looked_at_in_turn_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_BLOCK", "_RECENT", "_IN_TURN"):
        monkeypatch.setattr(metrics, name, 4)
    chance = random.Random(3)
    totals: dict[Any, float] = defaultdict(int)
    totals["latency"] = 1
    told = Metrics(SimpleNamespace(digests_total=totals))
    sums: dict[Any, float] = defaultdict(float)
    for turn in range(100):
        for _ in range(chance.randrange(20)):
            totals[named(chance.randrange(10 + 10 * turn))] += chance.choice([0, 0.25, -0.5, 3])
        totals["latency"] += 1
        for *name, added in told.take():
            sums[tuple(name)] += added
    assert len(totals) > 500
    told.look_at_all()
    for *name, added in told.take():
        sums[tuple(name)] += added
    del totals["latency"]
    assert {name: value for name, value in sums.items() if value} == {
        name: value for name, value in totals.items() if value
    }
