from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from datetime import datetime
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgpack
import pytest

from dask_insight import ascii91
from dask_insight.batch import decode, encode, split, table_of
from dask_insight.hosts import report
from dask_insight.hosts.cli.info import describe
from dask_insight.hosts.report import MissingFrontEnd, report_html, write_report
from dask_insight.recording import Recording, open_recording

START = 1_750_000_000.0


@pytest.fixture(autouse=True)
def front_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assets = {"report.js": 'document.title = "</script><!--"', "report.css": "body { margin: 0 }"}
    monkeypatch.setattr(report, "asset", assets.__getitem__)


def recording(name: str = "a run", tasks: int = 4) -> Recording:
    made = Recording()
    start = [START + i for i in range(tasks)]
    made.append(encode("about", {"name": ["name"], "value": [f'"{name}"']}))
    made.append(encode("workers", {"worker": ["tcp://a:1"], "threads": [2], "joined": [START - 5]}))
    made.append(
        encode(
            "graph",
            {"task": range(tasks), "prefix": ["inc"] * tasks, "key": [f"inc-{i}" for i in range(tasks)]},
        )
    )
    columns = {
        "run": range(tasks),
        "task": range(tasks),
        "worker": ["tcp://a:1"] * tasks,
        "thread": ["1"] * tasks,
        "status": ["ok"] * tasks,
        "start": start,
        "stop": [begin + 0.5 for begin in start],
        "done": [begin + 0.5 for begin in start],
    }
    made.append(encode("attempts", columns))
    return made


class Page(HTMLParser):
    """The elements of a page: scripts and styles by their text, all tags by name."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": [], "h1": [], "time": []}
        self.kinds: list[str] = []
        self.policy = ""
        self._open = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self._open = tag
        if tag in self.texts:
            self.texts[tag].append("")
        if tag == "script":
            self.kinds.append(given.get("type") or "")
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given.get("content") or ""

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in self.texts:
            self.texts[self._open][-1] += data


def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_the_policy_allows_exactly_the_script_and_the_style_of_the_page() -> None:
    page = Page(report_html(recording()))
    assert dict(rule.split(" ", 1) for rule in page.policy.split("; ")) == {
        "default-src": "'none'",
        "script-src": digest(page.texts["script"][page.kinds.index("")]),
        "style-src": digest(page.texts["style"][0]),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    data = "application/octet-stream"
    assert page.kinds == [data, "application/json", "", data, data]


def test_the_blocks_hold_the_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "BLOCK", 100)
    source = recording(tasks=3_000)
    page = Page(report_html(source))
    blocks = [text for text, kind in zip(page.texts["script"], page.kinds, strict=True) if "octet" in kind]
    assert len(blocks) > 2
    batches = [batch for block in blocks for batch in split(zlib.decompress(ascii91.decode(block)))]
    late = [packed for batch in batches if "from" in (packed := msgpack.unpackb(batch))]
    read = Recording()
    for batch in batches:
        if "from" not in msgpack.unpackb(batch):
            read.append(batch)
    assert read.summary().tasks == 3_000
    assert read.summary().verdict() == source.summary().verdict()
    assert [(packed["table"], packed["from"], packed["rows"]) for packed in late] == [
        ("graph", 0, 3_000),
        ("attempts", 0, 3_000),
    ]
    graph, attempts = ({column["name"] for column in packed["columns"]} for packed in late)
    assert "key" in graph and not graph & report.FIRST_COLUMNS["graph"]
    assert "done" in attempts and not attempts & report.FIRST_COLUMNS["attempts"]
    assert "inc-2999" in decode(msgpack.packb(late[0])).columns["key"].tolist()
    assert read.about["extent"] == [START, START + 2_999.5]


def test_every_block_unpacks_to_as_much_as_a_page_allows() -> None:
    source = recording()
    source.append(encode("submissions", {"submission": range(20_000), "code": ["x = 1\n" * 3_000] * 20_000}))
    source.append(encode("events", {"message": ["x" * 2**25]}))
    batches = [batch for part in report.parts_of(source) for batch in part]
    for block in report.blocks(batches):
        assert len(zlib.decompress(block)) <= 100 * len(block) + 2**24


def test_of_peoples_code_a_page_has_the_lines_that_it_shows(tmp_path: Path) -> None:
    source = recording()
    code = "\n# of the week\nscore(frame).compute()\nlog_in('hunter2')\n"
    codes = [code, f"%%dprofile week{code}"]
    source.append(encode("cells", {"execution": [3, 4], "code": codes, "start": [START, START + 1]}))
    source.append(encode("submissions", {"submission": [0], "time": [START], "tasks": [4], "code": [code]}))
    read = Recording()
    for part in report.parts_of(source):
        for batch in part:
            assert b"hunter2" not in batch
            read.append(batch)
    assert read.columns("cells")["code"].tolist() == [
        "# of the week\nscore(frame).compute()",
        "%%dprofile week\nscore(frame).compute()",
    ]
    assert "hunter2" not in report_html(source)
    source.save(tmp_path / "run.dinsight")
    whole = open_recording(tmp_path / "run.dinsight")
    assert whole.columns("cells")["code"].tolist() == codes
    assert whole.columns("submissions")["code"].tolist() == [code]


def test_of_a_task_that_failed_a_page_has_no_arguments(tmp_path: Path) -> None:
    source = recording()
    place = "distributed.worker: Compute Failed\nKey:       read-1\nState:     executing\n"
    why = "Exception: \"OSError('gone')\"\nTraceback: '  File ...'\n"
    told = f"{place}Task:  <Task 'read-1' read(\n'hunter2')>\n{why}"
    # As of a longer text only beginning and end are left.
    cut = f"{place}…\n 'hunter2')>\n{why}"
    messages = [told, cut, "mine: Task: hunter1"]
    source.append(encode("events", {"kind": ["log"] * 3, "message": messages}))
    read = Recording()
    for part in report.parts_of(source):
        for batch in part:
            assert b"hunter2" not in batch
            read.append(batch)
    kept = read.columns("events")["message"].tolist()
    assert kept[-3:] == [f"{place}{why}", f"{place}…\n{why}", "mine: Task: hunter1"]
    source.save(tmp_path / "run.dinsight")
    whole = open_recording(tmp_path / "run.dinsight")
    assert whole.columns("events")["message"].tolist()[-3:] == messages


def budget(*rows: tuple[float, float, float, str, str]) -> bytes:
    start, stop, threads, part, name = zip(*rows, strict=True)
    return encode(
        "budget",
        {
            "start": [START + each for each in start],
            "stop": [START + each for each in stop],
            "threads": threads,
            "part": part,
            "name": name,
        },
    )


def test_the_time_budget_is_told_by_its_sums_before_its_rows() -> None:
    source = Recording()
    waited = [(2.0, 3.0, 1.0 + each, "inputs", f"name-{each}") for each in range(20)]
    source.append(budget((0, 2, 1, "cpu", "a"), (1, 4, 2, "cpu", "b"), *waited, (0, 1, 1, "idle", "")))
    first, rest = report.parts_of(source)
    about = decode(first[0]).columns
    told = json.loads(dict(zip(*(about[name].tolist() for name in ("name", "value")), strict=True))["budget"])
    assert (told["rows"], told["start"], told["stop"]) == (23, START, START + 4)
    sums = {(part, name): seconds for part, name, seconds in told["sums"]}
    assert sums["cpu", ""] == 8
    assert sums["inputs", "name-19"] == 20
    assert sums["inputs", ""] == sum(1 + each for each in range(4))
    assert len(sums) == 19
    assert "budget" not in map(table_of, first)
    blocks = [zlib.decompress(block) for block in report.blocks(rest)]
    assert [table_of(batch) for batch in split(blocks[0])] == ["budget"]


@pytest.mark.parametrize(
    ("action", "activity", "signs"),
    [
        ("deserialize", "executor", []),
        ("seceded", "executor", ["seceded"]),
        ("disk-write", "executor", ["sizing"]),
        ("disk-write", "disk-write", []),
    ],
)
def test_signs_of_the_legend_are_told_before_the_rows_that_show_them(
    action: str, activity: str, signs: list[str]
) -> None:
    source = recording()
    times = {"start": [START], "stop": [START + 0.1]}
    source.append(encode("phases", {"run": [0], "action": [action], **times}))
    metric = {"time": [START + 1], "worker": ["tcp://a:1"], "activity": [activity], "value": [0.1]}
    source.append(encode("metrics", metric))
    facts = decode(report.parts_of(source)[0][0]).columns
    told = dict(zip(facts["name"].tolist(), facts["value"].tolist(), strict=True))
    assert json.loads(told["signs"]) == signs


def test_what_attempts_without_a_place_are_placed_by_comes_with_them() -> None:
    source = recording()
    columns = {"run": [9], "task": [0], "worker": ["tcp://a:1"], "status": ["killed"], "done": [START + 9]}
    source.append(encode("attempts", columns))
    first, rest = report.parts_of(source)
    (attempts,) = (batch for batch in map(decode, first) if batch.table == "attempts")
    assert attempts.columns["done"].max() == START + 9
    late = [msgpack.unpackb(batch) for batch in rest]
    assert not {c["name"] for p in late if p["table"] == "attempts" for c in p["columns"]} & {
        "done",
        "assigned",
    }


def test_all_parts_of_a_column_come_at_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page takes those of the first part before those of the next."""
    monkeypatch.setattr("dask_insight.pack._REPORT_ROWS", 100)
    source = recording(tasks=200)
    columns = {"run": [900], "task": [0], "worker": ["tcp://z:1"], "status": ["killed"], "done": [START + 9]}
    source.append(encode("attempts", columns))
    first, _ = report.parts_of(source)
    parts = [msgpack.unpackb(batch) for batch in first if table_of(batch) == "attempts"]
    assert [part["rows"] for part in parts] == [100, 100, 1]
    assert all("done" in {column["name"] for column in part["columns"]} for part in parts)


@pytest.mark.parametrize(
    "name",
    [
        "</script><script>alert(1)</script>",
        "</title><b>",
        "<!--",
        "&amp;",
        "{style}",
        "%s",
        "\u202etxet",
        "👩‍👩‍👧",
    ],
)
def test_a_name_stays_text(name: str) -> None:
    plain, page = Page(report_html(recording())), Page(report_html(recording(name)))
    assert page.tags == plain.tags
    assert page.texts["title"] == [name]
    assert page.texts["h1"] == [name]


def test_a_page_is_ascii_whatever_the_names() -> None:
    html = report_html(recording("größer \N{SNOWMAN}"), title="\N{GREEK SMALL LETTER MU} run")
    assert html.isascii()
    assert Page(html).texts["h1"] == ["\N{GREEK SMALL LETTER MU} run"]


def test_our_sentences_run_from_left_to_right_whatever_name_they_begin_with() -> None:
    html = report_html(recording("\u05e9\u05dc\u05d5\u05dd"))
    assert '<h1 dir="auto">' in html and '<p class="verdict">' in html


def test_the_title_can_be_given() -> None:
    assert Page(report_html(recording(), title="Monday's run")).texts["h1"] == ["Monday's run"]


def test_what_ran_can_be_read_without_scripts() -> None:
    html = report_html(recording())
    text = unescape(re.sub(r"<[^>]+>", " ", html.split("<main")[0])).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert "3.5 s on 2 threads: 29 % computing, " in text
    assert "1 worker, 2 threads" in text


def test_when_it_started_is_told_with_its_time_zone() -> None:
    [moment] = Page(report_html(recording())).texts["time"]
    [line] = [line for line in describe(recording()).splitlines() if line.startswith("started ")]
    for told in (moment, line.removeprefix("started").strip()):
        began = datetime.fromisoformat(told)
        assert (began.timestamp(), began.tzinfo is None) == (START, False)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "run.html"
    assert write_report(recording(), target) == target
    before = target.read_text("utf-8")
    assert before == report_html(recording())

    def broken(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(report, "blocks", broken)
    with pytest.raises(OSError, match="disk full"):
        write_report(recording(), target)
    assert target.read_text("utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.html"]


def test_a_page_takes_no_recordings_place(tmp_path: Path) -> None:
    recording, path = Recording(), tmp_path / "run.dinsight"
    recording.append(encode("about", {"name": ["name"], "value": ['"kept"']}))
    recording.save(path)
    (tmp_path / "link").symlink_to(path)
    for name in (path, tmp_path / "link"):
        with pytest.raises(FileExistsError, match=r"is a recording.*\.html"):
            recording.report(name)
    assert open_recording(path).about["name"] == "kept"
    assert recording.report(tmp_path / "run.html").read_text().startswith("<!doctype html>")
    assert recording.report(tmp_path / "run.html").exists(), "an earlier page is replaced"


def test_an_empty_recording_makes_a_page() -> None:
    assert "No task ended while this was recorded." in report_html(Recording())


def test_a_part_of_a_run_in_which_no_task_held_a_thread_makes_a_page() -> None:
    made = recording(tasks=1)
    phase = {"run": [0], "action": ["seceded"], "start": [START + 0.1], "stop": [START + 0.4]}
    made.append(encode("phases", phase))
    part = made.slice(START + 0.2 - made.started, START + 0.3 - made.started)
    assert "<th>Task name</th>" not in report_html(part)
    assert part.summary().computing == 0


def test_losses_are_said_at_the_top() -> None:
    source = recording()
    source.append(
        encode("events", {"time": [START], "kind": ["lost"], "message": ["12,400 older tasks are not kept"]})
    )
    assert "12,400 older tasks are not kept" in report_html(source).split("<main")[0]


def test_a_page_of_what_still_runs_loads_itself_again(tmp_path: Path) -> None:
    page = Page(write_report(recording(), tmp_path / "run.html", renewed=30.0).read_text())
    scripts = [text for text, kind in zip(page.texts["script"], page.kinds, strict=True) if not kind]
    assert "location.reload();" in scripts[0] and "}, 30000);" in scripts[0]
    assert f"script-src {digest(scripts[1])} {digest(scripts[0])};" in page.policy
    assert "brings itself up to date every 30" in (tmp_path / "run.html").read_text().split("<main")[0]
    last = Page(report_html(recording()))
    assert last.kinds.count("") == 1 and "reload" not in report_html(recording())


@pytest.mark.parametrize(("before", "end"), [(True, 1000.0), (False, 3.5)])
def test_a_page_ends_where_its_rows_end(monkeypatch: pytest.MonkeyPatch, before: bool, end: float) -> None:
    """More comes while it is written, before its rows are taken or after that."""

    def growing(source: Recording, packed: Any = Recording.packed, **form: Any) -> list[bytes]:
        more = encode("resources", {"process": ["tcp://a:1"], "time": [START + 1000], "cpu": [1.0]})
        if before:
            source.append(more)
        batches: list[bytes] = packed(source, **form)
        if not before:
            source.append(more)
        return batches

    monkeypatch.setattr(Recording, "packed", growing)
    ahead, *_ = report.parts_of(recording())[0]
    columns: Any = decode(ahead).columns
    about = dict(zip(columns["name"].tolist(), columns["value"].tolist(), strict=True))
    assert json.loads(about["extent"]) == [START, START + end]


def test_a_missing_front_end_names_the_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(report.resources, "files", lambda _: tmp_path)
    with pytest.raises(MissingFrontEnd, match="npm ci && npm run build"):
        report_html(recording())
