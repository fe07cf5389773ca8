"""`dask-insight findings`, and where else findings are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_findings import ten_seconds

from dask_insight.analysis.findings import Failed, Findings
from dask_insight.errors import ExitCode
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    """A recording with a straggler."""
    run = ten_seconds()
    run.task("piece", "a", 10, 20, submitted=0)
    path = tmp_path / "run.dinsight"
    run.recording().save(path)
    return str(path)


@pytest.fixture
def good(tmp_path: Path) -> str:
    """A recording without fault."""
    path = tmp_path / "good.dinsight"
    ten_seconds().recording().save(path)
    return str(path)


def test_findings_are_told_with_advice(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["findings", faulty]) == ExitCode.OK
    said = capsys.readouterr().out
    assert "1 critical." in said
    assert "One task `piece` took 10" in said
    assert "https://" in said


def test_a_run_without_fault_is_said_to_be_so(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["findings", "--fail-on", "info", good]) == ExitCode.OK
    assert "Nothing was found" in capsys.readouterr().out


def test_a_run_without_tasks_passes_no_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "empty.dinsight")
    Recording().save(path)
    assert main(["findings", path]) == ExitCode.OK
    assert "Nothing was found" not in capsys.readouterr().out
    assert main(["findings", "--fail-on", "info", path]) == ExitCode.FAILED
    assert "no task ran" in capsys.readouterr().err


def test_what_could_not_be_judged_passes_no_check(
    good: str, faulty: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Recording.findings

    def in_part(recording: Recording, *given: Any) -> Findings:
        found = whole(recording, *given)
        return Findings(found, failed=[Failed("odd", "ZeroDivisionError")], judged=found.judged)

    monkeypatch.setattr(Recording, "findings", in_part)
    assert main(["findings", "--fail-on", "critical", good]) == ExitCode.FAILED
    out, err = capsys.readouterr()
    assert "could not be judged" in err and "odd" in err and "ZeroDivisionError" in out
    assert main(["findings", good]) == ExitCode.OK
    assert main(["findings", "--fail-on", "critical", faulty]) == ExitCode.FOUND


def test_findings_as_json(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["findings", "--json", faulty]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    (found,) = told["findings"]
    assert found["code"] == "straggler" and found["tasks"] == ["piece"]
    assert {"name", "value", "unit", "threshold"} == set(found["evidence"][0])
    assert told["failed"] == []


@pytest.mark.parametrize("severity", ["info", "warning", "critical"])
def test_findings_of_a_severity_end_in_an_exit_code(
    faulty: str, severity: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["findings", "--fail-on", severity, faulty]) == ExitCode.FOUND
    assert "straggler" in capsys.readouterr().err


def test_findings_of_a_lower_severity_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ten_seconds()
    run.task("piece", "a", 10, 14, submitted=0)
    path = str(tmp_path / "run.dinsight")
    run.recording().save(path)
    assert {each.severity for each in run.recording().findings()} == {"warning"}
    assert main(["findings", "--fail-on", "critical", path]) == ExitCode.OK
    assert main(["findings", "--fail-on", "warning", path]) == ExitCode.FOUND


def test_ctrl_c_ends_a_command_with_a_code_of_its_own(
    good: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Recording, "findings", interrupt)
    assert main(["findings", good]) == ExitCode.INTERRUPTED == 130
    assert "interrupted" in capsys.readouterr().err


def test_thresholds_are_set_and_wrong_ones_refused(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["findings", "--threshold", "straggler.times=99", faulty]) == ExitCode.OK
    assert "Nothing was found" in capsys.readouterr().out
    assert main(["findings", "--threshold", "straggler.time=99", faulty]) == ExitCode.USAGE
    assert "straggler.times" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["findings", "--threshold", "straggler.times", faulty])


def test_the_first_findings_stand_under_the_verdict(faulty: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", faulty]) == ExitCode.OK
    assert "critical: One task `piece` took" in capsys.readouterr().out
    assert main(["info", "--json", faulty]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["findings"][0]["severity"] == "critical"


def test_the_summary_tells_them_and_can_do_without() -> None:
    run = ten_seconds()
    run.task("<piece>", "a", 10, 20, submitted=0)
    for _ in range(4):
        run.task("<piece>", "b", 10, 10.1, submitted=0)
    recording = run.recording()
    assert "critical: One task `<piece>` took" in str(recording.summary())
    assert "&lt;piece&gt;" in recording.summary()._repr_html_()
    assert list(recording.summary(findings=False).findings) == []
