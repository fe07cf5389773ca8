"""Findings that came and went."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .measure import Finding, Measured
from .names import shape_of

_STATES = {(True, True): "stayed", (False, True): "came", (True, False): "went"}


class _Found(NamedTuple):
    """A finding in the runs of a side."""

    #: As it stands where it costs most.
    finding: Finding
    #: Wall time it costs, seconds, mean over the runs that have it.
    cost: float
    runs: int


def findings(measured: Sequence[Sequence[Measured]]) -> dict[str, Any]:
    """The columns of the table `compared_findings`.

    A finding of one run is that of another if their codes are the same and they
    name a task in common, tokens aside, or no tasks.
    """
    subjects = _Subjects()
    found = [_of_side(side, subjects) for side in measured]
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for side in range(1, len(found)):
        rows = [(found[0].get(key), found[side].get(key)) for key in {**found[0], **found[side]}]
        rows.sort(key=lambda row: -max(map(_cost, row)))
        for before, after in rows:
            for name, value in zip(_COLUMNS, _row(side, before, after), strict=True):
                columns[name].append(value)
    return columns


class _Subjects:
    """Numbers what findings are about."""

    def __init__(self) -> None:
        self._known: list[tuple[str, set[str]]] = []

    def of(self, finding: Finding) -> int:
        """The number of what a finding is about, the same for all that are about the same."""
        names = {shape_of(name) for name in finding.tasks}
        for number, (code, known) in enumerate(self._known):
            if code == finding.code and (known & names or not (known or names)):
                known |= names
                return number
        self._known.append((finding.code, names))
        return len(self._known) - 1


_COLUMNS = (
    "side",
    "state",
    "code",
    "severity",
    "title",
    "tasks",
    "cost_before",
    "cost_after",
    "runs_before",
    "runs_after",
)


def _row(side: int, before: _Found | None, after: _Found | None) -> tuple[Any, ...]:
    told = (after or before).finding  # type: ignore[union-attr]
    return (
        side,
        _STATES[before is not None, after is not None],
        told.code,
        told.severity,
        told.title,
        json.dumps(list(told.tasks), ensure_ascii=False),
        before.cost if before else np.nan,
        after.cost if after else np.nan,
        before.runs if before else 0,
        after.runs if after else 0,
    )


def _of_side(side: Sequence[Measured], subjects: _Subjects) -> dict[int, _Found]:
    told: dict[int, list[Finding]] = {}
    for run in side:
        # Of several alike in one run, the first one stands for all: they are ranked.
        for number, each in {subjects.of(each): each for each in reversed(run.findings)}.items():
            told.setdefault(number, []).append(each)
    return {
        key: _Found(
            max(each, key=lambda finding: _known(finding.cost_seconds)),
            float(np.mean([_known(finding.cost_seconds) for finding in each])),
            len(each),
        )
        for key, each in told.items()
    }


def _known(cost: float) -> float:
    return float(cost) if np.isfinite(cost) else 0.0


def _cost(found: _Found | None) -> float:
    return found.cost if found else 0.0
