"""The report of a program, or of a cluster, that still runs."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from dask_insight.batch import encode
from dask_insight.errors import ExitCode
from dask_insight.hosts.cli import attach, main, renewal
from dask_insight.hosts.cli.renewal import renewed
from dask_insight.recording import Recording, open_recording
from dask_insight.session import Session
from dask_insight.words import duration

LIMIT = 120
RELOAD = "location.reload()"
#: It ends when it is told to.
WAITS = """
import io, os, sys
from dask import delayed

delayed(int)("7").compute(scheduler="threads")
os.chdir("/")
{meanwhile}
sys.stdin.readline()
sys.stderr = sys.__stderr__
delayed(int)("8").compute(scheduler="threads")
sys.exit(3)
"""
FORKS = """
child = os.fork()
if child == 0:
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dask_insight", *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def until(stream: IO[str] | None, words: str) -> str:
    """Read on until a line has them."""
    assert stream is not None
    for line in stream:
        if words in line:
            return line
    pytest.fail(f"nothing said: {words}")


#: As `contextlib.redirect_stderr` does.
TAKES_THE_STREAM = "sys.stderr = io.StringIO()"
FORKING = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.mark.parametrize("meanwhile", ["", TAKES_THE_STREAM, pytest.param(FORKS, marks=FORKING)])
def test_the_report_is_there_while_the_program_runs(tmp_path: Path, meanwhile: str) -> None:
    (tmp_path / "program.py").write_text(WAITS.format(meanwhile=meanwhile))
    process = start(tmp_path, "run", "--html", "run.html", "--every", "100ms", "program.py")
    until(process.stderr, "open run.html in a browser: it brings itself up to date every 1")
    page = (tmp_path / "run.html").read_text()
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert RELOAD in page and "It still ran at " in page
    output, errors = process.communicate("\n", timeout=LIMIT)
    assert process.returncode == 3, errors
    assert output == ("5\n" if meanwhile == FORKS else "")
    last = (tmp_path / "run.html").read_text()
    assert RELOAD not in last and "It still ran" not in last
    assert "2 tasks" in errors and "and run.html (" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.dinsight", "program.py", "run.html"]


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Children inherit what is ignored: these tests hold under nohup, too."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_the_report_is_there_while_a_cluster_is_recorded(client: Any, tmp_path: Path) -> None:
    client.submit(abs, -1).result()
    address = client.scheduler.address
    process = start(tmp_path, "attach", address, "--html", "now.html", "--every", "100ms")
    until(process.stderr, "open now.html in a browser")
    assert RELOAD in (tmp_path / "now.html").read_text()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    assert RELOAD not in (tmp_path / "now.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster.dinsight", "now.html"]


COMPUTES = """
from dask import delayed
from dask_insight.hosts.cli import renewal

delayed(int)("7").compute(scheduler="threads")
assert renewal.begun.wait(120)
"""


@pytest.mark.usefixtures("program_here")
@pytest.mark.parametrize("command", ["run", "attach"])
def test_the_recording_ends_before_a_report_that_is_being_written(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Who ends it may kill it soon: then the file is complete."""
    begun, stopped, ended = threading.Event(), threading.Event(), list[bool]()

    def slow(recording: Recording, path: Path, every: float) -> None:
        begun.set()
        ended.append(stopped.wait(20))

    def stop(session: Session, stop: Any = Session.stop) -> Recording:
        recording: Recording = stop(session)
        stopped.set()
        return recording

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Session, "stop", stop)
    monkeypatch.setattr(renewal, "_write", slow)
    monkeypatch.setattr(renewal, "begun", begun, raising=False)
    monkeypatch.setattr(attach, "_wait", lambda *_: "" if begun.wait(LIMIT) else "has gone")
    Path("program.py").write_text(COMPUTES)
    what = "program.py" if command == "run" else client.scheduler.address
    assert main([command, "-o", "a.dinsight", "--html", "a.html", "--every", "100ms", what]) == ExitCode.OK
    assert ended == [True]
    assert open_recording("a.dinsight").about["stopped"] and "It still ran" not in Path("a.html").read_text()


class Written:
    """What is written in place of reports, by a clock that goes only while one is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.takes = 0.0
        self.fails = False
        self.paces: list[float] = []
        monkeypatch.setattr(renewal, "monotonic", lambda: self.now)
        monkeypatch.setattr(renewal, "_write", self._write)

    def _write(self, recording: Recording, path: Path, every: float) -> None:
        self.now += self.takes
        self.paces.append(every)
        if self.fails:
            raise OSError(errno.ENOSPC, "No space left on device")


def make(said: list[str], quiet: bool = False) -> Any:
    return renewed(Path("run.html"), 30.0, Recording, said.append, quiet=quiet)


def test_writing_takes_a_tenth_of_the_time_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    written, said = Written(monkeypatch), list[str]()
    one = make(said)
    pauses = []
    for written.takes in (1.0, 5.0, 7.0, 2.0):
        pauses.append(one._renew(Recording()))
    assert pauses == [29.0, 45.0, 63.0, 28.0]
    assert written.paces == [30.0, 30.0, 50.0, 70.0], "pages ask for the next one when it is due"
    assert said == [
        f"open run.html in a browser: it brings itself up to date every {duration(30)}",
        f"run.html takes {duration(5)} to write: it comes every {duration(50)}, for a tenth of the time at "
        "most",
    ]


def test_trouble_is_said_once_and_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch)
    for quiet in (False, True):
        said: list[str] = []
        one = make(said, quiet)
        for written.fails in (True, True, False, True):
            assert one._renew(Recording()) == 30.0
        assert re.search("run.html could not be written, and is tried again: .*No space left", said[0])
        assert len(said) == (1 if quiet else 2)


def test_where_no_thread_can_be_started_the_program_runs_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    said: list[str] = []
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with renewed(Path("run.html"), 30.0, lambda: None, said.append):
        said.append("ran")
    assert said == ["run.html does not come while it runs: can't start new thread", "ran"]


def test_there_is_no_report_before_there_is_something_to_show(tmp_path: Path) -> None:
    looks = threading.Semaphore(0)
    found: list[Recording | None] = [None, Recording()]

    def recording() -> Recording | None:
        looks.release()
        return found.pop(0) if found else Recording()

    said: list[str] = []
    with renewed(tmp_path / "run.html", 0.001, recording, said.append):
        for _ in range(4):
            assert looks.acquire(timeout=LIMIT)
    assert not said and not list(tmp_path.iterdir())


def test_trouble_with_what_is_recorded_is_said_and_does_not_end_it() -> None:
    said, looks = list[str](), threading.Semaphore(0)

    def recording() -> Recording:
        looks.release()
        raise RuntimeError("no columns")

    with renewed(Path("run.html"), 0.001, recording, said.append):
        for _ in range(3):
            assert looks.acquire(timeout=LIMIT)
    assert said == ["run.html could not be written, and is tried again: no columns"]


def test_nothing_is_written_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is being written then is waited for: the last report is to take its place."""
    begun, goes_on, ended = threading.Event(), threading.Event(), list[bool]()
    run = Recording()
    run.append(encode("graph", {"task": [0], "prefix": ["a"]}))

    def slow(recording: Recording, path: Path, every: float) -> None:
        begun.set()
        assert goes_on.wait(LIMIT)
        ended.append(True)

    monkeypatch.setattr(renewal, "_write", slow)
    with renewed(Path("run.html"), 0.001, lambda: run, lambda _: None):
        assert begun.wait(LIMIT)
        threading.Timer(0.1, goes_on.set).start()
    assert ended == [True]
    assert "dask-insight-report" not in [each.name for each in threading.enumerate()]
