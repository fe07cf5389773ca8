"""``dask-insight compare``, for people and for CI."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_compare import run
from test_time_budget import Run

from dask_insight.analysis.compare import Comparison
from dask_insight.errors import ExitCode
from dask_insight.hosts.cli import files, main
from dask_insight.hosts.cli.files import expanded
from dask_insight.recording import Recording, open_recording


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three runs of one thing, two of it twice as slow, and one of it a bit slower."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        run(number).save(f"main-{number}.dinsight")
    for number in range(2):
        run(10 + number, work=0.2).save(f"slow-{number}.dinsight")
    run(20, factor=1.06).save("near.dinsight")
    return tmp_path


def test_two_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "main-0.dinsight", "slow-0.dinsight"]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out.startswith("slow-0 took ") and "First of all `work` takes 1.9 times as long" in out
    assert "Task names" in out and "Where the time went" in out and err == ""


def test_repeats_are_joined_by_commas(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = ["main-0.dinsight,main-1.dinsight,main-2.dinsight", "slow-0.dinsight,slow-1.dinsight"]
    assert main(["compare", *sides, "near.dinsight", "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert [(side["name"], side["runs"]) for side in told["sides"]] == [("main", 3), ("slow", 2), ("near", 1)]
    assert [side["verdict"] for side in told["sides"]] == ["baseline", "slower", "same"]
    assert told["slower"] == ["slow"] and told["names"][1]["name"] == "work"
    assert [each["file"] for each in told["runs"]][-1] == "near.dinsight"


def test_many_repeats_are_joined_by_commas(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{'a-long-name-of-a-run' * 2}-{number}.dinsight" for number in range(12)]
    for name in names:
        Path(name).write_bytes(Path("near.dinsight").read_bytes())
    assert main(["compare", "main-0.dinsight", ",".join(names), "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["sides"][1]["runs"] == 12


def test_with_a_baseline_all_files_are_one_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["slow-0.dinsight", "slow-1.dinsight", "--baseline", "main-0.dinsight", "main-1.dinsight"]
    assert main(["compare", *given, "--json", "--names", "main, pull request"]) == ExitCode.OK
    sides = json.loads(capsys.readouterr().out)["sides"]
    assert [(side["name"], side["runs"]) for side in sides] == [("main", 2), ("pull request", 2)]


def test_a_file_with_a_comma_in_its_name_is_one_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("near.dinsight").rename("a,b.dinsight")
    assert main(["compare", "main-0.dinsight", "a,b.dinsight", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["sides"][1]["name"] == "a,b"


def test_wildcards_stand_for_files_where_the_shell_leaves_them(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_WILD", True)
    Path("near.dinsight").rename("[a].dinsight")
    given = ["slow-*.dinsight", "[[]a].dinsight", "--baseline", "main-?.dinsight"]
    assert main(["compare", *given, "--json"]) == ExitCode.OK
    assert [each["file"] for each in json.loads(capsys.readouterr().out)["runs"]] == [
        *(f"main-{number}.dinsight" for number in range(3)),
        *("slow-0.dinsight", "slow-1.dinsight", "[a].dinsight"),
    ]
    assert expanded(["[a].dinsight", "gone-*.dinsight"]) == ["[a].dinsight", "gone-*.dinsight"]


@pytest.mark.parametrize(
    ("files", "limit", "code", "said"),
    [
        (["main-0.dinsight", "slow-0.dinsight"], "10%", ExitCode.SLOWER, "more than the 10 % allowed"),
        (["main-0.dinsight", "slow-0.dinsight"], "100 %", ExitCode.OK, ""),
        (["slow-0.dinsight", "main-0.dinsight"], "10%", ExitCode.OK, ""),
        (["main-0.dinsight", "near.dinsight"], "2%", ExitCode.OK, "so this may be chance: repeat"),
        (["main-0.dinsight", "near.dinsight"], "50%", ExitCode.OK, ""),
        (["main-0.dinsight", "near.dinsight", "slow-0.dinsight"], "2.5%", ExitCode.SLOWER, "slow-0 is "),
    ],
)
def test_it_fails_only_beyond_the_limit_and_the_noise(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    files: list[str],
    limit: str,
    code: ExitCode,
    said: str,
) -> None:
    assert main(["compare", *files, "--fail-if-slower", limit]) == code
    out, err = capsys.readouterr()
    assert "took" in out and said in err and bool(said) == bool(err)


def test_what_broke_passes_no_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing(10, 4).save("flaky.dinsight")
    failing(10, 6).save("pull.dinsight")
    killed = {"name": ["pid", "name"], "value": ["1", '"killed"']}
    run(3, factor=0.5, about=killed).save("killed.dinsight")
    check = ["--fail-if-slower", "10%"]
    for baseline, side, said in (
        ("main-0", "pull", "6 tasks of pull failed, so its time says nothing"),
        ("flaky", "pull", "6 tasks of pull failed, more in a run than of flaky, so"),
        ("main-0", "killed", "the recording of killed did not end"),
    ):
        sides = [f"{each}.dinsight" for each in (baseline, side)]
        assert main(["compare", *sides]) == ExitCode.OK
        capsys.readouterr()
        assert main(["compare", *sides, *check]) == ExitCode.FAILED
        assert said in capsys.readouterr().err
    assert main(["compare", "pull.dinsight", "flaky.dinsight", *check]) == ExitCode.OK
    assert main(["compare", "killed.dinsight", "slow-0.dinsight", *check]) == ExitCode.SLOWER
    assert main(["compare", "main-0.dinsight", "pull.dinsight", "slow-0.dinsight", *check]) == ExitCode.SLOWER


def failing(count: int, bad: int) -> Recording:
    """A run of so many tasks, of which some raise; one more does so, and works when it is tried again."""
    made = Run()
    for number in range(count):
        status = "erred" if number < bad else "ok"
        made.task("work", "a", number / 10, (number + 1) / 10, status=status)
    again = made.task("again", "a", count / 10, (count + 1) / 10, status="erred")
    made.task("again", "a", (count + 1) / 10, (count + 2) / 10, task=again)
    return made.recording()


def test_what_it_writes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask_insight.hosts import report

    monkeypatch.setattr(report, "asset", {"report.js": "", "report.css": ""}.__getitem__)
    files = ["main-0.dinsight", "slow-0.dinsight"]
    written = ["--markdown", "summary.md", "--html", "page.html", "-o", "compared.dinsight"]
    for _ in range(2):
        assert main(["compare", *files, *written]) == ExitCode.OK, "what we wrote is replaced"
    assert "written to page.html" in capsys.readouterr().err
    text = Path("summary.md").read_text(encoding="utf-8")
    assert "### Comparison: main-0 and slow-0" in text and "| Task name |" in text
    page = Path("page.html").read_text(encoding="utf-8")
    assert '<code dir="auto">work</code> takes 1.9 times as long' in page
    assert "slow-0" in Comparison(open_recording("compared.dinsight")).verdict()
    assert main(["info", "compared.dinsight"]) == ExitCode.OK
    assert "Task names" in capsys.readouterr().out
    assert main(["compare", *files, "--markdown", "-"]) == ExitCode.OK
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["main-0.dinsight"], ExitCode.USAGE, "name two recordings, or what to compare with as --baseline"),
        (["main-0.dinsight", "gone.dinsight"], ExitCode.UNREADABLE, "there is no file gone.dinsight"),
        (["main-0.dinsight", "main-1.dinsight,gone.dinsight"], ExitCode.UNREADABLE, "no file gone.dinsight"),
        (["main-0.dinsight", "."], ExitCode.UNREADABLE, "is a folder"),
        (["main-0.dinsight", "mine.txt"], ExitCode.UNREADABLE, "mine.txt"),
        (["main-0.dinsight", "near.dinsight", "--names", "a"], ExitCode.USAGE, "2 sides take 2 names"),
        (["main-0.dinsight", "near.dinsight", "--markdown", "mine.txt"], ExitCode.UNWRITABLE, "--force"),
        (["main-0.dinsight", "near.dinsight", "--html", "no/a.html"], ExitCode.UNWRITABLE, "no folder"),
        (["main-0.dinsight", "near.dinsight", "--json", "--markdown", "-"], ExitCode.USAGE, "both print"),
        (["main-0.dinsight", "empty.dinsight", "--fail-if-slower", "1%"], ExitCode.FAILED, "no task ran"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: ExitCode, said: str
) -> None:
    Path("mine.txt").write_text("mine")
    run(1).slice(1e6, 2e6).save("empty.dinsight")
    assert main(["compare", *arguments]) == code
    err = capsys.readouterr().err
    assert err.startswith("dask-insight: ") and said in err and err.count("\n") == 1
    assert Path("mine.txt").read_text() == "mine"


def test_a_side_without_tasks_hides_no_other_that_is_slower(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(1).slice(1e6, 2e6).save("empty.dinsight")
    files = ["main-0.dinsight", "slow-0.dinsight", "empty.dinsight"]
    assert main(["compare", *files, "--fail-if-slower", "10%"]) == ExitCode.SLOWER
    assert "slow-0 is " in capsys.readouterr().err
    files = ["main-0.dinsight", "near.dinsight", "empty.dinsight"]
    assert main(["compare", *files, "--fail-if-slower", "90%"]) == ExitCode.FAILED
    assert "no task ran in empty" in capsys.readouterr().err
    # Nor is there anything to compare with where the baseline is empty.
    files = ["empty.dinsight", "main-0.dinsight"]
    assert main(["compare", *files, "--fail-if-slower", "10%"]) == ExitCode.FAILED
    assert "no task ran in empty" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["10", "ten%", "-5%"])
def test_a_limit_is_a_percentage(folder: Path, capsys: pytest.CaptureFixture[str], limit: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", "main-0.dinsight", "near.dinsight", f"--fail-if-slower={limit}"])
    assert ended.value.code == ExitCode.USAGE
    assert "is no percentage: write it like 10%" in capsys.readouterr().err


def test_a_process_ends_with_the_code(folder: Path) -> None:
    command = [sys.executable, "-m", "dask_insight", "compare", "main-0.dinsight", "slow-0.dinsight"]
    ended = subprocess.run(
        [*command, "--fail-if-slower", "10%", "--json"], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == ExitCode.SLOWER == 6, ended.stderr
    assert json.loads(ended.stdout)["slower"] == ["slow-0"]
