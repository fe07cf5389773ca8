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

from dask_insight.hosts.cli.progress import Progress
from dask_insight.legible import ascii_json, legible

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
    assert "1.09 s on 6 threads" in python("-c", program, encoding="cp1252")


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
