"""The command line where standard streams have been closed, as `>&-` does, or lead to a terminal."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import pytest

from dask_insight.hosts.cli import main
from dask_insight.hosts.cli.progress import Progress

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"
#: Commands, and what a person is told while they work.
WORK = [
    (["info", "run.dinsight"], ["Reading run.dinsight", "Summing up"]),
    (["findings", "run.dinsight"], ["Reading run.dinsight", "Looking for what cost time"]),
    (["what-if", "--json", "run.dinsight"], ["Reading run.dinsight", "Simulating"]),
    (["report", "run.dinsight"], ["Reading run.dinsight", "Writing run.html"]),
    (["compare", "run.dinsight", "run.dinsight"], ["Reading and comparing"]),
    (
        ["compare", "run.dinsight", "run.dinsight", "-o", "both.dinsight"],
        ["Reading and comparing", "Writing"],
    ),
    (["run", "--html", "empty.html", "empty.py"], ["Writing empty.html", "Summing up"]),
    (["run", "-q", "--html", "empty.html", "empty.py"], []),
]


class Terminal(io.StringIO):
    """Keeps what a person would see."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording and a program."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN, "run.dinsight")
    Path("empty.py").write_text("pass\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("closed", [("stdout",), ("stderr",), ("stdin", "stdout", "stderr")])
def test_commands_run_where_streams_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: tuple[str, ...]
) -> None:
    for name in closed:
        monkeypatch.setattr(sys, name, None)
    assert main(["info", str(GOLDEN)]) == 0
    assert main(["export", str(GOLDEN), "-o", str(tmp_path / "run.json")]) == 0
    assert (tmp_path / "run.json").exists()
    assert [getattr(sys, name) for name in closed] == [None] * len(closed)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "told"), WORK)
def test_a_person_who_watches_is_told_what_takes_time(
    arguments: list[str], told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(arguments) == 0
    _, *lines = terminal.getvalue().split("\r")
    assert lines[::3] == told
    assert all(line.isspace() for line in lines[1::3]), "each is taken away"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("arguments", "told"), WORK)
def test_others_are_not_told(
    arguments: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    assert not any(each in (out := "".join(capsys.readouterr())) or "\r" in out for each in told)


def test_nothing_is_shown_on_a_stream_that_is_closed() -> None:
    terminal = Terminal()
    watched = Progress(terminal)
    terminal.close()
    watched.show("Reading")
    gone = io.StringIO()
    gone.close()
    assert not Progress(gone).live
