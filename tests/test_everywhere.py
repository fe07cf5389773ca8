"""The Makefile, where none of us runs it: with the make of macOS, and in folders of any name."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"
#: What makes make leave a line to a shell, which has the PATH that the Makefile exports.
SHELL = re.compile(r"[&|;]")
#: What a make that runs these tests hands on, by which another one tells something else.
HANDED_ON = {"MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "VENV", "PYTHON"}
#: Tools that every system has, or that were there before us.
TOOLS = {"cp", "git", "ln", "mkdir", "rm", "touch", "$(PYTHON)"}


def recipes() -> list[str]:
    """What make runs, as the Makefile has it."""
    text = MAKEFILE.read_text().replace("\\\n", " ")
    (pip,) = re.findall(r"^PIP := (.*)$", text, re.MULTILINE)
    lines = re.findall(r"^\t@?(.*)$", text, re.MULTILINE)
    return [line.replace("$(PIP)", pip) for line in lines]


def test_tools_of_the_environment_are_called_by_their_path() -> None:
    """The make of macOS, 3.81, looks for them where it was itself started."""
    lines = [line for line in recipes() if not SHELL.search(line)]
    assert len(lines) > 20
    for line in lines:
        assert line.startswith('"$(BIN)/') or line.split()[0] in TOOLS, line


@pytest.mark.skipif(shutil.which("make") is None, reason="this system has no make")
@pytest.mark.parametrize("target", ["demo", "lab", "test", "lint", "format", "bench", "screenshots", "dist"])
def test_a_folder_may_have_a_space_in_its_name(target: str, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    shutil.copy(MAKEFILE, folder)
    read = ("pyproject.toml", "package-lock.json", "docs/guide.ipynb", "src-ts", "labextension")
    for name in (*read, "dask_insight/_build/dask_insight_backend.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    bare = {name: value for name, value in os.environ.items() if name not in HANDED_ON}
    told = subprocess.run(
        ["make", "-n", target], cwd=folder, env=bare, capture_output=True, text=True, check=True
    )
    words = shlex.split(told.stdout.replace("\\\n", ""))
    named = [word for word in words if str(tmp_path) in word]
    assert len(named) > 3
    assert all(f"{folder}/" in word for word in named), named
