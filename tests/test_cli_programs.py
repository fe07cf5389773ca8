"""`dask-insight run` on all that Python runs as a program: it sees what it would see without us."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from dask_insight.errors import ExitCode
from dask_insight.hosts.cli import main
from dask_insight.recording import open_recording

SEEN = """
import os, sys
from dask import delayed
from helper import sign
print(sign, sys.argv, sys.path[:2], __name__, os.path.abspath(__file__), repr(__package__))
print(__spec__ and __spec__.name)
if sys.argv[-1] == "spawn":
    # Without a guard, as folders and archives need none.
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(abs, [-1]))
print(delayed(sum)([1, 2]).compute(scheduler="sync"))
"""
#: A package that adds a folder of its own to the path before its module is looked for.
ADDS = "import os, sys; sys.path.insert(0, os.path.join(os.path.dirname(__file__), 'vendored'))"
FILES = {
    "script.py": SEEN,
    "helper.py": "sign = 'beside it'",
    "folder/__main__.py": SEEN,
    "folder/helper.py": "sign = 'in the folder'",
    "adding/__init__.py": ADDS,
    "adding/train.py": SEEN,
    "adding/vendored/helper.py": "sign = 'vendored'",
    "broken/__init__.py": "import not_installed",
    "broken/train.py": "",
    "empty/data.txt": "",
}


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("__main__.py", SEEN)
        archive.writestr("helper.py", "sign = 'in the archive'")
        archive.writestr("inside/__init__.py", "")
        archive.writestr("inside/train.py", SEEN)
    return tmp_path


def run(folder: Path, ours: bool, command: Sequence[str], **environment: str) -> tuple[str, str, int]:
    done = subprocess.run(
        [sys.executable, *(["-m", "dask_insight", "run", "-q"] if ours else ()), *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize(
    ("command", "environment"),
    [
        (["script.py", "--", "-a", "--", "-q"], {}),
        (["app.pyz", "-a", "spawn"], {}),
        (["app.pyz"], {"PYTHONSAFEPATH": "1"}),
        (["folder", "--no", "spawn"], {}),
        (["-m", "adding.train", "--"], {}),
        (["-m", "inside.train"], {"PYTHONPATH": "app.pyz"}),
    ],
    ids=[
        "script",
        "archive",
        "archive, safe path",
        "folder",
        "module that adds to the path",
        "module in a zip",
    ],
)
def test_a_program_sees_what_it_would_without_us(
    programs: Path, command: list[str], environment: dict[str, str]
) -> None:
    said, errors, code = run(programs, False, command, **environment)
    assert (errors, code) == ("", 0)
    if "PYTHONSAFEPATH" in environment:
        # What finds us here is the working directory.
        environment = {**environment, "PYTHONPATH": str(Path(__file__).parent.parent)}
        said = run(programs, False, command, **environment)[0]
    assert run(programs, True, command, **environment) == (said, "", 0)
    [recording] = programs.glob("*.dinsight")
    assert len(open_recording(recording).tasks) == 1


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (["empty"], ExitCode.USAGE, "there is no __main__.py in the folder empty"),
        (["data.zip"], ExitCode.USAGE, "there is no __main__.py in the archive data.zip"),
        (["-m", "nowhere.train"], ExitCode.USAGE, "there is no module nowhere.train"),
        (["-m", "broken.train"], ExitCode.FAILED, "No module named 'not_installed'"),
    ],
)
def test_what_is_no_program_is_refused(
    programs: Path,
    command: list[str],
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with zipfile.ZipFile(programs / "data.zip", "w") as archive:
        archive.writestr("data.txt", "")
    monkeypatch.chdir(programs)
    before = list(sys.path)
    assert main(["run", *command]) == code
    assert told in capsys.readouterr().err
    assert sys.path == before
