"""What the tasks were doing that ran at a moment: their call stacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..batch import Texts
from ..lookup import Lookup, fill, pick
from ..schema import NOTHING
from ..tables import joined
from ..tables.facts import part_of_run
from ..tables.field import Field
from ..tables.stacks import parents
from ..timeline import Read

if TYPE_CHECKING:
    import pandas as pd

FIELDS = (
    Field("key", "", "Dask's key, as text."),
    Field("prefix", "", "Task name: Dask's prefix of the key."),
    Field("worker", "", "The worker."),
    Field("thread", "", "The thread, within the worker."),
    Field("since", "time", "When its function was called."),
    Field("seen", "time", "When it was last seen with this stack; NaN if it was never sampled."),
    Field("stack", "", "The stack as in a traceback, innermost call last; '' if it was never sampled."),
    Field("run", "", "Id of the attempt within the recording."),
)


def call_stacks(read: Read, zero: float, at: float) -> pd.DataFrame:
    """The table of `Recording.call_stacks`; `at` is seconds since the epoch, infinity for the end."""
    from ..tables.frame import frame

    _, until = part_of_run(read)
    at = min(at, until)
    tasks, graph, samples = joined(read, "tasks"), read("graph"), read("samples")
    start, end = tasks["start"], fill(tasks["stop"], tasks["done"])
    rows = np.flatnonzero((start <= at) & ~(end <= at))
    rows = rows[np.argsort(start[rows], kind="stable")]
    known = {name: pick(tasks[name], rows) for name in ("prefix", "worker", "thread", "run")}
    sample = _latest(samples, known["run"], at)
    columns: dict[str, Any] = known | {
        "key": pick(graph["key"], Lookup(graph["task"]).rows(tasks["task"][rows])),
        "since": start[rows],
        "seen": np.minimum(pick(samples["time"], sample), at),
        "stack": Texts.of(_tracebacks(read, np.where(sample < 0, NOTHING, pick(samples["stack"], sample)))),
    }
    return frame(FIELDS, columns, zero, timestamps=False, own=False)


def _latest(samples: Mapping[str, Any], runs: np.ndarray, at: float) -> np.ndarray:
    """Row of the last sample of each attempt that had begun by then; -1 if there is none."""
    begun: Any = np.flatnonzero(samples["time"] - samples["duration"] <= at)
    begun = begun[np.argsort(samples["time"][begun], kind="stable")]
    return np.asarray(np.append(begun, -1)[Lookup(samples["run"][begun]).rows(runs)])


def _tracebacks(read: Read, wanted: np.ndarray) -> list[str]:
    """Stacks, by their ids, as text."""
    stacks: Any = read("stacks")
    lines: Any = read("lines")
    places = zip(lines["file"].tolist(), lines["line"].tolist(), strict=True)
    code = dict(zip(places, lines["text"].tolist(), strict=True))
    callers = parents(stacks)
    texts = []
    for innermost in Lookup(stacks["stack"]).rows(wanted).tolist():
        frames, row = [], innermost
        while row >= 0:
            frames.append(_frame(stacks, row, code))
            # A damaged file may hold stacks that stand on one another.
            row = callers[row] if callers[row] < row else -1
        texts.append("".join(reversed(frames)))
    return texts


def _frame(stacks: Any, row: int, code: dict[tuple[str, int], str]) -> str:
    """One entry of a traceback, with its line of code where that was kept."""
    function, file = (stacks[name].names[stacks[name].codes[row]] for name in ("function", "file"))
    line = int(stacks["line"][row])
    told = code.get((file, line), "")
    return f'  File "{file}", line {line}, in {function}\n' + (f"    {told}\n" if told else "")
