"""What commands print for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dask_insight.errors import ExitCode
from dask_insight.hosts.cli import main

GOLDEN = str(Path(__file__).parent / "golden" / "run.dinsight")
PAGE = Path(__file__).parents[1] / "docs" / "json.md"


def told(capsys: pytest.CaptureFixture[str], *command: str) -> dict[str, Any]:
    assert main([*command, "--json"]) == ExitCode.OK
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


@pytest.mark.skipif(not PAGE.exists(), reason="the package is tested without its documentation")
@pytest.mark.parametrize(
    ("title", "commands"),
    [
        ("info", [["info", GOLDEN]]),
        ("findings", [["findings", GOLDEN]]),
        ("what-if", [["what-if", "--workers", "8", GOLDEN], ["what-if", GOLDEN]]),
        ("compare", [["compare", GOLDEN, GOLDEN]]),
    ],
)
def test_the_page_has_the_keys_of_each_command(
    capsys: pytest.CaptureFixture[str], title: str, commands: list[list[str]]
) -> None:
    sections = dict(each.split("\n", 1) for each in PAGE.read_text(encoding="utf-8").split("\n## ")[1:])
    keys = [key for command in commands for key in told(capsys, *command)]
    assert re.findall(r"^\| `(\w+)`", sections[title], re.MULTILINE) == keys


def test_what_has_names_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    made = told(capsys, "info", GOLDEN)
    assert set(made["used"]) == {"cores", "of"}
    assert set(made["findings"][0]) == {"severity", "title", "seconds"}
