"""The command line where standard streams have been closed, as `>&-` does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dask_insight.hosts.cli import main

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"


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
