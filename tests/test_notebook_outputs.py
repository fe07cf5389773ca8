"""What stays in a notebook, for every kind of viewer."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
import struct
import subprocess
import sys
import zlib
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import dask
import nbformat
import numpy as np
import pytest
from conftest import chromium
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient

import dask_insight
from dask_insight import ascii91
from dask_insight.analysis.overview import Overview
from dask_insight.batch import encode, split, table_of
from dask_insight.figures.colors import colors_of
from dask_insight.hosts.magic.counts import Counts, GroupCount
from dask_insight.hosts.magic.progress import as_html, as_text
from dask_insight.hosts.notebook import MIME, bundle, static_bundles
from dask_insight.hosts.notebook.aside import write_aside
from dask_insight.hosts.notebook.frame import _FOLLOW
from dask_insight.hosts.notebook.pdf import pdf
from dask_insight.hosts.notebook.picture import svg
from dask_insight.hosts.notebook.raster import task_stream
from dask_insight.hosts.notebook.thinner import thinned
from dask_insight.hosts.plain import marked
from dask_insight.hosts.report import report_html
from dask_insight.options import OUTPUT_SIZE
from dask_insight.recording import Recording
from dask_insight.schema import NOTHING

START = 1_750_000_000.0
IMAGES = {"image/svg+xml", "image/png", "application/pdf"}
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a|b\\`*_[x](javascript:alert(1))",
    "\u202etxet",
    "\x00\x1b[31m",
    "</iframe>",
    "]]>&amp;&#x3c;",
    "x" * 300,
]


def recording(tasks: int = 6, names: tuple[str, ...] = ("inc",), name: str = "a run") -> Recording:
    """Two lanes of tasks, each as long as the pause behind it."""
    made = Recording()
    ids = np.arange(tasks, dtype="u4")
    start = START + (ids // 2).astype("f8")
    made.append(encode("about", {"name": ["name", "started"], "value": [json.dumps(name), str(START)]}))
    workers = {"worker": ["tcp://a:1"], "name": ["first"], "threads": [2], "joined": [START]}
    made.append(encode("workers", workers))
    prefix = [names[row // 50 % len(names)] for row in range(tasks)]
    # As Dask names delayed calls: nothing of one key tells of another.
    keys = [f"{each}-{hashlib.sha1(b'%d' % row).hexdigest()}" for row, each in enumerate(prefix)]
    made.append(encode("graph", {"task": ids, "prefix": prefix, "key": keys}))
    columns = {
        "run": ids,
        "task": ids,
        "worker": ["tcp://a:1"] * tasks,
        "thread": [str(row % 2) for row in range(tasks)],
        "status": ["ok"] * tasks,
        "start": start,
        "stop": start + 0.5,
        "done": start + 0.5,
    }
    made.append(encode("attempts", columns))
    return made


def frame_of(html: str) -> str:
    """The document in the frame."""
    [document] = re.findall(r'srcdoc="([^"]*)"', html)
    return unescape(document)


def data_of(document: str) -> Recording:
    """What the report in a frame reads."""
    made = Recording()
    for block in re.findall(r'class="?batches[^>]*>([^<]*)<', document):
        for batch in split(zlib.decompress(ascii91.decode(block))):
            if b"\xa4from" not in bytes(batch)[:400]:
                made.append(batch)
    return made


def test_a_recording_shows_itself_to_every_viewer() -> None:
    shown = recording()._repr_mimebundle_()
    assert set(shown) == {MIME, "text/html", "text/plain"} | IMAGES
    assert shown[MIME]["verdict"] == recording().summary().verdict()
    assert "inc" in shown["text/plain"]
    assert json.loads(json.dumps(shown)) == shown
    # The only one that marimo asks for.
    assert recording()._repr_html_() == shown["text/html"]


def test_in_a_terminal_it_is_its_text() -> None:
    shell = InteractiveShell.instance()
    try:
        shell.display_formatter.active_types = ["text/plain"]
        with dask.config.set({OUTPUT_SIZE: "100 kB"}):
            shown = bundle(recording(20_000, ("a", "b")))
        assert set(shown) == {"text/plain"}
        assert "notebook" not in shown["text/plain"]
        assert "<table>" in recording()._repr_html_()
    finally:
        InteractiveShell.clear_instance()


def test_the_data_stand_once() -> None:
    shown = recording(3_000)._repr_mimebundle_()
    document = frame_of(shown["text/html"])
    assert data_of(document).summary().tasks == 3_000
    blocks = re.findall(r"class=batches [^>]*>([^<]*)<", document)
    whole = json.dumps(shown)
    assert all(whole.count(json.dumps(block)[1:-1]) == 1 for block in blocks)
    assert len(json.dumps(shown[MIME])) < 2_000


def test_the_front_end_takes_little_of_each_output() -> None:
    assert len(json.dumps(recording()._repr_mimebundle_())) < 165_000


def policy_of(document: str) -> str:
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', document)
    return str(policy)


def digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_the_frame_may_only_draw() -> None:
    html = recording()._repr_mimebundle_()["text/html"]
    [sandbox] = re.findall(r'sandbox="([^"]*)"', html)
    assert set(sandbox.split()) == {"allow-scripts", "allow-downloads"}
    document = frame_of(html)
    rules = dict(rule.split(" ", 1) for rule in policy_of(document).split("; "))
    assert rules["default-src"] == "'none'"
    parts = {
        name: zlib.decompress(ascii91.decode(re.findall(rf"id={name}>([^<]*)<", document)[0])).decode()
        for name in ("style", "script")
    }
    [boot] = re.findall(r"<script>([^<]*)</script>", document)
    assert rules["style-src"] == digest(parts["style"])
    assert rules["script-src"] == f"{digest(boot)} {digest(parts['script'])}"


def test_the_frame_may_do_no_more_than_the_file() -> None:
    made = recording()
    frame, file = (
        re.sub(r"(?: 'sha256-[^']*')+", "", policy_of(document))
        for document in (frame_of(made._repr_mimebundle_()["text/html"]), report_html(made))
    )
    assert frame == file


class Elements(HTMLParser):
    """The elements of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_text(name: str) -> None:
    hostile, plain = recording(names=(name,), name=name), recording()
    there, here = bundle(hostile), bundle(plain)
    pair = (there["text/html"], here["text/html"])
    for made, expected in (pair, map(frame_of, pair)):
        assert Elements(made).tags == Elements(expected).tags
        assert Elements(made).attributes == Elements(expected).attributes
    tree = ElementTree.fromstring(there["image/svg+xml"])
    kinds = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert kinds <= {"svg", "title", "rect", "text", "image", "path"}
    table = static_bundles(hostile)[-1]["text/markdown"]
    assert not re.search(r"<\w|(?<!&)\[|javascript:", table)
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {4}


def test_markdown_has_task_names_as_code() -> None:
    assert "of the computing was `inc`." in static_bundles(recording(names=("inc",)))[-1]["text/markdown"]
    assert marked("`load_1.csv` and `a|<b>`, `c") == "`load_1.csv` and a&#124;&#60;b&#62;, `c`"
    assert marked("www.evil.example") == "www&#46;evil.example"


def test_the_picture_shows_what_ran() -> None:
    made = recording(6, names=("inc",))
    picture = task_stream(made, width=50)
    assert picture is not None
    assert picture.pixels.shape == (2, 50, 3)
    assert picture.workers == ["first", "first"]
    [(name, color, seconds)] = picture.names
    assert (name, round(seconds, 6)) == ("inc", 3.0)
    lane = picture.pixels[0]
    assert tuple(lane[5]) == color
    assert tuple(lane[15]) == (255, 255, 255)
    busy = (lane != 255).any(axis=1).sum()
    assert 29 <= busy <= 31


def test_a_thread_has_one_lane_whoever_tells_of_it() -> None:
    """The scheduler knows the thread of the first attempt, the worker alone that of the second."""
    made = Recording()
    made.append(encode("graph", {"task": [0, 1], "prefix": ["inc"] * 2}))
    attempts = {"run": [0, 1], "task": [0, 1], "worker": ["tcp://a:1"] * 2, "thread": ["7", ""]}
    times = {"start": [START, START + 2], "stop": [START + 1, START + 3]}
    made.append(encode("attempts", attempts | {"status": ["ok"] * 2} | times))
    made.append(encode("executions", {"run": [1, 0], "worker": ["tcp://a:1"] * 2, "thread": ["7"] * 2}))
    picture = task_stream(made, width=50)
    assert picture is not None and picture.workers == ["tcp://a:1"]


def test_threads_on_which_nothing_ran_have_lanes_in_the_picture() -> None:
    made = recording(6, names=("inc",))
    workers = {"worker": ["tcp://a:1", "tcp://b:1"], "name": ["first", "second"], "threads": [3, 2]}
    made.append(encode("workers", {**workers, "joined": [START - 5] * 2}))
    picture = task_stream(made, width=50)
    assert picture is not None
    assert picture.workers == [*["first"] * 3, *["second"] * 2]
    assert (picture.pixels[2:] == 255).all()


def test_clusters_whose_workers_have_the_same_names_do_not_mix_in_the_picture() -> None:
    made = Recording()
    workers = [f"tcp://{host}:{port}" for port in (1, 2) for host in "ab"]
    clusters = ["tcp://first", "tcp://second"] * 2
    names = {"worker": workers, "name": ["0", "0", "1", "1"], "cluster": clusters, "threads": [2] * 4}
    made.append(encode("workers", names))
    run = range(4)
    attempts = {"run": run, "task": run, "worker": workers, "thread": ["1"] * 4, "status": ["ok"] * 4}
    made.append(encode("attempts", attempts | {"start": [START] * 4, "stop": [START + 1] * 4}))
    picture = task_stream(made, width=50)
    assert picture is not None
    assert picture.workers == ["0", "0", "1", "1"] * 2


def test_failures_are_seen_in_the_picture() -> None:
    made = recording(2_000)
    attempt = {"run": [9_000], "task": [1], "worker": ["tcp://a:1"], "thread": ["0"], "status": ["erred"]}
    made.append(encode("attempts", attempt | {"start": [START + 3], "stop": [START + 3.0001]}))
    picture = task_stream(made, width=100)
    assert picture is not None
    assert picture.failures == ["erred"]
    assert (picture.pixels == 0).all(axis=2).sum() == 1


def test_a_worker_may_be_called_by_a_number_that_python_does_not_read() -> None:
    made = recording(6)
    workers = {"worker": ["tcp://a:1"], "name": ["9" * 5_000], "threads": [2], "joined": [START - 5]}
    made.append(encode("workers", workers))
    picture = task_stream(made, width=50)
    assert picture is not None and picture.workers == ["9" * 5_000] * 2


def test_the_png_is_one() -> None:
    shown = recording()._repr_mimebundle_()
    raw = base64.b64decode(shown["image/png"])
    assert raw.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(raw):
        (size,) = struct.unpack_from(">I", raw, at)
        kind, data = raw[at + 4 : at + 8], raw[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", raw, at + 8 + size)[0] == zlib.crc32(kind + data)
        chunks[kind] = data
        at += 12 + size
    width, height, depth, kind_of_color, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (width, depth, kind_of_color) == (900, 8, 3)
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + width)


def test_the_pdf_shows_what_the_svg_does() -> None:
    picture = task_stream(recording(100, ("inc", "zażółć (\\")))
    assert picture is not None
    drawn = svg(picture, "a run")
    made = pdf(drawn)
    [table] = re.findall(rb"\nstartxref\n(\d+)\n%%EOF\n\Z", made)
    assert made[int(table) :].startswith(b"xref\n0 6\n")
    places = re.findall(rb"^(\d{10}) 00000 n $", made, re.MULTILINE)
    assert [made[int(place) :].split(b"\n")[0] for place in places] == [b"%d 0 obj" % n for n in range(1, 6)]
    content, lanes = (
        zlib.decompress(made[found.end() : found.end() + int(found[1])])
        for found in re.finditer(rb"/Length (\d+)>>\nstream\n", made)
    )
    [palette] = re.findall(rb"/Indexed /DeviceRGB \d+ <(\w+)>", made)
    colors = np.frombuffer(bytes.fromhex(palette.decode()), "u1").reshape(-1, 3)
    rows = np.frombuffer(lanes, "u1").reshape(len(picture.pixels), -1)[:, 1:]
    assert (colors[rows] == picture.pixels).all()
    texts = [bytes.fromhex(text.decode()).decode("cp1252") for text in re.findall(rb"<(\w+)> Tj", content)]
    wanted = [each.text or "" for each in ElementTree.fromstring(drawn) if each.tag.endswith("text")]
    seen = str.maketrans({"\N{NARROW NO-BREAK SPACE}": "\N{NO-BREAK SPACE}", **dict.fromkeys("żłć", "?")})
    assert texts == [text.translate(seen) for text in wanted]


def test_colors_are_those_of_the_page() -> None:
    golden = json.loads((Path(__file__).parent / "golden" / "colors.json").read_text("utf-8"))
    for scheme, colors in golden.items():
        got = colors_of(colors, dark=scheme == "dark")
        assert {name: list(color) for name, color in got.items()} == colors


def test_static_outputs_carry_picture_and_table_only() -> None:
    picture, table = static_bundles(recording())
    assert set(picture) == {"text/plain"} | IMAGES
    assert set(table) == {"text/markdown", "text/plain"}
    assert "| inc | 3 s |" in table["text/markdown"].replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert "script" not in json.dumps([picture, table])


def test_nothing_to_draw() -> None:
    shown = Recording()._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"}
    assert "No task ended" in shown["text/html"]
    assert len(static_bundles(Recording())) == 1


def test_where_all_findings_are_is_told_where_no_report_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def advised(_: Overview, most: int = 3, whole: str = "") -> list[str]:
        return [f"and 2 more: {whole or 'here'}"]

    monkeypatch.setattr(Overview, "advised", advised)
    shown, named = bundle(recording()), "_dprofile.findings()"
    assert "and 2 more: here" in shown["text/plain"] and "and 2 more: here" in shown["text/html"]
    [_, table] = static_bundles(recording(), all_findings=named)
    assert f"and 2 more: {named}" in table["text/plain"]
    assert "and 2 more: run.findings()" in static_bundles(recording())[1]["text/plain"]
    monkeypatch.setattr(sys.modules[bundle.__module__], "only_text", lambda: True)
    assert f"and 2 more: {named}" in bundle(recording(), all_findings=named)["text/plain"]


@pytest.mark.parametrize("limit", ["175 kB", "200 kB", "400 kB"])
def test_an_output_keeps_to_the_limit(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = recording(60_000, tuple(f"name-{number}" for number in range(20)), "../a big run")
    random = np.random.default_rng(1)
    pairs = {"task": np.arange(1, 60_000), "dependency": random.integers(0, 60_000, 59_999)}
    source.append(encode("edges", pairs))
    with dask.config.set({OUTPUT_SIZE: limit}):
        shown = bundle(source, aside=tmp_path)
    assert len(json.dumps(shown)) <= dask.utils.parse_bytes(limit)
    left_out, whole = shown[MIME]["notes"]
    assert "leaves out which task needed which" in left_out
    [file] = tmp_path.iterdir()
    assert file.name in whole
    assert re.fullmatch(r"dprofile-a-big-run-\d{8}-\d{6}\.html", file.name)
    seen, real = data_of(frame_of(shown["text/html"])).summary(), source.summary()
    assert seen.computing == pytest.approx(real.computing, rel=0.01)
    assert dict(seen.names) == pytest.approx(dict(real.names), rel=0.01)
    assert shown[MIME]["verdict"] == real.verdict()


@pytest.mark.parametrize(
    ("limit", "trouble"),
    [
        (None, ""),
        (float("inf"), ""),
        ("Infinity", ""),
        ("inf", ""),
        (".5 MB", ""),
        ("lots", "'lots'"),
        ("", "''"),
        ("-5 MB", "'-5 MB'"),
        (True, "True"),
        ([2], "[2]"),
    ],
)
def test_a_limit_that_is_no_size_is_told_of_and_costs_nothing(limit: Any, trouble: str) -> None:
    with dask.config.set({OUTPUT_SIZE: limit}):
        shown = bundle(recording())
    told = f"`{OUTPUT_SIZE}` is {trouble}, which is no size: 1.5 MB is kept to here. Write it like '5 MB'."
    assert shown[MIME]["notes"] == ([f"Dask's setting {told}"] if trouble else [])
    assert len(data_of(frame_of(shown["text/html"])).attempts) == 6


def test_what_is_left_out_is_said_and_no_more() -> None:
    source = recording(5_000, ("one", "two"))
    assert thinned(source, 10**9) == (source, [])
    thinner, said = thinned(source, 20_000)
    assert said == ["the keys of the tasks and what workers noted of each"]
    assert set(thinner.graph["key"]) == {""}
    assert thinner.summary() == source.summary()
    merged, said = thinned(source, 500)
    assert re.fullmatch(r"[\d,]+ short tasks, each drawn as one with its neighbour", said[-1])
    assert merged.summary().computing == pytest.approx(source.summary().computing)


_FEWER = "5 of 6 call stacks"


def sampled(samples: int) -> Recording:
    """With samples of memory, and so many of three functions, which take unlike parts of the time."""
    source = recording(200)
    random = np.random.default_rng(1)
    of = {"function": ["load", "parse", "fit"], "file": ["/here/work.py"] * 3, "line": [1, 2, 3]}
    source.append(encode("stacks", {"stack": range(3), "parent": [NOTHING] * 3, **of}))
    columns = {
        "process": ["tcp://a:1"] * samples,
        "thread": ["0"] * samples,
        "time": START + np.sort(random.uniform(0, 50, samples)),
        "duration": random.uniform(0.001, 0.003, samples),
        "stack": random.choice(3, samples, p=[1 / 6, 2 / 6, 3 / 6]),
        "run": random.integers(0, 200, samples),
    }
    source.append(encode("samples", columns))
    memory = {"time": START + np.arange(2_000) / 40, "memory": random.uniform(1e8, 1e9, 2_000)}
    source.append(encode("resources", {"process": ["tcp://a:1"] * 2_000, **memory}))
    return source


def test_fewer_call_stacks_tell_the_same_of_the_time_and_none_are_the_next_step() -> None:
    source = sampled(30_000)
    budget = min(budget for budget in range(20_000, 400_000, 20_000) if _FEWER in thinned(source, budget)[1])
    thinner, said = thinned(source, budget)
    assert said[-2:] == ["most samples of CPU and memory", _FEWER]
    assert (len(thinner.resources), len(thinner.samples)) == (250, 5_000)
    seen, real = (run.flame().set_index("function")["self"] for run in (thinner, source))
    assert seen.sum() == pytest.approx(real.sum(), rel=0.02)
    assert dict(seen / seen.sum()) == pytest.approx(dict(real / real.sum()), rel=0.05)
    none, said = thinned(source, 15_000)
    assert said[-2:] == ["most samples of CPU and memory", "call stacks and lines of source code"]
    assert len(none.samples) == 0 and "samples" in none.about["lacks"]


def test_samples_of_memory_that_are_left_out_are_said_where_there_are_no_call_stacks() -> None:
    source = sampled(0)
    texts = [hashlib.sha1(b"%d" % line).hexdigest() for line in range(1_000)]
    source.append(encode("lines", {"file": ["/here/work.py"] * 1_000, "line": range(1_000), "text": texts}))
    thinner, said = thinned(source, 10_000)
    assert len(thinner.resources) == 250
    assert said[-2:] == ["most samples of CPU and memory", "call stacks and lines of source code"]


def test_a_table_that_is_left_out_says_so_where_it_would_be_shown() -> None:
    source = recording(5_000, ("one", "two"))
    moments = {"start": np.arange(2000.0), "stop": np.arange(2000.0) + 0.5}
    source.append(encode("transfers", {"transfer": np.arange(2000), "nbytes": np.arange(2000.0), **moments}))
    thinner, said = thinned(source, 20_000)
    assert said[0] == "which task needed which and what was sent where"
    assert len(thinner.transfers) == 0
    # Pages show this in place of a panel that has no rows.
    assert thinner.about["lacks"]["transfers"].startswith("Left out, so that the notebook stays small")
    assert "lacks" not in source.about


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with dask.config.set({OUTPUT_SIZE: "110 kB"}):
        notes = bundle(recording(20_000, ("a", "b")), aside=gone)[MIME]["notes"]
    assert "could not be written beside it" in notes[-1]


def test_a_whole_report_beside_replaces_none_and_what_is_shown_again_writes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "analysis.ipynb"))
    source = recording(20_000, ("a", "b"))
    with dask.config.set({OUTPUT_SIZE: "110 kB"}):
        sources = (source, recording(20_000, ("c",)))
        notes = [bundle(each, aside=tmp_path)[MIME]["notes"][-1] for each in sources]
        again = source._repr_mimebundle_()[MIME]["notes"]
    assert {f"The whole one is {file.name}." for file in tmp_path.iterdir()} == set(notes)
    assert len(set(notes)) == 2
    assert again[-1] == "`.report(path)` writes the whole one."


@pytest.mark.parametrize(
    ("jupyter", "code", "alone"),
    [
        (None, None, False),
        ("here/analysis.ipynb", None, True),
        ("elsewhere/analysis.ipynb", None, False),
        ("here/vscode-session", "elsewhere/analysis.ipynb", False),
        (None, "here/analysis.ipynb", True),
    ],
)
def test_a_whole_report_is_told_by_its_path_unless_it_is_known_to_stand_beside_the_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jupyter: str | None, code: str | None, alone: bool
) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    if jupyter is not None:
        monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / jupyter))
    known = {} if code is None else {"__vsc_ipynb_file__": str(tmp_path / code)}
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(user_ns=known))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    told = write_aside(recording(10, ("a",)), "run", Path())
    [file] = here.iterdir()
    assert told == (Path(file.name) if alone else file)


@pytest.mark.parametrize("tables", [("graph",), ()])
def test_what_has_not_ended_is_shown_in_little_room_too(tables: tuple[str, ...]) -> None:
    made = Recording()
    at = {"worker": ["a"] * 9, "thread": ["1"] * 9, "start": [START] * 9}
    made.append(encode("running", {"run": range(9), "task": range(9), **at}))
    for table in tables:
        made.append(encode(table, {"task": range(9), "prefix": ["hang"] * 9}))
    with dask.config.set({OUTPUT_SIZE: "100 kB"}):
        assert "running" in bundle(made)["text/plain"]


def test_progress_counts_what_arrives() -> None:
    counts = Counts()
    assert as_text("run", counts) == "run: recording; no tasks yet"
    made = recording(100, ("<b>one", "two"))
    by_table = {table_of(batch): batch for batch in made.batches()}
    graph, attempts = by_table["graph"], by_table["attempts"]
    for batch in (attempts, b"\xff damaged", graph, graph, attempts):
        counts.take(batch)
    assert (counts.total, counts.done, counts.erred) == (100, 100, 0)
    assert counts.groups() == [GroupCount("<b>one", 50, 50, 0), GroupCount("two", 50, 50, 0)]
    ended = {"run": [500, 501, 502], "task": [100, 101, 101], "status": ["erred", "killed", "killed"]}
    counts.take(encode("attempts", ended))
    counts.take(encode("graph", {"task": [100, 101], "prefix": ["two"] * 2}))
    html = as_html("<i>run", counts, 3.0)
    assert "<i>" not in html
    assert "<b>one" not in html
    assert "100 of 102 tasks, 1 failed" in html
    assert "50 of 52, 1 failed" in html
    assert len(html) < 1_000
    # Workers died of it: the error is told of the last attempt alone.
    counts.take(encode("errors", {"run": [502], "task": [101], "exception": ["KilledWorker"]}))
    assert counts.erred == 2 and counts.groups()[1] == GroupCount("two", 52, 50, 2)
    # Somebody asked for one once more.
    counts.take(encode("attempts", {"run": [503], "task": [100], "status": ["ok"]}))
    assert counts.erred == 1 and counts.groups()[1] == GroupCount("two", 52, 51, 1)


def test_progress_counts_what_was_there_before_once_it_is_made_again() -> None:
    counts = Counts()
    graph = {"task": range(15), "prefix": ["inc"] * 15, "order": [NOTHING] * 5 + [*range(10)]}
    counts.take(encode("graph", graph))
    counts.take(encode("attempts", {"run": range(10), "task": range(10), "status": ["ok"] * 10}))
    assert (counts.total, counts.done) == (15, 10)
    assert counts.groups() == [GroupCount("inc", 15, 10, 0)]


def test_progress_shows_a_dozen_names() -> None:
    counts = Counts()
    for batch in recording(2_000, tuple(f"name-{number}" for number in range(40))).batches():
        counts.take(batch)
    assert as_html("run", counts, 1.0).count("<progress") == 12
    assert "and 28 more names" in as_text("run", counts)


NOTEBOOK = [
    "%load_ext dask_insight",
    "import threading, time, dask\n"
    "@dask.delayed\n"
    "def nap(number):\n"
    "    time.sleep(0.2)\n"
    "    return number\n"
    "def ours():\n"
    "    return sorted(t.name for t in threading.enumerate() if 'insight' in t.name)\n"
    "def progress():\n"
    "    return [name for name in ours() if 'progress' in name]",
    "%%dprofile naps\n"
    "print('begins')\n"
    "values, = dask.compute([nap(number) for number in range(24)], scheduler='threads', num_workers=4)\n"
    "sum(values)",
    "%%dprofile --static\ndask.compute(nap(1), scheduler='sync')",
    "%%dprofile\n1 / 0",
    "%%dprofile awaited\nimport asyncio\nawait asyncio.sleep(0.01)\nnap(2).compute(scheduler='sync')",
    "from comm import get_comm_manager\n"
    "before = len(get_comm_manager().comms), ours()\n"
    "for _ in range(10):\n"
    "    get_ipython().run_cell('%%dprofile again\\nnap(3).compute(scheduler=\"sync\")')\n"
    "print((len(get_comm_manager().comms), ours()) == before, progress())",
    "import dask_insight\ndask_insight.runs['naps']",
    "%%dprofile stopped\n"
    "import os, signal\n"
    "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
    "time.sleep(30)",
    "from distributed import Client\n"
    "client = await Client(n_workers=1, processes=False, dashboard_address=':0', asynchronous=True)",
    "%%dprofile held\nfuture = client.submit(sum, [1, 2])\n'not awaited'",
    "%%dprofile waited\nawait client.submit(sum, [3, 4])",
    "await client.close()",
    "%%dprofile open --open 'Task stream'\nnap(4).compute(scheduler='sync')",
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A notebook that a real kernel has run, as it was saved and read again."""
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in NOTEBOOK])
    NotebookClient(book, timeout=120, allow_errors=True, resources={"metadata": {"path": folder}}).execute()
    nbformat.validate(book)
    nbformat.write(book, folder / "run.ipynb")
    return nbformat.read(folder / "run.ipynb", as_version=4)


def outputs(saved: Any, cell: int, kind: str = "display_data") -> list[Any]:
    """What stands under a cell."""
    return [output for output in saved.cells[cell].outputs if output.output_type == kind]


def test_a_saved_notebook_holds_the_report(saved: Any) -> None:
    [shown] = outputs(saved, 2)
    assert {MIME, "text/html", "text/plain"} | IMAGES == set(shown.data)
    assert data_of(frame_of(shown.data["text/html"])).summary().tasks == 24
    assert [output.text for output in outputs(saved, 2, "stream")] == ["begins\n"]
    assert [output.data["text/plain"] for output in outputs(saved, 2, "execute_result")] == ["276"]
    assert "<progress" not in json.dumps(saved)


def test_a_saved_notebook_holds_picture_and_table(saved: Any) -> None:
    picture, table = outputs(saved, 3)
    assert set(picture.data) > IMAGES
    assert "| nap |" in table.data["text/markdown"]


def test_an_error_in_a_saved_notebook(saved: Any) -> None:
    [error] = outputs(saved, 4, "error")
    assert error.ename == "ZeroDivisionError"
    assert str(Path(dask_insight.__file__).parent) not in "".join(error.traceback)
    [shown] = outputs(saved, 4)
    assert "No Dask computation ran here" in shown.data["text/plain"]


def test_an_awaiting_cell_in_a_kernel(saved: Any) -> None:
    assert MIME in outputs(saved, 5)[0].data
    assert [output.data["text/plain"] for output in outputs(saved, 5, "execute_result")] == ["2"]


def test_ten_runs_in_a_kernel_leave_no_comms_and_threads(saved: Any) -> None:
    assert outputs(saved, 6, "stream")[-1].text.endswith("True []\n")
    assert len([each for each in outputs(saved, 6) if MIME in each.data]) == 10


def test_a_kept_run_is_shown_again(saved: Any) -> None:
    [shown] = outputs(saved, 7, "execute_result")
    assert shown.data[MIME]["name"] == "naps"


def test_an_interrupted_cell_in_a_kernel(saved: Any) -> None:
    [error] = outputs(saved, 8, "error")
    assert error.ename == "KeyboardInterrupt"
    assert str(Path(dask_insight.__file__).parent) not in "".join(error.traceback)


def test_an_asynchronous_client_in_a_kernel(saved: Any) -> None:
    assert [output.data["text/plain"] for output in outputs(saved, 10, "execute_result")] == ["'not awaited'"]
    assert not outputs(saved, 10, "error")
    assert [output.data["text/plain"] for output in outputs(saved, 11, "execute_result")] == ["7"]
    assert outputs(saved, 11)[0].data[MIME]["name"] == "waited"


def test_a_request_to_open_a_panel_leaves_nothing(saved: Any) -> None:
    assert len(outputs(saved, 13)) == 1
    assert "task-stream" not in json.dumps(saved.cells[13].metadata)


def test_nbconvert_keeps_the_report(saved: Any) -> None:
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter().from_notebook_node(saved)
    frames = re.findall(r'srcdoc="([^"]*)"', html)
    assert data_of(unescape(frames[0])).summary().tasks == 24
    assert "Where the time went" in html


def test_it_becomes_latex_without_inkscape(saved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbconvert import LatexExporter
    from nbconvert.preprocessors import SVG2PDFPreprocessor

    monkeypatch.setattr("nbconvert.preprocessors.svg2pdf.which", lambda _: None)
    for application in ("INKSCAPE_APP", "INKSCAPE_APP_v1"):
        monkeypatch.setattr(f"nbconvert.preprocessors.svg2pdf.{application}", "")
    SVG2PDFPreprocessor().preprocess(copy.deepcopy(saved), {})
    book = nbformat.v4.new_notebook(cells=[saved.cells[2]])
    text, resources = LatexExporter().from_notebook_node(book)
    [shown] = [image for name, image in resources["outputs"].items() if name in text]
    assert shown.startswith(b"%PDF-")


@pytest.mark.browser
def test_the_frame_follows_the_ground_that_it_stands_on(tmp_path: Path) -> None:
    styles = {
        "background: #fff; color: #ccc": "light",
        "background: #111": "dark",
        "color: #ccc": "dark",
        "color: #3b3b3b": "light",
        "background: rgba(255, 255, 255, 0.1); color: #ccc": "dark",
        "background: color(srgb 1 1 1); color: #ccc": "light",
        "background: color(srgb 0 0 0 / 0.2)": "light",
        "background: color(display-p3 0 0 0)": "light",
    }
    frames = [
        f'<div style="{style}"><iframe onload="{_FOLLOW}" srcdoc="x"></iframe></div>' for style in styles
    ]
    page = tmp_path / "grounds.html"
    page.write_text("".join(["<!doctype html>", *frames]), "utf-8")
    dom = opened(page, tmp_path / "profile")
    assert re.findall(r'style="color-scheme: (\w+);?"', dom) == list(styles.values())


def opened(page: Path, profile: Path) -> str:
    """What a browser has made of a page."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    flags += [f"--user-data-dir={profile}", "--virtual-time-budget=15000", "--dump-dom"]
    return subprocess.run(
        [chromium(), *flags, page.as_uri()],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout


@pytest.mark.browser
def test_the_frame_opens_in_a_browser(saved: Any, tmp_path: Path) -> None:
    page = tmp_path / "frame.html"
    page.write_text(frame_of(outputs(saved, 2)[0].data["text/html"]), "utf-8")
    dom = opened(page, tmp_path / "profile")
    assert "<canvas" in dom
    # Virtual time may end before the last block has been unpacked; the first picture is there by then.
    assert 'data-shown="true"' in dom
    assert "Task stream" in dom


def test_runs_are_part_of_the_package() -> None:
    assert dask_insight.runs.__doc__
