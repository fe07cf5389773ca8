"""Clocks of workers that do not agree with the scheduler's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import words
from .facts import Facts
from .finding import Fact, Finding
from .names import split
from .rule import Rule
from .thresholds import Limits


def _clock_skew(facts: Facts, limits: Limits) -> Iterator[Finding]:
    wrong = {
        worker: skew for worker, skew in _skews(facts).items() if abs(skew) >= limits["clock-skew.offset"]
    }
    if not wrong:
        return
    workers = sorted(wrong, key=lambda worker: -abs(wrong[worker]))
    worst = wrong[workers[0]]
    others = f", and {words.count(len(workers) - 1, 'other clock')} off too" if len(workers) > 1 else ""
    way = "ahead of" if worst > 0 else "behind"
    yield Finding(
        code="clock-skew",
        severity="warning",
        is_risk=True,
        title=f"The clock of {workers[0]} is {words.duration(abs(worst))} {way} the scheduler's{others}",
        workers=tuple(workers[:10]),
        evidence=tuple(
            Fact(f"clock of {worker}", wrong[worker], "s", limits["clock-skew.offset"])
            for worker in workers[:5]
        ),
        why=(
            "Messages that went there and back show it, however long they took. Times in this recording "
            "are corrected for it; those in logs and in files that tasks write, and what tasks decide by "
            "the time of day, are not. Dask's own correction follows with every heartbeat, with an error "
            "each time."
        ),
        advice=(
            "Have the machines keep time by NTP or PTP; this says how far one is off:\n\n    chronyc tracking"
        ),
        url=CLOCK_SKEW.url,
    )


def _skews(facts: Facts) -> dict[str, float]:
    """Seconds by which each worker's clock was ahead at least, at its worst."""
    columns = facts.read("clocks")
    offset = columns["offset"]
    least = np.sign(offset) * np.maximum(np.abs(offset) - columns["uncertainty"], 0.0)
    least = np.where(np.isfinite(least), least, 0.0)
    found: dict[str, float] = {}
    for worker, rows in split(columns["worker"], np.arange(len(least))).items():
        found[worker] = float(least[rows[np.argmax(np.abs(least[rows]))]])
    return found


CLOCK_SKEW = Rule(
    code="clock-skew",
    says="A worker's clock does not agree with the scheduler's.",
    formula=(
        "Offset by the round trip that took least time, less its uncertainty (half that round trip), at "
        "least `clock-skew.offset`. A busy machine makes round trips longer and the offset less certain, "
        "never larger."
    ),
    cost="A risk: times in logs and files mislead.",
    url="https://distributed.dask.org/en/stable/worker.html",
    advice="Let the hosts keep their time with NTP or chrony.",
    find=_clock_skew,
)
