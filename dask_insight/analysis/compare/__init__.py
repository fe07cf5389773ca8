"""What differs between runs, and whether that is more than noise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...batch import encode
from ...columns import length
from ...recording import Recording
from .comparison import Comparison
from .findings import findings
from .measure import Measured, measure
from .names import names as task_names
from .say import broken, notes, verdicts
from .settings import settings
from .sides import Side, sides_of
from .stacks import stacks
from .walls import budget, runs
from .walls import sides as walls

__all__ = ["Comparison", "Side", "compare"]


def compare(*sides: Side, names: Sequence[str] | None = None) -> Comparison:
    """Compare runs: what takes longer, what takes less, and whether that is more than noise.

    ::

        dask_insight.compare("before.dinsight", "after.dinsight")
        dask_insight.compare([before_1, before_2, before_3], [after_1, after_2])

    Parameters
    ----------
    sides
        Two or more; each is a `Recording`, the path of one, or a list of such
        which repeat one thing. The first is the baseline, with which each of the others
        is compared. They may have run on other numbers of workers, or on none.
    names
        What to call the sides; by default as their files or recordings.

    Returns
    -------
    Comparison
        It prints as text and shows as a table in notebooks; ``verdict()`` says
        it in words, its DataFrames say it in numbers, ``report(path)`` writes a page.

    Raises
    ------
    TypeError
        If something is neither a recording, a path, nor a list of such.
    ValueError
        If there are fewer than two sides, one without runs, or another number of `names`.
    FileNotFoundError, RecordingError
        If a file is not there or is no recording.

    Notes
    -----
    Repeats say what is noise: the wall times of the runs of each side are
    compared with those of the others by Student's t (95 %), their variance
    moderated by what is expected of any run (2.5 %, with the weight of four
    degrees of freedom; Smyth, 2004). Without repeats there is this expectation,
    and what the attempts of each task name differ by: those of one rank from
    each other (ratio estimator; Cochran), or all within the run (batch means;
    Law and Kelton). What threads waited for a free core is added where it
    differs by chance. Task names are told to be slower or faster at 99 %.
    ``noise`` in the tables is what a change must exceed; see
    `dask_insight.analysis.compare.noise`.
    """
    chosen = sides_of(sides, names)
    return Comparison(_recording([side.name for side in chosen], [_measured(side.runs) for side in chosen]))


def _measured(opened: Sequence[Any]) -> list[Measured]:
    return [measure(run) for run in opened]


def _recording(names: Sequence[str], measured: Sequence[Sequence[Measured]]) -> Recording:
    """The comparison as rows."""
    parts = budget(measured)
    of_names = task_names(measured)
    told = walls(measured, names)
    still = [sum(run.still for run in side) / len(side) for side in measured]
    lost = [list(dict.fromkeys(each for run in side for each in run.lost)) for side in measured]
    failed = [[run.failed for run in side] for side in measured]
    told |= {"text": verdicts(told, parts, of_names), "notes": notes(told, still, lost, failed)}
    made = Recording()
    began = [run.started for side in measured for run in side if np.isfinite(run.started)]
    facts: dict[str, Any] = {"name": " and ".join(names), "comparison": " ".join(filter(None, told["text"]))}
    facts |= {"started": min(began)} if began else {}
    facts |= {"broken": broken(names, failed, [all(run.ended for run in side) for side in measured])}
    made.append(
        encode("about", {"name": list(facts), "value": [json.dumps(each) for each in facts.values()]})
    )
    for table, columns in (
        ("compared_sides", told),
        ("compared_runs", runs(measured)),
        ("compared_budget", parts),
        ("compared_names", of_names),
        ("compared_memory", _memory(measured)),
        ("compared_stacks", stacks(measured)),
        ("compared_findings", findings(measured)),
        ("compared_settings", settings(measured)),
    ):
        if length(columns):
            made.append(encode(table, columns))
    return made


def _memory(measured: Sequence[Sequence[Measured]]) -> Mapping[str, Any]:
    """The columns of the table `compared_memory`."""

    def all_of() -> Iterator[tuple[int, int, Any]]:
        for side, of_side in enumerate(measured):
            for number, run in enumerate(of_side):
                yield side, number, run.memory

    told = list(all_of())
    return {
        "side": np.concatenate([np.full(len(each.time), side) for side, _, each in told]),
        "run": np.concatenate([np.full(len(each.time), run) for _, run, each in told]),
        **{
            name: np.concatenate([getattr(each, name) for _, _, each in told])
            for name in ("time", "process", "managed", "spilled")
        },
    }
