"""Work on a few threads, also where there can be none any more."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dask_insight.threads import at_once

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"
#: Until the handlers of `atexit` are called, CPython has ended all pools.
AT_EXIT = """\
import atexit, sys, {imports}
import dask_insight

def at_exit():
    run = dask_insight.open(sys.argv[1])
    {asked}
    run.save(sys.argv[2])
    print(len(run.batches()), "batches")

atexit.register(at_exit)
"""


def _refuse(*_: Any) -> Any:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("refused", [False, True])
def test_results_come_in_order(threads: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if refused:
        monkeypatch.setattr(ThreadPoolExecutor, "submit", _refuse)
    names = set()

    def work(number: int) -> int:
        names.add(threading.current_thread().name)
        return 2 * number

    assert list(at_once(work, range(20), threads)) == [2 * number for number in range(20)]
    assert ("MainThread" in names) == refused


def test_few_items_are_taken_ahead() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = at_once(str, items(), 2)
    assert next(results) == "0" and len(taken) == 5
    results.close()  # type: ignore[attr-defined]


def test_an_error_of_the_work_is_raised_and_the_work_done_once() -> None:
    done = []

    def fails(number: int) -> int:
        done.append(number)
        raise RuntimeError("cannot schedule new futures after shutdown")

    with pytest.raises(RuntimeError, match="cannot schedule"):
        list(at_once(fails, [1], 2))
    assert done == [1]


@pytest.mark.parametrize(
    ("imports", "asked"),
    [
        ("threading", ""),
        ("pandas", "print(len(run.tasks), 'tasks')"),
    ],
)
def test_a_recording_is_read_and_written_while_the_interpreter_ends(
    imports: str, asked: str, tmp_path: Path
) -> None:
    program = AT_EXIT.format(imports=imports, asked=asked)
    copy = tmp_path / "copy.dinsight"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(GOLDEN), str(copy)], capture_output=True, text=True
    )
    assert not ended.stderr
    assert "batches" in ended.stdout and ("tasks" in ended.stdout) == bool(asked)
    assert copy.stat().st_size
