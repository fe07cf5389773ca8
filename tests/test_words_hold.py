"""What is said holds: of losses, of findings, of comparisons, and the same in Python and in the pages."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Batches
from graphs import Task
from test_cluster_life import SlowLink
from test_compare import run
from test_findings import facts, finding, rule, ten_seconds

from dask_insight import compare, words
from dask_insight.analysis.findings import Limits, apply
from dask_insight.analysis.findings.found import Findings
from dask_insight.analysis.time_budget import PARTS
from dask_insight.batch import encode
from dask_insight.figures.panels.time_budget import part_color, part_words
from dask_insight.figures.theme import THEMES
from dask_insight.hosts.cli import attach
from dask_insight.hosts.head import head_of
from dask_insight.hosts.magic.counts import Counts
from dask_insight.hosts.magic.progress import as_html, as_text
from dask_insight.hosts.notebook.bundle import static_bundles
from dask_insight.probe.readers import Blobs
from dask_insight.recording import Recording
from dask_insight.sources.cluster.clocks import Clock
from dask_insight.sources.cluster.gather import Gather
from dask_insight.sources.cluster.messages import Messages
from dask_insight.sources.local.ledger import Ledger
from dask_insight.sources.losses import detail, losses_kept, losses_sent
from dask_insight.tables.losses import Loss

GOLDEN = Path(__file__).parent / "golden"


def lost(*told: Loss | str) -> Recording:
    """A recording with an event for each loss."""
    recording = Recording()
    for each in told:
        row = {"kind": "lost", "level": "warning", "message": str(each)}
        row["detail"] = detail(each) if isinstance(each, Loss) else ""
        recording.append(encode("events", {name: [value] for name, value in row.items()}))
    return recording


def test_what_poll_after_poll_loses_is_summed_up_by_its_kind() -> None:
    polls = ({"attempts": 1000}, {"attempts": 1000, "blobs": 1}, {"edges": 2})
    recording = lost("something else", *(loss for each in polls for loss in losses_kept(each)))
    more = "; `record(ring=…)`, or `dask-insight run --ring`, keeps more"
    assert recording.summary().losses == [
        "something else",
        f"2,000 tasks were dropped before they were fetched{more}",
        "1 message of workers was dropped before it was fetched",
        f"2 rows of edges were dropped before they were fetched{more}",
    ]
    assert [str(loss) for loss in losses_sent({"lost": 1, "lost_logs": 1200, "lost_samples": 0})] == [
        "1 task was dropped before it could be sent",
        "1,200 entries of the log were dropped, there were more than can be kept",
    ]


@pytest.mark.parametrize(
    "told",
    [
        "no JSON",
        "[1]",
        '{"number": "5", "one": "x", "many": "y"}',
        '{"number": -5, "one": "x", "many": "y"}',
        '{"number": 5}',
        '{"number": 5, "one": 1, "many": 2}',
        '{"number": 5, "one": "x", "many": "y", "of": "later"}',
    ],
)
def test_of_a_detail_that_tells_no_number_the_message_holds(told: str) -> None:
    recording = Recording()
    recording.append(encode("events", {"kind": ["lost"], "message": ["so it is"], "detail": [told]}))
    assert recording.summary().losses == ["so it is"]


def test_every_source_tells_how_much_it_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    local, cluster = Recording(), Batches()
    ledger = Ledger(local.identity, None)
    for _ in range(2):
        ledger.lost({"lost_samples": 700})
        ledger.flush(local.append)
    assert [loss.split(" the ")[0] for loss in local.summary().losses] == ["1,400 times"]
    link = SlowLink(monkeypatch)
    link.stores.blobs = Blobs(1_000_000)
    link.loop.run_until_complete(link.record(cluster))
    link.loop.close()
    [gone] = cluster.events("lost")
    assert gone["message"] == "291 messages of workers were dropped before they were fetched"
    assert json.loads(gone["detail"])["number"] == 291
    emitted, own = Batches(), {"now": 1.0, "lost_logs": 3, "failures": {"here": (1, "why")}}
    messages = Messages.__new__(Messages)
    messages._gather, messages.source, messages.logs = Gather(emitted), True, "warning"
    messages._events("tcp://a", Clock(), own)
    messages._gather.flush()
    assert [row["detail"][:13] for row in emitted.events("lost")] == ["", '{"number": 3,']


def test_losses_beyond_the_first_are_counted_where_they_are_shown() -> None:
    recording = lost(*(f"loss {number}" for number in range(23)))
    assert head_of(recording).notices[19:] == ["loss 19", "3 more losses"]
    [shown] = static_bundles(recording)
    assert shown["text/plain"].endswith("Lost: loss 19\nLost: 3 more losses")


def test_where_findings_are_left_out_none_is_acquitted() -> None:
    looked = apply(facts(ten_seconds()), Limits(), [rule(finding("one", 1.0))])
    assert str(looked.at_least("critical")) == "The only finding is not critical."
    assert str(looked[1:]) == "The only finding is not among these."
    assert str(Findings([finding("x", 1.0, severity="info")]).at_least("warning")) == (
        "The only finding is not warning or worse."
    )
    none = apply(facts(ten_seconds()), Limits({"all.seconds": 3, "all.share": 0.1}), [])
    said = (
        f"Nothing was found that costs 3{words.SPACE}s and 10{words.SPACE}% of the run, or puts it at risk."
    )
    assert str(none) == str(none[:2]) == str(none.at_least("critical")) == said


def test_findings_are_counted_by_the_names_of_their_severities() -> None:
    found = Findings(finding("x", 1.0, severity=each) for each in ("info", "info", "warning", "critical"))
    assert found.verdict() == "1 critical, 1 warning and 2 info."


@pytest.mark.parametrize(
    ("advice", "told"),
    [
        ("Look:\n\n    run.flame(prefix='x')", True),
        ("`run.errors` has them.", True),
        ("See that they run.\n\n    rerun.all()", False),
    ],
)
def test_advice_that_uses_run_says_what_it_is(advice: str, told: bool) -> None:
    [found] = apply(facts(ten_seconds()), Limits(), [rule(finding("one", 5.0).but(advice=advice))])
    assert found.advice.startswith(advice)
    assert ("`run` is the recording: `_dprofile` after `%%dprofile`" in found.advice) is told


def test_nothing_takes_a_hundred_per_cent_less() -> None:
    before, after = (run(seed, more=[Task("late", seconds)] * 2) for seed, seconds in ((1, 30.0), (2, 0.03)))
    said = compare(before, after).verdict()
    assert f"`late` takes 30{words.SPACE}ms instead of 30{words.SPACE}s (" in said
    said = compare(run(1), run(2, factor=0.003)).verdict()
    assert " less than " in said and "100" not in said


@pytest.mark.parametrize(("factor", "wait"), [(1.6, "wait"), (0.6, "wait less")])
def test_on_other_workers_the_machine_is_not_blamed(factor: float, wait: str) -> None:
    late = [Task("late", 0.5)] * 8
    before = [run(each, threads=(1, 1, 1, 1), more=late) for each in range(3)]
    slow = [Task("late", 0.5 * factor)] * 8
    after = [run(9 + each, threads=(4,), factor=factor, more=slow) for each in range(3)]
    said = compare(before, after).verdict()
    assert f", on other workers or threads, which may {wait} for one another; see the findings." in said
    assert "machine" not in said


def test_one_name_more_is_one() -> None:
    for names, said in ((13, "and 1 more name"), (14, "and 2 more names")):
        counts = Counts()
        graph = {"task": np.arange(names), "prefix": [f"name{each}" for each in range(names)]}
        counts.take(encode("graph", graph | {"submission": [0] * names}))
        assert as_text("cell", counts).splitlines()[-1] == f"  {said}"
        assert as_html("cell", counts, 0.0).endswith(f"<p>{said}</p>")


def test_times_are_told_in_units_that_people_read() -> None:
    assert attach._reason(TimeoutError(), 300.0) == f"none within 5{words.SPACE}min 00{words.SPACE}s"


def test_parts_of_the_time_budget_have_the_words_and_colours_of_the_page() -> None:
    told: dict[str, dict[str, Any]] = json.loads((GOLDEN / "parts.json").read_text("utf-8"))
    assert {part: part_words(part, "") for part in told["words"]} == told["words"]
    for name, theme in THEMES.items():
        request: Any = SimpleNamespace(theme=theme, colors={})
        assert {part: [*part_color(part, "", request)] for part in told[name]} == told[name]
    assert told["light"].keys() >= PARTS.keys() | {words.ABSENT}


def test_every_part_of_the_time_budget_has_words() -> None:
    assert words.PARTS.keys() == PARTS.keys() | {words.ABSENT}
