"""Output where the standard streams do not have all signs, as on Windows when it is redirected."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_time_budget import Run

import dask_insight
from dask_insight.batch import encode
from dask_insight.errors import ExitCode
from dask_insight.exports import FORMATS
from dask_insight.hosts.cli import main
from dask_insight.hosts.cli.progress import Progress
from dask_insight.hosts.magic.counts import Counts
from dask_insight.hosts.magic.progress import as_text
from dask_insight.hosts.notebook import bundle, static_bundles
from dask_insight.hosts.widget.widget import InsightWidget
from dask_insight.legible import ascii_json, legible, printed

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"


def python(*arguments: str | Path, encoding: str) -> str:
    ended = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr.decode(encoding)
    return ended.stdout.decode(encoding).replace("\r", "")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("command", ["info", "findings", "what-if", "compare", "export --help"])
def test_commands_print_in_every_encoding(command: str, encoding: str) -> None:
    files = [GOLDEN] * {"compare": 2, "export --help": 0}.get(command, 1)
    told = python("-m", "dask_insight", *command.split(), *files, encoding=encoding)
    assert "\\u202f" not in told
    if command == "findings":
        assert "costs about" in told


@pytest.mark.parametrize("command", ["info", "findings", "compare"])
def test_json_is_ascii_and_keeps_all_signs(command: str) -> None:
    files = [GOLDEN] * (2 if command == "compare" else 1)
    told = python("-m", "dask_insight", command, "--json", *files, encoding="ascii")
    assert "☃" in str(json.loads(told))


def test_results_print_in_every_encoding() -> None:
    program = f"""if True:
        import dask_insight
        run = dask_insight.open({str(GOLDEN)!r})
        for each in (run.summary(), run.findings(), run.findings()[0], run.bounds(), run.what_if(workers=2)):
            print(each)
        print(run, run.findings()[0].evidence[-1])
        print([run.findings()[0]])
    """
    assert "1.09 s on up to 6 threads" in python("-c", program, encoding="cp1252")


@pytest.mark.parametrize("encoding", ["cp1253", "cp874", "cp932", "gbk", "cp949", "cp950"])
def test_texts_print_alone_in_every_code_page_of_windows(encoding: str) -> None:
    program = """if True:
        from test_compare import run
        from test_findings import of_two_clusters
        from test_findings_risks import failing_by_kind
        from dask_insight import compare, words
        from dask_insight.analysis.findings.finding import amount

        unknown = float("nan")
        print(words.duration(85e-6), words.duration(3e-9), words.duration(-3), words.duration(unknown))
        print(words.size(unknown), words.share(unknown), amount(unknown, "times"))
        print(of_two_clusters().called("a"))
        for each in failing_by_kind().recording().findings():
            print(each.title, each.why, *each.evidence, each.advice, each.cost)
        compared = compare(run(1), run(2, factor=1.5))
        print(compared.verdict(), compared.notes())
    """
    assert "\\" not in python("-c", program, encoding=encoding)


def test_what_has_all_signs_is_left_as_it_is() -> None:
    assert "1.09\u202fs" in python("-m", "dask_insight", "info", GOLDEN, encoding="utf-8")


def test_a_stream_is_given_back_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "cp1252", errors="strict")
    monkeypatch.setattr(sys, "stdout", stream)
    with legible():
        print("−3\u202fµs → 中 \ud800", end="")
    assert raw.getvalue() == b"-3 \xb5s -> \\u4e2d \\ud800"
    assert stream.errors == "strict"


@pytest.mark.parametrize("end", ["close", "detach"])
def test_a_stream_that_a_program_has_closed_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    stream = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", stream)
    with legible():
        getattr(stream, end)()
    with legible():
        assert sys.stdout is stream


def test_json_of_any_sign_is_ascii() -> None:
    names = {"name": '中 😀 \ud800 \\ "'}
    told = ascii_json(json.dumps(names, ensure_ascii=False))
    assert told.isascii()
    assert json.loads(told) == names


def test_progress_takes_its_line_away_without_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((12, 5)))
    terminal = Terminal()
    progress = Progress(terminal)
    progress.show("読む 1234567890")
    progress.show("short")
    progress.line("done")
    assert terminal.getvalue() == "\r読む 123456\rshort      \r     \rdone\n"


def test_names_command_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b]0;title\x07\x9b31mred\r\u202eder\x00"
    run = Run()
    run.task(f"{name}a", "a", 0, 1)
    run.task(f"{name}b", "b", 0, 2, status="error")
    recording = run.recording()
    recording.append(encode("about", {"name": ["name"], "value": [json.dumps(name)]}))
    told = [recording, recording.summary(), recording.findings(), *recording.findings(), recording.bounds()]
    told += [recording.what_if(faster={f"{name}a": 2}), dask_insight.compare(recording, recording)]
    texts = [text(each) for each in told for text in (str, repr)]
    texts += [each["text/plain"] for each in static_bundles(recording)]
    texts += [as_text(name, Counts()), InsightWidget(recording)._without_kernel()["text/plain"]]
    texts += [bundle(recording)["text/plain"], recording.export(tmp_path / "a.collapsed.txt").read_text()]
    assert all(r"\x1b]0;title\x07" in text for text in (texts[0], texts[2], texts[-2]))
    assert set("\x1b\x07\x9b\r\u202e\x00") & set("".join(texts)) == set()
    recording.save(tmp_path / "a.dinsight")
    recording.export(tmp_path / "a.trace.json")
    assert main(["import", str(tmp_path / "a.trace.json"), "-o", str(tmp_path / "b.dinsight")]) == ExitCode.OK
    for command in ("info", "findings"):
        assert main([command, str(tmp_path / "a.dinsight")]) == ExitCode.OK
    slow = Run()
    slow.task("a", "a", 0, 9)
    slow.recording().save(tmp_path / "slow.dinsight")
    sides = [str(tmp_path / f"{each}.dinsight") for each in ("a", "slow")]
    names = f"{name}before,{name}after".replace("\x00", "")
    assert main(["compare", *sides, "--names", names, "--fail-if-slower", "1%"]) == ExitCode.SLOWER
    assert main(["info", str(tmp_path / f"{name}.dinsight".replace("\x00", ""))]) == ExitCode.UNREADABLE
    assert "\x1b" not in "".join(capsys.readouterr())


def test_a_name_that_no_encoding_has_is_exported(tmp_path: Path) -> None:
    recording = Run().recording()
    recording.append(encode("about", {"name": ["name"], "value": [json.dumps("caf\udce9")]}))
    for format in FORMATS:
        if format not in ("parquet", "png"):
            recording.export(tmp_path / format, format)
    assert recording.report(tmp_path / "run.html").exists()


@pytest.mark.parametrize("encoding", ["klingon", "hex", 5])
def test_an_encoding_that_python_does_not_know_has_the_signs_that_all_have(
    monkeypatch: pytest.MonkeyPatch, encoding: object
) -> None:
    monkeypatch.setattr(sys, "stdout", type("Stream", (), {"encoding": encoding}))
    assert printed("3 µs …") == "3 us ..."
