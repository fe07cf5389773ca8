"""What is measured of one run, to be compared with others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...columns import steady
from ...lookup import is_any, sorted_set
from ...tables.facts import ended, from_json
from ...tables.losses import losses
from ...timeline import Attempts, Read, attempts, lives, most_at_once
from .facts import facts_of
from .memory import Series, memory_of
from .sides import Opened
from .spent import Names, names_of

if TYPE_CHECKING:
    import pandas as pd

    from ...recording import Recording


class Finding(NamedTuple):
    """What a comparison needs of a finding."""

    code: str
    severity: str
    title: str
    #: Task names.
    tasks: tuple[str, ...]
    #: Of wall time; NaN for a risk that costs none.
    cost_seconds: float


class Measured(NamedTuple):
    """The figures of a run. Times in seconds, sizes in bytes."""

    name: str
    file: str
    #: Since the epoch; NaN if nothing ran.
    started: float
    #: Without those in which everything stood still, which are `still`.
    seconds: float
    still: float
    #: Seconds of it in which no worker was there.
    absent: float
    #: The most at once.
    workers: int
    #: On average while there was any.
    threads: float
    thread_seconds: float
    computing: float
    tasks: int
    #: Tasks that failed for good; whether the recording ended, and was not cut off.
    failed: int
    ended: bool
    #: Thread-seconds in which task threads found no free core; NaN if unknown.
    starved: float
    names: Names
    #: Part of the time budget to its kind and thread-seconds.
    budget: dict[str, tuple[str, float]]
    memory: Series
    #: As `Recording.flame`.
    flame: pd.DataFrame
    findings: list[Finding]
    #: Kind and name of a fact to its value in words.
    facts: dict[tuple[str, str], str]
    #: What of it was lost, in words.
    lost: list[str]


def measure(run: Opened) -> Measured:
    """Measure a run."""
    recording = run.recording
    read = steady(recording.columns)
    known = attempts(read)
    budget = recording.time_budget()
    told = budget.attrs
    ran = np.flatnonzero(known.ran)
    workers = int(np.count_nonzero(np.bincount(known.worker.codes[ran]))) if len(ran) else 0
    length = told["stop"] - told["start"]
    seconds, served = length - told["still"], told["served"]
    # The pools of local schedulers come and go with each computation.
    absent = 0.0 if known.local.all() else max(0.0, seconds - served)
    computing = budget.loc[budget["kind"] == "computing", "seconds"].sum()
    parts = zip(budget["part"], budget["kind"], budget["seconds"], strict=True)
    began = recording.started + told["start"] if length > 0 else math.nan
    return Measured(
        name=run.name,
        file=run.file,
        started=began,
        seconds=seconds,
        still=told["still"],
        absent=absent,
        workers=_there(read, began, began + length) or workers,
        threads=told["thread_seconds"] / (seconds - absent) if seconds > absent else 0.0,
        thread_seconds=told["thread_seconds"],
        computing=float(computing),
        tasks=len(sorted_set(known.task[known.ok])),
        failed=_failed(known, read("errors")),
        ended=ended(recording.about),
        starved=_starved(recording, began, began + length),
        names=names_of(read, known, ran),
        budget={str(part): (str(kind), float(seconds)) for part, kind, seconds in parts},
        memory=memory_of(read, began, began + length),
        flame=recording.flame(),
        findings=_findings(recording),
        facts=facts_of(recording.about),
        lost=losses(recording.columns("events"), on_purpose=False),
    )


def _failed(known: Attempts, errors: Mapping[str, Any]) -> int:
    """Tasks without a result whose last attempt raised, or died with its worker and was given up."""
    bad = is_any(known.status, ("erred",)) | (known.killed & np.isin(known.run, errors["run"]))
    return len(np.setdiff1d(known.task[bad], known.task[known.ok]))


def _starved(recording: Recording, start: float, stop: float) -> float:
    table: Mapping[str, Any] = recording.columns("resources")
    inside = (table["time"] >= start) & (table["time"] <= stop)
    told = table["starved"][inside & ~is_any(table["process"], ("scheduler",))]
    told = told[np.isfinite(told)]
    return float(told.sum()) if len(told) else math.nan


def _there(read: Read, start: float, stop: float) -> int:
    """The most workers that were there at once between two moments; 0 if the recording does not list them."""
    _, joined, left = lives(read)
    since = np.nan_to_num(np.fmax(joined, start), nan=-np.inf)
    until = np.nan_to_num(np.fmin(left, stop), nan=np.inf)
    there = since < until
    return int(most_at_once(since[there], until[there], np.ones(np.count_nonzero(there))))


def _findings(recording: Recording) -> list[Finding]:
    """Those that the recording has, or that are worked out of it; rows without a code stand for none."""
    table: Mapping[str, Any] = recording.answer("findings")
    columns = (table[name].tolist() for name in Finding._fields)
    found = [Finding(*row) for row in zip(*columns, strict=True)]
    return [
        each._replace(tasks=_listed(str(each.tasks)))
        for each in found
        if each.code and each.severity != "gap"
    ]


def _listed(text: str) -> tuple[str, ...]:
    """A JSON list of names; none if it is something else."""
    try:
        told = from_json(text)
    except ValueError:
        return ()
    return tuple(map(str, told)) if isinstance(told, list) else ()
