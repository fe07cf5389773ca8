"""What is passed to the questions of a recording: taken where it is plain, else refused with a cure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_findings_time import TWO
from test_time_budget import Run

from dask_insight.recording import Recording


@pytest.fixture(scope="module")
def recording() -> Recording:
    run = Run(a=TWO, b=TWO)
    for number in range(8):
        run.task("load" if number % 2 else "solve", "ab"[number // 4], number, number + 1.0)
    return run.recording()


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (
            lambda run: run.flame(worker="nope"),
            ValueError,
            "no worker 'nope' in this recording; there are 'a'",
        ),
        (lambda run: run.flame(prefix="lod"), ValueError, "no task name 'lod' in this recording; .* 'load'"),
        (lambda run: run.flame(prefix=["load", "x"]), ValueError, "no task name 'x'"),
        (lambda run: run.flame(start=5, stop=1), ValueError, "stop=1 is before start=5"),
        (lambda run: run.findings(start=5, stop=1), ValueError, "stop=1 is before start=5"),
        (lambda run: run.time_budget(start=5, stop=1), ValueError, "stop=1 is before start=5"),
        (lambda run: run.slice(2, 1), ValueError, "stop=1 is before start=2"),
        (lambda run: run.slice(0, np.nan), ValueError, "stop=nan"),
        (lambda run: run.slice("1s"), TypeError, "start='1s' is no number; give seconds since"),
        (lambda run: run.what_if(workers=2.5), ValueError, "workers=2.5 must be a whole number"),
        (lambda run: run.what_if(workers=np.inf), ValueError, "workers=inf must be a whole number"),
        (lambda run: run.what_if(threads="8"), TypeError, "threads='8' is no number"),
        (lambda run: run.what_if(chunks="2"), TypeError, "chunks='2' is no number"),
        (
            lambda run: run.what_if(faster=["load"]),
            TypeError,
            "must give a number for each name, as {'load': 2}",
        ),
        (lambda run: run.what_if(faster={"load": "2"}), TypeError, r"faster\['load'\]='2' is no number"),
        (lambda run: run.findings(["a"]), TypeError, "as {'tiny-tasks.mean': 0.02}"),
        (lambda run: run.time_budget(by="time", every="soon"), ValueError, "every='soon' is no duration"),
        (lambda run: run.balance(every=0), ValueError, "every=0 must be longer than nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(
    recording: Recording, ask: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ask(recording)


def test_what_is_plain_is_taken(recording: Recording) -> None:
    part = recording.slice(None, 2)
    assert sorted(part.tasks["start"]) == sorted(recording.slice(stop=2).tasks["start"])
    assert recording.what_if(workers=np.int64(2)).seconds == recording.what_if(workers=2.0).seconds
    for told, number in (("1s", 1), ("500ms", 0.5)):
        assert recording.balance(every=told).equals(recording.balance(every=number))
        assert recording.time_budget(by="time", every=told).equals(
            recording.time_budget(by="time", every=number)
        )
    assert recording.findings(start=None, stop=None).failed == ()
    assert len(recording.flame(worker="scheduler")) == 0
