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
    assert keys_of(title) == [key for command in commands for key in told(capsys, *command)]


@pytest.mark.skipif(not PAGE.exists(), reason="the package is tested without its documentation")
def test_the_page_has_the_keys_of_what_stands_in_them(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "findings", GOLDEN)["findings"][0]
    asked, usual = told(capsys, "what-if", "--workers", "8", GOLDEN), told(capsys, "what-if", GOLDEN)
    answer, (first, *_) = keys_of("An answer"), usual["answers"]
    assert keys_of("A finding") == list(found)
    assert keys_of("A figure behind it") == list(found["evidence"][0])
    assert answer == list(asked["answer"]) == list(usual["calibration"])
    assert first.keys() == {"kind", "value", "name", *answer}
    assert keys_of("Bounds") == list(usual["bounds"])
    assert usual["bounds"]["chain"][0].keys() == {"prefix", "tasks", "seconds"}


def keys_of(title: str) -> list[str]:
    """The keys in the tables under a heading."""
    page = PAGE.read_text(encoding="utf-8")
    sections = dict(each.split("\n", 1) for each in re.split(r"^##+ ", page, flags=re.MULTILINE)[1:])
    return re.findall(r"^\| `(\w+)`", sections[title], re.MULTILINE)


def test_what_has_names_is_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    made = told(capsys, "info", GOLDEN)
    assert set(made["used"]) == {"cores", "of"}
    assert set(made["findings"][0]) == {"severity", "title", "seconds"}
