"""Recordings whose process was killed explain themselves nearly as well as those that ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_functions import _stacks

import dask_insight
from dask_insight.analysis.findings import Finding
from dask_insight.recording import Recording
from dask_insight.session import early_code
from dask_insight.session.facts import facts

_PROGRAM = """\
import os, signal, sys, time
import dask
import dask_insight

def naps(number):
    time.sleep(0.3)
    return number

def enough(path):
    file = dask_insight.open(path)
    naps_seen = file.samples["prefix"].eq("naps").sum() > 20
    code_seen = file.lines["text"].eq("time.sleep(0.3)").any()
    return naps_seen and (file.about["options"]["source"] is False or code_seen)

def work(path):
    end = time.monotonic() + 30
    while True:
        dask.compute(*[dask.delayed(naps)(number) for number in range(6)], scheduler="threads", num_workers=2)
        # What has come is flushed a quarter of a second later.
        if enough(path) or time.monotonic() > end:
            os.kill(os.getpid(), signal.SIGKILL)
"""
_RECORDS = """
if __name__ == "__main__":
    with dask_insight.record("run.dinsight", source={source}):
        work("run.dinsight")
"""
_RECORDED = """
work("run.dinsight")
"""


def _killed(tmp_path: Path, end: str, *command: str) -> Recording:
    (tmp_path / "program.py").write_text(_PROGRAM + end)
    process = subprocess.run(
        [sys.executable, *command, "program.py"], cwd=tmp_path, capture_output=True, timeout=120, check=False
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    recording = dask_insight.open(tmp_path / "run.dinsight")
    assert "stopped" not in recording.about
    return recording


def _of_naps(recording: Recording) -> Finding:
    """What is said of the naps: that they slept, or waited for something."""
    said = ("slept", "without a CPU")
    [found] = [each for each in recording.findings() if any(words in each.title for words in said)]
    assert found.tasks == ("naps",)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize(
    ("end", "command"),
    [
        (_RECORDS.format(source=True), ()),
        (_RECORDED, ("-m", "dask_insight", "run", "-q", "-o", "run.dinsight")),
    ],
    ids=["record", "run"],
)
def test_who_slept_is_told_and_the_code_is_there(tmp_path: Path, end: str, command: tuple[str, ...]) -> None:
    recording = _killed(tmp_path, end, *command)
    found = _of_naps(recording)
    assert "slept" in found.title and found.severity == "info"
    texts = set(recording.lines["text"])
    assert {"def naps(number):", "time.sleep(0.3)"} <= texts
    assert any(text.startswith("dask.compute(") for text in texts)
    assert not recording.lines.duplicated(["file", "line"]).any()
    [function] = recording.functions.query("prefix == 'naps'").to_dict("records")
    assert function["function"] == "naps" and function["file"].endswith("program.py")


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_no_code_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    recording = _killed(tmp_path, _RECORDS.format(source=False))
    assert recording.lines.empty and set(recording.submissions["code"]) == {""}
    assert "without a CPU" in _of_naps(recording).title


_FULL = """
import resource
if __name__ == "__main__":
    # As a disk does that is full within a frame.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (54_321, 54_321))
    with dask_insight.record("run.dinsight", resources=0.02) as run:
        for number in range(1_000):
            dask.compute(*[dask.delayed(abs)(-number) for number in range(100)], scheduler="threads")
            # Sorted and packed, so much does not fit either.
            if number > 50 and "lost" in set(run.events["kind"]):
                break
    assert "takes no more" in run.summary().losses[0], run.summary()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_full_disk_is_told_of_in_the_file(tmp_path: Path) -> None:
    # Byte code would be cut off by the limit, too, and stay so for whoever imports it next.
    recording = _killed(tmp_path, _FULL, "-B")
    assert len(recording.tasks) and not recording.gaps
    [lost] = recording.summary().losses
    assert lost.startswith("the recording went on, but its file took no more:") and "too large" in lost


def test_functions_are_told_from_stacks_when_the_file_is_opened(tmp_path: Path) -> None:
    recording = _stacks(("work", "/home/me/lib.py", 5, 9))
    recording.append(facts({"pid": 1}))
    recording.save(tmp_path / "killed.dinsight")
    again = dask_insight.open(tmp_path / "killed.dinsight")
    [row] = again.functions.to_dict("records")
    assert (row["prefix"], row["function"], row["line"], row["source"]) == ("name", "work", 5, "sampled")
    recording.append(facts({"stopped": 2.0}))
    recording.save(tmp_path / "ended.dinsight")
    assert dask_insight.open(tmp_path / "ended.dinsight").functions.empty


class Early:
    """Keeps the code of nine lines early, when the test says so."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.woken = 100.0, 0
        monkeypatch.setattr(early_code, "monotonic", lambda: self.now)
        driver = SimpleNamespace(drive=lambda one: lambda: None, wake=self._wake)
        monkeypatch.setattr(early_code, "DRIVER", driver)
        self._file = tmp_path / "many.py"
        self._file.write_text("def work(x):\n" + "".join(f"    x += {number}\n" for number in range(8)))
        self.recording = Recording()
        self.code = early_code.EarlyCode(self.recording)

    def _wake(self) -> None:
        self.woken += 1

    def come(self, *lines: int) -> None:
        for batch in _stacks(*[("work", str(self._file), 1, line) for line in lines]).batches():
            self.recording.append(batch)


def test_early_lines_leave_room_for_those_that_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_code, "LINES", 6)
    early = Early(tmp_path, monkeypatch)
    early.come(*range(2, 10))
    early.code.tick()
    assert len(early.recording.lines) == 3


def test_early_lines_are_read_a_few_seconds_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    early = Early(tmp_path, monkeypatch)
    early.come(2)
    assert early.woken == 1, "the first at once"
    pause = early.code.tick().again
    assert pause is not None and pause > 1
    have = len(early.recording.lines)
    for line in (3, 4):
        early.now += 0.4 * pause
        early.come(line)
        again = early.code.tick().again
        assert again is not None and early.now + again == pytest.approx(100.0 + pause)
    assert early.woken == 1 and len(early.recording.lines) == have > 0
    early.now += again
    assert early.code.tick().again == pause and len(early.recording.lines) == have + 2
    early.now += pause
    assert early.code.tick().again is None, "until something comes"
    early.come(5)
    assert early.woken == 2
