"""`dask-insight run` on a zip archive, which Python runs as a program too."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dask_insight.errors import ExitCode
from dask_insight.hosts.cli import main
from dask_insight.recording import open_recording

PROGRAM = """
import sys
from dask import delayed
from helper import sign
print(sign, sys.argv, sys.path[0], __name__, __file__, __spec__.name, repr(__package__))
print(delayed(sum)([1, 2]).compute(scheduler="sync"))
"""


def test_an_archive_runs_as_without_us(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", PROGRAM)
        archive.writestr("helper.py", "sign = 'from the archive'\n")
    bare, ours = (
        subprocess.run(
            [sys.executable, *command, "app.pyz", "-a"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        for command in ([], ["-m", "dask_insight", "run", "-q"])
    )
    assert (ours.stdout, ours.stderr, ours.returncode) == (bare.stdout, "", 0)
    assert len(open_recording(tmp_path / "app.dinsight").tasks) == 1


def test_an_archive_without_a_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("data.txt", "")
    assert main(["run", str(tmp_path / "data.zip")]) == ExitCode.USAGE
    assert "there is no __main__.py in the archive" in capsys.readouterr().err
