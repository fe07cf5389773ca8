"""On systems that are not Linux, as far as that can be told on Linux: see elsewhere/sitecustomize.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dask_insight

#: How workers' names begin, by recording.
WORKERS = {"cluster": "tcp://", "threads": "threads", "sync": "sync", "processes": "process "}
ELSEWHERE = Path(__file__).parent / "elsewhere"


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this is elsewhere")
@pytest.mark.parametrize("tick", [0.0, 1 / 64], ids=["clocks that are fine", "clocks of 16 ms"])
def test_recording_where_nothing_of_linux_is_there(tmp_path: Path, tick: float) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ELSEWHERE), *sys.path]),
        "PYTHONIOENCODING": "cp1252",
        "PYTHONWARNDEFAULTENCODING": "1",
        "ELSEWHERE_TICK": str(tick),
    }
    ended = subprocess.run(
        [sys.executable, ELSEWHERE / "program.py", tmp_path],
        capture_output=True,
        encoding="cp1252",
        env=environment,
        timeout=170,
    )
    assert ended.returncode == 0, ended.stderr
    assert "\\u202f" not in ended.stdout
    for warning in ended.stderr.split("EncodingWarning")[:-1]:
        assert f"{os.sep}dask_insight{os.sep}" not in warning.rpartition("\n")[2]
    for name, worker in WORKERS.items():
        run = dask_insight.open(tmp_path / f"{name}.dinsight")
        done = run.tasks[run.tasks["status"] == "ok"]
        assert len(done) == {"cluster": 241}.get(name, 21)
        assert done["worker"].astype(str).str.startswith(worker).all()
        assert run.events.loc[run.events["kind"] == "lost", "message"].tolist() == []
        spun: Any = run.flame(prefix="spin")
        assert "spin" in set(spun["function"])
        assert not {"_bootstrap", "Worker.execute"} & set(spun["function"])
        assert (run.resources["memory"] > 0).any()
